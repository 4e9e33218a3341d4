// Part of the plan checker: values that share another's bytes.
//
// The plan claims a root for every value. A claim holds where one of the ways in which a value can
// come to lie in an operand's bytes leads to that root, at the claimed place:
//
//   its op's row       reshape, narrow, … and kv_append, which also writes
//   a declared place   result k is bytes [d, d + n) of operand j
//   a loop             initial value ─▶ argument ─▶ final result; the body's yield writes
//   an overwrite       declared as allowed; the node writes
//
// Operands have lower ids, so one pass in id order finds every parent resolved. Whoever writes into
// bytes that hold another value is noted: check_lives.c then proves that nobody reads what was
// there before. O(values + effects).
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "plan/check.h"

// One way in which a value may share |parent|'s bytes.
typedef struct share {
  stow_value parent;
  size_t operand;  // that |parent| is, where it writes
  uint64_t offset;
  bool writes;
  stowi_writer_kind kind;  // where it writes
} share;

// Where the pass stands in the effects' lists, which are in order of node.
typedef struct cursor {
  size_t overwrite;
  size_t early;
} cursor;

static stow_value operand_at(const stowi_checker* checker, stow_node node, size_t k) {
  return k < stow_graph_operand_count(checker->graph, node)
             ? stow_graph_operands(checker->graph, node)[k]
             : STOW_VALUE_NONE;
}

// ---------------------------------------------------------------------------------------------
// The ways to share

static bool element_offset_bytes(const stowi_checker* checker, stow_value parent, uint64_t elements,
                                 uint64_t* out_bytes) {
  uint64_t bits = stow_dtype_bits(stow_graph_type(checker->graph, parent)->dtype);
  if (checker->plan->facts.f32_uniform) {
    return stowi_mul_u64(elements, bits < 32 ? 4 : bits / 8, out_bytes);
  }
  if (bits % 8 == 0) {
    return stowi_mul_u64(elements, bits / 8, out_bytes);
  }
  if (!stowi_mul_u64(elements, bits, out_bytes) || *out_bytes % 8 != 0) {
    return false;
  }
  *out_bytes /= 8;
  return true;
}

static bool share_by_effect(const stowi_checker* checker, stow_node node, stow_value value,
                            share* out) {
  size_t operand = 0;
  uint64_t offset = 0;
  if (!stow_effects_inside(checker->effects, value, &operand, &offset)) {
    return false;
  }
  *out = (share){operand_at(checker, node, operand), operand, offset, false, STOWI_WRITER_OP};
  return out->parent != STOW_VALUE_NONE;
}

static bool share_by_op(const stowi_checker* checker, stow_node node, size_t k, share* out) {
  stow_view view;
  if (!stow_graph_view(checker->graph, node, k, &view) ||
      (view.extended && checker->plan->facts.classic_views)) {
    return false;
  }
  bool writes = stow_graph_op_desc(checker->graph, node)->writes_view;
  *out = (share){operand_at(checker, node, view.operand), view.operand, 0, writes, STOWI_WRITER_OP};
  return out->parent != STOW_VALUE_NONE &&
         element_offset_bytes(checker, out->parent, view.element_offset, &out->offset);
}

// The loop whose body begins with |node|, an `args`; STOW_NODE_NONE where there is none.
static stow_node loop_of_args(const stowi_checker* checker, stow_node node) {
  if (stow_graph_op(checker->graph, node) != STOW_OP_ARGS) {
    return STOW_NODE_NONE;
  }
  stow_node owner =
      stow_graph_region_owner(checker->graph, stow_graph_node_region(checker->graph, node));
  if (owner == STOW_NODE_NONE ||
      stow_graph_op_desc(checker->graph, owner)->region_kind != STOW_REGION_LOOP) {
    return STOW_NODE_NONE;
  }
  return owner;
}

