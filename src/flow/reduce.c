// Late tasks. A task A that makes something out of nothing, or of what lives on anyway (a constant,
// a cast of a weight, a mask), may run at any time before the task B that reads it: such tasks
// are parallel to all others, and no cell is left. It is best run just before B. Groups are formed:
//
//     A2 ─▶ A1 ─▶ B      in this order, and what any of them waits for is before the first
//
// A joins the group G of B, as its new first task, where
//   1. all tasks that wait for A are in G;
//   2. A has nothing to do with parts;
//   3. what A leaves is at least what it may free: the bytes of its reads that are not *held*, by
//      staying to the end or by a reader in G. Let grows = leaves - frees, then, ≥ 0;
//   4. own(A) ≤ grows + own(g) - credit(g) for a task g of G.
//
// Proof that a best order is left, and one in which the tasks of each group stand side by side.
// Take such an order of the links so far; A is alone in its group, and runs before the first of G,
// by 1 and the links. Move A to just before that. Let Y be a set between the old place and the new
// one, without A, and w the task that runs after it.
// - need(w, Y) ≤ need(w, Y + A). A leaves what it leaves, and frees none of its reads that are held
//   (a task of G did not run) or that w reads: bytes(Y + A) - bytes(Y) is, by 3, at least the bytes
//   of those that w reads and that are not held. The credit of w is lower by no more than these:
//   only they may die with w after Y + A and not after Y, and a dying read more gives at most its
//   own bytes (its pair at most that; the read it displaces takes no better pair than before).
// - At its new place, after Y, A needs at most bytes(Y) + own(A). In the order before, g needed at
//   least bytes(Y) + grows + own(g) - credit(g): the tasks of G before g grow too, by 3, but for
//   its last, which is before none. By 4 that is no less.
//
// Tasks are tried from the last to the first, so that chains of them join one after the other.
#include "flow/search.h"

typedef struct group {
  stowi_flow_task first;
  int64_t cover;  // the highest own(g) - credit(g); below 0 where pairs save what parts have given
} group;

typedef struct reducer {
  stowi_flow_net* net;
  stowi_flow_task* last;  // the last task of a task's group: its name
  group* groups;          // by name
  stowi_flow_task* next;  // in the group
  bool changed;
} reducer;

// The group that contains all tasks waiting for |task|, or STOWI_FLOW_TASK_NONE.
static stowi_flow_task group_after(const reducer* r, stowi_flow_task task) {
  stowi_flow_span after = stowi_flow_list(&r->net->after, task);
  stowi_flow_task name = after.begin < after.end ? r->last[*after.begin] : STOWI_FLOW_TASK_NONE;
  for (const uint32_t* t = after.begin; t < after.end; ++t) {
    if (r->last[*t] != name) {
      return STOWI_FLOW_TASK_NONE;
    }
  }
  return name;
}

static bool has_parts(const stowi_flow_net* net, stowi_flow_span blocks) {
  for (const uint32_t* b = blocks.begin; b < blocks.end; ++b) {
    if (net->blocks[*b].whole != STOWI_FLOW_BLOCK_NONE ||
        net->first_part[*b] != STOWI_FLOW_BLOCK_NONE) {
      return true;
    }
  }
  return false;
}

// A block with thousands of readers would be scanned by each of them. If its reader in G is not
// among the first, it counts as not held, which is safe: conditions 3 and 4 then demand more.
#define MAX_READERS_ASKED 64

static bool is_held(const reducer* r, stowi_flow_block block, stowi_flow_task name) {
  stowi_flow_span readers = stowi_flow_list(&r->net->readers, block);
  bool held = r->net->blocks[block].to_end;
  if (readers.end - readers.begin > MAX_READERS_ASKED) {
    readers.end = readers.begin + MAX_READERS_ASKED;
  }
  for (const uint32_t* t = readers.begin; t < readers.end && !held; ++t) {
    held = r->last[*t] == name;
  }
  return held;
}

// The bytes that |task| may free.
static uint64_t sum_frees(const reducer* r, stowi_flow_task task, stowi_flow_task name) {
  stowi_flow_span reads = stowi_flow_list(&r->net->reads, task);
  uint64_t frees = 0;
  for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
    frees += is_held(r, *b, name) ? 0 : r->net->blocks[*b].bytes;
  }
  return frees;
}

