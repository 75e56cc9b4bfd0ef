"""Trains one case with deep gradient compression through the command line, and compares it with the definition (Lin et al., arXiv:1712.01887)
computed here from the gradients that the single-device program gives on every replica's share of the batch. Nothing here knows how a job does that.
Bytes that the runtime counts are those of (place, value) pairs and of the dense gradients that are left.

    dgc_case.py TOOL_FOLDER CORPUS CASE RANKS STEPS [decay=COEFFICIENT] [clip=NORM] [TRANSPILE FLAG...]

decay: the momentum ops of the case are told to decay by themselves; clip: a clip_by_norm of every gradient is put in front of them.

With 8 STEPS, all that are recorded, only what is learned and sent is looked at: which of two equal elements goes first is a matter of rounding, and
after some steps the two trainings have gone ways of their own.
"""

import json
import math
import os
import re
import shutil
import sys
import tempfile

from local_sgd_case import Array, Record, compare
from train_case import call, compare_losses, fail, read_npy, scalar

TIE = 1e-4  # of an element: float32 against the floats of this script
MOST_TIED = 0.05  # of the elements of a parameter
PAIR = 8  # bytes: a place in 32 bits and a float32


def gradient_in(folder, name):
    """The file of a fetch of one rank and one step."""
    for root, _, files in os.walk(folder):
        if name + ".npy" in files:
            return os.path.join(root, name + ".npy")
    fail("no %s below %s: %s" % (name, folder, list(os.walk(folder))))


