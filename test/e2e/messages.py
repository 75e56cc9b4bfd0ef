"""What the command line says of wrong input, by table: words, exit status, the whole sentence.

messages.py TOOL_FOLDER CORPUS
"""

import os
import json
import shutil
import subprocess

from check import main, write_npy

MODULES = {
    "empty.mlir": "module {}",
    "two.mlir": "pd.program @main {}\npd.program @startup {}",
    "other.mlir": "pd.program @other {}",
    # A program with one feed and a fetch of its own, no loss.
    "fed.mlir": """pd.program @main {
  %x = pd.input "x" : tensor<?x10xf32>
  %y = pd.mean X(%x) -> Out("average") : (tensor<?x10xf32>) -> tensor<1xf32>
}""",
    "roles.mlir": """dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
module @source { pd.program @main {} }
dist.role @server on @s { pd.program @main {} }
dist.role @trainer on @w { pd.program @main {} }""",
    "strangers.mlir": """dist.mesh @w [dp = 2]
module @source { pd.program @main {} }
dist.role @left on @w { pd.program @main {} }
dist.role @right on @w { pd.program @main {} }""",
}


STRATEGIES = {
    "checkpoints.prototxt": 'recompute: true recompute_configs { checkpoints: "b" }',
    "plain.prototxt": "gradient_merge: false",
}


def prepare(check):
    for name, text in {**MODULES, **STRATEGIES}.items():
        with open(check.path(name), "w") as f:
            f.write(text)
    for name, dims in {
        "x": [8, 16, 10],
        "wide": [8, 16, 11],
        "short": [2, 16, 1],
        "odd": [8, 3, 10],
        "odd_y": [8, 3, 1],
        "none": [0, 16, 10],
    }.items():
        write_npy(check.path(name + ".npy"), dims, 0.5)
    for ranks in (2, 100000):
        check.expect_exit("a job", 0, check.transpile("job%d" % ranks, ranks))


