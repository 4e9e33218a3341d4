#!/bin/sh
# Runs the tests of the Python package with a library that was built with gcc's AddressSanitizer,
# which finds objects that are freed too early.
# Usage: test_sanitized.sh SOURCE_DIR WORK PYTHON CC STOWAGE LIBRARY
set -eu
source=$1
work=$2
cc=$4
stowage=$5
library=$6

[ "${CC:-}" != none ] || { echo 'SKIP: no compiler (CC=none)'; exit 77; }
python=
for candidate in "$3" /usr/bin/python3; do
  if [ -z "$python" ] && "$candidate" -c 'import numpy' 2>/dev/null; then python=$candidate; fi
done
[ -n "$python" ] || { echo 'SKIP: no NumPy'; exit 77; }
rm -rf "$work/sanitized"
mkdir -p "$work/sanitized"
cp -R "$source/python/stowplan" "$work/sanitized"
cp "$library" "$work/sanitized/stowplan"
cd "$source"
# Python itself does not free everything.
LD_PRELOAD=$("$cc" -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 CC=$cc STOWAGE=$stowage \
  PYTHONPATH=$work/sanitized exec "$python" -B -m unittest discover -s tests/python
