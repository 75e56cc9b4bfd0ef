"""Backbones and heads of images (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers
from unseen.families.shared import IMAGE, LABEL, score

MAP, PLACES = numbers(4, 8, 8), classes(3, 8, 8, 1)


def convolved(x, out, kernel=3, **more):
    return nn.Conv2D(x.shape[1], out, kernel, padding=kernel // 2, **more)(x)


@net("Windows, shifted by a roll, masked where they wrap (Swin), patches merged", image=MAP, label=LABEL)
def swin(image, label):
    x = image.transpose([0, 2, 3, 1])
    region = np.zeros((8, 8))
    for i, rows in enumerate((slice(0, 4), slice(4, 6), slice(6, 8))):
        for j, columns in enumerate((slice(0, 4), slice(4, 6), slice(6, 8))):
            region[rows, columns] = 3 * i + j
    region = region.reshape(2, 4, 2, 4).transpose(0, 2, 1, 3).reshape(4, 16)
    mask = np.where(region[:, None] == region[:, :, None], 0.0, -100.0).astype("float32")
    for shift in (0, 2):
        h = nn.LayerNorm(4)(x)
        h = paddle.roll(h, (-shift, -shift), (1, 2)) if shift else h
        w = h.reshape([-1, 2, 4, 2, 4, 4]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 16, 4])
        q, k, v = nn.Linear(4, 12)(w).reshape([-1, 16, 3, 2, 2]).transpose([2, 0, 3, 1, 4]).unbind(0)
        s = paddle.matmul(q, k, transpose_y=True)
        if shift:
            s = (s.reshape([-1, 4, 2, 16, 16]) + paddle.assign(mask).unsqueeze(1).unsqueeze(0)).reshape([-1, 2, 16, 16])
        w = paddle.matmul(F.softmax(s), v).transpose([0, 2, 1, 3]).reshape([-1, 16, 4])
        h = w.reshape([-1, 2, 2, 4, 4, 4]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 8, 8, 4])
        x = x + (paddle.roll(h, (shift, shift), (1, 2)) if shift else h)
    x = paddle.concat([x[:, 0::2, 0::2], x[:, 1::2, 0::2], x[:, 0::2, 1::2], x[:, 1::2, 1::2]], -1)
    return score(nn.Linear(16, 8, bias_attr=False)(nn.LayerNorm(16)(x)).mean([1, 2]), label)


@net("Unfolded patches attended, folded again (MobileViT)", image=MAP, label=LABEL)
def mobile_vit(image, label):
    h = F.silu(convolved(F.silu(convolved(image, 4)), 8, 1))
    p = h.reshape([-1, 8, 4, 2, 4, 2]).transpose([0, 3, 5, 2, 4, 1]).reshape([-1, 16, 8])
    p = nn.TransformerEncoderLayer(8, 2, 8, dropout=0.0, activation="silu", normalize_before=True)(p)
    h = p.reshape([-1, 2, 2, 4, 4, 8]).transpose([0, 5, 3, 1, 4, 2]).reshape([-1, 8, 8, 8])
    return score(convolved(paddle.concat([image, convolved(h, 4, 1)], 1), 4).mean([2, 3]), label)


@net("Channels weighed by a convolution over channels (ECA)", image=MAP, label=LABEL)
def channel_convolution(image, label):
    h = F.relu(convolved(image, 8))
    a = F.sigmoid(nn.Conv1D(1, 1, 3, padding=1, bias_attr=False)(h.mean([2, 3]).unsqueeze(1)))
    return score((h * a.transpose([0, 2, 1]).unsqueeze(3)).mean([2, 3]), label)


@net("Kernels selected by a softmax over branches", image=MAP, label=LABEL)
def selective_kernels(image, label):
    a, b = F.relu(convolved(image, 4)), F.relu(nn.Conv2D(4, 4, 3, padding=2, dilation=2)(image))
    z = F.relu(nn.Linear(4, 4)((a + b).mean([2, 3])))
    w = F.softmax(paddle.stack([nn.Linear(4, 4)(z), nn.Linear(4, 4)(z)], 1), axis=1)
    v = (paddle.stack([a, b], 1) * w.unsqueeze([3, 4])).sum(1)
    return score(v.mean([2, 3]), label)


@net("Splits attended within groups (ResNeSt)", image=MAP, label=LABEL)
def split_attention(image, label):
    h = F.relu(nn.Conv2D(4, 16, 3, padding=1, groups=2)(image))
    parts = paddle.split(h, 2, axis=1)
    g = F.relu(nn.Conv2D(8, 4, 1, groups=2)(F.adaptive_avg_pool2d(sum(parts), 1)))
    a = nn.Conv2D(4, 16, 1, groups=2)(g).reshape([-1, 2, 2, 4]).transpose([0, 2, 1, 3])
    a = F.softmax(a, axis=1).reshape([-1, 16, 1, 1])
    return score(sum(x * y for x, y in zip(parts, a.split(2, axis=1))).mean([2, 3]), label)


@net("Global context added to every place", image=MAP, label=LABEL)
def global_context(image, label):
    a = F.softmax(convolved(image, 1, 1).flatten(2), axis=2)
    c = paddle.matmul(image.flatten(2), a.transpose([0, 2, 1])).unsqueeze(3)
    c = nn.Conv2D(2, 4, 1)(F.relu(nn.LayerNorm([2, 1, 1])(nn.Conv2D(4, 2, 1)(c))))
    return score((image + c).mean([2, 3]), label)


@net("Regions of objects: soft classes gather, places attend (OCR)", image=MAP, label=PLACES)
def object_regions(image, label):
    x, soft = F.relu(convolved(image, 4)), convolved(image, 3, 1)
    p = F.softmax(soft.flatten(2), axis=2)
    o = paddle.matmul(p, x.flatten(2), transpose_y=True)
    a = F.softmax(paddle.matmul(x.flatten(2), o, transpose_x=True, transpose_y=True) * 0.5)
    y = paddle.matmul(a, o).transpose([0, 2, 1]).reshape([0, 4, 8, 8])
    out = convolved(paddle.concat([x, y], 1), 3, 1)
    return F.cross_entropy(out, label.squeeze(3), axis=1) + 0.4 * F.cross_entropy(soft.transpose([0, 2, 3, 1]), label)


@net("Paths of two resolutions that exchange (HRNet)", image=MAP, label=PLACES)
def two_resolutions(image, label):
    a, b = F.relu(convolved(image, 4)), F.relu(convolved(image, 6, stride=2))
    for _ in range(2):
        a, b = (
            F.relu(convolved(a, 4) + F.interpolate(convolved(b, 4, 1), size=[8, 8], mode="bilinear")),
            F.relu(convolved(b, 6) + convolved(a, 6, stride=2)),
        )
    y = paddle.concat([a, F.interpolate(b, scale_factor=2, mode="nearest")], 1)
    return F.cross_entropy(convolved(y, 3, 1).transpose([0, 2, 3, 1]), label)


@net("Branches that could be one kernel (RepVGG), padded by hand", image=MAP, label=LABEL)
def folded_branches(image, label):
    w, p = paddle.create_parameter([4, 4, 3, 3], "float32", name="w3"), paddle.create_parameter([4, 4, 1, 1], "float32", name="w1")
    unit = paddle.assign((np.eye(4)[:, :, None, None] * np.pad([[1.0]], 1)).astype("float32"))
    return score(F.relu(F.conv2d(image, w + F.pad(p, [1, 1, 1, 1]) + unit, padding=1)).mean([2, 3]), label)


@net("Slices focused, paths partly through, pools of growing windows (YOLOX)", image=MAP, label=LABEL)
def focused(image, label):
    x = paddle.concat([image[:, :, ::2, ::2], image[:, :, 1::2, ::2], image[:, :, ::2, 1::2], image[:, :, 1::2, 1::2]], 1)
    x = F.silu(convolved(x, 4))
    x = paddle.concat([F.silu(convolved(F.silu(convolved(x, 2, 1)), 2)), F.silu(convolved(x, 2, 1))], 1)
    x = paddle.concat([x] + [F.max_pool2d(x, k, 1, k // 2) for k in (3, 5)], 1)
    return score(convolved(x, 4, 1).mean([2, 3]), label)


@net("Features fused by weights that are learned and normalised (BiFPN)", image=MAP, label=LABEL)
def weighted_pyramid(image, label):
    p3, p4 = convolved(image, 4), convolved(image, 4, stride=2)
    p5 = F.max_pool2d(p4, 3, 2, 1)
    w = F.relu(paddle.create_parameter([3, 2], "float32", name="w", default_initializer=nn.initializer.Constant(1.0)))
    w = w / (w.sum(1, keepdim=True) + 1e-4)
    t4 = F.swish(w[0, 0] * p4 + w[0, 1] * F.interpolate(p5, scale_factor=2))
    t3 = F.swish(w[1, 0] * p3 + w[1, 1] * F.interpolate(t4, scale_factor=2))
    t5 = w[2, 0] * p5 + w[2, 1] * F.max_pool2d(t4, 2)
    return score(paddle.concat([t3.mean([2, 3]), t4.mean([2, 3]), t5.mean([2, 3])], 1), label)


@net("Keys and values of a reduced map (PVT), a convolution in the feed-forward part", image=MAP, label=LABEL)
def reduced_keys(image, label):
    x = nn.LayerNorm(4)(image.flatten(2).transpose([0, 2, 1]))
    r = nn.Conv2D(4, 4, 2, stride=2)(x.transpose([0, 2, 1]).reshape([-1, 4, 8, 8])).flatten(2).transpose([0, 2, 1])
    x = x + nn.MultiHeadAttention(4, 2)(x, r, r)
    h = nn.Linear(4, 8)(x).transpose([0, 2, 1]).reshape([-1, 8, 8, 8])
    h = F.gelu(nn.Conv2D(8, 8, 3, padding=1, groups=8)(h), approximate=True).flatten(2).transpose([0, 2, 1])
    return score((x + nn.Linear(8, 4)(h)).mean(1), label)


@net("Covariance of channels attended (XCiT)", image=MAP, label=LABEL)
def channel_covariance(image, label):
    x = image.flatten(2).transpose([0, 2, 1])
    q, k, v = nn.Linear(4, 12, bias_attr=False)(x).reshape([0, 0, 3, 2, 2]).transpose([2, 0, 3, 4, 1])
    q, k = F.normalize(q, axis=-1), F.normalize(k, axis=-1)
    t = paddle.create_parameter([2, 1, 1], "float32", name="temperature")
    y = paddle.matmul(F.softmax(paddle.matmul(q, k, transpose_y=True) * t, axis=-1), v)
    return score(y.transpose([0, 3, 1, 2]).reshape([-1, 64, 4]).mean(1), label)


@net("Pools in place of attention, a scale per channel", image=MAP, label=LABEL)
def pool_former(image, label):
    s = paddle.create_parameter([4], "float32", name="scale", default_initializer=nn.initializer.Constant(0.5))
    image = convolved(image, 4)  # the framework dies of a norm whose input takes no gradient
    h = nn.GroupNorm(1, 4)(image)
    x = image + s.reshape([4, 1, 1]) * (F.avg_pool2d(h, 3, 1, 1, exclusive=True) - h)
    return score(x.mean([-2, -1]), label)


@net("Class token, a distillation token beside it (DeiT)", image=IMAGE, label=LABEL)
def two_tokens(image, label):
    x = nn.Conv2D(2, 8, 4, stride=4)(image).flatten(2).transpose([0, 2, 1])
    c, d = (paddle.create_parameter([1, 1, 8], "float32", name=n) for n in ("cls", "dist"))
    x = paddle.concat([c.expand([paddle.shape(x)[0], -1, -1]), d.expand([paddle.shape(x)[0], -1, -1]), x], axis=1)
    x = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu")(x + paddle.create_parameter([1, 6, 8], "float32", name="pos"))
    return 0.5 * score(x[:, 0], label) + 0.5 * score(x[:, 1], label)


@net("Talking heads: heads mixed before and after the softmax, layer scale", image=IMAGE, label=LABEL)
def talking_heads(image, label):
    x = nn.Conv2D(2, 8, 4, stride=4)(image).flatten(2).transpose([0, 2, 1])
    q, k, v = nn.Linear(8, 24)(x).reshape([-1, 4, 3, 2, 4]).transpose([2, 0, 3, 1, 4])
    s = nn.Linear(2, 2)(paddle.matmul(q, k.transpose([0, 1, 3, 2])).transpose([0, 2, 3, 1]))
    a = nn.Linear(2, 2)(F.softmax(s, axis=2)).transpose([0, 3, 1, 2])
    g = paddle.create_parameter([8], "float32", name="gamma", default_initializer=nn.initializer.Constant(0.1))
    return score((x + g * paddle.matmul(a, v).transpose([0, 2, 1, 3]).reshape([-1, 4, 8])).mean(1), label)


@net("Paths dropped with a fixed choice per layer, hard sigmoid gates", image=MAP, label=LABEL)
def gated_paths(image, label):
    for keep in (1.0, 0.0, 1.0):
        h = F.hardswish(convolved(image, 8, 1))
        h = h * F.hardsigmoid(nn.Conv2D(8, 8, 1)(F.adaptive_avg_pool2d(h, 1)), slope=0.2, offset=0.5)
        image = image + keep * convolved(h, 4, 1)
    return score(image.mean([2, 3]), label)


@net("Points of a cloud: nearest neighbours gathered, edges (DGCNN)", x=numbers(6, 3), label=LABEL)
def edge_convolutions(x, label):
    d = (x * x).sum(-1, keepdim=True) + (x * x).sum(-1).unsqueeze(1) - 2 * paddle.matmul(x, x, transpose_y=True)
    at = paddle.topk(d.detach() + paddle.assign((np.arange(6) * 1e-4).astype("float32")), 3, largest=False)[1]
    near = paddle.matmul(F.one_hot(at, 6), x.unsqueeze(1))
    e = paddle.concat([near - x.unsqueeze(2), x.unsqueeze(2).expand([-1, 6, 3, 3])], 3)
    return score(F.leaky_relu(nn.Linear(6, 6)(e), 0.2).max(2).max(1), label)


@net("Points grouped about centres that are chosen by index (PointNet++)", x=numbers(6, 3), at=classes(6, 2), label=LABEL)
def grouped_points(x, at, label):
    c = paddle.matmul(F.one_hot(at, 6), x)
    d = paddle.square(c.unsqueeze(2) - x.unsqueeze(1)).sum(-1)
    inside = (d < 0.8).astype("float32").unsqueeze(3)
    h = F.relu(nn.Linear(3, 4)(x.unsqueeze(1) - c.unsqueeze(2))) * inside
    return score(h.max(2).flatten(1), label)


@net("Text of an image: columns, both ways, CTC (CRNN)", image=numbers(1, 8, 16), y=("int32", (3,), lambda r, n: r.integers(1, 5, (n, 3))))
def text_of_image(image, y):
    h = F.relu(nn.Conv2D(1, 4, 3, padding=1)(image))
    h = F.max_pool2d(F.relu(nn.Conv2D(4, 6, 3, padding=1)(F.max_pool2d(h, 2))), (4, 1)).squeeze(2)
    h, _ = nn.LSTM(6, 4, direction="bidirectional")(h.transpose([0, 2, 1]))
    z = nn.Linear(8, 5)(h).transpose([1, 0, 2])
    n = paddle.zeros_like(y[:, 0]).astype("int64")
    return F.ctc_loss(z, y, n + 8, n + 3, blank=0, reduction="none").mean()


@net("Text attended over a map of places, positions of two dims (SAR)", image=numbers(1, 4, 8), y=classes(5, 3))
def text_in_places(image, y):
    m = F.relu(nn.Conv2D(1, 4, 3, padding=1)(image))
    g, cell, q, k, v, out = m.max(2), nn.LSTMCell(4, 4), nn.Linear(4, 4), nn.Conv2D(4, 4, 3, padding=1), nn.Conv2D(4, 1, 1), nn.Linear(8, 5)
    h, (s, _) = nn.LSTM(4, 4)(g.transpose([0, 2, 1]))
    last, table, states, outs, keys = s[0], nn.Embedding(5, 4), None, [], k(m)
    for t in range(3):
        o, states = cell(last, states)
        a = v(F.tanh(keys + q(o).unsqueeze([2, 3]))).flatten(1)
        c = (F.softmax(a, axis=1).reshape([-1, 1, 4, 8]) * m).sum([2, 3])
        outs.append(out(paddle.concat([o, c], 1)))
        last = table(y[:, t])
    return F.cross_entropy(paddle.stack(outs, 1).reshape([-1, 5]), y.reshape([-1, 1]))


@net("Text found by maps of shrunk regions: a step that is differentiable, dice per image (DB)", image=MAP, y=bits(8, 8), t=numbers(8, 8))
def binarised(image, y, t):
    h = F.relu(convolved(image, 4))
    p, e = F.sigmoid(convolved(h, 1).squeeze(1)), F.sigmoid(convolved(h, 1).squeeze(1))
    b = 1 / (1 + paddle.exp(-5.0 * (p - e)))
    dice = 1 - 2 * (b * y).sum([1, 2]) / (b.sum([1, 2]) + y.sum([1, 2]) + 1e-3)
    bce = F.binary_cross_entropy(p, y, reduction="none").mean([1, 2])
    return (bce + dice).mean() + 0.5 * (paddle.abs(e - t) * y).mean()
