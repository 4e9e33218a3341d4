// Compaction is first fit in the order of the offsets. Buffers below another only ever drop, so the
// place it comes from is still free: it ends there or lower. And those before it stay where they
// are put, so that it could not drop further afterwards: one pass is enough.
// Turned upside down, a placement rests on its ceiling. Dropping it again closes other gaps:
//     ┌──┐            ┌────┐  ┌─┐         ┌────┐
//     │  ├────┐       │    │  │ │         │    ├──┐       Each pass costs as much as first fit.
//     ├──┘    │  ──▶  │    ├──┘ │   ──▶   │    │  ├─┐
//     │   ┌─┐ │       └────┤  ┌─┘         └────┴──┴─┘
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/greedy/greedy.h"
#include "place/improve/improve.h"
#include "place/problem.h"

#define MAX_IDLE_ROUNDS 2

typedef struct record {
  uint64_t key;
  uint32_t buffer;
} record;

// By offset, or from the top by end if |mirrored|. Fixed buffers are excluded.
static stow_status order_by_offset(const stowi_place_quest* quest, const uint64_t* offsets,
                                   bool mirrored, record* records, uint32_t* order,
                                   size_t* out_count) {
  const stow_problem* problem = quest->problem;
  size_t count = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    if (!stowi_place_is_fixed(b)) {
      uint64_t key = mirrored ? ~(offsets[i] + stowi_place_footprint(b)) : offsets[i];
      records[count++] = (record){key, (uint32_t)i};
    }
  }
  STOW_TRY(stowi_sort_by_key(records, count, sizeof(record), quest->allocator));
  for (size_t i = 0; i < count; ++i) {
    order[i] = records[i].buffer;
  }
  *out_count = count;
  return STOW_OK;
}

stow_status stowi_place_fit_aside(stowi_place_quest* quest, const uint32_t* order, size_t count,
                                  uint64_t* offsets, uint64_t* height) {
  return stowi_place_greedy_aside(quest, order, count, stowi_place_pick_lowest, offsets, height);
}

static stow_status drop(stowi_place_quest* quest, uint64_t* offsets, uint64_t* height,
                        bool mirrored) {
  size_t count = quest->problem->buffers.count;
  record* records = STOWI_ARRAY(quest->allocator, record, count);
  uint32_t* order = STOWI_ARRAY(quest->allocator, uint32_t, count);
  size_t order_count = 0;
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (records != NULL && order != NULL) {
    status = order_by_offset(quest, offsets, mirrored, records, order, &order_count);
  }
  STOWI_ARRAY_FREE(quest->allocator, records, count);
  if (status != STOW_OK) {
    stowi_fail_memory(quest->diag);
  } else {
    status = stowi_place_fit_aside(quest, order, order_count, offsets, height);
  }
  STOWI_ARRAY_FREE(quest->allocator, order, count);
  return status;
}

stow_status stowi_place_drop(stowi_place_quest* quest, uint64_t* offsets, uint64_t* height) {
  return drop(quest, offsets, height, false);
}

stow_status stowi_place_drop_mirrored(stowi_place_quest* quest, uint64_t* offsets,
                                      uint64_t* height) {
  return drop(quest, offsets, height, true);
}

// Returns false once there is nothing left to do.
static bool offer(stowi_place_quest* quest, const uint64_t* offsets, uint64_t height) {
  stowi_place_quest_offer(quest, offsets, height);
  return stowi_place_quest_spend(quest, quest->problem->buffers.count);
}

static stow_status improve(stowi_place_quest* quest, uint64_t* offsets) {
  size_t idle_rounds = 0;
  while (!stowi_place_quest_done(quest) && idle_rounds < MAX_IDLE_ROUNDS) {
    uint64_t before = quest->height;
    uint64_t height;
    STOW_TRY(stowi_place_drop(quest, offsets, &height));
    if (!offer(quest, offsets, height)) {
      break;
    }
    STOW_TRY(stowi_place_drop_mirrored(quest, offsets, &height));
    offer(quest, offsets, height);
    idle_rounds = quest->height < before ? 0 : idle_rounds + 1;
  }
  return STOW_OK;
}

stow_status stowi_place_compact_work(stowi_place_quest* quest) {
  size_t count = quest->problem->buffers.count;
  if (quest->height == UINT64_MAX) {
    quest->phase = "first-fit";
    STOW_TRY(stowi_place_greedy_by_size(quest, stowi_place_pick_lowest));
  }
  quest->phase = "compact";
  uint64_t* offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(offsets != NULL, quest->diag));
  memcpy(offsets, quest->offsets, count * sizeof(*offsets));
  stow_status status = improve(quest, offsets);
  STOWI_ARRAY_FREE(quest->allocator, offsets, count);
  return status;
}
