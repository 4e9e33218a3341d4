// What a request asks for, held against what the model has. Shapes and values are noted with the
// names of tensors, so that asking whether there is one is asking for the name. What names nothing
// is an error that suggests the nearest name (Levenshtein's distance, on errors only), else all of
// a short list.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "import/importer.h"

// ---------------------------------------------------------------------------------------------
// Names that are near

#define MAX_LISTED 8

typedef struct suggestion {
  stow_str wanted;
  stow_str best;
  size_t distance;  // names that are not nearer are not suggested
  size_t listed;
  size_t size;
  char list[360];
} suggestion;

static suggestion suggest_for(stow_str wanted) {
  return (suggestion){.wanted = wanted, .distance = wanted.size / 3 + 2};
}

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static void list(suggestion* s, stow_str name) {
  size_t room = sizeof(s->list) - s->size;
  if (s->listed == MAX_LISTED || name.size > STOWI_LONGEST_WORD || name.size + 8 > room) {
    return;
  }
  int size = snprintf(s->list + s->size, room, "%s\"%.*s\"", s->listed == 0 ? "" : ", ",
                      STOWI_STR_ARG(name));
  s->size += (size_t)size;
  ++s->listed;
}

// |name| exists.
static void offer(suggestion* s, stow_str name) {
  list(s, name);
  if (name.size == 0 || name.size > STOWI_LONGEST_WORD || s->wanted.size > STOWI_LONGEST_WORD) {
    return;
  }
  size_t distance = stowi_edit_distance(s->wanted, name);
  if (distance < s->distance) {
    s->best = name;
    s->distance = distance;
  }
}

static stow_status fail_near(stowi_import_importer* imp, stow_status status, const suggestion* s,
                             const char* reason) {
  if (s->best.size == 0) {
    return stowi_fail(imp->diag, status, "%s", reason);
  }
  return stowi_fail(imp->diag, status, "%s; did you mean \"%.*s\"?", reason,
                    STOWI_STR_ARG(s->best));
}

// Fails because the request is wrong: |reason|, the nearest name, or what there is, |what| of
// |count|.
static stow_status fail_unknown(stowi_import_importer* imp, const suggestion* s, const char* reason,
                                const char* what, size_t count) {
  if (s->best.size != 0) {
    return fail_near(imp, STOW_ERR_NOT_FOUND, s, reason);
  }
  if (count == 0) {
    return stowi_fail(imp->diag, STOW_ERR_NOT_FOUND, "%s; it has no %s", reason, what);
  }
  return stowi_fail(imp->diag, STOW_ERR_NOT_FOUND, "%s; its %s are %s%s", reason, what, s->list,
                    count > s->listed ? ", \xe2\x80\xa6" : "");
}

// ---------------------------------------------------------------------------------------------
// What was asked for

stow_status stowi_import_note_asked(stowi_import_importer* imp) {
  const stow_import_request* request = imp->request;
  if (request == NULL) {
    return STOW_OK;
  }
  for (size_t i = 0; i < request->shapes.count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_import_name_of(imp, request->shapes.data[i].tensor, &id));
    imp->names.data[id].shape = &request->shapes.data[i];
  }
  for (size_t i = 0; i < request->values.count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_import_name_of(imp, request->values.data[i].input, &id));
    imp->names.data[id].value = &request->values.data[i];
  }
  return STOW_OK;
}

// Also where nothing is asked.
static bool allows_unknown(const stow_import_request* request) {
  return request == NULL || (request->flags & STOW_IMPORT_ALLOW_UNKNOWN) != 0;
}

static stow_status check_value(stowi_import_importer* imp, stow_str text) {
  const stow_model* model = imp->model;
  uint32_t id = stowi_import_name_find(imp, text);
  bool is_there = id != STOWI_IMPORT_NONE && imp->names.data[id].is_weight;
  suggestion s = suggest_for(text);
  for (size_t k = 0; !is_there && k < model->info.input_count; ++k) {
    is_there = stow_str_equal(model->inputs[k].name, text);
    offer(&s, model->inputs[k].name);
  }
  if (is_there) {
    return STOW_OK;
  }
  char reason[256];
  snprintf(reason, sizeof(reason),
           "a value is given for \"%.150s\", which is not an input of the model", text.data);
  return fail_unknown(imp, &s, reason, "inputs", model->info.input_count);
}

stow_status stowi_import_check_asked_values(stowi_import_importer* imp) {
  const stow_import_request* request = imp->request;
  size_t count = allows_unknown(request) ? 0 : request->values.count;
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(check_value(imp, request->values.data[i].input));
  }
  return STOW_OK;
}

static void offer_tensors(stowi_import_importer* imp, suggestion* s) {
  for (size_t i = 0; i < imp->names.count; ++i) {
    if (imp->names.data[i].was_made) {
      offer(s, imp->names.data[i].text);
    }
  }
}

stow_status stowi_import_check_asked_shapes(stowi_import_importer* imp) {
  const stow_import_request* request = imp->request;
  size_t count = allows_unknown(request) ? 0 : request->shapes.count;
  for (size_t i = 0; i < count; ++i) {
    stow_str text = request->shapes.data[i].tensor;
    uint32_t id = stowi_import_name_find(imp, text);
    if (id != STOWI_IMPORT_NONE &&
        (imp->names.data[id].was_made || imp->names.data[id].is_weight)) {
      continue;
    }
    suggestion s = suggest_for(text);
    offer_tensors(imp, &s);
    char reason[256];
    snprintf(reason, sizeof(reason),
             "a shape is given for \"%.150s\", which is not a tensor of the model", text.data);
    return fail_near(imp, STOW_ERR_NOT_FOUND, &s, reason);
  }
  return STOW_OK;
}

