"""Requests drawn at random, held against their definition: every job that transpile makes is verified, runs, and has the losses of
the same computation on one device.

    sweep.py TOOL_FOLDER CORPUS... [--seed N] [--count N] [--case NAME] [--steps N] [--keep FOLDER]

CORPUS is an unpacked corpus of test/corpus. A request is a program, a number of ranks, and a few features with options drawn from
the table below. What a request computes follows from its semantic features alone: these, asked for with one rank, are the other side. Exit
statuses of transpile that say `refused` (1, 2) are counted by their message; any other one is a finding, as are jobs that are not verified,
jobs that end, and losses that differ by more than 1e-5 + 1e-4 * |loss| (half precision: 0.02 * (1 + |loss|)). Where verify lists sites, ops that are
evaluated per share of the batch, another loss is what the job says. What both have saved is compared too, and every third request begins
with what start-up draws (`started`) in place of the case's initial values. Local steps, compression and modes
without rounds have no single-device losses: theirs have to be finite.

Prints a line per finding and, at the end, counts by what happened and the messages of refusals.
"""

import argparse
import array
import collections
import json
import math
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

# feature: (does it change what one device computes, flags drawn from lists of choices)
SEMANTIC = {
    "amp": [["--amp"], ["--amp", "--amp-dtype", "bfloat16"], ["--amp", "--init-loss-scaling", "1024"]],
    "recompute": [
        ["--recompute", "--recompute-checkpoints", "sqrt"],
        ["--recompute", "--recompute-checkpoints", "auto"],
        ["--recompute", "--recompute-checkpoints", "auto", "--recompute-extra-work", "10"],
    ],
    "lars": [["--lars"], ["--lars", "--lars-exclude-from-weight-decay", ".b_0"]],
    "lamb": [["--lamb"], ["--lamb", "--lamb-exclude-from-weight-decay", "b_0"]],
    "asp": [["--asp"]],
    "lookahead": [["--lookahead", "--lookahead-k", "2"], ["--lookahead", "--lookahead-alpha", "0.8", "--lookahead-k", "1"]],
    "merge": [
        ["--gradient-merge", "--gradient-merge-k-steps", "2"],
        ["--gradient-merge", "--gradient-merge-k-steps", "3", "--gradient-merge-avg", "false"],
    ],
}
PLACING = {
    "sharding": [
        ["--sharding"],
        ["--sharding", "--sharding-stage", "2"],
        ["--sharding", "--sharding-stage", "3"],
        ["--sharding", "--sharding-degree", "2", "--sharding-stage", "3"],
        ["--sharding", "--sharding-degree", "2", "--min-shard", "100"],
    ],
    "pipeline": [
        ["--pipeline", "--stages", "2", "--accumulate-steps", "2"],
        ["--pipeline", "--stages", "2", "--accumulate-steps", "4", "--schedule-mode", "F-then-B"],
        ["--pipeline", "--stages", "2", "--virtual-stages", "2", "--accumulate-steps", "4"],
        ["--pipeline", "--stages", "4", "--accumulate-steps", "4"],
        ["--pipeline", "--stages", "2", "--accumulate-steps", "4", "--schedule-mode", "ZB-H1"],
    ],
    "tensor": [["--tensor-parallel", "--tensor-parallel-degree", "2"], ["--tensor-parallel", "--tensor-parallel-degree", "4"]],
    "fp16": [["--fp16-allreduce"]],
    "syncbn": [["--sync-batch-norm"]],
    "levels": [["--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2"]],
    "buckets": [["--fuse-all-reduce-ops", "false"], ["--fuse-grad-size-in-MB", "1"], ["--nccl-comm-num", "2"]],
    "pserver": [
        ["--mode", "pserver", "--pservers", "1"],
        ["--mode", "pserver", "--pservers", "2"],
        ["--mode", "pserver", "--pservers", "3", "--min-block-size", "16", "--allow-small-blocks"],
        ["--mode", "pserver", "--pservers", "2", "--split-method", "HashName", "--slice-var-up", "false"],
    ],
}
LOOSE = {
    "localsgd": [["--collective-mode", "local_sgd"], ["--collective-mode", "local_sgd", "--localsgd-k-steps", "2"]],
    "dgc": [["--dgc", "--dgc-min-size", "16"], ["--dgc", "--dgc-min-size", "16", "--dgc-sparsity", "0.75"]],
    "async": [["--mode", "pserver", "--pservers", "2", "--preset", p] for p in ("async", "half_async", "geo")],
}
RANKS_OF = {"--sharding-degree", "--stages", "--tensor-parallel-degree", "--hierarchical-allreduce-inter-nranks"}
LIMIT = 120


