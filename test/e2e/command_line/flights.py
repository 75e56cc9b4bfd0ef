"""Flight recorders: a rank that is killed is named with what the others wait for, by `run` and by
`trace merge`.

flights.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from check import main, workers_of


def longer(source, target, times):
    """The steps of a `.npy` file, again and again."""
    with open(source, "rb") as f:
        data = f.read()
    length = struct.unpack("<H", data[8:10])[0]
    header, values = data[10 : 10 + length].decode(), data[10 + length :]
    steps = int(re.search(r"'shape': \((\d+)", header).group(1))
    header = re.sub(r"('shape': \()\d+", r"\g<1>%d" % (steps * times), header).rstrip()
    header += " " * (-(10 + len(header) + 1) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(header)) + header.encode() + values * times)


def hit(check, words):
    """What a run says of its second rank, which is killed after a second of training."""
    job = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    workers, deadline = [], time.time() + 60
    while len(workers) < 2 and job.poll() is None and time.time() < deadline:
        time.sleep(0.01)
        workers = workers_of(job.pid)
    time.sleep(1)
    os.kill(workers[1], signal.SIGKILL)
    err = job.communicate(timeout=60)[1]
    check.expect("the job fails", job.returncode == 4, "status %d\n%s" % (job.returncode, err))
    return err


def killed(check):
    case = os.path.join(check.corpus, "static26/gpt_tiny")
    words = ["transpile", case + "/main.pdmodel", "--startup", case + "/startup.pdmodel"]
    check.expect_exit("a job of two", 0, [*words, "-o", check.path("two"), "--trainers", "2"])
    os.mkdir(check.path("long"))
    for name in os.listdir(case + "/feeds"):
        longer(case + "/feeds/" + name, check.path("long/" + name), 500)
    words = [check.tool, "run", check.path("two"), "--feeds", check.path("long")]
    words += ["--init", case + "/init", "--flight", check.path("flight")]
    words += ["--report", check.path("report.json")]
    # A rank that is killed while it waits for the others has begun the event, and so have they: the
    # recordings do not differ. Mostly it computes.
    note = "flight recorder: trainer 1 stopped before event"
    for _ in range(10):
        shutil.rmtree(check.path("flight"), ignore_errors=True)
        err = hit(check, words)
        if note in err:
            break
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
