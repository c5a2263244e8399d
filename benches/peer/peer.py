"""PyTorch's side of the benchmarks.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  train NET eager|fused STEPS        one Adam step on the network's batch
  eval NET STEPS                     a forward pass in evaluation mode, without gradients
  quantize FORMAT ELEMENTS REPEATS   PyTorch's expression of the same rounding
  train NET@SIDE eager|fused STEPS ROWS and eval NET@SIDE STEPS ROWS
                                     the same for a network on images, see images.py
  copy ELEMENTS REPEATS              a plain copy of the array
  fit NET bare|lightning ROWS EPOCHS an epoch of training with shuffling and validation, on rows in memory
  quality NET FOLDER EPOCHS BATCH LR SEED
                                     trains on FOLDER/{train,val,test}_{x,y}.npy; answers test accuracy and loss of the
                                     epoch with the lowest validation loss
  search NET ROWS SAMPLER TRIALS     a trial of Optuna: widths for every linear layer, scored on ROWS rows
  profile NET ROWS vectorised|online an observation of every linear layer's input with seven statistics, for one row
"""
import sys
import time
import warnings

import images
import numpy as np
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


def network(name, batch=None):
    """The module, its data and the batch size."""
    if "@" in name:
        build, shape = images.parse(name)
        return ImageNetwork(build, shape[1]), *rows(batch * 4, shape, 10), batch
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


def train(name, mode, steps, batch=None):
    key = name, mode
    if key not in cache:
        module, x, y, batch = network(name, batch)
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


def evaluate(name, steps, batch=None):
    if ("eval", name) not in cache:
        cache["eval", name] = network(name, batch)
    module, x, _, batch = cache["eval", name]
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


MODULES = {"jsc-tiny": jsc_tiny, "jsc-toy": jsc_toy, "jsc-s": jsc_s, "lenet5": lenet5}


def bare_epoch(module, optimizer, x, y, val_x, val_y, batch):
    """A plain loop that slices tensors in memory; validation at the end. Returns the validation loss."""
    module.train()
    order = torch.randperm(len(x))
    for start in range(0, len(x), batch):
        index = order[start:start + batch]
        if len(index) == 1:
            continue
        optimizer.zero_grad()
        F.cross_entropy(module(x[index]), y[index]).backward()
        optimizer.step()
    module.eval()
    with torch.no_grad():
        losses = [F.cross_entropy(module(val_x[s:s + 1024]), val_y[s:s + 1024], reduction="sum") for s in range(0, len(val_x), 1024)]
    return sum(losses).item() / len(val_x)


