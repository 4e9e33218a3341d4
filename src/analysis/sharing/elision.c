// Copy elision: operands of concat are built at their place inside the result, so that nothing is
// copied.
//     %2 = conv(…)                %2 ┐
//     %3 = conv(…)                   ├ one root, %4
//     %4 = concat(%2, %3)         %3 ┘
// Concats are visited in the order in which they run. A whole root moves: the operand's root and
// everything in it, including views, results in place and values that moved there before, so that
// concats of concats end in one root. Several operands that together are all of one root, in its
// order, move as one: concat(a, b, c) after concat(a, b). An operand that is a part of its root, as
// it is inside another concat, can still be in the result if one of both roots fits into the other:
// they join, and the operand has the same bytes in both concats (claims.c).
// Safety. The operand's place in the result is empty until the concat runs: the result, and
// everything originally in its root, begins there. From then on both hold the same bytes, so
// neither may be overwritten while the other is in use: no result in place in the operand's root
// after the concat, and none in the result's root while anything of the operand's root is live.
// If dims before the concat's axis are above 1, an operand has a part of each row of the result: it
// is pitched there, and all nodes that make or read anything in its root are run row by row
// (analysis/by_rows.h). Only whole roots move there, one operand or several that have parts of each
// of its rows, and none of them joins.
// Profit. With windows, a root occupies at each step the range that covers its live values. First
// the elisions are taken that raise the load at no step; then those whose rise stays below the
// peak. O((values + operands) log values), plus the cost of merging (hulls.h).
#include "analysis/by_rows.h"
#include "analysis/sharing/elider.h"
#include "base/diag.h"

typedef stowi_analysis_elider elider;
typedef stowi_analysis_entry entry;

static stow_value operand_of(const elider* h, const entry* e) {
  return stowi_analysis_elider_operand(h, e);
}

static stow_value result_of(const elider* h, const entry* e) {
  return stowi_analysis_elider_result(h, e);
}

static bool refuse(entry* e, stow_reason reason, stow_value other) {
  return stowi_analysis_elider_refuse(e, reason, other);
}

static uint32_t step_of(const elider* h, stow_node node) {
  return stowi_analysis_elider_step(h, node);
}

static uint32_t birth_of(const elider* h, stow_value value) {
  return stowi_analysis_elider_birth(h, value);
}

static stow_value find(elider* h, stow_value value, uint64_t* out_offset) {
  return stowi_analysis_elider_find(h, value, out_offset);
}

static bool is_pitched(const elider* h, stow_value root) {
  return h->next != NULL && stowi_bits_has(&h->pitched, root);
}

// As find, also where values are pitched.
static stow_value locate(elider* h, stow_value value, stowi_analysis_layout* out_layout) {
  *out_layout = (stowi_analysis_layout){0, 1, 0};
  stow_value root = find(h, value, &out_layout->offset);
  return is_pitched(h, root) ? stowi_analysis_locate(h->call->views, value, out_layout) : root;
}

// ---------------------------------------------------------------------------------------------
// Moving

// The concat that |value| has moved into, or STOW_VALUE_NONE.
static stow_value target_of(const elider* h, stow_value value) {
  stow_value target = h->target[value];
  return target != STOW_VALUE_NONE ? target : h->target[h->call->views->root[value]];
}

// Whether |operand| is in |root| from byte |at| of each of |rows| rows on.
static bool is_part_of_rows(elider* h, stow_value operand, stow_value root, uint64_t rows,
                            uint64_t at) {
  uint64_t row = h->call->views->bytes[root] / rows;
  stowi_analysis_layout layout;
  if (locate(h, operand, &layout) != root || layout.offset != at) {
    return false;
  }
  bool is_all = layout.rows == 1 && h->call->views->bytes[operand] == h->call->views->bytes[root];
  return rows == 1 ? layout.rows == 1 : is_all || (layout.rows == rows && layout.pitch == row);
}

// The number of entries from |e| on, up to |end|, that together are all of |root|, in its order; 0
// if they are only a part of it.
static size_t cover(elider* h, const entry* e, const entry* end, stow_value root) {
  uint64_t row = h->call->views->bytes[root] / e->rows;
  uint64_t covered = 0;
  size_t count = 0;
  while (covered < row && e + count < end && e[count].place == e->place + covered &&
         e[count].rows == e->rows) {
    stow_value operand = operand_of(h, &e[count]);
    if (!is_part_of_rows(h, operand, root, e->rows, covered)) {
      return 0;
    }
    covered += h->call->views->bytes[operand] / e->rows;
    ++count;
  }
  return covered == row ? count : 0;
}

