// Pictures of plans. Everything is asked of the graph and the plan; only how a value came to lie in
// another's bytes is worked out here, because saved plans do not tell. O(nodes + values +
// operands).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "effects/api.h"
#include "make.h"

typedef struct maker {
  cli_view* view;
  const cli_view_plan* from;
  cli_list step_of;    // of uint32_t: the step of each node
  cli_list buffer_of;  // of size_t: the buffer of each root; CLI_VIEW_NOWHERE
  cli_list home_of;    // of uint32_t: the concat's result in which each value lies at home
  stow_string type;    // scratch
} maker;

static uint32_t step_of(const maker* m, stow_node node) {
  return ((const uint32_t*)m->step_of.items)[node];
}

static bool fill_list(cli_list* list, size_t count, const void* item, size_t item_size) {
  for (size_t i = 0; i < count; ++i) {
    if (!cli_list_add(list, item, item_size)) {
      return false;
    }
  }
  return true;
}

static bool prepare(maker* m) {
  const stow_plan* plan = m->from->plan;
  uint32_t none = CLI_VIEW_NONE;
  size_t nowhere = CLI_VIEW_NOWHERE;
  uint32_t values = stow_graph_value_count(m->from->graph);
  if (!fill_list(&m->step_of, stow_graph_node_count(m->from->graph), &none, sizeof none) ||
      !fill_list(&m->home_of, values, &none, sizeof none) ||
      !fill_list(&m->buffer_of, values, &nowhere, sizeof nowhere)) {
    return false;
  }
  for (uint32_t step = 0; step < stow_plan_step_count(plan); ++step) {
    ((uint32_t*)m->step_of.items)[stow_plan_order(plan)[step]] = step;
  }
  return true;
}

static cli_view_text op_text(const maker* m, stow_node node) {
  return cli_view_intern(m->view, stow_str_of(stow_graph_op_desc(m->from->graph, node)->name));
}

static cli_view_text type_text(maker* m, stow_value value) {
  const stow_graph* graph = m->from->graph;
  m->type.size = 0;
  if (stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value),
                      stow_string_writer(&m->type)) != STOW_OK) {
    m->view->broken = true;
    return CLI_VIEW_NONE;
  }
  return cli_view_intern_name(m->view, (stow_str){m->type.data, m->type.size});
}

static cli_view_text node_label(const maker* m, stow_node node) {
  const stow_graph* graph = m->from->graph;
  return stow_graph_result_count(graph, node) == 0
             ? CLI_VIEW_NONE
             : cli_view_intern_name(
                   m->view, stow_graph_value_name(graph, stow_graph_first_result(graph, node)));
}

static bool is_boundary(const maker* m, stow_node node) {
  return stow_graph_result_count(m->from->graph, node) > 0 &&
         stow_graph_is_boundary(m->from->graph, stow_graph_first_result(m->from->graph, node));
}

