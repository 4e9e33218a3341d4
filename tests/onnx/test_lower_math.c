// Which core ops mathematical ONNX ops of old and new versions become.
#include "onnx/lowering_case.h"
#include "support/test.h"

TEST(OldPairsAreAligned) {
  static const lowering_case cases[] = {
      {6, "Add", "f32 2 3 4 5; f32 3 4", "broadcast=1 axis=1", "y", "reshape(%1) : f32[3, 4, 1]"},
      {6, "Add", "f32 2 3 4 5; f32 3 4", "broadcast=1 axis=1", "y",
       "add(%0, %2) : f32[2, 3, 4, 5]"},
      {1, "Mul", "f32 2 3 4; f32 3", "broadcast=1 axis=-2 consumed_inputs=0,0", "y",
       "reshape(%1) : f32[3, 1]"},
      {6, "Sub", "f32 2 3 4; f32 3 4", "broadcast=1", "y", "sub(%0, %1) : f32[2, 3, 4]"},
      {6, "Div", "f32 2 3 4; f32 3 4", "broadcast=1 axis=1", "y", "div(%0, %1) : f32[2, 3, 4]"},
      {1, "Equal", "i32 2 N; i32 2", "broadcast=1 axis=0", "y", "eq(%0, %2) : bool[2, ?N]"},
      {6, "Add", "f32 2 3; f32 2 3", "broadcast=1 axis=1", "y", "does not fit at the axis"},
      {6, "Add", "f32 2 3; f32 3", "broadcast=1 axis=-9", "y", "does not fit at the axis"},
      {6, "Add", "f32 2 3; f32 3", "broadcast=1 axis=9", "y", "does not fit at the axis"},
      {7, "Add", "f32 2 3; f32 3", "", "y", "add(%0, %1) : f32[2, 3]"},
      {6, "PRelu", "f32 2 3 4; f32 3", "", "y", "prelu(%0, %2) : f32[2, 3, 4]"},
      {7, "PRelu", "f32 2 3 4; f32 3 1", "", "y", "prelu(%0, %1) : f32[2, 3, 4]"}};
  CHECK_CASES(cases);
}

TEST(ElementwiseOpsKeepTheirAttributes) {
  static const lowering_case cases[] = {
      {1, "Relu", "f32 N", "consumed_inputs=0,", "y", "relu(%0) : f32[?N]"},
      {6, "Clip", "f16 2", "min=0.0 max=6.0", "y",
       "clip(%0) {min = 0x0p+0, max = 0x1.8p+2} : f16[2]"},
      {13, "Clip", "f32 2; -; f32", "", "y", "clip(%0, _, %1) : f32[2]"},
      {24, "Swish", "f32 2", "alpha=1.5", "y", "silu(%0) {alpha = 0x1.8p+0}"},
      {10, "Mod", "i32 2; i32 2", "fmod=1", "y", "mod(%0, %1) {fmod = true}"},
      {11, "BitShift", "u8 2; u8 2", "direction='LEFT'", "y", "{direction = \"left\"}"},
      {13, "Pow", "f32 2; i64", "", "y", "pow(%0, %1) : f32[2]"},
      {8, "Sum", "f32 2; f32 3 1", "", "y", "add(%0, %1) : f32[3, 2]"},
      {8, "Sum", "f32 2; f32 3 1; f32", "", "y", "sum(%0, %1, %2) : f32[3, 2]"},
      {8, "Max", "f32 2; f32 3 1; f32", "", "y", "max(%0, %1, %2) : f32[3, 2]"},
      {13, "Relu", "f32 2", "slope=1", "y", "slope"}};
  CHECK_CASES(cases);
}

TEST(DropoutDropsNothingWithoutTraining) {
  static const lowering_case cases[] = {
      {7, "Dropout", "f32 2", "ratio=0.25", "y m", "full_like(%0) {value = 0x1p+0} : f32[2]"},
      {13, "Dropout", "f32 2", "", "y m",
       "full_like(%0) {value = 0x1p+0, dtype = \"bool\"} : bool[2]"},
      {13, "Dropout", "f32 2; -; bool", "seed=7", "y m",
       "dropout(%0, _, %1) {seed = 7} : f32[2], bool[2]"}};
  CHECK_CASES(cases);
}

