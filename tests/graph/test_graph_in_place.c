// Tests of which operands a result may be in place of: by cases, at least one for every op, against
// the table of docs/ops.md, and by moving elements as kernels that copy must.
#include <stdio.h>
#include <stowage/op.h>
#include <string.h>

#include "graph/api.h"
#include "graph/in_place_cases.h"
#include "graph/shape_cases.h"
#include "graph/shapes/in_place.h"
#include "support/test.h"

static const char* over_name(stow_in_place in_place) {
  return in_place == STOW_IN_PLACE_INDEX   ? "index"
         : in_place == STOW_IN_PLACE_ALONE ? "alone"
                                           : "never";
}

static bool is_case_of(const in_place_case* c, const char* op) {
  size_t size = strlen(op);
  return strncmp(c->node, op, size) == 0 && c->node[size] == '(';
}

// The graph of one node over some inputs; its last node is the one. NULL if it is refused.
static stow_module* parse(const char* operands, const char* node, const char* results) {
  stow_diag diag;
  stow_module* module = shape_case_parse(operands, node, results, stow_allocator_default(), &diag);
  test_check(module != NULL, __FILE__, __LINE__, "%s: %s", node, diag.message);
  return module;
}

static stow_in_place ask(stow_module* module, size_t result, size_t operand) {
  const stow_graph* graph = stow_module_graph(module, 0);
  return stow_graph_in_place(graph, stow_graph_node_count(graph) - 1, result, operand);
}

TEST(EveryCaseGivesTheExpectedAnswer) {
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    const in_place_case* c = &in_place_cases[i];
    stow_module* module = parse(c->operands, c->node, c->results);
    if (module != NULL) {
      stow_in_place in_place = ask(module, c->result, c->operand);
      test_check(in_place == c->expected, __FILE__, __LINE__,
                 "%s of %s: %zu over %zu is %s, not %s", c->node, c->operands, c->result,
                 c->operand, over_name(in_place), over_name(c->expected));
    }
    stow_module_destroy(module);
  }
}

// Ops without operands, and those whose regions do the work.
static bool has_nothing_to_say(stow_op op) {
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT ||
         op == STOW_OP_ARGS || op == STOW_OP_YIELD || op == STOW_OP_IF || op == STOW_OP_LOOP;
}

TEST(EveryOpHasACaseAndEveryInPlaceOpOneThatAllows) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    const stow_op_desc* desc = stow_ops_get(NULL, op);
    size_t count = 0;
    size_t allowed = 0;
    for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
      bool is_one = is_case_of(&in_place_cases[i], desc->name);
      count += is_one;
      allowed += is_one && in_place_cases[i].expected != STOW_IN_PLACE_NEVER;
    }
    test_check(count != 0 || has_nothing_to_say(op), __FILE__, __LINE__, "%s: no case", desc->name);
    test_check((allowed != 0) == (desc->in_place != NULL), __FILE__, __LINE__,
               "%s: %zu cases allow it, but the row %s", desc->name, allowed,
               desc->in_place != NULL ? "can" : "cannot");
  }
}

// ---------------------------------------------------------------------------------------------
// Against the reference

// The section of docs/ops.md; empty if the test was not given the folder.
static const char* read_section(void) {
  static char text[1 << 16];
  char path[1024];
  if (test_data_dir() == NULL) {
    return "";
  }
  snprintf(path, sizeof(path), "%s/ops.md", test_data_dir());
  FILE* file = fopen(path, "rb");
  if (!CHECK(file != NULL)) {
    return "";
  }
  text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
  fclose(file);
  char* section = strstr(text, "\n## In place\n");
  if (!CHECK(section != NULL)) {
    return "";
  }
  char* end = strstr(section + 2, "\n## ");
  if (end != NULL) {
    *end = '\0';
  }
  return section;
}

// One row of the table, in its parts.
typedef struct reference {
  char ops[2048];
  char pairs[256];  // "0 in 1, any in 2"
  char how[16];
} reference;

