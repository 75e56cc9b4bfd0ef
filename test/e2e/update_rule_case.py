"""Another update rule for a saved program (transpile --lars, --lamb), held against the framework and against the definition.

    update_rule_case.py TOOL_FOLDER CORPUS recorded RULE CASE FLAG...
    update_rule_case.py TOOL_FOLDER CORPUS defined RULE CASE FLAG...

recorded: CASE was trained by the framework with RULE. Its program is given the plain rule (momentum, adam) that RULE takes the place of, and the job
that the flags make of that has the losses and parameters that the framework recorded, on 1, 2 and 4 ranks, in two levels, and with servers.
defined: CASE has the plain rule. Three steps of a job on 2 ranks: after each, every variable of every update is what the formula gives for the
variables before it and the gradients of the unchanged program, in double precision.
"""

import json
import math
import os
import re
import shutil
import sys
import tempfile

from local_sgd_case import Array, Record
from train_case import call, check_verified, compare_losses, compare_parameters, fail, read_npy

ABSOLUTE, RELATIVE = 1e-5, 1e-4  # docs/design.md
STEPS = 3
KEPT = {"lars": ["mu"], "lamb": ["beta1", "beta2", "epsilon"]}  # of the plain update

PLAIN = {"lars": ("lars_momentum", "momentum"), "lamb": ("lamb", "adam")}
OWN_ATTRIBUTES = r"\b(lars_coeff|lars_weight_decay|weight_decay|always_adapt) = [^,}]*(, |(?=}))"


def with_plain_rule(text, rule):
    """The program with the update that the rule takes the place of."""
    new, old = PLAIN[rule]
    lines, count = [], 0
    for line in text.split("\n"):
        if " pd.%s " % new in line:
            line = re.sub(OWN_ATTRIBUTES, "", line.replace("pd.%s " % new, "pd.%s " % old))
            line = line.replace(", }", "}")
            line = re.sub(r" with \{order = [^}]*\}", "", line)
            count += 1
        lines.append(line)
    if not count:
        fail("the program has no " + new)
    return "\n".join(lines)


class Case:
    def __init__(self, tools, corpus, case, work):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.main = os.path.join(self.folder, "main.pdmodel")
        self.cache = os.path.join(work, "cache")

    def transpile(self, name, main, *flags):
        job = os.path.join(self.work, name)
        startup = os.path.join(self.folder, "startup.pdmodel")
        call(self.tool, "transpile", main, "--startup", startup, "-o", job, *flags)
        check_verified(self.tool, job)
        return job

    def run(self, program, feeds, init, saved, *more):
        report = saved + ".json"
        words = ["--feeds", feeds, "--init", init, "--save", saved, "--report", report]
        call(self.tool, "run", program, *words, "--cache", self.cache, *more)
        with open(report) as f:
            return json.load(f)["fetch"]


def recorded(case, rule, flags):
    text = os.path.join(case.work, "main.mlir")
    plain = os.path.join(case.work, "plain.pdmodel")
    call(case.tool, "convert", case.main, text)
    with open(text) as f:
        edited = with_plain_rule(f.read(), rule)
    with open(text, "w") as f:
        f.write(edited)
    call(case.tool, "convert", text, plain)
    loss = case.description["loss"]
    with open(os.path.join(case.folder, "golden.json")) as f:
        golden = json.load(f)[loss]
    levels = ["--use-hierarchical-allreduce", "--hierarchical-allreduce-inter-nranks", "2"]
    ways = [["--trainers", str(ranks)] for ranks in (1, 2, 4)] + [["--trainers", "4"] + levels]
    ways.append(["--mode", "pserver", "--trainers", "2", "--pservers", "2"])
    for number, way in enumerate(ways):
        what = " ".join([rule] + way)
        job = case.transpile("job%d" % number, plain, *way, *flags)
        feeds, init = (os.path.join(case.folder, name) for name in ("feeds", "init"))
        saved = os.path.join(case.work, "saved%d" % number)
        found = case.run(job, feeds, init, saved)[loss]
        worst = compare_losses(what, found, golden)
        count = compare_parameters(what, saved, os.path.join(case.folder, "after"), {})
        print("%s: largest difference of a loss %.2e, %d parameters as recorded" % (what, worst, count))


def norm(values):
    return math.sqrt(sum(x * x for x in values))


def lars(state, gradient, rate, options):
    coefficient, decay, epsilon = (
        options[k] for k in ("lars_coeff", "lars_weight_decay", "lars_epsilon")
    )
    p, v = state["ParamOut"], state["VelocityOut"]
    if options["excluded"]:
        v = [options["mu"] * a + g for a, g in zip(v, gradient)]
        return {"ParamOut": [x - rate * a for x, a in zip(p, v)], "VelocityOut": v}
    own, other = norm(p), norm(gradient)
    if decay > 0 and own > 0 and other > 0:
        rate *= coefficient * own / (other + decay * own + epsilon)
    v = [options["mu"] * a + rate * (g + decay * x) for a, g, x in zip(v, gradient, p)]
    return {"ParamOut": [x - a for x, a in zip(p, v)], "VelocityOut": v}


