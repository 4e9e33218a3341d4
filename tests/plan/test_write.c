// Every format that a plan is written in, to the byte; names of any bytes; writers that fail.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const text =
    "graph @net {\n"
    "  %0 = input \"x\" : f32[4, 4]\n"
    "  %1 = param \"w\" : f32[4, 4]\n"
    "  %2 \"sum\" = add(%0, %1) : f32[4, 4] with {align = 256, scratch = [24, 1, 8, 16]}\n"
    "  %3 = reshape(%2) : f32[16]\n"
    "  %4 = narrow(%3) {axis = 0, start = 2, len = 4} : f32[4]\n"
    "  return %4\n"
    "}\n";

static plan_case make_net(void) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  options.capacity = 500;
  return plan_make(text, &options);
}

static void check_text(const stow_plan* plan, plan_writer write, const char* expected) {
  char* actual = plan_text(plan, write);
  CHECK_TEXT(actual, expected);
  free(actual);
}

TEST(SavedPlanIsTheReportWithFactsAround) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char expected[2048];
  snprintf(expected, sizeof(expected),
           "# stowage_plan=1\n"
           "# graph=\"net\"\n"
           "# fingerprint=%016" PRIx64
           "\n"
           "# strategy=first-fit\n"
           "# alignment=64\n"
           "# tail_guard=128\n"
           "# params=yes\n"
           "# inputs=yes\n"
           "# constants=yes\n"
           "# zero_size_slots=yes\n"
           "# f32_uniform=no\n"
           "# classic_views=yes\n"
           "# reuse=yes\n"
           "# in_place=no\n"
           "# elide_copies=no\n"
           "# io=keep\n"
           "# capacity=500\n"
           "# lower_bound=520\n"
           "# peak_step=2\n"
           "# arena_size=576 total_unshared=272 saved=0\n"
           "# offset\tsize\tnode\n"
           "0\t64\t%%0\n"
           "192\t64\t%%1\n"
           "512\t64\t%%2\n"
           "512\t64\t%%3\n"
           "520\t16\t%%4\n"
           "# life.0=0,6\n"
           "# life.1=0,6\n"
           "# life.2=2,6\n"
           "# life.3=3,6\n"
           "# life.4=4,6\n"
           "# view.3=%%2\n"
           "# view.4=%%2\n"
           "# guard.0=128\n"
           "# guard.1=128\n"
           "# align.2=256\n"
           "# scratch.2.0=384,24,64\n"
           "# scratch.2.1=448,8,64\n"
           "# end\n",
           stow_graph_fingerprint(c.graph));
  check_text(c.plan, stowi_plan_write_saved, expected);
  plan_prove(&c);
  plan_free(&c);
}

static stow_status write_c(const stow_plan* plan, stow_writer writer) {
  return stow_plan_write_c(plan, NULL, writer, NULL);
}

TEST(OrderIsWrittenUnlessItIsTheGraphsOwn) {
  const char* graph =
      "graph @order {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = relu(%0) : f32[16]\n"
      "  %2 = exp(%0) : f32[16] with {scratch = [8, 1]}\n"
      "  %3 = add(%1, %2) : f32[16]\n"
      "  return %3\n"
      "}\n";
  static const stow_node order[] = {0, 2, 1, 3};
  stow_module* module = NULL;
  stow_graph* parsed = plan_parse(graph, &module);
  REQUIRE(parsed != NULL);
  stow_schedule* schedule = NULL;
  CHECK(stow_schedule_create_order(parsed, order, 4, stow_allocator_default(), NULL, &schedule) ==
        STOW_OK);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.schedule = schedule;
  plan_case c = plan_make(graph, &options);
  REQUIRE(c.plan != NULL);
  char* saved = plan_text(c.plan, stowi_plan_write_saved);
  CHECK_HAS(saved, "\n# order=0,2,1,3\n# end\n");
  CHECK_HAS(saved, "\n# life.2=1,4\n");
  free(saved);
  char* header = plan_text(c.plan, write_c);
  CHECK_HAS(header, "must run in this order, which is not the graph's own:\n//   0 2 1 3\n#ifndef");
  free(header);
  plan_prove(&c);
  plan_free(&c);
  stow_schedule_destroy(schedule);
  stow_module_destroy(module);
}

