// Which rows steps of a stream read, and how many rows they make at a time. A kernel reads all
// weights in every call, and fills tiles of some ten positions: narrow rows are made several at a
// time, until they have enough positions together. Wide rows have enough.
#include "exec/run/stream_inside.h"

#define ROWS 2
#define COLUMNS 3

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_window window;

// About how many positions a step makes at a time, by variant. Rows of 112, 56, 28, 14 and 7
// columns become blocks of 5, 9, 14, 14 and 7 rows at first, then of 1, 1, 1, 2 and 4, then of one.
static const int64_t positions[STOWI_KERNEL_STREAM_VARIANTS] = {512, 256, 128, 64, 32, 1};

bool stowi_exec_stream_reads_whole(const stowi_exec_stream* s, uint32_t step, size_t k) {
  return k < 64 && (s->maps[step].whole >> k & 1) != 0;
}

static const stow_type* result_type(const stream* s, uint32_t step) {
  return stow_graph_type(s->function, stow_graph_first_result(s->function, s->nodes[step]));
}

int64_t stowi_exec_stream_rows(const stowi_exec_stream* s, uint32_t step) {
  return result_type(s, step)->dims[ROWS];
}

// The largest divisor of |number| up to |most|.
static int64_t divisor(int64_t number, int64_t most) {
  while (number % most != 0) {
    --most;
  }
  return most;
}

// Blocks of almost the same size. Each is made of whole rows of what `resize` repeats, or of parts
// of one.
int64_t stowi_exec_stream_block(const stowi_exec_stream* s, uint32_t step, uint32_t variant) {
  int64_t rows = stowi_exec_stream_rows(s, step);
  int64_t columns = result_type(s, step)->dims[COLUMNS];
  int64_t divide = s->maps[step].divide;
  int64_t block = s->rows != 0 ? s->rows : (positions[variant] + columns / 2) / columns;
  block = block < 1 ? 1 : block < rows ? block : rows;
  if (s->rows == 0) {
    int64_t blocks = (rows + block - 1) / block;
    block = (rows + blocks - 1) / blocks;
  }
  return block < divide ? divisor(divide, block) : block - block % divide;
}

// ---------------------------------------------------------------------------------------------
// Windows

static int64_t clamp(int64_t number, int64_t most) {
  return number < 0 ? 0 : number < most ? number : most;
}

stowi_exec_stream_window stowi_exec_stream_window_of(const stowi_exec_stream* s, uint32_t step,
                                                     int64_t row, int64_t count) {
  const stowi_graph_row_map* map = &s->maps[step];
  const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
  int64_t rows = stow_graph_type(s->function, operands[0])->dims[ROWS];
  int64_t first, last, unused;
  window w = {.rows = 0};
  (void)stowi_graph_row_range(map, rows, row, &first, &unused);
  (void)stowi_graph_row_range(map, rows, row + count - 1, &unused, &last);
  w.rows = last >= first ? last - first + 1 : 0;
  if (map->pad_count != 0) {
    int64_t begin = row * map->stride + map->first;
    int64_t end = (row + count - 1) * map->stride + map->last + 1;
    w.above = clamp(-begin, end - begin);
    w.below = clamp(clamp(end - rows, end - begin), map->pads[map->bottom]);
  }
  return w;
}

stowi_exec_stream_window stowi_exec_stream_most(const stowi_exec_stream* s, uint32_t step) {
  window most = stowi_exec_stream_window_of(s, step, 0, 1);
  for (int64_t row = 1; row < stowi_exec_stream_rows(s, step); ++row) {
    window w = stowi_exec_stream_window_of(s, step, row, 1);
    most = w.rows > most.rows ? w : most;
  }
  return most;
}
