// Results computed in place of operands that die. Nodes are visited in the order in which they run,
// so the bytes that a chain of ops passes on are known when the next op is visited: in a → b → c, b
// takes a's bytes and then c takes the same. Each merge turns two roots into one before placement;
// later stages need not know. If the result is smaller, the rest of the root becomes free: the load
// rises at no step.
//
// |end| is the end of all lifetimes in a root, extended for roots that took a result. Roots that
// another node reads at their last step (a held operand, a rule) end one step later here, because
// the op that runs then must not write there. No other op is misled: only an op that reads a root
// asks.
//
// O(values + operands + p × log e) for p allowed pairs of result and operand and e pairs named by
// effects; a node with n operands in one root adds n times its operands.
#include "analysis/lives/lifetimes.h"
#include "analysis/sharing/sharing.h"
#include "analysis/views.h"
#include "base/diag.h"
#include "effects/api.h"

// A root and everything in it.
typedef struct root_info {
  uint32_t begin;
  uint32_t end;
  uint32_t late;      // the end of reads by nodes other than the one that runs
  stow_node reader;   // the last node in the order that reads any of it, or STOW_NODE_NONE
  stow_value taker;   // the last result in place in it, or STOW_VALUE_NONE
  stow_value target;  // the concat result that it may be built in, or STOW_VALUE_NONE
  stow_node asker;    // the last visited node that reads any of it
  uint32_t asked;     // how many of that node's operands are in it
  bool kept;          // an output is in it, or it is a boundary value that is not consumed
  bool state;
} root_info;

// An operand that a result may be computed in place of.
typedef struct candidate {
  size_t operand;
  stow_reason reason;
  stow_value other_value;
  stow_node other_node;
  stow_in_place in_place;  // by the op table
  bool declared;           // effects allow it
  uint64_t spare;          // bytes of the root that the result does not need
} candidate;

typedef struct merger {
  stowi_analysis_sharing_call* call;
  stowi_analysis_views* views;
  root_info* roots;                 // by root
  STOWI_VEC(candidate) candidates;  // of the current result
} merger;

static uint32_t step_of(const merger* m, stow_node node) {
  return stow_schedule_step(m->call->schedule, node);
}

// A view's root may have moved since the views were settled; its target has not, since that moved
// earlier.
static stow_value root_of(const merger* m, stow_value value) {
  return m->views->root[m->views->root[value]];
}

static uint64_t place_of(const merger* m, stow_value value) {
  stow_value root = m->views->root[value];
  return m->views->offset[value] + (root != value ? m->views->offset[root] : 0);
}

// ---------------------------------------------------------------------------------------------
// Facts about roots

static uint32_t smaller(uint32_t a, uint32_t b) { return a < b ? a : b; }
static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

static bool is_kept_boundary(const merger* m, stow_value value) {
  const stowi_analysis_sharing_call* call = m->call;
  return stow_graph_is_boundary(call->graph, value) &&
         stowi_effects_io_policy(call->graph, call->effects, m->views->io, value, false) ==
             STOW_IO_KEEP;
}

static uint32_t birth_of(const merger* m, stow_value value) {
  return step_of(m, stow_graph_producer(m->call->graph, value));
}

static void add_value(const merger* m, stow_value value) {
  const stowi_analysis_lifetimes* lifetimes = m->call->lifetimes;
  root_info* at = &m->roots[m->views->root[value]];
  uint32_t end = lifetimes->end[value];
  uint32_t late = lifetimes->late != NULL ? lifetimes->late[value] : 0;
  at->begin = smaller(at->begin, lifetimes->own_begin[value]);
  at->end = larger(at->end, late == end ? end + 1 : end);
  at->late = larger(at->late, late);
  at->kept |= stowi_bits_has(&m->call->outputs, value) || is_kept_boundary(m, value);
  at->state |= stowi_effects_state(m->call->effects, value);
  if (stowi_analysis_views_is_in_place(m->views, value) &&
      (at->taker == STOW_VALUE_NONE || birth_of(m, value) > birth_of(m, at->taker))) {
    at->taker = value;
  }
  if (m->call->target != NULL && m->call->target[value] != STOW_VALUE_NONE) {
    at->target = m->call->target[value];
  }
}

