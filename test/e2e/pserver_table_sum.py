"""Gradients of a distributed table that are summed over the trainers (--sum-distributed-tables): with sgd the table moves N times as far in a step as
by their mean, and everything else as far as before, to the bit. With one trainer nothing differs. The job says so, and is verified.

    pserver_table_sum.py TOOL_FOLDER CORPUS CASE TABLE
"""

import os
import sys
import tempfile

from pserver_case import flags_of, programs_of
from train_case import call, fail, read_record

SUM = "+sum_distributed_tables=true"


def moved(tool, folder, size, work):
    """Jobs of one size with the mean and the sum, a step of each; {variable: values after it} of both."""
    found = []
    for what in ("", SUM):
        job, saved = (os.path.join(work, size + ("sum" if what else "mean") + kind) for kind in ("", ".saved"))
        call(tool, "transpile", *programs_of(folder), "-o", job, *flags_of(size + what)[0])
        text = call(tool, "verify", job)
        if ("table_sum" in text) != (what == SUM and not size.startswith("1x")):
            fail("%s%s: verify says\n%s" % (size, what, text))
        words = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init"), "--steps", "1"]
        call(tool, "run", job, *words, "--save", saved, "--cache", os.path.join(work, "cache"))
        found.append({name: read_record(os.path.join(saved, name)) for name in os.listdir(saved)})
    return found


def main(tools, corpus, case, table):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    begin = read_record(os.path.join(folder, "init", table))
    with tempfile.TemporaryDirectory() as work:
        for trainers in (1, 2, 4):
            mean, total = moved(tool, folder, "%dx3s" % trainers, work)
            for name in mean:
                if name != table and mean[name] != total[name]:
                    fail("%d trainers: %s differs" % (trainers, name))
            worst, most = 0.0, 0.0
            for at, a, b in zip(begin, mean[table], total[table]):
                worst = max(worst, abs((b - at) - trainers * (a - at)))
                most = max(most, abs(b - at))
            if most == 0 or worst > 1e-5 * most + 2e-7 * max(map(abs, begin)):
                fail("%d trainers: %s moved by up to %g, off by %g" % (trainers, table, most, worst))
            if trainers == 1 and mean[table] != total[table]:
                fail("one trainer: the sum is another one than the mean")
            print("%d trainers: %s moved by up to %g, off by %g" % (trainers, table, most, worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
