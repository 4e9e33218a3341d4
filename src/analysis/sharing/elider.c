// The operands of concats: where they are in the result, and which roots may move there.
#include "analysis/sharing/elider.h"

#include "analysis/by_rows.h"
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"

uint32_t stowi_analysis_elider_step(const stowi_analysis_elider* h, stow_node node) {
  return stow_schedule_step(h->call->schedule, node);
}

uint32_t stowi_analysis_elider_birth(const stowi_analysis_elider* h, stow_value value) {
  return stowi_analysis_lifetimes_own_begin(h->call->lifetimes, value);
}

stow_value stowi_analysis_elider_operand(const stowi_analysis_elider* h,
                                         const stowi_analysis_entry* e) {
  return stow_graph_operands(h->graph, e->node)[e->operand];
}

stow_value stowi_analysis_elider_result(const stowi_analysis_elider* h,
                                        const stowi_analysis_entry* e) {
  return stow_graph_first_result(h->graph, e->node);
}

bool stowi_analysis_elider_refuse(stowi_analysis_entry* e, stow_reason reason, stow_value other) {
  e->reason = reason;
  e->other = other;
  e->other_node = STOW_NODE_NONE;
  return false;
}

stow_value stowi_analysis_elider_home(const stowi_analysis_elider* h, stow_value value) {
  return h->target[value] != STOW_VALUE_NONE ? value : h->call->views->root[value];
}

stow_value stowi_analysis_elider_find(stowi_analysis_elider* h, stow_value value,
                                      uint64_t* out_offset) {
  stow_value root = stowi_analysis_hulls_find(&h->hulls, h->call->views->root[value], out_offset);
  *out_offset += h->call->views->offset[value];
  return root;
}

// ---------------------------------------------------------------------------------------------
// Roots

// Whether |value| is written by a yield rather than its node: a result or argument of an if or a
// loop.
static bool is_yielded(const stowi_analysis_elider* h, stow_value value) {
  stow_node node = stow_graph_producer(h->graph, value);
  return stow_graph_op_desc(h->graph, node)->region_count != 0 ||
         stow_graph_op(h->graph, node) == STOW_OP_ARGS;
}

// Whether |value|'s bytes are written by more than its node: a cache, a carried value, state kept
// between runs.
static bool is_pinned(const stowi_analysis_elider* h, stow_value value) {
  stow_node node = stow_graph_producer(h->graph, value);
  return stow_graph_op_desc(h->graph, node)->writes_view || is_yielded(h, value) ||
         stowi_effects_state(h->effects, value);
}

static void add_value(const stowi_analysis_elider* h, stow_value value) {
  const stowi_analysis_views* views = h->call->views;
  stowi_analysis_root* g = &h->roots[views->root[value]];
  uint32_t begin = stowi_analysis_elider_birth(h, value);
  uint32_t end = stowi_analysis_lifetimes_own_end(h->call->lifetimes, value);
  g->begin = begin < g->begin ? begin : g->begin;
  g->end = end > g->end ? end : g->end;
  g->own_end = g->end;
  if (views->root[value] == value) {
    return;
  }
  if (is_pinned(h, value)) {
    g->pinned = value;
  }
  if (stowi_analysis_views_is_in_place(views, value) || is_pinned(h, value)) {
    uint32_t birth = stowi_analysis_elider_birth(h, value);
    if (g->first_in_place == STOW_VALUE_NONE ||
        birth < stowi_analysis_elider_birth(h, g->first_in_place)) {
      g->first_in_place = value;
    }
    if (g->last_in_place == STOW_VALUE_NONE ||
        birth > stowi_analysis_elider_birth(h, g->last_in_place)) {
      g->last_in_place = g->latest = value;
    }
  }
}

// Lists the values of each root, which comes first.
static stow_status list_values(stowi_analysis_elider* h) {
  const stowi_analysis_views* views = h->call->views;
  uint32_t count = views->value_count;
  h->next = STOWI_ARRAY(h->call->allocator, stow_value, count);
  h->last = STOWI_ARRAY(h->call->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(
      h->next != NULL && h->last != NULL && stowi_bits_init(&h->pitched, count, h->call->allocator),
      h->call->diag));
  for (stow_value value = 0; value < count; ++value) {
    h->next[value] = STOW_VALUE_NONE;
    h->last[value] = value;
  }
  for (stow_value value = 0; value < count; ++value) {
    stow_value root = views->root[value];
    if (views->rows[value].rows > 1) {
      stowi_bits_add(&h->pitched, root);
    }
    if (root != value) {
      h->next[h->last[root]] = value;
      h->last[root] = value;
    }
  }
  return STOW_OK;
}

