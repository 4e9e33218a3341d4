// Which files a program needs: the kernels of its ops, what those include, and where the functions
// that they call are defined. Files are read as the text they are: a line that begins with a letter
// and has a name before `(` defines or declares that name, and other names are uses. What only
// looks like a use adds a file too many and does no harm. O(text) for each round in which files are
// added.
#include "export/sources.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "base/sort.h"
#include "base/text.h"

#define NAME_SIZE 256

typedef stowi_export_definition definition;

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

static int compare_definitions(const void* a, const void* b, const void* unused) {
  const definition* x = (const definition*)a;
  const definition* y = (const definition*)b;
  (void)unused;
  int order = memcmp(x->name, y->name, x->size < y->size ? x->size : y->size);
  return order != 0 ? order : (x->size > y->size) - (x->size < y->size);
}

// NULL: the function is of others.
static const definition* find_definition(const stowi_export_set* set, const definition* key) {
  size_t begin = 0;
  size_t end = set->definitions.count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    int order = compare_definitions(key, &set->definitions.data[middle], NULL);
    if (order == 0) {
      return &set->definitions.data[middle];
    }
    begin = order > 0 ? middle + 1 : begin;
    end = order > 0 ? end : middle;
  }
  return NULL;
}

// Whether |line| begins the definition of a function that other files may call.
// A line that begins with a macro, `STOWI_KERNEL_LOOP(name, …`, defines nothing that others name.
static bool is_definition(const char* line, definition* out) {
  static const char* const others[] = {"static ", "typedef ", "extern ", "__attribute__",
                                       "STOWI_KERNEL_INLINE "};
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

static stow_status list_definitions(stowi_export_set* set, size_t row) {
  const char* text = stowi_export_sources[row].text;
  for (const char* line = text; *line != '\0'; line = next_line(line)) {
    definition found;
    if (is_definition(line, &found)) {
      found.row = row;
      STOW_TRY(STOWI_VEC_RESERVE(set->allocator, &set->definitions, 1));
      set->definitions.data[set->definitions.count++] = found;
    }
  }
  return STOW_OK;
}

stow_status stowi_export_set_init(stowi_export_set* set, stow_allocator allocator) {
  *set = (stowi_export_set){.allocator = allocator};
  set->has = STOWI_ARRAY_ZERO(allocator, bool, stowi_export_sources_count);
  if (set->has == NULL) {
    return STOW_ERR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < stowi_export_sources_count; ++i) {
    const char* name = stowi_export_sources[i].name;
    STOW_TRY(name[strlen(name) - 1] == 'c' ? list_definitions(set, i) : STOW_OK);
  }
  return stowi_sort(set->definitions.data, set->definitions.count, sizeof(definition),
                    compare_definitions, NULL, allocator);
}

void stowi_export_set_free(stowi_export_set* set) {
  STOWI_ARRAY_FREE(set->allocator, set->has, stowi_export_sources_count);
  STOWI_VEC_FREE(set->allocator, &set->definitions);
}

// ---------------------------------------------------------------------------------------------
// Rows

static size_t find_row(const char* name, size_t size) {
  for (size_t i = 0; i < stowi_export_sources_count; ++i) {
    if (strlen(stowi_export_sources[i].name) == size &&
        memcmp(stowi_export_sources[i].name, name, size) == 0) {
      return i;
    }
  }
  return SIZE_MAX;
}

// The x.c of an x.h; SIZE_MAX where there is none.
static size_t find_body(size_t row) {
  char name[NAME_SIZE];
  size_t size = strlen(stowi_export_sources[row].name);
  if (size >= sizeof name || stowi_export_sources[row].name[size - 1] != 'h') {
    return SIZE_MAX;
  }
  memcpy(name, stowi_export_sources[row].name, size);
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

static bool mark(stowi_export_set* set, size_t row) {
  bool is_new = row != SIZE_MAX && !set->has[row];
  if (is_new) {
    set->has[row] = true;
  }
  return is_new;
}

// Adds where the functions that |line| uses are defined.
static bool follow_names(stowi_export_set* set, const char* line) {
  bool is_more = false;
  definition key = {.name = line};
  if (is_comment(line)) {
    return false;
  }
  for (; next_name(&key.name, &key.size); key.name += key.size) {
    bool is_declared = stowi_is_alnum(*line) && key.name[key.size] == '(';
    const definition* found = is_declared ? NULL : find_definition(set, &key);
    is_more = (found != NULL && mark(set, found->row)) || is_more;
  }
  return is_more;
}

// Adds what |row| names. True where that is anything new.
static bool follow(stowi_export_set* set, size_t row) {
  bool is_more = mark(set, find_body(row));
  for (const char* line = stowi_export_sources[row].text; *line != '\0'; line = next_line(line)) {
    is_more = mark(set, find_included(line)) || is_more;
    is_more = follow_names(set, line) || is_more;
  }
  return is_more;
}

static void close_over(stowi_export_set* set) {
  bool is_more = true;
  while (is_more) {
    is_more = false;
    for (size_t i = 0; i < stowi_export_sources_count; ++i) {
      is_more = (set->has[i] && follow(set, i)) || is_more;
    }
  }
}

bool stowi_export_set_add(stowi_export_set* set, const char* name) {
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

// Whether |text| registers the kernel of |op|.
static bool has_kernel(const char* text, const char* op) {
  char word[NAME_SIZE];
  int size = snprintf(word, sizeof word, "STOWI_KERNEL(%s,", op);
  return size >= 0 && (size_t)size < sizeof word && has_line(text, word, (size_t)size);
}

bool stowi_export_set_add_kernel(stowi_export_set* set, const char* op) {
  for (size_t i = 0; i < stowi_export_sources_count; ++i) {
    if (has_kernel(stowi_export_sources[i].text, op)) {
      if (mark(set, i)) {
        close_over(set);
      }
      return true;
    }
  }
  return false;
}
