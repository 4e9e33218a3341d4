// Where a report goes. The first write that fails ends it; what comes after is dropped.
#ifndef STOWAGE_SRC_REPORT_OUT_H_
#define STOWAGE_SRC_REPORT_OUT_H_

#include <stowage/report.h>

typedef struct stowi_report_out {
  stow_writer writer;
  stow_status status;  // of the first write that failed, or of memory that was out
  stow_report_options options;
  bool in_page;  // JSON strings are part of a script
} stowi_report_out;

// Reads |given|, which may be NULL.
stow_status stowi_report_out_open(stowi_report_out* out, stow_writer writer,
                                  const stow_report_options* given, stow_diag* diag);
// The status, with a message in |diag|.
stow_status stowi_report_out_close(const stowi_report_out* out, stow_diag* diag);
// No %f and the like; 2047 bytes at most.
void stowi_report_out_print(stowi_report_out* out, const char* format, ...) STOW_PRINTF_LIKE(2, 3);
void stowi_report_out_bytes(stowi_report_out* out, const void* data, size_t size);
// In quotes.
void stowi_report_out_json(stowi_report_out* out, stow_str text);

#endif  // STOWAGE_SRC_REPORT_OUT_H_
