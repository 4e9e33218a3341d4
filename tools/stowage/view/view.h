// The picture of a plan as data: what every writer of pictures draws. Made once, from a graph and
// its plan or from buffers and their placement; afterwards it refers to neither.
#ifndef STOWAGE_TOOLS_VIEW_VIEW_H_
#define STOWAGE_TOOLS_VIEW_VIEW_H_

#include <stowage/base.h>

#include "compare.h"
#include "fail.h"
#include "list.h"

// name, text
#define CLI_VIEW_KIND_LIST(X) \
  X(INPUT, "input")           \
  X(PARAM, "param")           \
  X(CONSTANT, "constant")     \
  X(ACTIVATION, "activation") \
  X(SCRATCH, "scratch")       \
  X(STATE, "state")           \
  X(RESERVED, "reserved")     \
  X(BUFFER, "buffer") /* of a CSV, which does not tell */

typedef enum cli_view_kind {
#define CLI_VIEW_KIND_ENUM(name, text) CLI_VIEW_##name,
  CLI_VIEW_KIND_LIST(CLI_VIEW_KIND_ENUM)
#undef CLI_VIEW_KIND_ENUM
      CLI_VIEW_KIND_COUNT
} cli_view_kind;
const char* cli_view_kind_text(size_t kind);

enum { CLI_VIEW_FIXED = 1, CLI_VIEW_OUTPUT = 2, CLI_VIEW_STATE_FLAG = 4, CLI_VIEW_WINDOWS = 8 };

// How a value lies in a buffer that is not its own.
typedef enum cli_view_how { CLI_VIEW_VIEW, CLI_VIEW_IN_PLACE, CLI_VIEW_AT_HOME } cli_view_how;

#define CLI_VIEW_NONE UINT32_MAX  // no string, no id
#define CLI_VIEW_NO_NUMBER UINT64_MAX
#define CLI_VIEW_LIMIT (UINT64_C(1) << 53)  // every number is below

// A string of the view.
typedef uint32_t cli_view_text;

typedef struct cli_view_step {
  cli_view_text op;
  cli_view_text label;  // name of the first result
  uint32_t node;
} cli_view_step;

typedef struct cli_view_buffer {
  uint32_t id;   // of the value; CLI_VIEW_NONE: scratch, a reserved stretch, a row of a CSV
  uint32_t key;  // what it is matched by where it has no name: id, node, row
  cli_view_text name;
  cli_view_text op;
  cli_view_text type;
  cli_view_kind kind;
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
} cli_view_buffer;

typedef struct cli_view_window {
  size_t buffer;
  uint64_t begin;
  uint64_t end;
  uint64_t low;  // within the buffer
  uint64_t high;
} cli_view_window;

// Anything that lies in a buffer but the root itself.
typedef struct cli_view_value {
  uint32_t id;
  uint32_t of;  // the value in whose bytes it lies; CLI_VIEW_NONE: not known
  cli_view_text name;
  cli_view_text op;
  cli_view_text type;
  size_t buffer;
  uint64_t low;  // within the buffer
  uint64_t size;
  uint64_t begin;
  uint64_t end;
  cli_view_how how;
} cli_view_value;

typedef struct cli_view_read {
  uint32_t value;
  uint64_t step;
} cli_view_read;

// The load from |step| on, until the next level.
typedef struct cli_view_level {
  uint64_t step;
  uint64_t bytes;
} cli_view_level;

typedef struct cli_view_option {
  cli_view_text name;
  cli_view_text value;
} cli_view_option;

typedef struct cli_view_facts {
  uint64_t arena;
  uint64_t alignment;
  uint64_t bound;        // no placement is lower
  uint64_t any_bound;    // nor in any order; CLI_VIEW_NO_NUMBER: unknown
  uint64_t given_arena;  // in the given order, where another one was taken; else CLI_VIEW_NO_NUMBER
  uint64_t unshared;
  uint64_t saved;
  uint64_t capacity;    // CLI_VIEW_NO_NUMBER: none
  uint64_t first_step;  // the axis of time is [first_step, last_step)
  uint64_t last_step;
  uint64_t busy_step;  // before it only inputs, params and constants come to be
  uint64_t steps;      // nodes; of a CSV, the length of the axis
  uint64_t peak_step;
  uint64_t peak_bytes;
  const char* outcome;  // a literal
  cli_view_text strategy;
  bool reuse;
  bool has_fingerprint;
  uint64_t fingerprint;
} cli_view_facts;

// name, text
#define CLI_VIEW_CHANGE_LIST(X) \
  X(GREW, "grew") X(SHRANK, "shrank") X(MOVED, "moved") X(NEW, "new") X(GONE, "gone")
