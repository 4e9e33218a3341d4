// The sums of a part stay in scratch until they are scaled and rounded, so that no tensor of i32 as
// large as the result is needed.
#include "exec/kernels/matrix/quantized_product.h"

#include "exec/kernels/matrix/integer_gemm.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"
#include "exec/kernels/support/size.h"
#include "exec/kernels/support/vector.h"

// ---------------------------------------------------------------------------------------------
// Lanes

static stow_status lane_of(const stow_kernel_call* call, const stow_tensor* tensor, size_t each,
                           size_t all, const char* name, stowi_kernel_lane* out) {
  out->tensor = tensor;
  out->count = tensor != NULL ? stow_tensor_elements(tensor) : 1;
  if (out->count == 1 || out->count == each || out->count == all) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                          "the %s has %zu elements, expected 1, %zu or %zu", name, out->count, each,
                          all);
}

stow_status stowi_kernel_lane_of_rows(const stow_kernel_call* call, const stowi_kernel_product* p,
                                      const stow_tensor* a, const stow_tensor* tensor,
                                      const char* name, stowi_kernel_lane* out) {
  size_t each = p->rank != 0 || a->rank < 2 ? p->m : (size_t)a->dims[a->rank - 2];
  return lane_of(call, tensor, each < p->m ? each : p->m, p->batches * p->m, name, out);
}

stow_status stowi_kernel_lane_of_columns(const stow_kernel_call* call,
                                         const stowi_kernel_product* p, const stow_tensor* tensor,
                                         const char* name, stowi_kernel_lane* out) {
  return lane_of(call, tensor, p->n, p->batches * p->n, name, out);
}

// All are the first one where a lane has no more; elsewhere runs of them follow each other.
void stowi_kernel_lane_floats(const stowi_kernel_lane* lane, size_t first, size_t count,
                              float* out) {
  float only = 0;
  if (lane->tensor != NULL && lane->count == 1) {
    stowi_kernel_load_f32(lane->tensor->dtype, lane->tensor->data, 0, 1, &only);
  }
  for (size_t i = 0; i < count;) {
    size_t at = (first + i) % lane->count;
    size_t run = stowi_kernel_smaller(count - i, lane->count - at);
    if (lane->count == 1) {
      out[i] = only;
    } else {
      stowi_kernel_load_f32(lane->tensor->dtype, lane->tensor->data, at, run, out + i);
    }
    i += run;
  }
}

void stowi_kernel_lane_ints(const stowi_kernel_lane* lane, size_t first, size_t count,
                            int32_t* out) {
  int32_t only =
      lane->tensor != NULL && lane->count == 1 ? (int32_t)stowi_kernel_int_at(lane->tensor, 0) : 0;
  for (size_t i = 0; i < count; ++i) {
    out[i] = lane->count == 1
                 ? only
                 : (int32_t)stowi_kernel_int_at(lane->tensor, (first + i) % lane->count);
  }
}

// ---------------------------------------------------------------------------------------------
// Products

static bool is_byte(stow_dtype dtype) { return dtype == STOW_I8 || dtype == STOW_U8; }

static bool is_packed(const stow_kernel_call* call, const stow_tensor* tensor) {
  bool is = false;
  for (size_t k = 0; k < call->operand_count; ++k) {
    is = is || (call->operands[k] == tensor && stowi_kernel_operand_is_packed(call, k));
  }
  return is;
}

// The matrices of a second factor.
static stowi_kernel_product matrices_of(const stow_tensor* b, stowi_kernel_turn turn) {
  return stowi_kernel_product_of(b, (stowi_kernel_turn){!turn.matrix, false}, b, turn);
}

uint64_t stowi_kernel_quantized_pack_size(const stow_tensor* b, stowi_kernel_turn turn) {
  if (!is_byte(b->dtype)) {
    return 0;
  }
  stowi_kernel_product p = matrices_of(b, turn);
  return stowi_kernel_times(p.batches, stowi_kernel_integer_pack_size(p.k, p.n));
}

