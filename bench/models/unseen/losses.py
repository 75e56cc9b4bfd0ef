"""Losses that no corpus has (../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import BATCH, bits, classes, lengths, net, numbers, op

X, Y, LABEL, ONE = numbers(6), numbers(4), classes(4, 1), classes(4)


def hidden(x, out=4):
    return nn.Linear(8, out)(F.tanh(nn.Linear(x.shape[-1], 8)(x)))


@net("Sigmoid focal loss, mean", x=X, y=bits(4))
def sigmoid_focal(x, y):
    return F.sigmoid_focal_loss(hidden(x), y, reduction="mean", gamma=1.5, alpha=0.3)


@net("Sigmoid focal loss, sum", x=X, y=bits(4), rate=0.01)
def sigmoid_focal_sum(x, y):
    return F.sigmoid_focal_loss(hidden(x), y, reduction="sum")


@net("Triplets with a distance of one's own, swapped", a=X, p=X, n=X)
def triplet_with_distance(a, p, n):
    project = nn.Linear(6, 4)
    distance = lambda u, v: 1.0 - F.cosine_similarity(u, v)  # noqa: E731
    return F.triplet_margin_with_distance_loss(
        project(a), project(p), project(n), distance_function=distance, margin=0.5, swap=True
    )


@net("Triplets, p = 1, swapped, sum", a=X, p=X, n=X, rate=0.01)
def triplet_swapped(a, p, n):
    project = nn.Linear(6, 4)
    return F.triplet_margin_loss(project(a), project(p), project(n), p=1, swap=True, reduction="sum")


@net("CTC, sum, normalised by times", x=numbers(6, 4), y=("int32", (2,), lambda r, n: r.integers(1, 5, (n, 2))), n=lengths(4, 6), rate=0.01)
def ctc_sum(x, y, n):
    scores = nn.Linear(4, 5)(x).transpose([1, 0, 2])
    m = paddle.full_like(n, 2)
    return F.ctc_loss(scores, y, n, m, blank=0, reduction="sum", norm_by_times=True)


@net("Hinge embedding", x=X, y=bits(4))
def hinge_embedding(x, y):
    return F.hinge_embedding_loss(hidden(x), y * 2 - 1, margin=0.7)


@net("Multi-label soft margin with weights", x=X, y=bits(4))
def multi_label_margin(x, y):
    return F.multi_label_soft_margin_loss(hidden(x), y, weight=paddle.assign(np.array([1.0, 0.5, 2.0, 1.5], "float32")))


@net("Cosine embedding", a=X, b=X, y=bits())
def cosine_embedding(a, b, y):
    project = nn.Linear(6, 4)
    return F.cosine_embedding_loss(project(a), project(b), y * 2 - 1, margin=0.2)


@net("Margin cross entropy: angles with three margins", x=X, y=ONE)
def margin_softmax(x, y):
    w = paddle.create_parameter([6, 4], "float32", name="classes")
    cosine = paddle.matmul(F.normalize(x), F.normalize(w, axis=0))
    angle = paddle.acos(paddle.clip(cosine, -0.99, 0.99))
    target = F.one_hot(y, 4)
    return F.cross_entropy((paddle.cos(angle + 0.1 * target) - 0.05 * target) * 8.0, y)


@net("N-pair loss of the library, which asks for the extent of the batch", "refused", a=X, p=X, y=ONE)
def npair_of_library(a, p, y):
    project = nn.Linear(6, 4)
    return F.npair_loss(project(a), project(p), paddle.reshape(y, [BATCH]).astype("float32"), l2_reg=0.01)


@net("Poisson likelihood, full", x=X, y=("float32", (4,), lambda r, n: r.integers(0, 5, (n, 4))))
def poisson(x, y):
    return F.poisson_nll_loss(hidden(x), y, log_input=True, full=True)


@net("Poisson likelihood of rates", x=X, y=("float32", (4,), lambda r, n: r.integers(0, 5, (n, 4))))
def poisson_rates(x, y):
    return F.poisson_nll_loss(F.softplus(hidden(x)), y, log_input=False, epsilon=1e-4)


@net("Gaussian likelihood with a variance of its own", x=X, y=Y)
def gaussian(x, y):
    return F.gaussian_nll_loss(hidden(x), y, F.softplus(hidden(x)) + 0.1, full=True)


@net("Dice loss of the library", image=numbers(3, 4, 4), y=classes(3, 4, 4, 1))
def dice(image, y):
    scores = F.softmax(nn.Conv2D(3, 3, 3, padding=1)(image).transpose([0, 2, 3, 1]))
    return F.dice_loss(scores, y)


@net("Soft margin", x=X, y=bits(4))
def soft_margin(x, y):
    return F.soft_margin_loss(hidden(x), y * 2 - 1)


@net("Multi margin, p = 2, weights: the framework subtracts a row from a column", "parts", x=X, y=ONE)
def multi_margin(x, y):
    w = paddle.assign(np.array([1.0, 0.5, 2.0, 1.5], "float32"))
    return F.multi_margin_loss(hidden(x), y, p=2, margin=0.8, weight=w)


@net("Huber with a threshold, sum over a sample", x=X, y=Y)
def huber(x, y):
    return F.smooth_l1_loss(hidden(x), y, reduction="none", delta=0.4).sum(1).mean()


@net("Binary cross entropy of scores, weights of positives", x=X, y=bits(4), w=bits(4))
def weighted_bce(x, y, w):
    p = paddle.assign(np.array([1.0, 0.5, 2.0, 1.5], "float32"))
    return F.binary_cross_entropy_with_logits(hidden(x), y, weight=w + 0.5, pos_weight=p)


@net("Binary cross entropy of probabilities, weights", x=X, y=bits(4), w=bits(4))
def probabilities_bce(x, y, w):
    return F.binary_cross_entropy(F.sigmoid(hidden(x)), y, weight=w + 0.5)


@net("Divergence, sum", x=X, y=Y, rate=0.01)
def divergence_sum(x, y):
    return F.kl_div(F.log_softmax(hidden(x)), F.softmax(y), reduction="sum")


@net("Divergence, mean over elements", x=X, y=Y)
def divergence_mean(x, y):
    return F.kl_div(F.log_softmax(hidden(x)), F.softmax(y), reduction="mean")


@net("Segmentation: classes along dim 1, divided by the weights of its labels", "parts", image=numbers(3, 4, 4), y=classes(3, 4, 4))
def segmentation(image, y):
    w = paddle.assign(np.array([1.0, 0.5, 2.0], "float32"))
    return F.cross_entropy(nn.Conv2D(3, 3, 3, padding=1)(image), y, weight=w, axis=1)


@net("Segmentation: sum, ignored pixels", image=numbers(3, 4, 4), y=classes(3, 4, 4), rate=0.01)
def segmentation_sum(image, y):
    return F.cross_entropy(nn.Conv2D(3, 3, 3, padding=1)(image), y, axis=1, ignore_index=2, reduction="sum")


@net("Soft labels with weights of classes, divided by their sum", "parts", x=X, y=Y)
def soft_weighted(x, y):
    w = paddle.assign(np.array([1.0, 0.5, 2.0, 1.5], "float32"))
    return F.cross_entropy(hidden(x), F.softmax(y), soft_label=True, weight=w)


@net("Cross entropy of probabilities", x=X, y=LABEL)
def without_softmax(x, y):
    return F.cross_entropy(F.softmax(hidden(x)), y, use_softmax=False)


@net("Labels smoothed", x=X, y=LABEL)
def smoothed(x, y):
    return F.cross_entropy(hidden(x), F.label_smooth(F.one_hot(y.squeeze(1), 4), epsilon=0.2), soft_label=True)


@net("Softmax that is used again: confidence penalty", x=X, y=LABEL)
def confidence(x, y):
    loss, p = F.softmax_with_cross_entropy(hidden(x), y, return_softmax=True)
    return loss.mean() + 0.1 * (p * paddle.log(p)).sum(1).mean()


@net("Transducer loss", x=numbers(4, 3, 5), y=("int32", (2,), lambda r, n: r.integers(1, 5, (n, 2))))
def transducer(x, y):
    n = y[:, 0] * 0 + 4
    m = y[:, 0] * 0 + 2
    return F.rnnt_loss(nn.Linear(5, 5)(x), y, n, m, blank=0, fastemit_lambda=0.0)


@net(
    "Classes in a tree of one's own",
    x=X,
    y=LABEL,
    table=("int64", (2,), lambda r, n: np.tile([[0, 1]], (n, 1))),
    code=("int64", (2,), lambda r, n: r.integers(0, 2, (n, 2))),
)
def own_tree(x, y, table, code):
    layer = nn.HSigmoidLoss(6, 4, is_custom=True)
    return layer(nn.Linear(6, 6)(x), y, path_table=table, path_code=code).mean()


@net("Likelihood over images, sum", image=numbers(3, 4, 4), y=classes(3, 4, 4), rate=0.01)
def likelihood_of_images(image, y):
    return F.nll_loss(F.log_softmax(nn.Conv2D(3, 3, 3, padding=1)(image), axis=1), y, reduction="sum")


@net("Rank loss of pairs by margin, sum", a=X, b=X, y=bits(1), rate=0.01)
def ranking_sum(a, b, y):
    score = nn.Linear(6, 1)
    return F.margin_ranking_loss(score(a), score(b), y * 2 - 1, margin=0.3, reduction="sum")


@net("RankNet", a=X, b=X, y=bits(1))
def rank_net(a, b, y):
    score = nn.Linear(6, 1)
    return op("rank_loss", {"Label": y, "Left": score(a), "Right": score(b)}, {"Out": "float32"})["Out"].mean()


@net("Hinge loss op", x=X, y=bits(1))
def hinge_op(x, y):
    return op("hinge_loss", {"Logits": hidden(x, 1), "Labels": y}, {"Loss": "float32"})["Loss"].mean()


@net("Huber loss op", x=X, y=numbers(1))
def huber_op(x, y):
    return op("huber_loss", {"X": hidden(x, 1), "Y": y}, {"Out": "float32", "Residual": "float32"}, {"delta": 0.3})["Out"].mean()


@net("Bayesian personalised ranking op", x=X, y=LABEL)
def bpr_op(x, y):
    return op("bpr_loss", {"X": F.softmax(hidden(x)), "Label": y}, {"Y": "float32"})["Y"].mean()


@net("Teacher and student", x=X, y=numbers(1))
def teacher_student(x, y):
    return op("teacher_student_sigmoid_loss", {"X": hidden(x, 1), "Label": y}, {"Y": "float32"})["Y"].mean()


@net("Supervised contrastive: masks of equal labels", verdict="parts", x=X, y=ONE)
def supervised_contrastive(x, y):
    z = F.normalize(hidden(x))
    scores = paddle.matmul(z, z, transpose_y=True) / 0.5
    same = paddle.equal(y.unsqueeze(0), y.unsqueeze(1)).astype("float32")
    logits = F.log_softmax(scores, axis=1)
    return -((same * logits).sum(1) / same.sum(1)).mean()


@net("Mean discrepancy of kernels between two domains", verdict="parts", a=X, b=X)
def discrepancy(a, b):
    project = nn.Linear(6, 4)
    u, v = project(a), project(b)

    def kernel(s, t):
        d = paddle.square(s.unsqueeze(1) - t.unsqueeze(0)).sum(2)
        return paddle.exp(-0.5 * d).mean()

    return kernel(u, u) + kernel(v, v) - 2 * kernel(u, v)


@net("Correlations of two views (redundancy reduction)", verdict="refused", a=X, b=X, rate=0.01)
def barlow(a, b):
    project = nn.Linear(6, 4)
    u, v = project(a), project(b)
    u = (u - u.mean(0)) / (u.std(0) + 0.1)
    v = (v - v.mean(0)) / (v.std(0) + 0.1)
    c = paddle.matmul(u, v, transpose_x=True) / 8.0
    return paddle.square(c - paddle.eye(4)).sum()


@net("Variance and covariance of features", verdict="parts", a=X, b=X)
def variance_covariance(a, b):
    project = nn.Linear(6, 4)
    u, v = project(a), project(b)
    spread = F.relu(1.0 - paddle.sqrt(u.var(0) + 1e-2)).mean()
    return F.mse_loss(u, v) + spread


@net("Contrast with a memory bank that is fed", x=X, bank=("float32", (5, 4), lambda r, n: r.integers(-4, 5, (n, 5, 4)) / 4))
def memory_bank(x, bank):
    q = F.normalize(hidden(x))
    positive = (q * bank[:, 0]).sum(1, keepdim=True)
    negative = paddle.bmm(bank[:, 1:], q.unsqueeze(2)).squeeze(2)
    return F.cross_entropy(paddle.concat([positive, negative], 1) / 0.2, paddle.zeros_like(positive).astype("int64"))


@net("Gradient penalty: a gradient of a gradient", x=X, y=Y, rate=0.05)
def gradient_penalty(x, y):
    x.stop_gradient = False
    score = hidden(x, 1)
    (g,) = paddle.static.gradients([score], [x])
    return (score.mean()) + 10 * paddle.square(paddle.sqrt(paddle.square(g).sum(1) + 1e-4) - 1.0).mean()


@net("Tversky loss of each sample", image=numbers(3, 4, 4), y=bits(1, 4, 4))
def tversky(image, y):
    p = F.sigmoid(nn.Conv2D(3, 1, 3, padding=1)(image))
    tp = (p * y).sum([1, 2, 3])
    fp = (p * (1 - y)).sum([1, 2, 3])
    fn = ((1 - p) * y).sum([1, 2, 3])
    return (1 - (tp + 1) / (tp + 0.3 * fp + 0.7 * fn + 1)).mean()


@net("Lovasz hinge: sorted errors of each sample", x=X, y=bits(4))
def lovasz(x, y):
    s = hidden(x)
    error = 1 - s * (2 * y - 1)
    order = paddle.argsort(error, axis=1, descending=True)
    error = paddle.take_along_axis(error, order, 1)
    truth = paddle.take_along_axis(y, order, 1)
    total = truth.sum(1, keepdim=True)
    both = total - paddle.cumsum(truth, 1)
    union = total + paddle.cumsum(1 - truth, 1)
    jaccard = 1 - both / union
    weight = paddle.concat([jaccard[:, :1], jaccard[:, 1:] - jaccard[:, :-1]], 1)
    weight.stop_gradient = True
    return (F.relu(error) * weight).sum(1).mean()


@net("Generalised overlap of boxes", x=X, y=("float32", (4,), lambda r, n: np.concatenate([r.integers(0, 4, (n, 2)) / 8, r.integers(4, 8, (n, 2)) / 8], 1)))
def giou(x, y):
    p = F.sigmoid(hidden(x))
    a, b = p[:, :2] * 0.5, p[:, 2:] * 0.5 + 0.5
    low, high = paddle.maximum(a, y[:, :2]), paddle.minimum(b, y[:, 2:])
    side = F.relu(high - low)
    common = side.prod(1)
    area = (b - a).prod(1) + (y[:, 2:] - y[:, :2]).prod(1) - common
    hull = (paddle.maximum(b, y[:, 2:]) - paddle.minimum(a, y[:, :2])).prod(1)
    return (1 - common / area + (hull - area) / hull).mean()


@net("Structural similarity of images", image=numbers(1, 6, 6), goal=numbers(1, 6, 6))
def ssim(image, goal):
    x = nn.Conv2D(1, 1, 3, padding=1)(image)
    pool = lambda t: F.avg_pool2d(t, 3, 1)  # noqa: E731
    mx, my = pool(x), pool(goal)
    vx, vy, c = pool(x * x) - mx * mx, pool(goal * goal) - my * my, pool(x * goal) - mx * my
    s = ((2 * mx * my + 0.01) * (2 * c + 0.03)) / ((mx**2 + my**2 + 0.01) * (vx + vy + 0.03))
    return (1 - s).mean()


@net("Total variation", image=numbers(2, 4, 4), goal=numbers(2, 4, 4))
def total_variation(image, goal):
    x = nn.Conv2D(2, 2, 3, padding=1)(image)
    return F.mse_loss(x, goal) + 0.1 * (paddle.abs(x[:, :, 1:] - x[:, :, :-1]).mean() + paddle.abs(paddle.diff(x, axis=3)).mean())


@net("Pinball loss of three quantiles", x=X, y=numbers(1))
def pinball(x, y):
    q = paddle.assign(np.array([[0.1, 0.5, 0.9]], "float32"))
    d = y - hidden(x, 3)
    return paddle.maximum(q * d, (q - 1) * d).mean()


@net("Logarithm of cosh", x=X, y=Y)
def log_cosh(x, y):
    d = hidden(x) - y
    return (d + F.softplus(-2.0 * d) - float(np.log(2.0))).mean()


@net("Evidence: Dirichlet by digamma and lgamma", x=X, y=LABEL)
def evidence(x, y):
    a = F.softplus(hidden(x)) + 1
    s = a.sum(1, keepdim=True)
    hot = F.one_hot(y.squeeze(1), 4)
    fit = (hot * (paddle.digamma(s) - paddle.digamma(a))).sum(1)
    return (fit + 0.1 * (paddle.lgamma(s).squeeze(1) - paddle.lgamma(a).sum(1))).mean()


@net("Mixture density", x=X, y=numbers(1))
def mixture(x, y):
    pi, mu, sigma = F.log_softmax(hidden(x, 3)), hidden(x, 3), F.softplus(hidden(x, 3)) + 0.1
    return -paddle.logsumexp(pi - 0.5 * paddle.square((y - mu) / sigma) - paddle.log(sigma), axis=1).mean()


@net("Variational encoder, noise fed", x=X, e=numbers(3))
def variational(x, e):
    h = F.tanh(nn.Linear(6, 8)(x))
    mu, v = nn.Linear(8, 3)(h), nn.Linear(8, 3)(h)
    z = mu + e * paddle.exp(0.5 * v)
    kl = -0.5 * (1 + v - mu**2 - paddle.exp(v)).sum(1)
    return F.mse_loss(hidden(z, 6), x) + 0.1 * kl.mean()


@net("Ordinal regression: cumulated probabilities", x=X, y=bits(3))
def ordinal(x, y):
    cuts = paddle.cumsum(F.softplus(paddle.create_parameter([3], "float32", name="cuts")), 0)
    return F.binary_cross_entropy_with_logits(cuts - hidden(x, 1), y)


@net("Lists in order: likelihood of a permutation", x=numbers(5, 3), y=numbers(5))
def list_mle(x, y):
    s = nn.Linear(3, 1)(x).squeeze(2)
    s = paddle.take_along_axis(s, paddle.argsort(y, axis=1, descending=True), 1)
    total = paddle.flip(paddle.logcumsumexp(paddle.flip(s, [1]), 1), [1])
    return (total - s).sum(1).mean()


@net("Pairs within a list, weighted by what a swap gains", x=numbers(5, 3), y=("float32", (5,), lambda r, n: r.integers(0, 4, (n, 5))))
def lambda_rank(x, y):
    s = nn.Linear(3, 1)(x).squeeze(2)
    difference = s.unsqueeze(2) - s.unsqueeze(1)
    gain = paddle.abs(y.unsqueeze(2) - y.unsqueeze(1))
    better = (y.unsqueeze(2) > y.unsqueeze(1)).astype("float32")
    return (F.softplus(-difference) * gain * better).sum([1, 2]).mean()


@net("Partial likelihood of survival over the batch", verdict="parts", x=X, time=numbers(), event=bits())
def survival(x, time, event):
    risk = hidden(x, 1).squeeze(1)
    order = paddle.argsort(time, descending=True)
    risk, event = paddle.gather(risk, order), paddle.gather(event, order)
    return -((risk - paddle.logcumsumexp(risk, 0)) * event).mean()


@net("Cross entropy weighted by samples, divided by the sum of weights", verdict="parts", x=X, y=LABEL, w=bits(1))
def sample_weights(x, y, w):
    w = w + 0.5
    return (F.cross_entropy(hidden(x), y, reduction="none") * w).sum() / w.sum()


@net("Masked mean over tokens, divided by those of the batch", verdict="parts", words=classes(12, 5), next=classes(12, 5, 1), mask=bits(5, 1))
def masked_tokens(words, next, mask):
    loss = F.cross_entropy(nn.Linear(6, 12)(nn.Embedding(12, 6)(words)), next, reduction="none")
    return (loss * mask).sum() / (mask.sum() + 1.0)


@net("Center loss by hand: centres are parameters", x=X, y=ONE)
def centres(x, y):
    c = paddle.create_parameter([4, 4], "float32", name="centres")
    h = hidden(x)
    return F.cross_entropy(h, y) + 0.1 * paddle.square(h - paddle.gather(c, y)).sum(1).mean()


@net("Squared error of logs and relative error", x=X, y=("float32", (1,), lambda r, n: r.integers(1, 9, (n, 1)) / 4))
def log_error(x, y):
    p = F.softplus(hidden(x, 1))
    return F.mse_loss(paddle.log1p(p), paddle.log1p(y)) + (paddle.abs(p - y) / y).mean() * 0.1


@net("Root of a mean square over the batch", verdict="parts", x=X, y=Y)
def root_mean_square(x, y):
    return paddle.sqrt(F.mse_loss(hidden(x), y))
