// Skyline passes. Taking the lowest first is the first descent of the search in MiniMalloc
// (Moffitt, 2023), without backtracking.
//
// If buffers are whole and free to move, take a valley: a plateau of the skyline that is lower than
// its neighbours. A buffer that is live only inside it can rest on its floor; one that reaches out
// of it rests higher, and so comes later. So the first in order of the former is built on it; if
// there is none, the valley is filled up to its lower neighbour, since nothing can use it any more.
// The order in which valleys are handled makes no difference: the nearest is next, for the cache.
// Each step costs a search among the waiting lifetimes (nest.h), and there are O(n) steps.
//
// Otherwise, how low a buffer can be comes from a tree over the sections (floors.h). It only rises
// while others are placed, so a heap by the last answer gives the lowest: if the answer has risen,
// the buffer goes back into the heap.
#include "place/skyline/skyline.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "place/greedy/greedy.h"
#include "place/skyline/floors.h"
#include "place/skyline/heap.h"
#include "place/skyline/nest.h"
#include "place/skyline/plateaus.h"

#define POLL_EVERY 256  // steps
// Steps that take as long as a node of a search, in a pass over valleys and with a heap.
#define VALLEY_STEPS 5
#define HEAP_STEPS 2

typedef struct block {
  uint64_t footprint;
  uint64_t alignment;
} block;

struct stowi_place_skyline_state {
  stowi_place_quest* quest;
  stow_allocator allocator;
  const stow_problem* problem;
  const stowi_place_sections* sections;
  bool is_plain;  // no windows, none fixed
  stowi_place_nest nest;
  block* blocks;  // by place in the nest: close in time means close in memory
  stowi_place_plateaus plateaus;
  stowi_place_floors floors;     // this and the next if not plain
  stowi_place_heap heap;         // by rank
  stowi_place_occupancy* fixed;  // NULL if there are none
};

static bool has_fixed(const stow_problem* problem) {
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (stowi_place_is_fixed(&problem->buffers.data[i])) {
      return true;
    }
  }
  return false;
}

static stow_status take_fixed(stowi_place_quest* quest, stowi_place_skyline_state* skyline) {
  size_t count = quest->problem->buffers.count;
  uint64_t* offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (offsets != NULL) {
    status = stowi_place_occupancy_create(quest->problem, quest->allocator, &skyline->fixed);
  }
  if (status == STOW_OK) {
    status = stowi_place_take_fixed(quest, skyline->fixed, offsets);
  }
  STOWI_ARRAY_FREE(quest->allocator, offsets, count);
  return status;
}

static stow_status make_blocks(stowi_place_skyline_state* skyline) {
  size_t count = skyline->nest.count;
  skyline->blocks = STOWI_ARRAY(skyline->allocator, block, count);
  if (skyline->blocks == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < count; ++i) {
    const stowi_place_buffer* b = &skyline->problem->buffers.data[skyline->nest.buffers[i]];
    skyline->blocks[i] = (block){stowi_place_footprint(b), b->alignment};
  }
  return STOW_OK;
}

static stow_status prepare(stowi_place_quest* quest, stowi_place_skyline_state* skyline) {
  const stowi_place_sections* sections = skyline->sections;
  size_t count = quest->problem->buffers.count;
  bool any_fixed = has_fixed(quest->problem);
  skyline->is_plain = sections->first == NULL && !any_fixed;
  STOW_TRY(stowi_place_nest_make(sections, count, quest->allocator, &skyline->nest));
  STOW_TRY(make_blocks(skyline));
  STOW_TRY(stowi_place_plateaus_make(sections->count, quest->allocator, &skyline->plateaus));
  if (skyline->is_plain) {
    return STOW_OK;
  }
  STOW_TRY(stowi_place_floors_make(sections->count, quest->allocator, &skyline->floors));
  STOW_TRY(stowi_place_heap_make(count, quest->allocator, &skyline->heap));
  return any_fixed ? take_fixed(quest, skyline) : STOW_OK;
}

