// Interprets the `with { … }` clauses that the graph stores as plain attributes. One table row per
// key; each reader checks the form of the value and passes the numbers to the public setters, so
// that a clause and a call fail for the same reasons. O(size of all clauses).
#include "base/diag.h"
#include "effects/effects.h"
#include "graph/api.h"

// The clause entry being read.
typedef struct clause {
  stow_effects* effects;
  stow_node node;
  const stow_attr* attr;
  stow_diag* diag;
} clause;

typedef stow_status (*clause_reader)(const clause* c);

// `relu %5 with { hold }: …`
static stow_status fail_text(const clause* c, stow_status status, const char* text) {
  stowi_graph_text label = stowi_graph_describe_node(c->effects->graph, c->node);
  stowi_fail(c->diag, status, "%s with { %.*s }: %s", label.text, STOWI_STR_ARG(c->attr->name),
             text);
  stowi_graph_blame_node(c->diag, c->effects->graph, c->node);
  return status;
}

static stow_status fail(const clause* c, const char* expected) {
  return fail_text(c, STOW_ERR_INVALID_ARGUMENT, expected);
}

// Prefixes a setter's message with the clause.
static stow_status wrap(const clause* c, stow_status status, const stow_diag* inner) {
  if (status == STOW_OK) {
    return STOW_OK;
  }
  if (status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(c->diag);
  }
  fail_text(c, status, inner->message);
  stowi_diag_value(c->diag, inner->value);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Lists of tuples

static stow_status check_tuples(const clause* c, size_t width, const char* expected) {
  if (c->attr->kind != STOW_ATTR_INTS || c->attr->count % width != 0) {
    return fail(c, expected);
  }
  return STOW_OK;
}

// An index that no graph can exceed, so that it fits in size_t on every machine.
static bool is_index(int64_t number) { return number >= 0 && number <= UINT32_MAX; }

static stow_status read_scratch(const clause* c) {
  const char* expected = "expected a list of pairs [bytes, alignment, ...]";
  STOW_TRY(check_tuples(c, 2, expected));
  for (size_t i = 0; i < c->attr->count; i += 2) {
    const int64_t* pair = &c->attr->ints[i];
    if (pair[0] < 0 || pair[1] < 0) {
      return fail(c, "expected bytes and alignments, 0 or more");
    }
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c,
                  stow_effects_add_scratch(c->effects, c->node, (uint64_t)pair[0],
                                           (uint64_t)pair[1], &inner, NULL),
                  &inner));
  }
  return STOW_OK;
}

static stow_status read_offer(const clause* c) {
  STOW_TRY(check_tuples(c, 2, "expected a list of pairs [piece of scratch, bytes, ...]"));
  for (size_t i = 0; i < c->attr->count; i += 2) {
    const int64_t* pair = &c->attr->ints[i];
    if (!is_index(pair[0]) || pair[1] < 0) {
      return fail(c, "expected the index of a piece of scratch, and bytes, 0 or more");
    }
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(
        c,
        stow_effects_offer_scratch(c->effects, c->node, (size_t)pair[0], (uint64_t)pair[1], &inner),
        &inner));
  }
  return STOW_OK;
}

// The node that makes value |number|.
static stow_status producer_of(const clause* c, int64_t number, stow_node* out_node) {
  if (number < 0 || (uint64_t)number >= c->effects->value_count) {
    return fail(c, "expected a value's number, such as 7 for %7");
  }
  *out_node = stow_graph_producer(c->effects->graph, (stow_value)number);
  return STOW_OK;
}

static stow_status read_hold(const clause* c) {
  STOW_TRY(check_tuples(c, 2, "expected a list of pairs [operand, value, ...]"));
  for (size_t i = 0; i < c->attr->count; i += 2) {
    const int64_t* pair = &c->attr->ints[i];
    if (!is_index(pair[0])) {
      return fail(c, "expected an operand index");
    }
    stow_node until = STOW_STEP_END;
    if (pair[1] != -1) {
      STOW_TRY(producer_of(c, pair[1], &until));
    }
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c, stow_effects_hold_operand(c->effects, c->node, (size_t)pair[0], until, &inner),
                  &inner));
  }
  return STOW_OK;
}