static void add_steps(maker* m) {
  bool busy = false;
  for (uint32_t i = 0; i < stow_plan_step_count(m->from->plan); ++i) {
    stow_node node = stow_plan_order(m->from->plan)[i];
    cli_view_step step = {op_text(m, node), node_label(m, node), node};
    cli_view_add(m->view, &m->view->steps, &step, sizeof step);
    if (!busy && !is_boundary(m, node)) {
      busy = true;
      m->view->facts.busy_step = i;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Buffers

static cli_view_kind kind_of(const maker* m, stow_value value) {
  stow_op op = stow_graph_op(m->from->graph, stow_graph_producer(m->from->graph, value));
  if (stowi_effects_state(m->from->effects, value)) {
    return CLI_VIEW_STATE;
  }
  return op == STOW_OP_INPUT      ? CLI_VIEW_INPUT
         : op == STOW_OP_PARAM    ? CLI_VIEW_PARAM
         : op == STOW_OP_CONSTANT ? CLI_VIEW_CONSTANT
                                  : CLI_VIEW_ACTIVATION;
}

static void add_windows(maker* m, stow_value root, cli_view_buffer* buffer) {
  buffer->first_window = m->view->windows.count;
  buffer->window_count = stow_plan_window_count(m->from->plan, root);
  buffer->flags |= buffer->window_count > 0 ? CLI_VIEW_WINDOWS : 0;
  for (size_t i = 0; i < buffer->window_count; ++i) {
    stow_window window = stow_plan_window_at(m->from->plan, root, i);
    cli_view_window item = {m->view->buffers.count, window.begin, window.end, window.low,
                            window.high};
    cli_view_add(m->view, &m->view->windows, &item, sizeof item);
  }
}

static void add_root(maker* m, stow_value root, stow_slot slot) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  stow_node node = stow_graph_producer(graph, root);
  cli_view_kind kind = kind_of(m, root);
  bool fixed = stowi_effects_offset(m->from->effects, root) != STOW_OFFSET_NONE ||
               (kind == CLI_VIEW_PARAM && m->from->shared_params);
  cli_view_buffer buffer = {
      .id = root,
      .key = root,
      .name = cli_view_intern_name(m->view, stow_graph_value_name(graph, root)),
      .op = op_text(m, node),
      .type = type_text(m, root),
      .kind = kind,
      .flags = (fixed ? CLI_VIEW_FIXED : 0u) | (kind == CLI_VIEW_STATE ? CLI_VIEW_STATE_FLAG : 0u),
      .offset = slot.offset,
      .size = slot.size,
      .guard = stow_plan_guard(plan, root),
      .begin = stow_plan_begin(plan, root),
      .end = stow_plan_end(plan, root),
      .made = step_of(m, node),
      .alignment = stow_plan_value_alignment(plan, root)};
  add_windows(m, root, &buffer);
  ((size_t*)m->buffer_of.items)[root] = m->view->buffers.count;
  cli_view_add(m->view, &m->view->buffers, &buffer, sizeof buffer);
}

static void add_scratch(maker* m) {
  for (size_t i = 0; i < stow_plan_scratch_count(m->from->plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(m->from->plan, i, &node, &slot, &alignment);
    uint64_t step = step_of(m, node);
    cli_view_buffer buffer = {.id = CLI_VIEW_NONE,
                              .key = node,
                              .name = node_label(m, node),
                              .op = op_text(m, node),
                              .type = CLI_VIEW_NONE,
                              .kind = CLI_VIEW_SCRATCH,
                              .offset = slot.offset,
                              .size = slot.size,
                              .begin = step,
                              .end = step + 1,
                              .made = step,
                              .alignment = alignment};
    buffer.first_window = m->view->windows.count;
    cli_view_add(m->view, &m->view->buffers, &buffer, sizeof buffer);
  }
}

static void add_reserved(maker* m) {
  for (size_t i = 0; i < stow_plan_reserved_count(m->from->plan); ++i) {
    stow_slot slot = stow_plan_reserved_slot(m->from->plan, i);
    cli_view_buffer buffer = {.id = CLI_VIEW_NONE,
                              .key = (uint32_t)i,
                              .name = CLI_VIEW_NONE,
                              .op = CLI_VIEW_NONE,
                              .type = CLI_VIEW_NONE,
                              .kind = CLI_VIEW_RESERVED,
                              .flags = CLI_VIEW_FIXED,
                              .offset = slot.offset,
                              .size = slot.size,
                              .end = m->view->facts.last_step,
                              .alignment = 1};
    buffer.first_window = m->view->windows.count;
    cli_view_add(m->view, &m->view->buffers, &buffer, sizeof buffer);
  }
}

static void add_buffers(maker* m) {
  for (stow_value value = 0; value < stow_plan_value_count(m->from->plan); ++value) {
    stow_slot slot;
    if (stow_plan_root(m->from->plan, value) == value &&
        stow_plan_value_slot(m->from->plan, value, &slot)) {
      add_root(m, value, slot);
    }
  }
  add_scratch(m);
  add_reserved(m);
}

// ---------------------------------------------------------------------------------------------
// What lies in them

// Operands that lie inside a concat's result were made there.
static void find_homes(maker* m) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  uint32_t* home_of = m->home_of.items;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) != STOW_OP_CONCAT) {
      continue;
    }
    stow_value result = stow_graph_first_result(graph, node);
    for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
      stow_value operand = stow_graph_operands(graph, node)[i];
      if (operand != STOW_VALUE_NONE &&
          stow_plan_root(plan, operand) == stow_plan_root(plan, result)) {
        home_of[operand] = result;
      }
    }
  }
}

static bool meet(stow_slot a, stow_slot b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

// The operand in whose bytes |value| was made; STOW_VALUE_NONE where there is none.
static stow_value base_of(const maker* m, stow_value value, stow_slot slot) {
  const stow_graph* graph = m->from->graph;
  stow_node node = stow_graph_producer(graph, value);
  stow_value root = stow_plan_root(m->from->plan, value);
  for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
    stow_value operand = stow_graph_operands(graph, node)[i];
    stow_slot other;
    if (operand != STOW_VALUE_NONE && stow_plan_root(m->from->plan, operand) == root &&
        stow_plan_value_slot(m->from->plan, operand, &other) && meet(slot, other)) {
      return operand;
    }
  }
  return STOW_VALUE_NONE;
}

