// Part of the plan checker: values in another's bytes that are not views.
//   in place       a result begins at the first byte of an operand that the op table, or effects,
//                  let it overwrite. The node reads and writes at one step, so other operands must
//                  be elsewhere, or the very same bytes if the op table allows that.
//   copy elision   an operand of concat is where the result needs it. Then the root may have a
//                  higher id, and the concat writes only what it copies.
// Each relates two values of a root, whichever is the root. A value is in its root legitimately if
// such links, and views, lead from one to the other: union-find. What a value's own node leaves
// alone may still be overwritten by another: see bytes.c.
// O(values + operands + effects) and the operands of a node for each result that shares its root.
#include <inttypes.h>

#include "base/diag.h"
#include "plan/check/check.h"

// The pass's position in the effects' lists, which are sorted by node.
typedef struct cursor {
  size_t allowed;
  size_t forbidden;
} cursor;

typedef struct pass {
  stowi_plan_checker* checker;
  cursor at;
  stowi_plan_elisions elisions;
} pass;

static uint32_t step_of(const stowi_plan_checker* checker, stow_value value) {
  return checker->steps[stow_graph_producer(checker->graph, value)];
}

// ---------------------------------------------------------------------------------------------
// Values that must not share

static stow_status kept_fault(stowi_plan_checker* checker, stow_value value, uint32_t step) {
  stow_value root = stow_plan_root(checker->plan, value);
  return stowi_plan_fault(checker, STOW_FAULT_REUSED_TOO_EARLY, root, value, step,
                          "%s is written in place of %s at step %" PRIu32
                          ", but the next run needs those bytes unchanged",
                          stowi_plan_label_value(checker, value).text,
                          stowi_plan_label_value(checker, root).text, step);
}

// The first operand of its node that |value| shares bytes with; STOW_VALUE_NONE if there is none.
static stow_value touched_operand(const stowi_plan_checker* checker, stow_value value) {
  stow_node node = stow_graph_producer(checker->graph, value);
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value operand = stowi_plan_check_operand(checker, node, k);
    if (operand != STOW_VALUE_NONE && stowi_plan_check_touch(checker, value, operand)) {
      return operand;
    }
  }
  return STOW_VALUE_NONE;
}

// Why |value|, which is written, must not be in its root, for whatever reason it is there; NULL if
// it may.
static const char* why_not_there(const stowi_plan_checker* checker, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  if (!stowi_plan_check_may_share(checker, value) || stowi_effects_state(checker->effects, value)) {
    return "must have its own bytes, but is in";
  }
  if (stowi_effects_offset(checker->effects, value) != STOW_OFFSET_NONE) {
    return "has a fixed offset, but is in";
  }
  bool is_fixed = stowi_effects_offset(checker->effects, root) != STOW_OFFSET_NONE;
  return is_fixed && !stowi_effects_is_handed_on(checker->effects, root) &&
                 step_of(checker, value) > step_of(checker, root)
             ? "is written in place of a value with a fixed offset,"
             : NULL;
}

