# The formats of `stowage plan`: each is well formed, reproducible, and complete for its readers.
. "$(dirname "$0")/harness.sh"
transformer=$examples/transformer.stow

for format in summary report plan json csv c; do
  run plan "$transformer" --format $format
  expect 0 "Format ($format)"
  if [ -s "$out" ]; then pass; else fail "nothing was written"; fi
  cp "$out" "$work/$format"
  run plan --format=$format "$transformer" -o "$work/$format.file"
  expect 0 "FormatToAFile ($format)"
  silent
  same "$work/$format" "$work/$format.file"
  if [ "$(tail -c 1 "$work/$format" | od -An -tu1 | tr -d ' ')" = 10 ]; then pass; else
    fail "the last line has no end"
  fi
done

name=ReportHasAHeaderAndRows
out=$work/report
says "# arena_size="
says "# offset	size	node"
name=SavedPlanIsASupersetOfTheReport
grep -e '^[0-9]' -e '^# arena_size=' -e '^# offset' "$work/plan" >"$work/rows"
same "$work/rows" "$work/report"
out=$work/csv
name=CsvHasItsColumns
says "id,lower,upper,size,alignment,offset,guard,kind,name"
out=$work/out

if command -v python3 >/dev/null 2>&1; then
  python3 - "$work/json" "$work/report" >"$out" 2>"$err" <<'PYTHON'
import json, sys
plan = json.load(open(sys.argv[1]))
header = open(sys.argv[2]).readline()
assert isinstance(plan, dict) and str(plan["arena_size"]) in header, plan.keys()
PYTHON
  code=$?
  expect 0 JsonIsWellFormed
else
  skip "no python3: json is not parsed"
fi

# The header compiles alone, twice in one file, as C and as C++
compile() {
  language=$1
  shift
  program=$work/main.$language
  printf '#include "arena.h"\n#include "arena.h"\nint main(void) { return 0; }\n' >"$program"
  "$@" -Wall -Wextra -Werror -pedantic -I"$work" -o "$work/main" "$program" >"$out" 2>"$err"
  code=$?
  expect 0 "TheHeaderCompiles ($*)"
}
cc=${CC:-cc}
cxx=${CXX:-c++}
for graph in "$transformer" "$examples/mlp.stow" "$examples/branches.stow"; do
  run plan "$graph" --format c -o "$work/arena.h"
  expect 0 CHeader
  if command -v "$cc" >/dev/null 2>&1; then compile c "$cc" -std=c11; else skip "no $cc"; fi
  if command -v "$cxx" >/dev/null 2>&1; then compile cc "$cxx" -std=c++17; else skip "no $cxx"; fi
done
run plan "$transformer" --format c --c-prefix my_model
expect 0 ThePrefixIsUsed
if grep -qi "my_model" "$out"; then pass; else fail "the prefix is not there"; fi
finish
