// Copy elision in random programs: run on bytes, with their load from the definition, against every
// subset of elisions; and long chains of concats.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/api.h"
#include "analysis/sharing/hulls.h"
#include "graph/api.h"
#include "support/test.h"

#define MAX_VALUES 64
#define MAX_BYTES 4096

typedef struct program {
  stow_graph* graph;
  uint64_t least_row;  // 0: no value may be pitched
  stow_effects* effects;
  stow_schedule* schedule;
  stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stowi_analysis_windows* windows;
  stowi_analysis_sharing* sharing;
  stow_diag diag;
} program;

static void program_free(program* p) {
  stowi_analysis_sharing_destroy(p->sharing);
  stowi_analysis_windows_destroy(p->windows);
  stowi_analysis_lifetimes_destroy(p->lifetimes);
  stowi_analysis_views_destroy(p->views);
  stow_schedule_destroy(p->schedule);
  stow_effects_destroy(p->effects);
  stow_graph_destroy(p->graph);
}

static stow_value random_value(const stow_graph* graph, test_random* random) {
  uint32_t count = stow_graph_value_count(graph);
  uint32_t recent = count < 5 ? count : 5;
  bool far = test_random_below(random, 3) == 0;
  return far ? (stow_value)test_random_below(random, count)
             : count - 1 - (stow_value)test_random_below(random, recent);
}

static bool add_custom(stow_graph* graph, test_random* random) {
  stow_dim dims[3] = {1 + (stow_dim)(test_random_below(random, 6) == 0),
                      1 + (stow_dim)test_random_below(random, 4), 2};
  stow_type type = stow_type_make(STOW_U8, 3, dims);
  stow_call* call = stow_graph_begin(graph, STOW_OP_CUSTOM);
  stow_call_operand(call, random_value(graph, random));
  stow_call_attr_string(call, "name", stow_str_of("f"));
  stow_call_result_type(call, &type);
  return stow_call_finish(call, NULL, NULL) == STOW_OK;
}

// Joins some values; fails if they do not match, or the result would become too large.
static bool add_concat(stow_graph* graph, test_random* random) {
  stow_call* call = stow_graph_begin(graph, STOW_OP_CONCAT);
  uint64_t total = 0;
  for (size_t k = 0; k < 1 + test_random_below(random, 4); ++k) {
    uint64_t bytes;
    stow_value operand = random_value(graph, random);
    if (stow_type_bytes(stow_graph_type(graph, operand), &bytes) != STOW_OK) {
      return false;
    }
    total += bytes;
    stow_call_operand(call, operand);
  }
  stow_call_attr_int(call, "axis", 1);
  return total < MAX_BYTES && stow_call_finish(call, NULL, NULL) == STOW_OK;
}

static bool add_unary(stow_graph* graph, test_random* random) {
  stow_value operand = random_value(graph, random);
  return stow_graph_add(graph, STOW_OP_ABS, &operand, 1, NULL, NULL) == STOW_OK;
}

static bool add_narrow(stow_graph* graph, test_random* random) {
  stow_value operand = random_value(graph, random);
  stow_dim length = stow_graph_type(graph, operand)->dims[1];
  stow_dim start = (stow_dim)test_random_below(random, (uint64_t)length);
  stow_call* call = stow_graph_begin(graph, STOW_OP_NARROW);
  stow_call_operand(call, operand);
  stow_call_attr_int(call, "axis", 1);
  stow_call_attr_int(call, "start", start);
  stow_call_attr_int(call, "len",
                     1 + (int64_t)test_random_below(random, (uint64_t)(length - start)));
  return stow_call_finish(call, NULL, NULL) == STOW_OK;
}

// Another number of channels, computed for each sample.
static bool add_product(stow_graph* graph, test_random* random) {
  stow_value operands[2] = {0, random_value(graph, random)};
  stow_dim dims[2] = {1 + (stow_dim)test_random_below(random, 4),
                      stow_graph_type(graph, operands[1])->dims[1]};
  stow_type type = stow_type_make(STOW_U8, 2, dims);
  return stow_graph_type(graph, operands[1])->rank == 3 &&
         stow_graph_param(graph, NULL, &type, NULL, &operands[0]) == STOW_OK &&
         stow_graph_add(graph, STOW_OP_MATMUL, operands, 2, NULL, NULL) == STOW_OK;
}

static bool add_split(stow_graph* graph, test_random* random) {
  stow_value operand = random_value(graph, random);
  stow_dim length = stow_graph_type(graph, operand)->dims[1];
  stow_call* call = stow_graph_begin(graph, STOW_OP_SPLIT);
  int64_t sizes[2] = {length / 2, length - length / 2};
  stow_call_operand(call, operand);
  stow_call_attr_int(call, "axis", 1);
  stow_call_attr_ints(call, "sizes", sizes, 2);
  return stow_call_finish(call, NULL, NULL) == STOW_OK;
}

static bool add_binary(stow_graph* graph, test_random* random) {
  stow_value operands[2] = {random_value(graph, random), random_value(graph, random)};
  return stow_graph_add(graph, STOW_OP_MAX, operands, 2, NULL, NULL) == STOW_OK;
}

