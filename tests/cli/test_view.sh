# `stowage view`: every format of every kind of input, hostile names, comparisons.
. "$(dirname "$0")/harness.sh"
escape=$(printf '\033')
here=$(dirname "$0")
if command -v python3 >/dev/null 2>&1; then python=python3; else python=; fi

# proven WHAT FILE [PLAN]: check_view.py finds nothing wrong; all: in FILE.html, FILE.json and so on
proven() {
  [ -n "$python" ] || return 0
  if found=$($python "$here/check_view.py" "$@" 2>&1); then pass; else fail "$1: $found"; fi
}

# answers EXPRESSION TEXT: an expression over the data in $work/v.json
answers() {
  [ -n "$python" ] || return 0
  found=$($python "$here/check_view.py" ask "$work/v.json" "$1" 2>&1)
  if [ "$found" = "$2" ]; then pass; else fail "$1 is $found instead of $2"; fi
}

# view NAME ARG...: all formats of it, twice
view() {
  view_name=$1
  shift
  for format in html json svg ascii trace; do
    run view "$@" --format $format -o "$work/v.$format"
    expect 0 "$view_name, $format"
    silent
    run view "$@" --format $format
    expect 0 "$view_name, $format, to standard output"
    same "$out" "$work/v.$format"
  done
  narrow "$work/v.ascii"
  proven all "$work/v"
}

# No line is wider than 80 columns, whatever its bytes; nothing for terminals is in it.
narrow() {
  if LC_ALL=C awk '{ gsub(/[\200-\277]/, ""); if (length($0) > 80) exit 1 }' "$1"; then pass; else
    fail "wider than 80 columns"
  fi
  if grep -q "$escape" "$1"; then fail "colours in a file"; else pass; fi
}

# like_plan ARG...: the data is that of the plan
like_plan() {
  run plan "$@" --format json -o "$work/plan.json"
  expect 0 "plan $*"
  run view "$@" --json -o "$work/v.json"
  expect 0 "view $*"
  proven json "$work/v.json" "$work/plan.json"
  run plan "$@"
  answers 'd["facts"]["unshared"]' "$(sed -n 's/^  without sharing *\([0-9]*\) B.*/\1/p' "$out")"
}

# Inputs of every kind
view AGraph "$examples/transformer.stow"
view AModel "$examples/encoder.onnx" --bind-rest 8
view Buffers "$examples/buffers.csv"
view Convolutions "$examples/cnn.stow" --bind batch=4
like_plan "$examples/mlp.stow"
like_plan "$examples/branches.stow"
like_plan "$examples/cnn.stow" --bind batch=4
like_plan "$examples/transformer.stow" --align 256 --guard 64
like_plan "$examples/decode.stow" --bind past=64,max=128
like_plan "$examples/digits.onnx" --bind-rest 2 --weights arena
like_plan "$examples/encoder.onnx" --bind-rest 16 --strategy first-fit
like_plan "$examples/mlp.stow" --no-reuse
like_plan "$examples/mlp.stow" --preset rlx
write_graph windows '%0 = input "x" : f32[256]' '%1 = exp(%0) : f32[256]' \
  '%2 = exp(%1) : f32[256]' '%3 = concat(%1, %2) {axis = 0} : f32[512]' \
  '%4 = relu(%3) : f32[512]' '%5 = relu(%4) : f32[512] with {scratch = [4096, 64]}' 'return %5'
like_plan "$work/windows.stow"
view Windows "$work/windows.stow"
answers '4 in d["buffers"]["kind"]' True
write_graph inside '%0 = input "x" : f32[256]' '%1 = exp(%0) : f32[256]' '%2 = exp(%0) : f32[256]' \
  '%3 = relu(%2) : f32[256]' '%4 = exp(%3) : f32[256]' '%5 = concat(%3, %4) {axis = 0} : f32[512]' \
  '%6 = exp(%0) : f32[256]' '%7 = concat(%5, %6) {axis = 0} : f32[768]' \
  '%8 = reshape(%7) : f32[3, 256]' '%9 = concat(%8) {axis = 0} : f32[3, 256]' 'return %9, %1'
