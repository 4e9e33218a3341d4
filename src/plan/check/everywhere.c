// The proof that a plan by bounds is correct at every shape of its range, not only at its points.
//
// The range is divided into cells. In a cell, each dim of each value is one number or at least 2,
// and where a comparison of two dims decides whether a result is a view or in place, its answer is
// the same everywhere. So all of the cell's shapes have the same views, the same shares, and, since
// order and lives do not depend on sizes, the same demands on the plan. That they are met is
// checked by the plan checker at two of its shapes; what follows for the others is numbers, and
// these are compared as expressions:
//   sizes      each value has the bytes of its type
//   places     a view lies where its op says, in an operand; what is in place lies where its
//   operand
//              does, and is not larger; what is built in its place in a concat lies after the
//              operands before it; all inside their roots, and as aligned as they must be
//   windows    what is in a root is inside its parts. What is not inside one of them at the cell's
//              shape is not in use then, as the plan checker has found
//   offsets    that are fixed have room below them where sizes are largest
//   overlaps   do not depend on sizes: formula.c
// A cell in which something is undecided is divided, along a symbol of what is. O(cells × values).
#include "plan/check/everywhere.h"

#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "effects/api.h"
#include "graph/api.h"

#define MOST_CELLS 4096
#define MOST_RETRIES 256
#define BITS_PER_BYTE 8

typedef struct cell {
  size_t region;
  stow_dim_range ranges[STOW_MAX_RANK];
} cell;

typedef struct prover {
  const stow_formula* formula;
  const stowi_plan_check_shapes* shapes;
  stow_allocator allocator;
  stow_diag* diag;
  stow_graph* graph;  // a copy, with symbols
  stow_dims* dims;    // its table
  stow_dim* exprs;    // those of the formula, in this table
  int64_t* values;    // of all symbols
  stow_value*
      links;  // by value: another one of its root that is proven to be where it must, or itself
  stow_dim* starts;  // by node: elements of its operand before a slice; or 0
  STOWI_VEC(cell) cells;
  size_t cell_count;  // that there were
  size_t retries;     // cells that were divided because something was not proven
  const stowi_plan_formula_region* region;  // of the cell
  stowi_plan_checked_shape shape;
} prover;

static stow_status unproven(const prover* p, stow_value value, const char* what) {
  stowi_fail(
      p->diag, STOW_ERR_UNSUPPORTED,
      "%s: %s for all shapes, and there are too many to look at each; give smaller ranges or "
      "larger steps",
      stowi_graph_describe_value(p->formula->graph, value).text, what);
  stowi_diag_value(p->diag, value);
  return STOW_ERR_UNSUPPORTED;
}

// ---------------------------------------------------------------------------------------------
// Expressions

// Reads an expression of the formula into the copy's table.
static stow_status read_expr(prover* p, size_t index) {
  const stowi_plan_formula_expr* from = &p->formula->exprs.data[index];
  stow_string text;
  if (from->table != NULL) {
    return stowi_fail(p->diag, STOW_ERR_UNSUPPORTED, "a size has no expression for all shapes");
  }
  stow_string_init(&text, p->allocator);
  stow_status status =
      stow_dim_print(stow_graph_dims(p->formula->graph), from->dim, stow_string_writer(&text));
  if (status == STOW_OK) {
    status = stowi_graph_parse_dim(p->graph, (stow_str){text.data, text.size}, p->allocator,
                                   p->diag, &p->exprs[index]);
  } else {
    status = stowi_fail_memory(p->diag);
  }
  stow_string_free(&text);
  return status;
}

static stow_status check_numbers(const prover* p) {
  uint64_t most_buffers = 0;
  for (size_t i = 0; i < p->formula->regions.count; ++i) {
    size_t count = p->formula->regions.data[i]->buffer_count;
    most_buffers = count > most_buffers ? count : most_buffers;
  }
  for (size_t i = 0; i < p->formula->exprs.count; ++i) {
    int64_t least;
    int64_t most;
    stowi_graph_dim_interval(p->dims, p->exprs[i], &least, &most);
    if (most >= (INT64_C(1) << 61) / (int64_t)(most_buffers + 1)) {
      return stowi_fail(p->diag, STOW_ERR_UNSUPPORTED,
                        "a size may be too large at some shape; give smaller ranges");
    }
  }
  return STOW_OK;
}

