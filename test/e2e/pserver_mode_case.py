"""Trains one case in a mode whose contract is relaxed, through the command line: transpile, verify, run. With one trainer every loss has the bits of
synchronous rounds, and parameters are the framework's; two trainers end, with losses that are numbers; with `band` they come to the loss of synchronous
ones after the same number of samples, for several seeds.

    pserver_mode_case.py TOOL_FOLDER CORPUS CASE +FIELD=VALUE... CONTRACT [band] [rows=TABLE]

rows: bytes of exchanges follow the rows of TABLE that steps have changed.
"""

import math
import os
import sys
import tempfile

import pserver_async_case
from pserver_case import flags_of, programs_of, read_json
from pserver_tables import larger
from train_case import call, compare_losses, compare_parameters, fail, read_noise, scalar

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "jobs"))

# The loss after as many samples: at most so many times that of synchronous trainers, plus NOISE.
BAND, NOISE = 1.25, 1e-3


class Case(pserver_async_case.Case):
    def __init__(self, tools, corpus, case, work, fields, contract):
        super().__init__(tools, corpus, case, work)
        self.corpus, self.fields, self.contract = corpus, fields, contract

    def transpile(self, text):
        job = os.path.join(self.work, "job" + text)
        if os.path.exists(job):
            return job
        call(self.tool, "transpile", *programs_of(self.folder), "-o", job, *flags_of(text)[0])
        verdict = call(self.tool, "verify", job)
        if "+" in text and self.contract not in verdict:
            fail("%s, %s: the verdict does not name the contract:\n%s" % (self.case, text, verdict))
        return job

    def train(self, text, job, data):
        saved, report = (os.path.join(self.work, kind + text) for kind in ("saved", "report"))
        call(self.tool, "run", job, *data, "--cache", os.path.join(self.work, "cache"), "--report", report, "--save", saved)
        return saved, [scalar(value) for value in read_json(report)["fetch"][self.loss]]

    def check(self):
        losses = self.train("1x1", self.transpile("1x1"), self.data)[1]
        worst = compare_losses(self.case, losses, self.golden)
        for size in ("1x1", "1x2s"):
            saved, found = self.train(size + self.fields, self.transpile(size + self.fields), self.data)
            if found != losses:
                fail("%s, %s: losses %s, with synchronous rounds %s" % (self.case, size + self.fields, found, losses))
            after, count = os.path.join(self.folder, "after"), 0
            if os.path.isdir(after):
                count = compare_parameters(self.case, saved, after, read_noise(self.corpus, self.case))
            print("%s, %s: the losses of rounds, largest difference %.2e, %d parameters as recorded" % (self.case, size, worst, count))
        size = "2x2s" + self.fields
        losses = self.train(size, self.transpile(size), self.data)[1]
        if len(losses) != len(self.golden) or not all(map(math.isfinite, losses)):
            fail("%s: losses of two trainers are %s" % (self.case, losses))

    def check_band(self):
        """Where every push is an update, two trainers make two where synchronous ones make one."""
        import async_case

        size = "2x2s"
        jobs = [(text, self.transpile(text)) for text in (size + self.fields, size)]
        for seed in (1, 2, 3):
            feeds = os.path.join(self.work, "feeds%d" % seed)
            async_case.make_feeds(feeds, seed)
            losses = [self.train(text + "seed%d" % seed, job, ["--feeds", feeds])[1] for text, job in jobs]
            for steps in (async_case.STEPS // 4, async_case.STEPS // 2, async_case.STEPS):
                late = [sum(one[steps - 10 : steps]) / 10 for one in losses]
                print("seed %d: loss after %d steps %.4g, of synchronous trainers %.4g" % (seed, steps, *late))
                if late[0] > BAND * late[1] + NOISE:
                    fail("seed %d: outside of the band: %s" % (seed, losses[0]))

    def check_rows(self, table):
        """With 50 times as many rows a trainer takes the table once, when it starts; exchanges take less than that together."""
        programs, elements = larger(self.tool, self.folder, table, 50, self.work)
        job, report = (os.path.join(self.work, "larger" + ending) for ending in (".job", ".json"))
        call(self.tool, "transpile", *programs, "-o", job, *flags_of("2x2s" + self.fields)[0])
        call(self.tool, "verify", job)
        words = ["--feeds", os.path.join(self.folder, "feeds"), "--report", report]
        call(self.tool, "run", job, *words, "--cache", os.path.join(self.work, "cache"))
        for rank in read_json(report)["ranks"]:
            if rank["role"] != "trainer":
                continue
            print("%s: a table of %d bytes, %d sent, %d received" % (self.case, 4 * elements, rank["bytes_sent"], rank["bytes_received"]))
            if rank["bytes_sent"] > 4 * elements or rank["bytes_received"] > 2 * 4 * elements:
                fail("%s: exchanges take whole tables" % self.case)


def main(tools, corpus, name, fields, contract, *options):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, fields, contract)
        case.check()
        if "band" in options:
            case.check_band()
        for table in [option[5:] for option in options if option.startswith("rows=")]:
            case.check_rows(table)


if __name__ == "__main__":
    main(*sys.argv[1:])
