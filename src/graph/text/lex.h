// Tokens of the `.stow` text. Nothing is copied or allocated: a token is a slice of the text.
#ifndef STOWAGE_SRC_GRAPH_TEXT_LEX_H_
#define STOWAGE_SRC_GRAPH_TEXT_LEX_H_

#include <stowage/base.h>

// Kinds of tokens other than punctuation, whose kind is its character.
enum {
  STOWI_GRAPH_TOKEN_END = 256,
  STOWI_GRAPH_TOKEN_IDENT,   // [A-Za-z_][A-Za-z0-9_.]*
  STOWI_GRAPH_TOKEN_VALUE,   // %7
  STOWI_GRAPH_TOKEN_STRING,  // "…", with escapes
  STOWI_GRAPH_TOKEN_INT,     // decimal digits; a sign is a separate token
  STOWI_GRAPH_TOKEN_FLOAT    // any other number, perhaps a malformed one: stowi_graph_number_float
                             // checks
};

typedef struct stowi_graph_token {
  int kind;
  bool escaped;    // STRING: has escapes
  uint32_t value;  // VALUE: the id
  uint32_t line;   // 1-based, as is the column, which counts bytes
  uint32_t column;
  stow_str text;  // as written; for STRING what is between the quotes
} stowi_graph_token;

// Copying a lexer marks a place in the text; assigning the copy back returns there.
typedef struct stowi_graph_lexer {
  const char* cursor;
  const char* end;
  const char* line_start;
  uint32_t line;
  stow_diag* diag;
  stowi_graph_token token;  // the current one
} stowi_graph_lexer;

// Starts before the first token, past a byte order mark. |text| and |diag| must outlive the lexer.
void stowi_graph_lexer_init(stowi_graph_lexer* lexer, const char* text, size_t size,
                            stow_diag* diag);
// Reads the next token; at the end of the text END, repeatedly.
stow_status stowi_graph_lexer_next(stowi_graph_lexer* lexer);

bool stowi_graph_token_is(const stowi_graph_token* token, const char* ident);

// Writes the decoded bytes of a STRING token; |out| has room for token->text.size of them. Returns
// their number.
size_t stowi_graph_token_decode(const stowi_graph_token* token, char* out);

// For messages: `'{'`, `'relu'`, `%7`, `"x"`, truncated if long, or `the end of the text`.
#define STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE 64
void stowi_graph_token_describe(const stowi_graph_token* token,
                                char out[STOWI_GRAPH_TOKEN_DESCRIPTION_SIZE]);

#endif  // STOWAGE_SRC_GRAPH_TEXT_LEX_H_
