#!/usr/bin/env python3
"""Writes the corpus `models18`: small nets of the fluid API as cases of test/corpus (README.md there),
trained by the framework on one device.

    fluid18.py FOLDER [NET...]

Run by hand with paddlepaddle 1.8.5. What `verify` must say of a data-parallel job of a net stands
beside it, as in net.py. Initial values are multiples of 1/32, so that the archive stays small.
"""

import json
import os
import sys

import numpy as np
import paddle.fluid as fluid

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "ops_sweep"))
from files import write_tensor_file  # noqa: E402

L = fluid.layers
BATCH, STEPS = 4, 4
NETS = {}


class Feed:
    """`classes`: how many; None: multiples of 1/16. `rows` (least, most): ragged, one sequence per
    sample; `like`: as long as those of that feed."""

    def __init__(self, *shape, **options):
        self.shape, self.lengths = shape, None
        self.classes, self.least = options.get("classes"), options.get("least", 0)
        self.rows, self.like = options.get("rows"), options.get("like")
        self.ragged = bool(self.rows or self.like)
        self.dtype = "float32" if self.classes is None else "int64"

    def draw(self, random, feeds):
        lod, count = [], BATCH
        if self.ragged:
            least, most = self.rows or (0, 0)
            self.lengths = feeds[self.like].lengths if self.like else random.randint(least, most + 1, BATCH)
            lod = [[0] + np.cumsum(self.lengths).tolist()]
            count = lod[0][-1]
        extents = (count,) + self.shape
        if self.classes is None:
            return (random.randint(-16, 17, extents) / 16.0).astype("float32"), lod
        return random.randint(self.least, self.classes, extents).astype("int64"), lod


def words(*shape, **options):
    return Feed(*shape, classes=20, **options)


def net(verdict="whole", sites=(), optimizer=None, equal=False, **feeds):
    def add(build):
        NETS[build.__name__] = (build, feeds, verdict, list(sites), optimizer, equal)
        return build

    return add


def loss_of(scores, label):
    return L.mean(L.softmax_with_cross_entropy(scores, label))


def squared(x, y):
    return L.mean(L.square_error_cost(x, y))


@net(verdict="parts", sites=["mean", "recurrent"], equal=True, x=words(5), n=Feed(classes=6, least=1), y=Feed(1, classes=3))
def gru_with_lengths(x, n, y):
    _, state = L.rnn(L.GRUCell(4), fluid.embedding(x, [20, 6]), sequence_length=n)
    return loss_of(L.fc(state, 3), y)


@net(verdict="parts", sites=["mean", "recurrent"], equal=True, x=Feed(5, 3), n=Feed(classes=6, least=1), y=Feed(4))
def time_major_gru(x, n, y):
    steps = L.transpose(x, [1, 0, 2])
    _, state = L.rnn(L.GRUCell(4), steps, sequence_length=n, time_major=True)
    return squared(state, y)


@net(verdict="parts", sites=["recurrent"], equal=True, x=words(5), y=words(5, 1))
def lstm_language_model(x, y):
    steps, _ = L.rnn(L.LSTMCell(6), fluid.embedding(x, [20, 6]))
    return loss_of(L.fc(steps, 20, num_flatten_dims=2), y)


@net(x=words(1, rows=(1, 4)), y=Feed(1, classes=3))
def both_ways_lstm(x, y):
    e = L.embedding(x, [20, 6])
    there, _ = L.dynamic_lstm(L.fc(e, 16), 16, use_peepholes=True)
    back, _ = L.dynamic_lstm(L.fc(e, 16), 16, use_peepholes=False, is_reverse=True)
    return loss_of(L.fc([L.sequence_pool(there, "max"), L.sequence_pool(back, "sqrt")], 3), y)


@net(x=words(1, rows=(1, 4)), t=Feed(1, classes=4, like="x"))
def ragged_crf(x, t):
    scores = L.fc(L.embedding(x, [20, 6]), 4)
    return L.mean(L.linear_chain_crf(scores, t, param_attr=fluid.ParamAttr(name="transition")))


@net(x=words(3), y=words(1))
def hierarchical_words(x, y):
    return L.mean(L.hsigmoid(L.reduce_mean(fluid.embedding(x, [20, 6]), 1), y, 20))


@net(x=Feed(1, 6, 8), y=Feed(1, classes=5, rows=(1, 2)))
def line_reader(x, y):
    columns = L.im2sequence(L.conv2d(x, 4, 3, padding=1, act="relu"), filter_size=[6, 1], stride=[1, 1])
    scores = L.fc(L.dynamic_gru(L.fc(columns, 12), 4), 6)
    return L.mean(L.warpctc(scores, L.cast(y, "int32"), blank=5))