static stow_dim elements_of(const prover* p, stow_value value, uint32_t from_axis) {
  const stow_type* type = stow_graph_type(p->graph, value);
  stow_dim elements = 1;
  for (uint32_t i = from_axis; i < type->rank; ++i) {
    elements = stow_dim_mul(p->dims, elements, type->dims[i]);
  }
  return elements;
}

static uint32_t bits_of(const prover* p, stow_value value) {
  uint32_t bits = stow_dtype_bits(stow_graph_type(p->graph, value)->dtype);
  return p->region->facts.f32_uniform && bits < 32 ? 32 : bits;
}

static stow_dim bytes_of(const prover* p, stow_value value, stow_dim elements) {
  uint32_t bits = bits_of(p, value);
  return bits % BITS_PER_BYTE == 0
             ? stow_dim_mul(p->dims, elements, bits / BITS_PER_BYTE)
             : stow_dim_ceil_div(p->dims, stow_dim_mul(p->dims, elements, bits), BITS_PER_BYTE);
}

static stow_dim bytes_at(const prover* p, stow_value value) {
  return p->exprs[p->region->values[value].bytes];
}

static stow_dim inner_at(const prover* p, stow_value value) {
  return p->exprs[p->region->values[value].inner];
}

static stow_value root_of(const prover* p, stow_value value) {
  return p->region->values[value].root;
}

static bool is_same(const prover* p, stow_dim a, stow_dim b) {
  return a != STOW_DIM_INVALID && b != STOW_DIM_INVALID && stow_dim_same(p->dims, a, b);
}

static bool is_not_less(const prover* p, stow_dim a, stow_dim b) {
  return a != STOW_DIM_INVALID && b != STOW_DIM_INVALID && stow_dim_not_less(p->dims, a, b);
}

// ---------------------------------------------------------------------------------------------
// Decisions

// Whether |dim| is one number in the cell, or at least 2.
static bool is_decided(const prover* p, stow_dim dim) {
  int64_t least;
  int64_t most;
  if (dim >= 0) {
    return true;
  }
  stowi_graph_dim_interval(p->dims, dim, &least, &most);
  return least >= 2 || (least == most && least >= 0);
}

// Whether they are equal everywhere in the cell, or nowhere.
static bool is_settled(const prover* p, stow_dim a, stow_dim b) {
  if (a == b || (a >= 0 && b >= 0)) {
    return true;
  }
  int64_t least[2];
  int64_t most[2];
  stowi_graph_dim_interval(p->dims, a, &least[0], &most[0]);
  stowi_graph_dim_interval(p->dims, b, &least[1], &most[1]);
  return least[0] > most[1] || least[1] > most[0] || stow_dim_same(p->dims, a, b) ||
         stowi_graph_dim_is_larger(p->dims, a, b) || stowi_graph_dim_is_larger(p->dims, b, a);
}

// Two dims, or one, that are undecided in the cell.
typedef struct doubt {
  bool exists;
  stow_value value;
  stow_dim a;
  stow_dim b;
} doubt;

static doubt doubt_dims(const prover* p) {
  for (stow_value v = 0; v < p->formula->value_count; ++v) {
    const stow_type* type = stow_graph_type(p->graph, v);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!is_decided(p, type->dims[i])) {
        return (doubt){true, v, type->dims[i], type->dims[i]};
      }
    }
  }
  return (doubt){false, STOW_VALUE_NONE, 0, 0};
}

