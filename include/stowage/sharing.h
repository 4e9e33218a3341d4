// Sharing: values that lie in another's bytes though no op makes them views. A result is written
// over an operand that dies (*in place*), an operand of concat is made at its place inside the
// result (*copy elision*). Every decision is recorded, taken or refused, with its reason.
//
//     views, lifetimes ─▶ sharing (changes the views) ─▶ lifetimes again ─▶ windows
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
#define STOW_SHARE_LIST(X)                                            \
  X(IN_PLACE, "in place") /* the result reuses the operand's bytes */ \
  X(HOME, "copy elision") /* the operand is made inside the result */ \
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
  X(OTHER_HOME, "it is made inside another result:") /* other: a value */                      \
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
  size_t struct_size;  // sizeof(stow_decision), set by the caller
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
// Windows: what a root occupies while only some of what lies in it lives.
//
//     root  ┌──────────┐
//           │ operand  ├──────────┐
//           │          │ result   │   the rest of the root is free again
//           └──────────┴──────────┘

// Bytes [low, high) of the root, over steps [begin, end). Outside its windows a root occupies all
// of itself while it lives. Closed: it never grows, and is returned by value.
typedef struct stow_window {
  uint32_t begin;
  uint32_t end;
  uint64_t low;
  uint64_t high;  // low: nothing
} stow_window;

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_SHARING_H_
