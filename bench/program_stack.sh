#!/bin/sh
# The stack that an exported program needs: what a run of it uses, on a stack that was painted before, and the largest frames
# of its kernels, as the compiler writes them (-fstack-usage: gcc). Inputs are zeros.
# Usage: bench/program_stack.sh FOLDER        what `stowage export -o FOLDER` wrote; it is only read
set -eu
[ $# -eq 1 ] && [ -f "$1/stowage-export.txt" ] || {
  echo 'usage: bench/program_stack.sh FOLDER' >&2
  exit 2
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -R "$1/." "$work"
cd "$work"
name=$(sed -n 's/^lib\(.*\)\.a:.*/\1/p' Makefile)

cat >paint.c <<'EOF'
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/program.h"

extern const stow_program PROGRAM;

enum { SIZE = 1 << 20 };

static void* run(void* empty) {
  return empty != NULL ? NULL : (void*)(intptr_t)PROGRAM.run();
}

static size_t used(void* empty) {
  static _Alignas(4096) unsigned char stack[SIZE];
  pthread_attr_t attr;
  pthread_t thread;
  size_t clean = 0;
  void* status;
  memset(stack, 0xa5, SIZE);
  if (pthread_attr_init(&attr) != 0 || pthread_attr_setstack(&attr, stack, SIZE) != 0 ||
      pthread_create(&thread, &attr, run, empty) != 0 || pthread_join(thread, &status) != 0) {
    exit(2);
  }
  if (status != NULL) {
    fprintf(stderr, "%s\n", PROGRAM.error());
    exit(1);
  }
  while (stack[clean] == 0xa5) {
    ++clean;
  }
  return SIZE - clean;
}

int main(int argc, char** argv) {
  size_t nothing = used(argv);  // what a thread needs that does nothing
  (void)argc;
  printf("%zu bytes of stack in a run\n", used(NULL) - nothing);
  return 0;
}
EOF
make -s lib CFLAGS='-O2 -fstack-usage' >/dev/null
cc -O2 -I. -DPROGRAM="${name}_program" paint.c "lib$name.a" -lm -lpthread -o paint
./paint
find . -name '*.su' -exec cat {} + | awk -F '\t' '
  { split($1, place, ":"); sub(/^\.\//, "", place[1]); if ($2 + 0 > most[place[1]]) most[place[1]] = $2 + 0 }
  END { for (file in most) printf "%6d %s\n", most[file], file }' | sort -rn | head -n 8
