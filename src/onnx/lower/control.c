// Constants, If, and the rows of control flow.
//
// An If whose condition is known becomes the branch that is taken, in the place of the node. Else
// both branches become regions. Where one does not fit the shapes (a model for two kinds of input
// tests which one it got), it can never run: the import starts again with the other one. A branch
// that could not be imported, or two that yield different types, leave an `if` without use behind,
// because a region that is open must be closed by its owner, and poison what the node makes.
#include <string.h>

#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

const stowi_onnx_graph* stowi_onnx_lower_subgraph(const stowi_onnx_lowering* l, const char* name) {
  const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, name);
  return attr == NULL ? NULL : attr->graph;
}

bool stowi_onnx_are_whole(const stow_value* values, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (values[i] == STOW_VALUE_NONE) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// If

typedef struct branches {
  const stowi_onnx_graph* then_graph;
  const stowi_onnx_graph* else_graph;
  size_t count;        // of outputs
  stow_value* values;  // of the branch that is being imported
  stow_type* types;    // of the first branch
  stow_value* kept;    // stand-ins for what the second branch does not give
  uint64_t ordinal;    // of the node
} branches;

// Shapes that were given for the node's results are those of the branch that is taken; with
// |softly| it may be the other one.
static stow_status import_branch(stowi_onnx_lowering* l, const stowi_onnx_graph* graph, bool softly,
                                 stow_value* out_values) {
  for (size_t k = 0; k < l->result_count; ++k) {
    STOW_TRY(stowi_onnx_lower_lend_shape(l, k, graph->outputs[k].name, softly));
  }
  stowi_import_scope scope = stowi_import_enter(l->imp, false);
  stow_status status = stowi_onnx_import_inner(l->onnx, graph, out_values);
  stowi_import_leave(l->imp, scope);
  for (size_t k = 0; k < l->result_count; ++k) {
    stowi_import_return_shape(l->imp, graph->outputs[k].name);
  }
  return status;
}

static stow_status take_branch(stowi_onnx_lowering* l, branches* b, const stowi_onnx_graph* graph) {
  STOW_TRY(import_branch(l, graph, false, b->values));
  for (size_t k = 0; k < l->result_count; ++k) {
    if (b->values[k] != STOW_VALUE_NONE) {
      STOW_TRY(stowi_onnx_lower_alias(l, k, b->values[k]));
    }
  }
  return STOW_OK;
}

// The same for a branch that may not be taken: notes the other one where this does not fit. Of Ifs
// within Ifs the innermost counts.
static stow_status try_branch(stowi_onnx_lowering* l, branches* b, bool is_then) {
  stowi_onnx_choices* choices = l->onnx->choices;
  stow_status status = import_branch(l, is_then ? b->then_graph : b->else_graph, true, b->values);
  bool is_part = l->imp->diag->split_symbol[0] != '\0';  // it fits at some points of a range
  if (status == STOW_ERR_TYPE && !is_part && !choices->has_next) {
    choices->has_next = true;
    choices->next = (stowi_onnx_choice){l->node, b->ordinal, !is_then};
  }
  return status;
}

static stow_status add_then(stowi_onnx_lowering* l, branches* b, bool* out_is_whole) {
  stowi_import_importer* imp = l->imp;
  STOW_TRY(stow_graph_begin_region(imp->graph, imp->diag));
  STOW_TRY(try_branch(l, b, true));
  *out_is_whole = stowi_onnx_are_whole(b->values, b->count);
  for (size_t i = 0; *out_is_whole && i < b->count; ++i) {
    b->types[i] = *stow_graph_type(imp->graph, b->values[i]);
  }
  return stow_graph_end_region(imp->graph, b->values, *out_is_whole ? b->count : 0, imp->diag);
}

// Values of the first branch's types, so that the second can end.
static stow_status add_stand_ins(stowi_onnx_lowering* l, branches* b) {
  for (size_t i = 0; i < b->count; ++i) {
    stow_str name;
    STOW_TRY(
        stowi_import_fresh_name_with(l->imp, stowi_onnx_node_label(l->node), ".unknown", &name));
    stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_CONSTANT);
    stow_call_name(call, 0, name);
    stow_call_result_type(call, &b->types[i]);
    stow_node node;
    STOW_TRY(stow_call_finish(call, l->imp->diag, &node));
    b->kept[i] = stow_graph_first_result(l->imp->graph, node);
  }
  return STOW_OK;
}

