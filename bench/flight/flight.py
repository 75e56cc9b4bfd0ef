#!/usr/bin/env python3
"""What the flight recorders cost: steps of a job with them and without, in one run.

    flight.py [--tools FOLDER] [--corpus FOLDER] [--rounds N] [--steps N] [CASE...]

Each round trains a case on two ranks, once with and once without, in turns that change their order
from round to round. Printed are medians over rounds of the median step of rank 0 (the first quarter
is not counted) in ms, and the ratio, which is what counts.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
from step_speed import make_feeds, median_step  # noqa: E402


def step_ms(tool, job, feeds, init, options):
    report = os.path.join(feeds, "report.json")
    words = [tool, "run", job, "--feeds", feeds, "--init", init, "--report", report]
    subprocess.run(words + ["--threads", "1"] + options, check=True, stdout=subprocess.DEVNULL)
    with open(report) as f:
        return median_step(json.load(f)["ranks"][0]["step_ms"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin", "tools", "dtranspile"))
    parser.add_argument("--corpus", required=True, help="folder with fluid18, static26")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("cases", nargs="*", default=["fluid18/mnist_mlp", "static26/bert_tiny"])
    flags = parser.parse_args()
    tool = os.path.join(flags.tools, "dtranspile")
    print("%-24s %10s %10s %8s" % ("case, 2 ranks", "recorded", "not", "ratio"))
    for name in flags.cases:
        case = os.path.join(flags.corpus, name)
        with tempfile.TemporaryDirectory() as work:
            job = os.path.join(work, "job")
            words = [tool, "transpile", os.path.join(case, "main.pdmodel"), "--startup"]
            words += [os.path.join(case, "startup.pdmodel"), "-o", job, "--trainers", "2"]
            subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
            make_feeds(case, work, flags.steps)
            init = os.path.join(case, "init")
            times = {True: [], False: []}
            for turn in range(flags.rounds):
                for recorded in (turn % 2 == 0, turn % 2 != 0):
                    options = [] if recorded else ["--no-flight-recorder"]
                    times[recorded].append(step_ms(tool, job, work, init, options))
            on, off = statistics.median(times[True]), statistics.median(times[False])
            print("%-24s %10.3f %10.3f %8.3f" % (name, on, off, on / off))


if __name__ == "__main__":
    main()