typedef enum cli_view_change_kind {
#define CLI_VIEW_CHANGE_ENUM(name, text) CLI_VIEW_##name,
  CLI_VIEW_CHANGE_LIST(CLI_VIEW_CHANGE_ENUM)
#undef CLI_VIEW_CHANGE_ENUM
      CLI_VIEW_CHANGE_COUNT
} cli_view_change_kind;
const char* cli_view_change_text(size_t change);

#define CLI_VIEW_NOWHERE SIZE_MAX
typedef struct cli_view_change {
  cli_view_change_kind change;
  cli_view_text name;  // CLI_VIEW_NONE: it has none
  size_t now;          // buffer of this view; CLI_VIEW_NOWHERE: gone
  size_t then;         // buffer of the other view; CLI_VIEW_NOWHERE: new
} cli_view_change;

typedef struct cli_view {
  cli_view_text title;
  cli_view_text source;
  const char* origin;  // "graph", "model", "csv"
  cli_view_facts facts;
  cli_list options;                // of cli_view_option
  cli_list steps;                  // of cli_view_step
  cli_list buffers;                // of cli_view_buffer
  cli_list windows;                // of cli_view_window, by buffer and time
  cli_list values;                 // of cli_view_value
  cli_list reads;                  // of cli_view_read, by value and step
  cli_list levels;                 // of cli_view_level
  const struct cli_view* against;  // NULL: none
  cli_list changes;                // of cli_view_change
  // Strings, each once.
  stow_string bytes;
  cli_list ends;   // of size_t: where each ends in |bytes|
  cli_list table;  // of cli_view_text, hashed; a power of two of them
  bool broken;     // memory was out on the way
} cli_view;

// ---------------------------------------------------------------------------------------------
// Making. Memory that is out is noted, and told by cli_view_finish.

void cli_view_init(cli_view* view);
void cli_view_free(cli_view* view);
cli_view_text cli_view_intern(cli_view* view, stow_str text);
// CLI_VIEW_NONE for an empty one.
cli_view_text cli_view_intern_name(cli_view* view, stow_str text);
void cli_view_add(cli_view* view, cli_list* list, const void* item, size_t item_size);
// Sorts what is to be sorted, and makes the load with its peak. Complains where memory was out, or
// where a number is too large for the pictures.
cli_exit cli_view_finish(cli_view* view, const char* label);
// What a buffer is known by in comparisons.
cli_match_key cli_view_match_key(const cli_view* view, size_t buffer);
// Compares |view| with |then|, which must outlive it.
cli_exit cli_view_compare(cli_view* view, const cli_view* then);

// ---------------------------------------------------------------------------------------------
// Reading

stow_str cli_view_str(const cli_view* view, cli_view_text text);  // empty for CLI_VIEW_NONE
const cli_view_buffer* cli_view_buffers(const cli_view* view);
const cli_view_window* cli_view_windows(const cli_view* view);
const cli_view_value* cli_view_values(const cli_view* view);
const cli_view_step* cli_view_steps(const cli_view* view);
const cli_view_level* cli_view_levels(const cli_view* view);
const cli_view_change* cli_view_changes(const cli_view* view);
// Where a static picture begins: right before |busy_step|, unless the peak is earlier.
uint64_t cli_view_first_shown(const cli_view* view);
// What a buffer occupies at |step|, guard included.
uint64_t cli_view_occupied(const cli_view* view, size_t buffer, uint64_t step);
// Buffers that occupy bytes at |step|, those with the most first, then by index: at most |most| of
// them. Returns how many there are in all.
size_t cli_view_largest(const cli_view* view, uint64_t step, size_t* out_buffers, size_t most);

// A part of a buffer's life in which it occupies the same bytes of the arena.
typedef struct cli_view_piece {
  uint64_t begin;
  uint64_t end;
  uint64_t low;
  uint64_t high;
} cli_view_piece;
typedef struct cli_view_cursor {
  size_t next_window;
  uint64_t step;
} cli_view_cursor;
cli_view_cursor cli_view_pieces(const cli_view* view, size_t buffer);
// False at the end. In order of time; gaps are left out.
bool cli_view_next_piece(const cli_view* view, size_t buffer, cli_view_cursor* cursor,
                         cli_view_piece* out_piece);

// A name for people: control characters, characters that turn the direction of text and bytes that
// are not UTF-8 are escaped, and it is cut to |width| columns. `%7` for what has no name.
#define CLI_VIEW_LABEL_SIZE 512
void cli_view_label(const cli_view* view, size_t buffer, size_t width,
                    char out[CLI_VIEW_LABEL_SIZE]);
void cli_view_text_label(const cli_view* view, cli_view_text text, size_t width,
                         char out[CLI_VIEW_LABEL_SIZE]);

#endif  // STOWAGE_TOOLS_VIEW_VIEW_H_
