"""Mixed precision through the command line: a job that transpile --amp makes, held against the same program in float32, and steps that overflow.

    amp_case.py TOOL_FOLDER CORPUS train CASE RANKS [TRANSPILE FLAG...]
    amp_case.py TOOL_FOLDER CORPUS overflow CASE RANKS [TRANSPILE FLAG...]
    amp_case.py TOOL_FOLDER CORPUS export CASE RANKS [TRANSPILE FLAG...]

train: on each number of RANKS (a comma-separated list) losses differ from those of the float32 job by at most what the precision implies, and do differ; where flags change the update rule the float32 job has them too. Two runs of a job give the same bits.
overflow: a scale that makes infinities of all gradients. The step leaves every variable of the program as it was, to the bit, and halves the scale;
the steps after the scale has become small enough train.
With --use-pure-fp16 or --use-pure-bf16 the initial values are those of the corpus in the types that the job has.
export: the programs of the ranks have the framework's ops of mixed precision, the sums of gradients are of half precision, and the block of the steps
that overflow writes what the program sets outside of its update.
"""

import json
import math
import os
import shutil
import struct
import sys
import tempfile

from local_sgd_case import Record
from train_case import call, check_verified, fail, read_record, scalar

BAD_STEPS = 3
MASTER = "_fp32_master_0"


def to_bfloat16(value):
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    return struct.pack("<H", (bits + 0x7FFF + (bits >> 16 & 1)) >> 16)


ROUND = {4: lambda value: struct.pack("<e", value), 22: to_bfloat16}  # by the framework's type codes
HUGE = 3.0e38


class Case:
    def __init__(self, tools, corpus, case, work, pure=False):
        self.tool, self.work = os.path.join(tools, "dtranspile"), work
        self.folder = os.path.join(corpus, case)
        with open(os.path.join(self.folder, "case.json")) as f:
            self.description = json.load(f)
        self.loss = self.description["loss"]
        self.steps = self.description["steps"]
        self.program = [os.path.join(self.folder, "main.pdmodel")]
        self.program += ["--startup", os.path.join(self.folder, "startup.pdmodel")]
        self.pure = pure

    def transpile(self, name, ranks, *flags):
        job = os.path.join(self.work, name)
        call(self.tool, "transpile", *self.program, "-o", job, "--trainers", str(ranks), *flags)
        return job

    def init_of(self, job):
        """Initial values, in the types that the job has: of parameters in half precision both copies."""
        plain = os.path.join(self.folder, "init")
        folder = os.path.join(self.work, "init")
        if not self.pure:
            return plain
        if os.path.isdir(folder):
            return folder
        made = self.run(job, "made", 1, None)[1]
        shutil.copytree(plain, folder)
        copies = [n for n in os.listdir(made) if n.endswith(MASTER)]
        if not copies:
            fail("no parameter lies in half precision")
        for name in copies:
            parameter = name[: -len(MASTER)]
            with open(os.path.join(made, parameter), "rb") as f:
                head = f.read()
            size = 20 + struct.unpack_from("<i", head, 16)[0]
            values = read_record(os.path.join(plain, parameter))
            os.rename(os.path.join(folder, parameter), os.path.join(folder, name))
            with open(os.path.join(folder, parameter), "wb") as f:
                f.write(head[:size] + b"".join(ROUND[head[21]](v) for v in values))
        print("%d parameters in half precision" % len(copies))
        return folder

    def run(self, job, name, steps, init=""):
        """Losses, and the folder of the variables after the last step."""
        saved, report = (os.path.join(self.work, name + end) for end in (".saved", ".json"))
        data = ["--feeds", os.path.join(self.folder, "feeds"), "--steps", str(steps)]
        if init is not None:
            data += ["--init", init or self.init_of(job)]
        if self.description.get("lr_var"):
            rates = ",".join(map(str, self.description["lr_per_step"]))
            data += ["--per-step", self.description["lr_var"] + "=" + rates]
        cache = os.path.join(self.work, "cache")
        call(self.tool, "run", job, *data, "--save", saved, "--report", report, "--cache", cache)
        with open(report) as f:
            found = json.load(f)
        if not found["ok"]:
            fail("%s: %s" % (name, found))
        return [scalar(value) for value in found["fetch"][self.loss]], saved


