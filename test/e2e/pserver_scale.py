"""Nothing in a job grows with the number of servers: 2 and 10,000 take the same time and the same bytes, and the same
request gives the same bytes.

    pserver_scale.py TOOL_FOLDER CORPUS CASE
"""

import os
import resource
import sys
import tempfile

from train_case import call, fail

FEW, MANY = 2, 10000


def transpile(tool, folder, servers, job):
    """CPU seconds"""

    def used():
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    call(
        tool,
        "transpile",
        os.path.join(folder, "main.pdmodel"),
        "--startup",
        os.path.join(folder, "startup.pdmodel"),
        "-o",
        job,
        "--mode",
        "pserver",
        "--trainers",
        "2",
        "--pservers",
        str(servers),
    )
    return used() - before


def contents(job):
    files = {}
    for name in sorted(os.listdir(job)):
        with open(os.path.join(job, name), "rb") as f:
            files[name] = f.read()
    return files


def main(tools, corpus, case):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        seconds, jobs = {FEW: [], MANY: []}, {}
        for turn in range(3):
            for servers in (FEW, MANY):
                job = os.path.join(work, "job%d.%d" % (servers, turn))
                seconds[servers].append(transpile(tool, folder, servers, job))
                found = contents(job)
                if jobs.setdefault(servers, found) != found:
                    fail("%d servers: two transpilations differ" % servers)
        few, many = (sum(len(data) for data in jobs[servers].values()) for servers in (FEW, MANY))
        print("%d and %d servers: %d and %d bytes, %.2f and %.2f s" % (FEW, MANY, few, many, min(seconds[FEW]), min(seconds[MANY])))
        # Numbers have more digits.
        if not 0.9 * few < many < 1.1 * few:
            fail("the job grows with the number of servers")
        if min(seconds[MANY]) > 1.1 * min(seconds[FEW]) + 0.1:
            fail("the time grows with the number of servers")


if __name__ == "__main__":
    main(*sys.argv[1:])
