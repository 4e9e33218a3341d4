// Checks whether an order from outside can be run. Three passes, each O(nodes + operands):
// - needs: a node runs after the makers of its operands. An owner of regions passes its operands
//   to them, so its operands are made before its first region begins.
// - regions: walks the steps with a stack of open regions. A region is entered once, from the
//   region around it, by its `args` if it has one, and is left at its `yield`, when all its nodes
//   have run.
// - writes: an op that writes into an operand's bytes (kv_append) runs after everything that comes
//   before it in the graph and touches the same bytes. Bytes are identified by their root,
//   following the views of the op table.
#include "base/alloc.h"
#include "base/diag.h"
#include "graph/api.h"
#include "schedule/api.h"
#include "schedule/schedule.h"

typedef struct checker {
  const stow_graph* graph;
  const stow_schedule* schedule;
  stow_allocator allocator;
  stow_diag* diag;
} checker;

static uint32_t step_of(const checker* c, stow_node node) { return c->schedule->step[node]; }

static stow_status conflict(const checker* c, stow_node node, stow_node other, const char* why) {
  stowi_fail(c->diag, STOW_ERR_CONFLICT, "%s at step %u %s %s at step %u",
             stowi_graph_describe_node(c->graph, node).text, (unsigned)step_of(c, node), why,
             stowi_graph_describe_node(c->graph, other).text, (unsigned)step_of(c, other));
  stowi_graph_blame_node(c->diag, c->graph, node);
  return STOW_ERR_CONFLICT;
}

// ---------------------------------------------------------------------------------------------
// Needs

// The node that must not run before the operands of |node| are made.
static stow_node first_user(const checker* c, stow_node node) {
  stow_region region = stow_graph_owned_region(c->graph, node, 0);
  return region == STOW_REGION_ID_NONE ? node : stowi_graph_region_first(c->graph, region);
}

