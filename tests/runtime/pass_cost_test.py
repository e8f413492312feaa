# SPDX-License-Identifier: Apache-2.0
"""What an idle pass of the drainer executes, in instructions, by callgrind.

usage: pass_cost_test.py PASS_COST
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

program = None


def instructions_a_pass(ended, live):
    with tempfile.TemporaryDirectory() as folder:
        # Collected is what pass() executes, but for anchors: those are taken as
        # time passes, not by the pass.
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--max-threads=1000",
             "--callgrind-out-file=" + os.path.join(folder, "out"),
             "--toggle-collect=weft::Drainer::pass()",
             "--toggle-collect=weft::Drainer::take_anchor()",
             program, str(ended), str(live)],
            capture_output=True, text=True, check=True)
        passes = int(run.stdout)
        # The first dump has what came before, the second the passes.
        dump = os.path.join(folder, "out.2")
        with open(dump, encoding="utf-8") as text:
            total = re.search(r"^(?:totals|summary): (\d+)", text.read(), re.M)
        return int(total.group(1)) / passes


class K5_02(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.fresh = instructions_a_pass(0, 0)
        print(f"{cls.fresh:.0f} instructions in a fresh process")

    def test_something_was_measured(self):
        self.assertGreater(self.fresh, 50)

    def test_threads_long_dead_cost_nothing(self):
        after = instructions_a_pass(3000, 0)
        print(f"{after:.0f} after 3000 threads")
        self.assertLess(after, self.fresh * 1.2)

    def test_an_idle_thread_costs_a_look_at_its_ring(self):
        idle = instructions_a_pass(0, 200)
        each = (idle - self.fresh) / 200
        print(f"{each:.1f} for each idle thread")
        self.assertLess(each, 130)
        self.assertGreater(each, 1)


if __name__ == "__main__":
    program = sys.argv.pop(1)
    unittest.main(verbosity=2)