# What is said when, as (words, exit status, text). JOB: a job of two ranks; HERE/x: a file of
# prepare(); CASE/x: a file of the program that the job was made of.
FEEDS = ["--feeds", "CASE/feeds"]
RUN = ["run", "JOB", "--init", "CASE/init"]
TABLE = [
    (["convert", "HERE/empty.mlir", "HERE/o.pdmodel"], 1, "the input holds no program"),
    (
        ["convert", "HERE/two.mlir", "HERE/o.pdmodel"],
        1,
        "the input holds the programs main, startup; say which with --program NAME",
    ),
    # Flags that would be ignored.
    (
        RUN + FEEDS + ["--startup", "CASE/startup.pdmodel"],
        1,
        "has a start-up program of its own; leave the flag out",
    ),
    (
        ["compile", "JOB", *FEEDS, "-o", "HERE/o", "--startup", "HERE/nothing"],
        1,
        "--startup HERE/nothing: the job JOB has a start-up program of its own; leave the flag out",
    ),
    (RUN + FEEDS + ["--allow-pipe-command"], 2, "--allow-pipe-command requires --dataset"),
    (RUN + FEEDS + ["--checkpoint-keep", "3"], 2, "--checkpoint-keep requires --checkpoint-dir"),
    (
        RUN + FEEDS + ["--flight", "HERE/o", "--no-flight-recorder"],
        2,
        "--flight excludes --no-flight-recorder",
    ),
    (
        RUN + FEEDS + ["--trainers", "7"],
        1,
        "--trainers 7: the job was transpiled for 2 trainers ('trainer'); transpile it for 7, or "
        "start as many as it has",
    ),
    (
        RUN + FEEDS + ["--per-step", "a=1", "--per-step", "a=2"],
        2,
        "--per-step a=2: 'a' is given twice; list its values with commas",
    ),
    (
        RUN + ["--feed", "x=HERE/x.npy", "--feed", "x=HERE/wide.npy"],
        1,
        "--feed x=HERE/wide.npy: 'x' is given twice",
    ),
    (
        ["convert", "CASE/main.pdmodel", "HERE/o.mlir", "--program", "main"],
        2,
        "--program main: a module is written whole; the flag is for .pdmodel and .pdtxt",
    ),
    (
        ["show", "CASE/main.pdmodel", "--rank", "1"],
        2,
        "--role and --rank: of a job; CASE/main.pdmodel is a saved program",
    ),
    (
        ["show", "CASE/main.pdmodel", "--format", "html"],
        2,
        "--format html: of a job; CASE/main.pdmodel is a saved program",
    ),
    (
        ["show", "JOB", "--format", "html", "--rank", "1"],
        2,
        "--format html: a rank is shown as text of the module alone; leave the flag out",
    ),
    (
        ["verify", "JOB", "--execute=off", "--steps", "3"],
        2,
        "--steps: of the execution, which --execute=off leaves out",
    ),
    (
        ["export", "JOB", "-o", "HERE/o", "--endpoints", "127.0.0.1:6170", "127.0.0.1:6170"],
        2,
        "--endpoints: '127.0.0.1:6170' is given twice; each of the ranks has its own",
    ),
    (["show", "JOB", "--role", "server"], 2, "--role server: the job has the roles trainer"),
    (["show", "JOB", "--rank", "2"], 1, "has the ranks 0 to 1, not 2"),
    (RUN + FEEDS + ["--resume"], 1, "--resume: from where? Add --checkpoint-dir DIR"),
    (
        RUN + FEEDS + ["--checkpoint-every", "2"],
        2,
        "--checkpoint-every: into which folder? Add --checkpoint-dir DIR",
    ),
    (["transpile", "-o", "HERE/o"], 2, "transpile: MAIN is required"),
    (["transpile", "CASE/main.pdmodel"], 2, "transpile: --output is required"),
    (
        ["transpile", "CASE/main.pdmodel", "-o", "HERE/o", "--input-rank", "CASE/main.pdmodel"],
        2,
        "transpile: --input-rank: programs of other ranks are those of a group; add "
        "--input-parallel mp",
    ),
    (
        ["transpile", "HERE/other.mlir", "-o", "HERE/o", "--trainers", "2"],
        1,
        "HERE/other.mlir: holds no program @main",
    ),
    (
        ["transpile", "HERE/fed.mlir", "--startup", "HERE/two.mlir", "-o", "HERE/o"],
        1,
        "HERE/fed.mlir: a start-up program is given beside MAIN only when both are saved programs "
        "(ProgramDesc or PIR JSON)",
    ),
    (
        ["transpile", "CASE/main.pdmodel", "-o", "HERE/o", "--loss", "mean_0.tmp_1"],
        1,
        "main.pdmodel: --loss mean_0.tmp_1: the program computes no value of that name; did you mean "
        "'mean_0.tmp_0'?",
    ),
    (
        ["transpile", "CASE/main.pdmodel", "-o", "HERE/o", "--loss", "fc_0.tmp_1"],
        1,
        "main.pdmodel: --loss fc_0.tmp_1: the gradients of the program are those of 'mean_0.tmp_0'; "
        "save it after `minimize` of the other, or leave the flag out",
    ),
    (
        ["transpile", "HERE/fed.mlir", "-o", "HERE/o", "--loss", "average"],
        1,
        "HERE/fed.mlir: --loss average: no op of the program is marked as computing a loss; save it "
        "after `minimize`",
    ),
    (
        ["transpile", "CASE/main.pdmodel", "-o", "HERE/o", "--checkpoints", "a"]
        + ["--recompute-checkpoints", "b"],
        2,
        "--recompute-checkpoints",
    ),
    (
        ["strategy", "check", "HERE/checkpoints.prototxt", "--checkpoints", "a"],
        0,
        "checkpoints.prototxt:1:37: remark: --checkpoints has no effect: "
        "recompute_configs.checkpoints names others",
    ),
    (
        ["strategy", "check", "HERE/plain.prototxt", "--checkpoints", "a"],
        0,
        "--recompute-checkpoints: has no effect: it counts where recompute=true",
    ),
    (
        ["export", "JOB", "-o", "HERE/o", "--ranks", "2"],
        2,
        "--ranks 2: expected `all` or numbers from 0 to 1",
    ),
    (
        ["export", "JOB", "-o", "HERE/o", "--ranks", "0,x"],
        2,
        "--ranks 0,x: expected `all` or numbers from 0 to 1",
    ),
    (
        ["export", "HERE/job100000", "-o", "HERE/o"],
        2,
        "--endpoints: the job has 100000 ranks; this machine has ports for 59366: "
        "give the endpoint of each",
    ),
    (
        ["export", "JOB", "-o", "HERE/o", "--endpoints", "127.0.0.1:6170"],
        2,
        "--endpoints: the job has 2 ranks, 1 endpoints are given",
    ),
    (
        ["export", "HERE/roles.mlir", "-o", "HERE/o"],
        1,
        "export: the servers' program has no dist.serve",
    ),
    (
        ["export", "HERE/roles.mlir", "-o", "HERE/o", "--ranks", "0"],
        2,
        "--ranks 0: of which role? Name it with --role",
    ),
    (
        ["export", "HERE/roles.mlir", "-o", "HERE/o", "--role", "worker"],
        2,
        "--role worker: the job has no such role",
    ),
    (
        ["export", "HERE/roles.mlir", "-o", "HERE/o", "--role", "server", "--ranks", "2"],
        2,
        "--ranks 2: expected `all` or numbers from 0 to 1",
    ),
    (
        ["export", "HERE/roles.mlir", "-o", "HERE/o", "--endpoints", "127.0.0.1:6170"],
        2,
        "--endpoints: the job has 2 servers, 1 endpoints are given",
    ),
    (["export", "JOB", "-o", "HERE/o", "--role", "server"], 2, "--role server: the job has no such role"),
    (
        ["export", "HERE/strangers.mlir", "-o", "HERE/o"],
        1,
        "HERE/strangers.mlir: has several roles, and none that serves the others",
    ),
    (["run", "HERE/other.mlir"], 1, "HERE/other.mlir: holds no program @main"),
    (
        RUN,
        1,
        "the program is fed 'x', but no data is given; add --feeds DIR or --feed x=FILE.npy",
    ),
    (RUN + FEEDS + ["--feed", "x"], 1, "--feed x: expected NAME=FILE.npy"),
    (
        RUN + FEEDS + ["--feed", "z=HERE/x.npy"],
        1,
        "--feed z: the program feeds no variable of that name",
    ),
    (
        RUN + FEEDS + ["--feed", "x=HERE/wide.npy"],
        1,
        "feed 'x' has [16, 11] a step, the program declares tensor<?x10xf32>",
    ),
    (
        RUN + FEEDS + ["--feed", "y=HERE/short.npy"],
        1,
        "feed 'y' has 2 steps, feed 'x' has 8",
    ),
    (RUN + FEEDS + ["--steps", "9"], 1, "feed 'x' has 8 steps, --steps asks for 9"),
    (
        RUN + ["--feed", "x=HERE/odd.npy", "--feed", "y=HERE/odd_y.npy"],
        1,
        "feed 'x' has a global batch of 3, which 2 data-parallel ranks do not divide; "
        "use a batch that is a multiple of 2",
    ),
    (
        RUN + FEEDS + ["--fetch", "mean_0.tmp_1"],
        1,
        "--fetch mean_0.tmp_1: the program computes nothing of that name; did you mean mean_0.tmp_0 "
        "or fc_0.tmp_1?",
    ),
    (
        ["run", "HERE/fed.mlir", "--feed", "x=HERE/none.npy", "--fetch", "average"],
        1,
        "feed 'x' has no steps; there is nothing to run",
    ),
    (
        ["run", "HERE/fed.mlir", "--feed", "x=HERE/x.npy"],
        1,
        "the program marks no loss; say with --fetch NAME what to report",
    ),
    (
        ["run", "CASE/main.pdmodel", "--feeds", "CASE/feeds"],
        1,
        "nothing says what the parameters start from; add --init DIR|FILE, or --startup STARTUP",
    ),
    (
        RUN + FEEDS + ["--device", "cuda"],
        1,
        "run with --device cpu --backend shm",
    ),
    (
        ["verify", "JOB", "--require", "half"],
        2,
        "--require half: there is no such rung; there are ",
    ),
    (
        ["export", "HERE/fed.mlir", "-o", "HERE/o"],
        1,
        "HERE/fed.mlir: holds no role, so it is no job; make one with transpile",
    ),
    (
        RUN + FEEDS + ["--per-step", "learning_rate_0"],
        2,
        "--per-step learning_rate_0: expected VAR=v0,v1,… with a finite number for every step",
    ),
    (
        RUN + FEEDS + ["--per-step", "learning_rate_0=0.1,inf"],
        2,
        "--per-step learning_rate_0=0.1,inf: expected VAR=v0,v1,… with a finite number for every "
        "step",
    ),
]


