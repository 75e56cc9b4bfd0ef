#!/usr/bin/env python3
"""Writes one-operator cases of `ops/p262` (test/corpus/README.md) for op types that no case of the
API's calls shows: the op as it is, its gradient, and gradients of its gradient.

    raw.py FOLDER [REGEX]

Run by hand with paddlepaddle 2.6.2. A row is the type, its inputs and outputs by slot, attributes,
and how often it is differentiated.
"""

import json
import os
import re
import shutil
import sys

import numpy as np

import framework
import sweep

DENSE = int(framework.LOD_TENSOR)
ROWS = []
# Outputs that are not looked at: vectors that may be another's negatives, and what the framework
# leaves unset.
UNREAD = {
    "svd": ["out_U", "out_VH"], "eigh": ["out_Eigenvectors"], "eigvalsh": ["out_Eigenvectors"],
    "nanmedian": ["out_MedianIndex"], "batch_norm": ["out_SavedMean", "out_SavedVariance"],
}  # fmt: skip
# What is drawn, and what holds of it.
DRAWN = {
    "shuffle_batch": {},
    "exponential": {"out_Out": {"min": 0, "mean": 0.5, "std": 0.5}},
    "poisson": {"out_Out": {"min": 0, "mean": 3, "std": 1.732, "integer": True}},
    "dirichlet": {"out_Out": {"min": 0, "max": 1, "mean": 0.25, "std": 0.1936}},
    "gumbel_softmax": {"out_Out": {"min": 0, "max": 1, "mean": 0.125}},
}


class Draw:
    """Values of one row, always the same."""

    def __init__(self, name):
        self.random = np.random.RandomState(sum(map(ord, name)))

    def __call__(self, *dims, low=-2.0, high=2.0, dtype="float32"):
        return self.random.uniform(low, high, dims).astype(dtype)

    def integers(self, *dims, below=4, dtype="int64"):
        return self.random.randint(0, below, dims).astype(dtype)


def row(op, inputs, outputs, label="", order=1, targets=None, **attributes):
    """`inputs`: a function of a Draw. An output is an element type, or (name of the input that it
    takes the place of, element type)."""
    ROWS.append((op, label, inputs, outputs, attributes, order, targets))


def seed_of(op, label, inputs, outputs, attributes):
    values, described = {}, {}
    for slot, held in inputs(Draw(op + label)).items():
        held = held if isinstance(held, list) else [held]
        values[slot] = [
            {"name": slot + ("_%d" % i if len(held) > 1 else ""), "array": a, "lod": []}
            for i, a in enumerate(held)
        ]
    for slot, held in outputs.items():
        described[slot] = []
        for i, one in enumerate(held if isinstance(held, list) else [held]):
            name = "out_" + slot + ("_%d" % i if isinstance(held, list) else "")
            name, dtype = one if isinstance(one, tuple) else (name, one)
            described[slot].append({"name": name, "dtype": dtype, "kind": DENSE})
    return {"type": op, "case": "raw", "inputs": values, "outputs": described,
            "attributes": attributes, "rtol": 1e-4, "atol": 1e-5}  # fmt: skip


class Twice(framework.Built):
    """The op, its gradient, and the gradient of that, as often as `order` says."""

    def __init__(self, seed, shapes, order, targets):
        self.order, self.wanted = order, targets
        super().__init__(seed, shapes)

    def _gradients(self, outputs, shapes):
        block, fluid = self.program.global_block(), framework.fluid
        floats = [v for v in outputs if framework.dtype_name(v.dtype) in framework.FLOATS]
        targets = [v for v in floats if not self.wanted or v.name in self.wanted]
        sources = [block.vars[n] for n in self.values if not block.vars[n].stop_gradient
                   and n not in self.persistable]  # fmt: skip
        for turn in range(self.order):
            weights = []
            for i, v in enumerate(targets):
                name = "weight_%d_%d" % (turn, i)
                shape = shapes.get(v.name, tuple(v.shape))
                magnitudes = self._weights.uniform(0.25, 1, shape)
                signs = self._weights.choice([-1, 1], shape)
                self._input(name, (magnitudes * signs).astype(framework.dtype_name(v.dtype)), [], False)
                weights.append(block.vars[name])
                weights[-1].stop_gradient = False
            made = fluid.gradients(targets, sources, target_gradients=weights)
            targets = []
            for i, v in enumerate(made):
                if v is None:
                    continue
                kept = self._var("gradient_%d_%d" % (turn, i), dtype=framework.dtype_name(v.dtype))
                block.append_op(type="assign", inputs={"X": [v]}, outputs={"Out": [kept]})
                self.fetch.append(kept.name)
                targets.append(v)
            sources = sources + weights if turn == 0 else sources


