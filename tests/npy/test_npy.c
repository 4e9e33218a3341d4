// Files of tensors: what numpy writes is read, what is written numpy reads, and what is wrong is
// told with the place.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "npy/header.h"
#include "npy/zip.h"
#include "support/fault.h"
#include "support/struct_size.h"
#include "support/test.h"

// ---------------------------------------------------------------------------------------------
// Whole files

typedef struct array {
  stow_string name;
  stow_tensor tensor;
  size_t size;
} array;

typedef struct arrays {
  array items[4];
  size_t count;
} arrays;

static void free_arrays(arrays* all) {
  for (size_t i = 0; i < all->count; ++i) {
    stow_string_free(&all->items[i].name);
    free(all->items[i].tensor.data);
  }
  all->count = 0;
}

static stow_status load(const stow_npy* file, size_t index, arrays* all, stow_diag* diag) {
  stow_npy_array found = {.struct_size = sizeof(found)};
  stow_npy_describe(file, index, &found);
  array* a = &all->items[all->count];
  *a = (array){.tensor = {.dtype = found.type.dtype, .rank = found.type.rank},
               .size = (size_t)found.size};
  memcpy(a->tensor.dims, found.type.dims, sizeof a->tensor.dims);
  a->tensor.data = malloc(a->size + 1);
  stow_string_init(&a->name, stow_allocator_default());
  CHECK(stow_string_append(&a->name, found.name.data, found.name.size) == STOW_OK);
  all->count += 1;
  return stow_npy_load(file, index, a->tensor.data, diag);
}

// Opens a file and loads all of its arrays, which a failure leaves empty.
static stow_status decode(stow_npy_format format, const void* bytes, size_t size, arrays* all,
                          stow_diag* diag) {
  stow_npy* file;
  stow_diag_init(diag);
  stow_status status = stow_npy_open(format, bytes, size, stow_allocator_default(), diag, &file);
  for (size_t i = 0; status == STOW_OK && i < stow_npy_count(file); ++i) {
    status = load(file, i, all, diag);
  }
  if (status != STOW_OK) {
    free_arrays(all);
  }
  stow_npy_close(file);
  return status;
}

// ---------------------------------------------------------------------------------------------
// .npy

#define FILE_SIZE 1024

// A file of |version| with this header, followed by |data|. Returns its size.
static size_t make_npy(char* out, int version, const char* text, const void* data, size_t size) {
  size_t start = version == 1 ? 10 : 12;
  size_t length = strlen(text);
  memcpy(out, "\x93NUMPY", 6);
  out[6] = (char)version;
  out[7] = 0;
  memset(out + 8, 0, 4);
  out[8] = (char)(length & 255);
  out[9] = (char)(length >> 8);
  memcpy(out + start, text, length);
  if (size > 0) {
    memcpy(out + start + length, data, size);
  }
  return start + length + size;
}

static stow_diag diag;

static const array* read_npy(int version, const char* text, const void* data, size_t size,
                             arrays* all) {
  char file[FILE_SIZE];
  size_t file_size = make_npy(file, version, text, data, size);
  all->count = 0;
  bool decoded = decode(STOW_NPY_SINGLE, file, file_size, all, &diag) == STOW_OK;
  test_check(decoded, __FILE__, __LINE__, "%s", diag.message);
  return decoded ? all->items : NULL;
}

static void check_npy(int version, const char* text, const void* data, size_t size,
                      stow_dtype dtype, const void* expected) {
  arrays all;
  const array* a = read_npy(version, text, data, size, &all);
  if (a != NULL) {
    CHECK(a->tensor.dtype == dtype);
    CHECK_U64(a->size, size);
    CHECK(size == 0 || memcmp(a->tensor.data, expected, size) == 0);
  }
  free_arrays(&all);
}

