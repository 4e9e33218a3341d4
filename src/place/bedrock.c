// Buffers that are whole and always live share their bytes with nothing, so their position does not
// matter. In problems with windows, where each of them is one more object to move around, they are
// stacked at the bottom, and the others are placed on top as a separate problem:
//     │ ┌──┐ ┌──┐         │ ┌──┐ ┌──┐
//     ├─┴──┴─┴──┴─┐       │ └──┘┌┴──┤
//     │     x     │  ──▶  │   ┌─┴┐  │
//     ├─────┬───┬─┘       ├───┴──┴──┴─┐
//     │   ┌─┴┐  │         │     x     │
//     └───┴──┴──┴─        └───────────┴─
// Nothing is lost. If every other buffer is whole at some time, it is always either below x or
// above it. Move what is below x up by x's size, rounded up to the alignment, which is the same for
// all, and x down to the bottom: what was disjoint still is. Only the topmost buffer need not be
// rounded up, so the one that gains most by that stays with the others. O(n log n) before the work
// itself.
#include "base/alloc.h"
#include "base/diag.h"
#include "place/problem.h"
#include "place/quest.h"
#include "place/sections.h"

typedef struct bedrock {
  stowi_place_quest* quest;
  uint8_t* is_in;  // per buffer
  size_t count;    // of these
  uint64_t height;
} bedrock;

static uint64_t padding_of(const stow_problem* problem, size_t buffer) {
  const stowi_place_buffer* b = &problem->buffers.data[buffer];
  return (~stowi_place_footprint(b) + 1) & (b->alignment - 1);
}

static uint64_t padded(const stow_problem* problem, size_t buffer) {
  return stowi_place_footprint(&problem->buffers.data[buffer]) + padding_of(problem, buffer);
}

// ---------------------------------------------------------------------------------------------
// Members

static bool is_whole_once(const stow_problem* problem, const stowi_place_sections* sections,
                          size_t buffer) {
  const stowi_place_buffer* b = &problem->buffers.data[buffer];
  uint32_t end = stowi_place_piece_end(sections, buffer);
  for (uint32_t p = stowi_place_piece_first(sections, buffer); p < end; ++p) {
    if (stowi_place_piece_high(sections, p, b) - stowi_place_piece_low(sections, p) ==
        stowi_place_footprint(b)) {
      return true;
    }
  }
  return false;
}

static bool can_part(const stow_problem* problem, const stowi_place_sections* sections) {
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    const stowi_place_buffer* b = &problem->buffers.data[i];
    if (stowi_place_is_fixed(b) || b->alignment != problem->min_alignment ||
        !is_whole_once(problem, sections, i)) {
      return false;
    }
  }
  return true;
}

// |buffer| is whole at some time.
static bool lives_always(const stowi_place_sections* sections, size_t buffer) {
  uint32_t piece = stowi_place_piece_first(sections, buffer);
  return stowi_place_piece_end(sections, buffer) - piece == 1 && sections->begin[piece] == 0 &&
         sections->end[piece] == sections->count;
}

static void find(bedrock* rock, const stowi_place_sections* sections) {
  const stow_problem* problem = rock->quest->problem;
  size_t kept = SIZE_MAX;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (!lives_always(sections, i)) {
      continue;
    }
    rock->is_in[i] = 1;
    rock->height += padded(problem, i);
    ++rock->count;
    if (kept == SIZE_MAX || padding_of(problem, i) > padding_of(problem, kept)) {
      kept = i;
    }
  }
  if (kept != SIZE_MAX) {
    rock->is_in[kept] = 0;
    rock->height -= padded(problem, kept);
    --rock->count;
  }
}

static stow_status prepare(bedrock* rock) {
  stowi_place_quest* quest = rock->quest;
  stowi_place_sections sections;
  stow_status status = stowi_place_sections_make(quest->problem, quest->allocator, &sections);
  rock->is_in = STOWI_ARRAY_ZERO(quest->allocator, uint8_t, quest->problem->buffers.count);
  if (status != STOW_OK || rock->is_in == NULL) {
    status = stowi_fail_memory(quest->diag);
  } else if (can_part(quest->problem, &sections)) {
    find(rock, &sections);
  }
  stowi_place_sections_free(&sections, quest->problem, quest->allocator);
  return status;
}

// ---------------------------------------------------------------------------------------------
// The others

