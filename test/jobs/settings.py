"""Device and threads of a role: in the job, by flags, in the report.

    settings.py TOOL_FOLDER CORPUS JOB.mlir CASE
"""

import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from train_case import call, fail  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))
ROLE = "dist.role @server on @servers"


class Job:
    def __init__(self, tools, corpus, job, case, work):
        self.tool, self.case, self.work = os.path.join(tools, "dtranspile"), os.path.join(corpus, case), work
        with open(os.path.join(FOLDER, job)) as f:
            self.text = f.read()
        if ROLE not in self.text:
            fail("%s: '%s' is not in it" % (job, ROLE))

    def with_settings(self, settings):
        path = os.path.join(self.work, "job.mlir")
        with open(path, "w") as f:
            f.write(self.text.replace(ROLE, ROLE + (" attributes {%s}" % settings if settings else "")))
        return path

    def words(self, job, *more):
        data = ["--feeds", os.path.join(self.case, "feeds"), "--init", os.path.join(self.case, "init")]
        return [self.tool, "run", job, *data, "--steps", "2", "--cache", os.path.join(self.work, "cache"), *more]

    def report(self, job, *more):
        """By role what its ranks report of their settings."""
        path = os.path.join(self.work, "report.json")
        call(*self.words(job, "--report", path, *more))
        with open(path) as f:
            return {rank["role"]: (rank["device"], rank["threads"]) for rank in json.load(f)["ranks"]}


def expect(what, found, wanted):
    if found != wanted:
        fail("%s: %s, expected %s" % (what, found, wanted))


def check_reports(job):
    own = job.with_settings('dist.device = "cpu", dist.threads = 3 : i64')
    expect("as the job says", job.report(own, "--role-threads", "trainer=2"), {"trainer": ("cpu", 2), "server": ("cpu", 3)})
    expect("a flag for all wins", job.report(own, "--threads", "1"), {"trainer": ("cpu", 1), "server": ("cpu", 1)})
    expect(
        "a flag for the role wins",
        job.report(own, "--threads", "1", "--role-threads", "server=2"),
        {"trainer": ("cpu", 1), "server": ("cpu", 2)},
    )


# dist.device, flags; what is said of them and how it is mended. None: it runs.
DEVICES = [
    ('dist.device = "cuda"', [], "role 'server' is to run on cuda", "--role-device server=cpu"),
    ('dist.device = "cuda"', ["--role-device", "server=cpu"], None, None),
    ('dist.device = "cuda"', ["--device", "cpu"], None, None),
    ("", ["--role-device", "server=cuda"], "role 'server' is to run on cuda", "--role-device server=cpu"),
    ("", ["--role-device", "trainer=cuda"], "role 'trainer' is to run on cuda", "--role-device trainer=cpu"),
    ('dist.device = "cpu"', ["--role-device", "server=tpu"], "--role-device", "expected ROLE=DEVICE with a role of the job and one of cpu, cuda"),
    ('dist.device = "cpu"', ["--role-device", "chief=cpu"], "--role-device", "chief"),
    ('dist.device = "tpu"', [], "expects \"cpu\" or \"cuda\" on a dist.role", 'found "tpu"'),
]


def check_devices(job):
    """A device that is not there is refused with the role's name, before anything is started; flags win over the job."""
    for settings, flags, says, remedy in DEVICES:
        report = os.path.join(job.work, "devices.json")
        words = job.words(job.with_settings(settings), "--report", report, *flags)
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
        started = os.path.exists(report)
        if says is None:
            good = done.returncode == 0 and started
        else:
            good = done.returncode in (1, 2) and says in done.stdout and remedy in done.stdout and not started
        if not good:
            fail("%s %s: exit status %d, expected '%s' in\n%s" % (settings, flags, done.returncode, says, done.stdout))
        if started:
            os.remove(report)
    print("%d devices of roles" % len(DEVICES))


def main(tools, corpus, job, case):
    with tempfile.TemporaryDirectory() as work:
        each = Job(tools, corpus, job, case, work)
        check_reports(each)
        check_devices(each)
    print("device and threads of a role: job, flags, report")


if __name__ == "__main__":
    main(*sys.argv[1:])
