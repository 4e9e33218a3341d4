#!/bin/sh
# The C header of a plan compiles as C11 and C++17 without a warning, and refuses an arena that is
# too small. Usage: test_header.sh WRITE_HEADER CC
set -eu
write_header=$1
cc=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

"$write_header" > "$dir/plan.h"
"$write_header" kws > "$dir/kws.h"
cat > "$dir/use.c" <<'END'
#include "plan.h"
#include "kws.h"
#include "plan.h"
#if AWKWARD_NET_ARENA_SIZE < AWKWARD_NET_HUGE_SIZE
#error "the arena is smaller than a value in it"
#endif
unsigned char first[kws_A_B_SIZE];
unsigned char second[kws_A_B_1_SIZE];
unsigned long long offset(void);
unsigned long long offset(void) { return AWKWARD_NET_OUTPUT_0_OFFSET + kws_ARENA_2_OFFSET; }
#if AWKWARD_NET_OUTPUT_1_OFFSET != AWKWARD_NET_V8_OFFSET || kws_NODE7_SCRATCH0_SIZE != 24
#error "an output or a scratch lies elsewhere"
#endif
#if AWKWARD_NET_V8_OFFSET != AWKWARD_NET_V7_OFFSET || AWKWARD_NET_V7_SIZE != AWKWARD_NET_V8_SIZE
#error "a result in place lies elsewhere"
#endif
END
flags="-Wall -Wextra -Wpedantic -Werror -fsyntax-only"
$cc -std=c11 $flags "$dir/use.c"
echo "compiles as C11"

sed 's/ARENA_SIZE [0-9]*u/ARENA_SIZE 100u/' "$dir/plan.h" > "$dir/small.h"
printf '#include "small.h"\nint unused;\n' > "$dir/small.c"
if $cc -std=c11 $flags "$dir/small.c" 2> "$dir/log"; then
  echo "an arena of 100 bytes was accepted" >&2
  exit 1
fi
grep -q "outside the arena" "$dir/log"
echo "refuses a small arena"

cp "$dir/use.c" "$dir/use.cc"
if ! echo 'int x;' | $cc -std=c++17 -x c++ -fsyntax-only - 2> /dev/null; then
  echo "no C++17 compiler: skipped the rest"
  exit 77
fi
$cc -std=c++17 -x c++ $flags "$dir/use.cc"
echo "compiles as C++17"
