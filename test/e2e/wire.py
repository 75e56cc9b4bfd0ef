"""Bytes of ProgramDescs, legal ones and others, written field by field (framework.proto)."""

import struct

# Codes of attribute types, and of VarType.
INT, FLOAT, STRING, INTS, FLOATS, STRINGS, BOOLEAN, BLOCK, LONG, LONGS = (
    0,
    1,
    2,
    3,
    4,
    5,
    6,
    8,
    9,
    11,
)
TENSOR, STEP_SCOPES, FLOAT32 = 7, 11, 5


def varint(value):
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, value):
    """A varint for a number, else bytes or text with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def real(number, value):
    return varint(number << 3 | 5) + struct.pack("<f", value)


def attr(name, kind, body=b""):
    return field(1, name) + field(2, kind) + body


def op(kind, inputs=(), outputs=(), attrs=(), extra=b""):
    def slots(number, pairs):
        return b"".join(
            field(number, field(1, name) + b"".join(field(2, a) for a in arguments))
            for name, arguments in pairs
        )

    return field(
        4,
        slots(1, inputs)
        + slots(2, outputs)
        + field(3, kind)
        + b"".join(field(4, a) for a in attrs)
        + extra,
    )


def var(name, dims=(4,), persistable=False, dtype=FLOAT32, kind=TENSOR, extra=b""):
    tensor = field(1, dtype) + b"".join(field(2, d) for d in dims)
    described = field(3, field(1, tensor)) if kind == TENSOR else b""
    return field(
        3,
        field(1, name) + field(2, field(1, kind) + described) + field(3, int(persistable)) + extra,
    )


def block(index, parent, *parts):
    return field(1, field(1, index) + field(2, parent) + b"".join(parts))


def program(*blocks, version=2006002):
    return b"".join(blocks) + field(4, field(1, version))


def relu(source, target):
    return op("relu", [("X", [source])], [("Out", [target])], [attr("op_role", INT, field(3, 0))])


def constant(target, dims=(4,), value=1.0, dtype=FLOAT32, role=0):
    return op(
        "fill_constant",
        [],
        [("Out", [target])],
        [
            attr("op_role", INT, field(3, role)),
            attr("shape", LONGS, b"".join(field(15, d) for d in dims)),
            attr("value", FLOAT, real(4, value)),
            attr("dtype", INT, field(3, dtype)),
        ],
    )


def training():
    """Parts of block 0: loss = mean(x * w), with the gradient and the update of w."""

    def role(number):
        return attr("op_role", INT, field(3, number))

    pair = attr("op_role_var", STRINGS, field(8, "w") + field(8, "w@GRAD"))
    seed = constant("loss@GRAD", (1,), role=257)
    return b"".join(
        (
            var("x", (-1, 4)),
            var("w", (4,), persistable=True, extra=field(5, 1)),
            var("rate", (1,), persistable=True),
            *(var(name, (-1, 4)) for name in ("p", "p@GRAD")),
            *(var(name, (1,)) for name in ("loss", "loss@GRAD")),
            var("w@GRAD", (4,)),
            op("elementwise_mul", [("X", ["x"]), ("Y", ["w"])], [("Out", ["p"])], [role(0)]),
            op("mean", [("X", ["p"])], [("Out", ["loss"])], [role(256)]),
            seed,
            op(
                "mean_grad",
                [("X", ["p"]), ("Out@GRAD", ["loss@GRAD"])],
                [("X@GRAD", ["p@GRAD"])],
                [role(1)],
            ),
            op(
                "elementwise_mul_grad",
                [("X", ["x"]), ("Y", ["w"]), ("Out@GRAD", ["p@GRAD"])],
                [("Y@GRAD", ["w@GRAD"])],
                [role(1), pair],
            ),
            op(
                "sgd",
                [("Param", ["w"]), ("Grad", ["w@GRAD"]), ("LearningRate", ["rate"])],
                [("ParamOut", ["w"])],
                [role(2), pair],
            ),
        )
    )


def simple(*more):
    """Trains w, and computes y = relu(x); more in block 0."""
    return program(block(0, -1, training(), var("y", (-1, 4)), relu("x", "y"), *more))
