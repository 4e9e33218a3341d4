// Convolution of bytes in little room: x is read where it is. A panel has what some steps read for
// 32 positions; all channels of a part use it. Where it has not room for all steps, sums stay in
// scratch between panels, or in the result.
#include <string.h>

#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

enum {
  WIDTH = STOWI_KERNEL_INTEGER_COLUMNS,
  ROWS = STOWI_KERNEL_INTEGER_ROWS,
  STACK_STEPS = 72,  // of a panel without scratch
  MOST_ROWS = 256,   // of a part
};

// Steps of a panel, and rows of sums where these are not all.
static const size_t most_steps[] = {0, 512, 128, STACK_STEPS};
static const size_t most_rows[] = {0, 64, 32, ROWS};

typedef struct job {
  const stowi_kernel_conv_int* c;
  size_t depth;
  size_t steps;  // of a panel, at most
  size_t rows;   // of a part, at most
  size_t parts;  // of a group's channels
  size_t blocks;
  uint64_t size;  // of a worker's scratch
} job;

static bool is_whole(const stowi_kernel_conv_int* c, uint32_t variant) {
  return stowi_kernel_conv_int_depth(c) <= most_steps[variant];
}

static uint64_t panel_size(const stowi_kernel_conv_int* c, uint32_t variant) {
  size_t steps = stowi_kernel_smaller(stowi_kernel_conv_int_depth(c), most_steps[variant]);
  return (uint64_t)stowi_kernel_integer_groups(steps) * 4 * WIDTH;
}

uint64_t stowi_kernel_conv_int_lean_size(const stowi_kernel_conv_int* c, uint32_t variant) {
  size_t rows = is_whole(c, variant) ? ROWS : most_rows[variant];
  uint64_t sums = stowi_kernel_smaller(rows, c->out_channels) * WIDTH * sizeof(int32_t);
  return variant == 3 ? 0 : stowi_kernel_align64(panel_size(c, variant) + sums);
}

// ---------------------------------------------------------------------------------------------
// Panels

// A tile of one image: channels [channel, channel + rows) of the result at |count| positions from
// |first| on.
typedef struct part {
  size_t image, channel, rows, first, count;
  size_t row, column;  // of the first position
} part;

// As many bytes as two moves have, which may overlap.
#define COPY_ENDS(size)                                       \
  if (count >= (size)) {                                      \
    memcpy(to, from, size);                                   \
    memcpy(to + count - (size), from + count - (size), size); \
    return;                                                   \
  }

// At most WIDTH bytes.
static void copy_few(const uint8_t* from, size_t step, size_t count, uint8_t* to) {
  if (step == 1) {
    COPY_ENDS(16)
    COPY_ENDS(8)
    COPY_ENDS(4)
  }
  for (size_t i = 0; i < count; ++i) {
    to[i] = from[i * step];
  }
}

// Positions of a part that are in one row of the result.
typedef struct segment {
  size_t row, column, count;
} segment;

// What a step reads of channel |channel| of x for a segment. Neighbours are found without division.
static void load_segment(const stowi_kernel_conv_int* c, size_t image, size_t channel,
                         const stowi_kernel_step* step, const segment* g, int zero, uint8_t* to) {
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = (size_t)s->channels;
  int64_t row = stowi_kernel_slide_row(s, g->row, step->outer);
  uint32_t last = s->rank - 1;
  stowi_kernel_tap_run run = {g->count, 0, 0, 0, 1};
  if (row >= 0 && s->strides[last] == 1) {
    int64_t first =
        (int64_t)(g->column + step->last * (size_t)s->dilations[last]) - s->begins[last];
    int64_t count = (int64_t)g->count;
    int64_t lo = stowi_kernel_min_i64(stowi_kernel_max_i64(-first, 0), count);
    int64_t hi = stowi_kernel_max_i64(stowi_kernel_min_i64(s->in_width - first, count), lo);
    run = (stowi_kernel_tap_run){(size_t)lo, (size_t)(hi - lo), (size_t)(count - hi),
                                 (size_t)(row + first + lo), 1};
  } else if (row >= 0) {
    run = stowi_kernel_slide_row_run(s, row, (int64_t)step->last, g->column, g->count);
  }
  if (run.inside != g->count) {
    memset(to, zero, g->count);
  }
  if (run.inside != 0) {
    size_t at = s->channels_last ? (image * s->in_count + run.first) * channels + channel
                                 : (image * channels + channel) * s->in_count + run.first;
    copy_few((const uint8_t*)c->x->data + at, s->channels_last ? run.step * channels : run.step,
             run.inside, to + run.before);
  }
}

