// Reading saved plans: what is written comes back, and nothing else is accepted.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "plan/describe.h"
#include "plan/plan_support.h"
#include "support/fault.h"
#include "support/test.h"

static const char* const graph_text =
    "graph @net {\n"
    "  %0 = input \"x\" : f32[4, 4]\n"
    "  %1 = param \"w\" : f32[4, 4]\n"
    "  %2 \"sum\" = add(%0, %1) : f32[4, 4] with {align = 256, scratch = [24, 1, 8, 16]}\n"
    "  %3 = reshape(%2) : f32[16]\n"
    "  %4 = narrow(%3) {axis = 0, start = 2, len = 4} : f32[4]\n"
    "  %5 = relu(%4) : f32[4] with {scratch = [16, 1]}\n"
    "  return %5\n"
    "}\n";

static plan_case make_net(void) {
  stow_plan_options options = plan_options(STOW_PRESET_RLX);
  options.capacity = 500;
  return plan_make(graph_text, &options);
}

// The message as the command prints it.
static stow_status read_text(const plan_case* c, const char* text, stow_diag* diag) {
  stow_plan* plan = NULL;
  stow_diag_init(diag);
  stow_status status =
      stow_plan_read(text, strlen(text), NULL, c->graph, stow_allocator_default(), diag, &plan);
  CHECK((status == STOW_OK) == (plan != NULL));
  if (diag->line != 0) {
    char message[STOW_DIAG_MESSAGE_SIZE];
    memcpy(message, diag->message, sizeof(message));
    snprintf(diag->message, sizeof(diag->message), "net.plan:%u:%u: %.400s", (unsigned)diag->line,
             (unsigned)diag->column, message);
  }
  stow_plan_destroy(plan);
  return status;
}

// Decisions and what is known of orders are not part of a saved plan.
static char* only_saved(char* text) {
  char* ordering = strstr(text, "  \"ordering\": {");
  if (ordering != NULL) {
    const char* next = strchr(ordering, '\n') + 1;
    memmove(ordering, next, strlen(next) + 1);
    *strstr(text, "\"decisions\": [") = '\0';  // they come last
  }
  return text;
}

TEST(PlanReadBackIsTheSame) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* text = plan_text(c.plan, stowi_plan_write_saved);
  stow_plan* read = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_plan_read(text, strlen(text), NULL, c.graph, stow_allocator_default(), &diag, &read) ==
        STOW_OK);
  REQUIRE(read != NULL);
  static const plan_writer writers[] = {stowi_plan_write_saved, stowi_plan_write_json,
                                        stowi_plan_write_csv, stowi_plan_write_report};
  for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); ++i) {
    char* before = only_saved(plan_text(c.plan, writers[i]));
    char* after = only_saved(plan_text(read, writers[i]));
    CHECK_TEXT(after, before);
    free(after);
    free(before);
  }
  CHECK_U64(fit_of(read).largest_hole, fit_of(c.plan).largest_hole);
  CHECK_U64(stowi_plan_peak_count(read), stowi_plan_peak_count(c.plan));
  CHECK_U64(stowi_plan_alignment(read), 256);
  CHECK_U64(search_of(read).bound, stow_plan_lower_bound(c.plan));
  CHECK_U64(search_of(read).nodes, 0);
  CHECK_U64(stow_plan_decision_count(read), 0);
  stow_decision decision = {.struct_size = sizeof(decision)};
  CHECK(stow_plan_describe_decision(read, 0, &decision) == STOW_ERR_NOT_FOUND);
  CHECK_U64(ordering_of(read).critical, STOW_NODE_NONE);
  CHECK_U64(ordering_of(read).given_arena, stow_plan_arena_size(read));
  CHECK(stow_plan_check(read, c.graph, c.effects, stow_allocator_default(), &diag, NULL) ==
        STOW_OK);
  stow_plan_destroy(read);
  free(text);
  plan_free(&c);
}

