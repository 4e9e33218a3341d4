// qkv_attention: one product gives q, k and v, which then attend as in multi_head_attention. All
// three lie in scratch: queries · (widths of q, k and v) f32, and as much as x and w again where
// they are not f32. Quantised x and w are made floats before the product, and their scales are
// applied after it.
#include <math.h>

#include "exec/kernels/attention/attend.h"
#include "exec/kernels/attention/fused.h"
#include "exec/kernels/matrix/gemm.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

enum {
  X,
  W,
  BIAS,
  MASK,
  PAST,
  SCORE_BIAS,
  PAST_LENGTH,
  BEAMS,
  CACHE_ORDER,
  X_SCALE,
  W_SCALE,
  X_ZERO,
  W_ZERO
};

typedef struct plan {
  const stow_kernel_call* call;
  stowi_kernel_attention a;
  stowi_kernel_kept kept[2];  // k, v
  stowi_kernel_join join[2];
  int64_t* past_counts;
  size_t rows, inputs, columns;  // of the product
  float* x;                      // NULL where the operand is f32
  float* w;
  float* product;
  void* gemm;
  size_t past;
  bool is_shared;
} plan;

// Widths of q, k and v; q is as wide as k.
static void read_widths(const stow_kernel_call* call, size_t columns, size_t* k, size_t* v) {
  const stow_attr* sizes = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_SIZES);
  bool is_given = sizes != NULL && sizes->kind == STOW_ATTR_INTS && sizes->count == 3;
  *k = is_given ? (size_t)sizes->ints[1] : columns / 3;
  *v = is_given ? (size_t)sizes->ints[2] : columns / 3;
}

static stowi_kernel_heads part_of_product(const plan* p, size_t first, size_t size) {
  size_t batch = p->a.queries * p->columns;
  return (stowi_kernel_heads){p->product, STOW_F32, first, batch, size, p->columns};
}

static void plan_product(plan* p, stowi_kernel_carve* carve) {
  const stow_tensor* x = stow_kernel_operand(p->call, X);
  const stow_tensor* w = stow_kernel_operand(p->call, W);
  p->rows = (size_t)x->dims[0] * (size_t)x->dims[1];
  p->inputs = (size_t)x->dims[2];
  p->columns = (size_t)w->dims[1];
  uint64_t inputs = x->dtype == STOW_F32 ? 0 : stowi_kernel_times(p->rows, p->inputs);
  uint64_t weights = w->dtype == STOW_F32 ? 0 : stowi_kernel_times(p->inputs, p->columns);
  p->x = stowi_kernel_carve_take(carve, inputs, sizeof(float));
  p->w = stowi_kernel_carve_take(carve, weights, sizeof(float));
  p->product =
      stowi_kernel_carve_take(carve, stowi_kernel_times(p->rows, p->columns), sizeof(float));
  uint64_t room = stowi_kernel_gemm_scratch(p->rows, p->columns, p->inputs, p->call->workers,
                                            stowi_kernel_variant(p->call));
  p->gemm = stowi_kernel_carve_take(carve, room, 1);
}

// More than there is room for where what is said makes no sense.
static size_t past_length(const plan* p, bool is_counting) {
  const stow_tensor* past = stow_kernel_operand(p->call, PAST);
  if (past == NULL) {
    return 0;
  }
  size_t room = stowi_kernel_kept_room(past);
  if (!p->is_shared) {
    return room;
  }
  if (is_counting) {
    return room < p->a.queries ? 0 : room - p->a.queries;
  }
  int64_t said = stowi_kernel_int_at(stow_kernel_operand(p->call, PAST_LENGTH), 0);
  return said < 0 || (uint64_t)said > room ? room + 1 : (size_t)said;
}

static void plan_keys(plan* p, size_t k_width, stowi_kernel_carve* carve) {
  stowi_kernel_attention* a = &p->a;
  const stow_tensor* past = stow_kernel_operand(p->call, PAST);
  p->past = past_length(p, carve->base == NULL);
  a->keys = p->past + a->queries;
  p->past_counts = stowi_kernel_carve_take(carve, a->batches, sizeof(int64_t));
  stowi_kernel_heads* const views[] = {&a->k, &a->v};
  for (size_t i = 0; i < 2; ++i) {
    stowi_kernel_kept* kept = &p->kept[i];
    kept->size = i == 0 ? a->size : a->value_size;
    kept->fresh = part_of_product(p, (i + 1) * k_width, kept->size);
    kept->fresh_count = a->queries;
    kept->past = past;
    kept->cache = stow_kernel_result(p->call, 1);
    kept->cache_part = i;
    kept->is_shared = p->is_shared;
    *views[i] =
        stowi_kernel_plan_kept(a, kept, p->past_counts, p->call->workers, carve, &p->join[i]);
  }
}

