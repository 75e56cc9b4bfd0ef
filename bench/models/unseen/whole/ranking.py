"""Recommenders with tables of sparse gradients, sampled losses, graphs, experts (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers

CLICK, DENSE = bits(1), numbers(5)


def table(rows, width, **more):
    return nn.Embedding(rows, width, sparse=True, **more)


def mlp(x, *widths):
    for width in widths[:-1]:
        x = F.relu(nn.Linear(x.shape[-1], width)(x))
    return nn.Linear(x.shape[-1], widths[-1])(x)


@net("DeepFM as PaddleRec writes it: sparse tables, 1D and 2D, sigmoid and log_loss", ids=classes(30, 6), dense=DENSE, y=("int64", (1,), lambda r, n: r.integers(0, 2, (n, 1))), steps=6, optimizer=lambda r: paddle.optimizer.Adam(r, lazy_mode=True), rate=0.02)
def rec_deep_fm(ids, dense, y):
    first, second = table(30, 1, padding_idx=0), table(30, 4, padding_idx=0)
    w1 = paddle.create_parameter([5], "float32", default_initializer=nn.initializer.Constant(1.0))
    w2 = paddle.create_parameter([1, 5, 4], "float32", default_initializer=nn.initializer.Constant(1.0))
    d = paddle.unsqueeze(dense, 2)
    one = paddle.sum(first(ids), 1) + paddle.sum(paddle.multiply(dense, w1), axis=1, keepdim=True)
    feats = paddle.concat([second(ids), paddle.multiply(d, w2)], 1)
    two = 0.5 * paddle.sum(paddle.square(paddle.sum(feats, 1)) - paddle.sum(paddle.square(feats), 1), 1, keepdim=True)
    p = F.sigmoid(one + two + mlp(paddle.reshape(feats, [-1, 44]), 16, 8, 1))
    paddle.metric.accuracy(paddle.concat([1 - p, p], 1), y)
    return paddle.mean(F.log_loss(p, paddle.cast(y, "float32")))


@net("Wide and deep: two optimizers, FTRL for the wide part", ids=classes(30, 4), cross=classes(50, 3), dense=DENSE, y=CLICK, steps=6, optimizer=lambda r: Split(r), rate=0.05)
def wide_deep_split(ids, cross, dense, y):
    with static.name_scope("wide"):
        wide = paddle.sum(static.nn.embedding(cross, [50, 1], is_sparse=True, param_attr="wide_table"), 1) + static.nn.fc(dense, 1, weight_attr="wide_w", bias_attr="wide_b")
    deep = static.nn.embedding(ids, [30, 4], is_sparse=True, param_attr="deep_table").flatten(1)
    deep = static.nn.fc(static.nn.fc(paddle.concat([deep, dense], 1), 16, activation="relu"), 1)
    return F.binary_cross_entropy_with_logits(wide + deep, y)


class Split:
    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        parameters = loss.block.program.all_parameters()
        wide = [p for p in parameters if p.name.startswith("wide")]
        deep = [p for p in parameters if not p.name.startswith("wide")]
        paddle.optimizer.Adagrad(self.rate, parameters=wide).minimize(loss, parameters=wide)
        grads = paddle.optimizer.Adam(self.rate / 4, parameters=deep)
        grads.minimize(loss, parameters=deep)


@net("DIN: a history of varied length attended by the candidate, PReLU, dice of layer norm", items=classes(30, 8), cats=classes(6, 8), item=classes(30), cat=classes(6), length=lengths(1, 8), y=CLICK, steps=6)
def deep_interest(items, cats, item, cat, length, y):
    it, ct = table(30, 4), table(6, 4)
    h = paddle.concat([it(items), ct(cats)], 2)
    t = paddle.concat([it(item), ct(cat)], 1)
    e = paddle.expand_as(t.unsqueeze(1), h)
    s = mlp(paddle.concat([e, h, e - h, e * h], -1), 8, 4, 1).squeeze(-1)
    mask = F.sequence_mask(length, 8, "bool")
    s = paddle.where(mask, s * 8**-0.5, paddle.full_like(s, -(2.0**20)))
    pooled = paddle.matmul(F.softmax(s).unsqueeze(1), h).squeeze(1)
    x = nn.PReLU()(nn.Linear(16, 8)(paddle.concat([pooled, t], 1)))
    bias = table(30, 1)(item)
    return F.binary_cross_entropy_with_logits(nn.Linear(8, 1)(x) + bias, y)


@net("BST: a Transformer over the behaviours with the candidate last, leaky relu", items=classes(30, 5), item=classes(30, 1), place=classes(6, 6), y=CLICK, steps=6)
def behaviour_transformer(items, item, place, y):
    x = table(30, 8)(paddle.concat([items, item], 1)) + table(6, 8)(place)
    x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="relu")(x)
    h = F.leaky_relu(nn.Linear(48, 16)(paddle.flatten(x, 1)), 0.01)
    return F.binary_cross_entropy_with_logits(nn.Linear(16, 1)(h), y)


@net("MMoE with three tasks, losses of two kinds and weights that are fed", x=numbers(8), a=CLICK, b=CLICK, c=numbers(1), w=("float32", (3,), lambda r, n: r.integers(0, 5, (n, 3)) / np.float32(4)), steps=6)
def multi_gate(x, a, b, c, w):
    experts = paddle.stack([F.relu(nn.Linear(8, 4)(x)) for _ in range(3)], axis=1)
    outs = []
    for _ in range(3):
        gate = F.softmax(nn.Linear(8, 3, bias_attr=False)(x))
        outs.append(mlp(paddle.sum(experts * paddle.unsqueeze(gate, 2), axis=1), 4, 1))
    la = F.binary_cross_entropy_with_logits(outs[0], a, weight=w[:, 0:1])
    lb = F.binary_cross_entropy_with_logits(outs[1], b, weight=paddle.slice(w, [1], [1], [2]), pos_weight=paddle.assign(np.array([2.0], "float32")))
    lc = paddle.mean(F.smooth_l1_loss(outs[2], c, reduction="none", delta=0.5) * w[:, -1:])
    return paddle.add_n([la, lb, 0.1 * lc])


@net("ESMM as PaddleRec writes it: two-class softmaxes, clipped, log_loss in float", ids=classes(30, 6), ctr=("int64", (1,), lambda r, n: r.integers(0, 2, (n, 1))), ctcvr=("int64", (1,), lambda r, n: r.integers(0, 2, (n, 1))), steps=6)
def rec_esmm(ids, ctr, ctcvr):
    e = paddle.concat([paddle.sum(table(30, 4)(part), axis=1) for part in paddle.split(ids, 3, axis=1)], axis=1)
    p, q = (F.softmax(mlp(e, 8, 2)) for _ in range(2))
    one = paddle.slice(p, axes=[1], starts=[1], ends=[2])
    both = paddle.multiply(one, paddle.slice(q, axes=[1], starts=[1], ends=[2]))
    both = paddle.clip(both, min=1e-15, max=1.0 - 1e-15)
    return paddle.mean(F.log_loss(one, paddle.cast(ctr, "float32"))) + paddle.mean(F.log_loss(both, paddle.cast(ctcvr, "float32")))


@net("xDeepFM: interactions compressed by 1D convolutions, L2 of the tables in the loss", ids=classes(30, 4), y=CLICK, steps=6)
def x_deep_fm(ids, y):
    layer = nn.Embedding(30, 4, weight_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(1e-2)))
    x0 = x = layer(ids)
    outs = []
    for width in (4, 3):
        m = paddle.einsum("bhd,bmd->bhmd", x, x0).reshape([-1, x.shape[1] * 4, 4])
        x = F.relu(nn.Conv1D(m.shape[1], width, 1)(m))
        outs.append(paddle.sum(x, axis=-1))
    s = nn.Linear(7, 1)(paddle.concat(outs, 1)) + mlp(x0.flatten(1), 8, 1) + paddle.sum(nn.Embedding(30, 1)(ids), 1)
    return F.binary_cross_entropy_with_logits(s, y)


@net("Two towers with negatives of the batch, corrected by how often they are drawn", "coupled", user=classes(30, 3), item=classes(30), log_q=numbers(), steps=5)
def batch_negatives(user, item, log_q):
    u, i = F.normalize(mlp(paddle.mean(table(30, 4)(user), 1), 8, 4)), F.normalize(mlp(table(30, 4)(item), 8, 4))
    s = paddle.matmul(u, i, transpose_y=True) / 0.2 - log_q.unsqueeze(0)
    return F.cross_entropy(s, paddle.arange(8, dtype="int64").unsqueeze(1))


@net("Skip-gram: negatives that are fed, dot products, sums of log-sigmoids", centre=classes(40, 1), around=classes(40, 1), others=classes(40, 5), steps=6, optimizer=lambda r: paddle.optimizer.SGD(r))
def skip_gram(centre, around, others):
    w = lambda name: paddle.ParamAttr(name=name, initializer=nn.initializer.Uniform(-0.5, 0.5))  # noqa: E731
    c = static.nn.embedding(centre, [40, 6], is_sparse=True, param_attr=w("emb"))
    a = static.nn.embedding(around, [40, 6], is_sparse=True, param_attr=w("emb_w"))
    o = static.nn.embedding(others, [40, 6], is_sparse=True, param_attr=w("emb_w"))
    b = static.nn.embedding(around, [40, 1], is_sparse=True, param_attr=paddle.ParamAttr(name="emb_b", initializer=nn.initializer.Constant(0.0))).squeeze(-1)
    t = (c * a).sum(-1) + b
    f = paddle.matmul(c, o, transpose_y=True).reshape([-1, 5])
    yes = F.binary_cross_entropy_with_logits(t, paddle.ones_like(t), reduction="none")
    no = F.binary_cross_entropy_with_logits(f, paddle.zeros_like(f), reduction="none")
    return paddle.mean(yes.sum(1) + no.sum(1))


@net("Continuous bag of words, noise-contrastive estimation with given noise", "drawn", words=classes(20, 4), next=classes(20, 1), steps=5)
def cbow_nce(words, next):
    x = paddle.mean(nn.Embedding(20, 6)(words), 1)
    return paddle.mean(static.nn.nce(x, next, 20, num_neg_samples=4, seed=3, sampler="custom_dist", custom_dist=[0.05] * 20))


@net("Continuous bag of words, tree of Huffman with paths that are fed, sparse", words=classes(20, 4), next=classes(8, 1), path=classes(7, 3), code=classes(2, 3), steps=5)
def cbow_tree(words, next, path, code):
    x = paddle.mean(table(20, 6)(words), 1)
    w = paddle.create_parameter([8, 6], "float32", name="tree")
    return paddle.mean(F.hsigmoid_loss(x, next, 8, w, None, path, code, is_sparse=False))


@net("Messages over fixed edges by gather and segment sums within samples that lie behind each other", x=numbers(4, 3), label=classes(3, 1), steps=5)
def fixed_edges(x, label):
    src, dst = paddle.assign(np.array([0, 1, 2, 3, 0, 2], "int64")), paddle.assign(np.array([1, 2, 3, 0, 2, 0], "int64"))
    h = F.relu(nn.Linear(3, 6)(x)).transpose([1, 0, 2])
    m = paddle.gather(h, src, axis=0)
    out = paddle.scatter(paddle.zeros_like(h), dst, m, overwrite=False)
    return F.cross_entropy(nn.Linear(6, 3)((h + out).mean(0)), label)


@net("Gates of the best two of four experts, capacity without limit, a loss of balance over the batch", "coupled", x=numbers(8), label=classes(3, 1), steps=5)
def balanced_experts(x, label):
    p = F.softmax(nn.Linear(8, 4)(x))
    v, i = paddle.topk(p, 2)
    v = v / v.sum(-1, keepdim=True)
    combine = paddle.sum(F.one_hot(i, 4) * v.unsqueeze(-1), 1)
    outs = paddle.stack([nn.Linear(8, 8)(F.gelu(nn.Linear(8, 8)(x))) for _ in range(4)], 1)
    balance = 4.0 * paddle.sum(p.mean(0) * F.one_hot(i[:, 0], 4).mean(0))
    return F.cross_entropy(nn.Linear(8, 3)((outs * combine.unsqueeze(-1)).sum(1)), label) + 0.01 * balance


@net("Experts with dispatch by cumulated places and a capacity per text", x=numbers(6, 8), label=classes(3, 1), steps=5)
def capacity_experts(x, label):
    p = F.softmax(nn.Linear(8, 3)(x), axis=-1)
    mask = F.one_hot(paddle.argmax(p, axis=-1), 3)
    place = paddle.cumsum(mask, axis=1) * mask - mask
    mask = mask * (place < 3.0).astype("float32")
    dispatch = mask.unsqueeze(-1) * F.one_hot(place.sum(-1).astype("int64").clip(0, 2), 3).unsqueeze(2)
    slots = paddle.einsum("btec,btd->becd", dispatch, x)
    w = paddle.create_parameter([3, 8, 8], "float32", name="experts")
    out = F.relu(paddle.einsum("becd,edf->becf", slots, w))
    gate = (p * mask).sum(-1, keepdim=True)
    y = paddle.einsum("btec,becf->btf", dispatch, out) * gate + x
    return F.cross_entropy(nn.Linear(8, 3)(y.mean(1)), label)


@net("Slots of a click log: sequences pooled, CVM of show and click", words=("int64", (4,), lambda r, n: r.integers(0, 30, (n, 4))), show=("float32", (2,), lambda r, n: r.integers(1, 9, (n, 2))), y=CLICK, steps=5)
def slots_and_counts(words, show, y):
    e = paddle.sum(static.nn.embedding(words, [30, 6], is_sparse=True), 1)
    log = paddle.log(show + 1.0)
    x = paddle.concat([log[:, :1], log[:, 1:] - log[:, :1], e], axis=1)
    return F.binary_cross_entropy_with_logits(mlp(x, 8, 1), y)


@net("Noise-contrastive estimation without a bias", "drawn", words=classes(20, 4), next=classes(20, 1), steps=5)
def nce_without_bias(words, next):
    return paddle.mean(static.nn.nce(paddle.mean(nn.Embedding(20, 6)(words), 1), next, 20, num_neg_samples=4, seed=3, bias_attr=False))
