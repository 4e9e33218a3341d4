// Statements of the text format: nodes, `yield` and `return`.
//     %6 "vals", %7 = topk(%4) {axis = 1, k = 5} : f32[16, 5], i64[16, 5] with {align = 64}
//     results         op and head                  tail
// A node is added to the graph once its whole statement has been read, but only one node can be
// described at a time, and a region's owner comes after its regions. So a node's head is first read
// up to its regions (or its op), and read again later. Each byte of a head is read at most three
// times, whatever the nesting.
// Visibility: ids are dense and a region's values are consecutive, so a closed region hides one
// span of ids, which absorbs the spans inside it. That gives a sorted list in which an operand is
// looked up, O(log regions), with no entry per value.
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "graph/text/parser.h"

// ---------------------------------------------------------------------------------------------
// Values

static bool is_hidden(const stowi_graph_parser* parser, stow_value value) {
  size_t low = 0;
  size_t high = parser->closed.count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (parser->closed.data[middle].end <= value) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < parser->closed.count && parser->closed.data[low].first <= value;
}

static void hide_values(stowi_graph_parser* parser, stow_value first) {
  stowi_graph_span span = {first, stow_graph_value_count(parser->graph)};
  while (parser->closed.count > 0 && parser->closed.data[parser->closed.count - 1].first >= first) {
    --parser->closed.count;
  }
  if (span.first < span.end) {
    parser->closed.data[parser->closed.count++] = span;
  }
}

// The value that the current token names, which must be defined and visible here.
static stow_status read_value(stowi_graph_parser* parser, stow_value* out) {
  const stowi_graph_token* token = &parser->lexer.token;
  if (token->kind != STOWI_GRAPH_TOKEN_VALUE) {
    return stowi_graph_parser_fail_expected(parser, "a value, as in %7");
  }
  stow_value count = stow_graph_value_count(parser->graph);
  if (token->value >= count) {
    return stowi_graph_parser_fail(parser, token, STOW_ERR_NOT_FOUND,
                                   "%%%lu is not defined here; the next id to be defined is %%%lu",
                                   (unsigned long)token->value, (unsigned long)count);
  }
  if (is_hidden(parser, token->value)) {
    return stowi_graph_parser_fail(parser, token, STOW_ERR_NOT_FOUND,
                                   "%%%lu is defined inside a region and cannot be read outside it",
                                   (unsigned long)token->value);
  }
  *out = token->value;
  return stowi_graph_parser_next(parser);
}

// ---------------------------------------------------------------------------------------------
// Heads

static bool is_boundary(stow_op op) {
  return op == STOW_OP_INPUT || op == STOW_OP_PARAM || op == STOW_OP_CONSTANT;
}

// `%6 "vals", %7 =`, only counted. Nothing if the statement begins with its op.
static stow_status skip_results(stowi_graph_parser* parser, size_t* out_count) {
  bool more = parser->lexer.token.kind == STOWI_GRAPH_TOKEN_VALUE;
  for (*out_count = 0; more; ++*out_count) {
    if (parser->lexer.token.kind != STOWI_GRAPH_TOKEN_VALUE) {
      return stowi_graph_parser_fail_expected(parser, "a result, as in %7");
    }
    STOW_TRY(stowi_graph_parser_next(parser));
    if (parser->lexer.token.kind == STOWI_GRAPH_TOKEN_STRING) {
      STOW_TRY(stowi_graph_parser_next(parser));
    }
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, '=', "'=' and an op"));
    }
  }
  return STOW_OK;
}

// ---------------------------------------------------------------------------------------------
// The parts of a node. With a NULL |call| they are only checked.

static stow_status check_result_id(stowi_graph_parser* parser, const stowi_graph_head* head,
                                   size_t k) {
  const stowi_graph_token* token = &parser->lexer.token;
  uint64_t expected = (uint64_t)stow_graph_value_count(parser->graph) + k;
  if (token->value == expected) {
    return STOW_OK;
  }
  const char* regions = head->desc->region_count != 0 ? " after those of its regions" : "";
  return stowi_graph_parser_fail(
      parser, token, token->value < expected ? STOW_ERR_DUPLICATE : STOW_ERR_SYNTAX,
      "expected %%%llu, the next id%s, found %%%lu%s", (unsigned long long)expected, regions,
      (unsigned long)token->value, token->value < expected ? ", which is taken" : "");
}

