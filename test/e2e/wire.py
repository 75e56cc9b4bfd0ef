"""Bytes of ProgramDescs, legal ones and others, written field by field (framework.proto)."""

import struct

# Codes of attribute types, and of VarType.
INT, FLOAT, STRING, INTS, FLOATS, STRINGS, BOOLEAN, BLOCK, LONG, LONGS = 0, 1, 2, 3, 4, 5, 6, 8, 9, 11
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


def simple(*more):
    """x -> relu -> y, and more in block 0."""
    return program(block(0, -1, var("x"), var("y"), relu("x", "y"), *more))
