// Nodes of every op for random graphs. What a valid node of an op looks like is taken from the
// cases of graph/over_cases.h, which has one at least for every op; operands are values that are
// there already, where the types fit, and attributes and types are varied as far as the op agrees.
#ifndef STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_
#define STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_

#include <stowage/graph.h>

#include "support/test.h"

typedef struct random_ops random_ops;

// Ends the program where there is no memory.
random_ops* random_ops_create(void);
void random_ops_destroy(random_ops* ops);

// Whether nodes of |op| are made here. The others stand for themselves: boundary values, regions
// and what belongs to them, and writes into a cache, which nobody may read afterwards.
bool random_ops_has(const random_ops* ops, stow_op op);

// A random_nodes function (random_graph.h), whose |user| are the random_ops: a node of one op, all
// of them equally likely but for concat, and what its operands need.
void random_ops_add(void* user, test_random* random, stow_graph* graph, const stow_value* visible,
                    size_t count);

#endif  // STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_
