// The arguments of shape and view functions, and the one place that runs them. A call looks the
// same for a node being described, being verified, or being inferred again under a binding: only
// the sources of types, known values and declarations differ. Nothing here allocates, except dims
// made by a shape function.
#include "graph/shapes/call.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"
#include "graph/shapes/shapes.h"

stow_shape_call stowi_graph_shape_of_node(const stow_graph* graph, const uint32_t* types,
                                          const stowi_graph_known_store* known, stow_node node,
                                          stow_type* results, stowi_graph_marks* marks) {
  stow_shape_call call;
  memset(&call, 0, sizeof(call));
  const stowi_graph_node* record = &graph->nodes.data[node];
  call.graph = graph;
  call.dims = graph->dims;
  call.types = types;
  call.op = record->op;
  call.desc = stow_graph_op_desc(graph, node);
  call.operands = stow_graph_operands(graph, node);
  call.operand_count = stow_graph_operand_count(graph, node);
  call.attr_count = stow_graph_attr_count(graph, node);
  call.attrs = call.attr_count == 0 ? NULL : graph->node_attrs.data + record->first_attr;
  call.last_region =
      call.desc->region_count == 0 ? STOW_REGION_ID_NONE : graph->nodes.data[node - 1].region;
  call.made = record->first_result;
  call.results = results;
  call.marks = marks;
  call.known = known;
  call.result_count = stow_graph_result_count(graph, node);
  return call;
}

// ---------------------------------------------------------------------------------------------
// Queries of shape functions

size_t stow_shape_operand_count(const stow_shape_call* call) { return call->operand_count; }

const stow_type* stow_shape_operand(const stow_shape_call* call, size_t k) {
  if (k >= call->operand_count || call->operands[k] == STOW_VALUE_NONE) {
    return NULL;
  }
  if (call->trial != NULL) {
    return &call->trial->types[k];
  }
  return call->actual != NULL ? call->actual->types[k]
                              : stowi_graph_type_of(call->graph, call->types, call->operands[k]);
}

const stow_type* stowi_graph_shape_largest(const stow_shape_call* call, size_t k) {
  return stowi_graph_type_of(call->graph, call->types, call->operands[k]);
}

const stow_attr* stow_shape_attr(const stow_shape_call* call, const char* name) {
  stow_str key = stow_str_of(name);
  const stow_attr* found = stowi_graph_find_attr(call->graph, call->attrs, call->attr_count, key);
  if (found != NULL) {
    return found;
  }
  bool is_required = false;
  found = stowi_graph_find_schema(call->graph->ops, call->op, key, &is_required);
  return is_required ? NULL : found;
}

size_t stow_shape_result_count(const stow_shape_call* call) { return call->result_count; }

const stow_type* stow_shape_declared(const stow_shape_call* call, size_t k) {
  if (call->trial != NULL) {
    return NULL;  // a declared dim may be an upper bound itself
  }
  if (call->made != STOW_VALUE_NONE) {
    return k < call->result_count
               ? stowi_graph_type_of(call->graph, call->types, call->made + (stow_value)k)
               : NULL;
  }
  return k < call->declared_count ? &call->declared[k] : NULL;
}

stow_dims* stow_shape_dims(stow_shape_call* call) { return call->dims; }

// The owned region |index|, or STOW_REGION_ID_NONE.
static stow_region region_at(const stow_shape_call* call, size_t index) {
  size_t count = call->desc->region_count;
  if (index >= count || call->last_region == STOW_REGION_ID_NONE) {
    return STOW_REGION_ID_NONE;
  }
  stow_region region = call->last_region;
  for (size_t i = count - 1; i > index; --i) {
    region = call->graph->regions.data[region].previous;
  }
  return region;
}

