// Products of quantised tensors, and how far they are from those of floats.
//
// The sums of integers are exact: they must stay within 31 bits. They are scaled once, by a factor
// that was rounded twice, which moves a result of at most 512 quanta by less than 2^-13.
//
// The floats are rounded when they are dequantised, multiplied, added up and divided. Sums are
// ascending in k, in chains of 256 whose sums are then added (docs/kernels.md). A product is in as
// many of these sums as come after it, and each may be off by 2^-24 of the absolute products that
// it has. If all that is less than one quantum, so is the difference, and results are at most one
// apart. Bounds are those of the weights, if they have data, with the largest numbers of the other
// factor.
//
// A bias must be the integers that a conversion of the pattern has: dequantised with the product of
// both scales, or floats that are multiples of that.
#include <string.h>

#include "base/diag.h"
#include "rewrite/qdq.h"

#define CHAIN 256
#define BLOCK 64  // channels at a time
#define MOST_DEPTH 0x1000000
#define MOST_INLINE 1024    // elements of a new constant
#define LARGEST 0x40000000  // of a bias

typedef enum bias_kind { NO_BIAS, INTEGERS, MULTIPLES } bias_kind;

// |a| times |b|, whose scales may be one per channel of the result. The weights of channel c are
// elements c × channel_step + i × step of |b|, for i below |depth|.
typedef struct product {
  const stow_graph* graph;
  stowi_rewrite_dequantized a;
  stowi_rewrite_dequantized b;
  size_t depth;
  size_t channels;
  size_t channel_step;
  size_t step;
  bool is_laid_out;  // whether the last two are so
  bool is_in_order;  // whether they are in the order in which products are added
  bias_kind bias;
  stow_value bias_value;  // integers, or floats
} product;

// ---------------------------------------------------------------------------------------------
// Reading

// Of an operand that may be missing.
static stow_value operand_at(const stow_graph* graph, stow_node node, size_t k) {
  return k < stow_graph_operand_count(graph, node) ? stow_graph_operands(graph, node)[k]
                                                   : STOW_VALUE_NONE;
}

static bool read_factors(const stowi_rewrite_qdq* qdq, product* p) {
  *p = (product){.graph = qdq->pass->graph, .bias_value = STOW_VALUE_NONE};
  return stowi_rewrite_qdq_operand(qdq, 0, &p->a) && stowi_rewrite_qdq_operand(qdq, 1, &p->b) &&
         p->a.quant.count == 1;
}

static bool has_scales_along(const product* p, uint32_t axis) {
  return p->b.quant.count == 1 || (p->b.quant.axis == axis && p->b.quant.count == p->channels);
}

static float bias_scale(const product* p, size_t channel) {
  return stowi_rewrite_quant_scale(p->graph, &p->a.quant, 0) *
         stowi_rewrite_quant_scale(p->graph, &p->b.quant, channel);
}

// The integer that |x| is |scale| times, if there is one.
static bool find_multiple(float x, float scale, int32_t* out) {
  double quotient = (double)x / (double)scale;
  if (!(quotient > -LARGEST && quotient < LARGEST)) {
    return false;
  }
  *out = (int32_t)(quotient + (quotient < 0 ? -0.5 : 0.5));
  return (float)*out * scale == x;
}

static bool has_multiples(const product* p, const void* data) {
  bool all = p->channels <= MOST_INLINE;
  for (size_t i = 0; all && i < p->channels; ++i) {
    int32_t number;
    all = find_multiple(stowi_rewrite_float_at(data, i), bias_scale(p, i), &number);
  }
  return all;
}

static bool has_bias_scales(const product* p, const stowi_rewrite_quant* quant) {
  bool all = quant->count == 1 || quant->count == p->channels;
  for (size_t i = 0; all && i < p->channels; ++i) {
    all = stowi_rewrite_quant_scale(p->graph, quant, i) == bias_scale(p, i) &&
          stowi_rewrite_quant_zero(p->graph, quant, i) == 0;
  }
  return all;
}