typedef bool (*adder)(stow_graph*, test_random*);
static const adder dense_adders[8] = {add_custom, add_custom, add_concat, add_concat,
                                      add_concat, add_unary,  add_unary,  add_narrow};
// Most of these can be run row by row.
static const adder row_adders[16] = {add_product, add_product, add_product, add_product,
                                     add_concat,  add_concat,  add_concat,  add_concat,
                                     add_unary,   add_unary,   add_binary,  add_binary,
                                     add_split,   add_split,   add_narrow,  add_custom};

static stow_graph* random_program(test_random* random, size_t nodes, stow_dim batch) {
  stow_graph* graph;
  stow_dim dims[3] = {batch, 2, 2};
  stow_type type = stow_type_make(STOW_U8, 3, dims);
  if (stow_graph_create(stow_str_of("t"), NULL, stow_allocator_default(), NULL, &graph) !=
          STOW_OK ||
      stow_graph_input(graph, "x", &type, NULL, NULL) != STOW_OK) {
    abort();
  }
  while (stow_graph_node_count(graph) < nodes) {
    adder add = batch == 1 ? dense_adders[test_random_below(random, 8)]
                           : row_adders[test_random_below(random, 16)];
    add(graph, random);
  }
  for (size_t i = 0; i < 1 + test_random_below(random, 3); ++i) {
    stow_graph_add_output(graph, random_value(graph, random), NULL);
  }
  return graph;
}

// Effects of all kinds on some nodes; those that are refused are skipped.
static void random_effects(program* p, test_random* random) {
  for (stow_node node = 1; node < stow_graph_node_count(p->graph); ++node) {
    stow_value value = stow_graph_first_result(p->graph, node);
    stow_node other = (stow_node)test_random_below(random, stow_graph_node_count(p->graph));
    switch (test_random_below(random, 24)) {
      case 0:
        stow_effects_hold_operand(p->effects, node, 0, other > node ? other : STOW_STEP_END, NULL);
        break;
      case 1:
        stow_effects_write_early(p->effects, node, 0, other < node ? other : node, NULL);
        break;
      case 2: stow_effects_set_own(p->effects, value, NULL); break;
      case 3: stow_effects_set_alignment(p->effects, value, 4, NULL); break;
      case 4: stow_effects_add_scratch(p->effects, node, 8, 1, NULL, NULL); break;
      case 5: stow_effects_set_state(p->effects, value, NULL); break;
      case 6: stow_effects_allow_in_place(p->effects, node, 0, 0, NULL); break;
      default: break;
    }
  }
}

static bool make_lifetimes(program* p) {
  stowi_analysis_lifetimes_options options;
  stowi_analysis_lifetimes_options_init(&options);
  stowi_analysis_lifetimes_destroy(p->lifetimes);
  return stowi_analysis_lifetimes_create(p->graph, p->schedule, p->views, p->effects, &options,
                                         stow_allocator_default(), &p->diag,
                                         &p->lifetimes) == STOW_OK;
}

static bool make_views(program* p) {
  stowi_analysis_views_options options;
  stowi_analysis_views_options_init(&options);
  options.least_row = p->least_row;
  stowi_analysis_views_destroy(p->views);
  p->views = NULL;
  return stowi_analysis_views_create(p->graph, p->effects, &options, stow_allocator_default(),
                                     &p->diag, &p->views) == STOW_OK &&
         make_lifetimes(p);
}

static bool share(program* p, const stowi_analysis_sharing_options* options) {
  stow_allocator allocator = stow_allocator_default();
  return make_views(p) &&
         CHECK(stowi_analysis_sharing_apply(p->views, p->graph, p->schedule, p->effects,
                                            p->lifetimes, options, allocator, &p->diag,
                                            &p->sharing) == STOW_OK) &&
         CHECK(make_lifetimes(p)) &&
         CHECK(stowi_analysis_windows_create(p->views, p->lifetimes, allocator, &p->diag,
                                             &p->windows) == STOW_OK);
}

static void unshare(program* p) {
  stowi_analysis_sharing_destroy(p->sharing);
  stowi_analysis_windows_destroy(p->windows);
  p->sharing = NULL;
  p->windows = NULL;
}

// ---------------------------------------------------------------------------------------------
// Load, from the definition

static bool lives(const program* p, stow_value value, uint32_t step) {
  return stowi_analysis_lifetimes_own_begin(p->lifetimes, value) <= step &&
         step < stowi_analysis_lifetimes_own_end(p->lifetimes, value);
}

// What |root| occupies at |step| if values are at |offsets| in |roots|.
static uint64_t hull_at(const program* p, const stow_value* roots, const uint64_t* offsets,
                        stow_value root, uint32_t step) {
  uint64_t low = UINT64_MAX;
  uint64_t high = 0;
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    if (roots[v] == root && lives(p, v, step)) {
      uint64_t end = offsets[v] + stowi_analysis_views_extent(p->views, v);
      low = offsets[v] < low ? offsets[v] : low;
      high = end > high ? end : high;
    }
  }
  return high > low ? high - low : 0;
}

