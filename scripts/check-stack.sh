#!/bin/sh
# The stack of kernels: fails if a function's own frame is larger than the limit. Scratch must not hide there. The compiler
# writes the sizes (-fstack-usage) when the preset `release` is built with gcc.
# Usage: scripts/check-stack.sh [--list] [BUILD]
#        --list prints the largest frame of each file.
set -eu
cd "$(dirname "$0")/.."

limit=4096 # two blocks of 224 doubles, and what a function needs besides
list=false
if [ "${1:-}" = --list ]; then
  list=true
  shift
fi
objects=${1:-build/release}/src/exec/CMakeFiles/room_exec.dir/kernels

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
find "$objects" -name '*.su' -exec cat {} + >"$work/frames" 2>/dev/null || true
if ! [ -s "$work/frames" ]; then
  echo "stack: no sizes below $objects; build the preset release with gcc" >&2
  exit 2
fi

# The tables of an equation's axes stand on the stack: at most 52 letters.
awk -F '\t' -v limit="$limit" -v list="$list" '
  {
    split($1, place, ":")
    sub(/.*src\/exec\//, "", place[1])
    allowed = place[1] ~ /matrix\/einsum\.c$/ ? 12288 : limit
    if ($2 + 0 > most[place[1]]) most[place[1]] = $2 + 0
    if ($2 + 0 > allowed) {
      printf "stack: %s: %s has a frame of %d bytes, more than %d\n", place[1], place[4], $2, allowed
      bad = 1
    }
  }
  END {
    for (file in most) if (list == "true") printf "%6d %s\n", most[file], file
    exit bad
  }' "$work/frames" >"$work/found" && status=0 || status=1
sort -rn "$work/found"
[ "$status" -ne 0 ] || echo 'stack: within the limit'
exit "$status"
