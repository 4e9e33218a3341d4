// Columns: a convolution of one element, or a product, together with what is computed element by
// element for it alone, such as a norm and an activation of a tensor that others read too, or a
// weight that is dequantised in every run. They become one `blocks` node, whose rows are columns of
// the image or of the product's right operand, so that what is between is never there as a whole.
//
//     %2 = batch_norm(%1, …) : f32[1, 512, 28, 28]
//     %3 = relu(%2) : f32[1, 512, 28, 28]            ─▶ f32[1, 512, 1, ?rows]
//     %4 = conv(%3, %w) : f32[1, 128, 28, 28]
//
//     %2 = transpose(%w) : i8[384, 50000]            ─▶ i8[384, ?rows] of i8[?rows, 384]
//     %3 = dequantize_linear(%2, %s) : f32[384, 50000]
//     %4 = matmul(%1, %3) : f32[1, 50000]
//
// Blocks of columns cost time: they are copied, and weights are not packed. So this is done only
// where it makes the peak smaller: at steps with more live bytes than there are at any step if
// everything is fused that can be. Chains are short, so it is O(size of the graph).
#include <string.h>

#include "base/diag.h"
#include "rewrite/load.h"
#include "rewrite/maker.h"
#include "rewrite/rules.h"

#define MOST_NODES 8      // of a chain with its product
#define MOST_OPERANDS 32  // from outside
// About what an executor needs for the smallest blocks.
#define BLOCK_BYTES 16384
#define FRAME_BYTES 256
#define ROWS (INT64_MIN + 1)  // in types of parts, before they are those of a function

typedef struct finder {
  stowi_rewrite_pass* pass;
  const stow_graph* graph;
  stowi_rewrite_load* load;
  // The chain that is looked at, the product first.
  stow_node nodes[MOST_NODES];
  size_t count;
  stow_value operands[MOST_OPERANDS];  // from outside
  size_t operand_count;
} finder;

// ---------------------------------------------------------------------------------------------
// Types

// Which dim of what a chain computes are the columns: of images the last of the spatial dims, which
// become one.
typedef struct layout {
  bool is_image;
  uint32_t rank;
  uint32_t axis;
  stow_dim dims[STOW_MAX_RANK];
} layout;

static layout layout_of(bool is_image, const stow_type* type, uint32_t axis) {
  layout made = {.is_image = is_image, .rank = type->rank, .axis = axis};
  memcpy(made.dims, type->dims, sizeof(made.dims));
  return made;
}

static bool is_column(const layout* l, uint32_t i) { return l->is_image ? i >= 2 : i == l->axis; }

// The dim of |type| that is aligned with dim |i| of the layout.
static stow_dim aligned_dim(const layout* l, const stow_type* type, uint32_t i) {
  uint32_t missing = l->rank - type->rank;
  return i < missing ? 1 : type->dims[i - missing];
}

// What a block has of |type|, whose dims are aligned with the layout's at the last one: |rows| in
// place of its columns, if it has them. False if it has only some of them.
static bool part_of(const layout* l, const stow_type* type, stow_dim rows, stow_type* out_part) {
  bool has_all = true, has_none = true;
  *out_part = *type;
  if (type->rank > l->rank) {
    return false;
  }
  uint32_t missing = l->rank - type->rank;
  for (uint32_t i = 0; i < l->rank; ++i) {
    bool is_batch = l->is_image && i == 0;
    if (is_column(l, i)) {
      has_all = has_all && aligned_dim(l, type, i) == l->dims[i];
      has_none = has_none && aligned_dim(l, type, i) == 1;
    }
    if ((is_column(l, i) || is_batch) && i >= missing) {
      out_part->dims[i - missing] = 1;  // a group is one image
    }
  }
  if (has_all && l->axis >= missing) {
    out_part->dims[l->axis - missing] = rows;
  }
  return has_all || has_none;
}

// Whether there may be more than one column.
static bool has_columns(const layout* l) {
  bool has = false;
  for (uint32_t i = 0; i < l->rank; ++i) {
    has = has || (is_column(l, i) && l->dims[i] != 1);
  }
  return has;
}

// ---------------------------------------------------------------------------------------------
// Nodes

static const stow_type* operand_type(const stow_graph* graph, stow_node node, size_t k) {
  return stow_graph_type(graph, stow_graph_operands(graph, node)[k]);
}

