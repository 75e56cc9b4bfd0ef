"""Memory and bytes per rank of sharded training, per stage and degree: the table of docs/benchmarks.md, "Sharding".

    python3 bench/sharding/table.py TOOL CORPUS [CASE [RANKS...]]
    python3 bench/sharding/table.py TOOL CORPUS CASE axes        beside stages and split layers

TOOL is the folder of dtranspile (bazel-bin/tools/dtranspile), CORPUS that of the unpacked corpora (test/corpus/*.tar.zst), CASE fluid18/bert_tiny by default, RANKS 2 4.
Every job is transpiled, verified, compiled and run for two steps with real processes. Per rank:

  variables   what lies between steps (parameters, state), as the plan lays it out
  step        memory of a step: activations, gradients, buffers, as the plan lays it out
  ledger      what the manifest of the job says of the variables
  sent        bytes of a step, counted by the runtime; minimum: of the formula in docs/passes/sharding.md, without pad

Beside other axes: variables and step of the rank with most, and of all stages together, which the ledger counts.

Exit status 1 where variables and ledger differ by more than 1 % (and the alignment of variables), or more than 1.02 of the minimum is sent.
"""

import json
import math
import os
import subprocess
import sys
import tempfile

SEGMENT = "0.0625"  # MiB: small nets, small segments
ALIGNMENT = 64  # of a variable
BYTES = {"float16": 2, "float32": 4, "float64": 8, "int32": 4, "int64": 8, "bool": 1}


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        sys.exit("%s\n%s" % (" ".join(words), done.stdout))


def load(*path):
    with open(os.path.join(*path)) as f:
        return json.load(f)


class Bench:
    def __init__(self, tool, corpus, case, work):
        self.tool, self.work = os.path.join(tool, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        self.case = load(self.folder, "case.json")
        self.data = ["--feeds", os.path.join(self.folder, "feeds"), "--init", os.path.join(self.folder, "init")]
        if self.case.get("lr_var"):
            self.data += ["--per-step", self.case["lr_var"] + "=" + ",".join(map(str, self.case["lr_per_step"]))]
        self.data += ["--cache", os.path.join(work, "cache")]

    def job(self, name, ranks, *flags):
        job = os.path.join(self.work, name)
        program = [os.path.join(self.folder, part + ".pdmodel") for part in ("main", "startup")]
        call(self.tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", str(ranks), *flags)
        call(self.tool, "verify", job)
        return job

    def sent(self, job):
        totals = []
        for steps in ("1", "2"):
            report = job + ".json"
            call(self.tool, "run", job, *self.data, "--steps", steps, "--report", report)
            totals.append([rank["bytes_sent"] for rank in load(report)["ranks"]])
        return max(b - a for a, b in zip(*totals))

    def plans(self, job):
        """One per class of ranks."""
        out, plans = job + ".compiled", []
        call(self.tool, "compile", job, "-o", out, *self.data[:2])
        for root, _, names in os.walk(out):
            for name in names:
                if name.endswith(".json"):
                    found = load(root, name)
                    if "arena_bytes" in found:
                        plans.append(found)
        return plans or sys.exit("no plan below " + out)


SPLIT = ["--tensor-parallel", "--tensor-parallel-degree", "2"]
STAGES = ["--pipeline", "--stages", "2", "--accumulate-steps", "4"]
SECOND = ["--sharding", "--sharding-stage", "2"]
BESIDE = [  # what, ranks, flags
    ("pp 2", 2, STAGES),
    ("pp 2 × sharding 2, stage 1", 4, STAGES + ["--sharding"]),
    ("pp 2 × sharding 2, stage 2", 4, STAGES + SECOND),
    ("pp 2 × sharding 4, stage 2", 8, STAGES + SECOND),
    ("mp 2", 2, SPLIT),
    ("sharding 2 × mp 2", 4, SPLIT + ["--sharding"]),
    ("sharding 2 × mp 2, stage 3", 4, SPLIT + ["--sharding", "--sharding-stage", "3"]),
    ("pp 2 × sharding 2 × mp 2, stage 2", 8, STAGES + SPLIT + SECOND),
]


def ledger_of(job):
    manifest = load(job, "manifest.json")
    return sum(manifest["ledger"][0][key] for key in ("parameter_bytes", "state_bytes")), manifest


def beside(bench, case):
    wrong = False
    print("%s\n\n| axes | ranks | variables | of all stages | ledger | step |\n| --- | --- | --- | --- | --- | --- |" % case)
    for number, (what, ranks, flags) in enumerate(BESIDE):
        job = bench.job("beside%d" % number, ranks, *flags)
        plans, (ledger, manifest) = bench.plans(job), ledger_of(job)
        each, steps = ([plan[key] for plan in plans] for key in ("persistent_bytes", "arena_bytes"))
        room = ALIGNMENT * len(manifest["persistables"]) * len(plans)
        wrong |= not 0.99 * ledger <= sum(each) <= 1.01 * ledger + room
        print("| %s | %d | %d | %d | %d | %d |" % (what, ranks, max(each), sum(each), ledger, max(steps)), flush=True)
    return wrong


def main(tool, corpus, case="fluid18/bert_tiny", *counts):
    wrong = False
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(tool, corpus, case, work)
        if counts == ("axes",):
            sys.exit(beside(bench, case))
        print("%s\n\n| ranks | stage | variables | ledger | step | sent | minimum | sent / minimum |" % case)
        print("| --- | --- | --- | --- | --- | --- | --- | --- |")
        for ranks in map(int, counts or ("2", "4")):
            for stage in (0, 1, 2, 3):
                flags = ["--sharding", "--sharding-stage", str(stage), "--segment-broadcast-MB", SEGMENT] if stage else []
                job = bench.job("job%d_%d" % (ranks, stage), ranks, *flags)
                plan, sent = bench.plans(job)[0], bench.sent(job)
                ledger, manifest = ledger_of(job)
                if not stage:
                    parameters = [one for one in manifest["persistables"] if one["parameter"]]
                    trained = sum(BYTES[one["dtype"]] * math.prod(one["dims"]) for one in parameters)
                minimum = (3 if stage == 3 else 2) * trained * (ranks - 1) // ranks
                laid = plan["persistent_bytes"]
                room = ALIGNMENT * len(manifest["persistables"])
                wrong |= not 0.99 * ledger <= laid <= 1.01 * ledger + room or sent > 1.02 * minimum
                row = (ranks, stage or "none", laid, ledger, plan["arena_bytes"], sent, minimum, sent / minimum)
                print("| %d | %s | %d | %d | %d | %d | %d | %.3f |" % row, flush=True)
    sys.exit(wrong)


if __name__ == "__main__":
    main(*sys.argv[1:])
