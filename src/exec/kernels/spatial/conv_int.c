// The image becomes a grid: planes of bytes with padding around them, in which each tap reads the
// same distance from a position, whatever the position is. Strides split a plane in phases: what
// the taps of one phase read for neighbours are neighbours. So 32 positions of a step are 32 bytes
// that follow each other, across the ends of rows too, and panels are packed from where they lie.
// Sums of what is between the rows of the result are dropped.
//
// Scratch: about a byte per element of an image, and panels of a few positions per worker.
#include "exec/kernels/spatial/conv_int.h"

#include <string.h>

#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

enum {
  WIDTH = STOWI_KERNEL_INTEGER_COLUMNS,  // positions of a panel
  MOST_PANELS = 8,                       // in a block
  BLOCK = 1 << 15,                       // bytes of its panels, unless one is larger
  ROWS = STOWI_KERNEL_INTEGER_ROWS,
  GROUPS = 16,     // whose rows are found at a time
  FEW_STEPS = 64,  // of a channel that is alone in its group
  SLACK = 64,      // behind the last plane, which panels read
  MOST_GROWTH = 4  // of an image; where padding is more, x is read where it is
};

typedef struct grid {
  size_t dims[STOWI_KERNEL_SPATIAL];
  size_t phases[STOWI_KERNEL_SPATIAL];
  uint64_t count;      // of a phase of a plane
  uint64_t all;        // phases of a plane
  uint64_t positions;  // from the first position of the result to the last one
} grid;

static grid grid_of(const stowi_kernel_slide* s) {
  grid g = {.count = 1, .all = 1, .positions = 1};
  for (uint32_t i = 0; i < s->rank; ++i) {
    uint64_t span = (uint64_t)stowi_kernel_max_i64(s->kernel[i] - 1, 0) * (uint64_t)s->dilations[i];
    uint64_t stride = (uint64_t)s->strides[i];
    g.phases[i] = (size_t)(span + 1 < stride ? span + 1 : stride);
    g.dims[i] = (size_t)((uint64_t)s->out[i] + span / stride);
    g.count = stowi_kernel_times(g.count, g.dims[i]);
    g.all = stowi_kernel_times(g.all, g.phases[i]);
    bool is_empty = g.positions == 0 || s->out[i] == 0;
    g.positions = is_empty ? 0 : (g.positions - 1) * g.dims[i] + (uint64_t)s->out[i];
  }
  return g;
}

// Where what a tap reads lies, from a position on.
static size_t offset_of(const stowi_kernel_slide* s, const grid* g, size_t tap) {
  size_t phase = 0;
  size_t shift = 0;
  size_t phases = 1;
  size_t stride = 1;
  for (uint32_t i = s->rank; i-- > 0;) {
    size_t at = tap % (size_t)s->kernel[i] * (size_t)s->dilations[i];
    tap /= (size_t)s->kernel[i];
    phase += at % (size_t)s->strides[i] * phases;
    shift += at / (size_t)s->strides[i] * stride;
    phases *= g->phases[i];
    stride *= g->dims[i];
  }
  return phase * (size_t)g->count + shift;
}

// ---------------------------------------------------------------------------------------------
// Rooms

typedef struct job {
  stowi_kernel_conv_int* c;
  grid grid;
  size_t depth;
  size_t panels;  // of a block, at most
  size_t blocks;
  size_t rows;   // channels of the result in a part
  size_t parts;  // in a group
  size_t image;
  uint8_t* planes;
  size_t* offsets;   // of taps
  uint32_t* w_sums;  // of channels of the result
  int32_t* w_zeros;
  unsigned char* workers;
  uint64_t worker_size;
} job;

typedef struct room {
  uint8_t* panels;
  int32_t* sums;  // ROWS × all positions of a block
} room;

static size_t channels_of(const stowi_kernel_conv_int* c) { return c->group * c->out_channels; }

static uint64_t panel_size(const job* j) {
  return stowi_kernel_times(stowi_kernel_integer_groups(j->depth), 4 * WIDTH);
}

static room take_room(const job* j, stowi_kernel_carve* carve) {
  room r;
  r.panels = stowi_kernel_carve_take(carve, j->panels, panel_size(j));
  r.sums = stowi_kernel_carve_take(carve, j->panels, ROWS * WIDTH * sizeof(int32_t));
  return r;
}

