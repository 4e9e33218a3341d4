// Tests of the shapes of attention's relatives, fused ops, signals, random numbers and classical
// machine learning.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// attention with a cache, rope

TEST(AttentionAppendsToACache) {
  GIVES("f32[2, 4, 72]; f32[2, 6, 24]; f32[2, 6, 24]; f32[4, 18]; f32[2, 3, 12, 8]",
        "attention(%0, %1, %2, %3, %4, %4) {heads = 9, kv_heads = 3}",
        "f32[2, 4, 72]; f32[2, 3, 18, 8]; f32[2, 3, 18, 8]");
  GIVES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 6, 10]; f32[2, 3, 12, 8]; f32[2, 3, 12, 10]",
        "attention(%0, %1, %2, _, %3, %4) {layout = \"bhsd\"}",
        "f32[2, 3, 4, 10]; f32[2, 3, 18, 8]; f32[2, 3, 18, 10]; f32[2, 3, 4, 18]");
  GIVES("f32[2, 4, 3, 8]; f32[2, 6, 3, 8]; f32[2, 12, 3, 8]", "attention(%0, %1, %1, _, %2, %2)",
        "f32[2, 4, 3, 8]; f32[2, 18, 3, 8]; f32[2, 18, 3, 8]; f32[2, 3, 4, 18]");
  GIVES("f32[?b, 1, ?s, 8]; f32[?b, 1, ?s, 8]; f32[?b, 1, ?p, 8]",
        "attention(%0, %1, %1, _, %2, %2) {layout = \"bhsd\"}",
        "f32[?b, 1, ?s, 8]; f32[?b, 1, ?(p + s), 8]; f32[?b, 1, ?(p + s), 8]");
}

TEST(AttentionRefusesCachesThatDoNotFit) {
  const char* node = "attention(%0, %1, %1, _, %2, %2) {layout = \"bhsd\"}";
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 2, 12, 8]", node, "f32[2, 3, 4, 8]",
          "dims of the cache and of what is appended differ: 2 and 3");
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 12]", node, "f32[2, 3, 4, 8]",
          "operand 4 (past keys) has rank 3, not 4");
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 12, 8]",
          "attention(%0, %1, %1, _, %2) {layout = \"bhsd\"}", "f32[2, 3, 4, 8]",
          "past keys and past values go together");
}

TEST(MasksMayBeShortOnlyWhereSaid) {
  const char* operands = "f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 4, 4]; i64[2]";
  GIVES(operands, "attention(%0, %1, %1, %2, _, _, %3) {layout = \"bhsd\", pad_mask = true}",
        "f32[2, 3, 4, 8]");
  REFUSES(operands, "attention(%0, %1, %1, %2, _, _, %3) {layout = \"bhsd\"}", "f32[2, 3, 4, 8]",
          "where 6 is needed");
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[4, 7]",
          "attention(%0, %1, %1, %2) {layout = \"bhsd\", pad_mask = true}", "f32[2, 3, 4, 8]",
          "has dim 7");
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2]",
          "attention(%0, %1, %1, _, _, _, %2) {layout = \"bhsd\"}", "f32[2, 3, 4, 8]",
          "operand 6 (lengths) must be integers");
}

TEST(RopeTurnsPackedHeads) {
  GIVES("f32[2, 3, 32]; f32[50, 4]; i64[2, 3]", "rope(%0, %1, %1, %2) {heads = 4}",
        "f32[2, 3, 32]");
  GIVES("f32[2, 4, 3, 8]; f32[2, 3, 2]", "rope(%0, %1, %1) {rotary_dim = 4}", "f32[2, 4, 3, 8]");
  GIVES("f32[2, 4, 3, 8]; f32[2, 3, 4]", "rope(%0, %1, %1) {rotary_dim = 4}", "f32[2, 4, 3, 8]");
  REFUSES("f32[2, 3, 30]; f32[50, 4]", "rope(%0, %1, %1) {heads = 4}", "f32[2, 3, 30]",
          "cannot be cut into 4 heads");
  REFUSES("f32[2, 3, 30]; f32[50, 4]", "rope(%0, %1, %1) {heads = -4}", "f32[2, 3, 30]",
          "heads is -4, at least 1 is needed");
}

