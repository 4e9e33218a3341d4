// Binds a shape, then does what every program's command line does (tool.c): --bind says which one,
// or files of inputs do, by their sizes.
#include "program/range_tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/tool.h"

#define MOST_SYMBOLS 16
#define MOST_SHAPES 1000000  // that files are compared with

typedef struct choice {
  const stow_program_range* range;
  bool is_given[MOST_SYMBOLS];
  int64_t values[MOST_SYMBOLS];
} choice;

static int complain(const choice* c, const char* what, const char* text) {
  fprintf(stderr, "%s: %s%s\n", c->range->program->name, what, text);
  return 2;
}

// ---------------------------------------------------------------------------------------------
// --bind

// The symbol whose name and `=` begin |text|; the count if there is none.
static size_t find_symbol(const stow_program_range* range, const char* text) {
  size_t i = 0;
  while (i < range->symbol_count &&
         (strncmp(text, range->symbols[i].name.data, range->symbols[i].name.size) != 0 ||
          text[range->symbols[i].name.size] != '=')) {
    ++i;
  }
  return i;
}

static int read_binds(choice* c, const char* text) {
  for (const char* at = text;; ++at) {
    size_t symbol = find_symbol(c->range, at);
    if (symbol == c->range->symbol_count) {
      return complain(c, "--bind: not NAME=N of a symbol: ", at);
    }
    const char* digits = at + c->range->symbols[symbol].name.size + 1;
    char* rest;
    c->values[symbol] = strtoll(digits, &rest, 10);
    c->is_given[symbol] = true;
    if (rest == digits || (*rest != '\0' && *rest != ',')) {
      return complain(c, "--bind: not a number: ", digits);
    }
    if (*rest == '\0') {
      return 0;
    }
    at = rest;
  }
}

// ---------------------------------------------------------------------------------------------
// Sizes of files

// UINT64_MAX: it cannot be read, which is told when it is.
static uint64_t file_size(const char* path) {
  unsigned char buffer[4096];
  uint64_t size = 0;
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return UINT64_MAX;
  }
  for (size_t count; (count = fread(buffer, 1, sizeof buffer, file)) != 0;) {
    size += count;
  }
  fclose(file);
  return size;
}

// Whether all files of inputs have the sizes of the shape that is bound.
static bool fits(const choice* c, const uint64_t* sizes) {
  const stow_program* program = c->range->program;
  bool fits = true;
  for (size_t i = 0; i < program->input_count && fits; ++i) {
    fits = sizes[i] == UINT64_MAX || sizes[i] == stow_tensor_bytes(program->inputs[i].tensor);
  }
  return fits;
}

// The next values of symbols that are not given; false after the last ones.
static bool next_shape(choice* c) {
  for (size_t i = c->range->symbol_count; i-- > 0;) {
    const stow_program_symbol* symbol = &c->range->symbols[i];
    if (c->is_given[i]) {
      continue;
    }
    if (c->values[i] < symbol->max) {
      c->values[i] += symbol->step;
      return true;
    }
    c->values[i] = symbol->min;
  }
  return false;
}

static int bind(const choice* c) {
  return stow_program_bind(c->range, c->values) == STOW_OK
             ? 0
             : complain(c, c->range->program->error(), "; see --help");
}

// The only shape of the range that fits.
static int find_shape(choice* c, const uint64_t* sizes) {
  int64_t found[MOST_SYMBOLS];
  size_t count = 0;
  size_t tried = 0;
  do {
    if (bind(c) != 0) {
      return 2;
    }
    if (fits(c, sizes)) {
      memcpy(found, c->values, sizeof found);
      ++count;
    }
  } while (++tried < MOST_SHAPES && count < 2 && next_shape(c));
  if (count == 0) {
    return complain(c, "no shape of the range has inputs of these sizes; see --help", "");
  }
  if (count > 1 || tried == MOST_SHAPES) {
    return complain(c, "several shapes fit the inputs: ", "give --bind NAME=N");
  }
  memcpy(c->values, found, sizeof found);
  return bind(c);
}

static int derive(choice* c, int argc, char** argv) {
  const stow_program* program = c->range->program;
  uint64_t* sizes = malloc((program->input_count + 1) * sizeof *sizes);
  bool has_file = false;
  if (sizes == NULL) {
    return complain(c, "out of memory", "");
  }
  for (size_t i = 0; i < program->input_count; ++i) {
    stow_str name = program->inputs[i].name;
    sizes[i] = UINT64_MAX;
    for (int k = 1; k + 1 < argc; k += 2) {
      if (strcmp(argv[k], "--input") == 0 && strncmp(argv[k + 1], name.data, name.size) == 0 &&
          argv[k + 1][name.size] == '=') {
        sizes[i] = file_size(argv[k + 1] + name.size + 1);
        has_file = true;
      }
    }
  }
  int code = has_file ? find_shape(c, sizes)
                      : complain(c, "give a shape: --bind NAME=N,…; see --help", "");
  free(sizes);
  return code;
}

// ---------------------------------------------------------------------------------------------

// Without what would do something to a terminal.
static void print_name(stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    putchar(c < 32 || c == 127 ? '_' : c);
  }
}

static void print_shapes(const stow_program_range* range) {
  printf("  --bind NAME=N,...   the shape; without it, that of the input files\n");
  for (size_t i = 0; i < range->symbol_count; ++i) {
    const stow_program_symbol* symbol = &range->symbols[i];
    printf("  symbol ");
    print_name(symbol->name);
    printf(": %lld..%lld", (long long)symbol->min, (long long)symbol->max);
    if (symbol->step != 1) {
      printf(", multiples of %lld", (long long)symbol->step);
    }
    printf("\n");
  }
  printf("Types below are those of the largest shape.\n");
}

// Takes --bind out of the arguments.
static int read_arguments(choice* c, int* argc, char** argv) {
  int kept = 1;
  bool is_all = true;
  for (int i = 1; i < *argc; ++i) {
    if (strcmp(argv[i], "--help") == 0) {
      print_shapes(c->range);
      return bind(c);
    }
    if (strcmp(argv[i], "--bind") == 0 && i + 1 < *argc) {
      int code = read_binds(c, argv[++i]);
      if (code != 0) {
        return code;
      }
      continue;
    }
    argv[kept++] = argv[i];
    if (i + 1 < *argc) {
      argv[kept++] = argv[++i];
    }
  }
  *argc = kept;
  for (size_t i = 0; i < c->range->symbol_count; ++i) {
    is_all = is_all && c->is_given[i];
    c->values[i] = c->is_given[i] ? c->values[i] : c->range->symbols[i].min;
  }
  return is_all ? bind(c) : derive(c, kept, argv);
}

int stow_program_range_tool(const stow_program_range* range, int argc, char** argv) {
  choice c = {.range = range};
  for (size_t i = 0; i < range->symbol_count && i < MOST_SYMBOLS; ++i) {
    c.values[i] = range->symbols[i].max;
  }
  int code = read_arguments(&c, &argc, argv);
  return code == 0 ? stow_program_tool(range->program, argc, argv) : code;
}
