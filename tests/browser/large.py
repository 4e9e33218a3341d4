"""An ONNX model whose weights are holes of a sparse file."""

import os

SIDE = 8192
LAYERS = 4  # of 256 MiB each


def varint(number):
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def number(field, value):
    return varint(field << 3) + varint(value)


def bytes_of(field, content):
    return head(field, len(content)) + content


def head(field, size):
    return varint(field << 3 | 2) + varint(size)


def port(field, name):
    dims = b"".join(bytes_of(1, number(1, dim)) for dim in (1, SIDE))
    tensor = number(1, 1) + bytes_of(2, dims)  # float
    return bytes_of(field, bytes_of(1, name) + bytes_of(2, bytes_of(1, tensor)))


def node(op, inputs, output):
    names = b"".join(bytes_of(1, name) for name in inputs)
    return bytes_of(1, names + bytes_of(2, output) + bytes_of(4, op))


def write_large(path):
    """Chains products with matrices of zeros; the file takes no room on the disk."""
    size = SIDE * SIDE * 4
    values = [b"x"] + [b"v%d" % i for i in range(LAYERS)]
    nodes = b"".join(node(b"MatMul", [values[i], b"w%d" % i], values[i + 1]) for i in range(LAYERS))
    before = [
        number(1, SIDE) + number(1, SIDE) + number(2, 1) + bytes_of(8, b"w%d" % i) + head(9, size)
        for i in range(LAYERS)
    ]
    ends = bytes_of(2, b"large") + port(11, values[0]) + port(12, values[-1])
    weights = sum(len(head(5, len(b) + size)) + len(b) + size for b in before)
    start = number(1, 8) + bytes_of(8, number(2, 17)) + head(7, len(nodes) + len(ends) + weights)
    with open(path, "wb") as out:
        out.write(start + nodes + ends)
        for text in before:
            out.write(head(5, len(text) + size) + text)
            out.seek(size, os.SEEK_CUR)
        out.truncate()
