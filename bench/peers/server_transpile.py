#!/usr/bin/env python3
"""Jobs with parameter servers, made by the framework's transpiler and by dtranspile: processor seconds, side by side.

    server_transpile.py [--tools FOLDER] [--corpus FOLDER] [--rounds N] [PROGRAM...]

The interpreter that runs this script has paddlepaddle 1.8.5 (docs/development.md). The framework transpiles all roles of a job: each trainer's program
and each server's programs (a transpiler for each trainer, one for the servers), in one process after the programs have been read; what counts is processor time from there on. Ours is a command from its
start to its end, all roles in one job, and `verify` of that job by itself. Jobs are of 2 trainers; sizes are servers. Of 64 servers the framework is asked
for transformer_base once, which takes minutes. Rounds take turns, medians are printed. Exit status 1 where ours is not a hundred times as fast.
"""

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
GOAL = 100
MANY = 10000  # beyond what the framework can be asked for
ROWS = [
    ("large/fluid18_resnet50", 2, True),
    ("large/fluid18_transformer_base", 2, True),
    ("large/fluid18_bert_base", 2, True),
    ("large/fluid18_transformer_base", 64, True),
    ("large/fluid18_resnet50", MANY, False),
    ("large/fluid18_transformer_base", MANY, False),
    ("large/fluid18_bert_base", MANY, False),
]


def framework_main(folder, servers):
    """Prints processor seconds, of one trainer, both, and servers too."""
    import paddle.fluid as fluid

    def parse(name):
        with open(os.path.join(folder, name + ".pdmodel"), "rb") as f:
            return fluid.Program.parse_from_string(f.read())

    endpoints = ["127.0.0.1:%d" % (6174 + i) for i in range(servers)]
    seconds = 0
    # Trainers, then servers: a transpiler that has given a trainer's program gives no server's after it.
    for rank in range(3):
        main, startup = parse("main"), parse("startup")
        begin = time.process_time()
        transpiler = fluid.DistributeTranspiler(fluid.DistributeTranspilerConfig())
        transpiler.transpile(
            rank % 2, program=main, startup_program=startup, pservers=",".join(endpoints), trainers=2
        )
        if rank < 2:
            transpiler.get_trainer_program(wait_port=False)
        else:
            for endpoint in endpoints:
                transpiler.get_pserver_programs(endpoint)
        seconds += time.process_time() - begin
        print(seconds, flush=True)


def command(*words):
    """Processor seconds and peak MB of a command and of what it starts."""
    pid = os.fork()
    if pid == 0:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for fd in (1, 2):
            os.dup2(nowhere, fd)
        os.execv(words[0], words)
    _, status, usage = os.wait4(pid, 0)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin", "tools", "dtranspile"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin", "test", "corpus"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    tool, good = os.path.join(options.tools, "dtranspile"), True
    work = tempfile.mkdtemp()
    for program, servers, both in ROWS:
        if options.programs and program not in options.programs:
            continue
        folder, job = os.path.join(options.corpus, program), os.path.join(work, "job")
        theirs, mine, checks = [], [], []
        for turn in range(options.rounds):
            if both and (servers == 2 or turn == 0):
                words = [sys.executable, os.path.abspath(__file__), "--framework", folder, str(servers)]
                out = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, universal_newlines=True)
                told = [float(line) for line in out.stdout.split("\n") if line.replace(".", "", 1).isdigit()]
                theirs.append(told[-1])
                partly = "" if len(told) == 3 else " (of trainers only: it fails at the servers')"
            shutil.rmtree(job, ignore_errors=True)
            programs = [os.path.join(folder, "main.pdmodel"), "--startup", os.path.join(folder, "startup.pdmodel")]
            sizes = ["--mode", "pserver", "--trainers", "2", "--pservers", str(servers)]
            mine.append(command(tool, "transpile", *(programs + ["-o", job] + sizes)))
            if mine[-1][2] != 0:
                sys.exit("transpile of %s fails" % program)
            checks.append(command(tool, "verify", job, "--execute=off"))
        ours = statistics.median(one[0] for one in mine)
        line = "%-32s %5d servers  ours %.3f s, %.0f MB, verify %.2f s" % (
            program,
            servers,
            ours,
            statistics.median(one[1] for one in mine),
            statistics.median(one[0] for one in checks),
        )
        if theirs:
            line += "  framework %.1f s%s: %.0f times as fast (goal %d)" % (
                statistics.median(theirs),
                partly,
                statistics.median(theirs) / ours,
                GOAL,
            )
            good &= statistics.median(theirs) / ours >= GOAL
        print(line, flush=True)
    shutil.rmtree(work)
    return 0 if good else 1


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] == "--framework":
        framework_main(sys.argv[2], int(sys.argv[3]))
    else:
        sys.exit(main())