static void plan_call(const stow_kernel_call* call, plan* p, stowi_kernel_carve* carve) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  stow_tensor* out = stow_kernel_result(call, 0);
  *p = (plan){.call = call,
              .is_shared = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false)};
  stowi_kernel_attention* a = &p->a;
  a->batches = (size_t)x->dims[0];
  a->queries = (size_t)x->dims[1];
  a->heads = a->kv_heads = (size_t)stowi_kernel_int(call, STOWI_KERNEL_ATTR_HEADS, 1);
  plan_product(p, carve);
  size_t k_width;
  size_t v_width;
  read_widths(call, p->columns, &k_width, &v_width);
  a->size = k_width / a->heads;
  a->value_size = v_width / a->heads;
  a->q = part_of_product(p, 0, a->size);
  plan_keys(p, k_width, carve);
  a->out = stowi_kernel_heads_flat(out->data, out->dtype, a->heads, a->queries, a->value_size);
  double scale = stowi_kernel_float(call, STOWI_KERNEL_ATTR_SCALE, 0);
  a->scale = scale == 0 ? 1 / sqrt((double)a->size) : scale;
  a->causal = stowi_kernel_bool(call, STOWI_KERNEL_ATTR_CAUSAL, false);
  a->left = a->right = -1;
  a->mask = stowi_kernel_mask_of(stow_kernel_operand(call, SCORE_BIAS), 0);
  stowi_kernel_attend_carve(call, a, carve);
}

// ---------------------------------------------------------------------------------------------
// The product

// f32 elements of |t| less its zero point, of which there is one or one for each column.
static const float* floats_of(const stow_tensor* t, const stow_tensor* zero, size_t rows,
                              size_t columns, float* buffer) {
  if (t->dtype == STOW_F32) {
    return t->data;
  }
  stowi_kernel_load_f32(t->dtype, t->data, 0, rows * columns, buffer);
  size_t zeros = zero == NULL ? 0 : stow_tensor_elements(zero);
  for (size_t i = 0; i < rows && zeros != 0; ++i) {
    for (size_t j = 0; j < columns; ++j) {
      buffer[i * columns + j] -= (float)stowi_kernel_int_at(zero, zeros == 1 ? 0 : j);
    }
  }
  return buffer;
}

static float scale_at(const plan* p, size_t column) {
  const stow_tensor* x = stow_kernel_operand(p->call, X_SCALE);
  const stow_tensor* w = stow_kernel_operand(p->call, W_SCALE);
  if (x == NULL || w == NULL) {
    return 1;
  }
  double factor = stowi_kernel_float_at(w, stow_tensor_elements(w) == 1 ? 0 : column);
  return (float)(stowi_kernel_float_at(x, 0) * factor);
}

