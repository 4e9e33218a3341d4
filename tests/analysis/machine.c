#include "machine.h"

#include <stdlib.h>
#include <string.h>

#include "graph/api.h"

#define MAX_TRACE 20000

// A tag: byte |index| of |value|, as written last.
typedef struct tag {
  stow_value value;
  uint64_t index;
} tag;

// Bytes [begin, end) of a root whose border no value in it crosses.
typedef struct cell {
  uint64_t begin;
  uint64_t end;
  tag first;       // of the first byte
  uint32_t since;  // when it was written, as an index into the trace
} cell;

typedef struct memory {
  cell* cells;
  size_t count;
} memory;

typedef struct machine {
  const machine_input* in;
  test_random* random;
  memory* roots;    // by value
  uint32_t* held;   // by node: since when in the trace it holds an operand; 0: not yet
  uint32_t* steps;  // the trace: which step ran
  uint32_t length;
  bool failed;
} machine;

static uint64_t begin_of(const machine* m, stow_value value) {
  return stowi_analysis_views_offset(m->in->views, value);
}

static uint64_t end_of(const machine* m, stow_value value) {
  return begin_of(m, value) + stowi_analysis_views_bytes(m->in->views, value);
}

static stow_value root_of(const machine* m, stow_value value) {
  return stowi_analysis_views_root(m->in->views, value);
}

static uint32_t now(const machine* m) { return m->steps[m->length - 1]; }

// ---------------------------------------------------------------------------------------------
// Memory

static int compare_u64(const void* a, const void* b) {
  uint64_t x = *(const uint64_t*)a;
  uint64_t y = *(const uint64_t*)b;
  return x < y ? -1 : x > y;
}

static void make_memory(machine* m, stow_value root) {
  uint32_t count = stow_graph_value_count(m->in->graph);
  uint64_t* borders = (uint64_t*)malloc(2 * (size_t)count * sizeof(uint64_t));
  size_t found = 0;
  for (stow_value v = 0; v < count; ++v) {
    if (root_of(m, v) == root) {
      borders[found++] = begin_of(m, v);
      borders[found++] = end_of(m, v);
    }
  }
  qsort(borders, found, sizeof(uint64_t), compare_u64);
  memory* made = &m->roots[root];
  made->cells = (cell*)calloc(found + 1, sizeof(cell));
  for (size_t i = 0; i + 1 < found; ++i) {
    if (borders[i] != borders[i + 1]) {
      made->cells[made->count++] = (cell){borders[i], borders[i + 1], {STOW_VALUE_NONE, 0}, 0};
    }
  }
  free(borders);
}

// ---------------------------------------------------------------------------------------------
// Whose tags a value carries

// Whether |value| is a view by the op table: bytes of |out_parent| from |out_offset| on.
static bool row_view(const machine* m, stow_value value, stow_value* out_parent,
                     uint64_t* out_offset) {
  const stow_graph* graph = m->in->graph;
  stow_node node = stow_graph_producer(graph, value);
  stow_view view;
  if (stow_graph_op_desc(graph, node)->writes_view ||
      !stow_graph_view(graph, node, value - stow_graph_first_result(graph, node), &view) ||
      (view.extended && m->in->classic)) {
    return false;
  }
  *out_parent = stow_graph_operands(graph, node)[view.operand];
  uint64_t bits = view.element_offset * stow_dtype_bits(stow_graph_type(graph, *out_parent)->dtype);
  *out_offset = bits / 8;
  return bits % 8 == 0;
}

// Every view is where the op table places it.
static void check_views(machine* m) {
  for (stow_value v = 0; v < stow_graph_value_count(m->in->graph); ++v) {
    stow_value parent;
    uint64_t offset;
    if (row_view(m, v, &parent, &offset)) {
      m->failed |= !test_check(
          root_of(m, v) == root_of(m, parent) && begin_of(m, v) == begin_of(m, parent) + offset,
          __FILE__, __LINE__, "%%%u is not where it must be in %%%u", v, parent);
    }
  }
}

