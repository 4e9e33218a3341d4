// A `stream` node is prepared in a graph of its own that has a node for each node of the function,
// which makes one row of what that makes. From that come kernels, attributes and packed weights.
// With how many rows are made at a time (stream_rows.c) and where they lie (stream_places.c) they
// are put into the plain tables that the kernel runs.
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/program/frame.h"
#include "exec/program/words.h"
#include "exec/run/stream_inside.h"

#define ROWS 2
#define COLUMNS 3
#define NONE UINT32_MAX

typedef stowi_exec_stream stream;
typedef stowi_exec_stream_tables tables;
typedef stowi_exec_stream_window window;

struct stowi_exec_streams {
  stow_allocator allocator;
  const stow_graph* graph;
  const stow_kernels* kernels;
  uint32_t threads;
  STOWI_VEC(stream*) nodes;
};

stow_status stowi_exec_streams_create(const stow_graph* graph, const stow_kernels* kernels,
                                      uint32_t threads, stow_allocator allocator, stow_diag* diag,
                                      stowi_exec_streams** out_streams) {
  stowi_exec_streams* streams = STOWI_NEW(allocator, stowi_exec_streams);
  STOW_TRY(stowi_need_memory(streams != NULL, diag));
  streams->allocator = allocator;
  streams->graph = graph;
  streams->kernels = kernels;
  streams->threads = threads;
  *out_streams = streams;
  return STOW_OK;
}

static void destroy_stream(stream* s) {
  stow_allocator allocator = s->allocator;
  stow_prepared_destroy(s->prepared);
  stow_graph_destroy(s->graph);
  STOWI_ARRAY_FREE(allocator, s->step_of, s->node_count);
  STOWI_ARRAY_FREE(allocator, s->nodes, s->step_count);
  STOWI_ARRAY_FREE(allocator, s->row_nodes, s->step_count);
  STOWI_ARRAY_FREE(allocator, s->maps, s->step_count);
  STOWI_ARRAY_FREE(allocator, s->levels, s->step_count);
  stowi_exec_stream_order_free(s);
  STOWI_ARRAY_FREE(allocator, s->reads, s->value_count);
  STOWI_ARRAY_FREE(allocator, s->outputs, stow_graph_output_count(s->function));
  for (size_t i = 0; i < STOWI_KERNEL_STREAM_VARIANTS; ++i) {
    tables* t = &s->tables[i];
    STOWI_ARRAY_FREE(allocator, t->uses, s->value_count);
    STOWI_ARRAY_FREE(allocator, t->home_of, s->value_count);
    STOWI_ARRAY_FREE(allocator, t->values, s->value_count);
    STOWI_ARRAY_FREE(allocator, t->homes, s->value_count);
    STOWI_ARRAY_FREE(allocator, t->steps, s->step_count);
    STOWI_ARRAY_FREE(allocator, t->calls, s->step_count);
  }
  STOWI_DELETE(allocator, s);
}

void stowi_exec_streams_destroy(stowi_exec_streams* streams) {
  if (streams == NULL) {
    return;
  }
  for (size_t i = 0; i < streams->nodes.count; ++i) {
    destroy_stream(streams->nodes.data[i]);
  }
  STOWI_VEC_FREE(streams->allocator, &streams->nodes);
  STOWI_DELETE(streams->allocator, streams);
}

// ---------------------------------------------------------------------------------------------
// The function

