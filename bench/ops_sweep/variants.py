"""What a seed becomes when one thing about it changes."""

import copy
import itertools
import re

import numpy as np

FLOATS = ("float16", "float32", "float64")
INTEGERS = ("int32", "int64", "int16", "int8", "uint8")

# Attributes that count dims, so that every dim and its negative are tried.
AXIS = re.compile(r"^(axis|axis1|axis2|dim|dim1|dim2|begin_norm_axis|begin_params_axis|batch_dim|"
                  r"x_num_col_dims|y_num_col_dims|start_axis|stop_axis|diagonal|offset)$")  # fmt: skip
AXES = re.compile(r"^(axis|axes|dim|dims|decrease_axis|decrease_axes|axis_x|axis_y)$")
DTYPE = re.compile(r"^(dtype|in_dtype|out_dtype|output_dtype|index_dtype)$")
DTYPE_NUMBERS = (0, 2, 3, 4, 5, 6)

# Words that no seed may show.
STRINGS = {
    "padding_algorithm": ["EXPLICIT", "SAME", "VALID"],
    "data_format": ["NCHW", "NHWC", "NCDHW", "NDHWC", "AnyLayout"],
    "data_layout": ["NCHW", "NHWC"],
    "interp_method": ["nearest", "bilinear", "bicubic", "trilinear", "linear"],
    "mode": ["constant", "reflect", "replicate", "edge", "circular", "all", "channel", "element"],
    "pooltype": ["AVERAGE", "SUM", "SQRT", "LAST", "FIRST", "MAX"],
    "pooling_type": ["max", "avg"],
    "reduction": ["none", "mean", "sum", "batchmean"],
    "act": ["", "relu", "tanh"],
    "gate_activation": ["sigmoid", "tanh", "relu", "identity"],
    "cell_activation": ["sigmoid", "tanh", "relu", "identity"],
    "candidate_activation": ["sigmoid", "tanh", "relu", "identity"],
    "reduce_op": ["SUM", "MEAN", "MAX", "MIN"],
    "pool_type": ["SUM", "MEAN", "MAX", "MIN"],
    "Reduce": ["add", "mul", "multiply", "assign"],
    "padding_mode": ["zeros", "border", "reflection"],
    "overlap": ["union", "min"],
    "code_type": ["encode_center_size", "decode_center_size"],
    "norm": ["backward", "forward", "ortho"],
    "dropout_implementation": ["downgrade_in_infer", "upscale_in_train"],
    "UPLO": ["L", "U"],
    "rounding_mode": ["trunc", "floor"],
    "keypoint_format": [],
}  # fmt: skip

# A tensor's slot, the attributes it stands for, and whether it is a list of single numbers.
IN_PLACE_OF = {
    "AxisTensor": ("axis", "dim"), "AxesTensor": ("axes",), "Axis": ("axis",),
    "ShapeTensor": ("shape",), "Shape": ("shape", "output_size"), "ShapeTensorList": ("shape",),
    "StartsTensor": ("starts",), "EndsTensor": ("ends",), "StridesTensor": ("strides",),
    "StepsTensor": ("steps",), "StartsTensorList": ("starts",), "EndsTensorList": ("ends",),
    "StridesTensorList": ("strides",), "StepsTensorList": ("steps",),
    "AxisTensorList": ("axis", "dim"), "AxesTensorList": ("axes",), "Offsets": ("offsets",),
    "OffsetsTensor": ("offsets",), "K": ("k",), "Min": ("min",), "Max": ("max",),
    "RepeatTimes": ("repeat_times",), "repeat_times_tensor": ("repeat_times",),
    "ExpandTimes": ("expand_times",), "expand_times_tensor": ("expand_times",),
    "expand_shapes_tensor": ("shape",), "ScaleTensor": ("scale",), "ValueTensor": ("value",),
    "depth_tensor": ("depth",), "MaxLenTensor": ("maxlen",), "SectionsTensorList": ("sections",),
    "FactorTensor": ("factor",), "Paddings": ("paddings",), "OutputSizeTensor": ("output_size",),
    "NumRows": ("num_rows",), "NumColumns": ("num_columns",), "Depth": ("depth",),
    "AlphaTensor": ("alpha",), "Beta1Tensor": ("beta1",), "Beta2Tensor": ("beta2",),
    "EpsilonTensor": ("epsilon",), "MomentumTensor": ("momentum",), "Rank": ("rank",), "Out_size": ("out_size",),
}  # fmt: skip