static const stow_type* result_type(const stow_graph* graph, stow_node node) {
  return stow_graph_type(graph, stow_graph_first_result(graph, node));
}

static bool are_all(const stow_attr* list, int64_t number) {
  bool are = true;
  for (size_t i = 0; i < list->count; ++i) {
    are = are && list->ints[i] == number;
  }
  return are;
}

// A window of one element that moves by one.
static bool is_pointwise(const stow_graph* graph, stow_node node) {
  const stow_type* window = operand_type(graph, node, 1);
  bool is = window->rank >= 3 && are_all(stow_graph_attr(graph, node, "strides"), 1) &&
            are_all(stow_graph_attr(graph, node, "pads"), 0) &&
            stow_str_equal(stow_graph_attr(graph, node, "auto_pad")->s, stow_str_of("notset"));
  for (uint32_t i = 2; i < window->rank; ++i) {
    is = is && window->dims[i] == 1;
  }
  return is;
}

// Which operand of a product is computed for it; SIZE_MAX: |node| is none. |out_layout| is its.
static size_t chain_of_product(const stow_graph* graph, stow_node node, layout* out_layout) {
  stow_op op = stow_graph_op(graph, node);
  if (op == STOW_OP_CONV && is_pointwise(graph, node)) {
    const stow_type* image = operand_type(graph, node, 0);
    *out_layout = layout_of(true, image, image->rank - 1);
    return 0;
  }
  if (op == STOW_OP_MATMUL && operand_type(graph, node, 1)->rank == 2 &&
      operand_type(graph, node, 0)->rank >= 2) {
    *out_layout = layout_of(false, operand_type(graph, node, 1), 1);
    return 1;
  }
  return SIZE_MAX;
}

static bool has_dims(const layout* l, const stow_type* type) {
  return type->rank == l->rank &&
         memcmp(type->dims, l->dims, type->rank * sizeof(type->dims[0])) == 0;
}

// The operand of an elementwise node that the chain goes on with: the first that has all dims.
static size_t chain_of_elements(const stow_graph* graph, stow_node node, const layout* l) {
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    if (stow_graph_operands(graph, node)[k] != STOW_VALUE_NONE &&
        has_dims(l, operand_type(graph, node, k))) {
      return k;
    }
  }
  return SIZE_MAX;
}

static bool is_norm(const stow_graph* graph, stow_node node) {
  return stow_graph_op(graph, node) == STOW_OP_BATCH_NORM &&
         stow_graph_result_count(graph, node) == 1 &&
         !stow_graph_attr(graph, node, "training")->b && stow_graph_attr(graph, node, "spatial")->b;
}

// Scales of one number, or along a dim.
static bool is_plain_quantization(const stow_graph* graph, stow_node node) {
  stow_op op = stow_graph_op(graph, node);
  const stow_attr* block = stow_graph_attr(graph, node, "block_size");
  return (op == STOW_OP_QUANTIZE_LINEAR || op == STOW_OP_DEQUANTIZE_LINEAR) &&
         operand_type(graph, node, 1)->rank <= 1 && (block == NULL || block->i == 0);
}

// The operand of |node|, whose result has layout |l|, that the chain goes on with, and its layout;
// SIZE_MAX: a chain cannot have it.
static size_t chain_of(const stow_graph* graph, stow_node node, const layout* l, layout* out) {
  *out = *l;
  if (stowi_graph_is_elementwise(graph, node)) {
    return chain_of_elements(graph, node, l);
  }
  if ((l->is_image && is_norm(graph, node)) || is_plain_quantization(graph, node)) {
    return 0;
  }
  if (!l->is_image && stow_graph_op(graph, node) == STOW_OP_TRANSPOSE) {
    const stow_type* from = operand_type(graph, node, 0);
    const stow_attr* perm = stow_graph_attr(graph, node, "perm");
    *out = layout_of(false, from, 1 - l->axis);
    return perm->count == 0 || perm->ints[0] == 1 ? 0 : SIZE_MAX;
  }
  return SIZE_MAX;
}

