// `blocks` nodes along a range. The executor plans their functions at every point, for the sizes of
// blocks that it chooses there. What it has then is taken down at all points; what changes becomes
// numbers: lines through dims and through each other where they are such, else a cell for each
// point. Nodes with the same function and sizes share all but their cuts.
#include <inttypes.h>
#include <stdio.h>

#include "base/diag.h"
#include "export/export.h"

#define SMALLEST (STOWI_EXPORT_SIZES - 1)  // the number of the smallest size
#define TOO_MUCH UINT32_MAX                // scratch of a size that is not there

static const stowi_kernel_blocks* data_of(const stowi_export* program, stow_node node) {
  return (const stowi_kernel_blocks*)program->tables->steps[node].kernel.user;
}

// Among those of the point; false if there is none of this number.
static bool find_size(const stowi_export* program, stow_node node, size_t size, uint32_t* out_at) {
  uint32_t count = program->tables->steps[node].kernel.variant_count;
  *out_at = size == SMALLEST ? count - 1 : (uint32_t)size;
  return size == SMALLEST || size + 1 < count;
}

// The part, |which| is 0 for the body and 1 for the tail; NULL: there is none at the point.
static const stowi_kernel_block_body* part_of(const stowi_export* program, stow_node node,
                                              size_t size, size_t which) {
  uint32_t at;
  if (!find_size(program, node, size, &at)) {
    return NULL;
  }
  const stowi_kernel_block_size* found = &data_of(program, node)->sizes[at];
  return which == 0 ? found->body : found->tail;
}

// ---------------------------------------------------------------------------------------------
// Fields

static size_t cut_count(const stowi_export* program, stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  return step->operand_count + step->result_count;
}

static const stowi_kernel_block_cut* cut_at(const stowi_export* program, stow_node node, size_t k) {
  const stowi_exec_step* step = &program->tables->steps[node];
  const stowi_kernel_blocks* data = data_of(program, node);
  return k < step->operand_count ? &data->operands[k] : &data->results[k - step->operand_count];
}

static uint64_t cut_field(const stowi_kernel_block_cut* cut, uint32_t axis) {
  const uint64_t fields[] = {cut->row,   cut->slice,  cut->pieces,
                             cut->pitch, cut->slices, cut->divide};
  return fields[axis];
}

#define CUT_FIELDS 6

// What a field is now; of cuts if |body| is NULL.
static uint64_t read_field(const stowi_export* program, stow_node node,
                           const stowi_kernel_block_body* body, const stowi_export_field* field) {
  switch (field->field) {
    case STOW_PROGRAM_GROUPS: return data_of(program, node)->groups;
    case STOW_PROGRAM_GROUP_ROWS: return data_of(program, node)->rows;
    case STOW_PROGRAM_CUT: return cut_field(cut_at(program, node, field->index), field->axis);
    case STOW_PROGRAM_BODY_ROWS: return body->rows;
    case STOW_PROGRAM_BODY_BYTES: return body->bytes;
    case STOW_PROGRAM_VALUE_DIM:
      return (uint64_t)body->values[field->index].tensor.dims[field->axis];
    case STOW_PROGRAM_VALUE_AT: return body->values[field->index].at;
    case STOW_PROGRAM_SCRATCH_AT: return body->steps[field->index].scratch_at;
    case STOW_PROGRAM_SCRATCH_SIZE: return body->steps[field->index].scratch_size;
    default: return body->steps[field->index].variant;
  }
}

static void add_field(stowi_export_patched* part, stow_program_field field, size_t index,
                      uint32_t axis) {
  if (part->fields != NULL) {
    part->fields[part->field_count] = (stowi_export_field){
        .field = field, .index = (uint32_t)index, .axis = axis, .number = STOWI_EXPORT_NO_NUMBER};
  }
  ++part->field_count;
}

