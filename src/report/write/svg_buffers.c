// Buffers in the static picture. What is large enough to be looked at gets a shape of its own, with
// a tooltip and, where it fits, its name: a rectangle, or stairs where it has windows. What is
// small joins one path per group. What is thinner than a pixel is counted in a grid of coarse
// cells, and drawn as shades of these: so the file stays below a few megabytes however many buffers
// there are.
#include <inttypes.h>
#include <string.h>

#include "report/write/svg.h"

#define OWN_AREA 300000  // in hundredths by hundredths: 30 square pixels
#define THIN 100         // a pixel
#define CELL 200         // of the grid
#define GRID_COLUMNS (STOWI_REPORT_SVG_WIDTH / CELL)
#define GRID_ROWS (STOWI_REPORT_SVG_HEIGHT / CELL)
#define LEVELS 4

typedef struct box {
  int64_t x;
  int64_t y;
  int64_t width;
  int64_t height;
} box;

typedef struct grid {
  uint16_t filled[STOWI_REPORT_PICTURE_GROUPS_MAX][GRID_ROWS]
                 [GRID_COLUMNS];  // of CELL * CELL, cut off there
  bool used[STOWI_REPORT_PICTURE_GROUPS_MAX];
} grid;

typedef STOWI_VEC(stowi_report_picture_piece) piece_list;

static const char* colour_of(const stowi_report_svg* svg, size_t group) {
  return svg->groups->groups[group].colour;
}

static box box_of(const stowi_report_svg* svg, uint64_t begin, uint64_t end, uint64_t low,
                  uint64_t high) {
  box b = {.x = stowi_report_svg_x(svg, begin), .y = stowi_report_svg_y(svg, high)};
  b.width = stowi_report_svg_x(svg, end) - b.x;
  b.height = stowi_report_svg_y(svg, low) - b.y;
  return b;
}

static box whole_of(const stowi_report_svg* svg, const stowi_report_picture_buffer* b) {
  return box_of(svg, b->begin, b->end, b->offset, b->offset + b->size + b->guard);
}

static bool is_thin(box b) { return b.width < THIN || b.height < THIN; }

static bool is_own(box b) { return !is_thin(b) && b.width * b.height >= OWN_AREA; }

// ---------------------------------------------------------------------------------------------
// Large ones

// One piece, or the outline of pieces that follow each other without a gap: along the tops and back
// along the bottoms.
static bool print_outline(const stowi_report_svg* svg, size_t buffer, piece_list* pieces) {
  stowi_report_picture_cursor cursor = stowi_report_picture_pieces(svg->picture, buffer);
  stowi_report_picture_piece piece;
  bool more = stowi_report_picture_next_piece(svg->picture, buffer, &cursor, &piece);
  while (more) {
    pieces->count = 0;
    do {
      if (STOWI_VEC_RESERVE(svg->picture->allocator, pieces, 1) != STOW_OK) {
        return false;
      }
      pieces->data[pieces->count++] = piece;
      more = stowi_report_picture_next_piece(svg->picture, buffer, &cursor, &piece);
    } while (more && piece.begin == pieces->data[pieces->count - 1].end);
    const stowi_report_picture_piece* run = pieces->data;
    for (size_t i = 0; i < pieces->count; ++i) {
      int64_t y = stowi_report_svg_y(svg, run[i].high);
      stowi_report_svg_point(svg, i == 0 ? 'M' : 'L', stowi_report_svg_x(svg, run[i].begin), y);
      stowi_report_svg_point(svg, 'L', stowi_report_svg_x(svg, run[i].end), y);
    }
    for (size_t i = pieces->count; i-- > 0;) {
      int64_t y = stowi_report_svg_y(svg, run[i].low);
      stowi_report_svg_point(svg, 'L', stowi_report_svg_x(svg, run[i].end), y);
      stowi_report_svg_point(svg, 'L', stowi_report_svg_x(svg, run[i].begin), y);
    }
    stowi_report_out_print(svg->out, "z");
  }
  return true;
}

