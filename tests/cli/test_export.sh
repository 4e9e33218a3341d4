# `stowage export`: programs build without warnings, use no heap, and give the same bits as
# `stowage run`; with any names in the model; and refusals.
. "$(dirname "$0")/harness.sh"
compiler=${CC:-cc}
# Programs have many files in common: where there is ccache, each is compiled once.
cached=
if command -v ccache >/dev/null 2>&1; then
  cached='ccache '
  CCACHE_DIR=$work/ccache CCACHE_NOHASHDIR=1
  export CCACHE_DIR CCACHE_NOHASHDIR
fi
if command -v "$compiler" >/dev/null 2>&1 && command -v make >/dev/null 2>&1; then builds=1; else builds=; fi

# build DIR: with all warnings, and without optimisation: the bits are the same, and it is faster.
build() {
  [ -n "$builds" ] || return 1
  if make -s -C "$1" CC="$cached$compiler" CFLAGS="${2:--O0} -Wextra -Wpedantic -Werror" >"$out" 2>"$err"; then pass; else
    fail "$1 does not build"
    return 1
  fi
}

# agrees NAME FILE OUTPUTS ARG...: the program of FILE computes the same OUTPUTS as `run`. ARGs are
# given to both.
agrees() {
  program=$1 file=$2 results=$3
  shift 3
  run export "$file" -o "$work/$program" --name "$program" --random 7 "$@"
  expect 0 "AProgramIsWritten ($program)"
  says "$program: "
  name="TheProgramBuilds ($program)"
  build "$work/$program" || return
  for result in $results; do
    run run "$file" --random 7 -o "$result=$work/$program.run" "$@"
    expect 0 "TheModelRuns ($program)"
    "$work/$program/$program" --random 7 --output "$result=$work/$program.raw" >"$out" 2>"$err" </dev/null
    code=$?
    expect 0 "TheProgramRuns ($program $result)"
    if [ -s "$work/$program.raw" ]; then same "$work/$program.run" "$work/$program.raw"; else fail "nothing written"; fi
  done
}

# Programs and the executor agree
agrees tiny "$examples/tiny.stow" score
agrees branches "$examples/branches.stow" refined # an `if` and a `loop`
agrees digits "$examples/digits.onnx" probabilities
agrees encoder "$examples/encoder.onnx" encoded --bind-rest 4
# A loop that swaps what it carries, collects, and draws other numbers in each round
write_graph swap '%0 = input "a" : f32[5]' '%1 = input "b" : f32[5]' \
  '%2 = constant "rounds" {data = [4]} : i64[]' '%9 "first", %10 "last", %11 "all" = loop(%2, _, %0, %1) {' \
  '  %3, %4, %5, %6 = args() : i64[], bool[], f32[5], f32[5]' '  %7 = random_uniform(%5) : f32[5]' \
  '  %8 = add(%6, %7) : f32[5]' '  yield %4, %8, %5, %7' '} : f32[5], f32[5], f32[4, 5]' 'return %9, %10, %11'
agrees swap "$work/swap.stow" "first last all"
# Functions for blocks of rows: with rows that are left over, shared by nodes, with attributes
write_graph blocks 'function @swish {' '  %0 = input "x" : f32[?rows]' '  %1 = input "b" : f32[1]' \
  '  %2 = add(%0, %1) : f32[?rows]' '  %3 = leaky_relu(%2) {alpha = 0.3} : f32[?rows]' \
  '  %4 = mul(%0, %3) : f32[?rows]' '  return %4' '}' 'function @attend {' '  %0 = input "q" : f32[?rows, 8]' \
  '  %1 = input "k" : f32[8, 50]' '  %2 = input "v" : f32[50, 8]' '  %3 = matmul(%0, %1) : f32[?rows, 50]' \
  '  %4 = softmax(%3) {axis = 1} : f32[?rows, 50]' '  %5 = matmul(%4, %2) : f32[?rows, 8]' '  return %5' '}' \
  'function @columns {' '  %0 = input "x" : f32[1, 3, 1, ?rows]' '  %1 = input "w" : f32[2, 3, 1, 1]' \
  '  %2 = relu(%0) : f32[1, 3, 1, ?rows]' '  %3 = conv(%2, %1) : f32[1, 2, 1, ?rows]' '  return %3' '}' \
  '%0 = input "image" : f32[3, 20001]' '%1 = param "bias" : f32[3, 1]' \
  '%2 = blocks(%0, %1) {function = "swish", groups = 3, rows = 20001} : f32[3, 20001]' \
  '%3 "out" = blocks(%2, %1) {function = "swish", groups = 3, rows = 20001} : f32[3, 20001]' \
  '%4 = input "q" : f32[4, 37, 8]' '%5 = input "k" : f32[4, 8, 50]' '%6 = input "v" : f32[4, 50, 8]' \
  '%7 "mixed" = blocks(%4, %5, %6) {function = "attend", groups = 4, rows = 37} : f32[4, 37, 8]' \
  '%8 = param "w" : f32[2, 3, 1, 1]' '%9 = reshape(%0) : f32[1, 3, 59, 339]' \
  '%10 "columns" = blocks(%9, %8) {function = "columns", rows = 20001} : f32[1, 2, 59, 339]' 'return %3, %7, %10'
