// Tests of what a text means: nodes, values, names, attributes, regions; and that no text causes
// harm.
#include <stdio.h>
#include <stdlib.h>

#include "graph/api.h"
#include "graph/text_support.h"

// Uses every part of the grammar.
static const char everything[] =
    "# comment\n"
    "graph @everything {\n"
    "  %0 = input \"x\" : f32[4, ?n]\n"
    "  %1 = constant \"c\" {data = [1, 2]} : i64[2]\n"
    "  %2 = input \"flag\" : bool[] with {io = \"consume\"}\n"
    "  %3, %4 = custom(%0, _, %1) {name = \"a\\x00\\n\", f = [1, 0.5, -inf], s = [\"\", \"\\\"\"], "
    "e = []} "
    ": bounded f32[?(n + 2*m - 1), 6], i64[?(floor_div(n, m)), ?\"a b\"] with {align = [64, -1]}\n"
    "  %8 \"chosen\" = if(%2) {\n"
    "    %5 = relu(%0) : f32[4, ?n]\n"
    "    yield %5\n"
    "  } else {\n"
    "    %6 = exp(%0) : f32[4, ?n]\n"
    "    %7 = relu(%6) : f32[4, ?n]\n"
    "    yield %7\n"
    "  } : f32[4, ?n]\n"
    "  %13 = loop(_, %2, %8) {\n"
    "    %9, %10, %11 = args() : i64[], bool[], f32[4, ?n]\n"
    "    %12 = relu(%11) : f32[4, ?n]\n"
    "    yield %10, %12\n"
    "  } : f32[4, ?n]\n"
    "  return %13, %3\n"
    "}\n"
    "graph @other {\n"
    "  %0 = input \"x\" : f32[]\n"
    "  return %0\n"
    "}\n";

TEST(NodesAndValuesAreAsWritten) {
  stow_module* module = parse_text(everything);
  REQUIRE(module != NULL);
  CHECK_U64(stow_module_graph_count(module), 2);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stow_module_graph(module, 2) == NULL);
  CHECK(stow_module_find(module, stow_str_of("everything")) == graph);
  CHECK(stow_module_find(module, stow_str_of("other")) == stow_module_graph(module, 1));
  CHECK(stow_module_find(module, stow_str_of("none")) == NULL);
  CHECK(stow_str_equal(stow_graph_name(graph), stow_str_of("everything")));
  CHECK_U64(stow_graph_value_count(graph), 14);
  CHECK_U64(stow_graph_node_count(graph), 14);
  CHECK_U64(stow_graph_output_count(graph), 2);
  CHECK_U64(stow_graph_outputs(graph)[0], 13);
  CHECK_U64(stow_graph_find(graph, stow_str_of("chosen")), 8);
  CHECK_U64(stow_graph_find(graph, stow_str_of("flag")), 2);
  CHECK(stow_graph_is_bounded(graph, 3));
  CHECK(!stow_graph_is_bounded(graph, 4));
  CHECK_U64(stow_graph_line(graph, stow_graph_producer(graph, 0)), 3);
  CHECK_U64(stow_graph_line(graph, stow_graph_producer(graph, 8)), 7);
  CHECK(stow_graph_op(graph, stow_graph_producer(graph, 13)) == STOW_OP_LOOP);
  stow_module_destroy(module);
}

TEST(UpperBoundedDimsAreListedUnlessAllAre) {
  CHECK_ROUND_TRIP(
      "graph @g {\n"
      "  %0 = input \"x\" : bounded(0, 2) f32[4, 5, 6]\n"
      "  %1 = relu(%0) : bounded(0, 2) f32[4, 5, 6]\n"
      "  %2 = reduce(%1) {axes = [0]} : bounded(2) f32[1, 5, 6]\n"
      "  return %2\n"
      "}\n");
  CHECK_PRINTS_AS(
      "graph @g {\n"
      "  %0 = input \"x\" : bounded(1, 0, 1) f32[4, ?n]\n"
      "  %1 = nonzero(%0) : i64[2, ?(4*n)]\n"
      "  return %1\n"
      "}\n",
      "graph @g {\n"
      "  %0 = input \"x\" : bounded f32[4, ?n]\n"
      "  %1 = nonzero(%0) : bounded(1) i64[2, ?(4*n)]\n"
      "  return %1\n"
      "}\n");
}

