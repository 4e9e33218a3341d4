// rope: pairs of elements of each row are turned by the angle of the row's position, whose cosine
// and sine a table holds. Both elements of a pair are read before either is written. One pass.
//
// Rows are [..., heads, sequence, d] from rank 4 on, [batch, sequence, heads × d] at rank 3 and
// [sequence, d] at rank 2.
#include <string.h>

#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

typedef struct rope {
  const stow_tensor *x, *cosines, *sines, *positions;
  stow_tensor* out;
  size_t batches, heads, sequence, size;
  bool heads_last;     // [batch, sequence, heads, size]
  size_t turned;       // elements of a row
  size_t pairs;        // of a row of the tables
  size_t table_rows;   // in all
  size_t table_batch;  // rows of the tables from one batch to the next, without positions
  bool interleaved;
} rope;

#define HALF (STOWI_KERNEL_BLOCK / 2)

// |count| pairs from pair |i| on; the first elements stand at |at|, the second ones |apart| after.
static void turn_f32(const rope* r, size_t at, size_t apart, size_t table, size_t count) {
  float x[HALF];
  float y[HALF];
  float cosines[HALF];
  float sines[HALF];
  stowi_kernel_load_f32(r->cosines->dtype, r->cosines->data, table, count, cosines);
  stowi_kernel_load_f32(r->sines->dtype, r->sines->data, table, count, sines);
  stowi_kernel_load_f32(r->x->dtype, r->x->data, at, count, x);
  stowi_kernel_load_f32(r->x->dtype, r->x->data, at + apart, count, y);
  for (size_t i = 0; i < count; ++i) {
    float first = x[i] * cosines[i] - y[i] * sines[i];
    y[i] = x[i] * sines[i] + y[i] * cosines[i];
    x[i] = first;
  }
  stowi_kernel_store_f32(r->out->dtype, r->out->data, at, count, x);
  stowi_kernel_store_f32(r->out->dtype, r->out->data, at + apart, count, y);
}

// The same for pairs of neighbours.
static void turn_neighbours(const rope* r, size_t at, size_t table, size_t count) {
  float x[STOWI_KERNEL_BLOCK];
  float cosines[HALF];
  float sines[HALF];
  stowi_kernel_load_f32(r->cosines->dtype, r->cosines->data, table, count, cosines);
  stowi_kernel_load_f32(r->sines->dtype, r->sines->data, table, count, sines);
  stowi_kernel_load_f32(r->x->dtype, r->x->data, at, 2 * count, x);
  for (size_t i = 0; i < count; ++i) {
    float first = x[2 * i] * cosines[i] - x[2 * i + 1] * sines[i];
    x[2 * i + 1] = x[2 * i] * sines[i] + x[2 * i + 1] * cosines[i];
    x[2 * i] = first;
  }
  stowi_kernel_store_f32(r->out->dtype, r->out->data, at, 2 * count, x);
}

static void turn_f64(const rope* r, size_t at, size_t apart, size_t table) {
  double c = stowi_kernel_float_at(r->cosines, table);
  double s = stowi_kernel_float_at(r->sines, table);
  double x = stowi_kernel_float_at(r->x, at);
  double y = stowi_kernel_float_at(r->x, at + apart);
  double turned[] = {x * c - y * s, x * s + y * c};
  stowi_kernel_store_f64(r->out->dtype, r->out->data, at, 1, &turned[0]);
  stowi_kernel_store_f64(r->out->dtype, r->out->data, at + apart, 1, &turned[1]);
}

static void turn_row(const rope* r, size_t first, size_t table) {
  size_t pairs = r->turned / 2;
  for (size_t i = 0; r->x->dtype == STOW_F64 && i < pairs; ++i) {
    turn_f64(r, first + (r->interleaved ? 2 * i : i), r->interleaved ? 1 : pairs, table + i);
  }
  for (size_t i = 0; r->x->dtype != STOW_F64 && i < pairs; i += HALF) {
    size_t count = pairs - i < HALF ? pairs - i : HALF;
    if (r->interleaved) {
      turn_neighbours(r, first + 2 * i, table + i, count);
    } else {
      turn_f32(r, first + i, pairs, table + i, count);
    }
  }
  size_t rest = r->size - r->turned;
  size_t width = stowi_kernel_bits(r->x->dtype) / 8;
  if (rest != 0 && r->out->data != r->x->data) {
    memcpy((unsigned char*)r->out->data + (first + r->turned) * width,
           (const unsigned char*)r->x->data + (first + r->turned) * width, rest * width);
  }
}

