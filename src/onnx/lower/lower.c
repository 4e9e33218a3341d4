// What lowering functions ask and do: a thin layer over stow_call.
//
// Where the user gave the shape of a result, the types that the op infers are asked for first, and
// then declared with the given dims in them.
#include <stdarg.h>
#include <string.h>

#include "onnx/import/importer.h"

// ---------------------------------------------------------------------------------------------
// The node

stow_str stowi_onnx_node_label(const stowi_onnx_node* node) {
  stow_str label = node->name;
  for (size_t i = 0; label.size == 0 && i < node->output_count; ++i) {
    label = node->outputs[i];
  }
  return label;
}

stow_value stowi_onnx_lower_operand(const stowi_onnx_lowering* l, size_t k) {
  return k < l->operand_count ? l->onnx->stack.data[l->first_operand + k] : STOW_VALUE_NONE;
}

const stow_type* stowi_onnx_lower_type(const stowi_onnx_lowering* l, size_t k) {
  stow_value value = stowi_onnx_lower_operand(l, k);
  return value == STOW_VALUE_NONE ? NULL : stow_graph_type(l->imp->graph, value);
}

bool stowi_onnx_lower_wants(const stowi_onnx_lowering* l, size_t k) {
  return k < l->result_count && l->node->outputs[k].size != 0;
}

void stowi_onnx_lower_set_result(stowi_onnx_lowering* l, size_t k, stow_value value) {
  if (k < l->result_count) {
    l->onnx->stack.data[l->first_result + k] = value;
  }
}

stow_value stowi_onnx_lower_result(const stowi_onnx_lowering* l, size_t k) {
  return k < l->result_count ? l->onnx->stack.data[l->first_result + k] : STOW_VALUE_NONE;
}

const stowi_import_asked_shape* stowi_onnx_lower_asked_shape(const stowi_onnx_lowering* l, size_t k,
                                                             bool* out_is_soft) {
  stow_str name = stowi_onnx_lower_wants(l, k) ? l->node->outputs[k] : stow_str_of("");
  return stowi_import_asked_shape_of(l->imp, name, out_is_soft);
}

stow_status stowi_onnx_lower_lend_shape(stowi_onnx_lowering* l, size_t k, stow_str name,
                                        bool softly) {
  return stowi_onnx_lower_wants(l, k)
             ? stowi_import_lend_shape(l->imp, l->node->outputs[k], name, softly)
             : STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Attributes

static const stowi_onnx_attr* find_attr(const stowi_onnx_attr* attrs, size_t count, stow_str name) {
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(attrs[i].name, name)) {
      return &attrs[i];
    }
  }
  return NULL;
}

// What |attr| stands for: where it names an attribute of the enclosing function, what the call
// gives for that, else the function's default. As deep as calls are nested.
static const stowi_onnx_attr* follow(const stowi_onnx_attr* attr,
                                     const stowi_onnx_inlining* inlining) {
  if (attr == NULL || attr->ref.size == 0 || inlining == NULL) {
    return attr != NULL && attr->ref.size == 0 ? attr : NULL;
  }
  const stowi_onnx_node* call = inlining->call;
  const stowi_onnx_function* function = inlining->function;
  const stowi_onnx_attr* given =
      follow(find_attr(call->attrs, call->attr_count, attr->ref), inlining->outer);
  return given != NULL ? given : find_attr(function->defaults, function->default_count, attr->ref);
}

const stowi_onnx_attr* stowi_onnx_lower_any_attr(const stowi_onnx_lowering* l, stow_str name) {
  return follow(find_attr(l->node->attrs, l->node->attr_count, name), l->onnx->inlining);
}

const stowi_onnx_attr* stowi_onnx_lower_attr(const stowi_onnx_lowering* l, const char* name) {
  return stowi_onnx_lower_any_attr(l, stow_str_of(name));
}

static const stowi_onnx_attr* attr_of(const stowi_onnx_lowering* l, const char* name,
                                      stowi_onnx_attr_type type) {
  const stowi_onnx_attr* attr = stowi_onnx_lower_attr(l, name);
  return attr != NULL && attr->type == type ? attr : NULL;
}

