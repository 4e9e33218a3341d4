// Problems as CSV: a line per buffer, as in MiniMalloc's instances.
//
//     id,lower,upper,size,alignment,offset,gaps
//     conv1,0,4,4096,64,,
//     cache,0,100,512,64,0,10-20 30-40@0:64
//
// The first line names the columns, in any order:
//   id          (or `buffer`, `buffer_id`) any text; no two rows have the same
//   lower       (or `begin`, `start`) the first step of its life
//   upper       the first step after it; or `end`, the last step of it
//   size        above 0
//   alignment   optional: a power of two; 1 where the cell is empty
//   offset      optional: where the buffer must lie; an empty cell or -1 means anywhere
//   gaps        optional: windows in order of time, separated by spaces: `FROM-TO` for a gap,
//               `FROM-TO@LOW:HIGH` for a window; TO is inclusive exactly where the life's end is
// Other columns are carried along. Cells may be quoted as in RFC 4180; lines end in LF or CRLF; a
// byte order mark and empty lines are skipped. No rows make an empty problem.
#ifndef STOWAGE_CSV_H_
#define STOWAGE_CSV_H_

#include <stowage/place.h>

#ifdef __cplusplus
extern "C" {
#endif

// A problem and the text it was read from.
typedef struct stow_csv stow_csv;

// |text| must outlive the result. STOW_ERR_SYNTAX and the like with line and column (of the cell,
// 1-based in bytes) in |diag|, and a message that names the row's id and the column. O(n).
STOW_API stow_status stow_csv_read(stow_str text, stow_allocator allocator, stow_diag* diag,
                                   stow_csv** out_csv);
STOW_API void stow_csv_destroy(stow_csv* csv);

// Buffer i is the i-th row below the header.
STOW_API const stow_problem* stow_csv_problem(const stow_csv* csv);
// Of |buffer|, below the problem's count.
STOW_API stow_str stow_csv_id(const stow_csv* csv, size_t buffer);
// Columns that mean nothing here.
STOW_API size_t stow_csv_other_count(const stow_csv* csv);
STOW_API stow_str stow_csv_other(const stow_csv* csv, size_t index);

// Writes the same rows in the same order, with |placement|'s offsets in the column `offset`, which
// is added as the last one where the text has none. All else is copied byte for byte, except that
// lines end in LF and there is no byte order mark and no empty line. STOW_ERR_INVALID_ARGUMENT
// where |placement| has another number of buffers; a write's status where that fails.
STOW_API stow_status stow_csv_write(const stow_csv* csv, const stow_placement* placement,
                                    stow_writer writer, stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_CSV_H_
