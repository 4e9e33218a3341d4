# Several graphs, one arena.
. "$(dirname "$0")/harness.sh"
pair=$examples/training.stow

arena() { sed -n 's/^  arena  *\([0-9]*\) B.*/\1/p' "$out"; }

run plan "$pair" --graph forward --graph @backward
expect 0 TwoGraphsOfAFile
says "2 graphs in one arena"
says "@forward "
says "@backward "
says "in common               406528 B    397 KiB   2 values kept for more than one graph"
says "every plan from its graph, and all against each other"
both=$(arena)
run plan "$pair" --graph backward
larger=$(arena)
name=TheArenaIsThatOfTheLargest
if [ "$both" -eq "$larger" ]; then pass; else fail "$both instead of $larger"; fi

run plan "$examples/digits.onnx" "$examples/encoder.onnx" --bind batch=1,length=128
expect 0 TwoModels
says "@digits "
says "@encoder "
run plan "$examples/digits.onnx" "$examples/encoder.onnx" --bind batch=1,length=128,depth=3
expect 2 ASymbolThatNoneHas
complains "--bind: no graph has a symbol 'depth'"
run plan "$examples/digits.onnx" "$examples/encoder.onnx" --bind batch=1
expect 3 ASymbolWithoutAValue
complains "symbols without a value: length"
run plan "$examples/digits.onnx" "$examples/tiny.stow"
expect 2 ModelsAndTextsNeedAWord
complains "need --weights arena or --weights file"
run plan "$examples/digits.onnx" "$examples/tiny.stow" --weights arena
expect 0 ModelsAndTexts
run plan "$examples/tiny.stow" "$pair" --graph forward
expect 0 OneGraphOfOneFile
says "@tiny "
says "@forward "
says_not "@backward"

run plan "$pair" --graph forward --graph bakward
expect 2 AGraphThatIsNotThere
complains "unknown graph 'bakward'; it has: forward, backward"
run plan "$pair" "$examples/tiny.stow" --graph forward --graph nobody
expect 2 AGraphThatIsNowhere
complains "unknown graph 'nobody' in all files"
run plan "$pair" --graph forward --graph @forward
expect 2 AGraphTwice
complains "--graph: 'forward' is given twice"
run plan "$pair" "$examples/tiny.stow"
expect 2 AFileWithSeveralGraphs
complains "has several graphs; choose one with --graph: forward, backward"
run plan - -
expect 2 OneStandardInput
complains "only one FILE can be standard input"

# Policies and aliases count for those that have the name
run plan "$pair" --graph forward --graph backward --io target=consume
expect 0 APolicyOfOneGraph
run plan "$pair" --graph forward --graph backward --io nobody=consume
expect 2 APolicyOfNone
complains "unknown input, param, constant or output 'nobody'"
run plan "$pair" --graph forward --graph backward --alias 'nobody=x'
expect 2 AnAliasOfNone
complains "--alias: unknown output 'nobody'"

# What is for one graph
for option in "--layout-from forward --preset backward" "--pack-params" "--order $work/list"; do
  # shellcheck disable=SC2086
  run plan "$pair" --graph forward --graph backward $option
  expect 2 "ForOneGraph ($option)"
  complains "is for one graph, not for several in one arena"
done

# Formats
run plan "$pair" --graph forward --graph backward --format json
expect 0 OneObject
says '"stowage_set": 1,'
name=BothPlansAreInIt
if [ "$(grep -c '"stowage_plan": 1' "$out")" -eq 2 ]; then pass; else fail "they are not"; fi
if command -v python3 >/dev/null 2>&1; then
  name=ItIsJson
  if python3 -m json.tool "$out" >"$work/tool" 2>&1; then pass; else fail "$(cat "$work/tool")"; fi
else
  skip "no python3: the JSON is not parsed"
fi
for format in report plan csv c; do
  run plan "$pair" --graph forward --graph backward --format $format
  expect 2 "NotOnStandardOutput ($format)"
  complains "need --output DIRECTORY/"
  run plan "$pair" --graph forward --graph backward --format $format -o "$work/file"
  expect 2 "NotInOneFile ($format)"
done
run plan "$pair" --graph forward --graph backward -o "$work/"
expect 2 ASummaryIsOneFile
complains "is a directory; a summary needs a file"
run plan "$pair" --graph forward --graph backward -o "$work/summary"
expect 0 ASummaryInAFile
for format in report.txt plan.plan json.json csv.csv c.h; do
  run plan "$pair" --graph forward --graph backward --format "${format%.*}" -o "$work/$format/"
  expect 0 "AFileForEach ($format)"
  silent
  for graph in forward backward; do
    if [ -s "$work/$format/$graph.${format##*.}" ]; then pass; else fail "no file for $graph"; fi
  done
done
for graph in forward backward; do
  run check "$pair" "$work/plan.plan/$graph.plan"
  expect 0 "ASavedPlanIsProven ($graph)"
