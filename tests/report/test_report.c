// Pictures and differences through their public header: every format, every failure.
#include <stowage/report.h>
#include <string.h>

#include "plan/plan_support.h"
#include "report/picture/pairs.h"
#include "support/fault.h"
#include "support/test.h"

static const char before[] =
    "graph @g {\n"
    "  %0 = input \"a/x\" : f32[64]\n"
    "  %1 = exp(%0) : f32[64]\n"
    "  %2 = tanh(%1) : f32[64]\n"
    "  %3 = concat(%1, %2) {axis = 0} : f32[128]\n"
    "  return %3\n"
    "}\n";
static const char after[] =
    "graph @g {\n"
    "  %0 = input \"a/x\" : f32[64]\n"
    "  %1 = exp(%0) : f32[64]\n"
    "  %2 = tanh(%1) : f32[64]\n"
    "  %3 = concat(%1, %2) {axis = 0} : f32[128]\n"
    "  %4 \"b/<y>\" = mul(%3, %3) : f32[128]\n"
    "  %5 = add(%3, %4) : f32[128]\n"
    "  return %5\n"
    "}\n";
static const char rows[] =
    "id,kind,name,lower,upper,size,offset,gaps\n"
    "7,activation,\"a \"\"b\"\"\\x41\",0,4,100,0,1-2\n"
    "scratch.3.0,scratch,,3,4,50,100,\n";

static const stow_picture_format formats[] = {
    STOW_PICTURE_HTML, STOW_PICTURE_JSON, STOW_PICTURE_SVG, STOW_PICTURE_TEXT, STOW_PICTURE_TRACE};
#define FORMAT_COUNT (sizeof formats / sizeof formats[0])

static plan_case make_plan(const char* text) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  return plan_make(text, &options);
}

static stow_status draw_plan(const plan_case* c, stow_allocator allocator,
                             stow_picture** out_picture) {
  stow_picture_plan from;
  stow_picture_plan_init(&from);
  from.graph = c->graph;
  from.plan = c->plan;
  from.effects = c->effects;
  return stow_picture_from_plan(&from, allocator, NULL, out_picture);
}

static stow_status draw_rows(stow_allocator allocator, stow_picture** out_picture) {
  static const uint64_t offsets[] = {0, 100};
  stow_csv* csv;
  stow_status status = stow_csv_read(stow_str_of(rows), stow_allocator_default(), NULL, &csv);
  if (status == STOW_OK) {
    stow_picture_rows from;
    stow_picture_rows_init(&from);
    from.csv = csv;
    from.offsets = offsets;
    from.source = "rows.csv";
    from.plan = stow_str_of(rows);
    status = stow_picture_from_rows(&from, allocator, NULL, out_picture);
  }
  stow_csv_destroy(csv);
  return status;
}