# Slots that mean nothing without an attribute that says so.
MASTER = re.compile("Master")
# Optional tensors of integers; the others hold what the first input does.
COUNTS = re.compile("Length|Num|Lod|Index|Ids|Size|Label|Path|Code|Mask")

# Inputs that may come as chosen rows.
ROWS = {
    "sum": "X", "clip": "X", "clip_by_norm": "X", "scale": "X", "squared_l2_norm": "X",
    "isfinite": "X", "isfinite_v2": "X", "isnan_v2": "X", "isinf_v2": "X", "isnan": "X", "isinf": "X",
    "sqrt": "X", "square": "X", "assign": "X", "cast": "X", "shape": "Input", "elementwise_mul": "X",
    "elementwise_add": "X", "elementwise_div": "X", "merge_selected_rows": "X",
    "get_tensor_from_selected_rows": "X", "fill_zeros_like": "X", "mean": "X",
    "check_finite_and_unscale": "X", "update_loss_scaling": "X", "memcpy": "X",
}  # fmt: skip

EDGES = {
    "zeros": lambda a: np.zeros_like(a),
    "ones": lambda a: np.ones_like(a),
    "inf": lambda a: _with(a, [np.inf, -np.inf]),
    "nan": lambda a: _with(a, [np.nan]),
    "thousands": lambda a: a * a.dtype.type(1000),
    "tiny": lambda a: a * a.dtype.type(1e-30 if a.dtype != np.float16 else 1e-6),
    "rounded": lambda a: np.round(a),
    "one value": lambda a: np.full_like(a, a.flat[0]),
    "negated": lambda a: -a,
    "tens": lambda a: a * a.dtype.type(10),
    "huge": lambda a: a * a.dtype.type(1e30 if a.dtype != np.float16 else 1e3),
}
INTEGER_EDGES = {
    "zeros": lambda a: np.zeros_like(a),
    "repeated": lambda a: np.full_like(a, a.flat[0]),
    "reversed": lambda a: a.reshape(-1)[::-1].reshape(a.shape).copy(),
    "first negative": lambda a: _with(a, [-1]),
    "largest": lambda a: _with(a, [np.iinfo(a.dtype).max, np.iinfo(a.dtype).max - 1]),
}
BOOL_EDGES = {"all": lambda a: np.ones_like(a), "none": lambda a: np.zeros_like(a)}


def _with(array, numbers):
    changed = array.copy()
    for at, number in zip(range(0, changed.size, 2), numbers):
        changed.reshape(-1)[at] = number
    return changed


def _values(seed):
    return [v for slot in seed["inputs"].values() for v in slot]


def _rank(seed):
    return max([v["array"].ndim for v in _values(seed)] or [1])


def _unique(items, but):
    seen = [but]
    for item in items:
        if item not in seen or any(type(item) is not type(s) and item == s for s in seen if s is but):
            seen.append(item)
    return seen[1:]


def _attribute_values(name, value, rank, words):
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        if DTYPE.match(name):
            return list(DTYPE_NUMBERS)
        if AXIS.match(name):
            return list(range(-rank, rank + 1))
        return [value + 1, 0, -1, 1, 2, 3, value * 2]
    if isinstance(value, float):
        return [0.0, value / 2, 1.0, -1.0, value * 10, 2.5, 1e-20]
    if isinstance(value, str):
        return sorted(set(STRINGS.get(name, [])) | words.get(name, set()))
    if value and isinstance(value[0], str):
        return []
    if value and isinstance(value[0], float):
        return [[v / 2 for v in value], value[::-1], [0.0] * len(value)]
    if value and isinstance(value[0], bool):
        return [[not v for v in value]]
    found = [value[::-1]]
    if AXES.match(name):
        found += [[a] for a in range(-rank, rank)] + [[]] + [[-1, 0], [0, 1], [1, 2]]
        found += [list(range(rank))]
    if len(value) > 1:
        found.append(value[1:] + value[:1])
    found += [[v + 1 for v in value], [v + (i == 0) for i, v in enumerate(value)]]
    found += [[0 if i == 0 else v for i, v in enumerate(value)], [-1] + value[1:], [1] * len(value)]
    found += [value[:1], value[:-1] + [-1], [v - 1 for v in value], [v * 2 for v in value]]
    return found


