"""Stages, servers and their trainers that are disturbed, through `run`: killed, stopped, late, and with noise on every
port that they listen at. What is asked of each row: how the job ends, within which time, who is named, and that
neither a process, a port nor a file of shared memory is left. docs/jobs.md has the table.

    faults.py TOOL_FOLDER CORPUS PAGE ROWS

ROWS: stages, transpiled or servers.
"""

import json
import os
import random
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
from train_case import call, compare_losses, fail  # noqa: E402

FOLDER = os.path.dirname(os.path.abspath(__file__))
STAGES, LINE = "static26/mlp_stages", "fluid18/fit_a_line"
DEADLINE = 3
# Processes that end on a machine with other work.
BUSY = 3
LONG = 20000  # times that feeds are repeated: more steps than there is time for
DONE, FAILED = 0, 4
MARK = "<!-- faults: made by test/jobs/faults.py -->\n"


class Row:
    """Who is hit, how; status and bound of the job; what its report says of whom."""

    def __init__(self, who, fault, status, within, says):
        self.who, self.fault, self.status, self.within, self.says = who, fault, status, within, says

    def text(self, who):
        within = "%d s" % self.within if self.within else ""
        return "%s | %s | %d | %s | %s |" % (who, self.fault, self.status, within, self.says)


def rows_of(who):
    return [
        Row(who, "killed", FAILED, 2, "was killed by signal 9"),
        Row(who, "stopped", FAILED, DEADLINE + 3, "is stopped"),
        Row(who, "stopped before it meets the others", FAILED, DEADLINE + 3, "is stopped"),
        Row(who, "late: stopped before it meets the others, for 1 s", DONE, 0, ""),
    ]


NOISE = [Row("strangers", "noise on every port as long as the job runs, while one rank comes 1 s late", DONE, 0, "")]
# job -> back ends, who is hit
JOBS = {
    "stages": ("pipeline.mlir", ["shm", "gloo"], ["trainer 0 (trainer[pp=0])", "trainer 1 (trainer[pp=1])"]),
    "transpiled": ("transpile --pipeline", ["gloo"], ["trainer 0 (trainer[pp=0])", "trainer 1 (trainer[pp=1])"]),
    "servers": ("parameter_server.mlir", ["shm"], ["server 0", "trainer 1"]),
}


def rows_for(kind):
    found = []
    for who in JOBS[kind][2]:
        found += rows_of(who)
    return found + NOISE


