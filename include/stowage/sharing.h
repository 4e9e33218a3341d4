// Sharing: values that lie in the bytes of another value. The planner decides, this header declares
// how it reports its decisions.
//
// There are three ways to share. A *view* is a result that its op defines as a part of an operand,
// such as a reshape. A result is computed *in place* if it takes the bytes of an operand whose
// lifetime ends at that node. *Copy elision* computes an operand of concat directly at its position
// inside the result, so that nothing is copied. In all three the values have one *root*, the value
// that owns the buffer. A root may be larger than what is live in it; its *windows* are the steps
// at which it occupies only a part, and other buffers may use the rest.
//
// The planner records every case that it considered, taken or refused, with the reason, so that a
// model's author can see which copy remains and why. Structs here are filled copies that
// refer to nothing. Plans that were read from a file have no decisions. New shares
// and reasons may be added at the end of their lists: print unknown ones with the text functions.
// docs/sharing.md explains the decisions.
//
//     #include <stdio.h>
//     #include <stowage/plan.h>
//     #include <stowage/sharing.h>
//
//     // Prints what was not shared, such as: %5 not in place of %3: its bytes are read later, by
//     void print_refusals(const stow_plan* plan) {
//       for (size_t i = 0; i < stow_plan_decision_count(plan); ++i) {
//         stow_decision d = {.struct_size = sizeof(d)};
//         stow_plan_describe_decision(plan, i, &d);
//         if (d.reason == STOW_REASON_TAKEN) continue;
//         printf("%%%u not %s of %%%u: %s", d.result, stow_share_text(d.share), d.operand,
//                stow_reason_text(d.reason));
//         if (d.other_node != STOW_NODE_NONE) printf(" node %u", d.other_node);
//         if (d.other_value != STOW_VALUE_NONE) printf(" %%%u", d.other_value);
//         puts("");
//       }
//     }
#ifndef STOWAGE_SHARING_H_
#define STOWAGE_SHARING_H_

#include <stowage/base.h>
#include <stowage/effects.h>
#include <stowage/graph.h>
#include <stowage/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------
// Decisions

// name, text
#define STOW_SHARE_LIST(X)                                                       \
  X(IN_PLACE, "in place") /* the result takes the operand's bytes */             \
  X(HOME, "copy elision") /* copy elision: the operand lies inside the result */ \
  X(VIEW, "view")         /* the op defines the result as a part of the operand */

typedef enum stow_share {
#define STOW_SHARE_ENUM(name, text) STOW_SHARE_##name,
  STOW_SHARE_LIST(STOW_SHARE_ENUM)
#undef STOW_SHARE_ENUM
      STOW_SHARE_COUNT
} stow_share;
STOW_API const char* stow_share_text(stow_share share);  // static; "?" past the end

// Why bytes are not shared. name, text: a clause that follows "not … because"; some texts end where
// |other_node| or |other_value| of the decision is to be named.
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
  X(OTHER_HOME, "it is made inside another result:") /* other: a value */                      \
  X(OTHER_REGION, "it is made in another region")                                              \
  X(LARGER_ROOT, "it is a part of") /* other: a value */                                       \
  X(LOAD, "the load may rise")                                                                 \
  X(ARENA, "the arena would not be smaller")                                                   \
  X(NO_REUSE, "no bytes are reused")                                                           \
  X(SHORT_ROWS, "its rows there are short")                                                    \
  X(ROWS, "a node cannot be run row by row:") /* other: a node */

// A pitched value (stow_plan_value) has at most this many rows.
#define STOW_MOST_ROWS 4096

typedef enum stow_reason {
#define STOW_REASON_ENUM(name, text) STOW_REASON_##name,
  STOW_REASON_LIST(STOW_REASON_ENUM)
#undef STOW_REASON_ENUM
      STOW_REASON_COUNT
} stow_reason;
STOW_API const char* stow_reason_text(stow_reason reason);  // static; "?" past the end

typedef struct stow_decision {
  size_t struct_size;  // sizeof(stow_decision), set by the caller
  stow_share share;
  stow_reason reason;  // STOW_REASON_TAKEN, or why not
  stow_node node;      // that computes |result| from |operand|
  stow_value result;
  stow_value operand;
  uint64_t bytes;          // shared, or that would have been
  stow_value other_value;  // of the reason; STOW_VALUE_NONE: the reason names no value
  stow_node other_node;    // of the reason; STOW_NODE_NONE: the reason names no node
} stow_decision;

// ---------------------------------------------------------------------------------------------
// Windows: the part of a root that is occupied while only some of the values in it are live.
//
//     root  ┌──────────┐
//           │ operand  ├──────────┐
//           │          │ result   │   the rest of the root is free again
//           └──────────┴──────────┘

// At steps [begin, end) the root occupies only its bytes [low, high), counted from its offset.
// Outside its windows a live root occupies all of its bytes.
typedef struct stow_window {
  uint32_t begin;
  uint32_t end;
  uint64_t low;
  uint64_t high;  // equal to low: nothing
} stow_window;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SHARING_H_