def attributes(seed, row, words):
    for name, value in sorted(seed["attributes"].items()):
        if name not in seed["known"]:
            continue
        for other in _unique(_attribute_values(name, value, _rank(seed), words), value):
            changed = copy.deepcopy(seed)
            changed["attributes"][name] = other
            yield "%s = %s" % (name, other), changed
            if AXIS.match(name) and "Index" in seed["inputs"]:
                changed = copy.deepcopy(changed)  # along a shorter axis, too
                for index in changed["inputs"]["Index"]:
                    index["array"] = index["array"] % 2
                yield "%s = %s, indices of 0 and 1" % (name, other), changed


def absent_slots(seed, row, words):
    for slot in row["inputs"]:
        if (slot["optional"] or slot["list"]) and slot["name"] in seed["inputs"]:
            changed = copy.deepcopy(seed)
            del changed["inputs"][slot["name"]]
            if changed["inputs"]:
                yield "without " + slot["name"], changed
    for slot in row["outputs"]:
        if slot["optional"] and slot["name"] in seed["outputs"] and len(seed["outputs"]) > 1:
            changed = copy.deepcopy(seed)
            del changed["outputs"][slot["name"]]
            yield "without output " + slot["name"], changed
        if not slot["optional"] or slot["name"] in seed["outputs"] or slot["list"]:
            continue
        if MASTER.search(slot["name"]):
            continue
        changed = copy.deepcopy(seed)
        dtype = next((v["array"].dtype.name for v in _values(seed)), "float32")
        changed["outputs"][slot["name"]] = [{"name": slot["name"], "dtype": dtype, "kind": 7}]
        yield "with output " + slot["name"], changed


def tensors_for_attributes(seed, row, words):
    for slot in row["inputs"]:
        name = slot["name"]
        if name in seed["inputs"]:
            continue
        for attribute in IN_PLACE_OF.get(name, ()):
            if attribute not in seed["attributes"]:
                continue
            value = seed["attributes"][attribute]
            if isinstance(value, (str, bool)) or value == []:
                continue
            floats = isinstance(value, float) or (isinstance(value, list) and isinstance(value[0], float))
            for dtype in ("float32",) if floats else ("int32", "int64"):
                changed = copy.deepcopy(seed)
                if slot["list"]:
                    numbers = value if isinstance(value, list) else [value]
                    changed["inputs"][name] = [
                        {"name": "%s_%d" % (name, i), "array": np.array([n], dtype), "lod": []}
                        for i, n in enumerate(numbers)
                    ]
                else:
                    array = np.array(value if isinstance(value, list) else [value], dtype)
                    changed["inputs"][name] = [{"name": name, "array": array, "lod": []}]
                yield "%s of %s for %s" % (name, dtype, attribute), changed


def optional_tensors(seed, row, words):
    """An optional tensor of values: weights, biases, masks, lengths."""
    for slot in row["inputs"]:
        name = slot["name"]
        if name in seed["inputs"] or name in IN_PLACE_OF or not (slot["optional"] or slot["list"]):
            continue
        values = _values(seed)
        if not values or MASTER.search(name):
            continue
        if name in ("Bias", "ResidualData") and "conv" in seed["type"]:
            continue  # of fused kernels that the framework's processors lack
        first = values[0]["array"]
        shapes = {first.shape, first.shape[-1:], first.shape[1:2], first.shape[:1], (1,)}
        counts = COUNTS.search(name)
        for shape, dtype in itertools.product(sorted(shapes), (first.dtype.name, "int64", "int32")):
            if (dtype in FLOATS) == bool(counts) or dtype not in FLOATS + INTEGERS:
                continue
            changed = copy.deepcopy(seed)
            count = int(np.prod(shape))
            array = (np.arange(count).reshape(shape) % 3 + 1) / (2 if dtype in FLOATS else 1)
            changed["inputs"][name] = [{"name": name, "array": array.astype(dtype), "lod": []}]
            yield "with %s %s of %s" % (name, list(shape), dtype), changed


