// Nodes of every op for random graphs. Valid nodes are taken from the cases of
// graph/in_place_cases.h, which has at least one for every op; operands are existing values if the
// types match, and attributes and types are varied as far as the op accepts.
#ifndef STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_
#define STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_

#include <stowage/graph.h>

#include "support/test.h"

typedef struct random_ops random_ops;

// Ends the program if out of memory.
random_ops* random_ops_create(void);
void random_ops_destroy(random_ops* ops);

// Whether nodes of |op| are made here. The others are not: boundary values, regions and what
// belongs to them, and writes into a cache, which nothing may read afterwards.
bool random_ops_has(const random_ops* ops, stow_op op);

// A random_nodes function (random_graph.h), whose |user| is the random_ops: a node of one op, all
// of them equally likely except concat, and what its operands need.
void random_ops_add(void* user, test_random* random, stow_graph* graph, const stow_value* visible,
                    size_t count);

#endif  // STOWAGE_TESTS_SUPPORT_RANDOM_OPS_H_
