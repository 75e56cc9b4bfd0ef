"""Kernels read the arguments of their own call: the entry that a row of <family>_calls.cc names
uses no names of another call (runtime/kernels/signatures) that its own has not in the same place."""

import os
import re
import sys

ROW = re.compile(r'"(dt_\w+)",\s*Entry<(\w+)>')
ENTRY = re.compile(r"^int32_t (\w+)\(OpCall& call\) \{\n(.*?)^\}", re.M | re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def main(root):
    sources = [
        os.path.join(folder, name)
        for folder, _, names in os.walk(root)
        for name in names
        if name.endswith(".cc")
    ]
    calls = {}
    for path in sources:
        for call, entry in ROW.findall(read(path)):
            calls.setdefault(entry, set()).add(call)
    seen, wrong = 0, []
    for path in sources:
        for entry, body in ENTRY.findall(read(path)):
            used = set(re.findall(r"args::(dt_\w+)", body))
            own = calls.get(entry, set())
            seen += bool(used and own)
            # What serves several calls says by static_assert that their places are equal.
            if used and own and not own & used:
                wrong.append(f"{path}: {entry} is {', '.join(sorted(own))} and reads {used}")
    print("\n".join(wrong))
    print(f"{seen} entries read arguments by name")
    return 1 if wrong or seen < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