def write(folder, op, label, inputs, outputs, attributes, order, targets):
    seed = seed_of(op, label, inputs, outputs, attributes)
    if order == 1 and not targets:
        built, fetched = framework.execute(seed)
    else:
        forward = framework.Built(seed)
        got = framework.run(forward.program, forward.values, list(forward.values), forward.fetch)
        shapes = {n: v[0].shape for n, v in zip(forward.fetch, got) if v is not None}
        built = Twice(seed, shapes, order, targets)
        got = framework.run(built.program, built.values, list(built.values), built.fetch)
        fetched = [(n, v[0], v[1]) for n, v in zip(built.fetch, got) if v is not None]
    fetched = [one for one in fetched if one[0] not in UNREAD.get(op, ())]
    word = {1: "raw", 2: "second", 3: "third"}[order]
    name = "%s.%s%s" % (word, op, "-" + label if label else "")
    sweep.write_case(os.path.join(folder, name), framework, seed, "seed", label, built, fetched)
    if op in DRAWN:
        path = os.path.join(folder, name, "case.json")
        with open(path) as f:
            info = json.load(f)
        info["tags"].append("random")
        info["stats"] = DRAWN[op]
        with open(path, "w") as f:
            json.dump(info, f, indent=1)
    if not built.persistable:
        os.rmdir(os.path.join(folder, name, "init"))
    return "made"


ONE = {"Out": "float32"}


def number(value, dtype="float32"):
    return np.array([value], dtype)


# Gradients of gradients.
for op, label, attributes in (
    ("sin", "", {}), ("cos", "", {}), ("abs", "", {}), ("softplus", "", {"beta": 2.0, "threshold": 1.0}),
    ("celu", "", {"alpha": 0.5}), ("clip", "", {"min": -1.0, "max": 0.5}), ("pow", "cube", {"factor": 3.0}),
    ("pow", "square", {"factor": 2.0}), ("pow", "one", {"factor": 1.0}), ("pow", "zero", {"factor": 0.0}),
):  # fmt: skip
    row(op, lambda draw: {"X": draw(3, 4)}, ONE, label, 2, **attributes)
row("pow", lambda draw: {"X": draw(3, 4, low=0.2)}, ONE, "broken", 2, factor=2.5)
for op in ("sin", "cos", "tanh", "sigmoid"):
    row(op, lambda draw: {"X": draw(3, 4)}, ONE, "", 3)
row("elementwise_add", lambda draw: {"X": draw(3, 4), "Y": draw(4)}, ONE, "", 3, axis=-1)
row("elementwise_mul", lambda draw: {"X": draw(3, 4), "Y": draw(3, 4)}, ONE, "", 3, axis=-1)
row("matmul_v2", lambda draw: {"X": draw(4, 3), "Y": draw(3, 2)}, ONE, "", 3, trans_x=False, trans_y=False)
for label, x, y, attributes in (
    ("", (3, 4), (4, 2), {}), ("columns", (4, 3, 2), (2, 5), {"x_num_col_dims": 2}),
    ("folded", (4, 3, 2), (6, 5), {}), ("wide", (4, 3), (3, 2, 5), {}),
):  # fmt: skip
    row("mul", lambda draw, x=x, y=y: {"X": draw(*x), "Y": draw(*y)}, ONE, label, 2,
        **{"x_num_col_dims": 1, "y_num_col_dims": 1, **attributes})  # fmt: skip
for label, attributes in (
    ("", {"ksize": [2, 2]}), ("strides", {"ksize": [3, 2], "strides": [2, 1], "paddings": [1, 0]}),
    ("inclusive", {"ksize": [3, 2], "paddings": [1, 0], "exclusive": False}),
    ("ceil", {"ksize": [2, 2], "strides": [2, 2], "ceil_mode": True}),
    ("global", {"ksize": [1, 1], "global_pooling": True}),
):  # fmt: skip
    row("pool2d", lambda draw: {"X": draw(4, 3, 5, 6)}, ONE, label, 2, pooling_type="avg",
        **{"strides": [1, 1], "paddings": [0, 0], **attributes})  # fmt: skip
