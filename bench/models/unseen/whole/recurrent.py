"""Recurrent nets, Transformers and their caches as the library builds them (../../net.py)"""

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn

from net import bits, classes, lengths, net, numbers

WORDS, NEXT, LABEL, LENGTH = classes(20, 6), classes(20, 6, 1), classes(3, 1), lengths(1, 6)


def embedded(words, width=8):
    return nn.Embedding(20, width)(words)


@net("Two layers of LSTM, both ways, lengths that are fed", words=WORDS, length=LENGTH, label=LABEL, steps=5)
def lstm_both_ways(words, length, label):
    out, (h, c) = nn.LSTM(8, 6, num_layers=2, direction="bidirect")(embedded(words), sequence_length=length)
    mask = F.sequence_mask(length, 6, "float32").unsqueeze(2)
    pooled = (out * mask).sum(1) / mask.sum(1)
    return F.cross_entropy(nn.Linear(36, 3)(paddle.concat([pooled, h[-1], h[-2], c[0] + c[1], c[-1]], 1)), label)


@net("Three layers of GRU, time first, a first state that is fed", words=WORDS, state=numbers(6), label=LABEL, steps=5)
def gru_time_first(words, state, label):
    first = paddle.stack([state, state * 0.5, -state], 0)
    out, last = nn.GRU(8, 6, num_layers=3, time_major=True)(embedded(words).transpose([1, 0, 2]), first)
    return F.cross_entropy(nn.Linear(12, 3)(paddle.concat([out[-1], last[0]], axis=1)), label)


@net("Simple recurrences of relu, both ways, with lengths", words=WORDS, length=LENGTH, next=NEXT, steps=5)
def rectified_rnn(words, length, next):
    out, _ = nn.SimpleRNN(8, 6, 2, direction="bidirectional", activation="relu")(embedded(words) * 0.3, None, length)
    loss = F.cross_entropy(nn.Linear(12, 20)(out), next, reduction="none").squeeze(2)
    mask = F.sequence_mask(length, 6, "float32")
    return ((loss * mask).sum(1) / length.astype("float32")).mean()


@net("A language model, masked and divided by the words of the batch", "parts", words=WORDS, length=LENGTH, next=NEXT, steps=5)
def masked_language(words, length, next):
    out, _ = nn.LSTM(8, 8)(embedded(words), sequence_length=length)
    mask = F.sequence_mask(length, 6, "float32")
    loss = F.cross_entropy(nn.Linear(8, 20)(out), next, reduction="none").squeeze(-1)
    return (loss * mask).sum() / mask.sum()


def causal(count):
    return paddle.tensor.triu(paddle.full([count, count], -1e9, "float32"), 1)


@net("Encoder and decoder, memory masked by lengths, the future by -1e9", source=WORDS, length=LENGTH, target=classes(20, 5), next=classes(20, 5, 1), steps=5, optimizer="adam", rate=0.01)
def masked_decoder(source, length, target, next):
    pad = (1.0 - F.sequence_mask(length, 6, "float32")).unsqueeze([1, 2]) * -1e9
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0), 2, nn.LayerNorm(8))
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0, activation="gelu", normalize_before=True), 2, nn.LayerNorm(8))
    table, places = nn.Embedding(20, 8), nn.Embedding(6, 8)
    put = lambda w, n: table(w) * 8**0.5 + places(paddle.arange(n))  # noqa: E731
    memory = encoder(put(source, 6), pad)
    out = decoder(put(target, 5), memory, tgt_mask=causal(5), memory_mask=pad)
    return F.cross_entropy(paddle.matmul(out, table.weight, transpose_y=True), next)


@net("The whole Transformer of the library, its own mask, bias-free projections, dropout of 0", source=classes(20, 4), target=classes(20, 5), next=classes(20, 5, 1), steps=5)
def library_transformer(source, target, next):
    model = nn.Transformer(8, 4, 1, 2, 12, dropout=0.0, bias_attr=False)
    out = model(embedded(source), embedded(target), tgt_mask=model.generate_square_subsequent_mask(5))
    return F.cross_entropy(nn.Linear(8, 20)(out), next)


@net("Steps of a decoder with a cache that grows, and one that is fixed", source=classes(20, 4), target=classes(20, 3), next=classes(20, 3, 1), steps=5)
def cached_steps(source, target, next):
    memory, y = embedded(source), embedded(target)
    decoder = nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, dropout=0.0), 2)
    cache = decoder.gen_cache(memory)
    outs = []
    for t in range(3):
        out, cache = decoder(y[:, t : t + 1], memory, None, None, cache)
        outs.append(out)
    return F.cross_entropy(nn.Linear(8, 20)(paddle.concat(outs, 1)), next)


