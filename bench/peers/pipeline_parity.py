#!/usr/bin/env python3
"""Runs exported pipeline stages on the real framework's kernels and compares every loss with what one device gave.

    pipeline_parity.py [--tools FOLDER] [--corpus FOLDER]

A CPU build of the framework has neither its section worker nor kernels for send_v2 and recv_v2. So this script is the worker: it takes the programs
that `export` writes for the stages, sorts their ops by role as the worker does (LRSched once, forward and backward once per micro-batch in the order
of the schedule, Optimize once), lets paddlepaddle 2.6.2 (the interpreter that runs this script must have it: `pip install paddlepaddle==2.6.2
numpy==1.26.4`) run what stands between two operations of communication, and carries the values. A send on the stream of computation (use_calc_stream)
waits for its receive, one on the stream of communication does not: a schedule that would hang there hangs here, and is reported. Losses within
1e-5 + 1e-4 * |loss| of golden.json on every step; exit status 1 where one is not. TOOLS default to bazel-bin/tools/dtranspile, the corpus to where
the build unpacks it.
"""

import argparse
import collections
import json
import os
import sys
import tempfile

from export_parity import NCCL_ONLY, ROOT, call, fail

# Job of test/jobs, text that is replaced in it, case.
JOBS = [
    ("pipeline.mlir", None, "static26/mlp_stages"),
    ("pipeline.mlir", ('schedule("1F1B"', 'schedule("F-then-B"'), "static26/mlp_stages"),
]
BACKWARD, OPTIMIZE, SCHEDULE = 1, 2, 16
COMMUNICATION = {"send_v2", "recv_v2", "c_allreduce_sum"}


def order(schedule, stage, stages, micros):
    """[(forward?, micro-batch)] of a stage, as the framework's section worker runs it."""
    ahead = micros if schedule == "F-then-B" else min(stages - stage - 1, micros)
    tasks = [(True, m) for m in range(ahead)]
    for m in range(micros - ahead):
        tasks += [(True, ahead + m), (False, m)]
    return tasks + [(False, m) for m in range(micros - ahead, micros)]


class Stage:
    """The program of one stage: what it does between two operations of communication, in the framework."""

    def __init__(self, static, paddle, folder, entry):
        self.static, self.paddle = static, paddle
        self.exe, self.scope = static.Executor(paddle.CPUPlace()), static.Scope()
        self.main, startup = self.parse(folder, entry["main"]), self.parse(folder, entry["startup"])
        with static.scope_guard(self.scope):
            self.exe.run(startup)
        self.groups = {SCHEDULE: [], 0: [], BACKWARD: [], OPTIMIZE: []}
        for op in self.main.global_block().ops:
            role = op.attr("op_role")
            group = next((r for r in (SCHEDULE, OPTIMIZE, BACKWARD) if role & r), 0)
            self.groups[group].append(op)
        self.pieces = {}

    def parse(self, folder, name):
        with open(os.path.join(folder, name), "rb") as f:
            program = self.static.Program.parse_from_string(f.read())
        block = program.global_block()
        for index in range(len(block.ops) - 1, -1, -1):
            op = block.ops[index]
            if op.type in NCCL_ONLY | {"nop"}:
                block._remove_op(index)
                continue
            # Jobs in text say what differs from the defaults; the framework's own files say all.
            # A gradient's are its forward op's.
            defaults = self.paddle.base.core.get_op_attrs_default_value
            own = defaults(op.type.encode()) or defaults(op.type.removesuffix("_grad").encode())
            for name, value in (own or {}).items():
                if not op.has_attr(name):
                    op._set_attr(name, value)
        block._sync_with_cpp()
        return program

    def persistable(self, name):
        return self.main.global_block().var(name).persistable

    def piece(self, ops):
        """A program of these ops; what it reads and what it gives that are no persistables."""
        key = tuple(id(op) for op in ops)
        if key not in self.pieces:
            program = self.main.clone()
            block = program.global_block()
            mine = {i for i, op in enumerate(self.main.global_block().ops) if id(op) in key}
            for index in range(len(block.ops) - 1, -1, -1):
                if index not in mine:
                    block._remove_op(index)
            block._sync_with_cpp()
            reads, gives = [], []
            for op in ops:
                reads += [
                    n for n in op.input_arg_names if n not in gives and not self.persistable(n)
                ]
                gives += [n for n in op.output_arg_names if not self.persistable(n)]
            self.pieces[key] = (program, sorted(set(reads)), sorted(set(gives)))
        return self.pieces[key]

    def compute(self, ops, values):
        if not ops:
            return
        program, reads, gives = self.piece(ops)
        with self.static.scope_guard(self.scope):
            got = self.exe.run(
                program, feed={n: values[n] for n in reads if n in values}, fetch_list=gives
            )
        values.update(zip(gives, got))

    def run(self, group, values):
        """Yields what is communicated: (op, value); takes what comes of it."""
        ops = []
        for op in self.groups[group]:
            if op.type not in COMMUNICATION:
                ops.append(op)
                continue
            self.compute(ops, values)
            ops = []
            name = (op.input("X") if op.type != "recv_v2" else op.output("Out"))[0]
            came = yield op, values.get(name)
            if op.type != "send_v2":
                values[name] = came
        self.compute(ops, values)

    def step(self, schedule, place, stages, micros, feeds):
        batches = [dict((n, a[m]) for n, a in feeds.items()) for m in range(micros)]
        yield from self.run(SCHEDULE, batches[0])
        for forward, m in order(schedule, place, stages, micros):
            yield from self.run(0 if forward else BACKWARD, batches[m])
        yield from self.run(OPTIMIZE, batches[-1])
        return batches[-1]


