// Checks that nothing reads bytes after they were overwritten. Without effects, graph verification
// and the schedule guarantee that. Effects can break it: a held operand is read later, an early
// write starts sooner, and a value placed inside another lets an op write into bytes that further
// values use.
// Writers are ops that write into an operand (kv_append) and loops, whose yield writes the next
// iteration's value. Results in place are not: they are merged only if nothing reads the operand
// afterwards.
//     root  ──%1──────%4──────────%6─▶ step
//     %1      [reads …]│           │      up to the step of %4, which may read %1 while it writes
//     %4               [reads ………]│      what %4 wrote
// The write that a value stands for is inherited from a view's parent, not derived from steps: in
// the other branch of an if, a view is made after a write but still of the bytes before it. A value
// written by its own node stands for that write, wherever it is.
// O((operands + effects) × region depth + (operands + writes) × log writes), and nothing at all
// if no effect is concerned or no op writes.
#include "analysis/lives/lifetimes.h"
#include "analysis/views.h"
#include "base/diag.h"
#include "base/sort.h"
#include "effects/api.h"
#include "graph/api.h"

typedef struct write_record {
  stow_value root;
  stow_node node;   // the writer: an op, or a loop's yield
  uint32_t step;    // its step
  uint32_t until;   // reads of the earlier bytes end before this: step + 1, or where an early write
                    // starts
  uint32_t lowest;  // the lowest |until| of this and all later writes into the root
} write_record;

// One read. A node may read at the step at which it writes; a read that lasts |through| its step
// must not.
typedef struct read_record {
  stow_value value;
  stow_node node;  // STOW_NODE_NONE: the caller
  uint32_t step;
  stow_region region;
  bool held;
  bool through;
} read_record;

typedef struct writes {
  const stow_rule_call* call;
  const stow_effects* effects;
  STOWI_VEC(write_record) list;
  uint32_t* since;  // by value: the step after the write into its root that it stands for; 0: none
} writes;

static uint32_t step_of(const writes* w, stow_node node) {
  return stow_schedule_step(w->call->schedule, node);
}

static stow_value root_of(const writes* w, stow_value value) {
  return stowi_analysis_views_root(w->call->views, value);
}

// ---------------------------------------------------------------------------------------------
// Writes

static stow_status add(writes* w, stow_value value, stow_node node, uint32_t early) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(w->call->allocator, &w->list, 1) == STOW_OK,
                             w->call->diag));
  uint32_t step = step_of(w, node);
  w->list.data[w->list.count++] = (write_record){.root = root_of(w, value),
                                                 .node = node,
                                                 .step = step,
                                                 .until = early < step ? early : step + 1};
  return STOW_OK;
}

// Why |node| must not write into |root|, which holds its operand |operand|; NULL if it may.
static const char* why_not_write(const writes* w, stow_node node, size_t operand, stow_value root) {
  const stow_graph* graph = w->call->graph;
  if (stow_graph_is_boundary(graph, root) && !stowi_effects_is_input(graph, root)) {
    return "a param or constant";
  }
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (k != operand && operands[k] != STOW_VALUE_NONE && root_of(w, operands[k]) == root) {
      return "bytes that it also reads";
    }
  }
  return NULL;
}

// The earliest step from which result |k| of |node| is written; UINT32_MAX without such an effect.
// |at| is the first early write of |node|.
static uint32_t early_step(const writes* w, stow_node node, size_t k, size_t at) {
  uint32_t earliest = UINT32_MAX;
  for (; at < stowi_effects_early_write_count(w->effects); ++at) {
    stowi_effects_early_write_entry early = stowi_effects_early_write(w->effects, at);
    if (early.node != node) {
      break;
    }
    if (early.result == k && step_of(w, early.from) < earliest) {
      earliest = step_of(w, early.from);
    }
  }
  return earliest;
}

static stow_status add_op(writes* w, stow_node node, size_t early) {
  const stow_graph* graph = w->call->graph;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    stow_view view;
    if (!stow_graph_view(graph, node, k, &view) ||
        !stowi_analysis_views_is_view(w->call->views, value)) {
      continue;
    }
    const char* why = why_not_write(w, node, view.operand, root_of(w, value));
    if (why != NULL) {
      stow_value target = stow_graph_operands(graph, node)[view.operand];
      stowi_fail(w->call->diag, STOW_ERR_CONFLICT, "%s writes into %s, which is in %s: %s",
                 stowi_graph_describe_node(graph, node).text,
                 stowi_graph_describe_value(graph, target).text,
                 stowi_graph_describe_value(graph, root_of(w, value)).text, why);
      stowi_graph_blame_node(w->call->diag, graph, node);
      stowi_diag_value(w->call->diag, target);
      return STOW_ERR_CONFLICT;
    }
    STOW_TRY(add(w, value, node, early_step(w, node, k, early)));
  }
  return STOW_OK;
}

