#!/bin/sh
# The house rules that a compiler does not check: layering, banned calls, line lengths, loose ends.
# Prints every offence and exits 1 if there was one.
set -u
cd "$(dirname "$0")/.." || exit 2

offences=$(mktemp)
trap 'rm -f "$offences"' EXIT

offend() { printf '%s\n' "$1" >>"$offences"; }

# Rooms, and what each may know of others: its line in src/ROOM/CMakeLists.txt, which the build uses too.
rooms=$(sed -n 's/^stowage_room(\([a-z]*\) .*/\1/p' src/*/CMakeLists.txt)
knows() { sed -n "s/^stowage_room($1 KNOWS \([a-z ]*\) SOURCES.*/\1/p" "src/$1/CMakeLists.txt"; }
# … with what those know in turn.
knows_all() {
  for known in $(knows "$1"); do
    echo "$known"
    knows_all "$known"
  done | sort -u | tr '\n' ' '
}
# Public headers by the room that implements them.
headers_of() {
  case $1 in
    graph) echo 'type op graph text' ;;
    analysis) echo 'sharing' ;;
    place) echo 'place csv' ;;
    plan) echo 'plan set formula' ;;
    exec) echo 'kernel exec' ;;
    npy) echo 'npy kernel' ;; # stow_tensor
    *) echo "$1" ;;
  esac
}

# A room includes files of its own and of base, api.h of rooms it knows, and public headers of those
# and of what they know.
for room in $rooms; do
  direct=" $(knows "$room") "
  headers=" $(headers_of "$room") "
  for known in $(knows_all "$room"); do headers="$headers$(headers_of "$known") "; done
  for file in $(git ls-files -co --exclude-standard "src/$room/*.c" "src/$room/*.h" ':!src/export/program'); do
    [ -f "$file" ] || continue
    sed -n 's/^#include "\([a-z_/]*\.h\)".*/\1/p' "$file" | sort -u | while read -r header; do
      other=${header%%/*}
      case $header in
        "$room"/* | base/*) ;;
        "$other"/api.h)
          case $direct in *" $other "*) ;; *) offend "$file: room $room must not know $other" ;; esac ;;
        *) offend "$file: \"$header\" belongs to another room: only its api.h may be included" ;;
      esac
    done
    sed -n 's/^#include <stowage\/\([a-z]*\)\.h>.*/\1/p' "$file" | sort -u | while read -r header; do
      case $headers in
        *" $header "*) ;;
        *) offend "$file: room $room must not include <stowage/$header.h>" ;;
      esac
    done
  done
done

# The checker of plans derives everything again: it knows neither analysis, nor placement, nor the planner.
for file in $(git ls-files -co --exclude-standard 'src/plan/check/*.c' 'src/plan/check/*.h'); do
  [ -f "$file" ] || continue
  grep -nE '^#include "(analysis|place|flow|schedule|plan/(make|order|set))/' "$file" |
    while read -r line; do offend "$file:$line: the checker shares no code with the planner"; done
done

# Kernels stand on one header and each other: an exported program has nothing else.
for file in $(git ls-files -co --exclude-standard 'src/exec/kernels/*.c' 'src/exec/kernels/*.h'); do
  grep -nE '^#include ("|<stowage/)' "$file" |
    grep -vE '<stowage/(kernel\.h|ops\.def)>|"exec/kernels/' |
    while read -r line; do offend "$file:$line: kernels include <stowage/kernel.h> and kernels only"; done
done
# They read attributes by number, which a program finds once; names are for callers' kernels.
for file in $(git ls-files -co --exclude-standard 'src/exec/kernels/*.[ch]' ':!src/exec/kernels/support'); do
  grep -nE 'stow_kernel_(attr|int|float|bool|is)\(' "$file" |
    while read -r line; do offend "$file:$line: attributes are read by number (support/attrs.h)"; done
done
# Files of every exported program are text to the room that has them, and stand on kernels.
for file in $(git ls-files -co --exclude-standard 'src/export/program/*.[ch]'); do
  grep -nE '^#include ("|<stowage/)' "$file" |
    grep -vE '<stowage/kernel\.h>|"(exec/kernels|program)/|"run/random\.h"' |
    while read -r line; do offend "$file:$line: exported code includes kernels and its own files only"; done
done

# Newlib, which firmware has, lacks the macros of <inttypes.h> next to gcc's <stdint.h>.
for file in $(git ls-files -co --exclude-standard 'src/exec/kernels/*.[ch]' 'src/export/program/*.[ch]'); do
  grep -nE '<inttypes\.h>|PRI[diouxX][0-9]' "$file" |
    while read -r line; do offend "$file:$line: exported code casts and uses %lld and %u"; done
done

