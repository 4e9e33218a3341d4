#!/bin/sh
# The same bits everywhere: runs models on the same inputs as the command (1 to 4 threads, gcc, clang, without
# processor-specific code) and as exported programs (every vector width of x86-64, gcc and clang; AArch64, a Cortex-M4
# and a Cortex-M7 in QEMU), and compares checksums of all outputs, in which NaNs are alike. Prints a table of models and
# witnesses: `=` is the row's checksum, `-` was not run. Exits 1 if a checksum differs.
# Usage: scripts/same-bits.sh [MODELS]   MODELS is what scripts/fetch-models.sh filled: larger models too
set -eu
cd "$(dirname "$0")/.."

sh scripts/packages.sh gcc clang make libc6-dev zlib1g-dev cmake ninja-build python3 gcc-aarch64-linux-gnu \
  libc6-dev-arm64-cross qemu-user gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm

work=build/same-bits
programs=$work/program
large='silero-v5 silero-v4 bert-tiny-int8 ppocr-angle mobilefacenet face-pose minilm minimind'
psram=$((15 * 1024 * 1024)) # of a board, without its stack
jobs=$(nproc)
rm -rf "$programs" "$work/cells"
mkdir -p "$programs" "$work/cells"

list_models() {
  grep -v '^#' tests/bits/models.txt
  if [ $# -eq 1 ]; then
    for label in $large; do
      grep "^$label " tests/onnx/models/models.txt | while read -r name path options; do
        [ ! -f "$1/$path" ] || echo "$name $1/$path $options"
      done
    done
  fi
}

command_of() { # BUILD
  case $1 in
    gcc) echo build/release/tools/stowage/stowage ;;
    *) echo "$work/command-$1/tools/stowage/stowage" ;;
  esac
}

build_command() { # BUILD COMPILER FLAGS
  cmake -S . -B "$work/command-$1" -G Ninja -DCMAKE_C_COMPILER="$2" -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_C_FLAGS="$3" -DSTOWAGE_BUILD_TESTS=OFF -DSTOWAGE_BUILD_BENCH=OFF -DSTOWAGE_BUILD_EXAMPLES=OFF >/dev/null
  cmake --build "$work/command-$1" --target stowage_command -- --quiet
}

# A file for each result: cells/MODEL/WITNESS
note() { # MODEL WITNESS CHECKSUM
  mkdir -p "$work/cells/$1"
  echo "$3" >"$work/cells/$1/$2"
}

# ---- the command, and the exported programs in one folder: their kernels are the same files

export_model() { # NAME FILE OPTION...
  name=$1
  shift
  rm -rf "$work/export"
  "$(command_of gcc)" export "$@" --random 1 --name "$name" -o "$work/export" >"$work/log"
  sed -n 's/^  \(arena\|weights\) *\([0-9]*\) bytes.*/\2/p' "$work/log" | paste -s -d + >"$programs/$name.size"
  rm "$work/export/Makefile" "$work/export/README" "$work/export/main.c" "$work/export/stowage-export.txt"
  (cd "$work/export" && find . -type f) | while read -r file; do
    if [ ! -f "$programs/$file" ]; then
      mkdir -p "$(dirname "$programs/$file")"
      mv "$work/export/$file" "$programs/$file"
    else
      cmp "$work/export/$file" "$programs/$file"
    fi
  done
}

run_command() { # MODEL BUILD THREADS FILE OPTION...
  model=$1
  build=$2
  threads=$3
  shift 3
  "$(command_of "$build")" run "$@" --random 1 --threads "$threads" --outputs "$work/outputs.npz" >"$work/log"
  note "$model" "run-$build-$threads" "$(python3 -B tests/bits/checksum.py "$work/outputs.npz")"
}

# ---- exported programs