static stow_status begin_stream(stream* s, stow_diag* diag) {
  stow_allocator allocator = s->allocator;
  s->value_count = stow_graph_value_count(s->function);
  s->node_count = stow_graph_node_count(s->function);
  for (stow_node node = 0; node < s->node_count; ++node) {
    s->step_count += stow_graph_op(s->function, node) != STOW_OP_INPUT;
  }
  s->step_of = STOWI_ARRAY(allocator, uint32_t, s->node_count);
  s->nodes = STOWI_ARRAY(allocator, stow_node, s->step_count);
  s->row_nodes = STOWI_ARRAY(allocator, stow_node, s->step_count);
  s->maps = STOWI_ARRAY(allocator, stowi_graph_row_map, s->step_count);
  s->levels = STOWI_ARRAY_ZERO(allocator, uint32_t, s->step_count);
  s->reads = STOWI_ARRAY_ZERO(allocator, uint32_t, s->value_count);
  s->outputs = STOWI_ARRAY(allocator, uint32_t, stow_graph_output_count(s->function));
  bool is_there = s->step_of != NULL && s->nodes != NULL && s->row_nodes != NULL &&
                  s->maps != NULL && s->levels != NULL && s->reads != NULL && s->outputs != NULL;
  for (size_t i = 0; i < STOWI_KERNEL_STREAM_VARIANTS; ++i) {
    tables* t = &s->tables[i];
    t->uses = STOWI_ARRAY_ZERO(allocator, stowi_exec_stream_use, s->value_count);
    t->home_of = STOWI_ARRAY(allocator, uint32_t, s->value_count);
    t->values = STOWI_ARRAY_ZERO(allocator, stowi_kernel_stream_value, s->value_count);
    t->homes = STOWI_ARRAY_ZERO(allocator, stowi_kernel_block_value, s->value_count);
    t->steps = STOWI_ARRAY_ZERO(allocator, stowi_kernel_stream_step, s->step_count);
    t->calls = STOWI_ARRAY_ZERO(allocator, stowi_kernel_block_step, s->step_count);
    is_there = is_there && t->uses != NULL && t->home_of != NULL && t->values != NULL &&
               t->homes != NULL && t->steps != NULL && t->calls != NULL;
  }
  return stowi_need_memory(is_there, diag);
}

// What following rows costs at most, and bytes of a value, so that sums cannot overflow.
#define MOST_READS (UINT64_C(1) << 24)
#define MOST_BYTES (UINT64_C(1) << 48)

static stow_status check_sizes(const stream* s, stow_diag* diag) {
  uint64_t reads = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    uint64_t bytes = 0;
    if (stow_type_bytes(stow_graph_type(s->function, value), &bytes) != STOW_OK ||
        bytes > MOST_BYTES) {
      return stowi_fail(diag, STOW_ERR_OVERFLOW, "%s is too large to be streamed",
                        stowi_exec_words_value(s->function, value).text);
    }
  }
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const stowi_graph_row_map* map = &s->maps[step];
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    const stow_type* image = stow_graph_type(s->function, operands[0]);
    uint64_t taps = (uint64_t)((map->last - map->first) / map->divide + 1);
    uint64_t rows = image->rank > ROWS ? (uint64_t)image->dims[ROWS] : 1;
    reads += (uint64_t)stowi_exec_stream_rows(s, step) * (1 + (taps < rows ? taps : rows));
    if (reads > MOST_READS) {
      return stowi_fail(diag, STOW_ERR_LIMIT, "function @%.*s reads more than %llu rows",
                        STOWI_STR_ARG(stow_graph_name(s->function)),
                        (unsigned long long)MOST_READS);
    }
  }
  return STOW_OK;
}

static stow_status map_steps(stream* s, stow_diag* diag) {
  uint32_t count = 0;
  for (stow_node node = 0; node < s->node_count; ++node) {
    bool is_input = stow_graph_op(s->function, node) == STOW_OP_INPUT;
    s->step_of[node] = is_input ? NONE : count;
    if (!is_input) {
      if (!stowi_graph_map_rows(s->function, node, &s->maps[count])) {
        return stowi_fail(diag, STOW_ERR_TYPE, "%s is not computed row by row",
                          stowi_exec_words_node(s->function, node).text);
      }
      s->nodes[count++] = node;
    }
  }
  return check_sizes(s, diag);
}

// ---------------------------------------------------------------------------------------------
// The graph for rows

// Inputs need names.
static stow_status add_input(stream* s, const stow_type* type, stow_diag* diag, stow_value* out) {
  char name[24];
  (void)snprintf(name, sizeof(name), "i%u", (unsigned)stow_graph_value_count(s->graph));
  return stow_graph_input(s->graph, name, type, diag, out);
}

static stow_status add_row_input(stream* s, stow_value value, int64_t rows, stow_diag* diag,
                                 stow_value* out) {
  stow_type type = *stow_graph_type(s->function, value);
  type.dims[ROWS] = rows;
  return add_input(s, &type, diag, out);
}

