// Random graphs over ranges, beside graphs of the same nodes with numbers at every point: what the
// one accepts, all others accept with the same types; what it refuses without saying where to
// divide a range, all others refuse.
#include <stdio.h>
#include <stowage/graph.h>
#include <stowage/text.h>
#include <string.h>

#include "graph_support.h"

#define MOST_POINTS 20
#define STEPS 10

typedef struct world {
  stow_graph* ranged;
  stow_graph* at[MOST_POINTS];
  int64_t points[MOST_POINTS][2];
  size_t count;
  stow_diag diag;  // of the ranged graph
  size_t made;     // nodes that were accepted
  size_t split;    // refused, and a range would have to be divided
} world;

// A node to add; numbers are lists of attributes or constants.
typedef struct recipe {
  stow_op op;
  stow_value operands[3];
  size_t operand_count;
  const char* names[3];
  int64_t lists[3][4];
  size_t counts[3];  // 0: an int
  size_t attr_count;
  size_t results;
} recipe;

static stow_status add(stow_graph* graph, const recipe* r, stow_diag* diag) {
  stow_call* call = stow_graph_begin(graph, r->op);
  for (size_t i = 0; i < r->operand_count; ++i) {
    stow_call_operand(call, r->operands[i]);
  }
  for (size_t i = 0; i < r->attr_count; ++i) {
    stow_attr attr =
        stow_attr_named(r->names[i], r->counts[i] == 0 ? STOW_ATTR_INT : STOW_ATTR_INTS);
    attr.i = r->lists[i][0];
    attr.ints = r->counts[i] == 0 ? NULL : r->lists[i];
    attr.count = r->counts[i];
    stow_call_attr(call, &attr);
  }
  if (r->results > 1) {
    stow_call_result_count(call, r->results);
  }
  return stow_call_finish(call, diag, NULL);
}

static bool is_same(const world* w, size_t p, stow_value value) {
  const stow_type* a = stow_graph_type(w->ranged, value);
  const stow_type* b = stow_graph_type(w->at[p], value);
  bool same = a->dtype == b->dtype && a->rank == b->rank;
  for (uint32_t i = 0; same && i < a->rank; ++i) {
    int64_t number;
    same = stow_dim_evaluate(stow_graph_dims(w->ranged), a->dims[i], w->points[p], &number) ==
               STOW_OK &&
           number == b->dims[i];
  }
  return same;
}

static void explain(const world* w, size_t p, const char* what) {
  stow_string text;
  stow_string_init(&text, stow_allocator_default());
  (void)stow_graph_print(w->ranged, stow_string_writer(&text));
  fprintf(stderr, "%s at a=%lld b=%lld: %s\n%s\n", what, (long long)w->points[p][0],
          (long long)w->points[p][1], w->diag.message, text.data);
  (void)stow_graph_print(w->at[p], stow_string_writer(&text));
  fprintf(stderr, "%s\n", text.data + strlen(text.data) / 2);
  stow_string_free(&text);
}

// Adds the node everywhere; false if some graphs have it now and others do not.
static bool step(world* w, const recipe* r) {
  stow_value first = stow_graph_value_count(w->ranged);
  bool taken = add(w->ranged, r, &w->diag) == STOW_OK;
  bool all = true;
  bool none = true;
  for (size_t p = 0; p < w->count; ++p) {
    bool at_point = add(w->at[p], r, NULL) == STOW_OK;
    all = all && at_point;
    none = none && !at_point;
    bool fits = !taken || at_point;
    for (stow_value v = first; taken && at_point && fits && v < stow_graph_value_count(w->ranged);
         ++v) {
      fits = is_same(w, p, v);
    }
    if (!fits) {
      explain(w, p, "differs");
    }
    CHECK(fits);
  }
  w->made += taken;
  w->split += !taken && w->diag.split_symbol[0] != '\0';
  if (!taken && !none && w->diag.split_symbol[0] == '\0') {
    explain(w, 0, "refused without a split");
    CHECK(false);
  }
  return taken ? all : none;
}

