#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# What tracing costs a real service: examples/service under load, with the
# instrumentation compiled out, switched off, and recording to a file.
#
#   bench/service.sh [--pairs N] [--seconds S] [--build FOLDER]
#
# The three run one after the other, N times, the order turning from round to
# round, so that a slow minute of the machine falls on all of them. Each round
# gives ratios to its own compiled-out run; their medians are printed with an
# upper 95 % bound. Needs wrk and python3.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
pairs=11
seconds=5
build=$root/build/bench

while (($# > 0)); do
  case $1 in
    --pairs) pairs=${2:?a number} ;;
    --seconds) seconds=${2:?a number} ;;
    --build) build=$(cd "${2:?a folder}" && pwd) ;;
    *)
      sed -n '7s/^# *//p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done

# shellcheck source=examples/service/driver.sh
source "$root/examples/service/driver.sh"

for program in weft_service weft_service_off; do
  [[ -x $build/examples/$program ]] ||
    fail "$build/examples/$program is missing; build it, or say --build FOLDER"
done

# run_once VARIANT ROUND: appends one line to the results.
run_once() {
  local variant=$1 round=$2
  case $variant in
    compiled_out) start_service "$build/examples/weft_service_off" ;;
    off) start_service "$build/examples/weft_service" ;;
    on)
      start_service "$build/examples/weft_service" \
        --trace "$work_folder/service.weft"
      ;;
  esac
  start_load "$seconds"
  finish_load
  stop_service
  echo "{\"variant\":\"$variant\",\"round\":$round,\"load\":$load_report,\"service\":$service_report}" \
    >>"$work_folder/results"
  rm -f "$work_folder/service.weft"
}

variants=(compiled_out off on)
for ((round = 0; round < pairs; ++round)); do
  for ((i = 0; i < 3; ++i)); do
    run_once "${variants[(round + i) % 3]}" "$round"
  done
  echo "round $((round + 1)) of $pairs" >&2
done

echo "bench/service.sh --pairs $pairs --seconds $seconds"
echo "commit  $(git -C "$root" describe --always --dirty 2>/dev/null || echo unknown)"
echo "machine $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, Linux $(uname -r); nothing pinned, load and service on the same machine"
python3 "$root/bench/service_report.py" "$work_folder/results"
