// Part of the plan checker: pitched values, and nodes that are run row by row.
//
// A pitched value is rows of equal size, equally far apart in its root. What runs row by row gets
// one row of each value at a time, so every node that makes or reads a pitched value, and runs at
// all, must be one that can be, for as many rows as all its pitched values have. Where a pitched
// value lies is compared run by run: O(rows) of its values, of which there are few.
#include <inttypes.h>

#include "base/checked.h"
#include "base/diag.h"
#include "graph/api.h"
#include "plan/api.h"
#include "plan/check/check.h"

// ---------------------------------------------------------------------------------------------
// Places

// Where byte |at| is, and how many bytes from there on are in one run. Dense bytes have no end
// here: whether one lies in another is found later.
static uint64_t map(const stowi_plan_bytes* place, uint64_t at, uint64_t* out_left) {
  uint64_t row = place->bytes / place->rows;
  if (place->rows == 1) {
    *out_left = UINT64_MAX;
    return place->inner + at;
  }
  *out_left = row - at % row;
  return place->inner + at / row * place->pitch + at % row;
}

stowi_plan_bytes stowi_plan_bytes_of(const stowi_plan_checker* checker, stow_value value) {
  const stowi_plan_check_value* own = &checker->values[value];
  return (stowi_plan_bytes){own->inner, own->bytes, own->rows, own->pitch};
}

stowi_plan_span stowi_plan_bytes_run(const stowi_plan_bytes* place, uint64_t at) {
  uint64_t left = 0;
  uint64_t begin = map(place, at, &left);
  return (stowi_plan_span){begin, begin + (place->rows == 1 ? place->bytes - at : left)};
}

uint64_t stowi_plan_bytes_end(const stowi_plan_bytes* place) {
  return place->inner + (place->rows - 1) * place->pitch + place->bytes / place->rows;
}

bool stowi_plan_bytes_is_part(const stowi_plan_bytes* value, const stowi_plan_bytes* whole,
                              const stowi_plan_bytes* part) {
  if (value->bytes == 0) {
    return value->rows == 1 && value->inner == whole->inner + part->inner;
  }
  for (uint64_t at = 0; at < value->bytes;) {
    uint64_t own_left, part_left, whole_left;
    uint64_t own = map(value, at, &own_left);
    uint64_t in_whole = map(part, at, &part_left);
    bool is_past = whole->rows > 1 && in_whole >= whole->bytes;
    if (is_past || map(whole, in_whole, &whole_left) != own) {
      return false;
    }
    uint64_t left = own_left < part_left ? own_left : part_left;
    left = left < whole_left ? left : whole_left;
    at += left < value->bytes - at ? left : value->bytes - at;
  }
  return true;
}

// Whether a row of |b| has a byte of [begin, end).
static bool meets(const stowi_plan_bytes* b, uint64_t begin, uint64_t end) {
  uint64_t row = b->bytes / b->rows;
  if (end <= b->inner) {
    return false;
  }
  // The last row that begins before the end.
  uint64_t last = b->pitch == 0 ? 0 : (end - 1 - b->inner) / b->pitch;
  last = last < b->rows - 1 ? last : b->rows - 1;
  return b->inner + last * b->pitch + row > begin;
}

