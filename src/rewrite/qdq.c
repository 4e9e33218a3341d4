// dequantize_linear → op → quantize_linear becomes an op on integers (near).
//
// Three steps, repeated until none changes anything:
// - A node between that the core has for integers becomes that one (qdq_products.c, qdq_others.c).
//   ReLU and clip before the quantize_linear vanish where saturation does what they do.
// - A node that only moves elements moves integers, and dequantize_linear comes after it. That
//   changes no bit. It must not be the second reader, which would need floats of its own.
// - quantize_linear of what was dequantised with the same scale gives the integers back:
//   (q - zero) × scale / scale is within 2^-6 of an integer of 16 bits.
//
// How far results are from those of the floats is said at each op; it never is more than one.
#include "rewrite/qdq.h"

#include <math.h>

#include "base/diag.h"
#include "rewrite/rules.h"

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stow_node* reader;  // by value: the last node that reads it
  bool* may_go;       // by node: of a pattern
} finder;

// ---------------------------------------------------------------------------------------------
// Patterns

// A bound of `clip`: an operand, otherwise an attribute.
static bool read_bound(const stow_graph* graph, stow_node node, size_t k, const char* name,
                       double* out) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  *out = attr->f;
  stow_value value = k < stow_graph_operand_count(graph, node) ? stow_graph_operands(graph, node)[k]
                                                               : STOW_VALUE_NONE;
  return value == STOW_VALUE_NONE ||
         (isinf(attr->f) && stow_graph_known_float(graph, value, 0, out));
}

// Whether values beyond the bounds are quantised to the least and the largest number anyway.
// Quantising is monotone.
static bool is_implied(const stowi_rewrite_qdq* qdq, stow_node node) {
  const stow_graph* graph = qdq->pass->graph;
  const stowi_rewrite_quant* out = &qdq->out;
  stow_op op = stow_graph_op(graph, node);
  double low = 0, high = INFINITY;
  if (op == STOW_OP_CLIP) {
    if (!read_bound(graph, node, 1, "min", &low) || !read_bound(graph, node, 2, "max", &high)) {
      return false;
    }
  } else if (op != STOW_OP_RELU) {
    return false;
  }
  return stowi_rewrite_quantize(graph, out, (float)low) == stowi_rewrite_least(out->dtype) &&
         stowi_rewrite_quantize(graph, out, (float)high) == stowi_rewrite_most(out->dtype);
}

static bool is_dequantize(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_DEQUANTIZE_LINEAR;
}

bool stowi_rewrite_qdq_find(const stowi_rewrite_pass* pass, stow_node quantize,
                            stowi_rewrite_qdq* out) {
  const stow_graph* graph = pass->graph;
  *out = (stowi_rewrite_qdq){.pass = pass, .quantize = quantize};
  if (stow_graph_op(graph, quantize) != STOW_OP_QUANTIZE_LINEAR ||
      stowi_rewrite_is_barrier(graph, quantize) || stowi_rewrite_is_bounded(graph, quantize) ||
      !stowi_rewrite_quant_read(graph, quantize, &out->out) || out->out.count != 1 ||
      out->out.dtype == STOW_I32) {
    return false;
  }
  out->node = stow_graph_producer(graph, stow_graph_operands(graph, quantize)[0]);
  while (out->skipped_count < STOWI_REWRITE_QDQ_SKIPPED && is_implied(out, out->node)) {
    out->skipped[out->skipped_count++] = out->node;
    out->node = stow_graph_producer(graph, stow_graph_operands(graph, out->node)[0]);
  }
  return true;
}

bool stowi_rewrite_qdq_operand(const stowi_rewrite_qdq* qdq, size_t k,
                               stowi_rewrite_dequantized* out) {
  const stow_graph* graph = qdq->pass->graph;
  return k < stow_graph_operand_count(graph, qdq->node) &&
         stowi_rewrite_quant_of(graph, stow_graph_operands(graph, qdq->node)[k], out) &&
         stowi_rewrite_is_byte(out->quant.dtype) &&
         !stowi_bits_has(&qdq->pass->facts.fixed, out->value);
}

// ---------------------------------------------------------------------------------------------
// Adding nodes

