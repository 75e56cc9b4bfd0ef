"""Checkpoints of a job with servers: what goes on from one ends with the same bits, with other numbers of servers too;
what is killed or finds no room leaves the one before.

    checkpoints.py TOOL_FOLDER CORPUS JOB.mlir CASE
"""

import json
import os
import resource
import signal
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from by_hand import DONE, FAILED, Job, read_job  # noqa: E402
from train_case import fail  # noqa: E402

REFUSED = 1
STEPS = 6
UNFINISHED = ".dtranspile-unfinished-"


def files_of(folder):
    """{name: bytes} of the variables in a folder."""
    found = {}
    for name in os.listdir(folder):
        if name != "checkpoint.json":
            with open(os.path.join(folder, name), "rb") as f:
                found[name] = f.read()
    return found


def same(what, a, b):
    a, b = files_of(a), files_of(b)
    wrong = [name for name in sorted(set(a) | set(b)) if a.get(name) != b.get(name)]
    if wrong or not a:
        fail("%s: %s differ" % (what, wrong))


def complete(folder):
    """Names of the checkpoints, each of them whole."""
    names = sorted(n for n in os.listdir(folder) if not n.startswith(UNFINISHED))
    for name in names:
        with open(os.path.join(folder, name, "checkpoint.json")) as f:
            step = json.load(f)["step"]
        if name != "step-%012d" % step:
            fail("%s holds step %d" % (name, step))
    return names


class Runs:
    def __init__(self, job, work):
        self.job, self.work = job, work
        self.checkpoints = os.path.join(work, "checkpoints")

    def run(self, what, path, *words, expected=DONE, fragments=()):
        saved = os.path.join(self.work, what + ".saved")
        line = self.job.words(*words, "--save", saved)
        line[2] = path
        self.job.finish(what, expected, self.job.start(line, {}), *fragments)
        return saved

    def to(self, folder, every):
        return ["--checkpoint-dir", folder, "--checkpoint-every", str(every)]


def check_resume(runs, one_server):
    inputs = runs.job.inputs()
    whole = runs.run("whole", runs.job.path, *inputs, "--steps", str(STEPS))
    folder = runs.checkpoints
    short = runs.run("first", runs.job.path, *inputs, "--steps", "5", *runs.to(folder, 2))
    if complete(folder) != ["step-%012d" % step for step in (2, 4)]:
        fail("after 5 steps there are %s" % complete(folder))
    four = os.path.join(folder, "step-%012d" % 4)
    if set(files_of(four)) != set(files_of(short)):
        fail("a checkpoint holds %s, --save %s" % (set(files_of(four)), set(files_of(short))))
    for what, path in [("the same job", runs.job.path), ("one server", one_server)]:
        name = what.replace(" ", "_")
        again = runs.run(
            name, path, *inputs, "--steps", str(STEPS), "--checkpoint-dir", folder, "--resume"
        )
        same("going on with " + what, whole, again)
    # --resume where nothing is yet begins anew.
    empty = os.path.join(runs.work, "none")
    begun = runs.run(
        "begun", runs.job.path, *inputs, "--steps", str(STEPS), "--resume", *runs.to(empty, 1)
    )
    same("a run with checkpoints", whole, begun)
    if complete(empty) != ["step-%012d" % step for step in (STEPS - 1, STEPS)]:
        fail("two are to stay: %s" % complete(empty))
    same("the last checkpoint", os.path.join(empty, complete(empty)[-1]), whole)
    # A job that was ended between its last checkpoint and what it writes at its end.
    report = os.path.join(runs.work, "nothing_left.json")
    left = runs.run(
        "nothing_left", runs.job.path, *inputs, "--steps", str(STEPS), "--resume",
        *runs.to(empty, 1), "--report", report,
    )
    same("--save where no step is left", whole, left)
    with open(report) as f:
        if json.load(f)["steps"] != 0:
            fail("a report of steps that were not run")
    print("goes on from a checkpoint with the same bits, with another number of servers too")
    return whole


def check_by_hand(runs, whole):
    """Servers and trainers with a folder that they share; all are killed, and begin again."""
    job = runs.job
    folder = os.path.join(runs.work, "shared")
    for turn, steps in enumerate([4, STEPS]):
        more = ["--resume", *runs.to(folder, 1)]
        trainer = [*job.inputs(), "--steps", str(steps), *more]
        processes = [
            job.start(job.words(*job.inputs()[2:], *more), job.variables("PSERVER", rank))
            for rank in range(2)
        ]
        processes += [
            job.start(job.words(*trainer), job.variables("TRAINER", rank)) for rank in range(2)
        ]
        for process in processes:
            job.finish("by hand, turn %d" % turn, DONE, process)
    same("by hand", os.path.join(folder, "step-%012d" % STEPS), whole)
    print("roles by hand write one checkpoint together")


def workers_of(launcher):
    with open("/proc/%d/task/%d/children" % (launcher, launcher)) as f:
        return [int(pid) for pid in f.read().split()]


