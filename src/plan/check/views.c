// Part of the plan checker: values that are views.
// The plan claims a root for every value, and an offset in it: that of its slot in the root's. A
// value is a view if one of these places it in an operand's bytes:
//   the op table       reshape, narrow, … and kv_append, which also writes
//   a declared place   result k is bytes [d, d + n) of operand j
//   a loop             initial value ─▶ argument ─▶ final result; the body's yield writes
// The first two are views for the executor too, which then runs nothing: there the claim must say
// so. Whatever is not a view is written by its op, wherever it is; shares.c checks whether it may
// be there. Operands have lower ids, so one pass in id order finds every operand resolved.
// O(values + effects).
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"
#include "plan/check/check.h"

// One way in which a value may share |parent|'s bytes.
typedef struct share {
  stow_value parent;
  uint64_t offset;
  bool is_needed;  // by the executor
  bool writes;
  uint64_t rows;  // of the parent that it has a part of; 1: it is one run
  uint64_t pitch;
} share;

static bool element_offset_bytes(const stowi_plan_checker* checker, stow_value parent,
                                 uint64_t elements, uint64_t* out_bytes) {
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

static bool share_by_effect(const stowi_plan_checker* checker, stow_node node, stow_value value,
                            share* out) {
  size_t operand = 0;
  uint64_t offset = 0;
  if (!stowi_effects_inside(checker->effects, value, &operand, &offset)) {
    return false;
  }
  *out = (share){stowi_plan_check_operand(checker, node, operand), offset, true, false, 1, 0};
  return out->parent != STOW_VALUE_NONE;
}

static bool share_by_op(const stowi_plan_checker* checker, stow_node node, size_t k, share* out) {
  stow_view view;
  if (!stow_graph_view(checker->graph, node, k, &view) ||
      (view.extended && checker->plan->facts.classic_views)) {
    return false;
  }
  bool writes = stow_graph_op_desc(checker->graph, node)->writes_view;
  *out = (share){stowi_plan_check_operand(checker, node, view.operand), 0, true, writes, 1, 0};
  return out->parent != STOW_VALUE_NONE &&
         element_offset_bytes(checker, out->parent, view.element_offset, &out->offset);
}

static bool share_by_loop(const stowi_plan_checker* checker, stow_node node, size_t k, share* out) {
  stow_node loop = stowi_plan_check_loop_of_args(checker, node);
  stow_value parent = loop != STOW_NODE_NONE ? stowi_plan_check_initial(checker, loop, k)
                                             : stowi_plan_check_final(checker, node, k);
  *out = (share){parent, 0, false, false, 1, 0};
  return parent != STOW_VALUE_NONE;
}

// A part along an inner axis may be a part of each row of the operand.
static bool share_by_rows(const stowi_plan_checker* checker, stow_node node, size_t k, share* out) {
  stowi_graph_row_part part;
  if (checker->plan->facts.least_row == 0 || checker->plan->facts.f32_uniform ||
      checker->plan->facts.classic_views || !stowi_graph_row_view(checker->graph, node, k, &part)) {
    return false;
  }
  stow_value parent = stowi_plan_check_operand(checker, node, 0);
  uint64_t width = stow_dtype_bits(stow_graph_type(checker->graph, parent)->dtype) / 8;
  *out = (share){parent, part.offset * width, false, false, part.rows, part.pitch * width};
  return part.row < part.pitch;
}

// ---------------------------------------------------------------------------------------------
// Claims

static stow_status no_root_fault(stowi_plan_checker* checker, stow_value value) {
  uint32_t step = checker->steps[stow_graph_producer(checker->graph, value)];
  return stowi_plan_fault(checker, STOW_FAULT_VIEW_MOVED, value, STOW_VALUE_NONE, step,
                          "%s is claimed to be a view of %%%" PRIu32 ", which does not exist",
                          stowi_plan_label_value(checker, value).text,
                          stow_plan_root(checker->plan, value));
}

static stow_status place_fault(stowi_plan_checker* checker, stow_value value, uint64_t expected) {
  stow_slot slot, root_slot;
  stow_value root = stow_plan_root(checker->plan, value);
  stow_plan_value_slot(checker->plan, value, &slot);
  stow_plan_value_slot(checker->plan, root, &root_slot);
  return stowi_plan_fault(checker, STOW_FAULT_VIEW_MOVED, value, root,
                          checker->steps[stow_graph_producer(checker->graph, value)],
                          "%s is at offset %" PRIu64 ", but must be %" PRIu64
                          " bytes into %s, which is at offset %" PRIu64,
                          stowi_plan_label_value(checker, value).text, slot.offset, expected,
                          stowi_plan_label_value(checker, root).text, root_slot.offset);
}

// Checks that every root exists and is its own, and fills offsets of values with slots; that of a
// view without one follows from its operand's.
static stow_status fill_places(stowi_plan_checker* checker) {
  for (stow_value value = 0; value < checker->value_count; ++value) {
    stow_value root = stow_plan_root(checker->plan, value);
    stow_slot slot, root_slot;
    if (root >= checker->value_count) {
      return no_root_fault(checker, value);
    }
    if (stow_plan_root(checker->plan, root) != root) {
      return stowi_plan_check_misplaced(checker, STOW_FAULT_VIEW_MOVED, value,
                                        "is claimed to be a view of");
    }
    if (root != value && stow_plan_value_slot(checker->plan, value, &slot) &&
        stow_plan_value_slot(checker->plan, root, &root_slot)) {
      // Below the root it wraps around, and so is not inside.
      checker->values[value].inner = slot.offset - root_slot.offset;
    }
    STOW_TRY(stowi_plan_check_shape(checker, value));
  }
  return STOW_OK;
}

static bool has_place(const stowi_plan_checker* checker, stow_value value) {
  stow_slot slot;
  return stow_plan_value_slot(checker->plan, value, &slot) &&
         stow_plan_value_slot(checker->plan, stow_plan_root(checker->plan, value), &slot);
}

// Whether |value|, of the parent's root, is where |way| places it.
static bool is_there(const stowi_plan_checker* checker, stow_value value, const share* way) {
  stowi_plan_bytes own = stowi_plan_bytes_of(checker, value);
  stowi_plan_bytes whole = stowi_plan_bytes_of(checker, way->parent);
  stowi_plan_bytes part = {way->offset, own.bytes, way->rows, way->pitch};
  return own.bytes % way->rows == 0 && stowi_plan_bytes_is_part(&own, &whole, &part);
}

// Whether all results of |node| are parts of its operand's rows, in its bytes: then it does not
// run.
static bool are_rows(const stowi_plan_checker* checker, stow_node node) {
  stow_value first = stow_graph_first_result(checker->graph, node);
  for (size_t k = 0; k < stow_graph_result_count(checker->graph, node); ++k) {
    stow_value value = first + (stow_value)k;
    share way;
    if (!stowi_plan_check_may_share(checker, value) || !share_by_rows(checker, node, k, &way) ||
        stow_plan_root(checker->plan, value) != stow_plan_root(checker->plan, way.parent) ||
        !has_place(checker, value) || !is_there(checker, value, &way)) {
      return false;
    }
  }
  return true;
}

// Makes |value| a view if it is where |way| places it; a fault if it must be and is not.
static stow_status try_view(stowi_plan_checker* checker, stow_node node, stow_value value,
                            const share* way) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint64_t inner = 0;
  bool same_root = stow_plan_root(checker->plan, way->parent) == root &&
                   stowi_add_u64(checker->values[way->parent].inner, way->offset, &inner);
  bool placed = has_place(checker, value);
  if (same_root && (placed ? is_there(checker, value, way) : way->rows == 1)) {
    checker->values[value].inner = placed ? checker->values[value].inner : inner;
    stowi_plan_check_value* own = &checker->values[value];
    own->made = way->writes ? STOWI_PLAN_MADE_APPEND : STOWI_PLAN_MADE_VIEW;
    own->since = way->writes ? checker->steps[node] + 1 : checker->values[way->parent].since;
    if (stow_graph_op_desc(checker->graph, node)->region_kind == STOW_REGION_LOOP) {
      // A loop's final result is what the last iteration's yield wrote.
      stow_region body = stow_graph_owned_region(checker->graph, node, 0);
      own->since = stowi_plan_check_region_end(checker, body) + 1;
    }
    stowi_plan_check_link(checker, value, way->parent);
    return STOW_OK;
  }
  if (!way->is_needed) {
    return STOW_OK;
  }
  if (same_root) {
    return place_fault(checker, value, inner);
  }
  return stowi_plan_check_misplaced(checker, STOW_FAULT_VIEW_MOVED, value,
                                    root == value
                                        ? "must share an operand's bytes; its root is"
                                        : "is claimed to be a view, but nothing places it in");
}

