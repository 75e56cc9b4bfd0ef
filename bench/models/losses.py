"""Losses: of single samples, and of the pairs and counts of a batch (net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers


@net(
    "Contrastive loss over the pairs of a batch",
    verdict="parts",
    sites=["matmul_v2"],
    first=numbers(6),
    second=numbers(6),
    pair=classes(1, 1),
)
def contrastive(first, second, pair):
    project = nn.Linear(6, 4)
    a, b = F.normalize(project(first)), F.normalize(project(second))
    scores = paddle.matmul(a, b, transpose_y=True) * 4.0
    return -paddle.mean(F.log_softmax(scores) * F.softmax(scores * 8.0))


@net(
    "N-pair loss: every sample against all others' positives",
    verdict="parts",
    sites=["elementwise_sub", "matmul_v2"],
    anchor=numbers(6),
    positive=numbers(6),
    label=classes(4),
)
def npair(anchor, positive, label):
    project = nn.Linear(6, 4)
    scores = paddle.matmul(project(anchor), project(positive), transpose_y=True)
    same = F.relu(1.0 - paddle.abs((label.unsqueeze(1) - label.unsqueeze(0)).astype("float32")))
    return F.cross_entropy(scores, same / same.sum(1, keepdim=True), soft_label=True)


@net(
    "Hardest triplets of a batch: the farthest of the same class, the nearest of another",
    verdict="parts",
    sites=["elementwise_sub", "matmul_v2", "reduce_mean"],
    image=numbers(6),
    label=classes(3),
)
def hardest_triplets(image, label):
    x = F.normalize(nn.Linear(6, 4)(image))
    distance = 2.0 - 2.0 * paddle.matmul(x, x, transpose_y=True)
    same = F.relu(1.0 - paddle.abs((label.unsqueeze(1) - label.unsqueeze(0)).astype("float32")))
    farthest = paddle.max(distance * same, axis=1)
    nearest = paddle.min(distance + same * 10.0, axis=1)
    return paddle.mean(F.relu(farthest - nearest + 0.5))


@net(
    "Triplets that are given: each sample has its own",
    anchor=numbers(6),
    positive=numbers(6),
    negative=numbers(6),
)
def given_triplets(anchor, positive, negative):
    project = nn.Linear(6, 4)
    return F.triplet_margin_loss(project(anchor), project(positive), project(negative))


@net(
    "Classes by angle: normalised weights and features, scaled cosine",
    image=numbers(8),
    label=classes(4, 1),
)
def angular_softmax(image, label):
    weight = paddle.create_parameter([6, 4], "float32", name="angles")
    x = F.normalize(F.relu(nn.Linear(8, 6)(image)))
    return F.cross_entropy(paddle.matmul(x, F.normalize(weight, axis=0)) * 8.0, label)


@net(
    "A teacher's distribution and hard labels: divergence with batchmean, smoothed labels",
    image=numbers(8),
    label=classes(4, 1),
    teacher=numbers(4),
)
def distillation(image, label, teacher):
    x = nn.Linear(8, 4)(F.gelu(nn.Linear(8, 8)(image)))
    soft = F.kl_div(F.log_softmax(x / 2.0), F.softmax(teacher), reduction="batchmean")
    smooth = F.label_smooth(F.one_hot(label.squeeze(-1), 4), epsilon=0.1)
    return soft + F.cross_entropy(x, smooth, soft_label=True)


@net(
    "Labels that are ignored: divided by those that count",
    words=classes(12, 5),
    next=classes(6, 5, 1),
)
def ignored_labels(words, next):
    x = nn.Linear(6, 6)(nn.Embedding(12, 6)(words))
    return F.cross_entropy(x, next, ignore_index=0)


@net(
    "Negative log likelihood with weights of classes: divided by their sum",
    verdict="parts",
    sites=["nll_loss"],
    image=numbers(8),
    label=classes(4),
)
def weighted_likelihood(image, label):
    weight = paddle.assign(np.array([1.0, 2.0, 0.5, 1.5], "float32"))
    return F.nll_loss(F.log_softmax(nn.Linear(8, 4)(image)), label, weight=weight)


@net("Rank, margin and smooth losses of pairs", left=numbers(6), right=numbers(6), order=bits(1))
def pair_losses(left, right, order):
    score = nn.Linear(6, 1)
    a, b = score(left), score(right)
    ranked = F.margin_ranking_loss(a, b, order * 2 - 1, margin=0.1)
    return ranked + F.smooth_l1_loss(a, b) + paddle.mean(F.log_loss(F.sigmoid(a), order))