// What a block has of operand |k| of |node|, which has layout |l|.
static bool side_part(const stow_graph* graph, stow_node node, size_t k, const layout* l,
                      stow_dim rows, stow_type* out_part) {
  const stow_type* type = operand_type(graph, node, k);
  *out_part = *type;
  if (stowi_graph_is_elementwise(graph, node)) {
    return part_of(l, type, rows, out_part);
  }
  if (stow_graph_op(graph, node) == STOW_OP_BATCH_NORM || type->rank == 0) {
    return true;
  }
  int64_t axis = stow_graph_attr(graph, node, "axis")->i;
  axis = axis < 0 ? axis + (int64_t)l->rank : axis;
  if (axis == (int64_t)l->axis) {
    out_part->dims[0] = rows;
  }
  return !l->is_image || axis < 2;
}

// ---------------------------------------------------------------------------------------------
// Chains

static bool is_candidate(const finder* f, stow_node node) {
  return !f->pass->is_dropped[node] &&
         stowi_rewrite_can_fuse(f->load, &f->pass->facts, f->graph, node);
}

static bool can_join(const finder* f, stow_node node) {
  stow_value value = stow_graph_first_result(f->graph, node);
  return f->count < MOST_NODES && is_candidate(f, node) && f->pass->facts.readers[value] == 1 &&
         stow_graph_node_region(f->graph, node) == stow_graph_node_region(f->graph, f->nodes[0]) &&
         !stowi_bits_has(&f->pass->facts.fixed, value) &&
         !stowi_bits_has(&f->pass->facts.outputs, value);
}

// Adds operands of |node| other than |k|; false if one cannot be given to a block.
static bool add_sides(finder* f, stow_node node, size_t k, const layout* l) {
  bool fits = true;
  for (size_t i = 0; fits && i < stow_graph_operand_count(f->graph, node); ++i) {
    stow_value operand = stow_graph_operands(f->graph, node)[i];
    stow_type part;
    if (i == k || operand == STOW_VALUE_NONE) {
      continue;
    }
    fits = f->operand_count + 1 < MOST_OPERANDS &&
           (l == NULL || side_part(f->graph, node, i, l, 1, &part));
    if (fits) {
      f->operands[f->operand_count++] = operand;
    }
  }
  return fits;
}

// The longest chain that ends with product |last|; false if there is none.
static bool find_chain(finder* f, stow_node last) {
  layout l, next;
  f->count = f->operand_count = 0;
  if (!is_candidate(f, last) || stow_graph_op(f->graph, last) == STOW_OP_BLOCKS) {
    return false;
  }
  size_t k = chain_of_product(f->graph, last, &l);
  if (k == SIZE_MAX || !has_columns(&l) || !add_sides(f, last, k, NULL)) {
    return false;
  }
  f->nodes[f->count++] = last;
  stow_value source = stow_graph_operands(f->graph, last)[k];
  while (true) {
    stow_node node = stow_graph_producer(f->graph, source);
    size_t before = f->operand_count;
    if (!can_join(f, node) || (k = chain_of(f->graph, node, &l, &next)) == SIZE_MAX ||
        !add_sides(f, node, k, &l)) {
      f->operand_count = before;
      break;
    }
    f->nodes[f->count++] = node;
    source = stow_graph_operands(f->graph, node)[k];
    l = next;
  }
  f->operands[f->operand_count++] = source;
  return f->count > 1;
}

static stowi_rewrite_fusion fusion_of(const finder* f) {
  return (stowi_rewrite_fusion){.nodes = f->nodes,
                                .count = f->count,
                                .operands = f->operands,
                                .operand_count = f->operand_count,
                                .taken = STOW_VALUE_NONE,
                                .scratch = BLOCK_BYTES + FRAME_BYTES * f->count};
}

// ---------------------------------------------------------------------------------------------
// Functions

// |part| as a type of the function.
static void translate(stowi_rewrite_maker* m, stow_type* part) {
  for (uint32_t i = 0; i < part->rank; ++i) {
    part->dims[i] = part->dims[i] == ROWS ? m->rows : stowi_rewrite_maker_dim(m, part->dims[i]);
  }
}

static stow_status add_side(stowi_rewrite_maker* m, stow_node node, size_t k, const layout* l) {
  stow_value value = stow_graph_operands(m->graph, node)[k];
  stow_type part;
  (void)side_part(m->graph, node, k, l, ROWS, &part);
  translate(m, &part);
  int use = stowi_graph_rows_axis(&part) == UINT32_MAX ? -1 : (int)l->axis;
  return stowi_rewrite_maker_find(m, value, use) != STOW_VALUE_NONE
             ? STOW_OK
             : stowi_rewrite_maker_input(m, value, use, &part, 1);
}

