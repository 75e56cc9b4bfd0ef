"""Jobs whose variables are not equal on all ranks, interrupted after every one of their steps: what goes on from a checkpoint has the losses and the
variables of the run that was never interrupted, bit by bit.

    resume_case.py TOOL_FOLDER CORPUS CASE RANKS STEPS sum|own|alike OTHERS [TRANSPILE FLAG...]

sum: ranks have terms of sums (merged gradients). Of those --save has the sum, in one file for all ranks: a run that goes on from there, and one of
OTHERS ranks (a list with commas, or none) from the checkpoint, have the same losses but for the order of additions.
own: every rank has values of its own; --save says so, and a job of OTHERS ranks refuses the checkpoint by name.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, call, compare_losses, fail, read_record, scalar, tree

OWN = "every rank has its own `"
REFUSED = "of each of"


def feed_from(source, target, steps):
    """All but the first steps of a feed."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:start].decode().strip())  # of our own corpus
    all_steps = header["shape"][0]
    size = (len(data) - start) // all_steps
    header["shape"] = (all_steps - steps,) + header["shape"][1:]
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(text)) + text.encode() + data[start + steps * size :])


class Case:
    def __init__(self, tools, corpus, case, steps, flags, work):
        self.tool, self.work, self.steps, self.flags = os.path.join(tools, "dtranspile"), work, steps, flags
        self.folder = os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)

    def path(self, name):
        return os.path.join(self.work, name)

    def job(self, ranks):
        path = self.path("job%d" % ranks)
        if not os.path.isdir(path):
            program = [os.path.join(self.folder, name + ".pdmodel") for name in ("main", "startup")]
            call(self.tool, "transpile", program[0], "--startup", program[1], "-o", path, "--trainers", str(ranks), *self.flags)
        return path

    def feeds(self, skipped):
        source, target = os.path.join(self.folder, "feeds"), self.path("feeds%d" % skipped)
        if skipped == 0:
            return source
        if not os.path.isdir(target):
            os.mkdir(target)
            for name in os.listdir(source):
                feed_from(os.path.join(source, name), os.path.join(target, name), skipped)
        return target

    def words(self, what, ranks, steps, skipped, *more):
        words = [self.tool, "run", self.job(ranks), "--feeds", self.feeds(skipped), "--steps", str(steps)]
        if "lr_per_step" in self.description:
            rates = map(str, self.description["lr_per_step"][skipped:])
            words += ["--per-step", self.description["lr_var"] + "=" + ",".join(rates)]
        words += ["--cache", self.path("cache"), "--report", self.path(what + ".json")]
        return words + ["--save", self.path(what), *more]

    def run(self, what, *arguments):
        """Losses, and what is said."""
        said = call(*self.words(what, *arguments))
        with open(self.path(what + ".json")) as f:
            found = json.load(f)["fetch"][self.description["loss"]]
        return [scalar(value) for value in found], said


def same(what, found, expected):
    wrong = [name for name in sorted(set(found) | set(expected)) if found.get(name) != expected.get(name)]
    if wrong or not found:
        fail("%s: %s differ" % (what, wrong))


def close(what, found, expected):
    for name in sorted(os.listdir(expected)):
        if not os.path.isfile(os.path.join(expected, name)):
            continue
        try:
            values = [read_record(os.path.join(folder, name)) for folder in (found, expected)]
        except Exception:  # a counter: no float32
            continue
        for i, (a, b) in enumerate(zip(*values)):
            if not abs(a - b) <= 1e-5 + 1e-3 * abs(b):
                fail("%s: %s[%d] is %.9g, not %.9g" % (what, name, i, a, b))


def check_offset(case, ranks, offset, kind, others, whole, saved):
    init = ["--init", os.path.join(case.folder, "init")]
    at = "%d ranks, after %d steps" % (ranks, offset)
    folder = case.path("checkpoints%d" % offset)
    first = "first%d" % offset
    kept = ["--checkpoint-dir", folder, "--checkpoint-every", str(offset)]
    begun, said = case.run(first, ranks, offset, 0, *init, *kept)
    if begun != whole[:offset]:
        fail("%s: before the checkpoint %s, not %s" % (at, begun, whole[:offset]))
    if (OWN in said) != (kind == "own"):
        fail("%s: a note on what --save has: %s" % (at, said))
    resume = [*init, "--checkpoint-dir", folder, "--resume"]
    found, _ = case.run("again%d" % offset, ranks, case.steps, 0, *resume)
    if found != whole[offset:]:
        fail("%s: goes on with %s, not %s" % (at, found, whole[offset:]))
    same(at, tree(case.path("again%d" % offset)), tree(saved))
    # The job ended just before it wrote its variables: they are taken from the checkpoint.
    taken = case.words("taken%d" % offset, ranks, offset, 0, *resume)
    if "nothing is left" not in call(*taken):
        fail(at + ": steps are left")
    same(at + ", taken", tree(case.path("taken%d" % offset)), tree(case.path(first)))
    if kind == "sum":
        go_on = ["--init", case.path(first), "--first-step", str(offset)]
        found, _ = case.run("saved%d" % offset, ranks, case.steps - offset, offset, *go_on)
        compare_losses(at + ", from what was saved", found, whole[offset:])
        close(at + ", from what was saved", case.path("saved%d" % offset), saved)
    for other in others:
        what = "other%d_%d" % (offset, other)
        words = case.words(what, other, case.steps, 0, *resume)
        if kind == "own":
            done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, text=True)
            if done.returncode != 1 or REFUSED not in done.stdout or "begin anew with the first rank's values" not in done.stdout:
                fail("%s: %d ranks end with %d: %s" % (at, other, done.returncode, done.stdout))
            continue
        found, _ = case.run(what, other, case.steps, 0, *resume)
        compare_losses("%s, on %d ranks" % (at, other), found, whole[offset:])
        close("%s, on %d ranks" % (at, other), case.path(what), saved)


def main(tools, corpus, name, ranks, steps, kind, others, *flags):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, int(steps), flags, work)
        others = [int(other) for other in others.split(",") if other != "none"]
        whole, _ = case.run("whole", int(ranks), case.steps, 0, "--init", os.path.join(case.folder, "init"))
        for offset in range(1, case.steps):
            check_offset(case, int(ranks), offset, kind, others, whole, case.path("whole"))
        print("%s, %s ranks %s: goes on after each of %s steps" % (name, ranks, " ".join(flags), steps))


if __name__ == "__main__":
    main(*sys.argv[1:])
