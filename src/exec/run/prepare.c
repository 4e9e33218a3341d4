// What must be known before the plan: which kernel runs each node, how much scratch it needs, and
// which results must not be in place of operands.
#include "exec/run/prepare.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "effects/api.h"
#include "exec/api.h"
#include "exec/kernels/table.h"
#include "exec/program/code.h"
#include "exec/program/frame.h"
#include "exec/program/words.h"

#define SCRATCH_ALIGNMENT 64

void stow_prepare_options_defaults(stow_prepare_options* options) {
  static const stow_prepare_options defaults = {.threads = 1};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// Effects

typedef struct preparer {
  stow_prepared* prepared;
  const stow_graph* graph;
  const stow_kernels* kernels;
  stowi_exec_packer packer;
  stow_diag* diag;
} preparer;

static stow_status fail_node(const preparer* p, stow_node node, stow_status status,
                             const char* what) {
  stowi_fail(p->diag, status, "%s: %s", stowi_exec_words_node(p->graph, node).text, what);
  stowi_diag_node(p->diag, node);
  return status;
}

static bool is_allowed_over(const preparer* p, stow_node node, size_t k, size_t operand) {
  const stow_effects* effects = p->prepared->effects;
  if (stow_graph_in_place(p->graph, node, k, operand) != STOW_IN_PLACE_NEVER) {
    return true;
  }
  for (size_t i = 0; i < stowi_effects_overwrite_count(effects); ++i) {
    stowi_effects_in_place_entry in_place = stowi_effects_overwrite(effects, i);
    if (in_place.node == node && in_place.result == k && in_place.operand == operand) {
      return true;
    }
  }
  return false;
}

static stow_status forbid_over(preparer* p, stow_node node) {
  const stow_graph* graph = p->graph;
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    for (size_t operand = 0; operand < stow_graph_operand_count(graph, node); ++operand) {
      if (stow_graph_operands(graph, node)[operand] != STOW_VALUE_NONE &&
          is_allowed_over(p, node, k, operand)) {
        STOW_TRY(stow_effects_forbid_in_place(p->prepared->effects, node, k, operand, p->diag));
      }
    }
  }
  return STOW_OK;
}

static stow_status add_scratch(preparer* p, stow_node node, uint64_t bytes) {
  return stow_effects_add_scratch(p->prepared->effects, node, bytes, SCRATCH_ALIGNMENT, p->diag,
                                  &p->prepared->program.steps[node].scratch_index);
}

#define MOST_OFFERS (STOWI_EXEC_MOST_PRICES - 1)

// What the others than the last of the prices would like: as many as there may be, if dims change.
static uint32_t offers_of(const preparer* p, stow_node node, uint64_t out_offers[MOST_OFFERS]) {
  const stowi_exec_step* step = &p->prepared->program.steps[node];
  uint64_t need = step->prices[step->price_count - 1].scratch;
  uint32_t count = 0;
  for (uint32_t i = 0; i + 1 < step->price_count; ++i) {
    if (step->prices[i].scratch > need) {
      out_offers[count++] = step->prices[i].scratch;
    }
  }
  while (p->prepared->changes && count < MOST_OFFERS) {
    out_offers[count++] = need;
  }
  return count;
}

