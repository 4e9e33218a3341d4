// Sharing: values that lie in another's bytes though no op makes them views. A result is written
// over an operand that dies (*in place*), an operand of concat is made at its place inside the
// result (*at home*). Every decision is recorded, taken or refused, with its reason.
//
//     views, lifetimes ─▶ sharing (changes the views) ─▶ lifetimes again ─▶ windows
#ifndef STOWAGE_SHARING_H_
#define STOWAGE_SHARING_H_

#include <stowage/analysis.h>
#include <stowage/base.h>
#include <stowage/graph.h>
#include <stowage/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Decisions

// name, text
#define STOW_SHARE_LIST(X)                                         \
  X(IN_PLACE, "in place") /* the result lies over the operand */   \
  X(HOME, "at home")      /* the operand lies inside the result */ \
  X(VIEW, "view")         /* the result lies inside the operand: by the op's row */

typedef enum stow_share {
#define STOW_SHARE_ENUM(name, text) STOW_SHARE_##name,
  STOW_SHARE_LIST(STOW_SHARE_ENUM)
#undef STOW_SHARE_ENUM
      STOW_SHARE_COUNT
} stow_share;
STOW_API const char* stow_share_text(stow_share share);  // "?" past the end

// Why not. name, text: a clause that follows "not … because"; |other| is named after it where there
// is one.
#define STOW_REASON_LIST(X)                                                                    \
  X(TAKEN, "taken")                                                                            \
  X(READ_LATER, "its bytes are read later, by")           /* other: a node */                  \
  X(HELD, "an executor reads its bytes at that step too") /* effects, rules */                 \
  X(KEPT, "it is kept for the caller")                    /* input, param, constant, output */ \
  X(EXTERNAL, "its bytes are bound from outside")                                              \
  X(STATE, "it is state")                                                                      \
  X(FIXED, "its offset is fixed")                                                              \
  X(OWN, "it must have bytes of its own")                                                      \
  X(FORBIDDEN, "effects forbid it")                                                            \
  X(EARLY, "it is written before its step")                                                    \
  X(TOO_SMALL, "it has fewer bytes")                                                           \
  X(MISALIGNED, "its place is not aligned")                                                    \
  X(SHARED, "another operand reads these bytes:")    /* other: a value */                      \
  X(GIVEN_AWAY, "its bytes went to another result:") /* other: a value */                      \
  X(ALREADY_VIEW, "it lies in the bytes of")         /* other: a value */                      \
  X(NOT_CONTIGUOUS, "its bytes are not contiguous there")                                      \
  X(OTHER_HOME, "it has another home:") /* other: a value */                                   \
  X(OTHER_REGION, "it is made in another region")                                              \
  X(LARGER_ROOT, "it is a part of") /* other: a value */                                       \
  X(LOAD, "the load may rise")                                                                 \
  X(ARENA, "the arena would grow")                                                             \
  X(NO_REUSE, "no bytes are reused")

typedef enum stow_reason {
#define STOW_REASON_ENUM(name, text) STOW_REASON_##name,
  STOW_REASON_LIST(STOW_REASON_ENUM)
#undef STOW_REASON_ENUM
      STOW_REASON_COUNT
} stow_reason;
STOW_API const char* stow_reason_text(stow_reason reason);  // "?" past the end

typedef struct stow_decision {
  stow_share share;
  stow_reason reason;  // STOW_REASON_TAKEN, or why not
  stow_node node;      // that makes |result| of |operand|
  stow_value result;
  stow_value operand;
  uint64_t bytes;          // that are not needed twice, or would not be
  stow_value other_value;  // as the reason says, else STOW_VALUE_NONE
  stow_node other_node;    // as the reason says, else STOW_NODE_NONE
} stow_decision;

// ---------------------------------------------------------------------------------------------
// Applying

typedef struct stow_sharing stow_sharing;

typedef struct stow_sharing_options {
  size_t struct_size;  // written by stow_sharing_options_init
  bool in_place;       // results over operands where ops' rows allow it; what effects allow is done
                       // in any case
  bool elide_copies;   // operands of concat at home
  uint64_t alignment;  // of every slot; what lies inside another lies at a multiple of it
} stow_sharing_options;
// All on, alignment 1.
STOW_API void stow_sharing_options_init(stow_sharing_options* options);

// Decides, and changes |views| so that shared values are views of their roots (not no-ops; a root
// may have a higher id than what lies in it). |lifetimes| are those of |views| before; make them
// anew afterwards. Does nothing but record where the lifetimes forbid reuse.
//
// A result is merged into an operand's root where the op's row or effects allow it and effects do
// not forbid it; this step is the last read of all of that root, through every view, in every
// region; the root is neither kept, external, state nor fixed; the operand has at least the
// result's bytes, at an aligned place; and no other operand shares the bytes that are written, in a
// way that the op does not allow. An output may be the end of such a chain.
//
// An operand of concat is made at home where its bytes are contiguous there (no dim before the axis
// is above 1) and aligned, it is all of its root, is made by an op in the same region, has no other
// home, is neither boundary, external, state nor fixed; nobody writes over it after the concat, nor
// over the result while the operand is still read; and the highest load does not rise. Concats of
// concats fold into one root.
STOW_API stow_status stow_sharing_apply(stow_views* views, const stow_graph* graph,
                                        const stow_schedule* schedule, const stow_effects* effects,
                                        const stow_lifetimes* lifetimes,
                                        const stow_sharing_options* options,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_sharing** out_sharing);
STOW_API void stow_sharing_destroy(stow_sharing* sharing);
// In order of step; at a step by operand, in place before at home before view, then by result. For
// every operand that a row or effects allow a result to be written over that is no view, every
// operand of concat, and every result of an op whose row knows views (and that converts nothing);
// but for results without bytes.
STOW_API size_t stow_sharing_count(const stow_sharing* sharing);
STOW_API stow_decision stow_sharing_at(const stow_sharing* sharing, size_t index);
// How many in place and at home were taken.
STOW_API size_t stow_sharing_taken(const stow_sharing* sharing);

// ---------------------------------------------------------------------------------------------
// Windows: what a root occupies while only some of what lies in it lives.
//
//     root  ┌──────────┐
//           │ operand  ├──────────┐
//           │          │ result   │   the rest of the root is free again
//           └──────────┴──────────┘

// Bytes [low, high) of the root, over steps [begin, end). Outside its windows a root occupies all
// of itself while it lives.
typedef struct stow_window {
  uint32_t begin;
  uint32_t end;
  uint64_t low;
  uint64_t high;  // low: nothing
} stow_window;

typedef struct stow_windows stow_windows;

// At each step of a root's life, the smallest stretch that holds all values that lie in the root
// and live then. |lifetimes| are those of |views|. O(n log n).
STOW_API stow_status stow_windows_create(const stow_views* views, const stow_lifetimes* lifetimes,
                                         stow_allocator allocator, stow_diag* diag,
                                         stow_windows** out_windows);
STOW_API void stow_windows_destroy(stow_windows* windows);
// Of |root|, in order of time, apart from each other; 0 for what is no root. Neighbours differ,
// none is all of the root, and an empty one is at byte 0.
STOW_API size_t stow_windows_count(const stow_windows* windows, stow_value root);
STOW_API stow_window stow_windows_at(const stow_windows* windows, stow_value root, size_t index);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SHARING_H_
