# `stowage export` over a range: one program with one static arena runs every shape of it, in any
# order, and gives the same bits as `stowage run` at each; its command line; and refusals.
. "$(dirname "$0")/harness.sh"
compiler=${CC:-cc}
cached=
if command -v ccache >/dev/null 2>&1; then
  cached='ccache '
  CCACHE_DIR=$work/ccache CCACHE_NOHASHDIR=1
  export CCACHE_DIR CCACHE_NOHASHDIR
fi
if command -v "$compiler" >/dev/null 2>&1 && command -v make >/dev/null 2>&1; then builds=1; else builds=; fi
sanitize=
if echo 'int main(void) { return 0; }' >"$work/probe.c" &&
  "$compiler" -fsanitize=address,undefined -o "$work/probe" "$work/probe.c" 2>/dev/null && "$work/probe" 2>/dev/null; then
  sanitize='-fsanitize=address,undefined -fno-sanitize-recover=all'
fi

# Runs shapes one after the other: arguments are `NAME-OF-FILES VALUE…` for each, ended by `/`.
cat >"$work/shapes.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include PROGRAM_H
#include "run/random.h"
static int run_shape(const char* name, const int64_t* values) {
  const stow_program* p = RANGE.program;
  if (stow_program_bind(&RANGE, values) != STOW_OK) return puts(p->error()), 1;
  for (size_t i = 0; i < p->input_count; ++i) {
    stow_tensor tensor = *p->inputs[i].tensor;
    cli_fill_random(&tensor, 7, p->inputs[i].name);
  }
  if (p->run() != 0) return puts(p->error()), 1;
  for (size_t i = 0; i < p->output_count; ++i) {
    char path[4096];
    snprintf(path, sizeof path, "%s.%s.raw", name, p->outputs[i].name.data);
    FILE* file = fopen(path, "wb");
    size_t size = stow_tensor_bytes(p->outputs[i].tensor);
    if (file == NULL || (size != 0 && fwrite(p->outputs[i].tensor->data, 1, size, file) != size)) return 1;
    fclose(file);
  }
  return 0;
}
int main(int argc, char** argv) {
  if (RANGE.program->run() == 0 || strcmp(RANGE.program->error(), "run: no shape is bound") != 0) return 1;
  for (int i = 1; i < argc; ++i) {
    const char* name = argv[i];
    int64_t values[16];
    for (int k = 0; strcmp(argv[++i], "/") != 0; ++k) values[k] = atoll(argv[i]);
    if (run_shape(name, values) != 0) return 1;
  }
  return 0;
}
C

# agrees NAME FILE OUTPUTS POINTS ARG...: the program of FILE gives the same OUTPUTS as `run` at POINTS,
# each the `--bind` of `run`, in this order. ARGs are those of export.
agrees() {
  program=$1 file=$2 results=$3 points=$4
  shift 4
  run export "$file" -o "$work/$program" --name "$program" --random 7 "$@"
  expect 0 "AProgramIsWritten ($program)"
  says "  shapes   "
  [ -n "$builds" ] || return
  name="TheProgramBuilds ($program)"
  if make -s -C "$work/$program" CC="$cached$compiler" CFLAGS="-O0 -Wextra -Wpedantic -Werror $sanitize" \
    LDFLAGS="$sanitize" "$program" lib >"$out" 2>"$err"; then pass; else
    fail "it does not"
    return
  fi
  command=
  for point in $points; do
    command="$command $work/$program.$point $(echo "$point" | sed 's/[^,]*=//g; s/,/ /g') /"
  done
  if [ -z "${io_is_external:-}" ]; then
    # shellcheck disable=SC2086  # words
    "$compiler" -std=c11 -Wall $sanitize -DPROGRAM_H="\"$program.h\"" -DRANGE="${program}_range" -I"$work/$program" \
      -o "$work/$program.shapes" "$work/shapes.c" "$work/$program/run/random.o" "$work/$program/lib$program.a" -lm \
      2>"$err" && "$work/$program.shapes" $command >"$out" 2>>"$err"
    code=$?
    expect 0 "TheShapesRun ($program)"
  fi
  for point in $points; do
    for result in $results; do
      name="TheSameBits ($program, $point, $result)"
      run run "$file" --random 7 -o "$result=$work/$program.run" --bind "${fixed:+$fixed,}$point"
      expect 0 "$name"
      if [ -n "${io_is_external:-}" ]; then
        "$work/$program/$program" --bind "$point" --random 7 \
          --output "$result=$work/$program.$point.$result.raw" >"$out" 2>"$err" </dev/null
        code=$?
        expect 0 "$name"
      fi
      if cmp -s "$work/$program.run" "$work/$program.$point.$result.raw"; then pass; else fail "other bits"; fi
    done
  done
}

