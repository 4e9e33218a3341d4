// Opens a model that is not there, as a program outside of the project would.
#include <stdio.h>
#include <stowage/onnx.h>

int main(void) {
  stow_diag diag;
  stow_diag_init(&diag);
  stow_model* model = NULL;
  stow_status status = stow_onnx_open("no.onnx", stow_allocator_default(), &diag, &model);
  stow_model_close(model);
  puts(diag.message);
  return status == STOW_ERR_IO ? 0 : 1;
}
