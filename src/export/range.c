// What changes along a range. All points are visited twice: to find what only kernels know, which
// scratch each of their variants needs; and to prove that the numbers of the program are those of
// the plan.
#include <inttypes.h>
#include <string.h>

#include "base/diag.h"
#include "export/export.h"
#include "graph/api.h"

size_t stowi_export_region_of(const stowi_export* program, size_t point) {
  stow_formula_point info = {.struct_size = sizeof info};
  (void)stow_formula_describe_point(program->range->formula, point, &info);
  return info.region;
}

uint64_t stowi_export_bytes(const stowi_export* program, stow_value value) {
  return program->range == NULL ? program->tables->values[value].bytes
                                : program->range->most_bytes[value];
}

static stow_status bind(stowi_export* program, size_t point, stow_diag* diag) {
  stowi_export_range* range = program->range;
  (void)stow_formula_point_values(range->formula, point, range->values);
  for (size_t i = 0; i < range->symbol_count; ++i) {
    range->all_values[range->symbols[i]] = range->values[i];
  }
  return stowi_exec_prepared_bind(range->prepared, range->all_values, diag);
}

stow_status stowi_export_range_move(stowi_export* program, size_t point, stow_diag* diag) {
  STOW_TRY(bind(program, point, diag));
  return stowi_plan_mover_to(program->range->mover, point, diag, &program->plan);
}

// ---------------------------------------------------------------------------------------------
// Scratch of variants

// By node and variant, at every point.
typedef struct survey {
  stowi_export* program;
  size_t point_count;
  uint64_t** sizes;  // by node and place among its variants; NULL: none
} survey;

#define MOST STOWI_EXPORT_MOST_PRICES

// Blocks are surveyed by themselves (range_blocks.c).
static bool has_scratch(const stowi_exec_step* step) {
  return step->kernel.run != NULL && step->kernel.scratch != NULL && step->op != STOW_OP_BLOCKS;
}

static bool has_variant(const stowi_export_prices* prices, uint32_t variant) {
  bool has = false;
  for (uint32_t i = 0; i < prices->count; ++i) {
    has = has || prices->variants[i] == variant;
  }
  return has;
}

// Adds the variants that |step| has at this point, in their order.
static void note_variants(stowi_export_prices* prices, const stowi_exec_step* step) {
  for (uint32_t i = 0; i < step->price_count; ++i) {
    if (!has_variant(prices, step->prices[i].variant) && prices->count < MOST) {
      uint32_t at = prices->count++;
      for (; at > 0 && prices->variants[at - 1] > step->prices[i].variant; --at) {
        prices->variants[at] = prices->variants[at - 1];
      }
      prices->variants[at] = step->prices[i].variant;
    }
  }
}

// A variant that is not worth considering here needs as much as the one before it.
static uint64_t price_of(const stowi_exec_step* step, uint32_t variant) {
  uint64_t bytes = step->prices[0].scratch;
  for (uint32_t i = 0; i < step->price_count && step->prices[i].variant <= variant; ++i) {
    bytes = step->prices[i].scratch;
  }
  return bytes;
}

static stow_status note_prices(survey* s, stow_node node, size_t point) {
  const stowi_exec_step* step = &s->program->tables->steps[node];
  const stowi_export_prices* prices = &s->program->range->prices[node];
  for (uint32_t i = 0; i < prices->count; ++i) {
    uint64_t** sizes = &s->sizes[node * MOST + i];
    if (*sizes == NULL) {
      *sizes = STOWI_ARRAY_ZERO(s->program->allocator, uint64_t, s->point_count);
      STOW_TRY(*sizes == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK);
    }
    (*sizes)[point] = price_of(step, prices->variants[i]);
  }
  return STOW_OK;
}

static stow_status visit_all(survey* s, bool counts, stow_diag* diag) {
  stowi_export* program = s->program;
  const stowi_exec_program* tables = program->tables;
  for (size_t point = 0; point < s->point_count; ++point) {
    STOW_TRY(bind(program, point, diag));
    STOW_TRY(stowi_export_survey_blocks(program, point, counts, diag));
    for (stow_node node = 0; node < tables->node_count; ++node) {
      if (!has_scratch(&tables->steps[node])) {
        continue;
      }
      if (counts) {
        note_variants(&program->range->prices[node], &tables->steps[node]);
      } else {
        STOW_TRY(stowi_need_memory(note_prices(s, node, point) == STOW_OK, diag));
      }
    }
    for (stow_value value = 0; value < tables->value_count && counts; ++value) {
      uint64_t* most = &program->range->most_bytes[value];
      *most = tables->values[value].bytes > *most ? tables->values[value].bytes : *most;
    }
  }
  if (counts) {
    stowi_export_group_blocks(program);
  }
  return STOW_OK;
}

