"""Memory of recompute: what a step needs beside persistables (the arena of the plan), and what a process takes, with and without activations computed again.

    bench/memory/recompute.py TOOL_FOLDER LARGE_CORPUS [--run] [CASE:BATCH...]

For every case and way: bytes of the arena, and their part of those without, and of the arena of pinned memory, where what is kept waits on the host
(recompute_offload). With --run also what the process had at most, less what it has without recompute, beside the same difference of both arenas: the
ledger against what is measured. A batch is a multiple of the case's own.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import time

CASES = ["static26_bert_base:16", "static26_gpt2_small:16", "static26_gpt_96layer:8"]
WAYS = [
    ("none", None, 0, False),
    ("checkpoints of the case", "", 0, False),
    ("checkpoints, on the host", "", 0, True),
    ("sqrt", "sqrt", 0, False),
    ("sqrt, on the host", "sqrt", 0, True),
    ("auto, 10 %", "auto", 10, False),
    ("auto, 20 %", "auto", 20, False),
    ("auto, 30 %", "auto", 30, False),
    ("auto, 30 %, on the host", "auto", 30, True),
]
SIZES = {"int64": ("<i8", 8), "float32": ("<f4", 4)}


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout))


def write_zeros(path, dtype, shape):
    kind, size = SIZES[dtype]
    for extent in shape:
        size *= extent
    header = repr({"descr": kind, "fortran_order": False, "shape": tuple(shape)})
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.truncate(f.tell() + size)


def arenas_of(folder):
    """Bytes of step memory, and of pinned memory."""
    most = [0, 0]
    for root, _, files in os.walk(folder):
        for name in files:
            if name == "plan.json":
                with open(os.path.join(root, name)) as f:
                    plan = json.load(f)
                found = [max([0] + list(values(plan, key))) for key in ("arena_bytes", "pinned_bytes")]
                most = [max(pair) for pair in zip(most, found)]
    return most


def values(node, key):
    for name, child in node.items() if isinstance(node, dict) else enumerate(node):
        if name == key:
            yield child
        elif isinstance(child, (dict, list)):
            yield from values(child, key)


def main(tools, corpus, *words):
    tool = os.path.join(tools, "dtranspile")
    run = "--run" in words
    print("| program, batch | way | arena, MB | of none | pinned, MB | pass and job, s |" + (" process, MB less than none | both arenas, MB less than none |" if run else ""))
    print("| --- | --- | --- | --- | --- | --- |" + (" --- | --- |" if run else ""))
    for word in [w for w in words if ":" in w] or CASES:
        name, batch = word.split(":")
        folder = os.path.join(corpus, name)
        with open(os.path.join(folder, "case.json")) as f:
            description = json.load(f)
        with tempfile.TemporaryDirectory() as work:
            feeds = os.path.join(work, "feeds")
            os.mkdir(feeds)
            for feed in description["feeds"]:
                shape = [1, feed["shape"][0] * int(batch)] + feed["shape"][1:]
                write_zeros(os.path.join(feeds, feed["name"] + ".npy"), feed["dtype"], shape)
            first = None
            for way, checkpoints, percent, host in WAYS:
                job = os.path.join(work, "job")
                asked = []
                if checkpoints is not None:
                    given = checkpoints or ",".join(description["checkpoints"])
                    asked = ["--recompute", "--recompute-checkpoints", given]
                    asked += ["--recompute-extra-work", str(percent)] if percent else []
                    asked += ["--recompute-offload"] if host else []
                begin = time.time()
                program = [os.path.join(folder, p + ".pdmodel") for p in ("main", "startup")]
                call(tool, "transpile", program[0], "--startup", program[1], "-o", job, *asked)
                seconds = time.time() - begin
                plan = os.path.join(work, "plan")
                call(tool, "compile", job, "--feeds", feeds, "-o", plan)
                (arena, pinned), peak = arenas_of(plan), 0
                if run:
                    report = os.path.join(work, "report.json")
                    call(tool, "run", job, "--feeds", feeds, "--steps", "1", "--report", report)
                    with open(report) as f:
                        peak = json.load(f)["ranks"][0]["peak_rss_bytes"]
                first = first or (arena, peak)
                row = [name + ", " + str(description["feeds"][0]["shape"][0] * int(batch)), way]
                row += ["%.0f" % (arena / 1e6), "%.2f" % (arena / first[0]), "%.0f" % (pinned / 1e6), "%.1f" % seconds]
                row += ["%.0f" % ((first[1] - peak) / 1e6), "%.0f" % ((first[0] - arena - pinned) / 1e6)] if run else []
                print("| " + " | ".join(row) + " |", flush=True)
                subprocess.run(["rm", "-rf", job, plan])


if __name__ == "__main__":
    main(*sys.argv[1:])
