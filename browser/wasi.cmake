# Toolchain file: the command as WebAssembly for WASI, with Debian's clang, lld, wasi-libc and
# libclang-rt-*-dev-wasm32. scripts/browser.sh uses it; it builds the target stowage_command.
set(CMAKE_SYSTEM_NAME WASI)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
list(APPEND CMAKE_MODULE_PATH ${CMAKE_CURRENT_LIST_DIR})
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
set(CMAKE_SYSROOT /usr)

# What wasi-libc lacks: headers in posix/ shadow the system's. The stack is as large as a native
# one.
set(posix ${CMAKE_CURRENT_LIST_DIR}/posix)
set(CMAKE_C_FLAGS_INIT "-isystem ${posix} -include ${posix}/posix.h")
set(CMAKE_C_FLAGS_RELEASE_INIT "-O2 -DNDEBUG")
set(CMAKE_EXE_LINKER_FLAGS_INIT
  "-Wl,-z,stack-size=8388608 -Wl,--stack-first -Wl,--strip-all -lwasi-emulated-getpid")
set(ZLIB_INCLUDE_DIR ${posix} CACHE PATH "")
set(ZLIB_LIBRARY /usr/lib/wasm32-wasi/libm.a CACHE FILEPATH "")
set(CMAKE_HAVE_LIBC_PTHREAD TRUE CACHE BOOL "") # posix/pthread.h
