// Feeds files, and all files of folders, to a fuzz target: corpora become regression tests that
// need no fuzzer. Files of a folder are taken in the order of their names, so that a failure is
// always met at the same place.
#define _POSIX_C_SOURCE 200809L  // scandir
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

static int replay_file(const char* path) {
  FILE* file = fopen(path, "rb");
  if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
    fprintf(stderr, "%s: can't be read\n", path);
    return -1;
  }
  long size = ftell(file);
  rewind(file);
  // Exactly as large as the file, so that a sanitizer sees a read past its end.
  uint8_t* data = size < 0 ? NULL : malloc((size_t)size + (size == 0));
  int result = -1;
  if (data != NULL && fread(data, 1, (size_t)size, file) == (size_t)size) {
    printf("%s\n", path);
    fflush(stdout);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    result = 1;
  } else {
    fprintf(stderr, "%s: can't be read\n", path);
  }
  free(data);
  fclose(file);
  return result;
}

// Returns how many inputs were replayed, or -1.
static int replay_folder(const char* path) {
  struct dirent** entries;
  int count = scandir(path, &entries, NULL, alphasort);
  int replayed = 0;
  if (count < 0) {
    fprintf(stderr, "%s: can't be listed\n", path);
    return -1;
  }
  for (int i = 0; i < count; ++i) {
    char name[4096];
    int size = snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.' && replayed >= 0) {
      int result = size > 0 && (size_t)size < sizeof(name) ? replay_file(name) : -1;
      replayed = result < 0 ? -1 : replayed + result;
    }
    free(entries[i]);
  }
  free(entries);
  return replayed;
}

int main(int argument_count, char** arguments) {
  int total = 0;
  for (int i = 1; i < argument_count; ++i) {
    struct stat info;
    int is_folder = stat(arguments[i], &info) == 0 && S_ISDIR(info.st_mode);
    int replayed = is_folder ? replay_folder(arguments[i]) : replay_file(arguments[i]);
    if (replayed < 0) {
      return EXIT_FAILURE;
    }
    total += replayed;
  }
  printf("%d inputs\n", total);
  return total > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
