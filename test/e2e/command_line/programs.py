"""Programs that are converted without loss, and those that can be kept but not acted on.

programs.py TOOL_FOLDER CORPUS
"""

import filecmp
import os
import subprocess

from check import main


def conversions(check):
    for middle in ("p.mlir", "p.mlirbc", "p.pdtxt"):
        check.expect_exit(
            "convert to " + middle,
            0,
            ["convert", check.program("main.pdmodel"), check.path(middle)],
        )
        check.expect_exit(
            "and back", 0, ["convert", check.path(middle), check.path("back.pdmodel")]
        )
        check.expect(
            "nothing is lost by way of " + middle,
            filecmp.cmp(check.path("back.pdmodel"), check.program("main.pdmodel"), shallow=False),
        )
    check.expect_exit(
        "diff of equal programs",
        0,
        ["diff", check.program("main.pdmodel"), check.path("p.mlir")],
        "equal",
    )
    check.expect_exit(
        "diff of different programs",
        1,
        ["diff", check.program("main.pdmodel"), check.program("startup.pdmodel")],
    )
    pir = os.path.join(check.corpus, "pir33", "fit_a_line", "main.json")
    for file in ("pir.mlir", "pir.pdmodel"):
        check.expect_exit("convert PIR to " + file, 0, ["convert", pir, check.path(file)])
    check.expect_exit(
        "both are the same program",
        0,
        ["diff", check.path("pir.mlir"), check.path("pir.pdmodel")],
        "equal",
    )
    check.expect_exit(
        "no way back to PIR",
        2,
        ["convert", check.path("pir.mlir"), check.path("back.json")],
        "to PIR JSON is not offered",
    )
    check.expect_exit("values of PIR are called after their op", 0, ["show", pir], '"#10.0"')
    # A program of a newer framework is kept with what this table does not know.
    with open(check.path("p.pdtxt")) as f, open(check.path("newer.pdtxt"), "w") as newer:
        newer.write(f.read().replace('"x_num_col_dims"', '"invert_everything"'))
    check.expect_exit(
        "a program with an attribute that no row has",
        0,
        ["convert", check.path("newer.pdtxt"), check.path("newer.pdmodel")],
    )
    for middle in ("newer.mlir", "newer.mlirbc"):
        check.expect_exit(
            "convert it to " + middle,
            0,
            ["convert", check.path("newer.pdmodel"), check.path(middle)],
        )
        check.expect_exit(
            "and back", 0, ["convert", check.path(middle), check.path("newer_back.pdmodel")]
        )
        check.expect(
            "nothing is lost by way of " + middle,
            filecmp.cmp(
                check.path("newer_back.pdmodel"), check.path("newer.pdmodel"), shallow=False
            ),
        )
    check.expect_exit("show it", 0, ["show", check.path("newer.mlir")], "invert_everything")
    check.expect_exit(
        "an unknown ending",
        2,
        ["convert", check.program("main.pdmodel"), check.path("x.txt")],
        ".pdmodel",
    )


def wrong_programs(check):
    """Programs that can be kept, but not acted on."""
    data = ["--feeds", check.program("feeds"), "--init", check.program("init")]
    check.expect_exit(
        "a program as text",
        0,
        ["convert", check.program("main.pdmodel"), check.path("right.pdtxt")],
    )
    with open(check.path("right.pdtxt")) as f:
        text = f.read()
    for name, old, new, message in (
        ("attribute", '"x_num_col_dims"', '"invert_everything"', "invert_everything"),
        ("name", "fc_0.w_0", "fc_0\\377w_0", "is not UTF-8"),
        (
            "argument",
            'arguments: "x"',
            'arguments: "nowhere"',
            "mul: reads 'nowhere' as X, which no block declares and no op before it writes",
        ),
        (
            "axis",
            '"x_num_col_dims"\n      type: 0\n      i: 1',
            '"x_num_col_dims"\n      type: 0\n      i: 7',
            "[C1]",
        ),
    ):
        path = check.path(name + ".pdtxt")
        with open(path, "w") as f:
            f.write(text.replace(old, new))
        check.expect_exit("run refuses a wrong " + name, 1, ["run", path, *data], message)
        check.expect_exit(
            "transpile refuses a wrong " + name,
            1,
            [
                "transpile",
                path,
                "-o",
                check.path("wrong"),
                "--mode",
                "collective",
                "--trainers",
                "2",
            ],
            message,
        )
        check.expect("nothing is written", not os.path.exists(check.path("wrong")))
    for name, old, new, message in (
        (
            "opaque",
            'type: "square"',
            'type: "my_square"',
            "my_square: has no row: it cannot be rewritten, checked or run",
        ),
        (
            "communicating",
            'type: "mean"',
            'type: "c_allreduce_sum"',
            "c_allreduce_sum: communicates already; give the single-device program",
        ),
        (
            "saving",
            "  ops {",
            '  ops { inputs { parameter: "X" arguments: "fc_0.w_0" } type: "save" attrs { name: "file_path" type: 2 s: "w" } }\n  ops {',
            "save: every rank would read or write the same file",
        ),
    ):
        if old not in text:
            check.expect("the program has " + old, False)
        path = check.path(name + ".pdtxt")
        with open(path, "w") as f:
            f.write(text.replace(old, new, 1))
        check.expect_exit(
            "transpile refuses a program that is " + name,
            1,
            [
                "transpile",
                path,
                "-o",
                check.path("wrong"),
                "--mode",
                "collective",
                "--trainers",
                "2",
            ],
            message,
        )
    other = os.path.join(check.corpus, "fluid18", "mnist_mlp", "startup.pdmodel")
    check.expect_exit(
        "a start-up program of another model",
        1,
        [
            "transpile",
            check.program("main.pdmodel"),
            "--startup",
            other,
            "-o",
            check.path("wrong"),
            "--mode",
            "collective",
            "--trainers",
            "2",
        ],
        "'fc_0.w_0'",
        "these are not the main and the start-up program of one model",
    )
    with open(check.program("main.pdmodel"), "rb") as f:
        done = subprocess.run(
            [
                check.tool,
                "transpile",
                "-",
                "--startup",
                check.program("startup.pdmodel"),
                "-o",
                check.path("stdin"),
                "--mode",
                "collective",
                "--trainers",
                "2",
            ],
            stdin=f,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            text=True,
        )
    check.expect("MAIN from standard input", done.returncode == 0, done.stdout)
    # A ProgramDesc whose first block has 123 bytes: it starts with a line feed and `{`.
    block = (
        b"\x08\x00\x10"
        + b"\xff" * 9
        + b"\x01"
        + b"\x1a\x6c"
        + b"\x0a\x60"
        + b"x" * 96
        + b"\x12\x08\x08\x07\x1a\x04\x0a\x02\x08\x05"
    )
    with open(check.path("brace.pdmodel"), "wb") as f:
        f.write(b"\x0a" + bytes([len(block)]) + block)
    check.expect("the block has 123 bytes", len(block) == 123)
    check.expect_exit(
        "a program that starts as JSON does",
        0,
        ["convert", check.path("brace.pdmodel"), check.path("brace.pdtxt")],
    )
    with open(check.path("deep.mlir"), "w") as f:
        f.write("module {" * 200000 + "}" * 200000)
    check.expect_exit(
        "text nested too deeply",
        1,
        ["show", check.path("deep.mlir")],
        "is damaged or nested too deeply",
    )


if __name__ == "__main__":
    main((conversions, wrong_programs))
