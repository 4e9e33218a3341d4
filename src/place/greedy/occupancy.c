// Occupied space × time, stored so that the lowest free place for a lifetime and a size is found
// without visiting the placed buffers one by one.
// Sections of time are the nodes of an implicit balanced tree in symmetric order. A buffer belongs
// to the topmost section that it covers. Each node has four sets of gaps (gaps.h):
//     stack   the buffers of this node. All cover this section, so their footprints are disjoint
//     left    the shadow of all buffers of this node or in the left subtree
//     right   the shadow of all buffers of this node or in the right subtree
//     all     the shadow of all buffers of this node or below
//                  16                     A lifetime [a, b] meets
//           8             24              - on the way down, nodes outside it: the stack, whose
//        4     12     20      28            pieces are checked one by one for overlap with it;
//      2  6  10  14  18  22  26  30       - the topmost node inside it: the stack;
//             └───life────┘               - below, nodes inside it: right (towards a), left
//                                           (towards b), or all where it covers the subtree;
//                                           nodes outside it: stacks again.
// So every buffer is in one stack, and a search queries one set per level. The place is found by
// leapfrogging: each set in turn moves the candidate up to where it has room, until all agree.
// Shadows that no lifetime of the problem queries are not stored; a chain of ops needs almost none,
// and buffers that live to the horizon need only one per subtree at the right edge. Nested
// lifetimes (training) make one stack.
// But the largest stack of all is made first: the trunk, all buffers that are live in the busiest
// section. Weights, buffers that live to the horizon, and the nested lifetimes of training end up
// there; in several stacks their pieces would interleave, and a search would be led through each.
// They are not in the tree.
// A buffer with windows has several pieces, each of them separately in the tree. They move
// together: a search for one piece after the other moves the candidate up until it suits all.
// Addresses are exact although ends of pieces are rounded up to a unit, the smallest alignment of
// the problem: every piece begins at a multiple of it (with windows, a power of two for which that
// holds). That closes gaps that nothing can use.
#include "place/greedy/occupancy.h"

#include "base/alloc.h"
#include "place/greedy/sweep.h"

typedef enum set_kind { SET_STACK, SET_LEFT, SET_RIGHT, SET_ALL, SET_KINDS } set_kind;

// Instead of a root: no search queries this set. (STOWI_PLACE_GAPS_EMPTY: one does.)
#define UNWANTED (STOWI_PLACE_GAPS_EMPTY - 1)

// The node that has the trunk for its stack.
#define TRUNK 0

typedef struct node {
  stowi_place_gaps sets[SET_KINDS];
  uint32_t first_begin;  // over the pieces in the stack
  uint32_t last_end;
} node;

// A set that a search queries, and up to where it is known to be free from the current candidate
// on.
typedef struct asked {
  stowi_place_gap_finger finger;
  uint64_t free_to;
} asked;

#define MAX_ASKED 80  // two paths down a tree of 2^32 nodes, and some

struct stowi_place_search {
  stowi_place_occupancy* occupancy;
  const stowi_place_buffer* buffer;
  uint32_t first_piece;
  uint32_t end_piece;
  bool is_whole;          // it is one piece, which begins at the offset
  stowi_place_need need;  // of the piece that is searched for
  size_t count;
  asked asked[MAX_ASKED];
};

struct stowi_place_occupancy {
  const stow_problem* problem;
  stow_allocator allocator;
  stowi_place_sections sections;
  uint32_t root;
  uint32_t trunk;  // a section
  node* nodes;     // from 1 on, and the trunk
  uint64_t unit;   // all pieces begin at multiples
  uint64_t least;  // the smallest piece, in whole units
  stowi_place_gap_pool pool;
  stowi_place_search search;
  stowi_place_sweep* sweep;  // NULL before the first run
  bool is_running;
};

// ---------------------------------------------------------------------------------------------
// The tree. Node numbers are section numbers + 1; the lowest set bit is half of the width of a
// subtree.

static uint32_t low_bit(uint32_t at) { return at & (~at + 1); }