static uint64_t load_at(const program* p, const stow_value* roots, const uint64_t* offsets,
                        uint32_t step) {
  uint64_t load = 0;
  for (size_t i = 0; i < stowi_effects_scratch_count(p->effects); ++i) {
    stowi_effects_scratch_entry scratch = stowi_effects_scratch(p->effects, i);
    load += stow_schedule_step(p->schedule, scratch.node) == step ? scratch.bytes : 0;
  }
  for (stow_value root = 0; root < stow_graph_value_count(p->graph); ++root) {
    load += roots[root] == root ? hull_at(p, roots, offsets, root, step) : 0;
  }
  return load;
}

static uint64_t highest_load(const program* p, const stow_value* roots, const uint64_t* offsets) {
  uint64_t highest = 0;
  for (uint32_t step = 0; step <= stow_graph_node_count(p->graph); ++step) {
    uint64_t load = load_at(p, roots, offsets, step);
    highest = load > highest ? load : highest;
  }
  return highest;
}

static void read_views(const program* p, stow_value* roots, uint64_t* offsets) {
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    roots[v] = stowi_analysis_views_root(p->views, v);
    offsets[v] = stowi_analysis_views_offset(p->views, v);
  }
}

static uint64_t highest_load_now(const program* p) {
  stow_value roots[MAX_VALUES];
  uint64_t offsets[MAX_VALUES];
  read_views(p, roots, offsets);
  return highest_load(p, roots, offsets);
}

// ---------------------------------------------------------------------------------------------
// Running on bytes

typedef struct machine {
  const program* p;
  uint32_t memory[MAX_VALUES][MAX_BYTES];   // by root
  uint32_t content[MAX_VALUES][MAX_BYTES];  // what each value's bytes must be
} machine;

static uint64_t bytes_of(const machine* m, stow_value value) {
  return stowi_analysis_views_bytes(m->p->views, value);
}

// Where byte |i| of |value| is.
static uint32_t* byte_of(machine* m, stow_value value, uint64_t i) {
  const stowi_analysis_views* views = m->p->views;
  uint64_t row = bytes_of(m, value) / stowi_analysis_views_rows(views, value);
  return &m->memory[stowi_analysis_views_root(views, value)]
                   [stowi_analysis_views_offset(views, value) +
                    i / row * stowi_analysis_views_pitch(views, value) + i % row];
}

static bool are_intact(machine* m, stow_value value, uint64_t begin, uint64_t end) {
  bool intact = true;
  for (uint64_t i = begin; i < end; ++i) {
    intact = intact && *byte_of(m, value, i) == m->content[value][i];
  }
  return intact;
}

static bool is_intact(machine* m, stow_value value) {
  return are_intact(m, value, 0, bytes_of(m, value));
}

static uint64_t rows_of(const machine* m, stow_node node) {
  const stow_graph* graph = m->p->graph;
  uint64_t rows = 1;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    uint64_t own = stowi_analysis_views_rows(m->p->views, stow_graph_operands(graph, node)[k]);
    rows = own > rows ? own : rows;
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value result = stow_graph_first_result(graph, node) + (stow_value)k;
    uint64_t own = stowi_analysis_views_rows(m->p->views, result);
    rows = own > rows ? own : rows;
  }
  return rows;
}

// Fills the result's content; copies the operands that are not elided. One that occurs twice is
// elided once: its other place in the result is copied.
static bool run_concat(machine* m, stow_node node) {
  const stow_graph* graph = m->p->graph;
  stow_value result = stow_graph_first_result(graph, node);
  bool by_rows = rows_of(m, node) > 1;
  bool intact = true;
  uint64_t rows = (uint64_t)stow_graph_type(graph, result)->dims[0];
  uint64_t pitch = bytes_of(m, result) / rows;
  for (uint64_t row = 0; row < rows; ++row) {
    uint64_t to = row * pitch;
    for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
      stow_value operand = stow_graph_operands(graph, node)[k];
      uint64_t width = bytes_of(m, operand) / rows;
      bool there = byte_of(m, operand, row * width) == byte_of(m, result, to);
      intact = intact && (!by_rows || are_intact(m, operand, row * width, (row + 1) * width));
      for (uint64_t i = 0; i < width; ++i) {
        m->content[result][to + i] = m->content[operand][row * width + i];
        if (!there) {
          *byte_of(m, result, to + i) = m->content[result][to + i];
        }
      }
      to += width;
    }
  }
  return intact;
}

// Whether what |node| reads for |row| of |rows| is there.
static bool can_read(machine* m, stow_node node, uint64_t row, uint64_t rows) {
  uint64_t still = 0;
  bool intact = rows == 1 || stowi_graph_takes_rows(m->p->graph, node, rows, &still);
  for (size_t k = 0; k < stow_graph_operand_count(m->p->graph, node); ++k) {
    stow_value operand = stow_graph_operands(m->p->graph, node)[k];
    uint64_t bytes = bytes_of(m, operand);
    bool is_still = (still >> k & 1) != 0;
    intact = intact && are_intact(m, operand, is_still ? 0 : bytes / rows * row,
                                  is_still ? bytes : bytes / rows * (row + 1));
  }
  return intact;
}