static void print_tooltip(const stowi_report_svg* svg, size_t buffer) {
  const stowi_report_picture_buffer* b = &svg->picture->buffers.data[buffer];
  char name[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char op[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char type[STOWI_REPORT_PICTURE_LABEL_SIZE];
  stowi_report_picture_label(svg->picture, buffer, 250, name);
  stowi_report_picture_text_label(svg->picture, b->op, 40, op);
  stowi_report_picture_text_label(svg->picture, b->type, 40, type);
  stowi_report_out_print(svg->out, "<title>");
  stowi_report_svg_text(svg, name);
  stowi_report_out_print(svg->out,
                         "\n%s%s%s%s%" PRIu64 " bytes at %" PRIu64 ", steps %" PRIu64 "-%" PRIu64,
                         op, op[0] != '\0' ? " " : "", type, type[0] != '\0' ? "\n" : "", b->size,
                         b->offset, b->begin, b->end - 1);
  stowi_report_out_print(svg->out, "</title>");
}

// Where its name may stand: inside the first piece of its life. False where there is no room.
static bool name_box(const stowi_report_svg* svg, size_t buffer, box* out_box) {
  stowi_report_picture_cursor cursor = stowi_report_picture_pieces(svg->picture, buffer);
  stowi_report_picture_piece piece;
  if (!is_own(whole_of(svg, &svg->picture->buffers.data[buffer])) ||
      !stowi_report_picture_next_piece(svg->picture, buffer, &cursor, &piece)) {
    return false;
  }
  *out_box = box_of(svg, piece.begin, piece.end, piece.low, piece.high);
  return out_box->width >= 4600 && out_box->height >= 1300;
}

static void print_name(const stowi_report_svg* svg, size_t buffer, box b,
                       stowi_report_svg_names* names) {
  char x[STOWI_REPORT_SVG_NUMBER_SIZE];
  char y[STOWI_REPORT_SVG_NUMBER_SIZE];
  char name[STOWI_REPORT_PICTURE_LABEL_SIZE];
  if (!stowi_report_svg_name(names, buffer, (size_t)((b.width - 600) / 660), name)) {
    return;
  }
  stowi_report_out_print(
      svg->out, "<text x=\"%s\" y=\"%s\" fill=\"#10141a\" pointer-events=\"none\">",
      stowi_report_svg_number(b.x + 400, x), stowi_report_svg_number(b.y + b.height / 2 + 400, y));
  stowi_report_svg_text(svg, name);
  stowi_report_out_print(svg->out, "</text>\n");
}

static bool draw_names(const stowi_report_svg* svg) {
  stowi_report_svg_names names;
  box b;
  stowi_report_svg_names_start(&names, svg->picture);
  for (size_t i = 0; i < svg->picture->buffers.count; ++i) {
    if (name_box(svg, i, &b)) {
      stowi_report_svg_names_add(&names, i);
    }
  }
  for (size_t i = 0; i < svg->picture->buffers.count; ++i) {
    if (name_box(svg, i, &b)) {
      print_name(svg, i, b, &names);
    }
  }
  bool good = !names.broken;
  stowi_report_svg_names_end(&names);
  return good;
}

static void print_guard(const stowi_report_svg* svg, const stowi_report_picture_buffer* b) {
  uint64_t end = b->offset + b->size;
  bool reserved = b->kind == STOWI_REPORT_PICTURE_RESERVED;
  if (b->guard == 0 && !reserved) {
    return;
  }
  box guard = box_of(svg, b->begin, b->end, reserved ? b->offset : end, end + b->guard);
  if (guard.height > 0) {
    stowi_report_out_print(svg->out, "<path fill=\"url(#hatch)\" pointer-events=\"none\" d=\"");
    stowi_report_svg_rectangle(svg, guard.x, guard.y, guard.width, guard.height);
    stowi_report_out_print(svg->out, "\"/>\n");
  }
}

static bool draw_large(const stowi_report_svg* svg, size_t buffer, piece_list* pieces) {
  const stowi_report_picture_buffer* b = &svg->picture->buffers.data[buffer];
  stowi_report_out_print(svg->out, "<path fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
                         colour_of(svg, svg->groups->of[buffer]),
                         (b->flags & STOWI_REPORT_PICTURE_FIXED) != 0 ? "#222" : "#fff",
                         (b->flags & STOWI_REPORT_PICTURE_FIXED) != 0 ? ".8" : ".6");
  bool good = print_outline(svg, buffer, pieces);
  stowi_report_out_print(svg->out, "\">");
  print_tooltip(svg, buffer);
  stowi_report_out_print(svg->out, "</path>\n");
  print_guard(svg, b);
  return good;
}

// ---------------------------------------------------------------------------------------------
// Small and thin ones

static int64_t overlap(int64_t low, int64_t size, int64_t cell) {
  int64_t begin = low > cell * CELL ? low : cell * CELL;
  int64_t end = low + size < (cell + 1) * CELL ? low + size : (cell + 1) * CELL;
  return end > begin ? end - begin : 0;
}

static void add_to_grid(grid* g, size_t group, box b) {
  int64_t x = b.x - STOWI_REPORT_SVG_LEFT;
  int64_t y = b.y - STOWI_REPORT_SVG_TOP;
  int64_t width = b.width > 0 ? b.width : 1;
  int64_t height = b.height > 0 ? b.height : 1;
  for (int64_t row = y / CELL; row < GRID_ROWS && row * CELL < y + height; ++row) {
    int64_t part = overlap(y, height, row);
    for (int64_t column = x / CELL; column < GRID_COLUMNS && column * CELL < x + width; ++column) {
      int64_t area = part * overlap(x, width, column);
      uint16_t* cell = &g->filled[group][row][column];
      int64_t sum = *cell + (area > 0 ? area : 1);
      *cell = (uint16_t)(sum > CELL * CELL ? CELL * CELL : sum);
      g->used[group] = true;
    }
  }
}

// How dark a cell is: 0 … LEVELS.
static int level_of(const grid* g, size_t group, int row, int column) {
  int filled = g->filled[group][row][column];
  return filled == 0 ? 0 : 1 + (filled - 1) * LEVELS / (CELL * CELL);
}

static void draw_shade(const stowi_report_svg* svg, const grid* g, size_t group, int level) {
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
        stowi_report_out_print(svg->out, "<path fill=\"%s\" fill-opacity=\".%d\" d=\"",
                               colour_of(svg, group), 15 + 80 * (level - 1) / (LEVELS - 1));
      }
      any = true;
      stowi_report_svg_rectangle(svg, STOWI_REPORT_SVG_LEFT + from * CELL,
                                 STOWI_REPORT_SVG_TOP + row * CELL, (column - from) * CELL, CELL);
    }
  }
  stowi_report_out_print(svg->out, any ? "\"/>\n" : "");
}

