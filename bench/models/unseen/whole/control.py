"""Control flow, element types, writes and cuts as users' programs have them (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers

X, LABEL = numbers(6), classes(3, 1)


def score(x, label):
    return F.cross_entropy(nn.Linear(x.shape[1], 3)(x), label)


def counter():
    step = static.create_global_var([1], 0, "int64", persistable=True, name="global_step")
    paddle.increment(step, 1)
    return step


@net("Warm-up of a weight in the loss: a counter, a branch", x=X, label=LABEL, steps=6)
def weight_of_step(x, label):
    step = counter()
    w = static.nn.cond(step < 3, lambda: paddle.cast(step, "float32") / 3.0, lambda: paddle.full([1], 1.0, "float32"))
    h = nn.Linear(6, 6)(x)
    return score(F.relu(h), label) + 0.1 * w * F.mse_loss(h, x)


@net("Phases by case and switch_case of the counter", x=X, label=LABEL, steps=6)
def phases_of_training(x, label):
    step = counter()
    layers = [nn.Linear(6, 6) for _ in range(3)]
    h = static.nn.switch_case(step % 3, {0: lambda: F.relu(layers[0](x)), 1: lambda: F.tanh(layers[1](x))}, default=lambda: F.sigmoid(layers[2](x)))
    g = static.nn.case([(step < 2, lambda: h * 0.5), (step < 4, lambda: h)], default=lambda: h * 2.0)
    return score(g, label)


@net("A loop of a fixed number of turns over a state (while_loop), weights shared", "parts", sites=["while"], equal=True, x=X, label=LABEL, steps=5)
def turns_of_a_loop(x, label):
    layer = nn.Linear(6, 6)
    i = paddle.zeros([1], "int64")
    _, h = static.nn.while_loop(lambda i, h: i < 3, lambda i, h: [i + 1, F.tanh(layer(h)) + x], [i, x])
    return score(h, label)


@net("Words of its own guess in place of every second one", words=classes(12, 4), next=classes(12, 4, 1), steps=5)
def scheduled_feeding(words, next):
    table, layer = nn.Embedding(12, 8), nn.Linear(8, 12)
    h = F.tanh(table(words))
    guess = paddle.argmax(layer(h), -1)
    mixed = table(paddle.where(paddle.cast(paddle.assign(np.array([[1, 0, 1, 0]])), "bool").expand_as(guess), words, guess))
    return F.cross_entropy(layer(mixed), next)


@net("Doubles throughout", x=("float64", (6,), lambda r, n: r.integers(-16, 17, (n, 6)) / 16.0), y=("float64", (2,), lambda r, n: r.integers(-16, 17, (n, 2)) / 16.0), steps=5)
def doubles(x, y):
    paddle.set_default_dtype("float64")
    try:
        h = nn.LayerNorm(8)(F.elu(nn.Linear(6, 8)(x)))
        return F.mse_loss(nn.Linear(8, 2)(h), y)
    finally:
        paddle.set_default_dtype("float32")


@net("Masks of bool, bytes of pixels, labels of int32, indices of int16", image=("uint8", (8, 8), lambda r, n: r.integers(0, 256, (n, 8, 8))), mask=("bool", (8,), lambda r, n: r.integers(0, 2, (n, 8)) > 0), label=("int32", (1,), lambda r, n: r.integers(0, 3, (n, 1))), steps=5)
def element_types(image, mask, label):
    x = paddle.cast(image, "float32") / 255.0 - 0.5
    x = paddle.where(paddle.unsqueeze(mask, -1), x, paddle.zeros_like(x))
    keep = paddle.logical_not(mask).astype("float32").sum(1, keepdim=True)
    return score(paddle.concat([F.relu(nn.Linear(8, 4)(x)).mean(1), keep], 1), label.astype("int64"))


@net("Cuts with strides, from behind, written into", x=numbers(4, 6), label=LABEL, steps=5)
def cuts_and_writes(x, label):
    h = nn.Linear(6, 6)(x)
    y = paddle.zeros_like(h)
    y = static.setitem(y, (slice(None), slice(0, 4, 2)), h[:, 1::2])
    y = static.setitem(y, (slice(None), -1), h[:, 0] * 2.0)
    z = paddle.strided_slice(h, [1, 2], [3, 5], [-5, 0], [-1, -2])
    return score(paddle.concat([y.flatten(1), z.flatten(1), h[:, ::-1, ::3].flatten(1), h[..., -1]], 1), label)


@net("Shapes with 0 and -1, squeezed, tiled, expanded by the run's shape", x=numbers(1, 4, 6), label=LABEL, steps=5)
def shapes_of_the_run(x, label):
    b = paddle.shape(x)[0]
    h = paddle.reshape(x, [0, 0, -1, 3]).squeeze(1)
    h = paddle.reshape(h, [b, 2, -1])
    token = paddle.create_parameter([1, 1, 12], "float32", name="token")
    h = paddle.concat([paddle.tile(token, [b, 1, 1]), h, paddle.expand(token, [b, 2, 12])], 1)
    h = paddle.reshape(h, paddle.concat([b.unsqueeze(0) if b.ndim == 0 else b, paddle.full([1], -1, "int32")]))
    h.stop_gradient = False
    return score(paddle.reshape(h, [-1, 60]), label)


@net("Labels smoothed, some ignored, classes weighted, samples weighted", "parts", x=X, label=("int64", (1,), lambda r, n: r.integers(-1, 3, (n, 1))), weight=("float32", (1,), lambda r, n: r.integers(1, 5, (n, 1)) / np.float32(4)), steps=5)
def weights_of_all_kinds(x, label, weight):
    s = nn.Linear(8, 3)(F.relu(nn.Linear(6, 8)(x)))
    soft = F.label_smooth(F.one_hot(paddle.clip(label, 0).squeeze(1), 3), epsilon=0.1)
    a = F.cross_entropy(s, soft, soft_label=True, reduction="none") * weight
    b = F.cross_entropy(s, label.squeeze(1), weight=paddle.assign(np.array([1.0, 0.5, 2.0], "float32")), ignore_index=-1)
    return paddle.mean(a) + b


@net("Dropout in both modes, by axis, of features and of attention, seeds of the program", "drawn", image=numbers(2, 4, 4), label=LABEL, steps=5)
def dropouts(image, label):
    h = F.relu(nn.Conv2D(2, 4, 3, padding=1)(image))
    h = F.dropout2d(h, 0.25)
    h = F.dropout(h.flatten(2), 0.5, axis=1, mode="downscale_in_infer")
    h = F.dropout(h, 0.3, training=False, mode="downscale_in_infer")
    h = h.flatten(1)
    return score(F.dropout(h, 0.2), label)


@net("Arrays written and read over time", fresh=True, x=numbers(4, 6), label=LABEL, steps=5)
def arrays_of_time(x, label):
    cell, state = nn.GRUCell(6, 6), paddle.zeros_like(x[:, 0])
    array = paddle.tensor.create_array("float32")
    for t in range(4):
        out, state = cell(x[:, t], state)
        paddle.tensor.array_write(out, paddle.full([1], t, "int64"), array)
    read = [paddle.tensor.array_read(array, paddle.full([1], t, "int64")) for t in (0, 3)]
    return score(paddle.concat(read, 1), label)


@net("Conditions on the loss itself: a step whose loss is large counts less", "parts", sites=["cond"], x=X, label=LABEL, steps=6)
def loss_in_a_branch(x, label):
    loss = score(F.relu(nn.Linear(6, 8)(x)), label)
    return static.nn.cond(loss > 1.05, lambda: loss * 0.5, lambda: loss * 1.0)


@net("A mean teacher whose weights are moved by assign inside the program", x=X, label=LABEL, steps=6)
def moved_teacher(x, label):
    student, teacher = nn.Linear(6, 3), nn.Linear(6, 3)
    a, b = student(x), teacher(x)
    loss = F.cross_entropy(a, label) + 0.5 * F.mse_loss(F.softmax(a), F.softmax(b).detach())
    for s, t in zip((student.weight, student.bias), (teacher.weight, teacher.bias)):
        paddle.assign(t * 0.9 + s.detach() * 0.1, t)
    return loss


@net("Second derivatives: an inner step of the weights, then the loss of the outer (MAML)", "coupled", x=X, y=numbers(1), u=X, v=numbers(1), steps=5)
def inner_step(x, y, u, v):
    w, b = paddle.create_parameter([6, 1], "float32", name="w"), paddle.create_parameter([1], "float32", name="b")
    inner = paddle.mean(paddle.square(F.tanh(paddle.matmul(x, w)) + b - y))
    gw, gb = static.gradients([inner], [w, b])
    return paddle.mean(paddle.square(F.tanh(paddle.matmul(u, w - 0.1 * gw)) + (b - 0.1 * gb) - v))


@net("Penalty of the gradient at points between, within each sample", x=X, z=X, mix=bits(1), steps=5)
def between_points(x, z, mix):
    a, b = nn.Linear(6, 8), nn.Linear(8, 1)
    critic = lambda t: b(F.tanh(a(t)))  # noqa: E731
    point = mix * x + (1 - mix) * z
    point.stop_gradient = False
    (g,) = static.gradients([critic(point)], [point])
    n = paddle.sqrt(paddle.sum(paddle.square(g), 1) + 1e-8)
    return paddle.mean(critic(z) - critic(x)) + 10.0 * paddle.mean(paddle.square(n - 1.0))


@net("Logical, bitwise and integer arithmetic that makes features", a=classes(16, 4), b=classes(16, 4), label=LABEL, steps=5)
def integer_features(a, b, label):
    parts = [paddle.bitwise_and(a, b), paddle.bitwise_xor(a, b), a // 3, a % 5, paddle.maximum(a, b), paddle.floor_divide(a * b + 7, b + 1)]
    flags = [paddle.logical_or(a > b, a == 3), paddle.logical_xor(a > 7, b > 7), paddle.not_equal(a, b), paddle.isfinite(a.astype("float32"))]
    x = paddle.concat([one.astype("float32") / 16.0 for one in parts] + [one.astype("float32") for one in flags], 1)
    return score(F.relu(nn.Linear(40, 8)(x)), label)


@net("A batch that is fixed in the program", "coupled", x=X, label=LABEL, steps=5)
def fixed_batch(x, label):
    h = paddle.reshape(nn.Linear(6, 6)(x), [8, 2, 3])
    return F.cross_entropy(nn.Linear(6, 3)(paddle.reshape(h, [8, 6])), label)