TEST(FlexAttentionHasTheShapeOfAttention) {
  GIVES("f32[2, 8, 4, 16]; f32[2, 2, 6, 16]; f32[2, 2, 6, 10]",
        "flex_attention(%0, %1, %2) {scale = 0.5}", "f32[2, 8, 4, 10]");
  REFUSES("f32[2, 8, 4, 16]; f32[2, 3, 6, 16]", "flex_attention(%0, %1, %1)", "f32[2, 8, 4, 16]",
          "8 heads of q cannot share 3 heads");
}

TEST(LinearAttentionGivesAState) {
  GIVES("f32[2, 4, 64]; f32[2, 4, 32]; f32[2, 4, 16]; f32[2, 4, 4]",
        "linear_attention(%0, %1, %2, _, %1, %3) {heads = 8, kv_heads = 4}",
        "f32[2, 4, 32]; f32[2, 4, 8, 4]");
  GIVES("f16[?b, ?s, 32]; f32[?b, 4, 8, 8]",
        "linear_attention(%0, %0, %0, %1) {heads = 4, kv_heads = 4, rule = \"linear\"}",
        "f16[?b, ?s, 32]; f32[?b, 4, 8, 8]");
  REFUSES("f32[2, 4, 64]; f32[2, 4, 64]", "linear_attention(%0, %1, %1) {heads = 8, kv_heads = 4}",
          "f32[2, 4, 64]; f32[2, 4, 8, 8]", "head sizes of q and k differ: 8 and 16");
  REFUSES("f32[2, 4, 64]; f32[2, 5, 64]", "linear_attention(%0, %1, %1) {heads = 8, kv_heads = 8}",
          "f32[2, 4, 64]; f32[2, 8, 8, 8]", "sequences of q and k differ");
  REFUSES("f32[2, 4, 64]", "linear_attention(%0, %0, %0) {heads = 0, kv_heads = 8}",
          "f32[2, 4, 64]; f32[2, 8, 8, 8]", "heads is 0, at least 1 is needed");
  REFUSES("f32[2, 4, 64]; f32[2, 8, 8, 9]",
          "linear_attention(%0, %0, %0, %1) {heads = 8, kv_heads = 8}",
          "f32[2, 4, 64]; f32[2, 8, 8, 8]", "operand 3 (state) has dim 9");
}

TEST(CausalConvKeepsItsLastSamples) {
  GIVES("f32[2, 4, 8]; f32[4, 1, 4]; f32[4]; f32[2, 4, 3]", "causal_conv(%0, %1, %2, %3)",
        "f32[2, 4, 8]; f32[2, 4, 3]");
  GIVES("f32[?b, 4, ?s]; f32[4, 1, 1]", "causal_conv(%0, %1)", "f32[?b, 4, ?s]; f32[?b, 4, 0]");
  REFUSES("f32[2, 4, 8]; f32[5, 1, 4]", "causal_conv(%0, %1)", "f32[2, 4, 8]; f32[2, 4, 3]",
          "channels of x and w differ: 4 and 5");
  REFUSES("f32[2, 4, 8]; f32[4, 1, 0]", "causal_conv(%0, %1)", "f32[2, 4, 8]; f32[2, 4, 3]",
          "dim 2 of result 1 would be negative");
}

// ---------------------------------------------------------------------------------------------
// Fused attention

TEST(MultiHeadAttentionTakesKeysInSeveralForms) {
  GIVES("f32[2, 5, 32]; f32[2, 7, 32]; f32[2, 7, 48]",
        "multi_head_attention(%0, %1, %2) {heads = 4}",
        "f32[2, 5, 48]; f32[2, 4, 7, 8]; f32[2, 4, 7, 12]; f32[2, 4, 5, 7]");
  GIVES("f32[2, 5, 4, 3, 8]", "multi_head_attention(%0) {heads = 4}",
        "f32[2, 5, 32]; f32[2, 4, 5, 8]; f32[2, 4, 5, 8]");
  GIVES("f32[2, 5, 96]", "multi_head_attention(%0) {heads = 4}", "f32[2, 5, 32]");
  GIVES("f32[2, 5, 32]; f32[2, 7, 4, 2, 8]", "multi_head_attention(%0, %1) {heads = 4}",
        "f32[2, 5, 32]");
  GIVES("f32[2, 5, 32]; f32[2, 4, 7, 8]", "multi_head_attention(%0, %1, %1) {heads = 4}",
        "f32[2, 5, 32]");
  GIVES("f32[2, 1, 32]; f32[2, 4, ?p, 8]",
        "multi_head_attention(%0, %0, %0, _, _, _, %1, %1) {heads = 4}",
        "f32[2, 1, 32]; f32[2, 4, ?(p + 1), 8]; f32[2, 4, ?(p + 1), 8]");
  GIVES("f32[2, 1, 32]; f32[2, 4, 64, 8]",
        "multi_head_attention(%0, %0, %0, _, _, _, %1, %1) {heads = 4, share_past = true}",
        "f32[2, 1, 32]; f32[2, 4, 64, 8]; f32[2, 4, 64, 8]");
}

