// Which core ops layout, shape and image ONNX ops of old and new versions become.
#include "onnx/lowering_case.h"
#include "support/test.h"

TEST(OldLayoutsHaveAttributesForOperands) {
  static const lowering_case cases[] = {
      {1, "Reshape", "f32 2 6", "shape=3,-1", "y", "reshape(%0, %1) : f32[3, 4]"},
      {1, "Concat", "f32 2 3; f32 2 4", "", "y", "{axis = 1} : f32[2, 7]"},
      {1, "Tile", "f32 2; f32; f32", "", "y", "before 6 is not supported"},
      {1, "Slice", "f32 6 5", "starts=1,0 ends=3,-1", "y", ": f32[2, 4]"},
      {1, "Squeeze", "f32 1 5", "axes=0,", "y", "squeeze(%0) {axes = [0]} : f32[5]"},
      {2, "Split", "f32 6", "split=2,4", "y z", ": f32[2], f32[4]"}};
  CHECK_CASES(cases);
}

TEST(PadsHaveTheirValueFirst) {
  static const lowering_case cases[] = {
      {1, "Pad", "f32 2 3", "paddings=0,1,0,1 value=2.0", "y", ": f32[2, 5]"},
      {2, "Pad", "f32 2 3", "pads=0,1,0,1 value=2.0", "y", ": f32[2, 5]"},
      {2, "Pad", "f16 2 3", "pads=0,1,0,1 value=2.0", "y", "cast(%1) {to = \"f16\"} : f16[]"},
      {2, "Pad", "f32 2 3", "pads=0,1,0,1 mode='edge'", "y",
       "mode = \"edge\", pads = [0, 1, 0, 1]} : f32[2, 5]"},
      {13, "Pad", "f32 2 3; i64 4; f32 1", "", "y", "reshape(%2) : f32[]"},
      {18, "Pad", "f32 2 3; i64 1; -; i64 1", "", "y", "pad(%0, _, %1, %2)"},
      {27, "Range", "f16; f16; f16", "stash_type=10", "y", "are computed in f32 only"},
      {27, "Range", "f16; f16; f16", "stash_type=1", "y", "range(%0, %1, %2)"},
      {27, "Range", "f32; f32; f32", "stash_type=10", "y", "range(%0, %1, %2)"},
      {28, "SpaceToDepth", "f32 1 2 4 6", "blocksize=2 mode='CRD'", "y",
       "space_to_depth(%0) {blocksize = 2, mode = \"crd\"} : f32[1, 8, 2, 3]"}};
  CHECK_CASES(cases);
}

TEST(SelectionsAreLowered) {
  static const lowering_case cases[] = {
      {11, "GatherElements", "f32 2 3; i64 2 1", "axis=1", "y",
       "gather_elements(%0, %1) {axis = 1} : f32[2, 1]"},
      {11, "ScatterND", "f32 4 3; i64 2 1; f32 2 3", "", "y", "scatter_nd(%0, %1, %2)"},
      {9, "Scatter", "f32 4 3; i64 2 3; f32 2 3", "", "y", "scatter_elements(%0, %1, %2)"},
      {11, "TopK", "f32 9; i64 1", "", "y i", "topk(%0, %1) :"},
      {11, "Unique", "f32 9", "sorted=0", "y", "unique(%0) {sorted = false}"},
      {9, "Compress", "f32 9 2; bool 9", "axis=0", "y", "compress(%0, %1) {axes = [0]}"}};
  CHECK_CASES(cases);
}

TEST(ImagesAreLowered) {
  static const lowering_case cases[] = {
      {7, "Upsample", "f32 1 2 3 4", "scales=1.0,1.0,2.0,2.0,", "y", ": f32[1, 2, 6, 8]"},
      {7, "Upsample", "f32 1 2 3 4", "", "y", "must be a list of floats"},
      {7, "Upsample", "f32 1 2 3 4", "scales=1.0,1.0,2.0,2.0,", "y",
       "{coordinates = \"asymmetric\", nearest_mode = \"ceil_if_smaller\"}"},
      {10, "RoiAlign", "f32 1 2 9 9; f32 3 4; i64 3", "output_height=2 output_width=2", "y",
       "coordinates = \"output_half_pixel\""},
      {16, "GridSample", "f32 1 2 9 9; f32 1 4 5 2", "mode='bilinear'", "y", ": f32[1, 2, 4, 5]"},
      {1, "Selu", "f32 2", "", "y", "selu(%0) {alpha = 0x1.ac"}};
  CHECK_CASES(cases);
}
