// Files of arrays: first what there is, from headers alone, then the elements of those that are
// asked for, once, to where the caller has room for them. No file is opened here: fuzzers bring the
// bytes.
#include <stowage/npy.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "npy/header.h"
#include "npy/zip.h"

typedef struct array {
  stow_str name;
  stowi_npy_header header;
} array;

struct stow_npy {
  const void* bytes;  // borrowed
  stow_allocator allocator;
  STOWI_VEC(array) arrays;
  stowi_npy_zip_entries entries;  // of an archive, one for each array; else none
};

// ---------------------------------------------------------------------------------------------
// What there is

static stow_status add(stow_npy* file, stow_str name, const stowi_npy_header* header,
                       stow_diag* diag) {
  STOW_TRY(
      stowi_need_memory(STOWI_VEC_RESERVE(file->allocator, &file->arrays, 1) == STOW_OK, diag));
  file->arrays.data[file->arrays.count++] = (array){name, *header};
  return STOW_OK;
}

static stow_status list_single(stow_npy* file, size_t size, stow_diag* diag) {
  stowi_npy_header header;
  return stowi_npy_parse(file->bytes, size, diag, &header) &&
                 stowi_npy_check_size(&header, size, diag)
             ? add(file, (stow_str){"", 0}, &header, diag)
             : STOW_ERR_SYNTAX;
}

// Puts the entry's name before what went wrong in it.
static stow_status fail_entry(const stowi_npy_zip_entry* entry, const stow_diag* inner,
                              stow_diag* diag) {
  int size = (int)(entry->name.size < 80 ? entry->name.size : 80);
  return stowi_fail(diag, inner->status, "entry '%.*s': %.400s", size, entry->name.data,
                    inner->message);
}

// Unpacks the header, which |out| has room for, and no more.
static stow_status unpack_header(stowi_npy_zip_reader* reader, char out[STOWI_NPY_MOST_HEADER],
                                 stowi_npy_header* header) {
  size_t start = 0;
  size_t end = 0;
  if (reader->entry->size >= STOWI_NPY_START_SIZE) {
    STOW_TRY(stowi_npy_zip_read(reader, out, STOWI_NPY_START_SIZE));
    start = STOWI_NPY_START_SIZE;
  }
  if (!stowi_npy_find_start(out, start, reader->diag, &end)) {
    return STOW_ERR_SYNTAX;
  }
  if (end > start && end <= reader->entry->size) {
    STOW_TRY(stowi_npy_zip_read(reader, out + start, end - start));
    start = end;
  }
  return stowi_npy_parse(out, start, reader->diag, header) &&
                 stowi_npy_check_size(header, reader->entry->size, reader->diag)
             ? STOW_OK
             : STOW_ERR_SYNTAX;
}

static stow_status list_entry(stow_npy* file, const stowi_npy_zip_entry* entry, stow_diag* diag) {
  char bytes[STOWI_NPY_MOST_HEADER];
  stowi_npy_header header;
  stowi_npy_zip_reader reader;
  stow_diag inner;
  stow_diag_init(&inner);
  stow_status status = stowi_npy_zip_begin(&reader, file->bytes, entry, file->allocator, &inner);
  status = status == STOW_OK ? unpack_header(&reader, bytes, &header) : status;
  stowi_npy_zip_close(&reader);
  if (status != STOW_OK) {
    return fail_entry(entry, &inner, diag);
  }
  stow_str name = entry->name;
  bool is_npy = name.size >= 4 && memcmp(name.data + name.size - 4, ".npy", 4) == 0;
  name.size -= is_npy ? 4 : 0;
  return add(file, name, &header, diag);
}

static stow_status list_archive(stow_npy* file, size_t size, stow_diag* diag) {
  STOW_TRY(stowi_npy_zip_open(file->bytes, size, file->allocator, diag, &file->entries));
  for (size_t i = 0; i < file->entries.count; ++i) {
    STOW_TRY(list_entry(file, &file->entries.data[i], diag));
  }
  return STOW_OK;
}

stow_status stow_npy_open(stow_npy_format format, const void* bytes, size_t size,
                          stow_allocator allocator, stow_diag* diag, stow_npy** out_file) {
  *out_file = NULL;
  stow_npy* file = STOWI_NEW(allocator, stow_npy);
  STOW_TRY(stowi_need_memory(file != NULL, diag));
  file->bytes = bytes;
  file->allocator = allocator;
  stow_status status = format == STOW_NPY_SINGLE    ? list_single(file, size, diag)
                       : format == STOW_NPY_ARCHIVE ? list_archive(file, size, diag)
                                                    : stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                                                                 "unknown format %d", (int)format);
  if (status != STOW_OK) {
    stow_npy_close(file);
    return status;
  }
  *out_file = file;
  return STOW_OK;
}

void stow_npy_close(stow_npy* file) {
  if (file != NULL) {
    stow_allocator allocator = file->allocator;
    STOWI_VEC_FREE(allocator, &file->arrays);
    STOWI_VEC_FREE(allocator, &file->entries);
    STOWI_DELETE(allocator, file);
  }
}

size_t stow_npy_count(const stow_npy* file) { return file->arrays.count; }

stow_status stow_npy_describe(const stow_npy* file, size_t index, stow_npy_array* out_array) {
  if (index >= file->arrays.count) {
    return STOW_ERR_NOT_FOUND;
  }
  const array* a = &file->arrays.data[index];
  stow_npy_array full = {.name = a->name, .type = a->header.type, .size = a->header.size};
  return stowi_fill_struct(out_array, &full, sizeof full, "stow_npy_array", NULL);
}

