"""What the sweep asks of the framework, the same for 1.8.5 and 2.6.2."""

import numpy as np

try:  # 2.6
    import paddle
    from paddle import static as fluid
    from paddle.base import core, framework as base

    paddle.enable_static()
    VERSION = paddle.__version__
    SINCE_2 = True
except ImportError:
    SINCE_2 = False
if not SINCE_2 or VERSION.startswith("1."):
    import paddle
    import paddle.fluid as fluid
    from paddle.fluid import core, framework as base

    VERSION = paddle.__version__
    SINCE_2 = False

SELECTED_ROWS = core.VarDesc.VarType.SELECTED_ROWS
LOD_TENSOR = core.VarDesc.VarType.LOD_TENSOR
FLOATS = ("float16", "float32", "float64")

# Named otherwise in NumPy's words.
_DTYPES = {
    "BOOL": "bool", "INT16": "int16", "INT32": "int32", "INT64": "int64", "FP16": "float16",
    "FP32": "float32", "FP64": "float64", "UINT8": "uint8", "INT8": "int8", "BF16": "uint16", "bfloat16": "uint16",
    "COMPLEX64": "complex64", "COMPLEX128": "complex128",
}  # fmt: skip


def dtype_name(dtype):
    name = str(dtype).split(".")[-1]
    return _DTYPES.get(name, name)


def dtype_number(name):
    return base.convert_np_dtype_to_dtype_(name)


def _attributes(op):
    found = {}
    for name in op.attr_names:
        try:
            value = op.attr(name)
        except Exception:
            continue
        if isinstance(value, (bool, int, float, str)):
            found[name] = value
        elif isinstance(value, (list, tuple)):
            value = [v.value() if hasattr(v, "value") else v for v in value]  # scalars of 2.6
            if all(isinstance(v, (bool, int, float, str)) for v in value):
                found[name] = list(value)
    return found


def operators(serialized):
    """Those of the first block."""
    program = fluid.Program.parse_from_string(serialized)
    block = program.global_block()
    result = []
    for op in block.ops:
        outputs = {}
        for slot in op.output_names:
            described = []
            for name in op.output(slot):
                var = block.vars.get(name)
                kind = var.type if var is not None else LOD_TENSOR
                tensor = kind in (LOD_TENSOR, SELECTED_ROWS)
                dtype = dtype_name(var.dtype) if tensor and var is not None else "float32"
                described.append({"name": name, "dtype": dtype, "kind": int(kind)})
            if described:
                outputs[slot] = described
        result.append({
            "type": op.type,
            "inputs": {slot: op.input(slot) for slot in op.input_names if op.input(slot)},
            "outputs": outputs,
            "attributes": _attributes(op),
        })  # fmt: skip
    return result


def tensor(array, lod):
    value = core.LoDTensor()
    value.set(np.ascontiguousarray(array).reshape(array.shape), core.CPUPlace())
    if lod:
        value.set_lod(lod)
    return value


def run(program, values, names, fetch):
    """Fetched values [(array, lod)]; None for one that has none. Throws what the framework throws."""
    scope = core.Scope()
    executor = fluid.Executor(core.CPUPlace())
    feed = {}
    for name in names:
        var = program.global_block().vars.get(name)
        if name not in values:
            continue
        array, lod = values[name]
        if var is not None and var.persistable:
            held = scope.var(name).get_tensor()
            held.set(np.ascontiguousarray(array).reshape(array.shape), core.CPUPlace())
        else:
            feed[name] = tensor(array, lod)
    with fluid.scope_guard(scope):
        fetched = executor.run(program, feed=feed, fetch_list=fetch, return_numpy=False)
    return [None if t is None else _value(t) for t in fetched]


def _value(held):
    try:
        if not held._is_initialized():
            return None
        array = np.array(held)
    except Exception:
        return None
    if array.dtype == object:
        return None
    return array, held.lod()


