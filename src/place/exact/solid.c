// Where no byte is free, what dies makes room for exactly what is born. Let S be some buffers, and
// let every birth and death inside their time be of S alone, at borders between sections that are
// full. What is not in S does not change at these borders, so S occupies the same bytes throughout.
// If no part of S balances births and deaths for itself, these bytes are in one piece: S is a
// block, as high as it is at its begin, in every placement there is.
//
//     ┌──────┬───┐            The block's borders in time are [L, R); a is the border at which one
//     │      │   │  ──▶ one   dies and two are born, b that at which two die and one is born. Two
//     ├───┬──┤   │            buffers, one right after the other, are the smallest block.
//     │   ├──┴───┤
//     └───┴──────┘
//     L   a  b   R
//
// Buffers with the same lifetime can be next to each other if what is born with them is in one
// piece, and what dies with them is too: whatever is between them then has that lifetime as well,
// as a whole, and can change places with one of them.
//
// So the problem with blocks instead of their members has a placement within the capacity exactly
// if the problem itself has one. Blocks are merged into larger ones until nothing more is found. A
// block that is packed is a rectangle, so how it is packed does not matter to the others.
#include "place/exact/solid.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "place/sections.h"

#define NONE UINT32_MAX
#define MOST_MEMBERS 12    // of a block
#define MOST_AT_BORDER 16  // births and deaths whose balance is looked into
#define MOST_TRIES 4096    // of packing a block, or of finding a part that balances
#define LEAST_MERGED 4     // one of so many buffers, or it is not worth it

// A buffer of the problem, or a block.
typedef struct node {
  uint32_t begin;  // sections
  uint32_t end;
  uint64_t size;
  uint32_t parent;   // the block it is in, or NONE
  uint32_t number;   // without a parent: of its buffer in the problem of blocks
  uint64_t above;    // how far above its parent
  uint32_t next[2];  // with the same begin, with the same end
  uint32_t previous[2];
} node;

enum { BORN, DEAD };

struct stowi_place_solid {
  stow_allocator allocator;
  const stow_problem* whole;
  stow_problem* problem;  // of blocks
  uint32_t section_count;
  uint8_t* is_full;    // by section
  uint32_t* first[2];  // by border: of those born or dead there
  node* nodes;         // at most twice as many as buffers
  uint32_t count;
  uint32_t most;
  uint32_t top_count;  // of nodes without parents
};
typedef stowi_place_solid solid;

// ---------------------------------------------------------------------------------------------
// Nodes by border

static uint32_t border_of(const node* n, int side) { return side == BORN ? n->begin : n->end; }

static void link(solid* s, uint32_t i) {
  for (int side = BORN; side <= DEAD; ++side) {
    uint32_t* first = &s->first[side][border_of(&s->nodes[i], side)];
    s->nodes[i].previous[side] = NONE;
    s->nodes[i].next[side] = *first;
    if (*first != NONE) {
      s->nodes[*first].previous[side] = i;
    }
    *first = i;
  }
}

static void unlink(solid* s, uint32_t i) {
  for (int side = BORN; side <= DEAD; ++side) {
    const node* n = &s->nodes[i];
    if (n->previous[side] == NONE) {
      s->first[side][border_of(n, side)] = n->next[side];
    } else {
      s->nodes[n->previous[side]].next[side] = n->next[side];
    }
    if (n->next[side] != NONE) {
      s->nodes[n->next[side]].previous[side] = n->previous[side];
    }
  }
}

// Whether no byte is free before and after it.
static bool is_tight(const solid* s, uint32_t border) {
  return (border == 0 || s->is_full[border - 1] != 0) &&
         (border == s->section_count || s->is_full[border] != 0);
}

// ---------------------------------------------------------------------------------------------
// Groups

typedef struct group {
  uint32_t members[MOST_AT_BORDER];
  uint32_t count;
  uint32_t begin;
  uint32_t end;
} group;

