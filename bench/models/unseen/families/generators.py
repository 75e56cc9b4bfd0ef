"""Pairs of nets, autoencoders, diffusion, flows, energies, transport (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers
from unseen.families.shared import X, indices


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
