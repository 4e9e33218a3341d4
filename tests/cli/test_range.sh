# Ranges of shapes: one plan for all of them, its formats, what is proven of it, what fits.
. "$(dirname "$0")/harness.sh"

cat >"$work/mlp.stow" <<'END'
graph @mlp {
  range ?seq = 1..40
  %0 = input "x" : f32[?seq, 16]
  %1 = param "w" : f32[16, 64]
  %2 = matmul(%0, %1) : f32[?seq, 64]
  %3 = relu(%2) : f32[?seq, 64]
  %4 = param "v" : f32[64, 16]
  %5 = matmul(%3, %4) : f32[?seq, 16]
  %6 "y" = add(%5, %0) : f32[?seq, 16]
  return %6
}
END

run plan "$work/mlp.stow"
expect 0 ARangeInTheFile
says "seq=1..40: 40 points"
says "largest arena            23552 B   23.0 KiB   at seq=40, aligned to 64 B"
says "largest gap     0.00 %"
says "arena         384*seq + 8192"
says "checked         yes"
says "seq=40  23552  23552  0.00 %     100.0 %       0"
run plan "$work/mlp.stow" --bind seq=4..8/2
expect 0 APartOfIt
says "seq=4..8/2: 3 points"
run plan "$work/mlp.stow" --bind seq=8
expect 0 OneValueIsAPlanAsBefore
says "arena                    11264 B"

run plan "$examples/decode.stow" --bind past=0..15,max=16 --kernels stowage
expect 0 AnotherSymbolHasAValue
says "past=0..15: 16 points"

# A transpose of one row is a view: another structure.
cat >"$work/turn.stow" <<'END'
graph @turn {
  range ?seq = 1..20
  %0 = input "x" : f32[?seq, 8, 4]
  %1 = exp(%0) : f32[?seq, 8, 4]
  %2 = transpose(%1) {perm = [1, 0, 2]} : f32[8, ?seq, 4]
  %3 = tanh(%2) : f32[8, ?seq, 4]
  return %3
}
END
run plan "$work/turn.stow"
expect 0 TwoRegions
says "seq=2..20"
says "planned at    seq=1:"

run plan "$work/mlp.stow" --format json
expect 0 Json
says '"stowage_formula": 1'
says '{"at": [40], "region": 0, "arena_size": 23552, "load": 23552}'
run plan "$work/mlp.stow" --format plan -o "$work/mlp.plan"
expect 0 Saved
run check "$work/mlp.stow" "$work/mlp.plan"
expect 0 TheSavedPlanIsProven
says "ok: @mlp, 40 points, 1 region, arena of at most 23552 bytes"
run check "$work/mlp.stow" "$work/mlp.plan" --bind seq=1..39
expect 3 OtherRanges
complains "the plan was made for a graph with fingerprint"
grep -v '^# above=' "$work/mlp.plan" >"$work/loose.plan"
run check "$work/mlp.stow" "$work/loose.plan"
expect 1 APlanWithoutPairs
complains "two that are live together are not above each other"
sed 's/^# region=.*/# region=40,yes,yes/' "$work/mlp.plan" >"$work/far.plan"
run check "$work/mlp.stow" "$work/far.plan"
expect 3 APointOutOfRange

run plan "$examples/encoder.onnx" --bind batch=1,length=1..24 --format plan -o "$work/encoder.plan"
expect 0 AModel
run check "$examples/encoder.onnx" "$work/encoder.plan" --bind batch=1,length=1..24
expect 0 AModelIsProven

# The header gives the numbers of the JSON, offsets included.
run plan "$work/turn.stow" --format c -o "$work/turn.h"
expect 0 AHeader
cat >"$work/main.c" <<'END'
#include <stdio.h>
#include "turn.h"
int main(void) {
  size_t offsets[TURN_VALUES];
  for (int64_t seq = 0; seq <= 21; ++seq) {
    size_t arena = turn_offsets(seq, offsets);
    if (arena != turn_arena(seq)) return 1;
    if (arena != 0) printf("{\"at\": [%d], \"arena_size\": %zu}\n", (int)seq, arena);
    for (size_t i = 0; arena != 0 && i < TURN_VALUES; ++i)
      if (offsets[i] >= arena || offsets[i] % TURN_ALIGNMENT != 0) return 1;
  }
  return 0;
}
END
name=TheHeaderComputesTheSame
if command -v "${CC:-cc}" >/dev/null 2>&1; then
  run plan "$work/turn.stow" --format json
  sed -n 's/^    \({"at": .*\), "region": [0-9]*\(, "arena_size": [0-9]*\), .*/\1\2}/p' "$out" \
    >"$work/expected"
  if "${CC:-cc}" -std=c11 -Wall -Wextra -Werror -o "$work/main" "$work/main.c" 2>"$err" &&
    "$work/main" >"$work/given" && cmp -s "$work/expected" "$work/given" &&
    [ -s "$work/expected" ]; then
    pass
  else
    fail "other numbers, or it does not compile"
  fi