// The first result whose dtype or rank differs between the branches, or |count|. Of dims that
// differ the core takes the larger.
static size_t find_other(const stowi_onnx_lowering* l, const branches* b) {
  for (size_t i = 0; i < b->count; ++i) {
    const stow_type* type = stow_graph_type(l->imp->graph, b->values[i]);
    if (type->dtype != b->types[i].dtype || type->rank != b->types[i].rank) {
      return i;
    }
  }
  return b->count;
}

// |*out_other| is the first result that differs, or |count|.
static stow_status add_else(stowi_onnx_lowering* l, branches* b, bool has_then, bool* out_is_whole,
                            size_t* out_other) {
  stowi_import_importer* imp = l->imp;
  STOW_TRY(stow_graph_begin_region(imp->graph, imp->diag));
  STOW_TRY(try_branch(l, b, false));
  *out_is_whole = has_then && stowi_onnx_are_whole(b->values, b->count);
  *out_other = *out_is_whole ? find_other(l, b) : b->count;
  if (!has_then) {
    return stow_graph_end_region(imp->graph, NULL, 0, imp->diag);
  }
  bool fits = *out_is_whole && *out_other == b->count;
  if (!fits) {
    STOW_TRY(add_stand_ins(l, b));
  }
  return stow_graph_end_region(imp->graph, fits ? b->values : b->kept, b->count, imp->diag);
}

enum { MAX_DECIDERS = 4, MAX_DECIDING_STEPS = 64 };

// Inputs whose elements decide a condition.
typedef struct deciders {
  stow_value inputs[MAX_DECIDERS];
  size_t count;
  size_t steps;    // values looked at
  bool is_opaque;  // something else decides, too, or it was too far to look
} deciders;

static void add_decider(deciders* d, stow_value input) {
  for (size_t i = 0; i < d->count; ++i) {
    if (d->inputs[i] == input) {
      return;
    }
  }
  if (d->count < MAX_DECIDERS) {
    d->inputs[d->count++] = input;
  } else {
    d->is_opaque = true;
  }
}

// Adds what decides |value|. Dims without a value decide what follows from known values alone.
static void find_deciders(const stow_graph* graph, stow_value value, deciders* d) {
  stow_node node = stow_graph_producer(graph, value);
  stow_op op = stow_graph_op(graph, node);
  if (stow_graph_is_known(graph, value) || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT) {
    return;
  }
  if (op == STOW_OP_INPUT) {
    add_decider(d, value);
    return;
  }
  size_t count = stow_graph_operand_count(graph, node);
  d->is_opaque = d->is_opaque || count == 0 || ++d->steps > MAX_DECIDING_STEPS;
  for (size_t i = 0; !d->is_opaque && i < count; ++i) {
    stow_value operand = stow_graph_operands(graph, node)[i];
    if (operand != STOW_VALUE_NONE) {
      find_deciders(graph, operand, d);
    }
  }
}

static deciders deciders_of(const stowi_onnx_lowering* l) {
  deciders d = {0};
  find_deciders(l->imp->graph, stowi_onnx_lower_operand(l, 0), &d);
  d.count = d.is_opaque ? 0 : d.count;
  return d;
}

// With a value for that input, one branch is enough.
static stow_status tell_deciders(stowi_onnx_lowering* l) {
  const stow_graph* graph = l->imp->graph;
  deciders d = deciders_of(l);
  for (size_t i = 0; i < d.count; ++i) {
    STOW_TRY(stowi_import_add_issue(l->imp, STOW_IMPORT_CONDITION, l->node,
                                    stow_graph_value_name(graph, d.inputs[i]),
                                    "its value decides which branch runs"));
  }
  return STOW_OK;
}