static void add_attrs(const stream* s, uint32_t step, window w, stow_call* call) {
  stow_node node = s->nodes[step];
  stowi_graph_row_map map = s->maps[step];
  for (size_t i = 0; i < stow_graph_attr_count(s->function, node); ++i) {
    const stow_attr* attr = stow_graph_attr_at(s->function, node, i);
    bool is_pads = stow_str_equal(attr->name, stow_str_of("pads")) ||
                   stow_str_equal(attr->name, stow_str_of("auto_pad"));
    if (map.pad_count == 0 || !is_pads) {
      stow_call_attr(call, attr);
    }
  }
  if (map.pad_count != 0) {
    map.pads[map.top] = w.above;
    map.pads[map.bottom] = w.below;
    stow_call_attr_ints(call, "pads", map.pads, map.pad_count);
  }
}

#define MOST_OPERANDS 64

// |inputs| has the values for inputs of the function.
static stow_status add_row_node(stream* s, uint32_t step, const stow_value* inputs,
                                stow_diag* diag) {
  stow_node node = s->nodes[step];
  const stow_value* operands = stow_graph_operands(s->function, node);
  size_t count = stow_graph_operand_count(s->function, node);
  stow_value mine[MOST_OPERANDS];
  window w = stowi_exec_stream_reads_rows(s, step, 0) ? stowi_exec_stream_most(s, step)
                                                      : (window){.rows = 1};
  for (size_t k = 0; k < count && k < MOST_OPERANDS; ++k) {
    mine[k] = operands[k];
    if (stowi_exec_stream_reads_rows(s, step, k)) {
      STOW_TRY(add_row_input(s, operands[k], k == 0 ? w.rows : 1, diag, &mine[k]));
    } else if (operands[k] != STOW_VALUE_NONE) {
      mine[k] = inputs[operands[k]];
    }
  }
  stow_call* call = stow_graph_begin(s->graph, stow_graph_op(s->function, node));
  for (size_t k = 0; k < count; ++k) {
    stow_call_operand(call, mine[k]);
  }
  add_attrs(s, step, w, call);
  for (size_t k = 0; k < stow_graph_result_count(s->function, node); ++k) {
    stow_value result = stow_graph_first_result(s->function, node) + (stow_value)k;
    stow_type type = *stow_graph_type(s->function, result);
    type.dims[ROWS] = 1;
    stow_call_result_type(call, &type);
  }
  STOW_TRY(stow_call_finish(call, diag, &s->row_nodes[step]));
  return stow_graph_add_output(s->graph, stow_graph_first_result(s->graph, s->row_nodes[step]),
                               diag);
}

// The function's inputs are the first of the graph, so that the same ones are packed.
static stow_status add_nodes(stream* s, stow_value* inputs, stow_diag* diag) {
  for (stow_node node = 0; node < s->node_count; ++node) {
    if (stow_graph_op(s->function, node) == STOW_OP_INPUT) {
      stow_value value = stow_graph_first_result(s->function, node);
      STOW_TRY(add_input(s, stow_graph_type(s->function, value), diag, &inputs[value]));
    }
  }
  for (uint32_t step = 0; step < s->step_count; ++step) {
    STOW_TRY(add_row_node(s, step, inputs, diag));
  }
  return STOW_OK;
}

static stow_status prepare_rows(stream* s, const stow_kernels* kernels, stow_diag* diag) {
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  options.kernels = kernels;
  options.threads = s->threads;
  options.fastest = true;
  options.pack = STOW_PACK_ALWAYS;
  STOW_TRY(stow_graph_create(stow_graph_name(s->function), stow_graph_ops(s->function),
                             s->allocator, diag, &s->graph));
  stow_value* inputs = STOWI_ARRAY(s->allocator, stow_value, s->value_count);
  STOW_TRY(stowi_need_memory(inputs != NULL, diag));
  stow_status status = add_nodes(s, inputs, diag);
  STOWI_ARRAY_FREE(s->allocator, inputs, s->value_count);
  STOW_TRY(status);
  return stowi_exec_prepare_function(s->graph, &options, s->packed, s->allocator, diag,
                                     &s->prepared);
}

// ---------------------------------------------------------------------------------------------
// Values and steps

// |block| rows lie together; 0: all.
static void lay_value(const stream* s, tables* t, stow_value value, int64_t block) {
  const stow_type* type = stow_graph_type(s->function, value);
  t->values[value] = (stowi_kernel_stream_value){
      .maker = s->step_of[stow_graph_producer(s->function, value)],
      .rows = (uint64_t)type->dims[ROWS],
      .block = (uint64_t)(block == 0 ? type->dims[ROWS] : block),
      .capacity = block == 0 ? 1 : 0,
      .channels = (uint64_t)type->dims[1],
      .piece = (uint64_t)type->dims[COLUMNS] * (stow_dtype_bits(type->dtype) / 8)};
  t->homes[value].tensor = stowi_exec_tensor_of(type);
  t->homes[value].tensor.dims[ROWS] = 1;
}

