// Lowering elementwise ops. Most have one meaning in all versions. Exceptions are old: until opset
// 7 two operands were aligned by an attribute, until 11 the bounds of Clip were attributes, and
// Dropout could be asked to train only since 12.
#include "base/diag.h"
#include "onnx/lower/rows.h"

// ---------------------------------------------------------------------------------------------
// Attributes

// A hint of opset 1 that a result may take an operand's bytes.
#define CONSUMED \
  { "consumed_inputs", NULL, STOWI_ONNX_MAP_IGNORE }

static const stowi_onnx_attr_map plain_attrs[] = {CONSUMED};
static const stowi_onnx_attr_map alpha_attrs[] = {CONSUMED, {"alpha", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map hard_sigmoid_attrs[] = {
    CONSUMED, {"alpha", NULL, STOWI_ONNX_MAP_FLOAT}, {"beta", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map selu_attrs[] = {
    CONSUMED, {"alpha", NULL, STOWI_ONNX_MAP_FLOAT}, {"gamma", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map gelu_attrs[] = {{"approximate", NULL, STOWI_ONNX_MAP_STRING}};
static const stowi_onnx_attr_map shrink_attrs[] = {{"bias", NULL, STOWI_ONNX_MAP_FLOAT},
                                                   {"lambd", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map is_inf_attrs[] = {{"detect_negative", NULL, STOWI_ONNX_MAP_BOOL},
                                                   {"detect_positive", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map bit_shift_attrs[] = {{"direction", NULL, STOWI_ONNX_MAP_WORD}};
static const stowi_onnx_attr_map mod_attrs[] = {{"fmod", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map clip_attrs[] = {
    CONSUMED, {"min", NULL, STOWI_ONNX_MAP_FLOAT}, {"max", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map aligned_attrs[] = {
    CONSUMED, {"axis", NULL, STOWI_ONNX_MAP_IGNORE}, {"broadcast", NULL, STOWI_ONNX_MAP_IGNORE}};
static const stowi_onnx_attr_map dropout_attrs[] = {CONSUMED,
                                                    {"is_test", NULL, STOWI_ONNX_MAP_IGNORE},
                                                    {"ratio", NULL, STOWI_ONNX_MAP_FLOAT},
                                                    {"seed", NULL, STOWI_ONNX_MAP_INT}};

// ---------------------------------------------------------------------------------------------
// Functions

// |value| with its dims and ones after them, so that its first dim stands at |axis| of |rank|.
static stow_status align(stowi_onnx_lowering* l, stow_value value, int64_t axis, uint32_t rank,
                         stow_value* out_value) {
  stow_type type = *stow_graph_type(l->imp->graph, value);
  axis += axis < 0 ? (int64_t)rank : 0;
  if (axis < 0 || axis > (int64_t)rank || type.rank > rank - (uint32_t)axis) {
    return stowi_onnx_lower_unsupported(l, "the second operand does not fit at the axis");
  }
  uint32_t aligned = rank - (uint32_t)axis;
  if (type.rank == aligned) {
    *out_value = value;
    return STOW_OK;
  }
  while (type.rank < aligned) {
    type.dims[type.rank++] = 1;
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESHAPE);
  stow_call_operand(call, value);
  stow_call_result_type(call, &type);
  return stowi_onnx_lower_finish(l, call, out_value);
}

// One node of the row's op with two operands.
static stow_status finish_pair(stowi_onnx_lowering* l, stow_value a, stow_value b) {
  stow_call* call = stowi_onnx_lower_begin(l, l->row->op);
  stow_call_operand(call, a);
  stow_call_operand(call, b);
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Before opset 7 |broadcast| allows the second operand to have fewer dims; they stand at |axis|, or
// at the end where that is not given.
static stow_status lower_aligned(stowi_onnx_lowering* l) {
  const stow_type* a = stowi_onnx_lower_type(l, 0);
  stow_value b = stowi_onnx_lower_operand(l, 1);
  const stowi_onnx_attr* axis = stowi_onnx_lower_attr(l, "axis");
  bool is_placed = axis != NULL && stowi_onnx_lower_int(l, "broadcast", 0) != 0;
  if (a != NULL && b != STOW_VALUE_NONE && is_placed) {
    STOW_TRY(align(l, b, axis->i, a->rank, &b));
  }
  return finish_pair(l, stowi_onnx_lower_operand(l, 0), b);
}

// Before opset 7 the slope is one number, or one for each channel.
static stow_status lower_prelu_1(stowi_onnx_lowering* l) {
  const stow_type* x = stowi_onnx_lower_type(l, 0);
  const stow_type* slope = stowi_onnx_lower_type(l, 1);
  stow_value aligned = stowi_onnx_lower_operand(l, 1);
  bool is_by_channel = x != NULL && slope != NULL && x->rank > 2 && slope->rank == 1;
  if (is_by_channel && slope->dims[0] != 1) {
    STOW_TRY(align(l, aligned, 1, x->rank, &aligned));
  }
  return finish_pair(l, stowi_onnx_lower_operand(l, 0), aligned);
}

// Opset 1 has other defaults.
static stow_status lower_selu_1(stowi_onnx_lowering* l) {
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_SELU);
  stowi_onnx_lower_add_operands(l, call, 0);
  stow_call_attr_float(call, "alpha", stowi_onnx_lower_float(l, "alpha", (double)1.6732f));
  stow_call_attr_float(call, "gamma", stowi_onnx_lower_float(l, "gamma", (double)1.0507f));
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// Max, Min, Sum and Mean of one operand are that operand; Sum of two is add.
static stow_status lower_variadic(stowi_onnx_lowering* l) {
  stow_op op = l->row->op;
  size_t count = l->operand_count;
  stow_value first = stowi_onnx_lower_operand(l, 0);
  if (count == 1 && first != STOW_VALUE_NONE) {
    return stowi_onnx_lower_alias(l, 0, first);
  }
  op = op == STOW_OP_SUM && count == 2 ? STOW_OP_ADD : op;
  return stowi_onnx_lower_plain(l, op, plain_attrs, sizeof(plain_attrs) / sizeof(plain_attrs[0]));
}

// Whether operand 2, which says so since opset 12, is there and is not known to be false.
static bool may_train(const stowi_onnx_lowering* l) {
  stow_value training = stowi_onnx_lower_operand(l, 2);
  if (l->version < 12 || training == STOW_VALUE_NONE) {
    return false;
  }
  const stow_graph* graph = l->imp->graph;
  return !stow_graph_is_known(graph, training) || stow_graph_known(graph, training, 0) != 0;
}

// Nothing is dropped without training: the result is the operand, and the mask is true everywhere.
// Until opset 10 the mask has the operand's element type.
static stow_status lower_dropout(stowi_onnx_lowering* l) {
  stow_value x = stowi_onnx_lower_operand(l, 0);
  if (x == STOW_VALUE_NONE || may_train(l)) {
    return stowi_onnx_lower_plain(l, STOW_OP_DROPOUT, dropout_attrs,
                                  sizeof(dropout_attrs) / sizeof(dropout_attrs[0]));
  }
  STOW_TRY(stowi_onnx_lower_alias(l, 0, x));
  if (!stowi_onnx_lower_wants(l, 1)) {
    return STOW_OK;
  }
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_FULL_LIKE);
  stow_call_operand(call, x);
  stow_call_attr_float(call, "value", 1.0);
  if (l->version >= 10) {
    stow_call_attr_string(call, "dtype", stow_str_of("bool"));
  }
  return stowi_onnx_lower_finish_results(l, call, 1, 1);
}

// ---------------------------------------------------------------------------------------------
// Rows

#define SIMPLE(text, version, core) WITH(text, version, core, plain_attrs)
// Aligned by attributes, then as numpy does.
#define PAIR(text, core) BY(text, 1, core, aligned_attrs, lower_aligned), SIMPLE(text, 7, core)

static const stowi_onnx_lower_row rows[] = {
    SIMPLE("Abs", 1, ABS),
    SIMPLE("Acos", 7, ACOS),
    SIMPLE("Acosh", 9, ACOSH),
    SIMPLE("Asin", 7, ASIN),
    SIMPLE("Asinh", 9, ASINH),
    SIMPLE("Atan", 7, ATAN),
    SIMPLE("Atanh", 9, ATANH),
    SIMPLE("Ceil", 1, CEIL),
    SIMPLE("Cos", 7, COS),
    SIMPLE("Cosh", 9, COSH),
    SIMPLE("Erf", 9, ERF),
    SIMPLE("Exp", 1, EXP),
    SIMPLE("Floor", 1, FLOOR),
    SIMPLE("HardSwish", 14, HARD_SWISH),
    SIMPLE("Log", 1, LOG),
    SIMPLE("Mish", 18, MISH),
    SIMPLE("Neg", 1, NEG),
    SIMPLE("Reciprocal", 1, RECIPROCAL),
    SIMPLE("Relu", 1, RELU),
    SIMPLE("Round", 11, ROUND),
    SIMPLE("Sigmoid", 1, SIGMOID),
    SIMPLE("Sign", 9, SIGN),
    SIMPLE("Sin", 7, SIN),
    SIMPLE("Sinh", 9, SINH),
    SIMPLE("Softplus", 1, SOFTPLUS),
    SIMPLE("Softsign", 1, SOFTSIGN),
    SIMPLE("Sqrt", 1, SQRT),
    SIMPLE("Tan", 7, TAN),
    SIMPLE("Tanh", 1, TANH),
    SIMPLE("Not", 1, NOT),
    SIMPLE("BitwiseNot", 18, BIT_NOT),
    SIMPLE("IsNaN", 9, IS_NAN),
    WITH("IsInf", 10, IS_INF, is_inf_attrs),
    WITH("Elu", 1, ELU, alpha_attrs),
    WITH("Celu", 12, CELU, alpha_attrs),
    WITH("Swish", 24, SILU, alpha_attrs),
    WITH("LeakyRelu", 1, LEAKY_RELU, alpha_attrs),
    WITH("ThresholdedRelu", 1, THRESHOLDED_RELU, alpha_attrs),
    WITH("HardSigmoid", 1, HARD_SIGMOID, hard_sigmoid_attrs),
    WITH("Gelu", 20, GELU, gelu_attrs),
    WITH("Shrink", 9, SHRINK, shrink_attrs),
    BY("Selu", 1, SELU, selu_attrs, lower_selu_1),
    WITH("Selu", 6, SELU, selu_attrs),
    WITH("Clip", 1, CLIP, clip_attrs),
    BY("Dropout", 1, DROPOUT, dropout_attrs, lower_dropout),

    PAIR("Add", ADD),
    PAIR("Sub", SUB),
    PAIR("Mul", MUL),
    PAIR("Div", DIV),
    PAIR("Pow", POW),
    PAIR("And", AND),
    PAIR("Or", OR),
    PAIR("Xor", XOR),
    PAIR("Equal", EQ),
    PAIR("Greater", GT),
    PAIR("Less", LT),
    SIMPLE("GreaterOrEqual", 12, GE),
    SIMPLE("LessOrEqual", 12, LE),
    SIMPLE("BitwiseAnd", 18, AND),
    SIMPLE("BitwiseOr", 18, OR),
    SIMPLE("BitwiseXor", 18, XOR),
    WITH("BitShift", 11, BIT_SHIFT, bit_shift_attrs),
    WITH("Mod", 10, MOD, mod_attrs),
    WITH("SwiGLU", 28, SWIGLU, alpha_attrs),
    BY("PRelu", 1, PRELU, plain_attrs, lower_prelu_1),
    SIMPLE("PRelu", 7, PRELU),

    BY("Max", 1, MAX, plain_attrs, lower_variadic),
    BY("Min", 1, MIN, plain_attrs, lower_variadic),
    BY("Sum", 1, SUM, plain_attrs, lower_variadic),
    BY("Mean", 1, MEAN, plain_attrs, lower_variadic),
};

const stowi_onnx_lower_table stowi_onnx_lower_math_table = {LIST(rows)};
