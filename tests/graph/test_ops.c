// Tests of the op table and of the registry.
#include <stdio.h>
#include <stowage/op.h>
#include <string.h>

#include "graph/api.h"
#include "graph/op_table.h"
#include "support/fault.h"
#include "support/test.h"

static stow_status shape_nothing(stow_shape_call* call) {
  (void)call;
  return STOW_OK;
}

static bool view_nothing(const stow_shape_call* call, size_t k, stow_view* out_view) {
  (void)call;
  (void)k;
  (void)out_view;
  return false;
}

static stow_op_desc desc_of(const char* name) {
  stow_op_desc desc;
  stow_op_desc_init(&desc);
  desc.name = name;
  desc.shape = shape_nothing;
  return desc;
}

static stow_ops* new_ops(void) {
  stow_ops* ops = NULL;
  CHECK(stow_ops_create(stow_allocator_default(), NULL, &ops) == STOW_OK);
  return ops;
}

// ---------------------------------------------------------------------------------------------
// The core's rows

TEST(EveryCoreRowIsComplete) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    const stow_op_desc* desc = stow_ops_get(NULL, op);
    REQUIRE(desc != NULL);
    CHECK_U64(desc->struct_size, sizeof(*desc));
    CHECK(desc->name[0] >= 'a' && desc->name[0] <= 'z');
    CHECK(desc->summary != NULL && desc->summary[0] != '\0');
    CHECK(desc->min_operands <= desc->max_operands);
    CHECK(desc->min_results <= desc->max_results);
    CHECK((desc->shape == NULL) == (desc->typing == STOW_TYPING_DECLARED));
    CHECK((desc->region_count == 0) == (desc->region_kind == STOW_REGION_NONE));
    CHECK(!desc->writes_view || desc->view != NULL);
  }
}

TEST(EveryCoreOpIsFoundByItsNameAndNameIsUnique) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    CHECK_U64(stow_ops_find(NULL, stow_str_of(stow_ops_get(NULL, op)->name)), op);
  }
  CHECK(stow_ops_find(NULL, stow_str_of("rel")) == STOW_OP_NONE);
  CHECK(stow_ops_find(NULL, stow_str_of("RELU")) == STOW_OP_NONE);
  CHECK(stow_ops_find(NULL, stow_str_of("")) == STOW_OP_NONE);
}

TEST(CoreAttributesHaveUniqueNamesAndPlainDefaults) {
  for (stow_op op = 0; op < STOW_OP_CORE_COUNT; ++op) {
    for (size_t i = 0; i < stow_ops_attr_count(NULL, op); ++i) {
      const stow_attr* attr = stow_ops_attr(NULL, op, i, NULL);
      REQUIRE(attr != NULL);
      CHECK(attr->name.size == strlen(attr->name.data));
      for (size_t j = 0; j < i; ++j) {
        CHECK(!stow_str_equal(attr->name, stow_ops_attr(NULL, op, j, NULL)->name));
      }
    }
  }
}

TEST(NarrowNeedsAllItsAttributes) {
  static const char* const names[] = {"axis", "start", "len"};
  CHECK_U64(stow_ops_attr_count(NULL, STOW_OP_NARROW), 3);
  for (size_t i = 0; i < 3; ++i) {
    bool required = false;
    const stow_attr* attr = stow_ops_attr(NULL, STOW_OP_NARROW, i, &required);
    REQUIRE(attr != NULL);
    CHECK(required);
    CHECK_TEXT(attr->name.data, names[i]);
  }
}

TEST(DefaultsFollowTheReference) {
  bool required = true;
  CHECK(stow_ops_attr(NULL, STOW_OP_SOFTMAX, 0, &required)->i == -1);
  CHECK(!required);
  CHECK(stow_ops_attr(NULL, STOW_OP_LAYER_NORM, 1, NULL)->f == 1e-5);
  CHECK_TEXT(stow_ops_attr(NULL, STOW_OP_ATTENTION, 0, NULL)->s.data, "bshd");
  CHECK(stow_ops_attr(NULL, STOW_OP_CUSTOM, 1, NULL)->i == -1);
  CHECK(stow_ops_get(NULL, STOW_OP_CUSTOM)->any_attrs);
  CHECK(!stow_ops_get(NULL, STOW_OP_PARAM)->any_attrs);
}

