#!/usr/bin/env python3
"""How much of its communication a job hides behind computing, over a slow link. Needs root.

    overlap.py --sleep sleep.so --corpus FOLDER [--tools FOLDER] [--ratio R]
               [--steps N] [--at-most PERCENT] [CASE...]

Every rank has a network namespace of its own; all hang on a bridge by links whose rate a token
bucket limits (tc tbf), and talk by Gloo. Kernels sleep (asleep.py), so long that computing alone
takes R times as long as communication alone. Three runs of a job say how a step divides:

    communication   kernels take no time
    computing       the link takes no time (shared memory)
    step            both
    exposed         (step − computing) / communication

Medians over steps of the longest rank. With --at-most the command fails where more is exposed.
"""

import argparse
import copy
import os
import statistics
import subprocess
import sys
import tempfile

import asleep

PORT = 29400
# case -> program, flags, ranks, batch, Mbit/s of a link
CASES = {
    "dp": ("large/static26_resnet50", ["--fuse-grad-size-in-MB", "4"], 2, 8, 400),
    "sharding": (
        "large/static26_resnet50",
        ["--sharding", "--sharding-stage", "2", "--segment-broadcast-MB", "4"],
        2,
        8,
        400,
    ),
    "F-then-B": (
        "large/static26_mlp_wide",
        ["--pipeline", "--stages", "2", "--accumulate-steps", "8", "--schedule-mode", "F-then-B"],
        2,
        1024,
        100,
    ),
    "1F1B": (
        "large/static26_mlp_wide",
        ["--pipeline", "--stages", "2", "--accumulate-steps", "8"],
        2,
        1024,
        100,
    ),
}


class Network:
    """Namespaces dt<pid>.<rank>, each with the address 10.77.0.<rank + 1>, on one bridge."""

    def __init__(self, ranks, mbit):
        self.hub = "dt%d" % os.getpid()
        self.names = ["%s.%d" % (self.hub, rank) for rank in range(ranks)]
        self.mbit = mbit

    def ip(self, *words):
        done = subprocess.run(["ip", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            raise SystemExit("ip %s: %s (namespaces need root)" % (" ".join(words), done.stdout))

    def limit(self, space, device):
        words = ["tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", "%gmbit" % self.mbit]
        self.ip("netns", "exec", space, *words, "burst", "16kb", "latency", "400ms")

    def __enter__(self):
        self.ip("netns", "add", self.hub)
        self.ip("-n", self.hub, "link", "add", "bridge", "type", "bridge")
        self.ip("-n", self.hub, "link", "set", "bridge", "up")
        for rank, name in enumerate(self.names):
            port = "p%d" % rank
            self.ip("netns", "add", name)
            self.ip("-n", name, "link", "set", "lo", "up")
            self.ip("-n", name, "link", "add", "wire", "type", "veth", "peer", "name", port, "netns", self.hub)
            self.ip("-n", name, "address", "add", "10.77.0.%d/24" % (rank + 1), "dev", "wire")
            self.ip("-n", name, "link", "set", "wire", "up")
            self.ip("-n", self.hub, "link", "set", port, "master", "bridge", "up")
            self.limit(name, "wire")
            self.limit(self.hub, port)
        return self

    def __exit__(self, *unused):
        for name in self.names + [self.hub]:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def options(self):
        return {
            "backend": "gloo",
            "store": "10.77.0.1:%d" % PORT,
            "interface": lambda rank: "10.77.0.%d" % (rank + 1),
            "before": lambda rank: ["ip", "netns", "exec", self.names[rank]],
        }


class Case:
    def __init__(self, flags, name, work):
        program, words, ranks, batch, _ = CASES[name]
        case = os.path.join(flags.corpus, program)
        words = words + ["--trainers", str(ranks)]
        self.job = asleep.Job(flags.tools, flags.sleep, case, words, work, batch)
        self.steps = flags.steps

    def asleep(self, body, us):
        """`us` per kernel of the step; a task of micro-batches sleeps for each of its kernels."""
        nodes, plain = [], []
        for node in body:
            if "micro" not in node:
                plain.append(node)
                continue
            nodes += asleep.body_asleep(plain, us)
            plain = []
            for task in node["tasks"]:
                kernels = sum("kernel" in n or "call" in n for n in task["body"])
                task["body"] = asleep.task_asleep(task["body"], kernels * us)
            nodes.append(node)
        return nodes + asleep.body_asleep(plain, us)

    def step_ms(self, us, **options):
        for of, plan in self.job.plans.items():
            self.job.write(of, self.asleep(copy.deepcopy(plan["programs"]["main"]["body"]), us))
        ranks, mesh = self.job.ranks()
        lines = self.job.run(ranks, mesh, self.steps, **options)
        steps = [max(rank[step] for rank in lines) for step in range(1, self.steps)]
        return statistics.median(steps)

    def kernels(self):
        """Of the rank that has most of them, in a step."""

        def count(body):
            plain = sum("kernel" in node or "call" in node for node in body)
            loops = [node for node in body if "micro" in node]
            return plain + sum(n["micros"] * count(t["body"]) for n in loops for t in n["tasks"])

        return max(count(p["programs"]["main"]["body"]) for p in self.job.plans.values())


def measure(flags, name, network):
    with tempfile.TemporaryDirectory() as work:
        case = Case(flags, name, work)
        communication = case.step_ms(0, **network.options())
        us = max(1, int(1000 * flags.ratio * communication / case.kernels()))
        computing = case.step_ms(us)
        step = case.step_ms(us, **network.options())
        return communication, computing, step


def main():
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(root, "bazel-bin", "tools", "dtranspile"))
    sleep = os.path.join(root, "bazel-bin", "bench", "pipeline", "libsleep.so")
    parser.add_argument("--sleep", default=sleep)
    parser.add_argument("--corpus", required=True, help="folder with static26")
    parser.add_argument("--ratio", type=float, default=2)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--at-most", type=float, default=0)
    parser.add_argument("cases", nargs="*", default=list(CASES))
    flags = parser.parse_args()
    print("%-10s %14s %10s %10s %9s" % ("ms", "communication", "computing", "step", "exposed"))
    far = []
    for name in flags.cases:
        with Network(CASES[name][2], CASES[name][4]) as network:
            communication, computing, step = measure(flags, name, network)
        exposed = 100 * (step - computing) / communication
        figures = (name, communication, computing, step, exposed)
        print("%-10s %14.1f %10.1f %10.1f %8.1f%%" % figures, flush=True)
        if flags.at_most and exposed > flags.at_most:
            far.append(name)
    if far:
        print("more than %g %% exposed: %s" % (flags.at_most, " ".join(far)))
        sys.exit(1)


if __name__ == "__main__":
    main()