// Each row is read before it is written.
static bool run_plain(machine* m, stow_node node) {
  uint64_t rows = rows_of(m, node);
  bool intact = true;
  for (uint64_t row = 0; row < rows; ++row) {
    intact = intact && can_read(m, node, row, rows);
    for (size_t k = 0; k < stow_graph_result_count(m->p->graph, node); ++k) {
      stow_value result = stow_graph_first_result(m->p->graph, node) + (stow_value)k;
      uint64_t width = bytes_of(m, result) / rows;
      for (uint64_t i = row * width; i < (row + 1) * width; ++i) {
        m->content[result][i] = (uint32_t)(result * MAX_BYTES + i + 1);
        *byte_of(m, result, i) = m->content[result][i];
      }
    }
  }
  return intact;
}

static void run_view(machine* m, stow_node node, stow_view view) {
  for (size_t k = 0; k < stow_graph_result_count(m->p->graph, node); ++k) {
    stow_value result = stow_graph_first_result(m->p->graph, node) + (stow_value)k;
    stow_value operand = stow_graph_operands(m->p->graph, node)[view.operand];
    (void)stow_graph_view(m->p->graph, node, k, &view);
    for (uint64_t i = 0; i < bytes_of(m, result); ++i) {
      m->content[result][i] = m->content[operand][view.element_offset + i];
      if (!stowi_analysis_views_is_view(m->p->views, result)) {  // it has its own bytes
        *byte_of(m, result, i) = m->content[result][i];
      }
    }
  }
}

// Parts of the operand's rows, which are there.
static void run_row_view(machine* m, stow_node node) {
  for (size_t k = 0; k < stow_graph_result_count(m->p->graph, node); ++k) {
    stow_value result = stow_graph_first_result(m->p->graph, node) + (stow_value)k;
    stow_value operand = stow_graph_operands(m->p->graph, node)[0];
    stowi_graph_row_part part;
    if (CHECK(stowi_graph_row_view(m->p->graph, node, k, &part))) {
      for (uint64_t i = 0; i < bytes_of(m, result); ++i) {
        m->content[result][i] =
            m->content[operand][part.offset + i / part.row * part.pitch + i % part.row];
      }
    }
  }
}

// Whether byte |i| of |root| is in use at |step|, according to the windows.
static bool is_occupied(const program* p, stow_value root, uint32_t step, uint64_t i) {
  if (step < stowi_analysis_lifetimes_begin(p->lifetimes, root) ||
      step >= stowi_analysis_lifetimes_end(p->lifetimes, root)) {
    return false;
  }
  for (size_t w = 0; w < stowi_analysis_windows_count(p->windows, root); ++w) {
    stow_window window = stowi_analysis_windows_at(p->windows, root, w);
    if (window.begin <= step && step < window.end) {
      return window.low <= i && i < window.high;
    }
  }
  return true;
}

// Others use the bytes outside the windows.
static void spoil(machine* m, uint32_t step) {
  for (stow_value root = 0; root < stow_graph_value_count(m->p->graph); ++root) {
    for (uint64_t i = 0; i < bytes_of(m, root); ++i) {
      if (!is_occupied(m->p, root, step, i)) {
        m->memory[root][i] = UINT32_MAX;
      }
    }
  }
}

static bool run_step(machine* m, uint32_t step) {
  stow_node node = stow_schedule_order(m->p->schedule)[step];
  stow_view view;
  bool intact = true;
  for (size_t k = 0; k < stow_graph_operand_count(m->p->graph, node); ++k) {
    intact = intact && is_intact(m, stow_graph_operands(m->p->graph, node)[k]);
  }
  if (stow_graph_view(m->p->graph, node, 0, &view)) {
    run_view(m, node, view);
  } else if (stowi_analysis_views_is_noop(m->p->views, node)) {
    run_row_view(m, node);
  } else if (stow_graph_op(m->p->graph, node) == STOW_OP_CONCAT) {
    intact = run_concat(m, node) && intact;
  } else {
    intact = run_plain(m, node) && intact;
  }
  spoil(m, step);
  for (size_t k = 0; k < stow_graph_result_count(m->p->graph, node); ++k) {
    intact = intact && is_intact(m, stow_graph_first_result(m->p->graph, node) + (stow_value)k);
  }
  return intact;
}

// Whether everything that was made and is live at |step| is intact.
static bool all_intact(machine* m, uint32_t step) {
  const program* p = m->p;
  bool intact = true;
  spoil(m, step);
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    bool made = stow_schedule_step(p->schedule, stow_graph_producer(p->graph, v)) < step;
    intact = intact && (!made || !lives(p, v, step) || is_intact(m, v));
  }
  return intact;
}

// Whether every read finds what was written, also of held operands.
static bool runs(machine* m, const program* p) {
  uint32_t count = stow_graph_node_count(p->graph);
  bool good = true;
  m->p = p;
  for (uint32_t step = 0; step < count; ++step) {
    good = good && all_intact(m, step) && run_step(m, step);
  }
  return good && all_intact(m, count);
}

