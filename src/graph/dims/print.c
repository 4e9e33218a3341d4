// Prints dims as in the text format. Positive terms come first, so that nothing begins with a
// minus.
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "graph/dims/internal.h"

static stow_status print_inner(const stow_dims* dims, stow_dim dim, stow_writer writer);

static bool is_identifier(stow_str name) {
  return stowi_is_plain_name(name) && memchr(name.data, '.', name.size) == NULL;
}

stow_status stowi_graph_put_symbol(const stow_dims* dims, size_t symbol_index, stow_writer writer) {
  stow_str name = dims->symbols.data[symbol_index];
  return is_identifier(name) ? stowi_put_str(writer, name) : stowi_put_quoted(writer, name);
}

static stow_status print_opaque(const stow_dims* dims, const stowi_graph_expr* e,
                                stow_writer writer) {
  static const char* const names[] = {[STOWI_GRAPH_EXPR_FLOOR_DIV] = "floor_div",
                                      [STOWI_GRAPH_EXPR_CEIL_DIV] = "ceil_div",
                                      [STOWI_GRAPH_EXPR_MIN] = "min",
                                      [STOWI_GRAPH_EXPR_MAX] = "max"};
  STOW_TRY(stowi_printf(writer, "%s(", names[e->kind]));
  STOW_TRY(print_inner(dims, stowi_graph_terms_of(dims, e)[0].dim, writer));
  STOW_TRY(stowi_put(writer, ", "));
  STOW_TRY(print_inner(dims, stowi_graph_terms_of(dims, e)[1].dim, writer));
  return stowi_put(writer, ")");
}

static uint64_t magnitude(int64_t number) {
  return number < 0 ? (uint64_t)0 - (uint64_t)number : (uint64_t)number;
}

// The terms of one sign, then the constant if it has the same sign.
static stow_status print_terms(const stow_dims* dims, const stowi_graph_expr* e, bool negative,
                               bool* started, stow_writer writer) {
  for (size_t i = 0; i <= e->count; ++i) {
    bool is_constant = i == e->count;
    int64_t number = is_constant ? e->constant : stowi_graph_terms_of(dims, e)[i].coefficient;
    if (number == 0 || (number < 0) != negative) {
      continue;
    }
    if (*started || negative) {
      STOW_TRY(stowi_put(writer, *started ? (negative ? " - " : " + ") : "0 - "));
    }
    *started = true;
    if (is_constant || magnitude(number) != 1) {
      STOW_TRY(stowi_printf(writer, "%llu%s", (unsigned long long)magnitude(number),
                            is_constant ? "" : "*"));
    }
    if (!is_constant) {
      STOW_TRY(print_inner(dims, stowi_graph_terms_of(dims, e)[i].dim, writer));
    }
  }
  return STOW_OK;
}

static stow_status print_product(const stow_dims* dims, const stowi_graph_expr* e,
                                 stow_writer writer) {
  for (size_t i = 0; i < e->count; ++i) {
    if (i != 0) {
      STOW_TRY(stowi_put(writer, "*"));
    }
    STOW_TRY(print_inner(dims, stowi_graph_terms_of(dims, e)[i].dim, writer));
  }
  return STOW_OK;
}

static stow_status print_inner(const stow_dims* dims, stow_dim dim, stow_writer writer) {
  if (dim >= 0) {
    return stowi_printf(writer, "%lld", (long long)dim);
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  bool started = false;
  switch (e->kind) {
    case STOWI_GRAPH_EXPR_SYMBOL: return stowi_graph_put_symbol(dims, e->symbol, writer);
    case STOWI_GRAPH_EXPR_PRODUCT: return print_product(dims, e, writer);
    case STOWI_GRAPH_EXPR_SUM:
      STOW_TRY(print_terms(dims, e, false, &started, writer));
      return print_terms(dims, e, true, &started, writer);
    case STOWI_GRAPH_EXPR_FLOOR_DIV:
    case STOWI_GRAPH_EXPR_CEIL_DIV:
    case STOWI_GRAPH_EXPR_MIN:
    case STOWI_GRAPH_EXPR_MAX: return print_opaque(dims, e, writer);
  }
  return STOW_ERR_INVALID_ARGUMENT;
}

stow_status stow_dim_print(const stow_dims* dims, stow_dim dim, stow_writer writer) {
  if (dim >= 0) {
    return print_inner(dims, dim, writer);
  }
  if (!stowi_graph_dim_is_handle(dims, dim)) {
    return stowi_put(writer, "?(invalid)");
  }
  STOW_TRY(stowi_put(writer, "?"));
  if (stowi_graph_expr_of(dims, dim)->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return print_inner(dims, dim, writer);
  }
  STOW_TRY(stowi_put(writer, "("));
  STOW_TRY(print_inner(dims, dim, writer));
  return stowi_put(writer, ")");
}
