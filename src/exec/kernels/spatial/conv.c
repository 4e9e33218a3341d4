// Convolution of floats as a matrix product, or channel by channel (depthwise.c, conv_f64.c).
#include "exec/kernels/spatial/conv.h"

#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Convolution as a matrix product: the weights [M × depth] times the window data [depth ×
// positions]. The latter is never complete: of a block of some hundred positions, and a chain of
// steps (gemm.h), what they read is copied to a panel that stays in the second-level cache, and
// multiplied. Workers take blocks, each with its own panel; if there are too few blocks, also
// ranges of the weights' rows. A 1 × 1 kernel with stride 1 reads x directly and needs no panel.
//
// A block is some rows of the result, or a part of one that is long. The panel has, for each
// channel and each tap along the last dim, a plane: the rows of x that the block reads, each with
// an element for every position of a row, padding included. Taps along the dim before it read the
// same plane, whole rows apart; a table says where each step begins.
//
//     x    . . . . .      plane of    0 0 0 0 0      a kernel of 3 × 3 has three planes for each
//          a b c d e      tap 0       0 a b c d      channel, of two rows more than the block;
//          f g h i j                  0 f g h i      the step of tap (1, 0) begins in its second
//
// With strides along rows there is a segment of a plane for each remainder. Where sharing would
// copy more, as with large dilations, and in more than two dims, each outer tap has its own
// segment.
//
// Bits: an element begins as its bias (and addend). Products are summed in ascending order of
// channel and tap, in chains as gemm.h describes. The size of the blocks of positions has no
// influence.

#define CHAIN STOWI_KERNEL_GEMM_CHAIN
#define PANEL_FLOATS 65536  // in a panel, unless the least number of positions needs more
#define LEAST_POSITIONS 16
#define MOST_POSITIONS 1024
#define STEP 16      // positions of a part of a row, and floats of a plane, are multiples of it
#define ROW_STEP 12  // of weights, whole panels

// Blocks and planes.
typedef struct planes {
  size_t rows, width;  // of the result, in a block
  size_t parts;        // of a row
  size_t period, hop;  // outer tap i reads segment i % period, i / period · hop rows further
  size_t segment;      // rows of x in a segment
  size_t floats;       // of a plane
} planes;

typedef struct job {
  const stowi_kernel_conv* c;
  const float* weights;
  bool is_pointwise;     // no panel: x is the factor
  bool is_half;          // y is made in f32 first
  stowi_kernel_slide w;  // the window, in two dims at least
  planes planes;
  size_t positions;        // in a block
  size_t blocks;           // of positions, in an image
  size_t rows;             // of weights, in a part
  size_t parts;            // of weights, in a group
  unsigned char* scratch;  // of worker 0
  uint64_t scratch_size;   // of each worker
} job;

static size_t round_up(size_t n, size_t step) { return (n + step - 1) / step * step; }

// ---------------------------------------------------------------------------------------------
// Sizes

// Whether x is the factor as it is.
static bool is_pointwise(const stowi_kernel_conv* c) {
  return !stowi_kernel_conv_is_half(c) && stowi_kernel_slide_is_pointwise(&c->window);
}

// Of a panel, for all positions, or as many as have room in a second-level cache, or the least; no
// fewer for more dims.
static uint64_t panel_floats(const stowi_kernel_conv* c) {
  uint64_t all = (uint64_t)c->depth * (round_up(c->window.out_count, STEP) + STEP);
  uint64_t deep = 2 * (uint64_t)c->window.taps + CHAIN;  // taps of the channels of a chain, at most
  uint64_t least = (deep < c->depth ? deep : c->depth) * (LEAST_POSITIONS + STEP);
  uint64_t most = least > PANEL_FLOATS ? least : PANEL_FLOATS;
  return (all < most ? all : most) + STOWI_KERNEL_TILE_COLUMNS;
}

static uint64_t panel_size(const stowi_kernel_conv* c) {
  return is_pointwise(c) ? 0 : stowi_kernel_align64(panel_floats(c) * sizeof(float));
}