// |value| is written, and is not its own root.
static stow_status check_shared(stowi_plan_checker* checker, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  const char* why = why_not_there(checker, value);
  stow_slot slot;
  if (why != NULL) {
    bool is_in_place = touched_operand(checker, value) != STOW_VALUE_NONE;
    return stowi_plan_check_misplaced(checker, is_in_place ? STOW_FAULT_OVERWRITE : STOW_FAULT_HOME,
                                      value, why);
  }
  if (checker->values[root].holds_kept) {
    return kept_fault(checker, value, step_of(checker, value));
  }
  if (checker->values[value].bytes > 0 && !stow_plan_value_slot(checker->plan, root, &slot)) {
    return stowi_plan_fault(
        checker, STOW_FAULT_MISSING, value, root, step_of(checker, value),
        "%s is computed and has no slot: it is written in place of %s, which has none",
        stowi_plan_label_value(checker, value).text, stowi_plan_label_value(checker, root).text);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// In place

static stow_in_place may_be_in_place(const pass* p, stow_node node, size_t k, size_t operand) {
  const stowi_plan_checker* checker = p->checker;
  stow_in_place in_place = checker->plan->facts.in_place
                               ? stow_graph_in_place(checker->graph, node, k, operand)
                               : STOW_IN_PLACE_NEVER;
  for (size_t i = p->at.forbidden; i < stowi_effects_forbidden_count(checker->effects); ++i) {
    stowi_effects_in_place_entry entry = stowi_effects_forbidden(checker->effects, i);
    if (entry.node != node) {
      break;
    }
    if (entry.result == k && entry.operand == operand) {
      return STOW_IN_PLACE_NEVER;
    }
  }
  for (size_t i = p->at.allowed; i < stowi_effects_overwrite_count(checker->effects); ++i) {
    stowi_effects_in_place_entry entry = stowi_effects_overwrite(checker->effects, i);
    if (entry.node != node) {
      break;
    }
    if (entry.result == k && entry.operand == operand && in_place == STOW_IN_PLACE_NEVER) {
      in_place = STOW_IN_PLACE_ALONE;
    }
  }
  return in_place;
}

static stow_status busy_fault(stowi_plan_checker* checker, stow_value value, stow_value other,
                              size_t operand) {
  uint32_t step = step_of(checker, value);
  stow_value root = stow_plan_root(checker->plan, value);
  return stowi_plan_fault(checker, STOW_FAULT_REUSED_TOO_EARLY, other, value, step,
                          "%s is written in place of %s at step %" PRIu32
                          ", while operand %zu still reads those bytes",
                          stowi_plan_label_value(checker, value).text,
                          stowi_plan_label_value(checker, root).text, step, operand);
}

static stow_status in_place_fault(stowi_plan_checker* checker, stow_value value, stow_value operand,
                                  const char* why) {
  uint32_t step = step_of(checker, value);
  return stowi_plan_fault(checker, STOW_FAULT_OVERWRITE, value, operand, step,
                          "%s is written in place of %s at step %" PRIu32 ", %s",
                          stowi_plan_label_value(checker, value).text,
                          stowi_plan_label_value(checker, operand).text, step, why);
}

// Why result |k| must not be in place of the operand; NULL if it may.
static const char* why_not_in_place(const pass* p, stow_node node, size_t k, size_t operand) {
  const stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  const stowi_plan_check_value* own = &checker->values[value];
  const stowi_plan_check_value* under =
      &checker->values[stowi_plan_check_operand(checker, node, operand)];
  if (own->inner != under->inner) {
    return "but not from its first byte";
  }
  if (own->rows != under->rows || own->pitch != under->pitch ||
      (checker->node_rows[node] > 1 && own->bytes != under->bytes)) {
    return "but not row by row";
  }
  if (own->bytes > under->bytes) {
    return "which has fewer bytes";
  }
  return may_be_in_place(p, node, k, operand) == STOW_IN_PLACE_NEVER
             ? "which neither the op nor the effects allow"
             : NULL;
}

// Operand |other| reads the bytes that the result is written into, as |chosen| does.
static bool may_read_too(const pass* p, stow_node node, size_t k, size_t chosen, size_t other) {
  const stowi_plan_checker* checker = p->checker;
  const stowi_plan_check_value* x =
      &checker->values[stowi_plan_check_operand(checker, node, chosen)];
  const stowi_plan_check_value* y =
      &checker->values[stowi_plan_check_operand(checker, node, other)];
  return x->inner == y->inner && x->bytes == y->bytes && x->rows == y->rows &&
         x->pitch == y->pitch && may_be_in_place(p, node, k, chosen) == STOW_IN_PLACE_INDEX &&
         may_be_in_place(p, node, k, other) == STOW_IN_PLACE_INDEX;
}

// The operand that result |k| may be in place of; the operand count if there is none, and then
// |out_why| explains the first that it overlaps.
static size_t choose_operand(const pass* p, stow_node node, size_t k, stow_value* out_touched,
                             const char** out_why) {
  const stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  size_t count = stow_graph_operand_count(checker->graph, node);
  *out_touched = STOW_VALUE_NONE;
  for (size_t i = 0; i < count; ++i) {
    stow_value operand = stowi_plan_check_operand(checker, node, i);
    if (operand == STOW_VALUE_NONE || !stowi_plan_check_touch(checker, value, operand)) {
      continue;
    }
    const char* why = why_not_in_place(p, node, k, i);
    if (why == NULL) {
      return i;
    }
    if (*out_touched == STOW_VALUE_NONE) {
      *out_touched = operand;
      *out_why = why;
    }
  }
  return count;
}

// No result that is a view is where result |k|, in place of an operand, is written. Two that are
// written are found by their writes.
static stow_status check_siblings(const pass* p, stow_node node, size_t k) {
  stowi_plan_checker* checker = p->checker;
  stow_value first = stow_graph_first_result(checker->graph, node);
  stow_value value = first + (stow_value)k;
  for (size_t i = 0; i < stow_graph_result_count(checker->graph, node); ++i) {
    stow_value other = first + (stow_value)i;
    if (checker->values[other].made == STOWI_PLAN_MADE_VIEW &&
        stowi_plan_check_touch(checker, value, other)) {
      return stowi_plan_fault(
          checker, STOW_FAULT_OVERWRITE, value, other, step_of(checker, value),
          "%s and %s, results of one node, share bytes of %s",
          stowi_plan_label_value(checker, value).text, stowi_plan_label_value(checker, other).text,
          stowi_plan_label_value(checker, stow_plan_root(checker->plan, value)).text);
    }
  }
  return STOW_OK;
}

// No operand except |mine| reads what result |k| overwrites.
static stow_status check_others(const pass* p, stow_node node, size_t k, size_t mine,
                                bool is_append) {
  stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t i = 0; i < count; ++i) {
    stow_value other = stowi_plan_check_operand(checker, node, i);
    if (i != mine && other != STOW_VALUE_NONE && stowi_plan_check_touch(checker, value, other) &&
        (is_append || !may_read_too(p, node, k, mine, i))) {
      return busy_fault(checker, value, other, i);
    }
  }
  return STOW_OK;
}

static stow_status check_over(const pass* p, stow_node node, size_t k) {
  stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stow_value touched = STOW_VALUE_NONE;
  const char* why = NULL;
  size_t chosen = choose_operand(p, node, k, &touched, &why);
  if (chosen < stow_graph_operand_count(checker->graph, node)) {
    stowi_plan_check_link(checker, value, stowi_plan_check_operand(checker, node, chosen));
    STOW_TRY(check_siblings(p, node, k));
    return check_others(p, node, k, chosen, false);
  }
  return touched == STOW_VALUE_NONE ? STOW_OK : in_place_fault(checker, value, touched, why);
}

// A value without bytes can be anywhere among its operands.
static void link_empty(stowi_plan_checker* checker, stow_node node, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t i = 0; i < count; ++i) {
    stow_value operand = stowi_plan_check_operand(checker, node, i);
    if (operand != STOW_VALUE_NONE && stow_plan_root(checker->plan, operand) == root) {
      stowi_plan_check_link(checker, value, operand);
    }
  }
}

