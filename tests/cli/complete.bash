# Asks the completion of bash, and prints what it offers, a word in each line.
# Usage: bash complete.bash SCRIPT WORD...: the last word is being typed
# shellcheck source=/dev/null  # it is made by the command
. "$1"
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_stowage
if [ "${#COMPREPLY[@]}" -gt 0 ]; then printf '%s\n' "${COMPREPLY[@]}"; fi