def element_types(seed, row, words):
    present = {v["array"].dtype.name for v in _values(seed)}
    for one in sorted(present):
        others = FLOATS + ("int32", "int64", "bool") if one in FLOATS + ("bool",) else (
            "int32", "int64", "int16", "uint8", "float32")  # fmt: skip
        for other in others:
            if other != one:
                yield "%s for %s" % (other, one), _cast(seed, one, other)


def _cast(seed, one, other):
    changed = copy.deepcopy(seed)
    for value in _values(changed):
        if value["array"].dtype.name == one:
            array = value["array"]
            if one in FLOATS and other in INTEGERS:
                array = np.round(array * 3)
            if one in FLOATS and other == "bool":
                array = array > 0
            value["array"] = array.astype(other)
    for slot in changed["outputs"].values():
        for output in slot:
            if output["dtype"] == one:
                output["dtype"] = other
    return changed


def edge_values(seed, row, words):
    for at, value in enumerate(_values(seed)):
        array = value["array"]
        if array.size == 0:
            continue
        name = array.dtype.name
        edges = EDGES if name in FLOATS else BOOL_EDGES if name == "bool" else INTEGER_EDGES
        if name.startswith("complex"):
            continue
        for label, edge in edges.items():
            changed = copy.deepcopy(seed)
            with np.errstate(all="ignore"):
                _values(changed)[at]["array"] = edge(array).astype(name)
            yield "%s: %s" % (value["name"], label), changed


def extents(seed, row, words):
    values = _values(seed)
    present = sorted({e for v in values for e in v["array"].shape if e > 1})
    for extent in present:
        for other in (0, 1):
            changed = copy.deepcopy(seed)
            for value in _values(changed):
                for axis, e in enumerate(value["array"].shape):
                    if e == extent:
                        value["array"] = value["array"].take(range(other), axis)
                        value["lod"] = []
            yield "extent %d becomes %d" % (extent, other), changed
    for at, value in enumerate(values):
        array = value["array"]
        for axis, e in enumerate(array.shape):
            for other in (0, 1):
                if e > other:
                    changed = copy.deepcopy(seed)
                    _values(changed)[at]["array"] = array.take(range(other), axis)
                    _values(changed)[at]["lod"] = []
                    yield "extent %d of dim %d of %s" % (other, axis, value["name"]), changed
        if array.size and array.ndim:
            changed = copy.deepcopy(seed)
            _values(changed)[at]["array"] = array.reshape(-1)[0].reshape(())
            _values(changed)[at]["lod"] = []
            yield "0-D %s" % value["name"], changed
            changed = copy.deepcopy(seed)
            _values(changed)[at]["array"] = array[None]
            _values(changed)[at]["lod"] = []
            yield "%s of one rank more" % value["name"], changed
    if len(values) > 1 and all(v["array"].size for v in values):
        changed = copy.deepcopy(seed)
        for value in _values(changed):
            value["array"], value["lod"] = value["array"].reshape(-1)[0].reshape(()), []
        yield "all 0-D", changed
        changed = copy.deepcopy(seed)
        for value in _values(changed):
            value["array"], value["lod"] = value["array"][None], []
        yield "all of one rank more", changed


def lists(seed, row, words):
    for slot in row["inputs"]:
        held = seed["inputs"].get(slot["name"], [])
        if not slot["list"] or not held:
            continue
        if len(held) > 1:
            changed = copy.deepcopy(seed)
            changed["inputs"][slot["name"]] = changed["inputs"][slot["name"]][:1]
            yield "one %s" % slot["name"], changed
        changed = copy.deepcopy(seed)
        changed["inputs"][slot["name"]] += [copy.deepcopy(held[0])]
        yield "%s with its first one twice" % slot["name"], changed
    for one, other in itertools.combinations(sorted(seed["inputs"]), 2):
        if len(seed["inputs"][one]) == 1 and len(seed["inputs"][other]) == 1:
            a, b = seed["inputs"][one][0]["array"], seed["inputs"][other][0]["array"]
            written = {o["name"] for held in seed["outputs"].values() for o in held}
            if {seed["inputs"][one][0]["name"], seed["inputs"][other][0]["name"]} & written:
                continue
            if a.shape == b.shape and a.dtype == b.dtype:
                changed = copy.deepcopy(seed)
                changed["inputs"][other] = copy.deepcopy(seed["inputs"][one])
                yield "%s is %s" % (other, one), changed


