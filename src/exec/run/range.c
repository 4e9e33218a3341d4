// Executors of a range of shapes. Kernels, code and arena are made once; at another point, sizes
// are evaluated, offsets follow from the formula plan, and tensors get their dims and places. All
// points are visited when the executor is made: what needs memory has it then, and what changes is
// noted, so that a move only sets numbers (changes.c).
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/run/exec.h"
#include "graph/api.h"
#include "plan/api.h"

// ---------------------------------------------------------------------------------------------
// Points

// The values of a point as `--bind` has them.
typedef struct point_text {
  char text[256];
} point_text;

static point_text text_of(const stowi_exec_range* range, const int64_t* values) {
  point_text out = {""};
  size_t used = 0;
  for (size_t i = 0; i < range->symbol_count && used < sizeof(out.text); ++i) {
    stow_str name = stow_formula_symbol(range->formula, i, NULL);
    int count = snprintf(out.text + used, sizeof(out.text) - used, "%s%.*s=%" PRId64,
                         i == 0 ? "" : ",", (int)name.size, name.data, values[i]);
    used += count < 0 ? 0 : (size_t)count;
  }
  return out;
}

static uint64_t arena_at(const stowi_exec_range* range, size_t point) {
  stow_formula_point info = {.struct_size = sizeof(info)};
  (void)stow_formula_describe_point(range->formula, point, &info);
  return info.arena_size;
}

// Sizes and plan of |point|.
static stow_status measure(stow_exec* exec, size_t point, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  (void)stow_formula_point_values(range->formula, point, range->values);
  for (size_t i = 0; i < range->symbol_count; ++i) {
    range->numbers[range->symbols[i]] = range->values[i];
  }
  STOW_TRY(stowi_exec_prepared_bind(range->own, range->numbers, diag));
  return stowi_plan_mover_to(range->mover, point, diag, &exec->plan);
}

// The first visit of a point.
static stow_status explore(stow_exec* exec, size_t point, stow_diag* diag) {
  STOW_TRY(measure(exec, point, diag));
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    uint64_t bytes = exec->program->values[value].bytes;
    uint64_t* most = &exec->range->most_bytes[value];
    *most = bytes > *most ? bytes : *most;
  }
  stowi_exec_carry_visit(exec);
  return STOW_OK;
}

uint64_t stow_exec_most_bytes(const stow_exec* exec, stow_value value) {
  if (value >= exec->program->value_count) {
    return 0;
  }
  return exec->range == NULL ? exec->program->values[value].bytes : exec->range->most_bytes[value];
}

