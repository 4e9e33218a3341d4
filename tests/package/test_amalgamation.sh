#!/bin/sh
# The library in one file: the same bytes twice, no warnings as C11 and its headers as C++17, only
# public symbols, and programs that print what they print with the library.
# Usage: test_amalgamation.sh SOURCE_DIR BUILD_DIR CC
set -eu
source=$1
build=$2
cc=${CC:-$3}
command -v python3 >/dev/null || { echo 'SKIP: no python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
out=$work/stowage
strict='-std=c11 -pedantic -Wall -Wextra -Werror'

PYTHONHASHSEED=1 sh "$source/scripts/amalgamate.sh" "$out"
PYTHONHASHSEED=2 sh "$source/scripts/amalgamate.sh" "$work/again" >/dev/null
diff -r "$out" "$work/again"
if grep -nF "$work" "$out"/*; then echo 'a path of this machine is in the output'; exit 1; fi
command -v "$cc" >/dev/null || { echo "SKIP: no compiler $cc"; exit 77; }

# Whatever the standard, and with another compiler.
for compiler in "$cc" clang; do
  command -v "$compiler" >/dev/null || { echo "SKIP: no $compiler"; continue; }
  for file in "$out/stowage.c" "$out/stowage-solve.c"; do
    # shellcheck disable=SC2086  # flags
    "$compiler" $strict -fsyntax-only "$file"
    "$compiler" -std=gnu17 -Wall -Wextra -Werror -fsyntax-only "$file"
  done
done
if command -v c++ >/dev/null; then
  for header in stowage stowage-solve; do
    printf '#include "%s.h"\n#include "%s.h"\nint main() { return 0; }\n' $header $header >"$work/unit.cc"
    c++ -std=c++17 -pedantic -Wall -Wextra -Werror -I"$out" -fsyntax-only "$work/unit.cc"
  done
else
  echo 'SKIP: no C++ compiler'
fi

# Warnings that need an optimiser, which takes long for the large file. Names that other files can see are ours.
for name in stowage stowage-solve; do
  level=-O2
  [ $name = stowage-solve ] || level=-O1
  # shellcheck disable=SC2086
  "$cc" $strict "$level" -c "$out/$name.c" -o "$work/$name.o"
  if nm -g --defined-only "$work/$name.o" | grep -v ' stowi\{0,1\}_'; then
    echo "$name.c: a symbol without our prefix"
    exit 1
  fi
  echo "$name.c: $(size "$work/$name.o" | awk 'NR == 2 { print $1 + $2 }') bytes of code and data at $level"
done
bytes=$(size "$work/stowage-solve.o" | awk 'NR == 2 { print $1 + $2 }')
[ "$bytes" -lt 300000 ] || { echo 'stowage-solve.c: 300000 bytes or more'; exit 1; }

# same NAME SOURCE [ARGUMENT…]: what it prints with the library and with the file NAME.c
same() {
  name=$1
  program=$2
  shift 2
  "$cc" -std=c11 -I"$source/include" -I"$work/library" "$program" "$build/src/libstowage.a" -o "$work/expected"
  "$cc" -std=c11 -I"$work" -I"$out" "$program" "$work/$name.o" -o "$work/actual"
  "$work/expected" "$@" >"$work/expected.txt"
  "$work/actual" "$@" >"$work/actual.txt"
  diff "$work/expected.txt" "$work/actual.txt"
  echo "$(basename "$program"): $name.c and the library print the same, $(wc -l <"$work/actual.txt") lines"
}
mkdir "$work/library"
printf '#include <stowage/csv.h>\n' >"$work/library/stowage-solve.h"
same stowage "$source/examples/plan_graph.c"
same stowage "$source/examples/plan_set.c" "$source/examples/generate.stow"
same stowage "$source/examples/solve_buffers.c"
same stowage-solve "$source/examples/solve_buffers.c"
if "$work/actual" buffers.csv 2>"$work/refused"; then
  echo 'solve_buffers: an argument was ignored'
  exit 1
fi
grep -q "unexpected argument 'buffers.csv'" "$work/refused"
