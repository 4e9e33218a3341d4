#!/bin/sh
# The Rust crate: its tests, in the repository and as it is packaged. Works on a copy, so that cargo
# writes nothing next to the sources. Usage: test_rust.sh SOURCE_DIR BUILD_DIR
set -eu
source=$1
CARGO_TARGET_DIR=$2/rust
export CARGO_TARGET_DIR
for tool in cargo rustc python3 "${CC:-cc}"; do
  command -v "$tool" >/dev/null || { echo "SKIP: no $tool"; exit 77; }
done
minor=$(rustc --version | sed 's/^rustc 1\.\([0-9]*\)\..*/\1/')
wanted=$(sed -n 's/^rust-version = "1\.\(.*\)"/\1/p' "$source/rust/Cargo.toml")
[ "$minor" -ge "$wanted" ] || { echo "SKIP: $(rustc --version): older than 1.$wanted"; exit 77; }
RUSTFLAGS='-D warnings'
export RUSTFLAGS
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/rust"
for part in include scripts src; do ln -s "$source/$part" "$work/$part"; done
cd "$source/rust"
cp -R Cargo.toml README.md build.rs src tests "$work/rust"
cd "$work/rust"
cargo fetch --quiet 2>"$work/errors" || {
  cat "$work/errors"
  echo 'SKIP: the crate cc cannot be fetched'
  exit 77
}
if cargo fmt --version >/dev/null 2>&1; then cargo fmt --check; fi
cargo test --offline --quiet

# What a registry gets is complete: cargo compiles it alone.
sh "$source/scripts/amalgamate.sh" csrc >/dev/null
cargo package --offline --allow-dirty --quiet
cargo package --offline --allow-dirty --list | grep -x 'csrc/stowage-solve.c'