static stow_status read_early(const clause* c) {
  STOW_TRY(check_tuples(c, 2, "expected a list of pairs [result, value, ...]"));
  for (size_t i = 0; i < c->attr->count; i += 2) {
    const int64_t* pair = &c->attr->ints[i];
    if (!is_index(pair[0])) {
      return fail(c, "expected a result index");
    }
    stow_node from = STOW_NODE_NONE;
    STOW_TRY(producer_of(c, pair[1], &from));
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c, stow_effects_write_early(c->effects, c->node, (size_t)pair[0], from, &inner),
                  &inner));
  }
  return STOW_OK;
}

typedef stow_status (*set_pair)(stow_effects* effects, stow_node node, size_t k, size_t operand,
                                stow_diag* diag);

static stow_status read_pairs(const clause* c, set_pair set) {
  STOW_TRY(check_tuples(c, 2, "expected a list of pairs [result, operand, ...]"));
  for (size_t i = 0; i < c->attr->count; i += 2) {
    const int64_t* pair = &c->attr->ints[i];
    if (!is_index(pair[0]) || !is_index(pair[1])) {
      return fail(c, "expected result and operand indices");
    }
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c, set(c->effects, c->node, (size_t)pair[0], (size_t)pair[1], &inner), &inner));
  }
  return STOW_OK;
}

static stow_status read_overwrite(const clause* c) {
  return read_pairs(c, stow_effects_allow_in_place);
}

static stow_status read_no_overwrite(const clause* c) {
  return read_pairs(c, stow_effects_forbid_in_place);
}

static stow_status read_inside(const clause* c) {
  STOW_TRY(check_tuples(c, 3, "expected a list of triples [result, operand, offset, ...]"));
  for (size_t i = 0; i < c->attr->count; i += 3) {
    const int64_t* triple = &c->attr->ints[i];
    if (!is_index(triple[0]) || !is_index(triple[1]) || triple[2] < 0) {
      return fail(c, "expected indices and an offset, 0 or more");
    }
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c,
                  stow_effects_place_inside(c->effects, c->node, (size_t)triple[0],
                                            (size_t)triple[1], (uint64_t)triple[2], &inner),
                  &inner));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// One number per result

typedef stow_status (*set_number)(stow_effects* effects, stow_value value, uint64_t number,
                                  stow_diag* diag);

// An int for all results, or a list with one entry each; -1 leaves the default.
static stow_status read_numbers(const clause* c, set_number set) {
  const stow_graph* graph = c->effects->graph;
  size_t count = stow_graph_result_count(graph, c->node);
  bool list = c->attr->kind == STOW_ATTR_INTS;
  if ((!list && c->attr->kind != STOW_ATTR_INT) || (list && c->attr->count != count)) {
    return fail(c, "expected a number, or a list of one number per result");
  }
  for (size_t k = 0; k < count; ++k) {
    int64_t number = list ? c->attr->ints[k] : c->attr->i;
    if (number == -1) {
      continue;
    }
    if (number < -1) {
      return fail(c, "expected 0 or more, or -1 for the default");
    }
    stow_diag inner;
    stow_diag_init(&inner);
    stow_value value = stow_graph_first_result(graph, c->node) + (stow_value)k;
    STOW_TRY(wrap(c, set(c->effects, value, (uint64_t)number, &inner), &inner));
  }
  return STOW_OK;
}

static stow_status read_storage(const clause* c) {
  return read_numbers(c, stow_effects_set_storage);
}

static stow_status read_align(const clause* c) {
  return read_numbers(c, stow_effects_set_alignment);
}

static stow_status read_at(const clause* c) { return read_numbers(c, stow_effects_set_offset); }

// ---------------------------------------------------------------------------------------------
// Flags and policies

typedef stow_status (*set_flag)(stow_effects* effects, stow_value value, stow_diag* diag);

// A bool for all results, or a list of 0 or 1 for each.
static stow_status read_flags(const clause* c, set_flag set) {
  const stow_graph* graph = c->effects->graph;
  size_t count = stow_graph_result_count(graph, c->node);
  bool list = c->attr->kind == STOW_ATTR_INTS;
  if ((!list && c->attr->kind != STOW_ATTR_BOOL) || (list && c->attr->count != count)) {
    return fail(c, "expected true or false, or a list of one 0 or 1 per result");
  }
  for (size_t k = 0; k < count; ++k) {
    int64_t flag = list ? c->attr->ints[k] : (int64_t)c->attr->b;
    if (flag != 0 && flag != 1) {
      return fail(c, "expected 0 or 1 for each result");
    }
    if (flag == 0) {
      continue;
    }
    stow_diag inner;
    stow_diag_init(&inner);
    stow_value value = stow_graph_first_result(graph, c->node) + (stow_value)k;
    STOW_TRY(wrap(c, set(c->effects, value, &inner), &inner));
  }
  return STOW_OK;
}

