#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Shows weft at work, from a fresh clone, in one command and a few minutes:
# builds it, traces an HTTP service under load, and prints where the time went
# and what the tracing cost.
#
#   examples/demo.sh
#
# Leaves demo.weft and demo.json in the checkout. As root it installs Debian
# packages that are missing; otherwise it says which.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$root/build/demo
rounds=3
round_seconds=2
trace_seconds=5

say() {
  printf '\n== %s\n\n' "$*"
}

"$root/tests/setup.sh" --minimal

# shellcheck source=examples/service/driver.sh
source "$root/examples/service/driver.sh"

say "Building (the first time takes a minute or two)"
(
  cd "$root"
  # A folder of its own, and warnings as such: the demo must not fail on what a
  # newer compiler thinks of the code, nor need the tests' packages.
  cmake --preset release -B "$build" -DWEFT_WERROR=OFF \
    -DWEFT_BUILD_TESTS=OFF -DWEFT_BUILD_BENCH=OFF >"$work_folder/configure.log" ||
    { cat "$work_folder/configure.log" >&2; exit 1; }
  cmake --build "$build" --target weft_service weft_service_off weft_command
)
weft=$build/bin/weft
service=$build/examples/weft_service
service_off=$build/examples/weft_service_off

say "Tracing the service for $trace_seconds s under load, into demo.weft"
rm -f "$root/demo.weft" "$root/demo.json"
start_service "$service" --trace "$root/demo.weft"
start_load "$trace_seconds"
finish_load
stop_service
echo "load:    $load_report"
echo "service: $service_report"

say "weft check demo.weft: is the trace whole?"
"$weft" check "$root/demo.weft"

say "weft summary demo.weft: where did the time go?"
"$weft" summary "$root/demo.weft" --limit 15 --slowest 3

say "weft convert demo.weft -o demo.json"
"$weft" convert "$root/demo.weft" -o "$root/demo.json"

say "What tracing costs: $rounds rounds of $round_seconds s each"
declare -A throughputs tails
for ((round = 0; round < rounds; ++round)); do
  for variant in "compiled out" "switched off" "recording"; do
    case $variant in
      "compiled out") start_service "$service_off" ;;
      "switched off") start_service "$service" ;;
      "recording") start_service "$service" --trace "$work_folder/round.weft" ;;
    esac
    start_load "$round_seconds"
    finish_load
    stop_service
    requests=$(field requests "$load_report")
    duration_us=$(field duration_us "$load_report")
    throughputs[$variant]+="$((requests * 1000000 / duration_us)) "
    tails[$variant]+="$(field p99_us "$load_report") "
  done
done

# The middle one of an odd number of numbers.
median() {
  tr ' ' '\n' <<<"$1" | sed '/^$/d' | sort -n | sed -n "$((rounds / 2 + 1))p"
}
printf '%-14s %12s %10s   (medians)\n' instrumentation requests/s "p99 us"
for variant in "compiled out" "switched off" "recording"; do
  printf '%-14s %12s %10s\n' "$variant" "$(median "${throughputs[$variant]}")" \
    "$(median "${tails[$variant]}")"
done
echo
echo "Load and service share this machine, and rounds are short: expect some"
echo "per cent of noise. bench/service.sh measures the same with bounds."

say "Look at it"
echo "$root/demo.json opens in https://ui.perfetto.dev, in chrome://tracing and"
echo "in speedscope. What to look for: examples/README.md."