size_t stow_shape_region_arg_count(const stow_shape_call* call, size_t region) {
  stow_region found = region_at(call, region);
  stow_node args =
      found == STOW_REGION_ID_NONE ? STOW_NODE_NONE : stowi_graph_region_args(call->graph, found);
  return args == STOW_NODE_NONE ? 0 : stow_graph_result_count(call->graph, args);
}

const stow_type* stow_shape_region_arg(const stow_shape_call* call, size_t region, size_t k) {
  if (k >= stow_shape_region_arg_count(call, region)) {
    return NULL;
  }
  stow_node args = stowi_graph_region_args(call->graph, region_at(call, region));
  stow_value first = stow_graph_first_result(call->graph, args);
  return stowi_graph_type_of(call->graph, call->types, first + (stow_value)k);
}

size_t stow_shape_yield_count(const stow_shape_call* call, size_t region) {
  stow_region found = region_at(call, region);
  if (found == STOW_REGION_ID_NONE) {
    return 0;
  }
  return stow_graph_operand_count(call->graph, stowi_graph_region_last(call->graph, found));
}

const stow_type* stow_shape_yield(const stow_shape_call* call, size_t region, size_t k) {
  if (k >= stow_shape_yield_count(call, region)) {
    return NULL;
  }
  stow_node yield = stowi_graph_region_last(call->graph, region_at(call, region));
  stow_value value = stow_graph_operands(call->graph, yield)[k];
  return stowi_graph_type_of(call->graph, call->types, value);
}

void stow_shape_set_result(stow_shape_call* call, size_t k, const stow_type* type) {
  if (k >= call->result_count) {
    (void)stow_shape_fail(call, "the shape function sets result %zu, out of range (%zu results)", k,
                          call->result_count);
    return;
  }
  call->results[k] = *type;
}

static stow_status fail_with(stow_shape_call* call, stow_status status, const char* format,
                             va_list arguments) {
  if (call->status == STOW_OK) {
    call->status = status;
    vsnprintf(call->reason, sizeof(call->reason), format, arguments);
  }
  return call->status;
}

stow_status stow_shape_fail(stow_shape_call* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stow_status status = fail_with(call, STOW_ERR_TYPE, format, arguments);
  va_end(arguments);
  return status;
}

