#!/bin/sh
# Runs the unit tests and replays the fuzzers' corpora under clang's MemorySanitizer, which finds reads of memory that
# nothing has written, as valgrind does, in a tenth of its time. zlib is not compiled with it, so what calls zlib runs
# under valgrind. Tests with many random cases (label "slow") are left out.
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc clang libclang-rt-14-dev llvm libc6-dev zlib1g-dev cmake ninja-build valgrind
with_zlib='test_npy|replay_tensors'
cmake --preset msan >/dev/null
cmake --build --preset msan -- --quiet
ctest --preset msan -j2 -L 'unit|fuzz' -LE slow -E "^($with_zlib)\$"

cmake -S . -B build/valgrind -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DSTOWAGE_BUILD_BENCH=OFF \
  -DCMAKE_CROSSCOMPILING_EMULATOR="valgrind;--error-exitcode=9;--leak-check=full;--errors-for-leak-kinds=all;-q" \
  >/dev/null
cmake --build build/valgrind --target test_npy replay_tensors -- --quiet
ctest --test-dir build/valgrind -R "^($with_zlib)\$" --output-on-failure
