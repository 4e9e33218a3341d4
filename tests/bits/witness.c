// Runs an exported program once, on the inputs of `--random 1`, and prints a checksum of its
// outputs: those of scripts/same-bits.sh on machines without files. WITNESS is its stow_program.
// An argument limits the machine: 0 to 3, as support/machine.h counts.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "exec/kernels/support/machine.h"
#include "program/program.h"
#include "run/random.h"

extern const stow_program WITNESS;

// Of zlib's CRC-32, a byte.
static uint32_t add_byte(uint32_t sum, unsigned char byte) {
  sum ^= byte;
  for (int i = 0; i < 8; ++i) {
    sum = sum >> 1 ^ ((sum & 1) != 0 ? 0xEDB88320 : 0);
  }
  return sum;
}

// All NaNs are one NaN: their sign and payload may differ. |exponent| is the bits of infinity.
static uint64_t without_payload(uint64_t bits, uint64_t exponent) {
  uint64_t last = exponent & (~exponent + 1);
  uint64_t magnitude = bits & (exponent | (last - 1));
  return magnitude > exponent ? exponent | exponent >> 1 : bits;
}

static uint64_t infinity_of(stow_dtype dtype) {
  switch (dtype) {
    case STOW_F16: return 0x7C00;
    case STOW_F32: return 0x7F800000;
    case STOW_F64: return UINT64_C(0x7FF0000000000000);
    default: return 0;
  }
}

static uint32_t add_tensor(uint32_t sum, const stow_tensor* tensor) {
  const unsigned char* bytes = tensor->data;
  size_t size = stow_tensor_bytes(tensor);
  uint64_t infinity = infinity_of(tensor->dtype);
  size_t width = tensor->dtype == STOW_F16 ? 2 : tensor->dtype == STOW_F32 ? 4 : 8;
  for (size_t i = 0; i < size; i += width) {
    size_t count = size - i < width ? size - i : width;
    uint64_t bits = 0;
    for (size_t k = 0; k < count; ++k) {
      bits |= (uint64_t)bytes[i + k] << (8 * k);
    }
    bits = infinity == 0 ? bits : without_payload(bits, infinity);
    for (size_t k = 0; k < count; ++k) {
      sum = add_byte(sum, (unsigned char)(bits >> (8 * k)));
    }
  }
  return sum;
}

static const char* run(void) {
  static char text[9];
  for (size_t i = 0; i < WITNESS.input_count; ++i) {
    stow_tensor tensor = *WITNESS.inputs[i].tensor;
    cli_fill_random(&tensor, 1, WITNESS.inputs[i].name);
  }
  if (WITNESS.run() != 0) {
    return WITNESS.error();
  }
  uint32_t sum = UINT32_MAX;
  for (size_t i = 0; i < WITNESS.output_count; ++i) {
    sum = add_tensor(sum, WITNESS.outputs[i].tensor);
  }
  for (int i = 0; i < 8; ++i) {
    text[i] = "0123456789abcdef"[~sum >> (28 - 4 * i) & 15];
  }
  return text;
}

int main(int argc, char** argv) {
  if (argc > 1) {
    stowi_kernel_machine most = (stowi_kernel_machine)(argv[1][0] - '0');
    stowi_kernel_machine_limit(most);
    if (stowi_kernel_machine_is() != most) {
      puts("-");  // this machine has less
      return 0;
    }
  }
  puts(run());
  return 0;
}
