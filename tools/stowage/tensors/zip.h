// Zip archives, as far as `.npz` files need them: entries that are stored or deflated, no
// encryption, one disk; Zip64 is read. (APPNOTE.TXT of PKWARE.)
#ifndef STOWAGE_TOOLS_TENSORS_ZIP_H_
#define STOWAGE_TOOLS_TENSORS_ZIP_H_

#include "tensors/array.h"

typedef struct cli_zip_entry {
  stow_str name;  // points into the archive
  bool is_deflated;
  uint32_t crc;
  size_t at;      // of its bytes in the archive
  size_t stored;  // bytes there
  size_t size;    // bytes when they are unpacked; what deflate can make of them, at most
} cli_zip_entry;

// Lists the files of an archive, of cli_zip_entry, in the order of its directory; no bytes are
// read twice whatever is unpacked. False, with the reason in |why|.
bool cli_zip_open(const void* bytes, size_t size, cli_list* out_entries, char why[CLI_WHY_SIZE]);
// Unpacks one to |to|, which has room for |entry->size| bytes, and proves its checksum.
bool cli_zip_unpack(const void* bytes, const cli_zip_entry* entry, void* to,
                    char why[CLI_WHY_SIZE]);

// Writes an archive, entry after entry. Nothing is compressed and all dates are the first of the
// format's: the same entries give the same bytes, everywhere.
typedef struct cli_zip_writer {
  stow_writer writer;
  uint64_t written;
  cli_list entries;
} cli_zip_writer;

typedef struct cli_bytes {
  const void* data;
  size_t size;
} cli_bytes;

// Adds a file whose bytes are those of all |parts|. STOW_ERR_LIMIT above 4 GiB.
stow_status cli_zip_add(cli_zip_writer* zip, stow_str name, const cli_bytes* parts, size_t count);
// Writes the directory and frees what was needed for it; do so in any case.
stow_status cli_zip_finish(cli_zip_writer* zip);

#endif  // STOWAGE_TOOLS_TENSORS_ZIP_H_
