"""Machines that lack something: memory, threads, descriptors, folders, a network, the right to run files.

machines.py TOOL_FOLDER CORPUS

Every run ends by itself, with the losses or with what is missing and what to do about it. What needs the
rights of a system's administrator (mounts, other users) is left out by name without them.
"""

import os
import shutil
import subprocess
import time

from check import main

ONE_CORE = "taskset -cp 0 $$ >/dev/null; "
# Another user, who may read what is ours: limits of processes do not hold for root.
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NOBODY += ["--inh-caps=+dac_override", "--ambient-caps=+dac_override"]
# Seconds: what `--timeout` grants, and twice that for the end.
LONGEST = 60


def run(check, job, prepare, *more, **environment):
    """`dtranspile run` of a job behind a line of shell; (exit status, output, seconds)."""
    words = [check.tool, "run", check.path(job)]
    words += ["--feeds", check.path("feeds"), "--init", check.path("init"), "--timeout", "10"]
    begin = time.time()
    done = subprocess.run(
        ["bash", "-c", prepare + 'exec "$@"', "bash", *words, *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=120,
        env=dict(os.environ, **environment),
    )
    return done.returncode, done.stdout, time.time() - begin


def may(words):
    """Whether this process has the right to `words`."""
    return subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).returncode == 0


def works(check, what, job, prepare, losses, *more, **environment):
    code, text, seconds = run(check, job, prepare, *more, **environment)
    check.expect(
        what + ": as on any machine",
        code == 0 and losses in text and seconds < LONGEST,
        "exit status %d after %.1f s\n%s" % (code, seconds, text),
    )


def ends(check, what, job, prepare, *fragments, **environment):
    """Ends in time, without the losses, saying `fragments`."""
    code, text, seconds = run(check, job, prepare, **environment)
    missing = [fragment for fragment in fragments if fragment not in text]
    check.expect(
        what + ": says what is missing",
        code in (1, 4) and not missing and "signal" not in text and seconds < LONGEST,
        "exit status %d after %.1f s; missing %s\n%s" % (code, seconds, missing, text),
    )


def bounded(check, what, job, prepare, **environment):
    """Either way is right, as long as it comes to an end of its own."""
    code, text, seconds = run(check, job, prepare, **environment)
    check.expect(
        what + ": comes to an end",
        code in (0, 1, 4) and "signal" not in text and seconds < LONGEST,
        "exit status %d after %.1f s\n%s" % (code, seconds, text),
    )
    return text


def checks(check):
    os.chmod(check.work, 0o755)  # for other users
    for name in ("feeds", "init"):
        shutil.copytree(check.program(name), check.path(name))
    for job, words in (
        ("ranks", ["--trainers", "2"]),
        ("servers", ["--mode", "pserver", "--trainers", "2", "--pservers", "2"]),
    ):
        check.expect_exit(
            job + " are made", 0, ["transpile", check.program("main.pdmodel"), "--startup",
                                   check.program("startup.pdmodel"), "-o", check.path(job), *words]
        )
    os.mkdir(check.path("limited"))
    for job in ("ranks", "servers"):
        code, text, _ = run(check, job, "")
        check.expect(job + " run", code == 0, text)
        losses = next(line for line in text.splitlines() if ": [" in line)
        works(check, job + ", one core", job, ONE_CORE, losses)
        works(check, job + ", small stacks", job, "ulimit -s 512; ", losses)
        works(check, job + ", 64 descriptors", job, "ulimit -n 64; ", losses)
        works(check, job + ", another language", job, "", losses, LC_ALL="de_DE.UTF-8")
        works(check, job + ", no home", job, "unset HOME XDG_CACHE_HOME; ", losses)
        works(
            check, job + ", a proxy", job, "", losses,
            http_proxy="http://192.0.2.1:3128", https_proxy="http://192.0.2.1:3128",
        )
        bounded(check, job + ", 12 descriptors", job, "ulimit -n 12; ")
        # A limit on the size of files is an error of what writes one, and no signal.
        for blocks in (0, 1, 16, 64):
            text = bounded(
                check, job + ", files of %d kB" % blocks, job, "ulimit -f %d; " % blocks,
                TMPDIR=check.path("limited"),
            )
            left = os.listdir(check.path("limited"))
            check.expect("it leaves nothing", not left, str(left))
            check.expect("and says what to do", ": [" in text or "`ulimit -f`" in text, text)
    works(check, "ranks over sockets, one core", "ranks", ONE_CORE, ": [", "--backend", "gloo")
    bounded(check, "servers, 400 MB of addresses", "servers", "ulimit -v 400000; ")
    ends(
        check, "a way of waiting that gRPC does not know", "servers", "",
        "GRPC_POLL_STRATEGY=nothing, and gRPC knows epoll1", GRPC_POLL_STRATEGY="nothing",
    )

    if may(["unshare", "-m", "true"]):
        ends(
            check, "TMPDIR that runs no files", "ranks",
            'mkdir "$M" && exec unshare -m bash -c \'mount -t tmpfs -o noexec none "$M"; TMPDIR=$M '
            'exec "$@"\' bash "$@"; ',
            "cannot be loaded", "`noexec`: set TMPDIR", M=check.path("noexec"),
        )
        ends(
            check, "16 kB of shared memory", "ranks",
            "exec unshare -m bash -c 'mount -t tmpfs -o size=16k none /dev/shm; exec \"$@\"' "
            'bash "$@"; ',
            "enlarge /dev/shm, or run with --backend gloo",
        )
    else:
        print("left out: mounts (no right to make them)")
    if may(["unshare", "-n", "true"]):
        works(check, "ranks, no network", "ranks", 'exec unshare -n "$@"; ', ": [")
        ends(check, "servers, no network", "servers", 'exec unshare -n "$@"; ', "unreachable")
    else:
        print("left out: networks (no right to make them)")
    if may([*NOBODY, "true"]):
        # gRPC wants threads of its own; without them it would neither start nor end.
        said = ""
        for most in (8, 15, 25, 40, 60):
            said += bounded(
                check, "servers, %d threads in all" % most, "servers",
                'ulimit -u %d; exec %s "$@"; ' % (most, " ".join(NOBODY)),
                XDG_CACHE_HOME=check.path("cache"), HOME=check.path("home"),
            )
        check.expect("one of them says what is missing", "the system grants" in said, said)
    else:
        print("left out: other users (no right to become one)")


if __name__ == "__main__":
    main((checks,))
