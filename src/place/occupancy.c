// Occupied space × time, kept so that the lowest free place for a life and a size is found without
// looking at the placed buffers one by one.
//
// Sections of time are the nodes of an implicit balanced tree in symmetric order. A buffer belongs
// to the topmost section that it covers, its home. Each node keeps four sets of gaps (gaps.h):
//
//     stack   the buffers at home here. All cover this section, so their footprints are disjoint:
//     one ordered list. left    the shadow of all buffers at home here or in the left subtree right
//     … here or in the right subtree all     … here or below
//
//                  16                     a life [a, b] meets
//           8             24              - on the way down, nodes outside it: the stack's pieces
//           that
//        4     12     20      28            reach into it (a search asks each piece);
//      2  6  10  14  18  22  26  30       - the topmost node inside it: the stack;
//             └───life────┘               - below, nodes inside: right (towards a) or left (towards
//             b), all where
//                                           it covers the subtree; nodes outside: stacks again.
//
// So every buffer lies in one stack, and a search asks one set per level. The place is found by
// leapfrogging: each set in turn moves the candidate up to where it has room, until all agree.
// Shadows that no life of the problem asks for are not kept; a chain of ops needs almost none, and
// buffers that live to the horizon need only one per subtree at the right edge. Lives that nest
// (training) make one stack.
//
// But the largest stack of all is made first: the trunk, all buffers that live in the busiest
// section. Weights, what lives to the horizon, and the nested lives of training end up there; in
// several stacks their pieces would interleave, and a search would be led through each. They are
// not in the tree.
//
// Addresses are exact although ends of footprints are rounded up to the smallest alignment of the
// problem: every offset is a multiple of it. That closes gaps that nothing can use.
#include "place/occupancy.h"

#include <string.h>

#include "base/alloc.h"
#include "place/sweep.h"

typedef enum set_kind { SET_STACK, SET_LEFT, SET_RIGHT, SET_ALL, SET_KINDS } set_kind;

// Instead of a root: nobody asks for this set. (STOWI_GAPS_EMPTY: somebody does.)
#define UNWANTED (STOWI_GAPS_EMPTY - 1)

// The node that has the trunk for its stack.
#define TRUNK 0

typedef struct node {
  stowi_gaps sets[SET_KINDS];
  uint32_t first_begin;  // over the buffers in the stack
  uint32_t last_end;
} node;

// A set that a search asks, and up to where it knows it to be free from the current candidate on.
typedef struct asked {
  stowi_gap_finger finger;
  uint64_t free_to;
} asked;

#define MAX_ASKED 80  // two ways down a tree of 2^32 nodes, and some

struct stowi_search {
  stowi_occupancy* occupancy;
  size_t buffer;
  stowi_need need;
  size_t count;
  asked asked[MAX_ASKED];
};

