// Tensors from and to files. Regular files are mapped, so that one costs no more than what is taken
// of it; pipes are as good, up to a limit.
#include "tensors/tensor_file.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "files/output.h"
#include "files/stage.h"
#include "terminal/text.h"

cli_tensor_format cli_tensor_format_of(const char* path) {
  return cli_ends_with(path, ".npy")   ? CLI_TENSOR_NPY
         : cli_ends_with(path, ".npz") ? CLI_TENSOR_NPZ
         : cli_ends_with(path, ".pb")  ? CLI_TENSOR_PB
                                       : CLI_TENSOR_RAW;
}

// ---------------------------------------------------------------------------------------------
// Reading

// Of a pipe with a `.npy` comes what its header says, and one byte that should not be there.
static cli_exit need_npy(cli_file* file) {
  uint64_t needed = stow_npy_needed(file->data, file->size);
  for (size_t before = SIZE_MAX; needed > file->size && file->size != before;) {
    before = file->size;
    CLI_TRY(needed < CLI_PIPE_LIMIT ? cli_file_need(file, (size_t)needed)
                                    : cli_file_need_all(file));
    needed = stow_npy_needed(file->data, file->size);
  }
  // what is wrong is told when it is listed
  return needed == 0 ? CLI_YES : cli_file_need(file, file->size + 1);
}

static cli_exit fail_tensors(const char* path, stow_status status, const stow_diag* diag) {
  return cli_fail(cli_exit_of(status), "%s: %s", path, cli_diag_text(status, diag));
}

// Takes back what name_members did to the names of an archive.
static void decode_names(cli_stored_list* list) {
  cli_stored* stored = list->stored.items;
  bool encoded = false;
  for (size_t i = 0; i < list->stored.count; ++i) {
    encoded = encoded || cli_is_file_name((stow_str){stored[i].name.data, stored[i].name.size});
  }
  for (size_t i = 0; i < list->stored.count && encoded; ++i) {
    stored[i].name.size = cli_name_of_file(stored[i].name.data, stored[i].name.size);
  }
}

cli_exit cli_tensor_file_open(cli_tensor_file* file, const char* path) {
  file->tensors = (cli_stored_list){0};
  cli_tensor_format format = cli_tensor_format_of(path);
  CLI_TRY(cli_file_open(&file->file, path));
  cli_file_map(&file->file);
  CLI_TRY(format == CLI_TENSOR_NPY ? need_npy(&file->file) : cli_file_need_all(&file->file));
  stow_diag diag = cli_diag();
  stow_status status =
      cli_stored_open(format, file->file.data, file->file.size, &file->tensors, &diag);
  if (format == CLI_TENSOR_NPZ) {
    decode_names(&file->tensors);
  }
  return status == STOW_OK ? CLI_YES : fail_tensors(path, status, &diag);
}

void cli_tensor_file_close(cli_tensor_file* file) {
  cli_stored_free(&file->tensors);
  cli_file_close(&file->file);
}

cli_exit cli_tensor_file_load(const char* path, const cli_stored* stored, cli_list* arrays) {
  cli_array array;
  stow_diag diag = cli_diag();
  stow_status status = cli_stored_load(stored, &array, &diag);
  if (status != STOW_OK) {
    return fail_tensors(path, status, &diag);
  }
  return cli_arrays_add(arrays, &array) ? CLI_YES : cli_fail_memory();
}

cli_exit cli_arrays_read(const char* path, cli_list* arrays) {
  cli_tensor_file file;
  cli_exit code = cli_tensor_file_open(&file, path);
  for (size_t i = 0; i < file.tensors.stored.count && code == CLI_YES; ++i) {
    code = cli_tensor_file_load(path, (const cli_stored*)file.tensors.stored.items + i, arrays);
  }
  cli_tensor_file_close(&file);
  return code;
}

static cli_exit fail_raw(const cli_file* file, stow_str name, const stow_type* type,
                         uint64_t needed) {
  char text[CLI_TYPE_TEXT_SIZE];
  cli_format_type(type, NULL, text);
  bool has_more = file->descriptor >= 0;  // a pipe is not read to its end
  return cli_fail(CLI_BAD_INPUT, "%s: %s '%.*s' needs %llu bytes, but the file has %s%zu",
                  cli_file_label(file->path), text, (int)name.size, name.data,
                  (unsigned long long)needed, has_more ? "at least " : "", file->size);
}

