"""Model families, each as a user of the framework writes it small: pairs of nets, encoders, detectors, sets, trees, retrieval (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers, op

IMAGE, X, LABEL, WORDS, NEXT = numbers(2, 8, 8), numbers(6), classes(3, 1), classes(12, 5), classes(12, 5, 1)


def score(x, label, count=3):
    x = x.flatten(1)
    return F.cross_entropy(nn.Linear(x.shape[1], count)(x), label)


def indices(*values):
    return paddle.assign(np.array(values, "int64"))


@net("U-Net: halved, doubled by transposed convolutions, joined", image=IMAGE, label=classes(3, 8, 8, 1))
def u_net(image, label):
    a = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    b = F.relu(nn.Conv2D(4, 6, 3, padding=1)(F.max_pool2d(a, 2)))
    c = F.relu(nn.Conv2D(6, 8, 3, padding=1)(F.avg_pool2d(b, 2)))
    d = F.relu(nn.Conv2D(12, 6, 3, padding=1)(paddle.concat([nn.Conv2DTranspose(8, 6, 2, stride=2)(c), b], 1)))
    e = paddle.concat([F.interpolate(d, scale_factor=2, mode="bilinear", align_corners=True), a], 1)
    return F.cross_entropy(nn.Conv2D(10, 3, 1)(e).transpose([0, 2, 3, 1]), label)


@net("U-Net with attention gates on what is joined", image=IMAGE, label=bits(1, 8, 8))
def attention_u_net(image, label):
    a = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    b = F.relu(nn.Conv2D(4, 4, 3, stride=2, padding=1)(a))
    up = F.interpolate(b, size=[8, 8], mode="nearest")
    gate = F.sigmoid(nn.Conv2D(4, 1, 1)(F.relu(nn.Conv2D(4, 4, 1)(a) + nn.Conv2D(4, 4, 1)(up))))
    return F.binary_cross_entropy_with_logits(nn.Conv2D(8, 1, 1)(paddle.concat([a * gate, up], 1)), label)




@net("Generator and discriminator, losses that do not saturate, one step of both", optimizer="adam", rate=0.01, z=numbers(4), real=numbers(1, 4, 4))
def pair_in_one(z, real):
    g = [nn.Linear(4, 8), nn.Linear(8, 16)]
    d = [nn.Conv2D(1, 4, 3, padding=1), nn.Linear(64, 1)]
    critic = lambda x: d[1](F.leaky_relu(d[0](x), 0.2).flatten(1))  # noqa: E731
    fake = F.tanh(g[1](F.relu(g[0](z)))).reshape([-1, 1, 4, 4])
    ones, zeros = paddle.ones_like(z[:, :1]), paddle.zeros_like(z[:, :1])
    cross = F.binary_cross_entropy_with_logits
    return cross(critic(real), ones) + cross(critic(fake.detach()), zeros) + 0.5 * cross(critic(fake), ones)


@net("Least squares pair with labels of classes", optimizer="adam", rate=0.01, z=numbers(4), real=numbers(6), c=classes(3))
def conditional_pair(z, real, c):
    code = nn.Embedding(3, 2)(c)
    fake = nn.Linear(6, 6)(paddle.concat([z, code], 1))
    d = nn.Linear(8, 1)
    critic = lambda x: d(paddle.concat([x, code], 1))  # noqa: E731
    return paddle.square(critic(real) - 1).mean() + paddle.square(critic(fake)).mean() * 0.5


@net("Cycle of two generators: what comes back is what went", a=numbers(1, 6, 6), b=numbers(1, 6, 6))
def cycle(a, b):
    there, back = nn.Conv2D(1, 1, 3, padding=1), nn.Conv2D(1, 1, 3, padding=1)
    return F.l1_loss(back(F.tanh(there(a))), a) + F.l1_loss(there(F.tanh(back(b))), b) + 0.5 * F.l1_loss(there(b), b)


@net("Pixels to pixels: instance norm, dropout of none, L1 and a patch critic", a=numbers(1, 8, 8), b=numbers(1, 8, 8))
def pixels_to_pixels(a, b):
    h = nn.InstanceNorm2D(4)(nn.Conv2D(1, 4, 4, stride=2, padding=1)(a))
    out = F.tanh(nn.Conv2DTranspose(4, 1, 4, stride=2, padding=1)(F.leaky_relu(h, 0.2)))
    patch = nn.Conv2D(2, 1, 4, stride=2)(paddle.concat([a, out], 1))
    return F.l1_loss(out, b) * 10 + F.binary_cross_entropy_with_logits(patch, paddle.ones_like(patch))


@net("Variational encoder: a sample's divergence and likelihood, noise fed", x=("float32", (6,), lambda r, n: r.integers(0, 2, (n, 6))), e=numbers(2))
def variational_bits(x, e):
    h = F.relu(nn.Linear(6, 8)(x))
    m, v = nn.Linear(8, 2)(h), nn.Linear(8, 2)(h)
    y = nn.Linear(2, 6)(m + paddle.exp(0.5 * v) * e)
    likelihood = F.binary_cross_entropy_with_logits(y, x, reduction="none").sum(1)
    divergence = -0.5 * (1 + v - m * m - paddle.exp(v)).sum(1)
    return (likelihood + divergence).mean()


@net("Variational encoder by distributions of the library", x=X, e=numbers(2), rate=0.01)
def variational_normal(x, e):
    m, s = nn.Linear(6, 2)(x), F.softplus(nn.Linear(6, 2)(x)) + 0.1
    q, p = paddle.distribution.Normal(m, s), paddle.distribution.Normal(paddle.zeros([2]), paddle.ones([2]))
    back = nn.Linear(2, 6)(m + s * e)
    return paddle.distribution.kl_divergence(q, p).sum(-1).mean() - paddle.distribution.Normal(back, paddle.ones([6])).log_prob(x).sum(-1).mean()


@net("Categorical policy: log probabilities and entropy of the library", x=X, a=classes(3), gain=numbers())
def policy(x, a, gain):
    p = paddle.distribution.Categorical(nn.Linear(6, 3)(x))
    logits = F.log_softmax(nn.Linear(6, 3)(x))
    return -((logits * F.one_hot(a, 3)).sum(1) * gain).mean() - 0.1 * p.entropy().mean()


@net("Masked autoencoder: some tokens kept, the loss on the others", image=numbers(6, 4), rate=0.05)
def masked_autoencoder(image):
    x = nn.Linear(4, 8)(paddle.index_select(image, indices(0, 2, 5), axis=1))
    x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)(x)
    hole = paddle.create_parameter([1, 1, 8], "float32", name="hole")
    holes = hole + paddle.zeros_like(x)
    full = paddle.index_select(paddle.concat([x, holes], 1), indices(0, 3, 1, 4, 5, 2), axis=1)
    mask = paddle.assign(np.array([0, 1, 0, 1, 1, 0], "float32"))
    error = paddle.square(nn.Linear(8, 4)(full) - image).mean(-1)
    return (error * mask).sum(1).mean() / 3.0


@net("Denoising: a step of a diffusion, times embedded by sines", x=numbers(1, 4, 4), e=numbers(1, 4, 4), t=classes(10))
def diffusion(x, e, t):
    betas = np.linspace(1e-3, 0.2, 10)
    alpha = paddle.assign(np.cumprod(1 - betas).astype("float32"))
    a = paddle.gather(alpha, t).reshape([-1, 1, 1, 1])
    noisy = paddle.sqrt(a) * x + paddle.sqrt(1 - a) * e
    f = paddle.cast(t, "float32").unsqueeze(1) * paddle.assign(np.array([[1.0, 0.1, 0.01]], "float32"))
    time = nn.Linear(6, 4)(paddle.concat([paddle.sin(f), paddle.cos(f)], 1)).reshape([0, 4, 1, 1])
    h = F.silu(nn.GroupNorm(2, 4)(nn.Conv2D(1, 4, 3, padding=1)(noisy) + time))
    return F.mse_loss(nn.Conv2D(4, 1, 3, padding=1)(h), e)


@net("Flow of couplings: likelihood with its determinants", x=numbers(4), rate=0.01)
def flow(x):
    total = 0.0
    for i in range(3):
        a, b = x.split(2, 1)
        s, t = F.tanh(nn.Linear(2, 2)(a)), nn.Linear(2, 2)(a)
        x, total = paddle.concat([b * paddle.exp(s) + t, a], 1), total + s.sum(1)
    return (0.5 * paddle.square(x).sum(1) - total).mean()


@net("Autoregressive over dims: weights masked by constants", x=numbers(5))
def masked_weights(x):
    mask = paddle.assign(np.tril(np.ones((5, 5)), -1).T.astype("float32"))
    w = paddle.create_parameter([5, 5], "float32", name="w")
    return F.mse_loss(F.tanh(paddle.matmul(x, w * mask)) + nn.Linear(5, 5)(x * 0), x)


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


@net("Single shot head: matched boxes given, hard negatives by rank", image=IMAGE, offsets=numbers(16, 4), kind=classes(3, 16))
def single_shot(image, offsets, kind):
    x = F.relu(nn.Conv2D(2, 4, 3, stride=2, padding=1)(image))
    at = nn.Conv2D(4, 4, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 16, 4])
    s = nn.Conv2D(4, 3, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 16, 3])
    positive = (kind > 0).astype("float32")
    box = F.smooth_l1_loss(at, offsets, reduction="none").sum(-1) * positive
    ce = F.cross_entropy(s, kind.unsqueeze(2), reduction="none").squeeze(2)
    hard = paddle.topk(ce * (1 - positive), 4, axis=1)[0].sum(1)
    return ((box + ce * positive).sum(1) + hard).mean()


@net("Focal head with each image's own count of objects", image=IMAGE, y=bits(3, 8, 8))
def focal_per_image(image, y):
    s = nn.Conv2D(4, 3, 1)(F.relu(nn.Conv2D(2, 4, 3, padding=1)(image)))
    focal = F.sigmoid_focal_loss(s, y, reduction="none").sum([1, 2, 3])
    return (focal / (y.sum([1, 2, 3]) + 1.0)).mean()


@net("Two yolo maps with scales and scores", image=numbers(3, 8, 8), boxes=("float32", (2, 4), lambda r, n: r.integers(4, 12, (n, 2, 4)) / np.float32(16)), kinds=("int32", (2,), lambda r, n: r.integers(0, 2, (n, 2))), scores=("float32", (2,), lambda r, n: r.integers(4, 9, (n, 2)) / np.float32(8)), rate=0.01)
def two_yolo_maps(image, boxes, kinds, scores):
    x = F.leaky_relu(nn.Conv2D(3, 6, 3, stride=2, padding=1)(image))
    y = F.leaky_relu(nn.Conv2D(6, 6, 3, stride=2, padding=1)(x))
    loss = 0.0
    for h, mask, down in ((x, [0, 1], 2), (y, [2, 3], 4)):
        loss = loss + paddle.vision.ops.yolo_loss(
            nn.Conv2D(6, 14, 1)(h), boxes, kinds, [2, 3, 3, 2, 4, 6, 6, 4], mask, 2, 0.5, down, gt_score=scores, use_label_smooth=False, scale_x_y=1.05
        ).mean()
    return loss


@net("Masks of instances: prototypes times coefficients", image=IMAGE, y=bits(3, 8, 8))
def prototype_masks(image, y):
    p = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    c = F.tanh(nn.Linear(4, 12)(p.mean([2, 3]))).reshape([-1, 3, 4])
    m = paddle.einsum("bkc,bchw->bkhw", c, p)
    q = F.sigmoid(m)
    dice = 1 - 2 * (q * y).sum([1, 2, 3]) / ((q + y).sum([1, 2, 3]) + 1)
    return F.binary_cross_entropy_with_logits(m, y) + dice.mean()


@net("Set of queries over an image: box and class by given matching", image=IMAGE, box=numbers(3, 4), kind=classes(4, 3, 1))
def queries(image, box, kind):
    m = nn.Conv2D(2, 8, 4, stride=4)(image).flatten(2).transpose([0, 2, 1])
    q = paddle.create_parameter([1, 3, 8], "float32", name="queries")
    q = q + paddle.zeros_like(m[:, :3])
    h = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0)(q, nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)(m))
    return F.l1_loss(F.sigmoid(nn.Linear(8, 4)(h)), box) + F.cross_entropy(nn.Linear(8, 4)(h), kind)


@net("Super resolution: pixels shuffled, a robust loss", image=numbers(1, 4, 4), goal=numbers(1, 8, 8))
def super_resolution(image, goal):
    h = F.relu(nn.Conv2D(1, 4, 3, padding=1)(image))
    y = F.pixel_shuffle(nn.Conv2D(4, 4, 3, padding=1)(h), 2)
    return paddle.sqrt(paddle.square(y - goal) + 1e-3).mean()


@net("Style: Gram matrices of features, and content", image=IMAGE, style=IMAGE)
def style(image, style):
    conv = nn.Conv2D(2, 3, 3, padding=1)
    a, b = F.relu(conv(image)).flatten(2), F.relu(nn.Conv2D(2, 3, 1)(style)).flatten(2)
    gram = lambda f: paddle.bmm(f, f.transpose([0, 2, 1])) / 64.0  # noqa: E731
    return paddle.square(gram(a) - gram(b)).sum([1, 2]).mean() + 0.1 * F.mse_loss(a, b)


@net("Flow of an image: warped by a grid that a net gives, census of the error", a=IMAGE, b=IMAGE)
def warped(a, b):
    f = nn.Conv2D(4, 2, 3, padding=1)(paddle.concat([a, b], 1)) * 0.1
    ys, xs = np.meshgrid(np.linspace(-1, 1, 8), np.linspace(-1, 1, 8), indexing="ij")
    grid = paddle.assign(np.stack([xs, ys], -1)[None].astype("float32"))
    b.stop_gradient = False  # the framework dies of a sample without a gradient
    w = F.grid_sample(b, f.transpose([0, 2, 3, 1]) + grid, align_corners=True)
    return paddle.pow(paddle.square(w - a) + 1e-3, 0.45).mean() + 0.1 * paddle.abs(f[:, :, 1:] - f[:, :, :-1]).mean()


@net("Spatial transformer: affine grid of a localisation net, its size by the shape", "parts", equal=True, image=IMAGE, label=LABEL)
def spatial_transformer(image, label):
    t = nn.Linear(128, 6)(image.flatten(1)).reshape([-1, 2, 3]) * 0.1 + paddle.assign(np.array([[1, 0, 0], [0, 1, 0]], "float32"))
    image.stop_gradient = False
    size = paddle.concat([paddle.shape(image)[:1], paddle.assign(np.array([2, 4, 4], "int32"))])
    return score(F.grid_sample(image, F.affine_grid(t, size)).reshape([-1, 2, 4, 4]), label)


@net("Fields: sines of coordinates", x=numbers(3, 2), y=numbers(3, 1))
def fields(x, y):
    h = paddle.sin(10.0 * nn.Linear(2, 6)(x))
    return F.mse_loss(nn.Linear(6, 1)(paddle.sin(nn.Linear(6, 6)(h))), y)


@net("Rays: colours composed along depths", x=numbers(4, 3), y=numbers(3))
def rays(x, y):
    h = F.relu(nn.Linear(3, 8)(x))
    d, c = F.softplus(nn.Linear(8, 1)(h)), F.sigmoid(nn.Linear(8, 3)(h))
    a = 1 - paddle.exp(-d * 0.25)
    left = paddle.concat([paddle.ones_like(a[:, :1]), paddle.cumprod(1 - a + 1e-4, 1)[:, :-1]], 1)
    return F.mse_loss((left * a * c).sum(1), y)


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


@net("Energies: noise contrastive with noise that is fed", x=X, n=numbers(3, 6))
def energies(x, n):
    f, g = nn.Linear(6, 8), nn.Linear(8, 1)
    e = lambda z: g(F.tanh(f(z))).squeeze(-1)  # noqa: E731
    return -(F.log_sigmoid(e(x)) + F.log_sigmoid(-e(n)).sum(1)).mean()


@net("Restricted machine: free energies of data and of a chain that is fed", x=bits(6), chain=bits(6))
def free_energy(x, chain):
    w, b, c = (paddle.create_parameter(s, "float32", name=n) for s, n in (([6, 4], "w"), ([6], "b"), ([4], "c")))
    f = lambda v: -(paddle.matmul(v, b)) - F.softplus(paddle.matmul(v, w) + c).sum(1)  # noqa: E731
    return (f(x) - f(chain)).mean()


@net("Optimal transport: three turns of Sinkhorn within a sample", a=numbers(3, 2), b=numbers(3, 2))
def sinkhorn(a, b):
    f = nn.Linear(2, 3)
    cost = paddle.square(f(a).unsqueeze(2) - f(b).unsqueeze(1)).sum(-1)
    u, v = paddle.zeros_like(cost[:, :, 0]), paddle.zeros_like(cost[:, 0])
    for _ in range(3):
        u = -paddle.logsumexp(-cost + v.unsqueeze(1), axis=2)
        v = -paddle.logsumexp(-cost + u.unsqueeze(2), axis=1)
    return (paddle.exp(u.unsqueeze(2) + v.unsqueeze(1) - cost) * cost).sum([1, 2]).mean()


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


@net("Queries that are parameters of one sample, products broadcast over the batch", x=numbers(5, 8), label=LABEL)
def broadcast_queries(x, label):
    q = paddle.create_parameter([1, 3, 8], "float32", name="queries")
    s = F.softmax(paddle.matmul(q, x, transpose_y=True))
    return score(paddle.matmul(s, x), label)


@net("Weights with leading extents of 1 before and behind the batch", x=numbers(2, 5, 4), label=LABEL)
def leading_ones(x, label):
    w = paddle.create_parameter([1, 2, 4, 3], "float32", name="w")
    mix = paddle.assign(np.tril(np.ones((1, 1, 5, 5))).astype("float32"))
    return score(paddle.matmul(mix, paddle.matmul(x, w)), label)


@net("Magnitudes and phases of spectra", x=numbers(8), y=numbers(5))
def phases(x, y):
    f = paddle.fft.rfft(nn.Linear(8, 8)(x))
    return F.mse_loss(paddle.abs(f) * 0.3 + paddle.angle(f + 0.5) * 0.1, y)


@net("Operator of Fourier modes: complex weights", x=numbers(2, 8), y=numbers(2, 8))
def fourier_operator(x, y):
    w = paddle.complex(*(paddle.create_parameter([2, 2, 5], "float32", name=n) for n in ("real", "imaginary")))
    return F.mse_loss(paddle.fft.irfft((paddle.fft.rfft(x).unsqueeze(2) * w).sum(1), n=8), y)


@net("Turned by complex numbers of a table", x=numbers(4), label=LABEL)
def complex_rotation(x, label):
    c = paddle.as_complex(nn.Linear(4, 4)(x).reshape([-1, 2, 2]))
    k = paddle.as_complex(paddle.assign(np.array([[0.6, 0.8], [0.8, -0.6]], "float32")))
    return score(paddle.as_real(c * k), label)


@net("Pairs below the diagonal, listed", x=numbers(4, 4), label=LABEL)
def listed_pairs(x, label):
    at = paddle.tril_indices(4, 4, -1)
    return score(paddle.index_select(nn.Linear(4, 4)(x).flatten(1), at[0] * 4 + at[1], axis=1), label)


@net("Full singular vectors, squared; their first columns", x=numbers(3, 5), label=LABEL)
def full_singular_vectors(x, label):
    u, s, _ = paddle.linalg.svd(nn.Linear(5, 5)(x)[:, :, :4], full_matrices=True)
    return score(paddle.concat([s, (u * u).flatten(1)], 1), label)


@net("Singular values squared, put together again", x=numbers(4, 3), label=LABEL)
def singular_filter(x, label):
    u, s, v = paddle.linalg.svd(nn.Linear(3, 3)(x))
    return score(paddle.matmul(u * (s * s).unsqueeze(1), v), label)


@net("Least squares by a pseudo-inverse", x=numbers(4, 3), y=numbers(4, 1), label=LABEL)
def least_squares(x, y, label):
    return score(paddle.matmul(paddle.linalg.pinv(nn.Linear(3, 3)(x)), y), label)


@net("Eigenvalues without vectors: the framework's gradient mixes the samples", "parts", x=numbers(3, 3), label=LABEL)
def bare_eigenvalues(x, label):
    h = nn.Linear(3, 3)(x)
    h = paddle.matmul(h, h, transpose_y=True) + paddle.diag(paddle.arange(3, dtype="float32"))
    return score(paddle.linalg.eigvalsh(h), label)


@net("Put by extremes and by means", x=numbers(5, 4), label=LABEL)
def put_extremes(x, label):
    h = nn.Linear(4, 4)(x)
    at = paddle.zeros_like(h[:, :2]).astype("int64") + 1
    a, b = (paddle.put_along_axis(h, at, h[:, :2] * 2.0, 1, reduce=how) for how in ("amax", "mean"))
    return score(a + b, label)


@net("Samples see each other: slices of features renormed over the batch", "coupled", x=numbers(3, 4), label=LABEL)
def renormed_features(x, label):
    return score(paddle.renorm(nn.Linear(4, 4)(x) * 3, 1.0, 2, 1.5), label)