agrees blocks "$work/blocks.stow" "out mixed columns"
# Functions that are run row by row: windows of several kinds, a sum, rings that are shared, bytes
write_graph stream 'function @stem {' '  %0 = input "x" : f32[1, 3, 21, 18]' '  %1 = input "w" : f32[6, 3, 3, 3]' \
  '  %2 = input "v" : f32[6, 1, 3, 3]' '  %3 = conv(%0, %1) {pads = [1, 1, 1, 1], strides = [2, 2]} : f32[1, 6, 11, 9]' \
  '  %4 = relu(%3) : f32[1, 6, 11, 9]' '  %5 = conv(%4, %2) {pads = [1, 1, 1, 1], group = 6} : f32[1, 6, 11, 9]' \
  '  %6 = add(%4, %5) : f32[1, 6, 11, 9]' '  %7 = pool(%6) {kernel = [3, 3], strides = [2, 2]} : f32[1, 6, 5, 4]' \
  '  %8 = resize(%7) : f32[1, 6, 10, 4]' '  %9 = cast(%6) : f16[1, 6, 11, 9]' '  return %8, %9' '}' \
  '%0 = input "image" : f32[1, 3, 21, 18]' '%1 = param "w" : f32[6, 3, 3, 3]' '%2 = param "v" : f32[6, 1, 3, 3]' \
  '%3 "up", %4 "half" = stream(%0, %1, %2) {function = "stem"} : f32[1, 6, 10, 4], f16[1, 6, 11, 9]' 'return %3, %4'
agrees stream "$work/stream.stow" "up half"
for rows in 3 100; do # some at a time, and all
  sed "s/\"stem\"}/\"stem\", rows = $rows}/" "$work/stream.stow" > "$work/stream_$rows.stow"
  agrees "stream_$rows" "$work/stream_$rows.stow" "up half"
done
# Nodes that are run row by row
write_graph pitched 'function @silu {' '  %0 = input "x" : f32[?rows]' '  %1 = sigmoid(%0) : f32[?rows]' \
  '  %2 = mul(%0, %1) : f32[?rows]' '  return %2' '}' '%0 = input "x" : f32[3, 4, 24, 24]' \
  '%1 = param "w" : f32[6, 4, 3, 3]' '%2 = conv(%0, %1) {pads = [1, 1, 1, 1]} : f32[3, 6, 24, 24]' \
  '%3, %4 = split(%2) {axis = 1, sizes = [4, 2]} : f32[3, 4, 24, 24], f32[3, 2, 24, 24]' \
  '%5 = blocks(%4) {function = "silu", groups = 3, rows = 1152} : f32[3, 2, 24, 24]' \
  '%6 = add(%5, %4) : f32[3, 2, 24, 24]' '%7 = concat(%3, %4, %6) {axis = 1} : f32[3, 8, 24, 24]' \
  '%8 "out" = pool(%7) {op = "max", kernel = [2, 2], strides = [2, 2]} : f32[3, 8, 12, 12]' 'return %8'
