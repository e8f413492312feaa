#!/usr/bin/env bash
# Prints weft's budgets and what this machine makes of them, one a line:
#
#   metric <tab> value <tab> budget <tab> ok|OVER
#
# usage: bench/report.sh [--quick] [--json FILE]
#
# Exit status: 0 all within budget, 3 something is over, 1 it could not run.
# bench/README.md tells how each is measured and how to read it.
set -euo pipefail
cd "$(dirname "$0")/.."
[[ -d build/bench ]] || cmake --preset bench >/dev/null
cmake --build --preset bench --target weft_report >/dev/null
directory=$(mktemp -d "${TMPDIR:-/tmp}/weft-report.XXXXXX")
trap 'rm -rf "$directory"' EXIT
build/bench/bench/report/weft_report --directory "$directory" "$@"
