#include "support/random_graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Values that the next node may read. Those of a region go when it ends; those that an op has
// written into are never listed.
#define MAX_VISIBLE 4096
#define MAX_DEPTH 3
#define MAX_CHOSEN 8  // outputs chosen while the graph grows

typedef struct maker {
  test_random* random;
  random_graph_options options;
  stow_graph* graph;
  stow_value visible[MAX_VISIBLE];
  size_t visible_count;
  size_t depth;
  uint32_t names;
  uint32_t param_mask;  // params made so far: names are unique
  stow_value chosen[MAX_CHOSEN];
  size_t chosen_count;
} maker;

random_graph_options random_graph_everything(size_t nodes) {
  return (random_graph_options){
      .nodes = nodes, .regions = true, .appends = true, .all_types = true};
}

static uint64_t below(maker* m, uint64_t bound) { return test_random_below(m->random, bound); }

static void die(const char* what, const stow_diag* diag) {
  fprintf(stderr, "random graph: %s: %s\n", what, diag->message);
  abort();
}

static void show(maker* m, stow_value value) {
  if (m->visible_count < MAX_VISIBLE) {
    m->visible[m->visible_count++] = value;
  }
}

// Recent values more often than old ones: that makes chains, and lets old values die.
static stow_value pick(maker* m) {
  size_t count = m->visible_count;
  size_t window = below(m, 3) == 0 || count < 8 ? count : 8;
  return m->visible[count - 1 - below(m, window)];
}

static const stow_type* type_of(maker* m, stow_value value) {
  return stow_graph_type(m->graph, value);
}

static stow_type random_type(maker* m) {
  static const stow_dtype dtypes[] = {STOW_F32, STOW_F16, STOW_F64,  STOW_I8,
                                      STOW_I64, STOW_U4,  STOW_BOOL, STOW_C128};
  static const stow_dim dims[] = {1, 1, 2, 3, 4, 5, 8, 16, 32};
  stow_dim chosen[3];
  uint32_t rank = (uint32_t)below(m, 4);
  for (uint32_t i = 0; i < rank; ++i) {
    chosen[i] = below(m, 40) == 0 ? 0 : dims[below(m, sizeof(dims) / sizeof(dims[0]))];
    if (m->options.most != 0 && chosen[i] > m->options.most) {
      chosen[i] = m->options.most;
    }
  }
  bool plain = !m->options.all_types || below(m, 2) == 0;
  stow_dtype dtype = plain ? STOW_F32 : dtypes[below(m, sizeof(dtypes) / sizeof(dtypes[0]))];
  return stow_type_make(dtype, rank, chosen);
}

// ---------------------------------------------------------------------------------------------
// Plain nodes. Where an op refuses its operands, nothing is added.

static bool finish(maker* m, stow_call* call, stow_value* out_first) {
  stow_node node;
  stow_diag diag;
  stow_diag_init(&diag);
  if (stow_call_finish(call, &diag, &node) != STOW_OK) {
    return false;
  }
  *out_first = stow_graph_first_result(m->graph, node);
  return true;
}

static void finish_and_show(maker* m, stow_call* call) {
  stow_value first;
  uint32_t before = stow_graph_value_count(m->graph);
  if (finish(m, call, &first)) {
    for (stow_value value = before; value < stow_graph_value_count(m->graph); ++value) {
      show(m, value);
    }
  }
}

static stow_value add_boundary(maker* m) {
  char name[32];
  stow_diag diag;
  stow_diag_init(&diag);
  stow_value value = STOW_VALUE_NONE;
  stow_type type = random_type(m);
  stow_status status;
  snprintf(name, sizeof(name), "v%u", m->names++);
  uint32_t param = (uint32_t)below(m, 24);
  // Of boundary values only constants are allowed in a region.
  switch (m->depth > 0 ? 1 : below(m, 3)) {
    case 0: status = stow_graph_input(m->graph, name, &type, &diag, &value); break;
    case 1: status = stow_graph_constant(m->graph, name, &type, &diag, &value); break;
    default: {
      if (m->param_mask & (UINT32_C(1) << param)) {
        return m->visible_count > 0 ? pick(m) : add_boundary(m);
      }
      m->param_mask |= UINT32_C(1) << param;
      snprintf(name, sizeof(name), "p%u", param);
      stow_dim dims[] = {(stow_dim)(param % 5), (stow_dim)(param + 1)};
      type = stow_type_make(STOW_F32, 2, dims);
      status = stow_graph_param(m->graph, name, &type, &diag, &value);
    }
  }
  if (status != STOW_OK) {
    die("boundary", &diag);
  }
  show(m, value);
  return value;
}

