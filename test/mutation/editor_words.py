"""Edits of what a line says: numbers, words, symbols."""

import collections
import re

from editor import Editing
from texts import is_number, is_symbol, is_word, operation, other_number, put, tokens


class Words(Editing):
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
