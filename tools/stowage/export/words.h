// C out of what others wrote: names become identifiers, comments and strings that say the same and
// do nothing else.
#ifndef STOWAGE_TOOLS_EXPORT_WORDS_H_
#define STOWAGE_TOOLS_EXPORT_WORDS_H_

#include <stowage/base.h>

#include "files/output.h"

#define CLI_IDENTIFIER_SIZE 64

// Letters, digits and `_`, cut where it is too long; the rest becomes `_`. Of nothing: "x".
void cli_identifier(stow_str text, char out[CLI_IDENTIFIER_SIZE]);
// The same in capitals.
void cli_capitals(const char* identifier, char out[CLI_IDENTIFIER_SIZE]);
// Whether |text| is an identifier that a program may use: not one that C keeps for itself.
bool cli_is_identifier(const char* text);

// A string literal in quotes, on one line: whatever bytes there are.
void cli_print_c_string(cli_output* output, stow_str text);
// For comments: what could end one, go on in the next line or hide something becomes `_`.
void cli_print_c_comment(cli_output* output, stow_str text);
// Numbers that read back as the same ones.
void cli_print_c_int(cli_output* output, int64_t number);
void cli_print_c_float(cli_output* output, double number);

#endif  // STOWAGE_TOOLS_EXPORT_WORDS_H_