TEST(LoopReportsItsCarriedValues) {
  const stow_op_desc* loop = stow_ops_get(NULL, STOW_OP_LOOP);
  CHECK_U64(loop->carry.first_operand, 2);
  CHECK_U64(loop->carry.first_arg, 2);
  CHECK_U64(loop->carry.first_yield, 1);
  CHECK_U64(loop->carry.first_result, 0);
  CHECK(loop->region_kind == STOW_REGION_LOOP);
  CHECK(stow_ops_get(NULL, STOW_OP_IF)->region_kind == STOW_REGION_BRANCH);
}

// The whole of docs/ops.md; empty if the test was not given the folder.
static const char* read_reference(void) {
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
  return text;
}

TEST(ReferenceNamesEveryOpAndAttribute) {
  const char* reference = read_reference();
  for (stow_op op = 0; reference[0] != '\0' && op < STOW_OP_CORE_COUNT; ++op) {
    char quoted[64];
    snprintf(quoted, sizeof(quoted), "`%s`", stow_ops_get(NULL, op)->name);
    CHECK_HAS(reference, quoted);
    for (size_t i = 0; i < stow_ops_attr_count(NULL, op); ++i) {
      snprintf(quoted, sizeof(quoted), "`%s", stow_ops_attr(NULL, op, i, NULL)->name.data);
      CHECK_HAS(reference, quoted);
    }
  }
}

TEST(GettersPastTheEndReturnDefaults) {
  stow_ops* ops = new_ops();
  const stow_ops* tables[] = {NULL, ops};
  for (size_t i = 0; i < 2; ++i) {
    bool required = true;
    CHECK_U64(stowi_graph_ops_count(tables[i]), STOW_OP_CORE_COUNT);
    CHECK(stow_ops_get(tables[i], STOW_OP_CORE_COUNT) == NULL);
    CHECK(stow_ops_get(tables[i], STOW_OP_NONE) == NULL);
    CHECK_U64(stow_ops_attr_count(tables[i], STOW_OP_CORE_COUNT), 0);
    CHECK(stow_ops_attr(tables[i], STOW_OP_RELU, 0, &required) == NULL);
    CHECK(!required);
  }
  stow_ops_destroy(ops);
  stow_ops_destroy(NULL);
}

// ---------------------------------------------------------------------------------------------
// Registering

TEST(RegisteredOpsFollowTheCoreAndAreFound) {
  stow_ops* ops = new_ops();
  for (unsigned i = 0; i < 100; ++i) {
    char name[32];
    snprintf(name, sizeof(name), "acme.op_%u", i);
    stow_op_desc desc = desc_of(name);
    stow_op op;
    REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
    CHECK_U64(op, STOW_OP_CORE_COUNT + i);
  }
  CHECK_U64(stowi_graph_ops_count(ops), STOW_OP_CORE_COUNT + 100);
  CHECK_U64(stow_ops_find(ops, stow_str_of("acme.op_42")), STOW_OP_CORE_COUNT + 42);
  CHECK(stow_ops_find(ops, stow_str_of("acme.op_100")) == STOW_OP_NONE);
  CHECK_U64(stow_ops_find(ops, stow_str_of("relu")), STOW_OP_RELU);
  CHECK_TEXT(stow_ops_get(ops, STOW_OP_CORE_COUNT + 7)->name, "acme.op_7");
  stow_ops_destroy(ops);
}

TEST(RowsAreCopiedAndPointersStayValid) {
  stow_ops* ops = new_ops();
  char name[] = "acme.mix";
  char summary[] = "mixes";
  stow_op_desc desc = desc_of(name);
  desc.summary = summary;
  stow_op op;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  memset(name, 'z', sizeof(name) - 1);
  memset(summary, 'z', sizeof(summary) - 1);
  const stow_op_desc* row = stow_ops_get(ops, op);
  CHECK_TEXT(row->name, "acme.mix");
  CHECK_TEXT(row->summary, "mixes");
  for (int i = 0; i < 50; ++i) {
    char other[32];
    snprintf(other, sizeof(other), "other_%d", i);
    stow_op_desc more = desc_of(other);
    REQUIRE(stow_ops_register(ops, &more, NULL, NULL) == STOW_OK);
  }
  CHECK(stow_ops_get(ops, op) == row);
  CHECK(stow_ops_get(ops, op + 1)->summary == NULL);
  stow_ops_destroy(ops);
}

