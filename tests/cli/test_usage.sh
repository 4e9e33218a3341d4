# Command lines: valid ones, invalid ones (exit code 2), and the help.
. "$(dirname "$0")/harness.sh"
mlp=$examples/mlp.stow

# Help and version
run --version
expect 0 VersionIsPrinted
says "stowage 0."
for arguments in "help" "--help" "-h"; do
  run $arguments
  expect 0 "HelpListsTheCommands ($arguments)"
  for command in "plan FILE" "solve FILE" "check FILE PLAN" "fmt FILE" "help [COMMAND]"; do says "$command"; done
done
for command in plan run export view diff inspect solve check fmt help; do
  run help $command
  expect 0 "HelpOfACommand ($command)"
  says "usage: stowage $command"
  cp "$out" "$work/help"
  for flag in -h --help; do
    run $command $flag
    expect 0 "HelpFlagOfACommand ($command $flag)"
    same "$out" "$work/help"
  done
  if awk 'length($0) > 80 { exit 1 }' "$out"; then pass; else fail "help is wider than 80"; fi
done
run help plan
name=HelpListsEveryChoice
for word in --preset --graph --layout-from --align --bind --f32-uniform --no-reuse --no-params \
  --no-inputs --no-constants --io --pin-output-ancestors --no-pin-output-ancestors --rule \
  --no-rule --strategy --nodes --time --capacity --guard --pack-params --format --c-prefix -o, \
  rlx-0.2.2 packed-qkv first-fit; do
  says "$word"
done

says "boundary value (an"
says "input, param or constant)"
says_not ": default"

# Commands
run
expect 2 ACommandIsNeeded
complains "missing command"
run plna
expect 2 UnknownCommandIsSuggested
complains "unknown command 'plna': did you mean 'plan'?"
run frobnicate
expect 2 UnknownCommandWithoutSuggestion
complains "unknown command 'frobnicate'"
run help plna
expect 2 HelpOfUnknownCommand
complains "did you mean 'plan'?"
run help --frob
expect 2 HelpHasNoOptions
complains "unknown option '--frob'"
run --frob
expect 2 OptionInsteadOfCommand
complains "unknown option '--frob'"

# Options
run plan "$mlp" --algin 64
expect 2 UnknownOptionIsSuggested
complains "unknown option '--algin': did you mean '--align'?"
run plan "$mlp" --no-resue
expect 2 UnknownSwitchIsSuggested
complains "did you mean '--no-reuse'?"
run plan "$mlp" --frobnication=7
expect 2 UnknownOptionWithoutSuggestion
complains "unknown option '--frobnication=7' (see: stowage help plan)"
run plan "$mlp" -x
expect 2 UnknownLetter
complains "unknown option '-x'"
run plan "$mlp" --an-option-that-is-longer-than-any-word-that-could-be-close-to-it
expect 2 VeryLongOption
complains "unknown option"
run plan "$mlp" --al 64
expect 2 OptionsAreNotAbbreviated
complains "unknown option '--al'"
run plan "$mlp" --no-reuse=1
expect 2 SwitchTakesNoValue
complains "--no-reuse takes no value"
run plan "$mlp" --align
expect 2 OptionNeedsAValue
complains "--align needs a value"
run plan "$mlp" --graph --align 64
expect 2 OptionIsNotTakenAsAValue
complains "--graph needs a value"
run plan
expect 2 PlanNeedsAFile
complains "plan needs FILE"
run check "$mlp"
expect 2 CheckNeedsAPlan
complains "check needs PLAN"
run fmt
expect 2 FmtNeedsAFile
complains "fmt needs FILE"
run fmt "$mlp" "$mlp"
expect 2 OneFileIsEnough
complains "unexpected argument"
run check - -
expect 2 OneStandardInputIsEnough
complains "cannot both be standard input"

# Where options may stand, and how
run plan --format report --align 16 "$mlp"
expect 0 OptionsBeforeTheFile
cp "$out" "$work/first"
run plan "$mlp" --align=16 --format=report
expect 0 OptionsAfterTheFileWithEquals
same "$out" "$work/first"
run plan --format report --align 1 --align 16 -- "$mlp"
expect 0 TheLastOneCountsAndDashesEndOptions
same "$out" "$work/first"
cp "$mlp" "$work/-odd"
(cd "$work" && "$stowage" plan --format report --align 16 -- -odd) >"$out" 2>"$err"
code=$?
expect 0 FileThatLooksLikeAnOption
same "$out" "$work/first"

# Numbers
for value in 0 48 3; do
  run plan "$mlp" --align $value
  expect 2 "AlignmentIsAPowerOfTwo ($value)"
  complains "--align: $value is not a power of two"
done
for value in -1 +1 0x10 1e3 "" " 64" 64x 64kb 1. .5KiB 1.x 64K; do
  run plan "$mlp" "--align=$value"
  expect 2 "AlignmentIsANumber ($value)"
  complains "--align: '$value' is not a size"
done
for value in 1.5 0.1KiB 0.0001kB 1.00000000000000000001GiB; do
  run plan "$mlp" --capacity $value
  expect 2 "BytesAreWhole ($value)"
  complains "--capacity: '$value' is not a whole number of bytes"
done
for value in 1.5MiB=1572864 1.572864MB=1572864 0.00146484375GiB=1572864 1572864.0=1572864; do
  run plan "$mlp" --capacity "${value%=*}"
  expect 0 "SizesMayHaveAFraction ($value)"
  says " ${value#*=} B "