class Rule:
    """The momentum updates of a program, and how a request compresses them."""

    def __init__(self, text, flags, ranks, decay, clip):
        update = re.search(r"pd.momentum [^\n]*", text).group(0)
        number = lambda name: float((re.search(name + r" = ([0-9.e+-]+)", update) or [0, 0])[1])
        self.mu, self.ranks = number("mu"), ranks
        # The rate: a variable, or a value that a schedule gives.
        value = re.search(r"LearningRate\((%\d+)\)", update).group(1)
        self.rate = re.search(r"\n *" + value + r' = pd.[^\n]*?(?:@|Out\(")([\w.]+)', text).group(1)
        self.nesterov = "use_nesterov = true" in update
        given = dict(zip(flags, flags[1:]))
        self.begin = int(given.get("--dgc-rampup-begin-step", 0))
        self.ramp = int(given.get("--dgc-rampup-step", 1))
        self.sparsity = [float(s) for s in given.get("--dgc-sparsity", "0.999").split(",")]
        self.least = int(given.get("--dgc-min-size", 16384))
        self.decay, self.clip = decay, clip

    def kept(self, size, step):
        """Elements that a rank sends of a parameter in a step counted from 0; 0: the gradient is dense."""
        if size < self.least or step < self.begin:
            return 0
        stage = min((step - self.begin) * len(self.sparsity) // self.ramp, len(self.sparsity) - 1)
        share = self.sparsity[stage]
        return 0 if share == 0 else max(1, math.floor(size * (1 - share) + 1e-6))

    def clipped(self, g, bound):
        norm = math.sqrt(sum(x * x for x in g))
        return [x * bound / norm for x in g] if self.clip and norm > bound else g

    def of_rank(self, g):
        """A rank's gradient on its share, as a rank with compressed parameters sees it: N g, of which g is clipped to the bound over the root of N."""
        return self.clipped(g, self.clip * math.sqrt(self.ranks))

    def decayed(self, g, w):
        return [x + self.decay * y for x, y in zip(g, w)] if self.decay else g

    def velocity(self, u, g):
        """u', and what the update or v takes of it."""
        if self.nesterov:
            u = [self.mu * (x + y) for x, y in zip(u, g)]
            return u, [x + y for x, y in zip(u, g)]
        u = [self.mu * x + y for x, y in zip(u, g)]
        return u, u

    def dense(self, w, u, gradients, rate):
        mean = [sum(each) / self.ranks for each in zip(*gradients)]
        if len(w) < self.least:
            mean = self.clipped(mean, self.clip)
        mean = self.decayed(mean, w)
        v = [self.mu * x + g for x, g in zip(u, mean)]
        step = [g + self.mu * x for x, g in zip(v, mean)] if self.nesterov else v
        return [x - rate * s for x, s in zip(w, step)], v

    def compressed(self, w, us, vs, gradients, rate, kept, tied):
        """w', and u and v of every rank in place. `tied` gathers elements of which rounding says whether they are sent: equal to the least that is."""
        merged = [0.0] * len(w)
        for rank, g in enumerate(gradients):
            us[rank], new = self.velocity(us[rank], self.decayed(g, w))
            v = [x + y for x, y in zip(vs[rank], new)]
            order = sorted(range(len(v)), key=lambda i: -abs(v[i]))
            least = abs(v[order[kept - 1]])
            close = [i for i in order if abs(abs(v[i]) - least) <= TIE * least]
            if any(i not in order[:kept] for i in close):
                tied.update(close)
            for i in order[:kept]:
                merged[i] += v[i]
                v[i] = us[rank][i] = 0.0
            vs[rank] = v
        return [x - rate * s / self.ranks for x, s in zip(w, merged)]


def replicas(tool, program, description, folder, work, rule, steps):
    """Losses per step, the parameters, and rank 0's velocities."""
    ranks, names = rule.ranks, description["params"]
    feeds = {f["name"]: Array(os.path.join(folder, f["file"])) for f in description["feeds"]}
    state = os.path.join(work, "state")
    shutil.copytree(os.path.join(folder, "init"), state)
    w = {name: list(Record(os.path.join(state, name)).values) for name in names}
    begin = lambda name: list(Record(os.path.join(state, name + "_velocity_0")).values)
    u = {name: [begin(name) for _ in range(ranks)] for name in names}
    v = {name: [[0.0] * len(w[name])] * ranks for name in names}
    losses, tied = [], {name: set() for name in names}
    for step in range(steps):
        total, gradients = 0.0, {name: [] for name in names}
        for rank in range(ranks):
            share, report = os.path.join(work, "share"), os.path.join(work, "share.json")
            shutil.rmtree(share, ignore_errors=True)
            os.mkdir(share)
            for name, array in feeds.items():
                array.write_share(os.path.join(share, name + ".npy"), step, rank, ranks)
            fetched = os.path.join(work, "fetched")
            shutil.rmtree(fetched, ignore_errors=True)
            words = ["--feeds", share, "--init", state, "--report", report, "--save-fetches", fetched]
            for name in [description["loss"], rule.rate] + [name + "@GRAD" for name in names]:
                words += ["--fetch", name]
            call(tool, "run", *program, *words, "--cache", os.path.join(work, "cache"))
            with open(report) as f:
                found = json.load(f)["fetch"]
            total += scalar(found[description["loss"]][0])
            rate = scalar(found[rule.rate][0])
            for name in names:
                own = read_npy(gradient_in(fetched, name + "@GRAD"))
                gradients[name].append(rule.of_rank(own) if len(w[name]) >= rule.least else own)
        losses.append(total / ranks)
        for name in names:
            kept = rule.kept(len(w[name]), step)
            if kept:
                w[name] = rule.compressed(w[name], u[name], v[name], gradients[name], rate, kept, tied[name])
            else:
                w[name], dense = rule.dense(w[name], u[name][0], gradients[name], rate)
                u[name] = [list(dense) for _ in range(ranks)]
            path = os.path.join(state, name)
            Record(path).write(path, w[name])
    return losses, w, u, v, tied


def compare_but(what, path, values, tied):
    """All elements but those that were tied at some time."""
    if len(tied) > MOST_TIED * len(values):
        fail("%s: %d of %d elements were tied: nothing is compared" % (what, len(tied), len(values)))
    found = Record(path)
    found.values = [b if i in tied else a for i, (a, b) in enumerate(zip(found.values, values))]
    expected = Record(path)
    expected.values = values
    compare(what, found, expected)


def bytes_of(rule, sizes, step):
    """What a rank sends in a step: pairs to every other rank, sums by parts."""
    n = rule.ranks
    total = 0
    for size in sizes:
        kept = rule.kept(size, step)
        total += (n - 1) * kept * PAIR if kept else 2 * (n - 1) * math.ceil(size / n) * 4
    return total


def edited(text, decay, clip):
    """The program with momentum ops that decay by themselves, and with clips in front of them."""
    if decay:
        said = ' regularization_coeff = %g : f32, regularization_method = "l2_decay", mu = ' % decay
        text = re.sub(r"(pd\.momentum [^\n]*?[{,]) ?mu = ", r"\1" + said, text)
        # The order in which the file had attributes knows of no others.
        text = re.sub(r"(pd\.momentum [^\n]*)order = array<[^>]*>,? ?", r"\1", text)
    names = []

    def with_clip(found):
        name = "clip_%d.tmp_0" % len(names)
        names.append((name, found.group("type")))
        line = '%s%%clip%d = pd.clip_by_norm X(%s) -> Out("%s") {max_norm = %g : f32, op_role = 2 : i32} : (%s) -> %s\n'
        line %= (found.group("indent"), len(names), found.group("grad"), name, clip, found.group("type"), found.group("type"))
        return line + found.group(0).replace("Grad(%s)" % found.group("grad"), "Grad(%%clip%d)" % len(names))

    if clip:
        momentum = r"(?m)^(?P<indent> *)\S+ = pd\.momentum Grad\((?P<grad>[^)]*)\)[^\n]* : \((?P<type>tensor<[^>]*>)[^\n]*"
        text = re.sub(momentum, with_clip, text)
        for name, kind in names:
            dims = ", ".join(kind[len("tensor<") : -len("xf32>")].split("x"))
            line = '  pd.decl "%s" tensor of float32 [%s] lod 0 {persistable = false}\n' % (name, dims)
            at = text.index("  pd.decl ")
            text = text[:at] + line + text[at:]
    return text


def main(tools, corpus, case, ranks, steps, *flags):
    tool, folder = os.path.join(tools, "dtranspile"), os.path.join(corpus, case)
    ranks, steps = int(ranks), int(steps)
    with open(os.path.join(folder, "case.json")) as f:
        description = json.load(f)
    program = [
        os.path.join(folder, "main.pdmodel"),
        "--startup",
        os.path.join(folder, "startup.pdmodel"),
    ]
    with tempfile.TemporaryDirectory() as work:
        text = os.path.join(work, "main.mlir")
        call(tool, "convert", program[0], text)
        asked = dict(word.split("=") for word in flags if not word.startswith("-") and "=" in word)
        flags = [word for word in flags if word.startswith("-") or "=" not in word]
        decay, clip = (float(asked.get(name, 0)) for name in ("decay", "clip"))
        with open(text) as f:
            content = edited(f.read(), decay, clip)
        if asked:
            program[0] = os.path.join(work, "edited.pdmodel")
            with open(text, "w") as f:
                f.write(content)
            call(tool, "convert", text, program[0])
        rule = Rule(content, flags, ranks, decay, clip)
        alone = steps >= 8
        if not alone:
            losses, w, u, v, tied = replicas(tool, program, description, folder, work, rule, steps)
        job, saved = (os.path.join(work, name) for name in ("job", "saved"))
        words = ["-o", job, "--trainers", str(ranks), "--dgc", *flags]
        call(tool, "transpile", *program, *words)
        call(tool, "verify", job)
        sent = []
        for count in range(1, steps + 1):
            report = os.path.join(work, "report.json")
            words = ["--feeds", os.path.join(folder, "feeds"), "--init", os.path.join(folder, "init")]
            words += ["--steps", str(count), "--report", report, "--save", saved]
            shutil.rmtree(saved, ignore_errors=True)
            call(tool, "run", job, *words, "--cache", os.path.join(work, "cache"))
            with open(report) as f:
                found = json.load(f)
            sent.append(max(rank["bytes_sent"] for rank in found["ranks"]))
        found = [scalar(value) for value in found["fetch"][description["loss"]]]
        if not alone:
            compare_losses("dgc", found, losses)
        for name in [] if alone else description["params"]:
            for what, values in ((name, w[name]), (name + "_velocity_0", u[name][0]), (name + "__dgc_v__", v[name][0])):
                path = os.path.join(saved, what)
                if os.path.exists(path):
                    compare_but(what, path, values, tied[name])
                elif not what.endswith("__dgc_v__") or rule.kept(len(w[name]), steps):
                    fail("%s is not saved" % what)
        sizes = [len(Record(os.path.join(saved, name)).values) for name in description["params"]]
        for step in range(1, steps):
            counted, expected = sent[step] - sent[step - 1], bytes_of(rule, sizes, step)
            if not expected <= counted <= 1.02 * expected + 64:
                fail("step %d sends %d bytes per rank, by the definition %d" % (step, counted, expected))
        if alone and not found[-1] < 0.9 * found[0]:
            fail("the loss is %g after %g: nothing is learned" % (found[-1], found[0]))
        print("%s: %d replicas, losses %s, bytes %s" % (case, ranks, found, sent))


if __name__ == "__main__":
    main(*sys.argv[1:])
