# Rewriting: what is switched on and off, one number in all commands, saved plans, names.
# Usage: sh test_rewrite.sh STOWAGE SOURCE_DIR
. "$(dirname "$0")/harness.sh"

cat >"$work/g.stow" <<'END'
graph @g {
  %0 = input "x" : f32[2, 4]
  %1 = param "w" {data = [0x1p+0, 0x1p+1, 0x1p+2, 0x1p+3, 0x1p-1, 0x1p-2, 0x1p+0, 0x1p+0]} : f32[4, 2]
  %2 "bent" = atan(%1) : f32[4, 2]
  %3 "bent twice" = atan(%2) : f32[4, 2]
  %4 = reshape(%0) : f32[2, 4]
  %5 = matmul(%4, %3) : f32[2, 2]
  %6 = random_uniform(%5) : f32[2, 2]
  %7 "y" = add(%5, %6) : f32[2, 2]
  return %7
}
END
g=$work/g.stow
kernels="--kernels stowage"

run plan "$g" $kernels
expect 0 TextIsPlannedAsItIs
name=TextIsNotRewritten
if grep -q rewritten "$out"; then fail "it is"; else pass; fi
run plan "$g" $kernels --rewrite exact --explain
expect 0 TextIsRewrittenOnRequest
says "rewritten       identities 1, fold 1, weights 32 "
says "folded                      32 B"
says "rewritten by fold: 1"
says "  bent + bent twice"
run plan "$g" $kernels --rewrite exact,-fold
expect 0 ARuleIsSwitchedOff
says "rewritten       identities 1"
run plan "$g" $kernels --rewrite exact --format json
expect 0 JsonHasTheCounts
says '"rewrite": {"stamp": "v6 identities=1 cse=0 dead=0 fold=1 blocks=0 products=0 columns=0 qdq=off norms=off repeats=0 transposes=0 parts=0 fold_limit=2", "identities": 1'
run plan "$g" --rewrite exact,-fold,-cse --fold-limit 1.5 --format plan
expect 0 PlansSayWhatWasOff
says "# rewrite=v6 identities=1 cse=off dead=0 fold=off blocks=0 products=0 columns=0 qdq=off norms=off repeats=0 transposes=0 parts=0 fold_limit=1.5"

run plan "$g" --rewrite most
expect 2 OtherWordsAreRefused
complains "--rewrite: unknown 'most'; expected none, exact or near, and any of -identities, -cse"
run plan "$g" --rewrite none,-fold
expect 2 NothingCannotHaveLess
run plan "$g" --fold-limit 0.5
expect 2 TheLimitIsAtLeastOne
complains "--fold-limit: '0.5' is not a number"
run plan "$g" --rewrite exact --preset rlx
expect 2 PresetsOfAnotherPlannerStay
complains "--preset rlx plans graphs as they are"
run plan "$g" "$examples/mlp.stow" --rewrite exact
expect 2 SetsAreNotRewritten

# Runs, exports and saved plans agree.
run run "$g" --rewrite exact --random 1 --check --save-plan "$work/g.plan" --output "y=$work/y.npy"
expect 0 ARewrittenGraphRuns
says "the same bits as a run without rewriting and shared bytes"
says "of it to fold weights"
run run "$g" --rewrite none --random 1 --output "y=$work/z.npy"
expect 0 SoDoesTheGraphAsItIs
name=BothGiveTheSameBits
if cmp -s "$work/y.npy" "$work/z.npy"; then pass; else fail "they differ"; fi
run check "$g" "$work/g.plan"
expect 0 ASavedPlanIsChecked
run run "$g" --plan "$work/g.plan" --random 1 --check
expect 0 AndRuns
run view "$g" --plan "$work/g.plan" --format json
expect 0 AndIsDrawn
run view "$g" --rewrite none --against "$work/g.plan" --format json
expect 0 AlsoBesideThePlanOfTheGraphAsItIs
run diff "$g" "$work/g.plan" --kernels stowage
name=AndIsCompared
if [ "$code" -le 1 ]; then pass; else fail "exit $code"; fi
run export "$g" --rewrite exact -o "$work/program"
expect 0 FoldedWeightsAreExported
name=TheProgramHasTheFoldedWeight
if grep -q "bent twice" "$work/program/g_weights.c"; then pass; else fail "it has not"; fi
if command -v "${CC:-cc}" >/dev/null && command -v make >/dev/null; then
  name=TheProgramGivesTheSameBits
  if make -C "$work/program" >"$out" 2>"$err" &&
    "$work/program/g" --random 1 --output "y=$work/y.raw" >"$out" 2>"$err" &&
    tail -c 16 "$work/y.npy" | cmp -s - "$work/y.raw"; then pass; else fail "it does not"; fi
