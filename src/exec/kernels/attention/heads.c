// Rows of heads: where they are, how they change on being read, and how a cache grows by them. One
// pass over what is read and written.
#include "exec/kernels/attention/heads.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/support/convert.h"

stowi_kernel_heads stowi_kernel_heads_packed(void* data, stow_dtype dtype, size_t heads,
                                             size_t sequence, size_t size) {
  return (stowi_kernel_heads){data, dtype, 0, heads * sequence * size, sequence * size, size};
}

stowi_kernel_heads stowi_kernel_heads_flat(void* data, stow_dtype dtype, size_t heads,
                                           size_t sequence, size_t size) {
  return (stowi_kernel_heads){data, dtype, 0, sequence * heads * size, size, heads * size};
}

size_t stowi_kernel_heads_at(const stowi_kernel_heads* heads, size_t batch, size_t head,
                             size_t position) {
  return heads->first + batch * heads->batch + head * heads->head + position * heads->position;
}

// ---------------------------------------------------------------------------------------------
// Changes

bool stowi_kernel_change_is_none(const stowi_kernel_change* change) {
  return change->bias == NULL && change->norm == NULL && change->cosines == NULL;
}

static void add_bias(const stow_tensor* bias, size_t first, size_t size, float* row) {
  float block[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < size; i += STOWI_KERNEL_BLOCK) {
    size_t count = size - i < STOWI_KERNEL_BLOCK ? size - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f32(bias->dtype, bias->data, first + i, count, block);
    for (size_t j = 0; j < count; ++j) {
      row[i + j] += block[j];
    }
  }
}

static void normalize(const stow_tensor* weights, double epsilon, size_t size, float* row) {
  double sum = 0;
  for (size_t i = 0; i < size; ++i) {
    sum += (double)row[i] * (double)row[i];
  }
  float factor = (float)(1.0 / sqrt(sum / (double)size + epsilon));
  for (size_t i = 0; i < size; ++i) {
    row[i] = row[i] * factor * (float)stowi_kernel_float_at(weights, i);
  }
}

// Pairs (x, y) become (x cos - y sin, x sin + y cos): neighbours, or halves of the row apart.
static void turn(const stowi_kernel_change* change, size_t position, float* row) {
  size_t pairs = (size_t)change->cosines->dims[1];
  size_t step = change->interleaved ? 2 : 1;
  size_t apart = change->interleaved ? 1 : pairs;
  float cosines[STOWI_KERNEL_BLOCK];
  float sines[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < pairs; i += STOWI_KERNEL_BLOCK) {
    size_t count = pairs - i < STOWI_KERNEL_BLOCK ? pairs - i : STOWI_KERNEL_BLOCK;
    size_t first = position * pairs + i;
    stowi_kernel_load_f32(change->cosines->dtype, change->cosines->data, first, count, cosines);
    stowi_kernel_load_f32(change->sines->dtype, change->sines->data, first, count, sines);
    for (size_t j = 0; j < count; ++j) {
      float* x = row + (i + j) * step;
      float turned = *x * cosines[j] - x[apart] * sines[j];
      x[apart] = *x * sines[j] + x[apart] * cosines[j];
      *x = turned;
    }
  }
}

void stowi_kernel_change_row(const stowi_kernel_change* change, size_t batch, size_t head, size_t s,
                             size_t size, float* row) {
  if (change->bias != NULL) {
    add_bias(change->bias, change->bias_first + head * size, size, row);
  }
  if (change->norm != NULL) {
    normalize(change->norm, change->epsilon, size, row);
  }
  if (change->cosines != NULL) {
    int64_t position = change->positions != NULL
                           ? stowi_kernel_int_at(change->positions, batch * change->sequence + s)
                           : change->offsets[batch] + (int64_t)s;
    turn(change, (size_t)position, row);
  }
}

// ---------------------------------------------------------------------------------------------
// Caches