void stowi_kernel_quantized_pack(const stow_tensor* b, stowi_kernel_turn turn, void* out) {
  stowi_kernel_product p = matrices_of(b, turn);
  uint64_t size = stowi_kernel_integer_pack_size(p.k, p.n);
  for (size_t i = 0; i < p.batches; ++i) {
    const uint8_t* data = (const uint8_t*)b->data + i * p.k * p.n;
    stowi_kernel_bytes matrix = {data, b->dtype == STOW_I8, p.b.row, p.b.column};
    stowi_kernel_integer_pack(&matrix, p.k, p.n, (uint8_t*)out + i * size);
  }
}

stow_status stowi_kernel_quantized_of(const stow_kernel_call* call, const stow_tensor* a,
                                      stowi_kernel_turn turn_a, const stow_tensor* b,
                                      stowi_kernel_turn turn_b, const stow_tensor* a_zero,
                                      const stow_tensor* b_zero, stowi_kernel_quantized* out) {
  *out = (stowi_kernel_quantized){.call = call, .a = a->data, .b = b->data};
  out->product = stowi_kernel_product_of(a, turn_a, b, turn_b);
  out->a_is_signed = a->dtype == STOW_I8;
  out->b_is_signed = b->dtype == STOW_I8;
  out->b_is_packed = is_packed(call, b);
  if (!is_byte(b->dtype) || (a_zero != NULL && !is_byte(a_zero->dtype)) ||
      (b_zero != NULL && !is_byte(b_zero->dtype))) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "factors and zero points of integer products must be i8 or u8");
  }
  stow_status status =
      stowi_kernel_lane_of_rows(call, &out->product, a, a_zero, "zero point of a", &out->a_zero);
  if (status != STOW_OK) {
    return status;
  }
  return stowi_kernel_lane_of_columns(call, &out->product, b_zero, "zero point of b", &out->b_zero);
}

stow_status stowi_kernel_quantized_operands(const stow_kernel_call* call, size_t zeros,
                                            stowi_kernel_quantized* out) {
  const stow_tensor* a = stow_kernel_operand(call, 0);
  if (!is_byte(a->dtype)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "factors must be i8 or u8");
  }
  return stowi_kernel_quantized_of(call, a, (stowi_kernel_turn){0}, stow_kernel_operand(call, 1),
                                   (stowi_kernel_turn){0}, stow_kernel_operand(call, zeros),
                                   stow_kernel_operand(call, zeros + 1), out);
}

stow_status stowi_kernel_quantized_operands_scratch(const stow_kernel_call* call,
                                                    uint64_t* out_bytes) {
  stowi_kernel_product p =
      stowi_kernel_product_of(stow_kernel_operand(call, 0), (stowi_kernel_turn){0},
                              stow_kernel_operand(call, 1), (stowi_kernel_turn){0});
  *out_bytes = stowi_kernel_quantized_scratch(call, &p, stow_kernel_operand(call, 1), false);
  return STOW_OK;
}

// The one row of a product that has no more is summed in longer parts, as what counts then is that
// b is read in long pieces; but not where memory is short. Parts are finished some columns at a
// time.
enum { ROW_COLUMNS = 4096, SHORT_ROW_COLUMNS = 1024, MADE_STEPS = 64, LEAN_ROWS = 16 };

typedef struct room {
  int32_t* sums;
  int32_t* a_zero;
  int32_t* b_zero;
  void* gemm;  // or made steps of rows of a
} room;

static size_t padded(size_t count) { return (count + 15) / 16 * 16; }

static bool is_last(uint32_t variant) { return variant + 1 >= STOWI_KERNEL_QUANTIZED_VARIANTS; }

// What rooms depend on.
typedef struct way {
  uint32_t variant;
  bool is_packed;    // b
  bool writes_sums;  // which are the result
} way;

static way way_of(const stow_kernel_call* call, const stow_tensor* b) {
  return (way){stowi_kernel_variant(call), is_packed(call, b),
               stow_kernel_result(call, 0)->dtype == STOW_I32};
}

// Without room for packed factors, b is packed again for the rows of each part: these are more than
// other products have. Parts that need no room are as large as others.
static void choose_parts(stowi_kernel_product* p, way w) {
  bool needs_room = !w.is_packed || !w.writes_sums;
  stowi_kernel_part_choose(p, needs_room ? w.variant : 0);
  p->part_rows = needs_room && is_last(w.variant) ? LEAN_ROWS : p->part_rows;
}

