"""Reads kernels as `dtranspile-lower --kernels` prints them, writes them as the kernels of a GPU: a
thread takes one row, so its call has lo = row and n = row + 1."""

import re
import sys

text = sys.stdin.read()
kernels = re.findall(r"^func\.func @kernel\((.*?)\) \{\n(.*?^return\n)\}\n", text, re.M | re.S)
assert kernels, "no kernel in the input"
print("module attributes {gpu.container_module} {")
print("  gpu.module @kernels {")
for number, (arguments, body) in enumerate(kernels):
    name = f"rows{number}"
    print(f"func.func private @{name}({arguments}) {{\n{body}}}")
    pairs = re.findall(r"(%\w+): ([\w<>]+)", re.sub(r"\{[^{}]*\}", "", arguments))
    pairs = [(value.replace("%", "%given_"), kind) for value, kind in pairs]
    parameters = [pair for pair in pairs if pair[0] != "%given_lo"]
    given = ", ".join(f"{value}: {kind}" for value, kind in parameters)
    passed = {"%given_lo": "%row", "%given_n": "%end"}
    values = ", ".join(passed.get(value, value) for value, _ in pairs)
    kinds = ", ".join(kind for _, kind in pairs)
    print(f"""    gpu.func @kernel{number}({given}) kernel {{
      %block = gpu.block_id x
      %size = gpu.block_dim x
      %thread = gpu.thread_id x
      %start = arith.muli %block, %size : index
      %row = arith.addi %start, %thread : index
      %one = arith.constant 1 : index
      %end = arith.addi %row, %one : index
      %inside = arith.cmpi ult, %row, %given_n : index
      scf.if %inside {{
        func.call @{name}({values}) : ({kinds}) -> ()
      }}
      gpu.return
    }}""")
print("  }\n}")
