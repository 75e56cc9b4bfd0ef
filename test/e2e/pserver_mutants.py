"""Wrong versions of what transpile makes of a case for parameter servers: each is refuted (test/jobs/README.md says how they are written).

    pserver_mutants.py TOOL_FOLDER CORPUS CASE MUTANTS,... [+FIELD=VALUE...]
"""

import os
import subprocess
import sys
import tempfile

import pserver_case
from train_case import LIMIT_SECONDS, call, fail

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "jobs"))
import job_case  # noqa: E402


def check_twice(tool, text, work):
    """A loop over the blocks of a parameter that stands there twice: they are updated twice."""
    with open(text) as f:
        job = f.read()
    start = job.index("dist.foreach_block @")
    end = job.index("}\n", job.index("dist.yield", start)) + 2
    path = os.path.join(work, "twice.mlir")
    with open(path, "w") as f:
        f.write(job[:end] + job[start:end] + job[end:])
    done = subprocess.run([tool, "verify", path], stdout=subprocess.PIPE, text=True, timeout=LIMIT_SECONDS)
    if done.returncode != job_case.REFUTED or not ("[repeated]" in done.stdout or "[geo-server]" in done.stdout):
        fail("a block that is updated twice ends with %d:\n%s" % (done.returncode, done.stdout))


def main(tools, corpus, case, mutants, fields=""):
    tool = os.path.join(tools, "dtranspile")
    folder = os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        job, text = os.path.join(work, "job"), os.path.join(work, "job.mlir")
        flags, _ = pserver_case.flags_of("2x2s" + fields)
        call(tool, "transpile", *pserver_case.programs_of(folder), "-o", job, *flags)
        call(tool, "convert", os.path.join(job, "job.mlirbc"), text)
        call(tool, "verify", text)
        with open(text[: -len(".mlir")] + ".mutants", "w") as f:
            for name in mutants.split(","):
                with open(os.path.join(HERE, name)) as part:
                    f.write(part.read() + "\n")
        check_twice(tool, text, work)
        print("%s: %d mutants, all refuted" % (case, job_case.check_mutants(tool, text, work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
