// Integer ops for patterns other than products, and how far they are from floats.
#include "base/diag.h"
#include "rewrite/qdq.h"

// ---------------------------------------------------------------------------------------------
// One operand: x, scale, zero, result's scale, zero

static bool fits_unary(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  stowi_rewrite_dequantized x;
  if (!stowi_rewrite_qdq_operand(qdq, 0, &x) || x.quant.count != 1) {
    return false;
  }
  *out_before = stowi_rewrite_qdq_missing(&x.quant) + stowi_rewrite_qdq_missing(&qdq->out);
  return true;
}

static stow_status begin_unary(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               const stowi_rewrite_dequantized* x, const stowi_rewrite_quant* out,
                               stow_op op, stow_call** out_call) {
  stow_value x_zero, zero;
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &x->quant, ".x_zero", &x_zero));
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, out, ".zero", &zero));
  stow_call* call = stowi_rewrite_begin(pass, change, op);
  stowi_rewrite_qdq_put(pass, call, x, x_zero);
  stowi_rewrite_qdq_put_out(pass, call, out, zero);
  *out_call = call;
  return STOW_OK;
}

static stow_status add_unary(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                             stow_op op, stow_call** out_call, stow_node* out_node) {
  stowi_rewrite_qdq qdq;
  stowi_rewrite_dequantized x;
  (void)stowi_rewrite_qdq_find(pass, change->at, &qdq);
  (void)stowi_rewrite_qdq_operand(&qdq, 0, &x);
  *out_node = qdq.node;
  return begin_unary(pass, change, &x, &qdq.out, op, out_call);
}

// Sigmoid and leaky ReLU: a table of what dequantize_linear, the op and quantize_linear give for
// each of 256 numbers. The same bits.
static stow_status add_sigmoid(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_unary(pass, change, STOW_OP_QLINEAR_SIGMOID, &call, &node));
  return stow_call_finish(call, pass->diag, NULL);
}

static stow_status add_leaky_relu(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_unary(pass, change, STOW_OP_QLINEAR_LEAKY_RELU, &call, &node));
  stowi_rewrite_copy_attrs(pass, call, node);
  return stow_call_finish(call, pass->diag, NULL);
}

// ReLU is leaky with a slope of 0: −0 is quantised like 0. The same bits.
static stow_status add_relu(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_unary(pass, change, STOW_OP_QLINEAR_LEAKY_RELU, &call, &node));
  stow_call_attr_float(call, "alpha", 0.0);
  return stow_call_finish(call, pass->diag, NULL);
}

// Another scale and nothing else: a slope of 1. The same bits.
static bool fits_nothing(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  const stow_graph* graph = qdq->pass->graph;
  stowi_rewrite_dequantized x;
  if (!stowi_rewrite_quant_of(graph, stow_graph_first_result(graph, qdq->node), &x) ||
      !stowi_rewrite_is_byte(x.quant.dtype) || x.quant.count != 1 ||
      stowi_bits_has(&qdq->pass->facts.fixed, x.value)) {
    return false;
  }
  *out_before = stowi_rewrite_qdq_missing(&x.quant) + stowi_rewrite_qdq_missing(&qdq->out);
  return true;
}

static stow_status add_nothing(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_qdq qdq;
  stowi_rewrite_dequantized x;
  stow_call* call;
  (void)stowi_rewrite_qdq_find(pass, change->at, &qdq);
  (void)stowi_rewrite_quant_of(pass->graph, stow_graph_first_result(pass->graph, qdq.node), &x);
  STOW_TRY(begin_unary(pass, change, &x, &qdq.out, STOW_OP_QLINEAR_LEAKY_RELU, &call));
  stow_call_attr_float(call, "alpha", 1.0);
  return stow_call_finish(call, pass->diag, NULL);
}

// Softmax: numbers before exp are up to 255 scales from the largest and off by 2^-23 of that, which
// is what exp is off by, in both ways of computing it; sums and quotients add less than 2^-19. A
// result is at most 1, or that many quanta.
static bool fits_softmax(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  const stow_graph* graph = qdq->pass->graph;
  stowi_rewrite_dequantized x;
  if (!fits_unary(qdq, out_before) || !stowi_rewrite_qdq_operand(qdq, 0, &x)) {
    return false;
  }
  double from = (double)stowi_rewrite_quant_scale(graph, &x.quant, 0);
  double to = (double)stowi_rewrite_quant_scale(graph, &qdq->out, 0);
  return (2 * 255 * from * 0x1p-23 + 0x1p-18) / to < 1;
}

static stow_status add_softmax(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_unary(pass, change, STOW_OP_QLINEAR_SOFTMAX, &call, &node));
  stow_call_attr_int(call, "axis", stow_graph_attr(pass->graph, node, "axis")->i);
  stow_call_attr_int(call, "opset", stow_graph_attr(pass->graph, node, "flatten")->b ? 12 : 13);
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// Average pools: sums of integers are exact, and the average is scaled with an error of 2^-22 of
// itself, at most 255 quanta of x. Sums of floats are off by 2^-24 of the largest sum for each
// element.

static double window_size(const stow_graph* graph, stow_node node) {
  const stow_type* x = stow_graph_type(graph, stow_graph_operands(graph, node)[0]);
  const stow_attr* kernel = stow_graph_attr(graph, node, "kernel");
  bool is_global = stow_graph_attr(graph, node, "global")->b;
  double size = 1;
  for (uint32_t i = 0; is_global && i < x->rank; ++i) {
    size *= (double)x->dims[i];  // with batch and channels: no less than a window
  }
  for (size_t i = 0; !is_global && i < kernel->count; ++i) {
    size *= (double)kernel->ints[i];
  }
  return size;
}