// Dims from the last one back, as broadcasting pairs them.
static doubt doubt_pair(const prover* p, stow_value value, stow_value other) {
  const stow_type* x = stow_graph_type(p->graph, value);
  const stow_type* y = stow_graph_type(p->graph, other);
  for (uint32_t i = 1; i <= x->rank && i <= y->rank; ++i) {
    stow_dim a = x->dims[x->rank - i];
    stow_dim b = y->dims[y->rank - i];
    if (!is_settled(p, a, b)) {
      return (doubt){true, value, a, b};
    }
  }
  return (doubt){false, STOW_VALUE_NONE, 0, 0};
}

// Where a result shares bytes with an operand, or may, dims are compared.
static doubt doubt_node(const prover* p, stow_node node) {
  doubt found = {false, STOW_VALUE_NONE, 0, 0};
  stow_value first = stow_graph_first_result(p->graph, node);
  size_t results = stow_graph_result_count(p->graph, node);
  size_t operands = stow_graph_operand_count(p->graph, node);
  bool is_slice = stow_graph_op(p->graph, node) == STOW_OP_SLICE;
  for (size_t k = 0; k < results && !found.exists; ++k) {
    for (size_t i = 0; i < operands && !found.exists; ++i) {
      stow_value operand = stow_graph_operands(p->graph, node)[i];
      stow_value value = first + (stow_value)k;
      if (operand != STOW_VALUE_NONE &&
          (root_of(p, operand) == root_of(p, value) || (is_slice && i == 0)) &&
          stow_graph_op(p->graph, node) != STOW_OP_RESHAPE) {
        found = doubt_pair(p, value, operand);
      }
    }
  }
  return found;
}

static doubt find_doubt(const prover* p) {
  doubt found = doubt_dims(p);
  for (stow_node node = 0; node < p->formula->step_count && !found.exists; ++node) {
    found = doubt_node(p, node);
  }
  return found;
}

// The symbol of these dims with the most values, as an index among those with ranges.
static size_t symbol_of(const prover* p, const cell* c, const doubt* why) {
  size_t found = SIZE_MAX;
  uint64_t most = 1;
  for (size_t i = 0; i < p->formula->symbol_count; ++i) {
    size_t symbol = p->formula->symbols[i];
    uint64_t count = stow_dim_range_count(&c->ranges[i]);
    if (count > most &&
        (stow_dim_uses(p->dims, why->a, symbol) || stow_dim_uses(p->dims, why->b, symbol))) {
      most = count;
      found = i;
    }
  }
  return found;
}

static stow_status push_cell(prover* p, const cell* added) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(p->allocator, &p->cells, 1) == STOW_OK, p->diag));
  p->cells.data[p->cells.count++] = *added;
  return STOW_OK;
}

// After the first value of |symbol| if that is 0 or 1, or else in the middle.
static stow_status divide(prover* p, const cell* c, size_t symbol) {
  cell halves[2] = {*c, *c};
  const stow_dim_range* whole = &c->ranges[symbol];
  int64_t steps = whole->min <= 1 ? 0 : ((int64_t)stow_dim_range_count(whole) - 1) / 2;
  halves[0].ranges[symbol].max = whole->min + steps * whole->step;
  halves[1].ranges[symbol].min = whole->min + (steps + 1) * whole->step;
  STOW_TRY(push_cell(p, &halves[0]));
  return push_cell(p, &halves[1]);
}

static stow_status settle(prover* p, const cell* c, const doubt* why) {
  size_t symbol = symbol_of(p, c, why);
  if (symbol == SIZE_MAX || p->cell_count + p->cells.count >= MOST_CELLS) {
    return unproven(p, why->value, "whether it shares bytes is not the same");
  }
  return divide(p, c, symbol);
}

// ---------------------------------------------------------------------------------------------
// Places

