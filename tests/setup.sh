#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Installs the Debian packages that weft is built and tested with.
#
#   tests/setup.sh             all of them
#   tests/setup.sh --minimal   what examples/demo.sh needs: build, run, load
#
# As root it installs what is missing. Otherwise it prints the one command that
# does, and exits with 1 if anything is missing.

set -euo pipefail

build_packages=(
  g++ cmake ninja-build
  libxxhash-dev          # string interning, checksums of blocks
  libconcurrentqueue-dev # hand-offs off the hot path
  libfmt-dev             # tables and numbers
  libsimdjson-dev        # reading JSON
  libcli11-dev           # the weft command's options
  libssl-dev             # digests of files
  libzstd-dev zlib1g-dev # compressed outputs
  libdw-dev              # source lines of stack frames
  libsqlite3-dev         # nvprof import, examples/service
  libcpp-httplib-dev     # examples/service
  wrk                    # load for examples/service
)
test_packages=(
  libgtest-dev
  libbenchmark-dev
  libopenblas-dev        # examples/inference
  relacy-dev             # model checking of the rings
  clang libclang-rt-14-dev # second compiler, fuzzers, sanitizers
  clang-format shellcheck
  valgrind               # instruction counts
  python3 pkg-config
)
# Without these the viewer test is skipped.
viewer_packages=(
  chromium chromium-driver python3-selenium
  golang-1.19-src        # has catapult's trace viewer
)

usage() {
  sed -n '4,10s/^# \{0,1\}//p' "$0"
}

# Prints those of the packages that are not installed.
missing_of() {
  local package
  for package in "$@"; do
    # shellcheck disable=SC2016 # dpkg-query expands it
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      echo "$package"
  done
}

install_packages() {
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@"
}

packages=("${build_packages[@]}")
optional=()
case "${1-}" in
  --minimal) ;;
  "")
    packages+=("${test_packages[@]}")
    optional=("${viewer_packages[@]}")
    ;;
  --help)
    usage
    exit 0
    ;;
  *)
    usage >&2
    exit 2
    ;;
esac

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "setup.sh knows Debian's packages only; elsewhere install the like of:" >&2
  printf '  %s\n' "${packages[*]}" >&2
  exit 1
fi

mapfile -t missing < <(missing_of "${packages[@]}")
missing_optional=()
if ((${#optional[@]} > 0)); then
  mapfile -t missing_optional < <(missing_of "${optional[@]}")
fi
if ((${#missing[@]} + ${#missing_optional[@]} == 0)); then
  exit 0
fi

if ((EUID != 0)); then
  if ((${#missing_optional[@]} > 0)); then
    echo "for the viewer test, which is skipped without them:" >&2
    echo "  sudo apt-get install --no-install-recommends ${missing_optional[*]}" >&2
  fi
  if ((${#missing[@]} > 0)); then
    echo "packages are missing; this installs them:" >&2
    echo "  sudo apt-get update && sudo apt-get install --no-install-recommends ${missing[*]}" >&2
    exit 1
  fi
  exit 0
fi

apt-get update
if ((${#missing[@]} > 0)); then
  install_packages "${missing[@]}"
fi
if ((${#missing_optional[@]} > 0)) && ! install_packages "${missing_optional[@]}"; then
  echo "not installed: ${missing_optional[*]}; the viewer test will be skipped" >&2
fi
