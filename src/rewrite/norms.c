// Batch-norms, and products and sums with a constant per channel, vanish in the weights of the
// convolution or matrix product before them (near): results are rounded in another order.
//
//     norm(x · w + b) = x · (w × f) + ((b − mean) × f + shift),  f = scale / √(variance + epsilon)
//
// The arithmetic is added as nodes that depend on weights alone, which folding computes once. The
// weight must have no other reader: otherwise there would be two of it.
#include "base/diag.h"
#include "rewrite/live.h"
#include "rewrite/rules.h"

typedef struct folder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  bool* is_constant;  // by node: weights, or as many bytes made of them
  bool* may_go;       // by node
} folder;

// A product and what follows it.
typedef struct pair {
  const stow_graph* graph;
  stow_node product;
  stow_node after;
  stow_value weight;
  stow_value bias;      // STOW_VALUE_NONE: none
  stow_value constant;  // of a product or sum
  uint32_t axis;        // the weight's dim of channels
  uint32_t out_axis;    // the result's
  stow_dim channels;
} pair;

// ---------------------------------------------------------------------------------------------
// Reading: from the graph alone, so that functions of changes find the same

static stow_value operand_at(const stow_graph* graph, stow_node node, size_t k) {
  return k < stow_graph_operand_count(graph, node) ? stow_graph_operands(graph, node)[k]
                                                   : STOW_VALUE_NONE;
}

static bool has_plain_factors(const stow_graph* graph, stow_node node) {
  return stow_graph_attr(graph, node, "alpha")->f == 1.0 &&
         stow_graph_attr(graph, node, "beta")->f == 1.0;
}

// Where channels are. False: it is not such a product.
static bool read_product(pair* p) {
  const stow_graph* graph = p->graph;
  p->out_axis = 1;
  switch (stow_graph_op(graph, p->product)) {
    case STOW_OP_CONV: p->axis = 0; break;
    case STOW_OP_CONV_TRANSPOSE:
      p->axis = 1;
      if (stow_graph_attr(graph, p->product, "group")->i != 1) {
        return false;
      }
      break;
    case STOW_OP_GEMM:
      p->axis = stow_graph_attr(graph, p->product, "trans_b")->b ? 0 : 1;
      if (!has_plain_factors(graph, p->product)) {
        return false;
      }
      break;
    case STOW_OP_MATMUL: p->axis = 1; break;
    default: return false;
  }
  p->weight = operand_at(graph, p->product, 1);
  p->bias = operand_at(graph, p->product, 2);
  const stow_type* weight = stow_graph_type(graph, p->weight);
  const stow_type* result = stow_graph_type(graph, stow_graph_first_result(graph, p->product));
  bool is_matrix = stow_graph_op(graph, p->product) == STOW_OP_MATMUL;
  p->out_axis = is_matrix ? result->rank - 1 : 1;
  if (weight->rank < 2 || (is_matrix && weight->rank != 2) || result->rank < 2) {
    return false;
  }
  p->channels = weight->dims[p->axis];
  return weight->dtype == STOW_F32 && result->dims[p->out_axis] == p->channels;
}

static bool is_per_channel(const pair* p, stow_value value) {
  const stow_type* type = stow_graph_type(p->graph, value);
  return type->dtype == STOW_F32 && type->rank == 1 && type->dims[0] == p->channels;
}

// Whether |value| broadcasts along channels alone.
static bool is_along_channels(const pair* p, stow_value value) {
  const stow_type* type = stow_graph_type(p->graph, value);
  const stow_type* result =
      stow_graph_type(p->graph, stow_graph_first_result(p->graph, p->product));
  bool is_good = type->dtype == STOW_F32 && type->rank <= result->rank;
  for (uint32_t i = 0; is_good && i < type->rank; ++i) {
    uint32_t axis = result->rank - type->rank + i;
    is_good = type->dims[i] == 1 || (axis == p->out_axis && type->dims[i] == p->channels);
  }
  return is_good;
}

static bool is_one(const pair* p, stow_value value) {
  uint64_t count;
  return stow_type_elements(stow_graph_type(p->graph, value), &count) == STOW_OK && count == 1;
}

static bool read_norm(pair* p) {
  bool is_good = stow_graph_result_count(p->graph, p->after) == 1 && p->out_axis == 1 &&
                 !stow_graph_attr(p->graph, p->after, "training")->b &&
                 stow_graph_attr(p->graph, p->after, "spatial")->b;
  for (size_t k = 1; is_good && k < 5; ++k) {
    is_good = is_per_channel(p, stow_graph_operands(p->graph, p->after)[k]);
  }
  return is_good;
}

