// FlexAttention. Without modifiers it is the core's `flex_attention`.
//
// A modifier is a graph of the model's, from all scores (or probabilities) to as many. Then the
// parts of attention take the node's place, and the nodes of the modifiers stand between them:
//
//     scores = q kᵀ scale, in the precision of the softmax
//     probabilities = softmax(score_mod(scores))
//     result = prob_mod(probabilities) v, in the precision of q
//
// Heads of q that share one of k and v are rows of one product: q [B, H, L, D] is looked at as
// [B, K, L H / K, D], so that k and v are never repeated. Scores are held as a whole, since a
// modifier may look at all of them: that is O(B H L S) memory.
#include "base/root.h"
#include "onnx/import/importer.h"
#include "onnx/lower/rows.h"

enum { Q, K, V };
enum { HEADS = 1, SIZE = 3, RANK = 4 };

typedef struct flex {
  stowi_onnx_lowering* l;
  stow_dtype precision;  // of softmax and modifiers
  // Shapes by which heads of q become rows of those that they share, and heads again;
  // STOW_VALUE_NONE where q has as many heads as k and v.
  stow_value to_rows, to_heads;
} flex;

static stow_status finish(flex* f, stow_call* call, bool is_last, stow_value* out_value) {
  return is_last ? stowi_onnx_lower_finish_results(f->l, call, 0, 1)
                 : stowi_onnx_lower_finish(f->l, call, out_value);
}

// ---------------------------------------------------------------------------------------------
// What is asked for

static stow_status check_modifier(stowi_onnx_lowering* l, const char* name, bool* out_is_there) {
  const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, name);
  *out_is_there = attr != NULL;
  if (attr == NULL) {
    return STOW_OK;
  }
  if (attr->type != STOWI_ONNX_ATTR_GRAPH || attr->graph == NULL) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "attribute \"%s\" must be a graph", name);
  }
  if (attr->graph->input_count != 1 || attr->graph->output_count != 1) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE,
                      "%s has %zu inputs and %zu outputs, expected one of each", name,
                      attr->graph->input_count, attr->graph->output_count);
  }
  return STOW_OK;
}

static stow_status read_precision(flex* f) {
  stow_dtype dtype = stowi_onnx_lower_type(f->l, Q)->dtype;
  int64_t elem = stowi_onnx_lower_int(f->l, "softmax_precision", 0);
  f->precision = dtype == STOW_F64 ? STOW_F64 : STOW_F32;
  if (elem != 0 &&
      (elem < 0 || elem > INT32_MAX || !stowi_onnx_elem_dtype((int32_t)elem, &f->precision))) {
    return stowi_onnx_lower_unsupported(f->l, "element type %lld is not supported",
                                        (long long)elem);
  }
  return STOW_OK;
}

// [B, .., .., D] with |heads| in its second dim.
static stow_status add_shape(flex* f, int64_t heads, stow_value* out_shape) {
  const int64_t dims[RANK] = {0, heads, -1, 0};
  return stowi_onnx_lower_constant_i64(f->l, dims, RANK, false, out_shape);
}

// The core's op has checked that heads fit each other.
static stow_status read_heads(flex* f) {
  stow_dim heads = stowi_onnx_lower_type(f->l, Q)->dims[HEADS];
  stow_dim shared = stowi_onnx_lower_type(f->l, K)->dims[HEADS];
  if (heads == shared) {
    return STOW_OK;
  }
  if (!stow_dim_is_const(heads) || !stow_dim_is_const(shared)) {
    return stowi_onnx_lower_unsupported(f->l, "the number of query heads per key head is unknown");
  }
  STOW_TRY(add_shape(f, shared, &f->to_rows));
  return add_shape(f, heads, &f->to_heads);
}

// ---------------------------------------------------------------------------------------------
// Parts

