// Finds the values that share another's bytes. One pass in id order: operands come before their
// readers, so a view's parent is already resolved, and a chain of any length collapses to its root
// and one summed offset. O(values + operands) time, 20 bytes per value.
// A loop's argument comes before the loop, and the body's views point to it, so whether it shares
// the bytes of its initial value is decided at the `args` node:
//     %1 = relu(%0)          ─┐
//     %2, %3, %4 = args       │ %1, %4 and %6 are one root
//     %5 = add(%4, %4)        │ (yield copies %5 into it)
//     yield %3, %5            │
//     %6 = loop(_, _, %1)    ─┘
#include "analysis/by_rows.h"
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"
#include "graph/api.h"

void stowi_analysis_views_options_init(stowi_analysis_views_options* options) {
  *options = (stowi_analysis_views_options){false, false, STOW_IO_KEEP, true, 0};
}

typedef struct resolver {
  const stow_graph* graph;
  const stow_effects* effects;
  const stowi_analysis_views_options* options;
  stowi_analysis_views* views;
  stowi_bits outputs;
  uint8_t* uses;  // by value: how many operands name it, at most 2; NULL if there is no loop
  stow_diag* diag;
} resolver;

// What a value would be a view of.
typedef struct candidate {
  stow_value parent;
  uint64_t offset;  // in bytes, from the parent
} candidate;