uint64_t stow_npy_needed(const void* bytes, size_t size) {
  size_t start;
  stowi_npy_header header;
  if (size < STOWI_NPY_START_SIZE) {
    return STOWI_NPY_START_SIZE;
  }
  if (!stowi_npy_find_start(bytes, size, NULL, &start)) {
    return 0;
  }
  if (start > size) {
    return start;
  }
  return !stowi_npy_parse(bytes, size, NULL, &header) ? 0
         : header.size > UINT64_MAX - header.start    ? UINT64_MAX
                                                      : header.start + header.size;
}

// ---------------------------------------------------------------------------------------------
// Elements

// Unpacks the elements to |to|, behind a header that was read before.
static stow_status unpack(stowi_npy_zip_reader* reader, const stowi_npy_header* header, void* to) {
  char bytes[STOWI_NPY_MOST_HEADER];
  STOW_TRY(stowi_npy_zip_read(reader, bytes, header->start));
  STOW_TRY(stowi_npy_zip_read(reader, to, (size_t)header->size));
  return stowi_npy_zip_end(reader);
}

// Elements in another order than memory's are unpacked beside it.
static stow_status load_entry(const stow_npy* file, size_t index, void* to, stow_diag* diag) {
  const stowi_npy_header* header = &file->arrays.data[index].header;
  size_t size = (size_t)header->size;
  bool is_plain = stowi_npy_is_plain(header);
  stowi_npy_zip_reader reader;
  char* beside = is_plain ? NULL : STOWI_ARRAY(file->allocator, char, size);
  if (beside == NULL && !is_plain) {
    return stowi_fail_memory(diag);
  }
  stow_status status =
      stowi_npy_zip_begin(&reader, file->bytes, &file->entries.data[index], file->allocator, diag);
  status = status == STOW_OK ? unpack(&reader, header, is_plain ? to : beside) : status;
  stowi_npy_zip_close(&reader);
  if (status == STOW_OK && !is_plain) {
    stowi_npy_copy(header, beside, to);
  }
  STOWI_ARRAY_FREE(file->allocator, beside, size);
  return status;
}

stow_status stow_npy_load(const stow_npy* file, size_t index, void* to, stow_diag* diag) {
  const stowi_npy_header* header = &file->arrays.data[index].header;
  if (file->entries.count == 0) {
    stowi_npy_copy(header, (const char*)file->bytes + header->start, to);
    return STOW_OK;
  }
  stow_diag inner;
  stow_diag_init(&inner);
  return load_entry(file, index, to, &inner) == STOW_OK
             ? STOW_OK
             : fail_entry(&file->entries.data[index], &inner, diag);
}

// ---------------------------------------------------------------------------------------------
// Writing

static stow_status find_parts(const stow_tensor* tensor, char header[STOWI_NPY_HEADER_SIZE],
                              stow_str parts[2], stow_diag* diag) {
  uint64_t size = 0;
  size_t header_size = 0;
  stow_type type = stow_type_make(tensor->dtype, tensor->rank, tensor->dims);
  if (!stowi_npy_format_header(tensor, header, &header_size) ||
      stow_type_bytes(&type, &size) != STOW_OK || size > SIZE_MAX) {
    return stowi_fail(diag, STOW_ERR_UNSUPPORTED, ".npy files have no type for %s",
                      stow_dtype_name(tensor->dtype));
  }
  parts[0] = (stow_str){header, header_size};
  parts[1] = (stow_str){tensor->data, (size_t)size};
  return STOW_OK;
}

stow_status stow_npy_write(const stow_tensor* tensor, stow_writer writer, stow_diag* diag) {
  char header[STOWI_NPY_HEADER_SIZE];
  stow_str parts[2];
  STOW_TRY(find_parts(tensor, header, parts, diag));
  stow_status status = stowi_put_str(writer, parts[0]);
  status = status == STOW_OK ? stowi_put_str(writer, parts[1]) : status;
  return status == STOW_OK ? STOW_OK : stowi_fail(diag, status, "%s", stow_status_text(status));
}

typedef struct written {
  char header[STOWI_NPY_HEADER_SIZE];
} written;

stow_status stow_npz_write(const stow_tensor* const* tensors, const stow_str* names, size_t count,
                           stow_allocator allocator, stow_writer writer, stow_diag* diag) {
  stowi_npy_zip_file* files = STOWI_ARRAY_ZERO(allocator, stowi_npy_zip_file, count);
  written* headers = STOWI_ARRAY(allocator, written, count);
  stow_status status = files == NULL || headers == NULL ? stowi_fail_memory(diag) : STOW_OK;
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    files[i].name = names[i];
    files[i].ending = ".npy";
    status = find_parts(tensors[i], headers[i].header, files[i].parts, diag);
  }
  if (status == STOW_OK) {
    status = stowi_npy_zip_write(files, count, writer);
    status = status == STOW_OK ? STOW_OK
                               : stowi_fail(diag, status, "%s",
                                            status == STOW_ERR_LIMIT ? "a .npz holds at most 4 GiB"
                                                                     : stow_status_text(status));
  }
  STOWI_ARRAY_FREE(allocator, files, count);
  STOWI_ARRAY_FREE(allocator, headers, count);
  return status;
}
