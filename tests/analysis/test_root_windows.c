// Tests of what roots occupy while only some of their values are live.
#include <stdio.h>
#include <string.h>

#include "analysis/api.h"
#include "fixture.h"
#include "support/fault.h"
#include "support/test.h"

// |body|'s windows after sharing: `1:[3,5)=0+16`, root, steps, low and high byte.
static const char* show_windows(fixture* f, const stowi_analysis_windows* windows) {
  size_t used = 0;
  f->text[0] = '\0';
  for (stow_value root = 0; root < stow_graph_value_count(f->graph); ++root) {
    for (size_t i = 0; i < stowi_analysis_windows_count(windows, root); ++i) {
      stow_window at = stowi_analysis_windows_at(windows, root, i);
      int added =
          snprintf(f->text + used, sizeof(f->text) - used, "%s%u:[%u,%u)=%llu..%llu",
                   used == 0 ? "" : " ", (unsigned)root, (unsigned)at.begin, (unsigned)at.end,
                   (unsigned long long)at.low, (unsigned long long)at.high);
      used += (size_t)added;
    }
  }
  return f->text;
}

static stow_status share(fixture* f) {
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  options.elide_copies = false;
  stowi_analysis_sharing* sharing;
  stow_status status =
      stowi_analysis_sharing_apply(f->views, f->graph, f->schedule, f->effects, f->lifetimes,
                                   &options, f->allocator, &f->diag, &sharing);
  stowi_analysis_sharing_destroy(sharing);
  if (status != STOW_OK) {
    return status;
  }
  stowi_analysis_lifetimes_destroy(f->lifetimes);
  return stowi_analysis_lifetimes_create(f->graph, f->schedule, f->views, f->effects,
                                         &f->lifetimes_options, f->allocator, &f->diag,
                                         &f->lifetimes);
}

static void check_windows(const char* body, const char* expected) {
  fixture f;
  fixture_init(&f);
  stow_status status = fixture_lifetimes(&f, body);
  stowi_analysis_windows* windows = NULL;
  if (test_check(status == STOW_OK, __FILE__, __LINE__, "%s", f.diag.message) &&
      CHECK(share(&f) == STOW_OK) &&
      CHECK(stowi_analysis_windows_create(f.views, f.lifetimes, f.allocator, &f.diag, &windows) ==
            STOW_OK)) {
    CHECK_TEXT(show_windows(&f, windows), expected);
  }
  stowi_analysis_windows_destroy(windows);
  fixture_free(&f);
}

TEST(ARootThatIsUsedAsAWholeHasNoWindows) {
  check_windows(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = reshape(%1) : f32[2, 2]\n"
      "  %3 = relu(%2) : f32[2, 2]\n"
      "  return %3",
      "");
}

TEST(ASmallerResultFreesTheRest) {
  check_windows(
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = relu(%0) : f32[4]\n"
      "  %2 = cast(%1) : f16[4]\n"
      "  %3 = relu(%2) : f16[4]\n"
      "  return %3",
      "1:[3,5)=0..8");
}

TEST(AViewThatOutlivesItsRootFreesTheRest) {
  check_windows(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = relu(%0) : f32[8]\n"
      "  %2 = narrow(%1) {axis = 0, start = 2, len = 2} : f32[2]\n"
      "  %3 = narrow(%1) {axis = 0, start = 6, len = 1} : f32[1]\n"
      "  %4 = matmul(%2, %2) : f32[]\n"
      "  %5 = matmul(%3, %3) : f32[]\n"
      "  return %4, %5",
      "1:[4,5)=8..28 1:[5,6)=24..28");
}

TEST(ValuesLiveAtBothEndsHoldEverythingBetween) {
  check_windows(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = relu(%0) : f32[8]\n"
      "  %2 = narrow(%1) {axis = 0, start = 0, len = 1} : f32[1]\n"
      "  %3 = narrow(%1) {axis = 0, start = 7, len = 1} : f32[1]\n"
      "  %4 = matmul(%2, %3) : f32[]\n"
      "  return %4",
      "");
}

TEST(AnEmptyViewOccupiesNothing) {
  check_windows(
      "  %0 = input \"x\" : f32[8]\n"
      "  %1 = relu(%0) : f32[8]\n"
      "  %2 = narrow(%1) {axis = 0, start = 3, len = 0} : f32[0]\n"
      "  %3 = matmul(%2, %2) : f32[]\n"
      "  return %2, %3",
      "1:[3,5)=0..0");
}

TEST(WindowsOfAnotherGraphAreRefused) {
  fixture f;
  fixture g;
  fixture_init(&f);
  fixture_init(&g);
  REQUIRE(fixture_lifetimes(&f, "  %0 = input \"x\" : f32[4]\n  return %0") == STOW_OK);
  REQUIRE(fixture_lifetimes(&g,
                            "  %0 = input \"x\" : f32[4]\n  %1 = relu(%0) : f32[4]\n"
                            "  return %1") == STOW_OK);
  stowi_analysis_windows* windows;
  CHECK(stowi_analysis_windows_create(f.views, g.lifetimes, f.allocator, &f.diag, &windows) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(windows == NULL);
  stowi_analysis_windows_destroy(NULL);
  fixture_free(&f);
  fixture_free(&g);
}

static stow_status attempt_windows(stow_allocator allocator, void* user) {
  const fixture* f = (const fixture*)user;
  stow_diag diag;
  stow_diag_init(&diag);
  stowi_analysis_windows* windows;
  stow_status status =
      stowi_analysis_windows_create(f->views, f->lifetimes, allocator, &diag, &windows);
  CHECK((windows != NULL) == (status == STOW_OK));
  stowi_analysis_windows_destroy(windows);
  return status;
}

TEST(EveryFailedAllocationIsReported) {
  fixture f;
  fixture_init(&f);
  REQUIRE(fixture_lifetimes(&f,
                            "  %0 = input \"x\" : f32[4]\n"
                            "  %1 = relu(%0) : f32[4]\n"
                            "  %2 = narrow(%1) {axis = 0, start = 1, len = 1} : f32[1]\n"
                            "  return %2") == STOW_OK);
  CHECK(test_fault_sweep(attempt_windows, &f) > 8);
  fixture_free(&f);
}
