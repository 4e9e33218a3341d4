// The bytes that a root occupies are stored as pieces, linked from the last to the first: a concat
// and the operands made for it meet late in the operands' lifetimes, so a merge visits only the
// last pieces and leaves the long past of a chain of concats unchanged.
//     bytes   ┌──────┬────────┐
//      of     │      │ x1, x2 │ concat …          x1 made first, then x2: three pieces
//      the    ├──────┤        │
//      result │ x1   │        │
//             └──────┴────────┴─────────▶ step
// A piece gives its bytes relative to the value that was the root when it was made. Where that
// value is now is found by union–find with byte offsets, so that moving a root moves all its pieces
// at once. Roots are merged by a sweep over both lists, last pieces first; the values of one root
// by halves, which costs O(m log m) for m values.
#include "analysis/sharing/hulls.h"

#include "analysis/views.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "effects/api.h"

#define NO_PIECE UINT32_MAX

stow_value stowi_analysis_hulls_find(stowi_analysis_hulls* hulls, stow_value value,
                                     uint64_t* out_offset) {
  stow_value root = value;
  uint64_t offset = 0;
  while (hulls->parent[root] != root) {
    offset += hulls->shift[root];
    root = hulls->parent[root];
  }
  *out_offset = offset;
  while (hulls->parent[value] != root && value != root) {
    stow_value next = hulls->parent[value];
    uint64_t step = hulls->shift[value];
    hulls->parent[value] = root;
    hulls->shift[value] = offset;
    offset -= step;
    value = next;
  }
  return root;
}

// ---------------------------------------------------------------------------------------------
// Pieces

// Ensures that |count| pieces can be taken.
static bool reserve_pieces(stowi_analysis_hulls* hulls, size_t count) {
  return count < NO_PIECE - hulls->pieces.count &&
         STOWI_VEC_RESERVE(hulls->allocator, &hulls->pieces, count) == STOW_OK;
}

static uint32_t take_piece(stowi_analysis_hulls* hulls, stowi_analysis_hull_piece piece) {
  uint32_t index = hulls->unused;
  if (index != NO_PIECE) {
    hulls->unused = hulls->pieces.data[index].previous;
  } else {
    index = (uint32_t)hulls->pieces.count++;
  }
  hulls->pieces.data[index] = piece;
  return index;
}

static void drop_pieces(stowi_analysis_hulls* hulls, uint32_t from, uint32_t to) {
  while (from != to) {
    uint32_t previous = hulls->pieces.data[from].previous;
    hulls->pieces.data[from].previous = hulls->unused;
    hulls->unused = from;
    from = previous;
  }
}

// ---------------------------------------------------------------------------------------------
// Merging

// A walk through a root's pieces, backwards in time.
typedef struct cursor {
  uint32_t at;                  // NO_PIECE: past the first
  stowi_analysis_layout place;  // in the root that stays
  uint64_t bytes;               // of the root, if it is pitched there
  uint64_t low, high;
  uint64_t size;  // what it occupied before it was moved there
  uint32_t begin, end;
} cursor;

static void look(stowi_analysis_hulls* hulls, cursor* c) {
  if (c->at == NO_PIECE) {
    return;
  }
  stowi_analysis_hull_piece piece = hulls->pieces.data[c->at];
  uint64_t offset;
  stowi_analysis_hulls_find(hulls, piece.anchor, &offset);
  // The first and the last byte are those of values.
  c->low = stowi_analysis_layout_map(c->place, c->bytes, offset + piece.low);
  c->high = stowi_analysis_layout_map(c->place, c->bytes, offset + piece.high - 1) + 1;
  c->size = piece.high - piece.low;
  c->begin = piece.begin;
  c->end = piece.end;
  ++hulls->work;
}

static cursor cursor_of(stowi_analysis_hulls* hulls, uint32_t last, stowi_analysis_layout place,
                        uint64_t bytes) {
  cursor c = {.at = last, .place = place, .bytes = bytes};
  look(hulls, &c);
  return c;
}

// Skips the pieces of |c| at |step| and later.
static void go_before(stowi_analysis_hulls* hulls, cursor* c, uint32_t step) {
  c->end = c->end < step ? c->end : step;
  if (c->begin >= step) {
    c->at = hulls->pieces.data[c->at].previous;
    look(hulls, c);
  }
}

