#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# All code is clean under the sanitizers by itself: nothing in the tree turns a
# report off, and every preset that sanitizes is one that CI runs.
#
#   tests/install/sanitizers_test.sh SOURCE

set -euo pipefail
cd "$1"

folders=(.ci CMakePresets.json CMakeLists.txt ringbuf runtime export profile
         tools examples bench tests)
self=tests/install/sanitizers_test.sh
failed=0

if find "${folders[@]}" -iname '*.supp' -o -iname '*suppressions*' | grep .; then
  echo "a suppression file"
  failed=1
fi
off='no_sanitize|__(asan|lsan|tsan|ubsan)_default_(options|suppressions)'
off+='|__lsan_(disable|ignore)|suppressions=|detect_leaks=0'
if grep -rnE "$off" "${folders[@]}" --exclude="${self##*/}"; then
  echo "a report is turned off"
  failed=1
fi
for preset in asan tsan; do
  cmake --list-presets | grep -q "\"$preset\"" || {
    echo "no preset $preset"
    failed=1
  }
  grep -q "run_tests $preset" .ci/run || {
    echo "CI does not run the tests of preset $preset"
    failed=1
  }
done
exit "$failed"
