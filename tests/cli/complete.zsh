# Types command lines into a zsh of its own, presses tab, and prints what became of them.
# Usage: zsh -f complete.zsh FOLDER_OF_SCRIPT LINE...
zmodload zsh/zpty || exit 1
folder=$1
shift

wait_for() { # TEXT: reads until it is seen
  local chunk
  seen=
  while [[ $seen != *$1* ]] && zpty -r shell chunk; do seen+=$chunk; done
}

zpty shell zsh -f -i || exit 1
zpty -w shell "PS1=; fpath=(${(q)folder} \$fpath); autoload -U compinit; compinit -u -D
stowage() { print -r -- 'LINE''<'\"\$*\"'>''END' }; cd ${(q)PWD}; print 'REA''DY'"
wait_for READY
for line in "$@"; do
  zpty -w -n shell "stowage $line"$'\t\n'
  wait_for '>END'
  print -r -- "${${seen##*LINE<}%%>END*}"
done
zpty -d shell