static void list_cuts(const stowi_export* program, stow_node node, stowi_export_patched* part) {
  part->field_count = 0;
  add_field(part, STOW_PROGRAM_GROUPS, 0, 0);
  add_field(part, STOW_PROGRAM_GROUP_ROWS, 0, 0);
  for (size_t k = 0; k < cut_count(program, node); ++k) {
    for (uint32_t axis = 0; axis < CUT_FIELDS; ++axis) {
      add_field(part, STOW_PROGRAM_CUT, k, axis);
    }
  }
}

static void list_body(const stowi_kernel_block_body* body, stowi_export_patched* part) {
  part->field_count = 0;
  add_field(part, STOW_PROGRAM_BODY_ROWS, 0, 0);
  add_field(part, STOW_PROGRAM_BODY_BYTES, 0, 0);
  for (uint32_t i = 0; i < body->value_count; ++i) {
    for (uint32_t axis = 0; axis < body->values[i].tensor.rank; ++axis) {
      add_field(part, STOW_PROGRAM_VALUE_DIM, i, axis);
    }
    add_field(part, STOW_PROGRAM_VALUE_AT, i, 0);
  }
  for (uint32_t i = 0; i < body->step_count; ++i) {
    add_field(part, STOW_PROGRAM_SCRATCH_AT, i, 0);
    add_field(part, STOW_PROGRAM_SCRATCH_SIZE, i, 0);
    add_field(part, STOW_PROGRAM_VARIANT, i, 0);
  }
}

static void list_fields(const stowi_export* program, stow_node node,
                        const stowi_kernel_block_body* body, stowi_export_patched* part) {
  if (body == NULL) {
    list_cuts(program, node, part);
  } else {
    list_body(body, part);
  }
}

static void free_part(stow_allocator allocator, stowi_export_patched* part, size_t points) {
  STOWI_ARRAY_FREE(allocator, part->fields, part->field_count);
  STOWI_ARRAY_FREE(allocator, part->series, part->field_count * points);
  STOWI_ARRAY_FREE(allocator, part->known, points);
}

static stow_status make_part(const stowi_export* program, stow_node node,
                             const stowi_kernel_block_body* body, stowi_export_patched* part) {
  size_t points = stow_formula_point_count(program->range->formula);
  list_fields(program, node, body, part);
  part->fields = STOWI_ARRAY(program->allocator, stowi_export_field, part->field_count);
  part->series = STOWI_ARRAY_ZERO(program->allocator, int64_t, part->field_count * points);
  part->known = STOWI_ARRAY_ZERO(program->allocator, uint8_t, points);
  if (part->fields == NULL || part->series == NULL || part->known == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  list_fields(program, node, body, part);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// All points

static uint64_t mix(uint64_t hash, const void* pointer) {
  return (hash ^ (uint64_t)(uintptr_t)pointer) * UINT64_C(0x9E3779B97F4A7C15) + 1;
}

// Nodes with the same bodies at a point have the same pointers there.
static void note_bodies(const stowi_export* program, stowi_export_blocks* blocks) {
  for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
    blocks->hash = mix(blocks->hash, part_of(program, blocks->node, size, 0));
    blocks->hash = mix(blocks->hash, part_of(program, blocks->node, size, 1));
  }
}

static stow_status take_down(const stowi_export* program, stow_node node,
                             const stowi_kernel_block_body* body, stowi_export_patched* part,
                             size_t point) {
  size_t points = stow_formula_point_count(program->range->formula);
  if (part->fields == NULL) {
    STOW_TRY(make_part(program, node, body, part));
  }
  for (size_t i = 0; i < part->field_count; ++i) {
    uint64_t number = read_field(program, node, body, &part->fields[i]);
    STOW_TRY(number > UINT32_MAX ? STOW_ERR_LIMIT : STOW_OK);
    part->series[i * points + point] = (int64_t)number;
  }
  part->known[point] = 1;
  return STOW_OK;
}

static bool is_same_way(const stowi_export_patched* part, const stowi_kernel_block_body* body) {
  stowi_export_patched now = {0};
  list_body(body, &now);
  return part->field_count == now.field_count;
}

static stow_status take_sizes(stowi_export* program, stowi_export_blocks* blocks, size_t point) {
  for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
    for (size_t which = 0; which < 2; ++which) {
      const stowi_kernel_block_body* body = part_of(program, blocks->node, size, which);
      stowi_export_patched* part = &blocks->sizes[size].parts[which];
      if (body == NULL) {
        continue;
      }
      STOW_TRY(part->fields == NULL || is_same_way(part, body) ? STOW_OK : STOW_ERR_UNSUPPORTED);
      STOW_TRY(take_down(program, blocks->node, body, part, point));
    }
  }
  return STOW_OK;
}

