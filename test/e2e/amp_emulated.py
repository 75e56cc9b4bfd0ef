"""Mixed precision against an emulation by hand of one program (static26/mlp_amp_ready): numbers are rounded to half precision where the framework's
lists of 2.6 say so and nowhere else, and are in double precision otherwise. Nothing here knows how a job does that.

    amp_emulated.py TOOL_FOLDER CORPUS BOUND [TRANSPILE FLAG...]

In the first step the products of the forward part are the emulated ones to the bit, but for a few that lie on the border between two numbers: sums are
formed in another order. One such number is in all gradients: those of the parameters, scaled and in half precision, differ by what rounding one of their
terms does at most. Parameters after the step agree, and losses of all steps lie within BOUND.
"""

import ast
import math
import os
import struct
import sys
import tempfile

from amp_case import MASTER, Case
from train_case import call, fail, read_record

SCALE, MOMENTUM, RATE, EPSILON = 32768.0, 0.9, 0.05, 1e-5
STEPS, BATCH = 8, 16
# Of the elements of a tensor, and how far one may lie from the emulated one: two numbers of float16.
FEW, NEXT = 0.02, 2.0**-9
# (product, norm in front of the next gelu), by the names of the program.
LAYERS = [("linear_0", "layer_norm_0"), ("linear_2", "layer_norm_2"), ("linear_4", None)]
PRODUCTS = {"linear_0": "linear_1.tmp_0", "linear_2": "linear_3.tmp_0", "linear_4": "linear_5.tmp_0"}
SHAPES = {"linear_0": (64, 96), "linear_2": (96, 64), "linear_4": (64, 10)}


def half(values):
    """Rounded to the nearest float16; what is too large is an infinity there, which no step here has."""
    return [struct.unpack("<e", struct.pack("<e", x))[0] for x in values]


def halves(rows):
    return [half(row) for row in rows]


def transposed(rows):
    return [list(column) for column in zip(*rows)]


def product(a, b):
    columns = transposed(b)
    return [[sum(map(float.__mul__, row, column)) for column in columns] for row in a]


