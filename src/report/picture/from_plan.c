// Pictures of plans. Everything is asked of the graph and the plan; only how a value came to lie in
// another's bytes is worked out here, because saved plans do not tell. O(nodes + values +
// operands).
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "effects/api.h"
#include "plan/api.h"
#include "report/picture/picture.h"

typedef struct maker {
  stow_picture* picture;
  const stow_picture_plan* from;
  uint32_t* step_of;            // the step of each node
  size_t* buffer_of;            // the buffer of each root; STOWI_REPORT_PICTURE_NOWHERE
  uint32_t* whole_of;           // the concat's result inside which each value is made
  stow_string type;             // scratch
  const stow_graph* symbolic;   // NULL: none
  stowi_report_strings shapes;  // types with symbols,
  STOWI_VEC(stowi_report_picture_text) texts;  // and what each is here
} maker;

static uint32_t step_of(const maker* m, stow_node node) { return m->step_of[node]; }

static bool prepare(maker* m) {
  const stow_plan* plan = m->from->plan;
  stow_allocator allocator = m->picture->allocator;
  uint32_t values = stow_graph_value_count(m->from->graph);
  uint32_t nodes = stow_graph_node_count(m->from->graph);
  m->step_of = STOWI_ARRAY(allocator, uint32_t, nodes);
  m->whole_of = STOWI_ARRAY(allocator, uint32_t, values);
  m->buffer_of = STOWI_ARRAY(allocator, size_t, values);
  if (m->step_of == NULL || m->whole_of == NULL || m->buffer_of == NULL) {
    return false;
  }
  for (uint32_t i = 0; i < nodes; ++i) {
    m->step_of[i] = STOWI_REPORT_PICTURE_NONE;
  }
  for (uint32_t i = 0; i < values; ++i) {
    m->whole_of[i] = STOWI_REPORT_PICTURE_NONE;
    m->buffer_of[i] = STOWI_REPORT_PICTURE_NOWHERE;
  }
  for (uint32_t step = 0; step < stow_plan_step_count(plan); ++step) {
    m->step_of[stow_plan_order(plan)[step]] = step;
  }
  return true;
}

static stowi_report_picture_text op_text(const maker* m, stow_node node) {
  return stowi_report_picture_intern(m->picture,
                                     stow_str_of(stow_graph_op_name(m->from->graph, node)));
}

static stow_str print_type(maker* m, const stow_graph* graph, stow_value value) {
  m->type.size = 0;
  if (stow_type_print(stow_graph_dims(graph), stow_graph_type(graph, value),
                      stow_string_writer(&m->type)) != STOW_OK) {
    m->picture->broken = true;
  }
  return (stow_str){m->type.data, m->type.size};
}

static stowi_report_picture_text type_text(maker* m, stow_value value) {
  if (m->symbolic == NULL) {
    return stowi_report_picture_intern_name(m->picture, print_type(m, m->from->graph, value));
  }
  uint32_t shape = stowi_report_strings_intern(&m->shapes, print_type(m, m->symbolic, value));
  if (shape == m->texts.count) {
    stow_str text = print_type(m, m->from->graph, value);
    stowi_report_picture_text added = stowi_report_strings_add(&m->picture->strings, text);
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->texts, added);
  }
  m->picture->broken = m->picture->broken || m->shapes.broken || m->picture->strings.broken;
  return m->picture->broken ? STOWI_REPORT_PICTURE_NONE : m->texts.data[shape];
}

static stowi_report_picture_text node_label(const maker* m, stow_node node) {
  const stow_graph* graph = m->from->graph;
  return stow_graph_result_count(graph, node) == 0
             ? STOWI_REPORT_PICTURE_NONE
             : stowi_report_picture_intern_name(
                   m->picture, stow_graph_value_name(graph, stow_graph_first_result(graph, node)));
}

static bool is_boundary(const maker* m, stow_node node) {
  return stow_graph_result_count(m->from->graph, node) > 0 &&
         stow_graph_is_boundary(m->from->graph, stow_graph_first_result(m->from->graph, node));
}

