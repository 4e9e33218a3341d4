// Orders: the keys of each buffer are computed once and sorted with its number, so that a
// comparison touches nothing else. The highest load during a lifetime comes from a tree over the
// sections. O(n log n) for each order.
#include "place/greedy/orders.h"

#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "place/problem.h"
#include "place/skyline/floors.h"

#define MAX_KEYS 3

typedef struct record {
  uint64_t keys[MAX_KEYS];  // ascending
  uint32_t buffer;
} record;

static const char* const letters_of[STOWI_PLACE_ORDER_COUNT] = {
#define STOWI_PLACE_ORDER_LETTERS(name, letters) letters,
    STOWI_PLACE_ORDERS(STOWI_PLACE_ORDER_LETTERS)
#undef STOWI_PLACE_ORDER_LETTERS
};

static int compare_records(const void* a, const void* b, const void* context) {
  const record* x = (const record*)a;
  const record* y = (const record*)b;
  (void)context;
  for (size_t i = 0; i < MAX_KEYS; ++i) {
    if (x->keys[i] != y->keys[i]) {
      return x->keys[i] < y->keys[i] ? -1 : 1;
    }
  }
  return (x->buffer > y->buffer) - (x->buffer < y->buffer);
}

#define SHORT_RUN 32

static void insert_in_order(record* records, size_t count) {
  for (size_t i = 1; i < count; ++i) {
    record r = records[i];
    size_t at = i;
    for (; at > 0 && compare_records(&records[at - 1], &r, NULL) > 0; --at) {
      records[at] = records[at - 1];
    }
    records[at] = r;
  }
}

// By the first key, which mostly decides; then the runs in which it does not.
static stow_status sort_records(record* records, size_t count, stow_allocator allocator) {
  STOW_TRY(stowi_sort_by_key(records, count, sizeof(record), allocator));
  size_t end;
  for (size_t begin = 0; begin < count; begin = end) {
    for (end = begin + 1; end < count && records[end].keys[0] == records[begin].keys[0]; ++end) {
    }
    if (end - begin <= SHORT_RUN) {
      insert_in_order(records + begin, end - begin);
    } else {
      STOW_TRY(stowi_sort(records + begin, end - begin, sizeof(record), compare_records, NULL,
                          allocator));
    }
  }
  return STOW_OK;
}

// What comes first has the lowest key.
static uint64_t key_of(const stowi_place_orders* orders, uint32_t buffer, char letter) {
  const stowi_place_buffer* b = &orders->quest->problem->buffers.data[buffer];
  switch (letter) {
    case 'Z': return ~b->size;
    case 'W': return ~(b->end - b->begin);
    case 'A': return ~((b->size >> orders->area_shift) * (b->end - b->begin));
    case 'T': return ~orders->load[buffer];
    case 'L': return ~b->begin;
    case 'U': return ~b->end;
    case 'l': return b->begin;
    default: return b->end;
  }
}

static size_t make_records(const stowi_place_orders* orders, stowi_place_order order,
                           record* records) {
  const stow_problem* problem = orders->quest->problem;
  const char* letters = letters_of[order];
  size_t count = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    if (!stowi_place_is_fixed(&problem->buffers.data[i])) {
      record r = {{0, 0, 0}, (uint32_t)i};
      for (size_t k = 0; letters[k] != 0; ++k) {
        r.keys[k] = key_of(orders, (uint32_t)i, letters[k]);
      }
      records[count++] = r;
    }
  }
  return count;
}

stow_status stowi_place_orders_fill(const stowi_place_orders* orders, stowi_place_order order,
                                    uint32_t* buffers, size_t* out_count) {
  const stowi_place_quest* quest = orders->quest;
  *out_count = 0;
  record* records = STOWI_ARRAY(quest->allocator, record, quest->problem->buffers.count);
  STOW_TRY(stowi_need_memory(records != NULL, quest->diag));
  size_t count = make_records(orders, order, records);
  stow_status status = sort_records(records, count, quest->allocator);
  if (status == STOW_OK) {
    for (size_t i = 0; i < count; ++i) {
      buffers[i] = records[i].buffer;
    }
    *out_count = count;
  }
  STOWI_ARRAY_FREE(quest->allocator, records, quest->problem->buffers.count);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(quest->diag);
}

