#!/usr/bin/env python3
"""Runs exported jobs in the real framework and compares every loss with what one device gave.

    export_parity.py [--tools FOLDER] [--corpus FOLDER] [CASE...]

For each row of CASES and STRATEGIES: transpile, verify and export with the command line (of JOBS: verify and export), then one process per rank of paddlepaddle 2.6.2 (the interpreter that runs
this script must have it: `pip install paddlepaddle==2.6.2 numpy==1.26.4 protobuf==4.25.8`) on the loopback interface with Gloo. A CPU build of the
framework has no NCCL, so what only sets up or orders NCCL communicators is dropped, and only rings of all ranks can be run. Losses: mean over ranks
within 1e-5 + 1e-4 * |loss| of golden.json on every step; those of STRATEGIES, whose programs compute something else, of a native run of the same job. Half precision:
the CPU build has kernels for few ops of it, so programs of mixed precision run with float32 in its place (every cast, check, branch and counter stays), and are held
to golden.json. Exit status 1 where a loss is not. TOOLS default to bazel-bin/tools/dtranspile, the corpus
to where the build unpacks it.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile

import numpy

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
LIMIT_SECONDS = 300

OWNERS = ["--sharding", "--sharding-form", "owner"]

# case, ranks, flags of transpile. fluid18/lenet is not here: 2.6.2 does not run the program as 1.8
# saved it (softmax_with_cross_entropy_grad lacks an attribute), on one device neither.
CASES = [
    ("fluid18/fit_a_line", 2, []),
    ("fluid18/fit_a_line", 4, []),
    ("fluid18/mnist_mlp", 2, []),
    ("fluid18/mnist_mlp", 4, ["--nccl-comm-num", "2"]),
    ("fluid18/nesterov_exponential_mlp", 2, []),
    ("fluid18/adamax_mlp", 2, []),
    ("fluid18/rmsprop_mlp", 2, []),
    ("static26/fit_a_line", 2, []),
    ("static26/lenet", 2, []),
    ("static26/mlp_regression", 4, []),
    ("static26/mlp_amp_ready", 2, []),
    ("static26/bert_tiny", 2, []),
    ("static26/vit_tiny", 2, []),
    ("static26/word2vec", 2, []),
    ("static26/ctr_deep", 2, []),
    ("static26/gpt_tiny", 2, ["--recompute", "--recompute-checkpoints", "sqrt"]),
    ("static26/bert_tiny", 2, ["--recompute", "--recompute-checkpoints", "auto"]),
    ("static26/vit_tiny", 4, ["--recompute", "--recompute-checkpoints", "layer_norm_*.tmp_2"]),
    ("static26/mlp_stages", 2, ["--tensor-parallel", "--tensor-parallel-degree", "2"]),
    ("static26/gpt_tiny", 2, ["--tensor-parallel", "--tensor-parallel-degree", "2"]),
    ("static26/gpt_tiny", 4, ["--tensor-parallel", "--tensor-parallel-degree", "4"]),
    ("static26/bert_tiny", 2, ["--tensor-parallel", "--tensor-parallel-degree", "2"]),
    # A table in parts (c_embedding). The loss of parts has no kernel for processors: its exports are loaded only.
    ("models26/padded_attention", 2, ["--tensor-parallel", "--tensor-parallel-degree", "2", "--tensor-parallel-min-vocabulary", "12"]),
    ("fluid18/mnist_mlp", 2, OWNERS),
    ("fluid18/mnist_mlp", 4, OWNERS),
    ("static26/lenet", 2, OWNERS),
    ("static26/mlp_stages", 4, OWNERS),
    ("static26/gpt_tiny", 2, OWNERS),
    ("static26/gpt_tiny", 2, OWNERS + ["--sharding-stage", "3", "--segment-broadcast-MB", "0.1"]),
    ("static26/vit_tiny", 2, OWNERS),
    ("static26/word2vec", 2, OWNERS),
    ("parallel26/parallel_mlp", 2, ["--tensor-parallel", "--tensor-parallel-degree", "2", "--input-parallel", "mp"]),
]

MERGED = ["--gradient-merge", "--gradient-merge-k-steps", "2"]
COMPRESSED = ["--dgc", "--dgc-min-size", "500"]
LOCAL = ["--collective-mode", "local_sgd"]
# Strategies that change the computation, or what travels: case, ranks, flags.
STRATEGIES = [
    ("static26/mlp_amp_ready", 2, ["--amp"]),
    ("static26/lenet", 2, ["--amp"]),
    ("static26/bert_tiny", 2, ["--amp"]),
    ("static26/gpt_tiny", 2, ["--amp"]),
    ("static26/gpt_tiny", 2, ["--amp", "--recompute", "--recompute-checkpoints", "sqrt"]),
    ("fluid18/mnist_mlp", 2, MERGED),
    ("static26/gpt_tiny", 2, MERGED),
    # Not of fluid18, since 2.6.2 does not run these ops as 1.8 saves them: lars_weight_decay was one number and is a list, lamb gave no powers of its rates.
    ("static26/mlp_amp_ready", 2, ["--lars", "--lars-coeff", "0.01"]),
    ("static26/gpt_tiny", 2, ["--lamb"]),
    ("static26/gpt_tiny", 2, ["--lamb"] + OWNERS),
    ("fluid18/mnist_mlp", 2, MERGED + OWNERS),
    ("fluid18/mnist_mlp", 2, LOCAL),
    ("fluid18/mnist_mlp", 2, LOCAL + ["--localsgd-k-steps", "2"]),
    ("fluid18/mnist_mlp", 2, COMPRESSED + ["--dgc-sparsity", "0.9"]),
    ("fluid18/mnist_mlp", 2, COMPRESSED + ["--dgc-sparsity", "0.5,0.9", "--dgc-rampup-begin-step", "1", "--dgc-rampup-step", "2"]),
    ("fluid18/mnist_mlp", 2, ["--fp16-allreduce"]),
    ("static26/gpt_tiny", 2, ["--fp16-allreduce"]),
]

# A feed of the first step, on the first rank, holds an infinity: that step is left out on all ranks, and the others are as in a native run without it.
OVERFLOWS = [
    ("static26/mlp_amp_ready", 2, ["--amp"]),
    ("static26/lenet", 2, ["--amp"]),
]

# Jobs by hand (test/jobs): file, case, ranks, runs per step of the case.
JOBS = [
    ("owner_sharded_2.mlir", "fluid18/mnist_mlp", 2, 1),
    ("owner_sharded_4.mlir", "fluid18/mnist_mlp", 4, 1),
    ("merged_gradients.mlir", "fluid18/mnist_mlp", 2, 4),
]

# Set up or order NCCL communicators; a CPU build has no kernels for them, and its executor runs ops
# in order.
NCCL_ONLY = {
    "c_gen_nccl_id",
    "c_comm_init",
    "c_sync_calc_stream",
    "c_sync_comm_stream",
    "c_wait_comm",
    "c_wait_compute",
    "barrier",
}


def fail(message):
    sys.exit("FAILED: " + message)


def call(*words):
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, text=True
    )
    if done.returncode != 0:
        fail("exit status %d of %s\n%s" % (done.returncode, " ".join(words), done.stdout))


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def adapt(block):
    """Drops what a CPU build lacks. Its broadcast gives zeros unless it works in place, so it gets a copy in front."""
    for index in range(len(block.ops) - 1, -1, -1):
        op = block.ops[index]
        if op.type in NCCL_ONLY:
            block._remove_op(index)
        elif op.type == "c_broadcast" and op.input("X") != op.output("Out"):
            block._insert_op(
                index, type="assign", inputs={"X": op.input("X")}, outputs={"Out": op.output("Out")}
            )
            block.ops[index + 1]._rename_input(op.input("X")[0], op.output("Out")[0])
    block._sync_with_cpp()


def load_variable(block, v, path, rank):
    """What the file holds; where layers are split, the rank's part of it: along the dim in which the program has less."""
    whole = block.create_var(name=v.name + "@FILE", dtype=v.dtype, shape=v.shape, persistable=True)
    block.create_var(name=v.name, dtype=v.dtype, shape=v.shape, persistable=True)
    block.append_op(type="load", outputs={"Out": [whole.name]}, attrs={"file_path": path})
    with open(path, "rb") as f:
        dims = dims_of(f.read(4096))
    cut = [d for d, (a, b) in enumerate(zip(v.shape, dims)) if a != b]
    if not cut:
        block.append_op(type="assign", inputs={"X": [whole.name]}, outputs={"Out": [v.name]})
        return
    (dim,), size = cut, v.shape[cut[0]]
    block.append_op(
        type="slice",
        inputs={"Input": [whole.name]},
        outputs={"Out": [v.name]},
        attrs={"axes": [dim], "starts": [rank * size], "ends": [(rank + 1) * size], "decrease_axis": []},
    )


