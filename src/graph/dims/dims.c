// Dims as polynomials in normal form, interned.
//
// Every expression is a sum  c + Σ coefficient × product,  where a product is a sorted list of
// atoms, and an atom a symbol or an opaque term (floor_div, ceil_div, min or max of two dims). Sums
// are merged and products multiplied out as they are built, so that `past + seq`, `seq + past` and
// `(past + 2*seq) - seq` are one table entry, and equality of dims is equality of numbers.
// Multiplying out can explode, so terms, factors, depth and tree size are limited; real models need
// a handful of terms. Divisions by a constant are split, (q*b + r) / b = q + r / b, and ceil_div by
// a constant is floor_div of a shifted sum: again one form.
//
// Terms are sorted by content, never by order of creation: an expression prints the same whatever
// was built before it.
#include "graph/dims/dims.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "graph/dims/internal.h"

#define MAX_DEPTH 64
#define MAX_TREE_SIZE 1024

stow_dims* stowi_graph_dims_create(stow_allocator allocator) {
  stow_dims* dims = STOWI_NEW(allocator, stow_dims);
  if (dims != NULL) {
    dims->allocator = allocator;
  }
  return dims;
}

void stowi_graph_dims_destroy(stow_dims* dims) {
  if (dims == NULL) {
    return;
  }
  stow_allocator allocator = dims->allocator;
  for (size_t i = 0; i < dims->symbols.count; ++i) {
    stow_str name = dims->symbols.data[i];
    stowi_free(allocator, (void*)(uintptr_t)name.data, name.size + 1, 1);
  }
  STOWI_VEC_FREE(allocator, &dims->exprs);
  STOWI_VEC_FREE(allocator, &dims->pool);
  STOWI_VEC_FREE(allocator, &dims->symbols);
  STOWI_VEC_FREE(allocator, &dims->ranges);
  stowi_index_free(&dims->index, allocator);
  STOWI_DELETE(allocator, dims);
}

stow_dim stowi_graph_dims_fail(stow_dims* dims, stow_status status) {
  if (dims->status == STOW_OK) {
    dims->status = status;
  }
  return STOW_DIM_INVALID;
}

stow_status stow_dims_status(const stow_dims* dims) { return dims->status; }

void stow_dims_clear_status(stow_dims* dims) { dims->status = STOW_OK; }

static stow_dim dim_of(size_t expr_index) { return -1 - (int64_t)expr_index; }

bool stowi_graph_dim_is_handle(const stow_dims* dims, stow_dim dim) {
  return dim < 0 && dim != STOW_DIM_INVALID && (uint64_t)(-1 - dim) < dims->exprs.count;
}

bool stowi_graph_dim_is_valid(const stow_dims* dims, stow_dim dim) {
  if (dim >= 0) {
    return true;
  }
  if (!stowi_graph_dim_is_handle(dims, dim)) {
    return false;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  return e->kind != STOWI_GRAPH_EXPR_SUM || e->count != 0;
}

bool stowi_graph_dim_is_ours(const stow_dims* dims, stow_dim dim) {
  return dim >= 0 || stowi_graph_dim_is_handle(dims, dim);
}

size_t stowi_graph_dims_expr_count(const stow_dims* dims) { return dims->exprs.count; }

stowi_graph_dims_mark stowi_graph_dims_get_mark(const stow_dims* dims) {
  return (stowi_graph_dims_mark){dims->exprs.count, dims->pool.count, dims->symbols.count};
}

// Index entries that point past the end stay: they cannot be found.
void stowi_graph_dims_rewind(stow_dims* dims, stowi_graph_dims_mark mark) {
  for (size_t i = mark.symbols; i < dims->symbols.count; ++i) {
    stow_str name = dims->symbols.data[i];
    stowi_free(dims->allocator, (void*)(uintptr_t)name.data, name.size + 1, 1);
  }
  dims->exprs.count = mark.exprs;
  dims->pool.count = mark.terms;
  dims->symbols.count = mark.symbols;
  dims->ranges.count = mark.symbols;
}

uint64_t stowi_graph_dim_hash(const stow_dims* dims, stow_dim dim) {
  return dim >= 0 ? stowi_hash_u64(STOWI_HASH_SEED, (uint64_t)dim)
                  : stowi_graph_expr_of(dims, dim)->hash;
}

// A candidate for the table: an expression whose terms are not in the pool yet.
typedef struct candidate {
  stowi_graph_expr head;
  const stowi_graph_term* terms;
  stow_str name;  // STOWI_GRAPH_EXPR_SYMBOL
} candidate;

static uint64_t hash_candidate(const stow_dims* dims, const candidate* c) {
  uint64_t hash = stowi_hash_u64(STOWI_HASH_SEED, (uint64_t)c->head.kind + 1);
  if (c->head.kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return stowi_hash_bytes(hash, c->name.data, c->name.size);
  }
  hash = stowi_hash_u64(hash, (uint64_t)c->head.constant);
  for (size_t i = 0; i < c->head.count; ++i) {
    hash = stowi_hash_u64(hash, (uint64_t)c->terms[i].coefficient);
    hash = stowi_hash_u64(hash, stowi_graph_dim_hash(dims, c->terms[i].dim));
  }
  return hash;
}

static bool same_terms(const stowi_graph_term* a, const stowi_graph_term* b, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (a[i].coefficient != b[i].coefficient || a[i].dim != b[i].dim) {
      return false;
    }
  }
  return true;
}

