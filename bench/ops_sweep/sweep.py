#!/usr/bin/env python3
"""Sweeps the operators by table: programs of one operator, one thing changed at a time.

    sweep.py seeds  --ops ops.json --corpus DIR --work DIR [--random N]
    sweep.py make   --ops ops.json --work DIR [--types REGEX] [--most N] [--random N]
    sweep.py again  --work DIR
    sweep.py report --work DIR RESULTS [BEFORE]

To be run with paddlepaddle 2.6.2 over ops/p262 and with 1.8.5 over ops/fluid18, each in a folder
of its own. `ops.json` is what `dtranspile ops --format json` prints. `seeds` reads the operators of the
corpus's cases with the values of their inputs; `make` changes one thing about each, runs it in the
framework in a process of its own with a limit of time, and writes what the framework does as a case
(test/corpus/README.md) to WORK/cases; what the framework refuses is counted and dropped. With
`--random N` seeds and variants are drawn instead of taken in order, and variants in which two things
change are among them: another N is another campaign. `again` runs
the cases once more with fresh memory set to something and drops those whose results change: kernels that
leave results unset. Then `bazel run //bench/ops_sweep:compare -- WORK/cases > RESULTS` says what becomes
of each case here, and `report` prints the table.
"""

import argparse
import collections
import json
import os
import pickle
import random
import re
import select
import shutil
import signal
import sys
import time

import numpy as np

import variants
from files import write_tensor_file

LIMIT_SECONDS = 6
TOLERANCES = {"float16": (1e-2, 1e-3), "float64": (1e-7, 1e-8), "float32": (1e-4, 1e-5)}


def load_rows(path):
    with open(path) as f:
        return {row["type"]: row for row in json.load(f)}


def wanted_rows(rows):
    """What runs natively; gradients come with what they belong to (raw.py has those of gradients).
    What draws stays where nothing is drawn: `again` drops the others."""
    return {
        t: row
        for t, row in rows.items()
        if row["native"] and "host" not in row["effects"]
        and not t.endswith("_grad") and not row["runs_as"]["blocks"]
    }  # fmt: skip


def make_seeds(args):
    import framework
    from seeds import collect

    rows = load_rows(args.ops)
    wanted = wanted_rows(rows)
    rng = random.Random(args.random) if args.random else None
    found = collect(framework, args.corpus, rows, wanted.__contains__, args.per_type, rng)
    with open(os.path.join(args.work, "seeds.pkl"), "wb") as f:
        pickle.dump(found, f, protocol=4)
    print("%d seeds of %d types; none of: %s" % (
        sum(map(len, found.values())), len(found),
        " ".join(sorted(set(wanted) - set(found)))))  # fmt: skip


def words_of(seeds):
    """{attribute: strings} that any seed has."""
    found = collections.defaultdict(set)
    for of_type in seeds.values():
        for seed in of_type:
            for name, value in seed["attributes"].items():
                if isinstance(value, str):
                    found[name].add(value)
    return found


