"""Operators as the corpus has them: each with the values its inputs have and the attributes it is given.

A seed is {"type", "case", "inputs": {slot: [value]}, "outputs": {slot: [output]}, "attributes",
"rtol", "atol"}; a value is {"name", "array", "lod"}, an output {"name", "dtype", "kind"}.
"""

import json
import os

import numpy as np

from files import read_tensor_file

# Attributes that say nothing about values.
FORM_ONLY = {
    "op_role", "op_role_var", "op_namescope", "op_callstack", "op_device", "with_quant_attr",
    "use_mkldnn", "use_cudnn", "use_quantizer", "mkldnn_data_type", "trainable_statistics_",
}  # fmt: skip
MOST_ELEMENTS = 3000


def case_values(folder, info):
    """Feeds of the first step and what is in init/: {name: (array, lod)}."""
    values = {}
    for feed in info["feeds"]:
        base = os.path.join(folder, "feeds", feed["name"])
        if os.path.exists(base + ".npy"):
            values[feed["name"]] = (np.load(base + ".npy")[0], [])
        elif os.path.exists(base + ".step0.npy"):
            lod = []
            if os.path.exists(base + ".step0.lod.json"):
                with open(base + ".step0.lod.json") as f:
                    lod = json.load(f)
            values[feed["name"]] = (np.load(base + ".step0.npy"), lod)
    for name in info["params"]:
        path = os.path.join(folder, "init", name)
        if os.path.exists(path):
            values[name] = (read_tensor_file(path), [])
    return values


def renamed(seed):
    """Names say the slot; what an operator updates keeps one name."""
    names = {}
    for part in ("inputs", "outputs"):
        for slot, held in seed[part].items():
            for at, value in enumerate(held):
                name = slot if len(held) == 1 else "%s_%d" % (slot, at)
                while name in names.values():
                    name += "_"
                value["name"] = names.setdefault(value["name"], name)
    return seed


def signature(seed):
    """Seeds of a type with the same one would give the same variants."""
    inputs = [
        (slot, len(values), [(v["array"].dtype.str, v["array"].ndim, len(v["lod"])) for v in values])
        for slot, values in sorted(seed["inputs"].items())
    ]
    attributes = sorted((k, str(v)) for k, v in seed["attributes"].items())
    return str((inputs, attributes))


def seeds_of_case(framework, folder, rows, wanted):
    """The operators of a case that `wanted` asks for, in the order of the program."""
    with open(os.path.join(folder, "case.json")) as f:
        info = json.load(f)
    if "control-flow" in info["tags"] or not any(wanted(t) for t in info["op_types"]):
        return
    values = case_values(folder, info)
    with open(os.path.join(folder, "main.pdmodel"), "rb") as f:
        serialized = f.read()
    for index, op in enumerate(framework.operators(serialized)):
        if not wanted(op["type"]):
            continue
        names = sorted({name for slot in op["inputs"].values() for name in slot})
        fetched = framework.values_before(serialized, index, values, names)
        if fetched is None:
            continue
        if sum(array.size for array, _ in fetched.values()) > MOST_ELEMENTS:
            continue
        known = {a["name"] for a in rows[op["type"]]["attributes"]}
        yield renamed({
            "type": op["type"],
            "case": info["name"],
            "inputs": {
                slot: [{"name": n, "array": fetched[n][0], "lod": fetched[n][1]} for n in names]
                for slot, names in op["inputs"].items()
                if names
            },
            "outputs": op["outputs"],
            "attributes": {k: v for k, v in op["attributes"].items() if k not in FORM_ONLY},
            "known": sorted(known),
            "rtol": info["rtol"],
            "atol": info["atol"],
        })  # fmt: skip


def collect(framework, corpus, rows, wanted, per_type, rng=None):
    """{type: seeds}, at most `per_type` that differ: the smallest, or drawn ones."""
    found = {}
    for case in sorted(os.listdir(corpus)):
        folder = os.path.join(corpus, case)
        for seed in seeds_of_case(framework, folder, rows, wanted):
            of_type = found.setdefault(seed["type"], {})
            of_type.setdefault(signature(seed), seed)

    def size(seed):
        return sum(v["array"].size for values in seed["inputs"].values() for v in values)

    def taken(seeds):
        if rng and len(seeds) > per_type:
            seeds = rng.sample(seeds, per_type)
        return sorted(seeds, key=size)[:per_type]

    return {t: taken(list(s.values())) for t, s in sorted(found.items())}