def dims_of(data):
    """Extents of a dense record: field 2 of its TensorDesc, packed or not."""
    size = int.from_bytes(data[16:20], "little")
    at, dims = 20, []

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < 20 + size:
        tag = number()
        if tag == 18:
            end = number() + at
            while at < end:
                dims.append(number())
        elif tag == 16:
            dims.append(number())
        else:
            number()
    return dims


def in_float32(data):
    """The program with float32 in place of half precision: types of variables, and attributes that name types."""
    from paddle.base.proto import framework_pb2 as pb

    program = pb.ProgramDesc.FromString(data)
    half, single = (pb.VarType.FP16, pb.VarType.BF16), pb.VarType.FP32
    for block in program.blocks:
        for var in block.vars:
            for holder in ("lod_tensor", "selected_rows", "tensor_array"):
                if var.type.HasField(holder):
                    tensor = getattr(var.type, holder)
                    tensor = tensor if hasattr(tensor, "data_type") else tensor.tensor
                    if tensor.data_type in half:
                        tensor.data_type = single
        for op in block.ops:
            for attr in op.attrs:
                if attr.name in ("dtype", "in_dtype", "out_dtype") and attr.i in half:
                    attr.i = single
    return program.SerializeToString()


def rank_main(case, folder, rank, port, runs, widened, poisoned, split):
    """One rank: prints {fetch: [value of every step]} as its last line. `split`: ranks that a layer is split over, whose feeds are equal."""
    os.environ["GLOG_minloglevel"] = "2"
    os.environ["FLAGS_new_executor_sequential_run"] = (
        "1"  # every rank communicates in the order of the program
    )
    os.environ["PADDLE_TRAINER_ID"] = str(rank)
    import numpy as np
    import paddle
    from paddle import static

    paddle.enable_static()
    with open(os.path.join(folder, "export.json")) as f:
        trainers = json.load(f)["trainers"]
    with open(os.path.join(case, "case.json")) as f:
        description = json.load(f)

    def parse(name):
        with open(os.path.join(folder, name), "rb") as f:
            data = f.read()
        program = static.Program.parse_from_string(in_float32(data) if widened else data)
        for block in program.blocks:
            adapt(block)
        return program

    main, startup = parse(trainers[rank]["main"]), parse(trainers[rank]["startup"])
    paddle.distributed.gloo_init_parallel_env(rank, len(trainers), "127.0.0.1:%d" % port)
    paddle.enable_static()
    exe, scope = static.Executor(paddle.CPUPlace()), static.global_scope()
    exe.run(startup)
    load = static.Program()
    for v in main.list_vars():
        path = os.path.join(case, "init", v.name)
        if v.persistable and os.path.exists(path):
            load_variable(load.global_block(), v, path, rank)
    exe.run(load)
    feeds = {}
    for name in os.listdir(os.path.join(case, "feeds")):
        if name.endswith(".npy") and main.global_block().has_var(name[:-4]):
            array = np.load(os.path.join(case, "feeds", name))
            array = array.reshape((-1, array.shape[1] // runs) + array.shape[2:])
            rows = array.shape[1] * split // len(trainers)
            first = rank // split * rows
            feeds[name[:-4]] = array[:, first : first + rows].copy()
            if poisoned and rank == 0 and array.dtype == np.float32:
                feeds[name[:-4]][0].flat[0] = np.inf
    values = []
    for step in range(len(next(iter(feeds.values())))):
        if description.get("lr_var"):
            rate = scope.find_var(description["lr_var"]).get_tensor()
            rate.set(
                np.full(rate.shape(), description["lr_per_step"][step // runs], "float32"),
                paddle.CPUPlace(),
            )
        got = exe.run(
            main, feed={n: a[step] for n, a in feeds.items()}, fetch_list=[description["loss"]]
        )
        values.append(float(np.asarray(got[0], "float64").reshape(-1)[0]))
    print(json.dumps(values), flush=True)
    os._exit(0)  # threads of Gloo outlive the interpreter's own shutdown


def train(case, folder, ranks, runs=1, widened=False, poisoned=False, split=1):
    """Mean of the losses over the ranks and the runs of a step, per step."""
    port = free_port()
    with tempfile.TemporaryDirectory() as scratch:  # Gloo's key-value server writes into the working directory
        words = [
            sys.executable,
            os.path.abspath(__file__),
            "--rank-of",
            os.path.abspath(case),
            os.path.abspath(folder),
            str(port),
            str(runs),
            str(int(widened)),
            str(int(poisoned)),
            str(split),
        ]
        processes = [
            subprocess.Popen(
                words + [str(r)],
                cwd=scratch,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for r in range(ranks)
        ]
        outputs = []
        try:
            for rank, run in enumerate(processes):
                out, err = run.communicate(timeout=LIMIT_SECONDS)
                if run.returncode != 0:
                    fail(
                        "rank %d of %s ended with %d\n%s"
                        % (rank, case, run.returncode, err[-2000:])
                    )
                outputs.append(json.loads(out.splitlines()[-1]))
        finally:
            for run in processes:
                run.kill()
    means = [sum(column) / ranks for column in zip(*outputs)]
    return [sum(means[i : i + runs]) / runs for i in range(0, len(means), runs)]


def make_job(tool, case, ranks, flags, job):
    names = ("rank0", "rank.startup") if "--input-parallel" in flags else ("main", "startup")
    main, startup = (os.path.join(case, name + ".pdmodel") for name in names)
    program = [main, "--startup", startup]
    mode = ["--mode", "collective", "--trainers", str(ranks)]
    call(tool, "transpile", *program, "-o", job, *mode, *flags)


def native_losses(tool, case, job, work, first=0):
    """Means over the ranks of a run of the job without the framework, from one step of the feeds on."""
    report, feeds = os.path.join(work, "report.json"), os.path.join(work, "feeds")
    os.makedirs(feeds, exist_ok=True)
    for name in os.listdir(os.path.join(case, "feeds")):
        array = numpy.load(os.path.join(case, "feeds", name))
        numpy.save(os.path.join(feeds, name), array[first:])
    words = ["--feeds", feeds, "--init", os.path.join(case, "init")]
    with open(os.path.join(case, "case.json")) as f:
        description = json.load(f)
    if description.get("lr_var"):
        rates = description["lr_per_step"][first:]
        words += ["--per-step", description["lr_var"] + "=" + ",".join(map(str, rates))]
    call(tool, "run", job, *words, "--report", report)
    with open(report) as f:
        return json.load(f)["fetch"][description["loss"]]


def compare(tools, corpus, name, ranks, flags, by_hand="", runs=1):
    """The largest difference of a loss, as a part of what is allowed."""
    tool, case = os.path.join(tools, "dtranspile"), os.path.join(corpus, name)
    with open(os.path.join(case, "case.json")) as f:
        loss = json.load(f)["loss"]
    with open(os.path.join(case, "golden.json")) as f:
        golden = json.load(f)[loss]
    with tempfile.TemporaryDirectory() as work:
        job, folder = os.path.join(work, "job"), os.path.join(work, "export")
        if by_hand:
            job = os.path.join(ROOT, "test", "jobs", by_hand)
        else:
            make_job(tool, case, ranks, flags, job)
        # Of a program that was changed it may be open whether it means what the source does.
        allowed = (0, 3) if "--recompute" in flags else (0,)
        widened = "--amp" in flags or "--fp16-allreduce" in flags
        done = subprocess.run([tool, "verify", job], stdout=subprocess.PIPE, text=True)
        if done.returncode not in allowed:
            fail("verify of %s ends with %d\n%s" % (name, done.returncode, done.stdout))
        call(tool, "export", job, "-o", folder)
        degree = flags.index("--tensor-parallel-degree") + 1 if "--tensor-parallel" in flags else 0
        found = train(case, folder, ranks, runs, widened, split=int(flags[degree]) if degree else 1)
        if any(flag in flags for flag in ("--gradient-merge", "--lars", "--lamb", "--collective-mode", "--dgc")):
            golden = native_losses(tool, case, job, work)
    expected = [e[0] if isinstance(e, list) else e for e in golden]
    if len(found) != len(expected):
        fail("%s: %d steps, expected %d" % (name, len(found), len(expected)))
    return max(abs(a - b) / (1e-5 + 1e-4 * abs(b)) for a, b in zip(found, expected))


def compare_overflow(tools, corpus, name, ranks, flags):
    """The same of the steps behind one that is left out."""
    tool, case = os.path.join(tools, "dtranspile"), os.path.join(corpus, name)
    with tempfile.TemporaryDirectory() as work:
        job, plain, folder = (os.path.join(work, what) for what in ("job", "plain", "export"))
        make_job(tool, case, ranks, flags, job)
        make_job(tool, case, ranks, [], plain)
        call(tool, "verify", job)
        call(tool, "export", job, "-o", folder)
        found = train(case, folder, ranks, 1, widened=True, poisoned=True)
        expected = native_losses(tool, case, plain, work, first=1)
    expected = [e[0] if isinstance(e, list) else e for e in expected]
    if numpy.isfinite(found[0]) or len(found) != len(expected) + 1:
        fail("%s: no step overflows: %s" % (name, found))
    return max(abs(a - b) / (1e-5 + 1e-4 * abs(b)) for a, b in zip(found[1:], expected))


def main():
    if sys.argv[1:2] == ["--rank-of"]:
        case, folder, port, runs, widened, poisoned, split, rank = sys.argv[2:]
        return rank_main(case, folder, int(rank), int(port), int(runs), widened == "1", poisoned == "1", int(split))
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin/tools/dtranspile"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin/test/corpus"))
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    rows = [row for row in CASES + STRATEGIES if not options.cases or row[0] in options.cases]
    jobs = [row for row in JOBS if not options.cases or row[0] in options.cases]
    if not rows and not jobs:
        fail("no row of CASES or JOBS is named " + " or ".join(options.cases))
    print("%-36s %5s  %s" % ("case", "ranks", "largest difference / allowed"))
    worst = 0.0
    for name, ranks, flags in rows:
        part = compare(options.tools, options.corpus, name, ranks, flags)
        worst = max(worst, part)
        print("%-36s %5d  %.4f %s" % (name, ranks, part, " ".join(flags)), flush=True)
    for name, ranks, flags in OVERFLOWS:
        if options.cases and name not in options.cases:
            continue
        part = compare_overflow(options.tools, options.corpus, name, ranks, flags)
        worst = max(worst, part)
        print("%-36s %5d  %.4f %s, a step left out" % (name, ranks, part, " ".join(flags)), flush=True)
    for job, name, ranks, runs in jobs:
        part = compare(options.tools, options.corpus, name, ranks, [], job, runs)
        worst = max(worst, part)
        print("%-36s %5d  %.4f" % (job, ranks, part), flush=True)
    return 0 if worst <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