static bool first_of_list(const prover* p, stow_node node, const char* name, size_t operand,
                          size_t i, stow_dim* out) {
  const stow_attr* attr = stow_graph_attr(p->graph, node, name);
  if (attr != NULL && attr->kind == STOW_ATTR_INTS && attr->count != 0) {
    *out = i < attr->count ? stow_dim_of_int(p->dims, attr->ints[i]) : STOW_DIM_INVALID;
    return i < attr->count;
  }
  uint64_t count = 0;
  stow_value list = operand < stow_graph_operand_count(p->graph, node)
                        ? stow_graph_operands(p->graph, node)[operand]
                        : STOW_VALUE_NONE;
  if (list == STOW_VALUE_NONE || !stow_type_elements(stow_graph_type(p->graph, list), &count) ||
      i >= count) {
    return false;
  }
  int64_t number;
  *out = stow_graph_known_int(p->graph, list, i, &number) ? stow_dim_of_int(p->dims, number)
                                                          : stow_graph_known(p->graph, list, i);
  return true;
}

// Where a slice starts along |axis|: a start below 0 counts from the end, and none is outside.
static stow_dim slice_start(const prover* p, stow_node node, const stow_type* type, uint32_t axis) {
  stow_dim start;
  for (size_t i = 0; first_of_list(p, node, "starts", 1, i, &start); ++i) {
    stow_dim named;
    int64_t at = (int64_t)i;
    if (first_of_list(p, node, "axes", 3, i, &named) && !stow_dim_to_int(p->dims, named, &at)) {
      return STOW_DIM_INVALID;
    }
    at += at < 0 ? (int64_t)type->rank : 0;
    int64_t least = 0;
    int64_t most = 0;
    if (at != (int64_t)axis) {
      continue;
    }
    if (start != STOW_DIM_INVALID) {
      stowi_graph_dim_interval(p->dims, start, &least, &most);
    }
    if (start == STOW_DIM_INVALID || (least < 0 && most >= 0)) {
      return STOW_DIM_INVALID;
    }
    return most < 0 ? stow_dim_max(p->dims, stow_dim_add(p->dims, type->dims[axis], start), 0)
                    : stow_dim_min(p->dims, start, type->dims[axis]);
  }
  return 0;
}

static stow_dim slice_offset(const prover* p, stow_node node, stow_value operand) {
  const stow_type* type = stow_graph_type(p->graph, operand);
  stow_dim offset = 0;
  for (uint32_t i = 0; i < type->rank; ++i) {
    stow_dim start = slice_start(p, node, type, i);
    offset = stow_dim_add(p->dims, stow_dim_mul(p->dims, offset, type->dims[i]), start);
  }
  return offset;
}

// Elements of |operand| before the first one of |value|.
static stow_dim view_offset(const prover* p, stow_node node, stow_value value, stow_value operand) {
  const stow_type* type = stow_graph_type(p->graph, operand);
  const stow_attr* attr = stow_graph_attr(p->graph, node, "axis");
  int64_t axis = attr == NULL ? 0 : attr->i;
  axis += axis < 0 ? (int64_t)type->rank : 0;
  stow_dim start = 0;
  switch (stow_graph_op(p->graph, node)) {
    case STOW_OP_SLICE: return p->starts[node];
    case STOW_OP_NARROW:
      attr = stow_graph_attr(p->graph, node, "start");
      start = stow_dim_of_int(p->dims, attr == NULL ? 0 : attr->i);
      break;
    case STOW_OP_SPLIT:
      for (stow_value v = stow_graph_first_result(p->graph, node); v < value; ++v) {
        start = stow_dim_add(p->dims, start, stow_graph_type(p->graph, v)->dims[axis]);
      }
      break;
    default: return 0;
  }
  return stow_dim_mul(p->dims, start, elements_of(p, operand, (uint32_t)axis + 1));
}

// What the op table says at the cell's shape, and so everywhere in it.
static bool is_view(const prover* p, stow_node node, stow_value value, stow_value* out_operand) {
  stow_view view;
  size_t k = value - stow_graph_first_result(p->graph, node);
  if (!stow_graph_view(p->shape.bound, node, k, &view) ||
      (view.extended && p->region->facts.classic_views)) {
    return false;
  }
  *out_operand = stow_graph_operands(p->graph, node)[view.operand];
  return true;
}

