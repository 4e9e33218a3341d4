// Walking trees. For each row every tree is followed from its root to a leaf, whose weights go to
// the outputs that they name: O(trees × depth) for a row. A walk that takes more steps than there
// are nodes goes in a circle; its worker says so, and the call fails.
#include "exec/kernels/classic/trees.h"

#include <float.h>
#include <math.h>

#include "exec/kernels/support/convert.h"

static bool is_member(const stowi_trees* t, size_t first, double x) {
  for (size_t i = first; i < t->members.count; ++i) {
    double member = stowi_list_real(&t->members, i);
    if (isnan(member)) {
      return false;
    }
    if (member == x) {
      return true;
    }
  }
  return false;
}

static bool is_yes(const stowi_trees* t, const stowi_tree_node* node, double x) {
  switch (node->mode) {
    case STOWI_BRANCH_LEQ:
      return x <= node->value;
    case STOWI_BRANCH_LT:
      return x < node->value;
    case STOWI_BRANCH_GTE:
      return x >= node->value;
    case STOWI_BRANCH_GT:
      return x > node->value;
    case STOWI_BRANCH_EQ:
      return x == node->value;
    case STOWI_BRANCH_NEQ:
      return x != node->value;
    case STOWI_BRANCH_MEMBER:
      return is_member(t, (size_t)node->value, x);
    case STOWI_LEAF:
      break;
  }
  return false;
}

// NULL where no leaf is reached.
static const stowi_tree_node* find_leaf(const stowi_trees* t, size_t root, size_t row) {
  const stowi_tree_node* node = &t->nodes[root];
  for (size_t steps = 0; node->mode != STOWI_LEAF; ++steps) {
    if (steps > t->node_count) {
      return NULL;
    }
    double x = stowi_float_at(t->x, row * t->features + node->feature);
    bool yes = is_yes(t, node, x) || (node->takes_missing && isnan(x));
    node = &t->nodes[yes ? node->yes : node->no];
  }
  return node;
}

static void take(const stowi_trees* t, double* score, double weight) {
  if (t->aggregate == STOWI_AGGREGATE_MIN) {
    *score = weight < *score ? weight : *score;
  } else if (t->aggregate == STOWI_AGGREGATE_MAX) {
    *score = weight > *score ? weight : *score;
  } else {
    *score += weight;
  }
}

// What no leaf has given anything to: 0.
static double first_score(const stowi_trees* t) {
  if (t->aggregate == STOWI_AGGREGATE_MIN) {
    return (double)INFINITY;
  }
  return t->aggregate == STOWI_AGGREGATE_MAX ? -(double)INFINITY : 0;
}

static double last_score(const stowi_trees* t, double score, size_t k) {
  score = isinf(score) && score == first_score(t) ? 0 : score;
  if (t->aggregate == STOWI_AGGREGATE_AVERAGE && t->root_count != 0) {
    score /= (double)t->root_count;
  }
  if (t->base.count == 0) {
    return score;
  }
  return k < t->base.count ? score + stowi_list_real(&t->base, k) : score;
}

double* stowi_trees_score(const stowi_trees* t, size_t row, uint32_t worker) {
  double* scores = t->scores + worker * t->outputs;
  for (size_t k = 0; k < t->outputs; ++k) {
    scores[k] = first_score(t);
  }
  for (size_t r = 0; r < t->root_count; ++r) {
    const stowi_tree_node* leaf = find_leaf(t, t->roots[r], row);
    if (leaf == NULL) {
      t->is_lost[worker] = true;
      break;
    }
    for (size_t i = leaf->yes; i < leaf->yes + leaf->no; ++i) {
      const stowi_entry* weight = &t->weights[i];
      take(t, &scores[weight->minor], stowi_list_real(&t->weight_values, weight->index));
    }
  }
  for (size_t k = 0; k < t->outputs; ++k) {
    scores[k] = last_score(t, scores[k], k);
  }
  return scores;
}

stow_status stowi_trees_finish(const stow_kernel_call* call, const stowi_trees* t) {
  for (uint32_t w = 0; w < call->workers; ++w) {
    if (t->is_lost[w]) {
      return stow_kernel_fail(call, STOW_ERR_INVALID_ARGUMENT,
                              "a tree goes in a circle and has no leaf there");
    }
  }
  return STOW_OK;
}
