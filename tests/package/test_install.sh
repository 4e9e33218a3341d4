#!/bin/sh
# Installs into an empty folder and builds a separate project against it: with pkg-config and the
# shared library, statically, and with CMake's find_package.
# Usage: test_install.sh SOURCE_DIR BUILD_DIR CC GENERATOR
set -eu
source=$1
build=$2
cc=$3
generator=$4
consumer=$source/tests/package/consumer
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/prefix" >/dev/null
expected='arena 128'

run() {
  actual=$("$@")
  [ "$actual" = "$expected" ] || { echo "$* printed: $actual"; exit 1; }
}

PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name stowage.pc)")
export PKG_CONFIG_PATH
libdir=$(dirname "$PKG_CONFIG_PATH")
if command -v pkg-config >/dev/null; then
  [ "$(pkg-config --modversion stowage)" = "$("$work/prefix/bin/stowage" --version | awk '{print $2}')" ]
  # shellcheck disable=SC2046  # flags are meant to be split
  "$cc" -std=c11 -Wall -Wextra -Werror "$consumer/main.c" $(pkg-config --cflags --libs stowage) \
    -o "$work/shared"
  run env LD_LIBRARY_PATH="$libdir" "$work/shared"
  echo 'pkg-config: ok'
else
  echo 'SKIP: no pkg-config'
  exit 77
fi

"$cc" -std=c11 -I"$work/prefix/include" "$consumer/main.c" "$libdir/libstowage.a" -o "$work/static"
run "$work/static"
echo 'static library: ok'

cmake -S "$consumer" -B "$work/consumer" -G "$generator" -DCMAKE_C_COMPILER="$cc" -DCMAKE_PREFIX_PATH="$work/prefix" \
  >/dev/null
cmake --build "$work/consumer" >/dev/null
run "$work/consumer/consumer_shared"
run "$work/consumer/consumer_static"
echo 'find_package: ok'

# Reports stand on the other one, in every way of linking.
expected='<svg same'
# shellcheck disable=SC2046  # flags are meant to be split
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer/report.c" $(pkg-config --cflags --libs stowage-report) \
  $(pkg-config --libs stowage) -o "$work/report_shared"
run env LD_LIBRARY_PATH="$libdir" "$work/report_shared"
"$cc" -std=c11 -I"$work/prefix/include" "$consumer/report.c" "$libdir/libstowage-report.a" "$libdir/libstowage.a" \
  -o "$work/report_static"
run "$work/report_static"
run "$work/consumer/consumer_report_shared"
run "$work/consumer/consumer_report_static"
echo 'libstowage-report: ok'

# So do arrays in numpy's files, which need zlib.
expected='read 1 2 3'
# shellcheck disable=SC2046  # flags are meant to be split
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer/npy.c" $(pkg-config --cflags --libs stowage-npy) \
  $(pkg-config --libs stowage) -o "$work/npy_shared"
run env LD_LIBRARY_PATH="$libdir" "$work/npy_shared"
"$cc" -std=c11 -I"$work/prefix/include" "$consumer/npy.c" "$libdir/libstowage-npy.a" "$libdir/libstowage.a" \
  -lz -o "$work/npy_static"
run "$work/npy_static"
run "$work/consumer/consumer_npy_shared"
run "$work/consumer/consumer_npy_static"
echo 'libstowage-npy: ok'

# The ONNX library stands on the other one, in every way of linking.
expected='no.onnx: no such file'
# shellcheck disable=SC2046  # flags are meant to be split
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer/onnx.c" $(pkg-config --cflags --libs stowage-onnx) -o "$work/onnx_shared"
run env LD_LIBRARY_PATH="$libdir" "$work/onnx_shared"
"$cc" -std=c11 -I"$work/prefix/include" "$consumer/onnx.c" "$libdir/libstowage-onnx.a" "$libdir/libstowage.a" \
  -o "$work/onnx_static"
run "$work/onnx_static"
run "$work/consumer/consumer_onnx_shared"
run "$work/consumer/consumer_onnx_static"
echo 'libstowage-onnx: ok'

# So does the executor, which also needs threads and the C library's maths.
expected='relu 0 0 2'
# shellcheck disable=SC2046  # flags are meant to be split
"$cc" -std=c11 -Wall -Wextra -Werror "$consumer/exec.c" $(pkg-config --cflags --libs stowage-exec) \
  $(pkg-config --libs stowage) -o "$work/exec_shared"
run env LD_LIBRARY_PATH="$libdir" "$work/exec_shared"
"$cc" -std=c11 -I"$work/prefix/include" "$consumer/exec.c" "$libdir/libstowage-exec.a" "$libdir/libstowage.a" \
  -lm -lpthread -o "$work/exec_static"
run "$work/exec_static"
run "$work/consumer/consumer_exec_shared"
run "$work/consumer/consumer_exec_static"
echo 'libstowage-exec: ok'

# What shells read to complete command lines is what the command prints.
"$work/prefix/bin/stowage" complete bash | cmp - "$work/prefix/share/bash-completion/completions/stowage"
"$work/prefix/bin/stowage" complete zsh | cmp - "$work/prefix/share/zsh/site-functions/_stowage"
echo 'completion: ok'

# Nothing in the installed files points back to where they were built.
if grep -rlF "$source" "$work/prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
  echo 'installed files mention the source folder'
  exit 1
fi
