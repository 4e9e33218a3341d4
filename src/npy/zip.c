// Reading zip archives. The directory at the end is the truth; of an entry's own header only the
// lengths that stand before its bytes are needed. Sizes are bounded before anything is allocated:
// all entries together have no more packed bytes than the archive, so that none is unpacked twice,
// and deflate makes at most 1032 bytes of one. That is much, so entries are unpacked by parts, to
// where the caller has room for them. Needs zlib. O(bytes unpacked).
#include "npy/zip.h"

#include <stdarg.h>
#include <string.h>

#include "base/diag.h"
#include "base/text.h"
#include "npy/header.h"

#define END_SIZE 22
#define END64_SIZE 56
#define LOCATOR_SIZE 20
#define DIRECTORY_SIZE 46
#define LOCAL_SIZE 30
#define MAX_COMMENT 65535
#define DEFLATE_RATIO 1032

typedef struct archive {
  const unsigned char* bytes;
  size_t size;
  stow_diag* diag;
} archive;

STOW_PRINTF_LIKE(3, 4) static bool fail(const archive* a, size_t at, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  stowi_npy_fail(a->diag, at, format, arguments);
  va_end(arguments);
  return false;
}

static uint32_t u16(const unsigned char* b) { return (uint32_t)b[0] | (uint32_t)b[1] << 8; }
static uint32_t u32(const unsigned char* b) { return u16(b) | u16(b + 2) << 16; }
static uint64_t u64(const unsigned char* b) { return u32(b) | (uint64_t)u32(b + 4) << 32; }

static bool is_at(const archive* a, uint64_t at, size_t size, const char* signature) {
  return at <= a->size && a->size - at >= size && memcmp(a->bytes + at, signature, 4) == 0;
}

// ---------------------------------------------------------------------------------------------
// The directory

typedef struct directory {
  uint64_t at;
  uint64_t size;
  uint64_t count;
} directory;

// What is too large for the old record stands in the new one.
static bool read_end64(const archive* a, size_t end, directory* d) {
  if (end < LOCATOR_SIZE || !is_at(a, end - LOCATOR_SIZE, LOCATOR_SIZE, "PK\x06\x07")) {
    return fail(a, end, "a Zip64 archive without an end record");
  }
  uint64_t at = u64(a->bytes + end - LOCATOR_SIZE + 8);
  if (!is_at(a, at, END64_SIZE, "PK\x06\x06")) {
    return fail(a, end - LOCATOR_SIZE, "no Zip64 record at byte %llu", (unsigned long long)at);
  }
  const unsigned char* b = a->bytes + at;
  *d = (directory){u64(b + 48), u64(b + 40), u64(b + 32)};
  return true;
}

static bool find_directory(const archive* a, directory* d) {
  size_t lowest = a->size > END_SIZE + MAX_COMMENT ? a->size - END_SIZE - MAX_COMMENT : 0;
  size_t end = a->size < END_SIZE ? 0 : a->size - END_SIZE;
  while (end > lowest && !is_at(a, end, END_SIZE, "PK\x05\x06")) {
    --end;
  }
  if (!is_at(a, end, END_SIZE, "PK\x05\x06")) {
    return fail(a, a->size, "not a .npz file: it does not end with a zip directory");
  }
  const unsigned char* b = a->bytes + end;
  *d = (directory){u32(b + 16), u32(b + 12), u16(b + 10)};
  bool is_64 = d->at == UINT32_MAX || d->size == UINT32_MAX || d->count == 0xFFFF;
  if (is_64 && !read_end64(a, end, d)) {
    return false;
  }
  return (d->at <= a->size && d->size <= a->size - d->at) ||
         fail(a, end, "the directory has %llu bytes at byte %llu, but the file has %zu",
              (unsigned long long)d->size, (unsigned long long)d->at, a->size);
}

typedef struct sizes {
  uint64_t size;
  uint64_t stored;
  uint64_t local;  // where the entry's own header is
} sizes;

// Numbers that are all ones in the record stand in its extra field of id 1, in this order.
static bool read_extra64(const unsigned char* extra, size_t size, sizes* s) {
  uint64_t* const numbers[] = {&s->size, &s->stored, &s->local};
  while (size >= 4) {
    size_t length = u16(extra + 2);
    if (length > size - 4) {
      return false;
    }
    size_t used = 0;
    for (size_t i = 0; u16(extra) == 1 && i < 3; ++i) {
      if (*numbers[i] == UINT32_MAX && used + 8 <= length) {
        *numbers[i] = u64(extra + 4 + used);
        used += 8;
      }
    }
    extra += 4 + length;
    size -= 4 + length;
  }
  return true;
}

