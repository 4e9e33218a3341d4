#include "rewrite/maker.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "rewrite/rewritten.h"

#define NAME_SIZE 48  // of ops in the name of a function

// ---------------------------------------------------------------------------------------------
// Values

stow_value stowi_rewrite_maker_find(const stowi_rewrite_maker* maker, stow_value value, int use) {
  stow_node node = stow_graph_producer(maker->graph, value);
  for (size_t i = 0; i < maker->count; ++i) {
    if (maker->nodes[i] == node) {
      return maker->made[i] + (value - stow_graph_first_result(maker->graph, node));
    }
  }
  for (size_t i = 0; i < maker->inputs.count; ++i) {
    if (maker->inputs.data[i].value == value && maker->inputs.data[i].use == use) {
      return maker->inputs.data[i].input;
    }
  }
  return STOW_VALUE_NONE;
}

stow_status stowi_rewrite_maker_input(stowi_rewrite_maker* maker, stow_value value, int use,
                                      const stow_type* type, int64_t divide) {
  stow_value input;
  char name[24];
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(maker->pass->allocator, &maker->inputs, 1) == STOW_OK, maker->pass->diag));
  snprintf(name, sizeof(name), "x%zu", maker->inputs.count);
  STOW_TRY(stow_graph_input(maker->function, name, type, maker->pass->diag, &input));
  maker->inputs.data[maker->inputs.count++] = (stowi_rewrite_input){value, use, input, divide};
  return STOW_OK;
}

stow_call* stowi_rewrite_maker_begin(stowi_rewrite_maker* maker, size_t i, const stow_type* types) {
  stow_node node = maker->nodes[i];
  bool is_reshape = stowi_rewrite_is_reshape(maker->graph, node);
  stow_op op = is_reshape ? STOW_OP_RESHAPE : stow_graph_op(maker->graph, node);
  stow_call* call = stow_graph_begin(maker->function, op);
  for (size_t k = 0; k < stow_graph_result_count(maker->graph, node); ++k) {
    stow_call_result_type(call, &types[k]);
  }
  maker->made[i] = stow_graph_value_count(maker->function);
  return call;
}

// Of a `stream` node there is one for each result.
static stow_status add_outputs(stowi_rewrite_maker* m) {
  size_t count = m->streams ? m->change->count : 0;
  STOW_TRY(m->streams ? STOW_OK
                      : stow_graph_add_output(m->function, m->made[m->count - 1], m->pass->diag));
  for (size_t k = 0; k < count; ++k) {
    stow_value value = stowi_rewrite_result(m->pass, m->change, k);
    STOW_TRY(
        stow_graph_add_output(m->function, stowi_rewrite_maker_find(m, value, 0), m->pass->diag));
  }
  return STOW_OK;
}

static stow_status fill(stowi_rewrite_maker* m) {
  m->rows = stow_dim_symbol(stow_graph_edit_dims(m->function), stow_str_of("rows"));
  STOW_TRY(stowi_need_memory(m->rows != STOW_DIM_INVALID, m->pass->diag));
  m->inputs.count = 0;
  STOW_TRY(m->fill(m));
  return add_outputs(m);
}

// ---------------------------------------------------------------------------------------------
// Functions

// The ops, as long as there is room: `sigmoid_mul`.
static void describe_ops(const stowi_rewrite_maker* m, char out[NAME_SIZE]) {
  size_t size = 0;
  out[0] = '\0';
  for (size_t i = 0; i < m->count; ++i) {
    const char* op = stow_graph_op_desc(m->graph, m->nodes[i])->name;
    if (size + strlen(op) + 2 > NAME_SIZE) {
      return;
    }
    size += (size_t)snprintf(out + size, NAME_SIZE - size, "%s%s", i == 0 ? "" : "_", op);
  }
}

stow_dim stowi_rewrite_maker_dim(stowi_rewrite_maker* maker, stow_dim dim) {
  return stowi_graph_dims_translate(stow_graph_dims(maker->graph), dim,
                                    stow_graph_edit_dims(maker->function), maker->memo);
}

