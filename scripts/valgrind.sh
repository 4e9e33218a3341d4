#!/bin/sh
# Runs the unit tests and replays the fuzzers' corpora under valgrind: no errors, no leaks. Tests with many
# random cases (label "slow") are left out; ASan covers those.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev zlib1g-dev cmake ninja-build valgrind
cmake -S . -B build/valgrind -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTOWAGE_BUILD_BENCH=OFF \
  -DCMAKE_CROSSCOMPILING_EMULATOR="valgrind;--error-exitcode=9;--leak-check=full;--errors-for-leak-kinds=all;-q" \
  >/dev/null
cmake --build build/valgrind -- --quiet
ctest --test-dir build/valgrind -L 'unit|fuzz' -LE slow -j2 --output-on-failure \
  >build/valgrind/ctest.log || { cat build/valgrind/ctest.log; exit 1; }
echo "valgrind: silent ($(grep 'tests passed' build/valgrind/ctest.log))"
