"""Edits of the text of a job, by what a line looks like: the methods of the classes of Editor, by name in EDITS.
Each gives the lines of another text, or None where it finds nothing to edit."""

from editor_lines import Lines
from editor_meanings import Meanings
from editor_operands import Operands
from editor_variables import Variables
from editor_words import Words
from texts import Text


class Editor(Words, Operands, Lines, Meanings, Variables):
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
    for edits in (Words, Operands, Lines, Meanings, Variables, Editor)
    for name, what in vars(edits).items()
    if callable(what) and not name.startswith("_")
]