TEST(MultiHeadAttentionRefusesWhatCannotFit) {
  REFUSES("f32[2, 5]", "multi_head_attention(%0) {heads = 4}", "f32[2, 5]", "rank 2, not 3 or 5");
  REFUSES("f32[2, 5, 32]; f32[2, 7, 32]", "multi_head_attention(%0, %1) {heads = 4}",
          "f32[2, 5, 32]", "operand 2 (v) is needed");
  REFUSES("f32[2, 5, 32]; f32[3, 7, 32]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 32]", "batches of q and k differ");
  REFUSES("f32[2, 5, 30]; f32[2, 7, 32]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 30]", "cannot be cut into 4 heads");
  REFUSES("f32[2, 5, 32]; f32[2, 3, 64, 8]",
          "multi_head_attention(%0, %0, %0, _, _, _, %1, %1) {heads = 4}", "f32[2, 5, 32]",
          "heads of the cache and of k differ: 3 and 4");
  REFUSES("f32[2, 5, 32]; f32[2, 7]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 32]", "rank 2, at least 3");
}

TEST(GroupQueryAttentionKeepsTheLongerCache) {
  GIVES("f16[1, 1, 64]; f16[1, 1, 16]; f16[1, 2, 99, 8]; i32[1]; i32[]",
        "group_query_attention(%0, %1, %1, %2, %2, %3, %4) {heads = 8, kv_heads = 2}",
        "f16[1, 1, 64]; f16[1, 2, 100, 8]; f16[1, 2, 100, 8]");
  GIVES("f16[1, 5, 96]; i32[1]; i32[]",
        "group_query_attention(%0, _, _, _, _, %1, %2) {heads = 8, kv_heads = 2}",
        "f16[1, 5, 64]; f16[1, 2, 5, 8]; f16[1, 2, 5, 8]; f16[1, 8, 5, 5]");
  REFUSES("f16[1, 5, 96]", "group_query_attention(%0) {heads = 8, kv_heads = 3}", "f16[1, 5, 64]",
          "8 heads of q cannot share 3 heads");
  REFUSES("f16[1, 5, 64]", "group_query_attention(%0, %0) {heads = 8, kv_heads = 8}",
          "f16[1, 5, 64]", "k and v go together");
  REFUSES("f16[1, 5, 90]", "group_query_attention(%0) {heads = 8, kv_heads = 2}", "f16[1, 5, 64]",
          "cannot be cut into 12 heads");
}

TEST(QkvAttentionProjects) {
  GIVES("f32[2, 5, 16]; f32[16, 96]; f32[96]", "qkv_attention(%0, %1, %2) {heads = 4}",
        "f32[2, 5, 32]; f32[2, 2, 4, 5, 8]");
  GIVES("f32[2, 5, 16]; f32[16, 80]", "qkv_attention(%0, %1) {heads = 4, sizes = [32, 32, 16]}",
        "f32[2, 5, 16]");
  GIVES("u8[?b, ?s, 16]; i8[16, 96]; f32[]; f32[2, ?b, 4, ?p, 8]",
        "qkv_attention(%0, %1, _, _, %3, _, _, _, _, %2, %2) {heads = 4}",
        "f32[?b, ?s, 32]; f32[2, ?b, 4, ?(p + s), 8]");
  REFUSES("f32[2, 5, 16]; f32[15, 96]", "qkv_attention(%0, %1) {heads = 4}", "f32[2, 5, 32]",
          "columns of x and rows of w differ");
  REFUSES("f32[2, 5, 16]; f32[16, 96]", "qkv_attention(%0, %1) {heads = 4, sizes = [1, 2]}",
          "f32[2, 5, 32]", "sizes are three numbers");
  REFUSES("f32[2, 5, 16]; f32[16, 96]", "qkv_attention(%0, %1) {heads = 4, sizes = [1, 2, 4]}",
          "f32[2, 5, 4]", "the sum of sizes and the columns of w differ: 7 and 96");
  REFUSES_AS(STOW_ERR_OVERFLOW, "f32[2, 5, 16]; f32[16, 96]",
             "qkv_attention(%0, %1) {heads = 4, sizes = [9223372036854775807, 9223372036854775807, "
             "1]}",
             "f32[2, 5, 4]", "");
}

