// The op registry: the core's fixed rows, followed by rows that a caller adds. Each added row has
// its own block, as has each attribute of its schema, so that pointers stay valid when more are
// added. Names of added rows are found through a hash index; op_table.c finds those of the core.
#include <stowage/op.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/diag.h"
#include "base/hash.h"
#include "graph/api.h"
#include "graph/op_table.h"

typedef struct attr_block {
  stowi_graph_attr_spec spec;
  size_t text_size;  // bytes of |text|: the name and all strings, each followed by a NUL
  char* text;
  void* list;  // the list that the spec points to, if any
} attr_block;

typedef struct added_row {
  stow_op_desc desc;
  size_t text_size;  // bytes of |text|: name and summary
  char* text;
  STOWI_VEC(attr_block*) attrs;
} added_row;

struct stow_ops {
  stow_allocator allocator;
  STOWI_VEC(added_row*) added;
  stowi_index by_name;  // name → index into |added|
};

// Words with another meaning in the text format where an op can be.
static const char* const reserved_names[] = {"bounded", "else", "graph", "return", "with"};

void stow_op_desc_defaults(stow_op_desc* desc) {
  static const stow_op_desc defaults = {.min_results = 1,
                                        .max_results = 1,
                                        .typing = STOW_TYPING_INFERRED,
                                        .region_kind = STOW_REGION_NONE};
  stowi_init_struct(desc, &defaults, sizeof(defaults));
}

// ---------------------------------------------------------------------------------------------
// Creating and destroying

static size_t list_size(const stow_attr* attr) {
  return attr->kind == STOW_ATTR_INTS     ? sizeof(int64_t)
         : attr->kind == STOW_ATTR_FLOATS ? sizeof(double)
                                          : sizeof(stow_str);
}

static bool is_list(stow_attr_kind kind) {
  return kind == STOW_ATTR_INTS || kind == STOW_ATTR_FLOATS || kind == STOW_ATTR_STRINGS;
}

// The list of |attr|, which is one of the list kinds.
static const void* list_of(const stow_attr* attr) {
  if (attr->kind == STOW_ATTR_INTS) {
    return attr->ints;
  }
  return attr->kind == STOW_ATTR_FLOATS ? (const void*)attr->floats : (const void*)attr->strings;
}

static void free_attr(stow_allocator allocator, attr_block* block) {
  if (block->list != NULL) {
    stowi_free(allocator, block->list, block->spec.value.count, list_size(&block->spec.value));
  }
  STOWI_ARRAY_FREE(allocator, block->text, block->text_size);
  STOWI_DELETE(allocator, block);
}

static void free_row(stow_allocator allocator, added_row* row) {
  for (size_t i = 0; i < row->attrs.count; ++i) {
    free_attr(allocator, row->attrs.data[i]);
  }
  STOWI_VEC_FREE(allocator, &row->attrs);
  STOWI_ARRAY_FREE(allocator, row->text, row->text_size);
  STOWI_DELETE(allocator, row);
}

stow_status stow_ops_create(stow_allocator allocator, stow_diag* diag, stow_ops** out_ops) {
  *out_ops = NULL;
  stow_ops* ops = STOWI_NEW(allocator, stow_ops);
  STOW_TRY(stowi_need_memory(ops != NULL, diag));
  ops->allocator = allocator;
  *out_ops = ops;
  return STOW_OK;
}

void stow_ops_destroy(stow_ops* ops) {
  if (ops == NULL) {
    return;
  }
  stow_allocator allocator = ops->allocator;
  for (size_t i = 0; i < ops->added.count; ++i) {
    free_row(allocator, ops->added.data[i]);
  }
  STOWI_VEC_FREE(allocator, &ops->added);
  stowi_index_free(&ops->by_name, allocator);
  STOWI_DELETE(allocator, ops);
}

// ---------------------------------------------------------------------------------------------
// Lookup

static const added_row* added_at(const stow_ops* ops, stow_op op) {
  size_t index = (size_t)op - STOW_OP_CORE_COUNT;
  if (ops == NULL || op < STOW_OP_CORE_COUNT || index >= ops->added.count) {
    return NULL;
  }
  return ops->added.data[index];
}

