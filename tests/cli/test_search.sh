# Searches stopped by signals and time limits, and the progress line, on terminals only.
. "$(dirname "$0")/harness.sh"
escape=$(printf '\033')

# Hard to place: a solid block cut into 1200 pieces, which only the original arrangement fits.
# Pieces are cut across time and bytes in turn, at places from a small random generator.
awk 'function pick(n) { seed = (seed * 1103 + 12345) % 1048573; return seed % n }
BEGIN {
  seed = 7; count = 1
  begin[1] = 0; end[1] = 400000; low[1] = 0; high[1] = 900001
  while (count < 1200) {
    best = 1
    for (i = 2; i <= count; ++i)
      if ((end[i] - begin[i]) * (high[i] - low[i]) > (end[best] - begin[best]) * (high[best] - low[best])) best = i
    ++count
    begin[count] = begin[best]; end[count] = end[best]; low[count] = low[best]; high[count] = high[best]
    if (pick(2)) {
      cut = begin[best] + 1 + int((end[best] - begin[best] - 2) * (20 + pick(61)) / 100)
      end[best] = cut; begin[count] = cut
    } else {
      cut = low[best] + 1 + int((high[best] - low[best] - 2) * (20 + pick(61)) / 100)
      high[best] = cut; low[count] = cut
    }
  }
  print "id,lower,upper,size"
  for (i = 1; i <= count; ++i) print i "," begin[i] "," end[i] "," high[i] - low[i]
}' >"$work/hard.csv"

all_placed() {
  rows=$(awk -F , 'NR > 1 && $5 ~ /^[0-9]+$/' "$1" | wc -l)
  if [ "$rows" -eq 1200 ]; then pass; else fail "$rows of 1200 rows have an offset"; fi
}

# Whether the search was still on when it was ended; otherwise there is nothing to see.
was_ended() {
  if grep -q "stopped by $1" "$out"; then return 0; fi
  if grep -q "^  outcome  " "$out"; then
    skip "the search was over by itself: $name"
  else
    fail "no outcome"
  fi
  return 1
}

# Clocks
run solve "$work/hard.csv" --time 300ms -o "$work/timed.csv"
expect 0 TheTimeLimitEndsASearch
all_placed "$work/timed.csv"
if was_ended "the time limit"; then says "feasible: a lower placement may exist"; fi
run solve "$work/hard.csv" --time 0s -o "$work/timed.csv"
expect 0 AFirstPlacementIsAlwaysFound
all_placed "$work/timed.csv"
run solve "$work/hard.csv" --capacity 900000 --time 100ms --no-explain
expect 1 WhatTheLoadRulesOutTakesNoTime
run solve "$work/hard.csv" --nodes 0
expect 0 NoSearchAtAll
run solve "$work/hard.csv" --nodes 20k
expect 0 NodesEndASearch
if grep -q "outcome         optimal" "$out"; then skip "solved within 20k nodes"; else pass; fi
cp "$out" "$work/first"
run solve "$work/hard.csv" --nodes 20k
same "$out" "$work/first"

