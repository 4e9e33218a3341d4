// Sets are bits, found by a hash of their tasks and compared in full. The state follows by running
// and taking back what differs between two sets: neighbours differ in little.
//
// The safe step. Let v be possible after X, need(v, X) ≤ level and bytes(X + v) ≤ bytes(X). Then
// some best way from X, among those that may reach |level| anyway, begins with v. Proof: take any
// way and move v to its front. Let Y be a set on it, between X and v's old place.
// - bytes(Y + v) ≤ bytes(Y). For growth(v, Y) = bytes(Y + v) - bytes(Y) does not rise with Y. What
//   is made by v, less the parts of that, is constant. A read that dies with v after X also does
//   after Y; its whole, if any, was made before (the maker reads it) and, where it is gone, stays
//   gone, so that the read counts at Y what it counted at X, or more. A read that dies after Y only
//   gives its bytes or, where it is covered, nothing; parts that it covered take back at most its
//   bytes, and fewer of them live on after Y than after X.
// - need(w, Y + v) ≤ need(w, Y) for a task w between. Its own bytes are constant. Its credit does
//   not fall: a read that dies with w after Y does so after Y + v, and a dying read that is not
//   covered cannot become so; more dying reads never give less credit (net.c).
//
// A safe chain. The same holds for tasks v1 … vk, each waiting for the one before it, that need no
// more than |level| one after the other and end at bytes that are not above those at X nor at any
// point between: then some best way begins with v1. For let Y hold the first j of them. What the
// others add to Y is at most what they add to X + v1 … vj, as above, and that is not above 0. In a
// chain there are no other sets to compare with.
//
// Backwards: let v be possible as the last of X, need(v, X - v) ≤ level, bytes(X - v) ≤ bytes(X),
// let no other task have a pair with a block that v reads, and let none of these have parts. Then
// some best way to X ends with v. For move v from its old place to the end. A set Y between lies
// within X - v, so that growth(v, Y) ≥ growth(v, X - v) ≥ 0 and bytes(Y) ≤ bytes(Y + v). The credit
// of w between does not fall: v is no reader that has to run before one of its reads can die, and
// uncovers none of them, since it ends no block that has parts. Chains likewise.
#include "flow/walk.h"

#include <string.h>

#include "base/bits.h"
#include "base/diag.h"

#define WORD_BITS 64
#define MAX_CHAIN 16  // length of the lookahead

// ---------------------------------------------------------------------------------------------
// Opening and closing