done
run check "$pair" "$work/plan.plan/forward.plan" "$pair" "$work/plan.plan/backward.plan"
expect 0 SavedPlansAreProvenTogether
says "together: ok: 2 plans, one arena of $both bytes"
run plan "$pair" --graph forward --format plan -o "$work/alone.plan"
run check "$pair" "$work/alone.plan" "$pair" "$work/plan.plan/backward.plan"
expect 1 APlanOfItsOwnIsNotOfTheSet
complains "in the plan of @forward and at "
run check "$pair" "$work/alone.plan" "$pair"
expect 2 EveryFileHasAPlan
complains "has no PLAN"
run check "$pair" "$work/alone.plan" "$pair" "$work/alone.plan" --graph forward
expect 2 GraphsAreNamedByPlans
complains "--graph is for one plan"
run check - - "$pair" "$work/alone.plan"
expect 2 OneStandardInputOfAll
run check "$pair" "$work/missing" "$pair" "$work/alone.plan"
expect 5 APlanThatIsMissing

name=TheArenaHasAHeader
if grep -q "^#define STOWAGE_ARENA_SIZE ${both}u$" "$work/c.h/arena.h"; then pass; else fail "no"; fi
run plan "$pair" --graph forward --graph backward --format c --c-prefix net -o "$work/c.h"
expect 0 PrefixesOfSeveral
name=APrefixForEach
if grep -q "#define net_forward_ARENA_SIZE\|#define NET_FORWARD_ARENA_SIZE" "$work/c.h/forward.h"; then pass; else fail "no"; fi
run plan "$pair" --graph forward --graph backward --format plan -o "$work/none/such/"
expect 5 ADirectoryThatCannotBeMade
complains "cannot create the directory '$work/none/such/'"
mkdir -p "$work/half/backward.plan"
echo old >"$work/half/forward.plan"
run plan "$pair" --graph forward --graph backward --format plan -o "$work/half/"
expect 5 AllFilesOrNone
complains "cannot write '$work/half/backward.plan': Is a directory"
if [ "$(cat "$work/half/forward.plan")" = old ] && [ "$(ls -A "$work/half" | wc -l)" -eq 2 ]; then pass; else
  fail "other files: $(ls -A "$work/half")"
fi
mkdir "$work/read" && cp "$pair" "$work/read/forward.plan"
run plan "$work/read/forward.plan" --graph forward --graph backward --format plan -o "$work/read/"
expect 2 NoFileThatIsReadIsReplaced
complains "--output: '$work/read/forward.plan' is an input file"
same "$work/read/forward.plan" "$pair"
if [ "$(ls -A "$work/read")" = forward.plan ]; then pass; else fail "other files: $(ls -A "$work/read")"; fi

# Names
cp "$examples/tiny.stow" "$work/other.stow"
run plan "$examples/tiny.stow" "$work/other.stow" --format plan -o "$work/names/"
expect 0 TwoGraphsOfOneName
for file in tiny-tiny.plan other-tiny.plan; do
  if [ -s "$work/names/$file" ]; then pass; else fail "no $file"; fi
done
run plan "$examples/tiny.stow" "$examples/tiny.stow" --format plan -o "$work/names/"
expect 2 TwoFilesOfOneName
complains "two graphs would be written to 'tiny-tiny'"

for graph in a/b a:b a_b ../up A-1.x; do
  printf 'graph @"%s" {\n  %%0 = input "x" : f32[4]\n  %%1 = relu(%%0) : f32[4]\n  return %%1\n}\n' "$graph"
done >"$work/signs.stow"
run plan "$work/signs.stow" --graph a/b --graph a:b --graph a_b --graph ../up --graph A-1.x \
  --format plan -o "$work/signs/"
expect 0 EveryNameHasAFileOfItsOwn
(cd "$work/signs" && ls -A) >"$work/signs.got"
printf '%s\n' '%2E.%2Fup.plan' A-1.x.plan 'a%2Fb.plan' 'a%3Ab.plan' a_b.plan >"$work/signs.expected"
same "$work/signs.got" "$work/signs.expected"

# The same weight has one place, state that differs is refused
write_graph other '%0 = input "x" : f32[64, 784]' '%1 = param "w1" : f32[784, 128]' \
  '%2 = matmul(%0, %1) : f32[64, 128]' 'return %2'
run plan "$pair" "$work/other.stow" --graph forward --format plan -o "$work/weights/"
expect 0 WeightsAreShared
name=AWeightHasOnePlace
place() { sed -n "s/^\([0-9]*\)	401408	%1\$/\1/p" "$1"; }
if [ "$(place "$work/weights/forward.plan")" = "$(place "$work/weights/other.plan")" ]; then pass; else
  fail "it has two"
fi

# Capacities
run plan "$pair" --graph forward --graph backward --capacity "$both"
expect 0 ItFits
says "fits, 0 B to spare"
run plan "$pair" --graph forward --graph backward --capacity 100kB --format plan -o "$work/small/"
expect 1 NoGraphFits
complains "the set does not fit: $both bytes required, 100000 available"
lists "@forward alone needs "
name=NothingIsWritten
if [ -e "$work/small" ]; then fail "something is"; else pass; fi
run plan "$pair" --graph forward --graph backward --capacity "$((both - 1))"
expect 1 TheBoundIsAbove
lists "the lower bound, in the orders that were taken, is $both: no placement can fit"
run plan "$pair" --graph forward --graph backward --capacity "$((both - 1))" --order auto
if [ "$code" -eq 4 ] || [ "$code" -eq 0 ]; then pass; else expect 4 AnotherOrderMayFit; fi

# --explain
run plan "$pair" --graph forward --graph backward --explain
expect 0 EveryGraphIsExplained
name=BothAreExplained
if [ "$(grep -c '^sharing' "$out")" -eq 2 ]; then pass; else fail "not so"; fi
finish
