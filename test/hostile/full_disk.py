"""Every writer on a disk that is full: what is there stays whole, the old or the new, and the message says what happened.

    full_disk.py TOOL_FOLDER CORPUS [WRITER...]

CORPUS has fluid18 in it. Needs the right to mount a file system; without it nothing is tried, which is said.
"""

import os
import shutil
import subprocess
import sys
import tempfile

from train_case import tree  # in test/e2e, which PYTHONPATH names

ROOM = (0, 4, 12, 40, 100, 300, 700)  # kB that are left
DISK = 24 << 10  # kB
LINE = "fluid18/fit_a_line"
SERVERS = ["--trainers", "2", "--mode", "pserver", "--pservers", "2"]
FULL = "No space left on device"
DONE, NO, FAILED = 0, 1, 4


class Disk:
    def __init__(self, tools, corpus, work):
        self.tool, self.case, self.work = os.path.join(tools, "dtranspile"), os.path.join(corpus, LINE), work
        self.place = os.path.join(work, "disk")
        self.failures = 0
        os.mkdir(self.place)

    def mount(self):
        words = ["mount", "-t", "tmpfs", "-o", "size=%dk" % DISK, "none", self.place]
        return subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0

    def unmount(self):
        subprocess.run(["umount", "-l", self.place])

    def at(self, name):
        return os.path.join(self.work, name)

    def call(self, words, output=None):
        temporary = dict(os.environ, TMPDIR=self.work)
        out = open(output, "wb") if output else subprocess.PIPE
        done = subprocess.run([self.tool, *words], stdout=out, stderr=subprocess.PIPE, timeout=120, env=temporary)
        said = done.stderr.decode() + (done.stdout or b"").decode()
        return done.returncode, said

    def data(self):
        return ["--feeds", os.path.join(self.case, "feeds"), "--init", os.path.join(self.case, "init")]

    def writers(self):
        """Name -> words that write to the path, its exit codes, whether a shell writes it in place."""
        main, startup = (os.path.join(self.case, name + ".pdmodel") for name in ("main", "startup"))
        transpile = ["transpile", main, "--startup", startup]
        jobs = {"job": ["--trainers", "2"], "job4": ["--trainers", "4"], "servers": SERVERS}
        for name, words in jobs.items():
            if not os.path.isdir(self.at(name)):
                code, said = self.call([*transpile, "-o", self.at(name), *words])
                assert code == DONE, said
        run = ["run", self.at("job"), *self.data()]
        served = ["run", self.at("servers"), *self.data()]
        cache = ["--cache", self.at("cache")]
        loss = ["--fetch", "mean_0.tmp_0"]
        return {
            "transpile": lambda to, turn: ([*transpile, "-o", to, "--force", "--trainers", str(2 + 2 * turn)], (NO,)),
            "export": lambda to, turn: (["export", self.at("job4" if turn else "job"), "-o", to], (NO,)),
            "compile": lambda to, turn: (["compile", self.at("job4" if turn else "job"), "--feeds", os.path.join(self.case, "feeds"), "-o", to, *cache], (NO,)),
            "save": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--save", to], (NO, FAILED)),
            "save-pickle": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--save", to + "/w.pdparams"], (NO, FAILED)),
            "save-combined": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--save", to + "/w.pdiparams"], (NO, FAILED)),
            "save-servers": lambda to, turn: ([*served, *cache, "--steps", str(1 + turn), "--save", to], (NO, FAILED)),
            "save-fetches": lambda to, turn: ([*run, *cache, *loss, "--steps", str(1 + turn), "--save-fetches", to], (NO, FAILED)),
            "trace": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--trace", to], (NO, FAILED)),
            "report": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--report", to + "/report.json"], (NO, FAILED)),
            "checkpoint": lambda to, turn: ([*run, *cache, "--steps", str(1 + turn), "--checkpoint-dir", to, "--checkpoint-every", str(1 + turn), "--checkpoint-keep", "1"], (NO, FAILED)),
            "checkpoint-servers": lambda to, turn: ([*served, *cache, "--steps", str(1 + turn), "--checkpoint-dir", to, "--checkpoint-every", str(1 + turn), "--checkpoint-keep", "1"], (NO, FAILED)),
            "convert": lambda to, turn: (["convert", main if turn else startup, "-o", to + "/program.mlir"], (NO,)),
            "cache": lambda to, turn: ([*run, "--cache", to, "--steps", "1"], ()),
        }

    def expect(self, what, good, detail=""):
        if not good:
            self.failures += 1
        if not good or detail == "":
            print(("ok: " if good else "FAILED: ") + what + ("" if good else "\n" + detail), flush=True)

    def fill(self, room):
        """A file that leaves so many kB."""
        info = os.statvfs(self.place)
        free = info.f_bavail * info.f_frsize - (room << 10)
        if free < 0:
            return
        with open(os.path.join(self.place, "filler"), "wb") as f:
            os.posix_fallocate(f.fileno(), 0, max(free, 1))

    def empty(self):
        for name in os.listdir(self.place):
            path = os.path.join(self.place, name)
            shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)

    def states(self, writer, to):
        """What is there after the old one, and after the new one in its place."""
        states = []
        for turn in (0, 1):
            code, said = self.call(writer(to, turn)[0])
            if code != DONE:
                return None, said
            states.append(tree(to))
        return states, ""

    def one(self, name, writer):
        to = os.path.join(self.place, "to")
        files = name in ("save-pickle", "save-combined", "report", "convert")
        seen = set()
        for old in ("nothing", "old"):
            for room in ROOM:
                self.empty()
                if files:
                    os.mkdir(to)
                before = tree(to)
                if old == "old":
                    # A plan and an export take the place of nothing that is there, or of equals.
                    if name == "export":
                        continue
                    code, said = self.call(writer(to, 0)[0])
                    if code != DONE:
                        return self.expect("%s works" % name, False, said)
                    before = tree(to)
                self.fill(room)
                words, codes = writer(to, 1)
                code, said = self.call(words)
                after = tree(to)
                what = "%s with %d kB over %s" % (name, room, old)
                os.remove(os.path.join(self.place, "filler")) if os.path.exists(os.path.join(self.place, "filler")) else None
                left = [n for n in os.listdir(self.place) if n != "to" and ("unpublished" not in n or n not in said)]
                seen.add(code)
                problems = []
                if code != DONE and code not in codes:
                    problems.append("exit status %d" % code)
                if code != DONE and FULL not in said:
                    problems.append("does not say why")
                if code != DONE and after != before and name not in ("cache",):
                    hidden = {n: b for n, b in after.items() if not n.startswith(".dtranspile-unfinished-")}
                    if hidden != before:
                        problems.append("changed: %s, not %s" % (sorted(after), sorted(before)))
                if "Assertion" in said or "internal error" in said or "signal" in said:
                    problems.append("an internal error")
                if left:
                    problems.append("left: %s" % left)
                if code == DONE and name != "cache":
                    code2, said2 = self.call(words) if name not in ("export", "transpile", "compile") else (0, "")
                    if code2 != DONE:
                        problems.append("cannot be repeated: %s" % said2)
                self.expect(what, not problems, "%s\n%s\n%s" % (problems, " ".join(words), said) if problems else " ")
        self.expect("%s: exit codes %s" % (name, sorted(seen)), name == "cache" or (seen - {DONE} and DONE in seen), "" if name == "cache" or (seen - {DONE} and DONE in seen) else "one of the kinds was not seen")

    def piped(self):
        """Results that a shell puts into a file."""
        for words in (["show", self.at("job"), "--format", "html"], ["show", self.at("job")], ["verify", self.at("job"), "--format", "json"], ["run", self.at("job"), *self.data(), "--report", "-"]):
            self.empty()
            self.fill(0)
            code, said = self.call(words, output=os.path.join(self.place, "out"))
            self.expect("%s to a full disk" % " ".join(words[:1] + words[2:4]), code == NO and FULL in said and "cannot be written" in said, "" if code == NO and FULL in said and "cannot be written" in said else "exit status %d: %s" % (code, said))


def main(tools, corpus, *names):
    with tempfile.TemporaryDirectory() as work:
        disk = Disk(tools, corpus, work)
        if not disk.mount():
            print("not tried: a full disk (no right to mount one)")
            return
        try:
            writers = disk.writers()
            for name, writer in writers.items():
                if not names or name in names:
                    disk.one(name, writer)
            if not names or "piped" in names:
                disk.piped()
        finally:
            disk.unmount()
        sys.exit(1 if disk.failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
