// Checks a whole graph. Most invariants hold by construction; the rest is that types are as the
// ops infer them, and that nothing reads bytes after an op has written into them (kv_append).
// The latter is one pass in node order. Every value has a root (the value whose bytes it uses) and
// a version of those bytes: a view has its operand's version, the result of a write a new one. A
// read is valid if the value's version is the root's current one. At most one branch of an `if`
// runs, so each branch starts from the versions before the `if`, and after it, roots that any
// branch has written have a version that no value has:
//     %0 = input              version 0 of %0
//     if … { kv_append(%0) }  version 1 of %0, inside
//     else { relu(%0) }       version 0 again
//     relu(%0)                refused: the current version is neither
// A loop body runs repeatedly, so it must not write into bytes from outside: its own operand would
// be read after the first iteration's write. O(nodes + operands), 12 bytes per value.
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/graph_internal.h"
#include "graph/shapes/call.h"

// ---------------------------------------------------------------------------------------------
// Types

static stow_status check_types_with(const stow_graph* graph, stow_type* results,
                                    stowi_graph_marks* marks, stow_diag* diag) {
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    stow_shape_call shape = stowi_graph_shape_of_node(graph, graph->value_types.data, &graph->known,
                                                      node, results, marks);
    shape.keeps_marks = true;  // finding them again would write to the dims, which threads share
    stow_status status = stowi_graph_shape_infer(&shape, true, diag);
    if (status != STOW_OK) {
      stowi_graph_blame_node(diag, graph, node);
      return status;
    }
  }
  return STOW_OK;
}

static stow_status check_types(const stow_graph* graph, stow_diag* diag) {
  size_t most = 0;
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    size_t count = stow_graph_result_count(graph, node);
    most = count > most ? count : most;
  }
  stow_type* results = STOWI_ARRAY(graph->allocator, stow_type, most);
  stowi_graph_marks* marks = STOWI_ARRAY(graph->allocator, stowi_graph_marks, most);
  bool has_memory = results != NULL && marks != NULL;
  stow_status status =
      has_memory ? check_types_with(graph, results, marks, diag) : stowi_fail_memory(diag);
  STOWI_ARRAY_FREE(graph->allocator, results, most);
  STOWI_ARRAY_FREE(graph->allocator, marks, most);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Writes

typedef struct write_record {
  stow_value root;
  uint32_t version_before;
} write_record;

typedef struct writes {
  const stow_graph* graph;
  stow_diag* diag;
  stow_value* root;    // per value
  uint32_t* version;   // per value: of the root's bytes
  uint32_t* current;   // per root
  stow_node* writer;   // per root: the last one
  uint32_t* log_from;  // per region: length of the log at its start
  uint32_t versions;   // number of versions so far
  STOWI_VEC(write_record) log;
} writes;

static bool has_writes(const stow_graph* graph) {
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    if (stow_graph_op_desc(graph, node)->writes_view) {
      return true;
    }
  }
  return false;
}

static stow_status fail_read(const writes* w, stow_value value, const char* who, const char* verb) {
  stow_node writer = w->writer[w->root[value]];
  stow_status status =
      stowi_fail(w->diag, STOW_ERR_CONFLICT, "%s %s %s, whose bytes %s has overwritten", who, verb,
                 stowi_graph_describe_value(w->graph, value).text,
                 stowi_graph_describe_node(w->graph, writer).text);
  stowi_diag_value(w->diag, value);
  return status;
}

static bool is_current(const writes* w, stow_value value) {
  return w->version[value] == w->current[w->root[value]];
}

static stow_status check_reads(const writes* w, stow_node node) {
  const stow_value* operands = stow_graph_operands(w->graph, node);
  size_t count = stow_graph_operand_count(w->graph, node);
  for (size_t k = 0; k < count; ++k) {
    if (operands[k] != STOW_VALUE_NONE && !is_current(w, operands[k])) {
      return fail_read(w, operands[k], stowi_graph_describe_node(w->graph, node).text, "reads");
    }
  }
  return STOW_OK;
}

// Whether |region| is inside a loop's body that |root| is outside of.
static bool crosses_loop(const stow_graph* graph, stow_region region, stow_value root) {
  stow_region maker = stow_graph_node_region(graph, stow_graph_producer(graph, root));
  for (; region != maker && region != STOW_REGION_BODY;
       region = stowi_graph_region_parent(graph, region)) {
    stow_node owner = stowi_graph_region_owner(graph, region);
    if (stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_LOOP) {
      return true;
    }
  }
  return false;
}

