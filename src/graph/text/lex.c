// The lexer of the text format: one pass, one token of lookahead, no memory of its own. A token is
// a slice of the text, so that a 10 MB string costs nothing until its bytes are needed, and the
// whole state is small enough to be copied: the parser returns to a marked place instead of storing
// what it read. Bytes are treated as bytes; nothing here obeys a locale.
#include "graph/text/lex.h"

#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"

void stowi_graph_lexer_init(stowi_graph_lexer* lexer, const char* text, size_t size,
                            stow_diag* diag) {
  static const char mark[] = "\xef\xbb\xbf";
  memset(lexer, 0, sizeof(*lexer));
  lexer->cursor = size == 0 ? "" : text;
  lexer->end = lexer->cursor + size;
  lexer->line = 1;
  lexer->diag = diag;
  if (size >= 3 && memcmp(text, mark, 3) == 0) {
    lexer->cursor += 3;
  }
  lexer->line_start = lexer->cursor;
}

static uint32_t column_of(const stowi_graph_lexer* lexer, const char* place) {
  size_t column = (size_t)(place - lexer->line_start) + 1;
  return column < UINT32_MAX ? (uint32_t)column : UINT32_MAX;
}

static stow_status fail_token(stowi_graph_lexer* lexer, const char* message) {
  stowi_fail(lexer->diag, STOW_ERR_SYNTAX, "%s", message);
  stowi_diag_at(lexer->diag, lexer->token.line, lexer->token.column);
  return STOW_ERR_SYNTAX;
}

static void skip_comment(stowi_graph_lexer* lexer) {
  const char* newline = memchr(lexer->cursor, '\n', (size_t)(lexer->end - lexer->cursor));
  lexer->cursor = newline == NULL ? lexer->end : newline;
}

static void skip_space(stowi_graph_lexer* lexer) {
  while (lexer->cursor < lexer->end) {
    switch (*lexer->cursor) {
      case '\n':
        ++lexer->cursor;
        lexer->line_start = lexer->cursor;
        lexer->line += lexer->line < UINT32_MAX;
        break;
      case ' ':
      case '\t':
      case '\r': ++lexer->cursor; break;
      case '#': skip_comment(lexer); break;
      default: return;
    }
  }
}

static void finish_token(stowi_graph_lexer* lexer, int kind, const char* start) {
  lexer->token.kind = kind;
  lexer->token.text.data = start;
  lexer->token.text.size = (size_t)(lexer->cursor - start);
}

static stow_status read_ident(stowi_graph_lexer* lexer) {
  const char* start = lexer->cursor;
  while (lexer->cursor < lexer->end && (stowi_is_alnum(*lexer->cursor) || *lexer->cursor == '.')) {
    ++lexer->cursor;
  }
  finish_token(lexer, STOWI_GRAPH_TOKEN_IDENT, start);
  return STOW_OK;
}

static stow_status read_value(stowi_graph_lexer* lexer) {
  const char* start = lexer->cursor++;
  uint64_t id = 0;
  while (lexer->cursor < lexer->end && stowi_is_digit(*lexer->cursor) && id < UINT32_MAX) {
    id = id * 10 + (uint64_t)(*lexer->cursor++ - '0');
  }
  finish_token(lexer, STOWI_GRAPH_TOKEN_VALUE, start);
  lexer->token.value = (uint32_t)id;
  if (lexer->token.text.size == 1) {
    return fail_token(lexer, "expected the digits of a value's id after '%'");
  }
  if (id >= UINT32_MAX) {
    return fail_token(lexer, "the value's id is too large");
  }
  if (start[1] == '0' && lexer->token.text.size > 2) {
    return fail_token(lexer, "a value's id must not have leading zeros");
  }
  if (lexer->cursor < lexer->end && stowi_is_alnum(*lexer->cursor)) {
    return fail_token(lexer, "a value's id must have digits only, as in %7");
  }
  return STOW_OK;
}