// One element for each channel.
static bool read_bias(product* p, stow_value value) {
  stowi_rewrite_dequantized x;
  uint64_t count;
  if (value == STOW_VALUE_NONE) {
    return true;
  }
  const stow_type* type = stow_graph_type(p->graph, value);
  if (stow_type_elements(type, &count) != STOW_OK || count != p->channels || type->rank == 0 ||
      (uint64_t)type->dims[type->rank - 1] != p->channels) {
    return false;
  }
  if (stowi_rewrite_quant_of(p->graph, value, &x)) {
    p->bias = INTEGERS;
    p->bias_value = x.value;
    return x.quant.dtype == STOW_I32 && stowi_rewrite_weight(p->graph, x.value) != NULL &&
           has_bias_scales(p, &x.quant);
  }
  p->bias = MULTIPLES;
  p->bias_value = value;
  const void* data = stowi_rewrite_weight(p->graph, value);
  return data != NULL && has_multiples(p, data);
}

static int32_t bias_at(const product* p, size_t channel) {
  int32_t number = 0;
  if (p->bias == INTEGERS) {
    return stowi_rewrite_int_at(STOW_I32, stowi_rewrite_weight(p->graph, p->bias_value), channel);
  }
  if (p->bias == MULTIPLES) {
    (void)find_multiple(
        stowi_rewrite_float_at(stowi_rewrite_weight(p->graph, p->bias_value), channel),
        bias_scale(p, channel), &number);
  }
  return number;
}

// ---------------------------------------------------------------------------------------------
// Bounds

// Of a channel, in products of integers: absolute ones, and with how often each is rounded.
typedef struct mass {
  int64_t all;
  int64_t rounded;
} mass;

#define OTHERS 8  // roundings beside those of sums

// How often product |i| is rounded.
static int64_t roundings(const product* p, size_t i) {
  size_t at = p->is_in_order ? i : 0;
  size_t chain = p->depth - at / CHAIN * CHAIN;
  chain = chain < CHAIN ? chain : CHAIN;
  size_t chains = (p->depth + CHAIN - 1) / CHAIN - at / CHAIN;
  return (int64_t)(chain - at % CHAIN + chains + OTHERS);
}

static void take_weight(const product* p, const void* data, size_t channel, size_t i, int32_t zero,
                        mass* m) {
  size_t at = channel * p->channel_step + i * p->step;
  int32_t q = stowi_rewrite_int_at(p->b.quant.dtype, data, at) - zero;
  m->all += q < 0 ? -q : q;
  m->rounded += (q < 0 ? -q : q) * roundings(p, i);
}

// Of some channels, in memory's order.
static void weigh(const product* p, size_t first, size_t count, mass masses[BLOCK]) {
  const void* data = stowi_rewrite_weight(p->graph, p->b.value);
  int32_t zeros[BLOCK];
  for (size_t c = 0; c < count; ++c) {
    zeros[c] = stowi_rewrite_quant_zero(p->graph, &p->b.quant, first + c);
    masses[c] = (mass){0, 0};
    for (size_t i = 0; p->step == 1 && i < p->depth; ++i) {
      take_weight(p, data, first + c, i, zeros[c], &masses[c]);
    }
  }
  for (size_t i = 0; p->step != 1 && i < p->depth; ++i) {
    for (size_t c = 0; c < count; ++c) {
      take_weight(p, data, first + c, i, zeros[c], &masses[c]);
    }
  }
}

// Of any weights.
static void bound(const product* p, size_t first, size_t count, mass masses[BLOCK]) {
  int64_t rounded = 0;
  for (size_t i = 0; i < p->depth; ++i) {
    rounded += roundings(p, i);
  }
  for (size_t c = 0; c < count; ++c) {
    int32_t span = stowi_rewrite_quant_span(p->graph, &p->b.quant, first + c);
    masses[c] = (mass){(int64_t)p->depth * span, rounded * span};
  }
}

// Whether channel |c| is at most one quantum off.
static bool is_near(const product* p, const stowi_rewrite_quant* out, size_t c, mass m) {
  double bias = (double)bias_at(p, c);
  double span = (double)stowi_rewrite_quant_span(p->graph, &p->a.quant, 0);
  bias = bias < 0 ? -bias : bias;
  double off = ((double)m.rounded * span + bias * (double)roundings(p, 0)) * 0x1p-24;
  double scale = (double)bias_scale(p, c) / (double)stowi_rewrite_quant_scale(p->graph, out, 0);
  return (double)m.all * span + bias < 0x1p31 && off * scale + 0x1p-12 < 1;
}

