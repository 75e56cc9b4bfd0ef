#!/usr/bin/env python3
"""Runs exported parameter-server jobs in the real framework and compares every loss with what one device gave.

    server_parity.py [--tools FOLDER] [--corpus FOLDER] [CASE...]

For each row of CASES: transpile, verify and export with the command line (of JOBS: verify and export), then one process per trainer and server of
paddlepaddle 1.8.5 (the interpreter that runs this script must have it: python 3.7, `pip install paddlepaddle==1.8.5 'protobuf<3.21' numpy`) on the
loopback interface. Initial values are those that the exported start-up programs give. Losses: mean over trainers within 1e-5 + 1e-4 * |loss| of
golden.json on every step; exit status 1 where one is not. The framework's servers do not end by themselves: they are ended when the trainers have.
TOOLS default to bazel-bin/tools/dtranspile, the corpus to where the build unpacks it.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIMIT_SECONDS = 300

# case, trainers, servers, flags of transpile
SMALL = ["--min-block-size", "64", "--allow-small-blocks"]
CASES = [
    ("fluid18/fit_a_line", 2, 2, []),
    ("fluid18/mnist_mlp", 2, 2, []),
    ("fluid18/lenet", 2, 2, []),
    ("fluid18/word2vec", 2, 2, []),
    ("fluid18/ftrl_lr", 2, 2, []),
    ("fluid18/text_conv", 2, 2, []),
    ("fluid18/adadelta_mlp", 2, 2, []),
    ("fluid18/adamax_mlp", 2, 2, []),
    ("fluid18/cosine_adam_mlp", 2, 2, []),
    ("fluid18/ctr_wide_deep", 2, 2, []),
    ("fluid18/decayed_adagrad_mlp", 2, 2, []),
    ("fluid18/device_guard_mlp", 2, 2, []),
    ("fluid18/dynamic_rnn", 2, 2, []),
    ("fluid18/ema_mlp", 2, 2, []),
    # norms over servers have no operator in the framework
    ("fluid18/lamb_mlp", 2, 2, ["--slice-var-up", "false"]),
    ("fluid18/lars_mlp", 2, 2, ["--slice-var-up", "false"]),
    ("fluid18/nesterov_exponential_mlp", 2, 2, []),
    ("fluid18/polynomial_sgd_mlp", 2, 2, []),
    ("fluid18/recompute_mlp", 2, 2, []),
    ("fluid18/rmsprop_mlp", 2, 2, []),
    ("fluid18/static_rnn", 2, 2, []),
    ("fluid18/text_lstm", 2, 2, []),
    ("fluid18/transformer_small", 2, 2, []),
    ("fluid18/while_loop", 2, 2, []),
    ("fluid18/word2vec_distributed", 2, 2, []),
    # in small blocks, several on a server
    ("fluid18/fit_a_line", 1, 2, ["--min-block-size", "3", "--allow-small-blocks"]),
    ("fluid18/mnist_mlp", 4, 3, SMALL),
    ("fluid18/lenet", 2, 3, SMALL),
    ("fluid18/word2vec", 2, 3, SMALL),
    ("fluid18/ftrl_lr", 2, 3, SMALL),
    ("fluid18/text_conv", 2, 3, SMALL),
    ("fluid18/adadelta_mlp", 2, 3, SMALL),
    ("fluid18/ctr_wide_deep", 2, 3, SMALL),
    ("fluid18/transformer_small", 2, 3, SMALL),
    # placed otherwise
    ("fluid18/mnist_mlp", 1, 1, []),
    ("fluid18/lenet", 2, 2, ["--split-method", "HashName"]),
    ("fluid18/text_conv", 2, 2, ["--slice-var-up", "false"]),
    # norms of all parameters: one server has them
    ("fluid18/bert_tiny", 2, 1, []),
    ("fluid18/lamb_mlp", 2, 1, []),
    # without rounds: one trainer has the values of one device
    ("fluid18/fit_a_line", 1, 2, ["--preset", "async"]),
    ("fluid18/mnist_mlp", 1, 2, SMALL + ["--preset", "async"]),
    ("fluid18/lenet", 1, 2, ["--preset", "async"]),
    ("fluid18/word2vec", 1, 2, SMALL + ["--preset", "async"]),
    ("fluid18/adadelta_mlp", 1, 2, SMALL + ["--preset", "async"]),
]

# Jobs by hand (test/jobs): file, case, replacements in its text.
ONE_TRAINER = ("[dp = 2]", "[dp = 1]")
TWO_SERVERS = ("[ps = 1]", "[ps = 2]")
CUT = ("blocks(10, per 10, first 0)", "blocks(10, per 4, first 1)")
JOBS = [
    ("parameter_server.mlir", "fluid18/fit_a_line", []),
    ("parameter_server.mlir", "fluid18/fit_a_line", [ONE_TRAINER]),
    ("parameter_server.mlir", "fluid18/fit_a_line", [TWO_SERVERS]),
    ("parameter_server.mlir", "fluid18/fit_a_line", [TWO_SERVERS, CUT]),
    ("parameter_server.mlir", "fluid18/fit_a_line", [ONE_TRAINER, TWO_SERVERS, CUT]),
]


def fail(message):
    sys.exit("FAILED: " + message)


def call(*words):
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=LIMIT_SECONDS,
        universal_newlines=True,
    )
    if done.returncode != 0:
        fail("exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout))


def free_endpoints(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    endpoints = ["127.0.0.1:%d" % one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return endpoints


# ---------------------------------------------------------------------------------------- processes


def read_feeds(case, description, part, parts):
    """Per step {name: what one trainer is fed}: rows, or of ragged feeds sequences."""
    import numpy as np
    import paddle.fluid as fluid

    steps = [{} for _ in range(description["steps"])]
    for feed in description["feeds"]:
        path = os.path.join(case, feed["file"])
        for step, fed in enumerate(steps):
            if not feed["lod_level"]:
                rows = np.load(path, mmap_mode="r")[step]
                share = len(rows) // parts
                fed[feed["name"]] = np.array(rows[part * share : (part + 1) * share])
                continue
            rows = np.load(path.replace("{step}", str(step)))
            with open(path.replace("{step}", str(step))[:-4] + ".lod.json") as f:
                offsets = json.load(f)[0]
            share = (len(offsets) - 1) // parts
            own = offsets[part * share : (part + 1) * share + 1]
            lengths = [end - begin for begin, end in zip(own, own[1:])]
            fed[feed["name"]] = fluid.create_lod_tensor(
                rows[own[0] : own[-1]], [lengths], fluid.CPUPlace()
            )
    return steps


def process_main(folder, role, rank, case):
    """One process of the job; a trainer prints its losses as its last line."""
    import numpy as np
    import paddle.fluid as fluid

    with open(os.path.join(folder, "export.json")) as f:
        processes = json.load(f)[role + "s"]

    def parse(name):
        with open(os.path.join(folder, processes[rank][name]), "rb") as f:
            return fluid.Program.parse_from_string(f.read())

    executor = fluid.Executor(fluid.CPUPlace())
    executor.run(parse("startup"))
    main = parse("main")
    if role == "server":
        executor.run(main)
        return
    with open(os.path.join(case, "case.json")) as f:
        description = json.load(f)
    values = []
    for fed in read_feeds(case, description, rank, len(processes)):
        (loss,) = executor.run(main, feed=fed, fetch_list=[description["loss"]])
        values.append(float(np.asarray(loss, "float64").reshape(-1)[0]))
    print(json.dumps(values), flush=True)
    executor.close()


def wait_for(endpoint, process, deadline):
    host, port = endpoint.split(":")
    while time.time() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex((host, int(port))) == 0:
                return
        if process.poll() is not None:
            fail("the server of %s ended with %d" % (endpoint, process.returncode))
        time.sleep(0.05)
    fail("no server at " + endpoint)


def train(folder, case):
    """Mean of the losses over the trainers, per step."""
    with open(os.path.join(folder, "export.json")) as f:
        index = json.load(f)
    surroundings = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    surroundings.update(
        CPU_NUM="1", OMP_NUM_THREADS="1", FLAGS_rpc_deadline="60000", GLOG_minloglevel="1"
    )
    running = []

    def start(role, rank):
        log = tempfile.TemporaryFile("w+")
        words = [sys.executable, os.path.abspath(__file__), "--process-of", folder, role, str(rank)]
        process = subprocess.Popen(
            words + [case],
            stdout=subprocess.PIPE if role == "trainer" else log,
            stderr=log,
            env=surroundings,
            universal_newlines=True,
        )
        running.append((process, log))
        return process

    deadline = time.time() + LIMIT_SECONDS
    losses = []
    try:
        for rank, server in enumerate(index["servers"]):
            wait_for(server["endpoint"], start("server", rank), deadline)
        trainers = [start("trainer", rank) for rank in range(len(index["trainers"]))]
        for rank, process in enumerate(trainers):
            try:
                out, _ = process.communicate(timeout=max(1, deadline - time.time()))
            except subprocess.TimeoutExpired:
                process.kill()
                out, _ = process.communicate()
            if process.returncode != 0:
                texts = []
                for _, log in running:
                    log.seek(0)
                    texts.append(log.read()[-1500:])
                fail(
                    "trainer %d ended with %d\n%s"
                    % (rank, process.returncode, "\n----\n".join(texts))
                )
            losses.append(json.loads(out.splitlines()[-1]))
    finally:
        for process, log in running:
            process.kill()
            process.wait()
            log.close()
    return [sum(column) / len(losses) for column in zip(*losses)]


# ---------------------------------------------------------------------------------------- the table


def compare(tools, corpus, name, servers, job, work):
    """The largest difference of a loss, as a part of what is allowed."""
    tool, case = os.path.join(tools, "dtranspile"), os.path.join(corpus, name)
    folder = os.path.join(work, "export")
    call(tool, "verify", job)
    call(tool, "export", job, "-o", folder, "--endpoints", ",".join(free_endpoints(servers)))
    found = train(folder, os.path.abspath(case))
    with open(os.path.join(case, "case.json")) as f:
        loss = json.load(f)["loss"]
    with open(os.path.join(case, "golden.json")) as f:
        golden = [e[0] if isinstance(e, list) else e for e in json.load(f)[loss]]
    if len(found) != len(golden):
        fail("%s: %d steps, expected %d" % (name, len(found), len(golden)))
    return max(abs(a - b) / (1e-5 + 1e-4 * abs(b)) for a, b in zip(found, golden))


def transpiled(tool, case, trainers, servers, flags, work):
    job = os.path.join(work, "job")
    program = [os.path.join(case, "main.pdmodel"), "--startup", os.path.join(case, "startup.pdmodel")]
    mode = ["--mode", "pserver", "--trainers", str(trainers), "--pservers", str(servers)]
    call(tool, "transpile", *program, "-o", job, *mode, *flags)
    return job


def by_hand(name, changes, work):
    with open(os.path.join(ROOT, "test", "jobs", name)) as f:
        text = f.read()
    for old, new in changes:
        if old not in text:
            fail("'%s' is not in %s" % (old, name))
        text = text.replace(old, new)
    job = os.path.join(work, "job.mlir")
    with open(job, "w") as f:
        f.write(text)
    return job


def main():
    if sys.argv[1:2] == ["--process-of"]:
        folder, role, rank, case = sys.argv[2:]
        return process_main(folder, role, int(rank), case)
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin/tools/dtranspile"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin/test/corpus"))
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    rows = [row for row in CASES if not options.cases or row[0] in options.cases]
    jobs = [row for row in JOBS if not options.cases or row[0] in options.cases]
    if not rows and not jobs:
        fail("no row of CASES or JOBS is named " + " or ".join(options.cases))
    print("%-36s %-8s %-7s  %s" % ("case", "trainers", "servers", "largest difference / allowed"))
    parts = []

    def report(name, trainers, servers, part, note):
        parts.append(part)
        print("%-36s %8d %7d  %.4f %s" % (name, trainers, servers, part, note), flush=True)

    tool = os.path.join(options.tools, "dtranspile")
    for name, trainers, servers, flags in rows:
        with tempfile.TemporaryDirectory() as work:
            case = os.path.join(options.corpus, name)
            job = transpiled(tool, case, trainers, servers, flags, work)
            part = compare(options.tools, options.corpus, name, servers, job, work)
        report(name, trainers, servers, part, " ".join(flags))
    for name, case, changes in jobs:
        with tempfile.TemporaryDirectory() as work:
            servers = 2 if TWO_SERVERS in changes else 1
            job = by_hand(name, changes, work)
            part = compare(options.tools, options.corpus, case, servers, job, work)
        trainers = 1 if ONE_TRAINER in changes else 2
        report(name, trainers, servers, part, "cut" if CUT in changes else "")
    return 0 if max(parts) <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