// An op that writes into its operand. An input may be a cache that is intended to grow.
static stow_status check_append(const pass* p, stow_node node, size_t k) {
  stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stow_value root = stow_plan_root(checker->plan, value);
  stow_view view = {0, 0, false};
  stow_graph_view(checker->graph, node, k, &view);
  if (stowi_plan_check_is_op(checker, root, STOW_OP_PARAM) ||
      stowi_plan_check_is_op(checker, root, STOW_OP_CONSTANT)) {
    return kept_fault(checker, value, checker->steps[node]);
  }
  return check_others(p, node, k, view.operand, true);
}

// ---------------------------------------------------------------------------------------------
// Copy elision

// Whether bytes [low, high) of the result are those of an operand that is copied.
static bool are_copied_into(const stowi_plan_elisions* elisions, uint64_t low, uint64_t high) {
  size_t first = 0;
  size_t last = elisions->count;
  while (first < last) {
    size_t middle = first + (last - first) / 2;
    if (stowi_plan_elisions_place(elisions, middle).end <= low) {
      first = middle + 1;
    } else {
      last = middle;
    }
  }
  size_t end = elisions->count;
  last = first;
  while (last < end) {
    size_t middle = last + (end - last) / 2;
    if (stowi_plan_elisions_place(elisions, middle).offset < high) {
      last = middle + 1;
    } else {
      end = middle;
    }
  }
  size_t before = first == 0 ? 0 : elisions->strangers[first - 1];
  return last > first && elisions->strangers[last - 1] > before;
}

