#!/bin/sh
# Builds the Python package with pip, installs it into a virtual environment in WORK and runs its
# tests there. Exits with 77 if something is missing; with STRICT=1 that is a failure.
# Usage: test_package.sh SOURCE_DIR WORK PYTHON CC STOWAGE
set -eu
source=$1
work=$2
python=$3
cc=$4
stowage=$5
venv=$work/venv

skip() {
  echo "SKIP: $1"
  [ -z "${STRICT:-}" ] || exit 1
  exit 77
}

[ "${CC:-}" != none ] || skip 'no compiler (CC=none)'
unset PYTHONPATH PYTHONHOME
# NumPy may be the system's.
"$python" -m venv --system-site-packages "$venv" >"$work/venv.log" 2>&1 || skip 'no python3-venv'
"$venv/bin/python" -m pip --version >/dev/null 2>&1 || skip 'no pip'
pip() { "$venv/bin/python" -m pip --disable-pip-version-check "$@"; }
"$venv/bin/python" -c 'import numpy' 2>/dev/null || pip install -q numpy >"$work/numpy.log" 2>&1 ||
  skip 'no NumPy, and pip cannot fetch it'
pip install -q 'scikit-build-core>=0.10' >"$work/backend.log" 2>&1 ||
  skip 'pip cannot fetch scikit-build-core'

CC=$cc pip wheel -q --no-build-isolation --no-deps --config-settings=build-dir="$work/build" \
  -w "$work" "$source/python" >"$work/wheel.log" 2>&1 || { cat "$work/wheel.log"; exit 1; }
pip install -q --no-deps --force-reinstall "$work"/stowplan-*.whl
ls -s --block-size=kB "$work"/stowplan-*.whl
cd "$source"
STOWAGE=$stowage CC=$cc exec "$venv/bin/python" -B -W error -m unittest discover -s tests/python