// What the last of the prices needs; what the others would like is offered.
static stow_status add_prices(preparer* p, stow_node node) {
  const stowi_exec_step* step = &p->prepared->program.steps[node];
  uint64_t offers[MOST_OFFERS];
  uint32_t count = offers_of(p, node, offers);
  bool is_asked =
      p->prepared->changes ? step->kernel.scratch != NULL : step->prices[0].scratch != 0;
  if (!is_asked) {
    return STOW_OK;
  }
  STOW_TRY(add_scratch(p, node, step->prices[step->price_count - 1].scratch));
  for (uint32_t i = 0; i < count; ++i) {
    STOW_TRY(stow_effects_offer_scratch(p->prepared->effects, node, step->scratch_index, offers[i],
                                        p->diag));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

static const stow_kernel* find_kernel(const preparer* p, stow_node node) {
  stow_op op = stow_graph_op(p->graph, node);
  if (op != STOW_OP_CUSTOM) {
    return stow_kernels_get(p->kernels, op);
  }
  const stow_attr* name = stow_graph_attr(p->graph, node, "name");
  return name != NULL && name->kind == STOW_ATTR_STRING
             ? stow_kernels_get_custom(p->kernels, name->s)
             : NULL;
}

static bool is_structure(const stow_graph* graph, stow_node node) {
  switch (stow_graph_op(graph, node)) {
    case STOW_OP_INPUT:
    case STOW_OP_PARAM:
    case STOW_OP_CONSTANT:
    case STOW_OP_ARGS:
    case STOW_OP_YIELD: return true;
    default: return stow_graph_op_desc(graph, node)->region_count != 0;
  }
}

// A loop's yield moves values aside.
static stow_status prepare_structure(preparer* p, stow_node node) {
  stow_op op = stow_graph_op(p->graph, node);
  uint64_t bytes;
  if (stow_graph_op_desc(p->graph, node)->region_count != 0 && op != STOW_OP_IF &&
      op != STOW_OP_LOOP) {
    return fail_node(p, node, STOW_ERR_UNSUPPORTED,
                     "unsupported op with regions; expected `if` or `loop`");
  }
  if (!stowi_exec_code_aside(&p->prepared->program, node, &bytes)) {
    return fail_node(p, node, STOW_ERR_OVERFLOW, "the carried values are too large");
  }
  return bytes == 0 ? STOW_OK : add_scratch(p, node, bytes);
}

static stow_status ask_price(preparer* p, stow_node node, const stow_kernel* kernel,
                             uint32_t variant, stowi_exec_price* out) {
  char message[256] = "";
  *out = (stowi_exec_price){variant, 0};
  if (kernel->scratch == NULL) {
    return STOW_OK;
  }
  p->prepared->frame.call.workers = p->prepared->threads;
  p->prepared->frame.call.message = message;
  p->prepared->frame.call.message_size = sizeof(message);
  stowi_exec_frame_call(&p->prepared->frame, node);
  p->prepared->frame.call.variant = variant;
  stow_status status = kernel->scratch(&p->prepared->frame.call, &out->scratch);
  return status == STOW_OK
             ? STOW_OK
             : fail_node(p, node, status, message[0] != '\0' ? message : stow_status_text(status));
}

// A variant that needs more than a faster one is not worth considering.
static stow_status ask_prices(preparer* p, stow_node node, const stow_kernel* kernel) {
  stowi_exec_step* step = &p->prepared->program.steps[node];
  uint32_t count = kernel->variant_count == 0 ? 1 : kernel->variant_count;
  uint32_t most = count < STOWI_EXEC_MOST_PRICES ? count : STOWI_EXEC_MOST_PRICES;
  step->price_count = 0;
  if (p->prepared->choose != NULL) {
    step->price_count = 1;
    return ask_price(p, node, kernel, p->prepared->choose(p->prepared->user, node, count),
                     &step->prices[0]);
  }
  for (uint32_t i = 0; i < most; ++i) {
    stowi_exec_price* price = &step->prices[step->price_count];
    STOW_TRY(ask_price(p, node, kernel, i + 1 == most ? count - 1 : i, price));
    step->price_count += i == 0 || price->scratch < price[-1].scratch;
  }
  return STOW_OK;
}

static stow_status fail_no_kernel(const preparer* p, stow_node node) {
  const stow_graph* graph = p->graph;
  const stow_attr* name =
      stow_graph_op(graph, node) == STOW_OP_CUSTOM ? stow_graph_attr(graph, node, "name") : NULL;
  if (name == NULL || name->kind != STOW_ATTR_STRING) {
    return fail_node(p, node, STOW_ERR_NOT_FOUND, "the op has no kernel");
  }
  stowi_fail(p->diag, STOW_ERR_NOT_FOUND, "%s: there is no kernel named \"%.*s\"",
             stowi_exec_words_node(graph, node).text, (int)name->s.size, name->s.data);
  stowi_diag_node(p->diag, node);
  return STOW_ERR_NOT_FOUND;
}

// Operands that must be aligned; those of nodes without a kernel must.
static void note_unaligned(const preparer* p, stow_node node) {
  const stowi_exec_step* step = &p->prepared->program.steps[node];
  for (size_t k = 0; k < step->operand_count; ++k) {
    bool is_needed = k >= 64 || (step->kernel.unaligned >> k & 1) == 0;
    if (step->operands[k] != STOW_VALUE_NONE && is_needed) {
      p->prepared->program.values[step->operands[k]].needs_alignment = true;
    }
  }
}

// A `blocks` node: each size of blocks is a variant. |packed| are the operands that are packed.
static stow_status prepare_blocks(preparer* p, stow_node node, uint64_t packed) {
  stow_prepared* prepared = p->prepared;
  stow_kernel* kernel = &prepared->program.steps[node].kernel;
  const stowi_kernel_blocks* data;
  if (prepared->blocks == NULL) {
    STOW_TRY(stowi_exec_blocks_create(prepared->source, p->graph, p->kernels, prepared->threads,
                                      prepared->allocator, p->diag, &prepared->blocks));
  }
  STOW_TRY(
      stowi_exec_blocks_of(prepared->blocks, node, packed, p->diag, &data, &kernel->variant_count));
  memcpy(&kernel->user, &data, sizeof(data));  // kernels do not write it
  return STOW_OK;
}

// A `stream` node, likewise.
static stow_status prepare_stream(preparer* p, stow_node node, uint64_t packed) {
  stow_prepared* prepared = p->prepared;
  stow_kernel* kernel = &prepared->program.steps[node].kernel;
  const stowi_kernel_stream* data;
  if (prepared->streams == NULL) {
    STOW_TRY(stowi_exec_streams_create(p->graph, p->kernels, prepared->threads, prepared->allocator,
                                       p->diag, &prepared->streams));
  }
  STOW_TRY(stowi_exec_streams_of(prepared->streams, node, packed, p->diag, &data));
  memcpy(&kernel->user, &data, sizeof(data));
  return STOW_OK;
}

static bool has_function(const preparer* p, stow_node node) {
  stow_op op = stow_graph_op(p->graph, node);
  return op == STOW_OP_BLOCKS || op == STOW_OP_STREAM;
}

static stow_status prepare_function(preparer* p, stow_node node, uint64_t packed) {
  return stow_graph_op(p->graph, node) == STOW_OP_BLOCKS ? prepare_blocks(p, node, packed)
                                                         : prepare_stream(p, node, packed);
}

// Of the operands |candidates|, those that the kernel can pack.
static uint64_t packable_of(const stow_kernel* kernel, const stow_kernel_call* call,
                            uint64_t candidates) {
  uint64_t bits = 0;
  for (size_t k = 0; k < 64 && candidates >> k != 0; ++k) {
    bool can = (candidates >> k & 1) != 0 && kernel->pack_size(call, k) != 0;
    bits |= (uint64_t)can << k;
  }
  return bits;
}

static stow_status prepare_node(preparer* p, stow_node node) {
  if (is_structure(p->graph, node)) {
    note_unaligned(p, node);
    return prepare_structure(p, node);
  }
  const stow_kernel* kernel = find_kernel(p, node);
  if (kernel == NULL) {
    return fail_no_kernel(p, node);
  }
  p->prepared->program.steps[node].kernel = *kernel;
  const stowi_exec_step* step = &p->prepared->program.steps[node];
  bool has = has_function(p, node);
  uint64_t candidates = has ? stowi_exec_packer_candidates(&p->packer, node) : 0;
  STOW_TRY(has ? prepare_function(p, node, candidates) : STOW_OK);
  note_unaligned(p, node);
  stowi_exec_frame_call(&p->prepared->frame, node);
  uint64_t packable = has ? packable_of(kernel, &p->prepared->frame.call, candidates) : 0;
  stowi_exec_packer_choose(&p->packer, node, &p->prepared->frame.call);
  if (has && step->packed != packable) {
    STOW_TRY(prepare_function(p, node, step->packed));
  }
  STOW_TRY(ask_prices(p, node, &p->prepared->program.steps[node].kernel));
  STOW_TRY(add_prices(p, node));
  const stow_kernel* own = stowi_kernel_of(stow_graph_op(p->graph, node));
  if (own == NULL || kernel->run != own->run) {
    STOW_TRY(stow_effects_forbid_rows(p->prepared->effects, node, p->diag));
  }
  return kernel->in_place ? STOW_OK : forbid_over(p, node);
}

// Kernels that ask for scratch may look at weights, which they are only shown where those are
// aligned.
static void show_data(preparer* p) {
  const stowi_exec_program* program = &p->prepared->program;
  for (stow_value value = 0; value < program->value_count; ++value) {
    const void* data = stow_graph_data(p->graph, value, NULL);
    size_t width = stowi_exec_dtype_alignment(program->values[value].type->dtype);
    if (data != NULL && (uintptr_t)data % width == 0 && !program->values[value].is_input) {
      memcpy(&p->prepared->frame.tensors[value].data, &data, sizeof(data));
    }
  }
}

static uint32_t choose_fastest(void* user, stow_node node, uint32_t count) {
  (void)user;
  (void)node;
  (void)count;
  return 0;
}

// A graph that has no symbols but those with ranges is prepared at the largest point first.
static stow_status make_twin(preparer* p, stow_allocator allocator) {
  const stow_dims* dims = stow_graph_dims(p->graph);
  size_t count = stow_dims_symbol_count(dims);
  bool has_ranges = count != 0;
  stow_dim_range range = {0};
  for (size_t i = 0; has_ranges && i < count; ++i) {
    has_ranges = stow_dims_range(dims, i, &range) || !stowi_graph_uses_symbol(p->graph, i);
  }
  if (!has_ranges || stow_graph_require_bound(p->graph, NULL) == STOW_OK) {
    return stow_graph_require_bound(p->graph, p->diag);
  }
  int64_t* values = STOWI_ARRAY(allocator, int64_t, count);
  STOW_TRY(stowi_need_memory(values != NULL, p->diag));
  for (size_t i = 0; i < count; ++i) {
    values[i] = stow_dims_range(dims, i, &range) ? range.max : 0;
  }
  stow_status status = stowi_graph_twin_create(p->graph, allocator, p->diag, &p->prepared->twin);
  if (status == STOW_OK) {
    status = stowi_graph_twin_bind(p->prepared->twin, values, p->diag);
    p->graph = stowi_graph_twin_graph(p->prepared->twin);
    p->prepared->changes = true;
  }
  STOWI_ARRAY_FREE(allocator, values, count);
  return status;
}

// ---------------------------------------------------------------------------------------------
// Nodes that are alike: layers of a model, of which one is asked for its prices at other dims

// All but the names of what was fused.
static bool has_same_attrs(const stow_graph* graph, stow_node a, stow_node b) {
  size_t count = stow_graph_attr_count(graph, a);
  bool is_same = count == stow_graph_attr_count(graph, b);
  for (size_t i = 0; is_same && i < count; ++i) {
    const stow_attr* attr = stow_graph_attr_at(graph, a, i);
    is_same =
        stowi_graph_attr_equal(attr, stow_graph_attr_at(graph, b, i)) ||
        (stow_str_equal(attr->name, stow_str_of("of")) && stow_graph_attr(graph, b, "of") != NULL);
  }
  return is_same;
}

// The same dims at every point.
static bool has_same_type(const stow_graph* graph, stow_value a, stow_value b) {
  const stow_type* type = stow_graph_type(graph, a);
  const stow_type* other = stow_graph_type(graph, b);
  return type->dtype == other->dtype && type->rank == other->rank &&
         memcmp(type->dims, other->dims, type->rank * sizeof(type->dims[0])) == 0;
}

// The same dims, and the same data, where that may decide: our kernels and view functions look at
// numbers that are dims, not at weights, before a run.
static bool is_same_operand(const stow_graph* graph, stow_value a, stow_value b) {
  size_t size = 0;
  if (a == STOW_VALUE_NONE || b == STOW_VALUE_NONE || a == b) {
    return a == b;
  }
  const stow_type* type = stow_graph_type(graph, a);
  const void* data = stow_graph_data(graph, a, &size);
  const void* other = stow_graph_data(graph, b, NULL);
  if (!has_same_type(graph, a, b) || (data == NULL) != (other == NULL)) {
    return false;
  }
  bool may_decide = type->dtype == STOW_I32 || type->dtype == STOW_I64;
  return !may_decide || (data != NULL && memcmp(data, other, size) == 0);
}

static bool is_alike(const preparer* p, stow_node a, stow_node b) {
  const stow_graph* source = p->prepared->source;
  const stowi_exec_step* step = &p->prepared->program.steps[a];
  const stowi_exec_step* other = &p->prepared->program.steps[b];
  bool is_alike = step->op == other->op && step->operand_count == other->operand_count &&
                  step->result_count == other->result_count && step->packed == other->packed &&
                  has_same_attrs(source, a, b);
  for (size_t k = 0; is_alike && k < step->operand_count; ++k) {
    is_alike = is_same_operand(source, step->operands[k], other->operands[k]);
  }
  for (size_t k = 0; is_alike && k < step->result_count; ++k) {
    is_alike = has_same_type(source, step->first_result + (stow_value)k,
                             other->first_result + (stow_value)k);
  }
  return is_alike;
}

// What has another one like it is compared with what has none: there are few kinds.
static void find_alike_nodes(preparer* p, stow_node* kinds) {
  stowi_exec_program* program = &p->prepared->program;
  bool is_priced = p->prepared->choose == NULL || p->prepared->choose == choose_fastest;
  size_t count = 0;
  for (stow_node node = 0; node < program->node_count; ++node) {
    stowi_exec_step* step = &program->steps[node];
    const stow_kernel* own = stowi_kernel_of(step->op);
    bool may_be_view = step->result_count != 0 && program->values[step->first_result].may_be_view;
    bool is_asked = may_be_view || (step->kernel.scratch != NULL && is_priced);
    if (!is_asked || step->is_steady || own == NULL || own->run != step->kernel.run) {
      continue;
    }
    for (size_t i = 0; i < count && step->like == STOW_NODE_NONE; ++i) {
      step->like = is_alike(p, node, kinds[i]) ? kinds[i] : STOW_NODE_NONE;
    }
    if (step->like == STOW_NODE_NONE) {
      kinds[count++] = node;
    }
  }
}

static void find_alike_values(preparer* p, stow_value* kinds) {
  stowi_exec_program* program = &p->prepared->program;
  size_t count = 0;
  for (stow_value value = 0; value < program->value_count; ++value) {
    stowi_exec_value* entry = &program->values[value];
    for (size_t i = 0; !entry->is_steady && i < count && entry->like == STOW_VALUE_NONE; ++i) {
      entry->like =
          has_same_type(p->prepared->source, value, kinds[i]) ? kinds[i] : STOW_VALUE_NONE;
    }
    if (!entry->is_steady && entry->like == STOW_VALUE_NONE) {
      kinds[count++] = value;
    }
  }
}

static stow_status find_alike(preparer* p, stow_allocator allocator) {
  const stowi_exec_program* program = &p->prepared->program;
  stow_node* nodes = STOWI_ARRAY(allocator, stow_node, program->node_count);
  stow_value* values = STOWI_ARRAY(allocator, stow_value, program->value_count);
  bool is_there = nodes != NULL && values != NULL;
  if (is_there) {
    find_alike_nodes(p, nodes);
    find_alike_values(p, values);
  }
  STOWI_ARRAY_FREE(allocator, nodes, program->node_count);
  STOWI_ARRAY_FREE(allocator, values, program->value_count);
  return stowi_need_memory(is_there, p->diag);
}

static stow_status prepare_all(preparer* p, stow_allocator allocator) {
  stow_prepared* prepared = p->prepared;
  STOW_TRY(stow_graph_verify(p->graph, p->diag));
  STOW_TRY(make_twin(p, allocator));
  STOW_TRY(stow_effects_create(p->graph, allocator, p->diag, &prepared->effects));
  stowi_effects_set_verified(prepared->effects);
  STOW_TRY(stowi_exec_program_init(&prepared->program, p->graph, allocator, p->diag));
  if (prepared->twin != NULL) {
    stowi_exec_program_find_steady(&prepared->program, prepared->source);
  }
  STOW_TRY(stowi_exec_frame_init(&prepared->frame, &prepared->program, allocator, p->diag));
  show_data(p);
  p->packer.program = &prepared->program;
  p->packer.effects = prepared->effects;
  STOW_TRY(stowi_exec_packer_init(&p->packer, p->diag));
  STOW_TRY(stowi_exec_packed_create(allocator, p->diag, &prepared->packed));
  for (stow_node node = 0; node < prepared->program.node_count; ++node) {
    STOW_TRY(prepare_node(p, node));
  }
  STOW_TRY(prepared->twin != NULL ? find_alike(p, allocator) : STOW_OK);
  stow_prepared_info info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_prepared_describe(prepared, &info));
  stowi_effects_set_kernels(
      prepared->effects, (stowi_effects_kernels){.threads = prepared->threads,
                                                 .fastest = p->prepared->choose == choose_fastest,
                                                 .pack = (uint8_t)p->packer.pack,
                                                 .packed_bytes = info.packed_bytes});
  return STOW_OK;
}

// |how| has the choice of variants, and whether dims change; |inputs| are packed.
static stow_status prepare(const stow_graph* graph, const stow_prepare_options* options,
                           stow_prepared how, uint64_t inputs, stow_allocator allocator,
                           stow_diag* diag, stow_prepared** out_prepared) {
  stow_prepare_options full;
  *out_prepared = NULL;
  stow_prepare_options_init(&full);
  STOW_TRY(stowi_load_options(&full, options, sizeof(full), "stow_prepare_options", diag));
  if (full.threads == 0 || full.threads > STOWI_EXEC_MAX_THREADS) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%u threads are out of range (1 to %d)",
                      (unsigned)full.threads, STOWI_EXEC_MAX_THREADS);
  }
  if ((unsigned)full.pack > STOW_PACK_ALWAYS) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "stow_prepare_options.pack is %d",
                      (int)full.pack);
  }
  stow_prepared* prepared = STOWI_NEW(allocator, stow_prepared);
  STOW_TRY(stowi_need_memory(prepared != NULL, diag));
  *prepared = how;
  prepared->allocator = allocator;
  prepared->program.allocator = allocator;
  prepared->source = graph;
  prepared->options = full;
  prepared->threads = full.threads;
  prepared->has_foreign = full.kernels != NULL;
  prepared->choose = how.choose == NULL && full.fastest ? choose_fastest : how.choose;
  preparer p = {.prepared = prepared,
                .graph = graph,
                .kernels = full.kernels,
                .packer = {.pack = full.pack, .inputs = inputs},
                .diag = diag};
  stow_status status = prepare_all(&p, allocator);
  stowi_exec_packer_free(&p.packer);
  if (status != STOW_OK) {
    stow_prepared_destroy(prepared);
    return status;
  }
  if (!prepared->changes) {
    stowi_exec_frame_free(&prepared->frame);
    prepared->frame = (stowi_exec_frame){0};
  }
  *out_prepared = prepared;
  return STOW_OK;
}