// The current token is the name of result |k|.
static stow_status read_name(stowi_graph_parser* parser, stow_call* call, size_t k) {
  const stowi_graph_token token = parser->lexer.token;
  stow_str name;
  STOW_TRY(stowi_graph_parser_string(parser, &token, &name));
  if (name.size == 0) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_SYNTAX, "a name must not be empty");
  }
  stow_value other = stow_graph_find(parser->graph, name);
  if (other != STOW_VALUE_NONE) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_DUPLICATE,
                                   "the name \"%.*s\" is already used by %%%lu",
                                   STOWI_STR_ARG(name), (unsigned long)other);
  }
  stow_call_name(call, k, name);
  return stowi_graph_parser_next(parser);
}

static stow_status read_results(stowi_graph_parser* parser, const stowi_graph_head* head,
                                stow_call* call) {
  for (size_t k = 0; k < head->result_count; ++k) {
    STOW_TRY(check_result_id(parser, head, k));
    STOW_TRY(stowi_graph_parser_next(parser));
    if (parser->lexer.token.kind == STOWI_GRAPH_TOKEN_STRING) {
      if (is_boundary(head->op)) {
        return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_SYNTAX,
                                       "the name of %s %s belongs after the op",
                                       head->op == STOW_OP_INPUT ? "an" : "a", head->desc->name);
      }
      STOW_TRY(read_name(parser, call, k));
    }
    STOW_TRY(stowi_graph_parser_next(parser));  // ',' or '='
  }
  return STOW_OK;
}

static stow_status read_operands(stowi_graph_parser* parser, stow_call* call) {
  bool more;
  STOW_TRY(stowi_graph_parser_expect(parser, '(', "'(' and the operands"));
  STOW_TRY(stowi_graph_parser_accept(parser, ')', &more));
  for (more = !more; more;) {
    stow_value operand = STOW_VALUE_NONE;
    if (stowi_graph_token_is(&parser->lexer.token, "_")) {
      STOW_TRY(stowi_graph_parser_next(parser));
    } else if (parser->lexer.token.kind == STOWI_GRAPH_TOKEN_VALUE) {
      STOW_TRY(read_value(parser, &operand));
    } else {
      return stowi_graph_parser_fail_expected(parser, "an operand, as in %7 or _");
    }
    if (call != NULL) {
      stow_call_operand(call, operand);
    }
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, ')', "',' or ')'"));
    }
  }
  return STOW_OK;
}

// Whether a brace opens attributes: `{name =`, or `{}` where no region is possible.
static stow_status starts_attrs(stowi_graph_parser* parser, const stowi_graph_head* head,
                                bool* out) {
  stowi_graph_lexer here = parser->lexer;
  *out = here.token.kind == '{' && head->desc->region_count == 0;
  if (here.token.kind != '{' || *out) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_parser_next(parser));
  int first = parser->lexer.token.kind;
  if (first == STOWI_GRAPH_TOKEN_IDENT || first == STOWI_GRAPH_TOKEN_STRING) {
    STOW_TRY(stowi_graph_parser_next(parser));
    *out = parser->lexer.token.kind == '=';
  }
  parser->lexer = here;
  return STOW_OK;
}

// `"x"` of an input, or `(%1, _, %2)`; then attributes.
static stow_status read_body(stowi_graph_parser* parser, const stowi_graph_head* head,
                             stow_call* call) {
  bool has_attrs;
  if (!is_boundary(head->op)) {
    STOW_TRY(read_operands(parser, call));
  } else if (parser->lexer.token.kind == STOWI_GRAPH_TOKEN_STRING) {
    STOW_TRY(read_name(parser, call, 0));
  } else {
    return stowi_graph_parser_fail_expected(parser, "a name in quotes");
  }
  STOW_TRY(starts_attrs(parser, head, &has_attrs));
  return has_attrs ? stowi_graph_parser_attrs(parser, call, stow_call_attr) : STOW_OK;
}

// `bounded` of result |k|; then the dims that are upper bounds, if not all are: `(0, 2)`.
static stow_status read_bounded(stowi_graph_parser* parser, stow_call* call, size_t k) {
  bool more;
  STOW_TRY(stowi_graph_parser_next(parser));
  STOW_TRY(stowi_graph_parser_accept(parser, '(', &more));
  if (!more) {
    stow_call_bounded(call, k);
  }
  while (more) {
    const stowi_graph_token* token = &parser->lexer.token;
    uint64_t axis;
    if (token->kind != STOWI_GRAPH_TOKEN_INT || !stowi_parse_u64(token->text, &axis) ||
        axis >= STOW_MAX_RANK) {
      return stowi_graph_parser_fail_expected(parser, "the number of a dim");
    }
    stow_call_bounded_dim(call, k, (uint32_t)axis);
    STOW_TRY(stowi_graph_parser_next(parser));
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
    if (!more) {
      STOW_TRY(stowi_graph_parser_expect(parser, ')', "',' or ')'"));
    }
  }
  return STOW_OK;
}

