// What builds the program, and what tells how.
#include <inttypes.h>
#include <string.h>

#include "export/export.h"

// Memory of the command line for what the caller has.
static void print_memory(stowi_export_out* out, const stowi_export* program) {
  for (size_t i = 0; i < program->ports.count; ++i) {
    const stowi_export_port* port = &program->ports.data[i];
    if (port->is_external) {
      stowi_export_put(out, "static _Alignas(64) unsigned char memory_%zu[%" PRIu64 "];\n", i,
                       stowi_export_bytes(program, port->value));
    }
  }
}

static bool has_external(const stowi_export* program) {
  bool has = false;
  for (size_t i = 0; i < program->ports.count; ++i) {
    has = has || program->ports.data[i].is_external;
  }
  return has;
}

static void print_binds(stowi_export_out* out, const stowi_export* program) {
  for (size_t i = 0; i < program->ports.count; ++i) {
    const stowi_export_port* port = &program->ports.data[i];
    if (port->is_external) {
      stowi_export_put(out, "  %s_bind_%s_%s((void*)memory_%zu);\n", program->options.name,
                       port->is_output ? "out" : "in", port->identifier, i);
    }
  }
}

void stowi_export_print_main(stowi_export_out* out, const stowi_export* program, size_t unused) {
  (void)unused;
  const char* name = program->options.name;
  stowi_export_put(out,
                   "// Tries the model from a command line; firmware leaves this file out.\n"
                   "#include \"%s.h\"\n"
                   "#include \"program/%s.h\"\n\n",
                   name, program->range == NULL ? "tool" : "range_tool");
  print_memory(out, program);
  stowi_export_put(out, "%sint main(int argc, char** argv) {\n", has_external(program) ? "\n" : "");
  print_binds(out, program);
  if (program->range == NULL) {
    stowi_export_put(out, "  return stow_program_tool(&%s_program, argc, argv);\n}\n", name);
  } else {
    stowi_export_put(out, "  return stow_program_range_tool(&%s_range, argc, argv);\n}\n", name);
  }
}

// `x.o` for an `x.c`; nothing for headers.
static void print_object(stowi_export_out* out, const char* file) {
  size_t size = strlen(file);
  if (size > 2 && strcmp(file + size - 2, ".c") == 0) {
    stowi_export_put(out, " \\\n  %.*s.o", (int)(size - 2), file);
  }
}

static void print_objects(stowi_export_out* out, const stowi_export_set* set,
                          const stowi_export_set* without) {
  for (size_t i = 0; i < stowi_export_sources_count; ++i) {
    if (set->has[i] && (without == NULL || !without->has[i])) {
      print_object(out, stowi_export_sources[i].name);
    }
  }
}

void stowi_export_print_makefile(stowi_export_out* out, const stowi_export* program,
                                 size_t unused) {
  (void)unused;
  const char* name = program->options.name;
  stowi_export_put(
      out,
      "# make: the program %s; make lib: lib%s.a, the model alone.\n"
      "CFLAGS = -O3\n"
      "LDFLAGS = -Wl,--gc-sections\n"
      "# Kernels say where they multiply and add with one rounding; compilers must not do it\n"
      "# elsewhere. The arena holds tensors of all types, one after the other.\n"
      "MODEL_CFLAGS = -std=c11 -Wall -I. -ffp-contract=off -fno-math-errno "
      "-fno-trapping-math \\\n"
      "  -fno-strict-aliasing -ffunction-sections -fdata-sections\n\n"
      "LIBRARY =",
      name, name);
  stowi_export_put(out, " \\\n  %s.o", name);
  for (size_t i = 0; i < program->weight_files; ++i) {
    char file[STOWI_EXPORT_FILE_SIZE];
    stowi_export_weights_name(program, i, file);
    print_object(out, file);
  }
  print_objects(out, &program->library, NULL);
  stowi_export_put(out, "\nTOOL = \\\n  main.o");
  print_objects(out, &program->tool, &program->library);
  stowi_export_put(out,
                   "\n\n"
                   "%s: $(LIBRARY) $(TOOL)\n"
                   "\t$(CC) $(LDFLAGS) -o $@ $(LIBRARY) $(TOOL) -lm\n\n"
                   "lib: lib%s.a\n"
                   "lib%s.a: $(LIBRARY)\n"
                   "\trm -f $@\n"
                   "\t$(AR) rc $@ $(LIBRARY)\n\n"
                   ".SUFFIXES: .c .o\n"
                   ".c.o:\n"
                   "\t$(CC) $(MODEL_CFLAGS) $(CFLAGS) -c $< -o $@\n\n"
                   "clean:\n"
                   "\trm -f %s lib%s.a $(LIBRARY) $(TOOL)\n"
                   ".PHONY: lib clean\n",
                   name, name, name, name, name);
}

void stowi_export_print_readme(stowi_export_out* out, const stowi_export* program, size_t unused) {
  (void)unused;
  const char* name = program->options.name;
  stowi_export_put(
      out,
      "%s, a model as a C program, made by `stowage export`.\n\n"
      "    make                     builds ./%s, to try it on files\n"
      "    ./%s --help\n"
      "    ./%s %s--random 1\n"
      "    make lib                 builds lib%s.a, the model alone\n\n"
      "arena    %" PRIu64
      " bytes, static, zero at first\n"
      "stack    4 to 7 KB as measured; a function has at most 4 KiB, of einsum 12 KiB\n"
      "weights  %" PRIu64
      " bytes, const\n"
      "steps    %zu\n\n"
      "%s.h says how a program uses it. Any C11 compiler builds it:\n\n"
      "    cc -std=c11 -O2 -I. *.c */*.c */*/*/*.c -lm\n\n"
      "The model needs memcpy and the like, vsnprintf for messages, and functions of <math.h>; "
      "no heap,\n"
      "no files, no threads. Say -ffp-contract=off where results shall be the same bits as "
      "elsewhere.\n\n"
      "Files here are replaced by the next export: keep your own elsewhere. Kernels are part "
      "of Stowage:\n"
      "see LICENSE.\n",
      name, name, name, name, program->range == NULL ? "" : "--bind NAME=N ", name,
      stowi_export_arena_bytes(program), program->weight_bytes, program->step_count, name);
}
