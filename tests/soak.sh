#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Traces examples/service under full load for minutes, then checks that
#   * its memory stayed flat after the first third,
#   * no record was dropped, and `weft check` finds the trace whole,
#   * the trace holds one span for each request that the service counted.
#
#   tests/soak.sh [--minutes M] [--build FOLDER]
#
# Writes some 100 MB of trace a minute into the temporary folder. Needs wrk and
# python3.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
minutes=1
build=$root/build/release

while (($# > 0)); do
  case $1 in
    --minutes) minutes=${2:?a number} ;;
    --build) build=$(cd "${2:?a folder}" && pwd) ;;
    *)
      sed -n '9s/^# *//p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done

# shellcheck source=examples/service/driver.sh
source "$root/examples/service/driver.sh"
weft=$build/bin/weft
for program in "$weft" "$build/examples/weft_service"; do
  [[ -x $program ]] || fail "$program is missing; build it, or say --build FOLDER"
done

trace=$work_folder/soak.weft
start_service "$build/examples/weft_service" --trace "$trace"
start_load $((minutes * 60))
# What ps would print, in KiB, each second of the load.
while kill -0 "$load_pid" 2>/dev/null; do
  sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) kB$/\1/p' "/proc/$service_pid/status" \
    >>"$work_folder/rss_kib"
  sleep 1
done
finish_load
stop_service
echo "load:    $load_report"
echo "service: $service_report"
echo "$service_report" >"$work_folder/service.json"

"$weft" check "$trace"
"$weft" summary --format json "$trace" >"$work_folder/summary.json"
python3 "$root/tests/soak_report.py" "$work_folder"
