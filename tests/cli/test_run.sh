# `stowage run`: outputs, latencies, profiles, proofs, and the effect of every option.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow
if command -v python3 >/dev/null 2>&1; then python=python3; else python=; fi

# json FILE EXPRESSION TEXT: an expression over the object d in FILE
json() {
  [ -n "$python" ] || return 0
  found=$($python -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$1" "$2" 2>&1)
  if [ "$found" = "$3" ]; then pass; else fail "$2 is $found instead of $3"; fi
}

# No line is wider than 80 columns; nothing for terminals is in it.
narrow() {
  if awk 'length($0) > 80 { exit 1 }' "$out"; then pass; else fail "wider than 80 columns"; fi
  if grep -q "$(printf '\033')" "$out"; then fail "colours in a file"; else pass; fi
}

# without_times FILE: the report without what differs from run to run
without_times() {
  grep -vE '^  (start|time|first run|latency|runs) |^                  ' "$1"
}

# A run
run run "$mlp" --random 7
expect 0 AModelRuns
for text in "@mlp in " "11 steps" "arena" "weights" "scratch" "random" "seed 7" "1 thread" "Outputs:" \
  "y  f32[32, 10]" "min " "max " "mean 0.1 " "std "; do
  says "$text"
done
says "1 input and 4 weights that the file has no data for"
narrow
without_times "$out" >"$work/first"
run run "$mlp" --random 7
without_times "$out" >"$work/again"
name=TheSameSeedGivesTheSameNumbers
same "$work/first" "$work/again"
run run "$mlp" --random 8
without_times "$out" | sed 's/seed 8/seed 7/' >"$work/again"
name=AnotherSeedGivesOthers
differ "$work/first" "$work/again"

for file in mlp tiny transformer branches; do
  run run "$examples/$file.stow" --random 1 --paranoid
  expect 0 "ExamplesRunAndProveIt ($file)"
  says "guarded"
  says "the same bits as a run without "
done
run run "$examples/cnn.stow" --bind batch=2 --random 1 --check
expect 0 SymbolsAreBound
says "f32[2, 10]"
run run "$examples/digits.onnx" --random 1 --check
expect 0 AnOnnxModelRuns
says "in the model file"
says "probabilities  f32[1, 10]"
says "largest  "
run run "$examples/encoder.onnx" --random 1 --bind-rest 4 --paranoid
expect 0 AnOnnxModelWithSymbolsRuns
says "encoded  f32[4, 4, 32]"
run run "$examples/training.stow" --graph forward --random 1
expect 0 OneGraphOfSeveral
says "@forward in "

# Options of planning
run run "$mlp" --random 7 --weights arena
expect 0 WeightsInTheArena
says "in the arena"
run run "$mlp" --random 7 --io external --outputs "$work/external.npz"
expect 0 OutsideTheArena
run run "$mlp" --random 7 --no-reuse --no-in-place --order auto --align 256 --outputs "$work/plain.npz"
expect 0 OtherPlans
name=OutputsDoNotDependOnThePlan
same "$work/external.npz" "$work/plain.npz"
for threads in 1 2 3; do
  run run "$examples/transformer.stow" --random 7 --threads $threads --outputs "$work/$threads.npz"
  expect 0 "Threads ($threads)"
  name=OutputsDoNotDependOnThreads
  same "$work/1.npz" "$work/$threads.npz"
done
run run "$mlp" --random 1 --capacity 1KiB
expect 1 ACapacityHolds
complains "does not fit"

# Saved plans
run run "$mlp" --random 7 --save-plan "$work/mlp.plan" --outputs "$work/a.npz"
expect 0 ThePlanIsSaved
run run "$mlp" --random 7 --plan "$work/mlp.plan" --outputs "$work/b.npz"
expect 0 ThePlanRuns
same "$work/a.npz" "$work/b.npz"
sed 's/784/800/g' "$mlp" >"$work/mlp.stow"
run run "$work/mlp.stow" --random 7 --plan "$work/mlp.plan"
expect 3 APlanOfAnotherGraphIsStale
complains "the plan was made for a graph with fingerprint"
overlay "$work/mlp.plan" >"$work/wrong.plan"
run run "$mlp" --random 7 --plan "$work/wrong.plan"
expect 1 AWrongPlanIsRefused
run plan "$mlp" --weights file --format plan -o "$work/bare.plan"
run run "$mlp" --random 7 --plan "$work/bare.plan"
expect 1 APlanWithoutScratchIsRefused
lists "--save-plan"
run run "$mlp" --random 7 --plan "$work/mlp.plan" --save-plan "$work/c.plan"
expect 2 SavedAlready
complains "already saved"

run run "$mlp" --random 7 --plan "$work/mlp.plan" --align 256
expect 2 MadeAlready
complains "--align has no effect here: the plan is given by --plan"
run run "$mlp" --random 7 --plan "$work/mlp.plan" --io x=keep
expect 0 APolicyOfASavedPlan

# Latencies
run run "$mlp" --random 7 --repeat 5 --warmup 2
expect 0 Latencies
for text in "first run" "latency" "min " "median " "p90 " "p99 " "max " "mean " "5, after 2 to warm up" "CPU time "; do
  says "$text"
done
narrow
run run "$mlp" --random 7 --repeat 0
expect 2 NoRunsAtAll
complains "expected at least 1"
run run "$mlp" --random 7 --warmup 2
expect 2 WarmupWithoutRepeat
complains "--warmup needs --repeat"
# the bytes of this input are free for others once they have been read
run run "$examples/tiny.stow" --random 7 --outputs "$work/one.npz"
run run "$examples/tiny.stow" --random 7 --repeat 3 --outputs "$work/four.npz"
expect 0 ConsumedInputsAreSetAgain
same "$work/one.npz" "$work/four.npz"

# Profiles
run run "$mlp" --random 7 --profile
expect 0 AProfile
for text in "Time by op:" "The slowest nodes:" "op " "calls" "time" "share" "moved" "GB/s" "matmul" "softmax" \
  "hidden  f32[32, 256]"; do
  says "$text"
done
narrow
run run "$mlp" --random 7 --capacity 1KiB
expect 1 ScratchIsPartOfTheReason
lists "of them scratch, the largest: "
run run "$mlp" --random 7 --profile --repeat 3
says "Time by op, medians of 3 runs:"
run run "$examples/branches.stow" --random 7 --profile
expect 0 AProfileOfRegions
says "if "
run run "$mlp" --random 7 --trace "$work/trace.json"
expect 0 ATrace
json "$work/trace.json" 'len([e for e in d["traceEvents"] if e["ph"] == "X" and e["name"] == "matmul"])' 2
json "$work/trace.json" 'all(e["dur"] >= 0 for e in d["traceEvents"] if e["ph"] == "X")' True
says_not "Time by op"

# JSON
run run "$mlp" --random 7 --format json --profile --repeat 3 --check --paranoid
expect 0 Json
cp "$out" "$work/run.json"
json "$work/run.json" 'd["stowage_run"]' 1
json "$work/run.json" 'd["graph"], d["steps"], d["threads"]' "('mlp', 11, 1)"
json "$work/run.json" 'd["check"], d["paranoid"]' "('same', True)"
json "$work/run.json" 'd["weights"], d["weights_in_arena"]' "(814120, 0)"
json "$work/run.json" '[g["name"] for g in d["given"]]' "['x', 'w1', 'b1', 'w2', 'b2']"
json "$work/run.json" 'd["given"][0]["from"], d["given"][0]["dims"]' "('random', [32, 784])"
json "$work/run.json" 'd["nanoseconds"]["runs"], d["nanoseconds"]["min"] <= d["nanoseconds"]["max"], all(0 < d["nanoseconds"][k] for k in ("start", "start_processor", "processor"))' "(3, True, True)"
json "$work/run.json" 'd["outputs"][0]["name"], d["outputs"][0]["dtype"], d["outputs"][0]["dims"]' \
  "('y', 'f32', [32, 10])"
json "$work/run.json" 'abs(d["outputs"][0]["mean"] - 0.1) < 1e-6, len(d["outputs"][0]["first"])' "(True, 6)"
json "$work/run.json" 'sorted(o["op"] for o in d["profile"]["ops"])' "['add', 'matmul', 'relu', 'softmax']"
json "$work/run.json" '[o["calls"] for o in d["profile"]["ops"] if o["op"] == "matmul"]' "[6]"
json "$work/run.json" 'len(d["profile"]["nodes"])' 6
json "$work/run.json" 'all(0 < 2 * o["median"] <= o["nanoseconds"] for o in d["profile"]["nodes"])' True
run run "$examples/digits.onnx" --random 1 --format json
cp "$out" "$work/run.json"
json "$work/run.json" 'len(d["outputs"][0]["largest"])' 5
json "$work/run.json" 'd["outputs"][0]["largest"][0]["value"] == d["outputs"][0]["max"]' True

# What is no number is counted, and is null in JSON
write_graph nan '%0 = input "x" : f32[4]' '%1 "y" = sqrt(%0) : f32[4]' '%2 "z" = div(%0, %0) : f32[4]' \
  'return %1, %2'
printf '\000\000\200\277\000\000\200\077\000\000\200\177\000\000\000\000' >"$work/x.bin"
run run "$work/nan.stow" --input x="$work/x.bin"
expect 0 WhatIsNoNumber
says "min 0  max 1  mean 0.5  std 0.5  1 NaN  1 Inf"
says "min 1  max 1  mean 1  std 0  2 NaN"
says "largest  2: inf  1: 1  3: 0"
run run "$work/nan.stow" --input x="$work/x.bin" --format json
cp "$out" "$work/run.json"
json "$work/run.json" '[o["nan"] for o in d["outputs"]], d["outputs"][0]["first"]' "([1, 2], [None, 1, None, 0])"

# Outputs without a name, twice, and straight from inputs
write_graph odd '%0 = input "x" : i32[2]' '%1 = add(%0, %0) : i32[2]' 'return %1, %0, %1'
printf '\001\000\000\000\377\377\377\377' >"$work/i.bin"
run run "$work/odd.stow" --input x="$work/i.bin" --outputs "$work/odd.npz" --check
expect 0 OddOutputs
says "output_0  i32[2]"
says "[2, -2]"
says "x  i32[2]"
says "[1, -1]"
run run "$work/odd.stow" --input x="$work/i.bin" --io external
expect 0 OddOutputsOutside
says "[2, -2]"
run run "$work/odd.stow" --input x="$work/i.bin" --output output_2="$work/odd.bin"
expect 0 OddOutputsAreWrittenByTheNameThatIsTold
name=OddOutputsHaveTheirBytes
printf '\002\000\000\000\376\377\377\377' >"$work/expected.bin"
same "$work/odd.bin" "$work/expected.bin"
run run "$work/odd.stow" --input x="$work/i.bin" --output y="$work/odd.bin"
expect 2 OddOutputsAreListedByTheNameThatIsTold
lists "output_0"

# Usage
run run
expect 2 AFileIsNeeded
complains "run needs FILE"
for arguments in "--threads 0" "--threads 1000" "--threads x" "--random x" "--repeat x" "--repeat 1000000001" \
  "--rtol -1 --expect d" "--rtol x --expect d" "--atol nan --expect d" "--format yaml" "--output y" "--input =x" \
  "--rtol 1e-3" "--input a=b --input a=c" "--explain" "--c-prefix x" "--layout-from x" \
  "--graph a --graph b"; do
  # shellcheck disable=SC2086  # words
  run run "$mlp" $arguments
  expect 2 "WrongUsage ($arguments)"
done
run run "$mlp" --random 1 --output z="$work/z.npy"
expect 2 NoSuchOutput
complains "unknown output 'z'"
lists "y"
cp "$mlp" "$work/kept.stow"
for option in "--output y=$work/kept.stow" "--outputs $work/kept.stow" "--trace $work/kept.stow" \
  "--save-plan $work/kept.stow"; do
  # shellcheck disable=SC2086  # words
  run run "$work/kept.stow" --random 1 $option
  expect 2 "NothingReplacesWhatIsRead ($option)"
  complains "is an input file"
  same "$mlp" "$work/kept.stow"
done
for option in "--output y=-" "--outputs -" "--trace -" "--save-plan -"; do
  # shellcheck disable=SC2086  # words
  run run "$mlp" --random 1 $option
  expect 2 "StandardOutputHasTheReport ($option)"
  complains "standard output has the report"
done
run run - --random 1 --input x=-
expect 2 OneStandardInput
complains "only one file can be standard input"
run run "$work/none.stow" --random 1
expect 5 NoSuchFile
complains "none.stow"

# The line, on terminals only
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  script -qec "stty cols 60; TERM=xterm '$stowage' run '$examples/transformer.stow' --random 1 --repeat 40 \
    >'$work/on'" /dev/null >"$out" 2>"$err" </dev/null
  code=$?
  expect 0 ALineOnTerminals
  says " of 41  step "
  if tr '\r' '\n' <"$out" | sed "s/$(printf '\033')\[K//" | awk 'length($0) > 59 { exit 1 }'; then pass; else
    fail "wider than the terminal"
  fi
  if [ "$(tail -c 4 "$out" | od -An -c | tr -d ' \n')" = '\r033[K' ]; then pass; else
    fail "the line is still there"
  fi
else
  skip "no script(1) that runs a command: terminals are not tested"
fi

# Processor time counts, not how busy the machine is: comparing outputs with each other takes minutes
awk 'BEGIN {
  n = 100000
  print "graph @many {\n  %0 = input \"x\" : f32[4]"
  for (i = 1; i <= n; ++i) print "  %" i " \"o" i "\" = neg(%0) : f32[4]"
  printf "  return %%1"
  for (i = 2; i <= n; ++i) printf ", %%%d", i
  print ", %1\n}"
}' >"$work/many.stow"
(ulimit -t 40 && exec "$stowage" run "$work/many.stow" --random 1 --order given) >"$out" 2>"$err" </dev/null
code=$?
expect 0 OutputsAreNotComparedPairwise
says "  and 99961 more"

# A signal ends it. How long a machine needs until something has been measured is its own affair.
stop_a_run() { # OPTION...
  for seconds in 1 2 4 8 16 32; do
    "$stowage" run "$examples/transformer.stow" --random 1 --repeat 100M "$@" >"$out" 2>"$err" </dev/null &
    pid=$!
    sleep "$seconds"
    kill -TERM "$pid"
    wait "$pid"
    code=$?
    if [ -s "$out" ]; then break; fi
  done
}
stop_a_run
expect 4 ASignalLeavesWhatWasMeasured
complains "stopped by a signal after "
complains " of 100000000 runs"
says "  runs            stopped after "
says " of 100000000, after 0 to warm up"
says "  latency         min "
says "Outputs:"
stop_a_run --profile --check --format json
expect 4 AndTellsPrograms
json "$out" 'd["stopped"], "check" in d, d["nanoseconds"]["runs"] == d["profile"]["runs"] > 0' "(True, False, True)"
finish
