"""ONNX Runtime's side of the benchmarks of evaluation.

Reads requests from standard input, one a line, and answers each with CPU and wall seconds of one repetition:
  eval NET ROWS STEPS   a forward pass on a batch, with all of ONNX Runtime's optimisations
  int8 NET ROWS STEPS   the same after static quantisation of weights and activations to 8 bits, batch norms folded where ONNX
                        Runtime would leave them in floats
"""
import logging
import sys
import tempfile
import time

import networks
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

logging.disable(logging.WARNING)


class Builder:
    """Nodes of an ONNX graph with random weights; a value is its name.

    With `folds`, a batch norm behind a linear layer is a part of the layer's weights, which are random anyway.
    """

    def __init__(self, folds=False):
        self.folds = folds
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(0)

    def node(self, op, inputs, **attributes):
        return self.nodes_of(op, inputs, 1, **attributes)[0]

    def nodes_of(self, op, inputs, outputs, **attributes):
        names = [f"v{len(self.nodes)}_{k}" for k in range(outputs)]
        self.nodes.append(helper.make_node(op, inputs, names, **attributes))
        return names

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def weight(self, *shape, scale=None):
        values = self.random.normal(0, scale or np.prod(shape[1:]) ** -0.5, shape).astype(np.float32)
        return self.constant(values if scale is None else abs(values) + 0.5)

    def conv(self, x, i, o, kernel, stride, padding, groups=1, bias=False):
        inputs = [x, self.weight(o, i // groups, kernel, kernel)] + [self.weight(o)] * bias
        return self.node("Conv", inputs, strides=[stride] * 2, pads=[padding] * 4, group=groups)

    def norm(self, x, n):
        if self.folds and self.nodes and self.nodes[-1].op_type == "Gemm":
            return x
        return self.node("BatchNormalization", [x] + [self.weight(n, scale=0.1) for _ in range(4)])

    def relu(self, x):
        return self.node("Relu", [x])

    def relu6(self, x):
        return self.node("Clip", [x, self.constant(np.float32(0)), self.constant(np.float32(6))])

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

    def embedding(self, x, words, width):
        return self.node("Gather", [self.weight(words, width), x])

    def positions(self, stored, length, width):
        """The places are constant, so that they are sliced before anything runs."""
        return self.weight(length, width)

    def layer_norm(self, x, n, eps):
        return self.node("LayerNormalization", [x, self.weight(n, scale=0.1), self.weight(n)], axis=-1, epsilon=eps)

    def dense(self, x, i, o):
        """A linear layer on the last of several axes."""
        return self.add(self.node("MatMul", [x, self.weight(i, o)]), self.weight(o))

    def split(self, x, parts):
        return self.nodes_of("Split", [x], parts, axis=-1, num_outputs=parts)

    def mask(self, x, length):
        """0 where a position is seen, the smallest float where it is not, for all heads and positions."""
        x = self.node("Reshape", [x, self.constant([0, 1, 1, length])])
        x = self.add(x, self.constant(np.float32(-1)))
        return self.node("Mul", [x, self.constant(np.finfo(np.float32).max)])

    def attention(self, q, k, v, sizes, mask=None, p=0.0):
        """Attention of heads; causal without a mask."""
        length, width, heads = sizes
        depth = width // heads
        parts, order = self.constant([0, length, heads, depth]), (0, 2, 1, 3)
        q, k, v = (
            self.node("Transpose", [self.node("Reshape", [x, parts])], perm=perm)
            for x, perm in ((q, order), (k, (0, 2, 3, 1)), (v, order))
        )
        scores = self.node("Mul", [self.node("MatMul", [q, k]), self.constant(np.float32(depth**-0.5))])
        if mask is None:
            mask = self.constant(np.triu(np.full((length, length), -np.inf, np.float32), 1))
        y = self.node("MatMul", [self.node("Softmax", [self.add(scores, mask)], axis=-1), v])
        return self.node("Reshape", [self.node("Transpose", [y], perm=order), self.constant([0, length, width])])

    def gelu(self, x):
        return self.node("Gelu", [x])

    def tanh(self, x):
        return self.node("Tanh", [x])

    def first(self, x):
        return self.node("Gather", [x, self.constant(0)], axis=1)

    def dropout(self, x, p):
        return x


def onnx_model(name, rows, folds=False):
    """The network in ONNX, and what it takes."""
    network, inputs = networks.parse(name)
    builder = Builder(folds)
    names = [f"x{k}" for k in range(len(inputs))]
    y = network(builder, *names)
    types = [TensorProto.INT64 if isinstance(i.values, int) else TensorProto.FLOAT for i in inputs]
    ports = [helper.make_tensor_value_info(n, t, [rows, *i.shape]) for n, t, i in zip(names, types, inputs)]
    output = helper.make_tensor_value_info(y, TensorProto.FLOAT, None)
    graph = helper.make_graph(builder.nodes, name, ports, [output], builder.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9), inputs


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def feeds(inputs, rows):
    """Four batches by the names of the inputs."""
    random = np.random.default_rng(1)
    batches = [networks.batch(inputs, rows, random) for _ in range(4)]
    return [{f"x{k}": values for k, values in enumerate(batch)} for batch in batches]


class Calibration(CalibrationDataReader):
    """The batches, one after another."""

    def __init__(self, batches):
        self.batches = iter(batches)

    def get_next(self):
        return next(self.batches, None)


def int8(model, batches):
    """The model after static quantisation: one scale for each weight and activation, calibrated on the batches."""
    with tempfile.TemporaryDirectory() as folder:
        source, prepared, quantized = (f"{folder}/{name}.onnx" for name in ("source", "prepared", "quantized"))
        onnx.save(model, source)
        quant_pre_process(source, prepared, skip_symbolic_shape=True)
        quantize_static(
            prepared, quantized, Calibration(batches), quant_format=QuantFormat.QDQ, per_channel=False,
            activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
        )
        return onnx.load(quantized)


cache = {}


def evaluate(kind, name, rows, steps, threads):
    key = kind, name, rows
    if key not in cache:
        model, inputs = onnx_model(name, rows, kind == "int8")
        batches = feeds(inputs, rows)
        if kind == "int8":
            model = int8(model, batches)
        made = session(model.SerializeToString(), threads)
        made.run(None, batches[0])
        cache[key] = made, batches
    made, batches = cache[key]
    cpu, wall = time.process_time(), time.perf_counter()
    for i in range(steps):
        made.run(None, batches[i % len(batches)])
    print((time.process_time() - cpu) / steps, (time.perf_counter() - wall) / steps, flush=True)


for line in sys.stdin:
    match line.split():
        case [("eval" | "int8") as kind, name, rows, steps]:
            evaluate(kind, name, int(rows), int(steps), int(sys.argv[1]))
        case other:
            raise SystemExit(f"unknown request {other}")
