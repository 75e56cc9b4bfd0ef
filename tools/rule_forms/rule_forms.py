"""What the functions of lowering rules make of an op, read off their text, as rows for
compiler/lower/native.cc:

  rule_forms.py compiler/lower/rules/*.cc

A function makes the library calls that it, or a function or class of its file that it uses, names
in quotation marks, a formula where one of them asks for one, a view likewise; programs of 1.x and
2.x differ where one asks for the version.
"""

import re
import sys

FUNCTION = re.compile(
    r"^[A-Za-z][\w:<>*& ]* \**(\w+)\([^;{}]*\) (?:\{ ([^\n]*) \}$|\{\n(.*?)^\})", re.M | re.S
)
CLASS = re.compile(r"^(?:class|struct) (\w+)[^;{]*\{\n(.*?)^\};", re.M | re.S)
ROW = re.compile(r'(?:\b\w+Rule\(|\{)\s*"([a-z]\w*)",')
WITH_FUNCTION = re.compile(r"(function|choice|kinds|lower)Rule\(")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
COMMENT = re.compile(r"^ *//.*$", re.M)
WORDS = [("formula", re.compile(r"\bop_?\.formula\(|\bapplyFormula\(")),
         ("view", re.compile(r"\bop_?\.view\(")),
         ("@version", re.compile(r"\bop_?\.version\(\)"))]


def words_of(body):
    calls = re.findall(r'"(dt_\w+)"', body)
    code = STRING.sub('""', body)
    return list(dict.fromkeys(calls)) + [word for word, sign in WORDS if sign.search(code)]


def rows_of(text):
    """The op type of every row with a function, and what that makes."""
    before, _, table = text.partition(" kRules[] = {\n")
    bodies = {name: short or long for name, short, long in FUNCTION.findall(before)}
    bodies.update(CLASS.findall(before))
    names = {name: set(re.findall(r"\w+", STRING.sub("", body))) for name, body in bodies.items()}

    def made_by(function, seen):
        seen.add(function)
        words = words_of(bodies[function])
        for other in bodies:
            if other in names[function] and other not in seen:
                words += [word for word in made_by(other, seen) if word not in words]
        return words

    table = table.partition("\n};")[0]
    starts = list(ROW.finditer(table))
    for row, after in zip(starts, starts[1:] + [None]):
        code = STRING.sub("", table[row.start() : after.start() if after else None])
        found = [name for name in re.findall(r"\w+", code) if name in bodies]
        if not found and WITH_FUNCTION.match(code):
            sys.exit("the row of %s: no function of its file" % row.group(1))
        for function in found:
            yield row.group(1), made_by(function, set())


def main(paths):
    print("// Made by tools/rule_forms.")
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = COMMENT.sub("", file.read())
        for op_type, words in rows_of(text):
            print('{"%s", "%s"},' % (op_type, ",".join(words)))


if __name__ == "__main__":
    main(sys.argv[1:])
