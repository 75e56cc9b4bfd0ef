"""As many classes of ranks at 8 as at 100,000: an owner per parameter as text, and jobs that passes make. Verified, the
text of one rank far out is there, and neither the plan of the classes nor its making grows with the ranks.

    classes.py TOOL_FOLDER CORPUS JOB.mlir CASE
"""

import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from train_case import call, fail  # noqa: E402

FEW, MANY = 8, 100000
MESH, SHARE = "dist.mesh @world [sharding = %d]", "scale = %e"
# name, flags of transpile with the number of ranks
TRANSPILED = [
    ("data parallelism", ["--trainers", "%d"]),
    ("sharding", ["--trainers", "%d", "--sharding"]),
    ("sharding, stage 3", ["--trainers", "%d", "--sharding", "--sharding-stage", "3"]),
    ("parameter servers", ["--mode", "pserver", "--trainers", "%d", "--pservers", "%d"]),
]


def with_ranks(text, ranks):
    """The job of two owners on a mesh of so many ranks, each of which has its share of the batch."""
    for old, new in ((MESH % 2, MESH % ranks), (SHARE % (1 / 2), SHARE % (1 / ranks))):
        if text.count(old) != 1:
            fail("'%s' is not once in the job" % old)
        text = text.replace(old, new)
    return text


def classes_of(tool, job):
    """Number of classes, by the rung that specialises all of them; the job is verified."""
    report = json.loads(call(tool, "verify", job, "--format", "json"))
    rungs = {rung["name"]: rung for rung in report["rungs"]}
    return rungs["structure"]["stats"]["classes"], rungs["communication"]["stats"]["events"]


def check_text(tool, path, work):
    with open(path) as f:
        text = f.read()
    found = {}
    for ranks in (2, FEW, MANY):
        job = os.path.join(work, "owners.%d.mlir" % ranks)
        with open(job, "w") as f:
            f.write(with_ranks(text, ranks))
        found[ranks] = classes_of(tool, job)
        # The last rank owns nothing: no update is left in its text.
        rank = call(tool, "show", job, "--role", "trainer", "--rank", str(ranks - 1))
        if ("pd.momentum" in rank) != (ranks == 2):
            fail("rank %d of %d: its text is that of an owner, or not\n%s" % (ranks - 1, ranks, rank))
        print("owners of parameters on %d ranks: %d class(es), %d events" % (ranks, *found[ranks]))
    if len(set(found.values())) != 1 or found[FEW][0] != 1:
        fail("classes and events grow with the ranks: %s" % found)


def check_transpiled(tool, folder, work):
    program = [os.path.join(folder, name + ".pdmodel") for name in ("main", "startup")]
    for name, flags in TRANSPILED:
        found = {}
        for ranks in (FEW, MANY):
            job = os.path.join(work, "%s.%d" % (name.replace(" ", "_"), ranks))
            words = [flag % ranks if "%" in flag else flag for flag in flags]
            call(tool, "transpile", program[0], "--startup", program[1], "-o", job, *words)
            with open(os.path.join(job, "manifest.json")) as f:
                manifest = json.load(f)
            size = os.path.getsize(os.path.join(job, "job.mlirbc"))
            found[ranks] = sorted(one["name"] for one in manifest["classes"]), size
            print("%s on %d ranks: classes %s, %d bytes" % (name, ranks, *found[ranks]))
        (few, small), (many, large) = found[FEW], found[MANY]
        # Numbers have more digits, and parts that do not divide a pad.
        if few != many or large > 1.1 * small:
            fail("%s: classes or bytes grow with the ranks: %s" % (name, found))


def main(tools, corpus, job, case):
    tool = os.path.join(tools, "dtranspile")
    with tempfile.TemporaryDirectory() as work:
        check_text(tool, os.path.join(os.path.dirname(os.path.abspath(__file__)), job), work)
        check_transpiled(tool, os.path.join(corpus, case), work)


if __name__ == "__main__":
    main(*sys.argv[1:])