static bool is_aligned(const elider* h, stow_value root, stowi_analysis_layout place) {
  uint64_t alignment = stowi_analysis_views_alignment(h->call->views, root);
  uint64_t least = h->call->options.alignment;
  alignment = alignment > least ? alignment : least;
  return place.offset % alignment == 0 && place.pitch % alignment == 0;
}

// Whether |root| and the concat |result|, with all concats that contain it, can share bytes:
// neither is overwritten while the other is in use. Values that have moved into |root| may have for
// a concat that runs after this one, in the second round.
static bool is_safe(elider* h, stow_value root, stow_value result, entry* e) {
  const stowi_analysis_root* moved = &h->roots[root];
  if (moved->latest != STOW_VALUE_NONE && birth_of(h, moved->latest) >= step_of(h, e->node)) {
    return refuse(e, STOW_REASON_GIVEN_AWAY, moved->latest);
  }
  for (stow_value outer = result; outer != STOW_VALUE_NONE; outer = h->target[outer]) {
    stow_value taker = h->roots[outer].first_in_place;
    if (taker != STOW_VALUE_NONE && birth_of(h, taker) < moved->end) {
      return refuse(e, STOW_REASON_GIVEN_AWAY, taker);
    }
    ++h->hulls.work;
  }
  return true;
}

