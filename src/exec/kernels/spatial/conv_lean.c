// Convolution of floats in little room: neither a panel of windows nor weights in f32 are kept.
//
// The result is made in blocks of some positions, which copy what they read: a chain's steps for
// all channels of the result, if there is room, or a few steps each time that a tile needs them.
// These few need no scratch: they are on the stack. What can be read where it lies is not computed
// here, but in conv_direct.c.
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/matrix/gemm_tile.h"
#include "exec/kernels/matrix/lean.h"
#include "exec/kernels/spatial/conv.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/size.h"

// Rows of the result that are shorter are not worth blocks of their own.
#define NARROW 16
#define SHORT 64  // the same, where copies are for many channels
#define SOME 512  // floats of windows that are copied at a time, if there is some room
#define OWN 1792  // bytes for a few steps that a worker has on its stack

// One group of an image.
typedef struct tiles {
  const stowi_kernel_conv* c;
  stowi_kernel_conv_room room;
  size_t image, group;
} tiles;

static size_t x_first_of(const tiles* t) {
  return (t->image * t->c->group + t->group) * t->c->in_channels * t->c->window.in_count;
}

static stowi_kernel_conv_part part_of(const tiles* t, const stowi_kernel_block* block) {
  return (stowi_kernel_conv_part){t->image,    t->group,      block->row,
                                  block->rows, block->column, block->columns};
}

// ---------------------------------------------------------------------------------------------
// Windows

// One step for |count| positions from |column| of row |row| of the result on.
static void load_step(const stowi_kernel_conv* c, size_t x_first, const stowi_kernel_step* at,
                      size_t row, size_t column, size_t count, float* to) {
  const stowi_kernel_slide* w = &c->window;
  for (size_t done = 0; done < count;) {
    int64_t from = stowi_kernel_slide_row(w, row, at->outer);
    stowi_kernel_tap_run run =
        stowi_kernel_slide_row_run(w, from, (int64_t)at->last, column, count - done);
    stowi_kernel_tap_run_load(&run, c->x, x_first + at->channel * w->in_count, 1, 0, to + done, 0);
    done += stowi_kernel_tap_run_count(&run);
    column = 0;
    ++row;
  }
}

// What |taps| taps along the last dim read of one row of x, the first of them that of |at|:
// positions and taps have the same stride.
static void load_taps(const stowi_kernel_conv* c, size_t x_first, const stowi_kernel_step* at,
                      size_t row, size_t column, size_t size, float* to) {
  const stowi_kernel_slide* w = &c->window;
  uint32_t last = w->rank - 1;
  int64_t from = stowi_kernel_slide_row(w, row, at->outer);
  int64_t start = (int64_t)(column + at->last * (size_t)w->dilations[last]) - w->begins[last];
  int64_t end = from < 0 ? 0 : w->in_width - start;
  int64_t lo = stowi_kernel_min_i64(stowi_kernel_max_i64(-start, 0), (int64_t)size);
  int64_t hi = stowi_kernel_min_i64(stowi_kernel_max_i64(end, lo), (int64_t)size);
  stowi_kernel_tap_run run = {(size_t)lo, (size_t)(hi - lo), size - (size_t)hi, 0, 1};
  if (lo < hi) {
    run.first = (size_t)(from + start + lo);
  }
  stowi_kernel_tap_run_load(&run, c->x, x_first + at->channel * w->in_count, 1, 0, to, 0);
}

// How many taps of a row can be copied together, to |floats|, of |most|: 1 if they are too far
// apart.
static size_t taps_at_once(const stowi_kernel_slide* w, const stowi_kernel_block* block,
                           size_t most, size_t floats) {
  size_t dilation = (size_t)w->dilations[w->rank - 1];
  size_t width = (size_t)w->out_width;
  if (w->strides[w->rank - 1] != 1 || dilation > block->columns ||
      block->column % width + block->columns > width) {
    return 1;
  }
  return stowi_kernel_smaller(most, (floats - block->columns) / dilation + 1);
}