// The product of all dims of a type of the function but the last.
static stow_dim leading_rows(stowi_rewrite_maker* m, const stow_type* type) {
  stow_dim rows = 1;
  for (uint32_t i = 0; i + 1 < type->rank; ++i) {
    rows = stow_dim_mul(stow_graph_edit_dims(m->function), rows, type->dims[i]);
  }
  return rows;
}

// What the product reads besides the chain: weights as they are, a left operand as one matrix.
static stow_status add_rest(stowi_rewrite_maker* m, stow_node node, size_t k) {
  stow_value value = stow_graph_operands(m->graph, node)[k];
  stow_type type = *stow_graph_type(m->graph, value);
  translate(m, &type);
  if (stow_graph_op(m->graph, node) == STOW_OP_MATMUL) {
    stow_dim rows = leading_rows(m, &type);
    type = stow_type_make(type.dtype, 2, (stow_dim[]){rows, type.dims[type.rank - 1]});
  }
  return stowi_rewrite_maker_find(m, value, -2) != STOW_VALUE_NONE
             ? STOW_OK
             : stowi_rewrite_maker_input(m, value, -2, &type, 1);
}

// What |node| makes of a block.
static stow_type made_part(stowi_rewrite_maker* m, stow_node node, const layout* l) {
  stow_type type = *result_type(m->graph, node);
  stow_type part;
  if (stow_graph_op(m->graph, node) == STOW_OP_MATMUL) {
    translate(m, &type);
    return stow_type_make(type.dtype, 2, (stow_dim[]){leading_rows(m, &type), m->rows});
  }
  layout own = *l;
  memcpy(own.dims, type.dims, sizeof(own.dims));
  (void)part_of(&own, &type, ROWS, &part);
  translate(m, &part);
  return part;
}

typedef struct link {
  layout l;     // of its result; of a product, of the operand that the chain computes
  layout from;  // of operand |k|
  size_t k;
} link;

// Adds node |i| of the maker.
static stow_status add_node(stowi_rewrite_maker* m, size_t i, const link* at) {
  stow_node node = m->nodes[i];
  bool is_product = i + 1 == m->count;
  stow_value chain = stow_graph_operands(m->graph, node)[at->k];
  int use = (int)at->from.axis;
  if (stowi_rewrite_maker_find(m, chain, use) == STOW_VALUE_NONE) {
    stow_type part;
    (void)part_of(&at->from, stow_graph_type(m->graph, chain), ROWS, &part);
    translate(m, &part);
    STOW_TRY(stowi_rewrite_maker_input(m, chain, use, &part, 1));
  }
  size_t count = stow_graph_operand_count(m->graph, node);
  for (size_t k = 0; k < count; ++k) {
    if (k != at->k && stow_graph_operands(m->graph, node)[k] != STOW_VALUE_NONE) {
      STOW_TRY(is_product ? add_rest(m, node, k) : add_side(m, node, k, &at->l));
    }
  }
  stow_type type = made_part(m, node, &at->l);
  stow_call* call = stowi_rewrite_maker_begin(m, i, &type);
  for (size_t k = 0; k < count; ++k) {
    stow_value value = stow_graph_operands(m->graph, node)[k];
    stow_value there = STOW_VALUE_NONE;
    if (value != STOW_VALUE_NONE) {
      there = stowi_rewrite_maker_find(m, value, k == at->k ? use : is_product ? -2 : -1);
      there =
          there == STOW_VALUE_NONE ? stowi_rewrite_maker_find(m, value, (int)at->l.axis) : there;
    }
    stow_call_operand(call, there);
  }
  for (size_t a = 0; a < stow_graph_attr_count(m->graph, node); ++a) {
    stow_call_attr(call, stow_graph_attr_at(m->graph, node, a));
  }
  return stow_call_finish(call, m->pass->diag, NULL);
}

static stow_status fill(stowi_rewrite_maker* m) {
  link links[MOST_NODES];
  for (size_t i = m->count; i-- > 0;) {
    link* at = &links[i];
    if (i + 1 == m->count) {
      at->k = chain_of_product(m->graph, m->nodes[i], &at->l);
      at->from = at->l;
    } else {
      at->l = links[i + 1].from;
      at->k = chain_of(m->graph, m->nodes[i], &at->l, &at->from);
    }
  }
  for (size_t i = 0; i < m->count; ++i) {
    STOW_TRY(add_node(m, i, &links[i]));
  }
  return STOW_OK;
}

