"""Words that mean nothing, files that are none, what ends a command from within.

words.py TOOL_FOLDER CORPUS
"""

import os
import signal
import subprocess
import time

from check import main, varint


def usage(check):
    check.expect_exit(
        "a command that is not there",
        2,
        ["transpil", "x"],
        "there is no command 'transpil'; did you mean 'transpile'?",
    )
    check.expect_exit(
        "a command unlike any other",
        2,
        ["simulate"],
        "there is no command 'simulate'; `dtranspile --help` lists the commands",
    )
    for value in ("0", "-1", "two", "99999999999999999999"):
        check.expect_exit(
            "--steps " + value,
            2,
            ["run", check.program("main.pdmodel"), "--steps=" + value],
            "'%s' is no whole number from 1" % value,
        )
    for words in (["transpile", "x", "--mode", "\x1b[2J"], ["run", "\x1b[2J", "--\x1b[2J"]):
        done = check.call(*words)
        check.expect(
            "words that act on a terminal are not repeated as they are",
            done.returncode == 2 and "\x1b" not in done.stderr and "\\x1b[2J" in done.stderr,
            done.stderr,
        )
    done = check.call("transpile", "x", "--mode", "n" * 100000)
    check.expect("long ones are cut", len(done.stderr) < 5000, done.stderr[:300])
    check.expect_exit(
        "diff of what cannot be read",
        1,
        ["diff", check.path("none"), check.program("main.pdmodel")],
        "cannot be read",
    )
    done = subprocess.run(
        [
            check.tool,
            "compile",
            check.program("main.pdmodel"),
            "--startup",
            check.program("startup.pdmodel"),
            "--feeds",
            check.program("feeds"),
            "-o",
            check.path("untemporary"),
            "--cache",
            check.path("no-cache-yet"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=60,
        text=True,
        env={**os.environ, "TMPDIR": "/nonexistent"},
    )
    check.expect(
        "compiling needs no folder of temporary files",
        done.returncode == 0,
        "status %d\n%s" % (done.returncode, done.stdout),
    )
    # Our own faults: status 70 and a script that repeats the command.
    process = subprocess.Popen(
        [check.tool, "show", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": check.work},
    )
    time.sleep(0.5)  # it waits for its input
    process.send_signal(signal.SIGSEGV)
    text = process.communicate(timeout=60)[1]
    script = check.path("dtranspile-%d.sh" % process.pid)
    check.expect(
        "an internal error",
        process.returncode == 70
        and "internal error: ended by signal SEGV" in text
        and script in text,
        text,
    )
    check.expect(
        "its reproducer", os.access(script, os.X_OK) and "'show' '-'" in open(script).read()
    )
    op = b"\x0a\x06\x0a\x01X\x12\x01x\x12\x08\x0a\x03Out\x12\x01x\x1a\x06assign"  # x = assign(x)
    block = b"\x08\x00\x10" + b"\xff" * 9 + b"\x01" + (b"\x22" + bytes([len(op)]) + op) * 400000
    with open(check.path("many.pdmodel"), "wb") as f:
        f.write(b"\x0a" + varint(len(block)) + block)
    done = subprocess.run(
        [
            "bash",
            "-c",
            "ulimit -v 420000; exec %s convert %s %s"
            % (check.tool, check.path("many.pdmodel"), check.path("many.mlir")),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        text=True,
        env={**os.environ, "TMPDIR": check.work},
    )
    check.expect(
        "too little memory",
        done.returncode == 70 and "internal error: out of memory" in done.stdout,
        "status %d\n%s" % (done.returncode, done.stdout),
    )
    check.expect("nothing is half written", not os.path.exists(check.path("many.mlir")))


def errors(check):
    check.expect_exit("no command", 2, [])
    check.expect_exit("an unknown flag", 2, ["verify", check.path("a"), "--nonsense"])
    check.expect_exit(
        "a start-up program without its main program",
        2,
        ["verify", check.path("a"), "--startup", check.program("startup.pdmodel")],
        "MAIN",
    )
    check.expect_exit(
        "a missing file",
        1,
        ["show", check.path("nothing.pdmodel")],
        "nothing.pdmodel",
        "cannot be read",
    )
    with open(check.path("broken.pdmodel"), "wb") as out, open(
        check.program("main.pdmodel"), "rb"
    ) as whole:
        out.write(whole.read()[:1000])
    check.expect_exit(
        "a truncated program", 1, ["show", check.path("broken.pdmodel")], "broken.pdmodel"
    )
    with open(check.program("main.pdmodel"), "rb") as f:
        done = subprocess.run(
            "cat | %s show /dev/stdin --format text" % check.tool,
            shell=True,
            stdin=f,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            text=True,
        )
    check.expect(
        "a program from a pipe", done.returncode == 0 and "mul" in done.stdout, done.stdout
    )
    check.expect_exit(
        "a tensor instead of a program", 1, ["show", check.program("init/fc_0.w_0")], "tensor"
    )
    run = [
        "run",
        check.program("main.pdmodel"),
        "--feeds",
        check.program("feeds"),
        "--init",
        check.program("init"),
    ]
    check.expect_exit(
        "a fetch that is not there",
        1,
        run + ["--fetch", "mean_0.tmp_1"],
        "did you mean mean_0.tmp_0",
    )
    metric = os.path.join(check.corpus, "fluid18", "mnist_mlp", "main.pdmodel")
    check.expect_exit("a program as text", 0, ["convert", metric, check.path("metric.mlir")])
    with open(check.path("metric.mlir")) as text:
        lines = [line for line in text if " pd.accuracy " not in line]
    with open(check.path("metric.mlir"), "w") as text:
        text.writelines(lines)
    done = check.call(
        "run",
        check.path("metric.mlir"),
        "--feeds",
        check.program("feeds"),
        "--init",
        check.program("init"),
        "--fetch",
        "accuracy_0.tmp_0",
    )
    check.expect(
        "a name that is only declared is not proposed in its own place",
        done.returncode == 1
        and "computes nothing of that name" in done.stderr
        and "did you mean accuracy_0.tmp_0" not in done.stderr,
        done.stderr,
    )
    check.expect_exit(
        "no data",
        1,
        ["run", check.program("main.pdmodel"), "--init", check.program("init")],
        "--feeds",
    )
    check.expect_exit(
        "no initial values",
        1,
        ["run", check.program("main.pdmodel"), "--feeds", check.program("feeds")],
        "--init",
    )
    check.expect_exit("more steps than data", 1, run + ["--steps", "1000"], "--steps")
    check.expect_exit("a job of three", 0, check.transpile("r3", 3))
    check.expect_exit(
        "a batch that does not divide",
        1,
        [
            "run",
            check.path("r3"),
            "--feeds",
            check.program("feeds"),
            "--init",
            check.program("init"),
        ],
        "16",
        "3",
    )
    if not os.path.exists("/dev/nvidia0"):
        check.expect_exit(
            "--device cuda without a GPU", 1, run + ["--device", "cuda"], "libcuda.so.1"
        )


if __name__ == "__main__":
    main((usage, errors))
