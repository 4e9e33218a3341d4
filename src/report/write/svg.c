// The static picture: the arena above, the load below, on one axis of time. It holds no script, no
// style from elsewhere and no fonts, so that it can stand in a README or a paper as it is. Places
// are computed in doubles by one product and one division, which every machine rounds alike, and
// written as hundredths of a pixel.
#include "report/write/svg.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/api.h"

#define TEXT_SIZE 256

// ---------------------------------------------------------------------------------------------
// Places

static int64_t scale(uint64_t part, uint64_t whole, int64_t length) {
  return whole == 0 ? 0 : (int64_t)((double)part * (double)length / (double)whole + 0.5);
}

int64_t stowi_report_svg_x(const stowi_report_svg* svg, uint64_t step) {
  uint64_t last = svg->picture->facts.last_step;
  return STOWI_REPORT_SVG_LEFT +
         (step > svg->first ? scale(step - svg->first, last - svg->first, STOWI_REPORT_SVG_WIDTH)
                            : 0);
}

int64_t stowi_report_svg_y(const stowi_report_svg* svg, uint64_t offset) {
  return STOWI_REPORT_SVG_TOP + STOWI_REPORT_SVG_HEIGHT -
         scale(offset, svg->top, STOWI_REPORT_SVG_HEIGHT);
}

int64_t stowi_report_svg_load_y(const stowi_report_svg* svg, uint64_t bytes) {
  return STOWI_REPORT_SVG_LOAD_TOP + STOWI_REPORT_SVG_LOAD_HEIGHT -
         scale(bytes, svg->top, STOWI_REPORT_SVG_LOAD_HEIGHT);
}

const char* stowi_report_svg_number(int64_t length, char out[STOWI_REPORT_SVG_NUMBER_SIZE]) {
  const char* sign = length < 0 ? "-" : "";
  uint64_t size = length < 0 ? (uint64_t)-length : (uint64_t)length;
  if (size % 100 == 0) {
    snprintf(out, STOWI_REPORT_SVG_NUMBER_SIZE, "%s%" PRIu64, sign, size / 100);
  } else if (size % 10 == 0) {
    snprintf(out, STOWI_REPORT_SVG_NUMBER_SIZE, "%s%" PRIu64 ".%" PRIu64, sign, size / 100,
             size / 10 % 10);
  } else {
    snprintf(out, STOWI_REPORT_SVG_NUMBER_SIZE, "%s%" PRIu64 ".%02" PRIu64, sign, size / 100,
             size % 100);
  }
  return out;
}

void stowi_report_svg_point(const stowi_report_svg* svg, char command, int64_t x, int64_t y) {
  char a[STOWI_REPORT_SVG_NUMBER_SIZE];
  char b[STOWI_REPORT_SVG_NUMBER_SIZE];
  stowi_report_out_print(svg->out, "%c%s %s", command, stowi_report_svg_number(x, a),
                         stowi_report_svg_number(y, b));
}

void stowi_report_svg_rectangle(const stowi_report_svg* svg, int64_t x, int64_t y, int64_t width,
                                int64_t height) {
  char w[STOWI_REPORT_SVG_NUMBER_SIZE];
  char h[STOWI_REPORT_SVG_NUMBER_SIZE];
  char back[STOWI_REPORT_SVG_NUMBER_SIZE];
  stowi_report_svg_point(svg, 'M', x, y);
  stowi_report_out_print(svg->out, "h%sv%sh%sz", stowi_report_svg_number(width, w),
                         stowi_report_svg_number(height, h), stowi_report_svg_number(-width, back));
}

void stowi_report_svg_text(const stowi_report_svg* svg, const char* text) {
  for (; *text != '\0'; ++text) {
    const char* entity = *text == '&'   ? "&amp;"
                         : *text == '<' ? "&lt;"
                         : *text == '>' ? "&gt;"
                                        : NULL;
    if (entity != NULL) {
      stowi_report_out_print(svg->out, "%s", entity);
    } else {
      stowi_report_out_print(svg->out, "%c", *text);
    }
  }
}

