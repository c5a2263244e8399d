"""The side of da4ml and alkaid in the benchmark of hardware.

Reads requests from standard input, one a line:
  da4ml FILE FOLDER DELAY    writes the Verilog of the network in FILE (an npz of W0…, B0…, shifts, x, y) to FOLDER, cut into
                             stages of at most DELAY; answers with CPU seconds up to the netlist, and stages
  alkaid FILE FOLDER DELAY   the same by alkaid

The netlist must give the file's y for its x, or nothing is answered.
"""
import contextlib
import pathlib
import sys
import time

import alkaid.codegen
import alkaid.trace
import alkaid.trace.ops
import da4ml.codegen
import da4ml.trace
import da4ml.trace.ops
import numpy as np

# Variables, hardware, activation, netlist, writer, and the files that are its stages.
SIDES = {
    "da4ml": (
        da4ml.trace.FixedVariableArrayInput,
        da4ml.trace.HWConfig(1, -1, -1),
        da4ml.trace.ops.relu,
        da4ml.trace.comb_trace,
        lambda netlist, folder, delay: da4ml.codegen.VerilogModel(netlist, "net", folder, latency_cutoff=delay),
        "src/net_stage*.v",
    ),
    "alkaid": (
        alkaid.trace.FVArrayInput,
        alkaid.trace.HWConfig(1, -1, -1),
        alkaid.trace.ops.relu,
        alkaid.trace.trace,
        lambda netlist, folder, delay: alkaid.codegen.RTLModel(netlist, folder, "net", latency_cutoff=delay),
        "src/logic*.v",
    ),
}


def traced(network, variables, hardware, relu):
    """The network over fixed-point variables: inputs, results, and the bits that results are shifted by."""
    inputs = variables((network["W0"].shape[1],), hardware).quantize(k=1, i=7, f=0)
    values, shift = inputs, 0
    layers = sum(name.startswith("W") for name in network.files)
    for layer in range(layers):
        weights = network[f"W{layer}"].astype(np.float64).T
        values = values @ weights + network[f"B{layer}"].astype(np.float64) * 2.0**shift
        if layer < layers - 1:
            shift += int(network["shifts"][layer])
            values = relu(values).quantize(k=0, i=6 + shift, f=-shift, overflow_mode="SAT", round_mode="RND")
    return inputs, values, shift


def answer(side, file, folder, delay):
    variables, hardware, relu, trace, writer, stages = SIDES[side]
    network = np.load(file)
    start = time.process_time()
    inputs, results, shift = traced(network, variables, hardware, relu)
    netlist = trace(inputs, results)
    seconds = time.process_time() - start
    rows = network["x"].astype(np.float64)
    got = netlist.predict(rows).reshape(len(rows), -1) / 2.0**shift
    if not np.array_equal(got, network["y"]):
        return "the netlist is another function"
    with contextlib.redirect_stdout(sys.stderr):
        writer(netlist, folder, float(delay)).write()
    return f"{seconds} {len(list(pathlib.Path(folder).glob(stages)))}"


for line in sys.stdin:
    print(answer(*line.split()), flush=True)
