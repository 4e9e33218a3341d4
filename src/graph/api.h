// What other rooms may ask of graphs beyond the public headers.
#ifndef STOWAGE_SRC_GRAPH_API_H_
#define STOWAGE_SRC_GRAPH_API_H_

#include <stowage/graph.h>

#include "base/shared.h"
#include "graph/copy.h"
#include "graph/dims/dims.h"
#include "graph/twin.h"

// Parts of a graph as text for diagnostics, cut where they are long.
typedef struct stowi_graph_text {
  char text[320];
} stowi_graph_text;

// `f32[100, ?seq]`
stowi_graph_text stowi_graph_describe_type(const stow_graph* graph, const stow_type* type);
// `%7`, or `%7 "hidden"`
stowi_graph_text stowi_graph_describe_value(const stow_graph* graph, stow_value value);
// `matmul %7`, or `yield at node 7` without a result
stowi_graph_text stowi_graph_describe_node(const stow_graph* graph, stow_node node);
// `%0 : f32[4, 3], _, %1 : f32[4, 5]`; |types| has the number of an interned type per value.
stowi_graph_text stowi_graph_describe_operands(const stow_graph* graph, const uint32_t* types,
                                               const stow_value* operands, size_t count);

// Points a filled diagnostic at |node| and its line, or at |value| and its producer.
void stowi_graph_blame_node(stow_diag* diag, const stow_graph* graph, stow_node node);
void stowi_graph_blame_value(stow_diag* diag, const stow_graph* graph, stow_value value);

// As stow_graph_in_place, but also of an operand that has fewer bytes than the result: its storage
// can be larger.
stow_in_place stowi_graph_in_place_storage(const stow_graph* graph, stow_node node, size_t k,
                                           size_t operand);

// Regions and `with` clauses, field by field (stow_graph_describe_region).
STOWI_SHARED stow_node stowi_graph_region_owner(const stow_graph* graph, stow_region region);
STOWI_SHARED stow_region stowi_graph_region_parent(const stow_graph* graph, stow_region region);
// First node (the `args` node where there is one) and last node (the `yield`), both inclusive.
// Nested regions and their owners lie between.
STOWI_SHARED stow_node stowi_graph_region_first(const stow_graph* graph, stow_region region);
STOWI_SHARED stow_node stowi_graph_region_last(const stow_graph* graph, stow_region region);
// The region's `args` node, or STOW_NODE_NONE. (The first node may be the `args` of a loop inside.)
STOWI_SHARED stow_node stowi_graph_region_args(const stow_graph* graph, stow_region region);
STOWI_SHARED size_t stowi_graph_with_count(const stow_graph* graph, stow_node node);
STOWI_SHARED const stow_attr* stowi_graph_with_at(const stow_graph* graph, stow_node node,
                                                  size_t index);

// Data that exists, but was not read: of a call, instead of stow_call_data; whether a value has
// data, read or not. What is decided for a plan must be the same for both.
STOWI_SHARED void stowi_graph_call_unread(stow_call* call, size_t size);
STOWI_SHARED bool stowi_graph_has_data(const stow_graph* graph, stow_value value);

// How a `blocks` node cuts an operand or result into what its function gets. Group g has slice
// (g / divide) % slices of it. If it is cut |by_rows|, a slice is |outer| times all rows of a
// group, a row is |unit| elements, and a block is |outer| pieces of consecutive rows; otherwise a
// slice is |unit| elements.
typedef struct stowi_graph_cut {
  bool by_rows;
  uint64_t outer;   // 1 if it is not cut by rows
  uint64_t unit;    // in elements
  uint64_t slices;  // 1: the same for all groups
  uint64_t divide;  // consecutive groups that have the same one
} stowi_graph_cut;
// Of operand |k|. False if a dim is not a number.
bool stowi_graph_cut_operand(const stow_graph* graph, stow_node node, size_t k,
                             stowi_graph_cut* out_cut);
// How many groups a `blocks` node has, and rows of each, and how its operands, then its results,
// are cut (NULL: not asked for). False if a dim is not a number.
STOWI_SHARED bool stowi_graph_cut_node(const stow_graph* graph, stow_node node,
                                       uint64_t* out_groups, uint64_t* out_rows,
                                       stowi_graph_cut* out_cuts);
// The symbol `rows` of a function, which is the first that it has.
#define STOWI_GRAPH_ROWS ((stow_dim)-1)
// NULL: there is no such function. O(functions).
STOWI_SHARED const stow_graph* stowi_graph_find_function(const stow_graph* graph, stow_str name);
// Which dim of a type of a function is the rows; UINT32_MAX: it has none.
STOWI_SHARED uint32_t stowi_graph_rows_axis(const stow_type* type);
// Whether |node| can be computed in |rows| calls of its kernel, one for each index of the leading
// dims of its results, which have |rows| indices together and are 1 in a call. All dims are
// numbers. An operand whose bit |out_still| has is the same for every row; all others begin with
// the rows.
STOWI_SHARED bool stowi_graph_takes_rows(const stow_graph* graph, stow_node node, uint64_t rows,
                                         uint64_t* out_still);