// ---------------------------------------------------------------------------------------------
// What is refused. Each row changes one place of a good text.

typedef struct bad_row {
  const char* from;
  const char* to;
  const char* message;
} bad_row;

static const bad_row bad_rows[] = {
    // The header
    {"# stowage_plan=1\n", "", "net.plan:1:1: expected `# stowage_plan=`, found `#"},
    {"plan=1\n", "plan=2\n", "net.plan:1:16: expected version 1"},
    {"plan=1\n", "plan=1 \n", "net.plan:1:16: expected version 1"},
    {"# graph", "# Graph", "net.plan:2:1: expected `# graph=`"},
    {"# strategy=first-fit", "# strategy=", "net.plan:4:12: expected the name of a strategy"},
    {"# strategy=first-fit", "# strategy=first fit", "the name of a strategy"},
    {"# fingerprint=", "# fingerprint=G", "net.plan:3:15: expected 16 lower-case"},
    {"# alignment=64", "# alignment=48", "net.plan:5:1: the alignment must be a power of two"},
    {"# alignment=64", "# alignment=064", "net.plan:5:13: expected the alignment"},
    {"# alignment=64", "# alignment=", "found the end of the line"},
    {"# alignment=64", "# alignment=64 ", "expected the end of the line"},
    {"# alignment=64\n", "", "net.plan:5:1: expected `# alignment=`, found `#`"},
    {"# tail_guard=128", "# tail_guard=18446744073709551616", "expected the tail guard"},
    {"# params=yes", "# params=maybe", "expected `yes`, `no`, `shared` or `shared-or-none`"},
    {"# inputs=yes", "# inputs=1", "net.plan:8:10: expected `yes` or `no`, found `1`"},
    {"# constants=yes", "# constants=", "expected `yes` or `no`"},
    {"# zero_size_slots=yes", "# zero_size_slots=yess", "expected `yes` or `no`"},
    {"# f32_uniform=no", "# f32_uniform=No", "expected `yes` or `no`"},
    {"# classic_views=yes\n", "# classic_views=no\n# classic_views=no\n", "expected `# reuse=`"},
    {"# in_place=no\n", "", "expected `# in_place=`"},
    {"# in_place=no\n", "# in_place=never\n", "expected `yes` or `no`, found `never`"},
    {"# elide_copies=no\n", "", "expected `# elide_copies=`"},
    {"# io=keep", "# io=default", "expected `keep`, `consume` or `external`"},
    {"# capacity=500", "# capacity=18446744073709551615", "expected the capacity"},
    {"# capacity=500", "# capacity=-1", "expected the capacity"},
    {"# peak_step=2", "# peak_step=7", "expected the peak step, a number up to 6"},
    {"# lower_bound=", "# rewrite=\n# lower_bound=", "how the graph was rewritten"},
    {"# lower_bound=", "# rewrite=\t\n# lower_bound=", "how the graph was rewritten"},
    // The report
    {"# arena_size=", "# arena_size= ", "expected the arena size"},
    {" saved=", "  saved=", "expected ` saved=`"},
    {"# offset\tsize\tnode", "# offset size node", "expected `# offset"},
    {"0\t64\t%0\n", "0\t64\t%0\n0\t64\t%0\n", "%0 has two rows"},
    {"0\t64\t%0\n", "0 64\t%0\n", "net.plan:22:2: expected `\\t`"},
    {"0\t64\t%0\n", "0\t64\t0\n", "expected `%`"},
    {"0\t64\t%0\n", "0\t64\t%6\n", "expected a value of the graph, a number up to 5"},
    {"0\t64\t%0\n", "0\t64\t%0x\n", "expected the end of the line"},
    {"0\t64\t%0\n", "18446744073709551615\t64\t%0\n", "expected an offset"},
    {"0\t64\t%0\n", "18446744073709551600\t64\t%0\n", "expected a size"},
    {"512\t64\t%3\n", "", "the rows add up to total_unshared=224"},
    {"0\t64\t%0\n", "\n", "expected an offset"},
    {"total_unshared=288", "total_unshared=289", "the line says total_unshared=289"},
    {"saved=0", "saved=1", "the line says total_unshared=288 saved=1"},
    {"192\t64\t%1\n", "700\t64\t%1\n", "rows must be sorted by offset, then size, then id"},
    {"512\t64\t%2\n512\t64\t%3\n", "512\t64\t%3\n512\t64\t%2\n", "rows must be sorted"},
    {"512\t64\t%3\n", "512\t63\t%3\n", "rows must be sorted"},
    // Facts
    {"# life.0=0,7\n", "", "expected `# life.0=`, found that of %1"},
    {"# life.5=5,7\n", "", "expected `# life.`, found"},
    {"# life.5=5,7", "# life.5=5,5", "a lifetime must end after it begins"},
    {"# life.5=5,7", "# life.5=5,8", "expected the step after the last"},
    {"# life.5=5,7", "# life.5=7,7", "expected the first step, a number up to 6"},
    {"# life.5=5,7", "# life.5=5;7", "expected `,`"},
    {"# life.5=5,7", "# life.5:5,7", "expected `=`"},
    {"# view.3=%2", "# view.3=%3", "a value that is its own root is not a view"},
    {"# view.3=%2", "# view.3=%4", "%4 cannot be a root: it is a view itself"},
    {"# view.3=%2", "# view.3=2", "expected `%`"},
    {"# view.3=%2\n", "# view.4=%2\n", "sorted by id without duplicates"},
    {"# guard.0=128", "# guard.0=0", "a guard of 0 bytes must be omitted"},
    {"# guard.0=128", "# guard.3=128", "only a root that has a slot can have a guard"},
    {"# guard.0=128", "# guard.1=128", "sorted by id"},
    {"# guard.0=128", "# guard.0=18446744073709551615", "expected the guard's bytes"},
    {"# align.2=256", "# align.2=64", "expected a power of two above the plan's alignment"},
    {"# align.2=256", "# align.2=300", "expected a power of two above the plan's alignment"},
    {"# align.2=256", "# align.3=256", "a view has no alignment of its own"},
    {"# scratch.2.0=", "# scratch.2.1=", "scratch must be sorted by node and numbered from 0"},
    {"# scratch.5.0=", "# scratch.1.0=", "scratch must be sorted"},
    {"# scratch.5.0=", "# scratch.6.0=", "expected a node of the graph, a number up to 5"},
    {",16,64\n", ",16,65\n", "an alignment must be a power of two"},
    {",16,64\n", ",18446744073709551615,64\n", "expected a size"},
    {",16,64\n", ",16\n", "expected `,`, found the end of the line"},
    {",16,64\n", ",16,64\n\n", "expected `# end` or a line that may come before it, found the end"},
    {",16,64\n", ",16,64\n# life.0=0,7\n", "expected `# end` or a line that may come before it"},
    {",16,64\n", ",16,64\n# new=1\n", "expected `# end` or a line that may come before it"},
    {"# end\n", "", "found the end of the text"},
    {"# end\n", "# end", "expected the end of the line, found the end of the text"},
    {"# end\n", "# end\n\n", "expected the end of the text"},
    {"# end\n", "# end\n# end\n", "expected the end of the text"},
    {",16,64\n", ",16,64\n# reserved=4,4\n# reserved=7,1\n",
     "sorted by offset and must not overlap"},
    {",16,64\n", ",16,64\n# reserved=1,18446744073709551615\n", "expected a size"},
    {",16,64\n", ",16,64\n# order=0,1,2,3,4,5\n", "the graph's own order must be omitted"},
    {",16,64\n", ",16,64\n# order=1,0,1,3,4,5\n", "node 1 is in the order twice"},
    {",16,64\n", ",16,64\n# order=1,0,2,3,4\n", "expected `,`"},
    {",16,64\n", ",16,64\n# order=1,0,2,3,4,6\n", "expected a node of the graph, a number up to 5"},
    {",16,64\n", ",16,64\n# order=1,0,2,3,4,5,6\n", "expected the end of the line"},
};