stow_status stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                         stow_allocator allocator, stow_diag* diag, stow_prepared** out_prepared) {
  return prepare(graph, options, (stow_prepared){.choose = NULL}, 0, allocator, diag, out_prepared);
}

stow_status stowi_exec_prepare(const stow_graph* graph, const stow_prepare_options* options,
                               stowi_exec_choose choose, void* user, stow_allocator allocator,
                               stow_diag* diag, stow_prepared** out_prepared) {
  stow_prepared how = {.choose = choose, .user = user};
  return prepare(graph, options, how, 0, allocator, diag, out_prepared);
}

stow_status stowi_exec_prepare_function(const stow_graph* graph,
                                        const stow_prepare_options* options, uint64_t inputs,
                                        stow_allocator allocator, stow_diag* diag,
                                        stow_prepared** out_prepared) {
  stow_prepared how = {.changes = true};
  return prepare(graph, options, how, inputs, allocator, diag, out_prepared);
}

// ---------------------------------------------------------------------------------------------
// Other dims

static stow_status measure_kernel(preparer* p, stow_node node) {
  const stowi_exec_step* step = &p->prepared->program.steps[node];
  if (step->op == STOW_OP_BLOCKS) {
    STOW_TRY(prepare_blocks(p, node, step->packed));
  }
  return step->kernel.scratch == NULL ? STOW_OK : ask_prices(p, node, &step->kernel);
}