static void put_text(const stowi_report_svg* svg, int64_t x, int64_t y, const char* attributes,
                     const char* text) {
  char a[STOWI_REPORT_SVG_NUMBER_SIZE];
  char b[STOWI_REPORT_SVG_NUMBER_SIZE];
  stowi_report_out_print(svg->out, "<text x=\"%s\" y=\"%s\"%s>", stowi_report_svg_number(x, a),
                         stowi_report_svg_number(y, b), attributes);
  stowi_report_svg_text(svg, text);
  stowi_report_out_print(svg->out, "</text>\n");
}

static void put_line(const stowi_report_svg* svg, int64_t x1, int64_t y1, int64_t x2, int64_t y2,
                     const char* attributes) {
  stowi_report_out_print(svg->out, "<path d=\"");
  stowi_report_svg_point(svg, 'M', x1, y1);
  stowi_report_svg_point(svg, 'L', x2, y2);
  stowi_report_out_print(svg->out, "\" fill=\"none\" %s/>\n", attributes);
}

// ---------------------------------------------------------------------------------------------
// Axes

static void draw_byte_axis(const stowi_report_svg* svg,
                           int64_t (*y_of)(const stowi_report_svg*, uint64_t), uint64_t tick) {
  stowi_report_scale scale = stowi_report_scale_of(svg->top, tick);
  for (uint64_t bytes = 0; bytes <= svg->top; bytes += tick) {
    char label[STOWI_REPORT_NUMBER];
    int64_t y = y_of(svg, bytes);
    stowi_report_on_scale(scale, bytes, label);
    put_line(svg, STOWI_REPORT_SVG_LEFT, y, STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH, y,
             "stroke=\"#000\" stroke-opacity=\".1\"");
    put_text(svg, STOWI_REPORT_SVG_LEFT - 600, y + 400, " text-anchor=\"end\"", label);
  }
}

static void draw_step_axis(const stowi_report_svg* svg) {
  const stowi_report_picture_facts* facts = &svg->picture->facts;
  // 1, 2 or 5 times a power of ten, for at most twelve ticks.
  uint64_t span = facts->last_step - svg->first;
  uint64_t tick = 1;
  for (unsigned i = 0; span / tick > 12; ++i) {
    tick = i % 3 == 1 ? tick / 2 * 5 : tick * 2;
  }
  int64_t bottom = STOWI_REPORT_SVG_LOAD_TOP + STOWI_REPORT_SVG_LOAD_HEIGHT;
  uint64_t first = (svg->first + tick - 1) / tick * tick;
  for (uint64_t step = first; step < facts->last_step; step += tick) {
    char label[STOWI_REPORT_NUMBER];
    int64_t x = stowi_report_svg_x(svg, step);
    snprintf(label, sizeof label, "%" PRIu64, step);
    put_line(svg, x, bottom, x, bottom + 400, "stroke=\"#555\"");
    put_text(svg, x, bottom + 1600, " text-anchor=\"middle\"", label);
  }
  bool is_csv = strcmp(svg->picture->origin, "csv") == 0;
  put_text(svg, STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH / 2, bottom + 3200,
           " text-anchor=\"middle\"",
           is_csv ? "step: one unit of the CSV's time" : "step: each runs one node of the graph");
}

static int64_t peak_x(const stowi_report_svg* svg) {
  uint64_t step = svg->picture->facts.peak_step;
  return (stowi_report_svg_x(svg, step) + stowi_report_svg_x(svg, step + 1)) / 2;
}

static bool is_peak_right(const stowi_report_svg* svg) {
  return peak_x(svg) > STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH / 2;
}

