# `stowage fmt`: canonical text.
. "$(dirname "$0")/harness.sh"

for graph in mlp transformer cnn training branches tiny; do
  run fmt "$examples/$graph.stow"
  expect 0 "Format ($graph)"
  cp "$out" "$work/once.stow"
  run fmt "$work/once.stow"
  expect 0 "FormatAgain ($graph)"
  same "$out" "$work/once.stow"
  run fmt --check "$work/once.stow"
  expect 0 "CanonicalTextPassesTheCheck ($graph)"
  silent
  # But for comments and empty lines the examples are canonical already.
  sed -e '/^ *#/d' -e '/^$/d' "$examples/$graph.stow" >"$work/bare"
  sed '/^$/d' "$work/once.stow" >"$work/dense"
  same "$work/bare" "$work/dense"
done

run fmt "$examples/encoder.onnx" --bind batch=1,length=1..64
expect 0 RangesArePrinted
says '  range ?length = 1..64'
says 'i64[1, ?length]'
cp "$out" "$work/ranged.stow"
run fmt --check "$work/ranged.stow"
expect 0 RangesAreCanonical
run fmt "$examples/encoder.onnx" --bind batch=1,length=7..10/8
expect 0 ARangeOfOneValueIsANumber
says 'i64[1, 8]'
run run "$work/ranged.stow" --random 1
expect 3 RunsNeedNumbers
complains "ranged.stow: @encoder has ranges, which this command cannot take yet: length"
run plan "$work/ranged.stow" --bind length=65
expect 3 ValuesOutsideTheRange
complains 'dim "length" is 65, which its range 1..64/1 does not have'
run plan "$work/ranged.stow" --bind length=1..65
expect 2 RangesOutsideTheRange
complains "'length' has the range 1..64/1"
run plan "$work/ranged.stow" --bind length=64 --weights file
expect 0 RangesAreBound
for range in 5..2:empty 7..8/0:step 33..40/32:multiple 1..9223372036854775807:2^40 ..:number 1.5:MIN..MAX; do
  run fmt "$examples/encoder.onnx" --bind "batch=1,length=${range%%:*}"
  expect 2 "BadRange ($range)"
  complains "${range#*:}"
done

printf 'graph   @g{ %%0=input"x":f32[2,3]\n\n return %%0 }' >"$work/loose.stow"
run fmt "$work/loose.stow"
expect 0 LooseTextIsRead
printf 'graph @g {\n  %%0 = input "x" : f32[2, 3]\n  return %%0\n}\n' >"$work/canonical"
same "$out" "$work/canonical"
run fmt --check "$work/loose.stow"
expect 1 LooseTextFailsTheCheck
complains "loose.stow:1: not in canonical form"
run fmt --check "$examples/mlp.stow"
expect 1 CommentsAreNotCanonical
"$stowage" fmt - <"$work/loose.stow" >"$out" 2>"$err"
code=$?
expect 0 StandardInput
same "$out" "$work/canonical"
run fmt "$work/loose.stow" -o "$work/loose.stow"
expect 0 InPlace
silent
same "$work/loose.stow" "$work/canonical"
printf 'graph @g {\n  oops\n}\n' >"$work/bad.stow"
run fmt "$work/bad.stow" -o "$work/loose.stow"
expect 3 BadText
complains "bad.stow:2:3: "
same "$work/loose.stow" "$work/canonical"

# The text of a model has its plan, with the same options.
same_plan() {
  name=$1 model=$2 bind=$3
  shift 3
  run plan "$model" $bind --kernels none --format json "$@"
  expect 0 "PlanOfAModel ($name)"
  cp "$out" "$work/model.json"
  run fmt "$model" $bind -o "$work/model.stow"
  expect 0 "TextOfAModel ($name)"
  run fmt --check "$work/model.stow"
  expect 0 "TextsOfModelsAreCanonical ($name)"
  run plan "$work/model.stow" --weights file --order auto --format json "$@"
  expect 0 "PlanOfItsText ($name)"
  same "$out" "$work/model.json"
}
same_plan digits "$examples/digits.onnx" ''
same_plan encoder "$examples/encoder.onnx" '--bind batch=1,length=128'
same_plan encoder "$examples/encoder.onnx" '--bind batch=2,length=7' --weights arena --order given
same_plan decode "$examples/decode.onnx" '--bind batch=1,past=15' --alias 'present.*=past.*'
same_plan sizes "$root/fuzz/corpus/onnx/ok_many_sizes.onnx" ''

# What shapes follow from is in the text also before anything is bound.
run fmt "$examples/encoder.onnx" -o "$work/open.stow"
expect 0 TextOfAModelWithSymbols
run plan "$work/open.stow" --bind batch=1,length=128 --weights file
expect 0 SymbolsOfATextAreBoundLater
says 'in place        26 results in the bytes of dead operands'
finish