// No fewer bytes for more dims, though a block has fewer panels where they are deeper.
static job job_of(stowi_kernel_conv_int* c) {
  job j = {.c = c, .grid = grid_of(&c->slide), .depth = stowi_kernel_conv_int_depth(c)};
  uint64_t most = BLOCK / (panel_size(&j) + 1);
  uint64_t needed = (j.grid.positions + WIDTH - 1) / WIDTH;
  most = most < 1 ? 1 : most > MOST_PANELS ? MOST_PANELS : most;
  j.panels = (size_t)(needed < most ? needed : most);
  return j;
}

static uint64_t worker_size(const job* j) {
  uint64_t panels = panel_size(j);
  uint64_t needed = (j->grid.positions + WIDTH - 1) / WIDTH;
  uint64_t most = stowi_kernel_times(panels, needed < MOST_PANELS ? needed : MOST_PANELS);
  uint64_t limit = panels > BLOCK ? panels : BLOCK;
  stowi_kernel_carve carve = {NULL, 0};
  stowi_kernel_carve_take(&carve, most < limit ? most : limit, 1);
  stowi_kernel_carve_take(&carve, needed < MOST_PANELS ? needed : MOST_PANELS,
                          ROWS * WIDTH * sizeof(int32_t));
  return carve.used;
}

static void take_all(job* j, stowi_kernel_carve* carve) {
  const stowi_kernel_conv_int* c = j->c;
  uint64_t planes = stowi_kernel_times((uint64_t)c->slide.channels, j->grid.all);
  uint64_t bytes = stowi_kernel_times(planes, j->grid.count);
  j->worker_size = worker_size(j);
  j->planes = stowi_kernel_carve_take(carve, bytes > UINT64_MAX - SLACK ? bytes : bytes + SLACK, 1);
  j->offsets = stowi_kernel_carve_take(carve, c->slide.taps, STOWI_KERNEL_WIDE);
  j->w_sums = stowi_kernel_carve_take(carve, channels_of(c), sizeof(uint32_t));
  j->w_zeros = stowi_kernel_carve_take(carve, channels_of(c), sizeof(int32_t));
  j->workers = stowi_kernel_carve_take(carve, c->call->workers, j->worker_size);
}

static bool is_worth(const job* j) {
  uint64_t before = stowi_kernel_times(j->c->slide.in_count, MOST_GROWTH);
  return j->depth != 0 && stowi_kernel_times(j->grid.all, j->grid.count) <= before;
}

// ---------------------------------------------------------------------------------------------
// Preparing

// |rows| rows of |count| bytes.
typedef struct rectangle {
  const uint8_t* from;
  size_t row, step;  // from one to the next
  size_t rows, count;
  uint8_t flip;
  uint8_t* to;
  size_t to_row;
} rectangle;

STOWI_KERNEL_LOOP(copy_rectangle, (const rectangle* r), (r)) {
  for (size_t y = 0; y < r->rows; ++y) {
    const uint8_t* from = r->from + y * r->row;
    uint8_t* restrict to = r->to + y * r->to_row;
    uint8_t flip = r->flip;
    if (r->step == 1) {
      for (size_t i = 0; i < r->count; ++i) {
        to[i] = from[i] ^ flip;
      }
    } else if (r->step == 2) {
      for (size_t i = 0; i < r->count; ++i) {
        to[i] = from[2 * i] ^ flip;
      }
    } else {
      for (size_t i = 0; i < r->count; ++i) {
        to[i] = from[i * r->step] ^ flip;
      }
    }
  }
}

// Elements of dim |i| that are at hand: grid positions [lo, hi) of phase |phase| read from element
// |first| on.
static size_t inside(const stowi_kernel_slide* s, const grid* g, uint32_t i, size_t phase,
                     size_t* out_lo, size_t* out_hi) {
  int64_t stride = s->strides[i];
  int64_t at = (int64_t)phase - s->begins[i];
  int64_t lo = at >= 0 ? 0 : (-at + stride - 1) / stride;
  int64_t hi = s->in[i] <= at ? 0 : (s->in[i] - at + stride - 1) / stride;
  *out_lo = stowi_kernel_smaller((size_t)lo, g->dims[i]);
  *out_hi = stowi_kernel_larger(stowi_kernel_smaller((size_t)hi, g->dims[i]), *out_lo);
  return (size_t)(at + lo * stride);
}

