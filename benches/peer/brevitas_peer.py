"""Brevitas's side of the benchmark of quantisation-aware training.

Reads requests from standard input, one a line, and answers each with test accuracy and loss of the epoch with the lowest
validation loss:
  brevitas NET FOLDER BITS EPOCHS BATCH LR SEED defaults|learned
                                     starts from the weights that FOLDER/names.txt lists, trains on
                                     FOLDER/{train,val,test}_{x,y}.npy

What flows into the network and into its first linear or convolution layer has 8 bits, weights and activations BITS. Weights
have a scale for each output channel, activations one, which is learned. Batch norm and biases are float.
  defaults   Int8WeightPerChannelFloat and Uint8ActPerTensorFloat: a weight's scale follows from its largest value, that of an
             activation starts from the 99.999th percentile over the first 300 steps
  learned    Int8WeightPerChannelFloatMSE and Uint8ActPerTensorFloatMSE: both are learned and start from the smallest squared
             error, an activation's over the first 30 steps
"""
import sys
import warnings

import brevitas.nn as qnn
import brevitas.quant as quant
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

warnings.filterwarnings("ignore")
torch.set_num_threads(int(sys.argv[1]))

INPUT_BITS = 8
WEIGHTS = {"defaults": quant.Int8WeightPerChannelFloat, "learned": quant.Int8WeightPerChannelFloatMSE}
ACTIVATIONS = {"defaults": quant.Uint8ActPerTensorFloat, "learned": quant.Uint8ActPerTensorFloatMSE}
STEPS = {"defaults": 300, "learned": 30}


class Layers:
    """The layers of a network with these bits."""

    def __init__(self, bits, scales):
        self.bits, self.scales = bits, scales

    def linear(self, i, o):
        return qnn.QuantLinear(i, o, bias=True, weight_quant=WEIGHTS[self.scales], weight_bit_width=self.bits)

    def conv(self, i, o, padding=0):
        weights = WEIGHTS[self.scales]
        return qnn.QuantConv2d(i, o, 5, padding=padding, bias=True, weight_quant=weights, weight_bit_width=self.bits)

    def relu(self, bits=None):
        steps = STEPS[self.scales]
        return qnn.QuantReLU(act_quant=ACTIVATIONS[self.scales], bit_width=bits or self.bits, collect_stats_steps=steps)

    def input(self):
        return qnn.QuantIdentity(act_quant=quant.Int8ActPerTensorFloat, bit_width=INPUT_BITS)


def jsc_s(q):
    return nn.Sequential(
        q.input(), nn.BatchNorm1d(16), q.relu(INPUT_BITS), q.linear(16, 64), nn.BatchNorm1d(64), q.relu(),
        q.linear(64, 32), q.relu(), q.linear(32, 32), q.relu(), q.linear(32, 32), q.relu(), q.linear(32, 5),
        nn.BatchNorm1d(5), nn.ReLU(),
    )


def lenet5(q):
    return nn.Sequential(
        q.input(), q.conv(1, 6, padding=2), q.relu(), nn.MaxPool2d(2), q.conv(6, 16), q.relu(), nn.MaxPool2d(2),
        nn.Flatten(), q.linear(400, 120), q.relu(), q.linear(120, 84), q.relu(), q.linear(84, 10),
    )


# The network, and the shape of a row.
NETWORKS = {"jsc-s": (jsc_s, (16,)), "lenet5": (lenet5, (1, 28, 28))}


def load(module, folder):
    """Gives every layer with weights those of the next name in names.txt."""
    names = open(f"{folder}/names.txt").read().split()
    prefixes = list(dict.fromkeys(name.rpartition(".")[0] for name in names))
    layers = [layer for layer in module if isinstance(getattr(layer, "weight", None), nn.Parameter)]
    assert len(layers) == len(prefixes), f"{len(prefixes)} layers have weights, {len(layers)} expect some"
    for name in names:
        prefix, _, leaf = name.rpartition(".")
        target = getattr(layers[prefixes.index(prefix)], leaf)
        values = torch.from_numpy(np.load(f"{folder}/{name}.npy"))
        assert target.shape == values.shape, f"{name} has the shape {tuple(values.shape)}"
        with torch.no_grad():
            target.copy_(values)


def score(module, x, y):
    """Accuracy and mean loss in evaluation mode."""
    module.eval()
    with torch.no_grad():
        logits = torch.cat([torch.as_tensor(module(part)) for part in x.split(1024)])
    return (logits.argmax(1) == y).float().mean().item(), F.cross_entropy(logits, y).item()


def epoch(module, optimizer, x, y, batch):
    module.train()
    for index in torch.randperm(len(x)).split(batch):
        if len(index) > 1:
            optimizer.zero_grad()
            F.cross_entropy(module(x[index]), y[index]).backward()
            optimizer.step()


def run(name, folder, bits, epochs, batch, rate, seed, scales):
    torch.manual_seed(seed)
    build, shape = NETWORKS[name]
    module = build(Layers(bits, scales))
    load(module, folder)
    splits = {}
    for split in ("train", "val", "test"):
        x, y = (torch.from_numpy(np.load(f"{folder}/{split}_{part}.npy")) for part in "xy")
        splits[split] = x.reshape(-1, *shape), y.reshape(-1).long()
    optimizer = torch.optim.Adam(module.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs, 1e-6)
    best, answer = float("inf"), (float("nan"), float("nan"))
    for _ in range(epochs):
        epoch(module, optimizer, *splits["train"], batch)
        schedule.step()
        _, loss = score(module, *splits["val"])
        if loss < best:
            best, answer = loss, score(module, *splits["test"])
    print(*answer, flush=True)


for line in sys.stdin:
    match line.split():
        case ["brevitas", name, folder, bits, epochs, batch, rate, seed, scales]:
            run(name, folder, int(bits), int(epochs), int(batch), float(rate), int(seed), scales)
        case other:
            raise SystemExit(f"unknown request {other}")