def values_before(serialized, index, values, names):
    """What `names` hold before operator `index`; None where one cannot be read."""
    held = {n: values[n] for n in names if n in values}
    missing = [n for n in names if n not in values]
    program = fluid.Program.parse_from_string(serialized)
    block = program.global_block()
    written = {n for op in block.ops[:index] for n in op.output_arg_names}
    if not missing and not written & set(names):
        return held
    for name in names:
        var = block.vars.get(name)
        if var is None or var.type != LOD_TENSOR:
            return None
    while len(block.ops) > index:
        block._remove_op(len(block.ops) - 1)
    if not block.ops:
        return None
    used = {n for op in block.ops for n in op.input_arg_names} | set(names)
    try:
        fetched = run(program, values, sorted(used & set(values)), names)
    except Exception:
        return None
    if any(f is None for f in fetched):
        return None
    return dict(zip(names, fetched))


class Built:
    """A program of one operator (and what makes its SelectedRows), with its gradient."""

    def __init__(self, seed, shapes=None):
        """`shapes`: those of the outputs, by name; with them the gradient is appended."""
        self.program, self.startup = fluid.Program(), fluid.Program()
        self.values, self.fetch, self.persistable = {}, [], []
        self._weights = np.random.RandomState(7)
        with fluid.program_guard(self.program, self.startup):
            self._build(seed, shapes)

    def _var(self, name, **options):
        block = self.program.global_block()
        return block.vars[name] if name in block.vars else block.create_var(name=name, **options)

    def _rows_of(self, value):
        """The variable of a SelectedRows of the value's rows, made as the framework makes them: the
        gradient of a sparse lookup."""
        name, array, rows = value["name"], value["array"], value["rows"]
        self.height, self.width = value["height"], array.shape[1]
        block, prefix = self.program.global_block(), name + "_of_"
        ids = np.array(rows, "int64") if SINCE_2 else np.array(rows, "int64").reshape(-1, 1)
        self._input(prefix + "W", np.zeros((self.height, self.width), array.dtype), [], False)
        self._input(prefix + "Ids", ids, [], False)
        self._input(prefix + "Out", array, [], False)
        looked_up = self._var(prefix + "looked_up", dtype=array.dtype.name)
        block.append_op(
            type="lookup_table_v2" if SINCE_2 else "lookup_table",
            inputs={"W": [block.vars[prefix + "W"]], "Ids": [block.vars[prefix + "Ids"]]},
            outputs={"Out": [looked_up]},
            attrs={"is_sparse": True, "is_distributed": False, "padding_idx": -1},
        )
        gradients = fluid.gradients([looked_up], [block.vars[prefix + "W"]],
                                    target_gradients=[block.vars[prefix + "Out"]])  # fmt: skip
        return gradients[0]

    def _input(self, name, array, lod, written):
        if name in self.values:
            return
        shape = (-1,) + array.shape[1:] if lod else array.shape
        self._var(name, dtype=array.dtype.name, shape=shape, lod_level=len(lod),
                  persistable=written, is_data=not written,
                  stop_gradient=array.dtype.name not in FLOATS)  # fmt: skip
        self.values[name] = (array, lod)
        if written:
            self.persistable.append(name)

    def _build(self, seed, shapes):
        block = self.program.global_block()
        outputs = {o["name"] for slot in seed["outputs"].values() for o in slot}
        rows = {}
        for slot in seed["inputs"].values():
            for value in slot:
                if "rows" in value:
                    rows[value["name"]] = self._rows_of(value)
                else:
                    self._input(value["name"], value["array"], value["lod"],
                                value["name"] in outputs)  # fmt: skip
        made = {}
        for slot, described in seed["outputs"].items():
            made[slot] = []
            for o in described:
                made[slot].append(self._var(o["name"], dtype=o["dtype"], type=LOD_TENSOR
                                            if o["kind"] == int(LOD_TENSOR) else SELECTED_ROWS))
        given = {
            s: [rows[v["name"]] if v["name"] in rows else block.vars[v["name"]] for v in slot]
            for s, slot in seed["inputs"].items()
        }
        op = block.append_op(type=seed["type"], inputs=given, outputs=made,
                             attrs=dict(seed["attributes"]))  # fmt: skip
        tensors = []
        for slot in op.output_names:
            if slot != seed.get("only", slot):
                continue
            for name in op.output(slot):
                var = block.vars[name]
                if var.type == LOD_TENSOR:
                    tensors.append(var)
                elif var.type == SELECTED_ROWS:
                    tensors.append(self._dense(var))
        self.fetch = [v.name for v in tensors]
        if shapes and not rows and "only" not in seed:
            self._gradients([v for v in tensors if v.name not in self.values], shapes)

    def _dense(self, var):
        """All rows of SelectedRows, in whatever order they are listed."""
        block = self.program.global_block()
        name, held = var.name + "_dense", dtype_name(var.dtype)
        zeros = np.zeros((self.height, self.width), held)
        self._input(var.name + "_zeros", zeros, [], False)
        dense = self._var(name, dtype=held)
        block.append_op(type="sum", inputs={"X": [block.vars[var.name + "_zeros"], var]},
                        outputs={"Out": [dense]})  # fmt: skip
        return dense

    def _gradients(self, outputs, shapes):
        block = self.program.global_block()
        targets = [v for v in outputs if dtype_name(v.dtype) in FLOATS]
        sources = [block.vars[n] for n in self.values if not block.vars[n].stop_gradient
                   and n not in self.persistable]  # fmt: skip
        if not targets or not sources:
            return
        self.targets = [v.name for v in targets]
        weights = []
        for v in targets:
            weight = self._var(v.name + "_weight", dtype=dtype_name(v.dtype), shape=shapes[v.name],
                               is_data=True, stop_gradient=True)  # fmt: skip
            weights.append(weight)
        gradients = fluid.gradients(targets, sources, target_gradients=weights)
        self.fetch += [g.name for g in gradients if g is not None]

    def weigh(self, name, array):
        """The gradient that flows into an output, once its extents are known."""
        magnitudes = self._weights.uniform(0.25, 1, array.shape)
        signs = self._weights.choice([-1, 1], array.shape)
        self.values[name + "_weight"] = ((magnitudes * signs).astype(array.dtype), [])

    def serialize(self):
        for block in self.program.blocks:
            for op in block.ops:
                if op.has_attr("op_callstack"):
                    op._remove_attr("op_callstack")
        return self.program.desc.serialize_to_string()