TEST(CsvHasOneRowPerBuffer) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  check_text(c.plan, stowi_plan_write_csv,
             "id,lower,upper,size,alignment,offset,guard,kind,name\n"
             "0,0,6,192,64,0,128,input,x\n"
             "1,0,6,192,64,192,128,param,w\n"
             "2,2,6,64,256,512,0,value,sum\n"
             "scratch.2.0,2,3,24,64,384,0,scratch,\n"
             "scratch.2.1,2,3,8,64,448,0,scratch,\n");
  plan_free(&c);
}

TEST(JsonHasAllOfThePlan) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char expected[4096];
  snprintf(
      expected, sizeof(expected),
      "{\n"
      "  \"stowage_plan\": 1,\n"
      "  \"graph\": \"net\",\n"
      "  \"fingerprint\": \"%016" PRIx64
      "\",\n"
      "  \"strategy\": \"first-fit\",\n"
      "  \"arena_size\": 576,\n"
      "  \"arena_alignment\": 256,\n"
      "  \"total_unshared\": 272,\n"
      "  \"saved\": 0,\n"
      "  \"lower_bound\": 520,\n"
      "  \"steps\": 5,\n"
      "  \"search\": {\"outcome\": \"infeasible\", \"bound\": 520, \"nodes\": 0, "
      "\"stopped\": false},\n"
      "  \"ordering\": {\"searched\": false, \"changed\": false, \"given_arena\": 576, "
      "\"other_arena\": 0, \"any_bound\": 0, \"critical\": null, \"nodes\": 0},\n"
      "  \"capacity\": 500,\n"
      "  \"options\": {\"alignment\": 64, \"tail_guard\": 128, \"params\": \"yes\", \"inputs\": "
      "true, "
      "\"constants\": true, \"zero_size_slots\": true, \"f32_uniform\": false, "
      "\"classic_views\": true, \"reuse\": true, \"in_place\": false, "
      "\"elide_copies\": false, \"io\": \"keep\", \"threads\": 0, \"fastest\": false, "
      "\"pack\": \"never\", \"packed_bytes\": 0, \"rewrite\": null},\n"
      "  \"fit\": {\"fits\": false, \"possible\": false, \"excess\": 76, \"value\": 2, "
      "\"value_bytes\": 64, \"step\": "
      "2, "
      "\"largest_hole\": 44},\n"
      "  \"peak\": {\"step\": 2, \"scratch\": 32, \"values\": [0, 1, 2]},\n"
      "  \"outputs\": [4],\n"
      "  \"order\": [0, 1, 2, 3, 4],\n"
      "  \"values\": [\n"
      "    {\"id\": 0, \"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"offset\": 0, "
      "\"size\": 64, \"root\": 0, \"begin\": 0, \"end\": 6, \"guard\": 128, \"alignment\": 64, "
      "\"windows\": []},\n"
      "    {\"id\": 1, \"name\": \"w\", \"kind\": \"param\", \"dtype\": \"f32\", \"offset\": 192, "
      "\"size\": 64, \"root\": 1, \"begin\": 0, \"end\": 6, \"guard\": 128, \"alignment\": 64, "
      "\"windows\": []},\n"
      "    {\"id\": 2, \"name\": \"sum\", \"kind\": \"value\", \"dtype\": \"f32\", \"offset\": "
      "512, "
      "\"size\": 64, \"root\": 2, \"begin\": 2, \"end\": 6, \"guard\": 0, \"alignment\": 256, "
      "\"windows\": []},\n"
      "    {\"id\": 3, \"name\": null, \"kind\": \"value\", \"dtype\": \"f32\", \"offset\": 512, "
      "\"size\": 64, \"root\": 2, \"begin\": 3, \"end\": 6, \"guard\": 0, \"alignment\": 256, "
      "\"windows\": []},\n"
      "    {\"id\": 4, \"name\": null, \"kind\": \"value\", \"dtype\": \"f32\", \"offset\": 520, "
      "\"size\": 16, \"root\": 2, \"begin\": 4, \"end\": 6, \"guard\": 0, \"alignment\": 8, "
      "\"windows\": []}\n"
      "  ],\n"
      "  \"scratch\": [\n"
      "    {\"node\": 2, \"index\": 0, \"step\": 2, \"offset\": 384, \"size\": 24, \"alignment\": "
      "64, \"need\": 24},\n"
      "    {\"node\": 2, \"index\": 1, \"step\": 2, \"offset\": 448, \"size\": 8, \"alignment\": "
      "64, \"need\": 8}\n"
      "  ],\n"
      "  \"reserved\": [],\n"
      "  \"decisions\": [",
      stow_graph_fingerprint(c.graph));
  char* json = plan_text(c.plan, stowi_plan_write_json);
  json[strlen(expected) < strlen(json) ? strlen(expected) : strlen(json)] = '\0';
  CHECK_TEXT(json, expected);
  free(json);
  plan_free(&c);
}

