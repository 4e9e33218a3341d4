// Types and dims of the text format. A dim is a number, a symbol, or an expression in `?( … )` with
// the usual precedence, read by recursive descent to a limited depth:
//
//     sum      = ["-"] product {("+" | "-") product}
//     product  = factor {"*" factor}
//     factor   = number | symbol | function "(" sum "," sum ")" | "(" sum ")"
//
// Ranges of symbols, `?seq = 1..512` or `?height = 32..1280/32`, come before all types.
#include <string.h>

#include "base/diag.h"
#include "graph/api.h"
#include "graph/dims/dims.h"
#include "graph/text/number.h"
#include "graph/text/parser.h"

#define MAX_NESTING 200  // far beyond what the dims table accepts; 600 small stack frames

typedef stow_dim (*dim_function)(stow_dims* dims, stow_dim a, stow_dim b);

static const struct {
  const char* name;
  dim_function apply;
} functions[] = {{"floor_div", stow_dim_floor_div},
                 {"ceil_div", stow_dim_ceil_div},
                 {"min", stow_dim_min},
                 {"max", stow_dim_max}};

static stow_status read_sum(stowi_graph_parser* parser, int depth, stow_dim* out);

// Reports the failure recorded in the dims table, at |token|.
static stow_status fail_dim(stowi_graph_parser* parser, const stowi_graph_token* token) {
  stow_dims* dims = stow_graph_edit_dims(parser->graph);
  stow_status status = stow_dims_status(dims);
  stow_dims_clear_status(dims);
  switch (status) {
    case STOW_ERR_LIMIT:
      return stowi_graph_parser_fail(parser, token, status, "this dim's expression is too large");
    case STOW_ERR_TYPE:
      return stowi_graph_parser_fail(parser, token, status,
                                     "this dim divides by zero or a negative number");
    case STOW_ERR_OVERFLOW:
      return stowi_graph_parser_fail(parser, token, status,
                                     "a number in this dim does not fit in 64 bits");
    default: return stowi_graph_parser_fail(parser, token, status, "%s", stow_status_text(status));
  }
}

static stow_status apply(stowi_graph_parser* parser, const stowi_graph_token* token,
                         dim_function function, stow_dim* into, stow_dim other) {
  *into = function(stow_graph_edit_dims(parser->graph), *into, other);
  return *into == STOW_DIM_INVALID ? fail_dim(parser, token) : STOW_OK;
}

static stow_status read_dim_number(stowi_graph_parser* parser, stow_dim* out) {
  const stowi_graph_token* token = &parser->lexer.token;
  if (!stowi_graph_number_int(token->text, false, out)) {
    return stowi_graph_parser_fail(parser, token, STOW_ERR_OVERFLOW,
                                   "the dim %.*s does not fit in 64 bits",
                                   STOWI_STR_ARG(token->text));
  }
  return stowi_graph_parser_next(parser);
}

static stow_status read_symbol(stowi_graph_parser* parser, stow_dim* out) {
  const stowi_graph_token token = parser->lexer.token;
  stow_str name;
  STOW_TRY(stowi_graph_parser_string(parser, &token, &name));
  bool is_dotted =
      token.kind == STOWI_GRAPH_TOKEN_IDENT && memchr(name.data, '.', name.size) != NULL;
  if (is_dotted) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_SYNTAX,
                                   "a symbol's name with a dot must be quoted: ?\"%.*s\"",
                                   STOWI_STR_ARG(name));
  }
  if (name.size == 0) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_SYNTAX,
                                   "a symbol's name must not be empty");
  }
  stow_dims* dims = stow_graph_edit_dims(parser->graph);
  *out = stow_dim_symbol(dims, name);
  if (*out == STOW_DIM_INVALID) {
    return fail_dim(parser, &token);
  }
  (void)stowi_graph_dims_fixed(dims, stow_dims_find_symbol(dims, name), out);
  return stowi_graph_parser_next(parser);
}

// ---------------------------------------------------------------------------------------------
// Ranges

