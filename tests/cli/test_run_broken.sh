# A command with a wrong kernel: --check and --paranoid find it, and name it.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow

run run "$mlp" --random 7
expect 0 NobodyAsked
run run "$mlp" --random 7 --check
expect 1 CheckFindsADifference
complains "output 'y' differs from a run without shared bytes"
lists 'the first to differ is step 7, node 7 (relu) %7 "hidden"'
says "DIFFERENT"
run run "$mlp" --random 7 --check --format json
expect 1 CheckFindsADifferenceInJson
says '"check": "different"'
run run "$mlp" --random 7 --check --no-in-place
expect 0 NothingIsInPlace

# The first run is not measured, then three are, and the fifth is that of --check
for call in 4 5; do
  INTERRUPT_AT=$call
  export INTERRUPT_AT
  run run "$mlp" --random 7 --no-in-place --repeat 3 --check
  expect 4 "ASignalAfterTheLastRunLeavesWhatWasMeasured ($call)"
  complains "stopped by a signal after 3 of 3 runs, before --check"
  says "  latency         min "
  says "  runs            3, after 0 to warm up"
  says "Outputs:"
  says_not checked
  run run "$mlp" --random 7 --no-in-place --repeat 3 --check --format json
  expect 4 "AndTellsPrograms ($call)"
  says '"stopped": true'
  says_not '"check"'
done
INTERRUPT_AT=3
run run "$mlp" --random 7 --no-in-place --repeat 3 --check
expect 4 ASignalBeforeTheLastRun
complains "stopped by a signal after 2 of 3 runs"
INTERRUPT_AT=2
run run "$mlp" --random 7 --no-in-place --check
expect 4 NothingWasMeasured
complains "mlp.stow: stopped by a signal"
if [ -s "$out" ]; then fail "a report of nothing"; else pass; fi
# a difference is proven, though its explanation was stopped
INTERRUPT_AT=6
run run "$mlp" --random 7 --repeat 3 --check
expect 1 ADifferenceStaysOne
complains "output 'y' differs from a run without shared bytes"
says DIFFERENT
unset INTERRUPT_AT

WRITE_BESIDE=1
export WRITE_BESIDE
write_graph beside '%0 = input "x" : f32[16]' '%1 "a" = neg(%0) : f32[16]' '%2 "b" = relu(%1) : f32[16]' \
  '%3 "c" = add(%2, %1) : f32[16]' 'return %3, %2'
run run "$work/beside.stow" --random 7 --paranoid --no-in-place --no-reuse
expect 1 ParanoidFindsAWriteElsewhere
complains "relu"
finish
