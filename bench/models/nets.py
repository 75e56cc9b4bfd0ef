"""Small nets of the kinds that users train: what each couples of a batch is known, and stands beside it.

A net is a function that builds a program and returns the loss. `verdict` is what `verify` must say of a data-parallel job of it:
`whole` (equal to the step on the whole batch), `parts` (verified, but the ops in `sites` couple the samples of a batch).
"""

from dataclasses import dataclass, field

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

BATCH, STEPS = 8, 4


@dataclass
class Net:
    name: str
    description: str
    build: object
    feeds: dict  # name -> (dtype, shape of a sample, how to draw)
    verdict: str = "whole"
    sites: list = field(default_factory=list)
    optimizer: str = "sgd"
    rate: float = 0.1


NETS = []


def net(description, verdict="whole", sites=(), optimizer="sgd", rate=0.1, **feeds):
    def add(build):
        NETS.append(Net(build.__name__, description, build, feeds, verdict, list(sites), optimizer, rate))
        return build

    return add


def numbers(*shape):
    return ("float32", shape, lambda random, n: random.integers(-16, 17, (n,) + shape) / np.float32(16))


def classes(count, *shape):
    return ("int64", shape, lambda random, n: random.integers(0, count, (n,) + shape))


def lengths(least, most):
    return ("int64", (), lambda random, n: random.integers(least, most + 1, (n,)))


def bits(*shape):
    return ("float32", shape, lambda random, n: random.integers(0, 2, (n,) + shape))


def op(kind, inputs, outputs, attrs=None):
    """An op of the framework that has no Python call of its own in this release."""
    from paddle.base.layer_helper import LayerHelper

    helper = LayerHelper(kind)
    made = {
        slot: helper.create_variable_for_type_inference(dtype) for slot, dtype in outputs.items()
    }
    helper.append_op(
        type=kind,
        inputs={slot: [value] for slot, value in inputs.items()},
        outputs={slot: [value] for slot, value in made.items()},
        attrs=attrs or {},
    )
    return made


# Normalisation and images.


@net("Two-level U-net: group norm, max pooling, bilinear upsampling, skip connection", optimizer="adam", rate=0.01,
     image=numbers(1, 8, 8), mask=bits(1, 8, 8))
def unet_small(image, mask):
    def block(x, channels):
        x = nn.Conv2D(x.shape[1], channels, 3, padding=1)(x)
        return F.relu(nn.GroupNorm(2, channels)(x))

    skip = block(image, 4)
    low = block(F.max_pool2d(skip, 2), 6)
    up = F.interpolate(low, scale_factor=2, mode="bilinear", align_corners=True)
    out = nn.Conv2D(4, 1, 1)(block(paddle.concat([up, skip], axis=1), 4))
    return F.binary_cross_entropy_with_logits(out, mask)


@net("U-net whose upsampling takes its size from the skip connection's shape", image=numbers(1, 8, 8), mask=bits(1, 8, 8))
def unet_by_shape(image, mask):
    skip = F.relu(nn.Conv2D(1, 3, 3, padding=1)(image))
    low = F.relu(nn.Conv2D(3, 4, 3, padding=1)(F.avg_pool2d(skip, 2)))
    up = F.interpolate(low, size=paddle.shape(skip)[2:], mode="bilinear")
    out = nn.Conv2D(7, 1, 1)(paddle.concat([up, skip], axis=1))
    return F.binary_cross_entropy_with_logits(out, mask)


@net("Style transfer: instance norm, nearest upsampling, reflection padding", image=numbers(3, 8, 8), target=numbers(3, 8, 8))
def style_net(image, target):
    x = F.pad(image, [1, 1, 1, 1], mode="reflect")
    x = F.relu(nn.InstanceNorm2D(4)(nn.Conv2D(3, 4, 3, stride=2)(x)))
    x = F.interpolate(x, scale_factor=2, mode="nearest")
    return F.l1_loss(nn.Conv2D(4, 3, 3, padding=1)(x), target)


@net("Super-resolution: pixel shuffle, bicubic residual", image=numbers(1, 4, 4), target=numbers(1, 8, 8))
def super_resolution(image, target):
    x = F.pixel_shuffle(nn.Conv2D(1, 4, 3, padding=1)(image), 2)
    return F.mse_loss(x + F.interpolate(image, scale_factor=2, mode="bicubic"), target)


