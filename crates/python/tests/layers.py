"""Layers as the Python MASE has them: name, target, type, operator, shapes of the first input, of the result and of the parameters.

BERT and the convolutional network are from a run with the tracer of transformers 4.46; token types are one row in later versions.
"""

import json
from pathlib import Path

LAYERS = json.loads((Path(__file__).parent / "data/layers.json").read_text())


def rows_of(graph):
    """The layers of a graph of `chop`, in that layout."""
    rows = []
    for node in graph.nodes:
        if node.op == "call_module" and not node.name.startswith("crossentropyloss"):
            common = node.meta["mase"].parameters["common"]
            args, shape = common["args"], common["results"]["data_out_0"]["shape"]
            parameters = {port: entry["shape"] for port, entry in args.items() if not port.startswith("data_in") and "running" not in port}
            kinds = [common["mase_type"], common["mase_op"]]
            rows.append([node.name, str(node.target), *kinds, args["data_in_0"]["shape"], shape, parameters])
    return rows


def formats_of(graph):
    """The types and precisions of the operands of all layers, by name and port."""
    layers = [node for node in graph.nodes if node.op == "call_module"]
    args = {node.name: node.meta["mase"].parameters["common"]["args"] for node in layers}
    return {(name, port): (entry["type"], entry["precision"]) for name, ports in args.items() for port, entry in ports.items()}
