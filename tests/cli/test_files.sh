# Files that cannot be read or written give exit code 5 and their name, and no file is ever
# half-written.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow
run plan "$mlp" --format report
cp "$out" "$work/expected"

# Reading
run plan "$work/no.stow"
expect 5 MissingFile
complains "cannot open '$work/no.stow': No such file or directory"
run plan "$work"
expect 5 Directory
complains "cannot read '$work': Is a directory"
if [ "$(id -u)" -ne 0 ]; then
  cp "$mlp" "$work/secret.stow"
  chmod 0 "$work/secret.stow"
  run plan "$work/secret.stow"
  expect 5 ForbiddenFile
  complains "Permission denied"
else
  skip "root may read everything: ForbiddenFile"
fi
"$stowage" plan - --format report <"$mlp" >"$out" 2>"$err"
code=$?
expect 0 StandardInput
same "$out" "$work/expected"
cat "$mlp" | "$stowage" plan --format report - >"$out" 2>"$err"
code=$?
expect 0 Pipe
same "$out" "$work/expected"
mkfifo "$work/pipe"
cat "$mlp" >"$work/pipe" &
run plan "$work/pipe" --format report
expect 0 NamedPipe
same "$out" "$work/expected"
wait
cat "$mlp" >"$work/pipe" &
run diff "$mlp" "$work/pipe"
expect 0 NamedPipeIsCompared
wait
run plan "$mlp" --format plan -o "$work/saved.plan"
cat "$work/saved.plan" >"$work/pipe" &
run view "$mlp" --plan "$work/pipe" --ascii
expect 0 SavedPlanInAPipe
wait
cat "$examples/buffers.csv" >"$work/pipe" &
run solve "$work/pipe"
expect 0 BuffersInAPipe
wait
printf 'graph @g {\n oops\n' | "$stowage" plan - >"$out" 2>"$err"
code=$?
expect 3 StandardInputIsNamed
complains "<stdin>:2:2: "
"$stowage" plan - >"$out" 2>"$err" <&-
code=$?
expect 5 ClosedStandardInput
complains "cannot read '<stdin>'"

# What never ends, or is too much
run plan "$mlp" --format plan -o "$work/saved.plan"
if [ -c /dev/zero ]; then
  for arguments in "plan /dev/zero" "run /dev/zero" "inspect /dev/zero" "fmt /dev/zero" "view /dev/zero" \
    "check /dev/zero $work/saved.plan" "diff /dev/zero $mlp" "export /dev/zero -o $work/none"; do
    # shellcheck disable=SC2086  # words
    run $arguments
    expect 3 "WhatIsNoTextIsNotReadOn ($arguments)"
    complains "neither an ONNX model, which begins with its IR version (byte 0x08), nor a graph as text"
  done
  run plan /dev/urandom # one time in 256 it begins as a model does, and is refused as a device
  expect 3 NoiseIsNotReadOn
  for arguments in "solve /dev/zero" "check $mlp /dev/zero" "view $mlp --plan /dev/zero" \
    "plan $mlp --order /dev/zero" "run $mlp --plan /dev/zero" \
    "plan $examples/training.stow --graph backward --preset backward --layout-from /dev/zero"; do
    # shellcheck disable=SC2086  # words
    run $arguments
    expect 3 "WhatIsNoTextIsNotReadOn ($arguments)"
    complains "/dev/zero: not a text: byte 0 is NUL"
  done
  { printf 'graph @g {' && cat /dev/zero; } 2>/dev/null | "$stowage" plan - >"$out" 2>"$err"
  code=$?
  expect 3 NoTextHasANul
  complains "<stdin>: neither an ONNX model"
else
  skip "no /dev/zero"
fi
yes '# more' 2>/dev/null | "$stowage" plan - >"$out" 2>"$err"
code=$?
expect 3 TextsHaveALimit
complains "<stdin>: more than 256 MiB, the maximum for a text"

# Comments and names in any script are text
printf '# план памяти: всё по-русски, чтобы не-ASCII было больше, чем ASCII\ngraph @g {\n%%0 = input "вход" : f32[4]\n%%1 "выход" = relu(%%0) : f32[4]\nreturn %%1\n}\n' >"$work/unicode.stow"
run plan "$work/unicode.stow"
expect 0 TextsMayBeInAnyScript
says 'выход"'