// Of all dims but the last two: where what grid index |at| of phase |phase| reads begins, in
// elements of a channel; -1 where it is padding.
static int64_t outer_of(const stowi_kernel_slide* s, const grid* g, size_t at, size_t phase) {
  int64_t stride = s->in_width * s->in[s->rank - 2];
  int64_t offset = 0;
  for (uint32_t i = s->rank - 2; i-- > 0;) {
    int64_t here =
        (int64_t)(at % g->dims[i]) * s->strides[i] + (int64_t)(phase % g->phases[i]) - s->begins[i];
    if (here < 0 || here >= s->in[i]) {
      return -1;
    }
    offset += here * stride;
    stride *= s->in[i];
    at /= g->dims[i];
    phase /= g->phases[i];
  }
  return offset;
}

// What a phase of a plane reads, as rows of the last two dims; |r| has x and how it is read.
static void copy_phase(const job* j, size_t phase, rectangle r) {
  const stowi_kernel_slide* s = &j->c->slide;
  const grid* g = &j->grid;
  const uint8_t* from = r.from;
  uint8_t* to = r.to;
  uint32_t last = s->rank - 1;
  size_t step = r.step;
  size_t height = 1;
  size_t first_row = 0;
  size_t lo_row = 0;
  size_t lo;
  size_t hi;
  size_t first = inside(s, g, last, phase % g->phases[last], &lo, &hi);
  phase /= g->phases[last];
  r.rows = 1;
  r.count = hi - lo;
  r.step = step * (size_t)s->strides[last];
  r.to_row = g->dims[last];
  if (last > 0) {
    size_t hi_row;
    height = g->dims[last - 1];
    first_row = inside(s, g, last - 1, phase % g->phases[last - 1], &lo_row, &hi_row);
    phase /= g->phases[last - 1];
    r.rows = hi_row - lo_row;
    r.row = step * (size_t)(s->strides[last - 1] * s->in_width);
  }
  size_t outer = (size_t)g->count / (height * r.to_row);
  for (size_t at = 0; at < outer && r.count != 0 && r.rows != 0; ++at) {
    int64_t begin = last > 1 ? outer_of(s, g, at, phase) : 0;
    if (begin >= 0) {
      r.from = from + ((size_t)begin + first_row * (size_t)s->in_width + first) * step;
      r.to = to + (at * height + lo_row) * r.to_row + lo;
      copy_rectangle(&r);
    }
  }
}

static void prepare_plane(const job* j, size_t channel, size_t phase, uint8_t* to) {
  const stowi_kernel_conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = (size_t)s->channels;
  rectangle r = {.from = c->x->data, .to = to, .flip = stowi_kernel_conv_int_x_flip(c)};
  r.step = s->channels_last ? channels : 1;
  r.from += s->channels_last ? j->image * s->in_count * channels + channel
                             : (j->image * channels + channel) * s->in_count;
  memset(to, stowi_kernel_conv_int_x_zero(c), (size_t)j->grid.count);
  copy_phase(j, phase, r);
}

static void prepare_planes(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  size_t all = (size_t)j->grid.all;
  for (size_t i = begin; i < end; ++i) {
    prepare_plane(j, i / all, i % all, j->planes + i * (size_t)j->grid.count);
  }
}

