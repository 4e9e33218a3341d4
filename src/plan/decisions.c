// The decisions about sharing, as stored in the plan. If less sharing gave a smaller arena, what
// was given up for that stays in the list as refused. O(decisions).
#include "base/alloc.h"
#include "base/diag.h"
#include "plan/make/make.h"

stow_status stowi_plan_set_decisions(stow_plan* plan, const stowi_analysis_sharing* sharing,
                                     stow_diag* diag) {
  size_t count = stowi_analysis_sharing_count(sharing);
  plan->decisions = STOWI_ARRAY(plan->allocator, stow_decision, count);
  STOW_TRY(stowi_need_memory(plan->decisions != NULL, diag));
  plan->decision_count = count;
  for (size_t i = 0; i < count; ++i) {
    plan->decisions[i] = stowi_analysis_sharing_at(sharing, i);
  }
  return STOW_OK;
}

size_t stow_plan_decision_count(const stow_plan* plan) { return plan->decision_count; }

stow_status stow_plan_describe_decision(const stow_plan* plan, size_t index,
                                        stow_decision* out_decision) {
  return index >= plan->decision_count
             ? STOW_ERR_NOT_FOUND
             : stowi_fill_struct(out_decision, &plan->decisions[index], sizeof(*out_decision),
                                 "stow_decision", NULL);
}

bool stowi_plan_has_elision(const stow_plan* plan, stow_reason reason) {
  for (size_t i = 0; i < plan->decision_count; ++i) {
    if (plan->decisions[i].share == STOW_SHARE_HOME && plan->decisions[i].reason == reason) {
      return true;
    }
  }
  return false;
}

static bool is_same_question(const stow_decision* a, const stow_decision* b) {
  return a->node == b->node && a->share == b->share && a->result == b->result &&
         a->operand == b->operand;
}

// Writes |fuller|'s candidates with |plan|'s decisions, where it has one, to |out| (NULL: only
// counts them). Candidates with less sharing are also candidates with more, in the same order: so
// the list stays in the order of stowi_analysis_sharing_at, which decisions alone do not determine.
static size_t merge(const stow_plan* plan, const stow_plan* fuller, stow_decision* out) {
  size_t count = 0;
  size_t own = 0;
  for (size_t i = 0; i < fuller->decision_count; ++i) {
    stow_decision decision = fuller->decisions[i];
    if (own < plan->decision_count && is_same_question(&plan->decisions[own], &decision)) {
      decision = plan->decisions[own++];
    } else if (decision.reason == STOW_REASON_TAKEN) {
      decision.reason = STOW_REASON_ARENA;
    }
    if (out != NULL) {
      out[count] = decision;
    }
    ++count;
  }
  for (; own < plan->decision_count; ++own, ++count) {
    if (out != NULL) {
      out[count] = plan->decisions[own];
    }
  }
  return count;
}

stow_status stowi_plan_add_refused(stow_plan* plan, const stow_plan* fuller, stow_diag* diag) {
  size_t count = merge(plan, fuller, NULL);
  stow_decision* list = STOWI_ARRAY(plan->allocator, stow_decision, count);
  STOW_TRY(stowi_need_memory(list != NULL, diag));
  merge(plan, fuller, list);
  STOWI_ARRAY_FREE(plan->allocator, plan->decisions, plan->decision_count);
  plan->decisions = list;
  plan->decision_count = count;
  return STOW_OK;
}