// ---------------------------------------------------------------------------------------------
// Fused ops and images

TEST(SkipNormsGiveTheSumToo) {
  GIVES("f16[2, ?s, 8]; f16[?s, 8]; f16[8]", "skip_norm(%0, %1, %2, %2, %2)",
        "f16[2, ?s, 8]; f32[2, ?s, 1]; f32[2, ?s, 1]; f16[2, ?s, 8]");
  REFUSES("f16[2, 3, 8]; f16[4, 8]", "skip_norm(%0, %1)", "f16[2, 3, 8]", "operand 1 (skip)");
  REFUSES("f16[2, 3, 8]; f16[4]", "skip_norm(%0, %0, %1)", "f16[2, 3, 8]", "operand 2 (scale)");
  REFUSES("f16[2, 3, 8]", "skip_norm(%0, %0) {op = \"group\"}", "f16[2, 3, 8]",
          "not \"layer\" or \"rms\"");
  GIVES("f16[2, 4, 4, 32]; f32[32]",
        "skip_group_norm(%0, %1, %1, %0) {groups = 8, channels_last = true, activation = \"silu\"}",
        "f16[2, 4, 4, 32]; f16[2, 4, 4, 32]");
  REFUSES("f16[2, 4, 4, 32]", "skip_group_norm(%0) {groups = 8}", "f16[2, 4, 4, 32]",
          "dim 1 of operand 0, which is 4, cannot be cut into 8 groups");
}

TEST(EmbeddingsAreAsWideAsTheirWords) {
  GIVES("i32[?b, ?s]; f32[100, 64]; f32[64]", "embed_norm(%0, %0, %1, %1, %1, %2, %2, %0)",
        "f32[?b, ?s, 64]; i32[?b]; f32[?b, ?s, 64]");
  GIVES("i32[1, 7]; u8[100, 64]; u8[64]; f32[]",
        "embed_norm(%0, _, %1, %1, _, %2, %2, _, _, %3, %3)", "f32[1, 7, 64]; i32[1]");
  REFUSES("i32[1, 7]", "embed_norm(%0)", "f32[1, 7, 64]", "operand 2 (words) is needed");
  REFUSES("f32[1, 7]; f32[100, 64]", "embed_norm(%0, _, %1)", "f32[1, 7, 64]",
          "operand 0 (ids) must be integers");
}

TEST(TablesAndDistancesFollowTheirOperands) {
  GIVES("f16[2, 3, 8]; f16[8]", "split_gelu(%0, %1)", "f16[2, 3, 4]");
  REFUSES("f16[2, 3, 7]; f16[7]", "split_gelu(%0, %1)", "f16[2, 3, 3]", "2 halves");
  GIVES("u8[100, 32]; i64[2, ?s]; f16[100, 2]", "gather_quantized(%0, %1, %2)", "f16[2, ?s, 64]");
  GIVES("i4[100, 64]; i64[]; f32[100, 2]", "gather_quantized(%0, %1, %2)", "f32[64]");
  REFUSES("u8[100, 32]; i64[2]; f16[1]", "gather_quantized(%0, %1, %2) {bits = 3}", "f16[2, 64]",
          "bits is 3, not 2, 4 or 8");
  REFUSES("u8[100, 32]; i64[2]; f16[1]", "gather_quantized(%0, %1, %2) {axis = 2}", "f16[2, 64]",
          "axis 2 is out of range");
  GIVES("f32[?s, 3]; f32[7, 3]", "cdist(%0, %1)", "f32[?s, 7]");
  REFUSES("f32[5, 3]; f32[7, 4]", "cdist(%0, %1)", "f32[5, 7]", "columns of a and b differ");
  GIVES("f32[5, 3]; f32[3, 8]", "mixture_of_experts(%0, %1) {k = 2}", "f32[5, 3]");
  GIVES("f32[32, 8]; i64[]; i64[]", "relative_position_bias(%0, %1, %2) {max_distance = 128}",
        "f32[1, 8, 5, 6]");
  REFUSES("f32[32, 8]; i64[2]; i64[]", "relative_position_bias(%0, %1, %2) {max_distance = 128}",
          "f32[1, 8, 5, 6]", "operand 1 (queries) must be one number");
}

