// Reports: a plan as a picture or as data, and the differences of two plans. A library of its own,
// libstowage-report.
//
// A picture holds everything that can be drawn of a plan: buffers over time, the values in them,
// the load and its peak. It is made from a graph and its plan, from a formula plan, or from rows
// and their placement, and refers to none of them afterwards. All formats are written from it: a
// page for browsers, SVG for papers, text for terminals, a trace for ui.perfetto.dev, and JSON
// (docs/view-format.md). A diff compares two pictures of any origin and is written as text, JSON or
// Markdown (docs/diff.md); it borrows both.
//
// Output goes to a stow_writer, so this library opens no files. Pictures and diffs are not changed
// by writing them; threads may write the same one at the same time. Plans are drawn as they are:
// check them first (stow_plan_check).
//
//     #include <stowage/report.h>
//
//     // Writes the plan of |graph| as SVG.
//     stow_status draw(const stow_graph* graph, const stow_effects* effects, const stow_plan* plan,
//                      stow_writer writer, stow_diag* diag) {
//       stow_picture* picture = NULL;
//       stow_picture_plan from;
//       stow_picture_plan_init(&from);
//       from.graph = graph;
//       from.plan = plan;
//       from.effects = effects;
//       stow_status status =
//           stow_picture_from_plan(&from, stow_allocator_default(), diag, &picture);
//       if (status == STOW_OK)
//         status = stow_picture_write(picture, STOW_PICTURE_SVG, NULL, writer, diag);
//       stow_picture_destroy(picture);
//       return status;
//     }
#ifndef STOWAGE_REPORT_H_
#define STOWAGE_REPORT_H_

#include <stowage/csv.h>
#include <stowage/effects.h>
#include <stowage/formula.h>
#include <stowage/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

// How reports are written. Comments give the defaults.
typedef struct stow_report_options {
  size_t struct_size;  // written by stow_report_options_init
  size_t width;        // columns of text; 80
  bool colours;        // text has colours of terminals; false
  bool all;            // lists in the text of a diff are complete; false
} stow_report_options;
STOW_API void stow_report_options_defaults(stow_report_options* options);
static inline void stow_report_options_init(stow_report_options* options) {
  options->struct_size = sizeof(*options);
  stow_report_options_defaults(options);
}

// ---------------------------------------------------------------------------------------------
// Pictures

typedef struct stow_picture stow_picture;

// What pictures are made from. Init functions write every field; comments give the defaults.
// Everything is borrowed for the call only.
typedef struct stow_picture_plan {
  size_t struct_size;           // written by stow_picture_plan_init
  const stow_graph* graph;      // required, as are |plan| and |effects|
  const stow_plan* plan;        // of |graph|
  const stow_effects* effects;  // with which it was made
  const char* source;           // file name to show; ""
  const char* title;            // NULL: the graph's name
  bool is_model;                // the graph was imported; false
  bool has_shared_params;       // the offsets of params come from another plan; false
  // Ring |index| in |bytes| of scratch of |node|, as stow_prepared_ring of exec.h says; false past
  // the end. NULL: rings are not drawn
  bool (*ring)(const void* user, stow_node node, uint64_t bytes, size_t index, stow_ring* out_ring);
  const void* ring_user;  // of |ring|; NULL
} stow_picture_plan;
STOW_API void stow_picture_plan_defaults(stow_picture_plan* from);
static inline void stow_picture_plan_init(stow_picture_plan* from) {
  from->struct_size = sizeof(*from);
  stow_picture_plan_defaults(from);
}

typedef struct stow_picture_formula {
  size_t struct_size;
  const stow_formula* formula;   // required
  stow_formula_effects effects;  // with which it was made; `with` clauses
  size_t point;                  // which is drawn; SIZE_MAX: the one with the largest arena
  bool is_one_point;             // page and data have that point only, no curves; false
  const char* source;            // file name to show; ""
  const char* title;             // NULL: the graph's name
  bool is_model;                 // the graph was imported; false
} stow_picture_formula;
STOW_API void stow_picture_formula_defaults(stow_picture_formula* from);
static inline void stow_picture_formula_init(stow_picture_formula* from) {
  from->struct_size = sizeof(*from);
  stow_picture_formula_defaults(from);
}

