// From the tables of a model to nodes that know each other by index. ONNX has two forms. In the
// older one nodes and weights are named by (tree, node): both tables are sorted by these names in
// scratch, and references become binary searches. In the newer one, tree_ensemble's, references are
// indices already; leaves follow the nodes. Everything is checked here, so that walks need not.
#include <string.h>

#include "exec/kernels/classic/trees.h"
#include "exec/kernels/support/carve.h"
#include "exec/kernels/support/convert.h"
#include "exec/kernels/support/kernel.h"

// ---------------------------------------------------------------------------------------------
// Scratch

// Of a node where size_t is largest.
#define NODE_BYTES (5 * STOWI_KERNEL_WIDE)
_Static_assert(sizeof(stowi_kernel_tree_node) <= NODE_BYTES, "nodes have grown");

// Lays out nodes, weights, roots and what workers need, for |names| entries more, which are
// returned. Without a base only counts.
static stowi_kernel_entry* carve(const stow_kernel_call* call, stowi_kernel_carve* scratch,
                                 size_t names, stowi_kernel_trees* t) {
  t->nodes = stowi_kernel_carve_take(scratch, t->node_count, NODE_BYTES);
  t->weights = stowi_kernel_carve_take(scratch, t->weight_count, sizeof(stowi_kernel_entry));
  t->roots = stowi_kernel_carve_take(scratch, t->root_count, STOWI_KERNEL_WIDE);
  t->scores = stowi_kernel_carve_take(scratch, stowi_kernel_times(call->workers, t->outputs),
                                      sizeof(double));
  t->is_lost = stowi_kernel_carve_take(scratch, call->workers, sizeof(bool));
  return stowi_kernel_carve_take(scratch, names, sizeof(stowi_kernel_entry));
}

static uint64_t scratch_size(const stow_kernel_call* call, size_t nodes, size_t names, size_t roots,
                             size_t weights, size_t outputs) {
  stowi_kernel_trees t = {
      .node_count = nodes, .weight_count = weights, .root_count = roots, .outputs = outputs};
  stowi_kernel_carve scratch = {NULL, 0};
  (void)carve(call, &scratch, names, &t);
  return scratch.used;
}

static stowi_kernel_entry* use_scratch(const stow_kernel_call* call, size_t names,
                                       stowi_kernel_trees* t) {
  stowi_kernel_carve scratch = {call->scratch, 0};
  stowi_kernel_entry* entries = carve(call, &scratch, names, t);
  for (uint32_t w = 0; w < call->workers; ++w) {
    t->is_lost[w] = false;
  }
  return entries;
}

static stow_status fail(const stow_kernel_call* call, const char* what, size_t i) {
  return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT, "%s (at %zu of the tables)", what, i);
}

// ---------------------------------------------------------------------------------------------
// Tables by name

typedef struct tables {
  stowi_kernel_list trees;
  stowi_kernel_list ids;
  stowi_kernel_list features;
  stowi_kernel_list modes;
  stowi_kernel_list values;
  stowi_kernel_list yes;
  stowi_kernel_list no;
  stowi_kernel_list missing;
  stowi_kernel_list leaf_trees;
  stowi_kernel_list leaf_ids;
  stowi_kernel_list leaf_outputs;
  stowi_kernel_list leaf_weights;
} tables;

static tables read_tables(const stow_kernel_call* call, bool is_classes) {
  return (tables){
      .trees = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_TREEIDS),
      .ids = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_NODEIDS),
      .features = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FEATUREIDS),
      .modes = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_MODES),
      .values = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_VALUES),
      .yes = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_TRUENODEIDS),
      .no = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FALSENODEIDS),
      .missing = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_MISSING_VALUE_TRACKS_TRUE),
      .leaf_trees = stowi_kernel_list_of(
          call, is_classes ? STOWI_KERNEL_ATTR_CLASS_TREEIDS : STOWI_KERNEL_ATTR_TARGET_TREEIDS),
      .leaf_ids = stowi_kernel_list_of(
          call, is_classes ? STOWI_KERNEL_ATTR_CLASS_NODEIDS : STOWI_KERNEL_ATTR_TARGET_NODEIDS),
      .leaf_outputs = stowi_kernel_list_of(
          call, is_classes ? STOWI_KERNEL_ATTR_CLASS_IDS : STOWI_KERNEL_ATTR_TARGET_IDS),
      .leaf_weights = stowi_kernel_list_of(
          call, is_classes ? STOWI_KERNEL_ATTR_CLASS_WEIGHTS : STOWI_KERNEL_ATTR_TARGET_WEIGHTS)};
}

stow_status stowi_kernel_trees_scratch(const stow_kernel_call* call, bool is_classes,
                                       size_t outputs, uint64_t* out_bytes) {
  tables t = read_tables(call, is_classes);
  size_t nodes = t.ids.count;
  *out_bytes = scratch_size(call, nodes, nodes, nodes, t.leaf_ids.count, outputs);
  return STOW_OK;
}

