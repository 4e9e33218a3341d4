// The picture of a plan as data: what every writer of pictures draws. Made once, from a graph and
// its plan or from buffers and their placement; afterwards it refers to neither.
#ifndef STOWAGE_SRC_REPORT_PICTURE_PICTURE_H_
#define STOWAGE_SRC_REPORT_PICTURE_PICTURE_H_

#include <stowage/report.h>

#include "base/alloc.h"
#include "report/out.h"
#include "report/picture/pairs.h"
#include "report/picture/strings.h"

// name, text
#define STOWI_REPORT_PICTURE_KIND_LIST(X) \
  X(INPUT, "input")                       \
  X(PARAM, "param")                       \
  X(CONSTANT, "constant")                 \
  X(ACTIVATION, "activation")             \
  X(SCRATCH, "scratch")                   \
  X(STATE, "state")                       \
  X(RESERVED, "reserved")                 \
  X(BUFFER, "buffer") /* of a CSV, which does not tell */

typedef enum stowi_report_picture_kind {
#define STOWI_REPORT_PICTURE_KIND_ENUM(name, text) STOWI_REPORT_PICTURE_##name,
  STOWI_REPORT_PICTURE_KIND_LIST(STOWI_REPORT_PICTURE_KIND_ENUM)
#undef STOWI_REPORT_PICTURE_KIND_ENUM
      STOWI_REPORT_PICTURE_KIND_COUNT
} stowi_report_picture_kind;
const char* stowi_report_picture_kind_text(size_t kind);

enum {
  STOWI_REPORT_PICTURE_FIXED = 1,
  STOWI_REPORT_PICTURE_OUTPUT = 2,
  STOWI_REPORT_PICTURE_STATE_FLAG = 4,
  STOWI_REPORT_PICTURE_WINDOWS = 8
};

// How a value lies in a buffer that is not its own.
typedef enum stowi_report_picture_how {
  STOWI_REPORT_PICTURE_VIEW,
  STOWI_REPORT_PICTURE_IN_PLACE,
  STOWI_REPORT_PICTURE_ELIDED
} stowi_report_picture_how;

#define STOWI_REPORT_PICTURE_NONE STOWI_REPORT_STRING_NONE  // no string, no id
#define STOWI_REPORT_PICTURE_NO_NUMBER UINT64_MAX
#define STOWI_REPORT_PICTURE_LIMIT (UINT64_C(1) << 53)  // every number is below

// A string of the view.
typedef uint32_t stowi_report_picture_text;

typedef struct stowi_report_picture_step {
  stowi_report_picture_text op;
  stowi_report_picture_text label;  // name of the first result
  uint32_t node;
} stowi_report_picture_step;

typedef struct stowi_report_picture_buffer {
  uint32_t
      id;  // of the value; STOWI_REPORT_PICTURE_NONE: scratch, a reserved stretch, a row of a CSV
  uint32_t key;  // what it is matched by where it has no name: id, node, row
  stowi_report_picture_text name;
  stowi_report_picture_text op;
  stowi_report_picture_text type;
  stowi_report_picture_kind kind;
  unsigned flags;
  uint64_t offset;
  uint64_t size;
  uint64_t guard;
  uint64_t begin;
  uint64_t end;
  uint64_t made;  // the step at which its own node runs
  uint64_t alignment;
  size_t first_window;
  size_t window_count;
} stowi_report_picture_buffer;

// Rows that scratch keeps; times are thousandths of its step.
typedef struct stowi_report_picture_ring {
  size_t buffer;
  stowi_report_picture_text name;
  stowi_report_picture_text op;
  stowi_report_picture_text type;
  uint64_t rows;
  uint64_t low;  // within the buffer
  uint64_t size;
  uint64_t begin;
  uint64_t end;
} stowi_report_picture_ring;

typedef struct stowi_report_picture_window {
  size_t buffer;
  uint64_t begin;
  uint64_t end;
  uint64_t low;  // within the buffer
  uint64_t high;
} stowi_report_picture_window;

// Anything that lies in a buffer but the root itself.
typedef struct stowi_report_picture_value {
  uint32_t id;
  uint32_t of;  // the value in whose bytes it lies; STOWI_REPORT_PICTURE_NONE: not known
  stowi_report_picture_text name;
  stowi_report_picture_text op;
  stowi_report_picture_text type;
  size_t buffer;
  uint64_t low;  // within the buffer
  uint64_t size;
  uint64_t begin;
  uint64_t end;
  stowi_report_picture_how how;
} stowi_report_picture_value;

typedef struct stowi_report_picture_read {
  uint32_t value;
  uint64_t step;
} stowi_report_picture_read;

// The load from |step| on, until the next level.
typedef struct stowi_report_picture_level {
  uint64_t step;
  uint64_t bytes;
} stowi_report_picture_level;

typedef struct stowi_report_picture_option {
  stowi_report_picture_text name;
  stowi_report_picture_text value;
} stowi_report_picture_option;

