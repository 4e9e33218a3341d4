// What programs that import a model take on their command line.
//
//     --bind SYMBOL=N   --bind-rest N   --value INPUT=N[,N…]   --shape TENSOR=N[,N…]
#ifndef STOWAGE_TESTS_ONNX_REQUEST_ARGS_H_
#define STOWAGE_TESTS_ONNX_REQUEST_ARGS_H_

#include <stowage/onnx.h>

// Applies argv[*index], where it is one of the above, and moves |index| past it. False, and nothing
// changes, where it is another argument. Ends the program where the argument is malformed.
bool request_take_arg(stow_import_request* request, int argc, char** argv, int* index);

#endif  // STOWAGE_TESTS_ONNX_REQUEST_ARGS_H_