TEST(JsonOfValuesWithoutSlotHasNulls) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.inputs = false;
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  char* json = plan_text(c.plan, stowi_plan_write_json);
  CHECK_HAS(json,
            "\"name\": \"x\", \"kind\": \"input\", \"dtype\": \"f32\", \"offset\": null, "
            "\"size\": null, \"root\": 0");
  CHECK_HAS(json, "\"capacity\": null");
  CHECK_HAS(json, "\"fits\": true, \"possible\": true, \"excess\": 0, \"value\": null");
  free(json);
  plan_free(&c);
}

TEST(ReservedRangesAreWritten) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case forward = plan_make(text, &options);
  stow_weight_layout* layout = NULL;
  CHECK(stow_weight_layout_create(forward.graph, forward.plan, stow_allocator_default(), NULL,
                                  &layout) == STOW_OK);
  options = plan_options(STOW_PRESET_BACKWARD);
  options.layout = layout;
  options.allow_missing_params = true;
  plan_case c = plan_make(
      "graph @back {\n"
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  return %1\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  char* saved = plan_text(c.plan, stowi_plan_write_saved);
  CHECK_HAS(saved, "\n# params=shared-or-none\n");
  CHECK_HAS(saved, "\n# reserved=192,192\n");
  free(saved);
  check_text(c.plan, stowi_plan_write_csv,
             "id,lower,upper,size,alignment,offset,guard,kind,name\n"
             "0,0,3,16,64,0,0,input,x\n"
             "1,1,3,16,64,64,0,value,\n"
             "reserved.0,0,3,192,1,192,0,reserved,\n");
  char* json = plan_text(c.plan, stowi_plan_write_json);
  CHECK_HAS(json,
            "  \"reserved\": [\n    {\"offset\": 192, \"size\": 192}\n  ],\n  \"decisions\": [");
  free(json);
  plan_prove(&c);
  plan_free(&c);
  stow_weight_layout_destroy(layout);
  plan_free(&forward);
}

// ---------------------------------------------------------------------------------------------
// Names

// One input whose name is |name|, and its plan.
static plan_case make_named(const char* name, size_t size, stow_graph** out_graph) {
  plan_case c;
  memset(&c, 0, sizeof(c));
  stow_diag_init(&c.diag);
  stow_allocator allocator = stow_allocator_default();
  stow_str graph_name = {name, size};
  CHECK(stow_graph_create(graph_name, NULL, allocator, &c.diag, out_graph) == STOW_OK);
  stow_type type = stow_type_make(STOW_F32, 0, NULL);
  stow_call* call = stow_graph_begin(*out_graph, STOW_OP_INPUT);
  stow_call_result_type(call, &type);
  stow_call_name(call, 0, graph_name);
  stow_node node = 0;
  CHECK(stow_call_finish(call, &c.diag, &node) == STOW_OK);
  CHECK(stow_graph_add_output(*out_graph, 0, &c.diag) == STOW_OK);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  c.status = stow_plan_make(*out_graph, NULL, &options, allocator, &c.diag, &c.plan);
  test_check(c.status == STOW_OK, __FILE__, __LINE__, "%s", c.diag.message);
  c.graph = *out_graph;
  return c;
}

static void check_named(const char* name, size_t size, plan_writer write, const char* part) {
  stow_graph* graph = NULL;
  plan_case c = make_named(name, size, &graph);
  if (c.plan != NULL) {
    char* written = plan_text(c.plan, write);
    CHECK_HAS(written, part);
    plan_prove(&c);
    free(written);
  }
  plan_free(&c);
  stow_graph_destroy(graph);
}

#define CHECK_JSON_NAME(name, part) \
  check_named(name, sizeof(name) - 1, stowi_plan_write_json, "\"name\": " part ",")
#define CHECK_CSV_NAME(name, part) check_named(name, sizeof(name) - 1, stowi_plan_write_csv, part)

