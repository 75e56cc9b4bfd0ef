"""What `convert` says of modules that no ProgramDesc can be written of, by table.

messages.py TOOL_FOLDER CORPUS
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "e2e"))
from check import main  # noqa: E402

BLOCK = "pd.conditional_block Cond(%%c) {sub_block = #pd.block<1>} blocks [{idx = %d : i32}] {\n"
TABLE = [
    # The module; the line that is blamed; what is said.
    (
        'pd.program @main attributes {op_versions = ["relu", "one"]} {\n}',
        1,
        "'op_versions' wants pairs of a name and a number",
    ),
    (
        'pd.program @main attributes {extra = "0g"} {\n}',
        1,
        "'extra' is no hexadecimal text",
    ),
    (
        'pd.program @main {\npd.decl "x" kind 40 {extra = "ff"}\n}',
        2,
        "'extra' holds no VarDesc",
    ),
    (
        'pd.program @main {\n%x = pd.input "x" : tensor<1xf32>\n'
        "%p = dist.copy %x to host : tensor<1xf32> -> !dist.pending<tensor<1xf32>>\n"
        "%y = dist.wait %p : (!dist.pending<tensor<1xf32>>) -> tensor<1xf32>\n}",
        3,
        "'dist.copy' has no counterpart in a ProgramDesc",
    ),
    (
        'pd.program @main {\n%c = pd.input "c" : tensor<1xi1>\n'
        + BLOCK % 1
        + "pd.yield\n} : (tensor<1xi1>) -> ()\n"
        + BLOCK % 1
        + "pd.yield\n} : (tensor<1xi1>) -> ()\n}",
        6,
        "two regions say that they are block 1",
    ),
    (
        'pd.program @main {\n%c = pd.input "c" : tensor<1xi1>\n'
        + BLOCK % 2
        + "pd.yield\n} : (tensor<1xi1>) -> ()\n}",
        1,
        "block 1 is missing; the next one is 2",
    ),
    (
        'pd.program @main {\npd.opaque "o" with {order = array<i32: 3>} : () -> ()\n}',
        2,
        "the order of its attributes names number 3 of 0",
    ),
    (
        'pd.program @main {\npd.opaque "o" {a = dense<1.0> : tensor<2xf32>} : () -> ()\n}',
        2,
        "attribute 'a' has no counterpart in a ProgramDesc",
    ),
]


def table(check):
    path = check.path("in.mlir")
    for text, line, what in TABLE:
        with open(path, "w") as f:
            f.write(text + "\n")
        check.expect_exit(
            what,
            1,
            ["convert", path, check.path("out.pdmodel")],
            "%s:%d:" % (path, line),
            "error: " + what,
        )


if __name__ == "__main__":
    main([table])
