// Which core ops attention, signal and fused ONNX ops become.
#include "onnx/lowering_case.h"
#include "support/test.h"

TEST(AttentionHasHeadsFirst) {
  static const lowering_case cases[] = {
      {23, "Attention", "f32 2 3 4 8; f32 2 3 6 8; f32 2 3 6 8", "is_causal=1", "y",
       "{causal = true, layout = \"bhsd\"} : f32[2, 3, 4, 8]"},
      {24, "Attention", "f32 2 3 4 8; f32 2 3 6 8; f32 2 3 6 8; f32 4 5", "", "y",
       "pad_mask = true"},
      {23, "Attention", "f32 2 3 4 8; f32 2 3 6 8; f32 2 3 6 8; f32 4 5", "", "y", "expected 6"},
      {25, "preview:FlexAttention", "f32 2 3 4 8; f32 2 3 6 8; f32 2 3 6 8", "", "y",
       "flex_attention(%0, %1, %2) : f32[2, 3, 4, 8]"},
      {23, "microsoft:CausalConvWithState", "f32 2 6 9; f32 6 1 4", "channels_last=1", "y s",
       "only the form of the ONNX op"},
      {23, "microsoft:CausalConvWithState", "f32 2 6 9; f32 6 1 4", "activation='silu'", "y s",
       ": f32[2, 6, 9], f32[2, 6, 3]"}};
  CHECK_CASES(cases);
}

TEST(SignalsKeepTheirAxis) {
  static const lowering_case cases[] = {
      {17, "DFT", "f32 1 10 9 1", "onesided=1", "y", "axis = 1} : f32[1, 6, 9, 2]"},
      {20, "DFT", "f32 1 10 9 1", "onesided=1", "y", "f32[1, 10, 5, 2]"},
      {17, "microsoft:Rfft", "f32 2 10", "", "y", ": f32[2, 6, 2]"},
      {17, "microsoft:Irfft", "f32 2 6 2", "", "y", "inverse = true"}};
  CHECK_CASES(cases);
}

TEST(FusedOpsTakeOperandsInTheCoresOrder) {
  static const lowering_case cases[] = {
      {17, "microsoft:RotaryEmbedding", "f32 2 3 32; i32 2 3; f32 50 4; f32 50 4", "", "y",
       "rope(%0, %2, %3, %1) {heads = 4}"},
      {17, "microsoft:RotaryEmbedding", "f32 2 3 W; i32 2 3; f32 50 4; f32 50 4", "num_heads=2",
       "y", "{heads = 2}"},
      {17, "microsoft:SkipSimplifiedLayerNormalization", "f32 2 3 8; f32 2 3 8; f32 8; f32 8", "",
       "y - - sum", "skip_norm(%0, %1, %2, _, %3) {op = \"rms\"}"},
      {17, "microsoft:BiasGelu", "f32 2 8; f32 8", "", "y", "gelu(%2)"},
      {17, "microsoft:FastGelu", "f32 2 8", "", "y", "gelu(%0) {approximate = \"tanh\"}"},
      {17, "microsoft:QuickGelu", "f32 2 8", "alpha=1.5", "y", "silu(%0) {alpha = 0x1.8p+0}"},
      {17, "microsoft:BiasAdd", "f32 2 4 8; f32 8; f32 2 4 8", "", "y", "add(%3, %2)"},
      {17, "microsoft:GroupNorm", "f32 2 4 4 8; f32 8; f32 8", "groups=4 activation=1", "y",
       "activation = \"silu\""},
      {17, "SimplifiedLayerNormalization", "f32 2 8; f32 8", "", "y", "rms_norm(%0, %1)"},
      {17, "SimplifiedLayerNormalization", "f32 2 8; f32 8", "", "y d",
       "a result for training, is not"},
      {11, "LayerNormalization", "f32 2 8; f32 8", "", "y", "layer_norm(%0, %1)"},
      {9, "Affine", "f32 2 8", "", "y", "affine(%0)"}};
  CHECK_CASES(cases);
}

TEST(FusedAttentionTakesOperandsInTheCoresOrder) {
  static const lowering_case cases[] = {
      {17, "microsoft:MultiHeadAttention", "f32 2 5 32; f32 2 7 32; f32 2 7 48", "num_heads=4", "y",
       "{heads = 4} : f32[2, 5, 48]"},
      {17, "microsoft:GroupQueryAttention",
       "f32 2 3 32; f32 2 3 16; f32 2 3 16; f32 2 2 9 8; f32 2 2 9 8; i32 2; i32",
       "num_heads=4 kv_num_heads=2 smooth_softmax=1", "y k v", "smooth_softmax = true"},
      {17, "microsoft:DecoderMaskedMultiHeadAttention", "f32 2 1 32; f32 2 1 32; f32 2 1 32",
       "num_heads=4", "y", "multi_head_attention(%0, %1, %2) {heads = 4}"},
      {17, "microsoft:QAttention", "u8 2 5 32; u8 32 96; f32 96; f32; f32", "num_heads=4", "y",
       "qkv_attention(%0, %1, %2, _, _, _, _, _, _, %3, %4) {heads = 4} : f32[2, 5, 32]"},
      {17, "microsoft:QEmbedLayerNormalization",
       "i32 2 5; i32 2 5; u8 9 8; u8 9 8; u8 2 8; u8 8; u8 8; i32 2 5; f32; f32", "", "y m",
       "embed_norm(%0, %1, %2, %3, %4, %5, %6, %7, _, %8, %9"}};
  CHECK_CASES(cases);
}
