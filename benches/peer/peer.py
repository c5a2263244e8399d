"""PyTorch's side of the benchmarks.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  train NET eager|fused ROWS STEPS   one Adam step on a batch; NET may be a network on images, see images.py
  eval NET ROWS STEPS                a forward pass in evaluation mode, without gradients
  memory train|eval NET ROWS STEPS   no times but KiB of memory before the network is made and at the peak
  quantize FORMAT ELEMENTS REPEATS   PyTorch's expression of the same rounding
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

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_networks import MODULES, integer, network, rows

torch.set_num_threads(int(sys.argv[1]))
torch.manual_seed(0)


cache = {}


def timed(repeat, work):
    cpu, wall = time.process_time(), time.perf_counter()
    for i in range(repeat):
        work(i)
    print((time.process_time() - cpu) / repeat, (time.perf_counter() - wall) / repeat, flush=True)


def batches(inputs, batch):
    """The i-th batch of every input, as a function; after the last one the first follows."""
    return lambda i: [x[i * batch % len(x):i * batch % len(x) + batch] for x in inputs]


def trainer(name, mode, batch, count=4):
    """One step of training, as a function of its number; of images there are `count` batches."""
    module, inputs, y = network(name, batch, count)
    optimizer = torch.optim.Adam(module.parameters(), lr=1e-3, fused=mode == "fused")
    batch_at = batches([*inputs, y], batch)

    def step(i):
        *x, labels = batch_at(i)
        optimizer.zero_grad()
        F.cross_entropy(module(*x), labels.reshape(-1)).backward()
        optimizer.step()

    return step


def evaluator(name, batch, count=4):
    """One forward pass in evaluation mode, as a function of its number; call it without gradients."""
    module, inputs, _ = network(name, batch, count)
    module.eval()
    batch_at = batches(inputs, batch)

    return lambda i: module(*batch_at(i))


def train(name, mode, batch, steps):
    key = name, mode, batch
    if key not in cache:
        cache[key] = trainer(name, mode, batch)
        for i in range(3):
            cache[key](i)
    timed(steps, cache[key])


def evaluate(name, batch, steps):
    key = "eval", name, batch
    with torch.no_grad():
        if key not in cache:
            cache[key] = evaluator(name, batch)
            cache[key](0)
        timed(steps, cache[key])


def resident(field):
    """A line of this process's status, in KiB."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(field))


def memory(work, name, batch, steps):
    """Prints KiB before the network is made and at the peak, with one batch of data."""
    with open("/proc/self/clear_refs", "w") as peak:
        peak.write("5")
    start = resident("VmRSS:")
    with torch.set_grad_enabled(work == "train"):
        run = trainer(name, "eager", batch, 1) if work == "train" else evaluator(name, batch, 1)
        for i in range(steps):
            run(i)
    print(start, resident("VmHWM:"), flush=True)


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
        case ["train", name, mode, batch, steps]:
            train(name, mode, int(batch), int(steps))
        case ["eval", name, batch, steps]:
            evaluate(name, int(batch), int(steps))
        case ["memory", work, name, batch, steps]:
            memory(work, name, int(batch), int(steps))
        case ["quantize", name, elements, repeat]:
            quantize(name, int(elements), int(repeat))
        case ["copy", elements, repeat]:
            copy(int(elements), int(repeat))
        case other:
            raise SystemExit(f"unknown request {other}")