bool stowi_plan_bytes_meets(const stowi_plan_bytes* a, const stowi_plan_bytes* b) {
  if (a->bytes == 0 || b->bytes == 0 || a->inner >= stowi_plan_bytes_end(b) ||
      b->inner >= stowi_plan_bytes_end(a)) {
    return false;
  }
  const stowi_plan_bytes* few = a->rows <= b->rows ? a : b;
  const stowi_plan_bytes* many = few == a ? b : a;
  uint64_t row = few->bytes / few->rows;
  for (uint64_t i = 0; i < few->rows; ++i) {
    uint64_t begin = few->inner + i * few->pitch;
    if (meets(many, begin, begin + row)) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Values

static stow_status rows_fault(stowi_plan_checker* checker, stow_value value, stow_node node,
                              const char* why) {
  return stowi_plan_fault(checker, STOW_FAULT_ROWS, value, STOW_VALUE_NONE, checker->steps[node],
                          "%s is %" PRIu64 " rows, %" PRIu64 " bytes apart, %s (%s)",
                          stowi_plan_label_value(checker, value).text, checker->values[value].rows,
                          checker->values[value].pitch, why,
                          stowi_plan_label_node(checker, node).text);
}

stow_status stowi_plan_check_shape(stowi_plan_checker* checker, stow_value value) {
  stowi_plan_check_value* own = &checker->values[value];
  stow_node node = stow_graph_producer(checker->graph, value);
  stow_slot slot;
  uint64_t end = 0;
  own->rows = stowi_plan_rows(checker->plan, value, &own->pitch);
  if (own->rows == 1 && own->pitch == 0) {
    return STOW_OK;
  }
  bool is_good = own->rows > 1 && own->rows <= STOW_MOST_ROWS && own->bytes != 0 &&
                 own->bytes % own->rows == 0 && own->pitch > own->bytes / own->rows &&
                 stowi_graph_begins_with_rows(stow_graph_type(checker->graph, value), own->rows) &&
                 stowi_mul_u64(own->rows, own->pitch, &end);
  if (!is_good) {
    own->rows = own->rows == 0 ? 1 : own->rows;
    return rows_fault(checker, value, node, "which does not fit its size");
  }
  if (checker->plan->facts.least_row == 0 || stow_plan_root(checker->plan, value) == value ||
      !stow_plan_value_slot(checker->plan, value, &slot)) {
    return rows_fault(checker, value, node, "but must be dense");
  }
  return own->output ? rows_fault(checker, value, node, "but the caller reads it") : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Nodes

// Whether the executor has nothing to do: every result is a view.
static bool is_idle(const stowi_plan_checker* checker, stow_node node) {
  size_t count = stow_graph_result_count(checker->graph, node);
  stow_value first = stow_graph_first_result(checker->graph, node);
  for (size_t k = 0; k < count; ++k) {
    if (checker->values[first + k].made != STOWI_PLAN_MADE_VIEW) {
      return false;
    }
  }
  return count != 0;
}

// |value| is an operand or result of |node|, which runs. Operands of other rows are refused.
static stow_status count_rows(stowi_plan_checker* checker, stow_node node, stow_value value,
                              stow_value* first) {
  uint64_t rows = checker->values[value].rows;
  if (rows == 1) {
    return STOW_OK;
  }
  if (*first != STOW_VALUE_NONE && checker->values[*first].rows != rows) {
    return rows_fault(checker, value, node, "but other values of a node have other rows");
  }
  *first = value;
  checker->node_rows[node] = rows;
  return STOW_OK;
}

static stow_status check_node(stowi_plan_checker* checker, stow_node node) {
  const stow_graph* graph = checker->graph;
  stow_value first = STOW_VALUE_NONE;
  uint64_t still = 0;
  checker->node_rows[node] = 1;
  if (is_idle(checker, node)) {
    return STOW_OK;
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    STOW_TRY(operand == STOW_VALUE_NONE ? STOW_OK : count_rows(checker, node, operand, &first));
  }
  for (size_t k = 0; k < stow_graph_result_count(graph, node); ++k) {
    stow_value result = stow_graph_first_result(graph, node) + (stow_value)k;
    STOW_TRY(count_rows(checker, node, result, &first));
  }
  if (first == STOW_VALUE_NONE) {
    return STOW_OK;
  }
  if (!stowi_effects_allows_rows(checker->effects, node) ||
      !stowi_graph_takes_rows(graph, node, checker->node_rows[node], &still)) {
    return rows_fault(checker, first, node, "but a node cannot be run row by row");
  }
  for (size_t k = 0; k < stow_graph_operand_count(graph, node); ++k) {
    stow_value operand = stow_graph_operands(graph, node)[k];
    if ((still >> k & 1) != 0 && operand != STOW_VALUE_NONE && checker->values[operand].rows > 1) {
      return rows_fault(checker, operand, node, "but a node reads all of it for each row");
    }
  }
  return STOW_OK;
}

stow_status stowi_plan_check_rows(stowi_plan_checker* checker) {
  for (stow_node node = 0; node < checker->node_count; ++node) {
    STOW_TRY(check_node(checker, node));
  }
  return STOW_OK;
}