else
  skip "no C compiler"
fi

# Pictures
for format in html json svg ascii trace; do
  run view "$work/turn.stow" --at seq=5 --format $format -o "$work/v.$format"
  expect 0 "APointAs_$format"
  silent
  if grep -q 'seq=5' "$work/v.$format"; then pass; else fail "the point is not named"; fi
done
name=EveryPointIsDrawnAsItIsAlone
mkdir "$work/points"
seq=1
while [ $seq -le 20 ]; do
  run view "$work/turn.stow" --at seq=$seq --json -o "$work/points/$((seq - 1)).json"
  expect 0 "APoint$seq"
  seq=$((seq + 1))
done
if command -v python3 >/dev/null 2>&1; then
  if found=$(python3 "$(dirname "$0")/check_view.py" range "$work/v.json" "$work/points" 2>&1); then
    pass
  else
    fail "$found"
  fi
else
  skip "no Python"
fi
run view "$work/turn.stow" --ascii
expect 0 TheLargestArenaByDefault
says "turn, seq=20"
complains "note: drawn at seq=20, where the arena is largest; --at gives another point"
run view "$examples/encoder.onnx" --bind batch=1..2,length=2..8/2 --at length=4,batch=2 --svg
expect 0 TwoSymbols
says "encoder.onnx, batch=2,length=4"
run view "$work/turn.stow" --at seq=21 --svg
expect 2 NoSuchPoint
complains "--at: the range does not have this point"
run view "$work/turn.stow" --at past=21 --svg
expect 2 NoSuchSymbol
complains "--at: 'past' has no range"
run view "$work/turn.stow" --at seq=1..2 --svg
expect 2 SeveralPoints
complains "--at: 'seq' needs one value"
run view "$examples/encoder.onnx" --bind batch=1..2,length=2..8/2 --at length=4 --svg
expect 2 HalfAPoint
complains "--at: 'batch' has a range too; give its value"
run view "$work/turn.stow" --bind seq=3 --at seq=3 --svg
expect 2 APointOfNoRange
complains "--at: every symbol has one value"
run view "$examples/buffers.csv" --at seq=3 --svg
expect 2 APointOfRows
complains "--at is for ranges"
run view "$work/turn.stow" --capacity 1KiB --svg
expect 2 NoCapacityInAPicture
complains "for a range use stowage fit"
run view "$work/turn.stow" --against "$work/mlp.stow" --svg
expect 2 NoComparison
complains "--against is for one shape"
run diff "$work/turn.stow" "$work/turn.stow"
expect 3 NoDifference
complains "give each one value with --bind NAME=N"

run fit "$work/mlp.stow" --capacity 12KiB
expect 0 TheLargestThatFits
says "largest         seq=10: fits; arena 12032 B, load 12032 B"
says "larger          seq=11: does not fit: proven"
run fit "$work/mlp.stow" --capacity 12KiB --json
expect 0 TheAnswerAsJson
says '"largest": {"at": 10, "verdict": "fits", "arena_size": 12032, "load": 12032}'
run fit "$work/mlp.stow" --capacity 1MiB
expect 0 EverythingFits
says "largest         seq=40: fits"
run fit "$work/mlp.stow" --capacity 8000 --bind seq=1..3
expect 1 NothingFits
says "largest         none"
complains "no value of the range fits"
run fit "$examples/encoder.onnx" --bind batch=1,length=? --capacity 10KiB
expect 0 AnUnknownLength
says "largest         length="

run fit "$work/mlp.stow"
expect 2 NoCapacity
complains "give --capacity SIZE"
run fit "$work/mlp.stow" --capacity 1KiB --bind seq=3
expect 2 NoRange
complains "every symbol has one value"
run fit "$examples/encoder.onnx" --bind batch=1..2,length=1..4 --capacity 1KiB
expect 2 TwoRanges
complains "2 symbols have ranges"
run plan "$work/mlp.stow" --bind seq=?
expect 2 AQuestionIsForFit
run plan "$work/mlp.stow" --capacity 1KiB
expect 2 ACapacityIsForFit
complains "for a range use stowage fit"
run plan "$work/mlp.stow" --explain
expect 2 ExplainedIsOneShape
complains "--explain is for one shape, not for a range"
run plan "$work/mlp.stow" --stream auto
expect 2 StreamsAreOfOneShape
complains "--stream is for one shape, not for a range"
run fit "$examples/encoder.onnx" --bind batch=1,length=1..4 --stream 2 --capacity 1KiB
expect 2 AlsoInFit
complains "--stream is for one shape, not for a range"
run plan "$work/mlp.stow" --format csv
expect 2 NoCsv
complains "a plan of a range is a summary, json, plan or c"
run plan "$examples/encoder.onnx" --bind batch=1,length=1..1000000000
expect 3 TooManyPoints
complains "give smaller ranges or larger steps"

