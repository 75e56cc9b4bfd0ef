"""A net with batch_norm in a pipeline of several micro-batches, held against what that means:

* losses and parameters are those of data parallelism without sync_batch_norm on as many ranks as there are micro-batches, where a rank has what
  is a micro-batch here;
* running statistics after a step are those of the program on one device, run on one micro-batch after the other, each time from what the pipeline
  held before the step but for the statistics, which are those that the run before has left.

    pipeline_statistics_case.py TOOL_FOLDER CORPUS CASE RANKS MICRO_BATCHES [PIPELINE FLAG...]

RANKS: of the pipeline. With replicas of it a micro-batch is a part of a replica's batch: MICRO_BATCHES · replicas ranks of data parallelism, and
the statistics of replica 0.
"""

import json
import os
import re
import shutil
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


def cut_feeds(feeds, folder, step, parts, number):
    """One of `parts` equal parts of the batch of a step, as a step of its own."""
    os.makedirs(folder)
    for name in os.listdir(feeds):
        head, shape, body = read_npy(os.path.join(feeds, name))
        part = len(body) // shape[0] // parts
        start = (step * parts + number) * part
        shape = [1, shape[1] // parts] + shape[2:]
        write_npy(os.path.join(folder, name), head, shape, body[start : start + part])


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.name, self.folder = case, os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.program = [os.path.join(self.folder, "main.pdmodel"), "--startup"]
        self.program.append(os.path.join(self.folder, "startup.pdmodel"))
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

        # Losses and parameters.
        loss = held.description["loss"]
        shared, expected = held.run(held.make("replicas", parts), "replicas", feeds, init)
        found, saved = held.run(pipeline, "job", feeds, init)
        worst = compare_losses(case, found["fetch"][loss], shared["fetch"][loss])
        held.compare(case, held.description["params"], saved, expected)

        # Running statistics, step by step.
        before = init
        for step in range(STEPS_HELD):
            what = os.path.join(work, "step%d." % step)
            cut_feeds(feeds, what + "feeds", step, 1, 0)
            _, after = held.run(pipeline, what + "pipeline", what + "feeds", before)
            wanted = before
            for number in range(micros):
                start, micro = what + "start%d" % number, what + "micro%d" % number
                os.makedirs(start)
                for name in os.listdir(before):
                    source = wanted if name in moved else before
                    shutil.copyfile(os.path.join(source, name), os.path.join(start, name))
                cut_feeds(feeds, micro, step, parts, number)
                flags = ["--startup", held.program[2]]
                _, wanted = held.run(held.program[0], micro + ".one", micro, start, *flags)
            held.compare("%s after step %d" % (case, step + 1), moved, after, wanted)
            before = after
        print(
            "%s on %d ranks, %d micro-batches: largest difference of a loss %.2e, %d running statistics"
            % (case, ranks, micros, worst, len(moved))
        )


if __name__ == "__main__":
    main(*sys.argv[1:])
