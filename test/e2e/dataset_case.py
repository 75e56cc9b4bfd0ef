"""Trains a case of the corpora from text files instead of feeds (docs/datasets.md): every loss is the framework's. Then bad files, and what is said of them.

    dataset_case.py TOOL_FOLDER CORPUS CASE
"""

import json
import os
import signal
import struct
import subprocess
import sys
import tempfile
import time

from train_case import call, compare_losses, fail

LIMIT_SECONDS = 120
DTYPES = {"<f4": "f", "<i8": "q"}


def read_npy(path):
    """(kind of the elements, extents, values) of float32 and int64."""
    with open(path, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:start])
    kind = DTYPES[header["descr"]]
    count = (len(data) - start) // struct.calcsize(kind)
    return kind, header["shape"], struct.unpack("<%d%s" % (count, kind), data[start:])


def text(kind, values):
    return "%d %s" % (len(values), " ".join(("%.9g" if kind == "f" else "%d") % v for v in values))


class Slot:
    """A feed of the case: its description, and the text of every sample of every step."""

    def __init__(self, folder, name):
        self.name = name
        dense = os.path.join(folder, name + ".npy")
        if os.path.exists(dense):
            kind, shape, values = read_npy(dense)
            width = 1
            for extent in shape[2:]:
                width *= extent
            self.samples = [
                [
                    text(kind, values[(step * shape[1] + row) * width :][:width])
                    for row in range(shape[1])
                ]
                for step in range(shape[0])
            ]
            self.entry = {"dense": True, "shape": list(shape[2:]) or [1]}
        else:
            self.samples, self.entry = [], {}
            while os.path.exists(os.path.join(folder, "%s.step%d.npy" % (name, len(self.samples)))):
                stem = os.path.join(folder, "%s.step%d" % (name, len(self.samples)))
                kind, _, values = read_npy(stem + ".npy")
                with open(stem + ".lod.json") as f:
                    offsets = json.load(f)[0]
                self.samples.append(
                    [text(kind, values[a:b]) for a, b in zip(offsets, offsets[1:])]
                )
        self.entry.update(name=name, type="float" if kind == "f" else "uint64")


def names_in(folder):
    return sorted({n.split(".step")[0] if ".step" in n else n[:-4] for n in os.listdir(folder)})


def write_dataset(folder, slots, trainers):
    """A file per trainer, with its part of every batch, and a slot that nobody uses."""
    batch = len(slots[0].samples[0]) // trainers
    files = []
    for trainer in range(trainers):
        files.append("part-%d.txt" % trainer)
        with open(os.path.join(folder, files[-1]), "w") as f:
            for step in range(len(slots[0].samples)):
                for row in range(trainer * batch, (trainer + 1) * batch):
                    words = [slot.samples[step][row] for slot in slots]
                    f.write(" ".join(words[:1] + ["2 0.5 -1"] + words[1:]) + "\n")
    entries = [slot.entry for slot in slots]
    unused = {"name": "weather", "type": "float", "used": False}
    description = {
        "type": "QueueDataset",
        "files": files,
        "batch_size": batch,
        "slots": entries[:1] + [unused] + entries[1:],
    }
    path = os.path.join(folder, "data.json")
    with open(path, "w") as f:
        json.dump(description, f)
    return path, description


def train(tool, job, what, flags, loss, golden, work):
    report = os.path.join(work, "report.json")
    call(tool, "run", job, *flags, "--cache", os.path.join(work, "cache"), "--report", report)
    with open(report) as f:
        found = json.load(f)
    print("%s: largest difference of a loss %.2e" % (what, compare_losses(what, found["fetch"][loss], golden)))


def refused(tool, job, flags, code, said):
    done = subprocess.run(
        [tool, "run", job, *flags],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_SECONDS,
        text=True,
    )
    if done.returncode != code or said not in done.stdout:
        fail("exit status %d, expected %d and '%s' in\n%s" % (done.returncode, code, said, done.stdout))


