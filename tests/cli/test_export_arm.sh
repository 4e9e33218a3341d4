# Exported programs work as firmware: every file of one, and every kernel, compiles for a Cortex-M7
# with newlib without a warning, and the model links without the command line.
. "$(dirname "$0")/harness.sh"
compiler=arm-none-eabi-gcc
machine='-mcpu=cortex-m7 -mfpu=fpv5-d16 -mfloat-abi=hard'
warnings='-std=c11 -Wall -Wextra -Werror'

command -v $compiler >/dev/null 2>&1 || skip_all "no $compiler (Debian: gcc-arm-none-eabi)"
echo '#include <math.h>' >"$work/probe.c"
# shellcheck disable=SC2086  # words
$compiler $machine -fsyntax-only "$work/probe.c" 2>"$err" ||
  skip_all "$compiler has no C library (Debian: libnewlib-arm-none-eabi)"

compiles() { # NAME ARG...
  name=$1
  shift
  # shellcheck disable=SC2086  # words
  if $compiler $machine $warnings "$@" >"$out" 2>"$err"; then pass; else fail "it does not"; fi
}

run export "$examples/digits.onnx" -o "$work/digits"
expect 0 AProgramIsWritten
mkdir "$work/objects"
for file in $(cd "$work/digits" && find . -name '*.c'); do
  object=$(echo "${file#./}" | tr / _ | sed 's/c$/o/')
  compiles "EveryFileCompiles ($file)" -O2 -I"$work/digits" -c "$work/digits/$file" -o "$work/objects/$object"
done

# A range of shapes: what other programs do not have
run export "$examples/encoder.onnx" -o "$work/encoder" --bind batch=1,length=1..8
expect 0 AProgramOfARangeIsWritten
for file in encoder.c main.c $(cd "$work/encoder" && find program -name '*.c'); do
  compiles "EveryFileCompiles ($file of a range)" -O2 -fsyntax-only -I"$work/encoder" "$work/encoder/$file"
done

# What firmware takes: all but the command line
rm "$work/objects/main.o" "$work/objects/program_tool.o" "$work/objects/run_random.o"
printf '#include "digits.h"\nint main(void) { return digits_run(); }\n' >"$work/firmware.c"
compiles TheModelLinks -O2 -I"$work/digits" --specs=nosys.specs "$work/firmware.c" "$work"/objects/*.o -lm -o "$work/firmware.elf"

# shellcheck disable=SC2046  # words
compiles EveryKernelCompiles -fsyntax-only -I"$root/include" -I"$root/src" $(find "$root/src/exec/kernels" -name '*.c')
finish
