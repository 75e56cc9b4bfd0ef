"""Jobs in text that are wrong in their form, and what each command says of them: the place, what is wrong, no hang, nothing half written.

    bad_jobs.py TOOL_FOLDER CORPUS
"""

import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from job_case import mutate  # noqa: E402

LIMIT_SECONDS = 60
FOLDER = os.path.dirname(os.path.abspath(__file__))
MNIST, STAGES = "fluid18/mnist_mlp", "static26/mlp_stages"

# name, job (;OLD=>NEW: with that text replaced everywhere), case, [context], old, new, {command: (exit status, text)}
CASES = [
    (
        "a branch that only some ranks take",
        "merged_gradients.mlir",
        MNIST,
        ["dist.role"],
        "%step = pd.get @merge_step : tensor<1xi64>",
        '%step = dist.coord "dp" : tensor<1xi64>',
        {
            "verify": (1, "D26"),
            "run": (1, "D26"),
            "compile": (1, "D26"),
            "export": (1, "D26"),
        },
    ),
    (
        "a loop that ranks turn differently often",
        "looped_update.mlir",
        "fluid18/fit_a_line",
        ["dist.role"],
        "%more = pd.less_than X(%turn)",
        '%own = dist.coord "dp" : tensor<1xi64> %more = pd.less_than X(%own)',
        {
            "verify": (1, "D26"),
            "run": (1, "while communicates inside (dist.all_reduce on @gradients), and its predicate `more` differs"),
            "compile": (1, "D26"),
            "export": (1, "D26"),
        },
    ),
    (
        "a loop whose end a rank's own samples decide",
        "looped_update.mlir",
        "fluid18/fit_a_line",
        ["dist.role", "pd.while"],
        "%left = pd.less_than X(%next) Y(%all_turns)",
        '%q = pd.cast X(%grad_b) -> Out("q") {in_dtype = 5 : i32, out_dtype = 3 : i32} : (tensor<1xf32>) -> tensor<1xi64> '
        "%left = pd.less_than X(%q) Y(%all_turns)",
        {
            "verify": (1, "D26"),
            "run": (1, "D26"),
            "compile": (1, "D26"),
            "export": (1, "D26"),
        },
    ),
    (
        "a variable that nobody has",
        "owner_sharded_2.mlir",
        MNIST,
        [],
        'pd.var @fc_1.w_0_velocity_0 : tensor<128x128xf32> {dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.w_0_velocity_0", sharding: R at sharding = 1>}',
        'pd.var @spare : tensor<128x128xf32> {dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.w_0_velocity_0", sharding: R at sharding = 1>}',
        {"verify": (1, "fc_1.w_0_velocity_0"), "run": (1, "fc_1.w_0_velocity_0")},
    ),
    (
        "a variable with two owners, one of which updates it",
        "owner_sharded_4.mlir",
        MNIST,
        [],
        'pd.var @fc_1.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding = 2>, dist.rel = #dist.rel<"fc_1.b_0", sharding: R at sharding = 2>}',
        'pd.var @fc_1.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding in {2 to 3}>, dist.rel = #dist.rel<"fc_1.b_0", sharding: R at sharding in {2 to 3}>}',
        {"verify": (1, "fc_1.b_0")},
    ),
    (
        "a stage without tasks",
        "pipeline.mlir",
        STAGES,
        [],
        "dist.mesh @world [pp = 2]",
        "dist.mesh @world [pp = 3]",
        {"verify": (1, "stage"), "run": (1, "stage"), "compile": (1, "stage")},
    ),
    (
        "a subset without its guard",
        "pipeline.mlir",
        STAGES,
        [],
        "dist.comm @stages on @world over [pp] group",
        "dist.comm @stages on @world over [pp] subset <pp = 0> group",
        {"verify": (1, "D8"), "run": (1, "D8")},
    ),
    (
        "micro-batches that the batch does not divide into",
        "pipeline.mlir",
        STAGES,
        [],
        "time [micro = 4]",
        "time [micro = 5]",
        {"run": (1, "multiple of 5"), "compile": (1, "multiple of 5")},
    ),
    (
        "a variable with two owners, none of which gets all of it",
        "owner_sharded_4.mlir",
        MNIST,
        [],
        'pd.var @fc_1.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding = 2>, dist.rel = #dist.rel<"fc_1.b_0", sharding: R at sharding = 2>}',
        'pd.var @fc_1.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding = 2>, dist.rel = #dist.rel<"fc_1.b_0", sharding: R at sharding in {2 to 3}>}',
        {"verify": (1, "fc_1.b_0")},
    ),
    (
        "a variable that its owner does not have",
        "owner_sharded_2.mlir",
        MNIST,
        [],
        'pd.var @fc_1.w_0 : tensor<128x128xf32> {parameter, dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.w_0", sharding: R at sharding = 1>}',
        'pd.var @fc_1.w_0 : tensor<128x128xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_1.w_0", sharding: R at sharding = 0>}',
        {
            "verify": (1, "D7"),
            "run": (1, "D7"),
            "compile": (1, "D7"),
            "export": (1, "D7"),
        },
    ),
    (
        "the number of a row of a cyclic layout",
        "parameter_server.mlir;blocks(10, per 10, first 0)=>cyclic(10)",
        "fluid18/fit_a_line",
        ["dist.role @server"],
        "dist.foreach_block @fc_0.w_0 (%block) {",
        'dist.foreach_block @fc_0.w_0 (%block) { %n = pd.sum X(%block, %block) -> Out("n") : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>',
        {
            "run": (1, "rows of a cyclic layout are worked on all at once; keep what differs from row to row in a variable"),
            "compile": (1, "rows of a cyclic layout"),
        },
    ),
    (
        "a second role where servers are asked",
        "parameter_server.mlir",
        "fluid18/fit_a_line",
        [],
        "dist.role @server on @servers {",
        "dist.role @watcher on @workers { pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, "
        "version = 1008005 : i64} { } } dist.role @server on @servers {",
        {
            "verify": (1, "for watcher"),
            "run": (1, "role 'server' is asked by roles 'trainer' and 'watcher'; servers serve one role"),
        },
    ),
    (
        "a role that is not there",
        "parameter_server.mlir",
        "fluid18/fit_a_line",
        [],
        "rpc @server",
        "rpc @servers",
        {"verify": (1, "D5"), "run": (1, "D5")},
    ),
]