int64_t stowi_onnx_lower_int(const stowi_onnx_lowering* l, const char* name, int64_t fallback) {
  const stowi_onnx_attr* attr = attr_of(l, name, STOWI_ONNX_ATTR_INT);
  return attr == NULL ? fallback : attr->i;
}

double stowi_onnx_lower_float(const stowi_onnx_lowering* l, const char* name, double fallback) {
  const stowi_onnx_attr* attr = attr_of(l, name, STOWI_ONNX_ATTR_FLOAT);
  return attr == NULL ? fallback : (double)attr->f;
}

stow_str stowi_onnx_lower_string(const stowi_onnx_lowering* l, const char* name,
                                 const char* fallback) {
  const stowi_onnx_attr* attr = attr_of(l, name, STOWI_ONNX_ATTR_STRING);
  return attr == NULL ? stow_str_of(fallback) : attr->s;
}

const int64_t* stowi_onnx_lower_ints(const stowi_onnx_lowering* l, const char* name,
                                     size_t* out_count) {
  const stowi_onnx_attr* attr = attr_of(l, name, STOWI_ONNX_ATTR_INTS);
  *out_count = attr == NULL ? 0 : attr->count;
  return attr == NULL ? NULL : attr->ints;
}

// ---------------------------------------------------------------------------------------------
// Describing a core node

stow_call* stowi_onnx_lower_begin(stowi_onnx_lowering* l, stow_op op) {
  return stow_graph_begin(l->imp->graph, op);
}

void stowi_onnx_lower_add_operands(stowi_onnx_lowering* l, stow_call* call, size_t first) {
  for (size_t k = first; k < l->operand_count; ++k) {
    stow_call_operand(call, stowi_onnx_lower_operand(l, k));
  }
}

// A string in lower case; ASCII only.
static stow_status add_word(stowi_onnx_lowering* l, stow_call* call, const char* name,
                            stow_str text) {
  stow_string* word = &l->imp->text;
  word->size = 0;
  if (stow_string_append(word, text.data, text.size) != STOW_OK) {
    return stowi_import_memory(l->imp);
  }
  for (size_t i = 0; i < word->size; ++i) {
    if (word->data[i] >= 'A' && word->data[i] <= 'Z') {
      word->data[i] = (char)(word->data[i] - 'A' + 'a');
    }
  }
  stow_call_attr_string(call, name, (stow_str){word->data, word->size});
  return STOW_OK;
}

static stow_status add_floats(stowi_onnx_lowering* l, stow_call* call, stow_str name,
                              const stowi_onnx_attr* attr) {
  double* floats = STOWI_ARRAY(l->imp->allocator, double, attr->count);
  if (floats == NULL) {
    return stowi_import_memory(l->imp);
  }
  for (size_t i = 0; i < attr->count; ++i) {
    floats[i] = (double)attr->floats[i];
  }
  stow_attr list = {.name = name, .kind = STOW_ATTR_FLOATS, .count = attr->count, .floats = floats};
  stow_call_attr(call, &list);
  STOWI_ARRAY_FREE(l->imp->allocator, floats, attr->count);
  return STOW_OK;
}

static void add_strings(stow_call* call, stow_str name, const stowi_onnx_attr* attr) {
  stow_attr list = {
      .name = name, .kind = STOW_ATTR_STRINGS, .count = attr->count, .strings = attr->strings};
  stow_call_attr(call, &list);
}

static stow_status add_dtype(stowi_onnx_lowering* l, stow_call* call, const char* name,
                             int64_t elem) {
  stow_dtype dtype;
  if (elem == STOWI_ONNX_ELEM_STRING) {
    return stowi_onnx_lower_unsupported(l, "strings are not supported");
  }
  if (elem < 0 || elem > INT32_MAX || !stowi_onnx_elem_dtype((int32_t)elem, &dtype)) {
    return stowi_onnx_lower_unsupported(l, "element type %lld is not supported", (long long)elem);
  }
  stow_call_attr_string(call, name, stow_str_of(stow_dtype_name(dtype)));
  return STOW_OK;
}

