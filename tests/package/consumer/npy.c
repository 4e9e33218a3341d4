// Writes an array as numpy does and reads it again, as a program outside of the project would.
#include <stdio.h>
#include <stowage/npy.h>

int main(void) {
  int32_t numbers[3] = {1, 2, 3};
  int32_t again[3] = {0, 0, 0};
  stow_tensor tensor = {.data = numbers, .dtype = STOW_I32, .rank = 1, .dims = {3}};
  const stow_tensor* tensors[1] = {&tensor};
  stow_str name = stow_str_of("x");
  stow_allocator allocator = stow_allocator_default();
  stow_npy* file = NULL;
  stow_string out;
  stow_diag diag;
  stow_diag_init(&diag);
  stow_string_init(&out, allocator);
  stow_status status =
      stow_npz_write(tensors, &name, 1, allocator, stow_string_writer(&out), &diag);
  status = status ? status
                  : stow_npy_open(STOW_NPY_ARCHIVE, out.data, out.size, allocator, &diag, &file);
  status = status ? status : stow_npy_load(file, 0, again, &diag);
  if (status != STOW_OK) {
    puts(diag.message);
  } else {
    printf("read %d %d %d\n", (int)again[0], (int)again[1], (int)again[2]);
  }
  stow_npy_close(file);
  stow_string_free(&out);
  return status == STOW_OK ? 0 : 1;
}
