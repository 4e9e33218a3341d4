// The sharing that options and effects allow, as far as it does not depend on the order: pairs of a
// result and an operand that it may be in place of, and operands of concat that may be built inside
// its result. Sharing refuses any pair that is omitted here, in every order.
//
// Flows represent blocks that take each other's bytes one to one. What they cannot represent
// exactly is approximated for a search, and left out of a bound: a root that might be built in one
// of several concats, in a concat that is itself divided into parts, or only together with its
// other views, is *brief*, and so are the targets of a root that has several, since one may be
// inside the other; an operand that a result might be in place of is not read there if either is
// divided, several results compete for places, or the node owns regions, which read operands before
// it runs. O(operands × results of ops that can work in place).
#include "base/checked.h"
#include "base/diag.h"
#include "plan/order/traffic.h"

static bool is_fixed(const stowi_plan_traffic* t, stow_value v) {
  return stowi_effects_offset(t->request->effects, v) != STOW_OFFSET_NONE;
}

// The alignment that |v| needs.
static uint64_t alignment_of(const stowi_plan_traffic* t, stow_value v) {
  uint64_t alignment = stowi_analysis_views_alignment(t->request->views, v);
  uint64_t common = t->request->options->alignment;
  return alignment > common ? alignment : common;
}

// Whether nothing of the root exists before |node| makes it.
static bool is_made_by(const stowi_plan_traffic* t, const stowi_plan_traffic_info* info,
                       stow_node node) {
  for (uint32_t i = 0; i < info->part_count; ++i) {
    if (t->parts.data[info->first_part + i].from_start) {
      return false;
    }
  }
  return info->maker == node;
}

// ---------------------------------------------------------------------------------------------
// In place

// The entries of one node in a list of effects.
typedef struct listed {
  stowi_effects_in_place_entry (*at)(const stow_effects* effects, size_t index);
  size_t first;
  size_t end;
} listed;

static void advance(const stowi_plan_traffic* t, listed* list, size_t count, stow_node node) {
  list->first = list->end;
  while (list->end < count && list->at(t->request->effects, list->end).node == node) {
    ++list->end;
  }
}

static bool is_listed(const stowi_plan_traffic* t, const listed* list, size_t k, size_t operand) {
  for (size_t i = list->first; i < list->end; ++i) {
    stowi_effects_in_place_entry entry = list->at(t->request->effects, i);
    if (entry.result == k && entry.operand == operand) {
      return true;
    }
  }
  return false;
}

typedef struct in_place_pass {
  stowi_plan_traffic* traffic;
  listed allowed;
  listed forbidden;
} in_place_pass;

static bool is_free_result(const stowi_plan_traffic* t, stow_node node, stow_value result) {
  const stowi_plan_traffic_info* info = &t->infos[result];
  return !stowi_analysis_views_is_view(t->request->views, result) && info->bytes != 0 &&
         is_made_by(t, info, node) && !is_fixed(t, result) &&
         !stowi_effects_own(t->request->effects, result) &&
         !stowi_effects_state(t->request->effects, result);
}

static bool is_read_twice(const stowi_plan_traffic* t, stow_node node, size_t operand) {
  const stow_value* operands = stow_graph_operands(t->request->graph, node);
  for (size_t k = 0; k < stow_graph_operand_count(t->request->graph, node); ++k) {
    if (k != operand && operands[k] == operands[operand]) {
      return true;
    }
  }
  return false;
}

static bool is_allowed(const in_place_pass* pass, stow_node node, size_t k, size_t operand) {
  const stowi_plan_traffic* t = pass->traffic;
  if (is_listed(t, &pass->forbidden, k, operand)) {
    return false;
  }
  if (is_listed(t, &pass->allowed, k, operand)) {
    return true;
  }
  if (!t->request->options->in_place ||
      stow_graph_op_desc(t->request->graph, node)->in_place == NULL) {
    return false;
  }
  stow_in_place in_place = stow_graph_in_place(t->request->graph, node, k, operand);
  return in_place == STOW_IN_PLACE_INDEX ||
         (in_place == STOW_IN_PLACE_ALONE && !is_read_twice(t, node, operand));
}

