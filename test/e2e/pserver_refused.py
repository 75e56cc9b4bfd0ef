"""Cases that parameter servers without rounds do not take: transpile says why, and writes nothing.

    pserver_refused.py TOOL_FOLDER CORPUS CASE=TEXT...
"""

import os
import subprocess
import sys
import tempfile

from train_case import LIMIT_SECONDS, fail


def main(tools, corpus, *entries):
    tool = os.path.join(tools, "dtranspile")
    for entry in entries:
        case, text = entry.split("=", 1)
        folder = os.path.join(corpus, case)
        with tempfile.TemporaryDirectory() as work:
            job = os.path.join(work, "job")
            words = [tool, "transpile", os.path.join(folder, "main.pdmodel")]
            words += ["--startup", os.path.join(folder, "startup.pdmodel"), "-o", job]
            done = subprocess.run(
                words + ["--mode", "pserver", "--trainers", "2", "--pservers", "2", "--preset", "async"],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=LIMIT_SECONDS,
            )
            if done.returncode != 1 or text not in done.stdout or os.path.exists(job):
                fail("%s: status %d, expected 1 and '%s':\n%s" % (case, done.returncode, text, done.stdout))
            print("%s: refused" % case)


if __name__ == "__main__":
    main(*sys.argv[1:])