// The same for all positions of a part.
static void load_row(const stowi_kernel_conv_int* c, const part* p, size_t channel,
                     const stowi_kernel_step* step, int zero, uint8_t* to) {
  size_t width = (size_t)c->slide.out_width;
  segment g = {p->row, p->column, 0};
  for (size_t done = 0; done < p->count; done += g.count, ++g.row, g.column = 0) {
    g.count = stowi_kernel_smaller(width - g.column, p->count - done);
    load_segment(c, p->image, channel, step, &g, zero, to + done);
  }
}

// Some steps from |at| on, which moves behind them.
static void make_panel(const stowi_kernel_conv_int* c, const part* p,
                       const stowi_kernel_integer_tiles* tiles, size_t width, size_t steps,
                       stowi_kernel_step* at, uint8_t* out) {
  size_t from = p->channel / c->out_channels * c->in_channels;
  uint8_t flip = stowi_kernel_conv_int_x_flip(c);
  int zero = stowi_kernel_conv_int_zero(c->x_zero, 0);
  uint8_t lines[4][WIDTH];
  const uint8_t* rows[4] = {lines[0], lines[1], lines[2], lines[3]};
  memset(lines, 0, sizeof(lines));
  for (size_t step = 0; step < steps; step += 4, out += 4 * width) {
    for (size_t i = 0; i < 4; ++i) {
      if (step + i < steps) {
        load_row(c, p, from + at->channel, at, zero, lines[i]);
        stowi_kernel_step_next(&c->slide, at);
      } else {
        memset(lines[i], flip, WIDTH);
      }
    }
    tiles->pack(1, rows, width, flip, out);
  }
}

// ---------------------------------------------------------------------------------------------
// Tiles

typedef struct sums {
  int32_t* at;
  size_t row;
  size_t columns;  // all of a panel, or those that the result has
} sums;

static void multiply(const job* j, const part* p, const stowi_kernel_integer_tiles* tiles,
                     const uint8_t* panel, size_t step, size_t steps, size_t row, size_t rows,
                     const sums* to) {
  const stowi_kernel_conv_int* c = j->c;
  stowi_kernel_integer_tile t = {
      .rows = rows,
      .a = (const uint8_t*)c->w->data + (p->channel + row) * j->depth + step,
      .a_row = j->depth,
      .flip = stowi_kernel_conv_int_w_flip(c),
      .b = panel,
      .width = stowi_kernel_integer_width(p->count),
      .c = to->at,
      .c_row = to->row,
      .accumulate = step != 0};
  stowi_kernel_integer_rows(tiles, &t, steps, to->columns);
}

static void finish(const job* j, const part* p, size_t row, size_t rows, const int32_t* x_sums,
                   const uint32_t* w_sums, const sums* from) {
  const stowi_kernel_conv_int* c = j->c;
  int32_t w_zero[ROWS];
  int32_t x_zero[WIDTH];
  uint32_t sums_of_x[WIDTH];
  int32_t zero = stowi_kernel_conv_int_x_zero(c);
  for (size_t i = 0; i < from->columns; ++i) {
    x_zero[i] = zero;
    sums_of_x[i] = (uint32_t)x_sums[i] - (uint32_t)j->depth * (uint32_t)zero;
  }
  for (size_t i = 0; i < rows; ++i) {
    w_zero[i] = stowi_kernel_conv_int_w_zero(c, p->channel + row + i);
  }
  stowi_kernel_integer_zeros z = {w_zero, w_sums + row, x_zero, sums_of_x};
  stowi_kernel_integer_correct(rows, from->columns, &z, from->at, from->row);
  for (size_t i = 0; i < rows; ++i) {
    c->finish(c->user, p->image, p->channel + row + i, p->first, p->count,
              from->at + i * from->row);
  }
}

// Where sums of row |row| and those behind it are: the result's own, or those in |room|, which has
// all rows or just those that are computed at a time.
static sums sums_at(const job* j, const part* p, int32_t* room, size_t row) {
  const stowi_kernel_conv_int* c = j->c;
  size_t positions = c->slide.out_count;
  size_t width = stowi_kernel_integer_width(p->count);
  if (c->result != NULL) {
    size_t channel = p->image * c->group * c->out_channels + p->channel + row;
    return (sums){c->result + channel * positions + p->first, positions, p->count};
  }
  return (sums){room + (j->steps >= j->depth ? 0 : row * width), width, width};
}