static void draw_shades(const stowi_report_svg* svg, const grid* g) {
  for (size_t group = 0; group < svg->groups->count; ++group) {
    for (int level = 1; level <= LEVELS && g->used[group]; ++level) {
      draw_shade(svg, g, group, level);
    }
  }
}

// One path with all small shapes of a group; the thin ones go to the grid.
static void draw_small(const stowi_report_svg* svg, size_t group, grid* g) {
  const stowi_report_picture_buffer* buffers = svg->picture->buffers.data;
  bool any = false;
  for (size_t i = 0; i < svg->picture->buffers.count; ++i) {
    stowi_report_picture_cursor cursor = stowi_report_picture_pieces(svg->picture, i);
    stowi_report_picture_piece piece;
    if (svg->groups->of[i] != group || is_own(whole_of(svg, &buffers[i]))) {
      continue;
    }
    while (stowi_report_picture_next_piece(svg->picture, i, &cursor, &piece)) {
      box b = box_of(svg, piece.begin, piece.end, piece.low, piece.high);
      if (piece.end <= svg->first) {
        continue;
      }
      if (is_thin(b)) {
        add_to_grid(g, group, b);
        continue;
      }
      stowi_report_out_print(svg->out, "%s",
                             any ? "" : "<path stroke=\"#fff\" stroke-width=\".3\" fill=\"");
      if (!any) {
        stowi_report_out_print(svg->out, "%s\" d=\"", colour_of(svg, group));
      }
      any = true;
      stowi_report_svg_rectangle(svg, b.x, b.y, b.width, b.height);
    }
  }
  stowi_report_out_print(svg->out, any ? "\"/>\n" : "");
}

// ---------------------------------------------------------------------------------------------
// What lies inside, and what changed

