"""Sums over the elements of gradients that lie in parts, where these do not divide: the pad of the parts is zero where they are cut, and f of it need not be.

    pads_case.py TOOL_FOLDER CORPUS

The program of fluid18/fit_a_line (ten weights) is given an update whose rate is divided by the squared norm of f(gradient). For each f: what transpile
makes of it has the losses of one device in every step and is verified, and a remark says what stays whole, and why. Then the job of an f that keeps zero
is given another f, in the program that it was made from as well, as transpile would have made it without looking at pads: verify refutes it where the pad
is known not to be zero, leaves it unknown where nothing is known, and has nothing to say where there is no pad.
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, call, compare_losses, fail, scalar

CASE, GRADIENT, WEIGHT = "fluid18/fit_a_line", "fc_0.w_0@GRAD", "fc_0.w_0"
SHAPE = "tensor<10x1xf32>"
WHY = "squared_l2_norm adds up a flat part whose pad is not known to be zero"
# f -> ops from {g}, the gradient, and {w}, the weights, to e; whether f(0) is known to be 0.
EXP = "pd.exp X({g}) -> Out(\"%s\") {{op_role = 2 : i32}} : ({t}) -> {t}"
FUNCTIONS = {
    "square": (["e = pd.square X({g}) -> Out(\"e\") {{op_role = 2 : i32}} : ({t}) -> {t}"], True),
    "exp": (["e = " + EXP % "e"], False),
    "plus one": (
        ["e = pd.scale X({g}) -> Out(\"e\") {{scale = 1.0 : f32, bias = 1.0 : f32, bias_after_scale = true, op_role = 2 : i32}} : ({t}) -> {t}"],
        False,
    ),
    "g exp(g)": (
        ["d = " + EXP % "d", "e = pd.elementwise_mul X(%d) Y({g}) -> Out(\"e\") {{axis = -1 : i32, op_role = 2 : i32}} : ({t}, {t}) -> {t}"],
        True,
    ),
    "exp(g + w)": (
        [
            "c = pd.elementwise_add X({g}) Y({w}) -> Out(\"c\") {{axis = -1 : i32, op_role = 2 : i32}} : ({t}, {t}) -> {t}",
            "e = pd.exp X(%c) -> Out(\"e\") {{op_role = 2 : i32}} : ({t}) -> {t}",
        ],
        False,
    ),
}
# In place of the square: op -> rule of the message (none: verified), exit status, by ranks.
OTHERS = {
    "exp": {4: ("pad", 1), 2: ("", 0)},
    "cos": {4: ("pad", 1), 2: ("", 0)},
    "reciprocal": {4: ("", 3), 2: ("", 0)},
    "tanh": {4: ("", 0), 2: ("", 0)},
}


def with_norm(text, ops):
    """The program with a rate that the norm of what the ops give divides, in the update of the weights."""
    lines = text.split("\n")
    at = next(i for i, line in enumerate(lines) if " pd.sgd " in line and '"%s"' % GRADIENT in line)
    gradient, rate, weight = re.search(r"Grad\((%\S+)\) LearningRate\((%\S+)\) Param\((%\S+)\)", lines[at]).groups()
    lines[at] = lines[at].replace("LearningRate(%s)" % rate, "LearningRate(%rated)")
    lines[at:at] = ["    %" + op.format(g=gradient, w=weight, t=SHAPE) for op in ops] + [
        '    %%normed = pd.squared_l2_norm X(%%e) -> Out("normed") {op_role = 2 : i32} : (%s) -> tensor<1xf32>' % SHAPE,
        '    %%rated = pd.elementwise_div X(%s) Y(%%normed) -> Out("rated") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>'
        % rate,
    ]
    first = next(i for i, line in enumerate(lines) if "pd.decl" in line)
    names = [op.split(" ")[0] for op in ops]
    lines[first:first] = ['    pd.decl "%s" tensor of float32 [10, 1]' % name for name in names] + [
        '    pd.decl "%s" tensor of float32 [1]' % name for name in ("normed", "rated")
    ]
    return "\n".join(lines)


def fewer(source, target, samples):
    """A feed with that many samples of each step."""
    with open(source, "rb") as f:
        data = f.read()
    length = struct.unpack_from("<H", data, 8)[0]
    text, body = data[10 : 10 + length].decode(), data[10 + length :]
    shape = [int(n) for n in re.search(r"'shape': \(([^)]*)\)", text).group(1).replace(" ", "").strip(",").split(",")]
    size = 4
    for extent in shape[2:]:
        size *= extent
    step = size * shape[1]
    body = b"".join(body[i * step : i * step + samples * size] for i in range(shape[0]))
    text = re.sub(r"'shape': \([^)]*\)", "'shape': (%s)" % ", ".join(map(str, [shape[0], samples] + shape[2:])), text)
    text = text.rstrip().ljust(length - 1) + "\n"
    with open(target, "wb") as f:
        f.write(data[:10] + text.encode() + body)


class Case:
    def __init__(self, tools, corpus, work):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.folder = os.path.join(corpus, CASE)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.loss = json.load(f)["loss"]
        self.startup = os.path.join(self.folder, "startup.pdmodel")
        self.data = ["--init", os.path.join(self.folder, "init"), "--cache", os.path.join(work, "cache")]
        text = os.path.join(work, "main.mlir")
        call(self.tool, "convert", os.path.join(self.folder, "main.pdmodel"), text)
        with open(text) as f:
            self.text = f.read()
        self.feeds = {16: os.path.join(self.folder, "feeds"), 15: os.path.join(work, "feeds")}
        os.mkdir(self.feeds[15])
        for file in os.listdir(self.feeds[16]):
            fewer(os.path.join(self.feeds[16], file), os.path.join(self.feeds[15], file), 15)

    def program(self, function):
        main = os.path.join(self.work, re.sub(r"\W", "_", function))
        with open(main + ".mlir", "w") as f:
            f.write(with_norm(self.text, FUNCTIONS[function][0]))
        call(self.tool, "convert", main + ".mlir", main + ".pdmodel")
        return main + ".pdmodel"

    def losses(self, what, *program, samples):
        report = os.path.join(self.work, "report.json")
        call(self.tool, "run", *program, "--feeds", self.feeds[samples], *self.data, "--report", report)
        with open(report) as f:
            found = json.load(f)
        if not found["ok"]:
            fail("%s: %s" % (what, found))
        return [scalar(loss) for loss in found["fetch"][self.loss]]

    def job(self, what, main, ranks, *flags):
        job = os.path.join(self.work, what)
        said = call(self.tool, "transpile", main, "--startup", self.startup, "-o", job, "--force", "--trainers", str(ranks), "--sharding", *flags)
        return job, said

    def verify(self, job):
        done = subprocess.run(
            [self.tool, "verify", job, "--execute=off", "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_SECONDS, text=True
        )
        return done.returncode, done.stdout


def train(case, function):
    main = case.program(function)
    keeps = FUNCTIONS[function][1]
    alone = {
        samples: case.losses(function + ", one device", main, "--startup", case.startup, samples=samples) for samples in case.feeds
    }
    # Ten elements: a pad on 3 and 4 ranks, none on 2.
    for ranks, samples in (2, 16), (4, 16), (3, 15):
        for stage in "1", "3":
            what = "%s, %d ranks, stage %s" % (function, ranks, stage)
            job, said = case.job("job", main, ranks, "--sharding-stage", stage)
            call(case.tool, "verify", job)
            if ("%s (%s)" % (GRADIENT, WHY) in said) != (not keeps and 10 % ranks != 0):
                fail("%s: %s" % (what, said))
            worst = compare_losses(what, case.losses(what, job, samples=samples), alone[samples])
            print("%s: largest difference of a loss %.2e" % (what, worst))


def mislead(case):
    """The job of the square with another function in its place, everywhere."""
    for ranks in 4, 2:
        job, _ = case.job("square%d" % ranks, case.program("square"), ranks)
        text = call(case.tool, "show", job)
        pattern = r'= pd\.square (X\(%\S+\) -> Out\("e"\))'
        count = len(re.findall(pattern, text))
        if count < 2:
            fail("the job has %d squares of the gradient, not one in the program and one in the role" % count)
        for op, expected in OTHERS.items():
            changed = os.path.join(case.work, "%s%d.mlir" % (op, ranks))
            with open(changed, "w") as f:
                f.write(re.sub(pattern, r"= pd.%s \1" % op, text))
            rule, status = expected[ranks]
            found, said = case.verify(changed)
            wanted = {0: "", 1: "adds up a flat part whose pad is not zero", 3: "adds up a flat part whose pad is not known to be zero"}[status]
            if found != status or wanted not in said or (rule and '"%s"' % rule not in said):
                fail("%s on %d ranks: verify ends with %d, not %d\n%s" % (op, ranks, found, status, said))
            print("%s in the place of the square, %d ranks: exit status %d" % (op, ranks, found))


def mislead_by_site(case):
    """A mean of a flat part that is declared to be evaluated per share of the batch: it is none of the batch."""
    job, _ = case.job("mean", case.program("square"), 4)
    text = call(case.tool, "show", job).replace("pd.squared_l2_norm X", "pd.mean X")
    number = re.search(r'pd\.mean X\(%\S+\) -> Out\("normed"\).*?dist\.src = (\d+)', text[text.index("dist.role ") :]).group(1)
    statement = "these ops are evaluated on each rank's share of the batch, and gradients are averaged over the shares"
    contract = 'module attributes {dist.contracts = [{sites = ["#%s mean"], statement = "%s", tag = "parts"}]} {' % (number, statement)
    changed = os.path.join(case.work, "mean.mlir")
    with open(changed, "w") as f:
        f.write(re.sub(r"^module \{", lambda _: contract, text))
    found, said = case.verify(changed)
    if found == 0 or "moves elements of a flat part" not in said:
        fail("a mean of a flat part, declared as a site: verify ends with %d\n%s" % (found, said))
    print("mean of a flat part, declared as a site: exit status %d" % found)


def main(tools, corpus):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, work)
        for function in FUNCTIONS:
            train(case, function)
        mislead(case)
        mislead_by_site(case)


if __name__ == "__main__":
    main(*sys.argv[1:])
