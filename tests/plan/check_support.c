#include "plan/check_support.h"

const char check_mlp[] =
    "graph @mlp {\n"
    "  %0 = input \"x\" : f32[16, 16]\n"
    "  %1 = param \"w\" : f32[16, 16]\n"
    "  %2 \"h\" = matmul(%0, %1) : f32[16, 16]\n"
    "  %3 = relu(%2) : f32[16, 16]\n"
    "  %4 \"half\" = narrow(%3) {axis = 0, start = 4, len = 8} : f32[8, 16]\n"
    "  %5 = exp(%4) : f32[8, 16]\n"
    "  return %5\n"
    "}\n";

stow_violation check_plan(plan_case* c) {
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_status status = stow_plan_check(c->plan, c->graph, c->effects, stow_allocator_default(),
                                       &c->diag, &violation);
  CHECK(status == (violation.fault == STOW_FAULT_NONE ? STOW_OK : STOW_ERR_VIOLATION));
  return violation;
}

plan_case check_make(const char* text, stow_preset preset) {
  stow_plan_options options = plan_plain(preset);
  plan_case c = plan_make(text, &options);
  if (c.plan != NULL) {
    stow_violation violation = check_plan(&c);
    test_check(violation.fault == STOW_FAULT_NONE, __FILE__, __LINE__, "%s", c.diag.message);
  }
  return c;
}