stow_status stowi_rewrite_qdq_constant(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                       const stow_type* type, const int64_t* data, size_t count,
                                       const char* suffix, stow_value* out_value) {
  stow_node node;
  stow_call* call = stow_graph_begin(pass->copier.into, STOW_OP_CONSTANT);
  stow_call_attr_ints(call, "data", data, count);
  stow_call_result_type(call, type);
  stowi_rewrite_name(pass, call, change->first, suffix);
  stow_call_line(call, stow_graph_line(pass->graph, change->at));
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  *out_value = stow_graph_first_result(pass->copier.into, node);
  return STOW_OK;
}

size_t stowi_rewrite_qdq_missing(const stowi_rewrite_quant* quant) {
  return quant->zero == STOW_VALUE_NONE ? 1 : 0;
}

stow_status stowi_rewrite_qdq_zero(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                                   const stowi_rewrite_quant* quant, const char* suffix,
                                   stow_value* out_value) {
  if (quant->zero != STOW_VALUE_NONE) {
    *out_value = stowi_graph_copier_mapped(&pass->copier, quant->zero);
    return STOW_OK;
  }
  stow_type type = stow_type_make(quant->dtype, 0, NULL);
  return stowi_rewrite_qdq_constant(pass, change, &type, (int64_t[]){0}, 1, suffix, out_value);
}

void stowi_rewrite_qdq_put(stowi_rewrite_pass* pass, stow_call* call,
                           const stowi_rewrite_dequantized* x, stow_value zero) {
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, x->value));
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, x->quant.scale));
  stow_call_operand(call, zero);
}

void stowi_rewrite_qdq_put_out(stowi_rewrite_pass* pass, stow_call* call,
                               const stowi_rewrite_quant* out, stow_value zero) {
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, out->scale));
  stow_call_operand(call, zero);
}

// ---------------------------------------------------------------------------------------------
// Integer ops

// Whether |node|, of a pattern, is there for its quantize_linear alone.
static bool is_between(const finder* f, stow_node node, stow_node quantize) {
  const stowi_rewrite_facts* facts = &f->pass->facts;
  stow_value value = stow_graph_first_result(f->graph, node);
  return stow_graph_result_count(f->graph, node) == 1 && facts->readers[value] == 1 &&
         !stowi_bits_has(&facts->outputs, value) && !stowi_bits_has(&facts->fixed, value) &&
         !stowi_rewrite_is_barrier(f->graph, node) && !stowi_rewrite_is_bounded(f->graph, node) &&
         stow_graph_node_region(f->graph, node) == stow_graph_node_region(f->graph, quantize) &&
         !f->pass->is_dropped[node];
}

// A dequantize_linear may have other readers.
static bool is_alone(const finder* f, const stowi_rewrite_qdq* qdq) {
  bool is_alone = is_dequantize(f->graph, qdq->node) || is_between(f, qdq->node, qdq->quantize);
  for (size_t i = 0; i < qdq->skipped_count; ++i) {
    is_alone = is_alone && is_between(f, qdq->skipped[i], qdq->quantize);
  }
  return is_alone;
}

static stow_status fire(finder* f, const stowi_rewrite_qdq* qdq) {
  stow_node nodes[STOWI_REWRITE_QDQ_SKIPPED + 2];
  size_t count = 0;
  nodes[count++] = qdq->node;
  for (size_t i = qdq->skipped_count; i-- > 0;) {
    nodes[count++] = qdq->skipped[i];
  }
  nodes[count++] = qdq->quantize;
  for (size_t i = 0; i + 1 < count; ++i) {
    f->may_go[nodes[i]] = true;
  }
  for (size_t k = 0; k < stow_graph_operand_count(f->graph, qdq->node); ++k) {
    stow_value operand = stow_graph_operands(f->graph, qdq->node)[k];
    stow_node producer =
        operand == STOW_VALUE_NONE ? STOW_NODE_NONE : stow_graph_producer(f->graph, operand);
    if (producer != STOW_NODE_NONE && is_dequantize(f->graph, producer) &&
        !stowi_rewrite_is_barrier(f->graph, producer)) {
      f->may_go[producer] = true;
    }
  }
  return stowi_rewrite_fire(f->pass, nodes, count);
}

static bool change_to(finder* f, const stowi_rewrite_qdq* qdq, const stowi_rewrite_qdq_row* rows,
                      stowi_rewrite_change* change) {
  bool is_byte = stowi_rewrite_is_byte(qdq->out.dtype);
  for (const stowi_rewrite_qdq_row* row = rows; is_byte && row->fits != NULL; ++row) {
    if (row->op == stow_graph_op(f->graph, qdq->node) && row->fits(qdq, &change->before)) {
      change->add = row->add;
      return true;
    }
  }
  return false;
}

