"""Losses that hold derivatives by the input: equations of physics, energies and forces (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.static import gradients

from net import net, numbers

T, Y = numbers(1), numbers(1)


def derivative(u, by):
    (found,) = gradients([u], [by])
    return found


@net("Burgers' equation: second derivatives of two layers of tanh, a third one trains", t=T, x=numbers(1), y=Y, steps=5)
def burgers(t, x, y):
    t.stop_gradient = x.stop_gradient = False
    h = paddle.concat([t, x], 1)
    for _ in range(2):
        h = F.tanh(nn.Linear(h.shape[1], 8)(h))
    u = nn.Linear(8, 1)(h)
    u_x = derivative(u, x)
    return paddle.mean(paddle.square(derivative(u, t) + u * u_x - 0.01 * derivative(u_x, x))) + F.mse_loss(u, y)


@net("Waves: sines and cosines, second derivatives", t=T, x=numbers(1), y=Y, steps=5)
def sine_waves(t, x, y):
    t.stop_gradient = x.stop_gradient = False
    h = nn.Linear(2, 8)(paddle.concat([t, x], 1))
    u = nn.Linear(16, 1)(paddle.concat([paddle.sin(h), paddle.cos(h)], 1))
    wave = derivative(derivative(u, t), t) - 0.5 * derivative(derivative(u, x), x)
    return 0.1 * paddle.mean(paddle.square(wave)) + F.mse_loss(u, y)


@net("Swish by hand in an equation of second order", t=T, y=Y, steps=5)
def swish_equation(t, y):
    t.stop_gradient = False
    h = nn.Linear(1, 8)(t)
    u = nn.Linear(8, 1)(h * F.sigmoid(h))
    first = derivative(u, t)
    return paddle.mean(paddle.square(derivative(first, t) + 0.3 * first + u - y))


@net("Energies and forces: softplus, celu and absolute values", x=numbers(3), y=Y, f=numbers(3), steps=5)
def soft_forces(x, y, f):
    x.stop_gradient = False
    e = nn.Linear(8, 1)(F.softplus(nn.Linear(3, 8)(x)) + F.celu(nn.Linear(3, 8)(x)) + 0.1 * paddle.abs(nn.Linear(3, 8)(x)))
    return F.mse_loss(e, y) + F.mse_loss(-derivative(e, x), f)
