"""Every op of dialect dist stands in a lit test of specialisation, of lowering, and of what is refused of it.

    every_op.py OPS.td FOLDER...

The ops are those of the ODS file; a row of TABLE says what is left of one in the text of a class and in a plan. A file
tests a row where its input has the op and a CHECK line has what is left of it; an -errors file where the line that an
expected error points to, or the message, has the op. Fails for each op without one of the three, and for rows that are no
ops.
"""

import glob
import os
import re
import sys

# op: (in the text of a class, in the plan, the op that stands in the job for it). Plans have no declarations: there these
# are seen in what follows from them.
TABLE = {
    "mesh": (r"dist\.mesh", r"axes \w", ""),
    "comm": (r"dist\.comm", r"comm \d", ""),
    "role": (r"dist\.role|dist\.class", r"program main", ""),
    "yield": (r"dist\.yield", r"\}", ""),
    "on": (r"dist\.on", r"\bat \w+ \d", ""),
    "foreach_block": (r"dist\.foreach_block", r"\bblocks\b", ""),
    "micro": (r"dist\.micro", r"\bmicro\b", ""),
    # Its body, unless export keeps it.
    "composite": (r"dist\.composite", r"start all_reduce", ""),
    "serve": (r"dist\.serve", r"program main (round|push|pull|lookup)|program\{\{.*\}\} round", ""),
    "handle": (r"dist\.handle", r"program main (round|push|pull|lookup)|program\{\{.*\}\} round", ""),
    "all_reduce": (r"dist\.all_reduce", r"start all_reduce", ""),
    "reduce": (r"dist\.reduce ", r"start reduce ", ""),
    "broadcast": (r"dist\.broadcast", r"start broadcast", ""),
    "all_gather": (r"dist\.all_gather", r"start all_gather", ""),
    "reduce_scatter": (r"dist\.reduce_scatter", r"start reduce_scatter", ""),
    "all_to_all": (r"dist\.all_to_all", r"start all_to_all", ""),
    "transfer": (r"dist\.(send|recv)", r"start (send|recv)", ""),
    "send": (r"dist\.send", r"start send", "transfer"),
    "recv": (r"dist\.recv", r"start recv", "transfer"),
    "barrier": (r"dist\.barrier", r"start barrier", ""),
    "wait": (r"dist\.wait", r"wait \d", ""),
    "slice": (r"dist\.slice", r"\bslice ", ""),
    "coord": (r"dist\.coord", r"\bcoord ", ""),
    "copy": (r"dist\.copy", r"\bcopy ", ""),
    # Its operand.
    "assume": (r"pd\.\w+ X", r"kernel \w+", ""),
    "push": (r"dist\.push", r"\bpush \w", ""),
    "pull": (r"dist\.pull", r"\bpull \w", ""),
    "lookup": (r"dist\.lookup", r"\blookup \w", ""),
    # Extents only, which are known when the plan is made.
    "remote": (r"dist\.remote", r"\bpush \w", ""),
    "phase": (r"dist\.phase", r"\bphase ", ""),
    "merged": (r"dist\.merged", r"\bmerged ", ""),
}
CHECK = re.compile(r"// *[A-Z0-9]*(-NEXT|-NOT|-DAG|-SAME)?: (.*)")
NOT = re.compile(r"// *[A-Z0-9]*-NOT: ")
EXPECTED = re.compile(r"expected-error(?:-re)? *(?:@([+-]\d+|below|above))? *\{\{(.*)")


def read(path):
    with open(path) as f:
        return f.read().split("\n")


def names(text, op):
    return re.search(r"\bdist\.%s\b" % op, text) is not None


def tests(path, op, left):
    """Whether a file has the op in its input and what is left of it in what it checks."""
    lines = read(path)
    source = "\n".join(line for line in lines if not line.lstrip().startswith("//"))
    checked = [CHECK.match(line.strip()) for line in lines if not NOT.match(line.strip())]
    return names(source, op) and any(m and re.search(left, m.group(2)) for m in checked)


def refuses(path, op):
    lines = read(path)
    for number, line in enumerate(lines):
        if re.match(r"// *CHECK.*: .*(error|dist\.)", line) and names(line, op):
            return True
        found = EXPECTED.search(line)
        if not found:
            continue
        where = {None: "0", "below": "+1", "above": "-1"}.get(found.group(1), found.group(1))
        target = number + int(where)
        if names(found.group(2), op) or (0 <= target < len(lines) and names(lines[target], op)):
            return True
    return False


def main(ods, *folders):
    with open(ods) as f:
        ops = re.findall(r'^def Dist_\w+Op : Dist_\w+<"(\w+)"', f.read(), re.M)
    files = [path for folder in folders for path in sorted(glob.glob(os.path.join(folder, "*.mlir")))]
    of = lambda part: [path for path in files if part in path and not path.endswith("-errors.mlir")]  # noqa: E731
    missing = ["'%s' is a row and no op" % name for name in TABLE if name not in ops]
    for op in ops:
        if op not in TABLE:
            missing.append("dist.%s has no row" % op)
            continue
        text, plan, source = TABLE[op]
        columns = (
            ("specialisation", any(tests(path, source or op, text) for path in of("/specialize/"))),
            ("lowering", any(tests(path, source or op, plan) for path in of("/lower/dist/"))),
            ("an error", any(refuses(path, op) for path in files if path.endswith("-errors.mlir"))),
        )
        missing += ["dist.%s: no lit test of %s" % (op, what) for what, found in columns if not found]
    for line in missing:
        print("FAILED: " + line)
    print("%d ops, 3 columns, %d missing" % (len(ops), len(missing)))
    return 1 if missing or not ops else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
