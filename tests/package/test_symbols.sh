#!/bin/sh
# The shared library shows stow_ symbols and no others. Usage: test_symbols.sh LIBRARY
set -eu
shown=$(nm -D --defined-only "$1" | awk '{print $3}' | sed 's/@.*//')
others=$(printf '%s\n' "$shown" | grep -v '^stow_' || true)
count=$(printf '%s\n' "$shown" | grep -c '^stow_' || true)
if [ -n "$others" ] || [ "$count" -lt 50 ]; then
  echo "exported: $count stow_ symbols, and these: $others"
  exit 1
fi
# A few functions must be there at least as declared; an undefined public function would only show in a user's link.
for header in "$(dirname "$0")"/../../include/stowage/*.h; do
  { tr '\n' ' ' <"$header"; echo; } | sed 's/STOW_API/\n&/g' | sed -n 's/^STOW_API [^(]*[ *]\(stow_[a-z0-9_]*\)(.*/\1/p'
done | sort -u | while read -r name; do
  printf '%s\n' "$shown" | grep -qx "$name" || { echo "declared but not exported: $name"; exit 1; }
done
echo "$count symbols, all stow_, all declared ones defined"