TEST(JsonStringsAreEscaped) {
  CHECK_JSON_NAME("plain", "\"plain\"");
  CHECK_JSON_NAME("a\"b\\c/d", "\"a\\\"b\\\\c/d\"");
  CHECK_JSON_NAME("\n\r\t\x01\x1f\x7f", "\"\\n\\r\\t\\u0001\\u001f\\u007f\"");
  CHECK_JSON_NAME("h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2",
                  "\"h\xc3\xa9 \xe2\x82\xac \xf0\x9f\x9a\xa2\"");
}

TEST(JsonReplacesWhatIsNotUtf8) {
  CHECK_JSON_NAME(
      "a\xff"
      "b",
      "\"a\\ufffdb\"");
  CHECK_JSON_NAME("\x80", "\"\\ufffd\"");
  CHECK_JSON_NAME("\xc0\xaf", "\"\\ufffd\\ufffd\"");  // overlong
  CHECK_JSON_NAME("\xc3", "\"\\ufffd\"");             // truncated
  CHECK_JSON_NAME("\xc3(", "\"\\ufffd(\"");
  CHECK_JSON_NAME("\xe0\x80\xaf", "\"\\ufffd\\ufffd\\ufffd\"");             // overlong
  CHECK_JSON_NAME("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");             // a surrogate
  CHECK_JSON_NAME("\xe2\x82", "\"\\ufffd\\ufffd\"");                        // truncated
  CHECK_JSON_NAME("\xf4\x90\x80\x80", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");  // above U+10FFFF
  CHECK_JSON_NAME("\xf0\x8f\xbf\xbf", "\"\\ufffd\\ufffd\\ufffd\\ufffd\"");
  CHECK_JSON_NAME("\xf0\x9f\x9a", "\"\\ufffd\\ufffd\\ufffd\"");
  CHECK_JSON_NAME("\xf5", "\"\\ufffd\"");
}

TEST(CsvFieldsAreQuoted) {
  CHECK_CSV_NAME("plain name", ",input,plain name\n");
  CHECK_CSV_NAME("a,b", ",input,\"a,b\"\n");
  CHECK_CSV_NAME("a\"b\"", ",input,\"a\"\"b\"\"\"\n");
  CHECK_CSV_NAME(" a", ",input,\" a\"\n");
  CHECK_CSV_NAME("a ", ",input,\"a \"\n");
}

TEST(CsvHasNoControlCharactersAndNoFormulas) {
  CHECK_CSV_NAME("two\nlines", ",input,two\\nlines\n");
  CHECK_CSV_NAME("cr\r\t", ",input,cr\\r\\t\n");
  CHECK_CSV_NAME("\x01\x1b[1m\x7f", ",input,\\x01\\x1b[1m\\x7f\n");
  CHECK_CSV_NAME("a\\n", ",input,a\\\\n\n");
  CHECK_CSV_NAME("=1+1", ",input,\\x3d1+1\n");
  CHECK_CSV_NAME("+1", ",input,\\x2b1\n");
  CHECK_CSV_NAME("-1", ",input,\\x2d1\n");
  CHECK_CSV_NAME("@x, y", ",input,\"\\x40x, y\"\n");
  CHECK_CSV_NAME("a=1", ",input,a=1\n");
}

// ---------------------------------------------------------------------------------------------
// The C header

static stow_status write_c_prefixed(const stow_plan* plan, stow_writer writer) {
  return stow_plan_write_c(plan, "my_model", writer, NULL);
}

TEST(HeaderHasSizesOffsetsAndAsserts) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char expected[4096];
  snprintf(expected, sizeof(expected),
           "// Memory plan made by Stowage for the graph with fingerprint %016" PRIx64
           ".\n"
           "// Offsets are from the arena's base, a multiple of ARENA_ALIGNMENT."
           " ARENA_SIZE need not be one.\n"
           "// Lifetimes are steps [begin, end).\n"
           "#ifndef my_model_PLAN_H_\n"
           "#define my_model_PLAN_H_\n"
           "\n"
           "#define my_model_ARENA_SIZE 576u\n"
           "#define my_model_ARENA_ALIGNMENT 256u\n"
           "\n"
           "#ifdef __cplusplus\n"
           "#define my_model_ASSERT(condition, text) static_assert(condition, text)\n"
           "#else\n"
           "#define my_model_ASSERT(condition, text) _Static_assert(condition, text)\n"
           "#endif\n"
           "\n"
           "// %%0: input, f32, [0, 6)\n"
           "#define my_model_X_OFFSET 0u\n"
           "#define my_model_X_SIZE 64u\n"
           "my_model_ASSERT(my_model_X_OFFSET <= my_model_ARENA_SIZE &&\n"
           "    my_model_X_SIZE <= my_model_ARENA_SIZE - my_model_X_OFFSET,\n"
           "    \"outside the arena\");\n"
           "my_model_ASSERT(my_model_X_OFFSET %% 64u == 0, \"misaligned\");\n"
           "\n"
           "// %%1: param, f32, [0, 6)\n"
           "#define my_model_W_OFFSET 192u\n",
           stow_graph_fingerprint(c.graph));
  char* header = plan_text(c.plan, write_c_prefixed);
  char* start = plan_replace(header, strstr(header, "#define my_model_W_SIZE"), "");
  CHECK_TEXT(start, expected);
  CHECK_HAS(header, "#define my_model_OUTPUT_0_OFFSET 520u\n#define my_model_OUTPUT_0_SIZE 16u\n");
  CHECK_HAS(header, "my_model_ASSERT(my_model_OUTPUT_0_OFFSET % 8u == 0, \"misaligned\");\n");
  CHECK_HAS(header, "// %3: value, f32, [3, 6)\n#define my_model_V3_OFFSET 512u\n");
  CHECK_HAS(header, "// %4: value, f32, [4, 6)\n#define my_model_V4_OFFSET 520u\n");
  CHECK(strstr(header, "my_model_V2_") == NULL);  // has a name
  CHECK_HAS(header,
            "// scratch 0 of node 2, [2, 3)\n"
            "#define my_model_NODE2_SCRATCH0_OFFSET 384u\n"
            "#define my_model_NODE2_SCRATCH0_SIZE 24u\n");
  CHECK_HAS(header, "#define my_model_NODE2_SCRATCH1_OFFSET 448u\n");
  CHECK_HAS(header,
            "my_model_ASSERT(my_model_NODE2_SCRATCH1_OFFSET % 64u == 0, \"misaligned\");\n");
  CHECK_HAS(header, "\n#undef my_model_ASSERT\n\n#endif  // my_model_PLAN_H_\n");
  free(start);
  free(header);
  header = plan_text(c.plan, write_c);
  CHECK_HAS(header, "#define NET_ARENA_SIZE 576u\n");
  CHECK_HAS(header, "#define NET_SUM_OFFSET 512u\n");
  free(header);
  plan_free(&c);
}