for op, label, x, y, attributes in (
    ("conv3d", "", (4, 2, 3, 4, 3), (3, 2, 2, 2, 2), {}),
    ("conv3d", "groups", (2, 4, 4, 3, 3), (4, 2, 2, 2, 2), {"strides": [2, 1, 1], "paddings": [1, 0, 1], "groups": 2}),
):  # fmt: skip
    row(op, lambda draw, x=x, y=y: {"Input": draw(*x), "Filter": draw(*y)}, {"Output": "float32"}, label, 2,
        **{"strides": [1] * (len(x) - 2), "paddings": [0] * (len(x) - 2), **attributes})  # fmt: skip
for label, dims, attributes in (
    ("", (4, 2, 3, 2), {}), ("global", (4, 2, 3, 2), {"use_global_stats": True}), ("columns", (4, 2), {}),
    ("last", (4, 3, 2), {"data_layout": "NHWC"}),
):  # fmt: skip
    row("batch_norm",
        lambda draw, dims=dims: {"X": draw(*dims), "Scale": draw(2, low=0.5), "Bias": draw(2), "Mean": draw(2),
                                 "Variance": draw(2, low=0.5)},
        {"Y": "float32", "MeanOut": ("Mean", "float32"), "VarianceOut": ("Variance", "float32"),
         "SavedMean": "float32", "SavedVariance": "float32", "ReserveSpace": "float32"},
        label, 2, ["out_Y"], **{"epsilon": 1e-3, "data_layout": "NCHW", **attributes})  # fmt: skip
NORM = {"Y": "float32", "SavedMean": "float32", "SavedVariance": "float32"}
row("instance_norm", lambda draw: {"X": draw(4, 2, 3, 2), "Scale": draw(2, low=0.5), "Bias": draw(2)}, NORM, "",
    2, ["out_Y"], epsilon=1e-3)  # fmt: skip
row("instance_norm", lambda draw: {"X": draw(4, 3, 5)}, NORM, "plain", 2, ["out_Y"], epsilon=1e-3)

# Quantisation.
SCALED = {"Out": "float32", "OutScale": "float32"}
for op in ("fake_quantize_abs_max", "fake_quantize_dequantize_abs_max"):
    row(op, lambda draw: {"X": draw(4, 6)}, SCALED, bit_length=8, round_type=1)
    row(op, lambda draw: {"X": draw(4, 2, 3)}, SCALED, "even", bit_length=4, round_type=0)
for op in ("fake_channel_wise_quantize_abs_max", "fake_channel_wise_quantize_dequantize_abs_max"):
    row(op, lambda draw: {"X": draw(4, 2, 3)}, SCALED, bit_length=8, quant_axis=0, round_type=1)
    row(op, lambda draw: {"X": draw(4, 2, 3)}, SCALED, "inner", bit_length=8, quant_axis=1, round_type=0)
for op in ("fake_quantize_moving_average_abs_max", "fake_quantize_dequantize_moving_average_abs_max"):
    for test in (False, True):
        row(op, lambda draw: {"X": draw(4, 6), "InScale": number(1.25), "InAccum": number(1.5), "InState": number(1.1)},
            {"Out": "float32", "OutScale": ("InScale", "float32"), "OutAccum": ("InAccum", "float32"),
             "OutState": ("InState", "float32")},
            "test" if test else "", bit_length=8, moving_rate=0.9, is_test=test, round_type=1)  # fmt: skip
for label, dims, scale, axis in (("", (4, 6), 1, -1), ("rows", (4, 6), 4, 0), ("columns", (4, 6, 2), 6, 1)):
    row("quantize_linear",
        lambda draw, dims=dims, scale=scale: {"X": draw(*dims), "Scale": draw(scale, low=0.5), "ZeroPoint": number(0)},
        {"Y": "float32"}, label, quant_axis=axis, bit_length=8)  # fmt: skip
    row("dequantize_linear",
        lambda draw, dims=dims, scale=scale: {"X": np.round(draw(*dims) * 30), "Scale": draw(scale, low=0.5),
                                              "ZeroPoint": number(0)},
        {"Y": "float32"}, label, quant_axis=axis, bit_length=8)  # fmt: skip