TEST(TakenAndBadNamesAreRefused) {
  stow_ops* ops = new_ops();
  stow_diag diag;
  stow_diag_init(&diag);
  static const struct {
    const char* name;
    stow_status status;
    const char* message;
  } cases[] = {
      {"relu", STOW_ERR_DUPLICATE, "op \"relu\" already exists"},
      {NULL, STOW_ERR_INVALID_ARGUMENT, "is not an op name"},
      {"", STOW_ERR_INVALID_ARGUMENT, "is not an op name"},
      {"Relu", STOW_ERR_INVALID_ARGUMENT,
       "\"Relu\" is not an op name; expected a lower-case letter, then lower-case letters, digits, "
       "'_' and '.'"},
      {"9lives", STOW_ERR_INVALID_ARGUMENT, "is not an op name"},
      {"a-b", STOW_ERR_INVALID_ARGUMENT, "is not an op name"},
      {"return", STOW_ERR_INVALID_ARGUMENT, "word of the text format"},
      {"with", STOW_ERR_INVALID_ARGUMENT, "word of the text format"},
  };
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); ++i) {
    stow_op_desc desc = desc_of(cases[i].name);
    stow_op op = 0;
    CHECK(stow_ops_register(ops, &desc, &diag, &op) == cases[i].status);
    CHECK_HAS(diag.message, cases[i].message);
    CHECK(op == STOW_OP_NONE);
  }
  stow_op_desc twice = desc_of("acme.twice");
  CHECK(stow_ops_register(ops, &twice, NULL, NULL) == STOW_OK);
  CHECK(stow_ops_register(ops, &twice, &diag, NULL) == STOW_ERR_DUPLICATE);
  CHECK_U64(stowi_graph_ops_count(ops), STOW_OP_CORE_COUNT + 1);
  stow_ops_destroy(ops);
}

// Registers |desc| unchanged and expects a refusal with |message|.
static void check_refused(const stow_op_desc* desc, const char* message) {
  stow_ops* ops = new_ops();
  stow_diag diag;
  stow_diag_init(&diag);
  CHECK(stow_ops_register(ops, desc, &diag, NULL) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, message);
  CHECK_U64(stowi_graph_ops_count(ops), STOW_OP_CORE_COUNT);
  stow_ops_destroy(ops);
}

TEST(ContradictoryRowsAreRefused) {
  stow_op_desc desc = desc_of("acme.op");
  desc.min_operands = 2;
  desc.max_operands = 1;
  check_refused(&desc, "op \"acme.op\": min_operands is above max_operands");
  desc = desc_of("acme.op");
  desc.min_results = 2;
  check_refused(&desc, "min_results is above max_results");
  desc = desc_of("acme.op");
  desc.typing = (stow_typing)7;
  check_refused(&desc, "typing is out of range");
  desc = desc_of("acme.op");
  desc.shape = NULL;
  check_refused(
      &desc, "a shape function is required unless types are declared, and not allowed if they are");
  desc = desc_of("acme.op");
  desc.typing = STOW_TYPING_DECLARED;
  check_refused(&desc,
                "op \"acme.op\": a shape function is required unless types are declared, and not "
                "allowed if they are");
  desc = desc_of("acme.op");
  desc.writes_view = true;
  check_refused(&desc, "writes_view needs a view function");
}

TEST(RegionCountMustMatchTheKind) {
  stow_op_desc desc = desc_of("acme.op");
  desc.region_count = 1;
  check_refused(&desc, "regions need a region_kind");
  desc.region_kind = STOW_REGION_BRANCH;
  desc.region_count = 0;
  check_refused(&desc, "needs a region");
  desc.region_kind = STOW_REGION_LOOP;
  desc.region_count = 2;
  check_refused(&desc, "exactly one region");
  desc.region_kind = (stow_region_kind)9;
  check_refused(&desc, "region_kind is out of range");
}

