# `stowage diff`: what changed between two plans, and whether the arena grew.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow
wide=$work/wide.stow
sed 's/784/800/g' "$mlp" >"$wide"

# says_row WORD...: a line with these words, in this order
says_row() {
  if tr -s ' ' <"$out" | sed 's/^ //' | grep -qxF -e "$*"; then pass; else fail "no row: $*"; fi
}

# The arena grew, did not, shrank
run diff "$mlp" "$wide"
expect 1 TheArenaGrew
says "The arena grew by 18432 bytes (1.94 %)."
says_row "arena 948520 966952 +18432 (+1.94 %)"
says_row "lower bound 948520 966952 +18432 (+1.94 %)"
says_row "any-order bound 948520 966952 +18432 (+1.94 %)"
says_row "peak then step 8, matmul"
says "At the peak: 2 grew, 5 same"
says "Tensors: 2 grew, 5 moved"
says_row "grew 802816 819200 +16384 w1"
says_row "grew 100352 102400 +2048 x"
says_row "moved 903168 921600 32768 %5"
if [ -s "$err" ]; then fail "it complains"; else pass; fi
run diff "$wide" "$mlp"
expect 0 TheArenaShrank
says "The arena shrank by 18432 bytes (1.91 %)."
says_row "shrank 819200 802816 -16384 w1"
says_row "arena 966952 948520 -18432 (-1.91 %)"
run diff "$mlp" "$mlp"
expect 0 NothingChanged
says "The arena is as large as it was."
says "At the peak: 7 same"
says_not "Tensors"
plan_arena=$("$stowage" plan "$mlp" --format report | sed -n '1s/^# arena_size=\([0-9]*\) .*/\1/p')
says_row "arena $plan_arena $plan_arena"

# How much it may grow
while read -r limit status; do
  run diff "$mlp" "$wide" --max-growth "$limit"
  expect "$status" "MaxGrowth ($limit)"
done <<'END'
0 1
18431 1
18432 0
18KiB 0
17KiB 1
1.9433% 0
1.9432% 1
2% 0
0% 1
100000000% 0
END
says "18432 bytes (1.94 %)"
run diff "$mlp" "$wide" --max-growth 2%
says "; 18970 are allowed."
for limit in 1k 2%% % -1 1.00001% 100000001% x% ''; do
  run diff "$mlp" "$wide" --max-growth="$limit"
  expect 2 "NoGrowth ($limit)"
  complains "--max-growth"
done

# Tensors that are new, gone, in others' bytes or not
run diff "$mlp" "$mlp" --max-growth 1GiB --no-in-place
expect 0 OptionsOfPlanHoldForBoth
says_row "arena 980008 980008"
run plan "$mlp" --format csv -o "$work/base.csv"
run plan "$mlp" --format plan -o "$work/base.plan"
run diff "$work/base.plan" "$mlp" --no-in-place
expect 1 ASavedPlanIsForTheOtherSide
says "then  @mlp in $work/base.plan"
says "Tensors: 4 parted, 5 moved, 2 same"
says_row "parted - 32768 +32768 hidden"
says_row "entered - 32768 +32768 %6"
says_row "left 1280 - -1280 %8"
run plan "$mlp" --no-in-place --format plan -o "$work/plain.plan"
run diff "$work/plain.plan" "$work/base.plan" --for "$mlp"
expect 0 TwoSavedPlans
says "4 joined"
says_row "joined 32768 - -32768 hidden"
sed 's/^  %10 "y" = softmax(%9)/  %10 = gelu(%9) : f32[32, 10]\n  %11 "y" = softmax(%10)/; s/return %10/return %11/
  s/"b2"/"bias"/' "$mlp" >"$work/more.stow"
run diff "$mlp" "$work/more.stow" --no-in-place
says_row "new - 1280 +1280 %10"
says_row "new - 40 +40 bias"
says_row "gone 40 - -40 b2"

# Without names: one more node shifts every id behind it, and no more
write_graph short '%0 = input "x" : f32[64]' '%1 = exp(%0) : f32[64]' '%2 = tanh(%1) : f32[64]' \
  '%3 = sigmoid(%2) : f32[64]' 'return %3'
