#!/bin/sh
# Every public header compiles alone, as C11 and as C++17, without warnings.
# Usage: test_headers.sh INCLUDE_DIR CC
set -eu
include=$1
cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

count=0
for header in "$include"/stowage/*.h; do
  name=$(basename "$header")
  # Twice, so that a missing include guard shows.
  printf '#include <stowage/%s>\n#include <stowage/%s>\nint main(void) { return 0; }\n' "$name" "$name" \
    >"$work/unit.c"
  "$cc" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$include" -fsyntax-only \
    "$work/unit.c"
  count=$((count + 1))
done
echo "$count headers alone as C11"

command -v c++ >/dev/null || { echo 'SKIP: no C++ compiler'; exit 77; }
for header in "$include"/stowage/*.h; do
  printf '#include <stowage/%s>\nint main() { return 0; }\n' "$(basename "$header")" >"$work/unit.cc"
  c++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Werror -I"$include" \
    -fsyntax-only "$work/unit.cc"
done
echo "$count headers alone as C++17"
