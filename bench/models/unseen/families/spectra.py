"""Spectra, complex numbers, singular values, extents of 1 (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import net, numbers
from unseen.families.shared import LABEL, score


@net("Weights with leading extents of 1 before and behind the batch", x=numbers(2, 5, 4), label=LABEL)
def leading_ones(x, label):
    w = paddle.create_parameter([1, 2, 4, 3], "float32", name="w")
    mix = paddle.assign(np.tril(np.ones((1, 1, 5, 5))).astype("float32"))
    return score(paddle.matmul(mix, paddle.matmul(x, w)), label)


@net("Magnitudes and phases of spectra", x=numbers(8), y=numbers(5))
def phases(x, y):
    f = paddle.fft.rfft(nn.Linear(8, 8)(x))
    return F.mse_loss(paddle.abs(f) * 0.3 + paddle.angle(f + 0.5) * 0.1, y)


@net("Operator of Fourier modes: complex weights", x=numbers(2, 8), y=numbers(2, 8))
def fourier_operator(x, y):
    w = paddle.complex(*(paddle.create_parameter([2, 2, 5], "float32", name=n) for n in ("real", "imaginary")))
    return F.mse_loss(paddle.fft.irfft((paddle.fft.rfft(x).unsqueeze(2) * w).sum(1), n=8), y)


@net("Turned by complex numbers of a table", x=numbers(4), label=LABEL)
def complex_rotation(x, label):
    c = paddle.as_complex(nn.Linear(4, 4)(x).reshape([-1, 2, 2]))
    k = paddle.as_complex(paddle.assign(np.array([[0.6, 0.8], [0.8, -0.6]], "float32")))
    return score(paddle.as_real(c * k), label)


@net("Pairs below the diagonal, listed", x=numbers(4, 4), label=LABEL)
def listed_pairs(x, label):
    at = paddle.tril_indices(4, 4, -1)
    return score(paddle.index_select(nn.Linear(4, 4)(x).flatten(1), at[0] * 4 + at[1], axis=1), label)


@net("Full singular vectors, squared; their first columns", x=numbers(3, 5), label=LABEL)
def full_singular_vectors(x, label):
    u, s, _ = paddle.linalg.svd(nn.Linear(5, 5)(x)[:, :, :4], full_matrices=True)
    return score(paddle.concat([s, (u * u).flatten(1)], 1), label)


@net("Singular values squared, put together again", x=numbers(4, 3), label=LABEL)
def singular_filter(x, label):
    u, s, v = paddle.linalg.svd(nn.Linear(3, 3)(x))
    return score(paddle.matmul(u * (s * s).unsqueeze(1), v), label)


@net("Least squares by a pseudo-inverse", x=numbers(4, 3), y=numbers(4, 1), label=LABEL)
def least_squares(x, y, label):
    return score(paddle.matmul(paddle.linalg.pinv(nn.Linear(3, 3)(x)), y), label)


@net("Eigenvalues without vectors: the framework's gradient mixes the samples", "parts", x=numbers(3, 3), label=LABEL)
def bare_eigenvalues(x, label):
    h = nn.Linear(3, 3)(x)
    h = paddle.matmul(h, h, transpose_y=True) + paddle.diag(paddle.arange(3, dtype="float32"))
    return score(paddle.linalg.eigvalsh(h), label)


@net("Put by extremes and by means", x=numbers(5, 4), label=LABEL)
def put_extremes(x, label):
    h = nn.Linear(4, 4)(x)
    at = paddle.zeros_like(h[:, :2]).astype("int64") + 1
    a, b = (paddle.put_along_axis(h, at, h[:, :2] * 2.0, 1, reduce=how) for how in ("amax", "mean"))
    return score(a + b, label)


@net("Samples see each other: slices of features renormed over the batch", "coupled", x=numbers(3, 4), label=LABEL)
def renormed_features(x, label):
    return score(paddle.renorm(nn.Linear(4, 4)(x) * 3, 1.0, 2, 1.5), label)
