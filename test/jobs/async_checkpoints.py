"""Checkpoints of jobs without rounds, which the first trainer asks for: with one trainer what goes on from one ends with the same bits (of geo-SGD: with
losses and parameters of a run that was never interrupted), with another number of servers too; with two trainers they are whole, whatever is killed or stopped, and
roles by hand write them together, whatever comes late or is noise. What geo-SGD trainers have learned since their last exchange is saved.

    async_checkpoints.py TOOL_FOLDER CORPUS CASE
"""

import os
import signal
import socket
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from by_hand import DONE, FAILED, Job, wait_for_port  # noqa: E402
from checkpoints import (  # noqa: E402
    STEPS,
    UNFINISHED,
    Runs,
    await_checkpoint,
    check_request,
    complete,
    files_of,
    kill,
    no_room,
    same,
    tile,
    workers_of,
)
from pserver_case import flags_of, programs_of  # noqa: E402
from train_case import call, fail, read_record  # noqa: E402

MODES = {
    "async": "+preset=async",
    "half_async": "+preset=half_async",
    # More steps than a run has: all that is saved is from the exchange that ends it.
    "geo": "+preset=geo+geo_sgd_need_push_nums=100",
    # What waits in queues is on the servers before they write.
    "queues": "+preset=async+max_merge_var_num=2+min_send_grad_num_before_recv=4+send_wait_times=1000",
}


def close(what, found, expected):
    """To rounding: y + (x - y) is not always x."""
    for name in ("fc_0.w_0", "fc_0.b_0"):
        for a, b in zip(read_record(os.path.join(found, name)), read_record(os.path.join(expected, name))):
            if not abs(a - b) <= 1e-5 + 1e-4 * abs(b):
                fail("%s: %s is %.9g, expected %.9g" % (what, name, a, b))


def transpiled(job, mode, size):
    path = os.path.join(job.work, "%s_%s" % (mode, size))
    if not os.path.exists(path):
        call(job.tool, "transpile", *programs_of(job.case), "-o", path, *flags_of(size + MODES[mode])[0])
    return path


def check_alone(runs, mode):
    """One trainer: 1x2s, then 1x1 goes on."""
    two, one = transpiled(runs.job, mode, "1x2s"), transpiled(runs.job, mode, "1x1")
    inputs, folder = runs.job.inputs(), os.path.join(runs.work, mode + "_points")
    whole = runs.run(mode + "_whole", two, *inputs, "--steps", str(STEPS))
    short = runs.run(mode + "_first", two, *inputs, "--steps", "5", *runs.to(folder, 2))
    if complete(folder) != ["step-%012d" % step for step in (2, 4)]:
        fail("%s: after 5 steps there are %s" % (mode, complete(folder)))
    if set(files_of(os.path.join(folder, "step-%012d" % 4))) != set(files_of(short)):
        fail("%s: a checkpoint and --save hold other variables" % mode)
    for path in (two, one):
        what = "%s_%s" % (mode, "again" if path == two else "one")
        again = runs.run(what, path, *inputs, "--steps", str(STEPS), "--checkpoint-dir", folder, "--resume")
        if mode == "geo":
            close(what, again, whole)
        else:
            same(what, whole, again)
    sync = runs.run(mode + "_sync", runs.sync, *inputs, "--steps", str(STEPS))
    if mode == "geo":
        close(mode + ", saved at the end", whole, sync)
    elif mode != "queues":
        same(mode + " and rounds", whole, sync)
    print("%s: goes on from a checkpoint" % mode)


def by_hand(runs, mode, trainer_words, server_words, late=0):
    """Both trainers by themselves, then the role of the servers, and noise at a port of theirs."""
    job, path = runs.job, transpiled(runs.job, mode, "2x2s")

    def start(words, environment):
        words = list(words)
        words[2] = path
        return job.start(words, environment)

    processes = [start(trainer_words, job.variables("TRAINER", rank)) for rank in range(2)]
    time.sleep(late)
    where = ["--pservers", ",".join(job.endpoints), "--token-file", job.token_file, "--role", "pserver"]
    processes.append(start([*server_words, *where], {}))
    wait_for_port(job.ports[1], processes[-1])
    for noise in (b"GET / HTTP/1.1\r\n\r\n", os.urandom(4096), b""):
        try:
            with socket.create_connection(("127.0.0.1", job.ports[1]), timeout=5) as stranger:
                stranger.sendall(noise)
        except OSError:
            pass  # the job is over, or has hung up
    return processes


