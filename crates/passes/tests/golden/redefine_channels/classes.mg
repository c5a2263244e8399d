# run: redefine_channels
# config:
#   [passes.redefine_channels]
#   by = "name"
#   fc2.config = { name = "both", channel_multiplier = 2 }
graph "mlp" {
  x: f32[N, 4] = placeholder
  fc1 = linear(x) { in_features = 4, out_features = 3 }
  norm = batch_norm1d(fc1) { num_features = 3 }
  act = relu(norm)
  fc2 = linear(act) { in_features = 3, out_features = 2 }
  return fc2
}
----
redefine_channels: fc2 (linear): channel_multiplier 2 would change its output channels, but the network returns them; use name = "input_only"