// Scratch of the size, of those that are worth considering; the smallest one takes what there is.
static uint64_t price_of(const stowi_exec_step* step, size_t size) {
  const stowi_exec_price* last = &step->prices[step->price_count - 1];
  uint64_t bytes = size == SMALLEST ? last->scratch : TOO_MUCH;
  for (uint32_t i = 0; i < step->price_count && size != SMALLEST; ++i) {
    bool is_smallest = step->prices[i].variant + 1 == step->kernel.variant_count;
    bytes = step->prices[i].variant == size && !is_smallest ? step->prices[i].scratch : bytes;
  }
  return bytes;
}

static stow_status take_prices(stowi_export* program, stowi_export_blocks* blocks, size_t point) {
  size_t points = stow_formula_point_count(program->range->formula);
  for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
    uint64_t bytes = price_of(&program->tables->steps[blocks->node], size);
    STOW_TRY(bytes > UINT32_MAX ? STOW_ERR_LIMIT : STOW_OK);
    blocks->prices[size * points + point] = (int64_t)bytes;
  }
  return STOW_OK;
}

static stow_status fail_blocks(const stowi_export* program, stow_node node, stow_status status,
                               stow_diag* diag) {
  char label[STOWI_EXPORT_LABEL_SIZE];
  if (status == STOW_OK || status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_need_memory(status == STOW_OK, diag);
  }
  stowi_export_label(program->graph, node, label);
  stowi_fail(diag, status,
             "%s: its blocks cannot be exported for this range; --rewrite -blocks,-products,"
             "-columns leaves them out",
             label);
  stowi_diag_node(diag, node);
  return status;
}

stow_status stowi_export_survey_blocks(stowi_export* program, size_t point, bool is_first,
                                       stow_diag* diag) {
  stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->blocks.count; ++i) {
    stowi_export_blocks* blocks = &range->blocks.data[i];
    if (is_first) {
      note_bodies(program, blocks);
      continue;
    }
    stow_status status = take_down(program, blocks->node, NULL, &blocks->cuts, point);
    status = status == STOW_OK ? take_prices(program, blocks, point) : status;
    if (status == STOW_OK && blocks->same == i) {
      status = take_sizes(program, blocks, point);
    }
    STOW_TRY(fail_blocks(program, blocks->node, status, diag));
  }
  return STOW_OK;
}

stow_status stowi_export_list_blocks(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  size_t points = stow_formula_point_count(range->formula);
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    if (program->tables->steps[node].op != STOW_OP_BLOCKS) {
      continue;
    }
    bool has_memory = STOWI_VEC_RESERVE(program->allocator, &range->blocks, 1) == STOW_OK;
    STOW_TRY(stowi_need_memory(has_memory, diag));
    stowi_export_blocks* blocks = &range->blocks.data[range->blocks.count++];
    *blocks = (stowi_export_blocks){.node = node};
    blocks->prices = STOWI_ARRAY_ZERO(program->allocator, int64_t, points * STOWI_EXPORT_SIZES);
    STOW_TRY(stowi_need_memory(blocks->prices != NULL, diag));
    stowi_export_prices* prices = &range->prices[node];
    prices->count = STOWI_EXPORT_SIZES;
    for (uint32_t i = 0; i < STOWI_EXPORT_SIZES; ++i) {
      prices->variants[i] = i;
      prices->exprs[i] = STOWI_EXPORT_NO_NUMBER;
    }
  }
  return STOW_OK;
}

