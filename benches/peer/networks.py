"""Networks on rows, images and words, each written once against a builder.

A builder has what images.py names and embedding, positions, layer_norm, dense, split, attention, mask, gelu, tanh, first and
dropout; each takes and gives values of its own kind.
"""
from typing import NamedTuple

import images
import numpy as np


class Input(NamedTuple):
    """One input of a network: the shape of a sample, and the values in it."""

    shape: tuple
    # "normal" floats, "ones", or the number of words that integers count.
    values: object = "normal"


def jsc_tiny(b, x):
    return b.relu(b.linear(b.relu(b.norm(x, 16)), 16, 5))


def mlp(b, x):
    for i, o in ((16, 64), (64, 32), (32, 32)):
        x = b.relu(b.norm(b.linear(x, i, o), o))
    return b.linear(x, 32, 5)


def transformer(b, x, vocabulary=64, d=64, heads=4, layers=2, length=64):
    x = b.add(b.embedding(x, vocabulary, d), b.positions(length, length, d))
    for _ in range(layers):
        q, k, v = b.split(b.dense(b.layer_norm(x, d, 1e-5), d, 3 * d), 3)
        x = b.add(x, b.dense(b.attention(q, k, v, (length, d, heads)), d, d))
        x = b.add(x, b.dense(b.gelu(b.dense(b.layer_norm(x, d, 1e-5), d, 4 * d)), 4 * d, d))
    return b.dense(b.layer_norm(x, d, 1e-5), d, vocabulary)


def bert_tiny(b, ids, types, mask, d=128, heads=2, layers=2, length=128):
    mask = b.mask(mask, length)
    x = b.add(b.add(b.embedding(ids, 30522, d), b.embedding(types, 2, d)), b.positions(512, length, d))
    x = b.dropout(b.layer_norm(x, d, 1e-12), 0.1)
    for _ in range(layers):
        q, k, v = (b.dense(x, d, d) for _ in range(3))
        y = b.dense(b.attention(q, k, v, (length, d, heads), mask, 0.1), d, d)
        x = b.layer_norm(b.add(b.dropout(y, 0.1), x), d, 1e-12)
        y = b.dense(b.gelu(b.dense(x, d, 4 * d)), 4 * d, d)
        x = b.layer_norm(b.add(b.dropout(y, 0.1), x), d, 1e-12)
    return b.linear(b.dropout(b.tanh(b.linear(b.first(x), d, d)), 0.1), d, 2)


NETWORKS = {
    "jsc-tiny": (jsc_tiny, [Input((16,))]),
    "mlp": (mlp, [Input((16,))]),
    "transformer": (transformer, [Input((64,), 64)]),
    "bert-tiny": (bert_tiny, [Input((128,), 30522), Input((128,), 2), Input((128,), "ones")]),
}


def parse(name):
    """The function of a name such as `mlp` or `resnet18@32`, from a builder and inputs to the output, and its inputs."""
    if name in NETWORKS:
        return NETWORKS[name]
    network, shape = images.parse(name)
    return lambda b, x: network(b, x, shape[1]), [Input(shape)]


def batch(inputs, rows, random):
    """Arrays for a batch of all inputs, from a NumPy generator."""
    arrays = []
    for shape, values in inputs:
        shape = rows, *shape
        if values == "normal":
            arrays.append(random.standard_normal(shape, dtype="float32"))
        elif values == "ones":
            arrays.append(np.ones(shape, "float32"))
        else:
            arrays.append(random.integers(0, values, shape))
    return arrays
