"""Nets of blocks that other fields use: vision Transformers, mixers, time series, spectral norms (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers

IMAGE, LABEL = numbers(3, 16, 16), classes(4, 1)


def drop_path(x, rate):
    keep = 1.0 - rate
    mask = paddle.floor(keep + paddle.rand([paddle.shape(x)[0]] + [1] * (x.ndim - 1)))
    return x / keep * mask


@net("Vision Transformer with paths dropped by random numbers", "drawn", image=IMAGE, label=LABEL, steps=5, optimizer=lambda r: paddle.optimizer.AdamW(r, weight_decay=0.05, multi_precision=False), rate=0.003, rounded=False)
def dropped_paths(image, label):
    x = nn.Conv2D(3, 16, 4, 4)(image).flatten(2).transpose([0, 2, 1])
    token = paddle.create_parameter([1, 1, 16], "float32", default_initializer=nn.initializer.TruncatedNormal(std=0.02))
    x = paddle.concat([token.expand([paddle.shape(x)[0], -1, -1]), x], 1)
    x = x + paddle.create_parameter([1, 17, 16], "float32", default_initializer=nn.initializer.TruncatedNormal(std=0.02))
    for i in range(2):
        h = nn.LayerNorm(16, epsilon=1e-6)(x)
        qkv = nn.Linear(16, 48)(h).reshape([-1, 17, 3, 2, 8]).transpose([2, 0, 3, 1, 4])
        a = F.softmax(qkv[0].matmul(qkv[1].transpose([0, 1, 3, 2])) * 8**-0.5, axis=-1)
        x = x + drop_path(nn.Linear(16, 16)(a.matmul(qkv[2]).transpose([0, 2, 1, 3]).reshape([-1, 17, 16])), 0.1 * (i + 1))
        x = x + drop_path(nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16))(nn.LayerNorm(16, epsilon=1e-6)(x)), 0.1 * (i + 1))
    return F.cross_entropy(nn.Linear(16, 4)(nn.LayerNorm(16)(x)[:, 0]), F.one_hot(label.squeeze(1), 4), soft_label=True, label_smoothing=0.1)


@net("MLP-Mixer with gates of places (gMLP) and squeeze of tokens", image=IMAGE, label=LABEL, steps=5)
def gated_mixer(image, label):
    x = F.unfold(image, 4, strides=4).transpose([0, 2, 1])
    x = nn.Linear(48, 12)(x)
    for _ in range(2):
        h = F.gelu(nn.Linear(12, 24)(nn.LayerNorm(12)(x)))
        u, v = h.chunk(2, axis=-1)
        v = nn.Conv1D(16, 16, 1, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(1.0)))(nn.LayerNorm(12)(v))
        x = x + nn.Linear(12, 12)(u * v)
    return F.cross_entropy(nn.Linear(12, 4)(x.mean(1)), label)


@net("EfficientNet blocks: depthwise, squeeze, swish, norms of momentum 0.99", "parts", ["batch_norm"], image=IMAGE, label=LABEL, steps=5, rounded=False)
def efficient_blocks(image, label):
    x = F.swish(nn.BatchNorm2D(8, momentum=0.99, epsilon=1e-3)(nn.Conv2D(3, 8, 3, 2, 1, bias_attr=False)(image)))
    for k, s in ((3, 1), (5, 2)):
        h = F.swish(nn.BatchNorm2D(16, momentum=0.99, epsilon=1e-3)(nn.Conv2D(8, 16, 1, bias_attr=False)(x)))
        h = F.swish(nn.BatchNorm2D(16)(nn.Conv2D(16, 16, k, s, k // 2, groups=16, bias_attr=False)(h)))
        g = F.adaptive_avg_pool2d(h, 1)
        h = h * F.sigmoid(nn.Conv2D(4, 16, 1)(F.swish(nn.Conv2D(16, 4, 1)(g))))
        h = nn.BatchNorm2D(8)(nn.Conv2D(16, 8, 1, bias_attr=False)(h))
        x = h + x if s == 1 else h
    return F.cross_entropy(nn.Linear(8, 4)(x.mean([2, 3])), label)


@net("Temporal convolutions with weight norm, residuals of 1x1, dropout of 0", x=numbers(3, 12), y=numbers(2), steps=5)
def weight_normed_times(x, y):
    for i, (a, b) in enumerate(((3, 6), (6, 6))):
        d = 2**i
        c1, c2 = (nn.utils.weight_norm(nn.Conv1D(k, b, 2, padding=0, dilation=d)) for k in (a, b))
        h = F.relu(c1(F.pad(x, [d, 0], data_format="NCL")))
        h = F.dropout(F.relu(c2(F.pad(h, [d, 0], data_format="NCL"))), 0.0)
        x = F.relu(h + (nn.Conv1D(a, b, 1)(x) if a != b else x))
    return F.mse_loss(nn.Linear(6, 2)(x[:, :, -1]), y)


@net("Critic with spectral norms of the static API on convolutions and a linear layer, hinge", a=IMAGE, b=IMAGE, steps=5, rounded=False)
def spectral_critic(a, b):
    w1, w2 = paddle.create_parameter([4, 3, 3, 3], "float32", name="w1"), paddle.create_parameter([256, 1], "float32", name="w2")
    w1, w2 = paddle.static.nn.spectral_norm(w1), paddle.static.nn.spectral_norm(w2, dim=1, power_iters=2)
    d = lambda x: paddle.matmul(F.leaky_relu(F.conv2d(x, w1, None, 2, 1), 0.1).flatten(1), w2)  # noqa: E731
    return F.relu(1.0 - d(a)).mean() + F.relu(1.0 + d(b)).mean()


@net("Forecasts by an LSTM encoder and decoder that feeds itself, normalised by instance", x=numbers(8, 2), y=numbers(3, 2), steps=5)
def self_fed_forecast(x, y):
    m, s = x.mean(1, keepdim=True), paddle.sqrt(x.var(1, keepdim=True, unbiased=False) + 1e-5)
    h, (a, c) = nn.LSTM(2, 6)((x - m) / s)
    cell, out = nn.LSTMCell(2, 6), nn.Linear(6, 2)
    state, last, outs = (a[0], c[0]), (x[:, -1] - m.squeeze(1)) / s.squeeze(1), []
    for _ in range(3):
        h, state = cell(last, state)
        last = out(h)
        outs.append(last)
    return F.mse_loss(paddle.stack(outs, 1) * s + m, y)


@net("Informer-like: autocorrelation by roll and top delays of the mean", x=numbers(8, 4), y=numbers(2), steps=5)
def autocorrelation(x, y):
    q, k, v = (nn.Linear(4, 4)(x) for _ in range(3))
    scores = paddle.stack([(q * paddle.roll(k, t, 1)).sum([1, 2]) for t in range(8)], 1)
    w, at = paddle.topk(scores, 3)
    w = F.softmax(w)
    rolled = paddle.stack([paddle.roll(v, -t, 1) for t in range(8)], 1)
    picked = paddle.take_along_axis(rolled, at.reshape([-1, 3, 1, 1]).expand([-1, 3, 8, 4]), 1)
    return F.mse_loss(nn.Linear(4, 2)((picked * w.reshape([-1, 3, 1, 1])).sum(1).mean(1)), y)


@net("Physics: a net whose derivatives of second order by its input enter the loss", t=numbers(1), y=numbers(1), steps=5)
def oscillator(t, y):
    t.stop_gradient = False
    u = nn.Linear(8, 1)(F.tanh(nn.Linear(1, 8)(t)))
    (du,) = paddle.static.gradients([u], [t])
    (ddu,) = paddle.static.gradients([du], [t])
    return paddle.mean(paddle.square(ddu + 0.3 * du + u)) + F.mse_loss(u, y)


@net("Knowledge of a Transformer given to an LSTM: logits, hidden states, soft temperature", words=classes(20, 6), label=LABEL, steps=5)
def transformer_to_lstm(words, label):
    e = nn.Embedding(20, 8)
    t = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 1)(e(words))
    th, tl = t.mean(1).detach(), nn.Linear(8, 4)(t.mean(1))
    out, (h, _) = nn.LSTM(8, 8)(nn.Embedding(20, 8)(words))
    sl = nn.Linear(8, 4)(h[-1])
    # (tl itself detached: the framework scales that in place, and the loss below sees it)
    kd = F.kl_div(F.log_softmax(sl / 2.0, -1), F.softmax((tl * 0.5).detach() * 1.0, -1), reduction="batchmean") * 4.0
    return F.cross_entropy(tl, label) + F.cross_entropy(sl, label) + kd + F.mse_loss(nn.Linear(8, 8)(h[-1]), th) + F.cosine_embedding_loss(h[-1], th, paddle.ones_like(label.squeeze(1)))


@net("CLIP: images and texts of a batch, a scale that is learned and clipped", "coupled", image=IMAGE, words=classes(20, 6), steps=5)
def image_text(image, words):
    i = nn.Linear(8, 6, bias_attr=False)(F.relu(nn.Conv2D(3, 8, 4, 4)(image)).mean([2, 3]))
    t = nn.Linear(8, 6, bias_attr=False)(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)(nn.Embedding(20, 8)(words))[:, -1])
    scale = paddle.exp(paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))).clip(max=20.0)
    s = scale * F.normalize(i, axis=-1) @ F.normalize(t, axis=-1).t()
    y = paddle.arange(s.shape[0] if s.shape[0] > 0 else 8)
    return (F.cross_entropy(s, y) + F.cross_entropy(s.t(), y)) / 2


@net("Point cloud: T-Net, shared 1D convolutions with norms, a penalty of orthogonality", "parts", ["batch_norm"], x=numbers(3, 10), label=LABEL, steps=5, rounded=False)
def point_transform(x, label):
    h = F.relu(nn.BatchNorm1D(8)(nn.Conv1D(3, 8, 1)(x)))
    m = nn.Linear(8, 9)(paddle.max(h, 2)).reshape([-1, 3, 3]) + paddle.eye(3).unsqueeze(0)
    x = paddle.bmm(x.transpose([0, 2, 1]), m).transpose([0, 2, 1])
    h = paddle.max(F.relu(nn.BatchNorm1D(8)(nn.Conv1D(3, 8, 1)(x))), axis=2)
    gap = paddle.norm(paddle.eye(3).unsqueeze(0) - paddle.bmm(m, m.transpose([0, 2, 1])), p=2, axis=[1, 2])
    return F.cross_entropy(nn.Linear(8, 4)(h), label) + 0.001 * paddle.mean(gap)


@net("Pools whose windows are larger than what is left of a map", image=numbers(3, 8, 8), label=LABEL, steps=5)
def loose_windows(image, label):
    h = F.relu(nn.Conv2D(3, 4, 4, stride=2)(image))
    parts = [F.avg_pool2d(h, 5, 3), F.avg_pool2d(h, 5, 3, exclusive=False), F.max_pool2d(h, 5, 3)]
    return F.cross_entropy(nn.Linear(12, 4)(paddle.concat(parts, 1).flatten(1)), label)
