"""Trains cases of the corpora with activations computed again, and compares every loss, and every parameter of which the framework's value was
recorded, with the framework's training that keeps them.

    recompute_case.py TOOL_FOLDER CORPUS RANKS CASE[:CHECKPOINTS]... [TRANSPILE FLAG...]

RANKS is a comma-separated list. CHECKPOINTS: those of the case where it names some (the default), else auto; or what is said, joined by `+`. A case
whose tags say that its loss is none of parts of a batch is trained on one rank. A case whose dropouts draw is as recorded on one rank; that both
runs of a dropout draw the same mask is looked at too, with the seeds that the program has and without.
"""

import json
import os
import re
import sys
import tempfile

from train_case import call, check_verified, compare_losses, compare_parameters, fail, read_noise


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
        words += ["--force", "--trainers", str(ranks), "--recompute", "--recompute-checkpoints", checkpoints, *flags]
        said = call(*words)
        if "moves nothing" in said:
            fail("%s (%s) on %s rank(s): nothing is moved to the host" % (self.name, checkpoints, ranks))
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
    check_verified(case.tool, job)
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


def without_seeds(case):
    """The program with dropouts that draw another mask in every step."""
    text, program = os.path.join(case.work, "plain.mlir"), os.path.join(case.work, "plain.pdmodel")
    call(case.tool, "convert", case.program[0], text)
    with open(text) as f:
        edited = f.read().replace("fix_seed = true", "fix_seed = false")
    edited = re.sub(r"\bseed = \d+ :", "seed = 0 :", edited)
    with open(text, "w") as f:
        f.write(edited)
    call(case.tool, "convert", text, program)
    case.program[0] = program


def masks(case, ranks, checkpoints, flags):
    job, again = case.transpile(ranks, checkpoints, *flags)
    check_verified(case.tool, job)
    text = os.path.join(case.work, "job.mlir")
    call(case.tool, "convert", os.path.join(job, "job.mlirbc"), text)
    with open(text) as f:
        text = f.read()
    lines = [line for line in text.split("\n") if " pd.dropout " in line]
    anew = all(re.search(r"\bseed = 0 ", line) for line in text.split("\n") if " pd.seed " in line)
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
    if anew and len(seen) < 2 * len(names):
        fail("%s: two draws are one" % case.name)
    print("%s on %s rank(s): %d masks, twice the same%s" % (case.name, ranks, len(names), ", others in each step" if anew else ""))


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
                if "random" not in case.tags or count == "1":
                    recorded(case, count, given, flags + more)
                if "random" in case.tags:
                    masks(case, count, given, flags + more)
                    without_seeds(case)
                    masks(case, count, given, flags + more)


if __name__ == "__main__":
    main(*sys.argv[1:])
