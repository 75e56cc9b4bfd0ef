"""A job that only the solver of rung 4 can verify: in the text of a right job the source multiplies with weights that are four times as large, and
divides by four behind the product; so nothing in the two programs has one number any more from there on.

    solver_case.py TOOL_FOLDER CORPUS CASE PRODUCT TRANSPILE FLAG...

PRODUCT is the result of a `mul`. The job must be verified, say in text and JSON which values lean on the solver, and be unknown where the division is by two.
"""

import json
import os
import re
import subprocess
import sys
import tempfile


def fail(text):
    sys.exit("solver_case: " + text)


def call(*words, codes=(0,)):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, timeout=300)
    if done.returncode not in codes:
        fail("%s ended with %d:\n%s%s" % (" ".join(words), done.returncode, done.stdout, done.stderr))
    return done.stdout


def scaled(text, product, back):
    """The job's text with that product of the source in other words."""
    begin, end = text.index("module @source"), text.index("module @reference")
    if begin > end:
        fail("the source stands behind the reference")
    pattern = r'(%%\w+) = pd\.mul X\((%%\w+)\) Y\((%%\w+)\) -> Out\("%s"\)([^\n]*?) : \(([^\n]*), ([^\n]*)\) -> (tensor<[^>]*>)' % re.escape(product)
    source = text[begin:end]
    found = re.search(pattern, source)
    if not found:
        fail("no mul gives " + product)
    result, x, w, attributes, of_x, of_w, of_result = found.groups()
    # What is put in is no value of the forward part, which the reference would have to compute too.
    lines = [
        '%%times = pd.scale X(%s) -> Out("times") {op_role = 1 : i32, scale = 4.0 : f32} : (%s) -> %s' % (w, of_w, of_w),
        '%%large = pd.mul X(%s) Y(%%times) -> Out("large")%s : (%s, %s) -> %s'
        % (x, attributes.replace("op_role = 0", "op_role = 1"), of_x, of_w, of_result),
        '%s = pd.scale X(%%large) -> Out("%s") {op_role = 0 : i32, scale = %s : f32} : (%s) -> %s' % (result, product, back, of_result, of_result),
    ]
    return text[:begin] + source[: found.start()] + "\n".join(lines) + source[found.end() :] + text[end:]


def rung(report, name):
    return next(one for one in report["rungs"] if one["name"] == name)


def main():
    tools, corpus, case, product, flags = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5:]
    tool, programs = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as folder:
        job, text = os.path.join(folder, "job"), os.path.join(folder, "job.mlir")
        call(tool, "transpile", os.path.join(programs, "main.pdmodel"), "--startup", os.path.join(programs, "startup.pdmodel"), "-o", job, *flags)
        call(tool, "convert", os.path.join(job, "job.mlirbc"), text)
        with open(text) as f:
            right = f.read()
        for back, verdict, code in (("0.25", "verified", 0), ("0.5", "unknown", 3)):
            with open(text, "w") as f:
                f.write(scaled(right, product, back))
            report = json.loads(call(tool, "verify", text, "--execute=off", "--format", "json", codes=(code,)))
            refinement = rung(report, "refinement")
            if refinement["verdict"] != verdict:
                fail("times %s the rung says %s" % (back, refinement))
            leaning = [one["name"] for one in refinement["conditions"] if one["kind"] == "solver"]
            if code:
                if "`%s`" % product in leaning:
                    fail("a wrong value is said to be right")
                continue
            if "`%s`" % product not in leaning:
                fail("the value is not said to lean on the solver: %s" % leaning)
            if "which a solver has decided: " not in call(tool, "verify", text, "--execute=off"):
                fail("the text does not say so")
            print("%s: %d values lean on the solver, %s" % (case, len(leaning), refinement["stats"]))


if __name__ == "__main__":
    main()
