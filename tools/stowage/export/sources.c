// Which files a program needs: the kernels of its ops, what those include, and where the functions
// that they call are defined. Files are read as the text they are: a line that begins with a letter
// and has a name before `(` defines or declares that name, and other names are uses. What only
// looks like a use adds a file too many and does no harm. O(text) for each round in which files are
// added.
#include "export/sources.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define NAME_SIZE 256

typedef struct definition {
  const char* name;
  size_t size;
  size_t row;
} definition;

// ---------------------------------------------------------------------------------------------
// Text

static const char* next_line(const char* line) {
  line += strcspn(line, "\n");
  return *line == '\0' ? line : line + 1;
}

// The next name at or after |text| in its line; false where there is none.
static bool next_name(const char** text, size_t* out_size) {
  while (**text != '\0' && **text != '\n' && !stowi_is_alnum(**text)) {
    ++*text;
  }
  *out_size = 0;
  while (stowi_is_alnum((*text)[*out_size])) {
    ++*out_size;
  }
  return *out_size > 0;
}

static bool is_comment(const char* line) { return strncmp(line + strspn(line, " "), "//", 2) == 0; }

// ---------------------------------------------------------------------------------------------
// Definitions

static int compare_definitions(const void* a, const void* b) {
  const definition* x = a;
  const definition* y = b;
  int order = memcmp(x->name, y->name, x->size < y->size ? x->size : y->size);
  return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

// Whether |line| begins the definition of a function that other files may call.
// A line that begins with a macro, `STOWI_KERNEL_LOOP(name, …`, defines nothing that others name.
static bool is_definition(const char* line, definition* out) {
  static const char* const others[] = {"static ", "typedef ", "extern ", "__attribute__"};
  for (size_t i = 0; i < sizeof others / sizeof others[0]; ++i) {
    if (strncmp(line, others[i], strlen(others[i])) == 0) {
      return false;
    }
  }
  const char* name = line;
  size_t size;
  bool found = false;
  while (stowi_is_alnum(*line) && !found && next_name(&name, &size)) {
    found = name[size] == '(';
    *out = (definition){.name = name, .size = size};
    name += size;
  }
  bool is_macro = found && out->name[0] >= 'A' && out->name[0] <= 'Z';
  return found && !is_macro && name[strcspn(name, ";{")] == '{';
}

static bool list_definitions(cli_source_set* set, size_t row) {
  const char* text = cli_sources[row].text;
  for (const char* line = text; *line != '\0'; line = next_line(line)) {
    definition found;
    if (is_definition(line, &found)) {
      found.row = row;
      if (!cli_list_add(&set->definitions, &found, sizeof found)) {
        return false;
      }
    }
  }
  return true;
}

bool cli_source_set_create(cli_source_set* set) {
  set->has = calloc(cli_sources_count + 1, sizeof *set->has);
  bool is_made = set->has != NULL;
  for (size_t i = 0; i < cli_sources_count && is_made; ++i) {
    const char* name = cli_sources[i].name;
    is_made = name[strlen(name) - 1] != 'c' || list_definitions(set, i);
  }
  if (is_made && set->definitions.count > 0) {
    qsort(set->definitions.items, set->definitions.count, sizeof(definition), compare_definitions);
  }
  return is_made;
}

void cli_source_set_free(cli_source_set* set) {
  free(set->has);
  set->has = NULL;
  cli_list_free(&set->definitions, sizeof(definition));
}

// ---------------------------------------------------------------------------------------------
// Rows

static size_t find_row(const char* name, size_t size) {
  for (size_t i = 0; i < cli_sources_count; ++i) {
    if (strlen(cli_sources[i].name) == size && memcmp(cli_sources[i].name, name, size) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

// The x.c of an x.h; SIZE_MAX where there is none.
static size_t find_body(size_t row) {
  char name[NAME_SIZE];
  size_t size = strlen(cli_sources[row].name);
  if (size >= sizeof name || cli_sources[row].name[size - 1] != 'h') {
    return SIZE_MAX;
  }
  memcpy(name, cli_sources[row].name, size);
  name[size - 1] = 'c';
  return find_row(name, size);
}

// The row that the line at |line| includes; SIZE_MAX where it is no such line, or a file of others.
static size_t find_included(const char* line) {
  static const char word[] = "#include ";
  if (strncmp(line, word, sizeof word - 1) != 0) {
    return SIZE_MAX;
  }
  const char* name = line + sizeof word;
  size_t size = strcspn(name, "\">\n");
  return find_row(name, size);
}

static bool mark(cli_source_set* set, size_t row) {
  bool is_new = row != SIZE_MAX && !set->has[row];
  if (is_new) {
    set->has[row] = true;
  }
  return is_new;
}

// Adds where the functions that |line| uses are defined.
static bool follow_names(cli_source_set* set, const char* line) {
  bool is_more = false;
  definition key = {.name = line};
  if (is_comment(line)) {
    return false;
  }
  for (; next_name(&key.name, &key.size); key.name += key.size) {
    bool is_declared = stowi_is_alnum(*line) && key.name[key.size] == '(';
    const definition* found = is_declared || set->definitions.count == 0
                                  ? NULL
                                  : bsearch(&key, set->definitions.items, set->definitions.count,
                                            sizeof(definition), compare_definitions);
    is_more = (found != NULL && mark(set, found->row)) || is_more;
  }
  return is_more;
}

// Adds what |row| names. True where that is anything new.
static bool follow(cli_source_set* set, size_t row) {
  bool is_more = mark(set, find_body(row));
  for (const char* line = cli_sources[row].text; *line != '\0'; line = next_line(line)) {
    is_more = mark(set, find_included(line)) || is_more;
    is_more = follow_names(set, line) || is_more;
  }
  return is_more;
}

static void close_over(cli_source_set* set) {
  bool is_more = true;
  while (is_more) {
    is_more = false;
    for (size_t i = 0; i < cli_sources_count; ++i) {
      is_more = (set->has[i] && follow(set, i)) || is_more;
    }
  }
}

bool cli_source_set_add(cli_source_set* set, const char* name) {
  size_t row = find_row(name, strlen(name));
  if (mark(set, row)) {
    close_over(set);
  }
  return row != SIZE_MAX;
}

// ---------------------------------------------------------------------------------------------
// Kernels

// Whether a line of |text| begins with |word|.
static bool has_line(const char* text, const char* word, size_t size) {
  for (const char* line = text; *line != '\0'; line = next_line(line)) {
    if (strncmp(line, word, size) == 0) {
      return true;
    }
  }
  return false;
}

// Whether |text| registers the kernel of |op|, with the macro |macro|.
static bool has_kernel(const char* text, const char* macro, const char* op) {
  char word[NAME_SIZE];
  int size = snprintf(word, sizeof word, "%s(%s,", macro, op);
  return size >= 0 && (size_t)size < sizeof word && has_line(text, word, (size_t)size);
}

bool cli_source_set_add_kernel(cli_source_set* set, const char* op) {
  for (size_t i = 0; i < cli_sources_count; ++i) {
    if (has_kernel(cli_sources[i].text, "STOWI_KERNEL", op) ||
        has_kernel(cli_sources[i].text, "STOWI_KERNEL_VARIANTS", op)) {
      if (mark(set, i)) {
        close_over(set);
      }
      return true;
    }
  }
  return false;
}
