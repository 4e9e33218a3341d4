// Fills inputs, runs, shows or writes outputs. Firmware has other means: it leaves this file out.
#include "program/tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "exec/kernels/support/convert.h"
#include "run/random.h"

#define SHOWN 6  // elements of an output

typedef struct options {
  bool has_seed;
  uint64_t seed;
  uint64_t repeat;
} options;

static int fail(const char* what, const char* name) {
  fprintf(stderr, "%s: %s\n", name, what);
  return 2;
}

// ---------------------------------------------------------------------------------------------
// Names

// Without what would do something to a terminal.
static void print_name(FILE* stream, stow_str name) {
  for (size_t i = 0; i < name.size; ++i) {
    unsigned char c = (unsigned char)name.data[i];
    fputc(c < 32 || c == 127 ? '_' : c, stream);
  }
}

static void print_type(FILE* stream, const stow_tensor* tensor) {
  fprintf(stream, "%s[", stowi_kernel_dtype_text(tensor->dtype));
  for (uint32_t i = 0; i < tensor->rank; ++i) {
    fprintf(stream, "%s%lld", i == 0 ? "" : ", ", (long long)tensor->dims[i]);
  }
  fprintf(stream, "] %zu bytes", stow_tensor_bytes(tensor));
}

static void print_ports(FILE* stream, const char* kind, const stow_program_port* ports,
                        size_t count) {
  for (size_t i = 0; i < count; ++i) {
    fprintf(stream, "  %s ", kind);
    print_name(stream, ports[i].name);
    fputc(' ', stream);
    print_type(stream, ports[i].tensor);
    fprintf(stream, "\n");
  }
}

static int print_help(const stow_program* program, FILE* stream) {
  fprintf(stream,
          "usage: %s [OPTION]...\n"
          "  --random SEED       random numbers for inputs without a file\n"
          "  --input NAME=FILE   data of an input; may be repeated\n"
          "  --output NAME=FILE  where an output goes; may be repeated\n"
          "  --repeat N          run N times, and print the mean time\n"
          "Files hold raw bytes. Outputs without a file are printed as numbers.\n"
          "Arena: %zu bytes\n",
          program->name, program->arena_size);
  print_ports(stream, "input", program->inputs, program->input_count);
  print_ports(stream, "output", program->outputs, program->output_count);
  return stream == stdout ? 0 : 2;
}

// Whether |text| is `NAME=FILE` for |port|. Names may hold `=` themselves.
static const char* file_for(const stow_program_port* port, const char* text) {
  return strncmp(text, port->name.data, port->name.size) == 0 && text[port->name.size] == '='
             ? text + port->name.size + 1
             : NULL;
}

static const char* find_file(const stow_program_port* port, const char* option, int argc,
                             char** argv) {
  const char* found = NULL;
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], option) == 0) {
      const char* file = file_for(port, argv[++i]);
      found = file != NULL ? file : found;
    }
  }
  return found;
}

static bool is_port(const stow_program_port* ports, size_t count, const char* text) {
  for (size_t i = 0; i < count; ++i) {
    if (file_for(&ports[i], text) != NULL) {
      return true;
    }
  }
  return false;
}

// ---------------------------------------------------------------------------------------------
// Inputs

static int read_file(const char* path, const stow_tensor* tensor) {
  size_t size = stow_tensor_bytes(tensor);
  FILE* file = fopen(path, "rb");
  if (file == NULL) {
    return fail("cannot be read", path);
  }
  size_t there = size == 0 ? 0 : fread(tensor->data, 1, size, file);
  bool is_longer = fgetc(file) != EOF;
  fclose(file);
  if (there == size && !is_longer) {
    return 0;
  }
  fprintf(stderr, "%s: has %s%zu bytes, but the input needs %zu\n", path,
          is_longer ? "more than " : "", there, size);
  return 2;
}