stow_status stowi_flow_walk_open(stowi_flow_walk* walk, stowi_flow_state* state,
                                 stowi_flow_stretch stretch, bool backwards, size_t max_bytes) {
  stow_allocator allocator = state->net->allocator;
  memset(walk, 0, sizeof(*walk));
  walk->state = state;
  walk->allocator = allocator;
  walk->stretch = stretch;
  walk->backwards = backwards;
  walk->words = (size_t)stretch.count / WORD_BITS + 1;
  walk->max_sets = max_bytes / (walk->words * sizeof(uint64_t) + 2 * sizeof(stowi_flow_set));
  walk->max_sets = walk->max_sets < UINT32_MAX - 1 ? walk->max_sets : UINT32_MAX - 1;
  walk->here = STOWI_ARRAY_ZERO(allocator, uint64_t, walk->words);
  walk->next = STOWI_ARRAY_ZERO(allocator, uint64_t, walk->words);
  walk->steps = STOWI_ARRAY(allocator, stowi_flow_step, stretch.count);
  walk->order = STOWI_ARRAY(allocator, stowi_flow_task, stretch.count);
  if (walk->here == NULL || walk->next == NULL || walk->steps == NULL || walk->order == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  state->walk += 1;
  for (uint32_t i = 0; i < stretch.count; ++i) {
    state->owner[stretch.tasks[i]] = state->walk;
  }
  if (backwards) {
    for (uint32_t i = 0; i < walk->stretch.count; ++i) {
      stowi_flow_state_run(walk->state, walk->stretch.tasks[i]);
    }
  }
  walk->is_open = true;
  STOW_TRY(STOWI_VEC_RESERVE(walk->allocator, &walk->sets, 1));
  STOW_TRY(STOWI_VEC_RESERVE(walk->allocator, &walk->bits, walk->words));
  STOW_TRY(stowi_index_reserve(&walk->index, walk->allocator));
  memset(walk->bits.data, 0, walk->words * sizeof(uint64_t));
  walk->bits.count = walk->words;
  walk->sets.data[walk->sets.count++] = (stowi_flow_set){
      .bytes = walk->state->bytes, .from = STOWI_INDEX_NONE, .step = STOWI_INDEX_NONE};
  stowi_index_insert(&walk->index, 0, 0);
  return STOW_OK;
}

void stowi_flow_walk_close(stowi_flow_walk* walk) {
  stow_allocator a = walk->allocator;
  if (walk->state == NULL) {
    return;
  }
  if (walk->sets.count > 0) {
    stowi_flow_walk_go(walk, 0);
  }
  if (walk->backwards && walk->is_open) {
    for (uint32_t i = walk->stretch.count; i-- > 0;) {
      stowi_flow_state_take_back(walk->state, walk->stretch.tasks[i]);
    }
  }
  if (walk->has_order) {
    memcpy(walk->stretch.tasks, walk->order, walk->stretch.count * sizeof(*walk->order));
  }
  STOWI_ARRAY_FREE(a, walk->here, walk->words);
  STOWI_ARRAY_FREE(a, walk->next, walk->words);
  STOWI_ARRAY_FREE(a, walk->steps, walk->stretch.count);
  STOWI_ARRAY_FREE(a, walk->order, walk->stretch.count);
  STOWI_VEC_FREE(a, &walk->bits);
  STOWI_VEC_FREE(a, &walk->sets);
  stowi_index_free(&walk->index, a);
  memset(walk, 0, sizeof(*walk));
}

// ---------------------------------------------------------------------------------------------
// Going

static const uint64_t* bits_of(const stowi_flow_walk* walk, uint32_t set) {
  return walk->bits.data + set * walk->words;
}

void stowi_flow_walk_go(stowi_flow_walk* walk, uint32_t set) {
  const uint64_t* bits = bits_of(walk, set);
  // In both directions the state runs tasks in the stretch's order and takes them back in reverse,
  // so that it is always at a valid set.
  for (size_t w = walk->words; w-- > 0;) {
    uint64_t mask = bits[w] & ~walk->here[w];
    mask = walk->backwards ? mask : walk->here[w] & ~bits[w];
    for (uint32_t bit = WORD_BITS; mask != 0 && bit-- > 0;) {
      if ((mask >> bit & 1) != 0) {
        stowi_flow_state_take_back(walk->state, walk->stretch.tasks[w * WORD_BITS + bit]);
        mask &= ~(UINT64_C(1) << bit);
      }
    }
  }
  for (size_t w = 0; w < walk->words; ++w) {
    uint64_t mask = walk->backwards ? walk->here[w] & ~bits[w] : bits[w] & ~walk->here[w];
    for (; mask != 0; mask &= mask - 1) {
      stowi_flow_state_run(walk->state,
                           walk->stretch.tasks[w * WORD_BITS + stowi_lowest_bit(mask)]);
    }
  }
  memcpy(walk->here, bits, walk->words * sizeof(uint64_t));
}

// ---------------------------------------------------------------------------------------------
// Steps

static bool is_possible(const stowi_flow_walk* walk, stowi_flow_task task) {
  return walk->backwards ? stowi_flow_state_is_last(walk->state, task)
                         : stowi_flow_state_is_ready(walk->state, task);
}

// Adds |task| to the set; returns its need.
static uint64_t step_on(stowi_flow_walk* walk, stowi_flow_task task) {
  if (walk->backwards) {
    stowi_flow_state_take_back(walk->state, task);
    return stowi_flow_state_need(walk->state, task);
  }
  uint64_t need = stowi_flow_state_need(walk->state, task);
  stowi_flow_state_run(walk->state, task);
  return need;
}

static void step_back(stowi_flow_walk* walk, stowi_flow_task task) {
  if (walk->backwards) {
    stowi_flow_state_run(walk->state, task);
  } else {
    stowi_flow_state_take_back(walk->state, task);
  }
}

static stowi_flow_step try_step(stowi_flow_walk* walk, uint32_t place) {
  stowi_flow_task task = walk->stretch.tasks[place];
  stowi_flow_step step = {.place = place};
  step.need = step_on(walk, task);
  step.bytes = walk->state->bytes;
  step_back(walk, task);
  walk->nodes += 1;
  return step;
}

// Whether no other task has a pair with what |task| reads or with parts of that.
static bool reads_alone(const stowi_flow_net* net, stowi_flow_task task) {
  stowi_flow_span reads = stowi_flow_list(&net->reads, task);
  for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
    bool is_alone =
        net->in_place_task[*b] == STOWI_FLOW_TASK_NONE || net->in_place_task[*b] == task;
    if (!is_alone || net->first_part[*b] != STOWI_FLOW_BLOCK_NONE) {
      return false;
    }
  }
  return true;
}