// What an earlier node like |node| was asked at these dims.
static void copy_prices(preparer* p, stow_node node) {
  stowi_exec_step* steps = p->prepared->program.steps;
  const stowi_exec_step* from = &steps[steps[node].like];
  steps[node].kernel = from->kernel;
  steps[node].price_count = from->price_count;
  memcpy(steps[node].prices, from->prices, sizeof(from->prices));
}

static stow_status measure_node(preparer* p, stow_node node) {
  stow_prepared* prepared = p->prepared;
  stowi_exec_step* step = &prepared->program.steps[node];
  uint64_t offers[MOST_OFFERS];
  uint32_t count = 0;
  uint64_t need;
  if (step->kernel.run == NULL) {
    bool fits = stowi_exec_code_aside(&prepared->program, node, &need);
    if (!fits || (need != 0 && step->scratch_index == SIZE_MAX)) {
      return fail_node(p, node, STOW_ERR_UNSUPPORTED, "the carried values change along the range");
    }
  } else {
    if (step->like != STOW_NODE_NONE) {
      copy_prices(p, node);
    } else {
      STOW_TRY(measure_kernel(p, node));
    }
    if (step->kernel.scratch == NULL) {
      return STOW_OK;
    }
    need = step->prices[step->price_count - 1].scratch;
    count = offers_of(p, node, offers);
  }
  if (step->scratch_index != SIZE_MAX) {
    stowi_effects_change_scratch(prepared->effects, node, step->scratch_index, need, offers, count);
  }
  return STOW_OK;
}

