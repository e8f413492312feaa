# SPDX-License-Identifier: Apache-2.0
"""Profiles a small model with each option of PyTorch's profiler, and compares
its averages, totals and stacks with what the weft command makes of the trace
that it exports.  usage: compare.py WEFT DIRECTORY"""

import collections
import json
import pathlib
import subprocess
import sys

import torch
from torch.profiler import ProfilerActivity, profile, record_function

# A row of PyTorch's averages counts nested calls of one name twice, and merges
# an only child into a parent of its name; weft keeps a row for every event of
# the file. Self times are the same either way, so they must agree exactly; so
# must counts, after the merge is undone.
TOLERANCE_NS = 1  # its figures are doubles in us
SHORT = 50  # events below 1 us that its export of stacks leaves out, a stack


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3, padding=1)
        self.norm = torch.nn.BatchNorm2d(8)
        self.linear = torch.nn.Linear(8 * 16 * 16, 10)

    def forward(self, x):
        x = torch.relu(self.norm(self.conv(x)))
        with record_function("classify"):
            return self.linear(x.flatten(1))


def record(options, path, backward=True):
    if options.get("with_stack"):
        # Without it the rows of newer versions have no stacks.
        options = dict(options, experimental_config=torch._C._profiler
                       ._ExperimentalConfig(verbose=True))
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    data = torch.randn(4, 3, 16, 16)
    target = torch.randint(0, 10, (4,))
    with profile(activities=[ProfilerActivity.CPU], **options) as prof:
        for _ in range(3):
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(data), target)
            if backward:
                loss.backward()
                optimizer.step()
    prof.export_chrome_trace(str(path))
    return prof


def weft(command, *arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"weft {' '.join(arguments)}: {done.stderr}")
    return done.stdout


def nanoseconds(us):
    return round(us * 1000)


def reference_rows(prof):
    """Self time, count and own bytes by name, of host rows."""
    rows = collections.defaultdict(lambda: [0, 0, 0])
    for event in prof.events():
        row = rows[event.name]
        row[0] += nanoseconds(event.self_cpu_time_total)
        row[1] += 1
        row[2] += event.self_cpu_memory_usage
    return rows


def weft_rows(command, path):
    averages = json.loads(
        weft(command, "summary", str(path), "--device", "cpu", "--format", "json"))
    return {row["name"]: [row["self_cpu_ns"], row["count"], row["self_cpu_bytes"]]
            for row in averages["averages"]}, averages["self_cpu_time_total_ns"]


def merged_away(path):
    """How many rows of each name PyTorch merges into a parent of that name,
    found in the file itself."""
    events = json.loads(path.read_text())["traceEvents"]
    spans = [e for e in events if e.get("ph") == "X" and
             e.get("cat") in ("cpu_op", "user_annotation", "python_function")]
    threads = collections.defaultdict(list)
    for event in spans:
        start = nanoseconds(event["ts"])
        threads[event["tid"]].append((start, -nanoseconds(event["dur"]), event["name"]))
    merged = collections.Counter()
    for rows in threads.values():
        rows.sort(key=lambda row: row[:2])
        children = collections.defaultdict(list)
        stack = []
        for index, (start, negative, _) in enumerate(rows):
            while stack and rows[stack[-1]][0] - rows[stack[-1]][1] <= start:
                stack.pop()
            if stack:
                children[stack[-1]].append(index)
            stack.append(index)
        # An only child of the same name goes, however deep.
        for parent, inside in children.items():
            if len(inside) == 1 and rows[inside[0]][2] == rows[parent][2]:
                merged[rows[parent][2]] += 1
    return merged


