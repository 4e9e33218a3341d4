// embed_norm: rows of up to three tables (words, positions, segments) added up and normalised as by
// layer_norm. Tables, scale and shift may be quantised, each with one scale and zero point. Ids are
// checked before anything is written. Three passes over each row in doubles, the sum recomputed
// in each.
#include <string.h>

#include "exec/kernels/rows/axes.h"
#include "exec/kernels/rows/reals.h"
#include "exec/kernels/support/kernel.h"

enum {
  IDS,
  SEGMENT_IDS,
  WORDS,
  POSITIONS,
  SEGMENTS,
  SCALE,
  SHIFT,
  MASK,
  POSITION_IDS,
  FIRST_SCALE,  // of words, positions, segments, scale and shift
  FIRST_ZERO = FIRST_SCALE + 5
};

// A table of rows, or the scale or shift as one row.
typedef struct table {
  const stow_tensor* tensor;  // NULL: there is none
  double scale;
  double zero;
} table;

typedef struct job {
  const stow_kernel_call* call;
  table tables[5];  // by operand, from WORDS on
  const stow_tensor* y;
  const stow_tensor* sums;  // may be NULL
  size_t sequence;
  size_t width;
  double epsilon;
} job;

static table table_of(const stow_kernel_call* call, size_t operand) {
  const stow_tensor* scale = stow_kernel_operand(call, FIRST_SCALE + operand - WORDS);
  const stow_tensor* zero = stow_kernel_operand(call, FIRST_ZERO + operand - WORDS);
  return (table){stow_kernel_operand(call, operand),
                 scale == NULL ? 1 : stowi_kernel_float_at(scale, 0),
                 zero == NULL ? 0 : stowi_kernel_float_at(zero, 0)};
}

enum { ELEMENTS = 64 };  // at a time, where they are not summed

// |count| elements from |first| on. Those of whole bytes need not be aligned.
static void load_table(const stow_tensor* tensor, size_t first, size_t count, double* out) {
  double copy[ELEMENTS];
  size_t bits = stowi_kernel_bits(tensor->dtype);
  if (bits % 8 != 0) {
    stowi_kernel_load_f64(tensor->dtype, tensor->data, first, count, out);
    return;
  }
  memcpy(copy, (const unsigned char*)tensor->data + first * (bits / 8), count * (bits / 8));
  stowi_kernel_load_f64(tensor->dtype, copy, 0, count, out);
}

// Adds |count| elements from |first| on.
static void add_table(const table* t, size_t first, size_t count, double* out) {
  for (size_t i = 0; i < count; i += ELEMENTS) {
    double room[ELEMENTS];
    size_t some = stowi_kernel_smaller(ELEMENTS, count - i);
    load_table(t->tensor, first + i, some, room);
    for (size_t k = 0; k < some; ++k) {
      out[i + k] += (room[k] - t->zero) * t->scale;
    }
  }
}

// Which row of a table position |i| of all takes; positions may be the same for all samples.
static int64_t row_of(const job* j, size_t operand, size_t i) {
  const stow_tensor* ids = NULL;
  if (operand == POSITIONS) {
    ids = stow_kernel_operand(j->call, POSITION_IDS);
    if (ids == NULL) {
      return (int64_t)(i % j->sequence);
    }
    return stowi_kernel_int_at(ids, i % stow_tensor_elements(ids));
  }
  ids = stow_kernel_operand(j->call, operand == WORDS ? IDS : SEGMENT_IDS);
  return ids == NULL ? 0 : stowi_kernel_int_at(ids, i);
}

static void load_sum(const job* j, const size_t* rows, size_t i, size_t count, double* out) {
  for (size_t k = 0; k < count; ++k) {
    out[k] = 0;
  }
  for (size_t t = 0; t < 3; ++t) {
    if (j->tables[t].tensor != NULL) {
      add_table(&j->tables[t], rows[t] * j->width + i, count, out);
    }
  }
}

static double add_up(const job* j, const size_t* rows, const double* mean) {
  double room[STOWI_KERNEL_BLOCK];
  double sum = 0;
  for (size_t i = 0; i < j->width; i += STOWI_KERNEL_BLOCK) {
    size_t count = stowi_kernel_smaller(STOWI_KERNEL_BLOCK, j->width - i);
    load_sum(j, rows, i, count, room);
    sum += mean == NULL ? stowi_kernel_sum_f64(room, count)
                        : stowi_kernel_squares_f64(room, count, *mean);
  }
  return sum;
}

static void write_block(const job* j, size_t at, size_t i, size_t count, double mean, double factor,
                        double* block) {
  double scale[ELEMENTS] = {0};
  const table* gain = &j->tables[SCALE - WORDS];
  const table* shift = &j->tables[SHIFT - WORDS];
  if (j->sums != NULL) {
    stowi_kernel_store_f64(j->sums->dtype, j->sums->data, at, count, block);
  }
  if (gain->tensor != NULL) {
    add_table(gain, i, count, scale);
  }
  for (size_t k = 0; k < count; ++k) {
    block[k] = (block[k] - mean) * factor * (gain->tensor == NULL ? 1 : scale[k]);
  }
  if (shift->tensor != NULL) {
    add_table(shift, i, count, block);
  }
  stowi_kernel_store_f64(j->y->dtype, j->y->data, at, count, block);
}