// Whether |result| may be in place of |operand|.
static bool offers_place(const stowi_plan_traffic* t, stow_value operand, stow_value result) {
  const stowi_analysis_views* views = t->request->views;
  stow_value root = stowi_analysis_views_root(views, operand);
  return t->infos[root].bytes != 0 && !is_fixed(t, root) &&
         stowi_analysis_views_bytes(views, operand) >= stowi_analysis_views_bytes(views, result) &&
         stowi_analysis_views_offset(views, operand) % alignment_of(t, result) == 0;
}

static stow_status add_pairs(const in_place_pass* pass, stow_node node, size_t k) {
  stowi_plan_traffic* t = pass->traffic;
  const stow_graph* graph = t->request->graph;
  stow_value result = stow_graph_first_result(graph, node) + (stow_value)k;
  const stow_value* operands = stow_graph_operands(graph, node);
  if (!is_free_result(t, node, result)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    if (operands[i] == STOW_VALUE_NONE || !offers_place(t, operands[i], result) ||
        !is_allowed(pass, node, k, i)) {
      continue;
    }
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(t->request->allocator, &t->pairs, 1) == STOW_OK,
                               t->request->diag));
    bool simple = t->infos[result].part_count == 1 &&
                  stowi_plan_traffic_info_of(t, operands[i])->part_count == 1 &&
                  stow_graph_op_desc(graph, node)->region_count == 0;
    t->pairs.data[t->pairs.count++] = (stowi_plan_in_place_pair){
        stow_graph_node_region(graph, node), node, result, operands[i], simple};
  }
  return STOW_OK;
}

// A flow gives places to the largest results first, which is optimal for only one result.
static void judge_pairs(stowi_plan_traffic* t, size_t first) {
  bool several = false;
  for (size_t i = first; i < t->pairs.count; ++i) {
    several |= t->pairs.data[i].result != t->pairs.data[first].result;
  }
  for (size_t i = first; i < t->pairs.count; ++i) {
    t->pairs.data[i].simple &= !several;
    t->is_rough |= !t->pairs.data[i].simple;
  }
}