static stow_status tell_other(stowi_onnx_lowering* l, const branches* b, size_t k) {
  const stow_graph* graph = l->imp->graph;
  stowi_import_type_text first = stowi_import_type_text_of(graph, &b->types[k]);
  stowi_import_type_text second =
      stowi_import_type_text_of(graph, stow_graph_type(graph, b->values[k]));
  deciders d = deciders_of(l);
  for (size_t i = 0; i < d.count; ++i) {
    stow_str input = stow_graph_value_name(graph, d.inputs[i]);
    STOW_TRY(
        stowi_import_add_issue(l->imp, STOW_IMPORT_NEEDS_VALUE, l->node, input,
                               "the value of input \"%.*s\" decides between branches that make %s "
                               "and %s of result %zu",
                               STOWI_STR_ARG(input), first.text, second.text, k));
  }
  if (d.count != 0) {
    return STOW_OK;
  }
  return stowi_import_add_issue(
      l->imp, STOW_IMPORT_NEEDS_VALUE, l->node, stow_str_of(""),
      "%s between branches that make %s and %s of result %zu",
      d.is_opaque ? "computed data decides" : "dims without a value decide", first.text,
      second.text, k);
}

// Where dims that a condition depends on are compared, and not always in the same order.
static bool find_split(const stow_graph* graph, stow_value value, size_t* steps, size_t* out_symbol,
                       int64_t* out_at) {
  stow_node node = stow_graph_producer(graph, value);
  size_t count = stow_graph_operand_count(graph, node);
  if (stow_graph_is_known(graph, value) || ++*steps > MAX_DECIDING_STEPS) {
    return false;
  }
  const stow_value* operands = stow_graph_operands(graph, node);
  stow_op op = stow_graph_op(graph, node);
  bool compares = op == STOW_OP_EQ || op == STOW_OP_NE || op == STOW_OP_LT || op == STOW_OP_LE ||
                  op == STOW_OP_GT || op == STOW_OP_GE;
  stow_dim a = count == 0 ? STOW_DIM_INVALID : stow_graph_known(graph, operands[0], 0);
  stow_dim b = compares ? stow_graph_known(graph, operands[1], 0) : 0;  // a bool: not 0
  bool is_found = (compares || op == STOW_OP_CAST) && a != STOW_DIM_INVALID &&
                  stow_dim_split(stow_graph_dims(graph), a, b, out_symbol, out_at);
  for (size_t i = 0; !is_found && i < count; ++i) {
    is_found =
        operands[i] != STOW_VALUE_NONE && find_split(graph, operands[i], steps, out_symbol, out_at);
  }
  return is_found;
}

// A condition that holds for a part of a range: each part has a branch of its own.
static stow_status check_range(stowi_onnx_lowering* l) {
  const stow_graph* graph = l->imp->graph;
  size_t steps = 0;
  size_t symbol;
  int64_t at;
  stow_value condition = stowi_onnx_lower_operand(l, 0);
  if (condition == STOW_VALUE_NONE || !find_split(graph, condition, &steps, &symbol, &at)) {
    return STOW_OK;
  }
  stow_str name = stow_dims_symbol_name(stow_graph_dims(graph), symbol);
  stowi_fail(l->imp->diag, STOW_ERR_TYPE,
             "its branch depends on \"%.*s\"; dividing its range at %lld may decide it",
             STOWI_STR_ARG(name), (long long)at);
  stowi_diag_split(l->imp->diag, name, at);
  return STOW_ERR_TYPE;
}

