#!/usr/bin/env python3
"""Writes one-operator cases of `ops/p262` (test/corpus/README.md) from calls of the framework's API.

    calls.py FOLDER [NAME...]

Run by hand with paddlepaddle 2.6.2. A row is a name, the call, and its float inputs; outputs are
weighted, summed and differentiated. Second gradients: the call is differentiated once more.
"""

import json
import os
import sys

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import static

ROWS = []


def row(name, call, twice=False, **inputs):
    ROWS.append((name, call, twice, inputs))


def positive(*shape):
    """Matrices that are far from singular."""
    return lambda random: random.uniform(-1, 1, shape) + 3 * np.eye(shape[-1])


def indices(*values):
    return paddle.assign(np.array(values, "int64"))


for offset, first, second, variant in ((0, 0, 1, ""), (1, 1, 2, "-inner"), (-1, -1, 0, "-negative")):
    row(
        "paddle.diagonal" + variant,
        lambda x, o=offset, a=first, b=second: paddle.diagonal(x, o, a, b),
        x=(3, 4, 5),
    )
row("paddle.linalg.solve", paddle.linalg.solve, x=positive(2, 3, 3), y=(2, 3, 2))
row("paddle.linalg.solve-vector", paddle.linalg.solve, x=positive(3, 3), y=(3,))
for upper, transpose, unit in ((True, False, False), (False, False, True), (True, True, False), (False, True, True)):
    row(
        "paddle.linalg.triangular_solve-%d%d%d" % (upper, transpose, unit),
        lambda x, y, u=upper, t=transpose, n=unit: paddle.linalg.triangular_solve(x, y, u, t, n),
        x=positive(2, 3, 3),
        y=(2, 3, 2),
    )
row("paddle.logcumsumexp", lambda x: paddle.logcumsumexp(x, 1), x=(3, 4))
row("paddle.logcumsumexp-flat", paddle.logcumsumexp, x=(2, 3))
row("paddle.logcumsumexp-first_axis", lambda x: paddle.logcumsumexp(x * 30, 0), x=(5, 2))
row("paddle.heaviside", lambda x, y: paddle.heaviside(paddle.round(x), y), x=(3, 4), y=(4,))
row("nn.functional.rrelu-test", lambda x: F.rrelu(x, 0.1, 0.4, training=False), x=(3, 4))
row("paddle.Tensor.detach", lambda x: x.detach() * x, x=(3, 4))

for axis in (0, 1):
    row("paddle.cummax-%d" % axis, lambda x, a=axis: paddle.cummax(paddle.round(x * 3), a)[0], x=(3, 4, 2))
    row("paddle.cummin-%d" % axis, lambda x, a=axis: paddle.cummin(paddle.round(x * 3), a)[0], x=(3, 4, 2))
    row(
        "paddle.index_add-%d" % axis,
        lambda x, y, a=axis: paddle.index_add(x, indices(2, 0, 2), a, y),
        x=(3, 3, 2),
        y=(3, 3, 2),
    )
for pool in ("sum", "mean", "max", "min"):
    row(
        "paddle.geometric.segment_" + pool,
        lambda x, p=pool: getattr(paddle.geometric, "segment_" + p)(paddle.round(x * 2), indices(0, 0, 1, 3, 3)).reshape([4, 2, 2]),
        x=(5, 2, 2),
    )
    row(
        "paddle.geometric.send_u_recv-" + pool,
        lambda x, p=pool: paddle.geometric.send_u_recv(
            paddle.round(x * 2), indices(0, 2, 2, 3), indices(1, 1, 0, 1), p, out_size=3
        ).reshape([3, 2]),
        x=(4, 2),
    )
row(
    "paddle.geometric.send_u_recv-own_rows",
    lambda x: paddle.geometric.send_u_recv(x, indices(0, 2, 2, 3), indices(1, 1, 0, 3)).reshape([4, 2]),
    x=(4, 2),
)
for power in (3, 1, 0, -2):
    row("paddle.linalg.matrix_power-%d" % power, lambda x, n=power: paddle.linalg.matrix_power(x, n), x=positive(2, 3, 3))
