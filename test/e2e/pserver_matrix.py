"""Every program of a corpus with parameter servers in every mode: transpile, then verify. A job is verified, or is refused with the text of REFUSED; what
is refuted, unknown, or refused with other words fails, all of them together at the end. Prints how many were what.

    pserver_matrix.py TOOL_FOLDER CORPUS FOLDER SIZE...

FOLDER: fluid18 and the like; SIZE as in pserver_case.py.
"""

import collections
import os
import subprocess
import sys
import tempfile

from pserver_case import flags_of, programs_of
from train_case import LIMIT_SECONDS, fail

MODES = ("sync", "async", "half_async", "geo")
SINGLE = ("async", "half_async")

# Case, modes, what transpile says.
SUM = "a sum over gradients or parameters, which servers that apply every push by itself never have together"
REFUSED = [
    ("fluid18/bert_tiny", SINGLE, SUM),
    ("fluid18/bert_tiny_dropout", SINGLE, SUM),
    ("fluid18/dpsgd_mlp", SINGLE, "draws random numbers in an update: servers that apply every push by itself know no steps"),
    ("pir33/bert_tiny", SINGLE, SUM),
    ("static26/bert_tiny", SINGLE, SUM),
    ("static26/mlp_stages", SINGLE, SUM),
]


def expected_refusal(case, mode):
    texts = [text for name, modes, text in REFUSED if name == case and mode in modes]
    return texts[0] if texts else None


def call(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=LIMIT_SECONDS)
    return done.returncode, done.stdout


def outcome(tool, folder, job, flags, text):
    """(verified, refused or wrong; what to say of it)"""
    status, said = call(tool, "transpile", *programs_of(folder), "-o", job, *flags)
    if text:
        good = status == 1 and text in said and "error" in said and not os.path.exists(job)
        return ("refused", "") if good else ("wrong", "status %d, expected 1 and '%s':\n%s" % (status, text, said))
    if status:
        return "wrong", "is refused:\n" + said
    status, said = call(tool, "verify", job)
    return ("wrong", "is not verified:\n" + said) if status else ("verified", "")


def main(tools, corpus, kind, *sizes):
    tool, wrong = os.path.join(tools, "dtranspile"), []
    for size in sizes:
        for mode in MODES:
            counts = collections.Counter()
            for name in sorted(os.listdir(os.path.join(corpus, kind))):
                case = kind + "/" + name
                if not os.path.isdir(os.path.join(corpus, case)):
                    continue
                with tempfile.TemporaryDirectory() as work:
                    flags = flags_of("%s+preset=%s" % (size, mode))[0]
                    what, why = outcome(tool, os.path.join(corpus, case), os.path.join(work, "job"), flags, expected_refusal(case, mode))
                counts[what] += 1
                if why:
                    wrong.append("%s, %s, %s: %s" % (case, size, mode, why))
            print("%s, %s, %s: %s" % (kind, size, mode, ", ".join("%d %s" % (count, what) for what, count in sorted(counts.items()))))
            if not counts["verified"]:
                wrong.append("%s, %s: no job was verified" % (size, mode))
    if wrong:
        fail("\n".join(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