static void sum_weights(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  for (size_t m = begin; m < end; ++m) {
    j->w_sums[m] = stowi_kernel_conv_int_row_sum(j->c, m);
    j->w_zeros[m] = stowi_kernel_conv_int_w_zero(j->c, m);
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks

// The panel of positions from |first| on, of all steps of a group.
static void pack_panel(const job* j, const stowi_kernel_integer_tiles* tiles, size_t group,
                       size_t first, size_t width, uint8_t* out) {
  static const uint8_t none[WIDTH];
  const stowi_kernel_conv_int* c = j->c;
  size_t plane = (size_t)(j->grid.all * j->grid.count);
  const uint8_t* from = j->planes + group * c->in_channels * plane + first;
  size_t tap = 0;
  for (size_t step = 0; step < j->depth;) {
    const uint8_t* rows[4 * GROUPS];
    size_t count = 0;
    for (; count < 4 * GROUPS && step < j->depth; ++count, ++step) {
      rows[count] = from + j->offsets[tap];
      if (++tap == c->slide.taps) {
        tap = 0;
        from += plane;
      }
    }
    for (; count % 4 != 0; ++count) {
      rows[count] = none;
    }
    tiles->pack(count / 4, rows, width, 0, out);
    out += count * width;
  }
}

// The position of the result that is the first one at or behind |at| in the grid.
static size_t position_of(const job* j, size_t at) {
  const stowi_kernel_slide* s = &j->c->slide;
  size_t stride = 1;
  size_t position = 0;
  for (uint32_t i = s->rank; i-- > 0; stride *= (size_t)s->out[i]) {
    size_t here = at % j->grid.dims[i];
    at /= j->grid.dims[i];
    if (here >= (size_t)s->out[i]) {  // everything behind it is another row's
      here = (size_t)s->out[i];
      position = 0;
    }
    position += here * stride;
  }
  return position;
}

typedef struct unit {
  size_t group;
  size_t row, rows;
  size_t first, count;  // positions in the grid
} unit;

static unit unit_at(const job* j, size_t i) {
  unit u = {.row = i % j->parts * j->rows};
  u.first = i / j->parts % j->blocks * j->panels * WIDTH;
  u.group = i / j->parts / j->blocks;
  u.rows = stowi_kernel_smaller(j->rows, j->c->out_channels - u.row);
  u.count = stowi_kernel_smaller(j->panels * WIDTH, (size_t)j->grid.positions - u.first);
  return u;
}

// Whether row |row| of the grid has positions of the result.
static bool has_positions(const job* j, size_t row) {
  const stowi_kernel_slide* s = &j->c->slide;
  bool has = true;
  for (uint32_t i = s->rank - 1; i-- > 1; row /= j->grid.dims[i]) {
    has = has && row % j->grid.dims[i] < (size_t)s->out[i];
  }
  return has;
}

// Leaves out what is not a position of the result. Rows that are copied anyway are finished one by
// one, others together.
static void finish_row(const job* j, const unit* u, size_t channel, int32_t* sums) {
  const stowi_kernel_conv_int* c = j->c;
  size_t width = j->grid.dims[c->slide.rank - 1];
  size_t out_width = (size_t)c->slide.out_width;
  size_t row = u->first / width;
  size_t column = u->first % width;
  size_t position = position_of(j, u->first);
  size_t kept = 0;
  for (size_t at = 0; at < u->count; at += width - column, column = 0, ++row) {
    size_t run = column < out_width && has_positions(j, row)
                     ? stowi_kernel_smaller(out_width - column, u->count - at)
                     : 0;
    if (c->result != NULL && run != 0) {
      c->finish(c->user, j->image, channel, position + kept, run, sums + at);
    } else if (kept != at && run != 0) {
      memmove(sums + kept, sums + at, run * sizeof(int32_t));
    }
    kept += run;
  }
  if (c->result == NULL) {
    c->finish(c->user, j->image, channel, position, kept, sums);
  }
}

// Of the positions of a block.
typedef struct x_columns {
  int32_t zeros[MOST_PANELS * WIDTH];
  uint32_t sums[MOST_PANELS * WIDTH];
} x_columns;

// Some channels of all positions of a unit.
static void run_rows(const job* j, const stowi_kernel_integer_tiles* tiles, const unit* u,
                     size_t channel, size_t rows, const x_columns* x, const room* r) {
  const stowi_kernel_conv_int* c = j->c;
  size_t c_row = (u->count + 7) / 8 * 8;
  for (size_t at = 0; at < u->count; at += WIDTH) {
    size_t width = stowi_kernel_integer_width(u->count - at);
    stowi_kernel_integer_tile t = {.rows = rows,
                                   .a = (const uint8_t*)c->w->data + channel * j->depth,
                                   .a_row = j->depth,
                                   .flip = stowi_kernel_conv_int_w_flip(c),
                                   .b = r->panels + at / WIDTH * panel_size(j),
                                   .width = width,
                                   .c = r->sums + at,
                                   .c_row = c_row};
    stowi_kernel_integer_rows(tiles, &t, j->depth, width);
  }
  stowi_kernel_integer_zeros z = {j->w_zeros + channel, j->w_sums + channel, x->zeros, x->sums};
  stowi_kernel_integer_correct(rows, u->count, &z, r->sums, c_row);
  for (size_t i = 0; i < rows; ++i) {
    finish_row(j, u, channel + i, r->sums + i * c_row);
  }
}

static void run_unit(const job* j, const unit* u, const room* r) {
  const stowi_kernel_integer_tiles* tiles = stowi_kernel_integer_tiles_best();
  x_columns x;
  int32_t zero = stowi_kernel_conv_int_x_zero(j->c);
  uint32_t steps = (uint32_t)j->depth * (uint32_t)zero;
  for (size_t at = 0; at < u->count; at += WIDTH) {
    size_t width = stowi_kernel_integer_width(u->count - at);
    uint8_t* panel = r->panels + at / WIDTH * panel_size(j);
    int32_t sums[WIDTH];
    pack_panel(j, tiles, u->group, u->first + at, width, panel);
    stowi_kernel_integer_column_sums(tiles, panel, stowi_kernel_integer_groups(j->depth), width,
                                     sums);
    for (size_t i = 0; i < width; ++i) {
      x.sums[at + i] = (uint32_t)sums[i] - steps;
      x.zeros[at + i] = zero;
    }
  }
  for (size_t i = 0; i < u->rows;) {
    size_t rows = stowi_kernel_smaller(u->rows - i, tiles->rows);
    run_rows(j, tiles, u, u->group * j->c->out_channels + u->row + i, rows, &x, r);
    i += rows;
  }
}

STOWI_KERNEL_LOOP(take_off,
                  (int32_t * c, const int32_t* x_sums, uint32_t zero, uint32_t rest, size_t count),
                  (c, x_sums, zero, rest, count)) {
  STOWI_KERNEL_INDEPENDENT
  for (size_t i = 0; i < count; ++i) {
    c[i] = (int32_t)((uint32_t)c[i] - zero * (uint32_t)x_sums[i] - rest);
  }
}

// A unit of one channel and few steps: those of panels are summed beside it, by a row of ones.
static void run_single(const job* j, const unit* u, const room* r) {
  const stowi_kernel_conv_int* c = j->c;
  const stowi_kernel_integer_tiles* tiles = stowi_kernel_integer_tiles_best();
  uint8_t pair[2 * FEW_STEPS] = {0};
  size_t channel = u->group * c->out_channels + u->row;
  size_t c_row = (u->count + 7) / 8 * 8;
  uint8_t flip = stowi_kernel_conv_int_w_flip(c);
  memcpy(pair, (const uint8_t*)c->w->data + channel * j->depth, j->depth);
  memset(pair + FEW_STEPS, 1 ^ flip, j->depth);
  for (size_t at = 0; at < u->count; at += WIDTH) {
    size_t width = stowi_kernel_integer_width(u->count - at);
    stowi_kernel_integer_tile t = {.rows = 2,
                                   .groups = stowi_kernel_integer_groups(j->depth),
                                   .a = pair,
                                   .a_row = FEW_STEPS,
                                   .flip = flip,
                                   .b = r->panels,
                                   .width = width,
                                   .c = r->sums + at,
                                   .c_row = c_row};
    pack_panel(j, tiles, u->group, u->first + at, width, r->panels);
    tiles->tile(&t);
  }
  uint32_t x_zero = (uint32_t)stowi_kernel_conv_int_x_zero(c);
  uint32_t w_zero = (uint32_t)j->w_zeros[channel];
  take_off(r->sums, r->sums + c_row, w_zero,
           x_zero * (j->w_sums[channel] - w_zero * (uint32_t)j->depth), u->count);
  finish_row(j, u, channel, r->sums);
}

static void run_units(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  stowi_kernel_carve carve = {j->workers + worker * j->worker_size, 0};
  room r = take_room(j, &carve);
  for (size_t i = begin; i < end; ++i) {
    unit u = unit_at(j, i);
    if (u.rows == 1 && j->depth <= FEW_STEPS) {
      run_single(j, &u, &r);
    } else {
      run_unit(j, &u, &r);
    }
  }
}

static void divide(job* j) {
  const stowi_kernel_conv_int* c = j->c;
  size_t block = j->panels * WIDTH;
  j->blocks = ((size_t)j->grid.positions + block - 1) / block;
  size_t units = j->blocks * c->group;
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = ((c->out_channels + wanted - 1) / wanted + ROWS - 1) / ROWS * ROWS;
  j->parts = (c->out_channels + j->rows - 1) / j->rows;
}

static void run_in_grid(stowi_kernel_conv_int* c) {
  const stowi_kernel_slide* s = &c->slide;
  job j = job_of(c);
  stowi_kernel_carve carve = {c->call->scratch, 0};
  take_all(&j, &carve);
  divide(&j);
  for (size_t tap = 0; tap < s->taps; ++tap) {
    j.offsets[tap] = offset_of(s, &j.grid, tap);
  }
  size_t planes = (size_t)s->channels * (size_t)j.grid.all;
  size_t work = j.panels * WIDTH * stowi_kernel_smaller(j.rows, c->out_channels) * j.depth;
  memset(j.planes + planes * (size_t)j.grid.count, 0, SLACK);
  stow_kernel_split(c->call, channels_of(c), (1 << 18) / j.depth + 1, sum_weights, &j);
  for (; j.image < (size_t)s->batch; ++j.image) {
    stow_kernel_split(c->call, planes, (1 << 18) / (size_t)j.grid.count + 1, prepare_planes, &j);
    stow_kernel_split(c->call, c->group * j.blocks * j.parts, (1 << 18) / work + 1, run_units, &j);
  }
}

// ---------------------------------------------------------------------------------------------
// The way for the call's variant

stow_status stowi_kernel_conv_int_read(const stow_kernel_call* call, const stow_tensor* x,
                                       const stow_tensor* w, const stow_tensor* y,
                                       stowi_kernel_conv_int* out) {
  *out = (stowi_kernel_conv_int){.call = call, .x = x, .w = w};
  out->group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1);
  out->in_channels = (size_t)w->dims[1];
  out->out_channels = (size_t)w->dims[0] / out->group;
  return stowi_kernel_slide_read(call, x, y, w->dims + 2, &out->slide);
}

// Where a grid would be too large, variant 0 is variant 1.
static uint64_t variant_size(const stowi_kernel_conv_int* c, uint32_t* variant) {
  stowi_kernel_conv_int copy = *c;
  job j = job_of(&copy);
  if (*variant == 0 && is_worth(&j)) {
    stowi_kernel_carve carve = {NULL, 0};
    take_all(&j, &carve);
    return carve.used;
  }
  *variant = *variant == 0 ? 1 : *variant;
  return stowi_kernel_times(stowi_kernel_conv_int_lean_size(c, *variant), c->call->workers);
}

// Which variant is computed: the smallest of those up to the call's. *out_size is what it needs.
static uint32_t variant_of(const stowi_kernel_conv_int* c, uint64_t* out_size) {
  uint32_t asked = stowi_kernel_variant(c->call);
  uint32_t best = 0;
  *out_size = variant_size(c, &best);
  for (uint32_t v = 1; v <= asked && v < STOWI_KERNEL_CONV_INT_VARIANTS; ++v) {
    uint32_t way = v;
    uint64_t size = variant_size(c, &way);
    if (size < *out_size) {
      best = way;
      *out_size = size;
    }
  }
  return best;
}

uint64_t stowi_kernel_conv_int_scratch(const stowi_kernel_conv_int* c) {
  uint64_t size;
  (void)variant_of(c, &size);
  return size;
}

static bool is_byte(const stow_tensor* t) { return t->dtype == STOW_U8 || t->dtype == STOW_I8; }

stow_status stowi_kernel_conv_int_run(stowi_kernel_conv_int* c) {
  const stowi_kernel_slide* s = &c->slide;
  uint64_t size;
  if (!is_byte(c->x) || !is_byte(c->w)) {
    return stow_kernel_fail(c->call, STOW_ERR_UNSUPPORTED, "operands must be u8 or i8");
  }
  if (s->batch == 0 || s->out_count == 0 || channels_of(c) == 0) {
    return STOW_OK;
  }
  uint32_t variant = variant_of(c, &size);
  if (variant == 0) {
    run_in_grid(c);
  } else {
    stowi_kernel_conv_int_lean(c, variant);
  }
  return STOW_OK;
}
