#!/bin/sh
# Every public header compiles alone, as C11 and as C++17, without warnings, and opens with an example
# that compiles: indented lines of its first comment, from an #include on, which include the header.
# Examples that are programs are also run, if there is a library to link.
# Usage: test_headers.sh INCLUDE_DIR CC [LIBRARY]
set -eu
include=$1
cc=$2
library=${3-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compile() {
  "$cc" -std=c11 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -I"$include" -fsyntax-only "$1"
}
example() {
  awk '!/^\/\// { exit } /^\/\/     #include </ { on = 1 } on && !/^\/\/(     |$)/ { exit }
       on { print substr($0, 8) }' "$1"
}

count=0
for header in "$include"/stowage/*.h; do
  name=$(basename "$header")
  # Twice, so that a missing include guard shows.
  printf '#include <stowage/%s>\n#include <stowage/%s>\nint main(void) { return 0; }\n' "$name" "$name" \
    >"$work/unit.c"
  compile "$work/unit.c"
  example "$header" >"$work/example_of_$name.c"
  if ! grep -qF "#include <stowage/$name>" "$work/example_of_$name.c" ||
    ! grep -q '^}' "$work/example_of_$name.c"; then
    echo "$header: the first comment has no example that includes <stowage/$name>"
    exit 1
  fi
  compile "$work/example_of_$name.c"
  if [ -n "$library" ] && grep -q '^int main' "$work/example_of_$name.c"; then
    "$cc" -std=c11 -I"$include" "$work/example_of_$name.c" -o "$work/example" "$library"
    "$work/example"
  fi
  count=$((count + 1))
done
echo "$count headers alone as C11, and their examples"

command -v c++ >/dev/null || { echo 'SKIP: no C++ compiler'; exit 77; }
for header in "$include"/stowage/*.h; do
  printf '#include <stowage/%s>\nint main() { return 0; }\n' "$(basename "$header")" >"$work/unit.cc"
  c++ -std=c++17 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wold-style-cast -Werror -I"$include" \
    -fsyntax-only "$work/unit.cc"
done
echo "$count headers alone as C++17"
