"""Programs whose update is not plain: gradients changed before it, parameters changed behind it, several of it (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.optimizer import lr

from net import classes, net, numbers

O, DECAY = paddle.optimizer, paddle.regularizer
X, Y, LABEL = numbers(6), numbers(3), classes(3, 1)


class Way:
    """An optimizer that is a function of the loss."""

    def __init__(self, do):
        self.do = do

    def minimize(self, loss):
        self.do(loss)


def way(do, rate=0.1):
    return lambda r: Way(lambda loss: do(loss, r))


def plain(name, description, do, rate=0.1, verdict="whole", **more):
    """A net of two layers, trained in a way of its own."""

    def build(x, y):
        return F.cross_entropy(nn.Linear(8, 3)(F.tanh(nn.Linear(6, 8)(x))), y)

    build.__name__ = name
    net(description, verdict, optimizer=way(do), rate=rate, steps=5, x=X, y=LABEL, **more)(build)


def state(name, shape, value=0.0, dtype="float32"):
    return static.create_global_var(list(shape), value, dtype, persistable=True, name=name)


def parameters():
    return static.default_main_program().all_parameters()


def with_rate(optimizer, rate):
    """A rate that the program computes."""
    optimizer._learning_rate_map[static.default_main_program()] = rate
    return optimizer


def changed(optimizer, change):
    """Between backward and update every gradient is changed."""

    def do(loss, rate):
        o = optimizer(rate)
        o.apply_gradients([(p, change(p, g)) for p, g in o.backward(loss)])

    return do


def norm(x):
    return paddle.sqrt(paddle.sum(x * x) + 1e-8)


# Gradients changed before the update.
plain("clip_value_l2", "Momentum, clip by value, decay by squares", lambda loss, r: O.Momentum(r, 0.9, grad_clip=nn.ClipGradByValue(0.05), weight_decay=DECAY.L2Decay(0.01)).minimize(loss))
plain("clip_norm_l1", "Adam, clip by each norm, decay by absolute values", lambda loss, r: O.Adam(r, grad_clip=nn.ClipGradByNorm(0.1), weight_decay=DECAY.L1Decay(0.01)).minimize(loss), 0.02)
plain("clip_global_decay", "Momentum, common norm, decay, warm-up", lambda loss, r: O.Momentum(lr.LinearWarmup(r, 3, 0.01, r), 0.9, grad_clip=nn.ClipGradByGlobalNorm(0.3), weight_decay=DECAY.L2Decay(0.01)).minimize(loss))
plain("scaled_by_hand", "Loss scaled and gradients scaled back by hand", lambda loss, r: changed(lambda r: O.Adam(r), lambda p, g: g / 128.0)(loss * 128.0, r), 0.02)
plain("normalised_gradients", "Each gradient divided by its norm", changed(lambda r: O.SGD(r), lambda p, g: g / norm(g)))
plain("adaptive_clip", "Gradients clipped by the norm of their weights", changed(lambda r: O.Momentum(r, 0.9), lambda p, g: g * paddle.minimum(paddle.full([], 1.0), 0.1 * (norm(p) + 1e-3) / norm(g))))
plain("coupled_decay_by_hand", "Decay added to gradients by hand", changed(lambda r: O.Momentum(r, 0.9), lambda p, g: g + 0.01 * p))
plain("quantised_gradients", "Signs of gradients times their mean size", changed(lambda r: O.SGD(r), lambda p, g: paddle.sign(g) * paddle.mean(paddle.abs(g))))


def gradient_noise(loss, r):
    o = O.SGD(r)
    step = state("noise_step", [1])
    paddle.assign(step + 1.0, step)
    scale = 0.01 / paddle.pow(1.0 + step, 0.55)
    pairs = o.backward(loss)
    o.apply_gradients([(p, g + scale * paddle.tensor.random.gaussian(p.shape, 0.0, 1.0, seed=7 + i)) for i, (p, g) in enumerate(pairs)])


plain("gradient_noise", "Noise of falling size on gradients, seeds given", gradient_noise)


def statistics_of_gradients(loss, r):
    o = O.SGD(r)
    pairs = o.backward(loss)
    mean = state("norm_mean", [1], 0.1)
    n = paddle.sqrt(sum(paddle.sum(g * g) for _, g in pairs)).reshape([1])
    new = 0.8 * mean + 0.2 * n
    factor = paddle.minimum(new / (n + 1e-6), paddle.full([1], 1.0))
    paddle.assign(new, mean)
    o.apply_gradients([(p, g * factor) for p, g in pairs])


plain("clip_by_history", "Clip by a moving mean of the norm", statistics_of_gradients)


def watched(loss, r):
    o = O.Adam(r)
    pairs = o.backward(loss)
    last = state("last_norm", [1])
    paddle.assign(paddle.sqrt(sum(paddle.sum(g * g) for _, g in pairs)).reshape([1]), last)
    o.apply_gradients(pairs)


plain("watched_norm", "The norm of the gradients is kept in a variable", watched, 0.02)


def momentum_by_hand(loss, r):
    for p, g in static.append_backward(loss):
        v = state(p.name + "_v", p.shape)
        new = 0.9 * v + g
        paddle.assign(new, v)
        paddle.assign(p - r * new, p)


plain("momentum_by_hand", "Momentum by arithmetic, no update op", momentum_by_hand)


def decoupled(loss, r):
    o = O.Adam(r)
    pairs = o.backward(loss)
    for p, _ in pairs:
        paddle.assign(p * (1 - 0.01), p)
    o.apply_gradients(pairs)


plain("decoupled_by_hand", "Weights shrunk by hand before the update", decoupled, 0.02)


# Schedules in the program.
def warmed(loss, r):
    step = state("global_step", [1])
    paddle.assign(step + 1.0, step)
    rate = r * paddle.minimum(step / 3.0, paddle.rsqrt(step))
    with_rate(O.Adam(r), rate).minimize(loss)


plain("warm_up_by_hand", "A rate of the step, which the forward part counts", warmed, 0.05)


def pieces(loss, r):
    step = state("global_step", [1], 0, "int64")
    paddle.increment(step)
    rate = paddle.where(step > 2, paddle.full([1], r * 0.1), paddle.full([1], r))
    with_rate(O.Momentum(r, 0.9), rate).minimize(loss)


plain("rate_in_pieces", "A rate in pieces of an integer step", pieces)


def branched(loss, r):
    step = state("global_step", [1])
    paddle.assign(step + 1.0, step)
    rate = static.nn.cond(step < 3.0, lambda: r * step / 3.0, lambda: r / step)
    with_rate(O.SGD(r), rate).minimize(loss)


plain("rate_in_a_branch", "A rate that a branch chooses", branched)


# What follows the update.
def after(optimizer, behind):
    def do(loss, r):
        optimizer(r).minimize(loss)
        behind()

    return do


def bias_corrected():
    step = state("ema_step", [1])
    paddle.assign(step + 1.0, step)
    for p in parameters():
        e, out = state(p.name + "_ema", p.shape), state(p.name + "_averaged", p.shape)
        new = 0.9 * e + 0.1 * p
        paddle.assign(new, e)
        paddle.assign(new / (1.0 - paddle.pow(paddle.full([1], 0.9), step)), out)


def slow_weights():
    step = state("slow_step", [1])
    paddle.assign(step + 1.0, step)
    due = (paddle.remainder(step, paddle.full([1], 2.0)) == 0.0).astype("float32")
    for p in parameters():
        slow = state(p.name + "_slow", p.shape)
        new = slow + 0.5 * (p - slow)
        paddle.assign(due * new + (1.0 - due) * slow, slow)
        paddle.assign(due * new + (1.0 - due) * p, p)


def averaged_weights():
    count = state("swa_count", [1])
    for p in parameters():
        mean = state(p.name + "_swa", p.shape)
        paddle.assign((mean * count + p) / (count + 1.0), mean)
    paddle.assign(count + 1.0, count)


def largest_norm():
    for p in parameters():
        if len(p.shape) == 2:
            n = paddle.sqrt(paddle.sum(p * p, 0, keepdim=True) + 1e-8)
            paddle.assign(p * paddle.minimum(1.0 / n, paddle.full([1], 1.0)), p)


plain("ema_bias_corrected", "Averages with their bias taken back, behind Adam", after(lambda r: O.Adam(r), bias_corrected), 0.02)
plain("slow_by_hand", "Look ahead by arithmetic", after(lambda r: O.SGD(r), slow_weights))
plain("swa_by_hand", "Averages of all steps", after(lambda r: O.Momentum(r, 0.9), averaged_weights))
plain("norms_held", "Columns of weights held below a norm", after(lambda r: O.SGD(r), largest_norm))
plain("clipped_behind", "Weights clipped behind the update", after(lambda r: O.RMSProp(r, epsilon=1e-3), lambda: [paddle.assign(paddle.clip(p, -0.2, 0.2), p) for p in parameters()]), 0.02)
plain("ema_of_library", "Averages of the library, behind Momentum with a clip", after(lambda r: O.Momentum(r, 0.9, grad_clip=nn.ClipGradByGlobalNorm(0.3)), lambda: static.ExponentialMovingAverage(0.9).update()))
plain("average_of_library", "ModelAverage behind Momentum", after(lambda r: O.Momentum(r, 0.9), lambda: paddle.incubate.ModelAverage(0.15, parameters(), 2, 4)))


# Several losses, several optimizers.
def groups(loss, r):
    p = parameters()
    O.Momentum(r, 0.9, grad_clip=nn.ClipGradByGlobalNorm(0.2)).minimize(loss, parameters=p[:2])
    O.Adam(r * 0.1).minimize(loss, parameters=p[2:])


plain("minimized_twice", "One loss minimized twice, over two groups", groups)


def grouped(loss, r):
    pairs = static.append_backward(loss)
    O.SGD(r, weight_decay=0.01).apply_gradients(pairs[:2])
    O.Adam(r * 0.1, grad_clip=nn.ClipGradByNorm(0.2)).apply_gradients(pairs[2:])


plain("two_groups", "One backward part, two optimizers", grouped)


def named(word):
    return [p for p in parameters() if word in p.name]


def adversaries(both):
    def build(z, real):
        name = lambda n: paddle.ParamAttr(name=n)  # noqa: E731
        maker, critic = nn.Linear(3, 4, name("maker_w"), name("maker_b")), nn.Linear(4, 1, name("critic_w"), name("critic_b"))
        fake = F.tanh(maker(z))
        static.default_main_program().critic = F.softplus(-critic(real)).mean() + F.softplus(critic(fake.detach())).mean()
        return F.softplus(-critic(fake)).mean()

    return build


def one_after_the_other(loss, r):
    O.Adam(r, beta1=0.5).minimize(static.default_main_program().critic, parameters=named("critic"))
    O.Adam(r, beta1=0.5).minimize(loss, parameters=named("maker"))


def both_at_once(loss, r):
    c, m = O.Adam(r, beta1=0.5), O.SGD(r)
    first = c.backward(static.default_main_program().critic, parameters=named("critic"))
    second = m.backward(loss, parameters=named("maker"))
    c.apply_gradients(first)
    m.apply_gradients(second)


for n, d, do in (("critic_first", "Generator and critic, the critic updated first", one_after_the_other), ("critic_at_once", "Generator and critic, both updated behind both backward parts", both_at_once)):
    build = adversaries(do)
    build.__name__ = n
    net(d, optimizer=way(do), rate=0.02, steps=5, z=numbers(3), real=numbers(4))(build)


@net("Critic whose gradient by its input is held at one", optimizer=way(lambda loss, r: O.Adam(r).minimize(loss)), rate=0.02, steps=5, x=numbers(4), y=numbers(4))
def penalised_critic(x, y):
    a, b = nn.Linear(4, 6), nn.Linear(6, 1)
    f = lambda v: b(F.tanh(a(v)))  # noqa: E731
    mid = 0.5 * (x + y)
    mid.stop_gradient = False
    (g,) = static.gradients([f(mid)], [mid])
    n = paddle.sqrt(paddle.sum(g * g, 1) + 1e-6)
    return f(x).mean() - f(y).mean() + 0.5 * paddle.square(n - 1.0).mean()


def surgery(loss, r):
    other = static.default_main_program().other
    p = parameters()[:2]
    first, second = static.gradients([loss], p), static.gradients([other], p)
    o = O.SGD(r)
    pairs = []
    for q, a, b in zip(p, first, second):
        dot = paddle.sum(a * b)
        pairs.append((q, a + b - paddle.minimum(dot, paddle.zeros_like(dot)) / (paddle.sum(b * b) + 1e-8) * b))
    o.apply_gradients(pairs)


@net("Gradients of two losses, one projected on the other", optimizer=way(surgery), steps=5, x=X, y=LABEL, z=Y)
def projected_gradients(x, y, z):
    h = F.tanh(nn.Linear(6, 3)(x))
    static.default_main_program().other = F.mse_loss(h, z)
    return F.cross_entropy(h, y)


def taken_apart(loss, r):
    p, other = parameters(), static.default_main_program().other
    first, second = static.gradients([loss], p), static.gradients([other], p)
    O.Momentum(r, 0.9).apply_gradients([(q, a + 0.3 * b) for q, a, b in zip(p, first, second)])


@net("Gradients of two losses, added with weights", optimizer=way(taken_apart), steps=5, x=X, y=LABEL, z=Y)
def weighted_gradients(x, y, z):
    h = nn.Linear(6, 3)(x)
    static.default_main_program().other = F.mse_loss(h, z)
    return F.cross_entropy(h, y)


# Gradients added up by hand.
def accumulated(loss, r):
    o = O.SGD(r)
    step = state("acc_step", [1])
    paddle.assign(step + 1.0, step)
    due = (paddle.remainder(step, paddle.full([1], 2.0)) == 0.0).astype("float32")
    pairs = []
    for p, g in o.backward(loss):
        sum_ = state(p.name + "_acc", p.shape)
        new = sum_ + g
        paddle.assign(new * (1.0 - due), sum_)
        pairs.append((p, new * due * 0.5))
    o.apply_gradients(pairs)


plain("accumulated_by_mask", "Gradients added up over two steps, by a factor of 0 or 1", accumulated)


def accumulated_in_branch(loss, r):
    step = state("acc_step", [1])
    paddle.assign(step + 1.0, step)
    pairs = static.append_backward(loss)
    sums = []
    for p, g in pairs:
        s = state(p.name + "_acc", p.shape)
        paddle.assign(s + g, s)
        sums.append(s)

    def update():
        for (p, _), s in zip(pairs, sums):
            paddle.assign(p - r * 0.5 * s, p)
            paddle.assign(paddle.zeros_like(s), s)

    static.nn.cond(paddle.remainder(step, paddle.full([1], 2.0)) == 0.0, update, None)


plain("accumulated_in_branch", "Gradients added up over two steps, a branch updates", accumulated_in_branch)


def finite_only(loss, r):
    pairs = static.append_backward(loss)
    n = paddle.sqrt(sum(paddle.sum(g * g) for _, g in pairs))

    def update():
        for p, g in pairs:
            paddle.assign(p - r * g, p)

    static.nn.cond(n < 10.0, update, None)


plain("left_out_if_large", "A branch updates where the norm is small", finite_only)


# The forward part sets what is no parameter.
@net("A teacher that follows in the forward part", optimizer=way(lambda loss, r: O.SGD(r).minimize(loss)), steps=5, x=X, y=numbers(6))
def teacher_ahead(x, y):
    student = nn.Linear(6, 3)
    teacher = paddle.create_parameter([6, 3], "float32", name="teacher", attr=paddle.ParamAttr(name="teacher", trainable=False))
    paddle.assign(teacher * 0.9 + student.weight * 0.1, teacher)
    t = F.softmax(paddle.matmul(y, teacher)).detach()
    return F.mse_loss(F.softmax(student(x)), t) + 0.1 * paddle.square(student(x)).mean()


@net("Mean and square of features, moving", "parts", optimizer=way(lambda loss, r: O.SGD(r).minimize(loss)), steps=5, x=X, y=LABEL)
def moving_statistics(x, y):
    h = nn.Linear(6, 8)(x)
    mean = state("moving_mean", [8])
    paddle.assign(0.9 * mean + 0.1 * h.detach().mean(0), mean)
    return F.cross_entropy(nn.Linear(8, 3)(F.tanh(h - mean)), y)


@net("A target copied every second step", optimizer=way(lambda loss, r: O.Adam(r).minimize(loss)), rate=0.02, steps=5, s=X, t=X, a=classes(3), r=numbers())
def copied_target(s, t, a, r):
    q = nn.Linear(6, 3)
    target, step = state("target_w", [6, 3], 0.1), state("target_step", [1])
    due = (paddle.remainder(step, paddle.full([1], 2.0)) == 0.0).astype("float32")
    paddle.assign(due * q.weight + (1.0 - due) * target, target)
    paddle.assign(step + 1.0, step)
    best = paddle.matmul(t, target).max(1).detach()
    return F.smooth_l1_loss((q(s) * F.one_hot(a, 3)).sum(1), r + 0.9 * best)


@net("A weight of a loss that grows with the step; one table twice, one layer frozen", optimizer=way(lambda loss, r: O.AdamW(r, weight_decay=0.1, apply_decay_param_fun=lambda n: "w_0" in n, grad_clip=nn.ClipGradByGlobalNorm(0.5)).minimize(loss)), rate=0.02, steps=5, words=classes(12, 4), next=classes(12, 1))
def annealed_tied(words, next):
    step = state("anneal_step", [1])
    paddle.assign(step + 1.0, step)
    table = nn.Embedding(12, 6)
    h = nn.Linear(6, 6, weight_attr=paddle.ParamAttr(trainable=False))(table(words).mean(1))
    weight = paddle.minimum(step / 4.0, paddle.full([1], 1.0))
    return F.cross_entropy(paddle.matmul(h, table.weight, transpose_y=True), next) + weight * 0.1 * paddle.square(h).mean()
