"""A net with batch_norm in a pipeline of several micro-batches, held against what that means:

* losses and parameters are those of data parallelism without sync_batch_norm on as many ranks as there are micro-batches, where a rank has what
  is a micro-batch here;
* running statistics after a step are those of the program on one device, run on one micro-batch after the other from what the pipeline held before
  the step, with a rate of 0, so that nothing else moves.

    pipeline_statistics_case.py TOOL_FOLDER CORPUS CASE RANKS MICRO_BATCHES [PIPELINE FLAG...]

RANKS: of the pipeline. With replicas of it a micro-batch is a part of a replica's batch: MICRO_BATCHES · replicas ranks of data parallelism, and
the statistics of replica 0.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from train_case import call, check_verified, compare_losses, fail, read_noise, read_record

STEPS_HELD = 2  # running statistics are looked at after so many first steps
MOVED, SITES = 'tag = "micro_statistics"', re.compile(r"sites = \[([^]]*)\]")
SHAPE = re.compile(rb"'shape': \(([0-9, ]*)\)")


def read_npy(path):
    """Header words around the shape, extents, elements as bytes."""
    with open(path, "rb") as f:
        data = f.read()
    start = 10 + int.from_bytes(data[8:10], "little")
    found = SHAPE.search(data[:start])
    return data[10 : found.start()], [int(n) for n in found.group(1).split(b",") if n.strip()], data[start:]


def write_npy(path, head, shape, body):
    words = head + b"'shape': (" + b", ".join(b"%d" % n for n in shape) + b",), }"
    words += b" " * (-(len(words) + 11) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(words).to_bytes(2, "little") + words + body)


def cut_feeds(feeds, folder, step, parts, count):
    """The first `count` of `parts` equal parts of the batch of a step, as steps of their own."""
    os.makedirs(folder)
    for name in os.listdir(feeds):
        head, shape, body = read_npy(os.path.join(feeds, name))
        size = len(body) // shape[0]
        part = size // parts
        write_npy(
            os.path.join(folder, name),
            head,
            [count, shape[1] // parts] + shape[2:],
            body[step * size : step * size + count * part],
        )


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.name, self.folder = case, os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.program = [os.path.join(self.folder, "main.pdmodel"), "--startup"]
        self.program.append(os.path.join(self.folder, "startup.pdmodel"))
        init = os.listdir(os.path.join(self.folder, "init"))
        self.rate = self.description.get("lr_var") or next(n for n in init if n.startswith("learning_rate"))
        self.noise = read_noise(corpus, case)

    def make(self, name, ranks, *flags):
        job = os.path.join(self.work, name)
        call(self.tool, "transpile", *self.program, "-o", job, "--trainers", str(ranks), *flags)
        check_verified(self.tool, job)
        return job

    def run(self, job, name, feeds, init, *flags):
        """The report, and the folder of what is held at the end."""
        report, saved = (os.path.join(self.work, name + end) for end in (".json", ".saved"))
        data = ["--feeds", feeds, "--init", init, "--cache", os.path.join(self.work, "cache")]
        call(self.tool, "run", job, *data, "--report", report, "--save", saved, *flags)
        with open(report) as f:
            return json.load(f), saved

    def compare(self, what, names, found, expected):
        for name in names:
            values = [read_record(os.path.join(path, name)) for path in (found, expected)]
            excepted = self.noise.get(name, set())
            for i, (a, b) in enumerate(zip(*values)):
                if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                    fail("%s: %s[%d] is %.9g, by definition %.9g" % (what, name, i, a, b))


def main(tools, corpus, case, ranks, micros, *flags):
    with tempfile.TemporaryDirectory() as work:
        held = Case(tools, corpus, case, work)
        ranks, micros = int(ranks), int(micros)
        stages = int(flags[flags.index("--stages") + 1])
        parts = micros * (ranks // stages)
        pipeline = held.make("pipeline", ranks, "--pipeline", "--accumulate-steps", str(micros), *flags)
        with open(os.path.join(pipeline, "manifest.json")) as f:
            contracts = json.load(f)["contracts"]
        moved = [SITES.search(text).group(1).replace('"', "").split(", ") for text in contracts if MOVED in text][0]
        feeds, init = (os.path.join(held.folder, name) for name in ("feeds", "init"))
        rates = []
        if held.description.get("lr_var"):
            rates = ["--per-step", held.rate + "=" + ",".join(map(str, held.description["lr_per_step"]))]

        # Losses and parameters.
        loss = held.description["loss"]
        shared, expected = held.run(held.make("replicas", parts), "replicas", feeds, init, *rates)
        found, saved = held.run(pipeline, "job", feeds, init, *rates)
        worst = compare_losses(case, found["fetch"][loss], shared["fetch"][loss])
        held.compare(case, held.description["params"], saved, expected)

        # Running statistics, step by step.
        before = init
        for step in range(STEPS_HELD):
            what = "step%d" % step
            one, micro = (os.path.join(work, what + end) for end in (".feeds", ".micro"))
            cut_feeds(feeds, one, step, 1, 1)
            cut_feeds(feeds, micro, step, parts, micros)
            step_rates = ["--per-step", "%s=%s" % (held.rate, held.description["lr_per_step"][step])] if rates else []
            _, after = held.run(pipeline, what + "pipeline", one, before, *step_rates)
            still = ["--startup", held.program[2], "--per-step", held.rate + "=" + ",".join(["0"] * micros)]
            _, wanted = held.run(held.program[0], what + "one", micro, before, *still)
            held.compare("%s after step %d" % (case, step + 1), moved, after, wanted)
            before = after
        print(
            "%s on %d ranks, %d micro-batches: largest difference of a loss %.2e, %d running statistics"
            % (case, ranks, micros, worst, len(moved))
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