static bool equals_candidate(const void* context, uint32_t id, const void* key) {
  const stow_dims* dims = (const stow_dims*)context;
  const candidate* c = (const candidate*)key;
  if (id >= dims->exprs.count) {
    return false;  // rewound
  }
  const stowi_graph_expr* e = &dims->exprs.data[id];
  if (e->kind != c->head.kind) {
    return false;
  }
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL) {
    return stow_str_equal(dims->symbols.data[e->symbol], c->name);
  }
  return e->constant == c->head.constant && e->count == c->head.count &&
         same_terms(stowi_graph_terms_of(dims, e), c->terms, e->count);
}

// Depth and size of the tree; false above the limits.
static bool measure(const stow_dims* dims, candidate* c) {
  uint32_t depth = 0;
  uint32_t size = 1;
  for (size_t i = 0; i < c->head.count; ++i) {
    stow_dim dim = c->terms[i].dim;
    depth = dim < 0 && stowi_graph_expr_of(dims, dim)->depth > depth
                ? stowi_graph_expr_of(dims, dim)->depth
                : depth;
    size += dim < 0 ? stowi_graph_expr_of(dims, dim)->tree_size : 1;
    if (size > MAX_TREE_SIZE) {
      return false;
    }
  }
  c->head.depth = depth + 1;
  c->head.tree_size = size;
  return c->head.depth <= MAX_DEPTH;
}

// Finds or adds |c|.
static stow_dim intern(stow_dims* dims, candidate* c) {
  c->head.hash = hash_candidate(dims, c);
  uint32_t found = stowi_index_find(&dims->index, c->head.hash, equals_candidate, dims, c);
  if (found != STOWI_INDEX_NONE) {
    return dim_of(found);
  }
  if (!measure(dims, c) || dims->exprs.count >= STOWI_INDEX_NONE - 1) {
    return stowi_graph_dims_fail(dims, STOW_ERR_LIMIT);
  }
  if (STOWI_VEC_RESERVE(dims->allocator, &dims->exprs, 1) != STOW_OK ||
      STOWI_VEC_RESERVE(dims->allocator, &dims->pool, c->head.count) != STOW_OK ||
      stowi_index_reserve(&dims->index, dims->allocator) != STOW_OK) {
    return stowi_graph_dims_fail(dims, STOW_ERR_OUT_OF_MEMORY);
  }
  c->head.first = dims->pool.count;
  for (size_t i = 0; i < c->head.count; ++i) {
    dims->pool.data[dims->pool.count++] = c->terms[i];
  }
  stowi_index_insert(&dims->index, c->head.hash, (uint32_t)dims->exprs.count);
  dims->exprs.data[dims->exprs.count++] = c->head;
  return dim_of(dims->exprs.count - 1);
}

stow_dim stowi_graph_dims_intern(stow_dims* dims, stowi_graph_expr_kind kind, int64_t constant,
                                 const stowi_graph_term* terms, size_t count) {
  candidate c;
  memset(&c, 0, sizeof(c));
  c.head.kind = kind;
  c.head.constant = constant;
  c.head.count = count;
  c.terms = terms;
  return intern(dims, &c);
}

size_t stow_dims_symbol_count(const stow_dims* dims) { return dims->symbols.count; }

