"""Trains one case of the corpora with layers split over ranks and another strategy beside that. Losses and all variables, those that lie in parts included, are
those of that strategy alone on one rank, without a pipeline and parts, in its shapes. Every job is verified.

    tensor_parallel_pair_case.py TOOL_FOLDER CORPUS CASE PARTS JOB... TRANSPILE_FLAG...

JOB is RANKS/DEGREE, PARTS how many variables lie in parts (tensor_parallel_case.py).
"""

import os
import re
import sys
import tempfile

from sharding_case import Case, compare_with_one
from tensor_parallel_case import parts_of
from train_case import call, check_verified, compare_losses, fail, loss_of


STAGES = ("--pipeline", "--stages", "--accumulate-steps", "--schedule-mode", "--sharding", "--sharding-stage")  # what needs several ranks


def without_stages(flags):
    """Flags that one rank can have."""
    kept, skips = [], False
    for flag in flags:
        if flag.startswith("--"):
            skips = flag in STAGES
        if not skips:
            kept.append(flag)
    return kept


class Pair(Case):
    def transpile(self, what, ranks, *flags):
        job = os.path.join(self.work, what)
        call(self.tool, "transpile", *self.program, "-o", job, "--trainers", str(ranks), *flags, *self.flags)
        check_verified(self.tool, job)
        return job


def main(tools, corpus, name, parts, *words):
    count = next(i for i, word in enumerate(words) if word.startswith("--"))
    jobs, flags = words[:count], words[count:]
    with tempfile.TemporaryDirectory() as work:
        case = Pair(tools, corpus, name, work, without_stages(flags))
        loss = loss_of(case.description)
        expected, alone = case.run("alone", case.transpile("alone", 1))
        case.flags = flags
        for word in jobs:
            ranks, degree = word.split("/")
            what = "job" + re.sub(r"\W", "_", word)
            job = case.transpile(what, ranks, "--tensor-parallel", "--tensor-parallel-degree", degree)
            text = "%s, job %s" % (name, word)
            if parts_of(job) != int(parts):
                fail("%s: %d variables lie in parts, not %s" % (text, parts_of(job), parts))
            found, saved = case.run(what, job)
            worst = compare_losses(text, found["fetch"][loss], expected["fetch"][loss])
            compared = compare_with_one(text, job, saved, alone, case)
            if not compared:
                fail("%s: no variable to compare" % text)
            print("%s: largest difference of a loss %.2e, %d variables" % (text, worst, compared))


if __name__ == "__main__":
    main(*sys.argv[1:])
