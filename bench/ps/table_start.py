"""What a server holds of a table of many rows at its start, and after some steps: the largest resident memory of a server as a multiple of the bytes
of its part, for a table that lies by row numbers and whose update keeps state.

    table_start.py TOOL CASE_FOLDER [FACTOR [SERVERS]]

TOOL: dtranspile. CASE_FOLDER: fluid18/word2vec_distributed of the corpora, whose table of 600 rows of 32 floats gets FACTOR times as many (8334: the
bytes of 10 M rows of 16). Prints, for sgd as the program has it, the peak of each server, the seconds until all are ready and those of the run. Exits
with 1 above 0.3: rows that no step has touched take no memory.
"""

import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "test", "e2e"))

from pserver_case import flags_of, read_json
from pserver_tables import larger

GOAL = 0.3
TABLE = "shared_embedding"


def main(tool, folder, factor="8334", servers="1"):
    with tempfile.TemporaryDirectory() as work:
        program, elements = larger(tool, folder, TABLE, int(factor), work)
        job, report = os.path.join(work, "job"), os.path.join(work, "report.json")
        subprocess.run([tool, "transpile", *program, "-o", job, *flags_of("1x" + servers)[0]], check=True, stdout=subprocess.DEVNULL)
        before = time.monotonic()
        words = ["--feeds", os.path.join(folder, "feeds"), "--report", report, "--timeout", "300"]
        subprocess.run([tool, "run", job, *words], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - before
        part = 4 * elements / int(servers)
        ranks = [rank for rank in read_json(report)["ranks"] if rank["role"] != "trainer"]
    peaks = [rank["peak_rss_bytes"] / part for rank in ranks]
    load = max(rank["load_ms"] for rank in ranks) / 1e3
    text = (elements // 32, servers, ", ".join("%.2f" % peak for peak in peaks), part / 1e6, load, seconds)
    print("%d rows, %s server(s): %s of the part's %.0f MB, ready after %.1f s, %.1f s" % text)
    return max(peaks) > GOAL


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
