"""Edits of what a line means: types, relations, names, declarations; of role and reference alike."""

import re

from editor import Editing, TYPES
from texts import bare, indent, is_number, is_value, operation, other_number, put, results, tokens


class Meanings(Editing):
    def selector(self):
        """Ranks: <pp = 0> is <pp = 1>, in a line, or in a block and all types of it."""
        pattern = r"\b(\w+) = (\d+|\[[^\]]*\])(?=[>,])"

        def test(i):
            return [
                m
                for m in re.finditer(pattern, self.t.lines[i])
                if "<" in self.t.lines[i][: m.start()]
                and "#dist.rel" not in self.t.lines[i][: m.start()][-200:]
            ]

        i, found = self.pick(test)
        if i is None:
            return None
        m = self.rng.choice(found)
        if not m.group(2).isdigit():
            return None
        old, new = m.group(0), "%s = %d" % (
            m.group(1),
            1 - int(m.group(2)) if int(m.group(2)) < 2 else 0,
        )
        if self.rng.randrange(2):
            line = self.t.lines[i]
            return self.replaced({i: line[: m.start()] + new + line[m.end() :]})
        end = self.t.block_end(i)
        lines = {j: self.t.lines[j].replace(old, new) for j in range(i, end + 1)}
        if end > i:
            return self.replaced(lines)
        return self.replaced(
            {j: self.t.lines[j].replace(old, new) for j in self.t.ops if abs(j - i) < 40}
        )

    def relation(self):
        """What a declaration says of ranks: R, S(0), P(sum), X(tag), a scale, an axis."""
        i, _ = self.pick(lambda i: "#dist.rel<" in self.t.lines[i])
        if i is None:
            return None
        line = self.t.lines[i]
        m = re.search(r"#dist\.rel<((?:[^<>]|<[^<>]*>)*)>", line)
        axes = sorted(set(re.findall(r"\b(\w+) = \d+", self.t.lines[self.t.head[0]])))
        body = m.group(1)
        axis = self.rng.choice(axes or ["dp"])
        states = [
            "R",
            "S(0)",
            "S(1)",
            "P(sum)",
            "P(max)",
            'X("local_sgd")',
            'X("parts")',
            'X("batch_statistics")',
            "S(flat)",
        ]
        choices = [
            body.split(",")[0] + ", %s: %s" % (axis, self.rng.choice(states)),
            body + ", scale = 2" if "scale" not in body else body.split(", scale")[0],
            re.sub(
                r": [RSPX](\([^)]*\))?", lambda _: ": " + self.rng.choice(states), body, count=1
            ),
            body.split(",")[0],
        ]
        new = self.rng.choice([c for c in choices if c != body] or [None])
        if new is None:
            return None
        return self.replaced({i: line[: m.start(1)] + new + line[m.end(1) :]})

    def type_of_line(self):
        """An element type or an extent is another one, in one place or in all of a line."""
        i, found = self.pick(lambda i: list(re.finditer(r"tensor<([^<>]*)>", self.t.lines[i])))
        if i is None:
            return None
        m = self.rng.choice(found)
        parts = m.group(1).split("x")
        k = self.rng.randrange(len(parts))
        if k == len(parts) - 1:
            parts[k] = self.rng.choice([t for t in TYPES if t != parts[k]])
        elif parts[k] == "?":
            parts[k] = self.rng.choice(["1", "4", "16"])
        else:
            parts[k] = self.rng.choice(
                ["?", str(int(parts[k]) + 1), str(max(1, int(parts[k]) // 2)), "1"]
            )
        new = "tensor<" + "x".join(parts) + ">"
        if self.rng.randrange(2):
            return self.replaced(
                {i: self.t.lines[i][: m.start()] + new + self.t.lines[i][m.end() :]}
            )
        return self.replaced({i: self.t.lines[i].replace(m.group(0), new)})

    def type_of_value(self):
        """An inserted op gives another type, and who takes it says so."""
        i, made = self.pick(
            lambda i: (
                results(self.t.lines[i])
                if len(results(self.t.lines[i])) == 1 and self.t.block_end(i) == i
                else None
            )
        )
        if i is None:
            return None
        name, kind = made[0]
        m = re.search(r"tensor<([^<>]*)>", kind)
        if not m:
            return None
        parts = m.group(1).split("x")
        if self.rng.randrange(2) or len(parts) == 1:
            parts[-1] = self.rng.choice([t for t in TYPES if t != parts[-1]])
        else:
            k = self.rng.randrange(len(parts) - 1)
            parts[k] = self.rng.choice(["?", "1", "3"])
        new = "tensor<" + "x".join(parts) + ">"
        line = self.t.lines[i]
        changes = {
            i: line[: line.rfind(m.group(0))]
            + line[line.rfind(m.group(0)) :].replace(m.group(0), new)
        }
        for j in range(i + 1, len(self.t.lines)):
            if indent(self.t.lines[j]) < indent(line):
                break
            if re.search(re.escape(name) + r"(?![\w#:])", self.t.lines[j]):
                used = self.t.lines[j]
                at = used.rfind(" : ")
                changes[j] = used[:at] + used[at:].replace(m.group(0), new)
        return self.replaced(changes)

    def result_name(self):
        """A value has another one's name."""
        i, found = self.pick(lambda i: list(re.finditer(r'(?<=\()"[^"]+"(?=\))', self.t.lines[i])))
        if i is None:
            return None
        pool = sorted(
            {
                m.group(0)
                for j in self.t.ops
                for m in re.finditer(r'(?<=\()"[^"]+"(?=\))', self.t.lines[j])
            }
        )
        m = self.rng.choice(found)
        line = self.t.lines[i]
        return self.replaced({i: line[: m.start()] + self.rng.choice(pool) + line[m.end() :]})

    def declaration(self):
        declared = [i for i in self.t.editable if self.t.lines[i].lstrip().startswith("pd.decl")]
        if not declared:
            return None
        i = self.rng.choice(declared)
        way = self.rng.randrange(4)
        if way == 0:
            return self.replaced({i: None})
        if way == 1:
            return self.replaced(
                {i: re.sub(r'"[^"]+"', lambda m: m.group(0)[:-1] + '.x"', self.t.lines[i], count=1)}
            )
        found = tokens(
            self.t.lines[i], lambda t: is_number(t) or t in ("true", "false", "float32", "int64")
        )
        if not found:
            return None
        token = self.rng.choice(found)
        text = token.group(0)
        new = {"true": "false", "false": "true", "float32": "float64", "int64": "int32"}.get(
            text
        ) or other_number(self.rng, text)
        return self.replaced({i: put(self.t.lines[i], token, new)})

    def op_of_other_kind(self):
        """An inserted op is another one of its form: scale, assign, sums, casts, reductions."""
        families = [
            ["pd.elementwise_" + what for what in ("add", "sub", "mul", "max", "div")],
            ["pd.sqrt", "pd.square", "pd.abs", "pd.relu", "pd.tanh", "pd.exp"],
            ["pd.logical_and", "pd.logical_or", "pd.logical_xor"],
            ["pd.less_than", "pd.less_equal", "pd.greater_than", "pd.greater_equal"],
            ["pd.equal", "pd.not_equal"],
            ["pd.reduce_sum", "pd.reduce_mean", "pd.reduce_max", "pd.reduce_prod"],
            ["pd.assign", "pd.scale", "pd.sign"],
            ["pd.isfinite_v2", "pd.isnan_v2", "pd.isinf_v2"],
            ["pd.reduce_any", "pd.reduce_all"],
            ["dist.all_reduce", "dist.reduce_scatter", "dist.all_gather"],
            ["dist.push", "dist.pull"],
        ]  # fmt: skip
        wanted = {kind: family for family in families for kind in family}
        i, _ = self.pick(lambda i: operation(self.t.lines[i]) in wanted)
        if i is None:
            return None
        kind = operation(self.t.lines[i])
        new = self.rng.choice([k for k in wanted[kind] if k != kind])
        return self.replaced({i: self.t.lines[i].replace(kind + " ", new + " ", 1)})

    def alike_number(self):
        """A number of an op, in @reference too."""
        i, found = self.pick(
            lambda i: (
                tokens(self.t.lines[i], is_number)
                if len(self.t.reference.get(bare(self.t.lines[i]), [])) == 1
                else None
            )
        )
        if i is None:
            return None
        twin = self.t.reference[bare(self.t.lines[i])][0]
        token = self.rng.choice(found)
        if "dist.src" in self.t.lines[i][max(0, token.start() - 12) : token.start()]:
            return None
        n = found.index(token)
        mine = [
            t
            for t in found
            if "dist.src" not in self.t.lines[i][max(0, t.start() - 12) : t.start()]
        ]
        theirs = tokens(self.t.lines[twin], is_number)
        n = mine.index(token)
        if n >= len(theirs) or theirs[n].group(0) != token.group(0):
            return None
        new = other_number(self.rng, token.group(0))
        return self.replaced(
            {i: put(self.t.lines[i], token, new), twin: put(self.t.lines[twin], theirs[n], new)}
        )

    def alike_operands_swapped(self):
        """Two operands change places, in @reference too."""
        i, twin = self.pick(
            lambda i: (
                self.t.reference.get(bare(self.t.lines[i]))
                if len(self.t.reference.get(bare(self.t.lines[i]), [])) == 1
                else None
            )
        )
        if i is None:
            return None
        changes = {}
        for j in (i, twin[0]):
            found = tokens(self.t.lines[j], is_value)
            own = {name.split("#")[0] for name, _ in results(self.t.lines[j])}
            found = [t for t in found if t.group(0) not in own]
            if len(found) < 2:
                return None
            a, b = found[0], found[1]
            changes[j] = put(put(self.t.lines[j], b, a.group(0)), a, b.group(0))
        return self.replaced(changes)

    def alike_line_dropped(self):
        """An op without results is left out, in @reference too."""
        i, twin = self.pick(
            lambda i: (
                self.t.reference.get(bare(self.t.lines[i]))
                if " = " not in self.t.lines[i].split("{")[0]
                and len(self.t.reference.get(bare(self.t.lines[i]), [])) == 1
                else None
            )
        )
        if i is None:
            return None
        return self.replaced({i: None, twin[0]: None})

    def alike_moved(self):
        """Two ops next to each other change places, in @reference too."""
        i, twin = self.pick(
            lambda i: (
                self.t.reference.get(bare(self.t.lines[i]))
                if len(self.t.reference.get(bare(self.t.lines[i]), [])) == 1
                and self.t.block_end(i) == i
                else None
            )
        )
        if i is None:
            return None
        j = twin[0]
        up = self.rng.randrange(1, 6)
        if (
            i - up < 1
            or j - up < 1
            or indent(self.t.lines[i - up]) != indent(self.t.lines[i])
            or indent(self.t.lines[j - up]) != indent(self.t.lines[j])
        ):
            return None
        return self.replaced(
            {
                i: None,
                i - up: self.t.lines[i] + "\n" + self.t.lines[i - up],
                j: None,
                j - up: self.t.lines[j] + "\n" + self.t.lines[j - up],
            }
        )

    def reference_only(self):
        """A line of @reference alone is changed."""
        if not self.t.reference:
            return None
        lines = sorted(
            i
            for twins in self.t.reference.values()
            for i in twins
            if not self.t.lines[i].lstrip().startswith(("pd.decl", "}", "pd.program"))
        )
        i, found = self.with_tokens(is_number, 1, lines)
        if i is None:
            return None
        token = self.rng.choice(found)
        return self.replaced(
            {i: put(self.t.lines[i], token, other_number(self.rng, token.group(0)))}
        )

    def set_again(self):
        """A variable is set once more, to what another op gives."""
        i, found = self.pick(
            lambda i: re.match(r"\s*pd\.set (@\S+), (%\S+) : (\S+)", self.t.lines[i])
        )
        if i is None:
            return None
        pool = [n for n, k in self.t.visible(i) if k == found.group(3) and n != found.group(2)]
        if not pool:
            return None
        end = i
        while not self.t.lines[end].lstrip().startswith(("}", "dist.yield")):
            end = self.t.block_end(end) + 1
        line = " " * indent(self.t.lines[i]) + "pd.set %s, %s : %s" % (
            found.group(1),
            self.rng.choice(pool),
            found.group(3),
        )
        at = self.rng.choice([i, end])
        return self.replaced({at: line + "\n" + self.t.lines[at]})

    def stale_read(self):
        """A value is read from its variable, right before it is taken."""

        def test(i):
            found = [t for t in tokens(self.t.lines[i], is_value)]
            own = {name.split("#")[0] for name, _ in results(self.t.lines[i])}
            return [t for t in found if t.group(0) not in own]

        i, found = self.pick(test)
        if i is None:
            return None
        token = self.rng.choice(found)
        kind = dict(self.t.visible(i)).get(token.group(0))
        pool = sorted(
            {
                m.group(1)
                for j in self.t.ops
                for m in [re.search(r"pd\.(?:get|set) (@\S+?)[, ].*: (\S+)", self.t.lines[j])]
                if m and m.group(2) == kind
            }
        )
        if not pool:
            return None
        get = " " * indent(self.t.lines[i]) + "%%stale = pd.get %s : %s" % (
            self.rng.choice(pool),
            kind,
        )
        return self.replaced({i: get + "\n" + put(self.t.lines[i], token, "%stale")})

    def assumed(self):
        """The words of a job take for granted what no pass has shown."""
        i, _ = self.pick(
            lambda i: [(n, k) for n, k in results(self.t.lines[i]) if k.startswith("tensor")]
            and self.t.block_end(i) == i
        )
        if i is None:
            return None
        name, kind = self.rng.choice(
            [(n, k) for n, k in results(self.t.lines[i]) if k.startswith("tensor")]
        )
        src = re.search(r"dist\.src = (\d+)", self.t.lines[i])
        axes = sorted(set(re.findall(r"\b(\w+) = \d+", self.t.lines[self.t.head[0]])))
        relation = "#dist.rel<%s, %s: %s>" % (
            src.group(1) if src else '"x"',
            self.rng.choice(axes or ["dp"]),
            self.rng.choice(["R", "S(0)", "P(sum)"]),
        )
        line = " " * indent(
            self.t.lines[i]
        ) + '%%sure = dist.assume %s is %s because "it is" : %s' % (name, relation, kind)
        changes = {i: self.t.lines[i] + "\n" + line}
        for j in range(i + 1, len(self.t.lines)):
            if indent(self.t.lines[j]) < indent(self.t.lines[i]):
                break
            changes[j] = re.sub(re.escape(name) + r"(?![\w#:])", "%sure", self.t.lines[j])
        return self.replaced(changes)
