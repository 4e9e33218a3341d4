// Orients a placement: one sweep over time keeps what is live sorted by offset, and notes who
// becomes whose neighbour. A birth makes two pairs, a death one: so the number of pairs is linear.
// Then buffers are sorted so that lower ones come first, and pairs that follow from others are
// dropped one after the other: a bounded search for another chain between the two.
#include "place/orient/orient.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/problem.h"

// Steps of the search for another chain; what is not found within is kept.
#define CHAIN_STEPS 4096

typedef struct event {
  uint64_t time;
  uint32_t part;
  bool is_birth;
} event;

typedef struct orienter {
  const stowi_place_part* parts;
  size_t part_count;
  const uint64_t* offsets;
  size_t buffer_count;
  stow_allocator allocator;
  event* events;
  uint32_t* live;  // parts, by offset
  size_t live_count;
  STOWI_VEC(stowi_place_edge) edges;
  stowi_place_orientation* result;
  uint32_t* place;       // by buffer: in the order
  uint32_t* first_part;  // by buffer; one more entry ends the last
  // Of the search for chains: the edges of each lower part, and where the search has been.
  size_t* leaving;  // by part: its first edge by lower part; one more entry ends the last
  bool* dropped;    // by edge
  uint32_t* stack;
  uint32_t* seen;  // by part: the search that saw it last
} orienter;

// ---------------------------------------------------------------------------------------------
// Neighbours

static int by_time(const void* a, const void* b, const void* context) {
  const event* x = (const event*)a;
  const event* y = (const event*)b;
  (void)context;
  if (x->time != y->time) {
    return x->time < y->time ? -1 : 1;
  }
  if (x->is_birth != y->is_birth) {
    return x->is_birth ? 1 : -1;
  }
  return (x->part > y->part) - (x->part < y->part);
}

static uint64_t bottom(const orienter* o, uint32_t part) {
  return o->offsets[o->parts[part].buffer] + o->parts[part].low;
}