static size_t row_columns(const stowi_kernel_product* p, way w) {
  size_t most = w.variant == 0 ? ROW_COLUMNS : SHORT_ROW_COLUMNS;
  return stowi_kernel_smaller(p->n, is_last(w.variant) || w.is_packed ? p->part_columns : most);
}

static size_t sums_of(const stowi_kernel_product* p, way w) {
  size_t sums = stowi_kernel_larger(stowi_kernel_part_rows(p) * stowi_kernel_part_columns(p),
                                    row_columns(p, w));
  return w.writes_sums ? 0 : sums;
}

static uint64_t worker_scratch(const stowi_kernel_product* p, way w) {
  size_t rows = stowi_kernel_part_rows(p);
  size_t columns = row_columns(p, w);
  stowi_kernel_integer_gemm g = {.m = rows, .n = columns, .k = p->k, .a.column = p->a.column};
  g.packed.steps = w.is_packed ? p->k : 0;
  uint64_t ints = padded(sums_of(p, w)) + padded(rows) + padded(columns);
  uint64_t gemm = is_last(w.variant) ? 0 : stowi_kernel_integer_gemm_scratch(&g);
  return ints * sizeof(int32_t) + gemm;
}

// In the last variant a is made in |made| steps of each row.
static uint64_t made_size(const stowi_kernel_product* p) {
  return stowi_kernel_align64(stowi_kernel_part_rows(p) * stowi_kernel_smaller(p->k, MADE_STEPS));
}

uint64_t stowi_kernel_quantized_made_size(const stow_kernel_call* call,
                                          const stowi_kernel_product* p, const stow_tensor* b) {
  stowi_kernel_product joined = stowi_kernel_product_joined(p);
  choose_parts(&joined, way_of(call, b));
  return made_size(&joined) * call->workers;
}

uint64_t stowi_kernel_quantized_scratch(const stow_kernel_call* call, const stowi_kernel_product* p,
                                        const stow_tensor* b, bool makes_a) {
  way w = way_of(call, b);
  stowi_kernel_product joined = stowi_kernel_product_joined(p);
  choose_parts(&joined, w);
  uint64_t made = makes_a && is_last(w.variant) ? made_size(&joined) : 0;
  return (worker_scratch(&joined, w) + made) * call->workers;
}

static room room_of(const stowi_kernel_product* p, way w, void* scratch) {
  room r = {.sums = scratch};
  r.a_zero = r.sums + padded(sums_of(p, w));
  r.b_zero = r.a_zero + padded(stowi_kernel_part_rows(p));
  r.gemm = r.b_zero + padded(row_columns(p, w));
  return r;
}

// Without room. Where a is made, some steps of its rows at a time.
static void multiply_lean(const stowi_kernel_quantized* q, const stowi_kernel_integer_gemm* gemm,
                          size_t a, void* made) {
  if (q->make_a == NULL) {
    stowi_kernel_integer_gemm_lean(gemm);
    return;
  }
  for (size_t step = 0; step < gemm->k || step == 0; step += MADE_STEPS) {
    stowi_kernel_integer_gemm g = *gemm;
    g.k = stowi_kernel_smaller(gemm->k - step, MADE_STEPS);
    for (size_t i = 0; i < g.m; ++i) {
      q->make_a(q, a + i * gemm->a.row + step, g.k, (uint8_t*)made + i * g.k);
    }
    g.a = (stowi_kernel_bytes){made, false, g.k, 1};
    g.packed.step = step;
    if (g.packed.steps == 0) {
      g.b.data = g.k == 0 ? NULL : (const uint8_t*)gemm->b.data + step * gemm->b.row;
    }
    g.accumulate = step != 0;
    stowi_kernel_integer_gemm_lean(&g);
  }
}

static void set_factors(const stowi_kernel_quantized* q, const stowi_kernel_part* part, size_t a,
                        stowi_kernel_integer_gemm* g) {
  const stowi_kernel_product* p = &q->product;
  const uint8_t* from = q->make_a == NULL ? (const uint8_t*)q->a + a : NULL;
  const uint8_t* b = q->b;
  size_t matrix = stowi_kernel_product_first(p, &p->b, part->batch);
  g->a = (stowi_kernel_bytes){from, q->a_is_signed, p->a.row, p->a.column};
  if (q->b_is_packed) {
    size_t size = (size_t)stowi_kernel_integer_pack_size(p->k, p->n);
    b += matrix / (p->k * p->n) * size + part->column * stowi_kernel_integer_groups(p->k) * 4;
    g->packed = (stowi_kernel_packed_bytes){p->k, p->n - part->column, 0};
  } else {
    b += matrix + part->column * p->b.column;
  }
  g->b = (stowi_kernel_bytes){b, q->b_is_signed, p->b.row, p->b.column};
}

