// The picture in a terminal: time to the right, memory upwards. A cell stands for some steps and
// some bytes; it shows the buffer that has most of it, and how full it is. Without colours that is
// a letter for the largest buffers at the peak and a shade for all others; with colours each cell
// has two halves. All arithmetic is in integers: times are scaled by the columns and bytes by the
// rows, so that a cell's borders are whole numbers. O(buffers + cells they cover).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/api.h"
#include "report/picture/picture.h"

#define ROWS 16  // of text
#define LOAD_ROWS 3
#define MARGIN 11  // columns left of the picture
#define LEGEND 10  // largest buffers at the peak
#define MAX_COLUMNS 128
#define FULL 256  // of a cell's width or height
#define NOBODY SIZE_MAX
#define LIFE_SIZE 48

typedef struct cell {
  uint32_t filled;  // of FULL * FULL
  uint32_t most;    // of its owner
  size_t owner;
} cell;

typedef struct canvas {
  const stow_picture* picture;
  stowi_report_out* out;
  uint64_t first;  // step at the left end
  size_t columns;
  size_t rows;  // cells, two of which make a character where there are colours
  cell cells[MAX_COLUMNS][2 * ROWS];  // rows from the bottom
  uint64_t load[MAX_COLUMNS];         // the highest in each column
  size_t legend[LEGEND];
  size_t legend_count;
  size_t live_count;  // at the peak
} canvas;

// ---------------------------------------------------------------------------------------------
// Filling

static uint64_t span_of(const canvas* c) {
  uint64_t last = c->picture->facts.last_step;
  return last > c->first ? last - c->first : 1;
}

// Steps from the left end on.
static uint64_t after(const canvas* c, uint64_t step) {
  return step > c->first ? step - c->first : 0;
}

static uint64_t height_of(const canvas* c) {
  return c->picture->facts.arena > 0 ? c->picture->facts.arena : 1;
}

// How much of the cell [at * size, (at + 1) * size) lies in [low, high): of FULL, and at least 1.
static uint32_t part_of(uint64_t low, uint64_t high, size_t at, uint64_t size) {
  uint64_t begin = at * size > low ? at * size : low;
  uint64_t end = (at + 1) * size < high ? (at + 1) * size : high;
  uint64_t part = (end - begin) * FULL / size;
  return part > 0 ? (uint32_t)part : 1;
}

static void fill_piece(canvas* c, size_t buffer, const stowi_report_picture_piece* piece) {
  uint64_t span = span_of(c);
  uint64_t height = height_of(c);
  uint64_t left = after(c, piece->begin) * c->columns;
  uint64_t right = after(c, piece->end) * c->columns;
  uint64_t low = piece->low * c->rows;
  uint64_t high = piece->high * c->rows;
  for (size_t x = (size_t)(left / span); x < c->columns && x * span < right; ++x) {
    uint32_t width = part_of(left, right, x, span);
    for (size_t y = (size_t)(low / height); y < c->rows && y * height < high; ++y) {
      cell* at = &c->cells[x][y];
      uint32_t area = width * part_of(low, high, y, height);
      at->filled += area;
      if (area > at->most) {
        at->most = area;
        at->owner = buffer;
      }
    }
  }
}

static void fill_cells(canvas* c) {
  for (size_t x = 0; x < c->columns; ++x) {
    for (size_t y = 0; y < c->rows; ++y) {
      c->cells[x][y] = (cell){.owner = NOBODY};
    }
  }
  for (size_t i = 0; i < c->picture->buffers.count; ++i) {
    stowi_report_picture_cursor cursor = stowi_report_picture_pieces(c->picture, i);
    stowi_report_picture_piece piece;
    while (stowi_report_picture_next_piece(c->picture, i, &cursor, &piece)) {
      fill_piece(c, i, &piece);
    }
  }
}

