// Results written over operands that die. Candidates are taken in the order in which they run, so
// that the bytes a chain of ops passes on are known when the next op is looked at: in a → b → c, b
// takes a's bytes and then c takes what b took. Each merge makes one root of two before placement;
// nothing later has to know. O(m log m + values) for m candidates.
//
// |end| is the lifetimes' end, moved on for roots that took a result over. Some roots end a step
// later there than they do, as if they were read once more: those that were written at step s end
// at s + 2 or later, because another result of the same op must not take the same bytes; and those
// that somebody else (a held operand, a rule) reads at their last step, because the op that runs
// then must not write there. No other op is misled: only one that reads a root asks.
#include "analysis/effects.h"
#include "analysis/lifetimes.h"
#include "analysis/views.h"
#include "base/diag.h"
#include "base/sort.h"

typedef struct merger {
  stow_views* views;
  const stow_graph* graph;
  const stow_schedule* schedule;
  const stow_effects* effects;
  const stow_lifetimes* lifetimes;
  uint32_t* end;  // by root
} merger;

typedef struct entry {
  uint32_t step;
  uint32_t index;  // of the overwrite: order of call within a node
} entry;

static int compare_entries(const void* a, const void* b, const void* context) {
  const entry* x = (const entry*)a;
  const entry* y = (const entry*)b;
  (void)context;
  if (x->step != y->step) {
    return x->step < y->step ? -1 : 1;
  }
  return x->index < y->index ? -1 : x->index > y->index;
}

// A view's root may have been merged since; what it was merged into has not, since that ran
// earlier.
static stow_value final_root(const stow_views* views, stow_value value) {
  return views->root[views->root[value]];
}

static bool is_external(const merger* m, stow_value value) {
  bool output = stowi_bits_has(&m->effects->outputs, value);
  return stowi_io_policy(m->graph, m->effects, m->views->io, value, output) == STOW_IO_EXTERNAL;
}

// Whether |result| has bytes that may be given up for others.
static bool is_free_result(const merger* m, stow_value result, uint32_t step) {
  return m->views->root[result] == result && m->views->bytes[result] != 0 &&
         !stowi_effects_is_fixed(m->effects, result) && !is_external(m, result) &&
         !stow_effects_own(m->effects, result) && !stow_effects_state(m->effects, result) &&
         stow_lifetimes_begin(m->lifetimes, result) == step;
}

// Whether |value|'s bytes are somewhere outside, where nothing of ours may lie. Params and
// constants without a slot need no answer: they never die.
static bool is_outside(const merger* m, stow_value value) {
  return is_external(m, value) || (!m->views->inputs && stowi_is_input(m->graph, value));
}

// Whether nobody needs |root| after |step|. What is kept to the end (outputs, state, boundary
// values but for consumed inputs) never dies at a step, so the lifetime answers for those.
static bool dies(const merger* m, stow_value root, uint32_t step) {
  return m->end[root] == step + 1 && !is_outside(m, root) &&
         !stowi_effects_is_fixed(m->effects, root);
}

static bool is_shared(const merger* m, stow_node node, size_t operand, stow_value root) {
  const stow_value* operands = stow_graph_operands(m->graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(m->graph, node); ++k) {
    if (k != operand && operands[k] != STOW_VALUE_NONE &&
        final_root(m->views, operands[k]) == root) {
      return true;
    }
  }
  return false;
}

static bool fits(const stow_views* views, stow_value result, stow_value operand, stow_value root) {
  return views->bytes[operand] == views->bytes[result] &&
         views->bytes[root] == views->bytes[result] &&
         stow_views_alignment(views, root) == stow_views_alignment(views, result);
}

static bool merge(const merger* m, stow_overwrite overwrite) {
  uint32_t step = stow_schedule_step(m->schedule, overwrite.node);
  stow_value result =
      stow_graph_first_result(m->graph, overwrite.node) + (stow_value)overwrite.result;
  stow_value operand = stow_graph_operands(m->graph, overwrite.node)[overwrite.operand];
  stow_value root = final_root(m->views, operand);
  if (!is_free_result(m, result, step) || !dies(m, root, step) ||
      !fits(m->views, result, operand, root) ||
      is_shared(m, overwrite.node, overwrite.operand, root)) {
    return false;
  }
  m->views->root[result] = root;
  stowi_bits_add(&m->views->laid, result);
  m->end[root] = m->end[result] > step + 2 ? m->end[result] : step + 2;
  return true;
}

static stow_status run(const merger* m, entry* entries, size_t count, size_t* out_count) {
  stow_views* views = m->views;
  for (size_t i = 0; i < count; ++i) {
    stow_node node = stow_effects_overwrite(m->effects, i).node;
    entries[i] = (entry){stow_schedule_step(m->schedule, node), (uint32_t)i};
  }
  STOW_TRY(stowi_sort(entries, count, sizeof(*entries), compare_entries, NULL, views->allocator));
  const uint32_t* late = m->lifetimes->late;
  for (stow_value value = 0; value < views->value_count; ++value) {
    uint32_t end = stow_lifetimes_end(m->lifetimes, value);
    m->end[value] = late != NULL && late[value] == end ? end + 1 : end;
  }
  for (size_t i = 0; i < count; ++i) {
    *out_count += merge(m, stow_effects_overwrite(m->effects, entries[i].index)) ? 1 : 0;
  }
  for (stow_value value = 0; value < views->value_count; ++value) {
    views->root[value] = final_root(views, value);
  }
  return STOW_OK;
}

stow_status stow_views_apply_overwrites(stow_views* views, const stow_graph* graph,
                                        const stow_schedule* schedule, const stow_effects* effects,
                                        const stow_lifetimes* lifetimes, stow_diag* diag,
                                        size_t* out_count) {
  *out_count = 0;
  STOW_TRY(stowi_views_check_graph(views, graph, diag));
  STOW_TRY(stowi_effects_check_graph(effects, graph, diag));
  if (stow_schedule_count(schedule) != stow_graph_node_count(graph) ||
      lifetimes->value_count != views->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the schedule or the lifetimes are of another graph");
  }
  size_t count = stow_effects_overwrite_count(effects);
  if (count == 0 || !stow_lifetimes_reuse_allowed(lifetimes)) {
    return STOW_OK;
  }
  if (count > UINT32_MAX) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "%zu overwrites are too many", count);
  }
  stow_allocator allocator = views->allocator;
  merger m = {views,   graph,     schedule,
              effects, lifetimes, STOWI_ARRAY(allocator, uint32_t, views->value_count)};
  entry* entries = STOWI_ARRAY(allocator, entry, count);
  bool marked =
      views->laid.words != NULL || stowi_bits_init(&views->laid, views->value_count, allocator);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (m.end != NULL && entries != NULL && marked) {
    status = run(&m, entries, count, out_count);
  }
  STOWI_ARRAY_FREE(allocator, m.end, views->value_count);
  STOWI_ARRAY_FREE(allocator, entries, count);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}
