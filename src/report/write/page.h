// The page's files, embedded at build time (cmake/Embed.cmake).
#ifndef STOWAGE_SRC_REPORT_WRITE_PAGE_H_
#define STOWAGE_SRC_REPORT_WRITE_PAGE_H_

#include <stddef.h>

extern const unsigned char stowi_page_html[];
extern const size_t stowi_page_html_size;
extern const unsigned char stowi_page_css[];
extern const size_t stowi_page_css_size;
extern const unsigned char stowi_page_js[];
extern const size_t stowi_page_js_size;

#endif  // STOWAGE_SRC_REPORT_WRITE_PAGE_H_
