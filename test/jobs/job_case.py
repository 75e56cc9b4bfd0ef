"""A job in text (README.md): verified, run with the losses and parameters of the single-device program, exported
where the framework has the operators, and every mutant refuted.

    job_case.py TOOL_FOLDER CORPUS JOB.mlir CASE [runs=N] [export] [variant:OLD=>NEW[;;OLD=>NEW…]]

CASE is the saved program whose recorded losses count. `runs`: a step of the case is N runs of the job, each on an Nth
of the batch; the loss of the step is their mean. `variant`: the job once more with texts replaced.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import train_case  # noqa: E402
from train_case import call, compare_losses, compare_parameters, fail, scalar  # noqa: E402

REFUTED = 1


def read_mutants(path):
    """[(name, [context], old, new)]"""
    mutants, name, context, old = [], None, [], None
    with open(path) as f:
        for number, line in enumerate(f.read().split("\n"), 1):
            kind, text = line[:1], line[2:]
            if kind == "#":
                name, context, old = text, [], None
            elif kind == "@":
                context.append(text)
            elif kind == "-":
                old = text
            elif kind == "+":
                mutants.append((name, context, old, text))
            elif line:
                fail("%s:%d: expected #, @, - or +" % (path, number))
    return mutants


def mutate(text, context, old, new):
    """The first `old` after all of `context`, replaced; None where it is not there."""
    at = 0
    for part in context:
        at = text.find(part, at)
        if at < 0:
            return None
        at += len(part)
    at = text.find(old, at)
    return None if at < 0 else text[:at] + new + text[at + len(old) :]


def check_mutants(tool, job, work):
    with open(job) as f:
        text = f.read()
    mutants = read_mutants(job[: -len(".mlir")] + ".mutants")
    if len(mutants) < 8:
        fail("%s has %d mutants, at least 8 are asked for" % (job, len(mutants)))
    wrong = []
    for i, (name, context, old, new) in enumerate(mutants):
        changed = mutate(text, context, old, new)
        if changed is None:
            fail("mutant '%s': its text is not in the job" % name)
        path = os.path.join(work, "mutant%d.mlir" % i)
        with open(path, "w") as f:
            f.write(changed)
        done = subprocess.run(
            [tool, "verify", path],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=train_case.LIMIT_SECONDS,
        )
        if "[unreadable]" in done.stdout and not re.search(r"\bD\d+: ", done.stdout):
            fail("mutant '%s' is no text of a job:\n%s" % (name, done.stdout))
        if done.returncode != REFUTED:
            wrong.append("'%s' ends with %d:\n%s" % (name, done.returncode, done.stdout))
    if wrong:
        fail("%d of %d mutants are not refuted:\n%s" % (len(wrong), len(mutants), "\n".join(wrong)))
    return len(mutants)


def split_feed(source, target, runs):
    """[steps, batch, …] as [steps * runs, batch / runs, …]: the bytes stay."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:start].decode().strip())  # of our own corpus
    steps, batch = header["shape"][:2]
    if batch % runs:
        fail("%s: a batch of %d in %d runs" % (source, batch, runs))
    header["shape"] = (steps * runs, batch // runs) + header["shape"][2:]
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(text)) + text.encode() + data[start:])


def prepare_feeds(folder, runs, work):
    feeds = os.path.join(folder, "feeds")
    if runs == 1:
        return feeds
    split = os.path.join(work, "feeds")
    if os.path.isdir(split):
        return split
    os.makedirs(split)
    for name in os.listdir(feeds):
        split_feed(os.path.join(feeds, name), os.path.join(split, name), runs)
    return split


def check_run(tool, job, what, folder, runs, work, *more):
    with open(os.path.join(folder, "case.json")) as f:
        loss = json.load(f)["loss"]
    with open(os.path.join(folder, "golden.json")) as f:
        golden = json.load(f)[loss]
    saved, report = (os.path.join(work, what + ending) for ending in (".saved", ".json"))
    words = [tool, "run", job, "--feeds", prepare_feeds(folder, runs, work)]
    words += ["--init", os.path.join(folder, "init"), "--report", report, "--save", saved]
    call(*words, "--cache", os.path.join(work, "cache"), *more)
    with open(report) as f:
        found = json.load(f)["fetch"][loss]
    values = [scalar(value) for value in found]
    means = [sum(values[i : i + runs]) / runs for i in range(0, len(values), runs)]
    worst = compare_losses(what, means, golden)
    # What is saved of a widened job are records of float64, which the corpus has none of.
    count = 0 if more else compare_parameters(what, saved, os.path.join(folder, "after"), {})
    print("%s: largest difference of a loss %.2e, %d parameters as recorded" % (what, worst, count))


def main(tools, corpus, job, case, *options):
    tool = os.path.join(tools, "dtranspile")
    job = os.path.join(os.path.dirname(os.path.abspath(__file__)), job)
    name = os.path.basename(job)[: -len(".mlir")]
    folder = os.path.join(corpus, case)
    runs, jobs = 1, [(name, job)]
    with tempfile.TemporaryDirectory() as work:
        for option in options:
            if option.startswith("runs="):
                runs = int(option[5:])
            elif option.startswith("variant:"):
                with open(job) as f:
                    text = f.read()
                for change in option[8:].split(";;"):
                    old, new = change.split("=>")
                    if old not in text:
                        fail("%s: '%s' is not in the job" % (option, old))
                    text = text.replace(old, new)
                path = os.path.join(work, "%s.variant%d.mlir" % (name, len(jobs)))
                with open(path, "w") as f:
                    f.write(text)
                jobs.append((name + ", " + new, path))
        for what, path in jobs:
            print(call(tool, "verify", path).strip().split("\n")[-1])
            check_run(tool, path, what.replace(", ", "."), folder, runs, work)
        check_run(tool, job, name + ".float64", folder, runs, work, "--float64")
        if "export" in options:
            call(tool, "export", job, "-o", os.path.join(work, "exported"))
        print("%s: %d mutants, all refuted" % (name, check_mutants(tool, job, work)))


if __name__ == "__main__":
    main(*sys.argv[1:])
