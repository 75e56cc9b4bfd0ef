"""Writes the corpus `labels`: losses that divide by a count, or a sum of weights, of the batch, and of which every quarter of a batch has another one (README.md of test/corpus).

    labels.py FOLDER [NET...]

Run by hand with paddlepaddle 2.6.2, as generate.py, whose files it writes. `verdict` is what verify must say of a job on two ranks and on four.
"""

import os
import sys

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

import generate
from net import BATCH, NETS, classes, net, numbers, op

# Of how many of a sample's places something is asked, by sample; the next step begins at the next
# quarter of the batch. So one of two ranks has many, and one of four has none.
SHARES = (0.0, 0.0, 0.1, 0.4, 0.6, 0.8, 1.0, 1.0)
QUARTER = BATCH // 4


class Uneven:
    """Draws numbers of which some places keep what is drawn, and the others get `none`."""

    def __init__(self, draw, none, shape):
        self.draw, self.none, self.shape, self.step = draw, none, shape, 0

    def __call__(self, random, n):
        shares = np.roll(np.array(SHARES), self.step * QUARTER)
        self.step += 1
        asked = random.random((n,) + self.shape) < shares.reshape((n,) + (1,) * len(self.shape))
        return np.where(asked, self.draw(random, (n,) + self.shape), self.none)


def labels(count, *shape, none=0, least=1):
    return ("int64", shape, Uneven(lambda random, s: random.integers(least, count, s), none, shape))


def mask(*shape):
    return ("float32", shape, Uneven(lambda random, s: np.ones(s), 0, shape))


def weights(*shape):
    return ("float32", shape, Uneven(lambda random, s: random.integers(1, 9, s) / 4.0, 0, shape))


WORDS = classes(12, 5)


def language(words, out=6):
    x = nn.Embedding(12, 8)(words)
    return nn.Linear(8, out)(F.tanh(nn.Linear(8, 8)(x)))


def per_token(words, next, count=6):
    return F.cross_entropy(language(words, count), next, reduction="none").squeeze(-1)


@net("A language model with padding: labels 0 are ignored", words=WORDS, next=labels(6, 5, 1))
def padded_words(words, next):
    return F.cross_entropy(language(words), next, ignore_index=0)


@net("The same, trained by Adam with a clipped global norm", optimizer=lambda rate: paddle.optimizer.Adam(rate / 10, grad_clip=nn.ClipGradByGlobalNorm(0.5)), words=WORDS, next=labels(6, 5, 1))
def padded_clipped(words, next):
    return F.cross_entropy(language(words), next, ignore_index=0)


@net("The mean over tokens under a mask that is fed", words=WORDS, next=classes(6, 5, 1), m=mask(5))
def masked_tokens(words, next, m):
    return paddle.sum(per_token(words, next) * m) / paddle.sum(m)


@net("The same by means: the mean of what counts over the mean of the mask", words=WORDS, next=classes(6, 5, 1), m=mask(5))
def mean_over_mean(words, next, m):
    return paddle.mean(per_token(words, next) * m) / paddle.mean(m)


@net("Masked words of BERT: weights of positions, 1e-5 beside their sum", words=WORDS, next=classes(6, 5, 1), w=weights(5))
def masked_positions(words, next, w):
    x = nn.LayerNorm(8)(F.gelu(nn.Embedding(12, 8)(words)))
    l = F.cross_entropy(nn.Linear(8, 6)(x), next, reduction="none").reshape([-1])
    w = w.reshape([-1])
    return paddle.sum(w * l) / (paddle.sum(w) + 1e-5)


@net("Weights of classes, and one that is ignored", words=classes(12, 5), next=labels(6, 5))
def weighted_classes(words, next):
    w = paddle.assign(np.array([1.0, 2.0, 0.5, 1.5, 0.25, 3.0], "float32"))
    return F.cross_entropy(language(words), next, weight=w, ignore_index=0)


@net("Two such losses, each with labels of its own", words=WORDS, next=labels(6, 5, 1), kind=labels(4, 1))
def two_tasks(words, next, kind):
    x = nn.Embedding(12, 8)(words)
    of_words = F.cross_entropy(nn.Linear(8, 6)(x), next, ignore_index=0)
    return of_words + 0.5 * F.cross_entropy(nn.Linear(8, 4)(x.mean(1)), kind, ignore_index=0)


@net("Four tasks, each with a weight and a count of its own, of which one may be 0", x=numbers(6), y=numbers(4), m=mask(4))
def counted_tasks(x, y, m):
    error = F.square_error_cost(nn.Linear(8, 4)(F.relu(nn.Linear(6, 8)(x))), y) * m
    importance = paddle.assign(np.array([1.0, 0.5, 0.25, 2.0], "float32"))
    counts = paddle.maximum(m.sum(0), paddle.ones([4]))
    return paddle.sum(importance * error.sum(0) / counts)