def lods(seed, row, words):
    """Other ragged rows for what has them; for the rest, that a LoD is handed on."""
    written = {o["name"] for held in seed["outputs"].values() for o in held}
    ragged = any(v["lod"] for v in _values(seed))
    for at, value in enumerate(_values(seed)):
        array = value["array"]
        if array.ndim < 1 or array.shape[0] < 2 or value["name"] in written:
            continue
        if value["name"] in ("Filter", "Scale", "Bias", "Weight", "W"):
            continue
        rows = array.shape[0]
        if not ragged:
            if at == 0 or value["name"] in ("X", "Input"):
                changed = copy.deepcopy(seed)
                _values(changed)[at]["lod"] = [[0, 1, rows]]
                yield "%s with the LoD %s" % (value["name"], [[0, 1, rows]]), changed
            continue
        for lod in ([[0, 1, rows]], [[0, rows]], [[0, 1, 1, rows]], [[0, 0, 1, rows]],
                    [[0, 1, rows, rows]], [[0, 1, 2], [0, 1, rows]]):  # fmt: skip
            if lod != value["lod"]:
                changed = copy.deepcopy(seed)
                _values(changed)[at]["lod"] = lod
                yield "%s with the LoD %s" % (value["name"], lod), changed


def chosen_rows(seed, row, words):
    slot = ROWS.get(seed["type"])
    if slot is None and "Grad" in seed["inputs"] and "Param" in seed["inputs"]:
        slot = "Grad"
    held = seed["inputs"].get(slot, [])
    if not held or held[0]["array"].ndim != 2 or held[0]["array"].shape[0] < 2:
        return
    if any(v["array"].dtype.name not in ("float32", "float64") for v in held):
        return
    for rows in ([1, 0], [1, 1, 0], [1]):
        for count in {1, len(held)}:
            changed = copy.deepcopy(seed)
            for value in changed["inputs"][slot][:count]:
                array = value["array"]
                value["height"] = array.shape[0]
                value["array"] = np.concatenate([array, array])[: len(rows)]
                value["rows"] = rows
            if seed["type"] == "sum" and count == len(held):
                for o in changed["outputs"]["Out"]:
                    o["kind"] = 8
            if seed["type"] not in ("get_tensor_from_selected_rows", "mean", "isfinite", "shape",
                                    "isfinite_v2", "isnan_v2", "isinf_v2") and slot == "X":  # fmt: skip
                for name in ("Out",):
                    for o in changed["outputs"].get(name, []):
                        o["kind"] = 8
            yield "%d of %s as rows %s" % (count, slot, rows), changed


def one_output(seed, row, words):
    """The results of one slot alone are read, without a gradient: nobody asks for the others."""
    for slot in seed["outputs"] if len(seed["outputs"]) > 1 else ():
        changed = copy.deepcopy(seed)
        changed["only"] = slot
        yield "only %s is read" % slot, changed


KINDS = {
    "seed": lambda seed, row, words: [("as it is", seed)],
    "read": one_output,
    "attribute": attributes,
    "slot": absent_slots,
    "tensor": tensors_for_attributes,
    "optional": optional_tensors,
    "type": element_types,
    "value": edge_values,
    "extent": extents,
    "list": lists,
    "LoD": lods,
    "rows": chosen_rows,
}


def variants(seeds, row, words):
    """All of a type: (kind, label, changed seed)."""
    for kind, make in KINDS.items():
        seen = set()
        for number, seed in enumerate(seeds):
            for label, changed in make(seed, row, words):
                if number > 1 and label in seen:
                    continue
                seen.add(label)
                yield kind, label, changed


def pairs(seeds, row, words, count, rng):
    """Variants of variants, drawn: two changes of different kinds."""
    kinds = [kind for kind in KINDS if kind != "seed"]
    for _ in range(4 * count):
        seed, labels = rng.choice(seeds), []
        for kind in rng.sample(kinds, 2):
            made = list(KINDS[kind](seed, row, words))
            if made:
                label, seed = rng.choice(made)
                labels.append(label)
        if len(labels) == 2:
            count -= 1
            yield "pair", "; ".join(labels), seed
        if count <= 0:
            return