// A product without a bias needs one for each channel, or becomes a gemm.
static bool read_arithmetic(pair* p, size_t k) {
  p->constant = stow_graph_operands(p->graph, p->after)[1 - k];
  bool is_sum = stow_graph_op(p->graph, p->after) == STOW_OP_ADD;
  bool is_matmul = stow_graph_op(p->graph, p->product) == STOW_OP_MATMUL;
  return is_along_channels(p, p->constant) &&
         (!is_sum || (!is_matmul &&
                      (p->bias != STOW_VALUE_NONE || !is_one(p, p->constant) || p->channels == 1)));
}

// |k|: which operand of |after| is the product.
static bool read_pair(const stow_graph* graph, stow_node after, size_t k, pair* p) {
  *p = (pair){.graph = graph, .after = after};
  p->product = stow_graph_producer(graph, stow_graph_operands(graph, after)[k]);
  if (!read_product(p) || (p->bias != STOW_VALUE_NONE && !is_per_channel(p, p->bias))) {
    return false;
  }
  switch (stow_graph_op(graph, after)) {
    case STOW_OP_BATCH_NORM: return k == 0 && read_norm(p);
    case STOW_OP_MUL:
    case STOW_OP_ADD: return read_arithmetic(p, k);
    default: return false;
  }
}

// ---------------------------------------------------------------------------------------------
// Adding

static stow_status add_epsilon(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                               stow_value* out) {
  double epsilon = (double)(float)stow_graph_attr(pass->graph, change->at, "epsilon")->f;
  stow_attr data = stow_attr_named("data", STOW_ATTR_FLOATS);
  stow_type type = stow_type_make(STOW_F32, 0, NULL);
  stow_node node;
  data.floats = &epsilon;
  data.count = 1;
  stow_call* call = stow_graph_begin(pass->copier.into, STOW_OP_CONSTANT);
  stow_call_attr(call, &data);
  stow_call_result_type(call, &type);
  stowi_rewrite_name(pass, call, change->first, ".epsilon");
  STOW_TRY(stow_call_finish(call, pass->diag, &node));
  *out = stow_graph_first_result(pass->copier.into, node);
  return STOW_OK;
}

static stow_status add_two(stowi_rewrite_pass* pass, stow_op op, stow_value a, stow_value b,
                           stow_value* out) {
  return stow_graph_add(pass->copier.into, op, (stow_value[]){a, b}, 2, pass->diag, out);
}

// |value|, of the new graph, along dim |axis| of |rank|.
static stow_status add_along(stowi_rewrite_pass* pass, stow_value value, uint32_t rank,
                             uint32_t axis, stow_value* out) {
  stow_dim dims[STOW_MAX_RANK];
  uint64_t count = 0;
  (void)stow_type_elements(stow_graph_type(pass->copier.into, value), &count);
  for (uint32_t i = 0; i < rank; ++i) {
    dims[i] = i == axis ? (stow_dim)count : 1;
  }
  stow_type type = stow_type_make(STOW_F32, rank, dims);
  return stowi_rewrite_reshape(pass, value, &type, out);
}

// The weight times a number per channel.
static stow_status scale_weight(stowi_rewrite_pass* pass, const pair* p, stow_value factor,
                                stow_value* weight) {
  uint32_t rank = stow_graph_type(p->graph, p->weight)->rank;
  STOW_TRY(add_along(pass, factor, rank, p->axis, &factor));
  return add_two(pass, STOW_OP_MUL, *weight, factor, weight);
}