static void add_steps(maker* m) {
  bool busy = false;
  for (uint32_t i = 0; i < stow_plan_step_count(m->from->plan); ++i) {
    stow_node node = stow_plan_order(m->from->plan)[i];
    stowi_report_picture_step step = {op_text(m, node), node_label(m, node), node};
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->steps, step);
    if (!busy && !is_boundary(m, node)) {
      busy = true;
      m->picture->facts.busy_step = i;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Buffers

static stowi_report_picture_kind kind_of(const maker* m, stow_value value) {
  stow_op op = stow_graph_op(m->from->graph, stow_graph_producer(m->from->graph, value));
  if (stowi_effects_state(m->from->effects, value)) {
    return STOWI_REPORT_PICTURE_STATE;
  }
  return op == STOW_OP_INPUT      ? STOWI_REPORT_PICTURE_INPUT
         : op == STOW_OP_PARAM    ? STOWI_REPORT_PICTURE_PARAM
         : op == STOW_OP_CONSTANT ? STOWI_REPORT_PICTURE_CONSTANT
                                  : STOWI_REPORT_PICTURE_ACTIVATION;
}

static void add_root(maker* m, stow_value root, stow_slot slot) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  stow_node node = stow_graph_producer(graph, root);
  stowi_report_picture_kind kind = kind_of(m, root);
  bool fixed = stowi_effects_offset(m->from->effects, root) != STOW_OFFSET_NONE ||
               (kind == STOWI_REPORT_PICTURE_PARAM && m->from->has_shared_params);
  stowi_report_picture_buffer buffer = {
      .id = root,
      .key = root,
      .name = stowi_report_picture_intern_name(m->picture, stow_graph_value_name(graph, root)),
      .op = op_text(m, node),
      .type = type_text(m, root),
      .kind = kind,
      .flags = (fixed ? STOWI_REPORT_PICTURE_FIXED : 0u) |
               (kind == STOWI_REPORT_PICTURE_STATE ? STOWI_REPORT_PICTURE_STATE_FLAG : 0u),
      .offset = slot.offset,
      .size = slot.size,
      .guard = stowi_plan_guard(plan, root),
      .begin = stowi_plan_begin(plan, root),
      .end = stowi_plan_end(plan, root),
      .made = step_of(m, node),
      .alignment = stowi_plan_value_alignment(plan, root)};
  buffer.first_window = m->picture->windows.count;
  buffer.window_count = stow_plan_window_count(m->from->plan, root);
  buffer.flags |= buffer.window_count > 0 ? STOWI_REPORT_PICTURE_WINDOWS : 0;
  for (size_t i = 0; i < buffer.window_count; ++i) {
    stow_window window = stow_plan_window_at(m->from->plan, root, i);
    stowi_report_picture_window item = {m->picture->buffers.count, window.begin, window.end,
                                        window.low, window.high};
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->windows, item);
  }
  m->buffer_of[root] = m->picture->buffers.count;
  STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->buffers, buffer);
}

static void add_rings(maker* m, stow_node node, uint64_t bytes) {
  stow_ring ring = {.struct_size = sizeof(ring)};
  for (size_t i = 0;
       m->from->ring != NULL && m->from->ring(m->from->ring_user, node, bytes, i, &ring); ++i) {
    stow_node node_of = stow_graph_producer(ring.function, ring.value);
    stow_str name = stow_graph_value_name(ring.function, ring.value);
    stowi_report_picture_ring item = {
        .buffer = m->picture->buffers.count,
        .name = name.size == 0 ? STOWI_REPORT_PICTURE_NONE
                               : stowi_report_picture_intern(m->picture, name),
        .op = stowi_report_picture_intern(m->picture,
                                          stow_str_of(stow_graph_op_name(ring.function, node_of))),
        .type = stowi_report_picture_intern(m->picture, print_type(m, ring.function, ring.value)),
        .rows = ring.rows,
        .low = ring.offset,
        .size = ring.size,
        .begin = ring.begin,
        .end = ring.end};
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->rings, item);
  }
}

// As large as it must be: what it has beyond that says nothing about the plan.
static void add_scratch(maker* m) {
  for (size_t i = 0; i < stow_plan_scratch_count(m->from->plan); ++i) {
    stow_node node;
    stow_slot slot;
    uint64_t alignment;
    stow_plan_scratch_slot(m->from->plan, i, &node, &slot, &alignment);
    if (stow_plan_scratch_need(m->from->plan, i) == 0) {
      continue;
    }
    uint64_t step = step_of(m, node);
    stowi_report_picture_buffer buffer = {.id = STOWI_REPORT_PICTURE_NONE,
                                          .key = node,
                                          .name = node_label(m, node),
                                          .op = op_text(m, node),
                                          .type = STOWI_REPORT_PICTURE_NONE,
                                          .kind = STOWI_REPORT_PICTURE_SCRATCH,
                                          .offset = slot.offset,
                                          .size = stow_plan_scratch_need(m->from->plan, i),
                                          .begin = step,
                                          .end = step + 1,
                                          .made = step,
                                          .alignment = alignment};
    buffer.first_window = m->picture->windows.count;
    add_rings(m, node, buffer.size);
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->buffers, buffer);
  }
}

