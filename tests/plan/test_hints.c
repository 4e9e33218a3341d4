// Hints: kept with a plan in the order of calls, and written as JSON.
#include <stdlib.h>
#include <string.h>

#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const text =
    "graph @g {\n"
    "  %0 = input \"x\" : f32[16]\n"
    "  %1 = neg(%0) : f32[16]\n"
    "  return %1\n"
    "}\n";

static stow_status write_json(const stow_plan* plan, stow_writer writer) {
  return stow_plan_write(plan, STOW_PLAN_JSON, writer);
}

static void check_json(const stow_plan* plan, const char* part) {
  char* json = plan_text(plan, write_json);
  test_check(json != NULL && strstr(json, part) != NULL, __FILE__, __LINE__, "no %s", part);
  free(json);
}

TEST(HintsAreKeptInTheOrderOfCalls) {
  plan_case c = plan_make(text, NULL);
  char change[] = "--io \"x\"";
  stow_hint hint = {.struct_size = sizeof hint};
  CHECK(stow_plan_hint_count(c.plan) == 0);
  CHECK(stow_plan_describe_hint(c.plan, 0, &hint) == STOW_ERR_NOT_FOUND);
  check_json(c.plan, "\"hints\": []\n}\n");
  REQUIRE(stow_plan_add_hint(c.plan, stow_str_of(change), 64, &c.diag) == STOW_OK);
  change[0] = '?';  // it is copied
  REQUIRE(stow_plan_add_hint(c.plan, (stow_str){"", 0}, UINT64_MAX, &c.diag) == STOW_OK);
  REQUIRE(stow_plan_hint_count(c.plan) == 2);
  CHECK(stow_plan_describe_hint(c.plan, 0, &hint) == STOW_OK);
  CHECK(stow_str_equal(hint.change, stow_str_of("--io \"x\"")) && hint.arena_size == 64);
  CHECK(stow_plan_describe_hint(c.plan, 1, &hint) == STOW_OK);
  CHECK(hint.change.size == 0 && hint.arena_size == UINT64_MAX);
  CHECK(stow_plan_describe_hint(c.plan, 2, &hint) == STOW_ERR_NOT_FOUND);
  check_json(c.plan, "\"hints\": [\n    {\"change\": \"--io \\\"x\\\"\", \"arena_size\": 64},\n");
  plan_free(&c);
}

static stow_status add_hints(stow_allocator allocator, void* user) {
  const plan_case* c = user;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_make(c->graph, c->effects, NULL, allocator, &diag, &plan);
  for (size_t i = 0; i < 20 && status == STOW_OK; ++i) {
    status = stow_plan_add_hint(plan, stow_str_of("--order auto"), i, &diag);
    CHECK(stow_plan_hint_count(plan) == i + (status == STOW_OK));
  }
  stow_plan_destroy(plan);
  return status;
}

TEST(AddingSurvivesFailingAllocations) {
  plan_case c = plan_make(text, NULL);
  CHECK(test_fault_sweep(add_hints, &c) > 20);
  plan_free(&c);
}
