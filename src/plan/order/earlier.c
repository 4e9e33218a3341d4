// The order of an earlier plan, for a graph that has changed a little. Values that have kept their
// names are computed in the order of then, each after whatever it needs that is not computed yet.
// Of the others, such as views and results in place in a plan as CSV, and new values, nothing is
// known: they are computed either as late or as early as possible, whichever the caller finds
// better. O(n log n).
#include "base/alloc.h"
#include "base/diag.h"
#include "base/sort.h"
#include "plan/order/order.h"
#include "plan/start_rows.h"

#define UNKNOWN UINT64_MAX

typedef struct record {
  uint64_t step;
  stow_node node;
} record;

typedef struct open_node {
  stow_node node;
  size_t next;  // operand
} open_node;

typedef struct follower {
  const stow_graph* graph;
  uint32_t count;      // of nodes
  bool is_eager;       // nodes of unknown steps run as early as they can
  uint64_t* steps;     // by node: in the earlier plan
  record* records;     // those with a step
  open_node* stack;    // each node is open once at most
  bool* is_listed;     // by node: opened, so that it is in the order or will be
  uint32_t* pending;   // by node: operands that are not computed yet
  size_t* first_user;  // by node, and one more: in |users|
  stow_node* users;
  stow_node* order;
  uint32_t listed;
  uint32_t released;  // those of the order whose users know
} follower;

static stow_node producer_of(const stow_graph* graph, stow_value value) {
  return value == STOW_VALUE_NONE ? STOW_NODE_NONE : stow_graph_producer(graph, value);
}

// ---------------------------------------------------------------------------------------------
// What is known

// A concat may have been there before its node ran: from its first operand on, if that was computed
// inside it.
static bool has_step(const stow_graph* graph, stow_value value) {
  return !stow_graph_is_boundary(graph, value) &&
         stow_graph_op(graph, stow_graph_producer(graph, value)) != STOW_OP_CONCAT;
}

static void find_steps(follower* f, const stow_start* start) {
  for (stow_node node = 0; node < f->count; ++node) {
    f->steps[node] = UNKNOWN;
  }
  for (size_t i = 0; i < start->step_count; ++i) {
    const stowi_plan_start_step* s = &start->steps[i];
    stow_str name = {s->name_size == 0 ? "" : start->names.data + s->name_at, s->name_size};
    stow_value value = stow_graph_find(f->graph, name);
    if (value != STOW_VALUE_NONE && has_step(f->graph, value)) {
      uint64_t* step = &f->steps[stow_graph_producer(f->graph, value)];
      *step = s->step < *step ? s->step : *step;
    }
  }
}

