"""Trains one case of the corpora with an owner per parameter. Losses are the framework's; parameters as recorded; all variables those of the run on one
device. Every job is verified.

    owner_case.py TOOL_FOLDER CORPUS CASE JOB... [TRANSPILE FLAG...]

JOB is RANKS, RANKS/DEGREE (the others hold replicas) or either with @STAGE; with ! in front it is counted, too, what is sent in a step and what memory lasts: all
ranks together send each parameter to N - 1 others and N - 1 gradients to each owner, once (with stage 3 parameters twice), and nothing of size beside that; a rank
has what it owns, and no more than the even share and the largest parameter with its state (docs/passes/sharding.md). JOB LOW..HIGH is no run: the job for HIGH ranks
has the size of that for LOW.
"""

import json
import os
import re
import sys
import tempfile

from sharding_case import Case, compare_with_one
from train_case import call, compare_losses, compare_parameters, fail, loss_of

SLACK = 4096  # bytes of headers, and of losses that are put together, per rank
SAME_SIZE = 1.1


def variables_of(job):
    with open(os.path.join(job, "manifest.json")) as f:
        return json.load(f)["persistables"]


def bytes_of(variable):
    width = {"float16": 2, "bfloat16": 2, "float32": 4, "int32": 4, "float64": 8, "int64": 8, "bool": 1, "uint8": 1}[variable["dtype"]]
    count = 1
    for extent in variable["dims"]:
        count *= extent
    return width * count


def owned(job):
    """[(owner, variable)] of what lies on one rank."""
    found = []
    for variable in variables_of(job):
        at = re.search(r"sharding: R at sharding = (\d+)", variable["relation"] or "")
        if at:
            found.append((int(at.group(1)), variable))
    return found


def check_memory(text, job, degree):
    """What a rank owns: the even share, and what the rule of the framework may give it beyond that."""
    load, groups = {}, {}
    for owner, variable in owned(job):
        load[owner] = load.get(owner, 0) + bytes_of(variable)
    parameters = [(owner, bytes_of(v)) for owner, v in owned(job) if v.get("parameter")]
    total, largest = sum(size for _, size in parameters), max(size for _, size in parameters)
    for owner, size in parameters:
        groups[owner] = groups.get(owner, 0) + size
    for owner, size in groups.items():
        if size > total / degree + largest + 1:
            fail("%s: rank %d owns %d bytes of %d, and the largest parameter has %d" % (text, owner, size, total, largest))
    return max(load.values()), sum(load.values())


def sent(case, what, job, ranks):
    """Bytes that all ranks together send in a step; without start-up."""
    totals = []
    for steps in (1, 2):
        found, _ = case.run(what, job, "--steps", str(steps))
        totals.append(sum(rank["bytes_sent"] for rank in found["ranks"]))
    return totals[1] - totals[0]


def check_sent(text, case, what, job, ranks, degree, stage):
    parameters = sum(bytes_of(v) for _, v in owned(job) if v.get("parameter"))
    others = sum(bytes_of(v) for v in variables_of(job) if v.get("parameter") and v["name"] not in {o["name"] for _, o in owned(job)})
    replicas = ranks // degree
    # To the owner and back in every group of replicas; between groups the owners; what all have is summed as ever.
    least = replicas * (degree - 1) * parameters * (3 if stage == "3" else 2) + 2 * (replicas - 1) * parameters + 2 * (ranks - 1) * others
    found = sent(case, what, job, ranks)
    if abs(found - least) > SLACK * ranks:
        fail("%s: all ranks together send %d bytes in a step, and %d are needed" % (text, found, least))
    return "%d bytes per step, %d are needed" % (found, least)


def check_size(case, word):
    sizes = []
    for ranks in word.split(".."):
        job = os.path.join(case.work, "many" + ranks)
        call(case.tool, "transpile", *case.program, "-o", job, "--trainers", ranks, "--sharding", "--sharding-form", "owner", *case.flags)
        call(case.tool, "verify", job)
        sizes.append(os.path.getsize(os.path.join(job, "job.mlirbc")))
    if not sizes[0] / SAME_SIZE <= sizes[1] <= sizes[0] * SAME_SIZE:
        fail("%s: jobs of %s ranks have %s bytes" % (case.name, word, sizes))
    print("%s: jobs of %s ranks have %s bytes" % (case.name, word, sizes))


def main(tools, corpus, name, *words):
    count = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    jobs, flags = words[:count], words[count:]
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, flags)
        _, alone = case.run("alone", case.main)
        for number, word in enumerate(jobs):
            if ".." in word:
                check_size(case, word)
                continue
            ranks, degree, stage = re.fullmatch(r"!?(\d+)(?:/(\d+))?(?:@(\d))?", word).groups()
            what = "job%d" % number
            options = ["--sharding", "--sharding-form", "owner", "--sharding-stage", stage or "1"]
            if degree:
                options += ["--sharding-degree", degree]
            job = case.transpile(what, ranks, *options)
            found, saved = case.run(what, job)
            text = "%s, job %s" % (name, word)
            if len({owner for owner, _ in owned(job)}) < 2:
                fail("%s: no two ranks own something" % text)
            worst = compare_losses(text, found["fetch"][loss_of(case.description)], case.golden)
            after = os.path.join(case.folder, "after")
            if os.path.isdir(after):
                compare_parameters(text, saved, after, case.noise)
            count = compare_with_one(text, job, saved, alone, case)
            if word.startswith("!"):
                sizes = int(ranks), int(degree or ranks)
                text += ": %d of %d bytes on the fullest rank" % check_memory(text, job, sizes[1])
                text += ", " + check_sent(text, case, what + "sent", job, *sizes, stage)
            print("%s: largest difference of a loss %.2e, %d variables" % (text, worst, count))


if __name__ == "__main__":
    main(*sys.argv[1:])
