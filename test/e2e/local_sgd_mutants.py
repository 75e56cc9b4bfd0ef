"""Wrong versions of a job that averages parameters in some steps: what verify says of each.

    local_sgd_mutants.py TOOL_FOLDER CORPUS CASE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from train_case import call, fail

# name -> pattern, replacement, exit status of verify, rule. Of the role's text from the branch on where the name begins with "branch".
MUTANTS = {
    "branch: another scale": (r"scale = 5.0+e-01", "scale = 2.500000e-01", 1, "invariant"),
    "branch: a parameter is not set": (r"\n *pd.set @fc_1.w_0[^\n]*", "", 1, "invariant"),
    "branch: a parameter is not reduced": (r"(pd.scale X\()%\d+#1", None, 1, "invariant"),
    "other steps": (r'(local_sgd_k"\) .*?value = )3', r"\g<1>4", 1, "contract"),
    "another beginning": (r'(local_sgd_begin"\) .*?value = )1', r"\g<1>2", 1, "contract"),
    "a counter that skips": (r'(Out\("local_sgd_step"\) \{op_role = 2 : i32, step = )1', r"\g<1>2", 3, "contract"),
    "another comparison": (r"pd.equal X", "pd.not_equal X", 3, "contract"),
    "another statement": (r"in every 3-th", "in every 5-th", 1, "contract"),
    "a parameter is not listed": (r'"fc_1.w_0", ', "", 1, "contract"),
}

# Of one whose averages follow the loss: each is another way to say when the next one is.
ADAPTIVE = {
    "no root": (r"pd.sqrt X", "pd.square X", 1, "adaptation"),
    "rounded down": (r"pd.ceil X", "pd.floor X", 1, "adaptation"),
    "another bound": (r'(local_sgd_most"\) .*?value = )2.56', r"\g<1>1.0", 1, "adaptation"),
    "another unit": (r'(Out\("local_sgd_over_?\d*"\) .*?scale = )3', r"\g<1>4", 1, "adaptation"),
    "the loss of another step": (r'(local_sgd_one"\) .*?value = )1', r"\g<1>2", 1, "adaptation"),
    "another beginning": (r'(local_sgd_begin"\) .*?value = )1', r"\g<1>2", 1, "contract"),
    "the step is not noted": (r"\n *pd.set @local_sgd_last[^\n]*", "", 1, "adaptation"),
    "the number is not set": (r"\n *pd.set @local_sgd_k,[^\n]*", "", 1, "adaptation"),
    "another statement": (r"k is 3 at first", "k is 4 at first", 1, "contract"),
    "branch: another scale": (r"scale = 5.0+e-01", "scale = 2.500000e-01", 1, "invariant"),
}


def check(tool, case, folder, flags, mutants):
    with tempfile.TemporaryDirectory() as work:
        job, path = os.path.join(work, "job"), os.path.join(work, "job.mlir")
        program = [os.path.join(folder, name + ".pdmodel") for name in ("main", "startup")]
        words = ["--trainers", "2"] + flags
        call(tool, "transpile", program[0], "--startup", program[1], "-o", job, *words)
        call(tool, "verify", job)
        call(tool, "convert", os.path.join(job, "job.mlirbc"), path)
        with open(path) as f:
            text = f.read()
        role = text.index("dist.role")
        branch = text.index("pd.conditional_block", role)
        own = re.search(r"(%\d+) = pd.get @fc_0.w_0", text[branch:]).group(1)
        for name, (pattern, new, status, rule) in mutants.items():
            begin = branch if name.startswith("branch") else role
            if "statement" in name or "listed" in name:
                begin = 0
            new = r"\g<1>" + own if new is None else new
            edited = text[:begin] + re.sub(pattern, new, text[begin:], count=1)
            if edited == text:
                fail("%s: nothing to edit" % name)
            with open(path, "w") as f:
                f.write(edited)
            done = subprocess.run([tool, "verify", path, "--format", "json"], stdout=subprocess.PIPE)
            messages = [m for rung in json.loads(done.stdout)["rungs"] for m in rung["messages"]]
            rules = [m["rule"] for m in messages if m["level"] != "note"]
            if done.returncode != status or rule not in rules:
                fail("%s: verify ends with %d, rules %s" % (name, done.returncode, rules))
            print("%s: %d by rule %s" % (name, status, rule))


def main(tools, corpus, case):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    check(tool, case, folder, ["--collective-mode", "local_sgd", "--localsgd-k-steps", "3"], MUTANTS)
    flags = ["--adaptive-localsgd", "--adaptive-localsgd-init-k-steps", "3"]
    check(tool, case, folder, flags, ADAPTIVE)


if __name__ == "__main__":
    main(*sys.argv[1:])
