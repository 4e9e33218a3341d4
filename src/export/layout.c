// Where everything is. Activations and scratch have slots in the arena; weights lie beside it, and
// inputs and outputs without a slot in memory that the caller binds. What is only another look at
// one of these lies in it. What a program cannot do is refused here,
// before anything is written.
#include <string.h>

#include "base/diag.h"
#include "export/export.h"
#include "graph/api.h"

#define WEIGHT_FILE_BYTES (UINT64_C(2) << 20)  // about 6 MB of text: compilers cope

// ---------------------------------------------------------------------------------------------
// Names

const char* stowi_export_op(stow_op op) {
  static const char* const names[] = {
#define STOW_OP(name, number, text) [number] = #name,
#include <stowage/ops.def>
#undef STOW_OP
  };
  return op < sizeof names / sizeof names[0] ? names[op] : NULL;
}

// ---------------------------------------------------------------------------------------------
// What no program has

stow_status stowi_export_refuse(const stowi_export* program, stow_value value, stow_status status,
                                const char* why, stow_diag* diag) {
  stowi_fail(diag, status, "%s %s", stowi_graph_describe_value(program->graph, value).text, why);
  stowi_diag_value(diag, value);
  return status;
}

// A program has no shape functions: dims are the same in every run.
static stow_status refuse_bounded(const stowi_export* program, stow_diag* diag) {
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    if (program->tables->values[value].is_bounded) {
      return stowi_export_refuse(
          program, value, STOW_ERR_DATA_DEPENDENT,
          "has data-dependent dimensions; exported programs need static shapes", diag);
    }
  }
  return STOW_OK;
}

// What a loop collects is moved as bytes. Dims that change may be any.
static stow_status refuse_append(const stowi_export* program, const stowi_exec_instruction* in,
                                 stow_diag* diag) {
  const stow_type* type = program->tables->values[in->from].type;
  uint64_t elements;
  bool is_whole = stow_type_elements(type, &elements) == STOW_OK &&
                  elements % 8 * stow_dtype_bits(type->dtype) % 8 == 0 &&
                  (program->range == NULL || stow_dtype_bits(type->dtype) % 8 == 0);
  return is_whole
             ? STOW_OK
             : stowi_export_refuse(program, in->to, STOW_ERR_UNSUPPORTED,
                                   "collects elements that are not a whole number of bytes", diag);
}

// ---------------------------------------------------------------------------------------------
// Attributes

static bool is_same_attr(const stow_attr* a, const stow_attr* b) {
  if (!stow_str_equal(a->name, b->name) || a->kind != b->kind || a->count != b->count) {
    return false;
  }
  switch (a->kind) {
    case STOW_ATTR_INT: return a->i == b->i;
    case STOW_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case STOW_ATTR_BOOL: return a->b == b->b;
    case STOW_ATTR_STRING: return stow_str_equal(a->s, b->s);
    case STOW_ATTR_INTS:
      return a->count == 0 || memcmp(a->ints, b->ints, a->count * sizeof *a->ints) == 0;
    default: return false;  // long lists are hardly ever the same
  }
}

static bool has_same_attrs(const stowi_exec_step* a, const stowi_exec_step* b) {
  bool is_same = a->op == b->op && a->attr_count == b->attr_count;
  for (size_t i = 0; i < a->attr_count && is_same; ++i) {
    is_same = is_same_attr(&a->attrs[i], &b->attrs[i]);
  }
  return is_same;
}

#define LOOKED_BACK 64  // nodes whose attributes are compared: enough to find blocks that repeat

static stow_node find_same_attrs(const stowi_export* program, stow_node node) {
  const stowi_exec_step* steps = program->tables->steps;
  size_t looked = 0;
  for (stow_node other = node; other-- > 0 && looked < LOOKED_BACK;) {
    if (stowi_exec_code_calls(&program->code, program->tables, other) &&
        program->attrs[other] == other) {
      looked += steps[other].op == steps[node].op;
      if (has_same_attrs(&steps[other], &steps[node])) {
        return other;
      }
    }
  }
  return node;
}

// ---------------------------------------------------------------------------------------------
// Steps

stow_status stowi_export_add_kernel(stowi_export* program, stow_op op, stow_diag* diag) {
  const char* name = stowi_export_op(op);
  return name != NULL && stowi_export_set_add_kernel(&program->library, name)
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_UNSUPPORTED, "no kernel for '%s'",
                          stow_ops_get(stow_graph_ops(program->graph), op)->name);
}

static stow_status add_step(stowi_export* program, stow_node node, stow_diag* diag) {
  STOW_TRY(stowi_export_add_kernel(program, program->tables->steps[node].op, diag));
  STOW_TRY(stowi_export_add_stream(program, node, diag));
  return stowi_export_add_blocks(program, node, diag);
}

