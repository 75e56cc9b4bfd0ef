"""Flight recorders: a rank that is killed is named with what the others wait for, by `run` and by
`trace merge`.

flights.py TOOL_FOLDER CORPUS
"""

import json
import os
import signal
import subprocess
import time

from check import main, workers_of, write_npy


def killed(check):
    check.expect_exit("a job of two", 0, check.transpile("two", 2))
    os.mkdir(check.path("long"))
    write_npy(check.path("long/x.npy"), (400000, 4, 10), 0.5)
    write_npy(check.path("long/y.npy"), (400000, 4, 1), 0.25)
    words = [check.tool, "run", check.path("two"), "--feeds", check.path("long")]
    words += ["--init", check.program("init"), "--flight", check.path("flight")]
    words += ["--report", check.path("report.json")]
    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    workers, deadline = [], time.time() + 30
    while len(workers) < 2 and job.poll() is None and time.time() < deadline:
        time.sleep(0.01)
        workers = workers_of(job.pid)
    time.sleep(1)  # it trains
    os.kill(workers[1], signal.SIGKILL)
    err = job.communicate(timeout=60)[1]
    check.expect("the job fails", job.returncode == 4, "status %d\n%s" % (job.returncode, err))
    note = "flight recorder: trainer 1 stopped before event"
    check.expect("run says where", note in err and "trainer 0 waits for it" in err, err)
    with open(check.path("report.json")) as f:
        diverged = json.load(f)["error"]["diverged"]
    stopped = diverged["stopped"]
    check.expect(
        "the report says so",
        len(stopped) == 1
        and (stopped[0]["role"], stopped[0]["rank"]) == ("trainer", 1)
        and stopped[0]["before"] > 0
        and "all_reduce" in stopped[0]["op"],
        str(diverged),
    )
    names = sorted(os.listdir(check.path("flight")))
    check.expect(
        "a recording per rank",
        names == ["trainer.0.flight.json", "trainer.1.flight.json"],
        str(names),
    )
    check.expect_exit(
        "merged", 1, ["trace", "merge", check.path("flight")], "trainer 1 stopped before event"
    )
    done = subprocess.run(
        [check.tool, "trace", "merge", check.path("flight"), "--format", "json"],
        stdout=subprocess.PIPE,
        text=True,
        timeout=60,
    )
    check.expect("merged as JSON", json.loads(done.stdout) == diverged, done.stdout)
    with open(check.path("flight/trainer.1.flight.json")) as f:
        text = f.read()
    with open(check.path("flight/trainer.1.flight.json"), "w") as f:
        f.write(text[:100])
    check.expect_exit(
        "half a recording", 1, ["trace", "merge", check.path("flight")], "trainer.1.flight.json: is no"
    )
    os.remove(check.path("flight/trainer.1.flight.json"))
    check.expect_exit(
        "one without the other",
        1,
        ["trace", "merge", check.path("flight")],
        "without a recording: member 1 of communicator",
    )
    check.expect_exit(
        "the same twice",
        1,
        ["trace", "merge", check.path("flight"), check.path("flight")],
        "trainer 0 is there twice",
    )


def none(check):
    """A run that ends well leaves no recordings; folders without any are an error."""
    check.expect_exit("a job of two", 0, check.transpile("well", 2))
    words = ["run", check.path("well"), "--feeds", check.program("feeds")]
    words += ["--init", check.program("init"), "--flight", check.path("empty")]
    check.expect_exit("a run that ends well", 0, words)
    left = os.listdir(check.path("empty")) if os.path.exists(check.path("empty")) else []
    check.expect("nothing is left", not left, str(left))
    os.makedirs(check.path("empty"), exist_ok=True)
    check.expect_exit(
        "nothing to merge", 1, ["trace", "merge", check.path("empty")], "holds no recordings"
    )
    check.expect_exit("no folder", 1, ["trace", "merge", check.path("nowhere")], "nowhere")
    check.expect_exit("off", 0, words[:-2] + ["--no-flight-recorder"])


if __name__ == "__main__":
    main((killed, none))
