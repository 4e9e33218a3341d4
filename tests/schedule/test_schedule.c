// Tests of valid and invalid orders.
#include <stdio.h>
#include <stowage/schedule.h>
#include <stowage/text.h>
#include <string.h>

#include "graph/api.h"
#include "support/fault.h"
#include "support/test.h"

typedef struct parsed {
  stow_module* module;
  stow_graph* graph;
  stow_diag diag;
} parsed;

static bool parse(parsed* p, const char* body) {
  char text[4096];
  stow_diag_init(&p->diag);
  snprintf(text, sizeof(text), "graph @t {\n%s\n}\n", body);
  stow_status status = stow_module_parse(text, strlen(text), NULL, NULL, stow_allocator_default(),
                                         &p->diag, &p->module);
  p->graph = status == STOW_OK ? stow_module_graph(p->module, 0) : NULL;
  return test_check(status == STOW_OK, __FILE__, __LINE__, "%s", p->diag.message);
}

static stow_status try_order(parsed* p, const stow_node* order, size_t count) {
  stow_schedule* schedule;
  stow_diag_init(&p->diag);
  stow_status status = stow_schedule_create_order(p->graph, order, count, stow_allocator_default(),
                                                  &p->diag, &schedule);
  CHECK((status == STOW_OK) == (schedule != NULL));
  stow_schedule_destroy(schedule);
  return status;
}

static const char diamond[] =
    "  %0 = input \"x\" : f32[4]\n"
    "  %1 = relu(%0) : f32[4]\n"
    "  %2 = relu(%0) : f32[4]\n"
    "  %3 = add(%1, %2) : f32[4]\n"
    "  return %3";

TEST(TheGraphsOwnOrderIsTheIdentity) {
  parsed p;
  REQUIRE(parse(&p, diamond));
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create(p.graph, stow_allocator_default(), &p.diag, &schedule) == STOW_OK);
  REQUIRE(stow_schedule_count(schedule) == 4);
  for (uint32_t i = 0; i < 4; ++i) {
    CHECK_U64(stow_schedule_order(schedule)[i], i);
    CHECK_U64(stow_schedule_step(schedule, i), i);
  }
  CHECK_U64(stow_schedule_step(schedule, 4), UINT32_MAX);
  stow_schedule_destroy(schedule);
  stow_schedule_destroy(NULL);
  stow_module_destroy(p.module);
}

TEST(AnExplicitOrderGivesTheSteps) {
  parsed p;
  REQUIRE(parse(&p, diamond));
  const stow_node order[] = {0, 2, 1, 3};
  stow_schedule* schedule;
  REQUIRE(stow_schedule_create_order(p.graph, order, 4, stow_allocator_default(), &p.diag,
                                     &schedule) == STOW_OK);
  CHECK_U64(stow_schedule_order(schedule)[1], 2);
  CHECK_U64(stow_schedule_step(schedule, 1), 2);
  CHECK_U64(stow_schedule_step(schedule, 2), 1);
  stow_schedule_destroy(schedule);
  stow_module_destroy(p.module);
}

TEST(AnOrderMustNameEveryNodeOnce) {
  parsed p;
  REQUIRE(parse(&p, diamond));
  CHECK(try_order(&p, (stow_node[]){0, 1, 2}, 3) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(p.diag.message, "the order has 3 steps, but the graph has 4 nodes");
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 4}, 4) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(p.diag.message, "step 3 names node 4, out of range (nodes 0 to 3)");
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 1}, 4) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(p.diag.message, "relu %1 is in the order twice, at steps 1 and 3");
  CHECK_U64(p.diag.node, 1);
  stow_module_destroy(p.module);
}

TEST(ReadersRunAfterTheMakersOfTheirOperands) {
  parsed p;
  REQUIRE(parse(&p, diamond));
  CHECK(try_order(&p, (stow_node[]){0, 1, 3, 2}, 4) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message,
            "add %3 at step 2 runs before the maker of its operand, relu %2 at step 3");
  CHECK_U64(p.diag.node, 3);
  stow_module_destroy(p.module);
}

// ---------------------------------------------------------------------------------------------

