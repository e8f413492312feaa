#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0

# Holds what weft makes of PyTorch's traces against what PyTorch says itself:
# averages, totals and stacks of a small model on the CPU, with each option.
# Run by hand: it installs torch, several GB, in a folder of its own.
#
#   tests/reference/run.sh [--venv DIR] [--weft COMMAND]
#
# Without --venv the installation goes away in the end. The outcome that was
# last seen is in profile/REFERENCE.md. Exit status: 0 all agree, 1 they do not.

set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
weft=$root/build/release/bin/weft
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
venv=$work/venv
while (($# > 0)); do
  case $1 in
    --venv) venv=${2:?a directory} ;;
    --weft) weft=${2:?a command} ;;
    *)
      sed -n '8p' "$0" | sed 's/^# *//' >&2
      exit 2
      ;;
  esac
  shift 2
done

[[ -x $weft ]] || {
  echo "no $weft: build the target weft_command first" >&2
  exit 1
}
if [[ ! -x $venv/bin/python ]]; then
  python3 -m venv "$venv"
fi
"$venv/bin/python" -c 'import torch' 2>/dev/null ||
  "$venv/bin/pip" install --quiet torch numpy
"$venv/bin/python" "$root/tests/reference/compare.py" "$weft" "$work"
