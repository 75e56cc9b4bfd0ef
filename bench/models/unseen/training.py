"""Optimizers, schedules, clips, averages, several losses; ragged batches (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.optimizer import lr

from net import bits, classes, net, numbers, ragged

X, Y, LABEL = numbers(6), numbers(2), classes(3, 1)
DECAY, CLIP = paddle.regularizer, nn


def regress(x, y):
    return F.mse_loss(nn.Linear(8, 2)(F.tanh(nn.Linear(6, 8)(x))), y)


def trained(name, description, optimizer, rate=0.1, verdict="whole"):
    def build(x, y):
        return regress(x, y)

    build.__name__ = name
    net(description, verdict, optimizer=optimizer, rate=rate, x=X, y=Y)(build)


O = paddle.optimizer
trained("plain_sgd", "SGD, decay by squares", lambda r: O.SGD(r, weight_decay=0.1))
trained("sgd_absolute", "SGD, decay by absolute values", lambda r: O.SGD(r, weight_decay=DECAY.L1Decay(0.05)))
trained("nesterov", "Nesterov, decay, clip by value", lambda r: O.Momentum(r, 0.8, use_nesterov=True, weight_decay=DECAY.L2Decay(0.1), grad_clip=CLIP.ClipGradByValue(0.1)))
trained("adagrad_started", "Adagrad with a first value", lambda r: O.Adagrad(r, initial_accumulator_value=0.2))
trained("adadelta_rho", "Adadelta", lambda r: O.Adadelta(r, epsilon=1e-3, rho=0.9), 1.0)
trained("adam_clipped", "Adam, betas, clip by common norm", lambda r: O.Adam(r, 0.8, 0.95, 1e-4, grad_clip=CLIP.ClipGradByGlobalNorm(0.3)), 0.05)
trained("adam_lazy", "Adam, lazy mode", lambda r: O.Adam(r, lazy_mode=True), 0.05)
trained("adamw_ratio", "AdamW, some without decay", lambda r: O.AdamW(r, weight_decay=0.1, apply_decay_param_fun=lambda n: "w_" in n), 0.05)
trained("adamax", "Adamax, decay", lambda r: O.Adamax(r, weight_decay=0.05), 0.05)
trained("lamb_excluded", "Lamb, some without decay", lambda r: O.Lamb(r, 0.1, exclude_from_weight_decay_fn=lambda p: "b_" in p.name), 0.05)
trained("lamb_clipped", "Lamb, clip by common norm", lambda r: O.Lamb(r, 0.1, grad_clip=CLIP.ClipGradByGlobalNorm(0.3)), 0.05)
trained("rms_plain", "RMSProp", lambda r: O.RMSProp(r, rho=0.9, epsilon=1e-4), 0.02)
trained("clip_each", "Momentum, each gradient clipped by its norm", lambda r: O.Momentum(r, 0.9, grad_clip=CLIP.ClipGradByNorm(0.1)))
trained("stepped", "Rate in steps", lambda r: O.Momentum(lr.StepDecay(r, 2, 0.5), 0.9))
trained("cosine", "Rate by a cosine, warmed up", lambda r: O.Adam(lr.LinearWarmup(lr.CosineAnnealingDecay(r, 4), 2, 0.0, r)), 0.05)
trained("one_cycle", "Rate of one cycle", lambda r: O.SGD(lr.OneCycleLR(r, 8)))
trained("noam", "Rate of the transformer", lambda r: O.Adam(lr.NoamDecay(8, 4)))
trained("pieces", "Rate in pieces", lambda r: O.SGD(lr.PiecewiseDecay([1, 3], [0.1, 0.05, 0.01])))
trained("polynomial", "Rate by a polynomial", lambda r: O.SGD(lr.PolynomialDecay(r, 5, power=2.0)))
trained("exponential", "Rate by a power, decay by squares", lambda r: O.SGD(lr.ExponentialDecay(r, 0.9), weight_decay=0.01))
trained("lars", "Lars", lambda r: paddle.incubate.optimizer.LarsMomentumOptimizer(r, 0.9) if hasattr(paddle.incubate.optimizer, "LarsMomentumOptimizer") else O.SGD(r))
trained("look_ahead", "Look ahead over SGD", lambda r: paddle.incubate.LookAhead(O.SGD(r), alpha=0.5, k=2))
trained("merged", "Gradients merged over two steps", lambda r: paddle.incubate.optimizer.GradientMergeOptimizer(O.SGD(r), k_steps=2, avg=True))


def average(rate):
    class Averaged:
        def minimize(self, loss):
            O.Momentum(rate, 0.9).minimize(loss)
            static.ExponentialMovingAverage(0.9).update()

    return Averaged()


trained("moving_average", "Moving averages of the parameters", average)


def two(rate):
    class Two:
        def minimize(self, loss):
            p = loss.block.program.all_parameters()
            pairs = static.append_backward(loss)
            O.SGD(rate).apply_gradients(pairs[:2])
            O.Adam(rate * 0.1).apply_gradients(pairs[2:])

    return Two()


trained("two_optimizers", "Two optimizers, each with its parameters", two)


@net("Parameters with rates, decays and clips of their own, some held", x=X, y=Y)
def own_attributes(x, y):
    a = paddle.ParamAttr(learning_rate=0.5, regularizer=DECAY.L2Decay(0.1))
    b = paddle.ParamAttr(regularizer=DECAY.L1Decay(0.1), need_clip=False)
    c = paddle.ParamAttr(trainable=False)
    h = F.tanh(nn.Linear(6, 8, weight_attr=a, bias_attr=b)(x))
    return F.mse_loss(nn.Linear(8, 2, weight_attr=c)(nn.Linear(8, 8)(h)), y)


@net("Norms clipped but for one parameter", optimizer=lambda r: O.SGD(r, grad_clip=CLIP.ClipGradByGlobalNorm(0.05)), x=X, y=Y)
def clip_but_one(x, y):
    h = F.tanh(nn.Linear(6, 8, bias_attr=paddle.ParamAttr(need_clip=False))(x))
    return F.mse_loss(nn.Linear(8, 2)(h), y)


@net("Sparse rows: Adagrad", optimizer=O.Adagrad, words=classes(12, 5), label=LABEL)
def sparse_adagrad(words, label):
    return F.cross_entropy(nn.Linear(4, 3)(nn.Embedding(12, 4, sparse=True)(words).mean(1)), label)


@net("Sparse rows: Adam, lazy", optimizer=lambda r: O.Adam(r, lazy_mode=True), words=classes(12, 5), label=LABEL)
def sparse_adam(words, label):
    return F.cross_entropy(nn.Linear(4, 3)(nn.Embedding(12, 4, sparse=True)(words).mean(1)), label)


@net("Sparse rows: momentum with a clip by common norm", optimizer=lambda r: O.Momentum(r, 0.9, grad_clip=CLIP.ClipGradByGlobalNorm(0.1)), words=classes(12, 5), label=LABEL)
def sparse_momentum(words, label):
    return F.cross_entropy(nn.Linear(4, 3)(nn.Embedding(12, 4, sparse=True)(words).mean(1)), label)


@net("Two losses of one trunk, one held back", x=X, y=Y, label=LABEL)
def two_losses(x, y, label):
    h = F.relu(nn.Linear(6, 8)(x))
    held = h.detach()
    return 0.7 * F.mse_loss(nn.Linear(8, 2)(h), y) + 0.3 * F.cross_entropy(nn.Linear(8, 3)(held), label)


@net("Ensemble of nets, sum of decays in the loss", x=X, y=Y)
def decays_in_loss(x, y):
    layers = [nn.Linear(6, 2) for _ in range(3)]
    loss = F.mse_loss(sum(one(x) for one in layers) / 3.0, y)
    return loss + 0.01 * sum(paddle.square(one.weight).sum() for one in layers)


@net("Orthogonal weights asked for", x=X, y=Y)
def orthogonal(x, y):
    layer = nn.Linear(6, 6)
    w = layer.weight
    penalty = paddle.square(paddle.matmul(w, w, transpose_x=True) - paddle.eye(6)).sum()
    return F.mse_loss(nn.Linear(6, 2)(layer(x)), y) + 0.01 * penalty


@net("Hyper-network: weights made of an embedding", task=classes(3), x=X, y=Y)
def hyper_network(task, x, y):
    w = nn.Linear(4, 12)(nn.Embedding(3, 4)(task)).reshape([-1, 6, 2])
    return F.mse_loss(paddle.bmm(x.unsqueeze(1), w).squeeze(1), y)


@net("Values of actions: target of a second net that is copied", s=X, t=X, a=classes(3), r=numbers())
def q_learning(s, t, a, r):
    q, target = nn.Linear(6, 3), nn.Linear(6, 3)
    best = target(t).max(1)
    best.stop_gradient = True
    found = (q(s) * F.one_hot(a, 3)).sum(1)
    return F.smooth_l1_loss(found, r + 0.9 * best)


@net("Ratios of policies, clipped", s=X, a=classes(3, 1), old=numbers(1), gain=numbers(1))
def proximal(s, a, old, gain):
    p = paddle.take_along_axis(F.log_softmax(nn.Linear(6, 3)(s)), a, 1)
    ratio = paddle.exp(p - old)
    return -paddle.minimum(ratio * gain, paddle.clip(ratio, 0.8, 1.2) * gain).mean()


S = static.nn


def rows(words, width=4):
    return static.nn.embedding(words, [20, width])


RAGGED = ragged(20, rows=(1, 4))


def scored(x, label):
    return F.cross_entropy(static.nn.fc(x, 3), label)


for one in ("sum", "average", "sqrt", "max", "first", "last"):

    def build(words, label, one=one):
        return scored(S.sequence_lod.sequence_pool(rows(words), one), label)

    build.__name__ = "ragged_pool_" + one
    net("Ragged: pool " + one, words=RAGGED, label=LABEL)(build)


@net("Ragged: convolution over the rows", words=RAGGED, label=LABEL)
def ragged_conv(words, label):
    h = S.sequence_lod.sequence_conv(rows(words), 4, 3, act="tanh")
    return scored(S.sequence_lod.sequence_pool(h, "max"), label)


@net("Ragged: softmax as attention", words=RAGGED, label=LABEL)
def ragged_softmax(words, label):
    x = rows(words)
    a = S.sequence_lod.sequence_softmax(static.nn.fc(x, 1))
    return scored(S.sequence_lod.sequence_pool(x * a, "sum"), label)


@net("Ragged: a sample's vector to its rows", words=RAGGED, q=numbers(4), label=LABEL)
def ragged_expand(words, q, label):
    x = rows(words)
    h = S.sequence_lod.sequence_expand(static.nn.fc(q, 4), x)
    g = S.sequence_lod.sequence_expand_as(q, x)
    return scored(S.sequence_lod.sequence_pool(F.tanh(x + h) * g, "average"), label)


@net("Ragged: two texts, one after the other", words=RAGGED, others=RAGGED, label=LABEL)
def ragged_concat(words, others, label):
    h = S.sequence_lod.sequence_concat([rows(words), rows(others)])
    return scored(S.sequence_lod.sequence_pool(h, "sqrt"), label)


@net("Ragged: padded to a length, attention, cut again", words=RAGGED, label=LABEL)
def ragged_pad(words, label):
    x = rows(words)
    zero = paddle.full([1], 0.0, "float32")
    h, n = S.sequence_lod.sequence_pad(x, zero, maxlen=5)
    h = F.relu(static.nn.fc(h, 4, num_flatten_dims=2))
    h = S.sequence_lod.sequence_unpad(h, n)
    return scored(S.sequence_lod.sequence_pool(h, "average"), label)


@net("Ragged: backwards, reshaped", words=RAGGED, label=LABEL)
def ragged_reverse(words, label):
    h = S.sequence_lod.sequence_reverse(rows(words))
    h = S.sequence_lod.sequence_reshape(h, 2)
    return scored(S.sequence_lod.sequence_pool(h, "last"), label)


@net("Ragged: a loss for every row, averaged over all", "parts", words=RAGGED, tags=ragged(5, 1, like="words"))
def ragged_tags(words, tags):
    return F.cross_entropy(static.nn.fc(rows(words), 5), tags)


@net("Ragged: windows of words counted", words=ragged(20, 1, rows=(1, 4)), label=LABEL)
def ragged_windows(words, label):
    w = S.sequence_lod.sequence_enumerate(words, 2, pad_value=0)
    h = static.nn.embedding(w, [20, 4]).reshape([-1, 8])
    return scored(S.sequence_lod.sequence_pool(h, "sum"), label)
