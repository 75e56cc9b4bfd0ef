"""Edits of what an op takes, gives, and says of itself."""

import re

from editor import Editing
from texts import SAID, indent, is_value, masked, operation, put, results, tokens


class Operands(Editing):
    def operand(self):
        i, found = self.with_tokens(is_value)
        if i is None:
            return None
        own = {name for name, _ in results(self.t.lines[i])}
        found = [t for t in found if t.start() > self.t.lines[i].find("=") or not own]
        if not found:
            return None
        token = self.rng.choice(found)
        seen = self.t.visible(i)
        kind = dict(seen).get(token.group(0))
        pool = [n for n, k in seen if k == kind and n != token.group(0)]
        if not pool or kind is None:
            return None
        return self.replaced({i: put(self.t.lines[i], token, self.rng.choice(pool))})

    def operands_swapped(self):
        def test(i):
            own = {name.split("#")[0] for name, _ in results(self.t.lines[i])}
            found = [t for t in tokens(self.t.lines[i], is_value) if t.group(0) not in own]
            kinds = dict(self.t.visible(i))
            pairs = [
                (a, b)
                for n, a in enumerate(found)
                for b in found[n + 1 :]
                if a.group(0) != b.group(0)
                and kinds.get(a.group(0))
                and kinds.get(a.group(0)) == kinds.get(b.group(0))
            ]
            return pairs

        i, pairs = self.pick(test, depth=60)
        if i is None:
            return None
        a, b = self.rng.choice(pairs)
        return self.replaced({i: put(put(self.t.lines[i], b, a.group(0)), a, b.group(0))})

    def operand_of_twin(self):
        """Two ops of one kind exchange all that they say but their results."""
        i, _ = self.pick(lambda i: " = " in self.t.lines[i])
        if i is None:
            return None
        same = [
            j
            for j in self.t.by_kind()[operation(self.t.lines[i])]
            if j != i
            and indent(self.t.lines[j]) == indent(self.t.lines[i])
            and self.t.block_end(j) == j
            and self.t.block_end(i) == i
        ]
        if not same:
            return None
        j = self.rng.choice(same)
        a, b = self.t.lines[i].split(" = ", 1), self.t.lines[j].split(" = ", 1)
        if len(a) < 2 or len(b) < 2:
            return None
        return self.replaced({i: a[0] + " = " + b[1], j: b[0] + " = " + a[1]})

    def result_of_twin(self):
        """Two ops of one kind exchange the names of their values."""
        i, _ = self.pick(lambda i: results(self.t.lines[i]))
        if i is None:
            return None
        mine = results(self.t.lines[i])
        same = [
            j
            for j in self.t.ops
            if j != i and indent(self.t.lines[j]) == indent(self.t.lines[i]) and abs(j - i) < 12
            and [k for _, k in results(self.t.lines[j])] == [k for _, k in mine]
        ]  # fmt: skip
        if not same:
            return None
        j = self.rng.choice(same)
        a, b = self.t.lines[i].split(" = ", 1), self.t.lines[j].split(" = ", 1)
        return self.replaced({i: b[0] + " = " + a[1], j: a[0] + " = " + b[1]})

    def attribute_dropped(self):
        def test(i):
            spans = masked(self.t.lines[i])
            return [
                m
                for m in re.finditer(r"(?:, )?\b[\w.]+" + SAID, self.t.lines[i])
                if "{" in self.t.lines[i][: m.start() + 1]
                and not any(a <= m.start() + 2 < b for a, b in spans)
            ]

        i, found = self.pick(test)
        if i is None:
            return None
        m = self.rng.choice(found)
        line = self.t.lines[i][: m.start()] + self.t.lines[i][m.end() :]
        return self.replaced({i: line.replace("{, ", "{")})

    def attributes_of_twin(self):
        """The braces of another op of its kind, also of another job."""

        def braces(line):
            return [
                m
                for m in re.finditer(r"\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}", line)
                if m.group(0) != "{}"
            ]

        i, found = self.pick(lambda i: braces(self.t.lines[i]))
        if i is None:
            return None
        pool = []
        for text in [self.t] + self.others:
            for j in text.by_kind().get(operation(self.t.lines[i]), []):
                pool += [m.group(0) for m in braces(text.lines[j])]
        m = self.rng.choice(found)
        pool = sorted(set(pool) - {m.group(0)})
        if not pool:
            return None
        line = self.t.lines[i]
        return self.replaced({i: line[: m.start()] + self.rng.choice(pool) + line[m.end() :]})

    def attribute_given(self):
        """An attribute that another op, of any kind, says."""
        pool = sorted({
            m.group(0)
            for text in [self.t] + self.others
            for i in text.ops
            for m in re.finditer(r"\bdist\.\w+" + SAID, text.lines[i])
        })  # fmt: skip
        i, _ = self.pick(lambda i: "{" in self.t.lines[i].rstrip()[:-1] or " : " in self.t.lines[i])
        if i is None or not pool:
            return None
        line, said = self.t.lines[i], self.rng.choice(pool)
        if said.split(" ")[0] in line:
            return None
        if "with {" in line:
            return self.replaced({i: line.replace("with {", "with {" + said + ", ", 1)})
        if re.search(r"\{.*\} :", line):
            at = line.rfind("} :")
            return self.replaced(
                {
                    i: line[: at + 1]
                    + (" with {" + said + "}" if "pd." in line and " -> " in line else "")
                    + line[at + 1 :]
                }
            )
        if line.rstrip().endswith("}"):
            return self.replaced({i: line.rstrip()[:-1] + ", " + said + "}"})
        return self.replaced({i: line + " {" + said + "}"})
