// Shapes of ops that apply a function. `blocks`: types are declared, and operands and results must
// be cut into as many slices as there are groups. `stream`: types are those of the function.
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"
#include "graph/shapes/in_place.h"
#include "graph/shapes/shapes.h"

typedef struct blocks {
  const stow_graph* function;
  bool has_counts;  // of groups and rows; false: they depend on symbols
  uint64_t groups, rows;
  const stow_attr* divide;  // may be empty
} blocks;

// The product of dims from |first| to before |end|. False where it is too large or no number.
static bool multiply(const stow_type* type, uint32_t first, uint32_t end, uint64_t* out) {
  *out = 1;
  for (uint32_t i = first; i < end; ++i) {
    if (!stow_dim_is_const(type->dims[i]) || !stowi_mul_u64(*out, (uint64_t)type->dims[i], out)) {
      return false;
    }
  }
  return true;
}

// Groups and rows are dims of result 0, if the attribute `over` says which: those before its first
// number, and those from the second to before the third.
static void count_over(const stow_attr* over, const stow_type* result, blocks* out) {
  const int64_t* at = over->ints;
  bool is_good = over->count == 3 && result != NULL && at[0] >= 0 && at[0] <= at[1] &&
                 at[1] <= at[2] && at[2] <= (int64_t)result->rank;
  if (!is_good) {
    out->groups = out->rows = 0;
    return;
  }
  out->has_counts = multiply(result, 0, (uint32_t)at[0], &out->groups) &&
                    multiply(result, (uint32_t)at[1], (uint32_t)at[2], &out->rows);
}

static blocks blocks_of(const stow_shape_call* call) {
  const stow_attr* name = stow_shape_attr(call, "function");
  const stow_attr* over = stow_shape_attr(call, "over");
  int64_t groups = stow_shape_attr_int(call, "groups", 1);
  int64_t rows = stow_shape_attr_int(call, "rows", 0);
  blocks b = {.function = stowi_graph_find_function(call->graph, name->s),
              .has_counts = true,
              .groups = groups < 0 ? 0 : (uint64_t)groups,
              .rows = rows < 0 ? 0 : (uint64_t)rows,
              .divide = stow_shape_attr(call, "divide")};
  if (over != NULL && over->count != 0) {
    count_over(over, stow_shape_declared(call, 0), &b);
  }
  return b;
}

// Input |k| of the function; NULL past the last.
static const stow_type* input_type(const stow_graph* function, size_t k) {
  for (stow_node node = 0; node < stow_graph_node_count(function); ++node) {
    if (stow_graph_op(function, node) == STOW_OP_INPUT && k-- == 0) {
      return stow_graph_type(function, stow_graph_first_result(function, node));
    }
  }
  return NULL;
}

static bool multiply_around(const stow_type* part, stowi_graph_cut* out) {
  uint32_t axis = stowi_graph_rows_axis(part);
  out->by_rows = axis != UINT32_MAX;
  return multiply(part, 0, out->by_rows ? axis : 0, &out->outer) &&
         multiply(part, out->by_rows ? axis + 1 : 0, part->rank, &out->unit);
}

// How |whole|, whose dims are numbers, is cut into |part|s; false if it cannot be.
static bool cut(const blocks* b, const stow_type* part, const stow_type* whole, uint64_t divide,
                stowi_graph_cut* out) {
  uint64_t total, slice, span;
  *out = (stowi_graph_cut){.divide = divide};
  if (part->dtype != whole->dtype || stow_type_elements(whole, &total) != STOW_OK ||
      !multiply_around(part, out) || divide == 0 || !stowi_mul_u64(out->unit, out->outer, &slice) ||
      !stowi_mul_u64(slice, out->by_rows ? b->rows : 1, &slice) || slice == 0 ||
      total % slice != 0) {
    return false;
  }
  out->slices = total / slice;
  return out->slices == 1 ||
         (out->slices != 0 && stowi_mul_u64(out->slices, divide, &span) && b->groups % span == 0);
}

