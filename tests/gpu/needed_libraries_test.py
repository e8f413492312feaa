# SPDX-License-Identifier: Apache-2.0
"""That one binary serves machines with CUDA and without.

usage: needed_libraries_test.py PROGRAM ...
"""

import re
import subprocess
import sys
import unittest

VENDORS = re.compile(r"cuda|cupti|cudart|nvidia|nvtx|nvrtc", re.I)
programs = []


class NeededLibraries(unittest.TestCase):
    def test_none_of_them_is_a_vendors(self):
        for program in programs:
            dynamic = subprocess.run(
                ["readelf", "-d", program], check=True, capture_output=True,
                text=True).stdout
            needed = re.findall(r"\(NEEDED\).*\[(.+)\]", dynamic)
            self.assertTrue(needed, program)
            self.assertEqual([n for n in needed if VENDORS.search(n)], [],
                             program)


if __name__ == "__main__":
    programs = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