static const char* const colliding =
    "graph @c {\n"
    "  %0 = input \"a.b\" : f32[1]\n"
    "  %1 = input \"a-b\" : f32[1]\n"
    "  %2 = input \"A_B\" : f32[1]\n"
    "  %3 = input \"a_b_4\" : f32[1]\n"
    "  %4 = input \"a/b\" : f32[1]\n"
    "  %5 = input \"arena\" : f32[1]\n"
    "  %6 = input \"output_1\" : f32[1]\n"
    "  %7 = input \"7\" : f32[1]\n"
    "  %8 = relu(%0) : f32[1]\n"
    "  return %0, %8, %8\n"
    "}\n";

TEST(CollidingNamesGetTheirId) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(colliding, &options);
  REQUIRE(c.plan != NULL);
  char* header = plan_text(c.plan, write_c);
  CHECK_HAS(header, "// %0: input, f32, [0, 10)\n#define C_A_B_OFFSET ");
  CHECK_HAS(header, "// %1: input, f32, [0, 10)\n#define C_A_B_1_OFFSET ");
  CHECK_HAS(header, "// %2: input, f32, [0, 10)\n#define C_A_B_2_OFFSET ");
  CHECK_HAS(header, "// %3: input, f32, [0, 10)\n#define C_A_B_4_OFFSET ");
  CHECK_HAS(header, "// %4: input, f32, [0, 10)\n#define C_A_B_4_4_OFFSET ");
  CHECK_HAS(header, "// %5: input, f32, [0, 10)\n#define C_ARENA_5_OFFSET ");
  CHECK_HAS(header, "// %6: input, f32, [0, 10)\n#define C_OUTPUT_1_OFFSET ");
  CHECK_HAS(header, "// %7: input, f32, [0, 10)\n#define C_7_OFFSET ");
  CHECK_HAS(header, "// %8: value, f32, [8, 10)\n#define C_OUTPUT_1_8_OFFSET ");
  CHECK_HAS(header, "// %8: value, f32, [8, 10)\n#define C_OUTPUT_2_OFFSET ");
  free(header);
  plan_free(&c);
}

