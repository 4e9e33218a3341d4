// The difference of two plans as data: what all writers of `stowage diff` print.
#ifndef STOWAGE_SRC_REPORT_DIFF_DIFF_H_
#define STOWAGE_SRC_REPORT_DIFF_DIFF_H_

#include "report/api.h"
#include "report/out.h"
#include "report/picture/picture.h"

// What became of a tensor. name, text
#define STOWI_REPORT_DIFF_CHANGE_LIST(X)                     \
  X(GREW, "grew")                                            \
  X(SHRANK, "shrank")                                        \
  X(NEW, "new")                                              \
  X(GONE, "gone")                                            \
  X(PARTED, "parted")   /* it lay in another's bytes */      \
  X(JOINED, "joined")   /* it lies in another's bytes now */ \
  X(MOVED, "moved")     /* the same bytes, elsewhere */      \
  X(RETIMED, "retimed") /* nothing but its lifetime */       \
  X(SAME, "same")

typedef enum stowi_report_diff_change {
#define STOWI_REPORT_DIFF_CHANGE_ENUM(name, text) STOWI_REPORT_DIFF_##name,
  STOWI_REPORT_DIFF_CHANGE_LIST(STOWI_REPORT_DIFF_CHANGE_ENUM)
#undef STOWI_REPORT_DIFF_CHANGE_ENUM
      STOWI_REPORT_DIFF_CHANGE_COUNT
} stowi_report_diff_change;
const char* stowi_report_diff_change_text(size_t change);

// What became of its place in the peak. name, text
#define STOWI_REPORT_DIFF_PEAK_LIST(X) \
  X(ENTERED, "entered")                \
  X(LEFT, "left")                      \
  X(GREW, "grew")                      \
  X(SHRANK, "shrank")                  \
  X(SAME, "same")

typedef enum stowi_report_diff_peak {
#define STOWI_REPORT_DIFF_PEAK_ENUM(name, text) STOWI_REPORT_PEAK_##name,
  STOWI_REPORT_DIFF_PEAK_LIST(STOWI_REPORT_DIFF_PEAK_ENUM)
#undef STOWI_REPORT_DIFF_PEAK_ENUM
      STOWI_REPORT_DIFF_PEAK_COUNT
} stowi_report_diff_peak;
const char* stowi_report_diff_peak_text(size_t change);

// A buffer of either plan, or of both. Bytes count its guard.
typedef struct stowi_report_diff_tensor {
  stowi_report_diff_change change;
  size_t then;  // buffer; STOWI_REPORT_PICTURE_NOWHERE: none
  size_t now;
  bool is_retimed;  // both have it, with other lifetimes
  size_t host;      // the buffer in whose bytes it lay then (parted) or lies now (joined)
  uint64_t then_bytes;
  uint64_t now_bytes;
  uint64_t then_peak;  // bytes of it at the peak; 0: it is not there
  uint64_t now_peak;
} stowi_report_diff_tensor;

typedef STOWI_VEC(stowi_report_diff_tensor) stowi_report_diff_list;

struct stow_diff {
  const stow_picture* then;
  const stow_picture* now;
  uint64_t then_end;  // of the last lifetime
  uint64_t now_end;
  uint64_t allowed;                // growth of the arena, in bytes
  bool too_large;                  // it grew by more
  stowi_report_diff_list tensors;  // what changed the most first
  stowi_report_diff_list peak;     // those at either peak, what changed the most first
  size_t changes[STOWI_REPORT_DIFF_CHANGE_COUNT];
  size_t peak_changes[STOWI_REPORT_DIFF_PEAK_COUNT];
  stow_allocator allocator;
};

stowi_report_diff_peak stowi_report_diff_peak_of(const stowi_report_diff_tensor* tensor);
// The view and the buffer to name it by: what it is now, or was.
const stow_picture* stowi_report_diff_named(const stow_diff* diff,
                                            const stowi_report_diff_tensor* tensor,
                                            size_t* out_buffer);

// ---------------------------------------------------------------------------------------------
// What writers for people share (rows.c).

// Bytes then and now; STOWI_REPORT_PICTURE_NO_NUMBER: not known.
typedef struct stowi_report_diff_fact {
  const char* what;
  uint64_t then;
  uint64_t now;
} stowi_report_diff_fact;
#define STOWI_REPORT_DIFF_FACTS 4
// Fills |facts| and returns how many there are.
size_t stowi_report_diff_facts(const stow_diff* diff,
                               stowi_report_diff_fact facts[STOWI_REPORT_DIFF_FACTS]);

#define STOWI_REPORT_DIFF_CELL (3 * STOWI_REPORT_NUMBER)
// A line of a table: what happened, and three columns.
typedef struct stowi_report_diff_row {
  const char* what;
  char cells[3][STOWI_REPORT_DIFF_CELL];
} stowi_report_diff_row;
// The columns of a fact: then, now, and "+64 (+1.00 %)" if it changed.
void stowi_report_diff_fill_fact(const stowi_report_diff_fact* fact, stowi_report_diff_row* row);

// A table of tensors.
typedef struct stowi_report_diff_table {
  const char* heads[3];
  bool (*holds)(const stowi_report_diff_tensor* tensor);  // whether it is in the table
  void (*fill)(const stow_diff* diff, const stowi_report_diff_tensor* tensor,
               stowi_report_diff_row* row);
  size_t rows;  // shown unless all are wanted
} stowi_report_diff_table;
extern const stowi_report_diff_table stowi_report_diff_peak_table;  // of stow_diff.peak
#define STOWI_REPORT_DIFF_TABLES 3
extern const stowi_report_diff_table stowi_report_diff_tables[STOWI_REPORT_DIFF_TABLES];

// `: 1 entered, 2 grew`
void stowi_report_diff_print_counts(const size_t* counts, size_t kinds, const char* (*text)(size_t),
                                    stowi_report_out* out);
#define STOWI_REPORT_DIFF_STEP 256
// The step of the peak: `step 8, matmul y`.
void stowi_report_diff_format_step(const stow_picture* picture, char out[STOWI_REPORT_DIFF_STEP]);
// Whether there are tensors to which `parted` or `joined` applies, words that need an explanation.
bool stowi_report_diff_has_hosts(const stow_diff* diff);
#define STOWI_REPORT_DIFF_HOSTS "parted, joined: no longer, and now, in the bytes of another tensor"
// `The arena grew by 64 bytes (1.00 %); 32 are allowed.`, coloured if |out| is.
void stowi_report_diff_print_verdict(const stow_diff* diff, stowi_report_out* out);

void stowi_report_diff_write_text(const stow_diff* diff, stowi_report_out* out);
void stowi_report_diff_write_json(const stow_diff* diff, stowi_report_out* out);
void stowi_report_diff_write_markdown(const stow_diff* diff, stowi_report_out* out);

#endif  // STOWAGE_SRC_REPORT_DIFF_DIFF_H_