static stow_status fit_prices(const survey* s, stow_diag* diag) {
  stowi_export_range* range = s->program->range;
  for (stow_node node = 0; node < s->program->tables->node_count; ++node) {
    stowi_export_prices* prices = &range->prices[node];
    prices->first = range->price_count;
    range->price_count += prices->count;
    for (uint32_t i = 0; i < prices->count && s->sizes[node * MOST] != NULL; ++i) {
      stow_status status = stowi_plan_formula_fit_sizes(range->formula, s->sizes[node * MOST + i],
                                                        &prices->exprs[i]);
      STOW_TRY(stowi_need_memory(status == STOW_OK, diag));
    }
  }
  return STOW_OK;
}

static stow_status find_prices(stowi_export* program, stow_diag* diag) {
  size_t count = (size_t)program->tables->node_count * MOST;
  survey s = {program, stow_formula_point_count(program->range->formula), NULL};
  s.sizes = (uint64_t**)stowi_alloc(program->allocator, count, sizeof(uint64_t*));
  STOW_TRY(stowi_need_memory(s.sizes != NULL, diag));
  memset((void*)s.sizes, 0, count * sizeof(uint64_t*));
  stow_status status = visit_all(&s, true, diag);
  status = status == STOW_OK ? visit_all(&s, false, diag) : status;
  status = status == STOW_OK ? fit_prices(&s, diag) : status;
  for (size_t i = 0; i < count; ++i) {
    STOWI_ARRAY_FREE(program->allocator, s.sizes[i], s.point_count);
  }
  stowi_free(program->allocator, (void*)s.sizes, count, sizeof(uint64_t*));
  return status;
}

// ---------------------------------------------------------------------------------------------
// Beginning

static stow_status make_arrays(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  stow_allocator allocator = program->allocator;
  stow_formula_info info = {.struct_size = sizeof info};
  STOW_TRY(stow_formula_describe(range->formula, &info));
  const stow_dims* dims = stow_graph_dims(stowi_plan_formula_graph(range->formula));
  range->symbol_count = stow_formula_symbol_count(range->formula);
  range->all_symbols = stow_dims_symbol_count(dims);
  range->region_count = info.region_count;
  range->symbols = STOWI_ARRAY(allocator, size_t, range->symbol_count);
  range->values = STOWI_ARRAY(allocator, int64_t, range->symbol_count);
  range->all_values = STOWI_ARRAY_ZERO(allocator, int64_t, range->all_symbols);
  range->regions = STOWI_ARRAY_ZERO(allocator, stowi_export_region, range->region_count);
  range->prices = STOWI_ARRAY_ZERO(allocator, stowi_export_prices, program->tables->node_count);
  range->most_bytes = STOWI_ARRAY_ZERO(allocator, uint64_t, program->tables->value_count);
  STOW_TRY(stowi_need_memory(range->symbols != NULL && range->values != NULL &&
                                 range->all_values != NULL && range->regions != NULL &&
                                 range->prices != NULL && range->most_bytes != NULL,
                             diag));
  for (size_t i = 0; i < range->symbol_count; ++i) {
    range->symbols[i] = stow_dims_find_symbol(dims, stow_formula_symbol(range->formula, i, NULL));
  }
  for (size_t i = 0; i < range->region_count; ++i) {
    range->regions[i].code.allocator = allocator;
  }
  return STOW_OK;
}

