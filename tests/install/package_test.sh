#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Installs a build, moves what was installed, and builds the consumer with it in
# each of the ways a stranger may choose.
#
#   tests/install/package_test.sh SOURCE BUILD

set -euo pipefail

source_folder=$1
build_folder=$2
consumer=$source_folder/tests/install/consumer
work_folder=$(mktemp -d)
trap 'rm -rf "$work_folder"' EXIT

# Says what is tried, and shows what the command said only if it failed.
attempt() {
  echo "-- $1"
  shift
  "$@" >"$work_folder/log" 2>&1 || {
    cat "$work_folder/log"
    exit 1
  }
}

# Runs a consumer and looks for its trace.
run_consumer() {
  (cd "$work_folder" && rm -f consumer.weft && "$@")
  [[ -s $work_folder/consumer.weft ]] || {
    echo "no trace was written by: $*"
    exit 1
  }
}

configure_and_build() {
  cmake -G Ninja -S "$consumer" -B "$1" -DCMAKE_BUILD_TYPE=Debug "${@:2}" &&
    cmake --build "$1"
}

attempt "install" cmake --install "$build_folder" --prefix "$work_folder/first"
mv "$work_folder/first" "$work_folder/moved"
prefix=$work_folder/moved

if grep -rlF "$source_folder" "$prefix"/lib*/cmake "$prefix"/lib*/pkgconfig; then
  echo "the package names the folder it was built in"
  exit 1
fi

for library in static shared; do
  folder=$work_folder/$library
  attempt "find_package, $library" configure_and_build "$folder" \
    -DCMAKE_PREFIX_PATH="$prefix" -DCONSUMER_LIBRARY="$library"
  run_consumer "$folder/consumer"
done

# A third party's device: a library with weft's headers and none of its symbols.
device=$work_folder/device
attempt "a device source" cmake -G Ninja -S "$source_folder/examples/device" \
  -B "$device" -DCMAKE_BUILD_TYPE=Debug -DCMAKE_PREFIX_PATH="$prefix"
attempt "a device source, built" cmake --build "$device"
attempt "a device source, profiled" "$device/weft_device" "$device/libnpu.so"

export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
read -ra flags < <(pkg-config --cflags --libs weft)
attempt "pkg-config" "${CXX:-c++}" -std=c++17 "$consumer/main.cc" \
  "${flags[@]}" -o "$work_folder/by_pkg_config"
run_consumer env LD_LIBRARY_PATH="$prefix/lib" "$work_folder/by_pkg_config"

# The build is another matter and would take minutes: what is looked for here is
# that weft bears a parent project, and takes none of its own tests into it.
attempt "add_subdirectory" cmake -G Ninja -S "$consumer" \
  -B "$work_folder/subdirectory" -DCONSUMER_WEFT_SOURCE="$source_folder"
if ninja -C "$work_folder/subdirectory" -t targets all | grep -q '_test:'; then
  echo "a parent project gets weft's tests"
  exit 1
fi
