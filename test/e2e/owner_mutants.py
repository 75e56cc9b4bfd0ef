"""Wrong versions of a job whose parameters have owners: verify refutes each.

    owner_mutants.py TOOL_FOLDER CORPUS

Of fluid18/mnist_mlp on two ranks, of which rank 0 owns fc_0.w_0, fc_0.b_0 and fc_1.w_0, and rank 1 the others; and of static26/mlp_stages, which clips by the norm
of all gradients.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, call, fail

REFUTED = 1
HERE = r" \{dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<\"fc_1.w_0\", sharding: R at sharding = 0>"

# name -> edits of the role's text: pattern, replacement. A number says of which match, the first is 0.
MLP = {
    "a parameter lies with another rank than it says": [(r"(pd.var @fc_1.w_0 : \S+ \{dist.at = #dist.sel<sharding = )0", r"\g<1>1")],
    "a parameter lies with another rank than its update": [(r"(pd.var @fc_1.w_0 : .*)sharding = 0>, (.*)sharding = 0>", r"\g<1>sharding = 1>, \g<2>sharding = 1>")],
    "a parameter has no owner, and one rank updates it": [(r"(pd.var @fc_1.w_0 : tensor<128x128xf32>)" + HERE, r'\g<1> {dist.rel = #dist.rel<"fc_1.w_0">')],
    "state has no owner": [(r"(pd.var @fc_1.w_0_velocity_0 : tensor<128x128xf32>) \{[^}]*\}", r'\g<1> {dist.rel = #dist.rel<"fc_1.w_0_velocity_0">}')],
    "an owner updates what another one has": [(r"(dist.on <sharding = )0(> with)", r"\g<1>1\g<2>")],
    "an update stands there twice": [(r"\n( *dist.on <sharding = 0> with (?s:.*?)\n *dist.yield\n *\}\n)", r"\n\g<1>\g<1>")],
    "two owners update": [(r"\n( *dist.on <sharding = )0(> with (?s:.*?)\n *dist.yield\n *\}\n)", r"\n\g<1>0\g<2>\g<1>1\g<2>")],
    "a gradient goes to another owner": [(r"(dist.reduce sum\([^)]*\) on @grad0 to <sharding = )0(.*)", lambda m: m.group(1) + "1" + m.group(2).replace("sharding = 0", "sharding = 1"))],
    "gradients are combined with max": [(r"dist.reduce sum", "dist.reduce max")],
    "the gradient of another parameter of the shape": [(r"(dist.reduce sum\(.*?), (%\d+#1), (%\d+)\) on @grad0 to <sharding = 0>", None)],
    "an owner takes its own gradient, which is no sum": [(r"(dist.on <sharding = 0> with (?s:.*?)Grad\()%arg0", None)],
    "a parameter is not broadcast": [(r"(pd.mul X\(%\d+\) Y\()%\d+#0(\) -> Out\(\"fc_0.tmp_0\"\))", r"\g<1>%raw\g<2>"), (r"(\n *)(%\d+:3 = dist.on <sharding = 0> ->)", r"\g<1>%raw = pd.get @fc_0.w_0 : tensor<64x128xf32>\g<1>\g<2>")],
    "a parameter is broadcast by another rank": [(r"(dist.broadcast\(.*from <sharding = )0", r"\g<1>1")],
    "another parameter of the shape is broadcast": [(r"pd.get @fc_1.b_0 :", "pd.get @fc_1.b_0_velocity_0 :")],
    "a stale parameter is computed with": [(r"(pd.set @fc_0.b_0, )%\d+#0", r"\g<1>%stale"), (r"(\n *)(%\d+ = pd.get @fc_0.b_0_velocity_0)", r"\g<1>%stale = pd.get @fc_0.b_0 : tensor<128xf32>\g<1>\g<2>")],
    "a parameter is not set": [(r"\n *pd.set @fc_1.w_0,[^\n]*", "")],
    "state is not set": [(r"\n *pd.set @fc_2.w_0_velocity_0,[^\n]*", "")],
    "state in place of the parameter": [(r"Param\((%\d+)\) Velocity\((%\d+)\)", r"Param(\g<2>) Velocity(\g<1>)")],
    "the loss is not divided by the ranks": [(r"scale = 5.0+e-01", "scale = 1.000000e+00")],
    "the loss is divided twice": [(r"scale = 5.0+e-01", "scale = 2.500000e-01")],
    "another rank keeps the initial value": [(r"(dist.on <sharding = )0(> \{\n *pd.set @fc_1.w_0,)", r"\g<1>1\g<2>")],
}

CLIP = {
    "a norm that all have is added up by all": [(r"(dist.on <sharding = 0> with [^\n]*-> \(tensor<1xf32>[^\n]*\n[^\n]*\n *\} else \{(?s:.*?))value = 0.0+e\+00", r"\g<1>value = 1.000000e+00")],
    "the norm of some of the gradients": [(r"(pd.sqrt X\()%\d+", None)],
    "norms are combined with max": [(r"dist.all_reduce sum(\(%\d+\) on @grad0 : \(tensor<1xf32>\) -> tensor<1xf32>\n[^\n]*sqrt)", r"dist.all_reduce max\g<1>")],
}


def capture(text, pattern):
    return re.search(pattern, text).group(1)


def edited(name, text, pattern, new):
    """The first match replaced; where there is no replacement the name says with what."""
    if new is None and name.startswith("the gradient"):
        other = capture(text, r"(%\d+:?\d*) = pd.elementwise_add_grad .*\"fc_1.b_0@GRAD\"\)").split(":")[0] + "#1"
        new = r"\g<1>, " + other + r", \g<3>) on @grad0 to <sharding = 0>"
    elif new is None and name.startswith("an owner takes"):
        own = capture(text, r"(%\d+:?\d*) = pd.elementwise_add_grad .*\"fc_0.b_0@GRAD\"\)").split(":")[0] + "#1"
        new = r"\g<1>" + own
    elif new is None:  # what is added up, before it is summed over the ranks
        new = r"\g<1>" + capture(text, r"dist.all_reduce sum\((%\d+)\) on @grad0 : \(tensor<1xf32>\) -> tensor<1xf32>\n[^\n]*sqrt")
    found = re.sub(pattern, new, text, count=1)
    if found == text:
        fail("%s: nothing to edit" % name)
    return found


def check(tool, case, ranks, mutants, work):
    job, path = os.path.join(work, "job"), os.path.join(work, "job.mlir")
    program = [os.path.join(case, name + ".pdmodel") for name in ("main", "startup")]
    flags = ["--trainers", ranks, "--sharding", "--sharding-form", "owner", "--force"]
    call(tool, "transpile", program[0], "--startup", program[1], "-o", job, *flags)
    call(tool, "convert", os.path.join(job, "job.mlirbc"), path)
    call(tool, "verify", path)
    with open(path) as f:
        text = f.read()
    role = text.index("dist.role")
    for name, edits in mutants.items():
        wrong = text[role:]
        for pattern, new in edits:
            wrong = edited(name, wrong, pattern, new)
        with open(path, "w") as f:
            f.write(text[:role] + wrong)
        done = subprocess.run([tool, "verify", path, "--format", "json"], stdout=subprocess.PIPE, timeout=LIMIT_SECONDS)
        messages = [m for rung in json.loads(done.stdout)["rungs"] for m in rung["messages"]]
        rules = sorted({m["rule"] for m in messages if m["level"] != "note"})
        if done.returncode != REFUTED:
            fail("%s: verify ends with %d, rules %s" % (name, done.returncode, rules))
        print("%s: refuted by %s" % (name, ", ".join(rules)))


def main(tools, corpus):
    with tempfile.TemporaryDirectory() as work:
        tool = os.path.join(tools, "dtranspile")
        check(tool, os.path.join(corpus, "fluid18/mnist_mlp"), "2", MLP, work)
        check(tool, os.path.join(corpus, "static26/mlp_stages"), "4", CLIP, work)


if __name__ == "__main__":
    main(*sys.argv[1:])
