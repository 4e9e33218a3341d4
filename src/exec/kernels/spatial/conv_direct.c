// Convolution of f32 that reads x where it lies, whatever padding is: nothing is copied, and there
// is no scratch. The result is made in tiles of two vectors of positions. For each tap a mask says
// which elements of a vector are padding; they are 0, and not read.
//
//     x    . . . . . .      positions 4 … 7 of a row of 6, and with stride 1 and as many columns in
//     a b c d e f           the result as in x also those of the next row: one vector. Tap (1, 0)
//     g h i j k l           reads d e f g, of which g, left of column 0 of the next row, is padding
//
// Elsewhere a vector ends with its row.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/support/size.h"

enum {
  TILES = 16,  // in a block of positions
  BLOCK_ROWS =
      252,       // of weights, whole panels, with 256 steps: they stay in the second-level cache
  SPREAD = 128,  // floats: channels that are a multiple of it apart have few sets of a cache
  SHARED_ROWS = 60,  // the same, if several workers share the work
};

typedef struct columns {
  int64_t begin, end;
} columns;

// A group of an image, and how its positions are divided.
typedef struct image {
  const stowi_kernel_conv* c;
  const stowi_kernel_tiles* tiles;
  size_t lanes, stride;
  bool crosses_rows;  // vectors do
  size_t segments;    // vectors, in a row or in all
  // Of each tap along the row, for which positions of a row it reads no padding.
  const columns* columns;
  size_t inside[2][2];  // rows and columns [first, end) whose windows have no padding
  const float* x;
  const float* weights;
  const float* bias;  // NULL: there is none, or y is begun
  bool is_begun;
  float* y;
} image;

// What the masks of a vector are for.
typedef struct placed {
  bool is_inside;
  uint32_t ends;
} placed;

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

static bool crosses_rows(const stowi_kernel_slide* w) {
  return w->rank <= 2 && w->strides[0] == 1 && w->strides[w->rank - 1] == 1 &&
         w->in_width == w->out_width;
}

bool stowi_kernel_conv_is_direct(const stowi_kernel_conv* c) {
  const stowi_kernel_slide* w = &c->window;
  uint64_t reach = 1;  // of the window in x, in elements, at most
  for (uint32_t i = 0; i < w->rank; ++i) {
    uint64_t long_ = (uint64_t)((w->kernel[i] - 1) * w->dilations[i] + 1);
    reach = reach > UINT32_MAX || long_ > UINT32_MAX ? UINT64_MAX : reach * long_;
    reach = i + 1 < w->rank && reach < UINT32_MAX ? reach * (uint64_t)w->in[i + 1] : reach;
  }
  return !stowi_kernel_conv_is_half(c) && !stowi_kernel_slide_is_pointwise(w) && c->depth != 0 &&
         w->strides[w->rank - 1] <= 2 && w->taps <= STOWI_KERNEL_DIRECT_TAPS && reach <= UINT32_MAX;
}

bool stowi_kernel_conv_is_spread(const stowi_kernel_conv* c) {
  return crosses_rows(&c->window) && c->window.in_count % SPREAD != 0;
}

// ---------------------------------------------------------------------------------------------
// Where windows lie

// The element that tap 0 reads for position |column| of row |row|, perhaps before x.
static ptrdiff_t begin_of(const stowi_kernel_slide* w, size_t row, size_t column) {
  int64_t at = (int64_t)column * w->strides[w->rank - 1] - w->begins[w->rank - 1];
  int64_t pitch = w->in_width;
  for (uint32_t i = w->rank - 1; i-- > 0;) {
    size_t size = (size_t)w->out[i];
    at += ((int64_t)(row % size) * w->strides[i] - w->begins[i]) * pitch;
    pitch *= w->in[i];
    row /= size;
  }
  return (ptrdiff_t)at;
}

static void fill_offsets(const stowi_kernel_slide* w, stowi_kernel_tap* taps) {
  for (size_t tap = 0; tap < w->taps; ++tap) {
    size_t rest = tap;
    int64_t pitch = 1;
    int64_t at = 0;
    for (uint32_t i = w->rank; i-- > 0;) {
      at += (int64_t)(rest % (size_t)w->kernel[i]) * w->dilations[i] * pitch;
      pitch *= w->in[i];
      rest /= (size_t)w->kernel[i];
    }
    taps[tap].offset = (uint32_t)at;
  }
}

// |count| bits from |first| on, |step| apart.
static uint32_t bits_of(size_t first, size_t count, size_t step) {
  uint64_t ones = (UINT64_C(1) << count * step) - 1;
  return (uint32_t)((step == 1 ? ones : ones & 0x55555555) << first * step);
}