// Both plans, compared with each other and as a difference, in all formats.
static stow_status report(const plan_case plans[2], stow_allocator allocator, stow_string* out) {
  stow_picture* pictures[2] = {NULL, NULL};
  stow_diff* diff = NULL;
  stow_status status = draw_plan(&plans[0], allocator, &pictures[0]);
  status = status == STOW_OK ? draw_plan(&plans[1], allocator, &pictures[1]) : status;
  status = status == STOW_OK ? stow_picture_compare(pictures[1], pictures[0], NULL) : status;
  for (size_t i = 0; i < FORMAT_COUNT && status == STOW_OK; ++i) {
    status = stow_picture_write(pictures[1], formats[i], NULL, stow_string_writer(out), NULL);
  }
  status = status == STOW_OK ? stow_diff_create(pictures[0], pictures[1], (stow_growth){0},
                                                allocator, NULL, &diff)
                             : status;
  for (int i = STOW_DIFF_TEXT; i <= STOW_DIFF_MARKDOWN && status == STOW_OK; ++i) {
    status = stow_diff_write(diff, (stow_diff_format)i, NULL, stow_string_writer(out), NULL);
  }
  CHECK(diff == NULL || stow_diff_write(diff, (stow_diff_format)3, NULL, stow_string_writer(out),
                                        NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(diff == NULL || stow_diff_is_too_large(diff));
  stow_diff_destroy(diff);
  stow_picture_destroy(pictures[0]);
  stow_picture_destroy(pictures[1]);
  return status;
}

TEST(EveryFormatSaysWhatThereIs) {
  plan_case plans[] = {make_plan(before), make_plan(after)};
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(report(plans, stow_allocator_default(), &out) == STOW_OK);
  CHECK_HAS(out.data, "<!doctype html>");
  CHECK_HAS(out.data, "{\"stowage_view\":1,");
  CHECK_HAS(out.data, "\"b/\\u003cy\\u003e\"");  // in a page and its data nothing ends a script
  CHECK_HAS(out.data, "<svg xmlns=");
  CHECK_HAS(out.data, "b/&lt;y&gt;");
  CHECK_HAS(out.data, "largest at the peak");
  CHECK_HAS(out.data, "\"traceEvents\":[");
  CHECK_HAS(out.data, "The arena grew by");
  CHECK_HAS(out.data, "\"stowage_diff\": 1");
  CHECK_HAS(out.data, "\"too_large\": true");
  CHECK_HAS(out.data, "### Too large: `");
  stow_string_free(&out);
  plan_free(&plans[0]);
  plan_free(&plans[1]);
}

static stow_status starve_report(stow_allocator allocator, void* user) {
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  stow_status status = report(user, allocator, &out);
  stow_string_free(&out);
  return status;
}

static stow_status starve_rows(stow_allocator allocator, void* user) {
  stow_picture* picture;
  (void)user;
  stow_status status = draw_rows(allocator, &picture);
  stow_picture_destroy(picture);
  return status;
}

TEST(ReportsSurviveEveryFailingAllocation) {
  plan_case plans[] = {make_plan(before), make_plan(after)};
  CHECK(test_fault_sweep(starve_report, plans) > 50);
  CHECK(test_fault_sweep(starve_rows, NULL) > 10);
  plan_free(&plans[0]);
  plan_free(&plans[1]);
}

TEST(FailedComparisonLeavesThePictureAsItWas) {
  plan_case plans[] = {make_plan(before), make_plan(after)};
  stow_string texts[2];
  test_heap heap = {0};
  stow_picture* then = NULL;
  stow_picture* now = NULL;
  CHECK(draw_plan(&plans[0], stow_allocator_default(), &then) == STOW_OK);
  CHECK(draw_plan(&plans[1], test_heap_allocator(&heap), &now) == STOW_OK);
  for (size_t i = 0; i < 2; ++i) {
    stow_string_init(&texts[i], stow_allocator_default());
    CHECK(stow_picture_write(now, STOW_PICTURE_TEXT, NULL, stow_string_writer(&texts[i]), NULL) ==
          STOW_OK);
    heap.fail_at = heap.allocations + 6;
    if (i == 0) {
      CHECK(stow_picture_compare(now, then, NULL) == STOW_ERR_OUT_OF_MEMORY);
    }
    heap.fail_at = 0;
  }
  CHECK_TEXT(texts[1].data, texts[0].data);
  stow_picture_destroy(then);
  stow_picture_destroy(now);
  stow_string_free(&texts[0]);
  stow_string_free(&texts[1]);
  plan_free(&plans[0]);
  plan_free(&plans[1]);
}

static stow_status write_some(void* user, const char* data, size_t size) {
  size_t* left = user;
  (void)data;
  bool fits = size <= *left;
  *left -= fits ? size : *left;
  return fits ? STOW_OK : STOW_ERR_IO;
}

TEST(FailingWriteEndsTheReportWithItsStatus) {
  plan_case c = make_plan(after);
  stow_picture* picture = NULL;
  CHECK(draw_plan(&c, stow_allocator_default(), &picture) == STOW_OK);
  for (size_t i = 0; i < FORMAT_COUNT; ++i) {
    for (size_t room = 0; room < 2000; room += 97) {
      size_t left = room;
      stow_writer writer = {write_some, &left};
      stow_diag diag;
      stow_diag_init(&diag);
      stow_status status = stow_picture_write(picture, formats[i], NULL, writer, &diag);
      CHECK(status == STOW_ERR_IO ? diag.status == STOW_ERR_IO : status == STOW_OK && room > 500);
    }
  }
  stow_picture_destroy(picture);
  plan_free(&c);
}

TEST(RowsOfAPlanHaveItsNames) {
  stow_picture* picture = NULL;
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  CHECK(draw_rows(stow_allocator_default(), &picture) == STOW_OK);
  CHECK(stow_picture_write(picture, STOW_PICTURE_TRACE, NULL, stow_string_writer(&out), NULL) ==
        STOW_OK);
  CHECK_HAS(out.data, "\"a \\\"b\\\"A\"");
  CHECK_HAS(out.data, "\"cat\":\"scratch\"");
  stow_picture_destroy(picture);
  stow_string_free(&out);
}

TEST(WrongArgumentsAreRefused) {
  plan_case c = make_plan(before);
  stow_picture_plan plan;
  stow_picture_rows no_rows;
  stow_report_options options;
  stow_picture* picture;
  stow_string out;
  stow_string_init(&out, stow_allocator_default());
  stow_picture_plan_init(&plan);
  stow_picture_rows_init(&no_rows);
  stow_report_options_init(&options);
  stow_allocator allocator = stow_allocator_default();
  CHECK(stow_picture_from_plan(&plan, allocator, NULL, &picture) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(picture == NULL);
  CHECK(stow_picture_from_rows(&no_rows, allocator, NULL, &picture) == STOW_ERR_INVALID_ARGUMENT);
  CHECK(draw_plan(&c, allocator, &picture) == STOW_OK);
  CHECK(stow_picture_write(picture, (stow_picture_format)5, NULL, stow_string_writer(&out), NULL) ==
        STOW_ERR_INVALID_ARGUMENT);
  options.struct_size = sizeof options + 1;
  CHECK(stow_picture_write(picture, STOW_PICTURE_SVG, &options, stow_string_writer(&out), NULL) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(out.size == 0);
  stow_picture_destroy(picture);
  stow_picture_destroy(NULL);
  stow_diff_destroy(NULL);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// Pairs

#define THINGS 12

static void make_keys(test_random* random, stowi_report_pair_key keys[THINGS], size_t* out_count) {
  static const char* const names[] = {"", "", "", "a", "b", "c"};
  static const char* const ops[] = {"", "exp", "add"};
  *out_count = test_random_below(random, THINGS + 1);
  for (size_t i = 0; i < *out_count; ++i) {
    keys[i] = (stowi_report_pair_key){.group = (int)(test_random_below(random, 2)),
                                      .name = stow_str_of(names[test_random_below(random, 6)]),
                                      .op = stow_str_of(ops[test_random_below(random, 3)]),
                                      .id = i};
  }
}

TEST(PairsAreOneToOneAndOfOneKind) {
  test_random random = {7};
  for (int round = 0; round < 2000; ++round) {
    stowi_report_pair_key then[THINGS];
    stowi_report_pair_key now[THINGS];
    size_t then_count;
    size_t now_count;
    size_t partners[THINGS];
    bool met[THINGS] = {false};
    make_keys(&random, then, &then_count);
    make_keys(&random, now, &now_count);
    CHECK(stowi_report_pair(then, then_count, now, now_count, stow_allocator_default(), partners) ==
          STOW_OK);
    for (size_t i = 0; i < now_count; ++i) {
      size_t partner = partners[i];
      if (partner == STOWI_REPORT_UNPAIRED) {
        continue;
      }
      CHECK(partner < then_count && !met[partner]);
      met[partner] = true;
      CHECK(then[partner].group == now[i].group);
      CHECK(then[partner].name.size == 0 || now[i].name.size == 0 ||
            stow_str_equal(then[partner].name, now[i].name));
    }
    // what has a name and is on both sides is paired
    for (size_t i = 0; i < now_count; ++i) {
      for (size_t j = 0; j < then_count; ++j) {
        bool same = now[i].name.size > 0 && now[i].group == then[j].group &&
                    stow_str_equal(now[i].name, then[j].name);
        CHECK(!same || partners[i] != STOWI_REPORT_UNPAIRED || met[j]);
      }
    }
    CHECK(stowi_report_pair(now, now_count, now, now_count, stow_allocator_default(), partners) ==
          STOW_OK);
    for (size_t i = 0; i < now_count; ++i) {
      CHECK(partners[i] == i);
    }
  }
}