// Whether |task| can be moved past others without taking credit from them.
static bool is_free(const stowi_flow_walk* walk, stowi_flow_task task) {
  return !walk->backwards || reads_alone(walk->state->net, task);
}

static bool is_safe(const stowi_flow_walk* walk, const stowi_flow_step* step, uint64_t level) {
  return step->need <= level && step->bytes <= walk->state->bytes &&
         is_free(walk, walk->stretch.tasks[step->place]);
}

// Continues from |last|, which was just added, to the task waiting for it that leaves least.
static stowi_flow_task next_of_chain(stowi_flow_walk* walk, stowi_flow_task last, uint64_t level) {
  const stowi_flow_state* state = walk->state;
  stowi_flow_span after =
      stowi_flow_list(walk->backwards ? &state->net->before : &state->net->after, last);
  stowi_flow_task best = STOWI_FLOW_TASK_NONE;
  uint64_t least = UINT64_MAX;
  for (const uint32_t* t = after.begin; t < after.end; ++t) {
    if (state->owner[*t] != state->walk || !is_possible(walk, *t) || !is_free(walk, *t)) {
      continue;
    }
    uint64_t need = step_on(walk, *t);
    uint64_t bytes = state->bytes;
    step_back(walk, *t);
    walk->nodes += 1;
    if (need <= level && bytes < least) {
      least = bytes;
      best = *t;
    }
  }
  return best;
}

// Whether a safe chain begins with |step|. When the bytes first drop to those here or below, they
// are not above any in between.
static bool begins_safe_chain(stowi_flow_walk* walk, const stowi_flow_step* step, uint64_t level) {
  stowi_flow_task chain[MAX_CHAIN];
  uint32_t length = 0;
  uint64_t bytes = walk->state->bytes;
  stowi_flow_task task = walk->stretch.tasks[step->place];
  bool safe = false;
  if (step->need > level || !is_free(walk, task)) {
    return false;
  }
  while (task != STOWI_FLOW_TASK_NONE && length < MAX_CHAIN && !safe) {
    step_on(walk, task);
    chain[length++] = task;
    safe = walk->state->bytes <= bytes;
    task = safe ? task : next_of_chain(walk, task, level);
  }
  while (length > 0) {
    step_back(walk, chain[--length]);
  }
  return safe;
}