def fit(name, mode, count, epochs):
    x, y = rows(count, (16,), 5)
    val_x, val_y = rows(count // 10, (16,), 5)
    module = MODULES[name]()
    if mode == "bare":
        optimizer = torch.optim.Adam(module.parameters(), lr=1e-3)
        timed(epochs, lambda i: bare_epoch(module, optimizer, x, y, val_x, val_y, 256))
        return
    trainer, wrapped, loaders = lightning(module, x, y, val_x, val_y, epochs)
    cpu, wall = time.process_time(), time.perf_counter()
    trainer.fit(wrapped, *loaders)
    print((time.process_time() - cpu) / epochs, (time.perf_counter() - wall) / epochs, flush=True)


def lightning(module, x, y, val_x, val_y, epochs):
    """PyTorch Lightning with a DataLoader, as the original trains."""
    import logging

    import lightning.pytorch as pl
    from torch.utils.data import DataLoader, TensorDataset

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")

    class Wrapped(pl.LightningModule):
        def __init__(self):
            super().__init__()
            self.model = module

        def training_step(self, batch, _):
            loss = F.cross_entropy(self.model(batch[0]), batch[1])
            self.log("train_loss_step", loss, prog_bar=True)
            return loss

        def validation_step(self, batch, _):
            self.log("val_loss_epoch", F.cross_entropy(self.model(batch[0]), batch[1]), on_epoch=True)

        def configure_optimizers(self):
            return torch.optim.Adam(self.parameters(), lr=1e-3)

    trainer = pl.Trainer(
        max_epochs=epochs, accelerator="cpu", logger=False, enable_progress_bar=False, enable_checkpointing=False,
        enable_model_summary=False,
    )
    loaders = DataLoader(TensorDataset(x, y), 256, shuffle=True), DataLoader(TensorDataset(val_x, val_y), 256)
    return trainer, Wrapped(), loaders


def quality(name, folder, epochs, batch, lr, seed):
    torch.manual_seed(seed)
    arrays = {f"{s}_{k}": torch.from_numpy(np.load(f"{folder}/{s}_{k}.npy")) for s in ("train", "val", "test") for k in "xy"}
    for split in ("train", "val", "test"):
        arrays[f"{split}_y"] = arrays[f"{split}_y"].reshape(-1).long()
        if name == "lenet5":
            arrays[f"{split}_x"] = arrays[f"{split}_x"].reshape(-1, 1, 28, 28)
    module = MODULES[name]()
    optimizer = torch.optim.Adam(module.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs, 1e-6)
    best, answer = float("inf"), None
    for _ in range(epochs):
        val = bare_epoch(module, optimizer, arrays["train_x"], arrays["train_y"], arrays["val_x"], arrays["val_y"], batch)
        schedule.step()
        if val < best:
            with torch.no_grad():
                logits = module(arrays["test_x"])
            accuracy = (logits.argmax(1) == arrays["test_y"]).float().mean().item()
            best, answer = val, (accuracy, F.cross_entropy(logits, arrays["test_y"]).item())
    print(*answer, flush=True)


class WidthLinear(nn.Linear):
    """A linear layer whose operands are rounded to chosen widths, half of the bits behind the point."""
    widths = (8, 8, 8)

    def forward(self, x):
        a, w, b = self.widths
        return F.linear(integer(x, a, a // 2), integer(self.weight, w, w // 2), integer(self.bias, b, b // 2))


def with_widths(module):
    """The module with every linear layer replaced."""
    layers = []
    for layer in module:
        if isinstance(layer, nn.Linear):
            replaced = WidthLinear(layer.in_features, layer.out_features)
            replaced.load_state_dict(layer.state_dict())
            layer = replaced
        layers.append(layer)
    return nn.Sequential(*layers)


def search(name, count, sampler, trials):
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    module = with_widths(MODULES[name]()).eval()
    linears = [layer for layer in module if isinstance(layer, WidthLinear)]
    weights = [layer.weight.numel() for layer in linears]
    x, y = rows(count, (16,), 5)

    def objective(trial):
        for k, layer in enumerate(linears):
            layer.widths = (
                trial.suggest_categorical(f"{k}/data_in_width", [4, 8]),
                trial.suggest_categorical(f"{k}/weight_width", [2, 4, 8]),
                trial.suggest_categorical(f"{k}/bias_width", [2, 4, 8]),
            )
        with torch.no_grad():
            logits = module(x)
            accuracy = (logits.argmax(1) == y).float().mean().item()
            F.cross_entropy(logits, y).item()
        bits = sum(layer.widths[1] * n for layer, n in zip(linears, weights)) / sum(weights)
        return accuracy, bits

    samplers = {"random": optuna.samplers.RandomSampler, "tpe": optuna.samplers.TPESampler}
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=samplers[sampler](seed=0))
    study.optimize(objective, n_trials=10)
    cpu, wall = time.process_time(), time.perf_counter()
    study.optimize(objective, n_trials=trials)
    print((time.process_time() - cpu) / trials, (time.perf_counter() - wall) / trials, flush=True)


def profile(name, count, mode):
    module = MODULES[name]().eval()
    x, _ = rows(count, (16,), 5)
    cpu, wall = time.process_time(), time.perf_counter()
    with torch.no_grad():
        (profile_vectorised if mode == "vectorised" else profile_online)(module, x)
    print((time.process_time() - cpu) / count, (time.perf_counter() - wall) / count, flush=True)


def hooked(module, see):
    for k, layer in enumerate(module):
        if isinstance(layer, nn.Linear):
            layer.register_forward_pre_hook(lambda _, inputs, k=k: see(k, inputs[0]))


def profile_vectorised(module, x):
    """All inputs kept, then NumPy in double precision: as fast as this gets in Python."""
    seen = {}
    hooked(module, lambda k, values: seen.setdefault(k, []).append(values))
    for batch in x.split(1024):
        module(batch)
    for parts in seen.values():
        data = torch.cat(parts).numpy().astype(np.float64)
        mean, deviation = data.mean(), data.std(ddof=1)
        data.var(ddof=1), np.abs(data).mean(), mean - 3 * deviation, mean + 3 * deviation
        data.min(), data.max(), np.quantile(data, [0.025, 0.975])


def profile_online(module, x):
    """Statistics that are fed sample by sample, batch after batch, as an object with an update method each is."""
    seen = {}

    def see(k, values):
        state = seen.setdefault(k, {"kept": None, "count": 0, "mean": 0.0, "m2": 0.0, "low": None, "high": None, "abs": 0.0})
        state["kept"] = values if state["kept"] is None else torch.cat([state["kept"], values])
        for sample in values:
            state["count"] += 1
            delta = sample - state["mean"]
            state["mean"] = state["mean"] + delta / state["count"]
            state["m2"] = state["m2"] + delta * (sample - state["mean"])
            low, high = sample.min(), sample.max()
            state["low"] = low if state["low"] is None else torch.minimum(state["low"], low)
            state["high"] = high if state["high"] is None else torch.maximum(state["high"], high)
            state["abs"] = state["abs"] + (sample.abs() - state["abs"]) / state["count"]

    hooked(module, see)
    for batch in x.split(512):
        module(batch)
    for state in seen.values():
        data = state["kept"].numpy()
        data.var(ddof=1), np.quantile(data, [0.025, 0.975])


for line in sys.stdin:
    match line.split():
        case ["search", name, count, sampler, trials]:
            search(name, int(count), sampler, int(trials))
        case ["profile", name, count, mode]:
            profile(name, int(count), mode)
        case ["fit", name, mode, count, epochs]:
            fit(name, mode, int(count), int(epochs))
        case ["quality", name, folder, epochs, batch, lr, seed]:
            quality(name, folder, int(epochs), int(batch), float(lr), int(seed))
        case ["train", name, mode, steps]:
            train(name, mode, int(steps))
        case ["train", name, mode, steps, batch]:
            train(name, mode, int(steps), int(batch))
        case ["eval", name, steps, batch]:
            evaluate(name, int(steps), int(batch))
        case ["eval", name, steps]:
            evaluate(name, int(steps))
        case ["quantize", name, elements, repeat]:
            quantize(name, int(elements), int(repeat))
        case ["copy", elements, repeat]:
            copy(int(elements), int(repeat))
        case other:
            raise SystemExit(f"unknown request {other}")
