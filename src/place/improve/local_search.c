// Local search by squeaky wheel optimisation (Joslin and Clements, 1999). A pass, of a skyline or
// by first fit, places the buffers in an order; those that stick out above the goal were placed too
// late. Their places in the order are brought forward by a factor, not quite the same for all, and
// the next pass follows the new order. So whatever is hard to place moves to the front over the
// passes, and what it displaces has to prove harder still.
//     order    a b c d e f     pass: d and f stick out above the best so far
//     weight   0 1 2 3 4 5  ──▶  0 1 2 2.1 4 3.2  ──▶  a b c d f e
// Several orders are tried in turn, each for a number of passes that doubles every round, with
// other factors each time: an unsuccessful run costs little. Each pass is O(n log n).
#include "base/alloc.h"
#include "base/diag.h"
#include "base/hash.h"
#include "base/sort.h"
#include "place/greedy/orders.h"
#include "place/improve/improve.h"
#include "place/problem.h"
#include "place/skyline/skyline.h"

#define FIRST_NODES 49152     // steps of one run in the first round, about:
#define MIN_FIRST_PASSES 8    // at least so many passes
#define MAX_FIRST_PASSES 128  // and at most
#define MAX_ROUND 20          // after which runs do not get longer
#define WEIGHT_SHIFT 24       // weights are places in the order, in fixed point
#define FACTOR_UNIT 1024      // a factor is
#define MIN_FACTOR 573        // at least 0.56
#define FACTOR_RANGE 247      // and below 0.8
#define FIRST_FIT_SHARE 4     // first fit gets one pass of this many
#define IDLE_SHARE 64         // it gives up after one idle pass for this many buffers
#define MIN_FIRST_FIT 1000    // buffers
#define FIRST_FIT_NODES 16    // what setting it up costs, beside a node per buffer
#define MAX_FIRST_FIT 65536
#define CAREFUL_COUNT 1024  // above this many buffers windows and fixed ones get less care

typedef struct start {
  stowi_place_order order;
  bool first_fit;
} start;

static const start starts[] = {
    {STOWI_PLACE_ORDER_TWA, false},       {STOWI_PLACE_ORDER_DEATH_TW, false},
    {STOWI_PLACE_ORDER_BIRTH_WA, false},  {STOWI_PLACE_ORDER_TZL, true},
    {STOWI_PLACE_ORDER_T_DEATH_W, false}, {STOWI_PLACE_ORDER_TAW, false},
    {STOWI_PLACE_ORDER_T_BIRTH_W, false}, {STOWI_PLACE_ORDER_T_SIZE_DEATH, true},
    {STOWI_PLACE_ORDER_WAT, false},       {STOWI_PLACE_ORDER_BIRTH_AT, false},
    {STOWI_PLACE_ORDER_DEATH_AT, false},  {STOWI_PLACE_ORDER_SIZE, true},
    {STOWI_PLACE_ORDER_TWL, false}};
#define START_COUNT (sizeof(starts) / sizeof(starts[0]))

struct stowi_place_local_search {
  stowi_place_quest* quest;
  stowi_place_sections sections;
  stowi_place_orders orders;
  stowi_place_skyline_state* skyline;
  size_t count;       // of those that are not fixed
  uint32_t* order;    // by weight
  uint32_t* late;     // those to bring forward
  uint32_t* others;   // the rest of the order
  uint64_t* weights;  // per buffer
  uint64_t* offsets;
  uint64_t random;
  uint64_t idle;  // passes since the last that was better than all before
  // The current run.
  size_t next;           // the order of the next one
  uint32_t round;        // of all orders
  bool first_fit;        // instead of a skyline
  uint64_t passes_left;  // of this run
  uint64_t lowest;       // that it reached
};
typedef stowi_place_local_search search;