def without_amp(flags):
    """Flags of the update rule and of communication."""
    kept, names = [], ("--lars", "--lamb", "--gradient", "--recompute", "--use-hier", "--hier", "--sync")
    for i, flag in enumerate(flags):
        if flag.startswith(names):
            kept.append(flag)
            if i + 1 < len(flags) and not flags[i + 1].startswith("--"):
                kept.append(flags[i + 1])
    return kept


def rounded(value, step):
    """The nearest number of so many digits."""
    mantissa, exponent = math.frexp(value)
    return math.ldexp(round(mantissa / step) * step, exponent)


def sensitivity(case, plain, expected, unit):
    """How far a float32 run ends from itself when weights are changed once, by a relative error of a half precision: rounded to it, and by errors of
    that size with signs and sizes of a fixed sequence. The larger of both."""
    plain_init, worst, state = os.path.join(case.folder, "init"), 0.0, 1

    def drawn(value):
        nonlocal state
        state = (1103515245 * state + 12345) % 2**31
        return value * (1 + unit * (2.0 * state / 2**31 - 1))

    for number, change in enumerate((lambda value: rounded(value, unit), drawn)):
        init = os.path.join(case.work, "changed%d" % number)
        if not os.path.isdir(init):
            shutil.copytree(plain_init, init)
            for name in case.description["params"]:
                record = Record(os.path.join(init, name))
                record.write(os.path.join(init, name), [change(value) for value in record.values])
        found, _ = case.run(plain, "changed%d" % number, case.steps, init)
        worst = max(worst, apart(found, expected))
    return worst


def apart(found, expected):
    return max(abs(a - b) / max(abs(b), 1e-3) for a, b in zip(found, expected))


# A half precision has relative errors of at most UNIT. They are made in six kinds of values: weights, what products take beside them, and what they
# give, in the forward part, and in the gradients of the three. Errors in weights are one of the kinds, and what these do is measured; where all six
# have the same sign it is six times as much. With pure precision what is between the products is rounded as well, in both parts.
UNIT = {"float16": 2.0**-11, "bfloat16": 2.0**-8}
KINDS = {False: 6, True: 12}


def train(case, ranks, flags):
    half = "bfloat16" if {"bfloat16", "--use-pure-bf16"} & set(flags) else "float16"
    for count in map(int, ranks.split(",")):
        what = "%d ranks" % count
        plain = case.transpile("plain%d" % count, count, *without_amp(flags))
        expected, _ = case.run(plain, "plain%d" % count, case.steps, os.path.join(case.folder, "init"))
        once = sensitivity(case, plain, expected, UNIT[half])
        bound = KINDS[case.pure] * once
        job = case.transpile("job%d" % count, count, "--amp", *flags)
        check_verified(case.tool, job)
        found, saved = case.run(job, "run%d" % count, case.steps)
        again, saved_again = case.run(job, "again%d" % count, case.steps)
        worst = apart(found, expected)
        if not 0 < worst <= bound:
            fail("%s: losses %s, in float32 %s: %.2e apart, of %.2e" % (what, found, expected, worst, bound))
        if found != again:
            fail("%s: losses %s, in a second run %s" % (what, found, again))
        for name in sorted(os.listdir(saved)):
            if content(saved, name) != content(saved_again, name):
                fail("%s: %s differs in a second run" % (what, name))
        print("%s: losses differ by at most %.2e of %.2e" % (what, worst, bound))


def content(folder, name):
    with open(os.path.join(folder, name), "rb") as f:
        return f.read()


def scale_of(folder):
    return read_record(os.path.join(folder, "loss_scaling_0"))[0]


