// Decides which values share bytes: runs the passes in order, on a copy of the views that replaces
// them on success, and records the decisions. O(values × log values) plus the passes.
//
// Copy elision and in-place results can block each other: a value inside a concat's result is read
// there by the readers of the concat, so it must not be overwritten once the concat has run.
// Elision saves a copy and takes precedence where both are possible; but whether it pays is only
// known after all in-place results, since those lower the load that elision is measured by. So the
// first in-place pass spares operands that might be elided, and a second pass revisits those that
// were not.
#include "analysis/sharing/sharing.h"

#include <string.h>

#include "analysis/lives/lifetimes.h"
#include "analysis/views.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/sort.h"
#include "effects/api.h"

const char* stow_share_text(stow_share share) {
  static const char* const texts[STOW_SHARE_COUNT] = {
#define TEXT(name, text) text,
      STOW_SHARE_LIST(TEXT)
#undef TEXT
  };
  return (unsigned)share < (unsigned)STOW_SHARE_COUNT ? texts[share] : "?";
}

const char* stow_reason_text(stow_reason reason) {
  static const char* const texts[STOW_REASON_COUNT] = {
#define TEXT(name, text) text,
      STOW_REASON_LIST(TEXT)
#undef TEXT
  };
  return (unsigned)reason < (unsigned)STOW_REASON_COUNT ? texts[reason] : "?";
}

void stowi_analysis_sharing_options_init(stowi_analysis_sharing_options* options) {
  *options = (stowi_analysis_sharing_options){true, true, 1};
}

// ---------------------------------------------------------------------------------------------
// Shared by the passes

stow_status stowi_analysis_sharing_note(stowi_analysis_sharing_call* call, stow_decision decision,
                                        size_t operand) {
  stowi_analysis_sharing* sharing = call->sharing;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(call->allocator, &sharing->decisions, 1) == STOW_OK,
                             call->diag));
  sharing->decisions.data[sharing->decisions.count++] = (stowi_analysis_decision){
      decision, stow_schedule_step(call->schedule, decision.node), (uint32_t)operand};
  return STOW_OK;
}

stow_decision stowi_analysis_sharing_decision(const stowi_analysis_sharing_call* call,
                                              stow_share share, stow_reason reason, stow_node node,
                                              stow_value result, stow_value operand) {
  const uint64_t* bytes = call->views->bytes;
  uint64_t shared = bytes[result] < bytes[operand] ? bytes[result] : bytes[operand];
  return (stow_decision){.share = share,
                         .reason = reason,
                         .node = node,
                         .result = result,
                         .operand = operand,
                         .bytes = shared,
                         .other_value = STOW_VALUE_NONE,
                         .other_node = STOW_NODE_NONE};
}

void stowi_analysis_sharing_move(stowi_analysis_sharing_call* call, stow_value root,
                                 stow_value into, stowi_analysis_layout place) {
  stowi_analysis_views* views = call->views;
  stowi_analysis_views_set(views, root, into, place);
  stowi_bits_add(&views->laid, root);
  if (views->alignment != NULL) {
    if (views->alignment[into] < views->alignment[root]) {
      views->alignment[into] = views->alignment[root];
    }
    views->alignment[root] =
        stowi_analysis_views_alignment_code(stowi_effects_alignment(call->effects, root));
  }
}

// Each round halves the distance to the root.
void stowi_analysis_sharing_settle(stowi_analysis_sharing_call* call) {
  stowi_analysis_views* views = call->views;
  bool settled = false;
  while (!settled) {
    settled = true;
    for (stow_value value = 0; value < views->value_count; ++value) {
      stow_value next = views->root[value];
      if (views->root[next] != next) {
        stowi_analysis_layout there;
        // Whoever moved |next| has seen that it is possible.
        (void)stowi_analysis_layout_join(
            stowi_analysis_views_layout(views, next), views->bytes[next],
            stowi_analysis_views_layout(views, value), views->bytes[value], &there);
        stowi_analysis_views_set(views, value, views->root[next], there);
        settled = false;
      }
    }
  }
}

bool stowi_analysis_sharing_is_external(const stowi_analysis_sharing_call* call, stow_value value) {
  bool output = stowi_bits_has(&call->outputs, value);
  return stowi_effects_io_policy(call->graph, call->effects, call->views->io, value, output) ==
         STOW_IO_EXTERNAL;
}

// ---------------------------------------------------------------------------------------------
// Views: not decided here, but recorded with the rest

// Why |result|, of a node with views in the op table, is not a view. |known|: the op table makes it
// one.
static stow_reason why_no_view(const stowi_analysis_sharing_call* call, stow_value result,
                               bool known) {
  if (stowi_analysis_sharing_is_external(call, result)) {
    return STOW_REASON_EXTERNAL;
  }
  if (!known) {
    return STOW_REASON_NOT_CONTIGUOUS;
  }
  return STOW_REASON_OWN;
}

