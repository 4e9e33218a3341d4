// The library never writes past the struct_size that a caller sets: programs built against earlier
// headers have shorter structs. Tests of libstowage and libstowage-report; the other libraries'
// structs are tested beside their functions.
#include <stowage/arena.h>
#include <stowage/report.h>
#include <stowage/set.h>

#include "plan/plan_support.h"
#include "support/struct_size.h"

#define SHORTEST sizeof(size_t)

TEST(DefaultsEndAtTheStructSize) {
  CHECK_EVERY_SIZE(stow_diag, SHORTEST, stow_diag_defaults(out));
  CHECK_EVERY_SIZE(stow_arena_options, SHORTEST, stow_arena_options_defaults(out));
  CHECK_EVERY_SIZE(stow_buffer, SHORTEST, stow_buffer_defaults(out));
  CHECK_EVERY_SIZE(stow_window_desc, SHORTEST, stow_window_desc_defaults(out));
  CHECK_EVERY_SIZE(stow_place_options, SHORTEST, stow_place_options_defaults(out));
  CHECK_EVERY_SIZE(stow_op_desc, SHORTEST, stow_op_desc_defaults(out));
  CHECK_EVERY_SIZE(stow_report_options, SHORTEST, stow_report_options_defaults(out));
  CHECK_EVERY_SIZE(stow_picture_plan, SHORTEST, stow_picture_plan_defaults(out));
  CHECK_EVERY_SIZE(stow_picture_formula, SHORTEST, stow_picture_formula_defaults(out));
  CHECK_EVERY_SIZE(stow_picture_rows, SHORTEST, stow_picture_rows_defaults(out));
  for (int preset = 0; preset < STOW_PRESET_COUNT; ++preset) {
    CHECK_EVERY_SIZE(stow_plan_options, SHORTEST,
                     stow_plan_options_defaults(out, (stow_preset)preset));
  }
}

// What a program has that was built against later headers.
TEST(FieldsThatTheLibraryLacksBecomeZero) {
  struct {
    stow_arena_options known;
    uint64_t later[2];
  } options;
  memset(&options, 0xff, sizeof(options));
  options.known.struct_size = sizeof(options);
  stow_arena_options_defaults(&options.known);
  CHECK_U64(options.known.struct_size, sizeof(options));
  CHECK(!options.known.fill_guards && options.later[0] == 0 && options.later[1] == 0);
}

TEST(DiagnosticsOfLaterHeadersAreFilled) {
  struct {
    stow_diag known;
    uint64_t later;
  } diag = {.known = {.struct_size = sizeof(diag)}, .later = 7};
  stow_module* module = NULL;
  CHECK(stow_module_parse("graph", 5, NULL, NULL, stow_allocator_default(), &diag.known, &module) ==
        STOW_ERR_SYNTAX);
  CHECK(diag.known.status == STOW_ERR_SYNTAX && diag.known.line == 1 && diag.later == 7);
}

TEST(ShorterDiagnosticsAreLeftAlone) {
  CHECK_EVERY_SIZE(stow_diag, SHORTEST, {
    stow_module* module = NULL;
    stow_diag_defaults(out);
    stow_module_parse("graph", 5, NULL, NULL, stow_allocator_default(), out, &module);
  });
}

static plan_case make_case(void) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  return plan_make(
      "graph @chain {\n"
      "  %0 = input \"x\" : f32[16]\n"
      "  %1 = param \"w\" : f32[16]\n"
      "  %2 = add(%0, %1) : f32[16]\n"
      "  %3 = relu(%2) : f32[16]\n"
      "  return %3\n"
      "}\n",
      &options);
}