TEST(AnyOtherTextIsRefused) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  stow_diag diag;
  CHECK(read_text(&c, good, &diag) == STOW_OK);
  for (size_t i = 0; i < sizeof(bad_rows) / sizeof(bad_rows[0]); ++i) {
    char* bad = plan_replace(good, bad_rows[i].from, bad_rows[i].to);
    stow_status status = read_text(&c, bad, &diag);
    test_check(status == STOW_ERR_SYNTAX, __FILE__, __LINE__, "row %zu (%s): %s", i, bad_rows[i].to,
               stow_status_text(status));
    test_check(strstr(diag.message, bad_rows[i].message) != NULL, __FILE__, __LINE__,
               "row %zu: \"%s\" has no \"%s\"", i, diag.message, bad_rows[i].message);
    CHECK(diag.line > 0 && diag.column > 0);
    free(bad);
  }
  free(good);
  plan_free(&c);
}

TEST(ReportAloneIsNotAPlan) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* report = plan_text(c.plan, stowi_plan_write_report);
  stow_diag diag;
  CHECK(read_text(&c, report, &diag) == STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, "net.plan:1:1: this is a report");
  CHECK_U64(diag.line, 1);
  free(report);
  plan_free(&c);
}

TEST(PositionsAreInFieldsOnly) {
  plan_case c = make_net();
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  for (int i = 0; i < 2; ++i) {
    CHECK(stow_plan_read("", 0, i == 0 ? NULL : "net.plan", c.graph, stow_allocator_default(),
                         &diag, &plan) == STOW_ERR_SYNTAX);
    CHECK_TEXT(diag.message,
               i == 0 ? "expected `# stowage_plan=`, found the end of the text"
                      : "net.plan: expected `# stowage_plan=`, found the end of the text");
    CHECK_U64(diag.line, 1);
    CHECK_U64(diag.column, 1);
  }
  plan_free(&c);
}

