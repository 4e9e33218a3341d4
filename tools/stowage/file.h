// Reading whole files.
#ifndef STOWAGE_TOOLS_FILE_H_
#define STOWAGE_TOOLS_FILE_H_

#include <stowage/base.h>

#include "fail.h"

// "<stdin>" for `-`, else the path itself: what stands before the line number in a message.
const char* cli_file_label(const char* path);
bool cli_is_stdin(const char* path);

// Whether both are one regular file, by whatever names. `-` is standard input as |input|, and no
// file as |output|.
bool cli_same_file(const char* input, const char* output);

// Whether what was read is gone: standard input, pipes and devices cannot be looked into first.
bool cli_reads_once(const char* path);

// Appends the file's bytes, whatever they are, to |content|. `-` is standard input. Complains,
// naming the file.
cli_exit cli_file_read(const char* path, stow_string* content);

#endif  // STOWAGE_TOOLS_FILE_H_