// What would make the arena smaller, as the plan has it.
typedef struct stowi_report_picture_hint {
  stowi_report_picture_text change;
  uint64_t arena;
} stowi_report_picture_hint;

typedef struct stowi_report_picture_facts {
  uint64_t arena;
  uint64_t alignment;
  uint64_t bound;        // no placement is lower
  uint64_t any_bound;    // nor in any order; STOWI_REPORT_PICTURE_NO_NUMBER: unknown
  uint64_t given_arena;  // in the given order, where another one was taken; else
                         // STOWI_REPORT_PICTURE_NO_NUMBER
  uint64_t unshared;
  uint64_t saved;
  uint64_t capacity;    // STOWI_REPORT_PICTURE_NO_NUMBER: none
  uint64_t first_step;  // the axis of time is [first_step, last_step)
  uint64_t last_step;
  uint64_t busy_step;  // before it only inputs, params and constants come to be
  uint64_t steps;      // nodes; of a CSV that is not a plan, the length of the axis
  uint64_t peak_step;
  uint64_t peak_bytes;
  const char* outcome;  // a literal
  stowi_report_picture_text strategy;
  bool reuse;
  bool has_fingerprint;
  uint64_t fingerprint;
} stowi_report_picture_facts;

// name, text
#define STOWI_REPORT_PICTURE_CHANGE_LIST(X) \
  X(GREW, "grew")                           \
  X(SHRANK, "shrank")                       \
  X(MOVED, "moved")                         \
  X(RETIMED, "retimed")                     \
  X(NEW, "new")                             \
  X(GONE, "gone")
typedef enum stowi_report_picture_change_kind {
#define STOWI_REPORT_PICTURE_CHANGE_ENUM(name, text) STOWI_REPORT_PICTURE_##name,
  STOWI_REPORT_PICTURE_CHANGE_LIST(STOWI_REPORT_PICTURE_CHANGE_ENUM)
#undef STOWI_REPORT_PICTURE_CHANGE_ENUM
      STOWI_REPORT_PICTURE_CHANGE_COUNT
} stowi_report_picture_change_kind;
const char* stowi_report_picture_change_text(size_t change);

#define STOWI_REPORT_PICTURE_NOWHERE STOWI_REPORT_UNPAIRED
typedef struct stowi_report_picture_change {
  stowi_report_picture_change_kind change;
  stowi_report_picture_text name;  // STOWI_REPORT_PICTURE_NONE: it has none
  size_t now;                      // buffer of this view; STOWI_REPORT_PICTURE_NOWHERE: gone
  size_t then;                     // buffer of the other view; STOWI_REPORT_PICTURE_NOWHERE: new
} stowi_report_picture_change;

struct stowi_report_range;

struct stow_picture {
  stowi_report_picture_text title;
  stowi_report_picture_text source;
  const char* origin;                // "graph", "model", "csv"
  stowi_report_picture_text at;      // of a formula plan, the point: `seq=128`
  struct stowi_report_range* range;  // all of its points; NULL: none
  stowi_report_picture_facts facts;
  STOWI_VEC(stowi_report_picture_option) options;
  STOWI_VEC(stowi_report_picture_hint) hints;
  STOWI_VEC(stowi_report_picture_step) steps;
  STOWI_VEC(stowi_report_picture_buffer) buffers;
  STOWI_VEC(stowi_report_picture_window) windows;  // by buffer and time
  STOWI_VEC(stowi_report_picture_value) values;
  STOWI_VEC(stowi_report_picture_ring) rings;  // by buffer
  STOWI_VEC(stowi_report_picture_read) reads;  // by value and step
  STOWI_VEC(stowi_report_picture_level) levels;
  const struct stow_picture* against;  // NULL: none
  STOWI_VEC(stowi_report_picture_change) changes;
  stowi_report_strings strings;
  stow_allocator allocator;
  bool broken;  // memory was out on the way
};

// ---------------------------------------------------------------------------------------------
// Making. Memory that is out is noted, and told by stowi_report_picture_finish.

// Fills |picture|, which has been created as the arguments of stow_picture_from_… say.
typedef stow_status (*stowi_report_picture_maker)(stow_picture* picture, const void* from,
                                                  stow_diag* diag);
stow_status stowi_report_picture_create(stowi_report_picture_maker make, const void* from,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_picture** out_picture);
stowi_report_picture_text stowi_report_picture_intern(stow_picture* picture, stow_str text);
// STOWI_REPORT_PICTURE_NONE for an empty one.
stowi_report_picture_text stowi_report_picture_intern_name(stow_picture* picture, stow_str text);
// Appends |item|, a name, to a vector.
#define STOWI_REPORT_PICTURE_ADD(picture, vec, item)                    \
  do {                                                                  \
    if (STOWI_VEC_RESERVE((picture)->allocator, (vec), 1) == STOW_OK) { \
      (vec)->data[(vec)->count++] = (item);                             \
    } else {                                                            \
      (picture)->broken = true;                                         \
    }                                                                   \
  } while (0)
