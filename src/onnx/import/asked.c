// What a request asks for, held against what the model has. Shapes and values are noted with the
// names of tensors, so that asking whether there is one is asking for the name. What names nothing
// is an error that tells the nearest name (Levenshtein's distance, on errors only), else all of a
// short list.
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "onnx/import/importer.h"

// ---------------------------------------------------------------------------------------------
// Names that are near

#define MAX_LISTED 8

typedef struct suggestion {
  stow_str wanted;
  stow_str best;
  size_t distance;  // what is not nearer is another word
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

static stow_status fail_near(stowi_importer* imp, stow_status status, const suggestion* s,
                             const char* reason) {
  if (s->best.size == 0) {
    return stowi_fail(imp->diag, status, "%s", reason);
  }
  return stowi_fail(imp->diag, status, "%s; did you mean \"%.*s\"?", reason,
                    STOWI_STR_ARG(s->best));
}

// Fails because the request is wrong: |reason|, the nearest name, or what there is, |what| of
// |count|.
static stow_status fail_unknown(stowi_importer* imp, const suggestion* s, const char* reason,
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

static void note_outside(stowi_importer* imp, stow_str text) {
  uint32_t id = text.size == 0 ? STOWI_NONE : stowi_name_find(imp, text);
  if (id != STOWI_NONE) {
    imp->names.data[id].is_asked_outside = true;
  }
}

static stow_status note_shapes(stowi_importer* imp) {
  const stow_onnx_request* request = imp->request;
  const stowi_onnx_graph* graph = &imp->proto->graph;
  for (size_t i = 0; i < request->shapes.count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_name_of(imp, request->shapes.data[i].tensor, &id));
    imp->names.data[id].shape = &request->shapes.data[i];
  }
  for (size_t i = 0; request->shapes.count != 0 && i < graph->node_count; ++i) {
    for (size_t k = 0; k < graph->nodes[i].output_count; ++k) {
      note_outside(imp, graph->nodes[i].outputs[k]);
    }
  }
  return STOW_OK;
}

stow_status stowi_note_asked(stowi_importer* imp) {
  const stow_onnx_request* request = imp->request;
  if (request == NULL) {
    return STOW_OK;
  }
  STOW_TRY(note_shapes(imp));
  for (size_t i = 0; i < request->values.count; ++i) {
    uint32_t id;
    STOW_TRY(stowi_name_of(imp, request->values.data[i].input, &id));
    imp->names.data[id].value = &request->values.data[i];
  }
  return STOW_OK;
}

static stow_status check_value(stowi_importer* imp, stow_str text) {
  const stowi_onnx_graph* graph = &imp->proto->graph;
  uint32_t id = stowi_name_find(imp, text);
  bool is_there = id != STOWI_NONE && imp->names.data[id].is_initializer;
  suggestion s = suggest_for(text);
  for (size_t k = 0; !is_there && k < graph->input_count; ++k) {
    is_there = stow_str_equal(graph->inputs[k].name, text);
    offer(&s, graph->inputs[k].name);
  }
  if (is_there) {
    return STOW_OK;
  }
  char reason[256];
  snprintf(reason, sizeof(reason),
           "a value is given for \"%.150s\", which is no input of the model", text.data);
  return fail_unknown(imp, &s, reason, "inputs", graph->input_count);
}

stow_status stowi_check_asked_values(stowi_importer* imp) {
  const stow_onnx_request* request = imp->request;
  for (size_t i = 0; request != NULL && i < request->values.count; ++i) {
    STOW_TRY(check_value(imp, request->values.data[i].input));
  }
  return STOW_OK;
}

static void offer_tensors(stowi_importer* imp, suggestion* s) {
  for (size_t i = 0; i < imp->names.count; ++i) {
    if (imp->names.data[i].was_made) {
      offer(s, imp->names.data[i].text);
    }
  }
}

stow_status stowi_check_asked_shapes(stowi_importer* imp) {
  const stow_onnx_request* request = imp->request;
  for (size_t i = 0; request != NULL && i < request->shapes.count; ++i) {
    stow_str text = request->shapes.data[i].tensor;
    uint32_t id = stowi_name_find(imp, text);
    if (id != STOWI_NONE && (imp->names.data[id].was_made || imp->names.data[id].is_initializer)) {
      continue;
    }
    suggestion s = suggest_for(text);
    offer_tensors(imp, &s);
    char reason[256];
    snprintf(reason, sizeof(reason),
             "a shape is given for \"%.150s\", which is no tensor of the model", text.data);
    return fail_near(imp, STOW_ERR_NOT_FOUND, &s, reason);
  }
  return STOW_OK;
}

stow_status stowi_fail_symbol(stowi_importer* imp, stow_str text) {
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
    const stowi_symbol* symbol = stowi_symbol_find(imp, stow_dims_symbol_name(dims, i));
    if (symbol == NULL || !symbol->is_met) {
      ++count;
      offer(&s, stow_dims_symbol_name(dims, i));
    }
  }
  char reason[256];
  snprintf(reason, sizeof(reason), "the model has no dim named \"%.*s\"",
           (int)smaller(text.size, 150), text.data);
  return fail_unknown(imp, &s, reason, "dims with a name", count);
}