// Poison and paranoia follow a whole plan, which is made for the point.
static stow_status watch(stow_exec* exec, size_t point, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  if (!exec->options.poison && !exec->options.paranoid) {
    return STOW_OK;
  }
  stow_plan* plan;
  STOW_TRY(stow_formula_at(range->formula, point, exec->graph, range->own->effects, exec->allocator,
                           diag, &plan));
  stow_arena_destroy(exec->arena);
  stowi_exec_paranoia_destroy(exec->paranoia);
  exec->arena = NULL;
  exec->paranoia = NULL;
  stow_plan_destroy(range->watched);
  range->watched = plan;
  exec->plan = plan;
  STOW_TRY(stowi_exec_make_arena(exec, diag));
  return exec->options.paranoid
             ? stowi_exec_paranoia_create(exec->plan, exec->allocator, diag, &exec->paranoia)
             : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Creation

static stow_status make_tables(stow_exec* exec, const stow_formula* formula, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  const stow_dims* dims = stow_graph_dims(exec->prepared->source);
  range->formula = formula;
  range->symbol_count = stow_formula_symbol_count(formula);
  range->number_count = stow_dims_symbol_count(dims);
  range->symbols = STOWI_ARRAY(exec->allocator, size_t, range->symbol_count);
  range->values = STOWI_ARRAY(exec->allocator, int64_t, range->symbol_count);
  range->asked = STOWI_ARRAY(exec->allocator, int64_t, range->symbol_count);
  range->numbers = STOWI_ARRAY_ZERO(exec->allocator, int64_t, range->number_count);
  STOW_TRY(stowi_need_memory(range->symbols != NULL && range->values != NULL &&
                                 range->asked != NULL && range->numbers != NULL,
                             diag));
  for (size_t i = 0; i < range->symbol_count; ++i) {
    range->symbols[i] = stow_dims_find_symbol(dims, stow_formula_symbol(formula, i, NULL));
    if (range->symbols[i] == SIZE_MAX) {
      return stowi_fail(diag, STOW_ERR_STALE_PLAN, "the formula plan was made for another graph");
    }
  }
  return STOW_OK;
}

// Bytes that the arena has: what the largest point needs, if the caller does not say.
static stow_status find_capacity(stow_exec* exec, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  stow_formula_info info = {.struct_size = sizeof(info)};
  STOW_TRY(stow_formula_describe(range->formula, &info));
  if (info.fingerprint != stow_graph_fingerprint(exec->prepared->source)) {
    return stowi_fail(diag, STOW_ERR_STALE_PLAN, "the formula plan was made for another graph");
  }
  uint64_t asked =
      exec->options.memory != NULL ? exec->options.memory_size : exec->options.capacity;
  range->capacity = asked != 0 && asked < info.largest_arena ? asked : info.largest_arena;
  range->alignment = info.alignment;
  uint64_t least = UINT64_MAX;
  for (size_t point = 0; point < info.point_count; ++point) {
    uint64_t arena = arena_at(range, point);
    least = arena < least ? arena : least;
    range->last = arena <= range->capacity ? point : range->last;
  }
  return least <= range->capacity ? STOW_OK
                                  : stowi_fail(diag, STOW_ERR_LIMIT,
                                               "no point of the range fits in %" PRIu64
                                               " bytes; the smallest arena has %" PRIu64,
                                               range->capacity, least);
}

stow_status stowi_exec_range_begin(stow_exec* exec, const stow_formula* formula, stow_diag* diag) {
  if (exec->prepared->twin == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the graph was not prepared with ranges; use stow_exec_create");
  }
  exec->range = STOWI_NEW(exec->allocator, stowi_exec_range);
  STOW_TRY(stowi_need_memory(exec->range != NULL, diag));
  stowi_exec_range* range = exec->range;
  STOW_TRY(make_tables(exec, formula, diag));
  STOW_TRY(find_capacity(exec, diag));
  STOW_TRY(stowi_exec_prepared_copy(exec->prepared, exec->allocator, diag, &range->own));
  exec->program = &range->own->program;
  exec->graph = exec->program->graph;
  stow_formula_effects effects = stow_prepared_formula_effects(range->own);
  STOW_TRY(stow_formula_check(formula, &effects, exec->allocator, diag));
  STOW_TRY(stowi_plan_mover_create(formula, exec->graph, range->own->effects, exec->allocator, diag,
                                   &range->mover));
  range->most_bytes = STOWI_ARRAY_ZERO(exec->allocator, uint64_t, exec->program->value_count);
  STOW_TRY(stowi_need_memory(range->most_bytes != NULL, diag));
  for (size_t point = 0; point < stow_formula_point_count(formula); ++point) {
    STOW_TRY(explore(exec, point, diag));
  }
  STOW_TRY(measure(exec, range->last, diag));
  range->point = range->last;
  return STOW_OK;
}

void stowi_exec_range_destroy(stow_exec* exec) {
  stowi_exec_range* range = exec->range;
  if (range == NULL) {
    return;
  }
  stow_plan_destroy(range->watched);
  stowi_plan_mover_destroy(range->mover);
  stowi_exec_changes_destroy(range->changes);
  STOWI_ARRAY_FREE(exec->allocator, range->open, range->open_count);
  STOWI_ARRAY_FREE(exec->allocator, range->most_bytes, exec->program->value_count);
  stow_prepared_destroy(range->own);
  STOWI_ARRAY_FREE(exec->allocator, range->symbols, range->symbol_count);
  STOWI_ARRAY_FREE(exec->allocator, range->values, range->symbol_count);
  STOWI_ARRAY_FREE(exec->allocator, range->asked, range->symbol_count);
  STOWI_ARRAY_FREE(exec->allocator, range->numbers, range->number_count);
  STOWI_DELETE(exec->allocator, range);
}

// ---------------------------------------------------------------------------------------------
// Another point

// Gives everything the numbers of |point|, which fits.
static stow_status compute(stow_exec* exec, size_t point, stow_diag* diag) {
  STOW_TRY(measure(exec, point, diag));
  STOW_TRY(watch(exec, point, diag));
  STOW_TRY(stowi_exec_code_fill(&exec->code, exec->program, exec->plan, diag));
  stowi_exec_frame_measure(&exec->frame);
  return stowi_exec_place_again(exec, diag);
}

// The same, where they were noted.
static stow_status recall(stow_exec* exec, size_t point, stow_diag* diag) {
  const stowi_exec_range* range = exec->range;
  stowi_exec_changes_set(range->changes, point);
  stowi_exec_place_open(exec, range->open, range->open_count);
  return stowi_exec_code_fill_order(&exec->code, exec->program, exec->plan, diag);
}

static stow_status move_to(stow_exec* exec, size_t point, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  uint64_t arena = arena_at(range, point);
  if (arena > range->capacity) {
    (void)stow_formula_point_values(range->formula, point, range->asked);
    return stowi_fail(diag, STOW_ERR_LIMIT,
                      "%s needs an arena of %" PRIu64 " bytes, but it has %" PRIu64,
                      text_of(range, range->asked).text, arena, range->capacity);
  }
  if (point == range->point) {
    return STOW_OK;
  }
  range->point = SIZE_MAX;
  STOW_TRY((range->changes == NULL ? compute : recall)(exec, point, diag));
  stowi_exec_carry_stride(exec);
  range->point = point;
  return STOW_OK;
}

stow_status stow_exec_set_point(stow_exec* exec, const int64_t* values, stow_diag* diag) {
  size_t point;
  STOW_TRY(stowi_exec_idle(exec, "stow_exec_set_point", diag));
  if (exec->range == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "the executor is for one shape");
  }
  if (stow_formula_find_point(exec->range->formula, values, &point) != STOW_OK) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "%s is not in the range",
                      text_of(exec->range, values).text);
  }
  STOW_TRY(move_to(exec, point, diag));
  exec->range->is_told = true;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// What changes

