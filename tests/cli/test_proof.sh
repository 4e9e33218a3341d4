# Plans that the checker refuses are not shown or written. STOWAGE is a build of the command whose
# checker refuses every plan.
. "$(dirname "$0")/harness.sh"

silent() {
  if [ -s "$out" ]; then fail 'something was shown'; else pass; fi
  complains 'the plan is wrong: refused by the test'
}

for format in summary report plan json csv c; do
  run plan "$examples/mlp.stow" --format "$format" -o "$work/plan.out"
  expect 1 "UnprovenPlansAreNotWrittenAs $format"
  silent
  if [ -e "$work/plan.out" ]; then fail 'a file was written'; else pass; fi
done
run plan "$examples/mlp.stow"
expect 1 UnprovenPlansAreNotShown
silent
run plan "$examples/generate.stow" --graph prefill --graph decode
expect 1 UnprovenSetsAreNotShown
silent
run view "$examples/mlp.stow" --svg
expect 1 UnprovenPlansAreNotDrawn
silent
run run "$examples/mlp.stow" --random 1
expect 1 UnprovenPlansDoNotRun
silent
run diff "$examples/mlp.stow" "$examples/mlp.stow"
expect 3 UnprovenPlansAreNotCompared
silent
finish
