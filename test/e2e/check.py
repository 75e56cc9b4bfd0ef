"""What the drivers of this folder share: calling the tool, saying what was expected, small files."""

import array
import json
import os
import struct
import subprocess
import sys
import tempfile


class Check:
    def __init__(self, tools, corpus, work):
        self.tool = os.path.join(tools, "dtranspile")
        self.corpus = corpus
        self.case = os.path.join(corpus, "fluid18", "fit_a_line")
        self.work = work
        self.failures = 0

    def path(self, name):
        return os.path.join(self.work, name)

    def program(self, name):
        return os.path.join(self.case, name)

    def call(self, *words, **environment):
        return subprocess.run(
            [self.tool, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=120,
            text=True,
            env=dict(os.environ, **environment),
        )

    def expect(self, what, good, detail=""):
        if not good:
            self.failures += 1
            print("FAILED: %s\n%s" % (what, detail))
        else:
            print("ok: " + what)

    def expect_exit(self, what, code, words, *fragments, **environment):
        done = self.call(*words, **environment)
        text = done.stdout + done.stderr
        missing = [f for f in fragments if f not in text]
        self.expect(
            what,
            done.returncode == code and not missing,
            "exit status %d, expected %d; missing %s\n%s" % (done.returncode, code, missing, text),
        )

    def transpile(self, job, ranks, *more):
        return [
            "transpile",
            self.program("main.pdmodel"),
            "--startup",
            self.program("startup.pdmodel"),
            "-o",
            self.path(job),
            "--mode",
            "collective",
            "--trainers",
            str(ranks),
            *more,
        ]


def losses_of(check, fetch, words):
    """What `run` reports of a variable, step by step."""
    file = check.path("losses.json")
    done = check.call("run", *words, "--report", file, "--fetch", fetch)
    if done.returncode != 0:
        check.expect("run " + " ".join(words), False, done.stdout + done.stderr)
        return []
    with open(file) as f:
        return [x if isinstance(x, list) else [x] for x in json.load(f)["fetch"][fetch]]


def varint(value):
    parts = []
    while value >= 128:
        parts.append(value % 128 + 128)
        value //= 128
    return bytes(parts + [value])


def write_npy(path, dims, value):
    """float32, all elements `value` but every third, which is 0."""
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(
        map(str, dims)
    )
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    count = 1
    for extent in dims:
        count *= extent
    data = array.array("f", (value if i % 3 else 0.0 for i in range(1000))) * (count // 1000 + 1)
    with open(path, "wb") as out:
        out.write(
            b"\x93NUMPY\x01\x00"
            + struct.pack("<H", len(header))
            + header.encode()
            + data[:count].tobytes()
        )


def workers_of(process):
    """The processes that a process has started."""
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], stdout=subprocess.PIPE, text=True
    ).stdout.split()
    return [int(child) for child in children]


def main(parts):
    """Calls every part with one Check. Arguments: TOOL_FOLDER CORPUS."""
    with tempfile.TemporaryDirectory() as work:
        check = Check(sys.argv[1], sys.argv[2], work)
        for part in parts:
            part(check)
        sys.exit(1 if check.failures else 0)
