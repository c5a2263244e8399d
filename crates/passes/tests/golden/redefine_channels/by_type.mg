# run: redefine_channels
# A rule for many nodes leaves the last layer as it is.
# config:
#   [passes.redefine_channels.linear.config]
#   name = "both"
#   channel_multiplier = 2
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  norm = batch_norm1d(fc1) { num_features = 3 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 6 }
  norm = batch_norm1d(fc1) { num_features = 6, eps = 1e-5, momentum = 0.1 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 6, out_features = 2 }
  return fc2
}
# fc1.weight = -0.0391 0.1965 0.4341 -0.1086 0.0076 0.1189 -0.1408 0.2217 -0.0648 -0.0669 -0.3318 0.0656 0.0069 0.3084 0.2815 -0.3875 …
# fc1.bias = 0.1949 0.4137 0.0198 0.0993 0.4661 0.0232
# norm.weight = 1 1 1 1 1 1
# norm.bias = 0 0 0 0 0 0
# norm.running_mean = 0 0 0 0 0 0
# norm.running_var = 1 1 1 1 1 1
# fc2.weight = 0.3308 0.2301 0.1436 -0.3661 0.0221 0.0615 -0.2581 -0.0944 0.3924 -0.355 0.0544 -0.2745
# fc2.bias = 0.0772 -0.1599

Node name  Operator      Inputs  Outputs
---------  ------------  ------  -------
fc1        linear        4       3 → 6
norm       batch_norm1d  3 → 6   3 → 6
fc2        linear        3 → 6   2

note: fc2 keeps its output channels: the network returns them
note: 8 of 8 parameters belong to layers of other sizes and start anew; train the network again