stow_status stowi_fail_output(stowi_importer* imp, stow_str text) {
  suggestion s = suggest_for(text);
  offer_tensors(imp, &s);
  char reason[256];
  snprintf(reason, sizeof(reason), "output \"%.*s\" is made by nothing",
           (int)smaller(text.size, 150), text.data);
  return fail_near(imp, STOW_ERR_SYNTAX, &s, reason);
}

// ---------------------------------------------------------------------------------------------
// Shapes

// The shape that was given for |name| where it stands now.
static const stowi_asked_shape* shape_here(const stowi_importer* imp, const stowi_name* name) {
  return name->is_asked_outside && imp->depth != 0 ? NULL : name->shape;
}

const stowi_asked_shape* stowi_lower_asked_shape(const stowi_lowering* l, size_t k,
                                                 bool* out_is_soft) {
  const stowi_importer* imp = l->imp;
  bool is_any = imp->request != NULL && imp->request->shapes.count != 0;
  uint32_t id =
      is_any && stowi_lower_wants(l, k) ? stowi_name_find(imp, l->node->outputs[k]) : STOWI_NONE;
  if (out_is_soft != NULL) {
    *out_is_soft = false;
  }
  if (id == STOWI_NONE) {
    return NULL;
  }
  const stowi_name* name = &imp->names.data[id];
  if (name->lent == NULL || name->lent_depth != imp->depth) {
    return shape_here(imp, name);
  }
  if (out_is_soft != NULL) {
    *out_is_soft = name->is_lent_softly;
  }
  return name->lent;
}

stow_status stowi_lend_shape(stowi_lowering* l, size_t k, stow_str name, bool softly) {
  bool is_soft;
  const stowi_asked_shape* shape = stowi_lower_asked_shape(l, k, &is_soft);
  uint32_t id;
  if (shape == NULL) {
    return STOW_OK;
  }
  STOW_TRY(stowi_name_of(l->imp, name, &id));
  stowi_name* entry = &l->imp->names.data[id];
  entry->lent = shape;
  entry->lent_depth = l->imp->depth + 1;
  entry->is_lent_softly = softly || is_soft;
  return STOW_OK;
}

void stowi_return_shape(stowi_lowering* l, stow_str name) {
  uint32_t id = stowi_name_find(l->imp, name);
  if (id != STOWI_NONE) {
    l->imp->names.data[id].lent = NULL;
  }
}

static stowi_type_text dims_text(const stow_graph* graph, const stowi_asked_shape* shape) {
  stow_type type = stow_type_make(STOW_F32, (uint32_t)shape->rank, shape->dims);
  stowi_type_text text = stowi_type_text_of(graph, &type);
  const char* bracket = strchr(text.text, '[');
  memmove(text.text, bracket, strlen(bracket) + 1);
  return text;
}

stow_status stowi_compare_asked(stowi_importer* imp, stow_str text, stow_value value) {
  bool is_any = imp->request != NULL && imp->request->shapes.count != 0;
  uint32_t id = is_any ? stowi_name_find(imp, text) : STOWI_NONE;
  const stowi_asked_shape* shape = id == STOWI_NONE ? NULL : shape_here(imp, &imp->names.data[id]);
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
                    dims_text(imp->graph, shape).text, stowi_type_text_of(imp->graph, type).text);
}