// The result in f32, of all channels of a group in a block, where it is of another dtype.
static uint64_t tile_size(const stowi_kernel_conv* c) {
  if (!stowi_kernel_conv_is_half(c)) {
    return 0;
  }
  size_t positions = stowi_kernel_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  return stowi_kernel_align64((uint64_t)c->out_channels * positions * sizeof(float));
}

static uint64_t weights_size(const stowi_kernel_conv* c) {
  return stowi_kernel_conv_is_half(c)
             ? stowi_kernel_align64((uint64_t)stow_tensor_elements(c->w) * sizeof(float))
             : 0;
}

static uint64_t product_size(const stowi_kernel_conv* c) {
  static const uint32_t anywhere;
  size_t positions = stowi_kernel_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  stowi_kernel_gemm gemm = {.m = c->out_channels,
                            .n = positions,
                            .k = c->depth,
                            .a.column = 1,
                            .alpha = 1,
                            .a_steps = c->is_packed ? c->depth : 0,
                            .b_at = is_pointwise(c) ? NULL : &anywhere};
  return c->is_packed || !is_pointwise(c)
             ? stowi_kernel_gemm_packed_scratch(&gemm, 1)
             : stowi_kernel_gemm_scratch(c->out_channels, positions, c->depth, 1, 0);
}

static uint64_t worker_size(const stowi_kernel_conv* c) {
  return panel_size(c) + tile_size(c) + stowi_kernel_align64(product_size(c));
}