def read_feed(path, code):
    with open(path, "rb") as f:
        data = f.read()
    start = 10 + struct.unpack_from("<H", data, 8)[0]
    ast.literal_eval(data[10:start].decode())
    return struct.unpack("<%d%s" % ((len(data) - start) // struct.calcsize(code), code), data[start:])


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def gelu_gradient(x):
    return 0.5 * (1 + math.erf(x / math.sqrt(2))) + x * math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)


class Norm:
    def __init__(self, scale, bias):
        self.scale, self.bias = scale, bias

    def forward(self, rows):
        self.normal, self.inverse, results = [], [], []
        for row in rows:
            mean = sum(row) / len(row)
            inverse = 1 / math.sqrt(sum((x - mean) ** 2 for x in row) / len(row) + EPSILON)
            normal = [(x - mean) * inverse for x in row]
            self.normal.append(normal)
            self.inverse.append(inverse)
            results.append([n * s + b for n, s, b in zip(normal, self.scale, self.bias)])
        return results

    def backward(self, rows):
        """Gradients of scale, bias and what was normalised."""
        scale = [sum(g * n for g, n in zip(gs, ns)) for gs, ns in zip(transposed(rows), transposed(self.normal))]
        bias = [sum(column) for column in transposed(rows)]
        results = []
        for row, normal, inverse in zip(rows, self.normal, self.inverse):
            g = [x * s for x, s in zip(row, self.scale)]
            mean = sum(g) / len(g)
            along = sum(a * n for a, n in zip(g, normal)) / len(g)
            results.append([inverse * (a - mean - n * along) for a, n in zip(g, normal)])
        return scale, bias, results


class Net:
    """Pure: norms and the cross entropy give half precision too, and so do their gradients. What is updated is the float32 copy."""

    def __init__(self, init, pure):
        self.values, self.velocity, self.pure = {}, {}, pure
        for linear, norm in LAYERS:
            for name in [linear + ".w_0", linear + ".b_0"] + ([norm + ".w_0", norm + ".b_0"] if norm else []):
                self.values[name] = list(read_record(os.path.join(init, name)))
                self.velocity[name] = list(read_record(os.path.join(init, name + "_velocity_0")))

    def weights(self, linear):
        rows, columns = SHAPES[linear]
        flat = half(self.values[linear + ".w_0"])
        return [flat[i * columns : (i + 1) * columns] for i in range(rows)]

    def between(self, rows):
        return halves(rows) if self.pure else rows

    def step(self, images, labels):
        x, kept = halves(images), []
        self.seen = {}  # by name
        for linear, norm in LAYERS:
            w, b = self.weights(linear), half(self.values[linear + ".b_0"])
            y = halves(product(x, w))
            self.seen[PRODUCTS[linear]] = [v for row in y for v in row]
            y = [half([v + c for v, c in zip(row, b)]) for row in y]
            if not norm:
                break
            layer = Norm(self.values[norm + ".w_0"], self.values[norm + ".b_0"])
            normal = self.between(layer.forward(y))
            kept.append((x, w, layer, normal))
            x = halves([[gelu(v) for v in row] for row in normal])
        loss, gradient = 0.0, []
        for row, label in zip(y, labels):
            top = max(row)
            powers = [math.exp(v - top) for v in row]
            total = sum(powers)
            [own], [shares] = self.between([[math.log(total) + top - row[label]]]), self.between([[p / total for p in powers]])
            loss += own[0] / BATCH
            gradient.append([(p - (k == label)) * SCALE / BATCH for k, p in enumerate(shares)])
        gradients = {}
        kept.append((x, w, None, None))
        for (linear, norm), (x, w, layer, normal) in zip(reversed(LAYERS), reversed(kept)):
            if norm:
                # The gradient of the next product's operand, in half precision until here.
                gradient = self.between([[g * gelu_gradient(n) for g, n in zip(gs, ns)] for gs, ns in zip(gradient, normal)])
                scale, bias, gradient = layer.backward(gradient)
                gradients[norm + ".w_0"], gradients[norm + ".b_0"] = scale, bias
            gradient = halves(gradient)
            gradients[linear + ".b_0"] = half([sum(column) for column in transposed(gradient)])
            columns = halves(product(transposed(x), gradient))
            gradients[linear + ".w_0"] = [v for row in columns for v in row]
            for name in (linear + ".w_0", linear + ".b_0"):
                self.seen[name + ".cast_fp16@GRAD"] = gradients[name]
            gradient = halves(product(gradient, transposed(w)))
        for name, gradient in gradients.items():
            self.velocity[name] = [MOMENTUM * v + g / SCALE for v, g in zip(self.velocity[name], gradient)]
            self.values[name] = [p - RATE * v for p, v in zip(self.values[name], self.velocity[name])]
        return loss


def batches(folder):
    images = read_feed(os.path.join(folder, "feeds", "image.npy"), "f")
    labels = read_feed(os.path.join(folder, "feeds", "label.npy"), "q")
    for step in range(STEPS):
        rows = [images[(step * BATCH + i) * 64 : (step * BATCH + i + 1) * 64] for i in range(BATCH)]
        yield rows, labels[step * BATCH : (step + 1) * BATCH]


def compare(name, found, expected):
    """Half precision, to the bit but for a few."""
    other = [(a, b) for a, b in zip(found, expected) if a != b]
    gradient = name.endswith("@GRAD")
    few = len(found) if gradient else max(2, FEW * len(found))
    if len(found) != len(expected) or len(other) > few:
        fail("%s: %d of %d elements are not the emulated ones" % (name, len(other), len(found)))
    largest = max(map(abs, expected))
    for a, b in other:
        # A gradient is a sum over the batch of terms as large as the largest.
        if abs(a - b) > NEXT * (largest if gradient else abs(b) + 2.0**-11 * largest):
            fail("%s: %.9g, emulated %.9g" % (name, a, b))
    return len(other), len(found)


def first_step(case, job, net):
    fetched, saved = os.path.join(case.work, "fetched"), os.path.join(case.work, "saved")
    words = ["--feeds", os.path.join(case.folder, "feeds"), "--steps", "1", "--save", saved]
    words += ["--init", case.init_of(job), "--save-fetches", fetched]
    for name in net.seen:
        words += ["--fetch", name]
    call(case.tool, "run", job, *words, "--cache", os.path.join(case.work, "cache"))
    other = count = 0
    for name, expected in net.seen.items():
        found = read_feed(os.path.join(fetched, name + ".npy"), "e")
        differing, elements = compare(name, found, expected)
        other, count = other + differing, count + elements
    for name, expected in net.values.items():
        copy = os.path.join(saved, name + MASTER)
        for a, b in zip(read_record(copy if os.path.exists(copy) else os.path.join(saved, name)), expected):
            if abs(a - b) > 1e-5 + 1e-3 * abs(b):
                fail("%s: %.9g after the step, emulated %.9g" % (name, a, b))
    print("%d of %d elements of half precision are not the emulated ones" % (other, count))


def main(tools, corpus, bound, *flags):
    with tempfile.TemporaryDirectory() as work:
        pure = "--use-pure-fp16" in flags
        case = Case(tools, corpus, "static26/mlp_amp_ready", work, pure)
        job = case.transpile("job", 1, "--amp", *flags)
        net, expected = Net(os.path.join(case.folder, "init"), pure), []
        for step, (images, labels) in enumerate(batches(case.folder)):
            expected.append(net.step(images, labels))
            if step == 0:
                first_step(case, job, net)
        found, _ = case.run(job, "run", STEPS)
        worst = max(abs(a - b) / b for a, b in zip(found, expected))
        if worst > float(bound):
            fail("losses %s, emulated %s: %.2e apart" % (found, expected, worst))
        print("losses differ by at most %.2e from the emulated ones" % worst)


if __name__ == "__main__":
    main(*sys.argv[1:])
