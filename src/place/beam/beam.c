// A partial placement is a *front*: which buffers are left, how low each of them can be, and with
// that the floor of every section. It grows in the corner of its lowest valley: the first section
// whose floor is the lowest. Either a buffer that can begin there lies in it, a child for each, or
// none does: then these buffers rest on others, and the floor rises.
//
//     │      ┌────┐        ▪ the corner. What is left there begins with this section and ends
//     ├──┐   │    ├──         inside the valley: those are few.
//     │  │▪──┘    │
//     └──┴────────┴──▶ section
//
// Fronts that are equally high have decided the same bytes, so what they wasted can be compared.
// They wait in levels, about ten to the percent of the capacity; the lowest level is worked on
// first, and each keeps only as many as the beam is wide: those with the lowest cost. Waste costs
// more in a section that has little slack left, so the cost of a front is the sum over sections of
// a falling function of the slack. A front in which one has too little is dropped.
//
// No front looks back, so a beam ends after a known amount of work, and twice the width takes twice
// as long: unlike a depth-first search it does not get stuck below an early mistake. Capacities,
// cost functions and directions in time are spread evenly over beams, with widths after Luby,
// Sinclair and Zuckerman (1993), since which of them succeeds is a matter of luck.
#include "place/beam/beam.h"

#include <string.h>

#include "base/alloc.h"
#include "base/bits.h"
#include "base/diag.h"
#include "base/hash.h"
#include "place/skyline/skyline.h"
#include "place/spread.h"

#define LEVELS 1024
#define BULK_BITS 10
#define COSTS 1024        // slack is told apart in so many steps
#define LEAST_WIDTH 4     // of the first beams
#define MOST_WIDTH 512    // then beams get no wider
#define MOST_CHILDREN 64  // of a front; more have never been seen to help
#define MOST_UNITS (INT64_C(1) << 30)
#define FRONTS_PER_WIDTH 96              // of all levels together
#define MOST_BYTES (UINT64_C(96) << 20)  // of them
#define NO_BUFFER UINT32_MAX
#define LEAST_SPLIT 16     // births that are worth more than one thread
#define LIFTS_PER_NODE 32  // as in the exact search

typedef struct front {
  uint64_t cost;
  uint64_t hash;  // of the buffers left and how low they can be
  uint64_t bulk;  // of the buffers left
  uint32_t slot;
  uint32_t level;
  int32_t lowest;
} front;

typedef struct level {
  front* fronts;
  uint32_t count;
} level;

// Where a child is made, by which buffer; UINT32_MAX: by none.
typedef struct birth {
  uint32_t parent;  // of those at work
  uint32_t buffer;
  uint32_t slot;
  bool is_alive;
  uint32_t lifts;
  front child;
} birth;

// A front's data, in one block of a slot.
typedef struct view {
  uint64_t* left;   // set of buffers
  int32_t* least;   // by buffer: how low it can be; once placed, its offset
  int32_t* floor;   // by section
  int32_t* load;    // by section: of those left
  uint32_t* order;  // those left, by `least`
  uint32_t* count;  // of them
} view;

// What a worker needs.
typedef struct scratch {
  uint32_t* next;   // by section: the next whose floor is unknown
  uint32_t* risen;  // buffers
} scratch;

// One run: a beam at a capacity.
typedef struct plan {
  uint64_t capacity;
  uint32_t width;
  uint32_t kind;  // of cost
  bool is_reversed;
  bool counts_bulk;  // large buffers that are left cost, too
} plan;