// Reports progress in terms of the whole problem.
static bool go_on(void* user, const stow_place_progress* progress) {
  const bedrock* rock = user;
  stowi_place_quest* quest = rock->quest;
  stow_place_progress whole = *progress;
  whole.best += whole.best == UINT64_MAX ? 0 : rock->height;
  whole.bound += rock->height;
  quest->stopped = quest->options.on_progress != NULL &&
                   !quest->options.on_progress(quest->options.user, &whole);
  return !quest->stopped;
}

// Asks the same question, lowered by the height of the bedrock, which is not above the capacity.
static stow_status ask(bedrock* rock, const stow_problem* part, stowi_place_quest* out_sub) {
  stowi_place_quest* quest = rock->quest;
  *out_sub = *quest;
  out_sub->problem = part;
  out_sub->height = UINT64_MAX;
  out_sub->offsets = STOWI_ARRAY(quest->allocator, uint64_t, part->buffers.count);
  STOW_TRY(stowi_need_memory(out_sub->offsets != NULL, quest->diag));
  out_sub->options.on_progress = go_on;
  out_sub->options.user = rock;
  if (quest->options.capacity != STOW_PLACE_SMALLEST) {
    out_sub->options.capacity -= rock->height;
  }
  out_sub->bound = quest->bound > rock->height ? quest->bound - rock->height : 0;
  stow_load load = {.struct_size = sizeof(load)};
  STOW_TRY(stow_problem_load(part, quest->allocator, quest->diag, &load));
  out_sub->pair_count = load.pair_count;
  stowi_place_quest_raise(out_sub, load.lower_bound);
  return STOW_OK;
}

// The others start where they are in the best placement so far, if there is one: above and below
// each other as there.
static stow_status start(const bedrock* rock, stowi_place_quest* sub) {
  const stowi_place_quest* quest = rock->quest;
  size_t count = sub->problem->buffers.count;
  if (quest->height == UINT64_MAX) {
    return STOW_OK;
  }
  uint64_t* offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(offsets != NULL, quest->diag));
  for (size_t i = 0, other = 0; i < quest->problem->buffers.count; ++i) {
    if (!rock->is_in[i]) {
      offsets[other++] = quest->offsets[i];
    }
  }
  sub->options.start = offsets;
  stow_status status = stowi_place_start(sub);
  sub->options.start = NULL;
  STOWI_ARRAY_FREE(quest->allocator, offsets, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Entry point

static stow_status answer(const bedrock* rock, const stowi_place_quest* sub) {
  stowi_place_quest* quest = rock->quest;
  size_t count = quest->problem->buffers.count;
  uint64_t* offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(offsets != NULL, quest->diag));
  uint64_t top = 0;
  size_t other = 0;
  for (size_t i = 0; i < count; ++i) {
    if (rock->is_in[i]) {
      offsets[i] = top;
      top += padded(quest->problem, i);
    } else {
      offsets[i] = rock->height + sub->offsets[other++];
    }
  }
  quest->phase = sub->phase;
  quest->nodes = sub->nodes;
  stowi_place_quest_raise(quest, rock->height + sub->bound);
  stowi_place_quest_offer(quest, offsets, rock->height + sub->height);
  STOWI_ARRAY_FREE(quest->allocator, offsets, count);
  return STOW_OK;
}

static stow_status work_above(bedrock* rock, stow_problem* part, stowi_place_work work) {
  stowi_place_quest sub = {0};
  const stowi_place_quest* quest = rock->quest;
  for (size_t i = 0; i < quest->problem->buffers.count; ++i) {
    if (!rock->is_in[i]) {
      STOW_TRY(stowi_place_problem_add_copy(part, quest->problem, i, quest->diag));
    }
  }
  stow_status status = ask(rock, part, &sub);
  if (status == STOW_OK) {
    status = start(rock, &sub);
  }
  if (status == STOW_OK) {
    status = work(&sub);
  }
  if (status == STOW_OK) {
    status = answer(rock, &sub);
  }
  STOWI_ARRAY_FREE(rock->quest->allocator, sub.offsets, part->buffers.count);
  return status;
}

stow_status stowi_place_on_bedrock(stowi_place_quest* quest, stowi_place_work work) {
  bedrock rock = {.quest = quest};
  stow_problem* part = NULL;
  stow_status status = prepare(&rock);
  bool is_apart = rock.count > 0 && rock.height <= quest->options.capacity;
  if (status == STOW_OK && is_apart) {
    status = stow_problem_create(quest->allocator, quest->diag, &part);
  }
  if (status == STOW_OK) {
    status = is_apart ? work_above(&rock, part, work) : work(quest);
  }
  stow_problem_destroy(part);
  STOWI_ARRAY_FREE(quest->allocator, rock.is_in, quest->problem->buffers.count);
  return status;
}