// `32..1280`, which is one token: the lexer takes dots for those of a float.
static stow_status read_ends(stowi_graph_parser* parser, stow_dim_range* out) {
  stow_str text = parser->lexer.token.text;
  size_t size = 0;
  while (size < text.size && text.data[size] != '.') {
    ++size;
  }
  bool has_dots = parser->lexer.token.kind == STOWI_GRAPH_TOKEN_FLOAT && text.size - size > 2 &&
                  text.data[size + 1] == '.';
  if (!has_dots || !stowi_graph_number_int((stow_str){text.data, size}, false, &out->min) ||
      !stowi_graph_number_int((stow_str){text.data + size + 2, text.size - size - 2}, false,
                              &out->max)) {
    return stowi_graph_parser_fail_expected(parser, "a range, as in 1..512");
  }
  return stowi_graph_parser_next(parser);
}

static stow_status read_step(stowi_graph_parser* parser, stow_dim_range* out) {
  bool has_step;
  out->step = 1;
  STOW_TRY(stowi_graph_parser_accept(parser, '/', &has_step));
  if (!has_step) {
    return STOW_OK;
  }
  if (parser->lexer.token.kind != STOWI_GRAPH_TOKEN_INT ||
      !stowi_graph_number_int(parser->lexer.token.text, false, &out->step)) {
    return stowi_graph_parser_fail_expected(parser, "the step of the range");
  }
  return stowi_graph_parser_next(parser);
}

stow_status stowi_graph_parser_range(stowi_graph_parser* parser) {
  stow_dims* dims = stow_graph_edit_dims(parser->graph);
  stow_dim_range range;
  stow_dim symbol;
  STOW_TRY(stowi_graph_parser_expect(parser, '?', NULL));
  stowi_graph_token token = parser->lexer.token;
  size_t count = stow_dims_symbol_count(dims);
  if (token.kind != STOWI_GRAPH_TOKEN_IDENT && token.kind != STOWI_GRAPH_TOKEN_STRING) {
    return stowi_graph_parser_fail_expected(parser, "a symbol after '?'");
  }
  STOW_TRY(read_symbol(parser, &symbol));
  if (stow_dims_symbol_count(dims) == count) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_DUPLICATE,
                                   "this symbol has a range already");
  }
  STOW_TRY(stowi_graph_parser_expect(parser, '=', NULL));
  STOW_TRY(read_ends(parser, &range));
  STOW_TRY(read_step(parser, &range));
  if (stow_dims_set_range(dims, count, &range) != STOW_OK) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_INVALID_ARGUMENT,
                                   "the range %lld..%lld/%lld has no value, or one above %lld",
                                   (long long)range.min, (long long)range.max,
                                   (long long)range.step, (long long)STOW_DIM_RANGE_MAX);
  }
  return STOW_OK;
}

static stow_status read_parenthesised(stowi_graph_parser* parser, int depth, stow_dim* out) {
  if (depth == MAX_NESTING) {
    return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_LIMIT,
                                   "dims are nested more than %d deep", MAX_NESTING);
  }
  STOW_TRY(stowi_graph_parser_expect(parser, '(', NULL));
  return read_sum(parser, depth + 1, out);
}

static stow_status read_function(stowi_graph_parser* parser, const stowi_graph_token* name,
                                 int depth, stow_dim* out) {
  size_t count = sizeof(functions) / sizeof(functions[0]);
  size_t k = 0;
  while (k < count && !stowi_graph_token_is(name, functions[k].name)) {
    ++k;
  }
  if (k == count) {
    return stowi_graph_parser_fail(
        parser, name, STOW_ERR_SYNTAX,
        "expected floor_div, ceil_div, min or max before '(', found '%.*s'",
        STOWI_STR_ARG(name->text));
  }
  stow_dim other;
  STOW_TRY(read_parenthesised(parser, depth, out));
  STOW_TRY(stowi_graph_parser_expect(parser, ',', "',' and the second operand"));
  STOW_TRY(read_sum(parser, depth + 1, &other));
  STOW_TRY(stowi_graph_parser_expect(parser, ')', NULL));
  return apply(parser, name, functions[k].apply, out, other);
}