# The names of programs that fit, at most |$1| bytes
names_within() {
  for size in "$programs"/*.size; do
    [ $(($(cat "$size"))) -gt "$1" ] || basename "$size" .size
  done
}

build_witnesses() { # TARGET ABI MOST_BYTES VARIABLE=VALUE...
  target=$1
  abi=$2
  names=$(names_within "$3" | paste -s -d ' ')
  shift 3
  echo "building $target" >&2
  mkdir -p "$work/$target" "$work/$abi"
  make -s -j "$jobs" -C "$work" -f "$PWD/tests/bits/Makefile" TARGET="$target" ABI="$abi" MODELS="$names" \
    HERE="$PWD/tests/bits" "$@"
}

run_witnesses() { # TARGET WITNESS WORD... (PROGRAM in them is the program)
  target=$1
  witness=$2
  shift 2
  echo "running $witness" >&2
  for size in "$programs"/*.size; do
    name=$(basename "$size" .size)
    if [ -f "$work/$target/$name" ]; then
      run_one "$work/$target/$name" "$@" >"$work/log" 2>&1 || echo "exit $?" >>"$work/log"
      note "$name" "$witness" "$(cat "$work/log")"
    fi
  done
}

run_one() { # PROGRAM WORD...
  program=$1
  shift
  # shellcheck disable=SC2046 # words
  timeout 1800 $(echo "$*" | sed "s|PROGRAM|$program|")
}

optimised='-O2'
wide=$((1 << 40))

cmake --preset release >/dev/null
cmake --build --preset release --target stowage_command -- --quiet
build_command clang clang ''
build_command plain gcc -DSTOWI_KERNEL_PLAIN

list_models "$@" >"$work/models.txt"
while read -r label path options; do
  name=$(echo "$label" | tr - _)
  echo "exporting $label" >&2
  eval "export_model $name $path $options"
  for threads in 1 2 3 4; do
    eval "run_command $name gcc $threads $path $options"
  done
  eval "run_command $name clang 2 $path $options"
  eval "run_command $name plain 3 $path $options"
done <"$work/models.txt"

for compiler in gcc clang; do
  build_witnesses "$compiler" x86 $wide CC=$compiler CFLAGS="$optimised"
  run_witnesses $compiler $compiler-sse2 PROGRAM 0
  run_witnesses $compiler $compiler-avx2 PROGRAM 1
  run_witnesses $compiler $compiler-avx512 PROGRAM 2
  run_witnesses $compiler $compiler-vnni PROGRAM 3
done
build_witnesses clang-plain x86 $wide CC=clang CFLAGS="$optimised -DSTOWI_KERNEL_PLAIN"
run_witnesses clang-plain clang-plain PROGRAM

build_witnesses arm64 arm64 $wide CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar CFLAGS="$optimised" LDFLAGS=-static
run_witnesses arm64 arm64-gcc qemu-aarch64 PROGRAM
build_witnesses arm64-clang arm64 $wide CC='clang --target=aarch64-linux-gnu' CFLAGS="$optimised" LDFLAGS=-static
run_witnesses arm64-clang arm64-clang qemu-aarch64 PROGRAM

board() { # TARGET MACHINE PSRAM FLAGS
  build_witnesses "$1" "$1-data" $psram CC=arm-none-eabi-gcc AR=arm-none-eabi-ar BOARD=board \
    CFLAGS="$optimised -mthumb $4 -mfloat-abi=hard" \
    LDFLAGS="-nostartfiles --specs=nosys.specs -Wl,--defsym=board_psram=$3 -T $PWD/tests/bits/board.ld"
  run_witnesses "$1" "$1" qemu-system-arm -M "$2" -display none -monitor none -serial none \
    -semihosting-config enable=on,target=native -kernel PROGRAM
}
board cortex-m4 mps2-an386 0x21000000 '-mcpu=cortex-m4 -mfpu=fpv4-sp-d16'
board cortex-m7 mps2-an500 0x60000000 '-mcpu=cortex-m7 -mfpu=fpv5-d16'

python3 -B tests/bits/table.py "$work/cells"
