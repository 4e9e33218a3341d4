#!/bin/sh
# The same bytes from gcc and clang, -O0 and -O3, another locale, and a second run: plans every graph in examples/ and
# tests/golden in several presets and formats with each build, imports, plans, inspects and runs every model and solves every CSV
# in examples/, and compares checksums.
# Usage: scripts/check-determinism.sh [COMPILER-LEVEL…], all four builds where none is named
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc clang libc6-dev zlib1g-dev cmake ninja-build locales
if ! locale -a | grep -qi '^de_DE'; then
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  $as_root localedef -i de_DE -f UTF-8 de_DE.UTF-8 || echo 'no German locale: using C.UTF-8'
fi

build() { # NAME COMPILER FLAGS
  cmake -S . -B "build/determinism-$1" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="$3" -DSTOWAGE_WERROR=ON -DSTOWAGE_BUILD_TESTS=OFF -DSTOWAGE_BUILD_BENCH=OFF \
    -DSTOWAGE_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "build/determinism-$1" --target stowage_command -- --quiet
}

# A small budget: what a search does with more of it is no more deterministic.
outputs() { # BUILD LOCALE
  for file in examples/*.stow tests/golden/rlx/*.stow; do
    graph=$(sed -n 's/^graph @\([A-Za-z0-9_.]*\).*/\1/p' "$file" | head -n 1)
    for preset in default rlx rlx-0.2.2; do
      for format in summary report plan json csv c; do
        LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" plan "$file" --graph "$graph" \
          --preset "$preset" --format "$format" --nodes 5k 2>&1 || true
      done
    done
    LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" fmt "$file" 2>&1 || true
  done
  for file in examples/*.onnx; do
    for format in summary report plan json csv c; do
      LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" plan "$file" --bind-rest 4 \
        --format "$format" --nodes 5k 2>&1 || true
    done
    LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" fmt "$file" 2>&1 || true
    LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" inspect "$file" 2>&1 || true
    # A run's report has times in it; its outputs have not.
    LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" run "$file" --bind-rest 4 --random 1 --threads 2 \
      --outputs build/determinism-outputs.npz >/dev/null 2>&1
    cat build/determinism-outputs.npz
  done
  for file in examples/*.csv; do
    for format in summary json csv; do
      LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" solve "$file" --format "$format" 2>&1 || true
      LC_ALL=$2 "build/determinism-$1/tools/stowage/stowage" solve "$file" --format "$format" \
        --capacity 64KiB 2>&1 || true
    done
  done
}

builds=${*:-gcc-O0 gcc-O3 clang-O0 clang-O3}
first=${builds%% *}
for name in $builds; do
  build "$name" "${name%-*}" "-${name#*-}"
done

reference=$(outputs "$first" C | sha256sum)
runs=1
for name in $builds; do
  for locale in C.UTF-8 de_DE.UTF-8; do
    if [ "$(outputs "$name" "$locale" | sha256sum)" != "$reference" ]; then
      echo "output differs: $name, $locale"
      exit 1
    fi
    runs=$((runs + 1))
  done
done
echo "determinism: $runs runs of $builds in 3 locales gave the same bytes (${reference%% *})"