// The row that names |op|.
static bool find_reference(const char* section, const char* op, reference* out) {
  char quoted[64];
  snprintf(quoted, sizeof(quoted), "`%s`", op);
  for (const char* line = strstr(section, "\n| `"); line != NULL;
       line = strstr(line + 1, "\n| `")) {
    int count = sscanf(line, "\n| %2047[^|]| %255[^|]| %15[a-z]", out->ops, out->pairs, out->how);
    if (CHECK(count == 3) && strstr(out->ops, quoted) != NULL) {
      return true;
    }
  }
  return false;
}

static bool is_number(const char* text, size_t size, size_t number) {
  char digits[24];
  snprintf(digits, sizeof(digits), "%zu", number);
  return strlen(digits) == size && strncmp(text, digits, size) == 0;
}

// Whether |c| is one of the pair that begins at |pair|.
static bool is_of_pair(const in_place_case* c, const char* pair) {
  size_t result = strcspn(pair, " ");
  const char* operand = pair + result + strlen(" in ");
  size_t size = strcspn(operand, ", ");
  return (strncmp(pair, "any", 3) == 0 || is_number(pair, result, c->result)) &&
         (strncmp(operand, "any", 3) == 0 || is_number(operand, size, c->operand));
}

static const char* next_pair(const char* pair) {
  const char* comma = strchr(pair, ',');
  return comma == NULL ? NULL : comma + 2;
}

// Each case that allows it is in the row.
static void check_case(const in_place_case* c, const reference* r) {
  bool is_there = strcmp(r->how, over_name(c->expected)) == 0;
  bool is_pair = false;
  for (const char* pair = r->pairs; pair != NULL; pair = next_pair(pair)) {
    is_pair = is_pair || is_of_pair(c, pair);
  }
  test_check(is_there && is_pair, __FILE__, __LINE__, "%s: %zu over %zu is %s, not \"%s\" %s",
             c->node, c->result, c->operand, over_name(c->expected), r->pairs, r->how);
}

// Each pair of the row is allowed in some case.
static void check_pair(const char* op, const char* pair) {
  bool is_shown = false;
  for (size_t i = 0; i < OVER_CASE_COUNT; ++i) {
    const in_place_case* c = &in_place_cases[i];
    is_shown = is_shown ||
               (is_case_of(c, op) && c->expected != STOW_IN_PLACE_NEVER && is_of_pair(c, pair));
  }
  test_check(is_shown, __FILE__, __LINE__, "%s: no case shows \"%s\"", op, pair);
}