stow_str stow_dims_symbol_name(const stow_dims* dims, size_t index) {
  return index < dims->symbols.count ? dims->symbols.data[index] : stow_str_of("");
}

static candidate symbol_candidate(stow_str name) {
  candidate c;
  memset(&c, 0, sizeof(c));
  c.head.kind = STOWI_GRAPH_EXPR_SYMBOL;
  c.name = name;
  return c;
}

static uint32_t find_symbol_expr(const stow_dims* dims, const candidate* c) {
  return stowi_index_find(&dims->index, hash_candidate(dims, c), equals_candidate, dims, c);
}

size_t stow_dims_find_symbol(const stow_dims* dims, stow_str name) {
  candidate c = symbol_candidate(name);
  uint32_t found = find_symbol_expr(dims, &c);
  return found == STOWI_INDEX_NONE ? SIZE_MAX : dims->exprs.data[found].symbol;
}

stow_dim stow_dim_symbol(stow_dims* dims, stow_str name) {
  if (name.size == 0) {
    return stowi_graph_dims_fail(dims, STOW_ERR_INVALID_ARGUMENT);
  }
  candidate c = symbol_candidate(name);
  uint32_t found = find_symbol_expr(dims, &c);
  if (found != STOWI_INDEX_NONE) {
    return dim_of(found);
  }
  if (STOWI_VEC_RESERVE(dims->allocator, &dims->symbols, 1) != STOW_OK ||
      STOWI_VEC_RESERVE(dims->allocator, &dims->ranges, 1) != STOW_OK) {
    return stowi_graph_dims_fail(dims, STOW_ERR_OUT_OF_MEMORY);
  }
  char* copy = name.size == SIZE_MAX ? NULL : STOWI_ARRAY(dims->allocator, char, name.size + 1);
  if (copy == NULL) {
    return stowi_graph_dims_fail(dims, STOW_ERR_OUT_OF_MEMORY);
  }
  memcpy(copy, name.data, name.size);
  copy[name.size] = '\0';
  c.name.data = copy;
  c.head.symbol = (uint32_t)dims->symbols.count;
  stow_dim dim = intern(dims, &c);
  if (dim == STOW_DIM_INVALID) {
    stowi_free(dims->allocator, copy, name.size + 1, 1);
    return dim;
  }
  dims->symbols.data[dims->symbols.count++] = c.name;
  dims->ranges.data[dims->ranges.count++] = (stow_dim_range){0, 0, 0};
  return dim;
}

stow_dim stowi_graph_dim_unknown(stow_dims* dims) {
  char text[24];
  size_t number = dims->symbols.count;
  do {
    snprintf(text, sizeof(text), "?%zu", number++);
  } while (stow_dims_find_symbol(dims, stow_str_of(text)) != SIZE_MAX);
  return stow_dim_symbol(dims, stow_str_of(text));
}

// ---------------------------------------------------------------------------------------------
// Symbols of data. Expressions are at most MAX_DEPTH deep, and their trees limited.

void stowi_graph_dim_settle(stow_dims* dims, stow_dim dim, bool is_data) {
  if (dim >= 0 || !stowi_graph_dim_is_handle(dims, dim)) {
    return;
  }
  stowi_graph_expr* e = &dims->exprs.data[(size_t)(-1 - dim)];
  if (e->kind == STOWI_GRAPH_EXPR_SYMBOL && e->origin == STOWI_GRAPH_SYMBOL_NEW) {
    e->origin = is_data ? STOWI_GRAPH_SYMBOL_DATA : STOWI_GRAPH_SYMBOL_GIVEN;
  }
  for (size_t i = 0; i < e->count; ++i) {
    stowi_graph_dim_settle(dims, stowi_graph_terms_of(dims, e)[i].dim, is_data);
  }
}

bool stowi_graph_dim_uses_data(const stow_dims* dims, stow_dim dim) {
  if (dim >= 0 || !stowi_graph_dim_is_handle(dims, dim)) {
    return false;
  }
  const stowi_graph_expr* e = stowi_graph_expr_of(dims, dim);
  bool uses = e->kind == STOWI_GRAPH_EXPR_SYMBOL && e->origin == STOWI_GRAPH_SYMBOL_DATA;
  for (size_t i = 0; i < e->count && !uses; ++i) {
    uses = stowi_graph_dim_uses_data(dims, stowi_graph_terms_of(dims, e)[i].dim);
  }
  return uses;
}