static const struct {
  stowi_onnx_attr_type type;
  const char* text;
} map_types[] = {
    [STOWI_ONNX_MAP_INT] = {STOWI_ONNX_ATTR_INT, "an int"},
    [STOWI_ONNX_MAP_BOOL] = {STOWI_ONNX_ATTR_INT, "an int"},
    [STOWI_ONNX_MAP_FLOAT] = {STOWI_ONNX_ATTR_FLOAT, "a float"},
    [STOWI_ONNX_MAP_STRING] = {STOWI_ONNX_ATTR_STRING, "a string"},
    [STOWI_ONNX_MAP_WORD] = {STOWI_ONNX_ATTR_STRING, "a string"},
    [STOWI_ONNX_MAP_INTS] = {STOWI_ONNX_ATTR_INTS, "a list of ints"},
    [STOWI_ONNX_MAP_FLOATS] = {STOWI_ONNX_ATTR_FLOATS, "a list of floats"},
    [STOWI_ONNX_MAP_STRINGS] = {STOWI_ONNX_ATTR_STRINGS, "a list of strings"},
    [STOWI_ONNX_MAP_DTYPE] = {STOWI_ONNX_ATTR_INT, "an int"},
};

static stow_status add_attr(stowi_onnx_lowering* l, stow_call* call, const stowi_onnx_attr_map* map,
                            const stowi_onnx_attr* attr) {
  const char* name = map->core == NULL ? map->onnx : map->core;
  if (attr->type != map_types[map->kind].type) {
    return stowi_fail(l->imp->diag, STOW_ERR_TYPE, "attribute \"%s\" must be %s", map->onnx,
                      map_types[map->kind].text);
  }
  switch (map->kind) {
    case STOWI_ONNX_MAP_INT: stow_call_attr_int(call, name, attr->i); break;
    case STOWI_ONNX_MAP_BOOL: stow_call_attr_bool(call, name, attr->i != 0); break;
    case STOWI_ONNX_MAP_FLOAT: stow_call_attr_float(call, name, (double)attr->f); break;
    case STOWI_ONNX_MAP_STRING: stow_call_attr_string(call, name, attr->s); break;
    case STOWI_ONNX_MAP_WORD: return add_word(l, call, name, attr->s);
    case STOWI_ONNX_MAP_INTS: stow_call_attr_ints(call, name, attr->ints, attr->count); break;
    case STOWI_ONNX_MAP_FLOATS: return add_floats(l, call, stow_str_of(name), attr);
    case STOWI_ONNX_MAP_STRINGS: add_strings(call, stow_str_of(name), attr); break;
    case STOWI_ONNX_MAP_DTYPE: return add_dtype(l, call, name, attr->i);
    case STOWI_ONNX_MAP_IGNORE: break;
  }
  return STOW_OK;
}