def values_shape(built, name):
    return built.values[name][0].shape


def execute(seed):
    """Runs a seed: (Built, [(name, array, lod)]). The gradient is left out where the framework has
    none of it; what the operator itself cannot do is thrown."""
    forward = Built(seed)
    fetched = run(forward.program, forward.values, list(forward.values), forward.fetch)
    values = dict(zip(forward.fetch, fetched))
    for name in forward.persistable:
        if tuple(forward.program.global_block().vars[name].shape) != values_shape(forward, name):
            raise ValueError("the extents of the state %s change" % name)
    try:
        built = Built(seed, {n: v[0].shape for n, v in values.items() if v is not None})
        if len(built.fetch) > len(forward.fetch):
            for name in built.targets:
                if values[name] is None:
                    raise ValueError(name)
                built.weigh(name, values[name][0])
            fetched = run(built.program, built.values, list(built.values), built.fetch)
            values = dict(zip(built.fetch, fetched))
        else:
            built = forward
    except Exception:
        built = forward
    # The LoD of a gradient, or of what a recurrent operator keeps for its own one, is nobody's
    # business.
    inner = ("@GRAD", "Batch")
    kept = [(n, v[0], [] if any(word in n for word in inner) else v[1])
            for n, v in values.items() if v is not None]  # fmt: skip
    return built, kept
