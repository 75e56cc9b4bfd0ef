"""What scripts may rely on: exit codes, messages, determinism, nothing half written.

command_line.py TOOL_FOLDER CORPUS
"""

import filecmp
import json
import os
import re
import shutil
import signal
import struct
import subprocess
import time

from check import main, varint, write_npy


def jobs(check):
    for name in ("a", "b"):
        check.expect_exit("transpile writes a job", 0, check.transpile(name, 4))
    for file in ("manifest.json", "job.mlirbc"):
        check.expect(
            "the same input gives the same bytes of " + file,
            filecmp.cmp(check.path("a/" + file), check.path("b/" + file), shallow=False),
        )
    check.expect_exit("an existing job is not replaced", 1, check.transpile("a", 2), "--force")
    check.expect_exit("--force replaces it", 0, check.transpile("a", 2, "--force"))
    check.expect_exit(
        "words of flags may be joined with _",
        0,
        check.transpile("c", 2, "--collective_mode", "grad_allreduce"),
    )
    os.mkdir(check.path("not_a_job"))
    check.expect_exit(
        "a folder that is no job is never replaced",
        1,
        check.transpile("not_a_job", 2, "--force"),
        "no job",
    )
    check.expect_exit("8 ranks", 0, check.transpile("r8", 8))
    check.expect_exit("100,000 ranks", 0, check.transpile("r100000", 100000))
    small, large = (os.path.getsize(check.path(n + "/job.mlirbc")) for n in ("r8", "r100000"))
    check.expect(
        "the job does not grow with the ranks",
        abs(large - small) < 64,
        "%d and %d bytes" % (small, large),
    )
    check.expect_exit(
        "a job is verified",
        0,
        [
            "verify",
            check.path("r100000"),
            check.program("main.pdmodel"),
            "--startup",
            check.program("startup.pdmodel"),
        ],
        "verified",
    )


def verdicts(check):
    """A module alone, one that cannot be read, and what a verdict leans on."""
    check.expect_exit("a job", 0, check.transpile("v", 2))
    check.expect_exit(
        "its module in text",
        0,
        ["convert", check.path("v/job.mlirbc"), check.path("v.mlir")],
    )
    for module in ("v.mlir", "v/job.mlirbc"):
        check.expect_exit("a module alone", 0, ["verify", check.path(module)], "verified")
    shutil.copytree(check.path("v"), check.path("cut"))
    with open(check.path("cut/job.mlirbc"), "r+b") as f:
        f.truncate(1000)
    for job in ("cut", "cut/job.mlirbc", "no_such_job"):
        done = check.call("verify", check.path(job), "--format", "json")
        report = json.loads(done.stdout)
        rule = report["rungs"][0]["messages"][0]["rule"]
        check.expect(
            "what cannot be read ends in a report: " + job,
            done.returncode == 1 and report["verdict"] == "refuted" and rule == "unreadable",
            done.stdout,
        )
    check.expect_exit(
        "a job that averages parameters",
        0,
        check.transpile("averaged", 2, "--collective_mode", "local_sgd"),
    )
    check.expect_exit(
        "its contract is printed",
        0,
        ["verify", check.path("averaged")],
        "under contract `local_sgd`",
    )
    check.expect_exit(
        "and refused where the whole step is required",
        1,
        ["verify", check.path("averaged"), "--require", "whole"],
        "local_sgd",
    )


def outputs(check):
    """What stands where the output goes is replaced only when it is ours."""
    check.expect_exit("a slash at the end means nothing", 0, check.transpile("slash/", 2))
    check.expect_exit("there is one job", 1, check.transpile("slash", 2), "--force")
    os.mkdir(check.path("programs.new"))
    with open(check.path("programs.new/thesis.txt"), "w") as f:
        f.write("dear")
    check.expect_exit(
        "export takes a slash too",
        0,
        ["export", check.path("slash"), "-o", check.path("programs/")],
    )
    check.expect(
        "a folder of a like name is left alone",
        os.path.exists(check.path("programs.new/thesis.txt")),
    )
    check.expect_exit(
        "a file is not replaced by a folder",
        1,
        ["export", check.path("slash"), "-o", check.path("programs/export.json")],
        "is no empty folder",
    )
    shutil.copy(check.path("programs.new/thesis.txt"), check.path("slash/thesis.txt"))
    check.expect_exit(
        "a job with something else inside is not replaced",
        1,
        check.transpile("slash", 2, "--force"),
        "holds more than a job",
    )
    os.remove(check.path("slash/thesis.txt"))
    with open(check.path("slash/manifest.json")) as f:
        manifest = f.read()
    data = ["--feeds", check.program("feeds"), "--init", check.program("init")]
    for what, text, field in (
        ("ranks", manifest.replace('"ranks": 2', '"ranks": 3', 1), "/roles/0/ranks"),
        ("a role", re.sub(r'"roles": \[\s*\{[^}]*\}', '"roles": [1', manifest), "/roles/0"),
        ("the digest", manifest.replace("sha256:", "sha256:0"), "/digest"),
    ):
        with open(check.path("slash/manifest.json"), "w") as f:
            f.write(text)
        for words in (
            ["run", check.path("slash"), *data],
            ["export", check.path("slash"), "-o", check.path("e")],
            ["show", check.path("slash"), "--format", "text"],
        ):
            check.expect_exit(
                "%s with %s of the manifest changed" % (words[0], what),
                1,
                words,
                field,
                "is not what job.mlirbc says",
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


def workers_of(process):
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(process)], stdout=subprocess.PIPE, text=True
    ).stdout.split()
    return [int(child) for child in children]


