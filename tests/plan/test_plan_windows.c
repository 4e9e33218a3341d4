// Windows in plans: reading and writing them, what a root occupies at a step, and the resulting
// peak and fit, against brute force.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/csv.h>
#include <string.h>

#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

// Step 3 is the last at which %1 is read as a whole; then %5 alone is left of it.
static const char* const text =
    "graph @net {\n"
    "  %0 = input \"x\" : f32[64]\n"
    "  %1 = relu(%0) : f32[64]\n"
    "  %2 = narrow(%1) {axis = 0, start = 16, len = 16} : f32[16]\n"
    "  %3 = exp(%2) : f32[16]\n"
    "  %4 = exp(%3) : f32[16]\n"
    "  %5 = narrow(%1) {axis = 0, start = 32, len = 16} : f32[16]\n"
    "  %6 = add(%4, %5) : f32[16] with {scratch = [40, 1, 0, 1]}\n"
    "  return %6\n"
    "}\n";
#define STEP_COUNT 8

// The plan without any sharing; windows are put into its text.
static plan_case make_net(void) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  return plan_make(text, &options);
}

// The saved plan of |c| with |lines| where windows stand.
static char* with_windows(const plan_case* c, const char* lines) {
  char* saved = plan_text(c->plan, stowi_plan_write_saved);
  char* cut = plan_replace(saved, "# view.5=%1\n", "# view.5=%1\n@");
  char* whole = plan_replace(cut, "@", lines);
  free(cut);
  free(saved);
  return whole;
}

static stow_plan* read_plan(const plan_case* c, const char* saved) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan* plan = NULL;
  stow_status status = stow_plan_read(saved, strlen(saved), "net.plan", c->graph,
                                      stow_allocator_default(), &diag, &plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s\n%s", diag.message, saved);
  return plan;
}

static stow_plan* plan_with(const plan_case* c, const char* lines) {
  char* saved = with_windows(c, lines);
  stow_plan* plan = read_plan(c, saved);
  if (plan != NULL) {
    char* again = plan_text(plan, stowi_plan_write_saved);
    CHECK_TEXT(again, saved);
    free(again);
  }
  free(saved);
  return plan;
}

static void check_window(stow_window window, uint32_t begin, uint32_t end, uint64_t low,
                         uint64_t high) {
  CHECK_U64(window.begin, begin);
  CHECK_U64(window.end, end);
  CHECK_U64(window.low, low);
  CHECK_U64(window.high, high);
}

TEST(WindowsComeBackByRootAndTime) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_window_count(c.plan, 1), 0);
  stow_plan* plan =
      plan_with(&c, "# window.0=3,4,8,9\n# window.1=2,3,0,0\n# window.1=4,7,128,192\n");
  REQUIRE(plan != NULL);
  CHECK_U64(stow_plan_window_count(plan, 0), 1);
  CHECK_U64(stow_plan_window_count(plan, 1), 2);
  CHECK_U64(stow_plan_window_count(plan, 2), 0);
  CHECK_U64(stow_plan_window_count(plan, 6), 0);
  CHECK_U64(stow_plan_window_count(plan, 7), 0);
  CHECK_U64(stow_plan_window_count(plan, STOW_VALUE_NONE), 0);
  check_window(stow_plan_window_at(plan, 0, 0), 3, 4, 8, 9);
  check_window(stow_plan_window_at(plan, 1, 0), 2, 3, 0, 0);
  check_window(stow_plan_window_at(plan, 1, 1), 4, 7, 128, 192);
  check_window(stow_plan_window_at(plan, 1, 2), 0, 0, 0, 0);
  check_window(stow_plan_window_at(plan, 6, 0), 0, 0, 0, 0);
  stow_plan_destroy(plan);
  plan_free(&c);
}

TEST(WindowsDetermineWhatIsOccupied) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  stow_plan* plan = plan_with(&c, "# window.1=2,3,0,0\n# window.1=4,7,128,192\n");
  REQUIRE(plan != NULL);
  uint64_t at = plan_offset(plan, 1);
  static const struct {
    uint64_t offset, size;
  } expected[] = {{0, 0},    {0, 256},  {0, 0}, {0, 256}, {128, 64},
                  {128, 64}, {128, 64}, {0, 0}, {0, 0}};
  for (uint32_t step = 0; step < sizeof(expected) / sizeof(expected[0]); ++step) {
    stow_slot slot = stow_plan_occupied_slot(plan, 1, step);
    CHECK_U64(slot.size, expected[step].size);
    CHECK_U64(slot.offset, slot.size == 0 ? 0 : at + expected[step].offset);
  }
  CHECK_U64(stow_plan_occupied_slot(plan, 2, 3).size, 0);  // a view
  CHECK_U64(stow_plan_occupied_slot(plan, 0, UINT32_MAX).size, 0);
  CHECK_U64(stow_plan_occupied_slot(plan, STOW_VALUE_NONE, 0).size, 0);
  stow_plan_destroy(plan);
  plan_free(&c);
}

