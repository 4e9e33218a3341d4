// Pitched values in plans: every plan that is made passes, and of plans with a number changed, the
// checker refuses all in which a run on tagged bytes finds damage.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/plan.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
#include "plan/plan_internal.h"
#include "plan/plan_support.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Graphs of values [batch, channels, 2], as text

#define MAX_TEXT 8000
#define MAX_SHOWN 60

typedef struct maker {
  test_random* random;
  char text[MAX_TEXT];
  size_t size;
  uint32_t batch;
  uint32_t ids[MAX_SHOWN];
  uint32_t channels[MAX_SHOWN];
  size_t count;
  uint32_t next;
} maker;

static uint32_t below(maker* m, uint32_t bound) {
  return (uint32_t)test_random_below(m->random, bound);
}

__attribute__((format(printf, 2, 3))) static void say(maker* m, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(m->text + m->size, MAX_TEXT - m->size, format, arguments);
  va_end(arguments);
  m->size += (size_t)size < MAX_TEXT - m->size ? (size_t)size : 0;
}

static void show(maker* m, uint32_t channels) {
  m->ids[m->count] = m->next++;
  m->channels[m->count++] = channels;
}

static size_t pick(maker* m) {
  size_t reach = below(m, 3) != 0 && m->count > 4 ? 4 : m->count;
  return m->count - 1 - below(m, (uint32_t)reach);
}

static void add_concat(maker* m) {
  uint32_t channels = 0;
  say(m, "%%%u = concat(", m->next);
  for (uint32_t k = 0, count = 2 + below(m, 3); k < count; ++k) {
    size_t x = pick(m);
    channels += m->channels[x];
    say(m, "%s%%%u", k == 0 ? "" : ", ", m->ids[x]);
  }
  say(m, ") {axis = 1} : u8[%u, %u, 2]\n", m->batch, channels);
  show(m, channels);
}

static void add_split(maker* m) {
  size_t x = pick(m);
  uint32_t all = m->channels[x];
  uint32_t first = all < 2 ? 0 : 1 + below(m, all - 1);
  if (first != 0) {
    say(m, "%%%u, %%%u = split(%%%u) {axis = 1, sizes = [%u, %u]} : u8[%u, %u, 2], u8[%u, %u, 2]\n",
        m->next, m->next + 1, m->ids[x], first, all - first, m->batch, first, m->batch,
        all - first);
    show(m, first);
    show(m, all - first);
  }
}

static void add_unary(maker* m) {
  size_t x = pick(m);
  say(m, "%%%u = abs(%%%u) : u8[%u, %u, 2]\n", m->next, m->ids[x], m->batch, m->channels[x]);
  show(m, m->channels[x]);
}

static void add_binary(maker* m) {
  size_t x = pick(m);
  size_t y = pick(m);
  y = m->channels[y] == m->channels[x] ? y : x;
  say(m, "%%%u = max(%%%u, %%%u) : u8[%u, %u, 2]\n", m->next, m->ids[x], m->ids[y], m->batch,
      m->channels[x]);
  show(m, m->channels[x]);
}

static void add_custom(maker* m) {
  size_t x = pick(m);
  say(m, "%%%u = custom(%%%u) {name = \"f\"} : u8[%u, %u, 2]\n", m->next, m->ids[x], m->batch,
      m->channels[x]);
  show(m, m->channels[x]);
}

static void write_graph(maker* m) {
  static void (*const adders[])(maker*) = {add_concat, add_concat, add_concat, add_split,
                                           add_split,  add_unary,  add_unary,  add_unary,
                                           add_binary, add_custom};
  m->batch = 2 + below(m, 2);
  say(m, "graph @g {\n%%0 = input \"x\" : u8[%u, 3, 2]\n", m->batch);
  show(m, 3);
  for (uint32_t i = 0, count = 4 + below(m, 14); i < count && m->count < MAX_SHOWN - 4; ++i) {
    adders[m->channels[m->count - 1] > 40 ? 3 : below(m, 10)](m);
  }
  say(m, "return %%%u, %%%u\n}\n", m->ids[m->count - 1], m->ids[pick(m)]);
}

// ---------------------------------------------------------------------------------------------
// A run on tagged bytes

#define MAX_VALUES 64
#define MAX_BYTES 4096
#define MAX_ARENA 16384

