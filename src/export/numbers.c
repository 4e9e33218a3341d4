// Numbers of a program for a range, as instructions (program/numbers.h). First what is the same in
// all regions: dims, sizes, scratch. Then, of each region, offsets from the bottom up, each as low
// as those below it allow; and what is free above all that lives at a step whose kernel is faster
// with more scratch.
#include <string.h>

#include "base/diag.h"
#include "export/writer.h"
#include "graph/api.h"
#include "place/api.h"

// ---------------------------------------------------------------------------------------------
// Dims and tables

static stow_status put_operation(void* user, stowi_graph_dim_op op, int64_t number) {
  static const stow_program_op ops[] = {[STOWI_GRAPH_DIM_ADD] = STOW_PROGRAM_ADD,
                                        [STOWI_GRAPH_DIM_MUL] = STOW_PROGRAM_MUL,
                                        [STOWI_GRAPH_DIM_FLOOR_DIV] = STOW_PROGRAM_FLOOR_DIV,
                                        [STOWI_GRAPH_DIM_CEIL_DIV] = STOW_PROGRAM_CEIL_DIV,
                                        [STOWI_GRAPH_DIM_MIN] = STOW_PROGRAM_MIN,
                                        [STOWI_GRAPH_DIM_MAX] = STOW_PROGRAM_MAX};
  stowi_export_writer* w = (stowi_export_writer*)user;
  size_t symbol = 0;
  switch (op) {
    case STOWI_GRAPH_DIM_NUMBER: stowi_export_emit_int(w, number); break;
    case STOWI_GRAPH_DIM_SYMBOL:
      while (symbol < w->range->symbol_count && w->range->symbols[symbol] != (size_t)number) {
        ++symbol;
      }
      stowi_export_writer_fail(w,
                               symbol == w->range->symbol_count ? STOW_ERR_UNBOUND_DIM : STOW_OK);
      stowi_export_emit(w, STOW_PROGRAM_SYMBOL, symbol);
      break;
    default: stowi_export_emit(w, ops[op], 0);
  }
  return w->status;
}

static uint32_t find_dim(const stowi_export_range* range, stow_dim dim) {
  for (size_t i = 0; i < range->dims.count; ++i) {
    if (range->dims.data[i].dim == dim) {
      return range->dims.data[i].number;
    }
  }
  return STOWI_EXPORT_NO_NUMBER;
}

static void add_dim(stowi_export_writer* w, stow_dim dim) {
  stowi_export_range* range = w->range;
  if (w->status != STOW_OK || find_dim(range, dim) != STOWI_EXPORT_NO_NUMBER) {
    return;
  }
  const stow_dims* dims = stow_graph_dims(stowi_plan_formula_graph(range->formula));
  stowi_export_writer_fail(w, STOWI_VEC_RESERVE(w->program->allocator, &range->dims, 1));
  stowi_export_writer_fail(w, stowi_graph_dim_postfix(dims, dim, put_operation, w));
  uint32_t number = stowi_export_keep(w);
  if (w->status == STOW_OK) {
    range->dims.data[range->dims.count++] = (stowi_export_dim){dim, number};
  }
}

// Pairs of a size, and the first point that has another one.
static void add_table(stowi_export_writer* w, uint32_t expr, const uint64_t* table) {
  size_t count = stow_formula_point_count(w->range->formula);
  size_t first = w->range->longs.count;
  if (w->range->tables[expr] != STOWI_EXPORT_NO_NUMBER) {
    return;
  }
  for (size_t i = 0; i < count;) {
    size_t end = i + 1;
    while (end < count && table[end] == table[i]) {
      ++end;
    }
    (void)stowi_export_add_long(w, (int64_t)table[i]);
    (void)stowi_export_add_long(w, (int64_t)end);
    i = end;
  }
  stowi_export_emit(w, STOW_PROGRAM_TABLE, first);
  w->range->tables[expr] = stowi_export_keep(w);
}

static void add_expr(stowi_export_writer* w, uint32_t expr) {
  size_t count;
  const stowi_plan_formula_expr* from = &stowi_plan_formula_exprs(w->range->formula, &count)[expr];
  if (from->table != NULL) {
    add_table(w, expr, from->table);
  } else {
    add_dim(w, from->dim);
  }
}

uint32_t stowi_export_number_of(const stowi_export_range* range, uint32_t expr) {
  size_t count;
  const stowi_plan_formula_expr* from = &stowi_plan_formula_exprs(range->formula, &count)[expr];
  return from->table != NULL ? range->tables[expr] : find_dim(range, from->dim);
}

