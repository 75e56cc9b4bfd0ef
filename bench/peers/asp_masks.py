#!/usr/bin/env python3
"""Compares masks of pruned weights with the framework's.

    asp_masks.py [--tools FOLDER] [--corpus FOLDER] [--seed N] [--definitions-only]

The interpreter that runs this script has paddlepaddle 2.6.2 (see export_parity.py). For each algorithm: (1) the definition by which the tests
judge (test/e2e/by_hand_case.py) against `paddle.incubate.asp.create_mask` on random weights of one to four dims, with extents that are no multiples
of four; (2) masks that a job's run makes of random weights of CASES against the same. Normal numbers have no ties, of which the framework says
nothing. Exit status 1 where an element differs.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "test", "e2e"))
from by_hand_case import dims_of, is_pruned, mask_of  # noqa: E402
from local_sgd_case import Record  # noqa: E402

SHAPES = [(9,), (4,), (8, 8), (6, 3), (13, 10), (64, 30), (5, 3, 2), (8, 4, 6), (4, 4, 1, 1), (6, 5, 3, 3), (3, 8, 5, 2)]
CASES = ["fluid18/mnist_mlp", "static26/lenet", "static26/gpt_tiny"]
ALGORITHMS = ["mask_1d", "mask_2d_greedy", "mask_2d_best"]
DRAWS = 20  # per shape


def framework(weight, algorithm):
    from paddle.incubate import asp

    return asp.create_mask(weight.T, func_name=asp.MaskAlgo["MASK_" + algorithm[5:].upper()], n=2, m=4).T


def differing(mask, weight, algorithm):
    return int((numpy.asarray(mask, dtype=weight.dtype).reshape(weight.shape) != framework(weight, algorithm)).sum())


def definitions(algorithm, generator):
    wrong = elements = 0
    for shape in SHAPES:
        for _ in range(DRAWS):
            weight = generator.standard_normal(shape).astype("float32")
            wrong += differing(mask_of(weight.reshape(-1).tolist(), list(shape), algorithm), weight, algorithm)
            elements += weight.size
    print("%s: definition: %d elements, %d differ" % (algorithm, elements, wrong))
    return wrong


def runs(options, case, algorithm, generator):
    folder, tool = os.path.join(options.corpus, case), os.path.join(options.tools, "dtranspile")
    wrong = elements = count = 0
    with tempfile.TemporaryDirectory() as work:
        init, job, saved = (os.path.join(work, name) for name in ("init", "job", "saved"))
        shutil.copytree(os.path.join(folder, "init"), init)
        for name in os.listdir(init):
            if is_pruned(name, dims_of(os.path.join(init, name)), []):
                record = Record(os.path.join(init, name))
                record.write(os.path.join(init, name), generator.standard_normal(len(record.values)).astype("float32").tolist())
        programs = [os.path.join(folder, name + ".pdmodel") for name in ("main", "startup")]
        quiet = {"check": True, "stdout": subprocess.DEVNULL}
        subprocess.run([tool, "transpile", programs[0], "--startup", programs[1], "-o", job, "--asp", "--asp-mask-algo", algorithm], **quiet)
        feeds = os.path.join(folder, "feeds")
        subprocess.run([tool, "run", job, "--feeds", feeds, "--init", init, "--steps", "1", "--save", saved], **quiet)
        for name in sorted(os.listdir(saved)):
            if not name.endswith(".asp_mask"):
                continue
            path = os.path.join(init, name[: -len(".asp_mask")])
            weight = numpy.array(Record(path).values, dtype="float32").reshape(dims_of(path))
            wrong += differing(Record(os.path.join(saved, name)).values, weight, algorithm)
            elements, count = elements + weight.size, count + 1
    print("%s: %s: %d masks of %d elements, %d differ" % (algorithm, case, count, elements, wrong))
    return wrong if count else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin", "tools", "dtranspile"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin", "test", "corpus"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--definitions-only", action="store_true", help="no runs")
    options = parser.parse_args()
    generator = numpy.random.default_rng(options.seed)
    wrong = 0
    for algorithm in ALGORITHMS:
        wrong += definitions(algorithm, generator)
        for case in [] if options.definitions_only else CASES:
            wrong += runs(options, case, algorithm, generator)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