# Writing
run plan "$mlp" --format report -o "$work/written"
expect 0 ToAFile
silent
same "$work/written" "$work/expected"
run plan "$mlp" --format report -o- 
expect 0 DashIsStandardOutput
same "$out" "$work/expected"
run plan "$mlp" --format report --output="$work/written.long"
expect 0 LongSpelling
same "$work/written.long" "$work/expected"
run plan "$mlp" -o "$work/no/such/directory"
expect 5 MissingDirectory
complains "cannot write '$work/no/such/directory': No such file or directory"
run plan "$mlp" -o "$work"
expect 5 OutputIsADirectory
complains "cannot write '$work': Is a directory"

# No input is written over, by whatever name
cp "$mlp" "$work/input.stow"
ln "$work/input.stow" "$work/hard.stow"
ln -s input.stow "$work/soft.stow"
for target in input hard soft; do
  run plan "$work/input.stow" --format plan -o "$work/$target.stow"
  expect 2 "TheInputIsNotReplaced ($target)"
  complains "--output: '$work/$target.stow' is the input file"
  same "$work/$target.stow" "$mlp"
done
"$stowage" plan - -o "$work/input.stow" <"$work/input.stow" >"$out" 2>"$err"
code=$?
expect 2 StandardInputIsNotReplaced
same "$work/input.stow" "$mlp"
pair=$examples/training.stow
run plan "$pair" --graph forward --format plan -o "$work/forward.plan"
cp "$work/forward.plan" "$work/forward.copy"
run plan "$pair" --graph backward --preset backward --layout-from "$work/forward.plan" \
  --format plan -o "$work/forward.plan"
expect 2 TheForwardPlanIsNotReplaced
same "$work/forward.plan" "$work/forward.copy"
run fmt "$work/input.stow" -o "$work/input.stow"
expect 0 FmtReplacesItsInput
run fmt "$work/input.stow" --check
expect 0 FmtReplacedItsInput

# A failing run leaves what was there, and nothing beside it
mkdir "$work/clean"
echo precious >"$work/clean/out"
run plan "$work/no.stow" -o "$work/clean/out"
expect 5 FailingRun
run plan "$mlp" --capacity 1 -o "$work/clean/out"
expect 1 RunThatDoesNotFit
echo precious >"$work/precious"
same "$work/clean/out" "$work/precious"
if [ "$(ls "$work/clean")" = out ]; then pass; else fail "something was left behind"; fi
run plan "$mlp" --format report -o "$work/clean/out"
expect 0 SuccessfulRun
same "$work/clean/out" "$work/expected"
if [ "$(ls "$work/clean")" = out ]; then pass; else fail "something was left behind"; fi

# Replaced, not written over: another name of the old file keeps the old bytes
echo old >"$work/a"
ln "$work/a" "$work/b"
run plan "$mlp" --format report -o "$work/a"
expect 0 Replaced
same "$work/a" "$work/expected"
name=TheOldFileIsUntouched
if [ "$(cat "$work/b")" = old ]; then pass; else fail "the old file was written over"; fi
# A link stays a link, a mode stays a mode
echo old >"$work/target"
chmod 640 "$work/target"
ln -s target "$work/link"
run plan "$mlp" --format report -o "$work/link"
expect 0 ThroughALink
same "$work/target" "$work/expected"
if [ -L "$work/link" ]; then pass; else fail "the link was replaced"; fi
case $(ls -l "$work/target") in -rw-r-----*) pass ;; *) fail "the mode was changed" ;; esac

# Standard output that does not take it
if [ -c /dev/full ]; then
  for arguments in "plan $mlp" "plan $mlp --format report" "plan $mlp --format json" "fmt $mlp" \
    "help" "help plan" "--version" "plan $mlp -o /dev/full"; do
    "$stowage" $arguments >/dev/full 2>"$err" </dev/null
    code=$?
    : >"$out"
    expect 5 "FullDevice ($arguments)"
    complains "No space left on device"
  done
  if [ -c /dev/full ]; then pass; else fail "/dev/full was replaced"; fi
else
  skip "no /dev/full"
