"""What a net is, and how its feeds are drawn. The nets themselves: images.py, sequences.py,
losses.py, detection.py, kinds.py, training.py.

A net is a function that builds a program and returns the loss. `verdict` is what `verify` must say
of a data-parallel job of it: `whole` (equal to the step on the whole batch), `parts` (verified, but
the ops in `sites` couple the samples of a batch).
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
    optimizer: object = "sgd"  # "adam", or a function of the rate
    rate: float = 0.1
    equal_shares: bool = False  # sites, and yet the losses of one device: all shares are alike
    steps: int = STEPS
    rounded: bool = True  # initial values to multiples of 1/32, which pack well
    # An executor for every step: the framework adds what a step has left in arrays of gradients to
    # those of the next one.
    fresh: bool = False


NETS = []


def net(
    description,
    verdict="whole",
    sites=(),
    optimizer="sgd",
    rate=0.1,
    equal=False,
    steps=STEPS,
    rounded=True,
    fresh=False,
    **feeds,
):
    def add(build):
        NETS.append(
            Net(
                build.__name__,
                description,
                build,
                feeds,
                verdict,
                list(sites),
                optimizer,
                rate,
                equal,
                steps,
                rounded,
                fresh,
            )
        )
        return build

    return add


def numbers(*shape):
    return (
        "float32",
        shape,
        lambda random, n: random.integers(-16, 17, (n,) + shape) / np.float32(16),
    )


def classes(count, *shape):
    return ("int64", shape, lambda random, n: random.integers(0, count, (n,) + shape))


def lengths(least, most):
    return ("int64", (), lambda random, n: random.integers(least, most + 1, (n,)))


@dataclass
class Ragged:
    """One sequence of `least` to `most` rows per sample, or as long as those of feed `like`."""

    count: int
    shape: tuple
    rows: tuple = (1, 1)
    like: str = None

    def draw(self, random, held):
        """Rows and their offsets; `held`: the offsets of the feeds that were drawn before."""
        offsets = held[self.like] if self.like else [0]
        if not self.like:
            offsets = [0] + np.cumsum(random.integers(self.rows[0], self.rows[1] + 1, BATCH)).tolist()
        return random.integers(0, self.count, (offsets[-1],) + self.shape), offsets


def ragged(count, *shape, rows=(1, 1), like=None):
    return ("int64", shape, Ragged(count, shape, rows, like))


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
