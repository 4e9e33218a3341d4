// Which rows steps of a stream read, and how many rows they make at a time. A kernel reads all
// weights in every call, and fills tiles of some ten positions: narrow rows are made several at a
// time, until they have enough positions together. Wide rows have enough.
#include "exec/run/stream_inside.h"

#define ROWS 2
#define COLUMNS 3

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_window window;

// About how many positions a step makes at a time, by level. Of rows of 112, 56, 28, 14 and 7
// columns blocks have 2, 5, 9, 14 and 7 at first, later 1, 1, 1, 2 and 4, and at last one.
static const int64_t positions[STOWI_EXEC_STREAM_LEVELS] = {256, 128, 64, 32, 16, 1};

bool stowi_exec_stream_reads_rows(const stowi_exec_stream* s, uint32_t step, size_t k) {
  bool is_whole = k < 64 && (s->maps[step].whole >> k & 1) != 0;
  return stow_graph_operands(s->function, s->nodes[step])[k] != STOW_VALUE_NONE && !is_whole;
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
int64_t stowi_exec_stream_block(const stowi_exec_stream* s, uint32_t step, uint32_t level) {
  int64_t rows = stowi_exec_stream_rows(s, step);
  int64_t columns = result_type(s, step)->dims[COLUMNS];
  int64_t divide = s->maps[step].divide;
  int64_t least = s->rows < 1 ? 1 : s->rows < rows ? s->rows : rows;
  int64_t block = (positions[level] + columns / 2) / columns;
  int64_t blocks = block < 1 ? rows : (rows + block - 1) / block;
  block = (rows + blocks - 1) / blocks;
  block = block < least ? least : block;
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
