"""Writes the corpus `models26`: every net of the files beside net.py as a case of test/corpus (README.md there), trained by the framework on one device.

    generate.py FOLDER [NET...]

Run by hand with paddlepaddle 2.6.2. Initial values are multiples of 1/32, so that the archive stays small.
"""

import json
import os
import struct
import sys

import numpy as np
import paddle
from paddle import static

from net import BATCH, NETS, Ragged

OPTIMIZERS = {
    "sgd": lambda rate: paddle.optimizer.Momentum(rate, 0.9),
    "adam": paddle.optimizer.Adam,
}

DTYPES = {
    np.dtype(name): kind
    for name, kind in {"bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6, "uint8": 20, "int8": 21}.items()
}


def varint(value):
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def write_record(path, array):
    """A tensor file of the framework: versions, no LoD, description, elements."""
    description = b"\x08" + bytes([DTYPES[array.dtype]])
    for extent in array.shape:
        description += b"\x10" + varint(extent)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(struct.pack("<IQIi", 0, 0, 0, len(description)) + description + array.tobytes())


def write_program(path, program):
    program = program.clone()
    for block in program.blocks:
        for one in block.ops:
            if one.has_attr("op_callstack"):
                one._remove_attr("op_callstack")
    with open(path, "wb") as f:
        f.write(program.desc.serialize_to_string())


def build(net):
    main, startup = static.Program(), static.Program()
    with static.program_guard(main, startup), paddle.utils.unique_name.guard():
        paddle.seed(1)
        feeds = [
            static.data(name, [-1, *shape], dtype, lod_level=int(isinstance(draw, Ragged)))
            for name, (dtype, shape, draw) in net.feeds.items()
        ]
        loss = net.build(*feeds)
        OPTIMIZERS.get(net.optimizer, net.optimizer)(net.rate).minimize(loss)
    return main, startup, loss


def write_feeds(net, random, folder):
    """{feed: what each step is fed}"""
    feeds = {name: [] for name in net.feeds}
    for step in range(net.steps):
        held = {}
        for name, (dtype, _, draw) in net.feeds.items():
            if not isinstance(draw, Ragged):
                continue
            array, held[name] = draw.draw(random, held)
            array = array.astype(dtype)
            feeds[name].append(static_lod(array, held[name]))
            base = os.path.join(folder, "%s.step%d" % (name, step))
            np.save(base + ".npy", array)
            with open(base + ".lod.json", "w") as f:
                json.dump([held[name]], f)
    for name, (dtype, _, draw) in net.feeds.items():
        if not isinstance(draw, Ragged):
            feeds[name] = np.stack([draw(random, BATCH).astype(dtype) for _ in range(net.steps)])
            np.save(os.path.join(folder, name + ".npy"), feeds[name])
    return feeds


def static_lod(array, offsets):
    tensor = paddle.base.core.LoDTensor()
    tensor.set(array, paddle.CPUPlace())
    tensor.set_lod([offsets])
    return tensor


def rates_of(main):
    """The variable that a schedule's rate is fed as, if there is one."""
    variable = getattr(main, "lr_var", None)
    return variable.name if variable is not None else None


def write_case(net, folder):
    main, startup, loss = build(net)
    os.makedirs(os.path.join(folder, "feeds"), exist_ok=True)
    write_program(os.path.join(folder, "main.pdmodel"), main)
    write_program(os.path.join(folder, "startup.pdmodel"), startup)
    random = np.random.default_rng(sum(map(ord, net.name)))
    feeds = write_feeds(net, random, os.path.join(folder, "feeds"))

    scope, executor = static.Scope(), static.Executor(paddle.CPUPlace())
    names = sorted(
        v.name for v in main.list_vars() if v.persistable and v.name not in ("feed", "fetch")
    )
    with static.scope_guard(scope):
        executor.run(startup)
        names = [name for name in names if scope.find_var(name)]  # others the step itself makes
        for name in names:
            tensor = scope.find_var(name).get_tensor()
            value = np.array(tensor)
            if net.rounded and value.dtype == np.float32 and value.size > 1:
                value = (np.round(value * 32) / 32).astype(np.float32)
                tensor.set(value, paddle.CPUPlace())
            write_record(os.path.join(folder, "init", name), value)
        losses, rates = [], []
        for step in range(net.steps):
            if rates_of(main):
                rates.append(float(main.lr_scheduler()))
            if net.fresh:
                executor, main = static.Executor(paddle.CPUPlace()), main.clone()
            (value,) = executor.run(
                main, {name: array[step] for name, array in feeds.items()}, [loss.name]
            )
            losses.append(float(np.asarray(value).reshape(-1)[0]))
            if rates_of(main):
                main.lr_scheduler.step()
    with open(os.path.join(folder, "golden.json"), "w") as f:
        json.dump({loss.name: losses}, f)
    case = {
        "name": net.name,
        "paddle_version": paddle.__version__,
        "description": net.description,
        "batch": BATCH,
        "steps": net.steps,
        "loss": loss.name,
        "fetch": [loss.name],
        "feeds": [
            {
                "name": name,
                "dtype": str(array.dtype),
                "shape": list(array.shape),
                "lod_level": 0,
                "file": "feeds/%s.npy" % name,
            }
            if isinstance(array, np.ndarray)
            else {"name": name, "dtype": net.feeds[name][0], "lod_level": 1}
            for name, array in feeds.items()
        ],
        "params": sorted(p.name for p in main.all_parameters()),
        "persistables": names,
        "optimizer": net.optimizer if isinstance(net.optimizer, str) else "own",
        "checkpoints": [],
        "tags": ["batch-dependent"] if net.verdict == "parts" else [],
        "verdict": net.verdict,
        "sites": net.sites,
        "equal_shares": net.equal_shares,
    }
    if rates:
        case["lr_var"], case["lr_per_step"] = rates_of(main), rates
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump(case, f, indent=1)
    print("%-24s %s" % (net.name, " ".join("%.5f" % one for one in losses)))


def main(folder, *wanted):
    import calculus, detection, images, kinds, losses, sequences, training  # noqa: F401 (they add to NETS)

    paddle.enable_static()
    for one in NETS:
        if not wanted or one.name in wanted:
            write_case(one, os.path.join(folder, one.name))


if __name__ == "__main__":
    main(*sys.argv[1:])
