#!/bin/sh
# What the README shows is what happens: its C example compiles without warnings and prints what it says, and its transcript is
# what the command prints. Usage: test_readme.sh SOURCE_DIR BUILD_DIR CC
set -eu
source=$1
build=$2
cc=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

block() { # LANGUAGE: the first fenced block of that language
  awk -v fence="\`\`\`$1" '$0 == fence {on = 1; next} /^```$/ && on {exit} on' "$source/README.md"
}

block c >"$work/example.c"
block text >"$work/expected"
[ -s "$work/example.c" ] && [ -s "$work/expected" ]
"$cc" -std=c11 -Wall -Wextra -Wpedantic -Werror -I"$source/include" "$work/example.c" \
  "$build/src/libstowage.a" -o "$work/example"
"$work/example" >"$work/actual"
diff "$work/expected" "$work/actual"
echo "the README's example prints: $(cat "$work/actual")"

block console >"$work/expected"
{
  echo '$ stowage plan examples/transformer.stow'
  cd "$source" && "$build/tools/stowage/stowage" plan examples/transformer.stow
} >"$work/actual"
diff "$work/expected" "$work/actual"
echo "the README's transcript is what the command prints"