struct stowi_place_beam {
  stowi_place_quest* quest;
  const stowi_place_model* model;
  bool has_alignments;
  uint64_t* bulk;  // by buffer: the square of its size, for every section
  uint64_t all_bulk;
  // The current run.
  bool is_running;
  plan now;
  int32_t* top;     // by buffer: the highest it may end
  int32_t ceiling;  // the highest of these
  uint64_t costs[COSTS + 1];
  uint64_t scale;  // of slack to costs
  uint32_t at;     // level
  level levels[LEVELS + 1];
  front* all_fronts;  // of all levels
  uint32_t width;     // for which these were allocated
  front* parents;     // at work
  uint32_t parent_count;
  birth* births;
  uint32_t birth_count;
  uint32_t most_births;
  uint8_t* slots;
  size_t slot_size;
  uint32_t slot_count;
  uint32_t* free_slots;
  uint32_t free_count;
  scratch* scratches;  // one for each worker
  uint32_t worker_count;
  uint64_t* answer;
  uint64_t runs;
  uint64_t point;  // of capacities
};
typedef stowi_place_beam beam;

static view view_of(const beam* b, uint32_t slot) {
  const stowi_place_model* model = b->model;
  uint8_t* at = b->slots + (size_t)slot * b->slot_size;
  view v;
  v.left = (uint64_t*)(void*)at;
  v.least = (int32_t*)(void*)(v.left + model->words);
  v.floor = v.least + model->count;
  v.load = v.floor + model->section_count;
  v.order = (uint32_t*)(void*)(v.load + model->section_count);
  v.count = v.order + model->count;
  return v;
}

static size_t size_of_slot(const stowi_place_model* model) {
  size_t words = 2 * (size_t)model->count + 2 * (size_t)model->section_count + 2;
  return (size_t)model->words * 8 + (words * 4 + 7) / 8 * 8;
}

static uint64_t hash_of(uint32_t buffer, int32_t least) {
  uint64_t x = (uint64_t)(uint32_t)least + (buffer + UINT64_C(1)) * UINT64_C(0x9E3779B97F4A7C15);
  x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  x = (x ^ x >> 32) * UINT64_C(0xD6E8FEB86659FD93);
  return x ^ x >> 32;
}

// ---------------------------------------------------------------------------------------------
// Floors and costs

static uint32_t find_next(uint32_t* next, uint32_t section) {
  while (next[section] != section) {
    next[section] = next[next[section]];
    section = next[section];
  }
  return section;
}

// In the order of `least`, each gives its floor to those of its sections that have none yet.
static void find_floors(const beam* b, uint32_t* next, const view* v) {
  const stowi_place_model* model = b->model;
  uint32_t missing = 0;
  for (uint32_t s = 0; s < model->section_count; ++s) {
    missing += v->load[s] > 0;
    v->floor[s] = INT32_MAX;
    next[s] = s;
  }
  next[model->section_count] = model->section_count;
  for (uint32_t i = 0; i < *v->count && missing > 0; ++i) {
    uint32_t j = v->order[i];
    const stowi_place_model_piece* piece = &model->pieces[model->first_piece[j]];
    for (uint32_t s = find_next(next, piece->begin); s < piece->end; s = find_next(next, s)) {
      v->floor[s] = v->least[j];
      next[s] = s + 1;
      --missing;
    }
  }
}

// False if a section has too little slack.
static bool find_cost(const beam* b, const view* v, front* out) {
  uint64_t cost = 0;
  int32_t lowest = INT32_MAX;
  for (uint32_t s = 0; s < b->model->section_count; ++s) {
    if (v->load[s] > 0) {
      int64_t slack = (int64_t)b->ceiling - v->floor[s] - v->load[s];
      if (slack < 0) {
        return false;
      }
      cost += b->costs[(uint64_t)slack * b->scale >> 32];
      lowest = v->floor[s] < lowest ? v->floor[s] : lowest;
    }
  }
  uint64_t bulk = b->now.counts_bulk ? (out->bulk << BULK_BITS) / b->all_bulk : 0;
  out->cost = cost + (cost >> BULK_BITS) * bulk;
  out->lowest = lowest;
  out->level = lowest == INT32_MAX
                   ? LEVELS
                   : (uint32_t)((int64_t)lowest * LEVELS / ((int64_t)b->ceiling + 1));
  return true;
}

// ---------------------------------------------------------------------------------------------
// Children

