#!/usr/bin/env python3
"""Times training steps side by side with the real framework, on one device, in one run.

    step_speed.py [--tools FOLDER] [--before FOLDER] [--corpus FOLDER] [--rounds N] [--steps N]
                  [--load] [--threads N] [--no-peer] [CASE...]

For each case and round, one process after the other: dtranspile of TOOLS, dtranspile of BEFORE (an
older build, if given) and paddlepaddle 2.6.2 (the interpreter that runs this script must have it:
`pip install paddlepaddle==2.6.2 numpy==1.26.4 protobuf==4.25.8`); with --load each of them again
beside as many busy processes as there are processors. Both sides start from the start-up program
and read the same feeds: those of the case, repeated, or random ones within the bounds of case.json.
Printed are medians over rounds of the median step of a process (the first quarter of the steps is
not counted) in ms, and ratios to the framework, which are what counts: where other work comes and
goes it meets all sides.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIMIT_SECONDS = 300
CASES = ["large/static26_ctr_large", "static26/bert_tiny", "static26/lenet", "static26/ctr_deep"]


def read_case(case):
    with open(os.path.join(case, "case.json")) as f:
        return json.load(f)


def make_feeds(case, folder, steps):
    """A .npy per feed, `steps` in the first dimension."""
    import numpy as np

    random = np.random.default_rng(7)
    for feed in read_case(case)["feeds"]:
        source = os.path.join(case, "feeds", feed["name"] + ".npy")
        if os.path.exists(source):
            values = np.load(source)
            values = np.concatenate([values] * -(-steps // len(values)))[:steps]
        else:
            shape = [steps] + feed["shape"]
            draw = random.integers if feed["dtype"].startswith("int") else random.uniform
            values = draw(feed["low"], feed["high"], shape).astype(feed["dtype"])
        np.save(os.path.join(folder, feed["name"] + ".npy"), values)


def median_step(times):
    return statistics.median(times[len(times) // 4 :])


def run_ours(tools, case, feeds, options):
    report = os.path.join(feeds, "report.json")
    words = [os.path.join(tools, "dtranspile"), "run", os.path.join(case, "main.pdmodel")]
    words += ["--startup", os.path.join(case, "startup.pdmodel"), "--feeds", feeds]
    words += ["--steps", str(options.steps), "--report", report]
    words += ["--threads", str(options.threads)] if options.threads else []
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS
    )
    if done.returncode != 0:
        sys.exit(
            "FAILED: exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout)
        )
    with open(report) as f:
        return median_step(json.load(f)["ranks"][0]["step_ms"])


def peer_main(case, feeds, steps):
    """In a process of its own: prints the median step as its last line."""
    os.environ["GLOG_minloglevel"] = "2"
    import numpy as np
    import paddle
    from paddle import static

    paddle.enable_static()

    def parse(name):
        with open(os.path.join(case, name), "rb") as f:
            return static.Program.parse_from_string(f.read())

    main, startup, description = parse("main.pdmodel"), parse("startup.pdmodel"), read_case(case)
    exe = static.Executor(paddle.CPUPlace())
    exe.run(startup)
    data = {
        f["name"]: np.load(os.path.join(feeds, f["name"] + ".npy")) for f in description["feeds"]
    }
    rates = description.get("lr_per_step")
    times = []
    for step in range(steps):
        if rates:
            rate = np.array([rates[step % len(rates)]], "float32")
            static.global_scope().find_var(description["lr_var"]).get_tensor().set(
                rate, paddle.CPUPlace()
            )
        feed = {name: values[step] for name, values in data.items()}
        begin = time.perf_counter()
        exe.run(main, feed=feed, fetch_list=description["fetch"])
        times.append((time.perf_counter() - begin) * 1e3)
    print(median_step(times))


def run_peer(case, feeds, options):
    words = [
        sys.executable,
        os.path.abspath(__file__),
        "--peer-steps",
        str(options.steps),
        case,
        feeds,
    ]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS
    )
    if done.returncode != 0:
        sys.exit("FAILED: the framework on %s\n%s" % (case, done.stderr))
    return float(done.stdout.split()[-1])


class Load:
    """Processes that want every processor."""

    def __init__(self, wanted):
        count = len(os.sched_getaffinity(0)) if wanted else 0
        self.processes = [
            subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)
        ]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
            process.wait()


def bench(case, options):
    path = os.path.join(options.corpus, case)
    with tempfile.TemporaryDirectory() as feeds:
        make_feeds(path, feeds, options.steps)
        sides = {
            "after" if options.before else "ours": lambda: run_ours(
                options.tools, path, feeds, options
            )
        }
        if options.before:
            sides["before"] = lambda: run_ours(options.before, path, feeds, options)
        if not options.no_peer:
            sides["framework"] = lambda: run_peer(path, feeds, options)
        for run in sides.values():  # fills caches
            run()
        times = {}
        for _ in range(options.rounds):
            for loaded in [False, True] if options.load else [False]:
                for name, run in sides.items():
                    with Load(loaded):
                        times.setdefault((name, loaded), []).append(run())
    for loaded in [False, True] if options.load else [False]:
        medians = {name: statistics.median(times[name, loaded]) for name in sides}
        text = "  ".join("%s %8.2f ms" % pair for pair in medians.items())
        against = medians.get("framework")
        ratios = [
            "%s/framework %.2f" % (n, m / against)
            for n, m in medians.items()
            if against and n != "framework"
        ]
        print(
            "%-28s %-7s %s   %s" % (case, "loaded" if loaded else "alone", text, "  ".join(ratios)),
            flush=True,
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin", "tools", "dtranspile"))
    parser.add_argument("--before")
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin", "test", "corpus"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=24)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--load", action="store_true")
    parser.add_argument("--no-peer", action="store_true")
    parser.add_argument("--peer-steps", type=int, help=argparse.SUPPRESS)
    parser.add_argument("cases", nargs="*", default=CASES)
    options = parser.parse_args()
    if options.peer_steps:
        return peer_main(options.cases[0], options.cases[1], options.peer_steps)
    for case in options.cases:
        bench(case, options)


if __name__ == "__main__":
    main()
