// Tests of outputs that take the bytes of an input.
#include <string.h>

#include "analysis/api.h"
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

#define CACHE                                 \
  "  %0 = input \"past\" : f32[1, 2, 3, 4]\n" \
  "  %1 = input \"new\" : f32[1, 2, 1, 4]\n"  \
  "  %2 = concat(%0, %1) {axis = 2} : f32[1, 2, 4, 4]\n"

// The status of the request, with the effects afterwards.
static stow_status ask(fixture* f, const char* body, stow_value output, stow_value input) {
  fixture_init(f);
  stow_status status = fixture_effects(f, body);
  if (!test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f->diag.message)) {
    return status;
  }
  return stow_effects_alias(f->effects, output, input, &f->diag);
}

static void check_refused(const char* body, stow_value output, stow_value input,
                          stow_status expected, const char* reason) {
  fixture f;
  CHECK(ask(&f, body, output, input) == expected);
  CHECK(f.diag.status == expected);
  CHECK_HAS(f.diag.message, reason);
  fixture_free(&f);
}

// All views after sharing.
static void check_taken(const char* body, stow_value output, stow_value input,
                        const char* expected) {
  fixture f;
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  stowi_analysis_sharing* sharing = NULL;
  stow_status status = ask(&f, body, output, input);
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message) &&
      CHECK(fixture_analyse(&f) == STOW_OK)) {
    CHECK(stowi_analysis_sharing_apply(f.views, f.graph, f.schedule, f.effects, f.lifetimes,
                                       &options, f.allocator, &f.diag, &sharing) == STOW_OK);
    stowi_analysis_sharing_destroy(sharing);
    CHECK_TEXT(fixture_show_views(&f), expected);
  }
  fixture_free(&f);
}

TEST(AGrowingCacheStaysInPlace) {
  fixture f;
  REQUIRE(ask(&f, CACHE "  return %2", 2, 0) == STOW_OK);
  CHECK_U64(stowi_effects_storage(f.effects, 0), 128);
  CHECK(stowi_effects_io(f.effects, 0) == STOW_IO_CONSUME);
  CHECK_U64(stowi_effects_overwrite_count(f.effects), 1);
  fixture_free(&f);
  check_taken(CACHE "  return %2", 2, 0, "2=0+0");
}

TEST(ACacheThatChangesStaysInPlace) {
  check_taken(
      "  %0 = input \"past\" : f32[8]\n"
      "  %1 = input \"at\" : i64[1]\n"
      "  %2 = input \"new\" : f32[1]\n"
      "  %3 = scatter_elements(%0, %1, %2) {axis = 0} : f32[8]\n"
      "  return %3",
      3, 0, "3=0+0");
}

TEST(AViewOfTheInputNeedsNothing) {
  fixture f;
  REQUIRE(ask(&f, "  %0 = input \"x\" : f32[4]\n  %1 = reshape(%0) : f32[2, 2]\n  return %1", 1,
              0) == STOW_OK);
  CHECK(stowi_effects_io(f.effects, 0) == STOW_IO_DEFAULT);
  CHECK_U64(stowi_effects_overwrite_count(f.effects), 0);
  fixture_free(&f);
}

TEST(AViewOfTheResultCounts) {
  check_taken(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"
      "  return %2",
      2, 0, "1=0+0 2=0+0");
}

TEST(OnlyOpsThatCanWorkInPlaceAreAccepted) {
  check_taken("  %0 = input \"x\" : f32[4, 8]\n  %1 = softmax(%0) : f32[4, 8]\n  return %1", 1, 0,
              "1=0+0");
  check_taken(
      "  %0 = input \"a\" : f32[4, 4]\n"
      "  %1 = input \"c\" : f32[4, 4]\n"
      "  %2 = gemm(%0, %0, %1) : f32[4, 4]\n"
      "  return %2",
      2, 1, "2=1+0");
  // A smaller output keeps the room for the next run.
  check_taken(
      "  %0 = input \"x\" : f32[4, 8]\n"
      "  %1 = narrow(%0) {axis = 1, start = 0, len = 2} : f32[4, 2]\n"
      "  return %1",
      1, 0, "1=0+0");
  check_refused("  %0 = input \"x\" : f32[4, 4]\n  %1 = inverse(%0) : f32[4, 4]\n  return %1", 1, 0,
                STOW_ERR_CONFLICT, "makes it and cannot work in place");
}

