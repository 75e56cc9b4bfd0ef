"""Recommendations: factors, interests, tasks, ranks (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, lengths, net, numbers

FIELDS, DENSE, CLICK, ITEMS = classes(12, 4), numbers(3), bits(1), classes(12, 5)


def click(score, y):
    return F.binary_cross_entropy_with_logits(score, y)


def mlp(x, *widths):
    for width in widths[:-1]:
        x = F.relu(nn.Linear(x.shape[-1], width)(x))
    return nn.Linear(x.shape[-1], widths[-1])(x)


@net("DeepFM: first order, pairs by the square of a sum, a deep part", fields=FIELDS, dense=DENSE, y=CLICK)
def deep_fm(fields, dense, y):
    e = nn.Embedding(12, 4)(fields)
    first = nn.Embedding(12, 1)(fields).sum(1) + nn.Linear(3, 1)(dense)
    pairs = 0.5 * (paddle.square(e.sum(1)) - paddle.square(e).sum(1)).sum(1, keepdim=True)
    return click(first + pairs + mlp(paddle.concat([e.flatten(1), dense], 1), 8, 1), y)


@net("Field-aware factors: a vector per field of the other", fields=FIELDS, y=CLICK)
def field_aware(fields, y):
    e = nn.Embedding(12, 12)(fields).reshape([-1, 4, 4, 3])
    pairs = sum((e[:, i, j] * e[:, j, i]).sum(1, keepdim=True) for i in range(4) for j in range(i))
    return click(pairs, y)


@net("Attentional factors: pairs weighted by a softmax; the framework's gradient of a gather along another axis mixes the samples", "parts", fields=FIELDS, y=CLICK)
def attentional_factors(fields, y):
    e = nn.Embedding(12, 4)(fields)
    i, j = np.triu_indices(4, 1)
    pairs = paddle.gather(e, paddle.assign(i), axis=1) * paddle.gather(e, paddle.assign(j), axis=1)
    a = F.softmax(nn.Linear(4, 1, bias_attr=False)(F.relu(nn.Linear(4, 4)(pairs))), axis=1)
    return click(nn.Linear(4, 1)((a * pairs).sum(1)), y)


@net("Crosses of low rank with gated experts (DCN-v2)", fields=FIELDS, y=CLICK)
def cross_experts(fields, y):
    x0 = x = nn.Embedding(12, 2)(fields).flatten(1)
    for _ in range(2):
        experts = [F.tanh(nn.Linear(2, 2, bias_attr=False)(F.tanh(nn.Linear(8, 2, bias_attr=False)(x)))) for _ in range(2)]
        outs = paddle.stack([x0 * nn.Linear(2, 8)(one) for one in experts], 2)
        gate = F.softmax(paddle.stack([nn.Linear(8, 1)(x) for _ in range(2)], 1), axis=1)
        x = paddle.matmul(outs, gate).squeeze(2) + x
    return click(nn.Linear(8, 1)(x), y)


@net("Interacting fields by self-attention (AutoInt)", fields=FIELDS, y=CLICK)
def interacting_fields(fields, y):
    x = nn.Embedding(12, 4)(fields)
    q, k, v = (paddle.stack(nn.Linear(4, 8, bias_attr=False)(x).split(2, axis=2)) for _ in range(3))
    a = F.softmax(paddle.matmul(q, k, transpose_y=True), axis=-1)
    h = paddle.concat([one.squeeze(0) for one in paddle.matmul(a, v).split(2, axis=0)], axis=2)
    return click(nn.Linear(32, 1)(F.relu(h + nn.Linear(4, 8)(x)).flatten(1)), y)


@net("Interest evolves: a GRU whose update gate attends (DIEN)", items=ITEMS, target=classes(12), y=CLICK, n=lengths(1, 5))
def interest_evolution(items, target, y, n):
    table = nn.Embedding(12, 4)
    x, t = table(items), table(target)
    m = F.sequence_mask(n, 5, "float32")
    h, _ = nn.GRU(4, 4)(x)
    score = paddle.matmul(h, nn.Linear(4, 4)(t).unsqueeze(2)).squeeze(2) - (1 - m) * 1e4
    a = F.softmax(score)
    s, u, r, c = paddle.zeros_like(t), nn.Linear(8, 4), nn.Linear(8, 4), nn.Linear(8, 4)
    for i in range(5):
        both = paddle.concat([h[:, i], s], 1)
        gate = a[:, i : i + 1] * F.sigmoid(u(both))
        new = F.tanh(c(paddle.concat([h[:, i], F.sigmoid(r(both)) * s], 1)))
        s = (1 - gate) * s + gate * new
    return click(mlp(paddle.concat([s, t, s * t], 1), 4, 1), y)


@net("Entire space: clicks and conversions given clicks (ESMM)", fields=FIELDS, y=CLICK, z=CLICK)
def entire_space(fields, y, z):
    e = nn.Embedding(12, 4)(fields).flatten(1)
    ctr, cvr = F.softmax(mlp(e, 6, 2))[:, 1:], F.softmax(mlp(e, 6, 2))[:, 1:]
    return F.log_loss(ctr, y).mean() + F.log_loss(ctr * cvr, y * z).mean()


@net("Layers of shared and own experts (PLE)", x=numbers(6), y=CLICK, z=CLICK)
def layered_experts(x, y, z):
    own, shared = [x, x], x
    for _ in range(2):
        common = [F.relu(nn.Linear(6, 6)(shared)) for _ in range(2)]
        mine = [[F.relu(nn.Linear(6, 6)(one))] for one in own]
        gated = lambda g, parts: (F.softmax(nn.Linear(6, len(parts))(g)).unsqueeze(2) * paddle.stack(parts, 1)).sum(1)  # noqa: E731
        shared, own = gated(shared, common + mine[0] + mine[1]), [gated(own[i], common + mine[i]) for i in range(2)]
    return click(nn.Linear(6, 1)(own[0]), y) + 0.5 * click(nn.Linear(6, 1)(own[1]), z)


@net("Several interests by routing with fixed logits (MIND), the best taken", items=ITEMS, target=classes(12), y=CLICK)
def several_interests(items, target, y):
    table = nn.Embedding(12, 4)
    low = nn.Linear(4, 4, bias_attr=False)(table(items))
    b = paddle.assign(np.linspace(-1, 1, 10).reshape(1, 2, 5).astype("float32")) + paddle.zeros_like(low[:, :2, :1])
    for turn in range(2):
        z = paddle.matmul(F.softmax(b, axis=1), low)
        n = paddle.square(z).sum(-1, keepdim=True)
        high = n / (1 + n) * z / paddle.sqrt(n + 1e-9)
        if turn == 0:
            b = b + paddle.matmul(high, low, transpose_y=True).detach()
    s = paddle.matmul(high, table(target).unsqueeze(2)).squeeze(2)
    return click(s.max(1, keepdim=True), y)


@net("Next of a session: BPR against all of the batch", "coupled", items=ITEMS, target=classes(12))
def session_of_batch(items, target):
    table = nn.Embedding(12, 4)
    _, h = nn.GRU(4, 4)(table(items))
    s = paddle.matmul(h[0], table(target), transpose_y=True)
    own = (h[0] * table(target)).sum(1, keepdim=True)
    return -F.log_sigmoid(own - s).mean()


@net("Collaborative filtering: products beside a tower, layers of both (NCF)", u=classes(12), i=classes(12), y=CLICK)
def neural_filtering(u, i, y):
    a, b, c, d = (nn.Embedding(12, 4) for _ in range(4))
    deep = F.relu(nn.Linear(8, 4)(paddle.concat([c(u), d(i)], 1)))
    return click(nn.Linear(8, 1)(paddle.concat([a(u) * b(i), deep], 1)), y)


@net("Squeeze and excitation of fields, bilinear pairs (FiBiNet)", fields=FIELDS, y=CLICK)
def bilinear_fields(fields, y):
    e = nn.Embedding(12, 4)(fields)
    a = F.relu(nn.Linear(2, 4)(F.relu(nn.Linear(4, 2)(e.mean(2)))))
    v, w = e * a.unsqueeze(2), nn.Linear(4, 4, bias_attr=False)
    pairs = lambda t: paddle.concat([w(t[:, i]) * t[:, j] for i in range(4) for j in range(i + 1, 4)], 1)  # noqa: E731
    return click(nn.Linear(48, 1)(paddle.concat([pairs(e), pairs(v)], 1)), y)


@net("Masks of an instance in the feed-forward part (MaskNet)", fields=FIELDS, y=CLICK)
def masked_blocks(fields, y):
    e = nn.Embedding(12, 4)(fields).flatten(1)
    h = nn.LayerNorm(16)(e)
    for _ in range(2):
        h = F.relu(nn.LayerNorm(16)(nn.Linear(16, 16)(h * nn.Linear(8, 16)(F.relu(nn.Linear(16, 8)(e))))))
    return click(nn.Linear(16, 1)(h), y)


@net("Two towers, cosine, a temperature that is learned, log-odds of given negatives", u=ITEMS, i=classes(12), n=classes(12, 3))
def towers(u, i, n):
    left, right = nn.Embedding(12, 4), nn.Embedding(12, 4)
    t = paddle.create_parameter([1], "float32", name="temperature", default_initializer=nn.initializer.Constant(1.5))
    q = F.normalize(left(u).mean(1), axis=-1)
    k = F.normalize(paddle.concat([right(i).unsqueeze(1), right(n)], 1), axis=-1)
    s = paddle.einsum("bd,bkd->bk", q, k) * paddle.exp(t)
    return F.cross_entropy(s, paddle.zeros_like(i).unsqueeze(1))


@net("Watch time: odds weighted by duration", x=DENSE, y=CLICK, t=("float32", (1,), lambda r, n: r.integers(1, 9, (n, 1))))
def watch_time(x, y, t):
    s = mlp(x, 6, 1)
    return (t * y * F.softplus(-s) + (1 - y) * F.softplus(s)).mean()


@net("Uplift: two heads of which the treatment picks one, propensity besides", x=numbers(6), treated=CLICK, y=numbers(1))
def uplift(x, treated, y):
    h = F.elu(nn.Linear(6, 6)(x))
    a, b, g = nn.Linear(6, 1)(h), nn.Linear(6, 1)(h), F.sigmoid(nn.Linear(6, 1)(h))
    e = paddle.where(treated > 0.5, a, b)
    eps = paddle.create_parameter([1], "float32", name="epsilon")
    p = g * 0.98 + 0.01
    turned = e + eps * (treated / p - (1 - treated) / (1 - p))
    return F.mse_loss(e, y) + F.binary_cross_entropy(p, treated) + 0.1 * F.square_error_cost(turned, y).mean()
