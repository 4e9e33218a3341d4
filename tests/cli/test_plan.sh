# `stowage plan`: the effect of every option.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow

# report LABEL OPTION...: a report of the perceptron in $work/LABEL
report() {
  label=$1
  shift
  run plan "$mlp" --format report "$@"
  expect 0 "Report ($label)"
  cp "$out" "$work/$label"
}

# rows FILE ID: how many slots value ID has
rows() {
  grep -c "	%$2\$" "$work/$1"
}

is() {
  if [ "$1" "$2" "$3" ]; then pass; else fail "not so: $1 $2 $3"; fi
}

run plan "$mlp"
expect 0 SummaryIsTheDefault
for text in "@mlp in " "11 nodes, 11 values" "arena" "lower bound" "gap 0 B" "without sharing" "saved" \
  "strategy" "checked" "yes" "peak at step" '%1 "w1"' "param" "f32[784, 256]" "802816"; do
  says "$text"
done
says_not "$(printf '\033')"
if awk 'length($0) > 82 { exit 1 }' "$out"; then pass; else fail "summary is wider than 80"; fi
run plan "$mlp" --format summary
expect 0 SummaryByName
says "lower bound"
run plan "$examples/transformer.stow"
expect 0 LongPeaksAreCut
says " more"

report default
report align --align 4KiB
if awk '!/^#/ && $1 % 4096 { exit 1 }' "$work/align"; then pass; else fail "not aligned"; fi
report one --align 1
is "$(arena_of "$work/one")" -le "$(arena_of "$work/default")"

report no-reuse --no-reuse
is "$(arena_of "$work/no-reuse")" -gt "$(arena_of "$work/default")"
for variable in STOWAGE_NO_REUSE RLX_ARENA_NO_REUSE; do
  env $variable=TRUE "$stowage" plan "$mlp" --format report >"$out" 2>"$err"
  code=$?
  expect 0 "EnvironmentForbidsReuse ($variable)"
  same "$out" "$work/no-reuse"
  for value in 0 yes 2 "" "1 "; do
    env $variable="$value" "$stowage" plan "$mlp" --format report >"$out" 2>"$err"
    same "$out" "$work/default"
  done
done
run plan "$mlp" --no-reuse
says "no bytes reused"

report no-params --no-params
is "$(rows no-params 1)" -eq 0
is "$(rows no-params 0)" -eq 1
report no-inputs --no-inputs
is "$(rows no-inputs 0)" -eq 0
is "$(rows no-inputs 1)" -eq 1
run plan "$examples/branches.stow" --no-constants --format report
expect 0 NoConstants
if grep -q '	%8$' "$out"; then fail "the constant has a slot"; else pass; fi

report guard --guard 256
is "$(arena_of "$work/guard")" -eq "$(($(arena_of "$work/default") + 5 * 256))"
report plain --no-in-place --keep-copies
report no-guard --preset rlx --guard 0 --no-pin-output-ancestors
is "$(arena_of "$work/no-guard")" -eq "$(arena_of "$work/plain")"

report external --io external
is "$(rows external 0)" -eq 0
is "$(rows external 10)" -eq 0
report consume --io consume
is "$(arena_of "$work/consume")" -lt "$(arena_of "$work/default")"
report keep --io keep
same "$work/keep" "$work/default"
report mixed --io external --io x=keep --io y=consume
is "$(rows mixed 0)" -eq 1
is "$(rows mixed 1)" -eq 0
is "$(rows mixed 10)" -eq 1
report by-id --io %0=external
is "$(rows by-id 0)" -eq 0
is "$(rows by-id 1)" -eq 1

report pin --pin-output-ancestors
is "$(arena_of "$work/pin")" -gt "$(arena_of "$work/default")"
report rule --rule pin-output-ancestors
same "$work/rule" "$work/pin"
report unpin --rule pin-output-ancestors --no-pin-output-ancestors
same "$work/unpin" "$work/default"
report no-rule --pin-output-ancestors --no-rule pin-output-ancestors
same "$work/no-rule" "$work/default"

