# `stowage check`: saved plans are read and proven, and wrong ones refused.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow
plan=$work/mlp.plan

# Round trip over presets and options
for options in "" "--preset rlx" "--preset rlx-0.2.2 --align 1" "--no-reuse" "--no-params" \
  "--no-inputs" "--guard 128 --align 256" "--f32-uniform" "--io consume" "--io external" \
  "--pack-params" "--strategy best-fit" "--pin-output-ancestors"; do
  run plan "$mlp" $options --format plan -o "$plan"
  expect 0 "Save ($options)"
  run check "$mlp" "$plan"
  expect 0 "RoundTrip ($options)"
  says "mlp.plan: ok: @mlp, 11 values, arena of "
done
for graph in transformer branches; do
  run plan "$examples/$graph.stow" --format plan -o "$work/other.plan"
  run check "$examples/$graph.stow" "$work/other.plan"
  expect 0 "RoundTrip ($graph)"
done
run plan "$mlp" --format plan -o "$plan"

# A policy for a single value is not in the plan
run plan "$mlp" --io x=external --format plan -o "$work/io.plan"
run check "$mlp" "$work/io.plan" --io x=external
expect 0 PoliciesAreGivenAgain
run check "$mlp" "$work/io.plan"
expect 1 PoliciesAreMissed
complains '"x"'
complains "; if it was planned with --io x=POLICY or --alias, give the same here"
write_graph unnamed '%0 = input "x" : f32[4]' '%1 = relu(%0) : f32[4]' 'return %1'
run plan "$work/unnamed.stow" --io %1=external --format plan -o "$work/io.plan"
run check "$work/unnamed.stow" "$work/io.plan"
expect 1 PoliciesOfUnnamedValuesAreMissed
complains "; if it was planned with --io %1=POLICY or --alias, give the same here"
run check "$work/unnamed.stow" "$work/io.plan" --io %1=external
expect 0 PoliciesOfUnnamedValuesAreGivenAgain

# Names that need quotes
sed 's/@mlp/@"m l\\tp\\x01\\"q\\\\"/' "$mlp" >"$work/odd.stow"
run plan "$work/odd.stow" --format plan -o "$work/odd.plan"
expect 0 OddGraphName
run check "$work/odd.stow" "$work/odd.plan"
expect 0 OddGraphNameIsFoundAgain
for header in '# graph=mlp' '# graph="mlp' '# graph="\q"' '# graph="\x4"' '# graph='; do
  printf '%s\n' "$header" >"$work/bad.plan"
  run check "$mlp" "$work/bad.plan"
  expect 3 "BadHeader ($header)"
  complains "not a saved plan"
done

