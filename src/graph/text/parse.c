// Reads `.stow` files: modules and graphs. A recursive-descent parser with one token of lookahead,
// except that nested regions are on an explicit stack, so that no text can exhaust the C stack. It
// calls the public graph builder and leaves all type checks to it. Linear in the text, apart from a
// binary search per operand in graphs with regions.
#include <stdarg.h>
#include <stdio.h>
#include <stowage/text.h>

#include "base/diag.h"
#include "base/hash.h"
#include "base/text.h"
#include "graph/text/parser.h"

struct stow_module {
  stow_allocator allocator;
  STOWI_VEC(stow_graph*) graphs;
  stowi_index names;
};

// ---------------------------------------------------------------------------------------------
// Errors and tokens

stow_status stowi_graph_parser_fail(stowi_graph_parser* parser, const stowi_graph_token* token,
                                    stow_status status, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_vfail(&parser->diag, status, format, arguments);
  va_end(arguments);
  stowi_diag_at(&parser->diag, token->line, token->column);
  return status;
}

stow_status stowi_graph_parser_fail_expected(stowi_graph_parser* parser, const char* what) {
  char found[STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE];
  stowi_graph_token_describe(&parser->lexer.token, found);
  return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_SYNTAX,
                                 "expected %s, found %s", what, found);
}

stow_status stowi_graph_parser_locate(stowi_graph_parser* parser, const stowi_graph_token* token,
                                      stow_status status) {
  if (status != STOW_OK) {
    stowi_diag_at(&parser->diag, token->line, token->column);
  }
  return status;
}

stow_status stowi_graph_parser_next(stowi_graph_parser* parser) {
  return stowi_graph_lexer_next(&parser->lexer);
}

stow_status stowi_graph_parser_expect(stowi_graph_parser* parser, char punctuation,
                                      const char* what) {
  if (parser->lexer.token.kind != punctuation) {
    char alone[4] = {'\'', punctuation, '\'', '\0'};
    return stowi_graph_parser_fail_expected(parser, what == NULL ? alone : what);
  }
  return stowi_graph_parser_next(parser);
}

stow_status stowi_graph_parser_accept(stowi_graph_parser* parser, char punctuation,
                                      bool* out_taken) {
  *out_taken = parser->lexer.token.kind == punctuation;
  return *out_taken ? stowi_graph_parser_next(parser) : STOW_OK;
}

stow_status stowi_graph_parser_decode(stowi_graph_parser* parser, const stowi_graph_token* token) {
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(parser->allocator, &parser->bytes, token->text.size + 1) == STOW_OK,
      &parser->diag));
  parser->bytes.count += stowi_graph_token_decode(token, parser->bytes.data + parser->bytes.count);
  return STOW_OK;
}

stow_status stowi_graph_parser_string(stowi_graph_parser* parser, const stowi_graph_token* token,
                                      stow_str* out) {
  if (!token->escaped) {
    *out = token->text;
    return STOW_OK;
  }
  parser->bytes.count = 0;
  STOW_TRY(stowi_graph_parser_decode(parser, token));
  out->data = parser->bytes.data;
  out->size = parser->bytes.count;
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Modules

static bool graph_has_name(const void* context, uint32_t id, const void* key) {
  const stow_module* module = context;
  return stow_str_equal(stow_graph_name(module->graphs.data[id]), *(const stow_str*)key);
}

static uint64_t hash_name(stow_str name) {
  return stowi_hash_bytes(STOWI_HASH_SEED, name.data, name.size);
}

stow_graph* stow_module_find(stow_module* module, stow_str name) {
  uint32_t id = stowi_index_find(&module->names, hash_name(name), graph_has_name, module, &name);
  return id == STOWI_INDEX_NONE ? NULL : module->graphs.data[id];
}

size_t stow_module_graph_count(const stow_module* module) { return module->graphs.count; }

stow_graph* stow_module_graph(stow_module* module, size_t index) {
  return index < module->graphs.count ? module->graphs.data[index] : NULL;
}

void stow_module_destroy(stow_module* module) {
  if (module == NULL) {
    return;
  }
  stow_allocator allocator = module->allocator;
  for (size_t i = 0; i < module->graphs.count; ++i) {
    stow_graph_destroy(module->graphs.data[i]);
  }
  STOWI_VEC_FREE(allocator, &module->graphs);
  stowi_index_free(&module->names, allocator);
  STOWI_DELETE(allocator, module);
}

stow_status stow_module_print(const stow_module* module, stow_writer writer) {
  for (size_t i = 0; i < module->graphs.count; ++i) {
    if (i != 0) {
      STOW_TRY(stowi_put(writer, "\n"));
    }
    STOW_TRY(stow_graph_print(module->graphs.data[i], writer));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Graphs

// The module owns the graph from the start, so that a later failure needs no other cleanup.
static stow_status add_graph(stowi_graph_parser* parser, stow_module* module, stow_str name) {
  if (module->graphs.count >= STOWI_INDEX_NONE) {
    return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_LIMIT, "too many graphs");
  }
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(parser->allocator, &module->graphs, 1) == STOW_OK &&
                                 stowi_index_reserve(&module->names, parser->allocator) == STOW_OK,
                             &parser->diag));
  STOW_TRY(stow_graph_create(name, parser->ops, parser->allocator, &parser->diag, &parser->graph));
  stowi_index_insert(&module->names, hash_name(name), (uint32_t)module->graphs.count);
  module->graphs.data[module->graphs.count++] = parser->graph;
  return STOW_OK;
}