static stow_status make_roots(stowi_analysis_elider* h) {
  uint32_t count = h->call->views->value_count;
  h->roots = STOWI_ARRAY(h->call->allocator, stowi_analysis_root, count);
  h->target = STOWI_ARRAY(h->call->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(h->roots != NULL && h->target != NULL &&
                                 stowi_bits_init(&h->joined, count, h->call->allocator),
                             h->call->diag));
  for (stow_value value = 0; value < count; ++value) {
    h->roots[value] = (stowi_analysis_root){.begin = UINT32_MAX,
                                            .first_in_place = STOW_VALUE_NONE,
                                            .last_in_place = STOW_VALUE_NONE,
                                            .latest = STOW_VALUE_NONE,
                                            .pinned = STOW_VALUE_NONE};
    h->target[value] = STOW_VALUE_NONE;
  }
  for (stow_value value = 0; value < count; ++value) {
    add_value(h, value);
  }
  return h->call->views->rows == NULL ? STOW_OK : list_values(h);
}

// ---------------------------------------------------------------------------------------------
// Places

// Bits per element in |result|; 0 if its bytes do not consist of elements only.
static uint64_t element_bits(const stowi_analysis_elider* h, stow_value result, uint64_t elements) {
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

// Indices before the concat's axis.
static uint64_t outer_rows(const stowi_analysis_elider* h, stow_node node) {
  const stow_type* type = stow_graph_type(h->graph, stow_graph_first_result(h->graph, node));
  int64_t axis = stow_graph_attr(h->graph, node, "axis")->i;
  uint64_t rows = 1;
  axis = axis < 0 ? axis + (int64_t)type->rank : axis;
  for (int64_t i = 0; i < axis && i < (int64_t)type->rank; ++i) {
    rows *= (uint64_t)type->dims[i];  // a result that has bytes has a size
  }
  return rows;
}

// Whether |value| may have fewer elements than its type (upper-bounded dims), so that what follows
// it moves.
static bool may_shrink(const stowi_analysis_elider* h, stow_value value) {
  return stow_graph_is_bounded(h->graph, value) || stow_graph_is_data_dependent(h->graph, value);
}

// The offset of |elements| elements of |value| after |before| others.
static uint64_t place_of(const stowi_analysis_elider* h, stow_value value, uint64_t before,
                         uint64_t elements, uint64_t total, uint64_t bits) {
  uint64_t begin;
  uint64_t size;
  if (bits == 0 || !stowi_mul_u64(before, bits, &begin) || !stowi_mul_u64(elements, bits, &size)) {
    return STOWI_ANALYSIS_NO_PLACE;
  }
  bool whole = begin % 8 == 0 && (size % 8 == 0 || before + elements == total);
  bool exact = h->call->views->bytes[value] == size / 8 + (size % 8 != 0 ? 1 : 0);
  return whole && exact ? begin / 8 : STOWI_ANALYSIS_NO_PLACE;
}

static uint64_t element_count(const stowi_analysis_elider* h, stow_value value) {
  uint64_t elements;
  return stow_type_elements(stow_graph_type(h->graph, value), &elements) == STOW_OK ? elements : 0;
}

// ---------------------------------------------------------------------------------------------
// Eligibility

// Whether nothing but its lifetime says where |value| is.
static bool is_free(const stowi_analysis_elider* h, stow_value value, stowi_analysis_entry* e) {
  if (stowi_analysis_sharing_is_external(h->call, value)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_EXTERNAL, STOW_VALUE_NONE);
  }
  if (stowi_effects_state(h->effects, value)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_STATE, STOW_VALUE_NONE);
  }
  if (stowi_effects_is_fixed(h->effects, value)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_FIXED, STOW_VALUE_NONE);
  }
  return true;
}

bool stowi_analysis_elider_may_contain(const stowi_analysis_elider* h, stowi_analysis_entry* e) {
  stow_value result = stowi_analysis_elider_result(h, e);
  if (!stowi_analysis_lifetimes_reuse_allowed(h->call->lifetimes)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_NO_REUSE, STOW_VALUE_NONE);
  }
  if (stowi_analysis_elider_home(h, result) != result) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_ALREADY_VIEW, h->call->views->root[result]);
  }
  if (!is_free(h, result, e)) {
    return false;
  }
  if (h->roots[result].begin < stowi_analysis_elider_step(h, e->node)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_EARLY, STOW_VALUE_NONE);
  }
  return true;
}

static bool may_leave(const stowi_analysis_elider* h, stow_value root, stowi_analysis_entry* e) {
  if (stow_graph_is_boundary(h->graph, root)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_KEPT, STOW_VALUE_NONE);
  }
  if (!is_free(h, root, e)) {
    return false;
  }
  if (stowi_effects_own(h->effects, root)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_OWN, STOW_VALUE_NONE);
  }
  return true;
}