static bool row_has_name(const void* context, uint32_t id, const void* key) {
  const stow_ops* ops = (const stow_ops*)context;
  const stow_str* name = (const stow_str*)key;
  return stow_str_equal(stow_str_of(ops->added.data[id]->desc.name), *name);
}

static uint64_t name_hash(stow_str name) {
  return stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
}

size_t stowi_graph_ops_count(const stow_ops* ops) {
  return STOW_OP_CORE_COUNT + (ops == NULL ? 0 : ops->added.count);
}

bool stowi_graph_may_be_random(stow_op op) {
  switch (op) {
    case STOW_OP_RANDOM_NORMAL:
    case STOW_OP_RANDOM_UNIFORM:
    case STOW_OP_BERNOULLI:
    case STOW_OP_MULTINOMIAL:
    case STOW_OP_DROPOUT:
    case STOW_OP_CUSTOM: return true;
    default: return op >= STOW_OP_CORE_COUNT;
  }
}

const stow_op_desc* stow_ops_get(const stow_ops* ops, stow_op op) {
  if (op < STOW_OP_CORE_COUNT) {
    return &stowi_graph_core_row(op)->desc;
  }
  const added_row* row = added_at(ops, op);
  return row == NULL ? NULL : &row->desc;
}

stow_op stow_ops_find(const stow_ops* ops, stow_str name) {
  stow_op op = stowi_graph_core_find(name);
  if (op != STOW_OP_NONE || ops == NULL) {
    return op;
  }
  uint32_t index = stowi_index_find(&ops->by_name, name_hash(name), row_has_name, ops, &name);
  return index == STOWI_INDEX_NONE ? STOW_OP_NONE : STOW_OP_CORE_COUNT + index;
}

size_t stow_ops_attr_count(const stow_ops* ops, stow_op op) {
  if (op < STOW_OP_CORE_COUNT) {
    return stowi_graph_core_row(op)->attr_count;
  }
  const added_row* row = added_at(ops, op);
  return row == NULL ? 0 : row->attrs.count;
}

const stow_attr* stow_ops_attr(const stow_ops* ops, stow_op op, size_t index, bool* out_required) {
  const stowi_graph_attr_spec* spec = NULL;
  if (index < stow_ops_attr_count(ops, op)) {
    spec = op < STOW_OP_CORE_COUNT ? &stowi_graph_core_row(op)->attrs[index]
                                   : &added_at(ops, op)->attrs.data[index]->spec;
  }
  if (out_required != NULL) {
    *out_required = spec != NULL && spec->required;
  }
  return spec == NULL ? NULL : &spec->value;
}

// ---------------------------------------------------------------------------------------------
// Adding rows

// [a-z][a-z0-9_.]*, as the text format reads an op.
static bool is_op_name(const char* name) {
  if (name == NULL || name[0] < 'a' || name[0] > 'z') {
    return false;
  }
  for (const char* c = name; *c != '\0'; ++c) {
    bool is_lower = *c >= 'a' && *c <= 'z';
    bool is_digit = *c >= '0' && *c <= '9';
    if (!is_lower && !is_digit && *c != '_' && *c != '.') {
      return false;
    }
  }
  return true;
}

static bool is_reserved(const char* name) {
  for (size_t i = 0; i < sizeof(reserved_names) / sizeof(reserved_names[0]); ++i) {
    if (strcmp(name, reserved_names[i]) == 0) {
      return true;
    }
  }
  return false;
}

static stow_status check_name(const stow_ops* ops, const stow_op_desc* desc, stow_diag* diag) {
  if (!is_op_name(desc->name)) {
    stow_str shown = stow_str_of(desc->name);
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "\"%.*s\" is not an op name; expected a lower-case letter, then "
                      "lower-case letters, digits, '_' and '.'",
                      STOWI_STR_ARG(shown));
  }
  stow_str name = stow_str_of(desc->name);
  if (is_reserved(desc->name)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "\"%.*s\" is a keyword of the text format and cannot name an op",
                      STOWI_STR_ARG(name));
  }
  if (stow_ops_find(ops, name) != STOW_OP_NONE) {
    return stowi_fail(diag, STOW_ERR_DUPLICATE, "op \"%.*s\" already exists", STOWI_STR_ARG(name));
  }
  return STOW_OK;
}

