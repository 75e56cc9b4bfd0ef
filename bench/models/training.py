"""Optimizers, clips, decays, and dynamic loss scaling (net.py): one small net trained in several ways."""

import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import classes, net, numbers

optimizers = paddle.optimizer


def perceptron(x, y):
    h = nn.LayerNorm(8)(F.gelu(nn.Linear(8, 8)(x)))
    return F.cross_entropy(nn.Linear(8, 4)(h), y)


def trained(name, description, optimizer, rate=0.05, build=perceptron):
    def net_of(x, y):
        return build(x, y)

    net_of.__name__ = name
    net(description, optimizer=optimizer, rate=rate, x=numbers(8), y=classes(4, 1))(net_of)


def scaled(base):
    """Loss scaling: what is infinite is found, the scale moves. (What the framework's processors
    cannot do in half floats stays in float32.)"""

    def make(rate):
        return static.amp.decorate(base(rate), init_loss_scaling=128.0, use_dynamic_loss_scaling=True)

    return make


def half_storage(x, y):
    h = F.gelu(nn.Linear(8, 8)(x)).astype("float16").astype("float32")
    return F.cross_entropy(nn.Linear(8, 4)(h), y)


trained("scaled_momentum", "Momentum after loss scaling", scaled(lambda r: optimizers.Momentum(r, 0.9)))
trained("scaled_adam", "Adam after loss scaling, told of infinite gradients", scaled(optimizers.Adam))
trained("half_storage", "Activations kept in float16", optimizers.SGD, build=half_storage)
trained(
    "adamw_clipped",
    "AdamW, decay of weights only, gradients clipped by their common norm",
    lambda r: optimizers.AdamW(
        r,
        weight_decay=0.1,
        apply_decay_param_fun=lambda name: "w" in name,
        grad_clip=nn.ClipGradByGlobalNorm(0.1),
    ),
)
trained(
    "centered_rms",
    "RMSProp, centered, with momentum and decay",
    lambda r: optimizers.RMSProp(r, rho=0.9, centered=True, momentum=0.3, weight_decay=0.01),
)
trained(
    "adagrad_clipped",
    "Adagrad, each gradient clipped by its norm",
    lambda r: optimizers.Adagrad(r, grad_clip=nn.ClipGradByNorm(0.1)),
)