static stow_status prepare(search* s) {
  stowi_place_quest* quest = s->quest;
  size_t count = quest->problem->buffers.count;
  s->order = STOWI_ARRAY(quest->allocator, uint32_t, count);
  s->late = STOWI_ARRAY(quest->allocator, uint32_t, count);
  s->others = STOWI_ARRAY(quest->allocator, uint32_t, count);
  s->weights = STOWI_ARRAY(quest->allocator, uint64_t, count);
  s->offsets = STOWI_ARRAY(quest->allocator, uint64_t, count);
  STOW_TRY(stowi_need_memory(
      s->order != NULL && s->late != NULL && s->others != NULL && s->weights != NULL &&
          s->offsets != NULL &&
          stowi_place_sections_make(quest->problem, quest->allocator, &s->sections) == STOW_OK,
      quest->diag));
  STOW_TRY(stowi_place_orders_make(quest, &s->sections, &s->orders));
  return stowi_place_skyline_create(quest, &s->sections, &s->skyline);
}

void stowi_place_local_search_destroy(stowi_place_local_search* s) {
  if (s == NULL) {
    return;
  }
  stow_allocator allocator = s->quest->allocator;
  size_t count = s->quest->problem->buffers.count;
  stowi_place_skyline_destroy(s->skyline);
  stowi_place_orders_free(&s->orders);
  stowi_place_sections_free(&s->sections, s->quest->problem, allocator);
  STOWI_ARRAY_FREE(allocator, s->offsets, count);
  STOWI_ARRAY_FREE(allocator, s->weights, count);
  STOWI_ARRAY_FREE(allocator, s->others, count);
  STOWI_ARRAY_FREE(allocator, s->late, count);
  STOWI_ARRAY_FREE(allocator, s->order, count);
  STOWI_DELETE(allocator, s);
}

// ---------------------------------------------------------------------------------------------
// The order

static int compare_weights(const void* a, const void* b, const void* context) {
  const uint64_t* weights = (const uint64_t*)context;
  uint32_t x = *(const uint32_t*)a;
  uint32_t y = *(const uint32_t*)b;
  if (weights[x] != weights[y]) {
    return weights[x] < weights[y] ? -1 : 1;
  }
  return (x > y) - (x < y);
}

static uint64_t next_factor(search* s) {
  s->random = stowi_hash_u64(s->random, 0);
  return MIN_FACTOR + (s->random >> 32) % FACTOR_RANGE;
}

// Lowers the weights of those that end above |target| and splits the order; both parts keep their
// order.
static size_t split(search* s, uint64_t target) {
  size_t late_count = 0;
  size_t other_count = 0;
  for (size_t i = 0; i < s->count; ++i) {
    uint32_t buffer = s->order[i];
    const stowi_place_buffer* b = &s->quest->problem->buffers.data[buffer];
    if (s->offsets[buffer] + stowi_place_footprint(b) > target) {
      s->weights[buffer] = s->weights[buffer] / FACTOR_UNIT * next_factor(s);
      s->late[late_count++] = buffer;
    } else {
      s->others[other_count++] = buffer;
    }
  }
  return late_count;
}