static int fill_inputs(const stow_program* program, const options* given, int argc, char** argv) {
  int code = 0;
  for (size_t i = 0; i < program->input_count && code == 0; ++i) {
    const stow_program_port* port = &program->inputs[i];
    const char* path = find_file(port, "--input", argc, argv);
    if (path != NULL) {
      code = read_file(path, port->tensor);
    } else if (given->has_seed) {
      stow_tensor tensor = *port->tensor;
      cli_fill_random(&tensor, given->seed, port->name);
    } else {
      print_name(stderr, port->name);
      code = fail("needs --input NAME=FILE, or --random SEED", "");
    }
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Outputs

static int write_file(const char* path, const stow_tensor* tensor) {
  size_t size = stow_tensor_bytes(tensor);
  FILE* file = fopen(path, "wb");
  if (file == NULL) {
    return fail("cannot be written", path);
  }
  bool is_written = size == 0 || fwrite(tensor->data, 1, size, file) == size;
  return fclose(file) == 0 && is_written ? 0 : fail("could not be written", path);
}

// As `stowage run` shows them: the same bits are the same text.
static void print_first(const stow_tensor* tensor, size_t count) {
  printf("\n  [");
  for (size_t i = 0; i < count && i < SHOWN; ++i) {
    printf("%s%g", i == 0 ? "" : ", ", stowi_kernel_float_at(tensor, i));
  }
  printf("%s]", count > SHOWN ? ", ..." : "");
}

static void print_output(const stow_program_port* port) {
  const stow_tensor* tensor = port->tensor;
  size_t count = stow_tensor_elements(tensor);
  print_name(stdout, port->name);
  fputc(' ', stdout);
  print_type(stdout, tensor);
  if (count > 0 && stowi_kernel_kind(tensor->dtype) != STOW_KIND_COMPLEX) {
    double least = stowi_kernel_float_at(tensor, 0);
    double most = least;
    double sum = 0.0;
    for (size_t i = 0; i < count; ++i) {
      double number = stowi_kernel_float_at(tensor, i);
      least = number < least ? number : least;
      most = number > most ? number : most;
      sum += number;
    }
    printf("\n  min %g  max %g  mean %g", least, most, sum / (double)count);
    print_first(tensor, count);
  }
  printf("\n");
}

static int show_outputs(const stow_program* program, int argc, char** argv) {
  int code = 0;
  for (size_t i = 0; i < program->output_count && code == 0; ++i) {
    const char* path = find_file(&program->outputs[i], "--output", argc, argv);
    if (path != NULL) {
      code = write_file(path, program->outputs[i].tensor);
    } else {
      print_output(&program->outputs[i]);
    }
  }
  return code;
}

// ---------------------------------------------------------------------------------------------

static bool read_number(const char* text, uint64_t* out) {
  char* end;
  *out = strtoull(text, &end, 10);
  return *text >= '0' && *text <= '9' && *end == '\0';
}

static bool read_option(const stow_program* program, const char* option, const char* value,
                        options* out) {
  if (strcmp(option, "--random") == 0) {
    out->has_seed = true;
    return read_number(value, &out->seed);
  }
  if (strcmp(option, "--repeat") == 0) {
    return read_number(value, &out->repeat) && out->repeat > 0;
  }
  if (strcmp(option, "--input") == 0) {
    return is_port(program->inputs, program->input_count, value);
  }
  return strcmp(option, "--output") == 0 && is_port(program->outputs, program->output_count, value);
}

// Inputs are set before every run, since a run may write over them.
static int run_all(const stow_program* program, const options* given, int argc, char** argv) {
  clock_t spent = 0;
  for (uint64_t i = 0; i < given->repeat; ++i) {
    int code = fill_inputs(program, given, argc, argv);
    if (code != 0) {
      return code;
    }
    clock_t begun = clock();
    if (program->run() != 0) {
      fprintf(stderr, "%s: %s\n", program->name, program->error());
      return 1;
    }
    spent += clock() - begun;
  }
  printf("%.3f ms\n", (double)spent * 1000.0 / CLOCKS_PER_SEC / (double)given->repeat);
  return show_outputs(program, argc, argv);
}

int stow_program_tool(const stow_program* program, int argc, char** argv) {
  options given = {.repeat = 1};
  for (int i = 1; i < argc; i += 2) {
    if (strcmp(argv[i], "--help") == 0) {
      return print_help(program, stdout);
    }
    if (i + 1 == argc || !read_option(program, argv[i], argv[i + 1], &given)) {
      fprintf(stderr, "%s: unknown option '%s', or its value is wrong\n", program->name, argv[i]);
      return print_help(program, stderr);
    }
  }
  return run_all(program, &given, argc, argv);
}