else
  skip "no compiler"
fi
sed 's/^# rewrite=v6/# rewrite=v0/' "$work/g.plan" >"$work/old.plan"
for command in "check $g $work/old.plan" "run $g --plan $work/old.plan --random 1"; do
  # shellcheck disable=SC2086
  run $command
  expect 3 "OtherRulesMakeAPlanStale ($command)"
  complains "the graph was rewritten by version 0 of the rules; this is version 6"
done

# Near rules
cat >"$work/q.stow" <<'END'
graph @q {
  %0 = input "x" : f32[2, 4]
  %1 = param "s" {data = [0x1.3p-7]} : f32[]
  %2 = param "z" {data = [128]} : u8[]
  %3 = param "w" {data = [1, -2, 3, 4, -5, 6, 7, 8]} : i8[4, 2]
  %4 = param "t" {data = [0x1.9p-6]} : f32[]
  %5 = quantize_linear(%0, %1, %2) : u8[2, 4]
  %6 = dequantize_linear(%5, %1, %2) : f32[2, 4]
  %7 = dequantize_linear(%3, %4) : f32[4, 2]
  %8 = matmul(%6, %7) : f32[2, 2]
  %9 = quantize_linear(%8, %4, %2) : u8[2, 2]
  %10 "y" = dequantize_linear(%9, %4, %2) : f32[2, 2]
  return %10
}
END
q=$work/q.stow
run run "$q" --rewrite near --random 1 --check --save-plan "$work/q.plan"
expect 0 QuantisedGraphsRunWithIntegers
says "the same bits as a run without exact rules and shared bytes"
says "near            at most 0 quanta from the model as it is"
run run "$q" --plan "$work/q.plan" --random 1 --check --format json
expect 0 SoDoTheirPlans
says '"near": {"quanta": 0, "absolute": null, "relative": null}'
run plan "$q" $kernels --rewrite near --explain
expect 0 TheyAreExplained
says "rewritten by qdq: 1"
for list in exact near,-qdq; do
  run run "$q" --rewrite $list --random 1 --check
  expect 0 "FloatsStay ($list)"
  says "the same bits as a run without shared bytes"
done
run plan "$q" $kernels --rewrite -fold --format plan
expect 0 ARuleIsLeftOutOfTheDefault
says "# rewrite=v6 identities=0 cse=0 dead=0 fold=off blocks=0 products=0 columns=0 qdq=1 norms=off repeats=0 transposes=0 parts=0 fold_limit=2"
cat >"$work/n.stow" <<'END'
graph @n {
  %0 = input "x" : f32[2, 4]
  %1 = param "w" {data = [0x1p-1, 0x1.1p-2, 0x1p-3, 0x1.3p-1, 0x1p-1, 0x1.5p+0, 0x1p-1, 0x1p+1]} : f32[4, 2]
  %2 = param "c" {data = [0x1.7p-3, 0x1.3p-2]} : f32[2]
  %3 = matmul(%0, %1) : f32[2, 2]
  %4 "y" = mul(%3, %2) : f32[2, 2]
  return %4
}
END
run run "$work/n.stow" --rewrite near --random 1 --check
expect 0 ScalesVanishInWeights
says "of the largest element"
run run "$work/n.stow" --rewrite -cse --random 1 --check
expect 0 ButOnlyOnRequest
says "the same bits as a run without"

# Names
run plan "$g" $kernels --rewrite exact --io "bent=external"
expect 2 WhatWasFoldedIsNamed
lists '%2 "bent" was folded into a weight; keep it with --rewrite none'
finish