static bool fits_pool(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  const stow_graph* graph = qdq->pass->graph;
  stowi_rewrite_dequantized x;
  if (!stow_str_equal(stow_graph_attr(graph, qdq->node, "op")->s, stow_str_of("avg")) ||
      !fits_unary(qdq, out_before) || !stowi_rewrite_qdq_operand(qdq, 0, &x) ||
      x.quant.dtype != qdq->out.dtype) {
    return false;
  }
  double ratio = (double)stowi_rewrite_quant_scale(graph, &x.quant, 0) /
                 (double)stowi_rewrite_quant_scale(graph, &qdq->out, 0);
  return (window_size(qdq->pass->sized, qdq->node) + 8) * 0x1p-24 * 255 * ratio < 1;
}

static bool is_for_integers(stow_str name) {
  return !stow_str_equal(name, stow_str_of("op")) &&
         !stow_str_equal(name, stow_str_of("column_major")) &&
         !stow_str_equal(name, stow_str_of("p"));
}

static stow_status add_pool(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_unary(pass, change, STOW_OP_QLINEAR_POOL, &call, &node));
  for (size_t i = 0; i < stow_graph_attr_count(pass->graph, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(pass->graph, node, i);
    if (is_for_integers(attr->name)) {
      stow_call_attr(call, attr);
    }
  }
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// Two operands. A sum is that of the numbers that dequantize_linear gives: the same bits. A product
// is that of integers, which is exact, times all scales: below 256 quanta it is off by 2^-14, as is
// that of the floats.

static bool fits_binary(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  stowi_rewrite_dequantized a, b;
  if (!stowi_rewrite_qdq_operand(qdq, 0, &a) || !stowi_rewrite_qdq_operand(qdq, 1, &b) ||
      a.quant.count != 1 || b.quant.count != 1 || a.quant.dtype != b.quant.dtype) {
    return false;
  }
  *out_before = stowi_rewrite_qdq_missing(&a.quant) + stowi_rewrite_qdq_missing(&b.quant) +
                stowi_rewrite_qdq_missing(&qdq->out);
  return true;
}

static stow_status add_binary(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_qdq qdq;
  stowi_rewrite_dequantized a, b;
  stow_value a_zero, b_zero, zero;
  (void)stowi_rewrite_qdq_find(pass, change->at, &qdq);
  (void)stowi_rewrite_qdq_operand(&qdq, 0, &a);
  (void)stowi_rewrite_qdq_operand(&qdq, 1, &b);
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &a.quant, ".a_zero", &a_zero));
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &b.quant, ".b_zero", &b_zero));
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &qdq.out, ".zero", &zero));
  bool is_sum = stow_graph_op(pass->graph, qdq.node) == STOW_OP_ADD;
  stow_call* call =
      stowi_rewrite_begin(pass, change, is_sum ? STOW_OP_QLINEAR_ADD : STOW_OP_QLINEAR_MUL);
  stowi_rewrite_qdq_put(pass, call, &a, a_zero);
  stowi_rewrite_qdq_put(pass, call, &b, b_zero);
  stowi_rewrite_qdq_put_out(pass, call, &qdq.out, zero);
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// Concat: tables as above. The same bits. Its zero points must be there.

static bool fits_concat(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  bool fits = qdq->out.zero != STOW_VALUE_NONE;
  for (size_t k = 0; fits && k < stow_graph_operand_count(qdq->pass->graph, qdq->node); ++k) {
    stowi_rewrite_dequantized x;
    fits = stowi_rewrite_qdq_operand(qdq, k, &x) && x.quant.count == 1 &&
           x.quant.zero != STOW_VALUE_NONE;
  }
  *out_before = 0;
  return fits;
}

static stow_status add_concat(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_qdq qdq;
  (void)stowi_rewrite_qdq_find(pass, change->at, &qdq);
  stow_call* call = stowi_rewrite_begin(pass, change, STOW_OP_QLINEAR_CONCAT);
  stowi_rewrite_qdq_put_out(pass, call, &qdq.out,
                            stowi_graph_copier_mapped(&pass->copier, qdq.out.zero));
  for (size_t k = 0; k < stow_graph_operand_count(pass->graph, qdq.node); ++k) {
    stowi_rewrite_dequantized x;
    (void)stowi_rewrite_qdq_operand(&qdq, k, &x);
    stowi_rewrite_qdq_put(pass, call, &x, stowi_graph_copier_mapped(&pass->copier, x.quant.zero));
  }
  stow_call_attr_int(call, "axis", stow_graph_attr(pass->graph, qdq.node, "axis")->i);
  return stow_call_finish(call, pass->diag, NULL);
}

const stowi_rewrite_qdq_row stowi_rewrite_qdq_others[] = {
    {STOW_OP_ADD, fits_binary, add_binary},
    {STOW_OP_MUL, fits_binary, add_binary},
    {STOW_OP_SIGMOID, fits_unary, add_sigmoid},
    {STOW_OP_LEAKY_RELU, fits_unary, add_leaky_relu},
    {STOW_OP_RELU, fits_unary, add_relu},
    {STOW_OP_DEQUANTIZE_LINEAR, fits_nothing, add_nothing},
    {STOW_OP_SOFTMAX, fits_softmax, add_softmax},
    {STOW_OP_POOL, fits_pool, add_pool},
    {STOW_OP_CONCAT, fits_concat, add_concat},
    {0},
};