// The same for the bytes of |operand|, if the result has several rows. O(operands × rows).
static bool are_copied_over(const pass* p, stow_value operand, stow_value result) {
  const stowi_plan_elisions* elisions = &p->elisions;
  stowi_plan_bytes own = stowi_plan_bytes_of(p->checker, operand);
  stowi_plan_bytes whole = stowi_plan_bytes_of(p->checker, result);
  for (size_t k = 0; k < elisions->count; ++k) {
    stowi_plan_span bytes = stowi_plan_elisions_place(elisions, k);
    stowi_plan_bytes copied = {whole.inner + bytes.offset,
                               (bytes.end - bytes.offset) * elisions->rows, elisions->rows,
                               whole.rows == 1 ? elisions->row : whole.pitch};
    if (stowi_plan_elisions_copies(elisions, k) && stowi_plan_bytes_meets(&own, &copied)) {
      return true;
    }
  }
  return false;
}

static stow_status copied_fault(stowi_plan_checker* checker, stow_value operand,
                                stow_value result) {
  uint32_t step = step_of(checker, result);
  return stowi_plan_fault(checker, STOW_FAULT_HOME, operand, result, step,
                          "%s is inside %s, in bytes that step %" PRIu32 " copies an operand into",
                          stowi_plan_label_value(checker, operand).text,
                          stowi_plan_label_value(checker, result).text, step);
}