row("quantize_linear",
    lambda draw: {"X": draw(4, 6), "Scale": number(1.5), "ZeroPoint": number(0), "InAccum": number(1.5),
                  "InState": number(1.1)},
    {"Y": "float32", "OutScale": ("Scale", "float32"), "OutAccum": ("InAccum", "float32"),
     "OutState": ("InState", "float32")},
    "train", quant_axis=-1, bit_length=8, is_test=False)  # fmt: skip
row("moving_average_abs_max_scale", lambda draw: {"X": draw(4, 6), "InAccum": number(1.5), "InState": number(1.1)},
    {"Out": "float32", "OutScale": "float32", "OutAccum": ("InAccum", "float32"), "OutState": ("InState", "float32")},
    moving_rate=0.9)  # fmt: skip
row("fake_dequantize_max_abs", lambda draw: {"X": draw(4, 6), "Scale": number(1.5)}, ONE, max_range=127.0)
for axis in (0, 1):
    row("fake_channel_wise_dequantize_max_abs",
        lambda draw, axis=axis: {"X": draw(4, 6), "Scales": draw((4, 6)[axis])}, ONE,
        "axis%d" % axis, quant_bits=[8], quant_axis=axis)  # fmt: skip

# Signals, graphs, matrices.
for label, attributes in (("", {}), ("normalized", {"normalized": True})):
    row("stft", lambda draw: {"X": draw(4, 16), "Window": draw(6)}, {"Out": "complex64"}, label,
        **{"n_fft": 6, "hop_length": 2, "normalized": False, "onesided": True, **attributes})  # fmt: skip
for message in ("ADD", "MUL"):
    for reduce in ("SUM", "MEAN", "MAX", "MIN"):
        row("graph_send_ue_recv",
            lambda draw: {"X": draw(4, 3), "Y": draw(6, 3), "Src_index": draw.integers(6),
                          "Dst_index": draw.integers(6, below=3)},
            {"Out": "float32", "Dst_count": "int32"}, message + "_" + reduce,
            message_op=message, reduce_op=reduce, out_size=[0])  # fmt: skip
    row("graph_send_ue_recv",
        lambda draw: {"X": draw(4, 2, 3), "Y": draw(6, 1), "Src_index": draw.integers(6, dtype="int32"),
                      "Dst_index": draw.integers(6, dtype="int32")},
        {"Out": "float32", "Dst_count": "int32"}, message + "_broadcast", message_op=message, reduce_op="SUM",
        out_size=[6])  # fmt: skip
    row("graph_send_uv",
        lambda draw: {"x": draw(4, 3), "y": draw(4, 1), "src_index": draw.integers(6), "dst_index": draw.integers(6)},
        {"out": "float32"}, message, message_op=message)  # fmt: skip
for label, dims in (("", (3, 3)), ("wide", (2, 3, 5)), ("tall", (4, 5, 3))):
    row("lu", lambda draw, dims=dims: {"X": draw(*dims)}, {"Out": "float32", "Pivots": "int32", "Infos": "int32"},
        label, pivots=True)  # fmt: skip


def turned(draw, *dims):
    count = min(dims[-2:])
    return np.minimum(draw.integers(*dims[:-2], count, below=2) + np.arange(count), dims[-2] - 1).astype("int32") + 1


for label, dims in (("", (3, 3)), ("wide", (2, 3, 5)), ("tall", (4, 5, 3))):
    row("lu_unpack", lambda draw, dims=dims: {"X": draw(*dims), "Pivots": turned(draw, *dims)},
        {"Pmat": "float32", "L": "float32", "U": "float32"}, label, unpack_ludata=True, unpack_pivots=True)  # fmt: skip
row("multi_dot", lambda draw: {"X": [draw(4, 3), draw(3, 5), draw(5, 2)]}, ONE)
row("multi_dot", lambda draw: {"X": [draw(3), draw(3, 5), draw(5)]}, ONE, "vectors")
row("matrix_rank", lambda draw: {"X": np.stack([np.eye(3), np.ones((3, 3))]).astype("float32")}, {"Out": "int64"})
row("svd", lambda draw: {"X": draw(4, 3, 3)}, {"U": "float32", "S": "float32", "VH": "float32"}, "", 1, ["out_S"],
    full_matrices=False)  # fmt: skip
