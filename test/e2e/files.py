"""Files: nothing is lost, nothing hangs, and every path that cannot be used is said.

files.py TOOL_FOLDER CORPUS
"""

import contextlib
import os
import pickle
import shutil
import signal
import stat
import struct
import subprocess
import time

from check import main
from train_case import tree

LONG = "x" * 5000
OTHER_USER = 65534


def read(path):
    with open(path, "rb") as f:
        return f.read()


def data(check):
    return ["--feeds", check.program("feeds"), "--init", check.program("init")]


def run(check, *more):
    return ["run", check.program("main.pdmodel"), *data(check), *more]


@contextlib.contextmanager
def small_disk(check, name, options):
    """A file system of its own, or None without the right to mount one."""
    path = check.path(name)
    os.mkdir(path)
    words = ["mount", "-t", "tmpfs", "-o", options, "none", path]
    mounted = subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0
    if not mounted:
        print("not tried: %s (no right to mount)" % name)
    try:
        yield path if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "-l", path])


def kill_everywhere(check, what, words, pattern, target, states, **environment):
    """Kills a command before each system call that changes files: `target` is always one of `states`."""
    kill_at = os.path.join(os.path.dirname(os.path.abspath(__file__)), "kill_at")
    seen, wrong = [0] * len(states), []
    parent = os.path.dirname(target)
    for k in range(1, 1000):
        shutil.rmtree(target, ignore_errors=True)
        for name, content in states[0].items():
            os.makedirs(os.path.dirname(os.path.join(target, name)), exist_ok=True)
            with open(os.path.join(target, name), "wb") as f:
                f.write(content)
        code = subprocess.run(
            [kill_at, str(k), pattern, check.tool, *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=120,
            env=dict(os.environ, **environment),
        ).returncode
        now = tree(target)
        if now in states:
            seen[states.index(now)] += 1
        else:
            wrong.append((k, sorted(now)))
        if code == 3:
            break
        if code != 0:
            wrong.append((k, "status %d" % code))
            break
    check.expect(
        "%s: whole old or whole new at each of %d calls" % (what, k),
        not wrong and k > 20 and all(seen),
        "%s\n%s" % (seen, wrong),
    )
    left = [name for name in os.listdir(parent) if name.startswith(".dtranspile-")]
    check.expect(what + ": nothing is left after the next one", not left, str(left))


def killed_writers(check):
    os.mkdir(check.path("killed"))
    states = []
    for ranks in (2, 4):
        job = "killed/%d" % ranks
        check.expect_exit("a job of %d" % ranks, 0, check.transpile(job, ranks))
        states.append(tree(check.path(job)))
    kill_everywhere(
        check,
        "transpile --force",
        check.transpile("killed/job", 4, "--force"),
        "unfinished-job",
        check.path("killed/job"),
        states,
    )
    states = []
    for steps in (1, 2):
        folder = check.path("killed/end%d" % steps)
        check.expect_exit(
            "a checkpoint after %d steps" % steps,
            0,
            run(check, "--steps", str(steps), "--save", folder),
        )
        states.append({**tree(folder), "sub/thesis.txt": b"dear"})
    temporary = check.path("killed/tmp")
    os.mkdir(temporary)
    kill_everywhere(
        check,
        "run --save",
        run(check, "--steps", "2", "--save", check.path("killed/checkpoint")),
        "unfinished-checkpoint",
        check.path("killed/checkpoint"),
        states,
        TMPDIR=temporary,
    )
    check.expect("no temporary folder is left", not os.listdir(temporary))


def concurrent_writers(check):
    """Of several transpiles into one folder one whole job wins."""
    states = []
    for ranks in (2, 3, 4, 5):
        check.expect_exit("a job", 0, check.transpile("ranks%d" % ranks, ranks))
        states.append(tree(check.path("ranks%d" % ranks)))
    for force in ([], ["--force"]):
        for _ in range(5):
            shutil.rmtree(check.path("contested"), ignore_errors=True)
            writers = [
                subprocess.Popen(
                    [check.tool, *check.transpile("contested", ranks, *force)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                )
                for ranks in (2, 3, 4, 5)
            ]
            codes = sorted(writer.wait(timeout=120) for writer in writers)
            whole = tree(check.path("contested")) in states
            check.expect(
                "four writers%s: one whole job" % " with --force" * len(force),
                whole and codes == ([0, 0, 0, 0] if force else [0, 1, 1, 1]),
                str(codes),
            )


def folders_of_the_user(check):
    """Names like ours are no reason to remove anything."""
    temporary = check.path("temporary")
    mine = os.path.join(temporary, "dtranspile-temporary-checkpoint")
    os.makedirs(mine)
    check.expect_exit(
        "a checkpoint in the folder of temporary files",
        0,
        run(check, "--save", os.path.join(mine, "end")),
        TMPDIR=temporary,
    )
    check.expect_exit("the next run", 0, run(check), TMPDIR=temporary)
    check.expect("the checkpoint is there", len(tree(mine)) == 3, str(tree(mine).keys()))
    check.expect("and nothing else", os.listdir(temporary) == ["dtranspile-temporary-checkpoint"])
    os.symlink("nowhere", check.path("dangling"))
    for more in ([], ["--force"]):
        check.expect_exit(
            "a link that leads nowhere is not replaced",
            1,
            check.transpile("dangling", 2, *more),
            "leads nowhere",
        )
    check.expect("it is still one", os.path.islink(check.path("dangling")))


def left_by_killed_launchers(check):
    """SIGKILL leaves folders that say what they are; the next run of the same user removes them."""
    place = check.path("launcher")
    temporary = os.path.join(place, "tmp")
    os.makedirs(temporary)
    words = run(check, "--save", os.path.join(place, "end"), "--trace", os.path.join(place, "t"))
    job = subprocess.Popen(
        [check.tool, *words],
        env=dict(os.environ, TMPDIR=temporary),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    deadline = time.time() + 30
    while time.time() < deadline:
        # Stopped, it is looked at; it goes on where a folder has been made and not yet signed.
        job.send_signal(signal.SIGSTOP)
        time.sleep(0.002)
        names = os.listdir(place)
        owners = [os.path.join(place, name, "dtranspile.owner") for name in names if name[0] == "."]
        if len(names) >= 3 and all(os.path.exists(file) and read(file) for file in owners):
            break
        job.send_signal(signal.SIGCONT)
        time.sleep(0.0005)
    job.kill()
    job.wait()
    left = [name for name in os.listdir(place) if name.startswith(".dtranspile-unfinished-")]
    check.expect(
        "names say what they are",
        all(name.split("-")[2] in ("end", "t") for name in left) and left,
        str(os.listdir(place)),
    )
    for name in left:
        text = read(os.path.join(place, name, "dtranspile.owner")).decode()
        check.expect("so does a file inside", "not complete yet" in text, text)
    check.expect_exit("the next run", 0, words, TMPDIR=temporary)
    check.expect(
        "it removes them",
        sorted(os.listdir(place)) == ["end", "t", "tmp"] and not os.listdir(temporary),
        str(os.listdir(place) + os.listdir(temporary)),
    )


def caches(check):
    """Code is not taken from where others may write, and a cache is never waited for."""
    cache = check.path("cache")
    check.expect_exit("a run fills the cache", 0, run(check, "--cache", cache))
    kernels = os.path.join(cache, "kernels")
    objects = {name: read(os.path.join(kernels, name)) for name in os.listdir(kernels)}
    check.expect("there are kernels", len(objects) > 0)

    def expect_unused(what, *fragments):
        for name in objects:  # would be found out by their age
            os.utime(os.path.join(kernels, name), (1, 1))
        check.expect_exit(
            what, 0, run(check, "--cache", cache), "kernels are not cached", *fragments
        )
        ages = {os.stat(os.path.join(kernels, name)).st_mtime for name in objects}
        check.expect(what + ": is not used", ages == {1.0}, str(ages))

    os.chmod(cache, 0o777)
    expect_unused("a cache that others may write", "may be written by others")
    os.chmod(cache, 0o755)
    if os.geteuid() == 0:
        for path in (cache, kernels):
            os.chown(path, OTHER_USER, OTHER_USER)
            expect_unused("a cache of another user", "belongs to another user")
            os.chown(path, 0, 0)
    temporary = check.path("open")
    os.mkdir(temporary)
    os.chmod(temporary, 0o777)
    check.expect_exit(
        "temporary files where others may rename them",
        1,
        run(check),
        "may be written by others",
        "set TMPDIR",
        TMPDIR=temporary,
    )

    def replaced(what, make):
        for name in objects:
            path = os.path.join(kernels, name)
            os.remove(path)
            make(path)
        check.expect_exit(what, 0, run(check, "--cache", cache))

    replaced("a cache of pipes", os.mkfifo)
    replaced("a cache of links to devices", lambda path: os.symlink("/dev/zero", path))
    replaced("a cache of folders", lambda path: os.mkdir(path) or shutil.rmtree(path))
    changed = next(iter(objects))
    with open(os.path.join(kernels, changed), "wb") as f:
        f.write(objects[changed][:-1] + b"\xff")
    check.expect_exit("a cache with a changed object", 0, run(check, "--cache", cache))
    check.expect("it is compiled again", read(os.path.join(kernels, changed)) == objects[changed])


def full_disks(check):
    """A disk that fills up anywhere is said; no signal, no internal error."""
    check.expect_exit("a job to run", 0, check.transpile("fills", 2))
    words = ["run", check.path("fills"), *data(check), "--cache", check.path("none/at/all")]
    os.symlink("nowhere", check.path("none"))
    codes = set()
    for kilobytes in (4, 8, 16, 24, 32, 40, 48, 56, 64, 96, 4096):
        with small_disk(check, "disk%d" % kilobytes, "size=%dk" % kilobytes) as disk:
            if not disk:
                return
            done = check.call(*words, TMPDIR=disk)
            codes.add(done.returncode)
            said = done.returncode == 0 or "No space left on device" in done.stderr
            check.expect(
                "a folder of temporary files of %d kB" % kilobytes,
                done.returncode in (0, 1) and said,
                "%d %s" % (done.returncode, done.stderr),
            )
            check.expect("nothing is left there", not os.listdir(disk), str(os.listdir(disk)))
    check.expect("some were too small, some were not", codes == {0, 1}, str(codes))
    with small_disk(check, "readonly", "size=1m,ro") as disk:
        if disk:
            for flag in ("--save", "--save-fetches", "--trace", "--report"):
                check.expect_exit(
                    flag + " to a disk that cannot be written",
                    1,
                    run(check, flag, os.path.join(disk, "to")),
                    "Read-only file system",
                )
    with small_disk(check, "mounted", "size=1m") as disk:
        if disk:
            with open(os.path.join(disk, "thesis.txt"), "w") as f:
                f.write("dear")
            check.expect_exit(
                "--save to the root of a disk", 1, run(check, "--save", disk), "name a folder in it"
            )
            check.expect_exit(
                "--save to a folder in it", 0, run(check, "--save", os.path.join(disk, "end"))
            )


def standard_streams(check):
    """What cannot be printed is an error where it is the result, and never one of ours."""
    check.expect_exit("a job to print", 0, check.transpile("printed", 2))
    commands = {
        "run": run(check),
        "show": ["show", check.path("printed")],
        "verify": ["verify", check.path("printed")],
        "ops": ["ops"],
        "diff": ["diff", check.path("printed"), check.path("printed")],
        "convert": ["convert", check.program("main.pdmodel"), "-"],
        "doctor": ["doctor"],
        "--help": ["--help"],
        "--version": ["--version"],
        "run --report -": run(check, "--report", "-"),
    }
    for name, words in commands.items():
        for what, redirection, code in (
            ("a full standard output", ">/dev/full", 1),
            ("a closed standard output", ">&-", 1),
        ):
            done = subprocess.run(
                ["bash", "-c", '"$@" ' + redirection, "-", check.tool, *words],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                timeout=120,
            )
            check.expect(
                "%s with %s" % (name, what),
                done.returncode == code and "standard output cannot be written" in done.stderr,
                "%d %s" % (done.returncode, done.stderr),
            )
    for redirection in ("2>/dev/full", "2>&-", "<&- >/dev/null 2>&-"):
        for words, code in ((run(check), 0), (run(check, "--steps", "1000"), 1), (["x"], 2)):
            done = subprocess.run(
                ["bash", "-c", '"$@" ' + redirection, "-", check.tool, *words],
                stdout=subprocess.DEVNULL,
                timeout=120,
            )
            check.expect("%s %s" % (words[0], redirection), done.returncode == code, str(done))


def commands_of_paths(check, path):
    """Every command and flag that takes a path, with this one."""
    program, startup = check.program("main.pdmodel"), check.program("startup.pdmodel")
    feeds, init = check.program("feeds"), check.program("init")
    job = ["--mode", "collective", "--trainers", "2"]
    both = [program, "--startup", startup]
    yield ["show", path]
    yield ["verify", path]
    yield ["verify", check.path("pathed"), path]
    yield ["diff", path, path]
    yield ["export", path, "-o", check.path("x")]
    yield ["export", check.path("pathed"), "-o", path]
    yield ["convert", path, check.path("x.mlir")]
    yield ["convert", program, path + "/x.mlir"]
    yield ["compile", path, "--feeds", feeds, "-o", check.path("x")]
    yield ["compile", *both, "--feeds", feeds, "-o", path]
    yield ["transpile", path, "-o", check.path("x"), *job]
    yield ["transpile", program, "--startup", path, "-o", check.path("x"), *job]
    yield ["transpile", *both, "-o", path, *job]
    yield ["run", path, *data(check)]
    yield ["run", program, "--feeds", path, "--init", init]
    yield ["run", program, "--feed", "x=" + path, "--feed", "y=" + path, "--init", init]
    for ending in ("", "/x.pdparams", "/x.pdiparams"):
        yield ["run", program, "--feeds", feeds, "--init", path + ending]
        yield run(check, "--save", path + ending)
    for flag in ("--report", "--save-fetches", "--trace"):
        yield run(check, flag, path)


def impossible_paths(check):
    check.expect_exit("a job", 0, check.transpile("pathed", 2))
    os.symlink("loop", check.path("loop"))
    with open(check.path("file"), "w") as f:
        f.write("x")
    before = sorted(os.listdir(check.work))
    for what, path in (
        ("too long a path", os.path.join(check.work, LONG)),
        ("too long a name", check.path("n" * 300)),
        ("a loop of links", check.path("loop")),
        ("a file on the way", check.path("file/below")),
    ):
        for words in commands_of_paths(check, path):
            done = check.call(*words)
            shown = " ".join(word[:60] for word in words)
            # A job that verify cannot read is said in its report.
            report = words[0] == "verify" and words[1] == path
            said, wrong = (done.stdout, "refuted [") if report else (done.stderr, "error: ")
            check.expect(
                "%s: %s" % (what, shown),
                done.returncode == 1 and wrong in said and "internal" not in said,
                "%d %s" % (done.returncode, said[:500]),
            )
    check.expect("nothing is left", sorted(os.listdir(check.work)) == before)


def special_files(check):
    """Pipes and devices in a job or beside it are refused, not waited for."""

    def replace(path, kind):
        os.remove(path)
        if kind == "a pipe":
            os.mkfifo(path)
        elif kind == "a folder":
            os.mkdir(path)
        else:
            os.symlink({"a device": "/dev/zero", "a terminal": "/dev/ptmx"}[kind], path)

    for file in ("manifest.json", "job.mlirbc"):
        for kind in ("a pipe", "a device", "a terminal", "a folder"):
            job = check.path("special")
            shutil.rmtree(job, ignore_errors=True)
            check.expect_exit("a job", 0, check.transpile("special", 2))
            replace(os.path.join(job, file), kind)
            for words in (
                ["show", job],
                ["verify", job],
                ["diff", job, job],
                ["run", job, *data(check)],
                ["export", job, "-o", check.path("e")],
                check.transpile("special", 2, "--force"),
            ):
                check.expect_exit("%s with %s as %s" % (words[0], kind, file), 1, words, "special")
    plan = check.path("plan")
    words = ["compile", *run(check)[1:4], "--startup", check.program("startup.pdmodel"), "-o", plan]
    check.expect_exit("a plan", 0, words)
    replace(os.path.join(plan, "plan.json"), "a pipe")
    check.expect_exit("show with a pipe as plan.json", 1, ["show", plan], "not a regular file")
    check.expect_exit("compile over it", 1, words, "is no compiled plan")
    feeds = check.path("special_feeds")
    shutil.copytree(check.program("feeds"), feeds)
    os.chmod(feeds, 0o755)
    replace(os.path.join(feeds, "x.npy"), "a pipe")
    check.expect_exit(
        "a pipe as feed",
        1,
        ["run", check.program("main.pdmodel"), "--feeds", feeds, "--init", check.program("init")],
        "not a regular file",
    )


def documents(check):
    """JSON and NumPy files that say two things, or what their languages do not have."""
    job = check.path("twice")
    check.expect_exit("a job", 0, check.transpile("twice", 2))
    manifest = read(os.path.join(job, "manifest.json"))
    with open(os.path.join(job, "manifest.json"), "wb") as f:
        f.write(manifest.replace(b'"mode"', b'"mode": "ps",\n  "mode"', 1))
    for words in (["show", job], ["verify", job], ["run", job, *data(check)]):
        check.expect_exit(words[0] + " with a key twice", 1, words, "has the key 'mode' twice")
    ragged = os.path.join(check.corpus, "fluid18", "text_lstm")
    for what, text in (
        ("offsets that begin with zeros", "[[00, 1]]"),
        ("text after the list", "[[0, 1]] 2"),
        ("an offset that is no number", "[[0, nan]]"),
        ("offsets that do not fit", "[[0, 1]]"),
    ):
        feeds = check.path("ragged")
        shutil.rmtree(feeds, ignore_errors=True)
        shutil.copytree(os.path.join(ragged, "feeds"), feeds)
        os.chmod(feeds, 0o755)
        path = os.path.join(feeds, "words.step2.lod.json")
        os.remove(path)
        with open(path, "w") as f:
            f.write(text)
        check.expect_exit(
            what,
            1,
            ["run", os.path.join(ragged, "main.pdmodel"), "--feeds", feeds]
            + ["--init", os.path.join(ragged, "init")],
            "words.step2.lod.json",
        )
    for value in ("nan", "inf", "-inf", "1e999", "", "0x"):
        check.expect_exit(
            "--per-step of " + value,
            2,
            run(check, "--per-step", "learning_rate_0=" + value),
            "finite number",
        )
    check.expect_exit(
        "--per-step of a number that float32 has not",
        1,
        run(check, "--per-step", "learning_rate_0=1e39"),
        "is float32, which has no value 1e+39",
    )
    x = read(check.program("feeds/x.npy"))
    for what, old, new, message in (
        ("a shape with zeros in front", b"(8, ", b"(08,", "begins with 0"),
        ("a shape that is a number", b"(8, 16, 10)", b"(1280)     ", "instead of a shape"),
        ("a feed of no steps", b"(8, 16, 10)", b"(0, 16, 10)", "has no steps"),
    ):
        check.expect("the header has " + str(old), old in x, str(x[:100]))
        changed = x.replace(old, new, 1)
        if b"(0," in new:
            changed = changed[: changed.index(b"\n") + 1]
        with open(check.path("x.npy"), "wb") as f:
            f.write(changed)
        words = ["run", check.program("main.pdmodel"), "--feed", "x=" + check.path("x.npy")]
        words += ["--feed", "y=" + check.program("feeds/y.npy"), "--init", check.program("init")]
        check.expect_exit(what, 1, words, message)


def names(check):
    """Names that no file can have, and paths that are no text."""
    with open(check.path("long.pdparams"), "wb") as f:
        pickle.dump({"k" * 70000: "no array", "w": 1}, f, protocol=2)
    check.expect_exit(
        "a long key of no array",
        1,
        [
            "run",
            check.program("main.pdmodel"),
            "--feeds",
            check.program("feeds"),
            "--init",
            check.path("long.pdparams"),
        ],
        "has no value for",
    )
    saved = read(
        os.path.join(check.corpus, "static26", "mlp_regression", "saved", "model.pdparams")
    )
    old = b"\x8c\x0clinear_0.w_0"  # SHORT_BINUNICODE, in the one frame of the file
    new = b"X" + struct.pack("<I", 70000) + b"k" * 70000
    check.expect("the pickle has the name", saved.count(old) == 1 and saved[2:3] == b"\x95")
    frame = struct.unpack("<Q", saved[3:11])[0] + len(new) - len(old)
    with open(check.path("long.pdparams"), "wb") as f:
        f.write(saved[:3] + struct.pack("<Q", frame) + saved[11:].replace(old, new))
    done = check.call(*run(check)[:4], "--init", check.path("long.pdparams"))
    check.expect(
        "a long key",
        done.returncode == 1
        and "kkk…' has a part of 70000 bytes" in done.stderr
        and len(done.stderr) < 1000,
        "%d %s" % (done.returncode, done.stderr[:500]),
    )
    odd = os.path.join(check.work.encode(), b"odd\xff")
    shutil.copytree(check.program("feeds").encode(), odd)
    for words in (
        run(check, "--save", odd + b"/end"),
        run(check, "--trace", odd + b"/trace"),
        ["run", check.program("main.pdmodel"), "--feeds", odd, "--init", check.program("init")],
    ):
        done = subprocess.run(
            [check.tool, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60
        )
        check.expect(
            "a path that is not UTF-8",
            done.returncode == 1 and b"is not UTF-8" in done.stderr,
            str(done),
        )
    check.expect("nothing is left there", set(os.listdir(odd)) == {b"x.npy", b"y.npy"})
    check.expect_exit("a job of any characters", 0, check.transpile("a b'\"$\n語", 2))
    check.expect_exit("it is verified", 0, ["verify", check.path("a b'\"$\n語")])


def failed_runs(check):
    """A run that fails leaves no folders; one that ends well leaves other files of them alone."""
    case = os.path.join(check.corpus, "fluid18", "text_lstm")
    feeds = check.path("bad")
    shutil.copytree(os.path.join(case, "feeds"), feeds)
    os.chmod(feeds, 0o755)
    path = os.path.join(feeds, "words.step0.npy")
    content = bytearray(read(path))
    content[-8:] = struct.pack("<q", 1 << 40)
    os.remove(path)
    with open(path, "wb") as f:
        f.write(content)
    words = ["run", os.path.join(case, "main.pdmodel"), "--feeds", feeds]
    words += ["--init", os.path.join(case, "init")]
    for flag in ("--save", "--save-fetches", "--trace"):
        words += [flag, check.path("failed/" + flag)]
    check.expect_exit("a run that fails", 4, words)
    check.expect("leaves no folder", not os.path.exists(check.path("failed")))
    folder = check.path("fetched")
    os.mkdir(folder)
    with open(os.path.join(folder, "mean.txt"), "w") as f:
        f.write("mine")
    check.expect_exit("a job of two", 0, check.transpile("fetching", 2))
    many = ["run", check.path("fetching"), *data(check), "--save-fetches", folder]
    check.expect_exit("fetches of two ranks", 0, many)
    name = "mean_0.tmp_0.npy"
    check.expect(
        "they are there", set(tree(folder)) == {"mean.txt", name, "0/" + name, "1/" + name}
    )
    check.expect_exit("fetches of one", 0, run(check, "--save-fetches", folder))
    check.expect(
        "what is old of them is gone",
        set(tree(folder)) == {"mean.txt", name, "0/" + name} and os.listdir(folder).count("1") == 0,
        str(tree(folder).keys()),
    )


def kept_permissions(check):
    folder = check.path("private")
    check.expect_exit("a checkpoint", 0, run(check, "--save", folder))
    os.chmod(folder, 0o700)
    check.expect_exit("over it", 0, run(check, "--save", folder))
    check.expect("it stays private", stat.S_IMODE(os.stat(folder).st_mode) == 0o700)
    report = check.path("private.json")
    check.expect_exit("a report", 0, run(check, "--report", report))
    os.chmod(report, 0o600)
    os.link(report, check.path("same.json"))
    check.expect_exit("over it", 0, run(check, "--report", report))
    check.expect("it stays private", stat.S_IMODE(os.stat(report).st_mode) == 0o600)
    done = subprocess.run(
        [check.tool, *run(check, "--save", ".")], cwd=folder, stderr=subprocess.PIPE, text=True
    )
    check.expect(
        "the working folder is not replaced",
        done.returncode == 1 and "holds the working folder" in done.stderr,
        done.stderr,
    )


if __name__ == "__main__":
    main(
        (
            killed_writers,
            concurrent_writers,
            folders_of_the_user,
            left_by_killed_launchers,
            caches,
            full_disks,
            standard_streams,
            impossible_paths,
            special_files,
            documents,
            names,
            failed_runs,
            kept_permissions,
        )
    )
