# In-place results, copy elision, and --explain.
. "$(dirname "$0")/harness.sh"
block=$examples/transformer.stow

arena() { sed -n 's/^  arena  *\([0-9]*\) B.*/\1/p' "$out"; }

# narrow: no line is wider than 80 columns, in characters
narrow() {
  if LC_ALL=C.UTF-8 awk 'length($0) > 80 { exit 1 }' "$out" || awk 'length($0) > 90 { exit 1 }' "$out"; then
    pass
  else
    fail "wider than 80 columns"
  fi
}

# Each switch costs bytes, and the summary says what is shared
run plan "$block"
expect 0 ResultsAreWrittenInPlace
says "in place        5 results in the bytes of dead operands"
says "19 buffers, 4 views, 5 shared"
says "without sharing       24383488 B"
shared=$(arena)
run plan "$block" --no-in-place
expect 0 NothingIsWrittenInPlace
says_not "in place  "
says "24 buffers, 4 views"
says "without sharing       24383488 B"
name=InPlaceTakesLess
if [ "$shared" -lt "$(arena)" ]; then pass; else fail "$shared and $(arena)"; fi

write_graph parts '%0 = input "x" : f32[1024]' \
  '%1 "a" = sqrt(%0) : f32[1024]' \
  '%2 "b" = neg(%0) : f32[1024]' \
  '%3 "whole" = concat(%1, %2) {axis = 0} : f32[2048]' \
  '%4 = exp(%3) : f32[2048]' 'return %4'
run plan "$work/parts.stow"
expect 0 OperandsOfConcatAreMadeInside
says "without copies  2 operands of concat built in its result"
says "without sharing          28672 B"
home=$(arena)
run plan "$work/parts.stow" --keep-copies
expect 0 CopiesAreKept
says_not "without copies"
says "without sharing          28672 B"
name=HomesTakeLess
if [ "$home" -lt "$(arena)" ]; then pass; else fail "$home and $(arena)"; fi
run plan "$work/parts.stow" --no-in-place --keep-copies --format plan -o "$work/plain.plan"
expect 0 PlainPlansAreSaved
run check "$work/parts.stow" "$work/plain.plan"
expect 0 PlainPlansAreProven
run plan "$work/parts.stow" --format plan -o "$work/shared.plan"
expect 0 SharingPlansAreSaved
run check "$work/parts.stow" "$work/shared.plan"
expect 0 SharingPlansAreProven
overlay "$work/shared.plan" >"$work/wrong.plan"
run check "$work/parts.stow" "$work/wrong.plan"
expect 1 WrongOnesAreNot

# Concats of concats, views of operands, operands in place: without sharing, all plans are the same
write_graph dense '%0 = input "x" : f32[1, 64]' '%1 = exp(%0) : f32[1, 64]' \
  '%2 = neg(%1) : f32[1, 64]' '%3 = concat(%1, %2) {axis = 1} : f32[1, 128]' \
  '%4 = reshape(%3) : f32[128]' '%5 = neg(%4) : f32[128]' \
  '%6 = reshape(%5) : f32[1, 128]' '%7 = concat(%3, %6) {axis = 1} : f32[1, 256]' \
  '%8 = concat(%1, %2, %6) {axis = 1} : f32[1, 256]' '%9 = add(%7, %8) : f32[1, 256]' 'return %9'
unshared() { sed -n 's/^  without sharing  *\([0-9]*\) B.*/\1/p' "$out"; }
run plan "$work/dense.stow"
expect 0 ConcatsOfConcats
says "without copies "
folded=$(unshared)
run plan "$work/dense.stow" --no-in-place --keep-copies
expect 0 ConcatsApart
name=WithoutSharingIsTheSame
if [ "$folded" -eq "$(unshared)" ]; then pass; else fail "$folded and $(unshared)"; fi

# Along an inner axis, values lie in the rows of the whole, for kernels that are run row by row
write_graph rows '%0 = input "x" : f32[2, 4, 512]' '%1 "a" = exp(%0) : f32[2, 4, 512]' \
  '%2 "b" = neg(%0) : f32[2, 4, 512]' '%3 "wide" = concat(%1, %2) {axis = 1} : f32[2, 8, 512]' \
  '%4 "short" = concat(%2, %1) {axis = 2} : f32[2, 4, 1024]' '%5 "turned" = transpose(%2) {perm = [1, 0, 2]} : f32[4, 2, 512]' \
  '%6 "sum" = reduce(%3) {axes = [1, 2]} : f32[2, 1, 1]' '%7 "c" = reduce(%4) {axes = [1, 2]} : f32[2, 1, 1]' \
  '%8 "d" = reduce(%5) {axes = [1, 2]} : f32[4, 1, 1]' 'return %6, %7, %8'