TEST(NormalisationsAreLowered) {
  static const lowering_case cases[] = {
      {11, "Softmax", "f32 2 3 4", "", "y", "softmax(%0) {axis = 1, flatten = true}"},
      {11, "Softmax", "f32 2 3", "", "y", "softmax(%0) {axis = 1} : f32[2, 3]"},
      {13, "LogSoftmax", "f32 2 3 4", "", "y", "log_softmax(%0) : f32[2, 3, 4]"},
      {6, "BatchNormalization", "f32 2 3 4; f32 3; f32 3; f32 3; f32 3", "is_test=1", "y",
       "batch_norm(%0, %1, %2, %3, %4) : f32[2, 3, 4]"},
      {9, "BatchNormalization", "f32 2 3 4; f32 3; f32 3; f32 3; f32 3", "", "y a b c d",
       "{training = true} : f32[2, 3, 4], f32[3], f32[3], f32[3], f32[3]"},
      {15, "BatchNormalization", "f32 2 3 4; f32 3; f32 3; f32 3; f32 3", "training_mode=1",
       "y a b", "{training = true} : f32[2, 3, 4], f32[3], f32[3]"},
      {17, "LayerNormalization", "f16 2 3 4; f16 4", "stash_type=1", "y - d",
       ": f16[2, 3, 4], f32[2, 3, 1], f32[2, 3, 1]"},
      {18, "GroupNormalization", "f32 2 4 5; f32 2; f32 2", "num_groups=2", "y",
       "group_norm(%0, %1, %2) {groups = 2}"},
      {9, "MeanVarianceNormalization", "f32 2 3 4 5", "", "y", "{axes = [0, 2, 3]}"},
      {9, "MeanVarianceNormalization", "f32 2 3 4", "axes=1,", "y", "{axes = [1]}"}};
  CHECK_CASES(cases);
}

TEST(ReductionsAreLowered) {
  static const lowering_case cases[] = {
      {11, "ReduceLogSumExp", "f32 2 N", "axes=1, keepdims=0", "y",
       "{axes = [1], keepdims = false, op = \"log_sum_exp\"} : f32[2]"},
      {18, "ReduceMax", "f32 2 3; i64 1", "", "y", ": f32[2, 3]"},
      {18, "ReduceMax", "f32 2 3 4; i64 1", "keepdims=0", "y", ": f32[?\"y.0\", ?\"y.1\"]"},
      {18, "ReduceMax", "f32 2 3 4; i64 N", "keepdims=0", "y",
       "the number of reduced axes is unknown"},
      {12, "ArgMin", "f32 2 3", "select_last_index=1", "y",
       "argmin(%0) {select_last_index = true}"}};
  CHECK_CASES(cases);
}

TEST(ProductsLossesAndStepsAreLowered) {
  static const lowering_case cases[] = {
      {6, "Gemm", "f32 2 3; f32 4 3; f32 4", "transB=1 broadcast=1", "y",
       "gemm(%0, %1, %2) {trans_b = true} : f32[2, 4]"},
      {12, "Einsum", "f32 B I; f32 B J", "equation='bi,bj->ij'", "y", ": f32[?I, ?J]"},
      {10, "MatMulInteger", "u8 2 3; i8 3 4", "", "y", "matmul_integer(%0, %1) : i32[2, 4]"},
      {13, "SoftmaxCrossEntropyLoss", "f32 2 5; i64 2", "reduction='none'", "y p",
       ": f32[2], f32[2, 5]"},
      {17, "training:Adagrad", "f32; i64; f32 2; f32 2; f32 2", "", "x h", ": f32[2], f32[2]"},
      {17, "training:Gradient", "f32 2", "y='x'", "d", "gradients of a graph are not supported"}};
  CHECK_CASES(cases);
}