static bool emit(stowi_analysis_hulls* hulls, stowi_analysis_hull_merge piece) {
  if (hulls->merged.count != 0) {
    stowi_analysis_hull_merge* later = &hulls->merged.data[hulls->merged.count - 1];
    if (later->begin == piece.end && later->low == piece.low && later->high == piece.high &&
        later->rise == piece.rise) {
      later->begin = piece.begin;
      return true;
    }
  }
  if (STOWI_VEC_RESERVE(hulls->allocator, &hulls->merged, 1) != STOW_OK) {
    return false;
  }
  hulls->merged.data[hulls->merged.count++] = piece;
  return true;
}

static uint32_t later_of(uint32_t a, uint32_t b) { return a > b ? a : b; }

// The last steps at which only one of the two occupies bytes.
static bool emit_one(stowi_analysis_hulls* hulls, cursor* c, uint32_t other_end) {
  uint32_t begin = later_of(c->begin, other_end);
  int64_t rise = (int64_t)(c->high - c->low) - (int64_t)c->size;
  bool emitted = emit(hulls, (stowi_analysis_hull_merge){c->low, c->high, begin, c->end, rise});
  go_before(hulls, c, begin);
  return emitted;
}

static bool emit_both(stowi_analysis_hulls* hulls, cursor* a, cursor* b) {
  uint32_t begin = later_of(a->begin, b->begin);
  uint64_t low = a->low < b->low ? a->low : b->low;
  uint64_t high = a->high > b->high ? a->high : b->high;
  int64_t rise = (int64_t)(high - low) - (int64_t)a->size - (int64_t)b->size;
  bool emitted = emit(hulls, (stowi_analysis_hull_merge){low, high, begin, a->end, rise});
  go_before(hulls, a, begin);
  go_before(hulls, b, begin);
  return emitted;
}

static const stowi_analysis_layout at_begin = {0, 1, 0};

// Fills |merged|, last first, up to where one of the two roots begins; if the first is pitched, up
// to where that begins. It has |bytes| bytes and is at |place| in the other. False if out of
// memory.
static bool sweep(stowi_analysis_hulls* hulls, uint32_t a_last, stowi_analysis_layout place,
                  uint64_t bytes, uint32_t b_last) {
  cursor a = cursor_of(hulls, a_last, place, bytes);
  cursor b = cursor_of(hulls, b_last, at_begin, 0);
  hulls->merged.count = 0;
  while (a.at != NO_PIECE && b.at != NO_PIECE) {
    bool emitted = a.end == b.end  ? emit_both(hulls, &a, &b)
                   : a.end > b.end ? emit_one(hulls, &a, b.end)
                                   : emit_one(hulls, &b, a.end);
    if (!emitted) {
      return false;
    }
  }
  // Rows that are moved apart occupy more at every step, and bytes move by different distances.
  while (place.rows > 1 && a.at != NO_PIECE) {
    if (!emit_one(hulls, &a, 0)) {
      return false;
    }
  }
  hulls->rest[0] = a.at;
  hulls->rest[1] = b.at;
  hulls->rest_end = a.at != NO_PIECE ? a.end : b.end;
  return true;
}

// Replaces the last pieces of both lists by |merged|, anchored at |anchor|, and returns the last.
// Room for them has been reserved.
static uint32_t replace(stowi_analysis_hulls* hulls, uint32_t a_last, uint32_t b_last,
                        stow_value anchor) {
  drop_pieces(hulls, a_last, hulls->rest[0]);
  drop_pieces(hulls, b_last, hulls->rest[1]);
  uint32_t last = hulls->rest[0] != NO_PIECE ? hulls->rest[0] : hulls->rest[1];
  if (last != NO_PIECE) {
    hulls->pieces.data[last].end = hulls->rest_end;
  }
  for (size_t i = hulls->merged.count; i-- > 0;) {
    stowi_analysis_hull_merge m = hulls->merged.data[i];
    last =
        take_piece(hulls, (stowi_analysis_hull_piece){m.low, m.high, m.begin, m.end, last, anchor});
  }
  return last;
}

