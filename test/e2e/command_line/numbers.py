"""Numbers at the edge: batches without elements, narrow types, float64.

numbers.py TOOL_FOLDER CORPUS
"""

import json
import os
import re
import struct

from check import losses_of, main

NOTHING = """pd.var @w : tensor<4x2xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x3x4xf32>
  %y = pd.input "y" : tensor<?x4x5xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %a = pd.matmul_v2 X(%x) Y(%w) -> Out("a") : (tensor<?x3x4xf32>, tensor<4x2xf32>) -> tensor<?x3x2xf32>
  %b = pd.matmul_v2 X(%x) Y(%y) -> Out("b") : (tensor<?x3x4xf32>, tensor<?x4x5xf32>) -> tensor<?x3x5xf32>
  %s = pd.reduce_sum X(%a) -> Out("s") {reduce_all = true} : (tensor<?x3x2xf32>) -> tensor<1xf32>
  %m = pd.mean X(%a) -> Out("m") : (tensor<?x3x2xf32>) -> tensor<1xf32>
  %o = pd.fill_constant -> Out("o") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
  %f = pd.cast X(%o) -> Out("f") {in_dtype = 5 : i32, out_dtype = 0 : i32} : (tensor<4xf32>) -> tensor<4xi1>
  %n = pd.masked_select X(%o) Mask(%f) -> Y("n") : (tensor<4xf32>, tensor<4xi1>) -> tensor<?xf32>
  %r = pd.relu X(%n) -> Out("r") : (tensor<?xf32>) -> tensor<?xf32>
  %t = pd.reduce_max X(%n) -> Out("t") {reduce_all = true} : (tensor<?xf32>) -> tensor<1xf32>
  %g:2 = pd.matmul_v2_grad X(%x) Y(%w) "Out@GRAD"(%a) -> "X@GRAD"("gx") "Y@GRAD"("gw") : (tensor<?x3x4xf32>, tensor<4x2xf32>, tensor<?x3x2xf32>) -> (tensor<?x3x4xf32>, tensor<4x2xf32>)
}
"""


def nothing_at_all(check):
    """Batches and results without elements: sums of nothing are 0, its products empty; its mean and maximum are errors, not NaN."""
    folder = check.path("nothing")
    os.makedirs(os.path.join(folder, "init"))
    with open(os.path.join(folder, "main.mlir"), "w") as f:
        f.write(NOTHING)
    for name, dims in (("x", (1, 0, 3, 4)), ("y", (1, 0, 4, 5))):
        head = "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }" % (dims,)
        with open(os.path.join(folder, name + ".npy"), "wb") as f:
            f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head.encode() + b"\n")
    with open(
        os.path.join(folder, "init", "w"), "wb"
    ) as f:  # the framework's record of a float32 [4, 2]
        f.write(
            struct.pack("<IQIi", 0, 0, 0, 6)
            + b"\x08\x05\x10\x04\x10\x02"
            + struct.pack("<8f", *[1] * 8)
        )
    run = [
        "run",
        os.path.join(folder, "main.mlir"),
        "--feeds",
        folder,
        "--init",
        os.path.join(folder, "init"),
    ]
    file = check.path("nothing.json")
    check.expect_exit(
        "a batch of nothing",
        0,
        run
        + ["--report", file]
        + [w for name in ("a", "b", "s", "gx", "gw", "n", "r") for w in ("--fetch", name)],
    )
    with open(file) as f:
        found = json.load(f)["fetch"]
    check.expect(
        "sums of nothing are 0", found["s"] == [0] and found["gw"] == [[0] * 8], str(found)
    )
    check.expect(
        "products of nothing are empty",
        all(found[name] == [[]] for name in ("a", "b", "gx", "n", "r")),
        str(found),
    )
    check.expect_exit(
        "the mean of a batch of nothing",
        1,
        run + ["--fetch", "m"],
        "mean",
        "no elements",
        "[0x3x2]",
    )
    check.expect_exit(
        "the maximum of what a mask leaves",
        4,
        run + ["--fetch", "t"],
        "reduce_max",
        "no elements",
        "'n' is float32[0]",
    )


