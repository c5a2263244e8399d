"""GPTQ after Frantar et al. (2022) in NumPy and PyTorch, for a few small layers: writes gptq.jsonl.

    python gptq.py > gptq.jsonl

The algorithm as published: H = 2 XᵀX / n, damped, the upper Cholesky factor of its inverse, columns in order with every
error handed to the columns behind. Written for double precision, dense, one column at a time.
"""
import json
import re

import numpy as np
import torch

STEP = 64  # inputs and weights are multiples of 1/64 and 1/4096: exact in any float


def integer(width, frac_width):
    def rounding(weights):
        low, high = -(2 ** (width - 1)), 2 ** (width - 1) - 1
        return lambda w, at: np.clip(np.rint(w * 2.0**frac_width), low, high) / 2.0**frac_width

    return rounding


def scale_integer(width):
    """One real scale, of the weights as they were; the largest weight keeps its value, so that the scale stays."""

    def rounding(weights):
        largest = 2 ** (width - 1) - 1
        scale = np.abs(weights).max() / largest
        keep = np.zeros(weights.size, bool)
        keep[np.abs(weights).argmax()] = True
        keep = keep.reshape(weights.shape)

        def at_column(w, at):
            q = np.clip(np.rint(w / scale), -largest, largest) * scale
            return np.where(keep[:, at], weights[:, at], q)

        return at_column

    return rounding


def gptq(weights, inputs, rounding, damping=0.01, act_order=False, mask=None):
    hessian = 2 * inputs.T @ inputs / len(inputs)
    n = len(hessian)
    order = np.argsort(-np.diag(hessian), kind="stable") if act_order else np.arange(n)
    ordered = hessian[order][:, order]
    ordered = ordered + damping * np.diag(hessian).mean() * np.eye(n)
    inverse = torch.cholesky_inverse(torch.linalg.cholesky(torch.tensor(ordered)))
    upper = torch.linalg.cholesky(inverse, upper=True).numpy()
    round_column = rounding(weights)
    free = weights[:, order].copy()
    result = np.zeros_like(weights)
    for i in range(n):
        q = round_column(free[:, i], order[i])
        if mask is not None:
            q = np.where(mask[:, order[i]] == 0, 0.0, q)
        error = (free[:, i] - q) / upper[i, i]
        free[:, i:] -= np.outer(error, upper[i, i:])
        result[:, order[i]] = q
    return result, hessian


def loss(weights, other, hessian):
    d = weights - other
    return np.einsum("ri,ij,rj->r", d, hessian, d)


def nearest(weights, rounding):
    at_column = rounding(weights)
    return np.stack([at_column(weights[:, i], i) for i in range(weights.shape[1])], axis=1)


def case(name, graph, sample, rows, weight_shape, rounding, seed, spread, unfold=None, groups=1, act_order=False, masked=False):
    random = np.random.default_rng(seed)
    size = int(np.prod(sample))
    # Inputs that depend on each other: that is where rounding to nearest is not the best.
    mixing = random.normal(size=(size, size)) * random.exponential(size=size) + 0.5
    x = np.rint(random.normal(size=(rows, size)) @ mixing / np.sqrt(size) * STEP) / STEP
    w = np.rint(random.normal(size=weight_shape) * spread * 4096) / 4096
    mask = (random.random(weight_shape) < 0.7).astype(float) if masked else None
    if masked:
        w = w * mask
    samples = rows * 4 // 5
    inputs = x[:samples].reshape(samples, *sample)
    matrix = w.reshape(weight_shape[0], -1)
    per_group = weight_shape[0] // groups
    parts, before, after = [], 0.0, 0.0
    for group in range(groups):
        columns = unfold(inputs, group) if unfold else inputs
        part = slice(group * per_group, (group + 1) * per_group)
        own = matrix[part]
        own_mask = mask.reshape(matrix.shape)[part] if masked else None
        q, hessian = gptq(own, columns, rounding, act_order=act_order, mask=own_mask)
        plain = loss(own, nearest(own, rounding), hessian)
        chosen = loss(own, q, hessian)
        assert (chosen <= plain).all(), f"{name}: a row is better rounded to nearest; take another seed"
        before, after = before + plain.sum(), after + chosen.sum()
        parts.append(q)
    return {
        "name": name,
        "graph": re.sub(r"\s+", " ", graph).strip(),
        "sample": list(sample),
        "num_samples": samples,
        "act_order": act_order,
        "x": (x * STEP).astype(int).ravel().tolist(),
        "w": (w * 4096).astype(int).ravel().tolist(),
        "weight_shape": list(weight_shape),
        "mask": None if mask is None else mask.astype(int).ravel().tolist(),
        "expected": np.concatenate(parts).astype(np.float32).ravel().tolist(),
        "loss_nearest": before,
        "loss_gptq": after,
    }


def linear(features, outputs, spec):
    return f"""graph "g" {{ x: f32[N, {features}] = placeholder
        y = linear(x) {{ target = "y", in_features = {features}, out_features = {outputs}, weight: {spec} }}
        return y }}"""


def windows(kernel, stride, padding, dilation, groups):
    def unfold(x, group):
        channels = x.shape[1] // groups
        part = torch.tensor(x[:, group * channels : (group + 1) * channels])
        if part.ndim == 3:
            part = part[:, :, None]
        columns = torch.nn.functional.unfold(part, kernel, dilation, padding, stride)
        return columns.transpose(1, 2).reshape(-1, columns.shape[1]).numpy()

    return unfold


CASES = [
    case("linear, 4 bits", linear(12, 8, "integer(4, 3)"), (12,), 80, (8, 12), integer(4, 3), 11, 0.3),
    case("linear, 3 bits, largest inputs first", linear(12, 6, "integer(3, 2)"), (12,), 80, (6, 12), integer(3, 2), 2, 0.3, act_order=True),
    case("linear, more columns than a block", linear(70, 4, "integer(4, 4)"), (70,), 200, (4, 70), integer(4, 4), 3, 0.2),
    case("linear, a real scale", linear(10, 5, "scale_integer(4)"), (10,), 60, (5, 10), scale_integer(4), 15, 0.3),
    case("linear, masked", linear(12, 5, "integer(4, 3)"), (12,), 80, (5, 12), integer(4, 3), 5, 0.3, masked=True),
    case(
        "conv2d in two groups",
        """graph "g" { x: f32[N, 4, 5, 6] = placeholder
            y = conv2d(x) { target = "y", in_channels = 4, out_channels = 6, kernel_size = [3, 2], stride = [2, 1],
                            padding = [1, 0], groups = 2, weight: integer(4, 3) }
            return y }""",
        (4, 5, 6), 25, (6, 2, 3, 2), integer(4, 3), 16, 0.3, windows((3, 2), (2, 1), (1, 0), 1, 2), groups=2,
    ),
    case(
        "conv1d with gaps",
        """graph "g" { x: f32[N, 3, 9] = placeholder
            y = conv1d(x) { target = "y", in_channels = 3, out_channels = 4, kernel_size = 3, padding = 2, dilation = 2,
                            weight: integer(3, 2) }
            return y }""",
        (3, 9), 30, (4, 3, 3), integer(3, 2), 9, 0.3, windows((1, 3), 1, (0, 2), (1, 2), 1),
    ),
]

if __name__ == "__main__":
    for each in CASES:
        print(json.dumps(each, separators=(",", ":")))