TEST(PlanOfAnotherGraphIsStale) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  stow_diag diag;
  char* renamed = plan_replace(good, "\"net\"", "\"nut\"");
  CHECK(read_text(&c, renamed, &diag) == STOW_ERR_STALE_PLAN);
  CHECK_HAS(diag.message, "net.plan:2:9: the plan is for graph \"nut\", but this is \"net\"");
  free(renamed);

  char fingerprint[32];
  snprintf(fingerprint, sizeof(fingerprint), "%016" PRIx64, stowi_plan_fingerprint(c.plan));
  char* other = plan_replace(good, fingerprint, "0123456789abcdef");
  CHECK(read_text(&c, other, &diag) == STOW_ERR_STALE_PLAN);
  CHECK_HAS(diag.message, "net.plan:3:15: ");
  CHECK_HAS(diag.message, "0123456789abcdef");
  CHECK_HAS(diag.message, fingerprint);
  free(other);
  free(good);
  plan_free(&c);
}

TEST(EveryTruncationIsRefused) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  size_t size = strlen(good);
  for (size_t cut = 0; cut < size; ++cut) {
    char* part = (char*)malloc(cut + 1);  // exactly: a read past the end is caught
    memcpy(part, good, cut);
    stow_plan* plan = NULL;
    stow_status status =
        stow_plan_read(part, cut, NULL, c.graph, stow_allocator_default(), NULL, &plan);
    CHECK(status == STOW_ERR_SYNTAX || status == STOW_ERR_STALE_PLAN);
    CHECK(plan == NULL);
    free(part);
  }
  free(good);
  plan_free(&c);
}