// A concat inside another one's result has its own operands inside it, without lying over any.
// What lies over no operand and in no concat's result is what a value at home was written over, at
// home in the root as well; or what a region takes in or gives out, which is as good as a view.
static cli_view_how how_of(const maker* m, stow_value value, stow_slot slot, uint32_t* out_of) {
  const stow_graph* graph = m->from->graph;
  stow_node node = stow_graph_producer(graph, value);
  uint32_t home = ((const uint32_t*)m->home_of.items)[value];
  stow_value base = base_of(m, value, slot);
  stow_slot under = {0, 0, 0};
  if (stow_graph_op(graph, node) == STOW_OP_CONCAT && base != STOW_VALUE_NONE) {
    (void)stow_plan_value_slot(m->from->plan, base, &under);
    base = home != CLI_VIEW_NONE || under.size < slot.size ? STOW_VALUE_NONE : base;
  }
  if (base == STOW_VALUE_NONE) {
    stow_value root = stow_plan_root(m->from->plan, value);
    *out_of = home != CLI_VIEW_NONE ? home : root;
    bool inside = stow_graph_op(graph, stow_graph_producer(graph, root)) == STOW_OP_CONCAT;
    return home != CLI_VIEW_NONE || inside ? CLI_VIEW_AT_HOME : CLI_VIEW_VIEW;
  }
  stow_view view;
  size_t operand;
  uint64_t offset;
  *out_of = base;
  return stow_graph_op(graph, node) == STOW_OP_LOOP ||
                 stow_graph_view(graph, node, value - stow_graph_first_result(graph, node),
                                 &view) ||
                 stowi_effects_inside(m->from->effects, value, &operand, &offset)
             ? CLI_VIEW_VIEW
             : CLI_VIEW_IN_PLACE;
}

static void add_value(maker* m, stow_value value, stow_slot slot, size_t buffer) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  uint64_t base = cli_view_buffers(m->view)[buffer].offset;
  cli_view_value item = {.id = value,
                         .name = cli_view_intern_name(m->view, stow_graph_value_name(graph, value)),
                         .op = op_text(m, stow_graph_producer(graph, value)),
                         .type = type_text(m, value),
                         .buffer = buffer,
                         .low = slot.offset - base,
                         .size = slot.size,
                         .begin = stow_plan_begin(plan, value),
                         .end = stow_plan_end(plan, value)};
  item.how = how_of(m, value, slot, &item.of);
  cli_view_add(m->view, &m->view->values, &item, sizeof item);
}

static void add_values(maker* m) {
  const stow_plan* plan = m->from->plan;
  find_homes(m);
  for (stow_value value = 0; value < stow_plan_value_count(plan) && !m->view->broken; ++value) {
    stow_value root = stow_plan_root(plan, value);
    size_t buffer = ((const size_t*)m->buffer_of.items)[root];
    stow_slot slot;
    if (root != value && buffer != CLI_VIEW_NOWHERE && stow_plan_value_slot(plan, value, &slot)) {
      add_value(m, value, slot, buffer);
    }
  }
}

