"""How many wrong jobs `verify` accepts, and how many right ones it does not: jobs are made from programs of the corpora, broken in every way that
tools/dtranspile-mutate knows, and verified. A mutant that is verified is run beside its original, on all ranks, for three steps in float64: where
everything that they compute agrees, to the bit or within 2e-4 of the value, it is counted as equivalent, else it is a hole. Of a mutant that changes
names every value is compared, and the exported programs are.

With --execute rung 5 is asked about every mutant too, whatever the others say of it. A wrong job that is a hole, or unknown, and that execution refutes is counted.

    run.py TOOLS CORPUS [--execute] [--seed N] [--count K] [--jobs CASE@OPTION|CASE@FILE.mlir[:RUNS] ...] [--kinds KIND|GROUP ...] [--least RECALL] [--holes N] [--keep DIR]

A FILE is a job by hand (test/jobs), a step of whose CASE is RUNS runs of it. TOOLS is the folder of dtranspile, beside that of dtranspile-mutate. Prints a line per hole, a table per kind, recall and noise; equal seeds give equal tables. Ends with 1
where a right job is not verified, where recall is below --least, or where there are more holes than --holes.
"""

import argparse
import array
import collections
import filecmp
import json
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))
import job_case  # noqa: E402
from ways import OPTIONS, STAGES  # noqa: E402

STEPS = 3
NEAR = 2e-4
# What a job computes in float64 is known to this much of the largest element of a tensor.
NOISE = 1e-9
LIMIT_SECONDS = 600
# Of a native run: a mutant may loop for ever, or ask for more and more.
LIMIT_BYTES = 4 << 30
LIMIT_CPU_SECONDS = 60

COLUMNS = ["made", "structure", "refuted", "unknown", "equivalent", "open", "holes", "crashed"]
# With --execute, what rung 5 says by itself of mutants that are legal modules.
EXECUTED = ["differs", "agrees", "undecided", "not run"]
ELEMENTS = {"<f2": "e", "<f4": "f", "<f8": "d", "<i4": "i", "<i8": "q", "|b1": "b", "|u1": "B", "|i1": "b"}
# Element types of the framework's records that are compared as numbers.
RECORDS = {5: "f", 6: "d", 2: "i", 3: "q"}


