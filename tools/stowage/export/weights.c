// Weights as arrays of words, in hexadecimal: exact, the same on machines of either byte order, and
// quick to read for compilers. About 2.8 bytes of text for each byte of f32, 3.6 of i8.
#include <inttypes.h>
#include <string.h>

#include "export/export.h"

#define LINE_SIZE 96

void cli_weight_file_name(const cli_export* export, size_t number, char out[CLI_FILE_NAME_SIZE]) {
  if (number == 0) {
    snprintf(out, CLI_FILE_NAME_SIZE, "%s_weights.c", export->name);
  } else {
    snprintf(out, CLI_FILE_NAME_SIZE, "%s_weights_%zu.c", export->name, number + 1);
  }
}

// Bytes of a word: an element, or half of a complex one.
static size_t word_size(stow_dtype dtype) {
  uint32_t bits = stow_dtype_bits(dtype);
  bits = stow_dtype_kind_of(dtype) == STOW_KIND_COMPLEX ? bits / 2 : bits;
  return bits < 8 ? 1 : bits / 8;
}

static void print_declaration(cli_output* output, const cli_export* export,
                              const cli_weight* weight) {
  size_t size = word_size(stow_graph_type(export->graph, weight->value)->dtype);
  cli_print(output, "const uint%zu_t %s_w%" PRIu32 "[%zu]", size * 8, export->name, weight->value,
            weight->size / size);
}

static uint64_t read_word(const unsigned char* data, size_t size) {
  uint16_t two;
  uint32_t four;
  uint64_t eight;
  switch (size) {
    case 2: memcpy(&two, data, sizeof two); return two;
    case 4: memcpy(&four, data, sizeof four); return four;
    case 8: memcpy(&eight, data, sizeof eight); return eight;
    default: return *data;
  }
}

// Appends `255,`, which for bytes is shorter.
static size_t add_byte(char* line, size_t size, uint64_t byte) {
  if (byte >= 100) {
    line[size++] = (char)('0' + byte / 100);
  }
  if (byte >= 10) {
    line[size++] = (char)('0' + byte / 10 % 10);
  }
  line[size++] = (char)('0' + byte % 10);
  line[size++] = ',';
  return size;
}

// Appends `0x3f800000,`; returns the new size of the line.
static size_t add_word(char* line, size_t size, uint64_t word, size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  if (bytes == 1) {
    return add_byte(line, size, word);
  }
  line[size++] = '0';
  line[size++] = 'x';
  for (size_t i = bytes * 2; i-- > 0;) {
    line[size++] = digits[word >> (4 * i) & 15];
  }
  line[size++] = ',';
  return size;
}

static void print_words(cli_output* output, const cli_weight* weight, size_t bytes) {
  stow_writer writer = cli_output_writer(output);
  const unsigned char* data = weight->data;
  char line[LINE_SIZE];
  size_t size = 0;
  for (size_t i = 0; i + bytes <= weight->size; i += bytes) {
    size = add_word(line, size, read_word(data + i, bytes), bytes);
    if (size + 2 * bytes + 4 > LINE_SIZE) {
      line[size++] = '\n';
      (void)writer.write(writer.user, line, size);  // a failure is kept, and told at the end
      size = 0;
    }
  }
  (void)writer.write(writer.user, line, size);
}

void cli_export_print_weights(cli_output* output, const void* user) {
  const cli_weight_file* file = user;
  const cli_export* export = file->export;
  const cli_weight* weights = export->weights.items;
  cli_print(output, "#include \"%s_weights.h\"\n", export->name);
  for (size_t i = 0; i < export->weights.count; ++i) {
    if (weights[i].file == file->number) {
      cli_print(output, "\n// ");
      cli_print_c_comment(output, stow_graph_value_name(export->graph, weights[i].value));
      cli_print(output, "\n_Alignas(16) ");
      print_declaration(output, export, &weights[i]);
      cli_print(output, " = {\n");
      print_words(output, &weights[i],
                  word_size(stow_graph_type(export->graph, weights[i].value)->dtype));
      cli_print(output, "};\n");
    }
  }
}

void cli_export_print_weights_header(cli_output* output, const void* user) {
  const cli_export* export = user;
  const cli_weight* weights = export->weights.items;
  cli_print(output,
            "// The weights of %s: elements as words of their width.\n"
            "#ifndef %s_WEIGHTS_H_\n"
            "#define %s_WEIGHTS_H_\n\n#include <stdint.h>\n\n",
            export->name, export->macro, export->macro);
  for (size_t i = 0; i < export->weights.count; ++i) {
    cli_print(output, "extern ");
    print_declaration(output, export, &weights[i]);
    cli_print(output, ";\n");
  }
  cli_print(output, "\n#endif  // %s_WEIGHTS_H_\n", export->macro);
}