def call(*words):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT, text=True, errors="replace")
    except subprocess.TimeoutExpired:
        return None, "ran past %d s" % LIMIT
    return done.returncode, done.stdout


class Program:
    def __init__(self, folder):
        self.folder, self.name = folder, "/".join(folder.split("/")[-2:])
        with open(os.path.join(folder, "case.json")) as f:
            self.case = json.load(f)
        ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
        self.words = [os.path.join(folder, "main" + ending), "--startup", os.path.join(folder, "startup" + ending)]
        self.tags = set(self.case.get("tags") or [])
        self.data = ["--feeds", os.path.join(folder, "feeds")]
        if os.path.isdir(os.path.join(folder, "init")):
            self.data += ["--init", os.path.join(folder, "init")]
        if self.case.get("lr_var"):
            self.data += ["--per-step", self.case["lr_var"] + "=" + ",".join(map(str, self.case["lr_per_step"]))]


def draw(generator):
    semantic = generator.sample(sorted(SEMANTIC), generator.choice([0, 0, 1, 1, 1, 2]))
    placing = generator.sample(sorted(PLACING), generator.choice([0, 1, 1, 2, 2, 3]))
    loose = generator.sample(sorted(LOOSE), 1) if generator.random() < 0.15 else []
    words = [generator.choice(SEMANTIC[name]) for name in semantic]
    other = [generator.choice(PLACING[name]) for name in placing] + [generator.choice(LOOSE[name]) for name in loose]
    flags = sum(other, [])
    sizes = [int(flags[i + 1]) for i, flag in enumerate(flags) if flag in RANKS_OF]
    ranks = math.prod(sizes) * generator.choice([1, 1, 2]) if sizes else generator.choice([1, 2, 2, 2, 3, 4, 4])
    # Every third request begins with what start-up draws in place of the values of the case.
    return semantic, placing + loose, sum(words, []), flags, ranks if ranks <= 8 else math.prod(sizes), generator.random() < 0.33


def flat(value):
    return sum(map(flat, value), []) if isinstance(value, list) else [value]


def floats(path):
    """The elements of a saved dense variable of float32; nothing of others."""
    with open(path, "rb") as f:
        data = f.read()
    if len(data) < 20 or any(data[4:12]):
        return None
    (size,) = struct.unpack("<i", data[16:20])
    if data[20:22] != b"\x08\x05":
        return None
    values = array.array("f")
    values.frombytes(data[20 + size :])
    return values


def apart(saved, expected):
    """The first variable of both that differs by more than 1e-5 + 1e-3 of its largest element."""
    for name in sorted(set(os.listdir(saved)) & set(os.listdir(expected))):
        a, b = floats(os.path.join(saved, name)), floats(os.path.join(expected, name))
        if a is None or b is None or not all(map(math.isfinite, b)):
            continue
        allowed = 1e-5 + 1e-3 * max(map(abs, b), default=0)
        if len(a) != len(b) or any(not abs(x - y) <= allowed for x, y in zip(a, b)):
            worst = max((abs(x - y) for x, y in zip(a, b)), default=0)
            return "variable %s: %d and %d elements, %g apart, %g allowed" % (name, len(a), len(b), worst, allowed)
    return ""


def losses(tool, job, program, steps, work, started):
    report, saved = os.path.join(work, "report.json"), os.path.join(work, "saved_" + os.path.basename(job))
    if os.path.exists(report):
        os.remove(report)
    data = program.data
    if started and "--init" in data:
        data = [word for i, word in enumerate(data) if word != "--init" and data[i - 1] != "--init"]
    words = ["--steps", str(steps), "--report", report, "--cache", os.path.join(work, "../cache"), "--save", saved]
    code, text = call(tool, "run", job, *data, *words)
    if code != 0:
        return code, text
    with open(report) as f:
        found = json.load(f)
    with open(os.path.join(job, "manifest.json")) as f:
        name = json.load(f)["loss"]  # of a program that scales it itself another one than the case's
    values = found["fetch"].get(name)
    if values is None:
        return 0, "no loss %s among %s" % (name, sorted(found["fetch"]))
    return 0, [sum(flat(v)) for v in values]