void stowi_export_group_blocks(stowi_export* program) {
  stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->blocks.count; ++i) {
    size_t same = 0;
    while (range->blocks.data[same].hash != range->blocks.data[i].hash) {
      ++same;
    }
    range->blocks.data[i].same = same;
  }
}

void stowi_export_free_blocks(stowi_export* program) {
  stowi_export_range* range = program->range;
  size_t points = stow_formula_point_count(range->formula);
  for (size_t i = 0; i < range->blocks.count; ++i) {
    stowi_export_blocks* blocks = &range->blocks.data[i];
    STOWI_ARRAY_FREE(program->allocator, blocks->prices, points * STOWI_EXPORT_SIZES);
    free_part(program->allocator, &blocks->cuts, points);
    for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
      free_part(program->allocator, &blocks->sizes[size].parts[0], points);
      free_part(program->allocator, &blocks->sizes[size].parts[1], points);
    }
  }
  STOWI_VEC_FREE(program->allocator, &range->blocks);
}

// ---------------------------------------------------------------------------------------------
// Numbers

// What a table has, a field of which is patched where that is something else at a point.
static const stowi_kernel_block_body* table_of(const stowi_export* program, stow_node node,
                                               size_t size) {
  return part_of(program, node, size, 0);
}

static stow_status fit_part(stowi_export* program, stow_node node,
                            const stowi_kernel_block_body* table, stowi_export_patched* part) {
  size_t points = stow_formula_point_count(program->range->formula);
  for (size_t i = 0; i < part->field_count; ++i) {
    stowi_export_field* field = &part->fields[i];
    const int64_t* series = part->series + i * points;
    int64_t own = (int64_t)read_field(program, node, table, field);
    bool is_same = true;
    for (size_t point = 0; point < points; ++point) {
      is_same = is_same && (part->known[point] == 0 || series[point] == own);
    }
    if (!is_same) {
      STOW_TRY(stowi_export_fit(program, series, part->known, &field->number));
    }
  }
  return STOW_OK;
}

// Rows of the tail, 0 without one, come first: the tail's dims are lines through them.
static stow_status fit_tail_rows(stowi_export* program, stowi_export_size* size) {
  const stowi_export_patched* tail = &size->parts[1];
  size_t points = stow_formula_point_count(program->range->formula);
  int64_t* rows = STOWI_ARRAY_ZERO(program->allocator, int64_t, points);
  STOW_TRY(rows == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK);
  for (size_t point = 0; tail->fields != NULL && point < points; ++point) {
    rows[point] = tail->known[point] == 0 ? 0 : tail->series[point];  // the first field
  }
  stow_status status = stowi_export_fit(program, rows, NULL, &size->tail_rows);
  STOWI_ARRAY_FREE(program->allocator, rows, points);
  return status;
}

static stow_status fit_sizes(stowi_export* program, stowi_export_blocks* blocks) {
  for (size_t i = 0; i < STOWI_EXPORT_SIZES; ++i) {
    stowi_export_size* size = &blocks->sizes[i];
    const stowi_kernel_block_body* table = table_of(program, blocks->node, i);
    size->is_there = table != NULL;
    if (!size->is_there) {
      continue;
    }
    STOW_TRY(fit_tail_rows(program, size));
    STOW_TRY(fit_part(program, blocks->node, table, &size->parts[0]));
    STOW_TRY(fit_part(program, blocks->node, table, &size->parts[1]));
  }
  return STOW_OK;
}

static stow_status fit_prices(stowi_export* program, const stowi_export_blocks* blocks,
                              const stowi_export_blocks* same) {
  size_t points = stow_formula_point_count(program->range->formula);
  stowi_export_prices* prices = &program->range->prices[blocks->node];
  for (uint32_t i = 0; i < STOWI_EXPORT_SIZES; ++i) {
    int64_t* series = blocks->prices + i * points;
    for (size_t point = 0; point < points && !same->sizes[i].is_there; ++point) {
      series[point] = TOO_MUCH;
    }
    STOW_TRY(stowi_export_fit(program, series, NULL, &prices->numbers[i]));
  }
  return STOW_OK;
}