stow_status stow_shape_fail_unknown(stow_shape_call* call, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stow_status status = fail_with(call, STOW_ERR_DATA_DEPENDENT, format, arguments);
  va_end(arguments);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Dims that depend on data

static stowi_graph_marks* marks_of(stow_shape_call* call, size_t k) {
  return call->marks != NULL && k < call->result_count ? &call->marks[k] : NULL;
}

static void set_bounded(stow_shape_call* call, size_t k, stowi_graph_axes axes) {
  stowi_graph_marks* marks = marks_of(call, k);
  if (marks != NULL) {
    marks->bounded |= axes;
    marks->limited |= axes;
  }
}

void stow_shape_set_bounded(stow_shape_call* call, size_t k) {
  set_bounded(call, k, STOWI_GRAPH_ALL_AXES);
}

void stow_shape_set_bounded_dim(stow_shape_call* call, size_t k, uint32_t axis) {
  if (axis < STOW_MAX_RANK) {
    set_bounded(call, k, (stowi_graph_axes)(UINT32_C(1) << axis));
  }
}

void stowi_graph_shape_mark_bounded(stow_shape_call* call, size_t k, stowi_graph_axes axes) {
  stowi_graph_marks* marks = marks_of(call, k);
  if (marks != NULL) {
    marks->bounded |= axes;
  }
}

// The upper-bounded dims of |value|.
static stowi_graph_axes bounded_axes(const stow_shape_call* call, stow_value value) {
  const stowi_graph_value* record = &call->graph->values.data[value];
  const stowi_graph_marks* marks = call->value_marks == NULL ? NULL : &call->value_marks[value];
  uint32_t axes = marks == NULL ? record->bounded : (uint32_t)record->bounded | marks->bounded;
  uint32_t data = marks == NULL ? record->data_dependent : marks->data;
  const stow_type* type = stowi_graph_type_of(call->graph, call->types, value);
  for (uint32_t i = 0; data != 0 && i < type->rank; ++i) {
    axes |= stow_dim_is_const(type->dims[i]) ? data & UINT32_C(1) << i : 0;
  }
  return (stowi_graph_axes)axes;
}

bool stowi_graph_shape_is_upper_bounded(const stow_shape_call* call, size_t k) {
  return call->actual == NULL && stow_shape_operand(call, k) != NULL &&
         bounded_axes(call, call->operands[k]) != 0;
}

stowi_graph_axes stowi_graph_shape_bounded_axes(const stow_shape_call* call, size_t k) {
  bool has_any = call->trial == NULL && stowi_graph_shape_is_upper_bounded(call, k);
  return has_any ? bounded_axes(call, call->operands[k]) : 0;
}

stowi_graph_axes stowi_graph_shape_bounded_yield(const stow_shape_call* call, size_t region,
                                                 size_t k) {
  if (k >= stow_shape_yield_count(call, region)) {
    return 0;
  }
  stow_node yield = stowi_graph_region_last(call->graph, region_at(call, region));
  return bounded_axes(call, stow_graph_operands(call->graph, yield)[k]);
}

bool stowi_graph_shape_has_upper_bounded(const stow_shape_call* call) {
  size_t k = 0;
  while (k < call->operand_count && stowi_graph_shape_bounded_axes(call, k) == 0) {
    ++k;
  }
  return k < call->operand_count;
}

size_t stowi_graph_shape_carried_count(const stow_shape_call* call) {
  const stow_op_desc* desc = call->desc;
  bool is_loop = desc->region_count == 1 && desc->region_kind == STOW_REGION_LOOP;
  return is_loop && call->operand_count > desc->carry.first_operand
             ? call->operand_count - desc->carry.first_operand
             : 0;
}

stow_value stowi_graph_shape_upper_bounded_arg(const stow_shape_call* call, size_t i,
                                               stowi_graph_axes* out_axes) {
  const stow_carry* carry = &call->desc->carry;
  const stow_type* type = stow_shape_region_arg(call, 0, carry->first_arg + i);
  *out_axes = stowi_graph_shape_bounded_axes(call, carry->first_operand + i) |
              stowi_graph_shape_bounded_yield(call, 0, carry->first_yield + i);
  if (type == NULL || *out_axes == 0) {
    return STOW_VALUE_NONE;
  }
  stow_node args = stowi_graph_region_args(call->graph, region_at(call, 0));
  return stow_graph_first_result(call->graph, args) + (stow_value)(carry->first_arg + i);
}

static stow_str result_name(const stow_shape_call* call, size_t k) {
  const stow_call* description = call->description;
  if (description == NULL) {
    return stow_graph_value_name(call->graph, call->made + (stow_value)k);
  }
  for (size_t i = 0; i < description->names.count; ++i) {
    if (description->names.data[i].result == k) {
      return description->names.data[i].name;
    }
  }
  return stow_str_of("");
}

// Whether dim |axis| of result |k| followed from the operands before a binding. What it becomes is
// then not a declaration: `100 - ?n` with the largest n is not the largest 100 - n. With actual
// operands it is the available room.
static bool was_inferred(const stow_shape_call* call, size_t k, uint32_t axis) {
  return call->actual == NULL && call->made != STOW_VALUE_NONE &&
         (call->graph->values.data[call->made + k].data_dependent >> axis & 1) == 0;
}

stow_dim stow_shape_data_dim(stow_shape_call* call, size_t k, uint32_t axis) {
  stowi_graph_marks* marks = marks_of(call, k);
  if (marks != NULL && axis < STOW_MAX_RANK) {
    marks->data |= (stowi_graph_axes)(UINT32_C(1) << axis);
  }
  if (call->trial != NULL) {
    return stowi_graph_dim_unknown(call->dims);
  }
  const stow_type* declared = stow_shape_declared(call, k);
  if (declared != NULL && axis < declared->rank && !was_inferred(call, k, axis)) {
    return declared->dims[axis];
  }
  // The symbol `NAME.AXIS`, or `%ID.AXIS` if the result has no name.
  const stow_graph* graph = call->graph;
  stow_str name = result_name(call, k);
  char number[24];
  if (name.size == 0) {
    size_t value = (call->description == NULL ? call->made : graph->values.count) + k;
    snprintf(number, sizeof(number), "%%%zu", value);
    name = stow_str_of(number);
  }
  char suffix[16];
  snprintf(suffix, sizeof(suffix), ".%lu", (unsigned long)axis);
  size_t size = name.size + strlen(suffix);  // a name is in memory, so there is room after it
  char* text = (char*)stowi_alloc(graph->allocator, size, 1);
  if (text == NULL) {
    call->status = STOW_ERR_OUT_OF_MEMORY;
    return STOW_DIM_INVALID;
  }
  memcpy(text, name.data, name.size);
  memcpy(text + name.size, suffix, strlen(suffix));
  stow_dim dim = stow_dim_symbol(call->dims, (stow_str){text, size});
  stowi_free(graph->allocator, text, size, 1);
  return dim;
}

// Whether a binding has made dim |axis| of result |k| a number: before, it depended on data, and so
// is not declared.
static bool is_settled(const stow_shape_call* call, size_t k, uint32_t axis) {
  return call->made != STOW_VALUE_NONE && stow_dim_is_const(call->results[k].dims[axis]) &&
         !stow_dim_is_const(stow_shape_declared(call, k)->dims[axis]) &&
         (call->graph->values.data[call->made + k].data_dependent >> axis & 1) != 0;
}

// Declared dims win over bounds that are not smaller.
static void limit_result(stow_shape_call* call, size_t k) {
  const stow_type* declared = stow_shape_declared(call, k);
  stow_type* result = &call->results[k];
  if (call->marks[k].limited == 0 || call->actual != NULL || declared == NULL ||
      declared->dtype != result->dtype || declared->rank != result->rank) {
    return;
  }
  for (uint32_t i = 0; i < result->rank && i < STOW_MAX_RANK; ++i) {
    if ((call->marks[k].limited >> i & 1) != 0 && !is_settled(call, k, i) &&
        stowi_graph_dim_is_ours(call->dims, result->dims[i]) &&
        !stowi_graph_dim_is_larger(call->dims, declared->dims[i], result->dims[i])) {
      result->dims[i] = declared->dims[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Running it

stow_status stowi_graph_shape_fail_as(const stow_shape_call* call, stow_status status,
                                      const char* reason, stow_diag* diag) {
  stowi_graph_text operands =
      stowi_graph_describe_operands(call->graph, call->types, call->operands, call->operand_count);
  stowi_fail(diag, status, "%s(%s): %s", call->desc->name, operands.text, reason);
  if (call->split.exists) {
    stow_str symbol = stow_dims_symbol_name(call->dims, call->split.symbol);
    stowi_diag_append(diag, "; dividing the range of \"%.*s\" at %lld may decide it",
                      STOWI_STR_ARG(symbol), (long long)call->split.at);
    stowi_diag_split(diag, symbol, call->split.at);
  }
  return status;
}

// A dtype that no shape function sets: the result is unset.
#define UNSET STOW_DTYPE_COUNT

// A failure of dim arithmetic precedes whatever the function made of it; only a more specific
// reason for a negative dim is kept.
static void take_dims_status(stow_shape_call* call, stow_status status) {
  if (status == STOW_ERR_TYPE && call->reason[0] != '\0') {
    return;
  }
  call->status = status;
  snprintf(
      call->reason, sizeof(call->reason), "a dim of a result cannot be computed: %s",
      status == STOW_ERR_TYPE ? "it is negative, or a division by zero" : stow_status_text(status));
}

static void run_function(stow_shape_call* call) {
  stowi_graph_known_cache cache;
  stowi_graph_shape_use_cache(call, &cache);
  stow_status status = call->desc->shape(call);
  call->cache = NULL;
  call->asked = cache.asked;
  if (status != STOW_OK && call->status == STOW_OK) {
    call->status = status;
  }
}

stow_status stowi_graph_shape_run(stow_shape_call* call) {
  stow_dims* dims = call->dims;
  if (stow_dims_status(dims) != STOW_OK) {  // written only then: threads may share a bound graph
    stow_dims_clear_status(dims);
  }
  if (call->desc->shape != NULL) {
    run_function(call);
  }
  if (stow_dims_status(dims) != STOW_OK) {
    take_dims_status(call, stow_dims_status(dims));
    stow_dims_clear_status(dims);
  }
  return call->status;
}

static bool is_whole(const stow_dims* dims, const stow_type* type) {
  if ((unsigned)type->dtype >= STOW_DTYPE_COUNT || type->rank > STOW_MAX_RANK) {
    return false;
  }
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stowi_graph_dim_is_valid(dims, type->dims[i])) {
      return false;
    }
  }
  return true;
}

// Whether the types are the same at every point, though their dims are other expressions.
static bool is_same(const stow_dims* dims, const stow_type* a, const stow_type* b) {
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t i = 0; same && i < a->rank; ++i) {
    same = stow_dim_same(dims, a->dims[i], b->dims[i]);
  }
  return same;
}

// Whether result |k| has a type, and the declared one if that is required.
static stow_status check_result(stow_shape_call* call, size_t k, bool must_agree, stow_diag* diag) {
  const stow_type* result = &call->results[k];
  char reason[700];
  if (!is_whole(call->dims, result)) {
    snprintf(reason, sizeof(reason),
             result->dtype == UNSET ? "result %zu has no type"
                                    : "result %zu has a rank, dtype or dim that is out of range",
             k);
    return stowi_graph_shape_fail_as(call, STOW_ERR_TYPE, reason, diag);
  }
  for (uint32_t i = 0; i < result->rank; ++i) {
    if (!stow_dim_is_const(result->dims[i]) &&
        !stowi_graph_shape_not_less(call, result->dims[i], 0)) {
      snprintf(reason, sizeof(reason), "dim %" PRIu32 " of result %zu, %s, would be negative", i, k,
               stowi_graph_shape_dim_text(call, result->dims[i]).text);
      return stowi_graph_shape_fail_as(call, STOW_ERR_TYPE, reason, diag);
    }
  }
  const stow_type* declared = stow_shape_declared(call, k);
  if (declared == NULL || !must_agree || stow_type_equal(declared, result)) {
    return STOW_OK;
  }
  if (is_same(call->dims, declared, result)) {
    call->results[k] = *declared;
    return STOW_OK;
  }
  snprintf(reason, sizeof(reason), "result %zu is %.300s, declared as %.300s", k,
           stowi_graph_describe_type(call->graph, result).text,
           stowi_graph_describe_type(call->graph, declared).text);
  return stowi_graph_shape_fail_as(call, STOW_ERR_TYPE, reason, diag);
}

// Dims that are one number over their ranges become it.
static void reduce_result(stow_shape_call* call, size_t k) {
  stow_type* result = &call->results[k];
  bool is_inferred = call->desc->typing == STOW_TYPING_INFERRED && result->dtype != UNSET &&
                     result->rank <= STOW_MAX_RANK;
  for (uint32_t i = 0; is_inferred && i < result->rank; ++i) {
    result->dims[i] = stowi_graph_dim_reduce(call->dims, result->dims[i]);
  }
}

stow_status stowi_graph_shape_infer(stow_shape_call* call, bool must_agree, stow_diag* diag) {
  // The declared types, which become the results of an op that does not infer.
  for (size_t k = 0; k < call->result_count; ++k) {
    const stow_type* declared = stow_shape_declared(call, k);
    if (call->desc->typing != STOW_TYPING_INFERRED && declared != NULL) {
      call->results[k] = *declared;
    } else {
      call->results[k].dtype = UNSET;
    }
    call->marks[k] = (stowi_graph_marks){0, 0, 0};
  }
  call->reads_bound = false;
  call->asked = 0;
  call->split = (stowi_graph_split){false, 0, 0};
  if (stowi_graph_shape_run(call) != STOW_OK) {
    if (call->status == STOW_ERR_OUT_OF_MEMORY) {
      return stowi_fail_memory(diag);
    }
    return stowi_graph_shape_fail_as(
        call, call->status, call->reason[0] == '\0' ? stow_status_text(call->status) : call->reason,
        diag);
  }
  STOW_TRY(stowi_need_memory(stowi_graph_shape_mark_inherited(call) == STOW_OK, diag));
  for (size_t k = 0; k < call->result_count; ++k) {
    reduce_result(call, k);
    limit_result(call, k);
  }
  bool agrees = must_agree || (call->desc->typing != STOW_TYPING_INFERRED && call->actual == NULL);
  for (size_t k = 0; k < call->result_count; ++k) {
    STOW_TRY(check_result(call, k, agrees, diag));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Views and results in place

static bool is_bound(const stow_type* type) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i])) {
      return false;
    }
  }
  return true;
}