row("qr", lambda draw: {"X": draw(2, 4, 3)}, {"Q": "float32", "R": "float32"}, mode="reduced")
row("eigh", lambda draw: {"X": draw(2, 3, 3) + 0 * np.eye(3, dtype="float32")},
    {"Eigenvalues": "float32", "Eigenvectors": "float32"}, "", 1, ["out_Eigenvalues"], UPLO="L")  # fmt: skip
row("eigvalsh", lambda draw: {"X": draw(2, 3, 3)}, {"Eigenvalues": "float32", "Eigenvectors": "float32"}, "", 1,
    ["out_Eigenvalues"], UPLO="L", is_test=False)  # fmt: skip
row("cholesky_solve", lambda draw: {"X": draw(2, 3, 2), "Y": np.tril(draw(2, 3, 3)) + 3 * np.eye(3, dtype="float32")},
    ONE, upper=False)  # fmt: skip

# Losses, scores, attention.
for label, lens in (("", (4, 2, 1)), ("whole", (4, 4, 4))):
    for tagged in (False, True):
        row("viterbi_decode",
            lambda draw, lens=lens: {"Input": draw(4, 4, 5), "Transition": draw(5, 5),
                                     "Length": np.array(lens + (3,), "int64")},
            {"Scores": "float32", "Path": "int64"}, label + ("tags" if tagged else ""),
            include_bos_eos_tag=tagged)  # fmt: skip
row("identity_loss", lambda draw: {"X": draw(4, 3)}, ONE, "mean", reduction=1)
row("identity_loss", lambda draw: {"X": draw(4, 3)}, ONE, "sum", reduction=0)
row("identity_loss", lambda draw: {"X": draw(4, 3)}, ONE, "none", reduction=2)

# Shapes, indices, creation.
row("angle", lambda draw: {"X": draw(4, 3)}, ONE)
row("as_complex", lambda draw: {"X": draw(4, 3, 2)}, {"Out": "complex64"})
row("as_real", lambda draw: {"X": (draw(4, 3) + 1j * draw(4, 3)).astype("complex64")}, ONE)
row("bincount", lambda draw: {"X": draw.integers(8, below=5)}, {"Out": "int64"}, minlength=7)
row("bincount", lambda draw: {"X": draw.integers(8, below=5), "Weights": draw(8)}, ONE, "weights", minlength=0)
row("broadcast_tensors", lambda draw: {"X": [draw(4, 1), draw(3)]}, {"Out": ["float32", "float32"]})
row("bicubic_interp", lambda draw: {"X": draw(2, 2, 4, 5)}, ONE, out_h=6, out_w=3, interp_method="bicubic",
    data_layout="NCHW", align_corners=True, align_mode=1)  # fmt: skip
row("linear_interp", lambda draw: {"X": draw(2, 2, 5)}, ONE, out_w=8, interp_method="linear", data_layout="NCHW",
    align_corners=False, align_mode=0)  # fmt: skip
row("fill_diagonal", lambda draw: {"X": draw(4, 3)}, ONE, value=2.5, offset=0, wrap=False)
row("fill_diagonal", lambda draw: {"X": draw(7, 3)}, ONE, "wrap", value=2.5, offset=0, wrap=True)
row("fill_diagonal_tensor", lambda draw: {"X": draw(4, 3, 4), "Y": draw(4, 3)}, ONE, dim1=1, dim2=2, offset=0)
row("fill_diagonal_tensor", lambda draw: {"X": draw(3, 4), "Y": draw(3)}, ONE, "offset", dim1=0, dim2=1, offset=1)
row("frame", lambda draw: {"X": draw(4, 10)}, ONE, frame_length=4, hop_length=2, axis=-1)
row("frame", lambda draw: {"X": draw(10, 2)}, ONE, "first", frame_length=4, hop_length=3, axis=0)
row("overlap_add", lambda draw: {"X": draw(4, 4, 3)}, ONE, hop_length=2, axis=-1)
row("overlap_add", lambda draw: {"X": draw(3, 4, 2)}, ONE, "first", hop_length=3, axis=0)
row("grad_add", lambda draw: {"X": draw(4, 3), "Y": draw(4, 3)}, ONE, axis=-1)
for op in ("i0", "i0e", "i1", "i1e"):
    row(op, lambda draw: {"x": draw(4, 3, high=9.0)}, {"out": "float32"})
