#!/bin/sh
# Compares what the shared libraries promise, functions, structs and enums of the installed headers, with the dumps in
# tests/abi/, and fails on any difference. One that is meant is recorded with --update, which wants a line in CHANGELOG.md
# that is not committed yet: users read there what they must do.
# Usage: scripts/abi.sh [--update] [BUILD]     BUILD has debug information; without it, the preset 'debug' is built
set -eu
cd "$(dirname "$0")/.."

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
sh scripts/packages.sh abigail-tools
build=${1:-build/debug}
if [ $# -eq 0 ]; then
  cmake --preset debug >/dev/null
  cmake --build --preset debug --target stowage_shared stowage_report_shared stowage_npy_shared \
    stowage_onnx_shared stowage_exec_shared -- --quiet
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# What our own libraries need of each other is exported, and no promise.
cat >"$work/private" <<'END'
[suppress_function]
  symbol_name_regexp = ^stowi_
  drop = yes
[suppress_variable]
  symbol_name_regexp = ^stowi_
  drop = yes
# --drop-private-types compares names of files without folders, and takes src/exec/run/exec.h for include/stowage/exec.h.
# It finds types that are pointed to but not shown by this label.
[suppress_type]
  label = Artificial private types suppression specification
  source_location_not_regexp = /include/stowage/
  drop = yes
END

changed=
for path in src/libstowage src/report/libstowage-report src/npy/libstowage-npy src/onnx/libstowage-onnx src/exec/libstowage-exec; do
  name=$(basename $path)
  dump=tests/abi/$name.abi
  # Folders of sources say nothing about the interface.
  abidw --drop-undefined-syms --suppressions "$work/private" --no-show-locs --no-corpus-path \
    --no-comp-dir-path --no-elf-needed --no-architecture --no-write-default-sizes --type-id-style hash \
    "$build/$path.so" | sed "s|^\(  <abi-instr .*path='\)[^']*/|\1|" >"$work/$name.abi"
  # A dump of nothing would equal another one of nothing.
  functions=$(grep -c '<function-decl' "$work/$name.abi") ||
    { echo "abi.sh: no functions in $build/$path.so: was it built with -g?" >&2; exit 2; }
  if [ -f "$dump" ] && abidiff --harmless --redundant "$dump" "$work/$name.abi" >"$work/diff" 2>&1; then
    echo "$name: $functions functions, as recorded"
    continue
  fi
  changed="$changed $name"
  if [ -z "$update" ]; then
    echo "$name: not as recorded in $dump:"
    if [ -f "$dump" ]; then cat "$work/diff"; else echo '  there is none'; fi
  fi
done
[ -n "$changed" ] || exit 0

if [ -z "$update" ]; then
  echo 'If this is meant, describe it in CHANGELOG.md and record it: scripts/abi.sh --update'
  exit 1
fi
if git diff --quiet HEAD -- CHANGELOG.md; then
  echo "abi.sh: the interface of$changed changed, CHANGELOG.md did not: describe it there first" >&2
  exit 1
fi
for name in $changed; do cp "$work/$name.abi" "tests/abi/$name.abi"; done
echo "recorded:$changed"
