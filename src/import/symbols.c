// Symbols of the inputs' dims and the numbers they get. All are settled before the first input is
// made, so that types hold numbers from the beginning and shapes are inferred once.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "import/importer.h"

static bool is_symbol(const void* context, uint32_t id, const void* key) {
  const stowi_import_importer* imp = (const stowi_import_importer*)context;
  return stow_str_equal(imp->symbols.data[id].text, *(const stow_str*)key);
}

static uint64_t hash_of(stow_str text) {
  return stowi_hash_bytes(STOWI_HASH_SEED, text.data, text.size);
}

stowi_import_symbol* stowi_import_symbol_find(const stowi_import_importer* imp, stow_str text) {
  uint32_t id = stowi_index_find(&imp->by_symbol, hash_of(text), is_symbol, imp, &text);
  return id == STOWI_INDEX_NONE ? NULL : &imp->symbols.data[id];
}

// The same, made where there is none.
static stow_status symbol_of(stowi_import_importer* imp, stow_str text,
                             stowi_import_symbol** out_symbol) {
  *out_symbol = stowi_import_symbol_find(imp, text);
  if (*out_symbol != NULL) {
    return STOW_OK;
  }
  char* copy = (char*)stowi_import_keep_bytes(imp, text.size);
  if (copy == NULL || STOWI_VEC_RESERVE(imp->allocator, &imp->symbols, 1) != STOW_OK ||
      stowi_index_reserve(&imp->by_symbol, imp->allocator) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  memcpy(copy, text.data, text.size);
  uint32_t id = (uint32_t)imp->symbols.count++;
  imp->symbols.data[id] = (stowi_import_symbol){.text = {copy, text.size}, .value = -1};
  stowi_index_insert(&imp->by_symbol, hash_of(text), id);
  *out_symbol = &imp->symbols.data[id];
  return STOW_OK;
}

stow_status stowi_import_dim_name(stowi_import_importer* imp, const stowi_import_info* info,
                                  size_t axis, stow_str* out_name) {
  *out_name = info->dims[axis].name;
  if (out_name->size != 0) {
    return STOW_OK;
  }
  char ending[24];
  snprintf(ending, sizeof(ending), ".%zu", axis);
  imp->text.size = 0;
  if (stow_string_append(&imp->text, info->name.data, info->name.size) != STOW_OK ||
      stow_string_append(&imp->text, ending, strlen(ending)) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  *out_name = (stow_str){imp->text.data, imp->text.size};
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Names that are expressions: sums of products of symbols and numbers, without brackets

typedef struct reader {
  stowi_import_importer* imp;
  stow_str left;
  size_t operators;
  bool is_well;
} reader;

static char peek(reader* r) {
  while (r->left.size != 0 && r->left.data[0] == ' ') {
    ++r->left.data;
    --r->left.size;
  }
  return r->left.size == 0 ? '\0' : r->left.data[0];
}

static stow_dim read_factor(reader* r) {
  (void)peek(r);
  size_t size = 0;
  while (size < r->left.size && (stowi_is_alnum(r->left.data[size]) || r->left.data[size] == '.')) {
    ++size;
  }
  stow_str word = {r->left.data, size};
  r->left.data += size;
  r->left.size -= size;
  uint64_t number;
  if (stowi_parse_u64(word, &number) && number <= INT64_MAX) {
    return (stow_dim)number;
  }
  const stowi_import_symbol* symbol = stowi_import_symbol_find(r->imp, word);
  if (symbol == NULL || !symbol->is_met) {
    r->is_well = false;
    return 0;
  }
  return symbol->value >= 0 ? symbol->value
                            : stow_dim_symbol(stow_graph_edit_dims(r->imp->graph), word);
}

static stow_dim read_product(reader* r) {
  stow_dims* dims = stow_graph_edit_dims(r->imp->graph);
  stow_dim product = read_factor(r);
  for (char c = peek(r); r->is_well && (c == '*' || c == '/'); c = peek(r)) {
    ++r->operators;
    ++r->left.data;
    --r->left.size;
    stow_dim factor = read_factor(r);
    if (c == '/' && factor == 0) {
      r->is_well = false;
      return 0;
    }
    product =
        c == '*' ? stow_dim_mul(dims, product, factor) : stow_dim_floor_div(dims, product, factor);
  }
  return product;
}

static stow_dim read_sum(reader* r) {
  stow_dims* dims = stow_graph_edit_dims(r->imp->graph);
  stow_dim sum = read_product(r);
  for (char c = peek(r); r->is_well && (c == '+' || c == '-'); c = peek(r)) {
    ++r->operators;
    ++r->left.data;
    --r->left.size;
    stow_dim product = read_product(r);
    sum = c == '+' ? stow_dim_add(dims, sum, product) : stow_dim_sub(dims, sum, product);
  }
  return sum;
}

// STOW_DIM_INVALID where |text| is not an expression of inputs' symbols, or overflows.
static stow_dim read_expression(stowi_import_importer* imp, stow_str text) {
  bool has_operator = false;
  for (size_t i = 0; i < text.size; ++i) {
    has_operator = has_operator || strchr("+-*/", text.data[i]) != NULL;
  }
  if (!has_operator) {
    return STOW_DIM_INVALID;
  }
  reader r = {imp, text, 0, true};
  stow_dim dim = read_sum(&r);
  bool is_expression = r.is_well && r.operators != 0 && r.left.size == 0;
  stow_dims_clear_status(stow_graph_edit_dims(imp->graph));
  int64_t number;
  bool is_negative = is_expression && dim != STOW_DIM_INVALID &&
                     stow_dim_to_int(stow_graph_dims(imp->graph), dim, &number) && number < 0;
  return is_expression && !is_negative ? dim : STOW_DIM_INVALID;
}

stow_status stowi_import_symbol_dim(stowi_import_importer* imp, stow_str text, stow_dim* out_dim) {
  const stowi_import_symbol* symbol = stowi_import_symbol_find(imp, text);
  *out_dim = symbol != NULL && symbol->value >= 0 ? symbol->value : read_expression(imp, text);
  if (*out_dim == STOW_DIM_INVALID) {
    *out_dim = stow_dim_symbol(stow_graph_edit_dims(imp->graph), text);
  }
  return *out_dim == STOW_DIM_INVALID ? stowi_import_memory(imp) : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Numbers by name

static stow_status take_binds(stowi_import_importer* imp) {
  const stow_import_request* request = imp->request;
  for (size_t i = 0; request != NULL && i < request->binds.count; ++i) {
    stowi_import_symbol* symbol;
    STOW_TRY(symbol_of(imp, request->binds.data[i].symbol, &symbol));
    symbol->value = request->binds.data[i].value;
    symbol->range = request->binds.data[i].range;
  }
  return STOW_OK;
}

static stow_status meet_symbols(stowi_import_importer* imp, const stowi_import_info* info) {
  for (size_t axis = 0; axis < info->rank; ++axis) {
    if (info->dims[axis].number < 0) {
      stow_str name;
      stowi_import_symbol* symbol;
      STOW_TRY(stowi_import_dim_name(imp, info, axis, &name));
      STOW_TRY(symbol_of(imp, name, &symbol));
      symbol->is_met = true;
      symbol->is_unnamed = symbol->is_unnamed || info->dims[axis].name.size == 0;
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Numbers by dims

static stow_status settle_dim(stowi_import_importer* imp, const stowi_import_info* info,
                              size_t axis, int64_t number) {
  stowi_import_symbol* symbol = NULL;
  int64_t known = info->dims[axis].number;
  stow_str name = {"", 0};
  if (info->dims[axis].number < 0) {
    STOW_TRY(stowi_import_dim_name(imp, info, axis, &name));
    symbol = stowi_import_symbol_find(imp, name);
    known = symbol->value;
  }
  if (symbol != NULL && known < 0) {
    symbol->value = number;
    return STOW_OK;
  }
  if (known == number) {
    return STOW_OK;
  }
  return stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                    "dim %zu%s%.*s of input \"%.*s\" is %lld, but it is given %lld", axis,
                    name.size == 0 ? "" : ", ", STOWI_STR_ARG(name), STOWI_STR_ARG(info->name),
                    (long long)known, (long long)number);
}

static stow_status settle_dims(stowi_import_importer* imp, const stowi_import_info* info,
                               const int64_t* dims, size_t rank) {
  if (!info->has_shape) {
    return STOW_OK;
  }
  if (rank != info->rank) {
    return stowi_fail(imp->diag, STOW_ERR_TYPE,
                      "input \"%.*s\" has %u dims in the file, but is given %zu",
                      STOWI_STR_ARG(info->name), (unsigned)info->rank, rank);
  }
  for (size_t axis = 0; axis < rank; ++axis) {
    STOW_TRY(settle_dim(imp, info, axis, dims[axis]));
  }
  return STOW_OK;
}

// A list of several numbers says how long a vector is.
static stow_status settle_value(stowi_import_importer* imp, const stowi_import_info* info,
                                const stowi_import_asked_value* value) {
  if (value->has_type) {
    return settle_dims(imp, info, value->type.dims, value->type.rank);
  }
  int64_t count = (int64_t)value->count;
  bool is_vector = info->has_shape && info->rank == 1 && count != 1;
  return is_vector ? settle_dims(imp, info, &count, 1) : STOW_OK;
}

static stow_status settle_input(stowi_import_importer* imp, const stowi_import_info* info) {
  uint32_t id = stowi_import_name_find(imp, info->name);
  if (id == STOWI_IMPORT_NONE) {
    return STOW_OK;
  }
  const stowi_import_asked_shape* shape = imp->names.data[id].shape;
  const stowi_import_asked_value* value = imp->names.data[id].value;
  if (shape != NULL) {
    STOW_TRY(settle_dims(imp, info, shape->dims, shape->rank));
  }
  return value == NULL ? STOW_OK : settle_value(imp, info, value);
}

// `?` stands for every unnamed dim that has no number yet.
static void settle_unnamed(stowi_import_importer* imp) {
  stowi_import_symbol* all = stowi_import_symbol_find(imp, stow_str_of("?"));
  for (size_t i = 0; all != NULL && i < imp->symbols.count; ++i) {
    stowi_import_symbol* symbol = &imp->symbols.data[i];
    all->is_met = all->is_met || symbol->is_unnamed;
    if (symbol->is_unnamed && symbol->value < 0 && symbol->range.step == 0) {
      symbol->value = all->value;
      symbol->range = all->range;
    }
  }
}

// A symbol with a range must be one: neither a number by other means that is outside the range, nor
// an expression of others.
static stow_status settle_range(stowi_import_importer* imp, const stowi_import_symbol* symbol) {
  if (symbol->value >= 0) {
    return stow_dim_range_has(&symbol->range, symbol->value)
               ? STOW_OK
               : stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                            "dim \"%.*s\" is given %lld, which its range %lld..%lld/%lld does not "
                            "have",
                            STOWI_STR_ARG(symbol->text), (long long)symbol->value,
                            (long long)symbol->range.min, (long long)symbol->range.max,
                            (long long)symbol->range.step);
  }
  if (read_expression(imp, symbol->text) != STOW_DIM_INVALID) {
    return stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                      "dim \"%.*s\" follows from those in its name; give these ranges instead",
                      STOWI_STR_ARG(symbol->text));
  }
  stow_dims* dims = stow_graph_edit_dims(imp->graph);
  if (stow_dim_symbol(dims, symbol->text) == STOW_DIM_INVALID) {
    return stowi_import_memory(imp);
  }
  return stow_dims_set_range(dims, stow_dims_find_symbol(dims, symbol->text), &symbol->range);
}

static stow_status settle_ranges(stowi_import_importer* imp) {
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    const stowi_import_symbol* symbol = &imp->symbols.data[i];
    if (symbol->is_met && symbol->range.step != 0 &&
        !stow_str_equal(symbol->text, stow_str_of("?"))) {
      STOW_TRY(settle_range(imp, symbol));
    }
  }
  return STOW_OK;
}

// Symbols of inputs that have no number yet: the one for the rest, but for those whose names say
// how they follow from others.
static void settle_rest(stowi_import_importer* imp) {
  bool has_rest = imp->request != NULL && imp->request->has_rest;
  for (size_t i = 0; has_rest && i < imp->symbols.count; ++i) {
    stowi_import_symbol* symbol = &imp->symbols.data[i];
    if (symbol->is_met && symbol->value < 0 && symbol->range.step == 0 &&
        read_expression(imp, symbol->text) == STOW_DIM_INVALID) {
      symbol->value = imp->request->rest;
    }
  }
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    stowi_import_symbol* symbol = &imp->symbols.data[i];
    stow_dim dim = symbol->value < 0 ? read_expression(imp, symbol->text) : STOW_DIM_INVALID;
    if (dim != STOW_DIM_INVALID && stow_dim_is_const(dim)) {
      symbol->value = dim;
    }
  }
}

// Whether a symbol of |dim| has a range.
static bool has_range(const stowi_import_importer* imp, stow_dim dim) {
  const stow_dims* dims = stow_graph_dims(imp->graph);
  stow_dim_range range;
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    if (stow_dims_range(dims, i, &range) && stow_dim_uses(dims, dim, i)) {
      return true;
    }
  }
  return false;
}

// A name that is an expression says what the dim is: a number that was given must be that.
static stow_status check_expressions(stowi_import_importer* imp) {
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    const stowi_import_symbol* symbol = &imp->symbols.data[i];
    bool is_given = symbol->is_met && symbol->value >= 0;
    stow_dim dim = is_given ? read_expression(imp, symbol->text) : STOW_DIM_INVALID;
    if (dim != STOW_DIM_INVALID && !stow_dim_is_const(dim) && has_range(imp, dim)) {
      return stowi_fail(
          imp->diag, STOW_ERR_CONFLICT,
          "dim \"%.*s\" is given %lld, but follows from dims with ranges; leave it out",
          STOWI_STR_ARG(symbol->text), (long long)symbol->value);
    }
    if (dim != STOW_DIM_INVALID && stow_dim_is_const(dim) && dim != symbol->value) {
      return stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                        "dim \"%.*s\" is given %lld, but its expression is %lld",
                        STOWI_STR_ARG(symbol->text), (long long)symbol->value, (long long)dim);
    }
  }
  return STOW_OK;
}

