"""Jobs in text whose trainers do not wait for each other (async_server.mlir, geo_server.mlir): one trainer has the bits of the program on one device, with
any number of servers and blocks; several trainers come to the loss of synchronous ones, within a band, for several seeds. Wrong
versions are refuted.

    async_case.py TOOL_FOLDER CORPUS JOB.mlir SYNC.mlir CASE
"""

import filecmp
import json
import os
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import job_case  # noqa: E402
import train_case  # noqa: E402
from train_case import call, compare_losses, fail, scalar  # noqa: E402

STEPS, BATCH, FEATURES = 160, 16, 10
# The loss after as many samples: at most so many times that of synchronous trainers, plus NOISE.
BAND, NOISE = 1.25, 1e-3
# A trainer's share of what it pushes: 1/N, in the text.
SHARE = ("scale = 5.000000e-01 : f32", "scale = 1.000000e+00 : f32")


def variant(path, work, name, *pairs):
    with open(path) as f:
        text = f.read()
    for old, new in pairs:
        if old not in text:
            fail("'%s' is not in %s" % (old, path))
        text = text.replace(old, new)
    path = os.path.join(work, name + ".mlir")
    with open(path, "w") as f:
        f.write(text)
    return path


def write_npy(path, shape, values):
    header = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (shape,)
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
        f.write(struct.pack("<%df" % len(values), *values))


def make_feeds(folder, seed):
    """Samples of a linear function, with a little noise."""
    draw = random.Random(seed)
    weights = [draw.uniform(-1, 1) for _ in range(FEATURES)]
    xs, ys = [], []
    for _ in range(STEPS * BATCH):
        x = [draw.gauss(0, 1) for _ in range(FEATURES)]
        xs += x
        ys.append(sum(a * b for a, b in zip(x, weights)) + 0.5 + draw.gauss(0, 0.05))
    os.makedirs(folder)
    write_npy(os.path.join(folder, "x.npy"), (STEPS, BATCH, FEATURES), xs)
    write_npy(os.path.join(folder, "y.npy"), (STEPS, BATCH, 1), ys)


def run(tool, what, job, feeds, work, *more):
    saved, report = (os.path.join(work, what + ending) for ending in (".saved", ".json"))
    call(tool, "run", job, "--feeds", feeds, "--report", report, "--save", saved, "--cache", os.path.join(work, "cache"), *more)
    with open(report) as f:
        return saved, [scalar(value) for value in json.load(f)["fetch"]["mean_0.tmp_0"]]


def check_alone(tool, job, folder, work):
    with open(os.path.join(folder, "golden.json")) as f:
        golden = json.load(f)["mean_0.tmp_0"]
    given = [os.path.join(folder, "feeds"), work, "--init", os.path.join(folder, "init")]
    program = [os.path.join(folder, "main.pdmodel"), "--startup", os.path.join(folder, "startup.pdmodel")]
    alone, losses = run(tool, "alone", program[0], *given, *program[1:])
    compare_losses("on one device", losses, golden)
    one = ("dp = 2", "dp = 1")
    with open(job) as f:
        if SHARE[0] in f.read():
            one = [one, SHARE]
        else:
            one = [one]
    blocks = ("blocks(10, per 10, first 0)", "blocks(10, per 4, first 0)")
    for name, pairs in {
        "server": one,
        "blocks": one + [blocks],
        "servers": one + [blocks, ("ps = 1", "ps = 2")],
    }.items():
        saved, found = run(tool, name, variant(job, work, name, *pairs), *given)
        if found != losses:
            fail("%s: losses %s, on one device %s" % (name, found, losses))
        for parameter in ("fc_0.b_0", "fc_0.w_0"):
            if not filecmp.cmp(os.path.join(saved, parameter), os.path.join(alone, parameter), shallow=False):
                fail("%s: %s has other bits than on one device" % (name, parameter))
        print("one trainer, %s: the bits of one device" % name)


def check_band(tool, job, sync, work):
    """Where every push is an update, two trainers make two where synchronous ones make one. Of several seeds most are in
    the band: which update comes first is a race, and one run may lose it often."""
    marks = (STEPS // 4, STEPS // 2, STEPS)
    outside = {steps: [] for steps in marks}
    seeds = (1, 2, 3)
    for seed in seeds:
        feeds = os.path.join(work, "feeds%d" % seed)
        make_feeds(feeds, seed)
        change = ("seed = 20 : i32", "seed = %d : i32" % (20 + seed))
        losses = []
        for name, path in (("async", job), ("sync", sync)):
            name += str(seed)
            losses.append(run(tool, name, variant(path, work, name, change), feeds, work)[1])
        for steps in marks:
            late = [sum(one[steps - 10 : steps]) / 10 for one in losses]
            print("seed %d: loss after %d samples %.4g, of synchronous trainers %.4g" % (seed, steps * BATCH, *late))
            if late[0] > BAND * late[1] + NOISE:
                outside[steps].append("seed %d: %s" % (seed, losses[0]))
        if late[0] > 0.05 * losses[0][0]:
            fail("seed %d: does not train: %s" % (seed, losses[0]))
    for steps, found in outside.items():
        if 2 * len(found) > len(seeds):
            fail("after %d samples outside of the band: %s" % (steps * BATCH, "; ".join(found)))


def check_stale_pull(tool, job, work):
    """A parameter that is pulled before its gradient is pushed is that of the step before."""
    with open(job) as f:
        lines = f.read().split("\n")
    at = {key: next(i for i, line in enumerate(lines) if key in line) for key in ("dist.push %fc_0.w_0.grad", "%new_w = dist.pull")}
    pull = lines.pop(at["%new_w = dist.pull"])
    lines.insert(at["dist.push %fc_0.w_0.grad"], pull)
    path = os.path.join(work, "stale.mlir")
    with open(path, "w") as f:
        f.write("\n".join(lines))
    done = subprocess.run([tool, "verify", path], stdout=subprocess.PIPE, text=True, timeout=train_case.LIMIT_SECONDS)
    if done.returncode != job_case.REFUTED or "[lineage]" not in done.stdout:
        fail("a stale pull ends with %d:\n%s" % (done.returncode, done.stdout))


def main(tools, corpus, job, sync, case):
    tool = os.path.join(tools, "dtranspile")
    here = os.path.dirname(os.path.abspath(__file__))
    job, sync, folder = os.path.join(here, job), os.path.join(here, sync), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        check_alone(tool, job, folder, work)
        check_band(tool, job, sync, work)
        print(call(tool, "verify", job).strip().split("\n")[-1])
        if "geo" not in os.path.basename(job):
            check_stale_pull(tool, job, work)
        print("%d mutants, all refuted" % job_case.check_mutants(tool, job, work))


if __name__ == "__main__":
    main(*sys.argv[1:])