typedef struct machine {
  const stow_plan* plan;
  const stow_graph* graph;
  uint32_t memory[MAX_ARENA];
  uint32_t content[MAX_VALUES][MAX_BYTES];
  bool is_damaged;
} machine;

static uint64_t bytes_of(const machine* m, stow_value value) {
  uint64_t bytes = 0;
  (void)stow_type_bytes(stow_graph_type(m->graph, value), &bytes);
  return bytes;
}

static uint64_t rows_of(const machine* m, stow_value value) {
  uint64_t rows = m->plan->values[value].rows;
  return rows == 0 ? 1 : rows;
}

// Where byte |i| is; the last byte of memory, which is nobody's, and damage if it is nowhere.
static uint64_t place_of(machine* m, stow_value value, uint64_t i) {
  const stowi_plan_value* v = &m->plan->values[value];
  uint64_t row = bytes_of(m, value) / rows_of(m, value);
  uint64_t at = v->offset + (row == 0 ? i : i / row * v->pitch + i % row);
  bool is_there = v->offset != STOW_OFFSET_NONE && at < m->plan->arena_size && at < MAX_ARENA - 1;
  m->is_damaged = m->is_damaged || !is_there;
  return is_there ? at : MAX_ARENA - 1;
}

static void read_bytes(machine* m, stow_value value, uint64_t begin, uint64_t end) {
  for (uint64_t i = begin; i < end; ++i) {
    m->is_damaged = m->is_damaged || m->memory[place_of(m, value, i)] != m->content[value][i];
  }
}

static uint64_t node_rows(const machine* m, stow_node node) {
  uint64_t rows = 1;
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    uint64_t own = rows_of(m, stow_graph_operands(m->graph, node)[k]);
    rows = own > rows ? own : rows;
  }
  for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
    uint64_t own = rows_of(m, stow_graph_first_result(m->graph, node) + (stow_value)k);
    rows = own > rows ? own : rows;
  }
  return rows;
}

// Whether all results of a split are the parts of its operand, byte by byte; then they hold them.
static bool run_split(machine* m, stow_node node) {
  stow_value operand = stow_graph_operands(m->graph, node)[0];
  for (int fills = 0; fills < 2; ++fills) {
    for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
      stow_value result = stow_graph_first_result(m->graph, node) + (stow_value)k;
      stowi_graph_row_part part;
      if (m->plan->values[result].root != m->plan->values[operand].root ||
          !stowi_graph_row_view(m->graph, node, k, &part)) {
        return false;
      }
      for (uint64_t i = 0; i < bytes_of(m, result); ++i) {
        uint64_t from = part.offset + i / part.row * part.pitch + i % part.row;
        if (fills == 1) {
          m->content[result][i] = m->content[operand][from];
        } else if (place_of(m, result, i) != place_of(m, operand, from)) {
          return false;
        }
      }
    }
  }
  return true;
}

// Copies what is not there yet.
static void run_concat(machine* m, stow_node node, uint64_t rows) {
  stow_value result = stow_graph_first_result(m->graph, node);
  uint64_t samples = (uint64_t)stow_graph_type(m->graph, result)->dims[0];
  for (uint64_t row = 0; row < samples; ++row) {
    uint64_t to = row * (bytes_of(m, result) / samples);
    for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
      stow_value operand = stow_graph_operands(m->graph, node)[k];
      uint64_t width = bytes_of(m, operand) / samples;
      if (rows > 1) {
        read_bytes(m, operand, row * width, (row + 1) * width);
      }
      for (uint64_t i = 0; i < width; ++i, ++to) {
        m->content[result][to] = m->content[operand][row * width + i];
        m->memory[place_of(m, result, to)] = m->content[result][to];
      }
    }
  }
}

static void run_plain(machine* m, stow_node node, uint64_t rows, uint64_t still) {
  for (uint64_t row = 0; row < rows; ++row) {
    for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
      stow_value operand = stow_graph_operands(m->graph, node)[k];
      uint64_t bytes = bytes_of(m, operand);
      bool is_still = (still >> k & 1) != 0;
      read_bytes(m, operand, is_still ? 0 : bytes / rows * row,
                 is_still ? bytes : bytes / rows * (row + 1));
    }
    for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
      stow_value result = stow_graph_first_result(m->graph, node) + (stow_value)k;
      uint64_t bytes = bytes_of(m, result);
      for (uint64_t i = bytes / rows * row; i < bytes / rows * (row + 1); ++i) {
        m->content[result][i] = (uint32_t)(result * MAX_BYTES + i + 1);
        m->memory[place_of(m, result, i)] = m->content[result][i];
      }
    }
  }
}

