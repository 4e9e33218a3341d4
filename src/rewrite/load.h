// How many bytes are live at each step of a graph in its own order, with results in place of dead
// operands and operands computed where a concat needs them, and how that changes if nodes become
// one. Outputs do not count: they may be outside the arena, where no value before them is in their
// place. What is decided by it needs neither effects nor kernels, so that it is the same for all.
#ifndef STOWAGE_SRC_REWRITE_LOAD_H_
#define STOWAGE_SRC_REWRITE_LOAD_H_

#include "rewrite/facts.h"
#include "rewrite/live.h"

typedef struct stowi_rewrite_load {
  stowi_rewrite_lives lives;  // |bytes| and |ends| change with what is fused
  bool* is_taken;             // by root: a result is in its place at its end
  uint64_t* at;               // by node: live bytes
  uint64_t* scratch;          // by node: of what was fused there
  int64_t* change;            // by node: for trials
} stowi_rewrite_load;

// All dims are numbers. O(size of the graph). Freed also after a failure.
stow_status stowi_rewrite_load_init(stowi_rewrite_load* load, const stow_graph* graph,
                                    stow_allocator allocator, stow_diag* diag);
void stowi_rewrite_load_free(stowi_rewrite_load* load);

// Whether |value| has elements, of whole bytes.
bool stowi_rewrite_is_whole(const stow_graph* graph, stow_value value);
// Whether |node| may become part of another one, which reads its operands later: it has one result,
// and all its values have elements, of whole bytes, and are only written by what makes them.
// |graph| is the one whose loads these are, or the same nodes and values over ranges.
bool stowi_rewrite_can_fuse(const stowi_rewrite_load* load, const stowi_rewrite_facts* facts,
                            const stow_graph* graph, stow_node node);

// Nodes that become one, at the last of them, whose result alone remains.
typedef struct stowi_rewrite_fusion {
  const stow_node* nodes;  // the last one first, in descending order
  size_t count;
  const stow_value* operands;  // that they read from outside, not twice the same
  size_t operand_count;
  stow_value taken;  // the operand that the result may be in place of, if it is dead then, or NONE
  uint64_t scratch;
} stowi_rewrite_fusion;

// What it would change at the steps from the first to the last node.
typedef struct stowi_rewrite_effect {
  uint64_t before, after;  // the most live bytes
  int64_t sum;             // of live bytes, that there would be more
} stowi_rewrite_effect;
// Of a root: a result that is in its place does not count.
stow_node stowi_rewrite_last_step(const stowi_rewrite_load* load, stow_value root);
// |bytes| more at the steps [begin, end], of which those past |last| do not count, until the trial
// ends: at the steps [first, last], with the sum of those from |since| on. O(steps).
void stowi_rewrite_more(stowi_rewrite_load* load, stow_node begin, stow_node end, stow_node last,
                        int64_t bytes);
stowi_rewrite_effect stowi_rewrite_end_trial(stowi_rewrite_load* load, stow_node first,
                                             stow_node last, stow_node since, bool keeps);
// O(steps + operands).
stowi_rewrite_effect stowi_rewrite_try(stowi_rewrite_load* load,
                                       const stowi_rewrite_fusion* fusion);
// Makes it so.
void stowi_rewrite_note(stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion);
// The most live bytes of all steps. O(nodes).
uint64_t stowi_rewrite_load_peak(const stowi_rewrite_load* load);
// The first step that has them, of a graph with nodes.
stow_node stowi_rewrite_highest_step(const stowi_rewrite_load* load);

#endif  // STOWAGE_SRC_REWRITE_LOAD_H_
