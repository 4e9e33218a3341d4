// Internals of lifetimes under construction: the state that rules and the base analysis work on.
#ifndef STOWAGE_SRC_ANALYSIS_LIVES_LIFETIMES_H_
#define STOWAGE_SRC_ANALYSIS_LIVES_LIFETIMES_H_

#include "analysis/api.h"
#include "base/bits.h"

struct stowi_analysis_lifetimes {
  stow_allocator allocator;
  uint32_t value_count;
  uint32_t* begin;  // by value; a root's covers all values in it
  uint32_t* end;
  uint32_t* own_begin;  // by value
  uint32_t* own_end;
  uint32_t*
      late;  // by root: the end of reads by nodes other than the one that runs; NULL: no such reads
  bool reuse_allowed;
};

// A region as a range of steps, including nested regions.
typedef struct stowi_analysis_stretch {
  uint32_t first;
  uint32_t last;  // inclusive
  stow_region parent;
  uint32_t depth;
  bool loops;  // its steps may run any number of times
} stowi_analysis_stretch;

// The context of a rule; the base analysis uses it too.
struct stow_rule_call {
  const stow_graph* graph;
  const stow_schedule* schedule;
  const stowi_analysis_views* views;
  stowi_analysis_lifetimes* lifetimes;
  stow_allocator allocator;
  stowi_analysis_stretch* stretches;  // by region; NULL if there is only the body
  stowi_bits expanded;                // nodes whose operands have been reached
  stow_node* stack;                   // nodes to expand; each is pushed once, so it never overflows
  const stow_rule* rule;              // the rule being run
  stow_status status;                 // of what |rule| asked for
  stow_diag* diag;
};

// Records that |value| and its root are in use at |step|, by a node in |region|.
void stowi_analysis_lifetimes_use(stow_rule_call* call, stow_value value, uint32_t step,
                                  stow_region region);
// The same at |node|'s step, by a node other than |node|, which therefore must not write there.
void stowi_analysis_lifetimes_use_late(stow_rule_call* call, stow_value value, stow_node node);
// Keeps |value| and its root live to the end.
void stowi_analysis_lifetimes_keep(stow_rule_call* call, stow_value value);

// Fails if effects contradict what ops write (writes.c).
stow_status stowi_analysis_writes_check(const stow_rule_call* call, const stow_effects* effects);

stow_status stowi_analysis_rule_run(stow_rule_call* call, const stow_rule* rule);

// The table of built-in rules.
extern const stow_rule stowi_analysis_rules[];
extern const size_t stowi_analysis_rule_count;

#endif  // STOWAGE_SRC_ANALYSIS_LIVES_LIFETIMES_H_
