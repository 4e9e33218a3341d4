// The parts of a static picture: where things lie on it, and numbers and text as SVG has them.
#ifndef STOWAGE_SRC_REPORT_WRITE_SVG_H_
#define STOWAGE_SRC_REPORT_WRITE_SVG_H_

#include "report/picture/picture.h"
#include "report/write/groups.h"

// Lengths are in hundredths of a pixel.
#define STOWI_REPORT_SVG_LEFT 8600
#define STOWI_REPORT_SVG_WIDTH 109000  // of both plots
#define STOWI_REPORT_SVG_TOP 7400
#define STOWI_REPORT_SVG_HEIGHT 46000  // of the arena
#define STOWI_REPORT_SVG_LOAD_TOP 58000
#define STOWI_REPORT_SVG_LOAD_HEIGHT 13000

typedef struct stowi_report_svg {
  const stow_picture* picture;
  const stowi_report_picture_groups* groups;
  stowi_report_out* out;
  uint64_t first;  // step at the left end
  uint64_t top;    // bytes at the upper end of both plots
} stowi_report_svg;

int64_t stowi_report_svg_x(const stowi_report_svg* svg, uint64_t step);
int64_t stowi_report_svg_y(const stowi_report_svg* svg, uint64_t offset);      // in the arena
int64_t stowi_report_svg_load_y(const stowi_report_svg* svg, uint64_t bytes);  // in the load

// "12.34", without zeros at the end.
#define STOWI_REPORT_SVG_NUMBER_SIZE 32
const char* stowi_report_svg_number(int64_t length, char out[STOWI_REPORT_SVG_NUMBER_SIZE]);
// A move to a point, a line to one: `M1 2`, `L1 2`.
void stowi_report_svg_point(const stowi_report_svg* svg, char command, int64_t x, int64_t y);
void stowi_report_svg_rectangle(const stowi_report_svg* svg, int64_t x, int64_t y, int64_t width,
                                int64_t height);
// |text| as the content of an element.
void stowi_report_svg_text(const stowi_report_svg* svg, const char* text);

// Names that fit; no two that are cut are the same.
typedef struct stowi_report_svg_names {
  const stow_picture* picture;
  stow_str prefix;          // what most begin with
  STOWI_VEC(stow_str) all;  // without it
  stowi_report_strings taken;
  stow_allocator allocator;
  bool broken;  // memory was out
} stowi_report_svg_names;
// End with stowi_report_svg_names_end.
void stowi_report_svg_names_start(stowi_report_svg_names* names, const stow_picture* picture);
void stowi_report_svg_names_end(stowi_report_svg_names* names);
// To be called for all buffers that may show a name, before any name is asked for.
void stowi_report_svg_names_add(stowi_report_svg_names* names, size_t buffer);
// At most |width| columns, which are not 0. False where it had to be cut to
// what another name became, or memory is out.
bool stowi_report_svg_name(stowi_report_svg_names* names, size_t buffer, size_t width,
                           char out[STOWI_REPORT_PICTURE_LABEL_SIZE]);

// Everything inside the arena's frame.
stow_status stowi_report_svg_draw_buffers(const stowi_report_svg* svg);

#endif  // STOWAGE_SRC_REPORT_WRITE_SVG_H_
