// The page: one HTML file that carries its style, its script and its data. Marks in page.html are
// replaced in one pass; what is put in is not looked at again, so that no name can act as a mark.
// The policy in the page allows just the style and the script that are embedded here, by their
// hash.
#include <string.h>

#include "report/picture/picture.h"
#include "report/write/sha256.h"

// The page's files, embedded at build time (cmake/Embed.cmake).
extern const unsigned char stowi_report_page_html[], stowi_report_page_css[],
    stowi_report_page_js[];
extern const size_t stowi_report_page_html_size, stowi_report_page_css_size,
    stowi_report_page_js_size;

static void put_hash(const void* data, size_t size, stowi_report_out* out) {
  char hash[STOWI_REPORT_SHA256_BASE64_SIZE];
  stowi_report_sha256_base64(data, size, hash);
  stowi_report_out_print(out, "%s", hash);
}

typedef enum mark_kind { STYLE_HASH, SCRIPT_HASH, STYLE, SCRIPT, DATA, MARK_COUNT } mark_kind;
static const char* const marks[] = {"@STYLE_HASH@", "@SCRIPT_HASH@", "@PAGE_CSS@", "@PAGE_JS@",
                                    "@DATA@"};

static void put_mark(const stow_picture* picture, size_t mark, stowi_report_out* out) {
  switch ((mark_kind)mark) {
    case STYLE_HASH: put_hash(stowi_report_page_css, stowi_report_page_css_size, out); break;
    case SCRIPT_HASH: put_hash(stowi_report_page_js, stowi_report_page_js_size, out); break;
    case STYLE:
      stowi_report_out_bytes(out, stowi_report_page_css, stowi_report_page_css_size);
      break;
    case SCRIPT:
      stowi_report_out_bytes(out, stowi_report_page_js, stowi_report_page_js_size);
      break;
    case DATA:
    case MARK_COUNT: stowi_report_picture_write_json(picture, out); break;
  }
}

// Which mark is there; MARK_COUNT: none.
static size_t mark_at(const unsigned char* at, size_t size) {
  size_t i = 0;
  while (i < MARK_COUNT &&
         (size < strlen(marks[i]) || memcmp(at, marks[i], strlen(marks[i])) != 0)) {
    ++i;
  }
  return i;
}

void stowi_report_picture_write_html(const stow_picture* picture, stowi_report_out* out) {
  size_t from = 0;
  for (size_t at = 0; at < stowi_report_page_html_size;) {
    size_t mark = mark_at(stowi_report_page_html + at, stowi_report_page_html_size - at);
    if (mark == MARK_COUNT) {
      ++at;
      continue;
    }
    stowi_report_out_bytes(out, stowi_report_page_html + from, at - from);
    put_mark(picture, mark, out);
    at += strlen(marks[mark]);
    from = at;
  }
  stowi_report_out_bytes(out, stowi_report_page_html + from, stowi_report_page_html_size - from);
}