static stow_status reshape(flex* f, stow_value shape, bool is_last, stow_value* value) {
  if (shape == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  stow_call* call = stowi_onnx_lower_begin(f->l, STOW_OP_RESHAPE);
  stow_call_operand(call, *value);
  stow_call_operand(call, shape);
  return finish(f, call, is_last, value);
}

static stow_status cast(flex* f, stow_dtype dtype, bool is_last, stow_value* value) {
  if (stow_graph_type(f->l->imp->graph, *value)->dtype == dtype) {
    return STOW_OK;
  }
  stow_call* call = stowi_onnx_lower_begin(f->l, STOW_OP_CAST);
  stow_call_operand(call, *value);
  stow_call_attr_string(call, "to", stow_str_of(stow_dtype_name(dtype)));
  return finish(f, call, is_last, value);
}

static stow_status read_scale(flex* f, double* out_scale) {
  stow_dim size = stowi_onnx_lower_type(f->l, Q)->dims[SIZE];
  bool is_given = stowi_onnx_lower_attr(f->l, "scale") != NULL;
  *out_scale = is_given ? stowi_onnx_lower_float(f->l, "scale", 1) : 1;
  if (!is_given && !stow_dim_is_const(size)) {
    return stowi_onnx_lower_unsupported(f->l,
                                        "the size of a head is unknown, and no scale is given");
  }
  if (!is_given && size > 0) {
    *out_scale = 1 / stowi_square_root((double)size);
  }
  return STOW_OK;
}

static stow_status add_scores(flex* f, stow_value* out_scores) {
  double scale;
  stow_value q = stowi_onnx_lower_operand(f->l, Q);
  STOW_TRY(read_scale(f, &scale));
  STOW_TRY(reshape(f, f->to_rows, false, &q));
  stow_call* call = stowi_onnx_lower_begin(f->l, STOW_OP_FUSED_MATMUL);
  stow_call_operand(call, q);
  stow_call_operand(call, stowi_onnx_lower_operand(f->l, K));
  stow_call_attr_float(call, "alpha", scale);
  stow_call_attr_bool(call, "trans_b", true);
  STOW_TRY(stowi_onnx_lower_finish(f->l, call, out_scores));
  STOW_TRY(reshape(f, f->to_heads, false, out_scores));
  return cast(f, f->precision, false, out_scores);
}

static stow_status add_result(flex* f, stow_value probabilities) {
  stow_value v = stowi_onnx_lower_operand(f->l, V);
  stow_dtype dtype = stowi_onnx_lower_type(f->l, Q)->dtype;
  bool is_cast = dtype != f->precision;
  STOW_TRY(cast(f, f->precision, false, &v));
  STOW_TRY(reshape(f, f->to_rows, false, &probabilities));
  stow_call* call = stowi_onnx_lower_begin(f->l, STOW_OP_MATMUL);
  stow_call_operand(call, probabilities);
  stow_call_operand(call, v);
  stow_value result;
  STOW_TRY(finish(f, call, !is_cast && f->to_heads == STOW_VALUE_NONE, &result));
  STOW_TRY(reshape(f, f->to_heads, !is_cast, &result));
  return is_cast ? cast(f, dtype, true, &result) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Modifiers

static stow_status import_modifier(flex* f, const stowi_onnx_graph* graph, stow_value* value) {
  stowi_import_importer* imp = f->l->imp;
  // Else the parts so far would be said to come of the modifier's first node.
  STOW_TRY(stowi_import_note_origins(imp, f->l->node));
  stowi_import_scope scope = stowi_import_enter(imp, false);
  stow_status status = stowi_import_bind(imp, graph->inputs[0].name, *value, STOWI_IMPORT_VALUE);
  status = status == STOW_OK ? stowi_onnx_import_inner(f->l->onnx, graph, value) : status;
  stowi_import_leave(imp, scope);
  return status;
}

static stow_status fail_type(flex* f, const char* name, const char* verb, const stow_type* needed,
                             const stow_type* found) {
  const stow_graph* graph = f->l->imp->graph;
  stowi_import_type_text needs = stowi_import_type_text_of(graph, needed);
  stowi_import_type_text has = stowi_import_type_text_of(graph, found);
  return stowi_fail(f->l->imp->diag, STOW_ERR_TYPE, "%s %s %s, expected %s", name, verb, has.text,
                    needs.text);
}

// Puts the modifier |name|, where there is one, in the way of |value|. STOW_VALUE_NONE where it
// could not be imported, for which there is an issue. Dims that the graph declares for its input
// are not looked at: exporters write what holds for one binding.
static stow_status modify(flex* f, const char* name, stow_value* value) {
  const stowi_onnx_graph* graph = stowi_onnx_lower_subgraph(f->l, name);
  if (graph == NULL || *value == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  stowi_import_importer* imp = f->l->imp;
  stow_type given = *stow_graph_type(imp->graph, *value);
  stow_type declared;
  stowi_import_info info = stowi_onnx_info(&graph->inputs[0]);
  if (stowi_import_declared_type(imp, &info, &declared) &&
      (declared.dtype != given.dtype || declared.rank != given.rank)) {
    return fail_type(f, name, "takes", &given, &declared);
  }
  STOW_TRY(import_modifier(f, graph, value));
  if (*value == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  stow_type made = *stow_graph_type(imp->graph, *value);
  return stowi_import_types_differ(&given, &made) ? fail_type(f, name, "makes", &given, &made)
                                                  : STOW_OK;
}

static stow_status lower_parts(stowi_onnx_lowering* l) {
  flex f = {.l = l, .to_rows = STOW_VALUE_NONE, .to_heads = STOW_VALUE_NONE};
  stow_value value;
  STOW_TRY(read_precision(&f));
  STOW_TRY(read_heads(&f));
  STOW_TRY(add_scores(&f, &value));
  STOW_TRY(modify(&f, "score_mod", &value));
  if (value != STOW_VALUE_NONE) {
    stow_call* call = stowi_onnx_lower_begin(f.l, STOW_OP_SOFTMAX);
    stow_call_operand(call, value);
    stow_call_attr_int(call, "axis", -1);
    STOW_TRY(stowi_onnx_lower_finish(f.l, call, &value));
  }
  STOW_TRY(modify(&f, "prob_mod", &value));
  return value == STOW_VALUE_NONE ? STOW_OK : add_result(&f, value);
}

stow_status stowi_onnx_lower_flex_attention(stowi_onnx_lowering* l) {
  const stowi_onnx_lower_row* row = l->row;
  bool has_score_mod;
  bool has_prob_mod;
  STOW_TRY(check_modifier(l, "score_mod", &has_score_mod));
  STOW_TRY(check_modifier(l, "prob_mod", &has_prob_mod));
  stow_call* call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, row->attrs, row->attr_count));
  if (!has_score_mod && !has_prob_mod) {
    return stowi_onnx_lower_finish_results(l, call, 0, 1);
  }
  // The op only checks here that its operands fit.
  const stow_type* types;
  size_t count;
  STOW_TRY(stow_call_infer(call, l->imp->diag, &types, &count));
  if (types[0].rank != RANK) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "q has rank %u, expected 4", types[0].rank);
  }
  stow_graph_cancel(l->imp->graph);
  return lower_parts(l);
}
