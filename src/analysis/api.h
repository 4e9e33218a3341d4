// What other rooms may ask of the analysis: views, lifetimes, sharing,
// windows.
//
//     graph ──┬─▶ effects ─┬─▶ views ─┬─▶ lifetimes ─▶ sharing ─▶ lifetimes again ─▶ windows
//             └─▶ schedule ┴──────────┘                (changes the views)
//
// Each arrow is a call whose result is plain data.
#ifndef STOWAGE_SRC_ANALYSIS_API_H_
#define STOWAGE_SRC_ANALYSIS_API_H_

#include <stowage/graph.h>
#include <stowage/schedule.h>
#include <stowage/sharing.h>

#include "effects/api.h"

// ---------------------------------------------------------------------------------------------
// Views: which values share another's bytes, and where.

typedef struct stowi_analysis_views stowi_analysis_views;

typedef struct stowi_analysis_views_options {
  bool classic_only;   // only reshape, same-dtype cast and axis-0 narrow, as in RLX
  bool f32_uniform;    // sizes and offsets count max(4, dtype width) bytes per element
  stow_io_policy io;   // for boundary values and outputs whose own policy is STOW_IO_DEFAULT
  bool inputs;         // inputs have bytes in the arena; where not, no result is written over one
  uint64_t least_row;  // values may be pitched, in rows of this many bytes at least; 0: none is
} stowi_analysis_views_options;

// All views, true sizes, keep, inputs in the arena, dense.
void stowi_analysis_views_options_init(stowi_analysis_views_options* options);

// The graph must be bound and verified; STOW_ERR_UNBOUND_DIM and STOW_ERR_OVERFLOW name the value.
// An output with policy external has bytes of its own, never a view. |effects| may be NULL.
stow_status stowi_analysis_views_create(const stow_graph* graph, const stow_effects* effects,
                                        const stowi_analysis_views_options* options,
                                        stow_allocator allocator, stow_diag* diag,
                                        stowi_analysis_views** out_views);
void stowi_analysis_views_destroy(stowi_analysis_views* views);

// The value whose bytes |value| uses, itself where it is no view; and where in them.
stow_value stowi_analysis_views_root(const stowi_analysis_views* views, stow_value value);
uint64_t stowi_analysis_views_offset(const stowi_analysis_views* views, stow_value value);
bool stowi_analysis_views_is_view(const stowi_analysis_views* views, stow_value value);
// Bytes of the value itself.
uint64_t stowi_analysis_views_bytes(const stowi_analysis_views* views, stow_value value);
// A pitched value is that many rows of equal size, |pitch| bytes apart; 1 and 0: it is dense. Nodes
// that make or read it, and are no no-ops, are run row by row.
uint64_t stowi_analysis_views_rows(const stowi_analysis_views* views, stow_value value);
uint64_t stowi_analysis_views_pitch(const stowi_analysis_views* views, stow_value value);
// The bytes from its first to its last.
uint64_t stowi_analysis_views_extent(const stowi_analysis_views* views, stow_value value);
// Whether any value is pitched. O(values).
bool stowi_analysis_views_are_pitched(const stowi_analysis_views* views);
// The alignment that effects ask for: of a root the largest of its own and its views', of a view
// its own. 0 where they ask for none.
uint64_t stowi_analysis_views_alignment(const stowi_analysis_views* views, stow_value value);
// Whether every result of |node| is a view and running it would do nothing: an executor compiles it
// away.
bool stowi_analysis_views_is_noop(const stowi_analysis_views* views, stow_node node);
// Every view, in id order: calls |visit| until it returns false.
void stowi_analysis_views_each(const stowi_analysis_views* views,
                               bool (*visit)(void* user, stow_value view, stow_value root,
                                             uint64_t offset),
                               void* user);

// ---------------------------------------------------------------------------------------------
// Lifetimes: half-open ranges of steps. A value made at step b and last read at step d lives over
// [b, d + 1). The caller reads the results at step n, so those end at n + 1.

typedef struct stowi_analysis_lifetimes stowi_analysis_lifetimes;

typedef struct stowi_analysis_lifetimes_options {
  stow_io_policy io;  // for boundary values and outputs whose own policy is STOW_IO_DEFAULT
  size_t rule_count;
  const stow_rule* rules[STOW_MAX_RULES];  // borrowed during the call
} stowi_analysis_lifetimes_options;

// Keep, no rules.
void stowi_analysis_lifetimes_options_init(stowi_analysis_lifetimes_options* options);

// STOW_ERR_CONFLICT, naming both, where the order does not fit the graph (|schedule| is of another
// one), where effects contradict the order (a hold until a node that has run) or what ops write: a
// value that is read or held after kv_append or a loop's next round has written into its bytes, a
// write that starts while they are read, one into a param or constant. Bytes are told apart by
// root.
stow_status stowi_analysis_lifetimes_create(const stow_graph* graph, const stow_schedule* schedule,
                                            const stowi_analysis_views* views,
                                            const stow_effects* effects,
                                            const stowi_analysis_lifetimes_options* options,
                                            stow_allocator allocator, stow_diag* diag,
                                            stowi_analysis_lifetimes** out_lifetimes);
