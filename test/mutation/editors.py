"""Edits of the text of a job, by what a line looks like: the methods of Editor, by name in EDITS.
Each gives the lines of another text, or None where it finds nothing to edit."""

import collections
import re

from texts import (
    SAID,
    Text,
    bare,
    indent,
    is_number,
    is_symbol,
    is_value,
    is_word,
    masked,
    operation,
    other_number,
    put,
    results,
    tokens,
)

TYPES = ["f32", "f64", "f16", "bf16", "i32", "i64", "i1"]


class Editor:
    def __init__(self, text, others, rng):
        self.t, self.others, self.rng = text, others, rng

    def pick(self, test=None, among=None, depth=400):
        """A line for which `test` gives something, and what it gives."""
        kinds = list(self.t.by_kind(among).values())
        for _ in range(depth):
            i = self.rng.choice(self.rng.choice(kinds))
            found = test(i) if test else True
            if found:
                return i, found
        return None, None

    def with_tokens(self, what, least=1, among=None):
        def test(i):
            found = tokens(self.t.lines[i], what)
            return found if len(found) >= least else None

        return self.pick(test, among)

    def replaced(self, changes):
        lines = list(self.t.lines)
        for i, line in changes.items():
            lines[i] = line
        return [line for line in lines if line is not None]

    def alike(self, i, new):
        """The change of line i, in @reference too where the same op stands there once."""
        old = self.t.lines[i]
        twins = self.t.reference.get(bare(old), [])
        return twins[0] if len(twins) == 1 else None

    # --- edits: each gives lines, or None ---

    def number(self):
        i, found = self.with_tokens(is_number)
        if i is None:
            return None
        token = self.rng.choice(found)
        return self.replaced(
            {i: put(self.t.lines[i], token, other_number(self.rng, token.group(0)))}
        )

    def numbers_swapped(self):
        i, found = self.with_tokens(is_number, 2)
        if i is None:
            return None
        a, b = sorted(self.rng.sample(found, 2), key=lambda t: t.start())
        line = put(put(self.t.lines[i], b, a.group(0)), a, b.group(0))
        return self.replaced({i: line})

    def head_number(self):
        i, found = self.with_tokens(is_number, 1, self.t.head)
        if i is None:
            return None
        token = self.rng.choice(found)
        return self.replaced(
            {i: put(self.t.lines[i], token, other_number(self.rng, token.group(0)))}
        )

    def head_word(self):
        i, found = self.with_tokens(lambda t: is_word(t) or is_symbol(t), 1, self.t.head)
        if i is None:
            return None
        token = self.rng.choice(found)
        pool = [
            t.group(0)
            for j in self.t.head + [k for o in self.others for k in []]
            for t in tokens(self.t.lines[j], lambda t: is_word(t) or is_symbol(t))
            if t.group(0)[0] == token.group(0)[0] or is_word(t.group(0)) == is_word(token.group(0))
        ]
        return self.replaced({i: put(self.t.lines[i], token, self.rng.choice(pool))})

    def head_line(self):
        heads = [
            i
            for i in self.t.head
            if not self.t.lines[i].rstrip().endswith("{") and self.t.lines[i].strip() != "}"
        ]
        if not heads:
            return None
        i = self.rng.choice(heads)
        way = self.rng.randrange(3)
        if way == 0:
            return self.replaced({i: None})
        foreign = [
            line
            for other in self.others
            for line in (other.lines[j] for j in other.head)
            if operation(line) == operation(self.t.lines[i]) and line != self.t.lines[i]
        ]
        if not foreign:
            return None
        line = self.rng.choice(foreign)
        if line.rstrip().endswith("{"):
            return None
        return self.replaced({i: line if way == 1 else self.t.lines[i] + "\n" + line})

    def boolean(self):
        i, found = self.with_tokens(lambda t: t in ("true", "false"))
        if i is None:
            return None
        token = self.rng.choice(found)
        return self.replaced(
            {i: put(self.t.lines[i], token, "false" if token.group(0) == "true" else "true")}
        )

    def word(self):
        """A word is another one that stands in its place elsewhere, also in other jobs."""

        def test(i):
            found = tokens(self.t.lines[i], is_word)
            return found or None

        i, found = self.pick(test)
        if i is None:
            return None
        token = self.rng.choice(found)
        before = self.t.lines[i][: token.start()].split()[-2:]
        pool = set()
        for text in [self.t] + self.others:
            for j in text.ops:
                if operation(text.lines[j]) != operation(self.t.lines[i]):
                    continue
                for t in tokens(text.lines[j], is_word):
                    if text.lines[j][: t.start()].split()[-1:] == before[-1:]:
                        pool.add(t.group(0))
        pool.discard(token.group(0))
        if not pool:
            return None
        return self.replaced({i: put(self.t.lines[i], token, self.rng.choice(sorted(pool)))})

    def symbol(self):
        i, found = self.with_tokens(is_symbol)
        if i is None:
            return None
        token = self.rng.choice(found)
        pool = sorted(
            {t.group(0) for j in self.t.ops for t in tokens(self.t.lines[j], is_symbol)}
            - {token.group(0)}
        )
        return (
            self.replaced({i: put(self.t.lines[i], token, self.rng.choice(pool))}) if pool else None
        )

    def symbol_of_type(self):
        """A variable is another one of its type."""

        def test(i):
            return re.search(r"pd\.(?:get|set) (@\S+?)[, ].*: (\S+)", self.t.lines[i])

        i, found = self.pick(test)
        if i is None:
            return None
        pool = set()
        for j in self.t.ops:
            other = test(j)
            if other and other.group(2) == found.group(2) and other.group(1) != found.group(1):
                pool.add(other.group(1))
        if not pool:
            return None
        line = self.t.lines[i]
        return self.replaced(
            {i: line[: found.start(1)] + self.rng.choice(sorted(pool)) + line[found.end(1) :]}
        )

    def symbols_swapped(self):
        """Two names change places between two lines of one kind."""
        i, found = self.with_tokens(is_symbol)
        if i is None:
            return None
        same = [
            j
            for j in self.t.by_kind()[operation(self.t.lines[i])]
            if j != i and tokens(self.t.lines[j], is_symbol)
        ]
        if not same:
            return None
        j = self.rng.choice(same)
        a, b = found[0], tokens(self.t.lines[j], is_symbol)[0]
        if a.group(0) == b.group(0):
            return None
        return self.replaced(
            {i: put(self.t.lines[i], a, b.group(0)), j: put(self.t.lines[j], b, a.group(0))}
        )

    def symbol_everywhere(self):
        """A communicator or table is another one wherever one role names it."""
        used = collections.Counter(
            t.group(0)
            for i in self.t.ops
            for t in tokens(self.t.lines[i], is_symbol)
            if re.search(r"(?:on|over|from|to|of) " + re.escape(t.group(0)), self.t.lines[i])
        )
        if len(used) < 2:
            return None
        a, b = self.rng.sample(sorted(used), 2)
        pattern = re.compile(r"((?:on|over|from|to|of) )" + re.escape(a) + r"(?![\w.])")
        return self.replaced(
            {i: pattern.sub(lambda m: m.group(1) + b, self.t.lines[i]) for i in self.t.ops}
        )

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

    def line_dropped(self):
        i, _ = self.pick(lambda i: self.t.block_end(i) - i < 40 and indent(self.t.lines[i]) > 4)
        if i is None:
            return None
        end = self.t.block_end(i)
        return self.replaced({j: None for j in range(i, end + 1)})

    def line_bypassed(self):
        """An op is left out, and its readers take an operand of its type."""

        def test(i):
            made = results(self.t.lines[i])
            if len(made) != 1 or self.t.block_end(i) != i:
                return None
            kinds = dict(self.t.visible(i))
            return [
                t.group(0)
                for t in tokens(self.t.lines[i], is_value)
                if kinds.get(t.group(0)) == made[0][1] and t.group(0) != made[0][0]
            ]

        i, found = self.pick(test)
        if i is None:
            return None
        name, new = results(self.t.lines[i])[0][0], self.rng.choice(found)
        changes = {i: None}
        for j in range(i + 1, len(self.t.lines)):
            if indent(self.t.lines[j]) < indent(self.t.lines[i]):
                break
            changes[j] = re.sub(re.escape(name) + r"(?![\w#:])", new, self.t.lines[j])
        return self.replaced(changes)

    def line_doubled(self):
        i, _ = self.pick(lambda i: self.t.block_end(i) - i < 40 and indent(self.t.lines[i]) > 4)
        if i is None:
            return None
        block = self.t.lines[i : self.t.block_end(i) + 1]
        found = re.match(r"(\s*)(%\w+)", block[0])
        if found:
            block = [block[0].replace(found.group(2), "%again", 1)] + block[1:]
        return self.replaced({i: "\n".join(block + [self.t.lines[i]])})

    def line_moved(self):
        """An op with what is in it stands some ops earlier or later in its block."""
        i, _ = self.pick(lambda i: indent(self.t.lines[i]) > 4 and self.t.block_end(i) - i < 60)
        if i is None:
            return None
        end = self.t.block_end(i)
        depth = indent(self.t.lines[i])
        starts = []
        j = i - 1
        while j > 0 and indent(self.t.lines[j]) >= depth:
            if indent(self.t.lines[j]) == depth and not self.t.lines[j].lstrip().startswith("}"):
                starts.append(j)
            j -= 1
        later, j = [], end + 1
        while j < len(self.t.lines) and indent(self.t.lines[j]) >= depth:
            if indent(self.t.lines[j]) == depth and not self.t.lines[j].lstrip().startswith("}"):
                later.append(self.t.block_end(j))
            j += 1
        choices = [("up", at) for at in starts] + [("down", at) for at in later]
        if not choices:
            return None
        block = "\n".join(self.t.lines[i : end + 1])
        way, at = self.rng.choice(choices)
        changes = {j: None for j in range(i, end + 1)}
        changes[at] = (
            block + "\n" + self.t.lines[at] if way == "up" else self.t.lines[at] + "\n" + block
        )
        return self.replaced(changes)

    def line_moved_out(self):
        """An op stands in front of the block that it was in, or behind it."""
        i, _ = self.pick(lambda i: indent(self.t.lines[i]) > 6 and self.t.block_end(i) == i)
        if i is None:
            return None
        depth, begin, end = indent(self.t.lines[i]), i, i
        while indent(self.t.lines[begin]) >= depth:
            begin -= 1
        while indent(self.t.lines[end]) >= depth:
            end += 1
        line = self.t.lines[i]
        way = self.rng.randrange(2)
        at = begin if way == 0 else end
        moved = line[2:]
        changes = {i: None}
        changes[at] = (
            moved + "\n" + self.t.lines[at] if way == 0 else self.t.lines[at] + "\n" + moved
        )
        return self.replaced(changes)

    def line_moved_in(self):
        i, _ = self.pick(lambda i: indent(self.t.lines[i]) >= 6 and self.t.block_end(i) == i)
        if i is None:
            return None
        near = [
            j
            for j in range(max(i - 30, 1), min(i + 30, len(self.t.lines) - 1))
            if indent(self.t.lines[j]) == indent(self.t.lines[i])
            and self.t.lines[j].rstrip().endswith("{")
        ]
        if not near:
            return None
        j = self.rng.choice(near)
        return self.replaced({i: None, j: self.t.lines[j] + "\n  " + self.t.lines[i]})

    def line_of_other_job(self):
        """A line is that of the job in another way: the same op, or the same declaration."""

        def key(line):
            found = re.search(r"dist\.src = \d+", line)
            name = re.match(r"\s*(pd\.var @\S+|pd\.decl \S+|dist\.\w+ @\S+|pd\.program @\S+)", line)
            return (operation(line), found.group(0) if found else "", name.group(1) if name else "")

        if not self.others:
            return None
        other = self.rng.choice(self.others)
        theirs = {}
        for j in other.ops + other.head:
            if key(other.lines[j])[1:] != ("", ""):
                theirs.setdefault(key(other.lines[j]), []).append(other.lines[j])

        def test(i):
            mine = self.t.lines[i]
            return [
                x
                for x in theirs.get(key(mine), [])
                if bare(x) != bare(mine) and x.rstrip().endswith("{") == mine.rstrip().endswith("{")
            ]

        i, found = self.pick(test, self.t.ops + self.t.head)
        if i is None:
            return None
        line, mine = self.rng.choice(found), self.t.lines[i]
        # Values keep the names that they have here.
        names = re.findall(r"%[\w.]+(?:#\d+|:\d+)?", mine)
        theirs_names = re.findall(r"%[\w.]+(?:#\d+|:\d+)?", line)
        if len(names) == len(theirs_names):
            rest = iter(names)
            line = re.sub(r"%[\w.]+(?:#\d+|:\d+)?", lambda _: next(rest), line)
        return self.replaced({i: mine[: indent(mine)] + line.lstrip()})

    def program_of_other_job(self):
        """Start-up, or all declarations of variables, are those of the job in another way."""
        if not self.others:
            return None
        other = self.rng.choice(self.others)

        def part(lines, begin, stop):
            first = next((i for i, line in enumerate(lines) if re.match(begin, line)), None)
            if first is None:
                return None
            last = first
            while last + 1 < len(lines) and not re.match(stop, lines[last + 1]):
                last += 1
            return first, last

        begin, stop = self.rng.choice(
            [(r"    pd\.program @startup", r"    \}"), (r"    pd\.program @main", r"    \}")]
        )
        at = next(i for i, line in enumerate(self.t.lines) if line.startswith("  dist.role"))
        far = next(
            (i for i, line in enumerate(other.lines) if line.startswith("  dist.role")), None
        )
        if far is None:
            return None
        mine, theirs = part(self.t.lines[at:], begin, stop), part(other.lines[far:], begin, stop)
        if not mine or not theirs:
            return None
        return (
            self.t.lines[: at + mine[0]]
            + other.lines[far + theirs[0] : far + theirs[1] + 1]
            + self.t.lines[at + mine[1] + 1 :]
        )

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

    def two_edits(self):
        """Two edits at once."""
        names = [n for n in EDITS if n not in ("two_edits", "program_of_other_job")]
        first = getattr(self, self.rng.choice(names))()
        if first is None:
            return None
        second = Editor(Text("\n".join(first)), self.others, self.rng)
        return getattr(second, self.rng.choice(names))()


EDITS = [
    name
    for name, what in vars(Editor).items()
    if callable(what)
    and not name.startswith("_")
    and name not in ("pick", "with_tokens", "replaced", "alike")
]