// All steps whose need is below |limit|, or a single safe one.
static uint32_t list_steps(stowi_flow_walk* walk, uint64_t level, uint64_t limit, bool* out_safe) {
  uint32_t count = 0;
  for (size_t w = 0; w < walk->words; ++w) {
    for (uint64_t mask = ~walk->here[w]; mask != 0; mask &= mask - 1) {
      size_t place = w * WORD_BITS + stowi_lowest_bit(mask);
      if (place >= walk->stretch.count) {
        break;
      }
      if (!is_possible(walk, walk->stretch.tasks[place])) {
        continue;
      }
      stowi_flow_step step = try_step(walk, (uint32_t)place);
      if (is_safe(walk, &step, level)) {
        walk->steps[0] = step;
        *out_safe = true;
        return 1;
      }
      if (step.need < limit) {
        walk->steps[count++] = step;
      }
    }
  }
  return count;
}

uint32_t stowi_flow_walk_steps(stowi_flow_walk* walk, uint64_t level, uint64_t limit) {
  bool safe = false;
  uint32_t count = list_steps(walk, level, limit, &safe);
  for (uint32_t i = 0; i < count && !safe && count > 1; ++i) {
    if (begins_safe_chain(walk, &walk->steps[i], level)) {
      walk->steps[0] = walk->steps[i];
      return 1;
    }
  }
  return count;
}

// ---------------------------------------------------------------------------------------------
// Reaching

static bool is_same(const void* context, uint32_t id, const void* key) {
  const stowi_flow_walk* walk = (const stowi_flow_walk*)context;
  return memcmp(bits_of(walk, id), key, walk->words * sizeof(uint64_t)) == 0;
}

static stow_status add(stowi_flow_walk* walk, stowi_flow_set set, uint32_t* out_set) {
  *out_set = STOWI_INDEX_NONE;
  if (walk->sets.count >= walk->max_sets) {
    return STOW_OK;
  }
  STOW_TRY(STOWI_VEC_RESERVE(walk->allocator, &walk->sets, 1));
  STOW_TRY(STOWI_VEC_RESERVE(walk->allocator, &walk->bits, walk->words));
  STOW_TRY(stowi_index_reserve(&walk->index, walk->allocator));
  memcpy(walk->bits.data + walk->bits.count, walk->next, walk->words * sizeof(uint64_t));
  walk->bits.count += walk->words;
  *out_set = (uint32_t)walk->sets.count;
  walk->sets.data[walk->sets.count++] = set;
  stowi_index_insert(&walk->index, set.hash, *out_set);
  return STOW_OK;
}

stow_status stowi_flow_walk_reach(stowi_flow_walk* walk, uint32_t set, const stowi_flow_step* step,
                                  uint64_t peak, uint32_t* out_set, bool* out_better) {
  const stowi_flow_set* from = &walk->sets.data[set];
  memcpy(walk->next, bits_of(walk, set), walk->words * sizeof(uint64_t));
  walk->next[step->place / WORD_BITS] |= UINT64_C(1) << step->place % WORD_BITS;
  stowi_flow_set to = {.peak = peak,
                       .bytes = step->bytes,
                       .hash = from->hash ^ stowi_hash_u64(STOWI_HASH_SEED, step->place),
                       .from = set,
                       .step = step->place,
                       .depth = from->depth + 1};
  *out_set = stowi_index_find(&walk->index, to.hash, is_same, walk, walk->next);
  if (*out_set == STOWI_INDEX_NONE) {
    *out_better = true;
    return add(walk, to, out_set);
  }
  stowi_flow_set* known = &walk->sets.data[*out_set];
  *out_better = !known->closed && peak < known->peak;
  if (*out_better) {
    *known = to;
  }
  return STOW_OK;
}

void stowi_flow_walk_order(stowi_flow_walk* walk, uint32_t set) {
  uint32_t count = walk->stretch.count;
  for (uint32_t i = 0; i < count; ++i) {
    stowi_flow_task task = walk->stretch.tasks[walk->sets.data[set].step];
    walk->order[walk->backwards ? i : count - 1 - i] = task;
    set = walk->sets.data[set].from;
  }
  walk->has_order = true;
}