static stow_status make_region(stowi_export* program, stowi_export_region* region,
                               stow_diag* diag) {
  stow_formula_region info = {.struct_size = sizeof info};
  size_t number = (size_t)(region - program->range->regions);
  stow_allocator allocator = program->allocator;
  STOW_TRY(stow_formula_describe_region(program->range->formula, number, &info));
  stowi_plan_formula_structure from =
      stowi_plan_formula_structure_of(program->range->formula, number);
  region->offsets = STOWI_ARRAY(allocator, uint32_t, from.buffer_count);
  region->ends = STOWI_ARRAY(allocator, uint32_t, from.part_count);
  region->places = STOWI_ARRAY_ZERO(allocator, stowi_export_place, program->tables->value_count);
  region->spots = STOWI_ARRAY_ZERO(allocator, stowi_export_spot, program->tables->value_count);
  region->rooms = STOWI_ARRAY_ZERO(allocator, stowi_export_room, program->tables->node_count);
  STOW_TRY(stowi_need_memory(region->offsets != NULL && region->ends != NULL &&
                                 region->places != NULL && region->spots != NULL &&
                                 region->rooms != NULL,
                             diag));
  STOW_TRY(stowi_export_range_move(program, region->last, diag));
  region->plan = program->plan;
  return stowi_exec_code_init(&region->code, program->tables, program->plan, allocator, diag);
}

stow_status stowi_export_range_begin(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  size_t count = stow_formula_point_count(range->formula);
  range->now.allocator = program->allocator;
  STOW_TRY(make_arrays(program, diag));
  STOW_TRY(stowi_export_list_blocks(program, diag));
  STOW_TRY(find_prices(program, diag));
  STOW_TRY(stowi_plan_mover_create(range->formula, program->graph,
                                   stow_prepared_effects(range->prepared), program->allocator, diag,
                                   &range->mover));
  for (size_t point = 0; point < count; ++point) {
    range->regions[stowi_export_region_of(program, point)].last = point;
  }
  for (size_t i = 0; i < range->region_count; ++i) {
    STOW_TRY(make_region(program, &range->regions[i], diag));
  }
  STOW_TRY(stowi_export_range_move(program, count - 1, diag));
  return stowi_exec_code_init(&range->now, program->tables, program->plan, program->allocator,
                              diag);
}

void stowi_export_range_destroy(stowi_export* program) {
  stowi_export_range* range = program->range;
  stow_allocator allocator = program->allocator;
  if (range == NULL) {
    return;
  }
  for (size_t i = 0; range->regions != NULL && i < range->region_count; ++i) {
    stowi_export_region* region = &range->regions[i];
    stowi_plan_formula_structure from = stowi_plan_formula_structure_of(range->formula, i);
    STOWI_ARRAY_FREE(allocator, region->offsets, from.buffer_count);
    STOWI_ARRAY_FREE(allocator, region->ends, from.part_count);
    STOWI_ARRAY_FREE(allocator, region->places, program->tables->value_count);
    STOWI_ARRAY_FREE(allocator, region->spots, program->tables->value_count);
    STOWI_ARRAY_FREE(allocator, region->rooms, program->tables->node_count);
    STOWI_VEC_FREE(allocator, &region->words.code);
    stowi_exec_code_free(&region->code);
  }
  stowi_exec_code_free(&range->now);
  stowi_export_free_blocks(program);
  for (size_t i = 0; i < range->bases.count; ++i) {
    STOWI_ARRAY_FREE(allocator, range->bases.data[i].values,
                     stow_formula_point_count(range->formula));
  }
  STOWI_VEC_FREE(allocator, &range->bases);
  STOWI_VEC_FREE(allocator, &range->cells);
  STOWI_ARRAY_FREE(allocator, range->symbols, range->symbol_count);
  STOWI_ARRAY_FREE(allocator, range->values, range->symbol_count);
  STOWI_ARRAY_FREE(allocator, range->all_values, range->all_symbols);
  STOWI_ARRAY_FREE(allocator, range->regions, range->region_count);
  STOWI_ARRAY_FREE(allocator, range->prices, program->tables->node_count);
  STOWI_ARRAY_FREE(allocator, range->most_bytes, program->tables->value_count);
  STOWI_ARRAY_FREE(allocator, range->tables, range->table_count);
  STOWI_ARRAY_FREE(allocator, range->numbers, range->number_count);
  STOWI_VEC_FREE(allocator, &range->words.code);
  STOWI_VEC_FREE(allocator, &range->longs);
  STOWI_VEC_FREE(allocator, &range->dims);
  STOWI_VEC_FREE(allocator, &range->memories);
  stowi_plan_mover_destroy(range->mover);
  STOWI_DELETE(allocator, range);
}

// ---------------------------------------------------------------------------------------------
// Memories