# What a name or a path holds never reaches the terminal
escape=$(printf '\033')
odd_plan=$work/odd${escape}[31m.plan
sed 's/@mlp/@"m\\x1b[31m\\np"/' "$mlp" >"$work/hostile.stow"
run plan "$work/hostile.stow" --format plan -o "$odd_plan"
expect 0 HostileNames
run check "$work/hostile.stow" "$odd_plan"
expect 0 HostileNamesAreEscaped
says 'odd\x1B[31m.plan: ok: @m\x1B[31m\np, 11 values'
says_not "$escape"
if [ "$(wc -l <"$out")" -eq 1 ]; then pass; else fail "not one line"; fi
run check "$mlp" "$odd_plan"
expect 3 HostileNamesAreEscapedInMessages
complains 'odd\x1B[31m.plan is a plan for graph '
if grep -qF "$escape" "$err"; then fail "an escape reaches the terminal"; else pass; fi

# Standard input
"$stowage" check "$mlp" - <"$plan" >"$out" 2>"$err"
code=$?
expect 0 PlanFromStandardInput
says "<stdin>: ok"
"$stowage" check - "$plan" <"$mlp" >"$out" 2>"$err"
code=$?
expect 0 GraphFromStandardInput

# Symbols
run plan "$examples/cnn.stow" --bind batch=2 --format plan -o "$work/cnn.plan"
run check "$examples/cnn.stow" "$work/cnn.plan" --bind batch=2
expect 0 BoundPlan
run check "$examples/cnn.stow" "$work/cnn.plan" --bind batch=3
expect 3 BoundOtherwiseIsStale
complains "cnn.plan"
complains "; other --bind values give another graph"
run check "$examples/cnn.stow" "$work/cnn.plan"
expect 3 UnboundSymbolsAreNamed
complains "cnn.stow: @cnn has symbols without a value: batch; set each with --bind NAME=N"
run plan "$examples/decode.stow" --bind past=3,max=16 --format plan -o "$work/decode.plan"
run check "$examples/decode.stow" "$work/decode.plan" --bind past=3,max=16
expect 0 DecodeSteps
run check "$examples/cnn.stow" "$work/cnn.plan" --bind bacth=3
expect 2 BoundNameMustExist
complains "no symbol 'bacth'"

# Several graphs
run plan "$examples/training.stow" --graph forward --format plan -o "$work/forward.plan"
run check "$examples/training.stow" "$work/forward.plan"
expect 0 ThePlanNamesItsGraph
says "@forward"
run check "$examples/training.stow" "$work/forward.plan" --graph forward
expect 0 TheGraphIsNamed
run check "$examples/training.stow" "$work/forward.plan" --graph @forward
expect 0 TheGraphIsNamedWithItsSign
run check "$examples/training.stow" "$work/forward.plan" --graph backward
expect 3 AnotherGraphIsStale
run check "$examples/training.stow" "$work/forward.plan" --graph nobody
expect 2 UnknownGraph
run check "$mlp" "$work/forward.plan"
expect 3 GraphThatTheFileLacks
complains "is a plan for graph 'forward'"

# Stale: the graph has changed since
sed 's/relu/gelu/' "$mlp" >"$work/changed.stow"
run check "$work/changed.stow" "$plan"
expect 3 AChangedGraphIsStale
complains "mlp.plan"
if grep -qF -e "--bind" "$err"; then fail "a hint without reason"; else pass; fi

# Wrong: every slot moved to 0
overlay "$plan" >"$work/wrong.plan"
run check "$mlp" "$work/wrong.plan"
expect 1 OverlapsAreFound
complains "wrong.plan: "

# Not a plan
run plan "$mlp" --format report -o "$work/report"
run check "$mlp" "$work/report"
expect 3 AReportIsNotASavedPlan
complains "not a saved plan"
head -c 300 "$plan" >"$work/cut.plan"
run check "$mlp" "$work/cut.plan"
expect 3 APlanThatIsCutOff
: >"$work/empty.plan"
run check "$mlp" "$work/empty.plan"
expect 3 AnEmptyPlan
complains "empty.plan: the file is empty; expected a saved plan"
run check "$mlp" "$work/empty.plan" --graph mlp
expect 3 AnEmptyPlanOfANamedGraph
complains "empty.plan: the file is empty; expected a saved plan"

# A plan that an editor or a transfer has changed, with and without the graph's name
return=$(printf '\r')
sed "s/\$/$return/" "$plan" >"$work/crlf.plan"
sed "5s/\$/$return/" "$plan" >"$work/mixed.plan"
{ printf '\357\273\277' && cat "$plan"; } >"$work/bom.plan"
{ printf '\377\376#\0'; } >"$work/utf16.plan"
for options in "" "--graph mlp"; do
  run check "$mlp" "$work/crlf.plan" $options
  expect 3 "CrlfLineEnds ($options)"
  complains "crlf.plan:1: has CRLF line ends; a saved plan must have LF only"
  run check "$mlp" "$work/mixed.plan" $options
  expect 3 "OneCrlfLineEnd ($options)"
  complains "mixed.plan:5: has CRLF line ends; a saved plan must have LF only"
  run check "$mlp" "$work/bom.plan" $options
  expect 3 "AByteOrderMark ($options)"
  complains "bom.plan:1: begins with a byte order mark, which a saved plan must not have"
  run check "$mlp" "$work/utf16.plan" $options
  expect 3 "AByteOrderMarkOfUtf16 ($options)"
  complains "utf16.plan:1: begins with a byte order mark of UTF-16; save it as UTF-8"
done
run check "$work/utf16.plan" "$plan"
expect 3 AGraphInUtf16
complains "utf16.plan:1: begins with a byte order mark of UTF-16; save it as UTF-8"
sed "s/\$/$return/" "$mlp" >"$work/crlf.stow"
run check "$mlp" "$work/crlf.stow"
expect 3 AnotherFileWithCrlfIsNoPlan
complains "not a saved plan"
run check "$mlp" "$work/no.plan"
expect 5 AMissingPlan
complains "cannot open '$work/no.plan': No such file"
finish