static void name_all(stow_exec* exec, stowi_exec_changes* changes) {
  stowi_exec_range* range = exec->range;
  const stow_prepared* own = range->own;
  stowi_exec_code* code = &exec->code;
  stowi_exec_changes_name(changes, range->values, range->symbol_count * sizeof(int64_t));
  stowi_exec_changes_name(changes, range->numbers, range->number_count * sizeof(int64_t));
  stowi_exec_changes_name(changes, (void*)&exec->plan, sizeof(exec->plan));
  stowi_graph_twin_name(own->twin, stowi_exec_changes_name, changes);
  for (stow_value value = 0; value < own->program.value_count; ++value) {
    stowi_exec_value* entry = &own->program.values[value];
    if (!entry->is_steady) {
      stowi_exec_changes_name(changes, &entry->bytes, sizeof(entry->bytes));
      stowi_exec_changes_name(changes, &entry->parent, sizeof(entry->parent));
      stowi_exec_changes_name(changes, &entry->distance, sizeof(entry->distance));
    }
  }
  for (stow_node node = 0; node < own->program.node_count; ++node) {
    stow_slot* scratch = &code->scratch[node];
    stowi_exec_changes_name(changes, &scratch->offset, sizeof(scratch->offset));
    stowi_exec_changes_name(changes, &scratch->size, sizeof(scratch->size));
    stowi_exec_changes_name(changes, &code->variants[node], sizeof(code->variants[node]));
  }
  stowi_exec_blocks_name(own->blocks, changes);
  stowi_exec_place_name(exec, changes);
}

// Notes all points that fit; |*out_is_worth| is false if that takes too much room.
static stow_status note_all(stow_exec* exec, stowi_exec_changes* changes, stow_diag* diag,
                            bool* out_is_worth) {
  stowi_exec_range* range = exec->range;
  *out_is_worth = true;
  name_all(exec, changes);
  for (size_t point = 0; *out_is_worth && point < stow_formula_point_count(range->formula);
       ++point) {
    if (arena_at(range, point) <= range->capacity) {
      STOW_TRY(compute(exec, point, diag));
      STOW_TRY(stowi_exec_changes_note(changes, point, diag, out_is_worth));
    }
  }
  STOW_TRY(compute(exec, range->last, diag));
  return *out_is_worth ? stowi_exec_changes_finish(changes, diag) : STOW_OK;
}

static stow_status list_open(stow_exec* exec, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    range->open_count += stowi_exec_is_open(exec, value);
  }
  range->open = STOWI_ARRAY(exec->allocator, stow_value, range->open_count);
  STOW_TRY(stowi_need_memory(range->open != NULL, diag));
  size_t count = 0;
  for (stow_value value = 0; value < exec->program->value_count; ++value) {
    if (stowi_exec_is_open(exec, value)) {
      range->open[count++] = value;
    }
  }
  return STOW_OK;
}