TEST(GuardsAreOccupiedToo) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  plan_case c = plan_make(text, &options);
  REQUIRE(c.plan != NULL);
  CHECK_U64(stow_plan_occupied_slot(c.plan, 0, 4).offset, plan_offset(c.plan, 0));
  CHECK_U64(stow_plan_occupied_slot(c.plan, 0, 4).size, 256 + 128);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// What is refused

typedef struct bad_windows {
  const char* lines;
  const char* message;
} bad_windows;

static const bad_windows bad[] = {
    {"# window.1=2,3,0,0", "expected the end of the line"},
    {"# window.1=2,3,0\n", "expected `,`"},
    {"# window.1=2;3,0,4\n", "expected `,`"},
    {"# window.1:2,3,0,4\n", "expected `=`"},
    {"# window.7=2,3,0,4\n", "expected a value of the graph, a number up to 6"},
    {"# window.1=02,3,0,4\n", "expected the first step"},
    {"# window.1=8,9,0,4\n", "expected the first step, a number up to 7"},
    {"# window.1=2,9,0,4\n", "expected the step after the last, a number up to 8"},
    {"# window.1=2,3,x,4\n", "expected the first byte"},
    {"# window.1=2,3,0,18446744073709551616\n", "expected the byte after the last"},
    {"# window.1=2,3,0,4,5\n", "expected the end of the line"},
    {"# window.2=2,3,0,4\n", "only a root that has a slot can have windows"},
    {"# window.1=0,3,0,4\n", "a window must be within its root's lifetime"},
    {"# window.1=2,8,0,4\n", "a window must be within its root's lifetime"},
    {"# window.1=3,3,0,4\n", "a window must be within its root's lifetime"},
    {"# window.1=4,3,0,4\n", "a window must be within its root's lifetime"},
    {"# window.1=2,3,0,257\n", "a window must be within its root's bytes"},
    {"# window.1=2,3,5,4\n", "a window must be within its root's bytes"},
    {"# window.1=2,3,4,4\n", "a window of no bytes must be written as 0,0"},
    {"# window.1=2,3,0,256\n", "a window that covers all of its root must be omitted"},
    {"# window.1=1,7,0,0\n", "windows must leave their root at least one byte at one step"},
    {"# window.1=2,3,0,4\n# window.1=2,3,0,8\n", "sorted by root, then time, and must not overlap"},
    {"# window.1=2,4,0,4\n# window.1=3,5,0,8\n", "sorted by root, then time, and must not overlap"},
    {"# window.1=4,5,0,4\n# window.1=2,3,0,8\n", "sorted by root, then time, and must not overlap"},
    {"# window.1=2,3,0,4\n# window.0=3,4,0,8\n", "sorted by root, then time, and must not overlap"},
    {"# window.1=2,3,0,4\n# window.1=3,4,0,4\n",
     "adjacent windows of the same bytes must be merged"},
    {"# window.1=2,3,0,0\n# window.1=3,4,0,0\n",
     "adjacent windows of the same bytes must be merged"},
    {"# window.0=2,3,0,4\n# guard.0=64\n", "a root that has windows cannot have a guard"},
    {"# guard.0=64\n# window.0=2,3,0,4\n", "expected `# end` or a line that may come before it"},
};

static void check_refused(const plan_case* c, const char* saved, const char* message) {
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_read(saved, strlen(saved), "net.plan", c->graph,
                                      stow_allocator_default(), &diag, &plan);
  CHECK(status == STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, message);
  CHECK(plan == NULL && diag.line > 0 && diag.column > 0);
  stow_plan_destroy(plan);
}