static void fill_load(canvas* c) {
  const stowi_report_picture_level* levels = c->picture->levels.data;
  uint64_t span = span_of(c);
  for (size_t i = 0; i + 1 < c->picture->levels.count; ++i) {
    uint64_t left = after(c, levels[i].step) * c->columns;
    uint64_t right = after(c, levels[i + 1].step) * c->columns;
    for (size_t x = (size_t)(left / span); x < c->columns && x * span < right; ++x) {
      c->load[x] = levels[i].bytes > c->load[x] ? levels[i].bytes : c->load[x];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Colours: numbers of the palette of 256.

static size_t rank_of(const canvas* c, size_t buffer) {
  size_t rank = 0;
  while (rank < c->legend_count && c->legend[rank] != buffer) {
    ++rank;
  }
  return rank;
}

// What is not in the legend alternates between two shades of its kind, so that neighbours differ.
static int colour_of(const canvas* c, size_t buffer) {
  static const int ranks[LEGEND] = {39, 208, 76, 170, 220, 45, 203, 105, 150, 180};
  static const int kinds[STOWI_REPORT_PICTURE_KIND_COUNT][2] = {
      {25, 24}, {61, 60}, {66, 65}, {244, 240}, {131, 124}, {133, 90}, {237, 236}, {244, 240}};
  size_t rank = rank_of(c, buffer);
  return rank < c->legend_count ? ranks[rank]
                                : kinds[c->picture->buffers.data[buffer].kind][buffer % 2];
}

// A cell that is hardly used looks free.
static bool is_used(const cell* at) { return at->filled >= FULL * FULL / 8; }

static void print_halves(const canvas* c, const cell* upper, const cell* lower) {
  bool up = is_used(upper);
  bool down = is_used(lower);
  if (!up && !down) {
    stowi_report_out_print(c->out, "\x1B[0m ");
  } else if (up && down) {
    stowi_report_out_print(c->out, "\x1B[38;5;%d;48;5;%dm\xE2\x96\x80", colour_of(c, upper->owner),
                           colour_of(c, lower->owner));
  } else {
    stowi_report_out_print(c->out, "\x1B[0;38;5;%dm%s",
                           colour_of(c, up ? upper->owner : lower->owner),
                           up ? "\xE2\x96\x80" : "\xE2\x96\x84");
  }
}

// ---------------------------------------------------------------------------------------------
// Printing

static void print_shade(const canvas* c, const cell* at) {
  static const char* const shades[] = {" ", "\xE2\x96\x91", "\xE2\x96\x92", "\xE2\x96\x93",
                                       "\xE2\x96\x88"};
  size_t rank = at->owner == NOBODY ? LEGEND : rank_of(c, at->owner);
  if (rank < c->legend_count && 2 * at->most >= at->filled && at->most >= FULL * FULL / 4) {
    stowi_report_out_print(c->out, "%c", 'a' + (int)rank);
    return;
  }
  uint32_t filled = at->filled > FULL * FULL ? FULL * FULL : at->filled;
  size_t shade = filled == 0 ? 0 : 1 + (size_t)filled * 4 / (FULL * FULL + 1);
  stowi_report_out_print(c->out, "%s", shades[shade]);
}

// Four numbers above 0.
static stowi_report_scale scale_of(const canvas* c) {
  return stowi_report_scale_of(height_of(c), height_of(c) / 4 + (height_of(c) % 4 != 0));
}

static void print_axis(const canvas* c, uint64_t bytes, bool labelled) {
  char label[STOWI_REPORT_NUMBER] = "";
  if (labelled) {
    stowi_report_on_scale(scale_of(c), bytes, label);
  }
  stowi_report_out_print(c->out, "%*s %s", MARGIN - 2, label,
                         labelled ? "\xE2\x94\xA4" : "\xE2\x94\x82");
}

static void print_rows(const canvas* c) {
  for (size_t row = ROWS; row-- > 0;) {
    // Labels at the top and at each quarter.
    print_axis(c, height_of(c) / ROWS * (row + 1) + height_of(c) % ROWS * (row + 1) / ROWS,
               (row + 1) % (ROWS / 4) == 0);
    for (size_t x = 0; x < c->columns; ++x) {
      if (c->out->options.colours) {
        print_halves(c, &c->cells[x][2 * row + 1], &c->cells[x][2 * row]);
      } else {
        print_shade(c, &c->cells[x][row]);
      }
    }
    stowi_report_out_print(c->out, "%s\n", c->out->options.colours ? "\x1B[0m" : "");
  }
}

static size_t peak_column(const canvas* c) {
  uint64_t step = after(c, c->picture->facts.peak_step);
  // The middle of the step's columns.
  return (size_t)((2 * step + 1) * c->columns / (2 * span_of(c)));
}

static void print_peak_mark(const canvas* c, const char* mark) {
  stowi_report_out_print(c->out, "%*s%s\n", (int)(MARGIN + peak_column(c)), "", mark);
}

static void print_line(const canvas* c) {
  size_t peak = peak_column(c);
  char label[STOWI_REPORT_NUMBER];
  stowi_report_on_scale(scale_of(c), 0, label);
  stowi_report_out_print(c->out, "%*s \xE2\x94\x94", MARGIN - 2, label);
  for (size_t x = 0; x < c->columns; ++x) {
    stowi_report_out_print(c->out, x == peak ? "\xE2\x94\xB4" : "\xE2\x94\x80");
  }
  stowi_report_out_print(c->out, "\n");
}

// The load in eighths of a character, scaled as the picture above.
static void print_load(const canvas* c) {
  static const char* const eighths[] = {" ",
                                        "\xE2\x96\x81",
                                        "\xE2\x96\x82",
                                        "\xE2\x96\x83",
                                        "\xE2\x96\x84",
                                        "\xE2\x96\x85",
                                        "\xE2\x96\x86",
                                        "\xE2\x96\x87",
                                        "\xE2\x96\x88"};
  for (size_t row = LOAD_ROWS; row-- > 0;) {
    stowi_report_out_print(c->out, "%*s \xE2\x94\x82", MARGIN - 2,
                           row == LOAD_ROWS - 1 ? "load" : "");
    for (size_t x = 0; x < c->columns; ++x) {
      uint64_t height = c->load[x] * 8 * LOAD_ROWS / height_of(c);
      height = height == 0 && c->load[x] > 0 ? 1 : height;
      uint64_t above = height > 8 * row ? height - 8 * row : 0;
      stowi_report_out_print(c->out, "%s", eighths[above > 8 ? 8 : above]);
    }
    stowi_report_out_print(c->out, "\n");
  }
}

static void print_steps(const canvas* c) {
  const stowi_report_picture_facts* facts = &c->picture->facts;
  char first[STOWI_REPORT_NUMBER + 16];
  char peak[STOWI_REPORT_NUMBER + 16];
  char last[STOWI_REPORT_NUMBER + 16];
  snprintf(first, sizeof first, "%" PRIu64, c->first);
  snprintf(peak, sizeof peak, "peak: step %" PRIu64, facts->peak_step);
  snprintf(last, sizeof last, "%" PRIu64, facts->last_step - (facts->last_step > 0));
  size_t first_size = strlen(first);
  size_t peak_size = strlen(peak);
  size_t last_size = strlen(last);
  size_t at = peak_column(c) > peak_size / 2 ? peak_column(c) - peak_size / 2 : 0;
  size_t room = c->columns > last_size + peak_size + 1 ? c->columns - last_size - peak_size - 1 : 0;
  at = at > room ? room : at;
  at = at < first_size + 1 ? first_size + 1 : at;
  stowi_report_out_print(c->out, "%*s%s%*s%s", MARGIN, "", first, (int)(at - first_size), "", peak);
  size_t used = at + peak_size;
  if (used + last_size < c->columns) {
    stowi_report_out_print(c->out, "%*s%s", (int)(c->columns - used - last_size), "", last);
  }
  stowi_report_out_print(c->out, "\n");
}

static void print_capacity(const canvas* c) {
  const stowi_report_picture_facts* facts = &c->picture->facts;
  bool fits = facts->arena <= facts->capacity;
  char capacity[STOWI_REPORT_NUMBER];
  char rest[STOWI_REPORT_NUMBER];
  stowi_report_size(facts->capacity, capacity);
  stowi_report_size(fits ? facts->capacity - facts->arena : facts->arena - facts->capacity, rest);
  stowi_report_out_print(c->out, "capacity %s: %s%s%s\n", capacity,
                         fits ? "fits, " : "exceeded by ", rest, fits ? " to spare" : "");
}

static void print_title(const canvas* c) {
  const stowi_report_picture_facts* facts = &c->picture->facts;
  char title[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char arena[STOWI_REPORT_NUMBER];
  char bound[STOWI_REPORT_NUMBER];
  char peak[STOWI_REPORT_NUMBER];
  stowi_report_size(facts->arena, arena);
  stowi_report_size(facts->bound, bound);
  stowi_report_size(facts->peak_bytes, peak);
  stowi_report_picture_title(c->picture, c->out->options.width, title);
  stowi_report_out_print(c->out, "%s%s%s\n", c->out->options.colours ? "\x1B[1m" : "", title,
                         c->out->options.colours ? "\x1B[0m" : "");
  char line[256];
  snprintf(line, sizeof line, "arena %s, %s; lower bound %s; peak load %s", arena, facts->outcome,
           bound, peak);
  stowi_report_cut(line, c->out->options.width);
  stowi_report_out_print(c->out, "%s\n", line);
  if (facts->capacity != STOWI_REPORT_PICTURE_NO_NUMBER) {
    print_capacity(c);
  }
}

// ---------------------------------------------------------------------------------------------
// Below the picture

static int format_life(const canvas* c, size_t rank, char out[LIFE_SIZE]) {
  const stowi_report_picture_buffer* b = &c->picture->buffers.data[c->legend[rank]];
  return snprintf(out, LIFE_SIZE, "%" PRIu64 "-%" PRIu64, b->begin, b->end - 1);
}

static size_t widest_life(const canvas* c) {
  size_t widest = strlen("steps");
  for (size_t i = 0; i < c->legend_count; ++i) {
    char life[LIFE_SIZE];
    size_t width = (size_t)format_life(c, i, life);
    widest = width > widest ? width : widest;
  }
  return widest;
}

// Where there is no room for all columns, only the name and its bytes are shown.
#define FEW_COLUMNS 24
#define ALL_COLUMNS 39  // but for the lives
#define LEAST_NAME 16

static bool is_narrow(const canvas* c) {
  return c->out->options.width < ALL_COLUMNS + widest_life(c) + LEAST_NAME;
}

static size_t name_room(const canvas* c) {
  return c->out->options.width - (is_narrow(c) ? FEW_COLUMNS : ALL_COLUMNS + widest_life(c));
}

static void print_columns(const canvas* c, size_t room, const char* name, const char* op,
                          const char* size, const char* share, const char* life) {
  stowi_report_out_print(c->out, "%s%*s", name, (int)(room - stowi_report_width(name)), "");
  if (is_narrow(c)) {
    stowi_report_out_print(c->out, " %9s  %7s\n", size, share);
  } else {
    stowi_report_out_print(c->out, "  %-12s %9s  %7s  %s\n", op, size, share, life);
  }
}

static void print_entry(const canvas* c, size_t rank, size_t room) {
  const stowi_report_picture_facts* facts = &c->picture->facts;
  size_t buffer = c->legend[rank];
  const stowi_report_picture_buffer* b = &c->picture->buffers.data[buffer];
  uint64_t bytes = stowi_report_picture_occupied(c->picture, buffer, facts->peak_step);
  char size[STOWI_REPORT_NUMBER];
  char share[STOWI_REPORT_NUMBER];
  char life[LIFE_SIZE];
  char name[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char op[STOWI_REPORT_PICTURE_LABEL_SIZE];
  stowi_report_size(bytes, size);
  stowi_report_percent(bytes, facts->peak_bytes, share);
  format_life(c, rank, life);
  stowi_report_picture_text_label(c->picture, b->op, 12, op);
  stowi_report_picture_label(c->picture, buffer, room, name);
  if (c->out->options.colours) {
    stowi_report_out_print(c->out, "  \x1B[48;5;%d;38;5;16m%c\x1B[0m ",
                           colour_of(c, c->legend[rank]), 'a' + (int)rank);
  } else {
    stowi_report_out_print(c->out, "  %c ", 'a' + (int)rank);
  }
  print_columns(c, room, name,
                b->op == STOWI_REPORT_PICTURE_NONE ? stowi_report_picture_kind_text(b->kind) : op,
                size, share, life);
}

static void print_legend(const canvas* c) {
  if (c->legend_count == 0) {
    return;
  }
  size_t room = name_room(c);
  stowi_report_out_print(c->out, "\n    ");
  print_columns(c, room, room < 19 ? "largest" : "largest at the peak", "op", "bytes", "of peak",
                "steps");
  for (size_t i = 0; i < c->legend_count; ++i) {
    print_entry(c, i, room);
  }
  if (c->live_count > c->legend_count) {
    stowi_report_out_print(c->out, "    \xE2\x80\xA6 and %zu more\n",
                           c->live_count - c->legend_count);
  }
}

static void print_against(const canvas* c) {
  const stow_picture* then = c->picture->against;
  size_t counts[STOWI_REPORT_PICTURE_CHANGE_COUNT] = {0};
  char source[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char before[STOWI_REPORT_NUMBER];
  char now[STOWI_REPORT_NUMBER];
  if (then == NULL) {
    return;
  }
  for (size_t i = 0; i < c->picture->changes.count; ++i) {
    ++counts[c->picture->changes.data[i].change];
  }
  stowi_report_size(then->facts.arena, before);
  stowi_report_size(c->picture->facts.arena, now);
  stowi_report_picture_text_label(then, then->source, c->out->options.width - 10, source);
  stowi_report_out_print(c->out, "\nagainst %s\n    arena %s, was %s\n   ", source, now, before);
  for (size_t i = 0; i < STOWI_REPORT_PICTURE_CHANGE_COUNT; ++i) {
    stowi_report_out_print(c->out, "%s %zu %s", i == 0 ? "" : ",", counts[i],
                           stowi_report_picture_change_text(i));
  }
  stowi_report_out_print(c->out, "\n");
}

static void draw(canvas* c) {
  fill_cells(c);
  fill_load(c);
  c->live_count =
      stowi_report_picture_largest(c->picture, c->picture->facts.peak_step, c->legend, LEGEND);
  c->legend_count = c->live_count < LEGEND ? c->live_count : LEGEND;
  print_title(c);
  if (c->picture->buffers.count > 0) {
    print_peak_mark(c, "\xE2\x96\xBC");
    print_rows(c);
    print_line(c);
    print_load(c);
    print_steps(c);
  }
  print_legend(c);
  print_against(c);
}

void stowi_report_picture_write_ascii(const stow_picture* picture, stowi_report_out* out) {
  canvas* c = STOWI_NEW(picture->allocator, canvas);
  if (c == NULL) {
    out->status = STOW_ERR_OUT_OF_MEMORY;
    return;
  }
  size_t width = out->options.width;
  size_t room = width > MARGIN + 10 ? width - MARGIN : 10;
  c->picture = picture;
  c->out = out;
  c->first = stowi_report_picture_first_shown(picture);
  c->columns = room > MAX_COLUMNS ? MAX_COLUMNS : room;
  c->rows = out->options.colours ? 2 * ROWS : ROWS;
  draw(c);
  STOWI_DELETE(picture->allocator, c);
}
