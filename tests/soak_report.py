# SPDX-License-Identifier: Apache-2.0
"""Judges what tests/soak.sh gathered. Exit code 1: something is wrong.

usage: soak_report.py FOLDER

    rss_kib       resident memory of the service, one sample a second
    service.json  what the service says it did
    summary.json  weft summary of its trace
"""

import json
import pathlib
import statistics
import sys

# A program in bounded memory does not grow with time, so the bound is on the
# growth over the last two thirds of the run, however long: 2 MiB is far less
# than a byte kept for each record would make in a minute.
MAX_GROWTH_KIB = 2048


def growth_kib(samples):
    """How much the samples grow from first to last, by the median of the slopes
    between all pairs of them: single jumps up and down do not count."""
    slopes = [(samples[j] - samples[i]) / (j - i)
              for i in range(len(samples)) for j in range(i + 1, len(samples))]
    return statistics.median(slopes) * (len(samples) - 1)


def main(folder):
    samples = [int(line) for line in (folder / "rss_kib").read_text().split()]
    service = json.loads((folder / "service.json").read_text())
    summary = json.loads((folder / "summary.json").read_text())
    wrong = []

    if len(samples) < 30:
        sys.exit(f"soak: {len(samples)} samples of memory, too few to judge")
    late = samples[len(samples) // 3:]
    growth = growth_kib(late)
    print(f"memory: {late[0]} KiB after a third, {late[-1]} KiB at the end,"
          f" at most {max(samples)}; trend {growth:+.0f} KiB,"
          f" bound {MAX_GROWTH_KIB}")
    if growth > MAX_GROWTH_KIB:
        wrong.append("memory grows")

    records = summary["records"]
    print(f"records: {records} in the file,"
          f" {service['records_delivered']} delivered by the service,"
          f" {service['records_dropped']} dropped by it")
    if service["records_dropped"] != 0 or summary["lost_records"] != 0:
        wrong.append("records were dropped")
    if service["records_delivered"] != records:
        wrong.append("the file does not hold what was delivered")

    spans = {span["name"]: span for span in summary["spans"]}
    for name, requests in service["requests"].items():
        count = spans.get(name, {}).get("count", 0)
        print(f"{name}: {requests} requests, {count} spans")
        if count != requests:
            wrong.append(f"{name}: the trace has {count} spans of {requests}")
    failed = sum(spans[name]["failed"] for name in service["requests"]
                 if name in spans)
    print(f"failed: {service['failed']} requests, {failed} spans")
    if failed != service["failed"]:
        wrong.append("failures differ")

    for what in wrong:
        print(f"soak: {what}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(pathlib.Path(sys.argv[1])))