// A computed value of the given type without other readers.
static stow_value make_of_type(maker* m, const stow_type* type) {
  stow_value value = STOW_VALUE_NONE;
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_CUSTOM);
  stow_call_attr_string(call, "name", stow_str_of("acme.make"));
  if (m->visible_count > 0 && below(m, 2) == 0) {
    stow_call_operand(call, pick(m));
  }
  stow_call_result_type(call, type);
  if (!finish(m, call, &value)) {
    stow_diag diag;
    stow_diag_init(&diag);
    die("custom", &diag);
  }
  return value;
}

static void add_custom(maker* m) {
  static const char* const names[] = {"acme.mix", "acme.step", "onnx.Foo", "onnx.QMatMul"};
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_CUSTOM);
  stow_call_attr_string(call, "name", stow_str_of(names[below(m, below(m, 8) == 0 ? 4 : 2)]));
  for (size_t k = below(m, 4); k > 0; --k) {
    stow_call_operand(call, pick(m));
  }
  size_t results = 1 + (below(m, 4) == 0 ? below(m, 3) : 0);
  for (size_t k = 0; k < results; ++k) {
    stow_type type = random_type(m);
    stow_call_result_type(call, &type);
  }
  if (below(m, 4) == 0) {
    char name[32];
    snprintf(name, sizeof(name), "c%u", m->names++);
    stow_call_name(call, 0, stow_str_of(name));
  }
  finish_and_show(m, call);
}

static void add_elementwise(maker* m) {
  static const stow_op ops[] = {STOW_OP_RELU, STOW_OP_EXP,        STOW_OP_NEG,
                                STOW_OP_ADD,  STOW_OP_LAYER_NORM, STOW_OP_MUL};
  stow_op op = ops[below(m, sizeof(ops) / sizeof(ops[0]))];
  stow_value a = pick(m);
  stow_call* call = stow_graph_begin(m->graph, op);
  stow_call_operand(call, a);
  if (op == STOW_OP_ADD || op == STOW_OP_MUL) {
    stow_value b = a;
    for (int tries = 0; tries < 8; ++tries) {
      stow_value other = pick(m);
      if (stow_type_equal(type_of(m, other), type_of(m, a))) {
        b = other;
      }
    }
    stow_call_operand(call, b);
  }
  finish_and_show(m, call);
}

static void add_reshape(maker* m) {
  stow_value x = pick(m);
  uint64_t elements = 0;
  stow_type_elements(type_of(m, x), &elements);
  stow_dim dims[] = {(stow_dim)elements, 1};
  if (elements % 2 == 0 && below(m, 2) == 0) {
    dims[0] = (stow_dim)(elements / 2);
    dims[1] = 2;
  }
  stow_type type = stow_type_make(type_of(m, x)->dtype, 2, dims);
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_RESHAPE);
  stow_call_operand(call, x);
  stow_call_result_type(call, &type);
  finish_and_show(m, call);
}

static void add_cast(maker* m) {
  stow_value x = pick(m);
  stow_type type = *type_of(m, x);
  if (below(m, 3) == 0) {
    type.dtype = STOW_F16;
  }
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_CAST);
  stow_call_operand(call, x);
  stow_call_result_type(call, &type);
  finish_and_show(m, call);
}

static void add_narrow(maker* m) {
  stow_value x = pick(m);
  const stow_type* type = type_of(m, x);
  if (type->rank == 0) {
    return;
  }
  uint32_t axis = (uint32_t)below(m, below(m, 2) == 0 ? 1 : type->rank);
  uint64_t dim = (uint64_t)type->dims[axis];
  uint64_t start = below(m, dim + 1);
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_NARROW);
  stow_call_operand(call, x);
  stow_call_attr_int(call, "axis", axis);
  stow_call_attr_int(call, "start", (int64_t)start);
  stow_call_attr_int(call, "len", (int64_t)below(m, dim - start + 1));
  finish_and_show(m, call);
}

