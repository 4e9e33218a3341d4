// Tests of the shapes of attention variants and fused ops.
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
          "operand 4 (past keys) has rank 3, expected 4");
  REFUSES("f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 12, 8]",
          "attention(%0, %1, %1, _, %2) {layout = \"bhsd\"}", "f32[2, 3, 4, 8]",
          "past keys and past values must be given together");
}

TEST(ShortMasksNeedTheAttribute) {
  const char* operands = "f32[2, 3, 4, 8]; f32[2, 3, 6, 8]; f32[2, 3, 4, 4]; i64[2]";
  GIVES(operands, "attention(%0, %1, %1, %2, _, _, %3) {layout = \"bhsd\", pad_mask = true}",
        "f32[2, 3, 4, 8]");
  REFUSES(operands, "attention(%0, %1, %1, %2, _, _, %3) {layout = \"bhsd\"}", "f32[2, 3, 4, 8]",
          "operand 3 (mask) has dim 4 at 1 from the end, expected 6");
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
          "cannot be divided into 4 heads");
  REFUSES("f32[2, 3, 30]; f32[50, 4]", "rope(%0, %1, %1) {heads = -4}", "f32[2, 3, 30]",
          "heads is -4, expected at least 1");
}

TEST(FlexAttentionHasTheShapeOfAttention) {
  GIVES("f32[2, 8, 4, 16]; f32[2, 2, 6, 16]; f32[2, 2, 6, 10]",
        "flex_attention(%0, %1, %2) {scale = 0.5}", "f32[2, 8, 4, 10]");
  REFUSES("f32[2, 8, 4, 16]; f32[2, 3, 6, 16]", "flex_attention(%0, %1, %1)", "f32[2, 8, 4, 16]",
          "8 heads of q are not a multiple of 3 heads");
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
          "f32[2, 4, 64]; f32[2, 8, 8, 8]", "heads is 0, expected at least 1");
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

TEST(MultiHeadAttentionRefusesMismatchedDims) {
  REFUSES("f32[2, 5]", "multi_head_attention(%0) {heads = 4}", "f32[2, 5]",
          "operand 0 (q) has rank 2, expected 3 or 5");
  REFUSES("f32[2, 5, 32]; f32[2, 7, 32]", "multi_head_attention(%0, %1) {heads = 4}",
          "f32[2, 5, 32]", "operand 2 (v) is missing");
  REFUSES("f32[2, 5, 32]; f32[3, 7, 32]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 32]", "batches of q and k differ");
  REFUSES("f32[2, 5, 30]; f32[2, 7, 32]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 30]", "cannot be divided into 4 heads");
  REFUSES("f32[2, 5, 32]; f32[2, 3, 64, 8]",
          "multi_head_attention(%0, %0, %0, _, _, _, %1, %1) {heads = 4}", "f32[2, 5, 32]",
          "heads of the cache and of k differ: 3 and 4");
  REFUSES("f32[2, 5, 32]; f32[2, 7]", "multi_head_attention(%0, %1, %1) {heads = 4}",
          "f32[2, 5, 32]", "operand 1 has rank 2, expected at least 3");
}

TEST(GroupQueryAttentionKeepsTheLongerCache) {
  GIVES("f16[1, 1, 64]; f16[1, 1, 16]; f16[1, 2, 99, 8]; i32[1]; i32[]",
        "group_query_attention(%0, %1, %1, %2, %2, %3, %4) {heads = 8, kv_heads = 2}",
        "f16[1, 1, 64]; f16[1, 2, 100, 8]; f16[1, 2, 100, 8]");
  GIVES("f16[1, 5, 96]; i32[1]; i32[]",
        "group_query_attention(%0, _, _, _, _, %1, %2) {heads = 8, kv_heads = 2}",
        "f16[1, 5, 64]; f16[1, 2, 5, 8]; f16[1, 2, 5, 8]; f16[1, 8, 5, 5]");
  REFUSES("f16[1, 5, 96]", "group_query_attention(%0) {heads = 8, kv_heads = 3}", "f16[1, 5, 64]",
          "8 heads of q are not a multiple of 3 heads");
  REFUSES("f16[1, 5, 64]", "group_query_attention(%0, %0) {heads = 8, kv_heads = 8}",
          "f16[1, 5, 64]", "k and v must be given together");
  REFUSES("f16[1, 5, 90]", "group_query_attention(%0) {heads = 8, kv_heads = 2}", "f16[1, 5, 64]",
          "cannot be divided into 12 heads");
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
          "f32[2, 5, 32]", "sizes must be three numbers, for q, k and v");
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
          "dim 1 of operand 0 is 4, which cannot be divided into 8 groups");
}

TEST(EmbeddingsAreAsWideAsTheirWords) {
  GIVES("i32[?b, ?s]; f32[100, 64]; f32[64]", "embed_norm(%0, %0, %1, %1, %1, %2, %2, %0)",
        "f32[?b, ?s, 64]; i32[?b]; f32[?b, ?s, 64]");
  GIVES("i32[1, 7]; u8[100, 64]; u8[64]; f32[]",
        "embed_norm(%0, _, %1, %1, _, %2, %2, _, _, %3, %3)", "f32[1, 7, 64]; i32[1]");
  REFUSES("i32[1, 7]", "embed_norm(%0)", "f32[1, 7, 64]", "operand 2 (words) is missing");
  REFUSES("f32[1, 7]; f32[100, 64]", "embed_norm(%0, _, %1)", "f32[1, 7, 64]",
          "operand 0 (ids) must be integers");
}

TEST(TablesAndDistancesFollowTheirOperands) {
  GIVES("f16[2, 3, 8]; f16[8]", "split_gelu(%0, %1)", "f16[2, 3, 4]");
  REFUSES("f16[2, 3, 7]; f16[7]", "split_gelu(%0, %1)", "f16[2, 3, 3]", "2 halves");
  GIVES("u8[100, 32]; i64[2, ?s]; f16[100, 2]", "gather_quantized(%0, %1, %2)", "f16[2, ?s, 64]");
  GIVES("i4[100, 64]; i64[]; f32[100, 2]", "gather_quantized(%0, %1, %2)", "f32[64]");
  REFUSES("u8[100, 32]; i64[2]; f16[1]", "gather_quantized(%0, %1, %2) {bits = 3}", "f16[2, 64]",
          "bits is 3, expected 2, 4 or 8");
  REFUSES("u8[100, 32]; i64[2]; f16[1]", "gather_quantized(%0, %1, %2) {axis = 2}", "f16[2, 64]",
          "axis 2 is out of range");
  GIVES("f32[?s, 3]; f32[7, 3]", "cdist(%0, %1)", "f32[?s, 7]");
  REFUSES("f32[5, 3]; f32[7, 4]", "cdist(%0, %1)", "f32[5, 7]", "columns of a and b differ");
  GIVES("f32[5, 3]; f32[3, 8]", "mixture_of_experts(%0, %1) {k = 2}", "f32[5, 3]");
  GIVES("f32[32, 8]; i64[]; i64[]", "relative_position_bias(%0, %1, %2) {max_distance = 128}",
        "f32[1, 8, 5, 6]");
  REFUSES("f32[32, 8]; i64[2]; i64[]", "relative_position_bias(%0, %1, %2) {max_distance = 128}",
          "f32[1, 8, 5, 6]", "operand 1 (queries) must have one element");
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
