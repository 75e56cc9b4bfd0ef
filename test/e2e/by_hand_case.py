"""Pruned weights (transpile --asp) and slow weights (--lookahead), held against their definitions computed here: the job without them trains one step at
a time, on one rank where nothing is rounded in between, and between two steps its parameters are changed by hand. Nothing here knows how a job does that.

    by_hand_case.py TOOL_FOLDER CORPUS CASE RANKS STEPS [TRANSPILE FLAG...]

Jobs are exported too, which refuses what the framework has no operator for.
A step that changes no parameter (it overflows, or its gradients are merged with those to come) is no update, and nothing is done by hand behind it.
Losses of every step, parameters, masks and slow weights after the last one are compared, on each number of RANKS (a comma-separated list). With --asp,
start-up is also run without initial values and without a rate: the masks are those of the weights that start-up makes without it.
"""

import itertools
import json
import math
import os
import shutil
import struct
import sys
import tempfile

from local_sgd_case import Array, Record
from train_case import call, check_verified, compare_losses, fail, read_noise, scalar

ABSOLUTE, RELATIVE = 1e-5, 1e-3
LAYERS = ("fc", "linear", "conv2d")
# Flags of several ranks, and how many words they and their options are, which follow them.
OF_SEVERAL = {"--use-hierarchical-allreduce": 3, "--tensor-parallel": 3, "--sharding": 3, "--pipeline": 5, "--mode": 4}


def dims_of(path):
    """Of the description in a tensor file: a type, then the extents, each as tag and base-128 number."""
    with open(path, "rb") as f:
        data = f.read()
    length = struct.unpack_from("<i", data, 16)[0]
    numbers, at = [], 20
    while at < 20 + length:
        at += 1
        value, shift = 0, 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        numbers.append(value)
    return numbers[1:]


def is_pruned(name, dims, excluded):
    owner, _, kind = name.partition(".")
    if any(part in name for part in excluded):
        return False
    if "w_" not in kind.split(".")[0] or not (owner in LAYERS or owner.rsplit("_", 1)[0] in LAYERS):
        return False
    return dims[grouped(dims)] >= 4


def grouped(dims):
    return 1 if len(dims) == 4 else 0


def mask_of(values, dims, algorithm="mask_1d"):
    return mask_of_fours(values, dims) if algorithm == "mask_1d" else mask_of_blocks(values, dims, KEPT[algorithm])


def mask_of_blocks(values, dims, kept):
    """Blocks of four by four of the matrix that the framework prunes: rows go through the dims that are not grouped, the last of them slowest,
    columns along the grouped one. What is missing in the last blocks is zero."""
    mask = [0.0] * len(values)
    strides = [1] * len(dims)
    for i in reversed(range(len(dims) - 1)):
        strides[i] = strides[i + 1] * dims[i + 1]
    starts = [0]
    for dim in reversed(range(len(dims))):
        if dim != grouped(dims):
            starts = [start + i * strides[dim] for start in starts for i in range(dims[dim])]
    extent, stride = dims[grouped(dims)], strides[grouped(dims)]
    for first in range(0, len(starts), 4):
        for left in range(0, extent, 4):
            places = [
                [starts[row] + column * stride if row < len(starts) and column < extent else None for column in range(left, left + 4)]
                for row in range(first, first + 4)
            ]
            block = [[0.0 if place is None else values[place] for place in row] for row in places]
            for row, column in kept(block):
                if places[row][column] is not None:
                    mask[places[row][column]] = 1.0
    return mask


def kept_by_size(block):
    """One after the other, of equal ones the last first, where row and column have less than two."""
    kept = []
    for _, row, column in sorted(((abs(block[r][c]), r, c) for r in range(4) for c in range(4)), reverse=True):
        if sum(r == row for r, _ in kept) < 2 and sum(c == column for _, c in kept) < 2:
            kept.append((row, column))
    return kept


PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def patterns():
    """All with two in each row and column; in order of the elements that are left out, row by row, those come first that keep the later ones."""
    found = []
    for rows in itertools.product(PAIRS, repeat=4):
        if all(sum(column in row for row in rows) == 2 for column in range(4)):
            found.append([(r, c) for r, row in enumerate(rows) for c in row])
    return sorted(found, key=lambda kept: [(r, c) in kept for r in range(4) for c in range(4)])


PATTERNS = patterns()


def kept_by_sum(block):
    return max(PATTERNS, key=lambda kept: math.fsum(block[row][column] for row, column in kept))


KEPT = {"mask_2d_greedy": kept_by_size, "mask_2d_best": kept_by_sum}


