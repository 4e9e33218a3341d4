// What `blocks` nodes are run with, as constants: their functions for the size of blocks that was
// planned, and how operands and results are cut. Nodes with the same function and size share it.
#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "export/export.h"

const stowi_kernel_blocks* stowi_export_blocks_of(const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  return step->op == STOW_OP_BLOCKS ? (const stowi_kernel_blocks*)step->kernel.user : NULL;
}

static const stowi_kernel_block_size* size_of(const stowi_export* program, stow_node node) {
  return &stowi_export_blocks_of(program, node)->sizes[program->code.variants[node]];
}

// ---------------------------------------------------------------------------------------------
// Bodies

// The number of |body| in the program; their count if it is not there.
size_t stowi_export_find_body(const stowi_export* program, const stowi_kernel_block_body* body) {
  size_t i = 0;
  while (i < program->bodies.count && program->bodies.data[i] != body) {
    ++i;
  }
  return i;
}

stow_status stowi_export_add_body(stowi_export* program, const stowi_kernel_block_body* body,
                                  stow_diag* diag) {
  if (body == NULL || stowi_export_find_body(program, body) < program->bodies.count) {
    return STOW_OK;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(program->allocator, &program->bodies, 1) == STOW_OK,
                             diag));
  program->bodies.data[program->bodies.count++] = body;
  for (uint32_t i = 0; i < body->step_count; ++i) {
    STOW_TRY(stowi_export_add_kernel(program, body->steps[i].op, diag));
  }
  return STOW_OK;
}

stow_status stowi_export_add_blocks(stowi_export* program, stow_node node, stow_diag* diag) {
  if (stowi_export_blocks_of(program, node) == NULL || program->range != NULL) {
    return STOW_OK;  // bodies of a range are added when all are known
  }
  STOW_TRY(stowi_export_add_body(program, size_of(program, node)->body, diag));
  return stowi_export_add_body(program, size_of(program, node)->tail, diag);
}

static void print_values(stowi_export_out* out, size_t number,
                         const stowi_kernel_block_body* body) {
  static const char* const homes[] = {"SCRATCH", "OPERAND", "RESULT", "GATHER", "SCATTER"};
  stowi_export_put(out, "static const stowi_kernel_block_value body_%zu_values[] = {\n", number);
  for (uint32_t i = 0; i < body->value_count; ++i) {
    const stowi_kernel_block_value* value = &body->values[i];
    stowi_export_put(out, "    {{NULL, ");
    stowi_export_put_dims(out, value->tensor.dtype, value->tensor.rank, value->tensor.dims, NULL);
    stowi_export_put(out, "}, STOWI_KERNEL_BLOCK_%s, %" PRIu32 ", %" PRIu64 "},\n",
                     homes[value->home], value->index, value->at);
  }
  stowi_export_put(out, "};\n");
}

static void print_operands(stowi_export_out* out, size_t number,
                           const stowi_kernel_block_body* body) {
  stowi_export_put(out, "static const uint32_t body_%zu_operands[] = {", number);
  for (uint32_t i = 0; i < body->step_count; ++i) {
    for (uint32_t k = 0; k < body->steps[i].operand_count; ++k) {
      uint32_t value = body->steps[i].operands[k];
      if (value == UINT32_MAX) {
        stowi_export_put(out, "UINT32_MAX, ");
      } else {
        stowi_export_put(out, "%" PRIu32 ", ", value);
      }
    }
  }
  stowi_export_put(out, "};\n");
}

#define ID_SIZE 48

// What attributes of a step are named by.
static void name_step(size_t body, uint32_t step, char out[ID_SIZE]) {
  (void)snprintf(out, ID_SIZE, "b%zu_%" PRIu32, body, step);
}

