// Writing with one check at the end: writers of pictures have hundreds of small writes.
#include "report/out.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/diag.h"
#include "base/text.h"

void stow_report_options_defaults(stow_report_options* options) {
  static const stow_report_options defaults = {.width = 80};
  stowi_init_struct(options, &defaults, sizeof defaults);
}

stow_status stowi_report_out_open(stowi_report_out* out, stow_writer writer,
                                  const stow_report_options* given, stow_diag* diag) {
  *out = (stowi_report_out){.writer = writer};
  stow_report_options_init(&out->options);
  return stowi_load_options(&out->options, given, sizeof out->options, "stow_report_options", diag);
}

stow_status stowi_report_out_close(const stowi_report_out* out, stow_diag* diag) {
  return out->status == STOW_OK
             ? STOW_OK
             : stowi_fail(diag, out->status, "%s", stow_status_text(out->status));
}

void stowi_report_out_bytes(stowi_report_out* out, const void* data, size_t size) {
  if (out->status == STOW_OK) {
    out->status = stowi_put_str(out->writer, (stow_str){data, size});
  }
}

void stowi_report_out_print(stowi_report_out* out, const char* format, ...) {
  char text[2048];
  va_list arguments;
  va_start(arguments, format);
  int size = vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if (size < 0 || (size_t)size >= sizeof text) {
    out->status = out->status == STOW_OK ? STOW_ERR_LIMIT : out->status;
    return;
  }
  stowi_report_out_bytes(out, text, (size_t)size);
}

void stowi_report_out_json(stowi_report_out* out, stow_str text) {
  if (out->status == STOW_OK) {
    out->status = stowi_put_json(out->writer, text, out->in_page);
  }
}