def drive(runs, rings):
    """All stages' steps together; values go along the rings. Their last values."""
    wires, sums, done = collections.defaultdict(collections.deque), {}, {}
    # What each stage asks for, and what it is given next ("sent": its value is under way).
    asks, ready = {}, {rank: ("go", None) for rank in range(len(runs))}
    while len(done) < len(runs):
        moved = False
        for rank, run in enumerate(runs):
            if rank in done:
                continue
            if rank in asks:
                op, value = asks[rank]
                ring = op.attr("ring_id")
                members = rings[str(ring)]
                if op.type == "recv_v2":
                    wire = wires[ring, members[op.attr("peer")], rank]
                    if not wire:
                        continue
                    ready[rank] = ("go", wire.popleft())
                elif op.type == "send_v2":
                    wire = wires[ring, rank, members[op.attr("peer")]]
                    if not any(value is one for one in wire) and ready.get(rank) != "sent":
                        wire.append(value)
                        ready[rank], moved = "sent", True
                    if op.attr("use_calc_stream") and any(value is one for one in wire):
                        continue
                    ready[rank] = ("go", None)
                else:
                    given, taken = sums.setdefault(ring, ({}, set()))
                    given.setdefault(rank, value)
                    if len(given) < len(members):
                        continue
                    ready[rank] = ("go", sum(given[m] for m in members))
                    taken.add(rank)
                    if len(taken) == len(members):
                        del sums[ring]
                del asks[rank]
            moved = True
            try:
                asks[rank] = run.send(ready.pop(rank)[1])
            except StopIteration as end:
                done[rank] = end.value
        if not moved:
            fail(
                "the stages wait for each other: "
                + "; ".join(
                    "stage %d in %s of ring %d" % (r, op.type, op.attr("ring_id"))
                    for r, (op, _) in sorted(asks.items())
                )
            )
    return [done[rank] for rank in range(len(runs))]


def compare(tools, corpus, name, replaced, case):
    import numpy as np
    import paddle
    from paddle import static

    paddle.enable_static()
    tool, case = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with open(os.path.join(case, "case.json")) as f:
        loss = json.load(f)["loss"]
    with open(os.path.join(case, "golden.json")) as f:
        golden = [e[0] if isinstance(e, list) else e for e in json.load(f)[loss]]
    with tempfile.TemporaryDirectory() as work:
        job, folder = os.path.join(work, "job.mlir"), os.path.join(work, "export")
        with open(os.path.join(ROOT, "test", "jobs", name)) as f:
            text = f.read()
        if replaced and replaced[0] not in text:
            fail("%s has no text %s" % (name, replaced[0]))
        with open(job, "w") as f:
            f.write(text.replace(*replaced) if replaced else text)
        call(tool, "verify", job)
        call(tool, "export", job, "-o", folder)
        with open(os.path.join(folder, "export.json")) as f:
            index = json.load(f)
        stages = [Stage(static, paddle, folder, entry) for entry in index["trainers"]]
    schedule = index["pipeline"]["schedule_mode"]
    micros = index["pipeline"]["accumulate_steps"]
    for stage in stages:
        for var in stage.main.list_vars():
            path = os.path.join(case, "init", var.name)
            if var.persistable and os.path.exists(path):
                program = static.Program()
                program.global_block().create_var(
                    name=var.name, dtype=var.dtype, shape=var.shape, persistable=True
                )
                program.global_block().append_op(
                    type="load", outputs={"Out": [var.name]}, attrs={"file_path": path}
                )
                with static.scope_guard(stage.scope):
                    stage.exe.run(program)
    feeds = {}
    for file in os.listdir(os.path.join(case, "feeds")):
        if file.endswith(".npy"):
            array = np.load(os.path.join(case, "feeds", file))
            feeds[file[:-4]] = array.reshape((array.shape[0], micros, -1) + array.shape[2:])
    worst = 0.0
    for step, expected in enumerate(golden):
        runs = [
            stage.step(
                schedule, place, len(stages), micros, {n: a[step] for n, a in feeds.items()}
            )
            for place, stage in enumerate(stages)
        ]
        last = drive(runs, index["rings"])
        found = float(np.asarray(last[-1][loss], "float64").reshape(-1)[0])
        worst = max(worst, abs(found - expected) / (1e-5 + 1e-4 * abs(expected)))
    return schedule, len(stages), len(golden), worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", default=os.path.join(ROOT, "bazel-bin/tools/dtranspile"))
    parser.add_argument("--corpus", default=os.path.join(ROOT, "bazel-bin/test/corpus"))
    options = parser.parse_args()
    os.environ["GLOG_minloglevel"] = "2"
    print("%-20s %-10s %6s %5s  %s" % ("job", "schedule", "stages", "steps", "largest difference / allowed"))
    worst = 0.0
    for name, replaced, case in JOBS:
        schedule, stages, steps, part = compare(options.tools, options.corpus, name, replaced, case)
        worst = max(worst, part)
        print("%-20s %-10s %6d %5d  %.4f" % (name, schedule, stages, steps, part), flush=True)
    return 0 if worst <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