static void print_steps(stowi_export_out* out, size_t number, const stowi_kernel_block_body* body) {
  char id[ID_SIZE];
  uint32_t first = 0;
  stowi_export_put(out, "static const stowi_kernel_block_step body_%zu_steps[] = {\n", number);
  for (uint32_t i = 0; i < body->step_count; ++i) {
    const stowi_kernel_block_step* step = &body->steps[i];
    const char* op = stowi_export_op(step->op);
    name_step(number, i, id);
    stowi_export_put(out, "    {&stowi_kernel_%s, body_%zu_operands + %" PRIu32 ", ", op, number,
                     first);
    if (step->attr_count == 0) {
      stowi_export_put(out, "NULL, NULL, ");
    } else {
      stowi_export_put(out, "attrs_%s, attr_ids_%s, ", id, id);
    }
    stowi_export_put(out,
                     "STOW_OP_%s, %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 ", %" PRIu32
                     ", %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u},\n",
                     op, step->operand_count, step->first_result, step->result_count,
                     step->attr_count, step->variant, step->packed, step->scratch_at,
                     step->scratch_size);
    first += step->operand_count;
  }
  stowi_export_put(out, "};\n");
}

static void print_body(stowi_export_out* out, size_t number, const stowi_kernel_block_body* body) {
  char id[ID_SIZE];
  for (uint32_t i = 0; i < body->step_count; ++i) {
    const stowi_kernel_block_step* step = &body->steps[i];
    name_step(number, i, id);
    stowi_export_print_attrs(out, id, step->attrs, step->attr_ids, step->attr_count);
  }
  print_values(out, number, body);
  print_operands(out, number, body);
  print_steps(out, number, body);
  stowi_export_put(out,
                   "static const stowi_kernel_block_body body_%zu = {\n"
                   "    %" PRIu64 ", %" PRIu64 ", body_%zu_values, body_%zu_steps, %" PRIu32
                   ", %" PRIu32 ", %" PRIu32 ", %" PRIu32 "};\n\n",
                   number, body->rows, body->bytes, number, number, body->value_count,
                   body->step_count, body->most_operands, body->most_results);
}

// ---------------------------------------------------------------------------------------------
// Nodes

static void print_cuts(stowi_export_out* out, const stowi_kernel_block_cut* cuts, size_t count) {
  for (size_t k = 0; k < count; ++k) {
    stowi_export_put(out,
                     "    {%" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64 "u, %" PRIu64
                     "u, %" PRIu64 "u},\n",
                     cuts[k].row, cuts[k].slice, cuts[k].pieces, cuts[k].pitch, cuts[k].slices,
                     cuts[k].divide);
  }
}

void stowi_export_print_cuts(stowi_export_out* out, const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  const stowi_kernel_blocks* blocks = stowi_export_blocks_of(program, node);
  stowi_export_put(out, "static const stowi_kernel_block_cut cuts_%" PRIu32 "[] = {\n", node);
  print_cuts(out, blocks->operands, step->operand_count);
  print_cuts(out, blocks->results, step->result_count);
  stowi_export_put(out, "};\n");
}

static void print_node(stowi_export_out* out, const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  const stowi_kernel_blocks* blocks = stowi_export_blocks_of(program, node);
  const stowi_kernel_block_size* size = size_of(program, node);
  stowi_export_print_cuts(out, program, node);
  stowi_export_put(out, "static const stowi_kernel_block_size size_%" PRIu32 " = {&body_%zu, ",
                   node, stowi_export_find_body(program, size->body));
  if (size->tail == NULL) {
    stowi_export_put(out, "NULL};\n");
  } else {
    stowi_export_put(out, "&body_%zu};\n", stowi_export_find_body(program, size->tail));
  }
  stowi_export_put(out,
                   "static const stowi_kernel_blocks blocks_%" PRIu32 " = {\n    %" PRIu64
                   "u, %" PRIu64 "u, cuts_%" PRIu32 ", cuts_%" PRIu32 " + %zu, &size_%" PRIu32
                   "};\n\n",
                   node, blocks->groups, blocks->rows, node, node, step->operand_count, node);
}

void stowi_export_print_blocks(stowi_export_out* out, const stowi_export* program) {
  for (size_t i = 0; i < program->bodies.count; ++i) {
    print_body(out, i, program->bodies.data[i]);
  }
  if (program->range != NULL) {
    stowi_export_print_shaped(out, program);
    return;
  }
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    if (stowi_export_blocks_of(program, node) != NULL) {
      print_node(out, program, node);
    }
  }
}
