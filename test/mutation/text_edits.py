"""How many wrong jobs `verify` accepts of those that are made by editing the text of a right one,
line by line, without tools/dtranspile-mutate and its table: jobs are made in the ways of run.py,
their text is edited in ways (EDITS) that know the syntax of a module, and what stands
twice in it, but not what it means. What is accepted is run beside its original as run.py
does; what does not compute the same is a hole.

    text_edits.py TOOLS CORPUS --jobs CASE@WAY ... [--seed N] [--count K] [--edits NAME ...]
                  [--workers W] [--least RECALL] [--holes N] [--keep DIR] [--verbose]

CORPUS is a folder of programs, or several with colons between them. Prints a line per hole, and a
row per edit: made (texts that are read), refuted, unknown, equivalent, open (the right job races),
holes; *caught* are holes that rung 5 refutes, which the other rungs accept. Ends with 1 where a
right job is not verified, where recall is below --least, or with more holes than --holes.
"""

import argparse
import collections
import concurrent.futures
import hashlib
import os
import random
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import run  # noqa: E402
from editors import EDITS, Editor  # noqa: E402
from texts import Text, indent  # noqa: E402
from ways import OPTIONS, STAGES  # noqa: E402


def flags_of(way):
    return OPTIONS.get(way) or STAGES[way]


class Jobs:
    def __init__(self, flags, work):
        self.flags, self.work = flags, work
        self.tool = shutil.which("dtranspile", path=flags.tools) or os.path.join(
            flags.tools, "dtranspile"
        )
        self.made = {}

    def make(self, case, way):
        if (case, way) in self.made:
            return self.made[case, way]
        folder = next(
            f
            for f in (os.path.join(c, case) for c in self.flags.corpus.split(":"))
            if os.path.exists(f)
        )
        ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
        more = flags_of(way)
        names = ("rank0", "rank.startup") if "--input-parallel" in more else ("main", "startup")
        program, startup = (os.path.join(folder, name + ending) for name in names)
        job = os.path.join(self.work, "%s@%s" % (case.replace("/", "_"), way))
        words = [self.tool, "transpile", program, "--startup", startup, "-o", job] + more
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text = None
        if done.returncode == 0:
            text = subprocess.run(
                [self.tool, "show", job, "--format", "mlir"], stdout=subprocess.PIPE, text=True
            ).stdout
            with open(job + ".mlir", "w") as f:
                f.write(text)
        else:
            print("%s@%s: not made: %s" % (case, way, done.stdout.strip().splitlines()[-1]))
        self.made[case, way] = (folder, job, Text(text) if text else None)
        return self.made[case, way]

    def verify(self, path, more):
        words = ["nice", "-n", "5", self.tool, "verify", path] + more
        try:
            done = subprocess.run(
                words,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=120,
                errors="replace",
            )
        except subprocess.TimeoutExpired:
            return "crashed", "no answer within 120 s"
        if "[unreadable]" in done.stdout:
            return "structure", done.stdout
        return {0: "verified", 1: "refuted", 3: "unknown"}.get(
            done.returncode, "crashed"
        ), done.stdout


COLUMNS = ["made", "refuted", "unknown", "equivalent", "open", "holes", "caught", "crashed"]


def first_role(lines):
    return next((i for i, line in enumerate(lines) if line.startswith("  dist.role")), 0)


def first_difference(old, new):
    a, b = old, new
    for i, (x, y) in enumerate(zip(a, b)):
        if x != y:
            n = next((k for k, (p, q) in enumerate(zip(x, y)) if p != q), 0)
            return "line %d: …%s… => …%s…" % (
                i + 1,
                x.strip()[max(0, n - indent(x) - 60) :][:130],
                y.strip()[max(0, n - indent(y) - 60) :][:130],
            )
    return "length"


