// Copy elision: operands of concat are built at their place inside the result, so that nothing is
// copied.
//     %2 = conv(…)                %2 ┐
//     %3 = conv(…)                   ├ one root, %4
//     %4 = concat(%2, %3)         %3 ┘
// Concats are visited in the order in which they run. A whole root moves: the operand's root and
// everything in it, including views, results in place and values that moved there before, so that
// concats of concats end in one root. Several operands that together are all of one root, in its
// order, move as one: concat(a, b, c) after concat(a, b).
// Safety. The operand's place in the result is empty until the concat runs: the result, and
// everything originally in its root, begins there. From then on both hold the same bytes, so
// neither may be overwritten while the other is in use: no result in place in the operand's root
// after the concat, and none in the result's root while anything of the operand's root is live.
// Profit. With windows, a root occupies at each step the range that covers its live values. First
// the elisions are taken that raise the load at no step; then those whose rise stays below the
// peak. O((values + operands) log values), plus the cost of merging (hulls.h).
#include "analysis/sharing/hulls.h"
#include "analysis/views.h"
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"

#define NO_PLACE UINT64_MAX

// A root and the values originally in it.
typedef struct root_info {
  uint32_t begin;             // of the first lifetime in it
  uint32_t end;               // of the last, including what has moved into it
  stow_value first_in_place;  // the first result in place in it, or STOW_VALUE_NONE
  stow_value last_in_place;   // the last
  stow_value pinned;          // a value in it that is written by more than its own node
} root_info;

// One operand of one concat.
typedef struct entry {
  stow_node node;
  uint32_t operand;
  uint64_t place;  // offset in the result; NO_PLACE if its bytes are not contiguous there
  stow_reason reason;
  stow_value other;
} entry;

typedef struct elider {
  stowi_analysis_sharing_call* call;
  const stow_graph* graph;
  const stow_effects* effects;
  root_info* roots;    // by root
  stow_value* target;  // by root: the concat that it moved into first, or STOW_VALUE_NONE
  STOWI_VEC(entry)
  entries;  // in the order in which the concats run; those of one concat are adjacent
  stowi_analysis_hulls hulls;
} elider;

static uint32_t step_of(const elider* h, stow_node node) {
  return stow_schedule_step(h->call->schedule, node);
}

static uint32_t birth_of(const elider* h, stow_value value) {
  return stowi_analysis_lifetimes_own_begin(h->call->lifetimes, value);
}

static stow_value operand_of(const elider* h, const entry* e) {
  return stow_graph_operands(h->graph, e->node)[e->operand];
}

static stow_value result_of(const elider* h, const entry* e) {
  return stow_graph_first_result(h->graph, e->node);
}

static bool refuse(entry* e, stow_reason reason, stow_value other) {
  e->reason = reason;
  e->other = other;
  return false;
}

// ---------------------------------------------------------------------------------------------
// Roots

// Whether |value| is written by a yield rather than its node: a result or argument of an if or a
// loop.
static bool is_yielded(const elider* h, stow_value value) {
  stow_node node = stow_graph_producer(h->graph, value);
  return stow_graph_op_desc(h->graph, node)->region_count != 0 ||
         stow_graph_op(h->graph, node) == STOW_OP_ARGS;
}

// Whether |value|'s bytes are written by more than its node: a cache, a carried value, state kept
// between runs.
static bool is_pinned(const elider* h, stow_value value) {
  stow_node node = stow_graph_producer(h->graph, value);
  return stow_graph_op_desc(h->graph, node)->writes_view || is_yielded(h, value) ||
         stowi_effects_state(h->effects, value);
}

static void add_value(const elider* h, stow_value value) {
  const stowi_analysis_views* views = h->call->views;
  root_info* g = &h->roots[views->root[value]];
  uint32_t begin = birth_of(h, value);
  uint32_t end = stowi_analysis_lifetimes_own_end(h->call->lifetimes, value);
  g->begin = begin < g->begin ? begin : g->begin;
  g->end = end > g->end ? end : g->end;
  if (views->root[value] == value) {
    return;
  }
  if (is_pinned(h, value)) {
    g->pinned = value;
  }
  if (stowi_analysis_views_is_in_place(views, value) || is_pinned(h, value)) {
    uint32_t birth = birth_of(h, value);
    if (g->first_in_place == STOW_VALUE_NONE || birth < birth_of(h, g->first_in_place)) {
      g->first_in_place = value;
    }
    if (g->last_in_place == STOW_VALUE_NONE || birth > birth_of(h, g->last_in_place)) {
      g->last_in_place = value;
    }
  }
}