// Random damage: either refused, or read and written back to the same bytes.
TEST(DamagedTextIsRefusedOrReadExactly) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  size_t size = strlen(good);
  test_random random = {1};
  unsigned rounds = test_is_long() ? 200000 : 5000;
  for (unsigned round = 0; round < rounds; ++round) {
    char* bad = (char*)malloc(size + 1);
    memcpy(bad, good, size + 1);
    static const char alphabet[] = "0123456789%,.=#\n\t aey";
    bad[test_random_below(&random, size)] =
        alphabet[test_random_below(&random, sizeof(alphabet) - 1)];
    stow_plan* plan = NULL;
    stow_status status =
        stow_plan_read(bad, size, NULL, c.graph, stow_allocator_default(), NULL, &plan);
    if (status == STOW_OK) {
      char* again = plan_text(plan, stowi_plan_write_saved);
      CHECK_TEXT(again, bad);
      free(again);
    } else {
      CHECK(status == STOW_ERR_SYNTAX || status == STOW_ERR_STALE_PLAN);
    }
    stow_plan_destroy(plan);
    free(bad);
  }
  free(good);
  plan_free(&c);
}

TEST(OptionsOfEveryKindComeBack) {
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.alignment = 1;
  options.inputs = false;
  options.params = false;
  options.constants = false;
  options.zero_size_slots = false;
  options.f32_uniform = true;
  options.reuse = false;
  options.in_place = false;
  options.elide_copies = false;
  options.io = STOW_IO_EXTERNAL;
  options.rewrite = "v1 cse=3 fold=off";
  plan_case c = plan_make(graph_text, &options);
  REQUIRE(c.plan != NULL);
  char* text = plan_text(c.plan, stowi_plan_write_saved);
  CHECK_HAS(text, "\n# rewrite=v1 cse=3 fold=off\n# lower");
  CHECK_HAS(text, "\n# params=no\n# inputs=no\n# constants=no\n# zero_size_slots=no\n");
  CHECK_HAS(text, "\n# f32_uniform=yes\n# classic_views=no\n# reuse=no\n");
  CHECK_HAS(text, "\n# reuse=no\n# in_place=no\n# elide_copies=no\n# io=external\n# rewrite=");
  free(text);
  plan_prove(&c);
  options.io = STOW_IO_CONSUME;
  plan_case consuming = plan_make(graph_text, &options);
  plan_prove(&consuming);
  plan_free(&consuming);
  plan_free(&c);
}

// A well-formed text may hold sums that need more than 64 bits.
TEST(OverflowingSumsSaturate) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  char* huge = plan_replace(good, "512\t64\t%2\n512\t64\t%3\n520\t16\t%4\n",
                            "512\t64\t%2\n512\t18446744073709551000\t%3\n"
                            "520\t18446744073709551000\t%4\n");
  char* totals = plan_replace(huge, "total_unshared=288 saved=0",
                              "total_unshared=18446744073709551615 saved=18446744073709551039");
  char* scratch = plan_replace(totals, ",24,64\n", ",18446744073709551000,64\n");
  char* both = plan_replace(scratch, ",8,64\n", ",18446744073709551000,64\n");
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan* plan = NULL;
  stow_status status = stow_plan_read(both, strlen(both), "net.plan", c.graph,
                                      stow_allocator_default(), &diag, &plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  if (plan != NULL) {
    CHECK(stowi_plan_total_unshared(plan) == UINT64_MAX);
    CHECK(stowi_plan_peak_scratch(plan) == UINT64_MAX);
    CHECK(stow_plan_check(plan, c.graph, c.effects, stow_allocator_default(), &diag, NULL) ==
          STOW_ERR_VIOLATION);
  }
  stow_plan_destroy(plan);
  free(both);
  free(scratch);
  free(totals);
  free(huge);
  free(good);
  plan_free(&c);
}

