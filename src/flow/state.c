// Counts, per block, the readers that have not run. A block begins to exist when its maker runs and
// ceases when its count reaches 0. Both depend on the set alone, not on the order: that is why
// tasks can be taken back in a different order than they ran in.
//
// Covering walks down the tree of parts, but not below blocks that exist: those cover their parts
// themselves. A part is covered once and uncovered once on any path from nothing to all, so the
// walks of an order are linear in total.
#include "flow/state.h"

#include <string.h>

#include "base/diag.h"

stow_status stowi_flow_state_open(stowi_flow_state* state, const stowi_flow_net* net,
                                  stow_diag* diag) {
  memset(state, 0, sizeof(*state));
  stow_allocator a = net->allocator;
  state->net = net;
  state->left = STOWI_ARRAY(a, uint32_t, net->block_count);
  state->waits = STOWI_ARRAY(a, uint32_t, net->task_count);
  state->followed = STOWI_ARRAY(a, uint32_t, net->task_count);
  state->ran = STOWI_ARRAY(a, bool, net->task_count);
  state->exists = STOWI_ARRAY(a, bool, net->block_count);
  state->covered = STOWI_ARRAY(a, bool, net->block_count);
  state->owner = STOWI_ARRAY_ZERO(a, uint32_t, net->task_count);
  state->used = STOWI_ARRAY_ZERO(a, uint64_t, net->block_count);
  STOW_TRY(stowi_need_memory(state->left != NULL && state->waits != NULL &&
                                 state->followed != NULL && state->ran != NULL &&
                                 state->exists != NULL && state->covered != NULL &&
                                 state->used != NULL && state->owner != NULL,
                             diag));
  stowi_flow_state_reset(state);
  return STOW_OK;
}

void stowi_flow_state_close(stowi_flow_state* state) {
  const stowi_flow_net* net = state->net;
  if (net == NULL) {
    return;
  }
  stow_allocator a = net->allocator;
  STOWI_ARRAY_FREE(a, state->left, net->block_count);
  STOWI_ARRAY_FREE(a, state->waits, net->task_count);
  STOWI_ARRAY_FREE(a, state->followed, net->task_count);
  STOWI_ARRAY_FREE(a, state->ran, net->task_count);
  STOWI_ARRAY_FREE(a, state->exists, net->block_count);
  STOWI_ARRAY_FREE(a, state->covered, net->block_count);
  STOWI_ARRAY_FREE(a, state->owner, net->task_count);
  STOWI_ARRAY_FREE(a, state->used, net->block_count);
  state->net = NULL;
}

static bool is_wanted(const stowi_flow_state* state, stowi_flow_block block) {
  return state->net->blocks[block].to_end || state->left[block] > 0;
}

void stowi_flow_state_reset(stowi_flow_state* state) {
  const stowi_flow_net* net = state->net;
  state->bytes = 0;
  for (uint32_t t = 0; t < net->task_count; ++t) {
    state->ran[t] = false;
    state->waits[t] = stowi_flow_list_size(&net->before, t);
    state->followed[t] = 0;
  }
  for (uint32_t b = 0; b < net->block_count; ++b) {
    state->left[b] = stowi_flow_list_size(&net->readers, b);
    state->covered[b] = false;
    state->exists[b] = net->blocks[b].maker == STOWI_FLOW_TASK_NONE && is_wanted(state, b);
    state->bytes += state->exists[b] ? net->blocks[b].bytes : 0;
  }
}

// The next block of the walk over all parts of |top|, after |at|; below |at| only if |down|.
static stowi_flow_block next_part(const stowi_flow_net* net, stowi_flow_block top,
                                  stowi_flow_block at, bool down) {
  if (down && net->first_part[at] != STOWI_FLOW_BLOCK_NONE) {
    return net->first_part[at];
  }
  while (at != top && net->next_part[at] == STOWI_FLOW_BLOCK_NONE) {
    at = net->blocks[at].whole;
  }
  return at == top ? STOWI_FLOW_BLOCK_NONE : net->next_part[at];
}