// Why |node| must not write into operand |k|; NULL if it may.
static const char* why_not_write(const writes* w, stow_node node, size_t k) {
  const stow_graph* graph = w->graph;
  const stow_value* operands = stow_graph_operands(graph, node);
  stow_value root = w->root[operands[k]];
  if (stowi_graph_is_fixed_op(stow_graph_op(graph, stow_graph_producer(graph, root)))) {
    return "a param or constant";
  }
  if (crosses_loop(graph, stow_graph_node_region(graph, node), root)) {
    return "bytes from outside the loop that it is in";
  }
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    if (i != k && operands[i] != STOW_VALUE_NONE && w->root[operands[i]] == root) {
      return "bytes that it also reads";
    }
  }
  return NULL;
}

static stow_status note_write(writes* w, stow_node node, size_t operand) {
  const char* reason = why_not_write(w, node, operand);
  stow_value target = stow_graph_operands(w->graph, node)[operand];
  if (reason != NULL) {
    stow_status status = stowi_fail(w->diag, STOW_ERR_CONFLICT, "%s writes into %s: %s",
                                    stowi_graph_describe_node(w->graph, node).text,
                                    stowi_graph_describe_value(w->graph, target).text, reason);
    stowi_diag_value(w->diag, target);
    return status;
  }
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(w->graph->allocator, &w->log, 1) == STOW_OK, w->diag));
  stow_value root = w->root[target];
  w->log.data[w->log.count++] = (write_record){root, w->current[root]};
  w->current[root] = ++w->versions;
  w->writer[root] = node;
  return STOW_OK;
}

// Sets roots and versions of the node's results; records what it writes.
static stow_status make_results(writes* w, stow_node node) {
  const stow_graph* graph = w->graph;
  stow_value first = stow_graph_first_result(graph, node);
  size_t count = stow_graph_result_count(graph, node);
  bool is_write = stow_graph_op_desc(graph, node)->writes_view;
  for (size_t k = 0; k < count; ++k) {
    stow_value result = first + (stow_value)k;
    w->root[result] = result;
    w->version[result] = w->current[result] = 0;
    stow_view view;
    if (!stow_graph_view(graph, node, k, &view)) {
      continue;
    }
    if (is_write) {
      STOW_TRY(note_write(w, node, view.operand));
    }
    w->root[result] = w->root[stow_graph_operands(graph, node)[view.operand]];
    w->version[result] = w->current[w->root[result]];
  }
  return STOW_OK;
}

// Regions that begin at |node|, from the innermost.
static void enter_regions(writes* w, stow_node node) {
  stow_region region = stow_graph_node_region(w->graph, node);
  while (region != STOW_REGION_BODY && stowi_graph_region_first(w->graph, region) == node) {
    w->log_from[region] = (uint32_t)w->log.count;
    region = stowi_graph_region_parent(w->graph, region);
  }
}

// The next branch starts from the versions before this one.
static void leave_branch(writes* w, stow_region region) {
  for (size_t i = w->log.count; i > w->log_from[region]; --i) {
    w->current[w->log.data[i - 1].root] = w->log.data[i - 1].version_before;
  }
}

// After the branches, roots that a branch has written have a version that no value has.
static void join_branches(writes* w, stow_node owner) {
  stow_region first = stow_graph_owned_region(w->graph, owner, 0);
  for (size_t i = w->log_from[first]; i < w->log.count; ++i) {
    w->current[w->log.data[i].root] = ++w->versions;
  }
}

static stow_status follow_node(writes* w, stow_node node) {
  const stow_graph* graph = w->graph;
  enter_regions(w, node);
  const stow_op_desc* desc = stow_graph_op_desc(graph, node);
  if (desc->region_kind == STOW_REGION_BRANCH) {
    join_branches(w, node);
  }
  STOW_TRY(check_reads(w, node));
  STOW_TRY(make_results(w, node));
  stow_region region = stow_graph_node_region(graph, node);
  if (region != STOW_REGION_BODY && stowi_graph_region_last(graph, region) == node) {
    stow_node owner = stowi_graph_region_owner(graph, region);
    if (stow_graph_op_desc(graph, owner)->region_kind == STOW_REGION_BRANCH) {
      leave_branch(w, region);
    }
  }
  return STOW_OK;
}

