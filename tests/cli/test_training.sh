# Training pairs: a backward plan that takes its weights from the forward graph or its saved plan.
. "$(dirname "$0")/harness.sh"
pair=$examples/training.stow

# slot FILE ID: offset and size of a value in a report
slot() {
  awk -F '	' -v id="%$2" '$3 == id { print $1, $2 }' "$1"
}

# backward FILE FROM OPTION...: plans the backward graph with the weights of FROM
backward() {
  file=$1
  from=$2
  shift 2
  run plan "$file" --graph backward --preset backward --layout-from "$from" "$@"
}

for options in "" "--pack-params" "--align 4096" "--guard 128" "--f32-uniform" "--io consume" \
  "--io consume --no-reuse" "--no-inputs" "--no-constants" "--strategy best-fit" \
  "--pin-output-ancestors" "--io consume --rule pin-output-ancestors" "--io x=consume" \
  "--io x=external --io hidden=external" "--no-inputs --align 1 --strategy best-fit"; do
  run plan "$pair" --graph forward $options --format report
  expect 0 "Forward ($options)"
  cp "$out" "$work/forward"
  backward "$pair" forward $options --format report
  expect 0 "Backward ($options)"
  cp "$out" "$work/backward"
  for ids in 1=4 2=5; do
    there=$(slot "$work/forward" "${ids%=*}")
    here=$(slot "$work/backward" "${ids#*=}")
    if [ -n "$here" ] && [ "$there" = "$here" ]; then pass; else
      fail "weight $ids moved: $there, $here"
    fi
  done
done

backward "$pair" @forward --format report
expect 0 TheSignIsFine
cp "$out" "$work/from-graph"
run plan "$pair" --graph forward --format plan -o "$work/forward.plan"
backward "$pair" "$work/forward.plan" --format report
expect 0 LayoutFromASavedPlan
same "$out" "$work/from-graph"
backward "$pair" "$work/forward.plan"
says "weights"
# 784 * 128 and 128 * 10 floats; the forward plan has an input between them
says "  weights                 406528 B    397 KiB   2 shared with the forward plan"
sed '/graph @backward/,$ { s/ = param "w1"/ = input "w1"/ }' "$pair" >"$work/one.stow"
backward "$work/one.stow" forward
expect 0 AWeightThatOnlyTheForwardPlanHas
says "  weights                   5120 B   5.00 KiB   1 shared with the forward plan, 1 only in that one"
backward "$pair" forward --format plan -o "$work/backward.plan"
run check "$pair" "$work/backward.plan"
expect 0 TheBackwardPlanIsProven
says "@backward"
says "note: the places of shared weights were not checked; give the plan"
for from in forward "$work/forward.plan"; do
  run check "$pair" "$work/backward.plan" --layout-from "$from"
  expect 0 "TheWeightsAreProven ($from)"
  says "ok: @backward"
  says_not "note: "
done
run plan "$pair" --graph forward --no-inputs --format plan -o "$work/bare.plan"
run check "$pair" "$work/backward.plan" --layout-from "$work/bare.plan"
expect 1 WeightsOfAnotherForwardPlan
complains 'backward.plan: '
complains '"w2"'
run check "$pair" "$work/backward.plan" --layout-from nobody
expect 5 NeitherGraphNorFileToCheck
run check "$pair" "$work/forward.plan"
says_not "note: "

# A policy for a value that only the forward graph has
sed 's/return %6, %4/return %6, %4, %3/; s/%3 = matmul(%0, %1) :/%3 "only" = matmul(%0, %1) :/' \
  "$pair" >"$work/only.stow"
backward "$work/only.stow" forward --io only=external --format report
expect 0 PoliciesOfTheForwardGraph
run plan "$work/only.stow" --graph backward --preset backward --io only=external
expect 2 PoliciesOfNoGraphHere
complains "unknown value 'only'"