// Of concats in concats only the parts are: they fill it.
static bool is_outlined(const stow_picture* picture, const stowi_report_picture_value* value) {
  bool is_concat =
      stow_str_equal(stowi_report_picture_str(picture, value->op), stow_str_of("concat"));
  return value->how == STOWI_REPORT_PICTURE_IN_PLACE ||
         (value->how == STOWI_REPORT_PICTURE_ELIDED && !is_concat);
}

static void draw_values(const stowi_report_svg* svg) {
  const stowi_report_picture_value* values = svg->picture->values.data;
  bool any = false;
  for (size_t i = 0; i < svg->picture->values.count; ++i) {
    uint64_t low = svg->picture->buffers.data[values[i].buffer].offset + values[i].low;
    box b = box_of(svg, values[i].begin, values[i].end, low, low + values[i].size);
    if (!is_outlined(svg->picture, &values[i]) || b.width < 300 || b.height < 300) {
      continue;
    }
    stowi_report_out_print(
        svg->out, "%s",
        any ? ""
            : "<path fill=\"none\" stroke=\"#222\" stroke-width=\".7\" stroke-dasharray=\"2 "
              "1.5\" pointer-events=\"none\" d=\"");
    any = true;
    stowi_report_svg_rectangle(svg, b.x, b.y, b.width, b.height);
  }
  stowi_report_out_print(svg->out, any ? "\"/>\n" : "");
}

static void draw_rings(const stowi_report_svg* svg) {
  const stowi_report_picture_ring* rings = svg->picture->rings.data;
  bool any = false;
  for (size_t i = 0; i < svg->picture->rings.count; ++i) {
    const stowi_report_picture_buffer* b = &svg->picture->buffers.data[rings[i].buffer];
    uint64_t low = b->offset + rings[i].low;
    box part = box_of(svg, b->begin, b->end, low, low + rings[i].size);
    int64_t whole = part.width;
    part.x += whole * (int64_t)rings[i].begin / 1000;
    part.width = whole * (int64_t)(rings[i].end - rings[i].begin) / 1000;
    if (part.width < 300 || part.height < 300) {
      continue;
    }
    stowi_report_out_print(svg->out, "%s",
                           any ? ""
                               : "<path fill=\"#fff\" fill-opacity=\".3\" stroke=\"#222\" "
                                 "stroke-width=\".4\" pointer-events=\"none\" d=\"");
    any = true;
    stowi_report_svg_rectangle(svg, part.x, part.y, part.width, part.height);
  }
  stowi_report_out_print(svg->out, any ? "\"/>\n" : "");
}

static void draw_changes(const stowi_report_svg* svg) {
  bool any = false;
  for (size_t i = 0; i < svg->picture->changes.count; ++i) {
    size_t now = svg->picture->changes.data[i].now;
    if (now == STOWI_REPORT_PICTURE_NOWHERE) {
      continue;
    }
    box b = whole_of(svg, &svg->picture->buffers.data[now]);
    if (b.width >= THIN && b.height >= THIN) {
      stowi_report_out_print(svg->out, "%s",
                             any ? ""
                                 : "<path fill=\"none\" stroke=\"#c00\" stroke-width=\"1.5\" "
                                   "pointer-events=\"none\" d=\"");
      any = true;
      stowi_report_svg_rectangle(svg, b.x, b.y, b.width, b.height);
    }
  }
  stowi_report_out_print(svg->out, any ? "\"/>\n" : "");
}

stow_status stowi_report_svg_draw_buffers(const stowi_report_svg* svg) {
  const stow_picture* picture = svg->picture;
  piece_list pieces = {0};
  grid* g = STOWI_NEW(picture->allocator, grid);
  bool good = g != NULL;
  for (size_t group = 0; group < svg->groups->count && good; ++group) {
    draw_small(svg, group, g);
  }
  if (good) {
    draw_shades(svg, g);
  }
  for (size_t i = 0; i < picture->buffers.count && good; ++i) {
    good = !is_own(whole_of(svg, &picture->buffers.data[i])) || draw_large(svg, i, &pieces);
  }
  draw_values(svg);
  draw_rings(svg);
  good = good && draw_names(svg);
  draw_changes(svg);
  STOWI_DELETE(picture->allocator, g);
  STOWI_VEC_FREE(picture->allocator, &pieces);
  return good ? STOW_OK : STOW_ERR_OUT_OF_MEMORY;
}
