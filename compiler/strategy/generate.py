"""Writes what names the fields of a request, from the records of fields.td as JSON. Runs in the build only.

generate.py struct|rows|table < RECORDS
"""

import json
import sys


def fields(records):
    """In the order of the file."""
    names = records["!instanceof"]["Field"]
    return [
        records[name]
        for name in sorted(names, key=lambda n: int(records[n]["!locs"][-1].rsplit(":", 1)[1]))
    ]


def quoted(text):
    return json.dumps(text)


def struct(field):
    initial = " = " + field["initial"] if field["initial"] else ""
    return "  %s %s%s;  // %s" % (field["cpp"], field["name"], initial, field["meaning"])


def rows(field):
    least, most = field["range"] or (0, 0)
    texts = [field[key] for key in ("name", "flag", "meaning", "remedy", "relevant")]
    lists = [field["words"], field["passes"]]
    return "    {%s, &Strategy::%s, %s, {%s}, {%s}, %d, %d}," % (
        ", ".join(quoted(text) for text in texts),
        field["name"],
        "true" if field["range"] else "false",
        ", ".join(quoted(word) for word in lists[0]),
        ", ".join(quoted(word) for word in lists[1]),
        least,
        most,
    )


def table(field):
    values = {"Bool": "true, false", "Words": "any number"}.get(field["kind"], "")
    values = values or ", ".join(field["words"]) or "%d … %d" % tuple(field["range"])
    cells = [
        "`%s`" % field["name"],
        ".".join(str(number) for number in field["number"]) or "–",
        field["initial"].strip('"') or "none",
        values,
        field["versions"] or "–",
        "`--%s`" % field["flag"],
        ", ".join("`%s`" % name for name in field["passes"]) or "–",
        field["meaning"] + ("; where %s" % field["relevant"] if field["relevant"] else ""),
    ]
    return "| " + " | ".join(cells) + " |"


HEADS = {
    "struct": [],
    "rows": [],
    "table": [
        "| field | number | default | values | versions | flag | option of | meaning |",
        "| --- " * 8 + "|",
    ],
}

if __name__ == "__main__":
    kind = sys.argv[1]
    lines = HEADS[kind] + [globals()[kind](field) for field in fields(json.load(sys.stdin))]
    print("\n".join(lines))