// All others, through products of matrices: f32, f16, bf16.
static uint64_t conv_panel_scratch(const stowi_kernel_conv* c) {
  return weights_size(c) + worker_size(c) * c->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Planes

// Planes for as many channels as a chain has, at most.
static size_t most_planes(const job* j) {
  size_t channels = (CHAIN - 2) / stowi_kernel_larger(j->w.taps, 1) + 2;
  return stowi_kernel_larger(stowi_kernel_smaller(channels, j->c->in_channels), 1) *
         (size_t)j->w.kernel_width;
}

// An odd number of cache lines: steps of a tile then spread over all sets of the cache.
static size_t plane_floats(size_t floats) {
  size_t lines = round_up(floats, STEP) / STEP;
  return (lines | 1) * STEP;
}

// How many rows of the result have room in planes of |floats| floats.
static size_t rows_in(const planes* p, size_t outer_taps, size_t width, size_t floats) {
  size_t segment = floats / p->period / stowi_kernel_larger(width, 1);
  size_t more = (outer_taps - 1) / p->period * p->hop;
  return segment > more ? segment - more : 0;
}

// Segments that several outer taps share, if they do.
static planes shared_planes(const stowi_kernel_slide* w) {
  size_t stride = (size_t)w->strides[0];
  size_t dilation = (size_t)w->dilations[0];
  size_t common = stride;
  for (size_t rest = dilation; rest != 0;) {
    size_t next = common % rest;
    common = rest;
    rest = next;
  }
  return (planes){.period = stowi_kernel_smaller(stride / common, w->outer_taps),
                  .hop = dilation / common};
}

// Blocks of rows, or of parts of a row, for which planes have room.
static planes planes_of(const job* j) {
  const stowi_kernel_slide* w = &j->w;
  size_t width = (size_t)w->out_width;
  size_t room = (size_t)panel_floats(j->c) - STOWI_KERNEL_TILE_COLUMNS;
  size_t lines = room / most_planes(j) / STEP;
  size_t floats = (lines % 2 == 1 || lines == 0 ? lines : lines - 1) * STEP;
  planes own = {.period = w->outer_taps};
  planes p = w->rank == 2 ? shared_planes(w) : own;
  size_t rows = rows_in(&p, w->outer_taps, width, floats);
  size_t copied = p.period * (rows + (w->outer_taps - 1) / p.period * p.hop);
  if (rows == 0 || copied > w->outer_taps * rows) {
    p = own;
    rows = rows_in(&p, w->outer_taps, width, floats);
  }
  rows = stowi_kernel_smaller(rows, w->rank == 2 ? MOST_POSITIONS / width : MOST_POSITIONS > width);
  p.parts = 1;
  p.width = width;
  if (rows == 0) {
    rows = 1;
    size_t most = stowi_kernel_smaller(floats / w->outer_taps / STEP * STEP, MOST_POSITIONS);
    p = own;
    p.parts = (width + most - 1) / most;
    p.width = round_up((width + p.parts - 1) / p.parts, STEP);
    p.parts = (width + p.width - 1) / p.width;
  }
  size_t blocks = (w->out_rows + rows - 1) / rows;
  p.rows = (w->out_rows + blocks - 1) / blocks;
  p.segment = p.rows + (w->outer_taps - 1) / p.period * p.hop;
  p.floats = plane_floats(p.period * p.segment * p.width);
  return p;
}

// Some rows of a plane: |before| of them padding, |inside| elements of x, |pitch| apart, |after|
// padding; and so along each row.
typedef struct piece {
  size_t before, inside, after;
  size_t pitch;
  stowi_kernel_tap_run run;
} piece;

// Rows are often so short that a call of memcpy would take longer than copying.
STOWI_KERNEL_INLINE void copy_floats(const float* from, size_t count, float* to) {
  enum { ONCE = 16 };
  size_t i = 0;
  for (; i + ONCE <= count; i += ONCE) {
    memcpy(to + i, from + i, ONCE * sizeof(float));
  }
  if (count >= ONCE) {
    memcpy(to + count - ONCE, from + count - ONCE, ONCE * sizeof(float));
  } else if (count >= 4) {
    for (; i + 4 <= count; i += 4) {
      memcpy(to + i, from + i, 4 * sizeof(float));
    }
    memcpy(to + count - 4, from + count - 4, 4 * sizeof(float));
  } else if (count != 0) {
    to[0] = from[0];
    to[count / 2] = from[count / 2];
    to[count - 1] = from[count - 1];
  }
}

STOWI_KERNEL_INLINE void pick_floats(const float* from, size_t step, size_t count, float* to) {
  if (step == 1) {
    copy_floats(from, count, to);
  } else if (step == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = from[2 * i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = from[i * step];
    }
  }
}

STOWI_KERNEL_INLINE float* clear_floats(float* to, size_t count) {
  if (count != 0) {
    to[0] = 0;
  }
  if (count > 1) {
    memset(to + 1, 0, (count - 1) * sizeof(float));
  }
  return to + count;
}

STOWI_KERNEL_LOOP(copy_piece, (const piece* p, const float* x, float* to), (p, x, to)) {
  size_t width = stowi_kernel_tap_run_count(&p->run);
  to = clear_floats(to, p->before * width);
  for (size_t row = 0; row < p->inside; ++row, x += p->pitch) {
    to = clear_floats(to, p->run.before);
    pick_floats(x, p->run.step, p->run.inside, to);
    to = clear_floats(to + p->run.inside, p->run.after);
  }
  (void)clear_floats(to, p->after * width);
}

static void load_piece(const stow_tensor* x, const piece* p, size_t first, float* to) {
  stowi_kernel_tap_run run = p->run;
  size_t width = stowi_kernel_tap_run_count(&run);
  if (x->dtype == STOW_F32) {
    copy_piece(p, (const float*)x->data + (p->inside == 0 || run.inside == 0 ? 0 : first), to);
    return;
  }
  for (size_t row = 0; row < p->before + p->inside + p->after; ++row, to += width) {
    bool is_inside = row >= p->before && row - p->before < p->inside;
    stowi_kernel_tap_run none = {.before = width, .step = 1};
    run.first = is_inside ? first + (row - p->before) * p->pitch : 0;
    stowi_kernel_tap_run_load(is_inside ? &run : &none, x, 0, 1, 0, to, 0);
  }
}

// What the segment of outer tap |tap| has of one channel, for the runs of a tap of the last dim.
// Returns where its first row inside x begins in a channel.
static size_t piece_of(const job* j, const stowi_kernel_conv_part* at, size_t tap,
                       const stowi_kernel_tap_run* run, piece* out) {
  const stowi_kernel_slide* w = &j->w;
  const planes* p = &j->planes;
  size_t row = at->first / (size_t)w->out_width;
  size_t rows = (at->count - 1) / (size_t)w->out_width + 1;
  *out = (piece){.run = *run};
  if (w->rank > 2) {
    int64_t from = stowi_kernel_slide_row(w, row, tap);
    *out = (piece){from < 0, from >= 0, 0, 0, *run};
    return from < 0 ? 0 : (size_t)from + run->first;
  }
  int64_t stride = w->strides[0];
  int64_t start = (int64_t)row * stride + (int64_t)tap * w->dilations[0] - w->begins[0];
  int64_t count = (int64_t)(rows + (w->outer_taps - 1 - tap) / p->period * p->hop);
  int64_t lo = start >= 0 ? 0 : (-start + stride - 1) / stride;
  int64_t hi = start >= w->in[0] ? 0 : (w->in[0] - 1 - start) / stride + 1;
  lo = stowi_kernel_min_i64(lo, count);
  hi = stowi_kernel_max_i64(stowi_kernel_min_i64(hi, count), lo);
  out->before = (size_t)lo;
  out->inside = (size_t)(hi - lo);
  out->after = (size_t)(count - hi);
  out->pitch = (size_t)(stride * w->in_width);
  return hi == lo ? 0 : (size_t)((start + lo * stride) * w->in_width) + run->first;
}

// Rows of one element are a single run.
static void join_rows(const stowi_kernel_slide* w, piece* p) {
  if (w->in_width == 1 && w->out_width == 1 && w->kernel_width == 1 && p->run.inside == 1) {
    p->run = (stowi_kernel_tap_run){p->before, p->inside, p->after, p->run.first, p->pitch};
    p->before = p->after = 0;
    p->inside = 1;
  }
}

// Planes of the channels from |channel| on, of which |x_first| is the first element.
static void fill_planes(const job* j, const stowi_kernel_conv_part* at, size_t x_first,
                        size_t channels, float* panel) {
  const stowi_kernel_slide* w = &j->w;
  const planes* p = &j->planes;
  size_t taps = (size_t)w->kernel_width;
  size_t width = (size_t)w->out_width;
  for (size_t k = 0; k < taps; ++k) {
    stowi_kernel_tap_run run = stowi_kernel_slide_row_run(w, 0, (int64_t)k, at->first % width,
                                                          stowi_kernel_smaller(at->count, width));
    for (size_t tap = 0; tap < p->period; ++tap) {
      piece of_tap;
      size_t first = x_first + piece_of(j, at, tap, &run, &of_tap);
      join_rows(w, &of_tap);
      for (size_t channel = 0; channel < channels; ++channel) {
        load_piece(j->c->x, &of_tap, first + channel * w->in_count,
                   panel + (channel * taps + k) * p->floats + tap * p->segment * p->width);
      }
    }
  }
}

// Where |steps| steps from |step| on begin in a panel whose first channel is that of |step|.
static void fill_table(const job* j, size_t step, size_t steps, uint32_t* table) {
  const planes* p = &j->planes;
  stowi_kernel_step at = stowi_kernel_step_at(&j->w, step);
  size_t first = at.channel;
  size_t row = 0;
  for (size_t i = 0; i < steps; ++i) {
    if (i == 0 || at.last == 0) {
      row = at.outer % p->period * p->segment + at.outer / p->period * p->hop;
    }
    size_t plane = (at.channel - first) * (size_t)j->w.kernel_width + at.last;
    table[i] = (uint32_t)(plane * p->floats + row * p->width);
    stowi_kernel_step_next(&j->w, &at);
  }
}

// ---------------------------------------------------------------------------------------------
// Products

typedef stowi_kernel_conv_part part;

static part part_at(const job* j, size_t unit) {
  const stowi_kernel_conv* c = j->c;
  size_t row = unit % j->parts * j->rows;
  size_t block = unit / j->parts % j->blocks;
  size_t group = unit / j->parts / j->blocks % c->group;
  part p = {unit / j->parts / j->blocks / c->group, group, row, 0, block * j->positions, 0};
  p.rows = stowi_kernel_smaller(j->rows, c->out_channels - row);
  size_t end = c->window.out_count;
  if (j->planes.parts > 1) {
    end = (block / j->planes.parts + 1) * (size_t)j->w.out_width;
    p.first = end - (size_t)j->w.out_width + block % j->planes.parts * j->planes.width;
  }
  p.count = stowi_kernel_smaller(j->positions, end - p.first);
  return p;
}

size_t stowi_kernel_conv_at(const stowi_kernel_conv* c, const part* p, size_t row) {
  size_t channel = (p->image * c->group + p->group) * c->out_channels + p->row + row;
  return channel * c->window.out_count + p->first;
}

bool stowi_kernel_conv_begin(const stowi_kernel_conv* c, const part* p, float* to, size_t to_row) {
  for (size_t r = 0; r < p->rows && (c->bias != NULL || c->addend != NULL); ++r) {
    float* row = to + r * to_row;
    float bias = 0;
    if (c->bias != NULL) {
      stowi_kernel_load_f32(c->bias->dtype, c->bias->data, p->group * c->out_channels + p->row + r,
                            1, &bias);
    }
    if (c->addend != NULL) {
      stowi_kernel_load_f32(c->addend->dtype, c->addend->data, stowi_kernel_conv_at(c, p, r),
                            p->count, row);
      for (size_t i = 0; i < p->count; ++i) {
        row[i] += bias;
      }
    } else {
      for (size_t i = 0; i < p->count; ++i) {
        row[i] = bias;
      }
    }
  }
  return c->bias != NULL || c->addend != NULL;
}

// What a worker has for itself.
typedef struct space {
  float* panel;
  float* tile;
  void* gemm;
} space;

static space space_of(const job* j, uint32_t worker) {
  unsigned char* mine = j->scratch + worker * j->scratch_size;
  unsigned char* tile = mine + panel_size(j->c);
  return (space){(float*)(void*)mine, (float*)(void*)tile, tile + tile_size(j->c)};
}

// What a part reads of steps from |gemm->first_step| on.
static void load_windows(const job* j, const part* p, size_t x_first, float* panel,
                         stowi_kernel_gemm* gemm, uint32_t* table) {
  const stowi_kernel_conv* c = j->c;
  size_t step = gemm->first_step;
  if (j->is_pointwise) {
    gemm->b.data = (const float*)c->x->data + x_first + p->first;
    gemm->b.row = c->window.in_count;
    gemm->b.column = 1;
    return;
  }
  gemm->k = stowi_kernel_smaller(c->depth - step, CHAIN);
  size_t channel = step / j->w.taps;
  size_t channels = (step + gemm->k - 1) / j->w.taps + 1 - channel;
  fill_planes(j, p, x_first + channel * c->window.in_count, channels, panel);
  fill_table(j, step, gemm->k, table);
  gemm->b.data = panel;
  gemm->b_at = table;
}

static void run_part(const job* j, const part* p, const space* s) {
  const stowi_kernel_conv* c = j->c;
  size_t x_first = (p->image * c->group + p->group) * c->in_channels * c->window.in_count;
  size_t to_row = j->is_half ? j->positions : c->window.out_count;
  float* to = j->is_half ? s->tile : (float*)c->y->data + stowi_kernel_conv_at(c, p, 0);
  const float* weights = j->weights + (p->group * c->out_channels + p->row) * c->depth;
  uint32_t table[CHAIN];
  stowi_kernel_gemm gemm = {.m = p->rows,
                            .n = p->count,
                            .k = c->depth,
                            .c = to,
                            .c_row = to_row,
                            .alpha = 1,
                            .a_steps = c->is_packed ? c->depth : 0};
  if (c->is_packed && c->bias != NULL && c->addend == NULL) {
    gemm.bias = (const float*)c->bias->data + p->group * c->out_channels + p->row;
  } else {
    gemm.accumulate = stowi_kernel_conv_begin(c, p, to, to_row);
  }
  do {
    gemm.a = (stowi_kernel_matrix){weights + (c->is_packed ? 0 : gemm.first_step), c->depth, 1};
    load_windows(j, p, x_first, s->panel, &gemm, table);
    stowi_kernel_gemm_alone(&gemm, s->gemm);
    gemm.accumulate = true;
    gemm.bias = NULL;
    gemm.first_step += gemm.k;
  } while (gemm.first_step < c->depth);
  for (size_t r = 0; j->is_half && r < p->rows; ++r) {
    stowi_kernel_store_f32(c->y->dtype, c->y->data, stowi_kernel_conv_at(c, p, r), p->count,
                           to + r * to_row);
  }
}

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  space s = space_of(j, worker);
  for (size_t unit = begin; unit < end; ++unit) {
    part p = part_at(j, unit);
    run_part(j, &p, &s);
  }
}