static void draw_frames(const stowi_report_svg* svg) {
  stowi_report_out_print(svg->out, "<path d=\"");
  stowi_report_svg_rectangle(svg, STOWI_REPORT_SVG_LEFT, STOWI_REPORT_SVG_TOP,
                             STOWI_REPORT_SVG_WIDTH, STOWI_REPORT_SVG_HEIGHT);
  stowi_report_svg_rectangle(svg, STOWI_REPORT_SVG_LEFT, STOWI_REPORT_SVG_LOAD_TOP,
                             STOWI_REPORT_SVG_WIDTH, STOWI_REPORT_SVG_LOAD_HEIGHT);
  stowi_report_out_print(svg->out, "\" fill=\"none\" stroke=\"#888\"/>\n");
  bool left = is_peak_right(svg);  // away from what is said of the peak
  put_text(svg, left ? STOWI_REPORT_SVG_LEFT : STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH,
           STOWI_REPORT_SVG_TOP - 800,
           left ? " fill=\"#555\"" : " fill=\"#555\" text-anchor=\"end\"",
           "arena: offset over time; free bytes are white");
  put_text(svg, STOWI_REPORT_SVG_LEFT, STOWI_REPORT_SVG_LOAD_TOP - 800, " fill=\"#555\"",
           "load: bytes that are live at each step");
}

// ---------------------------------------------------------------------------------------------
// Load

// Levels closer than half a pixel become one, the highest of them.
static void draw_load(const stowi_report_svg* svg) {
  const stowi_report_picture_level* levels = svg->picture->levels.data;
  size_t count = svg->picture->levels.count;
  if (count == 0) {
    return;
  }
  stowi_report_out_print(svg->out, "<path d=\"");
  stowi_report_svg_point(svg, 'M', stowi_report_svg_x(svg, levels[0].step),
                         stowi_report_svg_load_y(svg, 0));
  for (size_t i = 0; i + 1 < count;) {
    int64_t x = stowi_report_svg_x(svg, levels[i].step);
    uint64_t most = 0;
    do {
      most = levels[i].bytes > most ? levels[i].bytes : most;
      ++i;
    } while (i + 1 < count && stowi_report_svg_x(svg, levels[i].step) - x < 50);
    stowi_report_svg_point(svg, 'L', x, stowi_report_svg_load_y(svg, most));
    stowi_report_svg_point(svg, 'L', stowi_report_svg_x(svg, levels[i].step),
                           stowi_report_svg_load_y(svg, most));
  }
  stowi_report_svg_point(svg, 'L', stowi_report_svg_x(svg, levels[count - 1].step),
                         stowi_report_svg_load_y(svg, 0));
  stowi_report_out_print(
      svg->out,
      "z\" fill=\"#59616d\" fill-opacity=\".3\" stroke=\"#59616d\" stroke-width=\"1\"/>\n");
}

static void draw_level(const stowi_report_svg* svg, uint64_t bytes, const char* style) {
  int64_t y = stowi_report_svg_load_y(svg, bytes);
  put_line(svg, STOWI_REPORT_SVG_LEFT, y, STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH, y, style);
}

// What the lines are is said above the plot, where nothing can be in the way.
static void draw_levels(const stowi_report_svg* svg) {
  const stowi_report_picture_facts* facts = &svg->picture->facts;
  char arena[STOWI_REPORT_NUMBER];
  char bound[STOWI_REPORT_NUMBER];
  char text[TEXT_SIZE];
  stowi_report_size(facts->arena, arena);
  stowi_report_size(facts->bound, bound);
  int used =
      facts->arena == facts->bound
          ? snprintf(text, sizeof text, "line: arena = lower bound, %s", arena)
          : snprintf(text, sizeof text, "line: arena, %s; dashed: lower bound, %s", arena, bound);
  draw_level(svg, facts->arena, "stroke=\"#222\"");
  if (facts->arena != facts->bound) {
    draw_level(svg, facts->bound, "stroke=\"#222\" stroke-dasharray=\"5 3\"");
  }
  if (facts->capacity <= svg->top) {
    char capacity[STOWI_REPORT_NUMBER];
    const char* style = "stroke=\"#c00\" stroke-width=\"1.5\"";
    int64_t y = stowi_report_svg_y(svg, facts->capacity);
    stowi_report_size(facts->capacity, capacity);
    snprintf(text + used, sizeof text - (size_t)used, "; red: capacity, %s", capacity);
    draw_level(svg, facts->capacity, style);
    put_line(svg, STOWI_REPORT_SVG_LEFT, y, STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH, y,
             style);
  }
  put_text(svg, STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH, STOWI_REPORT_SVG_LOAD_TOP - 800,
           " text-anchor=\"end\" fill=\"#555\"", text);
}