static void run_node(machine* m, stow_node node) {
  stow_op op = stow_graph_op(m->graph, node);
  uint64_t rows = node_rows(m, node);
  uint64_t still = 0;
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    stow_value operand = stow_graph_operands(m->graph, node)[k];
    read_bytes(m, operand, 0, bytes_of(m, operand));
  }
  if (op == STOW_OP_SPLIT && run_split(m, node)) {
    return;
  }
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    uint64_t own = rows_of(m, stow_graph_operands(m->graph, node)[k]);
    m->is_damaged = m->is_damaged || (own != 1 && own != rows);
  }
  m->is_damaged =
      m->is_damaged || (rows > 1 && !stowi_graph_takes_rows(m->graph, node, rows, &still));
  if (m->is_damaged) {
    return;
  }
  if (op == STOW_OP_CONCAT) {
    run_concat(m, node, rows);
  } else {
    run_plain(m, node, rows, still);
  }
}

// Whether a run reads what was written.
static bool runs(machine* m, const stow_plan* plan, const stow_graph* graph) {
  memset(m->memory, 0xff, sizeof(m->memory));
  m->plan = plan;
  m->graph = graph;
  m->is_damaged = false;
  for (uint32_t step = 0; step < plan->step_count && !m->is_damaged; ++step) {
    run_node(m, plan->order[step]);
  }
  for (size_t k = 0; k < stow_graph_output_count(graph) && !m->is_damaged; ++k) {
    stow_value output = stow_graph_outputs(graph)[k];
    read_bytes(m, output, 0, bytes_of(m, output));
    m->is_damaged = m->is_damaged || rows_of(m, output) != 1;
  }
  return !m->is_damaged;
}

// ---------------------------------------------------------------------------------------------

typedef struct scene {
  maker m;
  stow_module* module;
  stow_graph* graph;
  stow_plan* plan;
} scene;

static scene* scene_make(test_random* random) {
  scene* s = (scene*)calloc(1, sizeof(*s));
  if (s == NULL) {
    abort();
  }
  s->m.random = random;
  write_graph(&s->m);
  s->graph = plan_parse(s->m.text, &s->module);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.alignment = UINT64_C(1) << test_random_below(random, 3);
  options.least_row = 1;
  options.windows = test_random_below(random, 4) != 0;
  if (s->graph == NULL || stow_graph_value_count(s->graph) > MAX_VALUES ||
      stow_plan_make(s->graph, NULL, &options, stow_allocator_default(), NULL, &s->plan) !=
          STOW_OK ||
      s->plan->arena_size >= MAX_BYTES) {
    stow_plan_destroy(s->plan);
    s->plan = NULL;
  }
  return s;
}

static void scene_free(scene* s) {
  stow_plan_destroy(s->plan);
  stow_module_destroy(s->module);
  free(s);
}

static stow_fault fault_of(const scene* s, stow_diag* diag) {
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_status status =
      stow_plan_check(s->plan, s->graph, NULL, stow_allocator_default(), diag, &violation);
  CHECK(status == STOW_OK || status == STOW_ERR_VIOLATION);
  CHECK((status == STOW_OK) == (violation.fault == STOW_FAULT_NONE));
  return violation.fault;
}

// One number of a value in rows, or that could be.
static void damage(const scene* s, test_random* random) {
  stowi_plan_value* v = &s->plan->values[test_random_below(random, s->plan->value_count)];
  for (int tries = 0; tries < 20 && v->rows == 1; ++tries) {
    v = &s->plan->values[test_random_below(random, s->plan->value_count)];
  }
  uint64_t some = 1 + test_random_below(random, 8);
  switch (test_random_below(random, 10)) {
    case 0: v->rows += some; break;
    case 1: v->rows -= v->rows > some ? some : v->rows; break;
    case 2: v->pitch += some; break;
    case 3: v->pitch -= v->pitch > some ? some : 0; break;
    case 4: v->pitch = UINT64_MAX / some; break;
    case 5: v->offset += v->offset == STOW_OFFSET_NONE ? 0 : some; break;
    case 6: v->offset -= v->offset > some && v->offset != STOW_OFFSET_NONE ? some : 0; break;
    case 7:
      v->rows = 1;
      v->pitch = 0;
      break;
    case 8: s->plan->facts.least_row = 0; break;
    default: {
      uint32_t at = (uint32_t)test_random_below(random, s->plan->step_count - 1);
      stow_node node = s->plan->order[at];
      s->plan->order[at] = s->plan->order[at + 1];
      s->plan->order[at + 1] = node;
      break;
    }
  }
}

