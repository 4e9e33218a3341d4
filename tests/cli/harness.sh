# Shared by the scripts in this folder. Usage: sh test_x.sh STOWAGE SOURCE_DIR
#
#   run ARG...           runs the command; output in $out and $err (files), exit code in $code
#   expect CODE NAME     the last run exited with CODE
#   says TEXT            its standard output contains TEXT
#   complains TEXT       its standard error contains TEXT, in one line that begins with "stowage: "
#   lists TEXT           its standard error contains TEXT, in an indented line below such a line
#   skip REASON          prints what is skipped
#   skip_all REASON      ends the script as skipped
#   finish               reports, and exits
set -u
stowage=$1
root=$2
examples=$root/examples
if [ ! -x "$stowage" ]; then
  echo "FAIL: $stowage is not a program"
  exit 1
fi
LC_ALL=C
export LC_ALL
unset STOWAGE_NO_REUSE RLX_ARENA_NO_REUSE NO_COLOR 2>/dev/null

work=$(mktemp -d "${TMPDIR:-/tmp}/stowage-cli.XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
out=$work/out
err=$work/err
code=0
name=
checks=0
failures=0
skips=0

pass() {
  checks=$((checks + 1))
}

fail() {
  checks=$((checks + 1))
  failures=$((failures + 1))
  echo "FAIL: $name: $*"
  sed 's/^/  out: /' "$out" | head -n 20
  sed 's/^/  err: /' "$err" | head -n 20
}

# skip_all REASON: nothing here can be tried; ctest shows the test as skipped
skip_all() {
  echo "SKIP: $*"
  exit 77
}

skip() {
  skips=$((skips + 1))
  echo "SKIP: $*"
}

run() {
  "$stowage" "$@" >"$out" 2>"$err" </dev/null
  code=$?
}

expect() {
  name=$2
  if [ "$code" -eq "$1" ]; then pass; else fail "exit code $code instead of $1"; fi
}

says() {
  if grep -qF -e "$1" "$out"; then pass; else fail "standard output lacks: $1"; fi
}

says_not() {
  if grep -qF -e "$1" "$out"; then fail "standard output holds: $1"; else pass; fi
}

complains() {
  if grep -F -e "$1" "$err" | grep -q '^stowage: '; then pass; else
    fail "standard error lacks: $1"
  fi
  # what a message lists follows indented
  if [ "$(grep -cv '^  ' "$err")" -eq 1 ]; then pass; else fail "standard error is not one message"; fi
}

lists() {
  if grep -F -e "$1" "$err" | grep -q '^  '; then pass; else fail "standard error does not list: $1"; fi
}

silent() {
  if [ ! -s "$out" ] && [ ! -s "$err" ]; then pass; else fail "something was printed"; fi
}

same() {
  if cmp -s "$1" "$2"; then pass; else
    fail "$1 and $2 differ"
    diff "$1" "$2" | head -n 10
  fi
}

differ() {
  if cmp -s "$1" "$2"; then fail "$1 and $2 are the same"; else pass; fi
}

# write_graph NAME LINE...: a file $work/NAME.stow with a graph of these lines
write_graph() {
  graph_name=$1
  shift
  {
    echo "graph @$graph_name {"
    printf '  %s\n' "$@"
    echo "}"
  } >"$work/$graph_name.stow"
}

# The number in the report's header: arena, of a report in $1.
arena_of() {
  sed -n '1s/^# arena_size=\([0-9]*\) .*/\1/p' "$1"
}

# overlay PLAN: the same plan with every slot at offset 0
overlay() {
  sed '/^# offset/q' "$1"
  awk -F '	' '/^[0-9]/ { print $2, substr($3, 2) }' "$1" | sort -k 1,1n -k 2,2n |
    awk '{ print "0\t" $1 "\t%" $2 }'
  sed '1,/^# offset/d' "$1" | grep '^#'
}

finish() {
  echo "$checks checks, $failures failed, $skips skipped"
  [ "$failures" -eq 0 ]
  exit
}