like_plan "$work/inside.stow"
answers 'sorted(set(d["values"]["how"]))' "[0, 1, 2]"
write_graph nothing '%0 = input "x" : f32[0]' 'return %0'
view Nothing "$work/nothing.stow" --no-inputs
printf 'id,lower,upper,size\n' >"$work/none.csv"
view NoRows "$work/none.csv"
cat >"$work/stream.stow" <<'GRAPH'
graph @stem {
  function @blur {
    %0 = input "x" : f32[1, 8, 64, 64]
    %1 = input "w" : f32[8, 1, 3, 3]
    %2 = conv(%0, %1) {pads = [1, 1, 1, 1], group = 8} : f32[1, 8, 64, 64]
    %3 "soft" = relu(%2) : f32[1, 8, 64, 64]
    %4 = conv(%3, %1) {pads = [1, 1, 1, 1], group = 8} : f32[1, 8, 64, 64]
    return %4
  }
  %0 = input "image" : f32[1, 8, 64, 64]
  %1 = param "w" : f32[8, 1, 3, 3]
  %2 = stream(%0, %1) {function = "blur", rows = 1} : f32[1, 8, 64, 64]
  return %2
}
GRAPH
view Rings "$work/stream.stow" --kernels stowage
answers 'd["strings"][max(d["rings"]["op"])], d["rings"]["rows"]' "('conv', [3, 1])"
answers 'd["rings"]["buffer"][0] == d["buffers"]["kind"].index(4)' True
if grep -q 'fill-opacity=".3"' "$work/v.svg"; then pass; else fail "no ring in the picture"; fi
run view "$work/stream.stow" --json -o "$work/v.json"
expect 0 NoRingsWithoutKernels
answers '"rings" in d' False
printf 'id,lower,upper,size\na,0,9,1048576\nb,2,6,700000\n' >"$work/scale.csv"
view Scales "$work/scale.csv"
name=OneUnitPerScale
for label in 1.67 1.25 0.83 0.42 0.00; do
  if grep -q "^ $label MiB [^ ]" "$work/v.ascii"; then pass; else fail "no $label MiB"; fi
done
printf 'id,lower,upper,size,gaps\na,0,100,64,10-20 30-40@0:32\nb,9007199254740000,9007199254740900,64,\n' \
  >"$work/late.csv"
view LateSteps "$work/late.csv"
printf 'id,lower,upper,size\na,9007199254740000,9007199254740900,64\n' >"$work/later.csv"
view OnlyLateSteps "$work/later.csv"
run view "$examples/training.stow" --graph backward --preset backward --layout-from forward --json \
  -o "$work/v.json"
expect 0 Backward
proven json "$work/v.json"
cp "$examples/buffers.csv" "$work/buffers.txt"
run view "$work/buffers.txt" --json
expect 0 RowsAreToldByTheirHeader
says '"kind":"csv"'

# Saved plans
run plan "$examples/mlp.stow" --format plan -o "$work/mlp.plan"
expect 0 Save
run view "$examples/mlp.stow" --plan "$work/mlp.plan" --json -o "$work/v.json"
expect 0 ASavedPlan
run plan "$examples/mlp.stow" --format json -o "$work/plan.json"
proven json "$work/v.json" "$work/plan.json"
overlay "$work/mlp.plan" >"$work/wrong.plan"
run view "$examples/mlp.stow" --plan "$work/wrong.plan" --json
expect 1 AWrongPlanIsNotDrawn
complains "wrong.plan"
run view "$examples/tiny.stow" --plan "$work/mlp.plan" --json
expect 3 APlanOfAnotherGraph
run view "$work/mlp.plan" --json
expect 2 APlanIsNoGraph
complains "give its graph as FILE"
run solve "$examples/buffers.csv" -o "$work/solved.csv"
expect 0 Solve
run view "$examples/buffers.csv" --plan "$work/solved.csv" --json -o "$work/v.json"
expect 0 SolvedRows
proven json "$work/v.json"
run view "$examples/buffers.csv" --plan "$examples/buffers.csv" --json
expect 3 RowsWithoutOffsets
complains "no offset"
awk -F, -v OFS=, 'NR > 1 { $NF = 0 } { print }' "$work/solved.csv" >"$work/piled.csv"
run view "$examples/buffers.csv" --plan "$work/piled.csv" --json
expect 1 AWrongPlacementIsNotDrawn

# Comparisons
sed 's/f32\[32, 784\]/f32[64, 784]/; s/f32\[32, 256\]/f32[64, 256]/; s/f32\[32, 10\]/f32[64, 10]/' \
  "$examples/mlp.stow" | sed 's/"w2"/"weights2"/' >"$work/larger.stow"
