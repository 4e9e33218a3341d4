// Zero points are subtracted once: from the weights, which become i16 in the order
// [channel][tap][channel of x], and from each image, which becomes i16 with channels last. A window
// is then a few runs in memory. A block of windows is copied to a panel, one per row, and
// multiplied by the weights row by row. A 1 × 1 kernel with stride 1 uses rows of the image
// directly. Depthwise kernels are summed tap by tap along channels instead.
//
// Scratch: 2 bytes per weight and per element of an image, and a panel per worker.
#include "exec/kernels/spatial/conv_int.h"

#include <string.h>

#include "exec/kernels/spatial/int_dots.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"

#define LEAST_POSITIONS 16
#define TURN 32  // pixels that are turned at a time

// How large blocks are.
typedef struct blocking {
  size_t numbers;    // in a panel, unless the least number of positions needs more
  size_t positions;  // at most
} blocking;

static const blocking large = {131072, 256};
static const blocking small = {8192, 32};

typedef struct job {
  stowi_kernel_conv_int* c;
  const blocking* size;
  size_t depth;      // taps × in_channels, rounded up
  size_t positions;  // in a block
  size_t blocks;
  size_t rows;   // channels of the result in a part
  size_t parts;  // in a group
  bool is_direct;
  bool is_depthwise;
  size_t image;
  int16_t* weights;
  int16_t* pixels;  // of the image
  unsigned char* workers;
} job;

// ---------------------------------------------------------------------------------------------
// Sizes

static bool is_depthwise(const stowi_kernel_conv_int* c) {
  return c->in_channels == 1 && c->out_channels == 1 && c->group > 1;
}

static size_t depth_of(const stowi_kernel_conv_int* c) {
  size_t depth = stowi_kernel_larger(c->in_channels * c->slide.taps, 1);
  return (depth + STOWI_KERNEL_DOT_STEP - 1) / STOWI_KERNEL_DOT_STEP * STOWI_KERNEL_DOT_STEP;
}

static size_t channels_of(const stowi_kernel_conv_int* c) { return c->group * c->out_channels; }

static uint64_t weights_size(const stowi_kernel_conv_int* c) {
  uint64_t each = is_depthwise(c) ? c->slide.taps : depth_of(c);
  return stowi_kernel_align64(each * channels_of(c) * sizeof(int16_t));
}

static uint64_t image_size(const stowi_kernel_conv_int* c) {
  return stowi_kernel_align64((uint64_t)c->slide.channels * c->slide.in_count * sizeof(int16_t));
}

// No fewer for more dims, though a block has fewer positions where it is deeper.
static uint64_t panel_size(const stowi_kernel_conv_int* c, const blocking* size) {
  uint64_t all = (uint64_t)depth_of(c) * c->slide.out_count;
  uint64_t most = (uint64_t)depth_of(c) * LEAST_POSITIONS;
  most = most > size->numbers ? most : size->numbers;
  return is_depthwise(c) ? 0 : stowi_kernel_align64((all < most ? all : most) * sizeof(int16_t));
}

// Sums of a part: for each channel of a group, or of all where each has its own kernel.
static uint64_t tile_size(const stowi_kernel_conv_int* c, const blocking* size) {
  uint64_t channels = is_depthwise(c) ? c->group : c->out_channels;
  uint64_t positions = stowi_kernel_smaller(c->slide.out_count, size->positions);
  return stowi_kernel_align64(channels * positions * sizeof(int32_t));
}

static uint64_t worker_size(const stowi_kernel_conv_int* c, const blocking* size) {
  return panel_size(c, size) + tile_size(c, size);
}

static uint64_t blocks_size(const stowi_kernel_conv_int* c, const blocking* size) {
  return weights_size(c) + image_size(c) + worker_size(c, size) * c->call->workers;
}

// ---------------------------------------------------------------------------------------------
// Preparing

static void prepare_weights(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  const stowi_kernel_conv_int* c = j->c;
  size_t taps = c->slide.taps;
  for (size_t m = begin; m < end; ++m) {
    int zero = stowi_kernel_conv_int_zero(c->w_zero, m);
    size_t first = m * c->in_channels * taps;
    for (size_t tap = 0; j->is_depthwise && tap < taps; ++tap) {
      j->weights[tap * c->group + m] =
          (int16_t)(stowi_kernel_conv_int_byte(c->w, first + tap) - zero);
    }
    if (j->is_depthwise) {
      continue;
    }
    int16_t* to = j->weights + m * j->depth;
    memset(to, 0, j->depth * sizeof(int16_t));
    for (size_t i = 0; i < c->in_channels * taps; ++i) {
      to[i % taps * c->in_channels + i / taps] =
          (int16_t)(stowi_kernel_conv_int_byte(c->w, first + i) - zero);
    }
  }
}

