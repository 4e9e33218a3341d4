// Tests of the shapes of ops that move elements.
#include <string.h>

#include "graph/shape_cases.h"
#include "support/fault.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// reshape, cast, expand

TEST(ReshapeKeepsTheCount) {
  GIVES("f32[4, 6]", "reshape(%0)", "f32[2, 12]");
  GIVES("f32[]", "reshape(%0)", "f32[1, 1]");
  GIVES("f32[0, 3]", "reshape(%0)", "f32[5, 0]");
  REFUSES("f32[4, 6]", "reshape(%0)", "f32[5, 5]", "24 elements, but the result has 25");
  REFUSES("f32[4]", "reshape(%0)", "f16[4]", "the operand is f32, but the declared result is f16");
  REFUSES("f32[4294967296, 4294967296]", "reshape(%0)", "f32[4]", "does not fit in 64 bits");
}

TEST(ReshapeComparesSymbolicCounts) {
  GIVES("f32[?s, 6]", "reshape(%0)", "f32[?(2*s), 3]");
  GIVES("f32[?s, ?t]", "reshape(%0)", "f32[?(s*t)]");
  GIVES("f32[?s]", "reshape(%0)", "f32[7]");
  GIVES("f32[?s]", "reshape(%0)", "f32[?t]");
  GIVES("f32[?s, 0]", "reshape(%0)", "f32[0]");
  REFUSES("f32[?s, 2]", "reshape(%0)", "f32[?(2*s + 1)]",
          "?(2*s) elements, but the result has ?(2*s + 1)");
  REFUSES("f32[?(2*s + 3)]", "reshape(%0)", "f32[?s, 2]", "?(2*s + 3) elements");
  REFUSES("f32[?s, 0]", "reshape(%0)", "f32[4]", "0 elements, but the result has 4");
}

TEST(BindingChecksAReshapeAgain) {
  BINDS("f32[?s]", "reshape(%0)", "f32[7]", 7, "f32[7]");
  BINDS("f32[?s, 6]", "reshape(%0)", "f32[?(2*s), 3]", 5, "f32[10, 3]");
  BIND_REFUSES("f32[?s]", "reshape(%0)", "f32[7]", 6, "6 elements, but the result has 7");
}

TEST(OverflowingCountsProveNothing) {
  GIVES("f32[?(a + b), ?(c + d), ?(e + f), ?(g + h), ?(i + j), ?(k + l), ?(m + n), ?(o + p)]",
        "reshape(%0)", "f32[?z]");
  GIVES("f32[?s, 4611686018427387904, 4611686018427387904]", "reshape(%0)", "f32[?z]");
}

TEST(CastKeepsTheDims) {
  GIVES("f32[4, ?s]", "cast(%0)", "i64[4, ?s]");
  GIVES("f32[4]", "cast(%0)", "f32[4]");
  REFUSES("f32[4]", "cast(%0)", "f16[5]", "must have the operand's dims");
  REFUSES("f32[?s]", "cast(%0)", "f16[?t]", "must have the operand's dims");
  REFUSES("f32[4]", "cast(%0)", "f16[4, 1]", "must have the operand's dims");
}

TEST(ExpandTargetsABroadcast) {
  GIVES("f32[3, 1]", "expand(%0)", "f32[2, 3, 4]");
  GIVES("f32[]", "expand(%0)", "f32[5]");
  GIVES("f32[1]", "expand(%0)", "f32[?s]");
  GIVES("f32[?s]", "expand(%0)", "f32[8, 4]");
  GIVES("f32[1]", "expand(%0)", "f32[0]");
  REFUSES("f32[3]", "expand(%0)", "f32[4]", "the operand has dim 3 at 1 from the end, expected 4");
  REFUSES("f32[1, 3]", "expand(%0)", "f32[3]", "the operand has rank 2, expected at most 1");
  REFUSES("f32[3]", "expand(%0)", "f16[3]", "the operand is f32, but the declared result is f16");
  REFUSES("f32[?s]", "expand(%0)", "f32[?(s + 1)]",
          "the operand has dim ?s at 1 from the end, expected ?(s + 1)");
  BIND_REFUSES("f32[?s]", "expand(%0)", "f32[4]", 3,
               "the operand has dim 3 at 1 from the end, expected 4");
}

// ---------------------------------------------------------------------------------------------
// narrow, concat, split