write_graph long '%0 = input "x" : f32[64]' '%1 = abs(%0) : f32[64]' '%2 = exp(%1) : f32[64]' \
  '%3 = tanh(%2) : f32[64]' '%4 = sigmoid(%3) : f32[64]' 'return %4'
run diff "$work/short.stow" "$work/long.stow" --no-in-place --no-reuse --format json
expect 1 OneMoreNode
name=OneMoreNodeIsOneNewTensor
if [ "$(grep -c '"change": "new"' "$out")" -eq 1 ]; then pass; else fail "not one"; fi
says '{"change": "new", "name": null, "kind": "activation", "op": "abs", "bytes": 256, "then": null'
says_not '"change": "gone"'

# Lifetimes: a tensor that is read later lives longer, where it is or elsewhere
write_graph early '%0 = input "x" : f32[64]' '%1 "kept" = exp(%0) : f32[64]' \
  '%2 "used" = abs(%1) : f32[64]' '%3 = tanh(%0) : f32[64]' '%4 "y" = add(%3, %2) : f32[64]' 'return %4'
sed 's/abs(%1)/abs(%0)/; s/add(%3, %2)/add(%2, %1)/' "$work/early.stow" >"$work/late.stow"
run diff "$work/early.stow" "$work/late.stow" --no-in-place --no-reuse
expect 0 ALifetimeThatChangedIsShown
says "2 retimed"
says_row "from steps to steps bytes tensor"
says_row "retimed 1-2 1-4 256 kept"
run diff "$work/early.stow" "$work/late.stow" --no-in-place --no-reuse --format json
says '{"change": "retimed", "name": "kept", '
run plan "$work/early.stow" --no-in-place --no-reuse --format csv -o "$work/early.csv"
run diff "$work/early.csv" "$work/late.stow" --no-in-place --no-reuse
expect 0 AndAgainstRows
says_row "retimed 1-2 1-4 256 kept"
run diff "$work/short.stow" "$work/long.stow" --no-in-place --no-reuse
expect 1 StepsThatAreOnlyCountedAnewAreNoChange
says_not retimed

# A plan as CSV needs no graph
run diff "$work/base.csv" "$mlp"
expect 0 RowsAreThePlan
says_row "arena 948520 948520"
says_row "lower bound 948520 948520"
says_row "peak load 948520 948520"
says "At the peak: 7 same"
says_not "Tensors"
run diff "$work/base.csv" "$wide"
expect 1 RowsOfAModelThatHasChanged
says_row "grew 802816 819200 +16384 w1"
says "Tensors: 2 grew, 5 moved"
run diff "$work/base.csv" "$work/base.csv"
expect 0 RowsOnBothSides
for graph in transformer branches; do
  run plan "$examples/$graph.stow" --guard 64 --format csv -o "$work/$graph.csv"
  run diff "$work/$graph.csv" "$examples/$graph.stow" --guard 64
  expect 0 "RowsWithGuardsAndWindows ($graph)"
  says_not "Tensors"
done
run plan "$examples/cnn.stow" --bind batch=4 --format csv -o "$work/cnn.csv"
run diff "$work/cnn.csv" "$examples/cnn.stow" --bind batch=8
expect 1 SymbolsHaveValuesOnTheirSide
sed 's/"x"/"x, \\"y\\""/' "$mlp" >"$work/quotes.stow"
run plan "$work/quotes.stow" --format csv -o "$work/quotes.csv"
run diff "$work/quotes.csv" "$work/quotes.stow"
expect 0 NamesWithQuotesAreTheSame
says_not "Tensors"
# Names that would break rows, run in a spreadsheet, or reach a terminal
write_graph strange '%0 = input "=HYPERLINK(\"x\")" : f32[64]' '%1 "a\n1,2\r" = exp(%0) : f32[64]' \
  '%2 "\x1b[31m\x7f" = neg(%1) : f32[64]' '%3 "-1+1" = abs(%2) : f32[64]' '%4 "\\n" = exp(%3) : f32[64]' \
  '%5 "@x" = exp(%4) : f32[64]' 'return %5'