# Ops whose kernels compute in float32 and wider types; T stands for the element type, C for its
# code.
NARROW = """pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x10xf32>
  %h = pd.cast X(%x) -> Out("h") {in_dtype = 5 : i32, out_dtype = C : i32} : (tensor<?x10xf32>) -> tensor<?x10xT>
  %w = pd.fill_constant -> Out("w") {dtype = C : i32, shape = array<i64: 10, 3>, value = 0.25 : f32} : () -> tensor<10x3xT>
  %p = pd.matmul_v2 X(%h) Y(%w) -> Out("p") : (tensor<?x10xT>, tensor<10x3xT>) -> tensor<?x3xT>
  %c = pd.cumsum X(%p) -> Out("c") {axis = 1 : i32} : (tensor<?x3xT>) -> tensor<?x3xT>
  %i, %j = pd.top_k_v2 X(%c) -> Out("i") Indices("j") {k = 2 : i32} : (tensor<?x3xT>) -> (tensor<?x2xT>, tensor<?x2xi64>)
  %s = pd.softmax X(%c) -> Out("s") : (tensor<?x3xT>) -> tensor<?x3xT>
  %a = pd.cast X(%c) -> Out("a") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x3xT>) -> tensor<?x3xf32>
  %b = pd.cast X(%s) -> Out("b") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x3xT>) -> tensor<?x3xf32>
  %d = pd.cast X(%i) -> Out("d") {in_dtype = C : i32, out_dtype = 5 : i32} : (tensor<?x2xT>) -> tensor<?x2xf32>
}
"""


def narrow_types(check):
    """float16 and bfloat16: what float32 gives, to their own number of digits."""
    found = {}
    for name, code in (("f32", 5), ("f16", 4), ("bf16", 22)):
        file = check.path(name + ".mlir")
        with open(file, "w") as f:
            f.write(re.sub(r"\bC\b", str(code), re.sub(r"xT\b", "x" + name, NARROW)))
        run = [
            "run",
            file,
            "--feed",
            "x=" + check.program("feeds/x.npy"),
            "--steps",
            "1",
            "--report",
            check.path("narrow.json"),
        ]
        check.expect_exit(
            "a program in " + name, 0, run + ["--fetch", "a", "--fetch", "b", "--fetch", "d"]
        )
        with open(check.path("narrow.json")) as f:
            found[name] = [x for value in json.load(f)["fetch"].values() for x in value[0]]
    for name, digits in (("f16", 2.0**-9), ("bf16", 2.0**-6)):
        largest = max(map(abs, found["f32"]))
        far = max(abs(x - y) for x, y in zip(found["f32"], found[name])) / largest
        check.expect(
            "%s differs by its own rounding (%.1e)" % (name, far),
            len(found[name]) == len(found["f32"]) > 0 and 0 < far < digits,
            str(found),
        )


def double_precision(check):
    """In float64 the job and the program differ by rounding of float64: what is left of a difference is one of meaning."""
    case = os.path.join(check.corpus, "fluid18", "lenet")
    program = [
        os.path.join(case, "main.pdmodel"),
        "--startup",
        os.path.join(case, "startup.pdmodel"),
    ]
    data = ["--feeds", os.path.join(case, "feeds"), "--init", os.path.join(case, "init")]
    check.expect_exit(
        "a job of lenet",
        0,
        [
            "transpile",
            *program,
            "-o",
            check.path("wide"),
            "--mode",
            "collective",
            "--trainers",
            "2",
        ],
    )
    with open(os.path.join(case, "golden.json")) as f:
        name, golden = next((k, v) for k, v in json.load(f).items() if k.startswith("mean"))
    one, two = (
        losses_of(check, name, [what] + data + ["--float64"])
        for what in (program[0], check.path("wide"))
    )
    far = max((abs(a[0] - b[0]) for a, b in zip(one, two)), default=1)
    check.expect(
        "--float64: program and job differ by rounding only",
        len(one) == len(golden) and far < 1e-12,
        "%g\n%s\n%s" % (far, one, two),
    )
    steps = [abs(a[0] - (b[0] if isinstance(b, list) else b)) for a, b in zip(one, golden)]
    check.expect(
        "and by that of float32 from the framework", 1e-9 < max(steps, default=0) < 1e-4, str(steps)
    )


if __name__ == "__main__":
    main((nothing_at_all, narrow_types, double_precision))
