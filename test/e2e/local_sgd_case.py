"""Trains one case with local SGD through the command line, and compares it with the definition computed here: every replica trains the
single-device program on its own share of the batch, with its own optimizer state, and after every step, or after those that
--localsgd-k-steps and --localsgd-begin-step name, the parameters of all replicas become their mean. Nothing here knows how a job does that.

    local_sgd_case.py TOOL_FOLDER CORPUS CASE RANKS STEPS [TRANSPILE FLAG...]
"""

import ast
import json
import math
import os
import shutil
import struct
import sys
import tempfile

from train_case import call, check_verified, compare_losses, fail, scalar

ABSOLUTE, RELATIVE = 1e-5, 1e-4  # docs/design.md


class Array:
    """A .npy file: elements are never looked at, only cut."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        length = struct.unpack_from("<H", data, 8)[0]
        header = ast.literal_eval(data[10 : 10 + length].decode())
        self.dtype, self.shape, self.body = header["descr"], header["shape"], data[10 + length :]

    def write_share(self, path, step, rank, ranks):
        """Rank's share of the batch of one step, as the only step of a feed."""
        batch = self.shape[1]
        if batch % ranks:
            fail("a batch of %d does not divide by %d" % (batch, ranks))
        size = len(self.body) // self.shape[0] // ranks
        start = (step * ranks + rank) * size
        shape = (1, batch // ranks) + self.shape[2:]
        header = repr({"descr": self.dtype, "fortran_order": False, "shape": shape}).encode()
        header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
        with open(path, "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            f.write(self.body[start : start + size])


class Record:
    """A dense float32 variable in the framework's file format."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        start = 20 + struct.unpack_from("<i", data, 16)[0]
        self.head = data[:start]
        self.values = struct.unpack("<%df" % ((len(data) - start) // 4), data[start:])

    def write(self, path, values):
        with open(path, "wb") as f:
            f.write(self.head + struct.pack("<%df" % len(values), *values))


def mean_of(folders, name):
    records = [Record(os.path.join(folder, name)) for folder in folders]
    return [sum(values) / len(records) for values in zip(*(r.values for r in records))]


class Every:
    """Averages in steps up to `begin`, and in every so many-th one from there on."""

    def __init__(self, every, begin):
        self.every, self.begin = every, begin

    def is_due(self, number, loss, rate):
        return number <= self.begin or (number - self.begin) % self.every == 0


class Adaptive:
    """Averages in steps up to `begin`, and from there on k steps after the last one: k begins as `first`, and follows the mean loss and the
    rate where an average is taken after step `begin` (Wang & Joshi, arXiv:1810.08313; the framework's AdaptiveLocalSGDOptimizer)."""

    def __init__(self, first, begin):
        self.first = self.k = first
        self.begin, self.last, self.seen = begin, 0, []

    def is_due(self, number, loss, rate):
        if number == 1:
            self.loss_1, self.rate_1 = loss, rate
        late = number > self.begin
        if late and number - self.last != self.k:
            return False
        self.last = number
        if late:
            root = math.sqrt(self.rate_1 * loss / (rate * self.loss_1) * self.first)
            self.k = max(min(math.ceil(root), 16), 1)
            self.seen.append(self.k)
        return True


def rate_in(folder, description):
    names = [n for n in os.listdir(folder) if n.startswith("learning_rate")]
    return Record(os.path.join(folder, names[0])).values[0] if len(names) == 1 else 1.0


def replicas(tool, program, description, folder, work, ranks, steps, period):
    """Losses per step, and the folders with the replicas' variables after the last one."""
    feeds = {f["name"]: Array(os.path.join(folder, f["file"])) for f in description["feeds"]}
    states, losses = [], []
    for rank in range(ranks):
        states.append(os.path.join(work, "replica%d" % rank))
        shutil.copytree(os.path.join(folder, "init"), states[-1])
    for step in range(steps):
        total = 0.0
        for rank, state in enumerate(states):
            share, report = os.path.join(work, "share"), os.path.join(work, "share.json")
            shutil.rmtree(share, ignore_errors=True)
            os.mkdir(share)
            for name, array in feeds.items():
                array.write_share(os.path.join(share, name + ".npy"), step, rank, ranks)
            saved = state + ".next"
            shutil.rmtree(saved, ignore_errors=True)
            call(
                tool,
                "run",
                *program,
                "--feeds",
                share,
                "--init",
                state,
                "--report",
                report,
                "--save",
                saved,
                "--cache",
                os.path.join(work, "cache")
            )
            with open(report) as f:
                total += scalar(json.load(f)["fetch"][description["loss"]][0])
            shutil.rmtree(state)
            os.rename(saved, state)
        losses.append(total / ranks)
        number = step + 1  # as the strategy counts them
        if not period.is_due(number, total / ranks, rate_in(states[0], description)):
            continue
        for name in description["params"]:
            mean = mean_of(states, name)
            for state in states:
                Record(os.path.join(state, name)).write(os.path.join(state, name), mean)
    return losses, states


def compare(what, found, expected):
    for i, (a, b) in enumerate(zip(found.values, expected.values)):
        if not abs(a - b) <= ABSOLUTE + RELATIVE * abs(b):
            fail("%s[%d] is %.9g, by the definition it is %.9g" % (what, i, a, b))


# What changes the step of a replica, and how many words behind the flag belong to it.
OF_REPLICA = {"--lars": 0, "--lamb": 0, "--asp": 0, "--amp": 0, "--init-loss-scaling": 1, "--decr-every-n-nan-or-inf": 1, "--decr-ratio": 1}


def of_replica(flags):
    return [word for i, flag in enumerate(flags) if flag in OF_REPLICA for word in flags[i : i + 1 + OF_REPLICA[flag]]]


def check_scales(folders, saved):
    """Replicas have left out different steps, and scale by different numbers; rank 0's is saved."""
    scales = [Record(os.path.join(folder, "loss_scaling_0")).values[0] for folder in folders]
    print("loss scales of the replicas: %s" % scales)
    if len(set(scales)) == 1:
        fail("no replica has overflowed by itself")
    if Record(os.path.join(saved, "loss_scaling_0")).values[0] != scales[0]:
        fail("the loss scale of rank 0 is not that of the first replica")


def main(tools, corpus, case, ranks, steps, *flags):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    ranks, steps = int(ranks), int(steps)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    program = [
        os.path.join(folder, "main.pdmodel"),
        "--startup",
        os.path.join(folder, "startup.pdmodel"),
    ]
    # A flag that changes what one device computes changes what a replica computes.
    rule = of_replica(flags)
    with tempfile.TemporaryDirectory() as work:
        replica = program
        if rule:
            alone = os.path.join(work, "alone")
            call(tool, "transpile", *program, "-o", alone, *rule)
            replica = [alone]
        given = dict(zip(flags, flags[1:]))
        adaptive = "--adaptive-localsgd" in flags
        prefix = "--adaptive-localsgd-" if adaptive else "--localsgd-"
        names = ("init-k-steps" if adaptive else "k-steps", "begin-step")
        numbers = [int(given.get(prefix + name, 1)) for name in names]
        period = Adaptive(*numbers) if adaptive else Every(*numbers)
        losses, states = replicas(
            tool, replica, description, folder, work, ranks, steps, period
        )
        job, report, saved = (os.path.join(work, name) for name in ("job", "report.json", "saved"))
        call(
            tool,
            "transpile",
            *program,
            "-o",
            job,
            "--trainers",
            str(ranks),
            *([] if adaptive else ["--collective-mode", "local_sgd"]),
            *flags
        )
        if rule or "--recompute" in flags:
            check_verified(tool, job)
        else:
            call(tool, "verify", job)
        call(
            tool,
            "run",
            job,
            "--feeds",
            os.path.join(folder, "feeds"),
            "--init",
            os.path.join(folder, "init"),
            "--steps",
            str(steps),
            "--report",
            report,
            "--save",
            saved,
            "--cache",
            os.path.join(work, "cache"),
        )
        with open(report) as f:
            found = json.load(f)
        compare_losses("local SGD", found["fetch"][description["loss"]], losses)
        # Parameters are those of all after an average; what is each rank's own is saved as rank 0 has it.
        for name in description["persistables"]:
            compare(name, Record(os.path.join(saved, name)), Record(os.path.join(states[0], name)))
        # The comparison tells replicas that have state of their own from those that share it.
        own = [n for n in description["persistables"] if n not in description["params"]]
        own += ["loss_scaling_0"] if "--init-loss-scaling" in flags else []
        if all(
            Record(os.path.join(states[0], n)).values == Record(os.path.join(states[1], n)).values
            for n in own
        ):
            fail("no replica has state of its own: nothing tells local SGD from reduced gradients")
        if "--init-loss-scaling" in flags:
            check_scales(states, saved)
        if adaptive and not set(period.seen) - {period.first}:
            fail("the number of steps does not change: %s" % period.seen)
        print("%s: %d replicas, %d steps: as defined%s" % (case, ranks, steps, ", k %s" % period.seen if adaptive else ""))


if __name__ == "__main__":
    main(*sys.argv[1:])
