// The page: one HTML file that carries its style, its script and its data. Marks in page.html are
// replaced in one pass; what is put in is not looked at again, so that no name can act as a mark.
// The policy in the page allows just the style and the script that are embedded here, by their
// hash.
#include <string.h>

#include "make.h"
#include "page.h"
#include "sha256.h"

static void put_bytes(cli_output* output, const void* data, size_t size) {
  stow_writer writer = cli_output_writer(output);
  (void)writer.write(writer.user, data, size);
}

static void put_css(const cli_view* view, cli_output* output) {
  (void)view;
  put_bytes(output, cli_page_css, cli_page_css_size);
}

static void put_js(const cli_view* view, cli_output* output) {
  (void)view;
  put_bytes(output, cli_page_js, cli_page_js_size);
}

static void put_style_hash(const cli_view* view, cli_output* output) {
  char hash[CLI_SHA256_BASE64_SIZE];
  (void)view;
  cli_sha256_base64(cli_page_css, cli_page_css_size, hash);
  cli_print(output, "%s", hash);
}

static void put_script_hash(const cli_view* view, cli_output* output) {
  char hash[CLI_SHA256_BASE64_SIZE];
  (void)view;
  cli_sha256_base64(cli_page_js, cli_page_js_size, hash);
  cli_print(output, "%s", hash);
}

typedef struct mark {
  const char* text;
  void (*put)(const cli_view* view, cli_output* output);
} mark;

static const mark marks[] = {{"@STYLE_HASH@", put_style_hash},
                             {"@SCRIPT_HASH@", put_script_hash},
                             {"@PAGE_CSS@", put_css},
                             {"@PAGE_JS@", put_js},
                             {"@DATA@", cli_view_write_json}};

static const mark* mark_at(const unsigned char* at, size_t size) {
  for (size_t i = 0; i < sizeof marks / sizeof marks[0]; ++i) {
    size_t length = strlen(marks[i].text);
    if (size >= length && memcmp(at, marks[i].text, length) == 0) {
      return &marks[i];
    }
  }
  return NULL;
}

void cli_view_write_html(const cli_view* view, cli_output* output) {
  size_t from = 0;
  for (size_t at = 0; at < cli_page_html_size;) {
    const mark* found = mark_at(cli_page_html + at, cli_page_html_size - at);
    if (found == NULL) {
      ++at;
      continue;
    }
    put_bytes(output, cli_page_html + from, at - from);
    found->put(view, output);
    at += strlen(found->text);
    from = at;
  }
  put_bytes(output, cli_page_html + from, cli_page_html_size - from);
}