stow_status stowi_place_skyline_create(stowi_place_quest* quest,
                                       const stowi_place_sections* sections,
                                       stowi_place_skyline_state** out_skyline) {
  *out_skyline = NULL;
  stowi_place_skyline_state* skyline = STOWI_NEW(quest->allocator, stowi_place_skyline_state);
  STOW_TRY(stowi_need_memory(skyline != NULL, quest->diag));
  skyline->quest = quest;
  skyline->allocator = quest->allocator;
  skyline->problem = quest->problem;
  skyline->sections = sections;
  if (prepare(quest, skyline) != STOW_OK) {
    stowi_place_skyline_destroy(skyline);
    return stowi_fail_memory(quest->diag);
  }
  *out_skyline = skyline;
  return STOW_OK;
}

void stowi_place_skyline_destroy(stowi_place_skyline_state* skyline) {
  if (skyline != NULL) {
    stow_allocator allocator = skyline->allocator;
    stowi_place_floors_free(&skyline->floors, allocator);
    STOWI_ARRAY_FREE(allocator, skyline->blocks, skyline->nest.count);
    stowi_place_nest_free(&skyline->nest, allocator);
    stowi_place_plateaus_free(&skyline->plateaus, allocator);
    stowi_place_heap_free(&skyline->heap, allocator);
    stowi_place_occupancy_destroy(skyline->fixed);
    STOWI_DELETE(allocator, skyline);
  }
}

// Alignments are powers of two, and no offset comes near 2^64: the problem ensures that.
static uint64_t align(uint64_t x, uint64_t alignment) {
  return (x + (alignment - 1)) & ~(alignment - 1);
}

// Puts |buffer| at [offset, end). False if that makes the pass fail.
static bool put(stowi_place_skyline_pass* pass, uint32_t buffer, uint64_t offset, uint64_t end) {
  pass->offsets[buffer] = offset;
  pass->height = end > pass->height ? end : pass->height;
  return pass->height < pass->too_high;
}

// ---------------------------------------------------------------------------------------------
// Whole footprints

static uint64_t above_fixed(const stowi_place_skyline_state* skyline, uint32_t buffer,
                            uint64_t wanted) {
  if (skyline->fixed == NULL) {
    return wanted;
  }
  return stowi_place_search_next(stowi_place_search_start(skyline->fixed, buffer), wanted);
}

static bool build_on(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass,
                     stowi_place_plateau valley, uint32_t place) {
  stowi_place_nest_point life = skyline->nest.points[place];
  block b = skyline->blocks[place];
  uint32_t buffer = skyline->nest.buffers[place];
  uint64_t offset = above_fixed(skyline, buffer, align(valley.floor, b.alignment));
  uint64_t end = offset + b.footprint;
  stowi_place_nest_remove(&skyline->nest, place);
  stowi_place_plateaus_build(&skyline->plateaus, valley, life.begin, life.end,
                             align(end, skyline->problem->min_alignment));
  return put(pass, buffer, offset, end);
}