cli_exit cli_array_read_raw(const char* path, stow_str name, const stow_type* type,
                            cli_array* out_array) {
  cli_file file;
  uint64_t needed = 0;
  *out_array = (cli_array){0};
  cli_exit code = cli_file_open(&file, path);
  cli_file_map(&file);
  if (code == CLI_YES && (stow_type_bytes(type, &needed) != STOW_OK || needed >= SIZE_MAX)) {
    code = cli_fail_memory();
  }
  code = code == CLI_YES ? cli_file_need(&file, (size_t)needed + 1) : code;
  if (code == CLI_YES && needed != file.size) {
    code = fail_raw(&file, name, type, needed);
  }
  if (code == CLI_YES && !cli_array_create(out_array, name, type)) {
    code = cli_fail_memory();
  }
  if (code == CLI_YES && file.size > 0) {
    memcpy(out_array->tensor.data, file.data, file.size);
  }
  cli_file_close(&file);
  return code;
}

static int compare_names(const void* a, const void* b) {
  return strcmp(*(char* const*)a, *(char* const*)b);
}

static cli_exit read_folder(const char* path, cli_list* names) {
  DIR* folder = opendir(path);
  if (folder == NULL) {
    return cli_fail(CLI_BROKEN, "cannot open '%s': %s", path, strerror(errno));
  }
  cli_exit code = CLI_YES;
  for (const struct dirent* entry; code == CLI_YES && (entry = readdir(folder)) != NULL;) {
    cli_tensor_format format = cli_tensor_format_of(entry->d_name);
    if (format != CLI_TENSOR_NPY && format != CLI_TENSOR_PB) {
      continue;
    }
    char* name = strdup(entry->d_name);
    if (name == NULL || !cli_list_add(names, &name, sizeof name)) {
      free(name);
      code = cli_fail_memory();
    }
  }
  closedir(folder);
  if (names->count > 0) {
    qsort(names->items, names->count, sizeof(char*), compare_names);
  }
  return code;
}

cli_exit cli_tensor_folder_list(const char* path, cli_list* names) {
  cli_exit code = read_folder(path, names);
  return code == CLI_YES && names->count == 0
             ? cli_fail(CLI_BAD_INPUT, "%s: contains no .npy or .pb file", path)
             : code;
}

// ---------------------------------------------------------------------------------------------
// Writing

static cli_exit fail_dtype(const char* path, const cli_array* array) {
  return cli_fail(CLI_BAD_INPUT,
                  "cannot write '%s': .npy files have no type for %s of '%s'; write raw bytes: "
                  "NAME=FILE with another extension",
                  path, stow_dtype_name(array->tensor.dtype),
                  array->name.size == 0 ? "" : array->name.data);
}

// Opens |path|, writes with |write| and puts the file in place.
static cli_exit write_file(const char* path,
                           cli_exit (*write)(cli_output* output, const char* path,
                                             const cli_array* arrays, size_t count),
                           const cli_array* arrays, size_t count) {
  cli_output output;
  cli_exit code = cli_output_open(&output, path);
  code = code == CLI_YES ? write(&output, path, arrays, count) : code;
  return cli_output_end(&output, code);
}

// What goes wrong with the file is remembered by the output.
static cli_exit write_one(cli_output* output, const char* path, const cli_array* arrays,
                          size_t count) {
  (void)count;
  stow_writer writer = cli_output_writer(output);
  if (cli_tensor_format_of(path) != CLI_TENSOR_NPY) {
    (void)writer.write(writer.user, arrays->tensor.data, arrays->size);
    return CLI_YES;
  }
  return stow_npy_write(&arrays->tensor, writer, NULL) == STOW_ERR_UNSUPPORTED
             ? fail_dtype(path, arrays)
             : CLI_YES;
}

static stow_str name_of(const cli_array* array) {
  return (stow_str){array->name.data, array->name.size};
}

