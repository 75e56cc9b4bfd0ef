"""Pairs of samples, sets, trees, graphs, capsules (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers
from unseen.families.shared import IMAGE, LABEL, X, score


@net("Siamese nets, contrastive loss with a margin", a=IMAGE, b=IMAGE, y=bits())
def contrastive_pair(a, b, y):
    conv, last = nn.Conv2D(2, 4, 3), nn.Linear(4, 3)
    f = lambda x: last(F.adaptive_avg_pool2d(F.relu(conv(x)), 1).flatten(1))  # noqa: E731
    d = paddle.sqrt(paddle.square(f(a) - f(b)).sum(1) + 1e-6)
    return (y * d * d + (1 - y) * paddle.square(F.relu(1.0 - d))).mean()


@net("Triplets with normalised features and a margin", a=X, p=X, n=X)
def triplet_normalised(a, p, n):
    layer = nn.Linear(6, 4)
    a, p, n = (F.normalize(layer(x)) for x in (a, p, n))
    return F.relu((a * n).sum(1) - (a * p).sum(1) + 0.2).mean()


@net("Prototypes: support and query within a sample", support=numbers(3, 2, 4), query=numbers(4), label=classes(3))
def prototypes(support, query, label):
    layer = nn.Linear(4, 5)
    centre = layer(support).mean(2)
    d = paddle.square(centre - layer(query).unsqueeze(1)).sum(2)
    return F.cross_entropy(-d, label.unsqueeze(1))


@net("Matching nets: cosine attention over a support", "parts", equal=True, support=numbers(4, 4), of=classes(3, 4), query=numbers(4), label=LABEL)
def matching(support, of, query, label):
    f = nn.Linear(4, 5)
    w = F.softmax(F.cosine_similarity(f(support), f(query).unsqueeze(1), axis=2) * 5.0)
    p = paddle.bmm(w.unsqueeze(1), F.one_hot(of, 3)).squeeze(1)
    return F.nll_loss(paddle.log(p + 1e-3), label.squeeze(1))


@net("Contrast of two views in a batch", "parts", a=X, b=X)
def two_views(a, b):
    f = nn.Linear(6, 4)
    a, b = F.normalize(f(a)), F.normalize(f(b))
    s = paddle.matmul(a, b, transpose_y=True) / 0.5
    own = (a * b).sum(1) / 0.5
    return (paddle.logsumexp(s, axis=1) - own).mean()


@net("A queue of keys that is a buffer, contrast with it", a=X, b=X, label=LABEL)
def queue_of_keys(a, b, label):
    q, k = F.normalize(nn.Linear(6, 4)(a)), F.normalize(nn.Linear(6, 4)(b)).detach()
    bank = static.create_parameter([5, 4], "float32", name="bank")
    bank.stop_gradient = True
    s = paddle.concat([(q * k).sum(1, keepdim=True), paddle.matmul(q, bank, transpose_y=True)], 1) / 0.3
    return F.cross_entropy(s, paddle.zeros_like(label))


@net("Capsules: squashed, agreed twice, margins and a reconstruction", x=numbers(4, 3), y=classes(3))
def capsule_margins(x, y):
    w = paddle.create_parameter([3, 4, 3, 2], "float32", name="w")
    u = paddle.einsum("bnd,knde->bkne", x, w)
    b = paddle.zeros_like(u[..., 0])
    squash = lambda s: s * paddle.sqrt(paddle.square(s).sum(-1, keepdim=True) + 1e-6) / (1 + paddle.square(s).sum(-1, keepdim=True))  # noqa: E731
    for i in range(2):
        v = squash((F.softmax(b, axis=1).unsqueeze(-1) * u).sum(2))
        b = b + (u * v.unsqueeze(2)).sum(-1)
    length = paddle.sqrt(paddle.square(v).sum(-1) + 1e-6)
    t = F.one_hot(y, 3)
    margin = (t * paddle.square(F.relu(0.9 - length)) + 0.5 * (1 - t) * paddle.square(F.relu(length - 0.1))).sum(1).mean()
    back = nn.Linear(6, 12)((v * t.unsqueeze(-1)).flatten(1)).reshape([-1, 4, 3])
    return margin + 0.1 * F.mse_loss(back, x)


@net("Relations between objects of a sample, all pairs", x=numbers(4, 3), q=numbers(2), label=LABEL)
def relations(x, q, label):
    a = x.unsqueeze(2).expand([-1, 4, 4, 3])
    b = x.unsqueeze(1).expand([-1, 4, 4, 3])
    c = q.reshape([-1, 1, 1, 2]).expand([-1, 4, 4, 2])
    h = F.relu(nn.Linear(8, 6)(paddle.concat([a, b, c], 3)))
    return score(h.sum([1, 2]), label)


@net("Sets: sums and maxima of elements that there are", x=numbers(5, 3), n=lengths(1, 5), label=LABEL)
def deep_sets(x, n, label):
    m = F.sequence_mask(n, 5, "float32").unsqueeze(2)
    h = F.relu(nn.Linear(3, 6)(x)) * m
    return score(paddle.concat([h.sum(1), h.max(1), h.sum(1) / paddle.cast(n, "float32").unsqueeze(1)], 1), label)


@net("Trees: children combined by index, bottom up", leaves=classes(12, 4), label=LABEL)
def tree(leaves, label):
    x, cell = nn.Embedding(12, 4)(leaves), nn.Linear(8, 4)
    a = F.tanh(cell(x.reshape([-1, 2, 8])))
    return score(F.tanh(cell(a.reshape([-1, 8]))), label)


@net("Tree cells with gates, children given by constants", leaves=classes(12, 3), label=LABEL)
def tree_lstm(leaves, label):
    h = [one.squeeze(1) for one in nn.Embedding(12, 4)(leaves).split(3, 1)]
    c = [F.tanh(one) for one in h]
    g, f = nn.Linear(8, 12), nn.Linear(4, 4)
    for left, right in ((0, 1), (3, 2)):
        i, o, u = g(paddle.concat([h[left], h[right]], 1)).split(3, 1)
        c.append(F.sigmoid(i) * F.tanh(u) + F.sigmoid(f(h[left])) * c[left] + F.sigmoid(f(h[right])) * c[right])
        h.append(F.sigmoid(o) * F.tanh(c[-1]))
    return score(h[-1], label)


@net("Graphs: gated units over messages, read out by gates", a=bits(4, 4), x=numbers(4, 3), label=LABEL)
def gated_graph(a, x, label):
    h, cell, message = nn.Linear(3, 4)(x), nn.GRUCell(4, 4), nn.Linear(4, 4)
    for _ in range(2):
        m = paddle.bmm(a, message(h)).reshape([-1, 4])
        h = cell(m, h.reshape([-1, 4]))[0].reshape([-1, 4, 4])
    return score((F.sigmoid(nn.Linear(4, 4)(h)) * h).sum(1), label)


@net("Graphs: neighbours' maxima beside oneself (SAGE), normalised", a=bits(4, 4), x=numbers(4, 3), label=classes(3, 4, 1))
def sage(a, x, label):
    h = F.relu(nn.Linear(3, 4)(x)).unsqueeze(1) + (a.unsqueeze(3) - 1) * 100.0
    h = paddle.concat([x, F.relu(h.max(2))], 2)
    return F.cross_entropy(nn.Linear(7, 3)(F.normalize(h, axis=2)), label)


@net("Graphs: pooled by an assignment that is learned", a=bits(4, 4), x=numbers(4, 3), label=LABEL)
def pooled_graph(a, x, label):
    s = F.softmax(nn.Linear(3, 2)(x))
    z = paddle.matmul(s, nn.Linear(3, 4)(paddle.bmm(a, x)), transpose_x=True)
    b = paddle.matmul(paddle.matmul(s, a, transpose_x=True), s)
    link = paddle.square(a - paddle.matmul(s, s, transpose_y=True)).mean()
    return score(paddle.bmm(b, z), label) + 0.1 * link


@net("Soft trees: leaves weighted by paths", "parts", equal=True, x=X, label=LABEL)
def soft_tree(x, label):
    p = F.sigmoid(nn.Linear(6, 3)(x))
    left, right = paddle.stack([p[:, 0] * p[:, 1], p[:, 0] * (1 - p[:, 1])], 1), paddle.stack([(1 - p[:, 0]) * p[:, 2], (1 - p[:, 0]) * (1 - p[:, 2])], 1)
    leaf = F.softmax(paddle.create_parameter([4, 3], "float32", name="leaves"))
    return F.nll_loss(paddle.log(paddle.matmul(paddle.concat([left, right], 1), leaf) + 1e-4), label.squeeze(1))


@net("Radial functions about centres, gaussian", x=X, y=numbers(1))
def radial(x, y):
    c = paddle.create_parameter([4, 6], "float32", name="centres")
    d = paddle.square(x.unsqueeze(1) - c).sum(-1)
    return F.mse_loss(nn.Linear(4, 1)(paddle.exp(-0.3 * d)), y)