def check_by_hand(runs, mode):
    job, folder, feeds = runs.job, os.path.join(runs.work, mode + "_shared"), long_feeds(runs)
    for turn, steps in enumerate([400, 600]):
        more = ["--resume", *runs.to(folder, 100)]
        begin = ["--init", os.path.join(job.case, "init")]
        trainer = job.words("--feeds", feeds, *begin, "--steps", str(steps), *more)
        for process in by_hand(runs, mode, trainer, job.words(*begin, *more), late=1.5):
            job.finish("%s by hand, turn %d" % (mode, turn), DONE, process)
    if complete(folder) != ["step-%012d" % step for step in (500, 600)]:
        fail("%s by hand: there are %s" % (mode, complete(folder)))
    job.check_free(mode + " by hand")
    print("%s: roles by hand write one checkpoint together; servers were late, noise came to them" % mode)


def check_stopped(runs, mode):
    """A trainer, a server that is stopped: the others end, within a small multiple of the deadline, and nothing is left."""
    job, feeds = runs.job, long_feeds(runs)
    words = ["--feeds", feeds, "--init", os.path.join(job.case, "init")]
    for what, launcher, worker in [("trainer 1", 1, 0), ("server 1", 2, 1)]:
        folder = os.path.join(runs.work, "%s_stopped_%d" % (mode, launcher))
        more = runs.to(folder, 1)
        processes = by_hand(runs, mode, job.words(*words, *more, timeout=6), job.words(*words[2:], *more, timeout=6))
        await_checkpoint(folder)
        begin = time.time()
        stopped = workers_of(processes[launcher].pid)[worker]
        os.kill(stopped, signal.SIGSTOP)
        for process in processes[:launcher] + processes[launcher + 1 :]:
            job.finish("%s, %s is stopped" % (mode, what), FAILED, process, what)
        if time.time() - begin > 40:
            fail("%s, %s is stopped: ended after %.1f s" % (mode, what, time.time() - begin))
        try:
            os.kill(stopped, signal.SIGKILL)
        except ProcessLookupError:
            pass  # its launcher has done so
        job.finish("%s, what was stopped" % mode, FAILED, processes[launcher])
        job.check_free("%s, %s was stopped" % (mode, what))
        complete(folder)
        print("%s: %s is stopped, the others end and say so" % (mode, what))


def long_feeds(runs):
    feeds = os.path.join(runs.work, "feeds")
    if not os.path.exists(feeds):
        os.makedirs(feeds)
        for name in os.listdir(os.path.join(runs.job.case, "feeds")):
            tile(os.path.join(runs.job.case, "feeds", name), os.path.join(feeds, name), 4000)
    return feeds


def check_faults(runs, mode):
    """A long run of two trainers that is hit while it writes checkpoints all the time."""
    path, feeds = transpiled(runs.job, mode, "2x2s"), long_feeds(runs)
    for what, hit, which, fragment in [
        ("no room", no_room, -1, "is not written"),
        ("a server is killed", kill, -1, "was killed by signal 9"),
        ("a trainer is killed", kill, 0, "was killed by signal 9"),
    ]:
        folder = os.path.join(runs.work, mode + "_" + what.replace(" ", "_"))
        words = runs.job.words("--feeds", feeds, "--init", os.path.join(runs.job.case, "init"), *runs.to(folder, 1))
        words[2] = path
        process = runs.job.start(words, {})
        await_checkpoint(folder)
        begin = time.time()
        hit(workers_of(process.pid)[which])
        runs.job.finish("%s, %s" % (mode, what), FAILED, process, fragment)
        if time.time() - begin > 12:
            fail("%s, %s: ended after %.1f s" % (mode, what, time.time() - begin))
        newest = complete(folder)[-1]
        steps = int(newest[5:]) + 2
        runs.run(
            mode + "_after_" + what.replace(" ", "_"),
            path,
            *("--feeds", feeds, "--steps", str(steps), "--resume"),
            *runs.to(folder, 1),
        )
        if complete(folder)[-1] != "step-%012d" % steps or any(n.startswith(UNFINISHED) for n in os.listdir(folder)):
            fail("%s, %s: there are %s" % (mode, what, os.listdir(folder)))
        print("%s, %s: ends with a message, and goes on from %s" % (mode, what, newest))


def main(tools, corpus, case):
    with tempfile.TemporaryDirectory() as work:
        job = Job(tools, corpus, "", case, work)
        runs = Runs(job, work)
        runs.sync = os.path.join(work, "sync")
        call(job.tool, "transpile", *programs_of(job.case), "-o", runs.sync, *flags_of("1x1")[0])
        try:
            for mode in MODES:
                check_alone(runs, mode)
            check_request(runs, long_feeds(runs), transpiled(job, "async", "1x2s"), processes=3)
            for mode in ("async", "geo"):
                check_by_hand(runs, mode)
                check_faults(runs, mode)
                check_stopped(runs, mode)
        finally:
            job.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
