"""Programs that hold the framework's parallel layers (test/corpus, parallel26). What one rank saved becomes a job that trains as the same net on one device
does, in the framework and natively; every job is verified. Whose rank the program is changes nothing; a program that lacks a sum, and ranks that disagree, are
refused.

    parallel_input_case.py TOOL_FOLDER CORPUS CASE PARTS EXPORTED RANKS...

PARTS is how many variables lie in parts, EXPORTED the framework's ops, separated by commas, that exported programs have; the degree is 2, what is more of
RANKS are replicas.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from sharding_case import Case, compare_with_one
from tensor_parallel_case import parts_of
from train_case import call, compare_losses, fail, loss_of

FLAGS = ["--tensor-parallel", "--tensor-parallel-degree", "2", "--input-parallel", "mp"]


def refused(tool, work, what, expected, *words):
    done = subprocess.run(
        [tool, "transpile", *words, "-o", os.path.join(work, what), "--trainers", "2", *FLAGS],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 1 or expected not in done.stdout:
        fail("%s: exit status %d, not refused with '%s':\n%s" % (what, done.returncode, expected, done.stdout))


def digest_of(job):
    with open(os.path.join(job, "manifest.json")) as f:
        return json.load(f)["digest"]


def edited(tool, work, file, change):
    """The program with its text changed."""
    text, program = (os.path.join(work, "edited" + ending) for ending in (".mlir", ".pdmodel"))
    call(tool, "convert", file, text)
    with open(text) as f:
        before = f.read()
    with open(text, "w") as f:
        f.write(change(before))
    call(tool, "convert", text, program)
    return program


def without_a_sum(text):
    """The last sum of the forward part is an assignment."""
    at = text.rindex("pd.mp_allreduce_sum")
    line = text[at : text.index("\n", at)]
    return text.replace(line, re.sub(r"\{.*\} :", ":", line.replace("pd.mp_allreduce_sum", "pd.assign")))


def main(tools, corpus, name, parts, exported_ops, *counts):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, FLAGS)
        _, alone = case.run("alone", case.main)
        ranks = [os.path.join(case.folder, "rank%d.pdmodel" % i) for i in range(2)]
        startup = ["--startup", os.path.join(case.folder, "rank.startup.pdmodel")]
        for count in counts:
            jobs = []
            for i, file in enumerate(ranks):
                case.program = [file, *startup, "--input-rank", ranks[1 - i]]
                jobs.append(case.transpile("job%s_%d" % (count, i), count))
            if digest_of(jobs[0]) != digest_of(jobs[1]):
                fail("%s: the programs of the two ranks make different jobs" % name)
            text = "%s, %s ranks" % (name, count)
            if parts_of(jobs[0]) != int(parts):
                fail("%s: %d variables lie in parts, not %s" % (text, parts_of(jobs[0]), parts))
            found, saved = case.run("run" + count, jobs[0])
            worst = compare_losses(text, found["fetch"][loss_of(case.description)], case.golden)
            same = compare_with_one(text, jobs[0], saved, alone, case)
            print("%s: largest difference of a loss %.2e, %d variables" % (text, worst, same))
        exported = os.path.join(work, "exported")
        call(case.tool, "export", jobs[0], "-o", exported)
        programs = [os.path.join(at, file) for at, _, files in os.walk(exported) for file in files]
        data = b"".join(open(file, "rb").read() for file in programs)
        for word in exported_ops.split(","):
            if word.encode() not in data:
                fail("%s: no exported program has %s" % (name, word))
        lacking = edited(case.tool, work, ranks[0], without_a_sum)
        refused(case.tool, work, "lacking", "a term of a sum", lacking, *startup)
        other = edited(case.tool, work, ranks[1], lambda text: text.replace("approximate = false", "approximate = true"))
        refused(case.tool, work, "other", "programs of one group differ in their rank only", ranks[0], *startup, "--input-rank", other)
        refused(case.tool, work, "twice", "give one program of each rank", ranks[0], *startup, "--input-rank", ranks[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
