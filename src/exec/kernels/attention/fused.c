// Caches and padding of fused attention. Linear in batches; the work is done by
// stowi_kernel_join_run and stowi_kernel_attend.
#include "exec/kernels/attention/fused.h"

#include "exec/kernels/attention/attend.h"
#include "exec/kernels/support/attrs.h"
#include "exec/kernels/support/convert.h"

size_t stowi_kernel_kept_room(const stow_tensor* cache) {
  return (size_t)cache->dims[cache->rank - 2];
}

stow_status stowi_kernel_need_elements(const stow_kernel_call* call, size_t k, size_t count) {
  const stow_tensor* t = stow_kernel_operand(call, k);
  if (t == NULL || stow_tensor_elements(t) == count) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "operand %zu has %zu elements, expected %zu", k, stow_tensor_elements(t),
                          count);
}

stow_status stowi_kernel_need_bias(const stow_kernel_call* call, size_t k,
                                   const stowi_kernel_attention* a) {
  const stow_tensor* t = stow_kernel_operand(call, k);
  if (t == NULL) {
    return STOW_OK;
  }
  const size_t wanted[] = {a->batches, a->heads, a->queries};
  bool fits = t->rank == 4 && (uint64_t)t->dims[3] >= a->keys;
  for (size_t i = 0; i < 3 && fits; ++i) {
    fits = t->dims[i] == 1 || (size_t)t->dims[i] == wanted[i];
  }
  if (fits) {
    return STOW_OK;
  }
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "operand %zu does not fit scores [%zu, %zu, %zu, %zu]", k, a->batches,
                          a->heads, a->queries, a->keys);
}

static stowi_kernel_heads part_of(const stow_tensor* cache, const stowi_kernel_attention* a,
                                  size_t part, size_t size) {
  size_t room = stowi_kernel_kept_room(cache);
  stowi_kernel_heads heads =
      stowi_kernel_heads_packed(cache->data, cache->dtype, a->kv_heads, room, size);
  heads.first = part * a->batches * heads.batch;
  return heads;
}

stowi_kernel_heads stowi_kernel_plan_kept(const stowi_kernel_attention* a,
                                          const stowi_kernel_kept* kept, const int64_t* past_counts,
                                          uint32_t workers, stowi_kernel_carve* carve,
                                          stowi_kernel_join* join) {
  bool is_changed = !stowi_kernel_change_is_none(&kept->change);
  *join = (stowi_kernel_join){0};
  if (kept->cache == NULL && kept->past == NULL && !is_changed) {
    return kept->fresh;
  }
  *join = (stowi_kernel_join){.batches = a->batches,
                              .heads = a->kv_heads,
                              .size = kept->size,
                              .past_counts = past_counts,
                              .fresh = kept->fresh,
                              .fresh_count = kept->fresh_count,
                              .change = kept->change};
  if (is_changed) {
    join->rows =
        stowi_kernel_carve_take(carve, stowi_kernel_times(workers, kept->size), sizeof(float));
  }
  if (kept->past != NULL) {
    join->has_past = true;
    join->past = part_of(kept->past, a, kept->cache_part, kept->size);
    join->kept_count = kept->is_shared ? stowi_kernel_kept_room(kept->past) : 0;
  }
  if (kept->cache != NULL) {
    join->out = part_of(kept->cache, a, kept->cache_part, kept->size);
    join->out_count = stowi_kernel_kept_room(kept->cache);
    return join->out;
  }
  uint64_t rows = stowi_kernel_times(a->batches * a->kv_heads, a->keys);
  void* data = stowi_kernel_carve_take(carve, stowi_kernel_times(rows, kept->size), sizeof(float));
  join->kept_count = 0;
  join->out = stowi_kernel_heads_packed(data, STOW_F32, a->kv_heads, a->keys, kept->size);
  join->out_count = a->keys;
  return join->out;
}

static stow_status wrong_mask(const stow_kernel_call* call, const stow_tensor* padding,
                              const stowi_kernel_attention* a) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                          "a mask of rank %u does not fit %zu batches, %zu queries and %zu keys",
                          (unsigned)padding->rank, a->batches, a->queries, a->keys);
}

static stow_status read_padding(const stow_kernel_call* call, const stow_tensor* padding,
                                double value, stowi_kernel_attention* a) {
  a->outside = value;
  a->padding = (stowi_kernel_mask){0};
  if (padding == NULL) {
    return STOW_OK;
  }
  if (padding->rank == 1) {
    // Lengths of what is there, and where it begins.
    size_t count = stow_tensor_elements(padding);
    if (count != a->batches && count != 2 * a->batches && count != 3 * a->batches + 2) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%zu lengths do not fit %zu batches",
                              count, a->batches);
    }
    for (size_t b = 0; b < a->batches; ++b) {
      a->ends[b] = stowi_kernel_int_at(padding, b);
      a->starts[b] = count == 2 * a->batches ? stowi_kernel_int_at(padding, a->batches + b) : 0;
    }
    return STOW_OK;
  }
  size_t columns = (size_t)padding->dims[padding->rank - 1];
  bool fits = padding->rank <= 4 && columns >= a->keys && (size_t)padding->dims[0] == a->batches;
  a->padding = (stowi_kernel_mask){padding, 0, 0, 0, 1, columns, value};
  if (padding->rank == 2) {
    a->padding.batch = columns;
    return fits ? STOW_OK : wrong_mask(call, padding, a);
  }
  size_t rows = (size_t)padding->dims[padding->rank - 2];
  a->padding.query = columns;
  a->padding.batch = rows * columns;
  return fits && rows >= a->queries ? STOW_OK : wrong_mask(call, padding, a);
}

stow_status stowi_kernel_place_queries(const stow_kernel_call* call, size_t padding, size_t past,
                                       int64_t* past_counts, stowi_kernel_attention* a) {
  stowi_kernel_attend_see_all(a);
  for (size_t b = 0; b < a->batches; ++b) {
    a->offsets[b] = past_counts[b] = (int64_t)past;
  }
  return read_padding(call, stow_kernel_operand(call, padding),
                      stowi_kernel_float(call, STOWI_KERNEL_ATTR_MASK_VALUE, -10000), a);
}

void stowi_kernel_attend_joined(const stow_kernel_call* call, const stowi_kernel_join join[2],
                                const stowi_kernel_attention* a) {
  stowi_kernel_join_run(call, &join[0]);
  stowi_kernel_join_run(call, &join[1]);
  stowi_kernel_attend(call, a);
}
