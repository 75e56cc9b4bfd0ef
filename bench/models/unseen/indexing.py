"""Indices, orders, accumulation, products and matrices that no corpus has (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn, static

from net import bits, classes, lengths, net, numbers

X, LABEL, Y = numbers(5, 4), classes(3, 1), numbers(1)


def lift(x):
    return nn.Linear(x.shape[-1], 4)(x)


def flat(x, label):
    x = x.flatten(1)
    return F.cross_entropy(nn.Linear(x.shape[1], 3)(x), label)


def indices(*values):
    return paddle.assign(np.array(values, "int64"))


@net("Gather along a dim: the framework's gradient is that of the first sample", "parts", x=X, label=LABEL)
def gather_axis(x, label):
    return flat(paddle.gather(lift(x), indices(3, 0, 3), axis=1), label)


@net("Gather by coordinates of each sample", "unknown", x=X, at=classes(4, 3, 1), label=LABEL)
def gather_nd(x, at, label):
    batch = paddle.arange(8).reshape([8, 1, 1]).expand([8, 3, 1])
    return flat(paddle.gather_nd(lift(x), paddle.concat([batch, at], 2)), label)


@net("Index sample and index select", x=X, at=classes(5, 3), label=LABEL)
def index_sample(x, at, label):
    x = lift(x)
    a = paddle.index_sample(x[:, :, 0], at)
    return flat(paddle.concat([a, paddle.index_select(x, indices(0, 2, 2), axis=2).flatten(1)], 1), label)


@net("Index add, put and fill along a dim", x=X, label=LABEL)
def index_add(x, label):
    x = lift(x)
    y = paddle.index_add(x, indices(0, 2), 1, x[:, 3:])
    return flat(paddle.index_add(y, indices(1, 1), 2, y[:, :, 2:]), label)


@net("Scatter rows into zeros", x=X, label=LABEL)
def scatter_rows(x, label):
    w = paddle.create_parameter([4, 4], "float32", name="rows")
    table = paddle.scatter(paddle.zeros([6, 4]), indices(1, 5, 2, 0), w)
    table = paddle.scatter_nd_add(table, indices([1], [1], [4]), w[:3])
    return flat(paddle.matmul(x, table, transpose_y=True), label)


@net("Taken and put along a dim", x=X, at=classes(5, 2, 4), label=LABEL)
def put_along(x, at, label):
    x = lift(x)
    y = paddle.take_along_axis(x, at, 1)
    return flat(paddle.put_along_axis(x, at, y, 1, reduce="add"), label)


@net("Put by multiplication", x=X, label=LABEL)
def put_multiply(x, label):
    x = lift(x)
    at = paddle.zeros_like(x[:, :1]).astype("int64") + 2
    return flat(paddle.put_along_axis(x, at, x[:, :1] + 2.0, 1, reduce="multiply"), label)


@net("Values under a mask, the rest filled", x=X, m=bits(5, 4), label=LABEL)
def masked_fill(x, m, label):
    x = lift(x)
    return flat(paddle.where(m > 0.5, x, paddle.full_like(x, 0.25)) + paddle.where(m > 0.5, x * x, x), label)


@net("Selected under a mask, summed", x=X, m=bits(5, 4), y=Y, rate=0.01)
def masked_select(x, m, y):
    return paddle.square(paddle.masked_select(lift(x), m > 0.5)).sum() + F.mse_loss(nn.Linear(20, 1)(x.flatten(1)), y, reduction="sum")


@net("The best along the middle dim, smallest, unsorted", x=X, label=LABEL)
def topk_forms(x, label):
    x = lift(x)
    a, _ = paddle.topk(x, 2, axis=1)
    b, _ = paddle.topk(x, 2, axis=1, largest=False)
    return flat(a * 2 + b, label)


@net("Sorted, descending, by several dims", x=X, label=LABEL)
def sorts(x, label):
    x = lift(x)
    return flat(paddle.sort(x, 1, descending=True) + paddle.sort(x, 2) + paddle.take_along_axis(x, paddle.argsort(x, 1), 1), label)


@net("Median, quantile, mode", x=X, label=LABEL)
def medians(x, label):
    x = lift(x)
    a = paddle.median(x, axis=1)
    b, _ = paddle.mode(x, axis=1)
    return flat(a + b, label)


@net("Quantiles", x=X, label=LABEL)
def quantiles(x, label):
    return flat(paddle.quantile(lift(x), [0.25, 0.5], axis=1).transpose([1, 0, 2]).astype("float32"), label)


@net("Sums along dims: cumulative, exclusive of none, of logarithms", x=X, label=LABEL)
def cumulative(x, label):
    x = lift(x)
    a = paddle.cumsum(x, 2) + paddle.cumprod(x, 1) + paddle.logcumsumexp(x, axis=1)
    return flat(a, label)


@net("Cumulative extremes", x=X, label=LABEL)
def cumulative_extremes(x, label):
    x = lift(x)
    return flat(paddle.cummax(x, 1)[0] - paddle.cummin(x, 2)[0], label)


@net("Differences with what stands before and after", x=X, label=LABEL)
def differences(x, label):
    x = lift(x)
    return flat(paddle.diff(x, n=2, axis=1, prepend=x[:, :1]), label)


@net("Repeated, tiled, broadcast", x=X, label=LABEL)
def repeated(x, label):
    x = lift(x)
    a = paddle.repeat_interleave(x, 2, axis=1)
    b = paddle.tile(x, [1, 2, 1])
    return flat(a * b + paddle.expand_as(x[:, :1], a), label)


@net("Repeated by counts of a tensor", x=X, label=LABEL)
def repeated_by_counts(x, label):
    return flat(paddle.repeat_interleave(lift(x), indices(1, 2, 0, 1, 3), axis=1), label)


@net("Triangles and diagonals", x=numbers(4, 4), label=LABEL)
def diagonals(x, label):
    x = lift(x)
    d = paddle.diagonal(x, axis1=1, axis2=2)
    return flat(paddle.tril(x) - paddle.triu(x, 1) + F.diag_embed(d * d), label)


@net("Unbound, split unevenly, chunked, stacked", x=X, label=LABEL)
def split_forms(x, label):
    x = lift(x)
    a, b = paddle.split(x, [2, -1], axis=1)
    c = paddle.unbind(x, 2)
    d = paddle.stack([c[0], c[2]], axis=1)
    return flat(paddle.concat([a.flatten(1), (b * b).flatten(1), d.flatten(1)], 1), label)


@net("Slices with steps, backwards, set", x=X, label=LABEL)
def slices(x, label):
    x = lift(x)
    y = paddle.strided_slice(x, [1, 2], [4, 0], [0, 4], [-2, 2])
    z = x * 1.0
    z = static.setitem(z, (slice(None), slice(1, 3)), x[:, :2] * x[:, 2:4])
    return flat(paddle.concat([y.flatten(1), z.flatten(1)], 1), label)


@net("A slice set to a number", x=X, label=LABEL)
def set_number(x, label):
    x = lift(x) * 1.0
    x = static.setitem(x, (slice(None), 0), 0.5)
    return flat(x * x, label)


@net("One of several inputs for each sample", a=numbers(4), b=numbers(4), which=("int32", (1,), lambda r, n: r.integers(0, 2, (n, 1))), label=LABEL)
def multiplexed(a, b, which, label):
    return flat(paddle.multiplex([lift(a), lift(b)], which), label)


@net("Embedding with padding and a shared table", words=classes(12, 5), label=LABEL)
def padded_embedding(words, label):
    table = nn.Embedding(12, 4, padding_idx=0)
    return flat(table(words).sum(1) * table(words[:, :2]).mean(1), label)


@net("Sparse embedding", words=classes(12, 5), label=LABEL)
def sparse_embedding(words, label):
    return flat(nn.Embedding(12, 4, sparse=True)(words).mean(1), label)


@net("Embedding of hashed crosses of features", a=classes(12), b=classes(12), y=bits(1))
def crossed(a, b, y):
    wide = nn.Embedding(30, 1)(paddle.mod(a * 12 + b, paddle.full_like(a, 30)))
    deep = nn.Linear(8, 1)(F.relu(paddle.concat([nn.Embedding(12, 4)(a), nn.Embedding(12, 4)(b)], 1)))
    return F.binary_cross_entropy_with_logits(wide + deep, y)


@net("Factorisation machine", ids=classes(20, 4), y=bits(1))
def factorisation(ids, y):
    v = nn.Embedding(20, 4)(ids)
    second = 0.5 * (paddle.square(v.sum(1)) - paddle.square(v).sum(1)).sum(1, keepdim=True)
    return F.log_loss(F.sigmoid(nn.Embedding(20, 1)(ids).sum(1) + second), y).mean()


@net("Deep and cross", x=numbers(6), y=bits(1))
def deep_cross(x, y):
    h = x
    for _ in range(2):
        w = paddle.create_parameter([6, 1], "float32")
        h = x * paddle.matmul(h, w) + h
    return F.binary_cross_entropy_with_logits(nn.Linear(6, 1)(h), y)


@net("Compressed interactions", ids=classes(20, 4), y=bits(1))
def compressed_interactions(ids, y):
    v = nn.Embedding(20, 4)(ids)
    z = paddle.einsum("bfd,bgd->bfgd", v, v).reshape([-1, 16, 4])
    h = F.relu(nn.Conv1D(16, 3, 1)(z)).sum(2)
    return F.binary_cross_entropy_with_logits(nn.Linear(3, 1)(h), y)


@net("Interest in what was bought: attention by target", past=classes(20, 5), item=classes(20), y=bits(1))
def interest(past, item, y):
    table = nn.Embedding(20, 4)
    h, t = table(past), table(item).unsqueeze(1)
    t = t.expand([-1, 5, -1])
    w = nn.Linear(8, 1)(F.sigmoid(nn.Linear(16, 8)(paddle.concat([h, t, h - t, h * t], 2))))
    return F.binary_cross_entropy_with_logits(nn.Linear(4, 1)((w * h).sum(1)), y)


@net("Experts of several tasks", x=numbers(6), y=bits(2))
def task_experts(x, y):
    e = paddle.stack([F.relu(nn.Linear(6, 4)(x)) for _ in range(3)], 1)
    out = [nn.Linear(4, 1)(paddle.matmul(F.softmax(nn.Linear(6, 3)(x)).unsqueeze(1), e).squeeze(1)) for _ in range(2)]
    a, b = F.sigmoid(out[0]), F.sigmoid(out[1])
    return F.binary_cross_entropy(a, y[:, :1]) + F.binary_cross_entropy(a * b, y[:, :1] * y[:, 1:])


@net("Nodes of a graph: messages along constant edges", x=numbers(5, 4), label=LABEL)
def messages(x, label):
    x = lift(x).transpose([1, 0, 2])
    y = paddle.geometric.send_u_recv(x, indices(0, 1, 2, 3), indices(1, 2, 1, 0), "sum", out_size=5)
    return flat((x + y).transpose([1, 0, 2]), label)


@net("Graph attention over a dense adjacency", a=bits(5, 5), x=X, label=LABEL)
def graph_attention(a, x, label):
    h = lift(x)
    e = F.leaky_relu(nn.Linear(4, 1)(h) + nn.Linear(4, 1)(h).transpose([0, 2, 1]), 0.2)
    e = paddle.where(a + paddle.eye(5) > 0, e, paddle.full_like(e, -1e9))
    return flat(F.elu(paddle.matmul(F.softmax(e), h)), label)


@net("Segments of samples, summed: the batch is one list", verdict="unknown", x=numbers(4), y=numbers(1))
def segments(x, y):
    s = paddle.geometric.segment_mean(lift(x), indices(0, 0, 1, 1, 2, 2, 3, 3))
    t = paddle.geometric.segment_sum(y, indices(0, 0, 1, 1, 2, 2, 3, 3))
    return F.mse_loss(nn.Linear(4, 1)(s), t)


@net("Buckets of numbers, embedded", x=numbers(3), label=LABEL)
def buckets(x, label):
    edges = paddle.assign(np.array([-0.5, 0.0, 0.5], "float32"))
    return flat(nn.Embedding(4, 4)(paddle.searchsorted(edges, x)), label)


@net("Buckets by the library, right ends", x=numbers(3), label=LABEL)
def bucketized(x, label):
    edges = paddle.assign(np.array([-0.5, 0.0, 0.5], "float32"))
    return flat(nn.Embedding(4, 4)(paddle.bucketize(x, edges, right=True)), label)


@net("Einsum: three operands, ellipses, outer products", x=X, y=numbers(5, 3), label=LABEL)
def einsums(x, y, label):
    w = paddle.create_parameter([4, 3, 2], "float32", name="w")
    a = paddle.einsum("bnd,bne,def->bnf", x, y, w)
    b = paddle.einsum("...nd,...ne->...de", lift(x), y)
    return flat(paddle.concat([a.flatten(1), b.flatten(1)], 1), label)


@net("Einsum: a trace by a repeated label", x=numbers(4, 4), label=LABEL)
def einsum_trace(x, label):
    x = lift(x)
    return flat(paddle.concat([paddle.einsum("bii->b", x).unsqueeze(1), paddle.einsum("bii->bi", x)], 1), label)


@net("Einsum: reordered and summed", x=numbers(3, 4, 4), label=LABEL)
def einsum_sums(x, label):
    x = lift(x)
    return flat(paddle.einsum("bijk->bki", x), label)


@net("Products: tensordot, inner, outer, of several matrices", x=X, y=numbers(4), label=LABEL)
def products(x, y, label):
    w = paddle.create_parameter([4, 3], "float32", name="w")
    u = paddle.create_parameter([3, 2], "float32", name="u")
    a = paddle.matmul(x, w)
    b = paddle.inner(y, paddle.transpose(w, [1, 0]))
    c = paddle.linalg.multi_dot([y, w, u])
    return flat(paddle.concat([a.flatten(1), b, c], 1), label)


@net("Matrices: addmm, mv, kron", x=numbers(4), y=numbers(3), label=LABEL)
def matrix_forms(x, y, label):
    w = paddle.create_parameter([4, 3], "float32", name="w")
    v = paddle.create_parameter([4], "float32", name="v")
    a = paddle.addmm(y, x, w, beta=0.5, alpha=2.0)
    b = paddle.mv(x, v).unsqueeze(1)
    return flat(paddle.concat([a, b, paddle.kron(a, paddle.ones([1, 2]))], 1), label)


@net("Cross products", x=numbers(3), y=numbers(3), label=LABEL)
def crosses(x, y, label):
    return flat(paddle.cross(nn.Linear(3, 3)(x), nn.Linear(3, 3)(y), axis=1), label)


@net("Bilinear product", x=numbers(4), y=numbers(3), label=LABEL)
def bilinear(x, y, label):
    return flat(nn.Bilinear(4, 3, 5)(x, y), label)


@net("Norms and distances", x=X, y=X, label=LABEL)
def distances(x, y, label):
    x, y = lift(x), lift(y)
    a = paddle.norm(x, p=2, axis=2) + paddle.norm(x, p=1, axis=2) + paddle.norm(x, p=np.inf, axis=2) + paddle.norm(x, p=3, axis=2)
    b = paddle.norm(x, p="fro", axis=[1, 2]).unsqueeze(1)
    c = F.pairwise_distance(x, y)
    return flat(paddle.concat([a, b, c, F.cosine_similarity(x, y, axis=2)], 1), label)


@net("Distances between the points of a sample", x=X, y=numbers(3, 4), label=LABEL)
def point_distances(x, y, label):
    return flat(paddle.cdist(lift(x), lift(y)), label)


def positive(x):
    return paddle.matmul(x, x, transpose_y=True) + 4 * paddle.eye(4)


@net("Cholesky and its solution", x=numbers(4, 4), y=numbers(4, 1), label=LABEL)
def cholesky(x, y, label):
    c = paddle.linalg.cholesky(positive(lift(x)))
    return flat(paddle.linalg.triangular_solve(c, nn.Linear(1, 1)(y), upper=False), label)


@net("Linear systems solved", x=numbers(4, 4), y=numbers(4, 2), label=LABEL)
def solves(x, y, label):
    return flat(paddle.linalg.solve(positive(lift(x)), nn.Linear(2, 2)(y)), label)


@net("Inverse, determinant, logarithm of it, which the framework declares with other extents than it has", "unknown", x=numbers(4, 4), label=LABEL)
def inverses(x, label):
    a = positive(lift(x))
    d = paddle.linalg.slogdet(a)[1]
    return flat(paddle.concat([paddle.linalg.inv(a).reshape([-1, 16]), paddle.log(paddle.linalg.det(a)).reshape([-1, 1]), d.reshape([-1, 1])], 1), label)


@net("Powers of matrices, trace", x=numbers(4, 4), label=LABEL)
def powers(x, label):
    x = lift(x) * 0.5
    return flat(paddle.concat([paddle.linalg.matrix_power(x, 3).flatten(1), paddle.trace(x, axis1=1, axis2=2).unsqueeze(1)], 1), label)


@net("Eigenvalues of symmetric matrices: the framework's gradient is that of the first sample", "parts", x=numbers(4, 4), label=LABEL)
def eigenvalues(x, label):
    values, _ = paddle.linalg.eigh(positive(lift(x)) + paddle.diag(paddle.arange(4, dtype="float32")))
    return flat(values, label)


@net("Singular values", x=numbers(4, 3), label=LABEL)
def singular_values(x, label):
    _, s, _ = paddle.linalg.svd(lift(x)[:, :3])
    return flat(s, label)


@net("Functions of numbers, first part", x=numbers(6), label=LABEL)
def functions(x, label):
    x = nn.Linear(6, 6)(x)
    p = F.sigmoid(x) * 0.8 + 0.1
    a = paddle.erf(x) + paddle.atan2(x, p) + paddle.log2(p) + paddle.log10(p) + paddle.expm1(x) + paddle.asinh(x) + paddle.acosh(p + 1) + paddle.atanh(p)
    return flat(a + paddle.logit(p) + paddle.erfinv(p) + paddle.lgamma(p) + paddle.digamma(p), label)


@net("Functions of numbers, second part", x=numbers(6), y=numbers(6), label=LABEL)
def functions_2(x, y, label):
    x = nn.Linear(6, 6)(x)
    a = paddle.fmax(x, y) + paddle.fmin(x, y) + paddle.lerp(x, y, 0.3) + paddle.logaddexp(x, y) + paddle.heaviside(x, y)
    a = a + paddle.trunc(x) + paddle.frac(x) + paddle.rad2deg(x) * 0.01 + paddle.deg2rad(x) + paddle.nan_to_num(x) + paddle.neg(x)
    return flat(a + paddle.sinh(x) + paddle.cosh(x) + paddle.tan(x * 0.5) + paddle.sign(x) + paddle.reciprocal(paddle.exp(x)), label)


@net("Functions of numbers, third part", x=numbers(6), label=LABEL)
def functions_3(x, label):
    x = nn.Linear(6, 6)(x)
    a = paddle.i0(x) + paddle.i1(x) + paddle.i0e(x) + paddle.i1e(x) + paddle.polygamma(F.softplus(x) + 1, 1)
    return flat(a + paddle.remainder(x, paddle.full_like(x, 0.5)) + paddle.floor_divide(x, paddle.full_like(x, 0.5)) + paddle.nextafter(x, x).detach(), label)


@net("Reductions: variance, standard deviation, products, any, counts", x=X, label=LABEL)
def reductions(x, label):
    x = lift(x)
    a = x.var(1) + x.std(1, unbiased=False) + x.prod(1) + paddle.nansum(x, 1) + paddle.nanmean(x, 1) + paddle.logsumexp(x, 1)
    b = (x > 0).any(1).astype("float32") + (x > 0).all(1).astype("float32") + paddle.count_nonzero(x, 1).astype("float32")
    return flat(a + b, label)


@net("Clipped to the norm of each row, and to a range that is computed", x=numbers(6), label=LABEL)
def renormed(x, label):
    x = nn.Linear(6, 6)(x)
    return flat(paddle.renorm(x, 2.0, 0, 1.0) + paddle.clip(x, -0.5, 0.5), label)


@net("Dims moved, swapped, turned", x=numbers(2, 3, 4), label=LABEL)
def moved_dims(x, label):
    x = lift(x)
    return flat(paddle.moveaxis(x, 1, 3) + paddle.transpose(x, [0, 2, 3, 1]) + paddle.unsqueeze(x, [1]).squeeze(1).transpose([0, 2, 3, 1]), label)


@net("Covariance of the features of a sample", x=X, label=LABEL)
def covariance(x, label):
    x = lift(x)
    x = x - x.mean(1, keepdim=True)
    return flat(paddle.matmul(x, x, transpose_x=True) / 4.0, label)


@net("Complex numbers: rotated, absolute values, angles", x=numbers(6), label=LABEL)
def complex_numbers(x, label):
    a, b = nn.Linear(6, 6)(x), nn.Linear(6, 6)(x)
    z = paddle.complex(a, b) * paddle.complex(b, a)
    return flat(paddle.abs(z) + paddle.real(z) + paddle.imag(paddle.conj(z)), label)


@net("Unique words of the batch", verdict="parts", words=classes(12, 5), label=LABEL)
def unique_words(words, label):
    found, inverse = paddle.unique(words, return_inverse=True)
    h = paddle.gather(nn.Embedding(12, 4)(found), inverse).reshape([-1, 5, 4])
    return flat(h, label)


@net("Counts of words of each sample by one hot", words=classes(12, 5), label=LABEL)
def bag_of_words(words, label):
    return flat(F.one_hot(words, 12).sum(1), label)


@net("Tensors broadcast together, then multiplied", x=X, label=LABEL)
def broadcast_together(x, label):
    a, b = paddle.broadcast_tensors([lift(x).unsqueeze(2), lift(x.mean(2, keepdim=True)).unsqueeze(1)])
    return flat(a * b, label)


@net("Values put at constant places of a weight, repeated ones added", x=numbers(4), label=LABEL)
def put_places(x, label):
    w, value = paddle.create_parameter([4, 6], "float32", name="w"), paddle.create_parameter([3], "float32", name="value")
    w = paddle.index_put(w, (indices(0, 3, 0), indices(1, -1, 1)), value, accumulate=True)
    w = paddle.index_put(w, (indices(1, 2),), paddle.create_parameter([1, 6], "float32", name="row"))
    return flat(paddle.matmul(x, w), label)


@net("Frames of a signal, windowed, and added again", x=numbers(3, 16), label=LABEL)
def framed_signal(x, label):
    frames = paddle.signal.frame(nn.Linear(16, 16)(x), 6, 2)
    window = paddle.assign(np.hanning(6).astype("float32").reshape([6, 1]))
    return flat(paddle.signal.overlap_add(F.tanh(frames * window), 3), label)


@net("A chain of products of weights", x=numbers(6), label=LABEL)
def chain_of_products(x, label):
    a, b, c = (paddle.create_parameter([m, n], "float32", name=name) for name, m, n in (("a", 6, 2), ("b", 2, 7), ("c", 7, 4)))
    return flat(paddle.linalg.multi_dot([nn.Linear(6, 6)(x), a, b, c]), label)


@net("Orthonormal weights by a factorisation, and a system given by a factor", x=numbers(4), y=numbers(3, 3), label=LABEL)
def factorised_weights(x, y, label):
    q, r = paddle.linalg.qr(paddle.create_parameter([4, 3], "float32", name="w"))
    y = nn.Linear(3, 3)(y)
    square = paddle.matmul(y, y, transpose_y=True) + paddle.eye(3) * 2.0
    z = paddle.linalg.cholesky_solve(paddle.matmul(x, q).unsqueeze(2), paddle.linalg.cholesky(square))
    return flat(z, label) + 0.01 * paddle.square(r).mean()


@net("Medians of the features of a sample, and of each feature over its positions", x=X, label=LABEL)
def medians(x, label):
    x = lift(x)
    return flat(paddle.concat([paddle.nanmedian(x, 2), paddle.nanmedian(x, [1, 2], keepdim=True).squeeze(2)], 1), label)


@net("Ranks of matrices of a sample, and powers as frequencies", x=numbers(3, 3), label=LABEL)
def ranks(x, label):
    rank = paddle.cast(paddle.linalg.matrix_rank(x, tol=0.5), "float32").unsqueeze(1)
    return flat(nn.Linear(9, 5)(x.flatten(1)) * paddle.logspace(0, 1, 5, 2.0) + rank, label)


@net("Counts of all words of the batch weigh the loss", verdict="refuted", words=classes(12, 5), label=LABEL)
def batch_counts(words, label):
    counts = paddle.cast(paddle.bincount(words.flatten(), minlength=12), "float32")
    return flat(nn.Embedding(12, 4)(words) * paddle.gather(counts, words.flatten()).reshape([-1, 5, 1]) / 40.0, label)