run plan "$work/strange.stow" --no-reuse --no-in-place --format csv -o "$work/strange.csv"
expect 0 CsvOfStrangeNames
cut -d, -f9- "$work/strange.csv" >"$work/names"
cat >"$work/names.expected" <<'END'
name
"\x3dHYPERLINK(""x"")"
"a\n1,2\r"
\x1b[31m\x7f
\x2d1+1
\\n
\x40x
END
same "$work/names" "$work/names.expected"
run diff "$work/strange.csv" "$work/strange.stow" --no-reuse --no-in-place
expect 0 StrangeNamesAreReadBack
says_not "Tensors"
run solve "$work/strange.csv"
expect 0 StrangeNamesAreRows
write_graph named '%0 = input "x" : f32[64]' '%1 "a, \"b\"" = exp(%0) : f32[64]' \
  '%2 "c" = exp(%1) : f32[64]' 'return %2'
write_graph renumbered '%0 = input "x" : f32[64]' '%1 "first" = exp(%0) : f32[64]' \
  '%2 "a, \"b\"" = exp(%1) : f32[64]' '%3 "c" = exp(%2) : f32[64]' 'return %3'
run plan "$work/named.stow" --no-reuse --no-in-place --format csv -o "$work/named.csv"
run diff "$work/named.csv" "$work/renumbered.stow" --no-reuse --no-in-place
expect 1 NamesOfRowsCountMoreThanIds
says_row "new - 256 +256 first"
says "Tensors: 1 new"
says_not "gone"
run solve "$examples/buffers.csv" --nodes 1k -o "$work/placed.csv"
run diff "$work/placed.csv" "$work/placed.csv"
expect 0 BuffersThatWerePlaced

# Models
run diff "$examples/digits.onnx" "$examples/digits.onnx" --bind-rest 1
expect 0 Models
says "The arena is as large as it was."
run diff "$examples/encoder.onnx" "$examples/transformer.stow" --bind batch=1,length=16
expect 1 AModelAndAGraph

# Graphs of several
run diff "$examples/training.stow" "$examples/training.stow" --graph forward --graph backward
expect 1 AGraphForEachSide
says "then  @forward in"
says "now   @backward in"
run diff "$examples/training.stow" "$examples/training.stow" --graph forward
expect 0 AGraphForBothSides
run diff "$examples/training.stow" "$examples/training.stow"
expect 2 AGraphMustBeChosen
complains "choose one with --graph"

# Standard input
"$stowage" diff - "$wide" <"$mlp" >"$out" 2>"$err"
code=$?
expect 1 TheOldOneFromStandardInput
says "then  @mlp in <stdin>"
run diff - -
expect 2 StandardInputOnce
complains "only one file can be standard input"

# Long lists
awk 'BEGIN {
  print "graph @many {"
  print "  %0 = input \"x\" : f32[64]"
  for (i = 1; i <= 40; ++i) printf "  %%%d \"t%d\" = exp(%%%d) : f32[64]\n", i, i, i - 1
  print "  return %40\n}"
}' >"$work/many.stow"
sed 's/64/80/' "$work/many.stow" >"$work/more.stow"
run plan "$work/many.stow" --no-reuse --no-in-place --format csv -o "$work/many.csv"
run diff "$work/many.csv" "$work/many.csv"
expect 0 RowsAreNotTheirOwnBound
says_row "arena 10496 10496"
says_row "lower bound 768 768"
run diff "$work/many.stow" "$work/more.stow" --no-reuse
expect 1 ListsAreCut
says "more (--all shows them)"
shown=$(grep -c '^  grew' "$out")
run diff "$work/many.stow" "$work/more.stow" --no-reuse --all
expect 1 ListsAreWhole
says_not "--all shows them"
name=ListsAreLonger
if [ "$(grep -c '^  grew' "$out")" -gt "$shown" ]; then pass; else fail "they are not"; fi