// Notes which symbols nothing gave a number. Those whose names are expressions follow from others.
static stow_status note_open(stowi_import_importer* imp) {
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    const stowi_import_symbol* symbol = &imp->symbols.data[i];
    if (!symbol->is_met || symbol->value >= 0 || symbol->range.step != 0 ||
        read_expression(imp, symbol->text) != STOW_DIM_INVALID) {
      continue;
    }
    if (STOWI_VEC_RESERVE(imp->allocator, &imp->import->symbols, 1) != STOW_OK) {
      return stowi_import_memory(imp);
    }
    imp->import->symbols.data[imp->import->symbols.count++] = symbol->text;
  }
  return STOW_OK;
}

const stow_str* stow_import_symbols(const stow_import* import, size_t* out_count) {
  *out_count = import->symbols.count;
  return import->symbols.data;
}

stow_status stowi_import_settle_symbols(stowi_import_importer* imp) {
  const stow_model* model = imp->model;
  STOW_TRY(take_binds(imp));
  for (size_t i = 0; i < model->info.input_count; ++i) {
    if (model->inputs[i].has_shape) {
      STOW_TRY(meet_symbols(imp, &model->inputs[i]));
    }
  }
  for (size_t i = 0; i < model->info.input_count; ++i) {
    STOW_TRY(settle_input(imp, &model->inputs[i]));
  }
  settle_unnamed(imp);
  STOW_TRY(settle_ranges(imp));
  settle_rest(imp);
  STOW_TRY(check_expressions(imp));
  return note_open(imp);
}
