"""Programs that nobody would write: every command ends as documented, soon, in little memory, and
says so in few words that do nothing to a terminal.

hostile.py TOOL_FOLDER CORPUS
"""

import os
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time

import wire
from wire import BLOCK, BOOLEAN, INT, INTS, attr, block, constant, field, op, program, relu
from wire import simple, training, var

# Beyond these a command took too long, too much memory, or said too much.
MOST_SECONDS, MOST_MEMORY, MOST_TEXT = 40, 3 << 30, 200_000
DOCUMENTED = (0, 1, 2, 3, 4)


class Check:
    def __init__(self, tools, corpus, work):
        self.tool = os.path.join(tools, "dtranspile")
        self.corpus = corpus
        self.work = work
        self.failures = self.jobs = 0
        self.feeds = self.path("feeds")
        os.mkdir(self.feeds)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 4, 4), }"
        header += b" " * (117 - len(header)) + b"\n"
        with open(os.path.join(self.feeds, "x.npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
            f.write(struct.pack("<16f", *range(16)))

    def path(self, name):
        return os.path.join(self.work, name)

    def expect(self, what, good, detail=""):
        self.failures += not good
        if good:
            print("ok: " + what)
        else:
            print("FAILED: %s\n%s" % (what, detail[:4000]))

    def call(self, *words):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))

        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [self.tool, *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            timeout=10 * MOST_SECONDS,
            preexec_fn=limit,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        done.seconds = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return done

    def fine(self, what, *words):
        """Ends as documented, in time, and prints nothing that acts on a terminal."""
        try:
            done = self.call(*words)
        except subprocess.TimeoutExpired:
            self.expect(what, False, "hangs")
            return None
        odd = [c for c in done.stderr if c < 0x20 and c not in b"\n\t" or c == 0x7F]
        self.expect(
            what,
            done.returncode in DOCUMENTED
            and done.seconds < MOST_SECONDS
            and not odd
            and len(done.stderr) < MOST_TEXT,
            "exit status %d, %.1f s, %d bytes of messages, control characters %s\n%s"
            % (
                done.returncode,
                done.seconds,
                len(done.stderr),
                odd[:3],
                done.stderr[-2000:].decode(errors="replace"),
            ),
        )
        return done

    def write(self, name, content):
        path = self.path(name)
        with open(path, "wb") as f:
            f.write(content)
        return path

    def through_all(self, what, content):
        """Every command that reads a program."""
        file = self.write("program.pdmodel", content)
        other = self.write("other.pdmodel", simple())
        job = self.path("job")
        self.fine(what + ": convert", "convert", file, self.path("out.mlir"))
        self.fine(what + ": show", "show", file, "--format", "text")
        self.fine(what + ": diff", "diff", file, other)
        made = self.fine(
            what + ": transpile", "transpile", file, "-o", job, "--force", "--trainers", "2"
        )
        plan = self.path("plan")
        fed = ["--feeds", self.feeds, "--fetch", "y"]
        self.fine(what + ": compile", "compile", file, "-o", plan, *fed)
        shutil.rmtree(plan, ignore_errors=True)
        if made and made.returncode == 0:
            self.jobs += 1
            self.fine(what + ": verify", "verify", job)
            self.fine(what + ": export", "export", job, "-o", self.path("programs"), "--ranks", "0")
            shutil.rmtree(self.path("programs"), ignore_errors=True)


def names(check):
    """Whatever a name holds."""
    for what, name in (
        ("a name that clears the screen", "\x1b[2J\x1b]0;title\x07x"),
        ("a name of several lines", "x\nerror: forged\r\n"),
        ("a name with a NUL", "x\0y"),
        ("a name from right to left", "x\u202ey"),
        ("a name that is no UTF-8", b"\xff\xfe\xc3("),
        ("a long name", "n" * 60_000),
        ("a name that is too long", "n" * 1_000_000),
        ("an empty name", ""),
        ("a name like ours", "$capture"),
        ("a name of a path", "../../x"),
    ):
        check.through_all(what + " of a variable", simple(var(name), relu("x", name)))
        check.through_all(what + " that is read and not there", simple(relu(name, "y")))
        check.through_all(
            what + " of a persistable", simple(var(name, persistable=True), relu("x", name))
        )
        check.through_all(what + " of an op", simple(op(name, [("X", ["x"])], [("Out", ["y"])])))
        check.through_all(
            what + " of a slot", simple(op("relu", [(name, ["x"])], [("Out", ["y"])]))
        )
        check.through_all(
            what + " of an attribute",
            simple(op("relu", [("X", ["x"])], [("Out", ["y"])], [attr(name, INT, field(3, 1))])),
        )


def extents(check):
    for what, dims in (
        ("a negative extent", (-7, 3)),
        ("the smallest extent", (-(1 << 63), 2)),
        ("extents whose product overflows", (1 << 40, 1 << 40)),
        ("extents whose product is 2 to the 64", (1 << 32, 1 << 32)),
        ("the largest extent", ((1 << 63) - 1,)),
        ("no elements", (0, 1 << 62)),
        ("a rank of 5,000", (1,) * 5000),
    ):
        for kind in ("relu", "softmax", "mean", "reshape2", "transpose2", "sum", "concat"):
            attrs = []
            if kind == "transpose2":
                attrs = [
                    attr(
                        "axis",
                        INTS,
                        b"".join(field(6, i) for i in reversed(range(min(len(dims), 100)))),
                    )
                ]
            if kind == "reshape2":
                attrs = [attr("shape", INTS, field(6, -1) + field(6, 1 << 31))]
            check.through_all(
                what + " in " + kind,
                program(
                    block(
                        0,
                        -1,
                        var("x", dims),
                        var("y", dims),
                        op(kind, [("X", ["x"])], [("Out", ["y"])], attrs),
                    )
                ),
            )
        check.through_all(
            what + " of a persistable",
            program(block(0, -1, var("x", dims, True), var("y", dims), relu("x", "y"))),
        )


def growing(depth):
    """Loops within each other, each of which doubles a tensor of its own."""
    every = ["v%d" % i for i in range(1, depth + 1)]

    def loop(target):
        return op(
            "while",
            [("X", every[target - 1 :]), ("Condition", ["c"])],
            [("Out", every[target - 1 :]), ("StepScopes", ["s%d" % target])],
            [attr("sub_block", BLOCK, field(12, target)), attr("is_test", BOOLEAN, field(10, 1))],
        )

    def body(i):
        double = op(
            "concat",
            [("X", ["v%d" % i] * 2)],
            [("Out", ["v%d" % i])],
            [attr("axis", INT, field(3, 0))],
        )
        if i == depth:
            return block(i, i - 1, double)
        scope = var("s%d" % (i + 1), kind=wire.STEP_SCOPES)
        return block(i, i - 1, scope, double, loop(i + 1))

    head = [training(), var("y"), var("c", (1,), dtype=0), *(var(name) for name in every)]
    head += [var("s1", kind=wire.STEP_SCOPES)]
    head += [constant(name) for name in every] + [constant("c", (1,), 0.0, dtype=0)]
    head += [loop(1), relu("v1", "y")]
    return program(block(0, -1, *head), *(body(i) for i in range(1, depth + 1)))


def structures(check):
    def branch(target):
        return op(
            "conditional_block",
            [("Cond", ["x"]), ("Input", ["x"])],
            [("Out", ["y"]), ("Scope", ["s"])],
            [
                attr("sub_block", BLOCK, field(12, target)),
                attr("is_scalar_condition", BOOLEAN, field(10, 1)),
            ],
        )

    head = (training(), var("y", (-1, 4)), var("s", kind=wire.STEP_SCOPES))
    for target in (0, 1, 2, -1, 1 << 31, (1 << 63) - 1):
        check.through_all(
            "a block %d that is not there" % target, program(block(0, -1, *head, branch(target)))
        )
    for parent in (-1, 1, 2, 7, -(1 << 31)):
        check.through_all(
            "a block with parent %d" % parent,
            program(block(0, -1, *head, branch(1)), block(1, parent, relu("x", "y"))),
        )
    check.through_all(
        "blocks that own each other",
        program(
            block(0, -1, *head, branch(1)),
            block(1, 0, branch(2)),
            block(2, 0, branch(1)),
        ),
    )
    for depth in (60, 70, 1000):
        check.through_all(
            "%d blocks within each other" % depth,
            program(
                block(0, -1, *head, branch(1)),
                *(block(i, i - 1, branch(i + 1)) for i in range(1, depth)),
                block(depth, depth - 1, relu("x", "y")),
            ),
        )
    for depth in (4, 30):
        check.through_all("%d loops within each other that grow" % depth, growing(depth))
    check.through_all(
        "a block that is its own gradient",
        program(block(0, -1, *head, branch(1)), block(1, 0, relu("x", "y"), field(5, 1))),
    )
    check.through_all("no block", program())
    check.through_all("an op without a type", simple(field(4, field(1, field(1, "X")))))
    check.through_all("an op without outputs", simple(op("relu", [("X", ["x"])])))
    check.through_all(
        "an op with an empty output", simple(op("relu", [("X", ["x"])], [("Out", [])]))
    )
    check.through_all(
        "an op with a slot twice",
        simple(op("relu", [("X", ["x"]), ("X", ["x"])], [("Out", ["y"])])),
    )
    check.through_all("a variable declared twice", simple(var("x", (5,))))
    check.through_all(
        "an attribute with two values",
        simple(
            op(
                "relu",
                [("X", ["x"])],
                [("Out", ["y"])],
                [attr("a", INT, field(3, 1) + wire.real(4, 1))],
            )
        ),
    )
    for version in (-1, 4_000_000, (1 << 63) - 1):
        check.through_all(
            "version %d" % version, program(block(0, -1, *head, relu("x", "y")), version=version)
        )


def sizes(check):
    """Large in one direction: few seconds for what a small file asks."""
    n = 50_000
    many = ["v%d" % i for i in range(n)]
    declared = b"".join(var(name) for name in many)
    check.through_all(
        "an argument 50,000 times", simple(op("sum", [("X", ["x"] * n)], [("Out", ["y"])]))
    )
    check.through_all(
        "50,000 results and arguments",
        program(
            block(
                0,
                -1,
                training(),
                var("y", (n, 4)),
                var("z", (n, 4)),
                b"".join(var(name, (1, 4)) for name in many),
                constant("z", (n, 4)),
                op(
                    "split",
                    [("X", ["z"])],
                    [("Out", many)],
                    [attr("num", INT, field(3, n)), attr("axis", INT, field(3, 0))],
                ),
                op("concat", [("X", many)], [("Out", ["y"])], [attr("axis", INT, field(3, 0))]),
            )
        ),
    )
    check.through_all("50,000 variables", simple(declared))
    check.through_all(
        "50,000 persistables", simple(b"".join(var(name, persistable=True) for name in many))
    )
    check.through_all(
        "50,000 attributes of an op",
        simple(
            op(
                "custom",
                [("X", ["x"])],
                [("Out", ["y"])],
                [attr("a%d" % i, INT, field(3, i)) for i in range(n)],
            )
        ),
    )
    check.through_all(
        "50,000 slots of an op",
        simple(op("custom", [("S%d" % i, ["x"]) for i in range(n)], [("Out", ["y"])])),
    )
    check.through_all(
        "an attribute of a million numbers",
        simple(
            op(
                "custom",
                [("X", ["x"])],
                [("Out", ["y"])],
                [attr("a", INTS, field(6, 7) * 1_000_000)],
            )
        ),
    )
    chain = b"".join(relu("v%d" % i, "v%d" % (i + 1)) for i in range(n - 1))
    check.through_all(
        "a chain of 50,000 ops", simple(declared, constant("v0"), chain, relu("v%d" % (n - 1), "y"))
    )
    unknown = b"".join(op("zz%d" % i, [("X", ["x"])], [("Out", ["y"])]) for i in range(n))
    check.through_all("50,000 unknown ops", simple(unknown))
    undeclared = b"".join(relu("x", "u%d" % i) for i in range(n))
    check.through_all("50,000 names that are not declared", simple(undeclared))
    check.through_all("4 million minimal ops", program(block(0, -1, op("a") * 4_000_000)))


def messages(check):
    unknown = b"".join(op("zz%d" % i, [("X", ["x"])], [("Out", ["y"])]) for i in range(1000))
    file = check.write("unknown.pdmodel", simple(unknown))
    done = check.call("transpile", file, "-o", check.path("none"), "--trainers", "2")
    lines = done.stderr.decode().splitlines()
    check.expect(
        "messages that repeat are counted",
        done.returncode == 1 and len(lines) == 21 and "980 more errors" in lines[-1],
        "\n".join(lines[-3:]),
    )
    done = check.call("compile", file, "-o", check.path("none"))
    lines = done.stderr.decode().splitlines()
    check.expect("so are notes", done.returncode == 1 and len(lines) < 50, "\n".join(lines[-3:]))


def mutations(check):
    """Bytes of a program changed at random, with a fixed seed: nothing but documented ends."""
    case = os.path.join(check.corpus, "fluid18", "fit_a_line", "main.pdmodel")
    with open(case, "rb") as f:
        original = f.read()
    random.seed(11)
    for round in range(60):
        content = bytearray(original)
        for _ in range(random.randint(1, 6)):
            at = random.randrange(len(content))
            how = random.randrange(4)
            if how == 0:
                content[at] = random.randrange(256)
            elif how == 1:
                del content[at : at + random.randint(1, 40)]
            elif how == 2:
                content[at:at] = content[at : at + random.randint(1, 200)]
            else:
                content[at] ^= 1 << random.randrange(8)
        file = check.write("mutant.pdmodel", bytes(content))
        check.fine("mutant %d: convert" % round, "convert", file, check.path("out.mlir"))
        check.fine(
            "mutant %d: transpile" % round,
            "transpile",
            file,
            "-o",
            check.path("mutant"),
            "--force",
            "--trainers",
            "2",
        )


def exports(check):
    file = check.write("program.pdmodel", simple())
    many = check.path("many")
    check.fine(
        "a job of 2,147,483,647 ranks", "transpile", file, "-o", many, "--trainers", "2147483647"
    )
    for ranks in ("0", "all", "2147483646"):
        done = check.fine(
            "export of rank %s" % ranks, "export", many, "-o", check.path("x"), "--ranks", ranks
        )
        check.expect(
            "it asks for endpoints",
            done.returncode == 2 and b"--endpoints" in done.stderr,
            str(done.stderr),
        )


PARTS = {f.__name__: f for f in (names, extents, structures, sizes, messages, mutations, exports)}


def main():
    with tempfile.TemporaryDirectory() as work:
        check = Check(sys.argv[1], sys.argv[2], work)
        start = time.time()
        for name in sys.argv[3:] or PARTS:
            PARTS[name](check)
        print("%d failures, %d jobs, %.0f s" % (check.failures, check.jobs, time.time() - start))
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
