// Convolution of bytes in little room: a tile of some channels of the result and some positions has
// its sums in scratch. Tap by tap, channel by channel, what is read for these positions becomes a
// row of i16, from which the zero point is subtracted and in which padding is 0; each channel of
// the tile adds it with its weight.
#include <string.h>

#include "exec/kernels/spatial/conv_int.h"
#include "exec/kernels/spatial/int_dots.h"
#include "exec/kernels/support/size.h"

enum { LEAST_CHANNELS = 4, MORE_CHANNELS = 32, LEAST_POSITIONS = 32, MORE_POSITIONS = 64 };

// Channels of a group and positions in a tile.
typedef struct shape {
  size_t channels, positions;
} shape;

typedef struct job {
  const stowi_kernel_conv_int* c;
  shape tile;
  size_t blocks;  // of positions, in an image
  size_t parts;   // of a group's channels
  uint64_t size;  // of a worker
} job;

static shape tile_of(const stowi_kernel_conv_int* c, uint32_t variant) {
  size_t channels = variant == 1 ? MORE_CHANNELS : LEAST_CHANNELS;
  size_t positions = variant == 1 ? MORE_POSITIONS : LEAST_POSITIONS;
  return (shape){stowi_kernel_smaller(channels, c->out_channels),
                 stowi_kernel_smaller(positions, c->slide.out_count)};
}

static uint64_t sums_size(shape tile) {
  return (uint64_t)tile.channels * tile.positions * sizeof(int32_t);
}

uint64_t stowi_kernel_conv_int_lean_size(const stowi_kernel_conv_int* c, uint32_t variant) {
  shape tile = tile_of(c, variant);
  return stowi_kernel_align64(sums_size(tile) + tile.positions * sizeof(int16_t));
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

// What tap |tap| of channel |channel| of x reads for |count| positions of an image from |first| on.
static void load_row(const stowi_kernel_conv_int* c, size_t image, size_t channel, size_t tap,
                     size_t first, size_t count, int16_t* to) {
  const stowi_kernel_slide* s = &c->slide;
  size_t channels = (size_t)s->channels;
  int zero = stowi_kernel_conv_int_zero(c->x_zero, 0);
  for (size_t done = 0; done < count;) {
    stowi_kernel_tap_run run = stowi_kernel_slide_run(s, tap, first + done, count - done);
    size_t at = s->channels_last ? (image * s->in_count + run.first) * channels + channel
                                 : (image * channels + channel) * s->in_count + run.first;
    load_run(c->x, &run, at, s->channels_last ? run.step * channels : run.step, zero, to + done);
    done += stowi_kernel_tap_run_count(&run);
  }
}

// Channels [channel, channel + rows) of the result at |count| positions of an image from |first|
// on.
static void sum_tile(const stowi_kernel_conv_int* c, size_t image, size_t channel, size_t rows,
                     size_t first, size_t count, int32_t* sums, int16_t* row) {
  size_t taps = c->slide.taps;
  size_t from = channel / c->out_channels * c->in_channels;
  memset(sums, 0, rows * count * sizeof(int32_t));
  for (size_t i = 0; i < c->in_channels * taps; ++i) {
    load_row(c, image, from + i / taps, i % taps, first, count, row);
    for (size_t r = 0; r < rows; ++r) {
      int weight = stowi_kernel_conv_int_byte(c->w, (channel + r) * c->in_channels * taps + i);
      stowi_kernel_int_scaled(weight - stowi_kernel_conv_int_zero(c->w_zero, channel + r), row,
                              count, sums + r * count);
    }
  }
}

static void run_tiles(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  const stowi_kernel_conv_int* c = j->c;
  unsigned char* mine = (unsigned char*)c->call->scratch + worker * j->size;
  int32_t* sums = (int32_t*)(void*)mine;
  int16_t* row = (int16_t*)(void*)(mine + sums_size(j->tile));
  for (size_t unit = begin; unit < end; ++unit) {
    size_t in_group = unit % j->parts * j->tile.channels;
    size_t first = unit / j->parts % j->blocks * j->tile.positions;
    size_t group = unit / j->parts / j->blocks % c->group;
    size_t image = unit / j->parts / j->blocks / c->group;
    size_t rows = stowi_kernel_smaller(j->tile.channels, c->out_channels - in_group);
    size_t count = stowi_kernel_smaller(j->tile.positions, c->slide.out_count - first);
    size_t channel = group * c->out_channels + in_group;
    sum_tile(c, image, channel, rows, first, count, sums, row);
    for (size_t r = 0; r < rows; ++r) {
      c->finish(c->user, image, channel + r, first, count, sums + r * count, 1);
    }
  }
}

void stowi_kernel_conv_int_lean(stowi_kernel_conv_int* c, uint32_t variant) {
  job j = {.c = c, .tile = tile_of(c, variant)};
  j.size = stowi_kernel_conv_int_lean_size(c, variant);
  j.blocks = (c->slide.out_count + j.tile.positions - 1) / j.tile.positions;
  j.parts = (c->out_channels + j.tile.channels - 1) / j.tile.channels;
  size_t work = j.tile.channels * j.tile.positions * c->in_channels * c->slide.taps;
  stow_kernel_split(c->call, (size_t)c->slide.batch * c->group * j.blocks * j.parts,
                    16384 / (work + 1) + 1, run_tiles, &j);
}