// Moves |root| if the load allows it: in the first round only if it rises at no step.
static stow_status move(elider* h, stow_value root, stow_value into, stowi_analysis_layout place,
                        bool first, entry* e) {
  stowi_analysis_rise rise = stowi_analysis_hulls_try(&h->hulls, root, into, place);
  if (rise == STOWI_ANALYSIS_RISE_UNKNOWN) {
    return stowi_fail_memory(h->call->diag);
  }
  if (rise == STOWI_ANALYSIS_RISE_OF_PEAK || (rise == STOWI_ANALYSIS_RISE_BELOW_PEAK && first)) {
    refuse(e, STOW_REASON_LOAD, STOW_VALUE_NONE);
    return STOW_OK;
  }
  STOW_TRY(
      stowi_need_memory(stowi_analysis_hulls_merge(&h->hulls, root, into, place), h->call->diag));
  if (h->roots[into].end < h->roots[root].end) {
    h->roots[into].end = h->roots[root].end;
  }
  stow_value latest = h->roots[root].latest;
  if (latest != STOW_VALUE_NONE && (h->roots[into].latest == STOW_VALUE_NONE ||
                                    birth_of(h, h->roots[into].latest) < birth_of(h, latest))) {
    h->roots[into].latest = latest;
  }
  h->target[root] = result_of(h, e) != root ? result_of(h, e) : into;  // a result may move, too
  stowi_analysis_elider_moved(h, root, into, place);
  stowi_analysis_sharing_move(h->call, root, into, place);
  e->reason = STOW_REASON_TAKEN;
  e->other = STOW_VALUE_NONE;
  e->other_node = STOW_NODE_NONE;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Joining

// One root that will be at |offset| in another.
typedef struct join {
  stow_value root;
  stow_value into;
  uint64_t offset;
} join;

// Finds how an operand at |offset| in |root| can be at |place| in |into|, the result's root.
static bool find_join(const elider* h, stow_value root, stow_value into, uint64_t offset,
                      uint64_t place, join* out_join) {
  const uint64_t* bytes = h->call->views->bytes;
  if (place >= offset && place - offset + bytes[root] <= bytes[into]) {
    *out_join = (join){root, into, place - offset};
    return root != into;
  }
  *out_join = (join){into, root, offset - place};
  return root != into && offset >= place && offset - place + bytes[into] <= bytes[root];
}

// Whether nothing is computed in place of the operand after the concat, and it is all of the root
// that it was in.
static bool may_stay(const elider* h, const entry* e) {
  stow_value operand = operand_of(h, e);
  stow_value home = stowi_analysis_elider_home(h, operand);
  stow_value last = h->roots[home].last_in_place;
  bool is_whole = operand == home || h->call->views->offset[operand] == 0;
  return e->place != STOWI_ANALYSIS_NO_PLACE && is_whole &&
         h->call->views->bytes[operand] == h->call->views->bytes[home] &&
         (last == STOW_VALUE_NONE || birth_of(h, last) < step_of(h, e->node));
}

// Tries |e|, whose operand is at |offset| in |root|, and all later entries of its concat that are
// at their places too if it is.
static void try_entries(elider* h, entry* e, const entry* end, stow_value root, uint64_t offset) {
  uint64_t place = e->place;
  for (; e < end; ++e) {
    uint64_t other;
    e->is_tried = e->reason != STOW_REASON_TAKEN && may_stay(h, e) &&
                  find(h, operand_of(h, e), &other) == root && other + place == offset + e->place;
  }
}

static void end_trial(entry* e, const entry* end, bool taken) {
  for (; e < end; ++e) {
    if (e->is_tried && taken) {
      e->reason = STOW_REASON_TAKEN;
      e->other = STOW_VALUE_NONE;
    }
    e->is_tried = false;
  }
}

static void refuse_part(const elider* h, stow_value root, entry* e) {
  stow_value target = target_of(h, operand_of(h, e));
  refuse(e, target != STOW_VALUE_NONE ? STOW_REASON_OTHER_HOME : STOW_REASON_LARGER_ROOT,
         target != STOW_VALUE_NONE ? target : root);
}

// Whether |found| is possible by itself; |into| is the result's root.
static bool may_join(elider* h, join found, stow_value into, entry* e) {
  if (found.root == into && !stowi_analysis_elider_may_move(h, into, e)) {
    return false;
  }
  return is_aligned(h, found.root, (stowi_analysis_layout){found.offset, 1, 0}) ||
         refuse(e, STOW_REASON_MISALIGNED, STOW_VALUE_NONE);
}

// Joins |found| for |e|, whose operand is in |root|, if bytes and load allow it.
static stow_status try_join(elider* h, join found, stow_value root, bool first, entry* e) {
  bool fits;
  STOW_TRY(stowi_analysis_elider_fits(h, found.root, found.into, found.offset, &fits));
  if (fits) {
    return move(h, found.root, found.into, (stowi_analysis_layout){found.offset, 1, 0}, first, e);
  }
  refuse_part(h, root, e);
  return STOW_OK;
}

// Builds a part of a root inside a result by joining their roots.
static stow_status join_roots(elider* h, entry* e, const entry* end, bool first) {
  uint64_t offset;
  uint64_t base;
  stow_value root = find(h, operand_of(h, e), &offset);
  stow_value into = find(h, result_of(h, e), &base);
  join found;
  if (e->rows > 1 || is_pitched(h, root) || is_pitched(h, into)) {
    refuse_part(h, root, e);
    return STOW_OK;
  }
  if (!may_stay(h, e) || !find_join(h, root, into, offset, base + e->place, &found)) {
    refuse_part(h, root, e);
    return STOW_OK;
  }
  if (!may_join(h, found, into, e)) {
    return STOW_OK;
  }
  try_entries(h, e, end, root, offset);
  stow_status status = try_join(h, found, root, first, e);
  bool taken = e->reason == STOW_REASON_TAKEN;
  end_trial(e, end, taken);
  if (taken) {
    stowi_bits_add(&h->joined, found.into);
  }
  return status;
}

// ---------------------------------------------------------------------------------------------
// Deciding

// Moves |root|, which the |count| entries from |e| on are all of, into |into|.
static stow_status move_all(elider* h, stow_value root, stow_value into,
                            stowi_analysis_layout place, bool first, entry* e, size_t count) {
  if (!is_aligned(h, root, place)) {
    refuse(e, STOW_REASON_MISALIGNED, STOW_VALUE_NONE);
  } else if (is_safe(h, root, result_of(h, e), e)) {
    STOW_TRY(move(h, root, into, place, first, e));
  }
  for (size_t i = 1; i < count; ++i) {
    e[i].reason = e->reason;
    e[i].other = e->other;
    e[i].other_node = e->other_node;
  }
  return STOW_OK;
}

// Decides for |e| and for the entries after it that move with it, |*out_count| in all.
static stow_status decide(elider* h, entry* e, const entry* end, bool first, size_t* out_count) {
  uint64_t offset;
  stowi_analysis_layout whole;
  stow_value root = find(h, operand_of(h, e), &offset);
  stow_value into = locate(h, result_of(h, e), &whole);
  *out_count = 1;
  if ((first && !stowi_analysis_elider_may_contain(h, e)) ||
      !stowi_analysis_elider_is_eligible(h, root, e)) {
    return STOW_OK;
  }
  size_t count = root != into && whole.rows == 1 ? cover(h, e, end, root) : 0;
  if (count == 0 || stowi_bits_has(&h->joined, root) || stowi_bits_has(&h->joined, into)) {
    return join_roots(h, e, end, first);
  }
  stowi_analysis_layout place = {whole.offset + e->place, 1, 0};
  if (h->call->views->bytes[root] != h->call->views->bytes[result_of(h, e)]) {
    place.rows = e->rows;
    place.pitch = e->rows == 1 ? 0 : h->call->views->bytes[result_of(h, e)] / e->rows;
  }
  *out_count = count;
  return move_all(h, root, into, place, first, e, count);
}

// The entry after the last of |e|'s concat.
static entry* end_of_concat(const elider* h, entry* e) {
  entry* end = h->entries.data + h->entries.count;
  stow_node node = e->node;
  while (e < end && e->node == node) {
    ++e;
  }
  return e;
}

static stow_status decide_all(elider* h) {
  entry* end = h->entries.data + h->entries.count;
  for (entry* e = h->entries.data; e < end;) {
    const entry* last = end_of_concat(h, e);
    while (e < last) {
      size_t count = 1;
      if (e->reason != STOW_REASON_TAKEN) {
        STOW_TRY(decide(h, e, last, true, &count));
      }
      e += count;
    }
  }
  return STOW_OK;
}

// Retries operands that would have raised the load: some may now fit below the peak. None is
// retried once the work budget of hulls is used up.
static stow_status decide_again(elider* h) {
  entry* end = h->entries.data + h->entries.count;
  for (entry* e = h->entries.data; e < end;) {
    size_t count = 1;
    if (e->reason == STOW_REASON_LOAD && h->hulls.work <= STOWI_ANALYSIS_HULLS_WORK) {
      STOW_TRY(decide(h, e, end_of_concat(h, e), false, &count));
      for (size_t i = 0; i < count && e->reason != STOW_REASON_TAKEN; ++i) {
        refuse(&e[i], STOW_REASON_LOAD, STOW_VALUE_NONE);
      }
    }
    e += count;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

// Before anything has moved: proposes for each operand the first concat that it could be built in.
static void propose(elider* h) {
  const stowi_analysis_views* views = h->call->views;
  stow_value* target = h->call->target;
  for (size_t i = 0; i < h->entries.count; ++i) {
    entry* e = &h->entries.data[i];
    stow_value operand = operand_of(h, e);
    stow_value root = views->root[operand];
    if (target[operand] == STOW_VALUE_NONE && stowi_analysis_elider_may_contain(h, e) &&
        stowi_analysis_elider_is_eligible(h, root, e) && views->offset[operand] == 0 &&
        views->bytes[operand] == views->bytes[root]) {
      target[operand] = result_of(h, e);
    }
  }
}

// If all operands outlive a concat, eliding the copies costs no bytes, but then nothing can be
// computed in place of the concat. Without elision, that would save as much at its last step, and
// nothing before.
static void spare_results(elider* h) {
  const entry* end = h->entries.data + h->entries.count;
  for (entry* e = h->entries.data; e < end;) {
    const entry* next = end_of_concat(h, e);
    stow_value result = result_of(h, e);
    uint32_t last = h->roots[h->call->views->root[result]].end;
    bool spared = h->call->target[result] == STOW_VALUE_NONE;
    for (; e < next; ++e) {
      stow_value root = h->call->views->root[operand_of(h, e)];
      spared = spared && stowi_analysis_elider_may_contain(h, e) &&
               stowi_analysis_elider_is_eligible(h, root, e) && h->roots[root].end >= last;
    }
    if (spared) {
      h->call->target[result] = result;
    }
  }
}

stow_status stowi_analysis_elision_candidates(stowi_analysis_sharing_call* call) {
  elider h;
  stow_status status = stowi_analysis_elider_init(&h, call);
  if (status == STOW_OK && h.entries.count != 0) {
    propose(&h);
    spare_results(&h);
  }
  stowi_analysis_elider_free(&h);
  return status;
}

static stow_status note_all(const elider* h) {
  for (size_t i = 0; i < h->entries.count; ++i) {
    const entry* e = &h->entries.data[i];
    stow_decision decision = stowi_analysis_sharing_decision(
        h->call, STOW_SHARE_HOME, e->reason, e->node, result_of(h, e), operand_of(h, e));
    decision.other_value = e->other;
    decision.other_node = e->other_node;
    STOW_TRY(stowi_analysis_sharing_note(h->call, decision, e->operand));
  }
  return STOW_OK;
}

static stow_status run(elider* h) {
  if (h->entries.count == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_analysis_hulls_init(&h->hulls, h->call));
  STOW_TRY(decide_all(h));
  STOW_TRY(decide_again(h));
  STOW_TRY(note_all(h));
  stowi_analysis_sharing_settle(h->call);
  return STOW_OK;
}

stow_status stowi_analysis_elide_copies(stowi_analysis_sharing_call* call) {
  elider h;
  stow_status status = stowi_analysis_elider_init(&h, call);
  status = status == STOW_OK ? run(&h) : status;
  stowi_analysis_elider_free(&h);
  return status;
}