report packed --pack-params
weights=$(awk '$3 ~ /^%[1-4]$/ && $1 + $2 > end { end = $1 + $2 } END { print end }' "$work/packed")
is "$weights" -le $((802816 + 1024 + 10240 + 64))
report best-fit --strategy best-fit
report first-fit --strategy first-fit
run plan "$mlp" --strategy best-fit
says "best-fit"
run plan "$mlp"
name=AutoIsTheDefault
says "strategy        auto"
says "outcome         optimal: no placement is lower"
run plan "$mlp" --preset rlx
name=RlxIsPlacedAsRlxDoes
says "strategy        first-fit"
run plan "$mlp" --no-reuse
name=WithoutReuseNothingIsSearchedFor
says_not "outcome"
report auto --strategy auto --nodes 5M --time 10s
same "$work/auto" "$work/default"
run plan "$mlp" --format plan -o "$work/auto.plan"
run check "$mlp" "$work/auto.plan"
expect 0 PlansOfAutoReadBack
write_graph wall '%0 "a" = custom() {name = "m"} : u8[60]' \
  '%1 "w" = custom() {name = "m"} : u8[10] with {at = 50}' \
  '%2 = custom(%0, %1) {name = "m"} : u8[1]' 'return %2'
run plan "$work/wall.stow" --align 1 --capacity 100
expect 1 ASearchCanRuleOutWhatTheLoadDoesNot
lists "no placement can fit: the search has ruled out all that are below 120"
says "infeasible: no placement is within the capacity"
says "The lower bound is 49 B above that: the search has ruled out"
name=TheStrategyComesBeforeItsSearch
if grep -A 1 "^  strategy  *auto$" "$out" | grep -q "^  search "; then pass; else fail "it does not"; fi

write_graph bytes '%0 = input "x" : u8[100]' '%1 = relu(%0) : u8[100]' 'return %1'
run plan "$work/bytes.stow" --format report --f32-uniform
expect 0 F32UniformWidensElements
says "	400	%0"

# Presets
for preset in default rlx rlx-0.2.2 backward; do
  run plan "$mlp" --preset $preset --format report
  expect 0 "Preset ($preset)"
done
run plan --align 64 --no-pin-output-ancestors "$mlp" --format report --preset rlx
cp "$out" "$work/late"
run plan --preset rlx "$mlp" --format report --align 64 --no-pin-output-ancestors
name=ThePresetComesFirstWhereverItStands
same "$out" "$work/late"

# Symbols
run plan "$examples/cnn.stow"
expect 3 UnboundSymbolsAreNamed
complains "cnn.stow: @cnn has symbols without a value: batch; set each with --bind NAME=N"
run plan "$examples/decode.stow"
expect 3 AllUnboundSymbolsAreNamed
complains "without a value: past, max; "
run plan "$examples/decode.stow" --bind past=3
expect 3 OnlyUnboundSymbolsAreNamed
complains "without a value: max; "
run plan "$examples/decode.stow" --bind past=3,max=16
expect 0 DecodeStepsArePlanned
says "8 views"
run plan "$examples/cnn.stow" --bind batch=1 --format report
expect 0 BoundSymbols
one=$(arena_of "$out")
run plan "$examples/cnn.stow" --bind batch=8 --format report
is "$(arena_of "$out")" -gt "$one"
run plan "$examples/cnn.stow" --bind batch=0
expect 0 AnEmptyBatchIsFine

# Regions
run plan "$examples/branches.stow"
expect 0 RegionsArePlanned
says "@branches"

