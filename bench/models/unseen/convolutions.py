"""Convolutions and nets of images that no corpus has (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, net, numbers, op
from unseen.norms import conv, flat, head

IMAGE, LINE, CUBE, LABEL = numbers(4, 6, 6), numbers(4, 8), numbers(2, 4, 4, 4), classes(3, 1)


@net("Causal, dilated convolutions of sequences", x=LINE, label=LABEL)
def causal(x, label):
    for rate in (1, 2):
        x = F.relu(nn.Conv1D(4, 4, 2, dilation=rate)(F.pad(x, [rate, 0], data_format="NCL"))) + x
    return flat(x, label)


@net("Gated convolutions of sequences (WaveNet)", x=LINE, label=LABEL)
def wave_net(x, label):
    skip = 0
    for rate in (1, 2):
        h = nn.Conv1D(4, 8, 3, padding=rate, dilation=rate)(x)
        h = F.tanh(h[:, :4]) * F.sigmoid(h[:, 4:])
        skip, x = skip + nn.Conv1D(4, 4, 1)(h), x + h
    return flat(skip, label)


@net("Gated linear units", x=LINE, label=LABEL)
def gated(x, label):
    return flat(F.glu(nn.Conv1D(4, 8, 3)(x), axis=1), label)


@net("Transposed convolution of sequences", x=LINE, label=LABEL)
def transposed_1d(x, label):
    return flat(nn.Conv1DTranspose(4, 2, 3, stride=2, padding=1, output_padding=1)(x), label)


@net("Transposed convolution, groups and a size", x=IMAGE, label=LABEL)
def transposed_groups(x, label):
    layer = nn.Conv2DTranspose(4, 4, 3, stride=2, groups=2)
    return head(layer(x, output_size=[14, 13]), label)


@net("Transposed convolution, channels last, dilated", x=numbers(5, 5, 4), label=LABEL)
def transposed_last(x, label):
    return flat(nn.Conv2DTranspose(4, 2, 3, dilation=2, data_format="NHWC")(x), label)


@net("Transposed convolution of volumes", x=CUBE, label=LABEL)
def transposed_3d(x, label):
    return flat(nn.Conv3DTranspose(2, 2, 2, stride=2)(nn.Conv3D(2, 2, 3)(x)), label)


@net("Convolution of volumes, groups, dilated", x=CUBE, label=LABEL)
def groups_3d(x, label):
    return flat(nn.Conv3D(2, 4, 2, groups=2, dilation=2, padding=1)(x), label)


@net("Same padding, strides, even filters", x=IMAGE, label=LABEL)
def same(x, label):
    return flat(nn.Conv2D(4, 4, 4, stride=2, padding="SAME")(x), label)


@net("Uneven paddings, dilation per dim", x=IMAGE, label=LABEL)
def uneven(x, label):
    return flat(nn.Conv2D(4, 4, [3, 2], padding=[[0, 0], [0, 0], [2, 1], [0, 1]], dilation=[2, 1])(x), label)


@net("Convolution, channels last, groups", x=numbers(6, 6, 4), label=LABEL)
def groups_last_conv(x, label):
    return flat(nn.Conv2D(4, 4, 3, groups=2, data_format="NHWC")(x), label)


@net("Convolutions that pad by mirror, wrap and edge", x=IMAGE, label=LABEL)
def padded_convs(x, label):
    for mode in ("reflect", "circular", "replicate"):
        x = F.relu(nn.Conv2D(4, 4, 3, padding=1, padding_mode=mode)(x))
    return head(x, label)


@net("Depthwise with a multiplier, then points", x=IMAGE, label=LABEL)
def depthwise(x, label):
    return head(nn.Conv2D(8, 4, 1)(F.relu6(nn.Conv2D(4, 8, 3, groups=4)(x))), label)


@net("Deformable convolution without a mask", x=IMAGE, label=LABEL)
def deformable(x, label):
    from paddle.vision.ops import DeformConv2D

    return head(DeformConv2D(4, 4, 3, padding=1)(x, nn.Conv2D(4, 18, 3, padding=1)(x)), label)


@net("Deformable convolution, mask and groups", x=IMAGE, label=LABEL)
def deformable_groups(x, label):
    from paddle.vision.ops import DeformConv2D

    offset, mask = nn.Conv2D(4, 36, 3, padding=1)(x), F.sigmoid(nn.Conv2D(4, 18, 3, padding=1)(x))
    return head(DeformConv2D(4, 4, 3, padding=1, deformable_groups=2, groups=2)(x, offset, mask), label)


@net("Kernels of each sample's own", x=IMAGE, k=numbers(5), label=LABEL)
def dynamic_filters(x, k, label):
    weight = F.softmax(nn.Linear(5, 3)(k))
    outs = paddle.stack([conv(x) for _ in range(3)], 1)
    return head((outs * weight.reshape([-1, 3, 1, 1, 1])).sum(1), label)


@net("Involution: kernels from the image", x=IMAGE, label=LABEL)
def involution(x, label):
    k = nn.Conv2D(4, 9, 1)(x).reshape([0, 1, 9, 36])
    u = F.unfold(x, 3, paddings=1).reshape([0, 4, 9, 36])
    return flat((k * u).sum(2), label)


@net("Pyramid pooling", x=IMAGE, label=classes(3, 6, 6, 1))
def pyramid(x, label):
    x = conv(x)
    parts = [x]
    for size in (1, 2, 3):
        parts.append(F.interpolate(F.adaptive_avg_pool2d(x, size), size=[6, 6], mode="bilinear"))
    return F.cross_entropy(nn.Conv2D(16, 3, 1)(paddle.concat(parts, 1)).transpose([0, 2, 3, 1]), label)


@net("Dilated branches of several rates (ASPP)", x=IMAGE, label=LABEL)
def branches_of_rates(x, label):
    parts = [nn.Conv2D(4, 2, 3, padding=r, dilation=r)(x) for r in (1, 2, 3)]
    return head(F.relu(paddle.concat(parts, 1)), label)


@net("Feature pyramid", x=numbers(4, 8, 8), label=LABEL)
def feature_pyramid(x, label):
    a = F.relu(nn.Conv2D(4, 4, 3, stride=2, padding=1)(x))
    b = F.relu(nn.Conv2D(4, 4, 3, stride=2, padding=1)(a))
    top = nn.Conv2D(4, 4, 1)(b)
    low = nn.Conv2D(4, 4, 1)(a) + F.interpolate(top, scale_factor=2)
    return head(paddle.concat([top.flatten(2).mean(2), low.flatten(2).max(2)], 1), label)


@net("Channel and place attention (CBAM)", x=IMAGE, label=LABEL)
def block_attention(x, label):
    x = conv(x)
    shared = nn.Linear(4, 4)
    gate = F.sigmoid(shared(x.mean([2, 3])) + shared(x.max([2, 3])))
    x = x * gate.unsqueeze([2, 3])
    place = paddle.concat([x.mean(1, keepdim=True), x.max(1, keepdim=True)], 1)
    return head(x * F.sigmoid(conv(place, 1)), label)


@net("Ghost features", x=IMAGE, label=LABEL)
def ghost(x, label):
    a = F.relu(nn.Conv2D(4, 3, 1)(x))
    return head(paddle.concat([a, nn.Conv2D(3, 3, 3, padding=1, groups=3)(a)], 1), label)


@net("Shuffle unit: split, depthwise, concatenate, shuffle", x=IMAGE, label=LABEL)
def shuffle_unit(x, label):
    a, b = x.chunk(2, axis=1)
    b = nn.Conv2D(2, 2, 3, padding=1, groups=2)(F.relu(nn.Conv2D(2, 2, 1)(b)))
    return head(conv(F.channel_shuffle(paddle.concat([a, b], 1), 2)), label)


@net("Dense block and transition", verdict="parts", sites=["batch_norm"], x=IMAGE, label=LABEL)
def dense_block(x, label):
    for _ in range(2):
        x = paddle.concat([x, conv(F.relu(nn.BatchNorm2D(x.shape[1])(x)), 2)], 1)
    return head(F.avg_pool2d(nn.Conv2D(8, 4, 1)(x), 2), label)


@net("Inverted residual with hard swish and squeeze", x=IMAGE, label=LABEL)
def inverted_residual(x, label):
    h = F.hardswish(nn.Conv2D(4, 8, 1)(x))
    h = F.hardswish(nn.Conv2D(8, 8, 3, padding=1, groups=8)(h))
    gate = F.hardsigmoid(nn.Conv2D(8, 8, 1)(F.adaptive_avg_pool2d(h, 1)))
    return head(x + nn.Conv2D(8, 4, 1)(h * gate), label)


@net("Block of the twenties: layer norm last, gelu, layer scale", x=IMAGE, label=LABEL)
def conv_next(x, label):
    h = nn.Conv2D(4, 4, 3, padding=1, groups=4)(x).transpose([0, 2, 3, 1])
    h = nn.Linear(8, 4)(F.gelu(nn.Linear(4, 8)(nn.LayerNorm(4, epsilon=1e-6)(h)), approximate=True))
    gamma = paddle.create_parameter([4], "float32", name="gamma", default_initializer=nn.initializer.Constant(0.5))
    return head(x + (h * gamma).transpose([0, 3, 1, 2]), label)


@net("Non-local block", x=IMAGE, label=LABEL)
def non_local(x, label):
    q, k, v = (nn.Conv2D(4, 2, 1)(x).flatten(2) for _ in range(3))
    a = F.softmax(paddle.bmm(q.transpose([0, 2, 1]), k))
    y = paddle.bmm(v, a.transpose([0, 2, 1])).reshape([-1, 2, 6, 6])
    return head(x + nn.Conv2D(2, 4, 1)(y), label)


@net("Generator: from a vector to an image, tanh", x=numbers(6), goal=numbers(1, 8, 8))
def generator(x, goal):
    h = F.leaky_relu(nn.Linear(6, 16)(x), 0.2).reshape([-1, 4, 2, 2])
    h = F.relu(nn.Conv2DTranspose(4, 4, 4, stride=2, padding=1)(h))
    return F.mse_loss(F.tanh(nn.Conv2DTranspose(4, 1, 4, stride=2, padding=1)(h)), goal)


@net("Codebook: nearest code, straight through", x=IMAGE)
def codebook(x):
    z = nn.Conv2D(4, 2, 1)(x).transpose([0, 2, 3, 1]).reshape([-1, 2])
    codes = paddle.create_parameter([5, 2], "float32", name="codes")
    distance = (z * z).sum(1, keepdim=True) - 2 * paddle.matmul(z, codes, transpose_y=True) + (codes * codes).sum(1)
    nearest = F.embedding(paddle.argmin(distance, axis=1), codes)
    held, still = nearest.detach(), z.detach()
    q = z + (nearest - z).detach()
    back = nn.Conv2D(2, 4, 1)(q.reshape([-1, 6, 6, 2]).transpose([0, 3, 1, 2]))
    return F.mse_loss(back, x) + F.mse_loss(nearest, still) + 0.25 * F.mse_loss(z, held)


@net("Points: shared layers, maximum over the points", x=numbers(3, 7), label=LABEL)
def point_net(x, label):
    h = F.relu(nn.Conv1D(3, 8, 1)(x))
    return head(nn.Linear(8, 6)(h.max(2)), label)


@net("Capsules: three turns of routing", x=numbers(6, 4), label=classes(3))
def capsules(x, label):
    w = paddle.create_parameter([6, 3, 4, 4], "float32", name="votes")
    votes = paddle.einsum("bni,ncij->bncj", x, w)
    logits = paddle.zeros_like(votes[:, :, :, 0])
    for _ in range(3):
        s = (F.softmax(logits, axis=2).unsqueeze(3) * votes).sum(1)
        n = paddle.square(s).sum(2, keepdim=True)
        v = s * n / (1 + n) / paddle.sqrt(n + 1e-4)
        logits = logits + (votes * v.unsqueeze(1)).sum(3)
    length = paddle.sqrt(paddle.square(v).sum(2) + 1e-4)
    t = F.one_hot(label, 3)
    return (t * F.relu(0.9 - length) ** 2 + 0.5 * (1 - t) * F.relu(length - 0.1) ** 2).sum(1).mean()


@net("Coordinates as channels", x=IMAGE, label=LABEL)
def coordinates(x, label):
    axis = paddle.linspace(-1, 1, 6)
    gy, gx = paddle.meshgrid(axis, axis)
    grid = paddle.stack([gy, gx]).unsqueeze(0).expand([paddle.shape(x)[0], 2, 6, 6])
    return head(F.relu(conv(paddle.concat([x, grid], 1))), label)


@net("Row convolution", x=numbers(5, 4), label=LABEL)
def row_conv(x, label):
    return flat(static.nn.row_conv(x, 2), label)


@net("Activations with parameters or thresholds, first half", x=IMAGE, label=LABEL)
def activations(x, label):
    for act in (F.celu, F.elu, F.selu, F.hardshrink, F.hardtanh, F.log_sigmoid, F.mish):
        x = conv(x) + act(x)
    return head(x, label)


@net("Activations, second half", x=IMAGE, label=LABEL)
def activations_2(x, label):
    for act in (F.softshrink, F.softsign, F.swish, F.tanhshrink, F.thresholded_relu, F.silu, paddle.stanh):
        x = conv(x) + act(x)
    return head(x, label)


@net("Slopes of each channel, element and image", x=IMAGE, label=LABEL)
def slopes(x, label):
    x = nn.PReLU(4, init=0.2)(conv(x))
    x = static.nn.prelu(conv(x), mode="element")
    return head(static.nn.prelu(conv(x), mode="all"), label)


@net("Centres of objects: heat map, offsets taken where objects are", x=IMAGE, heat=bits(1, 6, 6), where=classes(36, 3), size=numbers(3, 2))
def centre_net(x, heat, where, size):
    h = F.relu(conv(x))
    p = paddle.clip(F.sigmoid(conv(h, 1)), 1e-3, 1 - 1e-3)
    focal = -(heat * (1 - p) ** 2 * paddle.log(p) + (1 - heat) * p**2 * paddle.log(1 - p)).sum([1, 2, 3])
    found = conv(h, 2).flatten(2).transpose([0, 2, 1])
    found = paddle.take_along_axis(found, where.unsqueeze(2).tile([1, 1, 2]), 1)
    return focal.mean() + paddle.abs(found - size).mean()


@net("Boxes of each place: distances to its sides", x=IMAGE, y=numbers(4, 6, 6), inside=bits(1, 6, 6))
def distances_to_sides(x, y, inside):
    d = paddle.exp(paddle.clip(conv(x, 4), -3, 3))
    t = paddle.abs(y) + 0.1
    common = paddle.minimum(d, t)
    i = (common[:, 0] + common[:, 2]) * (common[:, 1] + common[:, 3])
    u = (d[:, 0] + d[:, 2]) * (d[:, 1] + d[:, 3]) + (t[:, 0] + t[:, 2]) * (t[:, 1] + t[:, 3]) - i
    return (-paddle.log((i + 1) / (u + 1)) * inside[:, 0]).sum([1, 2]).mean()


@net("Key points: where the heat is, by soft arguments", x=IMAGE, y=numbers(4, 2))
def soft_arguments(x, y):
    p = F.softmax(conv(x).flatten(2), axis=2)
    place = paddle.arange(36, dtype="float32")
    rows = paddle.floor(place / 6.0)
    found = paddle.stack([(p * rows).sum(2), (p * (place - 6 * rows)).sum(2)], 2)
    return F.mse_loss(found / 6.0, y)


@net("Siamese: one net of two images, correlation of the maps", a=IMAGE, b=IMAGE, y=bits())
def siamese(a, b, y):
    layer = nn.Conv2D(4, 4, 3)
    u, v = layer(a), layer(b)
    score = (F.normalize(u, axis=1) * F.normalize(v, axis=1)).sum(1).mean([1, 2])
    return F.binary_cross_entropy_with_logits(score * 4.0, y)


@net("Cost volume of two images", a=IMAGE, b=IMAGE, y=numbers(6, 6))
def cost_volume(a, b, y):
    layer = nn.Conv2D(4, 4, 3, padding=1)
    u, v = layer(a), layer(b)
    cost = paddle.stack([(u * paddle.roll(v, s, 3)).mean(1) for s in range(3)], 1)
    disparity = (F.softmax(cost, axis=1) * paddle.arange(3, dtype="float32").reshape([1, 3, 1, 1])).sum(1)
    return F.smooth_l1_loss(disparity, y)