stow_status stowi_exec_range_end(stow_exec* exec, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  if (exec->options.poison || exec->options.paranoid) {
    return watch(exec, range->point, diag);
  }
  stowi_exec_changes* changes;
  bool is_worth = false;
  STOW_TRY(list_open(exec, diag));
  STOW_TRY(stowi_exec_changes_create(stow_formula_point_count(range->formula), exec->allocator,
                                     diag, &changes));
  stow_status status = note_all(exec, changes, diag, &is_worth);
  if (status != STOW_OK || !is_worth) {
    stowi_exec_changes_destroy(changes);
    return status;
  }
  range->changes = changes;
  stowi_exec_carry_stride(exec);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The point that an input's dims ask for

// How many symbols of |dim| are not found yet, and the last of them.
static size_t missing_of(const stowi_exec_range* range, const stow_dims* dims, stow_dim dim,
                         uint64_t found, size_t* out_symbol) {
  size_t count = 0;
  for (size_t i = 0; i < range->symbol_count && i < 64; ++i) {
    if ((found >> i & 1) == 0 && stow_dim_uses(dims, dim, range->symbols[i])) {
      *out_symbol = i;
      ++count;
    }
  }
  return count;
}

// Dims are linear in the symbols of inputs, or not found this way.
static bool solve(const stowi_exec_range* range, const stow_dims* dims, stow_dim dim,
                  int64_t number, size_t symbol) {
  int64_t* own = &range->numbers[range->symbols[symbol]];
  int64_t at_none, at_one;
  *own = 0;
  bool is_there = stow_dim_evaluate(dims, dim, range->numbers, &at_none) == STOW_OK;
  *own = 1;
  is_there = is_there && stow_dim_evaluate(dims, dim, range->numbers, &at_one) == STOW_OK;
  if (!is_there || at_one == at_none || (number - at_none) % (at_one - at_none) != 0) {
    return false;
  }
  *own = range->asked[symbol] = (number - at_none) / (at_one - at_none);
  return true;
}

// Finds symbols from the dims of a value, which must fit.
static bool solve_all(const stow_exec* exec, stow_value value, const stow_tensor* tensor,
                      uint64_t* found) {
  const stowi_exec_range* range = exec->range;
  const stow_type* type = stow_graph_type(exec->prepared->source, value);
  const stow_dims* dims = stow_graph_dims(exec->prepared->source);
  bool is_found = tensor->dtype == type->dtype && tensor->rank == type->rank;
  for (size_t pass = 0; pass < range->symbol_count; ++pass) {
    for (uint32_t i = 0; is_found && i < type->rank; ++i) {
      size_t symbol = 0;
      if (!stow_dim_is_const(type->dims[i]) && tensor->dims[i] >= 0 &&
          tensor->dims[i] <= STOW_DIM_RANGE_MAX &&
          missing_of(range, dims, type->dims[i], *found, &symbol) == 1) {
        is_found = solve(range, dims, type->dims[i], tensor->dims[i], symbol);
        *found |= UINT64_C(1) << symbol;
      }
    }
  }
  return is_found;
}

// What a run has left tells the symbols of the input that it becomes; before the first run, these
// are the least.
static void follow_carries(const stow_exec* exec, uint64_t* found) {
  const stowi_exec_range* range = exec->range;
  const stow_dims* dims = stow_graph_dims(exec->prepared->source);
  for (size_t i = 0; i < exec->carry_count; ++i) {
    const stowi_exec_carry* carry = &exec->carries[i];
    const stow_type* type = stow_graph_type(exec->prepared->source, carry->input);
    if (carry->is_pending) {
      (void)solve_all(exec, carry->input, &carry->left, found);
    } else if (!exec->places[carry->input].is_set) {
      for (uint32_t k = 0; k < type->rank; ++k) {
        size_t symbol = 0;
        if (missing_of(range, dims, type->dims[k], *found, &symbol) == 1) {
          stow_dim_range own;
          (void)stow_formula_symbol(range->formula, symbol, &own);
          range->asked[symbol] = range->numbers[range->symbols[symbol]] = own.min;
          *found |= UINT64_C(1) << symbol;
        }
      }
    }
  }
}

static bool has_dims(const stow_exec* exec, stow_value value, const stow_tensor* tensor) {
  const stow_type* type = stow_graph_type(exec->prepared->source, value);
  const stow_dims* dims = stow_graph_dims(exec->prepared->source);
  bool has = true;
  for (uint32_t i = 0; has && i < type->rank; ++i) {
    int64_t number;
    has = stow_dim_evaluate(dims, type->dims[i], exec->range->numbers, &number) == STOW_OK &&
          number == tensor->dims[i];
  }
  return has;
}

bool stowi_exec_range_follow(stow_exec* exec, stow_value value, const stow_tensor* tensor,
                             stow_status* out_status, stow_diag* diag) {
  stowi_exec_range* range = exec->range;
  uint64_t found = 0;
  memcpy(range->asked, range->values, range->symbol_count * sizeof(int64_t));
  bool is_found = solve_all(exec, value, tensor, &found);
  if (is_found && !range->is_told) {
    follow_carries(exec, &found);
  }
  is_found = is_found && has_dims(exec, value, tensor);
  for (size_t i = 0; i < range->symbol_count; ++i) {
    range->numbers[range->symbols[i]] = range->values[i];
  }
  size_t point;
  if (!is_found || stow_formula_find_point(range->formula, range->asked, &point) != STOW_OK) {
    return false;
  }
  *out_status = move_to(exec, point, diag);
  return true;
}