@net("Attention with a growing cache by itself", words=classes(20, 4), next=classes(20, 4, 1), steps=5)
def attention_cache(words, next):
    x, layer = embedded(words), nn.MultiHeadAttention(8, 2)
    cache, outs = layer.gen_cache(x[:, :1], type=nn.MultiHeadAttention.Cache), []
    for t in range(4):
        step = x[:, t : t + 1]
        out, cache = layer(step, step, step, None, cache)
        outs.append(out)
    return F.cross_entropy(nn.Linear(8, 20)(paddle.concat(outs, axis=1)), next)


@net("Translation: bidirectional encoder, attention, teacher forcing step by step, lengths", source=WORDS, length=LENGTH, target=classes(20, 4), next=classes(20, 4), steps=5)
def teacher_forced(source, length, target, next):
    memory, (h, c) = nn.LSTM(8, 4, direction="bidirectional")(embedded(source), sequence_length=length)
    bias = (F.sequence_mask(length, 6, "float32") - 1.0) * 1e9
    cells, q, out = nn.LayerList([nn.LSTMCell(16, 8), nn.LSTMCell(8, 8)]), nn.Linear(8, 8, bias_attr=False), nn.Linear(8, 20)
    join = lambda s: paddle.concat([s[0], s[1]], axis=-1)  # noqa: E731
    states, fed, total = [(join(h), join(c))] * 2, paddle.zeros_like(join(h)), 0.0
    y = embedded(target)
    for t in range(4):
        x = paddle.concat([y[:, t], fed], 1)
        fresh = []
        for cell, state in zip(cells, states):
            x, state = cell(x, state)
            fresh.append(state)
        states = fresh
        a = F.softmax(paddle.matmul(q(x).unsqueeze(1), memory, transpose_y=True).squeeze(1) + bias)
        fed = F.tanh(nn.Linear(16, 8)(paddle.concat([paddle.bmm(a.unsqueeze(1), memory).squeeze(1), x], 1)))
        total = total + F.cross_entropy(out(fed), next[:, t], reduction="none")
    return (total / 4.0).mean()


class Cell(nn.RNNCellBase):
    """A cell of a user, with a zoneout that is fixed and a norm."""

    def __init__(self):
        super().__init__()
        self.input_size = 8
        self.norm, self.a, self.b = nn.LayerNorm(6), nn.Linear(8, 6), nn.Linear(6, 6, bias_attr=False)

    @property
    def state_shape(self):
        return (6,)

    def forward(self, x, state):
        new = F.tanh(self.norm(self.a(x) + self.b(state)))
        new = 0.9 * new + 0.1 * state
        return new, new


@net("A cell of a user in the library's loop, both ways", "parts", ["while"], equal=True, words=WORDS, label=LABEL, steps=5)
def users_cells(words, label):
    out, _ = nn.BiRNN(Cell(), Cell())(embedded(words))
    return F.cross_entropy(nn.Linear(12, 3)(out.mean(1)), label)


@net("A CRF of the text library behind a GRU, with lengths", words=WORDS, length=LENGTH, tags=classes(4, 6), steps=5)
def gru_and_crf(words, length, tags):
    out, _ = nn.GRU(8, 6, direction="bidirect")(embedded(words), sequence_length=length)
    scores = nn.Linear(12, 4)(out)
    return paddle.mean(static_crf(scores, tags, length))


def static_crf(scores, tags, length):
    from paddle.base.layer_helper import LayerHelper

    helper = LayerHelper("linear_chain_crf")
    transition = paddle.create_parameter([6, 4], "float32", name="crf_transition")
    made = {s: helper.create_variable_for_type_inference("float32") for s in ("Alpha", "EmissionExps", "TransitionExps", "LogLikelihood")}
    inputs = {"Emission": [scores], "Transition": [transition], "Label": [tags], "Length": [length]}
    helper.append_op(type="linear_chain_crf", inputs=inputs, outputs={k: [v] for k, v in made.items()})
    return made["LogLikelihood"]


@net("Speech: convolutions, GRUs both ways, CTC with lengths and the framework's mean", sound=numbers(1, 12, 8), label=("int32", (3,), lambda r, n: r.integers(1, 6, (n, 3))), size=("int64", (), lambda r, n: r.integers(1, 4, (n,))), steps=5)
def deep_speech(sound, label, size):
    x = F.hardtanh(nn.Conv2D(1, 4, (3, 3), stride=(1, 2), padding=1)(sound))
    x = x.transpose([2, 0, 1, 3]).flatten(2)
    out, _ = nn.GRU(16, 6, 2, direction="bidirect", time_major=True)(x)
    logits = nn.Linear(12, 6)(out)
    n = paddle.full_like(size, 12)
    return nn.CTCLoss(blank=0, reduction="mean")(logits, label, n, size)