static stow_status read_own(const clause* c) { return read_flags(c, stow_effects_set_own); }

static stow_status read_state(const clause* c) { return read_flags(c, stow_effects_set_state); }

static bool policy_from_text(stow_str text, stow_io_policy* out_policy) {
  static const struct {
    const char* text;
    stow_io_policy policy;
  } policies[] = {
      {"keep", STOW_IO_KEEP}, {"consume", STOW_IO_CONSUME}, {"external", STOW_IO_EXTERNAL}};
  for (size_t i = 0; i < sizeof(policies) / sizeof(policies[0]); ++i) {
    if (stow_str_equal(text, stow_str_of(policies[i].text))) {
      *out_policy = policies[i].policy;
      return true;
    }
  }
  return false;
}

// In a node with several results, the policy applies to those that are outputs.
static stow_status read_io(const clause* c) {
  stow_io_policy policy;
  if (c->attr->kind != STOW_ATTR_STRING || !policy_from_text(c->attr->s, &policy)) {
    return fail(c, "expected \"keep\", \"consume\" or \"external\"");
  }
  const stow_graph* graph = c->effects->graph;
  stow_value first = stow_graph_first_result(graph, c->node);
  bool any = false;
  for (size_t k = 0; k < stow_graph_result_count(graph, c->node); ++k) {
    stow_value value = first + (stow_value)k;
    if (!stow_graph_is_boundary(graph, value) && !stowi_bits_has(&c->effects->outputs, value)) {
      continue;
    }
    any = true;
    stow_diag inner;
    stow_diag_init(&inner);
    STOW_TRY(wrap(c, stow_effects_set_io(c->effects, value, policy, &inner), &inner));
  }
  return any ? STOW_OK : fail(c, "expected a boundary value or an output of the graph");
}

// Where random numbers begin: no effect, but executors read it.
static stow_status read_seed(const clause* c) {
  return c->attr->kind == STOW_ATTR_INT && is_index(c->attr->i)
             ? STOW_OK
             : fail(c, "expected a number from 0 to 4294967295");
}

// ---------------------------------------------------------------------------------------------

static const struct {
  const char* name;
  clause_reader read;
} keys[] = {
    {"scratch", read_scratch},
    {"offer", read_offer},
    {"hold", read_hold},
    {"early", read_early},
    {"overwrite", read_overwrite},
    {"no_overwrite", read_no_overwrite},
    {"inside", read_inside},
    {"storage", read_storage},
    {"align", read_align},
    {"at", read_at},
    {"own", read_own},
    {"state", read_state},
    {"io", read_io},
    {STOWI_GRAPH_SEED, read_seed},
};
#define KEY_COUNT (sizeof(keys) / sizeof(keys[0]))

// Offers refer to scratch, which may be declared after them.
static bool is_late(const stow_attr* attr) {
  return stow_str_equal(attr->name, stow_str_of("offer"));
}

static stow_status read_entry(const clause* c) {
  for (size_t i = 0; i < KEY_COUNT; ++i) {
    if (stow_str_equal(c->attr->name, stow_str_of(keys[i].name))) {
      return keys[i].read(c);
    }
  }
  return fail(c,
              "unknown key; expected one of scratch, offer, hold, early, overwrite, no_overwrite, "
              "inside, storage, align, at, own, state, io, seed");
}

stow_status stowi_effects_read_clauses(stow_effects* effects, stow_diag* diag) {
  for (stow_node node = 0; node < effects->node_count; ++node) {
    size_t count = stowi_graph_with_count(effects->graph, node);
    for (size_t i = 0; i < count; ++i) {
      clause c = {effects, node, stowi_graph_with_at(effects->graph, node, i), diag};
      STOW_TRY(is_late(c.attr) ? STOW_OK : read_entry(&c));
    }
    for (size_t i = 0; i < count; ++i) {
      clause c = {effects, node, stowi_graph_with_at(effects->graph, node, i), diag};
      STOW_TRY(is_late(c.attr) ? read_entry(&c) : STOW_OK);
    }
  }
  return STOW_OK;
}