// What was dequantised with the same scale stands for the result.
static bool is_undone(const finder* f, const stowi_rewrite_qdq* qdq, stow_value result,
                      stow_value* out_value) {
  stowi_rewrite_dequantized x;
  bool is_undone =
      is_dequantize(f->graph, qdq->node) &&
      stowi_rewrite_quant_of(f->graph, stow_graph_first_result(f->graph, qdq->node), &x) &&
      stowi_rewrite_quant_same(f->graph, &x.quant, &qdq->out);
  *out_value = is_undone ? stowi_rewrite_read(f->pass, x.value) : STOW_VALUE_NONE;
  return is_undone && stowi_rewrite_can_stand_for(f->pass, *out_value, result);
}

static stow_status visit_quantize(finder* f, stow_node node) {
  stowi_rewrite_qdq qdq;
  stow_value other;
  stow_value result = stow_graph_first_result(f->graph, node);
  if (!stowi_rewrite_qdq_find(f->pass, node, &qdq) || !is_alone(f, &qdq) ||
      stowi_bits_has(&f->pass->facts.fixed, result)) {
    return STOW_OK;
  }
  if (is_undone(f, &qdq, result, &other)) {
    stowi_rewrite_stand_for(f->pass, other, result);
    f->pass->is_dropped[node] = true;
    return fire(f, &qdq);
  }
  stowi_rewrite_change change = {.at = node, .first = result, .count = 1};
  if (change_to(f, &qdq, stowi_rewrite_qdq_products, &change) ||
      change_to(f, &qdq, stowi_rewrite_qdq_others, &change)) {
    STOW_TRY(stowi_rewrite_change_at(f->pass, &change));
    return fire(f, &qdq);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes that move elements

static bool has_zeros(const stow_graph* graph, stow_node node, const char* name) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  bool all = true;
  for (size_t i = 0; attr != NULL && i < attr->count; ++i) {
    all = all && attr->ints[i] == 0;
  }
  return all;
}

static bool is_attr(const stow_graph* graph, stow_node node, const char* name, const char* text) {
  const stow_attr* attr = stow_graph_attr(graph, node, name);
  return attr != NULL && stow_str_equal(attr->s, stow_str_of(text));
}

typedef enum motion {
  NO_MOTION,
  FREE,     // each element is one of the operand's
  TO_BYTES  // only before a quantize_linear: more elements, or a window without any
} motion;

static motion motion_of_pool(const stow_graph* graph, stow_node node, stow_dtype dtype) {
  if (!is_attr(graph, node, "op", "max") || stow_graph_result_count(graph, node) != 1 ||
      !stowi_rewrite_is_byte(dtype)) {
    return NO_MOTION;
  }
  bool has_no_pads = has_zeros(graph, node, "pads") && is_attr(graph, node, "auto_pad", "notset") &&
                     !stow_graph_attr(graph, node, "ceil_mode")->b;
  return has_no_pads ? FREE : TO_BYTES;
}

// Padding with 0, which is the zero point.
static motion motion_of_pad(const stow_graph* graph, stow_node node) {
  double number = 0;
  stow_value value = stow_graph_operand_count(graph, node) > 1 ? stow_graph_operands(graph, node)[1]
                                                               : STOW_VALUE_NONE;
  bool is_zero =
      value == STOW_VALUE_NONE || (stow_graph_known_float(graph, value, 0, &number) && number == 0);
  return is_zero || !is_attr(graph, node, "mode", "constant") ? FREE : NO_MOTION;
}

static motion motion_of(const stow_graph* graph, stow_node node, stow_dtype dtype) {
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_RESHAPE:
    case STOW_OP_SQUEEZE:
    case STOW_OP_UNSQUEEZE:
    case STOW_OP_FLATTEN:
    case STOW_OP_TRANSPOSE:
    case STOW_OP_NARROW:
    case STOW_OP_SLICE:
    case STOW_OP_SPLIT:
    case STOW_OP_CONCAT:
    case STOW_OP_GATHER:
    case STOW_OP_DEPTH_TO_SPACE:
    case STOW_OP_SPACE_TO_DEPTH: return FREE;
    case STOW_OP_EXPAND:
    case STOW_OP_TILE: return TO_BYTES;
    case STOW_OP_RESIZE:
      return is_attr(graph, node, "mode", "nearest") &&
                     !is_attr(graph, node, "coordinates", "tf_crop_and_resize")
                 ? TO_BYTES
                 : NO_MOTION;
    case STOW_OP_POOL: return motion_of_pool(graph, node, dtype);
    case STOW_OP_PAD: return motion_of_pad(graph, node);
    default: return NO_MOTION;
  }
}

