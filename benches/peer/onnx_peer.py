"""ONNX Runtime's side of the benchmarks of images.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  eval NET ROWS STEPS   a forward pass, with ONNX Runtime's own fusions, on the network's batch
"""
import sys
import time

import images
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Nodes of an ONNX graph with random weights; a value is its name."""

    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def node(self, op, inputs, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def weight(self, *shape, scale=None):
        values = self.random.normal(0, scale or np.prod(shape[1:]) ** -0.5, shape).astype(np.float32)
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(values if scale is None else abs(values) + 0.5, name))
        return name

    def conv(self, x, i, o, kernel, stride, padding, groups=1, bias=False):
        inputs = [x, self.weight(o, i // groups, kernel, kernel)] + [self.weight(o)] * bias
        return self.node("Conv", inputs, strides=[stride] * 2, pads=[padding] * 4, group=groups)

    def norm(self, x, n):
        return self.node("BatchNormalization", [x] + [self.weight(n, scale=0.1) for _ in range(4)])

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        if not any(w.name == "six" for w in self.weights):
            self.weights += [numpy_helper.from_array(np.float32(v), n) for v, n in ((0, "zero"), (6, "six"))]
        return self.node("Clip", [x, "zero", "six"])

    def max_pool(self, x, kernel, stride, padding):
        return self.node("MaxPool", [x], kernel_shape=[kernel] * 2, strides=[stride] * 2, pads=[padding] * 4)

    def mean(self, x):
        return self.node("GlobalAveragePool", [x])

    def flatten(self, x):
        return self.node("Flatten", [x])

    def linear(self, x, i, o):
        return self.node("Gemm", [x, self.weight(o, i), self.weight(o)], transB=1)

    def add(self, a, b):
        return self.node("Add", [a, b])


def session(name, rows, threads):
    network, shape = images.parse(name)
    builder = Builder()
    y = network(builder, "x", shape[1])
    ports = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in (("x", [rows, *shape]), (y, [rows, 10]))]
    graph = helper.make_graph(builder.nodes, name, ports[:1], ports[1:], builder.weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    return onnxruntime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"]), shape


cache = {}


def evaluate(name, rows, steps, threads):
    if (name, rows) not in cache:
        made, shape = session(name, rows, threads)
        cache[name, rows] = made, [np.random.randn(rows, *shape).astype(np.float32) for _ in range(4)]
    made, batches = cache[name, rows]
    made.run(None, {"x": batches[0]})
    cpu, wall = time.process_time(), time.perf_counter()
    for i in range(steps):
        made.run(None, {"x": batches[i % len(batches)]})
    print((time.process_time() - cpu) / steps, (time.perf_counter() - wall) / steps, flush=True)


for line in sys.stdin:
    match line.split():
        case ["eval", name, rows, steps]:
            evaluate(name, int(rows), int(steps), int(sys.argv[1]))
        case other:
            raise SystemExit(f"unknown request {other}")
