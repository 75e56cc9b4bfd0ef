"""Gradients that travel in half precision: the losses are those of float32 but for the rounding of gradients, which is not nothing, and gradients
take half as many bytes.

    fp16_all_reduce_case.py TOOL_FOLDER CORPUS CASE RANKS [TRANSPILE FLAG...]
"""

import json
import os
import sys
import tempfile

from gradient_merge_case import Case
from train_case import call, check_verified, fail, scalar

BOUND = 5e-3  # of a loss: eight updates with gradients of 11 bits


def run(case, name, ranks, flags):
    """Losses, and the bytes that all ranks send for the second half of the steps."""
    job, report = (os.path.join(case.work, name + end) for end in ("", ".json"))
    program = [os.path.join(case.folder, p + ".pdmodel") for p in ("main", "startup")]
    words = ["transpile", program[0], "--startup", program[1], "-o", job, "--trainers", ranks]
    call(case.tool, *words, *flags)
    check_verified(case.tool, job)
    sent = []
    for steps in (4, 8):
        words = ["--feeds", os.path.join(case.folder, "feeds"), "--init", os.path.join(case.folder, "init")]
        words += ["--steps", str(steps), "--report", report, "--cache", os.path.join(case.work, "cache")]
        if case.per_step:
            words += ["--per-step", case.description["lr_var"] + "=" + ",".join(map(str, case.per_step[:steps]))]
        call(case.tool, "run", job, *words)
        with open(report) as f:
            found = json.load(f)
        sent.append(sum(rank["bytes_sent"] for rank in found["ranks"]))
    return [scalar(value) for value in found["fetch"][case.description["loss"]]], sent[1] - sent[0]


def main(tools, corpus, name, ranks, *flags):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work)
        plain, all_bytes = run(case, "plain", ranks, flags)
        half, half_bytes = run(case, "half", ranks, ("--fp16-allreduce",) + flags)
        worst = max(abs(a - b) / max(abs(a), 1e-3) for a, b in zip(plain, half))
        if worst > BOUND:
            fail("%s: a loss differs by %.2e of itself; %r, in float32 %r" % (name, worst, half, plain))
        if ranks != "1" and half == plain:
            fail("%s: nothing is rounded" % name)
        if ranks == "1" and half != plain:
            fail("%s: one rank rounds what does not travel" % name)
        # What else travels (statistics of a batch, sums of layers, activations, parameters) keeps its precision.
        most = 1.0 if {"--sync-batch-norm", "--tensor-parallel", "--pipeline"} & set(flags) else 0.76 if "--sharding" in flags else 0.51
        if ranks != "1" and not 0.49 * all_bytes <= half_bytes < most * all_bytes:
            fail("%s: %d bytes, in float32 %d" % (name, half_bytes, all_bytes))
        print("%s on %s ranks: losses differ by %.2e of themselves, %d bytes of %d" % (name, ranks, worst, half_bytes, all_bytes))


if __name__ == "__main__":
    main(*sys.argv[1:])