static stow_status add_both(stowi_onnx_lowering* l, branches* b) {
  bool has_then;
  bool has_else;
  size_t other;
  STOW_TRY(add_then(l, b, &has_then));
  STOW_TRY(add_else(l, b, has_then, &has_else, &other));
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_IF);
  stow_call_operand(call, stowi_onnx_lower_operand(l, 0));
  if (has_else && other == b->count) {
    STOW_TRY(stowi_onnx_lower_finish_results(l, call, 0, b->count));
    return tell_deciders(l);
  }
  stow_value unused;
  STOW_TRY(stowi_onnx_lower_finish(l, call, &unused));
  return has_else ? tell_other(l, b, other) : tell_deciders(l);
}

static bool is_known_bool(const stow_graph* graph, stow_value value, bool* out_truth) {
  int64_t number = 0;
  bool is_known = value != STOW_VALUE_NONE && stow_graph_is_known(graph, value) &&
                  stow_graph_known_int(graph, value, 0, &number);
  *out_truth = number != 0;
  return is_known;
}

static const stowi_onnx_choice* find_choice(const stowi_onnx_lowering* l, const branches* b) {
  const stowi_onnx_choices* choices = l->onnx->choices;
  for (size_t i = 0; i < choices->list.count; ++i) {
    const stowi_onnx_choice* choice = &choices->list.data[i];
    if (choice->node == l->node && choice->ordinal == b->ordinal) {
      return choice;
    }
  }
  return NULL;
}

static stow_status lower_branches(stowi_onnx_lowering* l, branches* b) {
  bool truth;
  const stowi_onnx_choice* choice = find_choice(l, b);
  if (is_known_bool(l->imp->graph, stowi_onnx_lower_operand(l, 0), &truth)) {
    return take_branch(l, b, truth ? b->then_graph : b->else_graph);
  }
  if (choice != NULL) {
    STOW_TRY(stowi_import_add_issue(l->imp, STOW_IMPORT_BRANCH, l->node, stow_str_of(""),
                                    "only the %s branch fits the shapes, so it is taken",
                                    choice->takes_then ? "then" : "else"));
    return take_branch(l, b, choice->takes_then ? b->then_graph : b->else_graph);
  }
  STOW_TRY(check_range(l));
  return add_both(l, b);
}

static stow_status lower_if(stowi_onnx_lowering* l) {
  stow_allocator allocator = l->imp->allocator;
  branches b = {.then_graph = stowi_onnx_lower_subgraph(l, "then_branch"),
                .else_graph = stowi_onnx_lower_subgraph(l, "else_branch"),
                .ordinal = l->onnx->lowered};
  if (b.then_graph == NULL || b.else_graph == NULL || l->operand_count != 1) {
    return stowi_fail(l->imp->diag, STOW_ERR_SYNTAX, "needs a condition and two branches");
  }
  b.count = b.then_graph->output_count;
  if (b.count != b.else_graph->output_count || b.count < l->result_count) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE,
                      "the branches have %zu and %zu outputs, the node %zu", b.count,
                      b.else_graph->output_count, l->result_count);
  }
  b.values = STOWI_ARRAY(allocator, stow_value, b.count);
  b.kept = STOWI_ARRAY(allocator, stow_value, b.count);
  b.types = STOWI_ARRAY(allocator, stow_type, b.count);
  stow_status status = b.values == NULL || b.kept == NULL || b.types == NULL
                           ? stowi_import_memory(l->imp)
                           : lower_branches(l, &b);
  STOWI_ARRAY_FREE(allocator, b.values, b.count);
  STOWI_ARRAY_FREE(allocator, b.kept, b.count);
  STOWI_ARRAY_FREE(allocator, b.types, b.count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Rows

static const stowi_onnx_lower_row rows[] = {
    ONLY_BY("Constant", 1, CONSTANT, stowi_onnx_lower_constant_node),
    ONLY_BY("If", 1, IF, lower_if),
    ONLY_BY("Loop", 1, LOOP, stowi_onnx_lower_loop),
    ONLY_BY("Scan", 8, LOOP, stowi_onnx_lower_scan_batch),
    ONLY_BY("Scan", 9, LOOP, stowi_onnx_lower_scan),
};

const stowi_onnx_lower_table stowi_onnx_lower_control_table = {LIST(rows)};
