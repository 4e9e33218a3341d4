// Placement problems as CSV: a line per buffer, as in MiniMalloc's instances.
//
//     id,lower,upper,size,alignment,offset,gaps
//     conv1,0,4,4096,64,,
//     cache,0,100,512,64,0,10-20 30-40@0:64
//
// The first line names the columns, in any order:
//   id          (or `buffer`, `buffer_id`) any text, unique
//   lower       (or `begin`, `start`) the first step of the lifetime
//   upper       the first step after the lifetime; or `end`, its last step
//   size        in bytes, above 0
//   alignment   optional: a power of two; an empty cell means 1
//   offset      optional: the fixed offset in bytes; an empty cell or -1 means anywhere
//   gaps        optional: windows in order of time, separated by spaces: `FROM-TO` for a gap,
//               `FROM-TO@LOW:HIGH` for a window; TO is inclusive if the column `end` is used, and
//               exclusive with `upper`
// Other columns are kept. Cells may be quoted as in RFC 4180; lines end in LF or CRLF; a byte order
// mark and empty lines are skipped. A text without rows is an empty problem.
//
// Reading gives a stow_csv, which owns the problem and borrows the text: keep the text until the
// stow_csv is destroyed. Place the problem with any strategy (place.h), then write the rows back
// with their offsets.
//
//     #include <stdio.h>
//     #include <stowage/csv.h>
//
//     int main(void) {
//       stow_str text = stow_str_of("id,lower,upper,size\na,0,2,64\nb,1,3,32\nc,2,4,64\n");
//       stow_allocator heap = stow_allocator_default();
//       stow_csv* csv = NULL;
//       stow_placement* placement = NULL;
//       stow_string out;
//       stow_diag diag;
//       stow_diag_init(&diag);
//       stow_string_init(&out, heap);
//       stow_status status = stow_csv_read(text, heap, &diag, &csv);
//       if (status == STOW_OK)
//         status = stow_place_auto(stow_csv_problem(csv), NULL, heap, &diag, &placement);
//       if (status == STOW_OK)
//         status = stow_csv_write(csv, placement, stow_string_writer(&out), &diag);
//       puts(status == STOW_OK ? out.data : diag.message);  // the rows with a column `offset`
//       stow_string_free(&out);
//       stow_placement_destroy(placement);
//       stow_csv_destroy(csv);
//       return status == STOW_OK ? 0 : 1;
//     }
#ifndef STOWAGE_CSV_H_
#define STOWAGE_CSV_H_

#include <stowage/place.h>

#ifdef __cplusplus
extern "C" {
#endif

// A problem, and the text that it was read from.
typedef struct stow_csv stow_csv;

// |text| is borrowed and must outlive the result, which stow_csv_destroy frees. Errors are
// STOW_ERR_SYNTAX for malformed text and those of stow_problem_add for wrong numbers; |diag| has
// the line and column of the cell (1-based, in bytes) and a message that names the row's id and the
// column. O(n).
STOW_API stow_status stow_csv_read(stow_str text, stow_allocator allocator, stow_diag* diag,
                                   stow_csv** out_csv);
STOW_API void stow_csv_destroy(stow_csv* csv);

// Owned by |csv|. Buffer i is the i-th row below the header.
STOW_API const stow_problem* stow_csv_problem(const stow_csv* csv);
// The id of |buffer|, which must be below the problem's count. Owned by |csv|.
STOW_API stow_str stow_csv_id(const stow_csv* csv, size_t buffer);
// The names of the other columns, which have no meaning here; |index| must be below their number.
STOW_API size_t stow_csv_other_count(const stow_csv* csv);
STOW_API stow_str stow_csv_other(const stow_csv* csv, size_t index);

// Writes the same rows in the same order, with the offsets of |placement| in the column `offset`,
// which is added as the last one if the text has none. Everything else is copied byte for byte,
// except that lines end in LF and the byte order mark and empty lines are dropped.
// STOW_ERR_INVALID_ARGUMENT if |placement| has a different number of buffers; the status of a
// failed write.
STOW_API stow_status stow_csv_write(const stow_csv* csv, const stow_placement* placement,
                                    stow_writer writer, stow_diag* diag);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // STOWAGE_CSV_H_
