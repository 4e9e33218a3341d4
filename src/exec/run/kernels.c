// Tables of kernels: the library's, and what a caller put in their place. Few are replaced, so that
// a table is two short lists that are searched.
#include <stowage/exec.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "exec/kernels/table.h"

typedef struct replacement {
  stow_op op;
  stow_kernel kernel;
} replacement;

typedef struct custom_kernel {
  char* name;
  size_t size;
  stow_kernel kernel;
} custom_kernel;

struct stow_kernels {
  stow_allocator allocator;
  STOWI_VEC(replacement) replaced;
  STOWI_VEC(custom_kernel) custom;
};

stow_status stow_kernels_create(stow_allocator allocator, stow_diag* diag,
                                stow_kernels** out_kernels) {
  *out_kernels = STOWI_NEW(allocator, stow_kernels);
  STOW_TRY(stowi_need_memory(*out_kernels != NULL, diag));
  (*out_kernels)->allocator = allocator;
  return STOW_OK;
}

void stow_kernels_destroy(stow_kernels* kernels) {
  if (kernels == NULL) {
    return;
  }
  stow_allocator allocator = kernels->allocator;
  for (size_t i = 0; i < kernels->custom.count; ++i) {
    STOWI_ARRAY_FREE(allocator, kernels->custom.data[i].name, kernels->custom.data[i].size);
  }
  STOWI_VEC_FREE(allocator, &kernels->custom);
  STOWI_VEC_FREE(allocator, &kernels->replaced);
  STOWI_DELETE(allocator, kernels);
}

static stow_status load_kernel(const stow_kernel* given, stow_diag* diag, stow_kernel* out) {
  *out = (stow_kernel){.struct_size = sizeof(*out)};
  STOW_TRY(stowi_load_struct(out, given, sizeof(*out), "stow_kernel", diag));
  if (given->struct_size < offsetof(stow_kernel, variant_count)) {
    return stowi_fail(
        diag, STOW_ERR_INVALID_ARGUMENT,
        "stow_kernel.struct_size is %zu, %zu are needed: tensors have grown, so compile "
        "the kernel against this library's headers",
        given->struct_size, sizeof(*out));
  }
  out->variant_count = out->variant_count == 0 ? 1 : out->variant_count;
  if (out->reserved[0] != NULL || out->reserved[1] != NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "stow_kernel.reserved is not NULL");
  }
  if (out->run == NULL) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT, "the kernel has no function to run");
  }
  if ((out->pack_size == NULL) != (out->pack == NULL)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "the kernel has one of pack_size and pack, but not both");
  }
  return STOW_OK;
}

static bool is_carried_out_by_executor(stow_op op) {
  return op == STOW_OP_BLOCKS || op == STOW_OP_STREAM ||
         (op < STOW_OP_CORE_COUNT && op != STOW_OP_CUSTOM && stowi_kernel_of(op) == NULL);
}

static replacement* find_replacement(const stow_kernels* kernels, stow_op op) {
  for (size_t i = 0; kernels != NULL && i < kernels->replaced.count; ++i) {
    if (kernels->replaced.data[i].op == op) {
      return &kernels->replaced.data[i];
    }
  }
  return NULL;
}

stow_status stow_kernels_set(stow_kernels* kernels, stow_op op, const stow_kernel* kernel,
                             stow_diag* diag) {
  stow_kernel full;
  STOW_TRY(load_kernel(kernel, diag, &full));
  if (is_carried_out_by_executor(op)) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      "`%s` is run by the executor itself and has no kernel",
                      stow_ops_get(NULL, op)->name);
  }
  if (op == STOW_OP_CUSTOM || op == STOW_OP_NONE) {
    return stowi_fail(diag, STOW_ERR_INVALID_ARGUMENT,
                      op == STOW_OP_NONE
                          ? "no such op"
                          : "set kernels of `custom` nodes by name (stow_kernels_set_custom)");
  }
  replacement* there = find_replacement(kernels, op);
  if (there == NULL) {
    STOW_TRY(stowi_need_memory(
        STOWI_VEC_RESERVE(kernels->allocator, &kernels->replaced, 1) == STOW_OK, diag));
    there = &kernels->replaced.data[kernels->replaced.count++];
  }
  *there = (replacement){op, full};
  return STOW_OK;
}

static custom_kernel* find_custom(const stow_kernels* kernels, stow_str name) {
  for (size_t i = 0; kernels != NULL && i < kernels->custom.count; ++i) {
    custom_kernel* entry = &kernels->custom.data[i];
    if (stow_str_equal((stow_str){entry->name, entry->size}, name)) {
      return entry;
    }
  }
  return NULL;
}

stow_status stow_kernels_set_custom(stow_kernels* kernels, stow_str name, const stow_kernel* kernel,
                                    stow_diag* diag) {
  stow_kernel full;
  STOW_TRY(load_kernel(kernel, diag, &full));
  custom_kernel* there = find_custom(kernels, name);
  if (there != NULL) {
    there->kernel = full;
    return STOW_OK;
  }
  char* copy = STOWI_ARRAY(kernels->allocator, char, name.size);
  STOW_TRY(stowi_need_memory(copy != NULL, diag));
  if (STOWI_VEC_RESERVE(kernels->allocator, &kernels->custom, 1) != STOW_OK) {
    STOWI_ARRAY_FREE(kernels->allocator, copy, name.size);
    return stowi_fail_memory(diag);
  }
  if (name.size != 0) {
    memcpy(copy, name.data, name.size);
  }
  kernels->custom.data[kernels->custom.count++] = (custom_kernel){copy, name.size, full};
  return STOW_OK;
}

const stow_kernel* stow_kernels_get(const stow_kernels* kernels, stow_op op) {
  const replacement* there = find_replacement(kernels, op);
  return there != NULL ? &there->kernel : stowi_kernel_of(op);
}

const stow_kernel* stow_kernels_get_custom(const stow_kernels* kernels, stow_str name) {
  const custom_kernel* there = find_custom(kernels, name);
  return there != NULL ? &there->kernel : NULL;
}
