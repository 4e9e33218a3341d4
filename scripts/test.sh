#!/bin/sh
# Installs missing packages, builds, and runs the tests: the second of the README's two commands.
# libonnx-testdata (6 MB) has the ONNX project's test cases; without it they are skipped.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev zlib1g-dev cmake ninja-build
sh scripts/packages.sh g++ pkg-config mandoc zsh python3 || echo 'tests that need these are skipped'
sh scripts/packages.sh libonnx-testdata || echo 'no libonnx-testdata: its cases are skipped'
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release -j "$(nproc)" "$@"