stow_status stowi_plan_traffic_in_place(stowi_plan_traffic* t) {
  const stow_effects* effects = t->request->effects;
  in_place_pass pass = {t, {stowi_effects_overwrite, 0, 0}, {stowi_effects_forbidden, 0, 0}};
  if (!t->request->options->reuse) {
    return STOW_OK;
  }
  for (stow_node node = 0; node < t->node_count; ++node) {
    advance(t, &pass.allowed, stowi_effects_overwrite_count(effects), node);
    advance(t, &pass.forbidden, stowi_effects_forbidden_count(effects), node);
    size_t first = t->pairs.count;
    for (size_t k = 0; k < stow_graph_result_count(t->request->graph, node); ++k) {
      STOW_TRY(add_pairs(&pass, node, k));
    }
    judge_pairs(t, first);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Copy elision

// Whether all operands of |concat| but one are empty.
static bool has_one_part(const stow_graph* graph, stow_node concat) {
  size_t parts = 0;
  for (size_t k = 0; k < stow_graph_operand_count(graph, concat); ++k) {
    const stow_type* type = stow_graph_type(graph, stow_graph_operands(graph, concat)[k]);
    uint64_t elements = 0;
    parts += stow_type_elements(type, &elements) != STOW_OK || elements != 0 ? 1 : 0;
  }
  return parts == 1;
}

// How many rows of its result the operands of |concat| are one after the other in; 1 if one is all
// of it.
static uint64_t count_rows(const stow_graph* graph, stow_node concat) {
  if (has_one_part(graph, concat)) {
    return 1;
  }
  const stow_type* type = stow_graph_type(graph, stow_graph_first_result(graph, concat));
  const stow_attr* attr = stow_graph_attr(graph, concat, "axis");
  int64_t axis = attr == NULL ? 0 : attr->i;
  axis += axis < 0 ? (int64_t)type->rank : 0;
  uint64_t rows = 1;
  for (int64_t i = 0; i < axis && i < (int64_t)type->rank; ++i) {
    if (type->dims[i] > 1 && !stowi_mul_u64(rows, (uint64_t)type->dims[i], &rows)) {
      return UINT64_MAX;
    }
  }
  return rows;
}

// Whether the root of |operand| may be built elsewhere, apart from its place.
static bool may_move(const stowi_plan_traffic* t, stow_value operand, stow_region region) {
  const stowi_plan_order_request* request = t->request;
  stow_value root = stowi_analysis_views_root(request->views, operand);
  stow_node producer = stow_graph_producer(request->graph, root);
  return t->infos[root].bytes != 0 && !stow_graph_is_boundary(request->graph, root) &&
         stow_graph_op(request->graph, producer) != STOW_OP_ARGS &&
         stow_graph_node_region(request->graph, producer) == region && !is_fixed(t, root) &&
         !stowi_effects_state(request->effects, root) &&
         !stowi_effects_state(request->effects, operand);
}

// The pairs are still sorted by node.
static bool has_pairs(const stowi_plan_traffic* t, stow_node node) {
  size_t low = 0;
  size_t high = t->pairs.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (t->pairs.data[middle].node < node) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < t->pairs.count && t->pairs.data[low].node == node;
}

// A value as a root that moves into a concat's result.
typedef struct candidate {
  stow_value target;  // the first, else STOW_VALUE_NONE
  bool is_shared;     // it, or something in it, might have another
} candidate;

static void make_brief(stowi_plan_traffic* t, stow_value root) {
  t->infos[root].brief = true;
  t->is_rough = true;
}

// A flow represents one target of a root, only one that is a single block, and either a result in
// place or copy elision, but not both.
static stow_status add_elision(stowi_plan_traffic* t, stow_node concat, stow_value root,
                               uint64_t offset, candidate* candidates) {
  stow_value whole = stow_graph_first_result(t->request->graph, concat);
  const stowi_plan_traffic_info* info = &t->infos[whole];
  candidate* own = &candidates[root];
  if (own->target == whole) {
    return STOW_OK;
  }
  own->is_shared |= own->target != STOW_VALUE_NONE;
  bool impossible = own->is_shared || !is_made_by(t, info, concat) || has_pairs(t, concat);
  if (impossible || info->part_count > 1) {
    make_brief(t, root);
  }
  if (impossible) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(t->request->allocator, &t->elisions, 1) == STOW_OK,
                             t->request->diag));
  own->target = whole;
  stow_region region = stow_graph_node_region(t->request->graph, concat);
  t->elisions.data[t->elisions.count++] = (stowi_plan_traffic_elision){region, whole, root, offset};
  return STOW_OK;
}

// The bytes [*begin, *end) of |concat|'s result that are |operand|'s, which comes after |before|
// elements; false if they are not whole bytes, or not all that it has.
static bool find_place(const stowi_plan_traffic* t, stow_node concat, stow_value operand,
                       uint64_t before, uint64_t* out_begin, uint64_t* out_end) {
  const stowi_plan_order_request* request = t->request;
  stow_value whole = stow_graph_first_result(request->graph, concat);
  uint64_t width = stow_dtype_bits(stow_graph_type(request->graph, whole)->dtype);
  uint64_t elements = 0;
  uint64_t begin = 0;
  uint64_t size = 0;
  width = request->options->f32_uniform && width < 32 ? 32 : width;
  if (stow_type_elements(stow_graph_type(request->graph, operand), &elements) != STOW_OK ||
      !stowi_mul_u64(before, width, &begin) || !stowi_mul_u64(elements, width, &size)) {
    return false;
  }
  *out_begin = begin / 8;
  *out_end = begin / 8 + size / 8 + (size % 8 != 0 ? 1 : 0);
  return begin % 8 == 0 &&
         stowi_analysis_views_bytes(request->views, operand) == *out_end - *out_begin &&
         *out_end <= t->infos[whole].bytes;
}

// The bytes of its root before |value|, in all rows that it has a part of.
static uint64_t bytes_before(const stowi_analysis_views* views, stow_value value) {
  return stowi_analysis_views_offset(views, value) * stowi_analysis_views_rows(views, value);
}

// Whether the operands of |concat| from |k| on are together all of their root, in its order.
static bool is_covered(const stowi_plan_traffic* t, stow_node concat, size_t k) {
  const stowi_analysis_views* views = t->request->views;
  const stow_value* operands = stow_graph_operands(t->request->graph, concat);
  size_t count = stow_graph_operand_count(t->request->graph, concat);
  stow_value root = stowi_analysis_views_root(views, operands[k]);
  uint64_t covered = 0;
  while (k < count && stowi_analysis_views_root(views, operands[k]) == root &&
         bytes_before(views, operands[k]) == covered &&
         covered < stowi_analysis_views_bytes(views, root)) {
    covered += stowi_analysis_views_bytes(views, operands[k]);
    ++k;
  }
  return covered >= stowi_analysis_views_bytes(views, root);
}

