"""The benchmark networks as PyTorch modules, with data to run them on."""
import images
import torch
import torch.nn as nn
import torch.nn.functional as F


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


class BertLayer(nn.Module):
    def __init__(self, d, heads):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.f1, self.f2 = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.ln1, self.ln2 = nn.LayerNorm(d, 1e-12), nn.LayerNorm(d, 1e-12)

    def forward(self, x, mask):
        n, t, d = x.shape
        q, k, v = (f(x).view(n, t, self.heads, d // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        p = 0.1 if self.training else 0.0
        a = F.scaled_dot_product_attention(q, k, v, mask, dropout_p=p)
        x = self.ln1(x + F.dropout(self.o(a.transpose(1, 2).reshape(n, t, d)), p))
        return self.ln2(x + F.dropout(self.f2(F.gelu(self.f1(x))), p))


class Bert(nn.Module):
    def __init__(self, d=128, heads=2, layers=2):
        super().__init__()
        self.words, self.types, self.position = nn.Embedding(30522, d), nn.Embedding(2, d), nn.Parameter(torch.randn(512, d) * 0.02)
        self.ln, self.dropout = nn.LayerNorm(d, 1e-12), nn.Dropout(0.1)
        self.layers = nn.ModuleList(BertLayer(d, heads) for _ in range(layers))
        self.pooler, self.classifier = nn.Linear(d, d), nn.Linear(d, 2)

    def forward(self, ids, types, mask):
        mask = (mask[:, None, None, :] - 1) * torch.finfo(torch.float32).max
        x = self.dropout(self.ln(self.words(ids) + self.types(types) + self.position[:ids.shape[1]]))
        for layer in self.layers:
            x = layer(x, mask)
        return self.classifier(self.dropout(torch.tanh(self.pooler(x[:, 0]))))


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


def jsc_toy():
    layers = [nn.BatchNorm1d(16), nn.ReLU()]
    for i, o in ((16, 8), (8, 8), (8, 5)):
        layers += [nn.Linear(i, o), nn.BatchNorm1d(o), nn.ReLU()]
    return nn.Sequential(*layers)


def jsc_s():
    return nn.Sequential(
        nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(),
        nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 5), nn.BatchNorm1d(5), nn.ReLU(),
    )


class ImageBuilder:
    """Modules and the values they take; a value is its place."""

    def __init__(self):
        self.modules, self.inputs = nn.ModuleList(), []

    def node(self, module, *inputs):
        self.modules.append(module)
        self.inputs.append(inputs)
        return len(self.inputs)

    def conv(self, x, i, o, kernel, stride, padding, groups=1, bias=False):
        return self.node(nn.Conv2d(i, o, kernel, stride, padding, groups=groups, bias=bias), x)

    def norm(self, x, n):
        return self.node(nn.BatchNorm2d(n), x)

    def relu(self, x):
        return self.node(nn.ReLU(inplace=True), x)

    def relu6(self, x):
        return self.node(nn.ReLU6(inplace=True), x)

    def max_pool(self, x, kernel, stride, padding):
        return self.node(nn.MaxPool2d(kernel, stride, padding), x)

    def mean(self, x):
        return self.node(nn.AdaptiveAvgPool2d(1), x)

    def flatten(self, x):
        return self.node(nn.Flatten(), x)

    def linear(self, x, i, o):
        return self.node(nn.Linear(i, o), x)

    def add(self, a, b):
        return self.node(Sum(), a, b)


class Sum(nn.Module):
    def forward(self, a, b):
        return a + b


class ImageNetwork(nn.Module):
    def __init__(self, network, side):
        super().__init__()
        builder = ImageBuilder()
        network(builder, 0, side)
        self.steps, self.inputs = builder.modules, builder.inputs
        self.last = {i: k for k, inputs in enumerate(builder.inputs) for i in inputs}

    def forward(self, x):
        values = {0: x}
        for k, (step, inputs) in enumerate(zip(self.steps, self.inputs)):
            values[k + 1] = step(*(values[i] for i in inputs))
            for i in inputs:
                if self.last[i] == k:
                    values.pop(i, None)
        return values[len(self.steps)]


def rows(n, width, classes):
    return torch.randn(n, *width), torch.randint(0, classes, (n,))


def network(name, batch, batches=4):
    """The module, its inputs and its labels; of images, as many batches as asked for."""
    if "@" in name:
        build, shape = images.parse(name)
        x, y = rows(batch * batches, shape, 10)
        return ImageNetwork(build, shape[1]), [x], y
    if name in VECTORS:
        x, y = rows(65536, (16,), 5)
        return VECTORS[name](), [x], y
    if name == "lenet5":
        x, y = rows(2048, (1, 28, 28), 10)
        return lenet5(), [x], y
    if name == "transformer":
        x = torch.randint(0, 64, (512, 64))
        return Transformer(), [x], torch.roll(x, -1, 1)
    if name == "bert-tiny":
        shape = 512, 128
        inputs = [torch.randint(0, 30522, shape), torch.randint(0, 2, shape), torch.ones(shape)]
        return Bert(), inputs, torch.randint(0, 2, shape[:1])
    raise SystemExit(f"no network called {name}")


VECTORS = {"jsc-tiny": jsc_tiny, "mlp": mlp, "mlp-qat": lambda: mlp(IntegerLinear)}
MODULES = {"jsc-tiny": jsc_tiny, "jsc-toy": jsc_toy, "jsc-s": jsc_s, "lenet5": lenet5}