static const char cache[] =
    "  %0 = input \"cache\" : f32[8, 4]\n"               // node 0
    "  %1 = input \"new\" : f32[1, 4]\n"                 // 1
    "  %2 = reshape(%0) : f32[32]\n"                     // 2
    "  %3 = relu(%2) : f32[32]\n"                        // 3: reads the old bytes
    "  %4 = kv_append(%0, %1) {axis = 0} : f32[8, 4]\n"  // 4
    "  %5 = relu(%4) : f32[8, 4]\n"                      // 5: reads the new ones
    "  return %3, %5";

TEST(ReadersOfOldBytesRunBeforeTheWriter) {
  parsed p;
  REQUIRE(parse(&p, cache));
  CHECK(try_order(&p, (stow_node[]){1, 0, 2, 3, 4, 5}, 6) == STOW_OK);
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 4, 3, 5}, 6) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message,
            "relu %3 at step 4 reads bytes that were overwritten by kv_append %4 at step 3");
  CHECK(try_order(&p, (stow_node[]){0, 1, 4, 2, 3, 5}, 6) == STOW_ERR_CONFLICT);
  stow_module_destroy(p.module);
}

// ---------------------------------------------------------------------------------------------

static const char branches[] =
    "  %0 = input \"c\" : bool[]\n"  // node 0
    "  %1 = not(%0) : bool[]\n"      // 1
    "  %4 = if(%1) {\n"
    "    %2 = not(%0) : bool[]\n"  // 2
    "    yield %2\n"               // 3
    "  } else {\n"
    "    %3 = not(%1) : bool[]\n"  // 4
    "    yield %3\n"               // 5
    "  } : bool[]\n"               // 6
    "  %5 = not(%0) : bool[]\n"    // 7
    "  return %4, %5";