static uint32_t corner_of(const beam* b, const view* v, int32_t lowest) {
  uint32_t count = b->model->section_count;
  uint32_t s = b->now.is_reversed ? count - 1 : 0;
  while (v->floor[s] != lowest) {
    s = b->now.is_reversed ? s - 1 : s + 1;
  }
  return s;
}

static bool is_same(const stowi_place_model* model, uint32_t a, uint32_t b) {
  const stowi_place_model_piece* x = &model->pieces[model->first_piece[a]];
  const stowi_place_model_piece* y = &model->pieces[model->first_piece[b]];
  return model->size[a] == model->size[b] && model->padding[a] == model->padding[b] &&
         x->begin == y->begin && x->end == y->end;
}

// Those that can lie in the corner; of equal ones, one stands for all.
static uint32_t list_corner(const beam* b, const view* v, int32_t lowest, uint32_t* out) {
  const stowi_place_model* model = b->model;
  uint32_t corner = corner_of(b, v, lowest);
  const uint64_t* members = stowi_place_model_members(model, corner);
  uint32_t count = 0;
  for (uint32_t w = model->first_word[corner]; w < stowi_place_model_end_word(model, corner); ++w) {
    for (uint64_t bits = members[w] & v->left[w]; bits != 0; bits &= bits - 1) {
      uint32_t j = w * 64 + stowi_lowest_bit(bits);
      if (v->least[j] == lowest && count < MOST_CHILDREN) {
        bool is_new = true;
        for (uint32_t i = 0; i < count && is_new; ++i) {
          is_new = !is_same(model, out[i], j);
        }
        out[count] = j;
        count += is_new;
      }
    }
  }
  return count;
}

// Takes |buffer| from the order, or puts it where its `least` now belongs.
static void take_out(const view* v, uint32_t buffer) {
  uint32_t i = 0;
  while (v->order[i] != buffer) {
    ++i;
  }
  *v->count -= 1;
  memmove(&v->order[i], &v->order[i + 1], (*v->count - i) * sizeof(*v->order));
}

static void put_in(const view* v, uint32_t buffer) {
  uint32_t i = (*v->count)++;
  for (; i > 0 && v->least[v->order[i - 1]] > v->least[buffer]; --i) {
    v->order[i] = v->order[i - 1];
  }
  v->order[i] = buffer;
}

static bool raise(const beam* b, const view* v, uint32_t buffer, int64_t least, uint64_t* hash) {
  int64_t aligned = stowi_place_model_align(b->model, buffer, least);
  if (aligned + b->model->size[buffer] > b->top[buffer]) {
    return false;
  }
  *hash += hash_of(buffer, (int32_t)aligned) - hash_of(buffer, v->least[buffer]);
  v->least[buffer] = (int32_t)aligned;
  return true;
}

// What rose stands behind everything lower; only alignments make it uneven.
static void sort_from(const view* v, uint32_t from) {
  for (uint32_t i = from + 1; i < *v->count; ++i) {
    uint32_t j = v->order[i];
    uint32_t k = i;
    for (; k > from && v->least[v->order[k - 1]] > v->least[j]; --k) {
      v->order[k] = v->order[k - 1];
    }
    v->order[k] = j;
  }
}

static void reorder(const beam* b, const view* v, uint32_t kept, uint32_t seen,
                    const uint32_t* risen, uint32_t risen_count) {
  memmove(&v->order[kept + risen_count], &v->order[seen], (*v->count - seen) * sizeof(*v->order));
  memcpy(&v->order[kept], risen, risen_count * sizeof(*risen));
  *v->count = kept + risen_count + (*v->count - seen);
  if (b->has_alignments) {
    sort_from(v, kept);
  }
}

