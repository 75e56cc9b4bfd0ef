"""Time and memory of rungs 1 to 4 on large jobs: data parallelism with amp, recompute and merged gradients, on one processor.

    bench/verify/verify_time.py TOOL_FOLDER LARGE_CORPUS [CASE...]

The job is made for 8 trainers, with the checkpoints that the case names. Processor time of `verify`, user and system, the least of three runs, and the
most memory that it had. Exit status 1 where a job is not verified, or takes more than the goal.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile

CASES = ["static26_bert_base", "static26_gpt2_small", "static26_gpt_96layer"]
FLAGS = ["--amp", "--recompute", "--gradient-merge", "--gradient-merge-k-steps", "4", "--trainers", "8"]
SECONDS, MEGABYTES, RUNS = 5, 1000, 3


def measured(*words):
    """Seconds of processor time and megabytes of a command, and what it says."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        found = [done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, done.stdout]
        with os.fdopen(write, "w") as f:
            json.dump(found, f)
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        code, seconds, megabytes, said = json.load(f)
    os.waitpid(child, 0)
    if code:
        sys.exit("exit status %d of %s\n%s" % (code, " ".join(words), said))
    return seconds, megabytes


def main(tools, corpus, *cases):
    tool, good = os.path.join(tools, "dtranspile"), True
    print("| job | ops of the reference | verify, s | MB |\n| --- | --- | --- | --- |")
    for name in cases or CASES:
        folder = os.path.join(corpus, name)
        with open(os.path.join(folder, "case.json")) as f:
            checkpoints = ",".join(json.load(f)["checkpoints"])
        with tempfile.TemporaryDirectory() as work:
            job = os.path.join(work, "job")
            program = [os.path.join(folder, p + ".pdmodel") for p in ("main", "startup")]
            measured(tool, "transpile", program[0], "--startup", program[1], "-o", job, "--recompute-checkpoints", checkpoints, *FLAGS)
            said = json.loads(subprocess.run([tool, "verify", job, "--format", "json"], stdout=subprocess.PIPE).stdout)
            ops = next(rung["stats"]["reference_ops"] for rung in said["rungs"] if rung["name"] == "relations")
            runs = [measured(tool, "verify", job) for _ in range(RUNS)]
        seconds, megabytes = min(run[0] for run in runs), max(run[1] for run in runs)
        good &= seconds < SECONDS and megabytes < MEGABYTES
        print("| %s | %d | %.2f | %.0f |" % (name, ops, seconds, megabytes), flush=True)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main(*sys.argv[1:])
