"""Trains one case with parameter servers, through the command line: transpile, verify, run with a process per trainer
and server. Every loss, and every parameter that the framework recorded, is compared with the framework.

    pserver_case.py TOOL_FOLDER CORPUS CASE JOB...

JOB: TRAINERSxSERVERS, with `s` after it for blocks of 8 elements, then +FIELD=VALUE of the request. `+start`: from the values that start-up draws, compared
with the program on one device. Tolerances are those of train_case.py.
"""

import json
import os
import re
import sys
import tempfile

from train_case import (
    call,
    check_verified,
    compare_losses,
    compare_parameters,
    fail,
    loss_of,
    read_noise,
)


def flags_of(text):
    """(flags of transpile, processes)"""
    size, *fields = text.split("+")
    found = re.fullmatch(r"(\d+)x(\d+)(s?)", size)
    if not found:
        fail("%s: expected TRAINERSxSERVERS" % text)
    trainers, servers, small = found.groups()
    ports = ["127.0.0.1:%d" % (6174 + i) for i in range(int(servers))]
    flags = ["--mode", "pserver", "--trainers", trainers, "--pservers", ",".join(ports)]
    if small:
        flags += ["--min-block-size", "8", "--allow-small-blocks"]
    for field in fields:
        if field == "start":
            continue
        name, value = field.split("=")
        flags += ["--" + name.replace("_", "-")] + ([] if value == "true" else [value])
    return flags, int(trainers) + int(servers)


def programs_of(folder):
    ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
    return [
        os.path.join(folder, "main" + ending),
        "--startup",
        os.path.join(folder, "startup" + ending),
    ]


def read_json(path):
    with open(path) as f:
        return json.load(f)


def main(tools, corpus, case, *jobs):
    tool = os.path.join(tools, "dtranspile")
    folder = os.path.join(corpus, case)
    description = read_json(os.path.join(folder, "case.json"))
    golden = read_json(os.path.join(folder, "golden.json"))[description["loss"]]
    loss = loss_of(description)
    data, init = ["--feeds", os.path.join(folder, "feeds")], ["--init", os.path.join(folder, "init")]
    if description.get("lr_var"):
        rates = ",".join(map(str, description["lr_per_step"]))
        data += ["--per-step", description["lr_var"] + "=" + rates]
    with tempfile.TemporaryDirectory() as work:
        for text in jobs:
            what = "%s, %s" % (case, text)
            flags, processes = flags_of(text)
            job, saved, report = (os.path.join(work, kind + text) for kind in ("job", "saved", "report"))
            call(tool, "transpile", *programs_of(folder), "-o", job, *flags)
            if "recompute" in text:
                check_verified(tool, job)
            else:
                call(tool, "verify", job)
            words = data + ["--cache", os.path.join(work, "cache"), "--report", report]
            expected, start = golden, text.endswith("+start")
            if start:
                call(tool, "run", *programs_of(folder), *words)
                expected = read_json(report)["fetch"][loss]
            call(tool, "run", job, *words, "--save", saved, *([] if start else init))
            found = read_json(report)
            if not found["ok"] or len(found["ranks"]) != processes:
                fail("%s: %s" % (what, found))
            worst = compare_losses(what, found["fetch"][loss], expected)
            after, noise, count = os.path.join(folder, "after"), read_noise(corpus, case), 0
            if os.path.isdir(after) and not start:
                count = compare_parameters(what, saved, after, noise)
            print("%s: largest difference of a loss %.2e, %d parameters as recorded" % (what, worst, count))


if __name__ == "__main__":
    main(*sys.argv[1:])
