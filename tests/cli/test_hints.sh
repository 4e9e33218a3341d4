# Hints: whoever gives the options of a hint gets the arena that it names; none are shown where
# nothing helps.
. "$(dirname "$0")/harness.sh"

arena() { sed -n 's/^  arena  *\([0-9][0-9]*\) .*/\1/p' "$out" | head -n 1; }
hints() { sed -n 's/^    {"change": "\(.*\)", "arena_size": \([0-9]*\)}.*/\2 \1/p' "$1"; }

# honest COUNT FILE ARGS: FILE planned with ARGS, words for a shell, has COUNT hints, the best one
# first, and each of them is what a plan with its options has.
honest() {
  count=$1 file=$2 args=${3:-}
  label="$(basename "$file") $args"
  eval "run plan \"\$file\" $args"
  expect 0 "AModelIsPlanned ($label)"
  number=$(arena)
  cp "$out" "$work/summary"
  eval "run plan \"\$file\" $args --format json"
  expect 0 "AlsoAsJson ($label)"
  hints "$out" >"$work/hints"
  found=$(wc -l <"$work/hints")
  if [ "$found" -eq "$count" ]; then pass; else fail "$found hints"; fi
  if cut -d ' ' -f 1 "$work/hints" | sort -nc; then pass; else fail "not the smallest first"; fi
  while read -r bytes options; do
    eval "run plan \"\$file\" $args $options --hints never"
    expect 0 "AHintIsPlanned ($label: $options)"
    if [ "$(arena)" -eq "$bytes" ] && [ "$bytes" -lt "$number" ]; then pass; else
      fail "$(arena) instead of $bytes, of $number"
    fi
    name="TheSummaryHasTheDifference ($label: $options)"
    if grep -qE "^  saves +$((number - bytes)) B " "$work/summary"; then pass; else fail "it does not"; fi
  done <"$work/hints"
}

# Integers instead of floats.
cat >"$work/q.stow" <<'END'
graph @q {
  %0 = input "x" : u8[64, 64]
  %1 = param "s" {data = [0x1p-4]} : f32[]
  %2 = dequantize_linear(%0, %1) : f32[64, 64]
  %3 = sigmoid(%2) : f32[64, 64]
  %4 "y" = quantize_linear(%3, %1) : u8[64, 64]
  return %4
}
END
honest 1 "$work/q.stow" "--kernels stowage --rewrite exact"
honest 2 "$work/q.stow" "--kernels stowage --rewrite near"

honest 2 "$examples/digits.onnx"
honest 1 "$examples/digits.onnx" "--kernels none --order given"
honest 3 "$examples/digits.onnx" "--kernels fastest"
honest 1 "$examples/encoder.onnx" "--bind batch=1,length=32"
honest 2 "$examples/decode.onnx" "--bind batch=1,past=15"
honest 0 "$examples/decode.onnx" "--bind batch=1,past=15 --alias 'present.*=past.*'"
honest 0 "$examples/decode.stow" "--bind past=100,max=512" # 8 bytes: not worth an option
honest 1 "$examples/cnn.stow" "--bind batch=1"
honest 1 "$examples/transformer.stow"
honest 1 "$examples/transformer.stow" "--capacity 20MiB --align 256 --strategy best-fit"
# An order, names that a shell would take apart, and all together
write_graph order '%0 = input "an input" : f32[1, 64]' "%1 = input \"it's\" : f32[32]" '%2 = neg(%1) : f32[32]' \
  '%3 = expand(%0) : f32[16, 64]' '%4 = expand(%0) : f32[16, 64]' '%5 = reduce(%3) {axes = [0]} : f32[1, 64]' \
  '%6 = reduce(%4) {axes = [0]} : f32[1, 64]' '%7 = add(%5, %6) : f32[1, 64]' 'return %2, %7'