@net("Transposed, grouped and depthwise convolutions, squeeze and excitation, adaptive pooling", image=numbers(2, 8, 8), label=classes(3, 1))
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


@net("Spatial transformer: grid from the image's own numbers, deformable convolution", image=numbers(2, 6, 6), grid=numbers(6, 6, 2), label=classes(3, 1))
def spatial_transformer(image, grid, label):
    shift = F.tanh(nn.Linear(72, 2)(image.flatten(1))).reshape([-1, 1, 1, 2])
    x = F.grid_sample(nn.Conv2D(2, 2, 1)(image), grid + shift, align_corners=True)
    offset = nn.Conv2D(2, 18, 3, padding=1)(x)
    weight = paddle.create_parameter([3, 2, 3, 3], "float32", name="deformable.w")
    x = F.relu(paddle.vision.ops.deform_conv2d(x, offset, weight, padding=1))
    return F.cross_entropy(nn.Linear(3, 3)(x.mean([2, 3])), label)


@net("Instance-wise dice loss with local response norm", image=numbers(2, 6, 6), mask=classes(2, 6, 6, 1))
def dice_net(image, mask):
    x = F.local_response_norm(nn.Conv2D(2, 4, 3, padding=1)(image), size=3)
    x = F.softmax(nn.Conv2D(4, 2, 1)(x).transpose([0, 2, 3, 1]))
    return F.dice_loss(x, mask)


# Attention and sequences.


@net("Causal self-attention: triangular mask, masked softmax, layer norm", words=classes(20, 6), next=classes(20, 6, 1), rate=0.05)
def causal_attention(words, next):
    x = nn.Embedding(20, 8)(words)
    q, k, v = (nn.Linear(8, 8)(x) for _ in range(3))
    scores = paddle.matmul(q, k, transpose_y=True) * 8**-0.5
    mask = paddle.triu(paddle.full([6, 6], -1e9), diagonal=1)
    x = nn.LayerNorm(8)(x + paddle.matmul(F.softmax(scores + mask), v))
    return F.cross_entropy(nn.Linear(8, 20)(x), next)


@net("Attention over padded texts: mask of lengths, mean over the words that are there", words=classes(20, 6), length=lengths(2, 6), label=classes(3, 1))
def padded_attention(words, length, label):
    x = nn.Embedding(20, 8)(words)
    there = F.sequence_mask(length, maxlen=6, dtype="float32")
    scores = nn.Linear(8, 1)(F.tanh(nn.Linear(8, 8)(x))).squeeze(-1)
    weight = F.softmax(paddle.where(there > 0.5, scores, paddle.full_like(scores, -1e9)))
    mean = (x * there.unsqueeze(-1)).sum(1) / there.sum(1, keepdim=True)
    return F.cross_entropy(nn.Linear(16, 3)(paddle.concat([(x * weight.unsqueeze(-1)).sum(1), mean], 1)), label)


@net("Bidirectional LSTM over texts of unequal length", words=classes(20, 6), length=lengths(2, 6), label=classes(3, 1))
def lstm_classifier(words, length, label):
    x = nn.Embedding(20, 6)(words)
    _, (h, _) = nn.LSTM(6, 5, direction="bidirect")(x, sequence_length=length)
    return F.cross_entropy(nn.Linear(10, 3)(paddle.concat([h[0], h[1]], 1)), label)


@net("GRU encoder, GRU decoder with attention, language loss", source=classes(16, 5), target=classes(16, 5), next=classes(16, 5, 1))
def gru_translation(source, target, next):
    encoded, state = nn.GRU(6, 6)(nn.Embedding(16, 6)(source))
    decoded, _ = nn.GRU(6, 6)(nn.Embedding(16, 6)(target), state)
    weight = F.softmax(paddle.matmul(decoded, encoded, transpose_y=True))
    x = paddle.concat([decoded, paddle.matmul(weight, encoded)], -1)
    return F.cross_entropy(nn.Linear(12, 16)(x), next)


