// Shared by the tests of the plan room: graphs from text, plans from options, texts from writers. A
// call that should succeed and does not fails the test with the reason.
#ifndef STOWAGE_TESTS_PLAN_PLAN_SUPPORT_H_
#define STOWAGE_TESTS_PLAN_PLAN_SUPPORT_H_

#include <stowage/plan.h>
#include <stowage/text.h>

// The first graph of |text|, and the module that owns it; NULL on failure.
stow_graph* plan_parse(const char* text, stow_module** out_module);

// A plan of |text| with the effects of its `with` clauses; all of it freed by plan_free.
typedef struct plan_case {
  stow_module* module;
  stow_graph* graph;
  stow_effects* effects;
  stow_plan* plan;
  stow_status status;
  stow_diag diag;
} plan_case;
// The plan may fail: see |status|, |diag|.
plan_case plan_try(const char* text, const stow_plan_options* options);
// The plan must not fail.
plan_case plan_make(const char* text, const stow_plan_options* options);
void plan_free(plan_case* c);
// First fit, whose offsets tests name.
stow_plan_options plan_options(stow_preset preset);
// The same, and except for views every value has its own bytes.
stow_plan_options plan_plain(stow_preset preset);

// The slot of a value; {UINT64_MAX, UINT64_MAX} if there is none.
stow_slot plan_slot(const stow_plan* plan, stow_value value);
uint64_t plan_offset(const stow_plan* plan, stow_value value);
bool plan_has_slot(const stow_plan* plan, stow_value value);

typedef stow_status (*plan_writer)(const stow_plan* plan, stow_writer writer);
// What |write| writes; free with free().
char* plan_text(const stow_plan* plan, plan_writer write);

// A copy of |text| with the first |from| replaced by |to|; free with free(). Fails the test if
// there is none.
char* plan_replace(const char* text, const char* from, const char* to);

// Fails the test if the plan is wrong, or does not survive writing and reading.
void plan_prove(const plan_case* c);

#endif  // STOWAGE_TESTS_PLAN_PLAN_SUPPORT_H_