TEST(OperandsAndRegionsAreAsWritten) {
  stow_module* module = parse_text(everything);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_node custom = stow_graph_producer(graph, 3);
  CHECK_U64(stow_graph_operand_count(graph, custom), 3);
  CHECK(stow_graph_operands(graph, custom)[1] == STOW_VALUE_NONE);
  CHECK_U64(stow_graph_operands(graph, custom)[2], 1);
  stow_node choice = stow_graph_producer(graph, 8);
  stow_region otherwise = stow_graph_owned_region(graph, choice, 1);
  CHECK(stow_graph_node_region(graph, stow_graph_producer(graph, 7)) == otherwise);
  CHECK(stowi_graph_region_owner(graph, otherwise) == choice);
  CHECK(stow_graph_op(graph, stowi_graph_region_last(graph, otherwise)) == STOW_OP_YIELD);
  stow_module_destroy(module);
}

TEST(AttributesAreAsWritten) {
  stow_module* module = parse_text(everything);
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  stow_node custom = stow_graph_producer(graph, 3);
  const stow_attr* name = stow_graph_attr(graph, custom, "name");
  stow_str expected = {"a\0\n", 3};
  CHECK(name != NULL && name->kind == STOW_ATTR_STRING && stow_str_equal(name->s, expected));
  const stow_attr* floats = stow_graph_attr(graph, custom, "f");
  REQUIRE(floats != NULL && floats->kind == STOW_ATTR_FLOATS && floats->count == 3);
  CHECK(floats->floats[0] == 1.0 && floats->floats[1] == 0.5 && floats->floats[2] < -1e308);
  const stow_attr* strings = stow_graph_attr(graph, custom, "s");
  REQUIRE(strings != NULL && strings->kind == STOW_ATTR_STRINGS && strings->count == 2);
  CHECK(strings->strings[0].size == 0);
  CHECK(stow_str_equal(strings->strings[1], stow_str_of("\"")));
  const stow_attr* empty = stow_graph_attr(graph, custom, "e");
  CHECK(empty != NULL && empty->kind == STOW_ATTR_INTS && empty->count == 0);
  REQUIRE(stowi_graph_with_count(graph, custom) == 1);
  const stow_attr* with = stowi_graph_with_at(graph, custom, 0);
  CHECK(with->kind == STOW_ATTR_INTS && with->ints[0] == 64 && with->ints[1] == -1);
  stow_module_destroy(module);
}

TEST(DestroyingNullIsAllowed) { stow_module_destroy(NULL); }

// ---------------------------------------------------------------------------------------------
// No text does harm

// Parses a copy that ends exactly at |size|, so that a sanitizer sees reads beyond it. An error has
// a place within the text; what parses prints, and the print parses to the same print.
static void check_harmless(const char* text, size_t size) {
  char* copy = malloc(size + (size == 0));
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, text, size);
  stow_status status =
      stow_module_parse(copy, size, "f", NULL, stow_allocator_default(), &diag, &module);
  free(copy);
  if (status != STOW_OK) {
    CHECK(module == NULL && diag.status == status && diag.line != 0 && diag.column != 0);
    CHECK(strncmp(diag.message, "f:", 2) == 0);
    return;
  }
  stow_string printed = print_module(module);
  CHECK_ROUND_TRIP(printed.data);
  stow_string_free(&printed);
  stow_module_destroy(module);
}

TEST(EveryPrefixOfATextIsParsedOrRefused) {
  for (size_t size = 0; size < sizeof(everything); ++size) {
    check_harmless(everything, size);
  }
}

TEST(TheFinalNewlineMayBeMissing) {
  stow_module* module = parse_text("graph @g { %0 = input \"x\" : f32[] return %0 }");
  CHECK(module != NULL);
  stow_module_destroy(module);
}

static void mutate(test_random* random, char* text, size_t size) {
  static const char interesting[] = "{}()[],:=?+-*@%\"\\#_0123456789.xpe \n\r\t\0aif";
  size_t count = 1 + test_random_below(random, 4);
  for (size_t i = 0; i < count; ++i) {
    size_t at = test_random_below(random, size);
    uint64_t how = test_random_below(random, 4);
    if (how == 0) {
      text[at] = (char)test_random_below(random, 256);
    } else if (how == 1) {
      text[at] = interesting[test_random_below(random, sizeof(interesting))];
    } else {  // part of the text again, elsewhere
      size_t from = test_random_below(random, size);
      size_t longest = size - (from > at ? from : at);
      memmove(text + at, text + from, 1 + test_random_below(random, longest < 16 ? longest : 16));
    }
  }
}