// |buffer| lies at its least offset: what is live with it goes above it. False if something does
// not fit there.
static bool place(const beam* b, scratch* work, const view* v, uint32_t buffer, birth* out) {
  const stowi_place_model* model = b->model;
  const stowi_place_model_piece* piece = &model->pieces[model->first_piece[buffer]];
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  int64_t end = v->least[buffer] + model->size[buffer];
  uint32_t kept = 0;
  uint32_t risen = 0;
  uint32_t i = 0;
  if (end > b->top[buffer]) {
    return false;
  }
  out->child.hash -= hash_of(buffer, v->least[buffer]);
  out->child.bulk -= b->bulk[buffer];
  v->left[buffer / 64] &= ~(UINT64_C(1) << (buffer % 64));
  for (uint32_t s = piece->begin; s < piece->end; ++s) {
    v->load[s] -= (int32_t)model->size[buffer];
  }
  for (; i < *v->count && v->least[v->order[i]] < end; ++i) {
    uint32_t j = v->order[i];
    if ((neighbours[j / 64] >> (j % 64) & 1) != 0) {
      if (!raise(b, v, j, end, &out->child.hash)) {
        return false;
      }
      work->risen[risen++] = j;
    } else if (j != buffer) {
      v->order[kept++] = j;
    }
  }
  out->lifts = risen;
  reorder(b, v, kept, i, work->risen, risen);
  return true;
}

// How low |buffer| can be if none of those at |lowest| in its corner lies there: on top of another
// that can begin below its end, or it could sink back. INT64_MAX if there is none.
static int64_t rest_of(const beam* b, const view* v, uint32_t buffer, int32_t lowest,
                       uint32_t corner) {
  const stowi_place_model* model = b->model;
  const uint64_t* neighbours = stowi_place_model_neighbours(model, buffer);
  const uint64_t* members = stowi_place_model_members(model, corner);
  int64_t end = lowest + model->size[buffer];
  int64_t rest = INT64_MAX;
  for (uint32_t i = 0; i < *v->count && v->least[v->order[i]] < end; ++i) {
    uint32_t j = v->order[i];
    bool is_passed = v->least[j] == lowest && (members[j / 64] >> (j % 64) & 1) != 0;
    if ((neighbours[j / 64] >> (j % 64) & 1) != 0 && !is_passed) {
      int64_t on_top = v->least[j] + model->size[j];
      rest = on_top < rest ? on_top : rest;
    }
  }
  return rest;
}

