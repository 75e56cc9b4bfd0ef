"""One net of the corpus `models26`: the loss on one device is the framework's; a job on two ranks is
verified, its sites are the ops that the case names, and it has the losses of one device where there
are none.

    models_case.py TOOL_FOLDER CORPUS CASE
"""

import json
import os
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, call, compare_losses, fail, scalar


def answer(*words):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, text=True
    )
    return done.returncode, done.stdout


def losses_of(tool, what, program, folder, work, loss):
    report = os.path.join(work, "report.json")
    call(
        tool,
        "run",
        program,
        "--feeds",
        os.path.join(folder, "feeds"),
        "--init",
        os.path.join(folder, "init"),
        "--cache",
        os.path.join(work, "cache"),
        "--report",
        report,
        "--fetch",
        loss,
    )
    with open(report) as f:
        found = json.load(f)
    if not found["ok"]:
        fail("%s: %s" % (what, found))
    return found["fetch"][loss]


def check_verdict(tool, job, wanted, sites):
    status, text = answer(tool, "verify", job, "--format", "json")
    report = json.loads(text)
    messages = [m for rung in report["rungs"] for m in rung["messages"]]
    if status != 0:
        fail("verify says %s: %s" % (report["verdict"], json.dumps(messages, indent=1)))
    found = sorted(set(m["op"] for m in messages if m["rule"] == "site"))
    if found != sorted(sites):
        fail("sites %s, expected %s" % (found, sites))
    status, text = answer(tool, "verify", job, "--require", "whole")
    if (status == 0) != (wanted == "whole"):
        fail("verify --require whole ends with %d: %s" % (status, text))


def main(tools, corpus, case):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with open(os.path.join(folder, "golden.json")) as f:
        expected = json.load(f)[description["loss"]]
    program = os.path.join(folder, "main.pdmodel")
    wanted, loss = description["verdict"], description["loss"]
    with tempfile.TemporaryDirectory() as work:
        alone = losses_of(tool, case, program, folder, work, loss)
        worst = compare_losses(case, alone, expected)
        job = os.path.join(work, "job")
        startup = os.path.join(folder, "startup.pdmodel")
        call(
            tool,
            "transpile",
            program,
            "--startup",
            startup,
            "-o",
            job,
            "--mode",
            "collective",
            "--trainers",
            "2",
        )
        check_verdict(tool, job, wanted, description["sites"])
        found = losses_of(tool, case + " on 2 ranks", job, folder, work, loss)
        if wanted == "whole" or description["equal_shares"]:
            worst = max(worst, compare_losses(case + " on 2 ranks", found, expected))
        elif all(abs(scalar(a) - b) <= 1e-4 * abs(b) for a, b in zip(found, expected)):
            fail("%s couples no samples: on 2 ranks it has the losses of one device" % case)
        print("%s: %s, largest difference of a loss %.2e" % (case, wanted, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