// The value that stands for all that |value| is linked to.
static stow_value linked_to(const prover* p, stow_value value) {
  while (p->links[value] != value) {
    value = p->links[value];
  }
  return value;
}

static void link_values(prover* p, stow_value a, stow_value b) {
  p->links[linked_to(p, a)] = linked_to(p, b);
}

static bool share_root(const prover* p, stow_value a, stow_value b) {
  return a != STOW_VALUE_NONE && b != STOW_VALUE_NONE && root_of(p, a) == root_of(p, b);
}

static void link_in_place(prover* p, stow_node node, stow_value value) {
  for (size_t i = 0; i < stow_graph_operand_count(p->graph, node); ++i) {
    stow_value operand = stow_graph_operands(p->graph, node)[i];
    if (share_root(p, operand, value) && is_same(p, inner_at(p, operand), inner_at(p, value)) &&
        is_not_less(p, bytes_at(p, operand), bytes_at(p, value))) {
      link_values(p, value, operand);
    }
  }
}

// Operands that are where the concat has them.
static void link_concat(prover* p, stow_node node, stow_value result) {
  stow_dim place = inner_at(p, result);
  for (size_t i = 0; i < stow_graph_operand_count(p->graph, node); ++i) {
    stow_value operand = stow_graph_operands(p->graph, node)[i];
    if (share_root(p, operand, result) && is_same(p, place, inner_at(p, operand))) {
      link_values(p, operand, result);
    }
    place = stow_dim_add(p->dims, place, bytes_at(p, operand));
    if (place == STOW_DIM_INVALID) {
      return;
    }
  }
}

static bool is_aligned(const prover* p, stow_value value, bool is_written) {
  uint64_t needed = stowi_effects_alignment(p->shape.effects, value);
  uint64_t common = is_written ? p->region->facts.alignment : 1;
  needed = needed > common ? needed : common;
  return needed <= 1 ||
         stowi_graph_dim_multiple(p->dims, inner_at(p, value)) % (int64_t)needed == 0;
}

// |by| bytes into |operand|, as the executor has it.
static stow_status link_view(prover* p, stow_value value, stow_value operand, stow_dim by) {
  stow_dim place = by == STOW_DIM_INVALID || !share_root(p, operand, value)
                       ? STOW_DIM_INVALID
                       : stow_dim_add(p->dims, inner_at(p, operand), by);
  if (!is_same(p, place, inner_at(p, value)) || !is_aligned(p, value, false)) {
    return unproven(p, value, "where it is a view is not proven");
  }
  link_values(p, value, operand);
  return STOW_OK;
}

static stow_status link_value(prover* p, stow_value value) {
  stow_node node = stow_graph_producer(p->graph, value);
  stow_value operand;
  size_t index;
  uint64_t inside;
  if (!p->region->values[value].has_slot) {
    return STOW_OK;
  }
  if (stowi_effects_inside(p->shape.effects, value, &index, &inside)) {
    return link_view(p, value, stow_graph_operands(p->graph, node)[index],
                     stow_dim_of_int(p->dims, (int64_t)inside));
  }
  if (is_view(p, node, value, &operand)) {
    stow_dim offset = view_offset(p, node, value, operand);
    bool has_bytes = bits_of(p, operand) % BITS_PER_BYTE == 0 || offset == 0;
    return link_view(
        p, value, operand,
        has_bytes && offset != STOW_DIM_INVALID ? bytes_of(p, operand, offset) : STOW_DIM_INVALID);
  }
  link_in_place(p, node, value);
  if (stow_graph_op(p->graph, node) == STOW_OP_CONCAT) {
    link_concat(p, node, value);
  }
  return root_of(p, value) == value || is_aligned(p, value, true)
             ? STOW_OK
             : unproven(p, value, "its alignment is not proven");
}