stow_status stowi_export_add_code(stowi_export* program, const stowi_exec_code* code,
                                  stow_diag* diag) {
  program->step_count = 0;
  for (size_t i = 0; i < code->count; ++i) {
    const stowi_exec_instruction* in = &code->instructions[i];
    if (in->action == STOWI_EXEC_CALL) {
      ++program->step_count;
      STOW_TRY(add_step(program, in->node, diag));
    } else if (in->action == STOWI_EXEC_APPEND) {
      STOW_TRY(refuse_append(program, in, diag));
    }
    program->has_regions =
        program->has_regions || (in->action != STOWI_EXEC_CALL && in->action != STOWI_EXEC_REST);
  }
  return STOW_OK;
}

static void find_attrs(stowi_export* program) {
  for (stow_node node = 0; node < program->tables->node_count; ++node) {
    program->attrs[node] = find_same_attrs(program, node);
  }
}

// ---------------------------------------------------------------------------------------------
// Weights

static bool has_symbols(const stowi_export* program, stow_value value) {
  const stow_type* type = stow_graph_type(stowi_plan_formula_graph(program->range->formula), value);
  bool has = false;
  for (uint32_t i = 0; i < type->rank; ++i) {
    has = has || !stow_dim_is_const(type->dims[i]);
  }
  return has;
}

static stow_status add_weight(stowi_export* program, stow_value value, stow_diag* diag) {
  const stowi_export_options* options = &program->options;
  size_t size = 0;
  stow_slot slot;
  const void* data = stow_graph_data(program->graph, value, &size);
  if (data == NULL && options->weight != NULL) {
    data = options->weight(options->user, value, &size);
  }
  if (data == NULL || size == 0) {
    return STOW_OK;
  }
  if (program->range != NULL && has_symbols(program, value)) {
    return stowi_export_refuse(program, value, STOW_ERR_UNSUPPORTED,
                               "has dims of the range; weights of a program have one shape", diag);
  }
  const stowi_exec_value* facts = &program->tables->values[value];
  if (facts->packed_bytes != 0) {
    data = stowi_exec_packed_data(program->prepared, value);
    size = (size_t)facts->packed_bytes;
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(program->allocator, &program->weights, 1) == STOW_OK,
                             diag));
  stowi_export_weight weight = {
      .value = value,
      .data = data,
      .size = size,
      .is_packed = facts->packed_bytes != 0,
      .is_preset = facts->packed_bytes == 0 && stow_plan_value_slot(program->plan, value, &slot)};
  if (!weight.is_preset) {
    program->places[value] =
        (stowi_export_place){.is_there = true, .weight = program->weights.count, .offset = 0};
  }
  program->weight_bytes += size;
  program->weights.data[program->weights.count++] = weight;
  return STOW_OK;
}

static void mark_used(const stowi_export* program, bool* used) {
  const stowi_exec_program* tables = program->tables;
  for (stow_node node = 0; node < tables->node_count; ++node) {
    for (size_t k = 0; k < tables->steps[node].operand_count; ++k) {
      stow_value operand = tables->steps[node].operands[k];
      if (operand != STOW_VALUE_NONE) {
        used[operand] = true;
      }
    }
  }
}

static stow_status lay_out_weights(stowi_export* program, stow_diag* diag) {
  uint32_t count = program->tables->value_count;
  bool* used = STOWI_ARRAY_ZERO(program->allocator, bool, count);
  STOW_TRY(stowi_need_memory(used != NULL, diag));
  mark_used(program, used);
  stow_status status = STOW_OK;
  for (stow_value value = 0; value < count && status == STOW_OK; ++value) {
    const stowi_exec_value* facts = &program->tables->values[value];
    if (facts->is_boundary && (used[value] || facts->is_output)) {
      status = add_weight(program, value, diag);
    }
  }
  STOWI_ARRAY_FREE(program->allocator, used, count);
  return status;
}

// A file is closed where the next weight would make it too large.
static void divide_weights(stowi_export* program) {
  uint64_t filled = 0;
  program->weight_files = program->weights.count > 0;
  for (size_t i = 0; i < program->weights.count; ++i) {
    stowi_export_weight* weight = &program->weights.data[i];
    if (filled > 0 && filled + weight->size > WEIGHT_FILE_BYTES) {
      ++program->weight_files;
      filled = 0;
    }
    filled += weight->size;
    weight->file = program->weight_files - 1;
  }
}

// ---------------------------------------------------------------------------------------------
// Values

// A view of what has no slot: bytes of its operand.
static bool follow_view(const stowi_export* program, stow_value value, stowi_export_place* out) {
  const stowi_exec_value* facts = &program->tables->values[value];
  if (facts->parent == STOW_VALUE_NONE) {
    return false;
  }
  *out = program->places[facts->parent];
  out->offset += facts->distance;
  return out->is_there;
}

// An input or output without a slot that is not a look at something else.
static bool is_port(const stowi_export* program, stow_value value) {
  const stowi_exec_value* facts = &program->tables->values[value];
  return (facts->is_input || (facts->is_output && !facts->is_boundary)) && facts->bytes > 0 &&
         stow_plan_root(program->plan, value) == value;
}