static stow_status add_norm(stowi_rewrite_pass* pass, const stowi_rewrite_change* change,
                            const pair* p, stow_value* weight, stow_value* bias) {
  const stow_value* operands = stow_graph_operands(p->graph, p->after);
  stow_value scale = stowi_graph_copier_mapped(&pass->copier, operands[1]);
  stow_value shift = stowi_graph_copier_mapped(&pass->copier, operands[2]);
  stow_value mean = stowi_graph_copier_mapped(&pass->copier, operands[3]);
  stow_value factor = stowi_graph_copier_mapped(&pass->copier, operands[4]);
  stow_value epsilon;
  STOW_TRY(add_epsilon(pass, change, &epsilon));
  STOW_TRY(add_two(pass, STOW_OP_ADD, factor, epsilon, &factor));
  STOW_TRY(stow_graph_add(pass->copier.into, STOW_OP_SQRT, &factor, 1, pass->diag, &factor));
  STOW_TRY(add_two(pass, STOW_OP_DIV, scale, factor, &factor));
  STOW_TRY(scale_weight(pass, p, factor, weight));
  STOW_TRY(*bias == STOW_VALUE_NONE
               ? stow_graph_add(pass->copier.into, STOW_OP_NEG, &mean, 1, pass->diag, bias)
               : add_two(pass, STOW_OP_SUB, *bias, mean, bias));
  STOW_TRY(add_two(pass, STOW_OP_MUL, *bias, factor, bias));
  return add_two(pass, STOW_OP_ADD, *bias, shift, bias);
}

static stow_status add_arithmetic(stowi_rewrite_pass* pass, const pair* p, stow_value* weight,
                                  stow_value* bias) {
  stow_op op = stow_graph_op(p->graph, p->after);
  stow_value constant = stowi_graph_copier_mapped(&pass->copier, p->constant);
  if (op == STOW_OP_MUL) {
    STOW_TRY(scale_weight(pass, p, constant, weight));
  }
  if (op == STOW_OP_MUL && *bias == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  STOW_TRY(add_along(pass, constant, 1, 0, &constant));
  if (*bias == STOW_VALUE_NONE) {
    *bias = constant;
    return STOW_OK;
  }
  return add_two(pass, op, *bias, constant, bias);
}

// How many values the functions above add.
static size_t added_before(const pair* p) {
  switch (stow_graph_op(p->graph, p->after)) {
    case STOW_OP_BATCH_NORM: return 9;
    case STOW_OP_MUL: return p->bias == STOW_VALUE_NONE ? 2 : 4;
    default: return p->bias == STOW_VALUE_NONE ? 1 : 2;
  }
}

static stow_status add_product(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  pair p;
  (void)read_pair(pass->graph, change->at, (size_t)change->list[0], &p);
  stow_value weight = stowi_graph_copier_mapped(&pass->copier, p.weight);
  stow_value bias = stowi_graph_copier_mapped(&pass->copier, p.bias);
  STOW_TRY(stow_graph_op(pass->graph, p.after) == STOW_OP_BATCH_NORM
               ? add_norm(pass, change, &p, &weight, &bias)
               : add_arithmetic(pass, &p, &weight, &bias));
  stow_op op = stow_graph_op(pass->graph, p.product);
  bool needs_gemm = op == STOW_OP_MATMUL && bias != STOW_VALUE_NONE;
  stow_call* call = stowi_rewrite_begin(pass, change, needs_gemm ? STOW_OP_GEMM : op);
  stow_value x = stow_graph_operands(pass->graph, p.product)[0];
  stow_call_operand(call, stowi_graph_copier_mapped(&pass->copier, x));
  stow_call_operand(call, weight);
  if (bias != STOW_VALUE_NONE) {
    stow_call_operand(call, bias);
  }
  stowi_rewrite_copy_attrs(pass, call, p.product);
  return stow_call_finish(call, pass->diag, NULL);
}

// ---------------------------------------------------------------------------------------------
// The rule

static bool is_constant(const folder* f, stow_value value) {
  return value != STOW_VALUE_NONE && f->is_constant[stow_graph_producer(f->graph, value)];
}

// The ops that this rule adds.
static bool is_arithmetic(stow_op op) {
  switch (op) {
    case STOW_OP_ADD:
    case STOW_OP_DIV:
    case STOW_OP_MUL:
    case STOW_OP_NEG:
    case STOW_OP_RESHAPE:
    case STOW_OP_SQRT:
    case STOW_OP_SUB: return true;
    default: return false;
  }
}

// Whether |node| is weights, or makes no more of weights alone. What is made of less (filled,
// broadcast or dequantised) is smaller as it is, and would not be folded.
static bool is_weights(const folder* f, stow_node node) {
  const stow_graph* graph = f->graph;
  stow_op op = stow_graph_op(graph, node);
  stow_value value = stow_graph_first_result(graph, node);
  if (op == STOW_OP_PARAM || op == STOW_OP_CONSTANT) {
    return stowi_graph_with_count(graph, node) == 0 && stowi_graph_has_data(graph, value);
  }
  if (!is_arithmetic(op) || stowi_rewrite_is_barrier(graph, node) ||
      stowi_rewrite_is_bounded(graph, node)) {
    return false;
  }
  uint64_t bytes = 0;
  bool all = true;
  for (size_t k = 0; all && k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    all = is_constant(f, operand);
    bytes = all ? stowi_rewrite_add(bytes, stowi_rewrite_bytes(graph, operand)) : 0;
  }
  return all && stowi_rewrite_bytes(graph, value) <= bytes;
}

static void find_constants(folder* f) {
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    f->is_constant[node] = stow_graph_result_count(f->graph, node) == 1 && is_weights(f, node);
  }
}

