"""Trains cases of the corpora with activations computed again, and compares every loss, and every parameter of which the framework's value was
recorded, with the framework's training that keeps them.

    recompute_case.py TOOL_FOLDER CORPUS RANKS CASE[:CHECKPOINTS]... [TRANSPILE FLAG...]

RANKS is a comma-separated list. CHECKPOINTS: those of the case where it names some (the default), else auto; or what is said, joined by `+`. A case
whose tags say that its loss is none of parts of a batch is trained on one rank. Of a case that draws random numbers nothing is recorded: that both
runs of a dropout draw the same mask is looked at instead.
"""

import json
import os
import sys
import tempfile

from train_case import call, check_open, compare_losses, compare_parameters, fail, read_noise


def read_npy(path):
    with open(path, "rb") as f:
        return f.read()


class Case:
    def __init__(self, tools, corpus, name, work):
        self.tool, self.corpus, self.name = os.path.join(tools, "dtranspile"), corpus, name
        self.folder, self.work = os.path.join(corpus, name), work
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.tags = self.description["tags"]
        self.loss = self.description["loss"]
        self.program = [os.path.join(self.folder, p + ".pdmodel") for p in ("main", "startup")]

    def transpile(self, ranks, checkpoints, *flags):
        job = os.path.join(self.work, "job%s" % ranks)
        words = [self.tool, "transpile", self.program[0], "--startup", self.program[1], "-o", job]
        words += ["--trainers", str(ranks), "--recompute", "--recompute-checkpoints", checkpoints, *flags]
        said = call(*words)
        return job, "nothing is computed again" not in said

    def run(self, job, *flags):
        saved, report = (os.path.join(self.work, "out" + end) for end in ("", ".json"))
        words = [self.tool, "run", job, "--init", os.path.join(self.folder, "init")]
        words += ["--feeds", os.path.join(self.folder, "feeds")]
        if self.description.get("lr_var"):
            rates = ",".join(map(str, self.description["lr_per_step"]))
            words += ["--per-step", self.description["lr_var"] + "=" + rates]
        words += ["--cache", os.path.join(self.work, "cache"), "--report", report, "--save", saved]
        call(*words, *flags)
        with open(report) as f:
            found = json.load(f)
        if not found["ok"]:
            fail("%s: %s" % (self.name, found))
        return found["fetch"].get(self.loss), saved


def recorded(case, ranks, checkpoints, flags):
    job, again = case.transpile(ranks, checkpoints, *flags)
    check_open(case.tool, job)
    losses, saved = case.run(job)
    what = "%s (%s) on %s rank(s)" % (case.name, checkpoints, ranks)
    with open(os.path.join(case.folder, "golden.json")) as f:
        worst = compare_losses(what, losses, json.load(f)[case.loss])
    after = os.path.join(case.folder, "after")
    count = 0
    if os.path.isdir(after):
        count = compare_parameters(what, saved, after, read_noise(case.corpus, case.name))
    word = "" if again else ", nothing to compute again"
    print("%s: largest difference of a loss %.2e, %d parameters as recorded%s" % (what, worst, count, word))


def masks(case, ranks, checkpoints, flags):
    job, again = case.transpile(ranks, checkpoints, *flags)
    check_open(case.tool, job)
    text = os.path.join(case.work, "job.mlir")
    call(case.tool, "convert", os.path.join(job, "job.mlir"), text)
    with open(text) as f:
        lines = [line for line in f if " pd.dropout " in line]
    names = sorted({w.split('"')[1] for line in lines for w in line.split("Mask(")[1:] if ".subprog_" in w})
    if not again or not names:
        fail("%s: no dropout is computed again" % case.name)
    fetches = []
    for name in names:
        fetches += ["--fetch", name, "--fetch", name[: name.rindex(".subprog_")]]
    seen = set()
    for step in range(2):
        folder = os.path.join(case.work, "fetched%d" % step)
        case.run(job, "--steps", "1", "--first-step", str(step), "--save-fetches", folder, *fetches)
        for name in names:
            first, second = (
                read_npy(os.path.join(folder, n + ".npy")) for n in (name[: name.rindex(".subprog_")], name)
            )
            if first != second:
                fail("%s: %s is another mask than the first one" % (case.name, name))
            seen.add(first)
    if len(seen) < 2 * len(names):
        fail("%s: two draws are one" % case.name)
    print("%s on %s rank(s): %d masks, twice the same" % (case.name, ranks, len(names)))


def main(tools, corpus, ranks, *words):
    cases = [w for i, w in enumerate(words) if "/" in w and not w.startswith("-")]
    flags = [w for w in words if w not in cases]
    for word in cases:
        name, _, checkpoints = word.partition(":")
        for count in ranks.split(","):
            with tempfile.TemporaryDirectory() as work:
                case = Case(tools, corpus, name, work)
                given = checkpoints.replace("+", ",") or ",".join(case.description["checkpoints"]) or "auto"
                if "batch-dependent" in case.tags and count != "1":
                    continue
                more = ["--sync-batch-norm"] if "batch-statistics" in case.tags and count != "1" else []
                way = masks if "random" in case.tags else recorded
                way(case, count, given, flags + more)


if __name__ == "__main__":
    main(*sys.argv[1:])