TEST(MutatedTextsAreParsedOrRefused) {
  size_t size = strlen(everything);
  char* copy = malloc(size);
  test_random random = {7};
  int count = test_is_long() ? 200000 : 3000;
  for (int i = 0; i < count && copy != NULL; ++i) {
    memcpy(copy, everything, size);
    mutate(&random, copy, size);
    check_harmless(copy, size);
  }
  free(copy);
}

TEST(RandomBytesAreParsedOrRefused) {
  test_random random = {8};
  for (int i = 0; i < 2000; ++i) {
    char bytes[64];
    size_t size = test_random_below(&random, sizeof(bytes));
    for (size_t k = 0; k < size; ++k) {
      bytes[k] = (char)test_random_u64(&random);
    }
    check_harmless(bytes, size);
  }
}

static stow_status parse_and_print(stow_allocator allocator, void* user) {
  (void)user;
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_module_parse(everything, strlen(everything), "t", NULL, allocator, &diag, &module);
  CHECK(status == STOW_OK || diag.status == status);
  CHECK((status == STOW_OK) == (module != NULL));
  if (status == STOW_OK) {
    stow_string out;
    stow_string_init(&out, allocator);
    status = stow_module_print(module, stow_string_writer(&out));
    stow_string_free(&out);
  }
  stow_module_destroy(module);
  return status;
}

TEST(EveryAllocationMayFail) { CHECK(test_fault_sweep(parse_and_print, NULL) > 20); }

// ---------------------------------------------------------------------------------------------
// Size

static char* long_chain(size_t count, size_t* out_size) {
  char* text = malloc(64 + count * 48);
  if (text == NULL) {
    abort();
  }
  char* cursor = text + sprintf(text, "graph @g {\n  %%0 = input \"x\" : f32[8, 128]\n");
  for (size_t i = 1; i < count; ++i) {
    cursor += sprintf(cursor, "  %%%zu = add(%%%zu, %%%zu) : f32[8, 128]\n", i, i - 1, i / 2);
  }
  cursor += sprintf(cursor, "  return %%%zu\n}\n", count - 1);
  *out_size = (size_t)(cursor - text);
  return text;
}

TEST(LongGraphsRoundTripInBoundedMemory) {
  size_t size;
  char* text = long_chain(test_is_long() ? 1000000 : 20000, &size);
  test_heap heap = {0};
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(text, size, NULL, NULL, test_heap_allocator(&heap), NULL, &module) ==
          STOW_OK);
  CHECK(heap.peak_bytes < 16 * size);
  stow_string printed = print_module(module);
  CHECK(printed.size == size && memcmp(printed.data, text, size) == 0);
  stow_string_free(&printed);
  stow_module_destroy(module);
  CHECK_U64(heap.live_blocks, 0);
  free(text);
}

TEST(ManyRegionsStayVisibleInTheRightPlaces) {
  size_t count = 2000;
  char* text = malloc(count * 160 + 256);
  REQUIRE(text != NULL);
  char* cursor = text + sprintf(text,
                                "graph @g {\n  %%0 = input \"c\" : bool[]\n"
                                "  %%1 = input \"x\" : f32[4]\n");
  for (size_t i = 0; i < count; ++i) {
    size_t id = 2 + 2 * i;
    cursor += sprintf(cursor,
                      "  %%%zu = if(%%0) {\n    %%%zu = relu(%%%zu) : f32[4]\n    yield %%%zu\n"
                      "  } else {\n    yield %%1\n  } : f32[4]\n",
                      id + 1, id, id - 1, id);
  }
  sprintf(cursor, "  return %%%zu\n}\n", 1 + 2 * count);
  CHECK_ROUND_TRIP(text);
  sprintf(cursor, "  return %%%zu\n}\n", 2 * count);
  stow_module* module = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_module_parse(text, strlen(text), "t", NULL, stow_allocator_default(), &diag,
                          &module) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(diag.message, "t: %4000 is defined inside a region and cannot be read outside it");
  CHECK_U64(diag.line, 12004);
  CHECK_U64(diag.column, 10);
  free(text);
}