static bool is_hex_digit(char c) {
  return stowi_is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

// Takes everything that could belong to a number, so that `12abc` is one malformed token and not
// two valid ones.
static stow_status read_number(stowi_graph_lexer* lexer) {
  const char* start = lexer->cursor;
  bool is_hex = lexer->end - start >= 2 && start[0] == '0' && (start[1] == 'x' || start[1] == 'X');
  bool is_int = true;
  char exponent = is_hex ? 'p' : 'e';
  for (; lexer->cursor < lexer->end; ++lexer->cursor) {
    char c = *lexer->cursor;
    bool is_sign =
        (c == '+' || c == '-') && lexer->cursor > start && (lexer->cursor[-1] | 0x20) == exponent;
    if (!stowi_is_alnum(c) && c != '.' && !is_sign) {
      break;
    }
    is_int = is_int && stowi_is_digit(c);
  }
  finish_token(lexer, is_int ? STOWI_GRAPH_TOKEN_INT : STOWI_GRAPH_TOKEN_FLOAT, start);
  if (is_int && start[0] == '0' && lexer->token.text.size > 1) {
    return fail_token(lexer, "an integer must not have leading zeros");
  }
  return STOW_OK;
}

// Skips one escape; the cursor is past its backslash.
static stow_status skip_escape(stowi_graph_lexer* lexer) {
  const char* backslash = lexer->cursor - 1;
  size_t left = (size_t)(lexer->end - lexer->cursor);
  char c = left == 0 ? '\n' : *lexer->cursor;
  bool is_hex =
      c == 'x' && left >= 3 && is_hex_digit(lexer->cursor[1]) && is_hex_digit(lexer->cursor[2]);
  if (is_hex || c == '"' || c == '\\' || c == 'n' || c == 't' || c == 'r') {
    lexer->cursor += is_hex ? 3 : 1;
    return STOW_OK;
  }
  lexer->token.column = column_of(lexer, backslash);
  return fail_token(lexer, c == 'x'
                               ? "expected two hex digits after '\\x'"
                               : "unknown escape; expected one of \\\" \\\\ \\n \\t \\r and \\xHH");
}

static stow_status read_string(stowi_graph_lexer* lexer) {
  const char* start = ++lexer->cursor;
  while (lexer->cursor < lexer->end && *lexer->cursor != '\n') {
    char c = *lexer->cursor++;
    if (c == '"') {
      finish_token(lexer, STOWI_GRAPH_TOKEN_STRING, start);
      --lexer->token.text.size;
      return STOW_OK;
    }
    if (c == '\\') {
      lexer->token.escaped = true;
      STOW_TRY(skip_escape(lexer));
    }
  }
  return fail_token(lexer, "expected '\"' to close this string on its line");
}

static stow_status read_other(stowi_graph_lexer* lexer) {
  char c = *lexer->cursor++;
  finish_token(lexer, c, lexer->cursor - 1);
  if (c != '\0' && strchr("{}()[],:=?+-*/@", c) != NULL) {
    return STOW_OK;
  }
  char message[48];
  unsigned byte = (unsigned char)c;
  snprintf(message, sizeof(message),
           byte > 0x20 && byte < 0x7f ? "unexpected '%c'" : "unexpected byte 0x%02x", byte);
  return fail_token(lexer, message);
}

stow_status stowi_graph_lexer_next(stowi_graph_lexer* lexer) {
  skip_space(lexer);
  lexer->token.escaped = false;
  lexer->token.line = lexer->line;
  lexer->token.column = column_of(lexer, lexer->cursor);
  if (lexer->cursor == lexer->end) {
    finish_token(lexer, STOWI_GRAPH_TOKEN_END, lexer->cursor);
    return STOW_OK;
  }
  char c = *lexer->cursor;
  if (stowi_is_alpha(c)) {
    return read_ident(lexer);
  }
  if (stowi_is_digit(c)) {
    return read_number(lexer);
  }
  if (c == '%') {
    return read_value(lexer);
  }
  return c == '"' ? read_string(lexer) : read_other(lexer);
}

bool stowi_graph_token_is(const stowi_graph_token* token, const char* ident) {
  return token->kind == STOWI_GRAPH_TOKEN_IDENT && stow_str_equal(token->text, stow_str_of(ident));
}

static unsigned hex_digit(char c) {
  return stowi_is_digit(c) ? (unsigned)(c - '0') : (unsigned)((c | 0x20) - 'a') + 10;
}

// |escape| points past the backslash of a valid escape. Returns the number of bytes it takes.
static size_t decode_escape(const char* escape, char* out) {
  switch (*escape) {
    case 'n': *out = '\n'; return 1;
    case 't': *out = '\t'; return 1;
    case 'r': *out = '\r'; return 1;
    case 'x':
      *out = (char)(unsigned char)(hex_digit(escape[1]) * 16 + hex_digit(escape[2]));
      return 3;
    default: *out = *escape; return 1;
  }
}

size_t stowi_graph_token_decode(const stowi_graph_token* token, char* out) {
  stow_str text = token->text;
  if (!token->escaped) {
    if (text.size != 0) {
      memcpy(out, text.data, text.size);
    }
    return text.size;
  }
  size_t size = 0;
  for (size_t i = 0; i < text.size; ++size) {
    if (text.data[i] == '\\') {
      i += 1 + decode_escape(text.data + i + 1, &out[size]);
    } else {
      out[size] = text.data[i++];
    }
  }
  return size;
}

void stowi_graph_token_describe(const stowi_graph_token* token,
                                char out[STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE]) {
  const size_t longest = 40;
  bool is_cut = token->text.size > longest;
  int size = (int)(is_cut ? longest : token->text.size);
  const char* quote = "'";
  if (token->kind == STOWI_GRAPH_TOKEN_END) {
    snprintf(out, STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE, "the end of the text");
    return;
  }
  if (token->kind == STOWI_GRAPH_TOKEN_VALUE || token->kind == STOWI_GRAPH_TOKEN_STRING) {
    quote = token->kind == STOWI_GRAPH_TOKEN_VALUE ? "" : "\"";
  }
  snprintf(out, STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE, "%s%.*s%s%s", quote, size, token->text.data,
           is_cut ? "…" : "", quote);
}
