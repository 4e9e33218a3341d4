// nonzero and compress: ops whose result size depends on the data.
#include "exec/kernels/layout/elements.h"
#include "exec/kernels/layout/numbers.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// nonzero: the indices of all nonzero elements, one row per dim. They are counted first, because
// the count is the row length.

// The bits of an element of at most 64 that make it different from 0: all but the sign of a float
// that has a negative 0. Of complex numbers, those of each half.
static uint64_t mask_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_F64:
    case STOW_C128: return UINT64_MAX >> 1;
    case STOW_F32: return UINT32_MAX >> 1;
    case STOW_C64: return UINT64_C(0x7fffffff7fffffff);
    case STOW_F16:
    case STOW_BF16: return 0x7fff;
    case STOW_F8E4M3FN:
    case STOW_F8E5M2: return 0x7f;
    case STOW_F4E2M1: return 0x7;
    default: return UINT64_MAX;
  }
}

static uint64_t word_at(uint32_t bits, const void* data, size_t i) {
  switch (bits) {
    case 8: return ((const uint8_t*)data)[i];
    case 16: return ((const uint16_t*)data)[i];
    case 32: return ((const uint32_t*)data)[i];
    case 64: return ((const uint64_t*)data)[i];
    default: return stowi_kernel_packed_get(data, bits, i);
  }
}

// f8e8m0 has no 0.
static bool is_nonzero(const stow_tensor* x, uint32_t bits, uint64_t mask, size_t i) {
  if (bits == 128) {
    const uint64_t* halves = (const uint64_t*)x->data + 2 * i;
    return ((halves[0] | halves[1]) & mask) != 0;
  }
  return x->dtype == STOW_F8E8M0 || (word_at(bits, x->data, i) & mask) != 0;
}

static size_t count_nonzero(const stow_tensor* x, size_t elements) {
  uint32_t bits = stowi_kernel_bits(x->dtype);
  uint64_t mask = mask_of(x->dtype);
  size_t count = 0;
  for (size_t i = 0; i < elements; ++i) {
    count += is_nonzero(x, bits, mask, i);
  }
  return count;
}

static stow_status run_nonzero(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  stow_tensor* result = call->results[0];
  uint32_t bits = stowi_kernel_bits(x->dtype);
  uint64_t mask = mask_of(x->dtype);
  size_t elements = stow_tensor_elements(x);
  size_t count = count_nonzero(x, elements);
  if (count > (size_t)result->dims[1]) {
    return stow_kernel_fail(call, STOW_ERR_TYPE, "%zu nonzero elements, more than the planned %zu",
                            count, (size_t)result->dims[1]);
  }
  result->dims[1] = (int64_t)count;
  int64_t index[STOW_MAX_RANK] = {0};
  int64_t* out = result->data;
  for (size_t i = 0; i < elements; ++i) {
    if (is_nonzero(x, bits, mask, i)) {
      for (uint32_t k = 0; k < x->rank; ++k) {
        out[k * count] = index[k];
      }
      out = x->rank == 0 ? out : out + 1;
    }
    for (uint32_t k = x->rank; k-- > 0 && ++index[k] == x->dims[k];) {
      index[k] = 0;
    }
  }
  return STOW_OK;
}

STOWI_KERNEL(NONZERO, NULL, run_nonzero);

// ---------------------------------------------------------------------------------------------
// compress: the slices along an axis, or the elements of the flat tensor, for which a condition is
// true. They keep their order, so the result may be in place. The condition may be shorter than the
// dim; the rest is dropped.

static stow_status count_chosen(const stow_kernel_call* call, const stowi_kernel_slices* s,
                                size_t* out_count) {
  const stow_tensor* condition = call->operands[1];
  const uint8_t* is_chosen = condition->data;
  size_t planned = (size_t)call->results[0]->dims[s->axis];
  *out_count = 0;
  for (size_t i = 0; i < (size_t)condition->dims[0]; ++i) {
    if (is_chosen[i] != 0 && i >= s->count) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "the condition selects index %zu, which is out of range (%zu)", i,
                              s->count);
    }
    *out_count += is_chosen[i] != 0;
  }
  if (*out_count > planned) {
    return stow_kernel_fail(call, STOW_ERR_TYPE,
                            "the condition selects %zu, more than the planned %zu", *out_count,
                            planned);
  }
  return STOW_OK;
}

static stow_status run_compress(stow_kernel_call* call) {
  const stow_tensor* x = call->operands[0];
  const stow_tensor* condition = call->operands[1];
  stow_tensor* result = call->results[0];
  uint32_t bits = stowi_kernel_bits(x->dtype);
  const uint8_t* is_chosen = condition->data;
  stowi_kernel_slices s;
  size_t count;
  STOWI_KERNEL_TRY(stowi_kernel_slices_of(call, &s));
  STOWI_KERNEL_TRY(count_chosen(call, &s, &count));
  result->dims[s.axis] = (int64_t)count;
  if (stow_tensor_elements(result) == 0) {
    return STOW_OK;
  }
  stowi_kernel_clear_tail(result);
  size_t to = 0;
  for (size_t i = 0; i < s.outer; ++i) {
    for (size_t j = 0; j < (size_t)condition->dims[0]; ++j) {
      if (is_chosen[j] != 0) {
        stowi_kernel_copy_elements(bits, result->data, to, x->data, (i * s.count + j) * s.inner,
                                   s.inner);
        to += s.inner;
      }
    }
  }
  return STOW_OK;
}

STOWI_KERNEL(COMPRESS, NULL, run_compress);
