# `stowage solve`: outcomes and their exit codes, formats, files, bad CSVs.
. "$(dirname "$0")/harness.sh"
csv=$examples/buffers.csv
load=80896   # of the example; first-fit needs more
greedy=109568

# csv NAME LINE...: a file $work/NAME.csv of these lines
csv() {
  csv_file=$work/$1.csv
  shift
  printf '%s\n' "$@" >"$csv_file"
}

narrow() {
  if sed 's/…/./g' "$out" | awk 'length($0) > 80 { exit 1 }'; then pass; else
    fail "wider than 80 columns"
  fi
}

# Outcomes
run solve "$csv"
expect 0 ThereIsAPlacement
for text in "$csv" "15 buffers" "height" "lower bound" "gap" "peak load" "  $load B" \
  "at step 8" "outcome" "strategy        auto" "search" "nodes" "checked" "yes"; do
  says "$text"
done
says_not "time "
says_not "capacity  "
says_not "$(printf '\033')"
narrow
run solve "$csv" --strategy first-fit
expect 0 Feasible
says "$greedy B"
says "gap $((greedy - load)) B (35.44 %)"
says "feasible: a lower placement may exist"
says "strategy        first-fit"
csv one 'id,lower,upper,size' 'a,0,4,100'
run solve "$csv_file"
expect 0 Optimal
says "1 buffer"
says "optimal: no placement is lower"
says "gap 0 B (0.00 %)"
run solve "$csv" --strategy first-fit --capacity $greedy
expect 0 FitsExactly
says "fits, 0 B to spare"
says "feasible: within the capacity; a lower one may exist"
run solve "$csv" --strategy first-fit --capacity 100kB
expect 4 GaveUp
says "gave up: none within the capacity was found or ruled out"
says "exceeded by $((greedy - 100000)) B"
complains "buffers.csv: gave up: 100000 bytes available, the best placement found needs $greedy, "
run solve "$csv" --capacity $((load - 1))
expect 1 Infeasible
says "infeasible: no placement is within the capacity"
complains "buffers.csv: does not fit: $((load - 1)) bytes available, but no placement is below $load"
narrow
run solve "$csv" --capacity 0
expect 1 NothingFitsInNothing
csv vast 'id,lower,upper,size' 'a,0,4,50000000000000' 'b,0,4,49999999999999' 'c,4,5,7'
for capacity in 1 60000000000000 99999999999999; do
  run solve "$csv_file" --capacity $capacity
  name="LargeNumbersFitTheLine ($capacity)"
  narrow
done

# Why nothing fits
csv three 'id,lower,upper,size' 'first,0,4,30' 'second,2,6,30' 'third,3,5,30' 'fourth,5,9,30'
run solve "$csv_file" --capacity 89
expect 1 TheReasonIsTold
says "why: these buffers do not fit in 89 B together"
for id in first second third; do says "  $id "; done
says_not "  fourth "
says "All of them are live at step 3."
says "Without any one of them the others fit."
if grep -q "^  sum  *90 *90 B *101.1 %" "$out"; then pass; else fail "no sum"; fi
run solve "$csv_file" --capacity 89 --no-explain
expect 1 NoExplanationIsWanted
says_not "why"
csv large 'id,lower,upper,size' 'small,0,4,1' 'large,2,4,100'
run solve "$csv_file" --capacity 99
expect 1 OneBufferIsTooLarge
says "why: this buffer does not fit in 99 B"
says "  large "
says_not "  small "
says_not "  sum "
run solve "$csv_file" --capacity 0
expect 1 NoShareOfNothing
says " 100 B         -"
csv fixed 'id,lower,upper,size,offset' 'small,0,4,1,' 'high,2,4,8,100'
run solve "$csv_file" --capacity 64
expect 1 AFixedPlaceIsTooHigh
says "2 buffers, 1 at a fixed offset"
says "With alignments and fixed offsets that takes at least 108 B."
csv wall 'id,lower,upper,size,offset' 'wall,0,9,10,50' 'long,0,9,60,'
run solve "$csv_file" --capacity 100
expect 1 AFixedPlaceIsInTheWay
says "why: this buffer does not fit in 100 B"
says "  long "
says "That would fit, but not around the buffers at fixed offsets."
csv holes 'id,lower,upper,size,alignment' 'a,0,4,5,8' 'b,0,4,5,8' 'c,0,4,4,1'
run solve "$csv_file" --capacity 14
expect 1 AlignmentsLeaveHoles
says "That would fit, but no arrangement of them over all steps, with alignments, does."
csv wall 'id,lower,upper,size,offset' 'wall,0,9,10,50' 'long,0,9,60,'
run solve "$csv_file" -o "$work/placed.csv"
run solve "$work/placed.csv"
expect 0 AWrittenPlacementIsProven
says "2 buffers, all at fixed offsets"
awk 'BEGIN { print "id,lower,upper,size"; for (i = 1; i <= 40; ++i) print "b" i ",0,4," 100 + i }' \
  >"$work/many.csv"