static size_t count_elisions(const program* p) {
  size_t count = 0;
  for (size_t i = 0; i < stowi_analysis_sharing_count(p->sharing); ++i) {
    stow_decision d = stowi_analysis_sharing_at(p->sharing, i);
    count += d.share == STOW_SHARE_HOME && d.reason == STOW_REASON_TAKEN ? 1 : 0;
  }
  return count;
}

// Values have |batch| samples; if there are several, they may be pitched.
static bool program_make_batch(program* p, test_random* random, size_t nodes, bool effects,
                               stow_dim batch) {
  stow_allocator allocator = stow_allocator_default();
  memset(p, 0, sizeof(*p));
  p->least_row = batch > 1 ? 1 : 0;
  p->graph = random_program(random, nodes, batch);
  if (stow_effects_create(p->graph, allocator, &p->diag, &p->effects) != STOW_OK ||
      stow_schedule_create(p->graph, allocator, &p->diag, &p->schedule) != STOW_OK) {
    abort();
  }
  if (effects) {
    random_effects(p, random);
  }
  return make_views(p);  // false if effects contradict each other
}

static bool program_make(program* p, test_random* random, size_t nodes, bool effects) {
  return program_make_batch(p, random, nodes, effects, 1);
}

static stowi_analysis_sharing_options options_of(bool in_place, bool elide, uint64_t alignment) {
  stowi_analysis_sharing_options options;
  stowi_analysis_sharing_options_init(&options);
  options.in_place = in_place;
  options.elide_copies = elide;
  options.alignment = alignment;
  return options;
}

TEST(RandomProgramsStayCorrectAndLoadDoesNotRise) {
  static machine m;
  test_random random = {7};
  size_t elisions = 0;
  size_t made = 0;
  size_t rises = 0;  // where an elision was taken that prevented a result in place
  for (size_t i = 0; i < (test_is_long() ? 40000u : 1500u); ++i) {
    program p;
    bool in_place = test_random_below(&random, 2) != 0;
    uint64_t alignment = (uint64_t)1 << test_random_below(&random, 3);
    stowi_analysis_sharing_options without = options_of(in_place, false, alignment);
    stowi_analysis_sharing_options with = options_of(in_place, true, alignment);
    if (program_make(&p, &random, 4 + test_random_below(&random, 30),
                     test_random_below(&random, 2) != 0) &&
        share(&p, &without)) {
      uint64_t before = highest_load_now(&p);
      ++made;
      unshare(&p);
      if (share(&p, &with)) {
        CHECK(runs(&m, &p));
        rises += highest_load_now(&p) > before ? 1 : 0;
        CHECK(highest_load_now(&p) <= before || in_place);
        elisions += count_elisions(&p);
      }
    }
    program_free(&p);
  }
  CHECK(made > 1000);
  CHECK(elisions > 1000);
  CHECK(rises * 200 < made);
}

static size_t count_pitched(const program* p) {
  size_t count = 0;
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    count += stowi_analysis_views_rows(p->views, v) > 1 ? 1 : 0;
  }
  return count;
}

// The load may be higher than without pitched values: views along inner axes are always made.
TEST(RandomProgramsInRowsStayCorrect) {
  static machine m;
  test_random random = {17};
  size_t views = 0;
  size_t elisions = 0;
  size_t made = 0;
  for (size_t i = 0; i < (test_is_long() ? 40000u : 2000u); ++i) {
    program p;
    stow_dim batch = 2 + (stow_dim)test_random_below(&random, 2);
    bool in_place = test_random_below(&random, 2) != 0;
    uint64_t alignment = (uint64_t)1 << test_random_below(&random, 3);
    stowi_analysis_sharing_options without = options_of(in_place, false, alignment);
    stowi_analysis_sharing_options with = options_of(in_place, true, alignment);
    if (program_make_batch(&p, &random, 6 + test_random_below(&random, 30),
                           test_random_below(&random, 3) == 0, batch) &&
        share(&p, &without)) {
      uint64_t before = highest_load_now(&p);
      size_t pitched = count_pitched(&p);
      ++made;
      views += pitched;
      CHECK(runs(&m, &p));
      unshare(&p);
      if (share(&p, &with)) {
        CHECK(runs(&m, &p));
        CHECK(highest_load_now(&p) <= before || in_place);
        elisions += count_pitched(&p) > pitched ? 1 : 0;
      }
    }
    program_free(&p);
  }
  CHECK(made > 1000);
  CHECK(views > 1000);
  CHECK(elisions > 500);
}

// ---------------------------------------------------------------------------------------------
// Against all subsets of homes

#define MAX_CHOICES 10

typedef struct choice {
  stow_value root;    // that moves
  stow_value result;  // into this
  uint64_t place;
  bool taken;
} choice;

typedef struct choices {
  choice list[MAX_CHOICES];
  size_t count;
  stow_value roots[MAX_VALUES];  // before
  uint64_t offsets[MAX_VALUES];
} choices;

