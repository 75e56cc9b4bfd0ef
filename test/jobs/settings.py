"""Device and threads of a role: in the job, by flags, in the manifest, the plan and the report; what is not there is
refused with the role's name.

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

    def refuse(self, what, job, more, *fragments):
        done = subprocess.run(self.words(job, *more), capture_output=True, text=True, timeout=60)
        said = done.stdout + done.stderr
        if done.returncode != 1 or any(fragment not in said for fragment in fragments):
            fail("%s ends with %d, expected 1 and %s:\n%s" % (what, done.returncode, fragments, said))


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
    if "1 rank on cpu of 3 threads" not in call(job.tool, "show", own, "--format", "html"):
        fail("the page does not say what the job says of the role")


def check_plans(job):
    out = os.path.join(job.work, "compiled")
    call(job.tool, "compile", job.with_settings(""), "--feeds", os.path.join(job.case, "feeds"), "-o", out)
    plans = [os.path.join(folder, "plan.json") for folder, _, files in os.walk(out) if "plan.json" in files]
    if len(plans) != 2:
        fail("two classes have %d plans" % len(plans))
    for path in plans:
        with open(path) as f:
            expect(path, json.load(f)["target"]["device"], "cpu")


def check_refusals(job):
    gpu, plain = 'dist.device = "cuda"', job.with_settings("")
    job.refuse("--role-device", plain, ["--role-device", "server=cuda"], "role 'server' is to run on cuda")
    job.refuse("no such device", plain, ["--role-device", "server=tpu"], "expected ROLE=DEVICE", "cpu, cuda")
    job.refuse("no such role", plain, ["--role-device", "chief=cpu"], "expected ROLE=DEVICE")
    job.refuse("in the job", job.with_settings(gpu), [], "role 'server' is to run on cuda", "--role-device server=cpu")
    expect("not where the flag says so", job.report(job.with_settings(gpu), "--role-device", "server=cpu")["server"][0], "cpu")
    job.refuse("no word", job.with_settings('dist.device = "tpu"'), [], "attribute 'dist.device' expects")
    job.refuse("no number", job.with_settings("dist.threads = 0 : i64"), [], "attribute 'dist.threads' expects")


def main(tools, corpus, job, case):
    with tempfile.TemporaryDirectory() as work:
        each = Job(tools, corpus, job, case, work)
        check_reports(each)
        check_plans(each)
        check_refusals(each)
    print("device and threads of a role: job, flags, manifest, plan, report")


if __name__ == "__main__":
    main(*sys.argv[1:])