static void refuse_npy(const char* text, size_t size, const char* part) {
  static const char zeros[64];
  char file[FILE_SIZE];
  arrays all = {0};
  size_t file_size = make_npy(file, 1, text, zeros, size);
  CHECK(decode(STOW_NPY_SINGLE, file, file_size, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, part);
  CHECK_HAS(diag.message, "byte ");
  CHECK_U64(all.count, 0);
  free_arrays(&all);
}

TEST(EveryVersionAndTypeIsRead) {
  static const struct {
    const char* descr;
    size_t bytes;
    stow_dtype dtype;
  } types[] = {{"<f4", 4, STOW_F32}, {"<f2", 2, STOW_F16},   {"<f8", 8, STOW_F64},
               {"|i1", 1, STOW_I8},  {"<i2", 2, STOW_I16},   {"<i4", 4, STOW_I32},
               {"<i8", 8, STOW_I64}, {"|u1", 1, STOW_U8},    {"<u2", 2, STOW_U16},
               {"<u4", 4, STOW_U32}, {"<u8", 8, STOW_U64},   {"|b1", 1, STOW_BOOL},
               {"<c8", 8, STOW_C64}, {"<c16", 16, STOW_C128}};
  unsigned char data[32];
  for (size_t i = 0; i < sizeof data; ++i) {
    data[i] = (unsigned char)(i * 5 + 1);
  }
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) {
    char text[128];
    snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (2,), }  \n",
             types[i].descr);
    for (int version = 1; version <= 3; ++version) {
      check_npy(version, text, data, 2 * types[i].bytes, types[i].dtype, data);
    }
  }
}

TEST(ShapesOfEveryRankAreRead) {
  arrays all;
  const array* a =
      read_npy(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (), }\n", "ab", 2, &all);
  REQUIRE(a != NULL);
  CHECK_U64(a->tensor.rank, 0);
  free_arrays(&all);
  a = read_npy(1, "{\"shape\":(2,0,3),\"fortran_order\":True,\"descr\":\"<i2\"}", "", 0, &all);
  REQUIRE(a != NULL);
  CHECK(a->tensor.rank == 3 && a->tensor.dims[1] == 0 && a->tensor.dims[2] == 3);
  free_arrays(&all);
  a = read_npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (1L, 2L), }", "ab", 2, &all);
  REQUIRE(a != NULL);
  CHECK(a->tensor.rank == 2 && a->tensor.dims[1] == 2);
  free_arrays(&all);
}

TEST(FortranOrderIsTurned) {
  static const int16_t fortran[] = {0, 3, 1, 4, 2, 5};  // of [[0, 1, 2], [3, 4, 5]]
  static const int16_t c[] = {0, 1, 2, 3, 4, 5};
  check_npy(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3), }\n", fortran,
            sizeof fortran, STOW_I16, c);
  unsigned char three[24];
  unsigned char turned[24];
  for (unsigned i = 0; i < 24; ++i) {  // [i][j][k] of (2, 3, 4) is 12 i + 4 j + k in C's order
    three[i] = (unsigned char)(i % 2 * 12 + i / 2 % 3 * 4 + i / 6);
    turned[i] = (unsigned char)i;
  }
  check_npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3, 4), }\n", three, 24,
            STOW_U8, turned);
}

TEST(BigEndianElementsAreSwapped) {
  check_npy(1, "{'descr': '>u2', 'fortran_order': False, 'shape': (2,), }", "\x01\x02\x03\x04", 4,
            STOW_U16, "\x02\x01\x04\x03");
  check_npy(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,), }", "abcdefgh", 8, STOW_C64,
            "dcbahgfe");
  check_npy(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 1), }", "\x01\x02\x03\x04", 4,
            STOW_U16, "\x02\x01\x04\x03");
  check_npy(1, "{'descr': '>i1', 'fortran_order': False, 'shape': (2,), }", "ab", 2, STOW_I8, "ab");
}

