# The manual page is well formed and as complete as the help. The command uses public headers only.
. "$(dirname "$0")/harness.sh"
page=$root/docs/man/stowage.1

if command -v mandoc >/dev/null 2>&1; then
  mandoc -Tlint "$page" >"$out" 2>"$err"
  code=$?
  expect 0 ThePageIsWellFormed
  silent
  mandoc -Tascii "$page" 2>"$err" | sed "s/.$(printf '\010')//g" >"$work/text"
else
  skip "no mandoc: the page is not checked"
  sed 's/^\.Fl -/ --/; s/ Fl -/ --/g; s/ \([,.]\)$/\1/' "$page" >"$work/text"
fi
for command in plan run export solve check view diff inspect fmt; do
  run help $command
  expect 0 "HelpOfACommand ($command)"
  for option in $(sed -n 's/^  ... \(--[a-z0-9-]*\).*/\1/p' "$out"); do
    name="ThePageKnowsTheOption ($command $option)"
    if grep -qF -e "$option" "$work/text"; then pass; else fail "it does not"; fi
  done
done

# The default budget of plans is the library's
usual=$(sed -n 's/^#define STOW_PLAN_DEFAULT_NODES \([0-9]*\)000000$/\1M/p' \
  "$root/include/stowage/plan.h")
run help plan
name=TheUsualBudget
says "by default $usual, unless --time is given"
if tr -s ' \n' ' ' <"$work/text" | grep -qF "Without it and --time, $usual."; then pass; else
  fail "the page does not know $usual"
fi
for strategy in $(sed -n '/^Strategies:/,/^$/s/^  \([a-z][a-z-]*\)  .*/\1/p' "$out"); do
  name="TheStrategyIsDescribed ($strategy)"
  if grep -q "^\.It Cm $strategy\$" "$page"; then pass; else fail "not in the page"; fi
  if grep -q "^| \`$strategy\` |" "$root/docs/strategies.md"; then pass; else
    fail "not in docs/strategies.md"
  fi
done

# The examples run as printed, on the files that they name
sed -n '/^\.Sh EXAMPLES/,/^\.Sh DIAGNOSTICS/p' "$page" |
  awk '/^\.Ed/ { literal = 0 } literal { print } /^\.Bd/ { literal = 1 }' |
  sed 's/\\e/\\/g; s/^\$ //' >"$work/examples.sh"
mkdir "$work/examples"
cp "$examples"/*.stow "$examples"/*.onnx "$examples"/*.csv "$work/examples"
name=ThePageHasExamples
if [ "$(grep -c '^stowage ' "$work/examples.sh")" -ge 7 ]; then pass; else fail "too few"; fi
(
  stowage() { "$stowage" "$@"; }
  set -e
  cd "$work/examples"
  . "$work/examples.sh"
) >"$out" 2>"$err"
code=$?
expect 0 TheExamplesWork
says "@block in transformer.stow"
says "backward.plan: ok"
says "decode.plan: ok"
says_not "note: "
if [ -s "$work/examples/placed.csv" ]; then pass; else fail "no rows were written"; fi
if [ -s "$work/examples/cnn.h" ]; then pass; else fail "no header was written"; fi

# So do those of the examples' index
grep -o '`stowage [^`]*`' "$examples/README.md" | tr -d '`' >"$work/index.sh"
name=TheIndexNamesEveryExample
for file in "$examples"/*.stow "$examples"/*.onnx "$examples"/*.csv "$examples"/*.c; do
  if grep -qF "](${file##*/})" "$examples/README.md"; then pass; else fail "not ${file##*/}"; fi
done
while read -r line; do
  (
    stowage() { "$stowage" "$@"; }
    cd "$examples" && eval "$line"
  ) >"$out" 2>"$err" </dev/null
  code=$?
  expect 0 "TheIndexWorks ($line)"
done <"$work/index.sh"

name=OnlyPublicHeaders
: >"$err"
grep -hn '^#include' "$root"/tools/stowage/*.[ch] "$root"/tools/stowage/*/*.[ch] | sed 's/.*#include //' | sort -u >"$out"
while read -r header; do
  file=$(echo "$header" | tr -d '<>"')
  case $header in
    '<stowage/'*) [ -e "$root/include/$file" ] || fail "$header is not public" ;;
    '"base/text.h"' | '"export/api.h"' | '"report/api.h"' | '"request/api.h"' | '"exec/threads/pool.h"') ;;
    '"'*) [ -e "$root/tools/stowage/$file" ] || fail "$header is not the command's own" ;;
  esac
done <"$out"
pass
finish