honest 5 "$work/order.stow"
lists_hint() { if grep -qxF -e "$1" "$work/options"; then pass; else fail "no $1"; fi; }
cut -d ' ' -f 2- "$work/hints" >"$work/options"
name=HintsOfAnOrder
lists_hint "--order auto --io consume"
lists_hint "--io consume"
lists_hint "--order auto"
lists_hint "--io 'an input=consume'"
lists_hint "--io %1=consume"
honest 0 "$work/order.stow" "--order auto --io consume"
# Caches, which stay, and a pattern beside an output that it must not name
write_graph caches '%0 = input "in.0.k" : f32[64]' '%1 = input "in.0.v" : f32[64]' '%2 = input "x" : f32[64]' \
  '%3 "out.0.k" = add(%0, %2) : f32[64]' '%4 "out.0.v" = mul(%1, %2) : f32[64]' '%5 "y" = neg(%2) : f32[64]' \
  'return %3, %4, %5'
run plan "$work/caches.stow"
expect 0 AnAliasForSeveral
says "--alias 'out.0.*=in.0.*'"
honest 5 "$work/caches.stow"
write_graph appended '%0 = input "new" : f32[1, 64]' '%1 = input "cache" : f32[16, 64]' \
  '%2 = reshape(%1) : f32[16, 64]' '%3 = kv_append(%2, %0) {axis = 0} : f32[16, 64]' '%4 = neg(%3) : f32[16, 64]' \
  'return %4'
run plan "$work/appended.stow"
expect 0 CachesAreKept
says_not "cache=consume"
says_not "--io consume"

# None
run plan "$examples/digits.onnx" --io consume --stream auto
expect 0 NothingHelps
says_not "hints: "
run plan "$examples/digits.onnx" --hints never
expect 0 NoneAreWanted
says_not "hints: "
run plan "$examples/digits.onnx" --hints never --format json
says '"hints": []'
for others in "--time 10s" "--preset rlx"; do
  run plan "$examples/digits.onnx" $others
  expect 0 "ThereAreNone ($others)"
  says_not "hints: "
done
run plan "$examples/training.stow" --graph forward --graph backward
expect 0 SeveralGraphsHaveNone
says_not "hints: "
for format in report plan csv c; do
  run plan "$examples/digits.onnx" --format $format
  expect 0 "OtherFormatsHaveNone ($format)"
  says_not "consume"
done

# Exit codes, also where the arena is too small
run plan "$examples/digits.onnx" --hints sometimes
expect 2 UnknownWhen
complains "hints"
run plan "$examples/digits.onnx" --capacity 32KiB
expect 1 APlanThatDoesNotFit
says "--io image=consume"
for command in run diff export; do
  run $command "$examples/digits.onnx" --hints never
  expect 2 "PicturesAndPlansHaveHints ($command)"
  complains "--hints is an option of stowage plan"
done

# A plan that spends more than all hints may has none, unless they are asked for
hard=$root/tests/golden/rlx/hazard_3.stow
run plan "$hard" --nodes 1200k
expect 0 APlanThatTakesLong
says_not "hints: "
run plan "$hard" --nodes 1200k --hints always
expect 0 HintsThatTakeLonger
says "--order auto"
# With less to spend, what saves most is tried first
run plan "$hard" --nodes 400k
expect 0 SomeHints
says "--order auto"

# The same bytes again
run plan "$work/order.stow" --hints always
cp "$out" "$work/first"
run plan "$work/order.stow" --hints always
name=TheSameHints
same "$work/first" "$out"

# Pictures
run view "$examples/digits.onnx" --format json
expect 0 PicturesHaveHints
says '"hints":[{"change":"--stream 1","arena":15552},{"change":"--io image=consume","arena":31360}]'
run view "$examples/digits.onnx" -o "$work/digits.html"
expect 0 PagesToo
name=PagesToo
if grep -qF '"change":"--io image=consume"' "$work/digits.html"; then pass; else fail "none"; fi
run view "$examples/digits.onnx" --format json --hints never
expect 0 PicturesWithoutHints
says '"hints":[]'
run view "$examples/digits.onnx" --ascii
expect 0 TextHasNone
says_not "consume"
finish