TEST(PlansInRowsPassAndRun) {
  static machine m;
  test_random random = {3};
  size_t pitched = 0;
  size_t plans = 0;
  for (size_t i = 0; i < (test_is_long() ? 20000u : 1500u); ++i) {
    scene* s = scene_make(&random);
    stow_diag diag;
    stow_diag_init(&diag);
    if (s->plan != NULL) {
      plans += 1;
      pitched += stowi_plan_is_pitched(s->plan);
      test_check(fault_of(s, &diag) == STOW_FAULT_NONE, __FILE__, __LINE__, "%s in\n%s",
                 diag.message, s->m.text);
      CHECK(runs(&m, s->plan, s->graph));
    }
    scene_free(s);
  }
  CHECK(plans > 1000);
  CHECK(pitched * 3 > plans);
}

TEST(DamagedRowsAreCaughtIfTheyCorrupt) {
  static machine m;
  test_random random = {5};
  size_t corrupt = 0;
  size_t faults[STOW_FAULT_COUNT] = {0};
  for (size_t i = 0; i < (test_is_long() ? 60000u : 4000u); ++i) {
    scene* s = scene_make(&random);
    if (s->plan != NULL && stowi_plan_is_pitched(s->plan)) {
      damage(s, &random);
      stow_fault fault = fault_of(s, NULL);
      faults[fault] += 1;
      if (fault != STOW_FAULT_SCHEDULE && !runs(&m, s->plan, s->graph)) {
        corrupt += 1;
        test_check(fault != STOW_FAULT_NONE, __FILE__, __LINE__,
                   "a run finds damage, the checker nothing in\n%s", s->m.text);
      }
    }
    scene_free(s);
  }
  CHECK(corrupt > 500);
  CHECK(faults[STOW_FAULT_ROWS] > 200);
  CHECK(faults[STOW_FAULT_HOME] + faults[STOW_FAULT_VIEW_MOVED] > 100);
}

// ---------------------------------------------------------------------------------------------
// Saved plans

static const char* const joined =
    "graph @g {\n%0 = input \"x\" : f32[2, 4, 8]\n%1 = abs(%0) : f32[2, 4, 8]\n"
    "%2 = neg(%0) : f32[2, 4, 8]\n%3 = concat(%1, %2) {axis = 1} : f32[2, 8, 8]\n"
    "%4 = reduce(%3) {axes = [1, 2], keepdims = false} : f32[2]\nreturn %4\n}\n";

TEST(SavedPlansAreRefusedWithTheReason) {
  static const struct {
    const char* from;
    const char* to;
    const char* message;
  } edits[] = {
      {"# rows.1=2,256\n", "# rows.1=1,256\n", "expected two rows or more, of equal size"},
      {"# rows.1=2,256\n", "# rows.1=3,256\n", "expected two rows or more, of equal size"},
      {"# rows.1=2,256\n", "# rows.1=2,128\n", "the pitch must be more than a row"},
      {"# rows.1=2,256\n", "# rows.1=2,18446744073709551615\n", "within 64 bits"},
      {"# rows.1=2,256\n", "# rows.0=2,256\n", "only a view that has a slot has rows"},
      {"# rows.1=2,256\n# rows.2=2,256\n", "", "least_row must be omitted if no value has rows"},
      {"# least_row=16\n", "# least_row=0\n", "least_row must be omitted if it is 0"},
      {"# least_row=16\n", "", "only with least_row"},
      {"# rows.1=2,256\n# rows.2=2,256\n", "# rows.2=2,256\n# rows.1=2,256\n",
       "must be sorted by id"},
  };
  stow_module* module;
  stow_graph* graph = plan_parse(joined, &module);
  stow_plan* plan = NULL;
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  options.least_row = 16;
  CHECK(stow_plan_make(graph, NULL, &options, stow_allocator_default(), NULL, &plan) == STOW_OK);
  CHECK(stow_plan_write(plan, STOW_PLAN_SAVED, stow_string_writer(&text)) == STOW_OK);
  for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); ++i) {
    char edited[4000];
    stow_plan* read = NULL;
    stow_diag diag;
    stow_diag_init(&diag);
    const char* at = strstr(text.data, edits[i].from);
    if (CHECK(at != NULL)) {
      (void)snprintf(edited, sizeof edited, "%.*s%s%s", (int)(at - text.data), text.data,
                     edits[i].to, at + strlen(edits[i].from));
      CHECK(stow_plan_read(edited, strlen(edited), NULL, graph, stow_allocator_default(), &diag,
                           &read) == STOW_ERR_SYNTAX);
      CHECK_HAS(diag.message, edits[i].message);
    }
    stow_plan_destroy(read);
  }
  stow_string_free(&text);
  stow_plan_destroy(plan);
  stow_module_destroy(module);
}