static void widen_weights(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const stowi_kernel_conv* c = user;
  stowi_kernel_load_f32(c->w->dtype, c->w->data, begin, end - begin,
                        (float*)c->call->scratch + begin);
}

// Of one spatial dim, along which taps share planes as rows of one element.
static stowi_kernel_slide in_two_dims(const stowi_kernel_slide* w) {
  stowi_kernel_slide two = *w;
  if (w->rank == 1) {
    two.rank = 2;
    two.in[1] = two.out[1] = two.kernel[1] = two.strides[1] = two.dilations[1] = 1;
    two.begins[1] = two.ends[1] = 0;
    two.out_rows = w->out_count;
    two.outer_taps = w->taps;
    two.in_width = two.out_width = two.kernel_width = 1;
  }
  return two;
}

// Enough parts for every worker: blocks first, then rows of the weights.
static void divide(job* j) {
  const stowi_kernel_conv* c = j->c;
  size_t count = c->window.out_count;
  if (j->is_pointwise) {
    size_t blocks = (count + MOST_POSITIONS / 2 - 1) / (MOST_POSITIONS / 2);
    j->positions = round_up((count + blocks - 1) / blocks, STEP);
    j->blocks = (count + j->positions - 1) / j->positions;
  } else {
    j->planes = planes_of(j);
    j->positions = j->planes.rows * j->planes.width;
    j->blocks = (j->w.out_rows + j->planes.rows - 1) / j->planes.rows * j->planes.parts;
  }
  size_t units = stowi_kernel_larger(j->blocks * c->group * (size_t)c->window.batch, 1);
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = stowi_kernel_larger(round_up((c->out_channels + wanted - 1) / wanted, ROW_STEP), 1);
  j->parts = stowi_kernel_larger((c->out_channels + j->rows - 1) / j->rows, 1);
}

