"""Writes the corpus `parallel26`: nets built of the framework's parallel layers (fleet.meta_parallel), as every rank of a group saves them, beside the same
net on one device, trained by the framework.

    parallel.py FOLDER

Run by hand with paddlepaddle 2.6.2 on CPU; no group has to exist for a static program to be built. A case is one of test/corpus (README.md there) of the net
on one device, and holds `rank<r>.pdmodel` besides, the programs of the ranks of a group of two, and `rank.startup.pdmodel`, which is the same for both.
"""

import os
import sys
from types import SimpleNamespace

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.distributed.collective import Group
from paddle.distributed.fleet.layers.mpu import mp_layers as mpu

import generate
from net import Net, classes, numbers

DEGREE = 2
RING = 3  # not the default of the attribute


class Layers:
    """The framework's parallel layers on one rank of a group; on one device those that they are instead."""

    def __init__(self, group):
        self.group = group

    def column(self, rows, columns, gather=False):
        return mpu.ColumnParallelLinear(rows, columns, has_bias=True, gather_output=gather, mp_group=self.group)

    def row(self, rows, columns, parts=True):
        return mpu.RowParallelLinear(rows, columns, has_bias=True, input_is_parallel=parts, mp_group=self.group)

    def embedding(self, count, width):
        return mpu.VocabParallelEmbedding(count, width, mp_group=self.group)

    def cross_entropy(self, logits, label):
        if self.group.nranks > 1:
            return mpu.ParallelCrossEntropy(mp_group=self.group)(logits, label)
        return F.softmax_with_cross_entropy(logits, label)

    @property
    def parts(self):
        return self.group.nranks


def parallel_mlp(layers, x, y):
    """A pair of layers, one whose columns are put together, one that takes whole rows apart."""
    h = layers.row(32, 16)(F.gelu(layers.column(16, 32)(x))) + x
    h = F.tanh(layers.column(16, 24, gather=True)(nn.LayerNorm(16)(h)))
    return F.mse_loss(layers.row(24, 4, parts=False)(h), y)


def parallel_gpt(layers, tokens, target):
    """One block of a transformer, vocabulary and heads on the ranks."""
    width, heads, length, words = 16, 4, 6, 20
    h = layers.embedding(words, width)(tokens)
    n = nn.LayerNorm(width)(h)
    own = heads // layers.parts
    q, k, v = (
        paddle.transpose(paddle.reshape(layers.column(width, width)(n), [0, 0, own, width // heads]), [0, 2, 1, 3])
        for _ in range(3)
    )
    a = F.softmax(paddle.matmul(q, k, transpose_y=True) * (heads / width) ** 0.5)
    a = paddle.reshape(paddle.transpose(paddle.matmul(a, v), [0, 2, 1, 3]), [0, 0, width // layers.parts])
    h = h + layers.row(width, width)(a)
    n = nn.LayerNorm(width)(h)
    h = h + layers.row(2 * width, width)(F.gelu(layers.column(width, 2 * width)(n)))
    logits = layers.column(width, words)(nn.LayerNorm(width)(h))
    return paddle.mean(layers.cross_entropy(logits, target))


CASES = {
    parallel_mlp: ({"x": numbers(16), "y": numbers(4)}, "sgd"),
    parallel_gpt: ({"tokens": classes(20, 6), "target": classes(20, 6, 1)}, paddle.optimizer.SGD),
}


def net(build, rank, degree):
    feeds, optimizer = CASES[build]
    group = Group(rank, RING, list(range(degree)))

    def on_rank(*values):
        env = SimpleNamespace(rank=rank, world_size=degree)
        paddle.base.framework._name_scope = paddle.base.framework.NameScope()  # as in a process of its own
        paddle.distributed.collective._get_global_env = lambda: env
        return build(Layers(group), *values)

    return Net(build.__name__, build.__doc__, on_rank, feeds, optimizer=optimizer)


def main(folder):
    paddle.enable_static()
    paddle.distributed.fleet.fleet._user_defined_strategy = paddle.distributed.fleet.DistributedStrategy()
    for build in CASES:
        out = os.path.join(folder, build.__name__)
        generate.write_case(net(build, 0, 1), out)
        for rank in range(DEGREE):
            program, startup, _ = generate.build(net(build, rank, DEGREE))
            generate.write_program(os.path.join(out, "rank%d.pdmodel" % rank), program)
            generate.write_program(os.path.join(out, "rank.startup.pdmodel"), startup)


if __name__ == "__main__":
    main(*sys.argv[1:])