def lamb(state, gradient, rate, options):
    beta1, beta2, epsilon = (options[k] for k in ("beta1", "beta2", "epsilon"))
    decay = 0.0 if options["excluded"] else options["lamb_weight_decay"]
    p, power1, power2 = state["ParamOut"], state["Beta1PowOut"][0], state["Beta2PowOut"][0]
    m = [beta1 * a + (1 - beta1) * g for a, g in zip(state["Moment1Out"], gradient)]
    u = [beta2 * a + (1 - beta2) * g * g for a, g in zip(state["Moment2Out"], gradient)]
    r = [
        a / (1 - power1) / (math.sqrt(b / (1 - power2)) + epsilon) + decay * x
        for a, b, x in zip(m, u, p)
    ]
    own, other = norm(p), norm(r)
    if decay > 0 and own > 0 and other > 0:
        rate *= own / other
    return {
        "ParamOut": [x - rate * a for x, a in zip(p, r)],
        "Moment1Out": m,
        "Moment2Out": u,
        "Beta1PowOut": [power1 * beta1],
        "Beta2PowOut": [power2 * beta2],
    }


def number(text, name):
    return float(re.search(r"\b%s = ([-+.eE\d]+)" % name, text).group(1))


def updates_of(case, rule):
    """{parameter: ({slot: variable}, line)} of the plain updates; Grad and LearningRate among the slots."""
    text = os.path.join(case.work, "plain.mlir")
    call(case.tool, "convert", case.main, text)
    found, names, written = {}, {}, set()
    with open(text) as f:
        for line in f:
            defined = re.match(r"\s*(%\w+)(?::\d+)? = (.*)", line)
            if not defined:
                continue
            made = re.match(r"pd.get @(\S+)", defined.group(2))
            outputs = re.findall(r'\("([^"]+)"\)', defined.group(2).split(" {")[0])
            names[defined.group(1)] = [made.group(1)] if made else outputs
            written.update(outputs)
            if " pd.%s " % PLAIN[rule][1] in line:
                slots = dict(re.findall(r'(\w+Out)\("([^"]+)"\)', line))
                for slot in ("Grad", "LearningRate"):
                    value, result = re.search(slot + r"\((%\w+)#?(\d*)\)", line).groups()
                    slots[slot] = names[value][int(result or 0)]
                # A schedule may write the rate before it is read; what the file holds is then old.
                slots["Schedule"] = slots["LearningRate"] in written
                found[slots["ParamOut"]] = (slots, line)
    return found


def share(case, step, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    for feed in case.description["feeds"]:
        array = Array(os.path.join(case.folder, feed["file"]))
        array.write_share(os.path.join(folder, feed["name"] + ".npy"), step, 0, 1)


def compare(what, found, expected):
    for i, (a, b) in enumerate(zip(found, expected)):
        if not abs(a - b) <= ABSOLUTE + RELATIVE * abs(b):
            fail("%s[%d] is %.9g, by the definition it is %.9g" % (what, i, a, b))


def defined(case, rule, flags):
    given = dict(zip(flags, flags[1:]))
    given = {k: v for k, v in given.items() if k.startswith("--l") and not v.startswith("--")}
    options = {name[2:].replace("-", "_"): value for name, value in given.items()}
    excluded = options.pop(rule + "_exclude_from_weight_decay", "")
    options = dict({"lars_epsilon": 0.0}, **{k: float(v) for k, v in options.items()})
    updates = updates_of(case, rule)
    job = case.transpile("job", case.main, "--trainers", "2", *flags)
    state = os.path.join(case.work, "state")
    shutil.copytree(os.path.join(case.folder, "init"), state)
    feeds, fetched = os.path.join(case.work, "feeds"), os.path.join(case.work, "fetched")
    named = []
    for slots, _ in updates.values():
        named += ["--fetch", slots["Grad"]]
        if slots["Schedule"]:
            named += ["--fetch", slots["LearningRate"]]
    apart = set()
    for step in range(STEPS):
        share(case, step, feeds)
        shutil.rmtree(fetched, ignore_errors=True)
        plain = os.path.join(case.work, "plain%d" % step)
        case.run(case.main, feeds, state, plain, "--save-fetches", fetched, *named)
        saved = os.path.join(case.work, "saved%d" % step)
        case.run(job, feeds, state, saved)
        for parameter, (slots, line) in updates.items():
            variables = {k: v for k, v in slots.items() if k.endswith("Out")}
            before = {k: Record(os.path.join(state, v)).values for k, v in variables.items()}
            gradient = read_npy(os.path.join(fetched, slots["Grad"] + ".npy"))
            if slots["Schedule"]:
                rate = read_npy(os.path.join(fetched, slots["LearningRate"] + ".npy"))[0]
            else:
                rate = Record(os.path.join(state, slots["LearningRate"])).values[0]
            own = dict(options, **{n: number(line, n) for n in KEPT[rule]})
            own["excluded"] = bool(excluded) and (
                excluded in parameter if rule == "lars" else parameter.endswith(excluded)
            )
            if own["excluded"]:
                apart.add(parameter)
            for slot, values in {"lars": lars, "lamb": lamb}[rule](before, gradient, rate, own).items():
                found = Record(os.path.join(saved, slots[slot])).values
                compare("step %d: %s of %s" % (step, slot, parameter), found, values)
        shutil.rmtree(state)
        os.rename(saved, state)
    if excluded and not 0 < len(apart) < len(updates):
        fail("%d of %d parameters are excluded" % (len(apart), len(updates)))
    print("%s: %d updates, %d of them excluded, %d steps: as defined" % (rule, len(updates), len(apart), STEPS))


def main(tools, corpus, way, rule, name, *flags):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work)
        {"recorded": recorded, "defined": defined}[way](case, rule, list(flags))


if __name__ == "__main__":
    main(*sys.argv[1:])
