"""`verify --execute` on jobs of one program, right and wrong: verdicts, exit codes, what is said and what is left out.

    execution.py TOOLS CORPUS
"""

import json
import re
import sys
import tempfile

from check import Check


def text_of(check, job):
    """A job's module in text; the copy that the tool reads again is edited by `edit`."""
    check.expect_exit("text of " + job, 0, ["convert", check.path(job + "/job.mlirbc"), check.path(job + ".mlir")])
    with open(check.path(job + ".mlir")) as f:
        return f.read()


def write(check, name, text):
    with open(check.path(name), "w") as f:
        f.write(text)
    return check.path(name)


def after_reduction(text, op):
    """Puts an op after the all_reduce of fc_0.w_0@GRAD. `op` has its result and operand as %inserted and %reduced."""
    at = text.index("dist.role ")
    head, role = text[:at], text[at:]
    line = re.search(r"\n *(%\w+) = dist.all_reduce sum\((%\w+)\)[^\n]*10x1xf32>[^\n]*", role)
    reduced, end = line.group(1), line.end()
    below = role[end:].replace("Grad(%s)" % reduced, "Grad(%inserted)", 1)
    made = re.findall(r'Out\("([^"]+)"\)', op)
    declared = ['pd.decl "%s" tensor of float32 [10, 1]' % name for name in made if '"%s"' % name not in role]
    lines = declared + [op.replace("%reduced", reduced)]
    return head + role[:end] + "".join("\n      " + line for line in lines) + below


def agreement(check):
    check.expect_exit("a job", 0, check.transpile("right", 2, "--fuse-all-reduce-ops", "false"))
    job = check.path("right")
    check.expect_exit("asked for", 0, ["verify", job, "--execute"], "execution: agrees (ranks 2, steps 6", "communication, execution)")
    check.expect_exit("by itself", 0, ["verify", job], "execution: agrees", "communication)")
    done = check.call("verify", job, "--execute=off")
    check.expect("left out", done.returncode == 0 and "execution" not in done.stdout, done.stdout)
    done = check.call("verify", job, "--execute", "--steps", "2", "--format", "json")
    rung = json.loads(done.stdout)["rungs"][-1]
    check.expect(
        "as JSON",
        rung["name"] == "execution" and rung["verdict"] == "agrees" and rung["stats"]["steps"] == 2 and rung["reason"] == "",
        done.stdout,
    )
    check.expect_exit("a word that is none", 2, ["verify", job, "--execute=perhaps"])
    check.expect_exit("no steps", 2, ["verify", job, "--steps", "0"])
    check.expect_exit("other formats", 0, ["verify", job, "--execute", "--format", "junit"], 'name="execution"')


def evidence(check):
    """Ops that no rule describes leave the relations open: execution refutes the wrong one, and says that the right one agrees."""
    text = text_of(check, "right")
    shape = " : (tensor<10x1xf32>) -> tensor<10x1xf32>"
    out = ' -> Out("fc_0.w_0@GRAD.kept") {%s} ' + shape[1:]
    clip = "%inserted = pd.clip X(%reduced)" + out % "max = 1.0e+09 : f32, min = -1.0e+09 : f32, op_role = 1 : i32"
    relu = "%inserted = pd.relu X(%reduced)" + out % "op_role = 1 : i32"
    right = write(check, "clip.mlir", after_reduction(text, clip))
    wrong = write(check, "relu.mlir", after_reduction(text, relu))
    check.expect_exit("unknown, and right", 3, ["verify", right, "--execute"], "relations: unknown", "execution: agrees")
    check.expect_exit("unknown without execution", 3, ["verify", wrong, "--execute=off"], "relations: unknown")
    check.expect_exit(
        "unknown, and wrong",
        1,
        ["verify", wrong],
        "relations: unknown",
        "execution: refuted",
        "[differs] trainer/main: inserted sgd of `fc_0.w_0`",
        "of trainer 0 after step 0: element",
        "execution)",
    )
    lost = after_reduction(text, "").replace("%inserted", re.search(r"all_reduce sum\((%\w+)\)[^\n]*10x1xf32>", text).group(1))
    refuted = write(check, "lost.mlir", lost)
    check.expect_exit("refuted already", 1, ["verify", refuted, "--execute"], "not run: an earlier rung refutes the job")
    check.expect_exit("asked about that rung only", 1, ["verify", refuted, "--require", "execution"], "execution: refuted", "fc_0.w_0")


def limits(check):
    check.expect_exit("a job of many", 0, check.transpile("many", 100000))
    check.expect_exit(
        "is not executed", 0, ["verify", check.path("many")], "execution: not run: the job has 100000 ranks or more, the limit is 8; --execute asks for it all the same"
    )
    check.expect_exit("and unknown where it is asked for", 3, ["verify", check.path("many"), "--execute"], "the limit is 64")
    words = [word for word in check.transpile("bare", 2)]
    at = words.index("--startup")
    check.expect_exit("a job without start-up program", 0, words[:at] + words[at + 2 :])
    check.expect_exit("is not executed", 0, ["verify", check.path("bare")], "not run: the job holds no start-up program")


def silence(check):
    """What agreement does not cover: a loss that stands still, one that is no number."""
    text = text_of(check, "right")
    still = re.sub(r"pd\.square X\((%\w+)\) -> Out\(([^)]*)\) \{", r"pd.scale X(\1) -> Out(\2) {scale = 0.0 : f32, bias = 0.0 : f32, bias_after_scale = true, ", text)
    job = write(check, "still.mlir", still)
    check.expect_exit(
        "a loss that stands still",
        0,
        ["verify", job, "--require", "execution"],
        "execution: agrees",
        "[not-exercised]",
        "the loss does not react to the feeds `x`, `y`",
        "the loss does not react to the parameters `fc_0.w_0`, `fc_0.b_0`",
    )
    wild = re.sub(r"pd\.square X\((%\w+)\)", r"pd.log X(\1)", text)
    job = write(check, "wild.mlir", wild)
    check.expect_exit("a loss that is no number", 3, ["verify", job, "--require", "execution"], "[not-finite]", "is no finite number")


def main():
    with tempfile.TemporaryDirectory() as work:
        check = Check(sys.argv[1], sys.argv[2], work)
        for part in (agreement, evidence, limits, silence):
            part(check)
    sys.exit(1 if check.failures else 0)


if __name__ == "__main__":
    main()
