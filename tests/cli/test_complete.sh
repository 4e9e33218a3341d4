# Shell completion: the scripts have every command, every option and every value from a fixed list.
# test_complete_zsh.sh tests the one for zsh.
. "$(dirname "$0")/harness.sh"
here=$(cd "$(dirname "$0")" && pwd)

for shell in bash zsh; do
  run complete $shell
  expect 0 "TheScriptIsPrinted ($shell)"
  cp "$out" "$work/$shell"
done
for arguments in "complete" "complete fish" "complete bash zsh"; do
  run $arguments
  expect 2 "AShellIsNeeded ($arguments)"
  complains "bash or zsh"
done

# What the help lists of a command's own options
options_of() {
  "$stowage" help "$1" | sed -n 's/^  ... --\([a-z0-9-]*\).*/\1/p'
}
commands=$("$stowage" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')

if command -v bash >/dev/null 2>&1; then
  # offers NAME WORD...: what bash offers goes to $out
  offers() {
    name=$1
    shift
    bash "$here/complete.bash" "$work/bash" "$@" >"$out" 2>"$err" </dev/null
    code=$?
    expect 0 "$name"
    if [ -s "$err" ]; then fail "something is complained about"; else pass; fi
  }
  offers_exactly() { # WORD...
    printf '%s\n' "$@" | sort >"$work/expected"
    sort "$out" >"$work/offered"
    same "$work/expected" "$work/offered"
  }

  offers_nothing() {
    if [ -s "$out" ]; then fail "something is offered"; else pass; fi
  }

  offers Commands stowage ''
  # shellcheck disable=SC2086  # words
  offers_exactly $commands --help --version
  offers ACommandThatHasBegun stowage pl
  offers_exactly plan
  offers WhatHelpHelpsWith stowage help ''
  # shellcheck disable=SC2086  # words
  offers_exactly $commands
  for command in $commands; do
    offers "Options ($command)" stowage "$command" --
    for option in $(options_of "$command"); do
      if grep -qx -e "--$option" "$out"; then pass; else fail "--$option is not offered"; fi
    done
  done
  offers OptionsOfPlanAreOfDiffToo stowage diff --pres
  offers_exactly --preset
  offers ButNotThoseThatItRefuses stowage diff --exp
  offers_nothing
  offers OnlyOnce stowage view --form
  offers_exactly --format

  # Words: what the command itself says that there are
  while read -r command option; do
    run "$command" "$examples/mlp.stow" "$examples/mlp.stow" "--$option" no-such-word
    [ "$command" = diff ] || run "$command" "$examples/mlp.stow" "--$option" no-such-word
    expect 2 "NoSuchWord ($command --$option)"
    words=$(sed -n 's/.*xpected one of: //p' "$err" | tr -d ,)
    offers "Words ($command --$option)" stowage "$command" "--$option" ''
    # shellcheck disable=SC2086  # words
    offers_exactly $words
  done <<'END'
plan format
plan preset
plan strategy
plan rule
plan no-rule
plan weights
run format
solve format
solve strategy
inspect format
view format
view color
view preset
diff format
diff preset
END
  offers AWordThatHasBegun stowage plan --preset rlx-
  offers_exactly rlx-0.2.2
  offers AWordAfterASign stowage plan --preset = rlx-
  offers_exactly rlx-0.2.2
  offers ASignAlone stowage diff --format =
  offers_exactly text json markdown
  offers ValuesThatNobodyKnows stowage plan --align ''
  offers_nothing

  # Files
  mkdir -p "$work/files/folder"
  for file in a.stow b.onnx c.csv d.plan 'e *.stow' f.txt; do : >"$work/files/$file"; done
  cd "$work/files" || exit 1
  offers FilesToPlan stowage plan ''
  offers_exactly a.stow b.onnx 'e *.stow' folder
  offers FilesToSolve stowage solve ''
  offers_exactly c.csv folder
  offers FilesToCompare stowage diff a.stow ''
  offers_exactly a.stow b.onnx c.csv d.plan 'e *.stow' folder
  offers FilesOfAnotherKind stowage plan f
  offers_exactly folder
  offers FilesOfAnotherKindWhereThereAreNoOthers stowage plan f.
  offers_exactly f.txt
  offers FilesToWrite stowage plan a.stow -o f.
  offers_exactly f.txt
  offers OrdersAndTheirFiles stowage plan --order a
  offers_exactly auto a.stow
  offers NamesWithBlanks stowage fmt 'e '
  offers_exactly 'e *.stow'
  cd "$root" || exit 1
else
  skip "no bash: its completion is not tried"
fi
finish
