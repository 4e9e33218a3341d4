// What must be known before the plan: which kernel runs each node, how much scratch it needs, and
// which results must not be in place of operands.
#include "exec/run/prepare.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "effects/api.h"
#include "graph/api.h"

#define SCRATCH_ALIGNMENT 64

void stow_prepare_options_defaults(stow_prepare_options* options) {
  static const stow_prepare_options defaults = {.threads = 1};
  stowi_init_struct(options, &defaults, sizeof(defaults));
}

bool stowi_exec_is_bounded(const stow_graph* graph, stow_node node) {
  bool is_bounded = false;
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value value = stow_graph_operands(graph, node)[k];
    is_bounded = is_bounded || (value != STOW_VALUE_NONE && stow_graph_is_bounded(graph, value));
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value value = stow_graph_first_result(graph, node) + (stow_value)k;
    is_bounded = is_bounded || stow_graph_is_bounded(graph, value) ||
                 stow_graph_is_data_dependent(graph, value);
  }
  return is_bounded;
}

// ---------------------------------------------------------------------------------------------
// Loops

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t rest(size_t count, size_t first) { return count > first ? count - first : 0; }

stowi_exec_body stowi_exec_body_of(const stow_graph* graph, stow_node loop) {
  stow_region region = stow_graph_owned_region(graph, loop, 0);
  stowi_exec_body body = {.owner = loop,
                          .args = stowi_graph_region_args(graph, region),
                          .yield = stowi_graph_region_last(graph, region),
                          .carry = stow_graph_op_desc(graph, loop)->carry};
  if (body.args != STOW_NODE_NONE) {
    size_t count = rest(stow_graph_operand_count(graph, loop), body.carry.first_operand);
    count = smaller(count, rest(stow_graph_result_count(graph, body.args), body.carry.first_arg));
    count =
        smaller(count, rest(stow_graph_operand_count(graph, body.yield), body.carry.first_yield));
    body.carried =
        smaller(count, rest(stow_graph_result_count(graph, loop), body.carry.first_result));
  }
  return body;
}

// The operand whose bytes |value| may be.
static stow_value parent_of(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  size_t k = value - stow_graph_first_result(graph, node);
  stow_view view;
  return stow_graph_view(graph, node, k, &view) ? stow_graph_operands(graph, node)[view.operand]
                                                : STOW_VALUE_NONE;
}

// The carried argument of |body| whose bytes |value| may be, as a view of it; SIZE_MAX: none.
static size_t source_of(const stow_graph* graph, const stowi_exec_body* body, stow_value value) {
  while (value != STOW_VALUE_NONE && stow_graph_producer(graph, value) != body->args) {
    value = parent_of(graph, value);
  }
  size_t first = body->args == STOW_NODE_NONE
                     ? 0
                     : stow_graph_first_result(graph, body->args) + body->carry.first_arg;
  return value == STOW_VALUE_NONE || value < first || value - first >= body->carried
             ? SIZE_MAX
             : value - first;
}

bool stowi_exec_body_swaps(const stow_graph* graph, const stowi_exec_body* body, size_t i) {
  stow_value yielded = stow_graph_operands(graph, body->yield)[body->carry.first_yield + i];
  size_t source = source_of(graph, body, yielded);
  return source != SIZE_MAX && source != i;
}

// Bytes that moving aside takes, at most: of each value dims and elements, aligned to 64. False
// where that overflows.
static bool count_scratch(const stow_graph* graph, const stowi_exec_body* body,
                          uint64_t* out_bytes) {
  uint64_t total = 0;
  for (size_t i = 0; i < body->carried; ++i) {
    stow_value yielded = stow_graph_operands(graph, body->yield)[body->carry.first_yield + i];
    uint64_t bytes;
    if (stowi_exec_body_swaps(graph, body, i) &&
        (stow_type_bytes(stow_graph_type(graph, yielded), &bytes) != STOW_OK ||
         !stowi_align_up(bytes, SCRATCH_ALIGNMENT, &bytes) ||
         !stowi_add_u64(total, STOWI_EXEC_DIMS_SIZE, &total) ||
         !stowi_add_u64(total, bytes, &total))) {
      return false;
    }
  }
  *out_bytes = total;
  return true;
}

// ---------------------------------------------------------------------------------------------
// Effects

typedef struct preparer {
  stow_prepared* prepared;
  const stow_kernels* kernels;
  stowi_exec_choose choose;
  void* user;
  stowi_exec_calls calls;
  stow_diag* diag;
} preparer;