// Whether |root| is made by a plain op in the concat's region, and only the ops of its values write
// to it.
static bool is_made_here(const stowi_analysis_elider* h, stow_value root, stowi_analysis_entry* e) {
  stow_node maker = stow_graph_producer(h->graph, root);
  const stowi_analysis_root* g = &h->roots[root];
  if (is_yielded(h, root) ||
      stow_graph_node_region(h->graph, maker) != stow_graph_node_region(h->graph, e->node)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_OTHER_REGION, STOW_VALUE_NONE);
  }
  if (g->begin < stowi_analysis_elider_step(h, maker)) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_EARLY, STOW_VALUE_NONE);
  }
  if (g->pinned != STOW_VALUE_NONE) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_GIVEN_AWAY, g->pinned);
  }
  return true;
}

bool stowi_analysis_elider_may_move(const stowi_analysis_elider* h, stow_value root,
                                    stowi_analysis_entry* e) {
  return may_leave(h, root, e) && is_made_here(h, root, e);
}

// The limit on values looked at to see whether roots can be in rows.
#define MOST_ROW_WORK (UINT64_C(1) << 22)

// Whether all of |root| can be in rows inside |e|'s result. A result in place has the rows of what
// it is in place of.
static bool may_be_rows(stowi_analysis_elider* h, stow_value root, stowi_analysis_entry* e) {
  const stowi_analysis_views* views = h->call->views;
  uint64_t bytes = views->bytes[root];
  stowi_analysis_layout place = {e->place, e->rows,
                                 views->bytes[stowi_analysis_elider_result(h, e)] / e->rows};
  if (bytes == views->bytes[stowi_analysis_elider_result(h, e)]) {
    return true;  // all of it
  }
  if (bytes % e->rows != 0) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_NOT_CONTIGUOUS, STOW_VALUE_NONE);
  }
  for (stow_value v = root; v != STOW_VALUE_NONE; v = h->next[v]) {
    stowi_analysis_layout now, there;
    stow_node node = STOW_NODE_NONE;
    bool is_in_place =
        stowi_analysis_views_is_in_place(views, v) && h->target[v] == STOW_VALUE_NONE;
    if (views->bytes[v] == 0) {
      continue;
    }
    if (++h->row_work > MOST_ROW_WORK) {
      return stowi_analysis_elider_refuse(e, STOW_REASON_LOAD, STOW_VALUE_NONE);
    }
    (void)stowi_analysis_locate(views, v, &now);
    bool has_place = stowi_analysis_layout_join(place, bytes, now, views->bytes[v], &there) &&
                     (there.rows == 1 || there.rows == e->rows) &&
                     (!is_in_place || views->bytes[v] == bytes);
    if (!has_place) {
      return stowi_analysis_elider_refuse(e, STOW_REASON_NOT_CONTIGUOUS, STOW_VALUE_NONE);
    }
    if (there.rows > 1 &&
        !stowi_analysis_may_be_rows(views, h->graph, h->effects, v, there.rows, &node)) {
      stowi_analysis_elider_refuse(
          e, node == STOW_NODE_NONE ? STOW_REASON_NOT_CONTIGUOUS : STOW_REASON_ROWS,
          STOW_VALUE_NONE);
      e->other_node = node;
      return false;
    }
  }
  return true;
}

void stowi_analysis_elider_moved(stowi_analysis_elider* h, stow_value root, stow_value into,
                                 stowi_analysis_layout place) {
  stowi_analysis_views* views = h->call->views;
  if (h->next == NULL) {
    return;
  }
  for (stow_value v = root; v != STOW_VALUE_NONE && place.rows > 1; v = h->next[v]) {
    stowi_analysis_layout now, there;
    (void)stowi_analysis_locate(views, v, &now);
    (void)stowi_analysis_layout_join(place, views->bytes[root], now, views->bytes[v], &there);
    if (there.rows > 1) {
      stowi_analysis_run_by_rows(views, h->graph, v, there.rows);
    }
  }
  if (place.rows > 1 || stowi_bits_has(&h->pitched, root)) {
    stowi_bits_add(&h->pitched, into);
  }
  h->next[h->last[into]] = root;
  h->last[into] = h->last[root];
}

bool stowi_analysis_elider_is_eligible(stowi_analysis_elider* h, stow_value root,
                                       stowi_analysis_entry* e) {
  if (h->call->views->bytes[stowi_analysis_elider_operand(h, e)] == 0) {
    return stowi_analysis_elider_refuse(e, STOW_REASON_NO_REUSE, STOW_VALUE_NONE);
  }
  if (e->place == STOWI_ANALYSIS_NO_PLACE) {
    stow_reason reason =
        e->reason == STOW_REASON_SHORT_ROWS ? STOW_REASON_SHORT_ROWS : STOW_REASON_NOT_CONTIGUOUS;
    return stowi_analysis_elider_refuse(e, reason, STOW_VALUE_NONE);
  }
  return stowi_analysis_elider_may_move(h, root, e) && (e->rows == 1 || may_be_rows(h, root, e));
}

