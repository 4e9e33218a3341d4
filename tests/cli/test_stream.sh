# Rows that stream: the same bits in a smaller arena, only if that is asked for, and with a capacity
# only if nothing else fits.
# Usage: sh test_stream.sh STOWAGE SOURCE_DIR
. "$(dirname "$0")/harness.sh"

m=$examples/digits.onnx
arena() { sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out" | head -n 1; }

run plan "$m" --hints never
expect 0 NothingStreamsByDefault
says_not "streamed"
plain=$(arena)
run plan "$m" --stream off --hints never
expect 0 NorIfThatIsOff
name=NorIfThatIsOff
if [ "$(arena)" -eq "$plain" ]; then pass; else fail "$(arena) instead of $plain"; fi

run plan "$m" --stream auto --hints never --explain
expect 0 RowsStream
says "stream 1"
says "  streamed        "
says "none twice, $((plain - $(arena))) B less"
says "rewritten by stream: 1"
small=$(arena)
name=TheArenaIsSmaller
if [ "$small" -lt "$plain" ]; then pass; else fail "$small of $plain"; fi
run plan "$m" --stream auto --rewrite none --hints never
expect 0 AlsoWithoutOtherRules
says "rewritten       stream 1"
run plan "$m" --stream auto --preset rlx
expect 2 PresetsOfAnotherPlannerStay
complains "--stream: --preset rlx plans graphs as they are"
run plan "$m" "$m" --stream auto
expect 2 SetsDoNotStream
for word in 0 1000001 some; do
  run plan "$m" --stream $word
  expect 2 OtherWordsAreRefused
  complains "--stream: unknown '$word'; expected off, auto or a number of rows from 1 to 1000000"
done
run plan "$m" --stream 1 --hints never --format plan -o "$work/rows.plan"
expect 0 RowsAreCounted
if grep -q '^# rewrite=.* stream_rows=1 ' "$work/rows.plan"; then pass; else fail "no rows"; fi
run check "$m" "$work/rows.plan"
expect 0 AndKept

# A ladder
run plan "$m" --stream auto --capacity "$plain" --hints never
expect 0 WhatFitsStays
says_not "streamed"
says_not "tried"
run plan "$m" --stream auto --capacity "$small" --hints never
expect 0 WhatDoesNotFitStreams
says "  streamed        "
says "in single rows $small B"
says "  tried           as it is "
run plan "$m" --stream auto --capacity 1KiB --hints never
expect 1 WhatIsImpossibleIsSaid
says "in single rows $small B"

# Text, of which nothing else is rewritten, where nothing is gained
run plan "$examples/transformer.stow" --kernels stowage --stream auto --hints never
expect 0 TextMayStream
says_not "rewritten"

# Runs, exports, saved plans and pictures agree.
run run "$m" --stream auto --random 1 --check --save-plan "$work/m.plan"
expect 0 AStreamedModelRuns
says "the same bits as a run without rewriting and shared bytes"
name=TheRunHasThatArena
if [ "$(arena)" -eq "$small" ]; then pass; else fail "$(arena) instead of $small"; fi
run run "$m" --stream auto --random 1 --check --threads 2 --paranoid
expect 0 OnTwoThreads
run check "$m" "$work/m.plan"
expect 0 ASavedPlanIsChecked
run run "$m" --plan "$work/m.plan" --random 1 --check
expect 0 AndRuns
run view "$m" --stream auto --format json
expect 0 AndIsDrawn
run plan "$m" --stream auto --format json
expect 0 JsonHasTheStamp
says "stream=1"
run export "$m" --stream auto -o "$work/program"
expect 0 AndIsExported
if command -v "${CC:-cc}" >/dev/null && command -v make >/dev/null; then
  run run "$m" --random 1 --output "probabilities=$work/p.npy"
  expect 0 TheModelAsItIsRuns
  name=TheProgramGivesItsBits
  if make -C "$work/program" >"$out" 2>"$err" &&
    "$work/program/digits" --random 1 --output "probabilities=$work/p.raw" >"$out" 2>"$err" &&
    tail -c 40 "$work/p.npy" | cmp -s - "$work/p.raw"; then pass; else fail "it does not"; fi
else
  skip "no compiler"
fi
finish
