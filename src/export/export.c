// The list of a program's files. Everything that can be wrong with a model is found while it is
// made, before the first file is written.
#include "export/export.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"

// ---------------------------------------------------------------------------------------------
// Files

static void print_source(stowi_export_out* out, const stowi_export* program, size_t row) {
  (void)program;
  stowi_export_put_bytes(out, stowi_export_sources[row].text, stowi_export_sources[row].size);
}

static stow_status add_file(stowi_export* program, const char* before, const char* rest,
                            stowi_export_print print, size_t index) {
  STOW_TRY(STOWI_VEC_RESERVE(program->allocator, &program->files, 1));
  stowi_export_file* file = &program->files.data[program->files.count++];
  *file = (stowi_export_file){.print = print, .index = index};
  (void)snprintf(file->name, sizeof file->name, "%s%s", before, rest);
  return STOW_OK;
}

static stow_status list_files(stowi_export* program) {
  const char* name = program->options.name;
  STOW_TRY(add_file(program, name, ".h", stowi_export_print_header, 0));
  STOW_TRY(add_file(program, name, ".c", stowi_export_print_tables, 0));
  if (program->weights.count > 0) {
    STOW_TRY(add_file(program, name, "_weights.h", stowi_export_print_weights_header, 0));
  }
  STOW_TRY(add_file(program, "main", ".c", stowi_export_print_main, 0));
  STOW_TRY(add_file(program, "Makefile", "", stowi_export_print_makefile, 0));
  STOW_TRY(add_file(program, "README", "", stowi_export_print_readme, 0));
  for (size_t i = 0; i < program->weight_files; ++i) {
    char file[STOWI_EXPORT_FILE_SIZE];
    stowi_export_weights_name(program, i, file);
    STOW_TRY(add_file(program, file, "", stowi_export_print_weights, i));
  }
  for (size_t i = 0; i < stowi_export_sources_count; ++i) {
    if (program->library.has[i] || program->tool.has[i]) {
      STOW_TRY(add_file(program, stowi_export_sources[i].name, "", print_source, i));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Making

static stow_status add_sources(stowi_export* program, stow_diag* diag) {
  bool is_there =
      stowi_export_set_add(&program->library, "program/program.h") &&
      stowi_export_set_add(&program->library, "program/steps.h") &&
      (!program->has_regions || stowi_export_set_add(&program->library, "program/regions.h")) &&
      (program->range == NULL || (stowi_export_set_add(&program->library, "program/range.h") &&
                                  stowi_export_set_add(&program->tool, "program/range_tool.h") &&
                                  (program->range->blocks.count == 0 ||
                                   stowi_export_set_add(&program->library, "program/blocks.h")))) &&
      stowi_export_set_add(&program->tool, "program/tool.h") &&
      stowi_export_set_add(&program->tool, "LICENSE");
  return is_there
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_NOT_FOUND, "a source of exported programs is missing");
}

static stow_status make(stowi_export* program, stow_diag* diag) {
  STOW_TRY(program->range == NULL ? STOW_OK : stowi_export_range_begin(program, diag));
  STOW_TRY(stowi_exec_code_init(&program->code, program->tables, program->plan, program->allocator,
                                diag));
  bool has_sets = stowi_export_set_init(&program->library, program->allocator) == STOW_OK &&
                  stowi_export_set_init(&program->tool, program->allocator) == STOW_OK;
  STOW_TRY(stowi_need_memory(has_sets, diag));
  stowi_exec_weights weights = {program->options.weight, NULL, program->options.user};
  STOW_TRY(stowi_exec_pack(program->prepared, weights, diag));
  STOW_TRY(stowi_export_lay_out(program, diag));
  STOW_TRY(program->range == NULL ? STOW_OK : stowi_export_range_finish(program, diag));
  STOW_TRY(stowi_export_find_ports(program, diag));
  STOW_TRY(add_sources(program, diag));
  return stowi_need_memory(list_files(program) == STOW_OK, diag);
}

static void make_macro(stowi_export* program) {
  size_t size = strlen(program->options.name);
  for (size_t i = 0; i < size && i + 1 < sizeof program->macro; ++i) {
    char c = program->options.name[i];
    program->macro[i] = (char)(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
  }
}

// |like| has a plan, or a range.
static stow_status create(const stowi_export* like, const stowi_export_range* range,
                          stow_allocator allocator, stow_diag* diag, stowi_export** out_program) {
  *out_program = NULL;
  stowi_export* program = STOWI_NEW(allocator, stowi_export);
  STOW_TRY(stowi_need_memory(program != NULL, diag));
  *program = *like;
  program->allocator = allocator;
  program->tables = stowi_exec_prepared_program(like->prepared);
  program->graph = program->tables->graph;
  make_macro(program);
  stow_status status = STOW_OK;
  if (range != NULL) {
    program->range = STOWI_NEW(allocator, stowi_export_range);
    status = stowi_need_memory(program->range != NULL, diag);
  }
  if (status == STOW_OK && range != NULL) {
    *program->range = *range;
  }
  status = status == STOW_OK ? make(program, diag) : status;
  if (status != STOW_OK) {
    stowi_export_destroy(program);
    return status;
  }
  *out_program = program;
  return STOW_OK;
}

stow_status stowi_export_create(const stow_prepared* prepared, const stow_plan* plan,
                                const stowi_export_options* options, stow_allocator allocator,
                                stow_diag* diag, stowi_export** out_program) {
  stowi_export like = {.prepared = prepared, .plan = plan, .options = *options};
  return create(&like, NULL, allocator, diag, out_program);
}

stow_status stowi_export_create_range(stow_prepared* prepared, stow_formula* formula,
                                      const stowi_export_options* options, stow_allocator allocator,
                                      stow_diag* diag, stowi_export** out_program) {
  stowi_export like = {.prepared = prepared, .options = *options};
  stowi_export_range range = {.prepared = prepared, .formula = formula};
  return create(&like, &range, allocator, diag, out_program);
}

void stowi_export_destroy(stowi_export* program) {
  if (program == NULL) {
    return;
  }
  stow_allocator allocator = program->allocator;
  stowi_export_range_destroy(program);
  STOWI_VEC_FREE(allocator, &program->ports);
  STOWI_VEC_FREE(allocator, &program->weights);
  STOWI_VEC_FREE(allocator, &program->files);
  STOWI_VEC_FREE(allocator, &program->bodies);
  STOWI_ARRAY_FREE(allocator, program->places, program->tables->value_count);
  STOWI_ARRAY_FREE(allocator, program->tensors, program->tables->value_count);
  STOWI_ARRAY_FREE(allocator, program->attrs, program->tables->node_count);
  stowi_export_set_free(&program->library);
  stowi_export_set_free(&program->tool);
  stowi_exec_code_free(&program->code);
  STOWI_DELETE(allocator, program);
}

// ---------------------------------------------------------------------------------------------
// What it is

size_t stowi_export_file_count(const stowi_export* program) { return program->files.count; }

const char* stowi_export_file_name(const stowi_export* program, size_t index) {
  return program->files.data[index].name;
}

stow_status stowi_export_file_write(const stowi_export* program, size_t index, stow_writer writer) {
  const stowi_export_file* file = &program->files.data[index];
  stowi_export_out out = {.writer = writer, .status = STOW_OK};
  file->print(&out, program, file->index);
  return out.status;
}

const stowi_export_port* stowi_export_ports(const stowi_export* program, size_t* out_count) {
  *out_count = program->ports.count;
  return program->ports.data;
}

uint64_t stowi_export_arena_bytes(const stowi_export* program) {
  stow_formula_info info = {.struct_size = sizeof info};
  return program->range == NULL ? stow_plan_arena_size(program->plan)
         : stow_formula_describe(program->range->formula, &info) == STOW_OK ? info.largest_arena
                                                                            : 0;
}

size_t stowi_export_shape_count(const stowi_export* program) {
  return program->range == NULL ? 1 : stow_formula_point_count(program->range->formula);
}

uint64_t stowi_export_weight_bytes(const stowi_export* program) { return program->weight_bytes; }

uint64_t stowi_export_external_bytes(const stowi_export* program) {
  uint64_t bytes = 0;
  for (size_t i = 0; i < program->ports.count; ++i) {
    const stowi_export_port* port = &program->ports.data[i];
    bytes += port->is_external ? stowi_export_bytes(program, port->value) : 0;
  }
  return bytes;
}

size_t stowi_export_step_count(const stowi_export* program) { return program->step_count; }
