// Elements of tensors as numbers, for people and for comparisons.
#ifndef STOWAGE_TOOLS_TENSORS_ELEMENT_H_
#define STOWAGE_TOOLS_TENSORS_ELEMENT_H_

#include <stowage/kernel.h>

// Element |index| of any type; of complex numbers, |part| 0 is the real and 1 the imaginary part.
// Integers above 2^53 are rounded.
double cli_element(const stow_tensor* tensor, size_t index, unsigned part);
// 2 for complex types, 1 for all others.
unsigned cli_element_parts(stow_dtype dtype);
bool cli_is_float(stow_dtype dtype);

// As many digits as tell elements of the type apart for people: `0.0123457`, `-7`, `true`,
// `1.5+2i`; integers to the last digit.
#define CLI_ELEMENT_SIZE 64
void cli_element_format(const stow_tensor* tensor, size_t index, char out[CLI_ELEMENT_SIZE]);

// A number of JSON that reads back as the same double; null for what JSON has no number for.
void cli_format_json_number(double number, char out[CLI_ELEMENT_SIZE]);

#endif  // STOWAGE_TOOLS_TENSORS_ELEMENT_H_