static stow_status fail_value(const resolver* r, stow_value value, stow_status status) {
  stowi_graph_blame_value(r->diag, r->graph, value);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Sizes

static uint64_t uniform_width(stow_dtype dtype) {
  uint64_t bytes = stow_dtype_bits(dtype) / 8;
  return bytes < 4 ? 4 : bytes;
}

static stow_status natural_bytes(const resolver* r, stow_value value, uint64_t* out_bytes) {
  const stow_type* type = stow_graph_type(r->graph, value);
  if (!r->options->f32_uniform) {
    return stow_type_bytes(type, out_bytes);
  }
  uint64_t elements;
  STOW_TRY(stow_type_elements(type, &elements));
  return stowi_mul_u64(elements, uniform_width(type->dtype), out_bytes) ? STOW_OK
                                                                        : STOW_ERR_OVERFLOW;
}

static stow_status set_sizes(const resolver* r) {
  for (stow_value value = 0; value < r->views->value_count; ++value) {
    r->views->root[value] = value;
    r->views->offset[value] = 0;
    uint64_t storage = stowi_effects_storage(r->effects, value);
    if (storage != STOW_BYTES_DEFAULT) {
      r->views->bytes[value] = storage;
      continue;
    }
    stow_status status = natural_bytes(r, value, &r->views->bytes[value]);
    if (status != STOW_OK) {
      stowi_fail(r->diag, status, "%s : %s: %s", stowi_graph_describe_value(r->graph, value).text,
                 stowi_graph_describe_type(r->graph, stow_graph_type(r->graph, value)).text,
                 stow_status_text(status));
      return fail_value(r, value, status);
    }
  }
  return STOW_OK;
}

uint8_t stowi_analysis_views_alignment_code(uint64_t alignment) {
  uint8_t log = 0;
  while (alignment != 0) {
    alignment >>= 1;
    ++log;
  }
  return log;
}

// Copies the alignments that effects ask for; most graphs have none, and then allocate nothing.
static stow_status set_alignments(const resolver* r) {
  stowi_analysis_views* views = r->views;
  for (stow_value value = 0; value < views->value_count; ++value) {
    uint64_t alignment = stowi_effects_alignment(r->effects, value);
    if (alignment == 0) {
      continue;
    }
    if (views->alignment == NULL) {
      views->alignment = STOWI_ARRAY_ZERO(views->allocator, uint8_t, views->value_count);
      STOW_TRY(stowi_need_memory(views->alignment != NULL, r->diag));
    }
    views->alignment[value] = stowi_analysis_views_alignment_code(alignment);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Policies

static bool is_external(const resolver* r, stow_value value) {
  bool output = stowi_bits_has(&r->outputs, value);
  return stowi_effects_io_policy(r->graph, r->effects, r->options->io, value, output) ==
         STOW_IO_EXTERNAL;
}

static bool needs_own_bytes(const resolver* r, stow_value value) {
  return stowi_effects_own(r->effects, value) || is_external(r, value);
}

static stow_status check_external(const resolver* r, stow_value value) {
  if (!stowi_effects_is_fixed(r->effects, value) || !is_external(r, value)) {
    return STOW_OK;
  }
  stowi_fail(r->diag, STOW_ERR_CONFLICT,
             "%s has a fixed offset, but its policy is external, so it is not in the arena",
             stowi_graph_describe_value(r->graph, value).text);
  return fail_value(r, value, STOW_ERR_CONFLICT);
}

// ---------------------------------------------------------------------------------------------
// Views

// Whether the op table makes result |k| a view under the options, and at which offset.
static bool row_view(const resolver* r, stow_node node, size_t k, candidate* out) {
  stow_view view;
  if (!stow_graph_view(r->graph, node, k, &view) || (view.extended && r->options->classic_only)) {
    return false;
  }
  out->parent = stow_graph_operands(r->graph, node)[view.operand];
  stow_dtype dtype = stow_graph_type(r->graph, out->parent)->dtype;
  uint32_t bits = stow_dtype_bits(dtype);
  if (r->options->f32_uniform) {
    return stowi_mul_u64(view.element_offset, uniform_width(dtype), &out->offset);
  }
  if (bits >= 8) {
    return stowi_mul_u64(view.element_offset, bits / 8, &out->offset);
  }
  uint64_t per_byte = 8 / bits;
  out->offset = view.element_offset / per_byte;
  return view.element_offset % per_byte == 0;
}

static bool inside_view(const resolver* r, stow_node node, stow_value value, candidate* out) {
  size_t operand;
  if (!stowi_effects_inside(r->effects, value, &operand, &out->offset)) {
    return false;
  }
  out->parent = stow_graph_operands(r->graph, node)[operand];
  return true;
}

static stow_status check_view(const resolver* r, stow_value value, candidate view) {
  const stowi_analysis_views* views = r->views;
  uint64_t end;
  if (!stowi_add_u64(view.offset, views->bytes[value], &end) || end > views->bytes[view.parent]) {
    stowi_fail(r->diag, STOW_ERR_CONFLICT,
               "%s, %llu bytes at offset %llu, is not inside %s, which has %llu bytes",
               stowi_graph_describe_value(r->graph, value).text,
               (unsigned long long)views->bytes[value], (unsigned long long)view.offset,
               stowi_graph_describe_value(r->graph, view.parent).text,
               (unsigned long long)views->bytes[view.parent]);
    return fail_value(r, value, STOW_ERR_CONFLICT);
  }
  uint64_t alignment = stowi_effects_alignment(r->effects, value);
  uint64_t offset = views->offset[view.parent] + view.offset;
  if (alignment != 0 && offset % alignment != 0) {
    stowi_fail(r->diag, STOW_ERR_CONFLICT,
               "%s is a view at offset %llu, which is not a multiple of its alignment %llu; "
               "declare `own` for it",
               stowi_graph_describe_value(r->graph, value).text, (unsigned long long)offset,
               (unsigned long long)alignment);
    return fail_value(r, value, STOW_ERR_CONFLICT);
  }
  if (stowi_effects_is_fixed(r->effects, value)) {
    stowi_fail(r->diag, STOW_ERR_CONFLICT,
               "%s has a fixed offset, but it is a view of %s; declare `own` for it",
               stowi_graph_describe_value(r->graph, value).text,
               stowi_graph_describe_value(r->graph, views->root[view.parent]).text);
    return fail_value(r, value, STOW_ERR_CONFLICT);
  }
  return STOW_OK;
}

static stow_status make_view(const resolver* r, stow_value value, candidate view) {
  STOW_TRY(check_view(r, value, view));
  stowi_analysis_views* views = r->views;
  stow_value root = views->root[view.parent];
  views->root[value] = root;
  views->offset[value] = views->offset[view.parent] + view.offset;
  if (views->alignment != NULL && views->alignment[root] < views->alignment[value]) {
    views->alignment[root] = views->alignment[value];
  }
  return STOW_OK;
}

// Each result of a plain node has its own bytes, is inside an operand by effect, or is a view by
// the op table.
static stow_status resolve_results(const resolver* r, stow_node node) {
  stow_value first = stow_graph_first_result(r->graph, node);
  size_t count = stow_graph_result_count(r->graph, node);
  size_t pure = 0;
  for (size_t k = 0; k < count; ++k) {
    stow_value value = first + (stow_value)k;
    candidate view;
    STOW_TRY(check_external(r, value));
    if (needs_own_bytes(r, value)) {
      continue;
    }
    if (inside_view(r, node, value, &view)) {
      STOW_TRY(make_view(r, value, view));
    } else if (row_view(r, node, k, &view)) {
      STOW_TRY(make_view(r, value, view));
      ++pure;
    }
  }
  if (count != 0 && pure == count && !stow_graph_op_desc(r->graph, node)->writes_view) {
    stowi_bits_add(&r->views->noops, node);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Loops

// A value that effects neither pin to an offset or a time nor give its own bytes.
static bool is_plain(const resolver* r, stow_value value) {
  return !stowi_effects_is_fixed(r->effects, value) && !stowi_effects_own(r->effects, value) &&
         !stowi_effects_state(r->effects, value);
}

// Whether carried argument |i| can have the bytes of its initial value: that is made only for the
// loop, in the same region, and nothing needs it once the first iteration has changed it.
static bool shares_initial(const resolver* r, const stowi_analysis_loop* loop, size_t i) {
  stow_value initial = stowi_analysis_loop_initial(r->graph, loop, i);
  stow_value argument = stowi_analysis_loop_argument(r->graph, loop, i);
  if (initial == STOW_VALUE_NONE || !is_plain(r, initial) || !is_plain(r, argument)) {
    return false;
  }
  stow_node producer = stow_graph_producer(r->graph, initial);
  return !stow_graph_is_boundary(r->graph, initial) &&
         stow_graph_op(r->graph, producer) != STOW_OP_ARGS &&
         stow_graph_node_region(r->graph, producer) ==
             stow_graph_node_region(r->graph, loop->owner) &&
         r->views->root[initial] == initial && r->uses[initial] == 1 &&
         !stowi_bits_has(&r->outputs, initial) &&
         !stowi_effects_is_held(r->effects, loop->owner, loop->carry.first_operand + i) &&
         !stowi_effects_is_early(r->effects, loop->args, loop->carry.first_arg + i) &&
         r->views->bytes[initial] == r->views->bytes[argument];
}

static stow_status resolve_arguments(const resolver* r, stow_node args) {
  stow_region region = stow_graph_node_region(r->graph, args);
  stowi_analysis_loop loop;
  if (!stowi_analysis_loop_of(r->graph, stowi_graph_region_owner(r->graph, region), &loop)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < loop.count; ++i) {
    if (shares_initial(r, &loop, i)) {
      candidate view = {stowi_analysis_loop_initial(r->graph, &loop, i), 0};
      STOW_TRY(make_view(r, stowi_analysis_loop_argument(r->graph, &loop, i), view));
    }
  }
  return STOW_OK;
}

// The final carried values are in their arguments' bytes, unless they are written while those are
// in use; all other results of a loop or an if have their own bytes.
static stow_status resolve_owner(const resolver* r, stow_node owner) {
  stow_value first = stow_graph_first_result(r->graph, owner);
  for (size_t k = 0; k < stow_graph_result_count(r->graph, owner); ++k) {
    STOW_TRY(check_external(r, first + (stow_value)k));
  }
  stowi_analysis_loop loop;
  if (!stowi_analysis_loop_of(r->graph, owner, &loop)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < loop.count; ++i) {
    stow_value result = stowi_analysis_loop_result(r->graph, &loop, i);
    candidate view = {stowi_analysis_loop_argument(r->graph, &loop, i), 0};
    if (!needs_own_bytes(r, result) &&
        !stowi_effects_is_early(r->effects, owner, loop.carry.first_result + i) &&
        r->views->bytes[result] == r->views->bytes[view.parent]) {
      STOW_TRY(make_view(r, result, view));
    }
  }
  return STOW_OK;
}

static stow_status resolve(const resolver* r) {
  uint32_t count = stow_graph_node_count(r->graph);
  for (stow_node node = 0; node < count; ++node) {
    if (stow_graph_op_desc(r->graph, node)->region_count != 0) {
      STOW_TRY(resolve_owner(r, node));
    } else if (stow_graph_op(r->graph, node) == STOW_OP_ARGS) {
      STOW_TRY(resolve_arguments(r, node));
    } else {
      STOW_TRY(resolve_results(r, node));
    }
  }
  return STOW_OK;
}

static void count_uses(const resolver* r) {
  uint32_t count = stow_graph_node_count(r->graph);
  for (stow_node node = 0; node < count; ++node) {
    const stow_value* operands = stow_graph_operands(r->graph, node);
    for (size_t k = 0; k < stow_graph_operand_count(r->graph, node); ++k) {
      if (operands[k] != STOW_VALUE_NONE && r->uses[operands[k]] < 2) {
        ++r->uses[operands[k]];
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------

static stowi_analysis_views* views_new(const stow_graph* graph,
                                       const stowi_analysis_views_options* options,
                                       stow_allocator allocator) {
  stowi_analysis_views* views = STOWI_NEW(allocator, stowi_analysis_views);
  if (views == NULL) {
    return NULL;
  }
  uint32_t count = stow_graph_value_count(graph);
  views->allocator = allocator;
  views->value_count = count;
  views->io = options->io;
  views->inputs = options->inputs;
  views->root = STOWI_ARRAY(allocator, stow_value, count);
  views->offset = STOWI_ARRAY(allocator, uint64_t, count);
  views->bytes = STOWI_ARRAY(allocator, uint64_t, count);
  bool complete = stowi_bits_init(&views->noops, stow_graph_node_count(graph), allocator);
  if (!complete || views->root == NULL || views->offset == NULL || views->bytes == NULL) {
    stowi_analysis_views_destroy(views);
    return NULL;
  }
  return views;
}

void stowi_analysis_views_destroy(stowi_analysis_views* views) {
  if (views == NULL) {
    return;
  }
  stow_allocator allocator = views->allocator;
  STOWI_ARRAY_FREE(allocator, views->root, views->value_count);
  STOWI_ARRAY_FREE(allocator, views->offset, views->value_count);
  STOWI_ARRAY_FREE(allocator, views->bytes, views->value_count);
  STOWI_ARRAY_FREE(allocator, views->alignment, views->value_count);
  stowi_bits_free(&views->laid, allocator);
  STOWI_ARRAY_FREE(allocator, views->rows, views->value_count);
  STOWI_ARRAY_FREE(allocator, views->node_rows, views->noops.count);
  stowi_bits_free(&views->noops, allocator);
  stowi_analysis_readers_destroy(views->readers);
  STOWI_DELETE(allocator, views);
}

// Fills |r->views|; the caller frees the temporary arrays.
static stow_status run(resolver* r, stow_allocator allocator) {
  r->views = views_new(r->graph, r->options, allocator);
  STOW_TRY(stowi_need_memory(
      r->views != NULL && stowi_effects_bits_of_outputs(&r->outputs, r->graph, allocator),
      r->diag));
  if (stow_graph_region_count(r->graph) > 1) {
    r->uses = STOWI_ARRAY_ZERO(allocator, uint8_t, r->views->value_count);
    STOW_TRY(stowi_need_memory(r->uses != NULL, r->diag));
    count_uses(r);
  }
  STOW_TRY(set_sizes(r));
  STOW_TRY(set_alignments(r));
  STOW_TRY(resolve(r));
  return r->options->least_row == 0 || r->options->f32_uniform || r->options->classic_only
             ? STOW_OK
             : stowi_analysis_add_row_views(r->views, r->graph, r->effects, r->options->least_row,
                                            r->diag);
}

stow_status stowi_analysis_views_create(const stow_graph* graph, const stow_effects* effects,
                                        const stowi_analysis_views_options* options,
                                        stow_allocator allocator, stow_diag* diag,
                                        stowi_analysis_views** out_views) {
  *out_views = NULL;
  if ((unsigned)options->io > (unsigned)STOW_IO_EXTERNAL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "stowi_analysis_views_options.io: unknown policy %d", (int)options->io);
  }
  STOW_TRY(stowi_effects_check_graph(effects, graph, diag));
  for (stow_region region = 1; region < stow_graph_region_count(graph); ++region) {
    if (stowi_graph_region_owner(graph, region) == STOW_NODE_NONE) {
      return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "region %u has no owner yet",
                        (unsigned)region);
    }
  }
  STOW_TRY(stow_graph_require_bound(graph, diag));
  resolver r = {graph, effects, options, NULL, {NULL, 0}, NULL, diag};
  stow_status status = run(&r, allocator);
  stowi_bits_free(&r.outputs, allocator);
  STOWI_ARRAY_FREE(allocator, r.uses, stow_graph_value_count(graph));
  if (status != STOW_OK) {
    stowi_analysis_views_destroy(r.views);
    return status;
  }
  *out_views = r.views;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Reading

stow_value stowi_analysis_views_root(const stowi_analysis_views* views, stow_value value) {
  return views->root[value];
}

uint64_t stowi_analysis_views_offset(const stowi_analysis_views* views, stow_value value) {
  return views->offset[value];
}

bool stowi_analysis_views_is_view(const stowi_analysis_views* views, stow_value value) {
  return views->root[value] != value;
}

uint64_t stowi_analysis_views_bytes(const stowi_analysis_views* views, stow_value value) {
  return views->bytes[value];
}

uint64_t stowi_analysis_views_rows(const stowi_analysis_views* views, stow_value value) {
  return stowi_analysis_views_layout(views, value).rows;
}

uint64_t stowi_analysis_views_pitch(const stowi_analysis_views* views, stow_value value) {
  return stowi_analysis_views_layout(views, value).pitch;
}

uint64_t stowi_analysis_views_extent(const stowi_analysis_views* views, stow_value value) {
  return stowi_analysis_views_span(views, value);
}

bool stowi_analysis_views_are_pitched(const stowi_analysis_views* views) {
  for (stow_value value = 0; views->rows != NULL && value < views->value_count; ++value) {
    if (views->rows[value].rows > 1) {
      return true;
    }
  }
  return false;
}

uint64_t stowi_analysis_views_alignment(const stowi_analysis_views* views, stow_value value) {
  if (views->alignment == NULL || views->alignment[value] == 0) {
    return 0;
  }
  return UINT64_C(1) << (views->alignment[value] - 1);
}

bool stowi_analysis_views_is_noop(const stowi_analysis_views* views, stow_node node) {
  return stowi_bits_has(&views->noops, node);
}

void stowi_analysis_views_each(const stowi_analysis_views* views,
                               bool (*visit)(void* user, stow_value view, stow_value root,
                                             uint64_t offset),
                               void* user) {
  for (stow_value value = 0; value < views->value_count; ++value) {
    if (views->root[value] != value &&
        !visit(user, value, views->root[value], views->offset[value])) {
      return;
    }
  }
}

stow_status stowi_analysis_views_check_graph(const stowi_analysis_views* views,
                                             const stow_graph* graph, stow_diag* diag) {
  if (views->value_count != stow_graph_value_count(graph) ||
      views->noops.count != stow_graph_node_count(graph)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the views were made for another graph, or the graph has grown since");
  }
  return STOW_OK;
}