static void copy_elements(const stowi_kernel_heads* from, size_t from_first,
                          const stowi_kernel_heads* to, size_t to_first, size_t count) {
  if (count == 0) {
    return;
  }
  if (from->dtype == to->dtype) {
    size_t width = stowi_kernel_bits(to->dtype) / 8;
    unsigned char* out = (unsigned char*)to->data + to_first * width;
    const unsigned char* in = (const unsigned char*)from->data + from_first * width;
    if (out != in) {
      memcpy(out, in, count * width);
    }
    return;
  }
  double block[STOWI_KERNEL_BLOCK];
  for (size_t i = 0; i < count; i += STOWI_KERNEL_BLOCK) {
    size_t part = count - i < STOWI_KERNEL_BLOCK ? count - i : STOWI_KERNEL_BLOCK;
    stowi_kernel_load_f64(from->dtype, from->data, from_first + i, part, block);
    stowi_kernel_store_f64(to->dtype, to->data, to_first + i, part, block);
  }
}

static void clear_rows(const stowi_kernel_join* j, size_t batch, size_t head, size_t begin,
                       size_t end) {
  size_t width = stowi_kernel_bits(j->out.dtype) / 8;
  for (size_t s = begin; s < end; ++s) {
    size_t first = stowi_kernel_heads_at(&j->out, batch, head, s);
    memset((unsigned char*)j->out.data + first * width, 0, j->size * width);
  }
}

static void put_fresh(const stowi_kernel_join* j, size_t batch, size_t head, size_t s,
                      size_t position, float* row) {
  size_t from = stowi_kernel_heads_at(&j->fresh, batch, head, s);
  size_t to = stowi_kernel_heads_at(&j->out, batch, head, position);
  if (stowi_kernel_change_is_none(&j->change)) {
    copy_elements(&j->fresh, from, &j->out, to, j->size);
    return;
  }
  stowi_kernel_load_f32(j->fresh.dtype, j->fresh.data, from, j->size, row);
  stowi_kernel_change_row(&j->change, batch, head, s, j->size, row);
  stowi_kernel_store_f32(j->out.dtype, j->out.data, to, j->size, row);
}

// In ascending order, so that rows which move towards the first are read before they are written.
static void join_head(const stowi_kernel_join* j, size_t batch, size_t head, float* row) {
  size_t past = j->has_past ? (size_t)j->past_counts[batch] : 0;
  size_t end = past + j->fresh_count;
  size_t skip = j->has_past && j->past_skips != NULL ? (size_t)j->past_skips[batch] : 0;
  for (size_t s = 0; j->has_past && s < j->out_count; ++s) {
    if (s < past || (s >= end && s < j->kept_count)) {
      copy_elements(&j->past, stowi_kernel_heads_at(&j->past, batch, head, s < past ? s + skip : s),
                    &j->out, stowi_kernel_heads_at(&j->out, batch, head, s), j->size);
    }
  }
  for (size_t s = 0; s < j->fresh_count; ++s) {
    put_fresh(j, batch, head, s, past + s, row);
  }
  clear_rows(j, batch, head, end > j->kept_count ? end : j->kept_count, j->out_count);
}

static void join_task(void* user, size_t begin, size_t end, uint32_t worker) {
  const stowi_kernel_join* j = user;
  float* row = j->rows == NULL ? NULL : j->rows + worker * j->size;
  for (size_t i = begin; i < end; ++i) {
    join_head(j, i / j->heads, i % j->heads, row);
  }
}

void stowi_kernel_join_run(const stow_kernel_call* call, const stowi_kernel_join* join) {
  stowi_kernel_join copy = *join;
  if (join->size == 0 || join->out_count == 0) {
    return;
  }
  size_t work = join->out_count * join->size;
  stow_kernel_split(call, join->batches * join->heads, work > 16384 ? 1 : 16384 / work, join_task,
                    &copy);
}