// The keyword, `@` and the name, which is the current token afterwards.
static stow_status read_name(stowi_graph_parser* parser, stow_str* out_name) {
  STOW_TRY(stowi_graph_parser_next(parser));
  STOW_TRY(stowi_graph_parser_expect(parser, '@', "'@' and the graph's name"));
  stowi_graph_token token = parser->lexer.token;
  if (token.kind != STOWI_GRAPH_TOKEN_IDENT && token.kind != STOWI_GRAPH_TOKEN_STRING) {
    return stowi_graph_parser_fail_expected(parser, "the graph's name after '@'");
  }
  return stowi_graph_parser_string(parser, &token, out_name);
}

// From the name on.
static stow_status read_rest(stowi_graph_parser* parser) {
  STOW_TRY(stowi_graph_parser_next(parser));
  return stowi_graph_parser_expect(parser, '{', NULL);
}

static stow_status read_function(stowi_graph_parser* parser) {
  stow_graph* graph = parser->graph;
  stow_str name;
  STOW_TRY(read_name(parser, &name));
  stowi_graph_token token = parser->lexer.token;
  STOW_TRY(stow_graph_create(name, parser->ops, parser->allocator, &parser->diag, &parser->graph));
  stow_graph* function = parser->graph;
  stow_status status = stowi_need_memory(
      stow_dim_symbol(stow_graph_edit_dims(function), stow_str_of("rows")) != STOW_DIM_INVALID,
      &parser->diag);
  if (status == STOW_OK) {
    status = read_rest(parser);
  }
  if (status == STOW_OK) {
    status = stowi_graph_parser_statements(parser);
  }
  if (status == STOW_OK) {
    status = stowi_graph_parser_locate(parser, &token,
                                       stow_graph_add_function(graph, function, &parser->diag));
  }
  if (status != STOW_OK) {
    stow_graph_destroy(function);
  }
  parser->graph = graph;
  return status;
}

// Ranges of symbols. A node may be called `range` too, but no `?` follows that.
static stow_status read_ranges(stowi_graph_parser* parser) {
  while (stowi_graph_token_is(&parser->lexer.token, "range")) {
    stowi_graph_lexer here = parser->lexer;
    STOW_TRY(stowi_graph_parser_next(parser));
    if (parser->lexer.token.kind != '?') {
      parser->lexer = here;
      return STOW_OK;
    }
    STOW_TRY(stowi_graph_parser_range(parser));
  }
  return STOW_OK;
}

static stow_status read_module(stowi_graph_parser* parser, stow_module* module) {
  STOW_TRY(stowi_graph_parser_next(parser));
  do {
    if (!stowi_graph_token_is(&parser->lexer.token, "graph")) {
      return stowi_graph_parser_fail_expected(
          parser, module->graphs.count == 0 ? "'graph'" : "'graph' or the end of the text");
    }
    stow_str name;
    STOW_TRY(read_name(parser, &name));
    stowi_graph_token token = parser->lexer.token;
    if (stow_module_find(module, name) != NULL) {
      return stowi_graph_parser_fail(parser, &token, STOW_ERR_DUPLICATE,
                                     "graph @%.*s is defined twice", STOWI_STR_ARG(name));
    }
    STOW_TRY(stowi_graph_parser_locate(parser, &token, add_graph(parser, module, name)));
    STOW_TRY(read_rest(parser));
    STOW_TRY(read_ranges(parser));
    while (stowi_graph_token_is(&parser->lexer.token, "function")) {
      STOW_TRY(read_function(parser));
    }
    STOW_TRY(stowi_graph_parser_statements(parser));
  } while (parser->lexer.token.kind != STOWI_GRAPH_TOKEN_END);
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static void destroy_parser(stowi_graph_parser* parser) {
  stow_allocator allocator = parser->allocator;
  STOWI_VEC_FREE(allocator, &parser->closed);
  STOWI_VEC_FREE(allocator, &parser->bytes);
  STOWI_VEC_FREE(allocator, &parser->ints);
  STOWI_VEC_FREE(allocator, &parser->floats);
  STOWI_VEC_FREE(allocator, &parser->strings);
  STOWI_VEC_FREE(allocator, &parser->values);
  STOWI_DELETE(allocator, parser);
}

stow_status stow_module_parse(const char* text, size_t size, const char* file_name,
                              const stow_ops* ops, stow_allocator allocator, stow_diag* diag,
                              stow_module** out_module) {
  *out_module = NULL;
  stow_module* module = STOWI_NEW(allocator, stow_module);
  STOW_TRY(stowi_need_memory(module != NULL, diag));
  module->allocator = allocator;
  stowi_graph_parser* parser = STOWI_NEW(allocator, stowi_graph_parser);
  if (parser == NULL) {
    stow_module_destroy(module);
    return stowi_fail_memory(diag);
  }
  parser->allocator = allocator;
  parser->ops = ops;
  stow_diag_init(&parser->diag);
  stowi_graph_lexer_init(&parser->lexer, text, size, &parser->diag);
  stow_status status = read_module(parser, module);
  if (status == STOW_OK) {
    *out_module = module;
  } else {
    // Passes the parser's error to the caller.
    const stow_diag* error = &parser->diag;
    bool has_file = file_name != NULL;
    stowi_fail(diag, error->status, "%.400s%s%s", has_file ? file_name : "", has_file ? ": " : "",
               error->message);
    stowi_diag_at(diag, error->line, error->column);
    stowi_diag_node(diag, error->node);
    stowi_diag_value(diag, error->value);
    stowi_diag_keep_split(diag, error);
    stow_module_destroy(module);
  }
  destroy_parser(parser);
  return status;
}
