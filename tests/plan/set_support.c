#include "plan/set_support.h"

#include <string.h>

#include "base/diag.h"
#include "plan/api.h"
#include "support/test.h"

static bool passed(stow_status status, const stow_diag* diag) {
  return test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", stow_status_text(status),
                    diag->message);
}

static stow_status build(set_case* c, const char* text, const stow_plan_options* options) {
  stow_allocator allocator = stow_allocator_default();
  STOW_TRY(
      stow_module_parse(text, strlen(text), "test.stow", NULL, allocator, &c->diag, &c->module));
  STOW_TRY(stow_set_create(options, allocator, &c->diag, &c->set));
  c->count = stow_module_graph_count(c->module);
  for (size_t i = 0; i < c->count; ++i) {
    size_t index;
    c->graphs[i] = stow_module_graph(c->module, i);
    STOW_TRY(stow_effects_create(c->graphs[i], allocator, &c->diag, &c->effects[i]));
    STOW_TRY(stow_set_add(c->set, c->graphs[i], c->effects[i], NULL, &c->diag, &index));
  }
  return STOW_OK;
}

set_case set_try(const char* text, const stow_plan_options* options) {
  set_case c;
  memset(&c, 0, sizeof(c));
  stow_diag_init(&c.diag);
  c.status = build(&c, text, options);
  if (passed(c.status, &c.diag)) {
    c.status = stow_set_place(c.set, &c.diag);
  }
  return c;
}

set_case set_make(const char* text, const stow_plan_options* options) {
  set_case c = set_try(text, options);
  if (passed(c.status, &c.diag)) {
    set_prove(&c);
  }
  return c;
}

void set_free(set_case* c) {
  stow_set_destroy(c->set);
  for (size_t i = 0; i < c->count; ++i) {
    stow_effects_destroy(c->effects[i]);
  }
  stow_module_destroy(c->module);
  memset(c, 0, sizeof(*c));
}

const stow_plan* set_plan(const set_case* c, size_t index) { return stow_set_plan(c->set, index); }

stow_value set_value(const set_case* c, size_t index, const char* name) {
  return stow_graph_find(c->graphs[index], stow_str_of(name));
}

uint64_t set_offset(const set_case* c, size_t index, const char* name) {
  stow_slot slot;
  return stow_plan_value_slot(set_plan(c, index), set_value(c, index, name), &slot) ? slot.offset
                                                                                    : UINT64_MAX;
}

stow_plan* set_copy(const stow_plan* plan, const stow_graph* graph) {
  stow_diag diag;
  stow_string text;
  stow_plan* copy = NULL;
  stow_diag_init(&diag);
  stow_string_init(&text, stow_allocator_default());
  passed(stowi_plan_write_saved(plan, stow_string_writer(&text)), &diag);
  passed(stow_plan_read(text.data, text.size, "saved.plan", graph, stow_allocator_default(), &diag,
                        &copy),
         &diag);
  stow_string_free(&text);
  return copy;
}

stow_violation set_check(set_case* c, const stow_plan* const* plans) {
  stow_violation violation = {.struct_size = sizeof(violation)};
  stow_diag_init(&c->diag);
  stow_set_check(plans, c->graphs, (const stow_effects* const*)c->effects, c->count,
                 stow_allocator_default(), &c->diag, &violation);
  return violation;
}

void set_prove(const set_case* c) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  const stow_plan* plans[SET_MAX] = {NULL};
  stow_plan* copies[SET_MAX] = {NULL};
  const stow_effects* const* effects = (const stow_effects* const*)c->effects;
  for (size_t i = 0; i < c->count; ++i) {
    plans[i] = set_plan(c, i);
    passed(stow_plan_check(plans[i], c->graphs[i], effects[i], allocator, &diag, NULL), &diag);
    copies[i] = set_copy(plans[i], c->graphs[i]);
    passed(stow_plan_check(copies[i], c->graphs[i], effects[i], allocator, &diag, NULL), &diag);
  }
  stow_violation violation = {.struct_size = sizeof(violation)};
  passed(stow_set_check(plans, c->graphs, effects, c->count, allocator, &diag, &violation), &diag);
  CHECK(violation.fault == STOW_FAULT_NONE);
  passed(stow_set_check((const stow_plan* const*)copies, c->graphs, effects, c->count, allocator,
                        &diag, NULL),
         &diag);
  for (size_t i = 0; i < c->count; ++i) {
    stow_plan_destroy(copies[i]);
  }
}
