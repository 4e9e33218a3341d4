// Which instructions the processor has beyond those that all of its kind have: asked at run time,
// so that one program runs everywhere. A program that is compiled with STOWI_KERNEL_PLAIN uses
// none, as on the plainest machine; its results have the same bits.
#ifndef STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MACHINE_H_
#define STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MACHINE_H_

#if defined(__GNUC__) && defined(__x86_64__) && !defined(STOWI_KERNEL_PLAIN)
#define STOWI_KERNEL_X86 1
#endif

// Each has what those before it have.
typedef enum stowi_kernel_machine {
  STOWI_KERNEL_MACHINE_PLAIN,
  STOWI_KERNEL_MACHINE_AVX2,    // and FMA
  STOWI_KERNEL_MACHINE_AVX512,  // F, BW and VL
  STOWI_KERNEL_MACHINE_VNNI     // of AVX-512
} stowi_kernel_machine;

stowi_kernel_machine stowi_kernel_machine_is(void);

// For tests: the machine is as one that has no more than |most|. Not while kernels run.
void stowi_kernel_machine_limit(stowi_kernel_machine most);

#endif  // STOWAGE_SRC_EXEC_KERNELS_SUPPORT_MACHINE_H_