def message(text):
    """A refusal without names and numbers, so that equal ones are counted together."""
    lines = [line for line in text.splitlines() if "error" in line] or text.splitlines()[-1:] or [""]
    line = re.sub(r"^\S+?: ", "", lines[0])
    return re.sub(r"\d+", "N", re.sub(r"'[^']*'|`[^`]*`|\"[^\"]*\"", "X", line))[:150]


def judge(tool, program, request, steps, work):
    semantic, placing, words, other, ranks, started = request
    job = os.path.join(work, "job")
    code, text = call(tool, "transpile", *program.words, "-o", job, "--trainers", str(ranks), *words, *other)
    if code in (1, 2):
        return "refused", message(text)
    if code != 0:
        return "TRANSPILE", "status %s: %s" % (code, text[-600:])
    code, text = call(tool, "verify", job)
    if code != 0:
        return "VERIFY", "status %s: %s" % (code, text[:1500])
    sites = sum(map(int, re.findall(r"\bsites (\d+)", text)))
    code, found = losses(tool, job, program, steps, work, started)
    if code == 1 and isinstance(found, str) and re.search(r"not\s+divide|divide into", found):
        return "refused", "a batch that does not divide"
    if isinstance(found, str):
        return "RUN", "status %s: %s" % (code, found[-800:])
    if set(placing) & set(LOOSE):
        return ("loose", "") if all(map(math.isfinite, found)) else ("LOSSES", str(found))
    if program.tags & {"random", "batch-statistics", "batch-dependent"} or sites:
        return "not compared", ""
    alone = os.path.join(work, "alone")
    code, text = call(tool, "transpile", *program.words, "-o", alone, "--trainers", "1", *words)
    if code != 0:
        return "ALONE", "status %s: %s" % (code, text[-600:])
    code, expected = losses(tool, alone, program, steps, work, started)
    if isinstance(expected, str):
        return "ALONE", "status %s: %s" % (code, expected[-800:])
    half = "amp" in semantic or "fp16" in placing
    for a, b in zip(found, expected):
        if not (math.isnan(a) and math.isnan(b)) and not abs(a - b) <= (0.02 * (1 + abs(b)) if half else 1e-5 + 1e-4 * abs(b)):
            return "LOSSES", "%s instead of %s" % (found, expected)
    # Rules that divide by the size of a gradient make steps of rounding errors where a gradient is zero but for these.
    divides = any("moment" in name or "mean_square" in name for name in os.listdir(os.path.join(work, "saved_alone")))
    if not half and not divides and all(map(math.isfinite, expected)):
        text = apart(os.path.join(work, "saved_job"), os.path.join(work, "saved_alone"))
        if text:
            return "SAVED", text
    return "agrees", ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--case")
    parser.add_argument("--steps", type=int, default=4)
    parser.add_argument("--keep")
    options = parser.parse_args()
    tool = os.path.join(options.tools, "dtranspile")
    programs = []
    for corpus in options.corpora:
        for name in sorted(os.listdir(corpus)):
            if os.path.exists(os.path.join(corpus, name, "case.json")) and (not options.case or name == options.case):
                programs.append(Program(os.path.join(corpus, name)))
    generator = random.Random(options.seed)
    counts, refusals, findings = collections.Counter(), collections.Counter(), 0
    with tempfile.TemporaryDirectory() as work:
        for number in range(options.count):
            program, request = generator.choice(programs), draw(generator)
            folder = os.path.join(work, str(number))
            os.mkdir(folder)
            what, text = judge(tool, program, request, options.steps, folder)
            counts[what] += 1
            if what == "refused":
                refusals[text] += 1
            elif what.isupper():
                findings += 1
                print("%s %s --trainers %d %s%s\n    %s" % (what, program.name, request[4], " ".join(request[2] + request[3]), ", started" if request[5] else "", text.replace("\n", "\n    ")), flush=True)
                if options.keep:
                    shutil.copytree(folder, os.path.join(options.keep, "%d_%d" % (options.seed, number)), dirs_exist_ok=True)
            shutil.rmtree(folder)
    for text, count in refusals.most_common():
        print("%6d  %s" % (count, text))
    print(", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