static stow_status lay_out_value(stowi_export* program, stow_value value, stow_diag* diag) {
  const stowi_exec_value* facts = &program->tables->values[value];
  stowi_export_place* place = &program->places[value];
  stow_slot slot;
  if (place->is_there) {
    return STOW_OK;
  }
  if (stow_plan_value_slot(program->plan, value, &slot)) {
    *place = (stowi_export_place){.is_there = true, .weight = SIZE_MAX, .offset = slot.offset};
    return STOW_OK;
  }
  if (is_port(program, value)) {
    *place = (stowi_export_place){
        .is_there = true, .is_external = true, .weight = SIZE_MAX, .port = value};
    return STOW_OK;
  }
  bool is_unused_weight = facts->is_boundary && !facts->is_input;
  return follow_view(program, value, place) || facts->bytes == 0 || is_unused_weight
             ? STOW_OK
             : stowi_export_refuse(program, value, STOW_ERR_UNSUPPORTED, "has no slot in the arena",
                                   diag);
}

stow_status stowi_export_place_values(stowi_export* program, stow_diag* diag) {
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    program->places[value] = (stowi_export_place){.is_there = false};
  }
  for (size_t i = 0; i < program->weights.count; ++i) {
    const stowi_export_weight* weight = &program->weights.data[i];
    if (!weight->is_preset) {
      program->places[weight->value] = (stowi_export_place){.is_there = true, .weight = i};
    }
  }
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    STOW_TRY(lay_out_value(program, value, diag));
  }
  return STOW_OK;
}

// Whether shapes change its dims or its place: only what lies in weights stays.
static bool changes_along_range(const stowi_export* program, stow_value value) {
  const stowi_export_range* range = program->range;
  const stowi_export_place* first = &range->regions[0].places[value];
  bool changes = first->is_there ? first->weight == SIZE_MAX : range->most_bytes[value] != 0;
  changes = changes || has_symbols(program, value);
  for (size_t r = 1; r < range->region_count; ++r) {
    const stowi_export_place* place = &range->regions[r].places[value];
    changes = changes || place->is_there != first->is_there || place->weight != first->weight ||
              place->offset != first->offset;
  }
  return changes;
}

static bool is_changed_by_binds(const stowi_export* program, stow_value value) {
  return program->range == NULL ? program->places[value].is_external
                                : changes_along_range(program, value);
}

// The results of a step are one after the other, so they are all in the same table.
static void divide_tensors(stowi_export* program) {
  const stow_graph* graph = program->graph;
  stow_value first = 0;
  while (first < program->tables->value_count) {
    size_t count = stow_graph_result_count(graph, stow_graph_producer(graph, first));
    bool is_bound = false;
    for (size_t k = 0; k < count; ++k) {
      is_bound = is_bound || is_changed_by_binds(program, first + (stow_value)k);
    }
    for (size_t k = 0; k < count; ++k, ++first) {
      uint32_t index = is_bound ? program->bound_count : first - program->bound_count;
      program->tensors[first] = (stowi_export_tensor){is_bound, index};
      program->bound_count += is_bound;
    }
  }
}

static stow_status add_regions(stowi_export* program, stow_diag* diag) {
  for (size_t r = 0; r < program->range->region_count; ++r) {
    STOW_TRY(stowi_export_add_code(program, &program->range->regions[r].code, diag));
  }
  return STOW_OK;
}

// The region of the last point comes last: its places are the program's.
static stow_status place_regions(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  size_t bytes = program->tables->value_count * sizeof(stowi_export_place);
  size_t point_count = stow_formula_point_count(range->formula);
  size_t last = stowi_export_region_of(program, point_count - 1);
  for (size_t i = 1; i <= range->region_count; ++i) {
    stowi_export_region* region = &range->regions[(last + i) % range->region_count];
    STOW_TRY(stowi_export_range_move(program, region->last, diag));
    STOW_TRY(stowi_export_place_values(program, diag));
    memcpy(region->places, program->places, bytes);
  }
  return STOW_OK;
}

stow_status stowi_export_lay_out(stowi_export* program, stow_diag* diag) {
  const stowi_exec_program* tables = program->tables;
  program->places = STOWI_ARRAY_ZERO(program->allocator, stowi_export_place, tables->value_count);
  program->tensors = STOWI_ARRAY_ZERO(program->allocator, stowi_export_tensor, tables->value_count);
  program->attrs = STOWI_ARRAY_ZERO(program->allocator, stow_node, tables->node_count);
  bool has_memory = program->places != NULL && program->tensors != NULL && program->attrs != NULL;
  STOW_TRY(stowi_need_memory(has_memory, diag));
  STOW_TRY(refuse_bounded(program, diag));
  STOW_TRY(program->range == NULL ? stowi_export_add_code(program, &program->code, diag)
                                  : add_regions(program, diag));
  find_attrs(program);
  STOW_TRY(lay_out_weights(program, diag));
  STOW_TRY(program->range == NULL ? stowi_export_place_values(program, diag)
                                  : place_regions(program, diag));
  divide_tensors(program);
  divide_weights(program);
  return STOW_OK;
}