static stow_status make_roots(elider* h) {
  uint32_t count = h->call->views->value_count;
  h->roots = STOWI_ARRAY(h->call->allocator, root_info, count);
  h->target = STOWI_ARRAY(h->call->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(h->roots != NULL && h->target != NULL, h->call->diag));
  for (stow_value value = 0; value < count; ++value) {
    h->roots[value] = (root_info){UINT32_MAX, 0, STOW_VALUE_NONE, STOW_VALUE_NONE, STOW_VALUE_NONE};
    h->target[value] = STOW_VALUE_NONE;
  }
  for (stow_value value = 0; value < count; ++value) {
    add_value(h, value);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Places

// Bits per element in |result|; 0 if its bytes do not consist of elements only.
static uint64_t element_bits(const elider* h, stow_value result, uint64_t elements) {
  const stow_type* type = stow_graph_type(h->graph, result);
  uint64_t bits = stow_dtype_bits(type->dtype);
  uint64_t uniform = bits < 32 ? 32 : bits;
  uint64_t natural_bytes;
  uint64_t uniform_bits;
  uint64_t bytes = h->call->views->bytes[result];
  if (stowi_effects_storage(h->effects, result) != STOW_BYTES_DEFAULT ||
      stow_type_bytes(type, &natural_bytes) != STOW_OK) {
    return 0;
  }
  if (bytes == natural_bytes) {
    return bits;
  }
  bool is_uniform = stowi_mul_u64(elements, uniform, &uniform_bits) && uniform_bits / 8 == bytes;
  return is_uniform ? uniform : 0;
}

// Whether an index before the concat's axis can be above 0.
static bool has_outer_dims(const elider* h, stow_node node) {
  const stow_type* type = stow_graph_type(h->graph, stow_graph_first_result(h->graph, node));
  int64_t axis = stow_graph_attr(h->graph, node, "axis")->i;
  axis = axis < 0 ? axis + (int64_t)type->rank : axis;
  for (int64_t i = 0; i < axis && i < (int64_t)type->rank; ++i) {
    if (type->dims[i] != 1) {
      return true;
    }
  }
  return false;
}

// Whether |value| may have fewer elements than its type (upper-bounded dims), so that what follows
// it moves.
static bool may_shrink(const elider* h, stow_value value) {
  return stow_graph_is_bounded(h->graph, value) || stow_graph_is_data_dependent(h->graph, value);
}

// The offset of |elements| elements of |value| after |before| others.
static uint64_t place_of(const elider* h, stow_value value, uint64_t before, uint64_t elements,
                         uint64_t total, uint64_t bits) {
  uint64_t begin;
  uint64_t size;
  if (bits == 0 || !stowi_mul_u64(before, bits, &begin) || !stowi_mul_u64(elements, bits, &size)) {
    return NO_PLACE;
  }
  bool whole = begin % 8 == 0 && (size % 8 == 0 || before + elements == total);
  bool exact = h->call->views->bytes[value] == size / 8 + (size % 8 != 0 ? 1 : 0);
  return whole && exact ? begin / 8 : NO_PLACE;
}

static uint64_t element_count(const elider* h, stow_value value) {
  uint64_t elements;
  return stow_type_elements(stow_graph_type(h->graph, value), &elements) == STOW_OK ? elements : 0;
}

// ---------------------------------------------------------------------------------------------
// Eligibility

static bool may_contain(const elider* h, entry* e) {
  stow_value result = result_of(h, e);
  if (!stowi_analysis_lifetimes_reuse_allowed(h->call->lifetimes)) {
    return refuse(e, STOW_REASON_NO_REUSE, STOW_VALUE_NONE);
  }
  if (h->call->views->root[result] != result) {
    return refuse(e, STOW_REASON_ALREADY_VIEW, h->call->views->root[result]);
  }
  if (stowi_analysis_sharing_is_external(h->call, result)) {
    return refuse(e, STOW_REASON_EXTERNAL, STOW_VALUE_NONE);
  }
  if (stowi_effects_state(h->effects, result)) {
    return refuse(e, STOW_REASON_STATE, STOW_VALUE_NONE);
  }
  if (stowi_effects_is_fixed(h->effects, result)) {
    return refuse(e, STOW_REASON_FIXED, STOW_VALUE_NONE);
  }
  if (h->roots[result].begin < step_of(h, e->node)) {
    return refuse(e, STOW_REASON_EARLY, STOW_VALUE_NONE);
  }
  return true;
}

static bool may_leave(const elider* h, stow_value root, entry* e) {
  if (stow_graph_is_boundary(h->graph, root)) {
    return refuse(e, STOW_REASON_KEPT, STOW_VALUE_NONE);
  }
  if (stowi_analysis_sharing_is_external(h->call, root)) {
    return refuse(e, STOW_REASON_EXTERNAL, STOW_VALUE_NONE);
  }
  if (stowi_effects_state(h->effects, root)) {
    return refuse(e, STOW_REASON_STATE, STOW_VALUE_NONE);
  }
  if (stowi_effects_is_fixed(h->effects, root)) {
    return refuse(e, STOW_REASON_FIXED, STOW_VALUE_NONE);
  }
  if (stowi_effects_own(h->effects, root)) {
    return refuse(e, STOW_REASON_OWN, STOW_VALUE_NONE);
  }
  return true;
}

// Whether |root| is made by a plain op in the concat's region, and only the ops of its values write
// to it.
static bool is_made_here(const elider* h, stow_value root, entry* e) {
  stow_node maker = stow_graph_producer(h->graph, root);
  const root_info* g = &h->roots[root];
  if (is_yielded(h, root) ||
      stow_graph_node_region(h->graph, maker) != stow_graph_node_region(h->graph, e->node)) {
    return refuse(e, STOW_REASON_OTHER_REGION, STOW_VALUE_NONE);
  }
  if (g->begin < step_of(h, maker)) {
    return refuse(e, STOW_REASON_EARLY, STOW_VALUE_NONE);
  }
  if (g->pinned != STOW_VALUE_NONE) {
    return refuse(e, STOW_REASON_GIVEN_AWAY, g->pinned);
  }
  return true;
}

// Whether all of |root|, which contains the operand, may move, as far as can be seen without other
// roots.
static bool is_eligible(const elider* h, stow_value root, entry* e) {
  if (h->call->views->bytes[operand_of(h, e)] == 0) {
    return refuse(e, STOW_REASON_NO_REUSE, STOW_VALUE_NONE);
  }
  if (e->place == NO_PLACE) {
    return refuse(e, STOW_REASON_NOT_CONTIGUOUS, STOW_VALUE_NONE);
  }
  return may_leave(h, root, e) && is_made_here(h, root, e);
}

// ---------------------------------------------------------------------------------------------
// Moving

// The root that |value| is in now, and its offset there.
static stow_value find(elider* h, stow_value value, uint64_t* out_offset) {
  stow_value root = stowi_analysis_hulls_find(&h->hulls, h->call->views->root[value], out_offset);
  *out_offset += h->call->views->offset[value];
  return root;
}

// The concat that |value| has moved into, or STOW_VALUE_NONE.
static stow_value target_of(const elider* h, stow_value value) {
  stow_value target = h->target[value];
  return target != STOW_VALUE_NONE ? target : h->target[h->call->views->root[value]];
}

// The number of entries from |e| on, up to |end|, that together are all of |root|, in its order; 0
// if they are only a part of it.
static size_t cover(elider* h, const entry* e, const entry* end, stow_value root) {
  uint64_t bytes = h->call->views->bytes[root];
  uint64_t covered = 0;
  size_t count = 0;
  while (covered < bytes && e + count < end && e[count].place == e->place + covered) {
    stow_value operand = operand_of(h, &e[count]);
    uint64_t offset;
    if (find(h, operand, &offset) != root || offset != covered) {
      return 0;
    }
    covered += h->call->views->bytes[operand];
    ++count;
  }
  return covered == bytes ? count : 0;
}

static bool is_aligned(const elider* h, stow_value root, uint64_t place) {
  uint64_t alignment = stowi_analysis_views_alignment(h->call->views, root);
  uint64_t least = h->call->options.alignment;
  return place % (alignment > least ? alignment : least) == 0;
}

// Whether |root| and the concat |result|, with all concats that contain it, can share bytes:
// neither is overwritten while the other is in use. Values that have moved into |root| are not
// overwritten after the concat that they moved for, which runs before this one.
static bool is_safe(elider* h, stow_value root, stow_value result, entry* e) {
  const root_info* moved = &h->roots[root];
  if (moved->last_in_place != STOW_VALUE_NONE &&
      birth_of(h, moved->last_in_place) >= step_of(h, e->node)) {
    return refuse(e, STOW_REASON_GIVEN_AWAY, moved->last_in_place);
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
static stow_status move(elider* h, stow_value root, stow_value into, uint64_t place, bool first,
                        entry* e) {
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
  h->target[root] = result_of(h, e);
  stowi_analysis_sharing_move(h->call, root, into, place);
  e->reason = STOW_REASON_TAKEN;
  e->other = STOW_VALUE_NONE;
  return STOW_OK;
}

// Decides for |e| and for the entries after it that move with it, |*out_count| in all.
static stow_status decide(elider* h, entry* e, const entry* end, bool first, size_t* out_count) {
  uint64_t offset;
  uint64_t place;
  stow_value root = find(h, operand_of(h, e), &offset);
  stow_value into = find(h, result_of(h, e), &place);
  *out_count = 1;
  if ((first && !may_contain(h, e)) || !is_eligible(h, root, e)) {
    return STOW_OK;
  }
  size_t count = root != into ? cover(h, e, end, root) : 0;
  if (count == 0) {
    stow_value target = target_of(h, operand_of(h, e));
    refuse(e, target != STOW_VALUE_NONE ? STOW_REASON_OTHER_HOME : STOW_REASON_LARGER_ROOT,
           target != STOW_VALUE_NONE ? target : root);
    return STOW_OK;
  }
  *out_count = count;
  place += e->place;
  if (!is_aligned(h, root, place)) {
    refuse(e, STOW_REASON_MISALIGNED, STOW_VALUE_NONE);
  } else if (is_safe(h, root, result_of(h, e), e)) {
    STOW_TRY(move(h, root, into, place, first, e));
  }
  for (size_t i = 1; i < count; ++i) {
    e[i].reason = e->reason;
    e[i].other = e->other;
  }
  return STOW_OK;
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
      size_t count;
      STOW_TRY(decide(h, e, last, true, &count));
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

static stow_status add_concat(elider* h, stow_node node) {
  size_t count = stow_graph_operand_count(h->graph, node);
  if (h->call->views->bytes[stow_graph_first_result(h->graph, node)] == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(h->call->allocator, &h->entries, count) == STOW_OK,
                             h->call->diag));
  entry* first = h->entries.data + h->entries.count;
  for (size_t k = 0; k < count; ++k) {
    first[k] = (entry){node, (uint32_t)k, NO_PLACE, STOW_REASON_LOAD, STOW_VALUE_NONE};
  }
  // Fills the places of a concat's |count| operands.
  stow_value result = result_of(h, first);
  uint64_t total = element_count(h, result);
  uint64_t bits = element_bits(h, result, total);
  bool strided = has_outer_dims(h, first->node);
  bool moves = false;
  uint64_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    stow_value operand = operand_of(h, &first[i]);
    uint64_t elements = element_count(h, operand);
    bool contiguous = !moves && (!strided || elements == total);
    first[i].place = contiguous ? place_of(h, operand, before, elements, total, bits) : NO_PLACE;
    before += elements;
    moves = moves || may_shrink(h, operand);
  }
  h->entries.count += count;
  return STOW_OK;
}

static stow_status prepare(elider* h) {
  const stow_node* order = stow_schedule_order(h->call->schedule);
  for (uint32_t step = 0; step < stow_schedule_count(h->call->schedule); ++step) {
    if (stow_graph_op(h->graph, order[step]) == STOW_OP_CONCAT) {
      STOW_TRY(add_concat(h, order[step]));
    }
  }
  return h->entries.count != 0 ? make_roots(h) : STOW_OK;
}

static void elider_free(elider* h) {
  stow_allocator allocator = h->call->allocator;
  STOWI_ARRAY_FREE(allocator, h->roots, h->call->views->value_count);
  STOWI_ARRAY_FREE(allocator, h->target, h->call->views->value_count);
  STOWI_VEC_FREE(allocator, &h->entries);
  stowi_analysis_hulls_free(&h->hulls);
}

static elider elider_of(stowi_analysis_sharing_call* call) {
  return (elider){.call = call,
                  .graph = call->graph,
                  .effects = call->effects,
                  .hulls = {.allocator = call->allocator}};
}

// Before anything has moved: proposes for each operand the first concat that it could be built in.
static void propose(elider* h) {
  const stowi_analysis_views* views = h->call->views;
  stow_value* target = h->call->target;
  for (size_t i = 0; i < h->entries.count; ++i) {
    entry* e = &h->entries.data[i];
    stow_value operand = operand_of(h, e);
    stow_value root = views->root[operand];
    if (target[operand] == STOW_VALUE_NONE && may_contain(h, e) && is_eligible(h, root, e) &&
        views->offset[operand] == 0 && views->bytes[operand] == views->bytes[root]) {
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
      spared = spared && may_contain(h, e) && is_eligible(h, root, e) && h->roots[root].end >= last;
    }
    if (spared) {
      h->call->target[result] = result;
    }
  }
}

stow_status stowi_analysis_elision_candidates(stowi_analysis_sharing_call* call) {
  elider h = elider_of(call);
  stow_status status = prepare(&h);
  if (status == STOW_OK && h.entries.count != 0) {
    propose(&h);
    spare_results(&h);
  }
  elider_free(&h);
  return status;
}

static stow_status note_all(const elider* h) {
  for (size_t i = 0; i < h->entries.count; ++i) {
    const entry* e = &h->entries.data[i];
    stow_decision decision = stowi_analysis_sharing_decision(
        h->call, STOW_SHARE_HOME, e->reason, e->node, result_of(h, e), operand_of(h, e));
    decision.other_value = e->other;
    STOW_TRY(stowi_analysis_sharing_note(h->call, decision, e->operand));
  }
  return STOW_OK;
}

static stow_status run(elider* h) {
  STOW_TRY(prepare(h));
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
  elider h = elider_of(call);
  stow_status status = run(&h);
  elider_free(&h);
  return status;
}
