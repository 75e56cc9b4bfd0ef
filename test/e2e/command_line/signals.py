"""Commands and ranks that are killed, stopped or interrupted.

signals.py TOOL_FOLDER CORPUS
"""

import os
import signal
import subprocess
import time

from check import main, workers_of, write_npy


def hit(check, what, victim_of, signal_number, code, fragment):
    """Starts a job of two ranks that takes seconds, signals one of its processes in the middle, and says how it must end."""
    job = subprocess.Popen(
        [
            check.tool,
            "run",
            check.path("two"),
            "--feeds",
            check.path("long"),
            "--init",
            check.program("init"),
            "--timeout",
            "5",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    workers, deadline = [], time.time() + 30
    while len(workers) < 2 and job.poll() is None and time.time() < deadline:
        time.sleep(0.01)
        workers = workers_of(job.pid)
    check.expect(
        what + ": the job is under way", len(workers) == 2 and job.poll() is None, str(workers)
    )
    if len(workers) < 2:
        job.kill()
        return
    os.kill(victim_of(job.pid, workers), signal_number)
    start = time.time()
    out, err = job.communicate(timeout=60)
    check.expect(
        what + ": it ends soon", time.time() - start < 15, "%.1f s" % (time.time() - start)
    )
    check.expect(
        what + ": as failed",
        job.returncode == code and fragment in out + err,
        "exit status %d\n%s%s" % (job.returncode, out, err),
    )
    check.expect(
        what + ": no rank is left",
        not any(os.path.exists("/proc/%d" % worker) for worker in workers),
        str(workers),
    )
    # Segments are called after the process of the command; other programs have theirs there too.
    left = [
        name
        for name in os.listdir("/dev/shm")
        if name.startswith("dtranspile+") and str(job.pid) in name
    ]
    check.expect(what + ": no shared memory is left", not left, str(left))


def faults(check):
    """A rank that is killed or stopped ends the job within seconds, by name, and leaves nothing; so does Ctrl-C."""
    steps = 60000
    check.expect_exit("a job of two", 0, check.transpile("two", 2))
    os.mkdir(check.path("long"))
    write_npy(check.path("long/x.npy"), (steps, 4, 10), 0.5)
    write_npy(check.path("long/y.npy"), (steps, 4, 1), 0.25)
    hit(check, "a killed rank", lambda job, workers: workers[1], signal.SIGKILL, 4, "trainer 1")
    hit(check, "a stopped rank", lambda job, workers: workers[1], signal.SIGSTOP, 4, "trainer")
    hit(check, "Ctrl-C", lambda job, workers: job, signal.SIGINT, 4, "")
    # What batch systems send ahead of time, and timers.
    for number in (signal.SIGXCPU, signal.SIGUSR2, signal.SIGALRM, signal.SIGPWR):
        said = "interrupted by signal %d" % number
        hit(check, "signal %d" % number, lambda job, workers: job, number, 4, said)


def interruptions(check):
    """A command that is ended while it compiles leaves no temporary folder; one that is killed leaves it to the next."""
    temporary = check.path("tmp")
    os.mkdir(temporary)
    words = [
        check.tool,
        "run",
        check.program("main.pdmodel"),
        "--feeds",
        check.program("feeds"),
        "--init",
        check.program("init"),
    ]

    def end(number):
        cache = check.path("cache%d" % number)
        job = subprocess.Popen(
            words + ["--cache", cache],
            env=dict(os.environ, TMPDIR=temporary),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.time() + 30
        while not os.listdir(temporary) and time.time() < deadline:
            time.sleep(0.001)
        job.send_signal(number)
        return job.wait(timeout=60)

    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGQUIT,
        signal.SIGPIPE,
        signal.SIGUSR1,
        signal.SIGUSR2,
        signal.SIGALRM,
        signal.SIGXCPU,
        signal.SIGVTALRM,
        signal.SIGPROF,
        signal.SIGIO,
        signal.SIGPWR,
    ):
        code = end(number)
        check.expect("signal %d ends a command that compiles" % number, code == -number, str(code))
        check.expect("and leaves nothing", not os.listdir(temporary), str(os.listdir(temporary)))
    end(signal.SIGKILL)
    check.expect(
        "SIGKILL leaves the folder", len(os.listdir(temporary)) == 1, str(os.listdir(temporary))
    )
    check.expect_exit("the next run", 0, words[1:], TMPDIR=temporary)
    check.expect("removes it", not os.listdir(temporary), str(os.listdir(temporary)))


if __name__ == "__main__":
    main((faults, interruptions))
