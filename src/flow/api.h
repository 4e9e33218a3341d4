// Flows: tasks that make and read blocks of bytes, and the search for an order of the tasks in
// which few bytes exist at the same time. Knows nothing of graphs: whoever plans one describes it
// as a flow, as it describes lifetimes as a placement problem.
//
//     task 0 ──▶ [block a] ──▶ task 1 ──▶ [block b] ──▶ task 2
#ifndef STOWAGE_SRC_FLOW_API_H_
#define STOWAGE_SRC_FLOW_API_H_

#include <stowage/base.h>

// ---------------------------------------------------------------------------------------------
// Flows

typedef struct stowi_flow stowi_flow;
typedef uint32_t stowi_flow_task;
typedef uint32_t stowi_flow_block;
#define STOWI_FLOW_TASK_NONE UINT32_MAX
#define STOWI_FLOW_BLOCK_NONE UINT32_MAX

// A block exists from the task that makes it (from the start, where none does) until the last of
// the tasks that read it has run; at least while it is made.
typedef struct stowi_flow_block_desc {
  uint64_t bytes;
  bool to_end;  // it stays, whoever reads it
} stowi_flow_block_desc;
// No bytes, not kept.
void stowi_flow_block_desc_init(stowi_flow_block_desc* desc);

stow_status stowi_flow_create(stow_allocator allocator, stow_diag* diag, stowi_flow** out_flow);
void stowi_flow_destroy(stowi_flow* flow);
// Tasks and blocks are numbered from 0 in the order they are added; |out_task| and |out_block| may
// be NULL. The order of the tasks is the *given* one. |scratch|: bytes that exist while the task
// runs. STOW_ERR_OVERFLOW where all bytes together need more than 63 bits.
stow_status stowi_flow_add_task(stowi_flow* flow, uint64_t scratch, stow_diag* diag,
                                stowi_flow_task* out_task);
stow_status stowi_flow_add_block(stowi_flow* flow, const stowi_flow_block_desc* desc,
                                 stow_diag* diag, stowi_flow_block* out_block);
// At most one task makes a block. A task may read what it makes (that says nothing), and may read a
// block any number of times (that counts once). A reader runs after the maker.
// STOW_ERR_INVALID_ARGUMENT for what does not exist, a second maker, and where the given order
// would be wrong: a reader or follower must be added after what it needs.
stow_status stowi_flow_makes(stowi_flow* flow, stowi_flow_task task, stowi_flow_block block,
                             stow_diag* diag);
stow_status stowi_flow_reads(stowi_flow* flow, stowi_flow_task task, stowi_flow_block block,
                             stow_diag* diag);
// |task| runs after |earlier|.
stow_status stowi_flow_follows(stowi_flow* flow, stowi_flow_task task, stowi_flow_task earlier,
                               stow_diag* diag);
// |made|, made by |task|, may take the bytes of |read|, which |task| reads, where |task| is the
// last reader and |read| does not stay to the end: min(bytes of both) are then not needed twice
// while it runs. Of several such pairs of a task those with the most bytes are taken first (equal
// ones in the order of adding), each block once; none with a |read| that needs no bytes of its own,
// being part of what exists. That |task| makes the one and reads the other is said before.
stow_status stowi_flow_in_place(stowi_flow* flow, stowi_flow_task task, stowi_flow_block made,
                                stowi_flow_block read, stow_diag* diag);
// |part| lies inside |whole|: while |whole| exists, |part| needs no bytes of its own. The maker of
// |whole| reads |part|. A block is part of at most one, and may be a whole itself. The parts' bytes
// are together at most those of the whole. That the maker makes and reads them is said before; it
// does not make |part|.
stow_status stowi_flow_absorbs(stowi_flow* flow, stowi_flow_block whole, stowi_flow_block part,
                               stow_diag* diag);

uint32_t stowi_flow_task_count(const stowi_flow* flow);
uint32_t stowi_flow_block_count(const stowi_flow* flow);

// ---------------------------------------------------------------------------------------------
// Orders

// The highest number of bytes that exist while a task of |order| runs, and the first place in it
// where they do (|out_place| may be NULL). NULL: the given order. STOW_ERR_CONFLICT where the order
// is none.
stow_status stowi_flow_peak(const stowi_flow* flow, const stowi_flow_task* order,
                            stow_allocator allocator, stow_diag* diag, uint64_t* out_bytes,
                            uint32_t* out_place);

#define STOWI_FLOW_DEFAULT_NODES 1000000

typedef struct stowi_flow_order_progress {
  const char* phase;  // what it is doing, in a word or two
  uint64_t best;      // peak of the best order so far
  uint64_t bound;     // no order has a lower one
  uint64_t nodes;     // spent so far
} stowi_flow_order_progress;

typedef struct stowi_flow_order_options {
  // A peak that is good enough: the search ends there. 0: as low as can be.
  uint64_t enough;
  // How much the search may try: a node is one attempt to run one task next. The same budget gives
  // the same order on every machine.
  uint64_t nodes;
  // Called after each phase and each cell; false stops the search. May be NULL.
  bool (*on_progress)(void* user, const stowi_flow_order_progress* progress);
  void* user;
} stowi_flow_order_options;
void stowi_flow_order_options_init(stowi_flow_order_options* options);

typedef struct stowi_flow_order_result {
  uint64_t peak;   // of the order found; never above that of the given one
  uint64_t bound;  // proven: no order has a lower peak. The order is optimal where they are equal
  stowi_flow_task critical;  // a task at which every order needs |bound| bytes, or
                             // STOWI_FLOW_TASK_NONE where only a search knows
  uint64_t nodes;            // spent
  bool changed;              // the order is not the given one
  bool stopped;              // by the callback
} stowi_flow_order_result;

// Finds an order of all tasks with a low peak and writes it to |out_order|, one entry per task. The
// given order is kept where none is better.
stow_status stowi_flow_order(const stowi_flow* flow, const stowi_flow_order_options* options,
                             stow_allocator allocator, stow_diag* diag, stowi_flow_task* out_order,
                             stowi_flow_order_result* out_result);
// A bound alone, without a search: what every order needs at some task. |out_critical| may be NULL.
stow_status stowi_flow_bound(const stowi_flow* flow, stow_allocator allocator, stow_diag* diag,
                             uint64_t* out_bytes, stowi_flow_task* out_critical);

#endif  // STOWAGE_SRC_FLOW_API_H_
