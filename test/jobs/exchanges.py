"""The collectives that no pass of data parallelism writes, in place of its all_reduce: parts along a dim and of the
flattened whole, also where the ranks do not divide it, exchanged from one dim to another, and rows of different number.
Over every back end of the host the losses are the framework's, and the same bits.

    exchanges.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from train_case import call, compare_losses, fail  # noqa: E402

BACK_ENDS = ["shm", "gloo"]
RANKS = 4
REDUCED = re.compile(r"^ *(%[\w.#]+) = dist\.all_reduce sum ?\((%[\w.#]+)\) on @(\w+) : \((.*)\) -> (.*)$")

# Type of a gradient -> what is made of its all_reduce on four ranks: operation, type of its result.
PARTS = {
    "tensor<64x128xf32>": [("reduce_scatter sum({}) on @{} dim 0", "tensor<16x128xf32>"), ("all_gather({}) on @{} dim 0", None)],
    "tensor<128x128xf32>": [
        ("reduce_scatter sum({}) on @{} dim 0", "tensor<32x128xf32>"),
        ("all_to_all({}) on @{} split 1 concat 0", "tensor<128x32xf32>"),
        ("all_gather({}) on @{} dim 1", None),
    ],
    # Parts of 3, 3, 3 and 1.
    "tensor<128x10xf32>": [("reduce_scatter sum({}) on @{} dim 1", "tensor<128x3xf32>"), ("all_gather({}) on @{} dim 1", None)],
    "tensor<10xf32>": [("reduce_scatter sum({}) on @{} dim flat", "tensor<3xf32>"), ("all_gather({}) on @{} dim flat", None)],
    "tensor<128xf32>": [("reduce sum({}) on @{} to <dp = 3>", "!dist.at<tensor<128xf32>, dp = 3>"), ("broadcast({}) on @{} from <dp = 3>", None)],
}
ROWS = [("all_gather({}) on @{} dim 0 ragged", None)]


def rewrite(text, steps_of):
    """The job with other operations in place of every all_reduce of a type; how many there were."""
    lines, count = [], 0
    for line in text.split("\n"):
        found = REDUCED.match(line)
        steps = steps_of(found.group(4)) if found else None
        if not steps:
            lines.append(line)
            continue
        result, value, comm, before, after = found.groups()
        for number, (operation, made) in enumerate(steps):
            name = result if made is None else "%%exchange.%d.%d" % (count, number)
            made = made or after
            lines.append("%s = dist.%s : (%s) -> %s" % (name, operation.format(value, comm), before, made))
            value, before = name, made
        count += 1
    return "\n".join(lines), count


class Case:
    def __init__(self, tools, corpus, name, work):
        self.tool, self.work, self.name = os.path.join(tools, "dtranspile"), work, name
        self.folder = os.path.join(corpus, name)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.loss = json.load(f)["loss"]
        with open(os.path.join(self.folder, "golden.json")) as f:
            self.golden = json.load(f)[self.loss]

    def text(self):
        main, startup = (os.path.join(self.folder, name + ".pdmodel") for name in ("main", "startup"))
        job = os.path.join(self.work, "job")
        flags = ["--trainers", str(RANKS), "--fuse-all-reduce-ops=false"]
        call(self.tool, "transpile", main, "--startup", startup, "-o", job, "--force", *flags)
        return call(self.tool, "show", job)

    def run(self, job, backend):
        report = os.path.join(self.work, "report.json")
        words = [self.tool, "run", job, "--feeds", os.path.join(self.folder, "feeds"), "--backend", backend]
        words += ["--init", os.path.join(self.folder, "init"), "--report", report]
        call(*words, "--cache", os.path.join(self.work, "cache"))
        with open(report) as f:
            found = json.load(f)["fetch"][self.loss]
        worst = compare_losses("%s over %s" % (self.name, backend), found, self.golden)
        print("%s over %s: largest difference of a loss %.2e" % (self.name, backend, worst))
        return found

    def check(self, steps_of, least):
        text, count = rewrite(self.text(), steps_of)
        if count < least:
            fail("%s: %d all_reduce are rewritten, expected %d" % (self.name, count, least))
        job = os.path.join(self.work, "job.mlir")
        with open(job, "w") as f:
            f.write(text)
        call(self.tool, "verify", job)
        found = [self.run(job, backend) for backend in BACK_ENDS]
        if any(one != found[0] for one in found):
            fail("%s: back ends differ: %s" % (self.name, found))


def main(tools, corpus):
    with tempfile.TemporaryDirectory() as work:
        Case(tools, corpus, "fluid18/mnist_mlp", work).check(PARTS.get, 6)
        # Rows of the batch's words: each rank has others, and another number. All together are the sum.
        ragged = lambda kind: ROWS if kind.startswith("!pd.rows") else None  # noqa: E731
        Case(tools, corpus, "fluid18/word2vec", work).check(ragged, 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
