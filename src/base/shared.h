// Marks internal functions that our other libraries (-onnx, -exec, …) call. They are exported in
// the version node of the full version (stowage.map.in) and declared in no installed header:
// libraries of different versions are refused by the loader.
#ifndef STOWAGE_SRC_BASE_SHARED_H_
#define STOWAGE_SRC_BASE_SHARED_H_

#include <stowage/base.h>

#define STOWI_SHARED STOW_API

#endif  // STOWAGE_SRC_BASE_SHARED_H_
