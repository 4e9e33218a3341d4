// Problems: a growing array of buffers, each checked as it is added, so that nothing after this
// file has to ask again whether an offset can overflow.
//
// However buffers are stacked, each lies at most alignment - 1 above what it rests on. So the sum
// of footprint + alignment - 1, on top of the highest fixed footprint, bounds every offset that any
// strategy can compute. That bound is kept below 2^63.
#include "place/problem.h"

#include <inttypes.h>
#include <string.h>

#include "base/checked.h"
#include "base/diag.h"

// Buffers are numbered with 32 bits inside the strategies.
#define MAX_BUFFERS ((size_t)UINT32_MAX - 1)

void stow_buffer_desc_init(stow_buffer_desc* desc) {
  memset(desc, 0, sizeof(*desc));
  desc->struct_size = sizeof(*desc);
  desc->alignment = 1;
  desc->fixed_offset = STOW_PLACE_ANYWHERE;
}

stow_status stow_problem_create(stow_allocator allocator, stow_diag* diag,
                                stow_problem** out_problem) {
  *out_problem = STOWI_NEW(allocator, stow_problem);
  if (*out_problem == NULL) {
    return stowi_fail_memory(diag);
  }
  (*out_problem)->allocator = allocator;
  (*out_problem)->min_alignment = UINT64_MAX;
  return STOW_OK;
}

void stow_problem_destroy(stow_problem* problem) {
  if (problem != NULL) {
    STOWI_VEC_FREE(problem->allocator, &problem->buffers);
    STOWI_DELETE(problem->allocator, problem);
  }
}

static stow_status check_desc(const stow_buffer_desc* desc, size_t number, stow_diag* diag) {
  if (desc->size == 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "buffer %zu has size 0", number);
  }
  if (desc->end <= desc->begin) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu never lives: [%" PRIu64 ", %" PRIu64 ")", number, desc->begin,
                      desc->end);
  }
  if (!stowi_is_power_of_two(desc->alignment)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: alignment %" PRIu64 " is not a power of two", number,
                      desc->alignment);
  }
  if (desc->fixed_offset != STOW_PLACE_ANYWHERE &&
      (desc->fixed_offset & (desc->alignment - 1)) != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "buffer %zu: fixed offset %" PRIu64 " is not aligned to %" PRIu64, number,
                      desc->fixed_offset, desc->alignment);
  }
  return STOW_OK;
}

// The two sums as they are once |desc| is in; false where they need more than 63 bits together.
static bool grow_sums(const stow_problem* problem, const stow_buffer_desc* desc,
                      uint64_t* padded_sum, uint64_t* fixed_end) {
  uint64_t footprint;
  uint64_t total;
  *fixed_end = problem->fixed_end;
  if (!stowi_add_u64(desc->size, desc->guard, &footprint) ||
      !stowi_add_u64(problem->padded_sum, footprint, padded_sum) ||
      !stowi_add_u64(*padded_sum, desc->alignment - 1, padded_sum)) {
    return false;
  }
  if (desc->fixed_offset != STOW_PLACE_ANYWHERE) {
    uint64_t end;
    if (!stowi_add_u64(desc->fixed_offset, footprint, &end)) {
      return false;
    }
    *fixed_end = end > *fixed_end ? end : *fixed_end;
  }
  return stowi_add_u64(*padded_sum, *fixed_end, &total) && total <= INT64_MAX;
}

stow_status stow_problem_add(stow_problem* problem, const stow_buffer_desc* given, stow_diag* diag,
                             size_t* out_buffer) {
  size_t number = problem->buffers.count;
  if (out_buffer != NULL) {
    *out_buffer = STOW_BUFFER_NONE;
  }
  stow_buffer_desc full;
  stow_buffer_desc_init(&full);
  STOW_TRY(stowi_load_struct(&full, given, sizeof(full), "stow_buffer_desc", diag));
  const stow_buffer_desc* desc = &full;
  STOW_TRY(check_desc(desc, number, diag));
  if (number >= MAX_BUFFERS) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "a problem holds at most %zu buffers", MAX_BUFFERS);
  }
  uint64_t padded_sum;
  uint64_t fixed_end;
  if (!grow_sums(problem, desc, &padded_sum, &fixed_end)) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW,
                      "buffer %zu of %" PRIu64
                      " bytes: the footprints so far, their alignment and "
                      "the highest fixed end need more than 63 bits together",
                      number, desc->size);
  }
  if (STOWI_VEC_RESERVE(problem->allocator, &problem->buffers, 1) != STOW_OK) {
    return stowi_fail_memory(diag);
  }
  stowi_buffer buffer = {desc->size, desc->guard,     desc->begin,
                         desc->end,  desc->alignment, desc->fixed_offset};
  problem->buffers.data[problem->buffers.count++] = buffer;
  problem->padded_sum = padded_sum;
  problem->fixed_end = fixed_end;
  if (desc->alignment < problem->min_alignment) {
    problem->min_alignment = desc->alignment;
  }
  if (out_buffer != NULL) {
    *out_buffer = number;
  }
  return STOW_OK;
}

size_t stow_problem_count(const stow_problem* problem) { return problem->buffers.count; }

void stow_problem_get(const stow_problem* problem, size_t buffer, stow_buffer_desc* out_desc) {
  const stowi_buffer* from = &problem->buffers.data[buffer];
  stow_buffer_desc_init(out_desc);
  out_desc->size = from->size;
  out_desc->guard = from->guard;
  out_desc->begin = from->begin;
  out_desc->end = from->end;
  out_desc->alignment = from->alignment;
  out_desc->fixed_offset = from->fixed_offset;
}