def hit(check, what, victim_of, signal_number, code, fragment):
    """Starts a job of two ranks that takes seconds, signals one of its processes in the middle, and says how it must end."""
    job = subprocess.Popen(
        [
            check.tool,
            "run",
            check.path("two"),
            "--feeds",
            check.path("long"),
            "--init",
            check.program("init"),
            "--timeout",
            "5",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    workers, deadline = [], time.time() + 30
    while len(workers) < 2 and job.poll() is None and time.time() < deadline:
        time.sleep(0.01)
        workers = workers_of(job.pid)
    check.expect(
        what + ": the job is under way", len(workers) == 2 and job.poll() is None, str(workers)
    )
    if len(workers) < 2:
        job.kill()
        return
    os.kill(victim_of(job.pid, workers), signal_number)
    start = time.time()
    out, err = job.communicate(timeout=60)
    check.expect(
        what + ": it ends soon", time.time() - start < 15, "%.1f s" % (time.time() - start)
    )
    check.expect(
        what + ": as failed",
        job.returncode == code and fragment in out + err,
        "exit status %d\n%s%s" % (job.returncode, out, err),
    )
    check.expect(
        what + ": no rank is left",
        not any(os.path.exists("/proc/%d" % worker) for worker in workers),
        str(workers),
    )
    # Segments are called after the process of the command; other programs have theirs there too.
    left = [
        name
        for name in os.listdir("/dev/shm")
        if name.startswith("dtranspile+") and str(job.pid) in name
    ]
    check.expect(what + ": no shared memory is left", not left, str(left))


def faults(check):
    """A rank that is killed or stopped ends the job within seconds, by name, and leaves nothing; so does Ctrl-C."""
    steps = 60000
    check.expect_exit("a job of two", 0, check.transpile("two", 2))
    os.mkdir(check.path("long"))
    write_npy(check.path("long/x.npy"), (steps, 4, 10), 0.5)
    write_npy(check.path("long/y.npy"), (steps, 4, 1), 0.25)
    hit(check, "a killed rank", lambda job, workers: workers[1], signal.SIGKILL, 4, "trainer 1")
    hit(check, "a stopped rank", lambda job, workers: workers[1], signal.SIGSTOP, 4, "trainer")
    hit(check, "Ctrl-C", lambda job, workers: job, signal.SIGINT, 4, "")


def losses_of(check, fetch, words):
    """What `run` reports of a variable, step by step."""
    file = check.path("losses.json")
    done = check.call("run", *words, "--report", file, "--fetch", fetch)
    if done.returncode != 0:
        check.expect("run " + " ".join(words), False, done.stdout + done.stderr)
        return []
    with open(file) as f:
        return [x if isinstance(x, list) else [x] for x in json.load(f)["fetch"][fetch]]


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


def interruptions(check):
    """A command that is ended while it compiles leaves no temporary folder; one that is killed leaves it to the next."""
    temporary = check.path("tmp")
    os.mkdir(temporary)
    words = [
        check.tool,
        "run",
        check.program("main.pdmodel"),
        "--feeds",
        check.program("feeds"),
        "--init",
        check.program("init"),
    ]

    def end(number):
        cache = check.path("cache%d" % number)
        job = subprocess.Popen(
            words + ["--cache", cache],
            env=dict(os.environ, TMPDIR=temporary),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        deadline = time.time() + 30
        while not os.listdir(temporary) and time.time() < deadline:
            time.sleep(0.001)
        job.send_signal(number)
        return job.wait(timeout=60)

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGPIPE):
        code = end(number)
        check.expect("signal %d ends a command that compiles" % number, code == -number, str(code))
        check.expect("and leaves nothing", not os.listdir(temporary), str(os.listdir(temporary)))
    end(signal.SIGKILL)
    check.expect(
        "SIGKILL leaves the folder", len(os.listdir(temporary)) == 1, str(os.listdir(temporary))
    )
    check.expect_exit("the next run", 0, words[1:], TMPDIR=temporary)
    check.expect("removes it", not os.listdir(temporary), str(os.listdir(temporary)))


NOTHING = """pd.var @w : tensor<4x2xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x3x4xf32>
  %y = pd.input "y" : tensor<?x4x5xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %a = pd.matmul_v2 X(%x) Y(%w) -> Out("a") : (tensor<?x3x4xf32>, tensor<4x2xf32>) -> tensor<?x3x2xf32>
  %b = pd.matmul_v2 X(%x) Y(%y) -> Out("b") : (tensor<?x3x4xf32>, tensor<?x4x5xf32>) -> tensor<?x3x5xf32>
  %s = pd.reduce_sum X(%a) -> Out("s") {reduce_all = true} : (tensor<?x3x2xf32>) -> tensor<1xf32>
  %m = pd.mean X(%a) -> Out("m") : (tensor<?x3x2xf32>) -> tensor<1xf32>
  %o = pd.fill_constant -> Out("o") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
  %f = pd.cast X(%o) -> Out("f") {in_dtype = 5 : i32, out_dtype = 0 : i32} : (tensor<4xf32>) -> tensor<4xi1>
  %n = pd.masked_select X(%o) Mask(%f) -> Y("n") : (tensor<4xf32>, tensor<4xi1>) -> tensor<?xf32>
  %r = pd.relu X(%n) -> Out("r") : (tensor<?xf32>) -> tensor<?xf32>
  %t = pd.reduce_max X(%n) -> Out("t") {reduce_all = true} : (tensor<?xf32>) -> tensor<1xf32>
  %g:2 = pd.matmul_v2_grad X(%x) Y(%w) "Out@GRAD"(%a) -> "X@GRAD"("gx") "Y@GRAD"("gw") : (tensor<?x3x4xf32>, tensor<4x2xf32>, tensor<?x3x2xf32>) -> (tensor<?x3x4xf32>, tensor<4x2xf32>)
}
"""


def nothing_at_all(check):
    """Batches and results without elements: sums of nothing are 0, its products empty; its mean and maximum are errors, not NaN."""
    folder = check.path("nothing")
    os.makedirs(os.path.join(folder, "init"))
    with open(os.path.join(folder, "main.mlir"), "w") as f:
        f.write(NOTHING)
    for name, dims in (("x", (1, 0, 3, 4)), ("y", (1, 0, 4, 5))):
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (dims,)
        with open(os.path.join(folder, name + ".npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head.encode() + b"\n")
    with open(
        os.path.join(folder, "init", "w"), "wb"
    ) as f:  # the framework's record of a float32 [4, 2]
        f.write(
            struct.pack("<IQIi", 0, 0, 0, 6)
            + b"\x08\x05\x10\x04\x10\x02"
            + struct.pack("<8f", *[1] * 8)
        )
    run = [
        "run",
        os.path.join(folder, "main.mlir"),
        "--feeds",
        folder,
        "--init",
        os.path.join(folder, "init"),
    ]
    file = check.path("nothing.json")
    check.expect_exit(
        "a batch of nothing",
        0,
        run
        + ["--report", file]
        + [w for name in ("a", "b", "s", "gx", "gw", "n", "r") for w in ("--fetch", name)],
    )
    with open(file) as f:
        found = json.load(f)["fetch"]
    check.expect(
        "sums of nothing are 0", found["s"] == [0] and found["gw"] == [[0] * 8], str(found)
    )
    check.expect(
        "products of nothing are empty",
        all(found[name] == [[]] for name in ("a", "b", "gx", "n", "r")),
        str(found),
    )
    check.expect_exit(
        "the mean of a batch of nothing",
        1,
        run + ["--fetch", "m"],
        "mean",
        "no elements",
        "[0x3x2]",
    )
    check.expect_exit(
        "the maximum of what a mask leaves",
        4,
        run + ["--fetch", "t"],
        "reduce_max",
        "no elements",
        "'n' is float32[0]",
    )


# Ops whose kernels compute in float32 and wider types; T stands for the element type, C for its
# code.
NARROW = """pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x10xf32>
  %h = pd.cast X(%x) -> Out("h") {in_dtype = 5 : i32, out_dtype = C : i32} : (tensor<?x10xf32>) -> tensor<?x10xT>
  %w = pd.fill_constant -> Out("w") {dtype = C : i32, shape = array<i64: 10, 3>, value = 0.25 : f32} : () -> tensor<10x3xT>
  %p = pd.matmul_v2 X(%h) Y(%w) -> Out("p") : (tensor<?x10xT>, tensor<10x3xT>) -> tensor<?x3xT>
  %c = pd.cumsum X(%p) -> Out("c") {axis = 1 : i32} : (tensor<?x3xT>) -> tensor<?x3xT>
  %i, %j = pd.top_k_v2 X(%c) -> Out("i") Indices("j") {k = 2 : i32} : (tensor<?x3xT>) -> (tensor<?x2xT>, tensor<?x2xi64>)
  %s = pd.softmax X(%c) -> Out("s") : (tensor<?x3xT>) -> tensor<?x3xT>
  %a = pd.cast X(%c) -> Out("a") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x3xT>) -> tensor<?x3xf32>
  %b = pd.cast X(%s) -> Out("b") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x3xT>) -> tensor<?x3xf32>
  %d = pd.cast X(%i) -> Out("d") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x2xT>) -> tensor<?x2xf32>
}
"""


def narrow_types(check):
    """float16 and bfloat16: what float32 gives, to their own number of digits."""
    found = {}
    for name, code in (("f32", 5), ("f16", 4), ("bf16", 22)):
        file = check.path(name + ".mlir")
        with open(file, "w") as f:
            f.write(re.sub(r"\bC\b", str(code), re.sub(r"xT\b", "x" + name, NARROW)))
        run = [
            "run",
            file,
            "--feed",
            "x=" + check.program("feeds/x.npy"),
            "--steps",
            "1",
            "--report",
            check.path("narrow.json"),
        ]
        check.expect_exit(
            "a program in " + name, 0, run + ["--fetch", "a", "--fetch", "b", "--fetch", "d"]
        )
        with open(check.path("narrow.json")) as f:
            found[name] = [x for value in json.load(f)["fetch"].values() for x in value[0]]
    for name, digits in (("f16", 2.0**-9), ("bf16", 2.0**-6)):
        largest = max(map(abs, found["f32"]))
        far = max(abs(x - y) for x, y in zip(found["f32"], found[name])) / largest
        check.expect(
            "%s differs by its own rounding (%.1e)" % (name, far),
            len(found[name]) == len(found["f32"]) > 0 and 0 < far < digits,
            str(found),
        )


def double_precision(check):
    """In float64 the job and the program differ by rounding of float64: what is left of a difference is one of meaning."""
    case = os.path.join(check.corpus, "fluid18", "lenet")
    program = [
        os.path.join(case, "main.pdmodel"),
        "--startup",
        os.path.join(case, "startup.pdmodel"),
    ]
    data = ["--feeds", os.path.join(case, "feeds"), "--init", os.path.join(case, "init")]
    check.expect_exit(
        "a job of lenet",
        0,
        [
            "transpile",
            *program,
            "-o",
            check.path("wide"),
            "--mode",
            "collective",
            "--trainers",
            "2",
        ],
    )
    with open(os.path.join(case, "golden.json")) as f:
        name, golden = next((k, v) for k, v in json.load(f).items() if k.startswith("mean"))
    one, two = (
        losses_of(check, name, [what] + data + ["--float64"])
        for what in (program[0], check.path("wide"))
    )
    far = max((abs(a[0] - b[0]) for a, b in zip(one, two)), default=1)
    check.expect(
        "--float64: program and job differ by rounding only",
        len(one) == len(golden) and far < 1e-12,
        "%g\n%s\n%s" % (far, one, two),
    )
    steps = [abs(a[0] - (b[0] if isinstance(b, list) else b)) for a, b in zip(one, golden)]
    check.expect(
        "and by that of float32 from the framework", 1e-9 < max(steps, default=0) < 1e-4, str(steps)
    )


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


if __name__ == "__main__":
    main(
        (
            jobs,
            verdicts,
            outputs,
            wrong_programs,
            usage,
            conversions,
            errors,
            report,
            reports_of_ranks,
            random_streams,
            random_numbers_go_on,
            initial_values,
            inputs_of_a_run,
            reports_in_place,
            interruptions,
            bad_values,
            nothing_at_all,
            narrow_types,
            double_precision,
            faults,
        )
    )