static bool place_in_valleys(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass) {
  stowi_place_nest_fill(&skyline->nest, pass->order, pass->count);
  stowi_place_plateaus_clear(&skyline->plateaus);
  while (pass->steps < pass->count) {
    stowi_place_plateau valley = stowi_place_plateaus_valley(&skyline->plateaus);
    uint32_t place = stowi_place_nest_first(&skyline->nest, valley.begin, valley.end);
    if (place == STOWI_PLACE_NEST_NONE) {
      stowi_place_plateaus_level(&skyline->plateaus, valley);
      continue;
    }
    if (pass->steps == pass->max_steps) {
      return false;
    }
    ++pass->steps;
    if (!build_on(skyline, pass, valley, place)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Any buffers

typedef struct spot {
  uint64_t key;  // how low it is, to choose the next
  uint64_t offset;
} spot;

static uint64_t rest_of(const stowi_place_skyline_state* skyline, uint32_t buffer) {
  const stowi_place_sections* sections = skyline->sections;
  uint64_t rest = 0;
  uint32_t end = stowi_place_piece_end(sections, buffer);
  for (uint32_t piece = stowi_place_piece_first(sections, buffer); piece < end; ++piece) {
    uint64_t floor =
        stowi_place_floors_max(&skyline->floors, sections->begin[piece], sections->end[piece]);
    uint64_t low = stowi_place_piece_low(sections, piece);
    rest = floor > low && floor - low > rest ? floor - low : rest;
  }
  return rest;
}

static spot find_spot(stowi_place_skyline_state* skyline, uint32_t buffer) {
  uint64_t rest = rest_of(skyline, buffer);
  uint64_t wanted = align(rest, skyline->problem->buffers.data[buffer].alignment);
  uint64_t offset = above_fixed(skyline, buffer, wanted);
  bool is_free = skyline->fixed == NULL;
  return (spot){is_free ? align(rest, skyline->problem->min_alignment) : offset, offset};
}

static bool put_pieces(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass,
                       uint32_t buffer, uint64_t offset) {
  const stowi_place_sections* sections = skyline->sections;
  const stowi_place_buffer* b = &skyline->problem->buffers.data[buffer];
  uint32_t end = stowi_place_piece_end(sections, buffer);
  for (uint32_t piece = stowi_place_piece_first(sections, buffer); piece < end; ++piece) {
    stowi_place_floors_raise(&skyline->floors, sections->begin[piece], sections->end[piece],
                             offset + stowi_place_piece_high(sections, piece, b));
  }
  return put(pass, buffer, offset, offset + stowi_place_footprint(b));
}

// A pass among many fixed buffers takes long. The very first is not cut short.
static bool is_stopped(const stowi_place_skyline_state* skyline,
                       const stowi_place_skyline_pass* pass) {
  return pass->steps % POLL_EVERY == POLL_EVERY - 1 && !stowi_place_quest_poll(skyline->quest) &&
         skyline->quest->height != UINT64_MAX;
}

static bool place_by_heap(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass) {
  stowi_place_floors_clear(&skyline->floors);
  stowi_place_heap_clear(&skyline->heap);
  for (size_t i = 0; i < pass->count; ++i) {
    stowi_place_heap_push(&skyline->heap, 0, (uint32_t)i);
  }
  while (skyline->heap.count > 0) {
    if (pass->steps == pass->max_steps || is_stopped(skyline, pass)) {
      return false;
    }
    ++pass->steps;
    stowi_place_heap_entry entry = stowi_place_heap_pop(&skyline->heap);
    uint32_t buffer = pass->order[entry.id];
    spot found = find_spot(skyline, buffer);
    if (found.key > entry.key) {
      stowi_place_heap_push(&skyline->heap, found.key, entry.id);
    } else if (!put_pieces(skyline, pass, buffer, found.offset)) {
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------------------------------------
// Passes

static void run(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass,
                bool in_valleys) {
  const stow_problem* problem = skyline->problem;
  pass->steps = 0;
  pass->height = problem->fixed_end;
  for (size_t i = 0; skyline->fixed != NULL && i < problem->buffers.count; ++i) {
    if (stowi_place_is_fixed(&problem->buffers.data[i])) {
      pass->offsets[i] = problem->buffers.data[i].fixed_offset;
    }
  }
  if (pass->height >= pass->too_high ||
      !(in_valleys ? place_in_valleys : place_by_heap)(skyline, pass)) {
    pass->height = UINT64_MAX;
  }
  pass->nodes = 1 + pass->steps / (in_valleys ? VALLEY_STEPS : HEAP_STEPS);
}

void stowi_place_skyline_lowest(stowi_place_skyline_state* skyline,
                                stowi_place_skyline_pass* pass) {
  run(skyline, pass, skyline->is_plain);
}

void stowi_place_skyline_quick(stowi_place_skyline_state* skyline, stowi_place_skyline_pass* pass) {
  run(skyline, pass, true);
}

bool stowi_place_skyline_is_plain(const stowi_place_skyline_state* skyline) {
  return skyline->is_plain;
}
