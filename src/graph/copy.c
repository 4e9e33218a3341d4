#include "graph/copy.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/graph_internal.h"

stow_status stowi_graph_copier_init(stowi_graph_copier* copier, const stow_graph* from,
                                    stow_allocator allocator, stow_diag* diag) {
  memset(copier, 0, sizeof(*copier));
  copier->from = from;
  copier->allocator = allocator;
  copier->diag = diag;
  copier->region = STOW_REGION_BODY;
  copier->memo_count = stowi_graph_dims_expr_count(from->dims);
  copier->map = STOWI_ARRAY(allocator, stow_value, from->values.count);
  copier->memo = STOWI_ARRAY(allocator, stow_dim, copier->memo_count);
  STOW_TRY(stowi_need_memory(copier->map != NULL && copier->memo != NULL, diag));
  for (size_t i = 0; i < copier->memo_count; ++i) {
    copier->memo[i] = STOW_DIM_INVALID;
  }
  for (size_t i = 0; i < from->values.count; ++i) {
    copier->map[i] = STOW_VALUE_NONE;
  }
  STOW_TRY(stow_graph_create(from->name, from->ops, allocator, diag, &copier->into));
  STOW_TRY(stowi_need_memory(
      stowi_graph_dims_copy_symbols(from->dims, copier->into->dims) == STOW_OK, diag));
  return stowi_graph_copy_functions(from, copier->into, diag);
}

void stowi_graph_copier_free(stowi_graph_copier* copier) {
  STOWI_ARRAY_FREE(copier->allocator, copier->map, copier->from->values.count);
  STOWI_ARRAY_FREE(copier->allocator, copier->memo, copier->memo_count);
  STOWI_VEC_FREE(copier->allocator, &copier->numbers);
}

stow_value stowi_graph_copier_mapped(const stowi_graph_copier* copier, stow_value value) {
  return value == STOW_VALUE_NONE ? STOW_VALUE_NONE : copier->map[value];
}

stow_type stowi_graph_copier_type(stowi_graph_copier* copier, stow_value value) {
  stow_type type = *stow_graph_type(copier->from, value);
  for (uint32_t i = 0; i < type.rank; ++i) {
    type.dims[i] = stowi_graph_dims_translate(copier->from->dims, type.dims[i], copier->into->dims,
                                              copier->memo);
  }
  return type;
}

static stow_str name_of(const stowi_graph_copier* copier, stow_value value) {
  return copier->name != NULL ? copier->name(copier->user, value)
                              : stow_graph_value_name(copier->from, value);
}

void stowi_graph_copier_name(const stowi_graph_copier* copier, stow_call* call, stow_value value) {
  stow_str name = name_of(copier, value);
  char text[48];
  for (size_t i = 0; name.size == 0; ++i) {
    snprintf(text, sizeof(text), i == 0 ? "%%%lu" : "%%%lu.%zu", (unsigned long)value, i);
    bool is_taken = stow_graph_find(copier->from, stow_str_of(text)) != STOW_VALUE_NONE ||
                    stow_graph_find(copier->into, stow_str_of(text)) != STOW_VALUE_NONE;
    name = stow_str_of(is_taken ? "" : text);
  }
  stow_call_name(call, 0, name);
}

stow_status stowi_graph_copier_enter(stowi_graph_copier* copier, stow_node node) {
  stow_region chain[STOW_MAX_REGION_DEPTH];
  size_t count = 0;
  for (stow_region region = stow_graph_node_region(copier->from, node); region != copier->region;
       region = stowi_graph_region_parent(copier->from, region)) {
    chain[count++] = region;
  }
  while (count > 0) {
    STOW_TRY(stow_graph_begin_region(copier->into, copier->diag));
    copier->region = chain[--count];
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

bool stowi_graph_names_values(const stow_attr* attr) {
  return attr->kind == STOW_ATTR_INTS && attr->count % 2 == 0 &&
         (stow_str_equal(attr->name, stow_str_of("hold")) ||
          stow_str_equal(attr->name, stow_str_of("early")));
}

// Copies a clause, translating ids of values.
static stow_status copy_with(stowi_graph_copier* copier, stow_call* call, const stow_attr* attr) {
  if (!stowi_graph_names_values(attr)) {
    stow_call_with(call, attr);
    return STOW_OK;
  }
  copier->numbers.count = 0;
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(copier->allocator, &copier->numbers, attr->count) == STOW_OK,
      copier->diag));
  for (size_t i = 0; i < attr->count; ++i) {
    bool is_renamed =
        i % 2 == 1 && attr->ints[i] >= 0 && (uint64_t)attr->ints[i] < copier->from->values.count;
    copier->numbers.data[i] = is_renamed ? (int64_t)copier->map[attr->ints[i]] : attr->ints[i];
  }
  stow_attr copy = *attr;
  copy.ints = copier->numbers.data;
  stow_call_with(call, &copy);
  return STOW_OK;
}