# Signals. timeout(1) starts its command with the signals' usual meaning, which a shell does not do
# for what it runs in the background. In the foreground it sends the signal once; else also to its
# group, and a second one kills.
until_signal="timeout --foreground --preserve-status -s"
if $until_signal INT 60 true 2>/dev/null; then
  for signal in INT TERM; do
    rm -f "$work/ended.csv"
    $until_signal $signal 1 "$stowage" solve "$work/hard.csv" --nodes unlimited \
      -o "$work/ended.csv" >"$out" 2>"$err" </dev/null
    code=$?
    expect 0 "ASignalLeavesTheBestPlacement ($signal)"
    all_placed "$work/ended.csv"
    was_ended "a signal" && says "feasible: a lower placement may exist"
    if [ -s "$err" ]; then fail "something was printed"; else pass; fi
  done
  $until_signal INT 1 "$stowage" solve "$work/hard.csv" --nodes unlimited --capacity 900001 \
    -o "$work/none.csv" >"$out" 2>"$err" </dev/null
  code=$?
  name=WhatDoesNotFitIsNotWritten
  if was_ended "a signal"; then
    expect 4 WhatDoesNotFitIsNotWritten
    says "gave up: none within the capacity was found or ruled out"
    if [ -e "$work/none.csv" ]; then fail "a file was written"; else pass; fi
  fi
  name=NothingIsLeftBehind
  if ls "$work" | grep -q '\.tmp$'; then fail "a temporary file is there"; else pass; fi
  # Ignored signals stay ignored, as nohup and background jobs want it
  (
    trap '' INT
    "$stowage" solve "$work/hard.csv" --time 1s >"$out" 2>"$err" </dev/null &
    pid=$!
    sleep 0.3
    kill -INT $pid 2>/dev/null
    wait $pid
  )
  name=IgnoredSignalsStayIgnored
  if grep -q "stopped by a signal" "$out"; then fail "it was not ignored"; else pass; fi
else
  skip "no timeout(1): signals are not tested"
fi

# The line
run solve "$work/hard.csv" --time 600ms
if grep -q -e "$escape" -e "$(printf '\r')" "$out" "$err"; then fail "a line in a file"; else pass; fi
name=NoLineInFiles
if [ -s "$err" ]; then fail "something was printed"; else pass; fi
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  # on_terminal COLUMNS VARIABLE ARGUMENT...: standard error is the terminal
  on_terminal() {
    columns=$1
    variable=$2
    shift 2
    script -qec "stty cols $columns; TERM=xterm $variable '$stowage' $* >'$work/on'" \
      /dev/null >"$out" 2>"$err" </dev/null
    code=$?
  }
  on_terminal 80 "" solve "'$work/hard.csv'" --time 800ms
  expect 0 ALineOnTerminals
  name=TheLineIsDrawnAndErased
  if grep -q "stopped by" "$work/on"; then
    for text in "best " "bound " "gap " " nodes " "/s"; do says "$text"; done
    if [ "$(tail -c 4 "$out" | od -An -c | tr -d ' \n')" = '\r033[K' ]; then pass; else
      fail "the line is still there"
    fi
    lines=$(tr '\r' '\n' <"$out" | grep -c "best ")
    if [ "$lines" -ge 2 ] && [ "$lines" -le 9 ]; then pass; else fail "$lines lines in 0.8 s"; fi
    if tr '\r' '\n' <"$out" | sed "s/$escape\[K//" | awk 'length($0) > 79 { exit 1 }'; then pass; else
      fail "wider than 80 columns"
    fi
    for wide in 50 20; do
      on_terminal $wide "" solve "'$work/hard.csv'" --time 400ms
      name=NarrowTerminals
      if tr '\r' '\n' <"$out" | sed "s/$escape\[K//; s/…/./" |
        awk -v wide=$wide 'length($0) >= wide { exit 1 }'; then
        pass
      else
        fail "wider than the terminal of $wide columns"
      fi
    done
  else
    skip "the search was over by itself: $name"
  fi
  on_terminal 80 TERM=dumb solve "'$work/hard.csv'" --time 500ms
  expect 0 NoLineOnDumbTerminals
  says_not "best "
  script -qec "stty cols 80; TERM=xterm NO_COLOR=1 '$stowage' solve --strategy first-fit \
    '$examples/buffers.csv'" /dev/null >"$out" 2>"$err" </dev/null
  code=$?
  expect 0 TerminalsAreToldTheTime
  says "time            0."
else
  skip "no script(1) that runs a command: terminals are not tested"
fi

# The same nodes give the same bytes with any number of threads.
run solve "$work/hard.csv" --strategy beam --nodes 300k --threads 1 -o "$work/alone.csv"
expect 0 OneThread
run solve "$work/hard.csv" --strategy beam --nodes 300k --threads 3 -o "$work/together.csv"
expect 0 ThreeThreads
same "$work/alone.csv" "$work/together.csv"
run solve "$work/hard.csv" --threads 0
expect 2 NoThreads
complains "--threads: '0' is out of range (1 to 256)"

