"""Trains one case of the corpora with parts of updates and state on every rank. Losses are the framework's; parameters as recorded; all variables, those
that are cut included, those of the run on one device, in its shapes. Every job is verified.

    sharding_case.py TOOL_FOLDER CORPUS CASE JOB... [TRANSPILE FLAG...]

Some variables of each lie in parts. JOB is RANKS, RANKS/DEGREE (the others hold replicas) or either with @STAGE; with ! in front what is sent in a step is counted too, and compared with what
the same ranks send where nothing is cut: no more but for the pad, with stage 3 half as much again (docs/passes/sharding.md).
"""

import json
import os
import re
import sys
import tempfile

from train_case import call, compare_losses, compare_parameters, fail, loss_of, read_noise, read_record

PAD = 1.02  # of bytes, beside a constant per operation


class Case:
    def __init__(self, tools, corpus, name, work, flags):
        self.tool, self.work, self.flags = os.path.join(tools, "dtranspile"), work, flags
        self.name, self.noise = name, read_noise(corpus, name)
        self.folder = os.path.join(corpus, name)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        with open(os.path.join(self.folder, "golden.json")) as f:
            self.golden = json.load(f)[self.description["loss"]]
        ending = ".json" if os.path.exists(os.path.join(self.folder, "main.json")) else ".pdmodel"
        self.main, startup = (os.path.join(self.folder, name + ending) for name in ("main", "startup"))
        self.program = [self.main, "--startup", startup]
        self.data = ["--feeds", os.path.join(self.folder, "feeds"), "--init", os.path.join(self.folder, "init")]
        if self.description.get("lr_var"):
            rates = ",".join(map(str, self.description["lr_per_step"]))
            self.data += ["--per-step", self.description["lr_var"] + "=" + rates]
        self.data += ["--cache", os.path.join(work, "cache")]

    def transpile(self, what, ranks, *flags):
        job = os.path.join(self.work, what)
        call(self.tool, "transpile", *self.program, "-o", job, "--trainers", str(ranks), *flags, *self.flags)
        call(self.tool, "verify", job)
        return job

    def run(self, what, job, *flags):
        """The report, and the folder of saved variables."""
        saved, report = (os.path.join(self.work, what + end) for end in (".saved", ".json"))
        call(self.tool, "run", job, *self.data, *flags, "--save", saved, "--report", report)
        with open(report) as f:
            found = json.load(f)
        if not found["ok"]:
            fail("%s: %s" % (what, found))
        return found, saved

    def sent(self, what, job):
        """Bytes that the ranks send in a step, the largest of them; without start-up."""
        totals = []
        for steps in (1, 2):
            found, _ = self.run(what, job, "--steps", str(steps))
            totals.append([rank["bytes_sent"] for rank in found["ranks"]])
        return max(b - a for a, b in zip(*totals))


def header(path):
    """Everything of a tensor file before its elements: type and extents."""
    with open(path, "rb") as f:
        data = f.read(4096)
    return data[: 20 + int.from_bytes(data[16:20], "little")]


def compare_with_one(what, job, saved, alone, case):
    with open(os.path.join(job, "manifest.json")) as f:
        persistables = json.load(f)["persistables"]
    count = 0
    for variable in persistables:
        name = variable["name"]
        one, own = (os.path.join(folder, name) for folder in (alone, saved))
        if not os.path.exists(one):
            continue
        if header(one) != header(own):
            fail("%s: %s has another type or other extents than on one device" % (what, name))
        if variable["dtype"] != "float32":
            continue
        excepted = case.noise.get(name, set())
        for i, (a, b) in enumerate(zip(read_record(own), read_record(one))):
            if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                fail("%s: %s[%d] is %.9g, on one device %.9g" % (what, name, i, a, b))
        count += 1
    return count


def parts_of(job):
    """Variables that lie in parts along the axis."""
    with open(os.path.join(job, "manifest.json")) as f:
        variables = json.load(f)["persistables"]
    return sum("sharding: S(flat" in (variable["relation"] or "") for variable in variables)


def main(tools, corpus, name, *words):
    count = next((i for i, word in enumerate(words) if word.startswith("--")), len(words))
    jobs, flags = words[:count], words[count:]
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, flags)
        _, alone = case.run("alone", case.main)
        for number, word in enumerate(jobs):
            ranks, degree, stage = re.fullmatch(r"!?(\d+)(?:/(\d+))?(?:@(\d))?", word).groups()
            what = "job%d" % number
            options = ["--sharding", "--sharding-stage", stage or "1"]
            if degree:
                options += ["--sharding-degree", degree]
            job = case.transpile(what, ranks, *options)
            found, saved = case.run(what, job)
            text = "%s, job %s" % (name, word)
            if not parts_of(job):
                fail("%s: no variable lies in parts" % text)
            worst = compare_losses(text, found["fetch"][loss_of(case.description)], case.golden)
            after = os.path.join(case.folder, "after")
            if os.path.isdir(after):
                compare_parameters(text, saved, after, case.noise)
            count = compare_with_one(text, job, saved, alone, case)
            if word.startswith("!"):
                plain = case.sent(what + "plain", case.transpile(what + "plain", ranks))
                sent = case.sent(what + "sent", job)
                if not sent <= (1.5 if stage == "3" else 1) * PAD * plain + 4096:
                    fail("%s: a rank sends %d bytes in a step, without parts %d" % (text, sent, plain))
                text += ": %d bytes per step of %d" % (sent, plain)
            print("%s: largest difference of a loss %.2e, %d variables" % (text, worst, count))


if __name__ == "__main__":
    main(*sys.argv[1:])