// What is wrong with a row, or NULL.
static const char* row_fault(const stow_op_desc* desc) {
  if (desc->min_operands > desc->max_operands) {
    return "min_operands is above max_operands";
  }
  if (desc->min_results > desc->max_results) {
    return "min_results is above max_results";
  }
  if ((unsigned)desc->typing > STOW_TYPING_CHECKED) {
    return "typing is out of range";
  }
  if ((desc->typing == STOW_TYPING_DECLARED) != (desc->shape == NULL)) {
    return "a shape function is required unless types are declared, and not allowed if they are";
  }
  if (desc->writes_view && desc->view == NULL) {
    return "writes_view needs a view function";
  }
  switch (desc->region_kind) {
    case STOW_REGION_NONE: return desc->region_count == 0 ? NULL : "regions need a region_kind";
    case STOW_REGION_BRANCH:
      return desc->region_count != 0 ? NULL : "a branching op needs a region";
    case STOW_REGION_LOOP:
      return desc->region_count == 1 ? NULL : "a looping op has exactly one region";
  }
  return "region_kind is out of range";
}

// Appends |string| and a NUL at |*at|, and returns where it begins.
static const char* put_text(char** at, const char* data, size_t size) {
  char* begin = *at;
  if (size != 0) {
    memcpy(begin, data, size);
  }
  begin[size] = '\0';
  *at = begin + size + 1;
  return begin;
}

static added_row* make_row(stow_allocator allocator, const stow_op_desc* desc) {
  added_row* row = STOWI_NEW(allocator, added_row);
  if (row == NULL) {
    return NULL;
  }
  stow_str name = stow_str_of(desc->name);
  stow_str summary = stow_str_of(desc->summary);
  row->desc = *desc;
  row->text_size = name.size + 1 + summary.size + 1;  // both are in memory, so the sum fits
  row->text = STOWI_ARRAY(allocator, char, row->text_size);
  if (row->text == NULL) {
    STOWI_DELETE(allocator, row);
    return NULL;
  }
  char* at = row->text;
  row->desc.name = put_text(&at, name.data, name.size);
  const char* text = put_text(&at, summary.data, summary.size);
  row->desc.summary = desc->summary == NULL ? NULL : text;
  return row;
}

