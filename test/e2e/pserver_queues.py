"""How gradients wait on a trainer, through the command line (docs/parameter-server.md, Queues). One trainer, so that the algorithm says what comes out:
gradients merged in twos are gradient merge over two steps, bytes of pushes halve; pulls left out halve what is received; small queues and threads change
no bit. A full queue holds up a trainer whose server stands still, a long one does not. With a receiver the loss comes within a band of synchronous rounds, for several seeds and two trainers. Combinations that mean nothing are refused.

    pserver_queues.py TOOL_FOLDER CORPUS CASE
"""

import os
import signal
import subprocess
import sys
import tempfile
import time

from pserver_case import flags_of, programs_of, read_json
from train_case import LIMIT_SECONDS, call, fail, scalar

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))

import checkpoints  # noqa: E402

LOSS = "mean_0.tmp_0"
STOPPED = 1.5
BAND, NOISE = 1.25, 1e-3
MERGED = "1x2s+preset=async+max_merge_var_num=2+min_send_grad_num_before_recv=4+send_wait_times=1000"
REFUSED = {
    "+preset=sync+max_merge_var_num=2": "only asynchronous trainers go on while their gradients wait",
    "+preset=half_async+independent_recv_thread=true": "only asynchronous trainers go on",
    "+preset=geo+min_send_grad_num_before_recv=2": "only asynchronous trainers go on",
    "+thread_pool_size=2": "gradients wait for the round of all trainers, in no queue",
    "+preset=async+max_merge_var_num=20": "a queue never holds as many gradients as are to be merged",
    "+preset=async+max_merge_var_num=2": "a trainer that pulls waits for its gradients",
    "+preset=async+send_wait_times=5": "with max_merge_var_num=1 none are",
    "+sync_mode=false+enable_dc_asgd=true+independent_recv_thread=true": "a gradient is corrected by what its trainer has pulled last",
}


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.folder, self.work = os.path.join(tools, "dtranspile"), os.path.join(corpus, case), work
        self.inputs = ["--feeds", os.path.join(self.folder, "feeds"), "--init", os.path.join(self.folder, "init")]

    def job(self, name, flags):
        job = os.path.join(self.work, "job_" + name)
        if not os.path.exists(job):
            call(self.tool, "transpile", *programs_of(self.folder), "-o", job, *flags)
            call(self.tool, "verify", job)
        return job

    def run(self, name, flags, data=None):
        report = os.path.join(self.work, "report.json")
        words = ["--cache", os.path.join(self.work, "cache"), "--report", report]
        call(self.tool, "run", self.job(name, flags), *(data or self.inputs), *words)
        found = read_json(report)
        trainers = [rank for rank in found["ranks"] if rank["role"] == "trainer"]
        counted = [sum(rank.get(key, 0) for rank in trainers) for key in ("bytes_sent", "bytes_received")]
        return [scalar(value) for value in found["fetch"][LOSS]], counted

    def served(self, text, data=None):
        return self.run(text, flags_of(text)[0], data)


def same(what, found, expected):
    if found != expected:
        fail("%s: losses %s, expected %s" % (what, found, expected))


def check_merged(case):
    plain, (sent, received) = case.served("1x2s+preset=async")
    # One step's gradients are the same bytes in every job.
    for average in (False, True):
        merged = ["--mode", "collective", "--trainers", "1", "--gradient-merge", "--gradient-merge-k-steps", "2"]
        if not average:
            merged += ["--gradient-merge-avg", "false"]
        expected = case.run("merged%d" % average, merged)[0]
        found, (fewer, _) = case.served(MERGED + ("+is_sgd_optimizer=false" if average else ""))
        same("merged in twos", found, expected)
        if 2 * fewer != sent or found == plain:
            fail("merged in twos: %d bytes sent, %d without" % (fewer, sent))
    print("gradients merged in twos: the bits of gradient merge, %d bytes sent instead of %d" % (fewer, sent))


def check_pulls(case):
    plain, (sent, received) = case.served("1x2s+preset=async")
    found, (all_sent, fewer) = case.served("1x2s+preset=async+min_send_grad_num_before_recv=4")
    steps = len(plain)
    # One pull more, of what the servers have at first.
    if all_sent != sent or fewer != received // steps * (steps // 2 + 1):
        fail("pulls of every other step: %d of %d bytes received, %d of %d sent" % (fewer, received, all_sent, sent))
    expected = case.run("merged0", [])[0]
    for step, (a, b) in enumerate(zip(found, expected)):
        if abs(a - b) > 1e-5 + 1e-4 * abs(b):
            fail("pulls of every other step: loss %d is %.9g, of gradient merge %.9g" % (step, a, b))
    print("pulls of every other step: %d bytes received instead of %d" % (fewer, received))