def words(tool, command, job, folder, work):
    data = ["--feeds", os.path.join(folder, "feeds")]
    given = {
        "verify": [],
        "run": data + ["--init", os.path.join(folder, "init"), "--timeout", "5"],
        "compile": data + ["-o", os.path.join(work, "out")],
        "export": ["-o", os.path.join(work, "out")],
    }
    return [tool, command, job] + given[command]


def main(tools, corpus):
    tool, wrong = os.path.join(tools, "dtranspile"), []
    for name, file, case, context, old, new, commands in CASES:
        file, _, everywhere = file.partition(";")
        with open(os.path.join(FOLDER, file)) as f:
            text = f.read()
        if everywhere:
            before, after = everywhere.split("=>")
            text = text.replace(before, after) if before in text else ""
        text = mutate(text, context, old, new)
        if text is None:
            wrong.append("'%s': its text is not in %s" % (name, file))
            continue
        for command, (status, expected) in commands.items():
            with tempfile.TemporaryDirectory() as work:
                job = os.path.join(work, "job.mlir")
                with open(job, "w") as f:
                    f.write(text)
                done = subprocess.run(
                    words(tool, command, job, os.path.join(corpus, case), work),
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    timeout=LIMIT_SECONDS,
                )
                left = sorted(os.listdir(work))
            if done.returncode != status or expected not in done.stdout or left != ["job.mlir"]:
                wrong.append(
                    "'%s': %s ends with %d (expected %d with '%s') and leaves %s\n%s"
                    % (name, command, done.returncode, status, expected, left, done.stdout[:1500])
                )
    if wrong:
        print("FAILED: %d\n%s" % (len(wrong), "\n".join(wrong)))
        sys.exit(1)
    print("%d wrong jobs, each refused by name" % len(CASES))


if __name__ == "__main__":
    main(*sys.argv[1:])