@net("Pointer network: where in the source the answer begins and ends", source=classes(16, 6), query=classes(16, 3), begin=classes(6, 1), end=classes(6, 1))
def pointer_net(source, query, begin, end):
    table = nn.Embedding(16, 6)
    x, _ = nn.SimpleRNN(6, 6)(table(source))
    q = table(query).mean(1)
    loss = 0
    for label in (begin, end):
        scores = paddle.bmm(x, nn.Linear(6, 6)(q).unsqueeze(2)).squeeze(2)
        loss = loss + F.cross_entropy(scores, label)
    return loss


@net("Tagger with a conditional random field over padded texts", words=classes(20, 5), tags=classes(4, 5), length=lengths(2, 5))
def crf_tagger(words, tags, length):
    x, _ = nn.GRU(6, 6)(nn.Embedding(20, 6)(words))
    transition = paddle.create_parameter([6, 4], "float32", name="transition")
    crf = op("linear_chain_crf",
             {"Emission": nn.Linear(6, 4)(x), "Transition": transition, "Label": tags, "Length": length},
             {"Alpha": "float32", "EmissionExps": "float32", "TransitionExps": "float32", "LogLikelihood": "float32"})
    return paddle.mean(crf["LogLikelihood"])


@net("Connectionist temporal classification over padded speech", speech=numbers(6, 4), text=classes(4, 2), length=lengths(5, 6), words=lengths(1, 2))
def ctc_speech(speech, text, length, words):
    x = nn.Linear(4, 6)(speech).transpose([1, 0, 2])
    return F.ctc_loss(x, (text + 1).astype("int32"), length, words, blank=0, reduction="mean")


# Losses.


@net("Contrastive loss over the pairs of a batch", verdict="parts", sites=["matmul_v2"], first=numbers(6), second=numbers(6), pair=classes(1, 1))
def contrastive(first, second, pair):
    project = nn.Linear(6, 4)
    a, b = F.normalize(project(first)), F.normalize(project(second))
    scores = paddle.matmul(a, b, transpose_y=True) * 4.0
    return -paddle.mean(F.log_softmax(scores) * F.softmax(scores * 8.0))


@net("N-pair loss: every sample against all others' positives", verdict="parts", sites=["elementwise_sub", "matmul_v2"], anchor=numbers(6), positive=numbers(6), label=classes(4))
def npair(anchor, positive, label):
    project = nn.Linear(6, 4)
    scores = paddle.matmul(project(anchor), project(positive), transpose_y=True)
    same = F.relu(1.0 - paddle.abs((label.unsqueeze(1) - label.unsqueeze(0)).astype("float32")))
    return F.cross_entropy(scores, same / same.sum(1, keepdim=True), soft_label=True)


@net("Hardest triplets of a batch: the farthest of the same class, the nearest of another", verdict="parts", sites=["matmul_v2"], image=numbers(6), label=classes(3))
def hardest_triplets(image, label):
    x = F.normalize(nn.Linear(6, 4)(image))
    distance = 2.0 - 2.0 * paddle.matmul(x, x, transpose_y=True)
    same = F.relu(1.0 - paddle.abs((label.unsqueeze(1) - label.unsqueeze(0)).astype("float32")))
    farthest = paddle.max(distance * same, axis=1)
    nearest = paddle.min(distance + same * 10.0, axis=1)
    return paddle.mean(F.relu(farthest - nearest + 0.5))


@net("Triplets that are given: each sample has its own", anchor=numbers(6), positive=numbers(6), negative=numbers(6))
def given_triplets(anchor, positive, negative):
    project = nn.Linear(6, 4)
    return F.triplet_margin_loss(project(anchor), project(positive), project(negative))


@net("Classes by angle: normalised weights and features, scaled cosine", image=numbers(8), label=classes(4, 1))
def angular_softmax(image, label):
    weight = paddle.create_parameter([6, 4], "float32", name="angles")
    x = F.normalize(F.relu(nn.Linear(8, 6)(image)))
    return F.cross_entropy(paddle.matmul(x, F.normalize(weight, axis=0)) * 8.0, label)


@net("A teacher's distribution and hard labels: divergence with batchmean, smoothed labels", image=numbers(8), label=classes(4, 1), teacher=numbers(4))
def distillation(image, label, teacher):
    x = nn.Linear(8, 4)(F.gelu(nn.Linear(8, 8)(image)))
    soft = F.kl_div(F.log_softmax(x / 2.0), F.softmax(teacher), reduction="batchmean")
    smooth = F.label_smooth(F.one_hot(label.squeeze(-1), 4), epsilon=0.1)
    return soft + F.cross_entropy(x, smooth, soft_label=True)


