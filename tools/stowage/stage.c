// Staging. The inner folder lies in the one that is written to, so that moving is renaming: it
// needs no room on the disk, and no file is seen half-written. What could fail (writing, making
// folders) is done before the first file is moved.
#include "stage.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool join(stow_string* out, const char* folder, const char* file) {
  out->size = 0;
  size_t size = strlen(folder);
  bool has_slash = size > 0 && folder[size - 1] == '/';
  return stow_string_append(out, folder, size) == STOW_OK &&
         (has_slash || stow_string_append(out, "/", 1) == STOW_OK) &&
         stow_string_append(out, file, strlen(file)) == STOW_OK;
}

static cli_exit make_folder(const char* path, const char* label) {
  return mkdir(path, 0777) == 0 || errno == EEXIST
             ? CLI_YES
             : cli_fail(CLI_BROKEN, "cannot make the folder '%s': %s", label, strerror(errno));
}

// Makes the folders of |path| from byte |start| on; |label| is what they are called.
static cli_exit make_folders(stow_string* path, size_t start, const char* label) {
  cli_exit code = CLI_YES;
  for (char* slash = strchr(path->data + start, '/'); slash != NULL && code == CLI_YES;
       slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    code = make_folder(path->data, label);
    *slash = '/';
  }
  return code;
}

// Removes the folders that |path| is in, from byte |start| on, as far as they are empty.
static void remove_folders(stow_string* path, size_t start) {
  for (char* slash = strrchr(path->data, '/'); slash != NULL && slash > path->data + start;
       slash = strrchr(path->data, '/')) {
    *slash = '\0';
    if (rmdir(path->data) != 0) {
      break;
    }
  }
}

static void remove_below(const char* folder, const char* file, bool with_file) {
  stow_string path;
  stow_string_init(&path, stow_allocator_default());
  if (join(&path, folder, file)) {
    if (with_file) {
      (void)unlink(path.data);
    }
    remove_folders(&path, path.size - strlen(file));
  }
  stow_string_free(&path);
}

void cli_remove_below(const char* folder, const char* file) { remove_below(folder, file, true); }

// ---------------------------------------------------------------------------------------------
// Opening

static void hold_signals(cli_stage* stage) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGHUP);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  stage->is_holding = sigprocmask(SIG_BLOCK, &signals, &stage->held) == 0;
}

// Makes a folder that nobody else uses.
static cli_exit make_inner(cli_stage* stage) {
  for (unsigned attempt = 0; attempt < 1000; ++attempt) {
    char name[64];
    snprintf(name, sizeof name, ".stowage-%ld-%u.tmp", (long)getpid(), attempt);
    if (!join(&stage->inner, stage->path, name)) {
      stage->inner.size = 0;
      return cli_fail_memory();
    }
    if (mkdir(stage->inner.data, 0777) == 0) {
      return CLI_YES;
    }
    if (errno != EEXIST) {
      break;
    }
  }
  stage->inner.size = 0;
  return cli_fail(CLI_BROKEN, "cannot write to the folder '%s': %s", stage->path, strerror(errno));
}

cli_exit cli_stage_open(cli_stage* stage, const char* path) {
  *stage = (cli_stage){.path = path};
  stow_string_init(&stage->inner, stow_allocator_default());
  stow_string_init(&stage->from, stow_allocator_default());
  stow_string_init(&stage->to, stow_allocator_default());
  hold_signals(stage);
  stage->is_made = mkdir(path, 0777) == 0;
  if (!stage->is_made && errno != EEXIST) {
    return cli_fail(CLI_BROKEN, "cannot make the folder '%s': %s", path, strerror(errno));
  }
  return make_inner(stage);
}

// ---------------------------------------------------------------------------------------------
// Writing

cli_exit cli_stage_create(cli_stage* stage, const char* file, cli_output* output) {
  cli_output_init(output);
  if (!join(&stage->from, stage->inner.data, file) || !join(&stage->to, stage->path, file)) {
    return cli_fail_memory();
  }
  struct stat info;
  if (lstat(stage->from.data, &info) == 0) {  // two names that the file system takes for one
    return cli_fail(CLI_BROKEN, "cannot write '%s': another file has that name", stage->to.data);
  }
  cli_exit code = make_folders(&stage->from, stage->inner.size + 1, stage->to.data);
  char* copy = code == CLI_YES ? strdup(file) : NULL;
  if (code == CLI_YES && (copy == NULL || !cli_list_add(&stage->files, &copy, sizeof copy))) {
    free(copy);
    code = cli_fail_memory();
  }
  return code == CLI_YES ? cli_output_open_as(output, stage->from.data, stage->to.data) : code;
}

static cli_exit prepare_move(cli_stage* stage, const char* file) {
  struct stat info;
  if (!join(&stage->from, stage->inner.data, file) || !join(&stage->to, stage->path, file)) {
    return cli_fail_memory();
  }
  if (lstat(stage->to.data, &info) == 0 && S_ISDIR(info.st_mode)) {
    return cli_fail(CLI_BROKEN, "cannot write '%s': %s", stage->to.data, strerror(EISDIR));
  }
  if (stat(stage->from.data, &info) == 0) {
    ++stage->written;
    stage->bytes += (uint64_t)info.st_size;
  }
  return make_folders(&stage->to, stage->to.size - strlen(file), stage->to.data);
}

static cli_exit move(cli_stage* stage, const char* file) {
  if (!join(&stage->from, stage->inner.data, file) || !join(&stage->to, stage->path, file)) {
    return cli_fail_memory();
  }
  return rename(stage->from.data, stage->to.data) == 0
             ? CLI_YES
             : cli_fail(CLI_BROKEN, "cannot write '%s': %s", stage->to.data, strerror(errno));
}

cli_exit cli_stage_prepare(cli_stage* stage) {
  char* const* files = stage->files.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < stage->files.count && code == CLI_YES; ++i) {
    code = prepare_move(stage, files[i]);
  }
  return code;
}

cli_exit cli_stage_move(cli_stage* stage) {
  char* const* files = stage->files.items;
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < stage->files.count && code == CLI_YES; ++i) {
    code = move(stage, files[i]);
  }
  stage->is_made = stage->is_made && code != CLI_YES;
  return code;
}

void cli_stage_close(cli_stage* stage) {
  char** files = stage->files.items;
  for (size_t i = 0; i < stage->files.count; ++i) {
    if (stage->inner.size > 0) {
      remove_below(stage->inner.data, files[i], true);
      remove_below(stage->path, files[i], false);
    }
    free(files[i]);
  }
  if (stage->inner.size > 0) {
    (void)rmdir(stage->inner.data);
  }
  if (stage->is_made) {
    (void)rmdir(stage->path);  // nothing, where files are in it
  }
  cli_list_free(&stage->files, sizeof(char*));
  stow_string_free(&stage->inner);
  stow_string_free(&stage->from);
  stow_string_free(&stage->to);
  if (stage->is_holding) {
    (void)sigprocmask(SIG_SETMASK, &stage->held, NULL);
  }
}
