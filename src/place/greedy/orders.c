// Orders: sort keys over the buffers.
#include "place/greedy/orders.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/problem.h"

static int largest_first(const void* a, const void* b, const void* context) {
  const stowi_buffer* buffers = (const stowi_buffer*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (buffers[x].size != buffers[y].size) {
    return buffers[x].size > buffers[y].size ? -1 : 1;
  }
  return (x > y) - (x < y);
}

stow_status stowi_order_make(const stowi_quest* quest, stowi_order order, uint32_t** out_buffers,
                             size_t* out_count) {
  const stow_problem* problem = quest->problem;
  *out_count = 0;
  *out_buffers = STOWI_ARRAY(quest->allocator, uint32_t, problem->buffers.count);
  if (*out_buffers == NULL) {
    return stowi_fail_memory(quest->diag);
  }
  (void)order;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (!stowi_is_fixed(&problem->buffers.data[i])) {
      (*out_buffers)[(*out_count)++] = (uint32_t)i;
    }
  }
  if (stowi_sort(*out_buffers, *out_count, sizeof(uint32_t), largest_first, problem->buffers.data,
                 quest->allocator) != STOW_OK) {
    stowi_order_free(quest, *out_buffers);
    *out_buffers = NULL;
    *out_count = 0;
    return stowi_fail_memory(quest->diag);
  }
  return STOW_OK;
}

void stowi_order_free(const stowi_quest* quest, uint32_t* buffers) {
  STOWI_ARRAY_FREE(quest->allocator, buffers, quest->problem->buffers.count);
}