stow_status stowi_onnx_lower_add_attrs(stowi_onnx_lowering* l, stow_call* call,
                                       const stowi_onnx_attr_map* maps, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const stowi_onnx_attr* attr =
        maps[i].kind == STOWI_ONNX_MAP_IGNORE ? NULL : stowi_onnx_lower_attr(l, maps[i].onnx);
    if (attr != NULL) {
      STOW_TRY(add_attr(l, call, &maps[i], attr));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Finishing it

stow_status stowi_onnx_lower_finish(stowi_onnx_lowering* l, stow_call* call,
                                    stow_value* out_first) {
  *out_first = STOW_VALUE_NONE;
  stow_node node;
  STOW_TRY(stow_call_finish(call, l->imp->diag, &node));
  if (stow_graph_result_count(l->imp->graph, node) != 0) {
    *out_first = stow_graph_first_result(l->imp->graph, node);
  }
  return STOW_OK;
}

stow_dtype stowi_onnx_lower_guess_dtype(const stowi_onnx_lowering* l, size_t k) {
  const stowi_import_info* info = stowi_import_declaration_of(l->imp, l->node->outputs[k]);
  if (info != NULL && info->has_dtype) {
    return info->dtype;
  }
  const stow_type* first = stowi_onnx_lower_type(l, 0);
  return first == NULL ? STOW_F32 : first->dtype;
}

// Whether a shape that was given for a result of the node around this one has a use here.
static bool is_open(const stow_type* inferred) {
  bool is = inferred == NULL;
  for (uint32_t i = 0; !is && i < inferred->rank; ++i) {
    is = !stow_dim_is_const(inferred->dims[i]);
  }
  return is;
}

static bool has_asked_shape(const stowi_onnx_lowering* l, size_t first, size_t count) {
  for (size_t k = first; k < first + count; ++k) {
    if (stowi_onnx_lower_asked_shape(l, k, NULL) != NULL) {
      return true;
    }
  }
  return false;
}

// Declares the types that the op infers with the user's dims in them. Where it cannot infer any,
// only if the user gave all of them.
static stow_status declare_asked(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                 size_t count) {
  const stow_type* inferred;
  size_t inferred_count;
  stow_status status = stow_call_infer(call, l->imp->diag, &inferred, &inferred_count);
  if (status != STOW_OK && status != STOW_ERR_DATA_DEPENDENT) {
    return status;
  }
  for (size_t k = first; status != STOW_OK && k < first + count; ++k) {
    if (stowi_onnx_lower_asked_shape(l, k, NULL) == NULL) {
      return status;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    bool is_soft;
    const stowi_import_asked_shape* shape = stowi_onnx_lower_asked_shape(l, first + i, &is_soft);
    const stow_type* own = i < inferred_count ? &inferred[i] : NULL;
    stow_type type = {.dtype =
                          own != NULL ? own->dtype : stowi_onnx_lower_guess_dtype(l, first + i)};
    if (own != NULL) {
      type = *own;
    }
    if (shape != NULL && (!is_soft || is_open(own))) {
      type = stow_type_make(type.dtype, (uint32_t)shape->rank, shape->dims);
    }
    stow_call_result_type(call, &type);
  }
  return STOW_OK;
}

static stow_status name_results(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (stowi_onnx_lower_wants(l, first + i)) {
      stow_str name;
      STOW_TRY(stowi_import_fresh_name(l->imp, l->node->outputs[first + i], &name));
      stow_call_name(call, i, name);
    }
  }
  return STOW_OK;
}

static stow_status finish_named(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                size_t count) {
  stow_node node;
  STOW_TRY(stow_call_finish(call, l->imp->diag, &node));
  stow_value value = stow_graph_first_result(l->imp->graph, node);
  for (size_t i = 0; i < count && i < stow_graph_result_count(l->imp->graph, node); ++i) {
    stowi_onnx_lower_set_result(l, first + i, value + (stow_value)i);
  }
  return STOW_OK;
}

stow_status stowi_onnx_lower_finish_results(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                            size_t count) {
  stow_call_result_count(call, count);
  STOW_TRY(name_results(l, call, first, count));
  bool is_asked = has_asked_shape(l, first, count);
  if (is_asked) {
    STOW_TRY(declare_asked(l, call, first, count));
  }
  stow_status status = finish_named(l, call, first, count);
  if (status != STOW_ERR_TYPE || !is_asked) {
    return status;
  }
  // Types fit before they were declared.
  stow_diag inner = *l->imp->diag;
  return stowi_fail(l->imp->diag, STOW_ERR_CONFLICT, "the shape that is given does not fit: %s",
                    inner.message);
}

stow_status stowi_onnx_lower_finish_declared(stowi_onnx_lowering* l, stow_call* call, size_t first,
                                             size_t count) {
  STOW_TRY(name_results(l, call, first, count));
  return finish_named(l, call, first, count);
}

// ---------------------------------------------------------------------------------------------
// Results without a node of their own, and constants

static bool is_graph_output(const stowi_onnx_lowering* l, size_t k) {
  uint32_t id = stowi_onnx_lower_wants(l, k) && l->imp->depth == 0
                    ? stowi_import_name_find(l->imp, l->node->outputs[k])
                    : STOWI_IMPORT_NONE;
  return id != STOWI_IMPORT_NONE && l->imp->names.data[id].is_output;
}

stow_status stowi_onnx_lower_alias(stowi_onnx_lowering* l, size_t k, stow_value value) {
  stow_graph* graph = l->imp->graph;
  if (!is_graph_output(l, k) ||
      stow_str_equal(stow_graph_value_name(graph, value), l->node->outputs[k])) {
    stowi_onnx_lower_set_result(l, k, value);
    return STOW_OK;
  }
  stow_type type = *stow_graph_type(graph, value);
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_RESHAPE);
  stow_call_operand(call, value);
  stow_call_result_type(call, &type);
  return stowi_onnx_lower_finish_declared(l, call, k, 1);
}

stow_status stowi_onnx_lower_constant(stowi_onnx_lowering* l, const stow_type* type,
                                      const void* bytes, size_t size, stow_value* out_value) {
  *out_value = STOW_VALUE_NONE;
  stow_str name;
  STOW_TRY(
      stowi_import_fresh_name_with(l->imp, stowi_onnx_node_label(l->node), ".constant", &name));
  stow_type own = *type;
  stow_call* call = stowi_onnx_lower_begin(l, STOW_OP_CONSTANT);
  stow_call_name(call, 0, name);
  stow_call_result_type(call, &own);
  stow_call_data(call, bytes, size, true);
  stow_node node;
  STOW_TRY(stow_call_finish(call, l->imp->diag, &node));
  *out_value = stow_graph_first_result(l->imp->graph, node);
  return STOW_OK;
}

static stow_status constant_list(stowi_onnx_lowering* l, stow_dtype dtype, const void* numbers,
                                 size_t width, size_t count, bool is_scalar,
                                 stow_value* out_value) {
  stow_dim dim = (stow_dim)count;
  stow_type type = stow_type_make(dtype, is_scalar ? 0 : 1, &dim);
  return stowi_onnx_lower_constant(l, &type, numbers, (is_scalar ? 1 : count) * width, out_value);
}

stow_status stowi_onnx_lower_constant_i64(stowi_onnx_lowering* l, const int64_t* numbers,
                                          size_t count, bool is_scalar, stow_value* out_value) {
  return constant_list(l, STOW_I64, numbers, sizeof(*numbers), count, is_scalar, out_value);
}

stow_status stowi_onnx_lower_constant_f32(stowi_onnx_lowering* l, const float* numbers,
                                          size_t count, bool is_scalar, stow_value* out_value) {
  return constant_list(l, STOW_F32, numbers, sizeof(*numbers), count, is_scalar, out_value);
}

// ---------------------------------------------------------------------------------------------
// The plain translation

static bool is_mapped(const stowi_onnx_attr_map* maps, size_t count, stow_str name) {
  for (size_t i = 0; i < count; ++i) {
    if (stow_str_equal(stow_str_of(maps[i].onnx), name)) {
      return true;
    }
  }
  return false;
}

// How many results the core node has: those that the file names, at least as many as the op's row
// demands.
static size_t plain_count(const stowi_onnx_lowering* l, stow_op op) {
  const stow_op_desc* desc = stow_ops_get(NULL, op);
  size_t least = desc == NULL ? 0 : desc->min_results;
  return l->result_count < least ? least : l->result_count;
}

stow_status stowi_onnx_lower_plain(stowi_onnx_lowering* l, stow_op op,
                                   const stowi_onnx_attr_map* maps, size_t count) {
  for (size_t i = 0; i < l->node->attr_count; ++i) {
    stow_str name = l->node->attrs[i].name;
    if (!is_mapped(maps, count, name)) {
      return stowi_onnx_lower_unsupported(l, "attribute \"%.*s\" is not known",
                                          STOWI_STR_ARG(name));
    }
  }
  stow_call* call = stowi_onnx_lower_begin(l, op);
  stowi_onnx_lower_add_operands(l, call, 0);
  STOW_TRY(stowi_onnx_lower_add_attrs(l, call, maps, count));
  return stowi_onnx_lower_finish_results(l, call, 0, plain_count(l, op));
}

stow_status stowi_onnx_lower_unsupported(stowi_onnx_lowering* l, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stow_status status = stowi_vfail(l->imp->diag, STOW_ERR_UNSUPPORTED, format, arguments);
  va_end(arguments);
  return status;
}