// Copies what steps of a block read, and says where each begins (lean.h).
static size_t copy_windows(const void* user, const stowi_kernel_block* block, float* room,
                           size_t floats, uint32_t* begins) {
  const tiles* t = user;
  const stowi_kernel_slide* w = &t->c->window;
  size_t row = block->column / (size_t)w->out_width;
  size_t column = block->column % (size_t)w->out_width;
  size_t dilation = (size_t)w->dilations[w->rank - 1];
  stowi_kernel_step at = stowi_kernel_step_at(w, block->row);
  size_t used = 0;
  size_t done = 0;
  while (done < block->rows && floats - used >= block->columns) {
    size_t left = stowi_kernel_smaller((size_t)w->kernel_width - at.last, block->rows - done);
    size_t taps = taps_at_once(w, block, left, floats - used);
    size_t size = block->columns + (taps - 1) * dilation;
    if (taps == 1) {
      load_step(t->c, x_first_of(t), &at, row, column, size, room + used);
    } else {
      load_taps(t->c, x_first_of(t), &at, row, column, size, room + used);
    }
    for (size_t i = 0; i < taps; ++i) {
      begins[done++] = (uint32_t)(used + i * dilation);
      stowi_kernel_step_next(w, &at);
    }
    used += size;
  }
  return done;
}

// ---------------------------------------------------------------------------------------------
// Blocks that copy a few steps

// Channel |row| of the group, in f32.
static const float* weights_at(const tiles* t, size_t row) {
  const stowi_kernel_conv* c = t->c;
  return c->w->data == NULL
             ? NULL
             : (const float*)c->w->data + (t->group * c->out_channels + row) * c->depth;
}

static const float* load_weights(const void* user, const stowi_kernel_block* block, float* room,
                                 size_t* row) {
  const tiles* t = user;
  const stowi_kernel_conv* c = t->c;
  size_t first = (t->group * c->out_channels + block->row) * c->depth + block->column;
  if (c->w->dtype == STOW_F32) {
    *row = c->depth;
    return (const float*)c->w->data + first;
  }
  for (size_t i = 0; i < block->rows; ++i) {
    stowi_kernel_load_f32(c->w->dtype, c->w->data, first + i * c->depth, block->columns,
                          room + i * *row);
  }
  return room;
}

static const float* load_windows(const void* user, const stowi_kernel_block* block, float* room,
                                 size_t* row) {
  const tiles* t = user;
  const stowi_kernel_slide* w = &t->c->window;
  (void)room;
  *row = w->in_count;
  return (const float*)t->c->x->data + x_first_of(t) + block->row * w->in_count + block->column;
}

static bool begin_tile(const void* user, const stowi_kernel_block* block, float* to,
                       size_t to_row) {
  stowi_kernel_conv_part p = part_of(user, block);
  return stowi_kernel_conv_begin(((const tiles*)user)->c, &p, to, to_row);
}

static void add_bias(const tiles* t, const stowi_kernel_block* block, float* tile,
                     size_t tile_row) {
  const stowi_kernel_conv* c = t->c;
  for (size_t r = 0; r < block->rows; ++r) {
    float bias;
    stowi_kernel_load_f32(c->bias->dtype, c->bias->data,
                          t->group * c->out_channels + block->row + r, 1, &bias);
    for (size_t i = 0; i < block->columns; ++i) {
      tile[r * tile_row + i] = bias + tile[r * tile_row + i];
    }
  }
}

// Of a single chain the sums may wait in the result, and the bias is added to them.
static bool adds_bias(const stowi_kernel_conv* c) {
  return c->bias != NULL && c->addend == NULL && c->depth <= STOWI_KERNEL_GEMM_CHAIN;
}

static void finish_tile(const void* user, const stowi_kernel_block* block, float* tile,
                        size_t tile_row) {
  const stowi_kernel_conv* c = ((const tiles*)user)->c;
  stowi_kernel_conv_part p = part_of(user, block);
  if (adds_bias(c)) {
    add_bias(user, block, tile, tile_row);
  }
  for (size_t r = 0; stowi_kernel_conv_is_half(c) && r < p.rows; ++r) {
    stowi_kernel_store_f32(c->y->dtype, c->y->data, stowi_kernel_conv_at(c, &p, r), p.count,
                           tile + r * tile_row);
  }
}

static bool is_pointwise(const stowi_kernel_conv* c) {
  return !stowi_kernel_conv_is_half(c) && stowi_kernel_slide_is_pointwise(&c->window);
}

