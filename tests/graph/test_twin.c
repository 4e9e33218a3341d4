// Twins against bound copies: the same types, known elements and views at every point.
#include <stowage/text.h>

#include "base/diag.h"
#include "graph/api.h"
#include "text_support.h"

static const char text[] =
    "graph @g {\n"
    "  range ?s = 0..6\n"
    "  range ?t = 2..8/2\n"
    "  %0 = input \"x\" : f32[1, ?s, ?t]\n"
    "  %1 = shape(%0) : i64[3]\n"
    "  %2 = slice(%1) {starts = [1], ends = [2]} : i64[1]\n"
    "  %3 = input \"y\" : f32[?(s + t), 4]\n"
    "  %4 = slice(%3) {starts = [-2], ends = [9223372036854775807], axes = [0]} : f32[2, 4]\n"
    "  %5 = transpose(%0) {perm = [0, 2, 1]} : f32[1, ?t, ?s]\n"
    "  %6 = concat(%3, %3) {axis = 0} : f32[?(2*s + 2*t), 4]\n"
    "  %7 = squeeze(%2) {axes = [0]} : i64[]\n"
    "  %8 = cast(%7) : f32[]\n"
    "  %9 = constant \"from\" {data = [0x0p+0]} : f32[]\n"
    "  %10 = constant \"step\" {data = [0x1p+0]} : f32[]\n"
    "  %11 = range(%9, %8, %10) : f32[?s]\n"
    "  return %2, %4, %5, %6, %11\n"
    "}\n";

static stow_graph* bind(const stow_graph* graph, const int64_t* values) {
  stow_str names[] = {stow_str_of("s"), stow_str_of("t")};
  stow_graph* bound = NULL;
  CHECK(stowi_graph_copy(graph, stow_allocator_default(), NULL, &bound) == STOW_OK);
  CHECK(stow_graph_bind(bound, names, values, 2, NULL) == STOW_OK);
  return bound;
}

static void check_same(const stow_graph* twin, const stow_graph* bound) {
  CHECK(stow_graph_require_bound(twin, NULL) == STOW_OK);
  CHECK(stow_graph_verify(twin, NULL) == STOW_OK);
  for (stow_value v = 0; v < stow_graph_value_count(bound); ++v) {
    CHECK(stow_type_equal(stow_graph_type(twin, v), stow_graph_type(bound, v)));
    stow_node node = stow_graph_producer(bound, v);
    size_t k = v - stow_graph_first_result(bound, node);
    stow_view a, b;
    CHECK(stow_graph_view(twin, node, k, &a) == stow_graph_view(bound, node, k, &b));
    CHECK(a.operand == b.operand && a.element_offset == b.element_offset);
    // Elements whose number is an expression are known of the bound graph alone.
    CHECK(!stow_graph_is_known(twin, v) || stow_graph_is_known(bound, v));
  }
  for (size_t i = 0; i < 3; ++i) {
    CHECK(stow_graph_known(twin, 1, i) == stow_graph_known(bound, 1, i));
  }
  CHECK(stow_graph_known(twin, 2, 0) == stow_graph_known(bound, 2, 0));
}

TEST(TwinsAreAsTheBoundGraph) {
  stow_module* module = parse_text(text);
  const stow_graph* graph = stow_module_graph(module, 0);
  stowi_graph_twin* twin = NULL;
  REQUIRE(stowi_graph_twin_create(graph, stow_allocator_default(), NULL, &twin) == STOW_OK);
  for (int64_t s = 6; s >= 0; --s) {
    for (int64_t t = 2; t <= 8; t += 2) {
      int64_t values[] = {s, t};
      stow_graph* bound = bind(graph, values);
      CHECK(stowi_graph_twin_bind(twin, values, NULL) == STOW_OK);
      check_same(stowi_graph_twin_graph(twin), bound);
      stow_graph_destroy(bound);
    }
  }
  stowi_graph_twin_unbind(twin);
  CHECK(stow_graph_require_bound(stowi_graph_twin_graph(twin), NULL) == STOW_ERR_UNBOUND_DIM);
  CHECK_U64(stow_graph_fingerprint(stowi_graph_twin_graph(twin)), stow_graph_fingerprint(graph));
  stowi_graph_twin_destroy(twin);
  stow_module_destroy(module);
}

