// Converts a flow into flat lists that are fast to walk, by counting sorts: O(size of the flow)
// except for sorting each task's pairs.
#include "flow/net.h"

#include <string.h>

#include "base/diag.h"
#include "base/sort.h"

// ---------------------------------------------------------------------------------------------
// Lists

stow_status stowi_flow_lists_open(stowi_flow_lists* lists, uint32_t count,
                                  const stowi_flow_entry* entries, size_t entry_count,
                                  stow_allocator allocator) {
  lists->count = count;
  lists->total = (uint32_t)entry_count;
  lists->first = STOWI_ARRAY_ZERO(allocator, uint32_t, (size_t)count + 2);
  lists->data = STOWI_ARRAY(allocator, uint32_t, entry_count);
  if (lists->first == NULL || lists->data == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  // Sizes stored two places further on become beginnings one place further on, which filling moves
  // to where they belong.
  for (size_t i = 0; i < entry_count; ++i) {
    lists->first[entries[i].list + 2] += 1;
  }
  for (uint32_t i = 2; i <= count; ++i) {
    lists->first[i + 1] += lists->first[i];
  }
  for (size_t i = 0; i < entry_count; ++i) {
    lists->data[lists->first[entries[i].list + 1]++] = entries[i].number;
  }
  return STOW_OK;
}

void stowi_flow_lists_free(stowi_flow_lists* lists, stow_allocator allocator) {
  STOWI_ARRAY_FREE(allocator, lists->first, (size_t)lists->count + 2);
  STOWI_ARRAY_FREE(allocator, lists->data, lists->total);
  memset(lists, 0, sizeof(*lists));
}

// ---------------------------------------------------------------------------------------------
// What tasks make and read

typedef STOWI_VEC(stowi_flow_entry) entry_vec;

// The caller has reserved room for every entry.
static void put(entry_vec* entries, uint32_t list, uint32_t number) {
  entries->data[entries->count++] = (stowi_flow_entry){list, number};
}

static void flip(entry_vec* entries) {
  for (size_t i = 0; i < entries->count; ++i) {
    entries->data[i] = (stowi_flow_entry){entries->data[i].number, entries->data[i].list};
  }
}

static stow_status open_makes(stowi_flow_net* net, entry_vec* entries) {
  entries->count = 0;
  for (uint32_t b = 0; b < net->block_count; ++b) {
    if (net->blocks[b].maker != STOWI_FLOW_TASK_NONE) {
      put(entries, net->blocks[b].maker, b);
    }
  }
  return stowi_flow_lists_open(&net->makes, net->task_count, entries->data, entries->count,
                               net->allocator);
}

// Blocks that exist from start to end do not distinguish orders.
static bool is_always_there(const stowi_flow_block_info* block) {
  return block->maker == STOWI_FLOW_TASK_NONE && block->to_end &&
         block->whole == STOWI_FLOW_BLOCK_NONE;
}

static stow_status open_reads(stowi_flow_net* net, const stowi_flow* flow, entry_vec* entries) {
  entries->count = 0;
  for (size_t i = 0; i < flow->reads.count; ++i) {
    stowi_flow_read read = flow->reads.data[i];
    const stowi_flow_block_info* block = &net->blocks[read.block];
    if (block->maker != read.task && !is_always_there(block)) {
      put(entries, read.task, read.block);
    }
  }
  STOW_TRY(stowi_flow_lists_open(&net->reads, net->task_count, entries->data, entries->count,
                                 net->allocator));
  flip(entries);
  return stowi_flow_lists_open(&net->readers, net->block_count, entries->data, entries->count,
                               net->allocator);
}

// ---------------------------------------------------------------------------------------------
// Precedence

// The entries of |from|, list by list, each list in its order.
static void list_entries(const stowi_flow_lists* from, entry_vec* entries) {
  entries->count = 0;
  for (uint32_t i = 0; i < from->count; ++i) {
    stowi_flow_span span = stowi_flow_list(from, i);
    for (const uint32_t* n = span.begin; n < span.end; ++n) {
      put(entries, i, *n);
    }
  }
}

// Drops duplicates from sorted entries.
static void drop_repeats(entry_vec* entries) {
  size_t kept = 0;
  for (size_t i = 0; i < entries->count; ++i) {
    stowi_flow_entry e = entries->data[i];
    if (kept == 0 || entries->data[kept - 1].list != e.list ||
        entries->data[kept - 1].number != e.number) {
      entries->data[kept++] = e;
    }
  }
  entries->count = kept;
}

// Two counting sorts put the entries in order: by number, then by list.
stow_status stowi_flow_net_set_links(stowi_flow_net* net, stowi_flow_entry* links, size_t count) {
  stowi_flow_lists after = {0};
  entry_vec entries = {links, count, count};
  flip(&entries);
  stow_status status = stowi_flow_lists_open(&after, net->task_count, links, count, net->allocator);
  if (status == STOW_OK) {
    list_entries(&after, &entries);
    flip(&entries);
    stowi_flow_lists before = {0};
    status = stowi_flow_lists_open(&before, net->task_count, links, count, net->allocator);
    if (status == STOW_OK) {
      list_entries(&before, &entries);
      drop_repeats(&entries);
    }
    stowi_flow_lists_free(&before, net->allocator);
  }
  stowi_flow_lists_free(&after, net->allocator);
  if (status != STOW_OK) {
    return status;
  }
  stowi_flow_lists_free(&net->before, net->allocator);
  stowi_flow_lists_free(&net->after, net->allocator);
  STOW_TRY(
      stowi_flow_lists_open(&net->before, net->task_count, links, entries.count, net->allocator));
  flip(&entries);
  return stowi_flow_lists_open(&net->after, net->task_count, links, entries.count, net->allocator);
}

static stow_status open_links(stowi_flow_net* net, const stowi_flow* flow, entry_vec* entries) {
  entries->count = 0;
  for (size_t i = 0; i < flow->links.count; ++i) {
    put(entries, flow->links.data[i].task, flow->links.data[i].earlier);
  }
  for (uint32_t t = 0; t < net->task_count; ++t) {
    stowi_flow_span reads = stowi_flow_list(&net->reads, t);
    for (const uint32_t* b = reads.begin; b < reads.end; ++b) {
      if (net->blocks[*b].maker != STOWI_FLOW_TASK_NONE) {
        put(entries, t, net->blocks[*b].maker);
      }
    }
  }
  return stowi_flow_net_set_links(net, entries->data, entries->count);
}

// ---------------------------------------------------------------------------------------------
// Costs

static void open_parts(stowi_flow_net* net) {
  for (uint32_t b = 0; b < net->block_count; ++b) {
    net->first_part[b] = net->next_part[b] = STOWI_FLOW_BLOCK_NONE;
  }
  for (uint32_t b = net->block_count; b-- > 0;) {
    stowi_flow_block whole = net->blocks[b].whole;
    if (whole != STOWI_FLOW_BLOCK_NONE) {
      net->next_part[b] = net->first_part[whole];
      net->first_part[whole] = b;
    }
  }
}

static void open_own(stowi_flow_net* net, const stowi_flow* flow) {
  for (uint32_t t = 0; t < net->task_count; ++t) {
    net->own[t] = flow->tasks.data[t];
  }
  for (uint32_t b = 0; b < net->block_count; ++b) {
    const stowi_flow_block_info* block = &net->blocks[b];
    if (block->maker != STOWI_FLOW_TASK_NONE) {
      net->own[block->maker] += block->bytes - block->part_bytes;
    }
  }
}

static int compare_pairs(const void* a, const void* b, const void* context) {
  (void)context;
  const stowi_flow_in_place_pair* x = (const stowi_flow_in_place_pair*)a;
  const stowi_flow_in_place_pair* y = (const stowi_flow_in_place_pair*)b;
  if (x->task != y->task) {
    return x->task < y->task ? -1 : 1;
  }
  return x->bytes > y->bytes ? -1 : x->bytes < y->bytes;
}

// Excludes pairs that can never give a byte: reads that stay, or that are parts of what is made.
static bool can_give(const stowi_flow_net* net, const stowi_flow_pair* pair) {
  const stowi_flow_block_info* read = &net->blocks[pair->read];
  bool inside =
      read->whole != STOWI_FLOW_BLOCK_NONE && net->blocks[read->whole].maker == pair->task;
  return !read->to_end && !inside && read->bytes > 0 && net->blocks[pair->made].bytes > 0;
}

static stow_status open_pairs(stowi_flow_net* net, const stowi_flow* flow) {
  for (uint32_t b = 0; b < net->block_count; ++b) {
    net->in_place_task[b] = STOWI_FLOW_TASK_NONE;
  }
  for (size_t i = 0; i < flow->pairs.count; ++i) {
    const stowi_flow_pair* pair = &flow->pairs.data[i];
    if (can_give(net, pair)) {
      uint64_t made = net->blocks[pair->made].bytes;
      uint64_t read = net->blocks[pair->read].bytes;
      net->pairs[net->in_place_count++] =
          (stowi_flow_in_place_pair){made < read ? made : read, pair->task, pair->made, pair->read};
    }
  }
  STOW_TRY(stowi_sort(net->pairs, net->in_place_count, sizeof(*net->pairs), compare_pairs, NULL,
                      net->allocator));
  for (size_t i = 0; i < net->in_place_count; ++i) {
    stowi_flow_task* task = &net->in_place_task[net->pairs[i].read];
    bool is_first = *task == STOWI_FLOW_TASK_NONE || *task == net->pairs[i].task;
    *task = is_first ? net->pairs[i].task : STOWI_FLOW_TASK_MANY;
  }
  uint32_t at = 0;
  for (uint32_t t = 0; t <= net->task_count; ++t) {
    net->first_in_place[t] = at;
    while (at < net->in_place_count && net->pairs[at].task == t) {
      at += 1;
    }
  }
  return STOW_OK;
}

// The pairs taken if every read dies with its task: no smaller set of dying reads gives more.
// Proof: let one more read die. The pair it takes frees at most one other read, which had less of
// the same made block and may take another pair, and so on.
static void open_credit(stowi_flow_net* net, uint32_t* used) {
  for (uint32_t t = 0; t < net->task_count; ++t) {
    net->credit[t] = 0;
    for (uint32_t i = net->first_in_place[t]; i < net->first_in_place[t + 1]; ++i) {
      const stowi_flow_in_place_pair* pair = &net->pairs[i];
      if (used[pair->made] != t + 1 && used[pair->read] != t + 1) {
        net->credit[t] += pair->bytes;
        used[pair->made] = used[pair->read] = t + 1;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Entry point

static stow_status allocate(stowi_flow_net* net, const stowi_flow* flow, entry_vec* entries) {
  stow_allocator a = net->allocator;
  net->first_part = STOWI_ARRAY(a, stowi_flow_block, net->block_count);
  net->next_part = STOWI_ARRAY(a, stowi_flow_block, net->block_count);
  net->own = STOWI_ARRAY(a, uint64_t, net->task_count);
  net->credit = STOWI_ARRAY(a, uint64_t, net->task_count);
  net->pair_count = flow->pairs.count;
  net->pairs = STOWI_ARRAY(a, stowi_flow_in_place_pair, net->pair_count);
  net->in_place_task = STOWI_ARRAY(a, stowi_flow_task, net->block_count);
  net->first_in_place = STOWI_ARRAY(a, uint32_t, (size_t)net->task_count + 1);
  if (net->first_part == NULL || net->next_part == NULL || net->own == NULL ||
      net->credit == NULL || net->pairs == NULL || net->first_in_place == NULL ||
      net->in_place_task == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  return STOWI_VEC_RESERVE(a, entries, flow->links.count + flow->reads.count + net->block_count);
}

static stow_status fill(stowi_flow_net* net, const stowi_flow* flow, entry_vec* entries) {
  STOW_TRY(allocate(net, flow, entries));
  STOW_TRY(open_makes(net, entries));
  STOW_TRY(open_reads(net, flow, entries));
  STOW_TRY(open_links(net, flow, entries));
  open_parts(net);
  open_own(net, flow);
  STOW_TRY(open_pairs(net, flow));
  uint32_t* used = STOWI_ARRAY_ZERO(net->allocator, uint32_t, net->block_count);
  if (used == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  open_credit(net, used);
  STOWI_ARRAY_FREE(net->allocator, used, net->block_count);
  return STOW_OK;
}

stow_status stowi_flow_net_open(stowi_flow_net* net, const stowi_flow* flow,
                                stow_allocator allocator, stow_diag* diag) {
  memset(net, 0, sizeof(*net));
  net->allocator = allocator;
  net->task_count = (uint32_t)flow->tasks.count;
  net->block_count = (uint32_t)flow->blocks.count;
  net->blocks = flow->blocks.data;
  if (flow->links.count + flow->reads.count > UINT32_MAX) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "the flow has too many reads and links");
  }
  entry_vec entries = {0};
  stow_status status = fill(net, flow, &entries);
  STOWI_VEC_FREE(allocator, &entries);
  return status == STOW_OK ? STOW_OK : stowi_fail_memory(diag);
}

void stowi_flow_net_close(stowi_flow_net* net) {
  stow_allocator a = net->allocator;
  if (a.reallocate == NULL) {
    return;
  }
  stowi_flow_lists_free(&net->makes, a);
  stowi_flow_lists_free(&net->reads, a);
  stowi_flow_lists_free(&net->before, a);
  stowi_flow_lists_free(&net->after, a);
  stowi_flow_lists_free(&net->readers, a);
  STOWI_ARRAY_FREE(a, net->first_part, net->block_count);
  STOWI_ARRAY_FREE(a, net->next_part, net->block_count);
  STOWI_ARRAY_FREE(a, net->own, net->task_count);
  STOWI_ARRAY_FREE(a, net->credit, net->task_count);
  STOWI_ARRAY_FREE(a, net->pairs, net->pair_count);
  STOWI_ARRAY_FREE(a, net->in_place_task, net->block_count);
  STOWI_ARRAY_FREE(a, net->first_in_place, (size_t)net->task_count + 1);
  memset(net, 0, sizeof(*net));
}
