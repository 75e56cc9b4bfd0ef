"""Runs the commands of a how-to as they stand there.

    how_to_test.py TOOL_FOLDER CORPUS PAGE.md

Every indented block of the page is one script; they run one after the other in one shell and one folder, which ends
at the first command that fails.
"""

import os
import subprocess
import sys
import tempfile

LIMIT_SECONDS = 600


def blocks_of(page):
    blocks, block, pending = [], [], 0
    for line in page.split("\n") + ["end"]:
        if line.startswith("    "):
            block += [""] * pending + [line[4:]]
            pending = 0
        elif not line.strip() and block:
            pending += 1
        elif block:
            blocks.append("\n".join(block))
            block, pending = [], 0
    return blocks


def main(tools, corpus, page):
    with open(page) as f:
        blocks = blocks_of(f.read())
    # A job in the background that fails is no failure of `wait` without a number.
    script = "\n".join(
        'echo "block %d"\n%s' % (i, block.replace("\nwait", '\nfor job in $(jobs -p); do wait "$job"; done'))
        for i, block in enumerate(blocks)
    )
    environment = dict(os.environ, CORPUS=os.path.abspath(corpus))
    environment["PATH"] = os.path.abspath(tools) + ":" + environment["PATH"]
    with tempfile.TemporaryDirectory() as work:
        environment["XDG_CACHE_HOME"] = os.path.join(work, ".cache")
        folder = os.path.join(work, "how-to")
        os.mkdir(folder)
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=LIMIT_SECONDS,
        )
        print(done.stdout)
        if done.returncode != 0:
            for name in sorted(os.listdir(folder)):
                if name.endswith(".log"):
                    with open(os.path.join(folder, name)) as f:
                        print("%s:\n%s" % (name, f.read()))
            sys.exit("a command of %s fails with status %d" % (page, done.returncode))
    if len(blocks) < 5:
        sys.exit("%s has %d blocks: they are no longer found" % (page, len(blocks)))


if __name__ == "__main__":
    main(*sys.argv[1:])
