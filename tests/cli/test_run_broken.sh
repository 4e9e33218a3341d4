# A command with a wrong kernel: --check and --paranoid find it, and name it.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow

run run "$mlp" --random 7
expect 0 NobodyAsked
run run "$mlp" --random 7 --check
expect 1 CheckFindsADifference
complains "output 'y' differs from a run without shared bytes"
lists "the first to differ is step 7, relu, node 7, which makes %7 'hidden'"
says "DIFFERENT"
run run "$mlp" --random 7 --check --format json
expect 1 CheckFindsADifferenceInJson
says '"check": "different"'
run run "$mlp" --random 7 --check --no-in-place
expect 0 NothingIsInPlace

WRITE_BESIDE=1
export WRITE_BESIDE
write_graph beside '%0 = input "x" : f32[16]' '%1 "a" = neg(%0) : f32[16]' '%2 "b" = relu(%1) : f32[16]' \
  '%3 "c" = add(%2, %1) : f32[16]' 'return %3, %2'
run run "$work/beside.stow" --random 7 --paranoid --no-in-place --no-reuse
expect 1 ParanoidFindsAWriteElsewhere
complains "relu"
finish
