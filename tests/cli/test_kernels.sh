# One number: plan, run, export, view, check and diff of a model have the same arena, with the
# scratch of kernels. Usage: sh test_kernels.sh STOWAGE SOURCE_DIR WRITE_MODELS
. "$(dirname "$0")/harness.sh"
"$3" "$work" || exit 1

arena() { sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out" | head -n 1; }
is() {
  name=$2
  if [ "$1" -eq "$number" ]; then pass; else fail "$1 instead of $number"; fi
}

# one_number MODEL ARG...: six commands with the same options
one_number() {
  model=$1
  shift
  label="$(basename "$model") $*"
  run plan "$model" "$@"
  expect 0 "AModelIsPlannedWithKernels ($label)"
  says "kernels         stowage, 1 thread; "
  number=$(arena)
  run run "$model" "$@" --random 1 --save-plan "$work/saved.plan"
  expect 0 "ItRuns ($label)"
  is "$(arena)" "InTheArenaThatWasPlanned ($label)"
  run check "$model" "$work/saved.plan" "$@"
  expect 0 "ItsPlanIsChecked ($label)"
  says "arena of $number bytes"
  run view "$model" --plan "$work/saved.plan" "$@" --format json
  expect 0 "ItsPlanIsViewed ($label)"
  says "\"arena\":$number"
  run view "$model" "$@" --format json
  expect 0 "AndTheModel ($label)"
  says "\"arena\":$number"
  run diff "$model" "$work/saved.plan" "$@" --format json
  expect 0 "ItsPlanHasNotGrown ($label)"
  name="BothSidesHaveTheArena ($label)"
  if [ "$(grep -oE "\"arena\": ?$number\\b" "$out" | wc -l)" -ge 2 ]; then pass; else fail "not $number"; fi
  run export "$model" "$@" -o "$work/program"
  expect 0 "ItIsExported ($label)"
  is "$(arena)" "InTheSameArena ($label)"
  run plan "$model" "$@" --format plan -o "$work/made.plan"
  expect 0 "APlanIsSavedByPlan ($label)"
  run run "$model" "$@" --random 1 --plan "$work/made.plan"
  expect 0 "AndRuns ($label)"
  is "$(arena)" "InItsArena ($label)"
}
for io in keep consume external; do
  one_number "$examples/digits.onnx" --io image=$io
  one_number "$examples/encoder.onnx" --bind batch=1,length=32 --io tokens=$io
  one_number "$work/qdq.onnx" --io x=$io
  one_number "$work/qoperator.onnx" --io x=$io --io y=$io
  one_number "$work/lstm.onnx" --io x=$io
  one_number "$work/parts.onnx" --io x=$io # a loop
done
one_number "$examples/decode.onnx" --bind batch=1,past=15 --alias 'present.*=past.*'
run plan "$examples/encoder.onnx" --bind batch=1,length=32 --kernels none
expect 0 KernelsCanBeLeftOut
says_not "kernels  "
run plan "$examples/digits.onnx" --preset rlx
expect 0 PlansOfRlxHaveNone
says_not "kernels  "
run plan "$examples/cnn.stow" --bind batch=1
expect 0 GraphsInTextDescribeOtherExecutors
says_not "kernels  "
run plan "$examples/cnn.stow" --bind batch=1 --kernels stowage
expect 0 UnlessTheyAreToRunHere
number=$(arena)
run run "$examples/cnn.stow" --bind batch=1 --random 1
expect 0 AGraphRuns
is "$(arena)" InTheArenaThatWasAskedFor
write_graph custom '%0 = input "x" : f32[4]' '%1 = custom(%0) {name = "f"} : f32[4]' 'return %1'
run plan "$work/custom.stow" --kernels stowage
expect 3 AnOpWithoutAKernelIsRefused
complains 'there is no kernel named "f"'
lists 'to plan for another executor, give --kernels none'
run plan "$examples/digits.onnx" --kernels fastest
expect 0 TheFastestVariantsCanBePlanned
says "kernels         fastest, 1 thread; "
number=$(arena)
run run "$examples/digits.onnx" --random 1 --kernels fastest --save-plan "$work/fast.plan"
expect 0 AndRun
is "$(arena)" InALargerArena
name=ItIsLarger
if [ "$number" -gt 34496 ]; then pass; else fail "$number"; fi
run check "$examples/digits.onnx" "$work/fast.plan"
expect 0 TheirPlanIsChecked
run view "$examples/digits.onnx" --plan "$work/fast.plan" --format json
expect 0 AndViewed
says "\"arena\":$number"
run run "$examples/digits.onnx" --random 1 --plan "$work/fast.plan"
expect 0 AndRunsAgain
run export "$examples/digits.onnx" --kernels fastest -o "$work/fast"
expect 0 ProgramsToo
says "arena    $number bytes"
run plan "$examples/digits.onnx" --kernels others
expect 2 UnknownKernels
run run "$examples/digits.onnx" --random 1 --kernels none
expect 2 RunsNeedKernels
run plan "$examples/digits.onnx" "$examples/encoder.onnx" --bind-rest 8 --kernels stowage
expect 2 SetsHaveNone
run run "$examples/digits.onnx" --random 1 --threads 2 --save-plan "$work/two.plan"
expect 0 TwoThreads
run check "$examples/digits.onnx" "$work/two.plan"
expect 0 PlansRememberTheirThreads
run run "$examples/digits.onnx" --random 1 --plan "$work/two.plan"
expect 0 AndRunWithFewer
run run "$examples/encoder.onnx" --bind batch=1,length=16 --random 1 --save-plan "$work/one.plan"
run run "$examples/encoder.onnx" --bind batch=1,length=16 --random 1 --threads 2 \
  --plan "$work/one.plan"
expect 1 ButNotWithMoreThanFit
lists "it was made with --threads 1: "
run plan "$examples/digits.onnx" --kernels none --format plan -o "$work/none.plan"
run run "$examples/digits.onnx" --random 1 --plan "$work/none.plan"
expect 1 NorWithoutKernels
lists "it was made without kernels: "

run run "$examples/digits.onnx" --random 1 --plan "$work/two.plan" --io external
expect 2 ThePlanHasTheGeneralPolicy
run run "$examples/digits.onnx" --random 1 --plan "$work/two.plan" --io image=external
expect 3 AnotherPolicyIsRefused
complains "'image' has a slot in"
run check "$examples/digits.onnx" "$work/two.plan" --io image=external
expect 3 AlsoByCheck
run plan "$examples/digits.onnx"
number=$(sed -n 's/^  weights  *\([0-9]*\) B.*/\1/p' "$out")
run run "$examples/digits.onnx" --random 1
is "$(sed -n 's/^  weights  *\([0-9]*\) B.*/\1/p' "$out")" OneNumberForWeights

# Packed weights: the same bits, the same arena from every command, and a plan that remembers them.
for pack in never auto always; do
  run run "$examples/digits.onnx" --random 1 --pack $pack --outputs "$work/$pack.npz" \
    --save-plan "$work/$pack.plan"
  expect 0 "Pack-$pack"
  number=$(arena)
  run plan "$examples/digits.onnx" --pack $pack
  is "$(arena)" "PlansPack-$pack"
  run check "$examples/digits.onnx" "$work/$pack.plan"
  expect 0 "ChecksPack-$pack"
  run run "$examples/digits.onnx" --random 1 --plan "$work/$pack.plan"
  expect 0 "RunsPack-$pack"
  name="SameBits-$pack"
  if cmp -s "$work/never.npz" "$work/$pack.npz"; then pass; else fail "other bits"; fi
done
sed 's/^# packed_bytes=.*/# packed_bytes=1/' "$work/auto.plan" >"$work/false.plan"
run check "$examples/digits.onnx" "$work/false.plan"
expect 1 FalseBytesAreFound
complains "the plan states 1 bytes of packed weights, but they are "
sed 's/^# threads=.*/# threads=0/' "$work/auto.plan" >"$work/false.plan"
run check "$examples/digits.onnx" "$work/false.plan"
expect 3 NoThreadsAreRefused
run run "$examples/digits.onnx" --random 1 --pack never --format json
expect 0 NothingIsPacked
says '"packed": 0'
run run "$examples/digits.onnx" --random 1 --weights arena --pack always --format json
expect 0 WeightsInTheArenaAreNot
says '"packed": 0'
run run "$examples/digits.onnx" --random 1
expect 0 WeightsArePacked
says "packed  "
run export "$examples/digits.onnx" --pack never -o "$work/unpacked"
expect 0 UnpackedExport
name=ItHasTheOriginals
if grep -q ', packed$' "$work/unpacked"/*_weights.c; then fail "packed"; else pass; fi
run plan "$examples/digits.onnx" --pack sometimes
expect 2 UnknownPack
finish
