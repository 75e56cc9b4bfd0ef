"""What a loop over the blocks of servers hands on: the largest element of a gradient, an op of the reference of which each
server computes its blocks'. Verified where it is folded as the reference's op folds, and begins with what changes nothing.
And the numbers of the blocks, which verify calls unknown by name: the run has them.

    handed_on.py TOOL_FOLDER CORPUS JOB.mlir CASE
"""

import json
import os
import subprocess
import sys
import tempfile

VERIFIED, REFUTED, UNKNOWN = 0, 1, 3
LEAST, LARGEST, ZERO = "0xFF800000", "0x7F800000", "0.000000e+00"

# begin, the op between blocks, the reduction between servers: exit status of verify, what it says
CASES = [
    (LEAST, "elementwise_max", "max", VERIFIED, "execution: agrees"),
    (LEAST, "elementwise_max", "sum", REFUTED, "which is P(max) along axis ps, with sum"),
    (ZERO, "elementwise_max", "max", UNKNOWN, "which is not the infinity that leaves it as it is"),
    # Unknown to rung 2, which an execution decides.
    (LARGEST, "elementwise_min", "min", REFUTED, "takes the min over blocks of a value that is P(max)"),
    (ZERO, "elementwise_add", "sum", REFUTED, "sums over blocks a value that is P(max)"),
    (LEAST, "elementwise_mul", "max", REFUTED, "no sum, maximum or minimum over them"),
]
ONE = "tensor<1xf32>"
PEAK = ' -> Out("peak") {dim = array<i32: 0>, keep_dim = false, op_role = 2 : i32, reduce_all = true}'


def insert(text, context, before, what):
    at = 0
    for part in context:
        at = text.index(part, at)
    at = text.index(before, at)
    return text[:at] + what + text[at:]


def with_peak(text, begin, fold, reduce):
    """The job with two servers and the peak in a variable of theirs."""
    text = insert(text, ["module @source"], "pd.var @fc_0.w_0", "pd.var @peak : %s\n" % ONE)
    text = insert(
        text,
        ["module @source", "pd.set @fc_0.w_0, %fc_0.w_0.2"],
        "\n",
        "\n%%peak = pd.reduce_max X(%%fc_0.w_0.grad)%s : (tensor<10x1xf32>) -> %s\npd.set @peak, %%peak : %s" % (PEAK, ONE, ONE),
    )
    relation = 'pd.var @peak : %s {dist.rel = #dist.rel<"peak">}\n' % ONE
    text = insert(text, ["dist.role @server"], "pd.var @fc_0.w_0", relation)
    lines = [
        '%limit = pd.fill_constant -> Out("peak.limit") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 1>, '
        "value = BEGIN : f32} : () -> ONE",
        "%most = dist.foreach_block @fc_0.w_0 (%b) iter(%so_far = %limit : ONE) -> (ONE) {",
        "%g = dist.merged @fc_0.w_0 : tensor<?x1xf32>",
        "%own = pd.reduce_max X(%g)" + PEAK + " with {dist.src = 13 : i64} : (tensor<?x1xf32>) -> ONE",
        '%next = pd.FOLD X(%so_far) Y(%own) -> Out("peak.so_far") {axis = -1 : i32, op_role = 2 : i32} : (ONE, ONE) -> ONE',
        "dist.yield %next : ONE",
        "}",
        "%all = dist.all_reduce REDUCE (%most) on @among : (ONE) -> ONE",
        "pd.set @peak, %all : ONE",
    ]
    loop = "\n".join(lines) + "\n"
    for word, value in (("BEGIN", begin), ("FOLD", fold), ("REDUCE", reduce), ("ONE", ONE)):
        loop = loop.replace(word, value)
    text = insert(text, ["dist.role @server", "dist.handle round"], "%rate", loop)
    text = insert(text, [], "dist.comm @ps", "dist.comm @among on @servers over [ps] group\n")
    return text.replace("[ps = 1]", "[ps = 2]").replace("per 10", "per 5")


COUNT = "tensor<1xi64>"
BLOCKS = "blocks(10, per 4, first 0)"  # 0, 1 and 2, on one server


def with_numbers(text):
    """The job with the sum of its blocks' numbers in a variable of the server's own."""
    text = text.replace("blocks(10, per 10, first 0)", BLOCKS)
    text = insert(text, ["dist.role @server"], "pd.var @fc_0.w_0", "pd.var @numbers : %s\n" % COUNT)
    loop = [
        '%none = pd.fill_constant -> Out("none") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> COUNT',
        "%more = dist.foreach_block @fc_0.w_0 (%b) iter(%so_far = %none : COUNT) -> (COUNT) {",
        '%next = pd.sum X(%so_far, %b) -> Out("so_far") {op_role = 2 : i32} : (COUNT, COUNT) -> COUNT',
        "dist.yield %next : COUNT",
        "}",
        "pd.set @numbers, %more : COUNT",
    ]
    text = insert(text, ["dist.role @server", "dist.handle round"], "%rate", "\n".join(loop).replace("COUNT", COUNT) + "\n")
    zero = (
        '%zero = pd.fill_constant -> Out("numbers") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> COUNT\n'
        "pd.set @numbers, %zero : COUNT\n"
    )
    start = ["dist.role @server", "pd.program @startup"]
    return insert(text, start, "%learning_rate_0 =", zero.replace("COUNT", COUNT))


def check_numbers(tool, text, folder, work):
    path, report = os.path.join(work, "numbers.mlir"), os.path.join(work, "report.json")
    with open(path, "w") as f:
        f.write(with_numbers(text))
    done = subprocess.run([tool, "verify", path], capture_output=True, text=True, timeout=60)
    if done.returncode != UNKNOWN:
        return "verify of the numbers of blocks ends with %d\n%s" % (done.returncode, done.stdout)
    words = [tool, "run", path, "--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
    words += ["--fetch", "numbers", "--report", report, "--cache", os.path.join(work, "cache")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        return "run ends with %d\n%s" % (done.returncode, done.stderr)
    with open(report) as f:
        found = json.load(f)["fetch"]["numbers"]
    expected = [3] * 8
    return None if found == expected else "numbers of blocks: %s, expected %s" % (found, expected)


def main(tools, corpus, job, case):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), job)) as f:
        text = f.read()
    wrong = []
    with tempfile.TemporaryDirectory() as work:
        path = os.path.join(work, "job.mlir")
        for begin, fold, reduce, status, says in CASES:
            with open(path, "w") as f:
                f.write(with_peak(text, begin, fold, reduce))
            words = [os.path.join(tools, "dtranspile"), "verify", path]
            done = subprocess.run(words, capture_output=True, text=True, timeout=60)
            if done.returncode != status or says not in done.stdout:
                wrong.append("%s %s %s: %d, expected %d and '%s'\n%s" % (begin, fold, reduce, done.returncode, status, says, done.stdout))
        unlike = check_numbers(os.path.join(tools, "dtranspile"), text, os.path.join(corpus, case), work)
        if unlike:
            wrong.append(unlike)
    if wrong:
        print("FAILED: %d\n%s" % (len(wrong), "\n".join(wrong)))
        sys.exit(1)
    print("%d ways to hand on" % len(CASES))


if __name__ == "__main__":
    main(*sys.argv[1:])
