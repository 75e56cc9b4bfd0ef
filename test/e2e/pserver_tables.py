"""Bytes of a step with a table on servers: they follow the ids of the batch, and not the rows of the table.

    pserver_tables.py TOOL_FOLDER CORPUS CASE TABLE FACTOR [+FIELD=VALUE...]

The case is trained as it is, and with FACTOR times as many rows in TABLE (from what start-up draws, by the same feeds): every trainer sends and
receives the same number of bytes, which is less than the table has.
"""

import os
import re
import sys
import tempfile

from pserver_case import flags_of, programs_of, read_json
from train_case import call, fail


def enlarge(text, table, factor):
    """The program with more rows in the table; (text, elements)"""
    found = re.search(r"pd\.var @%s : tensor<(\d+)x(\d+)xf32>" % re.escape(table), text)
    if not found:
        fail("there is no table %s of floats" % table)
    rows, width = map(int, found.groups())
    for form in ("tensor<%dx%dxf32>", "[%d, %d]", "i64: %d, %d>"):
        text = text.replace(form % (rows, width), form % (rows * factor, width))
    return text, rows * factor * width


def larger(tool, folder, table, factor, work):
    """Both programs with more rows, as words of the command; the elements of the table."""
    words = []
    for program in ("main", "startup"):
        text, saved = (os.path.join(work, program + ending) for ending in (".mlir", ".pdmodel"))
        call(tool, "convert", os.path.join(folder, program + ".pdmodel"), text)
        with open(text) as f:
            changed, elements = enlarge(f.read(), table, factor)
        with open(text, "w") as f:
            f.write(changed)
        call(tool, "convert", text, saved)
        words += [saved] if program == "main" else ["--startup", saved]
    return words, elements


def bytes_of_trainers(tool, programs, folder, what, work, fields):
    job, report = (os.path.join(work, what + kind) for kind in (".job", ".json"))
    call(tool, "transpile", *programs, "-o", job, *flags_of("2x2s" + fields)[0])
    call(tool, "verify", job)
    words = ["--feeds", os.path.join(folder, "feeds"), "--report", report]
    call(tool, "run", job, *words, "--cache", os.path.join(work, "cache"))
    ranks = [rank for rank in read_json(report)["ranks"] if rank["role"] == "trainer"]
    if len(ranks) != 2:
        fail("%s: the report has %d trainers" % (what, len(ranks)))
    return [(rank["bytes_sent"], rank["bytes_received"]) for rank in ranks]


def main(tools, corpus, case, table, factor, fields=""):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        small = bytes_of_trainers(tool, programs_of(folder), folder, "small", work, fields)
        programs, elements = larger(tool, folder, table, int(factor), work)
        large = bytes_of_trainers(tool, programs, folder, "large", work, fields)
    print("bytes sent and received: %s; with %s times the rows: %s" % (small, factor, large))
    if small != large:
        fail("bytes grow with the rows of the table")
    if max(received for _, received in large) > 4 * elements:
        fail("a trainer receives more than the table of %d bytes" % (4 * elements))


if __name__ == "__main__":
    main(*sys.argv[1:])