static void multiply_part(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                          const room* r) {
  const stowi_kernel_product* p = &q->product;
  stowi_kernel_lane_ints(&q->a_zero, part->batch * p->m + part->row, part->rows, r->a_zero);
  stowi_kernel_lane_ints(&q->b_zero, part->batch * p->n + part->column, part->columns, r->b_zero);
  stowi_kernel_integer_gemm g = {.m = part->rows, .n = part->columns, .k = p->k};
  size_t a = stowi_kernel_product_first(p, &p->a, part->batch) + part->row * p->a.row;
  if (p->k != 0 && p->n != 0) {
    set_factors(q, part, a, &g);
  }
  g.a_zero = r->a_zero;
  g.b_zero = r->b_zero;
  g.a_zero_step = g.b_zero_step = 1;
  g.c = r->sums;
  g.c_row = part->columns;
  if (q->finish == NULL) {
    g.c = (int32_t*)stow_kernel_result(q->call, 0)->data +
          stowi_kernel_product_element(p, part->batch, part->row, part->column);
    g.c_row = p->n;
  }
  if (is_last(stowi_kernel_variant(q->call))) {
    multiply_lean(q, &g, a, r->gemm);
  } else {
    stowi_kernel_integer_gemm_alone(&g, r->gemm);
  }
}

static void finish_part(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                        int32_t* sums) {
  stowi_kernel_part some = *part;
  for (size_t done = 0; q->finish != NULL && done < part->columns;
       done += STOWI_KERNEL_FINISH_COLUMNS) {
    some.column = part->column + done;
    some.columns = stowi_kernel_smaller(part->columns - done, STOWI_KERNEL_FINISH_COLUMNS);
    q->finish(q, &some, sums + done, part->columns);
  }
}

typedef struct division {
  const stowi_kernel_quantized* q;
  char* scratch;
  uint64_t scratch_size;  // of a worker
  way way;
} division;

static void run_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const division* d = user;
  room r = room_of(&d->q->product, d->way, d->scratch + worker * d->scratch_size);
  for (size_t i = begin; i < end; ++i) {
    stowi_kernel_part part = stowi_kernel_part_at(&d->q->product, i);
    multiply_part(d->q, &part, &r);
    finish_part(d->q, &part, r.sums);
  }
}

// Parts of the usual length are what is divided; adjacent ones are summed together.
static void run_row_parts(void* user, size_t begin, size_t end, uint32_t worker) {
  const division* d = user;
  const stowi_kernel_product* p = &d->q->product;
  room r = room_of(p, d->way, d->scratch + worker * d->scratch_size);
  while (begin < end) {
    stowi_kernel_part part = stowi_kernel_part_at(p, begin);
    size_t most = (d->way.variant == 0 ? ROW_COLUMNS : SHORT_ROW_COLUMNS) / p->part_columns;
    size_t parts = stowi_kernel_smaller(end - begin, most);
    part.columns = stowi_kernel_smaller(parts * p->part_columns, p->n - part.column);
    multiply_part(d->q, &part, &r);
    finish_part(d->q, &part, r.sums);
    begin += (part.columns + p->part_columns - 1) / p->part_columns;
  }
}

void stowi_kernel_quantized_run(const stowi_kernel_quantized* quantized, void* scratch) {
  stowi_kernel_quantized q = *quantized;
  way w = {stowi_kernel_variant(q.call), q.b_is_packed, q.finish == NULL};
  division d = {.q = &q, .scratch = scratch, .way = w};
  choose_parts(&q.product, w);
  if (q.product.m > 1 && !is_last(w.variant)) {
    stowi_kernel_part_divide(&q.product, q.call->workers);
  }
  d.scratch_size = worker_scratch(&q.product, w) + (q.make_a != NULL ? made_size(&q.product) : 0);
  size_t count = stowi_kernel_part_count(&q.product);
  size_t grain = stowi_kernel_part_grain(&q.product);
  if (q.product.m == 1 && !is_last(w.variant) && !w.is_packed) {
    size_t share = (count + q.call->workers - 1) / q.call->workers;
    stow_kernel_split(q.call, count, stowi_kernel_larger(grain, share), run_row_parts, &d);
  } else {
    stow_kernel_split(q.call, count, grain, run_parts, &d);
  }
}