TEST(ImagesAreCropped) {
  GIVES("f32[1, 3, 64, 64]; f32[9, 4]; i32[9]; i32[2]", "crop_and_resize(%0, %1, %2, %3)",
        "f32[9, 3, 7, 7]");
  REFUSES("f32[1, 3, 64, 64]; f32[9, 4]; i32[9]; i32[3]", "crop_and_resize(%0, %1, %2, %3)",
          "f32[9, 3, 7, 7]", "numbers of the size and 2 differ");
  GIVES("f32[1, 3, 10, ?w]", "crop(%0) {border = [1, 2, 3, 4]}", "f32[1, 3, 4, ?(w - 4)]");
  GIVES("f32[1, 3, 10, 20]", "crop(%0) {border = [1, 2, 3, 4], size = [5, 6]}", "f32[1, 3, 5, 6]");
  REFUSES("f32[1, 3, 10, 20]", "crop(%0) {border = [1, 2]}", "f32[1, 3, 5, 6]", "4 numbers");
  REFUSES("f32[1, 3, 10, 20]", "crop(%0) {border = [-1, 2, 3, 4]}", "f32[1, 3, 5, 6]",
          "must not be negative");
  REFUSES("f32[1, 3, 4, 20]", "crop(%0) {border = [0, 3, 0, 3]}", "f32[1, 3, 5, 6]",
          "dim 2 of result 0 would be negative");
}

// ---------------------------------------------------------------------------------------------
// Signals

TEST(FourierTransformsHaveHalfTheBinsOneSided) {
  GIVES("f32[1, 10, 10, 1]", "dft(%0)", "f32[1, 10, 10, 2]");
  GIVES("f32[1, 10, 10, 1]", "dft(%0) {axis = 1, onesided = true}", "f32[1, 6, 10, 2]");
  GIVES("f32[1, 6, 10, 2]", "dft(%0) {axis = 1, onesided = true, inverse = true}",
        "f32[1, 10, 10, 1]");
  GIVES("f32[1, ?(2*s), 1]", "dft(%0) {onesided = true}", "f32[1, ?(s + 1), 2]");
  GIVES("f32[1, 10, 1]; i64[]", "dft(%0, %1)", "f32[1, 16, 2]");
  GIVES("f32[1, 10, 9, 1]; i64[]", "dft(%0, _, %1)", "f32[1, 10, 9, 2]");
  REFUSES("f32[1, 10, 1]", "dft(%0) {axis = 2}", "f32[1, 10, 2]", "axis 2 is out of range");
  REFUSES("f32[1, 10, 1]; f32[]", "dft(%0, %1)", "f32[1, 10, 2]", "must be integers");
  GIVES("f32[2, 10]", "rfft(%0)", "f32[2, 6, 2]");
  GIVES("f32[2, 6, 2]", "rfft(%0) {inverse = true}", "f32[2, 10]");
  GIVES("f32[2, 10]", "rfft(%0) {onesided = false}", "f32[2, 10, 2]");
  REFUSES("f32[2, 6, 3]", "rfft(%0) {inverse = true}", "f32[2, 10]", "the last dim and 2 differ");
}

TEST(FramesOfASignalDependOnTheStep) {
  GIVES("f32[1, 128, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 9, 2]");
  GIVES("f32[1, 128, 1]; i64[]; i64[]", "stft(%0, %1, _, %2)", "f32[1, 15, 9, 2]");
  REFUSES("f32[1, 128, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 8, 2]", "");
  REFUSES("f32[1, 128, 1]; i64[]", "stft(%0, %1)", "f32[1, 15, 8, 2]",
          "a window or a frame length is needed");
  REFUSES("f32[1, 128, 1, 1]; i64[]; f32[16]", "stft(%0, %1, %2)", "f32[1, 15, 9, 2]",
          "rank 4, not 2 or 3");
}

