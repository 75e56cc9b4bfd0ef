"""A server's memory follows the rows of a table that are touched, and not those that it has: with FACTOR times as many rows in TABLE the largest
resident memory of a server stays below a quarter of the bytes of its part, though all rows are saved.

    pserver_touch.py TOOL_FOLDER CORPUS CASE TABLE FACTOR
"""

import os
import sys
import tempfile

from pserver_case import flags_of, read_json
from pserver_tables import larger
from train_case import call, fail

MOST = 0.25  # of the part


def main(tools, corpus, case, table, factor):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    with tempfile.TemporaryDirectory() as work:
        program, elements = larger(tool, folder, table, int(factor), work)
        job, report, saved = (os.path.join(work, what) for what in ("job", "report.json", "saved"))
        call(tool, "transpile", *program, "-o", job, *flags_of("1x1")[0])
        words = ["--feeds", os.path.join(folder, "feeds"), "--report", report, "--cache", os.path.join(work, "cache")]
        call(tool, "run", job, *words, "--save", saved)
        size = os.path.getsize(os.path.join(saved, table))
        peaks = [rank["peak_rss_bytes"] for rank in read_json(report)["ranks"] if rank["role"] != "trainer"]
    print("a server of %d rows holds %.3f of their bytes" % (elements // 32, max(peaks) / (4 * elements)))
    if len(peaks) != 1 or peaks[0] > MOST * 4 * elements:
        fail("the server holds %s bytes, more than %g of the %d of its part" % (peaks, MOST, 4 * elements))
    if not 4 * elements < size < 4 * elements + 1000:
        fail("%d bytes are saved of the table's %d" % (size, 4 * elements))


if __name__ == "__main__":
    main(*sys.argv[1:])