void stowi_analysis_lifetimes_destroy(stowi_analysis_lifetimes* lifetimes);
uint32_t stowi_analysis_lifetimes_begin(const stowi_analysis_lifetimes* lifetimes,
                                        stow_value value);
uint32_t stowi_analysis_lifetimes_end(const stowi_analysis_lifetimes* lifetimes, stow_value value);
// The same of the value alone: for a root, without the lives of what lies in it.
uint32_t stowi_analysis_lifetimes_own_begin(const stowi_analysis_lifetimes* lifetimes,
                                            stow_value value);
uint32_t stowi_analysis_lifetimes_own_end(const stowi_analysis_lifetimes* lifetimes,
                                          stow_value value);
// False where a rule forbade reuse.
bool stowi_analysis_lifetimes_reuse_allowed(const stowi_analysis_lifetimes* lifetimes);

// ---------------------------------------------------------------------------------------------
// Applying

typedef struct stowi_analysis_sharing stowi_analysis_sharing;

typedef struct stowi_analysis_sharing_options {
  bool in_place;       // results in place of operands where ops' rows allow it; what effects allow
                       // is done in any case
  bool elide_copies;   // operands of concat are made inside its result
  uint64_t alignment;  // of every slot; what lies inside another lies at a multiple of it
} stowi_analysis_sharing_options;
// All on, alignment 1.
void stowi_analysis_sharing_options_init(stowi_analysis_sharing_options* options);

// Decides, and changes |views| so that shared values are views of their roots (not no-ops; a root
// may have a higher id than what lies in it). |lifetimes| are those of |views| before; make them
// again afterwards. Does nothing but record where the lifetimes forbid reuse.
//
// A result is merged into an operand's root where the op's row or effects allow it and effects do
// not forbid it; this step is the last read of all of that root, through every view, in every
// region; the root is neither kept, external, state nor fixed; the operand has at least the
// result's bytes, at an aligned place; and no other operand shares the bytes that are written, in a
// way that the op does not allow. An output may be the end of such a chain.
//
// The copy of an operand of concat is elided, so that the operand is made inside the result, where
// its bytes are contiguous there (no dim before the axis is above 1) and aligned, it is all of its
// root, is made by an op in the same region, is neither boundary, external, state nor fixed; nobody
// writes over it after the concat, nor over the result while the operand is still read; and the
// highest load does not rise. Concats of concats fold into one root, and so do those that have an
// operand in common, if one fits into the other and no byte is needed for two values at one step.
stow_status stowi_analysis_sharing_apply(stowi_analysis_views* views, const stow_graph* graph,
                                         const stow_schedule* schedule, const stow_effects* effects,
                                         const stowi_analysis_lifetimes* lifetimes,
                                         const stowi_analysis_sharing_options* options,
                                         stow_allocator allocator, stow_diag* diag,
                                         stowi_analysis_sharing** out_sharing);
void stowi_analysis_sharing_destroy(stowi_analysis_sharing* sharing);
// In order of step; at a step by operand, in place before copy elision before view, then by result.
// For every operand that a row or effects allow a result to be written over that is no view, every
// operand of concat, and every result of an op whose row knows views (and that converts nothing);
// but for results without bytes.
size_t stowi_analysis_sharing_count(const stowi_analysis_sharing* sharing);
stow_decision stowi_analysis_sharing_at(const stowi_analysis_sharing* sharing, size_t index);
// How many results in place and copy elisions were taken.
size_t stowi_analysis_sharing_taken(const stowi_analysis_sharing* sharing);

// ---------------------------------------------------------------------------------------------
// Windows of roots (stow_window)

typedef struct stowi_analysis_windows stowi_analysis_windows;

// At each step of a root's life, the smallest stretch that holds all values that lie in the root
// and live then. |lifetimes| are those of |views|. O(n log n).
stow_status stowi_analysis_windows_create(const stowi_analysis_views* views,
                                          const stowi_analysis_lifetimes* lifetimes,
                                          stow_allocator allocator, stow_diag* diag,
                                          stowi_analysis_windows** out_windows);
void stowi_analysis_windows_destroy(stowi_analysis_windows* windows);
// Of |root|, in order of time, apart from each other; 0 for what is no root. Neighbours differ,
// none is all of the root, and an empty one is at byte 0.
size_t stowi_analysis_windows_count(const stowi_analysis_windows* windows, stow_value root);
stow_window stowi_analysis_windows_at(const stowi_analysis_windows* windows, stow_value root,
                                      size_t index);

#endif  // STOWAGE_SRC_ANALYSIS_API_H_