static void conv_panel(stowi_kernel_conv* c) {
  job j = {.c = c, .weights = c->w->data, .is_half = stowi_kernel_conv_is_half(c)};
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  j.is_pointwise = is_pointwise(c) || c->depth == 0;
  j.w = in_two_dims(&c->window);
  divide(&j);
  j.scratch = (unsigned char*)c->call->scratch + weights_size(c);
  j.scratch_size = worker_size(c);
  if (j.is_half) {
    j.weights = c->call->scratch;
    stow_kernel_split(c->call, stow_tensor_elements(c->w), 16384, widen_weights, c);
  }
  stow_kernel_split(c->call, (size_t)c->window.batch * c->group * j.blocks * j.parts, 1, run_parts,
                    &j);
}

// ---------------------------------------------------------------------------------------------
// The kernel: chooses the method by dtype and weights.

stow_status stowi_kernel_conv_read(const stow_kernel_call* call, size_t addend,
                                   stowi_kernel_conv* out) {
  *out = (stowi_kernel_conv){.call = call,
                             .x = stow_kernel_operand(call, 0),
                             .w = stow_kernel_operand(call, 1),
                             .bias = stow_kernel_operand(call, 2),
                             .addend = stow_kernel_operand(call, addend),
                             .y = stow_kernel_result(call, 0)};
  stow_status status =
      stowi_kernel_slide_read(call, out->x, out->y, out->w->dims + 2, &out->window);
  out->group = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_GROUP, 1);
  out->in_channels = (size_t)out->w->dims[1];
  out->out_channels = (size_t)out->w->dims[0] / out->group;
  out->depth = out->in_channels * out->window.taps;
  out->is_packed = stowi_kernel_operand_is_packed(call, 1);
  return status;
}