TEST(WindowsAndFilesAreAsLongAsDataSays) {
  GIVES("i64[]", "window(%0) {kind = \"hann\"}", "f32[10]");
  GIVES("i64[]", "window(%0) {kind = \"hamming\", dtype = \"f64\", periodic = false}", "f64[10]");
  REFUSES("i64[]", "window(%0) {kind = \"flat\"}", "f32[10]", "\"hann\", \"hamming\" or");
  REFUSES("i64[]", "window(%0) {kind = \"hann\", dtype = \"float\"}", "f32[10]",
          "which is no element type");
  REFUSES("f32[]", "window(%0) {kind = \"hann\"}", "f32[10]", "must be integers");
  GIVES("i32[]; i32[]; i32[]; f32[]", "mel_weights(%0, %1, %2, %3, %3)", "f32[9, 8]");
  GIVES("u8[1058]", "decode_image(%0)", "u8[32, 32, 3]");
  GIVES("u8[1058]", "decode_image(%0) {format = \"grayscale\"}", "u8[32, 32, 1]");
  REFUSES("u8[2, 9]", "decode_image(%0)", "u8[32, 32, 3]", "rank 2, not 1");
}

// Reads a graph whose last node stands on known values.
static void reads(const char* text, int line) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(module != NULL, __FILE__, line, "%s: %s", text, diag.message);
  stow_module_destroy(module);
}

static void refuses(const char* text, const char* message, int line) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_module* module = NULL;
  stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(), &diag, &module);
  test_check(module == NULL, __FILE__, line, "%s is accepted", text);
  test_check(strstr(diag.message, message) != NULL, __FILE__, line, "\"%s\" has no \"%s\"",
             diag.message, message);
  stow_module_destroy(module);
}

#define WITH_NUMBER(number, type, node)                                               \
  "graph @g {\n  %0 = input \"x\" : " type "\n  %1 = constant \"n\" {data = [" number \
  "]} : i64[]\n  %2 = constant \"m\" {data = [4]} : i64[]\n  %3 = " node "\n  return %3\n}\n"
#define READS(number, type, node) reads(WITH_NUMBER(number, type, node), __LINE__)
#define DECLINES(number, type, node, message) \
  refuses(WITH_NUMBER(number, type, node), (message), __LINE__)

TEST(KnownLengthsAreFollowed) {
  READS("16", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 16, 2]");
  READS("16", "f32[1, 10, 1]", "dft(%0, %1) {onesided = true} : f32[1, 9, 2]");
  READS("1", "f32[1, 10, 12, 1]", "dft(%0, %2, %1) : f32[1, 4, 12, 2]");
  READS("8", "f32[?b, ?s, 1]", "stft(%0, %1, _, %2) : f32[?b, ?(floor_div(s - 4, 8) + 1), 3, 2]");
  READS("8", "f32[1]", "window(%1) {kind = \"blackman\"} : f32[8]");
  READS("8", "f32[]", "mel_weights(%1, %2, %1, %0, %0) : f32[3, 8]");
  READS("8", "f32[32, 6]",
        "relative_position_bias(%0, %1, %2) {max_distance = 9} : f32[1, 6, 8, 4]");
}

TEST(KnownLengthsThatCannotBeAreRefused) {
  DECLINES("16", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 17, 2]", "f32[1, 16, 2]");
  DECLINES("2", "f32[1, 10, 1]", "dft(%0, _, %1) : f32[1, 10, 2]", "axis 2 is out of range");
  DECLINES("0", "f32[1, 128]", "stft(%0, %1, _, %2) : f32[1, 1, 3, 2]", "the step is 0");
  DECLINES("-1", "f32[1]", "window(%1) {kind = \"hann\"} : f32[1]", "would be negative");
  DECLINES("9223372036854775807", "f32[1, 10, 1]", "dft(%0, %1) : f32[1, 4, 2]", "");
}

// ---------------------------------------------------------------------------------------------
// Random numbers

