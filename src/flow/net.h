// A flow in the form that the searches walk: precedence and costs in flat arrays.
// This also defines the memory model. Let X be the set of tasks that ran. A block *exists* after X
// if it has been made (or has no maker) and stays to the end or has a reader outside X. It is
// *covered* while the block it is part of exists or is covered. bytes(X) is the sum over the blocks
// that exist and are not covered. While a task v runs, what existed before and what v makes exist
// together:
//     need(v, X) = bytes(X) + own(v) - credit(v, X)
// own(v) is the scratch plus what v makes, less the parts of what it makes: they exist, since v
// reads them, and are not covered, since a block is part of only one. credit(v, X) is what v makes
// in place of reads that die.
#ifndef STOWAGE_SRC_FLOW_NET_H_
#define STOWAGE_SRC_FLOW_NET_H_

#include "flow/flow.h"

// Lists of numbers, one after the other: those of i are data[first[i]] … data[first[i + 1] - 1].
typedef struct stowi_flow_lists {
  uint32_t* first;  // count + 1
  uint32_t* data;
  uint32_t count;
  uint32_t total;
} stowi_flow_lists;

typedef struct stowi_flow_span {
  const uint32_t* begin;
  const uint32_t* end;
} stowi_flow_span;

static inline stowi_flow_span stowi_flow_list(const stowi_flow_lists* lists, uint32_t i) {
  return (stowi_flow_span){lists->data + lists->first[i], lists->data + lists->first[i + 1]};
}

static inline uint32_t stowi_flow_list_size(const stowi_flow_lists* lists, uint32_t i) {
  return lists->first[i + 1] - lists->first[i];
}

// An entry of a list to be made.
typedef struct stowi_flow_entry {
  uint32_t list;
  uint32_t number;
} stowi_flow_entry;

// Makes lists of |entries|, each in their order. Free |lists| even after a failure.
stow_status stowi_flow_lists_open(stowi_flow_lists* lists, uint32_t count,
                                  const stowi_flow_entry* entries, size_t entry_count,
                                  stow_allocator allocator);
void stowi_flow_lists_free(stowi_flow_lists* lists, stow_allocator allocator);

#define STOWI_FLOW_TASK_MANY (UINT32_MAX - 1)

// A made block that may be in place of a block that is read.
typedef struct stowi_flow_in_place_pair {
  uint64_t bytes;
  stowi_flow_task task;
  stowi_flow_block made;
  stowi_flow_block read;
} stowi_flow_in_place_pair;

typedef struct stowi_flow_net {
  stow_allocator allocator;
  uint32_t task_count;
  uint32_t block_count;
  const stowi_flow_block_info* blocks;  // the flow's
  stowi_flow_lists makes;               // blocks of a task
  stowi_flow_lists reads;               // except what it makes and what is always there
  stowi_flow_lists before;              // tasks that must run before a task; each once, ascending
  stowi_flow_lists after;
  stowi_flow_lists readers;      // tasks of a block
  stowi_flow_block* first_part;  // of a block, or STOWI_FLOW_BLOCK_NONE
  stowi_flow_block* next_part;   // of the same whole
  uint64_t* own;
  uint64_t* credit;  // the most that a task's pairs can give
  stowi_flow_in_place_pair* pairs;
  uint32_t* first_in_place;  // of a task, most bytes first; task_count + 1
  size_t in_place_count;
  stowi_flow_task* in_place_task;  // the task that has pairs with a block it reads; none; or
                                   // STOWI_FLOW_TASK_MANY
  size_t pair_count;               // capacity of |pairs|
} stowi_flow_net;

// |flow| must outlive the net. Close it even after a failure.
stow_status stowi_flow_net_open(stowi_flow_net* net, const stowi_flow* flow,
                                stow_allocator allocator, stow_diag* diag);
void stowi_flow_net_close(stowi_flow_net* net);

// Replaces the precedence links: list is the task, number the task before it. |links| is used up.
stow_status stowi_flow_net_set_links(stowi_flow_net* net, stowi_flow_entry* links, size_t count);

#endif  // STOWAGE_SRC_FLOW_NET_H_