// A carried argument's initial value; STOW_VALUE_NONE where argument |k| is not carried.
static stow_value initial_value(const stowi_checker* checker, stow_node loop, size_t k) {
  const stow_carry* carry = &stow_graph_op_desc(checker->graph, loop)->carry;
  return k < carry->first_arg
             ? STOW_VALUE_NONE
             : operand_at(checker, loop, k - carry->first_arg + carry->first_operand);
}

static bool share_by_loop(const stowi_checker* checker, stow_node node, size_t k, share* out) {
  stow_node loop = loop_of_args(checker, node);
  if (loop != STOW_NODE_NONE) {
    *out = (share){initial_value(checker, loop, k), 0, 0, false, STOWI_WRITER_CARRY};
    return out->parent != STOW_VALUE_NONE;
  }
  const stow_op_desc* desc = stow_graph_op_desc(checker->graph, node);
  const stow_carry* carry = &desc->carry;
  if (desc->region_kind != STOW_REGION_LOOP || k < carry->first_result ||
      operand_at(checker, node, k - carry->first_result + carry->first_operand) ==
          STOW_VALUE_NONE) {
    return false;
  }
  stow_region body = stow_graph_owned_region(checker->graph, node, 0);
  stow_value argument =
      stowi_check_argument(checker, body, k - carry->first_result + carry->first_arg);
  *out = (share){argument, 0, 0, false, STOWI_WRITER_CARRY};
  return argument != STOW_VALUE_NONE;
}

// Whether nothing that is declared of the value forbids it to be a view.
static bool may_share(const stowi_checker* checker, stow_value value) {
  return !stow_effects_own(checker->effects, value) &&
         stowi_check_policy(checker, value) != STOW_IO_EXTERNAL;
}

// ---------------------------------------------------------------------------------------------
// Writers

static stow_status add_writer(stowi_checker* checker, stow_value value, uint32_t step,
                              uint32_t early, stowi_writer_kind kind) {
  if (STOWI_VEC_RESERVE(checker->allocator, &checker->writers, 1) != STOW_OK) {
    return stowi_fail_memory(checker->diag);
  }
  checker->writers.data[checker->writers.count++] = (stowi_check_writer){
      .root = stow_plan_root(checker->plan, value),
      .since = step + 1,
      .start = early < step ? early : step,
      .until = early < step ? early : step + 1,
      .value = value,
      .kind = kind,
  };
  return STOW_OK;
}

// The earliest step from which result |k| of |node| is written; UINT32_MAX where its own step is.
static uint32_t early_step(const stowi_checker* checker, stow_node node, size_t k, size_t from) {
  uint32_t earliest = UINT32_MAX;
  size_t count = stow_effects_early_write_count(checker->effects);
  for (size_t i = from; i < count; ++i) {
    stow_early_write write = stow_effects_early_write(checker->effects, i);
    if (write.node != node) {
      break;
    }
    if (write.result == k && checker->steps[write.from] < earliest) {
      earliest = checker->steps[write.from];
    }
  }
  return earliest;
}

static stow_status moved_fault(stowi_checker* checker, stow_value value, const char* why) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint32_t step = checker->steps[stow_graph_producer(checker->graph, value)];
  if (root >= checker->value_count) {
    return stowi_fault(checker, STOW_FAULT_VIEW_MOVED, value, STOW_VALUE_NONE, step,
                       "%s %s %%%" PRIu32 ", which does not exist",
                       stowi_label_value(checker, value).text, why, root);
  }
  return stowi_fault(checker, STOW_FAULT_VIEW_MOVED, value, root, step, "%s %s %s",
                     stowi_label_value(checker, value).text, why,
                     stowi_label_value(checker, root).text);
}

static stow_status kept_fault(stowi_checker* checker, stow_value value, uint32_t step) {
  stow_value root = stow_plan_root(checker->plan, value);
  return stowi_fault(
      checker, STOW_FAULT_REUSED_TOO_EARLY, root, value, step,
      "%s is written over %s at step %" PRIu32 ", which the next run must find untouched",
      stowi_label_value(checker, value).text, stowi_label_value(checker, root).text, step);
}

