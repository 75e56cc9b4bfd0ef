"""Trains one case of the corpora with layers split over ranks. Losses are the framework's; parameters as recorded; all variables, those that lie in parts
included, those of the run on one device, in its shapes. Every job is verified.

    tensor_parallel_case.py TOOL_FOLDER CORPUS CASE PARTS JOB... [TRANSPILE FLAG...]

JOB is RANKS/DEGREE, or RANKS/DEGREE=BYTES: what the formula of docs/passes/tensor-parallel.md says that a rank sends in a step; a job sends that, within 2 %. PARTS is how many variables lie in parts: those of the plan, which a rule that says less would make whole without a word.
"""

import json
import os
import re
import sys
import tempfile

from sharding_case import Case, compare_with_one
from train_case import compare_losses, compare_parameters, fail, loss_of


def parts_of(job):
    """Variables that lie in parts along the axis of layers."""
    with open(os.path.join(job, "manifest.json")) as f:
        variables = json.load(f)["persistables"]
    return sum(bool(re.search(r"\bmp: S\(\d", variable["relation"] or "")) for variable in variables)


def main(tools, corpus, name, parts, *words):
    count = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    jobs, flags = words[:count], words[count:]
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, flags)
        _, alone = case.run("alone", case.main)
        for word in jobs:
            word, _, least = word.partition("=")
            ranks, degree = word.split("/")
            what = "job" + re.sub(r"\W", "_", word)
            job = case.transpile(what, ranks, "--tensor-parallel", "--tensor-parallel-degree", degree)
            text = "%s, job %s" % (name, word)
            if parts_of(job) != int(parts):
                fail("%s: %d variables lie in parts, not %s" % (text, parts_of(job), parts))
            found, saved = case.run(what, job)
            worst = compare_losses(text, found["fetch"][loss_of(case.description)], case.golden)
            after = os.path.join(case.folder, "after")
            if os.path.isdir(after):
                compare_parameters(text, saved, after, case.noise)
            count = compare_with_one(text, job, saved, alone, case)
            if least:
                sent = case.sent(what + "sent", job)
                if not int(least) <= sent <= 1.02 * int(least):
                    fail("%s: a rank sends %d bytes in a step, not %s" % (text, sent, least))
                text += ": %d bytes per step" % sent
            print("%s: largest difference of a loss %.2e, %d variables" % (text, worst, count))


if __name__ == "__main__":
    main(*sys.argv[1:])