// Finds the bytes of an entry behind its own header.
static bool find_bytes(const archive* a, size_t at, const sizes* s, stowi_npy_zip_entry* entry) {
  if (!is_at(a, s->local, LOCAL_SIZE, "PK\x03\x04")) {
    return fail(a, at, "no entry begins at byte %llu", (unsigned long long)s->local);
  }
  const unsigned char* b = a->bytes + s->local;
  uint64_t start = s->local + LOCAL_SIZE + u16(b + 26) + u16(b + 28);
  if (start > a->size || s->stored > a->size - start) {
    return fail(a, at, "an entry needs %llu bytes at byte %llu, but the file has %zu",
                (unsigned long long)s->stored, (unsigned long long)start, a->size);
  }
  entry->at = (size_t)start;
  entry->stored = (size_t)s->stored;
  uint64_t most =
      entry->is_deflated
          ? (s->stored > SIZE_MAX / DEFLATE_RATIO / 2 ? SIZE_MAX / 2 : s->stored * DEFLATE_RATIO)
          : s->stored;
  if (s->size > most || (!entry->is_deflated && s->size != s->stored)) {
    return fail(a, at, "an entry of %llu bytes cannot become one of %llu",
                (unsigned long long)s->stored, (unsigned long long)s->size);
  }
  entry->size = (size_t)s->size;
  return true;
}

// Reads one record of the directory at |*at|, which moves behind it.
static bool read_entry(const archive* a, size_t* at, size_t end, stowi_npy_zip_entry* entry) {
  if (end - *at < DIRECTORY_SIZE || !is_at(a, *at, DIRECTORY_SIZE, "PK\x01\x02")) {
    return fail(a, *at, "the directory is truncated or damaged");
  }
  const unsigned char* b = a->bytes + *at;
  size_t name = u16(b + 28), extra = u16(b + 30), comment = u16(b + 32);
  if (name + extra + comment > end - *at - DIRECTORY_SIZE) {
    return fail(a, *at, "an entry of the directory is truncated");
  }
  uint32_t method = u16(b + 10);
  if ((u16(b + 8) & 1) != 0 || (method != 0 && method != 8)) {
    return fail(a, *at,
                (u16(b + 8) & 1) != 0
                    ? "an entry is encrypted"
                    : "unsupported compression method %u; expected 0 (stored) or 8 (deflated)",
                (unsigned)method);
  }
  *entry = (stowi_npy_zip_entry){.name = {(const char*)b + DIRECTORY_SIZE, name},
                                 .is_deflated = method == 8,
                                 .crc = u32(b + 16)};
  sizes s = {u32(b + 24), u32(b + 20), u32(b + 42)};
  if (!read_extra64(b + DIRECTORY_SIZE + name, extra, &s)) {
    return fail(a, *at, "an extra field of an entry is truncated");
  }
  size_t record = *at;
  *at += DIRECTORY_SIZE + name + extra + comment;
  return find_bytes(a, record, &s, entry);
}

static stow_status read_entries(const archive* a, const directory* d, stow_allocator allocator,
                                stowi_npy_zip_entries* entries) {
  size_t at = (size_t)d->at, end = (size_t)(d->at + d->size), packed = 0;
  for (uint64_t i = 0; i < d->count; ++i) {
    stowi_npy_zip_entry entry;
    size_t record = at;
    if (!read_entry(a, &at, end, &entry)) {
      return STOW_ERR_SYNTAX;
    }
    if (entry.stored > a->size - packed) {
      fail(a, record, "entries overlap: together they have more bytes than the file");
      return STOW_ERR_SYNTAX;
    }
    packed += entry.stored;
    STOW_TRY(stowi_need_memory(STOWI_VEC_RESERVE(allocator, entries, 1) == STOW_OK, a->diag));
    entries->data[entries->count++] = entry;
  }
  return STOW_OK;
}

stow_status stowi_npy_zip_open(const void* bytes, size_t size, stow_allocator allocator,
                               stow_diag* diag, stowi_npy_zip_entries* out_entries) {
  *out_entries = (stowi_npy_zip_entries){0};
  archive a = {bytes, size, diag};
  directory d = {0};
  return find_directory(&a, &d) ? read_entries(&a, &d, allocator, out_entries) : STOW_ERR_SYNTAX;
}