TEST(WrongHeadersAreToldWithTheirPlace) {
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", 8,
             "f32[3] needs 12 bytes, but there are 8");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }", 8, "needs 4 bytes");
  refuse_npy("{'descr': '<U3', 'fortran_order': False, 'shape': (1,), }", 8, "'<U3'");
  refuse_npy("{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }", 2, "bf16");
  refuse_npy("{'descr': '?f4', 'fortran_order': False, 'shape': (1,), }", 4, "'?f4'");
  refuse_npy("{'descr': '<f', 'fortran_order': False, 'shape': (1,), }", 4, "'<f'");
  refuse_npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4, "records");
  refuse_npy("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", 4, "not True or False");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", 4, "dim 0");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }", 4,
             "dim 0");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 9), }", 4,
             "64 bits");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': 1, }", 4, "'('");
  refuse_npy(
      "{'descr': '<f4', 'fortran_order': False, 'shape': "
      "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1), }",
      4, "too many dims");
  refuse_npy("{'descr': '<f4', 'shape': (1,), }", 4, "has no 'fortran_order'");
  refuse_npy("{'fortran_order': False, 'shape': (1,), }", 4, "has no 'descr'");
  refuse_npy("{'descr': '<f4', 'fortran_order': False}", 4, "has no 'shape'");
  refuse_npy("{'dtype': '<f4'}", 4, "unknown key");
  refuse_npy("{'descr': '<f4', ", 4, "expected a key and ':'");
  refuse_npy("[]", 4, "not a dictionary");
}

TEST(HeadersAreExactlyWhatTheFormatAllows) {
#define WHOLE "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)}"
  refuse_npy(WHOLE "((((((((", 4, "byte 65: the header continues after its dictionary");
  refuse_npy(WHOLE " \n ", 4, "continues after");
  refuse_npy(WHOLE "\n\n", 4, "continues after");
  refuse_npy(WHOLE WHOLE, 4, "continues after");
  refuse_npy("\n" WHOLE, 4, "not a dictionary");
  refuse_npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4, "twice");
  refuse_npy("{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}", 4, "missing comma");
  refuse_npy("{'descr': '<f4',, 'fortran_order': False, 'shape': (1,)}", 4,
             "expected a key and ':'");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1)}", 4, "needs a comma");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1 1)}", 4, "dim 1");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (,)}", 4, "dim 0");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': ((1,),)}", 4, "dim 0");
  refuse_npy("{'descr': '<f4', 'fortran_order': False, 'shape': (01,)}", 4, "dim 0");
#undef WHOLE
}

