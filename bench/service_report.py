# SPDX-License-Identifier: Apache-2.0
"""Medians and bounds of what bench/service.sh measured.

usage: service_report.py FILE    one JSON object a line: a run of one variant
"""

import json
import statistics
import sys

VARIANTS = ("compiled_out", "off", "on")
MEASURES = {
    "CPU us a request": lambda run: run["service"]["cpu_us"]
    / sum(run["service"]["requests"].values()),
    "p50 us": lambda run: run["load"]["p50_us"],
    "p99 us": lambda run: run["load"]["p99_us"],
    "p99.9 us": lambda run: run["load"]["p999_us"],
    "wall us a request": lambda run: run["load"]["duration_us"]
    / run["load"]["requests"],
}


def upper_bound_of_median(values):
    """The median is below this with a confidence of 95 %, whatever the
    distribution: the smallest order statistic x(k) for which fewer than k of n
    fair coins show heads with that probability. None when n is too small."""
    ordered = sorted(values)
    count = len(ordered)
    below, ways = 0, 1  # ways: binomial(count, k)
    for k in range(count):
        below += ways
        if below >= 0.95 * 2**count:
            return ordered[k]
        ways = ways * (count - k) // (k + 1)
    return None


def main(path):
    rounds = {}
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            run = json.loads(line)
            rounds.setdefault(run["round"], {})[run["variant"]] = run

    print(f"\n{'median of ' + str(len(rounds)):20}"
          + "".join(f"{variant:>14}" for variant in VARIANTS)
          + f"{'off/out':>10}{'<= (95 %)':>11}{'on/out':>10}{'<= (95 %)':>11}")
    for name, measure in MEASURES.items():
        values = {variant: [measure(rounds[i][variant]) for i in sorted(rounds)]
                  for variant in VARIANTS}
        text = f"{name:20}" + "".join(
            f"{statistics.median(values[variant]):14.1f}"
            for variant in VARIANTS)
        for variant in ("off", "on"):
            ratios = [value / base for value, base in
                      zip(values[variant], values["compiled_out"])]
            bound = upper_bound_of_median(ratios)
            text += f"{statistics.median(ratios):10.3f}"
            text += f"{bound:11.3f}" if bound is not None else f"{'-':>11}"
        print(text)

    dropped = sum(run["on"]["service"]["records_dropped"]
                  for run in rounds.values())
    delivered = sum(run["on"]["service"]["records_delivered"]
                    for run in rounds.values())
    print(f"\nrecorded {delivered} records, dropped {dropped}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