// ---------------------------------------------------------------------------------------------
// Unpacking

// zlib counts in unsigned ints: larger blocks go in and out by parts.
static unsigned part_of(size_t size) { return size > (1u << 30) ? 1u << 30 : (unsigned)size; }

static uint32_t checksum(uint32_t crc, const void* data, size_t size) {
  const unsigned char* at = data;
  while (size > 0) {
    unsigned part = part_of(size);
    crc = (uint32_t)crc32(crc, at, part);
    at += part;
    size -= part;
  }
  return crc;
}

static stow_status fail_damaged(const stowi_npy_zip_reader* reader) {
  const stowi_npy_zip_entry* entry = reader->entry;
  archive a = {.diag = reader->diag};
  fail(&a, entry->at, "damaged compressed data: %zu bytes do not give %zu", entry->stored,
       entry->size);
  return STOW_ERR_SYNTAX;
}

// One step: whether anything came out is seen by what |avail_out| has become.
static int inflate_part(stowi_npy_zip_reader* reader, void* to, unsigned room) {
  z_stream* stream = &reader->stream;
  unsigned in_part = part_of(reader->entry->stored - reader->in);
  stream->next_in = (unsigned char*)(uintptr_t)(reader->from + reader->in);
  stream->avail_in = in_part;
  stream->next_out = to;
  stream->avail_out = room;
  int result = inflate(stream, Z_NO_FLUSH);
  reader->in += in_part - stream->avail_in;
  return result;
}

static stow_status inflate_to(stowi_npy_zip_reader* reader, unsigned char* to, size_t size) {
  const z_stream* stream = &reader->stream;
  while (size > 0) {
    unsigned room = part_of(size);
    int result = inflate_part(reader, to, room);
    unsigned count = room - stream->avail_out;
    if (result == Z_MEM_ERROR) {
      return stowi_fail_memory(reader->diag);
    }
    if (count == 0 || (result != Z_OK && (result != Z_STREAM_END || count < size))) {
      return fail_damaged(reader);
    }
    to += count;
    size -= count;
  }
  return STOW_OK;
}

// zlib does not say how large a block is that it frees: the size stands before it.
#define BLOCK_HEAD 16

static void* allocate(void* user, unsigned count, unsigned size) {
  const stowi_npy_zip_reader* reader = user;
  size_t bytes = BLOCK_HEAD + (size_t)count * size;
  char* block = stowi_alloc(reader->allocator, bytes, 1);
  if (block == NULL) {
    return NULL;
  }
  memcpy(block, &bytes, sizeof bytes);
  return block + BLOCK_HEAD;
}

static void release(void* user, void* address) {
  const stowi_npy_zip_reader* reader = user;
  char* block = (char*)address - BLOCK_HEAD;
  size_t bytes;
  memcpy(&bytes, block, sizeof bytes);
  stowi_free(reader->allocator, block, bytes, 1);
}

stow_status stowi_npy_zip_begin(stowi_npy_zip_reader* reader, const void* bytes,
                                const stowi_npy_zip_entry* entry, stow_allocator allocator,
                                stow_diag* diag) {
  *reader = (stowi_npy_zip_reader){.entry = entry,
                                   .from = (const unsigned char*)bytes + entry->at,
                                   .allocator = allocator,
                                   .diag = diag};
  reader->stream.zalloc = allocate;
  reader->stream.zfree = release;
  reader->stream.opaque = reader;
  return !entry->is_deflated || inflateInit2(&reader->stream, -MAX_WBITS) == Z_OK
             ? STOW_OK
             : stowi_fail_memory(diag);
}

stow_status stowi_npy_zip_read(stowi_npy_zip_reader* reader, void* to, size_t size) {
  if (size > reader->entry->size - reader->out) {
    return fail_damaged(reader);
  }
  if (reader->entry->is_deflated) {
    STOW_TRY(inflate_to(reader, to, size));
  } else if (size > 0) {
    memcpy(to, reader->from + reader->in, size);
    reader->in += size;
  }
  reader->out += size;
  reader->crc = checksum(reader->crc, to, size);
  return STOW_OK;
}