// Checks that the value is inside the bytes of its root.
static stow_status check_inside(stowi_plan_checker* checker, stow_value value) {
  stow_value root = stow_plan_root(checker->plan, value);
  uint32_t step = checker->steps[stow_graph_producer(checker->graph, value)];
  uint64_t end = 0;
  stow_slot slot, root_slot;
  if (!stow_plan_value_slot(checker->plan, root, &root_slot)) {
    if (!stow_plan_value_slot(checker->plan, value, &slot)) {
      return STOW_OK;
    }
    return stowi_plan_fault(checker, STOW_FAULT_VIEW_OUTSIDE, value, root, step,
                            "%s has a slot, but its root %s has none",
                            stowi_plan_label_value(checker, value).text,
                            stowi_plan_label_value(checker, root).text);
  }
  const stowi_plan_check_value* own = &checker->values[value];
  stowi_plan_bytes place = {0, own->bytes, own->rows, own->pitch};
  if (stowi_add_u64(own->inner, stowi_plan_bytes_end(&place), &end) && end <= root_slot.size) {
    return STOW_OK;
  }
  return stowi_plan_fault(checker, STOW_FAULT_VIEW_OUTSIDE, value, root, step,
                          "%s is %" PRIu64 " bytes at %" PRIu64 " in %s, which has only %" PRIu64,
                          stowi_plan_label_value(checker, value).text, own->bytes, own->inner,
                          stowi_plan_label_value(checker, root).text, root_slot.size);
}

