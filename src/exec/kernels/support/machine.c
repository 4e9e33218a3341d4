#include "exec/kernels/support/machine.h"

#if defined(STOWI_KERNEL_X86)

static stowi_kernel_machine limit = STOWI_KERNEL_MACHINE_VNNI;  // only tests write it

void stowi_kernel_machine_limit(stowi_kernel_machine most) { limit = most; }

static stowi_kernel_machine find(void) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    return STOWI_KERNEL_MACHINE_PLAIN;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512vl")) {
    return STOWI_KERNEL_MACHINE_AVX2;
  }
  return __builtin_cpu_supports("avx512vnni") ? STOWI_KERNEL_MACHINE_VNNI
                                              : STOWI_KERNEL_MACHINE_AVX512;
}

stowi_kernel_machine stowi_kernel_machine_is(void) {
  stowi_kernel_machine is = find();
  return is < limit ? is : limit;
}

#else

void stowi_kernel_machine_limit(stowi_kernel_machine most) { (void)most; }

stowi_kernel_machine stowi_kernel_machine_is(void) { return STOWI_KERNEL_MACHINE_PLAIN; }

#endif
