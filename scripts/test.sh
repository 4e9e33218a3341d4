#!/bin/sh
# Installs what is missing, builds, and passes the tests: the second of the README's two commands.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc g++ libc6-dev cmake ninja-build pkg-config mandoc
cmake --preset release >/dev/null
cmake --build --preset release
ctest --preset release "$@"
