"""What edits of the text of a job are made with: lines that are drawn, lines that are replaced."""

from texts import bare, tokens

TYPES = ["f32", "f64", "f16", "bf16", "i32", "i64", "i1"]


class Editing:
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
