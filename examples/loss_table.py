"""Prints losses per step: what the framework recorded on one device, what reports of `dtranspile run` say, and the largest difference.

    loss_table.py GOLDEN.json REPORT.json...

Exit status 1 when a difference exceeds 1e-5 + 1e-4 * |loss|.
"""

import json
import sys


def main(golden_path, *report_paths):
    with open(golden_path) as f:
        golden = json.load(f)
    reports = []
    for path in report_paths:
        with open(path) as f:
            reports.append(json.load(f))
    name = next(iter(reports[0]["fetch"]))
    columns = [
        "%d rank%s" % (len(r["ranks"]), "" if len(r["ranks"]) == 1 else "s") for r in reports
    ]
    print(
        "%s\n%-5s %14s %s %12s"
        % (name, "step", "framework", " ".join("%14s" % c for c in columns), "difference")
    )
    good = True
    for step, expected in enumerate(golden[name]):
        expected = expected[0] if isinstance(expected, list) else expected
        found = [r["fetch"][name][step] for r in reports]
        found = [x[0] if isinstance(x, list) else x for x in found]
        worst = max(abs(x - expected) for x in found)
        good &= worst <= 1e-5 + 1e-4 * abs(expected)
        print(
            "%-5d %14.7f %s %12.2e" % (step, expected, " ".join("%14.7f" % x for x in found), worst)
        )
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
