#!/usr/bin/env python3
"""Exports of jobs drawn at random, run in the real framework: every loss is that of a native run of the same job.

    export_sweep.py TOOL_FOLDER CORPUS... [--seed N] [--count N]

CORPUS is an unpacked corpus of programs of 2.x, or what bench/models/unseen.py makes. Interpreter and limits: export_parity.py. A request is a program
and a strategy of the table below, on 2 ranks; what transpile or export refuses by name is counted by its message. What the framework's processor build
cannot run is counted by its error, apart from losses that differ by more than 1e-5 + 1e-4 * |loss|, which are findings (exit status 1).
"""

import argparse
import collections
import os
import random
import re
import sys
import tempfile

import export_parity as peer

STRATEGIES = [
    [],
    [],
    ["--fuse-all-reduce-ops", "false"],
    ["--recompute", "--recompute-checkpoints", "sqrt"],
    ["--recompute", "--recompute-checkpoints", "auto"],
    ["--gradient-merge", "--gradient-merge-k-steps", "2"],
    ["--collective-mode", "local_sgd", "--localsgd-k-steps", "2"],
    ["--lamb"],
    ["--lars"],
    ["--amp"],
    ["--lookahead", "--lookahead-k", "2"],
    ["--dgc", "--dgc-min-size", "16"],
    ["--tensor-parallel", "--tensor-parallel-degree", "2"],
]


def judge(tool, case, flags):
    with tempfile.TemporaryDirectory() as work:
        job, folder = os.path.join(work, "job"), os.path.join(work, "export")
        try:
            peer.make_job(tool, case, 2, flags, job)
            peer.call(tool, "export", job, "-o", folder)
        except SystemExit as refused:
            text = str(refused)
            return "refused" if re.search("exit status [12] ", text) else "ENDED", text
        try:
            found = peer.train(case, folder, 2, widened="--amp" in flags, split=2 if "--tensor-parallel" in flags else 1)
        except SystemExit as ended:
            return "not run there", str(ended)
        try:
            expected = peer.native_losses(tool, case, job, work)
        except SystemExit as ended:
            return "ENDED", str(ended)
    expected = [e[0] if isinstance(e, list) else e for e in expected]
    same = len(found) == len(expected) and all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(found, expected))
    if same or "--amp" in flags and all(abs(a - b) <= 0.02 * (1 + abs(b)) for a, b in zip(found, expected)):
        return "agrees", ""
    return "LOSSES", "%s natively %s" % (found, expected)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=50)
    options = parser.parse_args()
    cases = [
        os.path.join(corpus, name)
        for corpus in options.corpora
        for name in sorted(os.listdir(corpus))
        if os.path.isdir(os.path.join(corpus, name, "init"))
    ]
    generator = random.Random(options.seed)
    counts, texts = collections.Counter(), collections.Counter()
    for _ in range(options.count):
        case, flags = generator.choice(cases), generator.choice(STRATEGIES)
        what, text = judge(os.path.join(options.tools, "dtranspile"), case, flags)
        counts[what] += 1
        if what.isupper():
            print("%s %s %s\n    %s" % (what, os.path.basename(case), " ".join(flags), text[-900:].replace("\n", "\n    ")), flush=True)
        elif text:
            lines = [line for line in text.splitlines() if "rror" in line] or [text]
            texts[what + ": " + re.sub(r"'[^']*'|`[^`]*`|\d+", "N", lines[-1])[:150]] += 1
    for text, count in texts.most_common():
        print("%6d  %s" % (count, text))
    print(", ".join("%d %s" % (n, what) for what, n in sorted(counts.items())))
    return 1 if any(what.isupper() for what in counts) else 0


if __name__ == "__main__":
    sys.exit(main())