static stow_status read_types(stowi_graph_parser* parser, const stowi_graph_head* head,
                              stow_call* call) {
  for (size_t k = 0; k < head->result_count; ++k) {
    STOW_TRY(k == 0 ? stowi_graph_parser_expect(parser, ':', "':' and the type of each result")
                    : stowi_graph_parser_expect(parser, ',', "',' and a type for each result"));
    stow_type type;
    if (stowi_graph_token_is(&parser->lexer.token, "bounded")) {
      STOW_TRY(read_bounded(parser, call, k));
    }
    STOW_TRY(stowi_graph_parser_type(parser, &type));
    stow_call_result_type(call, &type);
  }
  if (parser->lexer.token.kind == (head->result_count == 0 ? ':' : ',')) {
    return stowi_graph_parser_fail(parser, &parser->lexer.token, STOW_ERR_SYNTAX,
                                   "expected one type for each of the %zu results",
                                   head->result_count);
  }
  return STOW_OK;
}

static stow_status read_with(stowi_graph_parser* parser, stow_call* call) {
  if (!stowi_graph_token_is(&parser->lexer.token, "with")) {
    return STOW_OK;
  }
  STOW_TRY(stowi_graph_parser_next(parser));
  return stowi_graph_parser_attrs(parser, call, stow_call_with);
}

// Adds the node. The current token is the first one of its tail if it has regions.
static stow_status build_node(stowi_graph_parser* parser, const stowi_graph_head* head) {
  stowi_graph_lexer tail = parser->lexer;
  stow_call* call = stow_graph_begin(parser->graph, head->op);
  stow_call_line(call, head->name.line);
  parser->lexer = head->start;
  STOW_TRY(read_results(parser, head, call));
  parser->lexer = head->body;
  STOW_TRY(read_body(parser, head, call));
  if (head->desc->region_count != 0) {
    parser->lexer = tail;
  }
  STOW_TRY(read_types(parser, head, call));
  STOW_TRY(read_with(parser, call));
  return stowi_graph_parser_locate(parser, &head->name,
                                   stow_call_finish(call, &parser->diag, NULL));
}

// ---------------------------------------------------------------------------------------------
// Regions

static stow_status open_region(stowi_graph_parser* parser, stowi_graph_owner* owner) {
  stowi_graph_token brace = parser->lexer.token;
  STOW_TRY(stowi_graph_parser_expect(parser, '{', "'{' and a region"));
  // Room for the span is reserved before the region is opened, so that closing cannot fail.
  STOW_TRY(stowi_need_memory(
      STOWI_VEC_RESERVE(parser->allocator, &parser->closed, parser->depth + 1) == STOW_OK,
      &parser->diag));
  owner->first_value = stow_graph_value_count(parser->graph);
  return stowi_graph_parser_locate(parser, &brace,
                                   stow_graph_begin_region(parser->graph, &parser->diag));
}

static stow_status open_owner(stowi_graph_parser* parser, const stowi_graph_head* head) {
  if (parser->depth == STOW_MAX_REGION_DEPTH) {
    return stowi_graph_parser_fail(parser, &head->name, STOW_ERR_LIMIT,
                                   "regions are nested more than %d deep", STOW_MAX_REGION_DEPTH);
  }
  STOW_TRY(read_body(parser, head, NULL));
  stowi_graph_owner* owner = &parser->owners[parser->depth++];
  owner->head = *head;
  owner->region_index = 0;
  return open_region(parser, owner);
}

// After a region's closing brace: the owner's next region, or its tail.
static stow_status continue_owner(stowi_graph_parser* parser) {
  stowi_graph_owner* owner = &parser->owners[parser->depth - 1];
  hide_values(parser, owner->first_value);
  if (++owner->region_index == owner->head.desc->region_count) {
    --parser->depth;
    return build_node(parser, &owner->head);
  }
  if (!stowi_graph_token_is(&parser->lexer.token, "else")) {
    return stowi_graph_parser_fail_expected(parser, "'else' and the next region");
  }
  STOW_TRY(stowi_graph_parser_next(parser));
  return open_region(parser, owner);
}

