#!/bin/sh
# Compares what Stowage costs with what tests/ledger/ledger.txt records, and fails where a number got worse, which is
# larger in all of them. Numbers that got better are listed; record them too.
#
#   arena/plan/MODEL         bytes of `stowage plan MODEL`: tensors alone           exact
#   arena/run/MODEL          bytes of `stowage run MODEL`: tensors and scratch      exact
#   public/LIBRARY           functions that its installed headers declare           exact
#   exported/LIBRARY         symbols that the shared library exports                exact
#   lines/FOLDER             lines of its .c, .h and .def files                     1 %
#   size/FILE                text and data of the release build; of stowage-solve.o,
#                            which is stowage-solve.c alone, at -O2                 1 %
#   one-file/FILE            bytes that scripts/amalgamate.sh writes                1 %
#   instructions/plan/MODEL  of `stowage plan MODEL` without hints, by callgrind    2 %
#
# Sizes and instructions depend on the compiler: they are compared only where it is the recorded one. Models outside
# the repository are compared where they are at hand.
#
# Usage: scripts/ledger.sh [--update] [LIGHT_MODELS_DIR]     needs build/release; without a folder, build/onnx-suite/data/light
#        --update records what is measured now
set -eu
cd "$(dirname "$0")/.."

update=
if [ "${1:-}" = --update ]; then
  update=1
  shift