static stow_status check_counts(const stow_kernel_call* call, const tables* t) {
  size_t nodes = t->ids.count;
  size_t weights = t->leaf_ids.count;
  bool has_nodes = t->trees.count == nodes && t->features.count == nodes &&
                   t->modes.count == nodes && t->values.count == nodes && t->yes.count == nodes &&
                   t->no.count == nodes && (t->missing.count == 0 || t->missing.count == nodes);
  bool has_weights = t->leaf_trees.count == weights && t->leaf_outputs.count == weights &&
                     t->leaf_weights.count == weights;
  if (!has_nodes || !has_weights) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the tables of %zu nodes and %zu weights have different lengths", nodes,
                            weights);
  }
  return STOW_OK;
}

static bool find_mode(const stowi_kernel_list* modes, size_t i, stowi_kernel_branch* out_mode) {
  static const char* const names[] = {"BRANCH_LEQ", "BRANCH_LT",  "BRANCH_GTE",    "BRANCH_GT",
                                      "BRANCH_EQ",  "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF"};
  for (int m = 0; m <= STOWI_KERNEL_LEAF; ++m) {
    if (m != STOWI_KERNEL_BRANCH_MEMBER && stowi_kernel_list_is(modes, i, names[m])) {
      *out_mode = (stowi_kernel_branch)m;
      return true;
    }
  }
  return false;
}

// Weights sorted by (tree, node); the leaves find theirs by that.
static stow_status read_weights(const stow_kernel_call* call, const tables* t,
                                stowi_kernel_trees* trees) {
  for (size_t i = 0; i < trees->weight_count; ++i) {
    int64_t output = stowi_kernel_list_int(&t->leaf_outputs, i);
    if (output < 0 || (uint64_t)output >= trees->outputs) {
      return fail(call, "the output of a weight is out of range", i);
    }
    trees->weights[i] = (stowi_kernel_entry){stowi_kernel_list_int(&t->leaf_trees, i),
                                             stowi_kernel_list_int(&t->leaf_ids, i), i};
  }
  stowi_kernel_sort_entries(trees->weights, trees->weight_count);
  return STOW_OK;
}

static stow_status read_node(const stow_kernel_call* call, const tables* t,
                             const stowi_kernel_trees* trees, const stowi_kernel_entry* names,
                             size_t i) {
  stowi_kernel_tree_node* node = &trees->nodes[i];
  int64_t tree = stowi_kernel_list_int(&t->trees, i);
  *node = (stowi_kernel_tree_node){.value = stowi_kernel_list_real(&t->values, i)};
  if (!find_mode(&t->modes, i, &node->mode)) {
    return fail(call, "unknown node mode", i);
  }
  if (node->mode == STOWI_KERNEL_LEAF) {
    int64_t id = stowi_kernel_list_int(&t->ids, i);
    size_t first = stowi_kernel_find_entry(trees->weights, trees->weight_count, tree, id);
    size_t end = first;
    while (first != SIZE_MAX && end < trees->weight_count && trees->weights[end].major == tree &&
           trees->weights[end].minor == id) {
      ++end;
    }
    node->yes = first == SIZE_MAX ? 0 : first;
    node->no = first == SIZE_MAX ? 0 : end - first;
    return STOW_OK;
  }
  int64_t feature = stowi_kernel_list_int(&t->features, i);
  size_t yes =
      stowi_kernel_find_entry(names, trees->node_count, tree, stowi_kernel_list_int(&t->yes, i));
  size_t no =
      stowi_kernel_find_entry(names, trees->node_count, tree, stowi_kernel_list_int(&t->no, i));
  if (feature < 0 || (uint64_t)feature >= trees->features || yes == SIZE_MAX || no == SIZE_MAX) {
    return fail(call, "the feature or child of a node is out of range", i);
  }
  node->feature = (size_t)feature;
  node->yes = names[yes].index;
  node->no = names[no].index;
  node->takes_missing = t->missing.count != 0 && stowi_kernel_list_int(&t->missing, i) != 0;
  return STOW_OK;
}

// The first node of each tree, as the tables have them, is its root. Trees in ascending order.
static void find_roots(const stowi_kernel_entry* names, stowi_kernel_trees* trees) {
  trees->root_count = 0;
  for (size_t i = 0; i < trees->node_count; ++i) {
    bool is_new = i == 0 || names[i].major != names[i - 1].major;
    if (is_new) {
      trees->roots[trees->root_count++] = names[i].index;
    }
    size_t* root = &trees->roots[trees->root_count - 1];
    *root = names[i].index < *root ? names[i].index : *root;
  }
}

