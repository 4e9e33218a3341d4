// The weights of a rewritten graph that are computed from others: the fold graph is prepared,
// planned and run once. Its outputs are bound to blocks that stay; all else goes.
#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/words.h"
#include "exec/run/exec.h"

#define ALIGNMENT 64
#define SEARCH_NODES 1000  // of a plan that is used once

typedef struct weight {
  stow_value value;     // of the rewritten graph
  unsigned char* data;  // NULL: it was given back, or has no bytes
  size_t size;
} weight;

struct stow_folded {
  stow_allocator allocator;
  STOWI_VEC(weight) weights;  // in the order of values
};

static void* change(const stow_folded* folded, void* memory, size_t from, size_t to) {
  return folded->allocator.reallocate(folded->allocator.user, memory, from, to, ALIGNMENT);
}

// ---------------------------------------------------------------------------------------------
// Which they are

static bool is_folded(const stow_graph* graph, stow_value value) {
  stow_node node = stow_graph_producer(graph, value);
  const stow_attr* attr =
      stow_graph_op(graph, node) == STOW_OP_PARAM ? stow_graph_attr(graph, node, "folded") : NULL;
  return attr != NULL && attr->b;
}

static stow_status fail_value(const stow_graph* graph, stow_value value, const char* what,
                              stow_diag* diag) {
  stowi_fail(diag, STOW_ERR_NOT_FOUND, "param %s %s", stowi_exec_words_value(graph, value).text,
             what);
  stowi_diag_value(diag, value);
  return STOW_ERR_NOT_FOUND;
}

static stow_status add_weight(stow_folded* folded, const stow_graph* graph, stow_value value,
                              stow_diag* diag) {
  uint64_t bytes;
  if (stow_type_bytes(stow_graph_type(graph, value), &bytes) != STOW_OK || bytes > PTRDIFF_MAX) {
    return stowi_fail(diag, STOW_ERR_OVERFLOW, "folded weights are too large");
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(folded->allocator, &folded->weights, 1) == STOW_OK,
                             diag));
  weight* w = &folded->weights.data[folded->weights.count++];
  *w = (weight){value, NULL, (size_t)bytes};
  w->data = bytes == 0 ? NULL : (unsigned char*)change(folded, NULL, 0, w->size);
  return stowi_need_memory(bytes == 0 || w->data != NULL, diag);
}

static stow_status lay_out(stow_folded* folded, const stow_graph* graph, stow_diag* diag) {
  for (stow_value value = 0; value < stow_graph_value_count(graph); ++value) {
    STOW_TRY(is_folded(graph, value) ? add_weight(folded, graph, value, diag) : STOW_OK);
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Computing them

typedef struct maker {
  const stow_graph* graph;
  const stow_graph* fold_graph;
  stow_prepared* prepared;
  stow_plan* plan;
  stow_exec* exec;
} maker;

static stow_status make_plan(maker* m, stow_allocator allocator, stow_diag* diag) {
  stow_plan_options options;
  stow_plan_options_init(&options, STOW_PRESET_DEFAULT);
  options.params = options.constants = false;
  options.io = STOW_IO_EXTERNAL;
  options.order = STOW_ORDER_GIVEN;
  options.nodes = SEARCH_NODES;
  return stow_plan_make(m->fold_graph, stow_prepared_effects(m->prepared), &options, allocator,
                        diag, &m->plan);
}

static stow_status bind_outputs(maker* m, stow_folded* folded, stow_diag* diag) {
  for (size_t i = 0; i < folded->weights.count; ++i) {
    const weight* w = &folded->weights.data[i];
    stow_value value = stow_graph_find(m->fold_graph, stow_graph_value_name(m->graph, w->value));
    if (value == STOW_VALUE_NONE) {
      return fail_value(m->graph, w->value, "is not an output of the fold graph", diag);
    }
    STOW_TRY(w->size == 0 ? STOW_OK : stow_exec_bind(m->exec, value, w->data, w->size, diag));
  }
  return STOW_OK;
}

static stow_status run(maker* m, const stow_prepare_options* options, stow_folded* folded,
                       stow_diag* diag) {
  stow_allocator allocator = folded->allocator;
  stow_prepare_options prepare;
  stow_prepare_options_init(&prepare);
  if (options != NULL) {
    STOW_TRY(stowi_load_options(&prepare, options, sizeof(prepare), "stow_prepare_options", diag));
  }
  prepare.pack = STOW_PACK_NEVER;
  prepare.fastest = false;
  STOW_TRY(stow_prepare(m->fold_graph, &prepare, allocator, diag, &m->prepared));
  STOW_TRY(make_plan(m, allocator, diag));
  STOW_TRY(stow_exec_create(m->prepared, m->plan, NULL, allocator, diag, &m->exec));
  STOW_TRY(bind_outputs(m, folded, diag));
  return stow_exec_run(m->exec, diag);
}

static stow_status compute(stow_folded* folded, const stow_graph* graph,
                           const stow_graph* fold_graph, const stow_prepare_options* options,
                           stow_diag* diag) {
  maker m = {.graph = graph, .fold_graph = fold_graph};
  stow_status status = run(&m, options, folded, diag);
  stow_exec_destroy(m.exec);
  stow_plan_destroy(m.plan);
  stow_prepared_destroy(m.prepared);
  return status;
}

stow_status stow_folded_create(const stow_graph* graph, const stow_graph* fold_graph,
                               const stow_prepare_options* options, stow_allocator allocator,
                               stow_diag* diag, stow_folded** out_folded) {
  *out_folded = NULL;
  stow_folded* folded = STOWI_NEW(allocator, stow_folded);
  STOW_TRY(stowi_need_memory(folded != NULL, diag));
  folded->allocator = allocator;
  stow_status status = lay_out(folded, graph, diag);
  if (status == STOW_OK && folded->weights.count != 0) {
    status = compute(folded, graph, fold_graph, options, diag);
  }
  if (status != STOW_OK) {
    stow_folded_destroy(folded);
    return status;
  }
  *out_folded = folded;
  return STOW_OK;
}

static void release(const stow_folded* folded, weight* w) {
  if (w->data != NULL) {
    change(folded, w->data, w->size, 0);
    w->data = NULL;
  }
}

void stow_folded_destroy(stow_folded* folded) {
  if (folded == NULL) {
    return;
  }
  stow_allocator allocator = folded->allocator;
  for (size_t i = 0; i < folded->weights.count; ++i) {
    release(folded, &folded->weights.data[i]);
  }
  STOWI_VEC_FREE(allocator, &folded->weights);
  STOWI_DELETE(allocator, folded);
}

// ---------------------------------------------------------------------------------------------
// Using them

static weight* find(const stow_folded* folded, stow_value value) {
  size_t begin = 0;
  size_t end = folded->weights.count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    weight* w = &folded->weights.data[middle];
    if (w->value == value) {
      return w;
    }
    begin = w->value < value ? middle + 1 : begin;
    end = w->value < value ? end : middle;
  }
  return NULL;
}

const void* stow_folded_weight(void* user, stow_value value, size_t* out_size) {
  const weight* w = find((const stow_folded*)user, value);
  *out_size = w == NULL ? 0 : w->size;
  return w == NULL ? NULL : w->size == 0 ? stowi_exec_nothing : w->data;
}

void stow_folded_give_back(stow_folded* folded, const stow_prepared* prepared, stow_value value) {
  weight* w = find(folded, value);
  if (w != NULL && prepared->program.values[value].packed_bytes != 0) {
    release(folded, w);
  }
}
