# The summary: names of any kind, all sizes, and terminals.
. "$(dirname "$0")/harness.sh"
escape=$(printf '\033')

# graph NAME LINE...: the summary of a graph with these lines
graph() {
  write_graph "$@"
  file=$work/$1.stow
  run plan "$file"
  expect 0 "Summary ($file)"
  # In characters, and with room for the three bytes of an ellipsis or two.
  if awk 'length($0) > 86 { exit 1 }' "$out"; then pass; else fail "wider than 80 columns"; fi
}

graph one '%0 = input "x" : f32[3]' 'return %0'
says "1 node, 1 value: 1 buffer, 0 views"
says "12 B       12 B"
graph sizes '%0 = input "a" : u8[1023]' '%1 = input "b" : u8[1024]' '%2 = input "c" : u8[10485]' \
  '%3 = input "d" : u8[1048575]' '%4 = input "e" : u8[157286400]' \
  '%5 = input "f" : u8[2199023255552]' 'return %0, %1, %2, %3, %4, %5'
for size in "1023 B" "1.00 KiB" "10.2 KiB" "1.00 MiB" "150 MiB" "2.00 TiB"; do says "$size"; done
graph rounded '%0 = input "a" : u8[17600]' '%1 = input "b" : u8[10235]' '%2 = input "c" : u8[102348]' \
  '%3 = input "d" : u8[1048063]' '%4 = input "e" : u8[1048064]' 'return %0, %1, %2, %3, %4'
for size in "17.2 KiB" "10.0 KiB" "99.9 KiB" "1023 KiB" "1.00 MiB"; do says "$size"; done
graph huge '%0 = input "a" : u8[4611686018427387904]' 'return %0'
says "4.00 EiB"
says "100.0 %"
graph nothing '%0 = input "a" : f32[0]' '%1 = relu(%0) : f32[0]' 'return %1'
says "1 without a slot"
graph views '%0 = input "a" : f32[4]' '%1 = reshape(%0) : f32[2, 2]' 'return %1'
says "1 view"
says "without sharing             16 B"

# Steps count from 0; padding explains a bound above the load
graph steps '%0 = input "x" : f32[4]' '%1 = relu(%0) : f32[4]' '%2 = relu(%1) : f32[4]' 'return %2'
says "peak at step 1 (of 0 … 2), relu %1: 32 B in 2 values"
says "lower bound                 80 B"
says "The lower bound is 48 B above that: padding up to the alignment,"
says "without sharing             48 B"
says "2 buffers, 0 views, 1 shared"
says "in place        1 result in the bytes of a dead operand"
says "order           given"
graph whole '%0 = input "x" : f32[16]' '%1 = relu(%0) : f32[16]' 'return %1'
says_not "The lower bound is"

# Names
long=a_very_long_name_that_nobody_would_type/but_some_exporter_writes/layers/17/attention/query
dims="f32[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]"
graph long "%0 = input \"$long\" : $dims" "%1 = relu(%0) : $dims" 'return %1'
says '%0 "a_very_long'
says_not "$long"
says "…"
graph utf8 '%0 = input "größe→ü" : f32[4]' 'return %0'
says '%0 "größe→ü"'
graph controls '%0 = input "a\x1b[31m\n\x7f" : f32[4]' 'return %0'
says '%0 "a\x1B[31m\n\x7F"'
says_not "$escape"
graph invalid '%0 = input "\xff\xc3(\xe2\x82" : u8[4]' 'return %0'
says '%0 "\xFF\xC3(\xE2\x82"'
graph forbidden '%0 = input "\xc2\x9b\xed\xa0\x80" : u8[4]' 'return %0'
says '%0 "\xC2\x9B\xED\xA0\x80"'

# Scratch counts at the peak
graph scratch '%0 = input "x" : f32[16]' \
  '%1 = relu(%0) : f32[16] with {scratch = [4096, 64]}' 'return %1'
says "scratch"
says "4096"
says "without sharing           4224 B"

# Terminals: colours and width, and no colours where they are not wanted
if script -qec true /dev/null >/dev/null 2>&1 </dev/null; then
  on_terminal() {
    script -qec "stty cols $1; TERM=xterm $2 '$stowage' plan '$examples/transformer.stow'" \
      /dev/null >"$out" 2>"$err" </dev/null
    code=$?
  }
  on_terminal 80 ""
  expect 0 TerminalsGetColours
  says "$escape[1m@block$escape[0m"
  on_terminal 80 NO_COLOR=1
  expect 0 NoColour
  says_not "$escape"
  on_terminal 80 NO_COLOR=
  expect 0 AnEmptyNoColourIsNone
  says "$escape["
  on_terminal 80 TERM=dumb
  expect 0 DumbTerminals
  says_not "$escape"
  on_terminal 60 NO_COLOR=1
  expect 0 NarrowTerminals
  says "…"
  if sed -n '/^  value/,$p' "$out" | tr -d '\r' | awk 'length($0) > 66 { exit 1 }'; then pass; else
    fail "wider than the terminal"
  fi
  on_terminal 10 NO_COLOR=1
  expect 0 VeryNarrowTerminals
  on_terminal 200 NO_COLOR=1
  expect 0 VeryWideTerminals
  says "f32[1, 256, 1408]"
else
  skip "no script(1) that runs a command: terminals are not tested"
fi
finish
