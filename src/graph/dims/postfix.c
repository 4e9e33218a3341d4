// Dims in postfix order, for those who evaluate them without this table.
#include "base/diag.h"
#include "graph/dims/internal.h"

typedef struct writer {
  const stow_dims* dims;
  stowi_graph_dim_put put;
  void* user;
} writer;

static stow_status write_dim(const writer* w, stow_dim dim);

static stow_status put(const writer* w, stowi_graph_dim_op op, int64_t number) {
  return w->put(w->user, op, number);
}

// |first| of several operands needs no operation.
static stow_status write_operand(const writer* w, stow_dim dim, stowi_graph_dim_op op, bool first) {
  STOW_TRY(write_dim(w, dim));
  return first ? STOW_OK : put(w, op, 0);
}

static stow_status write_sum(const writer* w, const stowi_graph_expr* e) {
  bool has_constant = e->constant != 0 || e->count == 0;
  STOW_TRY(has_constant ? put(w, STOWI_GRAPH_DIM_NUMBER, e->constant) : STOW_OK);
  for (size_t i = 0; i < e->count; ++i) {
    const stowi_graph_term* term = &stowi_graph_terms_of(w->dims, e)[i];
    STOW_TRY(write_dim(w, term->dim));
    if (term->coefficient != 1) {
      STOW_TRY(put(w, STOWI_GRAPH_DIM_NUMBER, term->coefficient));
      STOW_TRY(put(w, STOWI_GRAPH_DIM_MUL, 0));
    }
    STOW_TRY(i == 0 && !has_constant ? STOW_OK : put(w, STOWI_GRAPH_DIM_ADD, 0));
  }
  return STOW_OK;
}

static stowi_graph_dim_op op_of(stowi_graph_expr_kind kind) {
  switch (kind) {
    case STOWI_GRAPH_EXPR_FLOOR_DIV: return STOWI_GRAPH_DIM_FLOOR_DIV;
    case STOWI_GRAPH_EXPR_CEIL_DIV: return STOWI_GRAPH_DIM_CEIL_DIV;
    case STOWI_GRAPH_EXPR_MIN: return STOWI_GRAPH_DIM_MIN;
    case STOWI_GRAPH_EXPR_MAX: return STOWI_GRAPH_DIM_MAX;
    default: return STOWI_GRAPH_DIM_MUL;
  }
}

static stow_status write_dim(const writer* w, stow_dim dim) {
  if (dim >= 0) {
    return put(w, STOWI_GRAPH_DIM_NUMBER, dim);
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(w->dims, dim);
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return put(w, STOWI_GRAPH_DIM_SYMBOL, e->symbol);
  }
  if (e->kind == STOWI_GRAPH_EXPR_SUM) {
    return write_sum(w, e);
  }
  for (size_t i = 0; i < e->count; ++i) {
    STOW_TRY(write_operand(w, stowi_graph_terms_of(w->dims, e)[i].dim, op_of(e->kind), i == 0));
  }
  return STOW_OK;
}

stow_status stowi_graph_dim_postfix(const stow_dims* dims, stow_dim dim, stowi_graph_dim_put visit,
                                    void* user) {
  writer w = {dims, visit, user};
  return dim < 0 && !stowi_graph_dim_is_handle(dims, dim) ? STOW_ERR_INVALID_ARGUMENT
                                                          : write_dim(&w, dim);
}