// The first live part that does not begin below |part|.
static size_t find(const orienter* o, uint32_t part) {
  size_t low = 0;
  size_t high = o->live_count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (bottom(o, o->live[middle]) < bottom(o, part)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static stow_status note(orienter* o, size_t below) {
  if (below + 1 >= o->live_count) {
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(o->allocator, &o->edges, 1));
  o->edges.data[o->edges.count++] = (stowi_place_edge){o->live[below], o->live[below + 1]};
  return STOW_OK;
}

static stow_status begin_part(orienter* o, uint32_t part) {
  size_t at = find(o, part);
  for (size_t i = o->live_count++; i > at; --i) {
    o->live[i] = o->live[i - 1];
  }
  o->live[at] = part;
  STOW_TRY(note(o, at));
  return at == 0 ? STOW_OK : note(o, at - 1);
}

static stow_status end_part(orienter* o, uint32_t part) {
  size_t at = find(o, part);
  --o->live_count;
  for (size_t i = at; i < o->live_count; ++i) {
    o->live[i] = o->live[i + 1];
  }
  return at == 0 ? STOW_OK : note(o, at - 1);
}

static int by_parts(const void* a, const void* b, const void* context) {
  const stowi_place_edge* x = (const stowi_place_edge*)a;
  const stowi_place_edge* y = (const stowi_place_edge*)b;
  (void)context;
  if (x->below != y->below) {
    return x->below < y->below ? -1 : 1;
  }
  return (x->above > y->above) - (x->above < y->above);
}

// Each pair once, by lower part.
static stow_status sort_edges(orienter* o) {
  STOW_TRY(stowi_sort(o->edges.data, o->edges.count, sizeof(stowi_place_edge), by_parts, NULL,
                      o->allocator));
  size_t kept = 0;
  for (size_t i = 0; i < o->edges.count; ++i) {
    stowi_place_edge edge = o->edges.data[i];
    if (kept == 0 || o->edges.data[kept - 1].below != edge.below ||
        o->edges.data[kept - 1].above != edge.above) {
      o->edges.data[kept++] = edge;
    }
  }
  o->edges.count = kept;
  return STOW_OK;
}

static stow_status find_neighbours(orienter* o) {
  for (size_t i = 0; i < o->part_count; ++i) {
    o->events[2 * i] = (event){o->parts[i].begin, (uint32_t)i, true};
    o->events[2 * i + 1] = (event){o->parts[i].end, (uint32_t)i, false};
  }
  STOW_TRY(stowi_sort(o->events, 2 * o->part_count, sizeof(event), by_time, NULL, o->allocator));
  for (size_t i = 0; i < 2 * o->part_count; ++i) {
    uint32_t part = o->events[i].part;
    STOW_TRY(o->events[i].is_birth ? begin_part(o, part) : end_part(o, part));
  }
  return sort_edges(o);
}

// ---------------------------------------------------------------------------------------------
// The order of buffers

static uint32_t buffer_of(const orienter* o, uint32_t part) { return o->parts[part].buffer; }

// The edges that leave a buffer are contiguous: its parts are.
static size_t edges_of(const orienter* o, uint32_t buffer, size_t* out_end) {
  *out_end = o->leaving[o->first_part[buffer + 1]];
  return o->leaving[o->first_part[buffer]];
}

static void index_edges(orienter* o) {
  uint32_t buffer = 0;
  for (uint32_t part = 0; part < o->part_count; ++part) {
    while (buffer <= buffer_of(o, part)) {
      o->first_part[buffer++] = part;
    }
  }
  while (buffer <= o->buffer_count) {
    o->first_part[buffer++] = (uint32_t)o->part_count;
  }
  size_t at = 0;
  for (uint32_t part = 0; part < o->part_count; ++part) {
    o->leaving[part] = at;
    while (at < o->edges.count && o->edges.data[at].below == part) {
      ++at;
    }
  }
  o->leaving[o->part_count] = at;
}

// Sorts buffers from bottom to top; those in cycles, and above them, are left out.
static size_t sort_buffers(orienter* o, uint32_t* waiting) {
  uint32_t* order = o->result->order;
  size_t count = 0;
  for (size_t i = 0; i < o->buffer_count; ++i) {
    waiting[i] = 0;
    o->place[i] = UINT32_MAX;
  }
  for (size_t i = 0; i < o->edges.count; ++i) {
    ++waiting[buffer_of(o, o->edges.data[i].above)];
  }
  for (uint32_t i = 0; i < o->buffer_count; ++i) {
    if (waiting[i] == 0) {
      order[count++] = i;
    }
  }
  for (size_t done = 0; done < count; ++done) {
    size_t end;
    o->place[order[done]] = (uint32_t)done;
    for (size_t e = edges_of(o, order[done], &end); e < end; ++e) {
      uint32_t above = buffer_of(o, o->edges.data[e].above);
      if (--waiting[above] == 0) {
        order[count++] = above;
      }
    }
  }
  return count;
}

static uint64_t top_of(const orienter* o, uint32_t buffer) {
  uint64_t top = 0;
  for (uint32_t part = o->first_part[buffer]; part < o->first_part[buffer + 1]; ++part) {
    top = o->parts[part].high > top ? o->parts[part].high : top;
  }
  return top;
}

// The smallest buffer with several parts of a cycle. There is one: buffers of one part are in order
// of their bottoms. A buffer that was not sorted has one below it that was not either: going down
// from one to the next ends in a cycle. |lower| has an entry for each buffer.
static uint32_t find_cycle(const orienter* o, uint32_t* lower) {
  uint32_t at = 0;
  for (size_t i = 0; i < o->edges.count; ++i) {
    uint32_t below = buffer_of(o, o->edges.data[i].below);
    uint32_t above = buffer_of(o, o->edges.data[i].above);
    if (o->place[below] == UINT32_MAX && o->place[above] == UINT32_MAX) {
      lower[above] = below;
      at = above;
    }
  }
  for (size_t i = 0; i < o->buffer_count; ++i) {
    at = lower[at];
  }
  uint32_t found = STOWI_PLACE_ORIENTED;
  for (uint32_t begin = at, first = 1; first != 0 || at != begin; first = 0, at = lower[at]) {
    bool has_parts = o->first_part[at + 1] - o->first_part[at] > 1;
    bool is_smaller = found == STOWI_PLACE_ORIENTED || top_of(o, at) < top_of(o, found) ||
                      (top_of(o, at) == top_of(o, found) && at < found);
    found = has_parts && is_smaller ? at : found;
  }
  return found;
}

// ---------------------------------------------------------------------------------------------
// What follows from other pairs

static bool may_pass(const orienter* o, uint32_t enters, uint32_t leaves) {
  return enters == leaves || o->parts[enters].at_bottom || o->parts[leaves].at_top;
}

// Whether a chain that has come to |part| has come to |above|, or to a part whose bottom is not
// above that of |above|.
static bool has_arrived(const orienter* o, uint32_t part, uint32_t above) {
  return part == above || (buffer_of(o, part) == buffer_of(o, above) && o->parts[part].at_bottom);
}

typedef struct chain {
  size_t edge;      // that the chain is to replace
  uint32_t search;  // its number
  size_t steps;
  size_t stacked;
} chain;

// Goes on from |part|. True if that leads to the end.
static bool leave(orienter* o, chain* c, uint32_t part) {
  uint32_t above = o->edges.data[c->edge].above;
  uint32_t last = o->place[buffer_of(o, above)];
  for (size_t e = o->leaving[part]; e < o->leaving[part + 1]; ++e) {
    uint32_t next = o->edges.data[e].above;
    if (e == c->edge || o->dropped[e]) {
      continue;
    }
    if (has_arrived(o, next, above)) {
      return true;
    }
    ++c->steps;
    if (o->seen[next] != c->search && o->place[buffer_of(o, next)] < last) {
      o->seen[next] = c->search;
      o->stack[c->stacked++] = next;
    }
  }
  return false;
}

// Whether the edge follows from others. A chain leaves its lower part, or one of the same buffer
// that ends not below it.
static bool follows(orienter* o, size_t edge) {
  chain c = {.edge = edge, .search = (uint32_t)edge + 1};
  uint32_t below = o->edges.data[edge].below;
  uint32_t buffer = buffer_of(o, below);
  for (uint32_t part = o->first_part[buffer]; part < o->first_part[buffer + 1]; ++part) {
    if ((part == below || o->parts[part].at_top) && leave(o, &c, part)) {
      return true;
    }
  }
  while (c.stacked > 0 && c.steps < CHAIN_STEPS) {
    uint32_t enters = o->stack[--c.stacked];
    buffer = buffer_of(o, enters);
    for (uint32_t part = o->first_part[buffer]; part < o->first_part[buffer + 1]; ++part) {
      if (may_pass(o, enters, part) && leave(o, &c, part)) {
        return true;
      }
    }
  }
  return false;
}

typedef struct ranked {
  uint64_t key;  // the place of the upper buffer
  stowi_place_edge edge;
} ranked;

static stow_status keep_edges(orienter* o) {
  stowi_place_orientation* result = o->result;
  size_t kept = 0;
  for (size_t i = 0; i < o->edges.count; ++i) {
    o->dropped[i] = follows(o, i);
    kept += o->dropped[i] ? 0 : 1;
  }
  ranked* list = STOWI_ARRAY(o->allocator, ranked, kept);
  result->edges = STOWI_ARRAY(o->allocator, stowi_place_edge, kept);
  result->edge_count = kept;
  if (list == NULL || result->edges == NULL) {
    STOWI_ARRAY_FREE(o->allocator, list, kept);
    return STOW_ERR_OUT_OF_MEMORY;
  }
  kept = 0;
  for (size_t i = 0; i < o->edges.count; ++i) {
    if (!o->dropped[i]) {
      stowi_place_edge edge = o->edges.data[i];
      list[kept++] = (ranked){o->place[buffer_of(o, edge.above)], edge};
    }
  }
  stow_status status = stowi_sort_by_key(list, kept, sizeof(ranked), o->allocator);
  size_t at = 0;
  for (size_t place = 0; place <= o->buffer_count; ++place) {
    result->first_edge[place] = at;
    for (; at < kept && list[at].key == place; ++at) {
      result->edges[at] = list[at].edge;
    }
  }
  STOWI_ARRAY_FREE(o->allocator, list, kept);
  return status;
}

// ---------------------------------------------------------------------------------------------

static stow_status allocate(orienter* o) {
  size_t parts = o->part_count;
  size_t buffers = o->buffer_count;
  stowi_place_orientation* result = STOWI_NEW(o->allocator, stowi_place_orientation);
  o->result = result;
  if (result == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  result->allocator = o->allocator;
  result->buffer_count = buffers;
  result->part_count = parts;
  result->buffer_of = STOWI_ARRAY(o->allocator, uint32_t, parts);
  result->order = STOWI_ARRAY(o->allocator, uint32_t, buffers);
  result->first_edge = STOWI_ARRAY_ZERO(o->allocator, size_t, buffers + 1);
  o->events = STOWI_ARRAY(o->allocator, event, 2 * parts);
  o->live = STOWI_ARRAY(o->allocator, uint32_t, parts);
  o->place = STOWI_ARRAY(o->allocator, uint32_t, buffers);
  o->first_part = STOWI_ARRAY(o->allocator, uint32_t, buffers + 1);
  o->leaving = STOWI_ARRAY(o->allocator, size_t, parts + 1);
  o->stack = STOWI_ARRAY(o->allocator, uint32_t, parts);
  o->seen = STOWI_ARRAY_ZERO(o->allocator, uint32_t, parts);
  bool complete = result->buffer_of != NULL && result->order != NULL &&
                  result->first_edge != NULL && o->events != NULL && o->live != NULL &&
                  o->place != NULL && o->first_part != NULL && o->leaving != NULL &&
                  o->stack != NULL && o->seen != NULL;
  for (size_t i = 0; complete && i < parts; ++i) {
    result->buffer_of[i] = o->parts[i].buffer;
  }
  return complete ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}

static void release(orienter* o) {
  STOWI_ARRAY_FREE(o->allocator, o->events, 2 * o->part_count);
  STOWI_ARRAY_FREE(o->allocator, o->live, o->part_count);
  STOWI_ARRAY_FREE(o->allocator, o->place, o->buffer_count);
  STOWI_ARRAY_FREE(o->allocator, o->first_part, o->buffer_count + 1);
  STOWI_ARRAY_FREE(o->allocator, o->leaving, o->part_count + 1);
  STOWI_ARRAY_FREE(o->allocator, o->stack, o->part_count);
  STOWI_ARRAY_FREE(o->allocator, o->seen, o->part_count);
  STOWI_ARRAY_FREE(o->allocator, o->dropped, o->edges.count);
  STOWI_VEC_FREE(o->allocator, &o->edges);
}

static stow_status run(orienter* o, uint32_t* out_cycle) {
  STOW_TRY(allocate(o));
  STOW_TRY(find_neighbours(o));
  index_edges(o);
  o->dropped = STOWI_ARRAY_ZERO(o->allocator, bool, o->edges.count);
  uint32_t* waiting = STOWI_ARRAY(o->allocator, uint32_t, o->buffer_count);
  stow_status status = o->dropped == NULL || waiting == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  if (status == STOW_OK && sort_buffers(o, waiting) < o->buffer_count) {
    *out_cycle = find_cycle(o, waiting);
  } else if (status == STOW_OK) {
    status = keep_edges(o);
  }
  STOWI_ARRAY_FREE(o->allocator, waiting, o->buffer_count);
  return status;
}

stow_status stowi_place_orient(const stowi_place_part* parts, size_t part_count,
                               const uint64_t* offsets, size_t buffer_count,
                               stow_allocator allocator, stow_diag* diag,
                               stowi_place_orientation** out_orientation, uint32_t* out_cycle) {
  orienter o = {.parts = parts,
                .part_count = part_count,
                .offsets = offsets,
                .buffer_count = buffer_count,
                .allocator = allocator};
  *out_orientation = NULL;
  *out_cycle = STOWI_PLACE_ORIENTED;
  stow_status status = run(&o, out_cycle);
  release(&o);
  if (status == STOW_OK && *out_cycle == STOWI_PLACE_ORIENTED) {
    *out_orientation = o.result;
    return STOW_OK;
  }
  stowi_place_orientation_destroy(o.result);
  return stowi_need_memory(status == STOW_OK, diag);
}

void stowi_place_orientation_destroy(stowi_place_orientation* orientation) {
  if (orientation == NULL) {
    return;
  }
  stow_allocator allocator = orientation->allocator;
  STOWI_ARRAY_FREE(allocator, orientation->buffer_of, orientation->part_count);
  STOWI_ARRAY_FREE(allocator, orientation->order, orientation->buffer_count);
  STOWI_ARRAY_FREE(allocator, orientation->first_edge, orientation->buffer_count + 1);
  STOWI_ARRAY_FREE(allocator, orientation->edges, orientation->edge_count);
  STOWI_DELETE(allocator, orientation);
}

// ---------------------------------------------------------------------------------------------

stow_status stowi_place_parts_of(const stow_problem* problem, stow_allocator allocator,
                                 stow_diag* diag, stowi_place_part** out_parts, size_t* out_count) {
  *out_parts = NULL;
  *out_count = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    stowi_place_walk walk = stowi_place_walk_start(problem, i);
    stowi_place_stretch stretch;
    while (stowi_place_walk_next(&walk, &stretch)) {
      ++*out_count;
    }
  }
  stowi_place_part* parts = STOWI_ARRAY(allocator, stowi_place_part, *out_count);
  STOW_TRY(stowi_need_memory(parts != NULL, diag));
  *out_parts = parts;
  for (uint32_t i = 0; i < problem->buffers.count; ++i) {
    uint64_t footprint = stowi_place_footprint(&problem->buffers.data[i]);
    stowi_place_walk walk = stowi_place_walk_start(problem, i);
    stowi_place_stretch s;
    while (stowi_place_walk_next(&walk, &s)) {
      *parts++ =
          (stowi_place_part){i, s.begin, s.end, s.low, s.high, s.low == 0, s.high == footprint};
    }
  }
  return STOW_OK;
}

static uint64_t offset_above(const stowi_place_orientation* o, const uint64_t* low,
                             const uint64_t* high, const uint64_t* offsets, size_t place) {
  uint64_t offset = 0;
  for (size_t e = o->first_edge[place]; e < o->first_edge[place + 1]; ++e) {
    stowi_place_edge edge = o->edges[e];
    uint64_t end = offsets[o->buffer_of[edge.below]] + high[edge.below];
    uint64_t least = end > low[edge.above] ? end - low[edge.above] : 0;
    offset = least > offset ? least : offset;
  }
  return offset;
}

uint32_t stowi_place_orientation_offsets(const stowi_place_orientation* orientation,
                                         const uint64_t* low, const uint64_t* high,
                                         const stowi_place_constraint* needs,
                                         uint64_t* out_offsets) {
  for (size_t place = 0; place < orientation->buffer_count; ++place) {
    uint32_t buffer = orientation->order[place];
    const stowi_place_constraint* need = &needs[buffer];
    uint64_t offset = offset_above(orientation, low, high, out_offsets, place);
    out_offsets[buffer] = (offset + (need->alignment - 1)) & ~(need->alignment - 1);
    if (need->fixed_offset != STOW_PLACE_ANYWHERE) {
      if (offset > need->fixed_offset) {
        return buffer;
      }
      out_offsets[buffer] = need->fixed_offset;
    }
  }
  return STOWI_PLACE_ORIENTED;
}
