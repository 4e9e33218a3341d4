// Buffers in the static picture. What is large enough to be looked at gets a shape of its own, with
// a tooltip and, where it fits, its name: a rectangle, or stairs where it has windows. What is
// small joins one path per group. What is thinner than a pixel is counted in a grid of coarse
// cells, and drawn as shades of these: so the file stays below a few megabytes however many buffers
// there are.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "number.h"
#include "svg.h"
#include "text.h"

#define OWN_AREA 300000  // in hundredths by hundredths: 30 square pixels
#define THIN 100         // a pixel
#define CELL 200         // of the grid
#define GRID_COLUMNS (CLI_SVG_WIDTH / CELL)
#define GRID_ROWS (CLI_SVG_HEIGHT / CELL)
#define LEVELS 4

typedef struct box {
  int64_t x;
  int64_t y;
  int64_t width;
  int64_t height;
} box;

typedef struct grid {
  uint16_t filled[CLI_VIEW_GROUPS_MAX][GRID_ROWS][GRID_COLUMNS];  // of CELL * CELL, cut off there
  bool used[CLI_VIEW_GROUPS_MAX];
} grid;

static const char* colour_of(const cli_svg* svg, size_t group) {
  return svg->groups->groups[group].colour;
}

static box box_of(const cli_svg* svg, uint64_t begin, uint64_t end, uint64_t low, uint64_t high) {
  box b = {.x = cli_svg_x(svg, begin), .y = cli_svg_y(svg, high)};
  b.width = cli_svg_x(svg, end) - b.x;
  b.height = cli_svg_y(svg, low) - b.y;
  return b;
}

static box whole_of(const cli_svg* svg, const cli_view_buffer* b) {
  return box_of(svg, b->begin, b->end, b->offset, b->offset + b->size + b->guard);
}

static bool is_thin(box b) { return b.width < THIN || b.height < THIN; }

static bool is_own(box b) { return !is_thin(b) && b.width * b.height >= OWN_AREA; }

// ---------------------------------------------------------------------------------------------
// Large ones

// One piece, or the outline of pieces that follow each other without a gap: along the tops and back
// along the bottoms.
static bool print_outline(const cli_svg* svg, size_t buffer, cli_list* pieces) {
  cli_view_cursor cursor = cli_view_pieces(svg->view, buffer);
  cli_view_piece piece;
  bool more = cli_view_next_piece(svg->view, buffer, &cursor, &piece);
  while (more) {
    pieces->count = 0;
    do {
      if (!cli_list_add(pieces, &piece, sizeof piece)) {
        return false;
      }
      more = cli_view_next_piece(svg->view, buffer, &cursor, &piece);
    } while (more && piece.begin == ((cli_view_piece*)pieces->items)[pieces->count - 1].end);
    const cli_view_piece* run = pieces->items;
    for (size_t i = 0; i < pieces->count; ++i) {
      int64_t y = cli_svg_y(svg, run[i].high);
      cli_svg_point(svg, i == 0 ? 'M' : 'L', cli_svg_x(svg, run[i].begin), y);
      cli_svg_point(svg, 'L', cli_svg_x(svg, run[i].end), y);
    }
    for (size_t i = pieces->count; i-- > 0;) {
      int64_t y = cli_svg_y(svg, run[i].low);
      cli_svg_point(svg, 'L', cli_svg_x(svg, run[i].end), y);
      cli_svg_point(svg, 'L', cli_svg_x(svg, run[i].begin), y);
    }
    cli_print(svg->output, "z");
  }
  return true;
}

static void print_tooltip(const cli_svg* svg, size_t buffer) {
  const cli_view_buffer* b = &cli_view_buffers(svg->view)[buffer];
  char name[CLI_VIEW_LABEL_SIZE];
  char op[CLI_VIEW_LABEL_SIZE];
  char type[CLI_VIEW_LABEL_SIZE];
  cli_view_label(svg->view, buffer, 250, name);
  cli_view_text_label(svg->view, b->op, 40, op);
  cli_view_text_label(svg->view, b->type, 40, type);
  cli_print(svg->output, "<title>");
  cli_svg_text(svg, name);
  cli_print(svg->output, "\n%s%s%s%s%" PRIu64 " bytes at %" PRIu64 ", steps %" PRIu64 "-%" PRIu64,
            op, op[0] != '\0' ? " " : "", type, type[0] != '\0' ? "\n" : "", b->size, b->offset,
            b->begin, b->end - 1);
  cli_print(svg->output, "</title>");
}

// Where its name may stand: inside the first piece of its life. False where there is no room.
static bool name_box(const cli_svg* svg, size_t buffer, box* out_box) {
  cli_view_cursor cursor = cli_view_pieces(svg->view, buffer);
  cli_view_piece piece;
  if (!is_own(whole_of(svg, &cli_view_buffers(svg->view)[buffer])) ||
      !cli_view_next_piece(svg->view, buffer, &cursor, &piece)) {
    return false;
  }
  *out_box = box_of(svg, piece.begin, piece.end, piece.low, piece.high);
  return out_box->width >= 4600 && out_box->height >= 1300;
}