static stow_status make_function(stowi_rewrite_maker* m, stow_str name) {
  stow_graph_destroy(m->function);
  m->function = NULL;
  for (size_t i = 0; i < stowi_graph_dims_expr_count(stow_graph_dims(m->graph)); ++i) {
    m->memo[i] = STOW_DIM_INVALID;
  }
  STOW_TRY(stow_graph_create(name, stow_graph_ops(m->graph), m->pass->allocator, m->pass->diag,
                             &m->function));
  return fill(m);
}

// Uses the function under |name| if it is the same; otherwise makes |*out_is_other| true.
static stow_status share_function(stowi_rewrite_maker* m, stow_str name, bool* out_is_other) {
  const stow_graph* there = stowi_graph_find_function(m->pass->copier.into, name);
  *out_is_other = false;
  if (there != NULL) {
    *out_is_other = stow_graph_fingerprint(there) != stow_graph_fingerprint(m->function);
    return STOW_OK;
  }
  if (!stow_str_equal(stow_graph_name(m->function), name)) {
    STOW_TRY(make_function(m, name));
  }
  STOW_TRY(stow_graph_add_function(m->pass->copier.into, m->function, m->pass->diag));
  m->function = NULL;
  return STOW_OK;
}

// |name| becomes that of the function.
static stow_status find_function(stowi_rewrite_maker* m, char* name, size_t room) {
  char ops[NAME_SIZE];
  bool is_other = true;
  describe_ops(m, ops);
  snprintf(name, room, "%s", ops);
  STOW_TRY(make_function(m, stow_str_of(name)));
  STOW_TRY(share_function(m, stow_str_of(name), &is_other));
  for (unsigned i = 2; is_other; ++i) {
    snprintf(name, room, "%s_%u", ops, i);
    STOW_TRY(share_function(m, stow_str_of(name), &is_other));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The node

static stow_status add_divide(const stowi_rewrite_maker* m, stow_call* call) {
  size_t count = m->inputs.count;
  int64_t* divide = STOWI_ARRAY(m->pass->allocator, int64_t, count);
  bool is_needed = false;
  STOW_TRY(stowi_need_memory(divide != NULL, m->pass->diag));
  for (size_t i = 0; i < count; ++i) {
    divide[i] = m->inputs.data[i].divide;
    is_needed = is_needed || divide[i] != 1;
  }
  if (is_needed) {
    stow_call_attr_ints(call, "divide", divide, count);
  }
  STOWI_ARRAY_FREE(m->pass->allocator, divide, count);
  return STOW_OK;
}

// Names of the nodes that became one; those that have none are left out.
static stow_status add_names(const stowi_rewrite_maker* m, stow_call* call) {
  stow_str* names = STOWI_ARRAY(m->pass->allocator, stow_str, m->count);
  stow_attr of = stow_attr_named("of", STOW_ATTR_STRINGS);
  STOW_TRY(stowi_need_memory(names != NULL, m->pass->diag));
  for (size_t i = 0; i < m->count; ++i) {
    stow_value value = stow_graph_first_result(m->graph, m->nodes[i]);
    names[of.count] = stow_graph_value_name(m->graph, m->pass->named[value]);
    of.count += names[of.count].size != 0;
  }
  of.strings = names;
  if (of.count != 0) {
    stow_call_attr(call, &of);
  }
  STOWI_ARRAY_FREE(m->pass->allocator, names, m->count);
  return STOW_OK;
}

static int64_t product(const stow_type* type, uint32_t first, uint32_t end) {
  int64_t result = 1;
  for (uint32_t i = first; i < end; ++i) {
    result *= type->dims[i];
  }
  return result;
}

// How many groups and rows there are, or which dims these are, where they are not numbers.
static void add_counts(const stowi_rewrite_maker* m, stow_call* call) {
  stow_value value = stow_graph_first_result(m->graph, m->nodes[m->count - 1]);
  const stow_type* type = stow_graph_type(m->graph, value);
  if (m->pass->bound != NULL) {
    stow_call_attr_ints(call, "over", (int64_t[]){m->groups, m->first_row, m->end_row}, 3);
    return;
  }
  int64_t groups = product(type, 0, m->groups);
  if (groups != 1) {
    stow_call_attr_int(call, "groups", groups);
  }
  stow_call_attr_int(call, "rows", product(type, m->first_row, m->end_row));
}

static stow_status add_call(stowi_rewrite_maker* m, const char* name) {
  stow_call* call =
      stowi_rewrite_begin(m->pass, m->change, m->streams ? STOW_OP_STREAM : STOW_OP_BLOCKS);
  for (size_t i = 0; i < m->inputs.count; ++i) {
    stow_call_operand(call, stowi_graph_copier_mapped(&m->pass->copier, m->inputs.data[i].value));
  }
  stow_call_attr_string(call, "function", stow_str_of(name));
  uint32_t rows = m->pass->rewritten->options.stream_rows;
  if (m->streams && rows != 0) {
    stow_call_attr_int(call, "rows", rows);
  } else if (!m->streams) {
    add_counts(m, call);
    STOW_TRY(add_divide(m, call));
  }
  STOW_TRY(add_names(m, call));
  return stow_call_finish(call, m->pass->diag, NULL);
}

stow_status stowi_rewrite_maker_add(stowi_rewrite_maker* maker,
                                    const stowi_rewrite_change* change) {
  stow_allocator allocator = maker->pass->allocator;
  char name[NAME_SIZE + 16];
  maker->graph = maker->pass->graph;
  maker->change = change;
  size_t expressions = stowi_graph_dims_expr_count(stow_graph_dims(maker->graph));
  maker->made = STOWI_ARRAY(allocator, stow_value, maker->count);
  maker->memo = STOWI_ARRAY(allocator, stow_dim, expressions);
  stow_status status =
      stowi_need_memory(maker->made != NULL && maker->memo != NULL, maker->pass->diag);
  if (status == STOW_OK) {
    status = find_function(maker, name, sizeof(name));
  }
  if (status == STOW_OK) {
    status = add_call(maker, name);
  }
  stow_graph_destroy(maker->function);
  STOWI_ARRAY_FREE(allocator, maker->made, maker->count);
  STOWI_ARRAY_FREE(allocator, maker->memo, expressions);
  STOWI_VEC_FREE(allocator, &maker->inputs);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Noting it

// The output that is |value| with other dims, if there is one; otherwise |value|. The node makes
// that, and others read it with |value|'s dims: a copy is needed in neither direction.
static stow_value output_of(const stowi_rewrite_pass* pass, stow_value value) {
  const stow_graph* graph = pass->graph;
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    stow_value output = stow_graph_outputs(graph)[i];
    stow_node node = stow_graph_producer(graph, output);
    bool is_reshape =
        !stowi_rewrite_is_barrier(graph, node) && stowi_rewrite_is_reshape(graph, node);
    if (is_reshape && stow_graph_operands(graph, node)[0] == value &&
        stow_graph_type(graph, output)->dtype == stow_graph_type(graph, value)->dtype &&
        !stowi_rewrite_is_bounded(graph, node) && !stowi_bits_has(&pass->facts.fixed, output)) {
      return output;
    }
  }
  return value;
}

static stow_status add_reshape_of(stowi_rewrite_pass* pass, stow_node at, stow_value output,
                                  stow_value value) {
  stowi_rewrite_change change = {
      .at = at, .first = value, .count = 1, .add = stowi_rewrite_add_reshape, .operand = output};
  pass->is_dropped[stow_graph_producer(pass->graph, output)] = true;
  return pass->facts.readers[value] > 1 ? stowi_rewrite_change_at(pass, &change) : STOW_OK;
}

stow_status stowi_rewrite_maker_at(stowi_rewrite_pass* pass, stowi_rewrite_change* change) {
  stow_value value = stow_graph_first_result(pass->graph, change->at);
  // groups and rows are dims of |value| where they are not numbers
  bool stays = stowi_bits_has(&pass->facts.outputs, value) ||
               stowi_bits_has(&pass->facts.fixed, value) || pass->bound != NULL;
  stow_value output = stays ? value : output_of(pass, value);
  change->first = output;
  change->count = 1;
  STOW_TRY(stowi_rewrite_change_at(pass, change));
  return output == value ? STOW_OK : add_reshape_of(pass, change->at, output, value);
}