TEST(WindowsNotInNormalFormAreRefused) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); ++i) {
    char* saved = with_windows(&c, bad[i].lines);
    check_refused(&c, saved, bad[i].message);
    free(saved);
  }
  char* saved = with_windows(&c, "# window.1=2,3,0,4\n");
  char* unused = plan_replace(saved, "# reuse=yes", "# reuse=no");
  check_refused(&c, unused, "a plan that reuses no bytes has no windows");
  free(unused);
  free(saved);
  plan_free(&c);
}

static stow_status write_c(const stow_plan* plan, stow_writer writer) {
  return stow_plan_write_c(plan, NULL, writer, NULL);
}

// Copy elision: the root has the higher id, and is live before its own node runs.
TEST(RootsMayComeAfterTheirValues) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* saved = plan_text(c.plan, stowi_plan_write_saved);
  char* before = plan_replace(saved, "# view.2=%1\n", "# view.2=%6\n");
  char* early = plan_replace(before, "# life.6=6,8\n", "# life.6=2,8\n");
  char* in_place = plan_replace(early, "# in_place=no\n# elide_copies=no\n",
                                "# in_place=yes\n# elide_copies=yes\n");
  stow_plan* plan = read_plan(&c, in_place);
  REQUIRE(plan != NULL);
  CHECK_U64(stow_plan_root(plan, 2), 6);
  CHECK_U64(stowi_plan_begin(plan, 6), 2);
  char* again = plan_text(plan, stowi_plan_write_saved);
  CHECK_TEXT(again, in_place);
  free(again);
  char* header = plan_text(plan, write_c);
  CHECK_HAS(header, "#define NET_V2_OFFSET ");
  CHECK_HAS(header, "#define NET_V6_OFFSET ");
  free(header);
  stow_plan_destroy(plan);
  free(in_place);
  free(early);
  free(before);
  free(saved);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Random windows, against per-step bytes

typedef struct stretch {
  uint64_t low;
  uint64_t high;
} stretch;

#define ROOT_COUNT 2  // %0 and %1 get windows

// What each of the roots occupies at each step; the same at neighbouring steps as often as not.
typedef struct occupancy {
  stretch at[ROOT_COUNT][STEP_COUNT + 1];
} occupancy;

static stretch random_stretch(test_random* random) {
  static const uint64_t cuts[] = {0, 0, 1, 64, 130, 256, 256};
  stretch s = {cuts[test_random_below(random, 7)], cuts[test_random_below(random, 7)]};
  if (s.low >= s.high) {
    s.low = 0;
    s.high = 0;
  }
  return s;
}

static void add_line(char* lines, size_t size, stow_value root, uint32_t begin, uint32_t end,
                     stretch s) {
  size_t used = strlen(lines);
  snprintf(lines + used, size - used,
           "# window.%" PRIu32 "=%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 "\n", root, begin,
           end, s.low, s.high);
}

// Chooses, and writes the lines that say so. The first step is whole, so that not all is empty.
static void choose(const stow_plan* plan, test_random* random, occupancy* out, char* lines,
                   size_t size) {
  memset(out, 0, sizeof(*out));
  lines[0] = '\0';
  for (stow_value root = 0; root < ROOT_COUNT; ++root) {
    stretch* at = out->at[root];
    uint32_t first = stowi_plan_begin(plan, root);
    uint32_t end = stowi_plan_end(plan, root);
    uint32_t whole = first + (uint32_t)test_random_below(random, end - first);
    for (uint32_t step = first; step < end; ++step) {
      bool same = step > first && test_random_below(random, 2) == 0;
      at[step] = same ? at[step - 1] : random_stretch(random);
      if (step == whole) {
        at[step] = (stretch){0, 256};
      }
    }
    for (uint32_t begin = first; begin < end;) {
      uint32_t next = begin + 1;
      while (next < end && at[next].low == at[begin].low && at[next].high == at[begin].high) {
        ++next;
      }
      if (at[begin].low != 0 || at[begin].high != 256) {
        add_line(lines, size, root, begin, next, at[begin]);
      }
      begin = next;
    }
  }
}

static bool is_root(const stow_plan* plan, stow_value v) {
  return stow_plan_root(plan, v) == v && plan_has_slot(plan, v);
}

// Bytes of all roots at |step|, without scratch.
static uint64_t load_at(const stow_plan* plan, uint32_t step) {
  uint64_t load = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    load += stow_plan_occupied_slot(plan, v, step).size;
  }
  return load + (step == 6 ? 40 : 0);
}

