#!/usr/bin/env python3
"""Copies mended variants into a corpus: what did not agree BEFORE and agrees now.

    pick.py --work WORK --to FOLDER [--most N] NOW BEFORE...

A few of each operator, of different kinds of change, the smallest first; FOLDER is that of the
release in an unpacked `ops`. Values at the edge of a type's range get the tag `edge`. Prints the
names.
"""

import argparse
import json
import os
import re
import shutil


def outcomes(paths):
    found = {}
    for path in paths:
        with open(path) as f:
            for line in f:
                if line.startswith("{"):
                    result = json.loads(line)
                    found[result["case"]] = result
    return found


def size(folder):
    return sum(os.path.getsize(os.path.join(at, name)) for at, _, names in os.walk(folder) for name in names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("now")
    parser.add_argument("before", nargs="+")
    parser.add_argument("--work", required=True)
    parser.add_argument("--to", required=True)
    parser.add_argument("--most", type=int, default=3)
    args = parser.parse_intermixed_args()
    now, before = outcomes([args.now]), outcomes(args.before)
    by_type = {}
    for name, result in now.items():
        folder = os.path.join(args.work, "cases", name)
        if result["outcome"] != "agree" or before.get(name, result)["outcome"] == "agree":
            continue
        if os.path.isdir(folder):
            by_type.setdefault(result["type"], []).append((size(folder), name, folder))
    for of_type in sorted(by_type):
        kinds = {}
        for _, name, folder in sorted(by_type[of_type]):
            with open(os.path.join(folder, "case.json")) as f:
                info = json.load(f)
            kinds.setdefault(info["sweep"]["kind"], []).append((name, folder, info))
        taken = [group[0] for group in kinds.values()][: args.most]
        taken += [g for group in kinds.values() for g in group[1:]][: max(0, args.most - len(taken))]
        for _, folder, info in taken:
            slug = re.sub(r"[^A-Za-z0-9]+", "_", info["sweep"]["variant"]).strip("_")
            info["name"] = "sweep.%s-%s" % (of_type, slug)
            if info["sweep"]["kind"] in ("value", "type"):
                info["tags"].append("edge")
            target = os.path.join(args.to, info["name"])
            shutil.rmtree(target, ignore_errors=True)
            shutil.copytree(folder, target)
            if not info["params"]:
                os.rmdir(os.path.join(target, "init"))
            with open(os.path.join(target, "case.json"), "w") as f:
                json.dump(info, f, indent=1)
            print(info["name"])


if __name__ == "__main__":
    main()
