// Staging. The inner folder lies in the one that is written to, so that moving is renaming: it
// needs no room on the disk, and no file is seen half-written. What is likely to fail (writing,
// making folders) is done before the first file is moved; a rename that fails all the same is
// undone with those before it.
#include "files/stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files/file.h"

typedef struct change {
  char* file;     // relative to the folder
  bool is_new;    // it is put there; otherwise it has to go
  bool is_aside;  // what was there is kept in the inner folder
  bool is_moved;  // it is in its place
} change;

bool cli_path_join(stow_string* out, const char* folder, const char* file) {
  out->size = 0;
  size_t size = strlen(folder);
  bool has_slash = size > 0 && folder[size - 1] == '/';
  return stow_string_append(out, folder, size) == STOW_OK &&
         (has_slash || stow_string_append(out, "/", 1) == STOW_OK) &&
         stow_string_append(out, file, strlen(file)) == STOW_OK;
}

static bool set_paths(cli_stage* stage, size_t index) {
  const char* file = ((const change*)stage->changes.items)[index].file;
  char number[32];
  snprintf(number, sizeof number, ".%zu", index);
  return cli_path_join(&stage->from, stage->inner.data, file) &&
         cli_path_join(&stage->to, stage->path, file) &&
         cli_path_join(&stage->aside, stage->inner.data, number);
}

static cli_exit add_change(cli_stage* stage, const char* file, bool is_new) {
  change item = {.file = strdup(file), .is_new = is_new};
  if (item.file != NULL && cli_list_add(&stage->changes, &item, sizeof item)) {
    return set_paths(stage, stage->changes.count - 1) ? CLI_YES : cli_fail_memory();
  }
  free(item.file);
  return cli_fail_memory();
}

static cli_exit fail_write(const cli_stage* stage, int error) {
  return cli_fail(CLI_BROKEN, "cannot write '%s': %s", stage->to.data, strerror(error));
}

// ---------------------------------------------------------------------------------------------
// Folders

static bool note_made(cli_stage* stage, const char* path) {
  char* copy = strdup(path);
  if (copy != NULL && cli_list_add(&stage->made, &copy, sizeof copy)) {
    return true;
  }
  free(copy);
  (void)rmdir(path);
  return false;
}

// Makes the folder where it is missing; |label| is what it is called.
static cli_exit make_folder(cli_stage* stage, const char* path, const char* label) {
  if (mkdir(path, 0777) == 0) {
    return note_made(stage, path) ? CLI_YES : cli_fail_memory();
  }
  if (errno == EEXIST && cli_is_folder(path)) {
    return CLI_YES;
  }
  int error = errno == EEXIST ? ENOTDIR : errno;
  return cli_fail(CLI_BROKEN, "cannot create the directory '%s': %s", label, strerror(error));
}

// Makes the folders that |file|, the end of |path|, is in. They are called as those of |stage->to|.
static cli_exit make_folders(cli_stage* stage, stow_string* path, const char* file) {
  char* in_path = path->data + path->size - strlen(file);
  char* in_label = stage->to.data + stage->to.size - strlen(file);
  cli_exit code = CLI_YES;
  for (const char* slash = strchr(file, '/'); slash != NULL && code == CLI_YES;
       slash = strchr(slash + 1, '/')) {
    in_path[slash - file] = in_label[slash - file] = '\0';
    code = make_folder(stage, path->data, stage->to.data);
    in_path[slash - file] = in_label[slash - file] = '/';
  }
  return code;
}

// Removes the folders that |file|, the end of |path|, is in, as far as they are empty.
static void remove_folders(stow_string* path, const char* file) {
  char* start = path->data + path->size - strlen(file);
  for (char* slash = strrchr(start, '/'); slash != NULL; slash = strrchr(start, '/')) {
    *slash = '\0';
    if (rmdir(path->data) != 0) {
      break;
    }
  }
}

// ---------------------------------------------------------------------------------------------
// Opening

cli_exit cli_stage_open(cli_stage* stage, const char* path) {
  *stage = (cli_stage){.path = path};
  stow_string_init(&stage->inner, stow_allocator_default());
  stow_string_init(&stage->from, stow_allocator_default());
  stow_string_init(&stage->to, stow_allocator_default());
  stow_string_init(&stage->aside, stow_allocator_default());
  cli_hold_signals(&stage->held);
  CLI_TRY(make_folder(stage, path, path));
  // Makes a folder that nobody else uses.
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    char name[64];
    snprintf(name, sizeof name, ".stowage-%ld-%u.tmp", (long)getpid(), attempt);
    if (!cli_path_join(&stage->inner, stage->path, name)) {
      return cli_fail_memory();
    }
    if (mkdir(stage->inner.data, 0777) == 0) {
      return note_made(stage, stage->inner.data) ? CLI_YES : cli_fail_memory();
    }
    if (errno != EEXIST) {
      break;
    }
  }
  return cli_fail(CLI_BROKEN, "cannot write to the directory '%s': %s", stage->path,
                  strerror(errno));
}