typedef void (*weigher)(const product* p, size_t first, size_t count, mass masses[BLOCK]);

static bool is_each_near(const product* p, const stowi_rewrite_quant* out, weigher take) {
  bool all = p->depth < MOST_DEPTH;
  for (size_t first = 0; all && first < p->channels; first += BLOCK) {
    mass masses[BLOCK];
    size_t count = p->channels - first < BLOCK ? p->channels - first : BLOCK;
    take(p, first, count, masses);
    for (size_t c = 0; c < count; ++c) {
      all = all && is_near(p, out, first + c, masses[c]);
    }
  }
  return all;
}

// Weights are read only if any would not do.
static bool is_all_near(const product* p, const stowi_rewrite_quant* out) {
  bool knows = p->is_laid_out && stowi_rewrite_weight(p->graph, p->b.value) != NULL;
  return is_each_near(p, out, bound) || (knows && is_each_near(p, out, weigh));
}

static size_t added_before(const product* p, const stowi_rewrite_quant* out) {
  return stowi_rewrite_qdq_missing(&p->a.quant) + stowi_rewrite_qdq_missing(&p->b.quant) +
         stowi_rewrite_qdq_missing(out) + (p->bias == MULTIPLES ? 1 : 0);
}

// ---------------------------------------------------------------------------------------------
// Adding

static stow_status add_bias(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                            const product* p, stow_value* out_value) {
  int64_t numbers[MOST_INLINE];
  if (p->bias != MULTIPLES) {
    *out_value = stowi_graph_copier_mapped(&pass->copier, p->bias_value);
    return STOW_OK;
  }
  for (size_t i = 0; i < p->channels; ++i) {
    numbers[i] = bias_at(p, i);
  }
  stow_type type = stow_type_make(STOW_I32, 1, (stow_dim[]){(stow_dim)p->channels});
  return stowi_rewrite_qdq_constant(pass, change, &type, numbers, p->channels, ".bias", out_value);
}

// What comes before the node, and its zero points.
typedef struct zeros {
  stow_value a, b, out, bias;
} zeros;

static stow_status add_zeros(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                             const product* p, const stowi_rewrite_quant* out, zeros* z) {
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &p->a.quant, ".a_zero", &z->a));
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, &p->b.quant, ".b_zero", &z->b));
  STOW_TRY(stowi_rewrite_qdq_zero(pass, change, out, ".zero", &z->out));
  return add_bias(pass, change, p, &z->bias);
}

// ---------------------------------------------------------------------------------------------
// Each of them

static bool read_conv(const stowi_rewrite_qdq* qdq, product* p) {
  if (!read_factors(qdq, p)) {
    return false;
  }
  const stow_type* w = stow_graph_type(p->graph, p->b.value);
  p->channels = (size_t)w->dims[0];
  p->depth = 1;
  for (uint32_t i = 1; i < w->rank; ++i) {
    p->depth *= (size_t)w->dims[i];
  }
  p->channel_step = p->depth;
  p->step = 1;
  p->is_laid_out = true;
  return has_scales_along(p, 0) && read_bias(p, operand_at(p->graph, qdq->node, 2));
}

static bool read_matmul(const stowi_rewrite_qdq* qdq, product* p) {
  if (!read_factors(qdq, p)) {
    return false;
  }
  const stow_type* a = stow_graph_type(p->graph, p->a.value);
  const stow_type* b = stow_graph_type(p->graph, p->b.value);
  if (a->rank < 2 || b->rank < 2 || !stow_dim_is_const(a->dims[a->rank - 1]) ||
      !stow_dim_is_const(b->dims[b->rank - 1])) {
    return false;
  }
  p->depth = (size_t)a->dims[a->rank - 1];
  p->channels = (size_t)b->dims[b->rank - 1];
  p->channel_step = 1;
  p->step = p->channels;
  p->is_laid_out = b->rank == 2;
  p->is_in_order = true;
  return has_scales_along(p, b->rank - 1);
}

