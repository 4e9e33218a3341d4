// Speed of single kernels on one thread: matrix products and convolutions, in operations
// (multiplications and additions) per second, with every variant.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <stowage/exec.h>
#include <string.h>

#include "measure.h"

enum { OPERANDS = 3, REPEATS = 7 };

// Of a tensor.
typedef struct shape {
  stow_dtype dtype;
  uint32_t rank;
  int64_t dims[4];
} shape;

typedef struct sample {
  const char* name;
  stow_op op;
  shape operands[OPERANDS];
  size_t operand_count;
  shape result;
  double depth;  // multiplications for each element of the result
  const stow_attr* attrs;
  size_t attr_count;
} sample;

#define MATRIX(dtype, m, n)       \
  {                               \
    STOW_##dtype, 2, { (m), (n) } \
  }
#define IMAGE(n, c, h, w)               \
  {                                     \
    STOW_F32, 4, { (n), (c), (h), (w) } \
  }

static const int64_t ones[] = {1, 1, 1, 1};
static const int64_t twos[] = {2, 2};
static const int64_t threes[] = {3, 3, 3, 3};
static const stow_attr turned[] = {{.name = {"trans_b", 7}, .kind = STOW_ATTR_BOOL, .b = true}};
static const stow_attr nbits[] = {{.name = {"rows", 4}, .kind = STOW_ATTR_INT, .i = 4096},
                                  {.name = {"columns", 7}, .kind = STOW_ATTR_INT, .i = 4096},
                                  {.name = {"block_size", 10}, .kind = STOW_ATTR_INT, .i = 32},
                                  {.name = {"bits", 4}, .kind = STOW_ATTR_INT, .i = 4}};
static const stow_attr padded[] = {
    {.name = {"pads", 4}, .kind = STOW_ATTR_INTS, .count = 4, .ints = ones}};
static const stow_attr depthwise[] = {
    {.name = {"pads", 4}, .kind = STOW_ATTR_INTS, .count = 4, .ints = ones},
    {.name = {"group", 5}, .kind = STOW_ATTR_INT, .i = 96}};
static const stow_attr stem[] = {
    {.name = {"pads", 4}, .kind = STOW_ATTR_INTS, .count = 4, .ints = threes},
    {.name = {"strides", 7}, .kind = STOW_ATTR_INTS, .count = 2, .ints = twos}};

#define PRODUCT(name, m, n, k)                                                                     \
  {                                                                                                \
    name, STOW_OP_MATMUL, {MATRIX(F32, m, k), MATRIX(F32, k, n)}, 2, MATRIX(F32, m, n), (k), NULL, \
        0                                                                                          \
  }
#define CONV(name, operand, weights, output, depth, attrs)             \
  {                                                                    \
    name, STOW_OP_CONV, {operand, weights}, 2, output, (depth), attrs, \
        sizeof(attrs) / sizeof(stow_attr)                              \
  }

static const sample samples[] = {
    PRODUCT("matmul 1024 x 1024 x 1024", 1024, 1024, 1024),
    PRODUCT("matmul 256 x 256 x 256", 256, 256, 256),
    PRODUCT("matmul 128 x 768 x 768", 128, 768, 768),
    PRODUCT("matmul 64 x 3136 x 576", 64, 3136, 576),
    PRODUCT("matmul 8 x 4096 x 4096", 8, 4096, 4096),
    PRODUCT("matmul 1 x 4096 x 4096", 1, 4096, 4096),
    PRODUCT("matmul 32 x 32 x 32", 32, 32, 32),
    {"gemm 128 x 768 x 768, b turned",
     STOW_OP_GEMM,
     {MATRIX(F32, 128, 768), MATRIX(F32, 768, 768)},
     2,
     MATRIX(F32, 128, 768),
     768,
     turned,
     1},
    {"gemm 1 x 4096 x 4096, b turned",
     STOW_OP_GEMM,
     {MATRIX(F32, 1, 4096), MATRIX(F32, 4096, 4096)},
     2,
     MATRIX(F32, 1, 4096),
     4096,
     turned,
     1},
    {"matmul 128 x 768 x 768 of f16",
     STOW_OP_MATMUL,
     {MATRIX(F16, 128, 768), MATRIX(F16, 768, 768)},
     2,
     MATRIX(F16, 128, 768),
     768,
     NULL,
     0},
    {"matmul 1 x 2048 x 2048 of f16",
     STOW_OP_MATMUL,
     {MATRIX(F16, 1, 2048), MATRIX(F16, 2048, 2048)},
     2,
     MATRIX(F16, 1, 2048),
     2048,
     NULL,
     0},
    {"matmul_integer 128 x 768 x 768",
     STOW_OP_MATMUL_INTEGER,
     {MATRIX(U8, 128, 768), MATRIX(I8, 768, 768)},
     2,
     MATRIX(I32, 128, 768),
     768,
     NULL,
     0},
    {"matmul_integer 1 x 4096 x 4096",
     STOW_OP_MATMUL_INTEGER,
     {MATRIX(U8, 1, 4096), MATRIX(I8, 4096, 4096)},
     2,
     MATRIX(I32, 1, 4096),
     4096,
     NULL,
     0},
    {"matmul_nbits 1 x 4096 x 4096",
     STOW_OP_MATMUL_NBITS,
     {MATRIX(F32, 1, 4096), {STOW_U8, 3, {4096, 128, 16}}, MATRIX(F32, 4096, 128)},
     3,
     MATRIX(F32, 1, 4096),
     4096,
     nbits,
     4},
    {"matmul_nbits 64 x 4096 x 4096",
     STOW_OP_MATMUL_NBITS,
     {MATRIX(F32, 64, 4096), {STOW_U8, 3, {4096, 128, 16}}, MATRIX(F32, 4096, 128)},
     3,
     MATRIX(F32, 64, 4096),
     4096,
     nbits,
     4},
    CONV("conv 7 x 7 / 2, 3 to 64, 224", IMAGE(1, 3, 224, 224), IMAGE(64, 3, 7, 7),
         IMAGE(1, 64, 112, 112), 147, stem),
    CONV("conv 3 x 3, 64 to 64, 56", IMAGE(1, 64, 56, 56), IMAGE(64, 64, 3, 3),
         IMAGE(1, 64, 56, 56), 576, padded),
    CONV("conv 3 x 3, 512 to 512, 7", IMAGE(1, 512, 7, 7), IMAGE(512, 512, 3, 3),
         IMAGE(1, 512, 7, 7), 4608, padded),
    {"conv 1 x 1, 256 to 64, 56",
     STOW_OP_CONV,
     {IMAGE(1, 256, 56, 56), IMAGE(64, 256, 1, 1)},
     2,
     IMAGE(1, 64, 56, 56),
     256,
     NULL,
     0},
    CONV("conv 3 x 3 of each of 96, 112", IMAGE(1, 96, 112, 112), IMAGE(96, 1, 3, 3),
         IMAGE(1, 96, 112, 112), 9, depthwise),
};