static stow_status read_aggregate(const stow_kernel_call* call, stowi_kernel_aggregate* out) {
  static const char* const names[] = {"AVERAGE", "SUM", "MIN", "MAX"};
  const stow_attr* attr = stowi_kernel_attr(call, STOWI_KERNEL_ATTR_AGGREGATE_FUNCTION);
  *out = STOWI_KERNEL_AGGREGATE_SUM;
  for (int i = 0; attr != NULL && i <= STOWI_KERNEL_AGGREGATE_MAX; ++i) {
    if (attr->kind == STOW_ATTR_INT
            ? attr->i == i
            : stowi_kernel_is(call, STOWI_KERNEL_ATTR_AGGREGATE_FUNCTION, names[i])) {
      *out = (stowi_kernel_aggregate)i;
      return STOW_OK;
    }
  }
  return attr == NULL ? STOW_OK
                      : stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "unknown aggregate_function");
}

static stow_status begin(const stow_kernel_call* call, size_t outputs, stowi_kernel_trees* trees) {
  const stow_tensor* x = call->operands[0];
  *trees = (stowi_kernel_trees){
      .x = x, .features = stowi_kernel_table_of(x).columns, .outputs = outputs};
  if (stowi_kernel_kind(x->dtype) == STOW_KIND_COMPLEX || stowi_kernel_bits(x->dtype) < 8) {
    return stow_kernel_fail(call, STOW_ERR_UNSUPPORTED, "features must be floats or integers");
  }
  return read_aggregate(call, &trees->aggregate);
}

// Once the leaves know their weights, these need the output in place of the node's name.
static void name_outputs(const tables* t, stowi_kernel_trees* trees) {
  for (size_t i = 0; i < trees->weight_count; ++i) {
    stowi_kernel_entry* weight = &trees->weights[i];
    weight->minor = stowi_kernel_list_int(&t->leaf_outputs, weight->index);
  }
}

stow_status stowi_kernel_trees_prepare(const stow_kernel_call* call, bool is_classes,
                                       size_t outputs, stowi_kernel_trees* trees) {
  tables t = read_tables(call, is_classes);
  stow_status status = begin(call, outputs, trees);
  status = status == STOW_OK ? check_counts(call, &t) : status;
  if (status != STOW_OK) {
    return status;
  }
  trees->node_count = t.ids.count;
  trees->root_count = t.ids.count;
  trees->weight_count = t.leaf_ids.count;
  trees->weight_values = t.leaf_weights;
  trees->base = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_BASE_VALUES);
  stowi_kernel_entry* names = use_scratch(call, trees->node_count, trees);
  for (size_t i = 0; i < trees->node_count; ++i) {
    names[i] = (stowi_kernel_entry){stowi_kernel_list_int(&t.trees, i),
                                    stowi_kernel_list_int(&t.ids, i), i};
  }
  stowi_kernel_sort_entries(names, trees->node_count);
  find_roots(names, trees);
  status = read_weights(call, &t, trees);
  for (size_t i = 0; status == STOW_OK && i < trees->node_count; ++i) {
    status = read_node(call, &t, trees, names, i);
  }
  name_outputs(&t, trees);
  return status;
}

// ---------------------------------------------------------------------------------------------
// tree_ensemble

stow_status stowi_kernel_ensemble_scratch(const stow_kernel_call* call, size_t outputs,
                                          uint64_t* out_bytes) {
  size_t nodes = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FEATUREIDS).count;
  size_t leaves = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_LEAF_TARGETIDS).count;
  size_t roots = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_TREE_ROOTS).count;
  *out_bytes = scratch_size(call, nodes + leaves, 0, roots, leaves, outputs);
  return STOW_OK;
}

typedef struct links {
  stowi_kernel_list modes;
  stowi_kernel_list splits;
  stowi_kernel_list features;
  stowi_kernel_list missing;
  stowi_kernel_list ids[2];     // of what comes next where the answer is yes, or no
  stowi_kernel_list leaves[2];  // whether that is a leaf
  stowi_kernel_list roots;
  size_t nodes;
  size_t leaf_count;
} links;

static links read_links(const stow_kernel_call* call) {
  return (links){
      .modes = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_MODES),
      .splits = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_SPLITS),
      .features = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FEATUREIDS),
      .missing = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_MISSING_VALUE_TRACKS_TRUE),
      .ids = {stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_TRUENODEIDS),
              stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FALSENODEIDS)},
      .leaves = {stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_TRUELEAFS),
                 stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FALSELEAFS)},
      .roots = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_TREE_ROOTS),
      .nodes = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_NODES_FEATUREIDS).count,
      .leaf_count = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_LEAF_TARGETIDS).count};
}

