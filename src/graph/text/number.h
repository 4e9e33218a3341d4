// Numbers as text: integers, hex floats and short decimal floats, exact and independent of the
// locale.
#ifndef STOWAGE_SRC_GRAPH_TEXT_NUMBER_H_
#define STOWAGE_SRC_GRAPH_TEXT_NUMBER_H_

#include <stowage/base.h>

// Decimal digits; the sign is separate. False if |text| is something else or the number needs more
// than 64 bits.
bool stowi_graph_number_int(stow_str text, bool negative, int64_t* out);

// A hex float `0x1.8p+1`, which must be exact as a double, or a decimal one `2.5e-3`, which must be
// m × 10^e with m ≤ 2^53 and |e| ≤ 22 and is rounded correctly. No sign. Returns NULL, or what is
// wrong: the end of a sentence that begins with "the number 0x1p+9999".
const char* stowi_graph_number_float(stow_str text, double* out);

// False if |number| is not exact as a double.
bool stowi_graph_number_int_to_float(int64_t number, double* out);

// `0x1.8p+1`, `-0x0p+0`, `inf`, `-inf` or `nan`. Different numbers print differently, but all NaNs
// print the same.
stow_status stowi_graph_put_float(stow_writer writer, double number);

#endif  // STOWAGE_SRC_GRAPH_TEXT_NUMBER_H_
