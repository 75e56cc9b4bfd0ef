"""Optimizers, clips and schedules in combinations that no other file has (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.optimizer import lr

from net import net, numbers
from unseen.training import trained

O, CLIP, DECAY = paddle.optimizer, nn, paddle.regularizer

trained("rms_centered", "RMSProp, centered, momentum, clip by value", lambda r: O.RMSProp(r, rho=0.9, epsilon=1e-3, momentum=0.8, centered=True, grad_clip=CLIP.ClipGradByValue(0.5)), 0.02)
trained("adagrad_l1", "Adagrad, decay by absolute values, clip by each norm", lambda r: O.Adagrad(r, weight_decay=DECAY.L1Decay(0.02), grad_clip=CLIP.ClipGradByNorm(0.2)))
trained("adadelta_clip", "Adadelta, decay by squares, clip by common norm", lambda r: O.Adadelta(r, rho=0.8, weight_decay=0.1, grad_clip=CLIP.ClipGradByGlobalNorm(0.2)), 1.0)
trained("adamax_clip", "Adamax, clip by value between two numbers", lambda r: O.Adamax(r, grad_clip=CLIP.ClipGradByValue(0.2, -0.05)), 0.05)
trained("adam_l1", "Adam, decay by absolute values", lambda r: O.Adam(r, weight_decay=DECAY.L1Decay(0.05)), 0.05)
trained("lamb_schedule", "Lamb, a schedule, moments of its own", lambda r: O.Lamb(lr.PolynomialDecay(r, 4, 0.01), 0.05, 0.8, 0.9, 1e-4), 0.05)
trained("ftrl", "Follow the regularised leader", lambda r: Ftrl(r, 0.01, 0.02))
trained("ftrl_power", "Follow the regularised leader, another power", lambda r: Ftrl(r, 0.0, 0.1, -0.7))
trained("decayed", "Adagrad with decayed squares", lambda r: Raw("decayed_adagrad", ["Moment"], r, decay=0.9, epsilon=1e-3))
trained("proximal_steps", "Proximal gradient", lambda r: Raw("proximal_gd", [], r, l1=0.01, l2=0.05))
trained("natural", "Rate by a natural exponent", lambda r: O.SGD(lr.NaturalExpDecay(r, 0.3)))
trained("inverse", "Rate by an inverse of time, nesterov", lambda r: O.Momentum(lr.InverseTimeDecay(r, 0.5), 0.9, use_nesterov=True))
trained("by_function", "Rate by a function", lambda r: O.Adam(lr.LambdaDecay(r, lambda n: 0.8**n)), 0.05)
trained("multiplied", "Rate multiplied", lambda r: O.SGD(lr.MultiplicativeDecay(r, lambda n: 0.7)))
trained("milestones", "Rate at milestones", lambda r: O.RMSProp(lr.MultiStepDecay(r, [1, 3], 0.5)), 0.02)
trained("cyclic", "Rate in cycles", lambda r: O.SGD(lr.CyclicLR(r, 0.3, 2, 2)))
trained("warm_pieces", "Rate in pieces after a warm-up", lambda r: O.Adamax(lr.LinearWarmup(lr.PiecewiseDecay([2, 3], [0.1, 0.05, 0.01]), 2, 0.01, 0.1)))
trained("cosine_restarts", "Rate by a cosine that comes back", lambda r: O.SGD(lr.CosineAnnealingDecay(r, 2, 0.01)))


class Raw:
    """An op of the update that has no class of its own in this release: its state starts at 0.1."""

    def __init__(self, kind, states, rate, **attributes):
        self.kind, self.states, self.rate, self.attributes = kind, states, rate, attributes

    def minimize(self, loss):
        pairs = paddle.static.append_backward(loss)
        rate = paddle.static.create_global_var([1], self.rate, "float32", persistable=True, name="rate")
        block = loss.block
        with paddle.static.program_guard(block.program):
            for p, g in pairs:
                state = {s: paddle.static.create_global_var(list(p.shape), 0.1, "float32", persistable=True, name=p.name + s) for s in self.states}
                inputs = {"Param": p, "Grad": g, "LearningRate": rate, **state}
                op = block.append_op(
                    type=self.kind,
                    inputs={k: [v] for k, v in inputs.items()},
                    outputs={"ParamOut": [p], **{k.replace("Accumulator", "AccumOut") if "Accumulator" in k else k + "Out": [v] for k, v in state.items()}},
                    attrs=self.attributes,
                )
                op._set_attr("op_role", 2)
                op._set_attr("op_role_var", [p.name, g.name])


class Ftrl(Raw):
    def __init__(self, rate, l1, l2, power=-0.5):
        super().__init__("ftrl", ["SquaredAccumulator", "LinearAccumulator"], rate, l1=l1, l2=l2, lr_power=power)


def groups(rate):
    class Groups:
        def minimize(self, loss):
            pairs = paddle.static.append_backward(loss)
            half = len(pairs) // 2
            O.Momentum(rate, 0.9, grad_clip=CLIP.ClipGradByGlobalNorm(0.1), weight_decay=0.1).apply_gradients(pairs[:half])
            O.AdamW(rate * 0.1, grad_clip=CLIP.ClipGradByNorm(0.2), weight_decay=0.1).apply_gradients(pairs[half:])

    return Groups()


trained("group_clips", "Two groups: one clipped by common norm, one by each norm", groups)


def adversaries(rate):
    class Two:
        def minimize(self, loss):
            block = loss.block
            of = lambda word: [p for p in block.program.all_parameters() if word in p.name]  # noqa: E731
            critic = block.program.critic
            O.Adam(rate, beta1=0.5).minimize(critic, parameters=of("critic"))
            O.Adam(rate, beta1=0.5).minimize(loss, parameters=of("maker"))

    return Two()


@net("Generator and critic, each with its optimizer and its loss in one program", optimizer=adversaries, rate=0.02, z=numbers(3), real=numbers(4))
def adversaries_in_one(z, real):
    name = lambda n: paddle.ParamAttr(name=n)  # noqa: E731
    maker = nn.Linear(3, 4, name("maker_w"), name("maker_b"))
    critic = nn.Linear(4, 1, name("critic_w"), name("critic_b"))
    fake = F.tanh(maker(z))
    program = paddle.static.default_main_program()
    program.critic = F.relu(1 - critic(real)).mean() + F.relu(1 + critic(fake.detach())).mean()
    return -critic(fake).mean()


@net("Weights of a critic clipped after each step", optimizer=lambda r: Clipped(r), x=numbers(4), y=numbers(4))
def clipped_critic(x, y):
    f = nn.Linear(4, 1)
    return f(x).mean() - f(y).mean() + 0.1 * paddle.square(f(x) - f(y)).mean()


class Clipped:
    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        O.RMSProp(self.rate).minimize(loss)
        for p in loss.block.program.all_parameters():
            paddle.assign(paddle.clip(p, -0.05, 0.05), p)


@net("A teacher that follows by a moving average, written by the program", x=numbers(6), y=numbers(6), optimizer=lambda r: Follower(r))
def mean_teacher(x, y):
    student = nn.Linear(6, 3)
    teacher = paddle.create_parameter([6, 3], "float32", name="teacher")
    teacher.stop_gradient = True
    teacher.trainable = False
    t = F.softmax(paddle.matmul(y, teacher)).detach()
    return F.mse_loss(F.softmax(student(x)), t) + 0.1 * paddle.square(student(x)).mean()


class Follower:
    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        O.SGD(self.rate).minimize(loss)
        p = loss.block.program.all_parameters()
        teacher, student = [q for q in p if q.name == "teacher"][0], [q for q in p if "w_0" in q.name][0]
        paddle.assign(teacher * 0.9 + student * 0.1, teacher)
