#!/bin/sh
# Fetches onnxruntime's library (a Python wheel) and its C header (a Go module carries it), for
# bench/bench_onnxruntime.c. They are for benchmarks and never committed; both are MIT-licensed.
# Usage: scripts/fetch-onnxruntime.sh DIR
set -eu
[ $# -eq 1 ] || { echo 'usage: scripts/fetch-onnxruntime.sh DIR' >&2; exit 2; }
mkdir -p "$1"
cd "$1"

if [ ! -e lib/libonnxruntime.so.1 ]; then
  scratch=$(mktemp -d ./fetch.XXXXXX)
  python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$scratch" \
    onnxruntime==1.31.1
  python3 -m zipfile -e "$scratch"/onnxruntime-*.whl "$scratch/wheel"
  mkdir -p lib
  mv "$scratch"/wheel/onnxruntime/capi/libonnxruntime.so.* lib/libonnxruntime.so.1
  rm -r "$scratch"
fi

# The header is of an older release: the library supports older versions of its interface.
if [ ! -e include/onnxruntime_c_api.h ]; then
  module=$(go mod download -json github.com/yalue/onnxruntime_go@v1.27.0 |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["Dir"])')
  mkdir -p include
  cp "$module"/onnxruntime_c_api.h "$module"/onnxruntime_ep_c_api.h include
  chmod u+w include/*.h
fi