# Every line fits, and no name reaches the terminal as it is
long_name=$(awk 'BEGIN { for (i = 0; i < 40; ++i) printf "/block.%d/attention", i }')
sed "s|\"w1\"|\"$long_name\"|; s|\"x\"|\"\\\\x1b[31m<script>\"|" "$mlp" >"$work/hostile.stow"
sed 's/784/1024/g' "$work/hostile.stow" >"$work/hostile2.stow"
(cd "$work" && "$stowage" diff hostile.stow hostile2.stow --all) >"$out" 2>"$err"
code=$?
expect 1 HostileNames
says '\x1B[31m<script>'
escape=$(printf '\033')
says_not "$escape"
if sed 's/…/./g' "$out" | awk 'length($0) > 80 { exit 1 }'; then pass; else fail "wider than 80"; fi

# JSON
run diff "$mlp" "$wide" --format json --max-growth 1KiB
expect 1 Json
for text in '"stowage_diff": 1' '"growth": 18432' '"allowed": 1024' '"too_large": true' \
  '"arena": 948520, "bound": 948520, "any_bound": 948520' \
  '{"change": "grew", "name": "w1", "kind": "param", "op": "param", "bytes": 16384'; do
  says "$text"
done
run diff "$wide" "$mlp" --format json -o "$work/diff.json"
expect 0 JsonToAFile
silent
if grep -qF '"growth": -18432' "$work/diff.json"; then pass; else fail "no growth"; fi
if command -v python3 >/dev/null 2>&1; then
  for pair in "$mlp $wide" "$work/hostile.stow $work/hostile2.stow" "$work/base.csv $wide" \
    "$mlp $mlp"; do
    # shellcheck disable=SC2086  # two files
    run diff $pair --format json
    name="JsonIsJson ($pair)"
    if python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))
assert d["growth"] == d["now"]["arena"] - d["then"]["arena"]
for side in "then", "now":
  assert sum(t[side] for t in d["peak"]) == d[side]["peak"]["bytes"]' "$out" 2>"$err"; then
      pass
    else
      fail "it is not, or does not add up"
    fi
  done
else
  skip "no python3: the JSON is not parsed"
fi

# Markdown: what text has, in tables; names are code, whatever they hold
run diff "$mlp" "$wide" --format markdown --max-growth 1KiB
expect 1 Markdown
says "### Too large: \`$wide\`"
says "The arena grew by 18432 bytes (1.94 %); 1024 are allowed. Compared with \`$mlp\`."
says "| arena | 948520 | 966952 | +18432 (+1.94 %) |"
says "Peak: \`step 8, matmul\`. Tensors there: 2 grew, 5 same"
says "| grew | 802816 | 819200 | +16384 | \`w1\` |"
says "<summary>Tensors: 2 grew, 5 moved</summary>"
says "| moved | 903168 | 921600 | 32768 | \`%5\` |"
run diff "$mlp" "$mlp" --format markdown -o "$work/same.md"
expect 0 MarkdownOfNoChange
silent
if grep -qF 'is as large as it was' "$work/same.md"; then pass; else fail "it does not say so"; fi
if grep -qE 'Too large|<details>' "$work/same.md"; then fail "a change"; else pass; fi
run diff "$work/base.plan" "$mlp" --no-in-place --format markdown
expect 1 MarkdownSaysWhereThePeakWas
says ", before \`step "
says "parted, joined: no longer, and now, in the bytes of another tensor"
run diff "$work/many.stow" "$work/more.stow" --no-reuse --format markdown
expect 1 MarkdownIsCut
name=TablesOfMarkdownAreCutAsLists
if [ "$(grep -c '^| grew' "$out")" -eq "$shown" ]; then pass; else fail "not $shown rows"; fi
sed 's/"x"/"a|b`c`\\x1b@d"/' "$mlp" >"$work/marks.stow"
sed 's/784/1024/g' "$work/marks.stow" >"$work/marks2.stow"
run diff "$work/marks.stow" "$work/marks2.stow" --format markdown
expect 1 NamesAreCode
says '`a\x7cb\x60c\x60\x1B@d` |'
name=EveryRowHasItsCells
if awk -F'|' '/^\|/ && NF != 6 && NF != 7 { exit 1 }' "$out"; then pass; else fail "it does not"; fi
run diff "$mlp" "$wide" -o "$work/diff.md"
expect 2 AnEndingThatMeansMarkdown
complains "--format markdown"