# The command stands on public headers, writes text as the libraries do (base/text.h, report/api.h),
# exports (export/api.h), asks as other callers do (request/api.h), and shares threads
# (exec/threads/pool.h).
for file in $(git ls-files -co --exclude-standard 'tools/*.c' 'tools/*.h' 'examples/*.c'); do
  [ -f "$file" ] || continue
  sed -n 's/^#include "\([^"]*\)".*/\1/p' "$file" | while read -r header; do
    case $file:$header in
      tools/*:base/text.h | tools/*:base/shared.h | tools/*:export/api.h | tools/*:report/api.h | tools/*:request/api.h | tools/*:exec/threads/pool.h) continue ;;
    esac
    [ ! -e "src/$header" ] || offend "$file: \"$header\": internals are off limits"
  done
done

# Calls that print, exit, read the environment, allocate behind our back or obey the locale.
banned='(^|[^A-Za-z0-9_>.])(malloc|calloc|realloc|free|qsort|bsearch|strtod|strtof|strtol|strtoul|strtoull|atoi|atof|isalpha|isdigit|isspace|toupper|tolower|getenv|setlocale|printf|fprintf|puts|exit|abort|assert|time|clock|rand|alloca|strcpy|strcat|sprintf|gets)[[:space:]]*\('
for file in $(git ls-files -co --exclude-standard 'src/*.c' 'src/*.h' ':!src/export/program'); do
  [ "$file" != src/base/alloc.c ] || continue # the default allocator
  sed 's@//.*@@' "$file" | grep -nE "$banned" | while read -r line; do
    offend "$file:$line: banned call"
  done
done

for file in $(git ls-files -co --exclude-standard '*.c' '*.h' '*.def'); do
  # Columns, not bytes: pictures in comments use box-drawing characters.
  LC_ALL=C.UTF-8 grep -nE '^.{101,}' "$file" | sed "s|^\([0-9]*\):.*|$file:\1: over 100 columns|" \
    >>"$offences"
  awk -v file="$file" '
    /^[A-Za-z_][^=]*\(/ && !/;[ \t]*$/ {start = NR}
    /^}/ {if (start && NR - start > 80) print file ":" start ": function of " NR - start " lines"; start = 0}' \
    "$file" >>"$offences"
done
# Prose is wrapped, too; tables, fenced and indented code, and lines that are only a link are not.
for file in $(git ls-files -co --exclude-standard '*.md'); do
  [ -f "$file" ] || continue
  awk '/^ *```/ {fenced = !fenced}
    {print fenced || /^ *\|/ || /^    / || /^!?\[[^]]*\]\([^)]*\)$/ ? "" : $0}' "$file" |
    LC_ALL=C.UTF-8 grep -nE '^.{101,}' | sed "s|^\([0-9]*\):.*|$file:\1: over 100 columns|" \
    >>"$offences"
done
for file in $(git ls-files -co --exclude-standard 'src/*' 'tools/*' 'include/*'); do
  lines=$(wc -l <"$file")
  [ "$lines" -le 800 ] || offend "$file: $lines lines"
done
for file in $(git ls-files -co --exclude-standard | grep -vE '\.(plan|stow)$|^scripts/check-style.sh$|^fuzz/corpus/'); do
  [ -f "$file" ] || continue
  grep -nE '(^|[^A-Za-z])(TODO|FIXME|XXX)([^A-Za-z]|$)' "$file" | while read -r line; do offend "$file:$line: loose end"; done
done

# Names that cross files, as headers declare them: functions, types, enum constants, macros.
declared() {
  sed 's@ *//.*@@' "$1" | sed -nE \
    -e 's/^[a-z][^(=]*[ *](stowi_[a-z0-9_]+)\(.*/\1/p' \
    -e 's/^typedef [^;]*\(\*(stowi_[a-z0-9_]+)\)\(.*/\1/p' \
    -e 's/^typedef (struct|enum|union) (stowi_[a-z0-9_]+).*/\2/p' \
    -e 's/^(struct|enum|union) (stowi_[a-z0-9_]+) \{.*/\2/p' \
    -e 's/^} (stowi_[a-z0-9_]+);.*/\1/p' \
    -e 's/^#define (STOWI_[A-Z0-9_]+).*/\1/p' \
    -e 's/^  (STOWI_[A-Z0-9_]+)( =.*|,|$).*/\1/p' | sort -u
}
# They begin with the name of their room, those of kernels with `kernel`. What base offers, which all
# rooms use, has `stowi_` alone.
for file in $(git ls-files -co --exclude-standard 'src/*/*.h'); do
  [ -f "$file" ] || continue
  room=${file#src/}
  room=${room%%/*}
  case $file in
    src/base/*) continue ;;
    src/exec/kernels/*) room=kernel ;;
  esac
  declared "$file" | grep -viE "^stowi_$room(_|\$)" |
    while read -r name; do offend "$file: $name must begin with stowi_${room}_"; done
done

# No other name of src/ is without a room, either.
known=$(echo "$rooms" | tr '\n' '|')
git grep -ohE --untracked '\b(stowi|STOWI)_[A-Za-z0-9_]+' -- src/base | sort -u >"$offences.base"
git grep -oE --untracked '\b(stowi|STOWI)_[A-Za-z0-9_]+' -- src | sort -u |
  grep -viE ":stowi_(${known}kernel)(_|\$)" | grep -vwFf "$offences.base" | while read -r line; do
  offend "$line: the name of no room"
done
rm -f "$offences.base"

# A type has a name of its own in all of src/.
git grep -hE --untracked '^(typedef )?(struct|enum|union) stowi_[a-z0-9_]+ \{|^typedef [^;{]*\(\*stowi_[a-z0-9_]+\)\(' -- 'src/*.[ch]' |
  grep -oE 'stowi_[a-z0-9_]+( \{|\)\()' | grep -oE '^stowi_[a-z0-9_]+' | sort | uniq -d | while read -r name; do
  offend "$name: two types have this name"
done

# Reasons in scripts/mutate-allowed.txt are for lines that exist.
if command -v python3 >/dev/null; then
  python3 -B scripts/mutate.py --list src/arena 2>&1 >/dev/null | while read -r line; do offend "$line"; done
fi

if command -v clang-format >/dev/null; then
  git ls-files -co --exclude-standard '*.c' '*.h' |
    xargs -P "$(nproc)" -n 64 clang-format --dry-run --Werror 2>&1 | grep 'error:' >>"$offences"
else
  echo 'SKIP: no clang-format'
fi

if [ -s "$offences" ]; then
  cat "$offences"
  exit 1
fi
echo 'style: clean'
