"""PyTorch's side of the benchmarks.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  train NET eager|fused STEPS        one Adam step on the network's batch
  eval NET STEPS                     a forward pass in evaluation mode, without gradients
  quantize FORMAT ELEMENTS REPEATS   PyTorch's expression of the same rounding
  copy ELEMENTS REPEATS              a plain copy of the array
"""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)


class Round(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.round()

    @staticmethod
    def backward(ctx, g):
        return g.clone()


class Clamp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, low, high):
        ctx.save_for_backward(x)
        ctx.bounds = low, high
        return x.clamp(low, high)

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        low, high = ctx.bounds
        return g * (~((x < low) | (x > high))), None, None


def integer(x, width=8, frac=4):
    """Fixed point with a straight-through gradient, written as the original system writes it."""
    return Clamp.apply(Round.apply(x.mul(2**frac)), -(2 ** (width - 1)), 2 ** (width - 1) - 1).div(2**frac)


class IntegerLinear(nn.Linear):
    def forward(self, x):
        return F.linear(integer(x), integer(self.weight), integer(self.bias))


class Block(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.qkv, self.o = nn.LayerNorm(d), nn.Linear(d, 3 * d), nn.Linear(d, d)
        self.ln2, self.f1, self.f2 = nn.LayerNorm(d), nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

    def forward(self, x):
        n, t, d = x.shape
        q, k, v = self.qkv(self.ln1(x)).view(n, t, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        a = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.o(a.transpose(1, 2).reshape(n, t, d))
        return x + self.f2(F.gelu(self.f1(self.ln2(x))))


class Transformer(nn.Module):
    def __init__(self, vocabulary=64, d=64, heads=4, layers=2, length=64):
        super().__init__()
        self.embed = nn.Embedding(vocabulary, d)
        self.position = nn.Parameter(torch.randn(length, d) * 0.02)
        self.blocks = nn.Sequential(*[Block(d, heads) for _ in range(layers)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, vocabulary)

    def forward(self, x):
        return self.head(self.ln(self.blocks(self.embed(x) + self.position))).flatten(0, 1)


def mlp(linear=nn.Linear):
    layers = []
    for i, o in ((16, 64), (64, 32), (32, 32)):
        layers += [linear(i, o), nn.BatchNorm1d(o), nn.ReLU()]
    return nn.Sequential(*layers, linear(32, 5))


def lenet5():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )


def jsc_tiny():
    return nn.Sequential(nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 5), nn.ReLU())


def rows(n, width, classes):
    return torch.randn(n, *width), torch.randint(0, classes, (n,))


def network(name):
    """The module, its data and the batch size."""
    if name == "jsc-tiny":
        return jsc_tiny(), *rows(65536, (16,), 5), 256
    if name == "mlp":
        return mlp(), *rows(65536, (16,), 5), 256
    if name == "mlp-qat":
        return mlp(IntegerLinear), *rows(65536, (16,), 5), 256
    if name == "lenet5":
        return lenet5(), *rows(2048, (1, 28, 28), 10), 64
    if name == "transformer":
        x = torch.randint(0, 64, (512, 64))
        return Transformer(), x, torch.roll(x, -1, 1), 32
    raise SystemExit(f"no network called {name}")


cache = {}


def timed(repeat, work):
    cpu, wall = time.process_time(), time.perf_counter()
    for i in range(repeat):
        work(i)
    print((time.process_time() - cpu) / repeat, (time.perf_counter() - wall) / repeat, flush=True)


def train(name, mode, steps):
    key = name, mode
    if key not in cache:
        module, x, y, batch = network(name)
        cache[key] = module, x, y, batch, torch.optim.Adam(module.parameters(), lr=1e-3, fused=mode == "fused")
    module, x, y, batch, optimizer = cache[key]

    def step(i):
        start = i * batch % len(x)
        optimizer.zero_grad()
        F.cross_entropy(module(x[start:start + batch]), y[start:start + batch].reshape(-1)).backward()
        optimizer.step()

    for i in range(3):
        step(i)
    timed(steps, step)


def evaluate(name, steps):
    module, x, _, batch = cache.setdefault(("eval", name), network(name))
    module.eval()
    with torch.no_grad():
        timed(steps, lambda i: module(x[i * batch % len(x):i * batch % len(x) + batch]))


def minifloat(x, width=8, exponent_width=4):
    """Nearest value with subnormals, saturating: the usual expression on tensors."""
    bias, m = 2 ** (exponent_width - 1) - 1, width - 1 - exponent_width
    top = 2 ** exponent_width - 1 - bias
    e = torch.floor(torch.log2(x.abs())).clamp(1 - bias, top)
    step = torch.exp2(e - m)
    largest = 2.0 ** top * (2 - 2.0 ** -m)
    return ((x / step).round() * step).clamp(-largest, largest)


def block_fp(x, width=8, exponent_width=8, block=16):
    m, bias = width - 1, 2 ** (exponent_width - 1) - 1
    b = x.reshape(-1, block)
    e = (torch.floor(torch.log2(b.abs().amax(1, keepdim=True))) + 1).clamp(-bias, 2 ** exponent_width - 1 - bias)
    scale = torch.exp2(e - m)
    return ((b / scale).round().clamp(-(2**m) + 1, 2**m - 1) * scale).reshape(x.shape)


def mxint(x, width=8, block=32):
    b = x.reshape(-1, block)
    scale = torch.exp2(torch.floor(torch.log2(b.abs().amax(1, keepdim=True))) - (width - 2))
    top = 2 ** (width - 1) - 1
    return ((b / scale).round().clamp(-top, top) * scale).reshape(x.shape)


FORMATS = {
    "integer": lambda x: x.mul(16).round().clamp(-128, 127).div(16),
    "minifloat_ieee": minifloat,
    "block_fp": block_fp,
    "mxint": mxint,
}


def quantize(name, elements, repeat):
    x = torch.randn(elements)
    with torch.no_grad():
        FORMATS[name](x)
        timed(repeat, lambda i: FORMATS[name](x))


def copy(elements, repeat):
    x, y = torch.randn(elements), torch.empty(elements)
    timed(repeat, lambda i: y.copy_(x))


for line in sys.stdin:
    match line.split():
        case ["train", name, mode, steps]:
            train(name, mode, int(steps))
        case ["eval", name, steps]:
            evaluate(name, int(steps))
        case ["quantize", name, elements, repeat]:
            quantize(name, int(elements), int(repeat))
        case ["copy", elements, repeat]:
            copy(int(elements), int(repeat))
        case other:
            raise SystemExit(f"unknown request {other}")
