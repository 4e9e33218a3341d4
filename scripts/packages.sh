#!/bin/sh
# Installs missing Debian packages; without the rights to, prints the command to run and exits 1. On
# other systems it exits 1 only if a command is missing; CMake reports missing libraries.
# Usage: scripts/packages.sh PACKAGE…
set -eu

# command_of PACKAGE: the command it provides, if any
command_of() {
  case $1 in
    gcc) echo "${CC:-cc}" ;;
    ninja-build) echo ninja ;;
    xz-utils) echo xz ;;
    gcc-arm-none-eabi) echo arm-none-eabi-gcc ;;
    chromium-driver) echo chromedriver ;;
    abigail-tools) echo abidiff ;;
    lld) echo wasm-ld ;;
    g++ | clang | cmake | pkg-config | clang-format | clang-tidy | valgrind | gcovr | mandoc | shellcheck | zsh | chromium | python3) echo "$1" ;;
  esac
}

is_installed() {
  dpkg-query -W -f='${Status}' "$1" 2>/dev/null | grep -q 'ok installed'
}

is_debian=
if command -v dpkg-query >/dev/null && command -v apt-get >/dev/null; then is_debian=1; fi
missing=
for package in "$@"; do
  if [ -n "$is_debian" ]; then
    is_installed "$package" || missing="$missing $package"
  else
    tool=$(command_of "$package")
    [ -z "$tool" ] || command -v "$tool" >/dev/null || missing="$missing $tool"
  fi
done

if [ -z "$is_debian" ]; then
  echo "not a Debian: needed is what its packages have: $*"
  [ -n "$missing" ] || exit 0
  echo "packages.sh: not found:$missing; install what has them" >&2
  exit 1
fi
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
  as_root=sudo
  command -v sudo >/dev/null || {
    echo "packages.sh: missing:$missing; run this as root: apt-get install$missing" >&2
    exit 1
  }
fi
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086  # split on purpose
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing \
  >/dev/null