stow_status stowi_export_fit_blocks(stowi_export* program) {
  stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->blocks.count; ++i) {
    stowi_export_blocks* blocks = &range->blocks.data[i];
    STOW_TRY(blocks->same == i ? fit_sizes(program, blocks) : STOW_OK);
    STOW_TRY(fit_part(program, blocks->node, NULL, &blocks->cuts));
    STOW_TRY(fit_prices(program, blocks, &range->blocks.data[blocks->same]));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Proof

static bool is_right(const stowi_export_range* range, const stowi_export_patched* part,
                     size_t points, size_t point) {
  bool is = true;
  for (size_t i = 0; i < part->field_count && part->known[point] != 0; ++i) {
    uint32_t number = part->fields[i].number;
    is = is && (number == STOWI_EXPORT_NO_NUMBER ||
                range->numbers[number] == part->series[i * points + point]);
  }
  return is;
}

static bool is_size_right(const stowi_export_range* range, const stowi_export_size* size,
                          size_t points, size_t point) {
  const stowi_export_patched* tail = &size->parts[1];
  bool has_tail = tail->fields != NULL && tail->known[point] != 0;
  return !size->is_there ||
         ((range->numbers[size->tail_rows] != 0) == has_tail &&
          is_right(range, &size->parts[0], points, point) && is_right(range, tail, points, point));
}

stow_status stowi_export_check_blocks(const stowi_export* program, size_t point, stow_diag* diag) {
  const stowi_export_range* range = program->range;
  size_t points = stow_formula_point_count(range->formula);
  for (size_t i = 0; i < range->blocks.count; ++i) {
    const stowi_export_blocks* blocks = &range->blocks.data[i];
    bool is_fine = is_right(range, &blocks->cuts, points, point);
    for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
      uint32_t number = range->prices[blocks->node].numbers[size];
      is_fine = is_fine && is_size_right(range, &blocks->sizes[size], points, point) &&
                range->numbers[number] == blocks->prices[size * points + point];
    }
    STOW_TRY(is_fine ? STOW_OK : fail_blocks(program, blocks->node, STOW_ERR_UNSUPPORTED, diag));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Tables

static size_t print_patches(stowi_export_out* out, const stowi_export_patched* part,
                            const char* name) {
  static const char* const names[] = {"GROUPS",       "GROUP_ROWS", "CUT",      "BODY_ROWS",
                                      "BODY_BYTES",   "VALUE_DIM",  "VALUE_AT", "SCRATCH_AT",
                                      "SCRATCH_SIZE", "VARIANT"};
  size_t count = 0;
  stowi_export_put(out, "static const stow_program_patch %s[] = {", name);
  for (size_t i = 0; i < part->field_count; ++i) {
    const stowi_export_field* field = &part->fields[i];
    if (field->number != STOWI_EXPORT_NO_NUMBER) {
      stowi_export_put(out, "%s{STOW_PROGRAM_%s, %" PRIu32 ", %" PRIu32 ", %" PRIu32 "}",
                       count == 0       ? ""
                       : count % 4 == 0 ? ",\n    "
                                        : ", ",
                       names[field->field], field->axis, field->index, field->number);
      ++count;
    }
  }
  stowi_export_put(out, count == 0 ? "{0}};\n" : "};\n");
  return count;
}

#define NAME_SIZE 64

static void print_sizes(stowi_export_out* out, const stowi_export* program,
                        const stowi_export_blocks* blocks) {
  size_t counts[STOWI_EXPORT_SIZES][2] = {{0}};
  for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
    for (size_t which = 0; which < 2 && blocks->sizes[size].is_there; ++which) {
      char name[NAME_SIZE];
      (void)snprintf(name, sizeof name, "%s_%" PRIu32 "_%zu", which == 0 ? "body_of" : "tail_of",
                     blocks->node, size);
      counts[size][which] = print_patches(out, &blocks->sizes[size].parts[which], name);
    }
  }
  stowi_export_put(out, "static const stow_program_size sizes_%" PRIu32 "[] = {\n", blocks->node);
  for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
    if (!blocks->sizes[size].is_there) {
      stowi_export_put(out, "    {{NULL, NULL, 0}, {NULL, NULL, 0}, 0},\n");
      continue;
    }
    size_t body = stowi_export_find_body(program, table_of(program, blocks->node, size));
    stowi_export_put(out,
                     "    {{&body_%zu, body_of_%" PRIu32 "_%zu, %zu}, {&body_%zu, tail_of_%" PRIu32
                     "_%zu, %zu}, %" PRIu32 "},\n",
                     body, blocks->node, size, counts[size][0], body, blocks->node, size,
                     counts[size][1], blocks->sizes[size].tail_rows);
  }
  stowi_export_put(out, "};\n");
}