static stow_status bring_forward(search* s, uint64_t target) {
  size_t late_count = split(s, target);
  STOW_TRY(stowi_need_memory(stowi_sort(s->late, late_count, sizeof(uint32_t), compare_weights,
                                        s->weights, s->quest->allocator) == STOW_OK,
                             s->quest->diag));
  size_t late = 0;
  size_t other = 0;
  for (size_t i = 0; i < s->count; ++i) {
    bool take_late =
        late < late_count && (other == s->count - late_count ||
                              s->weights[s->late[late]] <= s->weights[s->others[other]]);
    s->order[i] = take_late ? s->late[late++] : s->others[other++];
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Runs

typedef struct outcome {
  uint64_t height;  // UINT64_MAX if the budget ended the pass
  uint64_t nodes;
} outcome;

static stow_status place_on_skyline(search* s, outcome* out) {
  stowi_place_skyline_pass pass = {.order = s->order, .count = s->count, .offsets = s->offsets};
  pass.too_high = pass.max_steps = UINT64_MAX;
  if (s->count <= CAREFUL_COUNT) {
    stowi_place_skyline_lowest(s->skyline, &pass);
  } else {
    stowi_place_skyline_quick(s->skyline, &pass);
  }
  *out = (outcome){pass.height, pass.nodes};
  return STOW_OK;
}

static stow_status place_by_first_fit(search* s, outcome* out) {
  out->nodes = s->count + FIRST_FIT_NODES;
  return stowi_place_fit_aside(s->quest, s->order, s->count, s->offsets, &out->height);
}

// A skyline wastes what is below a window; first fit does not. So with windows it gets all passes.
static bool fills_windows(const search* s) {
  return s->sections.first != NULL && s->quest->problem->buffers.count <= MAX_FIRST_FIT;
}

static uint64_t passes_for(const search* s, bool first_fit) {
  size_t count = s->quest->problem->buffers.count;
  uint64_t passes = FIRST_NODES / (count + 1);
  passes = passes < MIN_FIRST_PASSES ? MIN_FIRST_PASSES : passes;
  passes = passes > MAX_FIRST_PASSES ? MAX_FIRST_PASSES : passes;
  if (first_fit && !fills_windows(s)) {
    bool fits = count >= MIN_FIRST_FIT && count <= MAX_FIRST_FIT;
    passes = fits ? passes / FIRST_FIT_SHARE : 0;
  }
  return passes << s->round;
}

// Begins the run of the next order.
static stow_status begin_run(search* s) {
  start from = starts[s->next];
  s->first_fit = from.first_fit || fills_windows(s);
  s->passes_left = passes_for(s, s->first_fit);
  s->next = (s->next + 1) % START_COUNT;
  s->round += s->next == 0 && s->round < MAX_ROUND;
  s->lowest = UINT64_MAX;
  STOW_TRY(stowi_place_orders_fill(&s->orders, from.order, s->order, &s->count));
  for (size_t i = 0; i < s->count; ++i) {
    s->weights[s->order[i]] = (uint64_t)i << WEIGHT_SHIFT;
  }
  return STOW_OK;
}

static stow_status take_pass(search* s) {
  outcome reached;
  STOW_TRY((s->first_fit ? place_by_first_fit : place_on_skyline)(s, &reached));
  uint64_t before = s->quest->height;
  if (reached.height != UINT64_MAX) {
    stowi_place_quest_offer(s->quest, s->offsets, reached.height);
  }
  stowi_place_quest_spend(s->quest, reached.nodes);
  s->idle = s->quest->height < before ? 0 : s->idle + 1;
  s->lowest = reached.height < s->lowest ? reached.height : s->lowest;
  s->passes_left -= 1;
  return bring_forward(s, s->lowest - 1);
}

stow_status stowi_place_local_search_play(void* state, bool* out_idle) {
  search* s = state;
  s->quest->phase = "local search";
  bool is_first = s->quest->height == UINT64_MAX;
  while ((is_first || !stowi_place_quest_turn_over(s->quest)) && !*out_idle) {
    is_first = false;
    while (s->passes_left == 0) {
      STOW_TRY(begin_run(s));
    }
    STOW_TRY(take_pass(s));
    *out_idle = s->idle > IDLE_SHARE * (uint64_t)s->count;
  }
  return STOW_OK;
}

stow_status stowi_place_local_search_create(stowi_place_quest* quest,
                                            stowi_place_local_search** out_search) {
  search* s = STOWI_NEW(quest->allocator, search);
  *out_search = s;
  STOW_TRY(stowi_need_memory(s != NULL, quest->diag));
  s->quest = quest;
  s->orders.quest = quest;
  s->random = STOWI_HASH_SEED;
  stow_status status = prepare(s);
  if (status != STOW_OK) {
    stowi_place_local_search_destroy(s);
    *out_search = NULL;
  }
  return status;
}

stow_status stowi_place_local_search_work(stowi_place_quest* quest) {
  stowi_place_local_search* s = NULL;
  bool is_idle = false;
  STOW_TRY(stowi_place_local_search_create(quest, &s));
  stow_status status = stowi_place_local_search_play(s, &is_idle);
  stowi_place_local_search_destroy(s);
  return status;
}