// Whether all of each operand of |node|, a concat, is contiguous in its result.
static bool is_contiguous_concat(const machine* m, stow_node node) {
  const stow_graph* graph = m->in->graph;
  if (stow_graph_op(graph, node) != STOW_OP_CONCAT) {
    return false;
  }
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, node));
  const stow_attr* axis = stow_graph_attr(graph, node, "axis");
  int64_t last = axis->i < 0 ? axis->i + (int64_t)type->rank : axis->i;
  for (int64_t i = 0; i < last; ++i) {
    if (type->dims[i] != 1) {
      return false;
    }
  }
  return true;
}

// The operand of |node|, a concat, that byte |index| of the result comes from and is already in.
static bool is_built_inside(const machine* m, stow_node node, uint64_t index,
                            stow_value* out_operand, uint64_t* out_start) {
  const stow_graph* graph = m->in->graph;
  if (!is_contiguous_concat(m, node)) {
    return false;
  }
  *out_start = 0;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    uint64_t bytes = 0;
    *out_operand = stow_graph_operands(graph, node)[k];
    stow_type_bytes(stow_graph_type(graph, *out_operand), &bytes);
    if (index < *out_start + bytes) {
      stow_value result = stow_graph_first_result(graph, node);
      return root_of(m, result) == root_of(m, *out_operand) &&
             begin_of(m, *out_operand) == begin_of(m, result) + *out_start;
    }
    *out_start += bytes;
  }
  return false;
}