TEST(RegionsRunTogetherAndInOrder) {
  parsed p;
  REQUIRE(parse(&p, branches));
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 3, 7, 4, 5, 6}, 8) == STOW_OK);
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 7, 3, 4, 5, 6}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message, "not %5 at step 3 interrupts a region that ends with yield at node 3");
  CHECK(try_order(&p, (stow_node[]){0, 1, 4, 5, 2, 3, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message, "yield at node 5 at step 3 ends a region before an earlier region's");
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 3, 6, 4, 5, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message, "if %4 at step 4 runs before its region's yield at node 5");
  CHECK(try_order(&p, (stow_node[]){0, 1, 3, 2, 4, 5, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message,
            "yield at node 3 at step 2 ends a region before 1 of its nodes have run");
  CHECK(try_order(&p, (stow_node[]){0, 2, 3, 1, 4, 5, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message,
            "not %2 at step 1 runs before the maker of an operand of its region's owner, not %1 at "
            "step 3");
  stow_module_destroy(p.module);
}

static const char loops[] =
    "  %0 = input \"c\" : bool[]\n"  // node 0
    "  %7 = loop(_, %0) {\n"
    "    %1, %2 = args() : i64[], bool[]\n"  // 1
    "    %6 = loop(_, %2) {\n"
    "      %3, %4 = args() : i64[], bool[]\n"  // 2
    "      %5 = not(%4) : bool[]\n"            // 3
    "      yield %5, %2\n"                     // 4
    "    } : bool[2]\n"                        // 5
    "    yield %2, %6\n"                       // 6
    "  } : bool[3, 2]\n"                       // 7
    "  return %7";

TEST(ArgumentsComeFirst) {
  parsed p;
  REQUIRE(parse(&p, loops));
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 3, 4, 5, 6, 7}, 8) == STOW_OK);
  CHECK(try_order(&p, (stow_node[]){0, 1, 3, 2, 4, 5, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message, "not %5 at step 2 runs before its region's args %3 at step 3");
  CHECK(try_order(&p, (stow_node[]){0, 2, 3, 4, 1, 5, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK_HAS(p.diag.message, "args %3 at step 1 runs before its region's args %1 at step 4");
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 4, 3, 5, 6, 7}, 8) == STOW_ERR_CONFLICT);
  CHECK(try_order(&p, (stow_node[]){0, 1, 2, 3, 4, 6, 5, 7}, 8) == STOW_ERR_CONFLICT);
  stow_module_destroy(p.module);
}

TEST(ARegionIsNotEnteredTwice) {
  parsed p;
  REQUIRE(parse(&p,
                "  %0 = input \"c\" : bool[]\n"
                "  %3 = if(%0) {\n"
                "    %1 = not(%0) : bool[]\n"  // 1
                "    yield %1\n"               // 2
                "  } else {\n"
                "    %2 = not(%0) : bool[]\n"  // 3
                "    yield %2\n"               // 4
                "  } : bool[]\n"               // 5
                "  return %3"));
  CHECK(try_order(&p, (stow_node[]){0, 1, 3, 2, 4, 5}, 6) == STOW_ERR_CONFLICT);
  CHECK(try_order(&p, (stow_node[]){0, 2, 1, 3, 4, 5}, 6) == STOW_ERR_CONFLICT);
  stow_module_destroy(p.module);
}

TEST(AnOpenRegionIsRefused) {
  parsed p;
  stow_diag_init(&p.diag);
  REQUIRE(stow_graph_create(stow_str_of("g"), NULL, stow_allocator_default(), &p.diag, &p.graph) ==
          STOW_OK);
  REQUIRE(stow_graph_begin_region(p.graph, &p.diag) == STOW_OK);
  CHECK(try_order(&p, NULL, 0) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(p.diag.message, "region 1 has no owner yet");
  stow_graph_destroy(p.graph);
}

// ---------------------------------------------------------------------------------------------
// All permutations of small graphs against the definition.

static bool is_inside(const stow_graph* graph, stow_node node, stow_region region) {
  return node >= stowi_graph_region_first(graph, region) &&
         node <= stowi_graph_region_last(graph, region);
}

static bool region_is_stretch(const stow_graph* graph, const uint32_t* step, stow_region region) {
  uint32_t low = UINT32_MAX;
  uint32_t high = 0;
  uint32_t count = 0;
  for (stow_node n = 0; n < stow_graph_node_count(graph); ++n) {
    if (is_inside(graph, n, region)) {
      low = step[n] < low ? step[n] : low;
      high = step[n] > high ? step[n] : high;
      ++count;
    }
  }
  stow_node first = stowi_graph_region_first(graph, region);
  bool args_first = stow_graph_op(graph, first) != STOW_OP_ARGS ||
                    stow_graph_node_region(graph, first) != region || step[first] == low;
  return high - low + 1 == count && args_first &&
         step[stowi_graph_region_last(graph, region)] == high;
}

static stow_value written_root(const stow_graph* graph, stow_value value) {
  stow_view view;
  stow_node node = stow_graph_producer(graph, value);
  if (!stow_graph_view(graph, node, 0, &view)) {
    return value;
  }
  return written_root(graph, stow_graph_operands(graph, node)[view.operand]);
}

static bool reads_root(const stow_graph* graph, stow_node node, stow_value root) {
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE && written_root(graph, operand) == root) {
      return true;
    }
  }
  return false;
}

static bool writes_are_late(const stow_graph* graph, const uint32_t* step) {
  for (stow_node w = 0; w < stow_graph_node_count(graph); ++w) {
    if (!stow_graph_op_desc(graph, w)->writes_view) {
      continue;
    }
    stow_value root = written_root(graph, stow_graph_operands(graph, w)[0]);
    for (stow_node n = 0; n < w; ++n) {
      if (reads_root(graph, n, root) && step[n] > step[w]) {
        return false;
      }
    }
  }
  return true;
}

static bool operands_are_early(const stow_graph* graph, const uint32_t* step, stow_node node) {
  uint32_t when = step[node];
  stow_region region = stow_graph_owned_region(graph, node, 0);
  if (region != STOW_REGION_ID_NONE) {
    for (stow_node n = 0; n < node; ++n) {
      when = is_inside(graph, n, region) && step[n] < when ? step[n] : when;
    }
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if (operand != STOW_VALUE_NONE && step[stow_graph_producer(graph, operand)] >= when) {
      return false;
    }
  }
  return true;
}

static bool may_run(const stow_graph* graph, const stow_node* order, uint32_t count) {
  uint32_t step[16];
  for (uint32_t i = 0; i < count; ++i) {
    step[order[i]] = i;
  }
  for (stow_node n = 0; n < count; ++n) {
    if (!operands_are_early(graph, step, n)) {
      return false;
    }
    for (size_t i = 0; stow_graph_owned_region(graph, n, i) != STOW_REGION_ID_NONE; ++i) {
      stow_node last = stowi_graph_region_last(graph, stow_graph_owned_region(graph, n, i));
      stow_region next = stow_graph_owned_region(graph, n, i + 1);
      bool in_order =
          next == STOW_REGION_ID_NONE || step[last] < step[stowi_graph_region_last(graph, next)];
      if (step[last] > step[n] || !in_order) {
        return false;
      }
    }
  }
  for (stow_region r = 1; r < stow_graph_region_count(graph); ++r) {
    if (!region_is_stretch(graph, step, r)) {
      return false;
    }
  }
  return writes_are_late(graph, step);
}

// The next permutation in lexicographic order; false after the last.
static bool permute(stow_node* order, uint32_t count) {
  uint32_t i = count - 1;
  while (i > 0 && order[i - 1] > order[i]) {
    --i;
  }
  if (i == 0) {
    return false;
  }
  uint32_t j = count - 1;
  while (order[j] < order[i - 1]) {
    --j;
  }
  stow_node swap = order[i - 1];
  order[i - 1] = order[j];
  order[j] = swap;
  for (uint32_t a = i, b = count - 1; a < b; ++a, --b) {
    swap = order[a];
    order[a] = order[b];
    order[b] = swap;
  }
  return true;
}

static void check_all_orders(const char* body, uint32_t expected_good) {
  parsed p;
  stow_node order[16];
  REQUIRE(parse(&p, body));
  uint32_t count = stow_graph_node_count(p.graph);
  uint32_t good = 0;
  REQUIRE(count <= 16);
  for (uint32_t i = 0; i < count; ++i) {
    order[i] = i;
  }
  do {
    bool expected = may_run(p.graph, order, count);
    good += expected ? 1 : 0;
    if (!CHECK(try_order(&p, order, count) == (expected ? STOW_OK : STOW_ERR_CONFLICT))) {
      break;
    }
  } while (permute(order, count));
  CHECK_U64(good, expected_good);
  stow_module_destroy(p.module);
}

TEST(ExactlyTheValidOrdersAreAccepted) {
  check_all_orders(diamond, 2);
  check_all_orders(cache, 4);
  check_all_orders(branches, 5);
  check_all_orders(loops, 1);
}

// ---------------------------------------------------------------------------------------------

static stow_status attempt_order(stow_allocator allocator, void* user) {
  const parsed* p = (const parsed*)user;
  stow_node order[16];
  uint32_t count = stow_graph_node_count(p->graph);
  for (uint32_t i = 0; i < count; ++i) {
    order[i] = i;
  }
  stow_diag diag;
  stow_diag_init(&diag);
  stow_schedule* schedule;
  stow_status status =
      stow_schedule_create_order(p->graph, order, count, allocator, &diag, &schedule);
  CHECK(diag.status == status);
  stow_schedule_destroy(schedule);
  return status;
}

static stow_status attempt_create(stow_allocator allocator, void* user) {
  const parsed* p = (const parsed*)user;
  stow_schedule* schedule;
  stow_status status = stow_schedule_create(p->graph, allocator, NULL, &schedule);
  stow_schedule_destroy(schedule);
  return status;
}

TEST(EveryFailedAllocationIsReportedAndLeaksNothing) {
  parsed p;
  REQUIRE(parse(&p,
                "  %0 = input \"c\" : bool[]\n"
                "  %1 = input \"cache\" : f32[8, 4]\n"
                "  %2 = if(%0) { yield %0 } else { yield %0 } : bool[]\n"
                "  %3 = kv_append(%1, %1) {axis = 0} : f32[8, 4]\n"
                "  return %2, %3"));
  CHECK_U64(test_fault_sweep(attempt_create, &p), 3);
  CHECK_U64(test_fault_sweep(attempt_order, &p), 6);
  stow_module_destroy(p.module);
}