# Capacity
run plan "$mlp" --capacity 1GiB
expect 0 FitsWithRoomToSpare
says "fits"
says "to spare"
size=$(arena_of "$work/default")
run plan "$mlp" --capacity "$size"
expect 0 FitsExactly
says "fits, 0 B to spare"
run plan "$mlp" --capacity $((size - 1))
expect 1 DoesNotFitByOneByte
complains "does not fit: $size bytes required, $((size - 1)) available, 1 too many"
lists "the largest hole there has"
says "exceeded by 1 B"
run plan "$mlp" --capacity 256KiB
expect 1 NoPlacementCanFit
lists "no order can fit: when matmul runs (node 8), $size bytes are needed at once"
lists ', the largest: %1 "w1" (802816 bytes), '
run plan "$mlp" --capacity 256KiB --order-nodes 0
expect 1 NoPlacementCanFitInThisOrder
lists "no placement can fit: at step "
lists ' bytes are live at once, the largest: %1 "w1" (802816 bytes), '
plain=$(arena_of "$work/plain")
run plan "$mlp" --no-reuse --capacity "$plain"
expect 1 ReuseWouldFit
lists "the lower bound is $plain: a placement that reuses bytes may fit"
write_graph gap '%0 = input "x" : u8[64] with {io = "consume"}' \
  '%1 "a" = relu(%0) : u8[64]' '%2 "b" = concat(%1, %1) {axis = 0} : u8[128]' \
  '%3 "c" = concat(%2, %1) {axis = 0} : u8[192] with {at = 512}' 'return %3'
run plan "$work/gap.stow" --capacity 640
expect 1 FixedPlacesDoNotFit
lists "no placement can fit: the lower bound, with padding and fixed offsets, is 704"
run plan "$mlp" --capacity 0 -o "$work/none"
expect 1 NothingFitsInNothing
if [ -e "$work/none" ]; then fail "a file was written"; else pass; fi
run plan "$mlp" --capacity 1kB
expect 1 KilobytesAre1000
complains "1000 available"
run plan "$mlp" --capacity 1KiB
expect 1 KibibytesAre1024
complains "1024 available"
for unit in 2MB=2000000 1MiB=1048576 1GB=1000000000 1GiB=1073741824; do
  run plan "$mlp" --capacity "${unit%=*}"
  expect 0 "Units ($unit)"
  says "${unit#*=} B"
done

# Bad graphs
write_graph bad '%0 = input "x" : f32[2, 3]' '%1 = matmul(%0, %0) : f32[2, 3]' 'return %1'
run plan "$work/bad.stow"
expect 3 TypesThatDoNotFit
complains "bad.stow:3"
complains "matmul"
printf 'graph @bad {\n  %%0 = inptu "x" : f32[2]\n' >"$work/bad.stow"
run plan "$work/bad.stow"
expect 3 SyntaxErrorsHaveAPosition
complains "bad.stow:2:8: "
write_graph huge '%0 = input "x" : f32[4611686018427387904, 16]' 'return %0'
run plan "$work/huge.stow"
expect 3 SizesThatOverflow
: >"$work/empty.stow"
run plan "$work/empty.stow"
expect 3 AnEmptyFileIsNoGraph
printf 'graph @n\000ul {\n}\n' >"$work/nul.stow"
run plan "$work/nul.stow"
expect 3 BinaryContentIsAnErrorNotACrash
printf 'graph @esc { \033[31m }\n' >"$work/esc.stow"
run plan "$work/esc.stow"
expect 3 ControlCharactersStayOutOfMessages
if grep -q "$(printf '\033')" "$err"; then fail "an escape reached the terminal"; else pass; fi

write_graph with '%0 = input "x" : f32[4]' '%1 = relu(%0) : f32[4] with {scratch = "big"}' \
  'return %1'
run plan "$work/with.stow"
expect 3 ABadClauseHasALine
complains "with.stow:3: "
if grep -qF "line 3" "$err"; then fail "the line is told twice"; else pass; fi

# Sources of constants are not opened
cat >"$work/source.stow" <<'GRAPH'
graph @source {
  %0 = constant "table" {source = "no/such/file", at = 0, bytes = 64} : f32[16]
  %1 = relu(%0) : f32[16]
  return %1
}
GRAPH
run plan "$work/source.stow"
expect 0 SourcesAreNotOpened

# Locale
for locale in de_DE.UTF-8 de_DE.utf8 tr_TR.UTF-8; do
  if locale -a 2>/dev/null | grep -qx "$locale"; then
    run plan "$mlp"
    cp "$out" "$work/plain"
    env LC_ALL=$locale "$stowage" plan "$mlp" >"$out" 2>"$err"
    code=$?
    expect 0 "LocaleChangesNothing ($locale)"
    same "$out" "$work/plain"
  else
    skip "locale $locale is not installed"
  fi
done
finish