static void print_name(const cli_svg* svg, size_t buffer, box b, cli_svg_names* names) {
  char x[CLI_SVG_NUMBER_SIZE];
  char y[CLI_SVG_NUMBER_SIZE];
  char name[CLI_VIEW_LABEL_SIZE];
  if (!cli_svg_name(names, buffer, (size_t)((b.width - 600) / 660), name)) {
    return;
  }
  cli_print(svg->output, "<text x=\"%s\" y=\"%s\" fill=\"#10141a\" pointer-events=\"none\">",
            cli_svg_number(b.x + 400, x), cli_svg_number(b.y + b.height / 2 + 400, y));
  cli_svg_text(svg, name);
  cli_print(svg->output, "</text>\n");
}

static bool draw_names(const cli_svg* svg) {
  cli_svg_names names;
  box b;
  cli_svg_names_start(&names, svg->view);
  for (size_t i = 0; i < svg->view->buffers.count; ++i) {
    if (name_box(svg, i, &b)) {
      cli_svg_names_add(&names, i);
    }
  }
  for (size_t i = 0; i < svg->view->buffers.count; ++i) {
    if (name_box(svg, i, &b)) {
      print_name(svg, i, b, &names);
    }
  }
  bool good = !names.taken.broken;
  cli_svg_names_end(&names);
  return good;
}

static void print_guard(const cli_svg* svg, const cli_view_buffer* b) {
  uint64_t end = b->offset + b->size;
  bool reserved = b->kind == CLI_VIEW_RESERVED;
  if (b->guard == 0 && !reserved) {
    return;
  }
  box guard = box_of(svg, b->begin, b->end, reserved ? b->offset : end, end + b->guard);
  if (guard.height > 0) {
    cli_print(svg->output, "<path fill=\"url(#hatch)\" pointer-events=\"none\" d=\"");
    cli_svg_rectangle(svg, guard.x, guard.y, guard.width, guard.height);
    cli_print(svg->output, "\"/>\n");
  }
}

static bool draw_large(const cli_svg* svg, size_t buffer, cli_list* pieces) {
  const cli_view_buffer* b = &cli_view_buffers(svg->view)[buffer];
  cli_print(svg->output, "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
            colour_of(svg, cli_view_group_of(svg->groups, buffer)),
            (b->flags & CLI_VIEW_FIXED) != 0 ? "#222" : "#fff",
            (b->flags & CLI_VIEW_FIXED) != 0 ? ".8" : ".6");
  bool good = print_outline(svg, buffer, pieces);
  cli_print(svg->output, "\">");
  print_tooltip(svg, buffer);
  cli_print(svg->output, "</path>\n");
  print_guard(svg, b);
  return good;
}

// ---------------------------------------------------------------------------------------------
// Small and thin ones

static void add_to_cell(grid* g, size_t group, int64_t row, int64_t column, int64_t area) {
  uint16_t* cell = &g->filled[group][row][column];
  int64_t sum = *cell + (area > 0 ? area : 1);
  *cell = (uint16_t)(sum > CELL * CELL ? CELL * CELL : sum);
  g->used[group] = true;
}

static int64_t overlap(int64_t low, int64_t size, int64_t cell) {
  int64_t begin = low > cell * CELL ? low : cell * CELL;
  int64_t end = low + size < (cell + 1) * CELL ? low + size : (cell + 1) * CELL;
  return end > begin ? end - begin : 0;
}

static void add_to_grid(grid* g, size_t group, box b) {
  int64_t x = b.x - CLI_SVG_LEFT;
  int64_t y = b.y - CLI_SVG_TOP;
  int64_t width = b.width > 0 ? b.width : 1;
  int64_t height = b.height > 0 ? b.height : 1;
  for (int64_t row = y / CELL; row < GRID_ROWS && row * CELL < y + height; ++row) {
    int64_t part = overlap(y, height, row);
    for (int64_t column = x / CELL; column < GRID_COLUMNS && column * CELL < x + width; ++column) {
      add_to_cell(g, group, row, column, part * overlap(x, width, column));
    }
  }
}

// How dark a cell is: 0 … LEVELS.
static int level_of(const grid* g, size_t group, int row, int column) {
  int filled = g->filled[group][row][column];
  return filled == 0 ? 0 : 1 + (filled - 1) * LEVELS / (CELL * CELL);
}

static void draw_shade(const cli_svg* svg, const grid* g, size_t group, int level) {
  bool any = false;
  for (int row = 0; row < GRID_ROWS; ++row) {
    for (int column = 0; column < GRID_COLUMNS;) {
      int from = column;
      while (column < GRID_COLUMNS && level_of(g, group, row, column) == level) {
        ++column;
      }
      if (column == from) {
        ++column;
        continue;
      }
      if (!any) {
        cli_print(svg->output, "<path fill=\"%s\" fill-opacity=\".%d\" d=\"", colour_of(svg, group),
                  15 + 80 * (level - 1) / (LEVELS - 1));
      }
      any = true;
      cli_svg_rectangle(svg, CLI_SVG_LEFT + from * CELL, CLI_SVG_TOP + row * CELL,
                        (column - from) * CELL, CELL);
    }
  }
  cli_print(svg->output, any ? "\"/>\n" : "");
}

