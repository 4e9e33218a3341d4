// Broadcasting: merged dims, cursors over runs, blocks of repeated operands, and how elements are
// divided. Making a walk takes time in rank times operands; a step of a cursor constant time,
// amortised.
#include "exec/kernels/support/walk.h"

#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

#define UNIT 64        // elements that one worker does alone
#define SHORT_RUN 16   // elements; repetitions of fewer are not worth a run each
#define PIECE 64       // elements that are read at once to be repeated
#define GRAIN 0x4000U  // additions that are worth another worker

// ---------------------------------------------------------------------------------------------
// Walks

// The strides of |tensor| for each of the result's dims.
static void strides_of(const stow_tensor* tensor, const stow_tensor* result, size_t* out) {
  size_t stride = 1;
  for (uint32_t i = 0; i < result->rank; ++i) {
    uint32_t axis = result->rank - 1 - i;
    int64_t dim = i < tensor->rank ? tensor->dims[tensor->rank - 1 - i] : 1;
    out[axis] = dim == 1 ? 0 : stride;
    stride *= (size_t)dim;
  }
}

// Whether dim |axis| of the result goes on where the walk's last dim ends, for all operands.
static bool is_mergeable(const stowi_kernel_walk* walk, size_t strides[][STOW_MAX_RANK],
                         uint32_t axis, size_t dim) {
  for (uint32_t k = 0; k < walk->operand_count; ++k) {
    if (walk->strides[k][walk->rank - 1] != strides[k][axis] * dim) {
      return false;
    }
  }
  return true;
}

// How many elements of operand |k| are contiguous along the dims before |end|, from where
// all dims before are repetitions; 0 where it is not so.
static size_t period_of(const stowi_kernel_walk* walk, uint32_t k, uint32_t end) {
  size_t period = 1;
  while (end > 0 && walk->strides[k][end - 1] == period) {
    period *= walk->dims[--end];
  }
  while (end > 0 && walk->strides[k][end - 1] == 0) {
    end -= 1;
  }
  return end == 0 ? period : 0;
}

// What spares the blocks of operand |k| a walk by runs.
static void set_pattern(stowi_kernel_walk* walk, uint32_t k) {
  uint32_t last = walk->rank - 1;
  bool is_repeated = walk->strides[k][last] == 0 && walk->dims[last] < SHORT_RUN;
  walk->periods[k] = period_of(walk, k, walk->rank);
  walk->repeats[k] = is_repeated && period_of(walk, k, last) * walk->dims[last] == walk->count
                         ? walk->dims[last]
                         : 0;
}

void stowi_kernel_walk_init(stowi_kernel_walk* walk, const stow_tensor* result,
                            const stow_tensor* const* operands, uint32_t operand_count) {
  size_t strides[STOWI_KERNEL_WALK_MOST][STOW_MAX_RANK];
  walk->count = stow_tensor_elements(result);
  walk->operand_count = operand_count;
  walk->rank = 0;
  for (uint32_t k = 0; k < operand_count; ++k) {
    strides_of(operands[k], result, strides[k]);
  }
  for (uint32_t axis = 0; axis < result->rank; ++axis) {
    size_t dim = (size_t)result->dims[axis];
    if (dim == 1) {
      continue;
    }
    bool is_merged = walk->rank != 0 && is_mergeable(walk, strides, axis, dim);
    walk->rank += is_merged ? 0 : 1;
    size_t* last = &walk->dims[walk->rank - 1];
    *last = is_merged ? *last * dim : dim;
    for (uint32_t k = 0; k < operand_count; ++k) {
      walk->strides[k][walk->rank - 1] = strides[k][axis];
    }
  }
  if (walk->rank == 0) {
    walk->rank = 1;
    walk->dims[0] = 1;
    for (uint32_t k = 0; k < operand_count; ++k) {
      walk->strides[k][0] = 0;
    }
  }
  for (uint32_t k = 0; k < operand_count; ++k) {
    set_pattern(walk, k);
  }
}

// ---------------------------------------------------------------------------------------------
// Cursors

void stowi_kernel_cursor_init(stowi_kernel_cursor* cursor, const stowi_kernel_walk* walk,
                              size_t begin, size_t end) {
  cursor->walk = walk;
  cursor->at = begin;
  cursor->end = end < walk->count ? end : walk->count;
  for (uint32_t k = 0; k < walk->operand_count; ++k) {
    cursor->index[k] = 0;
  }
  size_t rest = begin;
  for (uint32_t i = walk->rank; begin < cursor->end && i-- > 0;) {
    cursor->position[i] = rest % walk->dims[i];
    rest /= walk->dims[i];
    for (uint32_t k = 0; k < walk->operand_count; ++k) {
      cursor->index[k] += cursor->position[i] * walk->strides[k][i];
    }
  }
}

// |length| elements on along the last dim, and to the next row where it ends.
static void advance(stowi_kernel_cursor* cursor, size_t length) {
  const stowi_kernel_walk* walk = cursor->walk;
  uint32_t axis = walk->rank - 1;
  size_t step = length;
  cursor->at += length;
  for (;;) {
    cursor->position[axis] += step;
    for (uint32_t k = 0; k < walk->operand_count; ++k) {
      cursor->index[k] += step * walk->strides[k][axis];
    }
    if (cursor->position[axis] < walk->dims[axis] || axis == 0) {
      return;
    }
    cursor->position[axis] = 0;
    for (uint32_t k = 0; k < walk->operand_count; ++k) {
      cursor->index[k] -= walk->dims[axis] * walk->strides[k][axis];
    }
    axis -= 1;
    step = 1;
  }
}

