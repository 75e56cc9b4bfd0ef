"""Input of a run: initial values, feeds, values out of range.

inputs.py TOOL_FOLDER CORPUS
"""

import os
import shutil
import struct

from check import losses_of, main


def inputs_of_a_run(check):
    """What is wrong with the input of a job is said once, before a rank is started, and is no failure of the job."""
    check.expect_exit("a job of four", 0, check.transpile("four", 4))
    data = ["run", check.path("four"), "--feeds", check.program("feeds")]
    run = data + ["--init", check.program("init")]
    check.expect_exit(
        "--init that is not there", 1, data + ["--init", "/nonexistent"], "/nonexistent"
    )
    check.expect_exit(
        "--init of something else",
        1,
        data + ["--init", check.program("main.pdmodel")],
        "not a tensor file",
    )
    check.expect_exit(
        "--init without a parameter",
        1,
        data + ["--init", check.program("feeds")],
        "has no value for",
    )
    check.expect_exit(
        "--per-step of no variable",
        1,
        run + ["--per-step", "nothing=1,2"],
        "'nothing' is no persistable",
    )
    check.expect_exit(
        "--per-step with too few values",
        1,
        run + ["--per-step", "learning_rate_0=0.1"],
        "1 values of 'learning_rate_0'",
    )
    shutil.copytree(check.program("feeds"), check.path("other_type"))
    os.chmod(check.path("other_type"), 0o755)
    with open(check.program("feeds/y.npy"), "rb") as f:
        y = f.read()
    os.remove(check.path("other_type/y.npy"))
    with open(check.path("other_type/y.npy"), "wb") as f:
        f.write(y.replace(b"<f4", b"<i4", 1))
    check.expect_exit(
        "a feed of another type",
        1,
        [
            "run",
            check.path("four"),
            "--feeds",
            check.path("other_type"),
            "--init",
            check.program("init"),
        ],
        "int32",
        "float32",
    )
    check.expect_exit("more threads than a rank may have", 2, run + ["--threads", "100000"], "1024")
    check.expect_exit(
        "a deadline shorter than the signs of life",
        1,
        run + ["--timeout", "0.1"],
        "a deadline of 0.1 s is too short",
    )
    check.expect_exit(
        "a folder for temporary files that is not there",
        1,
        run,
        "TMPDIR=/nonexistent",
        TMPDIR="/nonexistent",
    )


def initial_values(check):
    case = os.path.join(check.corpus, "static26", "mlp_regression")
    run = [
        "run",
        os.path.join(case, "main.pdmodel"),
        "--feeds",
        os.path.join(case, "feeds"),
        "--steps",
        "1",
    ]
    saved = os.path.join(case, "saved", "model.pdparams")
    check.expect_exit("a .pdparams brings the .pdopt beside it", 0, run + ["--init", saved])
    shutil.copy(saved, check.path("alone.pdparams"))
    check.expect_exit(
        "without it the optimizer's state is missing",
        1,
        run + ["--init", check.path("alone.pdparams")],
        "has no value for",
    )
    # A combined file has the variables of the program, also for a job that has got more of them.
    with open(check.path("combined"), "wb") as out:
        for name in sorted(os.listdir(check.program("init"))):
            with open(os.path.join(check.program("init"), name), "rb") as f:
                out.write(f.read())
    check.expect_exit(
        "a job of local SGD", 0, check.transpile("local", 2, "--collective-mode", "local_sgd")
    )
    data = [check.path("local"), "--feeds", check.program("feeds"), "--init"]
    one, two = (
        losses_of(check, "mean_0.tmp_0", data + [init])
        for init in (check.program("init"), check.path("combined"))
    )
    check.expect(
        "a job of local SGD starts from a combined file as from a folder",
        len(one) > 0 and one == two,
        "%s\n%s" % (one, two),
    )
    with open(check.path("bare.mlir"), "w") as f:
        f.write(
            'pd.program @main attributes {version = 2006002 : i64} {\n  %x = pd.input "x" : tensor<?x10xf32>\n'
            '  %y = pd.scale X(%x) -> Out("y") {scale = 2.0 : f32} : (tensor<?x10xf32>) -> tensor<?x10xf32>\n}\n'
        )
    words = [
        "run",
        check.path("bare.mlir"),
        "--feed",
        "x=" + check.program("feeds/x.npy"),
        "--fetch",
        "y",
    ]
    check.expect_exit("a program without persistables needs no initial values", 0, words)


def bad_values(check):
    """A value out of range names op, place in the program and in the user's source, variable, value and bounds."""
    case = os.path.join(check.corpus, "fluid18", "text_lstm")
    feeds = check.path("bad_feeds")
    shutil.copytree(os.path.join(case, "feeds"), feeds)
    words = os.path.join(feeds, "words.step2.npy")
    os.chmod(words, 0o644)
    with open(words, "r+b") as f:
        start = 10 + struct.unpack_from("<H", f.read(10), 8)[0]
        f.seek(start + 8 * 5)
        f.write(struct.pack("<q", 500))
    run = [
        "run",
        os.path.join(case, "main.pdmodel"),
        "--feeds",
        feeds,
        "--init",
        os.path.join(case, "init"),
    ]
    check.expect_exit(
        "a bad value is said with its place",
        4,
        run,
        "lookup_table of `",
        "` (block 0, op 0; gen_fluid.py:",
        "element 5 of 'words' is 500, expected at least 0 and below 500",
    )


if __name__ == "__main__":
    main((inputs_of_a_run, initial_values, bad_values))
