"""What `convert` says of program files that cannot be read, by table: the file, the exit status, the
place and the sentence.

messages.py TOOL_FOLDER CORPUS
"""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from check import main, varint  # noqa: E402


# PIR programs, as the framework writes them: values count from 1 in the order of results.
def value(kind, data):
    return {"#": kind, "D": data}


def attribute(name, kind, data):
    return {"N": name, "AT": value(kind, data)}


def tensor(*dims):
    return value("0.t_dtensor", [value("0.t_f32", None), list(dims), "NCHW", [], 0])


def several(*types):
    return value("0.t_vec", list(types))


def op(name, operands=(), types=(), attributes=()):
    return {"#": name, "I": [{"%": id} for id in operands], "O": list(types), "A": list(attributes)}


def data(name):
    return op("1.data", types=[tensor(2, 3)], attributes=[attribute("name", "0.a_str", name)])


def block(ops, **more):
    last = 0
    numbered = []
    for one in ops:
        results = []
        for type in one["O"]:
            last += 1
            results.append({"%": last, "TT": type})
        numbered.append(dict(one, O=results))
    return dict({"#": "block_0", "args": [], "ops": numbered}, **more)


def document(block):
    return {
        "base_code": {"magic": "pir", "trainable": True, "version": 4},
        "program": {"regions": [{"#": "region_0", "blocks": [block]}]},
    }


def pir(*ops):
    return json.dumps(document(block([data("x"), *ops]))).encode()


X = tensor(2, 3)
ROWS = value("0.t_selected_rows", [value("0.t_f32", None), [2, 3]])
SPARSE = value("1.t_sparse_coo_tensor", [])
ABSENT = value("NULL", None)
PAIR = op("0.combine", [1, 1], [several(X, X)])
PARAMETER = [attribute("parameter_name", "0.a_str", "w")]
NAME = [attribute("name", "0.a_str", "y")]
COLUMN = [attribute("col", "0.a_i32", 0)]
# Param, Grad, LearningRate, Moment1, Moment2, Moment2Max, Beta1Pow, Beta2Pow, …
ADAM = [1, 1, 1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0]
PIR = [
    # bytes, number of the op that is blamed (None: the file), what is said
    (json.dumps(document({})).encode(), None, "has a block without a list of ops"),
    (
        json.dumps(document(block([], args=[1]))).encode(),
        None,
        'has a top-level block with "args"; nobody could give them values',
    ),
    (
        pir(op("1.relu", [1], [X], [{"N": "axis"}])),
        1,
        'has an attribute without name ("N") or value ("AT")',
    ),
    (
        pir(op("1.round", [1], [X], [attribute("decimals", "0.a_i32", 2)])),
        1,
        "has attribute 'decimals' other than 0, which no op of a ProgramDesc has",
    ),
    (pir(op("0.set_parameter", [], [], PARAMETER)), 1, "has not one operand"),
    (pir(PAIR, op("0.set_parameter", [2], [], PARAMETER)), 2, "names a list"),
    (pir(PAIR, op("0.split", [2], [X])), 2, "has 1 results for a list of 2"),
    (pir(op("0.combine", [1], [])), 1, "has not one result"),
    (pir(PAIR, op("0.combine", [2], [several(X)])), 2, "puts a list into a list"),
    (pir(op("0.combine", [0], [several(X)])), 1, "lacks an operand"),
    (
        pir(op("0.combine", [], [several()]), op("1.add_n", [2], [X])),
        2,
        "reads value 2, which holds nothing",
    ),
    (pir(op("1.data", [], [X, X], NAME)), 1, "has no attribute 'name', or not one result"),
    (pir(op("1.data", [], [several(X)], NAME)), 1, "has no tensor as its result"),
    (
        pir(op("1.data", [], [SPARSE], NAME)),
        1,
        "makes variable 'y' of type 't_sparse_coo_tensor', which no ProgramDesc has",
    ),
    (pir(PAIR, op("1.fetch", [2], [several(X, X)], COLUMN)), 2, "does not fetch one tensor"),
    (pir(op("1.fetch", [1], [X])), 1, "attribute 'col' is missing"),
    (
        pir(op("1.relu", [1], [ABSENT]), op("1.relu", [2], [X])),
        1,
        "has result 0 without a type, and it is read",
    ),
    (
        pir(op("1.data", [], [ROWS], NAME), op("1.flatten", [2], [X])),
        2,
        "has no tensor as its first operand",
    ),
    (
        pir(op("1.adam_", ADAM[:5] + [1] + ADAM[6:], [X] * 6)),
        1,
        "has operand 'Moment2Max', which no op of a ProgramDesc takes",
    ),
    (
        pir(op("1.adam_", ADAM, [X] * 6), op("1.relu", [5], [X])),
        1,
        "makes 'Moment2MaxOut', which is read and which no op of a ProgramDesc makes",
    ),
]


