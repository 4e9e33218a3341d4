#!/bin/sh
# Tests the complete C programs of docs/c-api.md and docs/exec.md (they compile without warnings and
# print what the page shows) and the README's commands for models. test_transcripts.py runs the
# transcripts. Usage: test_readme.sh SOURCE_DIR BUILD_DIR CC
set -eu
source=$1
build=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

block() { # FILE LANGUAGE N: the Nth fenced block of that language
  awk -v fence="\`\`\`$2" -v wanted="$3" '
    $0 == fence {on = ++count == wanted; next} /^```$/ {on = 0} on' "$source/$1"
}

check_example() { # FILE ARGUMENT…: the first block of C, and the first of text: what it prints
  page=$1
  shift
  block "$page" c 1 >"$work/example.c"
  block "$page" text 1 >"$work/expected"
  [ -s "$work/example.c" ] && [ -s "$work/expected" ]
  "$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$source/include" "$work/example.c" \
    "$build/src/exec/libstowage-exec.a" "$build/src/onnx/libstowage-onnx.a" "$build/src/libstowage.a" \
    -lm -lpthread -o "$work/example"
  "$work/example" "$@" >"$work/actual"
  diff "$work/expected" "$work/actual"
  echo "$page: the program prints: $(cat "$work/actual")"
}
check_example docs/c-api.md
check_example docs/exec.md "$source/examples/digits.onnx"
diff "$work/example.c" "$source/examples/run_model.c"

# The commands for models run as shown. The one with too little memory exits with 1.
mkdir "$work/models"
cp -r "$source/examples" "$work/models"
sed -n '/^## ONNX models/,/^## /s/^    \(stowage .*[^ ]\)  *# .*$/\1/p' "$source/README.md" >"$work/commands"
[ "$(wc -l <"$work/commands")" -eq 8 ] || { echo "README.md: expected 8 commands for models"; exit 1; }
PATH=$build/tools/stowage:$PATH
while read -r line; do
  expected=0
  case $line in *--capacity*) expected=1 ;; esac
  status=0
  (cd "$work/models" && eval "$line") >"$work/actual" 2>&1 || status=$?
  [ "$status" -eq "$expected" ] || { echo "$line: exit status $status"; cat "$work/actual"; exit 1; }
  echo "README.md: $line: works"
done <"$work/commands"
[ -s "$work/models/digits_arena.h" ]