static bool is_panel(stow_dtype dtype) {
  return dtype == STOW_F32 || dtype == STOW_F16 || dtype == STOW_BF16;
}

// More channels of the result that read the same channel of x make a product worth its blocking.
static bool is_depthwise(const stowi_kernel_conv* c) {
  return c->x->dtype == STOW_F32 && c->in_channels == 1 && c->out_channels <= 4;
}

uint64_t stowi_kernel_conv_pack_size(const stow_kernel_call* call, size_t k) {
  stowi_kernel_conv c;
  bool is_read = k == 1 && stowi_kernel_conv_read(call, SIZE_MAX, &c) == STOW_OK;
  return is_read && c.x->dtype == STOW_F32 && c.w->dtype == STOW_F32 && !is_depthwise(&c) &&
                 c.depth != 0
             ? stow_tensor_bytes(c.w)
             : 0;
}

void stowi_kernel_conv_pack(const stow_kernel_call* call, size_t k, void* out) {
  (void)k;
  stowi_kernel_conv c;
  (void)stowi_kernel_conv_read(call, SIZE_MAX, &c);
  for (size_t g = 0; g < c.group; ++g) {
    size_t first = g * c.out_channels * c.depth;
    stowi_kernel_matrix w = {(const float*)c.w->data + first, c.depth, 1};
    stowi_kernel_gemm_pack_a(&w, c.out_channels, c.depth, (float*)out + first);
  }
}