agrees pitched "$work/pitched.stow" out
name=ValuesArePitched
run plan "$work/pitched.stow" --kernels stowage --weights file --hints never
pitched=$(sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out")
run plan "$work/pitched.stow" --kernels stowage --weights file --hints never --no-pitch
dense=$(sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out")
if [ "$pitched" -lt "$dense" ]; then pass; else fail "$pitched, $dense"; fi
# Weights and attributes of all kinds
write_graph kinds '%0 = input "x" : f64[2]' '%1 = constant "d" {data = [0.1, -0x1.8p+900]} : f64[2]' \
  '%2 "sum" = add(%0, %1) : f64[2]' '%3 = constant "i" {data = [-9223372036854775808, 5]} : i64[2]' \
  '%4 = input "k" : i64[2]' '%5 "least" = min(%3, %4) : i64[2]' '%6 = constant "s" {data = [-128, 127]} : i8[2]' \
  '%7 "wide" = cast(%6) {to = "f16"} : f16[2]' '%8 = param "w" : bf16[3]' '%9 "narrow" = neg(%8) : bf16[3]' \
  '%10 = input "y" : f32[4]' '%11 "leak" = leaky_relu(%10) {alpha = -0.3} : f32[4]' 'return %2, %5, %7, %9, %11, %1'
agrees kinds "$work/kinds.stow" "sum least wide narrow leak d"
# Each policy of inputs and outputs, and other options of plans: the arena is the plan's, too
arena() { sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out" | head -n 1; }
planned() {
  program=$1 file=$2
  agrees "$@"
  shift 3
  run export "$file" -o "$work/$program" --name "$program" --random 7 "$@"
  exported=$(arena)
  run plan "$file" --kernels stowage --hints never "$@"
  name="TheArenaIsThePlans ($program)"
  if [ -n "$exported" ] && [ "$exported" = "$(arena)" ]; then pass; else fail "$exported, $(arena)"; fi
}
for io in consume external; do
  planned "tiny_$io" "$examples/tiny.stow" score --io $io
  planned "branches_$io" "$examples/branches.stow" refined --io $io
  planned "swap_$io" "$work/swap.stow" "first last all" --io $io
  planned "digits_$io" "$examples/digits.onnx" probabilities --io $io
  planned "encoder_$io" "$examples/encoder.onnx" encoded --bind-rest 4 --io $io
done
planned one "$examples/digits.onnx" probabilities --io image=external --order given --no-in-place
planned no_inputs "$examples/digits.onnx" probabilities --no-inputs --keep-copies --strategy best-fit
planned decode "$examples/decode.onnx" "present.0.key present.0.value result" --bind batch=1,past=15 \
  --alias 'present.*=past.*'
planned decode_out "$examples/decode.onnx" "present.0.key present.0.value result" --bind batch=1,past=15 \
  --io external
# Looks at an input that is bound, an output that is one, and the same value twice
write_graph looks '%0 = input "x" : f32[4, 3]' '%1 = reshape(%0) : f32[2, 6]' '%2 = input "z" : f32[12]' \
  '%3 "flat" = reshape(%1) : f32[12]' '%4 "sum" = add(%3, %2) : f32[12]' '%5, %6 = split(%4) {axis = 0} : f32[6], f32[6]' \
  'return %3, %4, %6, %4, %0'
for io in keep consume external; do
  agrees "looks_$io" "$work/looks.stow" "flat sum output_2 output_3 x" --io $io
done
if [ -n "$builds" ]; then
  cat >"$work/digits_external/main.c" <<'C'
#include <stdio.h>
#include <string.h>
#include "digits_external.h"
static float image[2][784], scores[2][10];
int main(void) {
  if (digits_external_run() == 0) return 1;
  puts(digits_external_error());
  for (int i = 0; i < 2; ++i) {
    for (int k = 0; k < 784; ++k) image[i][k] = (float)(k % (7 + i)) / 7.0f;
    digits_external_bind_in_image(image[i]);
    digits_external_bind_out_probabilities(scores[i]);
    if (digits_external_run() != 0) return 2;
  }
  return scores[0][0] > 0.0f && scores[1][0] > 0.0f && memcmp(scores[0], scores[1], sizeof scores[0]) != 0 ? 0 : 3;
}
C
  name=MemoryIsBoundAgain
  build "$work/digits_external"
  "$work/digits_external/digits_external" >"$out" 2>"$err"
  code=$?
  expect 0 MemoryIsBoundAgain
  says "image: no memory is bound"
fi
# A saved plan
run plan "$examples/digits.onnx" --io image=external --format plan -o "$work/saved.plan"
expect 0 APlanIsSaved
run export "$examples/digits.onnx" --plan "$work/saved.plan" --io image=external -o "$work/saved" --format json
expect 0 AndExported
says '"arena_bytes": 31360, "external_bytes": 3136'
says '"function": "digits_bind_in_image", "type": "f32[1, 1, 28, 28]", "output": false, "external": true}'
run export "$examples/digits.onnx" --plan "$work/saved.plan" --align 128 -o "$work/none"
expect 2 ItsOptionsAreSaved
# Nothing, of which there is no pointer that kernels could not add to
write_graph nothing '%0 = input "a" : f32[2, 0]' '%1 = constant "b" {data = []} : f32[0, 3]' \
  '%2 "c" = matmul(%0, %1) : f32[2, 3]' 'return %2'
agrees nothing "$work/nothing.stow" c
name=NoKernelIsGivenNull
if grep -qE '\{NULL, STOW_|NULL, 0, [0-9]' "$work/nothing/nothing.c"; then fail "one is"; else pass; fi
if [ -z "$builds" ]; then skip "no compiler or no make: programs are not built"; fi

name=NoHeap
if [ -n "$builds" ] && command -v nm >/dev/null 2>&1; then
  nm "$work/digits/digits" >"$out" 2>"$err"
  if grep -qwE '(malloc|calloc|realloc|free|aligned_alloc)(@.*)?' "$out"; then fail "heap is used"; else pass; fi
fi

name=TheHeaderIsCxxToo
if command -v c++ >/dev/null 2>&1; then
  printf '#include "digits.h"\nint main() { return digits_run(); }\n' >"$work/use.cc"
  if c++ -Wall -Werror -fsyntax-only -I"$work/digits" "$work/use.cc" >"$out" 2>"$err"; then pass; else
    fail "it is not"
  fi
fi

# Only what is needed
name=OnlyKernelsThatAreUsed
if [ -e "$work/digits/exec/kernels/spatial/conv.c" ] && [ ! -e "$work/tiny/exec/kernels/spatial" ] &&
  [ ! -e "$work/tiny/program/regions.c" ] && [ -e "$work/branches/program/regions.c" ]; then pass; else
  fail "other files"
fi
name=NoPathOfThisMachine
if grep -rqF -e "$root" -e "$work" "$work/digits"/*.[ch] "$work/digits/Makefile" "$work/digits/README"; then
  fail "a path"
else pass; fi

# Kernel files can be parsed by export: functions that a header declares are defined in the .c next
# to it, or in lines that begin with a type, and kernels are in lines of their own.
name=KernelsAreFoundInTheirFiles
find "$root/src/exec/kernels" -name '*.[ch]' >"$work/files"
awk '
  FNR == 1 { header = FILENAME ~ /h$/; seen[FILENAME] = 1 }
  /^STOWI_KERNEL\(/ { split($0, part, /[(,]/); kernels[part[2]] = 1 }
  /^(static|typedef|extern|#|\/)/ { next }
  /^[a-z].*stowi?_[a-z0-9_]*\(/ {
    match($0, /stowi?_[a-z0-9_]*\(/)
    found = substr($0, RSTART, RLENGTH - 1)
    if (header) declared[found] = FILENAME; else defined[found] = 1
  }
  END {
    for (f in declared) {
      beside = substr(declared[f], 1, length(declared[f]) - 1) "c"
      if (!(f in defined) && !(beside in seen)) print f " of " declared[f] " is defined nowhere"
      ++count
    }
    while ((getline line <ops) > 0)
      if (line ~ /^STOW_OP\(/) { split(line, part, /[(,]/); if (!(part[2] in kernels)) print part[2] " has no kernel" }
    if (count < 100) print "only " count " functions"
  }' ops="$root/include/stowage/ops.def" $(cat "$work/files") >"$out" 2>"$err"
if [ -s "$out" ] || [ -s "$err" ]; then fail "they are not"; else pass; fi

# The tool of a program
if [ -n "$builds" ]; then
  digits=$work/digits/digits
  "$digits" --help >"$out" 2>"$err"
  code=$?
  expect 0 TheProgramTellsItsInputs
  says "input image f32[1, 1, 28, 28] 3136 bytes"
  says "output probabilities f32[1, 10] 40 bytes"
  "$digits" --random 1 --repeat 3 >"$out" 2>"$err"
  code=$?
  expect 0 TheProgramPrintsNumbers
  says "mean 0.1"
  says "  [0."
  dd if=/dev/zero of="$work/image" bs=3136 count=1 2>/dev/null
  "$digits" --input "image=$work/image" --output "probabilities=$work/zero.raw" >"$out" 2>"$err"
  code=$?
  expect 0 InputsAreFiles
  run run "$examples/digits.onnx" --input "image=$work/image" -o "probabilities=$work/zero.run"
  same "$work/zero.run" "$work/zero.raw"
  for wrong in "" "--random" "--random x" "--input image=$work/none" "--input picture=$work/image" "--repeat 0"; do
    "$digits" $wrong >"$out" 2>"$err"
    code=$?
    expect 2 "TheProgramRefuses ($wrong)"
  done
  printf x >>"$work/image"
  "$digits" --input "image=$work/image" >"$out" 2>"$err"
  code=$?
  expect 2 TheProgramWantsTheWholeInput
fi

# The same bytes again
run export "$examples/digits.onnx" -o "$work/again" --name digits
expect 0 TheSameModel
name=TheSameBytes
if [ -n "$builds" ]; then make -s -C "$work/digits" clean >"$out" 2>"$err"; fi
if diff -r "$work/digits" "$work/again" >"$out" 2>&1; then pass; else fail "they differ"; fi

# Names that try something
write_graph hostile '%0 = input "*/ \"x\" ??/\\" : f32[4]' '%1 = input "int main(" : f32[4]' \
  '%2 = input "a b" : f32[4]' '%3 = input "a-b" : f32[4]' '%4 "sum\\" = add(%0, %1) : f32[4]' \
  '%5 "*/ #error" = add(%2, %3) : f32[4]' '%6 = add(%4, %5) : f32[4]' 'return %6, %6, %4'
cp "$work/hostile.stow" "$work/-; rm *.stow"
run export -o "$work/hostile" -- "$work/-; rm *.stow"
expect 0 HostileNames
says "model____rm__: "
name=HostileNamesBuild
if build "$work/hostile"; then
  "$work/hostile/model____rm__" --random 3 >"$out" 2>"$err"
  code=$?
  expect 0 HostileNamesRun
  says "output_0 f32[4]"
  says "output_1 f32[4]"
fi
for taken in main exec stowage run Makefile README clean lib _x 1x a.b "a b" "" \
  aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee; do
  run export "$examples/tiny.stow" -o "$work/none" --random 1 --name "$taken"
  expect 2 "NamesThatAreNone ($taken)"
  complains "--name"
done
cp "$examples/tiny.stow" "$work/main.stow"
run export "$work/main.stow" -o "$work/main" --random 1
expect 0 AModelCalledMain
says "model_main: "

# Folders
echo mine >"$work/digits/notes.txt"
run export "$examples/tiny.stow" -o "$work/digits" --random 1
expect 0 AnEarlierExportIsReplaced
name=WhatIsNoLongerNeededGoes
if [ ! -e "$work/digits/digits.c" ] && [ ! -e "$work/digits/exec/kernels/spatial/conv.c" ] &&
  [ -e "$work/digits/tiny.c" ] && [ -e "$work/digits/notes.txt" ]; then pass; else fail "other files"; fi
rm "$work/digits/tiny.c"
grep -v tiny.c "$work/digits/stowage-export.txt" >"$work/list"
cp "$work/list" "$work/digits/stowage-export.txt"
echo mine >"$work/digits/tiny.c"
run export "$examples/tiny.stow" -o "$work/digits" --random 1
expect 5 FilesOfOthersStay
complains "was not created by"
name=FilesOfOthersStay
if [ "$(cat "$work/digits/tiny.c")" = mine ]; then pass; else fail "it was replaced"; fi
run export "$examples/tiny.stow" -o "$work/digits" --random 1 --force
expect 0 UnlessForced
echo ../outside >>"$work/digits/stowage-export.txt"
echo mine >"$work/outside"
run export "$examples/tiny.stow" -o "$work/digits" --random 1
expect 0 AListThatLies
if [ -e "$work/outside" ]; then pass; else fail "a file outside was removed"; fi
mkdir "$work/used" && echo mine >"$work/used/file"
run export "$examples/tiny.stow" -o "$work/used" --random 1
expect 5 AFolderOfOthers
complains "is not empty and was not created by"
run export "$examples/tiny.stow" -o "$work/used/file" --random 1
expect 5 AFileIsNoFolder
complains "is not a directory"
run export "$examples/tiny.stow" -o "$work/none/at/all" --random 1
expect 5 AFolderInNone
complains "cannot create"

# What cannot be put in place, for whatever reason: the earlier export is as it was
run export "$examples/digits.onnx" -o "$work/blocked"
echo mine >"$work/blocked/notes.txt"
# stays NAME TEXT: an export over $work/blocked complains of TEXT, and changes nothing
stays() {
  rm -rf "$work/blocked.before"
  cp -RP "$work/blocked" "$work/blocked.before"
  run export "$examples/tiny.stow" -o "$work/blocked" --random 1 --force
  expect 5 "$1"
  complains "$2"
  if diff -r "$work/blocked" "$work/blocked.before" >"$out" 2>&1; then pass; else fail "it was changed"; fi
}
mv "$work/blocked/program" "$work/program"
echo mine >"$work/blocked/program"
stays AFileWhereAFolderIsNeeded "cannot create the directory '$work/blocked/program': Not a directory"
rm "$work/blocked/program"
mv "$work/program" "$work/blocked/program"
mv "$work/blocked/exec" "$work/exec"
echo mine >"$work/blocked/exec"
stays TheFolderIsNamed "cannot create the directory '$work/blocked/exec': Not a directory"
rm "$work/blocked/exec"
mv "$work/exec" "$work/blocked/exec"
device() { df -P "$1" 2>/dev/null | awk 'END { print $1, $NF }'; }
if [ -w /dev/shm ] && [ "$(device /dev/shm)" != "$(device "$work")" ] &&
  other=$(mktemp -d /dev/shm/stowage-cli.XXXXXX); then
  mv "$work/blocked/run" "$work/run"
  ln -s "$other" "$work/blocked/run"
  stays AMoveThatFailsIsUndone "cannot write '$work/blocked/run/"
  name=NothingIsLeftInAnotherPlace
  if rmdir "$other" 2>/dev/null; then pass; else
    fail "$(ls -A "$other")"
    rm -rf "$other"
  fi
  rm "$work/blocked/run"
  mv "$work/run" "$work/blocked/run"
else
  skip "no second file system: AMoveThatFailsIsUndone"
fi
if [ "$(id -u)" -ne 0 ]; then
  chmod 555 "$work/blocked/run"
  stays AFolderThatTakesNothing "cannot write to the directory '$work/blocked/run/': Permission denied"
  chmod 755 "$work/blocked/run" "$work/blocked.before/run"
else
  skip "root may write everywhere: AFolderThatTakesNothing"
fi
mkdir -p "$work/empty/digits.c" "$work/empty/exec/kernels" "$work/empty/program"
(cd "$work/empty" && find . | sort) >"$work/empty.before"
run export "$examples/digits.onnx" -o "$work/empty" --force
expect 5 EmptyFoldersOfOthersStay
(cd "$work/empty" && find . | sort) >"$work/empty.after"
same "$work/empty.before" "$work/empty.after"
# Whatever a list calls it, a file that is written stays
run export "$examples/tiny.stow" -o "$work/blocked" --random 1
sed 's,^tiny.c$,./tiny.c,' "$work/blocked/stowage-export.txt" >"$work/list"
cp "$work/list" "$work/blocked/stowage-export.txt"
run export "$examples/tiny.stow" -o "$work/blocked" --random 1 --force
expect 0 AListWithOtherNames
if [ -s "$work/blocked/tiny.c" ]; then pass; else fail "it was removed"; fi

# A disk that is full: nothing is left behind, and nothing is lost
if (ulimit -f 16) 2>/dev/null; then
  (ulimit -f 16 && "$stowage" export "$examples/digits.onnx" -o "$work/full") >"$out" 2>"$err"
  code=$?
  expect 5 AFullDisk
  complains "cannot write '$work/full/"
  complains "File too large"
  if [ -e "$work/full" ]; then fail "a folder was left: $(find "$work/full")"; else pass; fi
  run export "$examples/tiny.stow" -o "$work/full" --random 1
  echo mine >"$work/full/notes.txt"
  cp -R "$work/full" "$work/full.before"
  (ulimit -f 16 && "$stowage" export "$examples/digits.onnx" -o "$work/full") >"$out" 2>"$err"
  code=$?
  expect 5 AFullDiskLeavesTheEarlierExport
  if diff -r "$work/full" "$work/full.before" >"$out" 2>&1; then pass; else fail "it was changed"; fi
  mkdir "$work/full/digits.c"
  cp -R "$work/full" "$work/full.folder"
  run export "$examples/digits.onnx" -o "$work/full" --force
  expect 5 AFolderIsInTheWay
  complains "cannot write '$work/full/digits.c': Is a directory"
  if diff -r "$work/full" "$work/full.folder" >"$out" 2>&1; then pass; else fail "it was changed"; fi
else
  skip "sizes of files cannot be limited: AFullDisk"
fi

# Weights
run export "$examples/tiny.stow" -o "$work/none"
expect 3 WeightsWithoutData
complains "2 values have no data"
lists "param 'w1' f32[16, 12]"
[ ! -e "$work/none" ] || fail "something was written"
run fmt "$examples/digits.onnx" -o "$work/digits.stow"
run export "$work/digits.stow" -o "$work/none"
expect 3 TheTextOfAModelHasNoWeights
lists "run the model 'digits.onnx' instead"
dd if=/dev/zero of="$work/w1" bs=768 count=1 2>/dev/null
run export "$examples/tiny.stow" -o "$work/weights" --random 7 --input "w1=$work/w1"
expect 0 WeightsOutOfFiles
name=WeightsOutOfFiles
if grep -q "^0x00000000,0x00000000" "$work/weights/tiny_weights.c"; then pass; else fail "no zeros"; fi

# Plans
run export "$examples/mlp.stow" -o "$work/capacity" --random 1 --capacity 1000
expect 1 ACapacity
[ ! -e "$work/capacity" ] || fail "something was written"
run export "$examples/mlp.stow" -o "$work/plain" --random 1 --no-reuse --align 256 --format json
expect 0 OptionsOfPlans
says '"arena_bytes": '
says '"function": "mlp_in_x"'
name=OptionsOfPlans
if grep -q "_Alignas(256)" "$work/plain/mlp.c"; then pass; else fail "not aligned"; fi

# What no program can do
write_graph unknown '%0 = input "x" : f32[8]' '%1 = nonzero(%0) : i64[1, 8]' 'return %1'
run export "$work/unknown.stow" -o "$work/none"
expect 3 DimsOfARun
complains "%1 has data-dependent dimensions"
write_graph other '%0 = input "x" : f32[8]' '%1 = custom(%0) {name = "mine"} : f32[8]' 'return %1'
run export "$work/other.stow" -o "$work/none"
expect 3 OpsOfOthers
complains 'there is no kernel named "mine"'
run export "$examples/tiny.stow" --random 1
expect 2 AFolderIsNeeded
complains "-o DIR"
run export -o "$work/none"
expect 2 AFileIsNeeded
for refused in "weights arena" layout-from=x no-params no-constants pack-params f32-uniform explain c-prefix=x; do
  run export "$examples/tiny.stow" -o "$work/none" --random 1 --$refused
  expect 2 "WhatNoProgramCanHonour ($refused)"
  complains "is an option of stowage plan: "
done
run export "$examples/tiny.stow" -o "$work/none" --random 1 --kernels none
expect 2 ProgramsNeedKernels
run export "$examples/tiny.stow" -o "$work/none" --random 1 --format xml
expect 2 FormatsThatAreNone
name=NothingIsWrittenAfterAnError
if [ ! -e "$work/none" ]; then pass; else fail "something was"; fi

finish