static void add_layout(maker* m) {
  static const stow_op ops[] = {STOW_OP_TRANSPOSE, STOW_OP_SPLIT, STOW_OP_TOPK, STOW_OP_CONCAT};
  stow_op op = ops[below(m, sizeof(ops) / sizeof(ops[0]))];
  stow_value x = pick(m);
  stow_call* call = stow_graph_begin(m->graph, op);
  stow_call_operand(call, x);
  if (op == STOW_OP_SPLIT) {
    stow_call_attr_int(call, "axis", 0);
    stow_call_attr_int(call, "parts", 2);
  } else if (op == STOW_OP_TOPK) {
    stow_call_attr_int(call, "axis", -1);
    stow_call_attr_int(call, "k", 1);
  } else if (op == STOW_OP_CONCAT) {
    stow_call_operand(call, x);
    stow_call_attr_int(call, "axis", 0);
  }
  finish_and_show(m, call);
}

// The first result of a node that makes |x| a view, as most of these ops do; |x| if it is refused.
static stow_value add_view_of(maker* m, stow_value x) {
  static const stow_op ops[] = {STOW_OP_RESHAPE, STOW_OP_CAST,      STOW_OP_NARROW,
                                STOW_OP_SPLIT,   STOW_OP_UNSQUEEZE, STOW_OP_FLATTEN,
                                STOW_OP_SQUEEZE, STOW_OP_TRANSPOSE};
  stow_op op = ops[below(m, sizeof(ops) / sizeof(ops[0]))];
  stow_type type = *type_of(m, x);
  stow_dim rows = type.rank == 0 ? 1 : type.dims[0];
  uint32_t before = stow_graph_value_count(m->graph);
  stow_call* call = stow_graph_begin(m->graph, op);
  stow_call_operand(call, x);
  if (op == STOW_OP_RESHAPE || op == STOW_OP_CAST) {
    stow_call_result_type(call, &type);
  } else if (op == STOW_OP_NARROW) {
    stow_dim start = (stow_dim)below(m, (uint64_t)rows + 1);
    stow_call_attr_int(call, "axis", 0);
    stow_call_attr_int(call, "start", start);
    stow_call_attr_int(call, "len", rows - start);
  } else if (op == STOW_OP_SPLIT) {
    stow_call_attr_int(call, "axis", 0);
    stow_call_attr_int(call, "parts", rows % 2 == 0 ? 2 : 1);
  } else if (op == STOW_OP_UNSQUEEZE) {
    stow_call_attr_ints(call, "axes", (int64_t[]){0}, 1);
  } else if (op == STOW_OP_TRANSPOSE && type.rank == 2) {
    stow_call_attr_ints(call, "perm", (int64_t[]){0, 1}, 2);
  }
  finish_and_show(m, call);
  return before < stow_graph_value_count(m->graph) ? before : x;
}

// Views of a boundary value, of views, and of outputs.
static void add_views(maker* m) {
  stow_value x = below(m, 2) == 0 ? add_boundary(m) : pick(m);
  for (size_t count = 1 + below(m, 4); count > 0; --count) {
    x = add_view_of(m, x);
    if (m->depth == 0 && m->chosen_count < MAX_CHOSEN && below(m, 3) == 0) {
      m->chosen[m->chosen_count++] = x;
    }
  }
}

static void add_some(maker* m, size_t count);

// A cache without other users, so that nothing reads it after a write: one to three appends, with
// readers and unrelated nodes between them.
static stow_value append_to(maker* m, stow_value cache) {
  stow_type entry = *type_of(m, cache);
  entry.dims[0] = 1;
  for (size_t appends = 1 + below(m, 3); appends > 0; --appends) {
    stow_value first;
    stow_value fresh = make_of_type(m, &entry);
    if (below(m, 2) == 0) {
      stow_call* reader = stow_graph_begin(m->graph, STOW_OP_RELU);
      stow_call_operand(reader, cache);
      finish_and_show(m, reader);
    }
    add_some(m, below(m, 3));
    stow_call* call = stow_graph_begin(m->graph, STOW_OP_KV_APPEND);
    stow_call_operand(call, cache);
    stow_call_operand(call, fresh);
    stow_call_attr_int(call, "axis", 0);
    if (!finish(m, call, &first)) {
      return cache;
    }
    cache = first;
  }
  return cache;
}