@net(
    x=words(1, rows=(1, 4)),
    s=words(1, rows=(1, 4)),
    y=Feed(1, classes=3),
)
def ragged_ops(x, s, y):
    a, b = L.embedding(x, [20, 4]), L.embedding(s, [20, 4])
    turned = L.sequence_reverse(L.sequence_concat([a, b]))
    weighted = L.elementwise_mul(turned, L.sequence_softmax(L.fc(turned, 1)), axis=0)
    spread = L.sequence_expand_as(L.sequence_pool(a, "sum"), b)
    padded, length = L.sequence_pad(b, L.fill_constant([1], "float32", 0.0), maxlen=5)
    back = L.sequence_unpad(padded, length)
    pooled = [L.sequence_pool(weighted, "sum"), L.sequence_pool(spread, "max"), L.sequence_pool(back, "last")]
    return loss_of(L.fc(pooled, 3), y)


@net(q=words(1, rows=(1, 4)), d=words(1, rows=(1, 4)), y=Feed(1))
def text_match(q, d, y):
    def meaning(text):
        e = L.sequence_pool(L.embedding(text, [20, 4], param_attr="table"), "sum")
        return L.fc(e, 4, param_attr="meaning.w", bias_attr="meaning.b")

    return squared(L.cos_sim(meaning(q), meaning(d)), y)


@net(x=Feed(3, 8, 8), b=Feed(3, 4), y=Feed(3, classes=2))
def yolo(x, b, y):
    boxes = L.sigmoid(b) * 0.5 + 0.1
    features = L.conv2d(x, 14, 3, stride=2, padding=1)
    return L.mean(L.yolov3_loss(features, boxes, L.cast(y, "int32"), [4, 6, 8, 12], [0, 1], 2, 0.7, 2))


@net(
    verdict="parts",
    sites=["mean"],
    x=Feed(3, 8, 8),
    corners=Feed(4, rows=(1, 3)),
    y=Feed(1, classes=3, like="corners"),
)
def ragged_regions(x, corners, y):
    """As many regions as an image has: the mean over them is a rank's own."""
    s = L.sigmoid(corners)
    boxes = L.concat([L.slice(s, [1], [0], [2]) * 3, L.slice(s, [1], [2], [4]) * 3 + 4], axis=1)
    features = L.conv2d(x, 4, 3, padding=1, act="relu")
    regions = [L.roi_pool(features, boxes, 2, 2, 1.0), L.roi_align(features, boxes, 2, 2, 1.0, 2)]
    return loss_of(L.fc(regions, 3), y)


@net(x=Feed(4, 6, 6), y=Feed(1, classes=3))
def image_layers(x, y):
    c = L.prelu(L.conv2d(x, 4, 3, padding=1, groups=2), "channel")
    c = L.maxout(L.conv2d(c, 8, 1), 2)
    c = L.space_to_depth(L.shuffle_channel(c, 2), 2)
    c = L.resize_nearest(L.resize_bilinear(c, [6, 6]), [4, 4])
    c = L.pad2d(L.instance_norm(L.group_norm(c, 4)), [1, 1, 1, 1], "reflect")
    return loss_of(L.fc(c, 3), y)


@net(x=Feed(6), y=Feed(1, classes=4))
def label_losses(x, y):
    smooth = L.label_smooth(L.one_hot(y, 4), epsilon=0.1)
    o = L.fc(x, 4)
    divergence = L.mean(L.kldiv_loss(L.log(L.softmax(o)), smooth, "none"))
    soft = L.mean(L.softmax_with_cross_entropy(o, smooth, soft_label=True))
    return soft + divergence + L.mean(L.sigmoid_cross_entropy_with_logits(o, smooth))


@net(
    optimizer=lambda: fluid.optimizer.RMSProp(
        L.linear_lr_warmup(L.cosine_decay(0.1, 2, 4), 2, 0.0, 0.1),
        centered=True,
        momentum=0.5,
        grad_clip=fluid.clip.GradientClipByGlobalNorm(0.5),
    ),
    x=Feed(8),
    y=Feed(1),
)
def warmed_up(x, y):
    decay = fluid.ParamAttr(regularizer=fluid.regularizer.L1Decay(0.01))
    return squared(L.fc(x, 1, param_attr=decay), y)


@net(
    optimizer=lambda: fluid.optimizer.LookaheadOptimizer(fluid.optimizer.SGD(0.1), 0.5, 2),
    x=Feed(8),
    y=Feed(1, classes=4),
)
def looks_ahead(x, y):
    return loss_of(L.fc(x, 4), y)