fi
"$stowage" plan "$mlp" 2>"$err" >&-
code=$?
: >"$out"
expect 5 ClosedStandardOutput
complains "cannot write '<stdout>'"
# A file for programs does not get text for people
for ending in json csv plan h; do
  run plan "$mlp" -o "$work/text.$ending"
  expect 2 "ASummaryIsNoFileForPrograms ($ending)"
  complains "text.$ending' would contain text; add --format "
done
run plan "$mlp" -o "$work/text.json" --format summary
expect 0 UnlessItIsAskedFor
run diff "$mlp" "$mlp" -o "$work/diff.json"
expect 2 ADiffNeedsItsFormat
complains "add --format json"
run diff "$mlp" "$mlp" -o "$work/diff.json" --format json
expect 0 AndThenIsWritten
run inspect "$examples/digits.onnx" -o "$work/inspect.json"
expect 2 AnInspectionNeedsItsFormat
complains "add --format json"
run solve "$examples/buffers.csv" -o "$work/solved.json"
expect 2 RowsAreNoJson
complains "would contain CSV; use --format json on standard output"

run plan "$mlp" -o /dev/null
expect 0 DevicesAreWrittenInPlace
if [ -c /dev/null ]; then pass; else fail "/dev/null was replaced"; fi

# A full disk, simulated by a limit: the old file stays, and no other file is left
write_graph wide '%0 = input "x" : f32[4]' '%1 "y" = relu(%0) : f32[4]' '%2 = input "a" : f32[40000]' \
  '%3 "b" = relu(%2) : f32[40000]' 'return %1, %3'
mkdir "$work/full" && echo precious >"$work/full/out"
if (ulimit -f 16) 2>/dev/null; then
  for arguments in "plan $examples/encoder.onnx --bind-rest 4 --format json -o $work/full/out" \
    "view $work/wide.stow --format html -o $work/full/out" "run $work/wide.stow --random 1 -o b=$work/full/out" \
    "run $work/wide.stow --random 1 --outputs $work/full/out.npz" \
    "run $work/wide.stow --random 1 --outputs $work/full" \
    "run $work/wide.stow --random 1 --outputs $work/full/new"; do
    # shellcheck disable=SC2086  # words
    (ulimit -f 16 && "$stowage" $arguments) >"$out" 2>"$err"
    code=$?
    expect 5 "AFullDisk ($arguments)"
    complains "cannot write '$work/full"
    same "$work/full/out" "$work/precious"
    if [ "$(ls -A "$work/full")" = out ]; then pass; else fail "left behind: $(ls -A "$work/full")"; fi
  done
else
  skip "sizes of files cannot be limited: AFullDisk"
fi

# What is in the way of one file keeps all from being written
mkdir -p "$work/way/b.npy"
echo old >"$work/way/y.npy"
run run "$work/wide.stow" --random 1 --outputs "$work/way"
expect 5 AFolderInTheWay
complains "cannot write '$work/way/b.npy': Is a directory"
if [ "$(cat "$work/way/y.npy")" = old ] && [ "$(ls -A "$work/way" | wc -l)" -eq 2 ]; then pass; else
  fail "other files: $(ls -A "$work/way")"
fi
run run "$work/wide.stow" --random 1 --outputs "$work/way/y.npy/"
expect 5 AFileIsNoFolder
complains "cannot create the directory '$work/way/y.npy/': Not a directory"

# Memory: a graph that does not fit in the address space that is left. Sanitizers need more than the
# limit to start.
awk 'BEGIN {
  print "graph @big {"
  print "  %0 = input \"x\" : f32[4]"
  for (i = 1; i < 200000; ++i) printf "  %%%d = relu(%%%d) : f32[4]\n", i, i - 1
  print "  return %199999"
  print "}"
}' >"$work/big.stow"
if (ulimit -v 16000 && "$stowage" --version) >/dev/null 2>&1; then
  (ulimit -v 16000 && "$stowage" plan "$work/big.stow") >"$out" 2>"$err"
  code=$?
  expect 5 OutOfMemory
  complains "out of memory"
else
  skip "the address space cannot be limited here: OutOfMemory"
fi
run plan "$work/big.stow"
expect 0 DeepGraphs
says "200000 nodes"
finish