stowi_analysis_rise stowi_analysis_hulls_try(stowi_analysis_hulls* hulls, stow_value root,
                                             stow_value into, stowi_analysis_layout place) {
  if (hulls->too_large || hulls->work > STOWI_ANALYSIS_HULLS_WORK) {
    return STOWI_ANALYSIS_RISE_OF_PEAK;
  }
  if (!sweep(hulls, hulls->last[root], place, hulls->bytes[root], hulls->last[into])) {
    return STOWI_ANALYSIS_RISE_UNKNOWN;
  }
  stowi_analysis_rise rise = STOWI_ANALYSIS_RISE_NONE;
  int64_t peak = stowi_analysis_load_curve_peak(&hulls->load);
  for (size_t i = 0; i < hulls->merged.count; ++i) {
    stowi_analysis_hull_merge m = hulls->merged.data[i];
    if (m.rise > 0) {
      rise = STOWI_ANALYSIS_RISE_BELOW_PEAK;
      if (stowi_analysis_load_curve_highest(&hulls->load, m.begin, m.end) + m.rise > peak) {
        return STOWI_ANALYSIS_RISE_OF_PEAK;
      }
    }
  }
  return rise;
}

bool stowi_analysis_hulls_merge(stowi_analysis_hulls* hulls, stow_value root, stow_value into,
                                stowi_analysis_layout place) {
  if (!reserve_pieces(hulls, hulls->merged.count)) {
    return false;
  }
  for (size_t i = 0; i < hulls->merged.count; ++i) {
    stowi_analysis_hull_merge m = hulls->merged.data[i];
    stowi_analysis_load_curve_add(&hulls->load, m.begin, m.end, m.rise);
  }
  hulls->last[into] = replace(hulls, hulls->last[root], hulls->last[into], into);
  hulls->last[root] = NO_PIECE;
  hulls->parent[root] = into;
  hulls->shift[root] = place.offset;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Initial roots

// A value that has bytes, with its root.
typedef struct member {
  uint64_t key;  // the root
  stow_value value;
  uint32_t last;  // the last piece of this and the values merged with it
} member;

static size_t collect_members(const stowi_analysis_views* views, member* members) {
  size_t count = 0;
  for (stow_value value = 0; value < views->value_count; ++value) {
    if (views->bytes[value] != 0) {
      members[count++] = (member){views->root[value], value, NO_PIECE};
    }
  }
  return count;
}

static bool merge_members(stowi_analysis_hulls* hulls, member* a, const member* b) {
  if (!sweep(hulls, a->last, at_begin, 0, b->last) || !reserve_pieces(hulls, hulls->merged.count)) {
    return false;
  }
  a->last = replace(hulls, a->last, b->last, (stow_value)a->key);
  return true;
}

// Makes one list of the pieces of |count| members of one root.
static bool merge_root(stowi_analysis_hulls* hulls, member* members, size_t count) {
  for (size_t width = 1; width < count; width *= 2) {
    for (size_t i = 0; i + width < count; i += 2 * width) {
      if (!merge_members(hulls, &members[i], &members[i + width])) {
        return false;
      }
    }
  }
  hulls->last[members[0].key] = members[0].last;
  return true;
}

static bool make_pieces(stowi_analysis_hulls* hulls, const stowi_analysis_sharing_call* call,
                        member* members, size_t count) {
  const stowi_analysis_views* views = call->views;
  if (!reserve_pieces(hulls, count)) {
    return false;
  }
  for (size_t i = 0; i < count; ++i) {
    stow_value value = members[i].value;
    stowi_analysis_hull_piece piece = {
        .low = views->offset[value],
        .high = views->offset[value] + stowi_analysis_views_span(views, value),
        .begin = stowi_analysis_lifetimes_own_begin(call->lifetimes, value),
        .end = stowi_analysis_lifetimes_own_end(call->lifetimes, value),
        .previous = NO_PIECE,
        .anchor = (stow_value)members[i].key};
    members[i].last = take_piece(hulls, piece);
  }
  for (size_t first = 0; first < count;) {
    size_t end = first + 1;
    while (end < count && members[end].key == members[first].key) {
      ++end;
    }
    if (!merge_root(hulls, &members[first], end - first)) {
      return false;
    }
    first = end;
  }
  return true;
}

static bool make_roots(stowi_analysis_hulls* hulls, const stowi_analysis_sharing_call* call) {
  uint32_t value_count = hulls->value_count;
  member* members = STOWI_ARRAY(hulls->allocator, member, value_count);
  if (members == NULL) {
    return false;
  }
  size_t count = collect_members(call->views, members);
  bool made = stowi_sort_by_key(members, count, sizeof(*members), hulls->allocator) == STOW_OK &&
              make_pieces(hulls, call, members, count);
  STOWI_ARRAY_FREE(hulls->allocator, members, value_count);
  return made;
}

// ---------------------------------------------------------------------------------------------
// Initial load

static bool is_in_arena(const stowi_analysis_sharing_call* call, stow_value root) {
  return !stowi_analysis_sharing_is_external(call, root) &&
         (call->views->inputs || !stowi_effects_is_input(call->graph, root));
}

// Adds |bytes| to |total|; false if it exceeds what a curve may hold.
static bool count_bytes(uint64_t* total, uint64_t bytes) {
  return stowi_add_u64(*total, bytes, total) && *total <= (uint64_t)STOWI_ANALYSIS_LOAD_MAX;
}

static bool fits_curve(const stowi_analysis_sharing_call* call) {
  const stowi_analysis_views* views = call->views;
  uint64_t total = 0;
  for (stow_value value = 0; value < views->value_count; ++value) {
    if (views->root[value] == value && !count_bytes(&total, views->bytes[value])) {
      return false;
    }
  }
  for (size_t i = 0; i < stowi_effects_scratch_count(call->effects); ++i) {
    if (!count_bytes(&total, stowi_effects_scratch(call->effects, i).bytes)) {
      return false;
    }
  }
  return true;
}

static void fill_curve(stowi_analysis_hulls* hulls, const stowi_analysis_sharing_call* call) {
  for (stow_value root = 0; root < hulls->value_count; ++root) {
    if (hulls->last[root] == NO_PIECE || !is_in_arena(call, root)) {
      continue;
    }
    for (uint32_t at = hulls->last[root]; at != NO_PIECE; at = hulls->pieces.data[at].previous) {
      stowi_analysis_hull_piece piece = hulls->pieces.data[at];
      stowi_analysis_load_curve_add(&hulls->load, piece.begin, piece.end,
                                    (int64_t)(piece.high - piece.low));
    }
  }
  for (size_t i = 0; i < stowi_effects_scratch_count(call->effects); ++i) {
    stowi_effects_scratch_entry scratch = stowi_effects_scratch(call->effects, i);
    uint32_t step = stow_schedule_step(call->schedule, scratch.node);
    stowi_analysis_load_curve_add(&hulls->load, step, step + 1, (int64_t)scratch.bytes);
  }
}

// ---------------------------------------------------------------------------------------------

static bool init(stowi_analysis_hulls* hulls, const stowi_analysis_sharing_call* call) {
  uint32_t count = hulls->value_count;
  hulls->parent = STOWI_ARRAY(hulls->allocator, stow_value, count);
  hulls->shift = STOWI_ARRAY_ZERO(hulls->allocator, uint64_t, count);
  hulls->last = STOWI_ARRAY(hulls->allocator, uint32_t, count);
  if (hulls->parent == NULL || hulls->shift == NULL || hulls->last == NULL ||
      stowi_analysis_load_curve_init(&hulls->load, stow_schedule_count(call->schedule) + 1,
                                     hulls->allocator) != STOW_OK) {
    return false;
  }
  for (stow_value value = 0; value < count; ++value) {
    hulls->parent[value] = value;
    hulls->last[value] = NO_PIECE;
  }
  hulls->too_large = !fits_curve(call);
  if (hulls->too_large) {
    return true;
  }
  if (!make_roots(hulls, call)) {
    return false;
  }
  fill_curve(hulls, call);
  hulls->work = 0;
  return true;
}

stow_status stowi_analysis_hulls_init(stowi_analysis_hulls* hulls,
                                      const stowi_analysis_sharing_call* call) {
  *hulls = (stowi_analysis_hulls){.allocator = call->allocator,
                                  .value_count = call->views->value_count,
                                  .bytes = call->views->bytes,
                                  .unused = NO_PIECE};
  if (!init(hulls, call)) {
    stowi_analysis_hulls_free(hulls);
    return stowi_fail_memory(call->diag);
  }
  return STOW_OK;
}

void stowi_analysis_hulls_free(stowi_analysis_hulls* hulls) {
  STOWI_ARRAY_FREE(hulls->allocator, hulls->parent, hulls->value_count);
  STOWI_ARRAY_FREE(hulls->allocator, hulls->shift, hulls->value_count);
  STOWI_ARRAY_FREE(hulls->allocator, hulls->last, hulls->value_count);
  STOWI_VEC_FREE(hulls->allocator, &hulls->pieces);
  STOWI_VEC_FREE(hulls->allocator, &hulls->merged);
  stowi_analysis_load_curve_free(&hulls->load, hulls->allocator);
  *hulls = (stowi_analysis_hulls){.allocator = hulls->allocator};
}