TEST(DescriptionsOfPlansEndAtTheStructSize) {
  plan_case c = make_case();
  stow_allocator heap = stow_allocator_default();
  stow_weight_layout* layout = NULL;
  REQUIRE(c.plan != NULL && stow_plan_decision_count(c.plan) > 0);
  REQUIRE(stow_weight_layout_create(c.graph, c.plan, heap, NULL, &layout) == STOW_OK);
  CHECK_EVERY_SIZE(stow_plan_info, SHORTEST, CHECK(stow_plan_describe(c.plan, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_plan_value, SHORTEST,
                   CHECK(stow_plan_describe_value(c.plan, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_fit, SHORTEST, CHECK(stow_plan_describe_fit(c.plan, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_search, SHORTEST, CHECK(stow_plan_describe_search(c.plan, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_ordering, SHORTEST,
                   CHECK(stow_plan_describe_ordering(c.plan, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_decision, SHORTEST,
                   CHECK(stow_plan_describe_decision(c.plan, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_weight, SHORTEST,
                   CHECK(stow_weight_layout_describe(layout, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_region_info, SHORTEST,
                   CHECK(stow_graph_describe_region(c.graph, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_violation, SHORTEST,
                   CHECK(stow_plan_check(c.plan, c.graph, c.effects, heap, NULL, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_violation, SHORTEST,
                   CHECK(stow_plan_check_layout(c.plan, c.graph, layout, NULL, out) == STOW_OK));
  stow_weight_layout_destroy(layout);
  plan_free(&c);
}

TEST(DescriptionsOfSetsEndAtTheStructSize) {
  plan_case c = make_case();
  stow_allocator heap = stow_allocator_default();
  stow_set* set = NULL;
  size_t index;
  REQUIRE(c.plan != NULL && stow_set_create(NULL, heap, NULL, &set) == STOW_OK);
  REQUIRE(stow_set_add(set, c.graph, c.effects, NULL, NULL, &index) == STOW_OK);
  REQUIRE(stow_set_place(set, NULL) == STOW_OK);
  const stow_plan* plans[] = {stow_set_plan(set, 0)};
  const stow_graph* graphs[] = {c.graph};
  CHECK_EVERY_SIZE(stow_set_info, SHORTEST, CHECK(stow_set_describe(set, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_violation, SHORTEST,
                   CHECK(stow_set_check(plans, graphs, NULL, 1, heap, NULL, out) == STOW_OK));
  stow_set_destroy(set);
  plan_free(&c);
}

// Two buffers of 64 bytes; the first has a window.
static stow_problem* make_problem(void) {
  stow_problem* problem = NULL;
  CHECK(stow_problem_create(stow_allocator_default(), NULL, &problem) == STOW_OK);
  stow_buffer buffer;
  stow_buffer_init(&buffer);
  buffer.size = 64;
  buffer.end = 4;
  CHECK(stow_problem_add(problem, &buffer, NULL, NULL) == STOW_OK);
  stow_window_desc window = {.struct_size = sizeof(window), .end = 2, .high = 32};
  CHECK(stow_problem_add_window(problem, &window, NULL) == STOW_OK);
  CHECK(stow_problem_add(problem, &buffer, NULL, NULL) == STOW_OK);
  return problem;
}

TEST(DescriptionsOfProblemsEndAtTheStructSize) {
  stow_problem* problem = make_problem();
  stow_allocator heap = stow_allocator_default();
  stow_placement* placement = NULL;
  stow_place_options options;
  stow_place_options_init(&options);
  options.capacity = 96;
  const uint64_t overlapping[] = {0, 0};
  REQUIRE(problem != NULL);
  REQUIRE(stow_place_auto(problem, NULL, heap, NULL, &placement) == STOW_OK);
  CHECK_EVERY_SIZE(stow_placement_info, SHORTEST,
                   CHECK(stow_placement_describe(placement, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_buffer, SHORTEST,
                   CHECK(stow_problem_describe_buffer(problem, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_window_desc, SHORTEST,
                   CHECK(stow_problem_describe_window(problem, 0, 0, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_load, SHORTEST,
                   CHECK(stow_problem_load(problem, heap, NULL, out) == STOW_OK));
  CHECK_EVERY_SIZE(stow_placement_violation, SHORTEST,
                   CHECK(stow_placement_check(problem, overlapping, 2, 128, heap, NULL, out) ==
                         STOW_ERR_VIOLATION));
  CHECK_EVERY_SIZE(stow_explanation, offsetof(stow_explanation, irreducible), {
    CHECK(stow_place_explain(problem, &options, heap, NULL, out) == STOW_OK);
    CHECK_U64(out->count, 2);
    stow_explanation_free(out, heap);
  });
  stow_placement_destroy(placement);
  stow_problem_destroy(problem);
}

// A size that no version has is an error: less than the field itself, or more than is known.
TEST(UnknownStructSizesAreRefused) {
  stow_problem* problem = make_problem();
  stow_allocator heap = stow_allocator_default();
  REQUIRE(problem != NULL);
  const uint64_t offsets[] = {0, 64};
  const size_t sizes[] = {0, 1000};
  for (size_t i = 0; i < 2; ++i) {
    stow_load load = {.struct_size = sizes[i]};
    stow_buffer buffer = {.struct_size = sizes[i]};
    stow_placement_violation violation = {.struct_size = sizes[i]};
    stow_explanation why = {.struct_size = sizes[i]};
    CHECK(stow_problem_load(problem, heap, NULL, &load) == STOW_ERR_INVALID_ARGUMENT);
    CHECK(stow_problem_describe_buffer(problem, 0, &buffer) == STOW_ERR_INVALID_ARGUMENT);
    CHECK(stow_placement_check(problem, offsets, 2, 128, heap, NULL, &violation) ==
          STOW_ERR_INVALID_ARGUMENT);
    CHECK(stow_place_explain(problem, NULL, heap, NULL, &why) == STOW_ERR_INVALID_ARGUMENT);
  }
  stow_explanation why = {.struct_size = offsetof(stow_explanation, count)};
  CHECK(stow_place_explain(problem, NULL, heap, NULL, &why) == STOW_ERR_INVALID_ARGUMENT);
  stow_problem_destroy(problem);
}
