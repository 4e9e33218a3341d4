// Lines that saved plans of one shape and of ranges have in common: which graph they are for, and
// the options that they follow.
#include "plan/formats/facts.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"
#include "base/text.h"

// ---------------------------------------------------------------------------------------------
// Writing

static const char* yes_or_no(bool answer) { return answer ? "yes" : "no"; }

stow_status stowi_plan_write_facts(const stowi_plan_facts* facts, stow_writer writer) {
  STOW_TRY(stowi_printf(writer,
                        "# alignment=%" PRIu64 "\n# tail_guard=%" PRIu64
                        "\n# params=%s\n# inputs=%s\n# constants=%s\n",
                        facts->alignment, facts->tail_guard, stowi_plan_params_text(facts->params),
                        yes_or_no(facts->inputs), yes_or_no(facts->constants)));
  STOW_TRY(stowi_printf(writer,
                        "# zero_size_slots=%s\n# f32_uniform=%s\n# classic_views=%s\n"
                        "# reuse=%s\n# in_place=%s\n# elide_copies=%s\n# io=%s\n",
                        yes_or_no(facts->zero_size_slots), yes_or_no(facts->f32_uniform),
                        yes_or_no(facts->classic_views), yes_or_no(facts->reuse),
                        yes_or_no(facts->in_place), yes_or_no(facts->elide_copies),
                        stowi_plan_io_text(facts->io)));
  if (facts->capacity != STOW_NO_CAPACITY) {
    STOW_TRY(stowi_printf(writer, "# capacity=%" PRIu64 "\n", facts->capacity));
  }
  if (facts->kernels.threads != 0) {
    STOW_TRY(stowi_printf(writer, "# threads=%" PRIu32 "\n%s", facts->kernels.threads,
                          facts->kernels.fastest ? "# fastest=yes\n" : ""));
  }
  if (facts->kernels.pack != 0) {
    STOW_TRY(stowi_printf(writer, "# pack=%s\n", stowi_plan_pack_text(facts->kernels.pack)));
  }
  if (facts->kernels.packed_bytes != 0) {
    STOW_TRY(stowi_printf(writer, "# packed_bytes=%" PRIu64 "\n", facts->kernels.packed_bytes));
  }
  if (facts->least_row != 0) {
    STOW_TRY(stowi_printf(writer, "# least_row=%" PRIu64 "\n", facts->least_row));
  }
  if (facts->rewrite[0] != '\0') {
    STOW_TRY(stowi_printf(writer, "# rewrite=%s\n", facts->rewrite));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reading

static stow_status fail_at(const stowi_plan_scan* scan, stowi_plan_scan_place place,
                           const char* text) {
  return stowi_plan_scan_fail(scan, place, STOW_ERR_SYNTAX, "%s", text);
}

stow_status stowi_plan_read_number(stowi_plan_scan* scan, const char* key, uint64_t max,
                                   const char* what, uint64_t* out_number) {
  STOW_TRY(stowi_plan_scan_literal(scan, key));
  STOW_TRY(stowi_plan_scan_u64(scan, max, what, out_number));
  return stowi_plan_scan_end_line(scan);
}

// One of |count| words, up to the end of the line.
static stow_status read_choice(stowi_plan_scan* scan, const char* key, const char* const* words,
                               size_t count, const char* what, size_t* out_index) {
  STOW_TRY(stowi_plan_scan_literal(scan, key));
  stow_str given = stowi_plan_scan_rest(scan);
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(given, stow_str_of(words[i]))) {
      *out_index = i;
      scan->at += given.size;
      return stowi_plan_scan_end_line(scan);
    }
  }
  return stowi_plan_scan_expected(scan, what);
}

static stow_status read_bool(stowi_plan_scan* scan, const char* key, bool* out_answer) {
  static const char* const words[] = {"no", "yes"};
  size_t index = 0;
  STOW_TRY(read_choice(scan, key, words, 2, "`yes` or `no`", &index));
  *out_answer = index == 1;
  return STOW_OK;
}