def page():
    lines = ["| job | back ends | one of them is hit | how | status | within | who is hit, and then |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    for name, backends, who in JOBS.values():
        for row in rows_of(who[0]):
            lines.append("| %s | %s | %s" % (name, ", ".join(backends), row.text(", ".join(who))))
        for row in NOISE:
            lines.append("| %s | %s | %s" % (name, ", ".join(backends), row.text(row.who)))
    return "\n".join(lines) + "\n"


def check_page(path):
    with open(path) as f:
        text = f.read()
    at = text.find(MARK)
    if at < 0 or text[at + len(MARK) :][: len(page())] != page():
        fail("%s: write this below '%s':\n%s" % (path, MARK.strip(), page()))


def repeat_feed(source, target, times):
    """[steps, …] so many times one after the other."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = data[10:start].decode()
    steps = int(re.search(r"'shape': \((\d+),", header).group(1))
    header = header.strip().replace("'shape': (%d," % steps, "'shape': (%d," % (steps * times))
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(header)) + header.encode())
        for _ in range(times):
            f.write(data[start:])


def children_of(pid):
    try:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            return [int(child) for child in f.read().split()]
    except OSError:
        return []


def workers_of(pid):
    """{"trainer 0": process} of the ranks that have begun, by their CONFIG."""
    found = {}
    for child in children_of(pid):
        try:
            with open("/proc/%d/cmdline" % child, "rb") as f:
                if not f.read().split(b"\0")[0].endswith(b"dtranspile-worker"):
                    continue
            with open("/proc/%d/fd/4" % child) as f:
                config = json.load(f)
            found["%s %d" % (config["role"], config["rank"])] = child
        except (OSError, ValueError):
            pass
    return found


def ports_of(pids):
    """TCP ports of loopback that one of the processes listens at."""
    inodes = set()
    for pid in pids:
        try:
            for fd in os.listdir("/proc/%d/fd" % pid):
                link = os.readlink("/proc/%d/fd/%s" % (pid, fd))
                if link.startswith("socket:["):
                    inodes.add(link[8:-1])
        except OSError:
            pass
    ports = set()
    with open("/proc/net/tcp") as f:
        for words in (line.split() for line in f.readlines()[1:]):
            if words[3] == "0A" and words[9] in inodes:
                ports.add(int(words[1].split(":")[1], 16))
    return ports


class Strangers(threading.Thread):
    """Says what makes no sense to whoever of the job listens, until the job ends."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.pid, self.told, self.ports = pid, 0, set()
        noise = random.Random(7)
        self.words = [
            b"",
            bytes(noise.randrange(256) for _ in range(300)),
            b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
            b"DTS2" + bytes(4),
            b"DTS2" + b"\1" * 100000,
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(40),
        ]

    def run(self):
        kept = []
        while os.path.exists("/proc/%d/fd" % self.pid):
            ports = ports_of([self.pid, *workers_of(self.pid).values()])
            self.ports |= ports
            for port in ports:
                kept.append(self.tell(port, self.words[self.told % len(self.words)]))
                self.told += 1
            for one in kept[:-60]:
                if one:
                    one.close()
            kept = kept[-60:]
            time.sleep(0.002)

    @staticmethod
    def tell(port, words):
        one = socket.socket()
        one.setblocking(False)
        try:
            one.connect(("127.0.0.1", port))
        except BlockingIOError:
            pass
        except OSError:
            return one
        try:
            time.sleep(0.0005)
            one.send(words)
        except OSError:
            pass
        return one


class Faults:
    def __init__(self, tools, corpus, kind, work):
        self.tool, self.kind, self.work = os.path.join(tools, "dtranspile"), kind, work
        self.case = os.path.join(corpus, LINE if kind == "servers" else STAGES)
        with open(os.path.join(self.case, "case.json")) as f:
            self.loss = json.load(f)["loss"]
        with open(os.path.join(self.case, "golden.json")) as f:
            self.golden = json.load(f)[self.loss]
        self.job = os.path.join(FOLDER, JOBS[kind][0])
        if kind == "transpiled":
            self.job = os.path.join(work, "job")
            main, startup = (os.path.join(self.case, name + ".pdmodel") for name in ("main", "startup"))
            flags = ["--trainers", "2", "--pipeline", "--accumulate-steps", "4"]
            call(self.tool, "transpile", main, "--startup", startup, "-o", self.job, *flags)
        self.long = os.path.join(work, "long")
        os.mkdir(self.long)
        for name in os.listdir(os.path.join(self.case, "feeds")):
            repeat_feed(os.path.join(self.case, "feeds", name), os.path.join(self.long, name), LONG)

    def start(self, backend, feeds, timeout):
        self.report = os.path.join(self.work, "report.json")
        if os.path.exists(self.report):
            os.remove(self.report)
        words = [self.tool, "run", self.job, "--feeds", feeds, "--init", os.path.join(self.case, "init")]
        words += ["--backend", backend, "--timeout", str(timeout), "--report", self.report]
        words += ["--cache", os.path.join(self.work, "cache")]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @staticmethod
    def worker(process, name):
        """The process of a rank, as soon as it has begun."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and process.poll() is None:
            found = workers_of(process.pid)
            if name in found:
                return found[name]
            time.sleep(0.002)
        fail("no %s: %s" % (name, process.communicate()[0]))

    def run_row(self, backend, row):
        what = "%s over %s, %s, %s" % (JOBS[self.kind][0], backend, row.who, row.fault)
        feeds = os.path.join(self.case, "feeds") if row.status == DONE else self.long
        process = self.start(backend, feeds, 20 if row.status == DONE else DEADLINE)
        try:
            self.disturb(process, row, what)
        finally:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def disturb(self, process, row, what):
        strangers = None
        late = "meets" in row.fault or row.who == "strangers"
        name = "trainer 1" if row.who == "strangers" else " ".join(row.who.split()[:2])
        if row.who == "strangers":
            strangers = Strangers(process.pid)
            strangers.start()
        victim = self.worker(process, name)
        if late:
            os.kill(victim, signal.SIGSTOP)
        else:
            time.sleep(2)  # all of them train
            os.kill(victim, signal.SIGKILL if row.fault == "killed" else signal.SIGSTOP)
        begin = time.monotonic()
        if late and row.status == DONE:
            time.sleep(1)
        workers = [victim, *workers_of(process.pid).values()]
        ports = ports_of([process.pid] + workers)
        if late and row.status == DONE:
            os.kill(victim, signal.SIGCONT)
        out = process.communicate(timeout=120)[0]
        if row.status != DONE:
            self.check_failed(what, row, process.returncode, out, time.monotonic() - begin)
        else:
            self.check_done(what, process.returncode, out)
        if strangers:
            strangers.join(timeout=10)
            # Over shared memory, without servers, nobody listens.
            print("%s: %d connections to %d ports" % (what, strangers.told, len(strangers.ports)))
            if strangers.told == 0 and ("gloo" in what or self.kind == "servers"):
                fail("%s: nobody listens" % what)
        self.check_nothing_left(what, process.pid, workers, ports | (strangers.ports if strangers else set()))

    def check_failed(self, what, row, status, out, took):
        if status != FAILED or took > row.within + BUSY:
            fail("%s: exit status %d after %.1f s\n%s" % (what, status, took, out))
        with open(self.report) as f:
            error = json.load(f)["error"]
        role, rank = row.who.split()[:2]
        name = re.search(r"\((.*)\)", row.who)
        good = (error["role"], error["rank"]) == (role, int(rank))
        good &= not name or error["class"] == name.group(1)
        # The report says it, and so does the command.
        beginning = "%s: %s" % (row.who, row.says)
        if not good or not error["message"].startswith(beginning) or beginning not in out:
            fail("%s: expected '%s…' in %s\n%s" % (what, beginning, error, out))
        print("%s: %.1f s, %s" % (what, took, error["message"]))

    def check_done(self, what, status, out):
        if status != DONE:
            fail("%s: exit status %d\n%s" % (what, status, out))
        with open(self.report) as f:
            report = json.load(f)
        worst = compare_losses(what, report["fetch"][self.loss], self.golden)
        print("%s: goes on, largest difference of a loss %.2e" % (what, worst))

    @staticmethod
    def check_nothing_left(what, launcher, workers, ports):
        for pid in workers:
            if os.path.exists("/proc/%d" % pid):
                fail("%s: process %d is left" % (what, pid))
        for port in ports:
            with socket.socket() as probe:
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                try:
                    probe.bind(("127.0.0.1", port))
                except OSError as error:
                    fail("%s: port %d is still taken: %s" % (what, port, error))
        left = [name for name in os.listdir("/dev/shm") if name.startswith("dtranspile+%d-" % launcher)]
        if left:
            fail("%s: %s are left" % (what, left))


def main(tools, corpus, page_path, kind):
    check_page(page_path)
    with tempfile.TemporaryDirectory() as work:
        faults = Faults(tools, corpus, kind, work)
        for backend in JOBS[kind][1]:
            for row in rows_for(kind):
                faults.run_row(backend, row)
        shutil.rmtree(faults.long)


if __name__ == "__main__":
    main(*sys.argv[1:])
