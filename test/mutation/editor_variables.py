"""Edits of what is the same over the reals: multiples that are taken back, copies, roundings, counts that
run over, numbers that are drawn along another axis."""

import re

from editor import Editing
from texts import bare, indent, results

SCALE = (
    '%s = pd.scale X(%s) -> Out("edited.tmp") {bias = 0.000000e+00 : f32, bias_after_scale = true, '
    "op_role = %d : i32, scale = %e : f32} : (%s) -> %s"
)
CAST = (
    '%s = pd.cast X(%s) -> Out("edited.tmp") {in_dtype = %d : i32, op_role = 1 : i32, '
    "out_dtype = %d : i32} : (%s) -> %s"
)
# Element type -> number of the framework, and word of a declaration.
ELEMENTS = {"f16": (4, "float16"), "bf16": (22, "bfloat16"), "f32": (5, "float32"), "i64": (3, "int64")}


def element(type):
    found = re.search(r"(?:x|<)([a-z]+\d+)>$", type)
    return found.group(1) if found else ""


class Variables(Editing):
    def _role(self):
        """Lines of the first role."""
        begin = next(i for i, line in enumerate(self.t.lines) if line.startswith("  dist.role"))
        return begin, self.t.block_end(begin)

    def _declared(self, changes, begin, end, type):
        """`edited.tmp` is declared in all programs of these lines."""
        dims = re.match(r"tensor<((?:[\d?]+x)*)", type).group(1)
        text = "[%s]" % ", ".join("-1" if d == "?" else d for d in dims.split("x") if d)
        for i in range(begin, end):
            if self.t.lines[i].startswith("    pd.program @"):
                line = changes.get(i, self.t.lines[i])
                changes[i] = line + '\n      pd.decl "edited.tmp" tensor of %s %s {persistable = false}' % (
                    ELEMENTS[element(type)][1],
                    text,
                )
        return changes

    def variable_multiplied(self):
        """A variable is kept as a multiple of the reference's, and says so."""
        begin, end = self._role()
        i, found = self.pick(
            lambda i: re.match(
                r"    pd\.var (@\"[^\"]*\"|@\S+) : (tensor<\S+f32>) .*#dist\.rel<\"[^\">]*\"(?=[,>])",
                self.t.lines[i],
            ),
            [j for j in range(begin, end) if self.t.lines[j].startswith("    pd.var ")],
        )
        if i is None:
            return None
        name, type = found.groups()
        factor = self.rng.choice([2, 4, -1])
        line = self.t.lines[i]
        # Behind the states of axes.
        close = found.end()
        depth = 0
        while line[close] != ">" or depth:
            depth += (line[close] == "(") - (line[close] == ")")
            close += 1
        changes = {i: "%s, scale %d%s" % (line[:close], factor, line[close:])}
        for j in range(begin, end):
            line = self.t.lines[j]
            pad = " " * indent(line)
            get = re.match(r"\s*(%%\w+) = pd\.get %s :" % re.escape(name), line)
            put = re.match(r"\s*pd\.set %s, (%%[\w#]+) :" % re.escape(name), line)
            if get:
                new = "%%edited%d" % j
                back = SCALE % (get.group(1), new, 2, 1 / factor, type, type)
                changes[j] = line.replace(get.group(1), new, 1) + "\n" + pad + back
            elif put:
                new = "%%edited%d" % j
                times = SCALE % (new, put.group(1), 2, factor, type, type)
                changes[j] = pad + times + "\n" + line.replace(put.group(1) + " :", new + " :", 1)
        return self.replaced(self._declared(changes, begin, end, type))

    def constant_copied(self):
        """A step reads a copy, made at start-up, of a variable that it does not set: a rate."""
        begin, end = self._role()
        text = "\n".join(self.t.lines[begin:end])
        main = text[: text.find("pd.program @startup")]
        i, found = self.pick(
            lambda i: re.match(r"    pd\.var (@\S+) : (tensor<\S+f32>) ", self.t.lines[i]),
            [
                j
                for j in range(begin, end)
                if self.t.lines[j].startswith("    pd.var @")
                and "pd.set %s," % self.t.lines[j].split()[1] not in main
                and "pd.get %s :" % self.t.lines[j].split()[1] in main
            ],
        )
        if i is None:
            return None
        name, type = found.groups()
        changes = {i: self.t.lines[i] + "\n" + self.t.lines[i].replace(name, "@edited_copy", 1)}
        startup = next(
            j for j in range(begin, end) if self.t.lines[j].startswith("    pd.program @startup")
        )
        for j in range(begin, startup):
            if " = pd.get %s :" % name in self.t.lines[j]:
                changes[j] = self.t.lines[j].replace(name, "@edited_copy", 1)
        close = self.t.block_end(startup)
        changes[close] = (
            "      %%edited0 = pd.get %s : %s\n      %%edited1 = pd.assign X(%%edited0) -> "
            'Out("edited_copy") {op_role = 0 : i32} : (%s) -> %s\n      pd.set @edited_copy, %%edited1 : %s\n'
            % (name, type, type, type, type)
        ) + self.t.lines[close]
        for j in range(begin, end):
            line = self.t.lines[j]
            if line.startswith('      pd.decl "%s" ' % name[1:]):
                changes[j] = line + "\n" + line.replace('"%s"' % name[1:], '"edited_copy"', 1)
        return self.replaced(changes)

    def integers_cut(self):
        """Integers are halved and doubled again."""
        i, found = self.pick(
            lambda i: [r for r in results(self.t.lines[i]) if element(r[1]) == "i64"],
            [j for j in self.t.ops if indent(self.t.lines[j]) == 6],
        )
        if i is None:
            return None
        value, type = self.rng.choice(found)
        begin, end = self._role()
        pad = " " * indent(self.t.lines[i])
        half = SCALE % ("%edited0", value, 0, 0.5, type, type)
        double = SCALE % ("%edited1", "%edited0", 0, 2, type, type)
        changes = {i: "%s\n%s%s\n%s%s" % (self.t.lines[i], pad, half, pad, double)}
        for j in range(i + 1, len(self.t.lines)):
            if indent(self.t.lines[j]) < len(pad):
                break
            changes[j] = re.sub(re.escape(value) + r"(?![\w#:])", "%edited1", self.t.lines[j])
        return self.replaced(self._declared(changes, begin, end, type))

    def counter_narrowed(self):
        """A count of the job's own is of fewer bits, in @reference too."""
        names = ("gradient_merge_", "lookahead_", "local_sgd_")
        width, number, word = self.rng.choice([("i32", 2, "int32"), ("i16", 1, "int16")])
        changes = {}
        for i, line in enumerate(self.t.lines):
            if any(name in line for name in names) and "i64>" in line or re.search(
                r'pd\.decl "(?:%s)\w*" tensor of int64' % "|".join(names), line
            ):
                changes[i] = (
                    line.replace("tensor<1xi64>", "tensor<1x%s>" % width)
                    .replace("dtype = 3 : i32", "dtype = %d : i32" % number)
                    .replace("tensor of int64", "tensor of " + word)
                )
        return self.replaced(changes) if changes else None

    def stream(self):
        """A draw differs along another axis, of ranks or of time."""
        axes = [
            axis
            for line in self.t.lines
            if line.startswith("  dist.mesh")
            for axis in re.findall(r"(\w+) = \d+", line)
        ]
        i, _ = self.pick(
            lambda i: re.search(r"\bpd\.(dropout|uniform_random|gaussian_random|seed) ", self.t.lines[i])
        )
        if i is None:
            return None
        line = self.t.lines[i]
        found = re.search(r"dist\.streams = \[([^\]]*)\]", line)
        names = set(re.findall(r"\w+", found.group(1))) if found else set()
        names ^= {self.rng.choice(axes)}
        words = "dist.streams = [%s]" % ", ".join('"%s"' % a for a in axes if a in names)
        if found:
            return self.replaced({i: line[: found.start()] + words + line[found.end() :]})
        return self.replaced({i: line.replace(" with {", " with {" + words + ", ", 1)})

    def rounded_alike(self):
        """A value is cast to half precision and back, in @reference too."""
        rows = [
            (i, twins[0])
            for i in self.t.ops
            for twins in [self.t.reference.get(bare(self.t.lines[i]), [])]
            if len(twins) == 1 and indent(self.t.lines[i]) == indent(self.t.lines[twins[0]])
            and re.search(r'(?:Param|Velocity|Moment1?|LearningRate|X)\(%', self.t.lines[i])
        ]
        if not rows:
            return None
        i, twin = self.rng.choice(rows)
        number = int(re.search(r"dist\.src = (\d+)", self.t.lines[i]).group(1))
        half = self.rng.choice(["f16", "bf16"])
        role_begin, role_end = self._role()
        startup = next(
            j for j in range(role_begin, role_end)
            if self.t.lines[j].startswith("    pd.program @startup")
        )
        changes = {}
        for at, numbered in ((i, True), (twin, False)):
            line = self.t.lines[at]
            found = re.search(r"(Param|Velocity|Moment1?|LearningRate|X)\((%[\w#]+)\)", line)
            type = dict(self.t.visible(at)).get(found.group(2), "")
            if element(type) != "f32":
                return None
            less = type[: -len("f32>")] + half + ">"
            code = ELEMENTS[half][0]
            down = CAST % ("%edited0", found.group(2), 5, code, type, less)
            up = CAST % ("%edited1", "%edited0", code, 5, less, type)
            if numbered:
                down = down.replace("} : ", "} with {dist.src = %d : i64} : " % number)
                up = up.replace("} : ", "} with {dist.src = %d : i64} : " % (number + 1))
            pad = " " * indent(line)
            taken = line[: found.start(2)] + "%edited1" + line[found.end(2) :]
            changes[at] = pad + down.replace("edited.tmp", "edited.half") + "\n" + pad + up + "\n" + taken
        if i > startup:
            return None
        for j in range(role_begin, startup):
            line = changes.get(j, self.t.lines[j])
            head, last = line.rsplit("\n", 1) if "\n" in line else ("", line)
            last = re.sub(
                r"dist\.src = (\d+)",
                lambda m: "dist.src = %d" % (int(m.group(1)) + 2 * (int(m.group(1)) >= number)),
                last,
            )
            if last != self.t.lines[j] or head:
                changes[j] = head + "\n" + last if head else last
        dims = re.match(r"tensor<((?:[\d?]+x)*)", type).group(1)
        text = "[%s]" % ", ".join("-1" if d == "?" else d for d in dims.split("x") if d)
        for j, line in enumerate(self.t.lines):
            if line.lstrip().startswith("pd.program @main") and (
                role_begin < j < startup or self._in_reference(j)
            ):
                pad = " " * (indent(line) + 2)
                changes[j] = line + "".join(
                    '\n%spd.decl "edited.%s" tensor of %s %s' % (pad, name, word, text)
                    for name, word in (("half", ELEMENTS[half][1]), ("tmp", "float32"))
                )
        return self.replaced(changes)

    def _in_reference(self, i):
        for j in range(i, 0, -1):
            found = re.match(r"  module @(\w+)", self.t.lines[j])
            if found:
                return found.group(1) == "reference"
        return False