// Adds the bits of |count| positions of a row, the first of which is lane |lane|.
static void add_masks(const image* m, size_t position, size_t count, size_t lane, size_t vector,
                      stowi_kernel_tap* taps) {
  const stowi_kernel_slide* w = &m->c->window;
  size_t across = (size_t)w->kernel_width;
  size_t row = position / (size_t)w->out_width;
  int64_t column = (int64_t)(position % (size_t)w->out_width);
  for (size_t k = 0; k < across; ++k) {
    int64_t lo = stowi_kernel_max_i64(m->columns[k].begin - column, 0);
    int64_t hi = stowi_kernel_min_i64(m->columns[k].end - column, (int64_t)count);
    uint32_t bits = hi <= lo ? 0 : bits_of(lane + (size_t)lo, (size_t)(hi - lo), m->stride);
    for (size_t tap = 0; tap < w->outer_taps && bits != 0; ++tap) {
      if (stowi_kernel_slide_row(w, row, tap) >= 0) {
        taps[tap * across + k].masks[vector] |= bits;
      }
    }
  }
}

// Vector |segment|: its first position, and how many it has.
static size_t segment_at(const image* m, size_t segment, size_t* count) {
  const stowi_kernel_slide* w = &m->c->window;
  size_t length = m->crosses_rows ? w->out_count : (size_t)w->out_width;
  size_t each = divide_up(length, m->lanes);
  size_t inside = segment % each * m->lanes;
  *count = stowi_kernel_smaller(m->lanes, length - inside);
  return segment / each * length + inside;
}

static void fill_masks(const image* m, size_t first, size_t count, size_t vector, placed* before,
                       stowi_kernel_tap* taps) {
  const stowi_kernel_slide* w = &m->c->window;
  size_t width = (size_t)w->out_width;
  size_t row = first / width;
  size_t column = first % width;
  placed now = {.ends = bits_of(0, count, 1)};
  now.is_inside = row >= m->inside[0][0] && row < m->inside[0][1] && column >= m->inside[1][0] &&
                  column + count <= m->inside[1][1];
  if (now.is_inside && before->is_inside && now.ends == before->ends) {
    return;
  }
  *before = now;
  uint32_t bits = now.is_inside ? bits_of(0, count, m->stride) : 0;
  for (size_t tap = 0; tap < w->taps; ++tap) {
    taps[tap].masks[vector] = bits;
  }
  for (size_t done = 0; done < count && !now.is_inside;) {
    size_t here = stowi_kernel_smaller(count - done, width - (first + done) % width);
    add_masks(m, first + done, here, done, vector, taps);
    done += here;
  }
}

// A tile's windows: those of |segment| and, if it is not the last one, the next.
static void place_tile(const image* m, size_t segment, stowi_kernel_direct* d,
                       stowi_kernel_tap* taps, placed* before) {
  const stowi_kernel_slide* w = &m->c->window;
  size_t width = (size_t)w->out_width;
  for (size_t v = 0; v < 2; ++v) {
    size_t count = 0;
    size_t first = segment + v < m->segments ? segment_at(m, segment + v, &count) : 0;
    fill_masks(m, first, count, v, &before[v], taps);
    d->begin[v] = begin_of(w, first / width, first % width);
    d->ends[v] = bits_of(0, count, 1);
    d->c[v] = m->y + first;
  }
}

// ---------------------------------------------------------------------------------------------
// Tiles

// All of |rows| channels from |row| on, two panels at a time where registers have room for them.
static void run_tile(const image* m, const stowi_kernel_direct* tile, size_t row, size_t rows,
                     size_t step) {
  const stowi_kernel_conv* c = m->c;
  stowi_kernel_direct d = *tile;
  const stowi_kernel_direct_function* low = m->tiles->direct[m->stride - 1];
  const stowi_kernel_direct_function* high =
      c->is_packed ? m->tiles->high_direct[m->stride - 1] : NULL;
  d.c[0] += row * d.c_row;
  d.c[1] += row * d.c_row;
  d.bias = d.bias == NULL ? NULL : d.bias + row;
  d.a_row = c->is_packed ? 1 : c->depth;
  for (size_t done = 0; done < rows;) {
    size_t height = stowi_kernel_tile_rows(rows - done);
    size_t more = high == NULL ? 0 : stowi_kernel_tile_rows(rows - done - height);
    d.a_step = c->is_packed ? height : 1;
    d.a = m->weights + (row + done) * c->depth + step * d.a_step;
    d.a_more = more == 0 ? d.a : m->weights + (row + done + height) * c->depth + step * more;
    (more != 0 ? high[more - 1] : low[height - 1])(&d);
    height += more;
    d.c[0] += height * d.c_row;
    d.c[1] += height * d.c_row;
    d.bias = d.bias == NULL ? NULL : d.bias + height;
    done += height;
  }
}