stow_status stow_ops_register(stow_ops* ops, const stow_op_desc* desc, stow_diag* diag,
                              stow_op* out_op) {
  if (out_op != NULL) {
    *out_op = STOW_OP_NONE;
  }
  stow_op_desc full;
  stow_op_desc_init(&full);
  STOW_TRY(stowi_load_struct(&full, desc, sizeof(full), "stow_op_desc", diag));
  STOW_TRY(check_name(ops, &full, diag));
  const char* fault = row_fault(&full);
  if (fault != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "op \"%.*s\": %s",
                      STOWI_STR_ARG(stow_str_of(full.name)), fault);
  }
  if (stowi_graph_ops_count(ops) >= STOW_OP_NONE) {
    return stowi_fail(diag, STOW_ERR_LIMIT, "the table is full");
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(ops->allocator, &ops->added, 1) == STOW_OK &&
                                 stowi_index_reserve(&ops->by_name, ops->allocator) == STOW_OK,
                             diag));
  added_row* row = make_row(ops->allocator, &full);
  STOW_TRY(stowi_need_memory(row != NULL, diag));
  uint32_t index = (uint32_t)ops->added.count;
  stowi_index_insert(&ops->by_name, name_hash(stow_str_of(row->desc.name)), index);
  ops->added.data[ops->added.count++] = row;
  if (out_op != NULL) {
    *out_op = STOW_OP_CORE_COUNT + index;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Adding attributes

// The size of the name and all strings of |attr|, each with a NUL; false on overflow.
static bool attr_text_size(const stow_attr* attr, size_t* out_size) {
  size_t size = 0;
  bool fits = stowi_add_size(attr->name.size, 1, &size);
  if (attr->kind == STOW_ATTR_STRING) {
    fits = fits && stowi_add_size(size, attr->s.size, &size) && stowi_add_size(size, 1, &size);
  }
  for (size_t i = 0; attr->kind == STOW_ATTR_STRINGS && i < attr->count; ++i) {
    fits = fits && stowi_add_size(size, attr->strings[i].size, &size) &&
           stowi_add_size(size, 1, &size);
  }
  *out_size = size;
  return fits;
}

static stow_str copy_str(char** at, stow_str string) {
  stow_str copy = {put_text(at, string.data, string.size), string.size};
  return copy;
}

// Copies the list of |from| to |block|; false when out of memory. An empty list is NULL.
static bool copy_list(stow_allocator allocator, const stow_attr* from, attr_block* block,
                      char** at) {
  if (!is_list(from->kind) || from->count == 0) {
    return true;
  }
  block->list = stowi_alloc(allocator, from->count, list_size(from));
  if (block->list == NULL) {
    return false;
  }
  stow_attr* to = &block->spec.value;
  to->count = from->count;
  if (from->kind == STOW_ATTR_STRINGS) {
    stow_str* strings = (stow_str*)block->list;
    for (size_t i = 0; i < from->count; ++i) {
      strings[i] = copy_str(at, from->strings[i]);
    }
    to->strings = strings;
    return true;
  }
  memcpy(block->list, list_of(from), from->count * list_size(from));
  if (from->kind == STOW_ATTR_INTS) {
    to->ints = (const int64_t*)block->list;
  } else {
    to->floats = (const double*)block->list;
  }
  return true;
}

// Only the fields that |from|'s kind uses; the others are zero.
static attr_block* make_attr(stow_allocator allocator, const stow_attr* from, bool required) {
  size_t text_size;
  attr_block* block = attr_text_size(from, &text_size) ? STOWI_NEW(allocator, attr_block) : NULL;
  if (block == NULL) {
    return NULL;
  }
  block->text_size = text_size;
  block->text = STOWI_ARRAY(allocator, char, block->text_size);
  if (block->text == NULL) {
    STOWI_DELETE(allocator, block);
    return NULL;
  }
  char* at = block->text;
  stow_attr* to = &block->spec.value;
  block->spec.required = required;
  to->name = copy_str(&at, from->name);
  to->kind = from->kind;
  to->i = from->kind == STOW_ATTR_INT ? from->i : 0;
  to->f = from->kind == STOW_ATTR_FLOAT ? from->f : 0.0;
  to->b = from->kind == STOW_ATTR_BOOL && from->b;
  if (from->kind == STOW_ATTR_STRING) {
    to->s = copy_str(&at, from->s);
  }
  if (!copy_list(allocator, from, block, &at)) {
    free_attr(allocator, block);
    return NULL;
  }
  return block;
}

static stow_status check_attr(const added_row* row, const stow_attr* attr, stow_diag* diag) {
  stow_str op = stow_str_of(row->desc.name);
  if (attr->name.size == 0 || (unsigned)attr->kind > STOW_ATTR_STRINGS) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "op \"%.*s\": an attribute needs a name and a kind", STOWI_STR_ARG(op));
  }
  if (is_list(attr->kind) && attr->count != 0 && list_of(attr) == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "op \"%.*s\": attribute \"%.*s\" has a list without data", STOWI_STR_ARG(op),
                      STOWI_STR_ARG(attr->name));
  }
  for (size_t i = 0; i < row->attrs.count; ++i) {
    if (stow_str_equal(row->attrs.data[i]->spec.value.name, attr->name)) {
      return stowi_fail(diag, STOW_ERR_DUPLICATE, "op \"%.*s\": attribute \"%.*s\" already exists",
                        STOWI_STR_ARG(op), STOWI_STR_ARG(attr->name));
    }
  }
  return STOW_OK;
}

stow_status stow_ops_add_attr(stow_ops* ops, stow_op op, const stow_attr* default_value,
                              bool required, stow_diag* diag) {
  if (op < STOW_OP_CORE_COUNT) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "\"%s\" is a core op and cannot be changed",
                      stowi_graph_core_row(op)->desc.name);
  }
  if (added_at(ops, op) == NULL) {
    return stowi_fail(diag, STOW_ERR_NOT_FOUND, "op %lu is out of range for this table",
                      (unsigned long)op);
  }
  added_row* row = ops->added.data[op - STOW_OP_CORE_COUNT];
  STOW_TRY(check_attr(row, default_value, diag));
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(ops->allocator, &row->attrs, 1) == STOW_OK, diag));
  attr_block* block = make_attr(ops->allocator, default_value, required);
  STOW_TRY(stowi_need_memory(block != NULL, diag));
  row->attrs.data[row->attrs.count++] = block;
  return STOW_OK;
}
