"""Jobs whose ranks sleep in place of computing, so that many ranks take the time that they would
take on processors of their own, on a machine with few.

A job is transpiled and compiled; of its plans stays what moves data and what says in which order:
tasks of micro-batches, starts and waits. Kernels become ones of a fixed cost (sleep.c). Ranks are
real workers with a real back end, and leave traces.
"""

import json
import os
import shutil
import subprocess
import tempfile
import uuid

LIMIT_SECONDS = 300
SLEEP = "sleeps"


def call(*words):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS
    )
    if done.returncode != 0:
        raise SystemExit("exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout))
    return done.stdout


def sleep_node(us):
    node = {"kernel": "sleep_us", "args": [], "written": [], "n": us, "grain": us, "op": SLEEP}
    return [node] if us > 0 else []


def moves(node):
    return "start" in node or "wait" in node


def task_asleep(body, us):
    """What comes in, one kernel, what goes out."""
    first = next((i for i, node in enumerate(body) if not moves(node)), len(body))
    head, tail = body[:first], [node for node in body[first:] if moves(node)]
    return head + sleep_node(us) + tail


def body_asleep(body, us):
    """Every run of kernels between two moves as one, `us` per kernel. Micro-batches are left out."""
    nodes, kernels = [], 0
    for node in body:
        if "kernel" in node or "call" in node:
            kernels += 1
        elif moves(node):
            nodes += sleep_node(kernels * us) + [node]
            kernels = 0
    return nodes + sleep_node(kernels * us)


class Job:
    """`tools`: folder of dtranspile and dtranspile-worker; `sleep`: the library made of sleep.c."""

    def __init__(self, tools, sleep, case, flags, work):
        self.worker = os.path.join(tools, "dtranspile-worker")
        self.folder = os.path.join(work, "job")
        tool = os.path.join(tools, "dtranspile")
        words = [os.path.join(case, "main.pdmodel"), "-o", self.folder + ".job"]
        words += ["--startup", os.path.join(case, "startup.pdmodel")]
        call(tool, "transpile", *words, *flags)
        feeds = os.path.join(case, "feeds")
        call(tool, "compile", self.folder + ".job", "--feeds", feeds, "-o", self.folder)
        self.plans = {}
        for name in sorted(os.listdir(self.folder)):
            with open(os.path.join(self.folder, name, "plan.json")) as f:
                self.plans[name] = json.load(f)
            shutil.copy(sleep, os.path.join(self.folder, name, "sleep.so"))

    def micro(self, plan):
        return next(n for n in plan["programs"]["main"]["body"] if "micro" in n)

    def write(self, name, body):
        """The plan of a class with this step, and nothing else that costs time."""
        plan = dict(self.plans[name], library="sleep.so")
        plan["programs"] = {
            "startup": {"when": "startup", "feeds": [], "fetches": [], "body": []},
            "main": {"when": "step", "feeds": [], "fetches": [], "body": body},
        }
        with open(os.path.join(self.folder, name, "plan.json"), "w") as f:
            json.dump(plan, f)

    def run(self, ranks, mesh, comms_of, steps, before=(), backend="shm", store="", interface=None):
        """`ranks`: (class, coordinates) by number; `comms_of`: [(name, group, rank, size)] of a rank;
        `before`: words in front of each worker. Gives the events of each rank's trace."""
        name, token = "asleep-" + uuid.uuid4().hex[:12], uuid.uuid4().hex
        running = []
        with tempfile.TemporaryDirectory() as work:
            for rank, (of, coordinates) in enumerate(ranks):
                trace = os.path.join(work, "%d.trace" % rank)
                config = {
                    "plan": os.path.join(self.folder, of),
                    "digest": "",
                    "role": "trainer",
                    "class": "",
                    "rank": rank,
                    "coordinates": coordinates,
                    "mesh": mesh,
                    "comms": [
                        {"name": n, "group": g, "rank": r, "size": s}
                        for n, g, r, s in comms_of(rank)
                    ],
                    "rendezvous": {
                        "backend": backend,
                        "job": name,
                        "store": store,
                        "interface": interface(rank) if interface else "",
                        "token": token,
                        "timeout_seconds": 60.0,
                    },
                    "servers": [],
                    "serves": None,
                    "feeds": [],
                    "init": None,
                    "per_step": {},
                    "steps": steps,
                    "first_step": 0,
                    "skip": 0,
                    "checkpoint": None,
                    "fetch": [],
                    "threads": 1,
                    "spin": False,
                    "seed": 1,
                    "save": None,
                    "save_names": [],
                    "save_parts": None,
                    "part_names": [],
                    "save_fetches": None,
                    "trace": trace,
                    "control_fd": 1,
                    "flight_fd": None,
                }
                path = os.path.join(work, "%d.json" % rank)
                with open(path, "w") as f:
                    json.dump(config, f)
                words = list(before(rank) if callable(before) else before) + [self.worker, path]
                log = open(os.path.join(work, "%d.log" % rank), "w+")
                running.append((subprocess.Popen(words, stdout=log, stderr=log), trace, log))
            events, failed = [], ""
            for process, trace, log in running:
                try:
                    process.wait(LIMIT_SECONDS)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                log.seek(0)
                if process.returncode != 0:
                    failed += log.read()
                    continue
                with open(trace) as f:
                    events.append([e for e in json.load(f)["traceEvents"] if e["ph"] == "X"])
            if failed:
                raise SystemExit("a rank failed: " + failed)
            return events
