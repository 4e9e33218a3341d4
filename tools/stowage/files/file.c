// Reading files, pipes and devices. A pipe may never end, and a device such as /dev/zero never
// does: whoever reads one says how much of it is needed.
#include "files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

bool cli_is_stdin(const char* path) { return strcmp(path, "-") == 0; }

bool cli_is_folder(const char* path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

bool cli_ends_with(const char* path, const char* ending) {
  size_t size = strlen(path);
  size_t length = strlen(ending);
  return size >= length && strcmp(path + size - length, ending) == 0;
}

const char* cli_base_name(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == NULL ? path : slash + 1;
}

const char* cli_file_label(const char* path) { return cli_is_stdin(path) ? "<stdin>" : path; }

bool cli_same_file(const char* input, const char* output) {
  struct stat a;
  struct stat b;
  if (cli_is_stdin(output) || stat(output, &b) != 0 || !S_ISREG(b.st_mode)) {
    return false;
  }
  int failed = cli_is_stdin(input) ? fstat(STDIN_FILENO, &a) : stat(input, &a);
  return failed == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool cli_reads_once(const char* path) {
  struct stat info;
  return cli_is_stdin(path) ||
         (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode));
}

static cli_exit fail_read(const char* path, int error) {
  return cli_fail(CLI_BROKEN, "cannot read '%s': %s", cli_file_label(path), strerror(error));
}

static void end_descriptor(cli_file* file) {
  if (file->descriptor > STDIN_FILENO) {
    close(file->descriptor);
  }
  file->descriptor = -1;
}

cli_exit cli_file_open(cli_file* file, const char* path) {
  *file = (cli_file){.path = path, .data = "", .descriptor = -1};
  stow_string_init(&file->bytes, stow_allocator_default());
  if (cli_is_stdin(path)) {
    file->descriptor = STDIN_FILENO;
    return CLI_YES;
  }
  file->descriptor = open(path, O_RDONLY | O_CLOEXEC);
  if (file->descriptor < 0) {
    return cli_fail(CLI_BROKEN, "cannot open '%s': %s", path, strerror(errno));
  }
  struct stat info;
  if (fstat(file->descriptor, &info) != 0) {
    return fail_read(path, errno);
  }
  if (S_ISDIR(info.st_mode)) {
    return fail_read(path, EISDIR);
  }
  return CLI_YES;
}

// Files of the system (/proc) are regular and have no size: they are read.
void cli_file_map(cli_file* file) {
  struct stat info;
  if (file->descriptor <= STDIN_FILENO || file->size > 0 || fstat(file->descriptor, &info) != 0 ||
      !S_ISREG(info.st_mode) || info.st_size <= 0 || (uintmax_t)info.st_size > SIZE_MAX / 2) {
    return;
  }
  size_t size = (size_t)info.st_size;
  void* bytes = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file->descriptor, 0);
  if (bytes != MAP_FAILED) {
    file->data = bytes;
    file->size = size;
    file->is_mapped = true;
    end_descriptor(file);
  }
}

static cli_exit fail_limit(const cli_file* file) {
  return cli_fail(
      CLI_BAD_INPUT,
      "%s: larger than %zu MiB, the limit for pipes and devices; save it to a file first",
      cli_file_label(file->path), CLI_PIPE_LIMIT >> 20);
}

cli_exit cli_file_need(cli_file* file, size_t size) {
  char block[1 << 16];
  if (file->descriptor >= 0 && size > CLI_PIPE_LIMIT + 1) {
    return fail_limit(file);
  }
  while (file->descriptor >= 0 && file->size < size) {
    size_t missing = size - file->size;
    ssize_t count = read(file->descriptor, block, missing < sizeof block ? missing : sizeof block);
    if (count < 0 && errno != EINTR) {
      return fail_read(file->path, errno);
    }
    if (count > 0 && stow_string_append(&file->bytes, block, (size_t)count) != STOW_OK) {
      return cli_fail_memory();
    }
    if (count == 0) {
      end_descriptor(file);
    }
    if (file->bytes.data != NULL) {
      file->data = file->bytes.data;
      file->size = file->bytes.size;
    }
  }
  return CLI_YES;
}

// Whether it has no end: a device that gives bytes, and is no terminal.
static bool is_endless(const cli_file* file) {
  struct stat info;
  return file->descriptor >= 0 && file->size > 0 && fstat(file->descriptor, &info) == 0 &&
         S_ISCHR(info.st_mode) && isatty(file->descriptor) == 0;
}

cli_exit cli_file_need_all(cli_file* file) {
  CLI_TRY(cli_file_need(file, 1));
  if (is_endless(file)) {
    return cli_fail(CLI_BAD_INPUT, "%s: a device, not a file or a pipe",
                    cli_file_label(file->path));
  }
  cli_exit code = cli_file_need(file, CLI_PIPE_LIMIT + 1);
  return code == CLI_YES && !file->is_mapped && file->size > CLI_PIPE_LIMIT ? fail_limit(file)
                                                                            : code;
}

bool cli_is_utf16(const char* data, size_t size) {
  return size >= 2 && (memcmp(data, "\xFF\xFE", 2) == 0 || memcmp(data, "\xFE\xFF", 2) == 0);
}

static cli_exit fail_nul(const cli_file* file, size_t at) {
  const char* label = cli_file_label(file->path);
  return cli_is_utf16(file->data, file->size)
             ? cli_fail(CLI_BAD_INPUT,
                        "%s:1: begins with a byte order mark of UTF-16; save it as "
                        "UTF-8",
                        label)
             : cli_fail(CLI_BAD_INPUT, "%s: not a text: byte %zu is NUL", label, at);
}

// Reads in growing parts: what is no text is known before all of it has come.
cli_exit cli_file_need_text(cli_file* file) {
  const char* label = cli_file_label(file->path);
  size_t checked = 0;
  size_t part = 1 << 16;
  do {
    CLI_TRY(cli_file_need(file, part));
    if (file->size > CLI_TEXT_LIMIT) {
      return cli_fail(CLI_BAD_INPUT, "%s: more than %zu MiB, the maximum for a text", label,
                      CLI_TEXT_LIMIT >> 20);
    }
    const char* nul = memchr(file->data + checked, '\0', file->size - checked);
    if (nul != NULL) {
      return fail_nul(file, (size_t)(nul - file->data));
    }
    checked = file->size;
    part = part < CLI_TEXT_LIMIT ? 2 * part : CLI_TEXT_LIMIT + 1;
  } while (file->descriptor >= 0);
  return CLI_YES;
}

void cli_file_take(cli_file* file, stow_string* out) {
  *out = file->bytes;
  stow_string_init(&file->bytes, stow_allocator_default());
  file->data = "";
  file->size = 0;
}

void cli_file_close(cli_file* file) {
  end_descriptor(file);
  if (file->is_mapped) {
    munmap((void*)(uintptr_t)file->data, file->size);
  }
  stow_string_free(&file->bytes);
  file->is_mapped = false;
}

cli_exit cli_text_read(const char* path, stow_string* out) {
  cli_file file;
  cli_exit code = cli_file_open(&file, path);
  code = code == CLI_YES ? cli_file_need_text(&file) : code;
  if (code == CLI_YES) {
    cli_file_take(&file, out);
  }
  cli_file_close(&file);
  return code;
}

bool cli_is_csv(const char* text) {
  size_t size = strcspn(text, "\r\n");
  const char* found = strstr(text, "size");
  return memchr(text, ',', size) != NULL && memchr(text, '{', size) == NULL && text[0] != '#' &&
         found != NULL && found < text + size;
}
