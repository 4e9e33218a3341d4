// List scheduling with a priority queue. A task's growth is the increase of bytes(X) when it is
// chosen. It changes while the task waits, mostly for the better: when another reader of its
// operands is chosen. The task is then queued again with its new key; an entry that is worse now
// than when it was queued goes back. So each read costs O(log n) once.
//
// Backwards, the sets are the same, from all tasks down to none: the same state serves, with tasks
// taken back instead of run. On graphs that first widen and then narrow (encoders and decoders,
// forward and backward passes), one direction finds what the other cannot.
#include "base/diag.h"
#include "flow/queue.h"
#include "flow/search.h"

#define MAX_ASIDE 8                      // entries that TIGHT looks at before it raises the peak
#define GROWTH_NONE (UINT64_C(1) << 63)  // no key: growths have either sign

typedef struct lister {
  stowi_flow_state* state;
  stowi_flow_pick pick;
  bool backwards;
  uint64_t peak;
  stowi_flow_queue queue;
  uint32_t* possible_at;  // the step at which a task became ready
  uint32_t step;
} lister;

// ---------------------------------------------------------------------------------------------
// Choosing

static stow_status push(lister* l, stowi_flow_queue_entry entry) {
  return stowi_flow_queue_push(&l->queue, l->state->net->allocator, entry);
}

static bool is_possible(const lister* l, stowi_flow_task task) {
  return l->backwards ? stowi_flow_state_is_last(l->state, task)
                      : stowi_flow_state_is_ready(l->state, task);
}

// The bytes that running |task| here needs, and the bytes that exist afterwards (backwards:
// beforehand).
static uint64_t try_task(lister* l, stowi_flow_task task, uint64_t* out_bytes) {
  uint64_t need;
  if (l->backwards) {
    stowi_flow_state_take_back(l->state, task);
    need = stowi_flow_state_need(l->state, task);
    *out_bytes = l->state->bytes;
    stowi_flow_state_run(l->state, task);
  } else {
    need = stowi_flow_state_need(l->state, task);
    *out_bytes = stowi_flow_state_bytes_after(l->state, task);
  }
  return need;
}

// Sorted by growth, then by need above what exists or by how long ago the task became ready, then
// by its place in the given order, counted from the end that is being built.
static stowi_flow_queue_entry entry_of(lister* l, stowi_flow_task task, uint64_t* out_need) {
  uint64_t bytes;
  *out_need = try_task(l, task, &bytes);
  uint64_t low = bytes < l->state->bytes ? bytes : l->state->bytes;
  bool by_age = l->pick == STOWI_FLOW_PICK_RECENT;
  return (stowi_flow_queue_entry){
      .first = GROWTH_NONE + bytes - l->state->bytes,
      .second = by_age ? UINT32_MAX - l->possible_at[task] : *out_need - low,
      .third = l->backwards ? UINT32_MAX - task : task,
      .id = task};
}

// The best valid entry; entries of chosen tasks are invalid.
static stow_status pop_right(lister* l, stowi_flow_queue_entry* out_entry, uint64_t* out_need,
                             bool* out_any) {
  *out_any = false;
  while (l->queue.count > 0) {
    stowi_flow_queue_entry e = stowi_flow_queue_pop(&l->queue);
    if (!is_possible(l, e.id)) {
      continue;
    }
    *out_entry = entry_of(l, e.id, out_need);
    if (!stowi_flow_queue_is_less(&e, out_entry)) {
      *out_any = true;
      return STOW_OK;
    }
    STOW_TRY(push(l, *out_entry));
  }
  return STOW_OK;
}

static stow_status choose(lister* l, stowi_flow_task* out_task, uint64_t* out_need) {
  stowi_flow_queue_entry aside[MAX_ASIDE];
  uint64_t needs[MAX_ASIDE];
  size_t count = 0;
  size_t best = 0;
  bool any;
  size_t most = l->pick == STOWI_FLOW_PICK_TIGHT ? MAX_ASIDE : 1;
  while (count < most) {
    STOW_TRY(pop_right(l, &aside[count], &needs[count], &any));
    if (!any) {
      break;
    }
    best = needs[count] < needs[best] ? count : best;
    count += 1;
    if (needs[count - 1] <= l->peak) {
      best = count - 1;
      break;
    }
  }
  *out_task = aside[best].id;
  *out_need = needs[best];
  for (size_t i = 0; i < count; ++i) {
    if (i != best) {
      STOW_TRY(push(l, aside[i]));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The pass

static stow_status push_if_possible(lister* l, stowi_flow_task task) {
  uint64_t need;
  return is_possible(l, task) ? push(l, entry_of(l, task, &need)) : STOW_OK;
}

// Queues what |task| made ready, and re-queues what it made better: the last remaining reader of a
// block or, backwards, all other readers, for which the block now exists anyway.
static stow_status push_news(lister* l, stowi_flow_task task) {
  const stowi_flow_net* net = l->state->net;
  stowi_flow_span next = stowi_flow_list(l->backwards ? &net->before : &net->after, task);
  for (const uint32_t* t = next.begin; t < next.end; ++t) {
    if (is_possible(l, *t)) {
      l->possible_at[*t] = l->step;
      STOW_TRY(push_if_possible(l, *t));
    }
  }
  stowi_flow_span reads = stowi_flow_list(&net->reads, task);
  for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
    if (l->state->left[*b] == 1) {
      stowi_flow_span readers = stowi_flow_list(&net->readers, *b);
      for (const uint32_t* t = readers.begin; t < readers.end; ++t) {
        STOW_TRY(push_if_possible(l, *t));
      }
    }
  }
  return STOW_OK;
}

static stow_status start(lister* l) {
  uint32_t count = l->state->net->task_count;
  for (uint32_t t = 0; l->backwards && t < count; ++t) {
    stowi_flow_state_run(l->state, t);  // in any order: only the set matters
  }
  for (uint32_t t = 0; t < count; ++t) {
    STOW_TRY(push_if_possible(l, t));
  }
  return STOW_OK;
}

static stow_status pass(lister* l, stowi_flow_task* order) {
  uint32_t count = l->state->net->task_count;
  STOW_TRY(start(l));
  for (l->step = 1; l->step <= count; ++l->step) {
    stowi_flow_task task;
    uint64_t need;
    STOW_TRY(choose(l, &task, &need));
    l->peak = need > l->peak ? need : l->peak;
    if (l->backwards) {
      stowi_flow_state_take_back(l->state, task);
      order[count - l->step] = task;
    } else {
      stowi_flow_state_run(l->state, task);
      order[l->step - 1] = task;
    }
    STOW_TRY(push_news(l, task));
  }
  return STOW_OK;
}

stow_status stowi_flow_list_order(stowi_flow_state* state, stowi_flow_pick pick, bool backwards,
                                  stowi_flow_task* out_order) {
  const stowi_flow_net* net = state->net;
  lister l = {.state = state, .pick = pick, .backwards = backwards};
  l.possible_at = STOWI_ARRAY_ZERO(net->allocator, uint32_t, net->task_count);
  stow_status status = l.possible_at == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK;
  if (status == STOW_OK) {
    stowi_flow_state_reset(state);
    status = pass(&l, out_order);
  }
  STOWI_VEC_FREE(net->allocator, &l.queue);
  STOWI_ARRAY_FREE(net->allocator, l.possible_at, net->task_count);
  return status;
}