// ---------------------------------------------------------------------------------------------
// Peak, title, legend

// Where entries of the legend go: side by side, in as many rows as they need.
typedef struct legend_place {
  int64_t x;
  int64_t y;
} legend_place;

#define LEGEND_ROW 1800

static legend_place first_entry(void) {
  return (legend_place){STOWI_REPORT_SVG_LEFT,
                        STOWI_REPORT_SVG_LOAD_TOP + STOWI_REPORT_SVG_LOAD_HEIGHT + 5600};
}

// Takes the place of an entry with |label|, and moves on.
static legend_place next_entry(legend_place* at, const char* label) {
  int64_t width = 3600 + 660 * (int64_t)stowi_report_width(label);
  if (at->x > STOWI_REPORT_SVG_LEFT &&
      at->x + width > STOWI_REPORT_SVG_LEFT + STOWI_REPORT_SVG_WIDTH) {
    *at = (legend_place){STOWI_REPORT_SVG_LEFT, at->y + LEGEND_ROW};
  }
  legend_place place = *at;
  at->x += width;
  return place;
}

static const char inside_label[] = "inside: in place, copy elision";

static int64_t picture_height(const stowi_report_svg* svg) {
  legend_place at = first_entry();
  for (size_t i = 0; i < svg->groups->count; ++i) {
    next_entry(&at, svg->groups->groups[i].label);
  }
  return next_entry(&at, inside_label).y + 2200;
}

static void draw_peak(const stowi_report_svg* svg) {
  const stowi_report_picture_facts* facts = &svg->picture->facts;
  char size[STOWI_REPORT_NUMBER];
  char text[TEXT_SIZE];
  if (facts->peak_bytes == 0) {
    return;
  }
  int64_t x = peak_x(svg);
  bool left = is_peak_right(svg);
  stowi_report_size(facts->peak_bytes, size);
  snprintf(text, sizeof text, "peak: step %" PRIu64 ", %s", facts->peak_step, size);
  put_line(svg, x, STOWI_REPORT_SVG_TOP - 400, x,
           STOWI_REPORT_SVG_LOAD_TOP + STOWI_REPORT_SVG_LOAD_HEIGHT,
           "stroke=\"#b00\" stroke-dasharray=\"3 3\"");
  put_text(svg, left ? x - 500 : x + 500, STOWI_REPORT_SVG_TOP - 800,
           left ? " text-anchor=\"end\" fill=\"#b00\"" : " fill=\"#b00\"", text);
}

static void append_against(const stowi_report_svg* svg, char out[TEXT_SIZE]) {
  const stow_picture* then = svg->picture->against;
  size_t used = strlen(out);
  if (then != NULL && used < TEXT_SIZE) {
    char arena[STOWI_REPORT_NUMBER];
    stowi_report_size(then->facts.arena, arena);
    snprintf(out + used, TEXT_SIZE - used, "; before: arena %s, %zu buffers changed (outlined)",
             arena, svg->picture->changes.count);
  }
}

static void draw_title(const stowi_report_svg* svg) {
  char title[STOWI_REPORT_PICTURE_LABEL_SIZE];
  char subtitle[TEXT_SIZE];
  stowi_report_picture_title(svg->picture, 90, title);
  const stowi_report_picture_facts* facts = &svg->picture->facts;
  char arena[STOWI_REPORT_NUMBER];
  char unshared[STOWI_REPORT_NUMBER];
  stowi_report_size(facts->arena, arena);
  stowi_report_size(facts->unshared, unshared);
  size_t buffers = svg->picture->buffers.count;
  snprintf(subtitle, TEXT_SIZE,
           "arena %s (%s), %s without sharing; %zu buffer%s, %" PRIu64 " step%s", arena,
           facts->outcome, unshared, buffers, buffers == 1 ? "" : "s", facts->steps,
           facts->steps == 1 ? "" : "s");
  append_against(svg, subtitle);
  stowi_report_out_print(svg->out, "<title id=\"title\">");
  stowi_report_svg_text(svg, title);
  stowi_report_out_print(svg->out, "</title>\n<desc id=\"desc\">");
  stowi_report_svg_text(svg, subtitle);
  stowi_report_out_print(svg->out, "</desc>\n<path d=\"");
  stowi_report_svg_rectangle(svg, 0, 0, 120000, picture_height(svg));
  stowi_report_out_print(svg->out, "\" fill=\"#fff\"/>\n");
  put_text(svg, STOWI_REPORT_SVG_LEFT, 2600, " font-size=\"17\" font-weight=\"600\"", title);
  put_text(svg, STOWI_REPORT_SVG_LEFT, 4500, " font-size=\"12\" fill=\"#333\"", subtitle);
}