// In |list| of a change: where nodes are, and how many.
static stow_status add_blocks(stowi_rewrite_pass* pass, const stowi_rewrite_change* change) {
  stowi_rewrite_maker maker = {.pass = pass,
                               .nodes = pass->nodes.data + change->list[0],
                               .count = (size_t)change->list[1],
                               .fill = fill};
  stow_node last = maker.nodes[maker.count - 1];
  layout l;
  (void)chain_of_product(pass->graph, last, &l);
  maker.end_row = result_type(pass->graph, last)->rank;
  maker.groups = l.is_image ? 1 : 0;
  maker.first_row = l.is_image ? 2 : maker.end_row - 1;
  return stowi_rewrite_maker_add(&maker, change);
}

// ---------------------------------------------------------------------------------------------
// The rule

static stow_status fuse(finder* f) {
  stowi_rewrite_pass* pass = f->pass;
  stow_node last = f->nodes[0];
  stowi_rewrite_change change = {.at = last,
                                 .first = stow_graph_first_result(f->graph, last),
                                 .count = 1,
                                 .add = add_blocks,
                                 .list = {(int64_t)pass->nodes.count, (int64_t)f->count},
                                 .list_count = 2};
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(pass->allocator, &pass->nodes, f->count) == STOW_OK,
                             pass->diag));
  for (size_t i = f->count; i-- > 0;) {
    pass->nodes.data[pass->nodes.count++] = f->nodes[i];
    pass->is_dropped[f->nodes[i]] = true;
  }
  STOW_TRY(stowi_rewrite_fire(pass, pass->nodes.data + pass->nodes.count - f->count, f->count));
  return stowi_rewrite_change_at(pass, &change);
}

static uint64_t highest(const stowi_rewrite_load* load, stow_node first, stow_node last) {
  uint64_t most = 0;
  for (stow_node node = first; node <= last; ++node) {
    most = load->at[node] > most ? load->at[node] : most;
  }
  return most;
}

static bool saves(stowi_rewrite_load* load, const stowi_rewrite_fusion* fusion) {
  stowi_rewrite_effect effect = stowi_rewrite_try(load, fusion);
  return effect.after <= effect.before && effect.sum < 0;
}

// Fuses all that saves; the most that is live then is |*out_peak|. Nothing is noted in the pass.
static stow_status try_all(finder* f, uint64_t* out_peak) {
  uint32_t count = stow_graph_node_count(f->graph);
  stowi_rewrite_load load;
  stow_status status =
      stowi_rewrite_load_init(&load, f->pass->sized, f->pass->allocator, f->pass->diag);
  f->load = &load;
  for (stow_node node = 0; status == STOW_OK && node < count; ++node) {
    if (find_chain(f, node)) {
      stowi_rewrite_fusion fusion = fusion_of(f);
      if (saves(&load, &fusion)) {
        stowi_rewrite_note(&load, &fusion);
      }
    }
  }
  *out_peak = status == STOW_OK ? stowi_rewrite_load_peak(&load) : 0;
  stowi_rewrite_load_free(&load);
  return status;
}

static stow_status visit(finder* f, stow_node node, uint64_t peak) {
  if (!find_chain(f, node)) {
    return STOW_OK;
  }
  stowi_rewrite_fusion fusion = fusion_of(f);
  if (highest(f->load, f->nodes[f->count - 1], node) <= peak || !saves(f->load, &fusion)) {
    return STOW_OK;
  }
  stowi_rewrite_note(f->load, &fusion);
  return fuse(f);
}

stow_status stowi_rewrite_columns(stowi_rewrite_pass* pass) {
  finder f = {.pass = pass, .graph = pass->graph};
  stowi_rewrite_load load;
  uint64_t peak;
  STOW_TRY(try_all(&f, &peak));
  stow_status status = stowi_rewrite_load_init(&load, pass->sized, pass->allocator, pass->diag);
  f.load = &load;
  for (stow_node node = 0; status == STOW_OK && node < stow_graph_node_count(pass->graph); ++node) {
    status = visit(&f, node, peak);
  }
  stowi_rewrite_load_free(&load);
  return status;
}