static stow_status push_value(stowi_graph_parser* parser) {
  STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(parser->allocator, &parser->values, 1) == STOW_OK,
                             &parser->diag));
  STOW_TRY(read_value(parser, &parser->values.data[parser->values.count]));
  ++parser->values.count;
  return STOW_OK;
}

// `%1, %2` into parser->values.
static stow_status read_values(stowi_graph_parser* parser) {
  bool more = true;
  for (parser->values.count = 0; more;) {
    STOW_TRY(push_value(parser));
    STOW_TRY(stowi_graph_parser_accept(parser, ',', &more));
  }
  return STOW_OK;
}

static stow_status read_yield(stowi_graph_parser* parser) {
  stowi_graph_token token = parser->lexer.token;
  if (parser->depth == 0) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_SYNTAX,
                                   "'yield' ends a region; a graph ends with 'return'");
  }
  parser->values.count = 0;
  STOW_TRY(stowi_graph_parser_next(parser));
  if (parser->lexer.token.kind != '}') {
    STOW_TRY(read_values(parser));
  }
  STOW_TRY(stowi_graph_parser_expect(parser, '}', "',' or '}' after the yielded values"));
  STOW_TRY(stowi_graph_parser_locate(parser, &token,
                                     stow_graph_end_region(parser->graph, parser->values.data,
                                                           parser->values.count, &parser->diag)));
  return continue_owner(parser);
}

static stow_status read_return(stowi_graph_parser* parser) {
  stowi_graph_token token = parser->lexer.token;
  if (parser->depth != 0) {
    return stowi_graph_parser_fail(parser, &token, STOW_ERR_SYNTAX,
                                   "'return' ends a graph; a region ends with 'yield'");
  }
  STOW_TRY(stowi_graph_parser_next(parser));
  STOW_TRY(read_values(parser));
  for (size_t i = 0; i < parser->values.count; ++i) {
    STOW_TRY(stowi_graph_parser_locate(
        parser, &token,
        stow_graph_add_output(parser->graph, parser->values.data[i], &parser->diag)));
  }
  parser->returned = true;
  return stowi_graph_parser_expect(parser, '}', "',' or '}' after the outputs");
}

// ---------------------------------------------------------------------------------------------

static stow_status read_node(stowi_graph_parser* parser) {
  stowi_graph_head head;
  memset(&head, 0, sizeof(head));
  head.start = parser->lexer;
  STOW_TRY(skip_results(parser, &head.result_count));
  head.name = parser->lexer.token;
  if (head.name.kind != STOWI_GRAPH_TOKEN_IDENT) {
    return stowi_graph_parser_fail_expected(parser,
                                            head.result_count == 0 ? "a statement" : "an op");
  }
  head.op = stow_ops_find(parser->ops, head.name.text);
  if (head.op == STOW_OP_NONE) {
    const stowi_graph_token* name = &head.name;
    const char* similar = stowi_graph_suggest_op(parser->ops, name->text);
    if (similar == NULL) {
      return stowi_graph_parser_fail(parser, name, STOW_ERR_NOT_FOUND, "unknown op '%.*s'",
                                     STOWI_STR_ARG(name->text));
    }
    return stowi_graph_parser_fail(parser, name, STOW_ERR_NOT_FOUND,
                                   "unknown op '%.*s'; did you mean '%s'?",
                                   STOWI_STR_ARG(name->text), similar);
  }
  head.desc = stow_ops_get(parser->ops, head.op);
  STOW_TRY(stowi_graph_parser_next(parser));
  head.body = parser->lexer;
  return head.desc->region_count == 0 ? build_node(parser, &head) : open_owner(parser, &head);
}

static stow_status read_statement(stowi_graph_parser* parser) {
  const stowi_graph_token* token = &parser->lexer.token;
  if (stowi_graph_token_is(token, "return")) {
    return read_return(parser);
  }
  if (stowi_graph_token_is(token, "yield")) {
    return read_yield(parser);
  }
  if (token->kind == STOWI_GRAPH_TOKEN_VALUE || token->kind == STOWI_GRAPH_TOKEN_IDENT) {
    return read_node(parser);
  }
  return stowi_graph_parser_fail_expected(
      parser, parser->depth == 0 ? "a statement or, at the graph's end, 'return'"
                                 : "a statement or, at the region's end, 'yield'");
}

stow_status stowi_graph_parser_statements(stowi_graph_parser* parser) {
  parser->depth = 0;
  parser->closed.count = 0;
  parser->returned = false;
  while (!parser->returned) {
    STOW_TRY(read_statement(parser));
  }
  return STOW_OK;
}
