"""Writes programs of kinds that no corpus has (unseen/*.py) as cases of test/corpus, trained by the framework on one device.

    unseen.py FOLDER [NET...]

Run by hand with paddlepaddle 2.6.2; check.py holds what dtranspile makes of them against what the framework did. Each is made in a
process of its own: what the framework cannot build, or dies of, is named and left out.
"""

import os
import sys

import paddle

import generate
from net import NETS
from unseen import attention, convolutions, coupling, families, indexing, losses, norms, training, whole, zoo  # noqa: F401 (they add to NETS)


def write(net, folder):
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        if status:
            print("%-24s left out: status %d" % (net.name, status), flush=True)
        return
    try:
        paddle.enable_static()
        generate.write_case(net, folder)
        sys.stdout.flush()
        os._exit(0)
    except Exception as e:  # whatever the framework raises
        print("%-24s %s" % (net.name, str(e).strip().replace("\n", " ")[-300:]), flush=True)
        os._exit(1)


def main(folder, *wanted):
    for one in NETS:
        if not wanted or one.name in wanted:
            write(one, os.path.join(folder, one.name))


if __name__ == "__main__":
    main(*sys.argv[1:])
