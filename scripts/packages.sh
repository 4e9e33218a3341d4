#!/bin/sh
# Installs the Debian packages that are missing. Usage: scripts/packages.sh PACKAGE…
set -eu

missing=
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing="$missing $package"
done
[ -n "$missing" ] || exit 0

as_root=
[ "$(id -u)" -eq 0 ] || as_root=sudo
echo "installing:$missing"
$as_root apt-get update -qq
# shellcheck disable=SC2086  # the list is meant to be split
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -y -qq --no-install-recommends $missing \
  >/dev/null
