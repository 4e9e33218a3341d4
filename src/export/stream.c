// What `stream` nodes are run with, as constants: their functions for some rows, in the variant
// that was planned, and how rows of values lie and are made.

#include <inttypes.h>

#include "base/diag.h"
#include "export/export.h"

const stowi_kernel_stream* stowi_export_stream_of(const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  const stowi_kernel_stream* variants = (const stowi_kernel_stream*)step->kernel.user;
  return step->op == STOW_OP_STREAM ? &variants[program->code.variants[node]] : NULL;
}

stow_status stowi_export_add_stream(stowi_export* program, stow_node node, stow_diag* diag) {
  if (program->tables->steps[node].op != STOW_OP_STREAM) {
    return STOW_OK;
  }
  if (program->range != NULL) {
    return stowi_export_refuse(program, stow_graph_first_result(program->graph, node),
                               STOW_ERR_UNSUPPORTED,
                               "is made by `stream`, which programs of a range do not have", diag);
  }
  return stowi_export_add_body(program, stowi_export_stream_of(program, node)->body, diag);
}

static void print_number(stowi_export_out* out, uint32_t number) {
  if (number == UINT32_MAX) {
    stowi_export_put(out, "UINT32_MAX, ");
  } else {
    stowi_export_put(out, "%" PRIu32 ", ", number);
  }
}

static void print_values(stowi_export_out* out, const stowi_kernel_stream* stream, uint32_t count,
                         stow_node node) {
  stowi_export_put(out, "static const stowi_kernel_stream_value stream_%" PRIu32 "_values[] = {\n",
                   node);
  for (uint32_t i = 0; i < count; ++i) {
    const stowi_kernel_stream_value* v = &stream->values[i];
    stowi_export_put(out, "    {");
    print_number(out, v->maker);
    stowi_export_put(out,
                     "%" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u},\n",
                     v->rows, v->block, v->capacity, v->channels, v->piece);
  }
  stowi_export_put(out, "};\n");
}

static void print_steps(stowi_export_out* out, const stowi_kernel_stream* stream, uint32_t count,
                        stow_node node) {
  stowi_export_put(out, "static const stowi_kernel_stream_step stream_%" PRIu32 "_steps[] = {\n",
                   node);
  for (uint32_t i = 0; i < count; ++i) {
    const stowi_kernel_stream_step* step = &stream->steps[i];
    stowi_export_put(out,
                     "    {%" PRIu64 "u, 0x%" PRIx64 "u, %" PRId64 ", %" PRId64 ", %" PRId64
                     ", %" PRId64 ", ",
                     step->rows, step->whole, step->stride, step->first, step->last, step->divide);
    print_number(out, step->pads);
    stowi_export_put(out,
                     "%" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRId64 ", %" PRIu64 "u, %" PRIu64
                     "u, %" PRIu64 "u, ",
                     step->pad_count, step->top, step->bottom, step->most_below, step->copies_at,
                     step->copy_bytes, step->chunk);
    print_number(out, step->group);
    stowi_export_put(out, "},\n");
  }
  stowi_export_put(out, "};\n");
}

static void print_node(stowi_export_out* out, const stowi_export* program, stow_node node) {
  const stowi_kernel_stream* stream = stowi_export_stream_of(program, node);
  print_values(out, stream, stream->body->value_count, node);
  print_steps(out, stream, stream->body->step_count, node);
  stowi_export_put(out, "static const uint32_t stream_%" PRIu32 "_outputs[] = {", node);
  for (uint32_t i = 0; i < stream->output_count; ++i) {
    print_number(out, stream->outputs[i]);
  }
  stowi_export_put(out,
                   "};\nstatic const stowi_kernel_stream stream_%" PRIu32
                   " = {\n    &body_%zu, stream_%" PRIu32 "_values, stream_%" PRIu32
                   "_steps, stream_%" PRIu32 "_outputs, %" PRIu32 ", %" PRIu32 "};\n\n",
                   node, stowi_export_find_body(program, stream->body), node, node, node,
                   stream->output_count, stream->most_attrs);
}

void stowi_export_print_streams(stowi_export_out* out, const stowi_export* program) {
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    if (stowi_export_stream_of(program, node) != NULL) {
      print_node(out, program, node);
    }
  }
}

bool stowi_export_has_streams(const stowi_export* program) {
  bool has = false;
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    has = has || stowi_export_stream_of(program, node) != NULL;
  }
  return has;
}
