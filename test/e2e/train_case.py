"""Trains one case of the corpora through the command line, on one device and as a data-parallel job. Every loss, and every parameter of which the
framework's value after the last step was recorded, is compared with the framework; every parameter of a job with the native run on one device.

    train_case.py TOOL_FOLDER CORPUS CASE RANKS [TRANSPILE FLAG...]

RANKS is a comma-separated list; 1 is the single-device program, which is trained in any case. Losses: 1e-5 + 1e-4 * |loss| (docs/design.md). Parameters: rtol 1e-3 plus the same
absolute term, but for what test/corpus/rounding_noise.txt names. More RANKS than 1 of a case tagged `random` or `batch-dependent` make no sense.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 240


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def call(*words):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, text=True
    )
    if done.returncode != 0:
        fail("exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout))
    return done.stdout


def check_verified(tool, job):
    """verify proves the job, and, where it has one, its reference from the source (rung refinement)."""
    done = subprocess.run(
        [tool, "verify", job, "--format", "json"], stdout=subprocess.PIPE, timeout=LIMIT_SECONDS
    )
    report = json.loads(done.stdout)
    changed = [r for r in report["rungs"] if r["name"] == "refinement"]
    if done.returncode != 0 or any(r["verdict"] != "verified" or not r["conditions"] for r in changed):
        messages = [m for rung in report["rungs"] for m in rung["messages"]]
        fail("verify of %s ends with %d: %s" % (job, done.returncode, messages))


def tree(path):
    """Name -> bytes of all files of a folder; a file by itself has no name."""
    if os.path.isfile(path):
        with open(path, "rb") as f:
            return {"": f.read()}
    found = {}
    for below, _, names in os.walk(path):
        for name in names:
            file = os.path.join(below, name)
            with open(file, "rb") as f:
                found[os.path.relpath(file, path)] = f.read()
    return found


def read_record(path):
    """float32 elements of a tensor file without LoD (dense record of the framework)."""
    with open(path, "rb") as f:
        data = f.read()
    size = struct.unpack_from("<i", data, 16)[0]
    body = data[20 + size :]
    return struct.unpack("<%df" % (len(body) // 4), body)


def read_npy(path):
    with open(path, "rb") as f:
        data = f.read()
    assert data[:6] == b"\x93NUMPY" and b"'<f4'" in data[:128], path
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    return struct.unpack("<%df" % ((len(data) - start) // 4), data[start:])


def scalar(value):
    return value[0] if isinstance(value, list) else value


def loss_of(description):
    """The name that the program has for the loss. Values of PIR have no names: result R of op N is #N.R."""
    for value in description.get("fetch_values", []):
        if value["name"] == description["loss"]:
            return "#%d.%d" % (value["op_index"], value["result"])
    return description["loss"]


def compare_losses(what, found, expected):
    if len(found) != len(expected):
        fail("%s: %d steps, expected %d" % (what, len(found), len(expected)))
    worst = 0.0
    for step, (a, b) in enumerate(zip(found, expected)):
        a, b = scalar(a), scalar(b)
        worst = max(worst, abs(a - b))
        if not abs(a - b) <= 1e-5 + 1e-4 * abs(b):
            fail("%s: loss of step %d is %.9g, the framework has %.9g" % (what, step, a, b))
    return worst


def read_noise(corpus, case):
    """{parameter: set of elements} that are rounding noise; the set of "*" is all of them."""
    noise = {}
    with open(os.path.join(corpus, "rounding_noise.txt")) as f:
        for words in (line.split() for line in f if line.strip() and not line.startswith("#")):
            if words[0] == case:
                noise.setdefault(words[1], set()).add(words[2])
    return noise


