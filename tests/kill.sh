#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Kills a traced service at random moments of full load. What it leaves must be
# readable up to its last whole block, and repairable.
#
#   tests/kill.sh [--times N] [--build FOLDER]

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
times=20
build=$root/build/release
while (($# > 0)); do
  case $1 in
    --times) times=${2:?a number} ;;
    --build) build=$(cd "${2:?a folder}" && pwd) ;;
    *)
      sed -n '7s/^# *//p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done

weft=$build/bin/weft
work_folder=$(mktemp -d)
trap 'rm -rf "$work_folder"' EXIT
cd "$work_folder"

# The number of records that `weft summary` reads in a file.
records_in() {
  "$weft" summary --format json "$1" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["records"])'
}

total=0
for ((i = 1; i <= times; ++i)); do
  rm -f ./*.weft
  WEFT_OUT=$work_folder/killed.weft "$build/tests/kill_me" &
  pid=$!
  # 300 ms to 1.3 s: at least one promised flush has passed.
  sleep "$((RANDOM % 10 + 3))e-1"
  kill -KILL "$pid"
  wait "$pid" 2>/dev/null || true
  records=$(records_in killed.weft)
  "$weft" repair killed.weft -o repaired.weft >/dev/null
  "$weft" check repaired.weft >/dev/null
  if ((records == 0)) || (($(records_in repaired.weft) != records)); then
    echo "kill $i: $records records, $(records_in repaired.weft) when repaired"
    exit 1
  fi
  total=$((total + records))
done
echo "$times files of killed programs read and repaired, $total records"
