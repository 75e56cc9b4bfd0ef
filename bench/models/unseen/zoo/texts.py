"""Texts: masks, places, experts, matching, tagging (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, lengths, net, numbers
from unseen.families.shared import LABEL, NEXT, WORDS, score


def heads(x, count=2):
    return x.reshape([0, 0, count, x.shape[2] // count]).transpose([0, 2, 1, 3])


def attend(x, bias=None, q=None, k=None, v=None):
    q, k, v = (nn.Linear(x.shape[2], x.shape[2])(x) if one is None else one for one in (q, k, v))
    s = paddle.matmul(heads(q), heads(k), transpose_y=True) * 0.5
    return paddle.matmul(F.softmax(s if bias is None else s + bias), heads(v)).transpose([0, 2, 1, 3]).flatten(2)


@net("A window of keys and one global word (Longformer), mask of constants", words=classes(12, 8), label=LABEL)
def window_and_global(words, label):
    i = np.arange(8)
    seen = (np.abs(i[:, None] - i) <= 1) | (i[:, None] == 0) | (i == 0)
    bias = paddle.assign(np.where(seen, 0.0, -1e4).astype("float32"))
    return score(attend(nn.Embedding(12, 8)(words), bias)[:, 0], label)


@net("Blocks, their neighbours and one that is drawn once (BigBird)", words=classes(12, 8), label=LABEL)
def block_sparse(words, label):
    x = nn.Embedding(12, 8)(words)
    b = x.reshape([-1, 4, 2, 8])
    near = paddle.concat([paddle.roll(b, 1, 1), b, paddle.roll(b, -1, 1), paddle.index_select(b, paddle.assign(np.array([2, 3, 0, 1])), 1)], 2)
    a = F.softmax(paddle.einsum("bnqd,bnkd->bnqk", nn.Linear(8, 8)(b), nn.Linear(8, 8)(near)) * 0.3)
    return score(paddle.einsum("bnqk,bnkd->bnqd", a, near).reshape([-1, 8, 8]).max(1), label)


@net("Random features in place of the softmax (Performer)", words=WORDS, next=NEXT)
def random_features(words, next):
    x = nn.Embedding(12, 6)(words)
    w = paddle.assign(np.random.default_rng(3).normal(size=(6, 8)).astype("float32"))
    f = lambda t: paddle.exp(paddle.matmul(t, w) - 0.5 * (t * t).sum(-1, keepdim=True)) + 1e-3  # noqa: E731
    q, k, v = f(nn.Linear(6, 6)(x)), f(nn.Linear(6, 6)(x)), nn.Linear(6, 6)(x)
    kv = paddle.cumsum(paddle.einsum("bnm,bnd->bnmd", k, v), axis=1)
    y = paddle.einsum("bnm,bnmd->bnd", q, kv) / (paddle.einsum("bnm,bnm->bn", q, paddle.cumsum(k, axis=1)).unsqueeze(2) + 1e-3)
    return F.cross_entropy(nn.Linear(6, 12)(y), next)


@net("Segments seen together, the first part of a text as its prefix (UniLM)", words=WORDS, n=lengths(1, 4), next=NEXT)
def prefix_mask(words, n, next):
    i = paddle.arange(5)
    causal = paddle.assign(np.tril(np.ones((5, 5))).astype("float32")).unsqueeze(0)
    prefix = (i.unsqueeze(0) < n.unsqueeze(1)).astype("float32").unsqueeze(1)
    seen = paddle.maximum(causal + prefix * 0, prefix + causal * 0)
    return F.cross_entropy(nn.Linear(8, 12)(attend(nn.Embedding(12, 8)(words), ((1 - seen) * -1e4).unsqueeze(1))), next)


@net("Prompts that are learned before keys and values, the rest held", words=WORDS, label=LABEL)
def prefix_tuning(words, label):
    held = paddle.ParamAttr(trainable=False)
    x = nn.Embedding(12, 8, weight_attr=held)(words)
    q, k, v = (nn.Linear(8, 8, weight_attr=held, bias_attr=False)(x) for _ in range(3))
    p = paddle.create_parameter([2, 3, 8], "float32", name="prompt")
    grown = lambda i, t: paddle.concat([p[i].unsqueeze(0) + paddle.zeros_like(t[:, :3]), t], 1)  # noqa: E731
    return score(attend(x, None, q, grown(0, k), grown(1, v)).mean(1), label)


@net("Relative shifts of Transformer-XL with a memory that is fed", words=WORDS, memory=numbers(2, 8), next=NEXT)
def segment_memory(words, memory, next):
    x = nn.Embedding(12, 8)(words)
    c = paddle.concat([memory, x], 1)
    q, k, v = nn.Linear(8, 8, bias_attr=False)(x), nn.Linear(8, 8, bias_attr=False)(c), nn.Linear(8, 8, bias_attr=False)(c)
    r = paddle.create_parameter([7, 8], "float32", name="r")
    u, w = (paddle.create_parameter([8], "float32", name=n) for n in ("u", "v"))
    ac, bd = paddle.matmul(q + u, k, transpose_y=True), paddle.matmul(q + w, r, transpose_y=True)
    bd = F.pad(bd, [1, 0], data_format="NCL").reshape([-1, 8, 5])[:, 1:].reshape([-1, 5, 7])
    mask = paddle.assign(np.triu(np.full((5, 7), -1e4), 3).astype("float32"))
    return F.cross_entropy(nn.Linear(8, 12)(paddle.matmul(F.softmax((ac + bd) * 0.35 + mask), v)), next)


@net("Rotations of halves applied with tables of constants, one head of keys", words=WORDS, next=NEXT)
def rotated_halves(words, next):
    x = nn.Embedding(12, 8)(words)
    angle = np.arange(5)[:, None] * np.array([1.0, 0.1])
    cos, sin = (paddle.assign(np.tile(f(angle), 2).astype("float32")) for f in (np.cos, np.sin))
    turn = lambda t: t * cos + paddle.concat([-t[..., 2:], t[..., :2]], -1) * sin  # noqa: E731
    q, k, v = turn(heads(nn.Linear(8, 8)(x))), turn(nn.Linear(8, 4)(x).unsqueeze(1)), nn.Linear(8, 4)(x).unsqueeze(1)
    mask = paddle.tensor.triu(paddle.full([5, 5], -1e4), 1)
    a = F.softmax(paddle.matmul(q, k, transpose_y=True) + mask)
    y = paddle.matmul(a, v).transpose([0, 2, 1, 3]).reshape([0, 0, 8])
    return F.cross_entropy(nn.Linear(8, 12)(F.silu(nn.Linear(8, 8)(y)) * nn.Linear(8, 8)(y)), next)


@net("The two best experts of each word, gates renormalised", words=WORDS, next=NEXT)
def two_experts(words, next):
    x = nn.Embedding(12, 6)(words)
    g = F.softmax(nn.Linear(6, 4)(x))
    value, at = paddle.topk(g, 2)
    gate = (F.one_hot(at, 4) * (value / value.sum(-1, keepdim=True)).unsqueeze(-1)).sum(-2)
    y = paddle.stack([nn.Linear(6, 6)(F.gelu(nn.Linear(6, 6)(x))) for _ in range(4)], -1)
    return F.cross_entropy(nn.Linear(6, 12)((y * gate.unsqueeze(-2)).sum(-1)), next)


@net("Words replaced are found, the generator held back (ELECTRA)", words=WORDS, place=classes(5), truth=classes(12))
def replaced_words(words, place, truth):
    table = nn.Embedding(12, 6)
    z = nn.Linear(6, 12)(nn.GRU(6, 6)(table(words))[0])
    at = F.one_hot(place, 5)
    mine = (z * at.unsqueeze(2)).sum(1)
    new = paddle.argmax(mine + paddle.assign((np.arange(12) * 1e-3).astype("float32")), axis=1)
    there = at.astype("int64")
    mixed = words * (1 - there) + new.unsqueeze(1) * there
    fake = (mixed != words).astype("float32")
    d = nn.Linear(6, 1)(nn.GRU(6, 6)(table(mixed))[0]).squeeze(2)
    return F.cross_entropy(mine, truth) + 5.0 * F.binary_cross_entropy_with_logits(d, fake)


@net("Both ways between a question and a text (BiDAF), spans", q=classes(12, 3), words=WORDS, begin=classes(5, 1))
def flow_of_attention(q, words, begin):
    table = nn.Embedding(12, 4)
    h, u = table(words), table(q)
    w = [nn.Linear(4, 1, bias_attr=False) for _ in range(3)]
    s = w[0](h) + w[1](u).transpose([0, 2, 1]) + paddle.matmul(w[2](h) * h, u, transpose_y=True)
    c2q = paddle.matmul(F.softmax(s), u)
    q2c = paddle.matmul(F.softmax(s.max(2)).unsqueeze(1), h).expand([-1, 5, 4])
    g = paddle.concat([h, c2q, h * c2q, h * q2c], 2)
    return F.cross_entropy(nn.Linear(16, 1)(g).squeeze(2), begin)


@net("Local inference: soft alignments compared (ESIM), lengths", a=WORDS, b=WORDS, n=lengths(1, 5), m=lengths(1, 5), label=LABEL)
def local_inference(a, b, n, m, label):
    table = nn.Embedding(12, 4)
    a, b = table(a), table(b)
    ma, mb = F.sequence_mask(n, 5, "float32"), F.sequence_mask(m, 5, "float32")
    e = paddle.matmul(a, b, transpose_y=True)
    b2 = paddle.matmul(F.softmax(e + (mb.unsqueeze(1) - 1) * 1e4), b)
    a2 = paddle.matmul(F.softmax(e + (ma.unsqueeze(2) - 1) * 1e4, axis=1), a, transpose_x=True)
    f = nn.Linear(16, 4)
    f2 = lambda x, y, k: paddle.concat([(h * k.unsqueeze(2)).sum(1) / k.sum(1, keepdim=True) for h in [F.relu(f(paddle.concat([x, y, x - y, x * y], 2)))]] + [(h - (1 - k.unsqueeze(2)) * 1e4).max(1) for h in [F.relu(f(paddle.concat([x, y, x - y, x * y], 2)))]], 1)  # noqa: E731
    return score(paddle.concat([f2(a, b2, ma), f2(b, a2, mb)], 1), label)


@net("Spans of every kind by pairs of words, signs of classes (GlobalPointer)", words=WORDS, y=bits(2, 5, 5))
def global_pointer(words, y):
    x = nn.Embedding(12, 6)(words)
    q, k = nn.Linear(6, 8)(x).reshape([0, 0, 2, 4]).transpose([0, 2, 1, 3]), nn.Linear(6, 8)(x).reshape([0, 0, 2, 4]).transpose([0, 2, 1, 3])
    s = paddle.matmul(q, k, transpose_y=True) / 2.0 - paddle.assign(np.tril(np.ones((5, 5)), -1).astype("float32")) * 1e2
    s, y = s.reshape([-1, 25]), y.reshape([-1, 25])
    turned = (1 - 2 * y) * s
    zero = paddle.zeros_like(s[:, :1])
    neg = paddle.logsumexp(paddle.concat([turned - y * 1e3, zero], 1), axis=1)
    pos = paddle.logsumexp(paddle.concat([turned - (1 - y) * 1e3, zero], 1), axis=1)
    return (neg + pos).mean()


@net("Two passes that agree (R-Drop), divergence both ways", words=WORDS, label=LABEL)
def two_passes(words, label):
    x = nn.Embedding(12, 6)(words).mean(1)
    f = nn.Linear(6, 3)
    p, q = f(x * paddle.assign(np.array([2, 0, 2, 2, 0, 2], "float32"))), f(x * paddle.assign(np.array([0, 2, 2, 0, 2, 2], "float32")))
    kl = lambda a, b: F.kl_div(F.log_softmax(a), F.softmax(b), reduction="none").sum(1).mean()  # noqa: E731
    return F.cross_entropy(p, label) + F.cross_entropy(q, label) + 0.5 * (kl(p, q) + kl(q, p))


@net("Embeddings disturbed along their gradient (FGM), per sample", words=WORDS, label=classes(3))
def disturbed_embeddings(words, label):
    x, f = nn.Embedding(12, 6)(words), nn.Linear(6, 3)
    ce = lambda t: F.cross_entropy(f(F.tanh(t).mean(1)), label, reduction="none")  # noqa: E731
    first = ce(x)
    (g,) = paddle.static.gradients([first.sum()], [x])
    g.stop_gradient = True
    r = 0.1 * g / (paddle.sqrt(paddle.square(g).sum([1, 2], keepdim=True)) + 1e-6)
    return first.mean() + ce(x + r).mean()


@net("Teacher's maps of attention and states imitated, layers projected (TinyBERT)", words=WORDS)
def imitated(words):
    t, s = nn.Embedding(12, 8)(words), nn.Embedding(12, 4)(words)
    at = lambda h, d: paddle.matmul(nn.Linear(d, d)(h), nn.Linear(d, d)(h), transpose_y=True)  # noqa: E731
    a, b = at(t, 8), at(s, 4)
    a.stop_gradient = True
    t.stop_gradient = True
    return F.mse_loss(b, a) + F.mse_loss(nn.Linear(4, 8, bias_attr=False)(s), t)


@net("Labels smoothed, padding of label 0 weighted out per text", words=WORDS, next=classes(12, 5))
def smoothed_per_text(words, next):
    z = nn.Linear(6, 12)(nn.GRU(6, 6)(nn.Embedding(12, 6)(words))[0])
    t = F.label_smooth(F.one_hot(next, 12), epsilon=0.1)
    loss = F.cross_entropy(z, t, soft_label=True, reduction="none").squeeze(2)
    m = (next != 0).astype("float32")
    return ((loss * m).sum(1) / paddle.clip(m.sum(1), min=1.0)).mean()


@net("Labels smoothed, padding weighted out over the batch", "parts", words=WORDS, next=classes(12, 5))
def smoothed_over_batch(words, next):
    z = nn.Linear(6, 12)(nn.Embedding(12, 6)(words))
    loss = F.cross_entropy(z, F.label_smooth(F.one_hot(next, 12)), soft_label=True, reduction="none").squeeze(2)
    m = paddle.cast(next != 0, "float32")
    return paddle.sum(loss * m) / paddle.sum(m)


@net("A softmax in clusters: head and tails (adaptive)", words=WORDS, next=classes(12))
def adaptive_softmax(words, next):
    h = nn.Embedding(12, 6)(words).mean(1)
    head, tail = F.log_softmax(nn.Linear(6, 5)(h)), F.log_softmax(nn.Linear(2, 8)(nn.Linear(6, 2, bias_attr=False)(h)))
    p = paddle.concat([head[:, :4], head[:, 4:] + tail], 1)
    return -paddle.index_sample(p, next.unsqueeze(1)).mean()


@net("Unlikelihood of words that came before", words=WORDS, next=NEXT)
def unlikelihood(words, next):
    p = F.softmax(nn.Linear(6, 12)(nn.GRU(6, 6)(nn.Embedding(12, 6)(words))[0]))
    one = F.one_hot(words, 12)
    before = paddle.clip(paddle.cumsum(one, axis=1) - one, max=1.0) * (1 - F.one_hot(next.squeeze(2), 12))
    return -(paddle.log(paddle.index_sample(p.reshape([-1, 12]), next.reshape([-1, 1])) + 1e-4)).mean() - 0.5 * (paddle.log(1 - p + 1e-4) * before).sum(2).mean()


@net("Preferences: logarithms of ratios to a policy that is held (DPO)", good=WORDS, bad=WORDS)
def preferences(good, bad):
    policy, held = [[nn.Embedding(12, 6), nn.Linear(6, 12)] for _ in range(2)]

    def likelihood(net, words):
        z = F.log_softmax(net[1](net[0](words[:, :-1])))
        return paddle.take_along_axis(z, words[:, 1:].unsqueeze(2), 2).sum([1, 2])

    mine = likelihood(policy, good) - likelihood(policy, bad)
    other = (likelihood(held, good) - likelihood(held, bad)).detach()
    return -F.log_sigmoid(0.5 * (mine - other)).mean()


@net("Chain of tags by the library's op, words by characters", chars=classes(12, 4, 3), tags=classes(3, 4))
def characters(chars, tags):
    e = nn.Embedding(12, 4)(chars).transpose([0, 1, 3, 2]).reshape([-1, 4, 3])
    w = F.relu(nn.Conv1D(4, 6, 2)(e)).max(2).reshape([-1, 4, 6])
    return F.cross_entropy(nn.Linear(8, 3)(nn.GRU(6, 4, direction="bidirect")(w)[0]), tags.unsqueeze(2))