TEST(ReferenceListsTheSameOps) {
  const char* section = read_section();
  for (stow_op op = 0; section[0] != '\0' && op < STOW_OP_CORE_COUNT; ++op) {
    const char* name = stow_ops_get(NULL, op)->name;
    reference row;
    bool is_named = find_reference(section, name, &row);
    test_check(is_named == (stow_ops_get(NULL, op)->in_place != NULL), __FILE__, __LINE__,
               "%s is %sin the table", name, is_named ? "" : "not ");
    for (size_t i = 0; is_named && i < OVER_CASE_COUNT; ++i) {
      if (is_case_of(&in_place_cases[i], name) &&
          in_place_cases[i].expected != STOW_IN_PLACE_NEVER) {
        check_case(&in_place_cases[i], &row);
      }
    }
    for (const char* pair = is_named ? row.pairs : NULL; pair != NULL; pair = next_pair(pair)) {
      check_pair(name, pair);
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Rows of callers, and room that is not in the type

static stow_status shape_same(stow_shape_call* call) {
  stow_shape_set_result(call, 0, stow_shape_operand(call, 0));
  return STOW_OK;
}

static stow_in_place over_last(const stow_shape_call* call, size_t k, size_t operand) {
  return k == 0 && operand + 1 == stow_shape_operand_count(call) ? STOW_IN_PLACE_ALONE
                                                                 : STOW_IN_PLACE_NEVER;
}

TEST(RowsOfCallersAreUsedToo) {
  stow_ops* ops = NULL;
  REQUIRE(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  stow_op_desc desc;
  stow_op_desc_init(&desc);
  CHECK(desc.in_place == NULL);
  desc.name = "t.pick";
  desc.min_operands = 2;
  desc.max_operands = 2;
  desc.shape = shape_same;
  desc.in_place = over_last;
  REQUIRE(stow_ops_register(ops, &desc, NULL, NULL) == STOW_OK);
  const char* text =
      "graph @g {\n"
      "  %0 = input \"x\" : f32[4]\n"
      "  %1 = input \"y\" : f32[8]\n"
      "  %2 = t.pick(%0, %1) : f32[4]\n"
      "  %3 = t.pick(%1, %0) : f32[8]\n"
      "  return %2, %3\n"
      "}\n";
  stow_module* module = NULL;
  REQUIRE(stow_module_parse(text, strlen(text), "t", ops, stow_allocator_default(), NULL,
                            &module) == STOW_OK);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stow_graph_in_place(graph, 2, 0, 1) == STOW_IN_PLACE_ALONE);
  CHECK(stow_graph_in_place(graph, 2, 0, 0) == STOW_IN_PLACE_NEVER);
  CHECK(stow_graph_in_place(graph, 3, 0, 1) == STOW_IN_PLACE_NEVER);  // it has fewer bytes,
  CHECK(stowi_graph_in_place_storage(graph, 3, 0, 1) ==
        STOW_IN_PLACE_ALONE);  // but for its storage
  CHECK(stowi_graph_in_place_storage(graph, 3, 0, 2) == STOW_IN_PLACE_NEVER);
  CHECK(stowi_graph_in_place_storage(graph, 3, 1, 1) == STOW_IN_PLACE_NEVER);
  stow_module_destroy(module);
  stow_ops_destroy(ops);
}

TEST(ConcatIsInPlaceOfAFirstOperandWithStorage) {
  stow_module* module = parse("f32[2, 3]; f32[2, 5]", "concat(%0, %1) {axis = 1}", "f32[2, 8]");
  REQUIRE(module != NULL);
  const stow_graph* graph = stow_module_graph(module, 0);
  CHECK(stowi_graph_in_place_storage(graph, 2, 0, 0) == STOW_IN_PLACE_ALONE);
  CHECK(stowi_graph_in_place_storage(graph, 2, 0, 1) == STOW_IN_PLACE_NEVER);
  stow_module_destroy(module);
}

// ---------------------------------------------------------------------------------------------
// Copies in place: elements are moved as the rows' comments say, and must be those that a copy to
// other bytes would give.

#define MAX_DIM 6
#define MAX_ELEMENTS (MAX_DIM * MAX_DIM * MAX_DIM)

typedef struct box {
  int64_t dims[3];
  int64_t starts[3];
  int64_t steps[3];
  int64_t counts[3];
} box;

static int64_t below(test_random* random, uint64_t bound) {
  return (int64_t)test_random_below(random, bound);
}

static box any_box(test_random* random) {
  box b;
  for (size_t i = 0; i < 3; ++i) {
    b.dims[i] = 1 + below(random, MAX_DIM);
    b.starts[i] = below(random, (uint64_t)b.dims[i]);
    bool is_back = below(random, 3) == 0;
    b.steps[i] = (1 + below(random, 3)) * (is_back ? -1 : 1);
    int64_t most = is_back ? b.starts[i] / -b.steps[i] + 1
                           : (b.dims[i] - b.starts[i] + b.steps[i] - 1) / b.steps[i];
    b.counts[i] = 1 + below(random, (uint64_t)most);
  }
  return b;
}

// Where element |j| of the slice stood.
static size_t source_of(const box* b, size_t j) {
  int64_t rest = (int64_t)j;
  int64_t z = rest % b->counts[2];
  rest /= b->counts[2];
  int64_t y = rest % b->counts[1];
  int64_t x = rest / b->counts[1];
  int64_t at = b->starts[0] + x * b->steps[0];
  at = at * b->dims[1] + b->starts[1] + y * b->steps[1];
  return (size_t)(at * b->dims[2] + b->starts[2] + z * b->steps[2]);
}

static stow_in_place ask_slice(const box* b) {
  char operands[64];
  char node[512];
  char results[64];
  int64_t ends[3];
  for (size_t i = 0; i < 3; ++i) {
    ends[i] = b->starts[i] + b->counts[i] * b->steps[i];
    ends[i] = ends[i] < 0 ? INT32_MIN : ends[i];
  }
#define THREE(list) (long long)(list)[0], (long long)(list)[1], (long long)(list)[2]
  snprintf(operands, sizeof(operands), "f32[%lld, %lld, %lld]", THREE(b->dims));
  snprintf(node, sizeof(node),
           "slice(%%0) {starts = [%lld, %lld, %lld], ends = [%lld, %lld, %lld], "
           "axes = [0, 1, 2], steps = [%lld, %lld, %lld]}",
           THREE(b->starts), THREE(ends), THREE(b->steps));
  snprintf(results, sizeof(results), "f32[%lld, %lld, %lld]", THREE(b->counts));
#undef THREE
  stow_module* module = parse(operands, node, results);
  stow_in_place in_place = module == NULL ? STOW_IN_PLACE_NEVER : ask(module, 0, 0);
  stow_module_destroy(module);
  return in_place;
}

static bool moves_in_place(const box* b) {
  size_t bytes[MAX_ELEMENTS];
  size_t count = (size_t)(b->counts[0] * b->counts[1] * b->counts[2]);
  for (size_t i = 0; i < MAX_ELEMENTS; ++i) {
    bytes[i] = i;
  }
  bool is_right = true;
  for (size_t j = 0; j < count; ++j) {
    is_right = is_right && bytes[source_of(b, j)] == source_of(b, j);
    bytes[j] = source_of(b, j);
  }
  return is_right;
}

TEST(SlicesInPlaceCanBeMovedInAscendingOrder) {
  test_random random = {5};
  size_t taken = 0;
  size_t refused = 0;
  for (size_t i = 0; i < 2000; ++i) {
    box b = any_box(&random);
    bool is_allowed = ask_slice(&b) == STOW_IN_PLACE_ALONE;
    CHECK(!is_allowed || moves_in_place(&b));
    taken += is_allowed;
    refused += !is_allowed && !moves_in_place(&b);
  }
  CHECK(taken > 500);
  CHECK(refused > 20);
}

// All parts of |rows| rows are written in one walk, part |over| in place of the operand.
static bool splits_in_place(const size_t* sizes, size_t parts, size_t rows, size_t in_place) {
  size_t bytes[MAX_ELEMENTS];
  size_t whole = 0;
  for (size_t i = 0; i < MAX_ELEMENTS; ++i) {
    bytes[i] = i;
  }
  for (size_t part = 0; part < parts; ++part) {
    whole += sizes[part];
  }
  bool is_right = true;
  for (size_t at = 0; at < rows * whole; ++at) {
    size_t part = 0;
    size_t column = at % whole;
    while (column >= sizes[part]) {
      column -= sizes[part++];
    }
    is_right = is_right && bytes[at] == at;
    if (part == in_place) {
      bytes[at / whole * sizes[part] + column] = SIZE_MAX;
    }
  }
  return is_right;
}

TEST(EachPartOfASplitCanBeMovedInOneWalk) {
  test_random random = {6};
  for (size_t i = 0; i < 2000; ++i) {
    size_t sizes[3];
    for (size_t part = 0; part < 3; ++part) {
      sizes[part] = (size_t)below(&random, MAX_DIM + 1);
    }
    CHECK(splits_in_place(sizes, 3, 1 + (size_t)below(&random, MAX_DIM), i % 3));
  }
}

// The first operand's rows are moved from the last to the first.
TEST(RowsOfConcatCanBeMovedFromTheLastToTheFirst) {
  for (size_t rows = 0; rows < MAX_DIM; ++rows) {
    for (size_t first = 0; first < MAX_DIM; ++first) {
      for (size_t second = 0; second < MAX_DIM; ++second) {
        size_t bytes[2 * MAX_ELEMENTS];
        for (size_t i = 0; i < 2 * MAX_ELEMENTS; ++i) {
          bytes[i] = i;
        }
        for (size_t at = rows * first; at-- > 0;) {
          CHECK_U64(bytes[at], at);
          bytes[at / first * (first + second) + at % first] = SIZE_MAX;
        }
      }
    }
  }
}
