#!/bin/sh
# The shared libraries export what their headers declare in the version node of the minor version,
# internal functions for our other libraries in a private node of the full version, and nothing else.
# Usage: test_symbols.sh LIBRARY REPORT_LIBRARY [NPY_LIBRARY [ONNX_LIBRARY EXEC_LIBRARY]]
set -eu
include=$(dirname "$0")/../../include/stowage
version=$(sed -n 's/^#define STOW_VERSION_STRING "\(.*\)"/\1/p' "$include/base.h")

# check LIBRARY NODE LEAST HEADER…
check() {
  library=$1 node=$2 least=$3
  shift 3
  nm -D --defined-only --with-symbol-versions "$library" | awk '$2 != "A" {print $3}' >"$work/shown"
  sed -n "s/@@${node}_${version%.*}\$//p" "$work/shown" | sort >"$work/public"
  others=$(grep -vE "^stow_[a-z0-9_]+@@${node}_${version%.*}\$|^stowi_[a-z0-9_]+@@${node}_PRIVATE_$version\$" "$work/shown" || true)
  count=$(grep -c . "$work/public" || true)
  if [ -n "$others" ] || [ "$count" -lt "$least" ]; then
    echo "$library exports $count public symbols, and these: $others"
    exit 1
  fi
  # An undefined public function would only show in a user's link; one that no header declares is
  # nobody's.
  for header in "$@"; do
    { tr '\n' ' ' <"$header"; echo; } | sed 's/STOW_API/\n&/g' | sed -n 's/^STOW_API [^(]*[ *]\(stow_[a-z0-9_]*\)(.*/\1/p'
  done | sort -u >"$work/declared"
  cmp -s "$work/declared" "$work/public" || {
    echo "declared only (<) or exported only (>) by $library:"
    diff "$work/declared" "$work/public"
    exit 1
  }
  echo "$(basename "$library"): $count public symbols, all declared, and $(grep -c PRIVATE "$work/shown" || true) private ones"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
core=$(find "$include" -name '*.h' ! -name import.h ! -name onnx.h ! -name exec.h ! -name kernel.h \
  ! -name report.h ! -name npy.h | sort)
# shellcheck disable=SC2086  # a list
check "$1" STOWAGE 50 $core
check "$2" STOWAGE_REPORT 12 "$include/report.h"
[ $# -lt 3 ] || check "$3" STOWAGE_NPY 9 "$include/npy.h"
[ $# -lt 4 ] || check "$4" STOWAGE_ONNX 19 "$include/import.h" "$include/onnx.h"
[ $# -lt 5 ] || check "$5" STOWAGE_EXEC 25 "$include/exec.h" "$include/kernel.h"
