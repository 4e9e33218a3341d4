// Part of the plan checker: the places of a concat's operands in its result (copy elision).
//
// The operands are contiguous there if no dim before the axis is above 1, or all but one are empty:
// one after the other, each with the bytes of its elements. An operand that is exactly there has
// been built in place; the concat copies the others. Elements may be smaller than a byte, so ends
// are counted in bits. If dims before the axis are above 1, the result has as many rows, and
// operands are one after the other in each. O(operands), and rows of what is built there.
#include "base/checked.h"
#include "base/diag.h"
#include "plan/check/check.h"

// Whether all operands but one are empty: that one is the result.
static bool has_one_part(const stowi_plan_checker* checker, stow_node node) {
  size_t parts = 0;
  for (size_t k = 0; k < stow_graph_operand_count(checker->graph, node); ++k) {
    stow_value operand = stow_graph_operands(checker->graph, node)[k];
    uint64_t elements = 0;
    bool is_empty =
        operand == STOW_VALUE_NONE ||
        (stow_type_elements(stow_graph_type(checker->graph, operand), &elements) == STOW_OK &&
         elements == 0);
    parts += is_empty ? 0 : 1;
  }
  return parts == 1;
}

// The indices before the axis.
static uint64_t count_rows(const stowi_plan_checker* checker, stow_node node) {
  const stow_type* type =
      stow_graph_type(checker->graph, stow_graph_first_result(checker->graph, node));
  int64_t at = stow_graph_attr(checker->graph, node, "axis")->i;
  at += at < 0 ? (int64_t)type->rank : 0;
  uint64_t rows = 1;
  for (int64_t i = 0; i < at; ++i) {
    if (!stowi_mul_u64(rows, (uint64_t)type->dims[i], &rows)) {
      return 0;
    }
  }
  return rows;
}

// Whether |value| may turn out to have fewer elements (upper-bounded dims), so that what follows it
// moves.
static bool may_shrink(const stowi_plan_checker* checker, stow_value value) {
  return stow_graph_is_bounded(checker->graph, value) ||
         stow_graph_is_data_dependent(checker->graph, value);
}

static bool count_bits(const stowi_plan_checker* checker, stow_value value, uint64_t* out_bits) {
  const stow_type* type = stow_graph_type(checker->graph, value);
  uint64_t width = stow_dtype_bits(type->dtype);
  uint64_t elements = 0;
  width = checker->plan->facts.f32_uniform && width < 32 ? 32 : width;
  return stow_type_elements(type, &elements) == STOW_OK && stowi_mul_u64(elements, width, out_bits);
}

// An operand whose storage is larger than its elements would overlap the next one's place.
static bool is_elided(const stowi_plan_checker* checker, stow_value operand, stow_value result,
                      const stowi_plan_elisions* elisions, uint64_t first_bit, uint64_t bits) {
  stow_slot slot;
  stowi_plan_bytes own = stowi_plan_bytes_of(checker, operand);
  stowi_plan_bytes whole = stowi_plan_bytes_of(checker, result);
  uint64_t rows = elisions->rows;
  stowi_plan_bytes part = {first_bit / 8, own.bytes, rows, rows == 1 ? 0 : elisions->row};
  return checker->plan->facts.elide_copies && first_bit % 8 == 0 &&
         own.bytes <= (bits / 8 + (bits % 8 != 0 ? 1 : 0)) * rows &&
         (rows == 1 || (bits % 8 == 0 && own.bytes == bits / 8 * rows)) &&
         stow_plan_root(checker->plan, operand) == stow_plan_root(checker->plan, result) &&
         stowi_plan_bytes_is_part(&own, &whole, &part) &&
         checker->values[operand].made != STOWI_PLAN_MADE_OUTSIDE &&
         stow_plan_value_slot(checker->plan, result, &slot);
}