static stow_status check_value(const prover* p, stow_value value) {
  stow_value root = root_of(p, value);
  if (stowi_effects_storage(p->shape.effects, value) != STOW_BYTES_DEFAULT ||
      !is_same(p, bytes_at(p, value), bytes_of(p, value, elements_of(p, value, 0)))) {
    return unproven(p, value, "its size is not proven");
  }
  if (root == value || !p->region->values[value].has_slot) {
    return STOW_OK;
  }
  if (linked_to(p, value) != linked_to(p, root)) {
    return unproven(p, value, "where it shares bytes is not proven");
  }
  stow_dim end = stow_dim_add(p->dims, inner_at(p, value), bytes_at(p, value));
  return is_not_less(p, bytes_at(p, root), end)
             ? STOW_OK
             : unproven(p, value, "it is not proven to be inside its root");
}

static bool evaluate(const prover* p, stow_dim dim, int64_t* out) {
  return dim != STOW_DIM_INVALID &&
         stow_dim_evaluate(p->dims, dim, p->shape.values, out) == STOW_OK;
}

// Whether |b| begins at or after the end of |a|, everywhere if at the cell's shape.
static bool is_kept_apart(const prover* p, stow_value a, stow_value b) {
  int64_t at_end;
  int64_t begin;
  stow_dim end = stow_dim_add(p->dims, inner_at(p, a), bytes_at(p, a));
  if (!evaluate(p, end, &at_end) || !evaluate(p, inner_at(p, b), &begin)) {
    return false;
  }
  return begin < at_end || is_not_less(p, inner_at(p, b), end);
}

// Two values in a root that do not touch at the cell's shape never do.
static stow_status check_pairs(const prover* p) {
  for (stow_value v = 0; v < p->formula->value_count; ++v) {
    const stowi_plan_formula_value* own = &p->region->values[v];
    for (stow_value u = 0; u < v && own->has_slot; ++u) {
      const stowi_plan_formula_value* other = &p->region->values[u];
      bool is_pair = other->root == own->root && other->has_slot && other->inner != own->inner;
      if (is_pair && (!is_kept_apart(p, u, v) || !is_kept_apart(p, v, u))) {
        return unproven(p, v, "that it does not touch others in its root is not proven");
      }
    }
  }
  return STOW_OK;
}

static stow_status check_values(prover* p) {
  for (stow_value v = 0; v < p->formula->value_count; ++v) {
    p->links[v] = v;
  }
  for (stow_value v = 0; v < p->formula->value_count; ++v) {
    STOW_TRY(link_value(p, v));
  }
  for (stow_value v = 0; v < p->formula->value_count; ++v) {
    STOW_TRY(check_value(p, v));
  }
  return check_pairs(p);
}

// ---------------------------------------------------------------------------------------------
// Windows

// Whether a term is not above |place| (not below it, if |is_high|), everywhere, or none is at the
// cell's shape.
static bool is_bounded(const prover* p, uint32_t first, uint32_t end, stow_dim place,
                       bool is_high) {
  int64_t at;
  bool covers = false;
  if (!evaluate(p, place, &at)) {
    return false;
  }
  for (uint32_t i = first; i < end; ++i) {
    stow_dim term = p->exprs[p->region->terms[i]];
    int64_t number;
    if (is_high ? is_not_less(p, term, place) : is_not_less(p, place, term)) {
      return true;
    }
    covers = covers || !evaluate(p, term, &number) || (is_high ? number >= at : number <= at);
  }
  return !covers;
}

static bool is_in_part(const prover* p, const stowi_plan_formula_part* part, stow_value value) {
  stow_dim low = inner_at(p, value);
  stow_dim high = stow_dim_add(p->dims, low, bytes_at(p, value));
  return (part->at_bottom || is_bounded(p, part->first_low, part->first_high, low, false)) &&
         is_bounded(p, part->first_high, part[1].first_low, high, true);
}