static stow_status add_elisions_of(stowi_plan_traffic* t, stow_node concat, candidate* candidates) {
  const stowi_plan_order_request* request = t->request;
  const stow_value* operands = stow_graph_operands(request->graph, concat);
  stow_region region = stow_graph_node_region(request->graph, concat);
  uint64_t rows = count_rows(request->graph, concat);
  uint64_t before = 0;
  for (size_t k = 0; k < stow_graph_operand_count(request->graph, concat); ++k) {
    stow_value root = stowi_analysis_views_root(request->views, operands[k]);
    uint64_t begin;
    uint64_t end;
    uint64_t elements = 0;
    bool has_rows = rows == 1 || stowi_analysis_views_bytes(request->views, operands[k]) / rows >=
                                     request->options->least_row;
    if (has_rows && may_move(t, operands[k], region) &&
        find_place(t, concat, operands[k], before, &begin, &end) &&
        begin % alignment_of(t, root) == 0) {
      if (stowi_plan_traffic_is_whole(t, operands[k])) {
        STOW_TRY(add_elision(t, concat, root, begin, candidates));
      } else if (is_covered(t, concat, k)) {
        candidates[root].is_shared = true;
        make_brief(t, root);
      }
    }
    stow_type_elements(stow_graph_type(request->graph, operands[k]), &elements);
    before += elements;
  }
  return STOW_OK;
}

// Two concats that have a part in common may be inside each other, and so may those around them.
static void spread_sharing(stowi_plan_traffic* t, stow_node concat, candidate* candidates) {
  const stowi_plan_order_request* request = t->request;
  stow_value whole = stow_graph_first_result(request->graph, concat);
  for (size_t k = 0; k < stow_graph_operand_count(request->graph, concat); ++k) {
    stow_value operand = stow_graph_operands(request->graph, concat)[k];
    if (candidates[stowi_analysis_views_root(request->views, operand)].is_shared) {
      candidates[whole].is_shared = true;
      make_brief(t, whole);
    }
  }
}

// Whether operands of |node| may be built inside its result.
static bool may_contain(const stowi_plan_traffic* t, stow_node node) {
  const stowi_plan_order_request* request = t->request;
  stow_value whole = stow_graph_first_result(request->graph, node);
  return stow_graph_op(request->graph, node) == STOW_OP_CONCAT &&
         !stowi_analysis_views_is_view(request->views, whole) && t->infos[whole].bytes != 0 &&
         count_rows(request->graph, node) <=
             (request->options->least_row == 0 ? 1 : STOW_MOST_ROWS);
}

// In the given order: the first concat that runs is the first choice.
static stow_status add_elisions(stowi_plan_traffic* t, candidate* candidates) {
  const stow_node* order = stow_schedule_order(t->given);
  for (uint32_t step = 0; step < t->node_count; ++step) {
    if (may_contain(t, order[step])) {
      STOW_TRY(add_elisions_of(t, order[step], candidates));
    }
  }
  for (uint32_t step = 0; step < t->node_count; ++step) {
    if (may_contain(t, order[step])) {
      spread_sharing(t, order[step], candidates);
    }
  }
  return STOW_OK;
}

stow_status stowi_plan_traffic_elisions(stowi_plan_traffic* t) {
  const stowi_plan_order_request* request = t->request;
  if (!request->options->elide_copies || !request->options->reuse) {
    return STOW_OK;
  }
  candidate* candidates = STOWI_ARRAY(request->allocator, candidate, t->value_count);
  STOW_TRY(stowi_need_memory(candidates != NULL, request->diag));
  for (stow_value v = 0; v < t->value_count; ++v) {
    candidates[v] = (candidate){STOW_VALUE_NONE, false};
  }
  stow_status status = add_elisions(t, candidates);
  STOWI_ARRAY_FREE(request->allocator, candidates, t->value_count);
  return status;
}
