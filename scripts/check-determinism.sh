#!/bin/sh
# The same bytes from gcc and clang, -O0 and -O3, another locale, and a second run: plans every graph in examples/ and
# tests/golden in several presets and formats with each build, imports, plans, inspects and runs every model and solves every CSV
# in examples/, and compares checksums.
# Usage: scripts/check-determinism.sh [--sample] [BUILD…]
#        BUILD is COMPILER-LEVEL, which is built, or a preset that is built already; without one, gcc-O0 gcc-O3 clang-O0 clang-O3.
#        --sample leaves out most of the random graphs and one locale.
set -eu
cd "$(dirname "$0")/.."

graphs='examples/*.stow tests/golden/rlx/*.stow'
locales='C.UTF-8 de_DE.UTF-8'
if [ "${1:-}" = --sample ]; then
  locales=de_DE.UTF-8
  graphs='examples/*.stow tests/golden/rlx/*[!1-9].stow'
  shift
fi
sh scripts/packages.sh gcc clang libc6-dev zlib1g-dev cmake ninja-build locales
if ! locale -a | grep -qi '^de_DE'; then
  as_root=
  [ "$(id -u)" -eq 0 ] || as_root=sudo
  $as_root localedef -i de_DE -f UTF-8 de_DE.UTF-8 || echo 'no German locale: using C.UTF-8'
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

command_of() { # BUILD
  case $1 in
    *-O[0-9]) echo "build/determinism-$1/tools/stowage/stowage" ;;
    *) echo "build/$1/tools/stowage/stowage" ;;
  esac
}

build() { # NAME COMPILER FLAGS
  cmake -S . -B "build/determinism-$1" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="$3" -DSTOWAGE_WERROR=ON -DSTOWAGE_BUILD_TESTS=OFF -DSTOWAGE_BUILD_BENCH=OFF \
    -DSTOWAGE_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "build/determinism-$1" --target stowage_command -- --quiet
}

# A small budget: what a search does with more of it is no more deterministic.
outputs() { # BUILD LOCALE FOLDER
  command=$(command_of "$1")
  for file in $graphs; do
    graph=$(sed -n 's/^graph @\([A-Za-z0-9_.]*\).*/\1/p' "$file" | head -n 1)
    for preset in default rlx rlx-0.2.2; do
      for format in summary report plan json csv c; do
        LC_ALL=$2 "$command" plan "$file" --graph "$graph" \
          --preset "$preset" --format "$format" --nodes 5k 2>&1 || true
      done
    done
    LC_ALL=$2 "$command" fmt "$file" 2>&1 || true
  done
  for file in examples/*.onnx; do
    for format in summary report plan json csv c; do
      LC_ALL=$2 "$command" plan "$file" --bind-rest 4 \
        --format "$format" --nodes 5k 2>&1 || true
    done
    LC_ALL=$2 "$command" fmt "$file" 2>&1 || true
    LC_ALL=$2 "$command" inspect "$file" 2>&1 || true
    # A run's report has times in it; its outputs have not.
    LC_ALL=$2 "$command" run "$file" --bind-rest 4 --random 1 --threads 2 \
      --outputs "$3/outputs.npz" >/dev/null 2>&1
    cat "$3/outputs.npz"
  done
  for file in examples/*.csv; do
    for format in summary markdown json csv; do
      LC_ALL=$2 "$command" solve "$file" --format "$format" 2>&1 || true
      LC_ALL=$2 "$command" solve "$file" --format "$format" \
        --capacity 64KiB 2>&1 || true
    done
  done
}

builds=${*:-gcc-O0 gcc-O3 clang-O0 clang-O3}
first=${builds%% *}
for name in $builds; do
  case $name in *-O[0-9]) build "$name" "${name%-*}" "-${name#*-}" ;; esac
done

# One line per run: its checksum, build and locale. Leaks are for other tests to find.
export ASAN_OPTIONS=detect_leaks=0
checksum() { # BUILD LOCALE
  [ -x "$(command_of "$1")" ] || { echo "no $(command_of "$1")"; exit 1; }
  folder=$work/$1-$2
  mkdir "$folder"
  printf '%s %s %s\n' "$(outputs "$1" "$2" "$folder" | sha256sum | cut -d ' ' -f 1)" "$1" "$2" >"$folder/sum"
}
cores=$(nproc)
runs=1
checksum "$first" C &
for name in $builds; do
  for locale in $locales; do
    checksum "$name" "$locale" &
    runs=$((runs + 1))
    [ $((runs % cores)) -ne 0 ] || wait
  done
done
wait
cat "$work"/*/sum >"$work/sums"
if [ "$(cut -d ' ' -f 1 "$work/sums" | sort -u | wc -l)" -ne 1 ] || [ "$(wc -l <"$work/sums")" -ne $runs ]; then
  echo "outputs differ, or not all of $runs runs ended:"
  cat "$work/sums"
  exit 1
fi
echo "determinism: $runs runs of $builds in the locales C $locales gave the same bytes ($(head -c 64 "$work/sums"))"