def write_program(path, program):
    for block in program.blocks:
        for op in block.ops:
            if op.has_attr("op_callstack"):
                op._remove_attr("op_callstack")
    with open(path, "wb") as f:
        f.write(program.desc.serialize_to_string())


def build(name):
    make, feeds, _, _, optimizer, _ = NETS[name]
    main, startup = fluid.Program(), fluid.Program()
    main.random_seed = startup.random_seed = 1
    with fluid.program_guard(main, startup), fluid.unique_name.guard():
        data = {
            n: fluid.data(n, [None] + list(f.shape), f.dtype, lod_level=int(f.ragged))
            for n, f in sorted(feeds.items())
        }
        loss = make(**data)
        chosen = optimizer() if optimizer else fluid.optimizer.Momentum(0.1, 0.9)
        chosen.minimize(loss)
    return main, startup, loss


def draw(name, feeds):
    """{feed: [(array, lod) per step]}"""
    random = np.random.RandomState(sum(map(ord, name)))
    data = {n: [] for n in feeds}
    for _ in range(STEPS):
        for n in sorted(feeds, key=lambda n: (feeds[n].like or "", n)):
            data[n].append(feeds[n].draw(random, feeds))
    return data


def write_feeds(folder, feeds, data):
    os.makedirs(folder)
    for n, f in feeds.items():
        if not f.ragged:
            np.save(os.path.join(folder, n + ".npy"), np.stack([array for array, _ in data[n]]))
            continue
        for step, (array, lod) in enumerate(data[n]):
            base = os.path.join(folder, "%s.step%d" % (n, step))
            np.save(base + ".npy", array)
            with open(base + ".lod.json", "w") as out:
                json.dump(lod, out)


def round_state(scope, main, folder):
    """Makes initial values multiples of 1/32 and writes them; their names."""
    os.makedirs(folder)
    names = []
    for v in main.list_vars():
        if not v.persistable or v.type != fluid.core.VarDesc.VarType.LOD_TENSOR:
            continue
        held = scope.find_var(v.name)
        if held is None or not held.get_tensor()._is_initialized():
            continue
        tensor = held.get_tensor()
        value = np.array(tensor)
        if value.dtype == np.float32 and value.size > 1:
            value = (np.round(value * 32) / 32).astype(np.float32)
            tensor.set(value, fluid.CPUPlace())
        os.makedirs(os.path.dirname(os.path.join(folder, v.name)), exist_ok=True)
        write_tensor_file(os.path.join(folder, v.name), value)
        names.append(v.name)
    return sorted(names)


def tensor(array, lod):
    held = fluid.core.LoDTensor()
    held.set(array, fluid.CPUPlace())
    if lod:
        held.set_lod(lod)
    return held


def write_case(name, folder):
    _, feeds, verdict, sites, _, equal = NETS[name]
    main, startup, loss = build(name)
    data = draw(name, feeds)
    write_feeds(os.path.join(folder, "feeds"), feeds, data)
    scope, executor = fluid.Scope(), fluid.Executor(fluid.CPUPlace())
    with fluid.scope_guard(scope):
        executor.run(startup)
        state = round_state(scope, main, os.path.join(folder, "init"))
        losses = []
        for step in range(STEPS):
            feed = {n: tensor(*steps[step]) for n, steps in data.items()}
            (value,) = executor.run(main, feed=feed, fetch_list=[loss.name])
            losses.append(float(np.array(value).reshape(-1)[0]))
    write_program(os.path.join(folder, "main.pdmodel"), main)
    write_program(os.path.join(folder, "startup.pdmodel"), startup)
    with open(os.path.join(folder, "golden.json"), "w") as f:
        json.dump({loss.name: losses}, f)
    case = {
        "name": name,
        "paddle_version": "1.8.5",
        "batch": BATCH,
        "steps": STEPS,
        "loss": loss.name,
        "fetch": [loss.name],
        "feeds": [
            {"name": n, "dtype": f.dtype, "lod_level": int(f.ragged)} for n, f in sorted(feeds.items())
        ],
        "params": sorted(p.name for p in main.all_parameters()),
        "persistables": state,
        "checkpoints": [],
        "tags": ["batch-dependent"] if verdict == "parts" else [],
        "verdict": verdict,
        "sites": sites,
        "equal_shares": equal,
    }
    with open(os.path.join(folder, "case.json"), "w") as f:
        json.dump(case, f, indent=1)
    print("%-28s %s" % (name, " ".join("%.5f" % one for one in losses)))


def main(folder, *wanted):
    for name in NETS:
        if not wanted or name in wanted:
            write_case(name, os.path.join(folder, name))


if __name__ == "__main__":
    main(*sys.argv[1:])