static void print_room(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  size_t cuts = 1, values = 1, steps = 1;
  for (size_t i = 0; i < range->blocks.count; ++i) {
    size_t own = cut_count(program, range->blocks.data[i].node);
    cuts = own > cuts ? own : cuts;
  }
  for (size_t i = 0; i < program->bodies.count; ++i) {
    const stowi_kernel_block_body* body = program->bodies.data[i];
    values = body->value_count > values ? body->value_count : values;
    steps = body->step_count > steps ? body->step_count : steps;
  }
  stowi_export_put(out,
                   "static stowi_kernel_block_cut block_cuts[%zu];\n"
                   "static stowi_kernel_block_value block_values[2][%zu];\n"
                   "static stowi_kernel_block_step block_steps[2][%zu];\n"
                   "static stow_program_blocks_room blocks_room = {\n"
                   "    .cuts = block_cuts, .values = {block_values[0], block_values[1]},\n"
                   "    .steps = {block_steps[0], block_steps[1]}};\n\n",
                   cuts, values, steps);
}

void stowi_export_print_shaped(stowi_export_out* out, const stowi_export* program) {
  const stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->blocks.count; ++i) {
    const stowi_export_blocks* blocks = &range->blocks.data[i];
    const stowi_kernel_blocks* data = data_of(program, blocks->node);
    size_t operands = program->tables->steps[blocks->node].operand_count;
    char name[NAME_SIZE];
    if (blocks->same == i) {
      print_sizes(out, program, blocks);
    }
    (void)snprintf(name, sizeof name, "cuts_of_%" PRIu32, blocks->node);
    size_t count = print_patches(out, &blocks->cuts, name);
    stowi_export_print_cuts(out, program, blocks->node);
    stowi_export_put(out,
                     "static const stowi_kernel_blocks blocks_%" PRIu32 " = {%" PRIu64 "u, %" PRIu64
                     "u, cuts_%" PRIu32 ", cuts_%" PRIu32 " + %zu, NULL};\n",
                     blocks->node, data->groups, data->rows, blocks->node, blocks->node, operands);
    stowi_export_put(out,
                     "static const stow_program_blocks shaped_%" PRIu32 " = {&blocks_%" PRIu32
                     ", %zu, %zu, cuts_of_%" PRIu32 ", %zu, sizes_%" PRIu32 "};\n\n",
                     blocks->node, blocks->node, operands, cut_count(program, blocks->node),
                     blocks->node, count, range->blocks.data[blocks->same].node);
  }
  if (range->blocks.count > 0) {
    print_room(out, program);
  }
}

// ---------------------------------------------------------------------------------------------
// Bodies

stow_status stowi_export_add_shaped(stowi_export* program, stow_diag* diag) {
  for (size_t i = 0; i < program->range->blocks.count; ++i) {
    for (size_t size = 0; size < STOWI_EXPORT_SIZES; ++size) {
      stow_node node = program->range->blocks.data[i].node;
      STOW_TRY(stowi_export_add_body(program, table_of(program, node, size), diag));
    }
  }
  return STOW_OK;
}
