// Reading files, pipes and devices, never further than somebody needs them.
#ifndef STOWAGE_TOOLS_FILES_FILE_H_
#define STOWAGE_TOOLS_FILES_FILE_H_

#include <stowage/base.h>

#include "terminal/fail.h"

// "<stdin>" for `-`, else the path itself: what stands before the line number in a message.
const char* cli_file_label(const char* path);
bool cli_is_stdin(const char* path);
bool cli_is_folder(const char* path);
bool cli_ends_with(const char* path, const char* ending);
// What follows the last `/`.
const char* cli_base_name(const char* path);

// Whether both are one regular file, by whatever names. `-` is standard input as |input|, and no
// file as |output|.
bool cli_same_file(const char* input, const char* output);

// Whether what was read is gone: standard input, pipes and devices cannot be looked into first.
bool cli_reads_once(const char* path);

// The largest text (graph, plan, CSV, list), and the most that is read of a pipe or device: larger
// models and tensors must be regular files, which are mapped.
#define CLI_TEXT_LIMIT ((size_t)256 << 20)
#define CLI_PIPE_LIMIT ((size_t)2 << 30)

// A file of which |size| bytes are at hand at |data|: as many as were asked for.
typedef struct cli_file {
  const char* path;
  const char* data;  // not NULL
  size_t size;
  int descriptor;     // of what can still come; -1: all bytes are at hand
  bool is_mapped;     // else they are those of |bytes|
  stow_string bytes;  // what was read
} cli_file;

// `-` is standard input. Complains, naming the file. End with cli_file_close, whatever it returned.
cli_exit cli_file_open(cli_file* file, const char* path);
// Has all bytes at hand without reading them, where it is a regular file and nothing was read of
// it.
void cli_file_map(cli_file* file);
// Reads on until |size| bytes are at hand, or all of them where there are fewer; |data| may move.
// Complains.
cli_exit cli_file_need(cli_file* file, size_t size);
// The same for all bytes. Complains where a pipe has more than CLI_PIPE_LIMIT.
cli_exit cli_file_need_all(cli_file* file);
// The same for a text. Complains where there are more than CLI_TEXT_LIMIT, or a NUL.
cli_exit cli_file_need_text(cli_file* file);
// Moves the bytes at hand to |out|, which is initialised and empty.
void cli_file_take(cli_file* file, stow_string* out);
void cli_file_close(cli_file* file);

// Opens, needs and takes a text. Complains.
cli_exit cli_text_read(const char* path, stow_string* out);

// Whether bytes begin with the mark of UTF-16, which some shells and editors write.
bool cli_is_utf16(const char* data, size_t size);
// Whether a text begins with the header of a CSV file of buffers. |text| ends with a NUL.
bool cli_is_csv(const char* text);

#endif  // STOWAGE_TOOLS_FILES_FILE_H_
