# WASI as CMake sees it: a UNIX as far as posix/ goes. Shared libraries are named, never built.
set(UNIX 1)
set_property(GLOBAL PROPERTY TARGET_SUPPORTS_SHARED_LIBS TRUE)
set(CMAKE_EXECUTABLE_SUFFIX .wasm)