static void add_appends(maker* m) {
  stow_dim dims[] = {4 + (stow_dim)below(m, 8), 4};
  stow_type type = stow_type_make(STOW_F32, 2, dims);
  stow_value cache;
  if (below(m, 2) == 0 && m->depth == 0) {
    char name[32];
    stow_diag diag;
    stow_diag_init(&diag);
    snprintf(name, sizeof(name), "cache%u", m->names++);
    if (stow_graph_input(m->graph, name, &type, &diag, &cache) != STOW_OK) {
      die("cache", &diag);
    }
  } else {
    cache = make_of_type(m, &type);
  }
  show(m, append_to(m, cache));
}

// ---------------------------------------------------------------------------------------------
// Regions

static void begin_region(maker* m) {
  stow_diag diag;
  stow_diag_init(&diag);
  if (stow_graph_begin_region(m->graph, &diag) != STOW_OK) {
    die("begin region", &diag);
  }
  m->depth += 1;
}

static void end_region(maker* m, const stow_value* yields, size_t count, size_t visible_before) {
  stow_diag diag;
  stow_diag_init(&diag);
  if (stow_graph_end_region(m->graph, yields, count, &diag) != STOW_OK) {
    die("end region", &diag);
  }
  m->depth -= 1;
  m->visible_count = visible_before;
}

// Adds the node that owns the regions that were just made; it must fit them.
static void finish_owner(maker* m, stow_call* call) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_node node;
  if (stow_call_finish(call, &diag, &node) != STOW_OK) {
    die("owner of regions", &diag);
  }
  for (size_t k = 0; k < stow_graph_result_count(m->graph, node); ++k) {
    show(m, stow_graph_first_result(m->graph, node) + (stow_value)k);
  }
}

// A visible value of this type, or a new one.
static stow_value find_of_type(maker* m, const stow_type* type) {
  for (int tries = 0; tries < 6; ++tries) {
    stow_value value = pick(m);
    if (stow_type_equal(type_of(m, value), type)) {
      return value;
    }
  }
  return make_of_type(m, type);
}

static void add_if(maker* m) {
  stow_type flag = stow_type_make(STOW_BOOL, 0, NULL);
  stow_value condition = make_of_type(m, &flag);
  stow_type types[2] = {random_type(m), random_type(m)};
  size_t count = below(m, 3);
  for (int branch = 0; branch < 2; ++branch) {
    size_t before = m->visible_count;
    stow_value yields[2];
    begin_region(m);
    show(m, make_of_type(m, &flag));
    add_some(m, below(m, 6));
    for (size_t k = 0; k < count; ++k) {
      yields[k] = find_of_type(m, &types[k]);
    }
    end_region(m, yields, count, before);
  }
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_IF);
  stow_call_operand(call, condition);
  for (size_t k = 0; k < count; ++k) {
    stow_call_result_type(call, &types[k]);
  }
  finish_owner(m, call);
}

// Views of |cache| and their readers, which are not visible to others.
static void read_cache(maker* m, stow_value cache) {
  stow_value saved[8];
  size_t count = m->visible_count;
  memcpy(saved, m->visible, sizeof(saved));
  m->visible_count = 0;
  show(m, cache);
  add_narrow(m);
  add_reshape(m);
  add_elementwise(m);
  memcpy(m->visible, saved, sizeof(saved));
  m->visible_count = count;
}

// One branch appends to a cache without other users, the other reads views of it.
static void add_branched_cache(maker* m) {
  stow_type flag = stow_type_make(STOW_BOOL, 0, NULL);
  stow_dim dims[] = {4 + (stow_dim)below(m, 8), 4};
  stow_type type = stow_type_make(STOW_F32, 2, dims);
  stow_value condition = make_of_type(m, &flag);
  stow_value cache = make_of_type(m, &type);
  uint64_t appending = below(m, 2);
  for (uint64_t branch = 0; branch < 2; ++branch) {
    size_t before = m->visible_count;
    begin_region(m);
    show(m, make_of_type(m, &flag));
    if (branch == appending) {
      show(m, append_to(m, cache));
    } else {
      read_cache(m, cache);
    }
    end_region(m, NULL, 0, before);
  }
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_IF);
  stow_call_operand(call, condition);
  finish_owner(m, call);
}

#define MAX_CARRIED 3

typedef struct loop_parts {
  size_t carried;
  size_t scans;
  stow_value initial[MAX_CARRIED];
  stow_type types[MAX_CARRIED + 1];  // of what is carried, then of the scan's result
} loop_parts;

