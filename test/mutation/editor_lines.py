"""Edits of where lines stand: gone, twice, elsewhere, of another job."""

import re

from editor import Editing
from texts import bare, indent, is_value, operation, results, tokens


class Lines(Editing):
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
