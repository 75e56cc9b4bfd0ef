"""One way each in which the samples of a batch see each other: a job of any of these must not be verified as whole (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import BATCH, NETS, classes, net, numbers
from unseen.training import RAGGED, S, rows


def constant(*values):
    return paddle.assign(np.array(values, "int64"))


def turned(x):
    return x.transpose([1, 0])


def cond_of_batch(x):
    step = paddle.static.create_global_var([1], 0.0, "float32", persistable=True, name="turns")
    paddle.increment(step)
    two = paddle.full([1], 2.5, "float32")
    inner = lambda: static.nn.cond(step < two - 1.0, lambda: x - x.mean(0), lambda: x * 1.0)  # noqa: E731
    return static.nn.cond(step < two, inner, lambda: x * 2.0)


def loop_of_batch(x):
    i, n = paddle.full([1], 0, "int64"), paddle.full([1], 2, "int64")
    return static.nn.while_loop(lambda i, h: i < n, lambda i, h: [i + 1, h - h.mean(0)], [i, x])[1]


def through_time(x):
    return nn.LSTM(4, 4, time_major=True)(x.unsqueeze(1))[0].squeeze(1)


def shape_as_number(x):
    return x * (1.0 / paddle.cast(paddle.shape(x)[0], "float32")).detach() * paddle.exp(paddle.cast(paddle.shape(x)[0], "float32") * 0.1)


def written(x):
    return static.setitem(x * 1.0, (0,), 0.5)


# What x [batch, 4] becomes; whatever it is, it is squared and averaged.
WAYS = {
    "cumulated": lambda x: paddle.cumsum(x, 0),
    "multiplied_up": lambda x: paddle.cumprod(F.sigmoid(x), 0),
    "log_cumulated": lambda x: paddle.logcumsumexp(x, axis=0),
    "turned_over": lambda x: x * paddle.flip(x, [0]),
    "rolled": lambda x: x * paddle.roll(x, 1, 0),
    "sorted_batch": lambda x: paddle.sort(x, 0) * constant(*range(BATCH)).astype("float32").unsqueeze(1),
    "weighted_order": lambda x: paddle.sort(x, 0)[:2],
    "best_of_batch": lambda x: paddle.topk(x, 2, axis=0)[0],
    "largest": lambda x: x - paddle.max(x, 0, keepdim=True),
    "smallest": lambda x: x * paddle.min(x, 0, keepdim=True),
    "softmax_batch": lambda x: F.softmax(x, 0),
    "log_softmax_batch": lambda x: F.log_softmax(x, 0),
    "normalised_batch": lambda x: F.normalize(x, axis=0),
    "centred": lambda x: x - x.mean(0, keepdim=True),
    "standardised": lambda x: x / (x.std(0, keepdim=True) + 1.0),
    "neighbours": lambda x: paddle.diff(x, axis=0),
    "next_one": lambda x: x * paddle.concat([x[1:], x[:1]], 0),
    "first_one": lambda x: x * x[0],
    "every_other": lambda x: x[::2] * 2.0,
    "last_ones": lambda x: x[-2:],
    "picked": lambda x: paddle.gather(x, constant(0, 0, 3)),
    "picked_nd": lambda x: paddle.gather_nd(x, constant(0, 5).reshape([2, 1])),
    "selected": lambda x: paddle.index_select(x, constant(1, 1)),
    "pairs": lambda x: paddle.matmul(x, x, transpose_y=True),
    "pairs_einsum": lambda x: paddle.einsum("bi,ci->bc", x, x),
    "second_moments": lambda x: paddle.matmul(x, x, transpose_x=True),
    "moments_einsum": lambda x: paddle.einsum("bi,bj->ij", x, x),
    "column_and_row": lambda x: x[:, :1] * x[:, 0],
    "distances_of_pairs": lambda x: paddle.cdist(x, x * 0.5),
    "two_in_a_row": lambda x: paddle.matmul(x.reshape([-1, 8]), paddle.ones([8, 8]) * 0.1),
    "rows_as_one": lambda x: F.softmax(x.reshape([1, -1]), 1),
    "batch_as_channels": lambda x: F.layer_norm(turned(x).reshape([4, BATCH]), BATCH),
    "batch_as_time": through_time,
    "batch_as_length": lambda x: F.avg_pool1d(turned(x).unsqueeze(0), 3, 1),
    "convolved_batch": lambda x: nn.Conv1D(4, 4, 3)(turned(x).unsqueeze(0)),
    "whole_norm": lambda x: x / (paddle.norm(x) + 1.0),
    "clipped_norm": lambda x: nn.clip.clip_by_norm(x, 0.5) if hasattr(nn.clip, "clip_by_norm") else x / (paddle.norm(x) + 1.0),
    "log_of_all": lambda x: x - paddle.logsumexp(x),
    "product_of_batch": lambda x: paddle.prod(x + 1.0, 0),
    "padded_batch": lambda x: paddle.cumsum(F.pad(x, [1, 0, 0, 0]), 0),
    "scattered": lambda x: paddle.scatter_nd_add(paddle.zeros([BATCH, 4]), constant(*([0] * BATCH)).reshape([BATCH, 1]), x.reshape([BATCH, 4])),
    "shape_as_number": shape_as_number,
    "written_first": written,
    "in_a_branch": cond_of_batch,
    "in_a_loop": loop_of_batch,
    "kept_if_large": lambda x: paddle.where(x > x.mean(), x, x * 0.5),
    "kth_of_batch": lambda x: x - paddle.kthvalue(x, 3, 0, keepdim=True)[0],
    "unique_rows": lambda x: x * paddle.unique(paddle.round(x)).sum().detach(),
    "shifted_in_time": lambda x: F.temporal_shift(x.reshape([-1, 4, 1, 1]), 2, 0.25),
    "stacked_and_mixed": lambda x: paddle.stack([x, x * 2.0], 0).mean(1) * 1.0,
    "norm_of_groups": lambda x: nn.GroupNorm(1, 4)(turned(x).reshape([1, 4, -1])),
    "instance_over_batch": lambda x: F.instance_norm(turned(x).reshape([1, 4, -1])),
    "attends_to_others": lambda x: F.softmax(paddle.matmul(x, turned(x)) * 0.5).matmul(x),
    "triangle": lambda x: paddle.tril(paddle.matmul(x, turned(x))).sum(1),
    "trace_of_pairs": lambda x: paddle.trace(paddle.matmul(x, turned(x)) * 1.0) * x,
    "any_of_batch": lambda x: x * (x > 0.9).any(0).astype("float32"),
    "counted": lambda x: x * (x > 0).astype("float32").sum(0, keepdim=True),
    "arg_of_batch": lambda x: x * paddle.argmax(x, 0).astype("float32"),
    "renormed_columns": lambda x: x * paddle.rsqrt(paddle.square(x).sum(0) + 1.0),
    "flattened_twice": lambda x: paddle.cumsum(x),
    "expanded_first": lambda x: paddle.expand(x[:1], [BATCH, 4]) * x,
    "tiled_batch": lambda x: paddle.cumsum(paddle.tile(x, [2, 1]), 0),
    "meshed": lambda x: paddle.meshgrid(x[:, 0], x[:, 1])[0] * paddle.meshgrid(x[:, 0], x[:, 1])[1],
}


# Rows of two samples: no pair is parted, as long as a rank has whole ones.
PAIRED = ("two_in_a_row", "shifted_in_time")


def add(name, way):
    def build(x, y):
        h = way(F.tanh(nn.Linear(3, 4)(x)))
        return paddle.square(h).mean() + F.mse_loss(nn.Linear(3, 1)(x), y)

    build.__name__ = "couples_" + name
    net("Samples see each other: " + name.replace("_", " "), "whole" if name in PAIRED else "coupled", x=numbers(3), y=numbers(1))(build)


for name, way in WAYS.items():
    add(name, way)


@net("Samples see each other: the rows of all texts cumulated", "coupled", words=RAGGED, label=classes(3, 1))
def couples_ragged_cumsum(words, label):
    h = paddle.cumsum(rows(words), 0)
    return F.cross_entropy(static.nn.fc(S.sequence_lod.sequence_pool(h, "last"), 3), label)


@net("Samples see each other: padded to the longest", "coupled", words=RAGGED, label=classes(3, 1))
def couples_ragged_pad(words, label):
    h, _ = S.sequence_lod.sequence_pad(rows(words), paddle.full([1], 0.5, "float32"))
    return F.cross_entropy(static.nn.fc(h.mean(1), 3), label)


@net("Samples see each other: rows of texts of unequal length averaged", "coupled", words=RAGGED, label=classes(3, 1))
def couples_ragged_mean(words, label):
    x = rows(words)
    return F.cross_entropy(static.nn.fc(S.sequence_lod.sequence_pool(x, "sum"), 3), label) + paddle.square(x).mean()
