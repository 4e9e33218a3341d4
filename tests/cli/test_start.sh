# `--start`: planning and solving again from an earlier result.
. "$(dirname "$0")/harness.sh"

cat >"$work/before.stow" <<'END'
graph @g {
  %0 = input "x" : f32[64, 64]
  %1 = param "w1" : f32[64, 256]
  %2 "a" = matmul(%0, %1) : f32[64, 256]
  %3 = param "w2" : f32[256, 64]
  %4 "b" = matmul(%2, %3) : f32[64, 64]
  return %4
}
END
cat >"$work/after.stow" <<'END'
graph @g {
  %0 = input "x" : f32[64, 64]
  %1 = param "w1" : f32[64, 256]
  %2 = param "w2" : f32[256, 64]
  %3 "new1" = matmul(%0, %1) : f32[64, 256]
  %4 "new2" = matmul(%3, %2) : f32[64, 64]
  %5 "a" = matmul(%4, %1) : f32[64, 256]
  %6 "b" = matmul(%5, %2) : f32[64, 64]
  return %6
}
END

# Plans
run plan "$work/before.stow" --format csv -o "$work/before.csv"
expect 0 APlanIsWrittenAsCsv
run plan "$work/before.stow" --start "$work/before.csv"
expect 0 TheSameGraphKeepsAll
says "  start           5 of 5 buffers matched: 5 kept, 0 moved"
run plan "$work/before.stow" --start "$work/before.csv" --format csv
expect 0 TheSamePlan
same "$work/before.csv" "$out"
run plan "$work/after.stow" --start "$work/before.csv"
expect 0 AChangedGraph
says "  start           5 of 7 buffers matched: "
says "; 2 new"
run plan "$work/after.stow" --start "$work/before.csv" --format json
expect 0 AsJson
says '  "start": {"matched": 5, "kept": '
says ', "new": 2},'
run plan "$work/after.stow"
expect 0 NoStart
says_not "  start  "
cp "$work/before.csv" "$work/loop.csv"
run plan "$work/after.stow" --start "$work/loop.csv" --format csv -o "$work/loop.csv"
expect 0 TheNewPlanMayReplaceTheEarlier
run plan "$work/after.stow" --start "$work/loop.csv"
expect 0 AndIsTheNextStart
says "  start           7 of 7 buffers matched: 7 kept, 0 moved"
printf 'id,lower,upper,size,offset\nq,0,1,3,0\n' >"$work/other.csv"
run plan "$work/after.stow" --start "$work/other.csv"
expect 0 NothingMatches
says "  start           no buffer matched, 7 new"
run plan "$work/before.stow" --format plan -o "$work/before.plan"
expect 0 ASavedPlan
run plan "$work/before.stow" --start "$work/before.plan"
expect 0 ASavedPlanOfTheSameGraph
says "  start           5 of 5 buffers matched: 5 kept, 0 moved"
run export "$examples/mlp.stow" --random 1 --start "$work/before.csv" -o "$work/exported"
expect 0 ExportsTakeAStart

# Placements
run solve "$examples/buffers.csv" -o "$work/placed.csv"
expect 0 APlacement
run solve "$examples/buffers.csv" --start "$work/placed.csv" --nodes 0
expect 0 ItIsKept
says "  start           15 of 15 buffers matched: 15 kept, 0 moved"
says "  search          0 nodes"
run solve "$examples/buffers.csv" --start "$work/placed.csv" --format csv
expect 0 TheSameRows
same "$work/placed.csv" "$out"
{ cat "$examples/buffers.csv" && echo 'another,3,5,512'; } >"$work/changed.csv"
run solve "$work/changed.csv" --start "$work/placed.csv" --format json
expect 0 RowsAreMatchedById
says '  "start": {"matched": 15, "kept": '
says ', "new": 1},'
run solve "$work/placed.csv" --ignore-offsets --start "$work/placed.csv"
expect 0 OffsetsAreIgnoredAndAStart
says "15 kept, 0 moved"

# Bad starts
run plan "$work/after.stow" --start "$work/missing.csv"
expect 5 AMissingFile
complains "missing.csv"
run plan "$work/after.stow" --start "$work/before.plan"
expect 3 ASavedPlanOfAnotherGraph
complains "--start: $work/before.plan is a saved plan of another graph, and has no names"
run solve "$examples/buffers.csv" --start "$work/before.plan"
expect 3 ASavedPlanIsNoPlacement
complains "is a saved plan"
run plan "$work/after.stow" --start "$examples/buffers.csv"
expect 3 BuffersWithoutOffsets
complains "has no offsets; expected a plan or placement as CSV"
run plan "$work/after.stow" --start "$work/before.stow"
expect 3 AGraphIsNoPlan
complains "before.stow:1:1: header: columns missing"
run plan - --start - <"$work/before.stow"
expect 2 OnlyOneStandardInput
complains "FILE and --start cannot both be standard input"
run solve - --start - <"$work/before.stow"
expect 2 OnlyOneStandardInputOfSolve
complains "FILE and --start cannot both be standard input"
run plan "$work/before.stow" "$work/after.stow" --start "$work/before.csv"
expect 2 SetsTakeNoStart
complains "--start is for one graph, not for several in one arena"
finish
