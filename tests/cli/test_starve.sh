# Running out of memory at any allocation gives exit code 5 or makes no difference; so does a thread
# that does not start. With many allocations, a sample of them fails.
. "$(dirname "$0")/harness.sh"

# sweep NAME ARG...: each of the first 60 allocations, or of the first $STARVE_DENSE, then steps of a tenth
sweep() {
  sweep_name=$1
  shift
  rm -rf "$work/sweep.out"
  STARVE_LOG=$work/count "$stowage" "$@" >"$work/whole" 2>"$err" </dev/null
  whole=$?
  name="$sweep_name"
  total=$(cat "$work/count")
  at=1
  while [ "$at" -le "$total" ]; do
    rm -rf "$work/sweep.out"
    STARVE_AT=$at "$stowage" "$@" >"$out" 2>"$err" </dev/null
    code=$?
    if [ "$code" -eq 5 ]; then
      if grep -q '^stowage: ' "$err"; then pass; else fail "nothing is said where allocation $at fails"; fi
    elif [ "$code" -ne "$whole" ]; then
      fail "exit code $code where allocation $at fails"
    else
      # times are never the same
      grep -v '^  \(start\|time\) ' "$out" >"$work/out.same"
      grep -v '^  \(start\|time\) ' "$work/whole" >"$work/whole.same"
      if cmp -s "$work/out.same" "$work/whole.same"; then pass; else
        fail "another answer where allocation $at fails"
      fi
    fi
    if [ "$at" -lt "$dense" ]; then at=$((at + 1)); else at=$((at + at / 10 + 1)); fi
  done
}

write_graph small '%0 = input "x" : f32[?n]' '%1 = param "w" : f32[?n]' '%2 "y" = add(%0, %1) : f32[?n]' \
  '%3 "z" = relu(%2) : f32[?n]' 'return %3, %2'
small=$work/small.stow
"$stowage" run "$small" --bind n=4 --random 1 --outputs "$work/in.npz" >"$out" 2>"$err"
cp "$work/in.npz" "$work/x.npz"
"$stowage" plan "$small" --bind n=4 --format plan -o "$work/small.plan" >"$out" 2>"$err"
write_graph named '%0 = input "z" : f32[?n]' '%1 = input "y" : f32[4]' '%2 "sum" = add(%0, %1) : f32[?n]' 'return %2'

dense=${STARVE_DENSE:-60}
sweep Plan plan "$small" --bind n=4
sweep PlanAsJson plan "$small" --bind n=4 --format json -o "$work/sweep.out"
sweep Check check "$small" "$work/small.plan" --bind n=4
sweep Fmt fmt "$small"
sweep Diff diff "$small" "$small" --bind n=4
sweep View view "$small" --bind n=4 -o "$work/sweep.out"
sweep Solve solve "$examples/buffers.csv" --nodes 1000
sweep SolveSeveral solve "$examples/buffers.csv" "$examples/buffers.csv" --nodes 1000 --format markdown
sweep SolveCertificate solve "$examples/buffers.csv" --nodes 1000 --certificate "$work/sweep.out"
sweep Model plan "$examples/encoder.onnx" --bind batch=1,length=8 --nodes 1000
dense=${STARVE_DENSE:-9999}
sweep Inspect inspect "$examples/encoder.onnx"
sweep InspectAsJson inspect "$examples/encoder.onnx" --format json
dense=${STARVE_DENSE:-60}
sweep Run run "$small" --bind n=4 --random 1 --threads 2 --outputs "$work/sweep.out"
sweep RunInputs run "$work/named.stow" --inputs "$work/in.npz" --check
printf 'not %s\n' known >"$work/order"
sweep OrderFile plan "$small" --bind n=4 --order "$work/order"
sweep SeveralFiles plan "$examples/encoder.onnx" "$small" --bind batch=1,length=8,n=4 --nodes 1000
sweep SeveralFilesInAFolder plan "$small" "$work/named.stow" --bind n=4 --format c --c-prefix a -o "$work/sweep.out/"
sweep Export export "$small" --bind n=4 --random 1 --io external -o "$work/sweep.out"
printf 'graph @g {\n  %%0 = input "x" : f32[?n, 2]\n  %%1 "y" = exp(%%0) : f32[?n, 2]\n  return %%1\n}\n' >"$work/range.stow"
sweep ExportRange export "$work/range.stow" --bind n=1..3 -o "$work/sweep.out"

STARVE_THREADS=1 "$stowage" run "$small" --bind n=4 --random 1 --threads 16 >"$out" 2>"$err"
code=$?
expect 5 ThreadsThatDoNotStart
complains "only 1 of 16 threads could be started"
finish