def compare_parameters(what, saved, after, noise):
    count = 0
    for root, _, names in os.walk(after):
        for file in names:
            if not file.endswith(".npy"):
                continue
            name = os.path.relpath(os.path.join(root, file), after)[:-4]
            expected = read_npy(os.path.join(root, file))
            found = read_record(os.path.join(saved, name))
            if len(found) != len(expected):
                fail(
                    "%s: %s has %d elements, expected %d" % (what, name, len(found), len(expected))
                )
            excepted = noise.get(name, set())
            for i, (a, b) in enumerate(zip(found, expected)):
                if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                    fail("%s: %s[%d] is %.9g, the framework has %.9g" % (what, name, i, a, b))
            count += 1
    if count == 0:
        fail("%s: the case has no parameters to compare" % what)
    return count


def compare_with_one(what, saved, alone, job, noise, after):
    """All parameters of the job against the run on one device. A flat variable is held by its parts
    (docs/status.md): the framework saves none either, as `after` shows."""
    with open(os.path.join(job, "manifest.json")) as f:
        persistables = json.load(f)["persistables"]
    count = 0
    for variable in persistables:
        name = variable["name"]
        if variable["dtype"] != "float32" or not variable["parameter"]:
            continue
        if os.path.isdir(after) and not os.path.exists(os.path.join(after, name + ".npy")):
            continue
        expected, found = (read_record(os.path.join(path, name)) for path in (alone, saved))
        if len(found) != len(expected):
            fail("%s: %s has %d elements, one device %d" % (what, name, len(found), len(expected)))
        excepted = noise.get(name, set())
        for i, (a, b) in enumerate(zip(found, expected)):
            if not abs(a - b) <= 1e-5 + 1e-3 * abs(b) and not excepted & {"*", str(i)}:
                fail("%s: %s[%d] is %.9g, on one device %.9g" % (what, name, i, a, b))
        count += 1
    if count == 0:
        fail("%s: the job has no parameters to compare" % what)
    return count


def main(tools, corpus, case, ranks, *flags):
    tool = os.path.join(tools, "dtranspile")
    folder = os.path.join(corpus, case)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    with open(os.path.join(folder, "golden.json")) as f:
        golden = json.load(f)
    ending = ".json" if os.path.exists(os.path.join(folder, "main.json")) else ".pdmodel"
    program = [
        os.path.join(folder, "main" + ending),
        "--startup",
        os.path.join(folder, "startup" + ending),
    ]
    loss = loss_of(description)
    data = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
    if description.get("lr_var"):
        data += [
            "--per-step",
            description["lr_var"] + "=" + ",".join(map(str, description["lr_per_step"])),
        ]
    with tempfile.TemporaryDirectory() as work:
        alone = os.path.join(work, "saved1")
        counts = ["1"] + [count for count in ranks.split(",") if count != "1"]
        for count in counts:
            job, what = program[0], "%s on %s rank(s)" % (case, count)
            saved, report = os.path.join(work, "saved" + count), os.path.join(work, count + ".json")
            if count != "1":
                job = os.path.join(work, "job" + count)
                call(
                    tool,
                    "transpile",
                    *program,
                    "-o",
                    job,
                    "--mode",
                    "collective",
                    "--trainers",
                    count,
                    *flags
                )
                call(tool, "verify", job)
            call(
                tool,
                "run",
                job,
                *data,
                "--cache",
                os.path.join(work, "cache"),
                "--report",
                report,
                "--save",
                saved
            )
            with open(report) as f:
                found = json.load(f)
            if not found["ok"] or len(found["ranks"]) != int(count):
                fail("%s: %s" % (what, found))
            worst = compare_losses(what, found["fetch"][loss], golden[description["loss"]])
            noise = read_noise(corpus, case)
            after = os.path.join(folder, "after")
            recorded = compare_parameters(what, saved, after, noise) if os.path.isdir(after) else 0
            if count != "1":
                compare_with_one(what, saved, alone, job, noise, after)
            print(
                "%s: largest difference of a loss %.2e, %d parameters as recorded"
                % (what, worst, recorded)
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
