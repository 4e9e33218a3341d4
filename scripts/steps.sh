# shellcheck shell=bash
# For .ci/run and scripts/nightly.sh, which source it: `step NAME` begins a step, `done_steps` prints how long each took.
# Beside the time of the clock is that of the processors, which a busy machine changes less.
steps_log=$(mktemp)
trap 'rm -f "$steps_log" "$steps_log.times"' EXIT
step_name=
step_start=0
step_cpu=0

# Processor seconds of all commands so far; the builtin must not run in a subshell, which has had none.
steps_cpu() {
  times >"$steps_log.times"
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; ++i) { split($i, t, "m"); sum += 60 * t[1] + t[2] } printf "%d", sum }' "$steps_log.times")
}

end_step() {
  steps_cpu
  [ -z "$step_name" ] || printf '%5d %5d  %s\n' $((SECONDS - step_start)) $((cpu - step_cpu)) "$step_name" >>"$steps_log"
  step_start=$SECONDS
  step_cpu=$cpu
}

step() {
  end_step
  step_name=$1
  printf '\n== %s (%ds)\n' "$1" "$SECONDS"
}

done_steps() {
  end_step
  printf '\n seconds\nclock   cpu\n'
  cat "$steps_log"
  awk '{ clock += $1; cpu += $2 } END { printf "%5d %5d  all: %.1f minutes, %.1f on two calm cores at best\n", clock, cpu, clock / 60, cpu / 120 }' "$steps_log"
}