# A plan compares its attempts first, and then searches those that may win for as long as it may.
golden=$root/tests/golden/rlx
for graph in f32only_2 hazard_3 mixed_2; do
  run plan "$golden/$graph.stow" --format json --hints never -o "$work/usual.json"
  expect 0 "UsualSearch ($graph)"
  run plan "$golden/$graph.stow" --format json --hints never --nodes 300k -o "$work/longer.json"
  expect 0 "LongerSearch ($graph)"
  run plan "$golden/$graph.stow" --format json --hints never --nodes 300k --time 5m -o "$work/timed.json"
  expect 0 "TimedSearch ($graph)"
  same "$work/longer.json" "$work/timed.json"
  python3 - "$work/usual.json" "$work/longer.json" >"$work/verdict" 2>&1 <<'PY'
import json
import sys

usual, longer = (json.load(open(name)) for name in sys.argv[1:])
assert longer["arena_size"] <= usual["arena_size"]
assert longer["search"]["nodes"] > usual["search"]["nodes"] or longer["search"]["outcome"] == "optimal"
PY
  if [ -s "$work/verdict" ]; then fail "$graph: $(tail -n 1 "$work/verdict")"; else pass; fi
done

# Budgets are those of all attempts, apart from first placements; more is never worse, neither in
# bytes nor in proofs.
for graph in f32only_3 hazard_3 i64_2 i64_5 mixed_3; do
  plans=
  for nodes in 0 300 1k 12k 60k 400k 2M; do
    run plan "$golden/$graph.stow" --format json --hints never --nodes $nodes -o "$work/$nodes.json"
    expect 0 "Budget ($graph, $nodes)"
    plans="$plans $work/$nodes.json"
  done
  run plan "$golden/$graph.stow" --format json --hints never -o "$work/usual.json"
  expect 0 "UsualBudget ($graph)"
  python3 - $plans "$work/usual.json" >"$work/verdict" 2>&1 <<'PY'
import json
import sys

*plans, usual = [json.load(open(name)) for name in sys.argv[1:]]
ranks = [(p["arena_size"], p["search"]["outcome"] != "optimal") for p in (*plans, usual)]
assert ranks[:-1] == sorted(ranks[:-1], reverse=True), f"a larger budget is worse: {ranks}"
assert ranks[-2] <= ranks[-1], f"the usual budget is better than 2M nodes: {ranks}"
limits = [0, 300, 1000, 12000, 60000, 400000, 2000000]
over = [(n, p["search"]["nodes"]) for n, p in zip(limits, plans) if p["search"]["nodes"] > n + 9000]
assert not over, f"more nodes than the budget: {over}"
PY
  if [ -s "$work/verdict" ]; then fail "$graph: $(tail -n 1 "$work/verdict")"; else pass; fi
done
run plan "$golden/i64_5.stow" --capacity 56100
expect 4 ACapacityIsRuledOutForAllSharingOrNotAtAll
says "outcome         gave up"
lists "no placement with this sharing is below 56324: one with more or less sharing may fit"
run plan "$golden/f32only_2.stow" "$golden/mixed_2.stow" --format json -o "$work/usual.json"
expect 0 UsualSet
run plan "$golden/f32only_2.stow" "$golden/mixed_2.stow" --format json --nodes 300k -o "$work/longer.json"
expect 0 LongerSet
python3 - "$work/usual.json" "$work/longer.json" >"$work/verdict" 2>&1 <<'PY'
import json
import sys

usual, longer = (json.load(open(name)) for name in sys.argv[1:])
assert longer["arena_size"] <= usual["arena_size"]
assert longer["alone"] == usual["alone"]
PY
if [ -s "$work/verdict" ]; then fail "$(tail -n 1 "$work/verdict")"; else pass; fi
finish
