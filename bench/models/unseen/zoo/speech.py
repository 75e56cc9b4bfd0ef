"""Speech, video and signals (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import classes, lengths, net, numbers
from unseen.families.shared import LABEL, WORDS, score

FRAMES, WAVE = numbers(8, 4), numbers(16)


@net("Attention that looks where it was (Tacotron), stop tokens", words=WORDS, mel=numbers(3, 4), stop=("float32", (3,), lambda r, n: np.eye(3)[r.integers(1, 3, n)]))
def located_attention(words, mel, stop):
    x, _ = nn.LSTM(4, 3, direction="bidirect")(nn.Embedding(12, 4)(words))
    keys, query, place, v = nn.Linear(6, 4)(x), nn.Linear(6, 4), nn.Linear(2, 4, bias_attr=False), nn.Linear(4, 1)
    conv, cell, out, end = nn.Conv1D(2, 2, 3, padding=1), nn.LSTMCell(10, 6), nn.Linear(12, 4), nn.Linear(12, 1)
    pre = lambda t: F.relu(t)  # noqa: E731
    a = total = paddle.zeros_like(x[:, :, 0])
    c, last, loss = paddle.zeros_like(x[:, 0]), paddle.zeros_like(mel[:, 0]), 0.0
    state = (paddle.zeros_like(c), paddle.zeros_like(c))
    for t in range(3):
        h, state = cell(paddle.concat([pre(last), c], 1), state)
        f = conv(paddle.stack([a, total], 1)).transpose([0, 2, 1])
        a = F.softmax(v(F.tanh(query(h).unsqueeze(1) + keys + place(f))).squeeze(2))
        total = total + a
        c = paddle.bmm(a.unsqueeze(1), x).squeeze(1)
        both = paddle.concat([h, c], 1)
        loss = loss + F.mse_loss(out(both), mel[:, t]) + F.binary_cross_entropy_with_logits(end(both).squeeze(1), stop[:, t])
        last = mel[:, t]
    return loss


@net("Durations, pitches and energies predicted beside what they are (FastSpeech 2)", words=WORDS, d=numbers(5), p=numbers(5), n=lengths(2, 5))
def variance_adaptor(words, d, p, n):
    m = F.sequence_mask(n, 5, "float32")
    x = nn.Embedding(12, 4)(words)
    h = nn.LayerNorm(4)(F.relu(nn.Conv1D(4, 4, 3, padding=1, data_format="NLC")(x)))
    one = lambda: nn.Linear(4, 1)(nn.LayerNorm(4)(F.relu(nn.Conv1D(4, 4, 3, padding=1, data_format="NLC")(h)))).squeeze(2)  # noqa: E731
    error = paddle.square(one() - d) + paddle.abs(one() - p)
    return ((error * m).sum(1) / paddle.cast(n, "float32")).mean()


@net("Frames repeated by durations that are the same for all", words=WORDS, mel=numbers(10, 3))
def repeated_frames(words, mel):
    x = nn.Embedding(12, 4)(words)
    at = paddle.assign(np.array([0, 0, 1, 2, 2, 2, 3, 4, 4, 4], "int64"))
    return F.l1_loss(nn.Linear(4, 3)(paddle.index_select(x, at, axis=1)), mel)


@net("Block of a conformer without batch statistics", x=FRAMES, label=LABEL)
def conformer(x, label):
    ff = lambda t: nn.Linear(8, 4)(F.silu(nn.Linear(4, 8)(nn.LayerNorm(4)(t))))  # noqa: E731
    x = x + 0.5 * ff(x)
    h = nn.LayerNorm(4)(x)
    x = x + nn.MultiHeadAttention(4, 2)(h, h, h)
    h = F.glu(nn.Conv1D(4, 8, 1)(nn.LayerNorm(4)(x).transpose([0, 2, 1])), axis=1)
    h = F.silu(nn.GroupNorm(1, 4)(nn.Conv1D(4, 4, 3, padding=1, groups=4)(h)))
    x = x + nn.Conv1D(4, 4, 1)(h).transpose([0, 2, 1])
    return score(nn.LayerNorm(4)(x + 0.5 * ff(x)).mean(1), label)


@net("Speakers: dilated layers, statistics attended, margins of angles", x=FRAMES, label=classes(3))
def speaker(x, label):
    h = x.transpose([0, 2, 1])
    for d in (1, 2):
        h = F.relu(nn.Conv1D(4, 4, 3, dilation=d, padding=d)(h))
    a = F.softmax(nn.Conv1D(4, 4, 1)(F.tanh(nn.Conv1D(4, 4, 1)(h))), axis=2)
    m = (a * h).sum(2)
    s = paddle.sqrt(paddle.clip((a * h * h).sum(2) - m * m, min=1e-4))
    e = F.normalize(nn.Linear(8, 4)(paddle.concat([m, s], 1)), axis=1)
    w = F.normalize(paddle.create_parameter([4, 3], "float32", name="w"), axis=0)
    c = paddle.clip(paddle.matmul(e, w), -0.99, 0.99)
    one = F.one_hot(label, 3)
    return F.cross_entropy(5.0 * (one * paddle.cos(paddle.acos(c) + 0.2) + (1 - one) * c), label.unsqueeze(1))


@net("Groups of channels one after the other, squeezed (ECAPA)", x=FRAMES, label=LABEL)
def chained_groups(x, label):
    parts = nn.Conv1D(4, 8, 1)(x.transpose([0, 2, 1])).chunk(4, axis=1)
    out = [parts[0]]
    for one in parts[1:]:
        out.append(F.relu(nn.Conv1D(2, 2, 3, padding=2, dilation=2)(one if len(out) == 1 else one + out[-1])))
    h = paddle.concat(out, 1)
    h = h * F.sigmoid(nn.Conv1D(4, 8, 1)(F.relu(nn.Conv1D(8, 4, 1)(h.mean(2, keepdim=True)))))
    return score(h.mean(2), label)


@net("Units whose recurrence has no product (SRU), both highways", x=FRAMES, label=LABEL)
def simple_units(x, label):
    u, f, r = nn.Linear(4, 4, bias_attr=False)(x), F.sigmoid(nn.Linear(4, 4)(x)), F.sigmoid(nn.Linear(4, 4)(x))
    c, hs = paddle.zeros_like(x[:, 0]), []
    for t in range(8):
        c = f[:, t] * c + (1 - f[:, t]) * u[:, t]
        hs.append(r[:, t] * F.tanh(c) + (1 - r[:, t]) * x[:, t])
    return score(paddle.stack(hs, 1).max(1), label)


@net("Recurrent highways of depth two", x=FRAMES, label=LABEL)
def recurrent_highway(x, label):
    s = paddle.zeros_like(x[:, 0])
    wh, wt = nn.Linear(4, 4), nn.Linear(4, 4)
    rh, rt = [nn.Linear(4, 4) for _ in range(2)], [nn.Linear(4, 4) for _ in range(2)]
    for i in range(8):
        for d in range(2):
            h, t = rh[d](s), rt[d](s)
            if d == 0:
                h, t = h + wh(x[:, i]), t + wt(x[:, i])
            t = F.sigmoid(t - 1)
            s = F.tanh(h) * t + s * (1 - t)
    return score(s, label)


@net("Independent recurrence: a vector in place of a matrix, clipped", x=FRAMES, label=LABEL)
def independent_recurrence(x, label):
    w = paddle.clip(paddle.create_parameter([4], "float32", name="u"), -1.0, 1.0)
    h, a = paddle.zeros_like(x[:, 0]), nn.Linear(4, 4)(x)
    for t in range(8):
        h = F.relu(a[:, t] + w * h)
    return score(h, label)


@net("Forget gate only, coupled (JANET), steps unstacked", x=FRAMES, label=LABEL)
def forget_only(x, label):
    h, f, g = 0.0, nn.Linear(8, 4), nn.Linear(8, 4)
    h = paddle.zeros_like(x[:, 0])
    for one in paddle.unstack(x, axis=1):
        both = paddle.concat([one, h], 1)
        s = F.sigmoid(f(both))
        h = s * h + (1 - s) * F.tanh(g(both))
    return score(h, label)


@net("Chunks of time: nested recurrences (dual path)", x=numbers(8, 4), y=numbers(8, 4))
def dual_path(x, y):
    c = x.reshape([-1, 4, 4])
    h, _ = nn.LSTM(4, 2, direction="bidirect")(c)
    c = (c + h).reshape([-1, 2, 4, 4]).transpose([0, 2, 1, 3]).reshape([-1, 2, 4])
    h, _ = nn.LSTM(4, 4)(c)
    c = (c + h).reshape([-1, 4, 2, 4]).transpose([0, 2, 1, 3]).reshape([-1, 8, 4])
    return F.mse_loss(F.sigmoid(c) * x, y)


@net("Masks of sources, the better assignment of two (permutation invariant), scale-invariant ratio", x=WAVE, a=WAVE, b=WAVE)
def permutation_invariant(x, a, b):
    s = nn.Linear(16, 32)(x).reshape([-1, 2, 16])

    def ratio(e, t):
        t = t - t.mean(1, keepdim=True)
        e = e - e.mean(1, keepdim=True)
        p = (e * t).sum(1, keepdim=True) / ((t * t).sum(1, keepdim=True) + 1e-3) * t
        return 4.34 * paddle.log(((p * p).sum(1) + 1e-3) / (((e - p) * (e - p)).sum(1) + 1e-3))

    one = ratio(s[:, 0], a) + ratio(s[:, 1], b)
    other = ratio(s[:, 0], b) + ratio(s[:, 1], a)
    return -0.05 * paddle.maximum(one, other).mean()


@net("Spectra of windowed frames, magnitudes and their logarithms", x=WAVE, y=WAVE, rate=0.01)
def spectral_losses(x, y):
    w = paddle.assign(np.hanning(9)[:8].astype("float32"))
    z = nn.Linear(16, 16)(x)
    mag = lambda t: paddle.sqrt(paddle.square(paddle.abs(paddle.fft.rfft(paddle.signal.frame(t, 8, 4).transpose([0, 2, 1]) * w))) + 1e-2)  # noqa: E731
    a, b = mag(z), mag(y)
    return F.l1_loss(a, b) + F.l1_loss(paddle.log(a), paddle.log(b))


@net("Frames and overlaps added", x=WAVE, y=WAVE)
def framed(x, y):
    f = paddle.signal.frame(x, 8, 4)
    h = F.tanh(nn.Linear(8, 8)(f.transpose([0, 2, 1]))).transpose([0, 2, 1])
    return F.mse_loss(paddle.signal.overlap_add(h, 4), y)


@net("Filters of a bank with edges that are learned (SincNet)", x=WAVE, label=LABEL)
def sinc_filters(x, label):
    f = paddle.abs(paddle.create_parameter([4, 1], "float32", name="low")) + 0.05
    n = paddle.assign((np.arange(-3, 4)[None] + 1e-3).astype("float32"))
    k = paddle.sin(2 * np.pi * f * n) / (np.pi * n) * paddle.assign(np.hamming(7).astype("float32"))
    h = F.conv1d(x.unsqueeze(1), k.unsqueeze(1), stride=2)
    return score(F.max_pool1d(F.leaky_relu(nn.LayerNorm(h.shape[2])(h)), 2), label)


@net("Future of a signal told from given others (CPC)", x=FRAMES, others=numbers(3, 4))
def predictive_coding(x, others):
    f = nn.Linear(4, 4)
    z, (h, _) = nn.GRU(4, 4)(f(x))[0][:, 3], (None, None)
    p = nn.Linear(4, 4)(z)
    k = f(paddle.concat([x[:, 5:6], others], 1))
    return -F.log_softmax(paddle.bmm(k, p.unsqueeze(2)).squeeze(2), axis=1)[:, 0].mean()


@net("Mixture of logistics over quantised samples", x=numbers(4), y=numbers(1))
def mixture_of_logistics(x, y):
    h = nn.Linear(4, 9)(x)
    pi, m, s = h[:, :3], h[:, 3:6], paddle.clip(h[:, 6:], min=-3.0)
    inv = paddle.exp(-s)
    up, down = F.sigmoid(inv * (y - m + 0.05)), F.sigmoid(inv * (y - m - 0.05))
    inner = paddle.log(paddle.maximum(up - down, paddle.full([1], 1e-4)))
    edge = paddle.where((y > 0.9).expand_as(m), paddle.log(1 - down + 1e-4), paddle.where((y < -0.9).expand_as(m), paddle.log(up + 1e-4), inner))
    return -paddle.logsumexp(edge + F.log_softmax(pi), axis=1).mean()


@net("Video: channels shifted in time (TSM), frames voted", x=numbers(4, 4, 4, 4), label=LABEL)
def shifted_time(x, label):
    h = x.reshape([-1, 4, 4, 4])
    for _ in range(2):
        t = F.relu(nn.Conv2D(4, 4, 3, padding=1)(F.temporal_shift(h, 4, 0.25)))
        h = h + t
    return score(nn.Linear(4, 4)(h.mean([2, 3])).reshape([-1, 4, 4]).mean(1), label)


@net("Video: slow and fast paths with a lateral link", x=numbers(2, 4, 4, 4), label=LABEL)
def slow_fast(x, label):
    slow = F.relu(nn.Conv3D(2, 4, (1, 3, 3), padding=(0, 1, 1))(x[:, :, ::2]))
    fast = F.relu(nn.Conv3D(2, 2, (3, 3, 3), padding=1)(x))
    slow = paddle.concat([slow, nn.Conv3D(2, 2, (3, 1, 1), stride=(2, 1, 1), padding=(1, 0, 0))(fast)], 1)
    return score(paddle.concat([slow.mean([2, 3, 4]), F.adaptive_avg_pool3d(fast, 1).flatten(1)], 1), label)


@net("Video: space, then time attended (TimeSformer)", x=numbers(3, 4, 4), label=LABEL)
def divided_attention(x, label):
    t = nn.Linear(4, 4)(x).transpose([0, 2, 1, 3]).reshape([-1, 3, 4])
    t = (t + nn.MultiHeadAttention(4, 2)(t)).reshape([-1, 4, 3, 4]).transpose([0, 2, 1, 3]).reshape([-1, 4, 4])
    t = (t + nn.MultiHeadAttention(4, 2)(t)).reshape([-1, 12, 4])
    return score(t.mean(1), label)