static void check_peak(const stow_plan* plan) {
  uint32_t step = stowi_plan_peak_step(plan);
  uint64_t load = stowi_plan_peak_scratch(plan);
  for (size_t i = 0; i < stowi_plan_peak_count(plan); ++i) {
    stow_value v = stow_plan_peak_value(plan, i);
    uint64_t bytes = stow_plan_occupied_slot(plan, v, step).size;
    CHECK(bytes > 0);
    load += bytes;
    if (i > 0) {
      stow_value last = stow_plan_peak_value(plan, i - 1);
      uint64_t before = stow_plan_occupied_slot(plan, last, step).size;
      CHECK(before > bytes || (before == bytes && last < v));
    }
  }
  CHECK_U64(load, load_at(plan, step));
}

static uint32_t first_above(const stow_plan* plan, stow_value v, uint64_t capacity) {
  for (uint32_t step = stowi_plan_begin(plan, v); step < stowi_plan_end(plan, v); ++step) {
    stow_slot slot = stow_plan_occupied_slot(plan, v, step);
    if (slot.size != 0 && slot.offset + slot.size > capacity) {
      return step;
    }
  }
  return stowi_plan_begin(plan, v);
}

#define MAX_ARENA 4096

static uint64_t hole_at(const stow_plan* plan, uint32_t step, stow_value without,
                        uint64_t capacity) {
  bool used[MAX_ARENA] = {false};
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_slot slot = stow_plan_occupied_slot(plan, v, step);
    for (uint64_t i = 0; i < slot.size && v != without; ++i) {
      used[slot.offset + i] = true;
    }
  }
  for (size_t i = 0; step == 6 && i < stow_plan_scratch_count(plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(plan, i, &node, &slot, &alignment);
    memset(used + slot.offset, 1, slot.size);
  }
  uint64_t largest = 0;
  uint64_t size = 0;
  for (uint64_t i = 0; i < capacity; ++i) {
    size = used[i] ? 0 : size + 1;
    largest = size > largest ? size : largest;
  }
  return largest;
}

static void check_fit(const stow_plan* plan) {
  stow_fit fit = fit_of(plan);
  stow_value expected = STOW_VALUE_NONE;
  uint32_t expected_step = 0;
  for (stow_value v = 0; v < stow_plan_value_count(plan); ++v) {
    stow_slot slot = plan_slot(plan, v);
    if (!is_root(plan, v) || slot.offset + slot.size <= fit.available) {
      continue;
    }
    uint32_t step = first_above(plan, v, fit.available);
    uint64_t load = load_at(plan, step);
    uint64_t most = load_at(plan, expected_step);
    if (expected == STOW_VALUE_NONE || load > most || (load == most && step < expected_step)) {
      expected = v;
      expected_step = step;
    }
  }
  CHECK_U64(fit.value, expected);
  if (expected != STOW_VALUE_NONE) {
    CHECK_U64(fit.step, expected_step);
    CHECK_U64(fit.value_bytes, stow_plan_occupied_slot(plan, expected, expected_step).size);
    CHECK_U64(fit.largest_hole, hole_at(plan, expected_step, expected, fit.available));
  }
}

// The CSV, read as a problem, has the same buffers and windows, and the plan's offsets solve it as
// far as nothing overlaps.
static void check_csv(const stow_plan* plan) {
  char* written = plan_text(plan, stowi_plan_write_csv);
  stow_csv* csv = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_csv_read(stow_str_of(written), stow_allocator_default(), &diag, &csv);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s\n%s", diag.message, written);
  size_t buffer = 0;
  for (stow_value v = 0; csv != NULL && v < stow_plan_value_count(plan); ++v) {
    if (!is_root(plan, v)) {
      continue;
    }
    const stow_problem* problem = stow_csv_problem(csv);
    stow_buffer desc = {.struct_size = sizeof(desc)};
    stow_problem_describe_buffer(problem, buffer, &desc);
    CHECK_U64(desc.begin, stowi_plan_begin(plan, v));
    CHECK_U64(desc.end, stowi_plan_end(plan, v));
    CHECK_U64(desc.size, plan_slot(plan, v).size);
    CHECK_U64(desc.alignment, stowi_plan_value_alignment(plan, v));
    CHECK_U64(desc.fixed_offset, plan_offset(plan, v));
    CHECK_U64(stow_problem_window_count(problem, buffer), stow_plan_window_count(plan, v));
    for (size_t i = 0; i < stow_plan_window_count(plan, v); ++i) {
      stow_window_desc window = {.struct_size = sizeof(window)};
      stow_problem_describe_window(problem, buffer, i, &window);
      check_window(stow_plan_window_at(plan, v, i), (uint32_t)window.begin, (uint32_t)window.end,
                   window.low, window.high);
    }
    ++buffer;
  }
  CHECK(csv == NULL || stow_problem_count(stow_csv_problem(csv)) == buffer + 1);  // one scratch
  stow_csv_destroy(csv);
  free(written);
}