static stow_status read_factor(stowi_graph_parser* parser, int depth, stow_dim* out) {
  stowi_graph_token token = parser->lexer.token;
  switch (token.kind) {
    case STOWI_GRAPH_TOKEN_INT: return read_dim_number(parser, out);
    case STOWI_GRAPH_TOKEN_STRING: return read_symbol(parser, out);
    case '(':
      STOW_TRY(read_parenthesised(parser, depth, out));
      return stowi_graph_parser_expect(parser, ')', "an operator or ')'");
    case STOWI_GRAPH_TOKEN_IDENT: break;
    default: return stowi_graph_parser_fail_expected(parser, "a number, a symbol or '('");
  }
  stowi_graph_lexer here = parser->lexer;
  STOW_TRY(stowi_graph_parser_next(parser));
  if (parser->lexer.token.kind == '(') {
    return read_function(parser, &token, depth, out);
  }
  parser->lexer = here;
  return read_symbol(parser, out);
}

// The further factors of a product that begins with |out|.
static stow_status read_factors(stowi_graph_parser* parser, int depth, stow_dim* out) {
  while (parser->lexer.token.kind == '*') {
    stowi_graph_token token = parser->lexer.token;
    stow_dim factor;
    STOW_TRY(stowi_graph_parser_next(parser));
    STOW_TRY(read_factor(parser, depth, &factor));
    STOW_TRY(apply(parser, &token, stow_dim_mul, out, factor));
  }
  return STOW_OK;
}

// Whether the token is the magnitude of INT64_MIN, which only a negative term can have.
static bool is_least(const stowi_graph_token* token) {
  int64_t number;
  return token->kind == STOWI_GRAPH_TOKEN_INT &&
         !stowi_graph_number_int(token->text, false, &number) &&
         stowi_graph_number_int(token->text, true, &number);
}

static stow_status read_term(stowi_graph_parser* parser, int depth, stow_dim* out) {
  STOW_TRY(read_factor(parser, depth, out));
  return read_factors(parser, depth, out);
}

// The term after a minus, with its sign.
static stow_status read_negative_term(stowi_graph_parser* parser, int depth, stow_dim* out) {
  stowi_graph_token token = parser->lexer.token;
  *out = 0;
  if (is_least(&token)) {
    STOW_TRY(apply(parser, &token, stow_dim_sub, out, INT64_MAX));
    STOW_TRY(apply(parser, &token, stow_dim_sub, out, 1));
    STOW_TRY(stowi_graph_parser_next(parser));
    return read_factors(parser, depth, out);
  }
  stow_dim term;
  STOW_TRY(read_term(parser, depth, &term));
  return apply(parser, &token, stow_dim_sub, out, term);
}

static stow_status read_sum(stowi_graph_parser* parser, int depth, stow_dim* out) {
  *out = 0;
  if (parser->lexer.token.kind != '-') {
    STOW_TRY(read_term(parser, depth, out));
  }
  while (parser->lexer.token.kind == '+' || parser->lexer.token.kind == '-') {
    stowi_graph_token token = parser->lexer.token;
    stow_dim term;
    STOW_TRY(stowi_graph_parser_next(parser));
    STOW_TRY(token.kind == '+' ? read_term(parser, depth, &term)
                               : read_negative_term(parser, depth, &term));
    STOW_TRY(apply(parser, &token, stow_dim_add, out, term));
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------

static stow_status read_dim(stowi_graph_parser* parser, stow_dim* out) {
  if (parser->lexer.token.kind == STOWI_GRAPH_TOKEN_INT) {
    return read_dim_number(parser, out);
  }
  STOW_TRY(stowi_graph_parser_expect(parser, '?', "a dim: 384, ?name or ?(past + seq)"));
  stowi_graph_token token = parser->lexer.token;
  if (token.kind == STOWI_GRAPH_TOKEN_IDENT || token.kind == STOWI_GRAPH_TOKEN_STRING) {
    return read_symbol(parser, out);
  }
  if (token.kind != '(') {
    return stowi_graph_parser_fail_expected(parser, "a symbol or '(' after '?'");
  }
  STOW_TRY(read_parenthesised(parser, 0, out));
  if (!stowi_graph_dim_is_valid(stow_graph_edit_dims(parser->graph), *out)) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_TYPE, "this dim is negative");
  }
  return stowi_graph_parser_expect(parser, ')', "an operator or ')'");
}

