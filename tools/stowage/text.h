// Text for people: escaping, width on a terminal, and the closest known word to a misspelt one.
#ifndef STOWAGE_TOOLS_TEXT_H_
#define STOWAGE_TOOLS_TEXT_H_

#include <stowage/base.h>

// Bytes of the valid UTF-8 character that |text| begins with; 0 where there is none, or a control
// character (also one above 127).
size_t cli_character_size(stow_str text);

// Copies |text| with control characters and bytes that are not UTF-8 written as \n, \t, \xHH, and
// with characters that hide or turn the direction of text as \uHHHH: U+061C, U+200B … U+200F,
// U+2028 … U+202E, U+2060 … U+206F, U+FEFF, U+FFFE, U+FFFF. Cut before a whole character where
// |capacity| (which counts the NUL) ends.
void cli_escape(stow_str text, char* out, size_t capacity);

// Appends |name| as that of a file: what cannot be shown, separates folders, hides the file, or
// is reserved on another system is written as %HH, and so is `%`. No two names
// become the same. False where memory is out.
bool cli_file_name_of(stow_str name, stow_string* out);
// Takes that back, in place; returns the size that is left. A `%` that no two digits follow is
// itself.
size_t cli_name_of_file(char* text, size_t size);

// Appends what stands between the quotes of a name in a saved plan: \n, \t, \r, \xHH, \\ and \" are
// bytes. STOW_ERR_SYNTAX where |quoted| is no quoted string.
stow_status cli_unquote(stow_str quoted, stow_string* out);
// The same without quotes, for names in CSV; a `\` that begins nothing of that is itself.
stow_status cli_unescape(stow_str text, stow_string* out);

// Columns that an escaped text takes: its characters. Combining and double-width ones count as one.
size_t cli_width(const char* text);
// Cuts to |width| columns, the last one an ellipsis. |text| must have room for two bytes more than
// it holds.
void cli_cut(char* text, size_t width);
// The same with the ellipsis inside, a third of the way: `/encoder/…/attention/Softmax_output_0`.
void cli_cut_inside(char* text, size_t width);
// The same with the ellipsis after |head| characters, below |width|.
void cli_cut_after(char* text, size_t head, size_t width);

// The closest of |count| words to a misspelt |word|, or NULL where none is close.
const char* cli_closest(const char* word, const char* (*word_at)(size_t index, const void* user),
                        size_t count, const void* user);

#endif  // STOWAGE_TOOLS_TEXT_H_