TEST(LargeHeadersAreNotRead) {
  unsigned char file[16] = "\x93NUMPY\x02";
  file[10] = 1;  // 64 KiB
  arrays all = {0};
  CHECK(decode(STOW_NPY_SINGLE, file, sizeof file, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "the header has 65536 bytes, the maximum is 65535");
}

TEST(WhatIsNoNpyFileIsRefused) {
  arrays all = {0};
  char file[FILE_SIZE];
  CHECK(decode(STOW_NPY_SINGLE, "", 0, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "not a .npy file");
  size_t size = make_npy(file, 1, "{}", "", 0);
  file[6] = 4;
  CHECK(decode(STOW_NPY_SINGLE, file, size, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "version 4");
  file[6] = 1;
  file[9] = 1;
  CHECK(decode(STOW_NPY_SINGLE, file, size, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "the header has 258 bytes, but there are only 2");
}

TEST(HeadersAreTheSameAsNumpyReads) {
  stow_tensor tensor = {.dtype = STOW_F32, .rank = 2, .dims = {2, 3}};
  char header[STOWI_NPY_HEADER_SIZE];
  size_t size;
  REQUIRE(stowi_npy_format_header(&tensor, header, &size));
  CHECK_U64(size % 64, 0);
  const char* text = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(memcmp(header, "\x93NUMPY\x01\x00", 8) == 0);
  CHECK(memcmp(header + 10, text, strlen(text)) == 0);
  CHECK(header[size - 1] == '\n');
  static const stow_dtype none[] = {STOW_BF16, STOW_I4, STOW_F8E5M2, STOW_F4E2M1};
  for (size_t i = 0; i < 4; ++i) {
    tensor.dtype = none[i];
    CHECK(!stowi_npy_format_header(&tensor, header, &size));
  }
}

TEST(WhatIsWrittenIsReadAgain) {
  stow_tensor tensor = {.dtype = STOW_U8, .rank = 0};
  for (uint32_t rank = 0; rank <= STOW_MAX_RANK; ++rank) {
    tensor.rank = rank;
    char file[STOWI_NPY_HEADER_SIZE + 1];
    size_t size;
    REQUIRE(stowi_npy_format_header(&tensor, file, &size));
    file[size] = 'x';
    stowi_npy_header npy;
    REQUIRE(stowi_npy_parse(file, size + 1, &diag, &npy));
    stow_type type = stow_type_make(tensor.dtype, tensor.rank, tensor.dims);
    CHECK(stow_type_equal(&npy.type, &type));
    tensor.dims[rank % STOW_MAX_RANK] = 1;
  }
  tensor = (stow_tensor){.dtype = STOW_C128, .rank = STOW_MAX_RANK};
  char header[STOWI_NPY_HEADER_SIZE];
  size_t size;
  for (size_t i = 0; i < STOW_MAX_RANK; ++i) {
    tensor.dims[i] = INT64_MAX;
  }
  CHECK(stowi_npy_format_header(&tensor, header, &size) && size <= sizeof header);
}

// ---------------------------------------------------------------------------------------------
// .npz

// numpy.savez_compressed(x = numpy.arange(4, dtype = "<f4")); byte 30 on.
static const unsigned char deflated[] = {
    0x50, 0x4b, 0x03, 0x04, 0x2d, 0x00, 0x00, 0x00, 0x08, 0x00, 0x00, 0x00, 0x21, 0x00, 0x52, 0x33,
    0x13, 0xfb, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x05, 0x00, 0x14, 0x00, 0x78, 0x2e,
    0x6e, 0x70, 0x79, 0x01, 0x00, 0x10, 0x00, 0x90, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x4e,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x9b, 0xec, 0x17, 0xea, 0x1b, 0x10, 0xc9, 0xc8, 0x50,
    0xc6, 0x50, 0xad, 0x9e, 0x92, 0x5a, 0x9c, 0x5c, 0xa4, 0x6e, 0xa5, 0xa0, 0x6e, 0x93, 0x66, 0xa2,
    0xae, 0xa3, 0xa0, 0x9e, 0x96, 0x5f, 0x54, 0x52, 0x94, 0x98, 0x17, 0x9f, 0x5f, 0x94, 0x92, 0x0a,
    0x12, 0x77, 0x4b, 0xcc, 0x29, 0x4e, 0x05, 0x8a, 0x17, 0x67, 0x24, 0x16, 0xa4, 0x02, 0xf9, 0x1a,
    0x26, 0x3a, 0x9a, 0x3a, 0x0a, 0xb5, 0x0a, 0x14, 0x00, 0x2e, 0x06, 0x30, 0x68, 0xb0, 0x07, 0x12,
    0x0e, 0x40, 0xe4, 0x00, 0x00, 0x50, 0x4b, 0x01, 0x02, 0x2d, 0x03, 0x2d, 0x00, 0x00, 0x00, 0x08,
    0x00, 0x00, 0x00, 0x21, 0x00, 0x52, 0x33, 0x13, 0xfb, 0x4e, 0x00, 0x00, 0x00, 0x90, 0x00, 0x00,
    0x00, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80, 0x01, 0x00,
    0x00, 0x00, 0x00, 0x78, 0x2e, 0x6e, 0x70, 0x79, 0x50, 0x4b, 0x05, 0x06, 0x00, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x01, 0x00, 0x33, 0x00, 0x00, 0x00, 0x85, 0x00, 0x00, 0x00, 0x00, 0x00};
#define DIRECTORY 0x85
#define END (DIRECTORY + 0x33)

static void check_floats(const array* a, const char* name) {
  static const float floats[] = {0, 1, 2, 3};
  CHECK_TEXT(a->name.data, name);
  CHECK(a->tensor.dtype == STOW_F32 && a->tensor.rank == 1 && a->tensor.dims[0] == 4);
  CHECK(a->size == sizeof floats && memcmp(a->tensor.data, floats, sizeof floats) == 0);
}

TEST(ADeflatedArchiveOfNumpyIsRead) {
  arrays all = {0};
  REQUIRE(decode(STOW_NPY_ARCHIVE, deflated, sizeof deflated, &all, &diag) == STOW_OK);
  REQUIRE(all.count == 1);
  check_floats(all.items, "x");
  free_arrays(&all);
}

// With |value| at |at|, it is refused, and |part| says why.
static void refuse_changed(size_t at, unsigned char value, const char* part) {
  unsigned char file[sizeof deflated];
  arrays all = {0};
  memcpy(file, deflated, sizeof file);
  file[at] = value;
  CHECK(decode(STOW_NPY_ARCHIVE, file, sizeof file, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, part);
  free_arrays(&all);
}

TEST(DamagedArchivesAreRefused) {
  refuse_changed(END, 'Q', "does not end with");
  refuse_changed(END + 10, 2, "truncated");         // two entries
  refuse_changed(END + 17, 1, "but the file has");  // the directory is elsewhere
  refuse_changed(END + 16, 0x10, "damaged");
  refuse_changed(DIRECTORY + 8, 1, "encrypted");
  refuse_changed(DIRECTORY + 10, 12, "method 12");
  refuse_changed(DIRECTORY + 16, 0, "checksum");
  refuse_changed(DIRECTORY + 20, 0x4f, "do not give");  // one byte more than there is
  refuse_changed(DIRECTORY + 22, 1, "the file has");    // 64 KiB more
  refuse_changed(DIRECTORY + 24, 0x8f, "f32[4] needs 16 bytes, but there are 15");
  refuse_changed(DIRECTORY + 24, 0x91, "f32[4] needs 16 bytes, but there are 17");
  refuse_changed(DIRECTORY + 24, 0x0b, "not a .npy file");
  refuse_changed(DIRECTORY + 24, 0x7f, "the header has 118 bytes, but there are only 2");
  refuse_changed(DIRECTORY + 27, 1, "cannot become");  // 16 MiB
  refuse_changed(DIRECTORY + 28, 6, "an entry of the directory is truncated");
  refuse_changed(DIRECTORY + 42, 1, "no entry begins at byte 1");
  refuse_changed(70, 0x55, "entry 'x.npy'");
  arrays all = {0};
  for (size_t size = 0; size < sizeof deflated; ++size) {
    CHECK(decode(STOW_NPY_ARCHIVE, deflated, size, &all, &diag) != STOW_OK);
  }
  CHECK_U64(all.count, 0);
}

// An archive of one entry that claims |size| bytes and has those that |data| inflates to: a header
// for |count| floats, and |there| bytes.
static size_t make_bomb(unsigned char* out, uint32_t count, uint32_t there, uint32_t size) {
  static unsigned char entry[1 << 16];
  stow_tensor tensor = {.dtype = STOW_F32, .rank = 1, .dims = {count}};
  size_t header;
  CHECK(stowi_npy_format_header(&tensor, (char*)entry, &header) && header + there <= sizeof entry);
  memset(entry + header, 0, there);
  z_stream stream = {.next_in = entry, .avail_in = (unsigned)(header + there)};
  CHECK(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  memcpy(out, deflated, 30);
  out[28] = 0;  // no extra field
  memcpy(out + 30, "x.npy", 5);
  stream.next_out = out + 35;
  stream.avail_out = 4096;
  CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  uint32_t numbers[] = {(uint32_t)crc32(0, entry, (unsigned)(header + there)),
                        (uint32_t)stream.total_out, (uint32_t)header + size};
  size_t directory = 35 + stream.total_out;
  deflateEnd(&stream);
  memcpy(out + directory, deflated + DIRECTORY, 0x33 + 22);
  for (size_t i = 0; i < 12; ++i) {
    out[directory + 16 + i] = (unsigned char)(numbers[i / 4] >> (8 * (i % 4)));
  }
  out[directory + 0x33 + 16] = (unsigned char)(directory & 255);
  out[directory + 0x33 + 17] = (unsigned char)(directory >> 8);
  return directory + 0x33 + 22;
}

TEST(EntriesHaveAsManyBytesAsTheirHeadersSay) {
  static unsigned char file[8192];
  static const struct {
    uint32_t count, there, size;
    const char* part;
  } cases[] = {
      {8192, 32768, 32768, NULL},
      {2, 32768, 32768, "entry 'x.npy': byte 128: f32[2] needs 8 bytes, but there are 32768"},
      {8193, 32768, 32768, "f32[8193] needs 32772 bytes, but there are 32768"},
      {8192, 32772, 32768, "do not give 32896"},
      {8192, 32764, 32768, "do not give 32896"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i) {
    arrays all = {0};
    size_t size = make_bomb(file, cases[i].count, cases[i].there, cases[i].size);
    stow_status status = decode(STOW_NPY_ARCHIVE, file, size, &all, &diag);
    CHECK((status == STOW_OK) == (cases[i].part == NULL));
    CHECK_HAS(diag.message, cases[i].part == NULL ? "" : cases[i].part);
    free_arrays(&all);
  }
}

TEST(OnlyHeadersAreUnpackedForAList) {
  static unsigned char file[8192];
  static float to[8192];
  size_t size = make_bomb(file, 8192, 32768, 32768);
  stow_npy* opened;
  stow_npy_array found = {.struct_size = sizeof(found)};
  memset(file + 35 + 100, 0xff, 16);  // damage behind the header
  REQUIRE(stow_npy_open(STOW_NPY_ARCHIVE, file, size, stow_allocator_default(), &diag, &opened) ==
          STOW_OK);
  CHECK(stow_npy_describe(opened, 1, &found) == STOW_ERR_NOT_FOUND);
  CHECK_EVERY_SIZE(stow_npy_array, sizeof(size_t),
                   CHECK(stow_npy_describe(opened, 0, out) == STOW_OK));
  CHECK(stow_npy_describe(opened, 0, &found) == STOW_OK);
  CHECK(stow_str_equal(found.name, stow_str_of("x")) && found.size == sizeof to);
  CHECK(found.type.dtype == STOW_F32 && found.type.rank == 1 && found.type.dims[0] == 8192);
  CHECK(stow_npy_load(opened, 0, to, &diag) == STOW_ERR_SYNTAX);
  CHECK_HAS(diag.message, "entry 'x.npy'");
  stow_npy_close(opened);
}

TEST(EntriesDoNotOverlap) {
  // The same entry twice in the directory
  unsigned char file[sizeof deflated + 0x33];
  memcpy(file, deflated, END);
  memcpy(file + END, deflated + DIRECTORY, 0x33);
  memcpy(file + END + 0x33, deflated + END, 22);
  file[END + 0x33 + 8] = file[END + 0x33 + 10] = 2;
  file[END + 0x33 + 12] = 0x66;
  arrays all = {0};
  bool is_small = decode(STOW_NPY_ARCHIVE, file, sizeof file, &all, &diag) == STOW_OK;
  CHECK(is_small && all.count == 2);  // 156 bytes of entries in 257: no harm
  free_arrays(&all);
  stow_allocator allocator = stow_allocator_default();
  stowi_npy_zip_entries entries;
  unsigned char many[END + 22 + 4 * 0x33];
  memcpy(many, deflated, DIRECTORY);
  for (size_t i = 0; i < 5; ++i) {
    memcpy(many + DIRECTORY + i * 0x33, deflated + DIRECTORY, 0x33);
  }
  memcpy(many + END + 4 * 0x33, deflated + END, 22);
  many[END + 4 * 0x33 + 8] = many[END + 4 * 0x33 + 10] = 5;
  many[END + 4 * 0x33 + 12] = 0xff;
  CHECK(stowi_npy_zip_open(many, sizeof many, allocator, &diag, &entries) ==
        STOW_OK);  // 390 of 410
  STOWI_VEC_FREE(allocator, &entries);
  // The directory claims larger packed sizes, which still lie in the file
  for (size_t i = 0; i < 5; ++i) {
    many[DIRECTORY + i * 0x33 + 20] = 0x80;
  }
  CHECK(stowi_npy_zip_open(many, sizeof many, allocator, &diag, &entries) != STOW_OK);
  CHECK_HAS(diag.message, "overlap");
  STOWI_VEC_FREE(allocator, &entries);
}

TEST(AWrittenArchiveIsReadAgainAndTheSame) {
  static float floats[] = {0, 1, 2, 3};
  stow_tensor tensor = {.data = floats, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  const stow_tensor* tensors[] = {&tensor, &tensor};
  stow_str names[] = {stow_str_of("a"), stow_str_of("b/c")};
  stow_string files[2];
  for (size_t i = 0; i < 2; ++i) {
    stow_string_init(&files[i], stow_allocator_default());
    CHECK(stow_npz_write(tensors, names, 2, stow_allocator_default(), stow_string_writer(&files[i]),
                         &diag) == STOW_OK);
  }
  CHECK(files[0].size == files[1].size && memcmp(files[0].data, files[1].data, files[0].size) == 0);
  arrays all = {0};
  if (CHECK(decode(STOW_NPY_ARCHIVE, files[0].data, files[0].size, &all, &diag) == STOW_OK)) {
    REQUIRE(all.count == 2);
    check_floats(all.items, "a");
    check_floats(all.items + 1, "b/c");
  }
  free_arrays(&all);
  stow_string_free(&files[0]);
  stow_string_free(&files[1]);
}

TEST(AnEmptyArchiveHasNoArrays) {
  stow_string file;
  stow_string_init(&file, stow_allocator_default());
  CHECK(stow_npz_write(NULL, NULL, 0, stow_allocator_default(), stow_string_writer(&file), &diag) ==
        STOW_OK);
  arrays all = {0};
  CHECK(decode(STOW_NPY_ARCHIVE, file.data, file.size, &all, &diag) == STOW_OK);
  CHECK_U64(all.count, 0);
  stow_string_free(&file);
}

// Zip64: numbers that do not fit stand elsewhere. Made by hand, as archives above 4 GiB are.
TEST(Zip64IsRead) {
  unsigned char file[sizeof deflated + 56 + 20 + 20 + 8];
  size_t size = 0;
#define PUT(bytes, count) (memcpy(file + size, bytes, count), size += (count))
  PUT(deflated, DIRECTORY);
  unsigned char record[0x33];
  memcpy(record, deflated + DIRECTORY, sizeof record);
  memset(record + 20, 0xff, 8);  // both sizes
  memset(record + 42, 0xff, 4);  // and the place
  record[30] = 28;
  PUT(record, sizeof record);
  unsigned char extra[28] = {1, 0, 24, 0, 0x90, 0, 0, 0, 0, 0, 0, 0, 0x4e};
  PUT(extra, sizeof extra);
  unsigned char end64[56] = {'P', 'K', 6, 6, 44};
  end64[32] = 1;
  end64[40] = 0x33 + 28;
  end64[48] = DIRECTORY;
  size_t end64_at = size;
  PUT(end64, sizeof end64);
  unsigned char locator[20] = {'P', 'K', 6, 7};
  locator[8] = (unsigned char)(end64_at & 255);
  locator[9] = (unsigned char)(end64_at >> 8);
  PUT(locator, sizeof locator);
  unsigned char end[22];
  memcpy(end, deflated + END, sizeof end);
  memset(end + 16, 0xff, 4);
  PUT(end, sizeof end);
#undef PUT
  arrays all = {0};
  bool decoded = decode(STOW_NPY_ARCHIVE, file, size, &all, &diag) == STOW_OK;
  test_check(decoded, __FILE__, __LINE__, "%s", diag.message);
  if (decoded) {
    check_floats(all.items, "x");
  }
  free_arrays(&all);
  file[end64_at + sizeof end64 + 8] = 0;
  CHECK(decode(STOW_NPY_ARCHIVE, file, size, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "no Zip64 record");
  file[end64_at + sizeof end64] = 0;
  CHECK(decode(STOW_NPY_ARCHIVE, file, size, &all, &diag) != STOW_OK);
  CHECK_HAS(diag.message, "without an end record");
}

// ---------------------------------------------------------------------------------------------
// Failures

static stow_status starve(stow_allocator allocator, void* user) {
  static float floats[] = {0, 1, 2, 3};
  static unsigned char fortran[8192];
  stow_tensor tensor = {.data = floats, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  const stow_tensor* tensors[] = {&tensor};
  stow_str name = stow_str_of("a");
  stow_string out;
  stow_npy* file = NULL;
  (void)user;
  stow_string_init(&out, allocator);
  size_t size = make_bomb(fortran, 1024, 4096, 4096);
  stow_status status = stow_npy_open(STOW_NPY_ARCHIVE, fortran, size, allocator, NULL, &file);
  static float to[1024];
  status = status == STOW_OK ? stow_npy_load(file, 0, to, NULL) : status;
  status = status == STOW_OK
               ? stow_npz_write(tensors, &name, 1, allocator, stow_string_writer(&out), NULL)
               : status;
  stow_npy_close(file);
  stow_string_free(&out);
  return status;
}

TEST(FilesSurviveEveryFailingAllocation) { CHECK(test_fault_sweep(starve, NULL) > 8); }

static stow_status fail_write(void* user, const char* data, size_t size) {
  (void)user;
  (void)data;
  (void)size;
  return STOW_ERR_IO;
}

TEST(FailingWritesAndUnknownFormatsAreReported) {
  static float floats[] = {0, 1, 2, 3};
  stow_tensor tensor = {.data = floats, .dtype = STOW_F32, .rank = 1, .dims = {4}};
  const stow_tensor* tensors[] = {&tensor};
  stow_str name = stow_str_of("a");
  stow_writer writer = {fail_write, NULL};
  stow_allocator allocator = stow_allocator_default();
  stow_npy* file;
  CHECK(stow_npy_write(&tensor, writer, &diag) == STOW_ERR_IO);
  CHECK(stow_npz_write(tensors, &name, 1, allocator, writer, &diag) == STOW_ERR_IO);
  tensor.dtype = STOW_BF16;
  CHECK(stow_npy_write(&tensor, writer, &diag) == STOW_ERR_UNSUPPORTED);
  CHECK(stow_npz_write(tensors, &name, 1, allocator, writer, &diag) == STOW_ERR_UNSUPPORTED);
  CHECK_HAS(diag.message, "bf16");
  CHECK(stow_npy_open((stow_npy_format)2, "", 0, allocator, &diag, &file) ==
        STOW_ERR_INVALID_ARGUMENT);
  CHECK(file == NULL);
  stow_npy_close(NULL);
}

TEST(NeededBytesAreThoseOfTheHeaderThenOfTheFile) {
  char file[FILE_SIZE];
  const char* text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  size_t size = make_npy(file, 1, text, "abcdefghijkl", 12);
  for (size_t known = 0; known <= size; ++known) {
    uint64_t expected = known < 12 ? 12 : known < size - 12 ? size - 12 : size;
    CHECK_U64(stow_npy_needed(file, known), expected);
  }
  CHECK_U64(stow_npy_needed("not a file of numpy", 19), 0);
}