static void list_values(stream* s, uint32_t variant) {
  tables* t = &s->tables[variant];
  uint32_t inputs = 0;
  for (stow_value value = 0; value < s->value_count; ++value) {
    uint32_t maker = s->step_of[stow_graph_producer(s->function, value)];
    t->home_of[value] = value;
    t->homes[value] = (stowi_kernel_block_value){.home = STOWI_KERNEL_BLOCK_SCRATCH};
    if (maker == NONE) {
      t->values[value].maker = NONE;
      t->homes[value].tensor = stowi_exec_tensor_of(stow_graph_type(s->function, value));
      t->homes[value].home = STOWI_KERNEL_BLOCK_OPERAND;
      t->homes[value].index = inputs++;
      if (s->reads[value] != 0) {
        lay_value(s, t, value, 0);
      }
    } else {
      lay_value(s, t, value, stowi_exec_stream_block(s, maker, s->levels[maker]));
    }
  }
  for (uint32_t k = 0; k < stow_graph_output_count(s->function); ++k) {
    const stowi_kernel_stream_value* v = &t->values[s->outputs[k]];
    t->homes[s->outputs[k]].home =
        v->block == v->rows ? STOWI_KERNEL_BLOCK_RESULT : STOWI_KERNEL_BLOCK_SCATTER;
    t->homes[s->outputs[k]].index = k;
  }
}

// Operands that are read by rows.
static void list_reads(stream* s) {
  for (uint32_t step = 0; step < s->step_count; ++step) {
    const stow_value* operands = stow_graph_operands(s->function, s->nodes[step]);
    for (size_t k = 0; k < stow_graph_operand_count(s->function, s->nodes[step]); ++k) {
      if (stowi_exec_stream_reads_rows(s, step, k)) {
        ++s->reads[operands[k]];
      }
    }
  }
}

static uint32_t find_attr(const stowi_exec_step* step, const char* name) {
  for (uint32_t i = 0; i < step->attr_count; ++i) {
    if (stow_str_equal(step->attrs[i].name, stow_str_of(name))) {
      return i;
    }
  }
  return NONE;
}

static void list_step(const stream* s, tables* t, uint32_t index) {
  const stowi_graph_row_map* map = &s->maps[index];
  const stowi_exec_step* step = &s->prepared->program.steps[s->row_nodes[index]];
  stow_node node = s->nodes[index];
  t->steps[index] =
      (stowi_kernel_stream_step){.rows = (uint64_t)stowi_exec_stream_rows(s, index),
                                 .whole = map->whole,
                                 .stride = map->stride,
                                 .first = map->first,
                                 .last = map->last,
                                 .divide = map->divide,
                                 .pads = map->pad_count == 0 ? NONE : find_attr(step, "pads"),
                                 .pad_count = map->pad_count,
                                 .top = map->top,
                                 .bottom = map->bottom,
                                 .most_below = map->pad_count == 0 ? 0 : map->pads[map->bottom],
                                 .group = find_attr(step, "group")};
  t->calls[index] =
      (stowi_kernel_block_step){.kernel = &step->kernel,
                                .operands = stow_graph_operands(s->function, node),
                                .attrs = step->attrs,
                                .attr_ids = step->attr_ids,
                                .op = step->op,
                                .operand_count = (uint32_t)step->operand_count,
                                .first_result = stow_graph_first_result(s->function, node),
                                .result_count = (uint32_t)step->result_count,
                                .attr_count = (uint32_t)step->attr_count,
                                .packed = step->packed};
}

static void list_body(stream* s, uint32_t variant) {
  tables* t = &s->tables[variant];
  uint32_t most_attrs = 0;
  for (uint32_t step = 0; step < s->step_count; ++step) {
    list_step(s, t, step);
    most_attrs = t->calls[step].attr_count > most_attrs ? t->calls[step].attr_count : most_attrs;
  }
  t->body = (stowi_kernel_block_body){.rows = 1,
                                      .values = t->homes,
                                      .steps = t->calls,
                                      .value_count = s->value_count,
                                      .step_count = s->step_count,
                                      .most_operands = (uint32_t)s->prepared->program.most_operands,
                                      .most_results = (uint32_t)s->prepared->program.most_results};
  s->data[variant] =
      (stowi_kernel_stream){.body = &t->body,
                            .values = t->values,
                            .steps = t->steps,
                            .outputs = s->outputs,
                            .output_count = (uint32_t)stow_graph_output_count(s->function),
                            .most_attrs = most_attrs};
}