static void draw_shades(const cli_svg* svg, const grid* g) {
  for (size_t group = 0; group < svg->groups->count; ++group) {
    for (int level = 1; level <= LEVELS && g->used[group]; ++level) {
      draw_shade(svg, g, group, level);
    }
  }
}

// One path with all small shapes of a group; the thin ones go to the grid.
static void draw_small(const cli_svg* svg, size_t group, grid* g) {
  const cli_view_buffer* buffers = cli_view_buffers(svg->view);
  bool any = false;
  for (size_t i = 0; i < svg->view->buffers.count; ++i) {
    cli_view_cursor cursor = cli_view_pieces(svg->view, i);
    cli_view_piece piece;
    if (cli_view_group_of(svg->groups, i) != group || is_own(whole_of(svg, &buffers[i]))) {
      continue;
    }
    while (cli_view_next_piece(svg->view, i, &cursor, &piece)) {
      box b = box_of(svg, piece.begin, piece.end, piece.low, piece.high);
      if (piece.end <= svg->first) {
        continue;
      }
      if (is_thin(b)) {
        add_to_grid(g, group, b);
        continue;
      }
      cli_print(svg->output, "%s", any ? "" : "<path stroke=\"#fff\" stroke-width=\".3\" fill=\"");
      if (!any) {
        cli_print(svg->output, "%s\" d=\"", colour_of(svg, group));
      }
      any = true;
      cli_svg_rectangle(svg, b.x, b.y, b.width, b.height);
    }
  }
  cli_print(svg->output, any ? "\"/>\n" : "");
}

// ---------------------------------------------------------------------------------------------
// What lies inside, and what changed

// Of concats in concats only the parts are: they fill it.
static bool is_outlined(const cli_view* view, const cli_view_value* value) {
  bool is_concat = stow_str_equal(cli_view_str(view, value->op), stow_str_of("concat"));
  return value->how == CLI_VIEW_IN_PLACE || (value->how == CLI_VIEW_AT_HOME && !is_concat);
}

static void draw_values(const cli_svg* svg) {
  const cli_view_value* values = cli_view_values(svg->view);
  bool any = false;
  for (size_t i = 0; i < svg->view->values.count; ++i) {
    uint64_t low = cli_view_buffers(svg->view)[values[i].buffer].offset + values[i].low;
    box b = box_of(svg, values[i].begin, values[i].end, low, low + values[i].size);
    if (!is_outlined(svg->view, &values[i]) || b.width < 300 || b.height < 300) {
      continue;
    }
    cli_print(svg->output, "%s",
              any ? ""
                  : "<path fill=\"none\" stroke=\"#222\" stroke-width=\".7\" stroke-dasharray=\"2 "
                    "1.5\" pointer-events=\"none\" d=\"");
    any = true;
    cli_svg_rectangle(svg, b.x, b.y, b.width, b.height);
  }
  cli_print(svg->output, any ? "\"/>\n" : "");
}

static void draw_changes(const cli_svg* svg) {
  bool any = false;
  for (size_t i = 0; i < svg->view->changes.count; ++i) {
    size_t now = cli_view_changes(svg->view)[i].now;
    if (now == CLI_VIEW_NOWHERE) {
      continue;
    }
    box b = whole_of(svg, &cli_view_buffers(svg->view)[now]);
    if (b.width >= THIN && b.height >= THIN) {
      cli_print(svg->output, "%s",
                any ? ""
                    : "<path fill=\"none\" stroke=\"#c00\" stroke-width=\"1.5\" "
                      "pointer-events=\"none\" d=\"");
      any = true;
      cli_svg_rectangle(svg, b.x, b.y, b.width, b.height);
    }
  }
  cli_print(svg->output, any ? "\"/>\n" : "");
}

cli_exit cli_svg_draw_buffers(const cli_svg* svg) {
  static const grid blank;
  const cli_view_buffer* buffers = cli_view_buffers(svg->view);
  cli_list grids = {0};
  cli_list pieces = {0};
  bool good = cli_list_add(&grids, &blank, sizeof blank);
  for (size_t group = 0; group < svg->groups->count && good; ++group) {
    draw_small(svg, group, grids.items);
  }
  if (good) {
    draw_shades(svg, grids.items);
  }
  for (size_t i = 0; i < svg->view->buffers.count && good; ++i) {
    good = !is_own(whole_of(svg, &buffers[i])) || draw_large(svg, i, &pieces);
  }
  draw_values(svg);
  good = good && draw_names(svg);
  draw_changes(svg);
  cli_list_free(&grids, sizeof blank);
  cli_list_free(&pieces, sizeof(cli_view_piece));
  return good ? CLI_YES : cli_fail_memory();
}