def overflow(case, ranks, flags):
    scaling = ["--init-loss-scaling", repr(HUGE), "--decr-every-n-nan-or-inf", "1"]
    for count in map(int, ranks.split(",")):
        what = "%d ranks" % count
        job = case.transpile(
            "job%d" % count, count, "--amp", *scaling, "--decr-ratio", "0.5", *flags
        )
        check_verified(case.tool, job)
        rate = case.description.get("lr_var")
        for steps in (1, BAD_STEPS):
            losses, saved = case.run(job, "bad%d_%d" % (count, steps), steps)
            own = [n for n in case.description["persistables"] if n != rate]
            for name in own + [n for n in os.listdir(saved) if n.endswith(MASTER)]:
                if content(saved, name) != content(case.init_of(job), name):
                    fail("%s: %d steps that overflow change %s" % (what, steps, name))
            expected = HUGE * 0.5**steps
            if abs(scale_of(saved) / expected - 1) > 1e-6:
                fail("%s: after %d steps the scale is %g" % (what, steps, scale_of(saved)))
        print("%s: %d variables stay, the scale is %g" % (what, len(own), scale_of(saved)))
        recover(case, count, flags)


def recover(case, count, flags):
    """From one overflow on: the second step is as the first of a job that begins with the smaller scale."""
    scaling = ["--decr-every-n-nan-or-inf", "1", "--decr-ratio", "1e-36", "--init-loss-scaling"]
    job = case.transpile("from%d" % count, count, "--amp", *scaling, repr(HUGE), *flags)
    _, saved = case.run(job, "from%d" % count, 2)
    parameter = case.description["params"][0]
    if content(saved, parameter) == content(case.init_of(job), parameter):
        fail("%d ranks: %s does not move after the scale has become %g" % (count, parameter, scale_of(saved)))


def export(case, ranks, flags):
    job = case.transpile("job", int(ranks), "--amp", *flags)
    programs, text = os.path.join(case.work, "programs"), os.path.join(case.work, "main.mlir")
    call(case.tool, "export", job, "-o", programs)
    main_program = [n for n in sorted(os.listdir(programs)) if "main" in n and "0" in n][0]
    call(case.tool, "convert", os.path.join(programs, main_program), text)
    with open(text) as f:
        lines = f.read().split("\n")
    for op in ("check_finite_and_unscale", "update_loss_scaling"):
        if sum(" pd.%s " % op in line for line in lines) != 1:
            fail("the exported program has not one " + op)
    sums = [line for line in lines if " pd.c_allreduce_sum " in line]
    if int(ranks) > 1 and not any("xf16>" in line for line in sums):
        fail("no sum of the exported program is of half precision")
    starts = [i for i, line in enumerate(lines) if "pd.conditional_block " in line]
    inside = "\n".join(lines[starts[-1] :])
    statistics = [n for n in case.description["persistables"] if n.endswith((".w_1", ".w_2"))]
    for name in statistics:
        if "pd.assign X(" not in inside or 'Out("%s")' % name not in inside:
            fail("the exported program does not set %s back" % name)
    if len(starts) != (2 if statistics else 1):
        fail("%d branches in the exported program" % len(starts))
    copies = sum("MasterParamOut(" in line and "multi_precision = true" in line for line in lines)
    if bool(copies) != case.pure:
        fail("%d updates of the exported program have a copy in float32" % copies)
    print("%d sums, %d variables are set back, %d updates of copies" % (len(sums), len(statistics), copies))


def main(tools, corpus, way, name, ranks, *rest):
    with tempfile.TemporaryDirectory() as work:
        case = Case(tools, corpus, name, work, any(flag.startswith("--use-pure") for flag in rest))
        if way == "train":
            train(case, ranks, rest)
        else:
            {"overflow": overflow, "export": export}[way](case, ranks, rest)


if __name__ == "__main__":
    main(*sys.argv[1:])
