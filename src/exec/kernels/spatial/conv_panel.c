// Convolution as a product of matrices, the weights [M × depth] times what windows read [depth ×
// positions]. The second is never whole: a block of some hundred positions is copied to a panel
// that stays in the second-level cache, multiplied, and forgotten. Workers take blocks, each with a
// panel of its own; where there are too few blocks, also some of the rows of the weights. A kernel
// of ones with stride 1 reads x itself and needs no panel.
//
// Bits: an element begins as its bias (and addend). Products are summed in ascending order of
// channel and tap, in chains as gemm.h says. Blocks of positions do not show.
#include <string.h>

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

#define PANEL_FLOATS 65536  // in a panel, unless the least number of positions needs more
#define LEAST_POSITIONS 64
#define MOST_POSITIONS 1024
#define STEP 16      // positions in a block are a multiple of it
#define ROW_STEP 16  // of weights

typedef struct job {
  const stowi_conv* c;
  const float* weights;
  bool is_direct;          // no panel: x is the factor
  bool is_half;            // y is made in f32 first
  size_t positions;        // in a block
  size_t panel_row;        // from one row of a panel to the next
  size_t blocks;           // of positions, in an image
  size_t rows;             // of weights, in a part
  size_t parts;            // of weights, in a group
  unsigned char* scratch;  // of worker 0
  uint64_t scratch_size;   // of each worker
} job;

static size_t round_up(size_t n, size_t step) { return (n + step - 1) / step * step; }

// ---------------------------------------------------------------------------------------------
// Sizes

static bool is_half(const stowi_conv* c) { return c->x->dtype != STOW_F32; }

static bool is_pointwise(const stowi_slide* w) {
  bool is = w->taps == 1;
  for (uint32_t i = 0; i < w->rank; ++i) {
    is = is && w->strides[i] == 1 && w->begins[i] == 0 && w->in[i] == w->out[i];
  }
  return is;
}

static size_t most_positions(const stowi_conv* c) {
  size_t fit = PANEL_FLOATS / stowi_larger(c->depth, 1) / STEP * STEP;
  return stowi_smaller(stowi_larger(fit, LEAST_POSITIONS), MOST_POSITIONS);
}

// Rows of a panel lie an odd number of cache lines apart: the lines that a product reads together
// then spread over all sets of the cache, and it need not copy them first.
static size_t panel_row(size_t positions) {
  size_t row = round_up(positions, STEP);
  return row / STEP % 2 == 0 ? row + STEP : row;
}

// No fewer floats for more dims, though a block has fewer positions where it is deeper.
static uint64_t panel_size(const stowi_conv* c) {
  uint64_t all = (uint64_t)c->depth * round_up(c->window.out_count, STEP);
  uint64_t most = (uint64_t)c->depth * LEAST_POSITIONS;
  most = most > PANEL_FLOATS ? most : PANEL_FLOATS;
  return stowi_align64(((all < most ? all : most) + (uint64_t)c->depth * STEP) * sizeof(float));
}

// The result in f32, of all channels of a group in a block, where it is of another dtype.
static uint64_t tile_size(const stowi_conv* c) {
  if (!is_half(c)) {
    return 0;
  }
  size_t positions = stowi_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  return stowi_align64((uint64_t)c->out_channels * positions * sizeof(float));
}

static uint64_t weights_size(const stowi_conv* c) {
  return is_half(c) ? stowi_align64((uint64_t)stow_tensor_elements(c->w) * sizeof(float)) : 0;
}

static uint64_t worker_size(const stowi_conv* c) {
  size_t positions = stowi_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  return panel_size(c) + tile_size(c) +
         stowi_align64(stowi_gemm_scratch(c->out_channels, positions, c->depth, 1));
}

uint64_t stowi_conv_panel_scratch(const stowi_conv* c) {
  return weights_size(c) + worker_size(c) * c->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Panels

// Positions [begin, end) of one row of the result: |to| is where the panel's column for |begin| is.
typedef struct segment {
  size_t row;
  int64_t begin, end;
  float* to;
} segment;

static void copy_row(stow_dtype dtype, const void* from, size_t first, size_t stride, size_t count,
                     float* to) {
  if (dtype != STOW_F32) {
    for (size_t i = 0; stride != 1 && i < count; ++i) {
      stowi_load_f32(dtype, from, first + i * stride, 1, to + i);
    }
    if (stride == 1) {
      stowi_load_f32(dtype, from, first, count, to);
    }
    return;
  }
  const float* x = (const float*)from + first;
  if (stride == 1) {
    memcpy(to, x, count * sizeof(float));
  } else if (stride == 2) {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[2 * i];
    }
  } else {
    for (size_t i = 0; i < count; ++i) {
      to[i] = x[i * stride];
    }
  }
}

static void fill_zeros(float* to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    to[i] = 0;
  }
}

// What tap (|outer|, |k|) reads for the segment, in every channel of the group. |row| is where x's
// row begins, -1 for padding.
static void copy_tap(const job* j, const segment* s, size_t outer, int64_t k, size_t x_first,
                     int64_t row) {
  const stowi_slide* w = &j->c->window;
  uint32_t last = w->rank - 1;
  int64_t lo;
  int64_t hi;
  stowi_slide_range(w, last, k, &lo, &hi);
  lo = row < 0 ? s->end : stowi_min_i64(stowi_max_i64(lo, s->begin), s->end);
  hi = row < 0 ? s->end : stowi_min_i64(stowi_max_i64(hi, lo), s->end);
  int64_t at = lo * w->strides[last] + k * w->dilations[last] - w->begins[last];
  size_t before = (size_t)(lo - s->begin);
  size_t inside = (size_t)(hi - lo);
  size_t after = (size_t)(s->end - hi);
  float* to = s->to + (outer * (size_t)w->kernel_width + (size_t)k) * j->panel_row;
  for (size_t c = 0; c < j->c->in_channels; ++c) {
    fill_zeros(to, before);
    if (inside != 0) {
      copy_row(j->c->x->dtype, j->c->x->data, x_first + c * w->in_count + (size_t)(row + at),
               (size_t)w->strides[last], inside, to + before);
    }
    fill_zeros(to + before + inside, after);
    to += w->taps * j->panel_row;
  }
}

