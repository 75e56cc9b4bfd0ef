"""Jobs whose ranks sleep in place of computing, so that many ranks take the time that they would
take on processors of their own, on a machine with few.

A job is transpiled and compiled; of its plans stays what moves data and what says in which order:
tasks of micro-batches, starts and waits. Kernels become ones of a fixed cost (sleep.c). Ranks are
real workers with a real back end, and leave traces.
"""

import json
import math
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


def write_feeds(case, batch, folder):
    """One step of zeros for a program without feeds."""
    with open(os.path.join(case, "case.json")) as f:
        feeds = json.load(f)["feeds"]
    os.makedirs(folder)
    for feed in feeds:
        shape = [1, batch] + feed["shape"][1:]
        code = {"float32": "<f4", "int64": "<i8", "int32": "<i4"}[feed["dtype"]]
        head = "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }" % (
            code,
            ", ".join(str(extent) for extent in shape),
        )
        head = head.ljust(117) + "\n"
        with open(os.path.join(folder, feed["name"] + ".npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
            f.write(bytes(math.prod(shape) * int(code[2])))
    return folder


class Job:
    """`tools`: folder of dtranspile and dtranspile-worker; `sleep`: the library made of sleep.c;
    `batch`: of programs without feeds."""

    def __init__(self, tools, sleep, case, flags, work, batch=8):
        self.worker = os.path.join(tools, "dtranspile-worker")
        self.folder = os.path.join(work, "job")
        tool = os.path.join(tools, "dtranspile")
        words = [os.path.join(case, "main.pdmodel"), "-o", self.folder + ".job"]
        words += ["--startup", os.path.join(case, "startup.pdmodel")]
        call(tool, "transpile", *words, *flags)
        feeds = os.path.join(case, "feeds")
        if not os.path.exists(feeds):
            feeds = write_feeds(case, batch, os.path.join(work, "feeds"))
        call(tool, "compile", self.folder + ".job", "--feeds", feeds, "-o", self.folder)
        self.plans = {}
        single = os.path.exists(os.path.join(self.folder, "plan.json"))
        for name in [""] if single else sorted(os.listdir(self.folder)):
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

    def ranks(self):
        """(class, coordinates) of every rank, and the mesh. Classes are stages."""
        with open(os.path.join(self.folder + ".job", "manifest.json")) as f:
            axes = json.load(f)["meshes"][0]["axes"]
        mesh = {axis["name"]: axis["size"] for axis in axes}
        ranks = [{}]
        for axis, size in mesh.items():
            ranks = [dict(one, **{axis: at}) for one in ranks for at in range(size)]
        classes = sorted(self.plans)
        return [(classes[one.get("pp", 0)], one) for one in ranks], mesh

    def comms(self, of, coordinates, mesh):
        """The groups of a rank: who has the same coordinates on all other axes."""
        comms = []
        for comm in self.plans[of]["comms"]:
            rank, size = 0, 1
            for axis in comm["axes"]:
                rank, size = rank * mesh[axis] + coordinates[axis], size * mesh[axis]
            group = [comm["name"]]
            group += [str(at) for axis, at in coordinates.items() if axis not in comm["axes"]]
            comms.append({"name": comm["name"], "group": ".".join(group), "rank": rank, "size": size})
        return comms

    def run(self, ranks, mesh, steps, before=None, backend="shm", store="", interface=None):
        """`before`: words in front of each worker. The milliseconds of each rank's steps; its trace
        is in `traces`."""
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
                    "comms": self.comms(of, coordinates, mesh),
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
                words = (before(rank) if before else []) + [self.worker, path]
                log = open(os.path.join(work, "%d.log" % rank), "w+")
                running.append((subprocess.Popen(words, stdout=log, stderr=log), trace, log))
            self.traces, lines, failed = [], [], ""
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
                log.seek(0)
                said = [json.loads(line) for line in log if line.startswith("{")]
                lines.append([line["ms"] for line in said if line["event"] == "step"])
                with open(trace) as f:
                    self.traces.append([e for e in json.load(f)["traceEvents"] if e["ph"] == "X"])
            if failed:
                raise SystemExit("a rank failed: " + failed)
            return lines
