"""Random numbers of ranks, and of a run that goes on from a checkpoint.

draws.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import struct

from check import main


def repeat_half(source, target):
    """A feed of which both halves of each batch are the first one."""
    with open(source, "rb") as f:
        content = f.read()
    size = 10 + struct.unpack("<H", content[8:10])[0]
    shape = [
        int(x)
        for x in re.search(r"'shape': \(([^)]*)\)", content[10:size].decode()).group(1).split(",")
        if x.strip()
    ]
    step = (len(content) - size) // shape[0]
    with open(target, "wb") as out:
        out.write(content[:size])
        for i in range(shape[0]):
            out.write(content[size + i * step : size + i * step + step // 2] * 2)


def random_streams(check):
    """Ranks that hold different samples draw different masks, with and without a seed of the op; the rest of the program is the same on both."""
    case = os.path.join(check.corpus, "static26", "mlp_dropout")
    os.mkdir(check.path("halves"))
    for name in ("image.npy", "label.npy"):
        repeat_half(os.path.join(case, "feeds", name), os.path.join(check.path("halves"), name))
    check.expect_exit(
        "a program with dropout as text",
        0,
        ["convert", os.path.join(case, "main.pdmodel"), check.path("dropout.pdtxt")],
    )
    with open(check.path("dropout.pdtxt")) as f:
        text = f.read()
    free = re.sub(r'(name: "fix_seed"\s+type: 6\s+b: )true', r"\1false", text)
    without = re.sub(r'(name: "dropout_prob"\s+type: 1\s+f: )[0-9.e-]+', r"\g<1>0", text)
    check.expect("the program has seeds and probabilities", free != text and without != text)
    for name, program, differ in (
        ("free", free, True),
        ("seeded", text, True),
        ("without", without, False),
    ):
        path = check.path("dropout_%s.pdtxt" % name)
        with open(path, "w") as f:
            f.write(program)
        job, file = check.path("dropout_" + name), check.path("dropout.json")
        check.expect_exit(
            "a job with dropout, " + name,
            0,
            [
                "transpile",
                path,
                "--startup",
                os.path.join(case, "startup.pdmodel"),
                "-o",
                job,
                "--mode",
                "collective",
                "--trainers",
                "2",
            ],
        )
        losses = []
        for seed in ("1", "1", "2"):
            done = check.call(
                "run",
                job,
                "--feeds",
                check.path("halves"),
                "--init",
                os.path.join(case, "init"),
                "--steps",
                "2",
                "--seed",
                seed,
                "--report",
                file,
            )
            check.expect(
                "it runs with seed " + seed, done.returncode == 0, done.stdout + done.stderr
            )
            with open(file) as f:
                losses.append([rank["fetch"]["mean_0.tmp_0"] for rank in json.load(f)["ranks"]])
        check.expect(
            "%s: ranks draw %s masks" % (name, "different" if differ else "the same"),
            (losses[0][0] != losses[0][1]) == differ,
            str(losses),
        )
        check.expect(
            name + ": the same seed gives the same run", losses[0] == losses[1], str(losses)
        )
        check.expect(
            name + ": another seed of the run counts where the op has none",
            (losses[0] != losses[2]) == (name == "free"),
            str(losses),
        )


def steps_from(source, target, first):
    """The steps of a feed from one on."""
    with open(source, "rb") as f:
        content = f.read()
    size = 10 + struct.unpack("<H", content[8:10])[0]
    header = content[10:size].decode()
    steps = int(re.search(r"'shape': \((\d+),", header).group(1))
    left = header.replace("'shape': (%d," % steps, "'shape': (%d," % (steps - first))
    step = (len(content) - size) // steps
    with open(target, "wb") as out:
        out.write(content[:10] + left.rstrip().ljust(size - 11).encode() + b"\n")
        out.write(content[size + first * step :])


def random_numbers_go_on(check):
    """A run in two parts, with a checkpoint between them, draws what the whole run draws."""
    case = os.path.join(check.corpus, "static26", "mlp_dropout")
    os.mkdir(check.path("rest"))
    for name in ("image.npy", "label.npy"):
        steps_from(os.path.join(case, "feeds", name), os.path.join(check.path("rest"), name), 2)
    check.expect_exit(
        "a program with dropout as text",
        0,
        ["convert", os.path.join(case, "main.pdmodel"), check.path("resumed.pdtxt")],
    )
    with open(check.path("resumed.pdtxt")) as f:
        text = f.read()
    with open(check.path("resumed.pdtxt"), "w") as f:
        f.write(re.sub(r'(name: "fix_seed"\s+type: 6\s+b: )true', r"\1false", text))

    def losses(what, init, *flags):
        done = check.call(
            "run",
            check.path("resumed.pdtxt"),
            *flags,
            "--init",
            init,
            "--seed",
            "3",
            "--report",
            check.path("resumed.json"),
        )
        check.expect(what, done.returncode == 0, done.stdout + done.stderr)
        with open(check.path("resumed.json")) as f:
            return json.load(f)["ranks"][0]["fetch"]["mean_0.tmp_0"]

    init, feeds, half = os.path.join(case, "init"), os.path.join(case, "feeds"), check.path("half")
    whole = losses("four steps", init, "--feeds", feeds, "--steps", "4")
    first = losses("two steps", init, "--feeds", feeds, "--steps", "2", "--save", half)
    rest = ("--feeds", check.path("rest"), "--steps", "2")
    second = losses("two more steps", half, *rest, "--first-step", "2")
    check.expect(
        "they are those of the whole run", first + second == whole, str((first, second, whole))
    )
    anew = losses("two more steps, as if none had been", half, *rest)
    check.expect(
        "without --first-step they draw what the first steps drew", anew != second, str(anew)
    )
    check.expect_exit(
        "a step before the first",
        2,
        ["run", check.path("resumed.pdtxt"), "--feeds", feeds, "--first-step", "-1"],
        "--first-step",
    )


if __name__ == "__main__":
    main((random_streams, random_numbers_go_on))
