# SPDX-License-Identifier: Apache-2.0
"""Machine code of x86-64 object files, as functions and the ways through them."""

import collections
import re
import subprocess

# A way through a function never takes more instructions than this; it keeps a
# misread branch from running for ever.
MAX_INSTRUCTIONS = 2000

Instruction = collections.namedtuple("Instruction", "address text target")

_FUNCTION = re.compile(r"^[0-9a-f]+ <(.+)>:$")
_INSTRUCTION = re.compile(r"^\s*([0-9a-f]+):\t(?:[0-9a-f]{2} )+\s*\t(.+)$")
_RELOCATION = re.compile(r"^\s+[0-9a-f]+: (R_X86_64_\w+)\s+(\S+)$")
_LOCAL_CALL = re.compile(r"^call\s+[0-9a-f]+ <(.+)>$")
_JUMP = re.compile(r"^(j\w+)\s+[0-9a-f]+ <(.+?)(?:\+0x([0-9a-f]+))?>")


class Code:
    """The functions of an object file or archive, with their relocations."""

    def __init__(self, path):
        text = subprocess.run(
            ["objdump", "-dr", path],
            check=True, capture_output=True, text=True).stdout
        self.functions = collections.defaultdict(list)
        name = None
        for line in text.splitlines():
            if match := _FUNCTION.match(line):
                name = match[1]
            elif match := _INSTRUCTION.match(line):
                text = match[2].strip()
                # Overwritten by the relocation, if there is one.
                local = _LOCAL_CALL.match(text)
                self.functions[name].append(
                    Instruction(int(match[1], 16), text,
                                local[1] if local else ""))
            elif (match := _RELOCATION.match(line)) and self.functions[name]:
                last = self.functions[name][-1]
                self.functions[name][-1] = last._replace(
                    target=f"{match[1]} {match[2]}")

    def with_cold_part(self, name):
        """All instructions of a function, those moved out of the way too."""
        return self.functions[name] + self.functions.get(name + ".cold", [])

    def ways(self, name, may_call):
        """Every way from entry to return that calls nothing but `may_call`."""
        code = self.functions[name]
        at = {step.address: i for i, step in enumerate(code)}
        found = []

        def walk(index, way):
            while index is not None and index < len(code):
                assert len(way) < MAX_INSTRUCTIONS, f"{name} has a loop"
                step = code[index]
                way = way + [step]
                if step.text.startswith("ret"):
                    found.append(way)
                    return
                if calls(step):
                    if not step.target.split()[-1].startswith(may_call):
                        return
                    if step.text.startswith("jmp"):  # a tail call
                        found.append(way)
                        return
                jump = _JUMP.match(step.text)
                if jump and not step.target:
                    where = code[0].address + int(jump[3] or "0", 16)
                    inside = at.get(where) if jump[2] == name else None
                    if jump[1] == "jmp":
                        index = inside
                        continue
                    if inside is not None:
                        walk(inside, way)
                elif jump and jump[1] == "jmp":
                    return  # to the cold part
                index += 1

        walk(0, [])
        return found


def calls(step):
    """Whether the instruction leaves the function for another one."""
    if step.text.startswith("call"):
        return True
    return step.text.startswith("jmp") and "R_X86_64_PLT32" in step.target
