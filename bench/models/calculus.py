"""Gradients of gradients, linear algebra of each sample, scans, gradients that are stopped (net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import net, numbers


@net(
    "Critic with a penalty on the norm of its gradient: convolution, leaky relu",
    rate=0.01,
    real=numbers(1, 6, 6),
    fake=numbers(1, 6, 6),
)
def gradient_penalty(real, fake):
    convolution, last = nn.Conv2D(1, 3, 3, padding=1), nn.Linear(108, 1)

    def score(x):
        return last(F.leaky_relu(convolution(x), 0.2).reshape([-1, 108]))

    real.stop_gradient = False
    s = score(real)
    slope = static.gradients([s], [real])[0]
    norm = paddle.sqrt(paddle.square(slope).sum([1, 2, 3]) + 1e-6)
    return (score(fake) - s).mean() + 10.0 * paddle.square(norm - 1).mean()


@net("Slopes of several functions, kept small", x=numbers(6), y=numbers(1))
def smooth_functions(x, y):
    f, g = nn.Linear(6, 4), nn.Linear(4, 1)
    x.stop_gradient = False
    h = F.sigmoid(f(x)) + F.elu(f(x)) + F.relu(f(x)) - paddle.log(paddle.square(f(x)) + 1.0)
    h = h / (paddle.square(f(x)) + 2.0) + paddle.rsqrt(paddle.square(f(x)) + 1.0)
    s = g(h)
    slope = static.gradients([s], [x])[0]
    return F.mse_loss(s, y) + 0.1 * paddle.square(slope).mean()


@net("A system of equations for each sample, its matrix factorised and inverted", a=numbers(3, 3), y=numbers(3))
def equations(a, y):
    m = nn.Linear(3, 3)(a)
    s = paddle.bmm(m, m.transpose([0, 2, 1])) + 2 * paddle.eye(3)
    x = paddle.linalg.solve(s, nn.Linear(3, 3)(y).unsqueeze(2)).squeeze(2)
    factor = paddle.linalg.cholesky(s)
    diagonal = paddle.diagonal(factor, axis1=1, axis2=2).log().sum(1).mean()
    inverse = paddle.linalg.inv(s).sum([1, 2]).mean()
    return paddle.square(x - y).mean() + 0.01 * (diagonal + inverse) + 0.001 * paddle.linalg.det(s).mean()


@net("Scans and turns of the rows of a sample", x=numbers(4, 6), y=numbers())
def scans(x, y):
    h = F.tanh(nn.Linear(6, 6)(x)) * 0.2
    h = h + paddle.flip(h, [1, 2]) * 0.5 + paddle.roll(h, 1, 2)
    h = paddle.cumsum(h, axis=2)
    low = paddle.tril(paddle.bmm(h, h.transpose([0, 2, 1])))
    d = paddle.diagonal(low, axis1=1, axis2=2).sum(1)
    steps = paddle.strided_slice(h, [1, 2], [3, 5], [0, -7], [-2, -2]).sum([1, 2])
    e = paddle.logcumsumexp(h, axis=1).mean([1, 2])
    q = paddle.cumprod(F.sigmoid(h), dim=2).sum([1, 2])
    return F.mse_loss(0.1 * (d + steps + e + q), y)


@net("A teacher that is not trained, and a quantised student", x=numbers(6), z=numbers(6))
def stopped_teacher(x, z):
    first, second = nn.Linear(6, 4), nn.Linear(4, 4)
    teacher = static.create_parameter([6, 4], "float32", name="teacher")
    teacher.stop_gradient = True
    a = F.normalize(second(first(x)))
    b = F.normalize(paddle.matmul(z, teacher)).detach()
    a = a + (paddle.round(a * 4) / 4 - a).detach()
    return (2 - 2 * (a * b).sum(1)).mean()
