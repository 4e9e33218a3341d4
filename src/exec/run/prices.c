// What kernels asked for at every point of a range, so that moving to a point need not ask them
// again: a number for each kind of step, variant and point. Few of these columns are different.
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/run/prepare.h"

// Bytes of a table that is worth its room, and of all columns while they are collected.
#define MOST_BYTES (UINT64_C(1) << 20)
#define MOST_COLLECTED (UINT64_C(1) << 26)

struct stowi_exec_prices {
  stow_allocator allocator;
  size_t point_count;
  size_t step_count;
  stow_node* steps;  // that are asked
  // For each of them as many columns as there may be prices; where a variant is not worth
  // considering, the price of the one before it.
  uint32_t* columns;
  size_t column_count;  // different ones
  uint32_t* table;      // by column, then point
};

#define COLUMNS STOWI_EXEC_MOST_PRICES

static bool is_asked(const stow_prepared* prepared, stow_node node) {
  const stowi_exec_step* step = &prepared->program.steps[node];
  return step->kernel.scratch != NULL && step->op != STOW_OP_BLOCKS && !step->is_steady &&
         step->like == STOW_NODE_NONE;
}

static size_t count_asked(const stow_prepared* prepared) {
  size_t count = 0;
  for (stow_node node = 0; node < prepared->program.node_count; ++node) {
    count += is_asked(prepared, node);
  }
  return count;
}

void stowi_exec_prices_destroy(stowi_exec_prices* prices) {
  if (prices != NULL) {
    STOWI_ARRAY_FREE(prices->allocator, prices->steps, prices->step_count);
    STOWI_ARRAY_FREE(prices->allocator, prices->columns, prices->step_count * COLUMNS);
    STOWI_ARRAY_FREE(prices->allocator, prices->table, prices->column_count * prices->point_count);
    STOWI_DELETE(prices->allocator, prices);
  }
}

stow_status stowi_exec_prices_create(const stow_prepared* prepared, size_t point_count,
                                     stow_allocator allocator, stow_diag* diag,
                                     stowi_exec_prices** out_prices) {
  size_t count = count_asked(prepared);
  *out_prices = NULL;
  bool fits = point_count <= MOST_COLLECTED / sizeof(uint32_t) / COLUMNS / (count + 1);
  if (prepared->choose != NULL || count == 0 || !fits) {
    return STOW_OK;
  }
  stowi_exec_prices* prices = STOWI_NEW(allocator, stowi_exec_prices);
  STOW_TRY(stowi_need_memory(prices != NULL, diag));
  *prices = (stowi_exec_prices){.allocator = allocator,
                                .point_count = point_count,
                                .step_count = count,
                                .column_count = count * COLUMNS};
  prices->steps = STOWI_ARRAY(allocator, stow_node, count);
  prices->columns = STOWI_ARRAY(allocator, uint32_t, prices->column_count);
  prices->table = STOWI_ARRAY(allocator, uint32_t, prices->column_count * point_count);
  if (prices->steps == NULL || prices->columns == NULL || prices->table == NULL) {
    stowi_exec_prices_destroy(prices);
    return stowi_fail_memory(diag);
  }
  count = 0;
  for (stow_node node = 0; node < prepared->program.node_count; ++node) {
    if (is_asked(prepared, node)) {
      prices->steps[count++] = node;
    }
  }
  *out_prices = prices;
  return STOW_OK;
}

// The variant that price |i| is of, among |count|.
static uint32_t variant_at(uint32_t i, uint32_t count) {
  return i + 1 == COLUMNS && count > COLUMNS ? count - 1 : i;
}

bool stowi_exec_prices_note(stowi_exec_prices* prices, const stow_prepared* prepared,
                            size_t point) {
  for (size_t i = 0; i < prices->step_count; ++i) {
    const stowi_exec_step* step = &prepared->program.steps[prices->steps[i]];
    uint32_t* cell = &prices->table[i * COLUMNS * prices->point_count + point];
    uint64_t scratch = 0;
    for (uint32_t k = 0, at = 0; k < COLUMNS; ++k, cell += prices->point_count) {
      bool has = at < step->price_count &&
                 step->prices[at].variant == variant_at(k, step->kernel.variant_count);
      scratch = has ? step->prices[at++].scratch : scratch;
      *cell = (uint32_t)scratch;
      if (scratch > UINT32_MAX) {
        return false;
      }
    }
  }
  return true;
}

// The same numbers as in column |at|, among the first |count|; |count| if they are new.
static size_t find_column(const stowi_exec_prices* prices, size_t at, size_t count) {
  size_t bytes = prices->point_count * sizeof(uint32_t);
  size_t found = 0;
  while (found < count && memcmp(&prices->table[found * prices->point_count],
                                 &prices->table[at * prices->point_count], bytes) != 0) {
    ++found;
  }
  return found;
}

stow_status stowi_exec_prices_finish(stowi_exec_prices* prices, stow_prepared* prepared,
                                     stow_diag* diag, bool* out_is_worth) {
  size_t points = prices->point_count;
  size_t count = 0;
  for (size_t i = 0; i < prices->column_count; ++i) {
    size_t found = find_column(prices, i, count);
    if (found == count) {
      memmove(&prices->table[count++ * points], &prices->table[i * points],
              points * sizeof(uint32_t));
    }
    prices->columns[i] = (uint32_t)found;
  }
  *out_is_worth = count * points <= MOST_BYTES / sizeof(uint32_t);
  if (!*out_is_worth) {
    return STOW_OK;
  }
  uint32_t* table = STOWI_ARRAY(prices->allocator, uint32_t, count * points);
  STOW_TRY(stowi_need_memory(table != NULL, diag));
  memcpy(table, prices->table, count * points * sizeof(uint32_t));
  STOWI_ARRAY_FREE(prices->allocator, prices->table, prices->column_count * points);
  prices->table = table;
  prices->column_count = count;
  for (size_t i = 0; i < prices->step_count; ++i) {
    prepared->program.steps[prices->steps[i]].is_told = true;
  }
  return STOW_OK;
}

void stowi_exec_prices_tell(const stowi_exec_prices* prices, stow_prepared* prepared,
                            size_t point) {
  const uint32_t* column = prices->columns;
  for (size_t i = 0; i < prices->step_count; ++i, column += COLUMNS) {
    stowi_exec_step* step = &prepared->program.steps[prices->steps[i]];
    uint32_t variants = step->kernel.variant_count == 0 ? 1 : step->kernel.variant_count;
    step->price_count = 0;
    for (uint32_t k = 0; k < COLUMNS && k < variants; ++k) {
      uint64_t scratch = prices->table[column[k] * prices->point_count + point];
      if (k == 0 || scratch < step->prices[step->price_count - 1].scratch) {
        step->prices[step->price_count++] = (stowi_exec_price){variant_at(k, variants), scratch};
      }
    }
  }
}
