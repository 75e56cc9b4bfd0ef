"""Gradients that are added up and not divided by the number of ranks: with plain gradient descent that is a rate as many times as large.

    scale_strategy_case.py TOOL_FOLDER CORPUS CASE RANKS
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

from local_sgd_case import Record, compare
from train_case import call, compare_losses, fail


def run(tool, folder, work, name, init, ranks, *flags):
    job, report, saved = (os.path.join(work, name + end) for end in ("", ".json", ".saved"))
    program = [os.path.join(folder, part + ".pdmodel") for part in ("main", "startup")]
    call(tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", ranks, *flags)
    call(tool, "verify", job)
    words = ["--feeds", os.path.join(folder, "feeds"), "--init", init, "--report", report, "--save", saved]
    call(tool, "run", job, *words, "--cache", os.path.join(work, "cache"))
    with open(report) as f:
        return json.load(f)["fetch"], saved


def check_declared(tool, work, job):
    """A job that declares another multiple, or none, is refuted."""
    text = os.path.join(work, "wrong.mlir")
    call(tool, "convert", os.path.join(job, "job.mlirbc"), text)
    with open(text) as f:
        right = f.read()
    for what, new in ((r"gradients are \d+ times", "gradients are 3 times"), ('tag = "gradient_sum"', 'tag = "parts"')):
        with open(text, "w") as f:
            f.write(re.sub(what, new, right))
        done = subprocess.run([tool, "verify", text], stdout=subprocess.PIPE, text=True)
        if done.returncode != 1 or "[scale]" not in done.stdout:
            fail("verify ends with %d for %s: %s" % (done.returncode, new, done.stdout))


def main(tools, corpus, case, ranks):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with tempfile.TemporaryDirectory() as work:
        small, init = os.path.join(work, "small"), os.path.join(folder, "init")
        shutil.copytree(init, small)
        for name in os.listdir(small):
            if name.startswith("learning_rate"):
                record = Record(os.path.join(small, name))
                record.write(os.path.join(small, name), [rate / int(ranks) for rate in record.values])
        plain, expected = run(tool, folder, work, "avg", init, ranks)
        found, saved = run(tool, folder, work, "sum", small, ranks, "--scale-strategy", "sum")
        if ranks != "1":
            check_declared(tool, work, os.path.join(work, "sum"))
        loss = description["loss"]
        worst = compare_losses(case, found[loss], plain[loss])
        for name in description["params"]:
            compare(name, *(Record(os.path.join(path, name)) for path in (saved, expected)))
        print("%s on %s ranks: largest difference of a loss %.2e" % (case, ranks, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