// The operand that result |k| is or would be a view of; the first if nothing says.
static size_t viewed_operand(const stowi_analysis_sharing_call* call, stow_node node, size_t k,
                             bool* out_known) {
  stow_value value = stow_graph_first_result(call->graph, node) + (stow_value)k;
  stow_view view;
  size_t operand;
  uint64_t offset;
  *out_known = stow_graph_view(call->graph, node, k, &view);
  if (stowi_effects_inside(call->effects, value, &operand, &offset)) {
    return operand;
  }
  return *out_known ? view.operand : 0;
}

// A conversion computes new elements and cannot be a view.
static bool has_same_elements(const stowi_analysis_sharing_call* call, stow_value result,
                              stow_value operand) {
  return stow_graph_type(call->graph, result)->dtype ==
         stow_graph_type(call->graph, operand)->dtype;
}

static stow_status note_views(stowi_analysis_sharing_call* call) {
  for (stow_node node = 0; node < stow_graph_node_count(call->graph); ++node) {
    if (stow_graph_op_desc(call->graph, node)->view != NULL &&
        stow_graph_operand_count(call->graph, node) != 0) {
      stow_value first = stow_graph_first_result(call->graph, node);
      const stow_value* operands = stow_graph_operands(call->graph, node);
      for (size_t k = 0; k < stow_graph_result_count(call->graph, node); ++k) {
        stow_value result = first + (stow_value)k;
        bool known;
        size_t operand = viewed_operand(call, node, k, &known);
        if (call->views->bytes[result] == 0 || operands[operand] == STOW_VALUE_NONE ||
            !has_same_elements(call, result, operands[operand])) {
          continue;
        }
        stow_reason reason = stowi_analysis_views_is_view(call->views, result)
                                 ? STOW_REASON_TAKEN
                                 : why_no_view(call, result, known);
        STOW_TRY(stowi_analysis_sharing_note(
            call,
            stowi_analysis_sharing_decision(call, STOW_SHARE_VIEW, reason, node, result,
                                            operands[operand]),
            operand));
      }
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The record

static int compare_u32(uint32_t a, uint32_t b) { return a < b ? -1 : a > b; }

static int compare_decisions(const void* a, const void* b, const void* context) {
  const stowi_analysis_decision* x = (const stowi_analysis_decision*)a;
  const stowi_analysis_decision* y = (const stowi_analysis_decision*)b;
  (void)context;
  if (x->step != y->step) {
    return compare_u32(x->step, y->step);
  }
  if (x->operand != y->operand) {
    return compare_u32(x->operand, y->operand);
  }
  if (x->decision.share != y->decision.share) {
    return compare_u32((uint32_t)x->decision.share, (uint32_t)y->decision.share);
  }
  return compare_u32(x->decision.result, y->decision.result);
}

static stow_status finish_record(stowi_analysis_sharing_call* call) {
  stowi_analysis_sharing* sharing = call->sharing;
  STOW_TRY(stowi_need_memory(
      stowi_sort(sharing->decisions.data, sharing->decisions.count, sizeof(stowi_analysis_decision),
                 compare_decisions, NULL, call->allocator) == STOW_OK,
      call->diag));
  for (size_t i = 0; i < sharing->decisions.count; ++i) {
    const stow_decision* decision = &sharing->decisions.data[i].decision;
    if (decision->share != STOW_SHARE_VIEW && decision->reason == STOW_REASON_TAKEN) {
      ++sharing->taken;
    }
  }
  return STOW_OK;
}

void stowi_analysis_sharing_destroy(stowi_analysis_sharing* sharing) {
  if (sharing == NULL) {
    return;
  }
  stow_allocator allocator = sharing->allocator;
  STOWI_VEC_FREE(allocator, &sharing->decisions);
  STOWI_DELETE(allocator, sharing);
}

size_t stowi_analysis_sharing_count(const stowi_analysis_sharing* sharing) {
  return sharing->decisions.count;
}

stow_decision stowi_analysis_sharing_at(const stowi_analysis_sharing* sharing, size_t index) {
  return sharing->decisions.data[index].decision;
}

size_t stowi_analysis_sharing_taken(const stowi_analysis_sharing* sharing) {
  return sharing->taken;
}

// ---------------------------------------------------------------------------------------------
// The copy of the views

// Copies what passes change. |copy| shares the rest with |views|.
static stow_status copy_views(const stowi_analysis_views* views, stowi_analysis_views* copy) {
  size_t count = views->value_count;
  *copy = *views;
  copy->root = STOWI_ARRAY(views->allocator, stow_value, count);
  copy->offset = STOWI_ARRAY(views->allocator, uint64_t, count);
  copy->alignment = NULL;
  copy->laid = (stowi_bits){NULL, 0};
  copy->rows = NULL;
  copy->node_rows = NULL;
  if (views->alignment != NULL) {
    copy->alignment = STOWI_ARRAY(views->allocator, uint8_t, count);
  }
  if (views->rows != NULL) {
    copy->rows = STOWI_ARRAY(views->allocator, stowi_analysis_rows, count);
    copy->node_rows = STOWI_ARRAY(views->allocator, uint64_t, views->noops.count);
  }
  bool complete = copy->root != NULL && copy->offset != NULL &&
                  (copy->alignment != NULL) == (views->alignment != NULL) &&
                  (copy->rows != NULL && copy->node_rows != NULL) == (views->rows != NULL) &&
                  stowi_bits_init(&copy->laid, views->value_count, views->allocator);
  if (!complete) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  memcpy(copy->root, views->root, count * sizeof(*copy->root));
  memcpy(copy->offset, views->offset, count * sizeof(*copy->offset));
  if (copy->alignment != NULL) {
    memcpy(copy->alignment, views->alignment, count);
  }
  if (copy->rows != NULL) {
    memcpy(copy->rows, views->rows, count * sizeof(*copy->rows));
    memcpy(copy->node_rows, views->node_rows, views->noops.count * sizeof(*copy->node_rows));
  }
  if (views->laid.words != NULL) {
    memcpy(copy->laid.words, views->laid.words, stowi_bits_words(copy->laid.count) * 8);
  }
  return STOW_OK;
}

static void free_copy(stowi_analysis_views* copy) {
  STOWI_ARRAY_FREE(copy->allocator, copy->root, copy->value_count);
  STOWI_ARRAY_FREE(copy->allocator, copy->offset, copy->value_count);
  STOWI_ARRAY_FREE(copy->allocator, copy->alignment, copy->value_count);
  STOWI_ARRAY_FREE(copy->allocator, copy->rows, copy->value_count);
  STOWI_ARRAY_FREE(copy->allocator, copy->node_rows, copy->noops.count);
  stowi_bits_free(&copy->laid, copy->allocator);
}

// ---------------------------------------------------------------------------------------------

static stow_status prepare(stowi_analysis_sharing_call* call) {
  call->sharing = STOWI_NEW(call->allocator, stowi_analysis_sharing);
  STOW_TRY(stowi_need_memory(call->sharing != NULL, call->diag));
  call->sharing->allocator = call->allocator;
  STOW_TRY(stowi_need_memory(
      stowi_effects_bits_of_outputs(&call->outputs, call->graph, call->allocator), call->diag));
  if (!call->options.elide_copies) {
    return STOW_OK;
  }
  call->target = STOWI_ARRAY(call->allocator, stow_value, call->views->value_count);
  STOW_TRY(stowi_need_memory(call->target != NULL, call->diag));
  for (stow_value value = 0; value < call->views->value_count; ++value) {
    call->target[value] = STOW_VALUE_NONE;
  }
  return stowi_analysis_elision_candidates(call);
}

static stow_status run(stowi_analysis_sharing_call* call) {
  STOW_TRY(prepare(call));
  STOW_TRY(note_views(call));
  STOW_TRY(stowi_analysis_share_in_place(call));
  if (call->options.elide_copies) {
    STOW_TRY(stowi_analysis_elide_copies(call));
    STOW_TRY(stowi_analysis_share_in_place_again(call));
  }
  return finish_record(call);
}

static stow_status check_arguments(const stowi_analysis_views* views, const stow_graph* graph,
                                   const stow_schedule* schedule, const stow_effects* effects,
                                   const stowi_analysis_lifetimes* lifetimes,
                                   const stowi_analysis_sharing_options* options, stow_diag* diag) {
  STOW_TRY(stowi_analysis_views_check_graph(views, graph, diag));
  STOW_TRY(stowi_effects_check_graph(effects, graph, diag));
  if (stow_schedule_count(schedule) != stow_graph_node_count(graph) ||
      lifetimes->value_count != views->value_count) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the schedule or the lifetimes were made for another graph");
  }
  if (!stowi_is_power_of_two(options->alignment)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "stowi_analysis_sharing_options.alignment: %llu is not a power of two",
                      (unsigned long long)options->alignment);
  }
  return STOW_OK;
}

stow_status stowi_analysis_sharing_apply(stowi_analysis_views* views, const stow_graph* graph,
                                         const stow_schedule* schedule, const stow_effects* effects,
                                         const stowi_analysis_lifetimes* lifetimes,
                                         const stowi_analysis_sharing_options* options,
                                         stow_allocator allocator, stow_diag* diag,
                                         stowi_analysis_sharing** out_sharing) {
  *out_sharing = NULL;
  STOW_TRY(check_arguments(views, graph, schedule, effects, lifetimes, options, diag));
  stowi_analysis_views copy;
  stowi_analysis_sharing_call call = {.views = &copy,
                                      .graph = graph,
                                      .schedule = schedule,
                                      .effects = effects,
                                      .lifetimes = lifetimes,
                                      .options = *options,
                                      .allocator = allocator,
                                      .diag = diag};
  stow_status status = copy_views(views, &copy) == STOW_OK ? run(&call) : stowi_fail_memory(diag);
  if (status == STOW_OK) {
    stowi_analysis_views old = *views;
    *views = copy;
    copy = old;
    *out_sharing = call.sharing;
    call.sharing = NULL;
  }
  free_copy(&copy);
  stowi_bits_free(&call.outputs, allocator);
  STOWI_ARRAY_FREE(allocator, call.target, views->value_count);
  stowi_analysis_sharing_destroy(call.sharing);
  return status;
}