def wire(field, body):
    return varint(field << 3 | 2) + varint(len(body)) + body


def number(field, value):
    return varint(field << 3) + varint(value)


def program(*variables):
    return wire(1, number(1, 0) + number(2, 2**64 - 1) + b"".join(variables))


TYPE = wire(2, number(1, 7))
WIRE = [
    (program(wire(3, wire(1, b"x") + TYPE + TYPE)), None, "VarDesc has its field 'type' twice"),
]
ROOT = b"blocks { idx: 0 parent_idx: -1 ops { type: 'my_loop' %s } } "
OWNS = b"attrs { name: 'sub_block' type: 8 block_idx: %d }"
TEXT = [
    (b"blocks { idx: 0 parent_idx: }", None, "not a program in protobuf text form: line 1"),
    (
        ROOT % b"" + b"blocks { idx: 1 parent_idx: 0 forward_block_idx: 2 }",
        None,
        "block 1 says that it is the gradient of block 2, which is no earlier block",
    ),
    (
        ROOT % (OWNS % 1)
        + b"blocks { idx: 1 parent_idx: 0 ops { type: 'my_loop' %s } }" % (OWNS % 2)
        + b"blocks { idx: 2 parent_idx: 1 forward_block_idx: 1 }",
        None,
        "block 1 is part of its own forward block",
    ),
]
OTHER = [
    (b"", None, "is empty, not a program"),
    (b"\x80\x02}.", None, "is a Python pickle (parameters: give it to --init), not a program"),
    (b"\0" * 16, None, "is a tensor file (give its folder to --init), not a program"),
    (b"module {", None, "expected operation name in quotes"),
    (
        b"module {" * 20000,
        None,
        "is damaged or nested too deeply: a process that tried to read it crashed or took too "
        "much memory",
    ),
]


def table(check):
    for number, (content, at, what) in enumerate(PIR + WIRE + TEXT + OTHER):
        path = check.path("%d.in" % number)
        with open(path, "wb") as f:
            f.write(content)
        place = path + (":" if at is None else ": block 0, op %d: " % at)
        check.expect_exit(what, 1, ["convert", path, check.path("out.mlir")], what, place)


def places(check):
    """Files that are none."""
    check.expect_exit(
        "a folder",
        1,
        ["convert", check.work, "-"],
        check.work,
        "is a folder, expected a program file",
    )
    check.expect_exit(
        "no file",
        1,
        ["convert", check.path("gone"), "-"],
        "cannot be read: No such file or directory",
    )
    check.expect_exit(
        "a file that breaks off",
        1,
        ["convert", "/proc/self/mem", "-"],
        "/proc/self/mem: ",
        "cannot be read: Input/output error",
    )
    with open(check.path("right.mlir"), "w") as f:
        f.write("module {}")
    few = "ulimit -n 4; exec %s convert %s -" % (check.tool, check.path("right.mlir"))
    done = subprocess.run(["bash", "-c", few], stderr=subprocess.PIPE, text=True)
    check.expect(
        "no descriptors are left",
        done.returncode == 1
        and "right.mlir: " in done.stderr
        and "cannot be read in a process of its own: Too many open files" in done.stderr,
        "%d: %s" % (done.returncode, done.stderr),
    )
    check.expect_exit(
        "a file without end", 1, ["convert", "/dev/zero", "-"], "bytes, which no program file has"
    )


if __name__ == "__main__":
    main([table, places])