TEST(NarrowTakesARange) {
  GIVES("f32[8, 4]", "narrow(%0) {axis = 0, start = 2, len = 6}", "f32[6, 4]");
  GIVES("f32[8, 4]", "narrow(%0) {axis = -1, start = 4, len = 0}", "f32[8, 0]");
  GIVES("f32[?s, 4]", "narrow(%0) {axis = 0, start = 100, len = 10}", "f32[10, 4]");
  REFUSES("f32[8, 4]", "narrow(%0) {axis = 0, start = 3, len = 6}", "f32[6, 4]",
          "start 3 and len 6 are out of range for dim 0, which is 8");
  REFUSES("f32[8]", "narrow(%0) {axis = 0, start = 9, len = 0}", "f32[0]",
          "are out of range for dim 0, which is 8");
  REFUSES("f32[8]", "narrow(%0) {axis = 0, start = 1, len = 9223372036854775807}", "f32[0]",
          "are out of range for dim 0, which is 8");
  REFUSES("f32[8]", "narrow(%0) {axis = 0, start = -1, len = 2}", "f32[2]", "must not be negative");
  REFUSES("f32[8]", "narrow(%0) {axis = 0, start = 0, len = -2}", "f32[2]", "must not be negative");
  REFUSES("f32[8]", "narrow(%0) {axis = 1, start = 0, len = 2}", "f32[2]",
          "axis 1 is out of range for rank 1");
  REFUSES("f32[8]", "narrow(%0) {axis = -2, start = 0, len = 2}", "f32[2]", "axis -2 is out of");
  REFUSES("f32[]", "narrow(%0) {axis = 0, start = 0, len = 0}", "f32[]", "out of range for rank 0");
  BIND_REFUSES("f32[?s]", "narrow(%0) {axis = 0, start = 3, len = 3}", "f32[3]", 5,
               "start 3 and len 3 are out of range for dim 0, which is 5");
}

TEST(ConcatAddsDimsAlongTheAxis) {
  GIVES("f32[2, 3]; f32[5, 3]", "concat(%0, %1)", "f32[7, 3]");
  GIVES("f32[2, 3]; f32[2, 4]; f32[2, 0]", "concat(%0, %1, %2) {axis = -1}", "f32[2, 7]");
  GIVES("f32[2]", "concat(%0)", "f32[2]");
  GIVES("f32[?past, 8]; f32[?seq, 8]", "concat(%0, %1)", "f32[?(past + seq), 8]");
  GIVES("f32[?s, 8]; f32[4, ?t]", "concat(%0, %1)", "f32[?(s + 4), 8]");
  REFUSES("f32[2, 3]; f32[5, 4]", "concat(%0, %1)", "f32[7, 3]",
          "dim 1 of operand 1 is 4, but 3 in earlier operands");
  REFUSES("f32[2]; f16[2]", "concat(%0, %1)", "f32[4]", "operand 0 is f32, but operand 1 is f16");
  REFUSES("f32[2]; f32[2, 1]", "concat(%0, %1)", "f32[4]",
          "operand 1 has rank 2, but operand 0 has rank 1");
  REFUSES("f32[2]; f32[2]", "concat(%0, %1) {axis = 1}", "f32[4]", "axis 1 is out of range");
  REFUSES("f32[2]; f32[2]", "concat(%0, _, %1)", "f32[4]", "operand 1 is missing");
  REFUSES("f32[2, ?s]; f32[2, ?(s + 1)]", "concat(%0, %1)", "f32[4, ?s]",
          "is ?(s + 1), but ?s in earlier operands");
}

TEST(ConcatOverflowIsAnError) {
  REFUSES_AS(STOW_ERR_OVERFLOW, "i8[9223372036854775807]; i8[1]", "concat(%0, %1)", "i8[0]",
             "concat");
}

TEST(SplitDividesBySizesOrEvenly) {
  GIVES("f32[6, 2]", "split(%0)", "f32[3, 2]; f32[3, 2]");
  GIVES("f32[6, 2]", "split(%0) {parts = 3}", "f32[2, 2]; f32[2, 2]; f32[2, 2]");
  GIVES("f32[6, 9]", "split(%0) {axis = -1, sizes = [4, 0, 5]}", "f32[6, 4]; f32[6, 0]; f32[6, 5]");
  GIVES("f32[?(2*s)]", "split(%0)", "f32[?s]; f32[?s]");
  GIVES("f32[?s]", "split(%0) {sizes = [4, 5]}", "f32[4]; f32[5]");
  GIVES("f32[34]",
        "split(%0) {sizes = [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, "
        "1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]}",
        "f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; "
        "f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; "
        "f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; f32[1]; "
        "f32[1]");
  REFUSES("f32[7]", "split(%0)", "f32[3]; f32[4]",
          "dim 0 is 7, which cannot be split into 2 equal parts");
  REFUSES("f32[6]", "split(%0) {parts = 3}", "f32[3]; f32[3]",
          "parts is 3, but there are 2 results");
  REFUSES("f32[6]", "split(%0) {sizes = [6]}", "f32[3]; f32[3]", "there are 1 sizes for 2 results");
  REFUSES("f32[6]", "split(%0) {sizes = [2, 3]}", "f32[2]; f32[3]", "add up to 5, but dim 0 is 6");
  REFUSES("f32[6]", "split(%0) {sizes = [7, -1]}", "f32[7]; f32[1]", "size -1 is out of range");
  REFUSES("f32[6]", "split(%0) {axis = 3}", "f32[6]", "axis 3 is out of range");
  BIND_REFUSES("f32[?s]", "split(%0) {sizes = [4, 5]}", "f32[4]; f32[5]", 8, "add up to 9");
}

