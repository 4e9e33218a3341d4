// ONNX ops that no core op expresses, and why.
#include "onnx/lowering_case.h"
#include "support/test.h"

TEST(RefusedOpsHaveAReason) {
  static const lowering_case cases[] = {
      {17, "SequenceConstruct", "f32 5", "", "y", "sequences are not supported"},
      {17, "Optional", "f32 5", "", "y", "optionals are not supported"},
      {20, "StringConcat", "f32 5; f32 5", "", "y", "strings are not supported"},
      {17, "Cast", "f32 5", "to=8", "y", "strings are not supported"},
      {17, "Cast", "f32 5", "to=99", "y", "element type 99 is not supported"},
      {17, "ml:ZipMap", "f32 5 4", "", "y", "maps are not supported"},
      {17, "microsoft:BeamSearch", "i32 1 4", "", "y", "hold their decoder"},
      {9, "ATen", "f32 2 8", "", "y", "PyTorch's own"}};
  CHECK_CASES(cases);
}

TEST(UnknownOpsNeedTypes) {
  static const lowering_case cases[] = {
      {17, "own:Fold", "f32 5", "", "y",
       "unknown op (domain org.example), and no type is declared"},
      {17, "Unheard", "f32 5", "", "y", "unknown op, and no type is declared"}};
  CHECK_CASES(cases);
}
