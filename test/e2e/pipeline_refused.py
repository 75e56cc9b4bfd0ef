"""What no pipeline is made of, or run with, by name.

    pipeline_refused.py TOOL_FOLDER CORPUS
"""

import os
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 120

# case, flags, what is said
REFUSED = [
    ("fluid18/device_guard_mlp", ["--trainers", "2"], "make no stages of 1: annotate the program"),
    ("static26/mlp_stages", ["--trainers", "3"], "3 trainers are no multiple of the 2 stages"),
    ("static26/mlp_regression", ["--trainers", "2"], "op_device names 0 devices"),
    ("fluid18/word2vec", ["--trainers", "2", "--stages", "2"], "save the program with is_sparse off"),
    (
        "static26/resnet_thin",
        ["--trainers", "2", "--stages", "2", "--accumulate-steps", "2", "--sync-batch-norm"],
        "pipeline and sync_batch_norm: together they are not there yet",
    ),
    (
        "fluid18/dynamic_rnn",
        ["--trainers", "2", "--stages", "2", "--accumulate-steps", "2"],
        "is the gradient of a loop or a branch",
    ),
    (
        "static26/mlp_stages",
        ["--trainers", "2", "--collective-mode", "local_sgd"],
        "pipeline and localsgd: together they are not there yet",
    ),
]
# accumulate_steps, trainers, what is said of a batch of 16
BATCHES = [
    ("5", "2", "which 1 data-parallel ranks of 5 micro-batches each do not divide; use a batch that is a multiple of 5"),
    ("16", "4", "which 2 data-parallel ranks of 16 micro-batches each do not divide; use a batch that is a multiple of 32"),
]
# Verified, and not run natively: case, flags, what is said.
NOT_RUN = [
    (
        "fluid18/text_lstm",
        ["--trainers", "2", "--stages", "2", "--accumulate-steps", "2"],
        "feed words is ragged: cutting it into micro-batches is not supported natively; pad it into a dense feed",
    ),
]


def fail(message):
    print("FAILED: " + message)
    sys.exit(1)


def call(*words):
    done = subprocess.run(
        words,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LIMIT_SECONDS,
    )
    return done.returncode, done.stdout


def main(tools, corpus):
    tool = os.path.join(tools, "dtranspile")

    def transpile(case, job, *flags):
        folder = os.path.join(corpus, case)
        words = [os.path.join(folder, "main.pdmodel"), "-o", job, "--pipeline"]
        words += ["--startup", os.path.join(folder, "startup.pdmodel")]
        return call(tool, "transpile", *words, *flags)

    with tempfile.TemporaryDirectory() as work:
        for i, (case, flags, said) in enumerate(REFUSED):
            status, text = transpile(case, os.path.join(work, "refused%d" % i), *flags)
            if status != 1 or said not in text:
                fail("%s %s ends with %d, and says: %s" % (case, flags, status, text))
        for case, flags, said in NOT_RUN:
            job, folder = os.path.join(work, "not_run"), os.path.join(corpus, case)
            status, text = transpile(case, job, *flags)
            if status:
                fail(text)
            data = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
            status, text = call(tool, "run", job, *data)
            if status != 1 or said not in text:
                fail("%s %s: run ends with %d, and says: %s" % (case, flags, status, text))
        folder = os.path.join(corpus, "static26/mlp_stages")
        for steps, trainers, said in BATCHES:
            job = os.path.join(work, "job" + steps)
            flags = ["--accumulate-steps", steps, "--trainers", trainers]
            status, text = transpile("static26/mlp_stages", job, *flags)
            if status:
                fail(text)
            data = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
            status, text = call(tool, "run", job, *data)
            if status == 0 or said not in text:
                fail("%s micro-batches end with %d, and say: %s" % (steps, status, text))


if __name__ == "__main__":
    main(*sys.argv[1:])
