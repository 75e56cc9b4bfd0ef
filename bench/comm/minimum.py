"""Bytes that a rank sends per step, counted by the runtime, beside the least that the strategy needs: the table of docs/benchmarks.md, "Bytes per step".

    python3 bench/comm/minimum.py TOOL CORPUS [RANKS...]

TOOL is the folder of dtranspile (bazel-bin/tools/dtranspile), CORPUS that of the unpacked corpora (test/corpus/*.tar.zst), RANKS 2 4. Every job is
transpiled, verified and run with real processes. A step's bytes are the difference of two runs, one of which has as many steps more as make a period
(of merged steps, of averages).

Minimum, of a rank, with n ranks, P bytes of trained parameters:

  sum of a gradient        2 (n - 1)/n of its bytes: every rank has to send all parts but one of its terms, and each sum to n - 1 others
  parts (sharding 1, 2)    the same: (n - 1)/n as terms, (n - 1)/n as updated parameters; stage 3 gathers parameters twice
  half precision           half of that
  every k steps            a k-th of that
  pairs (dgc)              8 (n - 1) bytes per element that is sent: a place and a value, to each other rank

Exit status 1 where more than 1.02 of the minimum is sent, or less than it. With a file name after --json the figures are written there.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

BYTES = {"float16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "bool": 1}
SLACK = 64  # bytes per operation that pads: parts of equal size


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(words), done.stdout))


def load(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


def dense(sizes, n):
    return sum(2 * (n - 1) * size * 4 / n for size in sizes)


def pairs(share, least):
    def minimum(sizes, n):
        sent = [max(1, math.floor(size * (1 - share) + 1e-6)) if size >= least else 0 for size in sizes]
        return sum(8 * (n - 1) * kept for kept in sent) + dense([s for s, k in zip(sizes, sent) if not k], n)

    return minimum


# name, case, flags, minimum of a period, steps of it
LEVELS = ["--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2"]
STRATEGIES = [
    ("one sum per gradient", "fluid18/mnist_mlp", ["--fuse-all-reduce-ops=false"], dense, 1),
    ("buckets", "fluid18/mnist_mlp", [], dense, 1),
    ("two communicators", "fluid18/mnist_mlp", ["--nccl-comm-num", "2", "--fuse-grad-size-in-MB", "1"], dense, 1),
    ("levels", "fluid18/mnist_mlp", LEVELS, dense, 1),
    ("gradient_merge", "fluid18/mnist_mlp", ["--gradient-merge", "--gradient-merge-k-steps", "2"], dense, 2),
    ("fp16_allreduce", "fluid18/mnist_mlp", ["--fp16-allreduce"], lambda sizes, n: dense(sizes, n) / 2, 1),
    ("localsgd", "fluid18/mnist_mlp", ["--collective-mode", "local_sgd", "--localsgd-k-steps", "3"], dense, 3),
    ("dgc", "fluid18/mnist_mlp", ["--dgc", "--dgc-min-size", "1", "--dgc-sparsity", "0.99"], pairs(0.99, 1), 1),
    ("sharding, stage 1", "fluid18/mnist_mlp", ["--sharding", "--sharding-stage", "1"], dense, 1),
    ("sharding, stage 2", "fluid18/mnist_mlp", ["--sharding", "--sharding-stage", "2"], dense, 1),
    ("sharding, stage 3", "fluid18/mnist_mlp", ["--sharding", "--sharding-stage", "3"], lambda sizes, n: 1.5 * dense(sizes, n), 1),
    ("recompute", "fluid18/mnist_mlp", ["--recompute", "--recompute-checkpoints", "sqrt"], dense, 1),
    ("amp", "static26/mlp_amp_ready", ["--amp"], None, 1),
    ("plain, of the same case", "static26/mlp_amp_ready", [], dense, 1),
]


class Bench:
    def __init__(self, tool, corpus, case, work):
        self.tool, self.work = os.path.join(tool, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        self.case = load(self.folder, "case.json")
        self.data = ["--feeds", os.path.join(self.folder, "feeds"), "--init", os.path.join(self.folder, "init")]
        if self.case.get("lr_var"):
            self.data += ["--per-step", self.case["lr_var"] + "=" + ",".join(map(str, self.case["lr_per_step"]))]
        self.data += ["--cache", os.path.join(work, "cache")]

    def job(self, name, ranks, flags):
        job = os.path.join(self.work, name)
        program = [os.path.join(self.folder, part + ".pdmodel") for part in ("main", "startup")]
        call(self.tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", str(ranks), *flags)
        call(self.tool, "verify", job)
        return job

    def sizes(self, job):
        """Elements of what is trained."""
        found = load(job, "manifest.json")["persistables"]
        return [math.prod(one["dims"]) for one in found if one["parameter"]]

    def sent(self, job, period):
        """By every rank, in the steps of the second period."""
        totals = []
        for steps in (period, 2 * period):
            report = job + ".json"
            call(self.tool, "run", job, *self.data, "--steps", str(steps), "--report", report)
            totals.append([rank["bytes_sent"] for rank in load(report)["ranks"]])
        return max(b - a for a, b in zip(*totals))


def half_and_flag(job, n):
    """Of mixed precision: gradients as the job's own account says them, in the type that they are computed in; and the flag of infinite ones, if one travels."""
    total = 0
    for group in load(job, "manifest.json")["communication"]:
        if group["operation"].startswith("all_reduce"):
            total += 2 * (n - 1) * group["payload_bytes"] / n
    return total


def measure(tool, corpus, counts):
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for n in counts:
            for i, (name, case, flags, minimum, period) in enumerate(STRATEGIES):
                if flags is LEVELS and n < 4:
                    continue
                bench = Bench(tool, corpus, case, work)
                job = bench.job("job%d_%d" % (n, i), n, flags)
                least = half_and_flag(job, n) if minimum is None else minimum(bench.sizes(job), n)
                rows.append({"ranks": n, "strategy": name, "case": case, "steps": period, "sent": bench.sent(job, period), "minimum": least})
    return rows


def main(tool, corpus, *words):
    words = list(words)
    file = words.pop(words.index("--json") + 1) if "--json" in words else None
    counts = [int(word) for word in words if word != "--json"] or [2, 4]
    rows, wrong = measure(tool, corpus, counts), False
    print("| ranks | strategy | case | steps | sent | minimum | sent / minimum |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        ratio = row["sent"] / row["minimum"]
        wrong |= not 1 <= ratio + 1e-9 or row["sent"] > 1.02 * row["minimum"] + SLACK
        print("| %(ranks)d | %(strategy)s | `%(case)s` | %(steps)d | %(sent)d | %(minimum)d |" % row, "%.3f |" % ratio, flush=True)
    if file:
        with open(file, "w") as f:
            json.dump(rows, f, indent=1)
    sys.exit(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