static stow_plan* plan_within(const plan_case* c, const char* lines, uint64_t capacity,
                              uint32_t peak_step) {
  char facts[64];
  snprintf(facts, sizeof(facts), "# io=keep\n# capacity=%" PRIu64 "\n", capacity);
  char* saved = with_windows(c, lines);
  char* limited = plan_replace(saved, "# io=keep\n", facts);
  char own_peak[64];
  snprintf(own_peak, sizeof(own_peak), "# peak_step=%" PRIu32 "\n", stowi_plan_peak_step(c->plan));
  snprintf(facts, sizeof(facts), "# peak_step=%" PRIu32 "\n", peak_step);
  char* peaked = plan_replace(limited, own_peak, facts);
  stow_plan* plan = read_plan(c, peaked);
  free(peaked);
  free(limited);
  free(saved);
  return plan;
}

TEST(SummariesOfRandomWindowsMatchBruteForce) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  CHECK(stow_plan_arena_size(c.plan) <= MAX_ARENA);
  test_random random = {7};
  unsigned rounds = test_is_long() ? 20000 : 500;
  for (unsigned round = 0; round < rounds; ++round) {
    occupancy chosen;
    char lines[2048];
    choose(c.plan, &random, &chosen, lines, sizeof(lines));
    uint64_t capacity = test_random_below(&random, stow_plan_arena_size(c.plan));
    uint32_t peak = (uint32_t)test_random_below(&random, STEP_COUNT);
    stow_plan* plan = plan_within(&c, lines, capacity, peak);
    REQUIRE(plan != NULL);
    for (stow_value root = 0; root < ROOT_COUNT; ++root) {
      for (uint32_t step = 0; step <= STEP_COUNT; ++step) {
        stretch s = chosen.at[root][step];
        stow_slot slot = stow_plan_occupied_slot(plan, root, step);
        CHECK_U64(slot.size, s.high - s.low);
        CHECK_U64(slot.offset, slot.size == 0 ? 0 : plan_offset(plan, root) + s.low);
      }
    }
    check_peak(plan);
    check_fit(plan);
    check_csv(plan);
    stow_plan_destroy(plan);
  }
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Writing

TEST(WindowsAreWrittenInEveryFormat) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  stow_plan* plan =
      plan_with(&c, "# window.1=2,3,0,0\n# window.1=3,4,0,128\n# window.1=4,7,128,192\n");
  REQUIRE(plan != NULL);
  char* csv = plan_text(plan, stowi_plan_write_csv);
  CHECK_HAS(csv, "id,lower,upper,size,alignment,offset,guard,kind,name,gaps\n");
  CHECK_HAS(csv, ",0,input,x,\n");
  CHECK_HAS(csv, ",0,value,,2-3 3-4@0:128 4-7@128:192\n");
  CHECK_HAS(csv, ",0,scratch,,\n");
  CHECK(strstr(csv, "scratch.6.1") == NULL);  // it has no bytes
  char* json = plan_text(plan, stowi_plan_write_json);
  CHECK_HAS(json, "\"windows\": [[2, 3, 0, 0], [3, 4, 0, 128], [4, 7, 128, 192]]},\n");
  CHECK_HAS(json, "\"windows\": []},\n");
  free(json);
  free(csv);
  stow_plan_destroy(plan);
  plan_free(&c);
}

static stow_status read_attempt(stow_allocator allocator, void* user) {
  const plan_case* c = (const plan_case*)user;
  char* saved = with_windows(c, "# window.0=2,3,0,4\n# window.1=2,3,0,4\n");
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status =
      stow_plan_read(saved, strlen(saved), NULL, c->graph, allocator, &diag, &plan);
  CHECK(diag.status == status);
  stow_plan_destroy(plan);
  free(saved);
  return status;
}

TEST(ReadingWindowsSurvivesFailingAllocations) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  CHECK(test_fault_sweep(read_attempt, &c) >= 11);
  plan_free(&c);
}