def check_small(case):
    plain = case.served("1x1")[0]
    for text in (
        "1x2s+preset=async+thread_pool_size=4+send_queue_size=1",
        "1x2s+preset=half_async+thread_pool_size=4+send_queue_size=1",
        "1x2s+preset=geo+geo_sgd_need_push_nums=2+thread_pool_size=4+send_queue_size=1",
    ):
        same(text, case.served(text)[0], plain)
    print("queues of one gradient and four threads: the bits of rounds")


def slowest_step(case, text, feeds, folder):
    """Seconds of the longest step of a run whose server stands still for STOPPED seconds early on."""
    report = os.path.join(case.work, "report.json")
    words = [case.tool, "run", case.job(text, flags_of(text)[0]), "--feeds", feeds, "--report", report]
    words += ["--cache", os.path.join(case.work, "cache"), "--checkpoint-dir", folder, "--checkpoint-every", "1000"]
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    checkpoints.await_checkpoint(folder, seconds=120)
    server = checkpoints.workers_of(run.pid)[-1]
    os.kill(server, signal.SIGSTOP)
    time.sleep(STOPPED)
    os.kill(server, signal.SIGCONT)
    said = run.communicate(timeout=LIMIT_SECONDS)[0]
    if run.returncode != 0:
        fail("%s: status %d:\n%s" % (text, run.returncode, said))
    return max(read_json(report)["ranks"][0]["step_ms"]) / 1000


def check_bound(case):
    """A trainer that never pulls by itself goes on while its server stands still, until a queue is full."""
    feeds = os.path.join(case.work, "long")
    os.makedirs(feeds)
    for name in os.listdir(os.path.join(case.folder, "feeds")):
        checkpoints.tile(os.path.join(case.folder, "feeds", name), os.path.join(feeds, name), 999)
    seconds = []
    for size in (2, 65536):
        text = "1x1+preset=async+independent_recv_thread=true+send_queue_size=%d" % size
        # On a loaded machine the run may be over before the server is stopped: then again.
        for turn in range(3):
            longest = slowest_step(case, text, feeds, os.path.join(case.work, "kept%d_%d" % (size, turn)))
            if size > 2 or longest > 0.9 * STOPPED:
                break
        seconds.append(longest)
    if not (seconds[0] > 0.9 * STOPPED > 1.8 * seconds[1]):
        fail("a server that stands still for %.1f s: longest steps %s" % (STOPPED, seconds))
    print("a server stands still for %.1f s: a step waits %.2f s with a queue of 2, %.2f s with 65536" % (STOPPED, *seconds))


def check_receiver(case):
    import async_case

    half_way = []
    for seed in (1, 2, 3):
        feeds = os.path.join(case.work, "feeds%d" % seed)
        async_case.make_feeds(feeds, seed)
        losses = [
            case.served(text, ["--feeds", feeds])[0]
            for text in ("2x2s+preset=async+independent_recv_thread=true+send_queue_size=2", "2x2s")
        ]
        for steps in (async_case.STEPS // 2, async_case.STEPS):
            late = [sum(one[steps - 10 : steps]) / 10 for one in losses]
            print("receiver, seed %d: loss after %d steps %.4g, of synchronous trainers %.4g" % (seed, steps, *late))
            within = late[0] <= BAND * late[1] + NOISE
            if steps < async_case.STEPS:
                half_way.append(within)
            elif not within:
                fail("receiver, seed %d: outside of the band: %s" % (seed, losses[0]))
    # How old a receiver's parameters are nothing bounds but the machine: half way, where the loss
    # still falls a hundredfold, one of the runs may have had a thread that waited for a core.
    if sum(half_way) < 2:
        fail("receiver: half way %d of %d seeds are inside of the band" % (sum(half_way), len(half_way)))


def check_refused(case):
    for fields, text in REFUSED.items():
        job = os.path.join(case.work, "refused")
        words = [case.tool, "transpile", *programs_of(case.folder), "-o", job, *flags_of("2x2" + fields)[0]]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS)
        if done.returncode != 1 or text not in done.stdout or os.path.exists(job):
            fail("%s: status %d, expected 1 and '%s':\n%s" % (fields, done.returncode, text, done.stdout))
    print("%d combinations are refused" % len(REFUSED))


def main(tools, corpus, name):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work)
        check_merged(case)
        check_pulls(case)
        check_small(case)
        check_bound(case)
        check_receiver(case)
        check_refused(case)


if __name__ == "__main__":
    main(*sys.argv[1:])
