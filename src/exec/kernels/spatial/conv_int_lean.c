// Convolution of bytes in little room: a tile of some channels of the result and some positions has
// its sums in scratch, or a smaller one on the stack. Some taps and channels at a time, what is
// read for these positions becomes rows of i16, from which the zero point is subtracted and in
// which padding is 0; each channel of the tile adds them with its weights.
#include <string.h>

#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/spatial/int_dots.h"
#include "exec/kernels/support/size.h"

enum { MOST_CHANNELS = 32, STACK_CHANNELS = 8, POSITIONS = 64 };

// Channels of a group and positions in a tile, and steps of the sums at a time.
typedef struct shape {
  size_t channels, positions, steps;
} shape;

typedef struct job {
  const stowi_kernel_conv_int* c;
  shape tile;
  size_t blocks;  // of positions, in an image
  size_t parts;   // of a group's channels
  uint64_t size;  // of a worker
} job;

static shape tile_of(const stowi_kernel_conv_int* c, size_t most_channels) {
  return (shape){stowi_kernel_smaller(most_channels, c->out_channels),
                 stowi_kernel_smaller(POSITIONS, c->slide.out_count),
                 stowi_kernel_smaller(STOWI_KERNEL_INT_STEPS, c->in_channels * c->slide.taps)};
}

static uint64_t sums_size(shape tile) {
  return (uint64_t)tile.channels * tile.positions * sizeof(int32_t);
}

uint64_t stowi_kernel_conv_int_lean_size(const stowi_kernel_conv_int* c) {
  shape tile = tile_of(c, MOST_CHANNELS);
  return stowi_kernel_align64(sums_size(tile) + tile.steps * tile.positions * sizeof(int16_t));
}

#define CENTER(type)                                                    \
  for (size_t i = 0; i < run->inside; ++i) {                            \
    to[i] = (int16_t)(((const type*)x->data)[first + i * step] - zero); \
  }

// One run as i16; |first| is where its first element inside is, |step| to the next.
static void load_run(const stow_tensor* x, const stowi_kernel_tap_run* run, size_t first,
                     size_t step, int zero, int16_t* to) {
  memset(to, 0, stowi_kernel_tap_run_count(run) * sizeof(int16_t));
  to += run->before;
  if (x->dtype == STOW_U8) {
    CENTER(uint8_t)
  } else {
    CENTER(int8_t)
  }
}

// A tile of one image: channels [channel, channel + rows) of the result at |count| positions from
// |first| on.
typedef struct part {
  size_t image, channel, rows, first, count;
} part;

// What a step reads of channel |channel| of x for the positions of a part.
static void load_row(const stowi_kernel_conv_int* c, const part* p, size_t channel,
                     const stowi_kernel_step* step, int16_t* to) {
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = (size_t)s->channels;
  size_t width = (size_t)s->out_width;
  size_t row = p->first / width;
  size_t column = p->first % width;
  int zero = stowi_kernel_conv_int_zero(c->x_zero, 0);
  for (size_t done = 0; done < p->count; ++row, column = 0) {
    int64_t from = stowi_kernel_slide_row(s, row, step->outer);
    stowi_kernel_tap_run run =
        stowi_kernel_slide_row_run(s, from, (int64_t)step->last, column, p->count - done);
    size_t at = s->channels_last ? (p->image * s->in_count + run.first) * channels + channel
                                 : (p->image * channels + channel) * s->in_count + run.first;
    load_run(c->x, &run, at, s->channels_last ? run.step * channels : run.step, zero, to + done);
    done += stowi_kernel_tap_run_count(&run);
  }
}

// Adds |steps| steps from |step| on, whose rows are at hand.
static void add_steps(const stowi_kernel_conv_int* c, const part* p, const int16_t* zeros,
                      size_t step, size_t steps, const int16_t* rows, int32_t* sums) {
  size_t depth = c->in_channels * c->slide.taps;
  for (size_t r = 0; r < p->rows; ++r) {
    int16_t weights[STOWI_KERNEL_INT_STEPS];
    for (size_t i = 0; i < steps; ++i) {
      int weight = stowi_kernel_conv_int_byte(c->w, (p->channel + r) * depth + step + i);
      weights[i] = (int16_t)(weight - zeros[r]);
    }
    stowi_kernel_int_rows(weights, steps, rows, p->count, p->count, sums + r * p->count);
  }
}

static void sum_tile(const stowi_kernel_conv_int* c, const part* p, size_t most, int32_t* sums,
                     int16_t* rows) {
  int16_t zeros[MOST_CHANNELS];
  size_t depth = c->in_channels * c->slide.taps;
  size_t from = p->channel / c->out_channels * c->in_channels;
  stowi_kernel_step at = {0};
  for (size_t r = 0; r < p->rows; ++r) {
    zeros[r] = stowi_kernel_conv_int_zero(c->w_zero, p->channel + r);
  }
  memset(sums, 0, p->rows * p->count * sizeof(int32_t));
  for (size_t step = 0; step < depth; step += most) {
    size_t steps = stowi_kernel_smaller(depth - step, most);
    for (size_t i = 0; i < steps; ++i) {
      load_row(c, p, from + at.channel, &at, rows + i * p->count);
      stowi_kernel_step_next(&c->slide, &at);
    }
    add_steps(c, p, zeros, step, steps, rows, sums);
  }
}

static void run_tiles(const job* j, size_t begin, size_t end, int32_t* sums, int16_t* rows) {
  const stowi_kernel_conv_int* c = j->c;
  for (size_t unit = begin; unit < end; ++unit) {
    size_t in_group = unit % j->parts * j->tile.channels;
    size_t group = unit / j->parts / j->blocks % c->group;
    part p = {.image = unit / j->parts / j->blocks / c->group,
              .channel = group * c->out_channels + in_group,
              .rows = stowi_kernel_smaller(j->tile.channels, c->out_channels - in_group),
              .first = unit / j->parts % j->blocks * j->tile.positions};
    p.count = stowi_kernel_smaller(j->tile.positions, c->slide.out_count - p.first);
    sum_tile(c, &p, j->tile.steps, sums, rows);
    for (size_t r = 0; r < p.rows; ++r) {
      c->finish(c->user, p.image, p.channel + r, p.first, p.count, sums + r * p.count, 1);
    }
  }
}

static void run_in_scratch(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  unsigned char* mine = (unsigned char*)j->c->call->scratch + worker * j->size;
  run_tiles(j, begin, end, (int32_t*)(void*)mine, (int16_t*)(void*)(mine + sums_size(j->tile)));
}

static void run_on_stack(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  int32_t sums[STACK_CHANNELS * POSITIONS];
  int16_t rows[STOWI_KERNEL_INT_STEPS * POSITIONS];
  run_tiles(user, begin, end, sums, rows);
}

void stowi_kernel_conv_int_lean(stowi_kernel_conv_int* c, bool has_scratch) {
  job j = {.c = c, .tile = tile_of(c, has_scratch ? MOST_CHANNELS : STACK_CHANNELS)};
  j.size = has_scratch ? stowi_kernel_conv_int_lean_size(c) : 0;
  j.blocks = (c->slide.out_count + j.tile.positions - 1) / j.tile.positions;
  j.parts = (c->out_channels + j.tile.channels - 1) / j.tile.channels;
  size_t work = j.tile.channels * j.tile.positions * c->in_channels * c->slide.taps;
  stow_kernel_split(c->call, (size_t)c->slide.batch * c->group * j.blocks * j.parts,
                    16384 / (work + 1) + 1, has_scratch ? run_in_scratch : run_on_stack, &j);
}