// Operands whose elements are moved: all of a concat, otherwise the first.
static size_t moved_count(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_CONCAT ? stow_graph_operand_count(graph, node) : 1;
}

// Whether all that is moved is dequantised in the same way.
static bool read_moved(const stowi_rewrite_pass* pass, stow_node node,
                       stowi_rewrite_dequantized* out) {
  bool is_good = stow_graph_operand_count(pass->graph, node) > 0;
  for (size_t k = 0; is_good && k < moved_count(pass->graph, node); ++k) {
    stowi_rewrite_dequantized x;
    is_good = stowi_rewrite_quant_of(pass->graph, stow_graph_operands(pass->graph, node)[k], &x) &&
              x.quant.dtype != STOW_I32 && !stowi_bits_has(&pass->facts.fixed, x.value) &&
              stowi_rewrite_quant_same(pass->graph, &x.quant, k == 0 ? &x.quant : &out->quant);
    *out = k == 0 ? x : *out;
  }
  return is_good;
}

// Whether nothing else reads what is moved.
static bool is_only_reader(const finder* f, stow_node node) {
  const stowi_rewrite_facts* facts = &f->pass->facts;
  bool is_only = true;
  for (size_t k = 0; k < moved_count(f->graph, node); ++k) {
    stow_value value = stow_graph_operands(f->graph, node)[k];
    is_only = is_only && facts->readers[value] == 1 && !stowi_bits_has(&facts->outputs, value);
  }
  return is_only;
}

// Whether each result is only quantised again in the same way.
static bool is_quantized_again(const finder* f, stow_node node, const stowi_rewrite_quant* quant) {
  bool all = true;
  for (size_t k = 0; all && k < stow_graph_result_count(f->graph, node); ++k) {
    stowi_rewrite_quant out;
    stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
    all = f->pass->facts.readers[value] == 1 && !stowi_bits_has(&f->pass->facts.outputs, value) &&
          stow_graph_op(f->graph, f->reader[value]) == STOW_OP_QUANTIZE_LINEAR &&
          stowi_rewrite_quant_read(f->graph, f->reader[value], &out) &&
          stowi_rewrite_quant_same(f->graph, &out, quant);
  }
  return all;
}

static bool has_fixed_result(const finder* f, stow_node node) {
  bool has = false;
  for (size_t k = 0; k < stow_graph_result_count(f->graph, node); ++k) {
    stow_value value = stow_graph_first_result(f->graph, node) + (stow_value)k;
    has = has || stowi_bits_has(&f->pass->facts.fixed, value);
  }
  return has;
}

// Whether a `pad` needs the zero point as the number that it pads with.
static bool pads_with_zero(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_PAD && is_attr(graph, node, "mode", "constant");
}

// Operand |k| of |node| as that of integers. What a `pad` pads with is |zero| or nothing.
static stow_value moved_operand(const stowi_rewrite_pass* pass, stow_node node, size_t k,
                                stow_value zero) {
  const stow_graph* graph = pass->graph;
  if (stow_graph_op(graph, node) == STOW_OP_PAD && k == 1) {
    return zero;
  }
  stow_value operand = stow_graph_operands(graph, node)[k];
  if (k < moved_count(graph, node)) {
    operand = stow_graph_operands(graph, stow_graph_producer(graph, operand))[0];
  }
  return stowi_graph_copier_mapped(&pass->copier, operand);
}

static stow_status add_motion(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                              const stowi_rewrite_dequantized* x, stow_value* out_first) {
  const stow_graph* graph = pass->graph;
  stow_node node = change->at;
  stow_value zero = STOW_VALUE_NONE;
  if (pads_with_zero(graph, node)) {
    int64_t number = stowi_rewrite_quant_zero(graph, &x->quant, 0);
    stow_type type = stow_type_make(x->quant.dtype, 0, NULL);
    STOW_TRY(stowi_rewrite_qdq_constant(pass, change, &type, &number, 1, ".zero", &zero));
  }
  size_t given = stow_graph_operand_count(graph, node);
  size_t count = zero != STOW_VALUE_NONE && given < 2 ? 2 : given;
  stow_call* call = stow_graph_begin(pass->copier.into, stow_graph_op(graph, node));
  for (size_t k = 0; k < count; ++k) {
    stow_call_operand(call, moved_operand(pass, node, k, zero));
  }
  stowi_rewrite_copy_attrs(pass, call, node);
  for (size_t k = 0; k < change->count; ++k) {
    stow_type type = stowi_graph_copier_type(&pass->copier, change->first + (stow_value)k);
    type.dtype = x->quant.dtype;
    stow_call_result_type(call, &type);
  }
  stow_call_line(call, stow_graph_line(graph, node));
  stow_node added;
  STOW_TRY(stow_call_finish(call, pass->diag, &added));
  *out_first = stow_graph_first_result(pass->copier.into, added);
  return STOW_OK;
}