static void fill_roots(const merger* m) {
  for (stow_value value = 0; value < m->views->value_count; ++value) {
    m->roots[value] = (root_info){.begin = UINT32_MAX,
                                  .reader = STOW_NODE_NONE,
                                  .asker = STOW_NODE_NONE,
                                  .taker = STOW_VALUE_NONE,
                                  .target = STOW_VALUE_NONE};
  }
  for (stow_value value = 0; value < m->views->value_count; ++value) {
    add_value(m, value);
  }
  const stow_graph* graph = m->call->graph;
  const stow_node* order = stow_schedule_order(m->call->schedule);
  for (uint32_t step = 0; step < stow_schedule_count(m->call->schedule); ++step) {
    const stow_value* operands = stow_graph_operands(graph, order[step]);
    for (size_t k = 0; k < stow_graph_operand_count(graph, order[step]); ++k) {
      if (operands[k] != STOW_VALUE_NONE) {
        m->roots[m->views->root[operands[k]]].reader = order[step];
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Candidates

static stow_in_place in_place(const merger* m, stow_node node, size_t k, size_t operand) {
  if (!m->call->options.in_place || stow_graph_op_desc(m->call->graph, node)->in_place == NULL) {
    return STOW_IN_PLACE_NEVER;
  }
  return stow_graph_in_place(m->call->graph, node, k, operand);
}

// ---------------------------------------------------------------------------------------------
// Conditions: each returns STOW_REASON_TAKEN if it has no objection

static bool is_refused(candidate* c, stow_reason reason) {
  c->reason = reason;
  return reason != STOW_REASON_TAKEN;
}

// Whether |result| has bytes that can be given up. If operands of a concat are built in it, they
// are written before its step.
static stow_reason judge_result(const merger* m, stow_value result, uint32_t step) {
  const stow_effects* effects = m->call->effects;
  if (!stowi_analysis_lifetimes_reuse_allowed(m->call->lifetimes)) {
    return STOW_REASON_NO_REUSE;
  }
  if (stowi_analysis_sharing_is_external(m->call, result)) {
    return STOW_REASON_EXTERNAL;
  }
  if (stowi_effects_is_fixed(effects, result)) {
    return STOW_REASON_FIXED;
  }
  if (stowi_effects_own(effects, result)) {
    return STOW_REASON_OWN;
  }
  if (m->roots[result].state) {
    return STOW_REASON_STATE;
  }
  return m->roots[result].begin < step ? STOW_REASON_EARLY : STOW_REASON_TAKEN;
}

// Whether |value|'s bytes are outside the arena, where no result may be placed.
static bool is_outside(const merger* m, stow_value value) {
  return stowi_analysis_sharing_is_external(m->call, value) ||
         (!m->views->inputs && stowi_effects_is_input(m->call->graph, value));
}

static stow_reason judge_root(const merger* m, stow_value root) {
  if (is_outside(m, root)) {
    return STOW_REASON_EXTERNAL;
  }
  if (stowi_effects_is_fixed(m->call->effects, root) &&
      !stowi_effects_is_handed_on(m->call->effects, root)) {
    return STOW_REASON_FIXED;
  }
  if (m->roots[root].state) {
    return STOW_REASON_STATE;
  }
  return m->roots[root].kept ? STOW_REASON_KEPT : STOW_REASON_TAKEN;
}

// Why a root that does not die at |step| is needed after it. If all reads in the order are over, it
// is held, or a loop around the last reader reads it again.
static stow_reason judge_reads(const merger* m, const root_info* at, uint32_t step) {
  if (step_of(m, at->reader) > step) {
    return STOW_REASON_READ_LATER;
  }
  bool held = at->late > step || at->end > stow_schedule_count(m->call->schedule);
  return held ? STOW_REASON_HELD : STOW_REASON_READ_LATER;
}

// Whether nothing needs |root| after |step|.
static stow_reason judge_end(const merger* m, stow_node node, stow_value root, candidate* c) {
  const root_info* at = &m->roots[root];
  const stow_graph* graph = m->call->graph;
  uint32_t step = step_of(m, node);
  if (at->taker != STOW_VALUE_NONE && stow_graph_producer(graph, at->taker) == node) {
    c->other_value = at->taker;
    return STOW_REASON_GIVEN_AWAY;
  }
  if (at->target != STOW_VALUE_NONE && birth_of(m, at->target) < step) {
    c->other_value = at->target;
    return STOW_REASON_OTHER_HOME;
  }
  if (at->end == step + 1) {
    return STOW_REASON_TAKEN;
  }
  stow_reason reason = judge_reads(m, at, step);
  c->other_node = reason == STOW_REASON_READ_LATER ? at->reader : STOW_NODE_NONE;
  return reason;
}

// What a node that is run row by row makes in place has the operand's rows.
static bool has_other_rows(const merger* m, stow_node node, stow_value result, stow_value operand) {
  const stowi_analysis_views* views = m->views;
  return views->rows != NULL &&
         (views->rows[operand].rows > 1 ||
          (views->node_rows[node] > 1 && views->bytes[operand] != views->bytes[result]));
}

static stow_reason judge_fit(const merger* m, stow_value result, stow_value operand) {
  const stowi_analysis_views* views = m->views;
  stow_node node = stow_graph_producer(m->call->graph, result);
  if (has_other_rows(m, node, result, operand)) {
    return STOW_REASON_NOT_CONTIGUOUS;
  }
  if (views->bytes[operand] < views->bytes[result]) {
    return STOW_REASON_TOO_SMALL;
  }
  uint64_t alignment = stowi_analysis_views_alignment(views, result);
  if (alignment < m->call->options.alignment) {
    alignment = m->call->options.alignment;
  }
  return place_of(m, operand) % alignment != 0 ? STOW_REASON_MISALIGNED : STOW_REASON_TAKEN;
}

// Whether reading |other|, another operand, prevents |result| in place of |c|'s operand.
static bool is_in_the_way(const merger* m, stow_node node, stow_value result, const candidate* c,
                          size_t other) {
  const stow_value* operands = stow_graph_operands(m->call->graph, node);
  stow_value operand = operands[c->operand];
  if (operands[other] == STOW_VALUE_NONE || root_of(m, operands[other]) != root_of(m, operand)) {
    return false;
  }
  uint64_t begin = place_of(m, operand);
  uint64_t other_begin = place_of(m, operands[other]);
  bool apart = other_begin >= begin + m->views->bytes[result] ||
               begin >= other_begin + stowi_analysis_views_span(m->views, operands[other]);
  if (apart) {
    return false;
  }
  size_t k = result - stow_graph_first_result(m->call->graph, node);
  return other_begin != begin || m->views->bytes[operands[other]] != m->views->bytes[operand] ||
         c->in_place != STOW_IN_PLACE_INDEX || in_place(m, node, k, other) != STOW_IN_PLACE_INDEX ||
         stowi_effects_is_forbidden(m->call->effects, node, k, other);
}

// Whether another result of the node is in the bytes that |result| would be written to.
static bool has_sibling(const merger* m, stow_node node, stow_value result, candidate* c) {
  stow_value operand = stow_graph_operands(m->call->graph, node)[c->operand];
  stow_value first = stow_graph_first_result(m->call->graph, node);
  uint64_t begin = place_of(m, operand);
  uint64_t end = begin + m->views->bytes[result];
  for (size_t k = 0; k < stow_graph_result_count(m->call->graph, node); ++k) {
    stow_value other = first + (stow_value)k;
    if (other != result && root_of(m, other) == root_of(m, operand) && place_of(m, other) < end &&
        begin < place_of(m, other) + stowi_analysis_views_span(m->views, other)) {
      c->other_value = other;
      return true;
    }
  }
  return false;
}

static stow_reason judge_others(const merger* m, stow_node node, stow_value result, candidate* c) {
  if (has_sibling(m, node, result, c)) {
    return STOW_REASON_GIVEN_AWAY;
  }
  const stow_value* operands = stow_graph_operands(m->call->graph, node);
  if (m->roots[root_of(m, operands[c->operand])].asked == 1) {
    return STOW_REASON_TAKEN;
  }
  for (size_t k = 0; k < stow_graph_operand_count(m->call->graph, node); ++k) {
    if (k != c->operand && is_in_the_way(m, node, result, c, k)) {
      c->other_value = operands[k];
      return STOW_REASON_SHARED;
    }
  }
  return STOW_REASON_TAKEN;
}

static void judge(const merger* m, stow_node node, size_t k, candidate* c) {
  stow_value result = stow_graph_first_result(m->call->graph, node) + (stow_value)k;
  stow_value operand = stow_graph_operands(m->call->graph, node)[c->operand];
  stow_value root = root_of(m, operand);
  if (is_refused(c, judge_result(m, result, step_of(m, node)))) {
    return;
  }
  if (stowi_effects_is_forbidden(m->call->effects, node, k, c->operand)) {
    c->reason = STOW_REASON_FORBIDDEN;
    return;
  }
  if (is_refused(c, judge_root(m, root)) || is_refused(c, judge_end(m, node, root, c)) ||
      is_refused(c, judge_fit(m, result, operand)) ||
      is_refused(c, judge_others(m, node, result, c))) {
    return;
  }
  c->spare = m->views->bytes[root] - m->views->bytes[result];
}

// ---------------------------------------------------------------------------------------------
// Deciding

static stow_status collect(merger* m, stow_node node, size_t k) {
  const stow_value* operands = stow_graph_operands(m->call->graph, node);
  size_t count = stow_graph_operand_count(m->call->graph, node);
  m->candidates.count = 0;
  for (size_t operand = 0; operand < count; ++operand) {
    if (operands[operand] == STOW_VALUE_NONE) {
      continue;
    }
    candidate c = {.operand = operand,
                   .other_value = STOW_VALUE_NONE,
                   .other_node = STOW_NODE_NONE,
                   .in_place = in_place(m, node, k, operand),
                   .declared = stowi_effects_is_allowed(m->call->effects, node, k, operand)};
    if (c.in_place == STOW_IN_PLACE_NEVER && !c.declared) {
      continue;
    }
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(m->call->allocator, &m->candidates, 1) == STOW_OK,
                               m->call->diag));
    judge(m, node, k, &c);
    m->candidates.data[m->candidates.count++] = c;
  }
  return STOW_OK;
}

// Pairs declared by effects first; then the root that wastes least.
static bool is_better(const candidate* a, const candidate* b) {
  return a->declared != b->declared ? a->declared : a->spare < b->spare;
}

static candidate* best_of(const merger* m) {
  candidate* best = NULL;
  for (size_t i = 0; i < m->candidates.count; ++i) {
    candidate* c = &m->candidates.data[i];
    if (c->reason == STOW_REASON_TAKEN && (best == NULL || is_better(c, best))) {
      best = c;
    }
  }
  return best;
}

static void merge(merger* m, stow_node node, stow_value result, const candidate* best) {
  stow_value operand = stow_graph_operands(m->call->graph, node)[best->operand];
  stow_value root = root_of(m, operand);
  const root_info* added = &m->roots[result];
  root_info* at = &m->roots[root];
  stowi_analysis_sharing_move(m->call, result, root,
                              (stowi_analysis_layout){place_of(m, operand), 1, 0});
  at->end = added->end;
  at->late = larger(at->late, added->late);
  at->reader = added->reader != STOW_NODE_NONE ? added->reader : at->reader;
  at->taker = result;
  at->target = added->target;
  at->kept = added->kept;
  for (size_t i = 0; i < m->candidates.count; ++i) {
    candidate* c = &m->candidates.data[i];
    if (c != best && c->reason == STOW_REASON_TAKEN) {
      c->reason = STOW_REASON_ALREADY_VIEW;
      c->other_value = root;
    }
  }
}

static stow_status note(merger* m, stow_node node, stow_value result) {
  const stow_value* operands = stow_graph_operands(m->call->graph, node);
  for (size_t i = 0; i < m->candidates.count; ++i) {
    const candidate* c = &m->candidates.data[i];
    stow_decision decision = stowi_analysis_sharing_decision(
        m->call, STOW_SHARE_IN_PLACE, c->reason, node, result, operands[c->operand]);
    decision.other_value = c->other_value;
    decision.other_node = c->other_node;
    STOW_TRY(stowi_analysis_sharing_note(m->call, decision, c->operand));
  }
  return STOW_OK;
}

static stow_status decide(merger* m, stow_node node, size_t k) {
  stow_value result = stow_graph_first_result(m->call->graph, node) + (stow_value)k;
  STOW_TRY(collect(m, node, k));
  const candidate* best = best_of(m);
  if (best != NULL) {
    merge(m, node, result, best);
  }
  return note(m, node, result);
}

static bool has_own_bytes(const merger* m, stow_value value) {
  return m->views->root[value] == value && m->views->bytes[value] != 0;
}

// All results that have their own bytes, or only those in |only|.
static stow_status decide_all(merger* m, const stowi_bits* only) {
  const stow_node* order = stow_schedule_order(m->call->schedule);
  for (uint32_t step = 0; step < stow_schedule_count(m->call->schedule); ++step) {
    stow_node node = order[step];
    stow_value first = stow_graph_first_result(m->call->graph, node);
    const stow_value* operands = stow_graph_operands(m->call->graph, node);
    for (size_t k = 0; k < stow_graph_operand_count(m->call->graph, node); ++k) {
      if (operands[k] != STOW_VALUE_NONE) {
        root_info* at = &m->roots[root_of(m, operands[k])];
        at->asked = at->asker == node ? at->asked + 1 : 1;
        at->asker = node;
      }
    }
    for (size_t k = 0; k < stow_graph_result_count(m->call->graph, node); ++k) {
      stow_value result = first + (stow_value)k;
      if (has_own_bytes(m, result) && (only == NULL || stowi_bits_has(only, result))) {
        STOW_TRY(decide(m, node, k));
      }
    }
  }
  stowi_analysis_sharing_settle(m->call);
  return STOW_OK;
}

static stow_status run(stowi_analysis_sharing_call* call, const stowi_bits* only) {
  merger m = {.call = call,
              .views = call->views,
              .roots = STOWI_ARRAY(call->allocator, root_info, call->views->value_count)};
  stow_status status;
  if (m.roots == NULL) {
    status = stowi_fail_memory(call->diag);
  } else {
    fill_roots(&m);
    status = decide_all(&m, only);
  }
  STOWI_ARRAY_FREE(call->allocator, m.roots, call->views->value_count);
  STOWI_VEC_FREE(call->allocator, &m.candidates);
  return status;
}

stow_status stowi_analysis_share_in_place(stowi_analysis_sharing_call* call) {
  return run(call, NULL);
}

// ---------------------------------------------------------------------------------------------
// Again

static bool waits(const stowi_analysis_sharing_call* call, const stow_decision* decision) {
  return decision->share == STOW_SHARE_IN_PLACE && decision->reason == STOW_REASON_OTHER_HOME &&
         call->views->root[decision->result] == decision->result;
}

// Collects the results that wait, and removes their decisions from the record.
static bool take_out(stowi_analysis_sharing_call* call, stowi_bits* waiting) {
  stowi_analysis_sharing* sharing = call->sharing;
  bool any = false;
  for (size_t i = 0; i < sharing->decisions.count; ++i) {
    const stow_decision* decision = &sharing->decisions.data[i].decision;
    if (waits(call, decision)) {
      stowi_bits_add(waiting, decision->result);
      any = true;
    }
  }
  size_t left = 0;
  for (size_t i = 0; i < sharing->decisions.count; ++i) {
    const stow_decision* decision = &sharing->decisions.data[i].decision;
    if (decision->share != STOW_SHARE_IN_PLACE || !stowi_bits_has(waiting, decision->result)) {
      sharing->decisions.data[left++] = sharing->decisions.data[i];
    }
  }
  sharing->decisions.count = left;
  return any;
}

// All copy elisions are now taken or refused, and only block results by what is read there.
stow_status stowi_analysis_share_in_place_again(stowi_analysis_sharing_call* call) {
  stowi_bits waiting;
  STOW_TRY(stowi_need_memory(stowi_bits_init(&waiting, call->views->value_count, call->allocator),
                             call->diag));
  stow_value* target = call->target;
  stow_status status = STOW_OK;
  if (take_out(call, &waiting)) {
    call->target = NULL;
    status = run(call, &waiting);
    call->target = target;
  }
  stowi_bits_free(&waiting, call->allocator);
  return status;
}