static uint32_t highest_power(uint32_t at) {
  while ((at & (at - 1)) != 0) {
    at &= at - 1;
  }
  return at;
}

// The number in [first, last] with the most trailing zeros.
static uint32_t node_of(uint32_t first, uint32_t last) {
  uint32_t differ = (first - 1) ^ last;
  for (uint32_t shift = 1; shift < 32; shift *= 2) {
    differ |= differ >> shift;
  }
  return last & ~(differ >> 1);
}

typedef struct visitor {
  void (*visit)(stowi_place_occupancy* o, uint32_t at, set_kind kind);
} visitor;

static void visit(stowi_place_occupancy* o, uint32_t at, set_kind kind, const visitor* v) {
  if (at <= o->sections.count) {
    v->visit(o, at, kind);
  }
}

// The path from |at| down to |first|, where the lifetime covers all of the tree from |first| to the
// right.
static void visit_left_part(stowi_place_occupancy* o, uint32_t at, uint32_t first,
                            const visitor* v) {
  while (true) {
    uint32_t half = low_bit(at);
    if (first <= at - (half - 1)) {
      visit(o, at, SET_ALL, v);
      return;
    }
    if (first <= at) {
      visit(o, at, SET_RIGHT, v);
      if (first == at) {
        return;
      }
      at -= half / 2;
    } else {
      visit(o, at, SET_STACK, v);
      at += half / 2;
    }
  }
}

// The mirror image. Nodes beyond the last section are empty; only their left parts count.
static void visit_right_part(stowi_place_occupancy* o, uint32_t at, uint32_t last,
                             const visitor* v) {
  while (true) {
    uint32_t half = low_bit(at);
    if (last >= at + (half - 1) || (last == o->sections.count && at <= last)) {
      visit(o, at, SET_ALL, v);
      return;
    }
    if (last >= at) {
      visit(o, at, SET_LEFT, v);
      if (last == at) {
        return;
      }
      at += half / 2;
    } else {
      visit(o, at, SET_STACK, v);
      at -= half / 2;
    }
  }
}

// All sets that a lifetime over the nodes [first, last] meets.
static void visit_sets(stowi_place_occupancy* o, uint32_t first, uint32_t last, const visitor* v) {
  uint32_t at = o->root;
  uint32_t node_index = node_of(first, last);
  while (at != node_index) {
    visit(o, at, SET_STACK, v);
    at = last < at ? at - low_bit(at) / 2 : at + low_bit(at) / 2;
  }
  uint32_t half = low_bit(at);
  bool all_left = first <= at - (half - 1);
  bool all_right = last >= at + (half - 1) || last == o->sections.count;
  if (all_left && all_right) {
    visit(o, at, SET_ALL, v);
    return;
  }
  visit(o, at, all_left ? SET_LEFT : all_right ? SET_RIGHT : SET_STACK, v);
  if (!all_left && first < at) {
    visit_left_part(o, at - half / 2, first, v);
  }
  if (!all_right && last > at) {
    visit_right_part(o, at + half / 2, last, v);
  }
}

// ---------------------------------------------------------------------------------------------
// Making

static void mark(stowi_place_occupancy* o, uint32_t at, set_kind kind) {
  o->nodes[at].sets[kind] = STOWI_PLACE_GAPS_EMPTY;
}

static uint64_t to_units(const stowi_place_occupancy* o, uint64_t size) {
  return (size + (o->unit - 1)) & ~(o->unit - 1);
}

static void clear_nodes(stowi_place_occupancy* o, uint32_t first_begin) {
  node nothing = {{UNWANTED, UNWANTED, UNWANTED, UNWANTED}, first_begin, 0};
  for (size_t i = 0; i <= o->sections.count; ++i) {
    o->nodes[i] = nothing;
  }
}

// The section in which the most pieces are live. The nodes, not in use yet, count births and
// deaths.
static uint32_t busiest_section(stowi_place_occupancy* o) {
  clear_nodes(o, 0);
  for (size_t i = 0; i < o->sections.piece_count; ++i) {
    ++o->nodes[o->sections.begin[i]].first_begin;
    ++o->nodes[o->sections.end[i]].last_end;
  }
  uint32_t busiest = 0;
  uint32_t most = 0;
  uint32_t live = 0;
  for (uint32_t i = 0; i < o->sections.count; ++i) {
    live += o->nodes[i].first_begin - o->nodes[i].last_end;
    if (live > most) {
      most = live;
      busiest = i;
    }
  }
  return busiest;
}