done
for value in 1.5g=1.5GiB 256k=256KiB 256KB=256KiB 256kb=256KiB 256kib=256KiB "1 MiB=1MiB" 2g=2GiB 2Mb=2MiB; do
  run plan "$mlp" --capacity "${value%=*}"
  expect 2 "UnitsAreSuggested ($value)"
  complains "--capacity: '${value%=*}' is not a size; did you mean ${value#*=}?"
done
for value in 64x 64Kx 64KiBB 64Bk 64B k; do
  run plan "$mlp" --capacity "$value"
  expect 2 "OtherUnitsAreNot ($value)"
  complains "is not a size; expected digits, then kB"
done
run plan "$mlp" --align 18446744073709551616
expect 2 AlignmentFitsIn64Bits
complains "does not fit in 64 bits"
for option in "--align 2199023255552" "--align 9223372036854775808" "--align 4294967296GiB" \
  "--guard 1099511627777" "--guard 18446744073709551615"; do
  run plan "$mlp" $option
  expect 2 "PaddingHasALimit ($option)"
  complains "${option% *}: '${option#* }' is too large; the maximum is 1024GiB"
done
for option in "--align 1024GiB" "--guard 1099511627776"; do
  run plan "$mlp" $option
  expect 0 "PaddingUpToTheLimit ($option)"
done
run plan "$mlp" --guard -1
expect 2 GuardIsNotNegative
complains "--guard: '-1' is not a size"
run plan "$mlp" --capacity 18014398509481984KiB
expect 2 CapacityFitsIn64Bits
complains "does not fit in 64 bits"
run plan "$mlp" --capacity 18446744073709551615
expect 2 CapacityIsBelowTheSentinel
complains "too large"
for value in x x= =1 x=-1 x=1.5 x=9223372036854775808 x=99999999999999999999 x=1, ,x=1; do
  run plan "$examples/cnn.stow" --bind "$value"
  expect 2 "BindIsNameAndNumber ($value)"
  complains "--bind: "
done
run plan "$examples/cnn.stow" --bind batch=2,bath=3
expect 2 BoundNameMustExist
complains "--bind: graph @cnn has no symbol 'bath'; its symbols: batch"

for values in "--bind batch=2,batch=3" "--bind batch=2 --bind batch=3"; do
  run plan "$examples/cnn.stow" $values
  expect 2 "ASymbolIsBoundOnce ($values)"
  complains "--bind: 'batch' is given twice, as 2 and as 3"
done

run check "$mlp" x --io external
expect 2 CheckTakesPoliciesOfSingleValues
complains "is not NAME=POLICY"

# Words
run plan "$mlp" --preset rxl
expect 2 UnknownPreset
complains "did you mean 'rlx'? Expected one of: default, rlx, rlx-0.2.2, backward"
run plan "$mlp" --format xml
expect 2 UnknownFormat
complains "expected one of: summary, report, plan, json, csv, c"
run plan "$mlp" --strategy worst-fit
expect 2 UnknownStrategy
complains "--strategy: unknown 'worst-fit'"
for option in rule no-rule; do
  run plan "$mlp" --$option packed-qvk
  expect 2 "UnknownRule ($option)"
  complains "--$option: unknown 'packed-qvk'; did you mean 'packed-qkv'?"
done
run plan "$mlp" --io keeep
expect 2 UnknownPolicy
complains "did you mean 'keep'?"
run plan "$mlp" --io x=keeep
expect 2 UnknownPolicyOfAValue
complains "did you mean 'keep'?"
run plan "$mlp" --io nobody=external
expect 2 PolicyOfAnUnknownValue
complains "--io: graph @mlp: unknown value 'nobody'"
run plan "$mlp" --io %99=external
expect 2 PolicyOfAnUnknownId
complains "--io: graph @mlp: unknown value '%99'"
run plan "$mlp" --io hidden=external
expect 2 PolicyOfAnInnerValue
complains "--io: "
run plan "$mlp" --format c --c-prefix 1st
expect 2 PrefixIsAnIdentifier
complains "--c-prefix: '1st' is not a C identifier"
run plan "$mlp" --c-prefix first
expect 2 PrefixNeedsItsFormat
complains "--c-prefix needs --format c"
run plan "$mlp" --graph nobody
expect 2 UnknownGraph
complains "unknown graph 'nobody'; it has: mlp"
run plan "$examples/training.stow"
expect 2 OneOfSeveralGraphsIsChosen
complains "has several graphs; choose one with --graph: forward, backward"
run plan "$mlp" --layout-from mlp
expect 2 LayoutNeedsItsPreset
complains "--layout-from needs --preset backward"
run plan - --preset backward --layout-from -
expect 2 LayoutAndFileAreNotBothStandardInput
complains "cannot both be standard input"
run check "$mlp" - --layout-from -
expect 2 LayoutAndPlanAreNotBothStandardInput
complains "only one of FILE, PLAN and --layout-from can be standard input"
run check - "$mlp" --layout-from -
expect 2 LayoutAndFileOfCheckAreNotBothStandardInput
complains "only one of FILE, PLAN and --layout-from can be standard input"
run fmt "$mlp" --check -o "$work/x"
expect 2 FmtChecksOrWrites
complains "--check writes nothing"
finish
