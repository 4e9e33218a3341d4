// Lowering normalisations and reductions. Until opset 13 Softmax and its kin worked on a matrix
// made of the dims before and from the axis on; which axes are reduced was an attribute until 13 or
// 18; until 14 BatchNormalization was in training where it had more than one result.
#include "base/diag.h"
#include "onnx/lower/rows.h"

// ---------------------------------------------------------------------------------------------
// Attributes

#define CONSUMED \
  { "consumed_inputs", NULL, STOWI_ONNX_MAP_IGNORE }
#define EPSILON \
  { "epsilon", NULL, STOWI_ONNX_MAP_FLOAT }
#define STASH \
  { "stash_type", "stash", STOWI_ONNX_MAP_DTYPE }

static const stowi_onnx_attr_map axis_attrs[] = {{"axis", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map lp_norm_attrs[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                    {"p", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map lrn_attrs[] = {{"size", NULL, STOWI_ONNX_MAP_INT},
                                                {"alpha", NULL, STOWI_ONNX_MAP_FLOAT},
                                                {"beta", NULL, STOWI_ONNX_MAP_FLOAT},
                                                {"bias", NULL, STOWI_ONNX_MAP_FLOAT}};
static const stowi_onnx_attr_map axes_attrs[] = {{"axes", NULL, STOWI_ONNX_MAP_INTS}};
static const stowi_onnx_attr_map batch_norm_1_attrs[] = {CONSUMED,
                                                         EPSILON,
                                                         {"momentum", NULL, STOWI_ONNX_MAP_FLOAT},
                                                         {"spatial", NULL, STOWI_ONNX_MAP_BOOL},
                                                         {"is_test", NULL, STOWI_ONNX_MAP_IGNORE}};
static const stowi_onnx_attr_map batch_norm_attrs[] = {
    EPSILON,
    {"momentum", NULL, STOWI_ONNX_MAP_FLOAT},
    {"training_mode", "training", STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map instance_norm_attrs[] = {CONSUMED, EPSILON};
static const stowi_onnx_attr_map group_norm_attrs[] = {
    EPSILON, STASH, {"num_groups", "groups", STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map layer_norm_attrs[] = {
    EPSILON, STASH, {"axis", NULL, STOWI_ONNX_MAP_INT}};
static const stowi_onnx_attr_map reduce_attrs[] = {
    {"axes", NULL, STOWI_ONNX_MAP_INTS},
    {"keepdims", NULL, STOWI_ONNX_MAP_BOOL},
    {"noop_with_empty_axes", NULL, STOWI_ONNX_MAP_BOOL}};
static const stowi_onnx_attr_map arg_attrs[] = {{"axis", NULL, STOWI_ONNX_MAP_INT},
                                                {"keepdims", NULL, STOWI_ONNX_MAP_BOOL},
                                                {"select_last_index", NULL, STOWI_ONNX_MAP_BOOL}};

// ---------------------------------------------------------------------------------------------
// Functions

// The row's op with all operands and the row's attributes.
static stow_status begin_row(stowi_onnx_lowering* l, stow_call** out_call) {
  const stowi_onnx_lower_row* row = l->row;
  *out_call = stowi_onnx_lower_begin(l, row->op);
  stowi_onnx_lower_add_operands(l, *out_call, 0);
  return stowi_onnx_lower_add_attrs(l, *out_call, row->attrs, row->attr_count);
}

// Dims from the axis on are one, which matters only where there are several.
static stow_status lower_softmax_1(stowi_onnx_lowering* l) {
  const stow_type* x = stowi_onnx_lower_type(l, 0);
  int64_t axis = stowi_onnx_lower_int(l, "axis", 1);
  stow_call* call = stowi_onnx_lower_begin(l, l->row->op);
  stowi_onnx_lower_add_operands(l, call, 0);
  stow_call_attr_int(call, "axis", axis);
  bool is_last = axis == -1 || (x != NULL && axis == (int64_t)x->rank - 1);
  if (!is_last) {
    stow_call_attr_bool(call, "flatten", true);
  }
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

static stow_status lower_batch_norm_1(stowi_onnx_lowering* l) {
  size_t results = l->result_count;
  stow_call* call;
  STOW_TRY(begin_row(l, &call));
  if (results > 1) {
    stow_call_attr_bool(call, "training", true);
  }
  return stowi_onnx_lower_finish_results(l, call, 0, results);
}

static stow_status lower_mean_variance(stowi_onnx_lowering* l) {
  static const int64_t all_but_channels[] = {0, 2, 3};
  stow_call* call;
  STOW_TRY(begin_row(l, &call));
  if (stowi_onnx_lower_attr(l, "axes") == NULL) {
    stow_call_attr_ints(call, "axes", all_but_channels, 3);
  }
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// The op's name says how it reduces.
static stow_status lower_reduce(stowi_onnx_lowering* l) {
  static const struct {
    const char* onnx;
    const char* core;
  } kinds[] = {{"ReduceSum", "sum"},
               {"ReduceMean", "mean"},
               {"ReduceMax", "max"},
               {"ReduceMin", "min"},
               {"ReduceProd", "prod"},
               {"ReduceL1", "l1"},
               {"ReduceL2", "l2"},
               {"ReduceLogSum", "log_sum"},
               {"ReduceLogSumExp", "log_sum_exp"},
               {"ReduceSumSquare", "sum_square"}};
  stow_str name = stow_str_of(l->row->name);
  stow_call* call;
  STOW_TRY(begin_row(l, &call));
  for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); ++i) {
    if (stow_str_equal(name, stow_str_of(kinds[i].onnx))) {
      stow_call_attr_string(call, "op", stow_str_of(kinds[i].core));
    }
  }
  return stowi_onnx_lower_finish_results(l, call, 0, 1);
}

// ---------------------------------------------------------------------------------------------
// Rows

#define SOFT(text, core) \
  BY(text, 1, core, axis_attrs, lower_softmax_1), WITH(text, 13, core, axis_attrs)
#define REDUCING(text) BY(text, 1, REDUCE, reduce_attrs, lower_reduce)

static const stowi_onnx_lower_row rows[] = {
    SOFT("Softmax", SOFTMAX),
    SOFT("LogSoftmax", LOG_SOFTMAX),
    SOFT("Hardmax", HARDMAX),
    WITH("LpNormalization", 1, LP_NORM, lp_norm_attrs),
    WITH("LRN", 1, LRN, lrn_attrs),
    BY("MeanVarianceNormalization", 9, MEAN_VARIANCE_NORM, axes_attrs, lower_mean_variance),
    BY("BatchNormalization", 1, BATCH_NORM, batch_norm_1_attrs, lower_batch_norm_1),
    WITH("BatchNormalization", 14, BATCH_NORM, batch_norm_attrs),
    WITH("InstanceNormalization", 1, INSTANCE_NORM, instance_norm_attrs),
    WITH("GroupNormalization", 18, GROUP_NORM, group_norm_attrs),
    WITH("LayerNormalization", 17, LAYER_NORM, layer_norm_attrs),
    WITH("RMSNormalization", 23, RMS_NORM, layer_norm_attrs),
    REDUCING("ReduceSum"),
    REDUCING("ReduceMean"),
    REDUCING("ReduceMax"),
    REDUCING("ReduceMin"),
    REDUCING("ReduceProd"),
    REDUCING("ReduceL1"),
    REDUCING("ReduceL2"),
    REDUCING("ReduceLogSum"),
    REDUCING("ReduceLogSumExp"),
    REDUCING("ReduceSumSquare"),
    WITH("ArgMax", 1, ARGMAX, arg_attrs),
    WITH("ArgMin", 1, ARGMIN, arg_attrs),
};

const stowi_onnx_lower_table stowi_onnx_lower_norm_table = {LIST(rows)};
