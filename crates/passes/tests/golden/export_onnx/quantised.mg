# run: export_onnx
# config:
#   [passes.export_onnx]
#   to = "qdq"
#   batch = "free"
#   out = "network.onnx"
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x: integer(8, 4)) { in_features = 4, out_features = 3, weight: integer(8, 4), bias: integer(8, 4) }
  act = relu(fc1)
  return act
}
----
# the graph is as it was

network.onnx: 1204 bytes

file network.onnx: 1204 bytes
