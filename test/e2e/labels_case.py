"""A loss that divides by a count, or a sum of weights, of the batch: a data-parallel job divides by that of all ranks, and has the losses of one device though
every rank counts otherwise.

    labels_case.py TOOL_FOLDER CORPUS CASE RANKS [FLAG...]

RANKS is a comma-separated list. With flags that change the program of one device (amp, gradient_merge) the losses are compared with those of a job of one rank
with these flags, else with the framework's. A case of verdict `parts` keeps its sites, and its losses are others.
"""

import json
import os
import sys
import tempfile

from models_case import answer, check_verdict, losses_of
from train_case import call, compare_losses, fail, scalar

# They make another program of the one device's.
CHANGES = ("--amp", "--gradient-merge")


def job_of(tool, folder, work, ranks, flags):
    job = os.path.join(work, "job" + ranks)
    main, startup = (os.path.join(folder, part + ".pdmodel") for part in ("main", "startup"))
    call(tool, "transpile", main, "--startup", startup, "-o", job, "--trainers", ranks, *flags)
    return job


def check_counts(tool, job, wanted):
    """A job that is whole adds counts up over a communicator of their own; one that is not has none."""
    text = answer(tool, "show", job)[1]
    if ("@counts" in text) != wanted:
        fail("%s communicator @counts in %s" % ("no" if wanted else "a", job))


def main(tools, corpus, case, ranks, *flags):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with open(os.path.join(folder, "golden.json")) as f:
        expected = json.load(f)[description["loss"]]
    loss, whole = description["loss"], description["verdict"] == "whole"
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(folder, "main.pdmodel")
        worst = compare_losses(case, losses_of(tool, case, program, folder, work, loss), expected)
        if any(flag in CHANGES for flag in flags):
            expected = losses_of(tool, case, job_of(tool, folder, work, "1", flags), folder, work, loss)
            expected = [scalar(one) for one in expected]
        for count in ranks.split(","):
            what = "%s on %s ranks" % (case, count)
            job = job_of(tool, folder, work, count, flags)
            check_verdict(tool, job, description["verdict"], description["sites"])
            check_counts(tool, job, whole)
            found = losses_of(tool, what, job, folder, work, loss)
            if whole:
                worst = max(worst, compare_losses(what, found, expected))
            elif all(abs(scalar(a) - b) <= 1e-4 * abs(b) for a, b in zip(found, expected)):
                fail("%s: the losses of one device, though it has sites" % what)
        print("%s: largest difference of a loss %.2e" % (case, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