// Pushes an expression.
static void put_expr(stowi_export_writer* w, uint32_t expr) {
  size_t count;
  const stowi_plan_formula_expr* from = &stowi_plan_formula_exprs(w->range->formula, &count)[expr];
  if (from->table == NULL && from->dim >= 0) {
    stowi_export_emit_int(w, from->dim);
  } else {
    stowi_export_emit(w, STOW_PROGRAM_NUMBER, stowi_export_number_of(w->range, expr));
  }
}

uint32_t stowi_export_price_number(const stowi_export_range* range, stow_node node, uint32_t i) {
  const stowi_export_prices* prices = &range->prices[node];
  return prices->exprs[i] == STOWI_EXPORT_NO_NUMBER
             ? prices->numbers[i]
             : stowi_export_number_of(range, prices->exprs[i]);
}

// ---------------------------------------------------------------------------------------------
// What is the same in all regions

static void add_common(stowi_export_writer* w) {
  stowi_export_range* range = w->range;
  const stow_graph* graph = stowi_plan_formula_graph(range->formula);
  for (stow_value value = 0; value < w->program->tables->value_count; ++value) {
    const stow_type* type = stow_graph_type(graph, value);
    for (uint32_t i = 0; i < type->rank; ++i) {
      if (!stow_dim_is_const(type->dims[i])) {
        add_dim(w, type->dims[i]);
      }
    }
  }
  for (size_t r = 0; r < range->region_count; ++r) {
    stowi_plan_formula_structure from = stowi_plan_formula_structure_of(range->formula, r);
    for (uint32_t i = 0; i < from.parts[from.part_count].first_low; ++i) {
      add_expr(w, from.terms[i]);
    }
    for (size_t i = 0; i < from.buffer_count; ++i) {
      add_expr(w, from.buffers[i].size);
    }
    for (stow_value value = 0; value < w->program->tables->value_count; ++value) {
      add_expr(w, from.values[value].inner);
    }
  }
  for (stow_node node = 0; node < w->program->tables->node_count; ++node) {
    for (uint32_t i = 0; i < range->prices[node].count; ++i) {
      if (range->prices[node].exprs[i] != STOWI_EXPORT_NO_NUMBER) {
        add_expr(w, range->prices[node].exprs[i]);
      }
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Offsets

static void put_terms(stowi_export_writer* w, const uint32_t* terms, size_t count,
                      stow_program_op op) {
  for (size_t i = 0; i < count; ++i) {
    put_expr(w, terms[i]);
    if (i > 0) {
      stowi_export_emit(w, op, 0);
    }
  }
}

static void put_high(stowi_export_writer* w, const stowi_plan_formula_structure* from,
                     size_t number) {
  const stowi_plan_formula_part* part = &from->parts[number];
  const stowi_plan_formula_buffer* buffer = &from->buffers[part->buffer];
  put_terms(w, &from->terms[part->first_high], part[1].first_low - part->first_high,
            STOW_PROGRAM_MAX);
  if (buffer->empty_size != 0) {
    stowi_export_emit_int(w, (int64_t)buffer->empty_size);
    stowi_export_emit(w, STOW_PROGRAM_ELSE, 0);
  }
  if (buffer->most != 0) {
    stowi_export_emit_int(w, (int64_t)buffer->most);
    stowi_export_emit(w, STOW_PROGRAM_MAX, 0);
  }
  if (buffer->guard != 0) {
    stowi_export_emit_int(w, (int64_t)buffer->guard);
    stowi_export_emit(w, STOW_PROGRAM_ADD, 0);
  }
}

static uint32_t power_of(uint64_t alignment) {
  uint32_t power = 0;
  while (power < 62 && (UINT64_C(1) << power) < alignment) {
    ++power;
  }
  return power;
}

static void put_offset(stowi_export_writer* w, stowi_export_region* region,
                       const stowi_plan_formula_structure* from, size_t place) {
  const stowi_place_orientation* o = from->orientation;
  uint32_t buffer = o->order[place];
  const stowi_place_constraint* constraint = &from->constraints[buffer];
  bool is_fixed = constraint->fixed_offset != STOW_PLACE_ANYWHERE;
  stowi_export_emit_int(w, is_fixed ? (int64_t)constraint->fixed_offset : 0);
  for (size_t e = o->first_edge[place]; !is_fixed && e < o->first_edge[place + 1]; ++e) {
    const stowi_plan_formula_part* above = &from->parts[o->edges[e].above];
    uint32_t end = region->ends[o->edges[e].below];
    if (above->at_bottom) {
      stowi_export_emit(w, STOW_PROGRAM_RAISE, end);
      continue;
    }
    stowi_export_emit(w, STOW_PROGRAM_NUMBER, end);
    put_terms(w, &from->terms[above->first_low], above->first_high - above->first_low,
              STOW_PROGRAM_MIN);
    stowi_export_emit(w, STOW_PROGRAM_SUB, 0);
    stowi_export_emit(w, STOW_PROGRAM_MAX, 0);
  }
  if (!is_fixed && constraint->alignment > 1) {
    stowi_export_emit(w, STOW_PROGRAM_ALIGN, power_of(constraint->alignment));
  }
  region->offsets[buffer] = stowi_export_keep(w);
}

// Where the buffer's parts end, each that something lies above.
static void put_ends(stowi_export_writer* w, stowi_export_region* region,
                     const stowi_plan_formula_structure* from, uint32_t buffer) {
  for (uint32_t i = from->buffers[buffer].first_part; i < from->buffers[buffer + 1].first_part;
       ++i) {
    if (region->ends[i] != STOWI_EXPORT_NO_NUMBER) {
      stowi_export_emit(w, STOW_PROGRAM_NUMBER, region->offsets[buffer]);
      put_high(w, from, i);
      stowi_export_emit(w, STOW_PROGRAM_ADD, 0);
      region->ends[i] = stowi_export_keep(w);
    }
  }
}

static bool lives_at(const stowi_plan_formula_part* part, uint32_t step) {
  return part->begin <= step && step < part->end;
}

static bool is_fast_with_more(const stowi_export_range* range, stow_node node) {
  return range->prices[node].count > 1;
}

// Marks what is needed with 0.
static void mark_ends(stowi_export_writer* w, stowi_export_region* region,
                      const stowi_plan_formula_structure* from) {
  const stowi_place_orientation* o = from->orientation;
  memset(region->ends, 0xff, from->part_count * sizeof(region->ends[0]));
  for (size_t e = 0; e < o->edge_count; ++e) {
    region->ends[o->edges[e].below] = 0;
  }
  for (uint32_t step = 0; step < w->program->tables->node_count; ++step) {
    bool is_needed = is_fast_with_more(w->range, from->order[step]);
    for (size_t i = 0; is_needed && i < from->part_count; ++i) {
      region->ends[i] = lives_at(&from->parts[i], step) ? 0 : region->ends[i];
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Scratch

// The buffer of the node's scratch; |buffer_count|: it has none.
static uint32_t scratch_of(const stowi_export* program, const stowi_plan_formula_structure* from,
                           stow_node node) {
  const stowi_exec_step* step = &program->tables->steps[node];
  uint32_t i = 0;
  while (i < from->buffer_count &&
         (from->buffers[i].kind != STOWI_PLAN_FORMULA_SCRATCH || from->buffers[i].id != node ||
          from->buffers[i].index != step->scratch_index)) {
    ++i;
  }
  return i;
}

// |own| is the buffer of the scratch, or |buffer_count|: the plan has none.
static uint32_t put_above(stowi_export_writer* w, const stowi_export_region* region,
                          const stowi_plan_formula_structure* from, uint32_t step, uint32_t own) {
  bool has_own = own < from->buffer_count;
  uint64_t alignment = has_own ? from->constraints[own].alignment : STOWI_EXPORT_ALIGNMENT;
  stowi_export_emit_int(w, 0);
  for (size_t i = 0; i < from->part_count; ++i) {
    if (lives_at(&from->parts[i], step) && from->parts[i].buffer != own) {
      stowi_export_emit(w, STOW_PROGRAM_RAISE, region->ends[i]);
    }
  }
  stowi_export_emit(w, STOW_PROGRAM_ALIGN, power_of(alignment));
  return stowi_export_keep(w);
}

// Where a region has no place for scratch, it needs no bytes at any point.
static void put_room(stowi_export_writer* w, stowi_export_region* region,
                     const stowi_plan_formula_structure* from, uint32_t step) {
  stow_node node = from->order[step];
  uint32_t own = scratch_of(w->program, from, node);
  bool has_own = own < from->buffer_count;
  uint32_t count = w->range->prices[node].count;
  stowi_export_room* room = &region->rooms[node];
  if (!has_own && count == 0) {
    return;
  }
  room->size = has_own ? stowi_export_number_of(w->range, from->buffers[own].size)
                       : stowi_export_price_number(w->range, node, count - 1);
  room->at = has_own ? region->offsets[own] : room->size;
  room->above =
      is_fast_with_more(w->range, node) ? put_above(w, region, from, step, own) : room->at;
}

// ---------------------------------------------------------------------------------------------
// Values

static uint32_t buffer_of(const stowi_plan_formula_structure* from, stow_value root) {
  uint32_t i = 0;
  while (i < from->buffer_count &&
         (from->buffers[i].kind != STOWI_PLAN_FORMULA_ROOT || from->buffers[i].id != root)) {
    ++i;
  }
  return i;
}

static bool is_zero(const stowi_export_range* range, uint32_t expr) {
  size_t count;
  const stowi_plan_formula_expr* from = &stowi_plan_formula_exprs(range->formula, &count)[expr];
  return from->table == NULL && from->dim == 0;
}

// The value whose bytes a place's memory has.
static stow_value owner_of(const stowi_export* program, const stowi_export_place* place) {
  return place->is_external          ? place->port
         : place->weight == SIZE_MAX ? STOW_VALUE_NONE
                                     : program->weights.data[place->weight].value;
}

// The plan has places in roots, also in those outside the arena. What it does not have is where it
// is at the last point.
static void put_outside(stowi_export_writer* w, const stowi_export_region* region,
                        const stowi_plan_formula_structure* from, stow_value value,
                        stowi_export_spot* spot) {
  const stowi_export_place* place = &region->places[value];
  const stowi_plan_formula_value* own = &from->values[value];
  if (value != own->root && own->root == owner_of(w->program, place)) {
    spot->number = stowi_export_number_of(w->range, own->inner);
    return;
  }
  stowi_export_emit_int(w, spot->memory == 0 ? 0 : (int64_t)place->offset);
  spot->number = stowi_export_keep(w);
}

static void put_spot(stowi_export_writer* w, stowi_export_region* region,
                     const stowi_plan_formula_structure* from, stow_value value) {
  const stowi_plan_formula_value* own = &from->values[value];
  stowi_export_spot* spot = &region->spots[value];
  stowi_export_writer_fail(
      w, stowi_export_find_memory(w->program, &region->places[value], &spot->memory));
  bool is_inside = spot->memory == 0 && own->has_slot;
  uint32_t buffer = is_inside ? buffer_of(from, own->root) : (uint32_t)from->buffer_count;
  if (buffer == from->buffer_count) {
    put_outside(w, region, from, value, spot);
  } else if (is_zero(w->range, own->inner)) {
    spot->number = region->offsets[buffer];
  } else {
    stowi_export_emit(w, STOW_PROGRAM_NUMBER, region->offsets[buffer]);
    put_expr(w, own->inner);
    stowi_export_emit(w, STOW_PROGRAM_ADD, 0);
    spot->number = stowi_export_keep(w);
  }
}

static void add_region(stowi_export_writer* w, size_t number) {
  stowi_export_region* region = &w->range->regions[number];
  stowi_plan_formula_structure from = stowi_plan_formula_structure_of(w->range->formula, number);
  w->words = &region->words;
  mark_ends(w, region, &from);
  for (size_t place = 0; place < from.buffer_count; ++place) {
    put_offset(w, region, &from, place);
    put_ends(w, region, &from, from.orientation->order[place]);
  }
  for (uint32_t step = 0; step < w->program->tables->node_count; ++step) {
    put_room(w, region, &from, step);
  }
  for (stow_value value = 0; value < w->program->tables->value_count; ++value) {
    if (w->program->tensors[value].is_bound) {
      put_spot(w, region, &from, value);
    }
  }
}

stow_status stowi_export_make_numbers(stowi_export* program, stow_diag* diag) {
  stowi_export_range* range = program->range;
  stowi_export_writer w = {.program = program, .range = range, .words = &range->words};
  (void)stowi_plan_formula_exprs(range->formula, &range->table_count);
  range->tables = STOWI_ARRAY(program->allocator, uint32_t, range->table_count);
  STOW_TRY(stowi_need_memory(range->tables != NULL, diag));
  memset(range->tables, 0xff, range->table_count * sizeof(range->tables[0]));
  add_common(&w);
  if (range->blocks.count > 0) {
    stowi_export_add_bases(&w);
    stowi_export_writer_fail(&w, w.status == STOW_OK ? stowi_export_fit_blocks(program) : w.status);
  }
  range->common_count = range->number_count;
  uint32_t most = range->common_count;
  for (size_t i = 0; i < range->region_count && w.status == STOW_OK; ++i) {
    range->number_count = range->common_count;
    add_region(&w, i);
    most = range->number_count > most ? range->number_count : most;
  }
  range->number_count = most;
  if (w.status == STOW_ERR_OUT_OF_MEMORY) {
    return stowi_fail_memory(diag);
  }
  return w.status == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, w.status, "the sizes along the range are too long for a program");
}