# A model: a length of 1 is another region, and functions are run in blocks, with a rest and without
fixed=batch=1
agrees encoder "$examples/encoder.onnx" encoded \
  "length=40 length=1 length=2 length=33 length=39 length=3 length=16 length=32 length=40 length=8" --bind batch=1,length=1..40
name=BlocksArePatched
if [ -e "$work/encoder/program/blocks.c" ]; then pass; else fail "there are none"; fi
run plan "$examples/encoder.onnx" --bind batch=1,length=1..40
name=TheArenaIsThatOfTheLargestShape
largest=$(sed -n 's/^  largest arena  *\([0-9]*\) B.*/\1/p' "$out")
if grep -q "define ENCODER_ARENA_SIZE $largest " "$work/encoder/encoder.h" &&
  grep -q "unsigned char arena\[$largest\]" "$work/encoder/encoder.c"; then pass; else fail "not $largest bytes"; fi
agrees unblocked "$examples/encoder.onnx" encoded "length=9 length=1 length=4" --bind batch=1,length=1..9 \
  --rewrite -blocks,-products,-columns
name=NoBlocksNoSource
if [ ! -e "$work/unblocked/program/blocks.c" ]; then pass; else fail "a file too many"; fi
agrees decode "$examples/decode.onnx" "result present.0.key present.0.value" "past=0 past=20 past=1 past=7" \
  --bind batch=1,past=0..20
io_is_external=1
agrees decode_out "$examples/decode.onnx" "result present.0.key present.0.value" "past=0 past=20 past=5" \
  --bind batch=1,past=0..20 --io external
io_is_external=
fixed=
# Two symbols, one with a step
agrees both "$examples/encoder.onnx" encoded \
  "batch=3,length=14 batch=1,length=2 batch=2,length=8 batch=3,length=2 batch=1,length=14" --bind batch=1..3,length=2..14/2
agrees decode_both "$examples/decode.onnx" "result present.0.value" \
  "batch=2,past=9 batch=1,past=0 batch=2,past=0 batch=1,past=3" --bind batch=1..2,past=0..9

# Branches, loops that collect and swap, views that are such for one shape only, nothing at all
range_graph() { # NAME RANGES LINE...
  file=$work/$1.stow ranges=$2
  shift 2
  { echo "graph @g {" && for range in $ranges; do echo "  range ?$range" | sed 's/=/ = /'; done; printf '  %s\n' "$@" && echo "}"; } >"$file"
}
range_graph swap n=1..6 '%0 = input "a" : f32[?n, 5]' '%1 = input "b" : f32[?n, 5]' \
  '%2 = constant "rounds" {data = [4]} : i64[]' '%9 "first", %10 "last", %11 "all" = loop(%2, _, %0, %1) {' \
  '  %3, %4, %5, %6 = args() : i64[], bool[], f32[?n, 5], f32[?n, 5]' '  %7 = random_uniform(%5) : f32[?n, 5]' \
  '  %8 = add(%6, %7) : f32[?n, 5]' '  yield %4, %8, %5, %7' '} : f32[?n, 5], f32[?n, 5], f32[4, ?n, 5]' 'return %9, %10, %11'
agrees swap "$work/swap.stow" "first last all" "n=6 n=1 n=4"
range_graph turn seq=0..9 '%0 = input "x" : f32[?seq, 8, 4]' '%1 = exp(%0) : f32[?seq, 8, 4]' \
  '%2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]' '%3 "y" = tanh(%2) : f32[8, ?seq, 4]' 'return %3'
agrees turn "$work/turn.stow" y "seq=9 seq=0 seq=1 seq=2 seq=9"
range_graph branch n=1..5 '%0 = input "c" : bool[]' '%1 = input "x" : f32[?n, 5]' '%4 "y" = if(%0) {' \
  '  %2 = neg(%1) : f32[?n, 5]' '  yield %2' '} else {' '  %3 = exp(%1) : f32[?n, 5]' '  yield %3' \
  '} : f32[?n, 5]' 'return %4'