// Channels [row, row + rows) at the vectors [begin, end): a chain of all, so that what it reads of
// x stays in the first-level cache for all channels.
static void run_block(const image* m, size_t row, size_t rows, size_t begin, size_t end) {
  const stowi_kernel_conv* c = m->c;
  const stowi_kernel_slide* w = &c->window;
  stowi_kernel_tap taps[STOWI_KERNEL_DIRECT_TAPS];
  placed before[2] = {{false, 0}};
  fill_offsets(w, taps);
  for (size_t step = 0; step < c->depth; step += STOWI_KERNEL_GEMM_CHAIN) {
    stowi_kernel_direct d = {
        .x = m->x + step / w->taps * w->in_count,
        .channel_size = w->in_count,
        .taps = taps,
        .tap_count = w->taps,
        .tap = step % w->taps,
        .depth = stowi_kernel_smaller(c->depth - step, STOWI_KERNEL_GEMM_CHAIN),
        .bias = step == 0 ? m->bias : NULL,
        .c_row = w->out_count,
        .adds = step != 0 || m->is_begun};
    for (size_t done = 0; done < rows; done += BLOCK_ROWS) {
      for (size_t segment = begin; segment < end; segment += 2) {
        place_tile(m, segment, &d, taps, before);
        run_tile(m, &d, row + done, stowi_kernel_smaller(rows - done, BLOCK_ROWS), step);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks of positions, and parts of channels

static size_t rows_of(const stowi_kernel_conv* c) {
  return c->call->workers <= 1 ? c->out_channels : SHARED_ROWS;
}

static image image_of(const stowi_kernel_conv* c) {
  const stowi_kernel_slide* w = &c->window;
  image m = {.c = c, .tiles = stowi_kernel_tiles_best()};
  m.lanes = m.tiles->columns / 2;
  m.stride = (size_t)w->strides[w->rank - 1];
  m.crosses_rows = crosses_rows(w);
  int64_t begin;
  int64_t end;
  stowi_kernel_slide_interior(w, &begin, &end);
  m.inside[1][0] = (size_t)begin;
  m.inside[1][1] = (size_t)end;
  m.inside[0][1] = w->rank == 1 ? 1 : 0;  // of more than two dims each row is looked at
  if (w->rank == 2) {
    int64_t unused;
    stowi_kernel_slide_range(w, 0, 0, &begin, &unused);
    stowi_kernel_slide_range(w, 0, w->kernel[0] - 1, &unused, &end);
    m.inside[0][0] = (size_t)begin;
    m.inside[0][1] = (size_t)stowi_kernel_max_i64(begin, end);
  }
  m.segments = m.crosses_rows ? divide_up(w->out_count, m.lanes)
                              : divide_up((size_t)w->out_width, m.lanes) * w->out_rows;
  return m;
}

static void run_blocks(void* user, size_t begin, size_t end, uint32_t worker) {
  (void)worker;
  image m = *(const image*)user;
  const stowi_kernel_conv* c = m.c;
  const stowi_kernel_slide* w = &c->window;
  size_t blocks = divide_up(m.segments, 2 * TILES);
  size_t parts = divide_up(c->out_channels, rows_of(c));
  for (size_t i = begin; i < end; ++i) {
    size_t which = i / parts / blocks;  // group of an image
    stowi_kernel_conv_part p = {
        .image = which / c->group, .group = which % c->group, .row = i % parts * rows_of(c)};
    size_t first = i / parts % blocks * 2 * TILES;
    size_t next = stowi_kernel_smaller(first + 2 * TILES, m.segments);
    size_t count;
    p.rows = stowi_kernel_smaller(rows_of(c), c->out_channels - p.row);
    p.first = segment_at(&m, next - 1, &count);
    p.count = p.first + count;
    p.first = segment_at(&m, first, &count);
    p.count -= p.first;
    float* to = (float*)c->y->data + stowi_kernel_conv_at(c, &p, 0);
    m.bias = c->addend == NULL && c->bias != NULL
                 ? (const float*)c->bias->data + p.group * c->out_channels
                 : NULL;
    m.is_begun = m.bias == NULL && stowi_kernel_conv_begin(c, &p, to, w->out_count);
    m.x = (const float*)c->x->data + which * c->in_channels * w->in_count;
    m.weights = (const float*)c->w->data + p.group * c->out_channels * c->depth;
    m.y = (float*)c->y->data + which * c->out_channels * w->out_count;
    run_block(&m, p.row, p.rows, first, next);
  }
}

void stowi_kernel_conv_direct(stowi_kernel_conv* c) {
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  image m = image_of(c);
  columns of_taps[STOWI_KERNEL_DIRECT_TAPS];
  for (int64_t k = 0; k < c->window.kernel_width; ++k) {
    stowi_kernel_slide_range(&c->window, c->window.rank - 1, k, &of_taps[k].begin, &of_taps[k].end);
  }
  m.columns = of_taps;
  size_t blocks = divide_up(m.segments, 2 * TILES) * divide_up(c->out_channels, rows_of(c));
  stow_kernel_split(c->call, (size_t)c->window.batch * c->group * blocks, 1, run_blocks, &m);
}
