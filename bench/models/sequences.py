"""Attention and sequences (net.py)"""

import paddle
import paddle.nn.functional as F
from paddle import nn

from net import classes, lengths, net, numbers, op


@net(
    "Causal self-attention: triangular mask, masked softmax, layer norm",
    words=classes(20, 6),
    next=classes(20, 6, 1),
    rate=0.05,
)
def causal_attention(words, next):
    x = nn.Embedding(20, 8)(words)
    q, k, v = (nn.Linear(8, 8)(x) for _ in range(3))
    scores = paddle.matmul(q, k, transpose_y=True) * 8**-0.5
    mask = paddle.triu(paddle.full([6, 6], -1e9), diagonal=1)
    x = nn.LayerNorm(8)(x + paddle.matmul(F.softmax(scores + mask), v))
    return F.cross_entropy(nn.Linear(8, 20)(x), next)


@net(
    "Attention over padded texts: mask of lengths, mean over the words that are there",
    words=classes(20, 6),
    length=lengths(2, 6),
    label=classes(3, 1),
)
def padded_attention(words, length, label):
    x = nn.Embedding(20, 8)(words)
    there = F.sequence_mask(length, maxlen=6, dtype="float32")
    scores = nn.Linear(8, 1)(F.tanh(nn.Linear(8, 8)(x))).squeeze(-1)
    weight = F.softmax(paddle.where(there > 0.5, scores, paddle.full_like(scores, -1e9)))
    mean = (x * there.unsqueeze(-1)).sum(1) / there.sum(1, keepdim=True)
    return F.cross_entropy(
        nn.Linear(16, 3)(paddle.concat([(x * weight.unsqueeze(-1)).sum(1), mean], 1)), label
    )


@net(
    "Bidirectional LSTM over texts of unequal length",
    words=classes(20, 6),
    length=lengths(2, 6),
    label=classes(3, 1),
)
def lstm_classifier(words, length, label):
    x = nn.Embedding(20, 6)(words)
    _, (h, _) = nn.LSTM(6, 5, direction="bidirect")(x, sequence_length=length)
    return F.cross_entropy(nn.Linear(10, 3)(paddle.concat([h[0], h[1]], 1)), label)


@net(
    "GRU encoder, GRU decoder with attention, language loss",
    source=classes(16, 5),
    target=classes(16, 5),
    next=classes(16, 5, 1),
)
def gru_translation(source, target, next):
    encoded, state = nn.GRU(6, 6)(nn.Embedding(16, 6)(source))
    decoded, _ = nn.GRU(6, 6)(nn.Embedding(16, 6)(target), state)
    weight = F.softmax(paddle.matmul(decoded, encoded, transpose_y=True))
    x = paddle.concat([decoded, paddle.matmul(weight, encoded)], -1)
    return F.cross_entropy(nn.Linear(12, 16)(x), next)


@net(
    "Pointer network: where in the source the answer begins and ends",
    source=classes(16, 6),
    query=classes(16, 3),
    begin=classes(6, 1),
    end=classes(6, 1),
)
def pointer_net(source, query, begin, end):
    table = nn.Embedding(16, 6)
    x, _ = nn.SimpleRNN(6, 6)(table(source))
    q = table(query).mean(1)
    loss = 0
    for label in (begin, end):
        scores = paddle.bmm(x, nn.Linear(6, 6)(q).unsqueeze(2)).squeeze(2)
        loss = loss + F.cross_entropy(scores, label)
    return loss


@net(
    "Tagger with a conditional random field over padded texts",
    words=classes(20, 5),
    tags=classes(4, 5),
    length=lengths(2, 5),
)
def crf_tagger(words, tags, length):
    x, _ = nn.GRU(6, 6)(nn.Embedding(20, 6)(words))
    transition = paddle.create_parameter([6, 4], "float32", name="transition")
    crf = op(
        "linear_chain_crf",
        {"Emission": nn.Linear(6, 4)(x), "Transition": transition, "Label": tags, "Length": length},
        {
            "Alpha": "float32",
            "EmissionExps": "float32",
            "TransitionExps": "float32",
            "LogLikelihood": "float32",
        },
    )
    return paddle.mean(crf["LogLikelihood"])


@net(
    "Connectionist temporal classification over padded speech",
    speech=numbers(6, 4),
    text=classes(4, 2),
    length=lengths(5, 6),
    words=lengths(1, 2),
)
def ctc_speech(speech, text, length, words):
    x = nn.Linear(4, 6)(speech).transpose([1, 0, 2])
    return F.ctc_loss(x, (text + 1).astype("int32"), length, words, blank=0, reduction="mean")