stow_status stowi_export_find_memory(stowi_export* program, const stowi_export_place* place,
                                     uint32_t* out_memory) {
  stowi_export_range* range = program->range;
  stow_value port = place->is_external ? place->port : STOW_VALUE_NONE;
  *out_memory = 0;
  if (!place->is_there || (place->weight == SIZE_MAX && !place->is_external)) {
    return STOW_OK;
  }
  for (size_t i = 0; i < range->memories.count; ++i) {
    const stowi_export_memory* memory = &range->memories.data[i];
    if (memory->weight == place->weight && memory->port == port) {
      *out_memory = (uint32_t)i + 1;
      return STOW_OK;
    }
  }
  STOW_TRY(STOWI_VEC_RESERVE(program->allocator, &range->memories, 1));
  range->memories.data[range->memories.count++] = (stowi_export_memory){place->weight, port};
  *out_memory = (uint32_t)range->memories.count;
  return STOW_OK;
}

uint32_t stowi_export_port_memory(const stowi_export* program, stow_value port) {
  const stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->memories.count; ++i) {
    if (range->memories.data[i].port == port) {
      return (uint32_t)i + 1;
    }
  }
  return 0;
}

// Memory that nobody binds: a known input has a slot at some shapes only.
static stow_status check_memories(const stowi_export* program, stow_diag* diag) {
  const stowi_export_range* range = program->range;
  for (size_t i = 0; i < range->memories.count; ++i) {
    stow_value port = range->memories.data[i].port;
    if (range->memories.data[i].weight == SIZE_MAX &&
        stow_graph_data(program->graph, port, NULL) != NULL) {
      return stowi_export_refuse(program, port, STOW_ERR_UNSUPPORTED,
                                 "has no slot in the arena at some shapes of the range", diag);
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Proof

static stow_status check_value(stowi_export* program, const stowi_export_region* region,
                               stow_value value, stow_diag* diag) {
  const stowi_export_range* range = program->range;
  const stow_type* type = program->tables->values[value].type;
  const stow_type* source = stow_graph_type(stowi_plan_formula_graph(range->formula), value);
  for (uint32_t i = 0; i < type->rank; ++i) {
    size_t k = 0;
    while (!stow_dim_is_const(source->dims[i]) && range->dims.data[k].dim != source->dims[i]) {
      ++k;
    }
    if (!stow_dim_is_const(source->dims[i]) &&
        range->numbers[range->dims.data[k].number] != type->dims[i]) {
      return stowi_export_refuse(program, value, STOW_ERR_UNSUPPORTED,
                                 "has dims that no formula gives", diag);
    }
  }
  const stowi_export_place* place = &program->places[value];
  const stowi_export_place* planned = &region->places[value];
  if (program->tables->values[value].bytes == 0 || !place->is_there) {
    return STOW_OK;
  }
  bool is_same = planned->is_there && place->weight == planned->weight &&
                 place->is_external == planned->is_external && place->port == planned->port;
  bool is_fixed = place->weight != SIZE_MAX && !program->tensors[value].is_bound;
  uint64_t offset =
      is_fixed ? planned->offset : (uint64_t)range->numbers[region->spots[value].number];
  return is_same && offset == place->offset
             ? STOW_OK
             : stowi_export_refuse(program, value, STOW_ERR_UNSUPPORTED,
                                   "lies elsewhere at other shapes of the range", diag);
}

// Where the bytes end that |root| has at |step|; 0: it has none then.
static uint64_t end_at(const stow_plan* plan, stow_value root, uint32_t step) {
  stow_slot slot;
  if (stow_plan_root(plan, root) != root || stowi_plan_begin(plan, root) > step ||
      stowi_plan_end(plan, root) <= step || !stow_plan_value_slot(plan, root, &slot)) {
    return 0;
  }
  for (size_t i = 0; i < stow_plan_window_count(plan, root); ++i) {
    stow_window window = stow_plan_window_at(plan, root, i);
    if (window.begin <= step && step < window.end) {
      return slot.offset + window.high;
    }
  }
  return slot.offset + slot.size + stowi_plan_guard(plan, root);
}

// Whether nothing lives in what is said to be free.
static bool is_free(const stowi_export* program, const stowi_export_room* room, uint32_t step) {
  uint64_t above = (uint64_t)program->range->numbers[room->above];
  bool is = true;
  for (stow_value value = 0; value < program->tables->value_count && is; ++value) {
    is = end_at(program->plan, value, step) <= above;
  }
  return is;
}

static stow_status check_scratch(const stowi_export* program, const stowi_export_region* region,
                                 uint32_t number, stow_diag* diag) {
  const stowi_export_range* range = program->range;
  stow_node node = stow_plan_order(program->plan)[number];
  const stowi_export_prices* prices = &range->prices[node];
  const stowi_exec_step* step = &program->tables->steps[node];
  const stowi_export_room* room = &region->rooms[node];
  uint64_t need = step->price_count == 0 ? 0 : step->prices[step->price_count - 1].scratch;
  bool is_right = prices->count == 0 || (uint64_t)range->numbers[room->size] == need;
  is_right = is_right && (prices->count < 2 || is_free(program, room, number));
  for (uint32_t i = 0; i < prices->count && is_right && has_scratch(step); ++i) {
    is_right = (uint64_t)range->numbers[stowi_export_price_number(range, node, i)] ==
               price_of(step, prices->variants[i]);
  }
  if (!is_right) {
    char label[STOWI_EXPORT_LABEL_SIZE];
    stowi_export_label(program->graph, node, label);
    stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s has scratch that no formula gives", label);
    stowi_diag_node(diag, node);
    return STOW_ERR_UNSUPPORTED;
  }
  return STOW_OK;
}

static bool is_same(const stowi_exec_instruction* a, const stowi_exec_instruction* b) {
  return a->action == b->action && a->node == b->node && a->from == b->from && a->to == b->to &&
         a->loop == b->loop && a->target == b->target && a->at == b->at &&
         a->is_wanted == b->is_wanted;
}

static stow_status check_code(stowi_export* program, const stowi_export_region* region,
                              stow_diag* diag) {
  stowi_exec_code* now = &program->range->now;
  STOW_TRY(stowi_exec_code_fill(now, program->tables, program->plan, diag));
  for (size_t i = 0; i < now->count && i < region->code.count; ++i) {
    if (!is_same(&now->instructions[i], &region->code.instructions[i])) {
      char label[STOWI_EXPORT_LABEL_SIZE];
      stowi_export_label(program->graph, now->instructions[i].node, label);
      stowi_fail(diag, STOW_ERR_UNSUPPORTED, "%s moves other bytes at other shapes of the range",
                 label);
      stowi_diag_node(diag, now->instructions[i].node);
      return STOW_ERR_UNSUPPORTED;
    }
  }
  return now->count == region->code.count
             ? STOW_OK
             : stowi_fail(diag, STOW_ERR_UNSUPPORTED, "the steps depend on the shape");
}

static stow_status check_point(stowi_export* program, size_t point, stow_diag* diag) {
  stowi_export_range* range = program->range;
  const stowi_export_region* region = &range->regions[stowi_export_region_of(program, point)];
  STOW_TRY(stowi_export_range_move(program, point, diag));
  STOW_TRY(check_code(program, region, diag));
  STOW_TRY(stowi_export_place_values(program, diag));
  const stowi_export_instructions* lists[] = {&range->words, &region->words};
  for (size_t i = 0; i < 2; ++i) {
    stow_program_formula formula = {lists[i]->code.data, lists[i]->code.count, range->longs.data,
                                    range->cells.data};
    stow_program_evaluate(&formula, range->values, point, range->numbers);
  }
  for (stow_value value = 0; value < program->tables->value_count; ++value) {
    STOW_TRY(check_value(program, region, value, diag));
  }
  for (uint32_t step = 0; step < stow_plan_step_count(program->plan); ++step) {
    STOW_TRY(check_scratch(program, region, step, diag));
  }
  return stowi_export_check_blocks(program, point, diag);
}

stow_status stowi_export_range_finish(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  size_t count = stow_formula_point_count(range->formula);
  STOW_TRY(stowi_export_make_numbers(program, diag));
  STOW_TRY(check_memories(program, diag));
  range->numbers = STOWI_ARRAY_ZERO(program->allocator, int64_t, range->number_count);
  STOW_TRY(stowi_need_memory(range->numbers != NULL, diag));
  for (size_t point = 0; point < count; ++point) {
    STOW_TRY(check_point(program, point, diag));
  }
  return stowi_export_add_shaped(program, diag);
}