static void start_loop(maker* m, loop_parts* loop) {
  loop->carried = below(m, MAX_CARRIED + 1);
  loop->scans = below(m, 2);
  for (size_t k = 0; k < loop->carried; ++k) {
    // New ones, whose bytes the loop may share, and existing ones, which it has to copy.
    stow_type type = random_type(m);
    loop->initial[k] = below(m, 3) == 0 ? pick(m) : make_of_type(m, &type);
    loop->types[k] = *type_of(m, loop->initial[k]);
  }
}

static stow_value add_args(maker* m, const loop_parts* loop) {
  stow_value first;
  stow_type number = stow_type_make(STOW_I64, 0, NULL);
  stow_type flag = stow_type_make(STOW_BOOL, 0, NULL);
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_ARGS);
  stow_call_result_type(call, &number);
  stow_call_result_type(call, &flag);
  for (size_t k = 0; k < loop->carried; ++k) {
    stow_call_result_type(call, &loop->types[k]);
  }
  if (!finish(m, call, &first)) {
    stow_diag diag;
    stow_diag_init(&diag);
    die("args", &diag);
  }
  return first;
}

static void fill_body(maker* m, loop_parts* loop) {
  size_t before = m->visible_count;
  stow_value yields[1 + MAX_CARRIED + 1];
  begin_region(m);
  stow_type flag = stow_type_make(STOW_BOOL, 0, NULL);
  bool has_args = loop->carried > 0 || below(m, 2) == 0;
  stow_value args = has_args ? add_args(m, loop) : make_of_type(m, &flag);
  // A carried cache is only written here, and not visible to others.
  bool appends = m->options.appends && loop->carried > 0 && loop->types[0].rank == 2 &&
                 loop->types[0].dims[0] > 0 && below(m, 2) == 0;
  for (size_t k = appends ? 1 : 0; k < loop->carried; ++k) {
    show(m, args + 2 + (stow_value)k);
  }
  add_some(m, below(m, 6));
  size_t count = 0;
  yields[count++] = has_args && below(m, 2) == 0 ? args + 1 : make_of_type(m, &flag);
  for (size_t k = 0; k < loop->carried; ++k) {
    yields[count++] = appends && k == 0 ? append_to(m, args + 2) : find_of_type(m, &loop->types[k]);
  }
  for (size_t k = 0; k < loop->scans; ++k) {
    stow_value value = m->visible_count > 0 ? pick(m) : make_of_type(m, &flag);
    const stow_type* type = type_of(m, value);
    stow_dim dims[STOW_MAX_RANK] = {3};
    memcpy(dims + 1, type->dims, type->rank * sizeof(stow_dim));
    loop->types[loop->carried + k] = stow_type_make(type->dtype, type->rank + 1, dims);
    yields[count++] = value;
  }
  end_region(m, yields, count, before);
}

static void add_loop(maker* m) {
  loop_parts loop;
  stow_type number = stow_type_make(STOW_I64, 0, NULL);
  stow_value trip = below(m, 2) == 0 ? make_of_type(m, &number) : STOW_VALUE_NONE;
  start_loop(m, &loop);
  fill_body(m, &loop);
  stow_call* call = stow_graph_begin(m->graph, STOW_OP_LOOP);
  stow_call_operand(call, trip);
  stow_call_operand(call, STOW_VALUE_NONE);
  for (size_t k = 0; k < loop.carried; ++k) {
    stow_call_operand(call, loop.initial[k]);
  }
  for (size_t k = 0; k < loop.carried + loop.scans; ++k) {
    stow_call_result_type(call, &loop.types[k]);
  }
  finish_owner(m, call);
}

// ---------------------------------------------------------------------------------------------

static void add_more(maker* m) {
  uint32_t before = stow_graph_value_count(m->graph);
  m->options.more(m->options.user, m->random, m->graph, m->visible, m->visible_count);
  for (stow_value value = before; value < stow_graph_value_count(m->graph); ++value) {
    show(m, value);
  }
}