def check_refusals(tool, job, init, path, description, work):
    first = os.path.join(work, description["files"][0])
    with open(first) as f:
        lines = f.read().split("\n")

    def changed(what, said, code=1, flags=(), **keys):
        with open(path, "w") as f:
            json.dump(dict(description, **keys), f)
        refused(tool, job, ["--dataset", path, *init, *flags], code, said)

    def broken(number, line, said):
        with open(first, "w") as f:
            f.write("\n".join(lines[: number - 1] + [line] + lines[number:]))
        changed(said, "%s:%d: %s" % (first, number, said))
        with open(first, "w") as f:
            f.write("\n".join(lines))

    broken(3, lines[2] + " 7", "the line goes on with '7'")
    broken(2, "", "the line ends before slot")
    changed("a file is missing", "nothing.txt", files=description["files"] + ["nothing.txt"])
    changed("too few files", "1 file for 2 trainers", files=description["files"][:1])
    changed("a command", "allow it with --allow-pipe-command", pipe_command="tac")
    changed("no step", "no step: not every trainer has a batch of 100000", batch_size=100000)
    changed("a slot is missing", "which is no used slot of the data set", slots=description["slots"][1:])
    extra = {"name": "unknown", "type": "float"}
    changed("a slot too many", "the program feeds no variable of that name", slots=[extra] + description["slots"])
    changed("feeds too", "--dataset gives all feeds", code=2, flags=["--feeds", work])
    allowed = ["--allow-pipe-command"]
    changed("a command that never ends", ":1: ", flags=allowed, pipe_command="yes")
    silent = "has given nothing for 1 s; it hangs"
    changed("a command that is silent", silent, flags=allowed, pipe_command="sleep 100", pipe_command_seconds=1)
    changed("a command that is stopped", silent, flags=allowed, pipe_command="kill -STOP $$", pipe_command_seconds=1)
    changed("a command that is killed", "has ended with signal 9", flags=allowed, pipe_command="kill -9 $$")
    changed("a blank command", "'pipe_command': expected a text", flags=allowed, pipe_command=" \n")
    changed("a command with a NUL", "expected a text without NUL", flags=allowed, pipe_command="cat\0")
    names = [name + "\0" for name in description["files"]]
    changed("names with a NUL", "each a text without NUL", files=names)
    changed("an unreadable description", "'batch_size': expected a whole number", batch_size=0)


def processes_of(text):
    """Numbers of the processes that have `text` in their command line."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % int(name), "rb") as f:
                if text.encode() in f.read():
                    found.append(int(name))
        except (OSError, ValueError):
            pass
    return found


def check_ended(tool, job, init, path, description):
    """Nothing of a command outlives who runs it, however that ends."""
    mark = "sleep 1000.%d" % os.getpid()
    command = mark.replace("sleep ", "sleep  ")  # not the words of this process
    with open(path, "w") as f:
        json.dump(dict(description, pipe_command=command + " & " + command + "; cat"), f)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGXCPU):
        words = [tool, "run", job, "--dataset", path, *init, "--allow-pipe-command"]
        run = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        alone = "sleep\0" + mark.split()[1]
        end = time.time() + 30
        while not processes_of(alone) and run.poll() is None and time.time() < end:
            time.sleep(0.02)
        if not processes_of(alone):
            fail("the command has not begun")
        run.send_signal(number)
        if run.wait(timeout=LIMIT_SECONDS) != -number:
            fail("signal %d: exit status %d" % (number, run.returncode))
        end = time.time() + 10
        while processes_of(alone) and time.time() < end:
            time.sleep(0.02)
        left = processes_of(alone)
        for process in left:
            os.kill(process, signal.SIGKILL)
        if left:
            fail("signal %d leaves %d processes of the command" % (number, len(left)))
    print("a command ends with who runs it")


def main(tools, corpus, case):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with open(os.path.join(folder, "golden.json")) as f:
        golden = json.load(f)[description["loss"]]
    program = [os.path.join(folder, "main.pdmodel"), "--startup", os.path.join(folder, "startup.pdmodel")]
    init = ["--init", os.path.join(folder, "init")]
    if description.get("lr_var"):
        rates = ",".join(map(str, description["lr_per_step"]))
        init += ["--per-step", description["lr_var"] + "=" + rates]
    feeds = os.path.join(folder, "feeds")
    slots = [Slot(feeds, name) for name in names_in(feeds)]
    with tempfile.TemporaryDirectory() as work:
        path, _ = write_dataset(work, slots, 1)
        flags = [program[1], program[2], "--dataset", path, *init]
        train(tool, program[0], case + " on one device", flags, description["loss"], golden, work)
        path, described = write_dataset(work, slots, 2)
        for name, mode in (
            ("2 ranks", ["--mode", "collective", "--trainers", "2"]),
            ("2 trainers, 1 server", ["--mode", "pserver", "--trainers", "2", "--pservers", "1"]),
        ):
            job = os.path.join(work, "job " + name)
            call(tool, "transpile", *program, "-o", job, *mode)
            flags = ["--dataset", path, *init]
            train(tool, job, case + " on " + name, flags, description["loss"], golden, work)
        check_refusals(tool, job, init, path, described, work)
        check_ended(tool, job, init, path, described)


if __name__ == "__main__":
    main(*sys.argv[1:])