// Nobody gets pitched values without asking.
TEST(PresetsAndOlderCallersHaveDenseValues) {
  stow_module* module;
  stow_graph* graph = plan_parse(joined, &module);
  for (stow_preset preset = 0; preset < STOW_PRESET_COUNT; ++preset) {
    stow_plan_options options;
    stow_plan* plan = NULL;
    stow_plan_options_init(&options, preset);
    CHECK_U64(options.least_row, 0);
    options.least_row = UINT64_C(1);
    options.struct_size = offsetof(stow_plan_options, least_row);
    CHECK(stow_plan_make(graph, NULL, &options, stow_allocator_default(), NULL, &plan) == STOW_OK);
    CHECK(plan != NULL && !stowi_plan_is_pitched(plan));
    stow_plan_destroy(plan);
  }
  stow_module_destroy(module);
}

// An executor that cannot run one node row by row says so.
TEST(ForbiddenRowsKeepValuesDense) {
  stow_module* module;
  stow_graph* graph = plan_parse(joined, &module);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  options.least_row = 16;
  for (stow_node node = 1; node <= 4; ++node) {
    stow_effects* effects = NULL;
    stow_plan* plan = NULL;
    CHECK(stow_effects_create(graph, stow_allocator_default(), NULL, &effects) == STOW_OK);
    CHECK(stow_effects_forbid_rows(effects, node, NULL) == STOW_OK);
    CHECK(stow_plan_make(graph, effects, &options, stow_allocator_default(), NULL, &plan) ==
          STOW_OK);
    if (plan != NULL) {
      CHECK_U64(plan->values[1].rows, node == 1 || node == 3 ? 1 : 2);
      CHECK_U64(plan->values[2].rows, node == 2 || node == 3 ? 1 : 2);
    }
    stow_plan_destroy(plan);
    stow_effects_destroy(effects);
  }
  stow_module_destroy(module);
}

// A smaller operand in bytes of its own says nothing about where rows of the result begin.
TEST(OperandsOfOtherSizesDoNotKeepResultsDense) {
  stow_module* module;
  stow_graph* graph = plan_parse(
      "graph @g {\n"
      "  %0 = input \"x\" : f32[2, 8, 16]\n"
      "  %1 = input \"b\" : f32[16]\n"
      "  %2 = exp(%0) : f32[2, 8, 16]\n"
      "  %3 = add(%2, %1) : f32[2, 8, 16]\n"
      "  %4 = tanh(%0) : f32[2, 8, 16]\n"
      "  %5 = concat(%3, %4) {axis = 1} : f32[2, 16, 16]\n"
      "  %6 = exp(%5) : f32[2, 16, 16]\n"
      "  return %6\n"
      "}\n",
      &module);
  stow_plan_options options = plan_options(STOW_PRESET_DEFAULT);
  stow_plan* plan = NULL;
  options.least_row = 16;
  CHECK(stow_plan_make(graph, NULL, &options, stow_allocator_default(), NULL, &plan) == STOW_OK);
  if (plan != NULL) {
    CHECK_U64(plan->values[3].rows, 2);
    CHECK_U64(stow_plan_root(plan, 3), stow_plan_root(plan, 5));
  }
  stow_plan_destroy(plan);
  stow_module_destroy(module);
}
