"""Wrong versions of a job whose gradients travel as their largest elements: what verify says of each.

    dgc_mutants.py TOOL_FOLDER CORPUS CASE
"""

import json
import os
import re
import subprocess
import sys
import tempfile

from train_case import call, fail

FLAGS = ["--dgc", "--dgc-min-size", "1000", "--dgc-sparsity", "0.5,0.75", "--dgc-rampup-begin-step", "1", "--dgc-rampup-step", "4"]

# name -> where the text begins to be edited (the first update, or one of its branches), pattern, replacement, exit status of verify, rule.
MUTANTS = {
    "what is sent stays in what is kept": ("sparse", r"(pd.scatter X\()(%\d+)(\) Ids\(%\d+\) Updates\(%\d+\) -> Out\(\"[^\"]*\"\) \{[^}]*overwrite = true[^\n]*\n\s*(%\d+) = pd.reshape2 X\()%\d+", r"\1\2\3\2", 1, "compression"),
    "nothing is kept": ("sparse", r"\n *pd.set @fc_0.w_0__dgc_v__[^\n]*", "", 1, "compression"),
    "another velocity": ("sparse", r"scale = 0.899\d*", "scale = 0.5", 1, "compression"),
    "the own gradient is not multiplied by the ranks": ("sparse", r"scale = 2.0+e\+00", "scale = 1.000000e+00", 1, "compression"),
    "the sum is no mean": ("sparse", r"scale = 5.0+e-01", "scale = 1.000000e+00", 1, "compression"),
    "another number of elements": ("sparse", r"k = 4096", "k = 4000", 1, None),
    "the smallest elements": ("sparse", r"largest = true", "largest = false", 1, "compression"),
    "signed, not absolute": ("sparse", r"(pd.top_k_v2 X\()%\d+", "former", 1, "compression"),
    "values of the velocity are sent": ("sparse", r"(pd.gather X\()(%\d+)", "velocity", 1, "compression"),
    "masks of the velocity are not taken": ("sparse", r"pd.set @fc_0.w_0_velocity_0, (%\d+)", "unmasked", 1, "compression"),
    "places of others for the own values": ("sparse", r"(dist.all_gather\()%\d+(\) on @grad0 dim 0 : \(tensor<4096xf32>)", "none", 1, None),
    "places overwrite each other": ("sparse", r"overwrite = false", "overwrite = true", 1, "compression"),
    "a dense step without the sum": ("dense", r"(pd.momentum Grad\()%\d+(?:#\d+)?", r"\g<1>%arg0", 1, "compression"),
    "a branch ends early": ("before", r"(pd.less_equal X\(%\d+\) Y\(%\d+\).*?value = )3", r"\g<1>2", 1, None),
    "other steps": ("before", r"(Out\(\"dgc_step[_0-9]*\"\) \{[^}]*value = )1", r"\g<1>2", 1, "compression"),
    "a counter that skips": ("before", r'(Out\("__g_dgc_counter__"\) \{op_role = 2 : i32, step = )1', r"\g<1>2", 1, "compression"),
    "what is kept begins with ones": ("startup", r'(Out\("fc_0.w_0__dgc_v__"\) \{[^}]*value = )0', r"\g<1>1", 1, "compression"),
    "the velocity is declared equal": ("head", r'(@fc_0.w_0_velocity_0 [^\n]*<"fc_0.w_0_velocity_0")[^>]*>', r"\1>", 1, "compression"),
    "another statement": ("head", r'"fc_0.w_0: all of', '"fc_0.w_0: half of', 1, "contract"),
    "a parameter is not listed": ("head", r'"fc_1.w_0: [^"]*",? ?', "", 1, "contract"),
    "no contract": ("head", r'tag = "dgc"', 'tag = "parts"', 1, "contract"),
    "the gradient is summed before": ("before", None, "summed", 1, "scale"),
}


def edit(text, name, where, pattern, new):
    role = text.index("dist.role")
    composite = text.index('dist.composite "dgc_momentum"', role)
    starts = {"head": 0, "before": role, "dense": composite, "startup": text.index("pd.program @startup", role)}
    starts["sparse"] = text.index("pd.conditional_block", text.index("pd.momentum", composite))
    begin = starts[where]
    rest = text[begin:]
    if new == "former":  # what abs takes
        at = re.search(pattern, rest)
        inner = re.findall(r"pd.abs X\((%\d+)\)", rest[: at.start()])[-1]
        rest = rest[: at.end(1)] + inner + rest[at.end() :]
    elif new == "velocity":  # the other flattened value
        at = re.search(pattern, rest)
        u = re.findall(r"(%\d+) = pd.reshape2", rest[: at.start()])[-2]
        rest = rest[: at.start(2)] + u + rest[at.end(2) :]
    elif new == "unmasked":  # the parameter's old velocity
        own = re.search(r"(%\d+) = pd.get @fc_0.w_0_velocity_0", rest).group(1)
        at = re.search(pattern, rest)
        rest = rest[: at.start(1)] + own + rest[at.end(1) :]
    elif new == "none":  # values of the gathered places: zeros
        at = re.search(pattern, rest)
        zero = re.findall(r"(%\d+) = pd.gather", rest[: at.start()])[-1]
        other = re.findall(r"(%\d+):2 = pd.top_k_v2", rest[: at.start()])[-1]
        rest = rest[: at.end(1)] + other + "#0" + rest[at.start(2) :]
    elif new == "summed":
        at = re.search(r'Grad = (%\d+)[^\n]*', text[composite:])
        own = at.group(1)
        kind = re.search(r"Grad = %\d+ : (tensor<[^>]*>)", text[composite:]).group(1)
        line = text.rindex("\n", 0, composite)
        made = "\n      %%summed = dist.all_reduce sum(%s) on @grad0 : (%s) -> %s" % (own, kind, kind)
        tail = text[line:].replace("Grad = " + own, "Grad = %summed", 1)
        tail = re.sub(r"(\"\$capture\"\()" + own + r"\b", r"\1%summed", tail)
        return text[:line] + made + tail
    else:
        rest = re.sub(pattern, new, rest, count=1, flags=re.S if where == "before" else 0)
    edited = text[:begin] + rest
    if edited == text:
        fail("%s: nothing to edit" % name)
    return edited


def main(tools, corpus, case):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        job, path = os.path.join(work, "job"), os.path.join(work, "job.mlir")
        program = [os.path.join(folder, name + ".pdmodel") for name in ("main", "startup")]
        call(tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", "2", "--fuse-all-reduce-ops=false", *FLAGS)
        call(tool, "verify", job)
        call(tool, "convert", os.path.join(job, "job.mlirbc"), path)
        with open(path) as f:
            text = f.read()
        wrong = 0
        for name, (where, pattern, new, status, rule) in MUTANTS.items():
            with open(path, "w") as f:
                f.write(edit(text, name, where, pattern, new))
            done = subprocess.run([tool, "verify", path, "--format", "json"], stdout=subprocess.PIPE)
            messages = [m for rung in json.loads(done.stdout)["rungs"] for m in rung["messages"]]
            rules = [m["rule"] for m in messages if m["level"] != "note"]
            if done.returncode != status or (rule and rule not in rules):
                print("%s: verify ends with %d, rules %s" % (name, done.returncode, [(m["rule"], m["text"]) for m in messages if m["level"] != "note"]))
                wrong += 1
            else:
                print("%s: %d by rule %s" % (name, status, rules[0]))
        if wrong:
            fail("%d of %d" % (wrong, len(MUTANTS)))


if __name__ == "__main__":
    main(*sys.argv[1:])
