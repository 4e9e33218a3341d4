# Completion in zsh, in a pseudo terminal. Skipped without zsh or a pseudo terminal.
. "$(dirname "$0")/harness.sh"
here=$(cd "$(dirname "$0")" && pwd)

command -v zsh >/dev/null 2>&1 || skip_all "no zsh"
zsh -fc 'zmodload zsh/zpty && zpty probe true' >"$out" 2>"$err" </dev/null ||
  skip_all "zsh gets no pseudo terminal: $(head -n 1 "$err")"

mkdir -p "$work/functions"
"$stowage" complete zsh >"$work/functions/_stowage"
cd "$examples" || exit 1
zsh -f "$here/complete.zsh" "$work/functions" 'pl' 'plan --preset rlx-' 'plan --weights=ar' \
  'diff --max' 'diff --expl' 'view --format asc' 'help insp' 'plan cn' 'solve buf' \
  'plan --order giv' 'solve --no-ex' >"$out" 2>"$err" </dev/null
code=$?
expect 0 Zsh
printf '%s\n' 'plan' 'plan --preset rlx-0.2.2' 'plan --weights=arena' 'diff --max-growth' \
  'diff --expl' 'view --format ascii' 'help inspect' 'plan cnn.stow' 'solve buffers.csv' \
  'plan --order given' 'solve --no-explain' >"$work/expected"
same "$work/expected" "$out"
cd "$root" || exit 1
finish