static stow_status collect(writes* w) {
  const stow_graph* graph = w->call->graph;
  uint32_t count = stow_graph_node_count(graph);
  size_t early = 0;
  for (stow_node node = 0; node < count; ++node) {
    while (early < stowi_effects_early_write_count(w->effects) &&
           stowi_effects_early_write(w->effects, early).node < node) {
      ++early;
    }
    stowi_analysis_loop loop;
    if (stow_graph_op_desc(graph, node)->writes_view) {
      STOW_TRY(add_op(w, node, early));
    } else if (stowi_analysis_loop_of(graph, node, &loop)) {
      for (size_t i = 0; i < loop.count; ++i) {
        STOW_TRY(add(w, stowi_analysis_loop_argument(graph, &loop, i), loop.yield, UINT32_MAX));
      }
    }
  }
  return STOW_OK;
}

static int compare_writes(const void* a, const void* b, const void* context) {
  const write_record* x = (const write_record*)a;
  const write_record* y = (const write_record*)b;
  (void)context;
  if (x->root != y->root) {
    return x->root < y->root ? -1 : 1;
  }
  return x->step < y->step ? -1 : x->step > y->step;
}

// Sorts the writes of each root by step. Early writes leave |until| unordered.
static stow_status sort(writes* w) {
  write_record* list = w->list.data;
  size_t count = w->list.count;
  STOW_TRY(stowi_need_memory(
      stowi_sort(list, count, sizeof(*list), compare_writes, NULL, w->call->allocator) == STOW_OK,
      w->call->diag));
  for (size_t i = count; i-- > 0;) {
    bool has_next = i + 1 < count && list[i + 1].root == list[i].root;
    list[i].lowest =
        has_next && list[i + 1].lowest < list[i].until ? list[i + 1].lowest : list[i].until;
  }
  return STOW_OK;
}