static bool is_in(const group* g, uint32_t i) {
  for (uint32_t k = 0; k < g->count; ++k) {
    if (g->members[k] == i) {
      return true;
    }
  }
  return false;
}

// Adds all that are born or die at the border. False if they are too many.
static bool take_border(const solid* s, group* g, uint32_t border, uint32_t most) {
  for (int side = BORN; side <= DEAD; ++side) {
    for (uint32_t i = s->first[side][border]; i != NONE; i = s->nodes[i].next[side]) {
      if (!is_in(g, i)) {
        if (g->count == most) {
          return false;
        }
        g->members[g->count++] = i;
      }
    }
  }
  return true;
}

static bool is_inside(const group* g, uint32_t border) {
  return g->begin < border && border < g->end;
}

// Those with a member's borders between the group's own become members, too.
static bool close_group(const solid* s, group* g) {
  uint32_t seen = 0;
  while (seen < g->count) {
    uint32_t count = g->count;
    for (uint32_t k = seen; k < count; ++k) {
      const node* n = &s->nodes[g->members[k]];
      if (n->begin < g->begin) {
        return false;
      }
      seen = n->end > g->end ? 0 : seen;
      g->end = n->end > g->end ? n->end : g->end;
    }
    for (uint32_t k = seen; k < count; ++k) {
      const node* n = &s->nodes[g->members[k]];
      for (int side = BORN; side <= DEAD; ++side) {
        uint32_t border = border_of(n, side);
        if (is_inside(g, border) &&
            (!is_tight(s, border) || !take_border(s, g, border, MOST_MEMBERS))) {
          return false;
        }
      }
    }
    seen = count == g->count ? count : seen;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Parts that balance

// A search for a part of a group, not all of it, with its first member, that is born and dies in
// equal amounts at each of the borders inside.
typedef struct balance {
  const solid* s;
  const group* g;
  uint32_t borders[MOST_AT_BORDER * 2];
  int64_t excess[MOST_AT_BORDER * 2];  // of births over deaths, of those taken
  uint32_t open[MOST_AT_BORDER * 2];   // members there that are not decided
  uint32_t border_count;
  uint32_t tries;
} balance;

static uint32_t slot_of(balance* b, uint32_t border) {
  for (uint32_t i = 0; i < b->border_count; ++i) {
    if (b->borders[i] == border) {
      return i;
    }
  }
  b->borders[b->border_count] = border;
  b->excess[b->border_count] = 0;
  b->open[b->border_count] = 0;
  return b->border_count++;
}

// Decides on a member. False if a border can no longer be balanced.
static bool decide(balance* b, uint32_t member, bool is_taken, int sign) {
  const node* n = &b->s->nodes[b->g->members[member]];
  bool may_balance = true;
  for (int side = BORN; side <= DEAD; ++side) {
    uint32_t border = border_of(n, side);
    if (is_inside(b->g, border)) {
      uint32_t slot = slot_of(b, border);
      int64_t amount = side == BORN ? (int64_t)n->size : -(int64_t)n->size;
      b->excess[slot] += is_taken ? sign * amount : 0;
      b->open[slot] -= (uint32_t)sign;
      may_balance = may_balance && (b->open[slot] > 0 || b->excess[slot] == 0);
    }
  }
  return may_balance;
}

static bool find_part(balance* b, uint32_t member, uint32_t taken) {
  if (++b->tries > MOST_TRIES) {
    return true;  // perhaps
  }
  if (member == b->g->count) {
    return taken < b->g->count;
  }
  for (int is_taken = 0; is_taken <= (int)(member > 0); ++is_taken) {
    bool takes = member == 0 || is_taken != 0;
    bool found = decide(b, member, takes, 1) && find_part(b, member + 1, taken + takes);
    decide(b, member, takes, -1);
    if (found) {
      return true;
    }
  }
  return false;
}

// Whether a part of the group may be apart from the rest of it.
static bool may_part(const solid* s, const group* g) {
  balance b = {.s = s, .g = g};
  for (uint32_t k = 0; k < g->count; ++k) {
    for (int side = BORN; side <= DEAD; ++side) {
      uint32_t border = border_of(&s->nodes[g->members[k]], side);
      if (is_inside(g, border)) {
        ++b.open[slot_of(&b, border)];
      }
    }
  }
  return find_part(&b, 0, 0);
}

// ---------------------------------------------------------------------------------------------
// Packing a block: from the bottom up, always in the corner of the lowest valley.

typedef struct packing {
  const solid* s;
  const group* g;
  uint32_t borders[MOST_MEMBERS * 2];  // ascending
  uint64_t floor[MOST_MEMBERS * 2];    // between a border and the next
  uint32_t count;                      // of floors
  uint64_t height;
  uint64_t offsets[MOST_MEMBERS];
  uint32_t tries;
} packing;

static void add_border(packing* p, uint32_t border) {
  uint32_t at = p->count;
  while (at > 0 && p->borders[at - 1] > border) {
    --at;
  }
  if (at == 0 || p->borders[at - 1] != border) {
    memmove(&p->borders[at + 1], &p->borders[at], (p->count - at) * sizeof(*p->borders));
    p->borders[at] = border;
    ++p->count;
  }
}

static void set_floor(packing* p, uint32_t from, uint32_t end, uint64_t floor) {
  for (uint32_t i = from; i < p->count && p->borders[i] < end; ++i) {
    p->floor[i] = floor;
  }
}

static uint32_t lowest_of(const packing* p) {
  uint32_t lowest = 0;
  for (uint32_t i = 1; i < p->count; ++i) {
    lowest = p->floor[i] < p->floor[lowest] ? i : lowest;
  }
  return lowest;
}

static bool can_lie(const packing* p, const node* n, uint32_t corner) {
  uint64_t floor = p->floor[corner];
  if (n->begin != p->borders[corner] || n->size > p->height - floor) {
    return false;
  }
  for (uint32_t i = corner; i < p->count && p->borders[i] < n->end; ++i) {
    if (p->floor[i] != floor) {
      return false;
    }
  }
  return true;
}

static bool pack(packing* p, uint32_t placed) {
  uint32_t corner = lowest_of(p);
  uint64_t floor = p->floor[corner];
  if (placed == (UINT32_C(1) << p->g->count) - 1) {
    return true;
  }
  for (uint32_t k = 0; k < p->g->count && p->tries < MOST_TRIES; ++k) {
    const node* n = &p->s->nodes[p->g->members[k]];
    if ((placed >> k & 1) == 0 && can_lie(p, n, corner)) {
      ++p->tries;
      p->offsets[k] = floor;
      set_floor(p, corner, n->end, floor + n->size);
      if (pack(p, placed | UINT32_C(1) << k)) {
        return true;
      }
      set_floor(p, corner, n->end, floor);
    }
  }
  return false;
}

static bool pack_group(const solid* s, const group* g, packing* out) {
  *out = (packing){.s = s, .g = g};
  for (uint32_t k = 0; k < g->count; ++k) {
    const node* n = &s->nodes[g->members[k]];
    add_border(out, n->begin);
    add_border(out, n->end);
    out->height += n->begin == g->begin ? n->size : 0;
  }
  --out->count;
  return pack(out, 0);
}

// ---------------------------------------------------------------------------------------------
// Merging

static void merge(solid* s, const group* g, uint64_t size, const uint64_t* offsets) {
  uint32_t block = s->count++;
  s->nodes[block] = (node){.begin = g->begin, .end = g->end, .size = size, .parent = NONE};
  for (uint32_t k = 0; k < g->count; ++k) {
    unlink(s, g->members[k]);
    s->nodes[g->members[k]].parent = block;
    s->nodes[g->members[k]].above = offsets[k];
  }
  link(s, block);
  s->top_count -= g->count - 1;
}

// The block that begins with |first| and has the border at its end inside.
static bool merge_block(solid* s, uint32_t first) {
  const node* n = &s->nodes[first];
  group g = {.members = {first}, .count = 1, .begin = n->begin, .end = n->end};
  packing p;
  if (n->end == s->section_count || !is_tight(s, n->end) ||
      !take_border(s, &g, n->end, MOST_MEMBERS) || !close_group(s, &g) || may_part(s, &g) ||
      !pack_group(s, &g, &p)) {
    return false;
  }
  merge(s, &g, p.height, p.offsets);
  return true;
}

// Whether all that is born at the border, or dies there, is in one piece.
static bool is_one_piece(const solid* s, uint32_t border) {
  if (!is_tight(s, border) || border == 0 || border == s->section_count) {
    return is_tight(s, border);
  }
  group g = {.count = 0, .begin = border - 1, .end = border + 1};
  return take_border(s, &g, border, MOST_AT_BORDER) && !may_part(s, &g);
}

// Two with the same lifetime.
static bool merge_pair(solid* s, uint32_t first) {
  const node* n = &s->nodes[first];
  uint32_t other = n->next[BORN];
  while (other != NONE && s->nodes[other].end != n->end) {
    other = s->nodes[other].next[BORN];
  }
  if (other == NONE || !is_one_piece(s, n->begin) || !is_one_piece(s, n->end)) {
    return false;
  }
  group g = {.members = {first, other}, .count = 2, .begin = n->begin, .end = n->end};
  uint64_t offsets[] = {0, n->size};
  merge(s, &g, n->size + s->nodes[other].size, offsets);
  return true;
}

static void merge_all(solid* s) {
  for (uint32_t before = 0; before != s->count;) {
    before = s->count;
    for (uint32_t i = 0; i < s->count; ++i) {
      if (s->nodes[i].parent == NONE && !merge_pair(s, i)) {
        merge_block(s, i);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// From and to problems

static bool is_plain(const stow_problem* problem) {
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    if (stowi_place_is_fixed(b) || b->alignment != problem->min_alignment ||
        (stowi_place_footprint(b) & (b->alignment - 1)) != 0) {
      return false;
    }
  }
  return problem->windows.count == 0 && problem->buffers.count > 0 &&
         problem->buffers.count < UINT32_MAX / 2;
}

static void add_nodes(solid* s, const stowi_place_sections* sections) {
  s->count = s->top_count = (uint32_t)s->whole->buffers.count;
  for (uint32_t i = 0; i < s->count; ++i) {
    s->nodes[i] = (node){.begin = sections->begin[i],
                         .end = sections->end[i],
                         .size = stowi_place_footprint(&s->whole->buffers.data[i]),
                         .parent = NONE};
    link(s, i);
  }
}

// Two full sections in a row, or there are no blocks.
static bool fill_sections(solid* s, uint64_t capacity) {
  uint64_t load = 0;
  bool has_two = false;
  for (uint32_t border = 0; border < s->section_count; ++border) {
    for (uint32_t i = s->first[DEAD][border]; i != NONE; i = s->nodes[i].next[DEAD]) {
      load -= s->nodes[i].size;
    }
    for (uint32_t i = s->first[BORN][border]; i != NONE; i = s->nodes[i].next[BORN]) {
      load += s->nodes[i].size;
    }
    s->is_full[border] = load == capacity;
    has_two = has_two || (border > 0 && s->is_full[border - 1] != 0 && load == capacity);
  }
  return has_two;
}

static stow_status prepare(solid* s, const stowi_place_sections* sections) {
  size_t borders = (size_t)sections->count + 1;
  s->section_count = sections->count;
  s->most = 2 * (uint32_t)s->whole->buffers.count;
  s->is_full = STOWI_ARRAY(s->allocator, uint8_t, borders);
  s->first[BORN] = STOWI_ARRAY(s->allocator, uint32_t, borders);
  s->first[DEAD] = STOWI_ARRAY(s->allocator, uint32_t, borders);
  s->nodes = STOWI_ARRAY(s->allocator, node, s->most);
  if (s->is_full == NULL || s->first[BORN] == NULL || s->first[DEAD] == NULL || s->nodes == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < borders; ++i) {
    s->first[BORN][i] = s->first[DEAD][i] = NONE;
  }
  add_nodes(s, sections);
  return STOW_OK;
}

static stow_status make_problem(solid* s, stow_diag* diag) {
  STOW_TRY(stow_problem_create(s->allocator, diag, &s->problem));
  for (uint32_t i = 0; i < s->count; ++i) {
    node* n = &s->nodes[i];
    if (n->parent == NONE) {
      stow_buffer block;
      n->number = (uint32_t)s->problem->buffers.count;
      stow_buffer_init(&block);
      block.size = n->size;
      block.begin = n->begin;
      block.end = n->end;
      block.alignment = s->whole->min_alignment;
      STOW_TRY(stow_problem_add(s->problem, &block, diag, NULL));
    }
  }
  return STOW_OK;
}

static stow_status make(solid* s, uint64_t capacity, stow_diag* diag, bool* out_is_worth_it) {
  stowi_place_sections sections;
  stow_status status = stowi_place_sections_make(s->whole, s->allocator, &sections);
  if (status == STOW_OK) {
    status = prepare(s, &sections);
  }
  if (status == STOW_OK && fill_sections(s, capacity)) {
    merge_all(s);
  }
  stowi_place_sections_free(&sections, s->whole, s->allocator);
  STOW_TRY(stowi_need_memory(status == STOW_OK, diag));
  size_t merged = s->whole->buffers.count - s->top_count;
  *out_is_worth_it = merged > s->whole->buffers.count / LEAST_MERGED;
  return *out_is_worth_it ? make_problem(s, diag) : STOW_OK;
}

stow_status stowi_place_solid_create(const stow_problem* problem, uint64_t capacity,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_place_solid** out_solid) {
  bool is_worth_it = false;
  *out_solid = NULL;
  if (!is_plain(problem)) {
    return STOW_OK;
  }
  solid* s = STOWI_NEW(allocator, solid);
  STOW_TRY(stowi_need_memory(s != NULL, diag));
  s->allocator = allocator;
  s->whole = problem;
  stow_status status = make(s, capacity, diag, &is_worth_it);
  if (status != STOW_OK || !is_worth_it) {
    stowi_place_solid_destroy(s);
    return status;
  }
  *out_solid = s;
  return STOW_OK;
}

void stowi_place_solid_destroy(stowi_place_solid* s) {
  if (s != NULL) {
    stow_allocator allocator = s->allocator;
    stow_problem_destroy(s->problem);
    STOWI_ARRAY_FREE(allocator, s->is_full, (size_t)s->section_count + 1);
    STOWI_ARRAY_FREE(allocator, s->first[BORN], (size_t)s->section_count + 1);
    STOWI_ARRAY_FREE(allocator, s->first[DEAD], (size_t)s->section_count + 1);
    STOWI_ARRAY_FREE(allocator, s->nodes, s->most);
    STOWI_DELETE(allocator, s);
  }
}

const stow_problem* stowi_place_solid_problem(const stowi_place_solid* s) { return s->problem; }

void stowi_place_solid_expand(const stowi_place_solid* s, const uint64_t* offsets,
                              uint64_t* out_offsets) {
  for (size_t i = 0; i < s->whole->buffers.count; ++i) {
    const node* n = &s->nodes[i];
    out_offsets[i] = 0;
    for (; n->parent != NONE; n = &s->nodes[n->parent]) {
      out_offsets[i] += n->above;
    }
    out_offsets[i] += offsets[n->number];
  }
}
