#!/bin/sh
# Builds the fuzzers with clang and runs each for a while, starting from its corpus. What they find is to be added to fuzz/corpus.
# Usage: scripts/fuzz.sh [SECONDS_EACH]
set -eu
cd "$(dirname "$0")/.."

seconds=${1:-60}
sh scripts/packages.sh clang libclang-rt-14-dev llvm libc6-dev zlib1g-dev cmake ninja-build
cmake -S . -B build/fuzz -G Ninja -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DSTOWAGE_BUILD_FUZZERS=ON -DSTOWAGE_WERROR=ON >/dev/null
for corpus in fuzz/corpus/*/; do
  name=$(basename "$corpus")
  cmake --build build/fuzz --target "fuzz_$name" -- --quiet
  mkdir -p "build/fuzz/found/$name"
  echo "fuzz_$name: $seconds s"
  log=build/fuzz/found/$name.log
  dict=
  if [ -e "fuzz/$name.dict" ]; then
    dict="-dict=fuzz/$name.dict"
  fi
  if ! build/fuzz/fuzz/fuzz_"$name" ${dict:+"$dict"} -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 \
    -verbosity=0 -print_final_stats=1 -artifact_prefix="build/fuzz/found/$name-" \
    "build/fuzz/found/$name" "$corpus" >"$log" 2>&1; then
    cat "$log"
    echo "fuzz_$name found something: see build/fuzz/found"
    exit 1
  fi
  grep -E 'stat::number_of_executed_units|stat::average_exec' "$log"
done