// Fills |pending|, |first_user|, which is 0 before, and |users|, from the back: counts become ends
// and then begins.
static void find_users(follower* f) {
  for (stow_node node = 0; node < f->count; ++node) {
    for (size_t i = 0; i < stow_graph_operand_count(f->graph, node); ++i) {
      stow_node producer = producer_of(f->graph, stow_graph_operands(f->graph, node)[i]);
      if (producer != STOW_NODE_NONE) {
        ++f->pending[node];
        ++f->first_user[producer];
      }
    }
  }
  for (stow_node node = 0; node < f->count; ++node) {
    f->first_user[node + 1] += f->first_user[node];
  }
  for (stow_node node = f->count; node-- > 0;) {
    for (size_t i = stow_graph_operand_count(f->graph, node); i-- > 0;) {
      stow_node producer = producer_of(f->graph, stow_graph_operands(f->graph, node)[i]);
      if (producer != STOW_NODE_NONE) {
        f->users[--f->first_user[producer]] = node;
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// The order

// Lists the nodes of unknown steps that have all they need. The order is their queue.
static void release(follower* f) {
  while (f->is_eager && f->released < f->listed) {
    stow_node node = f->order[f->released++];
    for (size_t i = f->first_user[node]; i < f->first_user[node + 1]; ++i) {
      stow_node user = f->users[i];
      if (--f->pending[user] == 0 && f->steps[user] == UNKNOWN && !f->is_listed[user]) {
        f->is_listed[user] = true;
        f->order[f->listed++] = user;
      }
    }
  }
}

static void open(follower* f, stow_node node, size_t* depth) {
  if (node != STOW_NODE_NONE && !f->is_listed[node]) {
    f->is_listed[node] = true;
    f->stack[(*depth)++] = (open_node){node, 0};
  }
}

// Lists |node| after everything it needs.
static void list(follower* f, stow_node node) {
  size_t depth = 0;
  open(f, node, &depth);
  while (depth > 0) {
    open_node* top = &f->stack[depth - 1];
    if (top->next < stow_graph_operand_count(f->graph, top->node)) {
      stow_value operand = stow_graph_operands(f->graph, top->node)[top->next++];
      open(f, producer_of(f->graph, operand), &depth);
    } else {
      f->order[f->listed++] = top->node;
      --depth;
      release(f);
    }
  }
}

// Boundary nodes are there before anything runs.
static void list_boundary(follower* f) {
  for (stow_node node = 0; node < f->count; ++node) {
    if (stow_graph_result_count(f->graph, node) > 0 &&
        stow_graph_is_boundary(f->graph, stow_graph_first_result(f->graph, node))) {
      list(f, node);
    }
  }
}

static stow_status follow(follower* f, const stow_start* start, stow_allocator allocator) {
  size_t known = 0;
  find_steps(f, start);
  find_users(f);
  for (stow_node node = 0; node < f->count; ++node) {
    if (f->steps[node] != UNKNOWN) {
      f->records[known++] = (record){f->steps[node], node};
    }
  }
  STOW_TRY(stowi_sort_by_key(f->records, known, sizeof(record), allocator));
  list_boundary(f);
  for (size_t i = 0; i < known; ++i) {
    list(f, f->records[i].node);
  }
  for (stow_node node = 0; node < f->count; ++node) {
    list(f, node);
  }
  return STOW_OK;
}

static size_t count_operands(const stow_graph* graph) {
  size_t count = 0;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    count += stow_graph_operand_count(graph, node);
  }
  return count;
}

stow_status stowi_plan_follow_order(const stowi_plan_order_request* request, bool is_eager,
                                    stow_node* out_order) {
  stow_allocator allocator = request->allocator;
  uint32_t count = stow_graph_node_count(request->graph);
  size_t user_count = count_operands(request->graph);
  follower f = {.graph = request->graph,
                .count = count,
                .is_eager = is_eager,
                .steps = STOWI_ARRAY(allocator, uint64_t, count),
                .records = STOWI_ARRAY(allocator, record, count),
                .stack = STOWI_ARRAY(allocator, open_node, count),
                .is_listed = STOWI_ARRAY_ZERO(allocator, bool, count),
                .pending = STOWI_ARRAY_ZERO(allocator, uint32_t, count),
                .first_user = STOWI_ARRAY_ZERO(allocator, size_t, (size_t)count + 1),
                .users = STOWI_ARRAY(allocator, stow_node, user_count),
                .order = out_order};
  bool has_memory = f.steps != NULL && f.records != NULL && f.stack != NULL &&
                    f.is_listed != NULL && f.pending != NULL && f.first_user != NULL &&
                    f.users != NULL;
  stow_status status =
      has_memory ? follow(&f, request->earlier, allocator) : STOW_ERR_OUT_OF_MEMORY;
  STOWI_ARRAY_FREE(allocator, f.steps, count);
  STOWI_ARRAY_FREE(allocator, f.records, count);
  STOWI_ARRAY_FREE(allocator, f.stack, count);
  STOWI_ARRAY_FREE(allocator, f.is_listed, count);
  STOWI_ARRAY_FREE(allocator, f.pending, count);
  STOWI_ARRAY_FREE(allocator, f.first_user, (size_t)count + 1);
  STOWI_ARRAY_FREE(allocator, f.users, user_count);
  return stowi_need_memory(status == STOW_OK, request->diag);
}