static stow_status check_needs(const checker* c) {
  for (stow_node node = 0; node < c->schedule->count; ++node) {
    stow_node user = first_user(c, node);
    const stow_value* operands = stow_graph_operands(c->graph, node);
    size_t count = stow_graph_operand_count(c->graph, node);
    for (size_t k = 0; k < count; ++k) {
      if (operands[k] == STOW_VALUE_NONE) {
        continue;
      }
      stow_node producer = stow_graph_producer(c->graph, operands[k]);
      if (step_of(c, producer) >= step_of(c, user)) {
        return conflict(c, user, producer,
                        user == node
                            ? "runs before the maker of its operand,"
                            : "runs before the maker of an operand of its region's owner,");
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Regions

typedef struct region_walk {
  const checker* c;
  uint32_t* left;    // by region: nodes that have not run yet, including nested ones
  stow_region open;  // the innermost open region
} region_walk;

static stow_node last_of(const checker* c, stow_region region) {
  return stowi_graph_region_last(c->graph, region);
}

static uint32_t node_count(const checker* c, stow_region region) {
  return last_of(c, region) - stowi_graph_region_first(c->graph, region) + 1;
}

// No region is entered twice: it is left only when all its nodes have run.
static stow_status enter(region_walk* walk, stow_region region, stow_node node) {
  const checker* c = walk->c;
  stow_node args = stowi_graph_region_args(c->graph, region);
  if (args != STOW_NODE_NONE && args != node) {
    return conflict(c, node, args, "runs before its region's");
  }
  walk->left[region] = node_count(c, region);
  walk->open = region;
  return STOW_OK;
}

// Opens the regions from the innermost open one down to |region|, which |node| is in.
static stow_status enter_down_to(region_walk* walk, stow_region region, stow_node node) {
  const checker* c = walk->c;
  stow_region path[STOW_MAX_REGION_DEPTH + 1];
  size_t depth = 0;
  stow_region at = region;
  while (at != walk->open) {
    if (at == STOW_REGION_BODY || depth == STOW_MAX_REGION_DEPTH) {
      return conflict(c, node, last_of(c, walk->open), "interrupts a region that ends with");
    }
    path[depth++] = at;
    at = stowi_graph_region_parent(c->graph, at);
  }
  while (depth > 0) {
    STOW_TRY(enter(walk, path[--depth], node));
  }
  return STOW_OK;
}

static stow_status leave(region_walk* walk, stow_node yield) {
  const checker* c = walk->c;
  stow_region region = walk->open;
  if (walk->left[region] != 0) {
    stowi_fail(c->diag, STOW_ERR_CONFLICT,
               "%s at step %u ends a region before %u of its nodes have run",
               stowi_graph_describe_node(c->graph, yield).text, (unsigned)step_of(c, yield),
               (unsigned)walk->left[region]);
    stowi_graph_blame_node(c->diag, c->graph, yield);
    return STOW_ERR_CONFLICT;
  }
  walk->open = stowi_graph_region_parent(c->graph, region);
  if (walk->open != STOW_REGION_BODY) {
    walk->left[walk->open] -= node_count(c, region);
  }
  return STOW_OK;
}

static stow_status walk_steps(region_walk* walk) {
  const checker* c = walk->c;
  for (uint32_t step = 0; step < c->schedule->count; ++step) {
    stow_node node = c->schedule->order[step];
    stow_region region = stow_graph_node_region(c->graph, node);
    if (region != walk->open) {
      STOW_TRY(enter_down_to(walk, region, node));
    }
    if (region == STOW_REGION_BODY) {
      continue;
    }
    walk->left[region] -= 1;
    if (last_of(c, region) == node) {
      STOW_TRY(leave(walk, node));
    }
  }
  return STOW_OK;
}

// The regions of one owner follow each other, and the owner follows them.
static stow_status check_owners(const checker* c) {
  for (stow_node node = 0; node < c->schedule->count; ++node) {
    stow_node last = STOW_NODE_NONE;
    for (size_t i = 0;; ++i) {
      stow_region region = stow_graph_owned_region(c->graph, node, i);
      if (region == STOW_REGION_ID_NONE) {
        break;
      }
      if (last != STOW_NODE_NONE && step_of(c, last) > step_of(c, last_of(c, region))) {
        return conflict(c, last_of(c, region), last, "ends a region before an earlier region's");
      }
      last = last_of(c, region);
    }
    if (last != STOW_NODE_NONE && step_of(c, last) > step_of(c, node)) {
      return conflict(c, node, last, "runs before its region's");
    }
  }
  return STOW_OK;
}

static stow_status check_regions(const checker* c) {
  uint32_t count = stow_graph_region_count(c->graph);
  if (count <= 1) {
    return STOW_OK;
  }
  for (stow_region region = 1; region < count; ++region) {
    if (stowi_graph_region_owner(c->graph, region) == STOW_NODE_NONE) {
      return stowi_fail(c->diag, STOW_ERR_INVALID_ARGUMENT, "region %u has no owner yet",
                        (unsigned)region);
    }
  }
  region_walk walk = {c, STOWI_ARRAY(c->allocator, uint32_t, count), STOW_REGION_BODY};
  STOW_TRY(stowi_need_memory(walk.left != NULL, c->diag));
  stow_status status = walk_steps(&walk);
  if (status == STOW_OK) {
    status = check_owners(c);
  }
  STOWI_ARRAY_FREE(c->allocator, walk.left, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Writes

static bool has_writers(const stow_graph* graph) {
  uint32_t count = stow_graph_node_count(graph);
  for (stow_node node = 0; node < count; ++node) {
    if (stow_graph_op_desc(graph, node)->writes_view) {
      return true;
    }
  }
  return false;
}

// The root of each value, and for each root the last node by step that uses it, among the nodes
// seen so far.
typedef struct byte_users {
  stow_value* root;
  stow_node* last;
} byte_users;

static void set_roots(const checker* c, const byte_users* users, stow_node node) {
  stow_value first = stow_graph_first_result(c->graph, node);
  size_t count = stow_graph_result_count(c->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value value = first + (stow_value)k;
    stow_view view;
    users->root[value] = value;
    users->last[value] = node;
    if (stow_graph_view(c->graph, node, k, &view)) {
      users->root[value] = users->root[stow_graph_operands(c->graph, node)[view.operand]];
    }
  }
}

static stow_status check_writer(const checker* c, const byte_users* users, stow_node node) {
  size_t count = stow_graph_result_count(c->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_view view;
    if (!stow_graph_view(c->graph, node, k, &view)) {
      continue;
    }
    stow_value root = users->root[stow_graph_operands(c->graph, node)[view.operand]];
    if (step_of(c, users->last[root]) > step_of(c, node)) {
      return conflict(c, users->last[root], node, "reads bytes that were overwritten by");
    }
  }
  return STOW_OK;
}

static void note_reads(const checker* c, const byte_users* users, stow_node node) {
  const stow_value* operands = stow_graph_operands(c->graph, node);
  size_t count = stow_graph_operand_count(c->graph, node);
  for (size_t k = 0; k < count; ++k) {
    if (operands[k] == STOW_VALUE_NONE) {
      continue;
    }
    stow_node* last = &users->last[users->root[operands[k]]];
    if (step_of(c, node) > step_of(c, *last)) {
      *last = node;
    }
  }
}

static stow_status check_writes(const checker* c) {
  if (!has_writers(c->graph)) {
    return STOW_OK;
  }
  uint32_t count = stow_graph_value_count(c->graph);
  byte_users users = {STOWI_ARRAY(c->allocator, stow_value, count),
                      STOWI_ARRAY(c->allocator, stow_node, count)};
  stow_status status = STOW_OK;
  if (users.root == NULL || users.last == NULL) {
    status = stowi_fail_memory(c->diag);
  }
  for (stow_node node = 0; status == STOW_OK && node < c->schedule->count; ++node) {
    if (stow_graph_op_desc(c->graph, node)->writes_view) {
      status = check_writer(c, &users, node);
    }
    note_reads(c, &users, node);
    set_roots(c, &users, node);
  }
  STOWI_ARRAY_FREE(c->allocator, users.root, count);
  STOWI_ARRAY_FREE(c->allocator, users.last, count);
  return status;
}

stow_status stowi_schedule_check(const stow_graph* graph, const stow_schedule* schedule,
                                 stow_allocator allocator, stow_diag* diag) {
  checker c = {graph, schedule, allocator, diag};
  STOW_TRY(check_regions(&c));
  STOW_TRY(check_needs(&c));
  return check_writes(&c);
}
