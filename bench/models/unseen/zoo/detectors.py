"""Heads and losses of detectors (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers
from unseen.families.shared import IMAGE

BOXES = ("float32", (4, 4), lambda r, n: np.concatenate([r.integers(0, 8, (n, 4, 2)), r.integers(9, 17, (n, 4, 2))], 2) / np.float32(16))


def head(image, out):
    return nn.Linear(8, 4 * out)(F.relu(nn.Linear(128, 8)(image.flatten(1)))).reshape([-1, 4, out])


def corners(h):
    centre, size = F.sigmoid(h[:, :, :2]), F.softplus(h[:, :, 2:]) * 0.5
    return paddle.concat([centre - size / 2, centre + size / 2], 2)


def overlap(a, b):
    """Intersection over union, and the smallest box around both"""
    low, high = paddle.maximum(a[..., :2], b[..., :2]), paddle.minimum(a[..., 2:], b[..., 2:])
    inner = paddle.clip(high - low, min=0.0)
    inner = inner[..., 0] * inner[..., 1]
    area = lambda t: (t[..., 2] - t[..., 0]) * (t[..., 3] - t[..., 1])  # noqa: E731
    around = paddle.maximum(a[..., 2:], b[..., 2:]) - paddle.minimum(a[..., :2], b[..., :2])
    return inner / (area(a) + area(b) - inner + 1e-6), around


@net("Distances of centres and ratios of sides (CIoU), a weight that is held", image=IMAGE, boxes=BOXES)
def complete_overlap(image, boxes):
    a = corners(head(image, 4))
    iou, around = overlap(a, boxes)
    rho = paddle.square((a[..., :2] + a[..., 2:] - boxes[..., :2] - boxes[..., 2:]) / 2).sum(-1)
    ratio = lambda t: paddle.atan((t[..., 2] - t[..., 0]) / (t[..., 3] - t[..., 1] + 1e-6))  # noqa: E731
    v = 4 / np.pi**2 * paddle.square(ratio(boxes) - ratio(a))
    alpha = (v / (1 - iou + v + 1e-6)).detach()
    return (1 - iou + rho / (paddle.square(around).sum(-1) + 1e-6) + alpha * v).mean()


@net("Overlap in logarithms, weighted by a score (VariFocal)", image=IMAGE, boxes=BOXES, y=bits(4, 3))
def varifocal(image, boxes, y):
    h = head(image, 7)
    iou, _ = overlap(corners(h[:, :, :4]), boxes)
    t = y * iou.detach().unsqueeze(2)
    p = F.sigmoid(h[:, :, 4:])
    w = 0.75 * paddle.pow(paddle.abs(p - t), 2.0).detach() * (1 - y) + t
    focal = F.binary_cross_entropy(p, t, weight=w, reduction="none").sum([1, 2])
    return (focal + (-paddle.log(iou + 0.1) * y.max(2)).sum(1)).mean()


@net("Distances as distributions, their ends interpolated (GFL)", image=IMAGE, d=("float32", (4,), lambda r, n: r.integers(0, 12, (n, 4)) / np.float32(4)))
def distributed_distances(image, d):
    h = head(image, 4)
    left = paddle.cast(paddle.floor(d), "int64")
    right = left + 1
    wl = paddle.cast(right, "float32") - d
    one = lambda at: F.cross_entropy(h, at.unsqueeze(2), reduction="none").squeeze(2)  # noqa: E731
    ends = one(paddle.clip(left, max=3)) * wl + one(paddle.clip(right, max=3)) * (1 - wl)
    mean = paddle.matmul(F.softmax(h), paddle.arange(4, dtype="float32"))
    return ends.mean() + 0.1 * F.l1_loss(mean, d)


@net("Peaks of heat maps, each image divided by its own (CenterNet)", image=IMAGE, at=classes(64), size=numbers(2))
def centres_of_objects(image, at, size):
    h = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    p = paddle.clip(F.sigmoid(nn.Conv2D(4, 1, 1)(h)).flatten(1), 1e-4, 1 - 1e-4)
    one = F.one_hot(at, 64)
    g = F.conv2d(one.reshape([-1, 1, 8, 8]), paddle.assign(np.array([[[[0.3, 0.6, 0.3], [0.6, 1, 0.6], [0.3, 0.6, 0.3]]]], "float32")), padding=1).flatten(1)
    focal = -(one * paddle.log(p) * paddle.square(1 - p) + (1 - one) * paddle.pow(1 - g, 4) * paddle.square(p) * paddle.log(1 - p)).sum(1)
    wh = paddle.matmul(nn.Conv2D(4, 2, 1)(h).flatten(2), one.unsqueeze(2)).squeeze(2)
    return focal.mean() + 0.1 * F.l1_loss(wh, size)


@net("Centres weigh boxes, exponent of a scale that is learned (FCOS), counts of the batch", "parts", image=IMAGE, sides=("float32", (8, 8, 4), lambda r, n: r.integers(1, 9, (n, 8, 8, 4)) / np.float32(8)), y=("float32", (8, 8), lambda r, n: np.where(np.arange(64).reshape(8, 8) < r.integers(4, 60, (n, 1, 1)), 1, 0)))
def centreness(image, sides, y):
    h = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image)).transpose([0, 2, 3, 1])
    scale = paddle.create_parameter([1], "float32", name="scale", default_initializer=nn.initializer.Constant(1.0))
    d = paddle.exp(scale * nn.Linear(4, 4)(h))
    c = paddle.sqrt((sides[..., :2].min(-1) / sides[..., :2].max(-1)) * (sides[..., 2:].min(-1) / sides[..., 2:].max(-1)))
    inner = (paddle.minimum(d, sides)[..., :2].sum(-1)) * (paddle.minimum(d, sides)[..., 2:].sum(-1))
    union = d[..., :2].sum(-1) * d[..., 2:].sum(-1) + sides[..., :2].sum(-1) * sides[..., 2:].sum(-1) - inner
    weight = c * y
    box = (-paddle.log(inner / union) * weight).sum() / weight.sum()
    centre = (F.binary_cross_entropy_with_logits(nn.Linear(4, 1)(h).squeeze(3), c, reduction="none") * y).sum() / y.sum()
    return box + centre


@net("Anchors matched by overlap within an image, thresholds, encoded", image=IMAGE, boxes=BOXES)
def matched_anchors(image, boxes):
    x, y = np.meshgrid([0.25, 0.75], [0.25, 0.75])
    a = np.stack([x.ravel() - 0.25, y.ravel() - 0.3, x.ravel() + 0.25, y.ravel() + 0.3], 1).astype("float32")
    anchors = paddle.assign(a)
    iou, _ = overlap(anchors.unsqueeze([0, 2]), boxes.unsqueeze(1))
    best, at = iou.max(2), paddle.argmax(iou, axis=2)
    mine = paddle.matmul(F.one_hot(at, 4), boxes)
    size, centre = anchors[:, 2:] - anchors[:, :2], (anchors[:, 2:] + anchors[:, :2]) / 2
    t = paddle.concat([((mine[..., :2] + mine[..., 2:]) / 2 - centre) / size, paddle.log((mine[..., 2:] - mine[..., :2]) / size)], 2)
    h, positive = head(image, 5), (best >= 0.3).astype("float32")
    box = F.smooth_l1_loss(h[..., :4], t, reduction="none", delta=0.5).sum(2) * positive
    return (box + F.binary_cross_entropy_with_logits(h[..., 4], positive, reduction="none")).sum(1).mean()


@net("Places sampled where a query says (deformable attention)", image=IMAGE, label=classes(3, 2, 1))
def deformable_attention(image, label):
    v = nn.Conv2D(2, 4, 3, padding=1)(image)
    q = paddle.create_parameter([1, 2, 4], "float32", name="queries") + nn.Linear(2, 4)(image.mean([2, 3])).unsqueeze(1)
    at = F.tanh(nn.Linear(4, 6)(q)).reshape([-1, 2, 3, 2])
    s = F.grid_sample(v, at, mode="bilinear", padding_mode="zeros", align_corners=False)
    w = F.softmax(nn.Linear(4, 3)(q)).unsqueeze(1)
    return F.cross_entropy(nn.Linear(4, 3)((s * w).sum(3).transpose([0, 2, 1])), label)


@net("Filters of each instance made by a controller (CondInst)", image=IMAGE, y=bits(8, 8))
def conditional_filters(image, y):
    m = F.relu(nn.Conv2D(2, 3, 3, padding=1)(image)).flatten(2)
    p = nn.Linear(2, 16)(image.mean([2, 3]))
    w, b, u, c = p[:, :9].reshape([-1, 3, 3]), p[:, 9:12].unsqueeze(2), p[:, 12:15].unsqueeze(1), p[:, 15:].unsqueeze(2)
    s = (paddle.bmm(u, F.relu(paddle.bmm(w, m) + b)) + c).squeeze(1)
    q, t = F.sigmoid(s), y.flatten(1)
    return (1 - 2 * (q * t).sum(1) / ((q * q).sum(1) + (t * t).sum(1) + 1e-3)).mean()


@net("Key points as soft maxima of two lines (SimCC)", image=IMAGE, x=classes(8, 3), y=classes(8, 3))
def key_points(image, x, y):
    f = nn.Conv2D(2, 3, 3, padding=1)(image).flatten(2)
    a, b = nn.Linear(64, 8)(f), nn.Linear(64, 8)(f)
    soft = lambda t: F.label_smooth(F.one_hot(t, 8), epsilon=0.1)  # noqa: E731
    kl = lambda s, t: F.kl_div(F.log_softmax(s), soft(t), reduction="none").sum([1, 2]).mean()  # noqa: E731
    return kl(a, x) + kl(b, y)


@net("Hardest places of each image (OHEM), a threshold by rank", image=IMAGE, label=classes(3, 8, 8, 1))
def hardest_places(image, label):
    z = nn.Conv2D(4, 3, 1)(F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))).transpose([0, 2, 3, 1])
    ce = F.cross_entropy(z, label, reduction="none").reshape([-1, 64])
    least = paddle.topk(ce, 16, axis=1)[0][:, -1:].detach()
    kept = (ce >= least).astype("float32")
    return ((ce * kept).sum(1) / kept.sum(1)).mean()


@net("Boundaries: a Laplacian of the labels, classes and edges", image=IMAGE, y=bits(1, 8, 8))
def boundaries(image, y):
    k = paddle.assign(np.array([[[[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]]]], "float32"))
    edge = (F.conv2d(F.pad(y, [1, 1, 1, 1], mode="replicate"), k) > 0.1).astype("float32")
    h = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    e = nn.Conv2D(4, 1, 1)(h)
    w = paddle.where(edge > 0.5, paddle.full_like(edge, 2.0), paddle.ones_like(edge))
    return F.binary_cross_entropy_with_logits(e, edge, weight=w) + F.binary_cross_entropy_with_logits(nn.Conv2D(5, 1, 1)(paddle.concat([h, F.sigmoid(e)], 1)), y)


@net("Embeddings of instances pulled to their mean and pushed apart", image=IMAGE, y=classes(2, 8, 8))
def discriminative(image, y):
    e = nn.Conv2D(2, 3, 3, padding=1)(image).flatten(2)
    one = F.one_hot(y.reshape([-1, 64]), 2)
    n = one.sum(1).unsqueeze(1) + 1e-3
    m = paddle.bmm(e, one) / n
    d = paddle.norm(e - paddle.bmm(m, one.transpose([0, 2, 1])) + 1e-3, axis=1)
    pull = paddle.square(F.relu(d - 0.1)).mean(1)
    push = paddle.square(F.relu(1.5 - paddle.norm(m[:, :, 0] - m[:, :, 1] + 1e-3, axis=1)))
    return (pull + push).mean()