bool stowi_kernel_cursor_next(stowi_kernel_cursor* cursor, size_t most, stowi_kernel_run* out_run) {
  const stowi_kernel_walk* walk = cursor->walk;
  if (cursor->at >= cursor->end) {
    return false;
  }
  uint32_t last = walk->rank - 1;
  size_t length = walk->dims[last] - cursor->position[last];
  length = length < cursor->end - cursor->at ? length : cursor->end - cursor->at;
  length = length < most ? length : most;
  out_run->at = cursor->at;
  out_run->length = length;
  for (uint32_t k = 0; k < walk->operand_count; ++k) {
    out_run->index[k] = cursor->index[k];
    out_run->step[k] = walk->strides[k][last];
  }
  advance(cursor, length);
  return true;
}

// ---------------------------------------------------------------------------------------------
// Blocks

// Elements that start again after every |period|: once read they are copied.
#define DEFINE_CYCLE(name, type, load)                                                    \
  static void name(const stow_tensor* operand, size_t period, size_t first, size_t count, \
                   type* out) {                                                           \
    size_t at = first % period;                                                           \
    size_t done = 0;                                                                      \
    while (done < count && done < period) {                                               \
      size_t n = period - at < count - done ? period - at : count - done;                 \
      load(operand->dtype, operand->data, at, n, out + done);                             \
      done += n;                                                                          \
      at = 0;                                                                             \
    }                                                                                     \
    while (done < count) {                                                                \
      size_t whole = done - done % period;                                                \
      size_t n = whole < count - done ? whole : count - done;                             \
      memcpy(out + done, out + done - whole, n * sizeof(type));                           \
      done += n;                                                                          \
    }                                                                                     \
  }

// Elements of which each is taken |times| times.
#define DEFINE_REPEAT(name, type, load)                                                  \
  static void name(const stow_tensor* operand, size_t times, size_t first, size_t count, \
                   type* out) {                                                          \
    type piece[PIECE];                                                                   \
    size_t index = first / times;                                                        \
    size_t left = times - first % times;                                                 \
    for (size_t done = 0; done < count;) {                                               \
      size_t rest = count - done;                                                        \
      size_t n = 1 + (rest > left ? (rest - left + times - 1) / times : 0);              \
      n = n < PIECE ? n : PIECE;                                                         \
      load(operand->dtype, operand->data, index, n, piece);                              \
      for (size_t i = 0; i < n; ++i, left = times) {                                     \
        for (; left > 0 && done < count; --left) {                                       \
          out[done++] = piece[i];                                                        \
        }                                                                                \
      }                                                                                  \
      index += n;                                                                        \
    }                                                                                    \
  }

#define DEFINE_SPREAD(name, type, load, cycle, repeat)                                           \
  DEFINE_CYCLE(cycle, type, load)                                                                \
  DEFINE_REPEAT(repeat, type, load)                                                              \
  void name(const stowi_kernel_walk* walk, uint32_t k, const stow_tensor* operand, size_t first, \
            size_t count, type* out) {                                                           \
    stowi_kernel_cursor cursor;                                                                  \
    stowi_kernel_run run;                                                                        \
    if (walk->periods[k] != 0 || walk->repeats[k] != 0) {                                        \
      (walk->periods[k] != 0 ? cycle : repeat)(                                                  \
          operand, walk->periods[k] != 0 ? walk->periods[k] : walk->repeats[k], first, count,    \
          out);                                                                                  \
      return;                                                                                    \
    }                                                                                            \
    stowi_kernel_cursor_init(&cursor, walk, first, first + count);                               \
    while (stowi_kernel_cursor_next(&cursor, SIZE_MAX, &run)) {                                  \
      type* to = out + (run.at - first);                                                         \
      load(operand->dtype, operand->data, run.index[k], run.step[k] == 0 ? 1 : run.length, to);  \
      for (size_t i = 1; run.step[k] == 0 && i < run.length; ++i) {                              \
        to[i] = to[0];                                                                           \
      }                                                                                          \
    }                                                                                            \
  }

DEFINE_SPREAD(stowi_kernel_spread_f32, float, stowi_kernel_load_f32, cycle_f32, repeat_f32)
DEFINE_SPREAD(stowi_kernel_spread_f64, double, stowi_kernel_load_f64, cycle_f64, repeat_f64)
DEFINE_SPREAD(stowi_kernel_spread_i64, int64_t, stowi_kernel_load_i64, cycle_i64, repeat_i64)

// ---------------------------------------------------------------------------------------------
// Dividing elements

typedef struct unit_task {
  stow_split_task task;
  void* user;
  size_t count;
} unit_task;

static void run_units(void* user, size_t begin, size_t end, uint32_t worker) {
  const unit_task* units = (const unit_task*)user;
  size_t last = end * UNIT < units->count ? end * UNIT : units->count;
  units->task(units->user, begin * UNIT, last, worker);
}

static void divide(const stow_kernel_call* call, size_t count, size_t cost, stow_split_task task,
                   void* user) {
  if (call->workers <= 1 || !stowi_kernel_is_divisible(call)) {
    task(user, 0, count, 0);
    return;
  }
  unit_task units = {task, user, count};
  size_t grain = GRAIN / (UNIT * (cost == 0 ? 1 : cost));
  stow_kernel_split(call, (count + UNIT - 1) / UNIT, grain == 0 ? 1 : grain, run_units, &units);
}

void stowi_kernel_split_elements(const stow_kernel_call* call, size_t count, size_t cost,
                                 stow_split_task task, void* user) {
  if (count == 0) {
    return;
  }
  divide(call, count, cost, task, user);
  for (size_t k = 0; k < call->result_count; ++k) {
    stowi_kernel_clear_rest(call->results[k]);
  }
}
