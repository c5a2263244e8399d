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


def qonnx(path, inputs):
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes

    model = ModelWrapper(path)
    names = [output.name for output in model.graph.output]
    for value in model.graph.input:
        if value.name not in inputs:
            continue
        model.set_tensor_shape(value.name, list(inputs[value.name].shape))
    results = execute_onnx(model.transform(InferShapes()), inputs)
    return [results[name] for name in names]


def reference(path, inputs):
    from onnx.reference import ReferenceEvaluator

    return ReferenceEvaluator(path).run(None, inputs)


PROGRAMS = {"onnx": runtime, "optimised": optimised, "qonnx": qonnx, "reference": reference}

folder = pathlib.Path(sys.argv[1])
for line in (folder / "list.txt").read_text().splitlines():
    name, program, *given = line.split(" ")
    pairs = [pair.split("=", 1) for pair in given]
    inputs = {key: tensor(folder / file) for key, file in pairs}
    for k, result in enumerate(PROGRAMS[program](str(folder / f"{name}.onnx"), inputs)):
        proto = numpy_helper.from_array(np.ascontiguousarray(result))
        (folder / f"{name}.out{k}.pb").write_bytes(proto.SerializeToString())
