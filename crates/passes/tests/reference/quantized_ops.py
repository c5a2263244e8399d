"""Writes quantized_ops.jsonl: what every operator must give when the quantise pass has given its ports a format.

Written from the definitions alone, in NumPy. A value of a fixed-point port is an integer code over a power of two: inputs and
parameters are rounded to codes, products and sums of codes are exact in int64, and a format on the result rounds once more.
Operators without an exact form (gelu, softmax …) are computed in float64 from the same rounded operands.

    python crates/passes/tests/reference/quantized_ops.py

Each line is a case: the graph before the pass, the keys of its rules, inputs, parameters, the expected result, and `check`:
`exact`  every executor gives these values; every partial sum fits the 24 bits of a float32;
`codes`  the integer executor gives these values, floats come near, because sums need more than 24 bits;
`float`  floats give these values; the integer executor refuses, because an operand has no format;
`near`   floats come near; there are no integers for it.
"""

import json
import math
from pathlib import Path

import numpy as np

ROWS = 3
random = np.random.Generator(np.random.PCG64(7))

# ---- the format `integer`


class Format:
    def __init__(self, width, frac, signed=True, floor=False):
        self.frac, self.floor = frac, floor
        self.low = -(2 ** (width - 1)) if signed else 0
        self.high = 2 ** (width - 1) - 1 if signed else 2**width - 1

    def encode(self, values):
        """Codes of real numbers: to the nearest, ties to even, or down; saturated."""
        scaled = np.asarray(values, np.float64) * 2.0**self.frac
        rounded = np.floor(scaled) if self.floor else np.rint(scaled)
        return Fixed(np.clip(rounded, self.low, self.high).astype(np.int64), self.frac)

    def round(self, value):
        """Codes of codes, in integers only."""
        shift = value.frac - self.frac
        if shift <= 0:
            codes = value.codes * 2**-shift
        else:
            unit = 2**shift
            codes, rest = value.codes // unit, value.codes % unit
            if not self.floor:
                codes = codes + ((2 * rest > unit) | ((2 * rest == unit) & (codes % 2 == 1)))
        return Fixed(np.clip(codes, self.low, self.high), self.frac)


class Fixed:
    """value = codes / 2^frac; `widest` is the largest sum of magnitudes that any order of adding can meet."""

    def __init__(self, codes, frac, widest=None):
        self.codes, self.frac = codes, frac
        self.widest = widest if widest is not None else (np.abs(codes).max() if codes.size else 0)

    def map(self, move):
        return Fixed(move(self.codes), self.frac, self.widest)

    def values(self):
        return self.codes.astype(np.float64) * 2.0**-self.frac