# So does a saved forward plan need its policies again
for policy in x=external x=consume hidden=external; do
  run plan "$pair" --graph forward --io $policy --format plan -o "$work/io.plan"
  expect 0 "SavedWithAPolicy ($policy)"
  backward "$pair" "$work/io.plan" --io $policy --format plan -o "$work/io-backward.plan"
  expect 0 "LayoutOfAPlanWithAPolicy ($policy)"
  run check "$pair" "$work/io-backward.plan" --layout-from "$work/io.plan" --io $policy
  expect 0 "CheckedWithAPolicy ($policy)"
  backward "$pair" "$work/io.plan"
  expect 1 "APolicyIsMissed ($policy)"
  complains "io.plan: "
  complains "; if it was planned with --io ${policy%=*}=POLICY or --alias, give the same here"
done
run plan "$work/only.stow" --graph forward --io only=external --format plan -o "$work/io.plan"
backward "$work/only.stow" "$work/io.plan" --io only=external
expect 0 PoliciesOfTheSavedForwardGraph

# A name that is an inner value's in the backward graph means the forward graph
sed 's/%14 = sign/%14 "only" = sign/' "$work/only.stow" >"$work/inner.stow"
run plan "$work/inner.stow" --graph forward --io only=external --format plan -o "$work/io.plan"
backward "$work/inner.stow" "$work/io.plan" --io only=external
expect 0 PoliciesPassOverInnerValues
run plan "$work/inner.stow" --graph backward --preset backward --io only=external
expect 2 PoliciesOfInnerValuesAlone
complains "--io: "

run plan "$pair" --graph backward --preset backward --format report
expect 0 WithoutALayoutParamsHaveNoSlot
if [ -z "$(slot "$out" 4)" ]; then pass; else fail "a param has a slot"; fi

# Failures
backward "$pair" nobody
expect 5 NeitherGraphNorFile
complains "'nobody' is neither a graph in $pair (it has: forward, backward) nor a readable file"
backward "$pair" "$work"
expect 5 ADirectoryIsNoPlan
complains "Is a directory"
backward "$pair" "$pair"
expect 3 AGraphFileIsNoPlan
complains "not a saved plan"
run plan "$examples/mlp.stow" --format plan -o "$work/mlp.plan"
backward "$pair" "$work/mlp.plan"
expect 3 APlanOfAnotherFile
complains "is a plan for graph 'mlp'"
awk '/graph @backward/ { done = 1 } !done { gsub(/"w1"/, "\"w9\"") } { print }' "$pair" \
  >"$work/renamed.stow"
backward "$work/renamed.stow" forward
expect 3 AParamThatTheLayoutLacks
complains '"w1"'
backward "$work/renamed.stow" "$work/forward.plan"
expect 3 AStalePlan
sed "s/\$/$(printf '\r')/" "$work/forward.plan" >"$work/crlf.plan"
backward "$pair" "$work/crlf.plan"
expect 3 APlanWithCrlfLineEnds
complains "crlf.plan:1: has CRLF line ends"
: >"$work/empty.plan"
backward "$pair" "$work/empty.plan"
expect 3 AnEmptyPlan
complains "empty.plan: the file is empty"
overlay "$work/forward.plan" >"$work/wrong.plan"
backward "$pair" "$work/wrong.plan"
expect 1 AWrongPlanGivesNoLayout
complains "wrong.plan"

# Where the lower bound is below the capacity, hope is left
run plan "$pair" --graph backward --preset backward --layout-from forward --capacity 1860000 \
  --strategy first-fit --no-in-place
expect 4 ABetterPlacementMayFit
says "gave up: none within the capacity was found or ruled out"
complains "@backward: gave up: "
bound=$(sed -n 's/^  lower bound *\([0-9]*\) B.*/\1/p' "$out")
lists "the lower bound is $bound: a better placement may fit"

# A time limit is for both plans
backward "$pair" forward --time 1m --format report
expect 0 ATimeLimitIsForBothPlans
same "$out" "$work/from-graph"

# Symbols of either graph may be bound
sed 's/64, /?batch, /; s/, 64\]/, ?batch]/' "$pair" >"$work/symbolic.stow"
backward "$work/symbolic.stow" forward --bind batch=64 --format report
expect 0 BothGraphsAreBound
same "$out" "$work/from-graph"
backward "$work/symbolic.stow" forward --bind btach=64
expect 2 UnknownSymbol
complains "no symbol 'btach'; its symbols: batch"
finish