#define CENTER_ROW(type)                                                \
  for (size_t i = 0; i < count; ++i) {                                  \
    to[i * step] = (int16_t)(((const type*)t->data)[first + i] - zero); \
  }

static void center(const stow_tensor* t, size_t first, size_t count, int zero, int16_t* to,
                   size_t step) {
  if (t->dtype == STOW_U8) {
    CENTER_ROW(uint8_t)
  } else {
    CENTER_ROW(int8_t)
  }
}

// Pixels [begin, end) × TURN of the image, with their channels last.
static void prepare_pixels(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  const job* j = user;
  const stowi_kernel_conv_int* c = j->c;
  size_t channels = (size_t)c->slide.channels;
  size_t all = c->slide.in_count;
  int zero = stowi_kernel_conv_int_zero(c->x_zero, 0);
  for (size_t i = begin; i < end; ++i) {
    size_t first = i * TURN;
    size_t count = stowi_kernel_smaller(TURN, all - first);
    if (c->slide.channels_last) {
      center(c->x, (j->image * all + first) * channels, count * channels, zero,
             j->pixels + first * channels, 1);
      continue;
    }
    for (size_t k = 0; k < channels; ++k) {
      center(c->x, (j->image * channels + k) * all + first, count, zero,
             j->pixels + first * channels + k, channels);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Windows as rows

// What one outer tap reads for position |at| of a row: |row| is where x's row begins, in pixels.
static void copy_taps(const job* j, size_t group, int64_t row, int64_t at, int16_t* to) {
  const stowi_kernel_conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  uint32_t last = s->rank - 1;
  size_t channels = (size_t)s->channels;
  size_t size = c->in_channels * sizeof(int16_t);
  const int16_t* pixels = j->pixels + group * c->in_channels;
  int64_t start = at * s->strides[last] - s->begins[last];
  bool is_run = c->in_channels == channels && s->dilations[last] == 1;
  if (row >= 0 && is_run && start >= 0 && start + s->kernel_width <= s->in_width) {
    memcpy(to, pixels + (size_t)(row + start) * channels, (size_t)s->kernel_width * size);
    return;
  }
  for (int64_t k = 0; k < s->kernel_width; ++k, to += c->in_channels) {
    int64_t x = start + k * s->dilations[last];
    if (row < 0 || x < 0 || x >= s->in_width) {
      memset(to, 0, size);
    } else {
      memcpy(to, pixels + (size_t)(row + x) * channels, size);
    }
  }
}

static void fill_panel(const job* j, size_t group, size_t first, size_t count, int16_t* panel) {
  const stowi_kernel_conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  size_t width = (size_t)s->out_width;
  size_t run = (size_t)s->kernel_width * c->in_channels;
  size_t used = s->taps * c->in_channels;
  for (size_t i = 0; i < count; ++i) {
    int16_t* to = panel + i * j->depth;
    size_t position = first + i;
    for (size_t tap = 0; tap < s->outer_taps && run != 0; ++tap) {
      int64_t row = stowi_kernel_slide_row(s, position / width, tap);
      copy_taps(j, group, row, (int64_t)(position % width), to + tap * run);
    }
    memset(to + used, 0, (j->depth - used) * sizeof(int16_t));
  }
}

// ---------------------------------------------------------------------------------------------
// Products

static void run_part(const job* j, size_t unit, int16_t* panel, int32_t* tile) {
  const stowi_kernel_conv_int* c = j->c;
  size_t row = unit % j->parts * j->rows;
  size_t first = unit / j->parts % j->blocks * j->positions;
  size_t group = unit / j->parts / j->blocks;
  size_t rows = stowi_kernel_smaller(j->rows, c->out_channels - row);
  size_t count = stowi_kernel_smaller(j->positions, c->slide.out_count - first);
  size_t channel = group * c->out_channels + row;
  const int16_t* windows = panel;
  if (j->is_direct) {
    windows = j->pixels + first * j->depth;
  } else {
    fill_panel(j, group, first, count, panel);
  }
  stowi_kernel_int_dots(j->weights + channel * j->depth, rows, windows, j->depth, count, j->depth,
                        tile, count);
  for (size_t r = 0; r < rows; ++r) {
    c->finish(c->user, j->image, channel + r, first, count, tile + r * count, 1);
  }
}

// A block of positions, of all channels: sums lie channels last.
static void run_depthwise(const job* j, size_t block, int32_t* tile) {
  const stowi_kernel_conv_int* c = j->c;
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = c->group;
  size_t first = block * j->positions;
  size_t count = stowi_kernel_smaller(j->positions, s->out_count - first);
  memset(tile, 0, count * channels * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    stowi_kernel_visit visit;
    stowi_kernel_slide_visit(s, first + i, &visit);
    for (size_t k = 0; k < visit.count; ++k) {
      size_t tap = 0;
      for (uint32_t d = 0; d < s->rank; ++d) {
        tap = tap * (size_t)s->kernel[d] + (size_t)visit.at[d];
      }
      size_t pixel = (size_t)stowi_kernel_slide_next(s, &visit);
      stowi_kernel_int_products(j->pixels + pixel * channels, j->weights + tap * channels, channels,
                                tile + i * channels);
    }
  }
  for (size_t k = 0; k < channels; ++k) {
    c->finish(c->user, j->image, k, first, count, tile + k, channels);
  }
}

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  unsigned char* mine = j->workers + worker * worker_size(j->c, j->size);
  int32_t* tile = (int32_t*)(void*)(mine + panel_size(j->c, j->size));
  for (size_t unit = begin; unit < end; ++unit) {
    if (j->is_depthwise) {
      run_depthwise(j, unit, tile);
    } else {
      run_part(j, unit, (int16_t*)(void*)mine, tile);
    }
  }
}

static void divide(job* j) {
  const stowi_kernel_conv_int* c = j->c;
  size_t fit =
      j->is_depthwise ? 16384 / stowi_kernel_larger(c->group, 1) : j->size->numbers / j->depth;
  fit = stowi_kernel_smaller(stowi_kernel_larger(fit / 2 * 2, LEAST_POSITIONS), j->size->positions);
  j->positions = stowi_kernel_smaller(fit, c->slide.out_count);
  j->blocks = (c->slide.out_count + j->positions - 1) / j->positions;
  size_t units = j->blocks * c->group;
  size_t wanted = c->call->workers <= 1 ? 1 : (2 * (size_t)c->call->workers + units - 1) / units;
  j->rows = ((c->out_channels + wanted - 1) / wanted + 3) / 4 * 4;
  j->parts = (c->out_channels + j->rows - 1) / j->rows;
}

static void run_in_blocks(stowi_kernel_conv_int* c, const blocking* size) {
  const stowi_kernel_slide* s = &c->slide;
  job j = {.c = c, .size = size, .is_depthwise = is_depthwise(c), .depth = depth_of(c)};
  j.is_direct =
      stowi_kernel_slide_is_pointwise(s) && c->group == 1 && j.depth == (size_t)s->channels;
  j.weights = c->call->scratch;
  j.pixels = (int16_t*)(void*)((unsigned char*)c->call->scratch + weights_size(c));
  j.workers = (unsigned char*)c->call->scratch + weights_size(c) + image_size(c);
  divide(&j);
  stow_kernel_split(c->call, channels_of(c), 16384 / j.depth + 1, prepare_weights, &j);
  for (; j.image < (size_t)s->batch; ++j.image) {
    size_t turns = (s->in_count + TURN - 1) / TURN;
    stow_kernel_split(c->call, turns, 512 / stowi_kernel_larger((size_t)s->channels, 1) + 1,
                      prepare_pixels, &j);
    size_t units = j.is_depthwise ? j.blocks : c->group * j.blocks * j.parts;
    stow_kernel_split(c->call, units, 1, run_parts, &j);
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

static uint64_t variant_size(const stowi_kernel_conv_int* c, uint32_t variant) {
  if (variant < 2) {
    return blocks_size(c, variant == 0 ? &large : &small);
  }
  return variant == 2 ? stowi_kernel_conv_int_lean_size(c) * c->call->workers : 0;
}

// Which variant is computed: the smallest of those up to the call's. *out_size is what it needs.
static uint32_t variant_of(const stowi_kernel_conv_int* c, uint64_t* out_size) {
  uint32_t asked = stowi_kernel_variant(c->call);
  uint32_t best = 0;
  *out_size = variant_size(c, 0);
  for (uint32_t v = 1; v <= asked && v < STOWI_KERNEL_CONV_INT_VARIANTS; ++v) {
    uint64_t size = variant_size(c, v);
    if (size < *out_size) {
      best = v;
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
  if (variant < 2) {
    run_in_blocks(c, variant == 0 ? &large : &small);
  } else {
    stowi_kernel_conv_int_lean(c, variant == 2);
  }
  return STOW_OK;
}