// |x_first| is the first element of the group's channels in the image.
static void fill_panel(const job* j, size_t first, size_t count, size_t x_first, float* panel) {
  const stowi_slide* w = &j->c->window;
  size_t width = (size_t)w->out_width;
  for (size_t done = 0; done < count && j->c->in_channels != 0;) {
    segment s = {(first + done) / width, (int64_t)((first + done) % width), 0, panel + done};
    s.end = stowi_min_i64(w->out_width, s.begin + (int64_t)(count - done));
    for (size_t outer = 0; outer < w->outer_taps; ++outer) {
      int64_t row = stowi_slide_row(w, s.row, outer);
      for (int64_t k = 0; k < w->kernel_width; ++k) {
        copy_tap(j, &s, outer, k, x_first, row);
      }
    }
    done += (size_t)(s.end - s.begin);
  }
}

// ---------------------------------------------------------------------------------------------
// Products

// A part of one block: rows [row, row + rows) of all channels of the result, of one image.
typedef struct part {
  size_t image, group, row, rows, first, count;
} part;

static part part_at(const job* j, size_t unit) {
  const stowi_conv* c = j->c;
  size_t row = unit % j->parts * j->rows;
  size_t block = unit / j->parts % j->blocks;
  size_t group = unit / j->parts / j->blocks % c->group;
  part p = {unit / j->parts / j->blocks / c->group, group, row, 0, block * j->positions, 0};
  p.rows = stowi_smaller(j->rows, c->out_channels - row);
  p.count = stowi_smaller(j->positions, c->window.out_count - p.first);
  return p;
}

static size_t result_at(const stowi_conv* c, const part* p, size_t row) {
  size_t channel = (p->image * c->group + p->group) * c->out_channels + p->row + row;
  return channel * c->window.out_count + p->first;
}

// Bias and addend, to which products are added; false where there is neither.
static bool begin_result(const stowi_conv* c, const part* p, float* to, size_t to_row) {
  for (size_t r = 0; r < p->rows && (c->bias != NULL || c->addend != NULL); ++r) {
    float* row = to + r * to_row;
    float bias = 0;
    if (c->bias != NULL) {
      stowi_load_f32(c->bias->dtype, c->bias->data, p->group * c->out_channels + p->row + r, 1,
                     &bias);
    }
    if (c->addend != NULL) {
      stowi_load_f32(c->addend->dtype, c->addend->data, result_at(c, p, r), p->count, row);
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

static void run_part(const job* j, const part* p, const space* s) {
  const stowi_conv* c = j->c;
  const stowi_slide* w = &c->window;
  size_t x_first = (p->image * c->group + p->group) * c->in_channels * w->in_count;
  size_t to_row = j->is_half ? j->positions : w->out_count;
  float* to = j->is_half ? s->tile : (float*)c->y->data + result_at(c, p, 0);
  stowi_matrix factor = {s->panel, j->panel_row, 1};
  if (j->is_direct) {
    factor = (stowi_matrix){(const float*)c->x->data + x_first + p->first, w->in_count, 1};
  } else {
    fill_panel(j, p->first, p->count, x_first, s->panel);
  }
  const float* weights = j->weights + (p->group * c->out_channels + p->row) * c->depth;
  stowi_gemm gemm = {p->rows, p->count, c->depth, {weights, c->depth, 1},        factor,
                     to,      to_row,   1,        begin_result(c, p, to, to_row)};
  stowi_gemm_alone(&gemm, s->gemm);
  for (size_t r = 0; j->is_half && r < p->rows; ++r) {
    stowi_store_f32(c->y->dtype, c->y->data, result_at(c, p, r), p->count, to + r * to_row);
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
  const stowi_conv* c = user;
  stowi_load_f32(c->w->dtype, c->w->data, begin, end - begin, (float*)c->call->scratch + begin);
}

// Enough parts for every worker: blocks first, then rows of the weights.
static void divide(job* j) {
  const stowi_conv* c = j->c;
  size_t count = c->window.out_count;
  size_t most = j->is_direct ? MOST_POSITIONS / 2 : most_positions(c);
  size_t blocks = stowi_larger((count + most - 1) / most, 1);
  j->positions = round_up((count + blocks - 1) / blocks, STEP);
  j->panel_row = panel_row(j->positions);
  j->blocks = j->positions == 0 ? 1 : (count + j->positions - 1) / j->positions;
  size_t units = stowi_larger(j->blocks * c->group * (size_t)c->window.batch, 1);
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = stowi_larger(round_up((c->out_channels + wanted - 1) / wanted, ROW_STEP), 1);
  j->parts = stowi_larger((c->out_channels + j->rows - 1) / j->rows, 1);
}

void stowi_conv_panel(stowi_conv* c) {
  job j = {.c = c, .weights = c->w->data, .is_half = is_half(c)};
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  j.is_direct = !j.is_half && is_pointwise(&c->window);
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