stow_status stowi_npy_zip_end(stowi_npy_zip_reader* reader) {
  const stowi_npy_zip_entry* entry = reader->entry;
  archive a = {.diag = reader->diag};
  if (entry->is_deflated) {
    const z_stream* stream = &reader->stream;
    unsigned char more;  // room for the stream to show that it does not end; one that did says so
    bool is_end = inflate_part(reader, &more, 1) == Z_STREAM_END && stream->avail_out == 1;
    if (!is_end || reader->in != entry->stored) {
      return fail_damaged(reader);
    }
  }
  if (reader->out != entry->size) {
    return fail_damaged(reader);
  }
  if (reader->crc != entry->crc) {
    fail(&a, entry->at, "damaged: the checksum is %08x, not %08x as the directory says",
         (unsigned)reader->crc, (unsigned)entry->crc);
    return STOW_ERR_SYNTAX;
  }
  return STOW_OK;
}

void stowi_npy_zip_close(stowi_npy_zip_reader* reader) {
  if (reader->stream.state != NULL) {
    inflateEnd(&reader->stream);
  }
}

// ---------------------------------------------------------------------------------------------
// Writing

static void put(unsigned char* to, size_t bytes, uint64_t number) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = (unsigned char)(number >> (8 * i));
  }
}

#define VERSION 20
#define FIRST_DATE 0x0021  // 1 January 1980

static uint64_t name_size(const stowi_npy_zip_file* file) {
  return (uint64_t)file->name.size + strlen(file->ending);
}

static uint64_t size_of(const stowi_npy_zip_file* file) {
  return (uint64_t)file->parts[0].size + file->parts[1].size;
}

// What an entry's own header and its record in the directory have in common, 26 bytes.
static void put_common(unsigned char* to, const stowi_npy_zip_file* file) {
  put(to, 2, VERSION);
  put(to + 2, 6, 0);  // flags, method, time
  put(to + 8, 2, FIRST_DATE);
  put(to + 10, 4, file->crc);
  put(to + 14, 4, size_of(file));
  put(to + 18, 4, size_of(file));
  put(to + 22, 4, name_size(file));  // and no extra field
}

static stow_status emit_name(const stowi_npy_zip_file* file, stow_writer writer) {
  STOW_TRY(stowi_put_str(writer, file->name));
  return stowi_put(writer, file->ending);
}

static stow_status emit_entry(const stowi_npy_zip_file* file, stow_writer writer) {
  unsigned char b[LOCAL_SIZE];
  memcpy(b, "PK\x03\x04", 4);
  put_common(b + 4, file);
  STOW_TRY(stowi_put_str(writer, (stow_str){(const char*)b, sizeof b}));
  STOW_TRY(emit_name(file, writer));
  STOW_TRY(stowi_put_str(writer, file->parts[0]));
  return stowi_put_str(writer, file->parts[1]);
}

static stow_status emit_record(const stowi_npy_zip_file* file, stow_writer writer) {
  unsigned char b[DIRECTORY_SIZE] = {0};
  memcpy(b, "PK\x01\x02", 4);
  put(b + 4, 2, VERSION);
  put_common(b + 6, file);
  put(b + 42, 4, file->at);
  STOW_TRY(stowi_put_str(writer, (stow_str){(const char*)b, sizeof b}));
  return emit_name(file, writer);
}

static stow_status emit_end(size_t count, uint64_t start, uint64_t size, stow_writer writer) {
  unsigned char b[END_SIZE] = {0};
  memcpy(b, "PK\x05\x06", 4);
  put(b + 8, 2, count);
  put(b + 10, 2, count);
  put(b + 12, 4, size);
  put(b + 16, 4, start);
  return stowi_put_str(writer, (stow_str){(const char*)b, sizeof b});
}

stow_status stowi_npy_zip_write(stowi_npy_zip_file* files, size_t count, stow_writer writer) {
  uint64_t written = 0;
  uint64_t directory_size = 0;
  for (size_t i = 0; i < count; ++i) {
    stowi_npy_zip_file* file = &files[i];
    file->at = (uint32_t)written;
    written += LOCAL_SIZE + name_size(file) + size_of(file);
    directory_size += DIRECTORY_SIZE + name_size(file);
    if (written + directory_size >= UINT32_MAX || name_size(file) >= 0xFFFF || count >= 0xFFFF) {
      return STOW_ERR_LIMIT;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    stowi_npy_zip_file* file = &files[i];
    file->crc = checksum(checksum(0, file->parts[0].data, file->parts[0].size), file->parts[1].data,
                         file->parts[1].size);
    STOW_TRY(emit_entry(file, writer));
  }
  for (size_t i = 0; i < count; ++i) {
    STOW_TRY(emit_record(&files[i], writer));
  }
  return emit_end(count, written, directory_size, writer);
}
