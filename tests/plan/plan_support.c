#include "plan/plan_support.h"

#include <stdlib.h>
#include <string.h>

#include "plan/api.h"
#include "support/test.h"

static bool passed(stow_status status, const stow_diag* diag) {
  return test_check(status == STOW_OK, __FILE__, __LINE__, "%s: %s", stow_status_text(status),
                    diag->message);
}

stow_graph* plan_parse(const char* text, stow_module** out_module) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_status status = stow_module_parse(text, strlen(text), "test.stow", NULL,
                                         stow_allocator_default(), &diag, out_module);
  return passed(status, &diag) ? stow_module_graph(*out_module, 0) : NULL;
}

stow_plan_options plan_options(stow_preset preset) {
  stow_plan_options options;
  stow_plan_options_init(&options, preset);
  options.strategy = stow_strategy_find(stow_str_of("first-fit"));  // whose offsets tests name
  return options;
}

stow_plan_options plan_plain(stow_preset preset) {
  stow_plan_options options = plan_options(preset);
  options.in_place = false;
  options.elide_copies = false;
  options.windows = false;
  return options;
}

plan_case plan_try(const char* text, const stow_plan_options* options) {
  plan_case c;
  memset(&c, 0, sizeof(c));
  stow_diag_init(&c.diag);
  c.graph = plan_parse(text, &c.module);
  c.status = STOW_ERR_SYNTAX;
  if (c.graph == NULL) {
    return c;
  }
  stow_allocator allocator = stow_allocator_default();
  c.status = stow_effects_create(c.graph, allocator, &c.diag, &c.effects);
  if (c.status == STOW_OK) {
    c.status = stow_plan_make(c.graph, c.effects, options, allocator, &c.diag, &c.plan);
  }
  return c;
}

plan_case plan_make(const char* text, const stow_plan_options* options) {
  plan_case c = plan_try(text, options);
  passed(c.status, &c.diag);
  return c;
}

void plan_free(plan_case* c) {
  stow_plan_destroy(c->plan);
  stow_effects_destroy(c->effects);
  stow_module_destroy(c->module);
  memset(c, 0, sizeof(*c));
}

stow_slot plan_slot(const stow_plan* plan, stow_value value) {
  stow_slot slot;
  if (!stow_plan_value_slot(plan, value, &slot)) {
    slot.offset = UINT64_MAX;
    slot.size = UINT64_MAX;
  }
  return slot;
}

uint64_t plan_offset(const stow_plan* plan, stow_value value) {
  return plan_slot(plan, value).offset;
}

bool plan_has_slot(const stow_plan* plan, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(plan, value, &slot);
}

char* plan_text(const stow_plan* plan, plan_writer write) {
  stow_string string;
  stow_string_init(&string, stow_allocator_default());
  stow_status status = write(plan, stow_string_writer(&string));
  test_check(status == STOW_OK, __FILE__, __LINE__, "writing: %s", stow_status_text(status));
  char* copy = (char*)calloc(1, string.size + 1);
  if (copy == NULL) {
    abort();
  }
  if (string.size != 0) {
    memcpy(copy, string.data, string.size);
  }
  stow_string_free(&string);
  return copy;
}

char* plan_replace(const char* text, const char* from, const char* to) {
  const char* at = strstr(text, from);
  test_check(at != NULL, __FILE__, __LINE__, "no \"%s\" in the text", from);
  size_t before = at == NULL ? strlen(text) : (size_t)(at - text);
  const char* after = at == NULL ? "" : at + strlen(from);
  char* copy = (char*)calloc(1, strlen(text) + strlen(to) + 1);
  if (copy == NULL) {
    abort();
  }
  memcpy(copy, text, before);
  strcat(copy, at == NULL ? "" : to);
  strcat(copy, after);
  return copy;
}

void plan_prove(const plan_case* c) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_allocator allocator = stow_allocator_default();
  passed(stow_plan_check(c->plan, c->graph, c->effects, allocator, &diag, NULL), &diag);
  char* text = plan_text(c->plan, stowi_plan_write_saved);
  stow_plan* read = NULL;
  stow_status status =
      stow_plan_read(text, strlen(text), "saved.plan", c->graph, allocator, &diag, &read);
  if (passed(status, &diag)) {
    char* again = plan_text(read, stowi_plan_write_saved);
    CHECK_TEXT(again, text);
    free(again);
    stow_plan_destroy(read);
  }
  free(text);
}
