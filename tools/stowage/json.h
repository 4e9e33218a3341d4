// JSON strings (RFC 8259).
#ifndef STOWAGE_TOOLS_JSON_H_
#define STOWAGE_TOOLS_JSON_H_

#include "output.h"

// |text| in quotes. Bytes that are not UTF-8 become U+FFFD.
void cli_print_json(cli_output* output, stow_str text);

#endif  // STOWAGE_TOOLS_JSON_H_