def compare(command, name, options, directory):
    path = directory / f"{name}.json"
    # What runs backward takes the stack of the forward range, which a trace
    # file does not tell: stacks are compared where nothing does.
    forward_only = name == "forward_stack"
    prof = record(options, path, backward=not forward_only)
    expected = reference_rows(prof)
    found, found_total = weft_rows(command, path)
    merged = merged_away(path)
    differences = []
    frames = {e["name"] for e in json.loads(path.read_text())["traceEvents"]
              if e.get("cat") == "python_function"}
    for key in sorted(set(expected) | set(found)):
        if key not in found or key not in expected:
            differences.append(f"{key}: only {'PyTorch' if key in expected else 'weft'} has it")
            continue
        self_ns, count, memory = expected[key]
        weft_ns, weft_count, weft_memory = found[key]
        if abs(weft_ns - self_ns) > TOLERANCE_NS * count:
            differences.append(f"{key}: self {weft_ns} ns, PyTorch {self_ns} ns")
        if weft_count - merged[key] != count:
            differences.append(f"{key}: count {weft_count}, PyTorch {count}")
        if options.get("profile_memory") and weft_memory != memory:
            differences.append(f"{key}: own memory {weft_memory}, PyTorch {memory}")
    # PyTorch's total leaves the functions of Python out.
    found_total -= sum(found[frame][0] for frame in frames)
    expected_total = nanoseconds(prof.key_averages().self_cpu_time_total)
    rows = sum(count for _, count, _ in expected.values())
    if abs(found_total - expected_total) > TOLERANCE_NS * rows:
        differences.append(f"total: {found_total} ns, PyTorch {expected_total} ns")
    stacks = "" if not forward_only else compare_stacks(
        command, prof, path, directory, differences, frames)
    print(f"{name}: {len(expected)} names, {rows} rows, total "
          f"{expected_total} ns{stacks}: "
          f"{'agree' if not differences else 'DIFFER'}")
    for line in differences:
        print("   ", line)
    return not differences


def folded(name):
    return name.translate(str.maketrans(" ;\t\n", "____"))


def without_opening(stack):
    """A user range begins inside the call that opens it and goes on after it
    has returned: the two overlap, and neither is around the other. So what
    happens in that call counts where it was made."""
    frames = stack.split(";")
    for i, frame in enumerate(frames):
        if "autograd/profiler.py" in frame and "__enter__" in frame:
            return ";".join(frames[:i])
    return stack


def compare_stacks(command, prof, path, directory, differences, frames):
    """PyTorch writes a line an event: the functions of Python around it. In the
    file they are rows, so weft's stacks have them, and operators between."""
    out = directory / "stacks.txt"
    prof.export_stacks(str(out), "self_cpu_time_total")
    expected = collections.Counter()
    lines = collections.Counter()
    for line in out.read_text().splitlines():
        stack, us = line.rsplit(" ", 1)
        stack = without_opening(stack)
        expected[stack] += int(us)
        lines[stack] += 1
    shown = {folded(frame) for frame in frames}
    found = collections.Counter()
    for line in weft(command, "stacks", str(path), "--frames", "spans",
                     "--unit", "ns").splitlines():
        stack, ns = line.rsplit(" ", 1)
        around = stack.split(";")[:-1]
        around = ";".join(f for f in around if f in shown)
        found[without_opening(around)] += int(ns)
    for stack, us in expected.items():
        # PyTorch cuts each event to whole microseconds.
        if not 0 <= found[stack] - us * 1000 <= 1000 * (lines[stack] + SHORT):
            differences.append(f"stack {stack[-60:]}: {found[stack]} ns, "
                               f"PyTorch {us} us in {lines[stack]} events")
    return f", {sum(lines.values())} lines of stacks"


def main():
    command, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    print("torch", torch.__version__)
    cases = {
        "plain": {},
        "shapes": {"record_shapes": True},
        "memory": {"profile_memory": True},
        "flops": {"with_flops": True, "record_shapes": True},
        "stack": {"with_stack": True},
        "forward_stack": {"with_stack": True},
        "modules": {"with_stack": True, "with_modules": True},
        "all": {"record_shapes": True, "profile_memory": True,
                "with_flops": True, "with_stack": True},
    }
    results = [compare(command, name, options, directory)
               for name, options in cases.items()]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