stow_status stowi_exec_prepared_measure(stow_prepared* prepared, stow_diag* diag) {
  preparer p = {.prepared = prepared,
                .graph = prepared->program.graph,
                .kernels = prepared->options.kernels,
                .diag = diag};
  STOW_TRY(stowi_exec_program_measure(&prepared->program, diag));
  stowi_exec_frame_measure(&prepared->frame);
  stowi_exec_blocks_measure(prepared->blocks);
  for (stow_node node = 0; node < prepared->program.node_count; ++node) {
    STOW_TRY(prepared->program.steps[node].is_steady ? STOW_OK : measure_node(&p, node));
  }
  return STOW_OK;
}

stow_status stowi_exec_prepared_bind(stow_prepared* prepared, const int64_t* values,
                                     stow_diag* diag) {
  STOW_TRY(stowi_graph_twin_bind(prepared->twin, values, diag));
  return stowi_exec_prepared_measure(prepared, diag);
}

stow_status stowi_exec_prepared_copy(const stow_prepared* prepared, stow_allocator allocator,
                                     stow_diag* diag, stow_prepared** out_prepared) {
  stow_prepared how = {.choose = prepared->choose, .user = prepared->user};
  STOW_TRY(prepare(prepared->source, &prepared->options, how, 0, allocator, diag, out_prepared));
  stow_prepared* copy = *out_prepared;
  stow_effects* effects;
  stow_status status =
      stowi_effects_copy(prepared->effects, copy->program.graph, allocator, diag, &effects);
  if (status != STOW_OK) {
    stow_prepared_destroy(copy);
    *out_prepared = NULL;
    return status;
  }
  stow_effects_destroy(copy->effects);
  copy->effects = effects;  // with what the caller has added
  return STOW_OK;
}