run solve "$work/many.csv" --capacity 4819
expect 1 LongExplanationsAreCut
says "  b40 "
says "… and 28 more"
if grep -q "^  sum  *4820 " "$out"; then pass; else fail "no sum"; fi

# Formats
run solve "$csv" --format csv
expect 0 Csv
says "id,lower,upper,size,offset"
says "image,0,2,32768,"
if awk -F , 'NR > 1 && $5 !~ /^[0-9]+$/ { exit 1 }' "$out"; then pass; else fail "no offset"; fi
cp "$out" "$work/rows"
run solve "$csv" -o -
expect 0 DashIsStandardOutput
same "$out" "$work/rows"
printf 'id,lower,upper,size\na\033[2J,0,2,8\n"b\r\n\rc\\",0,2,8\n' >"$work/control.csv"
run solve "$work/control.csv" --strategy first-fit --format csv
expect 0 ControlCharactersAreEscaped
printf 'id,lower,upper,size,offset\na\\x1b[2J,0,2,8,0\n"b\r\n\\x0dc\\\\",0,2,8,8\n' >"$work/control.expected"
same "$out" "$work/control.expected"
run solve "$csv" --output - --format csv
expect 0 DashWithItsFormat
same "$out" "$work/rows"
run solve "$csv" -o - --format json
expect 2 OneStandardOutputIsEnough
complains "--output - and --format json both write to standard output"
run solve "$csv" --format summary
cp "$out" "$work/summary"
run solve "$csv" -o "$work/out.csv"
expect 0 RowsGoToAFileAndTheSummaryIsPrinted
same "$out" "$work/summary"
same "$work/out.csv" "$work/rows"
run solve "$csv" --format xml
expect 2 UnknownFormat
complains "expected one of: summary, markdown, json, csv"
run solve "$csv" --stats
expect 0 Stats
says "time            0."
run solve "$csv" --strategy worst-fit
expect 2 UnknownStrategy
complains "--strategy: unknown 'worst-fit'"
run solve "$csv" --capacity 100k
expect 2 SizesAreThoseOfPlan
complains "did you mean 100KiB?"

# JSON
csv odd 'id,lower,upper,size' '"quote "" back\slash",0,4,8' 'tab	é,0,4,8' "$(printf 'bad\377,0,4,8')"
for arguments in "$csv" "$csv --stats" "$csv --capacity 1" "$csv --strategy first-fit --capacity 90000" \
  "$csv_file" "$csv_file --capacity 1"; do
  run solve $arguments --format json
  cp "$out" "$work/json"
  if command -v python3 >/dev/null 2>&1; then
    python3 - "$work/json" "$arguments" >"$out" 2>"$err" <<'PYTHON'
import json, sys
found = json.load(open(sys.argv[1], encoding="utf-8"))
assert found["stowage_solve"] == 1 and len(found["placement"]) == found["buffers"], found
assert found["gap"] == found["height"] - found["lower_bound"]
assert (found["outcome"] == "infeasible") == (found["explanation"] is not None), found
assert ("seconds" in found) == ("--stats" in sys.argv[2])
if "odd" in sys.argv[2]:
    ids = [row["id"] for row in found["placement"]]
    assert ids == ['quote " back\\slash', "tab\t\u00e9", "bad\ufffd"], ids
