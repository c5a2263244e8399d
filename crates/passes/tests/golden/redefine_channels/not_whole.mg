# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   fc1.config = { name = "output_only", channel_multiplier = 0.5 }
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  norm = batch_norm1d(fc1) { num_features = 3 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
redefine_channels: fc1 (linear): channel_multiplier 0.5 makes 1.5 of 3 channels; choose one that gives a whole number