// Who reads what; outputs are read at the end. Also marks the buffers that outputs lie in.
static void add_reads(maker* m) {
  const stow_graph* graph = m->from->graph;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
      cli_view_read read = {stow_graph_operands(graph, node)[i], step_of(m, node)};
      if (read.value != STOW_VALUE_NONE) {
        cli_view_add(m->view, &m->view->reads, &read, sizeof read);
      }
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph) && !m->view->broken; ++i) {
    stow_value output = stow_graph_outputs(graph)[i];
    cli_view_read read = {output, stow_plan_step_count(m->from->plan)};
    size_t buffer = ((const size_t*)m->buffer_of.items)[stow_plan_root(m->from->plan, output)];
    cli_view_add(m->view, &m->view->reads, &read, sizeof read);
    if (buffer != CLI_VIEW_NOWHERE) {
      ((cli_view_buffer*)m->view->buffers.items)[buffer].flags |= CLI_VIEW_OUTPUT;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Facts

static bool is_shown_elsewhere(stow_str name) {
  static const char* const others[] = {"stowage_plan", "graph",       "fingerprint", "strategy",
                                       "capacity",     "lower_bound", "peak_step"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    if (stow_str_equal(name, stow_str_of(others[i]))) {
      return true;
    }
  }
  return false;
}

static void add_option(cli_view* view, stow_str line) {
  const char* equals = memchr(line.data, '=', line.size);
  if (line.size < 3 || line.data[0] != '#' || equals == NULL) {
    return;
  }
  stow_str name = {line.data + 2, (size_t)(equals - line.data) - 2};
  stow_str value = {equals + 1, line.size - (size_t)(equals - line.data) - 1};
  if (!is_shown_elsewhere(name)) {
    cli_view_option option = {cli_view_intern(view, name), cli_view_intern(view, value)};
    cli_view_add(view, &view->options, &option, sizeof option);
  }
}

// Keeps the lines before the report, and ends the writing there.
static stow_status keep_header(void* user, const char* data, size_t size) {
  stow_string* header = user;
  stow_status status = stow_string_append(header, data, size);
  if (status == STOW_OK && strstr(header->data, "\n# arena_size=") != NULL) {
    return STOW_ERR_IO;
  }
  return status;
}

// The options as a saved plan has them: whether the plan was read or made, that is what it knows.
static void add_options(maker* m) {
  stow_string header;
  stow_string_init(&header, stow_allocator_default());
  stow_status status =
      stow_plan_write(m->from->plan, (stow_writer){.write = keep_header, .user = &header});
  m->view->broken = m->view->broken || status == STOW_ERR_OUT_OF_MEMORY;
  const char* stop = header.data == NULL ? NULL : strstr(header.data, "\n# arena_size=");
  for (const char* line = header.data; stop != NULL && line <= stop;) {
    const char* end = strchr(line, '\n');
    add_option(m->view, (stow_str){line, (size_t)(end - line)});
    line = end + 1;
  }
  stow_string_free(&header);
}

static void add_facts(maker* m) {
  const stow_plan* plan = m->from->plan;
  cli_view_facts* facts = &m->view->facts;
  stow_search search = stow_plan_search(plan);
  stow_ordering ordering = stow_plan_ordering(plan);
  stow_fit fit = stow_plan_fit(plan);
  facts->arena = stow_plan_arena_size(plan);
  facts->alignment = stow_plan_alignment(plan);
  facts->bound = search.bound;
  facts->any_bound = ordering.any_bound > 0 ? ordering.any_bound : CLI_VIEW_NO_NUMBER;
  facts->given_arena = ordering.changed ? ordering.given_arena : CLI_VIEW_NO_NUMBER;
  facts->capacity = fit.available == STOW_NO_CAPACITY ? CLI_VIEW_NO_NUMBER : fit.available;
  facts->steps = stow_plan_step_count(plan);
  facts->last_step = facts->steps + 1;
  facts->outcome = stow_outcome_text(search.outcome);
  facts->strategy = cli_view_intern(m->view, stow_plan_strategy_name(plan));
  facts->reuse = stow_plan_reuse(plan);
  facts->has_fingerprint = true;
  facts->fingerprint = stow_plan_fingerprint(plan);
}

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

// What 'stowage plan' calls "without sharing": the bytes of all that would be a buffer if nothing
// lay in another's. Views are none.
static void add_unshared(maker* m) {
  const cli_view* view = m->view;
  cli_view_facts* facts = &m->view->facts;
  const cli_view_buffer* buffers = view->buffers.items;
  const cli_view_value* values = view->values.items;
  for (size_t i = 0; i < view->buffers.count; ++i) {
    bool counts = buffers[i].kind != CLI_VIEW_RESERVED;
    facts->unshared = sum_of(facts->unshared, counts ? buffers[i].size : 0);
  }
  for (size_t i = 0; i < view->values.count; ++i) {
    bool counts = values[i].how != CLI_VIEW_VIEW;
    facts->unshared = sum_of(facts->unshared, counts ? values[i].size : 0);
  }
  facts->saved = facts->unshared > facts->arena ? facts->unshared - facts->arena : 0;
}

// Exporters call their graphs all the same, so that a model goes by the name of its file.
static cli_view_text title_of(cli_view* view, const cli_view_plan* from) {
  const char* slash = strrchr(from->label, '/');
  bool is_model = strcmp(from->origin, "model") == 0;
  return cli_view_intern(view, !is_model       ? stow_plan_graph_name(from->plan)
                               : slash != NULL ? stow_str_of(slash + 1)
                                               : stow_str_of(from->label));
}

cli_exit cli_view_from_plan(cli_view* view, const cli_view_plan* from) {
  maker m = {.view = view, .from = from};
  cli_view_init(view);
  stow_string_init(&m.type, stow_allocator_default());
  view->origin = from->origin;
  view->title = title_of(view, from);
  view->source = cli_view_intern(view, stow_str_of(from->label));
  view->broken = !prepare(&m) || view->broken;
  if (!view->broken) {
    add_facts(&m);
    add_options(&m);
    add_steps(&m);
    add_buffers(&m);
  }
  if (!view->broken) {
    add_values(&m);
    add_unshared(&m);
    add_reads(&m);
  }
  cli_list_free(&m.step_of, sizeof(uint32_t));
  cli_list_free(&m.home_of, sizeof(uint32_t));
  cli_list_free(&m.buffer_of, sizeof(size_t));
  stow_string_free(&m.type);
  return cli_view_finish(view, from->label);
}