static void add_one(maker* m) {
  uint64_t kind = below(m, 26);
  if (m->options.more != NULL && m->visible_count > 0 && below(m, 2) == 0) {
    add_more(m);
  } else if (m->visible_count == 0 || kind == 0) {
    add_boundary(m);
  } else if (kind < 5) {
    add_custom(m);
  } else if (kind < 10) {
    add_elementwise(m);
  } else if (kind < 13) {
    add_reshape(m);
  } else if (kind < 14) {
    add_cast(m);
  } else if (kind < 17) {
    add_narrow(m);
  } else if (kind < 20) {
    add_layout(m);
  } else if (kind < 21 && m->options.appends) {
    add_appends(m);
  } else if (kind < 22 && m->options.regions && m->depth < MAX_DEPTH) {
    if (m->options.appends && below(m, 4) == 0) {
      add_branched_cache(m);
    } else {
      add_if(m);
    }
  } else if (kind < 23 && m->options.regions && m->depth < MAX_DEPTH) {
    add_loop(m);
  } else if (kind >= 24) {
    add_views(m);
  }
}

static void add_some(maker* m, size_t count) {
  for (size_t i = 0; i < count && stow_graph_node_count(m->graph) < 2 * m->options.nodes; ++i) {
    add_one(m);
  }
}

stow_graph* random_graph(test_random* random, const random_graph_options* options,
                         stow_allocator allocator) {
  maker m;
  stow_diag diag;
  stow_diag_init(&diag);
  memset(&m, 0, sizeof(m));
  m.random = random;
  m.options = *options;
  if (stow_graph_create(stow_str_of("random"), NULL, allocator, &diag, &m.graph) != STOW_OK) {
    die("create", &diag);
  }
  for (size_t i = 1 + below(&m, 4); i > 0; --i) {
    add_boundary(&m);
  }
  while (stow_graph_node_count(m.graph) < options->nodes) {
    add_one(&m);
  }
  for (size_t i = m.chosen_count + 1 + below(&m, 4); i > 0; --i) {
    stow_value output = i <= m.chosen_count ? m.chosen[i - 1] : pick(&m);
    if (stow_graph_add_output(m.graph, output, &diag) != STOW_OK) {
      die("output", &diag);
    }
  }
  if (stow_graph_verify(m.graph, &diag) != STOW_OK) {
    die("verify", &diag);
  }
  return m.graph;
}

// ---------------------------------------------------------------------------------------------
// Effects. What a call refuses is left out.

// Until a later node of any region, or to the end.
static void hold_something(test_random* random, const stow_graph* graph, stow_effects* effects,
                           stow_node node) {
  size_t k = test_random_below(random, stow_graph_operand_count(graph, node));
  stow_value value = stow_graph_operands(graph, node)[k];
  stow_node until = node + 1 + (stow_node)test_random_below(random, 6);
  bool in_region = stow_graph_node_region(graph, node) != STOW_REGION_BODY;
  if (until >= stow_graph_node_count(graph) || test_random_below(random, in_region ? 2 : 4) == 0) {
    until = STOW_STEP_END;
  }
  if (value != STOW_VALUE_NONE) {
    stow_effects_hold_operand(effects, node, k, until, NULL);
  }
}

static void place_something(test_random* random, const stow_graph* graph, stow_effects* effects,
                            stow_node node) {
  size_t k = test_random_below(random, stow_graph_operand_count(graph, node));
  size_t result = test_random_below(random, stow_graph_result_count(graph, node));
  stow_effects_place_inside(effects, node, result, k, 4 * test_random_below(random, 4), NULL);
}

static void node_effects(test_random* random, const stow_graph* graph, stow_effects* effects,
                         stow_node node) {
  size_t operands = stow_graph_operand_count(graph, node);
  size_t results = stow_graph_result_count(graph, node);
  if (test_random_below(random, 6) == 0) {
    for (uint64_t count = 1 + test_random_below(random, 3); count > 0; --count) {
      size_t index = 0;
      stow_effects_add_scratch(effects, node, test_random_below(random, 300),
                               UINT64_C(1) << test_random_below(random, 9), NULL, &index);
      for (uint64_t offers = test_random_below(random, 4); offers > 0; --offers) {
        // Refused if it is less than what is needed.
        stow_effects_offer_scratch(effects, node, index, test_random_below(random, 2000), NULL);
      }
    }
  }
  if (operands > 0 && test_random_below(random, 12) == 0) {
    hold_something(random, graph, effects, node);
  }
  if (results > 0 && node > 0 && test_random_below(random, 12) == 0) {
    stow_effects_write_early(effects, node, test_random_below(random, results),
                             (stow_node)test_random_below(random, node), NULL);
  }
  if (results > 0 && operands > 0 && test_random_below(random, 2) == 0) {
    stow_effects_allow_in_place(effects, node, test_random_below(random, results),
                                test_random_below(random, operands), NULL);
  }
  if (results > 0 && operands > 0 && stow_graph_op(graph, node) == STOW_OP_CUSTOM &&
      test_random_below(random, 8) == 0) {
    place_something(random, graph, effects, node);
  }
}