static stow_status check_claim(stowi_plan_checker* checker, stow_node node, size_t k) {
  stow_value value = stow_graph_first_result(checker->graph, node) + (stow_value)k;
  stowi_plan_check_value* own = &checker->values[value];
  share way;
  own->made = STOWI_PLAN_MADE_WRITTEN;
  own->since = checker->steps[node] + 1;
  if (stow_graph_is_boundary(checker->graph, value)) {
    own->made = STOWI_PLAN_MADE_OUTSIDE;
    own->since = 0;
  } else if (stowi_plan_check_may_share(checker, value) &&
             (share_by_effect(checker, node, value, &way) || share_by_op(checker, node, k, &way) ||
              share_by_loop(checker, node, k, &way))) {
    STOW_TRY(try_view(checker, node, value, &way));
  } else if (share_by_rows(checker, node, k, &way) && are_rows(checker, node)) {
    STOW_TRY(try_view(checker, node, value, &way));
  }
  return check_inside(checker, value);
}

static void note_member(stowi_plan_checker* checker, stow_value value) {
  stowi_plan_check_value* root = &checker->values[stow_plan_root(checker->plan, value)];
  root->makers += checker->values[value].made != STOWI_PLAN_MADE_VIEW ? 1 : 0;
  root->holds_kept = root->holds_kept || stowi_plan_check_is_kept(checker, value);
}

// A loop's yield writes carried arguments, wherever they are.
static void note_carried(stowi_plan_checker* checker, stow_node node) {
  stow_node loop = stowi_plan_check_loop_of_args(checker, node);
  size_t count = loop == STOW_NODE_NONE ? 0 : stow_graph_result_count(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    stow_value argument = stow_graph_first_result(checker->graph, node) + (stow_value)k;
    if (stowi_plan_check_initial(checker, loop, k) != STOW_VALUE_NONE) {
      checker->values[stow_plan_root(checker->plan, argument)].makers += 1;
    }
  }
}

stow_status stowi_plan_check_views(stowi_plan_checker* checker) {
  STOW_TRY(fill_places(checker));
  for (stow_node node = 0; node < checker->node_count; ++node) {
    size_t results = stow_graph_result_count(checker->graph, node);
    for (size_t k = 0; k < results; ++k) {
      STOW_TRY(check_claim(checker, node, k));
      note_member(checker, stow_graph_first_result(checker->graph, node) + (stow_value)k);
    }
    note_carried(checker, node);
  }
  return STOW_OK;
}