static stow_status begin_effects(void* user, const stow_graph* bound, stow_allocator allocator,
                                 stow_diag* diag, stow_effects** out_effects) {
  stow_prepared* prepared = (stow_prepared*)user;
  const int64_t* values = stowi_graph_twin_point(bound);
  *out_effects = NULL;
  if (prepared->twin == NULL || values == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "effects of a range need a graph that was prepared with its ranges");
  }
  STOW_TRY(stowi_exec_prepared_bind(prepared, values, diag));
  return stowi_effects_copy(prepared->effects, bound, allocator, diag, out_effects);
}

stow_formula_effects stow_prepared_formula_effects(stow_prepared* prepared) {
  return (stow_formula_effects){begin_effects, NULL, prepared, false};
}

void stow_prepared_destroy(stow_prepared* prepared) {
  if (prepared == NULL) {
    return;
  }
  stowi_exec_packed_destroy(prepared->packed);
  stowi_exec_blocks_destroy(prepared->blocks);
  stowi_exec_streams_destroy(prepared->streams);
  stow_effects_destroy(prepared->effects);
  STOWI_VEC_FREE(prepared->allocator, &prepared->carries);
  stowi_exec_frame_free(&prepared->frame);
  stowi_exec_program_free(&prepared->program);
  stowi_graph_twin_destroy(prepared->twin);
  STOWI_DELETE(prepared->allocator, prepared);
}

stow_effects* stow_prepared_effects(stow_prepared* prepared) { return prepared->effects; }

const stowi_exec_program* stowi_exec_prepared_program(const stow_prepared* prepared) {
  return &prepared->program;
}

bool stow_prepared_ring(const stow_prepared* prepared, stow_node node, uint64_t scratch,
                        size_t index, stow_ring* out_ring) {
  if (prepared->streams == NULL || node >= stow_graph_node_count(prepared->source)) {
    return false;
  }
  const stowi_exec_step* step = &prepared->program.steps[node];
  uint32_t at = 0;
  while (at + 1 < step->price_count && step->prices[at].scratch > scratch) {
    ++at;
  }
  return stowi_exec_streams_ring(prepared->streams, node, step->prices[at].variant, index,
                                 out_ring);
}
