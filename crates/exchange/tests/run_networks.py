"""Runs every network of list.txt in a folder: ONNX's own operators in ONNX Runtime without optimisations or by the package's reference,
QONNX's in qonnx."""

import pathlib
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper


def tensor(path):
    proto = onnx.TensorProto()
    proto.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(proto)


def runtime(path, inputs, level=onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = level
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def optimised(path, inputs):
    return runtime(path, inputs, onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL)


def spelled(path, inputs):
    """The logistic function by its definition: that of ONNX Runtime is off by 2e-4 of the result at -8."""

    def spell(graph):
        nodes = []
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    spell(attribute.g)
            if node.op_type != "Sigmoid":
                nodes.append(node)
                continue
            (x,), (y,) = node.input, node.output
            one = numpy_helper.from_array(np.float32(1))
            nodes += [
                onnx.helper.make_node("Neg", [x], [y + "/neg"]),
                onnx.helper.make_node("Exp", [y + "/neg"], [y + "/exp"]),
                onnx.helper.make_node("Constant", [], [y + "/one"], value=one),
                onnx.helper.make_node("Add", [y + "/exp", y + "/one"], [y + "/sum"]),
                onnx.helper.make_node("Reciprocal", [y + "/sum"], [y]),
            ]
        del graph.node[:]
        graph.node.extend(nodes)

    model = onnx.load(path)
    spell(model.graph)
    onnx.save(model, path)
    return runtime(path, inputs)


def qonnx(path, inputs, lowers=False):
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes
    from qonnx.transformation.lower_convs_to_matmul import LowerConvsToMatMul

    model = ModelWrapper(path)
    names = [output.name for output in model.graph.output]
    for value in model.graph.input:
        if value.name not in inputs:
            continue
        model.set_tensor_shape(value.name, list(inputs[value.name].shape))
    model = model.transform(InferShapes())
    if lowers:
        model = model.transform(LowerConvsToMatMul()).transform(InferShapes())
    results = execute_onnx(model, inputs)
    return [results[name] for name in names]


def lowered(path, inputs):
    """Convolutions as products of matrices, which sum in another order."""
    return qonnx(path, inputs, lowers=True)


def reference(path, inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(path).run(None, inputs)


PROGRAMS = {
    "onnx": runtime,
    "optimised": optimised,
    "spelled": spelled,
    "qonnx": qonnx,
    "lowered": lowered,
    "reference": reference,
}

folder = pathlib.Path(sys.argv[1])
for line in (folder / "list.txt").read_text().splitlines():
    name, program, *given = line.split(" ")
    pairs = [pair.split("=", 1) for pair in given]
    inputs = {key: tensor(folder / file) for key, file in pairs}
    for k, result in enumerate(PROGRAMS[program](str(folder / f"{name}.onnx"), inputs)):
        proto = numpy_helper.from_array(np.ascontiguousarray(result))
        (folder / f"{name}.out{k}.pb").write_bytes(proto.SerializeToString())