// |block|, which is not covered, starts or stops covering its parts.
static void cover_parts(stowi_flow_state* state, stowi_flow_block block, bool covered) {
  const stowi_flow_net* net = state->net;
  stowi_flow_block at = next_part(net, block, block, true);
  while (at != STOWI_FLOW_BLOCK_NONE) {
    state->covered[at] = covered;
    if (state->exists[at]) {
      uint64_t bytes = net->blocks[at].bytes;
      state->bytes = covered ? state->bytes - bytes : state->bytes + bytes;
    }
    at = next_part(net, block, at, !state->exists[at]);
  }
}

static void set_exists(stowi_flow_state* state, stowi_flow_block block, bool exists) {
  if (state->exists[block] == exists) {
    return;
  }
  state->exists[block] = exists;
  if (state->covered[block]) {
    return;
  }
  uint64_t bytes = state->net->blocks[block].bytes;
  state->bytes = exists ? state->bytes + bytes : state->bytes - bytes;
  if (state->net->first_part[block] != STOWI_FLOW_BLOCK_NONE) {
    cover_parts(state, block, exists);
  }
}

void stowi_flow_state_run(stowi_flow_state* state, stowi_flow_task task) {
  const stowi_flow_net* net = state->net;
  state->ran[task] = true;
  stowi_flow_span makes = stowi_flow_list(&net->makes, task);
  for (const uint32_t* b = makes.begin; b < makes.end; ++b) {
    set_exists(state, *b, is_wanted(state, *b));
  }
  stowi_flow_span reads = stowi_flow_list(&net->reads, task);
  for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
    state->left[*b] -= 1;
    set_exists(state, *b, is_wanted(state, *b));
  }
  stowi_flow_span after = stowi_flow_list(&net->after, task);
  for (const uint32_t* t = after.begin; t < after.end; ++t) {
    state->waits[*t] -= 1;
  }
  stowi_flow_span before = stowi_flow_list(&net->before, task);
  for (const uint32_t* t = before.begin; t < before.end; ++t) {
    state->followed[*t] += 1;
  }
}

void stowi_flow_state_take_back(stowi_flow_state* state, stowi_flow_task task) {
  const stowi_flow_net* net = state->net;
  state->ran[task] = false;
  stowi_flow_span reads = stowi_flow_list(&net->reads, task);
  for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
    state->left[*b] += 1;
    set_exists(state, *b, true);
  }
  stowi_flow_span makes = stowi_flow_list(&net->makes, task);
  for (const uint32_t* b = makes.begin; b < makes.end; ++b) {
    set_exists(state, *b, false);
  }
  stowi_flow_span after = stowi_flow_list(&net->after, task);
  for (const uint32_t* t = after.begin; t < after.end; ++t) {
    state->waits[*t] += 1;
  }
  stowi_flow_span before = stowi_flow_list(&net->before, task);
  for (const uint32_t* t = before.begin; t < before.end; ++t) {
    state->followed[*t] -= 1;
  }
}

// The bytes that the pairs of |task| save. Pairs whose made block has the read one as a part are
// not in the net.
static uint64_t credit(stowi_flow_state* state, stowi_flow_task task) {
  const stowi_flow_net* net = state->net;
  uint64_t saved = 0;
  state->question += 1;
  for (uint32_t i = net->first_in_place[task]; i < net->first_in_place[task + 1]; ++i) {
    const stowi_flow_in_place_pair* pair = &net->pairs[i];
    if (state->left[pair->read] == 1 && !state->covered[pair->read] &&
        state->used[pair->read] != state->question && state->used[pair->made] != state->question) {
      saved += pair->bytes;
      state->used[pair->read] = state->used[pair->made] = state->question;
    }
  }
  return saved;
}

uint64_t stowi_flow_state_need(stowi_flow_state* state, stowi_flow_task task) {
  uint64_t all = state->bytes + state->net->own[task];
  return state->net->credit[task] == 0 ? all : all - credit(state, task);
}

uint64_t stowi_flow_state_bytes_after(stowi_flow_state* state, stowi_flow_task task) {
  stowi_flow_state_run(state, task);
  uint64_t bytes = state->bytes;
  stowi_flow_state_take_back(state, task);
  return bytes;
}
