#!/bin/sh
# The loader refuses libraries of different versions instead of running them together: a program that
# was linked with libstowage-exec does not start with a core of another full version, nor one that
# was linked with an earlier SONAME.
# Usage: test_versions.sh CORE_LIBRARY EXEC_LIBRARY COMPILER
set -eu
core=$1 exec=$2 cc=$3
[ "$(uname -s)" = Linux ] || { echo 'SKIP: needs an ELF loader'; exit 77; }
include=$(dirname "$0")/../../include
version=$(sed -n 's/^#define STOW_VERSION_STRING "\(.*\)"/\1/p' "$include/stowage/base.h")
minor=${version%.*}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/program.c" <<'C'
#include <stdio.h>
#include <stowage/exec.h>
int main(void) {
  stow_prepare_options options;
  stow_prepare_options_init(&options);
  puts(stow_version());
  return options.threads != 1;
}
C
"$cc" -I"$include" "$work/program.c" "$exec" "$core" -o "$work/program"

# run DIRECTORY: the program, with the core that lies there
run() { LD_LIBRARY_PATH=$1:$(dirname "$core"):$(dirname "$exec") "$work/program" >"$work/out" 2>&1; }

mkdir "$work/same"
if ! run "$work/same" || ! grep -qx "$version" "$work/out"; then
  echo 'the program does not start:'
  cat "$work/out"
  exit 1
fi

# A core of another patch version: the same SONAME and public node, another private one.
mkdir "$work/other"
nm -D --defined-only --with-symbol-versions "$core" | awk '$2 != "A" {print $3}' >"$work/symbols"
sed -n 's/@@.*_PRIVATE_.*//p' "$work/symbols" >"$work/private"
sed -n 's/@@.*//p' "$work/symbols" | grep -vxF -f "$work/private" >"$work/public"
{ cat "$work/public" "$work/private"; } | sed 's/.*/void &(void);\nvoid &(void) {}/' >"$work/core.c"
cat >"$work/core.map" <<MAP
STOWAGE_$minor { global: stow_*; local: *; };
STOWAGE_PRIVATE_$version.1 { global: stowi_*; };
MAP
"$cc" -w -shared -fPIC "$work/core.c" -Wl,--version-script="$work/core.map" \
  -Wl,-soname,"libstowage.so.$minor" -o "$work/other/libstowage.so.$minor"
if run "$work/other" || ! grep -q "STOWAGE_PRIVATE_$version' not found" "$work/out"; then
  echo 'a core of another version is not refused:'
  cat "$work/out"
  exit 1
fi

# A program that was linked with the SONAME of earlier headers finds no library.
mkdir "$work/old"
"$cc" -w -shared -fPIC "$work/core.c" -Wl,-soname,libstowage.so.0 -o "$work/old/libstowage.so"
sed 's/#include <stowage\/exec.h>/#include <stowage\/base.h>/; /prepare/d; s/options.threads != 1/0/' "$work/program.c" >"$work/earlier.c"
"$cc" -I"$include" "$work/earlier.c" "$work/old/libstowage.so" -o "$work/earlier"
mkdir "$work/new"
cp "$core" "$work/new/libstowage.so.$minor"
if LD_LIBRARY_PATH=$work/new "$work/earlier" >"$work/out" 2>&1 || ! grep -q 'libstowage.so.0: cannot open' "$work/out"; then
  echo 'a program of an earlier SONAME starts:'
  cat "$work/out"
  exit 1
fi
echo "other versions are refused by the loader: $(tr '\n' ' ' <"$work/out")"