run view "$work/larger.stow" --against "$examples/mlp.stow" --json -o "$work/v.json"
expect 0 Against
proven json "$work/v.json"
changes='{(d["strings"][c["name"]] if c["name"] >= 0 else "", c["change"]) for c in d["against"]["changes"]}'
answers "('x', 'grew') in $changes" True
answers "('weights2', 'new') in $changes and ('w2', 'gone') in $changes" True
answers "any(c['change'] == 'moved' for c in d['against']['changes'])" True
answers "d['against']['facts']['arena'] < d['facts']['arena']" True
view Comparison "$work/larger.stow" --against "$examples/mlp.stow"
run view "$examples/mlp.stow" --against "$work/larger.stow" --json -o "$work/v.json"
expect 0 TheOtherWayRound
answers "('x', 'shrank') in $changes" True
run view "$examples/mlp.stow" --against "$work/mlp.plan" --json -o "$work/v.json"
expect 0 AgainstASavedPlan
answers "d['against']['changes']" "[]"
run view "$examples/mlp.stow" --no-reuse --against "$work/mlp.plan" --ascii
expect 0 AgainstInATerminal
says "moved"
sed '2s/$/0/' "$examples/buffers.csv" >"$work/more.csv"
run view "$work/more.csv" --against "$examples/buffers.csv" --json
expect 0 AgainstRows
run plan "$examples/mlp.stow" --format csv -o "$work/mlp.csv"
run view "$examples/mlp.stow" --against "$work/mlp.csv" --json -o "$work/v.json"
expect 0 AgainstAPlanAsCsv
proven json "$work/v.json"
answers "d['against']['kind'], d['against']['changes']" "('csv', [])"
answers "d['against']['facts']['steps'] == d['facts']['steps']" True
run view "$work/larger.stow" --against "$work/mlp.csv" --json -o "$work/v.json"
expect 0 AgainstABaselineOfAnotherModel
answers "('x', 'grew') in $changes" True
answers "('weights2', 'new') in $changes and ('w2', 'gone') in $changes" True
view ComparisonWithRows "$work/larger.stow" --against "$work/mlp.csv"
run view "$work/mlp.csv" --against "$work/larger.stow" --align 64 --json -o "$work/v.json"
expect 0 APlanAsCsvAgainstAGraph
answers "('x', 'shrank') in $changes" True
run plan "$examples/encoder.onnx" --bind-rest 8 --format csv -o "$work/encoder.csv"
run view "$examples/encoder.onnx" --bind-rest 8 --against "$work/encoder.csv" --json -o "$work/v.json"
expect 0 AModelAgainstAPlanAsCsv
answers "d['against']['changes']" "[]"
cat >"$work/early.stow" <<'END'
graph @g {
  %0 = input "x" : f32[64]
  %1 "kept" = exp(%0) : f32[64]
  %2 "used" = abs(%1) : f32[64]
  %3 = tanh(%0) : f32[64]
  %4 "y" = add(%3, %2) : f32[64]
  return %4
}
END
sed 's/abs(%1)/abs(%0)/; s/add(%3, %2)/add(%2, %1)/' "$work/early.stow" >"$work/late.stow"
retimed="[('kept', 'retimed'), ('', 'retimed')]"
ordered='[(d["strings"][c["name"]] if c["name"] >= 0 else "", c["change"]) for c in d["against"]["changes"]]'
run plan "$work/early.stow" --no-in-place --no-reuse --format csv -o "$work/early.csv"
for before in early.stow early.csv; do
  run view "$work/late.stow" --no-in-place --no-reuse --against "$work/$before" --json -o "$work/v.json"
  expect 0 "ALifetimeThatChangedIsAChange ($before)"
  answers "$ordered" "$retimed"
  proven json "$work/v.json"
done
run view "$work/late.stow" --no-in-place --no-reuse --against "$work/early.csv" --ascii
says "0 moved, 2 retimed,"
run view "$examples/buffers.csv" --against "$work/mlp.plan" --json
expect 2 ASavedPlanNeedsItsGraph
complains "is a saved plan, which needs its graph as FILE"

# The name of what is written tells the format
for ending in html json svg txt; do
  run view "$examples/mlp.stow" -o "$work/named.$ending"
  expect 0 "AnEndingTellsTheFormat ($ending)"
done
for output in out.xyz picture plan.htmll; do
  run view "$examples/mlp.stow" -o "$work/$output"
  expect 2 "AnUnknownEndingIsRefused ($output)"
  complains "does not end with .html, .json, .svg or .txt; give --format"
  if [ -e "$work/$output" ]; then fail "it is written"; else pass; fi