run plan "$work/rows.stow" --kernels stowage --hints never --explain
expect 0 PartsLieInRows
says "built inside the result of concat (1, 16.0 KiB)"
says "copied by concat (1, 16.0 KiB): a node cannot be run row by row"
says "copied by concat (2, 32.0 KiB): the operand's rows there are short"
says 'transpose %5 "turned"'
write_graph wide '%0 = input "x" : f32[2, 4, 512]' '%1 "a" = exp(%0) : f32[2, 4, 512]' \
  '%2 "b" = neg(%0) : f32[2, 4, 512]' '%3 = concat(%1, %2) {axis = 1} : f32[2, 8, 512]' \
  '%4 = reduce(%3) {axes = [1, 2]} : f32[2, 1, 1]' 'return %4'
run plan "$work/wide.stow" --kernels stowage --hints never
expect 0 PitchedValuesNeedLess
says "arena                    49160 B"
run plan "$work/wide.stow" --kernels stowage --hints never --no-pitch
expect 0 AllValuesAreDense
says "arena                    81920 B"
run plan "$work/wide.stow" --hints never
expect 0 OtherExecutorsGetDenseValues
says "arena                    81920 B"
run plan "$work/rows.stow" --kernels stowage --hints never --format plan -o "$work/rows.plan"
run check "$work/rows.stow" "$work/rows.plan"
expect 0 PlansWithRowsAreProven
run run "$work/rows.stow" --plan "$work/rows.plan" --random 1 --check --paranoid
expect 0 PlansWithRowsRun
says "the same bits as a run without shared bytes"
sed 's/^# rows\.1=2,16384$/# rows.1=2,12288/' "$work/rows.plan" >"$work/wrong.plan"
run check "$work/rows.stow" "$work/wrong.plan"
expect 1 OtherRowsAreRefused

# Presets of others share nothing new
run plan "$block" --preset rlx-0.2.2
expect 0 OldPresetsShareNothingNew
says_not "in place  "

# --explain
run plan "$block" --explain
expect 0 ATransformerBlockIsExplained
narrow
says "results in place                 5  4.25 MiB    2  1.00 MiB"
says "views                            4  2.00 MiB    0       0 B"
says "copies left: 0, 0 B"
says "given order           17305600 B   16.5 MiB   bound 17305600 B"
says "  any-order bound "
says "at the peak, these hold bytes twice:"
says '  rms_norm %18 is not in place of %16 "residual" (512 KiB):'
says '    its bytes are read later, by add %27 "y"'
says "in place (5, 4.25 MiB)"
says '    24  mul %24                %21 "gate"      1.38 MiB'
says "not in place (1, 512 KiB): the operand's bytes are read later"
says '    18  rms_norm %18  %16 "residual"  add %27 "y"  512 KiB'
says "not in place (1, 512 KiB): the operand is kept for the caller"
says_not "more; --format json"
run plan "$work/parts.stow" --explain
expect 0 HomesAreExplained
says "built inside the result of concat (2, 8.00 KiB)"
says '     3  sqrt %1 "a"  %3 "whole"  4.00 KiB'
run plan "$work/parts.stow" --explain --keep-copies
expect 0 CopiesThatWereWantedAreNotExplained
says_not "concat (2"
run plan "$block" --explain --no-reuse
expect 0 NothingToExplain
run plan "$examples/encoder.onnx" --bind batch=1,length=128 --rewrite exact,-blocks,-products --explain
expect 0 AModelIsExplained
narrow
says "new order  "
says "given order  "
says "copied, not a view (8, 128 KiB): the operand's bytes are not contiguous there"
says "  layer0.query.heads  layer0.query.split  16.0 KiB"

# Long lists are cut, the largest first
{
  echo 'graph @long {'
  echo '  %0 = input "x" : f32[64]'
  i=1
  while [ $i -le 50 ]; do
    echo "  %$i = neg(%$((i - 1))) : f32[64]"
    i=$((i + 1))
  done
  echo '  return %50'
  echo '}'
} >"$work/long.stow"
run plan "$work/long.stow" --explain
expect 0 LongListsAreCut
says "in place (49, "
says "  … and 37 more; --format json lists all"
run plan "$work/long.stow" --format json
expect 0 JsonListsAll
name=JsonHasEveryDecision
if [ "$(grep -c '"share": "in_place"' "$out")" -eq 50 ]; then pass; else fail "it has not"; fi

run plan "$block" --explain --format json
expect 2 OnlyTheSummaryIsExplained
complains "--format json has 'decisions'"
finish
