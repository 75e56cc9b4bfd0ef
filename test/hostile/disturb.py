"""Running jobs that are disturbed: any process, any signal, at any time; and then what is left, and
whether `--resume` goes on from the checkpoints that are there.

    disturb.py TOOL_FOLDER CORPUS [--rounds N] [--seed S] [--seconds T] [JOB...]

CORPUS has fluid18 and static26 in it.
"""

import argparse
import json
import os
import random
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time

from campaign import processes

LINE, STAGES, GPT = "fluid18/fit_a_line", "static26/mlp_stages", "static26/gpt_tiny"
SERVERS = ["--trainers", "2", "--mode", "pserver", "--pservers", "2"]
PIPELINE = ["--trainers", "2", "--pipeline", "--accumulate-steps", "4"]
# name -> (case, request, flags of the run, whether losses are the same in every run)
JOBS = {
    "dp": (LINE, ["--trainers", "2"], [], True),
    "dp-gloo": (LINE, ["--trainers", "2"], ["--backend", "gloo"], True),
    "single": (LINE, None, [], True),
    "sharding1": (LINE, ["--trainers", "2", "--sharding"], [], True),
    "sharding3": (LINE, ["--trainers", "2", "--sharding", "--sharding-stage", "3"], [], True),
    "tensor": (GPT, ["--trainers", "2", "--tensor-parallel", "--tensor-parallel-degree", "2"], [], True),
    "1f1b": (STAGES, PIPELINE, [], True),
    "1f1b-gloo": (STAGES, PIPELINE, ["--backend", "gloo"], True),
    "f-then-b": (STAGES, [*PIPELINE, "--schedule-mode", "F-then-B"], [], True),
    "zb": (STAGES, [*PIPELINE, "--schedule-mode", "ZB-H1"], [], True),
    "local-sgd": (LINE, ["--trainers", "2", "--collective-mode", "local_sgd"], [], True),
    "merge": (LINE, ["--trainers", "2", "--gradient-merge", "--gradient-merge-k-steps", "2"], [], True),
    "sync": (LINE, SERVERS, [], True),
    "async": (LINE, [*SERVERS, "--preset", "async"], [], False),
    "half": (LINE, [*SERVERS, "--preset", "half_async"], [], False),
    "geo": (LINE, [*SERVERS, "--preset", "geo"], [], False),
}
SIGNALS = ["KILL", "KILL", "KILL", "STOP", "STOP", "TERM", "INT", "HUP", "QUIT", "ABRT", "SEGV", "USR1", "USR2"]
SIGNALS += ["PIPE", "ALRM", "XCPU", "BUS", "CONT"]
DEADLINE, SLACK, STEPS = 3, 12, 400


def widen(source, target, times):
    """The steps of a feed, again and again."""
    with open(source, "rb") as f:
        data = f.read()
    size = 10 + struct.unpack("<H", data[8:10])[0]
    header = data[10:size].decode()
    steps = header.split("'shape': (")[1].split(",")[0]
    header = header.replace("'shape': (" + steps, "'shape': (%d" % (int(steps) * times)).rstrip()
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(header)) + header.encode() + data[size:] * times)


def is_rank(pid):
    try:
        with open("/proc/%d/cmdline" % pid, "rb") as f:
            return f.read().split(b"\0")[0].endswith(b"dtranspile-worker")
    except OSError:
        return False