row("polygamma", lambda draw: {"x": draw(4, 3, low=0.3)}, {"out": "float32"}, n=1)
row("polygamma", lambda draw: {"x": draw(4, 3, low=0.3)}, {"out": "float32"}, "3", n=3)
row("nextafter", lambda draw: {"x": draw(4, 3), "y": draw(4, 3)}, {"out": "float32"})
row("index_put", lambda draw: {"x": draw(4, 3), "indices": [draw.integers(3), draw.integers(3, below=3)],
                               "value": draw(3)}, {"out": "float32"}, "add", accumulate=True)  # fmt: skip
row("index_put", lambda draw: {"x": draw(4, 3), "indices": [np.array([2, 0], "int64")], "value": draw(2, 3)},
    {"out": "float32"}, accumulate=False)  # fmt: skip
row("logspace", lambda draw: {"Start": number(0), "Stop": number(2), "Num": number(5, "int32"), "Base": number(2)}, ONE,
    dtype=5)  # fmt: skip
row("nanmedian", lambda draw: {"X": draw(4, 5)}, {"Out": "float32", "MedianIndex": "int64"}, axis=[1], keepdim=False)
row("nanmedian", lambda draw: {"X": draw(4, 3, 2)}, {"Out": "float32", "MedianIndex": "int64"}, "first", axis=[0],
    keepdim=True)  # fmt: skip
for op in ("partial_concat", "partial_sum"):
    row(op, lambda draw: {"X": [draw(4, 5), draw(4, 5), draw(4, 5)]}, ONE, start_index=1, length=2)
    row(op, lambda draw: {"X": [draw(4, 5), draw(4, 5)]}, ONE, "rest", start_index=-2, length=-1)
for op in ("reduce_amax", "reduce_amin"):
    row(op, lambda draw: {"X": np.round(draw(4, 3, 2))}, ONE, dim=[1], keep_dim=False, reduce_all=False)
    row(op, lambda draw: {"X": np.round(draw(4, 3))}, ONE, "all", dim=[0, 1], keep_dim=False, reduce_all=True)
row("renorm", lambda draw: {"X": draw(4, 3, 2)}, ONE, p=2.0, axis=1, max_norm=1.5)
row("renorm", lambda draw: {"X": draw(4, 3)}, ONE, "rows", p=1.0, axis=0, max_norm=2.0)
row("top_k", lambda draw: {"X": draw(4, 5)}, {"Out": "float32", "Indices": "int64"}, k=2)
for op, names in (("tril_indices", ("rows", "cols")), ("triu_indices", ("row", "col"))):
    row(op, lambda draw: {}, {"out": "int64"}, offset=1, dtype=3, **dict(zip(names, (4, 3))))
row("memcpy", lambda draw: {"X": draw(4, 3)}, ONE, dst_place_type=0)
row("fused_softmax_mask", lambda draw: {"X": draw(4, 2, 3, 8), "Mask": draw(4, 1, 3, 8)}, ONE)
row("shuffle_batch", lambda draw: {"X": draw(6, 3), "Seed": number(12345, "int64")},
    {"Out": "float32", "ShuffleIdx": "int64", "SeedOut": "int64"}, startup_seed=7)  # fmt: skip
row("exponential", lambda draw: {"X": draw(32, 32)}, ONE, **{"lambda": 2.0})
row("poisson", lambda draw: {"X": np.full((32, 32), 3, "float32")}, ONE)
row("dirichlet", lambda draw: {"Alpha": np.ones((128, 4), "float32")}, ONE)
row("gumbel_softmax", lambda draw: {"X": np.zeros((64, 8), "float32")}, ONE, temperature=1.0, hard=False, axis=-1)
row("c_embedding", lambda draw: {"W": draw(4, 3), "Ids": draw.integers(5, below=8)}, ONE, start_index=2)


def main(folder, wanted="."):
    os.makedirs(folder, exist_ok=True)
    chosen = [r for r in ROWS if re.search(wanted, r[0])]

    def act(item):
        op, label, inputs, outputs, attributes, order, targets = item
        return write(folder, op, label, inputs, outputs, attributes, order, targets)

    for item, word in sweep.in_child(chosen, act, 60):
        if word != "made":
            print(item[0], item[1], item[5], " ".join(word.split())[-300:])
            for order in ("raw", "second", "third"):
                name = "%s.%s%s" % (order, item[0], "-" + item[1] if item[1] else "")
                if item[5] == {"raw": 1, "second": 2, "third": 3}[order]:
                    shutil.rmtree(os.path.join(folder, name), ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
