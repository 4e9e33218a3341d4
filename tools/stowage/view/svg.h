// The parts of a static picture: where things lie on it, and numbers and text as SVG has them.
#ifndef STOWAGE_TOOLS_VIEW_SVG_H_
#define STOWAGE_TOOLS_VIEW_SVG_H_

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
  cli_output* output;
  uint64_t first;  // step at the left end
  uint64_t top;    // bytes at the upper end of both plots
} cli_svg;

const char* cli_svg_colour(size_t kind);

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

// Everything inside the arena's frame. Complains where memory is out.
cli_exit cli_svg_draw_buffers(const cli_svg* svg);

#endif  // STOWAGE_TOOLS_VIEW_SVG_H_