static void add_reserved(maker* m) {
  for (size_t i = 0; i < stow_plan_reserved_count(m->from->plan); ++i) {
    stow_slot slot = stow_plan_reserved_slot(m->from->plan, i);
    stowi_report_picture_buffer buffer = {.id = STOWI_REPORT_PICTURE_NONE,
                                          .key = (uint32_t)i,
                                          .name = STOWI_REPORT_PICTURE_NONE,
                                          .op = STOWI_REPORT_PICTURE_NONE,
                                          .type = STOWI_REPORT_PICTURE_NONE,
                                          .kind = STOWI_REPORT_PICTURE_RESERVED,
                                          .flags = STOWI_REPORT_PICTURE_FIXED,
                                          .offset = slot.offset,
                                          .size = slot.size,
                                          .end = m->picture->facts.last_step,
                                          .alignment = 1};
    buffer.first_window = m->picture->windows.count;
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->buffers, buffer);
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
static void find_elisions(maker* m) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  uint32_t* whole_of = m->whole_of;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    if (stow_graph_op(graph, node) != STOW_OP_CONCAT) {
      continue;
    }
    stow_value result = stow_graph_first_result(graph, node);
    for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
      stow_value operand = stow_graph_operands(graph, node)[i];
      if (operand != STOW_VALUE_NONE &&
          stow_plan_root(plan, operand) == stow_plan_root(plan, result)) {
        whole_of[operand] = result;
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
// What lies over no operand and in no concat's result is what an elided operand was written over,
// inside the root as well; or what a region takes in or gives out, which is as good as a view.
static stowi_report_picture_how how_of(const maker* m, stow_value value, stow_slot slot,
                                       uint32_t* out_of) {
  const stow_graph* graph = m->from->graph;
  stow_node node = stow_graph_producer(graph, value);
  uint32_t whole = m->whole_of[value];
  stow_value base = base_of(m, value, slot);
  stow_slot under = {0, 0, 0};
  if (stow_graph_op(graph, node) == STOW_OP_CONCAT && base != STOW_VALUE_NONE) {
    (void)stow_plan_value_slot(m->from->plan, base, &under);
    base = whole != STOWI_REPORT_PICTURE_NONE || under.size < slot.size ? STOW_VALUE_NONE : base;
  }
  if (base == STOW_VALUE_NONE) {
    stow_value root = stow_plan_root(m->from->plan, value);
    *out_of = whole != STOWI_REPORT_PICTURE_NONE ? whole : root;
    bool inside = stow_graph_op(graph, stow_graph_producer(graph, root)) == STOW_OP_CONCAT;
    return whole != STOWI_REPORT_PICTURE_NONE || inside ? STOWI_REPORT_PICTURE_ELIDED
                                                        : STOWI_REPORT_PICTURE_VIEW;
  }
  stow_view view;
  size_t operand;
  uint64_t offset;
  *out_of = base;
  return stow_graph_op(graph, node) == STOW_OP_LOOP ||
                 stow_graph_view(graph, node, value - stow_graph_first_result(graph, node),
                                 &view) ||
                 stowi_effects_inside(m->from->effects, value, &operand, &offset)
             ? STOWI_REPORT_PICTURE_VIEW
             : STOWI_REPORT_PICTURE_IN_PLACE;
}

static void add_value(maker* m, stow_value value, stow_slot slot, size_t buffer) {
  const stow_graph* graph = m->from->graph;
  const stow_plan* plan = m->from->plan;
  uint64_t base = m->picture->buffers.data[buffer].offset;
  stowi_report_picture_value item = {
      .id = value,
      .name = stowi_report_picture_intern_name(m->picture, stow_graph_value_name(graph, value)),
      .op = op_text(m, stow_graph_producer(graph, value)),
      .type = type_text(m, value),
      .buffer = buffer,
      .low = slot.offset - base,
      .size = slot.size,
      .begin = stowi_plan_begin(plan, value),
      .end = stowi_plan_end(plan, value)};
  item.how = how_of(m, value, slot, &item.of);
  STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->values, item);
}

static void add_values(maker* m) {
  const stow_plan* plan = m->from->plan;
  find_elisions(m);
  for (stow_value value = 0; value < stow_plan_value_count(plan) && !m->picture->broken; ++value) {
    stow_value root = stow_plan_root(plan, value);
    size_t buffer = m->buffer_of[root];
    stow_slot slot;
    if (root != value && buffer != STOWI_REPORT_PICTURE_NOWHERE &&
        stow_plan_value_slot(plan, value, &slot)) {
      add_value(m, value, slot, buffer);
    }
  }
}

// Who reads what; outputs are read at the end. Also marks the buffers that outputs lie in.
static void add_reads(maker* m) {
  const stow_graph* graph = m->from->graph;
  for (stow_node node = 0; node < stow_graph_node_count(graph); ++node) {
    for (size_t i = 0; i < stow_graph_operand_count(graph, node); ++i) {
      stowi_report_picture_read read = {stow_graph_operands(graph, node)[i], step_of(m, node)};
      if (read.value != STOW_VALUE_NONE) {
        STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->reads, read);
      }
    }
  }
  for (size_t i = 0; i < stow_graph_output_count(graph) && !m->picture->broken; ++i) {
    stow_value output = stow_graph_outputs(graph)[i];
    stowi_report_picture_read read = {output, stow_plan_step_count(m->from->plan)};
    size_t buffer = m->buffer_of[stow_plan_root(m->from->plan, output)];
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->reads, read);
    if (buffer != STOWI_REPORT_PICTURE_NOWHERE) {
      m->picture->buffers.data[buffer].flags |= STOWI_REPORT_PICTURE_OUTPUT;
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

static void add_option(stow_picture* picture, stow_str line) {
  const char* equals = memchr(line.data, '=', line.size);
  if (line.size < 3 || line.data[0] != '#' || equals == NULL) {
    return;
  }
  stow_str name = {line.data + 2, (size_t)(equals - line.data) - 2};
  stow_str value = {equals + 1, line.size - (size_t)(equals - line.data) - 1};
  if (!is_shown_elsewhere(name)) {
    stowi_report_picture_option option = {stowi_report_picture_intern(picture, name),
                                          stowi_report_picture_intern(picture, value)};
    STOWI_REPORT_PICTURE_ADD(picture, &picture->options, option);
  }
}

// Keeps the lines before the report, and ends the writing there.
static stow_status keep_header(void* user, const char* data, size_t size) {
  stow_string* header = user;
  STOW_TRY(stow_string_append(header, data, size));
  if (strstr(header->data, "\n# arena_size=") != NULL) {
    return STOW_ERR_IO;
  }
  return STOW_OK;
}

// The options as a saved plan has them: whether the plan was read or made, that is what it knows.
static void add_options(maker* m) {
  stow_string header;
  stow_string_init(&header, m->picture->allocator);
  stow_status status =
      stowi_plan_write_saved(m->from->plan, (stow_writer){.write = keep_header, .user = &header});
  m->picture->broken = m->picture->broken || status == STOW_ERR_OUT_OF_MEMORY;
  const char* stop = header.data == NULL ? NULL : strstr(header.data, "\n# arena_size=");
  for (const char* line = header.data; stop != NULL && line <= stop;) {
    const char* end = strchr(line, '\n');
    add_option(m->picture, (stow_str){line, (size_t)(end - line)});
    line = end + 1;
  }
  stow_string_free(&header);
}

static void add_facts(maker* m) {
  const stow_plan* plan = m->from->plan;
  stowi_report_picture_facts* facts = &m->picture->facts;
  stow_search search = {.struct_size = sizeof search};
  stow_ordering ordering = {.struct_size = sizeof ordering};
  stow_fit fit = {.struct_size = sizeof fit};
  (void)stow_plan_describe_search(plan, &search);
  (void)stow_plan_describe_ordering(plan, &ordering);
  (void)stow_plan_describe_fit(plan, &fit);
  facts->arena = stow_plan_arena_size(plan);
  facts->alignment = stowi_plan_alignment(plan);
  facts->bound = search.bound;
  facts->any_bound = ordering.any_bound > 0 ? ordering.any_bound : STOWI_REPORT_PICTURE_NO_NUMBER;
  facts->given_arena = ordering.changed ? ordering.given_arena : STOWI_REPORT_PICTURE_NO_NUMBER;
  facts->capacity =
      fit.available == STOW_NO_CAPACITY ? STOWI_REPORT_PICTURE_NO_NUMBER : fit.available;
  facts->steps = stow_plan_step_count(plan);
  facts->last_step = facts->steps + 1;
  facts->outcome = stow_outcome_text(search.outcome);
  facts->strategy = stowi_report_picture_intern(m->picture, stowi_plan_strategy_name(plan));
  facts->reuse = stowi_plan_reuse(plan);
  facts->has_fingerprint = true;
  facts->fingerprint = stowi_plan_fingerprint(plan);
}

static void add_hints(maker* m) {
  for (size_t i = 0; i < stow_plan_hint_count(m->from->plan); ++i) {
    stow_hint hint = {.struct_size = sizeof hint};
    (void)stow_plan_describe_hint(m->from->plan, i, &hint);
    stowi_report_picture_hint item = {stowi_report_picture_intern(m->picture, hint.change),
                                      hint.arena_size};
    STOWI_REPORT_PICTURE_ADD(m->picture, &m->picture->hints, item);
  }
}

static uint64_t sum_of(uint64_t a, uint64_t b) { return a > UINT64_MAX - b ? UINT64_MAX : a + b; }

// What 'stowage plan' calls "without sharing": the bytes of all that would be a buffer if nothing
// lay in another's. Views are none.
static void add_unshared(maker* m) {
  const stow_picture* picture = m->picture;
  stowi_report_picture_facts* facts = &m->picture->facts;
  const stowi_report_picture_buffer* buffers = picture->buffers.data;
  const stowi_report_picture_value* values = picture->values.data;
  for (size_t i = 0; i < picture->buffers.count; ++i) {
    bool counts = buffers[i].kind != STOWI_REPORT_PICTURE_RESERVED;
    facts->unshared = sum_of(facts->unshared, counts ? buffers[i].size : 0);
  }
  for (size_t i = 0; i < picture->values.count; ++i) {
    bool counts = values[i].how != STOWI_REPORT_PICTURE_VIEW;
    facts->unshared = sum_of(facts->unshared, counts ? values[i].size : 0);
  }
  facts->saved = facts->unshared > facts->arena ? facts->unshared - facts->arena : 0;
}

stow_status stowi_report_picture_take_plan(stow_picture* picture, const stow_picture_plan* from,
                                           const stow_graph* symbolic, stow_diag* diag) {
  maker m = {.picture = picture, .from = from, .symbolic = symbolic};
  stow_allocator allocator = picture->allocator;
  stow_string_init(&m.type, allocator);
  stowi_report_strings_init(&m.shapes, allocator);
  picture->origin = from->is_model ? "model" : "graph";
  picture->title = stowi_report_picture_intern(
      picture, from->title == NULL ? stowi_plan_graph_name(from->plan) : stow_str_of(from->title));
  picture->source = stowi_report_picture_intern(picture, stow_str_of(from->source));
  picture->broken = !prepare(&m) || picture->broken;
  if (!picture->broken) {
    add_facts(&m);
    add_options(&m);
    add_hints(&m);
    add_steps(&m);
    add_buffers(&m);
  }
  if (!picture->broken) {
    add_values(&m);
    add_unshared(&m);
    add_reads(&m);
  }
  STOWI_ARRAY_FREE(allocator, m.step_of, stow_graph_node_count(from->graph));
  STOWI_ARRAY_FREE(allocator, m.whole_of, stow_graph_value_count(from->graph));
  STOWI_ARRAY_FREE(allocator, m.buffer_of, stow_graph_value_count(from->graph));
  STOWI_VEC_FREE(allocator, &m.texts);
  stowi_report_strings_free(&m.shapes);
  stow_string_free(&m.type);
  return stowi_report_picture_finish(picture, diag);
}

static stow_status make(stow_picture* picture, const void* options, stow_diag* diag) {
  return stowi_report_picture_take_plan(picture, options, NULL, diag);
}

void stow_picture_plan_defaults(stow_picture_plan* from) {
  static const stow_picture_plan defaults = {.source = ""};
  stowi_init_struct(from, &defaults, sizeof defaults);
}

stow_status stow_picture_from_plan(const stow_picture_plan* from, stow_allocator allocator,
                                   stow_diag* diag, stow_picture** out_picture) {
  stow_picture_plan full;
  *out_picture = NULL;
  stow_picture_plan_init(&full);
  STOW_TRY(stowi_load_struct(&full, from, sizeof full, "stow_picture_plan", diag));
  if (full.graph == NULL || full.plan == NULL || full.effects == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "graph, plan or effects is NULL");
  }
  return stowi_report_picture_create(make, &full, allocator, diag, out_picture);
}
