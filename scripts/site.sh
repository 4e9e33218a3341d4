#!/bin/sh
# Builds the site of the documentation in DIR: the same Markdown with a search, and the page that
# plans (scripts/browser.sh) on its front page. Installs the generator into a venv, build/site/venv,
# and fails if a link is dead. Open DIR/index.html, from the disk or from any web server.
# Usage: scripts/site.sh DIR
set -eu
[ $# -eq 1 ] || { echo 'usage: scripts/site.sh DIR' >&2; exit 2; }
mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
venv=build/site/venv

[ -f build/browser/stowage.html ] || sh scripts/browser.sh
sh scripts/packages.sh python3 git
[ -e $venv/bin/python ] || python3 -m venv $venv
$venv/bin/pip install --quiet --disable-pip-version-check sphinx==9.0.4 myst-parser==5.2.0 furo==2025.12.19
rm -rf build/site/pages
mkdir -p build/site/pages
$venv/bin/python -B site/stage.py . build/browser/stowage.html build/site/pages
$venv/bin/python -B -m sphinx --quiet --fail-on-warning --keep-going -d build/site/doctrees build/site/pages "$out"
$venv/bin/python -B site/check.py "$out"