// For |t->group| of |t->image|; without data for scratch.
static stowi_kernel_lean lean_of(const tiles* t) {
  static float none;
  const stowi_kernel_conv* c = t->c;
  bool is_half = stowi_kernel_conv_is_half(c);
  bool begins = (c->bias != NULL || c->addend != NULL) && !adds_bias(c);
  stowi_kernel_conv_part whole = {t->image, t->group, 0, 0, 0, 0};
  float* y = c->y->data == NULL ? &none : c->y->data;
  return (stowi_kernel_lean){
      .m = c->out_channels,
      .n = c->window.out_count,
      .k = c->depth,
      .user = t,
      .a = load_weights,
      .a_packed = c->is_packed ? weights_at(t, 0) : NULL,
      .b = load_windows,
      .b_rows = is_pointwise(c) ? NULL : copy_windows,
      .a_is_there = c->w->dtype == STOW_F32,
      .b_is_there = is_pointwise(c),
      .copied = t->room == STOWI_KERNEL_CONV_FEW ? 0 : SOME,
      .c = is_half ? NULL : y + (y == &none ? 0 : stowi_kernel_conv_at(c, &whole, 0)),
      .c_row = c->window.out_count,
      .begin = begins ? begin_tile : NULL,
      .finish = is_half || adds_bias(c) ? finish_tile : NULL};
}

// ---------------------------------------------------------------------------------------------
// Blocks that copy what a chain reads

static size_t chain_of(const stowi_kernel_conv* c) {
  return stowi_kernel_smaller(c->depth, STOWI_KERNEL_GEMM_CHAIN);
}

static uint64_t table_size(const stowi_kernel_conv* c) {
  return stowi_kernel_align64(chain_of(c) * sizeof(uint32_t));
}

// Floats that a chain's steps read for a block.
static size_t chain_floats(const stowi_kernel_conv* c) {
  return chain_of(c) * stowi_kernel_smaller(c->window.out_count, STOWI_KERNEL_LEAN_COLUMNS);
}

// Chain by chain; |room| is for a chain's windows, |table| says where they begin.
static void make_chains(const tiles* t, const stowi_kernel_block* block, uint32_t* table,
                        float* room) {
  const stowi_kernel_conv* c = t->c;
  stowi_kernel_conv_part p = part_of(t, block);
  float* to = (float*)c->y->data + stowi_kernel_conv_at(c, &p, 0);
  size_t to_row = c->window.out_count;
  bool is_begun = stowi_kernel_conv_begin(c, &p, to, to_row);
  stowi_kernel_tile_factors f = {.a_row = c->depth,
                                 .a_step = 1,
                                 .b = room,
                                 .b_at = table,
                                 .a_steps = c->is_packed ? c->depth : 0};
  for (size_t step = 0; step < c->depth; step += STOWI_KERNEL_GEMM_CHAIN) {
    size_t steps = stowi_kernel_smaller(c->depth - step, STOWI_KERNEL_GEMM_CHAIN);
    stowi_kernel_block of_b = {step, steps, block->column, block->columns};
    (void)copy_windows(t, &of_b, room, chain_floats(c), table);
    f.a = weights_at(t, block->row) + (c->is_packed ? 0 : step);
    f.a_first = step;
    stowi_kernel_tiles_run(stowi_kernel_tiles_best(), block->rows, block->columns, steps, &f, to,
                           to_row, is_begun ? STOWI_KERNEL_TILE_ADD : STOWI_KERNEL_TILE_SET);
    is_begun = true;
  }
}

// ---------------------------------------------------------------------------------------------
// Blocks of positions, and parts of channels

enum {
  ROWS = 60,  // many, whole panels; in a part, if several workers share the work
};

static size_t divide_up(size_t a, size_t b) { return (a + b - 1) / b; }

static size_t rows_of(const stowi_kernel_conv* c) {
  return c->call->workers <= 1 ? c->out_channels : ROWS;
}

// How a row of the result, or all of it, is divided.
typedef struct lines {
  size_t length, count;  // positions that blocks do not cross the end of
  size_t each;           // blocks in a line
} lines;

