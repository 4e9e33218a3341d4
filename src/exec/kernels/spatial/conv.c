// Convolution of floats as a matrix product, or channel by channel (depthwise.c, conv_f64.c).
#include "exec/kernels/spatial/conv.h"

#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/spatial/window.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

// ---------------------------------------------------------------------------------------------
// Convolution as a matrix product: the weights [M × depth] times the window data [depth ×
// positions]. The latter is never complete: a block of some hundred positions is copied to a panel
// that stays in the second-level cache, and multiplied. Workers take blocks, each with its own
// panel; if there are too few blocks, also ranges of the weights' rows. A 1 × 1 kernel with stride
// 1 reads x directly and needs no panel.
//
// Bits: an element begins as its bias (and addend). Products are summed in ascending order of
// channel and tap, in chains as gemm.h describes. The size of the blocks of positions has no
// influence.

#define PANEL_FLOATS 65536  // in a panel, unless the least number of positions needs more
#define LEAST_POSITIONS 64
#define MOST_POSITIONS 1024
#define STEP 16      // positions in a block are a multiple of it
#define ROW_STEP 12  // of weights, whole panels

typedef struct job {
  const stowi_kernel_conv* c;
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

static size_t most_positions(const stowi_kernel_conv* c) {
  size_t fit = PANEL_FLOATS / stowi_kernel_larger(c->depth, 1) / STEP * STEP;
  return stowi_kernel_smaller(stowi_kernel_larger(fit, LEAST_POSITIONS), MOST_POSITIONS);
}

// Rows of a panel lie an odd number of cache lines apart: the lines that a product reads together
// then spread over all sets of the cache, and it need not copy them first.
static size_t panel_row(size_t positions) {
  size_t row = round_up(positions, STEP);
  return row / STEP % 2 == 0 ? row + STEP : row;
}

// Whether x is the factor as it is.
static bool is_direct(const stowi_kernel_conv* c) {
  return !stowi_kernel_conv_is_half(c) && stowi_kernel_slide_is_pointwise(&c->window);
}

// No fewer floats for more dims, though a block has fewer positions where it is deeper.
static uint64_t panel_size(const stowi_kernel_conv* c) {
  if (is_direct(c)) {
    return 0;
  }
  uint64_t all = (uint64_t)c->depth * round_up(c->window.out_count, STEP);
  uint64_t most = (uint64_t)c->depth * LEAST_POSITIONS;
  most = most > PANEL_FLOATS ? most : PANEL_FLOATS;
  return stowi_kernel_align64(((all < most ? all : most) + (uint64_t)c->depth * STEP) *
                              sizeof(float));
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
  size_t positions = stowi_kernel_smaller(round_up(c->window.out_count, STEP), MOST_POSITIONS);
  stowi_kernel_gemm gemm = {
      .m = c->out_channels, .n = positions, .k = c->depth, .alpha = 1, .a_steps = c->depth};
  return c->is_packed ? stowi_kernel_gemm_packed_scratch(&gemm, 1)
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
// Panels

// |x_first| is the first element of the group's channels in the image.
static void fill_panel(const job* j, size_t first, size_t count, size_t x_first, float* panel) {
  const stowi_kernel_slide* w = &j->c->window;
  for (size_t tap = 0; tap < w->taps && j->c->in_channels != 0; ++tap) {
    for (size_t done = 0; done < count;) {
      stowi_kernel_tap_run run = stowi_kernel_slide_run(w, tap, first + done, count - done);
      stowi_kernel_tap_run_load(&run, j->c->x, x_first, j->c->in_channels, w->in_count,
                                panel + tap * j->panel_row + done, w->taps * j->panel_row);
      done += stowi_kernel_tap_run_count(&run);
    }
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
  p.count = stowi_kernel_smaller(j->positions, c->window.out_count - p.first);
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

static void run_part(const job* j, const part* p, const space* s) {
  const stowi_kernel_conv* c = j->c;
  const stowi_kernel_slide* w = &c->window;
  size_t x_first = (p->image * c->group + p->group) * c->in_channels * w->in_count;
  size_t to_row = j->is_half ? j->positions : w->out_count;
  float* to = j->is_half ? s->tile : (float*)c->y->data + stowi_kernel_conv_at(c, p, 0);
  stowi_kernel_matrix factor = {s->panel, j->panel_row, 1};
  if (j->is_direct) {
    factor = (stowi_kernel_matrix){(const float*)c->x->data + x_first + p->first, w->in_count, 1};
  } else {
    fill_panel(j, p->first, p->count, x_first, s->panel);
  }
  const float* weights = j->weights + (p->group * c->out_channels + p->row) * c->depth;
  stowi_kernel_gemm gemm = {.m = p->rows,
                            .n = p->count,
                            .k = c->depth,
                            .a = {weights, c->depth, 1},
                            .b = factor,
                            .c = to,
                            .c_row = to_row,
                            .alpha = 1,
                            .accumulate = stowi_kernel_conv_begin(c, p, to, to_row),
                            .a_steps = c->is_packed ? c->depth : 0};
  stowi_kernel_gemm_alone(&gemm, s->gemm);
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

// Enough parts for every worker: blocks first, then rows of the weights.
static void divide(job* j) {
  const stowi_kernel_conv* c = j->c;
  size_t count = c->window.out_count;
  size_t most = j->is_direct ? MOST_POSITIONS / 2 : most_positions(c);
  size_t blocks = stowi_kernel_larger((count + most - 1) / most, 1);
  j->positions = round_up((count + blocks - 1) / blocks, STEP);
  j->panel_row = panel_row(j->positions);
  j->blocks = j->positions == 0 ? 1 : (count + j->positions - 1) / j->positions;
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
  j.is_direct = is_direct(c);
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
  if (variant == 0) {
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