// Whether |type|, whose dims are numbers, begins with |rows| rows: some of its first dims have as
// many indices.
bool stowi_graph_begins_with_rows(const stow_type* type, uint64_t rows);
// A result that is a part of each row of operand 0: |row| elements, |offset| elements into each of
// |rows| rows of |pitch| elements.
typedef struct stowi_graph_row_part {
  uint64_t rows, pitch, row, offset;
} stowi_graph_row_part;
// Whether result |k| is: a part along an inner axis, whose bytes stow_graph_view does not know.
STOWI_SHARED bool stowi_graph_row_view(const stow_graph* graph, stow_node node, size_t k,
                                       stowi_graph_row_part* out_part);
// Whether the node computes each element from those with the same index, or from one that is
// broadcast along its dim.
bool stowi_graph_is_elementwise(const stow_graph* graph, stow_node node);
// Whether output |result| of a function may be written where input |operand| lies: nothing reads
// that later.
bool stowi_graph_function_overwrites(const stow_graph* function, size_t result, size_t operand);
// How rows of a node's results depend on rows of its operands; rows are dim 2 of [1, channels,
// rows, columns]. Row r of all results is what the node computes of the rows that this names, if
// padding along rows is replaced by as much as the window hangs over the border.
typedef struct stowi_graph_row_map {
  uint64_t whole;  // bit k: every row needs all of operand k; of others, but the first, row r
  // Of operand 0, if it is not: rows (r * stride + first) / divide to (r * stride + last) / divide,
  // rounded down, of those that there are.
  int64_t stride, first, last, divide;
  int64_t pads[8];  // the attribute `pads` that says the same as the node's; |pad_count| of them
  uint32_t pad_count;
  uint32_t top, bottom;  // which of them are those of rows
} stowi_graph_row_map;
// False if the node is not computed row by row: then the rest is not to be used.
STOWI_SHARED bool stowi_graph_map_rows(const stow_graph* graph, stow_node node,
                                       stowi_graph_row_map* out_map);
// The rows of operand 0, which has |rows|, that row |row| needs; false, and an empty range: none.
STOWI_SHARED bool stowi_graph_row_range(const stowi_graph_row_map* map, int64_t rows, int64_t row,
                                        int64_t* out_first, int64_t* out_last);
// Whether |function| is one for `stream` nodes: no value has ?rows.
STOWI_SHARED bool stowi_graph_function_streams(const stow_graph* function);
// A copy of the whole graph, which borrows its data.
STOWI_SHARED stow_status stowi_graph_copy(const stow_graph* graph, stow_allocator allocator,
                                          stow_diag* diag, stow_graph** out_graph);

// Whether a dim of a value depends on the symbol with this index.
STOWI_SHARED bool stowi_graph_uses_symbol(const stow_graph* graph, size_t symbol);
// Numbers between which |dim| is at every point, by intervals alone: no points are tried. INT64_MIN
// and INT64_MAX: no bound. |dim| is of this table, and its symbols are 0 or more.
void stowi_graph_dim_interval(const stow_dims* dims, stow_dim dim, int64_t* out_least,
                              int64_t* out_most);
// A number of which |dim| is a multiple at every point; 0 for the number 0.
int64_t stowi_graph_dim_multiple(const stow_dims* dims, stow_dim dim);
// Reads a dim as stow_dim_print writes it, into the graph's table. STOW_ERR_SYNTAX if it is not
// one, or has a symbol that the graph does not have, which is there afterwards.
stow_status stowi_graph_parse_dim(stow_graph* graph, stow_str text, stow_allocator allocator,
                                  stow_diag* diag, stow_dim* out_dim);

// Whether nodes of |op| may give other results for the same operands: random ops, and all that the
// core does not define.
bool stowi_graph_may_be_random(stow_op op);
// The number that random numbers of |node| begin at: its id, unless a `with` clause says otherwise.
#define STOWI_GRAPH_SEED "seed"
STOWI_SHARED uint32_t stowi_graph_seed(const stow_graph* graph, stow_node node);

// Same name, kind and value; floats bit by bit, so that NaN equals itself.
STOWI_SHARED bool stowi_graph_attr_equal(const stow_attr* a, const stow_attr* b);
// Of name, kind and value; the same on every machine.
uint64_t stowi_graph_attr_hash(uint64_t hash, const stow_attr* attr);

// Which nodes are needed: by outputs, by effects that the caller sees or by `with` clauses; inputs
// always are. |out_is_needed| has room for all nodes. What needs nothing but known numbers is not
// told apart, as in stow_graph_simplify.
stow_status stowi_graph_find_needed(const stow_graph* graph, stow_allocator allocator,
                                    stow_diag* diag, bool* out_is_needed);

// Rows of the core and of |ops|, which may be NULL.
STOWI_SHARED size_t stowi_graph_ops_count(const stow_ops* ops);

#endif  // STOWAGE_SRC_GRAPH_API_H_