// A power of two that divides the offset of every piece.
static uint64_t unit_of(const stowi_place_occupancy* o) {
  uint64_t starts = o->problem->min_alignment;
  for (size_t i = 0; o->sections.low != NULL && i < o->sections.piece_count; ++i) {
    starts |= o->sections.low[i];
  }
  return starts & (~starts + 1);
}

stow_status stowi_place_occupancy_create(const stow_problem* problem, stow_allocator allocator,
                                         stowi_place_occupancy** out_occupancy) {
  *out_occupancy = NULL;
  stowi_place_occupancy* o = STOWI_NEW(allocator, stowi_place_occupancy);
  if (o == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  o->problem = problem;
  o->allocator = allocator;
  stowi_place_gap_pool_init(&o->pool, allocator);
  stow_status status = stowi_place_sections_make(problem, allocator, &o->sections);
  if (status == STOW_OK) {
    o->nodes = STOWI_ARRAY(allocator, node, (size_t)o->sections.count + 1);
    status = o->nodes == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  }
  if (status != STOW_OK) {
    stowi_place_occupancy_destroy(o);
    return status;
  }
  const visitor marking = {mark};
  o->trunk = busiest_section(o);
  clear_nodes(o, UINT32_MAX);
  mark(o, TRUNK, SET_STACK);
  o->unit = unit_of(o);
  o->least = UINT64_MAX;
  o->root = highest_power(o->sections.count);
  for (uint32_t i = 0; i < o->sections.piece_count; ++i) {
    uint64_t size = to_units(o, stowi_place_piece_size(&o->sections, o->problem, i));
    o->least = size < o->least ? size : o->least;
    visit_sets(o, o->sections.begin[i] + 1, o->sections.end[i], &marking);
  }
  *out_occupancy = o;
  return STOW_OK;
}

void stowi_place_occupancy_destroy(stowi_place_occupancy* o) {
  if (o != NULL) {
    stowi_place_gap_pool_free(&o->pool);
    stowi_place_sweep_destroy(o->sweep);
    STOWI_ARRAY_FREE(o->allocator, o->nodes, (size_t)o->sections.count + 1);
    stowi_place_sections_free(&o->sections, o->problem, o->allocator);
    STOWI_DELETE(o->allocator, o);
  }
}

// ---------------------------------------------------------------------------------------------
// Taking

static stow_status shade(stowi_place_occupancy* o, uint32_t at, set_kind kind, uint64_t low,
                         uint64_t high) {
  stowi_place_gaps* set = &o->nodes[at].sets[kind];
  return *set == UNWANTED ? STOW_OK : stowi_place_gaps_shade(&o->pool, set, low, high, o->least);
}

static stow_status stack(stowi_place_occupancy* o, uint32_t at, uint32_t piece, uint64_t low,
                         uint64_t high) {
  node* n = &o->nodes[at];
  uint32_t begin = o->sections.begin[piece];
  uint32_t end = o->sections.end[piece];
  if (n->sets[SET_STACK] == UNWANTED) {
    return STOW_OK;
  }
  n->first_begin = begin < n->first_begin ? begin : n->first_begin;
  n->last_end = end > n->last_end ? end : n->last_end;
  return stowi_place_gaps_stack(&o->pool, &n->sets[SET_STACK], low, high, begin, end);
}

static stow_status take_piece(stowi_place_occupancy* o, uint32_t piece, uint64_t low) {
  uint64_t high = low + to_units(o, stowi_place_piece_size(&o->sections, o->problem, piece));
  uint32_t node_index = node_of(o->sections.begin[piece] + 1, o->sections.end[piece]);
  if (o->sweep != NULL) {
    stowi_place_sweep_put(o->sweep, piece, low);
  }
  if (o->sections.begin[piece] <= o->trunk && o->trunk < o->sections.end[piece]) {
    return stack(o, TRUNK, piece, low, high);
  }
  stow_status status = stack(o, node_index, piece, low, high);
  for (uint32_t at = node_index; status == STOW_OK; at = (at ^ low_bit(at)) | low_bit(at) << 1) {
    if (at <= o->sections.count) {
      status = shade(o, at, SET_ALL, low, high);
      if (status == STOW_OK && node_index <= at) {
        status = shade(o, at, SET_LEFT, low, high);
      }
      if (status == STOW_OK && node_index >= at) {
        status = shade(o, at, SET_RIGHT, low, high);
      }
    }
    if (at == o->root) {
      break;
    }
  }
  return status;
}

stow_status stowi_place_occupancy_take(stowi_place_occupancy* o, size_t buffer, uint64_t offset) {
  uint32_t end = stowi_place_piece_end(&o->sections, buffer);
  stow_status status = STOW_OK;
  for (uint32_t i = stowi_place_piece_first(&o->sections, buffer); i < end && status == STOW_OK;
       ++i) {
    status = take_piece(o, i, offset + stowi_place_piece_low(&o->sections, i));
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Runs

stow_status stowi_place_occupancy_expect_runs(stowi_place_occupancy* o) {
  return stowi_place_sweep_create(o->problem, &o->sections, o->allocator, &o->sweep);
}

uint32_t stowi_place_occupancy_birth(const stowi_place_occupancy* o, size_t buffer) {
  return o->sections.begin[stowi_place_piece_first(&o->sections, buffer)];
}

void stowi_place_occupancy_start_run(stowi_place_occupancy* o, size_t buffer, uint64_t unit) {
  stowi_place_sweep_start(o->sweep, stowi_place_occupancy_birth(o, buffer), unit);
  o->is_running = true;
}

void stowi_place_occupancy_stop_run(stowi_place_occupancy* o) {
  stowi_place_sweep_stop(o->sweep);
  o->is_running = false;
}

// ---------------------------------------------------------------------------------------------
// Searching

static void ask(stowi_place_occupancy* o, uint32_t at, set_kind kind) {
  stowi_place_search* s = &o->search;
  const node* n = &o->nodes[at];
  if (n->sets[kind] == STOWI_PLACE_GAPS_EMPTY) {
    return;
  }
  if (kind == SET_STACK && !stowi_place_together((stowi_place_life){n->first_begin, n->last_end},
                                                 (stowi_place_life){s->need.begin, s->need.end})) {
    return;
  }
  asked* e = &s->asked[s->count++];
  e->finger.set = n->sets[kind];
  e->finger.top = UINT32_MAX;
  e->free_to = 0;
}

static uint64_t align(uint64_t x, uint64_t alignment) {
  return (x + (alignment - 1)) & ~(alignment - 1);
}

// Sets the request for |piece|, and the sets to query.
static void start_piece(stowi_place_search* s, uint32_t piece) {
  const visitor asking = {ask};
  stowi_place_occupancy* o = s->occupancy;
  uint64_t starts = s->buffer->alignment | stowi_place_piece_low(&o->sections, piece);
  s->count = 0;
  s->need.size = to_units(o, stowi_place_piece_size(&o->sections, o->problem, piece));
  s->need.alignment = starts & (~starts + 1);
  s->need.begin = o->sections.begin[piece];
  s->need.end = o->sections.end[piece];
  ask(o, TRUNK, SET_STACK);
  visit_sets(o, s->need.begin + 1, s->need.end, &asking);
}

stowi_place_search* stowi_place_search_start(stowi_place_occupancy* o, size_t buffer) {
  stowi_place_search* s = &o->search;
  s->occupancy = o;
  s->buffer = &o->problem->buffers.data[buffer];
  s->first_piece = stowi_place_piece_first(&o->sections, buffer);
  s->end_piece = stowi_place_piece_end(&o->sections, buffer);
  s->is_whole = s->end_piece - s->first_piece == 1 &&
                stowi_place_piece_low(&o->sections, s->first_piece) == 0;
  if (s->is_whole) {
    start_piece(s, s->first_piece);
  }
  if (o->is_running) {
    stowi_place_sweep_advance(o->sweep, o->sections.begin[s->first_piece]);
  }
  return s;
}

// The first set that has no room at |at| gives the next offset where it has; |at| if all have.
static uint64_t probe(stowi_place_search* s, uint64_t at) {
  for (size_t i = 0; i < s->count; ++i) {
    asked* a = &s->asked[i];
    if (at + s->need.size > a->free_to) {
      uint64_t found =
          stowi_place_gaps_find(&s->occupancy->pool, &a->finger, &s->need, at, &a->free_to);
      if (found != at) {
        return found;
      }
    }
  }
  return at;
}

// In a run: what is live at the birth gives the candidates.
static uint64_t search_in_run(stowi_place_search* s, uint64_t from) {
  uint64_t at = from;
  while (true) {
    at = stowi_place_sweep_find(s->occupancy->sweep, s->need.size, s->need.alignment, at);
    uint64_t found = probe(s, at);
    if (found == at) {
      return at;
    }
    at = found;
  }
}

// The lowest aligned address at or above |at|, which is aligned, where the piece has room.
static uint64_t leapfrog(stowi_place_search* s, uint64_t at) {
  size_t agreed = 0;
  for (size_t i = 0; agreed < s->count; i = i + 1 < s->count ? i + 1 : 0) {
    asked* a = &s->asked[i];
    if (at + s->need.size <= a->free_to) {
      ++agreed;
      continue;
    }
    uint64_t found =
        stowi_place_gaps_find(&s->occupancy->pool, &a->finger, &s->need, at, &a->free_to);
    agreed = found == at ? agreed + 1 : 1;
    at = found;
  }
  return at;
}

// Leaps from piece to piece as leapfrog does from set to set. A piece alone may be less aligned
// than the buffer: if rounding its offset up moves it, it has to be checked again.
static uint64_t search_pieces(stowi_place_search* s, uint64_t from) {
  uint64_t at = align(from, s->buffer->alignment);
  uint32_t agreed = 0;
  uint32_t piece = s->first_piece;
  while (agreed < s->end_piece - s->first_piece) {
    uint64_t low = stowi_place_piece_low(&s->occupancy->sections, piece);
    start_piece(s, piece);
    uint64_t found = leapfrog(s, at + low) - low;
    uint64_t aligned = align(found, s->buffer->alignment);
    agreed = aligned == at ? agreed + 1 : aligned == found ? 1 : 0;
    at = aligned;
    piece = piece + 1 < s->end_piece ? piece + 1 : s->first_piece;
  }
  return at;
}

uint64_t stowi_place_search_next(stowi_place_search* s, uint64_t from) {
  if (!s->is_whole) {
    return search_pieces(s, from);
  }
  if (s->occupancy->is_running) {
    return search_in_run(s, from);
  }
  return leapfrog(s, align(from, s->need.alignment));
}

static uint64_t room_of_piece(const stowi_place_search* s, uint64_t low) {
  uint64_t end = UINT64_MAX;
  for (size_t i = 0; i < s->count; ++i) {
    uint64_t reach =
        stowi_place_gaps_end(&s->occupancy->pool, s->asked[i].finger.set, &s->need, low);
    end = reach < end ? reach : end;
  }
  return end;
}

uint64_t stowi_place_search_room(stowi_place_search* s, uint64_t offset) {
  if (s->is_whole) {
    return room_of_piece(s, offset);
  }
  const stowi_place_sections* sections = &s->occupancy->sections;
  uint64_t footprint = stowi_place_footprint(s->buffer);
  uint64_t end = UINT64_MAX;
  for (uint32_t i = s->first_piece; i < s->end_piece; ++i) {
    start_piece(s, i);
    uint64_t reach = room_of_piece(s, offset + stowi_place_piece_low(sections, i));
    if (reach != UINT64_MAX) {
      reach += footprint - stowi_place_piece_high(sections, i, s->buffer);
      end = reach < end ? reach : end;
    }
  }
  return end;
}