// ---------------------------------------------------------------------------------------------
// transpose, gather, kv_append, pad

TEST(TransposePermutes) {
  GIVES("f32[2, 3, 4]", "transpose(%0)", "f32[4, 3, 2]");
  GIVES("f32[2, ?s, 4]", "transpose(%0) {perm = [1, -1, 0]}", "f32[?s, 4, 2]");
  GIVES("f32[]", "transpose(%0)", "f32[]");
  REFUSES("f32[2, 3]", "transpose(%0) {perm = [0]}", "f32[2, 3]", "each of 2 dims once");
  REFUSES("f32[2, 3]", "transpose(%0) {perm = [0, 0]}", "f32[2, 2]", "each of 2 dims once");
  REFUSES("f32[2, 3]", "transpose(%0) {perm = [0, -2]}", "f32[2, 2]", "each of 2 dims once");
  REFUSES("f32[2, 3]", "transpose(%0) {perm = [0, 2]}", "f32[2, 2]", "each of 2 dims once");
}

TEST(GatherPutsTheIndicesDimsInPlaceOfTheAxis) {
  GIVES("f32[50, 8]; i64[2, 5]", "gather(%0, %1)", "f32[2, 5, 8]");
  GIVES("f32[50, 8]; i32[]", "gather(%0, %1) {axis = -1}", "f32[50]");
  GIVES("f32[50, ?d]; i64[?s]", "gather(%0, %1)", "f32[?s, ?d]");
  REFUSES("f32[50, 8]; f32[2]", "gather(%0, %1)", "f32[2, 8]", "(indices) must be integers");
  REFUSES("f32[]; i64[2]", "gather(%0, %1)", "f32[2]", "axis 0 is out of range for rank 0");
  REFUSES("f32[1,1,1,1,1,1,1,1,1]; i64[1,1,1,1,1,1,1,1,1]", "gather(%0, %1)", "f32[1]",
          "would have rank 17, the maximum is 16");
}

TEST(KvAppendFitsIntoTheCache) {
  GIVES("f16[1, 32, 8]; f16[1, 4, 8]", "kv_append(%0, %1) {axis = 1}", "f16[1, 32, 8]");
  GIVES("f16[1, 32, 8]; f16[1, ?s, 8]; i64[]", "kv_append(%0, %1, %2) {axis = -2}",
        "f16[1, 32, 8]");
  REFUSES("f16[1, 32, 8]; f16[1, 33, 8]", "kv_append(%0, %1) {axis = 1}", "f16[1, 32, 8]",
          "dim 1 of the new entries is 33, but the cache has 32");
  REFUSES("f16[1, 32, 8]; f16[1, 4, 9]", "kv_append(%0, %1) {axis = 1}", "f16[1, 32, 8]",
          "dim 2 of the new entries is 9, but the cache has 8");
  REFUSES("f16[1, 32]; f16[1, 4, 8]", "kv_append(%0, %1) {axis = 1}", "f16[1, 32]",
          "the cache has rank 2, but the new entries have rank 3");
  REFUSES("f16[1, 32]; f32[1, 4]", "kv_append(%0, %1) {axis = 1}", "f16[1, 32]",
          "operand 1 is f32");
  REFUSES("f16[32]; f16[4]; f32[]", "kv_append(%0, %1, %2) {axis = 0}", "f16[32]",
          "operand 2 (position) must be integers");
  REFUSES("f16[32]; f16[4]", "kv_append(%0, %1) {axis = 1}", "f16[32]", "axis 1 is out of range");
}

