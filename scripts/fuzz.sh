#!/bin/sh
# Builds the fuzzers with clang and runs each for a while, starting from its corpus. What they find is to be added to fuzz/corpus.
# Usage: scripts/fuzz.sh [SECONDS_EACH]
set -eu
cd "$(dirname "$0")/.."

if [ "${1:-}" = --one ]; then # SECONDS NAME: of those that are built
  seconds=$2 name=$3
  mkdir -p "build/fuzz/found/$name"
  log=build/fuzz/found/$name.log
  dict=
  if [ -e "fuzz/$name.dict" ]; then
    dict="-dict=fuzz/$name.dict"
  fi
  if ! build/fuzz/fuzz/fuzz_"$name" ${dict:+"$dict"} -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" \
    "build/fuzz/found/$name" "fuzz/corpus/$name" >"$log" 2>&1; then
    cat "$log"
    echo "fuzz_$name found something: see build/fuzz/found"
    exit 255
  fi
  echo "fuzz_$name: $seconds s, $(sed -n 's/^stat::number_of_executed_units: *//p' "$log") inputs"
  exit
fi

seconds=${1:-60}
sh scripts/packages.sh clang libclang-rt-14-dev llvm libc6-dev zlib1g-dev cmake ninja-build
cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DSTOWAGE_BUILD_FUZZERS=ON -DSTOWAGE_WERROR=ON >/dev/null
set --
for corpus in fuzz/corpus/*/; do set -- "$@" "$(basename "$corpus")"; done
# shellcheck disable=SC2046 # one target each
cmake --build build/fuzz --target $(printf 'fuzz_%s ' "$@") -- --quiet
printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 sh scripts/fuzz.sh --one "$seconds"