// Whether |node| has |operand| twice: only one of both can be in the result.
static bool is_repeated(const program* p, stow_node node, stow_value operand) {
  size_t count = 0;
  for (size_t k = 0; k < stow_graph_operand_count(p->graph, node); ++k) {
    count += stow_graph_operands(p->graph, node)[k] == operand ? 1 : 0;
  }
  return count > 1;
}

// What could have moved, by the decisions; false if more than one value moves at a time, roots
// join, or there are too many to try.
static bool list_choices(const program* p, choices* c) {
  c->count = 0;
  for (size_t i = 0; i < stowi_analysis_sharing_count(p->sharing); ++i) {
    stow_decision d = stowi_analysis_sharing_at(p->sharing, i);
    bool free = d.reason == STOW_REASON_TAKEN || d.reason == STOW_REASON_LOAD ||
                d.reason == STOW_REASON_OTHER_HOME;
    if (d.share != STOW_SHARE_HOME || !free) {
      continue;
    }
    stow_value root = c->roots[d.operand];
    bool taken = d.reason == STOW_REASON_TAKEN;
    if (stowi_analysis_views_bytes(p->views, root) != d.bytes || c->offsets[d.operand] != 0 ||
        is_repeated(p, d.node, d.operand)) {
      if (taken) {
        return false;
      }
      continue;
    }
    uint64_t place = 0;
    for (const stow_value* o = stow_graph_operands(p->graph, d.node); *o != d.operand; ++o) {
      place += stowi_analysis_views_bytes(p->views, *o);
    }
    for (size_t k = 0; k < c->count; ++k) {
      if (taken && c->list[k].taken && c->list[k].root == root) {
        return false;
      }
    }
    if (c->count == MAX_CHOICES) {
      return false;
    }
    c->list[c->count++] = (choice){root, d.result, place, taken};
  }
  return true;
}

// The highest load with the elisions in |chosen|; UINT64_MAX if a root would have two targets.
static uint64_t load_with(const program* p, const choices* c, size_t chosen) {
  const choice* elision[MAX_VALUES] = {NULL};
  stow_value roots[MAX_VALUES];
  uint64_t offsets[MAX_VALUES];
  for (size_t k = 0; k < c->count; ++k) {
    if ((chosen >> k & 1) == 0) {
      continue;
    }
    if (elision[c->list[k].root] != NULL) {
      return UINT64_MAX;
    }
    elision[c->list[k].root] = &c->list[k];
  }
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    roots[v] = c->roots[v];
    offsets[v] = c->offsets[v];
    while (elision[roots[v]] != NULL) {
      offsets[v] += elision[roots[v]]->place;
      roots[v] = elision[roots[v]]->result;
    }
  }
  return highest_load(p, roots, offsets);
}

// Returns whether no subset has a lower load.
static bool check_subsets(const program* p, const choices* c) {
  uint64_t best = UINT64_MAX;
  size_t taken = 0;
  for (size_t chosen = 0; chosen < (size_t)1 << c->count; ++chosen) {
    uint64_t load = load_with(p, c, chosen);
    best = load < best ? load : best;
  }
  for (size_t k = 0; k < c->count; ++k) {
    taken |= (size_t)c->list[k].taken << k;
  }
  uint64_t load = highest_load_now(p);
  CHECK_U64(load, load_with(p, c, taken));
  CHECK(load <= load_with(p, c, 0));
  return load == best;
}

TEST(ElisionsAreNearlyAlwaysTheBestSubset) {
  test_random random = {11};
  stowi_analysis_sharing_options options = options_of(false, true, 1);
  size_t tried = 0;
  size_t best = 0;
  for (size_t i = 0; i < (test_is_long() ? 10000u : 600u); ++i) {
    program p;
    choices c;
    if (program_make(&p, &random, 5 + test_random_below(&random, 9), false)) {
      read_views(&p, c.roots, c.offsets);
      if (share(&p, &options) && list_choices(&p, &c) && c.count != 0) {
        ++tried;
        best += check_subsets(&p, &c) ? 1 : 0;
      }
    }
    program_free(&p);
  }
  CHECK(tried > 150);
  CHECK(best * 100 >= tried * 90);
}

// ---------------------------------------------------------------------------------------------
// Hulls: any groups merged at any place, worth it or not

// Where each byte of each value is.
typedef struct naive {
  stow_value roots[MAX_VALUES];
  uint32_t bytes[MAX_VALUES][MAX_BYTES];
  bool pitched[MAX_VALUES];  // on the way
} naive;

static uint64_t size_of(const program* p, stow_value value) {
  return stowi_analysis_views_bytes(p->views, value);
}

static void naive_make(const program* p, naive* n) {
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    n->roots[v] = stowi_analysis_views_root(p->views, v);
    n->pitched[v] = false;
    for (uint64_t i = 0; i < size_of(p, v); ++i) {
      n->bytes[v][i] = (uint32_t)(stowi_analysis_views_offset(p->views, v) + i);
    }
  }
}

