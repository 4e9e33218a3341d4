// All files are written aside before the first one is put in place. There the list comes first, so
// that what a killed run leaves is known to be ours.
#include "export/folder.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/file.h"

static const char list_name[] = "stowage-export.txt";
static const char list_head[] = "# Files that `stowage export` wrote here. It replaces them.\n";

static bool add_text(cli_list* list, const char* text, size_t size) {
  char* copy = malloc(size + 1);
  if (copy == NULL) {
    return false;
  }
  memcpy(copy, text, size);
  copy[size] = '\0';
  if (!cli_list_add(list, &copy, sizeof copy)) {
    free(copy);
    return false;
  }
  return true;
}

static void free_texts(cli_list* list) {
  for (size_t i = 0; i < list->count; ++i) {
    free(((char**)list->items)[i]);
  }
  cli_list_free(list, sizeof(char*));
}

static bool has_text(const cli_list* list, const char* text) {
  char* const* items = list->items;
  for (size_t i = 0; i < list->count; ++i) {
    if (strcmp(items[i], text) == 0) {
      return true;
    }
  }
  return false;
}

bool cli_folder_add(cli_folder* folder, const char* file) {
  return add_text(&folder->files, file, strlen(file));
}

void cli_folder_close(cli_folder* folder) {
  if (folder->is_open) {
    cli_stage_close(&folder->stage);
  }
  free_texts(&folder->files);
  free_texts(&folder->old);
}

// ---------------------------------------------------------------------------------------------
// What is there

// Lines of the list are trusted only where they name something below the folder.
static bool is_inside(const char* file) {
  return file[0] != '\0' && file[0] != '/' && file[0] != '#' && strstr(file, "..") == NULL;
}

static cli_exit read_list(cli_folder* folder, const char* path) {
  stow_string text = cli_string();
  cli_exit code = cli_text_read(path, &text);
  const char* line = text.data == NULL ? "" : text.data;
  while (code == CLI_YES && *line != '\0') {
    size_t size = strcspn(line, "\n");
    code = add_text(&folder->old, line, size) ? CLI_YES : cli_fail_memory();
    line += size + (line[size] == '\n');
  }
  stow_string_free(&text);
  return code;
}

static bool is_empty(const char* path) {
  DIR* folder = opendir(path);
  if (folder == NULL) {
    return true;  // what is wrong with it, writing will tell
  }
  bool found = false;
  for (struct dirent* entry = readdir(folder); entry != NULL && !found; entry = readdir(folder)) {
    found = strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
  }
  closedir(folder);
  return !found;
}

static bool exists(const char* path) {
  struct stat info;
  return lstat(path, &info) == 0;
}

static cli_exit refuse_others(const cli_folder* folder, stow_string* path) {
  char* const* files = folder->files.items;
  for (size_t i = 0; i < folder->files.count; ++i) {
    if (!cli_path_join(path, folder->path, files[i])) {
      return cli_fail_memory();
    }
    if (exists(path->data) && !has_text(&folder->old, files[i])) {
      return cli_fail(CLI_BROKEN,
                      "'%s' already exists and was not created by 'stowage export' (see --force)",
                      path->data);
    }
  }
  return CLI_YES;
}

// |path|: room for the paths of its files.
static cli_exit look_inside(cli_folder* folder, stow_string* path) {
  if (!cli_path_join(path, folder->path, list_name)) {
    return cli_fail_memory();
  }
  bool has_list = exists(path->data);
  if (!has_list && !folder->force && !is_empty(folder->path)) {
    return cli_fail(CLI_BROKEN,
                    "'%s' is not empty and was not created by 'stowage export' (see --force)",
                    folder->path);
  }
  cli_exit code = has_list ? read_list(folder, path->data) : CLI_YES;
  return code == CLI_YES && !folder->force ? refuse_others(folder, path) : code;
}

static cli_exit look(cli_folder* folder) {
  struct stat info;
  if (stat(folder->path, &info) != 0) {
    return CLI_YES;
  }
  if (!S_ISDIR(info.st_mode)) {
    return cli_fail(CLI_BROKEN, "'%s' is not a directory", folder->path);
  }
  stow_string path = cli_string();
  cli_exit code = look_inside(folder, &path);
  stow_string_free(&path);
  return code;
}

// ---------------------------------------------------------------------------------------------
// Writing

cli_exit cli_folder_write(cli_folder* folder, const char* file,
                          void (*print)(cli_output* output, const void* user), const void* user) {
  cli_output output;
  cli_exit code = cli_stage_create(&folder->stage, file, &output);
  if (code == CLI_YES) {
    print(&output, user);
  }
  return cli_output_end(&output, code);
}

static void print_list(cli_output* output, const void* user) {
  const cli_folder* folder = user;
  char* const* files = folder->files.items;
  cli_print(output, "%s", list_head);
  for (size_t i = 0; i < folder->files.count; ++i) {
    cli_print(output, "%s\n", files[i]);
  }
}

cli_exit cli_folder_open(cli_folder* folder) {
  if (!cli_folder_add(folder, list_name)) {
    return cli_fail_memory();
  }
  // The list itself is always ours.
  CLI_TRY(add_text(&folder->old, list_name, strlen(list_name)) ? look(folder) : cli_fail_memory());
  folder->is_open = true;
  CLI_TRY(cli_stage_open(&folder->stage, folder->path));
  char* const* old = folder->old.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < folder->old.count && code == CLI_YES; ++i) {
    if (is_inside(old[i]) && !has_text(&folder->files, old[i])) {
      code = cli_stage_remove(&folder->stage, old[i]);
    }
  }
  CLI_TRY(code);
  return cli_folder_write(folder, list_name, print_list, folder);
}

cli_exit cli_folder_finish(cli_folder* folder) {
  CLI_TRY(cli_stage_prepare(&folder->stage));
  return cli_stage_move(&folder->stage);
}
