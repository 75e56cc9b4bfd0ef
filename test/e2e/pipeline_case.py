"""A pipeline of a program with another update rule: losses and parameters are those of the same rule on one rank, since the framework has recorded none.

    pipeline_case.py TOOL_FOLDER CORPUS CASE RANKS RULE_FLAGS PIPELINE_FLAGS [start]

With `start` both begin with what the start-up program draws.
"""

import json
import os
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, call, compare_losses, fail, read_noise, read_record


def check(tool, job):
    """verify refutes nothing; it may leave open that the rule is what the reference means."""
    done = subprocess.run(
        [tool, "verify", job, "--format", "json"], stdout=subprocess.PIPE, timeout=LIMIT_SECONDS
    )
    messages = [m for rung in json.loads(done.stdout)["rungs"] for m in rung["messages"]]
    rules = {m["rule"] for m in messages if m["level"] != "note"}
    if done.returncode not in (0, 3) or not rules <= {"reference"}:
        fail("verify of %s ends with %d: %s" % (job, done.returncode, messages))


def run(tool, folder, work, name, ranks, flags, started):
    """The report of the job, and the folder of what it has saved."""
    job, saved, report = (os.path.join(work, name + end) for end in ("", ".saved", ".json"))
    program = [os.path.join(folder, file + ".pdmodel") for file in ("main", "startup")]
    words = ["transpile", program[0], "--startup", program[1], "-o", job, "--trainers", ranks]
    call(tool, *words, *flags)
    check(tool, job)
    data = ["--feeds", os.path.join(folder, "feeds")]
    data += [] if started else ["--init", os.path.join(folder, "init")]
    data += ["--cache", os.path.join(work, "cache")]
    call(tool, "run", job, *data, "--save", saved, "--report", report)
    with open(report) as f:
        return json.load(f), saved


def main(tools, corpus, case, ranks, rule, pipeline, *start):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with tempfile.TemporaryDirectory() as work:
        alone, expected = run(tool, folder, work, "alone", "1", rule.split(), start)
        flags = rule.split() + ["--pipeline"] + pipeline.split()
        found, saved = run(tool, folder, work, "job", ranks, flags, start)
        loss, noise = description["loss"], read_noise(corpus, case)
        worst = compare_losses(case, found["fetch"][loss], alone["fetch"][loss])
        for name in description["params"]:
            values = [read_record(os.path.join(path, name)) for path in (saved, expected)]
            excepted = noise.get(name, set())
            for i, (a, b) in enumerate(zip(*values)):
                if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                    fail("%s: %s[%d] is %.9g, on one rank %.9g" % (case, name, i, a, b))
        print("%s on %s ranks: largest difference of a loss %.2e" % (case, ranks, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
