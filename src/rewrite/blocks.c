// The function has the nodes of the cluster with rows in place of their first dims. Names and order
// of its values depend on nothing else, so that clusters that compute the same share one.
#include "rewrite/blocks.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

#define NAME_SIZE 48  // of ops in the name of a function

typedef struct operand {
  stow_value value;
  stowi_rewrite_use use;
  stow_value input;  // of the function
  int64_t divide;
} operand;

typedef struct maker {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  const stow_node* nodes;
  size_t count;
  stowi_rewrite_space space;
  stow_graph* function;
  stow_dim rows;
  stow_value* made;  // by node of the cluster: its result in the function
  STOWI_VEC(operand) operands;
} maker;

// In |list| of a change: where nodes are, how many, and the dims of groups and rows.
enum { LIST_FIRST, LIST_COUNT, LIST_GROUPS, LIST_UNITS, LIST_SIZE };

// ---------------------------------------------------------------------------------------------
// Values

static stow_type part_type(const maker* m, stow_dtype dtype, const stowi_rewrite_part* part) {
  stow_dim dims[STOW_MAX_RANK];
  uint32_t rank = part->by_rows ? 1 : 0;
  dims[0] = m->rows;
  memcpy(dims + rank, part->unit, part->rank * sizeof(dims[0]));
  return stow_type_make(dtype, rank + part->rank, dims);
}

static stow_status add_input(maker* m, stow_value value, stowi_rewrite_use use,
                             stow_value* out_input) {
  const stow_type* whole = stow_graph_type(m->graph, value);
  stowi_rewrite_part part;
  char name[24];
  (void)stowi_rewrite_space_cut(&m->space, whole, use, &part);
  stow_type type = part_type(m, whole->dtype, &part);
  snprintf(name, sizeof(name), "x%zu", m->operands.count);
  STOW_TRY(stow_graph_input(m->function, name, &type, m->pass->diag, out_input));
  m->operands.data[m->operands.count++] = (operand){value, use, *out_input, part.divide};
  return STOW_OK;
}

static bool find_made(const maker* m, stow_value value, stow_value* out_value) {
  stow_node node = stow_graph_producer(m->graph, value);
  for (size_t i = 0; i < m->count; ++i) {
    if (m->nodes[i] == node) {
      *out_value = m->made[i];
      return true;
    }
  }
  return false;
}

static stow_value find_input(const maker* m, stow_value value, stowi_rewrite_use use) {
  for (size_t i = 0; i < m->operands.count; ++i) {
    if (m->operands.data[i].value == value && m->operands.data[i].use == use) {
      return m->operands.data[i].input;
    }
  }
  return STOW_VALUE_NONE;
}