// No other operand of |node| reads the bytes that |value|, laid over |operand|, is written into.
static stow_status check_other_operands(stowi_checker* checker, stow_node node, stow_value value,
                                        size_t operand) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint32_t step = checker->steps[node];
  size_t count = stow_graph_operand_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value other = operand_at(checker, node, k);
    if (k != operand && other != STOW_VALUE_NONE && stow_plan_root(checker->plan, other) == root) {
      return stowi_fault(
          checker, STOW_FAULT_REUSED_TOO_EARLY, other, value, step,
          "%s is written over %s at step %" PRIu32 ", while operand %zu still reads those bytes",
          stowi_label_value(checker, value).text, stowi_label_value(checker, root).text, step, k);
    }
  }
  return STOW_OK;
}

// Why |value| must not be laid over |operand|, whatever the permission; NULL where it may.
static const char* why_not_over(const stowi_checker* checker, stow_value value,
                                stow_value operand) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint64_t bytes = checker->values[value].bytes;
  if (!may_share(checker, value) || stow_effects_state(checker->effects, value)) {
    return "must have bytes of its own and is laid over";
  }
  if (checker->values[operand].bytes != bytes || checker->values[root].bytes != bytes) {
    return "has another size than what it is laid over,";
  }
  if (stow_effects_offset(checker->effects, value) != STOW_OFFSET_NONE) {
    return "has a fixed offset and is laid over";
  }
  bool fixed = stow_effects_offset(checker->effects, root) != STOW_OFFSET_NONE;
  return fixed ? "is laid over what has a fixed offset," : NULL;
}

static stow_status check_overwrite(stowi_checker* checker, stow_node node, stow_value value,
                                   size_t operand) {
  stow_value root = stow_plan_root(checker->plan, value);
  const char* why = why_not_over(checker, value, operand_at(checker, node, operand));
  stow_slot slot;
  if (why != NULL) {
    return moved_fault(checker, value, why);
  }
  if (stowi_check_is_kept(checker, root)) {
    return kept_fault(checker, value, checker->steps[node]);
  }
  if (!stow_plan_slot(checker->plan, root, &slot)) {
    return stowi_fault(checker, STOW_FAULT_MISSING, value, root, checker->steps[node],
                       "%s is computed and has no slot: it is written over %s, which has none",
                       stowi_label_value(checker, value).text,
                       stowi_label_value(checker, root).text);
  }
  return check_other_operands(checker, node, value, operand);
}

// An op that writes into its operand |operand|. An input may be a cache that is meant to grow.
static stow_status check_op_write(stowi_checker* checker, stow_node node, stow_value value,
                                  size_t operand) {
  stow_value root = stow_plan_root(checker->plan, value);
  if (stowi_check_is_op(checker, root, STOW_OP_PARAM) ||
      stowi_check_is_op(checker, root, STOW_OP_CONSTANT)) {
    return kept_fault(checker, value, checker->steps[node]);
  }
  return check_other_operands(checker, node, value, operand);
}