static bool is_turned(const stow_graph* graph, stow_node node, const char* name) {
  return stow_graph_attr(graph, node, name)->b;
}

static bool read_gemm(const stowi_rewrite_qdq* qdq, product* p) {
  if (!read_factors(qdq, p) || stow_graph_attr(p->graph, qdq->node, "alpha")->f != 1.0) {
    return false;
  }
  const stow_type* b = stow_graph_type(p->graph, p->b.value);
  stow_value bias = operand_at(p->graph, qdq->node, 2);
  uint32_t axis = is_turned(p->graph, qdq->node, "trans_b") ? 0 : 1;
  if (!stow_dim_is_const(b->dims[0]) || !stow_dim_is_const(b->dims[1])) {
    return false;
  }
  p->channels = (size_t)b->dims[axis];
  p->depth = (size_t)b->dims[1 - axis];
  p->channel_step = axis == 0 ? p->depth : 1;
  p->step = axis == 0 ? 1 : p->channels;
  p->is_laid_out = p->is_in_order = true;
  return has_scales_along(p, axis) &&
         (bias == STOW_VALUE_NONE || stow_graph_attr(p->graph, qdq->node, "beta")->f == 1.0) &&
         read_bias(p, bias);
}

// ---------------------------------------------------------------------------------------------
// All of them

static bool read_product(const stowi_rewrite_qdq* qdq, product* p) {
  switch (stow_graph_op(qdq->pass->graph, qdq->node)) {
    case STOW_OP_CONV: return read_conv(qdq, p);
    case STOW_OP_GEMM: return read_gemm(qdq, p);
    default: return read_matmul(qdq, p);
  }
}

static bool fits_product(const stowi_rewrite_qdq* qdq, size_t* out_before) {
  product p;
  bool fits = read_product(qdq, &p) && is_all_near(&p, &qdq->out);
  *out_before = fits ? added_before(&p, &qdq->out) : 0;
  return fits;
}

static stow_status add_product(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               stow_op op, stow_call** out_call, stow_node* out_node) {
  stowi_rewrite_qdq qdq;
  product p;
  zeros z;
  (void)stowi_rewrite_qdq_find(pass, change->at, &qdq);
  (void)read_product(&qdq, &p);
  STOW_TRY(add_zeros(pass, change, &p, &qdq.out, &z));
  stow_call* call = stowi_rewrite_begin(pass, change, op);
  stowi_rewrite_qdq_put(pass, call, &p.a, z.a);
  stowi_rewrite_qdq_put(pass, call, &p.b, z.b);
  if (op == STOW_OP_QGEMM) {
    stow_call_operand(call, z.bias);
  }
  stowi_rewrite_qdq_put_out(pass, call, &qdq.out, z.out);
  if (op == STOW_OP_QLINEAR_CONV && p.bias != NO_BIAS) {
    stow_call_operand(call, z.bias);
  }
  *out_call = call;
  *out_node = qdq.node;
  return STOW_OK;
}

static stow_status add_conv(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_product(pass, change, STOW_OP_QLINEAR_CONV, &call, &node));
  stowi_rewrite_copy_attrs(pass, call, node);
  return stow_call_finish(call, pass->diag, NULL);
}

static stow_status add_matmul(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_product(pass, change, STOW_OP_QLINEAR_MATMUL, &call, &node));
  return stow_call_finish(call, pass->diag, NULL);
}

static stow_status add_gemm(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stow_call* call;
  stow_node node;
  STOW_TRY(add_product(pass, change, STOW_OP_QGEMM, &call, &node));
  stow_call_attr_bool(call, "trans_a", is_turned(pass->graph, node, "trans_a"));
  stow_call_attr_bool(call, "trans_b", is_turned(pass->graph, node, "trans_b"));
  return stow_call_finish(call, pass->diag, NULL);
}

const stowi_rewrite_qdq_row stowi_rewrite_qdq_products[] = {
    {STOW_OP_CONV, fits_product, add_conv},
    {STOW_OP_MATMUL, fits_product, add_matmul},
    {STOW_OP_GEMM, fits_product, add_gemm},
    {0},
};