@net("Labels that are ignored: divided by those that count", verdict="parts", sites=["elementwise_div"], words=classes(12, 5), next=classes(6, 5, 1))
def ignored_labels(words, next):
    x = nn.Linear(6, 6)(nn.Embedding(12, 6)(words))
    return F.cross_entropy(x, next, ignore_index=0)


@net("Negative log likelihood with weights of classes: divided by their sum", verdict="parts", sites=["nll_loss"], image=numbers(8), label=classes(4))
def weighted_likelihood(image, label):
    weight = paddle.assign(np.array([1.0, 2.0, 0.5, 1.5], "float32"))
    return F.nll_loss(F.log_softmax(nn.Linear(8, 4)(image)), label, weight=weight)


@net("Rank, margin and smooth losses of pairs", left=numbers(6), right=numbers(6), order=bits(1))
def pair_losses(left, right, order):
    score = nn.Linear(6, 1)
    a, b = score(left), score(right)
    ranked = F.margin_ranking_loss(a, b, order * 2 - 1, margin=0.1)
    return ranked + F.smooth_l1_loss(a, b) + paddle.mean(F.log_loss(F.sigmoid(a), order))


# Detection.


@net("Yolo head: one feature map, its own loss", image=numbers(3, 8, 8), boxes=("float32", (3, 4), lambda random, n: random.integers(4, 12, (n, 3, 4)) / np.float32(16)), labels=("int32", (3,), lambda random, n: random.integers(0, 2, (n, 3))), rate=0.01)
def yolo_head(image, boxes, labels):
    x = F.leaky_relu(nn.Conv2D(3, 6, 3, stride=2, padding=1)(image))
    x = nn.Conv2D(6, 14, 1)(x)
    loss = paddle.vision.ops.yolo_loss(x, boxes, labels, anchors=[4, 6, 8, 12], anchor_mask=[0, 1], class_num=2, ignore_thresh=0.7, downsample_ratio=2)
    return paddle.mean(loss)


@net("Default boxes over a feature map, offsets and classes regressed", image=numbers(3, 8, 8), offsets=numbers(32, 4), classes_of=classes(3, 32, 1))
def default_boxes(image, offsets, classes_of):
    x = F.relu(nn.Conv2D(3, 4, 3, stride=2, padding=1)(image))
    prior = op("prior_box", {"Input": x, "Image": image}, {"Boxes": "float32", "Variances": "float32"},
               {"min_sizes": [2.0, 4.0], "max_sizes": [], "aspect_ratios": [1.0], "variances": [0.1, 0.1, 0.2, 0.2], "flip": False, "clip": True})
    boxes = prior["Boxes"].reshape([32, 4])
    at = nn.Conv2D(4, 8, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 32, 4])
    scores = nn.Conv2D(4, 6, 3, padding=1)(x).transpose([0, 2, 3, 1]).reshape([-1, 32, 3])
    return F.smooth_l1_loss(at + boxes, offsets) + F.cross_entropy(scores, classes_of)


@net("Region head: aligned features of given boxes, two for each image, counted by a tensor", verdict="parts", sites=["roi_align", "roi_align_grad"], image=numbers(2, 8, 8), boxes=("float32", (2, 4), lambda random, n: (np.tile(random.integers(0, 8, (n, 2, 2)), 2) + [0, 0, 5, 6]) / np.float32(2)), count=lengths(2, 2), label=classes(3, 2, 1))
def region_head(image, boxes, count, label):
    x = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    regions = paddle.vision.ops.roi_align(x, boxes.reshape([-1, 4]), count.astype("int32"), 2)
    return F.cross_entropy(nn.Linear(16, 3)(regions.flatten(1)), label.reshape([-1, 1]))


@net("Video: frames of a clip shifted in time, clips pooled", clip=numbers(4, 2, 4, 4), label=classes(3, 1))
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


@net("Focal loss of boxes, divided by the number of objects in the batch", verdict="parts", sites=["elementwise_div"], image=numbers(8), label=bits(4))
def focal_loss(image, label):
    x = nn.Linear(8, 4)(image)
    return F.sigmoid_focal_loss(x, label, normalizer=paddle.sum(label))