// Whether all but x depends on weights alone, and nothing else reads product and weight.
static bool is_free(const folder* f, const pair* p) {
  const stowi_rewrite_facts* facts = &f->pass->facts;
  stow_value result = stow_graph_first_result(f->graph, p->product);
  bool is_free =
      facts->readers[result] == 1 && !stowi_bits_has(&facts->outputs, result) &&
      !stowi_bits_has(&facts->fixed, result) && !stowi_rewrite_is_barrier(f->graph, p->product) &&
      !stowi_rewrite_is_bounded(f->graph, p->product) && !f->pass->is_dropped[p->product] &&
      stow_graph_node_region(f->graph, p->product) == stow_graph_node_region(f->graph, p->after) &&
      is_constant(f, p->weight) && facts->readers[p->weight] == 1 &&
      !stowi_bits_has(&facts->outputs, p->weight) && !stowi_bits_has(&facts->fixed, p->weight) &&
      (p->bias == STOW_VALUE_NONE || is_constant(f, p->bias));
  for (size_t k = 0; is_free && k < stow_graph_operand_count(f->graph, p->after); ++k) {
    stow_value operand = stow_graph_operands(f->graph, p->after)[k];
    is_free = operand == result || is_constant(f, operand);
  }
  return is_free;
}

static stow_status note(folder* f, const pair* p, size_t side) {
  stowi_rewrite_change change = {.at = p->after,
                                 .first = stow_graph_first_result(f->graph, p->after),
                                 .count = 1,
                                 .before = added_before(p),
                                 .add = add_product,
                                 .list = {(int64_t)side}};
  f->may_go[p->product] = true;
  STOW_TRY(stowi_rewrite_change_at(f->pass, &change));
  return stowi_rewrite_fire(f->pass, (stow_node[]){p->product, p->after}, 2);
}

static stow_status visit(folder* f, stow_node node) {
  stow_op op = stow_graph_op(f->graph, node);
  if ((op != STOW_OP_BATCH_NORM && op != STOW_OP_MUL && op != STOW_OP_ADD) ||
      stowi_rewrite_is_barrier(f->graph, node) || stowi_rewrite_is_bounded(f->graph, node) ||
      stowi_bits_has(&f->pass->facts.fixed, stow_graph_first_result(f->graph, node)) ||
      f->is_constant[node]) {
    return STOW_OK;
  }
  pair p;
  for (size_t side = 0; side < 2; ++side) {
    if (read_pair(f->graph, node, side, &p) && is_free(f, &p)) {
      return note(f, &p, side);
    }
  }
  return STOW_OK;
}

static bool may_go(const void* user, stow_node node) { return ((const folder*)user)->may_go[node]; }

static stow_status find_pairs(folder* f) {
  STOW_TRY(stowi_need_memory(f->is_constant != NULL && f->may_go != NULL, f->pass->diag));
  find_constants(f);
  for (stow_node node = 0; node < stow_graph_node_count(f->graph); ++node) {
    STOW_TRY(visit(f, node));
  }
  stowi_rewrite_drop_unread(f->pass, may_go, f);
  return STOW_OK;
}

stow_status stowi_rewrite_norms(stowi_rewrite_pass* pass) {
  uint32_t count = stow_graph_node_count(pass->graph);
  folder f = {.pass = pass,
              .graph = pass->graph,
              .is_constant = STOWI_ARRAY_ZERO(pass->allocator, bool, count),
              .may_go = STOWI_ARRAY_ZERO(pass->allocator, bool, count)};
  stow_status status = find_pairs(&f);
  STOWI_ARRAY_FREE(pass->allocator, f.is_constant, count);
  STOWI_ARRAY_FREE(pass->allocator, f.may_go, count);
  return status;
}
