// The dims table of a graph: creation, substitution and hashing. The public interface is in
// stowage/type.h.
#ifndef STOWAGE_SRC_GRAPH_DIMS_DIMS_H_
#define STOWAGE_SRC_GRAPH_DIMS_DIMS_H_

#include <stowage/type.h>

// NULL when out of memory.
stow_dims* stowi_graph_dims_create(stow_allocator allocator);
void stowi_graph_dims_destroy(stow_dims* dims);

// Whether |dim| is valid in a type: a number, or an expression of this table that is not a negative
// number.
bool stowi_graph_dim_is_valid(const stow_dims* dims, stow_dim dim);
// Whether |dim| is a number or an expression of this table, possibly negative.
bool stowi_graph_dim_is_ours(const stow_dims* dims, stow_dim dim);

// |dim| with symbol i replaced by values[i] unless that is STOW_DIM_INVALID. A negative number as
// the result is STOW_DIM_INVALID with STOW_ERR_TYPE in stow_dims_status; overflow is
// STOW_ERR_OVERFLOW, division by zero STOW_ERR_TYPE.
stow_dim stowi_graph_dims_substitute(stow_dims* dims, stow_dim dim, const int64_t* values);

// Translates |dim| of table |from| into table |into|, which may be the same; symbols by name.
// |memo| has one entry for each expression of |from|, STOW_DIM_INVALID if not computed yet.
size_t stowi_graph_dims_expr_count(const stow_dims* dims);
stow_dim stowi_graph_dims_translate(const stow_dims* from, stow_dim dim, stow_dims* into,
                                    stow_dim* memo);

// A new symbol, different from all others; rewind the table afterwards.
stow_dim stowi_graph_dim_unknown(stow_dims* dims);

// The dim with the smaller expression; of two equally large ones, the first by content.
stow_dim stowi_graph_dim_simpler(const stow_dims* dims, stow_dim a, stow_dim b);

// Whether |a| is larger than |b| for all values of the symbols; false if that cannot be shown.
bool stowi_graph_dim_is_larger(const stow_dims* dims, stow_dim a, stow_dim b);

// Symbols of data-dependent dims. stowi_graph_dim_settle records whether the new symbols of |dim|
// are such, and leaves others unchanged; symbols that are never settled are not. O(size of the
// expression), which is limited.
void stowi_graph_dim_settle(stow_dims* dims, stow_dim dim, bool is_data);
bool stowi_graph_dim_uses_data(const stow_dims* dims, stow_dim dim);

// The size of the table, and rewinding to it after a failed call. Dims made in between must not be
// used.
typedef struct stowi_graph_dims_mark {
  size_t exprs, terms, symbols;
} stowi_graph_dims_mark;
stowi_graph_dims_mark stowi_graph_dims_get_mark(const stow_dims* dims);
void stowi_graph_dims_rewind(stow_dims* dims, stowi_graph_dims_mark mark);

// Writes the name of a symbol, quoted where need be.
stow_status stowi_graph_put_symbol(const stow_dims* dims, size_t symbol_index, stow_writer writer);

// Ranges. The value of a symbol whose range has only one; false otherwise.
bool stowi_graph_dims_fixed(const stow_dims* dims, size_t symbol_index, int64_t* out_value);
// Adds all symbols of |from| to |into|, with their ranges.
stow_status stowi_graph_dims_copy_symbols(const stow_dims* from, stow_dims* into);
// Questions about the values of dims at all points of their symbols' ranges. |test| gets the
// numbers of the list, of at most STOWI_GRAPH_MAX_ASKED; a point at which one has no value counts
// as false. OPEN: a symbol has no range; VAST: there are too many points. If the answer is
// SOMETIMES or VAST, |out_split| tells where to divide a range; otherwise it does not exist.
#define STOWI_GRAPH_MAX_ASKED 3
typedef enum stowi_graph_answer {
  STOWI_GRAPH_ALWAYS,
  STOWI_GRAPH_NEVER,
  STOWI_GRAPH_SOMETIMES,
  STOWI_GRAPH_OPEN,
  STOWI_GRAPH_VAST
} stowi_graph_answer;
typedef struct stowi_graph_split {
  bool exists;
  size_t symbol;
  int64_t at;  // the first value of the second part
} stowi_graph_split;
typedef bool (*stowi_graph_test)(const void* user, const int64_t* numbers);
stowi_graph_answer stowi_graph_dims_ask(const stow_dims* dims, const stow_dim* list, size_t count,
                                        stowi_graph_test test, const void* user,
                                        stowi_graph_split* out_split);
// |dim|, or the number that it is at every point.
stow_dim stowi_graph_dim_reduce(const stow_dims* dims, stow_dim dim);
// Whether all symbols of |dim| have ranges.
bool stowi_graph_dims_have_ranges(const stow_dims* dims, stow_dim dim);
// 0 if there are none.
uint64_t stowi_graph_dims_hash_ranges(const stow_dims* dims);

// |dim| in postfix order: numbers and symbols, by their index, are pushed, the other operations
// replace the two that were pushed last. Another status than STOW_OK of |visit| ends it, and is
// returned.
typedef enum stowi_graph_dim_op {
  STOWI_GRAPH_DIM_NUMBER,
  STOWI_GRAPH_DIM_SYMBOL,
  STOWI_GRAPH_DIM_ADD,
  STOWI_GRAPH_DIM_MUL,
  STOWI_GRAPH_DIM_FLOOR_DIV,
  STOWI_GRAPH_DIM_CEIL_DIV,
  STOWI_GRAPH_DIM_MIN,
  STOWI_GRAPH_DIM_MAX
} stowi_graph_dim_op;
typedef stow_status (*stowi_graph_dim_put)(void* user, stowi_graph_dim_op op, int64_t number);
stow_status stowi_graph_dim_postfix(const stow_dims* dims, stow_dim dim, stowi_graph_dim_put visit,
                                    void* user);

// A hash of the expression's content, independent of the rest of the table.
uint64_t stowi_graph_dim_hash(const stow_dims* dims, stow_dim dim);

#endif  // STOWAGE_SRC_GRAPH_DIMS_DIMS_H_
