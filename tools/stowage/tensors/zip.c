// Reading zip archives. The directory at the end is the truth; of an entry's own header only the
// lengths that stand before its bytes are needed. Sizes are bounded before anything is allocated:
// all entries together have no more packed bytes than the archive, so that none is unpacked twice,
// and deflate makes at most 1032 bytes of one. That is much, so entries are unpacked by parts, to
// where the caller has room for them. Needs zlib. O(bytes unpacked).
#include "tensors/zip.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

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
  char* why;
} archive;

STOW_PRINTF_LIKE(3, 4) static bool fail(const archive* a, size_t at, const char* format, ...) {
  int used = snprintf(a->why, CLI_WHY_SIZE, "byte %zu: ", at);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(a->why + used, CLI_WHY_SIZE - (size_t)used, format, arguments);
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
static bool find_bytes(const archive* a, size_t at, const sizes* s, cli_zip_entry* entry) {
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
static bool read_entry(const archive* a, size_t* at, size_t end, cli_zip_entry* entry) {
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
  *entry = (cli_zip_entry){.name = {(const char*)b + DIRECTORY_SIZE, name},
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

static stow_status fail_memory(char why[CLI_WHY_SIZE]) {
  snprintf(why, CLI_WHY_SIZE, "out of memory");
  return STOW_ERR_OUT_OF_MEMORY;
}

static stow_status read_entries(const archive* a, const directory* d, cli_list* entries) {
  size_t at = (size_t)d->at, end = (size_t)(d->at + d->size), packed = 0;
  for (uint64_t i = 0; i < d->count; ++i) {
    cli_zip_entry entry;
    size_t record = at;
    if (!read_entry(a, &at, end, &entry)) {
      return STOW_ERR_SYNTAX;
    }
    if (entry.stored > a->size - packed) {
      fail(a, record, "entries overlap: together they have more bytes than the file");
      return STOW_ERR_SYNTAX;
    }
    packed += entry.stored;
    if (!cli_list_add(entries, &entry, sizeof entry)) {
      return fail_memory(a->why);
    }
  }
  return STOW_OK;
}

stow_status cli_zip_open(const void* bytes, size_t size, cli_list* out_entries,
                         char why[CLI_WHY_SIZE]) {
  *out_entries = (cli_list){0};
  archive a = {bytes, size, why};
  directory d = {0};
  stow_status status = find_directory(&a, &d) ? read_entries(&a, &d, out_entries) : STOW_ERR_SYNTAX;
  if (status != STOW_OK) {
    cli_list_free(out_entries, sizeof(cli_zip_entry));
  }
  return status;
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

static stow_status fail_damaged(const cli_zip_reader* reader) {
  const cli_zip_entry* entry = reader->entry;
  archive a = {.why = reader->why};
  fail(&a, entry->at, "damaged compressed data: %zu bytes do not give %zu", entry->stored,
       entry->size);
  return STOW_ERR_SYNTAX;
}

// One step: whether anything came out is seen by what |avail_out| has become.
static int inflate_part(cli_zip_reader* reader, void* to, unsigned room) {
  z_stream* stream = reader->stream;
  unsigned in_part = part_of(reader->entry->stored - reader->in);
  stream->next_in = (unsigned char*)(uintptr_t)(reader->from + reader->in);
  stream->avail_in = in_part;
  stream->next_out = to;
  stream->avail_out = room;
  int result = inflate(stream, Z_NO_FLUSH);
  reader->in += in_part - stream->avail_in;
  return result;
}

static stow_status inflate_to(cli_zip_reader* reader, unsigned char* to, size_t size) {
  const z_stream* stream = reader->stream;
  while (size > 0) {
    unsigned room = part_of(size);
    int result = inflate_part(reader, to, room);
    unsigned count = room - stream->avail_out;
    if (result == Z_MEM_ERROR) {
      return fail_memory(reader->why);
    }
    if (count == 0 || (result != Z_OK && (result != Z_STREAM_END || count < size))) {
      return fail_damaged(reader);
    }
    to += count;
    size -= count;
  }
  return STOW_OK;
}

stow_status cli_zip_begin(cli_zip_reader* reader, const void* bytes, const cli_zip_entry* entry,
                          char why[CLI_WHY_SIZE]) {
  *reader =
      (cli_zip_reader){.entry = entry, .from = (const unsigned char*)bytes + entry->at, .why = why};
  if (!entry->is_deflated) {
    return STOW_OK;
  }
  z_stream* stream = calloc(1, sizeof *stream);
  if (stream == NULL || inflateInit2(stream, -MAX_WBITS) != Z_OK) {
    free(stream);
    return fail_memory(why);
  }
  reader->stream = stream;
  return STOW_OK;
}

stow_status cli_zip_read(cli_zip_reader* reader, void* to, size_t size) {
  if (size > reader->entry->size - reader->out) {
    return fail_damaged(reader);
  }
  if (reader->stream != NULL) {
    stow_status status = inflate_to(reader, to, size);
    if (status != STOW_OK) {
      return status;
    }
  } else if (size > 0) {
    memcpy(to, reader->from + reader->in, size);
    reader->in += size;
  }
  reader->out += size;
  reader->crc = checksum(reader->crc, to, size);
  return STOW_OK;
}

stow_status cli_zip_end(cli_zip_reader* reader) {
  const cli_zip_entry* entry = reader->entry;
  archive a = {.why = reader->why};
  if (reader->stream != NULL) {
    const z_stream* stream = reader->stream;
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

void cli_zip_close(cli_zip_reader* reader) {
  if (reader->stream != NULL) {
    inflateEnd(reader->stream);
    free(reader->stream);
  }
  reader->stream = NULL;
}

// ---------------------------------------------------------------------------------------------
// Writing

typedef struct record {
  stow_string name;
  uint32_t crc;
  uint32_t size;
  uint32_t at;
} record;

static void put(unsigned char* to, size_t bytes, uint64_t number) {
  for (size_t i = 0; i < bytes; ++i) {
    to[i] = (unsigned char)(number >> (8 * i));
  }
}

static stow_status emit(cli_zip_writer* zip, const void* data, size_t size) {
  zip->written += size;
  return size == 0 ? STOW_OK : zip->writer.write(zip->writer.user, data, size);
}

#define VERSION 20
#define FIRST_DATE 0x0021  // 1 January 1980

// What an entry's own header and its record in the directory have in common, 26 bytes.
static void put_common(unsigned char* to, const record* r) {
  put(to, 2, VERSION);
  put(to + 2, 6, 0);  // flags, method, time
  put(to + 8, 2, FIRST_DATE);
  put(to + 10, 4, r->crc);
  put(to + 14, 4, r->size);
  put(to + 18, 4, r->size);
  put(to + 22, 4, r->name.size);  // and no extra field
}

static stow_status emit_entry(cli_zip_writer* zip, const record* r, const cli_bytes* parts,
                              size_t count) {
  unsigned char local[LOCAL_SIZE];
  memcpy(local, "PK\x03\x04", 4);
  put_common(local + 4, r);
  stow_status status = emit(zip, local, sizeof local);
  status = status == STOW_OK ? emit(zip, r->name.data, r->name.size) : status;
  for (size_t i = 0; i < count && status == STOW_OK; ++i) {
    status = emit(zip, parts[i].data, parts[i].size);
  }
  return status;
}

stow_status cli_zip_add(cli_zip_writer* zip, stow_str name, const cli_bytes* parts, size_t count) {
  record r = {.at = (uint32_t)zip->written};
  uint64_t size = 0;
  for (size_t i = 0; i < count; ++i) {
    r.crc = checksum(r.crc, parts[i].data, parts[i].size);
    size += parts[i].size;
  }
  uint64_t end = zip->written + size + LOCAL_SIZE + name.size;
  if (size >= UINT32_MAX || end >= UINT32_MAX || name.size >= 0xFFFF ||
      zip->entries.count >= 0xFFFE) {
    return STOW_ERR_LIMIT;
  }
  r.size = (uint32_t)size;
  stow_string_init(&r.name, stow_allocator_default());
  if (stow_string_append(&r.name, name.data, name.size) != STOW_OK ||
      !cli_list_add(&zip->entries, &r, sizeof r)) {
    stow_string_free(&r.name);
    return STOW_ERR_OUT_OF_MEMORY;
  }
  return emit_entry(zip, &r, parts, count);
}

static stow_status emit_record(cli_zip_writer* zip, const record* r) {
  unsigned char b[DIRECTORY_SIZE];
  memset(b, 0, sizeof b);
  memcpy(b, "PK\x01\x02", 4);
  put(b + 4, 2, VERSION);
  put_common(b + 6, r);
  put(b + 42, 4, r->at);
  stow_status status = emit(zip, b, sizeof b);
  return status == STOW_OK ? emit(zip, r->name.data, r->name.size) : status;
}

stow_status cli_zip_finish(cli_zip_writer* zip) {
  record* records = zip->entries.items;
  size_t count = zip->entries.count;
  uint64_t start = zip->written;
  stow_status status = STOW_OK;
  for (size_t i = 0; i < count; ++i) {
    status = status == STOW_OK ? emit_record(zip, &records[i]) : status;
    stow_string_free(&records[i].name);
  }
  cli_list_free(&zip->entries, sizeof(record));
  unsigned char b[END_SIZE];
  memset(b, 0, sizeof b);
  memcpy(b, "PK\x05\x06", 4);
  put(b + 8, 2, count);
  put(b + 10, 2, count);
  put(b + 12, 4, zip->written - start);
  put(b + 16, 4, start);
  if (status == STOW_OK && zip->written >= UINT32_MAX) {
    return STOW_ERR_LIMIT;
  }
  return status == STOW_OK ? emit(zip, b, sizeof b) : status;
}
