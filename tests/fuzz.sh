#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Feeds the readers of bytes from outside with what a fuzzer makes of good files.
#
#   tests/fuzz.sh [--build FOLDER] [--seconds S]      S per fuzzer; default 45
#
# FOLDER is a build with WEFT_BUILD_FUZZ; default: build/fuzz, made if need be. An
# input that breaks a reader is left there.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
seconds=45
build=
while (($# > 0)); do
  case $1 in
    --seconds) seconds=${2:?a number} ;;
    --build) build=$(cd "${2:?a folder}" && pwd) ;;
    *)
      sed -n '6s/^# *//p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done

if [[ -z $build ]]; then
  build=$root/build/fuzz
  launcher=()
  if command -v ccache >/dev/null; then
    launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
  fi
  cmake -S "$root" --preset asan -B "$build" -DWEFT_BUILD_FUZZ=ON \
    "${launcher[@]}"
fi
cmake --build "$build" -j "$(nproc)" --target fuzz_corpus \
  trace_reader_fuzz chrome_import_fuzz database_import_fuzz

corpora=$(mktemp -d)
trap 'rm -rf "$corpora"' EXIT

# Fuzzes one reader, from the seeds of one kind of file.
fuzz() {
  local reader=$1 kind=$2
  mkdir "$corpora/$kind"
  tests/fuzz/fuzz_corpus "$kind" "$corpora/$kind"
  "tests/fuzz/${reader}_fuzz" -max_total_time="$seconds" -rss_limit_mb=2048 \
    -timeout=20 -print_final_stats=1 "$corpora/$kind"
}

cd "$build"
fuzz trace_reader weft
fuzz chrome_import chrome
fuzz database_import database