// The first write into |root| at step |since| or later, or into a higher root.
static size_t next_write(const writes* w, stow_value root, uint32_t since) {
  size_t low = 0;
  size_t high = w->list.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    const write_record* at = &w->list.data[middle];
    if (at->root < root || (at->root == root && at->step < since)) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

// The step after the write that result |k| of |node| stands for.
static uint32_t find_since(const writes* w, stow_node node, size_t k) {
  const stow_graph* graph = w->call->graph;
  const stow_value* operands = stow_graph_operands(graph, node);
  stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
  stow_view view;
  stowi_analysis_loop loop;
  size_t operand;
  uint64_t offset;
  if (!stowi_analysis_views_is_view(w->call->views, value) ||
      stowi_analysis_views_is_in_place(w->call->views, value)) {
    return step_of(w, node) + 1;
  }
  if (stow_graph_op(graph, node) == STOW_OP_ARGS) {
    stow_region body = stow_graph_node_region(graph, node);
    stowi_analysis_loop_of(graph, stowi_graph_region_owner(graph, body), &loop);
    return w->since[stowi_analysis_loop_initial(graph, &loop, k - loop.carry.first_arg)];
  }
  if (stowi_analysis_loop_of(graph, node, &loop)) {
    return step_of(w, loop.yield) + 1;  // what the last iteration left
  }
  if (stowi_effects_inside(w->effects, value, &operand, &offset)) {
    return w->since[operands[operand]];
  }
  bool reads =
      stow_graph_view(graph, node, k, &view) && !stow_graph_op_desc(graph, node)->writes_view;
  return reads ? w->since[operands[view.operand]] : step_of(w, node) + 1;
}

// Operands come before their readers, also those of other regions.
static stow_status fill_since(writes* w) {
  const stow_graph* graph = w->call->graph;
  w->since = STOWI_ARRAY_ZERO(w->call->allocator, uint32_t, stow_graph_value_count(graph));
  STOW_TRY(stowi_need_memory(w->since != NULL, w->call->diag));
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    stow_value first = stow_graph_first_result(graph, node);
    for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
      bool loaded = stow_graph_is_boundary(graph, first + (stow_value)k);
      w->since[first + k] = loaded ? 0 : find_since(w, node, k);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reads

// A value from outside a loop is read again in each iteration, up to the body's end.
static void repeat(const writes* w, read_record* read) {
  const stowi_analysis_stretch* stretches = w->call->stretches;
  if (stretches == NULL) {
    return;
  }
  stow_region inner = read->region;
  stow_region maker =
      stow_graph_node_region(w->call->graph, stow_graph_producer(w->call->graph, read->value));
  while (inner != maker) {
    if (stretches[inner].depth < stretches[maker].depth) {
      maker = stretches[maker].parent;
      continue;
    }
    if (stretches[inner].loops) {
      read->step = stretches[inner].last;
      read->through = true;
    }
    inner = stretches[inner].parent;
  }
}

// Whether |a| and |b| are in different branches of one if, of which at most one runs.
static bool exclude_each_other(const writes* w, stow_region a, stow_region b,
                               stow_region* out_branch_of_b) {
  const stowi_analysis_stretch* stretches = w->call->stretches;
  stow_region below_a = STOW_REGION_BODY;
  stow_region below_b = STOW_REGION_BODY;
  while (a != b) {
    if (stretches[a].depth >= stretches[b].depth) {
      below_a = a;
      a = stretches[a].parent;
    } else {
      below_b = b;
      b = stretches[b].parent;
    }
  }
  *out_branch_of_b = below_b;
  return below_a != STOW_REGION_BODY && below_b != STOW_REGION_BODY && !stretches[below_b].loops &&
         stowi_graph_region_owner(w->call->graph, below_a) ==
             stowi_graph_region_owner(w->call->graph, below_b);
}

static stow_status fail_read(const writes* w, const read_record* read, const write_record* write) {
  const stow_graph* graph = w->call->graph;
  stow_diag* diag = w->call->diag;
  stowi_graph_text reader = {"the caller"};
  if (read->node != STOW_NODE_NONE) {
    reader = stowi_graph_describe_node(graph, read->node);
  }
  bool early = write->until <= write->step;
  stowi_fail(diag, STOW_ERR_CONFLICT, "%s %s %s %s step %u, but %s writes into its bytes %s %u%s",
             reader.text, read->held ? "holds" : "reads",
             stowi_graph_describe_value(graph, read->value).text, read->through ? "until" : "at",
             (unsigned)read->step, stowi_graph_describe_node(graph, write->node).text,
             early ? "from step" : "at step", (unsigned)(early ? write->until : write->step),
             early ? " on" : "");
  if (read->node != STOW_NODE_NONE) {
    stowi_graph_blame_node(diag, graph, read->node);
  }
  stowi_diag_value(diag, read->value);
  return STOW_ERR_CONFLICT;
}

// A hold lasts through both branches of an if, whichever it was made in.
static stow_status check_read(const writes* w, read_record read) {
  const stow_graph* graph = w->call->graph;
  stow_value root = root_of(w, read.value);
  repeat(w, &read);
  uint32_t busy = read.step + (read.through ? 1 : 0);
  size_t next = next_write(w, root, w->since[read.value]);
  while (next < w->list.count && w->list.data[next].root == root &&
         w->list.data[next].lowest <= busy) {
    const write_record* write = &w->list.data[next];
    stow_region branch;
    if (write->until > busy) {
      ++next;
    } else if (!read.held && w->call->stretches != NULL &&
               exclude_each_other(w, read.region, stow_graph_node_region(graph, write->node),
                                  &branch)) {
      next = next_write(w, root, w->call->stretches[branch].last + 1);
    } else {
      return fail_read(w, &read, write);
    }
  }
  return STOW_OK;
}

static stow_status check_operands(const writes* w, stow_node node) {
  const stow_graph* graph = w->call->graph;
  const stow_value* operands = stow_graph_operands(graph, node);
  stowi_analysis_loop loop;
  bool is_loop = stowi_analysis_loop_of(graph, node, &loop);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    read_record read = {operands[k], node, step_of(w, node), stow_graph_node_region(graph, node),
                        false,       false};
    if (is_loop && stowi_analysis_loop_is_initial(&loop, k)) {
      read.step = step_of(w, loop.args);  // copied there
    }
    if (operands[k] != STOW_VALUE_NONE) {
      STOW_TRY(check_read(w, read));
    }
  }
  return STOW_OK;
}

static stow_status check_hold(const writes* w, stowi_effects_hold_entry hold) {
  const stow_graph* graph = w->call->graph;
  stow_value value = stow_graph_operands(graph, hold.node)[hold.operand];
  read_record read = {value, hold.node, stow_schedule_count(w->call->schedule), STOW_REGION_BODY,
                      true,  true};
  if (hold.until != STOW_STEP_END) {
    read.step = step_of(w, hold.until);
    read.region = stow_graph_node_region(graph, hold.until);
  }
  return check_read(w, read);
}

static stow_status check_reads(const writes* w) {
  const stow_graph* graph = w->call->graph;
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < count; ++node) {
    STOW_TRY(check_operands(w, node));
  }
  for (size_t i = 0; i < stowi_effects_hold_count(w->effects); ++i) {
    STOW_TRY(check_hold(w, stowi_effects_hold(w->effects, i)));
  }
  for (size_t i = 0; i < stow_graph_output_count(graph); ++i) {
    read_record read = {
        stow_graph_outputs(graph)[i], STOW_NODE_NONE, count, STOW_REGION_BODY, false, false};
    STOW_TRY(check_read(w, read));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status check(writes* w) {
  STOW_TRY(collect(w));
  if (w->list.count == 0) {
    return STOW_OK;
  }
  STOW_TRY(sort(w));
  STOW_TRY(fill_since(w));
  return check_reads(w);
}

stow_status stowi_analysis_writes_check(const stow_rule_call* call, const stow_effects* effects) {
  if (!stowi_effects_touch_writes(effects)) {
    return STOW_OK;
  }
  writes w = {.call = call, .effects = effects};
  stow_status status = check(&w);
  STOWI_ARRAY_FREE(call->allocator, w.since, stow_graph_value_count(call->graph));
  STOWI_VEC_FREE(call->allocator, &w.list);
  return status;
}