static stow_status read_graph_name(stowi_plan_scan* scan, const stow_graph* graph,
                                   stow_allocator allocator) {
  STOW_TRY(stowi_plan_scan_literal(scan, "# graph="));
  stow_string expected;
  stow_string_init(&expected, allocator);
  stow_status status = stowi_put_quoted(stow_string_writer(&expected), stow_graph_name(graph));
  stow_str given = stowi_plan_scan_rest(scan);
  stow_str wanted = {expected.data, expected.size};
  if (status != STOW_OK) {
    status = stowi_fail_memory(scan->diag);
  } else if (!stow_str_equal(given, wanted)) {
    status = stowi_plan_scan_fail(scan, stowi_plan_scan_here(scan), STOW_ERR_STALE_PLAN,
                                  "the plan is for graph %.*s, but this is %.*s",
                                  STOWI_STR_ARG(given), STOWI_STR_ARG(wanted));
  }
  stow_string_free(&expected);
  if (status != STOW_OK) {
    return status;
  }
  scan->at += given.size;
  return stowi_plan_scan_end_line(scan);
}

static stow_status read_fingerprint(stowi_plan_scan* scan, const stow_graph* graph) {
  STOW_TRY(stowi_plan_scan_literal(scan, "# fingerprint="));
  stowi_plan_scan_place place = stowi_plan_scan_here(scan);
  uint64_t given = 0;
  STOW_TRY(stowi_plan_scan_hex(scan, "16 lower-case hexadecimal digits", &given));
  uint64_t wanted = stow_graph_fingerprint(graph);
  if (given != wanted) {
    return stowi_plan_scan_fail(scan, place, STOW_ERR_STALE_PLAN,
                                "the plan was made for a graph with fingerprint %016" PRIx64
                                ", but this one has %016" PRIx64,
                                given, wanted);
  }
  return stowi_plan_scan_end_line(scan);
}

static stow_status read_params(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  static const char* const words[] = {
#define PARAMS_TEXT(name, text) text,
      STOWI_PLAN_PARAMS_LIST(PARAMS_TEXT)
#undef PARAMS_TEXT
  };
  size_t index = 0;
  STOW_TRY(read_choice(scan, "# params=", words, STOWI_PLAN_PARAMS_COUNT,
                       "`yes`, `no`, `shared` or `shared-or-none`", &index));
  facts->params = (stowi_plan_params)index;
  return STOW_OK;
}

static stow_status read_io(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  static const char* const words[] = {"keep", "consume", "external"};
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  size_t index = 0;
  STOW_TRY(read_choice(scan, "# io=", words, 3, "`keep`, `consume` or `external`", &index));
  facts->io = policies[index];
  return STOW_OK;
}

static stow_status read_alignment(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  stowi_plan_scan_place place = stowi_plan_scan_here(scan);
  STOW_TRY(
      stowi_plan_read_number(scan, "# alignment=", UINT64_MAX, "the alignment", &facts->alignment));
  if (!stowi_is_power_of_two(facts->alignment)) {
    return fail_at(scan, place, "the alignment must be a power of two");
  }
  return STOW_OK;
}

static stow_status read_least_row(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  stowi_plan_scan_place place = stowi_plan_scan_here(scan);
  if (!stowi_plan_scan_sees(scan, "# least_row=")) {
    return STOW_OK;
  }
  STOW_TRY(stowi_plan_read_number(scan, "# least_row=", UINT64_MAX, "the bytes of a row",
                                  &facts->least_row));
  return facts->least_row != 0 ? STOW_OK
                               : fail_at(scan, place, "least_row must be omitted if it is 0");
}

// How the graph was rewritten is for those who rewrite it again.
static stow_status read_rewrite(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  if (!stowi_plan_scan_skip(scan, "# rewrite=")) {
    return STOW_OK;
  }
  stowi_plan_scan_place place = stowi_plan_scan_here(scan);
  stow_str text = stowi_plan_scan_rest(scan);
  if (!stowi_plan_is_rewrite(text)) {
    return fail_at(scan, place, "expected words that say how the graph was rewritten");
  }
  memcpy(facts->rewrite, text.data, text.size);
  scan->at += text.size;
  return stowi_plan_scan_end_line(scan);
}

