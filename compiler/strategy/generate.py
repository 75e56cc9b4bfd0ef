"""Writes what names the fields of a request, from the records of fields.td as JSON. Runs in the build only.

generate.py struct|rows|table < RECORDS of fields.td
generate.py entries|olds|enums|file_table < RECORDS of file.td
generate.py features|pairs|pair_table < RECORDS of pairs.td
"""

import json
import sys


def instances(records, name):
    """Records of a class, in the order of their file."""
    found = [records[one] for one in records["!instanceof"].get(name, [])]
    return sorted(found, key=lambda r: (r["!locs"][-1].rsplit(":", 1)[0], line(r)))


def line(record):
    return int(record["!locs"][-1].rsplit(":", 1)[1])


def quoted(text):
    return json.dumps(text)


def struct(records):
    for field in instances(records, "Field"):
        initial = " = " + field["initial"] if field["initial"] else ""
        yield "  %s %s%s;  // %s" % (field["cpp"], field["name"], initial, field["meaning"])


def rows(records):
    for field in instances(records, "Field"):
        least, most = field["range"] or (0, 0)
        texts = [field[key] for key in ("name", "flag", "meaning", "remedy", "relevant")]
        lists = [field["words"], field["passes"]]
        yield "    {%s, &Strategy::%s, %s, {%s}, {%s}, %d, %d}," % (
            ", ".join(quoted(text) for text in texts),
            field["name"],
            "true" if field["range"] else "false",
            ", ".join(quoted(word) for word in lists[0]),
            ", ".join(quoted(word) for word in lists[1]),
            least,
            most,
        )


def as_table(heads, lines):
    yield "| " + " | ".join(heads) + " |"
    yield "| --- " * len(heads) + "|"
    for cells in lines:
        yield "| " + " | ".join(cells) + " |"


def field_cells(field):
    values = {"Bool": "true, false", "Words": "any number"}.get(field["kind"], "")
    values = values or ", ".join(field["words"])
    if not values:
        values = "%d … %d" % tuple(field["range"]) if field["range"] else "any"
    return [
        "`%s`" % field["name"],
        field["initial"].strip('"') or "none",
        values,
        field["versions"] or "–",
        "`--%s`" % field["flag"],
        ", ".join("`%s`" % name for name in field["passes"]) or "–",
        field["meaning"] + ("; where %s" % field["relevant"] if field["relevant"] else ""),
    ]


def table(records):
    heads = ["field", "default", "values", "versions", "flag", "option of", "meaning"]
    return as_table(heads, map(field_cells, instances(records, "Field")))


def parts(records, message, key):
    return [records[each["def"]] for each in message[key]]


def split_type(entry):
    words = entry["type"].split()
    return len(words) == 2, words[-1]


def entries(records):
    for message in instances(records, "Message"):
        for entry in parts(records, message, "entries"):
            repeated, kind = split_type(entry)
            yield "    {%s, %d, %s, %s, %s, %s, Fate::%s, %s, %s, %s}," % (
                quoted(message["name"]),
                entry["number"],
                "true" if repeated else "false",
                quoted(kind),
                quoted(entry["name"]),
                quoted(entry["initial"]),
                entry["fate"],
                quoted(entry["is"]),
                quoted(entry["why"]),
                quoted(entry["on"]),
            )


def olds(records):
    for message in instances(records, "Message"):
        for old in parts(records, message, "old"):
            texts = [message["name"]] + [old[k] for k in ("name", "type", "to", "sense", "why")]
            yield "    {%s}," % ", ".join(map(quoted, texts))


def enums(records):
    for enum in instances(records, "Enum"):
        names = ", ".join(map(quoted, enum["names"]))
        yield "    {%s, %d, {%s}}," % (quoted(enum["name"]), enum["first"], names)


def becomes(entry):
    if entry["fate"] == "Field":
        return "`%s`" % entry["is"]
    if entry["fate"] == "Refused":
        return "refused: asks for " + entry["why"]
    if entry["fate"] == "Hint":
        return "accepted, no effect: " + entry["why"]
    if entry["fate"] == "Told":
        return entry["why"]
    return "counts where `%s` is on" % entry["on"] if entry["on"] else ""


def file_table(records):
    for message in instances(records, "Message"):
        yield "### %s" % message["name"]
        yield ""
        cells = [
            [
                str(entry["number"]),
                "`%s`" % entry["name"],
                entry["type"],
                entry["initial"] or "–",
                becomes(entry),
            ]
            for entry in parts(records, message, "entries")
        ]
        for old in parts(records, message, "old"):
            sense = {"same": "", "inverted": "not "}[old["sense"]]
            meaning = "older spelling of %s`%s`: %s" % (sense, old["to"], old["why"])
            cells.append(["–", "`%s`" % old["name"], old["type"], "–", meaning])
        yield from as_table(["number", "entry", "type", "default", "becomes"], cells)
        yield ""


def features(records):
    for feature in instances(records, "Feature"):
        yield "    {%s}," % ", ".join(quoted(feature[k]) for k in ("name", "meaning", "on"))


def known_pairs(records):
    """{(one, other): pair}, both in the order of the features; fails where a pair is missing or said twice."""
    order = instances(records, "Feature")
    place = {feature["!name"]: i for i, feature in enumerate(order)}
    found = {}
    for pair in instances(records, "Pair"):
        for other in pair["others"]:
            key = tuple(sorted((pair["one"]["def"], other["def"]), key=place.get))
            if key in found:
                sys.exit("pairs.td speaks twice of " + " and ".join(key))
            found[key] = pair
    there = [feature["!name"] for feature in order if feature["on"]]
    for i, one in enumerate(there):
        for other in there[i + 1 :]:
            if (one, other) not in found:
                sys.exit("pairs.td does not say whether %s and %s go together" % (one, other))
    return order, place, found


def pairs(records):
    _, place, found = known_pairs(records)
    for (one, other), pair in sorted(
        found.items(), key=lambda item: [place[name] for name in item[0]]
    ):
        names = [quoted(records[name]["name"]) for name in (one, other)]
        verdict = "Verdict::" + pair["verdict"].capitalize()
        yield "    {%s, %s, %s, %s}," % (
            ", ".join(names),
            verdict,
            quoted(pair["why"]),
            quoted(pair["shown"]),
        )


MARKS = {"composes": "✓", "conflicts": "✗", "later": "…"}


def pair_table(records):
    order, place, found = known_pairs(records)
    yield from as_table(
        ["", "feature", "there is a pass"] + [str(i + 1) for i in range(len(order))],
        [
            [str(i + 1), "`%s`" % row["name"], "yes" if row["on"] else "not yet"]
            + [
                ""
                if i == k
                else MARKS[
                    found.get((order[min(i, k)]["!name"], order[max(i, k)]["!name"]), LATER)[
                        "verdict"
                    ]
                ]
                for k in range(len(order))
            ]
            for i, row in enumerate(order)
        ],
    )
    yield ""
    cells = []
    for (one, other), pair in sorted(
        found.items(), key=lambda item: [place[name] for name in item[0]]
    ):
        names = ["`%s`" % records[name]["name"] for name in (one, other)]
        shown = "`//test/e2e:%s`" % pair["shown"] if pair["shown"] else "–"
        cells.append(names + [pair["verdict"], pair["why"] or "in this order", shown])
    yield from as_table(["first", "then", "", "why", "shown by"], cells)


LATER = {"verdict": "later"}

if __name__ == "__main__":
    print("\n".join(globals()[sys.argv[1]](json.load(sys.stdin))))