fi
light=${1:-build/onnx-suite/data/light}
record=tests/ledger/ledger.txt
build=build/release
stowage=$build/tools/stowage/stowage
[ -x "$stowage" ] || { echo "ledger.sh: no $stowage: build the preset 'release' first" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' $build/CMakeCache.txt)
compiler="$($cc --version | sed -n '1s/^[^ ]* //p'), $(uname -m)"

# number KEY: its value in the JSON on standard input
number() { sed -n "s/^  \"$1\": \([0-9]*\),*\$/\1/p"; }

arenas() { # NAME FILE [OPTION…]
  name=$1
  shift
  echo "arena/plan/$name $("$stowage" plan "$@" --format json | number arena_size)"
  echo "arena/run/$name $("$stowage" run "$@" --random 1 --format json | number arena)"
}

instructions() { # NAME FILE [OPTION…]
  name=$1
  shift
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$stowage" plan "$@" --hints never 2>&1 >/dev/null |
    sed -n "s|^.*Collected : \([0-9]*\).*|instructions/plan/$name \1|p"
}

# declared HEADER…: how many functions
declared() {
  for header in "$@"; do
    { tr '\n' ' ' <"$header"; echo; } | sed 's/STOW_API/\n&/g' | grep -c '^STOW_API [^(]*[ *]stow_[a-z0-9_]*(' || true
  done | awk '{ sum += $1 } END { print sum + 0 }'
}

measure() {
  for name in branches mlp tiny transformer; do arenas $name.stow examples/$name.stow; done
  arenas cnn.stow examples/cnn.stow --bind batch=1
  arenas training.stow examples/training.stow --graph backward
  arenas generate.stow examples/generate.stow --graph decode
  arenas decode.stow examples/decode.stow --bind past=128,max=256
  arenas digits.onnx examples/digits.onnx
  for name in encoder decode; do arenas $name.onnx examples/$name.onnx --bind-rest 4; done
  if [ -d "$light" ]; then
    for file in "$light"/*.onnx; do arenas "$(basename "$file" .onnx)" "$file"; done
  fi
  # shellcheck disable=SC2046  # a list
  echo "public/libstowage $(declared $(find include -name '*.h' | grep -vE '/(import|onnx|exec|kernel|report|npy)\.h$'))"
  echo "public/libstowage-report $(declared include/stowage/report.h)"
  echo "public/libstowage-npy $(declared include/stowage/npy.h)"
  echo "public/libstowage-onnx $(declared include/stowage/import.h include/stowage/onnx.h)"
  echo "public/libstowage-exec $(declared include/stowage/exec.h include/stowage/kernel.h)"
  libraries="$build/src/libstowage.so $build/src/report/libstowage-report.so $build/src/npy/libstowage-npy.so
    $build/src/onnx/libstowage-onnx.so $build/src/exec/libstowage-exec.so"
  for library in $libraries; do
    echo "exported/$(basename "$library" .so) $(nm -D --defined-only "$library" | grep -c ' [TDRBVW] ')"
  done
  for folder in src tools include; do
    echo "lines/$folder $(find $folder \( -name '*.[ch]' -o -name '*.def' \) -exec cat {} + | wc -l)"
  done
  for file in $stowage $libraries; do
    echo "size/$(basename "$file") $(size "$file" | awk 'NR == 2 { print $1 + $2 }')"
  done
  sh scripts/amalgamate.sh "$work/one" >/dev/null
  for file in "$work"/one/*; do echo "one-file/$(basename "$file") $(wc -c <"$file")"; done
  "$cc" -std=c11 -O2 -c "$work/one/stowage-solve.c" -o "$work/stowage-solve.o"
  echo "size/stowage-solve.o $(size "$work/stowage-solve.o" | awk 'NR == 2 { print $1 + $2 }')"
  if command -v valgrind >/dev/null; then
    instructions transformer.stow examples/transformer.stow
    instructions encoder.onnx examples/encoder.onnx --bind-rest 4
    if [ -d "$light" ]; then instructions light_resnet50 "$light/light_resnet50.onnx"; fi
  fi
}

measure >"$work/now"
if ! awk 'NF != 2 { print "ledger.sh: could not measure " $1; bad = 1 } END { exit bad }' "$work/now" >&2; then exit 2; fi
if [ -n "$update" ]; then
  [ -d "$light" ] || { echo "ledger.sh: no $light: its numbers would be lost" >&2; exit 2; }
  command -v valgrind >/dev/null || { echo 'ledger.sh: no valgrind: instructions would be lost' >&2; exit 2; }
  { echo '# Written by scripts/ledger.sh --update, which says what the numbers are. Smaller is better.'; echo "# $compiler"
    cat "$work/now"; } >$record
  git --no-pager diff --stat -- $record
  exit 0
fi

same_compiler=0
if [ "$(sed -n '2s/^# //p' $record)" = "$compiler" ]; then same_compiler=1; fi
awk -v same_compiler=$same_compiler -v compiler="$compiler" '
  FNR == NR { if ($1 != "#") { recorded[$1] = $2; count++ } else if (FNR == 2) { theirs = substr($0, 3) } next }
  {
    seen[$1] = 1
    kind = $1
    sub("/.*", "", kind)
    percent = kind == "instructions" ? 2 : kind == "size" || kind == "lines" || kind == "one-file" ? 1 : 0
    if ((kind == "instructions" || kind == "size") && !same_compiler) { others++; next }
    compared++
    if (!($1 in recorded)) { printf "NEW     %-40s %10.0f\n", $1, $2; worse++ }
    else if ($2 > recorded[$1] * (1 + percent / 100))
      { printf "WORSE   %-40s %10.0f -> %.0f (%+.2f %%, %d %% allowed)\n", $1, recorded[$1], $2,
               100 * ($2 / recorded[$1] - 1), percent; worse++ }
    else if ($2 < recorded[$1] * (1 - percent / 100))
      { printf "better  %-40s %10.0f -> %.0f (%+.2f %%)\n", $1, recorded[$1], $2, 100 * ($2 / recorded[$1] - 1); better++ }
  }
  END {
    for (name in recorded) if (!(name in seen)) {
      if (name ~ /\/light_/) lights++
      else if (name ~ /^instructions\//) uncounted++
      else { printf "GONE    %s\n", name; worse++ }
    }
    if (others) printf "SKIP: %d numbers of another compiler: recorded with %s; this is %s\n", others, theirs, compiler
    if (lights) printf "SKIP: %d numbers of light models: they are not at hand\n", lights
    if (uncounted) printf "SKIP: %d instruction counts: no valgrind\n", uncounted
    printf "ledger: %d numbers compared, %d worse, %d better\n", compared, worse, better
    if (worse || better) print "record them, where they are meant: scripts/ledger.sh --update"
    exit worse > 0
  }' $record "$work/now"
