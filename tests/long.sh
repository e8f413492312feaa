#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# What takes too long for every change: ten minutes of load, five of fuzzing, the
# tests labelled `long`, and a traced program killed at random moments.
#
#   tests/long.sh            half an hour; prints lines for tests/LONG.md
#
# Builds nothing but the fuzzers: run tests/run.sh first.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
build=$root/build/release
results=$(mktemp)
trap 'rm -f "$results"' EXIT

# Runs a step, shows what it says, and notes its last line as the result.
note() {
  local name=$1
  shift
  local begun=$SECONDS log
  log=$(mktemp)
  "$@" 2>&1 | tee "$log"
  printf '| %s | %s | %s | %s s | %s |\n' "$(date -u +%F)" \
    "$(git rev-parse --short HEAD)" "$name" "$((SECONDS - begun))" \
    "$(tail -n 1 "$log")" >>"$results"
  rm -f "$log"
}

note "soak, 10 minutes" tests/soak.sh --minutes 10 --build "$build"
note "fuzz, 5 minutes" tests/fuzz.sh --seconds 300
note "killed 100 times" tests/kill.sh --times 100 --build "$build"
note "tests labelled long" ctest --test-dir "$build" -L '^long$' \
  --output-on-failure

echo
cat "$results"