def tile(source, target, times):
    """The steps of a feed, so many times."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + int.from_bytes(data[8:10], "little")
    header = eval(data[10:start].decode().strip())  # of our own corpus
    header["shape"] = (header["shape"][0] * times,) + header["shape"][1:]
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + len(text).to_bytes(2, "little") + text.encode() + data[start:] * times)


def await_checkpoint(folder, seconds=30):
    end = time.time() + seconds
    while time.time() < end:
        if os.path.isdir(folder) and any(not n.startswith(".") for n in os.listdir(folder)):
            return
        time.sleep(0.01)
    fail("no checkpoint within %d s" % seconds)


def no_room(pid):
    resource.prlimit(pid, resource.RLIMIT_FSIZE, (0, 0))


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def long_feeds(runs):
    feeds = os.path.join(runs.work, "feeds")
    os.makedirs(feeds)
    for name in os.listdir(os.path.join(runs.job.case, "feeds")):
        tile(os.path.join(runs.job.case, "feeds", name), os.path.join(feeds, name), 4000)
    return feeds


def check_request(runs, feeds, path, processes):
    """SIGUSR1 to `run`: one checkpoint of some step, from which a run goes on with the same bits."""
    folder = os.path.join(runs.work, "requested")
    words = runs.job.words("--feeds", feeds, "--init", os.path.join(runs.job.case, "init"))
    words[2] = path
    process = runs.job.start(words + ["--checkpoint-dir", folder], {})
    end = time.time() + 30
    while len(workers_of(process.pid)) < processes and time.time() < end:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGUSR1)
    await_checkpoint(folder)
    os.kill(process.pid, signal.SIGTERM)
    runs.job.finish("asked for a checkpoint", FAILED, process, "interrupted by signal 15")
    if len(complete(folder)) != 1:
        fail("one checkpoint was asked for, there are %s" % complete(folder))
    words = ["--feeds", feeds, "--steps", str(int(complete(folder)[0][5:]) + 2)]
    whole = runs.run("not_asked", path, *words, *runs.job.inputs()[2:])
    again = runs.run("was_asked", path, *words, "--checkpoint-dir", folder, "--resume")
    same("going on from what was asked for", whole, again)
    print("a checkpoint on request: %s" % complete(folder)[0])


def check_alone(runs, feeds):
    """Two runs at once do not fill one folder."""
    folder = os.path.join(runs.work, "alone")
    words = runs.job.words("--feeds", feeds, "--init", os.path.join(runs.job.case, "init"))
    first = runs.job.start(words + runs.to(folder, 1), {})
    await_checkpoint(folder)
    more = ["--feeds", feeds, *runs.job.inputs()[2:], "--steps", "2", *runs.to(folder, 1)]
    runs.run("second", runs.job.path, *more, expected=REFUSED, fragments=["another run writes there"])
    if first.poll() is not None:
        fail("the first run has ended with %d" % first.returncode)
    os.kill(first.pid, signal.SIGTERM)
    runs.job.finish("the first of two runs", FAILED, first, "interrupted by signal 15")
    steps = str(int(complete(folder)[-1][5:]) + 1)
    runs.run("third", runs.job.path, "--feeds", feeds, "--steps", steps, "--resume", *runs.to(folder, 1))
    print("a folder of checkpoints is one run's at a time")


def check_faults(runs, feeds):
    """A long run that is hit while it writes checkpoints all the time."""
    for what, hit, fragment in [
        ("no room", no_room, "is not written"),
        ("a server is killed", kill, "was killed by signal 9"),
    ]:
        folder = os.path.join(runs.work, what.replace(" ", "_"))
        words = runs.job.words("--feeds", feeds, "--init", os.path.join(runs.job.case, "init"))
        process = runs.job.start(words + runs.to(folder, 1), {})
        await_checkpoint(folder)
        begin = time.time()
        hit(workers_of(process.pid)[-1])
        runs.job.finish(what, FAILED, process, fragment)
        if time.time() - begin > 12:
            fail("%s: ended after %.1f s" % (what, time.time() - begin))
        newest = complete(folder)[-1]
        steps = int(newest[5:]) + 2
        saved = runs.run(
            "after_" + what.replace(" ", "_"),
            runs.job.path,
            "--feeds",
            feeds,
            "--steps",
            str(steps),
            "--resume",
            *runs.to(folder, 1),
        )
        same("after " + what, os.path.join(folder, "step-%012d" % steps), saved)
        left = [n for n in os.listdir(folder) if n.startswith(UNFINISHED)]
        if left:
            fail("%s: %s are left" % (what, left))
        print("%s: ends with a message, and goes on from %s" % (what, newest))


def main(tools, corpus, job_path, case):
    text = read_job(job_path, 2)
    with tempfile.TemporaryDirectory() as work:
        job = Job(tools, corpus, text, case, work)
        one_server = os.path.join(work, "one_server.mlir")
        with open(one_server, "w") as f:
            f.write(read_job(job_path, 1))
        runs = Runs(job, work)
        try:
            whole = check_resume(runs, one_server)
            check_by_hand(runs, whole)
            feeds = long_feeds(runs)
            check_request(runs, feeds, runs.job.path, processes=4)
            check_alone(runs, feeds)
            check_faults(runs, feeds)
        finally:
            job.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
