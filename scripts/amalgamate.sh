#!/bin/sh
# Writes the library as one header and one file of C, to copy into another project (docs/c-api.md, *One file*):
#
#   OUTDIR/stowage.h, stowage.c               libstowage: graphs, plans, arenas
#   OUTDIR/stowage-solve.h, stowage-solve.c   placement alone, without graphs
#
# Usage: scripts/amalgamate.sh OUTDIR     needs python3
set -eu
command -v python3 >/dev/null || { echo 'amalgamate.sh: no python3' >&2; exit 2; }
exec python3 -B "$(dirname "$0")/amalgamate.py" "$@"