// ---------------------------------------------------------------------------------------------
// Keys that are not in the buffer itself

static uint32_t bits_of(uint64_t x) {
  uint32_t bits = 0;
  for (; x != 0; x >>= 1) {
    ++bits;
  }
  return bits;
}

// The shift after which no area needs more than 64 bits: none, unless numbers are astronomical.
static uint32_t area_shift_of(const stow_problem* problem) {
  uint64_t size = 0;
  uint64_t steps = 0;
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    size |= problem->buffers.data[i].size;
    steps |= problem->buffers.data[i].end - problem->buffers.data[i].begin;
  }
  uint32_t bits = bits_of(size) + bits_of(steps);
  return bits > 64 ? bits - 64 : 0;
}

// Turns |change| into loads.
static void find_loads(const stow_problem* problem, const stowi_place_sections* sections,
                       uint64_t* change, stowi_place_floors* loads, uint64_t* out) {
  for (uint32_t s = 1; s < sections->count; ++s) {
    change[s] += change[s - 1];
  }
  stowi_place_floors_set(loads, change, sections->count);
  for (size_t i = 0; i < problem->buffers.count; ++i) {
    uint32_t first = stowi_place_piece_first(sections, i);
    uint32_t last = stowi_place_piece_end(sections, i) - 1;
    out[i] = stowi_place_floors_max(loads, sections->begin[first], sections->end[last]);
  }
}

stow_status stowi_place_orders_make(const stowi_place_quest* quest,
                                    const stowi_place_sections* sections,
                                    stowi_place_orders* out_orders) {
  const stow_problem* problem = quest->problem;
  size_t change_count = (size_t)sections->count + 1;
  *out_orders = (stowi_place_orders){.quest = quest, .area_shift = area_shift_of(problem)};
  out_orders->load = STOWI_ARRAY(quest->allocator, uint64_t, problem->buffers.count);
  uint64_t* change = STOWI_ARRAY_ZERO(quest->allocator, uint64_t, change_count);
  stowi_place_floors loads;
  stow_status status = stowi_place_floors_make(sections->count, quest->allocator, &loads);
  if (out_orders->load == NULL || change == NULL || status != STOW_OK) {
    status = stowi_fail_memory(quest->diag);
  } else {
    // Adds the pieces to |change|, the load of a section minus that of the one before (modulo
    // 2^64).
    for (size_t i = 0; i < problem->buffers.count; ++i) {
      uint32_t end = stowi_place_piece_end(sections, i);
      for (uint32_t piece = stowi_place_piece_first(sections, i); piece < end; ++piece) {
        uint64_t bytes = stowi_place_piece_high(sections, piece, &problem->buffers.data[i]) -
                         stowi_place_piece_low(sections, piece);
        change[sections->begin[piece]] += bytes;
        change[sections->end[piece]] -= bytes;
      }
    }
    find_loads(problem, sections, change, &loads, out_orders->load);
  }
  stowi_place_floors_free(&loads, quest->allocator);
  STOWI_ARRAY_FREE(quest->allocator, change, change_count);
  return status;
}

void stowi_place_orders_free(stowi_place_orders* orders) {
  STOWI_ARRAY_FREE(orders->quest->allocator, orders->load, orders->quest->problem->buffers.count);
  orders->load = NULL;
}

// ---------------------------------------------------------------------------------------------
// By size alone

stow_status stowi_place_order_make(const stowi_place_quest* quest, stowi_place_order order,
                                   uint32_t** out_buffers, size_t* out_count) {
  stowi_place_orders orders = {.quest = quest};
  *out_count = 0;
  *out_buffers = STOWI_ARRAY(quest->allocator, uint32_t, quest->problem->buffers.count);
  STOW_TRY(stowi_need_memory(*out_buffers != NULL, quest->diag));
  stow_status status = stowi_place_orders_fill(&orders, order, *out_buffers, out_count);
  if (status != STOW_OK) {
    stowi_place_order_free(quest, *out_buffers);
    *out_buffers = NULL;
  }
  return status;
}

void stowi_place_order_free(const stowi_place_quest* quest, uint32_t* buffers) {
  STOWI_ARRAY_FREE(quest->allocator, buffers, quest->problem->buffers.count);
}