static uint64_t divide_of(const blocks* b, size_t k) {
  int64_t divide = k < b->divide->count ? b->divide->ints[k] : 1;
  return divide < 0 ? 0 : (uint64_t)divide;
}

static bool has_numbers(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return false;
    }
  }
  return true;
}

static stow_status check_operands(stow_shape_call* call, const blocks* b) {
  stowi_graph_cut made;
  for (size_t k = 0; k < stow_shape_operand_count(call); ++k) {
    const stow_type* type = stow_shape_operand(call, k);
    const stow_type* part = input_type(b->function, k);
    if (part == NULL || type == NULL) {
      return stow_shape_fail(call, "operand %zu is %s", k,
                             part == NULL ? "one more than the function has inputs" : "absent");
    }
    if (stowi_graph_shape_is_upper_bounded(call, k)) {
      return stow_shape_fail(call, "operand %zu has upper-bounded dims", k);
    }
    if (b->has_counts && has_numbers(type) && !cut(b, part, type, divide_of(b, k), &made)) {
      return stow_shape_fail(call, "operand %zu cannot be cut into %s for %llu groups of %llu rows",
                             k, stowi_graph_describe_type(b->function, part).text,
                             (unsigned long long)b->groups, (unsigned long long)b->rows);
    }
  }
  return input_type(b->function, stow_shape_operand_count(call)) == NULL
             ? STOW_OK
             : stow_shape_fail(call, "the function has more inputs than there are operands");
}

static stow_status check_results(stow_shape_call* call, const blocks* b) {
  stowi_graph_cut made;
  if (stow_shape_result_count(call) != b->function->outputs.count) {
    return stow_shape_fail(call, "the function has %zu outputs, not %zu",
                           b->function->outputs.count, stow_shape_result_count(call));
  }
  for (size_t k = 0; k < stow_shape_result_count(call); ++k) {
    const stow_type* type = stow_shape_declared(call, k);
    const stow_type* part = stow_graph_type(b->function, b->function->outputs.data[k]);
    if (type == NULL) {
      return stow_shape_fail(call, "the type of result %zu must be declared", k);
    }
    if (b->has_counts && has_numbers(type) &&
        (!cut(b, part, type, 1, &made) || made.slices != b->groups)) {
      return stow_shape_fail(call, "result %zu is not %llu groups of %llu rows of %s", k,
                             (unsigned long long)b->groups, (unsigned long long)b->rows,
                             stowi_graph_describe_type(b->function, part).text);
    }
    stow_shape_set_result(call, k, type);
  }
  return STOW_OK;
}

stow_status stowi_graph_shape_blocks(stow_shape_call* call) {
  blocks b = blocks_of(call);
  if (b.function == NULL) {
    return stow_shape_fail(call, "the graph has no function @%.*s",
                           STOWI_STR_ARG(stow_shape_attr(call, "function")->s));
  }
  if (stowi_graph_function_streams(b.function)) {
    return stow_shape_fail(call, "function @%.*s has no ?rows; it is for `stream`",
                           STOWI_STR_ARG(b.function->name));
  }
  if (b.has_counts && (b.groups == 0 || b.rows == 0)) {
    return stow_shape_fail(call, "groups and rows must be 1 or more");
  }
  STOW_TRY(check_operands(call, &b));
  return check_results(call, &b);
}

static bool is_same_type(const stow_type* a, const stow_type* b) {
  return a->dtype == b->dtype && a->rank == b->rank && has_numbers(a) && has_numbers(b) &&
         memcmp(a->dims, b->dims, a->rank * sizeof(a->dims[0])) == 0;
}