agrees branch "$work/branch.stow" y "n=5 n=1 n=2"
# Kernels with more variants than one, whose scratch grows with the shape; divisions in dims
range_graph conv "w=3..40" '%0 = input "x" : f32[1, 8, 6, ?w]' '%1 = param "k" : f32[16, 8, 3, 3]' \
  '%2 = conv(%0, %1) {strides = [1, 2], pads = [1, 1, 1, 1]} : f32[1, 16, 6, ?(floor_div(w - 1, 2) + 1)]' \
  '%3 "y" = relu(%2) : f32[1, 16, 6, ?(floor_div(w - 1, 2) + 1)]' 'return %3'
agrees conv "$work/conv.stow" y "w=40 w=3 w=4 w=17 w=39"
# Looks at inputs, also from an end that moves; nothing but a look; what is the same for all shapes
range_graph last n=2..5 '%0 = input "x" : f32[?n, 3]' '%1 = slice(%0) {starts = [-1], ends = [9], axes = [0]} : f32[1, 3]' \
  '%2 "y" = neg(%1) : f32[1, 3]' 'return %2'
range_graph look n=1..4 '%0 = input "x" : f32[?n, 2]' '%1 "y" = reshape(%0) : f32[2, ?n]' 'return %1'
range_graph same n=1..4 '%0 = input "x" : f32[?n, 2]' '%1 = constant "c" {data = [1.0, 2.0]} : f32[2]' \
  '%2 "y" = expand(%1) : f32[?n, 2]' 'return %2, %1, %0'
for io in keep external consume; do
  [ $io = external ] && io_is_external=1
  agrees "last_$io" "$work/last.stow" y "n=5 n=2 n=3" --io $io
  agrees "look_$io" "$work/look.stow" y "n=4 n=1" --io $io
  agrees "same_$io" "$work/same.stow" "y c x" "n=4 n=1" --io $io
  io_is_external=
done
# State that is kept from run to run, and another symbol with a value
fixed=max=16
agrees state "$examples/decode.stow" "y" "past=15" --bind past=0..15,max=16
fixed=
for io in consume external; do
  io_is_external=$io
  agrees "swap_$io" "$work/swap.stow" "first last all" "n=6 n=1" --io $io
  agrees "turn_$io" "$work/turn.stow" y "seq=9 seq=0 seq=1" --io $io
done
io_is_external=

if [ -n "$builds" ] && command -v nm >/dev/null 2>&1; then
  name=NoHeap
  nm "$work/encoder/libencoder.a" >"$out" 2>"$err"
  if grep -qwE '(malloc|calloc|realloc|free|aligned_alloc)(@.*)?' "$out"; then fail "heap is used"; else pass; fi
fi
name=TheHeaderIsCxxToo
if command -v c++ >/dev/null 2>&1; then
  printf '#include "encoder.h"\nint main() { return encoder_bind(3) != 0 ? 1 : encoder_run(); }\n' >"$work/use.cc"
  if c++ -Wall -Werror -fsyntax-only -I"$work/encoder" "$work/use.cc" >"$out" 2>"$err"; then pass; else
    fail "it is not"
  fi
fi

# A cache that goes from step to step in two buffers of the caller
if [ -n "$builds" ]; then
  cat >"$work/decode_out/main.c" <<'C'