// ---------------------------------------------------------------------------------------------
// All of it

// Where |operand| begins in each row of the concat's result, after |before| elements of it.
static uint64_t place_in_rows(const stowi_analysis_elider* h, stowi_analysis_entry* e,
                              uint64_t before, uint64_t bits) {
  const stowi_analysis_views* views = h->call->views;
  stow_value operand = stowi_analysis_elider_operand(h, e);
  uint64_t bytes = views->bytes[operand];
  uint64_t elements = element_count(h, operand);
  bool moves = may_shrink(h, stowi_analysis_elider_result(h, e));
  if (views->rows == NULL || moves || bits == 0 || bits % 8 != 0 ||
      bytes != elements * (bits / 8)) {
    return STOWI_ANALYSIS_NO_PLACE;
  }
  if (bytes / e->rows < views->least_row) {
    e->reason = STOW_REASON_SHORT_ROWS;
    return STOWI_ANALYSIS_NO_PLACE;
  }
  return before / e->rows * (bits / 8);
}

// Fills the places of a concat's |count| operands.
static void find_places(const stowi_analysis_elider* h, stowi_analysis_entry* first, size_t count) {
  stow_value result = stowi_analysis_elider_result(h, first);
  uint64_t total = element_count(h, result);
  uint64_t bits = element_bits(h, result, total);
  uint64_t rows = outer_rows(h, first->node);
  bool moves = false;
  uint64_t before = 0;
  for (size_t i = 0; i < count; ++i) {
    stow_value operand = stowi_analysis_elider_operand(h, &first[i]);
    uint64_t elements = element_count(h, operand);
    first[i].rows = elements == total ? 1 : rows;
    if (!moves) {
      first[i].place = first[i].rows == 1 ? place_of(h, operand, before, elements, total, bits)
                                          : place_in_rows(h, &first[i], before, bits);
    }
    before += elements;
    moves = moves || may_shrink(h, operand);
  }
}

static stow_status add_concat(stowi_analysis_elider* h, stow_node node) {
  size_t count = stow_graph_operand_count(h->graph, node);
  if (h->call->views->bytes[stow_graph_first_result(h->graph, node)] == 0) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(h->call->allocator, &h->entries, count) == STOW_OK,
                             h->call->diag));
  stowi_analysis_entry* first = h->entries.data + h->entries.count;
  for (size_t k = 0; k < count; ++k) {
    first[k] = (stowi_analysis_entry){.node = node,
                                      .operand = (uint32_t)k,
                                      .place = STOWI_ANALYSIS_NO_PLACE,
                                      .rows = 1,
                                      .reason = STOW_REASON_LOAD,
                                      .other = STOW_VALUE_NONE,
                                      .other_node = STOW_NODE_NONE};
  }
  find_places(h, first, count);
  h->entries.count += count;
  return STOW_OK;
}

static stow_status prepare(stowi_analysis_elider* h) {
  const stow_node* order = stow_schedule_order(h->call->schedule);
  for (uint32_t step = 0; step < stow_schedule_count(h->call->schedule); ++step) {
    if (stow_graph_op(h->graph, order[step]) == STOW_OP_CONCAT) {
      STOW_TRY(add_concat(h, order[step]));
    }
  }
  return h->entries.count != 0 ? make_roots(h) : STOW_OK;
}

stow_status stowi_analysis_elider_init(stowi_analysis_elider* h,
                                       stowi_analysis_sharing_call* call) {
  *h = (stowi_analysis_elider){.call = call,
                               .graph = call->graph,
                               .effects = call->effects,
                               .hulls = {.allocator = call->allocator}};
  return prepare(h);
}

void stowi_analysis_elider_free(stowi_analysis_elider* h) {
  stow_allocator allocator = h->call->allocator;
  STOWI_ARRAY_FREE(allocator, h->roots, h->call->views->value_count);
  STOWI_ARRAY_FREE(allocator, h->target, h->call->views->value_count);
  stowi_bits_free(&h->joined, allocator);
  STOWI_ARRAY_FREE(allocator, h->next, h->call->views->value_count);
  STOWI_ARRAY_FREE(allocator, h->last, h->call->views->value_count);
  stowi_bits_free(&h->pitched, allocator);
  STOWI_VEC_FREE(allocator, &h->entries);
  stowi_analysis_hulls_free(&h->hulls);
}
