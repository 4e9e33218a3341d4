// Attribute lists of the text format, `{axis = 0, eps = 0x1p-10, name = "x"}`, and their values. A
// value is collected in the parser's scratch arrays, which are reused from one attribute to the
// next, and passed on as a whole. Linear.
#include <string.h>

#include "base/diag.h"
#include "graph/text/number.h"
#include "graph/text/parser.h"

static const char a_value[] = "a value: a number, a string, true, false or a list";

// A number with its sign, as written: an integer stays one.
typedef struct number {
  bool is_int;
  int64_t i;
  double f;
} number;

static double not_a_number(void) {
  static const uint64_t bits = UINT64_C(0x7ff8000000000000);
  double result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

static double infinity(void) {
  static const uint64_t bits = UINT64_C(0x7ff0000000000000);
  double result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

static bool starts_number(const stowi_graph_token* token) {
  return token->kind == STOWI_GRAPH_TOKEN_INT || token->kind == STOWI_GRAPH_TOKEN_FLOAT ||
         token->kind == '-' || stowi_graph_token_is(token, "inf") ||
         stowi_graph_token_is(token, "nan");
}

static stow_status read_int(stowi_graph_parser* parser, bool negative, number* out) {
  const stowi_graph_token* token = &parser->lexer.token;
  out->is_int = true;
  if (!stowi_graph_number_int(token->text, negative, &out->i)) {
    return stowi_graph_parser_fail(parser, token, STOW_ERR_OVERFLOW,
                                   "the integer %s%.*s does not fit in 64 bits",
                                   negative ? "-" : "", STOWI_STR_ARG(token->text));
  }
  return STOW_OK;
}

static stow_status read_float(stowi_graph_parser* parser, bool negative, number* out) {
  const stowi_graph_token* token = &parser->lexer.token;
  const char* error = NULL;
  out->is_int = false;
  if (stowi_graph_token_is(token, "inf")) {
    out->f = infinity();
  } else if (stowi_graph_token_is(token, "nan") && !negative) {
    out->f = not_a_number();
  } else if (token->kind == STOWI_GRAPH_TOKEN_FLOAT) {
    error = stowi_graph_number_float(token->text, &out->f);
  } else {
    return stowi_graph_parser_fail_expected(parser, "a number");
  }
  if (error != NULL) {
    return stowi_graph_parser_fail(parser, token, STOW_ERR_SYNTAX, "the number %.*s %s",
                                   STOWI_STR_ARG(token->text), error);
  }
  out->f = negative ? -out->f : out->f;
  return STOW_OK;
}

static stow_status read_number(stowi_graph_parser* parser, number* out) {
  bool negative;
  STOW_TRY(stowi_graph_parser_accept(parser, '-', &negative));
  bool is_int = parser->lexer.token.kind == STOWI_GRAPH_TOKEN_INT;
  STOW_TRY(is_int ? read_int(parser, negative, out) : read_float(parser, negative, out));
  return stowi_graph_parser_next(parser);
}

// ---------------------------------------------------------------------------------------------
// Lists

static stow_status push_float(stowi_graph_parser* parser, const stowi_graph_token* token,
                              number item) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(parser->allocator, &parser->floats, 1) == STOW_OK,
                             &parser->diag));
  if (item.is_int && !stowi_graph_number_int_to_float(item.i, &item.f)) {
    return stowi_graph_parser_fail(
        parser, token, STOW_ERR_SYNTAX,
        "this list holds floats, and one of its integers is not exact as a double");
  }
  parser->floats.data[parser->floats.count++] = item.f;
  return STOW_OK;
}

// The first float among integers makes the whole list one of floats.
static stow_status change_to_floats(stowi_graph_parser* parser, const stowi_graph_token* token) {
  for (size_t i = 0; i < parser->ints.count; ++i) {
    number item = {true, parser->ints.data[i], 0};
    STOW_TRY(push_float(parser, token, item));
  }
  return STOW_OK;
}

// Stores only the size: the bytes may move while the list grows, and pointers are set at its end.
static stow_status read_string_item(stowi_graph_parser* parser, stow_attr* attr) {
  size_t start = parser->bytes.count;
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(parser->allocator, &parser->strings, 1) == STOW_OK,
                             &parser->diag));
  STOW_TRY(stowi_graph_parser_decode(parser, &parser->lexer.token));
  stow_str string = {NULL, parser->bytes.count - start};
  parser->strings.data[parser->strings.count++] = string;
  attr->kind = STOW_ATTR_STRINGS;
  return stowi_graph_parser_next(parser);
}

