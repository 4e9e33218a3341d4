// Names as those of files, quoted names, and the closest known word to a misspelt one.
#ifndef STOWAGE_TOOLS_TERMINAL_TEXT_H_
#define STOWAGE_TOOLS_TERMINAL_TEXT_H_

#include <stowage/base.h>

// Appends |name| as that of a file: what cannot be shown, separates folders, hides the file, or
// is reserved on another system is written as %HH, and so is `%`. No two names
// become the same. False where memory is out.
bool cli_file_name_of(stow_str name, stow_string* out);
// Takes that back, in place; returns the size that is left. A `%` that no two digits follow is
// itself.
size_t cli_name_of_file(char* text, size_t size);

// For lists of names that are written as those of files only where one of them needs it: whether
// |name| does, because it has control characters, or would not be the same after cli_name_of_file.
bool cli_needs_file_name(stow_str name);
// Whether |name| is what cli_file_name_of made of one that needed it.
bool cli_is_file_name(stow_str name);
// Cuts what cli_file_name_of made to |most| bytes, of which the last are `%~NUMBER`: no name
// becomes that of a file with another number, or that of one that is not cut. False where memory is
// out.
bool cli_cut_file_name(stow_string* name, size_t most, size_t number);

// Appends what stands between the quotes of a name in a saved plan: \n, \t, \r, \xHH, \\ and \" are
// bytes. STOW_ERR_SYNTAX where |quoted| is no quoted string.
stow_status cli_unquote(stow_str quoted, stow_string* out);

bool cli_starts_with(stow_str text, const char* start);
// Whether a shell takes |text| as one word without quotes.
bool cli_is_plain_word(stow_str text);

// The closest of |count| words to a misspelt |word|, or NULL where none is close.
const char* cli_closest(const char* word, const char* (*word_at)(size_t index, const void* user),
                        size_t count, const void* user);

#endif  // STOWAGE_TOOLS_TERMINAL_TEXT_H_
