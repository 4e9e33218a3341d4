// Names of tensors and what they stand for.
//
// Every name that occurs has one entry, found by hash. Scopes are a stack of bindings: an entry
// holds its newest binding, a binding refers to the one that it hides, so that entering a scope is
// O(1), leaving it O(names bound in it) and looking up a name one hash. A function's scope has a
// floor below which nothing is visible.
#include <stdio.h>
#include <string.h>

#include "import/importer.h"

stow_status stowi_import_memory(stowi_import_importer* imp) { return stowi_fail_memory(imp->diag); }

static bool is_name(const void* context, uint32_t id, const void* key) {
  const stowi_import_importer* imp = (const stowi_import_importer*)context;
  return stow_str_equal(imp->names.data[id].text, *(const stow_str*)key);
}

static uint64_t hash_of(stow_str text) {
  return stowi_hash_bytes(STOWI_HASH_SEED, text.data, text.size);
}

uint32_t stowi_import_name_find(const stowi_import_importer* imp, stow_str text) {
  return stowi_index_find(&imp->by_name, hash_of(text), is_name, imp, &text);
}

stow_status stowi_import_name_of(stowi_import_importer* imp, stow_str text, uint32_t* out_name) {
  uint64_t hash = hash_of(text);
  *out_name = stowi_index_find(&imp->by_name, hash, is_name, imp, &text);
  if (*out_name != STOWI_INDEX_NONE) {
    return STOW_OK;
  }
  if (imp->names.count >= STOWI_IMPORT_NONE - 1) {
    return stowi_fail(imp->diag, STOW_ERR_LIMIT, "the model has too many names");
  }
  if (STOWI_VEC_RESERVE(imp->allocator, &imp->names, 1) != STOW_OK ||
      stowi_index_reserve(&imp->by_name, imp->allocator) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  *out_name = (uint32_t)imp->names.count++;
  imp->names.data[*out_name] = (stowi_import_name){.text = text,
                                                   .binding = STOWI_IMPORT_NONE,
                                                   .declared = STOWI_IMPORT_NONE,
                                                   .suffix = 1,
                                                   .serial = STOWI_IMPORT_NONE};
  stowi_index_insert(&imp->by_name, hash, *out_name);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Bindings

stow_status stowi_import_bind(stowi_import_importer* imp, stow_str text, stow_value value,
                              stowi_import_bound bound) {
  uint32_t id;
  STOW_TRY(stowi_import_name_of(imp, text, &id));
  stowi_import_name* name = &imp->names.data[id];
  if (name->binding != STOWI_IMPORT_NONE && name->binding >= imp->scope_start) {
    return stowi_fail(imp->diag, STOW_ERR_DUPLICATE, "the tensor \"%.*s\" is produced twice",
                      STOWI_STR_ARG(text));
  }
  if (imp->bindings.count >= STOWI_IMPORT_NONE - 1 ||
      STOWI_VEC_RESERVE(imp->allocator, &imp->bindings, 1) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  imp->bindings.data[imp->bindings.count] = (stowi_import_binding){id, name->binding, value, bound};
  name->binding = (uint32_t)imp->bindings.count++;
  name->was_made = true;
  return STOW_OK;
}

const stowi_import_binding* stowi_import_resolve(const stowi_import_importer* imp, stow_str text) {
  uint32_t id = stowi_import_name_find(imp, text);
  uint32_t binding = id == STOWI_IMPORT_NONE ? STOWI_IMPORT_NONE : imp->names.data[id].binding;
  return binding == STOWI_IMPORT_NONE || binding < imp->floor ? NULL : &imp->bindings.data[binding];
}

// ---------------------------------------------------------------------------------------------
// Declarations

stow_status stowi_import_declare(stowi_import_importer* imp, const stowi_import_info* info) {
  uint32_t id;
  STOW_TRY(stowi_import_name_of(imp, info->name, &id));
  if (STOWI_VEC_RESERVE(imp->allocator, &imp->declarations, 1) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  stowi_import_name* name = &imp->names.data[id];
  imp->declarations.data[imp->declarations.count] =
      (stowi_import_declaration){id, name->declared, *info};
  name->declared = (uint32_t)imp->declarations.count++;
  return STOW_OK;
}

const stowi_import_info* stowi_import_declaration_at(const stowi_import_importer* imp,
                                                     uint32_t name) {
  uint32_t at = name == STOWI_IMPORT_NONE ? STOWI_IMPORT_NONE : imp->names.data[name].declared;
  return at == STOWI_IMPORT_NONE || at < imp->declared_floor ? NULL
                                                             : &imp->declarations.data[at].info;
}

const stowi_import_info* stowi_import_declaration_of(const stowi_import_importer* imp,
                                                     stow_str text) {
  return stowi_import_declaration_at(imp, stowi_import_name_find(imp, text));
}

// ---------------------------------------------------------------------------------------------
// Scopes

stowi_import_scope stowi_import_enter(stowi_import_importer* imp, bool is_closed) {
  stowi_import_scope scope = {imp->bindings.count, imp->declarations.count, imp->scope_start,
                              imp->floor, imp->declared_floor};
  imp->scope_start = imp->bindings.count;
  if (is_closed) {
    imp->floor = imp->bindings.count;
    imp->declared_floor = imp->declarations.count;
  }
  return scope;
}

void stowi_import_leave(stowi_import_importer* imp, stowi_import_scope scope) {
  while (imp->bindings.count > scope.bindings) {
    const stowi_import_binding* binding = &imp->bindings.data[--imp->bindings.count];
    imp->names.data[binding->name].binding = binding->previous;
  }
  while (imp->declarations.count > scope.declarations) {
    const stowi_import_declaration* declaration =
        &imp->declarations.data[--imp->declarations.count];
    imp->names.data[declaration->name].declared = declaration->previous;
  }
  imp->scope_start = scope.start;
  imp->floor = scope.floor;
  imp->declared_floor = scope.declared_floor;
}

// ---------------------------------------------------------------------------------------------
// Names of values

// Whether a value made now must not be called |text|. What is made inside leaves the names of the
// graph's outputs alone.
static bool is_taken(const stowi_import_importer* imp, stow_str text) {
  if (stow_graph_find(imp->graph, text) != STOW_VALUE_NONE) {
    return true;
  }
  uint32_t id = imp->depth == 0 ? STOWI_IMPORT_NONE : stowi_import_name_find(imp, text);
  return id != STOWI_IMPORT_NONE && imp->names.data[id].is_output;
}

stow_status stowi_import_fresh_name(stowi_import_importer* imp, stow_str text, stow_str* out_name) {
  *out_name = text;
  if (!is_taken(imp, text)) {
    return STOW_OK;
  }
  uint32_t id;
  STOW_TRY(stowi_import_name_of(imp, text, &id));
  do {
    char suffix[16];
    snprintf(suffix, sizeof(suffix), "#%u", (unsigned)++imp->names.data[id].suffix);
    imp->text.size = 0;
    if (stow_string_append(&imp->text, text.data, text.size) != STOW_OK ||
        stow_string_append(&imp->text, suffix, strlen(suffix)) != STOW_OK) {
      return stowi_import_memory(imp);
    }
    *out_name = (stow_str){imp->text.data, imp->text.size};
  } while (is_taken(imp, *out_name));
  return STOW_OK;
}

// The joined name lives with the import: its entry in the table outlives the call.
stow_status stowi_import_fresh_name_with(stowi_import_importer* imp, stow_str text,
                                         const char* ending, stow_str* out_name) {
  size_t size = strlen(ending);
  *out_name = stow_str_of("");
  char* joined =
      text.size > SIZE_MAX - size ? NULL : stowi_import_keep_bytes(imp, text.size + size);
  if (joined == NULL) {
    return stowi_import_memory(imp);
  }
  if (text.size != 0) {
    memcpy(joined, text.data, text.size);
  }
  memcpy(joined + text.size, ending, size);
  return stowi_import_fresh_name(imp, (stow_str){joined, text.size + size}, out_name);
}

stow_status stowi_import_note_origins(stowi_import_importer* imp, const void* node) {
  size_t count = stow_graph_value_count(imp->graph);
  size_t extra = count - imp->origins.count;
  if (STOWI_VEC_RESERVE(imp->allocator, &imp->origins, extra) != STOW_OK) {
    return stowi_import_memory(imp);
  }
  while (imp->origins.count < count) {
    imp->origins.data[imp->origins.count++] = node;
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Blocks

stow_status stowi_import_keep_block(stowi_import_importer* imp, void* bytes, size_t size) {
  stow_import* import = imp->import;
  if (STOWI_VEC_RESERVE(imp->allocator, &import->blocks, 1) != STOW_OK) {
    stowi_free(imp->allocator, bytes, size, 1);
    return stowi_import_memory(imp);
  }
  import->blocks.data[import->blocks.count++] = (stowi_import_block){bytes, size};
  return STOW_OK;
}

void* stowi_import_keep_bytes(stowi_import_importer* imp, size_t size) {
  void* bytes = stowi_alloc(imp->allocator, size, 1);
  return bytes == NULL || stowi_import_keep_block(imp, bytes, size) != STOW_OK ? NULL : bytes;
}