static uint64_t sum_leaves(const stowi_flow_net* net, stowi_flow_task task) {
  stowi_flow_span makes = stowi_flow_list(&net->makes, task);
  uint64_t leaves = 0;
  for (const uint32_t* b = makes.begin; b < makes.end; ++b) {
    bool stays = net->blocks[*b].to_end || stowi_flow_list_size(&net->readers, *b) > 0;
    leaves += stays ? net->blocks[*b].bytes : 0;
  }
  return leaves;
}

static int64_t cover_of(const stowi_flow_net* net, stowi_flow_task task) {
  return (int64_t)net->own[task] - (int64_t)net->credit[task];
}

static bool may_join(const reducer* r, stowi_flow_task task, stowi_flow_task name) {
  const stowi_flow_net* net = r->net;
  if (has_parts(net, stowi_flow_list(&net->makes, task)) ||
      has_parts(net, stowi_flow_list(&net->reads, task))) {
    return false;
  }
  uint64_t frees = sum_frees(r, task, name);
  uint64_t leaves = sum_leaves(net, task);
  // No sum of bytes reaches 2^63.
  return leaves >= frees &&
         (int64_t)net->own[task] <= (int64_t)(leaves - frees) + r->groups[name].cover;
}

static void join(reducer* r, stowi_flow_task task, stowi_flow_task name) {
  group* g = &r->groups[name];
  int64_t cover = cover_of(r->net, task);
  r->last[task] = name;
  r->next[task] = g->first;
  g->first = task;
  g->cover = cover > g->cover ? cover : g->cover;
  r->changed = true;
}

// A group is placed where its last task was: what one of its tasks waits for was before that, and
// is the last of its own group, since no task outside a group waits for any other task of it.
static void write_order(const reducer* r, stowi_flow_task* order) {
  uint32_t at = 0;
  for (uint32_t t = 0; t < r->net->task_count; ++t) {
    for (stowi_flow_task g = r->groups[t].first; r->last[t] == t && g != STOWI_FLOW_TASK_NONE;
         g = r->next[g]) {
      order[at++] = g;
    }
  }
}

// The old links, those between consecutive tasks of a group, and those to its first task.
static stow_status add_links(const reducer* r) {
  stowi_flow_net* net = r->net;
  size_t most = 2 * (size_t)net->before.total + net->task_count;
  if (most > UINT32_MAX) {
    return STOW_OK;
  }
  stowi_flow_entry* links = STOWI_ARRAY(net->allocator, stowi_flow_entry, most);
  if (links == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  size_t count = 0;
  for (uint32_t t = 0; t < net->task_count; ++t) {
    stowi_flow_task first = r->groups[r->last[t]].first;
    stowi_flow_span before = stowi_flow_list(&net->before, t);
    for (const uint32_t* b = before.begin; b < before.end; ++b) {
      links[count++] = (stowi_flow_entry){t, *b};
      if (t != first && r->last[*b] != r->last[t]) {
        links[count++] = (stowi_flow_entry){first, *b};
      }
    }
    if (r->next[t] != STOWI_FLOW_TASK_NONE) {
      links[count++] = (stowi_flow_entry){r->next[t], t};
    }
  }
  stow_status status = stowi_flow_net_set_links(net, links, count);
  STOWI_ARRAY_FREE(net->allocator, links, most);
  return status;
}

stow_status stowi_flow_reduce(stowi_flow_net* net, stowi_flow_task* out_order, bool* out_changed) {
  stow_allocator a = net->allocator;
  size_t n = net->task_count;
  reducer r = {.net = net,
               .last = STOWI_ARRAY(a, stowi_flow_task, n),
               .groups = STOWI_ARRAY(a, group, n),
               .next = STOWI_ARRAY(a, stowi_flow_task, n)};
  stow_status status = STOW_ERR_OUT_OF_MEMORY;
  if (r.last != NULL && r.groups != NULL && r.next != NULL) {
    for (uint32_t t = 0; t < r.net->task_count; ++t) {
      r.last[t] = t;
      r.next[t] = STOWI_FLOW_TASK_NONE;
      r.groups[t] = (group){t, cover_of(r.net, t)};
    }
    for (uint32_t t = r.net->task_count; t-- > 0;) {
      stowi_flow_task name = group_after(&r, t);
      if (name != STOWI_FLOW_TASK_NONE && may_join(&r, t, name)) {
        join(&r, t, name);
      }
    }
    write_order(&r, out_order);
    status = r.changed ? add_links(&r) : STOW_OK;
  }
  *out_changed = r.changed;
  STOWI_ARRAY_FREE(a, r.last, n);
  STOWI_ARRAY_FREE(a, r.groups, n);
  STOWI_ARRAY_FREE(a, r.next, n);
  return status;
}
