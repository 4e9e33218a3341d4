#include "fixture.h"

#include <stdio.h>
#include <string.h>

void fixture_init(fixture* f) {
  memset(f, 0, sizeof(*f));
  f->allocator = stow_allocator_default();
  stowi_analysis_views_options_init(&f->views_options);
  stowi_analysis_lifetimes_options_init(&f->lifetimes_options);
  stow_diag_init(&f->diag);
}

static void free_analysis(fixture* f) {
  stowi_analysis_lifetimes_destroy(f->lifetimes);
  stowi_analysis_views_destroy(f->views);
  stow_schedule_destroy(f->schedule);
  f->lifetimes = NULL;
  f->views = NULL;
  f->schedule = NULL;
}

void fixture_free(fixture* f) {
  free_analysis(f);
  stow_effects_destroy(f->effects);
  stow_module_destroy(f->module);
  f->effects = NULL;
  f->module = NULL;
}

stow_status fixture_parse(fixture* f, const char* body) {
  fixture_free(f);
  snprintf(f->text, sizeof(f->text), "graph @t {\n%s\n}\n", body);
  stow_status status =
      stow_module_parse(f->text, strlen(f->text), NULL, NULL, f->allocator, &f->diag, &f->module);
  if (status == STOW_OK) {
    f->graph = stow_module_graph(f->module, 0);
  }
  return status;
}

stow_status fixture_effects(fixture* f, const char* body) {
  stow_status status = fixture_parse(f, body);
  if (status != STOW_OK) {
    return status;
  }
  return stow_effects_create(f->graph, f->allocator, &f->diag, &f->effects);
}

static stow_status make_views(fixture* f) {
  return stowi_analysis_views_create(f->graph, f->effects, &f->views_options, f->allocator,
                                     &f->diag, &f->views);
}

stow_status fixture_views(fixture* f, const char* body) {
  stow_status status = fixture_effects(f, body);
  return status == STOW_OK ? make_views(f) : status;
}

stow_status fixture_analyse(fixture* f) {
  free_analysis(f);
  stow_status status = make_views(f);
  if (status == STOW_OK) {
    status = stow_schedule_create(f->graph, f->allocator, &f->diag, &f->schedule);
  }
  if (status == STOW_OK) {
    status = stowi_analysis_lifetimes_create(f->graph, f->schedule, f->views, f->effects,
                                             &f->lifetimes_options, f->allocator, &f->diag,
                                             &f->lifetimes);
  }
  return status;
}

stow_status fixture_lifetimes(fixture* f, const char* body) {
  stow_status status = fixture_effects(f, body);
  return status == STOW_OK ? fixture_analyse(f) : status;
}

void fixture_add_rule(fixture* f, const char* name) {
  stowi_analysis_lifetimes_options* options = &f->lifetimes_options;
  options->rules[options->rule_count++] = stow_rule_find(stow_str_of(name));
}

static size_t append(fixture* f, size_t used, const char* piece) {
  int added = snprintf(f->text + used, sizeof(f->text) - used, "%s%s", used == 0 ? "" : " ", piece);
  return used + (size_t)added;
}

const char* fixture_show_lifetimes(fixture* f) {
  size_t used = 0;
  f->text[0] = '\0';
  for (stow_value v = 0; v < stow_graph_value_count(f->graph); ++v) {
    char piece[64];
    snprintf(piece, sizeof(piece), "%u:[%u,%u)", (unsigned)v,
             (unsigned)stowi_analysis_lifetimes_begin(f->lifetimes, v),
             (unsigned)stowi_analysis_lifetimes_end(f->lifetimes, v));
    used = append(f, used, piece);
  }
  return f->text;
}

typedef struct shower {
  fixture* f;
  size_t used;
} shower;

static bool show_view(void* user, stow_value view, stow_value root, uint64_t offset) {
  shower* s = (shower*)user;
  char piece[64];
  snprintf(piece, sizeof(piece), "%u=%u+%llu", (unsigned)view, (unsigned)root,
           (unsigned long long)offset);
  s->used = append(s->f, s->used, piece);
  return true;
}

const char* fixture_show_views(fixture* f) {
  shower s = {f, 0};
  f->text[0] = '\0';
  stowi_analysis_views_each(f->views, show_view, &s);
  return f->text;
}
