"""Training as users set it up: accumulated, averaged, scaled, scheduled by several things at once (../../net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn, static
from paddle.optimizer import lr

from net import bits, classes, net, numbers

O, DECAY = paddle.optimizer, paddle.regularizer
X, LABEL = numbers(8), classes(4, 1)


def trained(name, description, optimizer, rate=0.05, verdict="whole", **more):
    def build(x, y):
        h = F.relu(nn.Linear(8, 12)(x))
        h = nn.LayerNorm(12)(nn.Linear(12, 12)(h) + h)
        return F.cross_entropy(nn.Linear(12, 4)(h), y)

    build.__name__ = name
    net(description, verdict, optimizer=optimizer, rate=rate, steps=7, x=X, y=LABEL, **more)(build)


class After:
    """An optimizer, and what is done behind its update"""

    def __init__(self, base, after):
        self.base, self.after = base, after

    def minimize(self, loss):
        self.base.minimize(loss)
        self.after(loss)


def averaged(rate):
    def after(loss):
        static.ExponentialMovingAverage(0.9).update()

    return After(O.Adam(rate, grad_clip=nn.ClipGradByGlobalNorm(0.5)), after)


def clipped_weights(rate):
    def after(loss):
        for p in loss.block.program.all_parameters():
            paddle.assign(paddle.clip(p, -0.2, 0.2), p)

    return After(O.RMSProp(rate, epsilon=1e-4), after)


trained("ema_with_steps", "Adam, common norm, averages", averaged)
trained("clipped_weights", "RMSProp, weights clipped behind the update (Wasserstein)", clipped_weights, 0.01)
trained("warm_restarts", "Cosine with warm restarts", lambda r: O.Adam(lr.CosineAnnealingWarmRestarts(r, 2, 2)) if hasattr(lr, "CosineAnnealingWarmRestarts") else O.Adam(lr.CosineAnnealingDecay(r, 3)))
trained("linear_rate", "Rate by a line", lambda r: O.SGD(lr.LinearLR(r, 4)) if hasattr(lr, "LinearLR") else O.SGD(lr.PolynomialDecay(r, 4)))
trained("nadam", "NAdam", lambda r: O.NAdam(r) if hasattr(O, "NAdam") else O.Adam(r, epsilon=1e-4))
trained("radam", "RAdam", lambda r: O.RAdam(r) if hasattr(O, "RAdam") else O.Adam(r, beta2=0.9))
trained("rprop", "Rprop", lambda r: O.Rprop(r, learning_rate_range=(1e-4, 0.2)) if hasattr(O, "Rprop") else O.SGD(r))
trained("asgd", "ASGD", lambda r: O.ASGD(r, batch_num=2) if hasattr(O, "ASGD") else O.SGD(r))
trained("dgc_ready", "Momentum, per parameter clip by norm, decay by absolute values", lambda r: O.Momentum(r, 0.9, grad_clip=nn.ClipGradByNorm(0.1), weight_decay=DECAY.L1Decay(1e-3)))
trained("merged_adamw", "AdamW, gradients merged over three steps", lambda r: paddle.incubate.optimizer.GradientMergeOptimizer(O.AdamW(r), 3, False))
trained("recomputed", "Momentum, activations computed again", lambda r: Recomputed(O.Momentum(r, 0.9)))
trained("lookahead_adam", "Look ahead over Adam with a clip", lambda r: paddle.incubate.LookAhead(O.Adam(r, grad_clip=nn.ClipGradByGlobalNorm(0.3)), 0.8, 3))
trained("model_average", "Averages of models", lambda r: After(O.SGD(r), lambda loss: paddle.incubate.ModelAverage(0.15, loss.block.program.all_parameters(), 2, 4)))
trained("amp_o1", "Mixed precision of the framework in bfloat16, black list of one's own", lambda r: static.amp.bf16.decorate_bf16(O.Adam(r), amp_lists=static.amp.bf16.AutoMixedPrecisionListsBF16(custom_fp32_list={"layer_norm", "matmul_v2", "elementwise_add", "relu"})))


class Recomputed:
    def __init__(self, base):
        self.base = base

    def minimize(self, loss):
        from paddle.incubate.optimizer import RecomputeOptimizer

        optimizer = RecomputeOptimizer(self.base)
        optimizer._set_checkpoints([v for v in loss.block.vars.values() if v.name.startswith("relu") or v.name.startswith("layer_norm_0.tmp_2")])
        optimizer.minimize(loss)


@net("Two losses whose gradients are taken apart and added by hand, the update by apply_gradients", x=X, y=LABEL, z=numbers(2), steps=5, optimizer=lambda r: ByHand(r))
def gradients_by_hand(x, y, z):
    h = F.relu(nn.Linear(8, 8)(x))
    ByHand.other = F.mse_loss(nn.Linear(8, 2)(h), z)
    return F.cross_entropy(nn.Linear(8, 4)(h), y)


class ByHand:
    other = None

    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        optimizer = O.Momentum(self.rate, 0.9)
        pairs = optimizer.backward(loss)
        parameters = [p for p, _ in pairs]
        optimizer.apply_gradients(nn.ClipGradByGlobalNorm(0.7)([(p, g * 0.5) for p, g in zip(parameters, [g for _, g in pairs])]))


@net("Gradients centred before the update", x=X, y=LABEL, steps=5, optimizer=lambda r: Centred(r))
def centred_gradients(x, y):
    return F.cross_entropy(nn.Linear(8, 4)(F.tanh(nn.Linear(8, 8)(x))), y)


class Centred:
    def __init__(self, rate):
        self.rate = rate

    def minimize(self, loss):
        optimizer = O.SGD(self.rate)
        pairs = optimizer.backward(loss)
        optimizer.apply_gradients([(p, g - paddle.mean(g, 0, keepdim=True) if len(p.shape) > 1 else g) for p, g in pairs])


@net("Sharpness-aware: the weights are moved up by the gradient, and a second gradient is taken", "parts", x=X, y=LABEL, steps=5)
def sharpness_aware(x, y):
    w, v = paddle.create_parameter([8, 8], "float32", name="w"), paddle.create_parameter([8, 4], "float32", name="v")
    f = lambda a, b: F.cross_entropy(paddle.matmul(F.tanh(paddle.matmul(x, a)), b), y)  # noqa: E731
    gw, gv = (g.detach() for g in static.gradients([f(w, v)], [w, v]))
    n = paddle.sqrt(paddle.sum(gw * gw) + paddle.sum(gv * gv) + 1e-6)
    return f(w + 0.05 * gw / n, v + 0.05 * gv / n)


@net("Trained from a checkpoint: frozen table, rates of parameters, a head with its own decay", words=classes(20, 5), y=LABEL, steps=5, optimizer=lambda r: O.Adam(r, weight_decay=0.01))
def fine_tuned(words, y):
    x = nn.Embedding(20, 8, weight_attr=paddle.ParamAttr(trainable=False))(words)
    h = nn.GRU(8, 8)(x)[0].max(1)
    return F.cross_entropy(nn.Linear(8, 4, weight_attr=paddle.ParamAttr(learning_rate=5.0, regularizer=DECAY.L1Decay(0.01)), bias_attr=paddle.ParamAttr(learning_rate=2.0, need_clip=False))(h), y)