static stow_value constant(world* w, size_t number, const int64_t* values, size_t count) {
  stow_value value = STOW_VALUE_NONE;
  char name[24];
  snprintf(name, sizeof(name), "k%zu", number);
  for (size_t p = 0; p <= w->count; ++p) {
    stow_graph* graph = p == w->count ? w->ranged : w->at[p];
    stow_call* call = stow_graph_begin(graph, STOW_OP_CONSTANT);
    stow_type type = VECTOR(STOW_I64, (stow_dim)count);
    stow_call_name(call, 0, stow_str_of(name));
    stow_call_result_type(call, &type);
    stow_attr data = stow_attr_named("data", STOW_ATTR_INTS);
    data.ints = values;
    data.count = count;
    stow_call_attr(call, &data);
    stow_node node;
    CHECK(stow_call_finish(call, NULL, &node) == STOW_OK);
    value = stow_graph_first_result(graph, node);
  }
  return value;
}

static stow_dim random_dim(stow_dims* dims, uint64_t kind, stow_dim a, stow_dim b) {
  switch (kind) {
    case 0: return 1;
    case 1: return 2;
    case 2: return 6;
    case 3:
    case 4: return a;
    case 5: return b;
    case 6: return stow_dim_add(dims, a, 1);
    case 7: return stow_dim_mul(dims, a, 2);
    case 8: return stow_dim_min(dims, a, 2);
    case 9: return stow_dim_max(dims, a, b);
    case 10: return stow_dim_floor_div(dims, stow_dim_add(dims, a, b), 2);
    default: return 4;
  }
}

static void add_inputs(world* w, test_random* random) {
  for (size_t k = 0; k < 3; ++k) {
    char name[8];
    snprintf(name, sizeof(name), "x%zu", k);
    uint32_t rank = 1 + (uint32_t)test_random_below(random, 3);
    uint64_t kinds[3];
    for (uint32_t i = 0; i < rank; ++i) {
      kinds[i] = test_random_below(random, 12);
    }
    for (size_t p = 0; p <= w->count; ++p) {
      stow_graph* graph = p == w->count ? w->ranged : w->at[p];
      stow_dims* dims = stow_graph_edit_dims(graph);
      bool is_ranged = p == w->count;
      stow_dim a = is_ranged ? stow_dim_symbol(dims, stow_str_of("a")) : w->points[p][0];
      stow_dim b = is_ranged ? stow_dim_symbol(dims, stow_str_of("b")) : w->points[p][1];
      stow_type type = stow_type_make(STOW_F32, 0, NULL);
      for (uint32_t i = 0; i < rank; ++i) {
        type.dims[type.rank++] = random_dim(dims, kinds[i], a, b);
      }
      (void)add_input(graph, name, type);
    }
  }
}

static stow_value pick(const world* w, test_random* random, stow_dtype dtype) {
  stow_value count = stow_graph_value_count(w->ranged);
  stow_value value = (stow_value)test_random_below(random, count);
  for (stow_value i = 0; i < count; ++i) {
    stow_value tried = (value + i) % count;
    if (stow_graph_type(w->ranged, tried)->dtype == dtype) {
      return tried;
    }
  }
  return 0;
}

static int64_t small(test_random* random, int64_t low, int64_t high) {
  return low + (int64_t)test_random_below(random, (uint64_t)(high - low + 1));
}

static void set_attr(recipe* r, const char* name, size_t count, int64_t a, int64_t b) {
  r->names[r->attr_count] = name;
  r->lists[r->attr_count][0] = a;
  r->lists[r->attr_count][1] = b;
  r->counts[r->attr_count++] = count;
}