# Ranges with too many points: a sample is looked at, the rest is proven by expressions.
run plan "$work/mlp.stow" --bind seq=1..4000000
expect 2 ARangeCanOnlyBeAPartOfThatInTheFile
sed 's/1\.\.40/1..4000000/' "$work/mlp.stow" >"$work/long.stow"
run plan "$work/long.stow"
expect 0 ByBounds
says "seq=1..4000000: 4000000 shapes, of which 512 points are looked at"
says "by bounds       arena of at most 1536008192 B at any shape; gap of at most 1.00 %"
says "checked         yes: every pair for all sizes, views and places for all shapes, and the plan"
run plan "$work/long.stow" --format json
expect 0 ByBoundsAsJson
says '"bounds": {"shapes": 4000000, "arena_size": 1536008192, "gap_arena": '
run plan "$work/long.stow" --format plan -o "$work/long.plan"
expect 0 ByBoundsSaved
run check "$work/long.stow" "$work/long.plan"
expect 0 ByBoundsIsProven
says "ok: @mlp, 512 points, 1 region, arena of at most 1536008192 bytes"
sed 's/^# values=512$/# values=3/' "$work/long.plan" >"$work/few.plan"
run check "$work/long.stow" "$work/few.plan"
expect 3 ASampleHasFourValues
complains "expected at least 4 values of each symbol"
run plan "$work/long.stow" --format c -o "$work/long.h"
expect 0 ByBoundsAsAHeader
name=TheHeaderIsForShapesBetweenPoints
printf '%s\n' '#include "long.h"' \
  'int main(void) { return MLP_LARGEST_ARENA == 1536008192u && mlp_arena(1234567) == 474081920' \
  '&& mlp_arena(0) == 0 && mlp_arena(4000001) == 0 ? 0 : 1; }' >"$work/long.c"
if command -v "${CC:-cc}" >/dev/null 2>&1; then
  if "${CC:-cc}" -std=c11 -o "$work/long" "$work/long.c" 2>"$err" && "$work/long"; then
    pass
  else
    fail "other numbers, or it does not compile"
  fi
else
  skip "no C compiler"
fi
wide='batch_size=1..4,sequence_length=1..512,past_sequence_length=0..65536'
run plan "$examples/decoder.onnx" --bind "$wide" --kernels none
expect 0 ThreeSymbolsByBounds
says "$wide: 134219776 shapes, of which "
run plan "$examples/decoder.onnx" --bind "$wide"
expect 3 KernelsAreAskedAtEveryPoint
complains "plan without kernels, or give smaller ranges or larger steps"
run fit "$work/long.stow" --capacity 1MiB
expect 3 FitLooksAtEveryPoint
complains "give smaller ranges or larger steps"
run view "$work/long.stow" --svg
expect 3 ViewLooksAtEveryPoint
complains "give smaller ranges or larger steps"
run export "$work/long.stow" -o "$work/long.export"
expect 3 ExportLooksAtEveryPoint
complains "give smaller ranges or larger steps"

# What is no range
range_is() {
  run plan "$work/mlp.stow" --bind "seq=$1"
  expect 2 "NoRange_$2"
  complains "$3"
}
range_is 9..3 Backwards 'the range 9..3 of '
range_is 4..6/7 StepAboveTheRange 'has no multiple of its step'
range_is 1..3/0 StepOfNothing 'needs a step of 1 or more'
range_is 1..3/-1 StepBelowZero "'-1' for 'seq' is not a number, 0 or more"
range_is -1..3 BelowZero "'-1' for 'seq' is not a number, 0 or more"
range_is 1.. WithoutAnEnd "'' for 'seq' is not a number, 0 or more"
range_is ..3 WithoutABeginning "'' for 'seq' is not a number, 0 or more"
range_is 0..9223372036854775807 Below2To63 'ends above 2^40'
range_is 0..9223372036854775808 At2To63 "'9223372036854775808' for 'seq' is too large"
range_is 9223372036854775808..9223372036854775809 From2To63 "is too large"
range_is 1..2/9223372036854775808 StepOf2To63 "is too large"
sed 's/1\.\.40/9..3/' "$work/mlp.stow" >"$work/empty.stow"
run plan "$work/empty.stow"
expect 3 AnEmptyRangeInTheFile
complains "the range 9..3/1 has no value"
sed 's/1\.\.40/1..9223372036854775808/' "$work/mlp.stow" >"$work/empty.stow"
run plan "$work/empty.stow"
expect 3 ARangeTo2To63InTheFile
complains "found '1..9223372036854775808'"
run fit "$work/mlp.stow" --capacity 64 --bind seq=5..7
expect 1 NoValueFits
complains "no value of the range fits"
# How many are not zero is for data to say: the range of such a dim is what its bound needs.
cat >"$work/count.stow" <<'END'
graph @count {
  range ?n = 1..8
  %0 = input "x" : f32[?n, 4]
  %1 = nonzero(%0) : i64[2, ?k]
  return %1
}
END
run plan "$work/count.stow"
expect 3 DataDecidesASymbol
complains "symbols without a value: k"
run plan "$work/count.stow" --bind k=1..5
expect 3 DataDecidesARange
sed 's/?k/?(4*n)/' "$work/count.stow" >"$work/most.stow"
run plan "$work/most.stow"
expect 0 DataDecidesWithinABound
says "n=1..8: 8 points"