static stow_status check_links(const stow_kernel_call* call, const links* l, size_t weights) {
  bool fits = l->modes.count == l->nodes && l->splits.count == l->nodes &&
              (l->missing.count == 0 || l->missing.count == l->nodes) && weights == l->leaf_count;
  for (size_t side = 0; side < 2; ++side) {
    fits = fits && l->ids[side].count == l->nodes && l->leaves[side].count == l->nodes;
  }
  if (!fits) {
    return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                            "the tables of %zu nodes and %zu leaves have different lengths",
                            l->nodes, l->leaf_count);
  }
  return STOW_OK;
}

static stow_status read_link(const stow_kernel_call* call, const links* l, size_t side, size_t i,
                             size_t* out) {
  int64_t id = stowi_kernel_list_int(&l->ids[side], i);
  bool is_leaf = stowi_kernel_list_int(&l->leaves[side], i) != 0;
  if (id < 0 || (uint64_t)id >= (is_leaf ? l->leaf_count : l->nodes)) {
    return fail(call, "the child of a node is out of range", i);
  }
  *out = is_leaf ? l->nodes + (size_t)id : (size_t)id;
  return STOW_OK;
}

static stow_status read_branch(const stow_kernel_call* call, const links* l,
                               const stowi_kernel_trees* trees, size_t i) {
  stowi_kernel_tree_node* node = &trees->nodes[i];
  int64_t mode = stowi_kernel_list_int(&l->modes, i);
  int64_t feature = stowi_kernel_list_int(&l->features, i);
  *node = (stowi_kernel_tree_node){.value = stowi_kernel_list_real(&l->splits, i)};
  if (mode < 0 || mode > STOWI_KERNEL_BRANCH_MEMBER) {
    return fail(call, "unknown node mode", i);
  }
  if (feature < 0 || (uint64_t)feature >= trees->features) {
    return fail(call, "the feature of a node is out of range", i);
  }
  node->mode = (stowi_kernel_branch)mode;
  node->feature = (size_t)feature;
  node->takes_missing = l->missing.count != 0 && stowi_kernel_list_int(&l->missing, i) != 0;
  STOWI_KERNEL_TRY(read_link(call, l, 0, i, &node->yes));
  return read_link(call, l, 1, i, &node->no);
}

// Members of each node that asks for them, in the order of the nodes, end with a NaN.
static void find_members(const stowi_kernel_trees* trees, size_t nodes) {
  size_t at = 0;
  for (size_t i = 0; i < nodes; ++i) {
    if (trees->nodes[i].mode != STOWI_KERNEL_BRANCH_MEMBER) {
      continue;
    }
    trees->nodes[i].value = (double)at;
    double member = 0;
    while (at < trees->members.count && member == member) {
      member = stowi_kernel_list_real(&trees->members, at++);
    }
  }
}

static stow_status read_leaves(const stow_kernel_call* call, const links* l,
                               const stowi_kernel_trees* trees) {
  stowi_kernel_list targets = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_LEAF_TARGETIDS);
  for (size_t i = 0; i < l->leaf_count; ++i) {
    int64_t target = stowi_kernel_list_int(&targets, i);
    if (target < 0 || (uint64_t)target >= trees->outputs) {
      return fail(call, "the target of a leaf is out of range", i);
    }
    trees->weights[i] = (stowi_kernel_entry){0, target, i};
    trees->nodes[l->nodes + i] =
        (stowi_kernel_tree_node){.mode = STOWI_KERNEL_LEAF, .yes = i, .no = 1};
  }
  return STOW_OK;
}

stow_status stowi_kernel_ensemble_prepare(const stow_kernel_call* call, size_t outputs,
                                          stowi_kernel_trees* trees) {
  links l = read_links(call);
  stow_status status = begin(call, outputs, trees);
  trees->weight_values = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_LEAF_WEIGHTS);
  status = status == STOW_OK ? check_links(call, &l, trees->weight_values.count) : status;
  if (status != STOW_OK) {
    return status;
  }
  trees->node_count = l.nodes + l.leaf_count;
  trees->weight_count = l.leaf_count;
  trees->root_count = l.roots.count;
  trees->members = stowi_kernel_list_of(call, STOWI_KERNEL_ATTR_MEMBERSHIP_VALUES);
  (void)use_scratch(call, 0, trees);
  for (size_t i = 0; status == STOW_OK && i < l.nodes; ++i) {
    status = read_branch(call, &l, trees, i);
  }
  if (status == STOW_OK) {
    status = read_leaves(call, &l, trees);
    find_members(trees, l.nodes);
  }
  for (size_t i = 0; status == STOW_OK && i < l.roots.count; ++i) {
    int64_t root = stowi_kernel_list_int(&l.roots, i);
    if (root < 0 || (uint64_t)root >= l.nodes) {
      return fail(call, "a root is out of range", i);
    }
    trees->roots[i] = (size_t)root;
  }
  return status;
}
