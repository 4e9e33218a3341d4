// Nodes that are run row by row, because a value that they read or make is pitched. All pitched
// values of a node have the same number of rows.
#ifndef STOWAGE_SRC_ANALYSIS_BY_ROWS_H_
#define STOWAGE_SRC_ANALYSIS_BY_ROWS_H_

#include "analysis/views.h"

// Who reads what; does not change.
struct stowi_analysis_readers {
  stow_allocator allocator;
  uint32_t value_count;
  size_t operand_count;
  size_t* first;     // by value: its first entry in |nodes|; one more ends the last
  stow_node* nodes;  // readers, each once per operand
  stowi_bits outputs;
};

stow_status stowi_analysis_readers_create(const stow_graph* graph, stow_allocator allocator,
                                          stow_diag* diag, stowi_analysis_readers** out_readers);
void stowi_analysis_readers_destroy(stowi_analysis_readers* readers);

// The root that |value| is in now, and where, while roots have moved that views still name. O(moves
// of it).
stow_value stowi_analysis_locate(const stowi_analysis_views* views, stow_value value,
                                 stowi_analysis_layout* out_layout);

// Whether |value| may lie in |rows| rows: all nodes that make or read it, and that run, can be run
// row by row. Views of it are not looked at. |out_node|: the node that cannot; STOW_NODE_NONE: it
// is the value. O(readers).
bool stowi_analysis_may_be_rows(const stowi_analysis_views* views, const stow_graph* graph,
                                const stow_effects* effects, stow_value value, uint64_t rows,
                                stow_node* out_node);
// Notes that these nodes are.
void stowi_analysis_run_by_rows(stowi_analysis_views* views, const stow_graph* graph,
                                stow_value value, uint64_t rows);

#endif  // STOWAGE_SRC_ANALYSIS_BY_ROWS_H_
