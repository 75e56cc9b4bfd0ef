#!/usr/bin/env python3
"""Holds what dtranspile makes of cases (unseen.py, generate.py) against what the framework did.

    check.py TOOL FOLDER [--trainers N] [--results FILE.json] [CASE...]

For each case: a run on one device has the golden losses; a job on two ranks (or N: a share of a batch may be one sample) is verified, refuted or unknown; where it is verified without
sites, and under --require whole, two ranks have the golden losses too. A line per case, and how many there are of each outcome. Ends with 1 where one is not as it should be (a
net whose samples see each other, verdict `coupled`, must not be verified as whole; losses of one that draws numbers without a seed, verdict `drawn`, are its own):

  refused    a command ends with an error
  losses     the losses of one device are not the framework's
  unsound    verified as whole, and two ranks have other losses
  unknown, refuted    what verify says
  parts      verified, but ops couple the samples of a batch: these are the sites; `alike` where the losses are those of one device all the same
  whole      verified, and the losses are those of one device
"""

import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 120


def answer(*words):
    try:
        done = subprocess.run(
            words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return -1, "no end within %d s" % LIMIT_SECONDS
    return done.returncode, done.stdout.decode("utf-8", "replace")


def last_of(text):
    lines = [one for one in text.splitlines() if "error" in one] or text.splitlines() or [""]
    return lines[0][-400:]


def near(found, expected):
    """Within 1e-5 + 1e-4 of the loss on every step; numbers that are none agree with their like."""

    def one(value):
        while isinstance(value, list):
            value = value[0]
        return float(value)

    pairs = list(zip(map(one, found), expected))
    return len(found) == len(expected) and all(
        abs(a - b) <= 1e-5 + 1e-4 * abs(b) or (a != a and b != b) for a, b in pairs
    )


class Case:
    def __init__(self, tool, folder, work, trainers=2):
        self.tool, self.folder, self.work, self.trainers = tool, folder, work, trainers
        with open(os.path.join(folder, "case.json")) as f:
            self.case = json.load(f)
        with open(os.path.join(folder, "golden.json")) as f:
            self.golden = json.load(f)[self.case["loss"]]

    def losses(self, program):
        """(losses, None) or (None, why not)"""
        report = os.path.join(self.work, "report.json")
        words = [self.tool, "run", program, "--feeds", os.path.join(self.folder, "feeds")]
        words += ["--init", os.path.join(self.folder, "init"), "--fetch", self.case["loss"]]
        if program.endswith(".pdmodel"):  # what the step makes itself has no initial value
            words += ["--startup", os.path.join(self.folder, "startup.pdmodel")]
        words += ["--cache", os.path.join(self.work, "cache"), "--report", report]
        if self.case.get("lr_var"):
            rates = ",".join(map(repr, self.case["lr_per_step"]))
            words += ["--per-step", self.case["lr_var"] + "=" + rates]
        status, text = answer(*words)
        if status:
            return None, "run ends with %d: %s" % (status, last_of(text))
        with open(report) as f:
            return json.load(f)["fetch"][self.case["loss"]], None

    def verdict(self, job):
        status, text = answer(self.tool, "verify", job, "--format", "json")
        try:
            report = json.loads(text)
        except ValueError:
            return "refused", [], "verify ends with %d: %s" % (status, last_of(text))
        messages = [m for rung in report["rungs"] for m in rung["messages"]]
        sites = sorted(set(m["op"] for m in messages if m["rule"] == "site"))
        bad = [m for m in messages if m["rule"] != "site"]
        why = "; ".join("[%s] %s: %s" % (m["rule"], m.get("op"), m.get("text", m.get("message", ""))) for m in bad[:2])
        return report["verdict"], sites, why

    def check(self):
        """(outcome, detail)"""
        program = os.path.join(self.folder, "main.pdmodel")
        found, why = self.losses(program)
        if why:
            return "refused", why
        drawn = self.case["verdict"] == "drawn"
        if not drawn and not near(found, self.golden):
            return "losses", "%s, the framework's %s" % (found, self.golden)
        job = os.path.join(self.work, "job")
        startup = os.path.join(self.folder, "startup.pdmodel")
        status, text = answer(
            self.tool, "transpile", program, "--startup", startup, "-o", job, "--mode", "collective", "--trainers", str(self.trainers)
        )
        if status:
            return "refused", "transpile ends with %d: %s" % (status, last_of(text))
        verdict, sites, why = self.verdict(job)
        if verdict != "verified":
            return verdict, why[:600]
        status, _ = answer(self.tool, "verify", job, "--require", "whole")
        found, why = self.losses(job)
        if why:
            return "refused", "on %d ranks: %s" % (self.trainers, why)
        if drawn:
            return "drawn", " ".join(sites)
        same = near(found, self.golden)
        if status == 0:
            return ("whole", "") if same else ("unsound", "%s, on one device %s" % (found, self.golden))
        return "parts", " ".join(sites) + (", alike" if same else "")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("folder")
    parser.add_argument("cases", nargs="*")
    parser.add_argument("--trainers", type=int, default=2)
    parser.add_argument("--results")
    options = parser.parse_intermixed_args()
    names = options.cases or sorted(os.listdir(options.folder))
    outcomes, unexpected = {}, 0
    for name in names:
        folder = os.path.join(options.folder, name)
        if not os.path.exists(os.path.join(folder, "golden.json")):
            continue
        with tempfile.TemporaryDirectory() as work:
            case = Case(options.tool, folder, work, options.trainers)
            outcome, detail = case.check()
        wanted = case.case["verdict"]
        right = outcome not in ("whole", "unsound", "losses") if wanted == "coupled" else outcome == wanted
        unexpected += not right
        outcomes[name] = [outcome, detail]
        print("%s%-26s %-8s %s" % (" " if right else "*", name, outcome, detail), flush=True)
    counts = collections.Counter(outcome for outcome, _ in outcomes.values())
    print(len(outcomes), "cases:", ", ".join("%d %s" % (n, k) for k, n in sorted(counts.items())), "·", unexpected, "not as they should be")
    if options.results:
        with open(options.results, "w") as f:
            json.dump(outcomes, f, indent=1)
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