void stowi_exec_stream_list(stowi_exec_stream* s, uint32_t variant) {
  list_values(s, variant);
  list_body(s, variant);
}

// ---------------------------------------------------------------------------------------------
// Nodes

static stow_status make_stream(stream* s, const stow_kernels* kernels, stow_diag* diag) {
  STOW_TRY(begin_stream(s, diag));
  STOW_TRY(map_steps(s, diag));
  STOW_TRY(prepare_rows(s, kernels, diag));
  list_reads(s);
  for (uint32_t k = 0; k < stow_graph_output_count(s->function); ++k) {
    s->outputs[k] = stow_graph_outputs(s->function)[k];
  }
  STOW_TRY(stowi_exec_stream_order_init(s, diag));
  STOW_TRY(stowi_exec_stream_choose(s, diag));
  stowi_exec_stream_order_free(s);
  for (uint32_t variant = 0; variant < STOWI_KERNEL_STREAM_VARIANTS; ++variant) {
    if (variant == 0 || s->data[variant].body != s->data[variant - 1].body) {
      STOW_TRY(stowi_exec_stream_check(s->function, &s->data[variant], s->allocator, diag));
    }
  }
  return STOW_OK;
}

stow_status stowi_exec_streams_of(stowi_exec_streams* streams, stow_node node, uint64_t packed,
                                  stow_diag* diag, const stowi_kernel_stream** out_data) {
  stow_allocator allocator = streams->allocator;
  size_t at = 0;
  while (at < streams->nodes.count && streams->nodes.data[at]->node != node) {
    ++at;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(allocator, &streams->nodes, 1) == STOW_OK, diag));
  stream* s = STOWI_NEW(allocator, stream);
  STOW_TRY(stowi_need_memory(s != NULL, diag));
  s->allocator = allocator;
  s->node = node;
  s->packed = packed;
  s->threads = streams->threads;
  s->rows = stow_graph_attr(streams->graph, node, "rows")->i;
  s->function = stowi_graph_find_function(streams->graph,
                                          stow_graph_attr(streams->graph, node, "function")->s);
  stow_status status = make_stream(s, streams->kernels, diag);
  if (status != STOW_OK) {
    destroy_stream(s);
    return status;
  }
  if (at < streams->nodes.count) {
    destroy_stream(streams->nodes.data[at]);
  } else {
    ++streams->nodes.count;
  }
  streams->nodes.data[at] = s;
  *out_data = s->data;
  return STOW_OK;
}

// Of tables of which a variant is: it may have those of the one before.
static const tables* tables_of(const stream* s, uint32_t variant) {
  while (variant > 0 && s->data[variant].values != s->tables[variant].values) {
    --variant;
  }
  return &s->tables[variant];
}

bool stowi_exec_streams_ring(const stowi_exec_streams* streams, stow_node node, uint32_t variant,
                             size_t index, stow_ring* out_ring) {
  size_t at = 0;
  while (at < streams->nodes.count && streams->nodes.data[at]->node != node) {
    ++at;
  }
  if (at == streams->nodes.count || variant >= STOWI_KERNEL_STREAM_VARIANTS) {
    return false;
  }
  const stream* s = streams->nodes.data[at];
  const tables* t = tables_of(s, variant);
  for (stow_value value = 0; value < s->value_count; ++value) {
    const stowi_kernel_stream_value* v = &t->values[value];
    if (t->uses[value].end == 0 || index-- != 0) {
      continue;
    }
    uint64_t rows = v->capacity * v->block < v->rows ? v->capacity * v->block : v->rows;
    stow_ring ring = {.struct_size = sizeof(ring),
                      .function = s->function,
                      .value = value,
                      .rows = rows,
                      .offset = t->homes[value].at,
                      .size = rows * v->channels * v->piece,
                      .begin = t->uses[value].begin,
                      .end = t->uses[value].end};
    return stowi_fill_struct(out_ring, &ring, sizeof(ring), "stow_ring", NULL) == STOW_OK;
  }
  return false;
}