static stow_status attempt(stow_allocator allocator, void* user) {
  stowi_graph_twin* twin = NULL;
  int64_t values[] = {3, 4};
  STOW_TRY(stowi_graph_twin_create((const stow_graph*)user, allocator, NULL, &twin));
  stow_status status = stowi_graph_twin_bind(twin, values, NULL);
  stowi_graph_twin_destroy(twin);
  return status;
}

static const char with_function[] =
    "graph @g {\n"
    "  range ?s = 1..6\n"
    "  range ?t = 2..8/2\n"
    "  function @f {\n"
    "    %0 = input \"x\" : f32[?rows, ?(s + t)]\n"
    "    %1 = softmax(%0) {axis = 1} : f32[?rows, ?(s + t)]\n"
    "    return %1\n"
    "  }\n"
    "  %0 = input \"x\" : f32[2, ?t, ?(s + t)]\n"
    "  %1 = blocks(%0) {function = \"f\", over = [1, 1, 2]} : f32[2, ?t, ?(s + t)]\n"
    "  return %1\n"
    "}\n";

TEST(FunctionsOfTwinsAreBoundToo) {
  stow_module* module = parse_text(with_function);
  const stow_graph* graph = stow_module_graph(module, 0);
  stowi_graph_twin* twin = NULL;
  REQUIRE(stowi_graph_twin_create(graph, stow_allocator_default(), NULL, &twin) == STOW_OK);
  for (int64_t s = 6; s > 0; --s) {
    int64_t values[] = {s, 4};
    stow_graph* bound = bind(graph, values);
    uint64_t groups, rows;
    CHECK(stowi_graph_twin_bind(twin, values, NULL) == STOW_OK);
    const stow_graph* at = stowi_graph_twin_graph(twin);
    CHECK(stow_graph_verify(at, NULL) == STOW_OK);
    CHECK(stowi_graph_cut_node(at, 1, &groups, &rows, NULL) && groups == 2 && rows == 4);
    CHECK_U64(stow_graph_fingerprint(stow_graph_function(at, 0)),
              stow_graph_fingerprint(stow_graph_function(bound, 0)));
    stow_graph_destroy(bound);
  }
  stowi_graph_twin_unbind(twin);
  CHECK_U64(stow_graph_fingerprint(stowi_graph_twin_graph(twin)), stow_graph_fingerprint(graph));
  stowi_graph_twin_destroy(twin);
  CHECK(test_fault_sweep(attempt, (void*)(uintptr_t)graph) > 10);
  stow_module_destroy(module);
}

TEST(NegativeDimsAreRefusedByName) {
  stow_module* module = parse_text(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[?(n - 4)]\n"
      "  return %0\n"
      "}\n");
  stowi_graph_twin* twin = NULL;
  int64_t value = 3;
  stow_diag diag;
  stow_diag_init(&diag);
  REQUIRE(stowi_graph_twin_create(stow_module_graph(module, 0), stow_allocator_default(), NULL,
                                  &twin) == STOW_OK);
  CHECK(stowi_graph_twin_bind(twin, &value, &diag) == STOW_ERR_TYPE);
  CHECK_HAS(diag.message, "\"x\"");
  value = 4;
  CHECK(stowi_graph_twin_bind(twin, &value, &diag) == STOW_OK);
  stowi_graph_twin_destroy(twin);
  stow_module_destroy(module);
}

TEST(FailedAllocationsAreReported) {
  stow_module* module = parse_text(text);
  CHECK(test_fault_sweep(attempt, stow_module_graph(module, 0)) > 10);
  stow_module_destroy(module);
}
