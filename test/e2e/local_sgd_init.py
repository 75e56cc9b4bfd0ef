"""Local SGD that begins with loaded values: every rank's snapshot begins as the loaded parameter, not as start-up makes it. Two ranks, the gradient is
the mean of a rank's own samples, the rate 1/2: what comes out is known to the bit.

    local_sgd_init.py TOOL_FOLDER CORPUS PROGRAM.mlir
"""

import json
import os
import struct
import sys
import tempfile

from train_case import call, fail

RATE, BEGIN = 0.5, 1.0
SHARES = [[1.0, 3.0], [5.0, 7.0]]  # the samples of each rank, in every step
STEPS = 3


def write_npy(path, dims, values):
    header = repr({"descr": "<f4", "fortran_order": False, "shape": dims}).encode()
    header += b" " * (-(10 + len(header) + 1) % 64) + b"\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
        f.write(struct.pack("<%df" % len(values), *values))


def write_record(path, value):
    """A float32 [1] in the framework's file format."""
    description = b"\x08\x05\x10\x01"
    with open(path, "wb") as f:
        f.write(struct.pack("<IQIi", 0, 0, 0, len(description)) + description)
        f.write(struct.pack("<f", value))


def by_hand():
    """Losses and parameters per step: each rank steps by itself, then they take the mean."""
    w, losses, parameters = BEGIN, [], []
    for _ in range(STEPS):
        means = [sum(share) / len(share) for share in SHARES]
        losses.append(sum(w * mean for mean in means) / len(means))
        w = sum(w - RATE * mean for mean in means) / len(means)
        parameters.append(w)
    return losses, parameters


def main(tools, corpus, program):
    tool = os.path.join(tools, "dtranspile")
    passes = os.path.join(os.path.dirname(tools), "dtranspile-opt", "dtranspile-opt")
    source = os.path.join(os.path.dirname(os.path.abspath(__file__)), program)
    pipeline = "builtin.module(collective{trainers=%d collective_mode=local_sgd})" % len(SHARES)
    with tempfile.TemporaryDirectory() as work:
        job, feed, init, report = (
            os.path.join(work, name) for name in ("job.mlir", "x.npy", "init", "report.json")
        )
        call(passes, source, "--pass-pipeline=" + pipeline, "-o", job)
        call(tool, "verify", job)
        samples = [x for share in SHARES for x in share]
        write_npy(feed, (STEPS, len(samples), 1), samples * STEPS)
        os.mkdir(init)
        write_record(os.path.join(init, "w"), BEGIN)
        write_record(os.path.join(init, "rate"), RATE)
        words = ["run", job, "--feed", "x=" + feed, "--init", init, "--steps", str(STEPS)]
        words += ["--fetch", "loss", "--fetch", "w", "--report", report]
        call(tool, *words, "--cache", os.path.join(work, "cache"))
        with open(report) as f:
            found = json.load(f)["fetch"]
    losses, parameters = by_hand()
    # The loss is the mean over the ranks, the parameter is each rank's.
    for name, expected in (("loss", losses), ("w", [[[w]] * len(SHARES) for w in parameters])):
        if found[name] != expected:
            fail("%s is %s, by hand it is %s" % (name, found[name], expected))
    print("begins as loaded: losses %s, parameters %s" % (losses, parameters))


if __name__ == "__main__":
    main(*sys.argv[1:])
