"""Normalisation and images (net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, net, numbers


@net(
    "Two-level U-net: group norm, max pooling, bilinear upsampling, skip connection",
    optimizer="adam",
    rate=0.01,
    image=numbers(1, 8, 8),
    mask=bits(1, 8, 8),
)
def unet_small(image, mask):
    def block(x, channels):
        x = nn.Conv2D(x.shape[1], channels, 3, padding=1)(x)
        return F.relu(nn.GroupNorm(2, channels)(x))

    skip = block(image, 4)
    low = block(F.max_pool2d(skip, 2), 6)
    up = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=True)
    out = nn.Conv2D(4, 1, 1)(block(paddle.concat([up, skip], axis=1), 4))
    return F.binary_cross_entropy_with_logits(out, mask)


@net(
    "U-net whose upsampling takes its size from the skip connection's shape",
    image=numbers(1, 8, 8),
    mask=bits(1, 8, 8),
)
def unet_by_shape(image, mask):
    skip = F.relu(nn.Conv2D(1, 3, 3, padding=1)(image))
    low = F.relu(nn.Conv2D(3, 4, 3, padding=1)(F.avg_pool2d(skip, 2)))
    up = F.interpolate(low, size=paddle.shape(skip)[2:], mode="bilinear")
    out = nn.Conv2D(7, 1, 1)(paddle.concat([up, skip], axis=1))
    return F.binary_cross_entropy_with_logits(out, mask)


@net(
    "Style transfer: instance norm, nearest upsampling, reflection padding",
    image=numbers(3, 8, 8),
    target=numbers(3, 8, 8),
)
def style_net(image, target):
    x = F.pad(image, [1, 1, 1, 1], mode="reflect")
    x = F.relu(nn.InstanceNorm2D(4)(nn.Conv2D(3, 4, 3, stride=2)(x)))
    x = F.interpolate(x, scale_factor=2, mode="nearest")
    return F.l1_loss(nn.Conv2D(4, 3, 3, padding=1)(x), target)


@net(
    "Super-resolution: pixel shuffle, bicubic residual",
    image=numbers(1, 4, 4),
    target=numbers(1, 8, 8),
)
def super_resolution(image, target):
    x = F.pixel_shuffle(nn.Conv2D(1, 4, 3, padding=1)(image), 2)
    return F.mse_loss(x + F.interpolate(image, scale_factor=2, mode="bicubic"), target)


@net(
    "Transposed, grouped and depthwise convolutions, squeeze and excitation, adaptive pooling",
    image=numbers(2, 8, 8),
    label=classes(3, 1),
)
def mixed_convolutions(image, label):
    x = F.relu(nn.Conv2DTranspose(2, 4, 3, groups=2)(image))
    x = F.relu(nn.Conv2D(4, 4, 3, groups=4, padding=1)(x))
    gate = F.sigmoid(nn.Linear(4, 4)(F.adaptive_avg_pool2d(x, 1).flatten(1)))
    x = x * gate.unsqueeze([2, 3])
    x = F.adaptive_max_pool2d(nn.Conv2D(4, 4, 3, groups=2)(x), 2)
    return F.cross_entropy(nn.Linear(16, 3)(x.flatten(1)), label)


@net("3-d convolutions and pooling", volume=numbers(1, 4, 4, 4), label=classes(3, 1))
def volume_net(volume, label):
    x = F.relu(nn.Conv3D(1, 3, 3, padding=1)(volume))
    x = F.avg_pool3d(F.max_pool3d(x, 2), 2)
    return F.cross_entropy(nn.Linear(3, 3)(x.flatten(1)), label)


@net(
    "Spatial transformer: grid from the image's own numbers, deformable convolution",
    image=numbers(2, 6, 6),
    grid=numbers(6, 6, 2),
    label=classes(3, 1),
)
def spatial_transformer(image, grid, label):
    shift = F.tanh(nn.Linear(72, 2)(image.flatten(1))).reshape([-1, 1, 1, 2])
    x = F.grid_sample(nn.Conv2D(2, 2, 1)(image), grid + shift, align_corners=True)
    offset = nn.Conv2D(2, 18, 3, padding=1)(x)
    weight = paddle.create_parameter([3, 2, 3, 3], "float32", name="deformable.w")
    x = F.relu(paddle.vision.ops.deform_conv2d(x, offset, weight, padding=1))
    return F.cross_entropy(nn.Linear(3, 3)(x.mean([2, 3])), label)


@net(
    "Instance-wise dice loss with local response norm",
    image=numbers(2, 6, 6),
    mask=classes(2, 6, 6, 1),
)
def dice_net(image, mask):
    x = F.local_response_norm(nn.Conv2D(2, 4, 3, padding=1)(image), size=3)
    x = F.softmax(nn.Conv2D(4, 2, 1)(x).transpose([0, 2, 3, 1]))
    return F.dice_loss(x, mask)
