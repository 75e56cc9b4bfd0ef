"""`verify --execute` on jobs made of the corpora: every right one agrees with its reference, or is not executed for a reason that is expected.

    execution_case.py TOOLS CORPUS JOB...

A JOB is CASE@WAY, CASE@FILE.mlir (a job by hand, test/jobs), either with `=REASON` after it where the execution must say that instead of `agrees`. WAY: flags of transpile by name, as in test/mutation.
"""

import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "mutation"))
from run import OPTIONS  # noqa: E402


def transpile(tool, corpus, case, way, job):
    folder = os.path.join(corpus, case)
    ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
    words = [tool, "transpile", os.path.join(folder, "main" + ending)]
    words += ["--startup", os.path.join(folder, "startup" + ending), "-o", job]
    if "pserver" not in way:
        words += ["--mode", "collective"]
    done = subprocess.run(
        words + OPTIONS[way], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode != 0:
        sys.exit("%s@%s is not made: %s" % (case, way, done.stdout))


def main():
    tools, corpus, jobs = sys.argv[1], sys.argv[2], sys.argv[3:]
    tool = os.path.join(tools, "dtranspile")
    failures = 0
    for entry in jobs:
        name, _, expected = entry.partition("=")
        case, _, way = name.partition("@")
        with tempfile.TemporaryDirectory() as work:
            job = way
            if not way.endswith(".mlir"):
                job = os.path.join(work, "job")
                transpile(tool, corpus, case, way or "plain", job)
            done = subprocess.run(
                [tool, "verify", job, "--execute", "--format", "json"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            report = json.loads(done.stdout) if done.stdout else {"rungs": []}
            rung = ([r for r in report["rungs"] if r["name"] == "execution"] or [None])[0]
            said = json.dumps(rung)
            good = rung is not None and (
                expected in said if expected else rung["verdict"] == "agrees"
            )
            print("%s %s: %s" % ("ok:" if good else "FAILED", name, summary(rung, done)))
            failures += not good
    sys.exit(1 if failures else 0)


def summary(rung, done):
    if rung is None:
        return "exit status %d: %s" % (done.returncode, done.stderr)
    text = rung["verdict"] + " " + json.dumps(rung["stats"])
    if rung["reason"]:
        text += ": " + rung["reason"]
    for message in rung["messages"]:
        text += "\n    [%s] %s: %s" % (message["rule"], message["position"], message["text"])
        text += "".join("\n      - " + note for note in message["notes"])
    return text


if __name__ == "__main__":
    main()