def read_npy(data):
    size = struct.unpack_from("<H", data, 8)[0]
    header = data[10 : 10 + size].decode()
    code = header.split("'descr': '")[1].split("'")[0]
    data = data[10 + size :]
    if ELEMENTS[code] == "e":  # no array is of half precision
        return header, struct.unpack("<%de" % (len(data) // 2), data)
    values = array.array(ELEMENTS[code])
    values.frombytes(data)
    return header, values


def read_record(data):
    """A dense record of the framework without LoD; None for others."""
    if len(data) < 24 or struct.unpack_from("<Iq", data, 0) != (0, 0):
        return None
    size = struct.unpack_from("<i", data, 16)[0]
    if not 0 < size < 64 or data[20] != 8 or data[21] not in RECORDS:
        return None
    values = array.array(RECORDS[data[21]])
    if (len(data) - 20 - size) % values.itemsize:
        return None
    values.frombytes(data[20 + size :])
    return data[20 : 20 + size], values


def agree(first, second):
    """Two files of values, to the bit or within the tolerance."""
    if filecmp.cmp(first, second, shallow=False):
        return True
    with open(first, "rb") as a, open(second, "rb") as b:
        a, b = a.read(), b.read()
    read = read_npy if a[:6] == b"\x93NUMPY" else read_record  # None of an exported program
    a, b = read(a), read(b)
    if not a or not b or a[0] != b[0] or len(a[1]) != len(b[1]):
        return False
    floor = NOISE * max((abs(x) for x in a[1] if x == x), default=0)
    return all(
        x == y or abs(x - y) <= NEAR * max(abs(x), abs(y)) + floor or (x != x and y != y)
        for x, y in zip(a[1], b[1])
    )


# What a mutant of these groups rounds otherwise is what is wrong with it.
ROUNDING = {"precision", "amp", "semantic"}


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT_CPU_SECONDS, LIMIT_CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def files_below(folder):
    return sorted(
        os.path.relpath(os.path.join(root, name), folder)
        for root, _, names in os.walk(folder)
        for name in names
    )


class Native:
    """Runs of one program's jobs: from the values that the corpus has, and from the start-up program of the job."""

    def __init__(self, tool, folder, work, runs=1):
        self.tool, self.folder, self.work = tool, folder, work
        self.init = os.path.join(folder, "init")
        self.steps = STEPS * runs
        self.feeds = job_case.prepare_feeds(folder, runs, work)
        with open(os.path.join(folder, "case.json")) as f:
            self.case = json.load(f)
        self.fetches = self.names()
        self.steady = {}  # by what a right job has computed

    def names(self):
        values = {
            v["name"]: "#%d.%d" % (v["op_index"], v["result"])
            for v in self.case.get("fetch_values", [])
        }
        names = [self.case["loss"]] + self.case.get("fetch", []) + self.case.get("params", [])
        return list(dict.fromkeys(values.get(name, name) for name in names))

    def run(self, job, init, out, fetches):
        shutil.rmtree(out, ignore_errors=True)
        os.makedirs(out)
        words = [self.tool, "run", job, "--feeds", self.feeds]
        words += ["--steps", str(self.steps), "--seed", "1", "--float64", "--timeout", "20"]
        words += ["--cache", os.path.join(self.work, "cache"), "--threads", "1"]
        words += ["--save", os.path.join(out, "saved")]
        words += ["--save-fetches", os.path.join(out, "fetched")]
        if init:
            words += ["--init", self.init]
        if self.case.get("lr_var"):
            rates = ",".join(map(str, self.case["lr_per_step"][:STEPS]))
            words += ["--per-step", self.case["lr_var"] + "=" + rates]
        for name in fetches:
            words += ["--fetch", name]
        done = subprocess.run(
            words,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_SECONDS,
            preexec_fn=limited,
            text=True,
        )
        return done.returncode, done.stdout

    def export(self, job, out):
        return subprocess.run(
            [self.tool, "export", job, "-o", out],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def widened(self, job, mutate, out):
        """The job with single in place of half precision; None where it has none."""
        shutil.rmtree(out, ignore_errors=True)
        subprocess.run([mutate, job, "--widen", "-o", out], check=True)
        return out if os.path.exists(out) else None

    def original(self, job, names, label="right"):
        """What the right job computes, per way to begin, and what it is exported as."""
        right = os.path.join(self.work, label + "%d" % len(names))
        self.steady.pop(right, None)
        shutil.rmtree(right, ignore_errors=True)
        fetches = list(dict.fromkeys(self.fetches + names))
        ways = []
        for way in ("init", "startup"):
            code, text = self.run(job, way == "init", os.path.join(right, way), fetches)
            refused = refusals(text)
            while code != 0 and refused and refused[0] in fetches:
                # Of a kind that the ranks' values are not combined of, or none of the program.
                fetches.remove(refused[0])
                code, text = self.run(job, way == "init", os.path.join(right, way), fetches)
                refused = refusals(text)
            lacking = re.findall("has no value for ([^;\n]+)", text)
            # Masks of pruned weights, say: start-up makes them.
            if way == "init" and lacking and self.add_initial(job, lacking[0].split(", ")):
                code, text = self.run(job, True, os.path.join(right, way), fetches)
            if code == 0:
                ways.append(way)
            elif way == "init" and names:
                return self.original(job, [], label)  # some of them cannot be fetched
            elif way == "init" and ("has no value for" in text or "the program declares" in text):
                continue  # of variables that passes have added, or made half: they begin in start-up
            elif way == "init" or not ways:
                raise RuntimeError("the right job does not run:\n" + text)
        if names:
            done = self.export(job, os.path.join(right, "export"))
            if done.returncode == 0:
                ways.append("export")
        return right, ways, fetches

    def add_initial(self, job, names):
        """Initial values of the case, and those of `names` that a run from start-up ends with; whether there are any."""
        made, given = (os.path.join(self.work, what) for what in ("made", "init"))
        code, _ = self.run(job, False, made, [])
        if code != 0 or not all(os.path.exists(os.path.join(made, "saved", name)) for name in names):
            return False
        shutil.rmtree(given, ignore_errors=True)
        shutil.copytree(os.path.join(self.folder, "init"), given)
        for name in names:
            shutil.copy(os.path.join(made, "saved", name), given)
        self.init = given
        return True

    def repeats(self, job, original):
        """Whether the right job computes the same a second time. Asked once per job."""
        if original[0] not in self.steady:
            self.steady[original[0]] = not self.difference(job, original, "")
        return self.steady[original[0]]

    def difference(self, job, original, kind):
        """Where a mutant differs from its original; empty if nowhere. A rank of another number of ranks fetches what its own share gives: there the
        variables decide. Not seen in exports: a declaration that another role still makes, which is missing in the text of this one's and nowhere else; a
        value under the name of the loss that nobody reads, where a later one has the name too (what the last one is, the fetch of the loss has shown)."""
        right, ways, fetches = original
        out = os.path.join(self.work, "mutant")
        for way in ways:
            if way == "export" and kind in ("declaration-dropped", "loss-shadowed"):
                continue
            if way == "export":
                shutil.rmtree(out, ignore_errors=True)
                done = self.export(job, out)
                code, text = done.returncode, done.stdout
            else:
                code, text = self.run(job, way == "init", out, fetches)
            if code != 0:
                last = text.strip().splitlines()[-1:] or [""]
                return "%s: ends with %d: %s" % (way, code, last[0][:200])
            for name in files_below(os.path.join(right, way)):
                if kind == "mesh-size" and name.startswith("fetched"):
                    continue
                wrong = os.path.join(out, name)
                if not os.path.exists(wrong):
                    return "%s: there is no %s" % (way, name)
                if not agree(os.path.join(right, way, name), wrong):
                    return "%s: %s differs" % (way, name)
        return ""


def refusals(text):
    """Names that a run says it cannot fetch."""
    found = re.findall(r"fetch '([^']+)'|fetch ([^\s':]+): the program has no such variable", text)
    return [quoted or plain for quoted, plain in found]


def executed(tool, job, cache):
    """What rung 5 says of a job: one of EXECUTED, and its first message."""
    words = [tool, "verify", job, "--require", "execution", "--cache", cache, "--format", "json"]
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=LIMIT_SECONDS, text=True
    )
    for rung in json.loads(done.stdout)["rungs"] if done.stdout else []:
        if rung["name"] != "execution":
            continue
        said = [m["text"] for m in rung["messages"] if m["level"] != "note"]
        verdict = {"refuted": "differs", "unknown": "undecided"}.get(
            rung["verdict"], rung["verdict"]
        )
        return verdict, rung["reason"] or (said or [""])[0]
    return "undecided", "exit status %d: %s" % (done.returncode, done.stderr.strip()[-200:])


def mutants(tool, job, seed, count, out, more):
    """What dtranspile-mutate prints, line by line; a mutant at which verification dies ends as `crashed`."""
    first = 0
    while True:
        words = [tool, job, "--seed", str(seed), "--count", str(count), "--first", str(first)]
        done = subprocess.run(
            words + ["--verify", "-o", out] + more,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=LIMIT_SECONDS,
            text=True,
        )
        begun = None
        for line in done.stdout.splitlines():
            entry = json.loads(line)
            if "verdict" in entry:
                begun = None
                yield entry
            else:
                begun = entry
        if done.returncode == 0:
            return
        if begun is None:
            raise RuntimeError("dtranspile-mutate %s: %s" % (job, done.stderr))
        yield dict(begun, verdict="crashed", at="", what=done.stderr.strip()[-200:])
        first = begun["mutant"] + 1


class Measurement:
    def __init__(self, flags, work):
        self.flags, self.work = flags, work
        self.tool = os.path.join(flags.tools, "dtranspile")
        beside = os.path.dirname(os.path.abspath(flags.tools))
        self.mutate = os.path.join(beside, "dtranspile-mutate", "dtranspile-mutate")
        self.table = collections.OrderedDict()
        self.jobs = self.noise = 0
        self.executions = collections.Counter()  # of right jobs
        listed = subprocess.run([self.mutate, "--list"], stdout=subprocess.PIPE, check=True)
        for line in listed.stdout.decode().splitlines():
            row = json.loads(line)
            self.table[row["group"], row["kind"]] = collections.Counter()

    def transpile(self, case, option, job):
        folder = os.path.join(self.flags.corpus, case)
        ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
        flags = OPTIONS.get(option) or STAGES[option]
        names = ("rank0", "rank.startup") if "--input-parallel" in flags else ("main", "startup")
        program, startup = (os.path.join(folder, name + ending) for name in names)
        words = [self.tool, "transpile", program, "--startup", startup, "-o", job]
        words += flags if "--mode" in flags else ["--mode", "collective"] + flags
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def measure(self, case, options):
        folder = os.path.join(self.flags.corpus, case)
        for option in [option for option in options if ".mlir" in option]:
            file, _, runs = option.partition(":")
            native = Native(self.tool, folder, self.work, int(runs or 1))
            self.measure_job(case, os.path.basename(file)[: -len(".mlir")], file, native)
            shutil.rmtree(os.path.join(self.work, "feeds"), ignore_errors=True)
        options = [option for option in options if ".mlir" not in option]
        if not options:
            return
        native = Native(self.tool, folder, self.work)
        seen = []
        for option in options:
            job = os.path.join(self.work, "job_" + option)
            code, text = self.transpile(case, option, job)
            if code != 0:
                print("%s@%s: not made: %s" % (case, option, text.strip().splitlines()[-1]))
                continue
            with open(os.path.join(job, "job.mlirbc"), "rb") as f:
                module = f.read()
            if module not in seen:
                seen.append(module)
                self.measure_job(case, option, job, native)
            shutil.rmtree(job)

    def measure_job(self, case, option, job, native):
        self.jobs += 1
        originals, names = {}, []
        out = os.path.join(self.work, "mutants")
        more = ["--all"] if self.flags.execute else []
        more += ["--kinds"] + self.flags.kinds if self.flags.kinds else []
        for entry in mutants(self.mutate, job, self.flags.seed, self.flags.count, out, more):
            if entry["mutant"] < 0:
                names = entry["names"]
                if self.flags.execute:
                    self.execute_right(case, option, job, native)
                if entry["verdict"] != "verified":
                    self.noise += 1
                    print("NOISE %s@%s: %s" % (case, option, entry))
                continue
            if self.flags.kinds and not {entry["kind"], entry["group"]} & set(self.flags.kinds):
                continue
            if entry["verdict"] == "unchanged":
                continue
            verdict = entry["verdict"]
            where = "%s@%s %s %s: %s" % (case, option, entry["kind"], entry["at"], entry["what"])
            if verdict == "crashed":
                print("CRASHED " + where)
            if verdict == "verified":
                strict = entry["group"] in ("names", "programs")
                if strict not in originals:
                    originals[strict] = native.original(job, names if strict else [])
                difference = native.difference(entry["folder"], originals[strict], entry["kind"])
                if entry["group"] == "request":  # the job is right, and another one than asked for
                    difference = difference or "the manifest asks for something else"
                if difference and entry["group"] not in ROUNDING:
                    difference = self.over_reals(difference, job, entry, native, originals)
                verdict = "holes" if difference else "equivalent"
                # Trainers without rounds race: what one run gives another does not.
                if difference and not native.repeats(job, originals[strict]):
                    verdict = "open"
                if difference or self.flags.verbose:
                    word = {"holes": "HOLE", "open": "OPEN", "equivalent": "same"}[verdict]
                    print("%s %s | %s" % (word, where, difference))
                if verdict == "holes" and self.flags.keep:
                    name = "%s@%s-%s-%d" % (case, option, entry["kind"], entry["mutant"])
                    kept = os.path.join(self.flags.keep, name.replace("/", "_"))
                    shutil.rmtree(kept, ignore_errors=True)
                    shutil.move(entry["folder"], kept)
            row = self.table[entry["group"], entry["kind"]]
            row["made"] += 1
            row[verdict] += 1
            if self.flags.execute and verdict in ("refuted", "unknown", "equivalent", "holes"):
                self.execute_wrong(entry, verdict, row, native, where)
            if "folder" in entry:
                shutil.rmtree(entry["folder"], ignore_errors=True)
        shutil.rmtree(out, ignore_errors=True)
        sys.stdout.flush()

    def over_reals(self, difference, job, entry, native, originals):
        """What is left of a difference where nothing is rounded to half precision: `verify` says
        where a job may round, and nothing of what it rounds (docs/verification.md)."""
        if "reals" not in originals:
            wide = native.widened(job, self.mutate, os.path.join(native.work, "wide"))
            originals["reals"] = wide and native.original(wide, [], "reals")
        wide = originals["reals"] and native.widened(
            entry["folder"], self.mutate, os.path.join(native.work, "wide")
        )
        return native.difference(wide, originals["reals"], entry["kind"]) if wide else difference

    def execute_right(self, case, option, job, native):
        said, text = executed(self.tool, job, os.path.join(native.work, "cache"))
        self.executions[said] += 1
        if said != "agrees":
            print("%s %s@%s: %s" % (said.upper(), case, option, text))

    def execute_wrong(self, entry, verdict, row, native, where):
        said, text = executed(self.tool, entry["folder"], os.path.join(native.work, "cache"))
        row["execution: " + said] += 1
        row[verdict + ", " + said] += 1
        if verdict == "equivalent" and said == "differs":
            print("DIFFERS, EQUIVALENT %s | %s" % (where, text))
        elif self.flags.verbose:
            print("%s %s %s | %s" % (verdict, said, where, text))

    def report_execution(self, total, wrong):
        """What rung 5 adds, and what it finds by itself."""
        found = sum(total[v + ", differs"] for v in ("refuted", "unknown", "holes"))
        print("\n| rungs | wrong jobs | refuted | unknown | accepted | recall |")
        print("| --- | --- | --- | --- | --- | --- |")
        rows = [("1 to 3", total["refuted"], total["unknown"], total["holes"])]
        moved = total["unknown, differs"]
        rows.append(
            (
                "1 to 3 and 5",
                total["refuted"] + moved + total["holes, differs"],
                total["unknown"] - moved,
                total["holes"] - total["holes, differs"],
            )
        )
        for name, refuted, unknown, accepted in rows:
            recall = (refuted + unknown) / wrong if wrong else 0.0
            print("| %s | %d | %d | %d | %d | %.4f |" % (name, wrong, refuted, unknown, accepted, recall))
        print(
            "\nrung 5 by itself: %s; it refutes %d of %d wrong jobs, and %d of %d equivalent ones; of the right jobs: %s"
            % (
                ", ".join("%s %d" % (said, total["execution: " + said]) for said in EXECUTED),
                found,
                wrong,
                total["equivalent, differs"],
                total["equivalent"],
                ", ".join("%s %d" % (said, self.executions[said]) for said in EXECUTED),
            )
        )
    def report(self):
        """Prints the table; the share of wrong jobs that were not accepted."""
        total = sum(self.table.values(), collections.Counter())
        print("\n| group | kind | " + " | ".join(COLUMNS) + " |")
        print("| --- | --- |" + " --- |" * len(COLUMNS))
        for (group, kind), row in self.table.items():
            if row["made"]:
                print("| %s | %s | %s |" % (group, kind, " | ".join(str(row[c]) for c in COLUMNS)))
        print("| all | | %s |" % " | ".join(str(total[c]) for c in COLUMNS))
        wrong = total["made"] - total["structure"] - total["equivalent"] - total["open"]
        caught = total["refuted"] + total["unknown"]
        recall = caught / wrong if wrong else 0.0
        print(
            "\nseed %d: %d jobs, %d wrong ones of %d kinds, %d not accepted, recall %.4f; noise %d of %d right jobs not verified"
            % (
                self.flags.seed,
                self.jobs,
                wrong,
                sum(1 for row in self.table.values() if row["made"]),
                caught,
                recall,
                self.noise,
                self.jobs,
            )
        )
        holes = total["holes"] + total["crashed"]
        if self.flags.execute:
            self.report_execution(total, wrong)
            self.noise += self.executions["differs"]
            recall = (caught + total["holes, differs"]) / wrong if wrong else 0.0
            holes -= total["holes, differs"]
        return recall, holes


def conclude(flags, noise, recall, holes):
    """Ends the process with what a measurement has to say to what its flags demand."""
    failed = []
    if noise:
        failed.append("%d right jobs are not verified" % noise)
    if recall < flags.least:
        failed.append("recall is %.4f, demanded is %.4f" % (recall, flags.least))
    if flags.holes is not None and holes > flags.holes:
        failed.append("%d holes, %d are allowed" % (holes, flags.holes))
    for text in failed:
        print("FAILED: " + text)
    sys.exit(1 if failed else 0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tools")
    parser.add_argument("corpus")
    parser.add_argument("--jobs", nargs="+", required=True, help="CASE or CASE@OPTION")
    parser.add_argument("--kinds", nargs="+", default=[])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1, help="mutants of every kind and job")
    parser.add_argument("--least", type=float, default=0, help="recall that is demanded")
    parser.add_argument("--holes", type=int, help="most holes that are allowed")
    parser.add_argument("--keep", help="folder for the mutants that are holes")
    parser.add_argument("--execute", action="store_true", help="asks rung 5 too")
    parser.add_argument("--verbose", action="store_true", help="names equivalent mutants too")
    flags = parser.parse_args()
    if flags.keep:
        os.makedirs(flags.keep, exist_ok=True)
    wanted = collections.OrderedDict()
    for job in flags.jobs:
        case, _, option = job.partition("@")
        wanted.setdefault(case, []).extend([option] if option else OPTIONS)
    with tempfile.TemporaryDirectory() as work:
        measurement = Measurement(flags, work)
        for case, options in wanted.items():
            measurement.measure(case, options)
        recall, holes = measurement.report()
    conclude(flags, measurement.noise, recall, holes)


if __name__ == "__main__":
    main()