TEST(NamesKeepWhatNumbersWouldTake) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(
      "graph @c {\n"
      "  %0 = input \"v2\" : f32[1]\n"
      "  %1 = input \"node2_scratch0\" : f32[1]\n"
      "  %2 = relu(%0) : f32[1] with {scratch = [8, 1]}\n"
      "  %3 = add(%2, %1) : f32[1]\n"
      "  return %3\n"
      "}\n",
      &options);
  REQUIRE(c.plan != NULL);
  char* header = plan_text(c.plan, write_c);
  CHECK_HAS(header, "// %0: input, f32, [0, 5)\n#define C_V2_OFFSET ");
  CHECK_HAS(header, "// %1: input, f32, [0, 5)\n#define C_NODE2_SCRATCH0_OFFSET ");
  CHECK_HAS(header, "// %2: value, f32, [2, 5)\n#define C_V2_2_OFFSET ");  // %3 is in place of it
  CHECK_HAS(header, "// %3: value, f32, [3, 5)\n#define C_V3_OFFSET ");
  CHECK_HAS(header, "// scratch 0 of node 2, [2, 3)\n#define C_NODE2_SCRATCH0_2_OFFSET ");
  free(header);
  plan_free(&c);
}

TEST(PrefixMustBeAnIdentifier) {
  static const char* const wrong[] = {"", "7up", "a b", "a-b", "\xc3\xa9"};
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); ++i) {
    stow_diag diag;
    stow_diag_init(&diag);
    CHECK(stow_plan_write_c(c.plan, wrong[i], stow_string_writer(&out), &diag) ==
          STOW_ERR_INVALID_ARGUMENT);
    CHECK_HAS(diag.message, "is not a C identifier");
  }
  CHECK_U64(out.size, 0);
  stow_string_free(&out);
  plan_free(&c);
}

TEST(PrefixIsMadeFromTheGraphsName) {
  check_named("a.b-c", 5, write_c, "#define A_B_C_ARENA_SIZE");
  check_named("_", 1, write_c, "#define __ARENA_SIZE");
  check_named("3d", 2, write_c, "#define _3D_ARENA_SIZE");
  check_named("n\xc3\xa9", 3, write_c, "#define N___ARENA_SIZE");
}

static stow_status write_c_attempt(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  stow_plan* plan = NULL;
  stow_status status = stow_plan_make(c->graph, NULL, &options, allocator, NULL, &plan);
  stow_string out;
  stow_string_init(&out, allocator);
  if (status == STOW_OK) {
    stow_diag diag;
    stow_diag_init(&diag);
    status = stow_plan_write_c(plan, NULL, stow_string_writer(&out), &diag);
    CHECK(diag.status == status);
  }
  stow_string_free(&out);
  stow_plan_destroy(plan);
  return status;
}

TEST(WritingAHeaderSurvivesFailingAllocations) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  plan_case c = plan_make(colliding, &options);
  CHECK(test_fault_sweep(write_c_attempt, &c) > 20);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Writers that fail

typedef struct failing {
  size_t left;
  size_t calls;
} failing;

static stow_status write_failing(void* user, const char* data, size_t size) {
  failing* f = (failing*)user;
  (void)data;
  (void)size;
  ++f->calls;
  if (f->left == 0) {
    return STOW_ERR_IO;
  }
  --f->left;
  return STOW_OK;
}

TEST(FailingWriteEndsTheCall) {
  static const plan_writer writers[] = {stowi_plan_write_report, stowi_plan_write_saved,
                                        stowi_plan_write_json, stowi_plan_write_csv, write_c};
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); ++i) {
    for (size_t left = 0;; ++left) {
      failing f = {left, 0};
      stow_writer writer = {write_failing, &f};
      stow_status status = writers[i](c.plan, writer);
      if (status == STOW_OK) {
        CHECK(left > 3);
        break;
      }
      CHECK(status == STOW_ERR_IO);
      CHECK_U64(f.calls, left + 1);  // nothing is written after the failure
    }
  }
  plan_free(&c);
}
