#!/usr/bin/env python3
"""Writes whole programs of the fluid API, as its users wrote them, as cases of test/corpus (unseen18.py says more).

    whole18.py FOLDER [NET...]

Run by hand with paddlepaddle 1.8.5.
"""

import sys

import numpy as np
import paddle.fluid as fluid

import fluid18
import unseen18
from fluid18 import Feed, L, loss_of, net, squared, words
from unseen18 import CLIP, DECAY, LABEL, O, TEXT, embedded

fluid18.NETS.clear()
fluid18.STEPS = 5
IMAGE = Feed(3, 8, 8)


@net(user=words(1), item=words(1), tags=words(1, rows=(1, 3)), title=words(1, rows=(2, 4)), score=Feed(1))
def recommender(user, item, tags, title, score):
    """The book's movie recommender"""
    shared = lambda ids, name: L.embedding(ids, [20, 8], is_sparse=False, param_attr=name)  # noqa: E731
    u = L.fc([L.fc(shared(user, "users"), 8), L.fc(shared(user, "ages"), 4)], 10, act="tanh")
    t = fluid.nets.sequence_conv_pool(L.embedding(title, [20, 8]), 6, 3, act="tanh", pool_type="sum")
    i = L.fc([L.fc(shared(item, "items"), 8), L.sequence_pool(L.embedding(tags, [20, 8]), "sum"), t], 10, act="tanh")
    return squared(L.scale(L.cos_sim(u, i), 5.0), score)


def labeller(x, verb, mark, tags):
    """The book's semantic role labelling: eight columns fewer, alternating LSTMs, CRF"""
    columns = [L.embedding(x, [20, 6], param_attr=fluid.ParamAttr(name="words", trainable=False)), L.embedding(verb, [20, 6], param_attr="verbs"), L.embedding(mark, [2, 4])]
    h = L.sums([L.fc(one, 16, act="tanh") for one in columns])
    g, _ = L.dynamic_lstm(h, 16, candidate_activation="relu", gate_activation="sigmoid", cell_activation="sigmoid")
    pair = [h, g]
    for i in range(1, 4):
        h = L.sums([L.fc(pair[0], 16, act="tanh"), L.fc(pair[1], 16, act="tanh")])
        g, _ = L.dynamic_lstm(h, 16, candidate_activation="relu", gate_activation="sigmoid", cell_activation="sigmoid", is_reverse=i % 2 == 1)
        pair = [h, g]
    scores = L.sums([L.fc(pair[0], 4, act="tanh"), L.fc(pair[1], 4, act="tanh")])
    return scores, L.mean(L.linear_chain_crf(scores, tags, param_attr=fluid.ParamAttr(name="crfw", learning_rate=0.1)))


@net(x=words(1, rows=(2, 4)), verb=words(1, like="x"), mark=Feed(1, classes=2, like="x"), tags=Feed(1, classes=4, like="x"), optimizer=lambda: O.SGD(L.exponential_decay(0.01, 100, 0.5, staircase=True)))
def roles_of_words(x, verb, mark, tags):
    scores, loss = labeller(x, verb, mark, tags)
    L.crf_decoding(scores, param_attr=fluid.ParamAttr(name="crfw"))
    return loss


@net(x=words(1, rows=(2, 4)), tags=Feed(1, classes=5, like="x"), optimizer=lambda: O.Adam(0.02, regularization=DECAY.L2Decay(1e-3)))
def entities(x, tags):
    """BiGRU and CRF with a chunk evaluator beside"""
    h = embedded(x, 6)
    for back in (False, True):
        h = L.concat([L.dynamic_gru(L.fc(h, 12), 4, is_reverse=back), L.dynamic_gru(L.fc(h, 12, param_attr=fluid.ParamAttr(regularizer=DECAY.L2Decay(1e-2))), 4, is_reverse=not back)], 1)
    scores = L.fc(h, 5)
    loss = L.linear_chain_crf(scores, tags, param_attr=fluid.ParamAttr(name="crfw", learning_rate=0.2))
    L.chunk_eval(L.crf_decoding(scores, param_attr=fluid.ParamAttr(name="crfw")), tags, "IOB", 2)
    return L.mean(loss)