static stow_status read_item(stowi_graph_parser* parser, stow_attr* attr) {
  bool is_first = attr->count == 0;
  bool is_string = parser->lexer.token.kind == STOWI_GRAPH_TOKEN_STRING;
  ++attr->count;
  if (is_string && (is_first || attr->kind == STOW_ATTR_STRINGS)) {
    return read_string_item(parser, attr);
  }
  if (starts_number(&parser->lexer.token) && attr->kind != STOW_ATTR_STRINGS) {
    stowi_graph_token token = parser->lexer.token;
    number item;
    STOW_TRY(read_number(parser, &item));
    if (!item.is_int && attr->kind == STOW_ATTR_INTS) {
      attr->kind = STOW_ATTR_FLOATS;
      STOW_TRY(change_to_floats(parser, &token));
    }
    if (attr->kind == STOW_ATTR_FLOATS) {
      return push_float(parser, &token, item);
    }
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(parser->allocator, &parser->ints, 1) == STOW_OK,
                               &parser->diag));
    parser->ints.data[parser->ints.count++] = item.i;
    return STOW_OK;
  }
  if (is_first) {
    return stowi_graph_parser_fail_expected(parser, "a number, a string or ']'");
  }
  return stowi_graph_parser_fail_expected(parser, attr->kind == STOW_ATTR_STRINGS
                                                      ? "a string, as before in this list"
                                                      : "a number, as before in this list");
}

static stow_status read_list(stowi_graph_parser* parser, stow_attr* attr) {
  bool more;
  attr->kind = STOW_ATTR_INTS;
  STOW_TRY(stowi_graph_parser_accept(parser, ']', &more));
  for (more = !more; more;) {
    STOW_TRY(read_item(parser, attr));
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, ']', "',' or ']'"));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// Attributes

static stow_status read_scalar(stowi_graph_parser* parser, stow_attr* attr) {
  if (starts_number(&parser->lexer.token)) {
    number item;
    STOW_TRY(read_number(parser, &item));
    attr->kind = item.is_int ? STOW_ATTR_INT : STOW_ATTR_FLOAT;
    attr->i = item.is_int ? item.i : 0;
    attr->f = item.is_int ? 0 : item.f;
    return STOW_OK;
  }
  attr->b = stowi_graph_token_is(&parser->lexer.token, "true");
  if (!attr->b && !stowi_graph_token_is(&parser->lexer.token, "false")) {
    return stowi_graph_parser_fail_expected(parser, a_value);
  }
  attr->kind = STOW_ATTR_BOOL;
  return stowi_graph_parser_next(parser);
}

static stow_status read_attr_value(stowi_graph_parser* parser, stow_attr* attr) {
  bool is_list;
  STOW_TRY(stowi_graph_parser_accept(parser, '[', &is_list));
  if (is_list) {
    return read_list(parser, attr);
  }
  if (parser->lexer.token.kind != STOWI_GRAPH_TOKEN_STRING) {
    return read_scalar(parser, attr);
  }
  STOW_TRY(read_string_item(parser, attr));
  attr->kind = STOW_ATTR_STRING;
  return STOW_OK;
}

static stow_status read_attr(stowi_graph_parser* parser, stow_call* call,
                             stowi_graph_attr_sink sink) {
  const stowi_graph_token* token = &parser->lexer.token;
  stow_attr attr;
  memset(&attr, 0, sizeof(attr));
  parser->bytes.count = parser->ints.count = 0;
  parser->floats.count = parser->strings.count = 0;
  bool is_name = token->kind == STOWI_GRAPH_TOKEN_IDENT || token->kind == STOWI_GRAPH_TOKEN_STRING;
  if (!is_name || token->text.size == 0) {
    return stowi_graph_parser_fail_expected(parser, "an attribute's name");
  }
  STOW_TRY(stowi_graph_parser_decode(parser, token));
  size_t name_size = parser->bytes.count;
  STOW_TRY(stowi_graph_parser_next(parser));
  STOW_TRY(stowi_graph_parser_expect(parser, '=', "'=' after the attribute's name"));
  STOW_TRY(read_attr_value(parser, &attr));
  if (call != NULL) {
    // Points the attribute at the scratch, which no longer moves. Its name comes first in the
    // bytes.
    const char* bytes = parser->bytes.data;
    attr.name.data = bytes;
    attr.name.size = name_size;
    bytes += name_size;
    for (size_t i = 0; i < parser->strings.count; ++i) {
      parser->strings.data[i].data = bytes;
      bytes += parser->strings.data[i].size;
    }
    if (attr.kind == STOW_ATTR_STRING) {
      attr.s = parser->strings.data[0];
    }
    attr.ints = parser->ints.data;
    attr.floats = parser->floats.data;
    attr.strings = parser->strings.data;
    sink(call, &attr);
  }
  return STOW_OK;
}

stow_status stowi_graph_parser_attrs(stowi_graph_parser* parser, stow_call* call,
                                     stowi_graph_attr_sink sink) {
  bool more;
  STOW_TRY(stowi_graph_parser_expect(parser, '{', NULL));
  STOW_TRY(stowi_graph_parser_accept(parser, '}', &more));
  for (more = !more; more;) {
    STOW_TRY(read_attr(parser, call, sink));
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, '}', "',' or '}'"));
    }
  }
  return STOW_OK;
}