static void naive_move(const program* p, naive* n, stow_value root, stow_value into,
                       stowi_analysis_layout place) {
  uint64_t row = size_of(p, root) / place.rows;
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    for (uint64_t i = 0; n->roots[v] == root && i < size_of(p, v); ++i) {
      uint64_t at = n->bytes[v][i];
      n->bytes[v][i] =
          (uint32_t)(place.offset + (place.rows == 1 ? at : at / row * place.pitch + at % row));
    }
    n->pitched[v] = n->pitched[v] || (n->roots[v] == root && place.rows > 1);
    n->roots[v] = n->roots[v] == root ? into : n->roots[v];
  }
}

static uint64_t naive_load(const program* p, const naive* n, uint32_t step) {
  uint64_t low[MAX_VALUES];
  uint64_t high[MAX_VALUES] = {0};
  uint64_t load = 0;
  memset(low, 0xff, sizeof(low));
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    stow_value root = n->roots[v];
    for (uint64_t i = 0; lives(p, v, step) && i < size_of(p, v); ++i) {
      uint64_t at = n->bytes[v][i];
      low[root] = at < low[root] ? at : low[root];
      high[root] = at + 1 > high[root] ? at + 1 : high[root];
    }
  }
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    load += high[v] > low[v] ? high[v] - low[v] : 0;
  }
  for (size_t i = 0; i < stowi_effects_scratch_count(p->effects); ++i) {
    stowi_effects_scratch_entry scratch = stowi_effects_scratch(p->effects, i);
    load += stow_schedule_step(p->schedule, scratch.node) == step ? scratch.bytes : 0;
  }
  return load;
}

static uint64_t naive_peak(const program* p, const naive* n) {
  uint64_t peak = 0;
  for (uint32_t step = 0; step <= stow_graph_node_count(p->graph); ++step) {
    uint64_t load = naive_load(p, n, step);
    peak = load > peak ? load : peak;
  }
  return peak;
}

static stowi_analysis_rise naive_rise(const program* p, const naive* before, const naive* after) {
  uint64_t peak = naive_peak(p, before);
  stowi_analysis_rise rise = STOWI_ANALYSIS_RISE_NONE;
  for (uint32_t step = 0; step <= stow_graph_node_count(p->graph); ++step) {
    uint64_t load = naive_load(p, after, step);
    if (load > naive_load(p, before, step)) {
      rise = load > peak || rise == STOWI_ANALYSIS_RISE_OF_PEAK ? STOWI_ANALYSIS_RISE_OF_PEAK
                                                                : STOWI_ANALYSIS_RISE_BELOW_PEAK;
    }
  }
  return rise;
}

static void check_places(const program* p, stowi_analysis_hulls* hulls, const naive* n) {
  for (stow_value v = 0; v < stow_graph_value_count(p->graph); ++v) {
    uint64_t offset;
    stow_value root =
        stowi_analysis_hulls_find(hulls, stowi_analysis_views_root(p->views, v), &offset);
    CHECK_U64(root, n->roots[v]);
    if (!n->pitched[v] && size_of(p, v) != 0) {
      CHECK_U64(offset + stowi_analysis_views_offset(p->views, v), n->bytes[v][0]);
    }
  }
}

static stowi_analysis_layout random_place(const program* p, stow_value root, test_random* random) {
  stowi_analysis_layout place = {test_random_below(random, 40), 1, 0};
  uint64_t rows = 2 + test_random_below(random, 3);
  if (test_random_below(random, 2) == 0 && size_of(p, root) % rows == 0) {
    place.rows = rows;
    place.pitch = size_of(p, root) / rows + 1 + test_random_below(random, 20);
  }
  return place;
}

static void merge_at_random(const program* p, stowi_analysis_hulls* hulls, test_random* random) {
  static naive before;
  static naive after;
  naive_make(p, &before);
  for (size_t i = 0; i < 12; ++i) {
    uint32_t count = stow_graph_value_count(p->graph);
    stow_value root = before.roots[test_random_below(random, count)];
    stow_value into = before.roots[test_random_below(random, count)];
    stowi_analysis_layout place = random_place(p, root, random);
    if (root == into) {
      continue;
    }
    after = before;
    naive_move(p, &after, root, into, place);
    CHECK(stowi_analysis_hulls_try(hulls, root, into, place) == naive_rise(p, &before, &after));
    if (test_random_below(random, 3) != 0) {
      CHECK(stowi_analysis_hulls_merge(hulls, root, into, place));
      before = after;
    }
    CHECK_U64(stowi_analysis_load_curve_peak(&hulls->load), naive_peak(p, &before));
  }
  // Finding shortens the paths for later queries.
  check_places(p, hulls, &before);
  check_places(p, hulls, &before);
}