// The tag that byte |index| of |value| must have: a view's is its parent's, a carried result's that
// of its argument, a concat's that of an operand that is already there.
static tag tag_of(const machine* m, stow_value value, uint64_t index) {
  const stow_graph* graph = m->in->graph;
  for (;;) {
    stow_node node = stow_graph_producer(graph, value);
    stow_value parent;
    uint64_t offset;
    if (row_view(m, value, &parent, &offset)) {
      value = parent;
      index += offset;
    } else if (is_built_inside(m, node, index, &parent, &offset)) {
      value = parent;
      index -= offset;
    } else if (stow_graph_op(graph, node) == STOW_OP_LOOP && root_of(m, value) != value) {
      stow_node args = stowi_graph_region_first(graph, stow_graph_owned_region(graph, node, 0));
      value =
          stow_graph_first_result(graph, args) + 2 + value - stow_graph_first_result(graph, node);
    } else {
      return (tag){value, index};
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Reading and writing

// Whether |root| occupies all of [low, high) at |step|.
static bool occupies(const machine* m, stow_value root, uint64_t low, uint64_t high,
                     uint32_t step) {
  if (step < stowi_analysis_lifetimes_begin(m->in->lifetimes, root) ||
      step >= stowi_analysis_lifetimes_end(m->in->lifetimes, root)) {
    return false;
  }
  size_t count = m->in->windows != NULL ? stowi_analysis_windows_count(m->in->windows, root) : 0;
  for (size_t i = 0; i < count; ++i) {
    stow_window at = stowi_analysis_windows_at(m->in->windows, root, i);
    if (step >= at.begin && step < at.end) {
      return low >= at.low && high <= at.high;
    }
  }
  return true;
}

// Bytes [low, high) of |value|'s root are needed from |since| in the trace to now.
static void need(machine* m, stow_value value, uint64_t low, uint64_t high, uint32_t since) {
  for (uint32_t t = since; t < m->length && low < high && !m->failed; ++t) {
    m->failed =
        !test_check(occupies(m, root_of(m, value), low, high, m->steps[t]), __FILE__, __LINE__,
                    "%%%u is needed at step %u, when its bytes may be others'", value, m->steps[t]);
  }
}

static bool is_in(const machine* m, const cell* c, stow_value value) {
  return c->begin >= begin_of(m, value) && c->end <= end_of(m, value);
}

// All of |value| is needed from when each byte was written to now.
static void need_value(machine* m, stow_value value) {
  const memory* at = &m->roots[root_of(m, value)];
  for (size_t i = 0; i < at->count; ++i) {
    const cell* c = &at->cells[i];
    if (is_in(m, c, value)) {
      need(m, value, c->begin, c->end, c->since);
    }
  }
}

static void write_value(machine* m, stow_value value) {
  memory* at = &m->roots[root_of(m, value)];
  for (size_t i = 0; i < at->count; ++i) {
    cell* c = &at->cells[i];
    if (is_in(m, c, value)) {
      tag expected = tag_of(m, value, c->begin - begin_of(m, value));
      if (expected.value == value) {
        c->first = expected;
        c->since = m->length - 1;
      }
    }
  }
  need_value(m, value);
}

static void read_value(machine* m, stow_value value) {
  memory* at = &m->roots[root_of(m, value)];
  for (size_t i = 0; i < at->count && !m->failed; ++i) {
    cell* c = &at->cells[i];
    if (!is_in(m, c, value)) {
      continue;
    }
    tag expected = tag_of(m, value, c->begin - begin_of(m, value));
    m->failed =
        !test_check(c->first.value == expected.value && c->first.index == expected.index, __FILE__,
                    __LINE__, "%%%u is read at step %u: byte %llu is %%%u's, and must be %%%u's",
                    value, now(m), (unsigned long long)c->begin, c->first.value, expected.value);
  }
  need_value(m, value);
}

// ---------------------------------------------------------------------------------------------
// Permissions

static bool has_pair(size_t count, stowi_effects_in_place_entry (*at)(const stow_effects*, size_t),
                     const stow_effects* effects, stow_node node, size_t k, size_t operand) {
  for (size_t i = 0; i < count; ++i) {
    stowi_effects_in_place_entry pair = at(effects, i);
    if (pair.node == node && pair.result == k && pair.operand == operand) {
      return true;
    }
  }
  return false;
}

// Whether result |k| may be in place of operand |operand|, by op table or effect.
static stow_in_place permission(const machine* m, stow_node node, size_t k, size_t operand) {
  const stow_effects* effects = m->in->effects;
  stow_in_place in_place = stow_graph_in_place(m->in->graph, node, k, operand);
  if (has_pair(stowi_effects_forbidden_count(effects), stowi_effects_forbidden, effects, node, k,
               operand)) {
    return STOW_IN_PLACE_NEVER;
  }
  bool declared = has_pair(stowi_effects_overwrite_count(effects), stowi_effects_overwrite, effects,
                           node, k, operand);
  return in_place == STOW_IN_PLACE_NEVER && declared ? STOW_IN_PLACE_ALONE : in_place;
}

static bool overlap(const machine* m, stow_value a, stow_value b) {
  return root_of(m, a) == root_of(m, b) && begin_of(m, a) < end_of(m, b) &&
         begin_of(m, b) < end_of(m, a);
}

// The operands that result |k| of |node| is in place of: those that share bytes with it. One is
// allowed if it begins at the same byte and is permitted; several if they begin there too and each
// is permitted elementwise.
static void check_permission(machine* m, stow_node node, size_t k) {
  const stow_graph* graph = m->in->graph;
  stow_value result = stow_graph_first_result(graph, node) + (stow_value)k;
  size_t touched = 0;
  size_t alone = 0;
  size_t never = 0;
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    stow_value operand = stow_graph_operands(graph, node)[i];
    stow_value kept;
    uint64_t start;
    if (operand == STOW_VALUE_NONE || !overlap(m, result, operand) ||
        (is_built_inside(m, node, begin_of(m, operand) - begin_of(m, result), &kept, &start) &&
         kept == operand)) {
      continue;
    }
    stow_in_place in_place = permission(m, node, k, i);
    touched += 1;
    alone += in_place == STOW_IN_PLACE_ALONE ? 1 : 0;
    never += in_place == STOW_IN_PLACE_NEVER || begin_of(m, operand) != begin_of(m, result) ? 1 : 0;
  }
  m->failed |= !test_check(never == 0 && (alone == 0 || touched == 1), __FILE__, __LINE__,
                           "%%%u overwrites operands that its op still reads", result);
}

// ---------------------------------------------------------------------------------------------
// Running

static void run_step(machine* m, stow_node node) {
  if (m->length < MAX_TRACE) {
    m->steps[m->length++] = stow_schedule_step(m->in->schedule, node);
  } else {
    m->failed = true;
  }
}

static void run_range(machine* m, uint32_t from, uint32_t to, stow_region region);

// Whether |node| itself writes |value|: it is not a view of what was there.
static bool is_written(const machine* m, stow_value value) {
  stow_value parent;
  uint64_t offset;
  return !row_view(m, value, &parent, &offset);
}

static void run_plain(machine* m, stow_node node) {
  const stow_graph* graph = m->in->graph;
  size_t results = stow_graph_result_count(graph, node);
  stow_value first = stow_graph_first_result(graph, node);
  run_step(m, node);
  if (stow_graph_is_boundary(graph, first)) {
    return;  // loaded before the run
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE) {
      read_value(m, operand);
    }
  }
  m->held[node] = m->held[node] == 0 ? m->length - 1 : m->held[node];
  for (size_t k = 0; k < results; ++k) {
    if (is_written(m, first + (stow_value)k)) {
      if (!stow_graph_op_desc(graph, node)->writes_view) {
        check_permission(m, node, k);
      }
      write_value(m, first + (stow_value)k);
    }
  }
  for (size_t k = 0; k < results && !m->failed; ++k) {
    read_value(m, first + (stow_value)k);  // none overwrote another
  }
}

static bool has_args(const stow_graph* graph, stow_region region) {
  stow_node first = stowi_graph_region_first(graph, region);
  return stow_graph_op(graph, first) == STOW_OP_ARGS &&
         stow_graph_node_region(graph, first) == region;
}

// Runs the nodes of |region| between its `args` and its `yield`.
static void run_inside(machine* m, stow_region region) {
  const stow_graph* graph = m->in->graph;
  uint32_t first = stow_schedule_step(m->in->schedule, stowi_graph_region_first(graph, region));
  uint32_t last = stow_schedule_step(m->in->schedule, stowi_graph_region_last(graph, region));
  run_range(m, has_args(graph, region) ? first + 1 : first, last, region);
}

static void run_if(machine* m, stow_node node) {
  const stow_graph* graph = m->in->graph;
  stow_region region = stow_graph_owned_region(graph, node, test_random_below(m->random, 2));
  run_inside(m, region);
  stow_node yield = stowi_graph_region_last(graph, region);
  run_step(m, yield);
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    read_value(m, stow_graph_operands(graph, yield)[k]);
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    write_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  run_step(m, node);
  read_value(m, stow_graph_operands(graph, node)[0]);
}

static void run_round(machine* m, stow_node node, stow_region body, size_t carried) {
  const stow_graph* graph = m->in->graph;
  stow_node args = stowi_graph_region_first(graph, body);
  stow_node yield = stowi_graph_region_last(graph, body);
  stow_value first = stow_graph_first_result(graph, args);
  if (has_args(graph, body)) {
    write_value(m, first);
    write_value(m, first + 1);
  }
  run_inside(m, body);
  run_step(m, yield);
  for (size_t k = 0; k < stow_graph_operand_count(graph, yield); ++k) {
    read_value(m, stow_graph_operands(graph, yield)[k]);
  }
  for (size_t i = 0; i < carried; ++i) {
    // Its place is still reserved, though a cache in it may have grown.
    stow_value argument = first + 2 + (stow_value)i;
    need_value(m, argument);
    write_value(m, argument);
  }
  for (size_t k = carried; k < stow_graph_result_count(graph, node); ++k) {
    read_value(m, stow_graph_first_result(graph, node) + (stow_value)k);  // collects
  }
}

static void run_loop(machine* m, stow_node node) {
  const stow_graph* graph = m->in->graph;
  stow_region body = stow_graph_owned_region(graph, node, 0);
  stow_node args = stowi_graph_region_first(graph, body);
  size_t operands = stow_graph_operand_count(graph, node);
  size_t carried = operands > 2 ? operands - 2 : 0;
  run_step(m, args);
  for (size_t i = 0; i < carried; ++i) {
    read_value(m, stow_graph_operands(graph, node)[2 + i]);
  }
  for (size_t i = 0; i < carried; ++i) {
    write_value(m, stow_graph_first_result(graph, args) + 2 + (stow_value)i);
  }
  for (size_t k = carried; k < stow_graph_result_count(graph, node); ++k) {
    write_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
  uint64_t count = test_random_below(m->random, 4);
  for (uint64_t i = 0; i < count && !m->failed; ++i) {
    if (i > 0) {
      run_step(m, args);
    }
    run_round(m, node, body, carried);
  }
  run_step(m, node);
  for (size_t k = 0; k < operands && k < 2; ++k) {
    if (stow_graph_operands(graph, node)[k] != STOW_VALUE_NONE) {
      read_value(m, stow_graph_operands(graph, node)[k]);
    }
  }
  for (size_t k = 0; k < carried; ++k) {
    read_value(m, stow_graph_first_result(graph, node) + (stow_value)k);
  }
}

// The nodes of |region| itself at steps [from, to); nested regions run when their owner does.
static void run_range(machine* m, uint32_t from, uint32_t to, stow_region region) {
  const stow_graph* graph = m->in->graph;
  for (uint32_t step = from; step < to && !m->failed; ++step) {
    stow_node node = stow_schedule_order(m->in->schedule)[step];
    if (stow_graph_node_region(graph, node) != region) {
      continue;
    }
    if (stow_graph_op(graph, node) == STOW_OP_IF) {
      run_if(m, node);
    } else if (stow_graph_op(graph, node) == STOW_OP_LOOP) {
      run_loop(m, node);
    } else {
      run_plain(m, node);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Before and after

static void load_boundary(machine* m) {
  const stow_graph* graph = m->in->graph;
  m->steps[m->length++] = 0;
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    if (stow_graph_is_boundary(graph, v)) {
      write_value(m, v);
    }
  }
}

// Whether an op that writes into its operand does so in the bytes of |root|.
static bool is_appended(const machine* m, stow_value root) {
  const stow_graph* graph = m->in->graph;
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    if (v != root && root_of(m, v) == root &&
        stow_graph_op_desc(graph, stow_graph_producer(graph, v))->writes_view) {
      return true;
    }
  }
  return false;
}

static void read_results(machine* m) {
  const stow_graph* graph = m->in->graph;
  m->steps[m->length++] = stow_graph_node_count(graph);
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    read_value(m, stow_graph_outputs(graph)[i]);
  }
  for (stow_value v = 0; v < stow_graph_value_count(graph); ++v) {
    stow_op op = stow_graph_op(graph, stow_graph_producer(graph, v));
    if (stow_graph_is_boundary(graph, v) &&
        !(op == STOW_OP_INPUT && m->in->io == STOW_IO_CONSUME) && !is_appended(m, v)) {
      read_value(m, v);  // a second run finds it unchanged
    }
  }
}

// From the first iteration in which something was held, nothing else gets its bytes, and what the
// last iteration made is still there.
static void check_held(machine* m) {
  for (size_t i = 0; i < stowi_effects_hold_count(m->in->effects); ++i) {
    stowi_effects_hold_entry hold = stowi_effects_hold(m->in->effects, i);
    stow_value value = stow_graph_operands(m->in->graph, hold.node)[hold.operand];
    if (m->held[hold.node] != 0 && !m->failed) {
      need(m, value, begin_of(m, value), end_of(m, value), m->held[hold.node]);
      read_value(m, value);
    }
  }
}

static void machine_free(machine* m) {
  for (stow_value v = 0; v < stow_graph_value_count(m->in->graph); ++v) {
    free(m->roots[v].cells);
  }
  free(m->roots);
  free(m->held);
  free(m->steps);
}

bool machine_run(const machine_input* input, test_random* random) {
  uint32_t values = stow_graph_value_count(input->graph);
  uint32_t nodes = stow_graph_node_count(input->graph);
  machine m = {.in = input, .random = random};
  m.roots = (memory*)calloc(values, sizeof(memory));
  m.held = (uint32_t*)calloc(nodes, sizeof(uint32_t));
  m.steps = (uint32_t*)malloc((MAX_TRACE + 2) * sizeof(uint32_t));
  for (stow_value v = 0; v < values; ++v) {
    if (root_of(&m, v) == v) {
      make_memory(&m, v);
    }
  }
  check_views(&m);
  load_boundary(&m);
  run_range(&m, 0, nodes, STOW_REGION_BODY);
  if (!m.failed) {
    read_results(&m);
    check_held(&m);
  }
  machine_free(&m);
  return !m.failed;
}
