// Internals of the parser of the text format: parse.c (files and graphs), node.c (statements),
// attr.c (attributes) and type.c (types and dims). Every read function starts at the current token
// and ends at the first one that it does not take. Errors go to parser->diag with a position;
// stow_module_parse prefixes the file's name.
#ifndef STOWAGE_SRC_GRAPH_TEXT_PARSER_H_
#define STOWAGE_SRC_GRAPH_TEXT_PARSER_H_

#include <stowage/graph.h>

#include "base/alloc.h"
#include "graph/text/lex.h"

// A node's beginning, up to the regions or the types: `%6, %7 = topk(%4) {axis = 1}`. It is a place
// in the text rather than its content: a node's results are written before its op, and a region's
// owner before its regions, but the graph needs them afterwards. So the parser goes back and reads
// them again, which costs no memory.
typedef struct stowi_graph_head {
  stowi_graph_lexer start;  // at the first result, or at the op if there is none
  stowi_graph_lexer body;   // past the op's name
  stowi_graph_token name;   // the op's
  stow_op op;
  const stow_op_desc* desc;
  size_t result_count;
} stowi_graph_head;

// A node whose regions are being read.
typedef struct stowi_graph_owner {
  stowi_graph_head head;
  size_t region_index;
  stow_value first_value;  // of the open region
} stowi_graph_owner;

// Values of a region that has been closed.
typedef struct stowi_graph_span {
  stow_value first;
  stow_value end;
} stowi_graph_span;

typedef struct stowi_graph_parser {
  stowi_graph_lexer lexer;
  stow_allocator allocator;
  const stow_ops* ops;
  stow_diag diag;
  stow_graph* graph;  // the one being read
  bool returned;      // its `return` has been read
  size_t depth;       // open regions
  stowi_graph_owner owners[STOW_MAX_REGION_DEPTH];
  STOWI_VEC(stowi_graph_span) closed;  // ascending, disjoint
  // Scratch of one attribute or statement.
  STOWI_VEC(char) bytes;
  STOWI_VEC(int64_t) ints;
  STOWI_VEC(double) floats;
  STOWI_VEC(stow_str) strings;
  STOWI_VEC(stow_value) values;
} stowi_graph_parser;

// Fails at |token|.
stow_status stowi_graph_parser_fail(stowi_graph_parser* parser, const stowi_graph_token* token,
                                    stow_status status, const char* format, ...)
    STOW_PRINTF_LIKE(4, 5);
// "expected |what|, found …", at the current token.
stow_status stowi_graph_parser_fail_expected(stowi_graph_parser* parser, const char* what);
// Returns |status|, locating an error reported by the graph at |token|.
stow_status stowi_graph_parser_locate(stowi_graph_parser* parser, const stowi_graph_token* token,
                                      stow_status status);

stow_status stowi_graph_parser_next(stowi_graph_parser* parser);
// Takes a punctuation token; |what| describes it if the character alone is not clear enough, or is
// NULL.
stow_status stowi_graph_parser_expect(stowi_graph_parser* parser, char punctuation,
                                      const char* what);
// Takes the current token if it is |punctuation|. |out_taken|: whether it was.
stow_status stowi_graph_parser_accept(stowi_graph_parser* parser, char punctuation,
                                      bool* out_taken);

// Appends a string's (or identifier's) bytes to parser->bytes.
stow_status stowi_graph_parser_decode(stowi_graph_parser* parser, const stowi_graph_token* token);
// The same at the beginning of the scratch: the string is valid until the next decode.
stow_status stowi_graph_parser_string(stowi_graph_parser* parser, const stowi_graph_token* token,
                                      stow_str* out);

// `{name = value, …}`, each passed to |sink|. With a NULL |call| only checked.
typedef void (*stowi_graph_attr_sink)(stow_call* call, const stow_attr* attr);
stow_status stowi_graph_parser_attrs(stowi_graph_parser* parser, stow_call* call,
                                     stowi_graph_attr_sink sink);

// `f32[100, ?seq]`
stow_status stowi_graph_parser_type(stowi_graph_parser* parser, stow_type* out_type);

// `?seq = 1..512/1`, after the word `range`.
stow_status stowi_graph_parser_range(stowi_graph_parser* parser);

// All statements of the graph, to its closing brace.
stow_status stowi_graph_parser_statements(stowi_graph_parser* parser);

// The name of an op that looks like |name|, or NULL.
const char* stowi_graph_suggest_op(const stow_ops* ops, stow_str name);
// The element type that other frameworks call |name|, or NULL.
const char* stowi_graph_suggest_dtype(stow_str name);

#endif  // STOWAGE_SRC_GRAPH_TEXT_PARSER_H_
