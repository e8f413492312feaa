# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0

# Starts, loads and stops examples/service; sourced by the scripts that do.
# Makes `work_folder`, and removes it, and ends what still runs, at exit.

# What the environment says of tracing is not meant for these runs.
unset "${!WEFT_@}"

driver_folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
service_pid=""
load_pid=""
work_folder=$(mktemp -d)
trap end_run EXIT

fail() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# field NAME JSON: a number out of one line of JSON.
field() {
  sed -n "s|.*\"$1\":\([0-9.]*\).*|\1|p" <<<"$2"
}

# start_service PROGRAM [OPTION...]: returns when it listens; sets service_port.
start_service() {
  local output=$work_folder/service.out tries
  : >"$output"  # there before anybody looks
  "$@" --port 0 >"$output" 2>"$work_folder/service.err" &
  service_pid=$!
  for ((tries = 0; tries < 600; ++tries)); do
    service_port=$(sed -n 's/^listening on 127.0.0.1:\([0-9]*\)$/\1/p' "$output")
    [[ -z $service_port ]] || return 0
    kill -0 "$service_pid" 2>/dev/null || break
    sleep 0.05
  done
  cat "$work_folder/service.err" >&2
  fail "$1 does not listen"
}

# Stops the service; sets service_report to its last line.
stop_service() {
  local pid=$service_pid
  service_pid=""
  kill -TERM "$pid"
  wait "$pid" || {
    cat "$work_folder/service.err" >&2
    fail "the service ended with an error"
  }
  # shellcheck disable=SC2034 # read by the callers
  service_report=$(tail -n 1 "$work_folder/service.out")
}

# start_load SECONDS: puts load on the service, in the background.
start_load() {
  wrk -t2 -c8 "-d${1}s" -s "$driver_folder/load.lua" \
    "http://127.0.0.1:$service_port" >"$work_folder/load.out" &
  load_pid=$!
}

# Waits for the load's end; sets load_report to its line of JSON.
finish_load() {
  local pid=$load_pid
  wait "$pid" || fail "wrk failed"
  load_pid=""
  load_report=$(tail -n 1 "$work_folder/load.out")
  [[ $(field socket_errors "$load_report") == 0 ]] ||
    fail "requests without an answer: $load_report"
}

end_run() {
  local pid
  for pid in $load_pid $service_pid; do
    kill -TERM "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$work_folder"
}