// ---------------------------------------------------------------------------------------------
// Rows of sums

// One row of |count| sums: to[j] = sums[j] · scales[j], plus bias[j] unless it is NULL.
STOWI_KERNEL_LOOP(scale_row,
                  (const int32_t* restrict sums, const float* restrict scales,
                   const float* restrict bias, size_t count, float* restrict to),
                  (sums, scales, bias, count, to)) {
  for (size_t j = 0; j < count; ++j) {
    to[j] = (float)sums[j] * scales[j];
  }
  for (size_t j = 0; j < count && bias != NULL; ++j) {
    to[j] += bias[j];
  }
}

// Clamped before it is rounded, so that it is small: adding 1.5 · 2^23 leaves no room for a
// fraction. A NaN becomes the lowest.
STOWI_KERNEL_INLINE int32_t round_between(float x, float low, float high) {
  float clamped = x > low ? x : low;
  clamped = clamped < high ? clamped : high;
  return (int32_t)((clamped + 0x1.8p23F) - 0x1.8p23F);
}

STOWI_KERNEL_LOOP(requantize_row,
                  (const int32_t* restrict sums, const float* restrict scales, int32_t zero,
                   float low, float high, size_t count, uint8_t* restrict to),
                  (sums, scales, zero, low, high, count, to)) {
  for (size_t j = 0; j < count; ++j) {
    to[j] = (uint8_t)(round_between((float)sums[j] * scales[j], low, high) + zero);
  }
}

void stowi_kernel_requantize_row(const int32_t* sums, const float* scales, int32_t zero,
                                 bool is_signed, size_t count, void* to) {
  float low = (float)((is_signed ? -128 : 0) - zero);
  float high = (float)((is_signed ? 127 : 255) - zero);
  requantize_row(sums, scales, zero, low, high, count, to);
}

// ---------------------------------------------------------------------------------------------
// Scales are multiplied once for each column of a part, or for each row where rows have their own.

void stowi_kernel_scales_of(const stowi_kernel_scaled* s, size_t row, const float* b_scales,
                            size_t count, float* out) {
  float a = 1;
  if (s->a_scale.tensor != NULL) {
    stowi_kernel_lane_floats(&s->a_scale, row, 1, &a);
  }
  a *= s->a_factor;
  for (size_t j = 0; j < count; ++j) {
    out[j] = a * b_scales[j];
  }
}

void stowi_kernel_finish_scaled(const stowi_kernel_quantized* q, const stowi_kernel_part* part,
                                int32_t* sums, size_t row) {
  const stowi_kernel_scaled* s = q->user;
  const stowi_kernel_product* p = &q->product;
  float b_scales[STOWI_KERNEL_FINISH_COLUMNS];
  float scales[STOWI_KERNEL_FINISH_COLUMNS];
  float bias[STOWI_KERNEL_FINISH_COLUMNS];
  float line[STOWI_KERNEL_FINISH_COLUMNS];
  size_t column = part->batch * p->n + part->column;
  stowi_kernel_lane_floats(&s->b_scale, column, part->columns, b_scales);
  stowi_kernel_lane_floats(&s->bias, column, part->columns, bias);
  for (size_t i = 0; i < part->rows; ++i) {
    if (i == 0 || s->a_scale.count != 1) {
      stowi_kernel_scales_of(s, part->batch * p->m + part->row + i, b_scales, part->columns,
                             scales);
    }
    scale_row(sums + i * row, scales, s->bias.tensor != NULL ? bias : NULL, part->columns, line);
    stowi_kernel_store_f32(
        s->result->dtype, s->result->data,
        stowi_kernel_product_element(p, part->batch, part->row + i, part->column), part->columns,
        line);
  }
}