// Every carried argument is written again by its loop's yield, wherever it lies.
static stow_status note_carried(stowi_checker* checker, stow_node node) {
  stow_node loop = loop_of_args(checker, node);
  if (loop == STOW_NODE_NONE) {
    return STOW_OK;
  }
  stow_region body = stow_graph_node_region(checker->graph, node);
  uint32_t yield = checker->steps[stow_graph_region_last(checker->graph, body)];
  size_t count = stow_graph_result_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value argument = stow_graph_first_result(checker->graph, node) + (stow_value)k;
    if (initial_value(checker, loop, k) == STOW_VALUE_NONE) {
      continue;
    }
    stow_value root = stow_plan_root(checker->plan, argument);
    if (root != argument && stowi_check_is_kept(checker, root)) {
      return kept_fault(checker, argument, yield);
    }
    STOW_TRY(add_writer(checker, argument, yield, UINT32_MAX, STOWI_WRITER_CARRY));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Claims

typedef enum verdict { FITS, OTHER_ROOT, OTHER_PLACE } verdict;

static verdict try_share(const stowi_checker* checker, stow_value value, const share* way,
                         uint64_t* out_inner) {
  stow_value root = stow_plan_root(checker->plan, value);
  stow_slot slot, root_slot;
  if (stow_plan_root(checker->plan, way->parent) != root ||
      !stowi_add_u64(checker->values[way->parent].inner, way->offset, out_inner)) {
    return OTHER_ROOT;
  }
  bool placed = stow_plan_slot(checker->plan, value, &slot) &&
                stow_plan_slot(checker->plan, root, &root_slot);
  if (placed && (slot.offset < root_slot.offset || slot.offset - root_slot.offset != *out_inner)) {
    return OTHER_PLACE;
  }
  return FITS;
}

static stow_status place_fault(stowi_checker* checker, stow_value value, uint64_t expected) {
  stow_slot slot, root_slot;
  stow_value root = stow_plan_root(checker->plan, value);
  stow_plan_slot(checker->plan, value, &slot);
  stow_plan_slot(checker->plan, root, &root_slot);
  return stowi_fault(checker, STOW_FAULT_VIEW_MOVED, value, root,
                     checker->steps[stow_graph_producer(checker->graph, value)],
                     "%s lies at offset %" PRIu64 " and must lie %" PRIu64
                     " bytes into %s, which lies at offset %" PRIu64,
                     stowi_label_value(checker, value).text, slot.offset, expected,
                     stowi_label_value(checker, root).text, root_slot.offset);
}

// The value lies inside the bytes of its root.
static stow_status check_inside(stowi_checker* checker, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint32_t step = checker->steps[stow_graph_producer(checker->graph, value)];
  uint64_t end = 0;
  stow_slot slot, root_slot;
  if (!stow_plan_slot(checker->plan, root, &root_slot)) {
    if (!stow_plan_slot(checker->plan, value, &slot)) {
      return STOW_OK;
    }
    return stowi_fault(checker, STOW_FAULT_VIEW_OUTSIDE, value, root, step,
                       "%s has a slot and its root %s has none",
                       stowi_label_value(checker, value).text,
                       stowi_label_value(checker, root).text);
  }
  const stowi_check_value* own = &checker->values[value];
  if (stowi_add_u64(own->inner, own->bytes, &end) && end <= root_slot.size) {
    return STOW_OK;
  }
  return stowi_fault(checker, STOW_FAULT_VIEW_OUTSIDE, value, root, step,
                     "%s is %" PRIu64 " bytes at %" PRIu64 " in %s, which has %" PRIu64,
                     stowi_label_value(checker, value).text, own->bytes, own->inner,
                     stowi_label_value(checker, root).text, root_slot.size);
}

static stow_status accept(stowi_checker* checker, stow_node node, size_t k, const share* way,
                          uint64_t inner, size_t early) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stowi_check_value* own = &checker->values[value];
  own->inner = inner;
  own->since = checker->values[way->parent].since;
  if (way->writes) {
    uint32_t step = checker->steps[node];
    own->since = step + 1;
    if (way->kind == STOWI_WRITER_OP) {
      STOW_TRY(check_op_write(checker, node, value, way->operand));
    }
    STOW_TRY(add_writer(checker, value, step, early_step(checker, node, k, early), way->kind));
  } else if (stow_graph_op_desc(checker->graph, node)->region_kind == STOW_REGION_LOOP) {
    // A loop's final result is what the last round's yield wrote.
    stow_region body = stow_graph_owned_region(checker->graph, node, 0);
    own->since = checker->steps[stow_graph_region_last(checker->graph, body)] + 1;
  }
  return check_inside(checker, value);
}