static recipe random_node(world* w, test_random* random, size_t number) {
  stow_value x = pick(w, random, STOW_F32);
  stow_value y = pick(w, random, STOW_F32);
  stow_value list = pick(w, random, STOW_I64);
  bool has_list = stow_graph_type(w->ranged, list)->dtype == STOW_I64;
  int64_t rank = stow_graph_type(w->ranged, x)->rank;
  int64_t axis = rank == 0 ? 0 : small(random, 0, rank - 1);
  recipe r = {.operands = {x, y}, .operand_count = 1, .results = 1};
  switch (test_random_below(random, 14)) {
    case 0:
      r.op = STOW_OP_ADD;
      r.operand_count = 2;
      break;
    case 1:
      r.op = STOW_OP_CONCAT;
      r.operand_count = 2;
      set_attr(&r, "axis", 0, axis, 0);
      break;
    case 2:
    case 3: {
      int64_t target[2] = {small(random, -1, 3), small(random, -1, 6)};
      r.op = STOW_OP_RESHAPE;
      r.operands[1] = constant(w, number, target, 2);
      r.operand_count = 2;
      break;
    }
    case 4:
    case 5:
      r.op = STOW_OP_SLICE;
      set_attr(&r, "starts", 1, small(random, -4, 4), 0);
      set_attr(&r, "ends", 1, small(random, -4, 6), 0);
      set_attr(&r, "axes", 1, axis, 0);
      break;
    case 6:
      r.op = STOW_OP_SQUEEZE;
      if (test_random_below(random, 2) == 0) {
        set_attr(&r, "axes", 1, axis, 0);
      }
      break;
    case 7:
      r.op = STOW_OP_SPLIT;
      r.results = (size_t)small(random, 2, 3);
      set_attr(&r, "axis", 0, axis, 0);
      if (test_random_below(random, 2) == 0) {
        set_attr(&r, "parts", 0, (int64_t)r.results, 0);
      }
      break;
    case 8: r.op = STOW_OP_SHAPE; break;
    case 9:
      r.op = STOW_OP_MATMUL;
      r.operand_count = 2;
      break;
    case 10:
      r.op = has_list ? STOW_OP_EXPAND : STOW_OP_SHAPE;
      r.operands[1] = list;
      r.operand_count = has_list ? 2 : 1;
      break;
    case 11:
      r.op = has_list ? STOW_OP_RESHAPE : STOW_OP_SHAPE;
      r.operands[1] = list;
      r.operand_count = has_list ? 2 : 1;
      break;
    case 12:
      r.op = STOW_OP_POOL;
      set_attr(&r, "kernel", 1, small(random, 1, 3), 0);
      set_attr(&r, "strides", 1, small(random, 1, 2), 0);
      set_attr(&r, "pads", 2, small(random, 0, 1), 0);
      break;
    default:
      r.op = has_list ? STOW_OP_MUL : STOW_OP_SHAPE;
      r.operands[0] = has_list ? list : x;
      r.operands[1] = has_list ? pick(w, random, STOW_I64) : x;
      r.operand_count = has_list ? 2 : 1;
      break;
  }
  return r;
}

static void check_random(test_random* random, size_t* made, size_t* split) {
  world w = {.ranged = make_graph()};
  stow_dim_range ranges[2];
  for (size_t i = 0; i < 2; ++i) {
    int64_t step_size = small(random, 1, 3);
    int64_t min = step_size * small(random, 0, 3);
    ranges[i] =
        (stow_dim_range){min, min + step_size * small(random, 1, i == 0 ? 4 : 3), step_size};
    (void)stow_dim_symbol(stow_graph_edit_dims(w.ranged), stow_str_of(i == 0 ? "a" : "b"));
    CHECK(stow_dims_set_range(stow_graph_edit_dims(w.ranged), i, &ranges[i]) == STOW_OK);
  }
  stow_diag_init(&w.diag);
  for (int64_t a = ranges[0].min; a <= ranges[0].max; a += ranges[0].step) {
    for (int64_t b = ranges[1].min; b <= ranges[1].max; b += ranges[1].step) {
      w.points[w.count][0] = a;
      w.points[w.count][1] = b;
      w.at[w.count++] = make_graph();
    }
  }
  add_inputs(&w, random);
  bool is_even = true;
  for (size_t i = 0; i < STEPS && is_even; ++i) {
    recipe r = random_node(&w, random, i);
    is_even = step(&w, &r);
  }
  *made += w.made;
  *split += w.split;
  for (size_t p = 0; p < w.count; ++p) {
    stow_graph_destroy(w.at[p]);
  }
  stow_graph_destroy(w.ranged);
}

TEST(TypesOverRangesAreThoseOfEveryPoint) {
  test_random random = {7};
  size_t made = 0;
  size_t split = 0;
  size_t count = test_is_long() ? 200000 : 5000;
  for (size_t i = 0; i < count && test_failures() == 0; ++i) {
    check_random(&random, &made, &split);
  }
  CHECK(made > count && split > count / 10);  // both happen often
}
