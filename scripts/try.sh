#!/bin/sh
# Installs what is missing, builds, and plans a model: the first of the README's two commands.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev cmake ninja-build
cmake --preset release >/dev/null
cmake --build --preset release
echo
echo '$ stowage plan examples/transformer.stow'
build/release/tools/stowage/stowage plan examples/transformer.stow