static stow_status fail_node(const preparer* p, stow_node node, stow_status status,
                             const char* what) {
  stowi_fail(p->diag, status, "%s: %s", stowi_exec_words_node(p->prepared->graph, node).text, what);
  stowi_diag_node(p->diag, node);
  return status;
}

static bool is_allowed_over(const preparer* p, stow_node node, size_t k, size_t operand) {
  const stow_effects* effects = p->prepared->effects;
  if (stow_graph_in_place(p->prepared->graph, node, k, operand) != STOW_IN_PLACE_NEVER) {
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
  const stow_graph* graph = p->prepared->graph;
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
  stowi_exec_prepared_node* entry = &p->prepared->nodes[node];
  if (bytes == 0) {
    return STOW_OK;
  }
  entry->scratch_size = bytes;
  return stow_effects_add_scratch(p->prepared->effects, node, bytes, SCRATCH_ALIGNMENT, p->diag,
                                  &entry->scratch_index);
}

// ---------------------------------------------------------------------------------------------
// Nodes

static const stow_kernel* find_kernel(const preparer* p, stow_node node) {
  stow_op op = stow_graph_op(p->prepared->graph, node);
  if (op != STOW_OP_CUSTOM) {
    return stow_kernels_get(p->kernels, op);
  }
  const stow_attr* name = stow_graph_attr(p->prepared->graph, node, "name");
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
  const stow_graph* graph = p->prepared->graph;
  stow_region region = stow_graph_node_region(graph, node);
  if (stow_graph_op(graph, node) != STOW_OP_YIELD) {
    stow_op op = stow_graph_op(graph, node);
    bool is_known = stow_graph_op_desc(graph, node)->region_count == 0 || op == STOW_OP_IF ||
                    op == STOW_OP_LOOP;
    return is_known ? STOW_OK
                    : fail_node(p, node, STOW_ERR_UNSUPPORTED,
                                "unsupported op with regions; expected `if` or `loop`");
  }
  stow_node owner = stowi_graph_region_owner(graph, region);
  if (stow_graph_op_desc(graph, owner)->region_kind != STOW_REGION_LOOP) {
    return STOW_OK;
  }
  stowi_exec_body body = stowi_exec_body_of(graph, owner);
  uint64_t bytes;
  if (!count_scratch(graph, &body, &bytes)) {
    return fail_node(p, node, STOW_ERR_OVERFLOW, "the carried values are too large");
  }
  return add_scratch(p, node, bytes);
}

static stow_status ask_price(preparer* p, stow_node node, const stow_kernel* kernel,
                             uint32_t variant, uint64_t* out_bytes) {
  stow_kernel_call* call = &p->calls.calls[node];
  char message[256] = "";
  *out_bytes = 0;
  if (kernel->scratch == NULL) {
    return STOW_OK;
  }
  call->workers = p->prepared->threads;
  call->variant = variant;
  call->user = kernel->user;
  call->message = message;
  call->message_size = sizeof(message);
  stow_status status = kernel->scratch(call, out_bytes);
  return status == STOW_OK
             ? STOW_OK
             : fail_node(p, node, status, message[0] != '\0' ? message : stow_status_text(status));
}

static stow_status ask_scratch(preparer* p, stow_node node, const stow_kernel* kernel) {
  stowi_exec_prepared_node* entry = &p->prepared->nodes[node];
  uint32_t count = kernel->variant_count;
  entry->price_count = count < STOWI_EXEC_MOST_VARIANTS ? count : STOWI_EXEC_MOST_VARIANTS;
  for (uint32_t i = 0; i < entry->price_count; ++i) {
    bool is_last = i + 1 == entry->price_count;
    STOW_TRY(ask_price(p, node, kernel, is_last ? count - 1 : i, &entry->prices[i]));
  }
  uint32_t last = entry->price_count - 1;
  uint64_t bytes = entry->prices[entry->variant < last ? entry->variant : last];
  if (entry->variant >= last && entry->variant + 1 < count) {
    STOW_TRY(ask_price(p, node, kernel, entry->variant, &bytes));
  }
  return add_scratch(p, node, bytes);
}

uint32_t stowi_exec_variant_within(const stow_prepared* prepared, stow_node node, uint64_t bytes) {
  const stowi_exec_prepared_node* entry = &prepared->nodes[node];
  for (uint32_t i = 0; i < entry->price_count; ++i) {
    if (entry->prices[i] <= bytes) {
      return i + 1 == entry->price_count ? entry->kernel.variant_count - 1 : i;
    }
  }
  return UINT32_MAX;
}

static stow_status fail_no_kernel(const preparer* p, stow_node node) {
  const stow_graph* graph = p->prepared->graph;
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

static stow_status prepare_node(preparer* p, stow_node node) {
  const stow_graph* graph = p->prepared->graph;
  stowi_exec_prepared_node* entry = &p->prepared->nodes[node];
  entry->scratch_index = SIZE_MAX;
  if (is_structure(graph, node)) {
    return prepare_structure(p, node);
  }
  const stow_kernel* kernel = find_kernel(p, node);
  if (kernel == NULL) {
    return fail_no_kernel(p, node);
  }
  entry->kernel = *kernel;
  entry->variant = p->choose != NULL ? p->choose(p->user, node, kernel->variant_count) : 0;
  STOW_TRY(ask_scratch(p, node, kernel));
  return kernel->in_place ? STOW_OK : forbid_over(p, node);
}

// Kernels that ask for scratch may look at weights, which they are only shown where those are
// aligned.
static void show_data(preparer* p) {
  const stow_graph* graph = p->prepared->graph;
  for (stow_value value = 0; value < p->calls.value_count; ++value) {
    const void* data = stow_graph_data(graph, value, NULL);
    size_t width = stowi_exec_dtype_alignment(p->calls.tensors[value].dtype);
    if (data != NULL && (uintptr_t)data % width == 0 &&
        stow_graph_op(graph, stow_graph_producer(graph, value)) != STOW_OP_INPUT) {
      memcpy(&p->calls.tensors[value].data, &data, sizeof(data));
    }
  }
}

static stow_status prepare_all(preparer* p, stow_allocator allocator) {
  stow_prepared* prepared = p->prepared;
  STOW_TRY(stow_graph_require_bound(prepared->graph, p->diag));
  STOW_TRY(stow_graph_verify(prepared->graph, p->diag));
  STOW_TRY(stow_effects_create(prepared->graph, allocator, p->diag, &prepared->effects));
  STOW_TRY(stowi_exec_calls_init(&p->calls, prepared->graph, allocator, p->diag));
  prepared->nodes = STOWI_ARRAY_ZERO(allocator, stowi_exec_prepared_node, prepared->node_count);
  if (prepared->nodes == NULL) {
    return stowi_fail_memory(p->diag);
  }
  show_data(p);
  for (stow_node node = 0; node < prepared->node_count; ++node) {
    STOW_TRY(prepare_node(p, node));
  }
  return STOW_OK;
}

stow_status stow_prepare(const stow_graph* graph, const stow_prepare_options* options,
                         stow_allocator allocator, stow_diag* diag, stow_prepared** out_prepared) {
  return stowi_exec_prepare(graph, options, NULL, NULL, allocator, diag, out_prepared);
}

stow_status stowi_exec_prepare(const stow_graph* graph, const stow_prepare_options* options,
                               stowi_exec_choose choose, void* user, stow_allocator allocator,
                               stow_diag* diag, stow_prepared** out_prepared) {
  stow_prepare_options full;
  *out_prepared = NULL;
  stow_prepare_options_init(&full);
  STOW_TRY(stowi_load_options(&full, options, sizeof(full), "stow_prepare_options", diag));
  if (full.threads == 0 || full.threads > STOWI_EXEC_MAX_THREADS) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "%u threads are out of range (1 to %d)",
                      (unsigned)full.threads, STOWI_EXEC_MAX_THREADS);
  }
  stow_prepared* prepared = STOWI_NEW(allocator, stow_prepared);
  STOW_TRY(stowi_need_memory(prepared != NULL, diag));
  prepared->allocator = allocator;
  prepared->graph = graph;
  prepared->threads = full.threads;
  prepared->node_count = stow_graph_node_count(graph);
  preparer p = {
      .prepared = prepared, .kernels = full.kernels, .choose = choose, .user = user, .diag = diag};
  prepared->has_foreign = full.kernels != NULL;
  stow_status status = prepare_all(&p, allocator);
  stowi_exec_calls_free(&p.calls);
  if (status != STOW_OK) {
    stow_prepared_destroy(prepared);
    return status;
  }
  *out_prepared = prepared;
  return STOW_OK;
}

void stow_prepared_destroy(stow_prepared* prepared) {
  if (prepared == NULL) {
    return;
  }
  stow_effects_destroy(prepared->effects);
  STOWI_ARRAY_FREE(prepared->allocator, prepared->nodes, prepared->node_count);
  STOWI_DELETE(prepared->allocator, prepared);
}

stow_effects* stow_prepared_effects(stow_prepared* prepared) { return prepared->effects; }
