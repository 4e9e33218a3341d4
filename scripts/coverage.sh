#!/bin/sh
# Prints line and branch coverage of src/ after the whole test suite, and fails below 95 % of lines.
# Usage: scripts/coverage.sh [MINIMUM_LINE_PERCENT]
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc libc6-dev zlib1g-dev cmake ninja-build gcovr
cmake -S . -B build/coverage -G Ninja -DCMAKE_BUILD_TYPE=Debug -DSTOWAGE_COVERAGE=ON \
  -DSTOWAGE_BUILD_BENCH=OFF >/dev/null
cmake --build build/coverage -- --quiet
find build/coverage -name '*.gcda' -delete
# Tests of full disks limit the size of files, also of counters; that must not show in messages.
export GCOV_ERROR_FILE=/dev/null
ctest --test-dir build/coverage --output-on-failure -LE no-coverage -j2 >build/coverage/ctest.log ||
  { cat build/coverage/ctest.log; exit 1; }
gcovr --root . --filter src/ --object-directory build/coverage --exclude-unreachable-branches \
  --print-summary --fail-under-line "${1:-95}"