# What is refused
run diff "$mlp"
expect 2 TwoAreNeeded
complains "diff needs B"
run diff "$mlp" "$wide" "$mlp"
expect 2 ThreeAreTooMany
for option in --explain --c-prefix=x --capacity=1MiB; do
  run diff "$mlp" "$wide" $option
  expect 2 "OptionsOfPlanThatMeanNothing ($option)"
  complains "is an option of stowage plan"
done
run diff "$mlp" "$wide" --format report
expect 2 UnknownFormat
complains "expected one of: text, json, markdown"
run diff "$work/base.plan" "$work/plain.plan"
expect 2 ASavedPlanNeedsItsGraph
complains "give its graph with --for FILE"
run diff "$work/base.plan" "$wide"
expect 3 ASavedPlanOfAnotherGraph
complains "fingerprint"
lists "a plan as CSV needs no graph"
run diff "$work/base.plan" "$wide" --for "$mlp"
expect 1 ASavedPlanWithItsGraph
run diff "$work/base.plan" "$work/base.plan" --for "$mlp" --for "$wide"
expect 3 AGraphForEachPlan
run diff "$work/base.plan" "$wide" --for "$mlp" --for "$mlp" --for "$mlp"
expect 2 AGraphTooMany
overlay "$work/base.plan" >"$work/wrong.plan"
run diff "$work/wrong.plan" "$mlp"
expect 3 AWrongPlanIsNoAnswer
sed 's/,[0-9]*,0,\([a-z]*\),\([^,]*\)$/,0,0,\1,\2/' "$work/base.csv" >"$work/wrong.csv"
run diff "$work/wrong.csv" "$mlp"
expect 3 WrongRowsAreNoAnswer
run diff "$work/none.stow" "$mlp"
expect 5 NoSuchFile
run diff "$mlp" "$wide" -o "$mlp"
expect 2 NoInputIsWrittenOver
complains "is an input file"
cp "$work/base.plan" "$work/order.plan"
run diff "$mlp" "$mlp" --order "$work/order.plan" -o "$work/order.plan"
expect 2 TheOrderIsNotWrittenOver
complains "is an input file"
same "$work/order.plan" "$work/base.plan"
printf 'id,lower,upper,size\na,0,1,1\n' >"$work/small.csv"
printf 'id,lower,upper,size\na,0,1,4503599627370496\n' >"$work/huge.csv"
run diff "$work/small.csv" "$work/huge.csv"
expect 1 AFactorThatIsHuge
says "The arena grew by 4503599627370495 bytes (>10^17 %)."
printf 'graph @"turned\342\200\256" {\n  %%0 = input "hidden\342\200\213" : f32[4]\n  return %%0\n}\n' \
  >"$work/tricks.stow"
run diff "$work/tricks.stow" "$mlp" --all
expect 1 MarksThatTurnText
says '@turned\u202E in'
says 'hidden\u200B'
run plan "$work/tricks.stow"
expect 0 MarksThatTurnTextInSummaries
says 'turned\u202E'
printf 'graph @"next\302\205line" {\n  %%0 = input "\302" : f32[4]\n  return %%0\n}\n' >"$work/controls.stow"
run diff "$work/controls.stow" "$mlp" --format json
expect 1 LongControlsInJson
says '"graph": "next\u0085line"'
says '"name": "\ufffd"'
echo 'graph' >"$work/broken.stow"
run diff "$mlp" "$work/broken.stow"
expect 3 ABrokenGraph
run diff "$mlp" "$wide" -o /dev/full
if [ -e /dev/full ]; then expect 5 AWriteThatFails; fi

# Options for several files
for file in "$mlp" "$examples/digits.onnx"; do
  run diff "$file" "$file" --bind past=3
  expect 2 ASymbolThatNeitherFileHas
  run diff "$file" "$file" --bind past=3 --value rate=1 --shape boxes=1x2 --ignore-unknown
  expect 0 UnknownNamesCanBeIgnored
done
encoder=$examples/encoder.onnx
run diff "$encoder" "$encoder" --bind batch=1,length=4,past=3 --ignore-unknown
expect 0 WhatAModelHasIsBound
run diff "$encoder" "$encoder" --bind past=3 --ignore-unknown
expect 3 WhatAModelNeedsIsStillMissing
finish
