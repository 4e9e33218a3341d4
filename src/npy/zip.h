// Zip archives, as far as `.npz` files need them: entries that are stored or deflated, no
// encryption, one disk; Zip64 is read. (APPNOTE.TXT of PKWARE.)
#ifndef STOWAGE_SRC_NPY_ZIP_H_
#define STOWAGE_SRC_NPY_ZIP_H_

#include <stowage/base.h>
#include <zlib.h>

#include "base/alloc.h"

typedef struct stowi_npy_zip_entry {
  stow_str name;  // points into the archive
  bool is_deflated;
  uint32_t crc;
  size_t at;      // of its bytes in the archive
  size_t stored;  // bytes there
  size_t size;    // bytes when they are unpacked; what deflate can make of them, at most
} stowi_npy_zip_entry;

typedef STOWI_VEC(stowi_npy_zip_entry) stowi_npy_zip_entries;

// Lists the files of an archive in the order of its directory; no bytes are read twice whatever is
// unpacked. Freed by the caller, whatever it returned.
stow_status stowi_npy_zip_open(const void* bytes, size_t size, stow_allocator allocator,
                               stow_diag* diag, stowi_npy_zip_entries* out_entries);

// Unpacks one, from its start on and no further than asked for.
typedef struct stowi_npy_zip_reader {
  const stowi_npy_zip_entry* entry;
  const unsigned char* from;
  size_t in;        // bytes taken from there
  size_t out;       // bytes unpacked
  uint32_t crc;     // of them
  z_stream stream;  // where it is deflated
  stow_allocator allocator;
  stow_diag* diag;
} stowi_npy_zip_reader;

// |bytes|, |entry| and |diag| are borrowed, and |reader| stays where it is. End with
// stowi_npy_zip_close, whatever it returned.
stow_status stowi_npy_zip_begin(stowi_npy_zip_reader* reader, const void* bytes,
                                const stowi_npy_zip_entry* entry, stow_allocator allocator,
                                stow_diag* diag);
// Unpacks the next |size| bytes to |to|; fewer are a failure.
stow_status stowi_npy_zip_read(stowi_npy_zip_reader* reader, void* to, size_t size);
// Proves that all was read, that no more would come, and the checksum.
stow_status stowi_npy_zip_end(stowi_npy_zip_reader* reader);
void stowi_npy_zip_close(stowi_npy_zip_reader* reader);

// A file of an archive that is written: its name with an ending, and its bytes in two parts.
// Nothing is compressed and all dates are the first of the format's: the same entries give the same
// bytes, everywhere.
typedef struct stowi_npy_zip_file {
  stow_str name;
  const char* ending;
  stow_str parts[2];
  uint32_t crc;  // written by stowi_npy_zip_write
  uint32_t at;
} stowi_npy_zip_file;
// STOW_ERR_LIMIT above 4 GiB.
stow_status stowi_npy_zip_write(stowi_npy_zip_file* files, size_t count, stow_writer writer);

#endif  // STOWAGE_SRC_NPY_ZIP_H_
