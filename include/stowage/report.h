// Reports: a plan as a picture or as data, and what changed between two plans. A library of its
// own, libstowage-report.
//
// A picture is everything that can be drawn of one plan: buffers over time, what lies in them, the
// load and its peak. It is made of a graph and its plan, or of rows and their placement, and refers
// to neither afterwards. Every format is written from it: a page for browsers, SVG for papers,
// text for terminals, a trace for ui.perfetto.dev, and JSON (docs/view-format.md). A diff compares
// two pictures, wherever they come from, and is written as text or JSON (docs/diff.md).
//
//     stow_picture_plan from;
//     stow_picture_plan_init(&from);
//     from.graph = graph;
//     from.plan = plan;
//     from.effects = effects;
//     stow_picture* picture;
//     stow_status status = stow_picture_from_plan(&from, allocator, &diag, &picture);
//     if (status == STOW_OK) {
//       status = stow_picture_write(picture, STOW_PICTURE_SVG, NULL, writer, &diag);
//     }
//     stow_picture_destroy(picture);
//
// Nothing is proven here: pictures are drawn of plans as they are. Check them first.
#ifndef STOWAGE_REPORT_H_
#define STOWAGE_REPORT_H_

#include <stowage/csv.h>
#include <stowage/effects.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// How reports are written. NULL stands for what the init function writes.
typedef struct stow_report_options {
  size_t struct_size;  // written by stow_report_options_init
  size_t width;        // columns of text; 80
  bool colours;        // text is for a terminal that has them; false
  bool all;            // no list of a diff's text is cut; false
} stow_report_options;
STOW_API void stow_report_options_defaults(stow_report_options* options);
static inline void stow_report_options_init(stow_report_options* options) {
  options->struct_size = sizeof(*options);
  stow_report_options_defaults(options);
}

// ---------------------------------------------------------------------------------------------
// Pictures

typedef struct stow_picture stow_picture;

// Init functions write every field. Everything is borrowed for the call alone.
typedef struct stow_picture_plan {
  size_t struct_size;
  const stow_graph* graph;
  const stow_plan* plan;        // of |graph|
  const stow_effects* effects;  // with which it was made
  const char* source;           // the file that is named; ""
  const char* title;            // NULL: the graph's name
  bool is_model;                // the graph was imported; false
  bool has_shared_params;       // their places come from another plan; false
} stow_picture_plan;
STOW_API void stow_picture_plan_defaults(stow_picture_plan* from);
static inline void stow_picture_plan_init(stow_picture_plan* from) {
  from->struct_size = sizeof(*from);
  stow_picture_plan_defaults(from);
}

typedef struct stow_picture_rows {
  size_t struct_size;
  const stow_csv* csv;
  const stow_placement* placement;  // of all rows; NULL: |offsets|
  const uint64_t* offsets;          // of each row; NULL: |placement|
  const char* strategy;             // which made |placement|; NULL: none
  const char* source;               // the file that is named; ""
  const char* title;                // NULL: |source|
  uint64_t capacity;                // STOW_NO_CAPACITY: none, the default
  bool reuse;                       // buffers may share bytes; true
  stow_str plan;  // where the rows are a plan, the text of |csv|: kinds and names are taken from
                  // it, and the bound is what it were if no row had an offset; empty: they are not
} stow_picture_rows;
STOW_API void stow_picture_rows_defaults(stow_picture_rows* from);
static inline void stow_picture_rows_init(stow_picture_rows* from) {
  from->struct_size = sizeof(*from);
  stow_picture_rows_defaults(from);
}

// STOW_ERR_LIMIT where a size or a step is 2^53 or more: pictures are read by programs whose
// numbers are doubles. O(n log n).
STOW_API stow_status stow_picture_from_plan(const stow_picture_plan* from, stow_allocator allocator,
                                            stow_diag* diag, stow_picture** out_picture);
STOW_API stow_status stow_picture_from_rows(const stow_picture_rows* from, stow_allocator allocator,
                                            stow_diag* diag, stow_picture** out_picture);
STOW_API void stow_picture_destroy(stow_picture* picture);

// Compares |picture| with |then|, which must outlive it: whatever is written of it says, too, what
// changed. At most once.
STOW_API stow_status stow_picture_compare(stow_picture* picture, const stow_picture* then,
                                          stow_diag* diag);

typedef enum stow_picture_format {
  STOW_PICTURE_HTML = 0,   // one page that needs nothing else
  STOW_PICTURE_JSON = 1,   // its data
  STOW_PICTURE_SVG = 2,    // for papers
  STOW_PICTURE_TEXT = 3,   // for terminals
  STOW_PICTURE_TRACE = 4,  // Trace Event Format
} stow_picture_format;
// |options| may be NULL. A write's status where that fails. The same picture gives the same bytes.
STOW_API stow_status stow_picture_write(const stow_picture* picture, stow_picture_format format,
                                        const stow_report_options* options, stow_writer writer,
                                        stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// Differences

typedef struct stow_diff stow_diff;

// How much the arena may grow before it is too large: the larger of both.
typedef struct stow_growth {
  uint64_t bytes;
  uint64_t millionths;  // of what it was
} stow_growth;

// Both pictures must outlive the difference. Tensors are paired by name, those without one by their
// place among their neighbours. O(n log n).
STOW_API stow_status stow_diff_create(const stow_picture* then, const stow_picture* now,
                                      stow_growth allowed, stow_allocator allocator,
                                      stow_diag* diag, stow_diff** out_diff);
STOW_API void stow_diff_destroy(stow_diff* diff);
// Whether the arena grew by more than is allowed.
STOW_API bool stow_diff_is_too_large(const stow_diff* diff);

typedef enum stow_diff_format { STOW_DIFF_TEXT = 0, STOW_DIFF_JSON = 1 } stow_diff_format;
// As stow_picture_write.
STOW_API stow_status stow_diff_write(const stow_diff* diff, stow_diff_format format,
                                     const stow_report_options* options, stow_writer writer,
                                     stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_REPORT_H_