// Operands built in their place are linked to the result, and so is one that the result is in place
// of; what the concat copies must not destroy another operand.
static stow_status check_concat(pass* p, stow_node node) {
  stowi_plan_checker* checker = p->checker;
  stow_value result = stow_graph_first_result(checker->graph, node);
  const stowi_plan_check_value* whole = &checker->values[result];
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value operand = stowi_plan_check_operand(checker, node, k);
    const stowi_plan_check_value* part = &checker->values[operand];
    if (stow_plan_root(checker->plan, operand) != stow_plan_root(checker->plan, result)) {
      continue;
    }
    if (part->bytes == 0 || !stowi_plan_elisions_copies(&p->elisions, k)) {
      stowi_plan_check_link(checker, operand, result);
    } else if (!stowi_plan_check_touch(checker, operand, result)) {
      continue;
    } else if (why_not_in_place(p, node, 0, k) == NULL) {
      stowi_plan_check_link(checker, result, operand);
      STOW_TRY(check_others(p, node, 0, k, false));
    } else {
      stowi_plan_bytes place = stowi_plan_bytes_of(checker, operand);
      uint64_t low = part->inner > whole->inner ? part->inner - whole->inner : 0;
      uint64_t high = stowi_plan_bytes_end(&place) - whole->inner;
      if (p->elisions.rows > 1 ? are_copied_over(p, operand, result)
                               : are_copied_into(&p->elisions, low, high)) {
        return copied_fault(checker, operand, result);
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Entry point

static stow_status check_result(pass* p, stow_node node, size_t k, bool has_elisions) {
  stowi_plan_checker* checker = p->checker;
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stow_value root = stow_plan_root(checker->plan, value);
  const stowi_plan_check_value* own = &checker->values[value];
  if (own->made == STOWI_PLAN_MADE_APPEND) {
    return check_append(p, node, k);
  }
  if (own->made != STOWI_PLAN_MADE_WRITTEN || (root == value && own->makers < 2)) {
    return STOW_OK;
  }
  if (root != value) {
    STOW_TRY(check_shared(checker, value));
  }
  if (own->bytes == 0) {
    link_empty(checker, node, value);
    return STOW_OK;
  }
  return has_elisions ? check_concat(p, node) : check_over(p, node, k);
}

static stow_status check_carried(stowi_plan_checker* checker, stow_node node) {
  stow_node loop = stowi_plan_check_loop_of_args(checker, node);
  size_t count = loop == STOW_NODE_NONE ? 0 : stow_graph_result_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value argument = stow_graph_first_result(checker->graph, node) + (stow_value)k;
    stow_value root = stow_plan_root(checker->plan, argument);
    if (root != argument && stowi_plan_check_is_kept(checker, root) &&
        stowi_plan_check_initial(checker, loop, k) != STOW_VALUE_NONE) {
      stow_region body = stow_graph_node_region(checker->graph, node);
      return kept_fault(checker, argument, stowi_plan_check_region_end(checker, body));
    }
  }
  return STOW_OK;
}

static void advance(pass* p, stow_node node) {
  const stow_effects* effects = p->checker->effects;
  while (p->at.allowed < stowi_effects_overwrite_count(effects) &&
         stowi_effects_overwrite(effects, p->at.allowed).node < node) {
    p->at.allowed += 1;
  }
  while (p->at.forbidden < stowi_effects_forbidden_count(effects) &&
         stowi_effects_forbidden(effects, p->at.forbidden).node < node) {
    p->at.forbidden += 1;
  }
}

static stow_status check_nodes(pass* p) {
  stowi_plan_checker* checker = p->checker;
  for (stow_node node = 0; node < checker->node_count; ++node) {
    bool has_elisions = false;
    advance(p, node);
    STOW_TRY(stowi_plan_elisions_find(checker, node, &p->elisions, &has_elisions));
    size_t results = stow_graph_result_count(checker->graph, node);
    for (size_t k = 0; k < results; ++k) {
      STOW_TRY(check_result(p, node, k, has_elisions));
    }
    STOW_TRY(check_carried(checker, node));
  }
  return STOW_OK;
}

// The first concat that has |value| as an operand and its result in the same root.
static stow_value concat_around(const stowi_plan_checker* checker, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  for (stow_node node = 0; node < checker->node_count; ++node) {
    size_t count = stow_graph_op(checker->graph, node) == STOW_OP_CONCAT
                       ? stow_graph_operand_count(checker->graph, node)
                       : 0;
    stow_value result =
        count == 0 ? STOW_VALUE_NONE : stow_graph_first_result(checker->graph, node);
    for (size_t k = 0; k < count; ++k) {
      if (stowi_plan_check_operand(checker, node, k) == value &&
          stow_plan_root(checker->plan, result) == root) {
        return result;
      }
    }
  }
  return STOW_VALUE_NONE;
}

static stow_status stray_fault(stowi_plan_checker* checker, stow_value value) {
  stow_value around = checker->values[value].made == STOWI_PLAN_MADE_OUTSIDE
                          ? STOW_VALUE_NONE
                          : concat_around(checker, value);
  if (around == STOW_VALUE_NONE) {
    return stowi_plan_check_misplaced(checker, STOW_FAULT_VIEW_MOVED, value,
                                      "is claimed to be a view, but nothing places it in");
  }
  return stowi_plan_fault(checker, STOW_FAULT_HOME, value, around, step_of(checker, value),
                          "%s is inside %s, %s", stowi_plan_label_value(checker, value).text,
                          stowi_plan_label_value(checker, around).text,
                          checker->plan->facts.elide_copies ? "but does not belong there"
                                                            : "but the plan does not elide copies");
}

stow_status stowi_plan_check_shares(stowi_plan_checker* checker) {
  pass p = {.checker = checker};
  stow_status status = check_nodes(&p);
  stowi_plan_elisions_free(checker, &p.elisions);
  STOW_TRY(status);
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    bool is_right = root == value || (stowi_plan_check_linked(checker, value, root) &&
                                      checker->values[value].made != STOWI_PLAN_MADE_OUTSIDE);
    if (!is_right) {
      return stray_fault(checker, value);
    }
  }
  return STOW_OK;
}
