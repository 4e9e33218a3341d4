// Numbers that only kernels know, at every point: one that is there already, a constant, a line
// through a dim or through another one, or a table with a cell for each value of a symbol, or else
// for each point.
#include <string.h>

#include "base/diag.h"
#include "export/writer.h"
#include "graph/api.h"

typedef stowi_export_basis basis;

static bool is_at(const uint8_t* known, size_t point) { return known == NULL || known[point] != 0; }

// Whether all known numbers are |a| + |b| times those of |from|. Sums wrap around, here and in the
// program.
static bool is_line(const int64_t* from, const int64_t* to, const uint8_t* known, size_t count,
                    int64_t* a, int64_t* b) {
  size_t first = 0;
  while (first < count && !is_at(known, first)) {
    ++first;
  }
  size_t other = first;
  while (other < count && (!is_at(known, other) || from[other] == from[first])) {
    ++other;
  }
  if (other >= count || (to[other] - to[first]) % (from[other] - from[first]) != 0) {
    return false;
  }
  *b = (to[other] - to[first]) / (from[other] - from[first]);
  *a = (int64_t)((uint64_t)to[first] - (uint64_t)*b * (uint64_t)from[first]);
  bool is = true;
  for (size_t i = first; i < count && is; ++i) {
    is = !is_at(known, i) || (uint64_t)to[i] == (uint64_t)*a + (uint64_t)*b * (uint64_t)from[i];
  }
  return is;
}

static bool is_equal(const int64_t* a, const int64_t* b, const uint8_t* known, size_t count) {
  bool is = true;
  for (size_t i = 0; i < count && is; ++i) {
    is = !is_at(known, i) || a[i] == b[i];
  }
  return is;
}

static void put_line(stowi_export_writer* w, uint32_t from, int64_t a, int64_t b) {
  stowi_export_emit(w, STOW_PROGRAM_NUMBER, from);
  if (b != 1) {
    stowi_export_emit_int(w, b);
    stowi_export_emit(w, STOW_PROGRAM_MUL, 0);
  }
  if (a != 0) {
    stowi_export_emit_int(w, a);
    stowi_export_emit(w, STOW_PROGRAM_ADD, 0);
  }
}

#define LARGEST_FITTED (INT64_C(1) << 32)

// Adds |values| of |number|, for lines through them.
static void add_basis(stowi_export_writer* w, uint32_t number, const int64_t* values,
                      size_t count) {
  stowi_export_range* range = w->range;
  stowi_export_writer_fail(w, STOWI_VEC_RESERVE(w->program->allocator, &range->bases, 1));
  if (w->status != STOW_OK) {
    return;
  }
  int64_t* copy = STOWI_ARRAY(w->program->allocator, int64_t, count);
  if (copy == NULL) {
    stowi_export_writer_fail(w, STOW_ERR_OUT_OF_MEMORY);
    return;
  }
  memcpy(copy, values, count * sizeof(int64_t));
  range->bases.data[range->bases.count++] = (basis){number, copy};
}

// Replaces the index on top.
static void put_cells(stowi_export_writer* w, const int64_t* cells, size_t count) {
  stowi_export_range* range = w->range;
  size_t first = range->cells.count;
  stowi_export_writer_fail(w, STOWI_VEC_RESERVE(w->program->allocator, &range->cells, count));
  for (size_t i = 0; i < count && w->status == STOW_OK; ++i) {
    range->cells.data[range->cells.count++] = (uint32_t)cells[i];
  }
  stowi_export_emit(w, STOW_PROGRAM_CELL, first);
}

// Which value of |symbol| a point has.
static size_t index_of(const stowi_export_range* range, size_t symbol, size_t point) {
  stow_dim_range own;
  for (size_t i = range->symbol_count; i-- > symbol + 1;) {
    (void)stow_formula_symbol(range->formula, i, &own);
    point /= (size_t)stow_dim_range_count(&own);
  }
  (void)stow_formula_symbol(range->formula, symbol, &own);
  return point % (size_t)stow_dim_range_count(&own);
}

// Whether the known numbers depend on |symbol| alone; then |cells| has one for each of its values.
static bool depends_on(const stowi_export_range* range, const int64_t* series, const uint8_t* known,
                       size_t count, size_t symbol, int64_t* cells) {
  bool does = true;
  for (size_t i = 0; i < count; ++i) {
    cells[i] = -1;
  }
  for (size_t i = 0; i < count && does; ++i) {
    int64_t* cell = &cells[index_of(range, symbol, i)];
    does = !is_at(known, i) || *cell == -1 || *cell == series[i];
    *cell = is_at(known, i) ? series[i] : *cell;
  }
  return does;
}