static stow_status check_windows(const prover* p) {
  const stowi_plan_formula_region* region = p->region;
  for (size_t i = 0; i < region->part_count; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    const stowi_plan_formula_buffer* buffer = &region->buffers[part->buffer];
    bool is_whole = part->at_bottom && part->at_top;
    for (stow_value v = 0; v < p->formula->value_count && !is_whole; ++v) {
      if (buffer->kind == STOWI_PLAN_FORMULA_ROOT && root_of(p, v) == buffer->id &&
          !is_in_part(p, part, v)) {
        return unproven(p, v, "which bytes of its root it occupies is not proven");
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Fixed offsets

static bool has_fixed(const stowi_plan_formula_region* region) {
  for (size_t i = 0; i < region->buffer_count; ++i) {
    if (region->constraints[i].fixed_offset != STOW_PLACE_ANYWHERE) {
      return true;
    }
  }
  return false;
}

// No number of the region is larger anywhere in the cell than at its last shape.
static bool is_largest_at_last(const prover* p, uint32_t expr) {
  int64_t least;
  int64_t most;
  int64_t last;
  stowi_graph_dim_interval(p->dims, p->exprs[expr], &least, &most);
  return evaluate(p, p->exprs[expr], &last) && most <= last;
}

// What is below a buffer with a fixed offset fits there at the cell's last shape, and so at all
// whose sizes are not larger.
static stow_status check_fixed(const prover* p) {
  const stowi_plan_formula_region* region = p->region;
  bool is_proven = true;
  if (!has_fixed(region)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < region->part_count && is_proven; ++i) {
    const stowi_plan_formula_part* part = &region->parts[i];
    is_proven = part->at_bottom;
    for (uint32_t t = part->first_high; t < part[1].first_low && is_proven; ++t) {
      is_proven = is_largest_at_last(p, region->terms[t]);
    }
  }
  return is_proven ? STOW_OK
                   : stowi_fail(p->diag, STOW_ERR_UNSUPPORTED,
                                "room below fixed offsets is not proven for all shapes; give "
                                "smaller ranges or larger steps");
}

// ---------------------------------------------------------------------------------------------
// Cells

static void set_values(prover* p, const cell* c, bool is_last) {
  memset(p->values, 0, p->formula->all_symbols * sizeof(int64_t));
  for (size_t i = 0; i < p->formula->symbol_count; ++i) {
    p->values[p->formula->symbols[i]] = is_last ? c->ranges[i].max : c->ranges[i].min;
  }
}

static stow_status check_cell(prover* p, const cell* c) {
  ++p->cell_count;
  for (int last = 0; last < 2; ++last) {
    set_values(p, c, last == 1);
    STOW_TRY(p->shapes->check(p->shapes->user, c->region, p->values, &p->shape));
  }
  STOW_TRY(check_values(p));
  STOW_TRY(check_windows(p));
  STOW_TRY(check_fixed(p));
  stow_status status = stow_dims_status(p->dims);
  stow_dims_clear_status(p->dims);
  return stowi_need_memory(status != STOW_ERR_OUT_OF_MEMORY, p->diag);
}

// The symbol with the most values; SIZE_MAX: the cell is one shape.
static size_t largest_symbol(const prover* p, const cell* c) {
  size_t found = SIZE_MAX;
  uint64_t most = 1;
  for (size_t i = 0; i < p->formula->symbol_count; ++i) {
    uint64_t count = stow_dim_range_count(&c->ranges[i]);
    found = count > most ? i : found;
    most = count > most ? count : most;
  }
  return found;
}

// What is not proven for all of a cell may be for parts of it: bounds of expressions are closer
// there.
static stow_status take_cell(prover* p) {
  cell c = p->cells.data[--p->cells.count];
  for (size_t i = 0; i < p->formula->symbol_count; ++i) {
    STOW_TRY(stow_dims_set_range(p->dims, p->formula->symbols[i], &c.ranges[i]));
  }
  p->region = p->formula->regions.data[c.region];
  doubt why = find_doubt(p);
  if (why.exists) {
    return settle(p, &c, &why);
  }
  stow_status status = check_cell(p, &c);
  size_t symbol = largest_symbol(p, &c);
  if (status != STOW_ERR_UNSUPPORTED || symbol == SIZE_MAX || p->retries == MOST_RETRIES) {
    return status;
  }
  ++p->retries;
  return divide(p, &c, symbol);
}

static stow_status add_boxes(prover* p) {
  const stow_formula* formula = p->formula;
  for (size_t i = 0; i < formula->boxes.count; ++i) {
    const stowi_plan_formula_box* from = &formula->boxes.data[i];
    cell added = {.region = from->region};
    for (size_t k = 0; k < formula->symbol_count; ++k) {
      added.ranges[k] = formula->ranges[k];
      added.ranges[k].min = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_step(formula, k, from->first[k]));
      added.ranges[k].max = stowi_plan_formula_value_at(
          formula, k, stowi_plan_formula_last_step(formula, k, from->last[k]));
    }
    STOW_TRY(push_cell(p, &added));
  }
  return STOW_OK;
}

// Where slices start does not depend on the cell. Bodies of branches and loops share bytes in more
// ways than are compared here.
static stow_status read_nodes(prover* p) {
  for (stow_node node = 0; node < p->formula->step_count; ++node) {
    bool is_slice = stow_graph_op(p->graph, node) == STOW_OP_SLICE;
    p->starts[node] = is_slice ? slice_offset(p, node, stow_graph_operands(p->graph, node)[0]) : 0;
    stow_dims_clear_status(p->dims);
    const stow_op_desc* desc = stow_graph_op_desc(p->graph, node);
    bool is_own = stow_graph_op(p->graph, node) >= STOW_OP_CORE_COUNT;
    if (desc->region_count != 0 || (is_own && (desc->view != NULL || desc->in_place != NULL))) {
      return unproven(p, stow_graph_first_result(p->graph, node),
                      is_own ? "what a registered op shares is not proven"
                             : "a branch or a loop is not proven");
    }
  }
  return STOW_OK;
}

static stow_status run(prover* p) {
  const stow_formula* formula = p->formula;
  STOW_TRY(stowi_graph_copy(formula->graph, p->allocator, p->diag, &p->graph));
  p->dims = stow_graph_edit_dims(p->graph);
  p->exprs = STOWI_ARRAY(p->allocator, stow_dim, formula->exprs.count);
  p->values = STOWI_ARRAY(p->allocator, int64_t, formula->all_symbols);
  p->links = STOWI_ARRAY(p->allocator, stow_value, formula->value_count);
  p->starts = STOWI_ARRAY(p->allocator, stow_dim, formula->step_count);
  STOW_TRY(stowi_need_memory(
      p->exprs != NULL && p->values != NULL && p->links != NULL && p->starts != NULL, p->diag));
  STOW_TRY(stow_graph_verify(p->graph, p->diag));
  STOW_TRY(read_nodes(p));
  for (size_t i = 0; i < formula->exprs.count; ++i) {
    STOW_TRY(read_expr(p, i));
  }
  STOW_TRY(check_numbers(p));
  STOW_TRY(add_boxes(p));
  while (p->cells.count > 0) {
    STOW_TRY(take_cell(p));
  }
  return STOW_OK;
}

stow_status stowi_plan_check_everywhere(const stow_formula* formula,
                                        const stowi_plan_check_shapes* shapes,
                                        stow_allocator allocator, stow_diag* diag) {
  prover p = {.formula = formula, .shapes = shapes, .allocator = allocator, .diag = diag};
  stow_status status = run(&p);
  STOWI_VEC_FREE(allocator, &p.cells);
  STOWI_ARRAY_FREE(allocator, p.exprs, formula->exprs.count);
  STOWI_ARRAY_FREE(allocator, p.values, formula->all_symbols);
  STOWI_ARRAY_FREE(allocator, p.links, formula->value_count);
  STOWI_ARRAY_FREE(allocator, p.starts, formula->step_count);
  stow_graph_destroy(p.graph);
  return status;
}