// Where copies are for many channels short rows need no blocks of their own.
static lines lines_of(const stowi_kernel_conv* c, stowi_kernel_conv_room room) {
  const stowi_kernel_slide* w = &c->window;
  size_t width = (size_t)w->out_width;
  bool is_chain = room == STOWI_KERNEL_CONV_CHAIN;
  lines l = {width, w->out_rows, 0};
  if (width < (is_chain && c->out_channels >= ROWS ? SHORT : NARROW) || is_pointwise(c)) {
    l = (lines){w->out_count, 1, 0};
  }
  l.each = divide_up(l.length, STOWI_KERNEL_LEAN_COLUMNS);
  return l;
}

static stowi_kernel_block block_at(const stowi_kernel_conv* c, const lines* l, size_t i) {
  size_t rows = rows_of(c);
  size_t parts = divide_up(c->out_channels, rows);
  size_t column = i / parts % l->each * STOWI_KERNEL_LEAN_COLUMNS;
  stowi_kernel_block b = {.row = i % parts * rows,
                          .column = i / parts / l->each * l->length + column};
  b.rows = stowi_kernel_smaller(c->out_channels - b.row, rows);
  b.columns = stowi_kernel_smaller(l->length - column, STOWI_KERNEL_LEAN_COLUMNS);
  return b;
}

// Of a worker.
static uint64_t room_size(const stowi_kernel_conv* c, stowi_kernel_conv_room room) {
  if (room == STOWI_KERNEL_CONV_CHAIN) {
    return table_size(c) + stowi_kernel_align64((uint64_t)chain_floats(c) * sizeof(float));
  }
  tiles t = {c, room, 0, 0};
  stowi_kernel_lean lean = lean_of(&t);
  return stowi_kernel_lean_scratch(&lean);
}

static bool is_on_stack(const stowi_kernel_conv* c, stowi_kernel_conv_room room) {
  return room == STOWI_KERNEL_CONV_FEW && room_size(c, room) <= OWN;
}

uint64_t stowi_kernel_conv_lean_size(const stowi_kernel_conv* c, stowi_kernel_conv_room room) {
  bool has_chains = !stowi_kernel_conv_is_half(c) && !is_pointwise(c) && c->depth != 0;
  if (room == STOWI_KERNEL_CONV_CHAIN && !has_chains) {
    return UINT64_MAX;
  }
  return is_on_stack(c, room) ? 0 : room_size(c, room) * c->call->workers;
}

static void make_block(const tiles* t, const stowi_kernel_block* block, unsigned char* scratch) {
  if (t->room == STOWI_KERNEL_CONV_CHAIN) {
    make_chains(t, block, (uint32_t*)(void*)scratch, (float*)(void*)(scratch + table_size(t->c)));
  } else {
    stowi_kernel_lean lean = lean_of(t);
    stowi_kernel_lean_block(&lean, block, scratch);
  }
}

static void run_blocks(void* user, size_t begin, size_t end, uint32_t worker) {
  const tiles* all = user;
  const stowi_kernel_conv* c = all->c;
  _Alignas(64) unsigned char own[OWN];
  unsigned char* scratch = is_on_stack(c, all->room) ? own
                                                     : (unsigned char*)c->call->scratch +
                                                           worker * room_size(c, all->room);
  lines l = lines_of(c, all->room);
  size_t each = l.each * l.count * divide_up(c->out_channels, rows_of(c));
  for (size_t i = begin; i < end; ++i) {
    tiles t = {c, all->room, i / each / c->group, i / each % c->group};
    stowi_kernel_block block = block_at(c, &l, i % each);
    make_block(&t, &block, scratch);
  }
}

void stowi_kernel_conv_lean(stowi_kernel_conv* c, stowi_kernel_conv_room room) {
  tiles all = {c, room, 0, 0};
  if (stow_tensor_elements(c->y) == 0) {
    return;
  }
  lines l = lines_of(c, room);
  size_t blocks = l.each * l.count * divide_up(c->out_channels, rows_of(c));
  size_t work =
      stowi_kernel_smaller(c->out_channels, rows_of(c)) * STOWI_KERNEL_LEAN_COLUMNS * c->depth;
  stow_kernel_split(c->call, (size_t)c->window.batch * c->group * blocks, 65536 / (work + 1) + 1,
                    run_blocks, &all);
}