class Disturb:
    def __init__(self, tools, corpus, work):
        self.tool, self.corpus, self.work = os.path.join(tools, "dtranspile"), corpus, work
        self.cache, self.findings, self.tried, self.ends = os.path.join(work, "cache"), [], 0, {}
        self.losses = {}

    def words(self, name):
        """Of a run of the job, which is made the first time."""
        case, request, flags, _ = JOBS[name]
        case = os.path.join(self.corpus, case)
        job, feeds = os.path.join(self.work, name), os.path.join(self.work, "feeds-" + case.replace("/", "_"))
        if not os.path.exists(feeds):
            os.mkdir(feeds)
            for file in os.listdir(case + "/feeds"):
                widen(os.path.join(case, "feeds", file), os.path.join(feeds, file), 400)
        programs = [case + "/main.pdmodel", "--startup", case + "/startup.pdmodel"]
        if request and not os.path.exists(job):
            subprocess.run([self.tool, "transpile", *programs, "-o", job, *request], check=True, stderr=subprocess.DEVNULL)
        words = [self.tool, "run", *([job] if request else programs), "--feeds", feeds, "--init", case + "/init"]
        return [*words, *flags, "--timeout", str(DEADLINE), "--cache", self.cache, "--threads", "1"]

    def run(self, words, mark, temporary):
        environment = dict(os.environ, TMPDIR=temporary, CAMPAIGN=mark)
        return subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment,
            start_new_session=True, text=True,
        )

    def one(self, name, seed):
        rng = random.Random("%s %s" % (name, seed))
        place = tempfile.mkdtemp(prefix="d", dir=self.work)
        temporary, mark = os.path.join(place, "tmp"), os.path.basename(place)
        os.mkdir(temporary)
        checkpoints = ["--checkpoint-dir", place + "/ck", "--checkpoint-every", "50"] if rng.random() < 0.6 else []
        more = []
        for flag in ("--save", "--save-fetches", "--trace", "--flight", "--report"):
            if rng.random() < 0.3:
                more += [flag, place + "/out" + flag]
        words = [*self.words(name), *checkpoints, *more, "--steps", str(STEPS)]
        process = self.run(words, mark, temporary)
        delay = rng.choice((0.02, 0.1, 0.3, 0.6, 1, 2)) * rng.random()
        if rng.random() < 0.6:
            end = time.monotonic() + 20
            while len(processes(mark)) < 2 and process.poll() is None and time.monotonic() < end:
                time.sleep(0.005)
        time.sleep(delay)
        what, sign = rng.choice(("launcher", "rank", "rank", "rank", "all ranks", "two")), rng.choice(SIGNALS)
        ranks = [p for p in processes(mark) if p != process.pid and is_rank(p)]
        rng.shuffle(ranks)
        victims = {"launcher": [process.pid], "rank": ranks[:1], "all ranks": ranks, "two": ranks[:2]}[what]
        for victim in victims:
            try:
                os.kill(victim, getattr(signal, "SIG" + sign))
            except OSError:
                pass
        self.tried += 1
        text = "%s %s: SIG%s to %s after %.3f s%s" % (name, seed, sign, what, delay, " with checkpoints" if checkpoints else "")
        wrong = self.end(process, text, what, sign, victims, mark, temporary, place)
        if not wrong and checkpoints:
            wrong = self.resumed(name, place, mark, temporary)
        if wrong:
            self.findings.append(text)
            print("FINDING %s\n  %s\n  %s" % (text, wrong, " ".join(words)), flush=True)
        shutil.rmtree(place, ignore_errors=True)

    def end(self, process, text, what, sign, victims, mark, temporary, place):
        begin = time.monotonic()
        stopped = what == "launcher" and sign == "STOP"
        harmless = sign in ("CONT",) or not victims
        if stopped:
            # Ranks that lose the launcher's ear go on or end by themselves; it goes on after a while.
            time.sleep(6)
            process.send_signal(signal.SIGCONT)
        try:
            out = process.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            alive = processes(mark)
            for one in alive:
                os.kill(one, 9)
            return "hangs, %d processes: %s" % (len(alive), process.communicate()[0][-1500:])
        took, code = time.monotonic() - begin, process.returncode
        self.ends[code] = self.ends.get(code, 0) + 1
        # Those that have lost their launcher by SIGKILL get the deadline to end.
        deadline = time.monotonic() + DEADLINE + SLACK
        while processes(mark) and time.monotonic() < deadline:
            time.sleep(0.05)
        alive = processes(mark)
        if alive:
            for one in alive:
                os.kill(one, 9)
            return "processes are left: %d; status %d" % (len(alive), code)
        killed = what == "launcher" and sign == "KILL"
        allowed = {0, 4}
        if what == "launcher":
            allowed |= {-getattr(signal, "SIG" + sign), 70 if sign in ("SEGV", "ABRT", "BUS") else 0}
        if code not in allowed:
            return "status %d after %.1f s: %s" % (code, took, out[-1500:])
        if not harmless and not stopped and took > DEADLINE + SLACK and code != 0:
            return "takes %.1f s: %s" % (took, out[-1500:])
        if code == 4 and what != "launcher" and not any(w in out for w in ("trainer", "server", "rank")):
            return "does not say who: %s" % out[-1500:]
        if "internal error" in out and what != "launcher":
            return "an internal error: %s" % out[-1500:]
        left = [n for n in os.listdir("/dev/shm") if n.startswith("dtranspile+%d-" % process.pid)]
        if left and not killed:
            return "shared memory is left: %s" % left
        crashed = what == "launcher" and code == 70
        if os.listdir(temporary) and not killed and not crashed:
            return "left in TMPDIR: %s; status %d: %s" % (os.listdir(temporary), code, out[-500:])
        unfinished = [n for n in os.listdir(place) if n.startswith(".dtranspile")]
        if unfinished and not killed and not crashed:
            return "left: %s; status %d: %s" % (unfinished, code, out[-500:])
        return ""

    def resumed(self, name, place, mark, temporary):
        """Goes on to the end from what is there, as if nothing had been."""
        words = [*self.words(name), "--checkpoint-dir", place + "/ck", "--checkpoint-every", "50", "--resume", "--steps", str(STEPS)]
        words += ["--report", place + "/resumed.json"]
        process = self.run(words, mark, temporary)
        try:
            out = process.communicate(timeout=120)[0]
        except subprocess.TimeoutExpired:
            for one in processes(mark):
                os.kill(one, 9)
            return "--resume hangs: %s" % process.communicate()[0][-1000:]
        if process.returncode != 0:
            return "--resume ends with %d: %s" % (process.returncode, out[-1500:])
        if os.listdir(temporary):
            return "--resume leaves in TMPDIR: %s" % os.listdir(temporary)
        odd = [n for n in os.listdir(place + "/ck") if not n.startswith("step-")] if os.path.isdir(place + "/ck") else []
        if odd:
            return "--resume leaves in the checkpoints: %s" % odd
        if JOBS[name][3]:
            if "nothing is left" in out:
                return "" if os.path.exists(place + "/resumed.json") else "no report"
            with open(place + "/resumed.json") as f:
                last = [values[-1] for values in json.load(f)["fetch"].values()]
            if name not in self.losses:
                whole = subprocess.run([*self.words(name), "--steps", str(STEPS), "--report", place + "/whole.json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
                if whole.returncode:
                    return "an undisturbed run ends with %d: %s" % (whole.returncode, whole.stdout[-1000:])
                with open(place + "/whole.json") as f:
                    self.losses[name] = [values[-1] for values in json.load(f)["fetch"].values()]
            if last != self.losses[name]:
                return "the last loss is %s, without interruption %s" % (last, self.losses[name])
        return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("jobs", nargs="*")
    given = parser.parse_intermixed_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="disturb") as work:
        disturb = Disturb(os.path.abspath(given.tools), os.path.abspath(given.corpus), work)
        for seed in range(given.seed * 10**6, given.seed * 10**6 + given.rounds):
            for name in given.jobs or JOBS:
                if time.monotonic() - begin < given.seconds:
                    disturb.one(name, seed)
        print("%d faults, %d findings, ends %s, %.0f s" % (disturb.tried, len(disturb.findings), disturb.ends, time.monotonic() - begin))
    return 1 if disturb.findings else 0


if __name__ == "__main__":
    sys.exit(main())
