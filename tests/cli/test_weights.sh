# Models in which weights, outputs and data-dependent values are views run, with and without proof,
# and so do their exports. Weights are mapped read-only, so a write to them crashes in any build.
# Usage: sh test_weights.sh STOWAGE SOURCE_DIR WRITE_MODELS
. "$(dirname "$0")/harness.sh"
name=ModelsAreWritten
if "$3" "$work" >"$out" 2>"$err"; then pass; else fail "they are not"; fi
compiler=${CC:-cc}
if command -v "$compiler" >/dev/null 2>&1 && command -v make >/dev/null 2>&1; then builds=1; else builds=; fi

# bytes NAME BYTES...: a file of raw bytes, in octal
bytes() {
  file=$1
  shift
  for byte in "$@"; do printf '%b' "\\0$byte"; done >"$file"
}

# proven MODEL ARG...: all ways to run give the same
proven() {
  model=$1
  shift
  run run "$work/$model.onnx" "$@" --outputs "$work/$model.npz"
  expect 0 "ItRuns ($model)"
  run run "$work/$model.onnx" "$@" --check --threads 2
  expect 0 "ItIsTheSameWithoutReuse ($model)"
  says "the same bits as a run without "
  run run "$work/$model.onnx" "$@" --paranoid
  expect 0 "ItIsParanoid ($model)"
  run run "$work/$model.onnx" "$@" --weights arena --outputs "$work/arena.npz"
  expect 0 "WeightsMayBeInTheArena ($model)"
  same "$work/$model.npz" "$work/arena.npz"
}

# exported MODEL OUTPUT...: the program gives what the run gives. Weights are const there.
exported() {
  model=$1
  shift
  run export "$work/$model.onnx" -o "$work/$model" --name model
  expect 0 "ItIsExported ($model)"
  [ -n "$builds" ] || return 0
  name="TheProgramBuilds ($model)"
  if make -s -C "$work/$model" CC="$compiler" CFLAGS="-O0 -Werror" >"$out" 2>"$err"; then pass; else
    fail "it does not"
    return
  fi
  for result in "$@"; do
    run run "$work/$model.onnx" --random 1 -o "$result=$work/run.raw"
    expect 0 "ItRuns ($model $result)"
    "$work/$model/model" --random 1 --output "$result=$work/program.raw" >"$out" 2>"$err" </dev/null
    code=$?
    expect 0 "TheProgramRuns ($model $result)"
    same "$work/run.raw" "$work/program.raw"
  done
}

proven fused --random 1
exported fused y
proven parts --random 1
exported parts y z n v
proven viewed --random 1
exported viewed y s z u
if [ -z "$builds" ]; then skip "no compiler or no make: programs are not built"; fi

# 0, 1, 0, 1
bytes "$work/some.raw" 0 0 0 0 0 0 200 077 0 0 0 0 0 0 200 077
for model in identity_of_data dropout_of_data; do
  proven $model --input "x=$work/some.raw"
  run run "$work/$model.onnx" --input "x=$work/some.raw"
  expect 0 "DimsThatDependOnDataArePassedOn ($model)"
  says "y  f32[1, 2]"
  says "[1, 3]"
done

# NaNs whose negation is all ones
bytes "$work/nans.raw" 377 377 377 177 377 377 377 177 377 377 377 177 377 377 377 177
proven negated --input "x=$work/nans.raw"

# A loop without a condition goes on whatever its body says; without a trip count either, it would for ever
bytes "$work/zero.raw" 0 0 0 0
run run "$work/counted.onnx" --input "x=$work/zero.raw" -o "y=$work/rounds.raw"
expect 0 ALoopWithoutAConditionMakesAllRounds
bytes "$work/five.raw" 0 0 240 100
same "$work/five.raw" "$work/rounds.raw"
run plan "$work/endless.onnx"
expect 3 ALoopWithoutAnEndIsRefused
lists "neither a trip count nor a condition"
lists "Loop"

finish