@net("Smoothed labels of a translation model, over the tokens that are no padding", words=WORDS, next=classes(6, 5), m=mask(5))
def smoothed_labels(words, next, m):
    soft = F.label_smooth(F.one_hot(next, 6), epsilon=0.1)
    cost = F.cross_entropy(language(words), soft, soft_label=True, reduction="none").squeeze(-1)
    tokens = paddle.sum(m)
    tokens.stop_gradient = True
    return paddle.sum(cost * m) / tokens


@net("A masked mean, a mean over the batch and a penalty on a parameter", words=WORDS, next=classes(6, 5, 1), m=mask(5))
def with_penalties(words, next, m):
    layer = nn.Linear(8, 6)
    x = F.tanh(nn.Embedding(12, 8)(words))
    cost = F.cross_entropy(layer(x), next, reduction="none").squeeze(-1)
    masked = paddle.sum(cost * m) / paddle.clip(paddle.sum(m), min=1.0)
    return masked + 0.1 * paddle.mean(x * x) + 0.01 * paddle.sum(layer.weight * layer.weight)


@net("Binary labels of which some are not known, by a count of integers", x=numbers(6), y=labels(2, 4, none=-1, least=0))
def known_bits(x, y):
    known = y >= 0
    p = F.sigmoid(nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(x))))
    cost = F.binary_cross_entropy(p, F.relu(y.astype("float32")), reduction="none")
    count = known.astype("int64").sum()
    return paddle.sum(cost * known.astype("float32")) / paddle.maximum(count, paddle.ones([], "int64")).astype("float32")


@net("Weights that are learned, divided by their sum", x=numbers(6), y=numbers(4), m=mask(1))
def learned_weights(x, y, m):
    h = F.tanh(nn.Linear(6, 8)(x))
    w = F.sigmoid(nn.Linear(8, 1)(h)) * (m + 0.1)
    error = F.square_error_cost(nn.Linear(8, 4)(h), y).mean(1, keepdim=True)
    return paddle.sum(w * error) / paddle.sum(w)


@net("Samples weighted by a softmax over the batch, written as a ratio", x=numbers(6), y=numbers(4), m=mask(1))
def batch_softmax(x, y, m):
    h = F.tanh(nn.Linear(6, 8)(x))
    e = paddle.exp(nn.Linear(8, 1)(h)) * (m + 0.05)
    error = F.square_error_cost(nn.Linear(8, 4)(h), y).mean(1, keepdim=True)
    return paddle.sum(e / paddle.sum(e) * error)


@net("Overlap of what is found with what is marked, over the whole batch", image=numbers(6), y=mask(4))
def overlap(image, y):
    p = F.sigmoid(nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(image))))
    return 1.0 - (2.0 * paddle.sum(p * y) + 1.0) / (paddle.sum(p) + paddle.sum(y) + 1.0)


@net("By the reciprocal of the count", words=WORDS, next=classes(6, 5, 1), m=mask(5))
def by_reciprocal(words, next, m):
    return paddle.sum(per_token(words, next) * m) * paddle.reciprocal(paddle.sum(m))


@net("By the count to the power of -1, of the root of a mean of squares", x=numbers(6), y=numbers(4), m=mask(4))
def root_of_squares(x, y, m):
    error = F.square_error_cost(nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(x))), y)
    return paddle.sqrt(paddle.sum(error * m) * paddle.pow(paddle.sum(m), -1.0) + 1e-3)


@net("Focal loss of boxes, divided by the number of positives", x=numbers(6), y=mask(4))
def focal_positives(x, y):
    scores = nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(x)))
    positives = paddle.clip(paddle.sum(y), min=1.0).reshape([1])
    return F.sigmoid_focal_loss(scores, y, normalizer=positives, reduction="sum")


@net("Classes weighed by how rare they are in the batch", x=numbers(6), label=labels(4, none=0, least=0))
def rare_classes(x, label):
    scores = nn.Linear(8, 4)(F.tanh(nn.Linear(6, 8)(x)))
    hot = F.one_hot(label, 4)
    rare = 1.0 / (hot.sum(0) + 1.0)
    cost = -paddle.sum(F.log_softmax(scores) * hot * rare, axis=1)
    return paddle.mean(cost)


@net("A ratio and a sum over the samples: no one factor is right, and the ratio stays per share", "parts", ["equal"], words=WORDS, next=labels(6, 5, 1), rate=0.01)
def ratio_and_sum(words, next):
    scores = language(words)
    return F.cross_entropy(scores, next, ignore_index=0) + 0.01 * paddle.sum(scores * scores)


@net("An op that divides by its own count of labels", "parts", ["sigmoid_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits_grad"], x=numbers(6), y=("float32", (4,), Uneven(lambda random, s: random.integers(0, 2, s), -1, (4,))))
def normalised_bits(x, y):
    kind = "sigmoid_cross_entropy_with_logits"
    return paddle.sum(op(kind, {"X": nn.Linear(6, 4)(x), "Label": y}, {"Out": "float32"}, {"normalize": True, "ignore_index": -1})["Out"])


def main(folder, *wanted):
    paddle.enable_static()
    for one in NETS:
        if not wanted or one.name in wanted:
            generate.write_case(one, os.path.join(folder, one.name))


if __name__ == "__main__":
    main(*sys.argv[1:])
