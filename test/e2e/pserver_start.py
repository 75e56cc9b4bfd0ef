"""Tables that servers draw in pieces (compiler/lower/pieces.h) begin as one device's: with more rows, so that there are several pieces, any number of
servers and either layout. Rows that no step has touched have its bits after training, the others are as close as losses are. With checkpoints on the
way: the last one has the table that is saved, and a run that goes on from the middle ends with it.

    pserver_start.py TOOL_FOLDER CORPUS CASE TABLE FACTOR:SERVERS[+FIELD=VALUE...]...

FACTOR: how many times as many rows TABLE has. Fields: of transpile.
"""

import os
import sys
import tempfile

from pserver_case import flags_of, read_json
from pserver_tables import larger
from train_case import call, compare_losses, fail, loss_of, read_record

WIDTH = 32  # of the table of these programs


def trained(tool, program, folder, loss, words, work, what):
    """(losses, folder of what is saved) after training from what start-up draws"""
    saved, report = (os.path.join(work, what + kind) for kind in (".saved", ".json"))
    words = words + ["--cache", os.path.join(work, "cache"), "--report", report, "--save", saved]
    call(tool, "run", *program, "--feeds", os.path.join(folder, "feeds"), *words)
    return read_json(report)["fetch"][loss], saved


def compare_rows(what, found, alone, rows):
    """How many rows differ in a bit; those that do are close."""
    width, touched = len(alone) // rows, 0
    if len(found) != len(alone):
        fail("%s: %d elements, expected %d" % (what, len(found), len(alone)))
    for row in range(rows):
        one, other = (values[row * width : (row + 1) * width] for values in (found, alone))
        if one == other:
            continue
        touched += 1
        for a, b in zip(one, other):
            if not abs(a - b) <= 1e-5 + 1e-3 * abs(b):
                fail("%s: row %d has %.9g, one device %.9g" % (what, row, a, b))
    return touched


def check_checkpoints(what, tool, job, folder, table, saved, work):
    """Rows that nobody has touched are in checkpoints; a run that goes on from one ends where one without a break does."""
    feeds, step = os.path.join(folder, "feeds"), "step-%012d"
    words = ["--cache", os.path.join(work, "cache"), "--checkpoint-dir", os.path.join(work, "checkpoints"), "--checkpoint-every", "2"]
    call(tool, "run", job, "--feeds", feeds, *words, "--steps", "4")
    call(tool, "run", job, "--feeds", feeds, *words, "--resume", "--save", os.path.join(work, "resumed"))
    last = os.path.join(work, "checkpoints", step % 8)
    expected = read_record(os.path.join(saved, table))
    for found, where in ((last, "the last checkpoint"), (os.path.join(work, "resumed"), "what is saved after going on")):
        if read_record(os.path.join(found, table)) != expected:
            fail("%s: %s has another table" % (what, where))


def main(tools, corpus, case, table, *jobs):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    loss = loss_of(read_json(os.path.join(folder, "case.json")))
    for text in jobs:
        size, *fields = text.split("+")
        factor, servers = map(int, size.split(":"))
        what = "%s, %d times the rows, %d servers%s" % (case, factor, servers, "".join(", " + field for field in fields))
        with tempfile.TemporaryDirectory() as work:
            program, elements = larger(tool, folder, table, factor, work)
            expected, alone = trained(tool, program, folder, loss, [], work, "alone")
            job = os.path.join(work, "job")
            call(tool, "transpile", *program, "-o", job, *flags_of("+".join(["1x%d" % servers, *fields]))[0])
            call(tool, "verify", job)
            found, saved = trained(tool, [job], folder, loss, [], work, "job")
            worst = compare_losses(what, found, expected)
            values = [read_record(os.path.join(path, table)) for path in (saved, alone)]
            rows = elements // WIDTH
            touched = compare_rows(what, *values, rows)
            if touched > rows // 8:
                fail("%s: %d of %d rows differ" % (what, touched, rows))
            if not fields:
                check_checkpoints(what, tool, job, folder, table, saved, work)
            print("%s: largest difference of a loss %.2e, %d of %d rows differ in a bit" % (what, worst, touched, rows))


if __name__ == "__main__":
    main(*sys.argv[1:])