TEST(RandomNumbersFillAShapeOrAreLikeAnOperand) {
  GIVES("f32[1]", "random_normal() {shape = [2, 3], dtype = \"f16\"}", "f16[2, 3]");
  GIVES("f32[1]", "random_uniform() {shape = []}", "f32[]");
  GIVES("f64[?s, 2]", "random_normal(%0) {seed = 1.0}", "f64[?s, 2]");
  GIVES("i64[?s, 2]", "random_uniform(%0) {dtype = \"f32\", low = -1.0}", "f32[?s, 2]");
  REFUSES("f32[1]", "random_normal() {shape = [2, -3]}", "f32[2]", "dim 1 of the shape is -3");
  REFUSES("f32[1]", "random_normal() {shape = [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}", "f32[2]",
          "at most 16 fit");
  GIVES("f64[3, 4]", "bernoulli(%0) {dtype = \"bool\"}", "bool[3, 4]");
  GIVES("f64[3, 4]", "bernoulli(%0)", "f64[3, 4]");
  GIVES("f32[?b, 4]", "multinomial(%0) {samples = 7, dtype = \"i64\"}", "i64[?b, 7]");
  REFUSES("f32[3, 4]", "multinomial(%0) {samples = 0}", "i32[3, 0]", "samples is 0");
  REFUSES("f32[3]", "multinomial(%0)", "i32[3, 1]", "operand 0 (x) has rank 1, not 2");
}

// ---------------------------------------------------------------------------------------------
// Classical machine learning

TEST(ModelsGiveRowsOfResults) {
  GIVES("f32[?s, 4]", "classifier(%0) {kind = \"trees\", columns = 3, nodes_modes = [\"LEAF\"]}",
        "i64[?s]; f32[?s, 3]");
  GIVES("i64[4]", "classifier(%0) {kind = \"svm\", columns = 2}", "i64[1]; f32[1, 2]");
  GIVES("f64[7, 4]", "regressor(%0) {kind = \"linear\", targets = 2}", "f32[7, 2]");
  GIVES("f64[7, 4]", "tree_ensemble(%0) {targets = 2}", "f64[7, 2]");
  REFUSES("f64[7, 4]", "regressor(%0) {kind = \"forest\", targets = 2}", "f32[7, 2]",
          "\"linear\", \"svm\" or \"trees\"");
  REFUSES("f64[7, 4, 1]", "tree_ensemble(%0) {targets = 2}", "f64[7, 2]", "rank 3, not 1 or 2");
  REFUSES("f64[7, 4]", "tree_ensemble(%0) {targets = 0}", "f64[7, 2]", "targets is 0");
}

TEST(FeaturesAreEncoded) {
  GIVES("i64[?s]", "label_encode(%0) {dtype = \"f32\", keys_int64s = [1, 2]}", "f32[?s]");
  GIVES("i64[5, 2]", "encode_categories(%0) {categories = [1, 2, 3]}", "f32[5, 2, 3]");
  REFUSES("i64[5, 2]", "encode_categories(%0) {categories = []}", "f32[5, 2, 3]", "no categories");
  GIVES("i64[5, 2]", "binarize(%0)", "i64[5, 2]");
  GIVES("i64[5, 2]", "impute(%0) {replaced_value_int64 = 3}", "i64[5, 2]");
  GIVES("i64[5, 2]", "normalize_rows(%0) {norm = \"l2\"}", "f32[5, 2]");
  GIVES("i64[5, 2]", "scale_features(%0) {scale = [1.0, 2.0]}", "f32[5, 2]");
  GIVES("f32[3, 4]; i64[2]", "pick_features(%0, %1)", "f32[3, 2]");
  GIVES("f32[4]; i64[1, 2]", "pick_features(%0, %1)", "f32[1, 2]");
  REFUSES("f32[4]; f32[2]", "pick_features(%0, %1)", "f32[1, 2]", "must be integers");
  GIVES("i64[?s, 2]; f32[?s, 3]", "join_features(%0, %1)", "f32[?s, 5]");
  GIVES("i64[2]; f32[3]", "join_features(%0, %1) {sizes = [1, 3]}", "f32[1, 4]");
  REFUSES("i64[2, 2]; f32[3, 2]", "join_features(%0, %1)", "f32[2, 4]", "rows of the operands");
  REFUSES("i64[2, 2]; f32[2, 2]", "join_features(%0, %1) {sizes = [1]}", "f32[2, 4]",
          "1 sizes for 2 operands");
  GIVES("i32[2, 6]", "tfidf(%0) {columns = 7, mode = \"TF\"}", "f32[2, 7]");
  GIVES("i32[12]", "tfidf(%0) {columns = 7}", "f32[7]");
  REFUSES("f32[12]", "tfidf(%0) {columns = 7}", "f32[7]", "must be integers");
}