row("paddle.linalg.slogdet", lambda x: paddle.linalg.slogdet(x)[1], x=positive(3, 3))
row("paddle.kron-deep", paddle.kron, x=(4, 3), y=(2,))


def unpooled(x, **options):
    out, where = F.max_pool3d(x, 2, 2, return_mask=True)
    return F.max_unpool3d(out, where, 2, 2, **options)


row("nn.functional.max_unpool3d", unpooled, x=(1, 2, 4, 4, 4))
row("nn.functional.max_unpool3d-size", lambda x: unpooled(x, output_size=[5, 4, 5]), x=(1, 2, 4, 4, 4))
for equation in ("bii->b", "bii->bi", "ii,ij->j"):
    row(
        "paddle.einsum-" + equation.replace(",", "_").replace("->", "_to_"),
        lambda *xs, e=equation: paddle.einsum(e, *xs),
        **dict(zip(("x", "y"), [(3,) * len(one) for one in equation.split("->")[0].split(",")])),
    )
for norm, part in (("backward", paddle.real), ("forward", paddle.imag), ("ortho", paddle.real), ("ortho", paddle.imag)):
    name = norm + "_" + part.__name__
    row("paddle.fft.fft2-" + name, lambda x, n=norm, p=part: p(paddle.fft.fft2(x, norm=n)), x=(2, 3, 4))
    row("paddle.fft.ifft-" + name, lambda x, n=norm, p=part: p(paddle.fft.ifft(x, axis=0, norm=n)), x=(6, 2))
    row("paddle.fft.rfft-" + name, lambda x, n=norm, p=part: p(paddle.fft.rfft(x, norm=n)), x=(2, 5))
    row("paddle.fft.rfftn-" + name, lambda x, n=norm, p=part: p(paddle.fft.rfftn(x, norm=n)), x=(2, 3, 4))
    row(
        "paddle.fft.ifft2-" + name,
        lambda x, y, n=norm, p=part: p(paddle.fft.ifft2(paddle.complex(x, y), norm=n)),
        x=(3, 4),
        y=(3, 4),
    )
for norm in ("backward", "forward", "ortho"):
    row(
        "paddle.fft.irfft-" + norm,
        lambda x, y, n=norm: paddle.fft.irfft(paddle.complex(x, y), n=7, norm=n),
        x=(2, 4),
        y=(2, 4),
    )
    row(
        "paddle.fft.irfft2-" + norm,
        lambda x, y, n=norm: paddle.fft.irfft2(paddle.complex(x, y), norm=n),
        x=(3, 4),
        y=(3, 4),
    )
for label, part, x, y, options in (
    ("", paddle.real, (4, 3), (3, 2), {}),
    ("imag", paddle.imag, (4, 3), (3, 2), {}),
    ("turned", paddle.real, (4, 3, 2), (4, 2, 3), {"transpose_x": True, "transpose_y": True}),
    ("batch", paddle.imag, (4, 2, 3), (4, 5, 3), {"transpose_y": True}),
    ("vector", paddle.real, (4, 2, 3), (3,), {}),
):
    row(
        "paddle.matmul-complex" + ("_" + label if label else ""),
        lambda a, b, c, d, p=part, o=options: p(paddle.matmul(paddle.complex(a, b), paddle.complex(c, d), **o)),
        a=x,
        b=x,
        c=y,
        d=y,
    )