static void* filled(size_t size, stow_dtype dtype, size_t elements) {
  void* data = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
  bench_require(data != NULL, "there is too little memory");
  memset(data, 0, size);
  for (size_t i = 0; i < elements && dtype == STOW_F32; ++i) {
    ((float*)data)[i] = (float)(i * 2654435761U % 1000) / 500.0F - 1.0F;
  }
  for (size_t i = 0; i < elements && dtype == STOW_F16; ++i) {
    ((uint16_t*)data)[i] = (uint16_t)(0x3000U + i * 2654435761U % 1024);  // 0.125 to 0.25
  }
  for (size_t i = 0; i < size && (dtype == STOW_U8 || dtype == STOW_I8); ++i) {
    ((uint8_t*)data)[i] = (uint8_t)(i * 2654435761U >> 8);
  }
  return data;
}

static stow_tensor tensor_of(const shape* s) {
  stow_tensor t = {.dtype = s->dtype, .rank = s->rank};
  memcpy(t.dims, s->dims, sizeof(s->dims));
  t.data = filled(stow_tensor_bytes(&t), t.dtype, stow_tensor_elements(&t));
  return t;
}

// Seconds of one call.
static double time_calls(const stow_kernel* kernel, stow_kernel_call* call, double operations) {
  size_t rounds = operations > 2e7 ? 1 : (size_t)(2e7 / operations) + 1;
  double samples_of[REPEATS];
  for (size_t i = 0; i < REPEATS; ++i) {
    double begin = bench_cpu_seconds();
    for (size_t r = 0; r < rounds; ++r) {
      bench_require(kernel->run(call) == STOW_OK, call->message);
    }
    samples_of[i] = (bench_cpu_seconds() - begin) / (double)rounds;
  }
  return bench_median(samples_of, REPEATS);
}

// One line for |call->variant|; operations are those of a call.
static void run_variant(const stow_kernel* kernel, stow_kernel_call* call, const char* name,
                        double operations) {
  uint64_t scratch = 0;
  if (kernel->scratch != NULL) {
    bench_require(kernel->scratch(call, &scratch) == STOW_OK, call->message);
  }
  call->scratch = filled((size_t)scratch, STOW_BOOL, 0);
  call->scratch_size = (size_t)scratch;
  double seconds = time_calls(kernel, call, operations);
  printf("%-34s %u %9.3f ms %8.1f Gop/s %10.1f KiB of scratch\n", name, call->variant,
         seconds * 1e3, operations / seconds * 1e-9, (double)scratch / 1024);
  free(call->scratch);
}

static void run_sample(const stow_kernels* kernels, const sample* s) {
  stow_tensor operands[OPERANDS];
  const stow_tensor* given[OPERANDS];
  for (size_t k = 0; k < s->operand_count; ++k) {
    operands[k] = tensor_of(&s->operands[k]);
    given[k] = &operands[k];
  }
  stow_tensor result = tensor_of(&s->result);
  stow_tensor* results[] = {&result};
  char message[256] = "the kernel failed";
  stow_kernel_call call = {.struct_size = sizeof(call), .op = s->op, .workers = 1};
  call.operands = given;
  call.operand_count = s->operand_count;
  call.results = results;
  call.result_count = 1;
  call.attrs = s->attrs;
  call.attr_count = s->attr_count;
  call.message = message;
  call.message_size = sizeof(message);
  const stow_kernel* kernel = stow_kernels_get(kernels, s->op);
  bench_require(kernel != NULL, "there is no such kernel");
  double operations = 2 * s->depth * (double)stow_tensor_elements(&result);
  for (call.variant = 0; call.variant == 0 || call.variant < kernel->variant_count;
       ++call.variant) {
    run_variant(kernel, &call, s->name, operations);
  }
  for (size_t k = 0; k < s->operand_count; ++k) {
    free(operands[k].data);
  }
  free(result.data);
}

// Arguments: parts of names; those samples whose names hold one are run.
static bool is_wanted(const sample* s, int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (strstr(s->name, argv[i]) != NULL) {
      return true;
    }
  }
  return argc < 2;
}

int main(int argc, char** argv) {
  stow_kernels* kernels;
  bench_require(stow_kernels_create(stow_allocator_default(), NULL, &kernels) == STOW_OK,
                "there are no kernels");
  bench_print_machine(stdout);
  for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); ++i) {
    if (is_wanted(&samples[i], argc, argv)) {
      run_sample(kernels, &samples[i]);
    }
  }
  stow_kernels_destroy(kernels);
  return 0;
}
