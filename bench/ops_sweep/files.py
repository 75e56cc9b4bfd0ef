"""Files of the framework: one tensor each."""

import struct

import numpy as np

# framework.proto, VarType.Type
DTYPES = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64",
          20: "uint8", 21: "int8", 23: "complex64", 24: "complex128"}  # fmt: skip
NUMBERS = {name: number for number, name in DTYPES.items()}


def _varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def read_tensor_file(path):
    with open(path, "rb") as f:
        data = f.read()
    levels = struct.unpack_from("<Q", data, 4)[0]
    at = 12
    for _ in range(levels):
        at += 8 + struct.unpack_from("<Q", data, at)[0]
    length = struct.unpack_from("<i", data, at + 4)[0]
    at += 8
    end, number, dims = at + length, None, []
    while at < end:
        tag, at = _varint(data, at)
        value, at = _varint(data, at)
        if tag == 8:
            number = value
        elif tag == 16:
            dims.append(value)
        else:  # packed dims
            stop = at + value
            while at < stop:
                dim, at = _varint(data, at)
                dims.append(dim)
    return np.frombuffer(data, DTYPES[number], offset=end).reshape(dims).copy()


def _encoded(value):
    out = b""
    while True:
        out += bytes([value & 127 | (128 if value > 127 else 0)])
        value >>= 7
        if not value:
            return out


def write_tensor_file(path, array):
    description = b"\x08" + _encoded(NUMBERS[array.dtype.name])
    for dim in array.shape:
        description += b"\x10" + _encoded(dim)
    with open(path, "wb") as f:
        f.write(struct.pack("<IQIi", 0, 0, 0, len(description)))
        f.write(description + np.ascontiguousarray(array).tobytes())
