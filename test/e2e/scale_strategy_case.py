"""Gradients that are added up and not divided by the number of ranks: with plain gradient descent that is a rate as many times as large.

    scale_strategy_case.py TOOL_FOLDER CORPUS CASE RANKS
"""

import json
import os
import shutil
import sys
import tempfile

from local_sgd_case import Record, compare
from train_case import call, compare_losses


def run(tool, folder, work, name, init, ranks, *flags):
    job, report, saved = (os.path.join(work, name + end) for end in ("", ".json", ".saved"))
    program = [os.path.join(folder, part + ".pdmodel") for part in ("main", "startup")]
    call(tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", ranks, *flags)
    call(tool, "verify", job)
    words = ["--feeds", os.path.join(folder, "feeds"), "--init", init, "--report", report, "--save", saved]
    call(tool, "run", job, *words, "--cache", os.path.join(work, "cache"))
    with open(report) as f:
        return json.load(f)["fetch"], saved


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
        loss = description["loss"]
        worst = compare_losses(case, found[loss], plain[loss])
        for name in description["params"]:
            compare(name, *(Record(os.path.join(path, name)) for path in (saved, expected)))
        print("%s on %s ranks: largest difference of a loss %.2e" % (case, ranks, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