#include <stdio.h>
#include "decode_out.h"
static float state[32], result[32], keys[2][4 * 21 * 8], values[2][4 * 21 * 8];
int main(void) {
  decode_out_bind_in_hidden_state(state);
  decode_out_bind_out_result(result);
  if (decode_out_bind(21) != STOW_ERR_NOT_FOUND || decode_out_run() == 0) return 1;
  for (int step = 0; step <= 20; ++step) {
    for (int i = 0; i < 32; ++i) state[i] = (float)((step * 7 + i * 3) % 11) / 11.0f - 0.5f;
    decode_out_bind_in_past_0_key(keys[step % 2]);
    decode_out_bind_in_past_0_value(values[step % 2]);
    decode_out_bind_out_present_0_key(keys[(step + 1) % 2]);
    decode_out_bind_out_present_0_value(values[(step + 1) % 2]);
    if (decode_out_bind(step) != 0 || decode_out_run() != 0) return 2;
  }
  FILE* file = fopen("last.raw", "wb");
  return file != NULL && fwrite(keys[1], 4, 4 * 21 * 8, file) == 4 * 21 * 8 && fclose(file) == 0 ? 0 : 3;
}
C
  make -s -C "$work/decode_out" CC="$cached$compiler" CFLAGS="-O0 $sanitize" LDFLAGS="$sanitize" >"$out" 2>"$err" &&
    (cd "$work" && ./decode_out/decode_out) >"$out" 2>>"$err"
  code=$?
  expect 0 ACacheGoesFromStepToStep
  # What the first step left is still there in the last: it is the same as that of one step alone
  name=TheCacheHasAllSteps
  if [ "$(od -An -tx4 -N4 "$work/last.raw" | tr -d ' ')" != 00000000 ] &&
    [ "$(od -An -tx4 -j$((20 * 32)) -N4 "$work/last.raw" | tr -d ' ')" != 00000000 ]; then pass; else fail "zeros"; fi
fi

# A cache that stays in the arena: there is nothing to bind, and no second buffer
fixed=batch=1
agrees decode_in "$examples/decode.onnx" "result present.0.key present.0.value" "past=0 past=20 past=5" \
  --bind batch=1,past=0..20 --alias 'present.*=past.*'
fixed=
if [ -n "$builds" ]; then
  cat >"$work/decode_in/main.c" <<'C'
#include <stdio.h>
#include "decode_in.h"
int main(void) {
  for (int step = 0; step <= 20; ++step) {
    if (decode_in_bind(step) != 0) return 1;
    for (int i = 0; i < 32; ++i) decode_in_in_hidden_state()[i] = (float)((step * 7 + i * 3) % 11) / 11.0f - 0.5f;
    if (decode_in_run() != 0) return 2;
  }
  FILE* file = fopen("inside.raw", "wb");
  return file != NULL && fwrite(decode_in_out_present_0_key(), 4, 4 * 21 * 8, file) == 4 * 21 * 8 &&
         fclose(file) == 0 ? 0 : 3;
}
C
  make -s -C "$work/decode_in" CC="$cached$compiler" CFLAGS="-O0 $sanitize" LDFLAGS="$sanitize" >"$out" 2>"$err" &&
    (cd "$work" && ./decode_in/decode_in) >"$out" 2>>"$err"
  code=$?
  expect 0 ACacheStaysInTheArena
  same "$work/last.raw" "$work/inside.raw"
fi

# The command line of a program
if [ -n "$builds" ]; then
  encoder=$work/encoder/encoder
  "$encoder" --help >"$out" 2>"$err"
  code=$?
  expect 0 TheProgramTellsItsShapes
  says "  symbol length: 1..40"
  says "input tokens i64[1, 40] 320 bytes"
  dd if=/dev/zero of="$work/tokens" bs=8 count=5 2>/dev/null
  "$encoder" --input "tokens=$work/tokens" --output "encoded=$work/five.raw" >"$out" 2>"$err"
  code=$?
  expect 0 AFileTellsTheShape
  run run "$examples/encoder.onnx" --bind batch=1,length=5 --input "tokens=$work/tokens" -o "encoded=$work/five.run"
  same "$work/five.run" "$work/five.raw"
  tells() { # NAME TEXT ARG...
    expected=$2
    "$encoder" $3 >"$out" 2>"$err" </dev/null
    code=$?
    expect 2 "$1"
    if grep -qF -e "$expected" "$err"; then pass; else fail "standard error lacks: $expected"; fi
  }
  tells NoShape "give a shape: --bind NAME=N,…" "--random 1"
  tells AboveTheRange "length: the value is not in the range" "--bind length=41 --random 1"
  tells BelowTheRange "length: the value is not in the range" "--bind length=0 --random 1"
  tells UnknownSymbol "--bind: not NAME=N of a symbol: width=3" "--bind width=3 --random 1"
  tells NoNumber "--bind: not a number: x" "--bind length=x --random 1"
  tells TooLarge "length: the value is not in the range" "--bind length=99999999999999999999 --random 1"
  dd if=/dev/zero of="$work/tokens" bs=1 count=9 2>/dev/null
  tells SizesOfNoShape "no shape of the range has inputs of these sizes" "--input tokens=$work/tokens"
  tells SizesOfAnotherShape "has 9 bytes, but the input needs 24" "--bind length=3 --input tokens=$work/tokens"
  tells NoSuchFile "cannot be read" "--input tokens=$work/none --bind length=3"
  both=$work/both/both
  dd if=/dev/zero of="$work/tokens" bs=8 count=12 2>/dev/null
  "$both" --input "tokens=$work/tokens" >"$out" 2>"$err"
  code=$?
  expect 2 SeveralShapesFit
  name=SeveralShapesFit
  if grep -qF "several shapes fit the inputs: give --bind NAME=N" "$err"; then pass; else fail "they do not"; fi
  "$both" --input "tokens=$work/tokens" --bind batch=2 >"$out" 2>"$err"
  code=$?
  expect 0 OneSymbolIsEnough
  says "encoded f32[2, 6, 32] 1536 bytes"
  "$both" --bind batch=2,length=3 --random 1 >"$out" 2>"$err"
  code=$?
  expect 2 NotAMultipleOfTheStep
