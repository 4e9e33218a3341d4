#!/bin/sh
# The README's two commands on a Debian that has nothing but git, then those of docs/guide/python.md: debootstrap makes one
# in a temporary folder, with this machine's package sources, and the commands run in a clone inside. Needs root,
# debootstrap and about 3 GB; skipped where one of the first two is missing.
# Usage: scripts/fresh-debian.sh [SUITE]     without it, bookworm
set -eu
cd "$(dirname "$0")/.."

suite=${1:-bookworm}
PATH=$PATH:/usr/sbin:/sbin
command -v debootstrap >/dev/null || { echo 'SKIP: no debootstrap'; exit 0; }
[ "$(id -u)" -eq 0 ] || { echo 'SKIP: debootstrap needs root'; exit 0; }
# shellcheck disable=SC2016  # apt replaces it
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' | head -n 1)
[ -n "$mirror" ] || { echo 'SKIP: apt knows no mirror'; exit 0; }

root=$(mktemp -d)
finish() {
  for folder in proc dev; do if mountpoint -q "$root/$folder"; then umount "$root/$folder"; fi; done
  rm -rf --one-file-system "$root"
}
trap finish EXIT
trap 'exit 1' HUP INT TERM
log=$root.log

debootstrap --variant=minbase --include=ca-certificates,git "$suite" "$root" "$mirror" >"$log" 2>&1 ||
  { tail -n 20 "$log"; exit 1; }
rm -f "$log"
# As this machine asks for packages: sources, keys and settings.
rm -rf "$root/etc/apt"
cp -R /etc/apt "$root/etc/apt"
cp -R /usr/share/keyrings/. "$root/usr/share/keyrings"
cp -R /etc/ssl/certs/. "$root/etc/ssl/certs"
cp /etc/resolv.conf /etc/hosts "$root/etc"
[ ! -f /etc/pip.conf ] || cp /etc/pip.conf "$root/etc"
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"

git clone -q --no-hardlinks . "$root/home/clone"
inside() { # COMMAND
  echo "$suite: $1"
  if ! chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    sh -c "cd /home/clone && $1" >"$root/log" 2>&1; then
    grep -E -A 30 '[*]{3}(Failed|Timeout)|error:' "$root/log" || tail -n 60 "$root/log"
    exit 1
  fi
  grep -E 'tests passed|tests failed|Skipped|  arena  |stowplan.Plan' "$root/log" || true
}
inside 'sh scripts/try.sh'
inside 'sh scripts/test.sh'
inside 'apt-get install -y -qq python3-venv'
sed -n '/^    python3 -m venv/,/^$/s/^    //p' docs/guide/python.md >"$root/commands"
while read -r command; do inside "$command" </dev/null; done <"$root/commands"
grep -q stowplan.Plan "$root/log"
echo "fresh $suite: the commands of the README and of docs/guide/python.md work"