static uint64_t variant_size(const stowi_kernel_conv* c, uint32_t variant) {
  return variant == 0 ? conv_panel_scratch(c)
         : stowi_kernel_conv_is_direct(c)
             ? 0
             : stowi_kernel_conv_lean_size(c, (stowi_kernel_conv_room)variant);
}

// Of the variants up to the call's the one that needs least, and how much.
static uint32_t variant_of(const stowi_kernel_conv* c, uint64_t* out_size) {
  uint32_t best = 0;
  *out_size = variant_size(c, 0);
  for (uint32_t v = 1; v <= stowi_kernel_variant(c->call) && v < STOWI_KERNEL_CONV_VARIANTS; ++v) {
    uint64_t size = variant_size(c, v);
    if (size < *out_size) {
      best = v;
      *out_size = size;
    }
  }
  return best;
}

uint64_t stowi_kernel_conv_scratch(const stowi_kernel_conv* c) {
  uint64_t size = 0;
  if (is_panel(c->x->dtype) && !is_depthwise(c)) {
    (void)variant_of(c, &size);
  }
  return size;
}

static void conv_products(stowi_kernel_conv* c) {
  uint64_t size;
  uint32_t variant = variant_of(c, &size);
  if (stowi_kernel_conv_is_direct(c) && (variant != 0 || stowi_kernel_conv_is_spread(c))) {
    stowi_kernel_conv_direct(c);
  } else if (variant == 0) {
    conv_panel(c);
  } else {
    stowi_kernel_conv_lean(c, (stowi_kernel_conv_room)variant);
  }
}

stow_status stowi_kernel_conv_run(stowi_kernel_conv* c) {
  if (c->x->dtype == STOW_F64) {
    stowi_kernel_conv_f64(c);
  } else if (!is_panel(c->x->dtype)) {
    return stow_kernel_fail(c->call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  } else if (is_depthwise(c)) {
    stowi_kernel_conv_depthwise(c);
  } else {
    conv_products(c);
  }
  return STOW_OK;
}

static stow_status scratch_conv(const stow_kernel_call* call, uint64_t* out_bytes) {
  stowi_kernel_conv c;
  stow_status status = stowi_kernel_conv_read(call, SIZE_MAX, &c);
  *out_bytes = status == STOW_OK ? stowi_kernel_conv_scratch(&c) : 0;
  return status;
}

static stow_status run_conv(stow_kernel_call* call) {
  stowi_kernel_conv c;
  STOWI_KERNEL_TRY(stowi_kernel_conv_read(call, SIZE_MAX, &c));
  return stowi_kernel_conv_run(&c);
}

STOWI_KERNEL(CONV, scratch_conv, run_conv, .variant_count = STOWI_KERNEL_CONV_VARIANTS,
             .pack_size = stowi_kernel_conv_pack_size, .pack = stowi_kernel_conv_pack);