static void put_entry(const stowi_report_svg* svg, legend_place* at, const char* look,
                      const char* label) {
  legend_place place = next_entry(at, label);
  stowi_report_out_print(svg->out, "<path d=\"");
  stowi_report_svg_rectangle(svg, place.x, place.y - 1000, 1200, 1200);
  stowi_report_out_print(svg->out, "\" fill=\"%s/>\n", look);
  put_text(svg, place.x + 1800, place.y, "", label);
}

static void draw_legend(const stowi_report_svg* svg) {
  legend_place at = first_entry();
  for (size_t i = 0; i < svg->groups->count; ++i) {
    char look[32];
    snprintf(look, sizeof look, "%s\"", svg->groups->groups[i].colour);
    put_entry(svg, &at, look, svg->groups->groups[i].label);
  }
  put_entry(svg, &at, "#fff\" stroke=\"#222\" stroke-dasharray=\"2 1.5\"", inside_label);
}

static void draw_start(const stowi_report_svg* svg) {
  char height[STOWI_REPORT_SVG_NUMBER_SIZE];
  stowi_report_svg_number(picture_height(svg), height);
  stowi_report_out_print(
      svg->out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1200 %s\" width=\"1200\" "
      "height=\"%s\" role=\"img\" aria-labelledby=\"title desc\" font-size=\"11\" "
      "font-family=\"Helvetica, Arial, sans-serif\" fill=\"#222\">\n"
      "<defs><pattern id=\"hatch\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\" "
      "patternTransform=\"rotate(45)\"><path d=\"M0 0v5\" stroke=\"#333\" "
      "stroke-opacity=\".5\"/></pattern></defs>\n",
      height, height);
  draw_title(svg);
}

static stow_status draw(const stowi_report_svg* svg) {
  draw_start(svg);
  // A power of two, so that labels are round: four to seven ticks.
  uint64_t tick = 1;
  while (svg->top / tick > 7) {
    tick *= 2;
  }
  draw_byte_axis(svg, stowi_report_svg_y, tick);
  draw_byte_axis(svg, stowi_report_svg_load_y, 2 * tick);
  stow_status code = stowi_report_svg_draw_buffers(svg);
  draw_load(svg);
  draw_frames(svg);
  draw_levels(svg);
  draw_step_axis(svg);
  draw_peak(svg);
  draw_legend(svg);
  stowi_report_out_print(svg->out, "</svg>\n");
  return code;
}

void stowi_report_picture_write_svg(const stow_picture* picture, stowi_report_out* out) {
  const stowi_report_picture_facts* facts = &picture->facts;
  stowi_report_picture_groups groups;
  stowi_report_svg svg = {.picture = picture,
                          .groups = &groups,
                          .out = out,
                          .first = stowi_report_picture_first_shown(picture),
                          .top = facts->arena > facts->bound ? facts->arena : facts->bound};
  bool roomy = facts->capacity > svg.top && facts->capacity <= svg.top + svg.top / 2;
  svg.top = roomy ? facts->capacity : svg.top > 0 ? svg.top : 1;
  stow_status status = stowi_report_picture_groups_make(&groups, picture);
  status = status == STOW_OK ? draw(&svg) : status;
  out->status = out->status == STOW_OK ? status : out->status;
  stowi_report_picture_groups_free(&groups, picture->allocator);
}
