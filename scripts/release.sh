#!/bin/sh
# Makes the files of a release in DIR, from what is committed: the source archive, the Python wheel
# built from that archive, and SHA256SUMS. The version is that of <stowage/base.h>; the archive has
# the same bytes on every machine. Fails if something is not committed. It tags and uploads nothing.
# Usage: scripts/release.sh DIR
set -eu
[ $# -eq 1 ] || { echo 'usage: scripts/release.sh DIR' >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."

sh scripts/packages.sh git gcc cmake ninja-build python3 python3-venv
git update-index -q --refresh || true
[ -z "$(git status --porcelain)" ] || { echo 'release.sh: something is not committed; see: git status' >&2; exit 1; }
version=$(sed -n 's/^#define STOW_VERSION_STRING "\(.*\)"/\1/p' include/stowage/base.h)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

name=stowage-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$work/$name.tar.gz"

tar xzf "$work/$name.tar.gz" -C "$work"
python3 -m venv "$work/venv"
"$work/venv/bin/pip" --disable-pip-version-check wheel -q --no-deps -w "$work/wheels" "$work/$name/python"

# The wheel works, and is of this version.
"$work/venv/bin/pip" --disable-pip-version-check install -q "$work"/wheels/stowplan-"$version"-*.whl
(cd "$work/$name" && "$work/venv/bin/python" -c "
import stowplan
assert stowplan.__version__ == '$version', stowplan.__version__
assert stowplan.plan('examples/digits.onnx').outcome == 'optimal'")

rm -f "$out"/stowage-*.tar.gz "$out"/stowplan-*.whl
mv "$work/$name.tar.gz" "$work"/wheels/stowplan-*.whl "$out"
cd "$out"
sha256sum stowage-*.tar.gz stowplan-*.whl >SHA256SUMS
cat SHA256SUMS