row("second.sigmoid", F.sigmoid, True, x=(3, 4))
row("second.relu", F.relu, True, x=(3, 4))
row("second.leaky_relu", lambda x: F.leaky_relu(x, 0.2), True, x=(3, 4))
row("second.elu", lambda x: F.elu(x, 0.7), True, x=(3, 4))
row("second.log", lambda x: paddle.log(x + 2.0), True, x=(3, 4))
row("second.sqrt", lambda x: paddle.sqrt(x + 2.0), True, x=(3, 4))
row("second.rsqrt", lambda x: paddle.rsqrt(x + 2.0), True, x=(3, 4))
row("second.square", paddle.square, True, x=(3, 4))
row("second.reshape", lambda x: paddle.square(x).reshape([4, 3]), True, x=(3, 4))
row("second.divide", lambda x, y: x / (y + 2.0), True, x=(3, 4), y=(3, 4))
row("second.add", lambda x, y: paddle.square(x + y), True, x=(3, 4), y=(3, 4))
row("second.subtract", lambda x, y: paddle.square(x - y), True, x=(3, 4), y=(3, 4))
row("second.matmul", paddle.matmul, True, x=(3, 4), y=(4, 2))
row("second.matmul-batch", lambda x, y: paddle.matmul(x, y, transpose_y=True), True, x=(2, 3, 4), y=(2, 2, 4))
row("second.matmul-turned", lambda x, y: paddle.matmul(x, y, transpose_x=True), True, x=(4, 3), y=(4, 2))
row("second.conv2d", lambda x, y: F.conv2d(x, y, stride=2, padding=1), True, x=(2, 2, 5, 5), y=(3, 2, 3, 3))
row("second.conv2d-groups", lambda x, y: F.conv2d(x, y, groups=2, dilation=2), True, x=(1, 4, 6, 6), y=(2, 2, 2, 2))


def build(call, twice, inputs):
    main = static.Program()
    with static.program_guard(main, static.Program()), paddle.utils.unique_name.guard():
        data = {n: static.data(n, list(value.shape), "float32") for n, value in inputs.items()}
        for one in data.values():
            one.stop_gradient = False
        outs = [call(*data.values())]
        if twice:
            outs += static.gradients(outs, list(data.values()))
        loss = None
        weights = {}
        for i, out in enumerate(outs):
            name = "w_out" + ("_%d" % i if i else "")
            weight = static.data(name, list(out.shape), "float32")
            weights[name] = tuple(out.shape)
            term = paddle.sum(out * weight)
            loss = term if loss is None else loss + term
        gradients = static.gradients([loss], list(data.values()))
    fetch = outs + [loss] + [one for one in gradients if one is not None]
    return main, weights, [one.name for one in fetch]


def write(folder, name, call, twice, inputs):
    random = np.random.default_rng(sum(map(ord, name)))
    feeds = {
        n: (given(random) if callable(given) else random.uniform(-1, 1, given)).astype("float32")
        for n, given in inputs.items()
    }
    main, weights, fetch = build(call, twice, feeds)
    for n, shape in weights.items():
        feeds[n] = (random.uniform(0.25, 1, shape) * random.choice([-1, 1], shape)).astype("float32")
    values = static.Executor(paddle.CPUPlace()).run(main, feeds, fetch)
    target = os.path.join(folder, name)
    for one, array in [("feeds/" + n, v[None]) for n, v in feeds.items()] + [
        ("golden/" + n, np.asarray(v)) for n, v in zip(fetch, values)
    ]:
        path = os.path.join(target, one + ".npy")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        np.save(path, array)
    ops = [op for block in main.blocks for op in block.ops]
    for op in ops:
        if op.has_attr("op_callstack"):
            op._remove_attr("op_callstack")
    with open(os.path.join(target, "main.pdmodel"), "wb") as f:
        f.write(main.desc.serialize_to_string())
    case = {
        "name": name,
        "paddle_version": paddle.__version__,
        "api": [name.split("-")[0]],
        "op_types": sorted({op.type for op in ops}),
        "feeds": [
            {"name": n, "dtype": "float32", "shape": list(v.shape), "lod_level": 0}
            for n, v in feeds.items()
        ],
        "fetch": fetch,
        "params": [],
        "steps": 1,
        "rtol": 0.0001,
        "atol": 1e-05,
        "tags": ["grad"],
    }
    with open(os.path.join(target, "case.json"), "w") as f:
        json.dump(case, f, indent=1)
    print(name, case["op_types"])


def main(folder, *wanted):
    paddle.enable_static()
    for name, call, twice, inputs in ROWS:
        if not wanted or name in wanted:
            write(folder, name, call, twice, inputs)


if __name__ == "__main__":
    main(*sys.argv[1:])