// Sorts what is to be sorted, and makes the load with its peak. Fails where memory was out, or a
// number is too large for pictures.
stow_status stowi_report_picture_finish(stow_picture* picture, stow_diag* diag);
// Fills |picture| from a plan. |symbolic| is the same graph with symbols, NULL: none. With it,
// types are the same string where they are the same expressions: at every point of a range, then,
// pictures have the same number of strings.
stow_status stowi_report_picture_take_plan(stow_picture* picture, const stow_picture_plan* from,
                                           const stow_graph* symbolic, stow_diag* diag);
// For rows that are a plan: their names, kinds and ids in |text|.
stow_status stowi_report_picture_take_names(stow_picture* picture, stow_str text, stow_diag* diag);

// What of one picture is what of another: buffers, and |with_values| what lies in them, whose
// indices go on after those of buffers. Free it, whatever was returned.
typedef struct stowi_report_picture_pairs {
  size_t then_count;
  size_t now_count;
  size_t* of_now;  // the partner of each; STOWI_REPORT_UNPAIRED
  bool* met;       // whether each of |then| is one
} stowi_report_picture_pairs;
stow_status stowi_report_picture_pair(const stow_picture* then, const stow_picture* now,
                                      bool with_values, stow_allocator allocator,
                                      stowi_report_picture_pairs* out);
void stowi_report_picture_pairs_free(stowi_report_picture_pairs* pairs, stow_allocator allocator);
// Where the last lifetime ends: graphs and rows differ in what they count as steps.
uint64_t stowi_report_picture_last_end(const stow_picture* picture);
// Whether a buffer of both plans lives through other steps now. Steps have the same numbers only
// where there are as many of them; else lifetimes differ where one has more steps than the other,
// unless it is the end of both plans that ends them.
typedef struct stowi_report_picture_life {
  uint64_t begin;
  uint64_t end;
  uint64_t last_end;  // of its picture
} stowi_report_picture_life;
stowi_report_picture_life stowi_report_picture_life_of(const stow_picture* picture, size_t buffer,
                                                       uint64_t last_end);
bool stowi_report_picture_is_retimed(stowi_report_picture_life then, stowi_report_picture_life now);

// ---------------------------------------------------------------------------------------------
// Reading

stow_str stowi_report_picture_str(
    const stow_picture* picture,
    stowi_report_picture_text text);  // empty for STOWI_REPORT_PICTURE_NONE
// Where a static picture begins: right before |busy_step|, unless the peak is earlier.
uint64_t stowi_report_picture_first_shown(const stow_picture* picture);
// What a buffer occupies at |step|, guard included.
uint64_t stowi_report_picture_occupied(const stow_picture* picture, size_t buffer, uint64_t step);
// Buffers that occupy bytes at |step|, those with the most first, then by index: at most |most| of
// them. Returns how many there are in all.
size_t stowi_report_picture_largest(const stow_picture* picture, uint64_t step, size_t* out_buffers,
                                    size_t most);

// A part of a buffer's life in which it occupies the same bytes of the arena.
typedef struct stowi_report_picture_piece {
  uint64_t begin;
  uint64_t end;
  uint64_t low;
  uint64_t high;
} stowi_report_picture_piece;
typedef struct stowi_report_picture_cursor {
  size_t next_window;
  uint64_t step;
} stowi_report_picture_cursor;
stowi_report_picture_cursor stowi_report_picture_pieces(const stow_picture* picture, size_t buffer);
// False at the end. In order of time; gaps are left out.
bool stowi_report_picture_next_piece(const stow_picture* picture, size_t buffer,
                                     stowi_report_picture_cursor* cursor,
                                     stowi_report_picture_piece* out_piece);

// A name for people: control characters, characters that turn the direction of text and bytes that
// are not UTF-8 are escaped, and it is cut to |width| columns. `%7` for what has no name.
#define STOWI_REPORT_PICTURE_LABEL_SIZE 512
void stowi_report_picture_label(const stow_picture* picture, size_t buffer, size_t width,
                                char out[STOWI_REPORT_PICTURE_LABEL_SIZE]);
// The title, and the point where there is one.
void stowi_report_picture_title(const stow_picture* picture, size_t width,
                                char out[STOWI_REPORT_PICTURE_LABEL_SIZE]);
void stowi_report_picture_text_label(const stow_picture* picture, stowi_report_picture_text text,
                                     size_t width, char out[STOWI_REPORT_PICTURE_LABEL_SIZE]);

// ---------------------------------------------------------------------------------------------
// Writers. What fails is noted in |out|.

void stowi_report_picture_write_html(const stow_picture* picture, stowi_report_out* out);
void stowi_report_picture_write_json(const stow_picture* picture, stowi_report_out* out);
void stowi_report_picture_write_svg(const stow_picture* picture, stowi_report_out* out);
void stowi_report_picture_write_ascii(const stow_picture* picture, stowi_report_out* out);
void stowi_report_picture_write_trace(const stow_picture* picture, stowi_report_out* out);

#endif  // STOWAGE_SRC_REPORT_PICTURE_PICTURE_H_