static void rows_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const job* j = user;
  double block[ELEMENTS];
  double width = (double)j->width;
  (void)worker;
  for (size_t r = begin; r < end; ++r) {
    size_t rows[3];
    for (size_t t = 0; t < 3; ++t) {
      rows[t] = j->tables[t].tensor == NULL ? 0 : (size_t)row_of(j, WORDS + t, r);
    }
    double mean = add_up(j, rows, NULL) / width;
    double factor = 1 / sqrt(add_up(j, rows, &mean) / width + j->epsilon);
    for (size_t i = 0; i < j->width; i += ELEMENTS) {
      size_t count = stowi_kernel_smaller(ELEMENTS, j->width - i);
      load_sum(j, rows, i, count, block);
      write_block(j, r * j->width + i, i, count, mean, factor, block);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Checks

static stow_status check_tables(const job* j) {
  for (size_t t = 0; t < 5; ++t) {
    const stow_tensor* tensor = j->tables[t].tensor;
    if (tensor == NULL) {
      continue;
    }
    uint32_t rank = t + WORDS < SCALE ? 2 : 1;
    int64_t columns = tensor->rank == 0 ? 1 : tensor->dims[tensor->rank - 1];
    if (tensor->rank != rank) {
      return stow_kernel_fail(j->call, STOW_ERR_INVALID_ARGUMENT,
                              "operand %zu has rank %u, expected %u", t + WORDS,
                              (unsigned)tensor->rank, (unsigned)rank);
    }
    if (columns != (int64_t)j->width) {
      return stow_kernel_fail(j->call, STOW_ERR_INVALID_ARGUMENT,
                              "operand %zu has rows of %lld elements, expected %zu", t + WORDS,
                              (long long)columns, j->width);
    }
  }
  return stowi_kernel_need_real(j->call, j->y, "the result");
}

static stow_status check_ids(const job* j, size_t operand, size_t count) {
  const stow_tensor* tensor = j->tables[operand - WORDS].tensor;
  for (size_t i = 0; tensor != NULL && i < count; ++i) {
    int64_t row = row_of(j, operand, i);
    if (row < 0 || row >= tensor->dims[0]) {
      return stow_kernel_fail(j->call, STOW_ERR_INVALID_ARGUMENT,
                              "id %lld is out of range (%lld rows in operand %zu)", (long long)row,
                              (long long)tensor->dims[0], operand);
    }
  }
  return STOW_OK;
}

static stow_status check(const job* j, size_t count) {
  const stow_tensor* positions = stow_kernel_operand(j->call, POSITION_IDS);
  const stow_tensor* segments = stow_kernel_operand(j->call, SEGMENT_IDS);
  stow_status status = check_tables(j);
  if (status == STOW_OK && ((positions != NULL && stow_tensor_elements(positions) != count &&
                             stow_tensor_elements(positions) != j->sequence) ||
                            (segments != NULL && stow_tensor_elements(segments) != count))) {
    status =
        stow_kernel_fail(j->call, STOW_ERR_INVALID_ARGUMENT,
                         "ids, position ids and segment ids must have the same number of elements");
  }
  for (size_t t = WORDS; status == STOW_OK && t <= SEGMENTS; ++t) {
    status = check_ids(j, t, count);
  }
  return status;
}

// How many ones the mask has in each sample; 0 without a mask.
static void count_mask(const stow_kernel_call* call, const stow_tensor* counts, size_t sequence) {
  const stow_tensor* mask = stow_kernel_operand(call, MASK);
  for (size_t b = 0; counts != NULL && b < (size_t)counts->dims[0]; ++b) {
    int64_t ones = 0;
    for (size_t i = 0; mask != NULL && i < sequence; ++i) {
      ones += stowi_kernel_int_at(mask, b * sequence + i) == 1;
    }
    stowi_kernel_store_i64(counts->dtype, counts->data, b, 1, &ones);
  }
}

static stow_status run_embed_norm(stow_kernel_call* call) {
  const stow_tensor* ids = call->operands[IDS];
  const stow_tensor* mask = stow_kernel_operand(call, MASK);
  size_t count = stow_tensor_elements(ids);
  job j = {.call = call,
           .y = call->results[0],
           .sums = stow_kernel_result(call, 2),
           .sequence = (size_t)ids->dims[1],
           .width = (size_t)call->operands[WORDS]->dims[1],
           .epsilon = stowi_kernel_float(call, STOWI_KERNEL_ATTR_EPSILON, 1e-12)};
  for (size_t t = 0; t < 5; ++t) {
    j.tables[t] = table_of(call, WORDS + t);
  }
  stow_status status = check(&j, count);
  if (status == STOW_OK && mask != NULL && stow_tensor_elements(mask) != count) {
    status =
        stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "the mask must have the dims of the ids");
  }
  if (status == STOW_OK) {
    stow_kernel_split(call, count, stowi_kernel_grain_of(j.width * 8), rows_task, &j);
    count_mask(call, stow_kernel_result(call, 1), j.sequence);
  }
  return status;
}

STOWI_KERNEL(EMBED_NORM, NULL, run_embed_norm,
             .unaligned = 1U << WORDS | 1U << POSITIONS | 1U << SEGMENTS);