TEST(StructSizesAreChecked) {
  stow_op_desc desc = desc_of("acme.op");
  desc.struct_size = 0;
  check_refused(&desc, "stow_op_desc");
  desc.struct_size = sizeof(desc) + 1;
  check_refused(&desc, "stow_op_desc");

  // A caller of an older version has fewer fields: the rest are as init writes them.
  stow_ops* ops = new_ops();
  desc.struct_size = offsetof(stow_op_desc, writes_view);
  desc.writes_view = true;
  stow_op op;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  CHECK(!stow_ops_get(ops, op)->writes_view);
  CHECK_U64(stow_ops_get(ops, op)->struct_size, sizeof(desc));
  stow_ops_destroy(ops);
}

TEST(AllFieldsOfARowAreKept) {
  stow_ops* ops = new_ops();
  stow_op_desc desc = desc_of("acme.cache");
  desc.view = view_nothing;
  desc.writes_view = true;
  desc.any_attrs = true;
  desc.region_kind = STOW_REGION_LOOP;
  desc.region_count = 1;
  desc.max_operands = STOW_ANY_COUNT;
  stow_op op;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  const stow_op_desc* row = stow_ops_get(ops, op);
  CHECK(row->view == view_nothing && row->shape == shape_nothing);
  CHECK(row->writes_view && row->any_attrs);
  CHECK(row->region_kind == STOW_REGION_LOOP && row->region_count == 1);
  CHECK(row->max_operands == STOW_ANY_COUNT);
  stow_ops_destroy(ops);
}

// ---------------------------------------------------------------------------------------------
// Attributes

static stow_attr attr_of(const char* name, stow_attr_kind kind) {
  stow_attr attr;
  memset(&attr, 0, sizeof(attr));
  attr.name = stow_str_of(name);
  attr.kind = kind;
  return attr;
}

TEST(AttributeDefaultsOfAllKindsAreCopied) {
  stow_ops* ops = new_ops();
  stow_op_desc desc = desc_of("acme.op");
  stow_op op;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  int64_t ints[] = {1, -2, 3};
  double floats[] = {0.5, 0.25};
  char text[] = "text";
  stow_str strings[] = {{text, 4}, {"", 0}, {"b\0c", 3}};

  stow_attr attr = attr_of("i", STOW_ATTR_INT);
  attr.i = 7;
  attr.f = 3.0;  // not of its kind: left behind
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("f", STOW_ATTR_FLOAT);
  attr.f = 1.5;
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("b", STOW_ATTR_BOOL);
  attr.b = true;
  CHECK(stow_ops_add_attr(ops, op, &attr, true, NULL) == STOW_OK);
  attr = attr_of("s", STOW_ATTR_STRING);
  attr.s = strings[0];
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("ints", STOW_ATTR_INTS);
  attr.ints = ints;
  attr.count = 3;
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("floats", STOW_ATTR_FLOATS);
  attr.floats = floats;
  attr.count = 2;
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("strings", STOW_ATTR_STRINGS);
  attr.strings = strings;
  attr.count = 3;
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  attr = attr_of("none", STOW_ATTR_INTS);
  CHECK(stow_ops_add_attr(ops, op, &attr, false, NULL) == STOW_OK);
  memset(ints, 0, sizeof(ints));
  memset(floats, 0, sizeof(floats));
  memset(text, 0, sizeof(text));

  CHECK_U64(stow_ops_attr_count(ops, op), 8);
  bool required = false;
  CHECK(stow_ops_attr(ops, op, 0, NULL)->i == 7);
  CHECK(stow_ops_attr(ops, op, 0, NULL)->f == 0.0);
  CHECK(stow_ops_attr(ops, op, 1, NULL)->f == 1.5);
  CHECK(stow_ops_attr(ops, op, 2, &required)->b);
  CHECK(required);
  CHECK_TEXT(stow_ops_attr(ops, op, 3, &required)->s.data, "text");
  CHECK(!required);
  CHECK(stow_ops_attr(ops, op, 4, NULL)->ints[1] == -2);
  CHECK(stow_ops_attr(ops, op, 5, NULL)->floats[1] == 0.25);
  CHECK_TEXT(stow_ops_attr(ops, op, 6, NULL)->strings[0].data, "text");
  CHECK(stow_str_equal(stow_ops_attr(ops, op, 6, NULL)->strings[2], strings[2]));
  CHECK_U64(stow_ops_attr(ops, op, 7, NULL)->count, 0);
  CHECK_TEXT(stow_ops_attr(ops, op, 7, NULL)->name.data, "none");
  stow_ops_destroy(ops);
}