stow_status stowi_plan_read_facts(stowi_plan_scan* scan, stowi_plan_facts* facts) {
  STOW_TRY(read_alignment(scan, facts));
  STOW_TRY(stowi_plan_read_number(scan, "# tail_guard=", UINT64_MAX, "the tail guard",
                                  &facts->tail_guard));
  STOW_TRY(read_params(scan, facts));
  STOW_TRY(read_bool(scan, "# inputs=", &facts->inputs));
  STOW_TRY(read_bool(scan, "# constants=", &facts->constants));
  STOW_TRY(read_bool(scan, "# zero_size_slots=", &facts->zero_size_slots));
  STOW_TRY(read_bool(scan, "# f32_uniform=", &facts->f32_uniform));
  STOW_TRY(read_bool(scan, "# classic_views=", &facts->classic_views));
  STOW_TRY(read_bool(scan, "# reuse=", &facts->reuse));
  STOW_TRY(read_bool(scan, "# in_place=", &facts->in_place));
  STOW_TRY(read_bool(scan, "# elide_copies=", &facts->elide_copies));
  STOW_TRY(read_io(scan, facts));
  facts->capacity = STOW_NO_CAPACITY;
  if (stowi_plan_scan_sees(scan, "# capacity=")) {
    STOW_TRY(stowi_plan_read_number(scan, "# capacity=", STOW_NO_CAPACITY - 1, "the capacity",
                                    &facts->capacity));
  }
  if (stowi_plan_scan_sees(scan, "# threads=")) {
    uint64_t threads = 0;
    stowi_plan_scan_place place = stowi_plan_scan_here(scan);
    STOW_TRY(
        stowi_plan_read_number(scan, "# threads=", UINT32_MAX, "the number of threads", &threads));
    if (threads == 0) {
      return fail_at(scan, place, "the number of threads is 0");
    }
    facts->kernels.threads = (uint32_t)threads;
    facts->kernels.fastest = stowi_plan_scan_skip(scan, "# fastest=yes\n");
    facts->kernels.pack = stowi_plan_scan_skip(scan, "# pack=auto\n")     ? 1
                          : stowi_plan_scan_skip(scan, "# pack=always\n") ? 2
                                                                          : 0;
    if (stowi_plan_scan_sees(scan, "# packed_bytes=")) {
      STOW_TRY(stowi_plan_read_number(scan, "# packed_bytes=", UINT64_MAX,
                                      "the bytes of packed weights", &facts->kernels.packed_bytes));
    }
  }
  STOW_TRY(read_least_row(scan, facts));
  return read_rewrite(scan, facts);
}

stow_status stowi_plan_read_graph(stowi_plan_scan* scan, const stow_graph* graph,
                                  stow_allocator allocator) {
  STOW_TRY(read_graph_name(scan, graph, allocator));
  return read_fingerprint(scan, graph);
}

stow_status stowi_plan_read_strategy(stowi_plan_scan* scan, stow_str* out_name) {
  STOW_TRY(stowi_plan_scan_literal(scan, "# strategy="));
  *out_name = stowi_plan_scan_rest(scan);
  if (!stowi_plan_is_strategy_name(*out_name)) {
    return stowi_plan_scan_expected(scan, "the name of a strategy, 1 to 64 of [A-Za-z0-9_.-]");
  }
  scan->at += out_name->size;
  return stowi_plan_scan_end_line(scan);
}

// Without this line, a text truncated between two others would pass as complete.
stow_status stowi_plan_read_end(stowi_plan_scan* scan) {
  if (!stowi_plan_scan_skip(scan, "# end")) {
    return stowi_plan_scan_expected(scan, "`# end` or a line that may come before it");
  }
  STOW_TRY(stowi_plan_scan_end_line(scan));
  if (!stowi_plan_scan_is_at_end(scan)) {
    return stowi_plan_scan_expected(scan, "the end of the text");
  }
  return STOW_OK;
}