done
run view "$examples/mlp.stow" -o "$work/out.xyz" --format svg
expect 0 UnlessTheFormatIsGiven
run view "$examples/mlp.stow" -o /dev/null
expect 0 ADeviceHasNoEnding

# Names from models are hostile
long=$(awk 'BEGIN { for (i = 0; i < 10000; ++i) printf "n" }')
write_graph hostile '%0 = input "</script><script>alert(1)</script>" : f32[64]' \
  '%1 "\"quotes\" '"'"'and'"'"' \\ <b>&amp;]]>" = exp(%0) : f32[64]' \
  '%2 "\xe2\x80\xaertl\xe2\x81\xa6\xe2\x80\x8f" = exp(%1) : f32[64]' \
  "%3 \"$long\" = exp(%2) : f32[64]" \
  '%4 "\xff\xc3(\xe2\x82 \xed\xa0\x80" = exp(%3) : f32[64]' \
  '%5 "\x00nul\x1b[31m\n\r\x7f\xc2\x9b" = exp(%4) : f32[64]' \
  '%6 "\xe2\x80\xa8\xe2\x80\xa9 <!-- @DATA@ @PAGE_JS@" = exp(%5) : f32[64]' \
  '%7 "\xf0\x9f\x98\x80\xef\xbf\xbf" = exp(%6) : f32[64]' 'return %7, %6, %5, %4, %3, %2, %1'
view Hostile "$work/hostile.stow"
run view "$work/hostile.stow" --json -o "$work/v.json"
expect 0 HostileNames
answers '"</script><script>alert(1)</script>" in d["strings"]' True
answers '"\x00nul\x1b[31m\n\r\x7f\x9b" in d["strings"]' True
answers "'n' * 10000 in d['strings']" True
answers '"\u202ertl\u2066\u200f" in d["strings"]' True
name=NothingEscapes
for file in json html svg trace; do
  if grep -q '<script>alert\|<b>\|<!-- @' "$work/v.$file"; then fail "$file holds markup"; else pass; fi
  if grep -q "$escape" "$work/v.$file"; then fail "$file holds an escape"; else pass; fi
done
if grep -q "$(printf '\342\200\256')" "$work/v.svg" "$work/v.ascii"; then fail "text turns"; else pass; fi
printf 'id,lower,upper,size\n"</title><script>x</script>\n""q""",0,4,64\n\377\033[1m,1,3,64\n' \
  >"$work/hostile.csv"
view HostileRows "$work/hostile.csv"

# Names begin and end alike: static pictures leave out what they share, and colour by module
awk 'BEGIN {
  print "graph @deep {"; print "  %0 = input \"x\" : f32[64, 64]"
  for (i = 1; i <= 20; ++i) {
    printf "  %%%d \"/encoder/layer.%d/attention/self/%s_output_0\" = matmul(%%%d, %%%d) : f32[64, 64]\n", \
      i, i / 2, i % 2 == 0 ? "query/MatMul" : "value/MatMul", i - 1, i - 1
  }
  print "  return %20"; print "}" }' >"$work/deep.stow"
view Deep "$work/deep.stow"
run view "$work/deep.stow" --svg
expect 0 NamesStayApart
says '>2/att…y/MatMul</text>'
says '>2/att…e/MatMul</text>'
says '<title>/encoder/layer.2/attention/self/value/MatMul_output_0'
for layer in 0 1 2 3 4 5; do
  says ">layer/$layer</text>"
done

