"""Attention in windows and with relative positions, experts, graphs, cells with lengths, other losses
(net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, lengths, net, numbers


@net("Patches with a class token, encoder layers, layer norm", image=numbers(3, 8, 8), label=classes(4, 1))
def patches(image, label):
    x = nn.Conv2D(3, 8, 4, stride=4)(image).flatten(2).transpose([0, 2, 1])
    token = paddle.create_parameter([1, 1, 8], "float32", name="token")
    place = paddle.create_parameter([1, 5, 8], "float32", name="place")
    x = paddle.concat([token.expand([paddle.shape(x)[0], 1, 8]), x], 1) + place
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu", normalize_before=True)
    x = nn.LayerNorm(8)(nn.TransformerEncoder(layer, 2)(x))
    return F.cross_entropy(nn.Linear(8, 4)(x[:, 0]), label)


@net("Attention within windows that are rolled", image=numbers(4, 4, 8), label=classes(4, 1))
def shifted_windows(image, label):
    x = paddle.roll(image, shifts=[-1, -1], axis=[1, 2])
    x = x.reshape([-1, 2, 2, 2, 2, 8]).transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 4, 8])
    parts = nn.Linear(8, 24)(x).reshape([-1, 4, 3, 2, 4]).transpose([2, 0, 3, 1, 4])
    weight = F.softmax(paddle.matmul(parts[0] * 0.5, parts[1].transpose([0, 1, 3, 2])))
    x = paddle.matmul(weight, parts[2]).transpose([0, 2, 1, 3]).reshape([-1, 2, 2, 2, 2, 8])
    x = x.transpose([0, 1, 3, 2, 4, 5]).reshape([-1, 4, 4, 8])
    x = paddle.roll(x, shifts=[1, 1], axis=[1, 2])
    return F.cross_entropy(nn.Linear(8, 4)(x.mean([1, 2])), label)


@net("Attention by einsum, with a bias per distance", words=classes(20, 6), next=classes(20, 6, 1))
def relative_attention(words, next):
    x = nn.Embedding(20, 8)(words)
    q, k, v = (nn.Linear(8, 8)(x).reshape([0, 0, 2, 4]).transpose([0, 2, 1, 3]) for _ in range(3))
    table = paddle.create_parameter([11, 2], "float32", name="distances")
    distance = np.arange(6)[:, None] - np.arange(6)[None, :] + 5
    bias = paddle.gather(table, paddle.assign(distance.reshape(-1).astype("int64")))
    bias = bias.reshape([6, 6, 2]).transpose([2, 0, 1]).unsqueeze(0)
    weight = F.softmax(paddle.einsum("bhqd,bhkd->bhqk", q, k) * 0.5 + bias)
    x = paddle.einsum("bhqk,bhkd->bqhd", weight, v).flatten(2)
    return F.cross_entropy(nn.Linear(8, 20)(x), next)


@net("The two best of three experts", x=numbers(6), y=numbers(2))
def experts(x, y):
    gate = F.softmax(nn.Linear(6, 3)(x))
    _, chosen = paddle.topk(gate, 2)
    weight = F.one_hot(chosen, 3).sum(1) * gate
    found = paddle.stack([nn.Linear(6, 2)(x) for _ in range(3)], 1)
    return F.mse_loss((found * weight.unsqueeze(-1)).sum(1), y)


@net("Convolutions over graphs of five nodes", adjacent=bits(5, 5), node=numbers(5, 4), label=classes(3, 1))
def graphs(adjacent, node, label):
    a = adjacent + paddle.eye(5)
    x = F.relu(nn.Linear(4, 6)(paddle.bmm(a * paddle.rsqrt(a.sum(-1, keepdim=True)), node)))
    x = paddle.amax(nn.Linear(6, 6)(paddle.bmm(a, x)), axis=1)
    return F.cross_entropy(nn.Linear(6, 3)(x), label)


@net("Extremes that share their gradient, and order statistics", x=numbers(3, 4), y=numbers())
def extremes(x, y):
    x = nn.Linear(4, 4)(x)
    rounded = paddle.round(x)
    z = paddle.amax(x + rounded, [1, 2]) - paddle.amin(x + rounded, [1, 2])
    z = z + paddle.kthvalue(x, 2, 2)[0].sum(1) + paddle.sort(x, 2)[:, :, 0].sum(1) + paddle.square(x).mean([1, 2])
    return F.mse_loss(z * 0.1, y)


@net(
    "A cell of one's own over texts of unequal length, by a loop",
    verdict="parts",
    sites=["while"],
    equal=True,
    words=classes(20, 5),
    length=lengths(1, 5),
    label=classes(3, 1),
)
def cell_with_lengths(words, length, label):
    steps = nn.Embedding(20, 6)(words).transpose([1, 0, 2])
    rnn = nn.RNN(nn.LSTMCell(6, 4), is_reverse=True, time_major=True)
    _, (h, c) = rnn(steps, sequence_length=length)
    return F.cross_entropy(nn.Linear(4, 3)(h + c), label)


@net("A conditional random field by hand", words=classes(20, 4), tags=classes(3, 4))
def crf_by_hand(words, tags):
    scores = nn.Linear(6, 3)(nn.Embedding(20, 6)(words))
    transition = paddle.create_parameter([3, 3], "float32", name="transitions")
    total = scores[:, 0]
    for step in range(1, 4):
        total = paddle.logsumexp(total.unsqueeze(2) + transition.unsqueeze(0), axis=1) + scores[:, step]
    path = F.one_hot(tags, 3)
    moves = (paddle.matmul(path[:, :-1], transition) * path[:, 1:]).sum([1, 2])
    return paddle.mean(paddle.logsumexp(total, axis=1) - (scores * path).sum([1, 2]) - moves)


@net("Policy gradient: logarithms of the actions that were chosen", state=numbers(6), action=classes(4), reward=numbers())
def policy(state, action, reward):
    scores = nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(state)))
    logarithm = F.log_softmax(scores)
    chosen = paddle.take_along_axis(logarithm, action.unsqueeze(1), 1).squeeze(1)
    entropy = -(F.softmax(scores) * logarithm).sum(1)
    return -paddle.mean(chosen * reward) - 0.01 * paddle.mean(entropy)


@net("Classes in a tree", words=classes(10, 3), label=classes(8, 1))
def class_tree(words, label):
    x = nn.Embedding(10, 6)(words).mean(1)
    return paddle.mean(nn.HSigmoidLoss(6, 8)(x, label))


@net("Weight norm: one parameter's gradient is made of another's", words=classes(12, 4), next=classes(12, 4, 1))
def weight_normed(words, next):
    table = nn.Embedding(12, 6)
    layer = nn.utils.weight_norm(nn.Linear(6, 6))
    return F.cross_entropy(paddle.matmul(F.relu(layer(table(words))), table.weight, transpose_y=True), next)


@net("Angles between features and classes, with a margin", x=numbers(6), label=classes(4))
def angular_margin(x, label):
    weight = paddle.create_parameter([6, 4], "float32", name="classes")
    cosine = paddle.matmul(F.normalize(x), F.normalize(weight, axis=0))
    angle = paddle.acos(paddle.clip(cosine, -0.99, 0.99)) + 0.2 * F.one_hot(label, 4)
    return F.cross_entropy(paddle.cos(angle) * 4.0, label)


@net("Overlap of a box with the one that it should be", image=numbers(2, 4, 4), corner=numbers(2), extent=bits(2))
def box_overlap(image, corner, extent):
    box = paddle.concat([corner * 0.25 + 0.25, corner * 0.25 + 0.5 + extent * 0.25], 1)
    found = F.sigmoid(nn.Conv2D(2, 4, 3, padding=1)(image).mean([2, 3]))
    low = paddle.maximum(found[:, :2], box[:, :2])
    high = paddle.minimum(found[:, 2:] + 0.5, box[:, 2:])
    side = paddle.clip(high - low, min=0.0)
    common = side[:, 0] * side[:, 1]
    area = (box[:, 2] - box[:, 0]) * (box[:, 3] - box[:, 1])
    return paddle.mean(1 - common / (area + 0.5 - common)) + F.l1_loss(found, box)
