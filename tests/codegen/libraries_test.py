# SPDX-License-Identifier: Apache-2.0
"""What weft's libraries ask of a process and what they add to it.

usage: libraries_test.py LIBWEFT.SO ARCHIVE ...
"""

import re
import subprocess
import sys
import unittest

MAX_STATIC_TLS = 64
MINE = re.compile(r"weft_|_ZN?K?4weft|_ZNK?[OR]?4weft|_ZT[ISV]N4weft")
library = None
archives = []


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True,
                          text=True).stdout


class K6_01(unittest.TestCase):
    def test_the_static_thread_local_memory_is_small(self):
        segments = re.findall(
            r"^\s+TLS\s+(?:0x\w+\s+){4}(0x\w+)",
            output_of("readelf", "-lW", library), re.M)
        self.assertEqual(len(segments), 1)
        self.assertLessEqual(int(segments[0], 16), MAX_STATIC_TLS)

    def test_nothing_in_it_calls_for_a_thread_local(self):
        needed = output_of("nm", "-D", "--undefined-only", library).split()
        self.assertFalse([n for n in needed if n.startswith("__tls_get_addr")])


class K7_03(unittest.TestCase):
    def test_it_exports_names_of_weft_only(self):
        names = [line.split()[-1] for line in output_of(
            "nm", "-D", "--defined-only", library).splitlines()]
        self.assertTrue(any("begin_span" in name for name in names))
        self.assertEqual([n for n in names if not MINE.match(n)], [])

    def test_archives_define_names_of_weft_only(self):
        # Weak ones are instances of the standard library's templates.
        strong = re.findall(
            r"^[0-9a-f]+ [TDBRG] (\S+)$",
            output_of("nm", "-g", "--defined-only", *archives), re.M)
        self.assertGreater(len(strong), 100)
        self.assertEqual([n for n in strong if not MINE.match(n)], [])


if __name__ == "__main__":
    library, *archives = sys.argv[1:]
    unittest.main(argv=sys.argv[:1])