static stow_status add_moved(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_dequantized x = {0};
  stow_value first;
  (void)read_moved(pass, change->at, &x);
  STOW_TRY(add_motion(pass, change, &x, &first));
  for (size_t k = 0; k < change->count; ++k) {
    stowi_rewrite_change one = *change;
    one.first = change->first + (stow_value)k;
    one.count = 1;
    stow_call* call = stowi_rewrite_begin(pass, &one, STOW_OP_DEQUANTIZE_LINEAR);
    stow_call_operand(call, first + (stow_value)k);
    stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, x.quant.scale));
    if (x.quant.zero != STOW_VALUE_NONE) {
      stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, x.quant.zero));
    }
    STOW_TRY(stow_call_finish(call, pass->diag, NULL));
  }
  return STOW_OK;
}

static stow_status visit_motion(finder* f, stow_node node) {
  stowi_rewrite_dequantized x = {0};
  if (!read_moved(f->pass, node, &x) || stowi_rewrite_is_bounded(f->graph, node) ||
      has_fixed_result(f, node)) {
    return STOW_OK;
  }
  motion how = motion_of(f->graph, node, x.quant.dtype);
  if (how == NO_MOTION ||
      !((how == FREE && is_only_reader(f, node)) || is_quantized_again(f, node, &x.quant))) {
    return STOW_OK;
  }
  stowi_rewrite_change change = {.at = node,
                                 .first = stow_graph_first_result(f->graph, node),
                                 .count = stow_graph_result_count(f->graph, node),
                                 .add = add_moved};
  change.before = change.count + (pads_with_zero(f->graph, node) ? 1 : 0);
  for (size_t k = 0; k < moved_count(f->graph, node); ++k) {
    f->may_go[stow_graph_producer(f->graph, stow_graph_operands(f->graph, node)[k])] = true;
  }
  STOW_TRY(stowi_rewrite_change_at(f->pass, &change));
  return stowi_rewrite_fire(f->pass, (stow_node[]){x.node, node}, 2);
}

// ---------------------------------------------------------------------------------------------

static void find_readers(finder* f) {
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    for (size_t k = 0; k < stow_graph_operand_count(f->graph, node); ++k) {
      stow_value operand = stow_graph_operands(f->graph, node)[k];
      if (operand != STOW_VALUE_NONE) {
        f->reader[operand] = node;
      }
    }
  }
}

static bool may_go(const void* user, stow_node node) { return ((const finder*)user)->may_go[node]; }

static stow_status find_patterns(finder* f) {
  STOW_TRY(stowi_need_memory(f->reader != NULL && f->may_go != NULL, f->pass->diag));
  find_readers(f);
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    if (stow_graph_op(f->graph, node) == STOW_OP_QUANTIZE_LINEAR) {
      STOW_TRY(visit_quantize(f, node));
    } else if (!stowi_rewrite_is_barrier(f->graph, node)) {
      STOW_TRY(visit_motion(f, node));
    }
  }
  stowi_rewrite_drop_unread(f->pass, may_go, f);
  return STOW_OK;
}

stow_status stowi_rewrite_qdq_all(stowi_rewrite_pass* pass) {
  uint32_t nodes = stow_graph_node_count(pass->graph);
  uint32_t values = stow_graph_value_count(pass->graph);
  finder f = {.pass = pass,
              .graph = pass->graph,
              .reader = STOWI_ARRAY(pass->allocator, stow_node, values),
              .may_go = STOWI_ARRAY_ZERO(pass->allocator, bool, nodes)};
  stow_status status = find_patterns(&f);
  STOWI_ARRAY_FREE(pass->allocator, f.reader, values);
  STOWI_ARRAY_FREE(pass->allocator, f.may_go, nodes);
  return status;
}