static stow_status fail_unknown_dtype(stowi_graph_parser* parser, const stowi_graph_token* name) {
  const char* similar = stowi_graph_suggest_dtype(name->text);
  if (similar == NULL) {
    return stowi_graph_parser_fail(parser, name, STOW_ERR_SYNTAX,
                                   "expected an element type such as f32 or i64, found '%.*s'",
                                   STOWI_STR_ARG(name->text));
  }
  return stowi_graph_parser_fail(parser, name, STOW_ERR_SYNTAX,
                                 "expected an element type, found '%.*s'; did you mean '%s'?",
                                 STOWI_STR_ARG(name->text), similar);
}

stow_status stowi_graph_parser_type(stowi_graph_parser* parser, stow_type* out_type) {
  bool more;
  memset(out_type, 0, sizeof(*out_type));
  stowi_graph_token token = parser->lexer.token;
  if (token.kind != STOWI_GRAPH_TOKEN_IDENT) {
    return stowi_graph_parser_fail_expected(parser, "a type, as in f32[100, 384]");
  }
  STOW_TRY(stow_dtype_from_name(token.text, &out_type->dtype) ? stowi_graph_parser_next(parser)
                                                              : fail_unknown_dtype(parser, &token));
  STOW_TRY(stowi_graph_parser_expect(parser, '[', "'[' and the dims"));
  STOW_TRY(stowi_graph_parser_accept(parser, ']', &more));
  for (more = !more; more;) {
    if (out_type->rank == STOW_MAX_RANK) {
      return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_LIMIT,
                                     "too many dims, the maximum is %d", STOW_MAX_RANK);
    }
    STOW_TRY(read_dim(parser, &out_type->dims[out_type->rank]));
    ++out_type->rank;
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, ']', "',' or ']'"));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// A dim alone

static stow_status parse_dim(stowi_graph_parser* parser, stow_dim* out_dim) {
  size_t symbols = stow_dims_symbol_count(stow_graph_dims(parser->graph));
  STOW_TRY(stowi_graph_parser_next(parser));
  stowi_graph_token first = parser->lexer.token;
  STOW_TRY(read_dim(parser, out_dim));
  if (parser->lexer.token.kind != STOWI_GRAPH_TOKEN_END) {
    return stowi_graph_parser_fail_expected(parser, "the end of the dim");
  }
  return stow_dims_symbol_count(stow_graph_dims(parser->graph)) == symbols
             ? STOW_OK
             : stowi_graph_parser_fail(parser, &first, STOW_ERR_SYNTAX,
                                       "the dim has a symbol that the graph does not have");
}

stow_status stowi_graph_parse_dim(stow_graph* graph, stow_str text, stow_allocator allocator,
                                  stow_diag* diag, stow_dim* out_dim) {
  *out_dim = STOW_DIM_INVALID;
  stowi_graph_parser* parser = STOWI_NEW(allocator, stowi_graph_parser);
  STOW_TRY(stowi_need_memory(parser != NULL, diag));
  parser->allocator = allocator;
  parser->graph = graph;
  stow_diag_init(&parser->diag);
  stowi_graph_lexer_init(&parser->lexer, text.data, text.size, &parser->diag);
  stow_status status = parse_dim(parser, out_dim);
  if (status != STOW_OK) {
    stowi_fail(diag, status, "%s", parser->diag.message);
    *out_dim = STOW_DIM_INVALID;
  }
  STOWI_VEC_FREE(allocator, &parser->bytes);
  STOWI_DELETE(allocator, parser);
  return status;
}
