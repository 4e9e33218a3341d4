# Orders: given, found, and from files.
. "$(dirname "$0")/harness.sh"

arena() { sed -n 's/^  arena  *\([0-9]*\) B.*/\1/p' "$out"; }

# Two long branches, each large in the middle: one after the other they need less than
# interleaved.
write_graph twins '%0 = input "x" : f32[1, 64]' \
  '%1 "a0" = expand(%0) : f32[16, 64]' \
  '%2 "b0" = expand(%0) : f32[16, 64]' \
  '%3 "a1" = reduce(%1) {axes = [0]} : f32[1, 64]' \
  '%4 "b1" = reduce(%2) {axes = [0]} : f32[1, 64]' \
  '%5 "y" = add(%3, %4) : f32[1, 64]' 'return %5'
twins=$work/twins.stow
run plan "$twins"
expect 0 TheGivenOrderIsKept
says "order           given"
given=$(arena)
run plan "$twins" --order auto
expect 0 ABetterOrderIsFound
says "order           changed: the given one needs "
auto=$(arena)
name=ItIsBetter
if [ "$auto" -lt "$given" ]; then pass; else fail "$auto and $given"; fi
run plan "$twins" --order auto --order-margin 1MiB
expect 0 WithinTheMarginTheGivenOneIsKept
says "order           given: another one saves "
name=TheMarginCosts
if [ "$(arena)" -eq "$given" ]; then pass; else fail "$(arena)"; fi
run plan "$twins" --order auto --order-nodes unlimited
expect 0 OrdersMayBeSearchedWithoutALimit
run plan "$twins" --order auto --order-nodes 0
expect 0 WithoutNodesThereIsNoSearch
says "order           given: no other one was searched for"
says_not "any-order bound"
run plan "$examples/transformer.stow"
expect 0 ABoundForAllOrdersIsNoGapWhereNoneWasLookedFor
says "  any-order bound       16781312 B   16.0 MiB   not searched; try --order auto"
run plan "$examples/transformer.stow" --order auto
expect 0 ASearchTellsHowFarOrdersGo
says "  any-order bound       17305600 B   16.5 MiB   gap 0 B (0.00 %)"
run plan "$examples/mlp.stow"
expect 0 ABoundThatIsMetNeedsNoSearch
says "  any-order bound         948520 B    926 KiB   gap 0 B (0.00 %)"
run plan "$twins" --order auto --explain
expect 0 OrdersAreExplained
says "new order "
says "given order "
says "search "

# Files
order() { printf '%s\n' "$@" >"$work/order"; }
try() { run plan "$twins" --order "$work/order"; }

order '# the left branch first' '%a0' 'a1  # then the right one' '%2, 4' '"y"'
try
expect 0 AnOrderCanBeGiven
says "order           as the file says"
name=TheOrderOfTheFileIsTaken
if [ "$(arena)" -eq "$auto" ]; then pass; else fail "$(arena) instead of $auto"; fi
run plan "$twins" --order auto --format plan -o "$work/auto.plan"
expect 0 AFoundOrderIsSaved
run plan "$twins" --order "$work/auto.plan"
expect 0 ASavedPlanIsAnOrder
name=TheOrderOfThePlanIsTaken
if [ "$(arena)" -eq "$auto" ]; then pass; else fail "$(arena) instead of $auto"; fi
printf '0,1,3,2,4,5' | "$stowage" plan "$twins" --order - >"$out" 2>"$err"
code=$?
expect 0 AnOrderCanComeFromStandardInput
says "order           as the file says"

order 1 3 2 4
try
expect 3 EveryNodeMustBeListed
complains 'order: 1 node is missing, the first is node 5 (add) %5 "y"'
order 1 3
try
expect 3 AllThatIsMissingIsCounted
complains 'order: 3 nodes are missing, the first is node 2 (expand) %2 "b0"'
order 1 3 2 4 5 b0
try
expect 3 ANodeIsListedOnce
complains 'order:6: node 2 (expand) %2 "b0" is already in line 3'
order 1 3 2 nobody 4 5
try
expect 3 UnknownNames
complains "order:4: graph @twins: unknown node or value 'nobody'"
order 1 3 2 6 4 5
try
expect 3 UnknownNumbers
complains "order:4: graph @twins: unknown node or value '6'"
order 1 3 2 '%99' 4 5
try
expect 3 UnknownIds
complains "order:4: graph @twins: unknown node or value '%99'"
order 1 '"3' 2 4 5
try
expect 3 QuotesEnd
complains 'order:2: "3 is not a quoted name'
order 1 '"3"' 2 4 5
try
expect 3 QuotedNumbersAreNames
complains "order:2: graph @twins: unknown node or value '\"3\"'"
order 3 1 2 4 5
try
expect 3 NodesComeAfterWhatTheyNeed
complains "order"
printf '\n# nothing\n' >"$work/order"
try
expect 3 OnlyAComment
complains "5 nodes are missing"
: >"$work/order"
try
expect 3 EmptyFiles
complains "the file is empty"
run plan "$twins" --order atuo
expect 5 NoSuchFile
complains "--order: 'atuo' is not given, auto or a file: "
run plan "$examples/mlp.stow" --order "$work/auto.plan"
expect 3 APlanOfAnotherGraph
complains "the plan is for graph"
run plan - --order -
expect 2 OneStandardInput
complains "cannot both be standard input"
order 1 3 2 4 5
cp "$work/order" "$work/before"
run plan "$twins" --order "$work/order" -o "$work/order"
expect 2 TheOrderIsNotOverwritten
complains "is the input file"
same "$work/order" "$work/before"

# Names that need quotes
write_graph names '%0 = input "x" : f32[4]' '%1 "7" = neg(%0) : f32[4]' \
  '%2 "a, b" = neg(%1) : f32[4]' '%3 "c#d" = neg(%2) : f32[4]' '%4 "\x0a\"" = neg(%3) : f32[4]' \
  'return %4'
printf '%s\n' '"7"' '"a, b"' 'c#d # not the name' '"\n\""' >"$work/order"
run plan "$work/names.stow" --order "$work/order"
expect 0 NamesInQuotes

# Capacities: what is ruled out, for this order or for any, and what is not
run plan "$twins" --capacity "$auto"
expect 1 TheGivenOrderDoesNotFit
lists "no placement can fit"
lists "--order auto may find one that fits"
run plan "$twins" --capacity "$auto" --order auto
expect 0 AnotherOrderFits
run plan "$twins" --capacity 1kB --order auto
expect 1 NoOrderFits
complains "@twins does not fit"
lists "no order can fit: "
run plan "$twins" --capacity 1kB
expect 1 NoOrderFitsEither
lists "no order can fit: when "
finish