static bool fill(const stowi_plan_checker* checker, stow_node node, stowi_plan_elisions* elisions) {
  stow_value result = stow_graph_first_result(checker->graph, node);
  size_t count = stow_graph_operand_count(checker->graph, node);
  uint64_t end = 0;
  uint64_t all = 0;
  size_t strangers = 0;
  bool moves = elisions->rows > 1 && may_shrink(checker, result);
  bool is_any = elisions->rows == 1;
  for (size_t k = 0; k < count; ++k) {
    stow_value operand = stow_graph_operands(checker->graph, node)[k];
    uint64_t bits = 0;
    uint64_t begin = end;
    if (operand == STOW_VALUE_NONE || !count_bits(checker, operand, &bits) ||
        !stowi_add_u64(begin, bits / elisions->rows, &end)) {
      return false;
    }
    bits /= elisions->rows;
    bool is_inside = !moves && is_elided(checker, operand, result, elisions, begin, bits);
    is_any |= is_inside;
    strangers += bits > 0 && !is_inside ? 1 : 0;
    moves |= may_shrink(checker, operand);
    elisions->ends[k] = end;
    elisions->strangers[k] = strangers;
  }
  // The concat itself writes storage beyond all elements.
  bool is_known = stowi_mul_u64(elisions->row, 8, &all);
  elisions->ends[count] = all > end ? all : end;
  elisions->strangers[count] = strangers + (all > end && all - end >= 8 ? 1 : 0);
  elisions->count = count + 1;
  return is_known && is_any;
}

stow_status stowi_plan_elisions_find(stowi_plan_checker* checker, stow_node node,
                                     stowi_plan_elisions* elisions, bool* out_found) {
  *out_found = false;
  if (stow_graph_op(checker->graph, node) != STOW_OP_CONCAT) {
    return STOW_OK;
  }
  stow_value result = stow_graph_first_result(checker->graph, node);
  const stowi_plan_check_value* root = &checker->values[stow_plan_root(checker->plan, result)];
  uint64_t rows = has_one_part(checker, node) ? 1 : count_rows(checker, node);
  if (checker->values[result].made != STOWI_PLAN_MADE_WRITTEN || root->makers < 2 || rows == 0 ||
      rows > STOW_MOST_ROWS || checker->values[result].bytes % rows != 0) {
    return STOW_OK;
  }
  elisions->rows = rows;
  elisions->row = checker->values[result].bytes / rows;
  size_t count = stow_graph_operand_count(checker->graph, node) + 1;
  if (count > elisions->capacity) {
    stowi_plan_elisions_free(checker, elisions);
    elisions->capacity = count;
    elisions->ends = STOWI_ARRAY(checker->allocator, uint64_t, count);
    elisions->strangers = STOWI_ARRAY(checker->allocator, size_t, count);
    STOW_TRY(
        stowi_need_memory(elisions->ends != NULL && elisions->strangers != NULL, checker->diag));
  }
  *out_found = fill(checker, node, elisions);
  return STOW_OK;
}

void stowi_plan_elisions_free(const stowi_plan_checker* checker, stowi_plan_elisions* elisions) {
  STOWI_ARRAY_FREE(checker->allocator, elisions->ends, elisions->capacity);
  STOWI_ARRAY_FREE(checker->allocator, elisions->strangers, elisions->capacity);
  elisions->ends = NULL;
  elisions->strangers = NULL;
  elisions->count = elisions->capacity = 0;
}

stowi_plan_span stowi_plan_elisions_place(const stowi_plan_elisions* elisions, size_t k) {
  uint64_t begin = k == 0 ? 0 : elisions->ends[k - 1];
  uint64_t end = elisions->ends[k];
  return (stowi_plan_span){begin / 8, end / 8 + (end % 8 != 0 ? 1 : 0)};
}

bool stowi_plan_elisions_copies(const stowi_plan_elisions* elisions, size_t k) {
  return elisions->strangers[k] != (k == 0 ? 0 : elisions->strangers[k - 1]);
}
