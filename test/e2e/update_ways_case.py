"""Programs of which the author has written a part of the update: each way of distributing them has the losses that the framework recorded on one device.

    update_ways_case.py TOOL_FOLDER CORPUS CASE WAY...

replicas    gradients are summed
amp         products are kept in float32, so that the scale and what is left out are all that changes; a step whose batch holds an infinity goes in
            front, and all that the program sets must stay as it was
merge       two steps, of a half of the batch each
servers     in rounds, of two servers
stages      two stages of a pipeline, and two micro-batches
owner       each parameter with its state on one rank
"""

import json
import math
import os
import struct
import sys
import tempfile

from gradient_merge_case import split_feed
from train_case import call, check_verified, compare_losses, scalar

WAYS = {
    "replicas": [],
    "amp": ["--amp", "--custom-black-list", "matmul_v2"],
    "merge": ["--gradient-merge", "--gradient-merge-k-steps", "2"],
    "servers": ["--mode", "pserver", "--pservers", "2", "--min-block-size", "4", "--allow-small-blocks"],
    "stages": ["--pipeline", "--stages", "2", "--accumulate-steps", "2"],
    "owner": ["--sharding", "--sharding-form", "owner", "--sharding-degree", "2"],
}


def overflow_first(source, target):
    """The first step once more in front, the first number of it infinite where it is a float."""
    with open(source, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    header = eval(data[10:start].decode().strip())  # of our own corpus
    step = bytearray(data[start : start + (len(data) - start) // header["shape"][0]])
    if header["descr"] == "<f4":
        step[:4] = struct.pack("<f", math.inf)
    header["shape"] = (header["shape"][0] + 1,) + header["shape"][1:]
    text = repr(header)
    text += " " * (-(len(text) + 11) % 64) + "\n"
    with open(target, "wb") as f:
        f.write(data[:8] + struct.pack("<H", len(text)) + text.encode() + bytes(step) + data[start:])


class Case:
    def __init__(self, tool, folder, work):
        self.tool, self.folder, self.work = tool, folder, work
        with open(os.path.join(folder, "case.json")) as f:
            self.description = json.load(f)
        with open(os.path.join(folder, "golden.json")) as f:
            self.expected = json.load(f)[self.description["loss"]]

    def feeds(self, way, change):
        target = os.path.join(self.work, "feeds_" + way)
        os.makedirs(target)
        for name in os.listdir(os.path.join(self.folder, "feeds")):
            change(os.path.join(self.folder, "feeds", name), os.path.join(target, name))
        return target

    def losses(self, job, feeds):
        report, loss = os.path.join(self.work, "report.json"), self.description["loss"]
        words = [self.tool, "run", job, "--feeds", feeds, "--init", os.path.join(self.folder, "init")]
        words += ["--cache", os.path.join(self.work, "cache"), "--report", report, "--fetch", loss]
        call(*words)
        with open(report) as f:
            return [scalar(one) for one in json.load(f)["fetch"][loss]]

    def check(self, way):
        job, startup = os.path.join(self.work, way), os.path.join(self.folder, "startup.pdmodel")
        program = os.path.join(self.folder, "main.pdmodel")
        call(self.tool, "transpile", program, "--startup", startup, "-o", job, "--trainers", "2", *WAYS[way])
        check_verified(self.tool, job)
        if way == "amp":
            found = self.losses(job, self.feeds(way, overflow_first))[1:]
        elif way == "merge":
            halves = self.losses(job, self.feeds(way, lambda a, b: split_feed(a, b, 2)))
            found = [(a + b) / 2 for a, b in zip(halves[::2], halves[1::2])]
        else:
            found = self.losses(job, os.path.join(self.folder, "feeds"))
        return compare_losses(way, found, self.expected)


def main(tools, corpus, name, *ways):
    with tempfile.TemporaryDirectory() as work:
        case = Case(os.path.join(tools, "dtranspile"), os.path.join(corpus, name), work)
        for way in ways:
            print("%s, %s: largest difference of a loss %.2e" % (name, way, case.check(way)))


if __name__ == "__main__":
    main(*sys.argv[1:])
