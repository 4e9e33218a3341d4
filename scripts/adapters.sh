#!/bin/sh
# Tests adapters of the Python package against the real projects: installs these and the package
# into a venv, build/adapters or $ADAPTERS_VENV, and runs tests/adapters/test_NAME.py. `executorch`
# takes 6 GB, torch with all it depends on, and five minutes; `omnimalloc` seconds.
# Usage: scripts/adapters.sh [omnimalloc|executorch]…; both without a name
set -eu
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- omnimalloc executorch
venv=${ADAPTERS_VENV:-build/adapters}

# needs NAME: what its test installs
needs() {
  case $1 in
    omnimalloc) echo 'omnimalloc==1.0.0' ;;
    executorch) echo 'executorch==1.5.1 torch==2.14.0 torchvision==0.29.0' ;;
    *) echo "adapters.sh: unknown adapter '$1'; expected omnimalloc or executorch" >&2; exit 2 ;;
  esac
}

packages=
for name in "$@"; do packages="$packages $(needs "$name")" || exit; done
[ -e "$venv/bin/python" ] || python3 -m venv "$venv"
# shellcheck disable=SC2086  # split on purpose
"$venv/bin/pip" install --quiet $packages ./python
for name in "$@"; do
  echo "$name"
  "$venv/bin/python" -B "tests/adapters/test_$name.py"
done