# The command line
run view "$examples/mlp.stow" -o "$work/p.svg"
expect 0 TheNameTellsTheFormat
proven svg "$work/p.svg"
run view "$examples/mlp.stow" --svg --ascii
expect 2 OneFormat
complains "give one format"
run view "$examples/mlp.stow" --format pdf
expect 2 UnknownFormat
complains "unknown 'pdf'"
run view "$examples/training.stow" --graph forward --graph backward --json
expect 2 OneGraph
complains "one graph"
"$stowage" view - --json <"$examples/mlp.stow" >"$out" 2>"$err"
code=$?
expect 0 StandardInput
says '"source":"\u003cstdin\u003e"'
run view "$examples/mlp.stow" --explain
expect 2 NotAnOptionHere
complains "an option of stowage plan"
run view "$examples/mlp.stow" --strateggy auto
expect 2 MisspeltOption
complains "did you mean '--strategy'"
run view "$examples/buffers.csv" --preset rlx --json
expect 2 NoPresetForRows
complains "--preset has no effect here"
run view "$examples/mlp.stow" --plan "$work/mlp.plan" --align 128 --json
expect 2 NoOptionsForASavedPlan
complains "the plan is given by --plan"
run view
expect 2 NoFile
run view "$work/absent.stow" --json
expect 5 AbsentFile
cp "$examples/mlp.stow" "$work/mine.stow"
run view "$work/mine.stow" -o "$work/mine.stow"
expect 2 NotOverTheInput
same "$work/mine.stow" "$examples/mlp.stow"
printf 'id,lower,upper,size\na,0,1,9007199254740992\n' >"$work/huge.csv"
run view "$work/huge.csv" --json
expect 3 TooLarge
complains "below 2^53"
run view "$examples/mlp.stow" --capacity 900kB --svg
expect 0 AboveTheCapacity
says "red: capacity"
run view "$examples/mlp.stow" --ascii --color always
expect 0 Colours
says "$escape["
run help view
expect 0 Help
says "--against FILE|PLAN"
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  script -qec "stty cols 100; TERM=xterm '$stowage' view '$examples/mlp.stow' --ascii" /dev/null \
    >"$out" 2>"$err" </dev/null
  code=$?
  expect 0 Terminals
  says "$escape["
  for columns in 40 60 80; do
    script -qec "stty cols $columns; NO_COLOR=1 '$stowage' view '$examples/encoder.onnx' \
      --bind-rest 8 --ascii" /dev/null >"$out" 2>"$err" </dev/null
    code=$?
    expect 0 "A terminal of $columns columns"
    if tr -d '\r' <"$out" | LC_ALL=C awk -v columns=$columns \
      '{ gsub(/[\200-\277]/, ""); if (length($0) > columns) exit 1 }'; then pass; else
      fail "wider than $columns columns"
    fi
  done
  script -qec "'$stowage' view '$examples/mlp.stow'" /dev/null >"$out" 2>"$err" </dev/null
  code=$?
  expect 2 NoPageForTerminals
  says "HTML output needs -o FILE"
else
  skip "no script(1) that runs a command: terminals are not tested"
fi

# With --plan, the other side of a comparison is placed all the same
run solve "$examples/buffers.csv" --nodes 1000 -o "$work/placed.csv"
run view "$examples/buffers.csv" --plan "$work/placed.csv" --against "$examples/buffers.csv" \
  --nodes 1000 --strategy first-fit --ascii
expect 0 TheOtherSideIsPlacedAsTold
run view "$examples/buffers.csv" --plan "$work/placed.csv" --nodes 1000 --ascii
expect 2 NothingIsPlaced

# Files that tell how to plan are inputs too
run plan "$examples/mlp.stow" --format plan -o "$work/order.plan"
cp "$work/order.plan" "$work/order.copy"
run view "$examples/mlp.stow" --order "$work/order.plan" -o "$work/order.plan"
expect 2 TheOrderIsNotWrittenOver
complains "is an input file"
same "$work/order.plan" "$work/order.copy"
run view - --order - --ascii
expect 2 OneStandardInput
complains "only one file can be standard input"

# 50,000 buffers
awk 'BEGIN {
  print "graph @many {"; print "  %0 = input \"x\" : f32[64, 64]"; seed = 1
  for (i = 1; i < 50000; ++i) {
    seed = (seed * 69069 + 1) % 4294967296; back = int(seed / 65536) % 12; if (back >= i) back = i - 1
    printf "  %%%d \"/model/layers.%d/block/mul_%d\" = matmul(%%%d, %%%d) : f32[64, 64]\n", \
      i, i / 500, i, i - 1, i - 1 - back
  }
  print "  return %49999"; print "}" }' >"$work/many.stow"
run view "$work/many.stow" -o "$work/many.html"
expect 0 Many
size=$(wc -c <"$work/many.html")
if [ "$size" -lt 15000000 ]; then pass; else fail "a page of $size bytes"; fi
run view "$work/many.stow" -o "$work/many.svg"
expect 0 ManyInAPicture
size=$(wc -c <"$work/many.svg")
if [ "$size" -lt 4000000 ]; then pass; else fail "a picture of $size bytes"; fi
[ -n "$python" ] || skip "no python3: the content of pictures is not looked at"
finish
