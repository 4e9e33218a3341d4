// Shared by the tests of sets: graphs of one module in a set.
#ifndef STOWAGE_TESTS_PLAN_SET_SUPPORT_H_
#define STOWAGE_TESTS_PLAN_SET_SUPPORT_H_

#include <stowage/set.h>
#include <stowage/text.h>

#define SET_MAX 6

// All graphs of a text with the effects of their `with` clauses.
typedef struct set_case {
  stow_module* module;
  size_t count;
  const stow_graph* graphs[SET_MAX];
  stow_effects* effects[SET_MAX];
  stow_set* set;
  stow_status status;  // of placing
  stow_diag diag;
} set_case;

// The set may be refused: see |status|, |diag|.
set_case set_try(const char* text, const stow_plan_options* options);
// It must not; and it passes every check.
set_case set_make(const char* text, const stow_plan_options* options);
void set_free(set_case* c);

const stow_plan* set_plan(const set_case* c, size_t index);
stow_value set_value(const set_case* c, size_t index, const char* name);
// The offset of a value; UINT64_MAX if it has no slot.
uint64_t set_offset(const set_case* c, size_t index, const char* name);

// Fails the test unless every plan passes stow_plan_check and survives writing and reading, and all
// of them pass stow_set_check, as made and as read.
void set_prove(const set_case* c);
// A plan as it is after writing and reading, which a test may damage.
stow_plan* set_copy(const stow_plan* plan, const stow_graph* graph);
// The verdict of stow_set_check on |plans|; the message is in |c->diag|.
stow_violation set_check(set_case* c, const stow_plan* const* plans);

#endif  // STOWAGE_TESTS_PLAN_SET_SUPPORT_H_