// Names of an archive's members, into |texts| where they are not the arrays'. Programs list them:
// where one has control characters, all are written as those of files, so that they stay distinct;
// so they are where one could be taken for such a name when it is read.
static bool name_members(const cli_array* arrays, size_t count, cli_list* texts, cli_list* names) {
  bool encode = false;
  for (size_t i = 0; i < count; ++i) {
    encode = encode || cli_needs_file_name(name_of(&arrays[i]));
  }
  bool listed = true;
  for (size_t i = 0; i < count && listed; ++i) {
    stow_str name = name_of(&arrays[i]);
    if (encode) {
      stow_string text = cli_string();
      listed = cli_file_name_of(name, &text) && cli_list_add(texts, &text, sizeof text);
      name = (stow_str){text.data, text.size};
      if (!listed) {
        stow_string_free(&text);
      }
    }
    listed = listed && cli_list_add(names, &name, sizeof name);
  }
  return listed;
}

static cli_exit write_npz(cli_output* output, const char* path, const cli_array* arrays,
                          size_t count) {
  cli_list tensors = {0};
  cli_list texts = {0};
  cli_list names = {0};
  bool listed = name_members(arrays, count, &texts, &names);
  cli_exit code = CLI_YES;
  for (size_t i = 0; i < count && listed && code == CLI_YES; ++i) {
    const stow_tensor* tensor = &arrays[i].tensor;
    listed = cli_list_add(&tensors, &tensor, sizeof tensor);
    code = stow_npy_has_dtype(tensor->dtype) ? CLI_YES : fail_dtype(path, &arrays[i]);
  }
  if (code == CLI_YES) {
    stow_status status =
        listed ? stow_npz_write(tensors.items, names.items, count, stow_allocator_default(),
                                cli_output_writer(output), NULL)
               : STOW_ERR_OUT_OF_MEMORY;
    code = status == STOW_ERR_LIMIT
               ? cli_fail(CLI_BROKEN,
                          "cannot write '%s': a .npz holds at most 4 GiB; name a folder", path)
               : cli_output_reported(status, NULL);
  }
  cli_list_free(&tensors, sizeof(const stow_tensor*));
  cli_list_free(&names, sizeof(stow_str));
  for (size_t i = 0; i < texts.count; ++i) {
    stow_string_free((stow_string*)texts.items + i);
  }
  cli_list_free(&texts, sizeof(stow_string));
  return code;
}

cli_exit cli_array_write(const char* path, const cli_array* array) {
  cli_tensor_format format = cli_tensor_format_of(path);
  if (format == CLI_TENSOR_PB) {
    return cli_fail(CLI_USAGE, "cannot write '%s': outputs are written as .npy, .npz or raw bytes",
                    path);
  }
  return write_file(path, format == CLI_TENSOR_NPZ ? write_npz : write_one, array, 1);
}

// Of a file's name, ending included: what Linux allows.
#define FILE_NAME_MOST 255
#define NPY_END ".npy"

static cli_exit write_member(cli_stage* stage, const cli_array* array, size_t number) {
  stow_string file = cli_string();
  cli_output output;
  cli_output_init(&output);
  bool named = cli_file_name_of(name_of(array), &file) &&
               cli_cut_file_name(&file, FILE_NAME_MOST - strlen(NPY_END), number) &&
               stow_string_append(&file, NPY_END, strlen(NPY_END)) == STOW_OK;
  cli_exit code = named ? cli_stage_create(stage, file.data, &output) : cli_fail_memory();
  code = code == CLI_YES ? write_one(&output, file.data, array, 1) : code;
  code = cli_output_end(&output, code);
  stow_string_free(&file);
  return code;
}

static cli_exit write_folder(const char* path, const cli_array* arrays, size_t count) {
  cli_stage stage;
  cli_exit code = cli_stage_open(&stage, path);
  for (size_t i = 0; i < count && code == CLI_YES; ++i) {
    code = write_member(&stage, &arrays[i], i);
  }
  code = code == CLI_YES ? cli_stage_prepare(&stage) : code;
  code = code == CLI_YES ? cli_stage_move(&stage) : code;
  cli_stage_close(&stage);
  return code;
}

cli_exit cli_arrays_write(const char* path, const cli_array* arrays, size_t count) {
  return cli_tensor_format_of(path) == CLI_TENSOR_NPZ ? write_file(path, write_npz, arrays, count)
                                                      : write_folder(path, arrays, count);
}