@net(x=words(1, rows=(2, 5)), y=LABEL, optimizer=lambda: O.Adagrad(0.05, grad_clip=CLIP.GradientClipByGlobalNorm(0.5)))
def sentiment_convolutions(x, y):
    e = L.embedding(x, [20, 6], is_sparse=True)
    parts = [fluid.nets.sequence_conv_pool(e, 4, k, act="tanh", pool_type="sqrt") for k in (3, 4)]
    return L.mean(L.cross_entropy(L.fc(parts, 3, act="softmax"), y))


@net(x=words(1, rows=(2, 4)), y=LABEL)
def multi_embeddings(x, y):
    e = L.embedding(x, [20, 6], param_attr=fluid.ParamAttr(learning_rate=3.0), padding_idx=0)
    h = L.dynamic_gru(L.fc(e, 12), 4, h_0=L.fill_constant_batch_size_like(L.cast(y, "float32"), [-1, 4], "float32", 0.1))
    a = L.fc(h, 1, act=None, bias_attr=False)
    h = L.elementwise_mul(h, L.sequence_softmax(a), axis=0)
    return loss_of(L.fc([L.sequence_pool(h, "sum"), L.sequence_first_step(h)], 3), y)


@net("parts", ["batch_norm"], x=IMAGE, y=LABEL, optimizer=lambda: O.Momentum(L.piecewise_decay([2, 4], [0.05, 0.01, 0.001]), 0.9, regularization=DECAY.L2Decay(1e-4)))
def thin_resnet(x, y):
    def conv(h, o, k, s=1, act=None):
        c = L.conv2d(h, o, k, s, (k - 1) // 2, act=None, bias_attr=False)
        return L.batch_norm(c, act=act)

    h = conv(x, 4, 3, 1, "relu")
    for o, s in ((4, 1), (8, 2)):
        short = h if s == 1 and h.shape[1] == o else conv(h, o, 1, s)
        h = L.elementwise_add(conv(conv(h, o, 3, s, "relu"), o, 3), short, act="relu")
    p = L.pool2d(h, pool_type="avg", global_pooling=True)
    out = L.fc(p, 3, act="softmax")
    L.accuracy(out, y)
    return L.mean(L.cross_entropy(out, y))


@net("parts", ["batch_norm"], x=IMAGE, y=LABEL)
def vgg_with_dropout_of_none(x, y):
    h = fluid.nets.img_conv_group(x, [4, 4], 2, conv_padding=1, conv_filter_size=3, conv_act="relu", conv_with_batchnorm=True, conv_batchnorm_drop_rate=[0.0, 0.0], pool_stride=2, pool_type="max")
    h = L.batch_norm(L.fc(h, 8), act="relu")
    return L.mean(L.cross_entropy(L.fc(h, 3, act="softmax"), y))


@net("parts", ["auc"], equal=True, ids=words(1, rows=(1, 3)), more=words(1, rows=(1, 3)), dense=Feed(5), y=Feed(1, classes=2), optimizer=lambda: O.Adam(0.02, lazy_mode=True))
def ctr_of_slots(ids, more, dense, y):
    """The CTR example: slots pooled, AUC beside"""
    init = fluid.initializer.Uniform(-0.1, 0.1)
    parts = [L.sequence_pool(L.embedding(one, [20, 4], is_sparse=True, param_attr=fluid.ParamAttr(name="SparseFeatFactors", initializer=init)), "sum") for one in (ids, more)]
    h = L.concat(parts + [dense], axis=1)
    for width in (8, 6):
        h = L.fc(h, width, act="relu", param_attr=fluid.ParamAttr(initializer=fluid.initializer.Normal(scale=0.3)))
    p = L.fc(h, 2, act="softmax")
    L.auc(p, y, num_thresholds=2**6, slide_steps=3)
    return L.reduce_sum(L.cross_entropy(p, y)) * 0.25


@net(ids=words(4, 1), vals=Feed(4), y=Feed(1, classes=2))
def factor_machine(ids, vals, y):
    w = lambda width, name: L.reshape(fluid.layers.embedding(L.reshape(ids, [-1, 1]), [20, width], is_sparse=True, param_attr=fluid.ParamAttr(name=name)), [-1, 4, width])  # noqa: E731
    v = L.reshape(vals, [-1, 4, 1])
    first = L.reduce_sum(w(1, "first") * v, 1)
    e = w(4, "second") * v
    pairs = 0.5 * L.reduce_sum(L.square(L.reduce_sum(e, 1)) - L.reduce_sum(L.square(e), 1), 1, keep_dim=True)
    p = L.sigmoid(first + pairs + L.create_parameter([1], "float32"))
    return L.mean(L.log_loss(p, L.cast(y, "float32")))


@net(a=words(1), b=words(1), c=words(1), d=words(1), next=words(1), optimizer=lambda: O.SGD(0.05))
def book_of_words(a, b, c, d, next):
    e = [L.embedding(one, [20, 6], is_sparse=True, param_attr="shared_w") for one in (a, b, c, d)]
    h = L.fc(L.concat(e, axis=1), 10, act="sigmoid")
    return L.mean(L.cross_entropy(L.fc(h, 20, act="softmax"), next))


@net(x=words(1, rows=(1, 4)), pos=words(1, rows=(1, 4)), neg=words(1, rows=(1, 4)))
def tag_space(x, pos, neg):
    """PaddleRec's TagSpace: hinge over the worst of negatives, shared tables"""
    def text(t):
        return L.fc(fluid.nets.sequence_conv_pool(L.embedding(t, [20, 6], param_attr="text"), 6, 3, act="tanh", pool_type="max"), 4, param_attr="hid", bias_attr=False)

    tag = lambda t: L.sequence_pool(L.embedding(t, [20, 4], param_attr="tag"), "sum")  # noqa: E731
    h, margin = text(x), L.fill_constant_batch_size_like(text(x), [-1, 1], "float32", 0.1)
    gap = L.elementwise_sub(margin, L.elementwise_sub(L.cos_sim(h, tag(pos)), L.cos_sim(h, tag(neg))))
    return L.mean(L.relu(gap))


@net(x=words(1, rows=(2, 4)), next=words(1, like="x"), verdict="parts")
def session_gru(x, next):
    """GRU4Rec: rates of layers, sparse table, softmax over all items"""
    e = L.embedding(x, [20, 6], is_sparse=True, param_attr=fluid.ParamAttr(learning_rate=10.0))
    h = L.dynamic_gru(L.fc(e, 12, param_attr=fluid.ParamAttr(learning_rate=10.0)), 4)
    return L.mean(L.cross_entropy(L.fc(h, 20, act="softmax"), next))


@net(x=Feed(1, 8, 8), y=Feed(1, classes=5, rows=(1, 2)))
def ocr_ctc(x, y):
    """The OCR example: groups of convolutions, im2sequence, GRUs both ways, CTC with an edit distance beside"""
    h = fluid.nets.img_conv_group(x, [4, 4], 2, conv_padding=1, conv_filter_size=3, conv_act="relu", pool_stride=2)
    s = L.im2sequence(h, filter_size=[h.shape[2], 1], stride=[1, 1])
    f = L.fc(s, 12, act=None)
    there, back = L.dynamic_gru(f, 4, candidate_activation="relu"), L.dynamic_gru(L.fc(s, 12), 4, is_reverse=True, candidate_activation="relu")
    o = L.fc([there, back], 6)
    L.edit_distance(L.ctc_greedy_decoder(o, 5), y)
    return L.reduce_sum(L.warpctc(o, L.cast(y, "int32"), blank=5, norm_by_times=True))


@net(x=IMAGE, boxes=Feed(4, rows=(1, 2)), kinds=Feed(1, classes=3, least=1, like="boxes"), verdict="parts")
def ssd_of_layers(x, boxes, kinds):
    """multi_box_head and ssd_loss"""
    a = L.conv2d(x, 4, 3, padding=1, act="relu")
    b = L.conv2d(a, 6, 3, stride=2, padding=1, act="relu")
    loc, conf, box, var = L.multi_box_head([a, b], x, 8, 3, [[2.0], [2.0]], min_sizes=[2.0, 4.0], max_sizes=[4.0, 6.0], flip=True, offset=0.5, kernel_size=3, pad=1)
    s = L.sigmoid(boxes)
    gt = L.concat([L.slice(s, [1], [0], [2]) * 0.4, L.slice(s, [1], [2], [4]) * 0.4 + 0.5], axis=1)
    return L.reduce_sum(L.ssd_loss(loc, conf, gt, L.cast(kinds, "int32"), box, var))


class TwoPlayers:
    def minimize(self, loss):
        names = [p.name for p in loss.block.program.global_block().all_parameters()]
        O.Adam(0.01, beta1=0.5).minimize(loss, parameter_list=[n for n in names if n.startswith("g.")])
        O.RMSProp(0.01).minimize(loss, parameter_list=[n for n in names if n.startswith("d.")])


@net(z=Feed(4), real=Feed(6), optimizer=TwoPlayers)
def adversaries_of_fluid(z, real):
    fc = lambda x, n, name, act=None: L.fc(x, n, act=act, param_attr=name + ".w", bias_attr=name + ".b")  # noqa: E731
    fake = fc(fc(z, 8, "g.1", "relu"), 6, "g.2", "tanh")
    d = lambda x: fc(fc(x, 8, "d.1", "leaky_relu"), 1, "d.2")  # noqa: E731
    ones = lambda s, v: L.fill_constant_batch_size_like(s, [-1, 1], "float32", v)  # noqa: E731
    a, b = d(real), d(fake)
    return L.mean(L.sigmoid_cross_entropy_with_logits(a, ones(a, 1.0))) + L.mean(L.sigmoid_cross_entropy_with_logits(b, ones(b, 0.0)))


@net(x=Feed(8), e=Feed(3))
def variational_of_fluid(x, e):
    h = L.fc(x, 8, act="tanh")
    m, s = L.fc(h, 3), L.fc(h, 3)
    z = m + L.exp(0.5 * s) * e
    out = L.fc(L.fc(z, 8, act="tanh"), 8)
    kl = -0.5 * L.reduce_sum(1.0 + s - L.square(m) - L.exp(s), 1)
    return L.mean(L.reduce_sum(L.square(out - x), 1) + kl)


@net(a=Feed(6), p=Feed(6), n=Feed(6))
def triplets_of_fluid(a, p, n):
    f = lambda x: L.l2_normalize(L.fc(L.fc(x, 8, act="relu", param_attr="1.w", bias_attr="1.b"), 4, param_attr="2.w", bias_attr=False), axis=1)  # noqa: E731
    d = lambda x, y: L.reduce_sum(L.square(x - y), 1)  # noqa: E731
    return L.mean(L.relu(d(f(a), f(p)) - d(f(a), f(n)) + 0.3))


@net(x=words(6), mask=Feed(6, classes=2), y=words(6, 1), optimizer=lambda: O.Adam(L.linear_lr_warmup(L.noam_decay(8, 4), 2, 0.0, 0.01), beta2=0.98, grad_clip=CLIP.GradientClipByGlobalNorm(1.0)))
def ernie_of_fluid(x, mask, y):
    """Layers of attention as ERNIE for 1.x writes them, stacked masks, shared output"""
    m = L.cast(mask, "float32")
    bias = L.unsqueeze(L.scale(L.matmul(L.unsqueeze(m, [2]), L.unsqueeze(m, [2]), transpose_y=True), 1e4, bias=-1.0, bias_after_scale=False), [1])
    bias = L.expand(bias, [1, 2, 1, 1])
    bias.stop_gradient = True
    h = fluid.embedding(x, [20, 8], param_attr="word_embedding") + fluid.embedding(L.assign(np.arange(6).astype("int64")), [6, 8])
    h = L.layer_norm(h, begin_norm_axis=2)
    for _ in range(2):
        q, k, v = (L.transpose(L.reshape(L.fc(h, 8, 2), [0, 0, 2, 4]), [0, 2, 1, 3]) for _ in range(3))
        s = L.matmul(L.scale(q, 0.5), k, transpose_y=True) + bias
        o = L.reshape(L.transpose(L.matmul(L.softmax(s), v), [0, 2, 1, 3]), [0, 0, 8], inplace=True)
        h = L.layer_norm(h + L.fc(o, 8, 2), begin_norm_axis=2)
        h = L.layer_norm(h + L.fc(L.fc(h, 16, 2, act="gelu"), 8, 2), begin_norm_axis=2)
    w = fluid.default_main_program().global_block().var("word_embedding")
    s = L.matmul(h, w, transpose_y=True) + L.create_parameter([20], "float32", is_bias=True)
    return L.mean(L.softmax_with_cross_entropy(s, y))


@net(x=Feed(8), y=Feed(1), optimizer=lambda: O.Ftrl(0.1, 0.01, 0.01))
def step_of_a_switch(x, y):
    """A rate that a Switch chooses by a counter"""
    step = L.autoincreased_step_counter()
    rate = L.create_global_var([1], 1.0, "float32", persistable=True, name="weight")
    with L.Switch() as switch:
        with switch.case(step < L.fill_constant([1], "int64", 3)):
            L.assign(L.fill_constant([1], "float32", 0.5), rate)
        with switch.default():
            L.assign(L.fill_constant([1], "float32", 1.5), rate)
    return squared(L.fc(L.fc(x, 6, act="relu"), 1), y) * rate


@net("parts", equal=True, x=Feed(8), y=Feed(1))
def counted_array(x, y):
    """While with arrays"""
    i, n = L.fill_constant([1], "int64", 0), L.fill_constant([1], "int64", 3)
    i.stop_gradient = n.stop_gradient = True
    h = L.fc(x, 4)
    array = L.array_write(h, i)
    cond = L.less_than(i, n)
    loop = L.While(cond)
    with loop.block():
        before = L.array_read(array, i)
        L.increment(i, 1, in_place=True)
        L.array_write(L.tanh(before + h), i, array)
        L.less_than(i, n, cond=cond)
    return squared(L.fc(L.array_read(array, n), 1), y)


@net(x=Feed(8), y=LABEL, verdict="drawn")
def half_dropped(x, y):
    h = L.dropout(L.fc(x, 8, act="relu"), 0.3, seed=5, dropout_implementation="upscale_in_train")
    h = L.dropout(L.fc(h, 8, act="relu"), 0.3, seed=7)
    return loss_of(L.fc(h, 3), y)


@net(x=IMAGE, y=LABEL)
def data_and_spectral_norms(x, y):
    w = L.spectral_norm(L.create_parameter([4, 3, 3, 3], "float32"), power_iters=2)
    h = L.reduce_sum(L.square(w)) * 0.01
    c = L.conv2d(x, 4, 3, padding=1, act="brelu")
    c = L.affine_channel(c, L.create_parameter([4], "float32"), L.create_parameter([4], "float32"))
    n = L.data_norm(L.reshape(c, [-1, 256]))
    return loss_of(L.fc(n, 3), y) + h


if __name__ == "__main__":
    unseen18.main(*sys.argv[1:])
