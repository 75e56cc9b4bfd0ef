"""Changed files of every kind, each through the commands that read it: they end as documented, soon,
in bounded memory, say where and what, and leave nothing.

    campaign.py TOOL_FOLDER CORPUS [--rounds N] [--seed S] [FAMILY...]

CORPUS has fluid18, static26 and pir33 in it. A finding is printed with the command and the changed
file, which is kept in the folder that --keep names.
"""

import argparse
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

import mutants

SECONDS, MEMORY, TEXT = 60, 3 << 30, 200_000
# Address space: kernels, libraries and threads of a run reserve more than they use.
ADDRESSES = 6 << 30
DOCUMENTED = {"run": (0, 1, 2, 4), "verify": (0, 1, 2, 3), "worker": (0, 2, 4)}


class Family:
    """Files of one kind: how they are changed and who reads them.

    commands: function of the folder of a copy of `files`, gives lists of words.
    """

    def __init__(self, files, changes, commands, changed=None):
        self.files, self.changes, self.commands = files, changes, commands
        self.changed = changed or sorted(files)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def tree(folder, below=""):
    found = {}
    for place, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(place, name)
            found[os.path.join(below, os.path.relpath(path, folder))] = read(path)
    return found


class Campaign:
    def __init__(self, tools, corpus, work, keep):
        self.tools, self.corpus, self.work, self.keep = tools, corpus, work, keep
        self.tool = os.path.join(tools, "dtranspile")
        self.findings, self.inputs, self.commands, self.codes = [], 0, 0, {}
        self.unplaced = {}
        self.cache = os.path.join(work, "cache")

    def case(self, name):
        return os.path.join(self.corpus, name)

    def make(self, *words):
        done = subprocess.run([self.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit("cannot prepare: %s\n%s" % (" ".join(words), done.stdout))

    # One input -----------------------------------------------------------------------------------

    def one(self, name, family, seed):
        rng = random.Random("%s %s" % (name, seed))
        place = tempfile.mkdtemp(prefix="in", dir=self.work)
        for file, content in family.files.items():
            path = os.path.join(place, file)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(content)
        victim = rng.choice(family.changed)
        change = rng.choice(family.changes)
        content = change(rng, family.files[victim])
        with open(os.path.join(place, victim), "wb") as f:
            f.write(content)
        self.inputs += 1
        what = "%s %s: %s, %s" % (name, seed, victim, change.__name__)
        found = False
        for words in family.commands(place):
            found |= self.judge(what, place, victim, words)
        if found and self.keep:
            target = os.path.join(self.keep, "%s-%s" % (name, seed))
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(place, target, symlinks=True)
        shutil.rmtree(place, ignore_errors=True)

    def judge(self, what, place, victim, words):
        """Runs one command; true if something is wrong with its end."""
        self.commands += 1
        temporary = tempfile.mkdtemp(prefix="tmp", dir=self.work)
        mark = os.path.basename(temporary)
        environment = dict(os.environ, TMPDIR=temporary, CAMPAIGN=mark, HOME=self.work, XDG_CACHE_HOME=self.cache)
        tool = words[0] if words[0].startswith("/") else None
        words = words if tool else [self.tool, *words]

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

        wrong = []
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            preexec_fn=limit, start_new_session=True, cwd=place,
        )
        try:
            out, err = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            wrong.append("hangs: more than %d s" % SECONDS)
            self.end(process.pid, mark)
            out, err = process.communicate()

        code = process.returncode
        kind = "worker" if tool else words[1]
        self.codes[kind, code] = self.codes.get((kind, code), 0) + 1
        if code not in DOCUMENTED.get(kind, (0, 1, 2)) and not wrong:
            wrong.append("exit status %d" % code)
        odd = [c for c in err if c < 0x20 and c not in b"\n\t" or c == 0x7F]
        if odd:
            wrong.append("control characters %s" % odd[:3])
        if len(err) > TEXT:
            wrong.append("%d bytes of messages" % len(err))
        if b"internal" in err or b"Sanitizer" in err or b"LLVM ERROR" in err or b"PLEASE" in err:
            wrong.append("an internal error")
        if code and not err and not out:
            wrong.append("no message")
        left = os.listdir(temporary)
        if left:
            wrong.append("left in TMPDIR: %s" % left)
        alive = processes(mark)
        if alive:
            wrong.append("left processes %s" % alive)
            self.end(process.pid, mark)
        left = [n for n in os.listdir("/dev/shm") if n.startswith("dtranspile+%d-" % process.pid)]
        if left:
            wrong.append("left shared memory %s" % left)
        for name in os.listdir(place):
            if name.startswith((".dtranspile", "dtranspile-")):
                wrong.append("left %s" % name)
        if code in (1, 2, 4) and code and kind != "diff":
            text = (err + out).decode(errors="replace")
            self.place_of(what, text, place, victim, words)
        shutil.rmtree(temporary, ignore_errors=True)
        if wrong:
            text = err.decode(errors="replace")
            self.findings.append(what)
            print("FINDING %s\n  %s\n  %s\n  %s" % (what, "; ".join(wrong), " ".join(words), text[:1500]), flush=True)
        return bool(wrong)

    def place_of(self, what, text, place, victim, words):
        """Messages that name neither the file nor anything in it are counted, by their form."""
        first = next((l for l in text.splitlines() if "error" in l or "refuted" in l), text[:200])
        base = os.path.basename(victim)
        if base in first or place in first:
            return
        form = re.sub(r"[0-9]+", "N", re.sub(r"'[^']*'", "'…'", first))[:160]
        if form not in self.unplaced:
            self.unplaced[form] = (what, " ".join(w.replace(place, "P") for w in words[1:5]), first[:300])

    @staticmethod
    def end(pid, mark):
        for one in [pid] + processes(mark):
            try:
                os.kill(one, 9)
            except OSError:
                pass


def processes(mark):
    """Processes that have CAMPAIGN=mark in their environment."""
    found = []
    text = b"CAMPAIGN=" + mark.encode() + b"\0"
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if text in read("/proc/%s/environ" % name) + b"\0" and b"Z" not in read("/proc/%s/stat" % name).split(b")")[-1].split()[0]:
                    found.append(int(name))
            except OSError:
                pass
    return found


def main():
    import families  # which imports this

    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpus")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--keep", default="")
    parser.add_argument("families", nargs="*")
    given = parser.parse_intermixed_args()
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="campaign") as work:
        campaign = Campaign(os.path.abspath(given.tools), os.path.abspath(given.corpus), work, given.keep)
        for name, make in families.FAMILIES.items():
            if given.families and name not in given.families:
                continue
            family = make(campaign)
            start, before = time.monotonic(), campaign.inputs

            def guarded(seed):
                if time.monotonic() - start < given.seconds:
                    try:
                        campaign.one(name, family, seed)
                    except Exception as error:  # a fault of the campaign itself
                        print("CAMPAIGN FAULT %s %s: %r" % (name, seed, error), flush=True)

            seeds = range(given.seed * 1_000_000, given.seed * 1_000_000 + given.rounds)
            with ThreadPoolExecutor(given.threads) as pool:
                list(pool.map(guarded, seeds))
            print("%s: %d inputs, %.0f s" % (name, campaign.inputs - before, time.monotonic() - start), flush=True)
        print("codes %s" % sorted(campaign.codes.items()))
        for form, (what, words, first) in campaign.unplaced.items():
            print("NO PLACE %s\n   %s\n   %s" % (what, words, first))
        print("%d inputs, %d commands, %d findings, %.0f s" % (campaign.inputs, campaign.commands, len(campaign.findings), time.monotonic() - begin))
    return 1 if campaign.findings else 0


if __name__ == "__main__":
    sys.exit(main())
