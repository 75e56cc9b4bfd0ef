"""The text of a job as text_edits.py edits it: lines, tokens, what a line defines and what it may
name. Knows how modules are printed, and nothing of what they mean."""

import collections
import re

# Attributes that change no value of any op.
NEUTRAL = (
    "op_device op_namescope op_callstack op_role_var with_quant_attr mkldnn_data_type use_cudnn "
    "use_mkldnn use_quantizer Scale_out Scale_x Scale_y order place_type force_cpu op_versions "
    "version need_check_feed"
).split()
STRING = r'"(?:[^"\\]|\\.)*"'
TOKEN = re.compile(
    STRING
    + r"|%[\w.]+(?:#\d+)?|@"
    + STRING
    + r"|@[\w.$-]+|-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+|0x[0-9A-F]+|[A-Za-z_][\w.]*|[^\s\w]"
)
# What may stand behind the name of an attribute, up to the next one.
SAID = (
    r"(?: = (?:" + STRING + r"|\[[^\]]*\]|array<[^>]*>|#dist\.\w+<[^>]*>|-?[\w.@+-]+(?: : \w+)?))?"
)
SAID += r"(?=[,}])"


class Text:
    """Lines of a module, which of them may be edited, and what is visible where."""

    def __init__(self, text):
        self.lines = text.rstrip("\n").split("\n")
        self.editable, self.head = [], []
        self.reference = {}  # text of an op without its number of the reference -> lines in modules
        inside, module = False, None
        for i, line in enumerate(self.lines):
            found = re.match(r"  module @(\w+)", line)
            if found:
                inside, module = True, found.group(1)
            if not inside and i not in (0, len(self.lines) - 1):
                (self.head if indent(line) == 2 else self.editable).append(i)
            elif inside and module == "reference":
                self.reference.setdefault(bare(line), []).append(i)
            if inside and line == "  }":
                inside = False
        self.ops = [
            i for i in self.editable if not self.lines[i].lstrip().startswith(("pd.decl", "}"))
        ]

    def by_kind(self, among=None):
        """Lines by op: rare ops are chosen as often as frequent ones."""
        kinds = collections.OrderedDict()
        for i in self.ops if among is None else among:
            kinds.setdefault(operation(self.lines[i]), []).append(i)
        return kinds

    def block_end(self, i):
        """Last line of the op that begins in line i."""
        if not self.lines[i].rstrip().endswith("{"):
            return i
        for j in range(i + 1, len(self.lines)):
            if indent(self.lines[j]) == indent(self.lines[i]) and self.lines[j].lstrip().startswith(
                "}"
            ):
                # `} else {` and the like go on.
                if not self.lines[j].rstrip().endswith("{"):
                    return j
        return i

    def visible(self, i):
        """[(value, type)] that may be named in line i."""
        found, depth = [], indent(self.lines[i])
        for j in range(i - 1, 0, -1):
            line = self.lines[j]
            at = indent(line)
            if at < depth and line.rstrip().endswith("{"):
                found += re.findall(r"(%arg\d+) = \S+ : ([^,()]*(?:<[^()]*?>)?)(?=[,)])", line)
                depth = at
                if at <= 4:
                    break
            elif at == depth:
                found += results(line)
        return found


def indent(line):
    return len(line) - len(line.lstrip())


def bare(line):
    return re.sub(r"%[\w.#]+", "%", re.sub(r"dist\.src = \d+ : i64,? ?", "", line.strip()))


def operation(line):
    found = re.search(r"\b(?:pd|dist)\.\w+", line)
    word = found.group(0) if found else line.split()[0]
    if word == "pd.program":
        return word
    return word


def split_types(text):
    parts, depth, begin = [], 0, 0
    for i, c in enumerate(text):
        depth += c in "<(["
        depth -= c in ">)]" and text[i - 1 : i + 1] != "->"
        if c == "," and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    last = text[begin:].strip()
    return parts + [last] if last else parts


def results(line):
    """[(value, type)] that a line defines."""
    found = re.match(r"\s*(%\w+)(?::(\d+))? = ", line)
    if not found:
        return []
    name, count = found.group(1), int(found.group(2) or 1)
    text = line.rstrip().rstrip("{").rstrip()
    at = text.rfind(" -> ")
    colon = text.rfind(" : ")
    # `!dist.at<…>`s and pending ones have no arrow of their own.
    types = text[at + 4 :] if at > 0 and (" : (" in text or "dist." in text) else text[colon + 3 :]
    types = types.strip()
    types = split_types(types[1:-1]) if types.startswith("(") else [types]
    if len(types) != count:
        return []
    if count == 1:
        return [(name, types[0])]
    return [("%s#%d" % (name, k), types[k]) for k in range(count)]


def masked(line):
    """Spans of what is no use to edit: neutral attributes, and the types behind the last colon."""
    spans = []
    for name in NEUTRAL:
        for found in re.finditer(
            r"\b" + name + r" = (?:" + STRING + r"|\[[^\]]*\]|array<[^>]*>|[^,}]*)", line
        ):
            spans.append(found.span())
    found = re.search(r" : \((?!.* : \()", line)
    if found:
        spans.append((found.start(), len(line)))
    return spans


def tokens(line, what):
    spans = masked(line)
    return [
        t for t in TOKEN.finditer(line)
        if what(t.group(0)) and not any(a <= t.start() < b for a, b in spans)
    ]  # fmt: skip


def put(line, token, text):
    return line[: token.start()] + text + line[token.end() :]


def is_number(t):
    return re.fullmatch(r"-?\d+(\.\d+(e[+-]?\d+)?)?", t) is not None


def is_value(t):
    return t.startswith("%")


def is_symbol(t):
    return t.startswith("@")


def is_word(t):
    return re.fullmatch(r"[A-Za-z_]\w*|" + STRING, t) is not None


def other_number(rng, text):
    if "." in text:
        value = float(text)
        new = rng.choice([value * 2, value / 2, -value, 0.0, value + 1.0, 1.0, value * 1.01])
        return "%e" % new if new != value else "%e" % (value + 0.5)
    value = int(text)
    return str(
        rng.choice(
            [v for v in (value + 1, value - 1, value * 2, 0, 1, -value, value + 2) if v != value]
        )
    )
