#!/bin/sh
# Installs missing packages, builds the command only, plans one model and runs another: the first of
# the README's two commands.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev zlib1g-dev cmake ninja-build
cmake --preset release >/dev/null
cmake --build --preset release --target stowage_command
PATH=$PWD/build/release/tools/stowage:$PATH
for line in 'plan examples/transformer.stow' 'run examples/digits.onnx --random 1 --check'; do
  printf '\n$ stowage %s\n' "$line"
  # shellcheck disable=SC2086  # words are meant to be split
  stowage $line
done
