// The difference of two plans as data: what both writers of `stowage diff` print.
#ifndef STOWAGE_TOOLS_DIFF_DIFF_H_
#define STOWAGE_TOOLS_DIFF_DIFF_H_

#include "output.h"
#include "view/view.h"

// What became of a tensor. name, text
#define CLI_DIFF_CHANGE_LIST(X)                              \
  X(GREW, "grew")                                            \
  X(SHRANK, "shrank")                                        \
  X(NEW, "new")                                              \
  X(GONE, "gone")                                            \
  X(PARTED, "parted")   /* it lay in another's bytes */      \
  X(JOINED, "joined")   /* it lies in another's bytes now */ \
  X(MOVED, "moved")     /* the same bytes, elsewhere */      \
  X(RETIMED, "retimed") /* nothing but its lifetime */       \
  X(SAME, "same")

typedef enum cli_diff_change {
#define CLI_DIFF_CHANGE_ENUM(name, text) CLI_DIFF_##name,
  CLI_DIFF_CHANGE_LIST(CLI_DIFF_CHANGE_ENUM)
#undef CLI_DIFF_CHANGE_ENUM
      CLI_DIFF_CHANGE_COUNT
} cli_diff_change;
const char* cli_diff_change_text(size_t change);

// What became of its place in the peak. name, text
#define CLI_DIFF_PEAK_LIST(X) \
  X(ENTERED, "entered")       \
  X(LEFT, "left")             \
  X(GREW, "grew")             \
  X(SHRANK, "shrank")         \
  X(SAME, "same")

typedef enum cli_diff_peak {
#define CLI_DIFF_PEAK_ENUM(name, text) CLI_PEAK_##name,
  CLI_DIFF_PEAK_LIST(CLI_DIFF_PEAK_ENUM)
#undef CLI_DIFF_PEAK_ENUM
      CLI_DIFF_PEAK_COUNT
} cli_diff_peak;
const char* cli_diff_peak_text(size_t change);

// A buffer of either plan, or of both. Bytes count its guard.
typedef struct cli_diff_tensor {
  cli_diff_change change;
  size_t then;  // buffer; CLI_VIEW_NOWHERE: none
  size_t now;
  bool is_retimed;  // both have it, with other lifetimes
  size_t host;      // the buffer in whose bytes it lay then (parted) or lies now (joined)
  uint64_t then_bytes;
  uint64_t now_bytes;
  uint64_t then_peak;  // bytes of it at the peak; 0: it is not there
  uint64_t now_peak;
} cli_diff_tensor;

// How much the arena may grow: bytes, or a share of what it was.
typedef struct cli_growth {
  uint64_t bytes;
  uint64_t millionths;
} cli_growth;

typedef struct cli_diff {
  const cli_view* then;
  const cli_view* now;
  uint64_t then_end;  // of the last lifetime
  uint64_t now_end;
  uint64_t allowed;  // growth of the arena, in bytes
  bool too_large;    // it grew by more
  cli_list tensors;  // of cli_diff_tensor: what changed the most first
  cli_list peak;     // of cli_diff_tensor: those at either peak, what changed the most first
  size_t changes[CLI_DIFF_CHANGE_COUNT];
  size_t peak_changes[CLI_DIFF_PEAK_COUNT];
} cli_diff;

// Both views must outlive the difference. Complains. End with cli_diff_free, whatever it returned.
cli_exit cli_diff_make(cli_diff* diff, const cli_view* then, const cli_view* now,
                       cli_growth growth);
void cli_diff_free(cli_diff* diff);

cli_diff_peak cli_diff_peak_of(const cli_diff_tensor* tensor);
// The view and the buffer to name it by: what it is now, or was.
const cli_view* cli_diff_named(const cli_diff* diff, const cli_diff_tensor* tensor,
                               size_t* out_buffer);

// |all|: no list is cut.
void cli_diff_print(const cli_diff* diff, bool all, cli_output* output);
void cli_diff_write_json(const cli_diff* diff, cli_output* output);

#endif  // STOWAGE_TOOLS_DIFF_DIFF_H_
