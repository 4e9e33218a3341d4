// JSON strings. What a terminal could take for a command is escaped, which JSON allows for any
// character.
#include "json.h"

#include "text.h"

void cli_print_json(cli_output* output, stow_str text) {
  stow_writer writer = cli_output_writer(output);
  cli_print(output, "\"");
  for (size_t at = 0; at < text.size;) {
    const unsigned char* s = (const unsigned char*)text.data + at;
    size_t size = cli_character_size((stow_str){text.data + at, text.size - at});
    bool is_control = s[0] < 0x20 || s[0] == 0x7F;
    bool is_long_control = s[0] == 0xC2 && size == 0 && at + 1 < text.size && s[1] >= 0x80 &&
                           s[1] < 0xA0;  // U+0080 … U+009F
    if (size == 1 && (s[0] == '"' || s[0] == '\\')) {
      cli_print(output, "\\%c", s[0]);
    } else if (size > 0) {
      (void)writer.write(writer.user, text.data + at, size);
    } else {
      cli_print(output, "\\u%04x", is_control ? s[0] : is_long_control ? s[1] : 0xFFFDu);
    }
    at += size > 0 ? size : is_long_control ? 2 : 1;
  }
  cli_print(output, "\"");
}
