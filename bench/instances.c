#define _POSIX_C_SOURCE 200809L
#include "instances.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/csv.h>
#include <string.h>

#include "measure.h"

#define MAX_PATH 4096
#define MAX_NAME 64

static char* read_file(const char* path, size_t* out_size) {
  FILE* file = fopen(path, "rb");
  size_t capacity = 1 << 16;
  size_t size = 0;
  char* text = (char*)malloc(capacity);
  if (file == NULL) {
    perror(path);
    exit(EXIT_FAILURE);
  }
  while (text != NULL && (size += fread(text + size, 1, capacity - size, file)) == capacity) {
    capacity *= 2;
    text = (char*)realloc(text, capacity);
  }
  bench_require(text != NULL, "out of memory");
  bench_require(!ferror(file), "cannot read a file");
  fclose(file);
  *out_size = size;
  return text;
}

static bool has_ending(const char* name) {
  size_t size = strlen(name);
  return size > 4 && strcmp(name + size - 4, ".csv") == 0;
}

static void name_of(const char* path, char* out_name) {
  const char* slash = strrchr(path, '/');
  const char* start = slash == NULL ? path : slash + 1;
  size_t size = strlen(start) - (has_ending(start) ? 4 : 0);
  snprintf(out_name, MAX_NAME, "%.*s", (int)size, start);
}

static void visit_file(const char* path, bench_visit visit, void* user) {
  char name[MAX_NAME];
  stow_diag diag;
  stow_diag_init(&diag);
  stow_str text;
  char* bytes = read_file(path, &text.size);
  text.data = bytes;
  stow_csv* csv = NULL;
  if (stow_csv_read(text, stow_allocator_default(), &diag, &csv) != STOW_OK) {
    fprintf(stderr, "%s:%u:%u: %s\n", path, diag.line, diag.column, diag.message);
    exit(EXIT_FAILURE);
  }
  name_of(path, name);
  visit(user, name, stow_csv_problem(csv));
  stow_csv_destroy(csv);
  free(bytes);
}

static int is_csv(const struct dirent* entry) { return has_ending(entry->d_name); }

static int by_bytes(const struct dirent** a, const struct dirent** b) {
  return strcmp((*a)->d_name, (*b)->d_name);
}

void bench_each_csv(const char* path, bench_visit visit, void* user) {
  struct dirent** entries = NULL;
  int count = scandir(path, &entries, is_csv, by_bytes);
  if (count < 0) {
    visit_file(path, visit, user);
    return;
  }
  for (int i = 0; i < count; ++i) {
    char file[MAX_PATH];
    int size = snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
    bench_require(size > 0 && size < MAX_PATH, "a path is too long");
    visit_file(file, visit, user);
    free(entries[i]);
  }
  free(entries);
}
