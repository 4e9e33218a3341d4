#!/bin/sh
# Solves the published instances and writes their table into bench/instances.md.
# Usage: bench/update_instances.sh BUILD_DIR [NODES]
# BUILD_DIR has make_instances and stowage_command built; NODES is the budget of each instance, 1M.
set -eu
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  sed -n 's/^# Usage: /usage: /p' "$0" >&2
  exit 2
fi
build=$(cd "$1" && pwd)
nodes=${2:-1M}
cd "$(dirname "$0")"
work=$(mktemp -d "${TMPDIR:-/tmp}/stowage-instances.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$work/csv"
"$build/bench/make_instances" "$work/csv"
for file in "$work"/csv/*-100-0.csv; do
  family=$(basename "$file" -100-0.csv)
  if ! grep -q "^| \`$family\` |" instances.md; then
    echo "update_instances.sh: instances.md does not describe the family $family" >&2
    exit 1
  fi
done

{
  printf '\n%s\n' "Each within \`--nodes $nodes\` by the strategy \`auto\`."
  for count in 100 1000 10000; do
    printf '\n### %s buffers\n\n' "$count" | sed 's/000 /,000 /'
    "$build/tools/stowage/stowage" solve "$work"/csv/*-"$count"-*.csv --nodes "$nodes" --format markdown
  done
  echo
} >"$work/table"
awk -v table="$work/table" '
  /^<!-- end of the table/ { skipped = 0 }
  !skipped { print }
  /^<!-- the table/ { while ((getline line < table) > 0) print line; skipped = 1 }
' instances.md >"$work/instances.md"
cat "$work/instances.md" >instances.md