static void run_part(const job* j, const part* p, const uint32_t* w_sums, uint8_t* panel,
                     int32_t* room) {
  const stowi_kernel_integer_tiles* tiles = stowi_kernel_integer_tiles_best();
  size_t width = stowi_kernel_integer_width(p->count);
  int32_t x_sums[WIDTH] = {0};
  stowi_kernel_step at = {0};
  for (size_t step = 0; step < j->depth || step == 0; step += j->steps) {
    size_t steps = stowi_kernel_smaller(j->depth - step, j->steps);
    int32_t more[WIDTH];
    make_panel(j->c, p, tiles, width, steps, &at, panel);
    stowi_kernel_integer_column_sums(tiles, panel, stowi_kernel_integer_groups(steps), width, more);
    for (size_t i = 0; i < width; ++i) {
      x_sums[i] = (int32_t)((uint32_t)x_sums[i] + (uint32_t)more[i]);
    }
    for (size_t row = 0; row < p->rows; row += tiles->rows) {
      size_t rows = stowi_kernel_smaller(p->rows - row, tiles->rows);
      sums to = sums_at(j, p, room, row);
      multiply(j, p, tiles, panel, step, steps, row, rows, &to);
      if (step + steps == j->depth) {
        finish(j, p, row, rows, x_sums, w_sums, &to);
      }
    }
  }
}

// Parts of the same channels follow each other.
static void run_parts(const job* j, size_t begin, size_t end, uint8_t* panel, int32_t* room) {
  const stowi_kernel_conv_int* c = j->c;
  uint32_t w_sums[MOST_ROWS];
  size_t summed = SIZE_MAX;  // the first channel of these
  for (size_t unit = begin; unit < end; ++unit) {
    size_t image = unit / j->blocks % (size_t)c->slide.batch;
    size_t of_all = unit / j->blocks / (size_t)c->slide.batch;
    size_t in_group = of_all % j->parts * j->rows;
    part p = {.image = image,
              .channel = of_all / j->parts * c->out_channels + in_group,
              .rows = stowi_kernel_smaller(j->rows, c->out_channels - in_group),
              .first = unit % j->blocks * WIDTH};
    p.count = stowi_kernel_smaller(WIDTH, c->slide.out_count - p.first);
    p.row = p.first / (size_t)c->slide.out_width;
    p.column = p.first % (size_t)c->slide.out_width;
    for (size_t i = 0; i < p.rows && summed != p.channel; ++i) {
      w_sums[i] = stowi_kernel_conv_int_row_sum(c, p.channel + i);
    }
    summed = p.channel;
    run_part(j, &p, w_sums, panel, room);
  }
}

static void run_in_scratch(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  uint8_t* mine = (uint8_t*)j->c->call->scratch + worker * j->size;
  uint64_t panel = (uint64_t)stowi_kernel_integer_groups(j->steps) * 4 * WIDTH;
  run_parts(j, begin, end, mine, (int32_t*)(void*)(mine + panel));
}

static void run_on_stack(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  _Alignas(64) uint8_t panel[STACK_STEPS * WIDTH];
  int32_t room[ROWS * WIDTH];
  run_parts(user, begin, end, panel, room);
}

void stowi_kernel_conv_int_lean(stowi_kernel_conv_int* c, uint32_t variant) {
  job j = {.c = c, .depth = stowi_kernel_conv_int_depth(c)};
  bool keeps_all = is_whole(c, variant) || c->result != NULL;
  j.steps = stowi_kernel_smaller(stowi_kernel_larger(j.depth, 1), most_steps[variant]);
  j.rows = stowi_kernel_smaller(keeps_all ? MOST_ROWS : most_rows[variant], c->out_channels);
  j.size = stowi_kernel_conv_int_lean_size(c, variant);
  j.blocks = (c->slide.out_count + WIDTH - 1) / WIDTH;
  j.parts = (c->out_channels + j.rows - 1) / j.rows;
  size_t work = j.rows * WIDTH * j.depth;
  stow_kernel_split(c->call, (size_t)c->slide.batch * c->group * j.blocks * j.parts,
                    (1 << 18) / (work + 1) + 1, variant == 3 ? run_on_stack : run_in_scratch, &j);
}
