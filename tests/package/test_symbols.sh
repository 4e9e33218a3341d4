#!/bin/sh
# The shared libraries export all stow_ symbols that their headers declare, and no others.
# Usage: test_symbols.sh LIBRARY [ONNX_LIBRARY EXEC_LIBRARY]
set -eu
include=$(dirname "$0")/../../include/stowage

# check LIBRARY PREFIX LEAST HEADER…
check() {
  library=$1 prefix=$2 least=$3
  shift 3
  shown=$(nm -D --defined-only "$library" | awk '{print $3}' | sed 's/@.*//')
  others=$(printf '%s\n' "$shown" | grep -v "^$prefix" || true)
  count=$(printf '%s\n' "$shown" | grep -c "^$prefix" || true)
  if [ -n "$others" ] || [ "$count" -lt "$least" ]; then
    echo "$library exports $count $prefix symbols, and these: $others"
    exit 1
  fi
  # An undefined public function would only show in a user's link.
  for header in "$@"; do
    { tr '\n' ' ' <"$header"; echo; } | sed 's/STOW_API/\n&/g' | sed -n 's/^STOW_API [^(]*[ *]\(stow_[a-z0-9_]*\)(.*/\1/p'
  done | sort -u | while read -r name; do
    printf '%s\n' "$shown" | grep -qx "$name" || { echo "declared but not exported: $name"; exit 1; }
  done
  echo "$(basename "$library"): $count symbols, all $prefix, all declared ones defined"
}

core=$(find "$include" -name '*.h' ! -name import.h ! -name onnx.h ! -name exec.h ! -name kernel.h | sort)
# shellcheck disable=SC2086  # a list
check "$1" stow_ 50 $core
[ $# -lt 2 ] || check "$2" 'stow_\(import\|model\|onnx\)_' 26 "$include/import.h" "$include/onnx.h"
[ $# -lt 3 ] || check "$3" stow_ 25 "$include/exec.h" "$include/kernel.h"