// ---------------------------------------------------------------------------------------------
// Writing

cli_exit cli_stage_create(cli_stage* stage, const char* file, cli_output* output) {
  cli_output_init(output);
  CLI_TRY(add_change(stage, file, true));
  struct stat info;
  if (lstat(stage->from.data, &info) == 0) {  // two names that the file system takes for one
    return cli_fail(CLI_BROKEN, "cannot write '%s': another file has this name", stage->to.data);
  }
  CLI_TRY(make_folders(stage, &stage->from, file));
  return cli_output_open_as(output, stage->from.data, stage->to.data);
}

cli_exit cli_stage_remove(cli_stage* stage, const char* file) {
  return add_change(stage, file, false);
}

static cli_exit prepare_move(cli_stage* stage, size_t index) {
  const change* item = &((const change*)stage->changes.items)[index];
  struct stat info;
  if (!set_paths(stage, index)) {
    return cli_fail_memory();
  }
  if (!item->is_new) {
    return CLI_YES;
  }
  if (lstat(stage->to.data, &info) == 0 && S_ISDIR(info.st_mode)) {
    return fail_write(stage, EISDIR);
  }
  if (stat(stage->from.data, &info) == 0) {
    ++stage->written;
    stage->bytes += (uint64_t)info.st_size;
  }
  CLI_TRY(make_folders(stage, &stage->to, item->file));
  // Whether files of the folder that |stage->to| is in may be replaced.
  char* end = strrchr(stage->to.data, '/') + 1;
  char first = *end;
  *end = '\0';
  cli_exit code = access(stage->to.data, W_OK | X_OK) == 0
                      ? CLI_YES
                      : cli_fail(CLI_BROKEN, "cannot write to the directory '%s': %s",
                                 stage->to.data, strerror(errno));
  *end = first;
  return code;
}

cli_exit cli_stage_prepare(cli_stage* stage) {
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < stage->changes.count && code == CLI_YES; ++i) {
    code = prepare_move(stage, i);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Moving

static cli_exit move(cli_stage* stage, size_t index) {
  change* item = &((change*)stage->changes.items)[index];
  struct stat info;
  if (!set_paths(stage, index)) {
    return cli_fail_memory();
  }
  bool is_there = lstat(stage->to.data, &info) == 0 && !S_ISDIR(info.st_mode);
  item->is_aside = is_there && rename(stage->to.data, stage->aside.data) == 0;
  item->is_moved =
      item->is_new && item->is_aside == is_there && rename(stage->from.data, stage->to.data) == 0;
  return item->is_moved == item->is_new ? CLI_YES : fail_write(stage, errno);
}

// Takes the first |count| changes back. Their paths were set before: memory is not short of them.
// What cannot be moved back stays in the inner folder.
static void undo(cli_stage* stage, size_t count) {
  change* items = stage->changes.items;
  for (size_t i = count; i-- > 0 && set_paths(stage, i);) {
    items[i].is_moved = items[i].is_moved && rename(stage->to.data, stage->from.data) != 0;
    items[i].is_aside = items[i].is_aside && rename(stage->aside.data, stage->to.data) != 0;
  }
}

cli_exit cli_stage_move(cli_stage* stage) {
  size_t count = 0;
  cli_exit code = CLI_YES;
  while (count < stage->changes.count && code == CLI_YES) {
    code = move(stage, count++);
  }
  stage->is_done = code == CLI_YES;
  if (!stage->is_done) {
    undo(stage, count);
  }
  return code;
}

// ---------------------------------------------------------------------------------------------
// Closing

void cli_stage_close(cli_stage* stage) {
  change* items = stage->changes.items;
  for (size_t i = 0; i < stage->changes.count; ++i) {
    if (set_paths(stage, i)) {
      const change* item = &items[i];
      if (item->is_new) {
        (void)unlink(stage->from.data);
      }
      if (stage->is_done && item->is_aside) {
        (void)unlink(stage->aside.data);
      }
      if (stage->is_done && !item->is_new) {
        remove_folders(&stage->to, item->file);
      }
    }
    free(items[i].file);
  }
  char** made = stage->made.items;
  for (size_t i = stage->made.count; i-- > 0;) {
    (void)rmdir(made[i]);  // nothing, where files are in it
    free(made[i]);
  }
  cli_list_free(&stage->changes, sizeof(change));
  cli_list_free(&stage->made, sizeof(char*));
  stow_string_free(&stage->inner);
  stow_string_free(&stage->from);
  stow_string_free(&stage->to);
  stow_string_free(&stage->aside);
  (void)sigprocmask(SIG_SETMASK, &stage->held, NULL);
}
