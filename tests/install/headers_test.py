# SPDX-License-Identifier: Apache-2.0
"""The public headers among the worst of neighbours.

usage: headers_test.py --compiler C++ --headers A.h;B.h;...
                       --include FOLDER ... [unittest arguments]

Headers are named as programs include them. Each compiles alone; all of them in
both orders, so that each is also last, after macros that real programs define
(X11, Objective-C, Windows, glog). Those come after the standard headers, as they
must: the standard library itself does not survive them.
"""

import argparse
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor

HOSTILE = """
#define ERROR @
#define min(a, b) @
#define max(a, b) @
#define id @
#define CONCAT(a, b) @
#define LOG @
#define CHECK @
#define Status @
#define interface @
#define small @
#define near @
#define far @
"""
TWICE = """
#define TRACED(name) WEFT_SPAN(name)
void two_on_a_line() { WEFT_SPAN("a"); WEFT_SPAN("b"); WEFT_FUNCTION(); }
int in_a_switch(int n) {
  switch (n) {
    case 0: { TRACED("zero"); return 1; }
    case 1: WEFT_INSTANT("one"); return 2;
    default: break;
  }
  if (n > 7) WEFT_COUNTER("n", n); else WEFT_FLOW_OUT("n", 1);
  return n;
}
"""
FLAGS = ["-fsyntax-only", "-fno-exceptions", "-fno-rtti", "-Wall", "-Wextra",
         "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror", "-x", "c++", "-"]
# For tools, which are C++20 like the library; the rest is for all programs. Its
# events have the field names of the profiler they follow, `id` among them.
CXX20 = re.compile("weft/(profile|gpu)/")
arguments = None


def includes(headers):
    return "".join(f'#include "{header}"\n' for header in headers)


def hostile(headers):
    """HOSTILE, and then the headers."""
    text = HOSTILE
    for header in headers:
        if CXX20.match(header):
            text += f'#undef id\n#include "{header}"\n#define id @\n'
        else:
            text += f'#include "{header}"\n'
    return text


def compile_text(text, standard, *flags):
    """What the compiler says of it: nothing when all is well."""
    command = [arguments.compiler, f"-std=c++{standard}", *flags, *FLAGS]
    for folder in arguments.include:
        command += ["-I", folder]
    return subprocess.run(command, input=text, capture_output=True,
                          text=True).stderr[:3000]


def standard_headers():
    """Those of the system that weft's headers include."""
    found = set()
    for header in arguments.headers:
        for folder in arguments.include:
            path = os.path.join(folder, header)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    found |= set(re.findall(r"^#include (<.*>)", file.read(),
                                            re.M))
    return "".join(f"#include {name}\n" for name in sorted(found))


class K7_03(unittest.TestCase):
    def headers(self, standard):
        return [header for header in arguments.headers
                if standard >= 20 or not CXX20.match(header)]

    def test_every_header_stands_alone(self):
        standard = {"g++": 17, "clang++": 20}[arguments.compiler]
        headers = self.headers(standard)
        self.assertGreater(len(headers), 20)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            said = pool.map(
                lambda header: compile_text(includes([header]), standard),
                headers)
            for header, errors in zip(headers, said):
                self.assertFalse(errors, f"{header}\n{errors}")

    def test_headers_survive_macros_of_other_libraries(self):
        for standard in (17, 20, 23):
            headers = self.headers(standard)
            for order in (headers, headers[::-1]):
                text = standard_headers() + hostile(order)
                # GCC's front end spells the standard so since 11.
                errors = compile_text(text, "2b" if standard == 23
                                      else standard)
                self.assertFalse(errors, f"C++{standard}\n{errors}")

    def test_macros_fit_where_statements_do(self):
        for flags in ((), ("-DWEFT_DISABLED",)):
            text = (includes(["weft/weft.h"]) + HOSTILE + TWICE)
            errors = compile_text(text, 17, *flags)
            self.assertFalse(errors, errors)

    def test_every_macro_is_called_weft(self):
        command = [arguments.compiler, "-std=c++20", "-E", "-dD", "-x", "c++",
                   "-"]
        for folder in arguments.include:
            command += ["-I", folder]
        text = subprocess.run(command, input=includes(arguments.headers),
                              check=True, capture_output=True, text=True).stdout
        ours = False
        names = set()
        for line in text.splitlines():
            if place := re.match(r'# \d+ "(.*?)"', line):
                ours = place[1].startswith(tuple(arguments.include))
            elif ours and (macro := re.match(r"#define (\w+)", line)):
                names.add(macro[1])
        self.assertIn("WEFT_SPAN", names)
        self.assertEqual([name for name in sorted(names)
                          if not name.startswith("WEFT_")], [])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--headers", required=True,
                        type=lambda text: text.split(";"))
    parser.add_argument("--include", action="append", required=True)
    arguments, rest = parser.parse_known_args()
    unittest.main(argv=sys.argv[:1] + rest)
