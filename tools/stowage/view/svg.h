// The parts of a static picture: where things lie on it, and numbers and text as SVG has them.
#ifndef STOWAGE_TOOLS_VIEW_SVG_H_
#define STOWAGE_TOOLS_VIEW_SVG_H_

#include "groups.h"
#include "make.h"

// Lengths are in hundredths of a pixel.
#define CLI_SVG_LEFT 8600
#define CLI_SVG_WIDTH 109000  // of both plots
#define CLI_SVG_TOP 7400
#define CLI_SVG_HEIGHT 46000  // of the arena
#define CLI_SVG_LOAD_TOP 58000
#define CLI_SVG_LOAD_HEIGHT 13000

typedef struct cli_svg {
  const cli_view* view;
  const cli_view_groups* groups;
  cli_output* output;
  uint64_t first;  // step at the left end
  uint64_t top;    // bytes at the upper end of both plots
} cli_svg;

int64_t cli_svg_x(const cli_svg* svg, uint64_t step);
int64_t cli_svg_y(const cli_svg* svg, uint64_t offset);      // in the arena
int64_t cli_svg_load_y(const cli_svg* svg, uint64_t bytes);  // in the load

// "12.34", without zeros at the end.
#define CLI_SVG_NUMBER_SIZE 32
const char* cli_svg_number(int64_t length, char out[CLI_SVG_NUMBER_SIZE]);
// A move to a point, a line to one: `M1 2`, `L1 2`.
void cli_svg_point(const cli_svg* svg, char command, int64_t x, int64_t y);
void cli_svg_rectangle(const cli_svg* svg, int64_t x, int64_t y, int64_t width, int64_t height);
// |text| as the content of an element.
void cli_svg_text(const cli_svg* svg, const char* text);

// Names that fit; no two that are cut are the same.
typedef struct cli_svg_names {
  const cli_view* view;
  stow_str prefix;  // what most begin with
  cli_list all;     // stow_str: without it
  cli_view taken;   // its strings
} cli_svg_names;
// End with cli_svg_names_end. |names->taken.broken| says that memory was out.
void cli_svg_names_start(cli_svg_names* names, const cli_view* view);
void cli_svg_names_end(cli_svg_names* names);
// To be called for all buffers that may show a name, before any name is asked for.
void cli_svg_names_add(cli_svg_names* names, size_t buffer);
// At most |width| columns, which are not 0. False where it had to be cut to
// what another name became, or memory is out.
bool cli_svg_name(cli_svg_names* names, size_t buffer, size_t width, char out[CLI_VIEW_LABEL_SIZE]);

// Everything inside the arena's frame. Complains where memory is out.
cli_exit cli_svg_draw_buffers(const cli_svg* svg);

#endif  // STOWAGE_TOOLS_VIEW_SVG_H_
