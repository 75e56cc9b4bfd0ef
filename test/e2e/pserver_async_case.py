"""Trains one case with servers that apply every push by itself, through the command line: transpile, verify, run. With one trainer every loss is the
framework's, and losses and parameters have the bits of synchronous rounds; two trainers end, with losses that are numbers.

    pserver_async_case.py TOOL_FOLDER CORPUS CASE [refused=TEXT | not_run=TEXT | whole]

refused: transpile says TEXT, and writes nothing; not_run: run does. whole: updates take norms, which rounds sum over blocks (other bits, the framework's
losses) and servers without rounds do not cut; bits are those of rounds with slice_var_up=false.
"""

import filecmp
import math
import os
import subprocess
import sys
import tempfile

from pserver_case import flags_of, programs_of, read_json
from train_case import LIMIT_SECONDS, call, compare_losses, fail, loss_of, scalar

ASYNC = "+sync_mode=false"
HALF = "+preset=half_async"


def files_of(folder):
    return sorted(os.path.relpath(os.path.join(root, name), folder) for root, _, names in os.walk(folder) for name in names)


def check_same(what, saved, expected):
    """What both runs have saved is the same, byte for byte."""
    if files_of(saved) != files_of(expected):
        fail("%s: saved %s, expected %s" % (what, files_of(saved), files_of(expected)))
    for name in files_of(saved):
        if not filecmp.cmp(os.path.join(saved, name), os.path.join(expected, name), shallow=False):
            fail("%s: %s has other bits than with synchronous rounds" % (what, name))
    return len(files_of(saved))


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.case, self.work = os.path.join(tools, "dtranspile"), case, work
        self.folder = os.path.join(corpus, case)
        description = read_json(os.path.join(self.folder, "case.json"))
        self.golden = read_json(os.path.join(self.folder, "golden.json"))[description["loss"]]
        self.loss = loss_of(description)
        self.data = ["--feeds", os.path.join(self.folder, "feeds"), "--init", os.path.join(self.folder, "init")]
        if description.get("lr_var"):
            self.data += ["--per-step", description["lr_var"] + "=" + ",".join(map(str, description["lr_per_step"]))]

    def run(self, text):
        job, saved, report = (os.path.join(self.work, kind + text) for kind in ("job", "saved", "report"))
        call(self.tool, "transpile", *programs_of(self.folder), "-o", job, *flags_of(text)[0])
        verdict = call(self.tool, "verify", job)
        if (ASYNC in text or HALF in text) and "staleness" not in verdict:
            fail("%s, %s: the verdict does not name the contract:\n%s" % (self.case, text, verdict))
        cache = os.path.join(self.work, "cache")
        call(self.tool, "run", job, *self.data, "--cache", cache, "--report", report, "--save", saved)
        return saved, [scalar(value) for value in read_json(report)["fetch"][self.loss]]

    def check(self, whole):
        for size in ("1x1", "1x2s"):
            expected, losses = self.run(size + ("+slice_var_up=false" if whole else ""))
            worst = compare_losses(self.case, losses, self.golden)
            for mode in (ASYNC, HALF):
                saved, found = self.run(size + mode)
                if found != losses:
                    fail("%s, %s: losses %s, with synchronous rounds %s" % (self.case, size + mode, found, losses))
                count = check_same(self.case + ", " + size + mode, saved, expected)
            print("%s, %s: the bits of rounds in %d files, largest difference of a loss %.2e" % (self.case, size, count, worst))
        losses = self.run("2x2s" + ASYNC)[1]
        if len(losses) != len(self.golden) or not all(map(math.isfinite, losses)):
            fail("%s: losses of two trainers are %s" % (self.case, losses))

    def check_refused(self, text):
        job = os.path.join(self.work, "refused")
        words = [self.tool, "transpile", *programs_of(self.folder), "-o", job, *flags_of("2x2s" + ASYNC)[0]]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS)
        if done.returncode != 1 or text not in done.stdout or os.path.exists(job):
            fail("%s: status %d, expected 1 and '%s':\n%s" % (self.case, done.returncode, text, done.stdout))
        print("%s: refused" % self.case)


    def check_not_run(self, text):
        job = os.path.join(self.work, "job")
        call(self.tool, "transpile", *programs_of(self.folder), "-o", job, *flags_of("1x1" + ASYNC)[0])
        done = subprocess.run([self.tool, "run", job, *self.data], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS)
        if done.returncode == 0 or text not in done.stdout:
            fail("%s: status %d, expected '%s':\n%s" % (self.case, done.returncode, text, done.stdout))
        print("%s: not run" % self.case)


def main(tools, corpus, name, *options):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work)
        refused = [option[8:] for option in options if option.startswith("refused=")]
        for text in refused:
            case.check_refused(text)
        not_run = [option[8:] for option in options if option.startswith("not_run=")]
        for text in not_run:
            case.check_not_run(text)
        if not refused and not not_run:
            case.check("whole" in options)


if __name__ == "__main__":
    main(*sys.argv[1:])