// Which row of the tables belongs to this place; table_rows or more if there is none.
static size_t table_row(const rope* r, size_t batch, size_t s) {
  if (r->positions == NULL) {
    return batch * r->table_batch + s;
  }
  size_t count = stow_tensor_elements(r->positions);
  int64_t position = count == 1 && r->batches * r->sequence != 1
                         ? stowi_kernel_int_at(r->positions, 0) + (int64_t)s
                         : stowi_kernel_int_at(r->positions, (batch * r->sequence + s) % count);
  return position < 0 ? SIZE_MAX : (size_t)position;
}

static void rope_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const rope* r = user;
  (void)worker;
  for (size_t i = begin; i < end; ++i) {
    size_t batch = i / (r->heads * r->sequence);
    size_t s = r->heads_last ? i / r->heads % r->sequence : i % r->sequence;
    turn_row(r, i * r->size, table_row(r, batch, s) * r->pairs);
  }
}

static void read_rows(const stow_kernel_call* call, rope* r) {
  const stow_tensor* x = r->x;
  size_t last = (size_t)x->dims[x->rank - 1];
  int64_t heads = stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 0);
  r->heads_last = x->rank == 3;
  r->heads = x->rank >= 4 ? (size_t)x->dims[x->rank - 3] : 1;
  if (x->rank == 3 && heads > 0) {
    r->heads = (size_t)heads;
  }
  r->size = x->rank == 3 ? last / r->heads : last;
  r->sequence = (size_t)x->dims[x->rank - 2];
  r->batches = 1;
  for (uint32_t i = 0; i + (x->rank == 3 ? 2U : 3U) < x->rank; ++i) {
    r->batches *= (size_t)x->dims[i];
  }
  int64_t turned = stowi_kernel_int(call, STOWI_KERNEL_ATTR_ROTARY_DIM, 0);
  r->turned = turned == 0 ? r->size : (size_t)turned;
}

static stow_status check_rows(const stow_kernel_call* call, const rope* r) {
  if (r->turned % 2 != 0 || r->turned > r->size || r->turned > 2 * r->pairs) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu of %zu elements cannot be rotated by %zu pairs", r->turned,
                            r->size, r->pairs);
  }
  size_t count = r->positions == NULL ? 1 : stow_tensor_elements(r->positions);
  if (count != 1 && count != r->sequence && count != r->batches * r->sequence) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "%zu positions do not fit %zu batches of %zu", count, r->batches,
                            r->sequence);
  }
  for (size_t b = 0; b < r->batches; ++b) {
    for (size_t s = 0; s < r->sequence; ++s) {
      if (table_row(r, b, s) >= r->table_rows) {
        return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                                "position %zu of batch %zu is out of range (a table of %zu rows)",
                                s, b, r->table_rows);
      }
    }
  }
  return STOW_OK;
}

static stow_status run_rope(stow_kernel_call* call) {
  rope r = {.x = stow_kernel_operand(call, 0),
            .cosines = stow_kernel_operand(call, 1),
            .sines = stow_kernel_operand(call, 2),
            .positions = stow_kernel_operand(call, 3),
            .out = stow_kernel_result(call, 0),
            .interleaved = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_INTERLEAVED, false)};
  if (stowi_kernel_kind(r.x->dtype) != STOW_KIND_FLOAT || stowi_kernel_bits(r.x->dtype) < 16) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "x must be f32, f16, bf16 or f64");
  }
  if (stow_tensor_elements(r.x) == 0) {
    return STOW_OK;
  }
  read_rows(call, &r);
  r.pairs = (size_t)r.cosines->dims[r.cosines->rank - 1];
  r.table_rows = r.pairs == 0 ? 0 : stow_tensor_elements(r.cosines) / r.pairs;
  bool has_batches = r.cosines->rank >= 3 && r.table_rows == r.batches * r.sequence;
  r.table_batch = has_batches ? r.sequence : 0;
  STOWI_KERNEL_TRY(check_rows(call, &r));
  size_t work = r.size;
  stow_kernel_split(call, r.batches * r.heads * r.sequence, work > 16384 ? 1 : 16384 / work,
                    rope_task, &r);
  return STOW_OK;
}

STOWI_KERNEL(ROPE, NULL, run_rope);