static void value_effects(test_random* random, const stow_graph* graph, stow_effects* effects,
                          stow_value value) {
  static const stow_io_policy policies[] = {STOW_IO_KEEP, STOW_IO_CONSUME, STOW_IO_EXTERNAL};
  uint64_t bytes = 0;
  stow_type_bytes(stow_graph_type(graph, value), &bytes);
  switch (test_random_below(random, 60)) {
    case 0:
      stow_effects_set_storage(effects, value, bytes + test_random_below(random, 100), NULL);
      break;
    case 1:
      stow_effects_set_alignment(effects, value, UINT64_C(1) << test_random_below(random, 10),
                                 NULL);
      break;
    case 2: stow_effects_set_own(effects, value, NULL); break;
    case 3: stow_effects_set_state(effects, value, NULL); break;
    case 4:
      if (test_random_below(random, 4) == 0) {
        stow_effects_set_offset(effects, value, 4096 * test_random_below(random, 16), NULL);
      }
      break;
    case 5:
    case 6:
    case 7:
      stow_effects_set_io(effects, value, policies[test_random_below(random, 3)], NULL);
      break;
    default: break;
  }
}

stow_effects* random_effects(test_random* random, const stow_graph* graph,
                             stow_allocator allocator) {
  stow_effects* effects = NULL;
  stow_diag diag;
  stow_diag_init(&diag);
  if (stow_effects_create(graph, allocator, &diag, &effects) != STOW_OK) {
    die("effects", &diag);
  }
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    node_effects(random, graph, effects, node);
  }
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    value_effects(random, graph, effects, value);
  }
  return effects;
}

// ---------------------------------------------------------------------------------------------

static bool is_ready(const stow_graph* graph, stow_node node, const bool* done) {
  const stow_value* operands = stow_graph_operands(graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (operands[k] != STOW_VALUE_NONE && !done[stow_graph_producer(graph, operands[k])]) {
      return false;
    }
  }
  return true;
}

// From a random node on, the first that is ready.
static void draw_order(test_random* random, const stow_graph* graph, stow_node* order, bool* done) {
  uint32_t count = stow_graph_node_count(graph);
  for (uint32_t step = 0; step < count; ++step) {
    stow_node node = (stow_node)test_random_below(random, count);
    while (done[node] || !is_ready(graph, node, done)) {
      node = (node + 1) % count;
    }
    done[node] = true;
    order[step] = node;
  }
}

// The graph's own order with neighbours exchanged wherever the scheduler allows it, which keeps
// regions whole.
static void exchange_neighbours(test_random* random, const stow_graph* graph, stow_node* order,
                                stow_allocator allocator) {
  uint32_t count = stow_graph_node_count(graph);
  for (uint32_t step = 0; step < count; ++step) {
    order[step] = step;
  }
  for (uint32_t tries = count; tries > 0; --tries) {
    uint32_t at = (uint32_t)test_random_below(random, count - 1);
    stow_schedule* schedule = NULL;
    stow_node node = order[at];
    order[at] = order[at + 1];
    order[at + 1] = node;
    if (stow_schedule_create_order(graph, order, count, allocator, NULL, &schedule) != STOW_OK) {
      order[at + 1] = order[at];
      order[at] = node;
    }
    stow_schedule_destroy(schedule);
  }
}

stow_schedule* random_schedule(test_random* random, const stow_graph* graph,
                               stow_allocator allocator) {
  uint32_t count = stow_graph_node_count(graph);
  stow_schedule* schedule = NULL;
  stow_node* order = (stow_node*)calloc(count, sizeof(*order));
  bool* done = (bool*)calloc(count, sizeof(*done));
  if (stow_graph_region_count(graph) > 1) {
    exchange_neighbours(random, graph, order, allocator);
  } else {
    draw_order(random, graph, order, done);
  }
  stow_schedule_create_order(graph, order, count, allocator, NULL, &schedule);
  free(order);
  free(done);
  return schedule;
}
