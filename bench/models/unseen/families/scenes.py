"""Images, boxes, masks, warps, fields (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers
from unseen.families.shared import IMAGE, LABEL, score


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
