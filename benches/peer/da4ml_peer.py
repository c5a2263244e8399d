"""da4ml's side of the benchmark of hardware.

Reads requests from standard input, one a line:
  da4ml FILE FOLDER DELAY   writes the Verilog of the network in FILE (an npz of W0…, B0…, shifts, x, y) to FOLDER, cut into
                            stages of at most DELAY; answers with CPU seconds up to the netlist, and stages

The netlist must give the file's y for its x, or nothing is answered.
"""
import contextlib
import pathlib
import sys
import time

import numpy as np
from da4ml.codegen import VerilogModel
from da4ml.trace import FixedVariableArrayInput, HWConfig, comb_trace
from da4ml.trace.ops import relu


def traced(network):
    """The network over fixed-point variables: inputs, results, and the bits that results are shifted by."""
    inputs = FixedVariableArrayInput((network["W0"].shape[1],), HWConfig(1, -1, -1)).quantize(k=1, i=7, f=0)
    values, shift = inputs, 0
    layers = sum(name.startswith("W") for name in network.files)
    for layer in range(layers):
        weights = network[f"W{layer}"].astype(np.float64).T
        values = values @ weights + network[f"B{layer}"].astype(np.float64) * 2.0**shift
        if layer < layers - 1:
            shift += int(network["shifts"][layer])
            values = relu(values).quantize(k=0, i=6 + shift, f=-shift, overflow_mode="SAT", round_mode="RND")
    return inputs, values, shift


def answer(file, folder, delay):
    network = np.load(file)
    start = time.process_time()
    inputs, results, shift = traced(network)
    netlist = comb_trace(inputs, results)
    seconds = time.process_time() - start
    rows = network["x"].astype(np.float64)
    got = netlist.predict(rows).reshape(len(rows), -1) / 2.0**shift
    if not np.array_equal(got, network["y"]):
        return "the netlist is another function"
    model = VerilogModel(netlist, "net", folder, latency_cutoff=float(delay))
    with contextlib.redirect_stdout(sys.stderr):
        model.write()
    return f"{seconds} {len(list(pathlib.Path(folder).glob('src/net_stage*.v')))}"


for line in sys.stdin:
    _, *words = line.split()
    print(answer(*words), flush=True)