// None lies in the corner. Those that could are lifted by others, or by each other.
static bool pass(const beam* b, scratch* work, const view* v, int32_t lowest, birth* out) {
  const stowi_place_model* model = b->model;
  uint32_t corner = corner_of(b, v, lowest);
  const uint64_t* members = stowi_place_model_members(model, corner);
  int64_t least = INT64_MAX;
  uint32_t count = 0;
  for (uint32_t i = 0; i < *v->count && v->least[v->order[i]] == lowest; ++i) {
    uint32_t j = v->order[i];
    if ((members[j / 64] >> (j % 64) & 1) != 0) {
      int64_t rest = rest_of(b, v, j, lowest, corner);
      if (rest == INT64_MAX) {
        return false;
      }
      least = rest < least ? rest : least;
      work->risen[count++] = j;
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    take_out(v, work->risen[i]);
    if (!raise(b, v, work->risen[i], least, &out->child.hash)) {
      return false;
    }
    put_in(v, work->risen[i]);
  }
  out->lifts = count;
  return true;
}

static void bear(const beam* b, scratch* work, birth* out) {
  const front* parent = &b->parents[out->parent];
  view from = view_of(b, parent->slot);
  view to = view_of(b, out->slot);
  memcpy(to.left, from.left, b->slot_size);
  out->child = *parent;
  out->child.slot = out->slot;
  out->is_alive = out->buffer == NO_BUFFER ? pass(b, work, &to, parent->lowest, out)
                                           : place(b, work, &to, out->buffer, out);
  if (out->is_alive) {
    find_floors(b, work->next, &to);
    out->is_alive = find_cost(b, &to, &out->child);
  }
}

static void bear_some(void* user, size_t begin, size_t end, uint32_t worker) {
  beam* b = user;
  for (size_t i = begin; i < end; ++i) {
    bear(b, &b->scratches[worker], &b->births[i]);
  }
}

// ---------------------------------------------------------------------------------------------
// Levels

static void drop_slot(beam* b, uint32_t slot) { b->free_slots[b->free_count++] = slot; }

static bool is_better(const front* a, const front* b) {
  return a->cost != b->cost ? a->cost < b->cost : a->hash < b->hash;
}

// Keeps it, in place of the worst if the level is full; or drops it.
static void keep(beam* b, const front* f) {
  level* l = &b->levels[f->level];
  uint32_t worst = 0;
  for (uint32_t i = 0; i < l->count; ++i) {
    if (l->fronts[i].hash == f->hash) {
      drop_slot(b, f->slot);
      return;
    }
    worst = is_better(&l->fronts[worst], &l->fronts[i]) ? i : worst;
  }
  if (l->count < b->now.width) {
    l->fronts[l->count++] = *f;
  } else if (is_better(f, &l->fronts[worst])) {
    drop_slot(b, l->fronts[worst].slot);
    l->fronts[worst] = *f;
  } else {
    drop_slot(b, f->slot);
  }
}

// Lists the children of as many parents as there are slots for; the others are dropped.
static void list_births(beam* b) {
  uint32_t corner[MOST_CHILDREN];
  b->birth_count = 0;
  for (uint32_t i = 0; i < b->parent_count; ++i) {
    view v = view_of(b, b->parents[i].slot);
    uint32_t count = list_corner(b, &v, b->parents[i].lowest, corner);
    if (count + 1 > b->free_count || b->birth_count + count + 1 > b->most_births) {
      continue;
    }
    for (uint32_t k = 0; k <= count; ++k) {
      birth* out = &b->births[b->birth_count++];
      *out = (birth){.parent = i, .buffer = k < count ? corner[k] : NO_BUFFER};
      out->slot = b->free_slots[--b->free_count];
    }
  }
}

static void split(beam* b) {
  const stow_place_options* options = &b->quest->options;
  if (options->splitter.split != NULL && b->birth_count >= LEAST_SPLIT) {
    options->splitter.split(options->splitter.pool, b->birth_count, LEAST_SPLIT / 4, bear_some, b);
  } else {
    bear_some(b, 0, b->birth_count, 0);
  }
}

static uint64_t gather(beam* b) {
  uint64_t lifts = 0;
  for (uint32_t i = 0; i < b->birth_count; ++i) {
    const birth* out = &b->births[i];
    lifts += out->lifts;
    if (out->is_alive) {
      keep(b, &out->child);
    } else {
      drop_slot(b, out->slot);
    }
  }
  for (uint32_t i = 0; i < b->parent_count; ++i) {
    drop_slot(b, b->parents[i].slot);
  }
  return b->birth_count + lifts / LIFTS_PER_NODE;
}

// All fronts of the lowest level have their children.
static void advance(beam* b) {
  level* l = &b->levels[b->at];
  memcpy(b->parents, l->fronts, l->count * sizeof(*l->fronts));
  b->parent_count = l->count;
  l->count = 0;
  list_births(b);
  split(b);
  stowi_place_quest_spend(b->quest, gather(b));
}

// ---------------------------------------------------------------------------------------------
// Runs

static void fill_costs(beam* b) {
  for (uint32_t i = 0; i <= COSTS; ++i) {
    uint64_t reciprocal = (UINT64_C(1) << 32) / (i + 1);
    // 2^16 times the logarithm of COSTS / (i + 1), linear between powers of two.
    uint32_t power = 0;
    while ((i + 1) >> (power + 1) != 0) {
      ++power;
    }
    uint64_t log = ((uint64_t)power << 16) + ((((uint64_t)i + 1) << 16 >> power) - (1 << 16));
    b->costs[i] = b->now.kind == 0 ? reciprocal : (UINT64_C(11) << 16) - log;
  }
}

static void start_root(beam* b) {
  const stowi_place_model* model = b->model;
  front root = {.slot = b->free_slots[--b->free_count]};
  view v = view_of(b, root.slot);
  memset(v.left, 0, b->slot_size);
  for (uint32_t i = 0; i < model->count; ++i) {
    const stowi_place_model_piece* piece = &model->pieces[model->first_piece[i]];
    v.left[i / 64] |= UINT64_C(1) << (i % 64);
    v.order[i] = i;
    root.hash += hash_of(i, 0);
    root.bulk += b->bulk[i];
    for (uint32_t s = piece->begin; s < piece->end; ++s) {
      v.load[s] += (int32_t)model->size[i];
    }
  }
  *v.count = model->count;
  find_floors(b, b->scratches[0].next, &v);
  if (find_cost(b, &v, &root)) {
    keep(b, &root);
  } else {
    drop_slot(b, root.slot);
  }
}

static void clear(beam* b) {
  for (uint32_t i = 0; i < b->slot_count; ++i) {
    b->free_slots[i] = b->slot_count - 1 - i;
  }
  b->free_count = b->slot_count;
  for (uint32_t i = 0; i <= LEVELS; ++i) {
    b->levels[i] = (level){b->all_fronts + (size_t)i * b->now.width, 0};
  }
}

static void start(beam* b, plan p) {
  const stowi_place_model* model = b->model;
  b->now = p;
  b->ceiling = 0;
  for (uint32_t i = 0; i < model->count; ++i) {
    b->top[i] = (int32_t)((p.capacity + (uint64_t)model->padding[i]) / model->unit);
    b->ceiling = b->top[i] > b->ceiling ? b->top[i] : b->ceiling;
  }
  b->scale = ((uint64_t)COSTS << 32) / ((uint64_t)b->ceiling + 1);
  b->at = 0;
  b->is_running = true;
  fill_costs(b);
  clear(b);
  start_root(b);
}

static void offer(beam* b, const front* f) {
  const stowi_place_model* model = b->model;
  view v = view_of(b, f->slot);
  uint64_t height = 0;
  for (uint32_t i = 0; i < model->count; ++i) {
    uint64_t at = (uint64_t)v.least[i] * model->unit;
    uint64_t end = at + stowi_place_footprint(&model->problem->buffers.data[model->buffer[i]]);
    b->answer[model->buffer[i]] = at;
    height = end > height ? end : height;
  }
  stowi_place_quest_offer(b->quest, b->answer, height);
}

// One step of a run; it ends with a complete front, or when none is left.
static void take_step(beam* b) {
  while (b->at < LEVELS && b->levels[b->at].count == 0) {
    ++b->at;
  }
  if (b->at < LEVELS) {
    advance(b);
  }
  if (b->levels[LEVELS].count > 0) {
    offer(b, &b->levels[LEVELS].fronts[0]);
  }
  b->is_running = b->at < LEVELS && b->levels[LEVELS].count == 0;
}

// ---------------------------------------------------------------------------------------------
// Which run is next

static void free_fronts(beam* b) {
  stow_allocator allocator = b->quest->allocator;
  STOWI_ARRAY_FREE(allocator, b->all_fronts, (size_t)(LEVELS + 1) * b->width);
  STOWI_ARRAY_FREE(allocator, b->parents, b->width);
  STOWI_ARRAY_FREE(allocator, b->births, b->most_births);
  STOWI_ARRAY_FREE(allocator, b->free_slots, b->slot_count);
  STOWI_ARRAY_FREE(allocator, b->slots, (size_t)b->slot_count * b->slot_size);
  b->all_fronts = b->parents = NULL;
  b->births = NULL;
  b->free_slots = NULL;
  b->slots = NULL;
}

static uint64_t most_slots(const stowi_place_model* model) {
  return MOST_BYTES / size_of_slot(model);
}

static uint32_t slots_for(const beam* b, uint32_t width) {
  uint64_t wanted = (uint64_t)width * FRONTS_PER_WIDTH + 2 * MOST_CHILDREN;
  uint64_t most = most_slots(b->model);
  return (uint32_t)(wanted < most ? wanted : most);
}

// Memory for beams of this width.
static stow_status widen(beam* b, uint32_t width) {
  stow_allocator allocator = b->quest->allocator;
  if (width <= b->width) {
    return STOW_OK;
  }
  free_fronts(b);
  b->width = width;
  b->slot_count = slots_for(b, width);
  b->most_births = width * 8 + MOST_CHILDREN + 1;
  b->all_fronts = STOWI_ARRAY(allocator, front, (size_t)(LEVELS + 1) * width);
  b->parents = STOWI_ARRAY(allocator, front, width);
  b->births = STOWI_ARRAY(allocator, birth, b->most_births);
  b->free_slots = STOWI_ARRAY(allocator, uint32_t, b->slot_count);
  b->slots = STOWI_ARRAY(allocator, uint8_t, (size_t)b->slot_count * b->slot_size);
  return stowi_need_memory(b->all_fronts != NULL && b->parents != NULL && b->births != NULL &&
                               b->free_slots != NULL && b->slots != NULL,
                           b->quest->diag);
}

static uint64_t count_between(const beam* b) {
  const stowi_place_quest* quest = b->quest;
  uint64_t goal = stowi_place_quest_goal(quest);
  return quest->height <= goal ? 0 : (quest->height - 1 - goal) / b->model->unit + 1;
}

// With a capacity to fit, all runs are at that.
static plan next_plan(beam* b) {
  plan p = {.capacity = stowi_place_quest_goal(b->quest)};
  uint64_t run = b->runs++;
  uint64_t width = LEAST_WIDTH * stowi_place_luby(run / 4 + 1);
  p.width = (uint32_t)(width < MOST_WIDTH ? width : MOST_WIDTH);
  p.kind = run % 2 == 0;
  p.is_reversed = run / 2 % 2 != 0;
  p.counts_bulk = run / 4 % 2 != 0;
  if (b->quest->options.capacity == STOW_PLACE_SMALLEST) {
    uint64_t count = count_between(b);
    p.capacity += (count - 1 - stowi_place_spread(&b->point, count)) * b->model->unit;
  }
  return p;
}

// The best may have come below the capacity of a run in the meantime.
static bool is_useless(const beam* b) {
  return b->quest->options.capacity == STOW_PLACE_SMALLEST && b->quest->height <= b->now.capacity;
}

stow_status stowi_place_beam_play(void* state, bool* out_idle) {
  beam* b = state;
  b->quest->phase = "beam";
  (void)out_idle;
  while (!stowi_place_quest_turn_over(b->quest)) {
    if (!b->is_running || is_useless(b)) {
      plan p = next_plan(b);
      STOW_TRY(widen(b, p.width));
      start(b, p);
    }
    take_step(b);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static bool has_pins(const stowi_place_model* model) {
  for (uint32_t i = 0; i < model->count; ++i) {
    if (model->pin[i] != STOWI_PLACE_NO_PIN) {
      return true;
    }
  }
  return false;
}

static bool is_fit(const stowi_place_quest* quest, const stowi_place_model* model) {
  bool fits = quest->options.capacity != STOW_PLACE_SMALLEST;
  uint64_t most = fits ? quest->options.capacity : quest->height;
  return !model->has_windows && !has_pins(model) && model->count > 0 &&
         most < (uint64_t)MOST_UNITS * model->unit - (uint64_t)model->most_padding &&
         most_slots(model) >= 8 * LEAST_WIDTH + 2 * MOST_CHILDREN;
}

// Sizes are scaled to 10 bits, so that no sum overflows.
static void fill_bulk(beam* b) {
  const stowi_place_model* model = b->model;
  int64_t largest = 1;
  for (uint32_t i = 0; i < model->count; ++i) {
    largest = model->size[i] > largest ? model->size[i] : largest;
  }
  for (uint32_t i = 0; i < model->count; ++i) {
    const stowi_place_model_piece* piece = &model->pieces[model->first_piece[i]];
    uint64_t size = 1 + ((uint64_t)model->size[i] << 10) / (uint64_t)largest;
    b->bulk[i] = size * size * (piece->end - piece->begin);
    b->all_bulk += b->bulk[i];
    b->has_alignments = b->has_alignments || model->alignment[i] != 1;
  }
}

static bool allocate(beam* b) {
  stow_allocator allocator = b->quest->allocator;
  const stowi_place_model* model = b->model;
  uint32_t workers = b->quest->options.splitter.split != NULL ? b->quest->options.workers : 1;
  b->worker_count = workers > 0 ? workers : 1;
  b->top = STOWI_ARRAY(allocator, int32_t, model->count);
  b->answer = STOWI_ARRAY(allocator, uint64_t, model->count);
  b->bulk = STOWI_ARRAY(allocator, uint64_t, model->count);
  b->scratches = STOWI_ARRAY_ZERO(allocator, scratch, b->worker_count);
  if (b->top == NULL || b->answer == NULL || b->bulk == NULL || b->scratches == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < b->worker_count; ++i) {
    scratch* s = &b->scratches[i];
    s->next = STOWI_ARRAY(allocator, uint32_t, (size_t)model->section_count + 1);
    s->risen = STOWI_ARRAY(allocator, uint32_t, model->count);
    if (s->next == NULL || s->risen == NULL) {
      return false;
    }
  }
  return true;
}

stow_status stowi_place_beam_create(stowi_place_quest* quest, const stowi_place_model* model,
                                    stowi_place_beam** out_beam) {
  *out_beam = NULL;
  if (!is_fit(quest, model)) {
    return STOW_OK;
  }
  beam* b = STOWI_NEW(quest->allocator, beam);
  STOW_TRY(stowi_need_memory(b != NULL, quest->diag));
  b->quest = quest;
  b->model = model;
  b->slot_size = size_of_slot(model);
  if (!allocate(b)) {
    stowi_place_beam_destroy(b);
    return stowi_fail_memory(quest->diag);
  }
  fill_bulk(b);
  *out_beam = b;
  return STOW_OK;
}

void stowi_place_beam_destroy(stowi_place_beam* b) {
  if (b == NULL) {
    return;
  }
  stow_allocator allocator = b->quest->allocator;
  free_fronts(b);
  for (uint32_t i = 0; b->scratches != NULL && i < b->worker_count; ++i) {
    STOWI_ARRAY_FREE(allocator, b->scratches[i].next, (size_t)b->model->section_count + 1);
    STOWI_ARRAY_FREE(allocator, b->scratches[i].risen, b->model->count);
  }
  STOWI_ARRAY_FREE(allocator, b->scratches, b->worker_count);
  STOWI_ARRAY_FREE(allocator, b->top, b->model->count);
  STOWI_ARRAY_FREE(allocator, b->answer, b->model->count);
  STOWI_ARRAY_FREE(allocator, b->bulk, b->model->count);
  STOWI_DELETE(allocator, b);
}

stow_status stowi_place_beam_work(stowi_place_quest* quest) {
  STOW_TRY(stowi_place_skyline_work(quest));
  if (stowi_place_quest_done(quest) ||
      quest->problem->buffers.count > STOWI_PLACE_MODEL_MAX_BUFFERS) {
    return STOW_OK;
  }
  stowi_place_model* model = NULL;
  beam* b = NULL;
  bool is_idle = false;
  STOW_TRY(stowi_place_model_create(quest->problem, quest->allocator, quest->diag, &model));
  stow_status status = stowi_place_beam_create(quest, model, &b);
  if (status == STOW_OK && b != NULL) {
    status = stowi_place_beam_play(b, &is_idle);
  }
  stowi_place_beam_destroy(b);
  stowi_place_model_destroy(model);
  return status;
}