PYTHON
    code=$?
    expect 0 "JsonIsWellFormed ($arguments)"
  else
    skip "no python3: json is not parsed"
  fi
done

# Several files, and tables of them
csv many 'id,lower,upper,size' 'a,0,4,100' 'b,0,4,100'
mkdir "$work/folder"
cp "$work/one.csv" "$work/folder/odd | \`name\`$(printf '\033').csv"
run solve --format markdown "$work/one.csv" "$csv" "$work/folder/"*.csv --strategy first-fit
expect 0 ATableHasARowPerFile
cat >"$work/table" <<END
| instance | buffers | load | bound | height | % above | outcome | nodes |
| --- | ---: | ---: | ---: | ---: | ---: | --- | ---: |
| one | 1 | 100 | 100 | 100 | 0.00 | optimal | 0 |
| buffers | 15 | $load | $load | $greedy | 35.44 | feasible | 0 |
| odd \\| \\\`name\\\`\\\\x1B | 1 | 100 | 100 | 100 | 0.00 | optimal | 0 |
END
same "$out" "$work/table"
run solve --format markdown "$csv" --stats
expect 0 TablesHaveTimesIfAsked
says "| nodes | seconds |"
if grep -qE '^\| buffers .* \| 0\.[0-9]{3} \|$' "$out"; then pass; else fail "no time"; fi
"$stowage" solve --format markdown "$work/one.csv" - <"$csv" >"$out" 2>"$err"
code=$?
expect 0 StandardInputIsOneOfThem
says '| \<stdin> | 15 |'
run solve "$work/one.csv"
cp "$out" "$work/both"
run solve "$csv"
{ echo; cat "$out"; } >>"$work/both"
run solve "$work/one.csv" "$csv"
expect 0 SummariesOfSeveralFiles
same "$out" "$work/both"
run solve "$work/many.csv" "$work/one.csv" --capacity 100 --format markdown
expect 1 OneThatDoesNotFitIsEnough
says "| many | 2 | 200 | 200 | 200 | 0.00 | infeasible |"
says "| one | 1 | 100 | 100 | 100 | 0.00 | optimal |"
complains "many.csv: does not fit"
run solve "$csv" "$work/one.csv" --capacity 100kB --format markdown --strategy first-fit
expect 4 OneThatIsNotKnown
run solve "$csv" "$work/many.csv" --capacity 100 --format markdown --strategy first-fit
expect 1 AProofCountsMoreThanGivingUp
run solve "$csv" "$work/many.csv" --capacity 81000 --format markdown --strategy first-fit
expect 4 GivingUpCountsMoreThanAFit
csv bad 'id,lower,upper,size' 'a,0,1,x'
run solve "$work/one.csv" "$csv_file" "$work/many.csv" --format markdown
expect 3 ABadFileEndsTheRun
complains "bad.csv:2:7: "
says "| one |"
says_not "| many |"
for format in json csv; do
  run solve "$work/one.csv" "$csv" --format $format
  expect 2 "OneFileOnly ($format)"
  complains "--format $format takes one FILE, not 2; summary and markdown take several"
done
run solve "$work/one.csv" "$csv" -o "$work/two.csv"
expect 2 OneFileToWrite
complains "--output takes one FILE, not 2"
run solve - "$csv" - --format markdown
expect 2 StandardInputIsReadOnce
complains "only one file can be standard input"
run solve "$csv" -o "$work/two.md"
expect 2 ATableIsNoCsv
complains "two.md' would contain CSV; use --format markdown on standard output"

# The same input, the same bytes
for format in summary markdown json csv; do
  run solve "$csv" --format $format --nodes 50k
  cp "$out" "$work/first"
  run solve "$csv" --format $format --nodes 50k
  expect 0 "SameBytes ($format)"
  same "$out" "$work/first"
done

# Budgets
for nodes in 0 1 100k 5M 1.5k 0.5G unlimited; do
  run solve "$work/one.csv" --nodes $nodes
  expect 0 "Nodes ($nodes)"
done
for nodes in "" k -1 1kk 1K 1.5 1. .5 lots 0x10 1e3 100KiB; do
  run solve "$csv" "--nodes=$nodes"
  expect 2 "NodesAreANumber ($nodes)"
  complains "--nodes: '$nodes' is not a number: digits, then k, M, G or nothing; or unlimited"
done
for nodes in 18446744073709551615 18446744073709551616 18446744073710M; do
  run solve "$csv" --nodes $nodes
  expect 2 "NodesFitIn64Bits ($nodes)"
  complains "--nodes: '$nodes' is too large"
done
for time in 10s 500ms 2m 1.5h 0s 0.25s 1.000s; do
  run solve "$work/one.csv" --time $time
  expect 0 "Time ($time)"
done
for time in "" s -1s 10min 1.s 10S 1d 0.0000001s; do
  run solve "$csv" "--time=$time"
  expect 2 "TimeIsADuration ($time)"
  complains "--time: '$time' is not a duration: digits, then ms, s, m or h"
done
run solve "$csv" --time 10
expect 2 TimeNeedsAUnit
complains "--time: '10' has no unit of time; expected ms, s, m or h"
run solve "$csv" --time 99999999999999999999h
expect 2 TimeFitsIn64Bits
complains "too large"
run plan "$examples/mlp.stow" --time 1s --nodes 1k --strategy auto
expect 0 PlanHasTheSameBudgets
run plan "$examples/mlp.stow" --time soon
expect 2 PlanReadsThemAlike
complains "--time: 'soon' is not a duration"

# Files
"$stowage" solve - --format csv <"$csv" >"$out" 2>"$err"
code=$?
expect 0 StandardInput
same "$out" "$work/rows"
run solve "$work/no.csv"
expect 5 MissingFile
complains "cannot open '$work/no.csv': No such file or directory"
run solve
expect 2 SolveNeedsAFile
complains "solve needs FILE"
cp "$csv" "$work/input.csv"
ln -s input.csv "$work/soft.csv"
for target in input soft; do
  run solve "$work/input.csv" -o "$work/$target.csv"
  expect 2 "TheInputIsNotReplaced ($target)"
  complains "--output: '$work/$target.csv' is the input file"
  same "$work/input.csv" "$csv"
done
mkdir "$work/clean"
echo precious >"$work/precious"
cp "$work/precious" "$work/clean/out"
run solve "$csv" --capacity 1 -o "$work/clean/out"
expect 1 AnInfeasibleRunWritesNothing
run solve "$csv" --strategy first-fit --capacity 100000 -o "$work/clean/out"
expect 4 ARunThatGaveUpWritesNothing
csv bad 'id,lower,upper,size' 'a,0,1,x'
run solve "$csv_file" -o "$work/clean/out"
expect 3 ABadFileWritesNothing
same "$work/clean/out" "$work/precious"
run solve "$csv" -o "$work/clean/out"
expect 0 AGoodRunReplacesTheFile
same "$work/clean/out" "$work/rows"
if [ "$(ls "$work/clean")" = out ]; then pass; else fail "something was left behind"; fi
run solve "$csv" -o "$work/no/such/directory"
expect 5 MissingDirectory
if [ -c /dev/full ]; then
  for arguments in "" "--format json" "--format csv" "--format markdown" "-o /dev/full" \
    "$csv" "--capacity 1"; do
    "$stowage" solve "$csv" $arguments >/dev/full 2>"$err" </dev/null
    code=$?
    : >"$out"
    expect 5 "FullDevice ($arguments)"
    complains "No space left on device"
  done
else
  skip "no /dev/full"
fi

# Offsets in the file are fixed places, unless they are to be ignored
run solve "$csv" --strategy first-fit --format csv
cp "$out" "$work/placed.csv"
run solve "$work/placed.csv"
expect 0 OffsetsAreFixedPlaces
says "height                  $greedy B"
run solve "$work/placed.csv" --strategy best-fit --format csv --ignore-offsets
expect 0 OffsetsAreIgnored
cp "$out" "$work/anew"
run solve "$csv" --strategy best-fit --format csv
same "$out" "$work/anew"
csv collide 'id,lower,upper,size,offset' 'a,0,4,8,0' 'b,9,10,8,' 'c,2,6,8,4'
run solve "$csv_file"
expect 3 FixedPlacesThatCollide
complains 'row 3, id `c`, column `offset`: at 4 it overlaps row 1, id `a`, at 0: both are live at step 2'
run solve "$csv_file" --ignore-offsets
expect 0 CollisionsAreIgnoredToo

# What a plan writes can be solved
run plan "$examples/transformer.stow" --format csv -o "$work/plan.csv"
run solve "$work/plan.csv" --ignore-offsets
expect 0 PlansCanBeSolved
says "17305600 B"
complains "note: $work/plan.csv: ignored columns: guard, kind, name"
csv colour 'id,lower,upper,size,colour' 'a,0,4,8,red'
run solve "$csv_file" --format csv
expect 0 OtherColumnsAreKept
complains "stowage: note: $csv_file: ignored column: colour"
says "a,0,4,8,red,0"

# Texts of other systems
printf '\357\273\277id,lower,end,size\r\na,0,3,8\r\n"b,2",4,7,8\r\n' >"$work/crlf.csv"
run solve "$work/crlf.csv"
expect 0 ByteOrderMarkAndCrLf
says "8 B"
run solve "$work/crlf.csv" --format csv
printf 'id,lower,end,size,offset\na,0,3,8,0\n"b,2",4,7,8,0\n' >"$work/lf"
same "$out" "$work/lf"

# A buffer is not in the way during its gaps
csv gap 'id,lower,end,size,gaps' 'a,0,5,7,2-3' 'b,2,3,7,'
run solve "$csv_file"
expect 0 GapsAreUsed
says "height                       7 B"

# Bad texts: file, line, column, row and id, and nothing else
bad() {
  position=$1
  text=$2
  shift 2
  csv bad "$@"
  run solve "$csv_file"
  expect 3 "BadCsv ($*)"
  complains "bad.csv:$position: "
  complains "$text"
  if [ -s "$out" ]; then fail "something was printed"; else pass; fi
}
header='id,lower,upper,size'
bad 1:1 '`upper`' 'id,lower,size' 'a,0,4'
bad 2:7 'column `size`' "$header" 'a,0,1,-4'
bad 2:7 'column `size`' "$header" 'a,0,1,99999999999999999999'
bad 2:7 'column `size`' "$header" 'a,0,1,0'
bad 3:5 'id `b`, column `upper`' "$header" 'a,0,1,4' 'b,1,1,4'
bad 3:1 'column `id`' "$header" 'a,0,1,4' 'a,0,1,4'
bad 2:9 'column `alignment`' "$header,alignment" 'a,0,1,4,3'
bad 2:5 'id `a`' "$header" 'a,0,1'
: >"$work/empty.csv"
run solve "$work/empty.csv"
expect 3 AnEmptyFile
complains "empty.csv:1:1: "
run solve "$examples/mlp.stow"
expect 3 AGraphIsNoCsv
awk 'BEGIN { for (i = 0; i < 200000; ++i) printf "%s", "0123456789012345678901234567890123456789" }' \
  >"$work/line.csv"
run solve "$work/line.csv"
expect 3 AVeryLongLine
if [ "$(wc -c <"$err")" -lt 2000 ]; then pass; else fail "the message is very long"; fi
printf 'id,lower,upper,size\na\033[31m,0,1,0\n' >"$work/escape.csv"
run solve "$work/escape.csv"
expect 3 ControlCharactersStayOutOfMessages
if grep -q "$(printf '\033')" "$err"; then fail "an escape reached the terminal"; else pass; fi
run plan "$csv"
expect 3 ACsvIsNoGraph
finish
