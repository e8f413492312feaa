#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Builds weft and runs its tests, from nothing, in minutes.
#
#   tests/run.sh              all but those labelled `long`
#   tests/run.sh -R REGEX     arguments go to ctest
#
# Installs the packages it needs if it may (tests/setup.sh). Fails when one test
# fails.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

tests/setup.sh

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake --preset release -DWEFT_BUILD_BENCH=OFF "${launcher[@]}"
cmake --build --preset release -j "$(nproc)"
ctest --test-dir build/release -j "$(nproc)" --output-on-failure \
  --label-exclude '^long$' "$@"
