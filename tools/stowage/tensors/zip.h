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
// read twice whatever is unpacked. STOW_ERR_SYNTAX and other failures leave the reason in |why|.
stow_status cli_zip_open(const void* bytes, size_t size, cli_list* out_entries,
                         char why[CLI_WHY_SIZE]);

// Unpacks one, from its start on and no further than asked for.
typedef struct cli_zip_reader {
  const cli_zip_entry* entry;
  const unsigned char* from;
  size_t in;     // bytes taken from there
  size_t out;    // bytes unpacked
  uint32_t crc;  // of them
  void* stream;  // NULL: it is stored
  char* why;
} cli_zip_reader;

// |bytes|, |entry| and |why| are borrowed. End with cli_zip_close, whatever it returned.
stow_status cli_zip_begin(cli_zip_reader* reader, const void* bytes, const cli_zip_entry* entry,
                          char why[CLI_WHY_SIZE]);
// Unpacks the next |size| bytes to |to|; fewer are a failure.
stow_status cli_zip_read(cli_zip_reader* reader, void* to, size_t size);
// Proves that all was read, that no more would come, and the checksum.
stow_status cli_zip_end(cli_zip_reader* reader);
void cli_zip_close(cli_zip_reader* reader);

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