def mask_of_fours(values, dims):
    """Along the grouped dim, in fours: 0 for the two of least size, of equal ones the first."""
    mask = [1.0] * len(values)
    inner = 1
    for extent in dims[grouped(dims) + 1 :]:
        inner *= extent
    extent = dims[grouped(dims)]
    for line in range(len(values) // extent):
        start = line // inner * inner * extent + line % inner
        for first in range(0, extent, 4):
            places = [start + i * inner for i in range(first, min(first + 4, extent))]
            sizes = sorted((abs(values[p]), i, p) for i, p in enumerate(places))
            # What is missing in the last group is zero, and behind what is there.
            missing = [(0.0, i, None) for i in range(len(places), 4)]
            for _, _, place in sorted(sizes + missing, key=lambda entry: entry[:2])[:2]:
                if place is not None:
                    mask[place] = 0.0
    return mask


def single(value):
    return struct.unpack("<f", struct.pack("<f", value))[0]


class Case:
    def __init__(self, tools, corpus, case, work, flags):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.loss, self.params = self.description["loss"], self.description["params"]
        self.flags, self.plain = list(flags), self.without(flags)
        self.asp, self.lookahead = "--asp" in flags, "--lookahead" in flags
        self.every = int(self.option("--lookahead-k", "5"))
        self.alpha = single(float(self.option("--lookahead-alpha", "0.5")))
        self.algorithm = self.option("--asp-mask-algo", "mask_1d")
        self.excluded = [part for part in self.option("--asp-excluded-layers", "").split(",") if part]

    def option(self, name, default):
        return self.flags[self.flags.index(name) + 1] if name in self.flags else default

    @staticmethod
    def without(flags):
        kept, skip = [], False
        for flag in flags:
            if flag.startswith(("--asp", "--lookahead")):
                skip = flag not in ("--asp", "--lookahead")
            elif skip:
                skip = False
            else:
                kept.append(flag)
        return kept

    def transpile(self, name, ranks, flags):
        job = os.path.join(self.work, name)
        program = [os.path.join(self.folder, n + ".pdmodel") for n in ("main", "startup")]
        flags = list(flags)
        for flag, words in OF_SEVERAL.items() if ranks == 1 else ():
            if flag in flags:
                at = flags.index(flag)
                del flags[at : at + words]
        call(self.tool, "transpile", program[0], "--startup", program[1], "-o", job, "--trainers", str(ranks), *flags)
        return job

    def run(self, job, saved, init, feeds, steps, rates):
        report = saved + ".json"
        words = ["--feeds", feeds, "--steps", str(steps), "--save", saved, "--report", report]
        if init:
            words += ["--init", init]
        if rates:
            words += ["--per-step", self.description["lr_var"] + "=" + ",".join(map(str, rates))]
        call(self.tool, "run", job, *words, "--cache", os.path.join(self.work, "cache"))
        with open(report) as f:
            return [scalar(value) for value in json.load(f)["fetch"][self.loss]]

    def share(self, step):
        folder = os.path.join(self.work, "share")
        shutil.rmtree(folder, ignore_errors=True)
        os.mkdir(folder)
        for feed in self.description["feeds"]:
            array = Array(os.path.join(self.folder, feed["file"]))
            array.write_share(os.path.join(folder, feed["name"] + ".npy"), step, 0, 1)
        return folder


def pruned_of(case, folder):
    """{weight: mask} of the values in a folder."""
    masks = {}
    for name in case.params:
        path = os.path.join(folder, name)
        if os.path.exists(path) and is_pruned(name, dims_of(path), case.excluded):
            masks[name] = mask_of(Record(path).values, dims_of(path), case.algorithm)
    if not masks:
        fail("no weight is pruned")
    return masks


def prune(folder, masks):
    for name, mask in masks.items():
        record = Record(os.path.join(folder, name))
        record.write(os.path.join(folder, name), [v * m for v, m in zip(record.values, mask)])


def by_hand(case, init, masks, steps, ranks):
    """Losses, the folder of the variables after the last step, slow weights."""
    job = case.transpile("plain%d" % ranks, ranks, case.plain)
    state, slow, losses, updates = os.path.join(case.work, "state%d" % ranks), {}, [], 0
    shutil.copytree(init, state)
    rates = case.description.get("lr_per_step")
    for step in range(steps):
        saved = os.path.join(case.work, "saved%d_%d" % (ranks, step))
        rate = [rates[step]] if rates else None
        losses += case.run(job, saved, state, case.share(step), 1, rate)
        before, after = (
            {n: Record(os.path.join(folder, n)) for n in case.params} for folder in (state, saved)
        )
        if any(before[n].values != after[n].values for n in case.params):
            updates += 1
            prune(saved, masks)
            if case.lookahead:
                move(case, saved, slow, updates)
        shutil.rmtree(state)
        os.rename(saved, state)
    print("%d steps, %d updates by hand" % (steps, updates))
    return losses, state, slow


def move(case, folder, slow, number):
    for name in case.params:
        record = Record(os.path.join(folder, name))
        if number == 1:
            slow[name] = list(record.values)
        elif number % case.every == 0:
            rest = single(1.0 - case.alpha)
            slow[name] = [
                single(case.alpha * fast + rest * old) for fast, old in zip(record.values, slow[name])
            ]
            record.write(os.path.join(folder, name), slow[name])


def compare(what, found, expected, noise):
    for i, (a, b) in enumerate(zip(found, expected)):
        if not noise & {"*", str(i)} and not abs(a - b) <= ABSOLUTE + RELATIVE * abs(b):
            fail("%s[%d] is %.9g, by hand %.9g" % (what, i, a, b))


def start_up(case, ranks):
    """Masks are those of the weights that start-up makes, and it leaves these pruned."""
    folders = []
    for name, flags in (("raw", case.plain), ("pruned", case.flags)):
        job = case.transpile("%s%d" % (name, ranks), ranks, flags)
        folders.append(os.path.join(case.work, "%s%d.saved" % (name, ranks)))
        rates = [0.0] * case.description["steps"]
        case.run(job, folders[-1], None, os.path.join(case.folder, "feeds"), 1, rates[:1])
    masks = pruned_of(case, folders[0])
    for name, mask in masks.items():
        made, raw = Record(os.path.join(folders[1], name)).values, Record(os.path.join(folders[0], name)).values
        if list(Record(os.path.join(folders[1], name + ".asp_mask")).values) != mask:
            fail("the mask of %s is not that of what start-up makes" % name)
        if list(made) != [value * m for value, m in zip(raw, mask)]:
            fail("start-up does not prune %s" % name)


def main(tools, corpus, name, ranks, steps, *flags):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, flags)
        init = os.path.join(work, "init")
        shutil.copytree(os.path.join(case.folder, "init"), init)
        masks = pruned_of(case, init) if case.asp else {}
        prune(init, masks)
        given = os.path.join(work, "given")
        shutil.copytree(init, given)
        for weight, mask in masks.items():
            Record(os.path.join(init, weight)).write(os.path.join(given, weight + ".asp_mask"), mask)
        hand, noise = {}, read_noise(corpus, name)
        for count in map(int, ranks.split(",")):
            # Where gradients travel rounded, ranks make a difference that is not of interest here.
            alone = count if {"--amp", "--fp16-allreduce"} & set(flags) else 1
            if alone not in hand:
                hand[alone] = by_hand(case, init, masks, int(steps), alone)
            losses, state, slow = hand[alone]
            what = "%s on %d ranks" % (name, count)
            job = case.transpile("job%d" % count, count, case.flags)
            check_verified(case.tool, job)
            # Of parts nothing can be exported, and no selection of slow weights by servers.
            selected = "--lookahead" in flags and "--mode" in flags
            if count == 1 or not ("--sharding" in flags or selected):
                call(case.tool, "export", job, "-o", job + ".programs")
            saved, feeds = os.path.join(work, "job%d.saved" % count), os.path.join(case.folder, "feeds")
            rates = case.description.get("lr_per_step")
            # On several ranks masks are not given, nor are weights pruned: both are made of the weights that are given.
            begin = given if count == 1 else os.path.join(case.folder, "init")
            found = case.run(job, saved, begin, feeds, int(steps), rates[: int(steps)] if rates else None)
            worst = compare_losses(what, found, losses)
            for parameter in case.params:
                values = Record(os.path.join(saved, parameter)).values
                own = noise.get(parameter, set())
                compare("%s: %s" % (what, parameter), values, Record(os.path.join(state, parameter)).values, own)
                if parameter in slow:
                    found = Record(os.path.join(saved, parameter + "@SLOW")).values
                    compare("%s: %s@SLOW" % (what, parameter), found, slow[parameter], own)
                if any(v != 0 and m == 0 for v, m in zip(values, masks.get(parameter, values))):
                    fail("%s: %s is not pruned" % (what, parameter))
            if case.asp and case.description.get("lr_var"):
                start_up(case, count)
            print("%s: largest difference of a loss %.2e, %d weights pruned, %d slow" % (what, worst, len(masks), len(slow)))


if __name__ == "__main__":
    main(*sys.argv[1:])