def table(check):
    def path(word):
        return (
            word.replace("JOB", check.path("job2"))
            .replace("HERE", check.work)
            .replace("CASE", check.case)
        )

    for words, status, text in TABLE:
        check.expect_exit(" ".join(words), status, [path(word) for word in words], path(text))


def manifests(check):
    """A job folder whose manifest says something else."""
    path = check.path("job2/manifest.json")
    with open(path) as f:
        right = json.load(f)
    for field, value, what in (
        ("digest", None, "lacks the field 'digest'"),
        ("roles", "trainer", "field 'roles' is a string"),
        ("schema", 99, "has schema 99, this program reads schema 2; transpile again"),
    ):
        wrong = dict(right, **{field: value})
        if value is None:
            del wrong[field]
        with open(path, "w") as f:
            json.dump(wrong, f)
        words = ["export", check.path("job2"), "-o", check.path("o")]
        check.expect_exit(what, 1, words, path, what)
    with open(path, "w") as f:
        json.dump(right, f)


def files(check):
    """What a run finds beside --init, and an output that takes nothing."""
    feeds = ["--feeds", check.program("feeds"), "--steps", "1"]
    check.expect_exit(
        "a checkpoint",
        0,
        ["run", check.path("job2"), "--init", check.program("init")]
        + feeds
        + ["--save", check.path("old.pdparams")],
    )
    shutil.copy(check.path("old.pdparams"), check.path("old.pdopt"))
    check.expect_exit(
        "a variable of both files",
        1,
        ["run", check.path("job2"), "--init", check.path("old.pdparams")] + feeds,
        "old.pdopt: 'fc_0.b_0' is in the file of parameters beside it too",
    )
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [check.tool, "show", check.path("job2")], stdout=full, stderr=subprocess.PIPE, text=True
        )
    check.expect(
        "an output that is full",
        done.returncode == 1 and "standard output cannot be written: No space" in done.stderr,
        "%d: %s" % (done.returncode, done.stderr),
    )


if __name__ == "__main__":
    main([prepare, table, manifests, files])
