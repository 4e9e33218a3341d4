#!/bin/sh
# clang-tidy with the checks of .clang-tidy over all that a build compiles.
# Usage: scripts/tidy.sh [BUILD]     without BUILD, build/release
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh clang-tidy python3
build=${1:-build/release}
[ -f "$build/CMakeCache.txt" ] || { echo "tidy.sh: no build in $build" >&2; exit 2; }
cmake -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$build" >/dev/null

# Once each: the tests compile some sources of rooms again.
files=$(python3 -c '
import json, os, sys
files = {os.path.relpath(entry["file"]) for entry in json.load(open(sys.argv[1]))}
print("\n".join(sorted(file for file in files if not file.startswith(("build", ".")))))' "$build/compile_commands.json")
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! printf '%s\n' "$files" | xargs -P "$(nproc)" -n 8 clang-tidy -p "$build" --quiet >"$log" 2>&1; then
  grep -vE '^[0-9]+ warnings? generated' "$log"
  exit 1
fi
echo "tidy: $(printf '%s\n' "$files" | wc -l) files are clean"
