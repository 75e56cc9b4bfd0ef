"""Objectives of self-supervision, survival, control and science (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, net, numbers
from unseen.families.shared import LABEL, X, score


@net("Views told from each other without negatives (BYOL), predictors both ways", a=X, b=X)
def bootstrapped(a, b):
    online, predictor, target = nn.Linear(6, 4), nn.Linear(4, 4), nn.Linear(6, 4)
    one = lambda u, v: 2 - 2 * F.cosine_similarity(predictor(online(u)), target(v).detach(), axis=1)  # noqa: E731
    return (one(a, b) + one(b, a)).mean()


@net("Views alike, gradients stopped (SimSiam), a layer norm", a=X, b=X)
def simple_siamese(a, b):
    f, h = nn.Sequential(nn.Linear(6, 4), nn.LayerNorm(4)), nn.Linear(4, 4)
    d = lambda u, v: -(F.normalize(h(u), axis=1) * F.normalize(v.detach(), axis=1)).sum(1).mean()  # noqa: E731
    return 0.5 * d(f(a), f(b)) + 0.5 * d(f(b), f(a))


@net("A queue of keys that the step writes: samples of later steps see these", "coupled", a=X, b=X)
def written_queue(a, b):
    q, k = F.normalize(nn.Linear(6, 4)(a)), F.normalize(nn.Linear(6, 4)(b)).detach()
    bank = static.create_global_var([8, 4], 0.5, "float32", persistable=True, name="queue")
    s = paddle.concat([(q * k).sum(1, keepdim=True), paddle.matmul(q, bank, transpose_y=True)], 1) / 0.3
    loss = -F.log_softmax(s)[:, 0].mean()
    paddle.assign(k, bank)
    return loss


@net("Centres of a teacher by a moving mean over the batch (DINO)", "coupled", a=X, b=X)
def centred_teacher(a, b):
    s, t = nn.Linear(6, 4)(a), nn.Linear(6, 4)(b).detach()
    centre = static.create_global_var([1, 4], 0.0, "float32", persistable=True, name="centre")
    loss = -(F.softmax((t - centre) / 0.5) * F.log_softmax(s)).sum(1).mean()
    paddle.assign(centre * 0.9 + t.mean(0, keepdim=True) * 0.1, centre)
    return loss


@net("Instances of a batch told apart, both views together (NT-Xent)", "coupled", a=X, b=X)
def normalised_temperature(a, b):
    f = nn.Linear(6, 4)
    z = F.normalize(paddle.concat([f(a), f(b)], 0), axis=1)
    s = paddle.matmul(z, z, transpose_y=True) / 0.5
    own = (z * paddle.roll(z, 8, 0)).sum(1)
    return (paddle.logsumexp(s, axis=1) - own).mean()


@net("Survival in intervals that are censored", x=X, t=classes(5), seen=bits())
def discrete_hazards(x, t, seen):
    h = F.sigmoid(nn.Linear(6, 5)(x))
    at = F.one_hot(t, 5)
    before = paddle.cumsum(at.flip([1]), axis=1).flip([1]) - at
    ll = (before * paddle.log(1 - h)).sum(1) + seen * (at * paddle.log(h)).sum(1) + (1 - seen) * (at * paddle.log(1 - h)).sum(1)
    return -ll.mean()


@net("Weibull times with shape and scale", x=X, t=("float32", (1,), lambda r, n: r.integers(1, 17, (n, 1)) / np.float32(8)), seen=bits(1))
def weibull(x, t, seen):
    k, s = F.softplus(nn.Linear(6, 1)(x)) + 0.5, F.softplus(nn.Linear(6, 1)(x)) + 0.5
    z = paddle.pow(t / s, 2.0) * k
    return (z - seen * (paddle.log(k) + paddle.log(t) - 2 * paddle.log(s))).mean()


@net("Partial likelihood: everybody at risk in the batch (Cox)", "coupled", x=X, t=numbers(), seen=bits())
def partial_likelihood(x, t, seen):
    r = nn.Linear(6, 1)(x).squeeze(1)
    risk = (t.unsqueeze(0) >= t.unsqueeze(1)).astype("float32")
    return -((r - paddle.log((risk * paddle.exp(r).unsqueeze(0)).sum(1))) * seen).mean()


@net("Negative binomial counts", x=X, y=("float32", (1,), lambda r, n: r.integers(0, 9, (n, 1))))
def negative_binomial(x, y):
    m, a = F.softplus(nn.Linear(6, 1)(x)) + 0.1, F.softplus(nn.Linear(6, 1)(x)) + 0.1
    r = 1 / a
    ll = paddle.lgamma(y + r) - paddle.lgamma(r) - paddle.lgamma(y + 1) + r * paddle.log(r / (r + m)) + y * paddle.log(m / (r + m))
    return -ll.mean()


@net("Beta likelihood of shares", x=X, y=("float32", (1,), lambda r, n: r.integers(1, 16, (n, 1)) / np.float32(16)))
def beta_shares(x, y):
    a, b = (F.softplus(nn.Linear(6, 1)(x)) + 0.5 for _ in range(2))
    return -((a - 1) * paddle.log(y) + (b - 1) * paddle.log(1 - y) - paddle.lgamma(a) - paddle.lgamma(b) + paddle.lgamma(a + b)).mean()


@net("Directions on a sphere", x=X, y=numbers(3))
def directions(x, y):
    m, k = F.normalize(nn.Linear(6, 3)(x), axis=1), F.softplus(nn.Linear(6, 1)(x)) + 0.1
    y = y / (paddle.norm(y, axis=1, keepdim=True) + 1e-2)
    log_c = paddle.log(k) - paddle.log(2 * np.pi * (1 - paddle.exp(-2 * k))) - k
    return -(log_c + k * (m * y).sum(1, keepdim=True)).mean()


@net("Quantiles of values, a target that is held (QR-DQN)", s=X, t=X, a=classes(2), r=numbers())
def quantile_values(s, t, a, r):
    q, held = nn.Linear(6, 8), nn.Linear(6, 8)
    one = F.one_hot(a, 2).unsqueeze(2)
    z = (q(s).reshape([-1, 2, 4]) * one).sum(1)
    n = held(t).reshape([-1, 2, 4])
    best = F.one_hot(paddle.argmax(n.mean(2), 1), 2).unsqueeze(2)
    y = (r.unsqueeze(1) + 0.9 * (n * best).sum(1)).detach()
    u = y.unsqueeze(1) - z.unsqueeze(2)
    tau = paddle.assign(((np.arange(4) + 0.5) / 4).reshape(1, 4, 1).astype("float32"))
    huber = paddle.where(paddle.abs(u) < 1.0, 0.5 * u * u, paddle.abs(u) - 0.5)
    return (paddle.abs(tau - (u.detach() < 0).astype("float32")) * huber).sum(1).mean()


@net("Values of a mixture that is monotone in the others' (QMIX)", s=numbers(4), o=numbers(2, 3), a=classes(3, 2), y=numbers(1))
def monotone_mixture(s, o, a, y):
    q = (nn.Linear(3, 3)(o) * F.one_hot(a, 3)).sum(2)
    w1, b1 = paddle.abs(nn.Linear(4, 8)(s)).reshape([-1, 2, 4]), nn.Linear(4, 4)(s).unsqueeze(1)
    h = F.elu(paddle.bmm(q.unsqueeze(1), w1) + b1)
    w2 = paddle.abs(nn.Linear(4, 4)(s)).unsqueeze(2)
    return F.mse_loss((paddle.bmm(h, w2)).squeeze(2) + nn.Linear(4, 1)(F.relu(nn.Linear(4, 4)(s))), y)


@net("Soft actor and critics: twins, entropy, squashed by tanh with noise that is fed", s=X, e=numbers(2), a=numbers(2), r=numbers(1))
def soft_actor(s, e, a, r):
    m, v = nn.Linear(6, 2)(s), paddle.clip(nn.Linear(6, 2)(s), -5.0, 2.0)
    act = F.tanh(m + paddle.exp(v) * e)
    logp = (-0.5 * e * e - v - paddle.log(1 - act * act + 1e-4)).sum(1, keepdim=True)
    q1, q2 = nn.Linear(8, 1), nn.Linear(8, 1)
    both = paddle.concat([s, a], 1)
    critic = F.mse_loss(q1(both), r) + F.mse_loss(q2(both), r)
    mine = paddle.concat([s, act], 1)
    return critic + (0.2 * logp - paddle.minimum(q1(mine), q2(mine))).mean()


@net("Curiosity: forward and inverse models", s=X, t=X, a=classes(3))
def curiosity(s, t, a):
    f = nn.Linear(6, 4)
    u, v = F.elu(f(s)), F.elu(f(t))
    inverse = F.cross_entropy(nn.Linear(8, 3)(paddle.concat([u, v], 1)), a)
    forward = F.mse_loss(nn.Linear(7, 4)(paddle.concat([u, F.one_hot(a, 3)], 1)), v.detach())
    return 0.8 * inverse + 0.2 * forward


@net("Memory read by keys and written by gates (NTM), erased and added", x=numbers(3, 4), y=numbers(4))
def written_memory(x, y):
    m = paddle.create_parameter([1, 5, 4], "float32", name="memory") + paddle.zeros_like(x[:, :1])
    for t in range(3):
        k, b = nn.Linear(4, 4)(x[:, t]), F.softplus(nn.Linear(4, 1)(x[:, t]))
        w = F.softmax(b * F.cosine_similarity(m, k.unsqueeze(1), axis=2)).unsqueeze(2)
        e, a = F.sigmoid(nn.Linear(4, 4)(x[:, t])), nn.Linear(4, 4)(x[:, t])
        m = m * (1 - w * e.unsqueeze(1)) + w * a.unsqueeze(1)
    return F.mse_loss((w * m).sum(1), y)


@net("Energies and forces: gradients by coordinates are fitted", x=numbers(4), e=numbers(1), f=numbers(4))
def forces(x, e, f):
    x.stop_gradient = False
    u = nn.Linear(6, 1)(F.tanh(nn.Linear(4, 6)(x)))
    (g,) = static.gradients([u], [x])
    return F.mse_loss(u, e) + F.mse_loss(-g, f)


@net("Contractive: the squared Jacobian of a code in closed form", x=X)
def contractive(x):
    w = paddle.create_parameter([6, 4], "float32", name="w")
    h = F.sigmoid(paddle.matmul(x, w))
    j = paddle.matmul(paddle.square(h * (1 - h)), paddle.square(w).sum(0).unsqueeze(1))
    return F.mse_loss(paddle.matmul(h, w, transpose_y=True), x) + 0.1 * j.mean()


@net("Sparse codes: divergence of mean activations over the batch", "coupled", x=X)
def sparse_codes(x):
    h = F.sigmoid(nn.Linear(6, 4)(x))
    p = h.mean(0)
    return F.mse_loss(nn.Linear(4, 6)(h), x) + 0.1 * (0.1 * paddle.log(0.1 / p) + 0.9 * paddle.log(0.9 / (1 - p))).sum()


@net("Codes thresholded in turns (LISTA), soft shrinkage with a step that is learned", x=X)
def unrolled_shrinkage(x):
    d = paddle.create_parameter([6, 8], "float32", name="d")
    t = paddle.create_parameter([8], "float32", name="t", default_initializer=nn.initializer.Constant(0.05))
    z = paddle.zeros_like(paddle.matmul(x, d))
    for _ in range(3):
        r = z + 0.1 * paddle.matmul(x - paddle.matmul(z, d, transpose_y=True), d)
        z = paddle.sign(r) * F.relu(paddle.abs(r) - t)
    return F.mse_loss(paddle.matmul(z, d, transpose_y=True), x) + 0.01 * paddle.abs(z).sum(1).mean()


@net("Fixed point of a layer, eight turns, the last with a gradient", x=X, label=LABEL)
def fixed_point(x, label):
    w = paddle.create_parameter([6, 6], "float32", name="w")
    z = paddle.zeros_like(x)
    for i in range(8):
        z = F.tanh(paddle.matmul(z, w) * 0.5 + x)
        z = z if i == 7 else z.detach()
    return score(z, label)


@net("Splines of a knot vector (KAN), bases by a recurrence", x=numbers(3), y=numbers(2))
def splines(x, y):
    knots = np.linspace(-1.8, 1.8, 10).astype("float32")
    lo, hi = paddle.assign(knots[:-1]), paddle.assign(knots[1:])
    u = x.unsqueeze(2)
    b = paddle.logical_and(u >= lo, u < hi).astype("float32")
    for k in (1, 2):
        a, c = knots[: -k - 1], knots[k + 1 :]
        left = (u - paddle.assign(a)) / paddle.assign(knots[k:-1] - a)
        right = (paddle.assign(c) - u) / paddle.assign(c - knots[1:-k])
        b = left * b[:, :, :-1] + right * b[:, :, 1:]
    w = paddle.create_parameter([3, 7, 2], "float32", name="w")
    return F.mse_loss(paddle.einsum("bik,iko->bo", b, w) + nn.Linear(3, 2)(F.silu(x)), y)


@net("Graph: messages of edges that are fed, summed by target (segments of a sample)", x=numbers(4, 3), src=classes(4, 6), dst=classes(4, 6), label=LABEL)
def edge_messages(x, src, dst, label):
    s, t = F.one_hot(src, 4), F.one_hot(dst, 4)
    m = F.relu(nn.Linear(6, 4)(paddle.concat([paddle.bmm(s, x), paddle.bmm(t, x)], 2)))
    a = nn.Linear(4, 1)(m)
    a = paddle.exp(a - a.max(1, keepdim=True).detach())
    total = paddle.bmm(t, paddle.bmm(t.transpose([0, 2, 1]), a)) + 1e-6
    return score(paddle.bmm(t.transpose([0, 2, 1]), m * a / total).max(1), label)


@net("Graph: polynomials of a Laplacian of constants (Chebyshev)", x=numbers(4, 3), label=LABEL)
def chebyshev(x, label):
    a = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]], "float32")
    l = paddle.assign((-a / 2).astype("float32"))
    t0, t1 = x, paddle.matmul(l, x)
    t2 = 2 * paddle.matmul(l, t1) - t0
    return score(F.relu(sum(nn.Linear(3, 4)(t) for t in (t0, t1, t2))).flatten(1), label)


@net("Translations of a knowledge base, rotations in the plane (TransE, RotatE), self-adversarial weights", h=classes(6), r=classes(3), t=classes(6), n=classes(6, 4))
def knowledge(h, r, t, n):
    e, w = nn.Embedding(6, 4), nn.Embedding(3, 2)
    re, im = e(h).chunk(2, axis=-1)
    c, s = paddle.cos(w(r)), paddle.sin(w(r))
    turned = paddle.concat([re * c - im * s, re * s + im * c], 1)
    gap = lambda u, v: 1.0 - paddle.sqrt(paddle.square(u - v).sum(-1) + 1e-4)  # noqa: E731
    negative = gap(turned.unsqueeze(1), e(n))
    weight = F.softmax(negative).detach()
    return -(F.log_sigmoid(gap(turned, e(t))) + (weight * F.log_sigmoid(-negative)).sum(1)).mean() / 2
