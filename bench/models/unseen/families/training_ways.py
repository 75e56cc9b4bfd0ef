"""Ways to train: distilled, mixed, reversed, policies, quantised, pruned, forecasts, labels ignored; batches whose samples see each other (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers
from unseen.families.shared import IMAGE, LABEL, NEXT, WORDS, X, score


@net("Categorical policy: log probabilities and entropy of the library", x=X, a=classes(3), gain=numbers())
def policy(x, a, gain):
    p = paddle.distribution.Categorical(nn.Linear(6, 3)(x))
    logits = F.log_softmax(nn.Linear(6, 3)(x))
    return -((logits * F.one_hot(a, 3)).sum(1) * gain).mean() - 0.1 * p.entropy().mean()


@net("Distilled: two heats, features and attention of a teacher that is held", x=numbers(4, 6), label=LABEL)
def distilled(x, label):
    t = nn.Linear(8, 3)(F.relu(nn.Linear(6, 8)(x)).mean(1)).detach()
    s = nn.Linear(5, 3)(F.relu(nn.Linear(6, 5)(x)).mean(1))
    heat = F.kl_div(F.log_softmax(s / 2.0), F.softmax(t / 2.0), reduction="batchmean") * 4.0
    return 0.5 * heat + 0.5 * F.cross_entropy(s, label)


@net("Mixed up: two labels with a weight that is fed", a=X, b=X, la=LABEL, lb=LABEL, w=("float32", (1,), lambda r, n: r.integers(0, 9, (n, 1)) / np.float32(8)))
def mixed_up(a, b, la, lb, w):
    s = nn.Linear(6, 3)(a * w + b * (1 - w))
    return (F.cross_entropy(s, la, reduction="none") * w + F.cross_entropy(s, lb, reduction="none") * (1 - w)).mean()


@net("Reversed gradients for domains", x=X, label=LABEL, domain=bits(1))
def reversed_gradient(x, label, domain):
    h = F.relu(nn.Linear(6, 8)(x))
    turned = (h * 2).detach() - h
    return score(h, label) + 0.3 * F.binary_cross_entropy_with_logits(nn.Linear(8, 1)(turned), domain)


@net("Uncertainty weights of two tasks that are learned", x=X, y=numbers(1), label=LABEL)
def learned_weights(x, y, label):
    s = paddle.create_parameter([2], "float32", name="log_variance")
    h = F.relu(nn.Linear(6, 8)(x))
    return paddle.exp(-s[0]) * F.mse_loss(nn.Linear(8, 1)(h), y) + s[0] + paddle.exp(-s[1]) * score(h, label) + s[1]


@net("Actor and critic with gains that are held", s=X, t=X, a=classes(3), r=numbers())
def actor_critic(s, t, a, r):
    v, p = nn.Linear(6, 1), nn.Linear(6, 3)
    gain = r + 0.9 * v(t).squeeze(1).detach() - v(s).squeeze(1)
    logits = F.log_softmax(p(s))
    entropy = -(paddle.exp(logits) * logits).sum(1)
    return (-(logits * F.one_hot(a, 3)).sum(1) * gain.detach() + 0.5 * paddle.square(gain) - 0.01 * entropy).mean()


@net("Returns of an episode, discounted backwards, advantages of general kind", x=numbers(5, 3), r=numbers(5))
def advantages(x, r):
    v = nn.Linear(3, 1)(x).squeeze(2)
    held, g, out = v.detach(), 0.0, []
    for t in reversed(range(5)):
        after = held[:, t + 1] if t < 4 else 0.0
        g = r[:, t] + 0.9 * after - held[:, t] + 0.9 * 0.8 * g
        out.insert(0, g)
    return F.mse_loss(v, paddle.stack(out, 1) + held)


@net("Self-normalising: selu and alpha", x=X, y=numbers(2))
def self_normalising(x, y):
    return F.mse_loss(nn.Linear(8, 2)(F.selu(nn.Linear(6, 8)(x))), y)


@net("Highway and maxout layers", x=X, label=LABEL)
def highway(x, label):
    for _ in range(2):
        t = F.sigmoid(nn.Linear(6, 6)(x))
        x = t * F.relu(nn.Linear(6, 6)(x)) + (1 - t) * x
    return score(F.maxout(nn.Linear(6, 12)(x).unsqueeze([2, 3]), 3), label)


@net("Neural accumulators: weights of two saturations, logarithms", x=numbers(4), y=numbers(2))
def accumulators(x, y):
    w = F.tanh(paddle.create_parameter([4, 2], "float32", name="a")) * F.sigmoid(paddle.create_parameter([4, 2], "float32", name="b"))
    m = paddle.exp(paddle.matmul(paddle.log(paddle.abs(x) + 1e-2), w))
    g = F.sigmoid(nn.Linear(4, 2)(x))
    return F.mse_loss(g * paddle.matmul(x, w) + (1 - g) * m, y)


@net("Low rank adapters beside frozen weights", x=X, y=numbers(2))
def adapters(x, y):
    base = nn.Linear(6, 6, weight_attr=paddle.ParamAttr(trainable=False), bias_attr=False)
    a, b = nn.Linear(6, 2, bias_attr=False), nn.Linear(2, 6, bias_attr=False)
    return F.mse_loss(nn.Linear(6, 2)(base(x) + 0.5 * b(a(x))), y)


@net("Quantised by straight-through with a scale that is learned", x=X, y=numbers(2))
def learned_steps(x, y):
    layer = nn.Linear(6, 2)
    s = paddle.create_parameter([1], "float32", name="step", default_initializer=nn.initializer.Constant(0.25))
    v = paddle.clip(layer.weight / s, -4.0, 3.0)
    v = (paddle.round(v) - v).detach() + v
    return F.mse_loss(paddle.matmul(x, v * s) + layer.bias, y)


@net("Pruned by a gate of probabilities", x=X, y=numbers(2))
def gates_of_weights(x, y):
    g = paddle.clip(F.sigmoid(paddle.create_parameter([6, 2], "float32", name="gate")) * 1.2 - 0.1, 0.0, 1.0)
    w = paddle.create_parameter([6, 2], "float32", name="w")
    return F.mse_loss(paddle.matmul(x, w * g), y) + 0.01 * g.sum()


@net("Wavelets: even and odd, predicted and updated", x=numbers(8), label=LABEL)
def lifting(x, label):
    h = x
    for _ in range(2):
        even, odd = h[:, ::2], h[:, 1::2]
        odd = odd - nn.Linear(even.shape[1], even.shape[1])(even)
        h = even + nn.Linear(odd.shape[1], odd.shape[1])(odd)
    return score(h, label)


@net("Forecasts: trend and season apart, a moving average", x=numbers(8), y=numbers(3))
def decomposed(x, y):
    p = F.pad(x.unsqueeze(1), [1, 1], mode="replicate", data_format="NCL")
    trend = F.avg_pool1d(p, 3, 1).squeeze(1)
    return F.mse_loss(nn.Linear(8, 3)(trend) + nn.Linear(8, 3)(x - trend), y)


@net("Blocks that subtract what they explain, quantiles forecast", x=numbers(6), y=numbers(2))
def residual_blocks(x, y):
    total = 0.0
    for _ in range(2):
        h = F.relu(nn.Linear(6, 8)(x))
        x, total = x - nn.Linear(8, 6)(h), total + nn.Linear(8, 4)(h).reshape([-1, 2, 2])
    e = y.unsqueeze(2) - total
    q = paddle.assign(np.array([0.2, 0.8], "float32"))
    return paddle.maximum(q * e, (q - 1) * e).mean()


@net("Whitened features of the batch", "coupled", x=X, label=LABEL)
def whitened(x, label):
    h = nn.Linear(6, 4)(x)
    h = h - h.mean(0, keepdim=True)
    c = paddle.matmul(h, h, transpose_x=True) / 8.0 + 0.1 * paddle.eye(4)
    return score(paddle.matmul(h, paddle.inverse(c)), label)


@net("Deviation of the batch as a channel", "coupled", image=IMAGE, label=LABEL)
def batch_deviation(image, label):
    s = paddle.std(image, axis=0, unbiased=False).mean()
    return score(paddle.concat([image, paddle.zeros_like(image[:, :1]) + s], 1), label)


@net("Relative critics: against the mean of the other batch", "coupled", a=X, b=X)
def relativistic(a, b):
    d = nn.Linear(6, 1)
    r, f = d(a), d(b)
    return F.softplus(-(r - f.mean())).mean() + F.softplus(f - r.mean()).mean()


@net("Hard triplets of the batch", "coupled", x=X, y=classes(2))
def batch_hard(x, y):
    h = nn.Linear(6, 3)(x)
    d = paddle.square(h.unsqueeze(0) - h.unsqueeze(1)).sum(-1)
    same = (y.unsqueeze(0) == y.unsqueeze(1)).astype("float32")
    return F.relu((d * same).max(1) - (d + 100.0 * same).min(1) + 0.3).mean()


@net("Labels below 0 ignored: the framework divides by all of them", words=WORDS, next=("int64", (5, 1), lambda r, n: r.integers(-1, 12, (n, 5, 1))))
def ignored(words, next):
    return F.cross_entropy(nn.Linear(6, 12)(nn.Embedding(12, 6)(words)), next, ignore_index=-1)


@net("Labels of class 0 ignored, divided by those counted", "parts", words=WORDS, next=NEXT)
def ignored_class(words, next):
    return F.cross_entropy(nn.Linear(6, 12)(nn.Embedding(12, 6)(words)), next, ignore_index=0)


@net("Labels ignored, each text divided by its own count", words=WORDS, next=("int64", (5, 1), lambda r, n: r.integers(-1, 12, (n, 5, 1))))
def ignored_per_text(words, next):
    loss = F.cross_entropy(nn.Linear(6, 12)(nn.Embedding(12, 6)(words)), next, ignore_index=-1, reduction="none").squeeze(2)
    return (loss.sum(1) / ((next.squeeze(2) >= 0).astype("float32").sum(1) + 1.0)).mean()
