#!/bin/sh
# The README's scripts on other machines: without root and sudo, and without Debian's tools. The
# commands that they start are stubs that record their arguments. Usage: test_scripts.sh SOURCE_DIR
set -u
source=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failures=0

fail() {
  failures=$((failures + 1))
  echo "FAIL: $name: $1"
  cat "$work/out" "$work/calls"
}
stub() { # NAME LINE: a command that notes its call, then does LINE
  printf '#!/bin/sh\necho "%s $*" >>"%s"\n%s\n' "$1" "$work/calls" "$2" >"$work/bin/$1"
  chmod +x "$work/bin/$1"
}
machine() { # a new one, that has what every machine has
  name=$1
  rm -rf "$work/bin"
  mkdir "$work/bin"
  for tool in sh dirname grep cat; do ln -s "$(command -v $tool)" "$work/bin/$tool"; done
  stub id 'echo 1000'
}
debian() { # NAME INSTALLED…
  machine "$1"
  shift
  stub apt-get :
  stub dpkg-query "case ' $* ' in *\" \$3 \"*) echo install ok installed ;; *) exit 1 ;; esac"
}
packages() { # STATUS PACKAGE…
  expected=$1
  shift
  script=packages.sh
  start "$@"
}
start() {
  : >"$work/calls"
  (cd "$source" && env -i PATH="$work/bin" sh "scripts/$script" "$@") >"$work/out" 2>&1
  status=$?
  [ "$status" -eq "$expected" ] || fail "exit status $status, not $expected"
}
says() { grep -qF -e "$1" "$work/out" || fail "it does not say: $1"; }
calls() { grep -qF -e "$1" "$work/calls" || fail "it does not call: $1"; }
calls_not() { if grep -qF -e "$1" "$work/calls"; then fail "it calls: $1"; fi; }

debian AllIsInstalled gcc cmake
packages 0 gcc cmake
calls_not apt-get

debian NeitherRootNorSudo gcc
packages 1 gcc cmake ninja-build
says 'run this as root: apt-get install cmake ninja-build'
calls_not apt-get

debian Sudo gcc
stub sudo :
packages 0 gcc cmake
calls 'sudo apt-get install -y -qq --no-install-recommends cmake'

debian Root gcc
stub id 'echo 0'
packages 0 gcc cmake
calls 'apt-get install -y -qq --no-install-recommends cmake'

machine AnotherLinux
stub cc :
stub cmake :
stub ninja :
packages 0 gcc libc6-dev zlib1g-dev cmake ninja-build
says 'zlib1g-dev'
packages 1 gcc cmake ninja-build mandoc
says 'not found: mandoc'

debian TryBuildsTheCommandAlone gcc libc6-dev zlib1g-dev cmake ninja-build
stub cmake :
stub stowage :
script=try.sh expected=0
start
calls 'cmake --build --preset release --target stowage_command'
says 'stowage plan examples/transformer.stow'

[ "$failures" -eq 0 ] && echo "the scripts do as they should"
exit "$failures"