static stow_status follow_all(writes* w) {
  const stow_graph* graph = w->graph;
  for (stow_node node = 0; node < graph->nodes.count; ++node) {
    stow_status status = follow_node(w, node);
    if (status != STOW_OK) {
      stowi_graph_blame_node(w->diag, graph, node);
      return status;
    }
  }
  for (size_t i = 0; i < graph->outputs.count; ++i) {
    if (!is_current(w, graph->outputs.data[i])) {
      return fail_read(w, graph->outputs.data[i], "the graph", "returns");
    }
  }
  return STOW_OK;
}

static stow_status check_writes(const stow_graph* graph, stow_diag* diag) {
  if (!has_writes(graph)) {
    return STOW_OK;
  }
  stow_allocator allocator = graph->allocator;
  size_t count = graph->values.count;
  writes w;
  memset(&w, 0, sizeof(w));
  w.graph = graph;
  w.diag = diag;
  w.root = STOWI_ARRAY(allocator, stow_value, count);
  w.version = STOWI_ARRAY(allocator, uint32_t, count);
  w.current = STOWI_ARRAY(allocator, uint32_t, count);
  w.writer = STOWI_ARRAY(allocator, stow_node, count);
  w.log_from = STOWI_ARRAY(allocator, uint32_t, graph->regions.count);
  bool has_memory = w.root != NULL && w.version != NULL && w.current != NULL && w.writer != NULL &&
                    w.log_from != NULL;
  stow_status status = has_memory ? follow_all(&w) : stowi_fail_memory(diag);
  STOWI_VEC_FREE(allocator, &w.log);
  STOWI_ARRAY_FREE(allocator, w.root, count);
  STOWI_ARRAY_FREE(allocator, w.version, count);
  STOWI_ARRAY_FREE(allocator, w.current, count);
  STOWI_ARRAY_FREE(allocator, w.writer, count);
  STOWI_ARRAY_FREE(allocator, w.log_from, graph->regions.count);
  return status;
}

// ---------------------------------------------------------------------------------------------

stow_status stow_graph_verify(const stow_graph* graph, stow_diag* diag) {
  if (graph->depth != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%u region%s left open",
                      (unsigned)graph->depth, graph->depth == 1 ? " is" : "s are");
  }
  if (graph->frames[0].closed_count != 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "the last %u region(s) have no owner",
                      (unsigned)graph->frames[0].closed_count);
  }
  if (graph->outputs.count == 0) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "the graph has no output");
  }
  STOW_TRY(check_types(graph, diag));
  return check_writes(graph, diag);
}

// ---------------------------------------------------------------------------------------------
// Bound dims

static bool uses_symbol(const stow_dims* dims, const stow_type* type, size_t symbol) {
  for (uint32_t i = 0; i < type->rank; ++i) {
    if (!stow_dim_is_const(type->dims[i]) && stow_dim_uses(dims, type->dims[i], symbol)) {
      return true;
    }
  }
  return false;
}

static stow_status fail_unbound(const stow_graph* graph, stow_value value, stow_diag* diag) {
  const stow_type* type = stow_graph_type(graph, value);
  stow_status status =
      stowi_fail(diag, STOW_ERR_UNBOUND_DIM,
                 "%s : %s has unbound dims:", stowi_graph_describe_value(graph, value).text,
                 stowi_graph_describe_type(graph, type).text);
  stowi_graph_blame_value(diag, graph, value);
  const char* separator = " ";
  for (size_t i = 0; i < stow_dims_symbol_count(graph->dims); ++i) {
    if (uses_symbol(graph->dims, type, i)) {
      stow_str name = stow_dims_symbol_name(graph->dims, i);
      stowi_diag_append(diag, "%s%.*s", separator, STOWI_STR_ARG(name));
      separator = ", ";
    }
  }
  return status;
}

stow_status stow_graph_require_bound(const stow_graph* graph, stow_diag* diag) {
  for (stow_value value = 0; value < graph->values.count; ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!stow_dim_is_const(type->dims[i])) {
        return fail_unbound(graph, value, diag);
      }
    }
  }
  return STOW_OK;
}