class Measurement:
    def __init__(self, flags, work):
        self.flags, self.work = flags, work
        self.jobs = Jobs(flags, work)
        self.table = collections.OrderedDict((name, collections.Counter()) for name in EDITS)
        self.ways, self.noise, self.rights = set(), 0, 0

    def mutants(self, case, way, text, others):
        seen, found = {hashlib.sha256("\n".join(text.lines).encode()).digest()}, []
        for name in self.flags.edits or EDITS:
            rng = random.Random("%d %s %s %s" % (self.flags.seed, case, way, name))
            made = 0
            # Of texts that are no modules several are made for one that is.
            for _ in range(self.flags.count * 12):
                if made >= self.flags.count * 4:
                    break
                try:
                    lines = getattr(Editor(text, others, rng), name)()
                except (ValueError, IndexError, StopIteration):
                    continue
                if lines is None:
                    continue
                key = hashlib.sha256("\n".join(lines).encode()).digest()
                if key in seen:
                    continue
                seen.add(key)
                path = os.path.join(self.work, "m", "%s-%d.mlir" % (name, made))
                with open(path, "w") as f:
                    f.write("\n".join(lines) + "\n")
                made += 1
                found.append((name, path, lines))
        return found

    def measure(self, case, way, others):
        folder, job, text = self.jobs.make(case, way)
        if text is None:
            return
        self.rights += 1
        right = job + ".mlir"
        verdict, said = self.jobs.verify(job, [])
        if verdict != "verified":
            self.noise += 1
            print("NOISE %s@%s: %s" % (case, way, said.strip()[-300:]))
            return
        self.ways.add(way)
        shutil.rmtree(os.path.join(self.work, "m"), ignore_errors=True)
        os.makedirs(os.path.join(self.work, "m"))
        foreign = [
            t for t in (self.jobs.make(case, other)[2] for other in others if other != way) if t
        ]
        found = self.mutants(case, way, text, foreign)
        accepted, taken = [], collections.Counter()
        with concurrent.futures.ThreadPoolExecutor(self.flags.workers) as pool:
            for (name, path, lines), (verdict, said) in zip(
                found, pool.map(lambda m: self.jobs.verify(m[1], ["--execute=off"]), found)
            ):
                if verdict == "structure":
                    continue
                row = self.table[name]
                if taken[name] >= self.flags.count:
                    continue
                taken[name] += 1
                row["made"] += 1
                if verdict == "verified":
                    accepted.append((name, path, lines))
                else:
                    row[verdict] += 1
                if verdict == "crashed":
                    print(
                        "CRASHED %s@%s %s %s: %s"
                        % (
                            case,
                            way,
                            name,
                            first_difference(text.lines, "\n".join(lines).split("\n")),
                            said.strip()[-300:],
                        )
                    )
                    self.keep(case, way, name, path)
        self.judge(case, way, folder, right, text, accepted)
        print("%s@%s: %d read, %d accepted" % (case, way, sum(taken.values()), len(accepted)))
        sys.stdout.flush()

    def judge(self, case, way, folder, right, text, accepted):
        """What computes the same. Rung 5 answers where it compares all: with the values of the
        reference, without a contract. Else the text is run beside its original."""
        native = original = None
        for name, path, lines in accepted:
            where = "%s@%s %s %s" % (
                case,
                way,
                name,
                first_difference(text.lines, "\n".join(lines).split("\n")),
            )
            said, report = self.jobs.verify(path, [])
            # Of a reference that is wrong alike it says nothing.
            of_role = [x for x in lines[: first_role(lines)]] == text.lines[
                : first_role(text.lines)
            ]
            if (
                of_role
                and said == "verified"
                and "execution: agrees" in report
                and "under contract" not in report
                and "[equal-samples]" not in report
            ):
                self.table[name]["equivalent"] += 1
                if self.flags.verbose:
                    print("agrees " + where)
                continue
            if native is None:
                native = run.Native(self.jobs.tool, folder, self.work)
                try:
                    original = native.original(right, [])
                except RuntimeError as error:
                    print("%s@%s: %s" % (case, way, error))
            # Of other ranks a fetch is another share's; a batch that does not divide is refused.
            other_ranks = [x for x in lines if x.startswith("  dist.mesh")] != [
                x for x in text.lines if x.startswith("  dist.mesh")
            ]
            difference = (
                native.difference(path, original, "mesh-size" if other_ranks else "")
                if original
                else "the right job does not run"
            )
            if other_ranks and "do not divide" in difference:
                difference = ""
            verdict = "holes" if difference else "equivalent"
            if difference and original and not native.repeats(right, original):
                verdict = "open"
            self.table[name][verdict] += 1
            if verdict != "equivalent":
                if verdict == "holes" and said != "verified":
                    self.table[name]["caught"] += 1
                print(
                    "%s%s %s | %s"
                    % (
                        {"holes": "HOLE", "open": "OPEN"}[verdict],
                        "" if said == "verified" else " (rung 5: %s)" % said,
                        where,
                        difference,
                    )
                )
                self.keep(case, way, name, path)
                sys.stdout.flush()
            elif self.flags.verbose:
                print("same " + where)
        shutil.rmtree(os.path.join(self.work, "feeds"), ignore_errors=True)

    def keep(self, case, way, name, path):
        if self.flags.keep:
            shutil.copy(
                path,
                os.path.join(
                    self.flags.keep,
                    "%s@%s-%s" % (case.replace("/", "_"), way, os.path.basename(path)),
                ),
            )

    def report(self):
        total = sum(self.table.values(), collections.Counter())
        print("\n| edit | " + " | ".join(COLUMNS) + " |")
        print("| --- |" + " --- |" * len(COLUMNS))
        for name, row in self.table.items():
            if row["made"]:
                print("| %s | %s |" % (name, " | ".join(str(row[c]) for c in COLUMNS)))
        print("| all | %s |" % " | ".join(str(total[c]) for c in COLUMNS))
        wrong = total["made"] - total["equivalent"] - total["open"]
        caught = total["refuted"] + total["unknown"]
        recall = caught / wrong if wrong else 0.0
        print(
            "\nseed %d: %d jobs in %d ways, %d texts read, %d wrong ones of %d edits, %d not "
            "accepted, recall %.4f; noise %d of %d right jobs"
            % (
                self.flags.seed,
                self.rights,
                len(self.ways),
                total["made"],
                wrong,
                sum(1 for r in self.table.values() if r["made"]),
                caught,
                recall,
                self.noise,
                self.rights,
            )
        )
        return recall, total["holes"] + total["crashed"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpus", help="folders of programs, with colons between them")
    parser.add_argument("--jobs", nargs="+", required=True, help="CASE@WAY")
    parser.add_argument("--edits", nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2, help="texts of every edit and job")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--least", type=float, default=0)
    parser.add_argument("--holes", type=int)
    parser.add_argument("--keep")
    parser.add_argument("--verbose", action="store_true")
    flags = parser.parse_args()
    if flags.keep:
        os.makedirs(flags.keep, exist_ok=True)
    wanted = collections.OrderedDict()
    for job in flags.jobs:
        case, _, way = job.partition("@")
        wanted.setdefault(case, []).append(way)
    with tempfile.TemporaryDirectory() as work:
        measurement = Measurement(flags, work)
        for case, ways in wanted.items():
            for way in ways:
                measurement.measure(case, way, ways)
        recall, holes = measurement.report()
    run.conclude(flags, measurement.noise, recall, holes)


if __name__ == "__main__":
    main()