stow_status stowi_graph_shape_stream(stow_shape_call* call) {
  stow_str name = stow_shape_attr(call, "function")->s;
  const stow_graph* function = stowi_graph_find_function(call->graph, name);
  size_t count = stow_shape_operand_count(call);
  if (function == NULL || !stowi_graph_function_streams(function)) {
    return stow_shape_fail(call,
                           function == NULL ? "the graph has no function @%.*s"
                                            : "function @%.*s has ?rows; it is for `blocks`",
                           STOWI_STR_ARG(name));
  }
  int64_t rows = stow_shape_attr_int(call, "rows", 0);
  if (rows < 0) {
    return stow_shape_fail(call, "rows must be 0 or more, not %lld", (long long)rows);
  }
  for (size_t k = 0; k < count; ++k) {
    const stow_type* part = input_type(function, k);
    const stow_type* type = stow_shape_operand(call, k);
    if (part == NULL || type == NULL) {
      return stow_shape_fail(call, "operand %zu is %s", k,
                             part == NULL ? "one more than the function has inputs" : "absent");
    }
    if (!is_same_type(part, type) || stowi_graph_shape_is_upper_bounded(call, k)) {
      return stow_shape_fail(call, "operand %zu is not exactly %s, as the function's input is", k,
                             stowi_graph_describe_type(function, part).text);
    }
  }
  if (input_type(function, count) != NULL) {
    return stow_shape_fail(call, "the function has more inputs than there are operands");
  }
  if (stow_shape_result_count(call) != function->outputs.count) {
    return stow_shape_fail(call, "the function has %zu outputs, not %zu", function->outputs.count,
                           stow_shape_result_count(call));
  }
  for (size_t k = 0; k < function->outputs.count; ++k) {
    STOW_TRY(stowi_graph_shape_set(call, k, stow_graph_type(function, function->outputs.data[k])));
  }
  return STOW_OK;
}

// Row i of a result is written when row i of the operand has been read, whatever a block is. A
// block of several pieces is copied before anything is computed.
stow_in_place stowi_graph_in_place_blocks(const stow_shape_call* call, size_t k, size_t operand) {
  blocks b = blocks_of(call);
  const stow_type* whole = stow_shape_operand(call, operand);
  const stow_type* result = stow_shape_declared(call, k);
  const stow_type* part = stow_graph_type(b.function, b.function->outputs.data[k]);
  stowi_graph_cut from, to;
  bool fits = cut(&b, input_type(b.function, operand), whole, divide_of(&b, operand), &from) &&
              cut(&b, part, result, 1, &to) && from.by_rows && from.slices == b.groups &&
              from.unit == to.unit && from.outer == to.outer &&
              stow_dtype_bits(whole->dtype) == stow_dtype_bits(result->dtype) &&
              (from.outer > 1 || stowi_graph_function_overwrites(b.function, k, operand));
  return fits ? STOW_IN_PLACE_ALONE : STOW_IN_PLACE_NEVER;
}

bool stowi_graph_cut_operand(const stow_graph* graph, stow_node node, size_t k,
                             stowi_graph_cut* out_cut) {
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  blocks b = blocks_of(&call);
  return cut(&b, input_type(b.function, k), stow_shape_operand(&call, k), divide_of(&b, k),
             out_cut);
}

bool stowi_graph_cut_node(const stow_graph* graph, stow_node node, uint64_t* out_groups,
                          uint64_t* out_rows, stowi_graph_cut* out_cuts) {
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  blocks b = blocks_of(&call);
  bool is_cut = b.has_counts;
  stow_node input = 0;
  *out_groups = b.groups;
  *out_rows = b.rows;
  for (size_t k = 0; is_cut && out_cuts != NULL && k < stow_shape_operand_count(&call); ++k) {
    while (stow_graph_op(b.function, input) != STOW_OP_INPUT) {
      ++input;
    }
    const stow_type* part =
        stow_graph_type(b.function, stow_graph_first_result(b.function, input++));
    is_cut = cut(&b, part, stow_shape_operand(&call, k), divide_of(&b, k), out_cuts++);
  }
  for (size_t k = 0; is_cut && out_cuts != NULL && k < b.function->outputs.count; ++k) {
    const stow_type* part = stow_graph_type(b.function, b.function->outputs.data[k]);
    is_cut = cut(&b, part, stow_shape_declared(&call, k), 1, out_cuts++);
  }
  return is_cut;
}
