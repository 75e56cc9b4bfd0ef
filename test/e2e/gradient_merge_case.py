"""Gradients merged over k steps: k steps of the job, each on a k-th of the batch, are a step of the program without merging on the whole batch.

    gradient_merge_case.py TOOL_FOLDER CORPUS CASE STEPS RANKS [TRANSPILE FLAG...]

STEPS and RANKS are comma-separated lists. Losses (the mean of k steps) and parameters are those that the framework recorded without merging; with a
flag of another update rule those of the job without merging on one rank. The traffic of a job is counted: gradients travel once per update.

With --pipeline, ranks are those of the stages and their replicas; the loss of every step is that of the steps merged on one device. --tied, a word of
this driver: a parameter lies on several stages, which sum its gradient in every step, so that more travels, at most k times as much.
"""

import json
import os
import struct
import sys
import tempfile

from train_case import call, check_verified, compare_losses, compare_parameters, fail, read_noise, read_record, scalar


def split_feed(source, target, steps):
    """[runs, batch, …] as [runs * steps, batch / steps, …]: the bytes stay."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:start].decode().strip())  # of our own corpus
    runs, batch = header["shape"][:2]
    if batch % steps:
        fail("%s: a batch of %d in %d steps" % (source, batch, steps))
    header["shape"] = (runs * steps, batch // steps) + header["shape"][2:]
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(text)) + text.encode() + data[start:])


# Flag of a pipeline -> how many words it has.
STAGES = {"--pipeline": 1, "--stages": 2, "--accumulate-steps": 2, "--schedule-mode": 2, "--virtual-stages": 2}


def of_one_device(flags):
    """Without what says how stages lie on ranks."""
    left, flags = [], list(flags)
    while flags:
        words = STAGES.get(flags[0], 0)
        if not words:
            left.append(flags[0])
        flags = flags[max(words, 1) :]
    return left


def changes(flags):
    """Whether the flags change what one device computes."""
    return [flag for flag in of_one_device(flags) if flag != "--sharding"]


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        with open(os.path.join(self.folder, "golden.json")) as f:
            self.golden = json.load(f)[self.description["loss"]]
        self.per_step = self.description.get("lr_per_step")

    def feeds(self, steps):
        folder = os.path.join(self.work, "feeds%d" % steps)
        if not os.path.isdir(folder):
            os.mkdir(folder)
            source = os.path.join(self.folder, "feeds")
            for name in os.listdir(source):
                split_feed(os.path.join(source, name), os.path.join(folder, name), steps)
        return folder

    def run(self, what, steps, ranks, *flags):
        """Losses per update and per step, the saved variables, and the bytes that all ranks sent for half of the updates."""
        job, saved, report = (os.path.join(self.work, what + end) for end in ("", ".saved", ".json"))
        program = [os.path.join(self.folder, name + ".pdmodel") for name in ("main", "startup")]
        words = ["transpile", program[0], "--startup", program[1], "-o", job, "--trainers", str(ranks)]
        call(self.tool, *words, *flags)
        if changes(flags) or "--pipeline" in flags:
            check_verified(self.tool, job)
        else:
            call(self.tool, "verify", job)
        data = ["--feeds", self.feeds(steps), "--init", os.path.join(self.folder, "init")]
        if self.per_step:
            # A step without an update does not look at the rate.
            rates = [str(rate) for rate in self.per_step for _ in range(steps)]
            data += ["--per-step", self.description["lr_var"] + "=" + ",".join(rates)]
        data += ["--cache", os.path.join(self.work, "cache")]
        sent = []
        # Half of the updates, then all: the difference is what updates send, without start-up.
        for updates in (len(self.golden) // 2, len(self.golden)):
            count = ["--steps", str(updates * steps)]
            call(self.tool, "run", job, *data, *count, "--save", saved, "--report", report)
            with open(report) as f:
                found = json.load(f)
            sent.append(sum(rank["bytes_sent"] for rank in found["ranks"]))
        values = [scalar(value) for value in found["fetch"][self.description["loss"]]]
        losses = [sum(values[i : i + steps]) / steps for i in range(0, len(values), steps)]
        return losses, values, saved, sent[1] - sent[0]


def compare_variables(what, names, found, expected, noise):
    for name in names:
        values = [read_record(os.path.join(folder, name)) for folder in (found, expected)]
        excepted = noise.get(name, set())
        for i, (a, b) in enumerate(zip(*values)):
            if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                fail("%s: %s[%d] is %.9g, without merging %.9g" % (what, name, i, a, b))


def main(tools, corpus, name, steps, ranks, *flags):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work)
        tied = "--tied" in flags
        flags = [flag for flag in flags if flag != "--tied"]
        rule = of_one_device(flags)
        golden, _, alone, _ = case.run("alone", 1, 1, *rule)
        if not changes(flags):
            golden = case.golden
        noise = read_noise(corpus, name)
        state = [n for n in case.description["persistables"] if os.path.exists(os.path.join(alone, n))]
        for count in map(int, ranks.split(",")):
            _, _, _, plain = case.run("plain%d" % count, 1, count, *flags)
            for k in map(int, steps.split(",")):
                what = "%s, %d steps merged, %d ranks" % (name, k, count)
                merge = ["--gradient-merge", "--gradient-merge-k-steps", str(k)]
                found, each, saved, sent = case.run("job%d_%d" % (k, count), k, count, *merge, *flags)
                worst = compare_losses(what, found, golden)
                if "--pipeline" in flags:
                    _, steps_alone, _, _ = case.run("alone%d_%d" % (k, count), k, 1, *merge, *rule)
                    worst = max(worst, compare_losses(what + ", each step", each, steps_alone))
                after = os.path.join(case.folder, "after")
                if not changes(flags) and os.path.isdir(after):
                    compare_parameters(what, saved, after, noise)
                compare_variables(what, state, saved, alone, noise)
                # Owners send parameters in every step, and take gradients once: k + 1 where it was 1 + 1.
                owned = (k + 1) / 2 * 1.02 if "owner" in flags else 1.02
                if count > 1 and not 0 < sent <= (k if tied else owned) * plain:
                    fail("%s: %d bytes, without merging %d for the same updates" % (what, sent, plain))
                print("%s: largest difference of a loss %.2e, %d bytes of %d" % (what, worst, sent, plain))


if __name__ == "__main__":
    main(*sys.argv[1:])