typedef struct stow_picture_rows {
  size_t struct_size;
  const stow_csv* csv;
  const stow_placement* placement;  // of all rows; NULL: |offsets|
  const uint64_t* offsets;          // of each row; NULL: |placement|
  const char* strategy;             // name of the strategy of |placement|; NULL: none
  const char* source;               // file name to show; ""
  const char* title;                // NULL: |source|
  uint64_t capacity;                // bytes; STOW_NO_CAPACITY
  bool reuse;                       // buffers may share bytes; true
  stow_str plan;  // if the rows are a plan, the text of |csv|: kinds and names are taken from it,
                  // and the bound is computed as if no row had an offset; empty: they are not
} stow_picture_rows;
STOW_API void stow_picture_rows_defaults(stow_picture_rows* from);
static inline void stow_picture_rows_init(stow_picture_rows* from) {
  from->struct_size = sizeof(*from);
  stow_picture_rows_defaults(from);
}

// Make a picture. STOW_ERR_LIMIT if a size or step is 2^53 or more, because numbers are doubles in
// programs that read pictures. Free the result with stow_picture_destroy. O(n log n), for each
// point of a formula plan; of more than 2,048 points only some are drawn.
STOW_API stow_status stow_picture_from_plan(const stow_picture_plan* from, stow_allocator allocator,
                                            stow_diag* diag, stow_picture** out_picture);
STOW_API stow_status stow_picture_from_formula(const stow_picture_formula* from,
                                               stow_allocator allocator, stow_diag* diag,
                                               stow_picture** out_picture);
STOW_API stow_status stow_picture_from_rows(const stow_picture_rows* from, stow_allocator allocator,
                                            stow_diag* diag, stow_picture** out_picture);
STOW_API void stow_picture_destroy(stow_picture* picture);

// Adds a comparison with |then|, an earlier picture, which must outlive |picture|: all formats then
// show what changed. At most once per picture, and not with curves: STOW_ERR_INVALID_ARGUMENT.
STOW_API stow_status stow_picture_compare(stow_picture* picture, const stow_picture* then,
                                          stow_diag* diag);

typedef enum stow_picture_format {
  STOW_PICTURE_HTML = 0,   // a self-contained page
  STOW_PICTURE_JSON = 1,   // the data of the page
  STOW_PICTURE_SVG = 2,    // for papers
  STOW_PICTURE_TEXT = 3,   // for terminals
  STOW_PICTURE_TRACE = 4,  // Trace Event Format
} stow_picture_format;
// |options| may be NULL. Returns the status of a failed write. The same picture gives the same
// bytes.
STOW_API stow_status stow_picture_write(const stow_picture* picture, stow_picture_format format,
                                        const stow_report_options* options, stow_writer writer,
                                        stow_diag* diag);

// ---------------------------------------------------------------------------------------------
// Differences

typedef struct stow_diff stow_diff;

// How much the arena may grow; the larger of both counts.
typedef struct stow_growth {
  uint64_t bytes;
  uint64_t millionths;  // of the earlier arena
} stow_growth;

// Compares an earlier picture with a later one; both must outlive the result. Tensors are paired by
// name, unnamed ones by their position among their neighbours. Free the result with
// stow_diff_destroy. O(n log n).
STOW_API stow_status stow_diff_create(const stow_picture* then, const stow_picture* now,
                                      stow_growth allowed, stow_allocator allocator,
                                      stow_diag* diag, stow_diff** out_diff);
STOW_API void stow_diff_destroy(stow_diff* diff);
// Whether the arena grew by more than |allowed| of stow_diff_create.
STOW_API bool stow_diff_is_too_large(const stow_diff* diff);

typedef enum stow_diff_format {
  STOW_DIFF_TEXT = 0,
  STOW_DIFF_JSON = 1,
  STOW_DIFF_MARKDOWN = 2,  // for a comment on a change: tables that GitHub and GitLab render
} stow_diff_format;
// Writes the differences. |options| and errors as in stow_picture_write.
STOW_API stow_status stow_diff_write(const stow_diff* diff, stow_diff_format format,
                                     const stow_report_options* options, stow_writer writer,
                                     stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_REPORT_H_