stow_status stowi_import_check_symbol(stowi_import_importer* imp, stow_str text) {
  if (allows_unknown(imp->request)) {
    return STOW_OK;
  }
  const stow_dims* dims = stow_graph_dims(imp->graph);
  suggestion s = suggest_for(text);
  size_t count = 0;
  for (size_t i = 0; i < imp->symbols.count; ++i) {
    if (imp->symbols.data[i].is_met) {
      ++count;
      offer(&s, imp->symbols.data[i].text);
    }
  }
  for (size_t i = 0; i < stow_dims_symbol_count(dims); ++i) {
    const stowi_import_symbol* symbol =
        stowi_import_symbol_find(imp, stow_dims_symbol_name(dims, i));
    if (symbol == NULL || !symbol->is_met) {
      ++count;
      offer(&s, stow_dims_symbol_name(dims, i));
    }
  }
  char reason[256];
  snprintf(reason, sizeof(reason), "the model has no symbol \"%.*s\"", (int)smaller(text.size, 150),
           text.data);
  return fail_unknown(imp, &s, reason, "symbols", count);
}

stow_status stowi_import_fail_output(stowi_import_importer* imp, stow_str text) {
  suggestion s = suggest_for(text);
  offer_tensors(imp, &s);
  char reason[256];
  snprintf(reason, sizeof(reason), "output \"%.*s\" is not produced by any node",
           (int)smaller(text.size, 150), text.data);
  return fail_near(imp, STOW_ERR_SYNTAX, &s, reason);
}

// ---------------------------------------------------------------------------------------------
// Shapes

// The shape that was given for |name| where it stands now.
static const stowi_import_asked_shape* shape_here(const stowi_import_importer* imp,
                                                  const stowi_import_name* name) {
  return name->is_asked_outside && imp->depth != 0 ? NULL : name->shape;
}

// The entry of |text| where any shape was given.
static stowi_import_name* asked_name(const stowi_import_importer* imp, stow_str text) {
  bool is_any = text.size != 0 && imp->request != NULL && imp->request->shapes.count != 0;
  uint32_t id = is_any ? stowi_import_name_find(imp, text) : STOWI_IMPORT_NONE;
  return id == STOWI_IMPORT_NONE ? NULL : &imp->names.data[id];
}

void stowi_import_note_outer(stowi_import_importer* imp, stow_str text) {
  stowi_import_name* name = asked_name(imp, text);
  if (name != NULL) {
    name->is_asked_outside = true;
  }
}

const stowi_import_asked_shape* stowi_import_asked_shape_of(const stowi_import_importer* imp,
                                                            stow_str text, bool* out_is_soft) {
  const stowi_import_name* name = asked_name(imp, text);
  bool is_lent = name != NULL && name->lent != NULL && name->lent_depth == imp->depth;
  if (out_is_soft != NULL) {
    *out_is_soft = is_lent && name->is_lent_softly;
  }
  return name == NULL ? NULL : is_lent ? name->lent : shape_here(imp, name);
}

stow_status stowi_import_lend_shape(stowi_import_importer* imp, stow_str outer, stow_str inner,
                                    bool softly) {
  bool is_soft;
  const stowi_import_asked_shape* shape = stowi_import_asked_shape_of(imp, outer, &is_soft);
  uint32_t id;
  if (shape == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_import_name_of(imp, inner, &id));
  stowi_import_name* entry = &imp->names.data[id];
  entry->lent = shape;
  entry->lent_depth = imp->depth + 1;
  entry->is_lent_softly = softly || is_soft;
  return STOW_OK;
}

void stowi_import_return_shape(stowi_import_importer* imp, stow_str inner) {
  uint32_t id = stowi_import_name_find(imp, inner);
  if (id != STOWI_IMPORT_NONE) {
    imp->names.data[id].lent = NULL;
  }
}

static stowi_import_type_text dims_text(const stow_graph* graph,
                                        const stowi_import_asked_shape* shape) {
  stow_type type = stow_type_make(STOW_F32, (uint32_t)shape->rank, shape->dims);
  stowi_import_type_text text = stowi_import_type_text_of(graph, &type);
  const char* bracket = strchr(text.text, '[');
  memmove(text.text, bracket, strlen(bracket) + 1);
  return text;
}

stow_status stowi_import_compare_asked(stowi_import_importer* imp, stow_str text,
                                       stow_value value) {
  const stowi_import_name* name = asked_name(imp, text);
  const stowi_import_asked_shape* shape = name == NULL ? NULL : shape_here(imp, name);
  if (shape == NULL) {
    return STOW_OK;
  }
  const stow_type* type = stow_graph_type(imp->graph, value);
  if (type->rank == shape->rank &&
      memcmp(type->dims, shape->dims, shape->rank * sizeof(*shape->dims)) == 0) {
    return STOW_OK;
  }
  return stowi_fail(imp->diag, STOW_ERR_CONFLICT,
                    "the shape given for \"%.*s\" is %s, but it is %s", STOWI_STR_ARG(text),
                    dims_text(imp->graph, shape).text,
                    stowi_import_type_text_of(imp->graph, type).text);
}
