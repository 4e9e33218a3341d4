#!/bin/sh
# Installs what is missing, builds, and passes the tests: the second of the README's two commands.
# libonnx-testdata (6 MB) holds the ONNX project's own cases; where it cannot be had, they are skipped.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev zlib1g-dev cmake ninja-build
sh scripts/packages.sh g++ pkg-config mandoc zsh python3 || echo 'tests that need these are skipped'
sh scripts/packages.sh libonnx-testdata || echo 'no libonnx-testdata: its cases are skipped'
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release -j "$(nproc)" "$@"
