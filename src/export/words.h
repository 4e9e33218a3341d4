// Text of files, and C out of what others wrote: names become identifiers, comments and strings
// that say the same and do nothing else.
#ifndef STOWAGE_SRC_EXPORT_WORDS_H_
#define STOWAGE_SRC_EXPORT_WORDS_H_

#include <stowage/graph.h>

// Where a file goes. The first write that fails ends it; what comes after is dropped.
typedef struct stowi_export_out {
  stow_writer writer;
  stow_status status;
} stowi_export_out;

// No %f and the like; 2047 bytes at most.
void stowi_export_put(stowi_export_out* out, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
void stowi_export_put_bytes(stowi_export_out* out, const char* data, size_t size);
// A string literal in quotes, on one line: whatever bytes there are.
void stowi_export_put_string(stowi_export_out* out, stow_str text);
// For comments: what could end one, go on in the next line or hide something becomes `_`.
void stowi_export_put_comment(stowi_export_out* out, stow_str text);
// Numbers that read back as the same ones.
void stowi_export_put_int(stowi_export_out* out, int64_t number);
void stowi_export_put_float(stowi_export_out* out, double number);

// `node 7 (relu) %7 "hidden"`, or `node 7 (yield)` where it has no result, for messages. Names are
// escaped, and cut where they are long.
#define STOWI_EXPORT_LABEL_SIZE 224
void stowi_export_label(const stow_graph* graph, stow_node node, char out[STOWI_EXPORT_LABEL_SIZE]);

#endif  // STOWAGE_SRC_EXPORT_WORDS_H_