def chosen(seeds, row, words, most, rng=None):
    """At most `most` variants, taken in turn from every kind of change, so that none starves."""
    by_kind = collections.OrderedDict()
    for kind, label, seed in variants.variants(seeds, row, words):
        by_kind.setdefault(kind, []).append((kind, label, seed))
    if rng:
        by_kind["pair"] = list(variants.pairs(seeds, row, words, most // 2, rng))
    for kind, made in by_kind.items():  # spread over attributes and inputs, not their first ones
        if rng:
            rng.shuffle(made)
            continue
        stride = max(1, -(-len(made) // max(1, most)))
        by_kind[kind] = [v for start in range(stride) for v in made[start::stride]]
    result = []
    while len(result) < most and any(by_kind.values()):
        for made in by_kind.values():
            if made and len(result) < most:
                result.append(made.pop(0))
    return result


def tolerance(built, seed):
    kinds = {a.dtype.name for a, _ in built.values.values()}
    for dtype in ("float16", "float32", "float64"):
        if dtype in kinds or dtype == "float64":
            rtol, atol = TOLERANCES[dtype]
            if dtype == "float32":
                return max(rtol, seed["rtol"]), max(atol, seed["atol"])
            return rtol, atol
    return TOLERANCES["float32"]


def write_case(folder, framework, seed, kind, label, built, fetched):
    shutil.rmtree(folder, ignore_errors=True)
    for part in ("feeds", "golden", "init"):
        os.makedirs(os.path.join(folder, part))
    serialized = built.serialize()
    feeds, params = [], []
    for name, (array, lod) in sorted(built.values.items()):
        if name in built.persistable:
            write_tensor_file(os.path.join(folder, "init", name), array)
            params.append(name)
            continue
        base = os.path.join(folder, "feeds", name)
        if lod:
            np.save(base + ".step0.npy", array)
            with open(base + ".step0.lod.json", "w") as f:
                json.dump(lod, f)
        else:
            np.save(base + ".npy", array[None])
        feeds.append({"name": name, "dtype": array.dtype.name, "shape": list(array.shape),
                      "lod_level": len(lod)})  # fmt: skip
    for name, array, lod in fetched:
        np.save(os.path.join(folder, "golden", name + ".npy"), array)
        if lod:
            with open(os.path.join(folder, "golden", name + ".lod.json"), "w") as f:
                json.dump(lod, f)
    rtol, atol = tolerance(built, seed)
    info = {
        "name": os.path.basename(folder), "paddle_version": framework.VERSION,
        "api": ["sweep." + seed["type"]],
        "op_types": sorted({op["type"] for op in framework.operators(serialized)}),
        "feeds": feeds, "fetch": [n for n, _, _ in fetched], "params": params, "steps": 1,
        "rtol": rtol, "atol": atol,
        "tags": (["grad"] if any("@GRAD" in n for n, _, _ in fetched) else []),
        "sweep": {"type": seed["type"], "kind": kind, "variant": label, "seed": seed["case"]},
    }  # fmt: skip
    with open(os.path.join(folder, "main.pdmodel"), "wb") as f:
        f.write(serialized)
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump(info, f, indent=1)


def in_child(items, act, limit=LIMIT_SECONDS):
    """act(item) -> str for each in forked processes; a crash or too long a wait costs one item, not
    the rest. Yields (item, word)."""
    at = 0
    while at < len(items):
        read, write = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(read)
            devnull = os.open(os.devnull, os.O_WRONLY)
            os.dup2(devnull, 2)
            os.dup2(devnull, 1)
            for item in items[at:]:
                try:
                    word = act(item)
                except BaseException as error:
                    word = "refused " + type(error).__name__ + ": " + str(error)[:3000]
                os.write(write, (json.dumps(word) + "\n").encode())
            os._exit(0)
        os.close(write)
        pending, word = b"", None
        while at < len(items):
            ready, _, _ = select.select([read], [], [], limit)
            data = os.read(read, 65536) if ready else None
            if not data:
                word = "crashed" if data is not None else "too long"
                break
            pending += data
            while b"\n" in pending:
                line, pending = pending.split(b"\n", 1)
                yield items[at], json.loads(line.decode())
                at += 1
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(pid, 0)
        os.close(read)
        if word is not None and at < len(items):
            yield items[at], word
            at += 1


def make_cases(args):
    import framework

    rows = load_rows(args.ops)
    with open(os.path.join(args.work, "seeds.pkl"), "rb") as f:
        seeds = pickle.load(f)
    words, counts = words_of(seeds), {}
    log = open(os.path.join(args.work, "make.log"), "a")
    started = time.time()
    for t, of_type in sorted(seeds.items()):
        if t not in rows or not re.fullmatch(args.types, t):
            continue
        rng = random.Random("%d %s" % (args.random, t)) if args.random else None
        items = list(enumerate(chosen(of_type, rows[t], words, args.most, rng)))

        def act(item, t=t):
            number, (kind, label, seed) = item
            built, fetched = framework.execute(seed)
            if not fetched:
                return "refused: nothing to fetch"
            folder = os.path.join(args.work, "cases", "%s-%03d" % (t, number))
            write_case(folder, framework, seed, kind, label, built, fetched)
            return "made"

        count = collections.Counter()
        for item, word in in_child(items, act):
            count[word.split()[0].rstrip(":")] += 1
            if word != "made":
                folder = os.path.join(args.work, "cases", "%s-%03d" % (t, item[0]))
                shutil.rmtree(folder, ignore_errors=True)
                log.write("%s | %s | %s | %s\n" % (
                    t, item[1][1], item[1][0], " ".join(word.split())[-300:]))  # fmt: skip
        counts[t] = count
        log.flush()
        print("%5.0f s %s: %s" % (time.time() - started, t, dict(count)), flush=True)
    with open(os.path.join(args.work, "made.json"), "w") as f:
        json.dump(counts, f, indent=1)
    total = sum(map(collections.Counter, counts.values()), collections.Counter())
    print(dict(total))


def run_again(args):
    os.environ["FLAGS_init_allocated_mem"] = "1"
    import framework
    from files import read_tensor_file

    folder = os.path.join(args.work, "cases")

    def act(name):
        case = os.path.join(folder, name)
        with open(os.path.join(case, "case.json")) as f:
            info = json.load(f)
        from seeds import case_values

        values = case_values(case, info)
        with open(os.path.join(case, "main.pdmodel"), "rb") as f:
            program = framework.fluid.Program.parse_from_string(f.read())
        fetched = framework.run(program, values, list(values), info["fetch"])
        for fetch, value in zip(info["fetch"], fetched):
            golden = np.load(os.path.join(case, "golden", fetch + ".npy"))
            if value is None or value[0].shape != golden.shape or not np.allclose(
                value[0], golden, rtol=1e-5, atol=1e-7, equal_nan=True):  # fmt: skip
                return "changed: " + fetch
        return "same"

    count = collections.Counter()
    names = [n for n in sorted(os.listdir(folder)) if re.fullmatch(args.types, n[:-4])]
    for name, word in in_child(names, act):
        count[word.split()[0].rstrip(":")] += 1
        if word != "same":
            print(name, word[:200])
            shutil.rmtree(os.path.join(folder, name))
    print(dict(count))


def outcomes(work, path):
    """{type: {outcome: [(case, variant, message)]}} of what compare printed."""
    found = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(path) as f:
        for line in f:
            if not line.startswith("{"):
                continue
            result = json.loads(line)
            found[result["type"]][result["outcome"]].append(
                (result["case"], result["variant"], result["message"]))  # fmt: skip
    return found


ORDER = ("agree", "refused", "differ", "crash", "hang")


def report(args):
    now = outcomes(args.work, args.results[0])
    before = outcomes(args.work, args.results[1]) if len(args.results) > 1 else None

    def total(found):
        return {k: sum(len(of_type[k]) for of_type in found.values()) for k in ORDER}

    for t in sorted(now):
        bad = {k: len(now[t][k]) for k in ORDER if now[t][k]}
        if set(bad) - {"agree"}:
            print("%s: %s" % (t, bad))
            for k in ORDER[1:]:
                for case, variant, message in now[t][k]:
                    print("    %s %s | %s | %s" % (k, case, variant, " ".join(message.split())[:260]))
    if before:
        print("before:", total(before))
    print("%d types:" % len(now), total(now))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=("seeds", "make", "again", "report"))
    parser.add_argument("results", nargs="*")
    parser.add_argument("--ops")
    parser.add_argument("--corpus")
    parser.add_argument("--work", default=".")
    parser.add_argument("--types", default=".*")
    parser.add_argument("--per-type", type=int, default=4)
    parser.add_argument("--random", type=int, default=0, help="number of the draw; 0: none")
    parser.add_argument("--most", type=int, default=32, help="variants of a type")
    args = parser.parse_intermixed_args()
    {"seeds": make_seeds, "make": make_cases, "again": run_again, "report": report}[args.command](args)


if __name__ == "__main__":
    main()