TEST(HullsOfRootsMatchTheirDefinition) {
  test_random random = {13};
  for (size_t i = 0; i < (test_is_long() ? 5000u : 150u); ++i) {
    program p;
    stowi_analysis_sharing_call call = {.allocator = stow_allocator_default()};
    stowi_analysis_hulls hulls;
    if (program_make(&p, &random, 4 + test_random_below(&random, 24), true)) {
      call.views = p.views;
      call.graph = p.graph;
      call.schedule = p.schedule;
      call.effects = p.effects;
      call.lifetimes = p.lifetimes;
      if (CHECK(stowi_effects_bits_of_outputs(&call.outputs, p.graph, call.allocator)) &&
          CHECK(stowi_analysis_hulls_init(&hulls, &call) == STOW_OK)) {
        merge_at_random(&p, &hulls, &random);
        stowi_analysis_hulls_free(&hulls);
      }
      stowi_bits_free(&call.outputs, call.allocator);
    }
    program_free(&p);
  }
}

// ---------------------------------------------------------------------------------------------
// Long chains

// c1 = concat(x0, x1), c2 = concat(c1, x2), …: with every x made right before its concat, or all
// of them first.
static stow_graph* chain(uint32_t count, bool first) {
  stow_graph* graph;
  stow_dim dims[1] = {4};
  stow_type type = stow_type_make(STOW_F32, 1, dims);
  stow_value input;
  stow_value* made = (stow_value*)calloc(count, sizeof(stow_value));
  if (made == NULL ||
      stow_graph_create(stow_str_of("t"), NULL, stow_allocator_default(), NULL, &graph) !=
          STOW_OK ||
      stow_graph_input(graph, "x", &type, NULL, &input) != STOW_OK) {
    abort();
  }
  for (uint32_t i = 0; first && i < count; ++i) {
    stow_graph_add(graph, STOW_OP_EXP, &input, 1, NULL, &made[i]);
  }
  stow_value joined = input;
  for (uint32_t i = 0; i < count; ++i) {
    if (!first) {
      stow_graph_add(graph, STOW_OP_EXP, &input, 1, NULL, &made[i]);
    }
    stow_value operands[2] = {joined, made[i]};
    stow_graph_add(graph, STOW_OP_CONCAT, operands, 2, NULL, &joined);
  }
  stow_graph_add_output(graph, joined, NULL);
  free(made);
  return graph;
}

static void check_chain(uint32_t count, bool first, size_t expected_elisions) {
  program p = {.graph = chain(count, first)};
  stow_allocator allocator = stow_allocator_default();
  stowi_analysis_sharing_options options = options_of(false, true, 16);
  if (CHECK(stow_schedule_create(p.graph, allocator, NULL, &p.schedule) == STOW_OK) &&
      CHECK(share(&p, &options))) {
    CHECK_U64(count_elisions(&p), expected_elisions);
    stow_value last = stow_graph_value_count(p.graph) - 1;
    CHECK_U64(stowi_analysis_views_root(p.views, first ? 1 : 2), last);
    CHECK_U64(stowi_analysis_views_offset(p.views, first ? count : last - 1), 16 * (uint64_t)count);
  }
  program_free(&p);
}

TEST(LongChainsShareOneRoot) {
  check_chain(2000, false, 2 * 2000 - 1);
  check_chain(500, true, 2 * 500 - 1);
  check_chain(1, false, 1);
}

// concat(x, y1), concat(x, y2), …, each dead before the next: they join until the limit on work.
static stow_graph* fan(uint32_t count) {
  stow_graph* graph;
  stow_dim dims[1] = {4};
  stow_type type = stow_type_make(STOW_F32, 1, dims);
  stow_value input;
  stow_value operands[2];
  stow_value sum = STOW_VALUE_NONE;
  if (stow_graph_create(stow_str_of("t"), NULL, stow_allocator_default(), NULL, &graph) !=
          STOW_OK ||
      stow_graph_input(graph, "x", &type, NULL, &input) != STOW_OK) {
    abort();
  }
  stow_graph_add(graph, STOW_OP_EXP, &input, 1, NULL, &operands[0]);
  for (uint32_t i = 0; i < count; ++i) {
    stow_value joined;
    stow_graph_add(graph, STOW_OP_EXP, &input, 1, NULL, &operands[1]);
    stow_graph_add(graph, STOW_OP_CONCAT, operands, 2, NULL, &joined);
    stow_graph_add(graph, STOW_OP_REDUCE, &joined, 1, NULL, &sum);
  }
  stow_graph_add_output(graph, sum, NULL);
  return graph;
}

TEST(JoiningIsBounded) {
  program p = {.graph = fan(400)};
  stow_allocator allocator = stow_allocator_default();
  stowi_analysis_sharing_options options = options_of(false, true, 16);
  if (CHECK(stow_schedule_create(p.graph, allocator, NULL, &p.schedule) == STOW_OK) &&
      CHECK(share(&p, &options))) {
    size_t taken = 0;
    bool is_last_taken = true;
    for (size_t i = 0; i < stowi_analysis_sharing_count(p.sharing); ++i) {
      stow_decision d = stowi_analysis_sharing_at(p.sharing, i);
      if (d.share == STOW_SHARE_HOME && d.operand == 1) {
        is_last_taken = d.reason == STOW_REASON_TAKEN;
        taken += is_last_taken ? 1 : 0;
      }
    }
    CHECK(taken > 200);
    CHECK(!is_last_taken);
  }
  program_free(&p);
}
