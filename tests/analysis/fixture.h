// From a text to lifetimes in one call, and the result as one line that a test can compare.
#ifndef STOWAGE_TESTS_ANALYSIS_FIXTURE_H_
#define STOWAGE_TESTS_ANALYSIS_FIXTURE_H_

#include <stowage/text.h>

#include "analysis/api.h"

typedef struct fixture {
  stow_allocator allocator;
  stow_module* module;
  stow_graph* graph;  // the module's first
  stow_effects* effects;
  stow_schedule* schedule;
  stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stowi_analysis_views_options views_options;
  stowi_analysis_lifetimes_options lifetimes_options;
  stow_diag diag;
  char text[4096];
} fixture;

void fixture_init(fixture* f);
void fixture_free(fixture* f);
// Puts `graph @t {` and `}` around |body|. Each returns the status of the first call that failed;
// the parts before it exist. The later ones include the earlier ones.
stow_status fixture_parse(fixture* f, const char* body);
stow_status fixture_effects(fixture* f, const char* body);
stow_status fixture_views(fixture* f, const char* body);
stow_status fixture_lifetimes(fixture* f, const char* body);
// The steps after effects, again or for the first time.
stow_status fixture_analyse(fixture* f);
void fixture_add_rule(fixture* f, const char* name);

// `0:[0,4) 1:[2,3)` for all values. Borrowed until the next call.
const char* fixture_show_lifetimes(fixture* f);
// `3=0+16 4=0+0` for all views: value, root, offset.
const char* fixture_show_views(fixture* f);

#endif  // STOWAGE_TESTS_ANALYSIS_FIXTURE_H_
