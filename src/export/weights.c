// Weights as arrays of words, in hexadecimal: exact, the same on machines of either byte order, and
// quick to read for compilers. About 2.8 bytes of text for each byte of f32, 3.6 of i8.
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "export/export.h"

#define LINE_SIZE 96

void stowi_export_weights_name(const stowi_export* program, size_t number,
                               char out[STOWI_EXPORT_FILE_SIZE]) {
  if (number == 0) {
    (void)snprintf(out, STOWI_EXPORT_FILE_SIZE, "%s_weights.c", program->options.name);
  } else {
    (void)snprintf(out, STOWI_EXPORT_FILE_SIZE, "%s_weights_%zu.c", program->options.name,
                   number + 1);
  }
}

// Bytes of a word: an element, or half of a complex one.
static size_t word_size(stow_dtype dtype) {
  uint32_t bits = stow_dtype_bits(dtype);
  bits = stow_dtype_kind_of(dtype) == STOW_KIND_COMPLEX ? bits / 2 : bits;
  return bits < 8 ? 1 : bits / 8;
}

static void print_declaration(stowi_export_out* out, const stowi_export* program,
                              const stowi_export_weight* weight) {
  size_t size = word_size(stow_graph_type(program->graph, weight->value)->dtype);
  stowi_export_put(out, "const uint%zu_t %s_w%" PRIu32 "[%zu]", size * 8, program->options.name,
                   weight->value, weight->size / size);
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

static void print_words(stowi_export_out* out, const stowi_export_weight* weight, size_t bytes) {
  const unsigned char* data = (const unsigned char*)weight->data;
  char line[LINE_SIZE];
  size_t size = 0;
  for (size_t i = 0; i + bytes <= weight->size; i += bytes) {
    size = add_word(line, size, read_word(data + i, bytes), bytes);
    if (size + 2 * bytes + 4 > LINE_SIZE) {
      line[size++] = '\n';
      stowi_export_put_bytes(out, line, size);
      size = 0;
    }
  }
  stowi_export_put_bytes(out, line, size);
}

void stowi_export_print_weights(stowi_export_out* out, const stowi_export* program, size_t number) {
  const stowi_export_weight* weights = program->weights.data;
  stowi_export_put(out, "#include \"%s_weights.h\"\n", program->options.name);
  for (size_t i = 0; i < program->weights.count; ++i) {
    if (weights[i].file == number) {
      stowi_export_put(out, "\n// ");
      stowi_export_put_comment(out, stow_graph_value_name(program->graph, weights[i].value));
      stowi_export_put(out, weights[i].is_packed ? ", packed\n_Alignas(64) " : "\n_Alignas(16) ");
      print_declaration(out, program, &weights[i]);
      stowi_export_put(out, " = {\n");
      print_words(out, &weights[i],
                  word_size(stow_graph_type(program->graph, weights[i].value)->dtype));
      stowi_export_put(out, "};\n");
    }
  }
}

void stowi_export_print_weights_header(stowi_export_out* out, const stowi_export* program,
                                       size_t unused) {
  const stowi_export_weight* weights = program->weights.data;
  (void)unused;
  stowi_export_put(out,
                   "// The weights of %s: elements as words of their width.\n"
                   "#ifndef %s_WEIGHTS_H_\n"
                   "#define %s_WEIGHTS_H_\n\n#include <stdint.h>\n\n",
                   program->options.name, program->macro, program->macro);
  for (size_t i = 0; i < program->weights.count; ++i) {
    stowi_export_put(out, "extern ");
    print_declaration(out, program, &weights[i]);
    stowi_export_put(out, ";\n");
  }
  stowi_export_put(out, "\n#endif  // %s_WEIGHTS_H_\n", program->macro);
}