TEST(ForbiddenPairsAreRefused) {
  check_refused(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4] with {no_overwrite = [0, 0]}\n"
      "  return %1",
      1, 0, STOW_ERR_CONFLICT, "effects forbid it to work in place");
}

TEST(SizesMustBeKnown) {
  check_refused("  %0 = input \"x\" : f32[?n]\n  %1 = relu(%0) : f32[?n]\n  return %1", 1, 0,
                STOW_ERR_UNBOUND_DIM, "sizes are unknown until dims are bound");
}

TEST(UnsafePairsAreRefusedWithTheReason) {
  check_refused(CACHE "  %3 = relu(%0) : f32[1, 2, 3, 4]\n  return %2, %3", 2, 0, STOW_ERR_CONFLICT,
                "reads the input after it is overwritten");
  check_refused(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = reshape(%0) : f32[2, 2]\n"
      "  %2 = relu(%0) : f32[4]\n"
      "  %3 = relu(%1) : f32[2, 2]\n"
      "  return %2, %3",
      2, 0, STOW_ERR_CONFLICT, "reads the input after it is overwritten");
  check_refused("  %0 = input \"x\" : f32[4]\n  %1 = add(%0, %0) : f32[4]\n  return %1", 1, 0,
                STOW_ERR_CONFLICT, "reads the input after it is overwritten");
  check_refused(CACHE "  return %2", 2, 1, STOW_ERR_CONFLICT, "makes it and cannot work in place");
  check_refused(
      "  %0 = input \"x\" : f32[4, 4]\n"
      "  %1 = relu(%0) : f32[4, 4]\n"
      "  %2 = matmul(%1, %1) : f32[4, 4]\n"
      "  return %2",
      2, 0, STOW_ERR_CONFLICT, "makes it and does not read the input");
  check_refused("  %0 = input \"x\" : f32[4, 4]\n  %1 = matmul(%0, %0) : f32[4, 4]\n  return %1", 1,
                0, STOW_ERR_CONFLICT, "makes it and cannot work in place");
  check_refused("  %0 = input \"x\" : f32[4]\n  %1 = relu(%0) : f32[4]\n  return %0, %1", 1, 0,
                STOW_ERR_CONFLICT, "the input is also an output");
  check_refused(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = narrow(%1) {axis = 0, start = 1, len = 2} : f32[2]\n"
      "  return %2",
      2, 0, STOW_ERR_CONFLICT, "it begins inside another value");
}

TEST(OnlyOutputsAndInputsOfOneTypeArePaired) {
  const char* body =
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = param \"w\" : f32[4]\n"
      "  %2 = add(%0, %1) : f32[4]\n"
      "  %3 = eq(%0, %2) : bool[4]\n"
      "  return %3, %2";
  check_refused(body, 2, 1, STOW_ERR_CONFLICT, "the latter is not an input");
  check_refused(body, 1, 0, STOW_ERR_CONFLICT, ": it is not an output");
  check_refused(body, 3, 0, STOW_ERR_CONFLICT,
                "%3 cannot take the bytes of %0 \"x\": their element types differ");
  check_refused(body, 9, 0, STOW_ERR_INVALID_ARGUMENT, "no such value");
  check_refused(body, 2, 9, STOW_ERR_INVALID_ARGUMENT, "no such value");
}

static stow_status alias_with(stow_allocator allocator, void* user) {
  fixture* f = (fixture*)user;
  stow_effects* effects = NULL;
  stow_status status = stow_effects_create(f->graph, allocator, &f->diag, &effects);
  if (status == STOW_OK) {
    status = stow_effects_alias(effects, 2, 0, &f->diag);
  }
  stow_effects_destroy(effects);
  return status;
}

TEST(AliasSurvivesFailingAllocations) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_parse(&f, CACHE "  return %2") == STOW_OK);
  CHECK(test_fault_sweep(alias_with, &f) > 0);
  fixture_free(&f);
}
