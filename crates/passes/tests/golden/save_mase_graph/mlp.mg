# run: save_mase_graph
# config:
#   [passes.save_mase_graph]
#   save_dir = "saved"
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  act = relu(fc1)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
# the graph is as it was

saved/graph.mz: 1126 bytes

file saved/graph.mz: 1126 bytes
