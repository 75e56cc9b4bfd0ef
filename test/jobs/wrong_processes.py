"""Processes that do not belong together: a worker with the plan of another class, role or job, of which no launcher knows;
servers that are not there; trainers of another job. Each ends with the documented status within the deadline, and says
what is wrong with whom.

    wrong_processes.py TOOL_FOLDER CORPUS
"""

import json
import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from by_hand import FAILED, Job, read_job, wait_for_port  # noqa: E402
from train_case import call, fail  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))
STAGES, LINE = "static26/mlp_stages", "fluid18/fit_a_line"
DEADLINE = 4


def digest_of(plan):
    with open(os.path.join(plan, "plan.json")) as f:
        return json.load(f)["digest"]


class Worker:
    """One rank of pipeline.mlir by hand: what a launcher would write into CONFIG (docs/file-formats.md)."""

    def __init__(self, tools, corpus, work):
        self.tools, self.work = tools, work
        self.case = os.path.join(corpus, STAGES)
        self.plans = os.path.join(work, "plans")
        job = os.path.join(FOLDER, "pipeline.mlir")
        self.compile(job, self.plans)
        with open(job) as f:
            text = f.read().replace("scale = 2.500000e-01", "scale = 1.250000e-01")
        other = os.path.join(work, "other.mlir")
        with open(other, "w") as f:
            f.write(text)
        self.compile(other, os.path.join(work, "other"))

    def compile(self, job, folder):
        feeds = os.path.join(self.case, "feeds")
        call(os.path.join(self.tools, "dtranspile"), "compile", job, "--feeds", feeds, "-o", folder)

    def plan(self, stage, folder="plans"):
        return os.path.join(self.work, folder, "trainer.%d" % stage)

    def config(self, **changes):
        feeds = [{"name": name, "file": os.path.join(self.case, "feeds", name + ".npy")} for name in "xy"]
        config = {
            "plan": self.plan(0),
            "digest": digest_of(self.plan(0)),
            "role": "trainer",
            "class": "trainer[pp=0]",
            "rank": 0,
            "coordinates": {"pp": 0},
            "mesh": {"pp": 2},
            "comms": [{"name": n, "group": "wrong." + n, "rank": 0, "size": 2} for n in self.comms(self.plan(0))],
            "rendezvous": {
                "backend": "shm",
                "job": "wrong-%d" % os.getpid(),
                "store": "",
                "interface": "",
                "token": "0123456789abcdef0123456789abcdef",
                "timeout_seconds": DEADLINE,
            },
            "servers": [],
            "serves": None,
            "feeds": feeds[:1],
            "init": {"folder": os.path.join(self.case, "init")},
            "per_step": {},
            "steps": 1,
            "first_step": 0,
            "skip": 0,
            "checkpoint": None,
            "fetch": [],
            "threads": 1,
            "spin": False,
            "seed": 0,
            "save": None,
            "save_names": [],
            "save_parts": None,
            "part_names": [],
            "save_fetches": None,
            "trace": None,
            "control_fd": 1,
            "flight_fd": None,
        }
        config.update(changes)
        return config

    @staticmethod
    def comms(plan):
        with open(os.path.join(plan, "plan.json")) as f:
            return [comm["name"] for comm in json.load(f)["comms"]]

    def expect(self, what, status, says, **changes):
        path = os.path.join(self.work, "config.json")
        with open(path, "w") as f:
            json.dump(self.config(**changes), f)
        begin = time.monotonic()
        done = subprocess.run(
            [os.path.join(self.tools, "dtranspile-worker"), path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        took = time.monotonic() - begin
        if done.returncode != status or any(each not in done.stdout for each in says):
            fail("%s: exit status %d, expected %d and %s in\n%s" % (what, done.returncode, status, says, done.stdout))
        if took > DEADLINE + 4:
            fail("%s: ends after %.1f s" % (what, took))
        print("%s: exit status %d after %.1f s" % (what, done.returncode, took))


def check_plans(tools, corpus, work):
    worker = Worker(tools, corpus, work)
    own, other = (digest_of(worker.plan(0, folder)) for folder in ("plans", "other"))
    if own == other:
        fail("two jobs have one digest")
    of = "is a plan of %s '%s', this rank is to run '%s'"
    for what, says, changes in [
        ("a plan of another class", of % ("class", "trainer[pp=1]", "trainer[pp=0]"), {"plan": worker.plan(1)}),
        ("a plan of another role", of % ("role", "trainer", "server"), {"role": "server"}),
        ("a plan of another job", of % ("job", other, own), {"plan": worker.plan(0, "other")}),
        ("a plan that is not there", "none/plan.json", {"plan": os.path.join(work, "none")}),
        (
            "a communicator that the plan lacks",
            "CONFIG has a communicator 'other', which the plan lacks",
            {"comms": [{"name": "other", "group": "wrong.other", "rank": 0, "size": 2}]},
        ),
        (
            "a communicator that CONFIG lacks",
            "CONFIG has no group for communicator '%s', which this rank is a member of" % worker.comms(worker.plan(0))[0],
            {"comms": []},
        ),
        # The right plan, and nobody else comes.
        ("a stage that nobody meets", "rank 1 ", {}),
    ]:
        worker.expect(what, FAILED, [says], **changes)
    worker.expect("half a CONFIG", 2, ["class"], **{"class": 7})


def check_servers(tools, corpus, work):
    """A trainer whose servers are not there, are of another job, or are of its own."""
    text = read_job("parameter_server.mlir", 2)
    job = Job(tools, corpus, text, LINE, work)
    try:
        begin = time.monotonic()
        trainer = job.start(job.words(*job.inputs(), timeout=DEADLINE), job.variables("TRAINER", 0))
        job.finish("no servers", FAILED, trainer, "trainer 0", "server 0 at " + job.endpoints[0], "within %d s" % DEADLINE)
        took = time.monotonic() - begin
        print("servers that are not there: exit status %d after %.1f s, with the compilation" % (FAILED, took))
        # One is there, the other is not.
        server = job.start(job.words(*job.inputs()[2:], timeout=2 * DEADLINE), job.variables("PSERVER", 0))
        wait_for_port(job.ports[0], server)
        trainer = job.start(job.words(*job.inputs(), timeout=DEADLINE), job.variables("TRAINER", 0))
        job.finish("one server", FAILED, trainer, "server 1 at " + job.endpoints[1])
        job.finish("its server", FAILED, server, "server 0")
        # A server of the job, a trainer of another one.
        server = job.start(job.words(*job.inputs()[2:], timeout=2 * DEADLINE), job.variables("PSERVER", 0))
        wait_for_port(job.ports[0], server)
        other = os.path.join(work, "other.mlir")
        with open(other, "w") as f:
            f.write(text.replace("blocks(10, per 5", "blocks(10, per 4"))
        words = job.words(*job.inputs(), timeout=2 * DEADLINE)
        words[2] = other
        trainer = job.start(words, job.variables("TRAINER", 0))
        job.finish("a trainer of another job", FAILED, trainer, "another job than server 0")
        job.finish("the server of a trainer of another job", FAILED, server, "another job than server 0")
        job.check_free("servers that are not there")
        print("a trainer of another job: both sides end, and say so")
    finally:
        job.end()


def main(tools, corpus):
    for part in (check_plans, check_servers):
        with tempfile.TemporaryDirectory() as work:
            part(tools, corpus, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