struct stowi_occupancy {
  const stow_problem* problem;
  stow_allocator allocator;
  stowi_sections sections;
  uint32_t root;
  uint32_t trunk;  // a section
  node* nodes;     // from 1 on, and the trunk
  uint64_t unit;   // all offsets are multiples
  uint64_t least;  // the smallest footprint, in whole units
  stowi_gap_pool pool;
  stowi_search search;
  stowi_sweep* sweep;  // NULL before the first run
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
static uint32_t home_of(uint32_t first, uint32_t last) {
  uint32_t differ = (first - 1) ^ last;
  for (uint32_t shift = 1; shift < 32; shift *= 2) {
    differ |= differ >> shift;
  }
  return last & ~(differ >> 1);
}

typedef struct visitor {
  void (*visit)(stowi_occupancy* o, uint32_t at, set_kind kind);
} visitor;

static void visit(stowi_occupancy* o, uint32_t at, set_kind kind, const visitor* v) {
  if (at <= o->sections.count) {
    v->visit(o, at, kind);
  }
}

// The way from |at| down to |first|, where the life covers all of the tree from |first| to the
// right.
static void visit_left_part(stowi_occupancy* o, uint32_t at, uint32_t first, const visitor* v) {
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
static void visit_right_part(stowi_occupancy* o, uint32_t at, uint32_t last, const visitor* v) {
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

// All sets that a life over the nodes [first, last] meets.
static void visit_sets(stowi_occupancy* o, uint32_t first, uint32_t last, const visitor* v) {
  uint32_t at = o->root;
  uint32_t home = home_of(first, last);
  while (at != home) {
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

static void mark(stowi_occupancy* o, uint32_t at, set_kind kind) {
  o->nodes[at].sets[kind] = STOWI_GAPS_EMPTY;
}

static uint64_t to_units(const stowi_occupancy* o, uint64_t size) {
  return (size + (o->unit - 1)) & ~(o->unit - 1);
}

static void clear_nodes(stowi_occupancy* o, uint32_t first_begin) {
  node nothing = {{UNWANTED, UNWANTED, UNWANTED, UNWANTED}, first_begin, 0};
  for (size_t i = 0; i <= o->sections.count; ++i) {
    o->nodes[i] = nothing;
  }
}

// The section in which the most buffers live. The nodes, not in use yet, count births and deaths.
static uint32_t busiest_section(stowi_occupancy* o) {
  clear_nodes(o, 0);
  for (size_t i = 0; i < o->problem->buffers.count; ++i) {
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

static void prepare(stowi_occupancy* o) {
  const stow_problem* problem = o->problem;
  const visitor marking = {mark};
  o->trunk = busiest_section(o);
  clear_nodes(o, UINT32_MAX);
  mark(o, TRUNK, SET_STACK);
  o->unit = problem->min_alignment;
  o->least = UINT64_MAX;
  o->root = highest_power(o->sections.count);
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    uint64_t footprint = to_units(o, stowi_footprint(&problem->buffers.data[i]));
    o->least = footprint < o->least ? footprint : o->least;
    visit_sets(o, o->sections.begin[i] + 1, o->sections.end[i], &marking);
  }
}

stow_status stowi_occupancy_create(const stow_problem* problem, stow_allocator allocator,
                                   stowi_occupancy** out_occupancy) {
  *out_occupancy = NULL;
  stowi_occupancy* o = STOWI_NEW(allocator, stowi_occupancy);
  if (o == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  o->problem = problem;
  o->allocator = allocator;
  stowi_gap_pool_init(&o->pool, allocator);
  stow_status status = stowi_sections_make(problem, allocator, &o->sections);
  if (status == STOW_OK) {
    o->nodes = STOWI_ARRAY(allocator, node, (size_t)o->sections.count + 1);
    status = o->nodes == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  }
  if (status != STOW_OK) {
    stowi_occupancy_destroy(o);
    return status;
  }
  prepare(o);
  *out_occupancy = o;
  return STOW_OK;
}

void stowi_occupancy_destroy(stowi_occupancy* o) {
  if (o != NULL) {
    stowi_gap_pool_free(&o->pool);
    stowi_sweep_destroy(o->sweep);
    STOWI_ARRAY_FREE(o->allocator, o->nodes, (size_t)o->sections.count + 1);
    stowi_sections_free(&o->sections, o->problem, o->allocator);
    STOWI_DELETE(o->allocator, o);
  }
}

// ---------------------------------------------------------------------------------------------
// Taking

static stow_status shade(stowi_occupancy* o, uint32_t at, set_kind kind, uint64_t low,
                         uint64_t high) {
  stowi_gaps* set = &o->nodes[at].sets[kind];
  return *set == UNWANTED ? STOW_OK : stowi_gaps_shade(&o->pool, set, low, high, o->least);
}

static stow_status stack(stowi_occupancy* o, uint32_t at, size_t buffer, uint64_t low,
                         uint64_t high) {
  node* n = &o->nodes[at];
  uint32_t begin = o->sections.begin[buffer];
  uint32_t end = o->sections.end[buffer];
  if (n->sets[SET_STACK] == UNWANTED) {
    return STOW_OK;
  }
  n->first_begin = begin < n->first_begin ? begin : n->first_begin;
  n->last_end = end > n->last_end ? end : n->last_end;
  return stowi_gaps_stack(&o->pool, &n->sets[SET_STACK], low, high, begin, end);
}

stow_status stowi_occupancy_take(stowi_occupancy* o, size_t buffer, uint64_t offset) {
  uint64_t high = offset + to_units(o, stowi_footprint(&o->problem->buffers.data[buffer]));
  uint32_t home = home_of(o->sections.begin[buffer] + 1, o->sections.end[buffer]);
  if (o->sweep != NULL) {
    stowi_sweep_put(o->sweep, buffer, offset);
  }
  if (o->sections.begin[buffer] <= o->trunk && o->trunk < o->sections.end[buffer]) {
    return stack(o, TRUNK, buffer, offset, high);
  }
  stow_status status = stack(o, home, buffer, offset, high);
  for (uint32_t at = home; status == STOW_OK; at = (at ^ low_bit(at)) | low_bit(at) << 1) {
    if (at <= o->sections.count) {
      status = shade(o, at, SET_ALL, offset, high);
      if (status == STOW_OK && home <= at) {
        status = shade(o, at, SET_LEFT, offset, high);
      }
      if (status == STOW_OK && home >= at) {
        status = shade(o, at, SET_RIGHT, offset, high);
      }
    }
    if (at == o->root) {
      break;
    }
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Runs

stow_status stowi_occupancy_expect_runs(stowi_occupancy* o) {
  return stowi_sweep_create(o->problem, &o->sections, o->allocator, &o->sweep);
}

uint32_t stowi_occupancy_birth(const stowi_occupancy* o, size_t buffer) {
  return o->sections.begin[buffer];
}

void stowi_occupancy_start_run(stowi_occupancy* o, size_t buffer, uint64_t unit) {
  stowi_sweep_start(o->sweep, o->sections.begin[buffer], unit);
  o->is_running = true;
}

void stowi_occupancy_stop_run(stowi_occupancy* o) {
  stowi_sweep_stop(o->sweep);
  o->is_running = false;
}

// ---------------------------------------------------------------------------------------------
// Searching

static void ask(stowi_occupancy* o, uint32_t at, set_kind kind) {
  stowi_search* s = &o->search;
  const node* n = &o->nodes[at];
  if (n->sets[kind] == STOWI_GAPS_EMPTY) {
    return;
  }
  if (kind == SET_STACK && (n->first_begin >= s->need.end || n->last_end <= s->need.begin)) {
    return;
  }
  asked* e = &s->asked[s->count++];
  e->finger.set = n->sets[kind];
  e->finger.top = UINT32_MAX;
  e->free_to = 0;
}

stowi_search* stowi_search_start(stowi_occupancy* o, size_t buffer) {
  const visitor asking = {ask};
  const stowi_buffer* b = &o->problem->buffers.data[buffer];
  stowi_search* s = &o->search;
  s->occupancy = o;
  s->count = 0;
  s->need.size = to_units(o, stowi_footprint(b));
  s->need.alignment = b->alignment;
  s->need.begin = o->sections.begin[buffer];
  s->need.end = o->sections.end[buffer];
  ask(o, TRUNK, SET_STACK);
  visit_sets(o, s->need.begin + 1, s->need.end, &asking);
  if (o->is_running) {
    stowi_sweep_advance(o->sweep, s->need.begin);
  }
  s->buffer = buffer;
  return s;
}

// The first set that has no room at |at| tells where it has; |at| where all have.
static uint64_t probe(stowi_search* s, uint64_t at) {
  for (size_t i = 0; i < s->count; ++i) {
    asked* a = &s->asked[i];
    if (at + s->need.size > a->free_to) {
      uint64_t found = stowi_gaps_find(&s->occupancy->pool, &a->finger, &s->need, at, &a->free_to);
      if (found != at) {
        return found;
      }
    }
  }
  return at;
}

// In a run: what is live at the birth names the candidates.
static uint64_t search_in_run(stowi_search* s, uint64_t from) {
  uint64_t at = from;
  while (true) {
    at = stowi_sweep_find(s->occupancy->sweep, s->buffer, at);
    uint64_t found = probe(s, at);
    if (found == at) {
      return at;
    }
    at = found;
  }
}

uint64_t stowi_search_next(stowi_search* s, uint64_t from) {
  if (s->occupancy->is_running) {
    return search_in_run(s, from);
  }
  uint64_t alignment = s->need.alignment;
  uint64_t at = (from + (alignment - 1)) & ~(alignment - 1);
  size_t agreed = 0;
  for (size_t i = 0; agreed < s->count; i = i + 1 < s->count ? i + 1 : 0) {
    asked* a = &s->asked[i];
    if (at + s->need.size <= a->free_to) {
      ++agreed;
      continue;
    }
    uint64_t found = stowi_gaps_find(&s->occupancy->pool, &a->finger, &s->need, at, &a->free_to);
    agreed = found == at ? agreed + 1 : 1;
    at = found;
  }
  return at;
}

uint64_t stowi_search_room(const stowi_search* s, uint64_t offset) {
  uint64_t end = UINT64_MAX;
  for (size_t i = 0; i < s->count; ++i) {
    uint64_t reach = stowi_gaps_end(&s->occupancy->pool, s->asked[i].finger.set, &s->need, offset);
    end = reach < end ? reach : end;
  }
  return end;
}