TEST(PadAddsAndCrops) {
  GIVES("f32[2, 3]", "pad(%0) {pads = [0, 1, 0, 2]}", "f32[2, 6]");
  GIVES("f32[2, 3]; f32[]", "pad(%0, %1) {pads = [-1, 0, 0, -3]}", "f32[1, 0]");
  GIVES("f32[?s]", "pad(%0) {pads = [-2, 1], mode = \"reflect\"}", "f32[?(s - 1)]");
  GIVES("f32[]", "pad(%0) {pads = []}", "f32[]");
  REFUSES("f32[2]", "pad(%0) {pads = [-2, -1]}", "f32[0]", "dim 0 of result 0 would be negative");
  REFUSES("f32[2]", "pad(%0) {pads = [-9223372036854775808, 0]}", "f32[0]", "negative");
  REFUSES("f32[2]", "pad(%0) {pads = [-9223372036854775808, -1]}", "f32[0]", "out of range");
  REFUSES("f32[2]", "pad(%0) {pads = [1]}", "f32[3]", "there are 1 pads for rank 1");
  REFUSES("f32[2]", "pad(%0) {pads = [1, 1], mode = \"round\"}", "f32[4]", "mode is \"round\"");
  REFUSES("f32[2]; f32[]", "pad(%0, %1) {pads = [1, 1], mode = \"edge\"}", "f32[4]",
          "operand 1 (value) must have rank 0, and is allowed only in mode \"constant\"");
  REFUSES("f32[2]; f32[1]", "pad(%0, %1) {pads = [1, 1]}", "f32[4]", "must have rank 0");
  REFUSES("f32[2]; f16[]", "pad(%0, %1) {pads = [1, 1]}", "f32[4]", "operand 1 is f16");
  BIND_REFUSES("f32[?s]", "pad(%0) {pads = [-3, 0]}", "f32[?(s - 3)]", 2, "negative");
}

// ---------------------------------------------------------------------------------------------
// Declared types

TEST(DeclaredTypesAreKept) {
  GIVES("f32[4]; i64[2]", "custom(%0, %1) {name = \"acme.mix\"}", "f32[55, 3]; u8[?s]");
  GIVES("f32[4]", "custom(_, %0) {name = \"acme.mix\", num_inputs = 1, more = [1, 2]}", "f32[]");
  GIVES("f32[4]", "custom() {name = \"acme.make\"}", "f32[9]");
  GIVES("f32[4, 8]; u8[40]", "dequant_matmul(%0, %1)", "f32[4, 32]");
  GIVES("f32[4, 8]; u8[40]; f16[4]; u8[1]",
        "dequant_grouped_matmul(%0, %1, %2, %3) {bits = 4, scheme = \"q4\"}", "f16[4, 32]");
}

// |op| over one input f32[6], with nothing declared.
static void check_undeclared(stow_op op) {
  stow_graph* graph = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), NULL, &graph) ==
          STOW_OK);
  stow_dim six = 6;
  stow_type type = stow_type_make(STOW_F32, 1, &six);
  stow_value x = STOW_VALUE_NONE;
  stow_value y = STOW_VALUE_NONE;
  CHECK(stow_graph_input(graph, "x", &type, NULL, &x) == STOW_OK);
  CHECK(stow_graph_add(graph, op, &x, 1, &diag, &y) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "declared");
  CHECK(y == STOW_VALUE_NONE);
  CHECK_U64(stow_graph_node_count(graph), 1);
  stow_graph_destroy(graph);
}

TEST(CheckedOpsNeedADeclaredType) {
  check_undeclared(STOW_OP_RESHAPE);
  check_undeclared(STOW_OP_CAST);
  check_undeclared(STOW_OP_EXPAND);
  check_undeclared(STOW_OP_RESIZE);
}

// ---------------------------------------------------------------------------------------------
// Running out of memory

static const char* const symbolic_cases[][3] = {
    {"f32[?s, ?(s + t)]; f32[?s, ?t]", "concat(%0, %1) {axis = 1}", "f32[?s, ?(s + 2*t)]"},
    {"f32[?(s + t), ?t, 3]", "reshape(%0)", "f32[?u, ?v]"},
    {"f32[?(3*s + t)]", "split(%0)",
     "f32[?(floor_div(3*s + t, 2))]; f32[?(floor_div(3*s + t, 2))]"},
    {"f32[1, 3, ?s]; f32[4, 3, ?k]", "conv(%0, %1) {dilations = [2]}", "f32[1, 4, ?(s - 2*k + 2)]"},
};

static stow_status read_case(stow_allocator allocator, void* user) {
  const char* const* texts = symbolic_cases[*(const size_t*)user];
  stow_diag diag;
  stow_module* module = shape_case_parse(texts[0], texts[1], texts[2], allocator, &diag);
  stow_module_destroy(module);
  return diag.status;
}

TEST(SymbolicShapesSurviveEveryFailedAllocation) {
  for (size_t i = 0; i < sizeof(symbolic_cases) / sizeof(symbolic_cases[0]); ++i) {
    CHECK(test_fault_sweep(read_case, &i) > 0);
  }
}
