"""Detection heads, regions, video (net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers, op


@net(
    "Yolo head: one feature map, its own loss",
    image=numbers(3, 8, 8),
    boxes=("float32", (3, 4), lambda random, n: random.integers(4, 12, (n, 3, 4)) / np.float32(16)),
    labels=("int32", (3,), lambda random, n: random.integers(0, 2, (n, 3))),
    rate=0.01,
)
def yolo_head(image, boxes, labels):
    x = F.leaky_relu(nn.Conv2D(3, 6, 3, stride=2, padding=1)(image))
    x = nn.Conv2D(6, 14, 1)(x)
    loss = paddle.vision.ops.yolo_loss(
        x,
        boxes,
        labels,
        anchors=[4, 6, 8, 12],
        anchor_mask=[0, 1],
        class_num=2,
        ignore_thresh=0.7,
        downsample_ratio=2,
    )
    return paddle.mean(loss)


@net(
    "Default boxes over a feature map, offsets and classes regressed",
    image=numbers(3, 8, 8),
    offsets=numbers(32, 4),
    classes_of=classes(3, 32, 1),
)
def default_boxes(image, offsets, classes_of):
    x = F.relu(nn.Conv2D(3, 4, 3, stride=2, padding=1)(image))
    prior = op(
        "prior_box",
        {"Input": x, "Image": image},
        {"Boxes": "float32", "Variances": "float32"},
        {
            "min_sizes": [2.0, 4.0],
            "max_sizes": [],
            "aspect_ratios": [1.0],
            "variances": [0.1, 0.1, 0.2, 0.2],
            "flip": False,
            "clip": True,
        },
    )
    boxes = prior["Boxes"].reshape([32, 4])
    at = nn.Conv2D(4, 8, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 32, 4])
    scores = nn.Conv2D(4, 6, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 32, 3])
    return F.smooth_l1_loss(at + boxes, offsets) + F.cross_entropy(scores, classes_of)


@net(
    "Region head: aligned features of given boxes, two for each image, counted by a tensor",
    verdict="parts",
    equal=True,
    sites=["reduce_mean", "roi_align", "roi_align_grad"],
    image=numbers(2, 8, 8),
    boxes=(
        "float32",
        (2, 4),
        lambda random, n: (np.tile(random.integers(0, 8, (n, 2, 2)), 2) + [0, 0, 5, 6])
        / np.float32(2),
    ),
    count=lengths(2, 2),
    label=classes(3, 2, 1),
)
def region_head(image, boxes, count, label):
    x = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    regions = paddle.vision.ops.roi_align(x, boxes.reshape([-1, 4]), count.astype("int32"), 2)
    return F.cross_entropy(nn.Linear(16, 3)(regions.flatten(1)), label.reshape([-1, 1]))


@net(
    "Video: frames of a clip shifted in time, clips pooled",
    clip=numbers(4, 2, 4, 4),
    label=classes(3, 1),
)
def video_net(clip, label):
    x = F.relu(nn.Conv2D(2, 4, 3, padding=1)(clip.reshape([-1, 2, 4, 4])))
    x = nn.Conv2D(4, 4, 3, padding=1)(F.temporal_shift(x, 4, 0.25))
    x = F.adaptive_avg_pool2d(x, 1).reshape([-1, 4, 4]).mean(1)
    return F.cross_entropy(nn.Linear(4, 3)(x), label)


@net("Discriminator with spectral norm, hinge loss", real=numbers(1, 6, 6), fake=numbers(1, 6, 6))
def spectral_discriminator(real, fake):
    weight = paddle.create_parameter([3, 1, 3, 3], "float32", name="kernel")
    normal = static.nn.spectral_norm(weight, dim=0, power_iters=2)

    def score(x):
        return F.leaky_relu(F.conv2d(x, normal, stride=2)).flatten(1).sum(1)

    return paddle.mean(F.relu(1.0 - score(real))) + paddle.mean(F.relu(1.0 + score(fake)))


@net(
    "Focal loss of boxes, divided by the number of objects in the batch",
    image=numbers(8),
    label=bits(4),
)
def focal_loss(image, label):
    x = nn.Linear(8, 4)(image)
    return F.sigmoid_focal_loss(x, label, normalizer=paddle.sum(label))