static void multiply(plan* p) {
  const stow_tensor* x = stow_kernel_operand(p->call, X);
  const stow_tensor* w = stow_kernel_operand(p->call, W);
  const stow_tensor* x_zero = stow_kernel_operand(p->call, X_ZERO);
  const stow_tensor* w_zero = stow_kernel_operand(p->call, W_ZERO);
  stowi_kernel_gemm product = {
      .m = p->rows,
      .n = p->columns,
      .k = p->inputs,
      .a = {floats_of(x, x_zero, p->rows, p->inputs, p->x), p->inputs, 1},
      .b = {floats_of(w, w_zero, p->inputs, p->columns, p->w), p->columns, 1},
      .c = p->product,
      .c_row = p->columns,
      .alpha = 1,
      .variant = stowi_kernel_variant(p->call),
  };
  stowi_kernel_gemm_run(p->call, &product, p->gemm);
  const stow_tensor* bias = stow_kernel_operand(p->call, BIAS);
  for (size_t j = 0; j < p->columns; ++j) {
    float factor = scale_at(p, j);
    float addend = bias == NULL ? 0.0F : (float)stowi_kernel_float_at(bias, j);
    for (size_t i = 0; i < p->rows; ++i) {
      float* at = &p->product[i * p->columns + j];
      *at = *at * factor + addend;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The call

static stow_status check(const stow_kernel_call* call) {
  const stow_tensor* x = stow_kernel_operand(call, X);
  const stow_tensor* length = stow_kernel_operand(call, PAST_LENGTH);
  bool has_scales =
      stow_kernel_operand(call, X_SCALE) != NULL && stow_kernel_operand(call, W_SCALE) != NULL;
  bool is_float = x->dtype == STOW_F32 || x->dtype == STOW_F16 || x->dtype == STOW_BF16;
  bool is_scaled = has_scales && stowi_kernel_bits(x->dtype) == 8 &&
                   stowi_kernel_kind(x->dtype) != STOW_KIND_FLOAT;
  if (!is_float && !is_scaled) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "x must be f32, f16 or bf16, or integers with scales");
  }
  if (stow_kernel_operand(call, CACHE_ORDER) != NULL ||
      stowi_kernel_bool(call, STOWI_KERNEL_ATTR_ROTARY, false)) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED,
                            "rotations and beam search caches are unsupported");
  }
  if (stow_kernel_operand(call, PAST) != NULL &&
      stowi_kernel_bool(call, STOWI_KERNEL_ATTR_SHARE_PAST, false) &&
      (length == NULL || stow_tensor_elements(length) == 0)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a cache with spare capacity needs operand 6 (past length)");
  }
  return stowi_kernel_need_plain(call);
}

// Fails unless operand |k| is absent or has one element or |count|.
static stow_status need_one_or(const stow_kernel_call* call, size_t k, size_t count) {
  const stow_tensor* t = stow_kernel_operand(call, k);
  bool is_one = t != NULL && stow_tensor_elements(t) == 1;
  return is_one ? STOW_OK : stowi_kernel_need_elements(call, k, count);
}

// What shapes do not tell yet.
static stow_status check_sizes(const plan* p) {
  const stow_kernel_call* call = p->call;
  const stowi_kernel_attention* a = &p->a;
  const stow_tensor* past = stow_kernel_operand(call, PAST);
  size_t room = past == NULL ? 0 : stowi_kernel_kept_room(past);
  size_t k;
  size_t v;
  read_widths(call, p->columns, &k, &v);
  if (k % a->heads != 0 || v % a->heads != 0 || 2 * k + v != p->columns ||
      (k != v && stow_kernel_result(call, 1) != NULL)) {
    return stow_kernel_fail(
        call, STOW_ERR_INVALID_ARGUMENT,
        "k has %zu columns and v %zu of %zu for %zu heads; a cache needs equal widths", k, v,
        p->columns, a->heads);
  }
  if (past != NULL && p->is_shared && (p->past > room || a->queries > room - p->past)) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "a cache of %zu cannot hold %zu more keys", room, a->queries);
  }
  size_t kept = 2 * a->batches * a->heads * room * a->size;
  stow_status statuses[] = {stowi_kernel_need_elements(call, BIAS, p->columns),
                            stowi_kernel_need_elements(call, PAST, kept),
                            need_one_or(call, X_SCALE, 1),
                            need_one_or(call, W_SCALE, p->columns),
                            need_one_or(call, X_ZERO, 1),
                            need_one_or(call, W_ZERO, p->columns),
                            stowi_kernel_need_bias(call, SCORE_BIAS, a)};
  for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); ++i) {
    if (statuses[i] != STOW_OK) {
      return statuses[i];
    }
  }
  return STOW_OK;
}

static stow_status scratch_qkv(const stow_kernel_call* call, uint64_t* out_bytes) {
  plan p;
  stowi_kernel_carve carve = {NULL, 0};
  plan_call(call, &p, &carve);
  *out_bytes = carve.used;
  return STOW_OK;
}

static stow_status run_qkv(stow_kernel_call* call) {
  STOWI_KERNEL_TRY(check(call));
  plan p;
  stowi_kernel_carve carve = {call->scratch, 0};
  plan_call(call, &p, &carve);
  STOWI_KERNEL_TRY(check_sizes(&p));
  STOWI_KERNEL_TRY(stowi_kernel_place_queries(call, MASK, p.past, p.past_counts, &p.a));
  multiply(&p);
  stowi_kernel_attend_joined(call, p.join, &p.a);
  return STOW_OK;
}

STOWI_KERNEL(QKV_ATTENTION, scratch_qkv, run_qkv, .variant_count = STOWI_KERNEL_ATTEND_VARIANTS);