TEST(BadAttributesAreRefused) {
  stow_ops* ops = new_ops();
  stow_diag diag;
  stow_diag_init(&diag);
  stow_op_desc desc = desc_of("acme.op");
  stow_op op;
  REQUIRE(stow_ops_register(ops, &desc, NULL, &op) == STOW_OK);
  stow_attr attr = attr_of("alpha", STOW_ATTR_INT);
  CHECK(stow_ops_add_attr(ops, STOW_OP_RELU, &attr, false, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "\"relu\" is a core op and cannot be changed");
  CHECK(stow_ops_add_attr(ops, op + 1, &attr, false, &diag) == STOW_ERR_NOT_FOUND);
  CHECK_HAS(diag.message, "op 227 is out of range for this table");
  CHECK(stow_ops_add_attr(ops, op, &attr, false, &diag) == STOW_OK);
  CHECK(stow_ops_add_attr(ops, op, &attr, false, &diag) == STOW_ERR_DUPLICATE);
  CHECK_HAS(diag.message, "op \"acme.op\": attribute \"alpha\" already exists");
  attr = attr_of("", STOW_ATTR_INT);
  CHECK(stow_ops_add_attr(ops, op, &attr, false, &diag) == STOW_ERR_INVALID_ARGUMENT);
  attr = attr_of("beta", (stow_attr_kind)99);
  CHECK(stow_ops_add_attr(ops, op, &attr, false, &diag) == STOW_ERR_INVALID_ARGUMENT);
  attr = attr_of("beta", STOW_ATTR_FLOATS);
  attr.count = 2;
  CHECK(stow_ops_add_attr(ops, op, &attr, false, &diag) == STOW_ERR_INVALID_ARGUMENT);
  CHECK_HAS(diag.message, "has a list without data");
  CHECK_U64(stow_ops_attr_count(ops, op), 1);
  stow_ops_destroy(ops);
}

static stow_status register_and_describe(stow_allocator allocator, void* user) {
  (void)user;
  stow_ops* ops = NULL;
  stow_op op = STOW_OP_NONE;
  stow_op_desc desc = desc_of("acme.op");
  desc.summary = "something";
  stow_str strings[] = {{"a", 1}, {"b", 1}};
  stow_attr list = attr_of("list", STOW_ATTR_STRINGS);
  list.strings = strings;
  list.count = 2;
  stow_attr plain = attr_of("plain", STOW_ATTR_INT);
  stow_status status = stow_ops_create(allocator, NULL, &ops);
  if (status == STOW_OK) {
    status = stow_ops_register(ops, &desc, NULL, &op);
    CHECK_U64(stowi_graph_ops_count(ops), STOW_OP_CORE_COUNT + (status == STOW_OK));
    CHECK((stow_ops_find(ops, stow_str_of("acme.op")) == op));
  }
  if (status == STOW_OK) {
    status = stow_ops_add_attr(ops, op, &list, false, NULL);
    CHECK_U64(stow_ops_attr_count(ops, op), status == STOW_OK);
  }
  if (status == STOW_OK) {
    status = stow_ops_add_attr(ops, op, &plain, true, NULL);
  }
  stow_ops_destroy(ops);
  return status;
}

TEST(RegistrySurvivesEveryFailedAllocation) {
  CHECK(test_fault_sweep(register_and_describe, NULL) >= 8);
}
