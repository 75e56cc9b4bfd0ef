"""Texts: pointers, retrieval, recommendations, places, windows, speech (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, lengths, net, numbers
from unseen.families.shared import LABEL, NEXT, WORDS, score


@net("Pointers: attention is the answer, what was taken is masked", words=WORDS, order=("int64", (3,), lambda r, n: np.argsort(r.random((n, 5)), 1)[:, :3]))
def pointers(words, order):
    x, s = nn.GRU(6, 6)(nn.Embedding(12, 6)(words))
    s, cell, a, b, v = s[0], nn.GRUCell(6, 6), nn.Linear(6, 6), nn.Linear(6, 6), nn.Linear(6, 1)
    taken, loss = paddle.zeros_like(words).astype("float32"), 0.0
    for t in range(3):
        e = v(F.tanh(a(x) + b(s).unsqueeze(1))).squeeze(2) - 1e4 * taken
        at = order[:, t : t + 1]
        loss = loss + F.cross_entropy(e, at)
        one = F.one_hot(at, 5)
        taken = taken + one.squeeze(1)
        _, s = cell(paddle.bmm(one, x).squeeze(1), s)
    return loss


@net("Copied or generated: a mixture of both vocabularies", words=WORDS, next=classes(12))
def copy_net(words, next):
    x, s = nn.GRU(6, 6)(nn.Embedding(12, 6)(words))
    a = F.softmax(paddle.bmm(x, s[0].unsqueeze(2)).squeeze(2))
    copied = paddle.bmm(a.unsqueeze(1), F.one_hot(words, 12)).squeeze(1)
    gate = F.sigmoid(nn.Linear(6, 1)(s[0]))
    p = gate * F.softmax(nn.Linear(6, 12)(s[0])) + (1 - gate) * copied
    return -paddle.log((p * F.one_hot(next, 12)).sum(1) + 1e-6).mean()


@net("Coverage: attention that is punished for coming back", words=WORDS, next=classes(12, 3, 1))
def coverage(words, next):
    x, s = nn.GRU(6, 6)(nn.Embedding(12, 6)(words))
    s, cell, cover, outs, loss = s[0], nn.GRUCell(6, 6), None, [], 0.0
    for t in range(3):
        a = F.softmax(paddle.bmm(x, s.unsqueeze(2)).squeeze(2))
        if cover is not None:
            loss = loss + paddle.minimum(a, cover).sum(1).mean()
        cover = a if cover is None else cover + a
        o, s = cell((a.unsqueeze(2) * x).sum(1), s)
        outs.append(o)
    return F.cross_entropy(nn.Linear(6, 12)(paddle.stack(outs, 1)), next) + 0.1 * loss


@net("Spans: begin, end and whether there is an answer", words=WORDS, begin=classes(5), end=classes(5), there=bits())
def spans(words, begin, end, there):
    x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)(nn.Embedding(12, 8)(words))
    b, e = nn.Linear(8, 2)(x).unbind(-1)
    return (F.cross_entropy(b, begin) + F.cross_entropy(e, end)) / 2 + F.binary_cross_entropy_with_logits(nn.Linear(8, 1)(x[:, 0]).squeeze(1), there)


@net("Biaffine arcs: the head of each word", words=WORDS, heads=classes(5, 5, 1), kind=classes(3, 5, 1))
def biaffine(words, heads, kind):
    x, _ = nn.LSTM(6, 4, direction="bidirect")(nn.Embedding(12, 6)(words))
    h, d = F.relu(nn.Linear(8, 4)(x)), F.relu(nn.Linear(8, 4)(x))
    w = paddle.create_parameter([4, 4], "float32", name="arc")
    arcs = paddle.matmul(paddle.matmul(d, w), h, transpose_y=True)
    return F.cross_entropy(arcs, heads) + F.cross_entropy(nn.Linear(8, 3)(x), kind)


@net("Dual encoders: inner products with several negatives of its own", q=WORDS, p=WORDS, n=classes(12, 3, 5))
def dual_encoders(q, p, n):
    table, f = nn.Embedding(12, 6), nn.Linear(6, 6)
    q, p, n = f(table(q).mean(1)), f(table(p).mean(1)), f(table(n).mean(2))
    s = paddle.concat([(q * p).sum(1, keepdim=True), paddle.bmm(n, q.unsqueeze(2)).squeeze(2)], 1)
    return -F.log_softmax(s)[:, 0].mean()


@net("Kernels over a matrix of similarities (K-NRM)", q=WORDS, d=WORDS, y=numbers(1))
def kernel_pooling(q, d, y):
    table = nn.Embedding(12, 6)
    s = paddle.bmm(F.normalize(table(q), axis=2), F.normalize(table(d), axis=2).transpose([0, 2, 1]))
    k = [paddle.log(paddle.exp(-paddle.square(s - m) * 2).sum(2) + 1e-3).sum(1, keepdim=True) for m in (-0.5, 0.0, 0.5)]
    return F.mse_loss(nn.Linear(3, 1)(paddle.concat(k, 1)), y)


@net("Recurrent over a session, last item by length", items=classes(12, 5), n=lengths(1, 5), target=classes(12, 1))
def session(items, n, target):
    x, _ = nn.GRU(6, 6)(nn.Embedding(12, 6)(items), sequence_length=n)
    last = (x * F.one_hot(n - 1, 5).unsqueeze(2)).sum(1)
    return F.cross_entropy(nn.Linear(6, 12)(last), target)


@net("Self-attentive recommendations: positives against negatives, padding masked out", "parts", items=classes(12, 5), pos=classes(12, 5), neg=classes(12, 5))
def self_attentive(items, pos, neg):
    table = nn.Embedding(12, 8, padding_idx=0)
    mask = paddle.assign(np.triu(np.full((5, 5), -1e4), 1).astype("float32"))
    x = nn.TransformerEncoderLayer(8, 1, 8, dropout=0.0)(table(items), mask)
    there = (pos != 0).astype("float32")
    a, b = (x * table(pos)).sum(-1), (x * table(neg)).sum(-1)
    return -((F.log_sigmoid(a) + F.log_sigmoid(-b)) * there).sum() / (there.sum() + 1e-6)


@net("Relative positions as in Shaw: added to keys, gathered by a table of distances", words=WORDS, next=NEXT)
def shaw(words, next):
    x = nn.Embedding(12, 8)(words)
    q, k, v = (nn.Linear(8, 8)(x) for _ in range(3))
    at = np.clip(np.arange(5)[None] - np.arange(5)[:, None], -2, 2) + 2
    r = nn.Embedding(5, 8)(paddle.assign(at.astype("int64")))
    s = paddle.matmul(q, k, transpose_y=True) + paddle.einsum("bid,ijd->bij", q, r)
    return F.cross_entropy(nn.Linear(8, 12)(paddle.matmul(F.softmax(s * 0.35), v)), next)


@net("Buckets of distances as in T5, root mean square norm, tied embeddings", words=WORDS, next=NEXT)
def buckets_of_distance(words, next):
    table = nn.Embedding(12, 8)
    x = table(words)
    at = np.minimum(np.abs(np.arange(5)[None] - np.arange(5)[:, None]), 3)
    bias = nn.Embedding(4, 2)(paddle.assign(at.astype("int64"))).transpose([2, 0, 1]).unsqueeze(0)
    h = x * paddle.rsqrt(paddle.square(x).mean(-1, keepdim=True) + 1e-6) * paddle.create_parameter([8], "float32", name="gain")
    q, k, v = (nn.Linear(8, 8, bias_attr=False)(h).reshape([0, 0, 2, 4]).transpose([0, 2, 1, 3]) for _ in range(3))
    x = x + paddle.matmul(F.softmax(paddle.matmul(q, k, transpose_y=True) + bias), v).transpose([0, 2, 1, 3]).reshape([0, 0, 8])
    return F.cross_entropy(paddle.matmul(x, table.weight, transpose_y=True), next)


@net("Disentangled attention: contents and positions apart, an extent of the batch in the program", "unknown", words=WORDS, next=NEXT)
def disentangled(words, next):
    x, p = nn.Embedding(12, 8)(words), paddle.create_parameter([9, 8], "float32", name="places")
    q, k, v, pk = nn.Linear(8, 8)(x), nn.Linear(8, 8)(x), nn.Linear(8, 8)(x), nn.Linear(8, 8)(p)
    at = (np.arange(5)[None] - np.arange(5)[:, None] + 4).astype("int64")
    c2p = paddle.matmul(q, pk, transpose_y=True)
    c2p = paddle.take_along_axis(c2p, paddle.assign(at).unsqueeze(0).expand([8, 5, 5]), 2)
    return F.cross_entropy(nn.Linear(8, 12)(paddle.matmul(F.softmax((paddle.matmul(q, k, transpose_y=True) + c2p) * 0.3), v)), next)


@net("Attention in windows along a text, looking back one window", words=classes(12, 6), next=classes(12, 6, 1))
def local_windows(words, next):
    x = nn.Embedding(12, 8)(words)
    q, k, v = (nn.Linear(8, 8)(x).reshape([-1, 3, 2, 8]) for _ in range(3))
    before = lambda t: paddle.concat([F.pad(t[:, :-1].flatten(2), [1, 0], data_format="NLC").reshape([-1, 3, 2, 8]), t], 2)  # noqa: E731
    a = F.softmax(paddle.matmul(q, before(k), transpose_y=True))
    return F.cross_entropy(nn.Linear(8, 12)(paddle.matmul(a, before(v)).reshape([-1, 6, 8])), next)


@net("Sparse mixture: the best expert of each token, with a balance over the batch", "parts", words=WORDS, next=NEXT)
def switch_experts(words, next):
    x = nn.Embedding(12, 6)(words)
    g = F.softmax(nn.Linear(6, 3)(x))
    best = paddle.argmax(g, -1)
    one = F.one_hot(best, 3)
    y = paddle.stack([nn.Linear(6, 6)(x) for _ in range(3)], 2)
    y = (y * (one * g).unsqueeze(-1)).sum(2)
    balance = (one.mean([0, 1]) * g.mean([0, 1])).sum() * 3
    return F.cross_entropy(nn.Linear(6, 12)(y), next) + 0.1 * balance


@net("State space: a diagonal scan unrolled, gates of the input", words=WORDS, next=NEXT)
def state_space(words, next):
    x = nn.Embedding(12, 6)(words)
    d, b, c = F.softplus(nn.Linear(6, 6)(x)), nn.Linear(6, 3)(x), nn.Linear(6, 3)(x)
    a = -paddle.exp(paddle.create_parameter([6, 3], "float32", name="decay"))
    h, ys = 0.0, []
    for t in range(5):
        h = paddle.exp(d[:, t].unsqueeze(2) * a) * h + (d[:, t] * x[:, t]).unsqueeze(2) * b[:, t].unsqueeze(1)
        ys.append((h * c[:, t].unsqueeze(1)).sum(2))
    return F.cross_entropy(nn.Linear(6, 12)(paddle.stack(ys, 1) * F.silu(nn.Linear(6, 6)(x))), next)


@net("Temporal convolutions with residuals and weight norms", x=numbers(3, 8), label=LABEL)
def temporal(x, label):
    h = nn.Conv1D(3, 4, 1)(x)
    for d in (1, 2):
        y = nn.utils.weight_norm(nn.Conv1D(4, 4, 2, dilation=d))(F.pad(h, [d, 0], data_format="NCL"))
        h = h + F.relu(y)
    return score(h[:, :, -1], label)


@net("CTC over convolutions with lengths, mean", x=numbers(8, 4), y=("int32", (2,), lambda r, n: r.integers(1, 5, (n, 2))), n=lengths(5, 8))
def ctc_conv(x, y, n):
    h = F.relu(nn.Conv1D(4, 6, 3, padding=1)(x.transpose([0, 2, 1]))).transpose([2, 0, 1])
    return F.ctc_loss(nn.Linear(6, 5)(h), y, n, paddle.full_like(n, 2), blank=0)


@net("Speech attended and CTC, mixed", x=numbers(6, 4), y=classes(5, 2), rate=0.01)
def joint_ctc(x, y):
    h, s = nn.GRU(4, 6)(x)
    y32 = paddle.cast(y, "int32")
    six, two = paddle.full_like(y[:, 0], 6), paddle.full_like(y[:, 0], 2)
    ctc = F.ctc_loss(nn.Linear(6, 6)(h).transpose([1, 0, 2]), y32, six, two, blank=5, reduction="none")
    out, _ = nn.GRU(6, 6)(nn.Embedding(5, 6)(y), s)
    return 0.3 * ctc.mean() + 0.7 * F.cross_entropy(nn.Linear(6, 5)(out[:, :1]), y[:, 1:].unsqueeze(2))


@net("Viterbi training: the best path of a chain against the tags, hinge", words=WORDS, tags=classes(3, 5))
def structured_hinge(words, tags):
    e = nn.Linear(6, 3)(nn.Embedding(12, 6)(words))
    t = paddle.create_parameter([3, 3], "float32", name="moves")
    best = e[:, 0] + 1 - F.one_hot(tags[:, 0], 3)
    gold = (e * F.one_hot(tags, 3)).sum([1, 2])
    for i in range(1, 5):
        best = (best.unsqueeze(2) + t).max(1) + e[:, i] + 1 - F.one_hot(tags[:, i], 3)
        gold = gold + paddle.einsum("bi,bj,ij->b", F.one_hot(tags[:, i - 1], 3), F.one_hot(tags[:, i], 3), t)
    return F.relu(best.max(1) - gold).mean()


@net("Queries that are parameters of one sample, products broadcast over the batch", x=numbers(5, 8), label=LABEL)
def broadcast_queries(x, label):
    q = paddle.create_parameter([1, 3, 8], "float32", name="queries")
    s = F.softmax(paddle.matmul(q, x, transpose_y=True))
    return score(paddle.matmul(s, x), label)