else
  skip "no compiler or no make: programs are not built"
fi

# The report, and what is refused
run export "$examples/encoder.onnx" -o "$work/json" --bind batch=1,length=1..8 --format json
expect 0 AReport
says '"shapes": 8'
says '"type": "i64[1, ?length]"'
run export "$examples/encoder.onnx" -o "$work/none" --bind batch=1,length=1..40 --capacity 20000
expect 1 ACapacity
complains "the largest shape needs an arena of"
run export "$examples/encoder.onnx" -o "$work/none" --bind length=1..40
expect 3 ASymbolWithoutValues
range_graph unknown n=1..4 '%0 = input "x" : f32[?n]' '%1 = nonzero(%0) : i64[1, ?n]' 'return %1'
run export "$work/unknown.stow" -o "$work/none"
expect 3 DimsOfARun
complains "%1 has data-dependent dimensions"
range_graph other n=1..4 '%0 = input "x" : f32[?n]' '%1 = custom(%0) {name = "mine"} : f32[?n]' 'return %1'
run export "$work/other.stow" -o "$work/none"
expect 3 OpsOfOthers
complains 'there is no kernel named "mine"'
range_graph weight n=1..4 '%0 = input "x" : f32[?n]' '%1 = param "w" : f32[?n]' '%2 = add(%0, %1) : f32[?n]' 'return %2'
run export "$work/weight.stow" -o "$work/none" --random 1
expect 3 AWeightOfSeveralShapes
complains "%1 has dims of the range; weights of a program have one shape"
range_graph stream n=1..4 'function @twice {' '  %0 = input "x" : f32[1, 2, 4, 4]' \
  '  %1 = add(%0, %0) : f32[1, 2, 4, 4]' '  return %1' '}' '%0 = input "x" : f32[1, 2, 4, 4]' \
  '%1 = stream(%0) {function = "twice"} : f32[1, 2, 4, 4]' '%2 = input "n" : f32[?n, 1, 1, 1]' \
  '%3 = mul(%1, %2) : f32[?n, 2, 4, 4]' 'return %3'
run export "$work/stream.stow" -o "$work/none"
expect 3 RowsThatStream
complains "%1 is made by \`stream\`, which programs of a range do not have"
run export "$examples/encoder.onnx" -o "$work/none" --bind batch=1,length=1..40 --order "$work/order"
expect 2 OptionsOfOneShape
run plan "$examples/encoder.onnx" --bind batch=1,length=1..8 --format plan -o "$work/saved.plan"
expect 0 APlanIsSaved
run export "$examples/encoder.onnx" -o "$work/none" --bind batch=1,length=1..8 --plan "$work/saved.plan"
name=SavedPlansAreForOneShape
if [ "$code" -ne 0 ] && [ -s "$err" ]; then pass; else fail "it was taken"; fi
name=NothingIsWrittenAfterAnError
if [ ! -e "$work/none" ]; then pass; else fail "something was"; fi
# The same input gives the same bytes
run export "$examples/encoder.onnx" -o "$work/again" --name encoder --random 7 --bind batch=1,length=1..40
expect 0 TheSameAgain
name=TheSameBytes
if cmp -s "$work/again/encoder.c" "$work/encoder/encoder.c" && cmp -s "$work/again/encoder.h" "$work/encoder/encoder.h"; then pass; else
  fail "other bytes"
fi

finish
