// Pictures in all formats, a row each.
#include "base/diag.h"
#include "report/picture/picture.h"

stow_status stow_picture_write(const stow_picture* picture, stow_picture_format format,
                               const stow_report_options* options, stow_writer writer,
                               stow_diag* diag) {
  static void (*const writers[])(const stow_picture* picture, stowi_report_out* out) = {
      [STOW_PICTURE_HTML] = stowi_report_picture_write_html,
      [STOW_PICTURE_JSON] = stowi_report_picture_write_json,
      [STOW_PICTURE_SVG] = stowi_report_picture_write_svg,
      [STOW_PICTURE_TEXT] = stowi_report_picture_write_ascii,
      [STOW_PICTURE_TRACE] = stowi_report_picture_write_trace};
  stowi_report_out out;
  if ((size_t)format >= sizeof writers / sizeof *writers) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "unknown format %d", (int)format);
  }
  STOW_TRY(stowi_report_out_open(&out, writer, options, diag));
  out.in_page = true;
  writers[format](picture, &out);
  return stowi_report_out_close(&out, diag);
}
