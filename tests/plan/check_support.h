// Shared by the tests of the plan checker.
#ifndef STOWAGE_TESTS_PLAN_CHECK_SUPPORT_H_
#define STOWAGE_TESTS_PLAN_CHECK_SUPPORT_H_

#include <stowage/plan.h>

#include "analysis/api.h"
#include "plan/plan_support.h"
#include "support/test.h"

#define CHECK_FAULT(violation, kind) \
  CHECK_TEXT(stow_fault_text((violation).fault), stow_fault_text(kind))

// Steps are ids here. %2 and %3 are 1,024 bytes each, %4 is half of %3.
extern const char check_mlp[];

// The checker's verdict on the plan, its graph and its effects; the message is in |c->diag|.
stow_violation check_plan(plan_case* c);
// A plan of |text| that the checker accepts.
plan_case check_make(const char* text, stow_preset preset);

#endif  // STOWAGE_TESTS_PLAN_CHECK_SUPPORT_H_
