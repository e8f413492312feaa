#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Compiles the program that README.md shows.
#
#   tests/install/readme_program.sh CXX [INCLUDE_FOLDER...]

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
compiler=$1
shift
# shellcheck disable=SC2016 # backticks of Markdown
sed -n '/^```cpp$/,/^```$/p' "$root/README.md" | grep -v '^```' |
  "$compiler" -std=c++17 -fsyntax-only -Wall -Wextra -Werror "${@/#/-I}" -x c++ -
