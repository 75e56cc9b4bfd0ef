"""Norms, pools and ways to resize that no corpus has (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import classes, net, numbers

IMAGE, LINE, CUBE, LABEL = numbers(4, 6, 6), numbers(4, 8), numbers(2, 4, 4, 4), classes(3, 1)


def head(x, label):
    x = x.flatten(2).mean(2) if len(x.shape) > 2 else x
    return F.cross_entropy(nn.Linear(x.shape[1], 3)(x), label)


def flat(x, label):
    x = x.flatten(1)
    return F.cross_entropy(nn.Linear(x.shape[1], 3)(x), label)


def conv(x, out=4):
    return nn.Conv2D(x.shape[1], out, 3, padding=1)(x)


@net("Batch norm of sequences", verdict="parts", sites=["batch_norm"], x=LINE, label=LABEL)
def norm_1d(x, label):
    return head(F.relu(nn.BatchNorm1D(4)(nn.Conv1D(4, 4, 3)(x))), label)


@net("Batch norm of features", verdict="parts", sites=["batch_norm"], x=numbers(6), label=LABEL)
def norm_features(x, label):
    return head(nn.BatchNorm1D(8, momentum=0.8)(nn.Linear(6, 8)(x)), label)


@net("Batch norm of volumes", verdict="parts", sites=["batch_norm"], x=CUBE, label=LABEL)
def norm_3d(x, label):
    return head(F.relu(nn.BatchNorm3D(4)(nn.Conv3D(2, 4, 3)(x))), label)


@net("Batch norm, channels last", verdict="parts", sites=["batch_norm"], x=numbers(6, 6, 4), label=LABEL)
def norm_last(x, label):
    x = nn.Conv2D(4, 4, 3, data_format="NHWC")(x)
    return flat(nn.BatchNorm2D(4, data_format="NHWC")(x), label)


@net("Batch norm on stored statistics", x=IMAGE, label=LABEL)
def norm_stored(x, label):
    return head(F.relu(nn.BatchNorm2D(4, use_global_stats=True)(conv(x))), label)


@net("Batch norm in evaluation", x=IMAGE, label=LABEL)
def norm_evaluated(x, label):
    layer = nn.BatchNorm2D(4)
    layer.eval()
    return head(F.relu(layer(conv(x))), label)


@net("Batch norm of the 1.x API with an activation", verdict="parts", sites=["batch_norm"], x=IMAGE, label=LABEL)
def norm_static(x, label):
    x = static.nn.conv2d(x, 4, 3, bias_attr=False)
    return head(static.nn.batch_norm(x, act="relu", momentum=0.7), label)


@net("Batch norm with half of a batch each (ghost)", verdict="parts", x=IMAGE, label=LABEL)
def ghost_norm(x, label):
    layer = nn.BatchNorm2D(4)
    a, b = paddle.split(conv(x), 2, axis=0)
    return head(paddle.concat([layer(a), layer(b)], 0), label)


@net("Instance norm of sequences and volumes", x=LINE, v=CUBE, label=LABEL)
def instances(x, v, label):
    a = nn.InstanceNorm1D(4)(nn.Conv1D(4, 4, 3)(x)).abs().mean(2)
    b = nn.InstanceNorm3D(2)(nn.Conv3D(2, 2, 3)(v)).abs().flatten(2).mean(2)
    return head(paddle.concat([a, b], 1), label)


@net("Instance norm without parameters", x=IMAGE, label=LABEL)
def instance_plain(x, label):
    return head(F.relu(F.instance_norm(conv(x))), label)


@net("Group norm, channels last, two groups", x=numbers(6, 6, 4), label=LABEL)
def groups_last(x, label):
    x = nn.Conv2D(4, 4, 3, data_format="NHWC")(x)
    return flat(F.relu(nn.GroupNorm(2, 4, data_format="NHWC")(x)), label)


@net("Group norm of sequences, no parameters", x=LINE, label=LABEL)
def groups_1d(x, label):
    x = nn.GroupNorm(2, 4, weight_attr=False, bias_attr=False)(nn.Conv1D(4, 4, 3)(x))
    return flat(x, label)


@net("Layer norm over three dims", x=IMAGE, label=LABEL)
def layer_norm_dims(x, label):
    return flat(nn.LayerNorm([4, 6, 6])(conv(x)), label)


@net("Layer norm without parameters, root mean square norm", x=numbers(5, 6), label=LABEL)
def rms(x, label):
    x = F.layer_norm(nn.Linear(6, 6)(x), 6)
    g = paddle.create_parameter([6], "float32", name="gain", default_initializer=nn.initializer.Constant(1.0))
    x = x * paddle.rsqrt(paddle.square(x).mean(-1, keepdim=True) + 1e-6) * g
    return flat(nn.Linear(6, 6)(x), label)


@net("Local response norm of sequences", x=LINE, label=LABEL)
def responses(x, label):
    return flat(F.local_response_norm(nn.Conv1D(4, 4, 3)(x), 3, alpha=0.1), label)


@net("Spectral norm as a layer", x=IMAGE, label=LABEL)
def spectral(x, label):
    w = paddle.create_parameter([4, 4, 3, 3], "float32", name="filter")
    return head(F.relu(F.conv2d(x, static.nn.spectral_norm(w, power_iters=2))), label)


@net("Weight norm of a convolution, each filter", x=IMAGE, label=LABEL)
def weight_normed_filters(x, label):
    return head(F.relu(nn.utils.weight_norm(nn.Conv2D(4, 4, 3), dim=0)(x)), label)


@net("Weight norm over everything", x=numbers(6), label=LABEL)
def weight_normed_whole(x, label):
    return head(nn.utils.weight_norm(nn.Linear(6, 4), dim=None)(x), label)


@net("Data norm: statistics that are parameters", x=numbers(6), label=LABEL)
def data_norm(x, label):
    return head(nn.Linear(6, 4)(static.nn.data_norm(x)), label)


@net("Normalised by p = 1, 3 and along dim 2", x=numbers(4, 5), label=LABEL)
def normalised(x, label):
    x = nn.Linear(5, 5)(x)
    return flat(F.normalize(x, p=1, axis=1) + F.normalize(x, p=3, axis=2) + F.normalize(x, axis=-1), label)


@net("Pixel norm and a divisive norm", x=IMAGE, label=LABEL)
def pixel_norm(x, label):
    x = conv(x)
    x = x / paddle.sqrt(paddle.square(x).mean(1, keepdim=True) + 1e-4)
    return flat(x / (paddle.abs(x).sum([2, 3], keepdim=True) + 1.0), label)


@net("Adaptive average pool of sequences, uneven", x=LINE, label=LABEL)
def pool_adaptive_1d(x, label):
    return flat(nn.AdaptiveAvgPool1D(3)(nn.Conv1D(4, 4, 2)(x)), label)


@net("Adaptive pools of volumes", x=CUBE, label=LABEL)
def pool_adaptive_3d(x, label):
    x = nn.Conv3D(2, 2, 2)(x)
    return flat(nn.AdaptiveAvgPool3D(2)(x) + nn.AdaptiveMaxPool3D(2)(x), label)


@net("Adaptive maximum with where it is", x=IMAGE, label=LABEL)
def pool_adaptive_max(x, label):
    a, _ = F.adaptive_max_pool2d(conv(x), 4, return_mask=True)
    return flat(a, label)


@net("Adaptive pool of one dim", x=IMAGE, label=LABEL)
def pool_adaptive_none(x, label):
    return flat(nn.AdaptiveAvgPool2D([None, 3])(conv(x)), label)


@net("Unpooling of images", x=IMAGE, label=LABEL)
def unpool_2d(x, label):
    a, where = F.max_pool2d(conv(x), 2, 2, return_mask=True)
    return flat(F.max_unpool2d(a * 2, where, 2, 2), label)


@net("Unpooling of sequences", x=LINE, label=LABEL)
def unpool_1d(x, label):
    a, where = F.max_pool1d(nn.Conv1D(4, 4, 3, padding=1)(x), 2, 2, return_mask=True)
    return flat(F.max_unpool1d(a * 2, where, 2, 2), label)


@net("Unpooling of volumes", x=CUBE, label=LABEL)
def unpool_3d(x, label):
    a, where = F.max_pool3d(nn.Conv3D(2, 2, 3, padding=1)(x), 2, 2, return_mask=True)
    return flat(F.max_unpool3d(a * 2, where, 2, 2), label)


@net("Average pool: padding counts, rounded up", x=IMAGE, label=LABEL)
def pool_inclusive(x, label):
    return flat(F.avg_pool2d(conv(x), 3, 2, padding=1, exclusive=False, ceil_mode=True), label)


@net("Average pool with a divisor of its own", x=IMAGE, label=LABEL)
def pool_divisor(x, label):
    return flat(F.avg_pool2d(conv(x), 2, 2, divisor_override=3), label)


@net("Pools of sequences, strides and paddings", x=LINE, label=LABEL)
def pool_1d(x, label):
    x = nn.Conv1D(4, 4, 3)(x)
    return flat(F.avg_pool1d(x, 3, 2, padding=1) + F.max_pool1d(x, 3, 2, padding=1), label)


@net("Pools of volumes, channels last, same padding", x=numbers(4, 4, 4, 2), label=LABEL)
def pool_3d_last(x, label):
    x = nn.Conv3D(2, 2, 3, data_format="NDHWC")(x)
    a = F.max_pool3d(x, 2, 1, padding="SAME", data_format="NDHWC")
    return flat(a + F.avg_pool3d(x, 2, 1, padding="SAME", data_format="NDHWC"), label)


@net("Maximum pool, channels last, uneven paddings", x=numbers(6, 6, 4), label=LABEL)
def pool_last(x, label):
    x = nn.Conv2D(4, 4, 3, data_format="NHWC")(x)
    return flat(F.max_pool2d(x, 2, 2, padding=[[0, 0], [1, 0], [0, 1], [0, 0]], data_format="NHWC"), label)


@net("Maxout over channels", x=IMAGE, label=LABEL)
def maxout(x, label):
    return flat(F.maxout(conv(x, 4), 2), label)


@net("Powers pooled", x=IMAGE, label=LABEL)
def pool_powers(x, label):
    x = F.softplus(conv(x))
    return head(paddle.pow(F.avg_pool2d(paddle.pow(x, 3.0), 2), 1 / 3.0), label)


@net("Windows unfolded and folded", x=IMAGE, label=LABEL)
def folds(x, label):
    columns = F.unfold(conv(x), [2, 2], strides=2)
    return flat(F.fold(columns * columns, [6, 6], [2, 2], strides=2), label)


@net("Pixels unshuffled, channels shuffled", x=IMAGE, label=LABEL)
def shuffles(x, label):
    x = F.pixel_unshuffle(conv(x), 2)
    return flat(conv(F.channel_shuffle(x, 4)), label)


@net("Linear interpolation of sequences", x=LINE, label=LABEL)
def resize_linear(x, label):
    x = nn.Conv1D(4, 4, 3)(x)
    return flat(F.interpolate(x, size=[9], mode="linear", data_format="NCW"), label)


@net("Linear interpolation, aligned corners", x=LINE, label=LABEL)
def resize_linear_aligned(x, label):
    x = nn.Conv1D(4, 4, 3)(x)
    return flat(F.interpolate(x, size=[9], mode="linear", align_corners=True, data_format="NCW"), label)


@net("Bilinear: corners aligned, and both modes of alignment", x=IMAGE, label=LABEL)
def resize_bilinear(x, label):
    x = conv(x)
    a = F.interpolate(x, size=[8, 9], mode="bilinear", align_corners=True)
    b = F.interpolate(x, size=[8, 9], mode="bilinear", align_mode=1)
    return flat(a + b, label)


@net("Bicubic, smaller", x=IMAGE, label=LABEL)
def resize_bicubic(x, label):
    return flat(F.interpolate(conv(x), size=[4, 5], mode="bicubic"), label)


@net("Bicubic, corners aligned", x=IMAGE, label=LABEL)
def resize_bicubic_aligned(x, label):
    return flat(F.interpolate(conv(x), scale_factor=1.5, mode="bicubic", align_corners=True), label)


@net("Trilinear", x=CUBE, label=LABEL)
def resize_trilinear(x, label):
    x = nn.Conv3D(2, 2, 2)(x)
    return flat(F.interpolate(x, size=[4, 5, 6], mode="trilinear", data_format="NCDHW"), label)


@net("Nearest of volumes, area of images", x=CUBE, y=IMAGE, label=LABEL)
def resize_nearest_area(x, y, label):
    x = F.interpolate(nn.Conv3D(2, 2, 2)(x), scale_factor=2, mode="nearest", data_format="NCDHW")
    y = F.interpolate(conv(y), size=[3, 2], mode="area")
    return head(paddle.concat([x.flatten(1), y.flatten(1)], 1), label)


@net("Nearest, corners aligned, channels last", x=numbers(6, 6, 4), label=LABEL)
def resize_nearest_last(x, label):
    x = nn.Conv2D(4, 4, 3, data_format="NHWC")(x)
    return flat(F.interpolate(x, size=[7, 5], mode="nearest", data_format="NHWC"), label)


@net("A grid sampled: nearest, border", x=IMAGE, g=numbers(3, 3, 2), label=LABEL)
def grid_nearest(x, g, label):
    return flat(F.grid_sample(conv(x), g, mode="nearest", padding_mode="border", align_corners=False), label)


@net("A grid sampled: bilinear, reflection", x=IMAGE, g=numbers(3, 3, 2), label=LABEL)
def grid_reflection(x, g, label):
    g = nn.Linear(2, 2)(g)
    return flat(F.grid_sample(conv(x), g, padding_mode="reflection", align_corners=False), label)


@net("A volume's grid sampled", x=CUBE, t=numbers(3, 4), label=LABEL)
def grid_volume(x, t, label):
    grid = F.affine_grid(nn.Linear(4, 4)(t), [8, 2, 2, 2, 2], align_corners=False)
    return flat(F.grid_sample(nn.Conv3D(2, 2, 2)(x), grid), label)


@net("Paddings: circular, mirrored, replicated", x=IMAGE, y=LINE, label=LABEL)
def paddings(x, y, label):
    x = conv(x)
    a = F.pad(x, [1, 2, 0, 1], mode="circular")
    b = F.pad(x, [1, 2, 0, 1], mode="replicate")
    c = F.pad(nn.Conv1D(4, 4, 3)(y), [2, 1], mode="reflect", data_format="NCL")
    return head(paddle.concat([conv(a + b).flatten(1), c.flatten(1)], 1), label)


@net("Paddings of volumes with a value, of every dim", x=CUBE, label=LABEL)
def paddings_3d(x, label):
    x = nn.Conv3D(2, 2, 2)(x)
    x = F.pad(x, [1, 0, 0, 1, 1, 1], value=0.5, data_format="NCDHW")
    return flat(F.pad(x, [0, 0, 1, 0, 0, 0, 0, 0, 0, 1], value=-0.5), label)


@net("Zero padding, cropping, rolled, flipped, turned", x=IMAGE, label=LABEL)
def moved(x, label):
    x = F.zeropad2d(conv(x), [1, 0, 2, 0])
    x = paddle.crop(x, shape=[-1, 4, 5, 5], offsets=[0, 0, 1, 1])
    return flat(paddle.rot90(paddle.flip(paddle.roll(x, 1, 2), [3]), 1, [2, 3]), label)
