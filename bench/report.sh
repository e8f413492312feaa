#!/usr/bin/env bash
# Prints weft's budgets and what this machine makes of them, one a line:
#
#   metric <tab> value <tab> budget <tab> ok|OVER
#
# usage: bench/report.sh [--build FOLDER] [--quick] [--json FILE]
#
# FOLDER is a build with WEFT_BUILD_BENCH; default: build/bench, made if need be.
#
# Exit status: 0 all within budget, 3 something is over, 1 it could not run.
# bench/README.md tells how each is measured and how to read it.
set -euo pipefail
cd "$(dirname "$0")/.."
build=build/bench
if [[ ${1-} == --build ]]; then
  build=${2:?a folder}
  shift 2
elif [[ ! -d $build ]]; then
  cmake --preset bench >/dev/null
fi
cmake --build "$build" --target weft_report >/dev/null
directory=$(mktemp -d "${TMPDIR:-/tmp}/weft-report.XXXXXX")
trap 'rm -rf "$directory"' EXIT
"$build/bench/report/weft_report" --directory "$directory" "$@"