// Whether everything that a view function may read is a number.
static bool is_view_bound(const stow_shape_call* call, size_t k) {
  for (size_t i = 0; i < call->operand_count; ++i) {
    const stow_type* type = stow_shape_operand(call, i);
    if (type != NULL && !is_bound(type)) {
      return false;
    }
  }
  return is_bound(stow_shape_declared(call, k));
}

bool stow_graph_view(const stow_graph* graph, stow_node node, size_t k, stow_view* out_view) {
  memset(out_view, 0, sizeof(*out_view));
  if (stow_graph_op_desc(graph, node)->view == NULL) {
    return false;
  }
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  if (k >= call.result_count || !is_view_bound(&call, k)) {
    return false;
  }
  // If an operand turns out to be smaller than its dims, only its first element stays in place.
  return call.desc->view(&call, k, out_view) &&
         stow_shape_operand(&call, out_view->operand) != NULL &&
         (out_view->element_offset == 0 ||
          !stowi_graph_shape_is_upper_bounded(&call, out_view->operand));
}

stow_in_place stowi_graph_in_place_storage(const stow_graph* graph, stow_node node, size_t k,
                                           size_t operand) {
  if (stow_graph_op_desc(graph, node)->in_place == NULL) {
    return STOW_IN_PLACE_NEVER;
  }
  stow_shape_call call =
      stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known, node, NULL, NULL);
  const stow_type* under = stow_shape_operand(&call, operand);
  if (k >= call.result_count || under == NULL || !is_bound(under) ||
      !is_bound(stow_shape_declared(&call, k))) {
    return STOW_IN_PLACE_NEVER;
  }
  return call.desc->in_place(&call, k, operand);
}

stow_in_place stow_graph_in_place(const stow_graph* graph, stow_node node, size_t k,
                                  size_t operand) {
  stow_in_place in_place = stowi_graph_in_place_storage(graph, node, k, operand);
  if (in_place == STOW_IN_PLACE_NEVER) {
    return STOW_IN_PLACE_NEVER;
  }
  uint64_t result = 0;
  uint64_t room = 0;
  stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
  bool has_sizes =
      stow_type_bytes(stow_graph_type(graph, value), &result) == STOW_OK &&
      stow_type_bytes(stow_graph_type(graph, stow_graph_operands(graph, node)[operand]), &room) ==
          STOW_OK;
  return has_sizes && result <= room ? in_place : STOW_IN_PLACE_NEVER;
}