// A cell for each value of a symbol, if that is enough, else for each point.
static void put_table(stowi_export_writer* w, int64_t* full, const uint8_t* known, size_t count) {
  stowi_export_range* range = w->range;
  int64_t* cells = STOWI_ARRAY(w->program->allocator, int64_t, count);
  size_t symbol = 0;
  if (cells == NULL) {
    stowi_export_writer_fail(w, STOW_ERR_OUT_OF_MEMORY);
    return;
  }
  while (symbol < range->symbol_count && range->symbol_count > 1 &&
         !depends_on(range, full, known, count, symbol, cells)) {
    ++symbol;
  }
  if (range->symbol_count == 1 || symbol == range->symbol_count) {
    stowi_export_emit(w, STOW_PROGRAM_POINT, 0);
    put_cells(w, full, count);
  } else {
    stow_dim_range own;
    (void)stow_formula_symbol(range->formula, symbol, &own);
    size_t values = (size_t)stow_dim_range_count(&own);
    for (size_t i = 0; i < values; ++i) {
      cells[i] = cells[i] == -1 ? 0 : cells[i];
    }
    for (size_t i = 0; i < count; ++i) {
      full[i] = cells[index_of(range, symbol, i)];
    }
    stowi_export_emit(w, STOW_PROGRAM_SYMBOL, symbol);
    stowi_export_emit_int(w, own.min);
    stowi_export_emit(w, STOW_PROGRAM_SUB, 0);
    stowi_export_emit_int(w, own.step);
    stowi_export_emit(w, STOW_PROGRAM_FLOOR_DIV, 0);
    put_cells(w, cells, values);
  }
  STOWI_ARRAY_FREE(w->program->allocator, cells, count);
}

// What |full| is where |known| is not: the number of a point before or after it.
static void fill(int64_t* full, const uint8_t* known, size_t count) {
  size_t first = 0;
  while (first < count && !is_at(known, first)) {
    ++first;
  }
  for (size_t i = 0; i < count; ++i) {
    if (!is_at(known, i)) {
      full[i] = i < first ? (first < count ? full[first] : 0) : full[i - 1];
    }
  }
}

// Pushes numbers that are |full| at known points, and lets |full| be what they are at all.
static void put_series(stowi_export_writer* w, int64_t* full, const uint8_t* known, size_t count) {
  int64_t a = 0, b = 0;
  fill(full, known, count);
  bool is_constant = true;
  for (size_t i = 1; i < count; ++i) {
    is_constant = is_constant && full[i] == full[0];
  }
  if (is_constant) {
    stowi_export_emit_int(w, full[0]);
    return;
  }
  for (size_t i = 0; i < w->range->bases.count; ++i) {
    const basis* from = &w->range->bases.data[i];
    if (is_line(from->values, full, known, count, &a, &b)) {
      put_line(w, from->number, a, b);
      for (size_t k = 0; k < count; ++k) {
        full[k] = (int64_t)((uint64_t)a + (uint64_t)b * (uint64_t)from->values[k]);
      }
      return;
    }
  }
  put_table(w, full, known, count);
}

stow_status stowi_export_fit(stowi_export* program, const int64_t* series, const uint8_t* known,
                             uint32_t* out_number) {
  stowi_export_range* range = program->range;
  stowi_export_writer w = {.program = program, .range = range, .words = &range->words};
  size_t count = stow_formula_point_count(range->formula);
  for (size_t i = 0; i < range->bases.count; ++i) {
    if (is_equal(range->bases.data[i].values, series, known, count)) {
      *out_number = range->bases.data[i].number;
      return STOW_OK;
    }
  }
  int64_t* full = STOWI_ARRAY(program->allocator, int64_t, count);
  STOW_TRY(full == NULL ? STOW_ERR_OUT_OF_MEMORY : STOW_OK);
  memcpy(full, series, count * sizeof(int64_t));
  put_series(&w, full, known, count);
  *out_number = stowi_export_keep(&w);
  bool is_small = true;
  for (size_t i = 0; i < count; ++i) {
    is_small = is_small && full[i] >= 0 && full[i] < LARGEST_FITTED;
  }
  if (is_small) {
    add_basis(&w, *out_number, full, count);
  }
  STOWI_ARRAY_FREE(program->allocator, full, count);
  return w.status;
}

// Dims are what others grow with.
static stow_status evaluate_dims(stowi_export_writer* w, int64_t* values) {
  stowi_export_range* range = w->range;
  size_t count = stow_formula_point_count(range->formula);
  const stow_dims* dims = stow_graph_dims(stowi_plan_formula_graph(range->formula));
  for (size_t i = 0; i < range->dims.count && w->status == STOW_OK; ++i) {
    bool is_small = true;
    for (size_t point = 0; point < count && is_small; ++point) {
      (void)stow_formula_point_values(range->formula, point, range->values);
      for (size_t k = 0; k < range->symbol_count; ++k) {
        range->all_values[range->symbols[k]] = range->values[k];
      }
      is_small = stow_dim_evaluate(dims, range->dims.data[i].dim, range->all_values,
                                   &values[point]) == STOW_OK &&
                 values[point] >= 0 && values[point] < LARGEST_FITTED;
    }
    if (is_small) {
      add_basis(w, range->dims.data[i].number, values, count);
    }
  }
  return w->status;
}

void stowi_export_add_bases(stowi_export_writer* w) {
  size_t count = stow_formula_point_count(w->range->formula);
  int64_t* values = STOWI_ARRAY(w->program->allocator, int64_t, count);
  stowi_export_writer_fail(w, values == NULL ? STOW_ERR_OUT_OF_MEMORY : evaluate_dims(w, values));
  STOWI_ARRAY_FREE(w->program->allocator, values, count);
}