// Tries what the graph and the effects say; |out_verdict| is the best answer.
static stow_status try_declared(stowi_checker* checker, stow_node node, size_t k, size_t early,
                                verdict* out_verdict, uint64_t* out_inner) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  share way;
  *out_verdict = OTHER_ROOT;
  if (!may_share(checker, value)) {
    return STOW_OK;
  }
  if (!share_by_effect(checker, node, value, &way) && !share_by_op(checker, node, k, &way) &&
      !share_by_loop(checker, node, k, &way)) {
    return STOW_OK;
  }
  *out_verdict = try_share(checker, value, &way, out_inner);
  return *out_verdict == FITS ? accept(checker, node, k, &way, *out_inner, early) : STOW_OK;
}

static stow_status try_overwrites(stowi_checker* checker, stow_node node, size_t k,
                                  const cursor* at, bool* out_found) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  size_t count = stow_effects_overwrite_count(checker->effects);
  *out_found = false;
  for (size_t i = at->overwrite; i < count; ++i) {
    stow_overwrite allowed = stow_effects_overwrite(checker->effects, i);
    if (allowed.node != node) {
      break;
    }
    share way = {operand_at(checker, node, allowed.operand), allowed.operand, 0, true,
                 STOWI_WRITER_OVERWRITE};
    uint64_t inner = 0;
    if (allowed.result != k || way.parent == STOW_VALUE_NONE ||
        try_share(checker, value, &way, &inner) != FITS) {
      continue;
    }
    *out_found = true;
    STOW_TRY(check_overwrite(checker, node, value, allowed.operand));
    return accept(checker, node, k, &way, inner, at->early);
  }
  return STOW_OK;
}

// What the graph or the effects make a view is one for the executor too, which then runs nothing,
// or writes into the operand.
static bool must_share(const stowi_checker* checker, stow_node node, size_t k) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  share way;
  return may_share(checker, value) &&
         (share_by_effect(checker, node, value, &way) || share_by_op(checker, node, k, &way));
}

static stow_status check_claim(stowi_checker* checker, stow_node node, size_t k, const cursor* at) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stow_value root = stow_plan_root(checker->plan, value);
  if (root == value) {
    return must_share(checker, node, k)
               ? moved_fault(checker, value, "must share an operand's bytes; its root is")
               : STOW_OK;
  }
  if (root >= checker->value_count || stow_plan_root(checker->plan, root) != root) {
    return moved_fault(checker, value, "is claimed to be a view of");
  }
  verdict declared = OTHER_ROOT;
  uint64_t inner = 0;
  STOW_TRY(try_declared(checker, node, k, at->early, &declared, &inner));
  if (declared == FITS) {
    return STOW_OK;
  }
  bool found = false;
  STOW_TRY(try_overwrites(checker, node, k, at, &found));
  if (found) {
    return STOW_OK;
  }
  return declared == OTHER_PLACE
             ? place_fault(checker, value, inner)
             : moved_fault(checker, value, "is claimed to be a view, but nothing puts it in");
}

static void advance(const stowi_checker* checker, stow_node node, cursor* at) {
  size_t overwrites = stow_effects_overwrite_count(checker->effects);
  while (at->overwrite < overwrites &&
         stow_effects_overwrite(checker->effects, at->overwrite).node < node) {
    at->overwrite += 1;
  }
  size_t early = stow_effects_early_write_count(checker->effects);
  while (at->early < early && stow_effects_early_write(checker->effects, at->early).node < node) {
    at->early += 1;
  }
}

stow_status stowi_check_views(stowi_checker* checker) {
  cursor at = {0, 0};
  for (stow_node node = 0; node < checker->node_count; ++node) {
    advance(checker, node, &at);
    size_t results = stow_graph_result_count(checker->graph, node);
    for (size_t k = 0; k < results; ++k) {
      STOW_TRY(check_claim(checker, node, k, &at));
    }
    STOW_TRY(note_carried(checker, node));
  }
  return STOW_OK;
}
