# SPDX-License-Identifier: Apache-2.0
"""The machine code of the instrumentation macros, as a user's compiler makes it.

usage: generated_code_test.py --compiler C++ --runtime LIBRARY
                              --include FOLDER ... [unittest arguments]
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import disassembly

COLD = re.compile(r"_ZN4weft8internal("
                  r"10begin_span|8end_span|11settle_site|"
                  r"10begin_call|8end_call)|"
                  # The lambda that calls begin_call, where it is no inline code.
                  r"_ZZN4weft8internal8CallSpanC1I|_Unwind_Resume")
# An exchange of registers is a way to write a no-op.
WAITS = re.compile(r"[lms]fence|cpuid|rdtscp|lock |xchg.*\(")
arguments = None


def compiled(source, *flags):
    """The code of that file beside this one."""
    source = pathlib.Path(__file__).with_name(source)
    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/spans.o"
        command = [arguments.compiler, "-std=c++17", "-O2", "-c", "-o", path,
                   *flags, str(source)]
        for include in arguments.include:
            command += ["-I", include]
        subprocess.run(command, check=True)
        return disassembly.Code(path)


def read_ticks(way):
    return sum(step.text.startswith("rdtsc") for step in way)


def thread_local_uses(way):
    return [step for step in way if "%fs:" in step.text]


class Spans:
    """Compiles a source once a class, for a program or for a plugin."""
    SOURCE = "spans.cc"
    INSTRUMENTED = ("one_span", "one_argument", "whole_function")
    FLAGS = ()

    @classmethod
    def setUpClass(cls):
        cls.code = compiled(cls.SOURCE, *cls.FLAGS)

    def ways(self, name, ticks):
        """The ways that call only the instrumented work and read the cycle
        counter `ticks` times."""
        ways = [way for way in self.code.ways(name, ("work",))
                if read_ticks(way) == ticks]
        self.assertTrue(ways, f"no way through {name} reads it {ticks} times")
        return ways


class HotPath(Spans, unittest.TestCase):
    def test_a_recorded_span_reads_the_counter_twice_and_calls_nothing(self):
        for name in self.INSTRUMENTED:
            most = max(read_ticks(way)
                       for way in self.code.ways(name, ("work",)))
            self.assertEqual(most, 2, name)

    def test_no_instruction_waits_for_others(self):
        for name in self.INSTRUMENTED:
            for step in self.code.with_cold_part(name):
                self.assertNotRegex(step.text, WAITS)

    def test_the_slow_paths_are_the_only_calls(self):
        for name in self.INSTRUMENTED:
            called = [step.target.split()[-1]
                      for step in self.code.with_cold_part(name)
                      if disassembly.calls(step)]
            for target in called:
                if not target.startswith("work"):
                    self.assertRegex(target, COLD, name)

    def test_an_off_site_costs_one_load_and_one_branch(self):
        for name in self.INSTRUMENTED:
            for way in self.ways(name, 0):
                loads = [step for step in way if "(%rip)" in step.text
                         and not step.text.startswith(("call", "lea"))]
                branches = [step for step in way
                            if re.match(r"j(?!mp)", step.text)]
                self.assertEqual(len(loads), 1, f"{name}: {loads}")
                # One at the begin; the end's may be merged with it.
                self.assertIn(len(branches), (1, 2), f"{name}: {branches}")


class HotPathInPlugin(HotPath):
    FLAGS = ("-fPIC",)


class CallHotPath(HotPath):
    """Instrumented calls that nobody observes are spans."""
    SOURCE = "calls.cc"
    INSTRUMENTED = ("one_call", "call_with_inputs", "user_range")


class CallHotPathInPlugin(CallHotPath):
    FLAGS = ("-fPIC",)


class K6_01(Spans, unittest.TestCase):
    def test_an_off_site_touches_no_thread_local(self):
        for name in self.INSTRUMENTED:
            for way in self.ways(name, 0):
                self.assertEqual(thread_local_uses(way), [], name)

    def test_thread_locals_need_no_call(self):
        for name in self.INSTRUMENTED:
            for step in self.code.with_cold_part(name):
                self.assertNotIn("__tls_get_addr", step.target, step)
            for way in self.ways(name, 2):
                self.assertTrue(thread_local_uses(way), name)


class K6_01_InPlugin(K6_01):
    FLAGS = ("-fPIC",)

    def test_the_switch_gives_up_static_thread_local_memory(self):
        code = compiled(self.SOURCE, *self.FLAGS, "-DWEFT_DYNAMIC_TLS")
        targets = " ".join(step.target for step in code.functions["one_span"])
        self.assertNotIn("GOTTPOFF", targets)
        self.assertIn("TLSGD", targets)


class DisabledCode(unittest.TestCase):
    def test_compiled_out_macros_leave_not_one_instruction(self):
        for source, names in (
                (Spans.SOURCE, Spans.INSTRUMENTED + ("all_kinds",)),
                (CallHotPath.SOURCE, CallHotPath.INSTRUMENTED)):
            disabled = compiled(source, "-DWEFT_DISABLED")
            plain = compiled(source, "-DNO_MACROS")
            for name in names:
                self.assertTrue(plain.functions[name], name)
                self.assertEqual(disabled.functions[name],
                                 plain.functions[name])


class Clock(unittest.TestCase):
    """In the library: how slow paths read the counter."""

    @classmethod
    def setUpClass(cls):
        cls.code = disassembly.Code(arguments.runtime)

    def mnemonics(self, function):
        steps = self.code.functions[function]
        self.assertTrue(steps, function)
        return [step.text.split()[0] for step in steps]

    def test_the_end_of_an_arrow_waits_for_what_came_before_it(self):
        steps = self.mnemonics("_ZNK4weft7Runtime11now_orderedEv")
        self.assertEqual(steps.count("lfence"), 1)
        self.assertEqual(steps[steps.index("lfence") + 1], "rdtsc")

    def test_other_records_do_not_wait(self):
        steps = self.mnemonics("_ZNK4weft7Runtime3nowEv")
        self.assertIn("rdtsc", steps)
        self.assertNotIn("lfence", steps)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--include", action="append", required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