def format_of(rule, operand, is_relu=False):
    """The format of an operand by the keys of a rule, or None."""
    own = {k[len(operand) + 1 :]: v for k, v in rule.items() if k.startswith(operand + "_")}
    if not own:
        return None
    signed = own.get("signed", not is_relu)
    return Format(own["width"], own.get("frac_width", own["width"] // 2), signed, rule.get("floor", False))


def aligned(*values):
    """The same values over one power of two."""
    frac = max(value.frac for value in values)
    return frac, [value.codes * 2 ** (frac - value.frac) for value in values]


# ---- operators with an exact form: fixed operands in, fixed result out


def windows(x, kernel, stride, padding, dilation, fill):
    """Every window of [N, C, *space] as [N, C, *places, *kernel]."""
    space = len(kernel)
    x = np.pad(x, [(0, 0), (0, 0)] + [(p, p) for p in padding], constant_values=fill)
    reach = [d * (k - 1) + 1 for k, d in zip(kernel, dilation)]
    view = np.lib.stride_tricks.sliding_window_view(x, reach, axis=tuple(range(2, 2 + space)))
    places = tuple(slice(None, None, s) for s in stride)
    steps = tuple(slice(None, None, d) for d in dilation)
    return view[(slice(None), slice(None), *places, *steps)]


def product(terms, axes, bias, frac):
    """Sums of products, plus a bias per output channel on axis 1 (or the last of two)."""
    total, magnitude = terms.sum(axes), np.abs(terms).sum(axes)
    if bias is None:
        return Fixed(total, frac, magnitude.max())
    shape = [1, -1] + [1] * (total.ndim - 2)
    new, (total, bias_codes, magnitude) = aligned(Fixed(total, frac), bias, Fixed(magnitude, frac))
    bias_codes = bias_codes.reshape(shape)
    return Fixed(total + bias_codes, new, (magnitude + np.abs(bias_codes)).max())


def linear(x, p, _):
    terms = x.codes[:, None, :] * p["weight"].codes[None]
    return product(terms, -1, p.get("bias"), x.frac + p["weight"].frac)


def conv(x, p, a):
    kernel = p["weight"].codes.shape[2:]
    space, groups = len(kernel), a.get("groups", 1)
    wide = lambda key, default: [a.get(key, default)] * space
    view = windows(x.codes, kernel, wide("stride", 1), wide("padding", 0), wide("dilation", 1), 0)
    weight, parts = p["weight"].codes, []
    for g in range(groups):
        inputs = np.split(view, groups, 1)[g]
        outputs = np.split(weight, groups, 0)[g]
        # [N, 1, C, *places, *kernel] times [1, O, C, 1…, *kernel]
        outputs = outputs.reshape(1, *outputs.shape[:2], *[1] * space, *kernel)
        terms = inputs[:, None] * outputs
        parts.append(np.moveaxis(terms, 2, -1))
    terms = np.concatenate(parts, 1)
    axes = tuple(range(2 + space, terms.ndim))
    return product(terms, axes, p.get("bias"), x.frac + p["weight"].frac)


def batch_norm(x, p, _):
    shape = [1, -1] + [1] * (x.codes.ndim - 2)
    terms = (x.codes * p["weight"].codes.reshape(shape))[..., None]
    return product(terms, -1, p["bias"], x.frac + p["weight"].frac)


def clamp(low, high):
    def run(x, _, a):
        bounds = [a.get("min_val", low), a.get("max_val", high)]
        codes = [None if b is None else int(b * 2.0**x.frac) for b in bounds]
        return x.map(lambda c: np.clip(c, *codes))

    return run


def pool(is_max):
    def run(x, _, a):
        space = x.codes.ndim - 2
        wide = lambda key, default: [a.get(key, default)] * space
        kernel = wide("kernel_size", None)
        stride, padding = wide("stride", kernel[0]), wide("padding", 0)
        fill = np.iinfo(np.int64).min if is_max else 0
        view = windows(x.codes, kernel, stride, padding, wide("dilation", 1), fill)
        axes = tuple(range(2 + space, view.ndim))
        if is_max:
            return Fixed(view.max(axes), x.frac)
        return divided(view.sum(axes), np.abs(view).sum(axes).max(), x.frac, math.prod(kernel))

    return run


def adaptive(is_max):
    def run(x, _, a):
        space = x.codes.ndim - 2
        sizes = a["output_size"] if isinstance(a["output_size"], list) else [a["output_size"]] * space
        codes, count = x.codes, 1
        for axis, out in enumerate(sizes, 2):
            n = codes.shape[axis]
            spans = [(i * n // out, -(-(i + 1) * n // out)) for i in range(out)]
            reduce = np.max if is_max else np.sum
            parts = [reduce(codes.take(range(*span), axis), axis) for span in spans]
            lengths = {end - start for start, end in spans}
            assert is_max or len(lengths) == 1
            count *= lengths.pop()
            codes = np.stack(parts, axis)
        if is_max:
            return Fixed(codes, x.frac)
        return divided(codes, np.abs(x.codes).sum(), x.frac, count)

    return run


def divided(total, widest, frac, count):
    power = count.bit_length() - 1
    assert 2**power == count, f"{count} is not a power of two"
    return Fixed(total, frac + power, widest)


def mean(x, _, a):
    axes = tuple(a["dim"])
    count = math.prod(x.codes.shape[axis] for axis in axes)
    total = x.codes.sum(axes, keepdims=a.get("keepdim", False))
    return divided(total, np.abs(x.codes).sum(axes).max(), x.frac, count)


def second(b, a):
    """The other operand: a value, or a number with an exact code."""
    if b is not None:
        return b
    frac = next(f for f in range(40) if a["scalar"] * 2.0**f == int(a["scalar"] * 2.0**f))
    return Fixed(np.array(int(a["scalar"] * 2.0**frac)), frac)


def add(x, p, a, sign=1):
    frac, (left, right) = aligned(x, second(p.get("other"), a))
    return Fixed(left + sign * right, frac)


def sub(x, p, a):
    return add(x, p, a, -1)


def mul(x, p, a):
    other = second(p.get("other"), a)
    return Fixed(x.codes * other.codes, x.frac + other.frac)


def div(x, _, a):
    assert a["scalar"] == 2.0 ** int(math.log2(a["scalar"]))
    return Fixed(x.codes, x.frac + int(math.log2(a["scalar"])), x.widest)


def matmul(x, p, _):
    other = p["other"]
    magnitude = np.abs(x.codes) @ np.abs(other.codes)
    return Fixed(x.codes @ other.codes, x.frac + other.frac, magnitude.max())


def embedding(x, p, _):
    return Fixed(p["weight"].codes[x], p["weight"].frac)


def cat(x, p, a):
    frac, parts = aligned(x, p["other"])
    return Fixed(np.concatenate(parts, a["dim"]), frac)


def move(change):
    return lambda x, _, a: x.map(lambda codes: change(codes, a))


EXACT = {
    "linear": linear,
    "conv1d": conv,
    "conv2d": conv,
    "batch_norm1d": batch_norm,
    "batch_norm2d": batch_norm,
    "embedding": embedding,
    "relu": clamp(0, None),
    "relu6": clamp(0, 6),
    "hardtanh": clamp(-1, 1),
    "dropout": move(lambda c, a: c),
    "identity": move(lambda c, a: c),
    "max_pool1d": pool(True),
    "max_pool2d": pool(True),
    "avg_pool1d": pool(False),
    "avg_pool2d": pool(False),
    "adaptive_max_pool1d": adaptive(True),
    "adaptive_max_pool2d": adaptive(True),
    "adaptive_avg_pool1d": adaptive(False),
    "adaptive_avg_pool2d": adaptive(False),
    "add": add,
    "sub": sub,
    "mul": mul,
    "div": div,
    "matmul": matmul,
    "bmm": matmul,
    "mean": mean,
    "argmax": lambda x, p, a: Fixed(x.codes.argmax(-1), 0),
    "flatten": move(lambda c, a: c.reshape(*c.shape[: a["start_dim"]], -1)),
    "reshape": move(lambda c, a: c.reshape(ROWS, *a["shape"][1:])),
    "view": move(lambda c, a: c.reshape(ROWS, *a["shape"][1:])),
    "transpose": move(lambda c, a: c.swapaxes(a["dim0"], a["dim1"])),
    "permute": move(lambda c, a: c.transpose(a["dims"])),
    "cat": cat,
    "chunk": move(lambda c, a: np.array_split(c, a["chunks"], a["dim"])[0]),
    "getitem": move(lambda c, a: eval("c[" + a["index"] + "]", {"c": c})),
}

# ---- operators without one: float64 in, float64 out


def softmax(x, axis):
    e = np.exp(x - x.max(axis, keepdims=True))
    return e / e.sum(axis, keepdims=True)


def layer_norm(x, p, a):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * p["weight"] + p["bias"]


def attention(x, p, _):
    scores = x @ p["key"].swapaxes(-1, -2) / math.sqrt(x.shape[-1])
    return softmax(scores, -1) @ p["value"]


SELU = 1.6732632423543772, 1.0507009873554805
NEAR = {
    "layer_norm": layer_norm,
    "hardswish": lambda x, p, a: x * np.clip(x + 3, 0, 6) / 6,
    "hardsigmoid": lambda x, p, a: np.clip(x + 3, 0, 6) / 6,
    "sigmoid": lambda x, p, a: 1 / (1 + np.exp(-x)),
    "tanh": lambda x, p, a: np.tanh(x),
    "gelu": lambda x, p, a: x * 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2))),
    "silu": lambda x, p, a: x / (1 + np.exp(-x)),
    "elu": lambda x, p, a: np.where(x > 0, x, np.expm1(np.minimum(x, 0))),
    "selu": lambda x, p, a: SELU[1] * np.where(x > 0, x, SELU[0] * np.expm1(np.minimum(x, 0))),
    "softplus": lambda x, p, a: np.log1p(np.exp(x)),
    "softsign": lambda x, p, a: x / (1 + np.abs(x)),
    "softmax": lambda x, p, a: softmax(x, a["dim"]),
    "log_softmax": lambda x, p, a: np.log(softmax(x, a["dim"])),
    "div": lambda x, p, a: x / (p["other"] if "other" in p else a["scalar"]),
    "avg_pool2d": lambda x, p, a: windows(x, [3, 3], [3, 3], [0, 0], [1, 1], 0).mean((-2, -1)),
    "mean": lambda x, p, a: x.mean(tuple(a["dim"])),
    "scaled_dot_product_attention": attention,
}

# ---- rules: keys as they stand under [passes.quantize.<op>.config]


def rule(data, weight=None, bias=None, out=None, **more):
    keys = {"name": "integer"}
    for operand, fields in [("data_in", data), ("weight", weight), ("bias", bias), ("data_out", out)]:
        for field, value in zip(["width", "frac_width", "signed"], fields or []):
            keys[f"{operand}_{field}"] = value
    return keys | more


PLAIN = rule([8, 4], [8, 4], [8, 4])
RULES = [
    PLAIN,
    rule([8], [6], [8]),  # frac_width is width // 2
    rule([6, 2], [5, 7], [9, 8]),  # more bits behind the point than there are
    rule([5, -1], [4, 3], [4, -2]),  # steps larger than one
    rule([8, 4], [8, 5], [7, 6], floor=True),
    rule([7, 3, False], [8, 6], [8, 5]),  # unsigned data
    rule([8, 3], [8, 6], [8, 5], out=[8, 3]),
    rule([8, 5], [7, 4], [8, 4], out=[6, -1], floor=True),
    rule([16, 10], [16, 12], [16, 10]),
    rule([8, 4], [8, 4]),  # the bias stays float
]

# ---- cases


def numbers(shape, spread=3.0):
    """Values on a grid of 1/128, so that ties occur and decimals stay short, some of them far out, so that ranges end."""
    values = random.normal(0, spread, shape) * np.where(random.random(shape) < 0.15, 4, 1)
    return np.rint(values * 128) / 128


def text(op, inputs, attributes):
    lines = [f"{name}: {kind} = placeholder" for name, kind in inputs]
    quoted = ", ".join(f"{k} = {json.dumps(v)}" for k, v in attributes.items())
    names = ", ".join(name for name, _ in inputs)
    lines.append(f"y = {op}({names}) {{ target = \"y\"{', ' if quoted else ''}{quoted} }}")
    return 'graph "case" { ' + " ".join(lines) + " return y }"


def shape_text(shape):
    return "f32[" + ", ".join(["N", *map(str, shape[1:])]) + "]"


def clear_of_ties(values, fmt):
    """Whether rounding does not hang on the last bit of a division and a root."""
    scaled = np.asarray(values) * 2.0**fmt.frac
    step = 0 if fmt.floor else 0.5
    return np.abs((scaled - step) - np.rint(scaled - step)).min() > 1e-3


def norm_parameters(channels, keys):
    while True:
        p = {
            "weight": numbers(channels, 0.7),
            "bias": numbers(channels, 1.0),
            "running_mean": numbers(channels, 1.0),
            "running_var": np.abs(numbers(channels, 1.0)) + 0.5,
        }
        scale = p["weight"] / np.sqrt(p["running_var"] + 1e-5)
        shift = p["bias"] - p["running_mean"] * scale
        if clear_of_ties(scale, format_of(keys, "weight")) and clear_of_ties(shift, format_of(keys, "bias")):
            return p, {"weight": scale, "bias": shift}


def case(op, shape, keys, attributes=None, params=None, others=None, form=None):
    """One line. `params`: shapes of parameters; `others`: shapes of further inputs with their operand."""
    a = attributes or {}
    form = form or EXACT.get(op) or NEAR[op]
    is_near = form not in EXACT.values()
    stored, used = {}, {}
    if op.startswith("batch_norm"):
        stored, used = norm_parameters(shape[1], keys)
    else:
        stored = {name: numbers(s, 0.8) for name, s in (params or {}).items()}
        used = stored
    x = random.integers(0, a["num_embeddings"], shape) if op == "embedding" else numbers(shape)
    inputs, kinds = [x], [("x", shape_text(shape) if op != "embedding" else f"i64[N, {shape[1]}]")]
    operands = {}
    for name, (other, operand) in (others or {}).items():
        values = numbers(other)
        # Nothing is divided by zero.
        values = np.abs(values) + 0.5 if op == "div" else values
        inputs.append(values)
        kinds.append((name, shape_text(other) if other[0] == ROWS else f"f32{list(other)}"))
        operands[name] = format_of(keys, operand).encode(values)
    data = format_of(keys, "data_in", op == "relu")
    first = x if op == "embedding" else data.encode(x)
    exact_bias = True
    for name, values in used.items():
        fmt = format_of(keys, name if name in ("weight", "bias") else "weight")
        if fmt is None:
            exact_bias, fmt = False, Format(32, 7)  # as it is: on the grid of `numbers`
        if name in ("weight", "bias"):
            operands[name] = fmt.encode(values)
    if is_near:
        floats = {k: v.values() for k, v in operands.items()}
        expected, check = form(first.values(), floats, a), "near"
        out = format_of(keys, "data_out")
        assert out is None
    else:
        result = form(first, operands, a)
        fits = result.widest < 2**24
        out = format_of(keys, "data_out")
        result = out.round(result) if out else result
        expected, check = result.values(), "exact" if fits else "codes"
        assert not fits or (expected == expected.astype(np.float32)).all()
        if not exact_bias:
            assert fits
            check = "float"
    line = {
        "op": op,
        "check": check,
        "graph": text(op, kinds, a),
        "rules": {op: keys},
        "rows": ROWS,
        "inputs": [short(v) for v in inputs],
        "params": {"y": tensors(stored)},
        "output": short(expected, check == "near"),
    }
    return json.dumps(line, separators=(",", ":"))


def tensors(stored):
    return {k: {"shape": list(v.shape), "values": short(v)} for k, v in stored.items()}


def chain(shape, nodes, rules):
    """One line for several nodes: name, operator, inputs, attributes, shapes of parameters. All have an exact form."""
    x = numbers(shape)
    values, all_stored, widest, lines = {"x": x}, {}, 0, [f"x: {shape_text(shape)} = placeholder"]
    for name, op, inputs, a, shapes in nodes:
        keys = rules.get(op, {})
        data, out = format_of(keys, "data_in", op == "relu"), format_of(keys, "data_out")
        read = lambda v: v if data is None else data.round(v) if isinstance(v, Fixed) else data.encode(v)
        operands = [read(values[source]) for source in inputs]
        if op.startswith("batch_norm"):
            stored, used = norm_parameters(a["num_features"], keys)
        else:
            stored = used = {port: numbers(s, 0.8) for port, s in shapes.items()}
        p = {port: format_of(keys, port).encode(v) for port, v in used.items()}
        if len(operands) > 1:
            p["other"] = operands[1]
        result = EXACT[op](operands[0], p, a)
        widest = max(widest, result.widest)
        values[name] = out.round(result) if out else result
        all_stored[name] = tensors(stored)
        quoted = "".join(f", {k} = {json.dumps(v)}" for k, v in a.items())
        lines.append(f"{name} = {op}({', '.join(inputs)}) {{ target = \"{name}\"{quoted} }}")
    assert widest < 2**24, widest
    last = nodes[-1][0]
    line = {
        "op": "chain",
        "check": "exact",
        "graph": 'graph "case" { ' + " ".join(lines) + f" return {last} }}",
        "rules": rules,
        "rows": ROWS,
        "inputs": [short(x)],
        "params": all_stored,
        "output": short(values[last].values()),
    }
    return json.dumps(line, separators=(",", ":"))


def short(values, digits=False):
    """Numbers without needless zeros, and those that are compared approximately without needless digits."""
    flat = np.asarray(values).reshape(-1).tolist()
    return [int(v) if v == int(v) else float(f"{v:.10g}") if digits else v for v in flat]


def cases():
    """Every operator; the rules are spread over them, all for the layers with weights."""
    for keys in RULES:
        yield case("linear", (ROWS, 7), keys, {"in_features": 7, "out_features": 4}, {"weight": (4, 7), "bias": (4,)})
    yield case("linear", (ROWS, 5), PLAIN, {"in_features": 5, "out_features": 3, "bias": False}, {"weight": (3, 5)})
    forms = [
        {"kernel_size": 3},
        {"kernel_size": 2, "stride": 2, "padding": 1},
        {"kernel_size": 3, "padding": 2, "dilation": 2},
        {"kernel_size": 1, "groups": 2},
    ]
    for index, keys in enumerate(RULES[:9]):
        form = forms[index % 4]
        channels = {"in_channels": 2, "out_channels": 4}
        inner = 2 // form.get("groups", 1)
        k = form["kernel_size"]
        params = {"weight": (4, inner, k), "bias": (4,)}
        yield case("conv1d", (ROWS, 2, 6), keys, channels | form, params)
        params = {"weight": (4, inner, k, k), "bias": (4,)}
        yield case("conv2d", (ROWS, 2, 4, 4), keys, channels | form, params)
    for keys in RULES[:9]:
        yield case("batch_norm1d", (ROWS, 5), keys, {"num_features": 5})
    yield case("batch_norm1d", (ROWS, 3, 4), PLAIN, {"num_features": 3})
    for keys in (PLAIN, RULES[4], RULES[6]):
        yield case("batch_norm2d", (ROWS, 3, 2, 2), keys, {"num_features": 3})
    for keys in (PLAIN, RULES[2], RULES[3]):
        yield case("embedding", (ROWS, 4), keys, {"num_embeddings": 6, "embedding_dim": 3}, {"weight": (6, 3)})
    plain = [rule([8, 4]), rule([8]), rule([6, 2], floor=True), rule([7, 3, False]), rule([8, 5], out=[4, 2]), rule([16, 12])]
    for keys in [*plain, rule([6, -1]), rule([8, 4, True])]:
        yield case("relu", (ROWS, 8), keys)
        yield case("identity", (ROWS, 8), keys)
    for keys in plain:
        yield case("relu6", (ROWS, 8), keys)
        yield case("hardtanh", (ROWS, 8), keys, {"min_val": -1.5, "max_val": 2.25})
        pools = {"kernel_size": 2, "stride": 1}
        yield case("max_pool1d", (ROWS, 2, 6), keys, {"kernel_size": 3, "stride": 2, "padding": 1})
        yield case("max_pool2d", (ROWS, 1, 4, 4), keys, {"kernel_size": 2, "stride": 1, "dilation": 2})
        yield case("avg_pool1d", (ROWS, 2, 6), keys, pools | {"padding": 1})
        yield case("avg_pool2d", (ROWS, 1, 4, 4), keys, pools)
        yield case("adaptive_max_pool1d", (ROWS, 2, 7), keys, {"output_size": 3})
        yield case("adaptive_max_pool2d", (ROWS, 1, 5, 4), keys, {"output_size": [2, 3]})
        yield case("adaptive_avg_pool1d", (ROWS, 2, 8), keys, {"output_size": 2})
        yield case("adaptive_avg_pool2d", (ROWS, 1, 4, 8), keys, {"output_size": [2, 2]})
        yield case("mean", (ROWS, 4, 2), keys, {"dim": [1], "keepdim": True})
        yield case("mean", (ROWS, 4, 2), keys, {"dim": [1, 2]})
        yield case("div", (ROWS, 6), keys, {"scalar": 4.0})
        for op in ("add", "sub", "mul"):
            yield case(op, (ROWS, 4), keys, others={"other": ((ROWS, 4), "data_in")})
            yield case(op, (ROWS, 2, 2), keys, others={"other": ((2, 1), "data_in")})
            yield case(op, (ROWS, 4), keys, {"scalar": -1.25})
    for keys in plain[::2]:
        yield case("dropout", (ROWS, 8), keys, {"p": 0.5})
        yield case("flatten", (ROWS, 2, 3), keys, {"start_dim": 1})
        yield case("reshape", (ROWS, 2, 3), keys, {"shape": ["N", 3, 2]})
        yield case("view", (ROWS, 2, 3), keys, {"shape": ["N", 6]})
        yield case("transpose", (ROWS, 2, 3), keys, {"dim0": 1, "dim1": 2})
        yield case("permute", (ROWS, 2, 3), keys, {"dims": [0, 2, 1]})
        yield case("cat", (ROWS, 3), keys, {"dim": 1}, others={"other": ((ROWS, 2), "data_in")})
        yield case("chunk", (ROWS, 6), keys, {"chunks": 2, "dim": 1})
        yield case("getitem", (ROWS, 4, 2), keys, {"index": ":, 1:3, 0"})
    for keys in RULES[:9]:
        yield case("matmul", (ROWS, 3, 4), keys, others={"other": ((4, 2), "weight")})
        yield case("bmm", (ROWS, 2, 4), keys, others={"other": ((ROWS, 4, 3), "weight")})
    yield case("matmul", (ROWS, 4), PLAIN, others={"other": ((4, 3), "weight")})
    for keys in (rule([8, 4]), rule([6, 2], floor=True), rule([7, 3, False])):
        for op in NEAR:
            if op in EXACT or op in ("layer_norm", "scaled_dot_product_attention"):
                continue
            yield case(op, (ROWS, 6), keys, {"dim": 1} if "softmax" in op else None)
        yield case("div", (ROWS, 6), keys, others={"other": ((ROWS, 6), "data_in")}, form=NEAR["div"])
        yield case("div", (ROWS, 6), keys, {"scalar": 3.0}, form=NEAR["div"])
        yield case("avg_pool2d", (ROWS, 1, 3, 6), keys, {"kernel_size": 3}, form=NEAR["avg_pool2d"])
        yield case("mean", (ROWS, 3, 2), keys, {"dim": [1]}, form=NEAR["mean"])
    for keys in (PLAIN, RULES[2], RULES[4]):
        yield case("layer_norm", (ROWS, 6), keys, {"normalized_shape": [6]}, {"weight": (6,), "bias": (6,)})
        others = {"key": ((ROWS, 4, 3), "weight"), "value": ((ROWS, 4, 2), "weight")}
        yield case("scaled_dot_product_attention", (ROWS, 2, 3), keys, others=others)
    yield from chains()
    for keys in (rule([8, 4]), rule([2, 0]), rule([6, 2], floor=True), rule([3, 1, False])):
        yield case("argmax", (ROWS, 6), keys)
        yield case("argmax", (ROWS, 3, 4), keys)


def chains():
    """What the planner makes one step of: a product, a norm, an activation; and what comes between."""
    dense = lambda name, source, i, o: (name, "linear", [source], {"in_features": i, "out_features": o}, {"weight": (o, i), "bias": (o,)})
    norm = lambda name, source, c, d: (name, f"batch_norm{d}d", [source], {"num_features": c}, {})
    plain = lambda name, op, source, **a: (name, op, [source], a, {})
    small = rule([8, 4], [6, 3], [8, 4])
    floored = rule([6, 2], [5, 4], [8, 4], floor=True)
    rounded = rule([8, 4], [6, 4], [8, 4], out=[8, 3])
    for linear_rule in (small, floored, rounded):
        for relu_rule in (None, rule([8, 4]), rule([6, 2, True], floor=True)):
            rules = {"linear": linear_rule} | ({"relu": relu_rule} if relu_rule else {})
            hidden = [dense("a", "x", 7, 6), plain("b", "relu", "a"), dense("c", "b", 6, 3)]
            yield chain((ROWS, 7), hidden, rules)
            normed = [dense("a", "x", 7, 6), norm("n", "a", 6, 1), plain("b", "relu", "n"), dense("c", "b", 6, 3)]
            yield chain((ROWS, 7), normed, rules | {"batch_norm1d": small})
            around = [dense("a", "x", 6, 6), plain("b", "relu", "a"), ("s", "add", ["b", "x"], {}, {}), dense("c", "s", 6, 2)]
            yield chain((ROWS, 6), around, rules | {"add": rule([7, 3])})
        conv = ("a", "conv2d", ["x"], {"in_channels": 2, "out_channels": 3, "kernel_size": 2, "padding": 1}, {"weight": (3, 2, 2, 2), "bias": (3,)})
        image = [conv, norm("n", "a", 3, 2), plain("b", "relu", "n"), plain("p", "max_pool2d", "b", kernel_size=2)]
        image += [plain("f", "flatten", "p", start_dim=1), dense("c", "f", 12, 3)]
        rules = {"conv2d": linear_rule, "batch_norm2d": small, "relu": rule([8, 4]), "linear": linear_rule}
        yield chain((ROWS, 2, 3, 4), image, rules)


if __name__ == "__main__":
    path = Path(__file__).with_suffix(".jsonl")
    path.write_text("\n".join(cases()) + "\n")
    print(path, path.stat().st_size)
