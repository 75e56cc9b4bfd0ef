"""What a run reports: values of a variable over ranks, persistables in every format, places that are no
file.

reports.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import subprocess

from check import losses_of, main


def report(check):
    words = [
        "run",
        check.program("main.pdmodel"),
        "--startup",
        check.program("startup.pdmodel"),
        "--feeds",
        check.program("feeds"),
        "--report",
        check.path("s.json"),
        "--save-fetches",
        check.path("f"),
    ]
    check.expect_exit("the start-up program initialises", 0, words)
    with open(check.path("s.json")) as f:
        content = json.load(f)
    with open(check.program("golden.json")) as f:
        golden = json.load(f)
    losses = [x[0] if isinstance(x, list) else x for x in content["fetch"]["mean_0.tmp_0"]]
    check.expect(
        "with the framework's own generators",
        all(abs(a - b) <= 1e-5 + 1e-4 * abs(b) for a, b in zip(losses, golden["mean_0.tmp_0"])),
        str(losses),
    )
    check.expect(
        "the report has its fields",
        all(k in content for k in ("digest", "ok", "steps", "fetch", "ranks", "error")),
        str(list(content)),
    )
    # What a run leaves is what the next one starts from, in each of the framework's formats.
    half = words[:6] + ["--steps", "4"]
    for name in ("end", "end.pdparams", "end.pdiparams"):
        check.expect_exit("persistables to " + name, 0, half + ["--save", check.path(name)])
        check.expect_exit(
            "and from there",
            0,
            [
                "run",
                check.program("main.pdmodel"),
                "--feeds",
                check.program("feeds"),
                "--init",
                check.path(name),
                "--report",
                check.path(name + ".json"),
                "--steps",
                "2",
            ],
        )
    check.expect(
        "optimizer state stands beside the parameters", os.path.exists(check.path("end.pdopt"))
    )
    results = []
    for name in ("end", "end.pdparams", "end.pdiparams"):
        with open(check.path(name + ".json")) as f:
            results.append(json.load(f)["fetch"])
    check.expect(
        "all three say the same",
        results[0] == results[1] == results[2]
        and results[0]["mean_0.tmp_0"][0] != content["fetch"]["mean_0.tmp_0"][0],
        str(results),
    )
    check.expect_exit(
        "--save FILE.pdopt", 1, half + ["--save", check.path("x.pdopt")], "name the .pdparams"
    )
    check.expect_exit(
        "--save where a file is", 1, half + ["--save", check.path("s.json")], "s.json"
    )
    # A disk that is full when the values are written.
    os.mkdir(check.path("small"))
    mounted = (
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4k", "none", check.path("small")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ).returncode
        == 0
    )
    if mounted:
        try:
            before = sorted(os.listdir(check.path("small")))
            check.expect_exit(
                "--save on a disk that is full",
                4,
                half + ["--save", check.path("small/end")],
                "No space left",
            )
            check.expect(
                "nothing is left there",
                sorted(os.listdir(check.path("small"))) == before,
                str(os.listdir(check.path("small"))),
            )
        finally:
            subprocess.run(["umount", check.path("small")])
    else:
        print("not tried: a disk that is full (no right to mount one)")
    check.expect("fetches are saved", os.path.exists(check.path("f/mean_0.tmp_0.npy")))


def reports_of_ranks(check):
    """What ranks have of a variable becomes what one device has of it: the mean of means, the sum of sums, parts in a row, the common value."""
    data = ["--feeds", check.program("feeds"), "--init", check.program("init"), "--steps", "3"]
    check.expect_exit(
        "convert to text", 0, ["convert", check.program("main.pdmodel"), check.path("sum.mlir")]
    )
    with open(check.path("sum.mlir")) as f:
        text = f.read()
    summed = re.sub(
        r"pd\.mean(_grad)? (.*?)\{(.*)\} with \{order = [^}]*\} :",
        r"pd.reduce_sum\1 \2{dim = array<i32: 0, 1>, keep_dim = false, reduce_all = true, \3} :",
        text,
    )
    check.expect("the loss is a sum now", summed.count("pd.reduce_sum") == 2, summed)
    with open(check.path("sum.mlir"), "w") as f:
        f.write(summed)
    check.expect_exit(
        "and back to a program", 0, ["convert", check.path("sum.mlir"), check.path("sum.pdmodel")]
    )
    for name, program, rate in (
        ("mean", check.program("main.pdmodel"), []),
        ("sum", check.path("sum.pdmodel"), ["--per-step", "learning_rate_0=1e-4,1e-4,1e-4"]),
    ):
        words = [
            "transpile",
            program,
            "--startup",
            check.program("startup.pdmodel"),
            "-o",
            check.path("loss_" + name),
            "--mode",
            "collective",
            "--trainers",
            "4",
        ]
        check.expect_exit("a job whose loss is a " + name, 0, words)
        for fetch in ("mean_0.tmp_0", "fc_0.tmp_1", "fc_0.w_0@GRAD", "fc_0.w_0", "learning_rate_0"):
            one, four = losses_of(check, fetch, [program] + data + rate), losses_of(
                check, fetch, [check.path("loss_" + name)] + data + rate
            )
            near = len(one) == len(four) == 3 and all(len(a) == len(b) for a, b in zip(one, four))
            near = near and all(
                abs(x - y) <= 1e-5 + 1e-4 * abs(x) for a, b in zip(one, four) for x, y in zip(a, b)
            )
            check.expect(
                "%s of a job whose loss is a %s" % (fetch, name), near, "%s\n%s" % (one, four)
            )


def reports_in_place(check):
    """What --report names and is no file stays what it is; what cannot be written is said before the training."""
    run = [
        "run",
        check.program("main.pdmodel"),
        "--feeds",
        check.program("feeds"),
        "--init",
        check.program("init"),
        "--report",
    ]
    os.symlink(check.path("target.json"), check.path("link.json"))
    for what in ("a link to a new file", "a link to a file"):
        check.expect_exit("--report to " + what, 0, run + [check.path("link.json")])
        with open(check.path("target.json")) as f:
            check.expect(
                what + " is followed",
                os.path.islink(check.path("link.json")) and json.load(f)["ok"],
            )
    os.mkfifo(check.path("pipe"))
    reader = subprocess.Popen(["cat", check.path("pipe")], stdout=subprocess.PIPE)
    check.expect_exit("--report to a pipe", 0, run + [check.path("pipe")])
    text = reader.communicate(timeout=60)[0]
    check.expect(
        "a reader of the pipe gets it",
        json.loads(text)["ok"] and not os.path.isfile(check.path("pipe")),
        str(text),
    )
    os.mkdir(check.path("folder.json"))
    for path, named in (
        (check.path("no/report.json"), check.path("no")),
        (check.path("folder.json"), check.path("folder.json")),
    ):
        check.expect_exit(
            "--report to %s is refused" % path,
            1,
            run + [path, "--save", check.path("saved_in_vain")],
            "--report " + named + ": ",
        )
    check.expect("before anything is done", not os.path.exists(check.path("saved_in_vain")))


if __name__ == "__main__":
    main((report, reports_of_ranks, reports_in_place))
