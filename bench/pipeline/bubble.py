#!/usr/bin/env python3
"""The bubble of a pipeline as it runs, beside that of its schedule.

    bubble.py --sleep sleep.so --corpus FOLDER [--tools FOLDER] [--micros M] [--task MS] [--steps N]
              [--within POINTS] [SCHEDULE...]

Four stages run as four processes, whose tasks sleep for a fixed time (asleep.py): F takes as long as
the gradients of activations and as those of weights, so that B takes twice as long where it makes
both. The idle share of a step is 1 − time asleep / (stages · time from the first task's begin to
the last one's end); printed is the median over steps. With --within the command fails where a
schedule is further from theory than so many points.
"""

import argparse
import os
import statistics
import sys
import tempfile

import asleep

STAGES = 4
# schedule -> flags, parts of the model per stage, parts of a task's time that F, B and W take, and
# the idle share of P stages and M micro-batches
SCHEDULES = {
    "F-then-B": (["--schedule-mode", "F-then-B"], 1, (1, 2, 0), lambda p, m: (p - 1) / (m + p - 1)),
    "1F1B": (["--schedule-mode", "1F1B"], 1, (1, 2, 0), lambda p, m: (p - 1) / (m + p - 1)),
    "interleaved": (
        ["--virtual-stages", "2"],
        2,
        (0.5, 1, 0),
        lambda p, m: (p - 1) / (2 * m + p - 1),
    ),
    "ZB-H1": (
        ["--schedule-mode", "ZB-H1"],
        1,
        (1, 1, 1),
        lambda p, m: (p - 1) / (3 * m + p - 1),
    ),
}
CASE = os.path.join("static26", "gpt_untied_stages")


def measure(flags, name):
    words, chunks, costs, theory = SCHEDULES[name]
    us = {task: int(1000 * flags.task * cost) for task, cost in zip("FBW", costs)}
    with tempfile.TemporaryDirectory() as work:
        words = words + ["--accumulate-steps", str(flags.micros), "--stages", str(STAGES)]
        words += ["--trainers", str(STAGES), "--pipeline"]
        case = os.path.join(flags.corpus, CASE)
        job = asleep.Job(flags.tools, flags.sleep, case, words, work)
        for of, plan in job.plans.items():
            micro = job.micro(plan)
            for task in micro["tasks"]:
                task["body"] = asleep.task_asleep(task["body"], us[task["name"][0]])
            job.write(of, [micro])
        ranks, mesh = job.ranks()
        job.run(ranks, mesh, flags.steps)
    shares = []
    asleep_of = [[e for e in trace if e["name"] == asleep.SLEEP] for trace in job.traces]
    per_step = len(asleep_of[0]) // flags.steps
    for step in range(1, flags.steps):  # the first one connects
        spans = [e for one in asleep_of for e in one[step * per_step : (step + 1) * per_step]]
        begin = min(e["ts"] for e in spans)
        end = max(e["ts"] + e["dur"] for e in spans)
        shares.append(1 - sum(e["dur"] for e in spans) / (STAGES * (end - begin)))
    return 100 * statistics.median(shares), 100 * theory(STAGES, flags.micros)


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(root, "bazel-bin", "tools", "dtranspile"))
    sleep = os.path.join(root, "bazel-bin", "bench", "pipeline", "libsleep.so")
    parser.add_argument("--sleep", default=sleep)
    parser.add_argument("--corpus", required=True, help="folder with static26")
    parser.add_argument("--micros", type=int, default=8)
    parser.add_argument("--task", type=float, default=20, help="ms of a task F")
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--within", type=float, default=0)
    parser.add_argument("schedules", nargs="*", default=sorted(SCHEDULES))
    flags = parser.parse_args()
    print("%-12s %10s %10s" % ("%d stages" % STAGES, "measured", "theory"))
    far = []
    for name in flags.schedules:
        measured, theory = measure(flags, name)
        print("%-12s %9.1f%% %9.1f%%" % (name, measured, theory), flush=True)
        if flags.within and abs(measured - theory) > flags.within:
            far.append(name)
    if far:
        print("further than %g points: %s" % (flags.within, " ".join(far)))
        sys.exit(1)


if __name__ == "__main__":
    main()