// Adds inputs for what |node| reads from outside.
static stow_status add_inputs(maker* m, stow_node node) {
  size_t count = stow_graph_operand_count(m->graph, node);
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(m->pass->allocator, &m->operands, count) == STOW_OK,
                             m->pass->diag));
  for (size_t k = 0; k < count; ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stowi_rewrite_use use = stowi_rewrite_use_of(m->graph, node, k);
    stow_value there;
    if (value != STOW_VALUE_NONE && !find_made(m, value, &there) &&
        find_input(m, value, use) == STOW_VALUE_NONE) {
      STOW_TRY(add_input(m, value, use, &there));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

// Rows are one dim in place of those before the unit.
static int64_t shift_axis(const maker* m, int64_t axis) {
  int64_t from_front = axis < 0 ? axis + (int64_t)m->space.rank : axis;
  return from_front - (int64_t)m->space.units + 1;
}

static void add_axes(const maker* m, stow_call* call, const stow_attr* axes) {
  int64_t shifted[STOW_MAX_RANK];
  size_t count = axes->count < STOW_MAX_RANK ? axes->count : STOW_MAX_RANK;
  for (size_t i = 0; i < count; ++i) {
    shifted[i] = shift_axis(m, axes->ints[i]);
  }
  stow_call_attr_ints(call, "axes", shifted, count);
}

static bool has_axis(const stow_graph* graph, stow_node node) {
  return !stowi_graph_is_elementwise(graph, node) && stow_graph_attr(graph, node, "axis") != NULL;
}

static void add_attrs(const maker* m, stow_call* call, stow_node node) {
  bool has = has_axis(m->graph, node);
  bool reduces = stow_graph_op(m->graph, node) == STOW_OP_REDUCE;
  for (size_t i = 0; i < stow_graph_attr_count(m->graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(m->graph, node, i);
    if (reduces && stow_str_equal(attr->name, stow_str_of("axes"))) {
      add_axes(m, call, attr);
    } else if (!has || !stow_str_equal(attr->name, stow_str_of("axis"))) {
      stow_call_attr(call, attr);
    }
  }
  if (has) {
    stow_call_attr_int(call, "axis", shift_axis(m, stow_graph_attr(m->graph, node, "axis")->i));
  }
}

static void add_operands(const maker* m, stow_call* call, stow_node node) {
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stow_value there = STOW_VALUE_NONE;
    if (value != STOW_VALUE_NONE && !find_made(m, value, &there)) {
      there = find_input(m, value, stowi_rewrite_use_of(m->graph, node, k));
    }
    stow_call_operand(call, there);
  }
}

static stow_status add_node(maker* m, size_t i) {
  stow_node node = m->nodes[i];
  const stow_type* whole = stow_graph_type(m->graph, stow_graph_first_result(m->graph, node));
  stowi_rewrite_part part;
  STOW_TRY(add_inputs(m, node));
  (void)stowi_rewrite_space_cut(&m->space, whole, STOWI_REWRITE_ALIGNED, &part);
  stow_type type = part_type(m, whole->dtype, &part);
  stow_call* call = stow_graph_begin(m->function, stow_graph_op(m->graph, node));
  add_operands(m, call, node);
  add_attrs(m, call, node);
  stow_call_result_type(call, &type);
  m->made[i] = stow_graph_value_count(m->function);
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_status fill_function(maker* m) {
  m->rows = stow_dim_symbol(stow_graph_edit_dims(m->function), stow_str_of("rows"));
  STOW_TRY(stowi_need_memory(m->rows != STOW_DIM_INVALID, m->pass->diag));
  m->operands.count = 0;
  for (size_t i = 0; i < m->count; ++i) {
    STOW_TRY(add_node(m, i));
  }
  return stow_graph_add_output(m->function, m->made[m->count - 1], m->pass->diag);
}

// ---------------------------------------------------------------------------------------------
// Functions

// The ops, as long as there is room: `sigmoid_mul`.
static void describe_ops(const maker* m, char out[NAME_SIZE]) {
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

static stow_status make_function(maker* m, stow_str name) {
  stow_graph_destroy(m->function);
  m->function = NULL;
  STOW_TRY(stow_graph_create(name, stow_graph_ops(m->graph), m->pass->allocator, m->pass->diag,
                             &m->function));
  return fill_function(m);
}

// Uses the function under |name| if it is the same; otherwise makes |*out_is_other| true.
static stow_status share_function(maker* m, stow_str name, bool* out_is_other) {
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
static stow_status find_function(maker* m, char* name, size_t room) {
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

static stow_status add_divide(const maker* m, stow_call* call) {
  size_t count = m->operands.count;
  int64_t* divide = STOWI_ARRAY(m->pass->allocator, int64_t, count);
  bool is_needed = false;
  STOW_TRY(stowi_need_memory(divide != NULL, m->pass->diag));
  for (size_t i = 0; i < count; ++i) {
    divide[i] = m->operands.data[i].divide;
    is_needed = is_needed || divide[i] != 1;
  }
  if (is_needed) {
    stow_call_attr_ints(call, "divide", divide, count);
  }
  STOWI_ARRAY_FREE(m->pass->allocator, divide, count);
  return STOW_OK;
}

// Names of the nodes that became one; those that have none are left out.
static stow_status add_names(const maker* m, stow_call* call) {
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

static stow_status add_call(maker* m, const stowi_rewrite_change* change, const char* name) {
  stow_call* call = stowi_rewrite_begin(m->pass, change, STOW_OP_BLOCKS);
  uint64_t groups = stowi_rewrite_space_groups(&m->space);
  for (size_t i = 0; i < m->operands.count; ++i) {
    stow_call_operand(call, stowi_graph_copier_mapped(&m->pass->copier, m->operands.data[i].value));
  }
  stow_call_attr_string(call, "function", stow_str_of(name));
  if (groups != 1) {
    stow_call_attr_int(call, "groups", (int64_t)groups);
  }
  stow_call_attr_int(call, "rows", (int64_t)stowi_rewrite_space_rows(&m->space));
  STOW_TRY(add_divide(m, call));
  STOW_TRY(add_names(m, call));
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_status add_blocks(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  maker m = {.pass = pass, .graph = pass->graph};
  char name[NAME_SIZE + 16];
  m.nodes = pass->nodes.data + change->list[LIST_FIRST];
  m.count = (size_t)change->list[LIST_COUNT];
  stow_node last = m.nodes[m.count - 1];
  const stow_type* type = stow_graph_type(m.graph, stow_graph_first_result(m.graph, last));
  m.space.rank = type->rank;
  memcpy(m.space.dims, type->dims, sizeof(m.space.dims));
  m.space.groups = (uint32_t)change->list[LIST_GROUPS];
  m.space.units = (uint32_t)change->list[LIST_UNITS];
  m.made = STOWI_ARRAY(pass->allocator, stow_value, m.count);
  stow_status status = stowi_need_memory(m.made != NULL, pass->diag);
  if (status == STOW_OK) {
    status = find_function(&m, name, sizeof(name));
  }
  if (status == STOW_OK) {
    status = add_call(&m, change, name);
  }
  stow_graph_destroy(m.function);
  STOWI_ARRAY_FREE(pass->allocator, m.made, m.count);
  STOWI_VEC_FREE(pass->allocator, &m.operands);
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

stow_status stowi_rewrite_blocks_at(stowi_rewrite_pass* pass, const stowi_rewrite_space* space,
                                    size_t first, size_t count) {
  stow_node last = pass->nodes.data[first + count - 1];
  stow_value value = stow_graph_first_result(pass->graph, last);
  stow_value output =
      stowi_bits_has(&pass->facts.outputs, value) || stowi_bits_has(&pass->facts.fixed, value)
          ? value
          : output_of(pass, value);
  stowi_rewrite_change change = {
      .at = last, .first = output, .count = 1, .add = add_blocks, .list_count = LIST_SIZE};
  change.list[LIST_FIRST] = (int64_t)first;
  change.list[LIST_COUNT] = (int64_t)count;
  change.list[LIST_GROUPS] = space->groups;
  change.list[LIST_UNITS] = space->units;
  STOW_TRY(stowi_rewrite_change_at(pass, &change));
  return output == value ? STOW_OK : add_reshape_of(pass, last, output, value);
}