@net("Llama: RMS norm, rotary places, grouped queries, SwiGLU, weights tied", words=classes(32, 6), next=classes(32, 6, 1), steps=5, optimizer=lambda r: paddle.optimizer.AdamW(r, beta2=0.95, weight_decay=0.1, grad_clip=nn.ClipGradByGlobalNorm(1.0)), rate=0.01)
def llama(words, next):
    table = nn.Embedding(32, 16)
    x = table(words)
    freqs = np.outer(np.arange(6), 10000.0 ** (-np.arange(0, 4, 2) / 4)).astype("float32")
    cos, sin = (paddle.assign(np.concatenate([f(freqs)] * 2, -1)[None, :, None]) for f in (np.cos, np.sin))

    def norm(h):
        scale = paddle.create_parameter([16], "float32", default_initializer=nn.initializer.Constant(1.0))
        v = paddle.mean(paddle.square(h.astype("float32")), -1, keepdim=True)
        return h * paddle.rsqrt(v + 1e-6) * scale

    def turn(h):
        left, right = paddle.chunk(h, 2, axis=-1)
        return h * cos + paddle.concat([-right, left], -1) * sin

    mask = paddle.tensor.triu(paddle.full([6, 6], float("-inf")), diagonal=1)
    line = lambda i, o: nn.Linear(i, o, bias_attr=False)  # noqa: E731
    for _ in range(2):
        h = norm(x)
        q, k, v = line(16, 16)(h).reshape([0, 0, 4, 4]), line(16, 8)(h).reshape([0, 0, 2, 4]), line(16, 8)(h).reshape([0, 0, 2, 4])
        q, k = turn(q), turn(k)
        k, v = (paddle.repeat_interleave(one, 2, axis=2) for one in (k, v))
        q, k, v = (one.transpose([0, 2, 1, 3]) for one in (q, k, v))
        s = paddle.matmul(q, k, transpose_y=True) / 2.0 + mask
        o = paddle.matmul(F.softmax(s, axis=-1), v).transpose([0, 2, 1, 3]).reshape([0, 0, 16])
        x = x + line(16, 16)(o)
        h = norm(x)
        x = x + line(24, 16)(F.silu(line(16, 24)(h)) * line(16, 24)(h))
    return F.cross_entropy(paddle.matmul(norm(x), table.weight, transpose_y=True).reshape([-1, 32]), next.reshape([-1, 1]))


@net("ALiBi slopes, heads of uneven slope, parallel residual, learned scale of logits", words=classes(20, 6), next=classes(20, 6, 1), steps=5)
def parallel_residual(words, next):
    x = embedded(words)
    slopes = paddle.assign((2.0 ** -np.arange(1, 3)).astype("float32")).reshape([1, 2, 1, 1])
    place = paddle.arange(6, dtype="float32")
    bias = slopes * (place.unsqueeze(0) - place.unsqueeze(1)).unsqueeze([0, 1]) + causal(6)
    for _ in range(2):
        h = nn.LayerNorm(8)(x)
        qkv = nn.Linear(8, 24)(h).reshape([-1, 6, 3, 2, 4]).transpose([2, 0, 3, 1, 4])
        a = F.softmax(paddle.matmul(qkv[0] * 0.5, qkv[1], transpose_y=True) + bias)
        o = nn.Linear(8, 8)(paddle.matmul(a, qkv[2]).transpose([0, 2, 1, 3]).flatten(2))
        x = x + o + nn.Linear(16, 8)(F.gelu(nn.Linear(8, 16)(h), approximate=True))
    return F.cross_entropy(nn.Linear(8, 20)(nn.LayerNorm(8)(x)), next)


@net("BERT as its examples train it: words masked at places that are gathered, weights per place, next sentence", words=WORDS, segment=classes(2, 6), mask=bits(6), place=classes(6, 2), word=classes(20, 2), weight=bits(2), order=classes(2, 1), steps=5, optimizer=lambda r: paddle.optimizer.AdamW(paddle.optimizer.lr.LinearWarmup(paddle.optimizer.lr.PolynomialDecay(r, 10, 0.0), 2, 0.0, r), weight_decay=0.01, apply_decay_param_fun=lambda n: "norm" not in n and ".b" not in n, grad_clip=nn.ClipGradByGlobalNorm(1.0)), rate=0.01, verdict="parts")
def bert_pretraining(words, segment, mask, place, word, weight, order):
    table = nn.Embedding(20, 8)
    x = nn.LayerNorm(8)(table(words) + nn.Embedding(6, 8)(paddle.arange(6)) + nn.Embedding(2, 8)(segment))
    x = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, activation="gelu"), 2)(x, ((1.0 - mask) * -1e4).unsqueeze([1, 2]))
    chosen = paddle.take_along_axis(x, place.unsqueeze(2).expand([-1, 2, 8]), 1).reshape([-1, 8])
    h = nn.LayerNorm(8)(F.gelu(nn.Linear(8, 8)(chosen)))
    s = paddle.matmul(h, table.weight, transpose_y=True) + paddle.create_parameter([20], "float32", is_bias=True)
    lm = F.cross_entropy(s, word.reshape([-1, 1]), reduction="none").squeeze(1)
    w = weight.reshape([-1])
    pooled = F.tanh(nn.Linear(8, 8)(x[:, 0]))
    return (lm * w).sum() / (w.sum() + 1e-5) + F.cross_entropy(nn.Linear(8, 2)(pooled), order)
