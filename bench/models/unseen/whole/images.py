"""Detectors, generators, segmentation, restoration as users' repositories write them (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, net, numbers

IMAGE, LABEL = numbers(3, 16, 16), classes(4, 1)
BOXES = ("float32", (2, 4), lambda r, n: np.concatenate([r.integers(4, 12, (n, 2, 2)), r.integers(2, 5, (n, 2, 2))], -1) / np.float32(16))


class ConvBNLayer(nn.Layer):
    def __init__(self, i, o, k=3, stride=1, groups=1, act=None):
        super().__init__()
        self.conv = nn.Conv2D(i, o, k, stride, (k - 1) // 2, groups=groups, bias_attr=False, weight_attr=paddle.ParamAttr(initializer=nn.initializer.KaimingNormal()))
        self.norm = nn.BatchNorm2D(o, weight_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.0)), bias_attr=paddle.ParamAttr(regularizer=paddle.regularizer.L2Decay(0.0)))
        self.act = act

    def forward(self, x):
        x = self.norm(self.conv(x))
        return getattr(F, self.act)(x) if self.act else x


@net("YOLOv3 with two heads of the library, darknet blocks, gt scores, two scales", "parts", ["batch_norm"], image=IMAGE, box=BOXES, kind=("int32", (2,), lambda r, n: r.integers(0, 3, (n, 2))), rate=0.01, steps=5, rounded=False)
def yolo_two_heads(image, box, kind):
    x = ConvBNLayer(3, 8, act="leaky_relu")(image)
    x = x + ConvBNLayer(4, 8, act="leaky_relu")(ConvBNLayer(8, 4, 1, act="leaky_relu")(x))
    c4 = ConvBNLayer(8, 16, stride=2, act="leaky_relu")(x)
    c5 = ConvBNLayer(16, 16, stride=2, act="leaky_relu")(c4)
    p5 = nn.Conv2D(16, 16, 1)(c5)
    p4 = nn.Conv2D(24, 16, 1)(paddle.concat([F.interpolate(nn.Conv2D(16, 8, 1)(c5), scale_factor=2), c4], 1))
    total = 0.0
    for p, mask, down in ((p5, [2, 3], 4), (p4, [0, 1], 2)):
        loss = paddle.vision.ops.yolo_loss(p, box, kind, [2, 3, 4, 4, 6, 8, 10, 12], mask, 3, 0.7, down, use_label_smooth=True)
        total = total + paddle.mean(loss)
    return total


@net("RetinaNet head: shared towers over three levels, focal loss by the labels' own sum", "parts", image=IMAGE, t1=classes(2, 64, 3), box=numbers(64, 4), rate=0.05, steps=5)
def retina_head(image, t1, box):
    p = F.relu(nn.Conv2D(3, 8, 3, stride=2, padding=1)(image))
    tower, score, place = nn.Sequential(nn.Conv2D(8, 8, 3, padding=1), nn.GroupNorm(2, 8), nn.ReLU()), nn.Conv2D(8, 3, 3, padding=1, bias_attr=paddle.ParamAttr(initializer=nn.initializer.Constant(-2.0))), nn.Conv2D(8, 4, 3, padding=1)
    h = tower(p)
    s = score(h).transpose([0, 2, 3, 1]).reshape([0, -1, 3])
    b = place(h).transpose([0, 2, 3, 1]).reshape([0, -1, 4])
    y = t1.astype("float32")
    positive = (y.sum(-1, keepdim=True) > 1.5).astype("float32")
    n = paddle.clip(positive.sum(), min=1.0)
    return F.sigmoid_focal_loss(s, y, n, reduction="sum") + (F.smooth_l1_loss(b, box, reduction="none") * positive).sum() / n


@net("SSD: boxes of the framework matched, hard negatives (ssd_loss of the old layers) by hand", image=IMAGE, box=numbers(16, 4), kind=classes(3, 16), rate=0.05, steps=5)
def ssd_by_hand(image, box, kind):
    h = F.relu(nn.Conv2D(3, 8, 3, stride=4, padding=1)(image))
    loc = nn.Conv2D(8, 4, 3, padding=1)(h).transpose([0, 2, 3, 1]).reshape([0, -1, 4])
    conf = nn.Conv2D(8, 3, 3, padding=1)(h).transpose([0, 2, 3, 1]).reshape([0, -1, 3])
    ce = F.cross_entropy(conf, kind.unsqueeze(-1), reduction="none").squeeze(-1)
    positive = (kind > 0).astype("float32")
    count = positive.sum(1, keepdim=True)
    neg = ce.detach() * (1.0 - positive)
    rank = paddle.argsort(paddle.argsort(neg, axis=1, descending=True), axis=1).astype("float32")
    hard = (rank < paddle.clip(3.0 * count, max=15.0)).astype("float32")
    l1 = F.smooth_l1_loss(loc, box, reduction="none").sum(-1)
    return ((ce * (positive + hard * (1 - positive)) + l1 * positive).sum(1) / (count.squeeze(1) + 1.0)).mean()


@net("Faster R-CNN's second stage: RoIAlign of boxes that are fed, classes and boxes per class", "parts", image=IMAGE, corner=("float32", (2, 2), lambda r, n: r.integers(0, 8, (n, 2, 2))), kind=classes(3, 2, 1), target=numbers(2, 4), rate=0.05, steps=5)
def second_stage(image, corner, kind, target):
    f = F.relu(nn.Conv2D(3, 6, 3, stride=2, padding=1)(image))
    rois = paddle.concat([corner, corner + 7.0], -1).reshape([-1, 4])
    count = paddle.full_like(corner[:, 0, 0], 2).astype("int32")
    r = paddle.vision.ops.roi_align(f, rois, count, output_size=2, spatial_scale=0.5, sampling_ratio=2)
    h = F.relu(nn.Linear(24, 12)(r.flatten(1)))
    s, b = nn.Linear(12, 3)(h), nn.Linear(12, 12)(h).reshape([-1, 3, 4])
    y = kind.reshape([-1])
    own = (b * F.one_hot(y, 3).unsqueeze(-1)).sum(1)
    fg = (y > 0).astype("float32").unsqueeze(1)
    return F.cross_entropy(s, y) + (F.smooth_l1_loss(own, target.reshape([-1, 4]), reduction="none") * fg).mean()


@net("FCOS: points of the levels, IoU loss of distances, centreness weights", "parts", image=IMAGE, left=("float32", (16, 4), lambda r, n: r.integers(1, 9, (n, 16, 4)) / np.float32(4)), kind=classes(2, 16), rate=0.02, steps=5)
def points_of_levels(image, left, kind):
    h = F.relu(nn.GroupNorm(2, 8)(nn.Conv2D(3, 8, 3, stride=4, padding=1)(image)))
    scale = paddle.create_parameter([1], "float32", default_initializer=nn.initializer.Constant(1.0))
    d = F.relu(nn.Conv2D(8, 4, 3, padding=1)(h) * scale).transpose([0, 2, 3, 1]).reshape([0, 16, 4]) + 0.1
    c = nn.Conv2D(8, 1, 3, padding=1)(h).flatten(1)
    s = nn.Conv2D(8, 1, 3, padding=1)(h).flatten(1)
    area = lambda t: (t[..., 0] + t[..., 2]) * (t[..., 1] + t[..., 3])  # noqa: E731
    low = paddle.minimum(d, left)
    common = area(low)
    iou = (common + 1.0) / (area(d) + area(left) - common + 1.0)
    centre = paddle.sqrt((paddle.minimum(left[..., 0], left[..., 2]) / paddle.maximum(left[..., 0], left[..., 2])) * (paddle.minimum(left[..., 1], left[..., 3]) / paddle.maximum(left[..., 1], left[..., 3])))
    centre.stop_gradient = True
    y = kind.astype("float32")
    w = centre * y
    return (-paddle.log(iou) * w).sum() / (w.sum() + 1e-6) + (F.binary_cross_entropy_with_logits(c, centre, reduction="none") * y).sum() / (y.sum() + 1e-6) + F.binary_cross_entropy_with_logits(s, y)


def unet(x, widths, out):
    skips = []
    for w in widths[:-1]:
        x = nn.Sequential(nn.Conv2D(x.shape[1], w, 3, padding=1), nn.BatchNorm2D(w), nn.ReLU(), nn.Conv2D(w, w, 3, padding=1), nn.BatchNorm2D(w), nn.ReLU())(x)
        skips.append(x)
        x = F.max_pool2d(x, 2, 2)
    x = nn.Sequential(nn.Conv2D(x.shape[1], widths[-1], 3, padding=1), nn.BatchNorm2D(widths[-1]), nn.ReLU())(x)
    for w, skip in zip(reversed(widths[:-1]), reversed(skips)):
        up = nn.Conv2DTranspose(x.shape[1], w, 2, stride=2)(x)
        x = nn.Sequential(nn.Conv2D(2 * w, w, 3, padding=1), nn.BatchNorm2D(w), nn.ReLU())(paddle.concat([skip, up], 1))
    return nn.Conv2D(x.shape[1], out, 1)(x)


@net("U-Net with norms, cross entropy of places of which some are void, dice", "parts", ["batch_norm"], image=IMAGE, label=("int64", (1, 16, 16), lambda r, n: np.where(r.integers(0, 8, (n, 1, 16, 16)) == 0, 255, r.integers(0, 3, (n, 1, 16, 16)))), steps=5, rounded=False)
def u_net_void(image, label):
    s = unet(image, (4, 8, 16), 3)
    y = paddle.transpose(label, [0, 2, 3, 1])
    s = paddle.transpose(s, [0, 2, 3, 1])
    ce = F.softmax_with_cross_entropy(s, y, ignore_index=255, axis=-1)
    mask = paddle.cast(y != 255, "float32")
    return paddle.mean(ce * mask) / (paddle.mean(mask) + 1e-5) + F.dice_loss(F.softmax(s), paddle.where(y == 255, paddle.zeros_like(y), y))


@net("DeepLab: dilated branches, a pool of the image resized, logits resized by the image's shape, two losses", "parts", ["batch_norm"], image=IMAGE, label=classes(3, 16, 16), steps=5, rounded=False)
def deep_lab(image, label):
    low = ConvBNLayer(3, 8, stride=2, act="relu")(image)
    x = ConvBNLayer(8, 8, stride=2, act="relu")(low)
    size = paddle.shape(x)[2:]
    parts = [F.relu(nn.Conv2D(8, 4, 1)(x))] + [F.relu(nn.Conv2D(8, 4, 3, padding=r, dilation=r)(x)) for r in (1, 2)]
    parts.append(F.interpolate(nn.Conv2D(8, 4, 1)(F.adaptive_avg_pool2d(x, 1)), size, mode="bilinear", align_corners=False))
    x = nn.Conv2D(16, 8, 1)(paddle.concat(parts, 1))
    x = F.interpolate(x, paddle.shape(low)[2:], mode="bilinear", align_corners=True)
    x = nn.Conv2D(12, 3, 3, padding=1)(paddle.concat([x, nn.Conv2D(8, 4, 1)(low)], 1))
    x = F.interpolate(x, [16, 16], mode="bilinear", align_corners=False)
    aux = F.interpolate(nn.Conv2D(8, 3, 1)(low), [16, 16], mode="bicubic", align_corners=False)
    return F.cross_entropy(x, label, axis=1) + 0.4 * F.cross_entropy(aux, label, axis=1)


@net("Super resolution: residual dense blocks, pixel shuffle twice, Charbonnier", image=numbers(3, 6, 6), target=numbers(3, 24, 24), steps=5, optimizer="adam", rate=0.002)
def dense_super_resolution(image, target):
    x = f = nn.Conv2D(3, 8, 3, padding=1)(image)
    for _ in range(2):
        grown = [x]
        for _ in range(2):
            grown.append(F.relu(nn.Conv2D(8 * len(grown), 8, 3, padding=1)(paddle.concat(grown, 1))))
        x = x + 0.2 * nn.Conv2D(24, 8, 1)(paddle.concat(grown, 1))
    x = x + f
    for _ in range(2):
        x = nn.PReLU(8)(nn.PixelShuffle(2)(nn.Conv2D(8, 32, 3, padding=1)(x)))
    return paddle.mean(paddle.sqrt(paddle.square(nn.Conv2D(8, 3, 3, padding=1)(x) - target) + 1e-6))


@net("DCGAN's discriminator beside its generator: norms, transposed convolutions, both losses, the parts apart", "parts", ["batch_norm"], z=numbers(8), real=IMAGE, steps=5, rounded=False, optimizer=lambda r: Apart(r), rate=0.002)
def dcgan(z, real):
    a = lambda name: paddle.ParamAttr(name=name, initializer=nn.initializer.Normal(0.0, 0.05))  # noqa: E731
    g = nn.Sequential(
        nn.Linear(8, 128, weight_attr=a("g_in")),
        nn.Unflatten(1, [8, 4, 4]) if hasattr(nn, "Unflatten") else nn.Identity(),
        nn.BatchNorm2D(8, weight_attr=paddle.ParamAttr("g_n1"), bias_attr=paddle.ParamAttr("g_n1b")),
        nn.ReLU(),
        nn.Conv2DTranspose(8, 4, 4, 2, 1, weight_attr=a("g_1"), bias_attr=False),
        nn.BatchNorm2D(4, weight_attr=paddle.ParamAttr("g_n2"), bias_attr=paddle.ParamAttr("g_n2b")),
        nn.ReLU(),
        nn.Conv2DTranspose(4, 3, 4, 2, 1, weight_attr=a("g_2")),
        nn.Tanh(),
    )
    d = nn.Sequential(nn.Conv2D(3, 4, 4, 2, 1, weight_attr=a("d_1")), nn.LeakyReLU(0.2), nn.Conv2D(4, 8, 4, 2, 1, weight_attr=a("d_2")), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(128, 1, weight_attr=a("d_3")))
    fake = g(z)
    one = lambda s, y: F.binary_cross_entropy_with_logits(s, paddle.full_like(s, y))  # noqa: E731
    return one(d(real), 0.9) + one(d(fake.detach()), 0.0) + one(d(fake), 1.0)


class Apart:
    """Adam for the generator's parameters and for the discriminator's"""

    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        for start in ("conv", "d_"), ("g_", "linear"):
            own = [p for p in loss.block.program.all_parameters() if p.name.startswith(start)]
            paddle.optimizer.Adam(self.rate, beta1=0.5, parameters=own).minimize(loss, parameters=own)


@net("Conditional VAE: labels joined, noise drawn by the framework; a sum over the batch beside a mean, which no job is made of", "coupled", image=numbers(1, 8, 8), label=classes(4), steps=5, optimizer="adam", rate=0.01)
def conditional_vae(image, label):
    c = F.one_hot(label, 4)
    h = F.relu(nn.Linear(68, 16)(paddle.concat([image.flatten(1), c], 1)))
    mu, log = nn.Linear(16, 4)(h), nn.Linear(16, 4)(h)
    z = mu + paddle.exp(0.5 * log) * paddle.randn(paddle.shape(mu))
    out = F.sigmoid(nn.Linear(16, 64)(F.relu(nn.Linear(8, 16)(paddle.concat([z, c], 1)))))
    bce = F.binary_cross_entropy(out, F.sigmoid(image.flatten(1)), reduction="sum") / 8.0
    return bce + paddle.mean(-0.5 * paddle.sum(1 + log - mu * mu - paddle.exp(log), -1))


@net("Capsules: primary ones squashed, three turns of routing, margin loss, reconstruction of the own capsule", image=numbers(1, 8, 8), label=classes(3), steps=5)
def capsule_net(image, label):
    def squash(s, axis=-1):
        n = paddle.sum(paddle.square(s), axis, keepdim=True)
        return s * n / (1.0 + n) / paddle.sqrt(n + 1e-8)

    u = squash(nn.Conv2D(1, 8, 3, stride=2)(image).reshape([0, 2, 4, 9]).transpose([0, 1, 3, 2]).reshape([0, 18, 4]))
    w = paddle.create_parameter([1, 18, 3, 6, 4], "float32", name="routes")
    hat = paddle.matmul(w, u.unsqueeze([2, 4])).squeeze(-1)
    held = hat.detach()
    b = paddle.zeros_like(hat[..., :1])
    for turn in range(3):
        c = F.softmax(b, axis=2)
        v = squash(paddle.sum(c * (hat if turn == 2 else held), 1, keepdim=True))
        if turn < 2:
            b = b + paddle.sum(held * v, -1, keepdim=True)
    v = v.squeeze(1)
    n, y = paddle.sqrt(paddle.sum(v * v, -1) + 1e-8), F.one_hot(label, 3)
    margin = y * paddle.square(F.relu(0.9 - n)) + 0.5 * (1 - y) * paddle.square(F.relu(n - 0.1))
    again = nn.Sequential(nn.Linear(18, 16), nn.ReLU(), nn.Linear(16, 64), nn.Sigmoid())((v * y.unsqueeze(-1)).flatten(1))
    return paddle.mean(paddle.sum(margin, 1)) + 0.05 * F.mse_loss(again, image.flatten(1))


@net("WaveNet: dilated causal convolutions, gates, skips, a condition, softmax over levels", sound=classes(16, 12), speaker=classes(3), next=classes(16, 12, 1), steps=5)
def conditioned_wave(sound, speaker, next):
    x = nn.Embedding(16, 8)(sound).transpose([0, 2, 1])
    g, skips = nn.Embedding(3, 8)(speaker).unsqueeze(-1), 0.0
    for d in (1, 2, 4):
        h = nn.Conv1D(8, 16, 2, dilation=d)(F.pad(x, [d, 0], data_format="NCL"))
        h = h + nn.Conv1D(8, 16, 1)(g)
        a, b = paddle.split(h, 2, axis=1)
        h = F.tanh(a) * F.sigmoid(b)
        skips = skips + nn.Conv1D(8, 8, 1)(h)
        x = (x + nn.Conv1D(8, 8, 1)(h)) * 0.5**0.5
    s = nn.Conv1D(8, 16, 1)(F.relu(skips)).transpose([0, 2, 1])
    return F.cross_entropy(s, next)


@net("Siamese: contrastive loss of given pairs, weights shared, L2 distance of the library", a=IMAGE, b=IMAGE, same=bits(1), steps=5)
def given_pairs(a, b, same):
    f = nn.Sequential(nn.Conv2D(3, 4, 3, stride=2), nn.ReLU(), nn.MaxPool2D(2), nn.Flatten(), nn.Linear(36, 4))
    d = nn.PairwiseDistance(keepdim=True)(f(a), f(b))
    return paddle.mean(same * paddle.square(d) + (1 - same) * paddle.square(F.relu(1.0 - d)))


@net("Face recognition: ArcFace over normalised weights, easy margin off", image=IMAGE, label=classes(4), steps=5, rounded=False, rate=0.02)
def arc_face(image, label):
    x = nn.Sequential(nn.Conv2D(3, 8, 3, stride=2, bias_attr=False), nn.PReLU(8), nn.Conv2D(8, 8, 7, groups=8), nn.Flatten(), nn.Linear(8, 6), nn.LayerNorm(6))(image)
    w = paddle.create_parameter([6, 4], "float32", attr=paddle.ParamAttr(initializer=nn.initializer.XavierNormal()))
    c = paddle.matmul(x / paddle.sqrt(paddle.sum(x * x, 1, keepdim=True)), w / paddle.sqrt(paddle.sum(w * w, 0, keepdim=True)))
    s = paddle.sqrt(paddle.clip(1.0 - c * c, 1e-6))
    phi = c * np.cos(0.3) - s * np.sin(0.3)
    phi = paddle.where(c > np.cos(np.pi - 0.3), phi, c - np.sin(np.pi - 0.3) * 0.3)
    y = F.one_hot(label, 4)
    return F.cross_entropy((y * phi + (1 - y) * c) * 8.0, label)