static void copy_results(stowi_graph_copier* copier, stow_call* call, stow_node node) {
  stow_value first = stow_graph_first_result(copier->from, node);
  for (size_t k = 0; k < stow_graph_result_count(copier->from, node); ++k) {
    stow_value value = first + (stow_value)k;
    stow_type type = stowi_graph_copier_type(copier, value);
    stow_call_result_type(call, &type);
    stow_call_name(call, k, name_of(copier, value));
    for (uint32_t i = 0; i < type.rank; ++i) {
      if ((copier->from->values.data[value].bounded >> i & 1) != 0) {
        stow_call_bounded_dim(call, k, i);
      }
    }
  }
}

// Attributes, and data that is not in an attribute.
static void copy_attrs(const stowi_graph_copier* copier, stow_call* call, stow_node node) {
  const stow_graph* from = copier->from;
  bool has_inline = false;
  for (size_t i = 0; i < stow_graph_attr_count(from, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(from, node, i);
    has_inline = has_inline || stow_str_equal(attr->name, stow_str_of("data"));
    stow_call_attr(call, attr);
  }
  size_t index = stowi_graph_is_boundary_op(stow_graph_op(from, node)) && !has_inline
                     ? stowi_graph_data_index(from, stow_graph_first_result(from, node))
                     : from->data.count;
  if (index < from->data.count) {
    const stowi_graph_data* data = &from->data.data[index];
    if (data->bytes != NULL) {
      stow_call_data(call, data->bytes, data->size, false);
    } else {
      stowi_graph_call_unread(call, data->size);
    }
  }
}

// A node whose random numbers begin at its id keeps them under another id.
static void keep_seed(const stowi_graph_copier* copier, stow_call* call, stow_node node) {
  stow_attr seed = stow_attr_named(STOWI_GRAPH_SEED, STOW_ATTR_INT);
  seed.i = (int64_t)stowi_graph_seed(copier->from, node);
  bool is_moved =
      copier->keeps_seeds && seed.i == (int64_t)node && node != stow_graph_node_count(copier->into);
  if (is_moved && stowi_graph_may_be_random(stow_graph_op(copier->from, node))) {
    stow_call_with(call, &seed);
  }
}

static stow_status copy_yield(stowi_graph_copier* copier, stow_node node) {
  size_t count = stow_graph_operand_count(copier->from, node);
  stow_value* yields = STOWI_ARRAY(copier->allocator, stow_value, count);
  STOW_TRY(stowi_need_memory(yields != NULL, copier->diag));
  for (size_t k = 0; k < count; ++k) {
    yields[k] = stowi_graph_copier_mapped(copier, stow_graph_operands(copier->from, node)[k]);
  }
  stow_status status = stow_graph_end_region(copier->into, yields, count, copier->diag);
  STOWI_ARRAY_FREE(copier->allocator, yields, count);
  copier->region = stowi_graph_region_parent(copier->from, copier->region);
  return status;
}

stow_status stowi_graph_copier_node(stowi_graph_copier* copier, stow_node node) {
  const stow_graph* from = copier->from;
  if (stow_graph_op(from, node) == STOW_OP_YIELD) {
    return copy_yield(copier, node);
  }
  stow_call* call = stow_graph_begin(copier->into, stow_graph_op(from, node));
  for (size_t k = 0; k < stow_graph_operand_count(from, node); ++k) {
    stow_call_operand(call, stowi_graph_copier_mapped(copier, stow_graph_operands(from, node)[k]));
  }
  copy_attrs(copier, call, node);
  for (size_t i = 0; i < stowi_graph_with_count(from, node); ++i) {
    STOW_TRY(copy_with(copier, call, stowi_graph_with_at(from, node, i)));
  }
  keep_seed(copier, call, node);
  copy_results(copier, call, node);
  stow_call_line(call, stow_graph_line(from, node));
  return stow_call_finish(call, copier->diag, NULL);
}

stow_status stowi_graph_copier_outputs(stowi_graph_copier* copier) {
  for (size_t i = 0; i < copier->from->outputs.count; ++i) {
    stow_value output = stowi_graph_copier_mapped(copier, copier->from->outputs.data[i]);
    STOW_TRY(stow_graph_add_output(copier->into, output, copier->diag));
  }
  return STOW_OK;
}

static stow_status copy_all(stowi_graph_copier* copier) {
  for (stow_value value = 0; value < copier->from->values.count; ++value) {
    copier->map[value] = value;
  }
  for (stow_node node = 0; node < copier->from->nodes.count; ++node) {
    STOW_TRY(stowi_graph_copier_enter(copier, node));
    STOW_TRY(stowi_graph_copier_node(copier, node));
  }
  return stowi_graph_copier_outputs(copier);
}

stow_status stowi_graph_copy(const stow_graph* graph, stow_allocator allocator, stow_diag* diag,
                             stow_graph** out_graph) {
  stowi_graph_copier copier;
  stow_status status = stowi_graph_copier_init(&copier, graph, allocator, diag);
  if (status == STOW_OK) {
    status = copy_all(&copier);
  }
  stowi_graph_copier_free(&copier);
  if (status != STOW_OK) {
    stow_graph_destroy(copier.into);
  }
  *out_graph = status == STOW_OK ? copier.into : NULL;
  return status;
}