# Loops: one executor for the prompt and all steps. The tokens are those of onnxruntime 1.31.
lengths='batch_size=1,sequence_length=1..8,past_sequence_length=0..16'
decode() {
  run run "$examples/decoder.onnx" --bind "$lengths" --loop 'present.*=past_key_values.*' \
    --next logits=input_ids --fill position_ids=count "$@"
}
decode --prompt 3,14,15,92,65 --steps 8
expect 0 LoopsDecode
says '39 93 41 65 93 15 91 7'
says 'carried over            6144 B   2 of 2 outputs grow in place'
decode --prompt 3,14,15,92,65 --steps 8 --threads 2
expect 0 LoopsDecodeWithThreads
says '39 93 41 65 93 15 91 7'
decode --prompt 3,14,15,92,65 --steps 8 --rewrite none --format json
expect 0 LoopsDecodeAsJson
says '"tokens": [39, 93, 41, 65, 93, 15, 91, 7]}'
says '"carried_size": 6144, "carried": 2, "carried_in_place": 2,'
decode --prompt 3 --steps 3 --temperature 0.5 --random 7
expect 0 LoopsDraw
drawn=$(tail -n 1 "$work/out")
decode --prompt 3 --steps 3 --temperature 0.5 --random 7
expect 0 LoopsDrawTheSame
says "$drawn"
decode --prompt 3 --steps 18
expect 3 CachesAreFull
complains 'is f32[1, 4, 16, 8], but the last run left f32[1, 4, 17, 8]'
decode --prompt 1,2,3,4,5,6,7,8,9 --steps 1
expect 3 PromptsAreTooLong
complains 'but i64[1, 9] was given'
decode --prompt 3,14,15 --steps 8 --capacity 1KiB
expect 3 ArenasAreTooSmall
complains 'needs an arena of '
decode --prompt 3x --steps 1
expect 2 PromptsAreNumbers
complains "--prompt: '3x' is not a list of numbers"
decode --prompt 3
expect 2 LoopsNeedSteps
complains '--loop needs --next OUT=IN, --prompt N,N,... and --steps N'
decode --prompt 3 --steps 1 --temperature 1
expect 2 DrawsNeedASeed
decode --prompt 3 --steps 1 --check
expect 2 ChecksAreForOneRun
complains '--check is for one run, not for --loop'
decode --prompt 3 --steps 1 --fill 'no=1'
expect 2 UnknownFills
complains "--fill: unknown value 'no'"
decode --prompt 3 --steps 1 --fill 'input_ids=x'
expect 2 FillsAreNumbers
run run "$examples/decoder.onnx" --bind "$lengths" --loop 'present.*=past.*' --next logits=input_ids \
  --prompt 1 --steps 1
expect 2 UnknownCaches
complains "--loop: unknown input 'past.0.key'"
run run "$examples/decoder.onnx" --bind "$lengths" --loop 'nothing=past' --next logits=input_ids \
  --prompt 1 --steps 1
expect 2 UnknownOutputs
complains "--loop: unknown output 'nothing'"
run run "$examples/decoder.onnx" --bind "$lengths" --loop 'present.*=past_key_values.*' \
  --next present.0.key=input_ids --prompt 1 --steps 1
expect 3 InputsThatNobodySets
complains 'position_ids'
run run "$examples/decoder.onnx" --bind batch_size=1,sequence_length=1,past_sequence_length=4 \
  --loop 'present.*=past_key_values.*' --next logits=input_ids --prompt 1 --steps 1
expect 2 LoopsNeedARange
run run "$examples/digits.onnx" --random 1 --steps 3
expect 2 StepsNeedALoop
complains 'need --loop'
run run "$examples/decoder.onnx" --bind "$lengths" --random 1
expect 3 RunsOfRangesAreLoops

finish