TEST(ReservedRangeMayBeWhatDoesNotFit) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* good = plan_text(c.plan, stowi_plan_write_saved);
  char* reserved = plan_replace(good, "# end\n", "# reserved=460,4\n# reserved=600,500\n# end\n");
  char* shared = plan_replace(reserved, "# params=yes\n", "# params=shared\n");
  char* whole = plan_replace(shared, "# capacity=500\n", "# capacity=900\n");
  char* text = plan_replace(whole, "arena_size=576 ", "arena_size=1100 ");
  stow_diag diag;
  stow_diag_init(&diag);
  stow_plan* plan = NULL;
  stow_status status =
      stow_plan_read(text, strlen(text), NULL, c.graph, stow_allocator_default(), &diag, &plan);
  test_check(status == STOW_OK, __FILE__, __LINE__, "%s", diag.message);
  if (plan != NULL) {
    stow_fit fit = fit_of(plan);
    CHECK(!fit.fits);
    CHECK_U64(fit.value, STOW_VALUE_NONE);
    CHECK_U64(fit.largest_hole, 136);  // 464 to 600, at step 0; 384 to 460 is smaller
  }
  stow_plan_destroy(plan);
  free(text);
  free(whole);
  free(shared);
  free(reserved);
  free(good);
  plan_free(&c);
}

// The graph is not verified before reading: it may be empty.
TEST(PlansOfAnEmptyGraphHoldNothing) {
  static const char* const tails[] = {
      "",           "0\t0\t%0\n", "# life.0=0,1\n", "# view.0=%0\n", "# scratch.0.0=0,0,1\n",
      "# order=\n", "# order=0\n"};
  static const char* const header =
      "# strategy=x\n# alignment=64\n# tail_guard=0\n# params=yes\n# inputs=yes\n"
      "# constants=yes\n# zero_size_slots=yes\n# f32_uniform=no\n# classic_views=no\n"
      "# reuse=yes\n# in_place=yes\n# elide_copies=no\n# io=keep\n# lower_bound=0\n# peak_step=0\n"
      "# arena_size=0 total_unshared=0 saved=0\n# offset\tsize\tnode\n";
  stow_graph* graph = NULL;
  stow_allocator allocator = stow_allocator_default();
  CHECK(stow_graph_create(stow_str_of("empty"), NULL, allocator, NULL, &graph) == STOW_OK);
  for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); ++i) {
    char text[1024];
    int size =
        snprintf(text, sizeof(text),
                 "# stowage_plan=1\n# graph=\"empty\"\n# fingerprint=%016" PRIx64 "\n%s%s# end\n",
                 stow_graph_fingerprint(graph), header, tails[i]);
    stow_plan* plan = NULL;
    stow_diag diag;
    stow_diag_init(&diag);
    stow_status status =
        stow_plan_read(text, (size_t)size, "empty.plan", graph, allocator, &diag, &plan);
    test_check(status == (i == 0 ? STOW_OK : STOW_ERR_SYNTAX), __FILE__, __LINE__, "%zu: %s", i,
               diag.message);
    stow_plan_destroy(plan);
  }
  stow_graph_destroy(graph);
}

typedef struct read_input {
  const plan_case* c;
  const char* text;
} read_input;

static stow_status read_attempt(stow_allocator allocator, void* user) {
  const read_input* input = (const read_input*)user;
  stow_plan* plan = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_plan_read(input->text, strlen(input->text), "x", input->c->graph,
                                      allocator, &diag, &plan);
  CHECK(diag.status == status);
  stow_plan_destroy(plan);
  return status;
}

TEST(ReadingSurvivesFailingAllocations) {
  plan_case c = make_net();
  REQUIRE(c.plan != NULL);
  char* text = plan_text(c.plan, stowi_plan_write_saved);
  read_input input = {&c, text};
  CHECK(test_fault_sweep(read_attempt, &input) >= 10);
  free(text);
  plan_free(&c);
}
